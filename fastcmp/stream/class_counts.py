"""Counts by class for several models, whose classes are given or found as they come."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from fastcmp.core.threads import check_workers
from fastcmp.counts.label_counts import add_cells
from fastcmp.inputs.columns import distinct
from fastcmp.inputs.labels import Labels, encode, in_order
from fastcmp.inputs.model_names import has_names, named_columns
from fastcmp.stream.accumulator import (
    Arrays,
    BlockCounts,
    check_classes,
    check_totals,
    check_within,
    ordered_columns,
    require,
    saved_labels,
    saved_names,
    stored,
)

_DENSE_TABLE = 1 << 21  # entries of one table: 128 classes cubed, 16 MB
_DENSE_ALL = 1 << 28  # entries of all tables: 2 GB


def is_dense(shape: tuple[int, ...]) -> bool:
    """Choose the form of counts by their shape alone: blocks may come in any order."""
    return math.prod(shape[1:]) <= _DENSE_TABLE and math.prod(shape) <= _DENSE_ALL


@dataclass(frozen=True, slots=True)
class Tally:
    """Tables of counts of one shape."""

    #: Number of tables, then the number of classes for each axis of a table.
    shape: tuple[int, ...]
    #: Of that shape where dense; else of the cells that hold samples.
    counts: NDArray[np.int64]
    #: Table and classes of each cell, ascending, where sparse.
    cells: NDArray[np.int64] | None = None

    @classmethod
    def empty(cls, shape: tuple[int, ...]) -> Self:
        """Make tables without samples."""
        if is_dense(shape):
            return cls(shape, np.zeros(shape, np.int64))
        none = np.zeros((0, len(shape)), np.int64)
        return cls(shape, none[:, 0], none)

    @classmethod
    def of_cells(
        cls, shape: tuple[int, ...], cells: NDArray[np.int64], counts: NDArray[np.int64]
    ) -> Self:
        """Make tables of cells (table and classes), each of which occurs once."""
        if is_dense(shape):
            dense = np.zeros(shape, np.int64)
            dense[tuple(cells.T)] = counts
            return cls(shape, dense)
        return cls(shape, *add_cells([cells], [counts])[::-1])

    @classmethod
    def of_tables(
        cls, shape: tuple[int, ...], tables: list[tuple[NDArray[np.int64], NDArray[np.int64]]]
    ) -> Self:
        """Make sparse tables of the cells of each, which ascend."""
        cells = [np.insert(own, 0, i, axis=1) for i, (own, _) in enumerate(tables)]
        counts = [samples for _, samples in tables]
        return cls(shape, np.concatenate(counts), np.concatenate(cells))

    @property
    def n_bytes(self) -> int:
        """Memory that it takes."""
        return self.counts.nbytes + (0 if self.cells is None else self.cells.nbytes)

    def nonzero(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """List the cells that hold samples, ascending, and their samples."""
        if self.cells is not None:
            return self.cells, self.counts
        cells = np.argwhere(self.counts)
        return cells, self.counts[tuple(cells.T)]

    def seen(self) -> NDArray[np.int64]:
        """List the classes that occur on any axis, ascending."""
        if self.cells is not None:
            return np.unique(self.cells[:, 1:])
        found = np.zeros(self.shape[1], bool)
        for axis in range(1, len(self.shape)):
            others = tuple(i for i in range(len(self.shape)) if i != axis)
            found |= self.counts.any(axis=others)
        return np.flatnonzero(found)

    def placed(self, old: Sequence[int], new: Sequence[int], k: int) -> Tally:
        """Move class ``old[i]`` to place ``new[i]`` of k; the others are empty."""
        if self.shape[1] == k and list(old) == list(new) == list(range(k)):
            return self
        shape = (self.shape[0], *[k] * (len(self.shape) - 1))
        if self.cells is None and is_dense(shape):
            dense = np.zeros(shape, np.int64)
            tables, axes = np.arange(shape[0]), len(shape) - 1
            there, here = (np.ix_(tables, *[np.asarray(at, np.intp)] * axes) for at in (new, old))
            dense[there] = self.counts[here]
            return Tally(shape, dense)
        place = np.zeros(self.shape[1], np.int64)
        place[list(old)] = new
        cells, counts = self.nonzero()
        cells = np.column_stack([cells[:, 0], place[cells[:, 1:]]])
        return Tally.of_cells(shape, cells, counts)

    def plus(self, other: Tally) -> Tally:
        """Add counts of the same shape."""
        if self.cells is None or other.cells is None:
            return Tally(self.shape, self.counts + other.counts)
        cells, counts = add_cells([self.cells, other.cells], [self.counts, other.counts])
        return Tally(self.shape, counts, cells)

    def check(self, n: int) -> None:
        """Refuse tables that are not of n samples each."""
        check_within(self.counts, 0 if self.cells is None else 1, n)
        if not self.counts.size:
            require(n == 0 or not self.shape[0], f"no counts of the {n} samples")
            return
        if self.cells is None:
            axes = tuple(range(1, len(self.shape)))
            totals = self.counts.sum(axis=axes, dtype=np.float64)
            of_true = self.counts.sum(axis=axes[1:])
            require((of_true == of_true[0]).all(), "tables differ in true classes")
        else:
            check_within(self.cells, 0, np.array(self.shape) - 1, "cells")
            steps = np.diff(self.cells, axis=0)
            first = (steps != 0).argmax(axis=1)
            rises = steps[np.arange(len(steps)), first] > 0
            require(rises.all(), "cells must ascend")
            require(self.shape[0] <= len(self.cells), "a table has no cells")
            totals = np.bincount(self.cells[:, 0], self.counts, self.shape[0])
        require((totals == n).all(), f"a table is not of the {n} samples")

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Give its arrays by name: "counts", and "cells" where sparse."""
        cells = {} if self.cells is None else {"cells": self.cells}
        return {"counts": self.counts, **cells}

    @classmethod
    def restore(cls, shape: tuple[int, ...], arrays: dict[str, NDArray[Any]]) -> Self:
        """Make tables of saved arrays."""
        if is_dense(shape):
            return cls(shape, stored(arrays, "counts", shape))
        cells: Any = arrays.get("cells", np.zeros(0))
        size = len(cells) if cells.ndim else 0
        return cls(
            shape, stored(arrays, "counts", (size,)), stored(arrays, "cells", (size, len(shape)))
        )


