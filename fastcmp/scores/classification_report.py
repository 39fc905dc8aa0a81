"""scikit-learn's classification report, with intervals, of one model or of several."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fastcmp.core.checks import as_proportion, as_whole
from fastcmp.core.options import choose
from fastcmp.core.progress import Progress, reporting
from fastcmp.core.threads import ThreadPool, check_workers
from fastcmp.pairwise.adjust import ADJUSTMENTS, adjust_checked, promise
from fastcmp.scores.classification_report_result import ClassificationReport
from fastcmp.scores.report_counts import ReportCounts, count_models, read_report_counts
from fastcmp.scores.report_numbers import bind_plan, measure_all, report_cautions
from fastcmp.scores.report_rows import Chosen, make_plan, read_chosen

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

_MOST_DIGITS = 15


def classification_report(
    y_true: ArrayLike,
    preds: Any,
    *,
    control: int | str | None = None,
    metrics: Any = None,
    overall: Any = (),
    labels: Any = "union",
    positive: Any = None,
    target_names: Sequence[str] | None = None,
    zero_division: float = 0.0,
    digits: int = 2,
    confidence_level: float = 0.95,
    adjust: str = "holm",
    alpha: float = 0.05,
    names: Sequence[str] | None = None,
    workers: int | None = None,
    progress: bool | Progress | None = None,
) -> ClassificationReport:
    """Report precision, recall and F1 of each class, with intervals and differences.

    The table of scikit-learn's function of this name, of one model or of several on the
    same samples: an interval beside every number, and with a control marks where a
    model is significantly better or worse.

    Parameters
    ----------
    y_true : array-like, shape (n,)
        True labels. Samples with a missing one are dropped and counted.
    preds : array-like of shape (n,) or (M, n), mapping or frame
        Labels that a model predicted, or each of several; none may be missing.
    control : str or int, optional
        The model, by name or place, with which all others are compared.
    metrics : list of str or Metric, optional
        The columns: rates of each class, such as "specificity", "jaccard" or "f2"; by
        default precision, recall and F1.
    overall : list of str, callable or Metric
        Rows for metrics of all classes, such as "mcc", "kappa" or "balanced_accuracy".
    labels : {"union", "truth"} or sequence
        Classes to report: all that are true or predicted, those of the truth, or these
        in their order. Averages are over them; by "union" those of each model over the
        true classes and its own predictions, as in scikit-learn.
    positive : label, optional
        The only class that gets a row; averages stay over all.
    target_names : sequence of str, optional
        What to call the classes, in the order of their rows.
    zero_division : {0, 1, nan}
        A rate without samples, such as the precision where nothing is predicted; NaN
        leaves it out of averages.
    digits : int
        Decimal places to print.
    confidence_level : float
        Of the intervals, in (0, 1).
    adjust : str
        How p-values are adjusted for the number of all differences of the report, over
        classes, metrics and models; as in `adjust`.
    alpha : float
        Error rate of the marks.
    names : sequence of str, optional
        Names of the models, where `preds` brings none.
    workers : int, optional
        Threads; by default as many as there are processors.
    progress : bool or callable, optional
        True draws a bar; a function is called with the models done and all models.

    Returns
    -------
    ClassificationReport
        ``to_frame()`` has a row for each number of each model.

    Raises
    ------
    ValueError
        If lengths differ, a prediction is missing, there is no such control, class or
        metric, or an option is unknown.
    TypeError
        If labels cannot be compared.

    See Also
    --------
    metric : One metric, with more kinds of intervals.
    compare_metric : Two models by a metric, with an interval of the difference.

    Notes
    -----
    O(n) for each model to count; what follows does not depend on n. Intervals are the
    default ones of `metric`: Wilson's for rates and for F1, the score interval for means of
    recalls, and "combined" for other averages. Tests of rates of a class and of the
    accuracy are exact permutation tests at any number of samples: the predictions of
    both models are exchanged. Averages are tested so up to 50,000 configurations, and
    beyond by its normal limit, the pooled z test of `compare_metric`.

    References
    ----------
    .. [1] Y. Yang, X. Liu, "A re-examination of text categorization methods", SIGIR
       1999, 42-49.
    .. [2] K. Takahashi, K. Yamamoto, A. Kuchiba, T. Koyama, "Confidence interval for
       micro-averaged F1 and macro-averaged F1 scores", Applied Intelligence 52 (2022)
       4961-4972.

    Examples
    --------
    >>> from fastcmp import classification_report
    >>> y_true = [0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1]
    >>> report = classification_report(y_true, [0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 0])
    >>> print(report)
    Classification report of model
    12 samples of 2 classes. In brackets: 95% CI.
      class                 precision             recall                 F1  support
      0             0.86 [0.49, 0.97]  0.86 [0.49, 0.97]  0.86 [0.58, 0.96]        7
      1             0.80 [0.38, 0.96]  0.80 [0.38, 0.96]  0.80 [0.46, 0.95]        5
      accuracy                                            0.83 [0.55, 0.95]       12
      macro avg     0.83 [0.45, 0.97]  0.83 [0.55, 0.95]  0.83 [0.49, 0.96]       12
      weighted avg  0.83 [0.44, 0.97]  0.83 [0.51, 0.96]  0.83 [0.51, 0.96]       12
    <BLANKLINE>
    Cautions
    2 classes have fewer than 10 samples: 0 (7), 1 (5). Intervals may be too short.
    """
    chosen = read_chosen(metrics, overall, labels, positive, zero_division)
    options = _read_options(target_names, digits, confidence_level, adjust, alpha)
    threads = check_workers(workers)
    with (
        reporting(progress, "counting", unit="models") as report,
        ThreadPool(threads, report) as pool,
    ):
        counts = count_models(y_true, preds, names, control, pool)
    return _report(counts, chosen, options, threads)


def classification_report_from_counts(
    counts: Any,
    *,
    control: int | str | None = None,
    metrics: Any = None,
    overall: Any = (),
    labels: Any = "union",
    positive: Any = None,
    target_names: Sequence[str] | None = None,
    zero_division: float = 0.0,
    digits: int = 2,
    confidence_level: float = 0.95,
    adjust: str = "holm",
    alpha: float = 0.05,
    classes: Sequence[Any] | None = None,
    names: Sequence[str] | None = None,
    workers: int | None = None,
) -> ClassificationReport:
    """Report precision, recall and F1 of each class, from counts.

    Parameters
    ----------
    counts : ConfusionCounts, LabelCounts, LabelTable or array-like of int
        Counts of `fastcmp.stream`, of two models, or confusion matrices by true (rows)
        and predicted class, (K, K) or (M, K, K). Differences from a control need
        `LabelCounts` or a `LabelTable`.
    control : str or int, optional
        The model with which all others are compared.
    metrics, overall : list of str or Metric
        As in `classification_report`.
    labels, positive, target_names : optional
        As in `classification_report`.
    zero_division, digits, confidence_level : float
        As in `classification_report`.
    adjust : str
        How p-values are adjusted.
    alpha : float
        Error rate of the marks.
    classes : sequence, optional
        The label of each class of an array; by default 0 to K - 1, without those that
        never occur.
    names : sequence of str, optional
        Names of the models.
    workers : int, optional
        Threads.

    Returns
    -------
    ClassificationReport
        As from `classification_report`.

    Raises
    ------
    ValueError
        If shapes do not fit, a count is negative or fractional, matrices are of
        different samples, or an option is unknown or does not fit.
    TypeError
        If counts are no numbers.

    Examples
    --------
    >>> from fastcmp import classification_report_from_counts
    >>> report = classification_report_from_counts([[40, 2], [1, 6]], positive=1)
    >>> frame = report.to_frame()
    >>> frame[["class", "metric", "value"]].round(3).values[:3].tolist()
    [['1', 'precision', 0.75], ['1', 'recall', 0.857], ['1', 'f1', 0.8]]
    """
    chosen = read_chosen(metrics, overall, labels, positive, zero_division)
    options = _read_options(target_names, digits, confidence_level, adjust, alpha)
    threads = check_workers(workers)
    found = read_report_counts(counts, classes, names, control)
    return _report(found, chosen, options, threads)


class _Options(NamedTuple):
    """How a report is made and written."""

    target_names: Any
    digits: int
    level: float
    adjust: str
    alpha: float


def _read_options(
    target_names: Any, digits: Any, confidence_level: Any, adjust: Any, alpha: Any
) -> _Options:
    """Check how a report is to be made and written."""
    if (places := as_whole(digits, "digits", 0)) > _MOST_DIGITS:
        raise ValueError(f"digits must be at most {_MOST_DIGITS}, got {places}")
    return _Options(
        target_names,
        places,
        as_proportion(confidence_level, "confidence_level"),
        choose(adjust, "adjust", ADJUSTMENTS),
        as_proportion(alpha, "alpha"),
    )


def _report(
    counts: ReportCounts, chosen: Chosen, options: _Options, threads: int
) -> ClassificationReport:
    """Work out all numbers, and make the record."""
    plan = make_plan(chosen, counts, options.target_names)
    bound = bind_plan(plan)
    with ThreadPool(threads) as pool:
        found = measure_all(bound, counts, options.level, pool)
    numbers = list(plan.numbers())
    difference = pvalue = adjusted = exact = control = None
    if counts.control is not None:
        control, exact = counts.names[counts.control], found.exact
        difference, pvalue = found.value - found.value[counts.control], found.pvalue
        difference[pvalue == 1.0] = np.nan_to_num(difference[pvalue == 1.0])
        difference[counts.control] = np.nan
        adjusted = adjust_checked(pvalue.ravel(), options.adjust).reshape(pvalue.shape)
    return ClassificationReport(
        names=counts.names,
        control=control,
        rows=tuple(number.row for number in numbers),
        kinds=tuple(number.kind for number in numbers),
        metrics=tuple(number.name for number in numbers),
        titles=tuple(number.title for number in numbers),
        lower_is_better=np.array([x.metric.lower_is_better for x in numbers]),
        support=np.array([number.support for number in numbers], np.int64),
        value=found.value,
        low=found.low,
        high=found.high,
        difference=difference,
        pvalue=pvalue,
        pvalue_adjusted=adjusted,
        exact=exact,
        adjust=options.adjust,
        alpha=options.alpha,
        rule=promise(options.adjust, options.alpha),
        confidence_level=options.level,
        digits=options.digits,
        n_samples=counts.n_samples,
        n_classes=len(plan.classes),
        n_missing=counts.n_missing,
        n_excluded=counts.n_excluded,
        cautions=report_cautions(bound, counts),
    )
