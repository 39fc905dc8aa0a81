"""Tests of a metric of counts for many pairs of models.

Bit slices count the cells of all pairs where classes are few, one matrix product has
the variances of many pairs, and some pairs are compared sample by sample.

A metric is a sum of influences to first order, so its variance is one of a sum of
samples or clusters, taken about the mean of their stratum.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from fastcmp.core.checks import Draws
from fastcmp.core.records import LabelledCounts
from fastcmp.core.sections import Column, Section
from fastcmp.core.threads import ThreadPool, parts
from fastcmp.core.typing import Classes, Flags, Floats, Ints, Pairs
from fastcmp.counts.pair_tables import PairTables, slices_pay, slices_time
from fastcmp.counts.pairs import Block, PairColumns
from fastcmp.counts.value_sums import influence_gram
from fastcmp.inputs.labels import Labels
from fastcmp.kernels.bits import TILE_ROWS
from fastcmp.kernels.cluster_means import mean_t_many
from fastcmp.kernels.metric_slopes import compare_cells, compare_influences
from fastcmp.kernels.status import TWO_SIDED
from fastcmp.metrics.bootstrap import MANY_UNDEFINED, bootstrap_intervals
from fastcmp.metrics.choice import Metric
from fastcmp.metrics.intervals import distances_apart, few_samples
from fastcmp.metrics.margins import bounded_draws, margin_test, paired_counts, stacked_margins
from fastcmp.metrics.pair_tests import (
    Exchanges,
    exact_exchanges,
    least_error,
    pair_of,
    permutation_tests,
    pooled_z,
    without_variance,
)
from fastcmp.paired.margin_result import MarginTests
from fastcmp.paired.margins import MarginOptions, accuracy_margins
from fastcmp.paired.units import Sampling, cluster_cautions, units_of
from fastcmp.pairwise.engine import PairTests
from fastcmp.pairwise.metric_models import (
    Counted,
    MetricCounts,
    MetricModels,
    MetricSamples,
    metric_counts,
    metric_samples,
    read_models,
)
from fastcmp.pairwise.model_estimates import RowDistances
from fastcmp.pairwise.result import PairwiseResult

_SPAN = 1 << 16
_EQUAL = 4 * np.finfo(np.float64).eps  # of two values: rounding
_CELLS = 1 << 20  # cells of tables whose influences are worked out together
#: Models of a side of a tile, at most; a multiple of TILE_ROWS.
SIDE = 128


class PairSums(NamedTuple):
    """How to compare tables of influences, looked up by row and prediction, over samples."""

    #: Takes a block, and returns what takes some of its pairs, tables (T, R, K') and the
    #: places there of those of both models of each pair, (p,), and returns (p, 3): how many
    #: predictions differ, the sum of the differences of influences, and of their squares.
    of: Callable[[Block], Callable[[slice, Floats, Ints, Ints], Floats]]
    #: Models of a side of a tile, at most.
    side: int = SIDE


def _sums_of_cells(count: Callable[[Block], Any], side: int) -> PairSums:
    """Sums over the cells of pairs, ``[p, t, a, b]``."""

    def of(block: Block) -> Callable[[slice, Floats, Ints, Ints], Floats]:
        tensors = count(block)

        def add(span: slice, tables: Floats, i: Ints, j: Ints) -> Floats:
            sums = np.empty((i.size, 3))
            compare_cells(tensors[span], tables[i], tables[j], sums)
            return sums

        return add

    return PairSums(of, side)


def _sums_of_pairs(compare: Callable[..., tuple[float, float, float]]) -> PairSums:
    """Sums of pairs one by one."""

    def of(block: Block) -> Callable[[slice, Floats, Ints, Ints], Floats]:
        def add(span: slice, tables: Floats, i: Ints, j: Ints) -> Floats:
            places = zip(block.pairs[span].tolist(), i.tolist(), j.tolist(), strict=True)
            sums = [compare(*pair, tables[a], tables[b]) for pair, a, b in places]
            return np.array(sums, np.float64).reshape(-1, 3)

        return add

    return PairSums(of)


def _by_samples(samples: MetricSamples) -> PairSums:
    """Sums of pairs over samples."""
    rows, preds = samples.rows, samples.preds
    return _sums_of_pairs(lambda i, j, a, b: compare_influences(rows, preds[i], preds[j], a, b))


def _by_slices(samples: MetricSamples, n_pairs: int, pool: ThreadPool) -> PairSums:
    """Sums over the cells of each pair, counted by bit slices."""
    tables = PairTables(samples.preds, samples.n_codes, n_pairs, y_true=samples.rows)
    pool.run(tables.pack, tables.packing, steps=0)
    return _sums_of_cells(tables.count, tables.side)


def _by_counts(counts: MetricCounts) -> PairSums:
    """Sums over the counts of a stream."""
    if counts.source.is_dense:
        fitting = int((_CELLS / counts.n_codes**3) ** 0.5) // TILE_ROWS * TILE_ROWS
        return _sums_of_cells(counts.tensors, min(SIDE, max(TILE_ROWS, fitting)))

    def compare(i: int, j: int, of_a: Floats, of_b: Floats) -> tuple[float, float, float]:
        codes, samples = counts.codes(i, j)
        t, a, b = codes.T
        difference = of_a[t, a] - of_b[t, b]
        differ = float(samples[a != b].sum())
        return differ, float(samples @ difference), float(samples @ difference**2)

    return _sums_of_pairs(compare)


def sums_of(samples: Counted, n_pairs: int, pool: ThreadPool) -> PairSums:
    """Sums over cells where these are counted or bit slices pay, else over samples."""
    if isinstance(samples, MetricCounts):
        return _by_counts(samples)
    assert isinstance(samples, MetricSamples)
    m, n, k = samples.n_models, samples.n_samples, samples.n_codes
    if slices_pay(m, n_pairs, n, k, k):
        return _by_slices(samples, n_pairs, pool)
    return _by_samples(samples)


# How differences of a metric vary: variances of pairs, by the cheapest exact way.


# Nanoseconds on one core: to look up an influence, to compare one sample of a pair, to
# multiply two of single and of double precision, and to compare a cell.
_LOOK_UP, _COMPARE, _CELL = 0.7, 1.5, 1.5
_MULTIPLY = {np.float32: 0.02, np.float64: 0.04}
_LARGE = 1 << 33  # products of influences beyond which single precision is used
#: Variances, of the two models' own, below which a product has lost too many digits.
_LOST = {np.float32: 1e-3, np.float64: 1e-6}
_FEW_PAIRS = 4  # chosen pairs per model up to which no product of all is worth it
_NOTHING = 1e-14  # of a standard error: less is rounding


class Spread(NamedTuple):
    """The function that computes variances of the differences of pairs."""

    #: Variances, and which pairs predict the same for all samples, (p,).
    of: Callable[[Block], tuple[Floats, Flags]]
    #: Models of a side of a tile, at most.
    side: int = SIDE


def spread_of(
    samples: Counted,
    models: MetricModels,
    pair_indices: Pairs | None,
    pool: ThreadPool,
    *,
    exact: bool = False,
) -> Spread:
    """The function that computes variances of pairs, by the fastest way for these data.

    With `exact` always in double precision.
    """
    m, n, k = samples.n_models, samples.n_samples, samples.n_codes
    n_pairs = m * (m - 1) // 2 if pair_indices is None else len(pair_indices)
    many = pair_indices is None or n_pairs > _FEW_PAIRS * m
    if models.rows is not None:
        assert isinstance(samples, MetricSamples)
        return _by_rows(samples, models.rows, all_pairs=many)
    assert models.lookups is not None
    lookups = np.where(np.isnan(models.lookups), 0.0, models.lookups)
    if isinstance(samples, MetricCounts):
        return _by_sums(lookups, _by_counts(samples))
    assert isinstance(samples, MetricSamples)
    dtype = np.float32 if m * m * n > _LARGE and not exact else np.float64
    times = {"samples": n_pairs * n * _COMPARE}  # nanoseconds on one core
    if many:
        times["product"] = m * n * _LOOK_UP + m * m * n * _MULTIPLY[dtype]
    if samples.weights.size == 1 and slices_pay(m, n_pairs, n, k, k):
        times["cells"] = slices_time(m, n_pairs, n, k, k) + n_pairs * k**3 * _CELL
    best = min(times, key=lambda how: times[how])
    if best == "cells":
        return _by_sums(lookups, _by_slices(samples, n_pairs, pool))
    by_samples = _by_sums(lookups, _by_samples(samples))
    if best == "samples":
        return by_samples
    gram = influence_gram(samples.rows, samples.preds, lookups, dtype, pool)
    squares = np.diagonal(gram).copy()

    def spread(block: Block) -> tuple[Floats, Flags]:
        """Variances from the lower half of the product; what cancels, by sample."""
        i, j = block.pairs.T
        both = squares[i] + squares[j]
        variance = both - 2.0 * gram[np.maximum(i, j), np.minimum(i, j)]
        same = np.zeros(i.size, np.bool_)
        lost = variance <= _LOST[dtype] * both
        if lost.any():
            variance[lost], same[lost] = by_samples.of(Block(block.where, block.pairs[lost]))
        return variance, same

    return Spread(spread)


def _by_sums(lookups: Floats, sums: PairSums) -> Spread:
    """Variances as sums of squared differences of influences."""

    def spread(block: Block) -> tuple[Floats, Flags]:
        totals = sums.of(block)(slice(None), lookups, *block.pairs.T)
        return totals[:, 2].copy(), totals[:, 0] == 0

    return Spread(spread, sums.side)


def _by_rows(samples: MetricSamples, rows: Floats, *, all_pairs: bool) -> Spread:
    """Variances as squared distances of rows, of clusters or of samples."""
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


class MetricPairs:
    """Pairs of models by a metric: their differences, and how these are tested."""

    def __init__(
        self,
        samples: Counted,
        models: MetricModels,
        method: str,
        level: float,
        draws: Draws | None,
        pair_indices: Pairs | None,
        pool: ThreadPool,
    ) -> None:
        self._samples, self._models, self._method = samples, models, method
        self._level, self._draws = level, draws
        self.estimator, self._df = samples.metric.estimator, samples.units.df
        self._spread = spread_of(samples, models, pair_indices, pool)
        self._least = least_error(float(models.sizes.sum()))
        low, high = self.estimator.entry.limits
        self._limits = low - high, high - low
        m = samples.n_models
        n_pairs = m * (m - 1) // 2 if pair_indices is None else len(pair_indices)
        self._sums = sums_of(samples, n_pairs, pool) if method == "pooled" else None
        #: P-values of pairs that differ without variance, and those whose metric is undefined
        #: in many draws: found while pairs are tested.
        self._exact: dict[tuple[int, int], float] = {}
        self._undefined: set[tuple[int, int]] = set()

    def tests(self) -> PairTests:
        """The tests, as the engine runs them."""
        distribution = "normal" if self._df == np.inf else "t"
        side = self._spread.side if self._draws is None else TILE_ROWS
        if self._draws is not None:
            distribution = self._method
        elif self._sums is not None:
            distribution, side = "normal", min(side, self._sums.side)
        return PairTests(
            n_samples=self._samples.n_samples,
            correct=None,
            score=self._models.value,
            score_interval=self._models.interval,
            distribution=distribution,
            df=self._df if distribution == "t" else None,
            side=side,
            pvalues=self.pvalues,
            columns=self.columns,
            details=self._details,
            with_errors=True,
            spread=lambda block: (*self.with_variance(block), self._df),
            limits=self._limits,
            margins=self._margins,
        )

    def difference(self, block: Block) -> Floats:
        """Differences of values, shape (p,); 0 where only rounding is left."""
        first, second = (self._models.value[model] for model in block.pairs.T)
        difference = first - second
        rounding = _EQUAL * (np.abs(first) + np.abs(second))
        difference[np.abs(difference) <= rounding] = 0.0
        return np.asarray(difference)

    def with_variance(self, block: Block) -> tuple[Floats, Floats]:
        """Differences and variances; NaN where a model has no standard error.

        The variance is 0 where all predictions are the same, and only there.
        """
        difference = self.difference(block)
        variance, same = self._spread.of(block)
        is_known = self._models.is_known[block.pairs].all(axis=1)
        variance = np.where(is_known & (variance > self._least**2), variance, np.nan)
        same &= np.isfinite(difference)
        difference[same] = variance[same] = 0.0
        return difference, variance

    def columns(self, block: Block) -> PairColumns:
        """All that a record holds of the pairs of a block."""
        difference, variance, answers = self._by_error(block, self._level)
        statistic, pvalue, low, high, _ = answers.T
        error, none = np.sqrt(variance), np.full(difference.size, -1)
        if self._method == "bootstrap":
            low, high, pvalue, error = self._bootstrap(block)
            statistic = difference
        else:
            statistic, pvalue = self._test(block, statistic, pvalue)
            low, high = (np.clip(end, *self._limits) for end in (low, high))
        return PairColumns(none, none, difference, low, high, statistic, pvalue, error)

    def pvalues(self, block: Block) -> Floats:
        """P-values of the pairs of a block."""
        if self._method == "bootstrap":
            return self._bootstrap(block)[2]
        statistic, pvalue = np.full((2, len(block.pairs)), np.nan)
        if self._draws is None and self._sums is None:
            statistic, pvalue = self._by_error(block, 0.0)[2][:, :2].T.copy()
        return self._test(block, statistic, pvalue)[1]

    def _by_error(self, block: Block, level: float) -> tuple[Floats, Floats, Floats]:
        """Differences, variances, and tests by z, or by t with clusters, shape (p, 5)."""
        difference, variance = self.with_variance(block)
        out = np.empty((difference.size, 5))
        mean_t_many(difference, variance, np.array([self._df]), (TWO_SIDED, level), out)
        return difference, variance, out

    def _test(self, block: Block, statistic: Floats, pvalue: Floats) -> tuple[Floats, Floats]:
        """Statistics and p-values by the method; exact ones where there is no variance."""
        difference = self.difference(block)
        if self._sums is not None:
            statistic, pvalue = self._pooled(self._sums, block, difference)
        elif self._draws is not None:
            statistic = difference.copy()
            pvalue = np.array([self._permute(*pair) for pair in block.pairs.tolist()], np.float64)
        is_known = self._models.is_known[block.pairs].all(axis=1)
        for p in np.flatnonzero(np.isnan(pvalue) & is_known):
            if difference[p] == 0.0:
                statistic[p], pvalue[p] = 0.0, 1.0
                continue
            i, j = sorted(block.pairs[p].tolist())
            if (i, j) not in self._exact:
                pair = pair_of(self.estimator, self._samples.cells(i, j))
                self._exact[i, j] = without_variance(pair, "two-sided")[0].pvalue
            pvalue[p] = self._exact[i, j]
        return statistic, pvalue

    def _pooled(self, sums: PairSums, block: Block, difference: Floats) -> tuple[Floats, Floats]:
        """Statistics and p-values by z, from the influences at the counts of both models."""
        samples, tables, add = self._samples, self._models.tables, sums.of(block)
        rows = [np.empty((0, 3))]
        for span in parts(len(block.pairs), max(1, _CELLS // samples.metric.codes.size**2)):
            i, j = block.pairs[span].T
            if tables is not None:
                both = tables[i] + tables[j]
            else:
                of = samples.table(samples.counts([*i.tolist(), *j.tolist()]))
                both = of[: i.size] + of[i.size :]
            psi = samples.metric.lookup(self.estimator.influences(both), samples.n_codes)
            places = np.arange(i.size)
            rows.append(add(span, psi, places, places))
        differ, total, squares = np.concatenate(rows).T
        return pooled_z(differ, total, squares, difference)

    def _permute(self, i: int, j: int) -> float:
        """P-value of exchanges of predictions, of all where that can be done."""
        values, draws = self._models.value, self._draws
        if np.isnan(values[i] - values[j]) or draws is None:
            return np.nan
        cells, of = self._samples.cells(i, j), [self.estimator]
        exchanges = exact_exchanges(of, cells)
        more: Any = {"exact": exchanges is not None, "n_resamples": draws.n, "seed": draws.seed}
        return permutation_tests(of, exchanges or Exchanges(cells), **more)[0].pvalue

    def _bootstrap(self, block: Block) -> tuple[Floats, Floats, Floats, Floats]:
        """Ends of percentile intervals, p-values and standard errors by draws of samples."""
        draws, columns = self._draws, np.empty((4, len(block.pairs)))
        assert draws is not None
        for p, (i, j) in enumerate(block.pairs.tolist()):
            cells = self._samples.cells(i, j)
            (one,) = bootstrap_intervals(
                [self.estimator],
                cells,
                confidence_level=self._level,
                n_resamples=draws.n,
                seed=draws.seed,
            )
            if one.n_undefined > MANY_UNDEFINED * draws.n:
                self._undefined.add((min(i, j), max(i, j)))
            columns[:, p] = one.low, one.high, one.pvalue, one.standard_error
            if cells.same and not np.isnan(one.estimate):
                columns[:, p] = 0.0, 0.0, 1.0, 0.0
        low, high, pvalue, error = columns
        return low, high, pvalue, error

    def _details(self, pairs: Pairs, columns: PairColumns) -> dict[str, Any]:
        if columns.standard_error is not None:
            return {"standard_error": columns.standard_error}
        spans = [Block(part, pairs[part]) for part in parts(len(pairs), _SPAN)]
        errors = [np.sqrt(self.with_variance(span)[1]) for span in spans]
        return {"standard_error": np.concatenate([np.empty(0), *errors])}

    def _margins(self, result: MetricsResult, options: MarginOptions) -> MarginTests:
        """Tests of all pairs of a record against a margin."""
        pairs, estimator = result.pairs.tolist(), self.estimator
        counts = [paired_counts(estimator, self._samples.cells(i, j)) for i, j in pairs]
        if None not in counts:
            columns = np.array(counts).reshape(-1, 3).T
            shared: dict[str, Any] = {"pvalue": result.pvalue_adjusted, "measure": estimator.title}
            return accuracy_margins((columns[0], columns[1], columns[2]), options, **shared)
        tests = []
        for p, (i, j) in enumerate(pairs):
            pair = pair_of(estimator, self._samples.cells(i, j))
            tested = {"standard_error": result.standard_error, "pvalue": result.pvalue_adjusted}
            one: Any = {name: float(x[p]) for name, x in tested.items()}
            bounds = bounded_draws([estimator], pair.cells)[0]
            tests.append(margin_test(pair, bounds, options, **one))
        return stacked_margins(tests, (len(tests),))

    def cautions(self, names: Sequence[str]) -> tuple[str, ...]:
        """Cautions about pairs without variance, and about many undefined draws."""
        sentences, title = [], self.estimator.title
        for tested, how in (
            (True, "their p-values are those of exact permutation tests."),
            (
                False,
                "they are not tested, as there are too many exchanges of predictions to look "
                "at all; method='permutation' draws some.",
            ),
        ):
            pairs = [pair for pair, p in self._exact.items() if math.isnan(p) != tested]
            if pairs:
                few = ", ".join(f"{names[i]} and {names[j]}" for i, j in sorted(pairs)[:3])
                more = f", and {len(pairs) - 3} more pairs" * (len(pairs) > 3)
                sentences.append(
                    f"No variance of the difference in {title} was observed "
                    f"between {few}{more}: {how}"
                )
        if n := len(self._undefined):
            sentences.append(
                f"{title} is undefined in more than {100 * MANY_UNDEFINED:g}% of the draws of "
                f"{n} pair{'s' * (n > 1)}; they are left out, and intervals may be too short."
            )
        return tuple(sentences)


# The record of many models compared by a metric of counts.


_TESTS = {
    "jackknife": "test of the difference, standard errors by the jackknife",
    "delta": "test of the difference, standard errors by the delta method",
    "pooled": "z test by the influence of each cell at the counts of both models",
    "permutation": "permutation test",
    "bootstrap": "bootstrap",
}


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class MetricsResult(PairwiseResult):
    """Many models compared in pairs by a metric of their confusion matrices.

    A `PairwiseResult`: `score` holds the metric of each model, NaN where it is not
    defined; pairs of such a model are not tested. `only_a`, `only_b` and `correct` are
    None. `measure` is the metric as it is shown.
    """

    #: Its name, such as "f1_macro".
    metric: str
    lower_is_better: bool = False
    #: The least and the largest value that it can take.
    limits: tuple[float, float] = (-math.inf, math.inf)
    #: How the intervals of single models were made, such as "jackknife, logit".
    interval_method: str = ""
    #: Of each difference, shape (P,): by the jackknife or the delta method; by the
    #: bootstrap where pairs are compared by it.
    standard_error: Floats
    #: The label of each class.
    classes: tuple[Any, ...] = ()
    #: Draws, and the seed that repeats them; None where nothing was drawn.
    n_resamples: int | None = None
    seed: int | None = None

    _columns = (*PairwiseResult._columns, Column("standard_error"))
    _read = (
        *PairwiseResult._read,
        *("metric", "lower_is_better", "interval_method", "classes", "n_resamples", "seed"),
    )

    @property
    def less_is_better(self) -> bool:
        """Whether the better model has the lower metric."""
        return self.lower_is_better

    @property
    def any_size(self) -> bool:
        """Whether the metric may be of any size, not between -1 and 1."""
        return not (self.limits[0] >= -1.0 and self.limits[1] <= 1.0)

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            As `PairwiseResult`.
        """
        sections = super().sections()
        if self.lower_is_better and self.control is None:
            first = sections[0]
            text = (*first.text, f"Less {self.measure} is better.")
            sections[0] = replace(first, text=text)
        return sections

    @property
    def _score_intervals(self) -> str:
        return self.interval_method

    @property
    def _each_pair(self) -> str:
        if self.n_resamples is not None:
            draws = f"{self.n_resamples} draws, seed {self.seed}"
            unit = "samples" if self.n_clusters is None else "clusters"
            if self.method == "bootstrap":
                return f"{_TESTS['bootstrap']} of {unit} ({draws}), percentile"
            return f"{_TESTS['permutation']} of {unit} (exact, or {draws})"
        if self.method == "pooled":
            return _TESTS["pooled"]
        return f"{self.distribution.replace('normal', 'z')} {_TESTS[self.method]}"