# Counts by class for several models, whose classes are given or found as they come.


_FEW = 16  # classes for which tables with empty ones are cheaper than new codes
_THREADS_PAY = 1 << 21  # samples of all tables; below it one thread is faster


@dataclass(frozen=True, slots=True)
class _State:
    """What one assignment replaces, so that an interrupt never leaves half a block."""

    names: tuple[str, ...] | None
    classes: tuple[Any, ...]
    #: Samples counted, without a true label, and of other classes.
    totals: NDArray[np.int64]
    tally: Tally


class ClassCounts(BlockCounts):
    """What `LabelCounts` and `ConfusionCounts` share.

    The classes are those that were given, in their order, or all that are found.
    """

    _state: _State
    _JOINED: ClassVar[frozenset[str]] = frozenset({"names", "classes"})
    #: Axes of a table that are classes.
    _AXES: ClassVar[int]

    def _begin(self, names: tuple[str, ...] | None, classes: Sequence[Any] | None) -> None:
        """Start without samples."""
        given = check_classes(classes, None)
        self._found = given is None
        classes = given or ()
        nothing = self._nothing(names, classes)
        self._state = _State(names, classes, np.zeros(3, np.int64), nothing)

    @classmethod
    @abstractmethod
    def _n_tables(cls, names: tuple[str, ...]) -> int:
        """Give the number of tables for these models."""

    @abstractmethod
    def _count(self, block: Labels, threads: int) -> Tally:
        """Count a block, by as many classes as it names."""

    def _chosen(self) -> tuple[str, ...] | None:
        """Name the models whose columns are read; None for all."""
        return None

    def _check_models(self, names: tuple[str, ...]) -> None:
        """Refuse models that cannot be counted."""

    @property
    def classes(self) -> tuple[Any, ...]:
        """The label of each class: those given, or those found so far, sorted."""
        return self._state.classes

    @property
    def n_classes(self) -> int:
        """Number of classes, K."""
        return len(self._state.classes)

    @property
    def n_bytes(self) -> int:
        """Memory that the state takes."""
        return self._state.tally.n_bytes + self._state.totals.nbytes

    def update(self, y_true: Any, preds: Any, *, workers: int | None = None) -> Self:
        """Count a block of samples.

        Parameters
        ----------
        y_true : array-like, shape (n,)
            True labels, of any number of samples. Those with a missing one are dropped
            and counted.
        preds : array-like of shape (M, n), mapping or frame
            Predicted labels; none may be missing. Columns with names may come in any
            order, rows without names come in that of `names`.
        workers : int, optional
            Threads; by default as many as there are processors.

        Returns
        -------
        same type
            This accumulator.

        Raises
        ------
        ValueError
            If the block has other models, lengths differ, or a prediction is missing or
            not among the classes; nothing of it is counted then.
        TypeError
            If labels cannot be compared.
        """
        threads = check_workers(workers)
        with self._lock:
            columns = ordered_columns(
                named_columns(preds, "preds"),
                self._rows(),
                "preds",
                by_name=has_names(preds),
                chosen=self._chosen(),
            )
            names = tuple(columns)
            self._check_models(names)
            given = None if self._found else self.classes
            block = encode(y_true, columns, classes=given, missing=None, least=0)
            if block.n_samples * self._n_tables(names) < _THREADS_PAY:
                threads = 1
            classes, tally = self._counted(block, threads)
            totals = np.array([block.n_samples, block.n_missing, block.n_excluded])
            self._add(_State(names, classes, totals, tally))
        return self

    def _rows(self) -> tuple[str, ...] | None:
        """Name the rows of a block that brings no names."""
        return self.names

    def _counted(self, block: Labels, threads: int) -> tuple[tuple[Any, ...], Tally]:
        """Count a block by the classes that were given, or that occur in it."""
        if not self._found:
            return self.classes, self._count(block, threads)
        if block.n_samples == 0:
            return (), self._nothing(block.names, ())
        columns = (block.y_true, *block.preds)
        k = 1 + max(int(column.max()) for column in columns)
        block = replace(block, classes=block.classes[:k]) if k <= _FEW else in_order(block)
        tally = self._count(block, threads)
        used = tally.seen().tolist()
        classes = _sorted(block.classes[code] for code in used)
        place = {label: i for i, label in enumerate(classes)}
        new = [place[block.classes[code]] for code in used]
        return classes, tally.placed(used, new, len(classes))

    def _nothing(self, names: tuple[str, ...] | None, classes: tuple[Any, ...]) -> Tally:
        n_tables = 0 if names is None else self._n_tables(names)
        return Tally.empty((n_tables, *[len(classes)] * self._AXES))

    def _add(self, more: _State) -> None:
        """Add a state of the same models, with any classes."""
        mine = self._state
        if more.names is None:
            return
        if mine.names is None:
            mine = replace(mine, names=more.names, tally=self._nothing(more.names, mine.classes))
        classes = mine.classes
        if self._found and classes != more.classes:
            classes = _sorted([*classes, *more.classes])
        self._state = _State(
            mine.names,
            classes,
            mine.totals + more.totals,
            _spread(mine, classes).plus(_spread(more, classes)),
        )

    def _settings(self) -> dict[str, Any]:
        return {"names": self.names, "classes": self.classes, "found": self._found}

    def _arrays(self) -> Arrays:
        return {"totals": self._state.totals, **self._state.tally.arrays()}

    @classmethod
    def _restore(cls, settings: dict[str, Any], arrays: Arrays) -> Self:
        names, classes = saved_names(settings), saved_labels(settings, "classes") or ()
        n_tables = 0 if names is None else cls._n_tables(names)
        # The counts come first: what is made anew is then no larger than the file.
        tally = Tally.restore((n_tables, *[len(classes)] * cls._AXES), arrays)
        require(isinstance(settings["found"], bool), "found must be true or false")
        made = cls._made_anew(settings)
        wrong = "names, or classes in their order, are not those of the options"
        require(made.names == names, wrong)
        wanted = _sorted(classes) if made._found else made.classes
        require(wanted == classes, wrong)
        made._state = _State(names, classes, stored(arrays, "totals", (3,)), tally)
        return made

    def _check(self) -> None:
        state = self._state
        classes, totals, tally = state.classes, state.totals, state.tally
        check_totals(totals, begun=state.names is not None)
        tally.check(int(totals[0]))
        if self._found:
            seen = tally.seen().size if tally.shape[0] else len(classes)
            require(seen == len(classes), "classes must be those with any sample")
            wrong = f"{totals[2]} samples of other classes, where all are counted"
            require(not totals[2], wrong)

    @classmethod
    @abstractmethod
    def _made_anew(cls, settings: dict[str, Any]) -> Self:
        """Make an accumulator with these settings, without samples."""

    def _check_fit(self, other: Self) -> None:
        super()._check_fit(other)
        if not self._found and self.classes != other.classes:
            raise ValueError(
                f"{type(self).__name__} merge where classes agree, got {self.classes[:5]} and "
                f"{other.classes[:5]}"
            )

    def _check_names(self, mine: tuple[str, ...] | None, theirs: tuple[str, ...] | None) -> None:
        if mine is not None and theirs is not None and mine != theirs:
            raise ValueError(
                f"{type(self).__name__} merge where names agree and come in the same order (pass "
                f"names= to both), got {mine[:3]} and {theirs[:3]}"
            )

    def _join(self, other: Self) -> None:
        self._add(other._state)


def _spread(state: _State, classes: tuple[Any, ...]) -> Tally:
    """Give counts the shape of more classes."""
    place = {label: i for i, label in enumerate(classes)}
    new = [place[label] for label in state.classes]
    return state.tally.placed(range(len(new)), new, len(classes))


def _sorted(labels: Iterable[Any]) -> tuple[Any, ...]:
    try:
        return tuple(sorted(distinct(labels)))
    except TypeError as error:
        raise TypeError(
            f"classes found in blocks must be of types that sort ({error}): convert "
            "the labels, or name all classes by classes="
        ) from None
