"""Many models by a metric of counts, one by one: values, intervals, influences of samples."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastcmp import kernels
from fastcmp.core.errors import BadValueError
from fastcmp.core.records import LabelledCounts
from fastcmp.core.threads import ThreadPool, check_memory, parts
from fastcmp.core.typing import Classes, Flags, Floats, Ints, Pairs
from fastcmp.counts.label_counts import count_cells
from fastcmp.counts.pairs import Block, places_of
from fastcmp.inputs.item_groups import ItemGroups
from fastcmp.inputs.labels import Labels, code_type, in_order, sorted_codes
from fastcmp.kernels.cluster_means import t_quantile
from fastcmp.kernels.metric_slopes import (
    add_influences,
    gather_influences,
    mark_codes,
    table_starts,
)
from fastcmp.metrics.cells import Cells, ClusterCells, check_classes_fit, gather_cells
from fastcmp.metrics.choice import Metric
from fastcmp.metrics.estimators import Estimator
from fastcmp.metrics.intervals import estimate_tables, limits_on
from fastcmp.paired.mcnemar_counts import per_sample
from fastcmp.pairwise.slice_sums import Items, Part, SliceSums

_FEW_CELLS = 1 << 12  # of the tables of a model, whatever the samples
_FEW_CLASSES = 64  # whose cells are counted in a table, not sorted
_MARKS = 1 << 24  # codes up to which those in use are marked, not sorted


class MetricClasses(NamedTuple):
    """A metric bound to the classes of some data."""

    estimator: Estimator
    #: In the order of the metric, those first that it lists.
    classes: tuple[Any, ...]
    #: Code of each class in the data, shape (K,); -1 where none has it. The last may be
    #: of predictions that are none of the classes.
    codes: Ints
    #: Whether codes are in the order of the metric, and there are no others.
    in_order: bool

    def table(self, counts: NDArray[Any]) -> Floats:
        """Counts ``[..., t, p]`` by codes, in the metric's order of classes."""
        if self.in_order:
            return counts.astype(np.float64)
        present = np.flatnonzero(self.codes >= 0)
        codes = self.codes[present]
        table = np.zeros((*counts.shape[:-2], self.codes.size, self.codes.size))
        table[..., present[:, np.newaxis], present] = counts[..., codes[:, np.newaxis], codes]
        return table

    def lookup(self, influences: Floats, n_codes: int) -> Floats:
        """Influences ``[..., t, p]`` of the metric, in the order of codes."""
        if self.in_order:
            return influences
        present = np.flatnonzero(self.codes >= 0)
        codes = self.codes[present]
        ordered = np.zeros((*influences.shape[:-2], n_codes, n_codes))
        ordered[..., codes[:, np.newaxis], codes] = influences[..., present[:, np.newaxis], present]
        return ordered


def _bound(
    metric: Metric,
    data_classes: Sequence[Any],
    codes: Sequence[int],
    n_codes: int,
    others: int | None,
) -> MetricClasses:
    """A metric with the classes of the data and their codes.

    `others` is the code of predictions outside these classes, where there are any.
    """
    classes = metric.classes_of(tuple(data_classes))
    check_classes_fit(len(classes))
    code_of = dict(zip(data_classes, codes, strict=True))
    estimators = metric.bind(classes)
    if len(estimators) > 1 or metric.average is None:
        raise BadValueError(
            "`metric` must be one number to compare models by",
            f"{metric.full_name!r} of each class",
            ": pass an average, or `labels=` and `positive=`",
        )
    estimator, of_class = estimators[0], [code_of.get(label, -1) for label in classes]
    if others is not None:
        estimator = estimator.with_others()
        of_class.append(others)
    in_order = of_class == list(range(n_codes))
    return MetricClasses(estimator, classes, np.array(of_class, np.int64), in_order)


