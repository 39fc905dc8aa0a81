"""ROC, precision-recall and DET curves, from the counts at every cutoff."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastcmp import kernels
from fastcmp.core.checks import choose
from fastcmp.core.errors import BadValueError
from fastcmp.core.records import Record
from fastcmp.core.sections import Column, Section
from fastcmp.core.sentences import answer, dropped_sentences
from fastcmp.core.typing import Classes, ColumnLike, Flags, Floats, Label
from fastcmp.counts.roc_points import Curve, RocCurve, with_top
from fastcmp.inputs.scores import (
    ClassScores,
    Scores,
    has_columns,
    order_of,
    read_class_scores,
    read_scores,
    read_weights,
)
from fastcmp.kernels.roc import split_scores


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ThresholdSweep(Record):
    """Classification tables at every distinct score, from the highest down.

    A sample is predicted positive where its score reaches the threshold. All arrays are
    of shape (T,); counts are whole numbers unless samples have weights.
    """

    _blocks = "scores:sweep"
    _opening = Curve._opening

    #: The distinct scores, descending.
    thresholds: NDArray[Any]
    #: Numbers of positives and of negatives that reach the threshold.
    tp: NDArray[Any]
    fp: NDArray[Any]
    #: All positives and all negatives (their weight).
    n_positives: Any
    n_negatives: Any
    #: The labels of positives and of negatives.
    labels: tuple[Any, Any]
    n_missing: int = 0

    _columns = (Column("threshold", "thresholds"), *Column.each("tp fp fn tn"))

    @property
    def fn(self) -> NDArray[Any]:
        """Number of positives below the threshold, shape (T,)."""
        return np.asarray(self.n_positives - self.tp)

    @property
    def tn(self) -> NDArray[Any]:
        """Number of negatives below the threshold, shape (T,)."""
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
        return [Section(title=answer("Threshold sweep"), text=text)]


def threshold_sweep(
    y_true: ColumnLike,
    score: ArrayLike,
    *,
    positive: Label = None,
    sample_weight: ArrayLike | None = None,
) -> ThresholdSweep:
    """Count true and false positives at every distinct score.

    Parameters
    ----------
    y_true : array-like, shape (n,)
        True labels of two classes. Samples with a missing one are dropped.
    score : array-like, shape (n,)
        Higher scores indicate the positive class.
    positive : label, optional
        The positive class; of two numbers or booleans the larger one by default.
    sample_weight : array-like, shape (n,), optional
        Weights to add up in place of counts.

    Returns
    -------
    ThresholdSweep
        Thresholds, descending, and the table at each. The scores of samples with weight
        0 are left out.

    Raises
    ------
    ValueError
        If lengths differ, a score is NaN, a weight negative, weights do not add up to a
        finite number, or there are not two classes.
    TypeError
        If scores are not numbers.

    Notes
    -----
    O(n log n): the scores of each class are sorted, then merged.

    Examples
    --------
    >>> from fastcmp import threshold_sweep
    >>> sweep = threshold_sweep([0, 0, 1, 1], [0.1, 0.4, 0.4, 0.9])
    >>> sweep.thresholds.tolist(), sweep.tp.tolist(), sweep.fp.tolist()
    ([0.9, 0.4, 0.1], [1, 2, 2], [0, 1, 2])
    """
    read = read_scores(y_true, score, positive, single=True)
    return sweep_scores(read, read_weights(sample_weight, read))


def sweep_scores(read: Scores, weights: Floats | None = None, model: int = 0) -> ThresholdSweep:
    """Sweep over the scores of one model."""
    column = read.columns[model]
    if weights is None:
        negatives, positives = sorted_classes(column, read.positive)
        thresholds = np.empty_like(column)
        counts = np.empty((2, column.size), np.int64)
        n = kernels.sweep_sorted(negatives[:-1], positives[:-1], thresholds, *counts)
        thresholds, fp, tp = thresholds[:n].copy(), *counts[:, :n].copy()
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
    """Negatives and positives, ascending, each with +inf in the last place."""
    both = np.empty(column.size + 2, column.dtype)
    counts = split_scores(column, positive, both)
    positives = both[: counts.positives + 1]
    negatives = both[counts.positives + 1 :]
    positives[:-1].sort()
    negatives[:-1].sort()
    return negatives, positives


def _weighted_sweep(
    column: NDArray[Any], positive: NDArray[np.uint8], weights: Floats
) -> tuple[Any, Any, Any]:
    if not (used := weights > 0).all():  # no sample, no threshold
        column, positive, weights = column[used], positive[used], weights[used]
    order = order_of(column)[::-1]
    descending = column[order]
    last = np.flatnonzero(np.append(descending[1:] != descending[:-1], True))
    of_positives = weights[order] * positive[order]
    with np.errstate(over="ignore"):
        tp = np.cumsum(of_positives)[last]
        fp = np.cumsum(weights[order] - of_positives)[last]
        total = tp[-1] + fp[-1]
    if not np.isfinite(total):
        raise BadValueError(
            "`sample_weight` must add up to a finite number",
            f"weights up to {weights.max():.3g}",
            ": divide all by the largest",
        )
    return descending[last], fp, tp


def roc_curve(
    y_true: ColumnLike,
    score: ArrayLike,
    *,
    positive: Label = None,
    sample_weight: ArrayLike | None = None,
    drop_intermediate: bool = False,
) -> RocCurve:
    """Compute the ROC curve of one model.

    Parameters
    ----------
    y_true : array-like, shape (n,)
        True labels of two classes. Samples with a missing one are dropped.
    score : array-like, shape (n,)
        Higher scores indicate the positive class.
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
    sweep = threshold_sweep(y_true, score, positive=positive, sample_weight=sample_weight)
    return roc_points(sweep, drop_intermediate=drop_intermediate)


