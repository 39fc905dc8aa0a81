"""Two models compared by a metric of their counts, or by several."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fastcmp.core.checks import are_counts_given
from fastcmp.core.errors import BadValueError
from fastcmp.core.records import (
    Compared,
    ConfidenceInterval,
    LabelledCounts,
    Pilot,
    Record,
    are_labelled,
)
from fastcmp.core.sections import Section, beware, format_pvalue, interval_name
from fastcmp.core.sentences import (
    direction_of,
    dropped_sentences,
    how,
    null_hypothesis,
    statistic_text,
    with_null,
)
from fastcmp.core.threads import ThreadPool, check_workers
from fastcmp.core.typing import Classes, ColumnLike, Label, ModelsLike, Seed
from fastcmp.counts.label_counts import LabelTable
from fastcmp.inputs.model_names import read_pair_names
from fastcmp.metrics.cells import Counted, count_samples, of_counts
from fastcmp.metrics.choice import MetricLike, bind, read_metrics
from fastcmp.metrics.compared import (
    DRAWN,
    EXCHANGED,
    ComparedMetric,
    CompareOptions,
    choose_method,
    compare_bound,
    read_options,
)
from fastcmp.metrics.margins import margin_test, read_margins, stacked_margins
from fastcmp.metrics.metric import limits, number
from fastcmp.paired.margin_result import MarginTests, margin_sentences
from fastcmp.paired.margins import MarginOptions
from fastcmp.pairwise.compare_all import compare_all


def compare_metric(
    y_true: ColumnLike | None = None,
    pred_a: ColumnLike | None = None,
    pred_b: ColumnLike | None = None,
    *,
    counts: ArrayLike | LabelTable | LabelledCounts | None = None,
    classes: Classes | None = None,
    metric: MetricLike | Sequence[MetricLike] = "accuracy",
    average: str | None = "binary",
    beta: float | None = None,
    positive: Label = None,
    labels: ColumnLike = "union",
    zero_division: float = 0.0,
    sample_weight: ArrayLike | None = None,
    groups: ColumnLike | None = None,
    method: str | None = None,
    alternative: str = "two-sided",
    df: str = "clusters",
    studentized: bool = False,
    interval: str = "percentile",
    within_classes: bool = False,
    margin: ArrayLike | None = None,
    slices: ModelsLike | None = None,
    alpha: float = 0.05,
    confidence_level: float = 0.95,
    n_resamples: int = 9999,
    rng: Seed = None,
    names: Sequence[str] | None = None,
    workers: int | None = None,
) -> MetricComparison:
    """Compare two models by a metric of their predictions for the same samples.

    Parameters
    ----------
    y_true : array-like, shape (n,)
        True labels. Samples with a missing one are dropped and counted.
    pred_a, pred_b : array-like, shape (n,)
        Labels that the two models predicted; none may be missing.
    counts : LabelTable, fastcmp.stream.LabelCounts or array-like of int, optional
        In the place of labels: the last axes of an array, shape (..., K, K, K), are true
        class, class predicted by a and class predicted by b.
    classes : sequence, optional
        The label of each class of an array `counts`; by default 0 to K - 1.
    metric : str, callable, Metric or sequence of these
        Name of a metric such as "f1_macro", a function of the confusion matrix, or what
        `make_metric` made; of several, all come from one count.
    average : {"binary", "micro", "macro", "weighted"} or None
        How rates of several classes become one, as in `make_metric`.
    beta : float, optional
        For "fbeta": what recall counts beside precision.
    positive : label, optional
        The positive class of two; of numbers or booleans the larger one by default.
    labels : {"union", "truth"} or sequence
        Classes that an average is over, as in `make_metric`.
    zero_division : {0, 1, nan}
        A rate without samples, as in `make_metric`.
    sample_weight : array-like, shape (n,), optional
        Weights of the samples.
    groups : array-like, shape (n,), optional
        Cluster of each sample, such as its document or patient.
    method : str, optional
        The test. By default "exact", the permutation test, where all configurations can
        be looked at, for two classes always, and else "pooled": the z test by the
        influence of each cell at the counts of both models, its normal limit. With
        weights or clusters "delta". Also "permutation"; "jackknife", "delta", "bootstrap"
        and "abc", whose interval is then shown; "mover", for means of recalls Newcombe's
        limits of each class combined, with the test of "pooled".
    alternative : {"two-sided", "greater", "less"}
        "greater": model a has the higher value, also where lower is better.
    df : {"clusters", "normal"}
        With clusters the degrees of freedom of t: their number less 1, or infinite.
    studentized : bool
        Whether permuted differences are divided by their standard errors.
    interval : {"percentile", "bca", "basic", "studentized"}
        Which interval of the bootstrap.
    within_classes : bool
        Whether the number of samples of each class was fixed beforehand.
    margin : float or sequence of float, optional
        The largest difference that does not matter, of all metrics or of each: adds
        tests of non-inferiority, superiority by the margin and equivalence, and a
        decision, as ``margins``, by the interval of the notes, which is then shown
        whatever the method.
    slices : mapping, frame, or array-like of shape (n,) or (S, n), optional
        Slices of the samples, within which the models are compared too, by t as in
        `compare_slices`: the answer is ``slices``, and `gate` looks at each.
    alpha : float
        Error rate of each claim about the margin, in (0, 0.5), and of slices.
    confidence_level : float
        In (0, 1).
    n_resamples : int
        Draws of the bootstrap, of the permutation test and of the interval; of the latter
        at most 1,999 without a margin, and fewer where classes are many or a metric is a
        user's function.
    rng : int, numpy.random.Generator or None
        Where they come from.
    names : sequence of str, optional
        What to call the two models; by default as a stream does, or "a" and "b".
    workers : int, optional
        Threads; by default as many as there are processors.

    Returns
    -------
    MetricComparison
        Difference and ratio with intervals, and the p-value. Numbers for one metric;
        arrays for several, or with ``average=None``. With the leading axes of the counts,
        and after them an axis for the metrics where there are several.

    Raises
    ------
    ValueError
        If lengths differ, a prediction is missing, a count is below 0 or a fraction, or an
        option is unknown or does not fit.
    TypeError
        If labels cannot be compared, counts are no numbers, or there are not either labels
        or counts.

    See Also
    --------
    mcnemar : For accuracy, with more variants of the test.
    cost_test : For expected costs.

    Notes
    -----
    O(n) to count; what follows does not depend on n. The permutation test exchanges the
    predictions of both models sample by sample: it tests that this makes no difference,
    which is more than that the metric is equal.

    Intervals of differences, and tests against a margin, are one procedure. Accuracy,
    recall and specificity: the exact test of the samples that count, beyond 200 Tango's
    score. All other metrics ("dirichlet"): samples, or clusters, get random exponential
    weights, as in the Bayesian bootstrap, and the influence of the worst sample (cluster)
    that there could be is added with such a weight, Gaffke's bound [3]_. So a class with
    few samples, all of them right, still leaves doubt. There is no interval, and no
    decision, where no sample of these classes could change the metric. Ratios have
    intervals on the log scale.

    References
    ----------
    .. [1] K. Takahashi, K. Yamamoto, A. Kuchiba, T. Koyama, "Confidence interval for
       micro-averaged F1 and macro-averaged F1 scores", Applied Intelligence 52 (2022)
       4961-4972.
    .. [2] E. Chung, J. P. Romano, "Exact and asymptotically robust permutation tests",
       Annals of Statistics 41 (2013) 484-507.
    .. [3] N. Gaffke, "Three test statistics for a nonparametric one-sided hypothesis on
       the mean of a nonnegative variable", Mathematical Methods of Statistics 14 (2005)
       451-467.

    Examples
    --------
    >>> from fastcmp import compare_metric, load_digits
    >>> y_true, preds = load_digits()
    >>> result = compare_metric(y_true, preds["svm_rbf"], preds["knn_3"], metric="f1_macro")
    >>> round(result.difference, 5), round(result.pvalue, 4)
    (0.00105, 0.901)
    >>> counts = [[[4, 1], [3, 1]], [[1, 1], [2, 1]]]
    >>> result = compare_metric(counts=counts, metric="f1")
    >>> round(result.difference, 4), result.pvalue
    (0.0556, 0.953125)
    """
    metrics = read_metrics(metric, average, beta, positive, labels, zero_division)
    against = read_margins(margin, alpha)
    options = read_options(
        {
            "method": method,
            "interval": interval,
            "alternative": alternative,
            "confidence_level": confidence_level,
            "studentized": studentized,
            "within_classes": within_classes,
            "n_resamples": n_resamples,
            "rng": rng,
            "df": df,
            "margin": margin,
        }
    )
    data = {"y_true": y_true, "pred_a": pred_a, "pred_b": pred_b}
    labels_only = {"groups": groups, "sample_weight": sample_weight}
    lead: tuple[int, ...] = ()
    if are_counts_given(data, {"counts": counts}, labels_only, {"classes": classes}):
        tables, lead = of_counts(counts, classes)
    else:
        preds = {"pred_a": pred_a, "pred_b": pred_b}
        tables = [count_samples(y_true, preds, **labels_only, workers=workers)]
    if names is None:
        names = counts.names if are_labelled(counts) else ("a", "b")
    pair_names, threads = read_pair_names(names), check_workers(workers)
    bounds = [bind(counted, one_metric) for counted in tables for one_metric in metrics]
    options, exchanges = choose_method(bounds, options)
    with ThreadPool(threads) as pool:
        comparisons = [
            one
            for bound, exchanged in zip(bounds, exchanges, strict=True)
            for one in compare_bound(bound, exchanged, options, pair_names, pool)
        ]
    n_metrics = len(comparisons) // len(tables)
    several = isinstance(metric, (list, tuple)) or n_metrics > 1
    shape = (*lead, n_metrics) if several else lead
    record = _record(tables, comparisons, shape, options, pair_names, against)
    if slices is None:
        return record
    refused = {
        "counts": counts is not None,
        "sample_weight": sample_weight is not None,
        "several metrics": several,
        f"alternative={alternative!r}": options.alternative != "two-sided",
    }
    if lacking := [what for what, is_given in refused.items() if is_given]:
        raise BadValueError(f"`slices=` are compared by t, sample by sample, not with {lacking[0]}")
    shared: dict[str, Any] = {"margin": margin, "groups": groups, "workers": workers}
    if metrics[0].name != "accuracy":
        shared["metric"] = metrics[0]
    both: dict[str, Any] = dict(zip(pair_names, (pred_a, pred_b), strict=True))
    with warnings.catch_warnings():  # the labels have been looked at
        warnings.simplefilter("ignore", UserWarning)
        compared = compare_all(y_true, both, slices=slices, alpha=alpha, **shared)
    return replace(record, slices=compared.slices)


#: Fields of the record, and where they are in what was compared by one metric.
_FIELDS = {
    **{name: f"test.{name}" for name in ("statistic", "pvalue", "status")},
    **{name: name for name in ("interval_method", "interval", "ratio", "ratio_interval")},
    **{name: f"pair.{name}" for name in ("difference", "value_a", "value_b")},
    "standard_errors": "standard_errors",
    "metric": "pair.estimator.name",
    "measure": "pair.estimator.title",
    "lower_is_better": "pair.estimator.entry.lower_is_better",
}


def _record(
    tables: list[Counted],
    comparisons: list[ComparedMetric],
    shape: tuple[int, ...],
    options: CompareOptions,
    names: tuple[str, str],
    against: MarginOptions | None,
) -> MetricComparison:
    """The record: numbers, or arrays of a shape; `comparisons` has the metrics of each table."""
    scalar, n_metrics = not shape and len(comparisons) == 1, len(comparisons) // len(tables)

    def column(values: Sequence[Any]) -> Any:
        return values[0] if scalar else np.array(values).reshape(shape)

    first, cells, method = tables[0], comparisons[0].pair.cells, str(options.method)
    df = options.degrees(cells)
    distribution = "permutation" if method in EXCHANGED else method
    if distribution not in ("permutation", "bootstrap", "abc"):
        distribution = "normal" if df == math.inf else "t"
    of: dict[str, Sequence[Any]] = {
        name: list(map(attrgetter(place), comparisons)) for name, place in _FIELDS.items()
    }
    errors = zip(*of.pop("standard_errors"), strict=True)
    of |= zip(("standard_error", "standard_error_a", "standard_error_b"), errors, strict=True)
    low, high = zip(*of.pop("interval"), strict=True)
    ratio_low, ratio_high = zip(*of.pop("ratio_interval"), strict=True)
    of["n_samples"] = [counted.n_samples for counted in tables for _ in range(n_metrics)]
    of["n_discordant"] = [
        int(n) if one.pair.cells.squares is None else float(n)
        for one in comparisons
        for n in [one.pair.cells.counts[np.not_equal(*one.pair.cells.codes.T[1:])].sum()]
    ]
    if method == "exact":
        of["n_configurations"] = [one.n_configurations for one in comparisons]
    drawn = method in DRAWN or any(one.bounds is not None for one in comparisons)
    margins = None
    if against is not None:
        if against.margin.ndim and against.margin.size != n_metrics:
            raise BadValueError(
                f"`margin` must have one entry for each of {n_metrics} metrics", against.margin.size
            )
        margin_values = np.broadcast_to(against.margin, n_metrics).tolist() * len(tables)
        tests = [
            margin_test(
                one.pair,
                one.bounds,
                against._replace(margin=margin),
                standard_error=one.standard_errors[0],
                pvalue=one.test.pvalue,
                alternative=options.alternative,
            )
            for one, margin in zip(comparisons, margin_values, strict=True)
        ]
        margins = tests[0] if scalar else stacked_margins(tests, shape)
    return MetricComparison(
        **{name: column(values) for name, values in of.items()},
        df=df if distribution == "t" else None,
        distribution=distribution,
        interval=ConfidenceInterval(column(low), column(high)),
        ratio_interval=ConfidenceInterval(column(ratio_low), column(ratio_high)),
        method=method,
        alternative=options.alternative,
        confidence_level=options.confidence_level,
        names=names,
        classes=first.classes,
        n_clusters=None if cells.clusters is None else cells.clusters.n,
        n_resamples=options.n_resamples if drawn else None,
        seed=options.seed if drawn else None,
        n_missing=first.n_missing,
        n_excluded=first.n_excluded,
        cautions=tuple(dict.fromkeys(caution for one in comparisons for caution in one.cautions)),
        margins=margins,
    )


# The record.


_TESTS = {
    "exact": "permutation test, all exchanges of predictions",
    "permutation": "permutation test, random exchanges of predictions",
    "pooled": "the influences of discordant samples at the counts of both models",
    "jackknife": "the difference in standard errors of the jackknife",
    "delta": "the difference in standard errors of the delta method",
    "mover": "the influences of discordant samples at the counts of both models",
    "abc": "the level of the ABC interval that ends at 0",
    "bootstrap": "bootstrap of the samples",
}
#: Tests of equality from which those of a margin differ.
_OTHERS = {
    "exact": "exchanges of predictions",
    "permutation": "exchanges of predictions",
    "pooled": "influences at the counts of both models",
    "mover": "influences at the counts of both models",
    "bootstrap": "the p-value of the bootstrap",
    "abc": "the ABC interval",
}
_COLUMNS = (
    *("measure", "value_a", "value_b", "difference"),
    *("interval_low", "interval_high", "pvalue"),
)

#: Methods of intervals in words, where they are not their own.
_BY = {"dirichlet": "Dirichlet draws"}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class MetricComparison(Pilot, Compared, Record):
    """Two models compared by a metric, or by several.

    Of one metric all entries are numbers; of several metrics, or many tables of counts,
    arrays whose last axis is that of the metrics.
    """

    _pilot = "metric"
    _opening = "{a} and {b} were compared by metrics of their predictions for the same samples."

    _cites = (
        (
            "method",
            {"jackknife": "miller", "exact": "chung", "permutation": "chung", "bootstrap": "efron"},
        ),
    )

    #: What `distribution` is applied to: z, with clusters t; of permutations the
    #: difference, or what was studentized.
    statistic: Any
    pvalue: Any
    #: Degrees of freedom of t, else None.
    df: float | None
    #: "permutation", "normal", "t", "bootstrap" or "abc".
    distribution: str
    #: A `fastcmp.kernels.Status`.
    status: Any
    #: Such as "f1_macro", and as it is shown, such as "macro F1".
    metric: Any
    measure: Any
    #: Value of a minus that of b.
    difference: Any
    standard_error: Any
    interval: ConfidenceInterval
    #: Value of a over that of b, with an interval on the log scale; NaN where one of
    #: them is not positive.
    ratio: Any
    ratio_interval: ConfidenceInterval
    value_a: Any
    value_b: Any
    #: Of each value alone; of the bootstrap, clusters and weights by the delta method.
    standard_error_a: Any
    standard_error_b: Any
    #: "exact", "permutation", "pooled", "jackknife", "delta", "mover", "bootstrap" or "abc".
    method: str
    #: Such as "dirichlet", "exact", "score" or "jackknife".
    interval_method: Any
    alternative: str
    confidence_level: float
    lower_is_better: Any
    names: tuple[str, str]
    n_samples: Any
    #: Samples for which the predictions differ.
    n_discordant: Any
    #: The classes that occur, in order.
    classes: tuple[Any, ...]
    #: Configurations that an exact permutation test looked at.
    n_configurations: Any = None
    n_clusters: int | None = None
    #: Draws, and the seed that repeats them; None where nothing was drawn.
    n_resamples: int | None = None
    seed: int | None = None
    n_missing: int = 0
    n_excluded: int = 0
    #: What to beware of.
    cautions: tuple[str, ...] = ()
    #: Tests against a margin, and the decision; None without a margin.
    margins: MarginTests | None = None
    #: The same models within slices of the samples, a `SlicesResult`; None where none were
    #: asked for.
    slices: Record | None = None

    _derived = ("better",)

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            The answer, and what to beware of.
        """
        pages = [self._table() if np.ndim(self.pvalue) else self._answer(), *beware(self)]
        return pages + ([] if self.slices is None else self.slices.sections())

    def _answer(self) -> Section:
        """The sentences about which model is better."""
        a, b = self.names
        name = interval_name(self.confidence_level, self.alternative)
        values = f"{number(self.value_a)} and {number(self.value_b)}"
        hypothesis = f"the predictions of {a} and {b} can be exchanged"
        if self.distribution != "permutation":
            hypothesis = null_hypothesis(self)
        by = _BY.get(self.interval_method, self.interval_method)
        clusters = "" if self.n_clusters is None else f" in {self.n_clusters} clusters"
        text = [
            f"{direction_of(self)}: {values} on {self.n_samples} samples{clusters}, of which "
            f"{self.n_discordant} are predicted differently.",
            f"Difference {number(self.difference, '+')}, {name} "
            f"{limits(*self.interval, sign='+')}, by {by}.",
        ]
        if not math.isnan(self.ratio):
            text.append(f"Ratio {number(self.ratio)}, {name} {limits(*self.ratio_interval)}.")
        text += [
            with_null(statistic_text(self), hypothesis, end="."),
            *margin_sentences(self.margins, _OTHERS.get(self.method, "")),
            how(f"Test: {_TESTS[self.method]}."),
            *dropped_sentences(self.n_missing, self.n_excluded),
        ]
        return Section(title="Which model is better?", text=tuple(text))

    def _table(self) -> Section:
        """A row for each metric, and each table of counts."""
        columns = self.columns()
        taken = [columns[name] for name in _COLUMNS]
        rows: list[tuple[str, ...]] = [
            (
                measure,
                number(value_a),
                number(value_b),
                number(difference, "+"),
                limits(low, high, sign="+"),
                format_pvalue(pvalue),
            )
            for measure, value_a, value_b, difference, low, high, pvalue in zip(*taken, strict=True)
        ]
        interval = interval_name(self.confidence_level, self.alternative)
        decision_column: tuple[str, ...] = ()
        if self.margins is not None:
            decision_column = ("decision",)
            decisions = np.broadcast_to(self.margins.decision, np.shape(self.pvalue))
            words = decisions.ravel().tolist()
            rows = [(*row, word) for row, word in zip(rows, words, strict=True)]
        return Section(
            title="Which model is better?",
            text=(how("P-values are not adjusted for their number."),),
            columns=("metric", *self.names, "difference", interval, "p", *decision_column),
            rows=tuple(rows),
            notes=margin_sentences(self.margins, _OTHERS.get(self.method, ""))
            + dropped_sentences(self.n_missing, self.n_excluded),
        )
