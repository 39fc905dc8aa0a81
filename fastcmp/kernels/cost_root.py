"""Lagrange's multiplier of equal expected costs, for the likelihood ratio test.

It is the root of the sum of w x / (1 + theta x), in units such that theta is in (0, 1]
and a difference x = -1 would be the pole at 1.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from fastcmp._jit import inlined

if TYPE_CHECKING:
    from fastcmp.kernels.typing import FloatArray

_MAX_STEPS = 200


class _Slope(NamedTuple):
    """The likelihood equation at one point, in a form that is nearly linear."""

    #: sum of w x / (1 + theta x), which has the sign of 1/Q - 1/P.
    value: float
    #: The step of Newton's method on 1/Q - 1/P.
    step: float


@inlined
def _slope(
    x: FloatArray, w: FloatArray, size: int, first: float, theta: float, rest: float
) -> _Slope:
    """Evaluate the equation at theta = 1 - rest.

    With P and Q the sums of w abs(x) / (1 + theta x) over x > 0 and x < 0, the root of
    P - Q is that of 1/Q - 1/P. With two values this is linear in theta, and
    it has no pole where Q has one. Near the null hypothesis, where P and Q cancel,
    P - Q is taken as (sum of w x) - theta S with S > 0.
    """
    above = below = above_2 = below_2 = curved = 0.0
    for i in range(size):
        if x[i] > 0.0:
            r = x[i] / (1.0 + theta * x[i])
            above += w[i] * r
            above_2 += w[i] * r * r
            curved += w[i] * r * x[i]
        else:
            gap = (1.0 + x[i]) - rest * x[i]
            if gap == 0.0:
                return _Slope(-math.inf, 0.0)
            r = -x[i] / gap
            below += w[i] * r
            below_2 += w[i] * r * r
            curved -= w[i] * r * x[i]
    value = first - theta * curved if abs(first) < above else above - below
    if below == 0.0:
        return _Slope(value, math.inf)
    step = value / (below_2 * (above / below) + above_2 * (below / above))
    return _Slope(value, step)


class Multiplier(NamedTuple):
    """The end of the search, in units of the bound."""

    #: The last point at which the equation was evaluated, and 1 - theta.
    theta: float
    rest: float
    #: The equation there.
    value: float
    #: The root, one step further; 1 for the bound, NaN if it was not found.
    multiplier: float


@inlined
def find_multiplier(x: FloatArray, w: FloatArray, size: int, first: float) -> Multiplier:
    """Find the root in (0, 1), or the bound 1, by Newton's method in a bracket.

    `x` are differences other than 0, at least -1; `w` > 0 the samples with each; `size`
    how many there are; `first` > 0 the sum of w x. The multiplier is NaN if the search
    did not end.

    The search is for whichever of theta and 1 - theta is below one half, so that it has
    all its digits; a step that would leave the bracket halves it instead. Steps
    converge quadratically, and so does the error of the statistic: after a step below
    1e-8 the next one would be lost in rounding.
    """
    second = 0.0
    for i in range(size):
        second += w[i] * x[i] * x[i]
    t = min(first / second, 0.5)
    low, high = 0.0, 0.5
    near_end = False
    for _ in range(_MAX_STEPS):
        if near_end:
            slope = _slope(x, w, size, first, 1.0 - t, t)
            value, step = -slope.value, -slope.step
        else:
            slope = _slope(x, w, size, first, t, 1.0 - t)
            value, step = slope.value, slope.step
            if t == 0.5 and value > 0.0:
                end = _slope(x, w, size, first, 1.0, 0.0).value
                if end >= 0.0:
                    return Multiplier(1.0, 0.0, end, 1.0)
                near_end, value, step = True, -value, -step
                low = 0.0
        if value > 0.0:
            low = t
        else:
            high = t
        new = t + step
        if abs(step) <= 1e-8 * t:
            break
        if not near_end and new >= high == 0.5 and t < 0.5:
            new = 0.5
        elif not low < new < high:
            new = 0.5 * (low + high)
            if not low < new < high:
                break
        t = new
    else:
        return Multiplier(math.nan, math.nan, math.nan, math.nan)
    if near_end:
        return Multiplier(1.0 - t, t, -value, 1.0 - new)
    return Multiplier(t, 1.0 - t, value, new)