# Many models by a metric of counts: from labels, or what a stream counted, to tests of pairs.


def metric_tests(
    source: Labels | LabelledCounts,
    y_true: object,
    sampling: Sampling,
    metric: Metric,
    method: str,
    level: float,
    draws: Draws | None,
    classes: Classes | None,
    pair_indices: Pairs | None,
    pool: ThreadPool,
) -> tuple[PairTests, Callable[[], dict[str, Any]]]:
    """The tests of pairs, and what makes the fields of the record once they are done."""
    names = tuple(source.names or ())
    samples: Counted
    if isinstance(source, Labels):
        samples, fields = sampled(source, y_true, sampling, metric, classes, pool)
    else:
        samples, fields = metric_counts(source, metric), {}
    models = read_models(samples, method, level, pool)
    pairs = MetricPairs(samples, models, method, level, draws, pair_indices, pool)
    entry = samples.metric.estimator.entry
    fields |= {
        "metric": samples.metric.estimator.name,
        "measure": samples.metric.estimator.title,
        "lower_is_better": entry.lower_is_better,
        "limits": entry.limits,
        "classes": samples.metric.classes,
        "interval_method": "; ".join(sorted(models.interval_methods)) or f"{method}, {entry.scale}",
        "n_resamples": None if draws is None else draws.n,
        "seed": None if draws is None else draws.seed,
    }
    cautions = (*fields.get("cautions", ()), *cautions_of(samples, models, names))
    return pairs.tests(), lambda: fields | {"cautions": (*cautions, *pairs.cautions(names))}


