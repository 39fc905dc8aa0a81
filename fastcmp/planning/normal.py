"""Power and sample sizes where an estimate is normal, with a variance of so much / n.

Under the null hypothesis its variance is `null_variance` / n, under the alternative
`variance` / n. Everything broadcasts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.special import ndtr, ndtri

if TYPE_CHECKING:
    from collections.abc import Callable

    from fastcmp.planning.family import Floats, Question

_STEPS = 200  # of a search, at most
_FACTOR = 1.05  # by which a search goes first
_NEAR = 1e-15  # relative width at which it ends
_ENOUGH = 1e-13  # quantiles from the target at which it ends too


class Normal(NamedTuple):
    """Variances of an estimate, times the number of samples."""

    variance: Any
    null_variance: Any
    #: Whether a two-sided test that finds the wrong direction counts too; None: only
    #: without a difference, where no direction is wrong.
    both_tails: bool | None = None


def shift(question: Question, difference: Any) -> Floats:
    """Tell how far a true difference lies beyond the nearest of H0.

    Two-sided, and for equivalence, on the side where it lies.
    """
    d = np.asarray(difference, np.float64)
    margin: Any = question.margin
    if question.hypothesis == "noninferiority":
        return np.asarray(d + margin)
    if question.hypothesis == "superiority":
        return np.asarray(d - margin)
    if question.hypothesis == "equivalence":
        return np.asarray(margin - np.abs(d))
    if question.alternative == "two-sided":
        return np.abs(d)
    return d if question.alternative == "greater" else -d


def join(
    question: Question,
    tail: Callable[[Any], Any],
    difference: Any,
    *,
    both_tails: bool | None,
) -> Floats:
    """Make the power of the test asked for of that of one-sided tests.

    `tail` gives the power of a one-sided test whose alternative lies at a shift.
    """
    near = tail(shift(question, difference))
    if question.hypothesis == "equivalence":
        # Chow, Shao and Wang take the nearer margin for both.
        chow = question.method == "chow"
        far = near if chow else tail(question.margin + np.abs(difference))
        return np.asarray(np.maximum(near + far - 1.0, 0.0))
    if question.hypothesis != "difference" or question.alternative != "two-sided":
        return np.asarray(near)
    counted = np.equal(difference, 0.0) if both_tails is None else both_tails
    return np.asarray(near + np.where(counted, tail(-np.abs(difference)), 0.0))


def normal_power(question: Question, n: Any, difference: Any, normal: Normal) -> Floats:
    """Give the probability that n samples show what is asked for."""
    z = -ndtri(question.level)
    scale, null_scale = np.sqrt(normal.variance), np.sqrt(normal.null_variance)

    def tail(shift: Any) -> Any:
        return ndtr((np.sqrt(n) * shift - z * null_scale) / scale)

    return join(question, tail, difference, both_tails=normal.both_tails)


def normal_size(question: Question, power: Any, difference: Any, normal: Normal) -> Floats:
    """Give the real n of a power; infinite where no n reaches it."""
    beyond = shift(question, difference)
    target = np.asarray(power, np.float64)
    if question.hypothesis == "equivalence":
        # Both ends count alike without a true difference; else it is a bound.
        target = 0.5 + 0.5 * target
    reach = _reach(question, target, normal)
    with np.errstate(divide="ignore"):
        n = np.where(beyond > 0.0, (reach / beyond) ** 2, np.inf)
    if question.hypothesis != "equivalence" and not normal.both_tails:
        return n
    return least(lambda n: normal_power(question, n, difference, normal), power, start=n)


def normal_difference(question: Question, n: Any, power: Any, normal: Normal) -> Floats:
    """Give the difference that n samples find, or show the margin with."""
    beyond = _reach(question, power, normal) / np.sqrt(n)
    if normal.both_tails:

        def found(beyond: Any) -> Any:
            return normal_power(question, n, from_shift(question, beyond), normal)

        beyond = least(found, power, start=beyond)
    return from_shift(question, beyond)


def from_shift(question: Question, beyond: Any) -> Floats:
    """Give the difference that lies so far beyond H0; two-sided the positive one."""
    step = beyond - shift(question, 0.0)
    return np.asarray(-step if question.alternative == "less" else step)


def _reach(question: Question, power: Any, normal: Normal) -> Any:
    """Give what the shift times the root of n must be."""
    z, z_power = -ndtri(question.level), ndtri(power)
    reach = z * np.sqrt(normal.null_variance) + z_power * np.sqrt(normal.variance)
    return np.maximum(reach, 0.0)  # where less power is wanted than there is


def least(function: Callable[[Any], Any], target: Any, *, start: Any, lowest: Any = 0.0) -> Floats:
    """Find where an increasing function of a number > 0 reaches a target.

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
    found = solve(function, target, low, high)
    exceeded = ~rising & (far == lowest) & (function(lowest) >= target)
    return np.where(known, np.where(exceeded, lowest, found), start)


def solve(function: Callable[[Any], Any], target: Any, low: Any, high: Any) -> Floats:
    """Find where an increasing probability reaches a target, between two bounds.

    Chandrupatla (1997): inverse quadratic interpolation where that is safe, else
    bisection; for all entries at once, and on the scale of normal quantiles.
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
            t = np.clip(_step(x1, f1, x2, f2, x3, f3), least_t, 1.0 - least_t)
    return np.asarray(np.where(np.abs(f1) < _ENOUGH, x1, best))


def _step(*points: Any) -> Floats:
    """Choose how far to go from the first point to the second."""
    x1, f1, x2, f2, x3, f3 = points
    xi, phi = (x1 - x2) / (x3 - x2), (f1 - f2) / (f3 - f2)
    safe = (phi**2 < xi) & ((1.0 - phi) ** 2 < 1.0 - xi)
    inner = f1 / (f2 - f1) * f3 / (f2 - f3)
    inner = inner + (x3 - x1) / (x2 - x1) * f1 / (f3 - f1) * f2 / (f3 - f2)
    return np.where(safe & np.isfinite(inner), inner, 0.5)
