"""A classifier at one cutoff: its table and measures."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp.core.checks import LARGEST_COUNT, as_counts, as_proportion
from fastcmp.core.options import choose
from fastcmp.core.protocols import TwoClassCounts, are_two_class
from fastcmp.inputs.binary_labels import (
    are_labels,
    as_doubles,
    find_numbers,
    read_labels,
    read_truth,
)
from fastcmp.inputs.model_names import check_indexes
from fastcmp.inputs.scores import read_scores, read_weights
from fastcmp.scores.classification_result import INTERVALS, ClassificationTable

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from fastcmp.inputs.binary_labels import Truth
    from fastcmp.inputs.scores import Scores

    Flags = NDArray[np.bool_]

#: How a score is compared with a cutoff: below it where low scores indicate positives.
RULES = {">=": np.greater_equal, ">": np.greater, "<=": np.less_equal, "<": np.less}
_DEFAULT_CUTOFF = 0.5


def classification_table(
    y_true: ArrayLike,
    score_or_label: ArrayLike | None = None,
    *,
    scores: ArrayLike | None = None,
    cutoff: float = _DEFAULT_CUTOFF,
    positive: Any = None,
    sample_weight: ArrayLike | None = None,
    rule: str = ">=",
    prevalence: float | None = None,
    confidence_level: float = 0.95,
    interval: str = "wilson",
) -> ClassificationTable:
    """Count what a classifier calls positive, and measure how well it does.

    Parameters
    ----------
    y_true : array-like, shape (n,)
        True labels of two classes. Samples with a missing one are dropped.
    score_or_label : array-like, shape (n,), optional
        Predicted labels; or scores, where it is a column of floats, or where `cutoff`
        is not 0.5. Floats that are all labels of `y_true` are labels nevertheless: for
        0 and 1 the result is the same.
    scores : array-like, shape (n,), optional
        Scores of any type, in place of `score_or_label`. Higher scores indicate
        the positive class, unless `rule` is "<=" or "<".
    cutoff : float
        What scores are compared with; beyond all scores, all samples get the same call.
    positive : label, optional
        The positive class; of two numbers or booleans the larger one by default.
    sample_weight : array-like, shape (n,), optional
        Weights to add up instead of counting. The measures then have no intervals.
    rule : {">=", ">", "<=", "<"}
        What score is called positive, beside the cutoff: "<=" or "<" where low scores
        indicate the positive class.
    prevalence : float, optional
        Proportion of positives, in (0, 1), for which to give the predictive values, by
        Bayes' rule; by default that of the samples.
    confidence_level : float
        Level of intervals, in (0, 1).
    interval : {"wilson", "clopper-pearson"}
        Interval for a proportion.

    Returns
    -------
    ClassificationTable
        The four counts, the measures, and intervals for them.

    Raises
    ------
    ValueError
        If lengths differ, a score, a weight or the cutoff is NaN, a prediction is
        missing or not one of two labels, or an option is unknown.
    TypeError
        If labels of different types are compared, or not one of `score_or_label` and
        `scores` is given.

    Notes
    -----
    O(n).

    Examples
    --------
    >>> from fastcmp.scores.classification import classification_table
    >>> table = classification_table([0, 0, 1, 1], [0.1, 0.6, 0.5, 0.9])
    >>> table.table.tolist()
    [[1, 1], [0, 2]]
    >>> labels = classification_table(
    ...     ["ill", "well", "ill"], ["ill", "ill", "well"], positive="ill"
    ... )
    >>> labels.sensitivity, labels.specificity
    (0.5, 0.0)
    """
    limit = _check_cutoff(cutoff)
    rule = choose(rule, "rule", RULES)
    options = _check_options(prevalence, confidence_level, interval)
    check_indexes([("y_true", y_true), ("score_or_label", score_or_label), ("scores", scores)])
    numbers, asked = _as_numbers(score_or_label, scores, limit)
    read: Scores | Truth
    if numbers is None:
        read = read_truth(y_true, positive)
        calls, cut = read_labels(score_or_label, "score_or_label", read), False
    else:
        read = read_scores(y_true, numbers, positive, single=True)
        column, cut = read.columns[0], True
        if not asked:
            cut = not are_labels(column, read.labels)
        calls = _call(column, read.labels, limit if cut else None, rule)
    weights = read_weights(sample_weight, read)
    return ClassificationTable(
        **_count(calls, read.positive > 0, weights),
        weighted=weights is not None,
        cutoff=limit if cut else None,
        rule=rule if cut else None,
        labels=read.labels,
        n_missing=read.n_missing,
        **options,
    )


def _count(calls: Flags, positive: Flags, weights: NDArray[np.float64] | None) -> dict[str, Any]:
    """Count the four cells, or add up their weights."""
    cells = 2 * positive + calls
    if weights is None:
        tn, fp, fn, tp = np.bincount(cells, minlength=4).tolist()
    else:
        tn, fp, fn, tp = np.bincount(cells, weights, minlength=4).tolist()
    return {"tp": tp, "fp": fp, "fn": fn, "tn": tn}


def classification_table_from_counts(
    counts: TwoClassCounts | None = None,
    *,
    tp: int | None = None,
    fp: int | None = None,
    fn: int | None = None,
    tn: int | None = None,
    positive: Any = None,
    prevalence: float | None = None,
    confidence_level: float = 0.95,
    interval: str = "wilson",
) -> ClassificationTable:
    """Measure how well a classifier does, from the four counts.

    Parameters
    ----------
    counts : fastcmp.stream.ConfusionCounts, optional
        Of one model and two classes.
    tp, fp, fn, tn : int
        Or true and false positives, false and true negatives: one number each.
    positive : label, optional
        The positive class of `counts`; of two numbers or booleans the larger one by
        default.
    prevalence : float, optional
        As in `classification_table`.
    confidence_level : float
        Level of intervals, in (0, 1).
    interval : {"wilson", "clopper-pearson"}
        Interval for a proportion.

    Returns
    -------
    ClassificationTable
        The measures, and intervals for them.

    Raises
    ------
    ValueError
        If a count is negative, fractional or above 2**53 with the others, `counts` are
        of more models or classes, or an option is unknown.
    TypeError
        If a count is no number, or some are given twice, or not at all.

    Examples
    --------
    >>> from fastcmp.scores.classification import classification_table_from_counts
    >>> table = classification_table_from_counts(tp=13, fp=2, fn=27, tn=158)
    >>> table.accuracy, table.sensitivity, table.specificity
    (0.855, 0.325, 0.9875)
    """
    given: dict[str, Any] = {"tp": tp, "fp": fp, "fn": fn, "tn": tn}
    numbers = [raw for raw in given.values() if raw is not None]
    if len(numbers) != (4 if counts is None else 0) or (positive is not None and counts is None):
        raise TypeError(
            "pass all of tp, fp, fn and tn, or a fastcmp.stream.ConfusionCounts with positive="
        )
    options = _check_options(prevalence, confidence_level, interval)
    if counts is not None:
        return _from_confusion(counts, positive, options)
    cells: dict[str, Any] = {}
    for name, raw in given.items():
        array = as_counts(raw, name)
        if array.ndim:
            raise TypeError(f"{name} must be one number, got shape {array.shape}")
        cells[name] = int(array)
    if (total := sum(cells.values())) > LARGEST_COUNT:
        raise ValueError(f"tp + fp + fn + tn must be at most 2**53, got {total}")
    return ClassificationTable(**cells, **options)


def _from_confusion(counts: Any, positive: Any, options: dict[str, Any]) -> ClassificationTable:
    if not are_two_class(counts):
        raise TypeError(
            f"counts must be a fastcmp.stream.ConfusionCounts, got {counts!r}: pass "
            "numbers by name, tp=, fp=, fn= and tn="
        )
    cells, labels = counts.two_class_counts(positive)
    options = {**options, **cells, "labels": labels}
    return ClassificationTable(n_missing=counts.n_missing, **options)


def _check_options(
    prevalence: float | None, confidence_level: float, interval: str
) -> dict[str, Any]:
    interval = choose(interval, "interval", INTERVALS)
    return {
        "prevalence": None if prevalence is None else as_proportion(prevalence, "prevalence"),
        "confidence_level": as_proportion(confidence_level, "confidence_level"),
        "interval": interval,
    }


def _check_cutoff(cutoff: Any) -> float:
    if isinstance(cutoff, (bool, str, bytes)) or np.ndim(cutoff):
        raise TypeError(f"cutoff must be a number, got {cutoff!r}")
    try:
        value = float(cutoff)
    except (TypeError, ValueError):
        raise TypeError(f"cutoff must be a number, got {cutoff!r}") from None
    if math.isnan(value):
        raise ValueError("cutoff must be a number, got nan")
    return value


def _as_numbers(score_or_label: Any, scores: Any, cutoff: float) -> tuple[Any, bool]:
    """Give the scores, None for labels; and whether they must be scores."""
    if (score_or_label is None) == (scores is None):
        got = "neither" if scores is None else "both"
        raise TypeError(f"pass one of score_or_label and scores=, got {got}")
    if scores is not None:
        numbers, _ = find_numbers(scores, "scores")
        return scores if numbers is None else as_doubles(numbers), True
    numbers, whole = find_numbers(score_or_label, "score_or_label")
    asked = cutoff != _DEFAULT_CUTOFF
    if numbers is None or (whole and not asked):
        return None, False
    return as_doubles(numbers), asked


def _call(column: NDArray[Any], labels: tuple[Any, Any], cutoff: float | None, rule: str) -> Flags:
    """Tell which numbers call positive: labels without a cutoff, scores with one."""
    if cutoff is None:
        yes, no = labels
        return np.asarray(column != no if yes is None else column == yes)
    # In double precision: a float32 next to the cutoff is not rounded onto it.
    return np.asarray(RULES[rule](column, cutoff, signature="dd->?"))
