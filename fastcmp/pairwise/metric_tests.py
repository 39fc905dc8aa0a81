"""Tests of a metric of counts for many pairs of models.

Bit slices count the cells of all pairs where classes are few, one matrix product has
the variances of many pairs, and some pairs are compared sample by sample.

A metric is a sum of influences to first order, so its variance is one of a sum of
samples or clusters, taken about the mean of their stratum.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastcmp import kernels
from fastcmp.core.checks import Draws
from fastcmp.core.threads import ThreadPool, no_step, parts
from fastcmp.counts.label_counts import count_cells
from fastcmp.counts.pair_tables import PairTables, slices_pay, slices_time
from fastcmp.counts.pairs import Block, PairColumns
from fastcmp.counts.value_sums import influence_gram
from fastcmp.inputs.item_groups import ItemGroups
from fastcmp.inputs.labels import code_type
from fastcmp.kernels.cluster_means import mean_t_many
from fastcmp.kernels.metric_slopes import compare_cells, compare_influences
from fastcmp.kernels.status import TWO_SIDED
from fastcmp.metrics.bootstrap import MANY_UNDEFINED, bootstrap_intervals
from fastcmp.metrics.cells import Cells, ClusterCells, gather_cells
from fastcmp.metrics.estimators import Estimator
from fastcmp.metrics.pairs import least_error, pair_of, pooled_z, without_variance
from fastcmp.metrics.permutation import is_exact, permutation_tests
from fastcmp.paired.mcnemar_counts import per_sample
from fastcmp.pairwise.engine import PairTests
from fastcmp.pairwise.model_estimates import RowDistances

if TYPE_CHECKING:
    from fastcmp.pairwise.metric_models import Counted, MetricModels, MetricSamples

Floats = NDArray[np.float64]
Test = Callable[[Block, Floats], tuple[Floats, Floats]]
Ints = NDArray[np.int64]
CellsOf = Callable[[int, int], Cells]
Flags = NDArray[np.bool_]

_SPAN = 1 << 16
_EQUAL = 4 * np.finfo(np.float64).eps  # of two values: rounding


class Differences:
    """Differences of pairs, and how they vary."""

    def __init__(
        self,
        models: MetricModels,
        estimator: Estimator,
        spread: Spread,
        df: float,
        exact: WithoutVariance,
    ) -> None:
        self._models, self._spread, self.df, self.exact = models, spread, df, exact
        self._least = least_error(float(models.sizes.sum()))
        self.side = spread.side
        low, high = estimator.entry.limits
        self.limits = low - high, high - low

    def of(self, block: Block) -> Floats:
        """Subtract values, shape (p,); what only rounding leaves is 0."""
        first, second = (self._models.value[model] for model in block.pairs.T)
        difference = first - second
        rounding = _EQUAL * (np.abs(first) + np.abs(second))
        difference[np.abs(difference) <= rounding] = 0.0
        return np.asarray(difference)

    def with_variance(self, block: Block) -> tuple[Floats, Floats]:
        """Differences and variances; NaN where a model has no standard error.

        The variance is 0 where all predictions are the same, and only there.
        """
        difference = self.of(block)
        variance, same = self._spread.of(block)
        known = self._models.known[block.pairs].all(axis=1)
        variance = np.where(known & (variance > self._least**2), variance, np.nan)
        same &= np.isfinite(difference)
        difference[same] = variance[same] = 0.0
        return difference, variance

    def z(self, block: Block, level: float) -> tuple[Floats, Floats, Floats]:
        """Test by z, or t with clusters: differences, variances, and (p, 5) answers."""
        difference, variance = self.with_variance(block)
        out = np.empty((difference.size, 5))
        options = (TWO_SIDED, level)
        mean_t_many(difference, variance, np.array([self.df]), options, out)
        return difference, variance, out

    def without_variance(self, block: Block, answers: tuple[Floats, Floats]) -> None:
        """Write statistics and p-values of pairs that differ and show no variance."""
        statistic, pvalue = answers
        difference = self.of(block)
        known = self._models.known[block.pairs].all(axis=1)
        for p in np.flatnonzero(np.isnan(pvalue) & known):
            if difference[p] == 0.0:
                statistic[p], pvalue[p] = 0.0, 1.0
            else:
                pvalue[p] = self.exact.pvalue(*block.pairs[p].tolist())


def metric_tests(
    models: MetricModels,
    differences: Differences,
    n_samples: int,
    level: float,
    test: Test | None = None,
    distribution: str = "normal",
) -> PairTests:
    """Test pairs by their differences and standard errors, or by another `test`.

    The intervals are those of the standard errors in any case.
    """

    def columns(block: Block) -> PairColumns:
        difference, variance, out = differences.z(block, level)
        statistic, pvalue, low, high, _ = out.T
        if test is not None:
            statistic, pvalue = test(block, difference)
        differences.without_variance(block, (statistic, pvalue))
        none = np.full(pvalue.size, -1)
        low, high = (np.clip(end, *differences.limits) for end in (low, high))
        error = np.sqrt(variance)
        return PairColumns(none, none, difference, low, high, statistic, pvalue, error)

    def pvalues(block: Block) -> Floats:
        statistic, pvalue = differences.z(block, 0.0)[2][:, :2].T.copy()
        if test is not None:
            statistic, pvalue = test(block, differences.of(block))
        differences.without_variance(block, (statistic, pvalue))
        return np.asarray(pvalue)

    def details(pairs: NDArray[np.int32], columns: PairColumns) -> dict[str, Any]:
        if columns.standard_error is not None:
            return {"standard_error": columns.standard_error}
        spans = [Block(part, pairs[part]) for part in parts(len(pairs), _SPAN)]
        errors = [np.sqrt(differences.with_variance(span)[1]) for span in spans]
        return {"standard_error": np.concatenate([np.empty(0), *errors])}

    normal = test is None and differences.df == np.inf
    own = "normal" if normal else "t"
    return PairTests(
        n_samples=n_samples,
        correct=None,
        score=models.value,
        score_interval=models.interval,
        distribution=own if test is None else distribution,
        df=None if normal or test is not None else differences.df,
        side=differences.side,
        pvalues=pvalues,
        columns=columns,
        details=details,
        with_errors=True,
        spread=lambda block: (*differences.with_variance(block), differences.df),
        limits=differences.limits,
    )


# Tests of a metric that look at the cells of each pair: pooled z, and random draws.


_FEW_CLASSES = 64  # whose cells are counted in a table, not sorted
_CELLS = 1 << 20  # cells of tables whose influences are worked out together


def pooled_test(samples: Counted, models: MetricModels, sums: PairSums) -> Test:
    """Test by z from the influences at the counts of both models."""
    estimator, k = samples.metric.estimator, samples.metric.codes.size

    def both(pairs: NDArray[np.int32]) -> Floats:
        """Add the tables of both models."""
        if models.tables is not None:
            i, j = pairs.T
            return np.asarray(models.tables[i] + models.tables[j])
        tables = [[samples.table(samples.counts(x)) for x in pair] for pair in pairs]
        return np.stack([a + b for a, b in tables])

    def test(block: Block, difference: Floats) -> tuple[Floats, Floats]:
        add, found = sums.of(block), [np.empty((0, 3))]
        for span in parts(len(block.pairs), max(1, _CELLS // k**2)):
            psi = estimator.influences(both(block.pairs[span]))
            found.append(add(span, samples.metric.lookup(psi, samples.n_codes)))
        differ, total, squares = np.concatenate(found).T
        return pooled_z(differ, total, squares, difference)

    return test


def places_of_classes(samples: Counted) -> Ints:
    """The place in the metric of each code."""
    codes = samples.metric.codes
    place = np.zeros(samples.n_codes, np.int64)
    place[codes[codes >= 0]] = np.flatnonzero(codes >= 0)
    return place


def cells_of_samples(samples: MetricSamples, units: MetricUnits) -> CellsOf:
    """Count the cells of a pair, with clusters those of each."""
    place, k = places_of_classes(samples), samples.metric.codes.size

    def cells(i: int, j: int) -> Cells:
        y_true, a, b = columns = samples.rows, samples.preds[i], samples.preds[j]
        if samples.weights.size > 1:
            return stratified(columns)
        if units.clusters is None and samples.n_codes <= _FEW_CLASSES:
            tensor = np.zeros((samples.n_codes,) * 3, np.int64)
            kernels.count_labels(y_true, a, b, tensor)
            codes = np.argwhere(tensor)
            return gather_cells(place[codes], tensor[tuple(codes.T)], k)
        if units.clusters is None:
            codes, counts = count_cells(columns, samples.n_codes)
            return gather_cells(place[codes], counts, k)
        n = max(units.n_clusters, samples.n_codes)
        codes, counts = count_cells([units.clusters, *columns], n)
        return gather_cells(place[codes[:, 1:]], counts, k, codes[:, 0])

    def stratified(columns: Sequence[NDArray[Any]]) -> Cells:
        """Count the cells of each stratum, whose samples have a weight."""
        alone = np.zeros(samples.n_samples, np.int64)
        clusters = alone if units.clusters is None else units.clusters
        n = max(units.n_clusters, samples.n_codes * samples.weights.size)
        codes, counts = count_cells([clusters, *columns], n)
        stratum, codes[:, 1] = np.divmod(codes[:, 1], samples.n_codes)
        weights = samples.weights[stratum]
        starts = np.flatnonzero(np.diff(codes[:, 0], prepend=-1, append=-1))
        own = ClusterCells(starts, np.arange(counts.size), counts)
        return Cells(
            place[codes[:, 1:]],
            weights * counts,
            k,
            None if units.clusters is None else own,
            weights**2 * counts,
        )

    return cells


def permutation_test(estimator: Estimator, cells: CellsOf, draws: Draws) -> Test:
    """Exchange the predictions of both models, exactly where that can be done."""

    def test(block: Block, difference: Floats) -> tuple[Floats, Floats]:
        pvalues = np.full(difference.size, np.nan)
        for p, (i, j) in enumerate(block.pairs.tolist()):
            if not np.isnan(difference[p]):
                own = cells(i, j)
                (found,) = permutation_tests(
                    [estimator],
                    own,
                    exact=is_exact([estimator], own),
                    n_resamples=draws.n,
                    seed=draws.seed,
                )
                pvalues[p] = found.pvalue
        return difference.copy(), pvalues

    return test


class WithoutVariance:
    """Pairs that differ, and whose difference has no variance: tested exactly, or not."""

    def __init__(self, estimator: Estimator, cells: Callable[[], CellsOf]) -> None:
        self._estimator, self._cells = estimator, cells
        #: P-values of the pairs that were met.
        self._pvalues: dict[tuple[int, int], float] = {}

    def pvalue(self, i: int, j: int) -> float:
        """P-value of the exact permutation test of a pair; NaN where it takes too long."""
        pair = min(i, j), max(i, j)
        if pair not in self._pvalues:
            test, _ = without_variance(pair_of(self._estimator, self._cells()(i, j)), "two-sided")
            self._pvalues[pair] = test.pvalue
        return self._pvalues[pair]

    def cautions(self, names: Sequence[str]) -> tuple[str, ...]:
        """Say how these pairs are tested."""
        found = []
        for tested, how in (
            (True, "their p-values are those of exact permutation tests."),
            (
                False,
                "they are not tested, as there are too many exchanges of predictions to look "
                "at all; method='permutation' draws some.",
            ),
        ):
            pairs = [pair for pair, p in self._pvalues.items() if (p == p) == tested]  # noqa: PLR0124
            if pairs:
                few = ", ".join(f"{names[i]} and {names[j]}" for i, j in sorted(pairs)[:3])
                more = f", and {len(pairs) - 3} more pairs" * (len(pairs) > 3)
                found.append(
                    f"No variance of the difference in {self._estimator.title} was observed "
                    f"between {few}{more}: {how}"
                )
        return tuple(found)


class Bootstrap:
    """Draws of samples, or clusters, of each pair; percentile intervals."""

    def __init__(self, estimator: Estimator, cells: CellsOf, draws: Draws, level: float) -> None:
        self._estimator, self._cells = estimator, cells
        self._draws, self._level = draws, level
        #: Pairs with a metric that is undefined in many draws.
        self._undefined: set[tuple[int, int]] = set()

    def of(self, i: int, j: int) -> tuple[float, float, float, float]:
        """Bootstrap a pair: both ends, p-value and standard error."""
        cells = self._cells(i, j)
        found = bootstrap_intervals(
            [self._estimator],
            cells,
            confidence_level=self._level,
            n_resamples=self._draws.n,
            seed=self._draws.seed,
        )[0]
        if found.n_undefined > MANY_UNDEFINED * self._draws.n:
            self._undefined.add((min(i, j), max(i, j)))
        same = bool((cells.codes[:, 1] == cells.codes[:, 2]).all())
        if same and not np.isnan(found.estimate):
            return 0.0, 0.0, 1.0, 0.0
        return found.low, found.high, found.pvalue, found.standard_error

    def tests(self, tests: PairTests) -> PairTests:
        """Test pairs by draws, instead of their standard errors."""

        def found(block: Block) -> Floats:
            each = [self.of(i, j) for i, j in block.pairs.tolist()]
            return np.array(each).reshape(-1, 4).T

        def columns(block: Block) -> PairColumns:
            known = tests.columns(block)
            low, high, pvalue, error = found(block)
            return known._replace(
                low=low, high=high, statistic=known.difference, pvalue=pvalue, standard_error=error
            )

        return replace(
            tests,
            pvalues=lambda block: found(block)[2].copy(),
            columns=columns,
            distribution="bootstrap",
            df=None,
        )

    def cautions(self) -> tuple[str, ...]:
        """Say that a metric was undefined in many draws."""
        n = len(self._undefined)
        if not n:
            return ()
        return (
            f"{self._estimator.title} is undefined in more than "
            f"{100 * MANY_UNDEFINED:g}% of the draws of {n} pair{'s' * (n > 1)}; they "
            "are left out, and intervals may be too short.",
        )


# How differences of a metric vary: variances of pairs, by the cheapest exact way.


# Nanoseconds on one core: to look up an influence, to compare one sample of a pair, to
# multiply two of single and of double precision, and to compare a cell.
_LOOK_UP, _COMPARE, _CELL = 0.7, 1.5, 1.5
_MULTIPLY = {np.float32: 0.02, np.float64: 0.04}
_LARGE = 1 << 33  # products of influences beyond which single precision is used
#: Variances, of the two models' own, below which a product has lost too many digits.
_LOST = {np.float32: 1e-3, np.float64: 1e-6}
#: Models of a side of a tile, at most; a multiple of TILE_ROWS.
SIDE = 128
_FEW_PAIRS = 4  # chosen pairs per model up to which no product of all is worth it
_NOTHING = 1e-14  # of a standard error: less is rounding


class Spread(NamedTuple):
    """How to find the variances of the differences of pairs."""

    #: Variances, and which pairs predict the same for all samples, (p,).
    of: Callable[[Block], tuple[Floats, Flags]]
    #: Models of a side of a tile, at most.
    side: int = SIDE


class PairSums(NamedTuple):
    """How to add up influences over the samples of pairs, all with one table a pair."""

    #: From a block to what takes some of its pairs and their tables, (p, R, K'), and
    #: gives what `compare_cells` gives, (p, 3).
    of: Callable[[Block], Callable[[slice, Floats], Floats]]
    side: int = SIDE


def spread_of(
    samples: MetricSamples,
    models: MetricModels,
    chosen: NDArray[np.int32] | None,
    pool: ThreadPool,
    *,
    exact: bool = False,
) -> Spread:
    """Choose how to find the variances, and do what is done for all pairs at once.

    With `exact` always in double precision.
    """
    m = samples.n_models
    n_pairs = m * (m - 1) // 2 if chosen is None else len(chosen)
    many = chosen is None or n_pairs > _FEW_PAIRS * m
    if models.rows is not None:
        return _by_rows(samples, models.rows, all_pairs=many)
    assert models.lookups is not None
    lookups = np.where(np.isnan(models.lookups), 0.0, models.lookups)
    single = m * m * samples.n_samples > _LARGE and not exact
    dtype: Any = np.float32 if single else np.float64
    times = _times(samples, n_pairs, dtype)
    if not many:
        del times["product"]
    best = min(times, key=lambda how: times[how])
    if best == "cells":
        return _by_cells(samples, lookups, n_pairs, pool)
    if best == "samples":
        return _by_samples(samples, lookups)
    gram = influence_gram(samples.rows, samples.preds, lookups, dtype, pool)
    return _by_product(samples, lookups, gram, _LOST[dtype])


def _times(samples: MetricSamples, n_pairs: int, dtype: Any) -> dict[str, float]:
    """Estimate nanoseconds of each way, on one core."""
    m, n, k = samples.n_models, samples.n_samples, samples.n_codes
    times = {
        "samples": n_pairs * n * _COMPARE,
        "product": m * n * _LOOK_UP + m * m * n * _MULTIPLY[dtype],
    }
    if samples.weights.size == 1 and slices_pay(m, n_pairs, n, k, k):
        times["cells"] = slices_time(m, n_pairs, n, k, k) + n_pairs * k**3 * _CELL
    return times


def _by_cells(samples: MetricSamples, lookups: Floats, n_pairs: int, pool: ThreadPool) -> Spread:
    """Count the cells of each pair."""
    tables = count_tables(samples, n_pairs, pool)
    assert tables is not None
    return spread_of_cells(lookups, tables.count, tables.side)


def count_tables(samples: MetricSamples, n_pairs: int, pool: ThreadPool) -> PairTables | None:
    """Make ready to count the cells of pairs; None where bit slices do not pay."""
    m, n, k = samples.n_models, samples.n_samples, samples.n_codes
    if not slices_pay(m, n_pairs, n, k, k):
        return None
    tables = PairTables(samples.preds, k, n_pairs, y_true=samples.rows)
    pool.run(tables.pack, tables.packing, steps=no_step)
    return tables


def spread_of_cells(lookups: Floats, count: Callable[[Block], Any], side: int) -> Spread:
    """Find variances from the cells of pairs, ``[p, t, a, b]``."""

    def spread(block: Block) -> tuple[Floats, Flags]:
        i, j = block.pairs.T
        found = np.empty((i.size, 3))
        compare_cells(count(block), lookups[i], lookups[j], found)
        return found[:, 2].copy(), found[:, 0] == 0

    return Spread(spread, side)


def sums_of_cells(count: Callable[[Block], Any], side: int) -> PairSums:
    """Add up over the cells of pairs, ``[p, t, a, b]``."""

    def of(block: Block) -> Callable[[slice, Floats], Floats]:
        tensors = count(block)

        def add(span: slice, psi: Floats) -> Floats:
            found = np.empty((len(psi), 3))
            compare_cells(tensors[span], psi, psi, found)
            return found

        return add

    return PairSums(of, side)


def sums_of(samples: MetricSamples, n_pairs: int, pool: ThreadPool) -> PairSums:
    """Add up over the cells of pairs where bit slices pay, else over samples."""
    tables = count_tables(samples, n_pairs, pool)
    if tables is not None:
        return sums_of_cells(tables.count, tables.side)

    def of(block: Block) -> Callable[[slice, Floats], Floats]:
        def add(span: slice, psi: Floats) -> Floats:
            pairs = block.pairs[span].tolist()
            found = [
                compare_influences(samples.rows, samples.preds[i], samples.preds[j], own, own)
                for (i, j), own in zip(pairs, psi, strict=True)
            ]
            return np.array(found, np.float64).reshape(-1, 3)

        return add

    return PairSums(of)


def _by_samples(samples: MetricSamples, lookups: Floats) -> Spread:
    """Compare pairs sample by sample."""

    def spread(block: Block) -> tuple[Floats, Flags]:
        found = [_compared(samples, lookups, *pair) for pair in block.pairs.tolist()]
        differ, _, squares = np.array(found).reshape(-1, 3).T
        return squares.copy(), differ == 0

    return Spread(spread)


def _compared(samples: MetricSamples, lookups: Floats, i: int, j: int) -> tuple[int, float, float]:
    a, b = samples.preds[i], samples.preds[j]
    return compare_influences(samples.rows, a, b, lookups[i], lookups[j])


def _by_product(samples: MetricSamples, lookups: Floats, gram: Floats, lost: float) -> Spread:
    """Take variances from the lower half of a product; what cancels, by sample."""
    own = np.diagonal(gram).copy()

    def spread(block: Block) -> tuple[Floats, Flags]:
        i, j = block.pairs.T
        both = own[i] + own[j]
        variance = both - 2.0 * gram[np.maximum(i, j), np.minimum(i, j)]
        same = np.zeros(i.size, np.bool_)
        for p in np.flatnonzero(variance <= lost * both):
            found = _compared(samples, lookups, int(i[p]), int(j[p]))
            same[p], variance[p] = found[0] == 0, found[2]
        return variance, same

    return Spread(spread)


def _by_rows(samples: MetricSamples, rows: Floats, *, all_pairs: bool) -> Spread:
    """Take variances as squared distances of rows, of clusters or of samples."""
    noise = _NOTHING**2 * float((rows**2).sum(axis=1).max())
    distances = RowDistances(rows, noise, all_pairs=all_pairs)

    def spread(block: Block) -> tuple[Floats, Flags]:
        variance = distances(block.pairs)
        same = variance == 0.0
        for p in np.flatnonzero(same):
            a, b = (samples.preds[model] for model in block.pairs[p])
            same[p] = np.array_equal(a, b)
        return variance, same

    return Spread(spread)


# Clusters and strata of samples, for the variance of a metric of counts.


class MetricUnits(NamedTuple):
    """What samples are drawn as."""

    #: Cluster of each sample; None where each is its own.
    clusters: Ints | None
    n_clusters: int
    #: Samples of each stratum, shape (H,).
    sizes: Ints
    #: Stratum of each cluster; None for one stratum, or where they lie across strata.
    of_cluster: Ints | None
    #: Whether there are strata, and whether clusters lie across them.
    stratified: bool = False
    crossed: bool = False

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

    @property
    def centred(self) -> bool:
        """Whether each sample is taken about the mean of its stratum."""
        return self.stratified and self.of_cluster is None

    def about_means(self, sums: Floats) -> Floats:
        """Take the mean of its stratum off the sum of each cluster; scale by factors.

        The squares then add up to the variance; `sums` has the shape (C,).
        """
        root = np.sqrt(self.factors(corrected=True))
        if self.of_cluster is None:
            return np.asarray(sums * root[0])
        means = np.bincount(self.of_cluster, sums) / np.bincount(self.of_cluster)
        rest: Floats = (sums - means[self.of_cluster]) * root[self.of_cluster]
        return rest


def single_samples(n: int) -> MetricUnits:
    """Describe samples without clusters or strata."""
    return MetricUnits(None, 0, np.array([n]), None)


def with_units(samples: MetricSamples, found: ItemGroups) -> tuple[MetricSamples, MetricUnits]:
    """Add clusters and strata: rows of the tables are then strata and classes."""
    n, strata = samples.n_samples, found.strata
    sizes, of_cluster = np.array([n]), None
    if strata is not None:
        sizes = np.bincount(strata.codes)
        weights = per_sample(found.stratum_weights, sizes)
        rows = strata.codes * samples.n_codes + samples.rows
        n_rows = sizes.size * samples.n_codes
        samples = replace(
            samples,
            rows=rows.astype(code_type(n_rows)),
            weights=np.ones(sizes.size) if weights is None else weights * n,
        )
    if found.clusters is None:
        units = MetricUnits(None, 0, sizes, None, strata is not None)
        return samples, units
    codes, n_clusters = found.clusters.codes, len(found.clusters.labels)
    if strata is not None and not found.crossed:
        of_cluster = np.zeros(n_clusters, np.int64)
        of_cluster[codes] = strata.codes
    units = MetricUnits(codes, n_clusters, sizes, of_cluster, strata is not None, found.crossed)
    return samples, units