class MetricUnits(NamedTuple):
    """What samples are drawn as, for the variance of a metric of counts."""

    #: Cluster of each sample; None where each is its own.
    clusters: Ints | None
    n_clusters: int
    #: Samples of each stratum, shape (H,).
    sizes: Ints
    #: Stratum of each cluster; None for one stratum, or where they lie across strata.
    of_cluster: Ints | None = None
    #: Whether there are strata.
    stratified: bool = False

    @property
    def df(self) -> float:
        """Degrees of freedom: clusters less strata; infinite for single samples."""
        if self.clusters is None:
            return np.inf
        strata = 1 if self.of_cluster is None else self.sizes.size
        return float(self.n_clusters - strata)

    def factors(self, *, corrected: bool) -> Floats:
        """What squares count in each stratum: u / (u - 1) of u units."""
        if self.clusters is None:
            sizes = self.sizes if corrected else None
        elif self.of_cluster is None:
            sizes = np.array([self.n_clusters])
        else:
            sizes = np.bincount(self.of_cluster)
        if sizes is None:
            return np.ones(self.sizes.size)
        return np.asarray(sizes / np.maximum(sizes - 1.0, 1.0))

    def about_means(self, sums: Floats) -> Floats:
        """Sums of clusters less the mean of their stratum, scaled by factors.

        The squares then add up to the variance; `sums` has the shape (C,).
        """
        root = np.sqrt(self.factors(corrected=True))
        if self.of_cluster is None:
            return np.asarray(sums * root[0])
        means = np.bincount(self.of_cluster, sums) / np.bincount(self.of_cluster)
        deviations: Floats = (sums - means[self.of_cluster]) * root[self.of_cluster]
        return deviations


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted(ABC):
    """Samples of M models that are counted by true and predicted code, below K'."""

    metric: MetricClasses
    n_codes: int
    n_models: int
    n_samples: int
    units: MetricUnits
    #: What a sample of each stratum counts, of mean 1 over samples, shape (H,).
    weights: Floats

    @abstractmethod
    def counts(self, models: Sequence[int]) -> Ints:
        """Count the samples of some models, ``[model, stratum, true, predicted]``."""

    @abstractmethod
    def cells(self, i: int, j: int) -> Cells:
        """The cells of two models in the order of the metric, with clusters those of each."""

    @property
    def many_classes(self) -> bool:
        """Whether tables would take more than the samples."""
        return False

    def table(self, counts: Ints) -> Floats:
        """Tables of a metric from counts ``[..., stratum, true, predicted]``."""
        if self.weighted:
            weights = self.weights[:, np.newaxis, np.newaxis]
            return self.metric.table((weights * counts).sum(axis=-3))
        return self.metric.table(counts.sum(axis=-3))

    @property
    def weighted(self) -> bool:
        """Whether samples of strata count differently."""
        return bool(np.ptp(self.weights) > 0)

    @property
    def place(self) -> Ints:
        """The place in the metric of each code."""
        codes = self.metric.codes
        place = np.zeros(self.n_codes, np.int64)
        place[codes[codes >= 0]] = np.flatnonzero(codes >= 0)
        return place


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

    def counts(self, models: Sequence[int]) -> Ints:
        """Count the samples of some models, ``[model, stratum, true, predicted]``."""
        k, h = self.n_codes, self.weights.size
        counts = np.zeros((len(models), h * k, k), np.int64)
        for i, table in zip(models, counts, strict=True):
            kernels.count_agreement(self.rows, self.preds[i], table)
        return counts.reshape(-1, h, k, k)

    def cells(self, i: int, j: int) -> Cells:
        """The cells of two models in the order of the metric, with clusters those of each."""
        place, k, units = self.place, self.metric.codes.size, self.units
        columns = self.rows, self.preds[i], self.preds[j]
        if self.weights.size == 1 and units.clusters is None:
            if self.n_codes <= _FEW_CLASSES:
                tensor = np.zeros((self.n_codes,) * 3, np.int64)
                kernels.count_labels(*columns, tensor)
                codes = np.argwhere(tensor)
                return gather_cells(place[codes], tensor[tuple(codes.T)], k)
            codes, counts = count_cells(columns, self.n_codes)
            return gather_cells(place[codes], counts, k)
        clusters = units.clusters
        if clusters is None:
            clusters = np.zeros(self.n_samples, np.int64)
        n = max(units.n_clusters, self.n_codes * self.weights.size)
        codes, counts = count_cells([clusters, *columns], n)
        if self.weights.size == 1:
            return gather_cells(place[codes[:, 1:]], counts, k, codes[:, 0])
        # Cells of each stratum, whose samples have a weight.
        stratum, codes[:, 1] = np.divmod(codes[:, 1], self.n_codes)
        weights = self.weights[stratum]
        starts = np.flatnonzero(np.diff(codes[:, 0], prepend=-1, append=-1))
        of_clusters = ClusterCells(starts, np.arange(counts.size), counts)
        cells = Cells(place[codes[:, 1:]], weights * counts, k, of_clusters, weights**2 * counts)
        return cells if units.clusters is not None else cells._replace(clusters=None)


