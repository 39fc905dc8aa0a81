"""Each model by a metric of counts: its value, interval, and influences of samples."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastcmp import kernels
from fastcmp.core.threads import ThreadPool, check_memory, no_step, parts
from fastcmp.inputs.labels import Labels, code_type, in_order, sorted_codes
from fastcmp.kernels.cluster_means import t_quantile
from fastcmp.kernels.metric_slopes import (
    add_influences,
    gather_influences,
    mark_codes,
    table_starts,
)
from fastcmp.metrics.cells import check_classes_fit
from fastcmp.metrics.estimators import Estimator
from fastcmp.metrics.intervals import estimate_table, jackknife_influences, limits_on

if TYPE_CHECKING:
    from fastcmp.metrics.choice import Metric
    from fastcmp.pairwise.metric_tests import MetricUnits

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]

_FEW_CELLS = 1 << 12  # of the tables of a model, whatever the samples
_MARKS = 1 << 24  # codes up to which those in use are marked, not sorted


class MetricClasses(NamedTuple):
    """A metric bound to the classes of some data."""

    estimator: Estimator
    #: In the order of the metric, those first that it lists.
    classes: tuple[Any, ...]
    #: Code of each class in the data, shape (K,); -1 where none has it. The last may be
    #: of predictions that are none of the classes.
    codes: Ints

    @property
    def in_order(self) -> bool:
        """Whether codes are in the order of the metric."""
        return bool((self.codes == np.arange(self.codes.size)).all())

    def table(self, counts: NDArray[Any]) -> Floats:
        """Order counts ``[..., t, p]`` by codes as the metric wants them."""
        if self.in_order and counts.shape[-1] == self.codes.size:
            return counts.astype(np.float64)
        known = np.flatnonzero(self.codes >= 0)
        own = self.codes[known]
        table = np.zeros((*counts.shape[:-2], self.codes.size, self.codes.size))
        table[..., known[:, np.newaxis], known] = counts[..., own[:, np.newaxis], own]
        return table

    def lookup(self, influences: Floats, n_codes: int) -> Floats:
        """Order influences ``[..., t, p]`` of the metric by codes."""
        if self.in_order and n_codes == self.codes.size:
            return influences
        known = np.flatnonzero(self.codes >= 0)
        own = self.codes[known]
        found = np.zeros((*influences.shape[:-2], n_codes, n_codes))
        found[..., own[:, np.newaxis], own] = influences[..., known[:, np.newaxis], known]
        return found


def bind(
    metric: Metric, found: Sequence[Any], codes: Sequence[int], others: int | None
) -> MetricClasses:
    """Bind a metric to the classes that were found, with their codes.

    `others` is the code of predictions that are none of them, where there are any.
    """
    classes = metric.classes_of(tuple(found))
    check_classes_fit(len(classes))
    known = dict(zip(found, codes, strict=True))
    made = metric.bind(classes)
    if len(made) > 1 or metric.average is None:
        raise ValueError(
            f"metric must be one number to compare models by, got {metric.full_name!r} "
            "of each class: pass an average, or labels= and positive="
        )
    estimator, of_class = made[0], [known.get(label, -1) for label in classes]
    if others is not None:
        estimator = estimator.with_others()
        of_class.append(others)
    return MetricClasses(estimator, classes, np.array(of_class, np.int64))


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted(ABC):
    """Samples of M models that are counted by true and predicted code, below K'."""

    metric: MetricClasses
    n_codes: int
    n_models: int
    n_samples: int
    #: What a sample of each stratum counts, of mean 1 over samples, shape (H,).
    weights: Floats

    @abstractmethod
    def counts(self, i: int) -> Ints:
        """Count the samples of a model, ``[stratum, true, predicted]``."""

    @property
    def many_classes(self) -> bool:
        """Whether tables would take more than the samples."""
        return False

    def table(self, counts: Ints) -> Floats:
        """Make tables of a metric of counts ``[..., stratum, true, predicted]``."""
        if self.weighted:
            weights = self.weights[:, np.newaxis, np.newaxis]
            return self.metric.table((weights * counts).sum(axis=-3))
        return self.metric.table(counts.sum(axis=-3))

    @property
    def weighted(self) -> bool:
        """Whether samples of strata count differently."""
        return bool(np.ptp(self.weights) > 0)

    def check(self) -> None:
        """Refuse a user's metric that is no function of the counts."""
        self.metric.estimator.check(self.table(self.counts(0)))


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricSamples(Counted):
    """Codes of all samples."""

    #: Row of the tables of each sample: its true class, or stratum and class.
    rows: NDArray[Any]
    preds: tuple[NDArray[Any], ...]

    @property
    def many_classes(self) -> bool:
        """Whether tables would take more than the samples."""
        cells = self.n_codes**2 * self.weights.size
        return cells > max(self.n_samples, _FEW_CELLS)

    def counts(self, i: int) -> Ints:
        """Count the samples of a model, ``[stratum, true, predicted]``."""
        k, h = self.n_codes, self.weights.size
        counts = np.zeros((h * k, k), np.int64)
        kernels.count_agreement(self.rows, self.preds[i], counts)
        return counts.reshape(h, k, k)


