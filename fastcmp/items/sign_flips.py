"""Sign-flip tests of two models, and of all pairs, by sums over units."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from fastcmp.core.checks import ALTERNATIVES
from fastcmp.core.threads import ThreadPool, check_draws
from fastcmp.core.typing import Flags, Floats, Ints, Numbers, Pairs
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

_EXACT = 2.0**52
#: Steps that values are multiples of: 1/k for small k, eighths and the like, decimals.
_STEPS = np.unique(
    np.concatenate(
        [np.arange(1, 129), 2.0 ** np.arange(21), 10.0 ** np.arange(7)]
        + [k * 10.0 ** np.arange(1, 5) for k in (2, 4, 5, 8)]
    )
)
_LOOKED_AT = 16  # values that choose the step; it is checked on all


class FlippedUnits(NamedTuple):
    """Values and sizes of units, so scaled that the sum of a model is its mean x n."""

    #: Shape (M, G); whole numbers, or less the mean of each unit over models.
    values: Floats
    whole: bool
    #: Shape (G,).
    sizes: Floats
    #: Of the squared residual of each unit in the variance, n / (n - 1) in CR1, shape (G,).
    factors: Floats
    #: Where each stratum begins, and G; shape (H + 1,).
    starts: Ints


def read_units(units: UnitSums) -> FlippedUnits:
    """Units scaled by the weights of their strata, and their step."""
    n_strata = units.weights.size
    starts = np.searchsorted(units.strata, np.arange(n_strata + 1))
    scale = _rational(units.weights / np.add.reduceat(units.sizes, starts[:-1]))
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
    n = np.diff(starts).astype(float)
    factors = np.divide(n, n - 1, out=np.ones_like(n), where=n > 1)[units.strata]
    return FlippedUnits(values, whole, sizes, factors, starts)


def _rational(scale: Floats) -> Floats:
    """Scales as whole numbers where that is possible: they matter up to a factor.

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
    """The least k for which k times the sums are whole numbers, but for rounding."""
    sample = sums.reshape(-1)[:: max(1, sums.size // _LOOKED_AT)]
    rounding = 64 * float(np.finfo(np.float64).eps)
    single = float(np.finfo(np.float32).eps)
    if of_values >= single or np.array_equal(sample, sample.astype(np.float32)):
        rounding = 2 * single
    for k in _STEPS[_is_whole(sample, _STEPS[:, None], rounding, axis=1)].tolist():
        if bool(_is_whole(sums, k, rounding)):
            return float(k)
    return None


def _is_whole(sums: Floats, k: Numbers, rounding: float, axis: int | None = None) -> Any:
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


class SignFlips:
    """Sums of models with the signs of all draws, and tests of pairs by them.

    Of two models `alone` the p-value is exact up to 20 units, and for the plain test where
    differences are whole multiples of a step, or where up to 40 are not 0; the interval up to
    20 units.
    """

    def __init__(
        self,
        units: UnitSums,
        level: float,
        pool: ThreadPool,
        *,
        n_resamples: int,
        seed: int,
        studentized: bool = False,
        alternative: str = "two-sided",
        alone: bool = False,
    ) -> None:
        """Draw signs, and add up the values of all models with them."""
        values, whole, sizes, factors, starts = read_units(units)
        most, self._steps = _ALL_OF_MANY, _STEPS_OF_MANY
        if alone:
            difference = values[0] - values[1]
            values = np.stack([difference, np.zeros_like(difference)])
            most, self._steps = _ALL_OF_ONE, _STEPS_OF_ONE
        self.n_nonzero = int(np.count_nonzero(values[0]))
        signs = SignDraws.of(sizes.size, most, n_resamples, seed)
        self.n_draws, self.complete = signs.n_draws, signs.complete
        # How many draws must be as extreme for a p-value above alpha.
        rank = (1.0 - level) * (signs.n_draws + (not signs.complete)) + 1e-9
        rank = int(np.floor(rank)) + signs.complete
        how = (0 if signs.complete else 1, ALTERNATIVES[alternative], rank)
        self._student = Units(values, sizes, factors, starts)
        self._studentized, self._total = studentized, float(sizes.sum())
        n_strata = starts.size - 1
        rows = np.concatenate([values, sizes[None]])
        if not alone:
            width = len(rows) * (2 * n_strata if studentized else 1)
            check_draws(signs.n_draws, width, None, f" of {len(values)} models")
        self._draws: Draws | StudentDraws
        # With equal sizes t is a function of the sum.
        if not studentized or (n_strata == 1 and bool((sizes == sizes[0]).all())):
            sums = signed_sums(rows, slice(0, rows.shape[1]), 0, signs, pool)
            inverses = _inverses(sums[-1], self._total, alternative)
            self._draws = Draws(sums, inverses, *how)
            totals = values.sum(axis=1)
            self._observed = Observed(values, totals, np.abs(values).sum(axis=1), whole)
            return
        check_draws(signs.n_draws, 2.0 * n_strata * len(rows))
        sums = np.empty((n_strata, 2, len(rows), signs.n_draws))
        weighted = rows * (sizes * factors)
        start = 0
        for h, stratum in enumerate(map(slice, starts[:-1].tolist(), starts[1:].tolist())):
            sums[h, 0] = signed_sums(rows, stratum, start, signs, pool)
            sums[h, 1] = signed_sums(weighted, stratum, start, signs, pool)
            start += -(-(stratum.stop - stratum.start) // 64)
        self._draws = StudentDraws(sums, *how)

    def evaluate(self, pairs: Pairs) -> tuple[Floats, Flags]:
        """Statistic, p-value and both ends of the interval, (P, 4); which p-values are exact."""
        tests = self.test(pairs)
        return np.concatenate([tests[:, :2], self.limits(pairs)], axis=1), tests[:, 2] > 0.0

    def pvalues(self, pairs: Pairs) -> Floats:
        """The p-values alone, shape (P,)."""
        return self.test(pairs)[:, 1]

    def test(self, pairs: Pairs) -> Floats:
        """Statistics, p-values, and 1 where these are exact, shape (P, 3)."""
        pairs, out = np.ascontiguousarray(pairs), np.empty((len(pairs), 3))
        if isinstance(self._draws, StudentDraws):
            tests = np.empty((len(pairs), 2))
            student_test_pairs(self._student, self._draws, pairs, tests)
            out[:, :2], out[:, 2] = tests, 1 - self._draws.added
            return out
        test_pairs(self._observed, self._draws, pairs, self._steps, out)
        out[:, 0] /= self._total
        if self._studentized:
            statistics = np.empty(len(pairs))
            balanced_statistics(self._student.values, self._student.factors[0], pairs, statistics)
            out[:, 0] = statistics
        return out

    def limits(self, pairs: Pairs) -> Floats:
        """The ends of the intervals for differences of means, shape (P, 2)."""
        pairs, out = np.ascontiguousarray(pairs), np.empty((len(pairs), 2))
        if isinstance(self._draws, StudentDraws):
            student_pair_limits(self._student, self._draws, pairs, out)
            return out
        totals = self._observed.totals
        differences = totals[pairs[:, 0]] - totals[pairs[:, 1]]
        pair_limits(self._draws, pairs, differences, self._total, out)
        return out


def _inverses(sizes: Floats, total: float, alternative: str) -> Floats:
    """Inverses of the divisors of `pair_limits`, but for draws whose signs are all alike."""
    inverses = np.zeros((3, sizes.size))
    for k, left in enumerate((total - sizes, total + sizes)):
        usable = left > 1e-12 * total
        inverses[k, usable] = 1.0 / left[usable]
        if k == 0 or alternative == "two-sided":
            inverses[2, ~usable] = -np.inf
    return inverses
