"""A metric of one model: value, standard error and interval."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastcmp import kernels
from fastcmp.core.checks import (
    are_counts_given,
    as_flag,
    as_proportion,
    as_resamples,
    as_seed,
    choose,
)
from fastcmp.core.errors import BadValueError
from fastcmp.core.records import ConfidenceInterval, ConfusionMatrices, Record
from fastcmp.core.sections import Section, beware, interval_name, table_of, written
from fastcmp.core.sentences import dropped_sentences, how
from fastcmp.core.threads import ThreadPool, check_workers
from fastcmp.core.typing import Classes, ColumnLike, Label, Seed
from fastcmp.metrics.bootstrap import (
    INTERVALS,
    abc_interval,
    bootstrap_intervals,
    undefined_cautions,
)
from fastcmp.metrics.cells import count_samples, of_confusion
from fastcmp.metrics.choice import MetricLike, bind, read_metrics
from fastcmp.metrics.estimators import Estimator
from fastcmp.metrics.intervals import (
    METHODS,
    SCALES,
    Estimate,
    conventions,
    estimate_tables,
    few_samples,
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class MetricResult(Record):
    """A metric of one model, or several metrics, with intervals.

    Of one metric all entries are numbers; of several, or of each class alone, arrays.
    """

    _blocks = "scores:metrics"
    _opening = (
        "Each metric was estimated from all samples; the table names how its interval was made."
    )

    _cites = (("method", {"wilson": "wilson", "jackknife": "miller", "bootstrap": "efron"}),)

    #: Such as "f1_macro".
    metric: Any
    value: Any
    interval: ConfidenceInterval
    #: By the method of the interval; for those of rates, and "combined", by the jackknife.
    standard_error: Any
    #: How the interval was made, such as "wilson" or "combined, logit".
    method: Any
    #: A `fastcmp.kernels.Status`: where there is no interval DEGENERATE, if no variance was
    #: observed, else UNDEFINED.
    status: Any
    #: Shown names, such as "macro F1".
    title: Any
    confidence_level: float
    n_samples: int
    #: The classes that occur, in order.
    classes: tuple[Any, ...]
    #: Samples by true and predicted class, shape (K, K).
    confusion: NDArray[Any]
    n_clusters: int | None = None
    #: Draws of the bootstrap, and the seed that repeats them.
    n_resamples: int | None = None
    seed: int | None = None
    n_missing: int = 0
    n_excluded: int = 0
    #: What to beware of.
    cautions: tuple[str, ...] = ()

    def columns(self) -> dict[str, Any]:
        """A row for each metric.

        Returns
        -------
        dict of str to list
            Name, value, standard error, both ends of the interval and its method.
        """
        fields = {
            "metric": self.metric,
            "value": self.value,
            "standard_error": self.standard_error,
            "low": self.interval.low,
            "high": self.interval.high,
            "method": self.method,
        }
        return {name: np.atleast_1d(x).tolist() for name, x in fields.items()}

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            A table with a row a metric, and what to beware of.
        """
        columns = self.columns()
        ends = zip(columns["low"], columns["high"], strict=True)
        cells = {
            "metric": np.atleast_1d(self.title).tolist(),
            "value": written(columns["value"], number),
            interval_name(self.confidence_level): [limits(*pair) for pair in ends],
            "interval by": columns["method"],
        }
        text = f"{self.n_samples} samples of {len(self.classes)} classes"
        if self.n_clusters is not None:
            text += f" in {self.n_clusters} clusters"
        notes = dropped_sentences(self.n_missing, self.n_excluded)
        title, lead = "How good is the model?", (how(f"{text}."),)
        return [table_of(title, cells, text=lead, notes=notes, most=None), *beware(self)]

    def _headline(self) -> str:
        """The first metric, with its interval."""
        title, value = np.atleast_1d(self.title)[0], np.atleast_1d(self.value)[0]
        low, high = (np.atleast_1d(end)[0] for end in self.interval)
        level = interval_name(self.confidence_level)
        return f"{title} is {value:.4f}, {level} [{low:.4f}, {high:.4f}]."


def number(value: float, sign: str = "") -> str:
    """A metric with four digits, "-" for NaN."""
    if math.isnan(value):
        return "-"
    return f"{value:{sign}.4f}" if abs(value) < 100 else f"{value:{sign}.4g}"


