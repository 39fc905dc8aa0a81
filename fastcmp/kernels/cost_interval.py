"""Confidence intervals for the difference of two expected costs.

They take the counts grouped by cost difference, as the tests in `cost` do.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import numpy as np

from fastcmp._jit import helper, inlined, kernel
from fastcmp.kernels.intervals import _normal_quantile
from fastcmp.kernels.roots import itp_step
from fastcmp.kernels.special import _unit_of, log1pmx, square
from fastcmp.kernels.status import Interval

if TYPE_CHECKING:
    from fastcmp.kernels.typing import FloatArray, IntArray

#: Codes of the intervals, for `cost_interval_many`.
COST_PROFILE: Final = 0
COST_WALD: Final = 1

_MAX_STEPS = 120


@helper
def _product(x: float, y: float) -> tuple[float, float]:
    """Multiply exactly: the product, and what rounding lost of it (Dekker 1971)."""
    x_high = x * 134217729.0
    x_high -= x_high - x
    y_high = y * 134217729.0
    y_high -= y_high - y
    x_low, y_low = x - x_high, y - y_high
    product = x * y
    lost = (x_high * y_high - product) + x_high * y_low + x_low * y_high
    return product, lost + x_low * y_low


@inlined
def _mean(
    values: FloatArray, weights: FloatArray, n: float, largest: float, unit: float
) -> tuple[float, float]:
    """Average the difference, in some unit; NaN for impossible input.

    The second number is what rounding lost of it. It counts where large values cancel,
    and where nearly all samples have one value: ends lie that close to the mean.
    """
    total = mean = lost = 0.0
    if not 0.0 < n < math.inf or not largest < math.inf:
        return math.nan, math.nan
    heap = _unit_of(n)
    for i in range(values.size):
        w = float(weights[i])
        if not (0.0 <= w <= n and abs(values[i]) <= largest):
            return math.nan, math.nan
        if w > 0.0:
            total += w
            term, error = _product(w / heap, values[i] / unit)
            added = mean + term
            seen = added - mean
            lost += error + ((mean - (added - seen)) + (term - seen))
            mean = added
    if total > n:
        return math.nan, math.nan
    n /= heap
    rough = mean / n
    product, error = _product(rough, n)
    rest = ((mean - product) - error + lost) / n
    mean = rough + rest
    return mean, rest - (mean - rough)


@kernel
def cost_wald_interval(
    values: FloatArray,
    weights: FloatArray,
    n: float,
    largest: float,
    confidence_level: float,
) -> Interval:
    """Wald's interval for the mean cost difference.

    Too narrow for small samples, and of width 0 if all differences are equal.

    Parameters
    ----------
    values : ndarray of float64, shape (D,)
        Differences d = cost[t, a] - cost[t, b], in any order, perhaps repeated.
    weights : ndarray of float64 or int64, shape (D,)
        Samples with each; those with d = 0 may be left out.
    n : float
        All samples.
    largest : float
        The largest difference that is possible, the largest cost.
    confidence_level : float
        In (0, 1).

    Returns
    -------
    Interval
        ``low`` and ``high``, clipped to [-largest, largest]; NaN for impossible input.

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.kernels import cost_wald_interval
    >>> values, weights = np.array([1.0, -1.0]), np.array([10.0, 2.0])
    >>> low, high = cost_wald_interval(values, weights, 50.0, 5.0, 0.95)
    >>> round(low, 4), round(high, 4)
    (0.0317, 0.2883)
    """
    size = 0.0
    for i in range(values.size):
        size = max(size, abs(values[i]) if weights[i] > 0.0 else 0.0)
    unit = _unit_of(size)
    z = _normal_quantile(confidence_level)
    mean, _ = _mean(values, weights, n, largest, unit)
    if math.isnan(z + mean):
        return Interval(math.nan, math.nan)
    rest, variance = n, 0.0
    for i in range(values.size):
        rest -= weights[i]
        if weights[i] > 0.0:
            variance += weights[i] * square(values[i] / unit - mean)
    variance = (variance + rest * mean * mean) / n
    spread = z * math.sqrt(variance / n)
    low, high = (mean - spread) * unit, (mean + spread) * unit
    return Interval(max(low, -largest), min(high, largest))


@inlined
def _statistic(
    apart: FloatArray, weights: FloatArray, n: float, mean: float, scale: float
) -> tuple[float, float]:
    """Tilt the distribution by 1 / (1 - scale (d - mean)), from its mean outwards.

    Returns the likelihood ratio statistic of the tilted mean, and how far that is from
    `mean`. With y = scale (d - mean), whose weighted sum is 0, the statistic is
    2 sum of w log(1 - y) + 2 n log(sum of w / (1 - y) / n), less its linear terms, and
    so is the sum of w y / (1 - y): no terms cancel.
    """
    y = -scale * mean
    rest = n
    logs = shift = 0.0
    for i in range(apart.size):
        rest -= weights[i]
    for i in range(-1, apart.size):
        w = rest if i < 0 else float(weights[i])
        if i >= 0:
            y = scale * apart[i]
        if w <= 0.0:
            continue
        if y >= 1.0:
            return math.inf, 0.0
        logs += w * log1pmx(-y)
        shift += w * (y * y / (1.0 - y))
    mass = shift / n
    return 2.0 * (logs + n * math.log1p(mass)), mass / scale / (1.0 + mass)


@inlined
def _beyond(apart: FloatArray, weights: FloatArray, n: float, mean: float, scale: float) -> float:
    """Sum w log(1 - y) over the observed y = scale (d - mean) < 1."""
    rest, logs = n, 0.0
    for i in range(apart.size):
        rest -= weights[i]
        if weights[i] > 0.0:
            logs += weights[i] * math.log1p(-scale * apart[i])
    return logs + rest * math.log1p(scale * mean)


@inlined
def _profile(
    apart: FloatArray,
    weights: FloatArray,
    n: float,
    largest: float,
    mean: float,
    lost: float,
    z: float,
) -> tuple[float, float]:
    """Find both ends, from how far values are apart from their mean."""
    bottom, top = -largest, largest
    for side in (-1.0, 1.0):
        reach = (largest - side * mean) - side * lost
        end = side * largest
        if reach > 0.0:
            pole, _ = _statistic(apart, weights, n, mean, side / reach)
            if pole < z * z:
                logs = _beyond(apart, weights, n, mean, side / reach)
                end = mean - side * reach * math.expm1((logs - 0.5 * z * z) / n)
            else:
                low, f_low, high, f_high = 0.0, -z * z, 1.0, pole - z * z
                for i in range(_MAX_STEPS):
                    slack = 0.5 * (high - low) if i < 60 else 0.0
                    t = itp_step(low, f_low, high, f_high, slack)
                    f, moved = _statistic(apart, weights, n, mean, side * t / reach)
                    end = mean + (lost + moved)
                    f -= z * z
                    if f > 0.0:
                        high, f_high = t, f
                    else:
                        low, f_low = t, f
                    if f == 0.0 or high - low <= 4e-16 * high:
                        break
        if side < 0.0:
            bottom = max(end, -largest)
        else:
            top = min(end, largest)
    return bottom, top


@kernel
def cost_profile_interval(
    values: FloatArray,
    weights: FloatArray,
    n: float,
    largest: float,
    confidence_level: float,
) -> Interval:
    """Profile likelihood interval for the mean cost difference.

    The means that a likelihood ratio test does not reject; about 0 it agrees with
    `cost_likelihood` on the same samples.

    Parameters
    ----------
    values : ndarray of float64, shape (D,)
        Differences d = cost[t, a] - cost[t, b], in any order, perhaps repeated.
    weights : ndarray of float64 or int64, shape (D,)
        Samples with each; those with d = 0 may be left out.
    n : float
        All samples.
    largest : float
        The largest difference that is possible, the largest cost.
    confidence_level : float
        In (0, 1).

    Returns
    -------
    Interval
        ``low`` and ``high`` in [-largest, largest]; NaN for impossible input.

    Notes
    -----
    Tilting the observed distribution by 1 / (1 - scale (d - mean)) gives all means and
    their statistics, so an end is the root of one monotone function of the scale. If
    the largest difference was not observed, the scale ends at its pole, and beyond it
    mass moves to that difference: the end then has a closed form.

    References
    ----------
    .. [1] A. B. Owen, "Empirical likelihood ratio confidence intervals for a single
       functional", Biometrika 75 (1988) 237-249.

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.kernels import cost_profile_interval
    >>> values, weights = np.array([1.0, -1.0]), np.array([10.0, 2.0])
    >>> low, high = cost_profile_interval(values, weights, 50.0, 1.0, 0.95)
    >>> round(low, 4), round(high, 4)
    (0.032, 0.2963)
    """
    unit = _unit_of(largest)
    z = _normal_quantile(confidence_level)
    mean, lost = _mean(values, weights, n, largest, unit)
    if math.isnan(z + mean):
        return Interval(math.nan, math.nan)
    apart = (values / unit - mean) - lost
    ends = _profile(apart, weights, n, largest / unit, mean, lost, z)
    return Interval(ends[0] * unit, ends[1] * unit)


@kernel
def cost_interval_many(
    counts: IntArray,
    group: IntArray,
    values: FloatArray,
    options: tuple[int, float, float],
    ends: FloatArray,
) -> None:
    """Compute intervals for the mean differences of many tables.

    Parameters
    ----------
    counts : ndarray of int64, shape (P, C)
        All samples of each table, by cell.
    group : ndarray of int64, shape (C,)
        Position in `values` of each cell's difference.
    values : ndarray of float64, shape (D,)
        The distinct differences.
    options : tuple of int, float and float
        ``COST_PROFILE`` or ``COST_WALD``; the largest difference that is possible; the
        confidence level.
    ends : ndarray of float64, shape (P, 2)
        Receives both ends of each interval.

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.kernels import COST_WALD, cost_interval_many
    >>> counts, group = np.array([[10, 2, 38]]), np.array([1, 0, 2])
    >>> values, ends = np.array([-1.0, 1.0, 0.0]), np.empty((1, 2))
    >>> cost_interval_many(counts, group, values, (COST_WALD, 5.0, 0.95), ends)
    >>> ends.round(4).tolist()
    [[0.0317, 0.2883]]
    """
    method, largest, level = options
    weights = np.empty(values.size)
    for p in range(counts.shape[0]):
        weights[:] = 0.0
        n = 0.0
        for c in range(group.size):
            weights[group[c]] += counts[p, c]
            n += counts[p, c]
        if method == COST_PROFILE:
            interval = cost_profile_interval(values, weights, n, largest, level)
        else:
            interval = cost_wald_interval(values, weights, n, largest, level)
        ends[p, 0] = interval.low
        ends[p, 1] = interval.high
