"""scikit-learn's classification report with intervals, of one model or of several.

A class against the others is a table of two classes. The accuracy is such a table too:
its class is "right", to which all samples belong.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from fastcmp import kernels
from fastcmp.core.checks import are_counts_given, as_proportion, as_whole, check_size, choose
from fastcmp.core.errors import ArgumentError, BadTypeError, BadValueError
from fastcmp.core.records import ConfusionMatrices, LabelledCounts
from fastcmp.core.threads import Progress, ThreadPool, check_workers, reporting
from fastcmp.core.typing import Classes, ColumnLike, Flags, Floats, Ints, Label, ModelsLike
from fastcmp.counts.label_counts import LabelTable
from fastcmp.kernels.class_exchanges import exchange_classes
from fastcmp.metrics.cells import Cells
from fastcmp.metrics.choice import Metric, MetricLike, make_metric, read_labels, read_zero_division
from fastcmp.metrics.estimators import Estimator, KernelEstimator, Proportions
from fastcmp.metrics.intervals import (
    conventions,
    differing_labels,
    estimate_tables,
    few_samples,
    rate_limits,
)
from fastcmp.metrics.pair_tests import Exchanges, pair_of, permutation_tests, pooled_test, pooled_z
from fastcmp.metrics.registry import PROPORTIONS
from fastcmp.pairwise.adjust import ADJUSTMENTS, adjust_checked, promise
from fastcmp.scores.classification_report_result import ClassificationReport
from fastcmp.scores.report_counts import ReportCounts, count_models, read_report_counts

#: Configurations up to which the permutation test is exact.
MOST_CONFIGURATIONS = 50_000
_MOST_CELLS = 2 * int(math.log2(MOST_CONFIGURATIONS))
_MOST_NUMBERS = 50_000_000  # in the tables of all configurations
_MOST_CAUTIONS = 6  # about values of 0/0
_MOST_DIGITS = 15


def _class_tables(cells: Cells, rows: Ints) -> Ints:
    """Tables of classes against all others, and that of the accuracy, (U, 2, 2, 2).

    By whether samples are of the class, and are predicted as it by a, and by b: two
    models, or one model twice.
    """
    t, a, b = (cells.codes.T[i] for i in (0, 1, -1))
    right_a, right_b = t == a, t == b

    def sums(codes: Ints, where: Flags | None = None) -> Ints:
        """Count the samples of each code, exactly."""
        counts = cells.counts
        if where is not None:
            codes, counts = codes[where], counts[where]
        return np.bincount(codes, counts.astype(np.float64), cells.n_classes).astype(np.int64)

    r = sums(t)
    right = sums(t, right_a & right_b), sums(t, right_a & ~right_b), sums(t, right_b & ~right_a)
    both, only_a, only_b = right
    false = sums(a, (a == b) & ~right_a)
    false_a = sums(a, (a != b) & ~right_a)
    false_b = sums(b, (a != b) & ~right_b)
    n = r.sum()
    outside = n - r - false - false_a - false_b
    cells_of_classes = (outside, false_b, false_a, false, r - sum(right), only_b, only_a, both)
    total = [int(x.sum()) for x in right]
    overall = [0, 0, 0, 0, n - sum(total), total[2], total[1], total[0]]
    tables = np.concatenate([np.stack(cells_of_classes, axis=1)[rows], [overall]])
    return np.ascontiguousarray(tables.reshape(-1, 2, 2, 2))


def _of_two_classes(metric: Metric) -> KernelEstimator:
    """A metric, bound to the tables of one class against the others."""
    (estimator,) = replace(
        metric, average="binary", positive=True, labels="union", prevalence=None
    ).bind((False, True))
    assert isinstance(estimator, KernelEstimator)
    return estimator


def _class_values(estimator: KernelEstimator, tables: Ints, level: float) -> Floats:
    """Values of a rate and the ends of their intervals, those of `metric`, (3, U)."""
    floats = tables.astype(np.float64)
    value, spec = estimator.values(floats), estimator.spec
    low, high = np.full((2, len(value)), np.nan)
    d, n = floats[:, 1, 1], floats.sum(axis=(1, 2))
    r, c = floats[:, 1].sum(1), floats[:, :, 1].sum(1)
    if spec.metric not in PROPORTIONS or (spec.metric == kernels.F_BETA and spec.beta != 1.0):
        estimates = estimate_tables(estimator, floats, level)
        low[:], high[:] = [one.low for one in estimates], [one.high for one in estimates]
    else:
        trials = PROPORTIONS[spec.metric](d, r, c, n)
        has_trials = trials[1] > 0
        of = Proportions(
            trials[0][has_trials], trials[1][has_trials], as_f1=spec.metric == kernels.F_BETA
        )
        _, low[has_trials], high[has_trials] = rate_limits(of, level)
    return np.stack([value, low, high])


def _class_tests(estimators: Sequence[KernelEstimator], pairs: Ints) -> tuple[Floats, Flags]:
    """P-values of two models' rates of classes, and which are exact; others by pooled z."""
    specs = [estimator.spec for estimator in estimators]
    rates = np.array([spec.metric for spec in specs], np.int64)
    options = np.array([(spec.beta, spec.zero_division) for spec in specs], np.float64)
    pvalue = np.empty((len(pairs), len(specs)))
    exchange_classes(rates, options, pairs, pvalue)
    exact = ~np.isnan(pvalue)
    for estimator, pvalues, is_exact in zip(estimators, pvalue.T, exact.T, strict=True):
        # By the influences at the counts of both models together.
        tables = pairs[~is_exact].astype(np.float64)
        a, b = tables.sum(axis=3), tables.sum(axis=2)
        psi = estimator.influences(a + b)
        u = psi[:, :, :, np.newaxis] - psi[:, :, np.newaxis]
        total, square = ((tables * x).sum(axis=(1, 2, 3)) for x in (u, u * u))
        difference = estimator.values(a) - estimator.values(b)
        pvalues[~is_exact] = pooled_z(1.0, total, square, difference)[1]
    return pvalue.ravel(), exact.ravel()


