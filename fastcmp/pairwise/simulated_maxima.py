"""Quantiles of the largest of many correlated normal statistics, by simulation."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fastcmp.core.checks import as_resamples
from fastcmp.core.memory import check_draws
from fastcmp.core.threads import no_step, parts
from fastcmp.kernels.max_t import difference_maxima
from fastcmp.pairwise.gaussian_draws import (
    LATTICE,
    Directions,
    directions,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from fastcmp.core.threads import ThreadPool

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

_BLOCK = 120  # draws; those of a tile of models stay in a first-level cache
_WORK = 2e8  # pairs times draws that are worth it: a part of a second
_FEWEST, _MOST = 1000, 50_000
_LATTICE_DRAWS = 8_000  # as precise as _MOST random ones: levels to 0.001
_TAIL = 50  # draws beyond the critical value, at least
_BINS = 512
_PRECISION = 1e-9
_FAR = 1e100  # of a statistic; its square is finite
#: Of the variances of both; less is rounding: the models are the same but for a shift.
SAME = 1e-10
_ALIKE = 3e-3  # of the largest standard error: less is too little for single precision
_TIE = 1e-9  # statistics that differ by less are equal


def read_draws(n_resamples: int | None, n_models: int, level: float) -> int:
    """Check a number of draws; None is as many as a level to 0.001 needs.

    Of many models fewer, but some in the tail.
    """
    if n_resamples is None:
        most = _LATTICE_DRAWS if n_models <= LATTICE else _MOST
        usual = min(max(int(_WORK / n_models**2), _FEWEST), most)
        return max(usual, int(np.ceil(_TAIL / (1.0 - level))))
    n_draws = as_resamples(n_resamples)
    least = int(np.ceil(1.0 / (1.0 - level) - 1e-9))
    if n_draws < least:
        raise ValueError(
            f"n_resamples must be at least {least} for the level {level:g}, got {n_draws}"
        )
    return n_draws


def upper_quantile(alpha: float, df: float) -> float:
    """Give the number that a statistic alone is above with the probability alpha."""
    from scipy.special import ndtri, stdtrit

    return float(-(ndtri(alpha) if math.isinf(df) else stdtrit(df, alpha)))


@dataclass(frozen=True)
class Maxima:
    """Draws of models' estimates about their true values, and what is largest in them.

    Where there are few models, a quantile is an average over the lengths that a draw
    could have had as well: only its direction is drawn. And each draw counts with its
    mirror image too. That is worth five to twenty times as many draws.

    Statistics with standard errors of their own, from the same few items, are less
    alike than those of a multivariate t, which share one: its critical values are too
    low. So normal numbers are drawn, and turned into t one by one, each as probable as
    before (Hasler and Hothorn, Biometrical Journal 50 (2008) 793-800).
    """

    draws: Directions
    pool: ThreadPool
    #: Degrees of freedom of the standard errors: of t, infinite for normal statistics.
    df: float = math.inf

    @classmethod
    def of(
        cls,
        covariance: Floats,
        n_draws: int,
        seed: int,
        pool: ThreadPool,
        df: float = math.inf,
        errors: Floats | None = None,
    ) -> Maxima:
        """Draw; what is common to all models is left out.

        `errors` are the standard errors of differences, 0 where there is none to test:
        where none is tiny, many models are drawn in single precision.
        """
        m = len(covariance)
        check_draws(n_draws, 2 * m + 5 * m * m / n_draws, of=f" of {m} models")
        means = covariance.mean(axis=0)
        centred = covariance - means
        centred -= (means - means.mean())[:, None]
        single = False
        if errors is not None:
            least = np.min(errors, where=errors > 0.0, initial=np.inf)
            largest = np.sqrt(np.diagonal(centred).max())
            single = bool(least > _ALIKE * largest)
        drawn = directions(centred, n_draws, seed, pool, single=single)
        return cls(drawn, pool, df)

    @classmethod
    def of_values(cls, values: Floats, pool: ThreadPool) -> Maxima:
        """Take draws as they are, shape (M, B)."""
        return cls(Directions(values, np.ones(values.shape[1]), LATTICE + 1), pool)

    @property
    def smooth(self) -> bool:
        """Whether quantiles are averages over lengths."""
        return 0 < self.draws.df <= LATTICE

    def largest(
        self,
        weights: Floats,
        rows: Ints | None = None,
        *,
        apart: bool = False,
        sign: float = 1.0,
        only: Ints | None = None,
    ) -> Floats:
        """Find the largest weighted differences of each draw, at least 0.

        Those of models `rows` from the others, row by row of `weights`, (R, M): of all
        together, shape (1, N), or `apart`, (R, N). N is the number of draws, twice it
        where each has a mirror image; of draws with another `sign`, or `only` of some.
        """
        m = weights.shape[1]
        rows = np.arange(m) if rows is None else rows
        targets = np.arange(rows.size) if apart else np.zeros(rows.size, np.int64)
        values = self.draws.values if only is None else self.draws.values[:, only]
        n, kind = values.shape[1], values.dtype
        weights = np.ascontiguousarray(weights, kind)
        signs = (sign, -sign) if self.smooth else (sign,)
        found = np.zeros((rows.size if apart else 1, len(signs) * n))

        def look(some: slice) -> None:
            block = np.ascontiguousarray(values[:, some])
            for k, each in enumerate(signs):
                out = np.zeros((len(found), block.shape[1]), kind)
                turned = block if each > 0.0 else -block
                difference_maxima(turned, weights, rows, targets, out)
                found[:, k * n + some.start : k * n + some.stop] = out

        tasks = parts(n, _BLOCK)
        small = rows.size * m * n < 1 << 20
        self.pool.run(look, tasks, steps=no_step, here=small)
        return found

    def quantiles(self, found: Floats, level: float) -> Floats:
        """Quantile of the statistics of each row of drawn maxima, shape (T,)."""
        if not self.smooth:
            return as_t(order_statistics(found, level), self.df)
        lengths = np.resize(self.draws.lengths, found.shape[1])
        near = order_statistics(found, level)
        normal = [
            _smooth(row / lengths, self._below, level, float(start))
            for row, start in zip(found, near, strict=True)
        ]
        return as_t(np.array(normal), self.df)

    def tails(self, found: Floats, at: Floats) -> Floats:
        """Probability that one row of maxima, (N,), reaches each of some statistics."""
        from scipy.special import ndtri, stdtr

        if math.isfinite(self.df):
            at = np.where(at > 0.0, -ndtri(stdtr(self.df, -at)), at)
        if not self.smooth:
            behind = found.size - np.searchsorted(np.sort(found), at - _TIE)
            return np.asarray((1.0 + behind) / (1.0 + found.size))
        lengths = np.resize(self.draws.lengths, found.size)
        return _smooth_tails(found / lengths, self._above, at)

    def _below(self, squares: Floats) -> Floats:
        """P(length**2 <= square) of a draw."""
        from scipy.special import gammainc

        return np.asarray(gammainc(0.5 * self.draws.df, 0.5 * squares))

    def _above(self, squares: Floats) -> Floats:
        """P(length**2 >= square) of a draw."""
        from scipy.special import gammaincc

        return np.asarray(gammaincc(0.5 * self.draws.df, 0.5 * squares))


def as_t(normal: Floats, df: float) -> Floats:
    """Statistics that are as improbable by t as some are by the normal distribution."""
    from scipy.special import ndtr, stdtrit

    if math.isinf(df):
        return normal
    return np.asarray(-np.sign(normal) * stdtrit(df, ndtr(-np.abs(normal))))


def order_statistics(found: Floats, level: float) -> Floats:
    """Give the order statistic of each row above which at most 1 - level lie."""
    n = found.shape[-1]
    place = min(int(np.ceil(level * (n + 1) - 1e-9)), n) - 1
    return np.asarray(np.partition(found, place, axis=-1)[..., place], np.float64)


def _smooth(ratios: Floats, below: Callable[[Floats], Floats], level: float, start: float) -> float:
    """Find the q with mean P(ratio * length <= q) = level; `start` is near it."""
    positive = ratios[ratios > 0.0]
    if positive.size <= (1.0 - level) * ratios.size:
        return 0.0
    nodes, numbers = _grouped(positive)
    wanted = level * ratios.size - (ratios.size - positive.size)

    def excess(q: float) -> float:
        return float(numbers @ below((q / nodes) ** 2) - wanted)

    low, high = 0.8 * start, 1.25 * start + 1e-300
    while excess(low) > 0.0:
        low *= 0.5
    while excess(high) < 0.0:
        high *= 2.0
    return _root(excess, low, high)


def _root(excess: Callable[[float], float], a: float, b: float) -> float:
    """Find where a function that rises from a to b is 0, by false positions."""
    at_a, at_b, side = excess(a), excess(b), 0
    while b - a > _PRECISION * b and at_a < 0.0 < at_b:
        c = b - at_b * (b - a) / (at_b - at_a)
        at_c, before = excess(c), side
        if at_c < 0.0:
            a, at_a, side = c, at_c, -1
        else:
            b, at_b, side = c, at_c, 1
        if abs(at_c) <= _PRECISION * _BINS:
            return c
        if side == before:  # the Illinois rule: an end that stays counts half
            at_a, at_b = (0.5 * at_a, at_b) if side == 1 else (at_a, 0.5 * at_b)
    return 0.5 * (a + b)


def _smooth_tails(ratios: Floats, above: Callable[[Floats], Floats], at: Floats) -> Floats:
    """Give the mean of P(ratio * length >= t) for each t."""
    positive = ratios[ratios > 0.0]
    none = np.where(at <= 0.0, 1.0, 0.0)
    if not positive.size:
        return none
    nodes, numbers = _grouped(positive)
    upper = above((np.clip(at, 0.0, _FAR)[:, None] / nodes) ** 2)
    return np.where(at <= 0.0, 1.0, upper @ numbers / ratios.size)


def _grouped(values: Floats) -> tuple[Floats, Floats]:
    """Spread positive numbers over equidistant nodes; give these and their numbers."""
    low, high = values.min(), values.max()
    place = (values - low) / max((high - low) / (_BINS - 1), 1e-300)
    left = np.minimum(place.astype(np.int64), _BINS - 2)
    part = place - left
    numbers = np.zeros(_BINS)
    numbers += np.bincount(left, 1.0 - part, _BINS)
    numbers += np.bincount(left + 1, part, _BINS)
    return np.linspace(low, high, _BINS), numbers
