"""A ROC curve in constant memory: exact points, and how far others may be off."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastcmp.counts.pairs import model_index
from fastcmp.counts.roc_points import RocCurve, with_top
from fastcmp.stream.score_counts import ScoreCounts


class _Points(NamedTuple):
    """Counts of the bins that hold samples, from the highest down."""

    thresholds: NDArray[np.float64]
    negatives: NDArray[np.int64]
    positives: NDArray[np.int64]
    exact: NDArray[np.bool_]


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
        """Give the curve at the edges of the bins.

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
        points = self._points(model)
        fp, tp = np.cumsum(points.negatives), np.cumsum(points.positives)
        return RocCurve(
            fpr=np.append(0.0, fp / fp[-1]),
            tpr=np.append(0.0, tp / tp[-1]),
            thresholds=with_top(points.thresholds),
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
        points = self._points(model)
        open_ = ~points.exact & (points.negatives > 0)
        return float(np.max(points.positives * open_) / points.positives.sum())

    def _points(self, model: str | int | None) -> _Points:
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
        return _Points(one.thresholds[used], negatives[used], positives[used], one.exact[used])
