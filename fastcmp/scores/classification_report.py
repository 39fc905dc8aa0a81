"""scikit-learn's classification report with intervals, of one model or of several.

A class against the others is a table of two classes. The accuracy is such a table too:
its class is "right", to which all samples belong.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fastcmp import kernels
from fastcmp.core.checks import as_proportion, as_whole, choose
from fastcmp.core.numbers import normal_tail
from fastcmp.core.threads import Progress, ThreadPool, check_workers, reporting
from fastcmp.kernels.class_exchanges import exchange_classes
from fastcmp.metrics.choice import make_metric
from fastcmp.metrics.compared import Pair, pooled_test
from fastcmp.metrics.estimators import KernelEstimator
from fastcmp.metrics.intervals import (
    conventions,
    differing_labels,
    estimate,
    estimate_table,
    few_samples,
)
from fastcmp.metrics.permutation import Exchanges, permutation_tests
from fastcmp.metrics.registry import Proportions, class_trials, rate_limits
from fastcmp.pairwise.adjust import ADJUSTMENTS, adjust_checked, promise
from fastcmp.scores.classification_report_result import (
    Chosen,
    ClassificationReport,
    make_plan,
    read_chosen,
)
from fastcmp.scores.report_counts import ReportCounts, count_models, read_report_counts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from fastcmp.metrics.cells import Cells
    from fastcmp.metrics.choice import Metric
    from fastcmp.metrics.estimators import Estimator
    from fastcmp.scores.classification_report_result import Plan

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]


class Values(NamedTuple):
    """Values with intervals, (U,)."""

    value: Floats
    low: Floats
    high: Floats


class Tests(NamedTuple):
    """Two-sided p-values, and which of them are exact."""

    pvalue: Floats
    exact: NDArray[np.bool_]


def class_tables(cells: Cells, shown: Ints) -> Ints:
    """Make the tables of classes against all others, and that of the accuracy.

    (U, 2, 2), by whether samples are of the class, and are predicted as it.
    """
    t, a = cells.codes.T
    d, r, c = (_sums(x, cells, at) for x, at in ((t, t == a), (t, None), (a, None)))
    n = r.sum()
    tables = np.stack([n - r - c + d, c - d, r - d, d], axis=1)[shown]
    overall = [0, 0, n - d.sum(), d.sum()]
    return np.concatenate([tables, [overall]]).reshape(-1, 2, 2)


def class_pairs(cells: Cells, shown: Ints) -> Ints:
    """Make the same of two models, (U, 2, 2, 2)."""
    t, a, b = cells.codes.T
    right_a, right_b = t == a, t == b
    r = _sums(t, cells, None)
    both = _sums(t, cells, right_a & right_b)
    only_a = _sums(t, cells, right_a & ~right_b)
    only_b = _sums(t, cells, right_b & ~right_a)
    false = _sums(a, cells, (a == b) & ~right_a)
    false_a = _sums(a, cells, (a != b) & ~right_a)
    false_b = _sums(b, cells, (a != b) & ~right_b)
    n, of_class = r.sum(), (both, only_a, only_b)
    outside = n - r - false - false_a - false_b
    made = (outside, false_b, false_a, false, r - sum(of_class), only_b, only_a, both)
    right = [x.sum() for x in of_class]
    overall = [0, 0, 0, 0, n - sum(right), right[2], right[1], right[0]]
    tables = np.concatenate([np.stack(made, axis=1)[shown], [overall]])
    return np.ascontiguousarray(tables.reshape(-1, 2, 2, 2))


def _sums(codes: Ints, cells: Cells, where: NDArray[np.bool_] | None) -> Ints:
    """Count the samples of each code, exactly."""
    counts = cells.counts
    if where is not None:
        codes, counts = codes[where], counts[where]
    sums = np.bincount(codes, counts.astype(np.float64), cells.n_classes)
    return np.asarray(sums.astype(np.int64))


def of_two_classes(metric: Metric) -> KernelEstimator:
    """Bind a metric to the tables of one class against the others."""
    (made,) = replace(
        metric, average="binary", positive=True, labels="union", prevalence=None
    ).bind((False, True))
    assert isinstance(made, KernelEstimator)
    return made


def accuracy_of_two() -> KernelEstimator:
    """Give the accuracy as recall of the class "right"."""
    return of_two_classes(make_metric("recall"))


def class_values(estimator: KernelEstimator, tables: Ints, level: float) -> Values:
    """Estimate a rate from tables of classes, with the intervals of `metric`."""
    floats = tables.astype(np.float64)
    value, spec = estimator.values(floats), estimator.spec
    low, high = np.full((2, len(value)), np.nan)
    d, n = floats[:, 1, 1], floats.sum(axis=(1, 2))
    trials = class_trials(spec, d, floats[:, 1].sum(1), floats[:, :, 1].sum(1), n)
    if trials is None or spec.metric == kernels.INFORMEDNESS:
        for u, table in enumerate(floats):
            low[u], high[u] = estimate_table(estimator, table, level)[2:4]
        return Values(value, low, high)
    known = trials[1] > 0
    of = Proportions(trials[0][known], trials[1][known], as_f1=spec.metric == kernels.F_BETA)
    _, low[known], high[known] = rate_limits(of, level)
    return Values(value, low, high)


def class_tests(estimators: Sequence[KernelEstimator], pairs: Ints) -> Tests:
    """Compare two models by rates of classes, (U, Q): exact, or by the pooled z."""
    specs = [estimator.spec for estimator in estimators]
    rates = np.array([spec.metric for spec in specs], np.int64)
    options = np.array([(spec.beta, spec.zero_division) for spec in specs], np.float64)
    pvalue = np.empty((len(pairs), len(specs)))
    exchange_classes(rates, options, pairs, pvalue)
    exact = ~np.isnan(pvalue)
    for estimator, own, known in zip(estimators, pvalue.T, exact.T, strict=True):
        own[~known] = _pooled(estimator, pairs[~known].astype(np.float64))
    return Tests(pvalue, exact)


def _pooled(estimator: KernelEstimator, pairs: Floats) -> Floats:
    """Test by the influences at the counts of both models together."""
    a, b = pairs.sum(axis=3), pairs.sum(axis=2)
    psi = estimator.influences(a + b)
    u = psi[:, :, :, np.newaxis] - psi[:, :, np.newaxis]
    total, square = ((pairs * x).sum(axis=(1, 2, 3)) for x in (u, u * u))
    with np.errstate(invalid="ignore", divide="ignore"):
        z = total / np.sqrt(square)
    z[np.isnan(estimator.values(a) - estimator.values(b))] = np.nan
    return np.asarray(normal_tail(z, "two-sided"))


# Averages over classes, and metrics of all classes at once: values and tests.


#: Configurations up to which the permutation test is exact.
MOST_CONFIGURATIONS = 50_000
_MOST_CELLS = 2 * int(math.log2(MOST_CONFIGURATIONS))
_MOST_NUMBERS = 50_000_000  # in the tables of all configurations


def average_values(estimators: Sequence[Estimator], cells: Cells, level: float) -> Values:
    """Estimate metrics of one model, with the intervals of `metric`."""
    made, table = np.full((3, len(estimators)), math.nan), cells.table()
    for u, estimator in enumerate(estimators):
        estimator.check(table)
        found = estimate(estimator, cells, level)
        made[:, u] = found.value, found.low, found.high
    return Values(*made)


def average_tests(estimators: Sequence[Estimator], cells: Cells) -> Tests:
    """Compare two models: exact where this is quick, or by the pooled z test."""
    few = bool(estimators) and _is_quick(cells)
    if few:
        found = permutation_tests(estimators, cells, exact=True)
        pvalues = [outcome.pvalue for outcome in found]
    else:
        tables = cells.table(0), cells.table(1)
        both = np.stack(tables)
        pvalues = [
            pooled_test(
                Pair(estimator, cells, tables, *estimator.values(both).tolist()), "two-sided"
            ).pvalue
            for estimator in estimators
        ]
    return Tests(np.array(pvalues, np.float64), np.full(len(pvalues), few))


def _is_quick(cells: Cells) -> bool:
    """Tell whether all configurations can be looked at."""
    _, a, b = cells.codes.T
    if np.count_nonzero(a != b) > _MOST_CELLS:  # at least a factor of 2 for each two
        return False
    totals = Exchanges(cells).totals
    most = min(MOST_CONFIGURATIONS, _MOST_NUMBERS / cells.n_classes**2)
    return bool(np.log1p(totals).sum() <= math.log(max(most, 1.0)))


# All numbers of a classification report, of all models: estimates and differences.


_MOST_CAUTIONS = 6  # about values of 0/0


class Numbers(NamedTuple):
    """All numbers, shape (M, E) each; of tests NaN for the control."""

    value: Floats
    low: Floats
    high: Floats
    pvalue: Floats
    exact: NDArray[np.bool_]


class Bound(NamedTuple):
    """The metrics of a plan, bound to classes."""

    plan: Plan
    columns: list[KernelEstimator]
    averages: list[Estimator]
    overall: list[Estimator]


def bind_plan(plan: Plan) -> Bound:
    """Bind all metrics."""
    return Bound(
        plan,
        [of_two_classes(metric) for metric in plan.columns],
        [number.metric.bind(plan.classes)[0] for number in plan.averages],
        [number.metric.bind(plan.order)[0] for number in plan.overall],
    )


def measure_all(bound: Bound, counts: ReportCounts, level: float, pool: ThreadPool) -> Numbers:
    """Estimate all numbers, and test them against the control."""
    plan = bound.plan
    first, ordered = counts.arranged(plan.classes), counts.arranged(plan.order)
    models = range(len(counts.names))
    values = dict(
        pool.answers(lambda i: _values(bound, first.cells[i], ordered.cells[i], level), models)
    )
    made = [np.stack(parts) for parts in zip(*(values[i] for i in models), strict=True)]
    pvalue, exact = np.full(made[0].shape, np.nan), np.zeros(made[0].shape, bool)
    if counts.control is not None:
        others = [i for i in models if i != counts.control]
        for i, found in pool.answers(
            lambda i: _tests(bound, first.pairs[i], ordered.pairs[i]), others
        ):
            pvalue[i], exact[i] = found
    value, low, high = made
    return Numbers(value, low, high, pvalue, exact)


def _values(bound: Bound, cells: Cells, ordered: Cells, level: float) -> Values:
    """Estimate all numbers of one model."""
    tables = class_tables(cells, bound.plan.shown)
    rates = [class_values(each, tables[:-1], level) for each in bound.columns]
    parts = [Values(*(np.stack(x, axis=1).ravel() for x in zip(*rates, strict=True)))]
    if bound.plan.whole:
        parts.append(class_values(accuracy_of_two(), tables[-1:], level))
    parts.append(average_values(bound.averages, cells, level))
    parts.append(average_values(bound.overall, ordered, level))
    return Values(*map(np.concatenate, zip(*parts, strict=True)))


def _tests(bound: Bound, pair: Cells | None, ordered: Cells | None) -> Tests:
    """Test all numbers of one model against the control."""
    assert pair is not None and ordered is not None  # noqa: PT018
    _, a, b = pair.codes.T
    if np.array_equal(a, b):
        n = sum(1 for _ in bound.plan.numbers())
        return Tests(np.ones(n), np.ones(n, bool))
    tables = class_pairs(pair, bound.plan.shown)
    parts = [class_tests(bound.columns, tables[:-1])]
    if bound.plan.whole:
        parts.append(class_tests([accuracy_of_two()], tables[-1:]))
    parts.append(average_tests(bound.averages, pair))
    parts.append(average_tests(bound.overall, ordered))
    flat = [[x.ravel() for x in part] for part in parts]
    return Tests(*map(np.concatenate, zip(*flat, strict=True)))


def report_cautions(bound: Bound, counts: ReportCounts) -> tuple[str, ...]:
    """Say what to beware of: 0/0, few samples, averages over different classes."""
    plan, names = bound.plan, counts.names
    arranged = counts.arranged(plan.classes)
    macro = [
        estimator
        for estimator, number in zip(bound.averages, plan.averages, strict=True)
        if number.row.startswith("macro")
    ]
    first = arranged.cells[0].table()
    undefined: list[str] = []
    differing: list[str] = []
    for name, cells in zip(names, arranged.cells, strict=True):
        table = cells.table()
        for estimator in macro:
            undefined += conventions(estimator, [table], [name], plan.classes)
            pair = names[0], name
            differing += differing_labels(estimator, [first, table], pair, plan.classes)
    more = len(undefined) - _MOST_CAUTIONS
    if more > 0:
        undefined[_MOST_CAUTIONS:] = [f"There are {more} more rates of this kind."]
    return (*few_samples(first, plan.classes), *undefined, *differing[:1])


# scikit-learn's classification report, with intervals, of one model or of several.


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
