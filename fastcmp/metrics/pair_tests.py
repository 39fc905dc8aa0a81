"""A metric of two models on the same samples: standard errors and tests of the difference."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from fastcmp import kernels
from fastcmp.core.checks import ALTERNATIVES
from fastcmp.core.numbers import t_tail
from fastcmp.core.threads import ThreadPool
from fastcmp.core.typing import Flags, Floats, Ints, Numbers
from fastcmp.kernels.binomial import binomial_half
from fastcmp.kernels.cluster_means import t_quantile
from fastcmp.kernels.count_draws import add_tails, enumerate_swaps, half_chances, swap_cells
from fastcmp.kernels.item_bootstrap import cluster_cells
from fastcmp.kernels.sign_flips import random_signs
from fastcmp.kernels.status import DEGENERATE, OK, UNDEFINED
from fastcmp.metrics.bootstrap import Fill, errors_of_draws, evaluate_draws, measure
from fastcmp.metrics.cells import Cells, Drawn
from fastcmp.metrics.estimators import AdjustedForChance, Estimator, KernelEstimator, UserEstimator


class Pair(NamedTuple):
    """A metric of two models on the same samples."""

    estimator: Estimator
    cells: Cells
    #: Confusion matrices of a and b, (2, K, K).
    tables: Floats
    value_a: float
    value_b: float
    #: The metric of a minus that of b; 0 where all predictions agree.
    difference: float
    #: Whether the two models predict the same for all samples.
    same: bool


class Tested(NamedTuple):
    """A statistic and its p-value."""

    statistic: float
    pvalue: float
    status: int


_DEGENERATE = Tested(0.0, 1.0, int(kernels.DEGENERATE))
_UNDEFINED = Tested(math.nan, math.nan, int(kernels.UNDEFINED))


def pair_of(estimator: Estimator, cells: Cells) -> Pair:
    """A metric of two models, evaluated."""
    tables = np.stack([cells.table(0), cells.table(1)])
    (value_a, value_b), same = estimator.values(tables).tolist(), cells.same
    difference = 0.0 if same else value_a - value_b
    return Pair(estimator, cells, tables, value_a, value_b, difference, same)


def standard_errors(
    pair: Pair, how: str, *, within_classes: bool = False
) -> tuple[float, float, float]:
    """Standard errors of the difference, and of both values; NaN where undefined.

    By the jackknife or the delta method.
    """
    cells = pair.cells
    jackknife, estimator = how == "jackknife", pair.estimator
    psi = (estimator.jackknife_influences if jackknife else estimator.influences)(pair.tables)
    both = cells.pick(psi[np.newaxis])[0]
    of_models = [psi[m][cells.codes[:, 0], cells.codes[:, 1 + m]] for m in range(2)]
    errors = [
        cells.standard_error(u, how, within_classes=within_classes) for u in (both, *of_models)
    ]
    least = least_error(cells.n)
    difference, a, b = [0.0 if error <= least else error for error in errors]
    return difference, a, b


def least_error(n: float) -> float:
    """A bound of the standard errors of values of size 1 that are nothing but rounding."""
    return float((1e-13 + 4.0 * np.finfo(np.float64).eps * n) / math.sqrt(max(n, 1.0)))


def z_test(pair: Pair, error: float, alternative: str, df: float) -> Tested:
    """The test of the difference by its standard error: z, or t."""
    if pair.same or (error == 0.0 and pair.difference == 0.0):
        return _DEGENERATE
    if not error > 0.0 or math.isnan(pair.difference):
        return _UNDEFINED
    statistic = pair.difference / error
    return Tested(statistic, float(t_tail(statistic, alternative, df)), int(kernels.OK))


def pooled_z(
    differ: Numbers,
    total: Numbers,
    squares: Numbers,
    difference: Numbers,
    alternative: str = "two-sided",
) -> tuple[Floats, Floats]:
    """Statistics and p-values by the influences at the counts of both models together.

    Of pairs: how many samples differ, sums of the differences of their influences, and of
    the squares of these. 0 where no sample differs, NaN where there is no variance.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        z = np.where(squares > 0.0, total / np.sqrt(squares), np.nan)
    z[np.isnan(difference)] = np.nan
    z[(differ == 0) & ~np.isnan(difference)] = 0.0
    return z, np.asarray(t_tail(z, alternative))


def pooled_test(pair: Pair, alternative: str) -> Tested:
    """The test of two models by the influences at the counts of both together.

    Only samples with different predictions count; of accuracies it is McNemar's test.
    """
    if pair.same:
        return _DEGENERATE
    psi = pair.estimator.influence(pair.tables[0] + pair.tables[1])
    u, counts = pair.cells.pick(np.stack([psi, psi])[np.newaxis])[0], pair.cells.counts
    total, squares, difference = np.array([[counts @ u], [counts @ (u * u)], [pair.difference]])
    (z,), (pvalue,) = pooled_z(1.0, total, squares, difference, alternative)
    if math.isnan(z):
        return _DEGENERATE if pair.difference == 0.0 else _UNDEFINED
    return Tested(float(z), float(pvalue), int(kernels.OK))


