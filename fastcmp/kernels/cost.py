"""Is the expected cost of two models equal? From counts grouped by cost difference.

The difference of one sample is d = cost[t, a] - cost[t, b], positive if a cost more.
Both tests depend on the counts only through how many samples have each value of d, so
they take two lists: the values of d and the number of samples with each.
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple

import numpy as np

from fastcmp._jit import helper, inlined, kernel
from fastcmp.kernels.intervals import _normal_quantile
from fastcmp.kernels.special import _unit_of, itp_step, log1pmx, narrowed, square
from fastcmp.kernels.status import DEGENERATE, INVALID, NOT_CONVERGED, OK, UNDEFINED, Interval
from fastcmp.kernels.typing import FloatArray, IntArray, StatusArray

#: Codes of the tests, for `cost_test_many`.
LIKELIHOOD: Final = 0
CHI_SQUARE: Final = 1


class CostOutcome(NamedTuple):
    """The answer of a cost-sensitive test."""

    statistic: float
    pvalue: float
    status: int
    #: The fitted number of samples with difference d is w / (1 + multiplier d) for the
    #: likelihood ratio, w (1 - multiplier d) for the chi-square.
    multiplier: float
    #: Whether the multiplier is at the end of its range: the likelihood puts mass on
    #: the largest difference, unobserved, or the chi-square fits an empty cell.
    at_bound: bool


@helper
def _undecided(status: int) -> CostOutcome:
    return CostOutcome(math.nan, math.nan, status, math.nan, False)


@helper
def _decided(statistic: float, multiplier: float, at_bound: bool) -> CostOutcome:
    pvalue = math.erfc(math.sqrt(0.5 * statistic))
    return CostOutcome(statistic, pvalue, OK, multiplier, at_bound)


class _Sums(NamedTuple):
    """What both tests need first; NaN if a weight or a value is impossible."""

    #: The largest -d and d with w > 0, and a unit of d for what follows; 0 for none.
    below: float
    above: float
    unit: float
    #: Sum of w d and of w d**2, with d in that unit.
    first: float
    second: float


@inlined
def _sums(values: FloatArray, weights: FloatArray) -> _Sums:
    below = above = first = second = 0.0
    for i in range(values.size):
        d, w = values[i], float(weights[i])
        if not (0.0 <= w < math.inf and abs(d) < math.inf):
            return _Sums(0.0, 0.0, math.nan, 0.0, 0.0)
        if w > 0.0:
            below = max(below, -d)
            above = max(above, d)
            first += w * d
            second += w * d * d
    unit = _unit_of(max(below, above)) if max(below, above) > 0.0 else 0.0
    if unit not in (0.0, 1.0):
        per_unit = 1.0 / unit
        first = second = 0.0
        for i in range(values.size):
            w = float(weights[i])
            if w > 0.0:  # the unit may be too small for the others
                x = values[i] * per_unit
                first += w * x
                second += w * x * x
    return _Sums(below, above, unit, first, second)


@helper
def _log_excess(y: float) -> float:
    """log(1 + y) - y / (1 + y) for abs(y) <= 0.15, without cancellation.

    With r = y / (2 + y) it is 2 r**2 / (1 + r) + 2 r**3 (1/3 + r**2/5 + r**4/7 + ...).
    """
    one, two = 1.0 + y, 2.0 + y
    inverse = 1.0 / (one * two)
    r = y * (one * inverse)
    q = r * r
    tail = ((1.0 / 15.0 * q + 1.0 / 13.0) * q + 1.0 / 11.0) * q + 1.0 / 9.0
    tail = ((tail * q + 1.0 / 7.0) * q + 1.0 / 5.0) * q + 1.0 / 3.0
    return 2.0 * q * (tail * r + 0.5 * (two * two) * inverse)


@inlined
def _likelihood(
    values: FloatArray, weights: FloatArray, largest: float, x: FloatArray, w: FloatArray
) -> CostOutcome:
    """Compute the test; `x` and `w` are buffers of the size of `values`."""
    sums = _sums(values, weights)
    observed = largest == 0.0
    if math.isnan(sums.unit) or not 0.0 <= largest < math.inf:
        return _undecided(INVALID)
    if not observed and max(sums.below, sums.above) > largest:
        return _undecided(INVALID)
    if sums.unit == 0.0:
        return CostOutcome(0.0, 1.0, DEGENERATE, 0.0, False)
    if sums.first == 0.0:
        return CostOutcome(0.0, 1.0, OK, 0.0, False)
    # In x = d / unit the multiplier is in (0, 1], and the pole or the bound at 1.
    if sums.first > 0.0:
        unit = sums.below if observed else largest
    else:
        unit = -sums.above if observed else -largest
    if unit == 0.0:
        return _undecided(UNDEFINED)
    first = sums.first * (sums.unit / unit)
    if max(sums.below, sums.above) < 1e-100 * abs(unit):
        # Squares vanish beside the differences, and logarithms are linear.
        return _decided(2.0 * first, 1.0 / unit, True)
    # Differences above 0 stand first in the buffers, and those below 0 last; of those that no
    # sample has, 0 is left, so that the processor foresees how long each loop is.
    n_above, start = 0, values.size
    for i in range(values.size):
        y = values[i] / unit
        seen = y if weights[i] > 0.0 else 0.0
        if y > 0.0:
            x[n_above], w[n_above] = seen, weights[i]
            n_above += 1
        elif y < 0.0:
            start -= 1
            x[start], w[start] = seen, weights[i]
    scale = sums.unit / unit
    root = find_multiplier(x, w, n_above, start, first, sums.second * scale * scale)
    if math.isnan(root.multiplier):
        return _undecided(NOT_CONVERGED)
    # log(1 + y) is y/(1 + y), whose sum is the equation, and something >= 0. The sum of the
    # logarithms is highest at the root: towards it the equation falls to 0.
    half = root.theta * root.value + 0.5 * root.value * (root.multiplier - root.theta)
    for i in range(values.size):
        if n_above <= i < start:
            continue
        y = root.theta * x[i]
        if abs(y) <= 0.15:
            half += w[i] * _log_excess(y)
        else:
            one_plus = 1.0 + y if y > 0.0 else 1.0 + x[i] - root.rest * x[i]
            half += w[i] * (math.log(one_plus) - y / one_plus)
    return _decided(2.0 * half, root.multiplier / unit, root.rest == 0.0)


@kernel
def cost_likelihood(values: FloatArray, weights: FloatArray, largest: float) -> CostOutcome:
    """Likelihood ratio test of equal expected costs.

    Parameters
    ----------
    values : ndarray of float64, shape (D,)
        Differences d = cost[t, a] - cost[t, b], in any order, perhaps repeated.
    weights : ndarray of float64 or int64, shape (D,)
        Samples with each; those with d = 0 may be left out.
    largest : float
        The largest difference that is possible, the largest cost. 0 restricts the
        fitted distribution to the observed differences.

    Returns
    -------
    CostOutcome
        ``statistic`` = 2 sum of w log(1 + multiplier d), which is chi-square with one
        degree of freedom for many samples. Statistic 0 and p-value 1 if costs are
        equal, ``DEGENERATE`` if no sample has d != 0. NaN and ``UNDEFINED`` if
        ``largest`` is 0 and all differences have one sign; NaN and ``INVALID`` for
        negative weights or a difference beyond ``largest``.

    Notes
    -----
    The multiplier is the root of the sum of w d / (1 + multiplier d), or the end of its
    range, -1/largest or 1/largest, if the sum has no root inside: then the fitted
    distribution has mass on a difference that was not observed.

    References
    ----------
    .. [1] A. B. Owen, "Empirical likelihood ratio confidence intervals for a single
       functional", Biometrika 75 (1988) 237-249.

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.kernels import cost_likelihood
    >>> values, weights = np.array([1.0, -1.0]), np.array([10.0, 2.0])
    >>> outcome = cost_likelihood(values, weights, 5.0)
    >>> round(outcome.statistic, 4), outcome.at_bound
    (2.7539, True)
    """
    return _likelihood(values, weights, largest, np.empty(values.size), np.empty(values.size))


@kernel
def cost_chi_square(values: FloatArray, weights: FloatArray, nonnegative: bool) -> CostOutcome:
    """Chi-square test of equal expected costs.

    Parameters
    ----------
    values : ndarray of float64, shape (D,)
        Differences d = cost[t, a] - cost[t, b], in any order, perhaps repeated.
    weights : ndarray of float64 or int64, shape (D,)
        Samples with each, smoothing included; those with d = 0 may be left out.
    nonnegative : bool
        Whether fitted counts must not be negative.

    Returns
    -------
    CostOutcome
        ``statistic`` = min over m of the sum of (w - m)**2 / w with sum of m d = 0.
        Edge cases as in `cost_likelihood`.

    Notes
    -----
    Without the sign condition m = w (1 - multiplier d), and the statistic is
    (sum of w d)**2 / (sum of w d**2). With it m = w max(0, 1 - multiplier d): the
    condition is a convex, piecewise linear equation in the multiplier, which Newton's
    method solves exactly, from below, in a few steps.

    References
    ----------
    .. [1] J. Neyman, "Contribution to the theory of the chi-square test", Proc. First
       Berkeley Symposium (1949) 239-273.

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.kernels import cost_chi_square
    >>> values, weights = np.array([1.0, -1.0]), np.array([35.0, 1.0])
    >>> round(cost_chi_square(values, weights, False).statistic, 4)
    32.1111
    """
    sums = _sums(values, weights)
    if math.isnan(sums.unit):
        return _undecided(INVALID)
    if sums.unit == 0.0:
        return CostOutcome(0.0, 1.0, DEGENERATE, 0.0, False)
    if sums.first == 0.0:
        return CostOutcome(0.0, 1.0, OK, 0.0, False)
    multiplier = sums.first / sums.second
    steepest = sums.above if multiplier > 0.0 else sums.below
    if not nonnegative or abs(multiplier) * (steepest / sums.unit) < 1.0:
        return _decided(sums.first * multiplier, multiplier / sums.unit, False)
    for _ in range(values.size + 2):
        first = second = statistic = 0.0
        for i in range(values.size):
            w = float(weights[i])
            if w == 0.0:
                continue
            x = values[i] / sums.unit
            if multiplier * x < 1.0:
                first += w * x
                second += w * x * x
                statistic += w * square(multiplier * x)
            else:
                statistic += w
        # The rest is linear; its root is further out, or already found.
        new = first / second if second > 0.0 else multiplier
        if not abs(new) > abs(multiplier) * (1.0 + 1e-15):
            return _decided(statistic, multiplier / sums.unit, True)
        multiplier = new
    return _undecided(NOT_CONVERGED)


@kernel
def cost_test_many(
    counts: IntArray,
    group: IntArray,
    values: FloatArray,
    cells: FloatArray,
    options: tuple[int, float, bool],
    results: FloatArray,
    status: StatusArray,
) -> None:
    """Write cost tests of many pairs, (P, 4): statistic, p-value, multiplier, at_bound.

    `counts`, (P, C), are samples of each pair and cell, `group` the position of the cell's
    difference in `values`, (D,), and `cells` what smoothing adds to each. `options` are
    ``LIKELIHOOD`` or ``CHI_SQUARE``, the largest difference, and whether fitted counts are
    >= 0.
    """
    method, largest, nonnegative = options
    weights, x, w = np.empty((3, values.size))
    for p in range(counts.shape[0]):
        weights[:] = cells
        for c in range(group.size):
            weights[group[c]] += counts[p, c]
        differing = 0.0
        for i in range(values.size):
            differing += (weights[i] - cells[i]) * (values[i] != 0.0)
        if differing == 0.0:
            # The smoothing is symmetric: alone it is no evidence.
            outcome = CostOutcome(0.0, 1.0, DEGENERATE, 0.0, False)
        elif method == LIKELIHOOD:
            outcome = _likelihood(values, weights, largest, x, w)
        else:
            outcome = cost_chi_square(values, weights, nonnegative)
        results[p, 0] = outcome.statistic
        results[p, 1] = outcome.pvalue
        results[p, 2] = outcome.multiplier
        results[p, 3] = outcome.at_bound
        status[p] = outcome.status


# Lagrange's multiplier of equal expected costs, for the likelihood ratio test.
#
# It is the root of the sum of w x / (1 + theta x), in units such that theta is in (0, 1]
# and a difference x = -1 would be the pole at 1.

_NEWTON_STEPS = 200


class _Slope(NamedTuple):
    """The likelihood equation at one point, in a form that is nearly linear."""

    #: sum of w x / (1 + theta x), which has the sign of 1/Q - 1/P.
    value: float
    #: The step of Newton's method on 1/Q - 1/P.
    step: float


@inlined
def _slope(
    x: FloatArray, w: FloatArray, n_above: int, start: int, first: float, theta: float, rest: float
) -> _Slope:
    """Evaluate the equation at theta = 1 - rest.

    With P and Q the sums of w abs(x) / (1 + theta x) over x > 0 and x < 0, the root of
    P - Q is that of 1/Q - 1/P. With two values this is linear in theta, and
    it has no pole where Q has one. Near the null hypothesis, where P and Q cancel,
    P - Q is taken as (sum of w x) - theta S with S > 0.
    """
    above = below = above_2 = below_2 = curved = 0.0
    for i in range(n_above):
        r = x[i] / (1.0 + theta * x[i])
        part = w[i] * r
        above += part
        above_2 += part * r
        curved += part * x[i]
    for i in range(start, x.size):
        gap = (1.0 + x[i]) - rest * x[i]
        if gap == 0.0:
            return _Slope(-math.inf, 0.0)
        r = -x[i] / gap
        part = w[i] * r
        below += part
        below_2 += part * r
        curved -= part * x[i]
    value = first - theta * curved if abs(first) < above else above - below
    if below == 0.0:
        return _Slope(value, math.inf)
    return _Slope(value, value / (below_2 * (above / below) + above_2 * (below / above)))


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
def find_multiplier(
    x: FloatArray, w: FloatArray, n_above: int, start: int, first: float, second: float
) -> Multiplier:
    """Find the root in (0, 1), or the bound 1, by Newton's method in a bracket.

    `x` are differences, at least -1: the first `n_above` are above 0 and those from `start` on
    below 0, or 0 where the samples with them, `w`, are none; `first` > 0 is the sum of w x,
    and `second` that of w x**2. The multiplier is NaN if the search did not end.

    The search is for whichever of theta and 1 - theta is below one half, so that it has
    all its digits; a step that would leave the bracket halves it instead. Steps
    converge quadratically: after one below 1e-6 the multiplier is known to 1e-12.
    """
    t = min(first / second, 0.5)
    low, high = 0.0, 0.5
    near_end = False
    for _ in range(_NEWTON_STEPS):
        if near_end:
            slope = _slope(x, w, n_above, start, first, 1.0 - t, t)
            value, step = -slope.value, -slope.step
        else:
            slope = _slope(x, w, n_above, start, first, t, 1.0 - t)
            value, step = slope.value, slope.step
            if t == 0.5 and value > 0.0:
                end = _slope(x, w, n_above, start, first, 1.0, 0.0).value
                if end >= 0.0:
                    return Multiplier(1.0, 0.0, end, 1.0)
                near_end, value, step = True, -value, -step
                low = 0.0
        if value > 0.0:
            low = t
        else:
            high = t
        new = t + step
        if abs(step) <= 1e-6 * t:
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


# Confidence intervals for the difference of two expected costs.
#
# They take the counts grouped by cost difference, as the tests in `cost` do.

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
    values: FloatArray, weights: FloatArray, n: float, largest: float, confidence_level: float
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
                    t = itp_step(low, f_low, high, f_high, i)
                    f, moved = _statistic(apart, weights, n, mean, side * t / reach)
                    end = mean + (lost + moved)
                    f -= z * z
                    low, f_low, high, f_high = narrowed(low, f_low, high, f_high, t, f)
                    if f == 0.0 or high - low <= 4e-16 * high:
                        break
        if side < 0.0:
            bottom = max(end, -largest)
        else:
            top = min(end, largest)
    return bottom, top


@kernel
def cost_profile_interval(
    values: FloatArray, weights: FloatArray, n: float, largest: float, confidence_level: float
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
    """Write intervals of many differences of cost, (P, 2), from counts as `cost_test_many`.

    `options` are ``COST_PROFILE`` or ``COST_WALD``, the largest difference and the level.
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