def metric_samples(
    labels: Labels,
    metric: Metric,
    classes: Classes | None,
    pool: ThreadPool,
    groups: ItemGroups | None = None,
) -> MetricSamples:
    """Labels with a metric; classes that never occur are left out unless they are named."""
    labels, others = _compact(labels, pool, keep=classes is not None)
    n_classes, n, n_codes = len(labels.classes), labels.n_samples, labels.n_codes
    codes = list(range(n_classes))
    if classes is None:
        codes = sorted_codes(labels.classes, np.arange(n_classes))
    data_classes = [labels.classes[code] for code in codes]
    samples = MetricSamples(
        metric=_bound(metric, data_classes, codes, n_codes, n_classes if others else None),
        n_codes=n_codes,
        n_models=len(labels.preds),
        n_samples=n,
        units=MetricUnits(None, 0, np.array([n])),
        weights=np.ones(1),
        rows=labels.y_true,
        preds=labels.preds,
    )
    if groups is None:
        return samples
    strata, sizes, of_cluster = groups.strata, np.array([n]), None
    if strata is not None:  # rows of the tables are then strata and classes
        sizes = np.bincount(strata.codes)
        weights = per_sample(groups.stratum_weights, sizes)
        rows = strata.codes * n_codes + samples.rows
        samples = replace(
            samples,
            rows=rows.astype(code_type(sizes.size * n_codes)),
            weights=np.ones(sizes.size) if weights is None else weights * n,
        )
    units = MetricUnits(None, 0, sizes, None, strata is not None)
    if (clusters := groups.clusters) is not None:
        n_clusters = len(clusters.labels)
        if strata is not None and not groups.crossed:
            of_cluster = np.zeros(n_clusters, np.int64)
            of_cluster[clusters.codes] = strata.codes
        units = MetricUnits(clusters.codes, n_clusters, sizes, of_cluster, strata is not None)
    return replace(samples, units=units)


