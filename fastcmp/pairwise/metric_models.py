"""Each model by a metric of counts: its value, interval, and influences of samples."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from fastcmp.core.memory import check_memory
from fastcmp.core.threads import no_step, parts
from fastcmp.kernels.cluster_means import t_quantile
from fastcmp.kernels.metric_slopes import add_influences, gather_influences, table_starts
from fastcmp.metrics.intervals import estimate_table, jackknife_influences, limits_on
from fastcmp.metrics.proportions import are_independent, proportions_of
from fastcmp.pairwise.metric_samples import MetricSamples

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fastcmp.core.threads import ThreadPool
    from fastcmp.pairwise.metric_samples import Counted
    from fastcmp.pairwise.metric_units import MetricUnits

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]
    Flags = NDArray[np.bool_]

_CELLS = 1 << 18  # cells of tables that are worked out together


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricModels:
    """M models, one by one."""

    #: The metric of each, NaN where it is not defined, shape (M,).
    value: Floats
    #: Shape (M,), and the interval, (M, 2).
    standard_error: Floats
    interval: Floats
    #: How it was made.
    interval_methods: tuple[str, ...]
    #: Samples by true and predicted class, in the order of the metric, (M, K, K); None
    #: where they would take more than the samples.
    tables: Floats | None
    #: What each sample adds to the square of the standard error is the square of this,
    #: looked up by row and prediction, (M, R, K').
    lookups: Floats | None
    #: The same of each sample or cluster, (M, U), where it is not looked up.
    rows: Floats | None
    #: Whether the metric of a model is over a class, or a rate of it is 0/0, (M, K).
    averaged: Flags
    without: Flags
    #: Samples of each class, or their weight, shape (K,).
    sizes: Floats

    @property
    def known(self) -> Flags:
        """Which models have a value and a standard error."""
        return np.isfinite(self.value) & np.isfinite(self.standard_error)


class _Reading:
    """Models as they are read, some at a time, by several threads."""

    def __init__(self, samples: Counted, units: MetricUnits, method: str, level: float) -> None:
        self.samples, self.units, self.level = samples, units, level
        self.quantile = t_quantile(units.df, level)
        self.jackknife = method != "delta" and units.clusters is None
        factors = units.factors(corrected=self.jackknife)
        self.factors = np.sqrt(factors)[:, np.newaxis, np.newaxis]
        self.estimator = samples.metric.estimator
        m, k = samples.n_models, samples.metric.codes.size
        h, codes = samples.weights.size, samples.n_codes
        self.small = not samples.many_classes
        self.value, self.error = np.empty((2, m))
        self.interval = np.empty((m, 2))
        self.interval_methods: set[str] = set()
        self.averaged, self.without = np.zeros((2, m, k), np.bool_)
        self.sizes = samples.metric.table(samples.counts(0).sum(axis=0)).sum(axis=1)
        self.tables = np.empty((m, k, k)) if self.small else None
        self.counted = np.empty((m, h, codes, codes), np.int64) if self.small else None
        self.lookups = self.rows = None
        if units.clusters is not None:
            self.rows = np.zeros((m, units.n_clusters))
        elif self.small:
            self.lookups = np.empty((m, h * codes, codes))
        else:
            self.rows = np.zeros((m, samples.n_samples))

    @property
    def spans(self) -> list[slice]:
        """The models that are read together."""
        size = max(1, _CELLS // self.samples.n_codes**2) if self.small else 1
        return parts(self.samples.n_models, size)

    def count(self, span: slice) -> None:
        """Count some models."""
        assert self.counted is not None
        for i in range(span.start, span.stop):
            self.counted[i] = self.samples.counts(i)

    def read(self, span: slice) -> None:
        """Find out all about some models."""
        if self.counted is not None:
            counts = self.counted[span]
        else:
            counts = self.samples.counts(span.start)[np.newaxis]
        tables = self.samples.table(counts)
        self.value[span] = self.estimator.values(tables)
        if self.tables is not None:
            self.tables[span] = tables
        lookups = self._lookups(tables, counts)
        lookups[np.isnan(self.value[span])] = np.nan
        if self.units.clusters is None:
            self._keep(span, lookups, counts)
        self._mark(span, tables)
        for place, table in enumerate(tables):
            i = span.start + place
            if self.units.clusters is not None:
                self._add_up(i, lookups[place])
            self.interval[i] = self._interval(i, table)

    def _mark(self, span: slice, tables: Floats) -> None:
        """Mark classes that a metric is over, and those with a rate of 0/0."""
        marks, full = (self.averaged, self.without), np.ones_like(tables[0])
        calls, truths = (np.asarray(tables.any(axis=axis)) for axis in (1, 2))
        seen = np.asarray((calls & truths).all(axis=1))
        # All tables without an empty row or column are alike.
        for places, table in (
            (np.flatnonzero(seen), full),
            *((place, tables[place]) for place in np.flatnonzero(~seen)),
        ):
            found = (self.estimator.averaged(table), self.estimator.without_samples(table))
            for flags, own in zip(marks, found, strict=True):
                if own is not None:
                    flags[span.start + places] = own

    def _interval(self, i: int, table: Floats) -> tuple[float, float]:
        """Give the interval of a model alone."""
        scale, value = self.estimator.scale, float(self.value[i])
        error = float(self.error[i])
        if self.units.stratified or self.units.clusters is not None:
            return limits_on(scale, value, error, self.quantile)
        by = "delta" if scale == "log" else "jackknife"
        inside = self.estimator.limits[0] < value < self.estimator.limits[1]
        plain = self.samples.weighted or (scale in ("log", "identity") and self.by_scale)
        if inside and self.jackknife == (by == "jackknife") and plain:
            self.interval_methods.add(by if scale == "identity" else f"{by}, {scale}")
            return limits_on(scale, value, error, self.quantile)
        found = estimate_table(self.estimator, table, self.level)
        self.interval_methods.add(found.method)
        return found.low, found.high

    @cached_property
    def by_scale(self) -> bool:
        """Whether intervals are symmetric on a scale, as those of `estimate_table`."""
        of = proportions_of(self.estimator, np.ones((self.estimator.n_classes,) * 2))
        return of is None or not are_independent(self.estimator, of)

    def _lookups(self, tables: Floats, counts: Ints) -> Floats:
        """Look up what samples add to the metric, to first order, (b, H, K', K')."""
        samples, weights = self.samples, self.samples.weights
        if not self.jackknife:
            own = self.estimator.influences(tables)[:, np.newaxis]
        else:
            each = weights if samples.weighted else weights[:1]
            own = np.stack(
                [
                    jackknife_influences(self.estimator, tables, weight or 1.0)
                    for weight in each.tolist()
                ],
                axis=1,
            )
        n = tables.sum(axis=(1, 2))[:, np.newaxis, np.newaxis, np.newaxis]
        scaled = own * weights[:, np.newaxis, np.newaxis] / n
        lookups = samples.metric.lookup(scaled, samples.n_codes)
        if self.units.centred:
            sizes = self.units.sizes[:, np.newaxis, np.newaxis]
            lookups -= (counts * lookups).sum(axis=(2, 3), keepdims=True) / sizes
        return lookups

    def _keep(self, span: slice, lookups: Floats, counts: Ints) -> None:
        """Keep the influences of samples that are units by themselves."""
        lookups *= self.factors
        self.error[span] = np.sqrt((counts * lookups**2).sum(axis=(1, 2, 3)))
        flat = lookups.reshape(len(lookups), -1, lookups.shape[-1])
        if self.lookups is not None:
            self.lookups[span] = flat
            return
        assert self.rows is not None
        i, own = span.start, self.samples
        if not math.isnan(self.error[i]):
            assert isinstance(own, MetricSamples)
            none = np.zeros(own.n_samples)
            base = table_starts(own.rows, own.n_codes)
            gather_influences(base, own.preds[i], flat[0].ravel(), none, self.rows[i])

    def _add_up(self, i: int, lookup: Floats) -> None:
        """Add the influences of samples up by cluster."""
        units, own = self.units, self.samples
        assert units.clusters is not None
        assert isinstance(own, MetricSamples)
        assert self.rows is not None
        if np.isnan(lookup).any():
            self.error[i] = math.nan
            return
        flat = lookup.reshape(-1, lookup.shape[-1])
        add_influences(own.rows, own.preds[i], flat, units.clusters, self.rows[i])
        self.rows[i] = units.about_means(self.rows[i])
        self.error[i] = math.sqrt(self.rows[i] @ self.rows[i])


def read_models(
    samples: Counted, units: MetricUnits, method: str, level: float, pool: ThreadPool
) -> MetricModels:
    """Count each model, and find its metric, interval and influences."""
    _check_memory(samples, units)
    samples.check()
    reading = _Reading(samples, units, method, level)
    if reading.small:
        # To hand over a task takes as long as to count a hundred thousand samples.
        several = parts(samples.n_models, -(-samples.n_models // (8 * pool.threads)))
        pool.run(reading.count, several, steps=no_step)
    # Small tables are Python's work, which threads would only pass to each other.
    here = reading.small and units.clusters is None
    pool.run(reading.read, reading.spans, steps=no_step, here=here)
    return MetricModels(
        value=reading.value,
        standard_error=reading.error,
        interval=reading.interval,
        interval_methods=tuple(sorted(reading.interval_methods - {""})),
        tables=reading.tables,
        lookups=reading.lookups,
        rows=reading.rows,
        averaged=reading.averaged,
        without=reading.without,
        sizes=reading.sizes,
    )


def _check_memory(samples: Counted, units: MetricUnits) -> None:
    """Refuse more models, classes or clusters than memory holds."""
    m, wide = samples.n_models, float(samples.n_samples)
    if not samples.many_classes:
        wide = float(samples.n_codes) ** 2 * (1 + 2 * samples.weights.size)
    if units.clusters is not None:
        wide += units.n_clusters
    check_memory(
        8.0 * m * (wide + m),
        None,
        f"the influences of {m} models on {samples.n_samples} samples",
        "compare fewer models, or pass pairs=",
    )
