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
_NEAR = 4e-16  # relative width at which a bisection ends


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


def normal_size(
    question: Question, power: Any, difference: Any, normal: Normal
) -> Floats:
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
    return least(
        lambda n: normal_power(question, n, difference, normal), power, start=n
    )


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


def least(
    function: Callable[[Any], Any], target: Any, *, start: Any, lowest: Any = 0.0
) -> Floats:
    """Find where an increasing function of a number > 0 reaches a target.

    The search goes out from `start` by growing factors, and not below `lowest`; where
    the start is infinite, so is the answer.
    """
    shape = np.broadcast_shapes(np.shape(start), np.shape(target))
    start = np.broadcast_to(np.asarray(start, np.float64), shape)
    known = np.isfinite(start)
    low = np.where(known, np.maximum(start, lowest), np.maximum(1.0, lowest))
    high, factor = low.copy(), 1.0 + 1e-3
    for _ in range(_STEPS):
        too_high = (function(low) >= target) & (low > lowest)
        too_low = function(high) < target
        if not (known & (too_high | too_low)).any():
            break
        low = np.where(too_high, np.maximum(low / factor, lowest), low)
        high = np.where(too_low, high * factor, high)
        factor = min(factor * factor, 4.0)
    # At the lowest the target may be exceeded already.
    high = np.where(function(low) >= target, low, high)
    return np.where(known, bisect(function, target, low, high), start)


def bisect(function: Callable[[Any], Any], target: Any, low: Any, high: Any) -> Floats:
    """Find where an increasing function reaches a target, between two bounds."""
    low, high, _ = np.broadcast_arrays(low, high, target)
    for _ in range(_STEPS):
        middle = 0.5 * (low + high)
        if np.all(high - low <= _NEAR * np.abs(middle)):
            break
        above = function(middle) >= target
        low, high = np.where(above, low, middle), np.where(above, middle, high)
    return np.asarray(high)


def rounded_up(real: Any) -> Floats:
    """Round up to whole numbers, at least 1; a rounding error is no sample."""
    return np.asarray(np.maximum(np.ceil(np.asarray(real) * (1.0 - 1e-12)), 1.0))
