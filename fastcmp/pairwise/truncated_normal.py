"""The mean of a truncated normal distribution, by a quantile that was observed."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_ROOT = math.sqrt(0.5)
_HALVINGS = 400  # at most; a bracket ends when no number is left in it
_FARTHEST = 1e200


def survival(x: float, low: float, high: float) -> float:
    """P(X >= x) for a standard normal X that lies between low and high.

    In a tail every term is divided by the density at the nearer end, so that digits are
    lost neither far out nor between near ends.
    """
    from scipy.special import erfcx, ndtr

    if x <= low or x >= high:
        return 1.0 if x <= low else 0.0
    if high < 0.0:
        return 1.0 - survival(-x, -high, -low)
    if low <= 0.0:
        above = ndtr(-x) - ndtr(-high) if x > 0.0 else ndtr(high) - ndtr(x)
        return float(above / (ndtr(high) - ndtr(low)))

    def tail(t: float) -> float:
        if math.isinf(t):
            return 0.0
        return float(erfcx(_ROOT * t)) * math.exp(-0.5 * (t - low) * (t + low))

    beyond = tail(high)
    return (tail(x) - beyond) / (tail(low) - beyond)


def solve(
    found: Callable[[float], float], wanted: float, ends: tuple[float, float]
) -> float:
    """Find where a function that rises from 0 to 1 between two ends has a value."""
    a, b = ends
    for _ in range(_HALVINGS):
        middle = 0.5 * (a + b)
        if middle in (a, b):
            break
        a, b = (middle, b) if found(middle) < wanted else (a, middle)
    return 0.5 * (a + b)


def conditional_mean(
    x: float, sigma: float, truncation: tuple[float, float], probability: float
) -> float:
    """Find the mean at which x or more has a probability, given the truncation.

    x, of standard error sigma, was seen only because it lies between the two ends.
    """
    low, high = truncation

    def found(mean: float) -> float:
        z, a, b = ((t - mean) / sigma for t in (x, low, high))
        return survival(z, a, b)

    ends, step = [x, x], sigma
    for k, sign in ((0, -1.0), (1, 1.0)):
        step = sigma
        while sign * (found(ends[k]) - probability) < 0.0 and step < _FARTHEST * sigma:
            ends[k], step = x + sign * step, 2.0 * step
    return solve(found, probability, (ends[0], ends[1]))


def hybrid_mean(
    x: float,
    sigma: float,
    truncation: tuple[float, float],
    critical: float,
    probability: float,
) -> float:
    """Do the same, given too that x lies within `critical` errors of the mean."""
    low, high = truncation

    def found(mean: float) -> float:
        z, a, b = ((t - mean) / sigma for t in (x, low, high))
        return survival(z, max(a, -critical), min(b, critical))

    return solve(found, probability, (x - critical * sigma, x + critical * sigma))
