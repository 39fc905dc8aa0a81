"""Permutation tests of metrics of two models, on the cells of their counts.

Under the null hypothesis the predictions of both models can be exchanged in each
sample. The statistic changes its sign where all of them are.

Of the samples in the cells (t, a, b) and (t, b, a), a not b, a binomial number lies in
the first. Clusters are exchanged as a whole.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
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
from fastcmp.metrics.bootstrap import Fill, evaluate_draws, measure, standard_errors
from fastcmp.metrics.cells import Cells, Drawn
from fastcmp.metrics.estimators import AdjustedForChance, Estimator, KernelEstimator, UserEstimator

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

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
    def _flipped(self) -> NDArray[np.bool_]:
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


def is_exact(estimators: Sequence[Estimator], cells: Cells) -> bool:
    """Whether the exact test takes little time: of two classes nearly always."""
    if cells.clusters is None:
        if all(estimator.is_monotone for estimator in estimators):
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
    exchanges = Exchanges(cells)
    cells, side = exchanges.cells, list(ALTERNATIVES).index(alternative)

    def evaluate(estimator: Estimator, drawn: Drawn) -> Floats:
        """Statistics of draws; studentized, 0 / 0 is 0 and x / 0 infinite."""
        t = measure(estimator, drawn.tables)
        if not studentized:
            return t
        error = standard_errors(estimator, cells, drawn, partner=exchanges.partner)
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