def metric_samples(
    labels: Labels, metric: Metric, classes: Sequence[Any] | None, pool: ThreadPool
) -> MetricSamples:
    """Bind a metric to labels; classes that never occur are left out."""
    labels, others = compact(labels, pool, keep=classes is not None)
    n_classes = len(labels.classes)
    codes = list(range(n_classes))
    if classes is None:
        codes = sorted_codes(labels.classes, np.arange(n_classes))
    found = [labels.classes[code] for code in codes]
    return MetricSamples(
        metric=bind(metric, found, codes, n_classes if others else None),
        n_codes=labels.n_codes,
        n_models=len(labels.preds),
        n_samples=labels.n_samples,
        weights=np.ones(1),
        rows=labels.y_true,
        preds=labels.preds,
    )


def compact(labels: Labels, pool: ThreadPool, *, keep: bool) -> tuple[Labels, bool]:
    """Leave out codes that no sample has; all classes stay with `keep`.

    Tells as well whether some predictions are none of the classes: they have the last
    code.
    """
    n_classes = len(labels.classes)
    if n_classes > _MARKS:
        return in_order(labels), False
    used = _used(labels, pool)
    others = bool(used[-1] == n_classes)
    known = np.arange(n_classes) if keep else used[used < n_classes]
    n_codes = known.size + others
    check_memory(
        8.0 * n_codes**2,
        None,
        f"a confusion matrix of {n_codes} classes",
        "a metric of so many classes is not worked out from counts",
    )
    names = [labels.classes[code] for code in known.tolist()]
    as_they_are = replace(labels, classes=names, n_codes=n_codes)
    if known.size == n_classes or (not others and known[-1] == known.size - 1):
        return as_they_are, others
    place = np.zeros(n_classes + 1, code_type(n_codes))
    place[known], place[-1] = np.arange(known.size), n_codes - 1
    columns = (labels.y_true, *labels.preds)
    moved: list[Any] = [None] * len(columns)

    def move(i: int) -> None:
        moved[i] = place[columns[i]]

    pool.run(move, range(len(columns)), steps=no_step)
    y_true, *preds = moved
    return replace(as_they_are, y_true=y_true, preds=tuple(preds)), others


def _used(labels: Labels, pool: ThreadPool) -> Ints:
    """List the codes that occur, ascending."""
    columns = (labels.y_true, *labels.preds)
    groups = parts(len(columns), -(-len(columns) // pool.threads))
    marks = np.zeros((len(groups), len(labels.classes) + 1), np.uint8)

    def mark(group: int) -> None:
        for column in columns[groups[group]]:
            mark_codes(column, marks[group])

    pool.run(mark, range(len(groups)), steps=no_step)
    return np.flatnonzero(marks.any(axis=0))


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
        """The interval of a model alone."""
        scale, value = self.estimator.entry.scale, float(self.value[i])
        error = float(self.error[i])
        if self.units.stratified or self.units.clusters is not None:
            return limits_on(scale, value, error, self.quantile)
        by = "delta" if scale == "log" else "jackknife"
        inside = self.estimator.entry.limits[0] < value < self.estimator.entry.limits[1]
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
        of = self.estimator.proportions(np.ones((self.estimator.n_classes,) * 2))
        return of is None or not of.are_independent

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