def limits(low: float, high: float, sign: str = "") -> str:
    """An interval as text, "-" where there is none."""
    if math.isnan(low) or math.isnan(high):
        return "-"
    return f"[{number(low, sign)}, {number(high, sign)}]"


def metric(
    y_true: ColumnLike | None = None,
    pred: ColumnLike | None = None,
    *,
    table: ArrayLike | ConfusionMatrices | None = None,
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
    interval: str = "percentile",
    scale: str | None = None,
    within_classes: bool = False,
    confidence_level: float = 0.95,
    n_resamples: int = 9999,
    rng: Seed = None,
    workers: int | None = None,
) -> MetricResult:
    """Compute a metric of a model, with an interval.

    Parameters
    ----------
    y_true : array-like, shape (n,)
        True labels. Samples with a missing one are dropped and counted.
    pred : array-like, shape (n,)
        Predicted labels; none may be missing.
    table : array-like of int, shape (K, K), or fastcmp.stream.ConfusionCounts, optional
        In the place of labels: samples by true class (rows) and predicted class; counts of
        a stream must be of one model, or ``counts.matrix("a")``.
    classes : sequence, optional
        The label of each class of an array `table`; by default 0 to K - 1.
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
        How the interval is made: "wilson" or "clopper-pearson" for rates, F1 and Jaccard of
        one class, and the accuracy; "score" for means of recalls or of precisions; "mover"
        [1]_ for means of rates; "combined", "jackknife", "delta", "bootstrap" or "abc" for
        all. By default "wilson", "score" for means of recalls, the delta method on the log
        scale for ratios, the jackknife for weighted kappas, costs and functions, and
        "combined" for others.
    interval : {"percentile", "bca", "basic", "studentized"}
        Which interval of the bootstrap.
    scale : {"identity", "logit", "atanh", "log"}, optional
        Where an interval by "jackknife" or "delta" is symmetric. "delta" alone gives
        the published interval, symmetric about the value.
    within_classes : bool
        Whether the number of samples of each class was fixed beforehand.
    confidence_level : float
        In (0, 1).
    n_resamples : int
        Draws of the bootstrap.
    rng : int, numpy.random.Generator or None
        Where they come from.
    workers : int, optional
        Threads; by default as many as there are processors.

    Returns
    -------
    MetricResult
        Numbers for one metric; arrays for several, or with ``average=None``.

    Raises
    ------
    ValueError
        If lengths differ, a prediction is missing, a table is not square or has counts
        below 0 or fractions, or an option is unknown or does not fit.
    TypeError
        If labels cannot be compared, counts are no numbers, or there are not either labels
        or a table.

    Notes
    -----
    O(n) to count; what follows does not depend on n. With clusters or weights the
    standard error is that of the delta method, with clusters of their sums and t with
    as many degrees of freedom as clusters, less 1.

    "score" keeps the sums whose distance from the estimate is at most z standard errors,
    computed at the likeliest recalls with that sum. "combined" takes the outer ends of the
    jackknife's interval, on the logit or Fisher's scale, and of another one: for means of
    rates MOVER's with the correlations of the classes, for other metrics the delta method's
    at the counts with two more samples, spread evenly over all cells. The jackknife alone
    sees no variance in a class that is always right. Where the standard
    error is 0 within the range of a metric, as MCC (0/0, taken as 0) and kappa of a model
    that predicts one class only, there is no interval (`DEGENERATE`).

    References
    ----------
    .. [1] G. Y. Zou, A. Donner, "Construction of confidence limits about effect
       measures", Statistics in Medicine 27 (2008) 1693-1702.

    Examples
    --------
    >>> from fastcmp import metric
    >>> y_true = [0, 0, 0, 0, 0, 1, 1, 1]
    >>> result = metric(y_true, [0, 0, 0, 0, 1, 1, 1, 0], metric="f1")
    >>> round(result.value, 4), [round(end, 3) for end in result.interval]
    (0.6667, [0.261, 0.919])
    >>> result = metric(table=[[40, 0], [0, 6]], metric="f1")
    >>> result.value, round(result.interval.low, 4), result.interval.high
    (1.0, 0.7575, 1.0)
    """
    method = choose(method, "method", (*METHODS, "bootstrap", "abc", None))
    scale = choose(scale, "scale", (*SCALES, None))
    if scale is not None and method not in (None, "jackknife", "delta"):
        raise BadValueError("`scale=` is for 'jackknife' and 'delta'", f"`method={method!r}`")
    drawn: dict[str, Any] = {
        "interval": choose(interval, "interval", tuple(INTERVALS)),
        "within_classes": as_flag(within_classes, "within_classes"),
        "confidence_level": as_proportion(confidence_level, "confidence_level"),
        "n_resamples": as_resamples(n_resamples),
        "seed": 0 if method != "bootstrap" and rng is None else as_seed(rng),
    }
    metrics = read_metrics(metric, average, beta, positive, labels, zero_division)
    labels_only = {"groups": groups, "sample_weight": sample_weight}
    data, of_table = {"y_true": y_true, "pred": pred}, {"classes": classes}
    if are_counts_given(data, {"table": table}, labels_only, of_table):
        counted = of_confusion(table, classes)
    else:
        counted = count_samples(y_true, {"pred": pred}, **labels_only, workers=workers)
    threads = check_workers(workers)
    estimates: list[tuple[Estimator, Estimate]] = []
    cautions: list[str] = []
    for one_metric in metrics:
        names, cells, estimators = bind(counted, one_metric)
        confusion = cells.table()
        for estimator in estimators:
            estimator.check(confusion)
            cautions += conventions(estimator, confusion[np.newaxis], ["the model"], names)
        if method in ("bootstrap", "abc") and cells.squares is not None:
            raise BadValueError(f"`method={method!r}` needs whole samples, not `sample_weight=`")
        if method == "bootstrap":
            with ThreadPool(threads) as pool:
                outcomes = bootstrap_intervals(estimators, cells, **drawn, pool=pool)
        elif method == "abc":
            level = drawn["confidence_level"]
            outcomes = [abc_interval(x, cells, confidence_level=level) for x in estimators]
        else:
            level, within = drawn["confidence_level"], drawn["within_classes"]
            for estimator in estimators:
                shared = {"method": method, "scale": scale, "within_classes": within}
                estimates += [
                    (estimator, one)
                    for one in estimate_tables(
                        estimator, confusion[np.newaxis], level, cells=cells, **shared
                    )
                ]
            continue
        by = "abc" if method == "abc" else f"bootstrap, {drawn['interval']}"
        for estimator, x in zip(estimators, outcomes, strict=True):
            cautions += undefined_cautions(x, drawn["n_resamples"])
            result = Estimate(x.estimate, x.standard_error, x.low, x.high, by, x.status)
            if x.standard_error == 0.0:
                result = Estimate(x.estimate, 0.0, method=by, status=int(kernels.DEGENERATE))
            estimates.append((estimator, result))
    if cells is not counted.cells:
        confusion = counted.cells.table()
    cautions += few_samples(confusion, counted.classes)
    for status, reason in (
        (kernels.UNDEFINED, "it is at an end of its range, or undefined without one sample"),
        (kernels.DEGENERATE, "no variance was observed (its standard error is 0)"),
    ):
        titles = [x.title for x, y in estimates if y.status == status and y.value == y.value]
        if titles:
            cautions.append(f"No interval for {', '.join(titles[:4])}: {reason}.")
    scalar = not isinstance(metric, (list, tuple)) and len(estimates) == 1

    def column(values: list[Any]) -> Any:
        return values[0] if scalar else np.array(values)

    of = {
        name: column([getattr(one, name) for _, one in estimates])
        for name in ("value", "standard_error", "method", "status")
    }
    clusters = counted.cells.clusters
    repeats = {name: drawn[name] for name in ("n_resamples", "seed")}
    return MetricResult(
        **of,
        **(repeats if method == "bootstrap" else {}),
        metric=column([estimator.name for estimator, _ in estimates]),
        title=column([estimator.title for estimator, _ in estimates]),
        interval=ConfidenceInterval(
            column([one.low for _, one in estimates]), column([one.high for _, one in estimates])
        ),
        confidence_level=drawn["confidence_level"],
        n_samples=counted.n_samples,
        classes=counted.classes,
        confusion=confusion,
        n_clusters=None if clusters is None else clusters.n,
        n_missing=counted.n_missing,
        n_excluded=counted.n_excluded,
        cautions=tuple(dict.fromkeys(cautions)),
    )
