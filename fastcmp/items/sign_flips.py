"""Sign-flip tests of two models, and of all pairs, by sums over units."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastcmp.core.checks import ALTERNATIVES
from fastcmp.core.numbers import times
from fastcmp.core.threads import ThreadPool, check_draws
from fastcmp.counts.pairs import Block, PairColumns
from fastcmp.counts.units import SignDraws, UnitSums, signed_sums
from fastcmp.kernels.flipped_pairs import (
    Draws,
    Observed,
    StudentDraws,
    Units,
    balanced_statistics,
    pair_limits,
    student_pair_limits,
    student_test_pairs,
    test_pairs,
)

if TYPE_CHECKING:
    from fastcmp.pairwise.engine import PairTests

Floats = NDArray[np.float64]

_EXACT = 2.0**52
#: Steps that values are multiples of: 1/k for small k, eighths and the like, decimals.
_STEPS = np.unique(
    np.concatenate(
        [np.arange(1, 129), 2.0 ** np.arange(21), 10.0 ** np.arange(7)]
        + [k * 10.0 ** np.arange(1, 5) for k in (2, 4, 5, 8)]
    )
)
_LOOKED_AT = 16  # values that choose the step; it is checked on all


@dataclass(frozen=True, slots=True, kw_only=True)
class FlippedUnits:
    """Values and sizes of units, so scaled that the sum of a model is its mean x n."""

    #: Shape (M, G); whole numbers, or less the mean of each unit over models.
    values: Floats
    whole: bool
    #: Shape (G,), and their sum n.
    sizes: Floats
    total_size: float
    #: Of the squared residual of each unit in the variance, shape (G,).
    factors: Floats
    #: Where each stratum begins, and G; shape (H + 1,).
    starts: NDArray[np.int64]

    @property
    def n_strata(self) -> int:
        """Number of strata."""
        return self.starts.size - 1

    @property
    def is_balanced(self) -> bool:
        """Whether there is one stratum, of units of one size."""
        return self.n_strata == 1 and bool((self.sizes == self.sizes[0]).all())

    def as_pair(self) -> FlippedUnits:
        """Put the differences of the first two models in place of all values."""
        difference = self.values[0] - self.values[1]
        return replace(self, values=np.stack([difference, np.zeros_like(difference)]))

    def strata(self) -> Iterator[slice]:
        """The units of each stratum."""
        return map(slice, self.starts[:-1].tolist(), self.starts[1:].tolist())


def read_units(units: UnitSums, variance: str = "cr1") -> FlippedUnits:
    """Scale units by the weights of their strata, and find their step."""
    n_strata = units.weights.size
    starts = np.searchsorted(units.strata, np.arange(n_strata + 1))
    sizes_of = np.add.reduceat(units.sizes, starts[:-1])
    scale = _rational(units.weights / sizes_of)
    step = _find_step(units.sums, units.rounding)
    values = units.sums if step is None else np.rint(units.sums * step)
    whole = step is not None and bool((scale == np.rint(scale)).all())
    if n_strata > 1:
        values = values * scale[units.strata]
    if whole:
        whole = float(np.abs(values).sum(axis=1).max(initial=0.0)) < _EXACT
    if not whole:  # differences stay, and lose less to rounding
        values = values - values.mean(axis=0)
    sizes = units.sizes * scale[units.strata] * (1.0 if step is None else step)
    return FlippedUnits(
        values=values,
        whole=whole,
        sizes=sizes,
        total_size=float(sizes.sum()),
        factors=_factors(units, starts, sizes_of, variance),
        starts=starts,
    )


def _factors(units: UnitSums, starts: NDArray[np.int64], sizes_of: Floats, variance: str) -> Floats:
    """The factor of each squared residual: 1, G / (G - 1), 1 / (1 - n_g / n)."""
    if variance == "cr0":
        return np.ones(units.sizes.size)
    if variance == "cr1":
        n = np.diff(starts).astype(float)
        factors = np.divide(n, n - 1, out=np.ones_like(n), where=n > 1)
        return np.asarray(factors[units.strata])
    left = 1.0 - units.sizes / sizes_of[units.strata]
    power = -1.0 if variance == "cr2" else -2.0
    return np.power(left, power, out=np.ones_like(left), where=left > 0)


def _rational(scale: Floats) -> Floats:
    """Make scales whole numbers where that is possible: they matter up to a factor.

    The weights of items, and of tasks that count alike, have a small common divisor.
    """
    ratios = scale / scale.max()
    near = [Fraction(ratio).limit_denominator(10**4) for ratio in ratios.tolist()]
    common = math.lcm(*(ratio.denominator for ratio in near))
    whole = np.array([float(ratio * common) for ratio in near])
    if common <= 10**6 and np.allclose(whole, ratios * common, rtol=1e-13, atol=0):
        return np.asarray(whole / math.gcd(*map(int, whole)))
    return np.asarray(ratios)


def _find_step(sums: Floats, of_values: float) -> float | None:
    """Find the least k of which k times the sums are whole but for rounding."""
    some = sums.reshape(-1)[:: max(1, sums.size // _LOOKED_AT)]
    rounding = 64 * float(np.finfo(np.float64).eps)
    single = float(np.finfo(np.float32).eps)
    if of_values >= single or np.array_equal(some, some.astype(np.float32)):
        rounding = 2 * single
    for k in _STEPS[_is_whole(some, _STEPS[:, None], rounding, axis=1)].tolist():
        if bool(_is_whole(sums, k, rounding)):
            return float(k)
    return None


def _is_whole(sums: Floats, k: Any, rounding: float, axis: int | None = None) -> Any:
    """Whether k times the sums are whole but for rounding, of which there is little."""
    scaled = sums * k
    allowed = rounding * np.abs(scaled).max(axis=axis, initial=0.0)
    scaled -= np.rint(scaled)
    return (np.abs(scaled).max(axis=axis, initial=0.0) <= allowed) & (allowed <= 1e-3)


#: All signs are looked at where there are so many or fewer: of two models, and of each
#: of many pairs, where the draws are kept.
_ALL_OF_ONE, _ALL_OF_MANY = 1 << 20, 1 << 14
#: Steps that the exact distribution of a pair may take.
_STEPS_OF_ONE, _STEPS_OF_MANY = 1 << 29, 1 << 17


class FlipOutcome(NamedTuple):
    """A sign-flip test of two models."""

    #: Difference of means; studentized, t.
    statistic: float
    pvalue: float
    #: Interval for the difference of means, by inversion of the test.
    low: float
    high: float
    #: Draws of the p-value; 0 where it is exact.
    n_resamples: int
    #: Units in which the models differ.
    n_nonzero: int
    #: Whether all signs were looked at, so that the interval is exact too.
    complete: bool


def least_pvalue(n_nonzero: int, alternative: str) -> float:
    """The least p-value that flips of so many differences can have."""
    tails = 2.0 if alternative == "two-sided" else 1.0
    return min(1.0, tails * 0.5**n_nonzero)


def flip_test(
    units: UnitSums,
    *,
    alternative: str,
    studentized: bool,
    n_resamples: int,
    seed: int,
    confidence_level: float | None,
    pool: ThreadPool | None = None,
    variance: str = "cr1",
) -> FlipOutcome:
    """Test two models, the two rows of `units`, and invert the test.

    The p-value is exact up to 20 units, and for the plain test where differences are
    whole multiples of a step, or where up to 40 are not 0; the interval up to 20 units.
    Without a level there is no interval.
    """
    read = read_units(units, variance).as_pair()
    with ThreadPool(1) as own:
        flips = _Flips(
            read,
            _Plan.of(read, _ALL_OF_ONE, n_resamples, seed, confidence_level or 0.95),
            pool or own,
            alternative=alternative,
            studentized=studentized,
            steps=_STEPS_OF_ONE,
        )
    pair = np.array([[0, 1]], np.int32)
    statistic, pvalue, exact = flips.test(pair)[0]
    low = high = np.nan
    if confidence_level is not None:
        low, high = flips.limits(pair)[0]
    n_draws = 0 if exact else flips.n_draws
    nonzero = int(np.count_nonzero(read.values[0]))
    ends = float(low), float(high)
    return FlipOutcome(float(statistic), float(pvalue), *ends, n_draws, nonzero, flips.complete)


def flip_tests(
    units: UnitSums,
    base: PairTests,
    *,
    studentized: bool,
    n_resamples: int,
    seed: int,
    level: float,
    pool: ThreadPool,
    variance: str = "cr1",
    memory_limit: int | None = None,
) -> PairTests:
    """Test all pairs by sums with the same random signs; two-sided."""
    read = read_units(units, variance)
    plan = _Plan.of(read, _ALL_OF_MANY, n_resamples, seed, level)
    rows = (len(units.sums) + 1) * (2 * read.n_strata if studentized else 1)
    check_draws(plan.signs.n_draws, rows, memory_limit, f" of {len(units.sums)} models")
    flips = _Flips(
        read, plan, pool, alternative="two-sided", studentized=studentized, steps=_STEPS_OF_MANY
    )

    def columns(block: Block) -> PairColumns:
        statistic, pvalue, _ = flips.test(block.pairs).T
        if not studentized:  # the difference itself
            statistic = times(statistic, base.exponent)
        nothing = np.full(pvalue.size, -1)
        low, high = flips.limits(block.pairs).T
        difference = base.differences(block.pairs)
        return PairColumns(nothing, nothing, difference, low, high, statistic, pvalue)

    return replace(
        base,
        columns=columns,
        pvalues=lambda block: flips.test(block.pairs)[:, 1],
        distribution="permutation",
        df=None,
    )


class _Plan(NamedTuple):
    """Which signs are drawn, and which of the draws is an end of an interval."""

    signs: SignDraws
    alpha: float

    @classmethod
    def of(cls, units: FlippedUnits, most: int, n_resamples: int, seed: int, level: float) -> _Plan:
        signs = SignDraws.of(units.sizes.size, most, n_resamples, seed)
        return cls(signs, 1.0 - level)

    @property
    def rank(self) -> int:
        """How many draws must be as extreme for a p-value above alpha."""
        n_draws = self.signs.n_draws
        if self.signs.complete:
            return int(np.floor(self.alpha * n_draws + 1e-9)) + 1
        return int(np.floor(self.alpha * (n_draws + 1) + 1e-9))


class _Flips:
    """Sums of all models with the signs of all draws, and tests of pairs by them."""

    def __init__(
        self,
        units: FlippedUnits,
        plan: _Plan,
        pool: ThreadPool,
        *,
        alternative: str,
        studentized: bool,
        steps: int,
    ) -> None:
        self._units, self._steps = units, steps
        self.n_draws, self.complete = plan.signs.n_draws, plan.signs.complete
        how = (0 if plan.signs.complete else 1, ALTERNATIVES[alternative], plan.rank)
        self._student = Units(units.values, units.sizes, units.factors, units.starts)
        self._studentized = studentized
        # With equal sizes t is a function of the sum.
        self._plain = not studentized or units.is_balanced
        rows = np.concatenate([units.values, units.sizes[None]])
        self._draws: Draws | StudentDraws
        if self._plain:
            whole = slice(0, rows.shape[1])
            sums = signed_sums(rows, whole, 0, plan.signs, pool)
            inverses = _inverses(sums[-1], units.total_size, alternative)
            self._draws = Draws(sums, inverses, *how)
            self._observed = Observed(
                units.values,
                units.values.sum(axis=1),
                np.abs(units.values).sum(axis=1),
                units.whole,
            )
            return
        check_draws(plan.signs.n_draws, 2.0 * units.n_strata * len(rows))
        sums = np.empty((units.n_strata, 2, len(rows), plan.signs.n_draws))
        weighted = rows * (units.sizes * units.factors)
        start = 0
        for h, own in enumerate(units.strata()):
            sums[h, 0] = signed_sums(rows, own, start, plan.signs, pool)
            sums[h, 1] = signed_sums(weighted, own, start, plan.signs, pool)
            start += -(-(own.stop - own.start) // 64)
        self._draws = StudentDraws(sums, *how)

    def test(self, pairs: NDArray[np.int32]) -> Floats:
        """Give statistics, p-values, and 1 where these are exact, shape (P, 3)."""
        pairs, out = np.ascontiguousarray(pairs), np.empty((len(pairs), 3))
        if isinstance(self._draws, StudentDraws):
            found = np.empty((len(pairs), 2))
            student_test_pairs(self._student, self._draws, pairs, found)
            out[:, :2], out[:, 2] = found, 1 - self._draws.added
            return out
        test_pairs(self._observed, self._draws, pairs, self._steps, out)
        out[:, 0] /= self._units.total_size
        if self._studentized:
            statistics = np.empty(len(pairs))
            balanced_statistics(self._units.values, self._units.factors[0], pairs, statistics)
            out[:, 0] = statistics
        return out

    def limits(self, pairs: NDArray[np.int32]) -> Floats:
        """The ends of the intervals for differences of means, shape (P, 2)."""
        pairs, out = np.ascontiguousarray(pairs), np.empty((len(pairs), 2))
        if isinstance(self._draws, StudentDraws):
            student_pair_limits(self._student, self._draws, pairs, out)
            return out
        totals = self._observed.totals
        differences = totals[pairs[:, 0]] - totals[pairs[:, 1]]
        pair_limits(self._draws, pairs, differences, self._units.total_size, out)
        return out


def _inverses(sizes: Floats, total: float, alternative: str) -> Floats:
    """Invert what `pair_limits` divides by, but for draws whose signs are all alike."""
    inverses = np.zeros((3, sizes.size))
    for k, left in enumerate((total - sizes, total + sizes)):
        usable = left > 1e-12 * total
        inverses[k, usable] = 1.0 / left[usable]
        if k == 0 or alternative == "two-sided":
            inverses[2, ~usable] = -np.inf
    return inverses
