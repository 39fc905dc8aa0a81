"""A ROC curve in constant memory: exact points, and how far others may be off."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from fastcmp.core.threads import check_workers
from fastcmp.counts.pairs import model_index
from fastcmp.counts.roc_points import RocCurve, with_top
from fastcmp.stream.accumulator import Arrays, BlockCounts
from fastcmp.stream.score_map import ScoreMap, read_block
from fastcmp.stream.score_refinement import ScoreRefinement
from fastcmp.stream.score_state import AreaBounds, ScoreState, only_area

Counts = NDArray[np.int64]


class ScoreCounts(BlockCounts):
    """How many samples of either class have scores in each of up to 2**16 bins.

    The counts give lower and upper bounds on the area under the ROC curve, which are
    exact statements about all samples, not estimates. Give blocks of samples to
    `update`; combine parts with `merge`, ``+`` or ``sum``. `auc` is the area of one
    model, `areas` are those of several, and a second pass over the samples (`refine`)
    makes them exact.

    Parameters
    ----------
    map : ScoreMap or mapping from names to ScoreMap, optional
        The bins; by default chosen from the scores of the first block.
    positive : label, optional
        The positive class; of two numbers or booleans the larger one by default.
    names : int or sequence of str, optional
        Names of the models, or their number; by default those of the first block.

    Raises
    ------
    ValueError
        If names repeat, or do not agree with the maps.
    TypeError
        If names are not strings, or maps of another type.

    See Also
    --------
    fastcmp.auc : The area of scores that fit in memory.
    RocSketch : The same with the curve.
    ScoreMap.fit : Choose bins once, for all parts of the data.

    Notes
    -----
    For each model the state takes 1 MB, whatever the number of samples. Parts merge
    where their maps are equal: choose one map, and start all parts with it.

    The area is exact for scores of a type of at most 16 bits, such as float16, and for
    scores of less than 2**15 - 1 different values all of which the first block holds,
    each twice on average.

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

    def __init__(
        self,
        map: ScoreMap | Mapping[str, ScoreMap] | None = None,
        *,
        positive: Any = None,
        names: int | Sequence[str] | None = None,
    ) -> None:
        self._state = ScoreState.of_maps(map, names, positive)

    @property
    def map(self) -> ScoreMap | dict[str, ScoreMap] | None:
        """The bins of one model, or by name of several; None before the first block."""
        names, maps = self._state.names, self._state.maps
        if maps is None or len(maps) == 1:
            return maps[0] if maps else None
        return dict(zip(names or (), maps, strict=True))

    @property
    def positive(self) -> Any:
        """The positive class that was given, or None."""
        return self._state.positive

    @property
    def labels(self) -> tuple[Any, ...]:
        """The labels found so far, ascending."""
        return self._state.labels

    @property
    def counts(self) -> dict[str, Counts]:
        """A copy of each model's counts by bin and by label, shape (B, 2)."""
        names, counts = self._state.names or (), self._state.counts
        return {name: table.copy() for name, table in zip(names, counts, strict=bool(counts))}

    @property
    def auc(self) -> AreaBounds:
        """The area of the only model; of several see `areas`."""
        return only_area(self.areas)

    @property
    def areas(self) -> dict[str, AreaBounds]:
        """The area of each model, by name."""
        state = self._state
        state.class_labels()  # refuses a single class, also where there are no models
        return {name: state.area(model) for model, name in enumerate(state.names or ())}

    def update(self, y_true: Any, scores: Any, *, workers: int | None = None) -> Self:
        """Count a block of samples.

        Parameters
        ----------
        y_true : array-like, shape (n,)
            True labels; a block may hold one class only. Samples with a missing label
            are dropped and counted.
        scores : array-like of shape (n,) or (M, n), mapping or frame
            Higher scores indicate the positive class. Columns with names may come in
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
            block = read_block(y_true, scores, self.names)
            self._state = self._state.count(block, threads)
        return self

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
        return self._made(self._state.empty())

    def refine(self, *, memory_limit: int | str = "1 GB") -> ScoreRefinement:
        """Begin a second pass, which makes the bounds narrower or the area exact.

        Parameters
        ----------
        memory_limit : int or str
            Memory for the scores that the second pass collects: bytes, or text such as
            "4 GB". Bins with the most undecided pairs come first.

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
        >>> (again.auc.exact, again.auc.auc == fastcmp.auc(is_eight, scores["linear_svm"]))
        (True, True)
        """
        return ScoreRefinement._begin(self._state, memory_limit)

    @classmethod
    def _made(cls, state: ScoreState) -> Self:
        made = cls()
        made._state = state
        return made

    def _table(self) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
        if len(self.labels) < 2:
            return ("model",), tuple((name,) for name in self.names or ())
        return ("model", "AUC from", "to"), tuple(
            (name, f"{area.low:.6f}", f"{area.high:.6f}") for name, area in self.areas.items()
        )

    @classmethod
    def _restore(cls, settings: dict[str, Any], arrays: Arrays) -> Self:
        return cls._made(ScoreState.of_file(settings, arrays))


class RocSketch(ScoreCounts):
    """Points of the ROC curve of each model, from counts of scores in bins.

    A `ScoreCounts` that also gives the curve: `curve` has the points at the edges of
    the bins, which lie on the curve of all scores exactly, and `gap` bounds how far
    that curve is from the lines between them. It is updated, merged and saved as
    `ScoreCounts` is, and has the area as well.

    Parameters
    ----------
    map : ScoreMap or mapping from names to ScoreMap, optional
        The bins; by default chosen from the scores of the first block.
    positive : label, optional
        The positive class; of two numbers or booleans the larger one by default.
    names : int or sequence of str, optional
        Names of the models, or their number; by default those of the first block.

    Raises
    ------
    ValueError
        If names repeat, or do not agree with the maps.
    TypeError
        If names are not strings, or maps of another type.

    See Also
    --------
    fastcmp.roc_curve : The curve of scores that fit in memory.
    ScoreMap.fit : Choose bins once, for all parts of the data.

    Notes
    -----
    1 MB for each model, whatever the number of samples. `gap` is 0 where each bin holds
    one value only; see `ScoreCounts` for when that is so.

    Examples
    --------
    >>> from fastcmp.stream import RocSketch
    >>> sketch = RocSketch().update([0, 0, 1, 1], [0.25, 0.5, 0.5, 0.75])
    >>> sketch.curve().tpr.tolist(), sketch.gap()
    ([0.0, 0.5, 1.0, 1.0], 0.0)
    """

    def curve(self, model: str | int | None = None) -> RocCurve:
        """The curve at the edges of the bins.

        Parameters
        ----------
        model : str or int, optional
            Name or place of the model; needed where there are several.

        Returns
        -------
        RocCurve
            Each point is a point of the curve of all scores, exactly; a threshold is
            the smallest score that its bin might hold.

        Raises
        ------
        ValueError
            If there is one class only, or no such model, or several and none is named.

        Examples
        --------
        >>> import fastcmp
        >>> from fastcmp.stream import RocSketch
        >>> is_eight, scores = fastcmp.load_digits_scores()
        >>> sketch = RocSketch().update(is_eight, {"knn": scores["knn_3"]})
        >>> fastcmp.roc_curve(is_eight, scores["knn_3"]).fpr.size
        5
        >>> sketch.curve("knn").fpr.size, sketch.gap("knn")
        (5, 0.0)
        """
        thresholds, *counts, _ = self._points(model)
        fp, tp = np.cumsum(counts, axis=1)
        return RocCurve(
            fpr=np.append(0.0, fp / fp[-1]),
            tpr=np.append(0.0, tp / tp[-1]),
            thresholds=with_top(thresholds),
        )

    def gap(self, model: str | int | None = None) -> float:
        """Bound how far the curve of all scores lies above or below this one.

        Parameters
        ----------
        model : str or int, optional
            Name or place of the model; needed where there are several.

        Returns
        -------
        float
            The largest possible difference of true positive rates at one false positive
            rate, both curves with their points joined by lines. 0 where they are equal.

        Raises
        ------
        ValueError
            If there is one class only, or no such model, or several and none is named.

        Notes
        -----
        Between two neighbouring points the curve rises from one to the other in some
        way, so it is off by no more than the positives between them.

        Examples
        --------
        >>> from fastcmp.stream import RocSketch
        >>> RocSketch().update([0, 1, 0, 1], [1, 1, 2, 2]).gap()
        0.0
        """
        _, negatives, positives, exact = self._points(model)
        open_ = ~exact & (negatives > 0)
        return float(np.max(positives * open_) / positives.sum())

    def _points(self, model: str | int | None) -> list[NDArray[Any]]:
        """Thresholds, negatives, positives and exactness of bins with samples, from the top."""
        state = self._state
        names, labels = state.names or (), state.class_labels()
        if model is None and len(names) > 1:
            raise ValueError(
                f"model must name one of {names[:5]} ({len(names)} in all) with the "
                f"labels {labels}, got None"
            )
        place = 0 if model is None else model_index(model, names, "model")
        negatives, positives = state.by_class(place)
        one = state.map_of(place)
        used = np.flatnonzero(negatives + positives)[::-1]
        return [x[used] for x in (one.thresholds, negatives, positives, one.exact)]
