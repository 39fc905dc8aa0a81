"""ROC and precision-recall curves, from the counts at every cutoff."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fastcmp.checks import as_numbers
from fastcmp.sweeps import ThresholdSweep, threshold_sweep

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


class RocCurve(NamedTuple):
    """Points of a ROC curve, from (0, 0) to (1, 1)."""

    #: False and true positive rates, ascending, shape (T + 1,).
    fpr: NDArray[np.float64]
    tpr: NDArray[np.float64]
    #: A sample is positive where its score reaches this. The first point calls none
    #: positive: +inf, or NaN where a score is +inf, for then no number lies above.
    thresholds: NDArray[np.float64]

    def step(self, fpr: ArrayLike) -> NDArray[np.float64]:
        """Read the curve as steps: the best rate that a cutoff reaches.

        Parameters
        ----------
        fpr : array-like
            False positive rates in [0, 1].

        Returns
        -------
        ndarray
            The highest true positive rate of a cutoff with no more false positives.
        """
        where = np.searchsorted(self.fpr, _as_rates(fpr), side="right") - 1
        return self.tpr[where]

    def interpolate(self, fpr: ArrayLike) -> NDArray[np.float64]:
        """Read the curve with its points joined by lines.

        Parameters
        ----------
        fpr : array-like
            False positive rates in [0, 1].

        Returns
        -------
        ndarray
            True positive rates; at a vertical line the highest.
        """
        x = _as_rates(fpr)
        right = np.clip(np.searchsorted(self.fpr, x, side="right"), 1, None)
        left = right - 1
        right = np.minimum(right, self.fpr.size - 1)
        run = self.fpr[right] - self.fpr[left]
        share = np.divide(x - self.fpr[left], run, out=np.zeros_like(x), where=run > 0)
        return self.tpr[left] + share * (self.tpr[right] - self.tpr[left])


def _as_rates(raw: ArrayLike) -> NDArray[np.float64]:
    rates = as_numbers(raw, "fpr").astype(np.float64)
    if not np.all((rates >= 0) & (rates <= 1)):
        message = "fpr must lie in [0, 1]"
        raise ValueError(message)
    return rates


def roc_curve(
    y_true: ArrayLike,
    score: ArrayLike,
    *,
    positive: Any = None,
    sample_weight: ArrayLike | None = None,
    drop_intermediate: bool = False,
) -> RocCurve:
    """Compute the ROC curve of one model.

    Parameters
    ----------
    y_true : array-like, shape (n,)
        True labels of two classes. Samples with a missing one are dropped.
    score : array-like, shape (n,)
        Higher scores speak for the positive class.
    positive : label, optional
        The positive class; of two numbers or booleans the larger one by default.
    sample_weight : array-like, shape (n,), optional
        Weights of the samples.
    drop_intermediate : bool
        Whether to leave out points on a line between their
        neighbours, whose steps are equal; neither curve nor area change.

    Returns
    -------
    RocCurve
        ``fpr``, ``tpr`` and ``thresholds``, a point for each distinct score and (0, 0).
        Scores of samples without weight are no thresholds.

    Raises
    ------
    ValueError
        As `threshold_sweep`, or if there is one class only.
    TypeError
        If scores are not numbers.

    Examples
    --------
    >>> from fastcmp import roc_curve
    >>> fpr, tpr, thresholds = roc_curve([0, 0, 1, 1], [0.1, 0.4, 0.4, 0.9])
    >>> fpr.tolist(), tpr.tolist()
    ([0.0, 0.0, 0.5, 1.0], [0.0, 0.5, 1.0, 1.0])
    """
    sweep = threshold_sweep(
        y_true, score, positive=positive, sample_weight=sample_weight
    )
    return roc_points(sweep, drop_intermediate=drop_intermediate)


def roc_points(sweep: ThresholdSweep, *, drop_intermediate: bool = False) -> RocCurve:
    """Turn the counts of a sweep into the points of the ROC curve.

    Parameters
    ----------
    sweep : ThresholdSweep
        Of two classes.
    drop_intermediate : bool
        As in `roc_curve`.

    Returns
    -------
    RocCurve
        One point more than the sweep has thresholds, if none is left out.

    Raises
    ------
    ValueError
        If there is one class only.
    """
    if not sweep.n_positives or not sweep.n_negatives:
        which = "positives" if not sweep.n_positives else "negatives"
        message = f"a ROC curve needs both classes: y_true holds no {which}"
        raise ValueError(message)
    fp, tp, thresholds = sweep.fp, sweep.tp, sweep.thresholds.astype(np.float64)
    if drop_intermediate and tp.size > 2:
        bends = (np.diff(fp, 2) != 0) | (np.diff(tp, 2) != 0)
        kept = np.concatenate([[True], bends, [True]])
        fp, tp, thresholds = fp[kept], tp[kept], thresholds[kept]
    return RocCurve(
        fpr=np.append(0.0, fp / sweep.n_negatives),
        tpr=np.append(0.0, tp / sweep.n_positives),
        thresholds=with_top(thresholds),
    )


def with_top(thresholds: NDArray[np.float64]) -> NDArray[np.float64]:
    """Put a threshold that no score reaches before all others.

    Parameters
    ----------
    thresholds : ndarray of float64, shape (T,)
        Descending.

    Returns
    -------
    ndarray of float64, shape (T + 1,)
        First +inf; NaN where that is a score, which no comparison calls positive.
    """
    top = np.inf if not thresholds.size or thresholds[0] < np.inf else np.nan
    return np.append(top, thresholds)


def at_changes(tp: NDArray[Any]) -> NDArray[np.bool_]:
    """Tell which points have more or fewer true positives than a neighbour.

    Parameters
    ----------
    tp : ndarray, shape (T,)
        True positives at each point.

    Returns
    -------
    ndarray of bool, shape (T,)
        Flags; True for the first and the last point.
    """
    changes = np.diff(tp) != 0
    kept = np.ones(tp.size, np.bool_)
    kept[1:-1] = changes[:-1] | changes[1:]
    return kept


class PrecisionRecallCurve(NamedTuple):
    """Precision and recall at each threshold, ascending, and a last point (1, 0)."""

    #: Shape (T + 1,).
    precision: NDArray[np.float64]
    recall: NDArray[np.float64]
    #: Shape (T,).
    thresholds: NDArray[np.float64]


def precision_recall_curve(
    y_true: ArrayLike,
    score: ArrayLike,
    *,
    positive: Any = None,
    sample_weight: ArrayLike | None = None,
    drop_intermediate: bool = False,
) -> PrecisionRecallCurve:
    """Compute precision against recall.

    Parameters
    ----------
    y_true : array-like, shape (n,)
        True labels of two classes. Samples with a missing one are dropped.
    score : array-like, shape (n,)
        Higher scores speak for the positive class.
    positive : label, optional
        The positive class; of two numbers or booleans the larger one by default.
    sample_weight : array-like, shape (n,), optional
        Weights of the samples.
    drop_intermediate : bool
        Whether to leave out points whose recall is that of
        both neighbours.

    Returns
    -------
    PrecisionRecallCurve
        Thresholds ascend, as scikit-learn's do.

    Raises
    ------
    ValueError
        As `threshold_sweep`, or if there are no positives.
    TypeError
        If scores are not numbers.

    Examples
    --------
    >>> from fastcmp import precision_recall_curve
    >>> curve = precision_recall_curve([0, 0, 1, 1], [0.1, 0.4, 0.4, 0.9])
    >>> curve.precision.round(3).tolist(), curve.recall.tolist()
    ([0.5, 0.667, 1.0, 1.0], [1.0, 1.0, 0.5, 0.0])
    """
    sweep = threshold_sweep(
        y_true, score, positive=positive, sample_weight=sample_weight
    )
    precision, recall = _precision_recall(sweep)
    thresholds = sweep.thresholds.astype(np.float64)
    if drop_intermediate:
        kept = at_changes(sweep.tp)
        precision, recall = precision[kept], recall[kept]
        thresholds = thresholds[kept]
    return PrecisionRecallCurve(
        precision=np.append(precision[::-1], 1.0),
        recall=np.append(recall[::-1], 0.0),
        thresholds=thresholds[::-1],
    )


def _precision_recall(sweep: ThresholdSweep) -> tuple[Any, Any]:
    if not sweep.n_positives:
        message = "precision and recall need positives: y_true holds none"
        raise ValueError(message)
    called = sweep.tp + sweep.fp
    # Where weights are 0 nothing is called positive, and nothing is wrong.
    precision = np.divide(sweep.tp, called, out=np.ones(called.size), where=called > 0)
    return precision, sweep.tp / sweep.n_positives


def average_precision(
    y_true: ArrayLike,
    score: ArrayLike,
    *,
    positive: Any = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Average precision: the steps of recall, each times the precision there.

    Parameters
    ----------
    y_true : array-like, shape (n,)
        True labels of two classes. Samples with a missing one are dropped.
    score : array-like, shape (n,)
        Higher scores speak for the positive class.
    positive : label, optional
        The positive class; of two numbers or booleans the larger one by default.
    sample_weight : array-like, shape (n,), optional
        Weights of the samples.

    Returns
    -------
    float
        In (0, 1]; not interpolated.

    Raises
    ------
    ValueError
        As `precision_recall_curve`.
    TypeError
        If scores are not numbers.

    Examples
    --------
    >>> from fastcmp import average_precision
    >>> round(average_precision([0, 0, 1, 1], [0.1, 0.4, 0.4, 0.9]), 4)
    0.8333
    """
    sweep = threshold_sweep(
        y_true, score, positive=positive, sample_weight=sample_weight
    )
    precision, recall = _precision_recall(sweep)
    return float(np.diff(recall, prepend=0.0) @ precision)