def _average_tests(estimators: Sequence[Estimator], cells: Cells) -> tuple[Floats, Flags]:
    """P-values of two models' metrics: exact where this is quick, or by the pooled z test."""
    _, a, b = cells.codes.T
    pvalues, quick = list[float](), False
    if estimators and np.count_nonzero(a != b) <= _MOST_CELLS:  # at least a factor of 2 for two
        most = min(MOST_CONFIGURATIONS, _MOST_NUMBERS / cells.n_classes**2)
        exchanges = Exchanges(cells)
        quick = bool(np.log1p(exchanges.totals).sum() <= math.log(max(most, 1.0)))
        if quick:
            pvalues = [test.pvalue for test in permutation_tests(estimators, exchanges, exact=True)]
    if not quick:
        pvalues = [pooled_test(pair_of(x, cells), "two-sided").pvalue for x in estimators]
    return np.array(pvalues, np.float64), np.full(len(pvalues), quick)


def classification_report(
    y_true: ColumnLike | None = None,
    preds: ModelsLike | None = None,
    *,
    counts: ArrayLike | LabelTable | LabelledCounts | ConfusionMatrices | None = None,
    classes: Classes | None = None,
    control: int | str | None = None,
    metrics: Sequence[MetricLike] | None = None,
    overall: Sequence[MetricLike] = (),
    labels: ColumnLike = "union",
    positive: Label = None,
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
    counts : ConfusionCounts, LabelCounts, LabelTable or array-like of int, optional
        In the place of labels: counts of `fastcmp.stream`, of two models, or confusion
        matrices by true (rows) and predicted class, (K, K) or (M, K, K). Differences from
        a control need `LabelCounts` or a `LabelTable`.
    classes : sequence, optional
        The label of each class of an array `counts`; by default 0 to K - 1, without those
        that never occur.
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
        If lengths differ, a prediction is missing, a count is negative or fractional,
        matrices are of different samples, there is no such control, class or metric, or an
        option is unknown.
    TypeError
        If labels cannot be compared, counts are not numbers, or there are not either labels
        or counts.

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
    >>> frame = classification_report(counts=[[40, 2], [1, 6]], positive=1).to_frame()
    >>> frame[["class", "metric", "value"]].round(3).values[:3].tolist()
    [['1', 'precision', 0.75], ['1', 'recall', 0.857], ['1', 'f1', 0.8]]
    """
    measures = read_chosen(metrics, overall, labels, positive, zero_division)
    options = read_report_options(digits, confidence_level, adjust, alpha)
    threads = check_workers(workers)
    data, of_counts = {"y_true": y_true, "preds": preds}, {"classes": classes}
    if are_counts_given(data, {"counts": counts}, of_counts=of_counts):
        read = read_report_counts(counts, classes, names, control)
        return _report(read, measures, target_names, options, threads)
    with (
        reporting(progress, "counting", unit="models") as report,
        ThreadPool(threads, report) as pool,
    ):
        read = count_models(y_true, preds, names, control, pool)
    return _report(read, measures, target_names, options, threads)


def read_report_options(
    digits: object, confidence_level: object, adjust: object, alpha: object
) -> dict[str, Any]:
    """Check the options that the record repeats."""
    if (places := as_whole(digits, "digits", 0)) > _MOST_DIGITS:
        raise BadValueError(f"`digits` must be at most {_MOST_DIGITS}", places)
    return {
        "digits": places,
        "confidence_level": as_proportion(confidence_level, "confidence_level"),
        "adjust": choose(adjust, "adjust", ADJUSTMENTS),
        "alpha": as_proportion(alpha, "alpha"),
    }


def _report(
    counts: ReportCounts,
    measures: Chosen,
    target_names: object,
    options: dict[str, Any],
    threads: int,
) -> ClassificationReport:
    """The record, with all its numbers."""
    plan = make_plan(measures, counts, target_names)
    numbers = (*plan.rates, *plan.accuracy, *plan.averages, *plan.overall)
    columns = [_of_two_classes(metric) for metric in measures.columns]
    # Of the class "right": the accuracy.
    right = [_of_two_classes(make_metric("recall")) for _ in plan.accuracy]
    first, ordered = counts.arranged(plan.classes), counts.arranged(plan.order)
    averages = [number.metric.bind(plan.classes)[0] for number in plan.averages]
    overall = [number.metric.bind(plan.order)[0] for number in plan.overall]
    level, models, by = options["confidence_level"], range(len(counts.names)), counts.control

    def measure(i: int) -> Floats:
        """All numbers of one model with the ends of their intervals, (3, E)."""
        tables = _class_tables(first.cells[i], plan.places).sum(axis=3)
        rates = [_class_values(column, tables[:-1], level) for column in columns]
        parts = [np.stack(rates, axis=2).reshape(3, -1)]
        parts += [_class_values(column, tables[-1:], level) for column in right]
        for estimators, arranged in ((averages, first), (overall, ordered)):
            table = arranged.cells[i].table()
            for estimator in estimators:
                estimator.check(table)
                (estimated,) = estimate_tables(estimator, table[np.newaxis], level)
                parts.append(np.array([[estimated.value], [estimated.low], [estimated.high]]))
        return np.concatenate(parts, axis=1)

    def test(i: int) -> tuple[Floats, Flags]:
        """Test all numbers of one model against the control."""
        pair = first.cells[i]
        if pair.same:
            return np.ones(len(numbers)), np.ones(len(numbers), bool)
        tables = _class_tables(pair, plan.places)
        parts = [_class_tests(columns, tables[:-1])]
        parts += [_class_tests([column], tables[-1:]) for column in right]
        parts += [_average_tests(averages, pair), _average_tests(overall, ordered.cells[i])]
        pvalues, exact = zip(*parts, strict=True)
        return np.concatenate(pvalues), np.concatenate(exact)

    difference = pvalue = adjusted = exact = None
    with ThreadPool(threads) as pool:
        values = dict(pool.answers(measure, models))
        value, low, high = np.stack([values[i] for i in models], axis=1)
        if by is not None:
            pvalue, exact = np.full(value.shape, np.nan), np.zeros(value.shape, bool)
            for i, tested in pool.answers(test, [i for i in models if i != by]):
                pvalue[i], exact[i] = tested
    if by is not None and pvalue is not None:
        difference = value - value[by]
        difference[pvalue == 1.0] = np.nan_to_num(difference[pvalue == 1.0])
        difference[by] = np.nan
        adjusted = adjust_checked(pvalue.ravel(), options["adjust"]).reshape(pvalue.shape)
    return ClassificationReport(
        **options,
        names=counts.names,
        control=None if by is None else counts.names[by],
        rows=tuple(number.row for number in numbers),
        kinds=tuple(number.kind for number in numbers),
        metrics=tuple(number.plain.full_name for number in numbers),
        titles=tuple(number.plain.title for number in numbers),
        lower_is_better=np.array([x.metric.lower_is_better for x in numbers]),
        support=np.array([number.support for number in numbers], np.int64),
        value=value,
        low=low,
        high=high,
        difference=difference,
        pvalue=pvalue,
        pvalue_adjusted=adjusted,
        exact=exact,
        rule=promise(options["adjust"], options["alpha"]),
        n_samples=counts.n_samples,
        n_classes=len(plan.classes),
        n_missing=counts.n_missing,
        n_excluded=counts.n_excluded,
        cautions=_cautions(plan, averages, first),
    )


def _cautions(plan: Plan, averages: list[Estimator], counts: ReportCounts) -> tuple[str, ...]:
    """Cautions: 0/0, few samples, averages over different classes."""
    names, classes = counts.names, plan.classes
    macro = [
        estimator
        for estimator, number in zip(averages, plan.averages, strict=True)
        if number.row.startswith("macro")
    ]
    first = counts.cells[0].table()
    undefined: list[str] = []
    differing: list[str] = []
    for name, cells in zip(names, counts.cells, strict=True):
        table = cells.table()
        for estimator in macro:
            undefined += conventions(estimator, table[np.newaxis], [name], classes)
            both = np.stack([first, table])
            differing += differing_labels(estimator, both, (names[0], name), classes)
    more = len(undefined) - _MOST_CAUTIONS
    if more > 0:
        undefined[_MOST_CAUTIONS:] = [f"There are {more} more rates of this kind."]
    return (*few_samples(first, classes), *undefined, *differing[:1])


# What a report shows: rows, columns and metrics of all classes.


COLUMNS = ("precision", "recall", "f1")


class Number(NamedTuple):
    """One number of the report, of each model."""

    #: Of the class, or "macro avg" and the like.
    row: str
    #: "class", "average" or "overall".
    kind: str
    metric: Metric
    support: int

    @property
    def plain(self) -> Metric:
        """The metric without its average, which the row says."""
        return self.metric if self.kind == "overall" else replace(self.metric, average="binary")


class Plan(NamedTuple):
    """Which numbers a report has."""

    #: Classes as they are counted: those that are listed come first; and their order for
    #: metrics of all classes.
    classes: tuple[Any, ...]
    order: tuple[Any, ...]
    #: Places of the classes that have a row.
    places: Ints
    #: Rates of these classes; the accuracy where all classes are listed, for then micro
    #: averages are the accuracy; averages, and metrics of all classes.
    rates: tuple[Number, ...]
    accuracy: tuple[Number, ...]
    averages: tuple[Number, ...]
    overall: tuple[Number, ...]


class Chosen(NamedTuple):
    """What the user wants to see."""

    columns: tuple[Metric, ...]
    overall: tuple[Metric, ...]
    labels: Any
    positive: Label


def read_chosen(
    metrics: object, overall: object, labels: object, positive: Label, zero_division: object
) -> Chosen:
    """The metrics and classes of the report, checked."""
    zero = read_zero_division(zero_division)
    columns = tuple(
        _of_classes(entry, zero)
        for entry in _listed(COLUMNS if metrics is None else metrics, "metrics")
    )
    check_size(len(columns), "metrics", "metric", 1, "name")
    whole = tuple(
        _metric_of(entry, "overall", positive=positive, zero_division=zero)
        if isinstance(entry, str)
        else _metric_of(entry, "overall")
        for entry in _listed(overall, "overall")
    )
    for argument, metrics_read in {"metrics": columns, "overall": whole}.items():
        names = [metric.full_name for metric in metrics_read]
        if len(set(names)) < len(names):
            raise BadValueError(f"`{argument}` must name different metrics", names)
    return Chosen(columns, whole, read_labels(labels), positive)


def _listed(raw: object, name: str) -> list[Any]:
    """Read one metric or several."""
    if isinstance(raw, (str, Metric)) or callable(raw):
        return [raw]
    if not isinstance(raw, (list, tuple)):
        raise BadTypeError(f"`{name}` must be a list of metrics", repr(raw))
    return list(raw)


def _metric_of(entry: Any, argument: str, **options: Any) -> Metric:
    """The metric of an argument, which an error names."""
    try:
        return make_metric(entry, **options)
    except ArgumentError as error:
        text = error.args[0]
        ours = text.removeprefix("`metric` ")
        demand = f"`{argument}`: {text}" if ours == text else f"`{argument}` {ours}"
        raise error.but(demand=demand) from None


def _of_classes(entry: object, zero_division: float) -> Metric:
    """A metric of each class."""
    metric = _metric_of(entry, "metrics")
    if not metric.is_rate:
        raise BadValueError(
            "`metrics` must be rates of classes, such as 'precision', and "
            f"{metric.full_name!r} is of all classes at once",
            remedy=": pass it as `overall=`",
        )
    if metric.average not in ("binary", None) or metric.prevalence is not None:
        raise BadValueError(
            f"`metrics` are of each class, and their averages stand below: pass {metric.name!r}",
            f"{entry if isinstance(entry, str) else 'a Metric'!r} with an average or a prevalence",
        )
    if not isinstance(entry, Metric):
        metric = replace(metric, zero_division=zero_division)
    return replace(metric, average="binary", positive=None, labels="union")


def make_plan(measures: Chosen, counts: ReportCounts, target_names: Any) -> Plan:
    """The numbers that the report has."""
    first = counts.cells[0]
    counted = np.bincount(first.codes[:, 0], first.counts, len(counts.classes)).astype(np.int64)
    sizes = dict(zip(counts.classes, counted.tolist(), strict=True))
    in_data, labels = counts.classes, measures.labels
    if isinstance(labels, str):
        listed = tuple(x for x in in_data if labels == "union" or sizes[x])
        averaged = labels if labels == "union" else listed
    else:
        listed = averaged = tuple(labels)
        if not set(listed) & set(in_data):
            raise BadValueError(
                f"`labels` must be classes of the data ({_first_labels(in_data)})",
                _first_labels(listed),
            )
    classes = (*listed, *(label for label in in_data if label not in set(listed)))
    whole = len(classes) == len(listed)
    codes, positive = list(range(len(listed))), measures.positive
    if positive is not None:
        if positive not in listed:
            raise BadValueError(
                f"`positive` must be one of {_first_labels(listed)}", repr(positive)
            )
        codes = [listed.index(positive)]
    names = tuple(map(str, listed))
    if target_names is not None:
        if isinstance(target_names, str) or not hasattr(target_names, "__len__"):
            raise BadTypeError("`target_names` must be a sequence of names", repr(target_names))
        names = tuple(map(str, target_names))
        if len(names) != len(listed):
            raise BadValueError(
                f"`target_names` must name each of the {len(listed)} classes "
                f"{_first_labels(listed)}",
                f"{len(names)} names",
            )
    for metric in measures.overall:
        if metric.is_rate and metric.average in ("binary", None) and len(in_data) > 2:
            raise BadValueError(
                f"`overall` must be of all {len(in_data)} classes, and {metric.name!r} is a "
                "rate of each",
                remedy=": pass it as `metrics=`, or an average of it, such as "
                f"'{metric.name}_macro'",
            )
    n_listed, n = sum(sizes.get(label, 0) for label in listed), counts.n_samples
    return Plan(
        classes=classes,
        order=classes if whole else in_data,
        places=np.array(codes, np.int64),
        rates=tuple(
            Number(names[code], "class", metric, sizes.get(listed[code], 0))
            for code in codes
            for metric in measures.columns
        ),
        accuracy=(Number("accuracy", "overall", make_metric("accuracy"), n),) if whole else (),
        averages=tuple(
            Number(
                f"{kind} avg", "average", replace(metric, average=kind, labels=averaged), n_listed
            )
            for kind in (("macro", "weighted") if whole else ("micro", "macro", "weighted"))
            for metric in measures.columns
            if kind in metric.entry.averages
        ),
        overall=tuple(Number(metric.title, "overall", metric, n) for metric in measures.overall),
    )


def _first_labels(labels: Sequence[Any]) -> str:
    first = ", ".join(map(repr, labels[:4]))
    return f"{first}, ... ({len(labels)} in all)" if len(labels) > 4 else first
