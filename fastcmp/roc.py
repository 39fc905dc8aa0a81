"""What every cutoff does: counts at each distinct score, and curves from them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fastcmp import kernels
from fastcmp.checks import as_numbers
from fastcmp.report import Section
from fastcmp.results import Printed, dropped_sentences
from fastcmp.scores import Scores, order_of, read_scores, read_weights

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ThresholdSweep(Printed):
    """Classification tables at every distinct score, from the highest down.

    A sample is predicted positive where its score reaches the threshold. All arrays are
    of shape (T,); counts are whole numbers unless samples have weights.
    """

    #: The distinct scores, descending.
    thresholds: NDArray[Any]
    #: Positives and negatives that reach the threshold.
    tp: NDArray[Any]
    fp: NDArray[Any]
    #: All positives and all negatives (their weight).
    n_positives: Any
    n_negatives: Any
    #: The labels of positives and of negatives.
    labels: tuple[Any, Any]
    n_missing: int = 0

    @property
    def fn(self) -> NDArray[Any]:
        """Positives below the threshold, shape (T,)."""
        return np.asarray(self.n_positives - self.tp)

    @property
    def tn(self) -> NDArray[Any]:
        """Negatives below the threshold, shape (T,)."""
        return np.asarray(self.n_negatives - self.fp)

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            One section.
        """
        text = (
            f"{self.thresholds.size} distinct scores of {self.n_positives:g} positives "
            f"({self.labels[0]!r}) and {self.n_negatives:g} negatives "
            f"({self.labels[1]!r})",
            *dropped_sentences(self.n_missing, 0),
        )
        return [Section(title="Threshold sweep", text=text)]


def threshold_sweep(
    y_true: ArrayLike,
    score: ArrayLike,
    /,
    *,
    positive: Any = None,
    sample_weight: ArrayLike | None = None,
) -> ThresholdSweep:
    """Count true and false positives at every distinct score.

    Parameters
    ----------
    y_true : array-like, shape (n,)
        True labels of two classes. Samples with a missing one are dropped.
    score : array-like, shape (n,)
        Higher scores speak for the positive class.
    positive : label, optional
        The positive class; of two numbers or booleans the larger one by default.
    sample_weight : array-like, shape (n,), optional
        Weights to add up in place of counts.

    Returns
    -------
    ThresholdSweep
        Thresholds, descending, and the table at each.

    Raises
    ------
    ValueError
        If lengths differ, a score is NaN, a weight negative, or there are not two
        classes.
    TypeError
        If scores are not numbers.

    Notes
    -----
    O(n log n): the scores of either class are sorted, and merged.

    Examples
    --------
    >>> from fastcmp import threshold_sweep
    >>> sweep = threshold_sweep([0, 0, 1, 1], [0.1, 0.4, 0.4, 0.9])
    >>> sweep.thresholds.tolist(), sweep.tp.tolist(), sweep.fp.tolist()
    ([0.9, 0.4, 0.1], [1, 2, 2], [0, 1, 2])
    """
    read = read_scores(y_true, score, positive, single=True)
    return sweep_scores(read, read_weights(sample_weight, read))


def sweep_scores(
    read: Scores, weights: NDArray[np.float64] | None = None, model: int = 0
) -> ThresholdSweep:
    """Sweep over the scores of one model.

    Parameters
    ----------
    read : Scores
        Checked scores.
    weights : ndarray of float64, shape (n,), optional
        Weights of the samples.
    model : int
        Which model.

    Returns
    -------
    ThresholdSweep
        As from `threshold_sweep`.
    """
    column = read.columns[model]
    if weights is None:
        thresholds, fp, tp = _sweep(column, read.positive)
        totals = read.n_positives, read.n_negatives
    else:
        thresholds, fp, tp = _weighted_sweep(column, read.positive, weights)
        totals = tp[-1], fp[-1]
    if (distinct := read.distinct[model]) is not None:
        thresholds = distinct[thresholds.astype(np.int64)]
    return ThresholdSweep(
        thresholds=thresholds,
        tp=tp,
        fp=fp,
        n_positives=totals[0],
        n_negatives=totals[1],
        labels=read.labels,
        n_missing=read.n_missing,
    )


def sorted_classes(
    column: NDArray[Any], positive: NDArray[np.uint8]
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Sort the scores of either class.

    Parameters
    ----------
    column : ndarray of float32 or float64, shape (n,)
        Scores without NaN.
    positive : ndarray of uint8, shape (n,)
        1 for positives, 0 for negatives.

    Returns
    -------
    tuple of ndarray, shape (n0 + 1,) and (n1 + 1,)
        Negatives and positives, ascending, with +inf in the last place.
    """
    both = np.empty(column.size + 2, column.dtype)
    counts = kernels.split_scores(column, positive, both)
    positives = both[: counts.positives + 1]
    negatives = both[counts.positives + 1 :]
    positives[:-1].sort()
    negatives[:-1].sort()
    return negatives, positives


def _sweep(column: NDArray[Any], positive: NDArray[np.uint8]) -> tuple[Any, Any, Any]:
    negatives, positives = sorted_classes(column, positive)
    thresholds = np.empty_like(column)
    fp, tp = np.empty((2, column.size), np.int64)
    n = kernels.sweep_sorted(negatives[:-1], positives[:-1], thresholds, fp, tp)
    return thresholds[:n].copy(), fp[:n].copy(), tp[:n].copy()


def _weighted_sweep(
    column: NDArray[Any], positive: NDArray[np.uint8], weights: NDArray[np.float64]
) -> tuple[Any, Any, Any]:
    order = order_of(column)[::-1]
    descending = column[order]
    last = np.flatnonzero(np.append(descending[1:] != descending[:-1], True))
    of_positives = weights[order] * positive[order]
    tp = np.cumsum(of_positives)[last]
    fp = np.cumsum(weights[order] - of_positives)[last]
    return descending[last], fp, tp


class RocCurve(NamedTuple):
    """Points of a ROC curve, from (0, 0) to (1, 1)."""

    #: False and true positive rates, ascending, shape (T + 1,).
    fpr: NDArray[np.float64]
    tpr: NDArray[np.float64]
    #: A sample is positive where its score reaches this; +inf at the first point.
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
    /,
    *,
    positive: Any = None,
    sample_weight: ArrayLike | None = None,
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

    Returns
    -------
    RocCurve
        ``fpr``, ``tpr`` and ``thresholds``, a point for each distinct score and (0, 0).

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
    return roc_points(sweep)


def roc_points(sweep: ThresholdSweep) -> RocCurve:
    """Turn the counts of a sweep into the points of the ROC curve.

    Parameters
    ----------
    sweep : ThresholdSweep
        Of two classes.

    Returns
    -------
    RocCurve
        One point more than thresholds.

    Raises
    ------
    ValueError
        If there is one class only.
    """
    if not sweep.n_positives or not sweep.n_negatives:
        which = "positives" if not sweep.n_positives else "negatives"
        message = f"a ROC curve needs both classes: y_true holds no {which}"
        raise ValueError(message)
    return RocCurve(
        fpr=np.append(0.0, sweep.fp / sweep.n_negatives),
        tpr=np.append(0.0, sweep.tp / sweep.n_positives),
        thresholds=np.append(np.inf, sweep.thresholds.astype(np.float64)),
    )


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
    /,
    *,
    positive: Any = None,
    sample_weight: ArrayLike | None = None,
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
    return PrecisionRecallCurve(
        precision=np.append(precision[::-1], 1.0),
        recall=np.append(recall[::-1], 0.0),
        thresholds=sweep.thresholds[::-1].astype(np.float64),
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
    /,
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