def roc_points(sweep: ThresholdSweep, *, drop_intermediate: bool = False) -> RocCurve:
    """Points of the ROC curve from the counts of a sweep."""
    if not sweep.n_positives or not sweep.n_negatives:
        absent = "positives" if not sweep.n_positives else "negatives"
        raise BadValueError(f"a ROC curve needs both classes: `y_true` holds no {absent}")
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


def _at_changes(tp: NDArray[Any]) -> Flags:
    """Which points have more or fewer true positives than a neighbour."""
    changes = np.diff(tp) != 0
    kept = np.ones(tp.size, np.bool_)
    kept[1:-1] = changes[:-1] | changes[1:]
    return kept


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class PrecisionRecallCurve(Curve):
    """Precision and recall at each threshold, ascending, and a last point (1, 0)."""

    _title: ClassVar[str] = "Precision-recall curve"
    _n_unpacked: ClassVar[int] = 3
    _blocks = "scores:curve_of"

    #: Shape (T + 1,).
    precision: Floats
    recall: Floats
    #: Shape (T,).
    thresholds: Floats

    def columns(self) -> dict[str, Any]:
        """The points as columns, a row a point.

        Returns
        -------
        dict of str to ndarray
            The arrays of the curve; the threshold of the last point is NaN.
        """
        return self._fields() | {"thresholds": np.append(self.thresholds, np.nan)}


