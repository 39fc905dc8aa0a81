"""Each model by a metric of counts: its value, interval, and influences of samples."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fastcmp.core.memory import check_memory
from fastcmp.core.threads import no_step
from fastcmp.kernels.cluster_means import t_quantile
from fastcmp.kernels.metric_pairs import add_influences, gather_influences
from fastcmp.metrics.intervals import estimate_table, limits_on
from fastcmp.pairwise.metric_samples import MetricSamples

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fastcmp.core.threads import ThreadPool
    from fastcmp.metrics.estimators import Estimator
    from fastcmp.pairwise.metric_samples import Counted
    from fastcmp.pairwise.metric_units import MetricUnits

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]
    Flags = NDArray[np.bool_]


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
    """Models as they are read, by several threads."""

    def __init__(
        self, samples: Counted, units: MetricUnits, method: str, level: float
    ) -> None:
        self.samples, self.units, self.level = samples, units, level
        self.quantile = t_quantile(units.df, level)
        self.jackknife = method != "delta" and units.clusters is None
        factors = units.factors(corrected=self.jackknife)
        self.factors = np.sqrt(factors)[:, np.newaxis, np.newaxis]
        self.estimator = samples.metric.estimator
        m, k = samples.n_models, samples.metric.codes.size
        n, h = samples.n_samples, samples.weights.size
        self.small = not samples.many_classes
        self.value, self.error = np.empty((2, m))
        self.interval = np.empty((m, 2))
        self.interval_methods: set[str] = set()
        self.averaged, self.without = np.zeros((2, m, k), np.bool_)
        self.sizes = np.zeros(k)
        self.tables = np.empty((m, k, k)) if self.small else None
        shape = (m, h, samples.n_codes, samples.n_codes)
        self.counted = np.empty(shape, np.int64) if self.small else None
        self.lookups = self.rows = None
        if units.clusters is not None:
            self.rows = np.zeros((m, units.n_clusters))
        elif self.small:
            self.lookups = np.empty((m, h * samples.n_codes, samples.n_codes))
        else:
            self.rows = np.empty((m, n))

    def count(self, i: int) -> None:
        """Count a model."""
        assert self.counted is not None
        self.counted[i] = self.samples.counts(i)

    def read(self, i: int) -> None:
        """Find out all about a model."""
        counts = self.samples.counts(i) if self.counted is None else self.counted[i]
        table = self.samples.table(counts)
        self.value[i] = self.estimator.value(table)
        if i == 0:
            self.sizes = self.samples.metric.table(counts.sum(axis=0)).sum(axis=1)
        for flags, found in (
            (self.averaged, self.estimator.averaged(table)),
            (self.without, self.estimator.without_samples(table)),
        ):
            flags[i] = False if found is None else found
        if self.tables is not None:
            self.tables[i] = table
        lookup = np.full((1, 1, 1), np.nan)
        if not math.isnan(self.value[i]):
            lookup = self._lookup(table, counts)
        if self.units.clusters is None:
            self._keep(i, lookup, counts)
        else:
            self._add_up(i, lookup)
        self.interval[i] = self._interval(i, table)

    def _interval(self, i: int, table: Floats) -> tuple[float, float]:
        """Give the interval of a model alone."""
        if not self.units.stratified and self.units.clusters is None:
            found = estimate_table(self.estimator, table, self.level)
            self.interval_methods.add(found.method)
            return found.low, found.high
        scale, value = self.estimator.scale, float(self.value[i])
        return limits_on(scale, value, float(self.error[i]), self.quantile)

    def _lookup(self, table: Floats, counts: Ints) -> Floats:
        """Look up what a sample adds to the metric, to first order, (H, K', K')."""
        samples, weights = self.samples, self.samples.weights
        if not self.jackknife:
            own = self.estimator.influence(table)[np.newaxis]
        else:
            each = weights[weights > 0] if samples.weighted else weights[:1]
            own = np.zeros((*weights.shape, *table.shape))
            own[weights > 0] = np.stack(
                [jackknife_influence(self.estimator, table, x) for x in each.tolist()]
            )
        scaled = own * (weights / table.sum())[:, np.newaxis, np.newaxis]
        lookup = samples.metric.lookup(scaled, samples.n_codes)
        if self.units.centred:
            sizes = self.units.sizes[:, np.newaxis, np.newaxis]
            lookup -= (counts * lookup).sum(axis=(1, 2), keepdims=True) / sizes
        return lookup

    def _keep(self, i: int, lookup: Floats, counts: Ints) -> None:
        """Keep the influences of samples that are units by themselves."""
        lookup = lookup * self.factors
        self.error[i] = math.sqrt((counts * lookup**2).sum())
        if self.lookups is not None:
            self.lookups[i] = lookup.reshape(-1, lookup.shape[-1])
            return
        assert self.rows is not None
        if math.isnan(self.error[i]):
            self.rows[i] = 0.0
            return
        flat, own = lookup.reshape(-1, lookup.shape[-1]), self.samples
        assert isinstance(own, MetricSamples)
        rows, pred = own.rows, own.preds[i]
        gather_influences(rows, pred, flat, np.zeros(rows.size), self.rows[i])

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


def jackknife_influence(
    estimator: Estimator, table: Floats, weight: float = 1.0
) -> Floats:
    """Compute how each cell moves a metric, from the metric without a sample of it.

    ``(n - 1) (mean - without)``: the sum of squares over samples, divided by n (n - 1),
    is the jackknife variance. NaN in cells without which the metric is not defined.
    `weight` is what a sample counts; cells that weigh less are 0.
    """
    # The metric does not change where all counts are divided by one number.
    scaled = table / weight
    n, cells = float(scaled.sum()), scaled >= 1.0
    left, samples = estimator.leave_one_out(scaled)[cells], scaled[cells]
    middle = (samples @ left) / samples.sum()
    influence = np.zeros(table.shape)
    influence[cells] = (n - 1.0) * (middle - left)
    return influence


def read_models(
    samples: Counted,
    units: MetricUnits,
    method: str,
    level: float,
    pool: ThreadPool,
) -> MetricModels:
    """Count each model, and find its metric, interval and influences."""
    _check_memory(samples, units)
    samples.check()
    reading = _Reading(samples, units, method, level)
    models = range(samples.n_models)
    if reading.small:
        pool.run(reading.count, models, steps=no_step)
    # Small tables are Python's work, which threads would only pass to each other.
    here = reading.small and units.clusters is None
    pool.run(reading.read, models, steps=no_step, here=here)
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
    """Refuse more models, classes or clusters than there is room for."""
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
