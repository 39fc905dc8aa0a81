"""Searches: where an increasing power reaches what is wanted."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from scipy.special import ndtri

from fastcmp.planning.families import Floats

_STEPS = 200  # of a search, at most
_FACTOR = 1.05  # by which a search goes first
_NEAR = 1e-15  # relative width at which it ends
_ENOUGH = 1e-13  # quantiles from the target at which it ends too


def each(function: Callable[..., float], *numbers: Any) -> Floats:
    """Answers of a function of numbers, for arrays that broadcast."""
    if not any(np.ndim(x) for x in numbers):
        return np.asarray(function(*map(float, numbers)))
    arrays = np.broadcast_arrays(*numbers)
    rows = zip(*(x.astype(np.float64).ravel().tolist() for x in arrays), strict=True)
    return np.array([function(*row) for row in rows], np.float64).reshape(arrays[0].shape)


def each_size(
    power: Callable[..., float],
    target: Any,
    near: Any,
    *numbers: Any,
    back: Any = 0.0,
    **limits: float,
) -> Floats:
    """Smallest whole numbers with which power(n, *numbers) reaches a target, as `smallest`."""

    def one(target: float, near: float, back: float, *row: float) -> float:
        return smallest(lambda n: power(n, *row) >= target, near, back=back, **limits)

    return each(one, target, near, back, *numbers)


def smallest(
    enough: Callable[[float], bool],
    near: float,
    *,
    fewest: float = 0.0,
    most: float = np.inf,
    step: float = 0.0,
    width: float = 0.0,
    back: float = 0.0,
) -> float:
    """Smallest whole number that is enough; infinite where none up to `most` is.

    From `near` by doubled steps, the first of `step` or a 100th of it, to the other side, and not
    below `fewest`, which is not enough; and then by halving, to a difference of 1, or of `width`
    times the number. Of a power that does not always rise, up to `back` numbers below are tried.
    """
    if np.isinf(near):
        return near
    enough = cache(enough)
    step = step or max(near // 100, 1.0)
    low = high = near
    if enough(near):
        while low > fewest:
            low = max(high - step, fewest)
            if low == fewest or not enough(low):
                break
            high, step = low, 2 * step
    else:
        while True:
            low, high, step = high, high + step, 2 * step
            if high > most:
                return np.inf
            if enough(high):
                break
    while high - low > max(1.0, width * high):
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    first = max((high - back) // 1, fewest + 1.0)
    below = (first + k for k in range(int(high - first)))
    return float(next((n for n in below if enough(n)), high))


def least(function: Callable[[Any], Any], target: Any, *, start: Any, lowest: Any = 0.0) -> Floats:
    """Least numbers > 0 at which an increasing function reaches a target.

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
    return np.where(known, solve(function, target, low, high), start)


def solve(function: Callable[[Any], Any], target: Any, low: Any, high: Any) -> Floats:
    """Least numbers between two bounds at which an increasing probability reaches a target, or NaN.

    Chandrupatla (1997): inverse quadratic interpolation where that is safe, else
    bisection; for all entries at once, and on the scale of normal quantiles.
    `scipy.optimize.elementwise` has it too, and takes longer to import than all of this.
    """
    low, high, _ = np.broadcast_arrays(low, high, target)
    aim = ndtri(target)
    at_low, at_high = (ndtri(function(x)) - aim for x in (low, high))
    x1, f1, x2, f2 = high, at_high, low, at_low
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
    root = np.where(np.abs(f1) < _ENOUGH, x1, best)
    return np.where(at_low >= 0.0, low, np.where(at_high >= 0.0, root, np.nan))
