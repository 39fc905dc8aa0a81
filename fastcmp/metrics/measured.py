"""Metrics of one model, from cells of counts: values, intervals and the record."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fastcmp import kernels
from fastcmp.core.checks import as_flag, as_proportion, as_resamples, as_seed
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
from fastcmp.metrics.intervals import METHODS, SCALES, Estimate, estimate
from fastcmp.metrics.metric_result import MetricResult
from fastcmp.metrics.samples import Counted, arranged

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fastcmp.metrics.cells import Cells
    from fastcmp.metrics.choice import Metric
    from fastcmp.metrics.estimators import Estimator


_METHODS = (*METHODS, "bootstrap", "abc")


class IntervalOptions(NamedTuple):
    """How an interval is made."""

    method: str | None
    interval: str
    scale: str | None
    within_classes: bool
    level: float
    n_resamples: int
    seed: int


def read_interval_options(given: Mapping[str, Any]) -> IntervalOptions:
    """Check how an interval is to be made."""
    method = choose(given["method"], "method", (*_METHODS, None))
    rng = given["rng"]
    scale = choose(given["scale"], "scale", (*SCALES, None))
    if scale is not None and method not in (None, "jackknife", "delta"):
        raise ValueError(f"scale= is for 'jackknife' and 'delta', got method={method!r}")
    return IntervalOptions(
        method=method,
        interval=choose(given["interval"], "interval", tuple(INTERVALS)),
        scale=scale,
        within_classes=as_flag(given["within_classes"], "within_classes"),
        level=as_proportion(given["confidence_level"], "confidence_level"),
        n_resamples=as_resamples(given["n_resamples"]),
        seed=0 if method != "bootstrap" and rng is None else as_seed(rng),
    )


def measured(
    counted: Counted,
    metrics: list[Metric],
    options: IntervalOptions,
    *,
    several: bool,
    workers: int | None,
) -> MetricResult:
    """Estimate all metrics, and make the record."""
    threads = check_workers(workers)
    found: list[tuple[Estimator, Estimate]] = []
    cautions: list[str] = []
    table = counted.cells.table()
    for each in map(counted.averaging, metrics):
        classes = each.classes_of(counted.classes)
        cells = arranged(counted, classes)
        bound = each.bind(classes)
        own = cells.table()
        for estimator in bound:
            estimator.check(own)
            cautions += conventions(estimator, [own], ["the model"], classes)
        found += zip(bound, _estimates(bound, cells, options, threads, cautions), strict=True)
    cautions += few_samples(table, counted.classes)
    estimates = [one for _, one in found]
    for status, reason in (
        (kernels.UNDEFINED, "it is at an end of its range, or undefined without one sample"),
        (kernels.DEGENERATE, "no variance was observed (its standard error is 0)"),
    ):
        titles = [x.title for x, one in found if one.status == status and one.value == one.value]
        if titles:
            cautions.append(f"No interval for {', '.join(titles[:4])}: {reason}.")
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
    options: IntervalOptions,
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
        raise ValueError(f"method={options.method!r} needs whole samples, not sample_weight=")
    if options.method == "abc":
        made = [abc_interval(x, cells, confidence_level=options.level) for x in bound]
        return [
            Estimate(x.estimate, x.standard_error, x.low, x.high, "abc", x.status)
            if x.standard_error != 0.0
            else Estimate(x.estimate, 0.0, method="abc", status=int(kernels.DEGENERATE))
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
        if x.standard_error != 0.0
        else Estimate(x.estimate, 0.0, method=shown, status=int(kernels.DEGENERATE))
        for x in drawn
    ]
