"""Tests of a metric that look at the cells of each pair: pooled z, and random draws."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp import kernels
from fastcmp.core.tails import normal_tail
from fastcmp.core.threads import parts
from fastcmp.counts.label_counts import count_cells
from fastcmp.metrics.bootstrap import MANY_UNDEFINED, bootstrap_intervals
from fastcmp.metrics.cells import Cells, ClusterCells, gather_cells
from fastcmp.metrics.compared import without_variance
from fastcmp.metrics.pair_estimates import pair_of
from fastcmp.metrics.permutation import is_exact, permutation_tests

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from fastcmp.counts.pairs import Block, PairColumns
    from fastcmp.metrics.estimators import Estimator
    from fastcmp.pairwise.metric_models import MetricModels
    from fastcmp.pairwise.metric_options import Draws
    from fastcmp.pairwise.metric_samples import Counted, MetricSamples
    from fastcmp.pairwise.metric_spread import PairSums
    from fastcmp.pairwise.metric_tests import Test
    from fastcmp.pairwise.metric_units import MetricUnits
    from fastcmp.pairwise.pair_tests import PairTests

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]
    #: From two models to the cells of their samples, in the order of the metric.
    CellsOf = Callable[[int, int], Cells]

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
        return z_of(np.concatenate(found), difference)

    return test


def z_of(sums: Floats, difference: Floats) -> tuple[Floats, Floats]:
    """Turn sums of differences and their squares into z; 0 where nothing differs."""
    differ, total, squares = sums.T
    with np.errstate(divide="ignore", invalid="ignore"):
        z = np.where(squares > 0.0, total / np.sqrt(squares), np.nan)
    z[np.isnan(difference)] = np.nan
    z[(differ == 0) & ~np.isnan(difference)] = 0.0
    return z, np.asarray(normal_tail(z, "two-sided"))


def places_of_classes(samples: Counted) -> Ints:
    """Give the place in the metric of each code."""
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
