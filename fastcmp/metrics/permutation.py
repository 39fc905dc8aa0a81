"""Permutation tests of metrics of two models, on the cells of their counts.

Of the samples in the cells (t, a, b) and (t, b, a), a not b, a binomial number lies in
the first. Clusters are exchanged as a whole.

Under the null hypothesis the predictions of both models can be exchanged in each
sample. The statistic changes its sign where all of them are.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastcmp import kernels
from fastcmp.core.checks import ALTERNATIVES
from fastcmp.core.threads import ThreadPool
from fastcmp.kernels.binomial import binomial_half
from fastcmp.kernels.count_draws import add_tails, enumerate_swaps, half_chances, swap_cells
from fastcmp.kernels.item_bootstrap import cluster_cells
from fastcmp.kernels.sign_flips import random_signs
from fastcmp.kernels.status import DEGENERATE, OK, UNDEFINED
from fastcmp.metrics.bootstrap import evaluate_draws, measure, standard_errors
from fastcmp.metrics.cells import Cells, Drawn
from fastcmp.metrics.estimators import AdjustedForChance, Estimator, KernelEstimator, UserEstimator

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Fill = Callable[[slice, Floats], tuple[Floats | None, Floats | None]]

#: Configurations that are all looked at; of two classes many more.
MOST_CONFIGURATIONS = 2_000_000
_MOST_OF_TWO = 4_000_000_000
_MOST_NUMBERS = 4_000_000_000  # in the tables of all configurations
_CUT = 9.0  # standard deviations of a count; less than 3e-19 lies beyond


class Configurations(NamedTuple):
    """All configurations but those that an exchange of the models makes of others."""

    n: int
    fill: Fill
    #: Probability of those that are left out because they are so improbable.
    beyond: float


class Exchanges:
    """The cells of two models, and what can be exchanged."""

    def __init__(self, cells: Cells) -> None:
        self.cells, self.partner = _with_partners(cells)
        self._discordant = self.partner != np.arange(self.partner.size)
        first = self.partner > np.arange(self.partner.size)
        totals = (self.cells.counts + self.cells.counts[self.partner])[first]
        #: Samples of each pair of cells.
        self.totals = totals[totals > 0]
        self.n_discordant = int(self.totals.sum())

    @cached_property
    def _flipped(self) -> NDArray[np.bool_]:
        """Tell which clusters an exchange changes."""
        clusters = self.cells.clusters
        assert clusters is not None
        changed = self._discordant[clusters.places].astype(np.int64)
        return np.asarray(np.add.reduceat(changed, clusters.starts[:-1]) > 0)

    @cached_property
    def n_configurations(self) -> float:
        """Count the configurations, of samples or of clusters: an integer.

        Infinite if it has more than 300 digits, which no one reads.
        """
        totals = self.totals
        if self.cells.clusters is not None:
            totals = np.ones(int(self._flipped.sum()), np.int64)
        if np.log10(totals + 1.0).sum() > 300.0:
            return math.inf
        return math.prod(int(total) + 1 for total in totals)

    @cached_property
    def can_enumerate(self) -> bool:
        """Whether all configurations can be looked at."""
        k = self.cells.n_classes
        n = self.n_configurations
        if k == 2 and self.cells.clusters is None:
            return math.prod(self._radices(self._least)) <= _MOST_OF_TWO
        return n <= MOST_CONFIGURATIONS and 2 * n * k * k <= _MOST_NUMBERS

    @cached_property
    def _least(self) -> Ints:
        """The least number of each pair of cells that is looked at."""
        least = np.zeros(self.totals.size, np.int64)
        if self.n_configurations > MOST_CONFIGURATIONS:
            far = self.totals / 2 - _CUT / 2 * np.sqrt(self.totals)
            least = np.maximum(np.floor(far), 0.0).astype(np.int64)
        return least

    def _radices(self, least: Ints) -> list[int]:
        return [int(total) + 1 for total in self.totals - 2 * least]

    def enumerate(self) -> Configurations:
        """Enumerate the configurations."""
        return self._all_cells() if self.cells.clusters is None else self._all_signs()

    def _all_cells(self) -> Configurations:
        least, radices = self._least, self._radices(self._least)
        chances = np.zeros((len(radices), max(radices, default=1)))
        for row, radix, total, low in zip(chances, radices, self.totals, least, strict=True):
            half_chances(int(total), int(low), row[:radix])
        n = math.prod(radices)

        def fill(part: slice, draws: Floats) -> tuple[None, Floats]:
            weights = np.empty(len(draws))
            where = self.cells.counts, self.partner, least, chances
            enumerate_swaps(*where, part.start, draws, weights)
            if 2 * part.stop > n:  # its own mirror image, which is counted twice
                weights[-1] *= 0.5
            return None, weights

        return Configurations((n + 1) // 2, fill, self._beyond(least))

    def _beyond(self, least: Ints) -> float:
        total = 0.0
        for low, n in zip(least.tolist(), self.totals.tolist(), strict=True):
            if low > 0:
                mid, pmf = binomial_half(float(low), float(n))
                total += 2.0 * max(mid - 0.5 * pmf, 0.0)
        return total

    def _all_signs(self) -> Configurations:
        n_flipped = int(self._flipped.sum())
        bits = np.arange(max(n_flipped - 1, 0))  # the last one stays as it is

        def fill(part: slice, draws: Floats) -> tuple[Floats, Floats]:
            numbers = np.arange(part.start, part.stop)[:, np.newaxis]
            signs = np.ones((len(draws), n_flipped))
            signs[:, : bits.size] -= 2.0 * (numbers >> bits & 1)
            times = np.ones((len(draws), self._flipped.size))
            times[:, self._flipped] = signs
            self._exchange(times, draws)
            return times, np.full(len(draws), 0.5)

        return Configurations(1 << bits.size, fill, 0.0)

    def random(self, seed: int) -> Fill:
        """Exchange at random: draw i is a function of (seed, i)."""

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


def _with_partners(cells: Cells) -> tuple[Cells, Ints]:
    """Add the cells with exchanged predictions, and tell where they stand."""
    k = cells.n_classes
    base = np.array([k * k, k, 1])
    keys, swapped = cells.codes @ base, cells.codes[:, [0, 2, 1]] @ base
    both = np.sort(np.concatenate([keys, swapped]))  # faster than np.union1d
    both = both[np.diff(both, prepend=-1) > 0]
    place = np.searchsorted(both, keys)
    counts = np.zeros(both.size, np.int64)
    counts[place] = cells.counts
    codes = both[:, np.newaxis] // base % k
    partner = np.searchsorted(both, codes[:, [0, 2, 1]] @ base).astype(np.int64)
    clusters = cells.clusters
    if clusters is not None:
        clusters = clusters._replace(places=place[clusters.places].astype(np.int64))
    return cells._replace(codes=codes, counts=counts, clusters=clusters), partner


# Exact permutation tests of two classes, without looking at each configuration.


def rises_with_hits(estimator: Estimator) -> bool:
    """Tell whether a metric rises, or falls, with the samples predicted rightly."""
    if isinstance(estimator, AdjustedForChance):
        estimator = estimator.base
    # Markedness and ratios are undefined at an end, and a rate of 1 for 0/0 is a jump.
    return (
        isinstance(estimator, KernelEstimator)
        and estimator.n_classes == 2
        and not kernels.MARKEDNESS <= estimator.spec.metric <= kernels.ODDS_RATIO
        and estimator.spec.zero_division == 0.0
    )


def exact_pvalue(estimator: Estimator, cells: Cells, alternative: str) -> float | None:
    """Compute the p-value of the exact permutation test; None where it takes all."""
    if not rises_with_hits(estimator) or cells.clusters is not None:
        return None
    if isinstance(estimator, AdjustedForChance):
        estimator = estimator.base
    assert isinstance(estimator, KernelEstimator)
    counts = np.zeros((2, 2, 2))
    counts[tuple(cells.codes.T)] = cells.counts
    if not counts.any(axis=(1, 2)).all():
        return None
    pvalue = kernels.two_class_exchange_pvalue(
        counts, estimator.spec, estimator.listed, estimator.penalty, ALTERNATIVES[alternative]
    )
    return None if math.isnan(pvalue) else pvalue


_EQUAL = 1e-9  # statistics that differ by less, also of their size, are equal
_NOTHING = 1e-12
_MOST_CELLS = 64  # discordant; more have over 2**32 configurations
_MOST_CALLS = 10_000  # of a user's function
_SIDES = ("two-sided", "greater", "less")


class PermutationOutcome(NamedTuple):
    """A permutation test of one metric."""

    #: Of a minus b, also of logarithms; and studentized, divided by its standard error.
    difference: float
    statistic: float
    pvalue: float
    #: Of the p-value, from random configurations; 0 where it is exact.
    standard_error: float
    #: A `fastcmp.kernels.Status`.
    status: int
    #: How many there are, an integer; infinite if it has more than 300 digits.
    n_configurations: float
    #: Random ones that were looked at; 0 where all were.
    n_resamples: int
    #: Samples whose two predictions differ.
    n_discordant: int
    #: Configurations looked at in which the metric is undefined: they are extreme.
    n_undefined: int


def is_exact(estimators: Sequence[Estimator], cells: Cells) -> bool:
    """Tell whether the test is soon exact: of two classes nearly always."""
    if cells.clusters is None:
        if all(rises_with_hits(estimator) for estimator in estimators):
            return True
        _, a, b = cells.codes.T
        if np.count_nonzero(a != b) > _MOST_CELLS:  # not one factor of 2 a pair
            return False
    most = MOST_CONFIGURATIONS
    if any(isinstance(estimator, UserEstimator) for estimator in estimators):
        most = _MOST_CALLS
    exchanges = Exchanges(cells)
    return exchanges.can_enumerate and exchanges.n_configurations <= most


def permutation_tests(
    estimators: Sequence[Estimator],
    cells: Cells,
    *,
    alternative: str = "two-sided",
    studentized: bool = False,
    log: bool = False,
    exact: bool | None = None,
    n_resamples: int = 9999,
    seed: int = 0,
    pool: ThreadPool | None = None,
) -> list[PermutationOutcome]:
    """Test whether two models can be exchanged, by several metrics on the same draws.

    With `log` the difference of logarithms is looked at. `exact` None looks at all
    configurations where `can_enumerate`, and else at random ones.
    """
    exchanges = Exchanges(cells)
    if exact and not studentized and not log:
        found = [exact_pvalue(each, cells, alternative) for each in estimators]
        if None not in found:
            return _sorted_out(estimators, exchanges, found)
    if exact and not exchanges.can_enumerate:
        raise ValueError("there are too many configurations to look at all of them")
    statistics = [
        _Statistic(estimator, exchanges, studentized=studentized, log=log)
        for estimator in estimators
    ]
    if exchanges.can_enumerate if exact is None else exact:
        n_resamples = 0
        tails, n_undefined = _look_at_all(statistics, exchanges, pool)
    else:
        tails, n_undefined = _draw(statistics, exchanges, (n_resamples, seed), pool)
    side = _SIDES.index(alternative)
    return [
        _outcome(statistic, exchanges, float(own[side]), (n_resamples, int(n)))
        for statistic, own, n in zip(statistics, tails, n_undefined, strict=True)
    ]


def _sorted_out(
    estimators: Sequence[Estimator], exchanges: Exchanges, found: list[float | None]
) -> list[PermutationOutcome]:
    """Give p-values that needed no look at each configuration."""
    outcomes = []
    for estimator, pvalue in zip(estimators, found, strict=True):
        assert pvalue is not None
        statistic = _Statistic(estimator, exchanges, studentized=False, log=False)
        outcomes.append(_outcome(statistic, exchanges, pvalue, (0, 0)))
    return outcomes


def _outcome(
    statistic: _Statistic, exchanges: Exchanges, pvalue: float, n: tuple[int, int]
) -> PermutationOutcome:
    n_resamples, n_undefined = n
    status = OK
    observed, difference = statistic.observed, statistic.difference
    if exchanges.n_discordant == 0:  # also where the metric of both is undefined
        observed = difference = 0.0
        pvalue, status = 1.0, DEGENERATE
    elif math.isnan(observed):
        pvalue, status = math.nan, UNDEFINED
    return PermutationOutcome(
        difference=difference,
        statistic=observed,
        pvalue=pvalue,
        standard_error=math.sqrt(pvalue * (1.0 - pvalue) / (n_resamples or math.inf)),
        status=status,
        n_configurations=exchanges.n_configurations,
        n_resamples=n_resamples,
        n_discordant=exchanges.n_discordant,
        n_undefined=n_undefined,
    )


class _Statistic:
    """The statistic of one metric, in the data and in any draw."""

    def __init__(
        self, estimator: Estimator, exchanges: Exchanges, *, studentized: bool, log: bool
    ) -> None:
        self._estimator, self._exchanges = estimator, exchanges
        self._studentized, self._log = studentized, log
        data = exchanges.cells.as_drawn()
        self.difference = float(measure(estimator, data.tables, log=log)[0])
        self.observed = float(self.of(data)[0])
        self.tolerance = 0.0
        if math.isfinite(self.observed):
            self.tolerance = _EQUAL * max(1.0, abs(self.observed))

    def of(self, drawn: Drawn) -> Floats:
        """Evaluate draws; studentized, 0 / 0 is 0 and x / 0 infinite."""
        t = measure(self._estimator, drawn.tables, log=self._log)
        if not self._studentized:
            return t
        error = standard_errors(
            self._estimator,
            self._exchanges.cells,
            drawn,
            log=self._log,
            partner=self._exchanges.partner,
        )
        t[np.abs(t) <= _NOTHING] = 0.0
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where((t == 0.0) & (error == 0.0), 0.0, t / error)

    def count_extreme(self, t: Floats) -> list[int]:
        """Count the draws that are extreme: on both sides, above and below."""
        low, high = self.observed - self.tolerance, self.observed + self.tolerance
        inside = np.abs(t) < abs(self.observed) - self.tolerance
        return [int(np.count_nonzero(~each)) for each in (inside, t < low, t > high)]


def _look_at_all(
    statistics: list[_Statistic], exchanges: Exchanges, pool: ThreadPool | None
) -> tuple[Floats, Floats]:
    """Give the exact p-values of all sides, (E, 3), and count undefined ones, (E,)."""
    configurations = exchanges.enumerate()
    found: dict[int, Floats] = {}

    def take(part: slice, drawn: Drawn) -> None:
        own = np.zeros((len(statistics), 5))
        assert drawn.weights is not None
        for row, statistic in zip(own, statistics, strict=True):
            t = statistic.of(drawn)
            observed = statistic.observed, statistic.tolerance
            add_tails(t, drawn.weights, *observed, row[:4])
            row[4] = 2 * np.count_nonzero(np.isnan(t))
        found[part.start] = own

    evaluate_draws(exchanges.cells, configurations.n, configurations.fill, take, pool)
    total = np.zeros((len(statistics), 5))
    for start in sorted(found):
        total += found[start]
    beyond = configurations.beyond
    pvalues = (total[:, :3] + beyond) / (total[:, 3:4] + beyond)
    return np.minimum(pvalues, 1.0), total[:, 4]


def _draw(
    statistics: list[_Statistic],
    exchanges: Exchanges,
    draws: tuple[int, int],
    pool: ThreadPool | None,
) -> tuple[Floats, Floats]:
    """Give the p-values of random draws, (E, 3), and count undefined ones, (E,)."""
    n_resamples, seed = draws
    t = np.empty((len(statistics), n_resamples))

    def take(part: slice, drawn: Drawn) -> None:
        for row, statistic in zip(t, statistics, strict=True):
            row[part] = statistic.of(drawn)

    evaluate_draws(exchanges.cells, n_resamples, exchanges.random(seed), take, pool)
    extreme = np.array([each.count_extreme(row) for each, row in zip(statistics, t, strict=True)])
    return (extreme + 1.0) / (n_resamples + 1.0), np.isnan(t).sum(axis=1)
