"""Counts by class for several models, whose classes are given or found as they come."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from fastcmp.core.threads import check_workers
from fastcmp.inputs.label_order import in_order
from fastcmp.inputs.label_values import distinct
from fastcmp.inputs.labels import Labels, encode
from fastcmp.inputs.model_names import has_names, named_columns
from fastcmp.stream.accumulator import Arrays, BlockCounts
from fastcmp.stream.blocks import check_classes, ordered_columns
from fastcmp.stream.saved_checks import check_totals, require, saved_labels, saved_names, stored
from fastcmp.stream.tally import Tally

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
