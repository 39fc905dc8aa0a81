"""Units as sign-flip tests take them: on one scale, in whole numbers where possible."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from fastcmp.counts.unit_sums import UnitSums

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
        """Give the units of each stratum."""
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
    """Give the factor of each squared residual: 1, G / (G - 1), 1 / (1 - n_g / n)."""
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