def sampled(
    labels: Labels,
    y_true: object,
    sampling: Sampling,
    metric: Metric,
    classes: Classes | None,
    pool: ThreadPool,
) -> tuple[MetricSamples, dict[str, Any]]:
    """The samples of a metric with labels, clusters and strata, and the fields of a record."""
    groups = None if sampling.plain else sampling.read(y_true, labels)
    samples, fields = metric_samples(labels, metric, classes, pool, groups), dict[str, Any]()
    if groups is not None and groups.strata is not None:
        fields["n_strata"] = samples.units.sizes.size
    if groups is not None and groups.clusters is not None:
        fields["n_clusters"] = samples.units.n_clusters
        fields["cautions"] = cluster_cautions(units_of(groups).units, "cr1")
    return samples, fields


_NAMED = 4


def cautions_of(samples: Counted, models: MetricModels, names: Sequence[str]) -> tuple[str, ...]:
    """What to beware of: of the classes, and of single models."""
    estimator, classes = samples.metric.estimator, samples.metric.classes
    title, cautions = estimator.title, []

    def of_models(marks: Any) -> str:
        return _listed(names[i] for i in np.flatnonzero(marks).tolist())

    def of_classes(marks: Any) -> str:
        return _listed(str(classes[k]) for k in np.flatnonzero(marks))

    without = np.isnan(models.value)
    if without.any():
        cautions.append(
            f"{title} is not defined for {of_models(without)}: their pairs are not tested."
        )
    without = ~np.isnan(models.value) & np.isnan(models.standard_error)
    if without.any():
        cautions.append(
            f"{title} is not defined without some single sample for {of_models(without)}: the "
            "jackknife has no standard error, and their pairs are not tested; method='delta' has "
            "one."
        )
    flags = models.averaged
    apart = flags.any(axis=0) & ~flags.all(axis=0)
    if apart.any():
        cautions.append(
            f"{title} is not over the same classes for all models: only for "
            f"{of_models(flags[:, apart].any(axis=1))} also over {of_classes(apart)}. "
            "make_metric(..., labels='truth'), or a list, averages all over the same."
        )
    marked = np.asarray(models.without.any(axis=1))
    if marked.any():
        cautions.append(
            f"{title} of {of_models(marked)}: 0/0 for class "
            f"{of_classes(models.without.any(axis=0))}, taken as zero_division says."
        )
    tables = [] if models.tables is None else list(models.tables)
    cautions += distances_apart(estimator, tables, names, classes)
    cautions += few_samples(np.diag(models.sizes[: len(classes)]), classes)
    return tuple(cautions)


def _listed(names: Iterable[str]) -> str:
    all_names = list(names)
    n_more = len(all_names) - _NAMED
    more = f" and {n_more} more" if n_more > 0 else ""
    return ", ".join(all_names[:_NAMED]) + more