def _compact(labels: Labels, pool: ThreadPool, *, keep: bool) -> tuple[Labels, bool]:
    """Leave out codes that no sample has; all classes stay with `keep`.

    And whether some predictions are outside the classes: they have the last
    code.
    """
    n_classes, columns = len(labels.classes), (labels.y_true, *labels.preds)
    if n_classes > _MARKS:
        return in_order(labels), False
    groups = parts(len(columns), -(-len(columns) // pool.threads))
    marks = np.zeros((len(groups), n_classes + 1), np.uint8)

    def mark(group: int) -> None:
        for column in columns[groups[group]]:
            mark_codes(column, marks[group])

    pool.run(mark, range(len(groups)), steps=0)
    used = np.flatnonzero(marks.any(axis=0))
    others = bool(used[-1] == n_classes)
    kept = np.arange(n_classes) if keep else used[used < n_classes]
    n_codes = kept.size + others
    check_memory(
        8.0 * n_codes**2,
        None,
        f"a confusion matrix of {n_codes} classes",
        "a metric of so many classes is not worked out from counts",
    )
    names = [labels.classes[code] for code in kept.tolist()]
    as_they_are = replace(labels, classes=names, n_codes=n_codes)
    if kept.size == n_classes or (not others and kept[-1] == kept.size - 1):
        return as_they_are, others
    place = np.zeros(n_classes + 1, code_type(n_codes))
    place[kept], place[-1] = np.arange(kept.size), n_codes - 1
    moved: list[Any] = [None] * len(columns)

    def move(i: int) -> None:
        moved[i] = place[columns[i]]

    pool.run(move, range(len(columns)), steps=0)
    y_true, *preds = moved
    return replace(as_they_are, y_true=y_true, preds=tuple(preds)), others


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricCounts(Counted):
    """Samples of each two models by true class and both predictions."""

    source: LabelledCounts

    def counts(self, models: Sequence[int]) -> Ints:
        """Count the samples of some models, ``[model, stratum, true, predicted]``."""
        tables = np.zeros((len(models), 1, self.n_codes, self.n_codes), np.int64)
        for i, table in zip(models, tables, strict=True):
            # Each model is the first or the second of some pair.
            codes, samples = self.codes(i, 1 if i == 0 else 0)
            np.add.at(table[0], (codes[:, 0], codes[:, 1]), samples)
        return tables

    def codes(self, i: int, j: int) -> tuple[Ints, Ints]:
        """The cells of two models: codes (C, 3) in order, and samples."""
        pair = np.array([(min(i, j), max(i, j))])
        codes, samples = self.source.cells(int(places_of(pair, self.n_models)[0]))
        return (codes if i < j else codes[:, [0, 2, 1]]), samples

    def cells(self, i: int, j: int) -> Cells:
        """The cells of two models in the order of the metric."""
        codes, samples = self.codes(i, j)
        return gather_cells(self.place[codes], samples, self.metric.codes.size)

    def tensors(self, block: Block) -> Ints:
        """All cells of the pairs of a block, ``[p, t, a, b]``."""
        places = places_of(np.sort(block.pairs, axis=1), self.n_models)
        tensors: Ints = self.source.counts[places]
        turned = block.pairs[:, 0] > block.pairs[:, 1]
        tensors[turned] = tensors[turned].transpose(0, 1, 3, 2)
        return tensors


def metric_counts(counts: LabelledCounts, metric: Metric) -> MetricCounts:
    """Counts of a stream with a metric of its classes."""
    data_classes = tuple(counts.classes)
    k, n = len(data_classes), counts.n_samples
    return MetricCounts(
        metric=_bound(metric, data_classes, range(k), k, None),
        n_codes=k,
        n_models=len(counts.names or ()),
        n_samples=n,
        units=MetricUnits(None, 0, np.array([n])),
        weights=np.ones(1),
        source=counts,
    )


_CELLS = 1 << 18  # cells of tables that are worked out together


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricModels:
    """M models, one by one."""

    #: The metric of each, NaN where it is not defined, shape (M,).
    value: Floats
    #: Shape (M,), and the interval, (M, 2).
    standard_error: Floats
    interval: Floats
    #: How intervals were made.
    interval_methods: set[str]
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
    def is_known(self) -> Flags:
        """Which models have a value and a standard error."""
        return np.isfinite(self.value) & np.isfinite(self.standard_error)


def read_models(samples: Counted, method: str, level: float, pool: ThreadPool) -> MetricModels:
    """Count each model, and find its metric, interval and influences."""
    metric, units, estimator = samples.metric, samples.units, samples.metric.estimator
    m, n, k, codes = samples.n_models, samples.n_samples, metric.codes.size, samples.n_codes
    h, small, clusters = samples.weights.size, not samples.many_classes, units.clusters
    wide = float(codes) ** 2 * (1 + 2 * h) if small else float(n)
    check_memory(
        8.0 * m * (wide + units.n_clusters + m),
        None,
        f"the influences of {m} models on {n} samples",
        "compare fewer models, or pass `pairs=`",
    )
    counted = np.empty((m, h, codes, codes), np.int64) if small else None

    def count(span: slice) -> None:
        assert counted is not None
        counted[span] = samples.counts(range(span.start, span.stop))

    if small:
        # To hand over a task takes as long as to count a hundred thousand samples.
        size = -(-m // (8 * pool.threads)) if pool.threads > 1 else m
        pool.run(count, parts(m, size), steps=0)
    first = samples.counts([0])[0] if counted is None else counted[0]
    estimator.check(samples.table(first))
    jackknife = method != "delta" and clusters is None
    models = MetricModels(
        value=np.empty(m),
        standard_error=np.empty(m),
        interval=np.empty((m, 2)),
        interval_methods=set(),
        tables=np.empty((m, k, k)) if small else None,
        lookups=np.empty((m, h * codes, codes)) if small and clusters is None else None,
        rows=np.zeros((m, units.n_clusters)) if clusters is not None else None,
        averaged=np.zeros((m, k), np.bool_),
        without=np.zeros((m, k), np.bool_),
        sizes=metric.table(first.sum(axis=0)).sum(axis=1),
    )
    if not small and clusters is None:
        models = replace(models, rows=np.zeros((m, n)))
    factors = np.sqrt(units.factors(corrected=jackknife))[:, np.newaxis, np.newaxis]
    scale, quantile = estimator.entry.scale, t_quantile(units.df, level)
    as_shown = jackknife == (scale != "log")

    def influences(tables: Floats, counts: Ints) -> Floats:
        """What samples add to the metric, to first order, (b, H, K', K')."""
        if jackknife:
            weights = samples.weights if samples.weighted else samples.weights[:1]
            by_stratum = [
                estimator.jackknife_influences(tables, x or 1.0) for x in weights.tolist()
            ]
            psi = np.stack(by_stratum, axis=1)
        else:
            psi = estimator.influences(tables)[:, np.newaxis]
        total = tables.sum(axis=(1, 2))[:, np.newaxis, np.newaxis, np.newaxis]
        lookups = metric.lookup(psi * samples.weights[:, np.newaxis, np.newaxis] / total, codes)
        if units.stratified and units.of_cluster is None:  # about the mean of each stratum
            sizes = units.sizes[:, np.newaxis, np.newaxis]
            lookups -= (counts * lookups).sum(axis=(2, 3), keepdims=True) / sizes
        return lookups

    def intervals(values: Floats, errors: Floats, tables: Floats) -> list[tuple[float, float]]:
        """The intervals of models alone."""
        pairs = list(zip(values.tolist(), errors.tolist(), strict=True))
        if units.stratified or clusters is not None:
            return [limits_on(scale, value, error, quantile) for value, error in pairs]
        errors_shown = errors if as_shown else None
        estimates = estimate_tables(estimator, tables, level, errors=errors_shown)
        models.interval_methods.update(one.method for one in estimates)
        return [(one.low, one.high) for one in estimates]

    def read(span: slice) -> None:
        start = span.start
        counts = samples.counts([start]) if counted is None else counted[span]
        tables = samples.table(counts)
        values = models.value[span] = estimator.values(tables)
        if models.tables is not None:
            models.tables[span] = tables
        lookups = influences(tables, counts)
        lookups[np.isnan(values)] = np.nan
        for flags, marks in (
            (models.averaged, estimator.averaged(tables)),
            (models.without, estimator.without_samples(tables)),
        ):
            if marks is not None:
                flags[span] = marks
        flat = lookups.reshape(len(lookups), -1, codes)
        if clusters is None:  # samples are units by themselves
            lookups *= factors
            errors = np.sqrt((counts * lookups**2).sum(axis=(1, 2, 3)))
        else:
            errors = np.array([add_up(start + i, lookup) for i, lookup in enumerate(flat)])
        if models.lookups is not None:
            models.lookups[span] = flat
        elif clusters is None and not np.isnan(errors[0]):
            assert isinstance(samples, MetricSamples)
            assert models.rows is not None
            starts = table_starts(samples.rows, codes)
            where = samples.preds[start], flat[0].ravel(), np.zeros(n), models.rows[start]
            gather_influences(starts, *where)
        models.standard_error[span] = errors
        models.interval[span] = intervals(values, errors, tables)

    def add_up(i: int, lookup: Floats) -> float:
        """Add the influences of samples up by cluster; the standard error."""
        assert isinstance(samples, MetricSamples)
        assert models.rows is not None
        if np.isnan(lookup).any():
            return np.nan
        assert clusters is not None
        add_influences(samples.rows, samples.preds[i], lookup, clusters, models.rows[i])
        models.rows[i] = units.about_means(models.rows[i])
        return float(np.sqrt(models.rows[i] @ models.rows[i]))

    size = max(1, _CELLS // codes**2) if small else 1
    # Small tables are Python's work, which threads would only pass to each other.
    pool.run(read, parts(m, size), steps=0, here=small and clusters is None)
    models.interval_methods.discard("")
    return models


class MetricSums(SliceSums):
    """A metric of the samples of each slice, and what each of these adds to it."""

    def __init__(self, items: Items, pairs: Pairs, samples: MetricSamples) -> None:
        """Keep codes of the samples, clusters one after the other."""
        super().__init__(items, pairs)
        self.counted, self.offset, self.common = False, 0.0 * self.offset, np.zeros(0)
        order = slice(None) if self.clusters is None else self.order
        k, m = samples.n_codes, samples.n_models
        check_memory(32.0 * m * k**2, None, f"tables of {k} classes", "compare fewer models")
        self._metric, self._codes_of = samples.metric, k
        rows = samples.rows.astype(np.int64)[order] * k
        self._cells = np.stack([rows + pred[order] for pred in samples.preds])

    def values_at(self, where: Ints) -> Floats:
        """Values whose mean is the metric, and whose deviations are its influences."""
        k, cells = self._codes_of, self._cells[:, where]
        counts = np.stack([np.bincount(row, minlength=k * k) for row in cells])
        tables = self._metric.table(counts.reshape(-1, k, k))
        estimator = self._metric.estimator
        influences = self._metric.lookup(estimator.influences(tables), k)
        values = estimator.values(tables)[:, None, None] + influences
        return np.take_along_axis(values.reshape(len(cells), -1), cells, axis=1).T

    def rest(self, whole: Part, inside: Part, mask: Flags) -> Part:  # noqa: ARG002
        """The samples outside a slice, whose metric does not follow from the others."""
        return self.of(~mask)
