"""The mean of a truncated normal distribution, by a quantile that was observed."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_ROOT = math.sqrt(0.5)
_HALVINGS = 400  # at most; a bracket ends when no number is left in it
_FARTHEST = 1e200


def survival(z: float, below: float, above: float) -> float:
    """P(X >= z) for a standard normal X that lies within [z - below, z + above].

    In a tail every term is divided by the density at the nearer end, so that digits are
    lost neither far out nor between near ends.
    """
    from scipy.special import erfcx, ndtr

    if below <= 0.0 or above <= 0.0:
        return 1.0 if below <= 0.0 else 0.0
    low, high = z - below, z + above
    if high < 0.0:
        return 1.0 - survival(-z, above, below)
    if low <= 0.0:
        beyond = ndtr(-z) - ndtr(-high) if z > 0.0 else ndtr(high) - ndtr(z)
        return float(beyond / (ndtr(high) - ndtr(low)))

    def tail(more: float) -> float:
        """Give P(X >= low + more), but for a factor that is the same for all."""
        if math.isinf(more):
            return 0.0
        t = low + more
        return float(erfcx(_ROOT * t)) * math.exp(-0.5 * more * (t + low))

    rest = tail(below + above)
    return (tail(below) - rest) / (tail(0.0) - rest)


def solve(found: Callable[[float], float], wanted: float, ends: tuple[float, float]) -> float:
    """Find where a function that rises from 0 to 1 between two ends has a value."""
    a, b = ends
    for _ in range(_HALVINGS):
        middle = 0.5 * (a + b)
        if middle in (a, b):
            break
        a, b = (middle, b) if found(middle) < wanted else (a, middle)
    return 0.5 * (a + b)


def truncated_mean(
    x: float,
    error: Callable[[float], float],
    truncation: tuple[float, float],
    probability: float,
    ends: tuple[float, float],
    critical: float = math.inf,
) -> float:
    """Mean, between two ends, at which x or more has a probability.

    x was seen only because it lies within `truncation`, and within `critical` standard
    errors of the mean; `error` is the standard error at a mean.
    """

    def found(mean: float) -> float:
        sigma = error(mean)
        z = (x - mean) / sigma
        below, above = (x - truncation[0]) / sigma, (truncation[1] - x) / sigma
        return survival(z, min(below, z + critical), min(above, critical - z))

    return solve(found, probability, ends)


def conditional_mean(
    x: float, sigma: float, truncation: tuple[float, float], probability: float
) -> float:
    """Mean at which x or more has a probability, given the truncation.

    x, of standard error sigma, was seen only because it lies between the two ends.
    """
    below, above = (x - truncation[0]) / sigma, (truncation[1] - x) / sigma
    ends = [x, x]
    for k, sign in ((0, -1.0), (1, 1.0)):
        step = sigma
        while (
            sign * (survival((x - ends[k]) / sigma, below, above) - probability) < 0.0
            and step < _FARTHEST * sigma
        ):
            ends[k], step = x + sign * step, 2.0 * step
    return truncated_mean(x, lambda _: sigma, truncation, probability, (ends[0], ends[1]))
