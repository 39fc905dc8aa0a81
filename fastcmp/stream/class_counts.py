"""Counts by class for several models, whose classes are given or found as they come.

Confusion matrices are the smallest; `LabelCounts` has two models at a time.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from fastcmp import kernels
from fastcmp.core.checks import check_size
from fastcmp.core.errors import BadTypeError, BadValueError
from fastcmp.core.threads import ThreadPool, check_workers
from fastcmp.core.typing import Classes, ColumnLike, Ints, Label, ModelsLike
from fastcmp.counts.label_counts import LabelTable, add_cells, count_cells, count_dense
from fastcmp.counts.pair_tables import all_label_cells, all_label_counts
from fastcmp.counts.pairs import model_index, places_of
from fastcmp.inputs.binary_labels import positive_label
from fastcmp.inputs.columns import distinct
from fastcmp.inputs.labels import Labels, encode, in_order
from fastcmp.inputs.model_names import ordered_columns
from fastcmp.stream.accumulator import (
    FIXED,
    LABELS,
    NAMES,
    Arrays,
    BlockCounts,
    State,
    check_classes,
    check_names,
    check_totals,
    check_within,
    require,
    saved_labels,
    saved_names,
    stored,
    summed,
)

_DENSE_TABLE = 1 << 21  # entries of one table: 128 classes cubed, 16 MB
_DENSE_ALL = 1 << 28  # entries of all tables: 2 GB


def is_dense(shape: tuple[int, ...]) -> bool:
    """Whether counts of a shape are dense; by the shape alone: blocks come in any order."""
    return math.prod(shape[1:]) <= _DENSE_TABLE and math.prod(shape) <= _DENSE_ALL


@dataclass(frozen=True, slots=True)
class Tally:
    """Tables of counts of one shape."""

    #: Number of tables, then the number of classes for each axis of a table.
    shape: tuple[int, ...]
    #: Of that shape where dense; else of the cells that hold samples.
    counts: Ints
    #: Table and classes of each cell, ascending, where sparse.
    cells: Ints | None = None

    @classmethod
    def empty(cls, shape: tuple[int, ...]) -> Self:
        """Tables without samples."""
        if is_dense(shape):
            return cls(shape, np.zeros(shape, np.int64))
        none = np.zeros((0, len(shape)), np.int64)
        return cls(shape, none[:, 0], none)

    @classmethod
    def of_tables(cls, shape: tuple[int, ...], tables: list[tuple[Ints, Ints]]) -> Self:
        """Sparse tables of the ascending cells of each."""
        cells = [
            np.insert(cells_of_table, 0, i, axis=1) for i, (cells_of_table, _) in enumerate(tables)
        ]
        counts = [samples for _, samples in tables]
        return cls(shape, np.concatenate(counts), np.concatenate(cells))

    def nonzero(self) -> tuple[Ints, Ints]:
        """List the cells that hold samples, ascending, and their samples."""
        if self.cells is not None:
            return self.cells, self.counts
        cells = np.argwhere(self.counts)
        return cells, self.counts[tuple(cells.T)]

    def table(self, i: int) -> tuple[Ints, Ints]:
        """List the cells of one table that hold samples, ascending, and their samples."""
        if self.cells is None:
            cells = np.argwhere(self.counts[i])
            return cells, self.counts[i][tuple(cells.T)]
        start, end = np.searchsorted(self.cells[:, 0], [i, i + 1])
        return self.cells[start:end, 1:], self.counts[start:end]

    def seen(self) -> Ints:
        """The classes that occur on any axis, ascending."""
        if self.cells is not None:
            return np.unique(self.cells[:, 1:])
        is_seen = np.zeros(self.shape[1], bool)
        for axis in range(1, len(self.shape)):
            others = tuple(i for i in range(len(self.shape)) if i != axis)
            is_seen |= self.counts.any(axis=others)
        return np.flatnonzero(is_seen)

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
        if is_dense(shape):
            dense = np.zeros(shape, np.int64)
            dense[tuple(cells.T)] = counts
            return Tally(shape, dense)
        return Tally(shape, *add_cells([cells], [counts])[::-1])

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
        """Its arrays by name: "counts", and "cells" where sparse."""
        cells = {} if self.cells is None else {"cells": self.cells}
        return {"counts": self.counts, **cells}

    @classmethod
    def restore(cls, shape: tuple[int, ...], arrays: dict[str, NDArray[Any]]) -> Self:
        """Tables of saved arrays."""
        if is_dense(shape):
            return cls(shape, stored(arrays, "counts", shape))
        cells = arrays.get("cells", np.zeros(0))
        size = len(cells) if cells.ndim else 0
        return cls(
            shape, stored(arrays, "counts", (size,)), stored(arrays, "cells", (size, len(shape)))
        )


_FEW = 16  # classes for which tables with empty ones are cheaper than new codes
_THREADS_PAY = 1 << 21  # samples of all tables; below it one thread is faster


@dataclass(frozen=True, kw_only=True, eq=False)
class _State(State):
    names: Annotated[tuple[str, ...] | None, NAMES] = None
    #: Whether the classes are those that occur, sorted; else they were given.
    found: Annotated[bool, FIXED]
    classes: Annotated[tuple[Any, ...], LABELS]
    #: Samples counted, without a true label, and of other classes.
    totals: Annotated[Ints, summed(3)]
    tally: Tally

    @property
    def n_bytes(self) -> int:
        return sum(array.nbytes for array in self.arrays().values())

    def check_fit(self, other: Self, kind: str) -> None:
        super().check_fit(other, kind)
        if not self.found and self.classes != other.classes:
            raise ValueError(
                f"{kind} merge where classes agree, got {self.classes[:5]} and {other.classes[:5]}"
            )

    def plus(self, other: Self) -> Self:
        classes = self.classes
        if classes != other.classes:
            classes = _sorted([*classes, *other.classes])
        place = {label: i for i, label in enumerate(classes)}
        one, two = (
            x.tally.placed(range(len(x.classes)), [place[y] for y in x.classes], len(classes))
            for x in (self, other)
        )
        return replace(super().plus(other), classes=classes, tally=one.plus(two))

    def arrays(self) -> Arrays:
        return super().arrays() | self.tally.arrays()

    @classmethod
    def restore(cls, values: dict[str, Any], arrays: Arrays, sizes: dict[str, Any]) -> Self:
        tally = Tally.restore(sizes["tally"], arrays)
        return super().restore({**values, "tally": tally}, arrays, sizes)

    def check(self) -> None:
        classes, totals, tally = self.classes, self.totals, self.tally
        check_totals(totals, begun=self.names is not None)
        require(isinstance(self.found, bool), "found must be true or false")
        tally.check(int(totals[0]))
        if self.found:
            require(_sorted(classes) == classes, "classes must be sorted where they were found")
            seen = tally.seen().size if tally.shape[0] else len(classes)
            require(seen == len(classes), "classes must be those with any sample")
            wrong = f"{totals[2]} samples of other classes, where all are counted"
            require(not totals[2], wrong)


class ClassCounts(BlockCounts):
    """What `LabelCounts` and `ConfusionCounts` share.

    The classes are those that were given, in their order, or all that are found.
    """

    _state: _State
    #: Axes of a table that are classes; and models, at least.
    _AXES: ClassVar[int]
    _LEAST: ClassVar[int] = 1

    def _begin(self, names: tuple[str, ...] | None, classes: Classes | None) -> None:
        """Start without samples."""
        labels = check_classes(classes, None)
        values = {"names": names, "found": labels is None, "classes": labels or ()}
        sizes = self._sizes(values)
        self._state = _State.begin(sizes, tally=Tally.empty(sizes["tally"]), **values)

    def _sizes(self, values: dict[str, Any]) -> dict[str, Any]:
        """Shape of the tables of some models and classes."""
        names, k = values["names"], len(values["classes"])
        return {"tally": (0 if names is None else self._n_tables(names), *[k] * self._AXES)}

    @classmethod
    def _constructor(cls, settings: dict[str, Any]) -> dict[str, Any]:
        return {"classes": None if settings["found"] else saved_labels(settings, "classes")}

    def _check(self) -> None:
        super()._check()
        require(self.names is None or self.n_models >= self._LEAST, "there are too few models")

    @classmethod
    @abstractmethod
    def _n_tables(cls, names: tuple[str, ...]) -> int:
        """The number of tables for these models."""

    @abstractmethod
    def _count(self, block: Labels, threads: int) -> Tally:
        """Count a block, by as many classes as it names."""

    @property
    def classes(self) -> tuple[Any, ...]:
        """The label of each class: those given, or those found so far, sorted."""
        return self._state.classes

    @property
    def n_classes(self) -> int:
        """Number of classes, K."""
        return len(self._state.classes)

    def update(self, y_true: ColumnLike, preds: ModelsLike, *, workers: int | None = None) -> Self:
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
            pair = self._options.get("pair")
            rows = self._options["rows"] if pair else self.names
            columns = ordered_columns(preds, rows, "preds", pair)
            names = tuple(columns)
            check_size(len(names), "preds", "models", self._LEAST)
            fixed = None if self._state.found else self.classes
            block = encode(y_true, columns, classes=fixed, missing=None, least=0)
            if block.n_samples * self._n_tables(names) < _THREADS_PAY:
                threads = 1
            classes, tally = self._counted(block, threads)
            totals = np.array([block.n_samples, block.n_missing, block.n_excluded])
            more = replace(self._state, names=names, classes=classes, totals=totals, tally=tally)
            self._state = self._state.merged(more)
        return self

    def _relabel(self, label_of: Callable[[Any], Any]) -> None:
        """Other labels, all of them different, for classes that were found."""
        state = self._state
        if state.found:
            labels = list(map(label_of, state.classes))
            classes = _sorted(labels)
            places = [classes.index(label) for label in labels]
            tally = state.tally.placed(range(len(labels)), places, len(labels))
            self._state = replace(state, classes=classes, tally=tally)

    def _counted(self, block: Labels, threads: int) -> tuple[tuple[Any, ...], Tally]:
        """Count a block by the classes that were given, or that occur in it."""
        if not self._state.found:
            return self.classes, self._count(block, threads)
        if block.n_samples == 0:
            return (), Tally.empty(self._sizes({"names": block.names, "classes": ()})["tally"])
        columns = (block.y_true, *block.preds)
        k = 1 + max(int(column.max()) for column in columns)
        block = replace(block, classes=block.classes[:k]) if k <= _FEW else in_order(block)
        tally = self._count(block, threads)
        used = tally.seen().tolist()
        classes = _sorted(block.classes[code] for code in used)
        place = {label: i for i, label in enumerate(classes)}
        new = [place[block.classes[code]] for code in used]
        return classes, tally.placed(used, new, len(classes))


def _sorted(labels: Iterable[Any]) -> tuple[Any, ...]:
    try:
        return tuple(sorted(distinct(labels)))
    except TypeError as error:
        raise BadTypeError(
            f"`classes` found in blocks must be of types that sort ({error})",
            remedy=": convert the labels, or name all classes by `classes=`",
        ) from None


# Confusion matrices of many models, block by block.


_LARGEST_ARRAY = 1 << 28  # entries: 2 GB


class ConfusionCounts(ClassCounts):
    """Confusion matrices: samples by true and predicted class, for each model.

    Give blocks of samples to `update`; combine parts with `merge`, ``+`` or ``sum``.
    `matrix` is the confusion matrix of one model, and
    `classification_table` takes the counts of one model and two classes.

    Parameters
    ----------
    names : int or sequence of str, optional
        Names of the models, or their number; by default those of the first block.
    classes : sequence, optional
        Classes to count, in this order; samples whose true label is another one are
        left out, and a prediction of another one is refused. By default all labels
        that occur, sorted.

    Raises
    ------
    ValueError
        If names or classes repeat.
    TypeError
        If names are not strings.

    See Also
    --------
    LabelCounts : Two models by their predictions together, as tests of pairs need.

    Notes
    -----
    A model takes 8 K**2 bytes up to 1,448 classes (and 2 GB for all models); beyond,
    32 bytes for each cell that holds samples. A missing true label drops the sample,
    and a missing prediction is an error.

    Examples
    --------
    >>> from fastcmp.stream import ConfusionCounts
    >>> counts = ConfusionCounts()
    >>> _ = counts.update(["x", "y", "y"], {"a": ["x", "y", "x"]})
    >>> _ = counts.update(["z"], {"a": ["x"]})
    >>> counts.classes
    ('x', 'y', 'z')
    >>> counts.matrix("a").tolist()
    [[1, 0, 0], [1, 1, 0], [1, 0, 0]]
    """

    _AXES: ClassVar[int] = 2

    def __init__(
        self, names: int | Sequence[str] | None = None, *, classes: Classes | None = None
    ) -> None:
        self._begin(check_names(names), classes)

    def matrix(self, model: str | int) -> Ints:
        """Confusion matrix of one model.

        Parameters
        ----------
        model : str or int
            Its name or place.

        Returns
        -------
        ndarray of int64, shape (K, K)
            ``[t, p]``: samples of class t for which it predicted p, by the classes in
            `classes`; a copy.

        Raises
        ------
        ValueError
            If there is no such model, or the matrix would take more than 2 GB.

        Examples
        --------
        >>> from fastcmp.stream import ConfusionCounts
        >>> ConfusionCounts().update([0, 1], {"a": [1, 1]}).matrix("a").tolist()
        [[0, 1], [0, 1]]
        """
        i = model_index(model, self.names or (), "model")
        tally, k = self._state.tally, self.n_classes
        if tally.cells is None:
            return np.array(tally.counts[i])
        if k * k > _LARGEST_ARRAY:
            raise BadValueError(
                f"a confusion matrix of {k} classes needs {8 * k**2 / 1e9:.3g} GB",
                remedy=": name fewer by `classes=`",
            )
        table = np.zeros((k, k), np.int64)
        cells, counts = tally.table(i)
        table[tuple(cells.T)] = counts
        return table

    @property
    def correct(self) -> Ints:
        """Correctly classified samples of each model, shape (M,)."""
        cells, counts = self._state.tally.nonzero()
        right = cells[:, 1] == cells[:, 2]
        correct = np.zeros(self.n_models, np.int64)
        np.add.at(correct, cells[right, 0], counts[right])
        return correct

    def two_class_counts(self, positive: Label = None) -> tuple[dict[str, int], tuple[Any, Any]]:
        """Count true and false positives and negatives of a single model.

        Parameters
        ----------
        positive : label, optional
            The positive class; of two numbers or booleans the larger one by default.

        Returns
        -------
        tuple of dict and two labels
            "tp", "fp", "fn" and "tn"; the positive label and the other one.

        Raises
        ------
        ValueError
            If there is not one model, or not two classes, or it is not known which of
            them is positive.

        Examples
        --------
        >>> from fastcmp.stream import ConfusionCounts
        >>> counts = ConfusionCounts().update([0, 1, 1], {"a": [1, 1, 0]})
        >>> counts.two_class_counts()
        ({'tp': 1, 'fp': 1, 'fn': 1, 'tn': 0}, (1, 0))
        """
        if self.n_models != 1 or self.n_classes != 2:
            raise BadValueError(
                "`counts` must be of 1 model and 2 classes",
                f"{self.n_models} and {self.n_classes}",
                ": count one model, with its two `classes=`",
            )
        labels = list(self.classes)
        yes, no = positive_label(labels, positive)
        (tn, fp), (fn, tp) = self.matrix(0)[
            np.ix_(*[[labels.index(no), labels.index(yes)]] * 2)
        ].tolist()
        return {"tp": tp, "fp": fp, "fn": fn, "tn": tn}, (yes, no)

    @classmethod
    def _n_tables(cls, names: tuple[str, ...]) -> int:
        return len(names)

    def _count(self, block: Labels, threads: int) -> Tally:
        m, k = len(block.preds), len(block.classes)
        shape = (m, k, k)
        if is_dense(shape):
            tables = np.zeros(shape, np.int64)

            def count(i: int) -> None:
                kernels.count_agreement(block.y_true, block.preds[i], tables[i])

            with ThreadPool(threads) as pool:
                pool.run(count, range(m))
            return Tally(shape, tables)
        cells = [count_cells((block.y_true, pred), k) for pred in block.preds]
        return Tally.of_tables(shape, cells)


# Two models by their predictions together.


class LabelCounts(ClassCounts):
    """Samples by true class and by the classes that two models predicted.

    For each pair of models, or for one, this holds the table ``[t, a, b]``: samples of
    class t for which the first model predicted a and the second b. Tests of costs and
    of symmetry (`cost_test`, `symmetry`) take it, and `compare_all` for all
    pairs. Give blocks of samples to `update`; combine parts with `merge`, ``+`` or
    ``sum``.

    Parameters
    ----------
    names : int or sequence of str, optional
        Names of the models, or their number; by default those of the first block.
    classes : sequence, optional
        Classes to count, in this order; samples whose true label is another one are
        left out, and a prediction of another one is refused. By default all labels
        that occur, sorted.
    pairs : "all" or pair of models
        Count all pairs of models, or only one, given by two names, or by two places in
        `names`. Other columns of a block are not read then.

    Raises
    ------
    ValueError
        If names or classes repeat, or `pairs` is neither.
    TypeError
        If names are not strings.

    See Also
    --------
    fastcmp.count_labels : The same for two models whose samples fit in memory.
    PairCounts : Enough for accuracies and McNemar's test, and much smaller.
    ConfusionCounts : Each model by itself.

    Notes
    -----
    A table of K classes takes 8 K**3 bytes. With more than 128 classes, or 2 GB for all
    tables, only cells that hold samples are kept, with 40 bytes each. A missing true
    label drops the sample, and a missing prediction is an error.

    Examples
    --------
    >>> from fastcmp import cost_test
    >>> from fastcmp.stream import LabelCounts
    >>> counts = LabelCounts(pairs=("a", "b"))
    >>> _ = counts.update([0, 1, 1], {"a": [0, 1, 1], "b": [0, 0, 1]})
    >>> _ = counts.update([0, 1, 0], {"b": [0, 0, 1], "a": [1, 1, 0]})
    >>> counts.record().counts.tolist()
    [[[1, 1], [1, 0]], [[0, 0], [2, 1]]]
    >>> result = cost_test(counts=counts, cost=[[0, 1], [5, 0]])
    >>> round(result.loss_a, 4), round(result.loss_b, 4)
    (0.1667, 1.8333)
    """

    _AXES: ClassVar[int] = 3
    _LEAST: ClassVar[int] = 2

    def __init__(
        self,
        names: int | Sequence[str] | None = None,
        *,
        classes: Classes | None = None,
        pairs: str | tuple[int | str, int | str] = "all",
    ) -> None:
        rows = check_names(names)
        everything = isinstance(pairs, str) and pairs.lower() == "all"
        self._pair = None if everything else _read_pair(pairs, rows)
        self._options = {"pair": self._pair, "rows": rows if self._pair else None}
        self._begin(self._pair or rows, classes)
        if self.names is not None:
            check_size(len(self.names), "preds", "models")

    @property
    def n_pairs(self) -> int:
        """Number of pairs that are counted, P."""
        return self._state.tally.shape[0]

    @property
    def correct(self) -> Ints:
        """Correctly classified samples of each model, shape (M,)."""
        # The first model is in the first pair, each other one in a pair with the first.
        cells, counts = self._state.tally.nonzero()
        correct = np.zeros(self.n_models, np.int64)
        first = (cells[:, 0] == 0) & (cells[:, 1] == cells[:, 2])
        correct[:1] = counts[first].sum()
        other = (cells[:, 0] < self.n_models - 1) & (cells[:, 1] == cells[:, 3])
        np.add.at(correct, cells[other, 0] + 1, counts[other])
        return correct

    @property
    def counts(self) -> Ints:
        """All counts ``[pair, t, a, b]``, shape (P, K, K, K); a read-only view."""
        tally = self._state.tally
        if tally.cells is not None:
            raise BadValueError(
                f"`counts` of {self.n_pairs} pairs and {self.n_classes} classes are sparse",
                remedy=": take a pair by record()",
            )
        view = tally.counts.view()
        view.flags.writeable = False
        return view

    def record(self, a: int | str = 0, b: int | str = 1) -> LabelTable:
        """The counts of one pair, as `count_labels` gives them.

        Parameters
        ----------
        a, b : str or int
            Names of two models, or their places.

        Returns
        -------
        fastcmp.records.LabelTable
            Counts ``[t, a, b]`` by the classes of this accumulator.

        Raises
        ------
        ValueError
            If there are no such models, or they are the same.

        Examples
        --------
        >>> from fastcmp.stream import LabelCounts
        >>> counts = LabelCounts().update([0, 1], {"a": [0, 1], "b": [1, 1]})
        >>> counts.record("b", "a").errors
        (0.5, 0.0)
        """
        names = self.names or ()
        i, j = (model_index(model, names, "a or b") for model in (a, b))
        if i == j:
            raise ValueError(f"a and b must be two models, got {names[i]!r} twice")
        (pair,) = places_of(np.array([(min(i, j), max(i, j))]), len(names)).tolist()
        cells, counts = self.cells(pair)
        if i > j:
            cells = cells[:, [0, 2, 1]]
        return self._recorded(cells, counts)

    def label_table(self) -> LabelTable:
        """The counts of the only pair, as `count_labels` gives them.

        Returns
        -------
        fastcmp.records.LabelTable
            As from `record`.

        Raises
        ------
        ValueError
            If there are more pairs, or none.

        Examples
        --------
        >>> from fastcmp.stream import LabelCounts
        >>> counts = LabelCounts().update([0, 1], {"a": [0, 1], "b": [1, 1]})
        >>> counts.label_table().n_samples
        2
        """
        if self.n_pairs != 1:
            raise BadValueError(
                "`counts` must be of one pair of models",
                f"{self.n_pairs} pairs",
                ": take one by record(a, b)",
            )
        return self.record()

    @property
    def is_dense(self) -> bool:
        """Whether all cells are kept, so that there are `counts`."""
        return self._state.tally.cells is None

    def cells(self, pair: int) -> tuple[Ints, Ints]:
        """List the cells of a pair that hold samples.

        Parameters
        ----------
        pair : int
            Its place among ``np.triu_indices(M, 1)``.

        Returns
        -------
        tuple of ndarray of int64, shapes (C, 3) and (C,)
            True class, class predicted by the first and by the second model; and the
            samples in each cell.
        """
        return self._state.tally.table(pair)

    def _recorded(self, cells: Ints, counts: Ints) -> LabelTable:
        k = self.n_classes
        common: dict[str, Any] = {
            "classes": self.classes,
            "n_missing": self.n_missing,
            "n_excluded": self.n_excluded,
        }
        if is_dense((1, k, k, k)):
            dense = np.zeros((k, k, k), np.int64)
            dense[tuple(cells.T)] = counts
            return LabelTable(counts=dense, **common)
        cells, counts = add_cells([cells], [counts])
        return LabelTable(cells=cells, counts=counts, **common)

    @classmethod
    def _n_tables(cls, names: tuple[str, ...]) -> int:
        return len(names) * (len(names) - 1) // 2

    def _count(self, block: Labels, threads: int) -> Tally:
        m, k = len(block.preds), len(block.classes)
        shape = (m * (m - 1) // 2, k, k, k)
        if not is_dense(shape):
            return Tally.of_tables(shape, all_label_cells(block))
        if m == 2 and block.n_samples:
            columns = (block.y_true, *block.preds)
            return Tally(shape, count_dense(columns, k, threads)[None])  # type: ignore[index]
        return Tally(shape, all_label_counts(block, threads))

    @classmethod
    def _constructor(cls, settings: dict[str, Any]) -> dict[str, Any]:
        names, pair = saved_names(settings, "rows"), saved_names(settings, "pair")
        return {**super()._constructor(settings), "names": names, "pairs": pair or "all"}


def _read_pair(pairs: object, names: tuple[str, ...] | None) -> tuple[str, ...]:
    """Names of the only pair."""
    needed = '`pairs` must be "all" or two models'
    if not isinstance(pairs, (tuple, list)) or len(pairs) != 2:
        raise BadValueError(needed, repr(pairs))
    if names is None and all(isinstance(model, str) for model in pairs):
        pair = tuple(map(str, pairs))
    elif names is None:
        raise BadValueError("`pairs` by place need names", f"`pairs={pairs!r}` and `names=None`")
    else:
        pair = tuple(names[model_index(model, names, "pairs")] for model in pairs)
    if pair[0] == pair[1]:
        raise BadValueError(needed, f"{pair[0]!r} twice")
    return pair
