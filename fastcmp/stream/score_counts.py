"""AUC of scores that come in blocks: counts in bins, exact or with exact bounds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from fastcmp.core.threads import check_workers
from fastcmp.inputs.binary_labels import positive_label
from fastcmp.stream.accumulator import BlockCounts
from fastcmp.stream.score_blocks import count_block, read_block
from fastcmp.stream.score_bounds import AreaBounds, bound_area, only_area
from fastcmp.stream.score_labels import join_labels
from fastcmp.stream.score_state import ScoreState

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from fastcmp.stream.accumulator import Arrays
    from fastcmp.stream.score_blocks import ScoreBlock
    from fastcmp.stream.score_map import ScoreMap
    from fastcmp.stream.score_refinement import ScoreRefinement

    Counts = NDArray[np.int64]


class ScoreCounts(BlockCounts):
    """How many samples of either class have scores in each of 2**16 bins.

    Parameters
    ----------
    map : ScoreMap or mapping from names to ScoreMap, optional
        The bins; by default laid where the scores of the first block are.
    positive : label, optional
        The positive class; of two numbers or booleans the larger one by default.
    names : int or sequence of str, optional
        Names of the models, or their number; by default those of the first block.

    Raises
    ------
    ValueError
        If names repeat, or do not agree with the maps.
    TypeError
        If names are no strings, or maps of another type.

    Notes
    -----
    For each model the state takes 1 MB, whatever the number of samples. States merge
    where their maps agree: lay one, and start all parts with it.

    The area is exact for scores of a type of at most 16 bits, such as float16, and for
    scores of less than 2**15 - 1 different values all of which the first block holds,
    each twice on average; of others there are exact bounds, and `refine` makes it exact
    in a second pass.

    Examples
    --------
    >>> from fastcmp.stream import ScoreCounts
    >>> counts = ScoreCounts().update([0, 1, 0, 1], [0.1, 0.4, 0.1, 0.4])
    >>> counts.update([0, 1], [0.4, 0.1]).auc.auc
    0.6666666666666666
    >>> part = counts.like().update([0, 1], [0.1, 0.4])
    >>> (counts + part).n_samples
    8
    """

    _state: ScoreState
    _JOINED: ClassVar[frozenset[str]] = frozenset({"names", "labels", "grids", "edges"})

    def __init__(
        self,
        map: ScoreMap | Mapping[str, ScoreMap] | None = None,
        *,
        positive: Any = None,
        names: int | Sequence[str] | None = None,
    ) -> None:
        self._positive = positive
        self._state = ScoreState.begin(map, names)

    @property
    def map(self) -> ScoreMap | dict[str, ScoreMap] | None:
        """The bins: of one model, or by name of several; None before they are laid."""
        names, maps = self._state.names, self._state.maps
        if maps is None or len(maps) == 1:
            return maps[0] if maps else None
        return dict(zip(names or (), maps, strict=True))

    @property
    def positive(self) -> Any:
        """The positive class that was given, or None."""
        return self._positive

    @property
    def labels(self) -> tuple[Any, ...]:
        """The labels found so far, ascending."""
        return self._state.labels

    @property
    def counts(self) -> dict[str, Counts]:
        """A copy of each model's counts by bin and by label, shape (B, 2)."""
        names, counts = self._state.names or (), self._state.counts
        return {
            name: table.copy()
            for name, table in zip(names, counts, strict=bool(counts))
        }

    @property
    def n_bytes(self) -> int:
        """Memory that the counts take."""
        return sum(table.nbytes for table in self._state.counts)

    @property
    def auc(self) -> AreaBounds:
        """The area of the only model; of several see `areas`."""
        return only_area(self.areas)

    @property
    def areas(self) -> dict[str, AreaBounds]:
        """The area of each model, by name."""
        maps, labels, names = self._state.maps or (), self.class_labels(), self.names
        return {
            name: bound_area(
                *self.by_class(model),
                maps[model].exact,
                labels=labels,
                n_missing=self.n_missing,
            )
            for model, name in enumerate(names or ())
        }

    def update(self, y_true: Any, scores: Any, *, workers: int | None = None) -> Self:
        """Count a block of samples.

        Parameters
        ----------
        y_true : array-like, shape (n,)
            True labels; a block may hold one class only. Samples with a missing label
            are dropped and counted.
        scores : array-like of shape (n,) or (M, n), mapping or frame
            Higher scores speak for the positive class. Columns with names may come in
            any order, rows without names come in that of `names`.
        workers : int, optional
            Threads; by default as many as there are processors.

        Returns
        -------
        ScoreCounts
            This accumulator.

        Raises
        ------
        ValueError
            If the block has other models, lengths differ, a score is NaN or of a wider
            type than the map's, or there are more than two labels in all; nothing of
            the block is counted then.
        TypeError
            If scores are not numbers, or labels cannot be compared.

        Notes
        -----
        O(n), and O(n log n) for a first block of repeated scores.

        Examples
        --------
        >>> from fastcmp.stream import ScoreCounts
        >>> counts = ScoreCounts(positive="ill")
        >>> counts.update(["ill", "well"], [0.75, 0.5]).auc.exact
        True
        """
        threads = check_workers(workers)
        with self._lock:
            return self.update_block(read_block(y_true, scores, self.names), threads)

    def update_block(self, block: ScoreBlock, threads: int) -> Self:
        """Count a block that was read.

        Parameters
        ----------
        block : ScoreBlock
            Samples, the models in the order of `names`.
        threads : int
            How many to use at most.

        Returns
        -------
        ScoreCounts
            This accumulator.

        Raises
        ------
        ValueError
            As `update`.
        TypeError
            As `update`.
        """
        totals = np.array([block.n_samples, block.n_missing])
        with self._lock:
            state = self._state
            maps = state.maps_of(len(block.names))
            if not block.n_samples:
                new = ScoreState(block.names, maps, (), totals, ())
            else:
                maps = maps or block.lay()
                found, tables = count_block(block, maps, threads)
                new = ScoreState(block.names, maps, found, totals, tuple(tables))
            state = state.plus(new)
            if state.labels:  # refuses unclear ones
                positive_label(list(state.labels), self._positive)
            self._state = state
        return self

    def copy(self) -> Self:
        """Copy the state.

        Returns
        -------
        ScoreCounts
            One that changes on its own.
        """
        return self.of(self)

    @classmethod
    def of(cls, counts: ScoreCounts) -> Self:
        """Take over the state of an accumulator of another kind.

        Parameters
        ----------
        counts : ScoreCounts
            Or one of its kinds; it stays as it is.

        Returns
        -------
        ScoreCounts
            One that changes on its own.
        """
        made = cls(positive=counts.positive)
        made._state = counts._state  # which is replaced, never changed
        return made

    def like(self) -> Self:
        """Make an empty accumulator with the same maps, names and positive class.

        Returns
        -------
        ScoreCounts
            One that merges with this one.

        Examples
        --------
        >>> from fastcmp.stream import ScoreCounts
        >>> counts = ScoreCounts().update([0, 1], [0.1, 0.4])
        >>> counts.like().n_samples
        0
        """
        return type(self)(self.map, positive=self._positive, names=self.names)

    def refine(self, *, memory_limit: int | str = "1 GB") -> ScoreRefinement:
        """Begin a second pass, which makes the bounds narrower or the area exact.

        Parameters
        ----------
        memory_limit : int or str
            How much the scores of the bins may take that are looked into, the most
            ambiguous ones first: bytes, or such as "4 GB".

        Returns
        -------
        ScoreRefinement
            To be updated with the same samples, in blocks of any sizes; then it has
            `auc` and `areas` as well.

        Raises
        ------
        ValueError
            If there is one class only, or the limit is too low for any bin.

        Examples
        --------
        >>> import fastcmp
        >>> from fastcmp.stream import ScoreCounts
        >>> is_eight, scores = fastcmp.load_digits_scores()
        >>> counts = ScoreCounts().update(is_eight, scores["linear_svm"])
        >>> again = counts.refine().update(is_eight, scores["linear_svm"])
        >>> (
        ...     again.auc.exact,
        ...     again.auc.auc == fastcmp.auc(is_eight, scores["linear_svm"]),
        ... )
        (True, True)
        """
        from fastcmp.stream.score_refinement import ScoreRefinement

        return ScoreRefinement.begin(self, memory_limit)

    def class_labels(self) -> tuple[Any, Any]:
        """Tell the labels of positives and of negatives.

        Returns
        -------
        tuple of two labels
            The positive one first.

        Raises
        ------
        ValueError
            If there is one class only so far.
        """
        labels = self._state.labels
        if len(labels) < 2:
            message = (
                f"AUC needs both classes, got {self.n_samples} samples of the labels "
                f"{list(labels)}"
            )
            raise ValueError(message)
        return positive_label(list(labels), self._positive)

    def by_class(self, model: int) -> tuple[Counts, Counts]:
        """Give the counts of negatives and of positives in each bin.

        Parameters
        ----------
        model : int
            Which model.

        Returns
        -------
        tuple of ndarray of int64, shape (B,)
            Negatives and positives; views.

        Raises
        ------
        ValueError
            If there is one class only so far.
        """
        yes = self._state.labels.index(self.class_labels()[0])
        table = self._state.counts[model]
        return table[:, 1 - yes], table[:, yes]

    def model_map(self, model: int) -> ScoreMap:
        """Give the bins of a model.

        Parameters
        ----------
        model : int
            Which model.

        Returns
        -------
        ScoreMap
            Its map.

        Raises
        ------
        ValueError
            If none is laid so far.
        """
        if self._state.maps is None:
            message = "no bins are laid before the first block"
            raise ValueError(message)
        return self._state.maps[model]

    def _settings(self) -> dict[str, Any]:
        return {"positive": self._positive, **self._state.settings()}

    def _arrays(self) -> Arrays:
        return self._state.arrays()

    @classmethod
    def _restore(cls, settings: dict[str, Any], arrays: Arrays) -> Self:
        made = cls(positive=settings["positive"])
        made._state = ScoreState.restore(settings, arrays)
        return made

    def _check(self) -> None:
        self._state.check()
        if self.labels:
            positive_label(list(self.labels), self._positive)

    def _check_fit(self, other: Self) -> None:
        super()._check_fit(other)
        self._state.check_fit(other._state, type(self).__name__)
        if labels := join_labels(self.labels, other.labels):
            positive_label(list(labels), self._positive)

    def _join(self, other: Self) -> None:
        self._state = self._state.plus(other._state)