def without_variance(pair: Pair, alternative: str, error: float = 0.0) -> tuple[Tested, str]:
    """The test of two models whose difference has no standard error, and a caution about it.

    Exact where all exchanges of predictions can be looked at.
    """
    lead = f"No variance of the difference in {pair.estimator.title} was observed"
    if error != 0.0:
        lead = f"The difference in {pair.estimator.title} has no standard error"
    exchanges = None
    if pair.cells.squares is None:
        exchanges = exact_exchanges([pair.estimator], pair.cells)
    if exchanges is not None:
        (permuted,) = permutation_tests(
            [pair.estimator], exchanges, alternative=alternative, exact=True
        )
        return (
            Tested(math.nan, permuted.pvalue, int(kernels.DEGENERATE)),
            f"{lead}: the p-value is that of the exact permutation test.",
        )
    return (
        _UNDEFINED,
        f"{lead}, and there are too many exchanges of predictions to look at all: there is "
        "no test. method='permutation' has one.",
    )


def difference_interval(pair: Pair, error: float, level: float, df: float) -> tuple[float, float]:
    """The interval that is symmetric about the difference.

    None where nothing tells how the difference varies: all of a right, of b wrong.
    """
    if error == 0.0 and not pair.same:
        return math.nan, math.nan
    half = t_quantile(df, level) * error
    return pair.difference - half, pair.difference + half


def ratio_interval(pair: Pair, level: float, df: float) -> tuple[float, tuple[float, float]]:
    """The ratio, and its interval by the delta method on the log scale.

    NaN where a value is not positive.
    """
    if not (pair.value_a > 0.0 and pair.value_b > 0.0):
        return math.nan, (math.nan, math.nan)
    ratio = pair.value_a / pair.value_b
    values = np.array([pair.value_a, pair.value_b])[:, np.newaxis, np.newaxis]
    psi = pair.estimator.influences(pair.tables) / values
    error = math.sqrt(pair.cells.mean_square(pair.cells.pick(psi[np.newaxis])[0]))
    if math.isnan(error) or (error == 0.0 and not pair.same):
        return ratio, (math.nan, math.nan)
    factor = math.exp(min(t_quantile(df, level) * error, 700.0))
    return ratio, (ratio / factor, ratio * factor)


# Permutation tests, on the cells of the counts.
#
# Under the null hypothesis the predictions of both models can be exchanged in each
# sample. The statistic changes its sign where all of them are.
#
# Of the samples in the cells (t, a, b) and (t, b, a), a not b, a binomial number lies in
# the first. Clusters are exchanged as a whole.


#: Configurations that are all looked at; of two classes many more.
MOST_CONFIGURATIONS = 2_000_000
_MOST_OF_TWO = 4_000_000_000
_MOST_NUMBERS = 4_000_000_000  # in the tables of all configurations
_MOST_CELLS = 64  # discordant; more have over 2**32 configurations
_MOST_CALLS = 10_000  # of a user's function
_CUT = 9.0  # standard deviations of a count; less than 3e-19 lies beyond


