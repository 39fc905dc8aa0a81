"""A metric of one model: value, standard error and interval."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fastcmp.core.checks import as_flag, as_seed, as_share, as_whole
from fastcmp.core.options import choose
from fastcmp.core.records import ConfidenceInterval
from fastcmp.core.threads import ThreadPool, check_workers
from fastcmp.metrics.abc_interval import abc_interval
from fastcmp.metrics.bootstrap import (
    INTERVALS,
    bootstrap_intervals,
    undefined_caution,
)
from fastcmp.metrics.cautions import conventions, few_samples
from fastcmp.metrics.cells import cells_of_table
from fastcmp.metrics.choice import read_metrics
from fastcmp.metrics.derived import UserEstimator
from fastcmp.metrics.intervals import METHODS, SCALES, Estimate, estimate
from fastcmp.metrics.metric_result import MetricResult
from fastcmp.metrics.samples import Counted, arranged, count_samples
from fastcmp.metrics.tables import read_classes, read_square

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import ArrayLike

    from fastcmp.metrics.cells import Cells
    from fastcmp.metrics.choice import Metric
    from fastcmp.metrics.estimators import Estimator

_METHODS = (*METHODS, "bootstrap", "abc")


def metric(  # noqa: PLR0913  # options, all by keyword
    y_true: ArrayLike,
    pred: ArrayLike,
    *,
    metric: Any = "accuracy",
    average: str | None = "binary",
    beta: float | None = None,
    positive: Any = None,
    labels: Any = "union",
    zero_division: float = 0.0,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    method: str | None = None,
    interval: str = "percentile",
    scale: str | None = None,
    within_classes: bool = False,
    confidence_level: float = 0.95,
    n_resamples: int = 9999,
    rng: Any = None,
    workers: int | None = None,
) -> MetricResult:
    """Compute a metric of a model, with an interval.

    Parameters
    ----------
    y_true : array-like, shape (n,)
        True labels. Samples with a missing one are dropped and counted.
    pred : array-like, shape (n,)
        Predicted labels; none may be missing.
    metric : str, callable, Metric or sequence of these
        Name of a metric such as "f1_macro", a function of the confusion matrix, or what
        `make_metric` made; of several, all come from one count.
    average, beta, positive, labels, zero_division
        As in `make_metric`.
    sample_weight : array-like, shape (n,), optional
        Weights of the samples.
    groups : array-like, shape (n,), optional
        Cluster of each sample, such as its document or patient.
    method : {"wilson", "mover", "jackknife", "delta", "bootstrap", "abc"}, optional
        How the interval is made. By default Wilson's for proportions and F1, MOVER [1]_
        for means of recalls, the delta method on the log scale for ratios, and for all
        others the jackknife on the logit or Fisher's scale.
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
        If lengths differ, a prediction is missing, or an option is unknown or does not
        fit.
    TypeError
        If labels cannot be compared.

    Notes
    -----
    O(n) to count; what follows does not depend on n. With clusters or weights the
    standard error is that of the delta method, with clusters of their sums and t with
    as many degrees of freedom as clusters, less 1.

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
    """
    options = _read_options(
        {
            "method": method,
            "interval": interval,
            "scale": scale,
            "within_classes": within_classes,
            "confidence_level": confidence_level,
            "n_resamples": n_resamples,
            "rng": rng,
        }
    )
    metrics = read_metrics(metric, average, beta, positive, labels, zero_division)
    counted = count_samples(
        y_true,
        {"pred": pred},
        groups=groups,
        sample_weight=sample_weight,
        workers=workers,
    )
    several = isinstance(metric, (list, tuple))
    return _measured(counted, metrics, options, several=several, workers=workers)


def metric_from_counts(  # noqa: PLR0913  # options, all by keyword
    table: ArrayLike,
    *,
    metric: Any = "accuracy",
    average: str | None = "binary",
    beta: float | None = None,
    positive: Any = None,
    labels: Any = "union",
    zero_division: float = 0.0,
    classes: Sequence[Any] | None = None,
    method: str | None = None,
    interval: str = "percentile",
    scale: str | None = None,
    within_classes: bool = False,
    confidence_level: float = 0.95,
    n_resamples: int = 9999,
    rng: Any = None,
    workers: int | None = None,
) -> MetricResult:
    """Compute a metric from a confusion matrix, with an interval.

    Parameters
    ----------
    table : array-like of int, shape (K, K)
        Samples by true class (rows) and predicted class, such as
        ``ConfusionCounts.matrix("a")``.
    metric, average, beta, positive, labels, zero_division
        As in `metric`.
    classes : sequence, optional
        The label of each class; by default 0 to K - 1.
    method, interval, scale, within_classes, confidence_level, n_resamples, rng
        As in `metric`.
    workers : int, optional
        Threads.

    Returns
    -------
    MetricResult
        As from `metric`.

    Raises
    ------
    ValueError
        If the matrix is not square, a count is negative or fractional, or an option is
        unknown or does not fit.
    TypeError
        If counts are no numbers.

    Examples
    --------
    >>> from fastcmp import metric_from_counts
    >>> result = metric_from_counts([[40, 0], [0, 6]], metric="f1")
    >>> result.value, round(result.interval.low, 4), result.interval.high
    (1.0, 0.7575, 1.0)
    """
    options = _read_options(
        {
            "method": method,
            "interval": interval,
            "scale": scale,
            "within_classes": within_classes,
            "confidence_level": confidence_level,
            "n_resamples": n_resamples,
            "rng": rng,
        }
    )
    metrics = read_metrics(metric, average, beta, positive, labels, zero_division)
    counts = read_square(table, "table", 2)
    names = read_classes(classes, len(counts))
    n = int(counts.sum())
    # A class that never occurs is no class of the data, as with labels.
    used = np.flatnonzero(counts.any(axis=0) | counts.any(axis=1))
    if classes is None:
        counts = np.ascontiguousarray(counts[np.ix_(used, used)])
        names = tuple(names[code] for code in used.tolist())
    counted = Counted(cells_of_table(counts), names, n)
    several = isinstance(metric, (list, tuple))
    return _measured(counted, metrics, options, several=several, workers=workers)


class _Options(NamedTuple):
    """How an interval is made."""

    method: str | None
    interval: str
    scale: str | None
    within_classes: bool
    level: float
    n_resamples: int
    seed: int


def _read_options(given: Mapping[str, Any]) -> _Options:
    """Check how an interval is to be made."""
    method = choose(given["method"], "method", (*_METHODS, None))
    scale = choose(given["scale"], "scale", (*SCALES, None))
    if scale is not None and method not in (None, "jackknife", "delta"):
        message = f"scale= is for 'jackknife' and 'delta', got method={method!r}"
        raise ValueError(message)
    return _Options(
        method=method,
        interval=choose(given["interval"], "interval", tuple(INTERVALS)),
        scale=scale,
        within_classes=as_flag(given["within_classes"], "within_classes"),
        level=as_share(given["confidence_level"], "confidence_level"),
        n_resamples=as_whole(given["n_resamples"], "n_resamples", 1),
        seed=as_seed(given["rng"]),
    )


def _measured(
    counted: Counted,
    metrics: list[Metric],
    options: _Options,
    *,
    several: bool,
    workers: int | None,
) -> MetricResult:
    """Estimate all metrics, and make the record."""
    threads = check_workers(workers)
    found: list[tuple[Estimator, Estimate]] = []
    cautions: list[str] = []
    table = counted.cells.table()
    for each in metrics:
        classes = each.classes_of(counted.classes)
        cells = arranged(counted, classes)
        bound = each.bind(classes)
        own = cells.table()
        for estimator in bound:
            if isinstance(estimator, UserEstimator):
                estimator.check(own)
            cautions += conventions(estimator, [own], ["the model"], classes)
        found += zip(
            bound, _estimates(bound, cells, options, threads, cautions), strict=True
        )
    cautions += few_samples(table, counted.classes)
    estimates = [one for _, one in found]
    missing = [
        name.title for name, one in found if one.status and one.value == one.value
    ]
    if missing:
        cautions.append(
            f"No interval for {', '.join(missing[:4])}: at an end of its range, or "
            "where one sample less leaves it undefined."
        )
    scalar = not several and len(found) == 1

    def column(values: list[Any]) -> Any:
        return values[0] if scalar else np.array(values)

    low, high = (column([one[i] for one in estimates]) for i in (2, 3))
    clusters = counted.cells.clusters
    return MetricResult(
        metric=column([estimator.name for estimator, _ in found]),
        value=column([one.value for one in estimates]),
        interval=ConfidenceInterval(low, high),
        standard_error=column([one.standard_error for one in estimates]),
        method=column([one.method for one in estimates]),
        status=column([one.status for one in estimates]),
        title=column([estimator.title for estimator, _ in found]),
        confidence_level=options.level,
        n_samples=counted.n_samples,
        classes=counted.classes,
        confusion=table,
        n_clusters=None if clusters is None else clusters.n,
        n_resamples=options.n_resamples if options.method == "bootstrap" else None,
        seed=options.seed if options.method == "bootstrap" else None,
        n_missing=counted.n_missing,
        n_excluded=counted.n_excluded,
        cautions=tuple(dict.fromkeys(cautions)),
    )


def _estimates(
    bound: list[Estimator],
    cells: Cells,
    options: _Options,
    threads: int,
    cautions: list[str],
) -> list[Estimate]:
    """Estimate metrics that are bound to the same classes."""
    if options.method not in ("bootstrap", "abc"):
        return [
            estimate(
                each,
                cells,
                options.level,
                options.method,
                options.scale,
                within_classes=options.within_classes,
            )
            for each in bound
        ]
    if cells.squares is not None:
        message = f"method={options.method!r} needs whole samples, not sample_weight="
        raise ValueError(message)
    if options.method == "abc":
        made = [abc_interval(x, cells, confidence_level=options.level) for x in bound]
        return [
            Estimate(x.estimate, x.standard_error, x.low, x.high, "abc", x.status)
            for x in made
        ]
    with ThreadPool(threads) as pool:
        drawn = bootstrap_intervals(
            bound,
            cells,
            interval=options.interval,
            confidence_level=options.level,
            within_classes=options.within_classes,
            n_resamples=options.n_resamples,
            seed=options.seed,
            pool=pool,
        )
    shown = f"bootstrap, {options.interval}"
    for each in drawn:
        told = undefined_caution(each.n_undefined, options.n_resamples)
        cautions += [] if told is None else [told]
    return [
        Estimate(x.estimate, x.standard_error, x.low, x.high, shown, x.status)
        for x in drawn
    ]