def precision_recall_curve(
    y_true: ColumnLike,
    score: ArrayLike,
    *,
    positive: Label = None,
    sample_weight: ArrayLike | None = None,
    drop_intermediate: bool = False,
) -> PrecisionRecallCurve:
    """Compute precision against recall.

    Parameters
    ----------
    y_true : array-like, shape (n,)
        True labels of two classes. Samples with a missing one are dropped.
    score : array-like, shape (n,)
        Higher scores indicate the positive class.
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
    sweep = threshold_sweep(y_true, score, positive=positive, sample_weight=sample_weight)
    precision, recall = _precision_recall(sweep)
    thresholds = sweep.thresholds.astype(np.float64)
    if drop_intermediate:
        kept = _at_changes(sweep.tp)
        precision, recall = precision[kept], recall[kept]
        thresholds = thresholds[kept]
    return PrecisionRecallCurve(
        precision=np.append(precision[::-1], 1.0),
        recall=np.append(recall[::-1], 0.0),
        thresholds=thresholds[::-1],
    )


def _precision_recall(sweep: ThresholdSweep) -> tuple[Any, Any]:
    if not sweep.n_positives:
        raise BadValueError("precision and recall need positives: `y_true` holds none")
    called = sweep.tp + sweep.fp
    # Where weights are 0 nothing is called positive, and nothing is wrong.
    precision = np.divide(sweep.tp, called, out=np.ones(called.size), where=called > 0)
    return precision, sweep.tp / sweep.n_positives


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class DetCurve(Curve):
    """Error rates at each threshold, thresholds ascending, shape (T,)."""

    _title: ClassVar[str] = "Detection error tradeoff"
    _n_unpacked: ClassVar[int] = 3
    _blocks = "scores:curve_of"

    #: False positive rates, descending to 0.
    fpr: Floats
    #: False negative rates, ascending from 0.
    fnr: Floats
    #: A sample is positive where its score reaches this. If no score separates a
    #: positive from all negatives, the last one calls nothing positive: +inf, or NaN
    #: where a score is +inf.
    thresholds: Floats


def det_curve(
    y_true: ColumnLike,
    score: ArrayLike,
    *,
    positive: Label = None,
    sample_weight: ArrayLike | None = None,
    drop_intermediate: bool = False,
) -> DetCurve:
    """Compute the two error rates at each cutoff that trades one for the other.

    Parameters
    ----------
    y_true : array-like, shape (n,)
        True labels of two classes. Samples with a missing one are dropped.
    score : array-like, shape (n,)
        Higher scores indicate the positive class.
    positive : label, optional
        The positive class; of two numbers or booleans the larger one by default.
    sample_weight : array-like, shape (n,), optional
        Weights of the samples.
    drop_intermediate : bool
        Whether to leave out points whose false negative rate is that of both
        neighbours.

    Returns
    -------
    DetCurve
        From the highest cutoff without false negatives to the lowest one without false
        positives, in ascending order, as scikit-learn has it.

    Raises
    ------
    ValueError
        As `threshold_sweep`, or if there is one class only.
    TypeError
        If scores are not numbers.

    Notes
    -----
    O(n log n). Drawn on the scale of normal deviates the curve is a straight line where
    the scores of both classes are normal [1]_.

    References
    ----------
    .. [1] A. Martin, G. Doddington, T. Kamm, M. Ordowski, M. Przybocki, "The DET curve
       in assessment of detection task performance", Proc. Eurospeech (1997) 1895-1898.

    Examples
    --------
    >>> from fastcmp import det_curve
    >>> fpr, fnr, thresholds = det_curve([0, 0, 1, 1], [0.1, 0.4, 0.4, 0.9])
    >>> fpr.tolist(), fnr.tolist(), thresholds.tolist()
    ([0.5, 0.0], [0.0, 0.5], [0.4, 0.9])
    """
    sweep = threshold_sweep(y_true, score, positive=positive, sample_weight=sample_weight)
    roc_points(sweep)  # needs both classes
    fp, tp = np.append(0, sweep.fp), np.append(0, sweep.tp)
    thresholds = with_top(sweep.thresholds.astype(np.float64))
    if drop_intermediate:
        kept = _at_changes(tp)
        fp, tp, thresholds = fp[kept], tp[kept], thresholds[kept]
    first = np.searchsorted(fp, 0, side="right") - 1
    last = np.searchsorted(tp, tp[-1]) + 1
    part = slice(first, last)
    return DetCurve(
        fpr=fp[part][::-1] / sweep.n_negatives,
        fnr=(sweep.n_positives - tp[part])[::-1] / sweep.n_positives,
        thresholds=thresholds[part][::-1],
    )


def average_precision(
    y_true: ColumnLike,
    score: ArrayLike,
    *,
    positive: Label = None,
    sample_weight: ArrayLike | None = None,
    average: str | None = "macro",
    classes: Classes | None = None,
) -> Any:
    """Average precision: the sum of the steps of recall, each times the precision.

    Parameters
    ----------
    y_true : array-like, shape (n,) or (n, K)
        True labels; samples with a missing one are dropped. Or 0 and 1 for each of K
        labels, of which a sample may have several (multilabel).
    score : array-like, shape (n,) or (n, K)
        Higher scores indicate the positive class; of three or more classes, and of
        labels, a column for each.
    positive : label, optional
        The positive class of two; of two numbers or booleans the larger one by default.
    sample_weight : array-like, shape (n,), optional
        Weights of the samples.
    average : {"macro", "weighted", "micro", "samples"} or None
        Of K columns, each class against the rest: plain mean; by the frequency of the
        class; all samples and classes together; mean over samples of the average
        precision of a sample's K scores; or no average.
    classes : sequence, optional
        Labels of the columns; by default the distinct true labels, sorted.

    Returns
    -------
    float or ndarray, shape (K,)
        In (0, 1]; not interpolated.

    Raises
    ------
    ValueError
        As `precision_recall_curve`; or if shapes do not fit, a class has no sample, or
        options do not go together.
    TypeError
        If scores are not numbers.

    Examples
    --------
    >>> from fastcmp import average_precision
    >>> round(average_precision([0, 0, 1, 1], [0.1, 0.4, 0.4, 0.9]), 4)
    0.8333
    >>> scores = [[0.7, 0.2, 0.1], [0.2, 0.5, 0.3], [0.3, 0.3, 0.4], [0.1, 0.6, 0.3]]
    >>> average_precision(["a", "b", "c", "c"], scores, average=None).tolist()
    [1.0, 0.5, 0.8333333333333333]
    """
    average = choose(average, "average", AVERAGES)
    if not has_columns(score):
        if classes is not None:
            raise BadValueError("`classes=` names the columns of score, which has only one")
        sweep = threshold_sweep(y_true, score, positive=positive, sample_weight=sample_weight)
        return _average_precision(sweep)
    if positive is not None:
        raise BadValueError("`positive=` is for two classes and scores of shape (n,): leave it out")
    read = read_class_scores(y_true, score, classes, sample_weight)
    if len(read.names) == 2 and not has_columns(y_true):
        raise BadValueError(
            f"of two classes, {read.names}, pass the scores of the positive one only, of shape "
            "(n,)",
            argument="score",
        )

    def measure(flags: object, column: object, weights: Any) -> float:
        labelled = read_scores(flags, column, positive=True)
        return _average_precision(sweep_scores(labelled, weights))

    return average_classes(read, measure, average)


def _average_precision(sweep: ThresholdSweep) -> float:
    precision, recall = _precision_recall(sweep)
    return float(np.diff(recall, prepend=0.0) @ precision)


# Averages of measures over classes, labels or samples.


AVERAGES = ("macro", "weighted", "micro", "samples", None)


def class_weights(read: ClassScores) -> Floats:
    """Sums of the weights of the samples of each class."""
    ones = np.ones(len(read.positive)) if read.weights is None else read.weights
    sums = np.asarray(ones @ read.positive, np.float64)
    if not sums.all():
        empty = [label for label, n in zip(read.names, sums, strict=True) if not n]
        raise BadValueError(f"`y_true` holds no sample of {empty[:10]}")
    return sums


def average_classes(
    read: ClassScores,
    measure: Callable[[Flags, NDArray[Any], Floats | None], float],
    average: str | None,
) -> float | Floats:
    """Mean of a measure of two classes over classes, labels or samples."""
    weights = read.weights
    if average == "micro":
        tiled = None if weights is None else np.repeat(weights, len(read.names))
        return measure(read.positive.ravel(), read.scores.ravel(), tiled)
    if average == "samples":
        of_samples = np.empty(len(read.positive))
        for i, (flags, row) in enumerate(zip(read.positive, read.scores, strict=True)):
            try:
                of_samples[i] = measure(flags, row, None)
            except ValueError as error:
                raise BadValueError(
                    f"`average='samples'` has nothing to measure for sample {i}: {error}"
                ) from None
        return float(np.average(of_samples, weights=weights))
    sums = class_weights(read)
    columns = zip(read.positive.T, np.ascontiguousarray(read.scores.T), strict=True)
    values = np.array([measure(flags, column, weights) for flags, column in columns])
    if average is None:
        return values
    return float(np.average(values, weights=sums if average == "weighted" else None))
