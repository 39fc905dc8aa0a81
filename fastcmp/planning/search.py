"""Searches: where an increasing power reaches what is wanted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import ndtri

from fastcmp.planning.families import Floats

_STEPS = 200  # of a search, at most
_FACTOR = 1.05  # by which a search goes first
_NEAR = 1e-15  # relative width at which it ends
_ENOUGH = 1e-13  # quantiles from the target at which it ends too


def smallest(
    enough: Callable[[Any], bool],
    high: float,
    low: float,
    *,
    most: float = np.inf,
    width: float = 0,
) -> float:
    """Smallest whole number that is enough; infinite where none up to `most` is.

    By doubling from `high`, and then by halving between it and `low`, which is not enough, to
    a difference of 1, or of `width` times the number.
    """
    while not enough(high):
        low, high = high, 2 * high
        if high > most:
            return np.inf
    while high - low > max(1.0, width * high):
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return float(high)


def halve(enough: Callable[[Any], Any], low: Any, high: Any, times: int) -> Any:
    """Smallest numbers between two bounds that are enough, by so many halvings."""
    for _ in range(times):
        middle = 0.5 * (low + high)
        right = enough(middle)
        low, high = np.where(right, low, middle), np.where(right, middle, high)
    return high


def least(function: Callable[[Any], Any], target: Any, *, start: Any, lowest: Any = 0.0) -> Floats:
    """Numbers > 0 at which an increasing function reaches a target.

    The search goes from `start` by growing factors to the other side, and not below
    `lowest`; where the start is infinite, so is the answer.
    """
    shape = np.broadcast_shapes(np.shape(start), np.shape(target), np.shape(lowest))
    start, lowest = (np.broadcast_to(x, shape).astype(float) for x in (start, lowest))
    known = np.isfinite(start)
    near = np.maximum(np.where(known, start, 1.0), lowest)
    rising = function(near) < target
    far, pending, factor = near.copy(), known.copy(), _FACTOR
    for _ in range(_STEPS):
        moved = np.where(rising, far * factor, np.maximum(far / factor, lowest))
        near, far = np.where(pending, far, near), np.where(pending, moved, far)
        pending &= ((function(far) < target) == rising) & (far != lowest)
        if not pending.any():
            break
        factor = min(factor * factor, 4.0)
    low, high = np.where(rising, near, far), np.where(rising, far, near)
    root = solve(function, target, low, high)
    exceeded = ~rising & (far == lowest) & (function(lowest) >= target)
    return np.where(known, np.where(exceeded, lowest, root), start)


def solve(function: Callable[[Any], Any], target: Any, low: Any, high: Any) -> Floats:
    """Numbers between two bounds at which an increasing probability reaches a target.

    Chandrupatla (1997): inverse quadratic interpolation where that is safe, else
    bisection; for all entries at once, and on the scale of normal quantiles.
    `scipy.optimize.elementwise` has it too, and takes longer to import than all of this.
    """
    low, high, _ = np.broadcast_arrays(low, high, target)
    aim = ndtri(target)
    (x1, f1), (x2, f2) = ((x, ndtri(function(x)) - aim) for x in (high, low))
    t: Any = 0.5
    best = x1
    for _ in range(_STEPS):
        x = x1 + t * (x2 - x1)
        f = ndtri(function(x)) - aim
        same = np.sign(f) == np.sign(f1)
        x3, f3 = np.where(same, x1, x2), np.where(same, f1, f2)
        x2, f2 = np.where(same, x2, x1), np.where(same, f2, f1)
        x1, f1 = x, f
        best = np.where(np.abs(f1) < np.abs(f2), x1, x2)
        width = np.abs(x2 - x1)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            least_t = np.where(width > 0.0, _NEAR * np.abs(best) / width, 1.0)
            if np.all((least_t > 0.5) | (np.abs(f) < _ENOUGH)):
                break
            xi, phi = (x1 - x2) / (x3 - x2), (f1 - f2) / (f3 - f2)
            safe = (phi**2 < xi) & ((1.0 - phi) ** 2 < 1.0 - xi)
            inner = f1 / (f2 - f1) * f3 / (f2 - f3)
            inner = inner + (x3 - x1) / (x2 - x1) * f1 / (f3 - f1) * f2 / (f3 - f2)
            inner = np.where(safe & np.isfinite(inner), inner, 0.5)
            t = np.clip(inner, least_t, 1.0 - least_t)
    return np.asarray(np.where(np.abs(f1) < _ENOUGH, x1, best))