class Exchanges:
    """The cells of two models, and what can be exchanged."""

    def __init__(self, cells: Cells) -> None:
        # Add the cells with exchanged predictions, and find where they stand.
        k = cells.n_classes
        base = np.array([k * k, k, 1])
        keys, swapped = cells.codes @ base, cells.codes[:, [0, 2, 1]] @ base
        both = np.sort(np.concatenate([keys, swapped]))  # faster than np.union1d
        both = both[np.diff(both, prepend=-1) > 0]
        place = np.searchsorted(both, keys)
        counts = np.zeros(both.size, np.int64)
        counts[place] = cells.counts
        codes = both[:, np.newaxis] // base % k
        self.partner: Ints = np.searchsorted(both, codes[:, [0, 2, 1]] @ base).astype(np.int64)
        clusters = cells.clusters
        if clusters is not None:
            clusters = clusters._replace(places=place[clusters.places].astype(np.int64))
        self.cells = cells._replace(codes=codes, counts=counts, clusters=clusters)
        first = self.partner > np.arange(self.partner.size)
        totals = (counts + counts[self.partner])[first]
        #: Samples of each pair of cells.
        self.totals = totals[totals > 0]

    @cached_property
    def _flipped(self) -> Flags:
        """Which clusters an exchange changes."""
        clusters = self.cells.clusters
        assert clusters is not None
        discordant = self.partner != np.arange(self.partner.size)
        changed = discordant[clusters.places].astype(np.int64)
        return np.asarray(np.add.reduceat(changed, clusters.starts[:-1]) > 0)

    @cached_property
    def n_configurations(self) -> float:
        """Number of configurations, of samples or of clusters: an integer.

        Infinite if it has more than 300 digits, which no one reads.
        """
        totals = self.totals
        if self.cells.clusters is not None:
            totals = np.ones(int(self._flipped.sum()), np.int64)
        if np.log10(totals + 1.0).sum() > 300.0:
            return math.inf
        return math.prod(int(total) + 1 for total in totals)

    @cached_property
    def _least(self) -> Ints:
        """The least number of each pair of cells that is looked at."""
        least = np.zeros(self.totals.size, np.int64)
        if self.n_configurations > MOST_CONFIGURATIONS:
            far = self.totals / 2 - _CUT / 2 * np.sqrt(self.totals)
            least = np.maximum(np.floor(far), 0.0).astype(np.int64)
        return least

    @cached_property
    def _radices(self) -> list[int]:
        return [int(total) + 1 for total in self.totals - 2 * self._least]

    @cached_property
    def can_enumerate(self) -> bool:
        """Whether all configurations can be looked at."""
        k, n = self.cells.n_classes, self.n_configurations
        if k == 2 and self.cells.clusters is None:
            return math.prod(self._radices) <= _MOST_OF_TWO
        return n <= MOST_CONFIGURATIONS and 2 * n * k * k <= _MOST_NUMBERS

    def enumerate(self) -> tuple[int, Fill, float]:
        """All configurations but those that an exchange of the models makes of others.

        Their number, what makes them, and the probability of those that are left out
        because they are so improbable.
        """
        if self.cells.clusters is not None:
            n_flipped = int(self._flipped.sum())
            bits = np.arange(max(n_flipped - 1, 0))  # the last one stays as it is

            def signs(part: slice, draws: Floats) -> tuple[Floats, Floats]:
                numbers = np.arange(part.start, part.stop)[:, np.newaxis]
                times = np.ones((len(draws), self._flipped.size))
                flipped = np.ones((len(draws), n_flipped))
                flipped[:, : bits.size] -= 2.0 * (numbers >> bits & 1)
                times[:, self._flipped] = flipped
                self._exchange(times, draws)
                return times, np.full(len(draws), 0.5)

            return 1 << bits.size, signs, 0.0
        least, radices = self._least, self._radices
        chances = np.zeros((len(radices), max(radices, default=1)))
        for row, radix, total, low in zip(chances, radices, self.totals, least, strict=True):
            half_chances(int(total), int(low), row[:radix])
        n, beyond = math.prod(radices), 0.0
        for low, total in zip(least.tolist(), self.totals.tolist(), strict=True):
            if low > 0:
                mid, pmf = binomial_half(float(low), float(total))
                beyond += 2.0 * max(mid - 0.5 * pmf, 0.0)

        def swaps(part: slice, draws: Floats) -> tuple[None, Floats]:
            weights = np.empty(len(draws))
            where = self.cells.counts, self.partner, least, chances
            enumerate_swaps(*where, part.start, draws, weights)
            if 2 * part.stop > n:  # its own mirror image, which is counted twice
                weights[-1] *= 0.5
            return None, weights

        return (n + 1) // 2, swaps, beyond

    def random(self, seed: int) -> Fill:
        """The function that fills random exchanges: draw i is a function of (seed, i)."""

        def fill(part: slice, draws: Floats) -> tuple[Floats | None, None]:
            clusters = self.cells.clusters
            if clusters is None:
                counts = self.cells.counts
                swap_cells(counts, self.partner, seed, part.start, draws)
                return None, None
            words = np.empty((-(-clusters.n // 64), len(draws)), np.uint64)
            random_signs(seed, part.start, 0, words)
            rows = np.ascontiguousarray(words.T).astype("<u8").view(np.uint8)
            bits = np.unpackbits(rows, axis=1, count=clusters.n, bitorder="little")
            times: Floats = 1.0 - 2.0 * bits.astype(np.float64)
            self._exchange(times, draws)
            return times, None

        return fill

    def _exchange(self, times: Floats, draws: Floats) -> None:
        assert self.cells.clusters is not None
        cluster_cells(*self.cells.clusters, self.partner, times, draws)


_EQUAL = 1e-9  # statistics that differ by less, also of their size, are equal
_NOTHING = 1e-12


class Permuted(NamedTuple):
    """A permutation test of one metric."""

    #: The difference, a minus b; studentized, divided by its standard error.
    statistic: float
    pvalue: float
    #: A `fastcmp.kernels.Status`.
    status: int
    #: How many there are, an integer; infinite if it has more than 300 digits.
    n_configurations: float


def exact_exchanges(estimators: Sequence[Estimator], cells: Cells) -> Exchanges | None:
    """What the exact test exchanges, where it takes little time as of two classes; else None."""
    monotone = cells.clusters is None and all(x.is_monotone for x in estimators)
    if cells.clusters is None and not monotone:
        _, a, b = cells.codes.T
        if np.count_nonzero(a != b) > _MOST_CELLS:  # not one factor of 2 a pair
            return None
    exchanges, most = Exchanges(cells), MOST_CONFIGURATIONS
    if any(isinstance(estimator, UserEstimator) for estimator in estimators):
        most = _MOST_CALLS
    few = monotone or (exchanges.can_enumerate and exchanges.n_configurations <= most)
    return exchanges if few else None


def permutation_tests(
    estimators: Sequence[Estimator],
    exchanges: Exchanges,
    *,
    exact: bool,
    alternative: str = "two-sided",
    studentized: bool = False,
    n_resamples: int = 9999,
    seed: int = 0,
    pool: ThreadPool | None = None,
) -> list[Permuted]:
    """Tests of whether two models can be exchanged, by several metrics on the same draws.

    If `exact` by all configurations, else by random ones.
    """
    cells, side = exchanges.cells, list(ALTERNATIVES).index(alternative)

    def evaluate(estimator: Estimator, drawn: Drawn) -> Floats:
        """Statistics of draws; studentized, 0 / 0 is 0 and x / 0 infinite."""
        t = measure(estimator, drawn.tables)
        if not studentized:
            return t
        error = errors_of_draws(estimator, cells, drawn, partner=exchanges.partner)
        t[np.abs(t) <= _NOTHING] = 0.0
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where((t == 0.0) & (error == 0.0), 0.0, t / error)

    data = cells.as_drawn()
    observed = [float(evaluate(estimator, data)[0]) for estimator in estimators]
    slack = [_EQUAL * max(1.0, abs(x)) if math.isfinite(x) else 0.0 for x in observed]
    pvalues: list[float | None] = [None]
    if exact and not studentized:
        pvalues = [_of_two_classes(estimator, cells, alternative) for estimator in estimators]
    if None in pvalues and exact:
        if not exchanges.can_enumerate:
            raise ValueError("there are too many configurations to look at all of them")
        n, fill, beyond = exchanges.enumerate()
        tails_by_start: dict[int, Floats] = {}

        def add(part: slice, drawn: Drawn) -> None:
            rows = np.zeros((len(estimators), 4))
            assert drawn.weights is not None
            for row, estimator, x, near in zip(rows, estimators, observed, slack, strict=True):
                add_tails(evaluate(estimator, drawn), drawn.weights, x, near, row)
            tails_by_start[part.start] = rows

        evaluate_draws(cells, n, fill, add, pool)
        total = np.zeros((len(estimators), 4))
        for start in sorted(tails_by_start):
            total += tails_by_start[start]
        tails = (total[:, :3] + beyond) / (total[:, 3:] + beyond)
        pvalues = np.minimum(tails[:, side], 1.0).tolist()
    elif None in pvalues:
        t = np.empty((len(estimators), n_resamples))

        def keep(part: slice, drawn: Drawn) -> None:
            for row, estimator in zip(t, estimators, strict=True):
                row[part] = evaluate(estimator, drawn)

        evaluate_draws(cells, n_resamples, exchanges.random(seed), keep, pool)
        pvalues = []
        for row, x, near in zip(t, observed, slack, strict=True):
            inside = (np.abs(row) < abs(x) - near, row < x - near, row > x + near)[side]
            pvalues.append((int(np.count_nonzero(~inside)) + 1.0) / (n_resamples + 1.0))
    tests = []
    for x, pvalue in zip(observed, pvalues, strict=True):
        assert pvalue is not None
        test = Permuted(x, pvalue, OK, exchanges.n_configurations)
        if not exchanges.totals.size:  # also where the metric of both is undefined
            test = test._replace(statistic=0.0, pvalue=1.0, status=DEGENERATE)
        elif math.isnan(x):
            test = test._replace(pvalue=math.nan, status=UNDEFINED)
        tests.append(test)
    return tests


def _of_two_classes(estimator: Estimator, cells: Cells, alternative: str) -> float | None:
    """The exact p-value without a look at each configuration; None if it takes one."""
    if not estimator.is_monotone or cells.clusters is not None:
        return None
    if isinstance(estimator, AdjustedForChance):
        estimator = estimator.base
    assert isinstance(estimator, KernelEstimator)
    counts = np.zeros((2, 2, 2))
    counts[tuple(cells.codes.T)] = cells.counts
    if not counts.any(axis=(1, 2)).all():
        return None
    of = estimator.spec, estimator.listed, estimator.penalty
    pvalue = kernels.two_class_exchange_pvalue(counts, *of, ALTERNATIVES[alternative])
    return None if math.isnan(pvalue) else pvalue
