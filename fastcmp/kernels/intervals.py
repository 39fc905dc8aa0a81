"""Confidence intervals for one accuracy, and for the difference of two.

All take counts: `both_right`, `only_a`, `only_b` and `both_wrong` of n samples.
The difference is (only_a - only_b) / n, the accuracy of a minus that of b.
"""

from __future__ import annotations

import math
from typing import Final

from fastcmp._jit import helper, kernel
from fastcmp.kernels.special import _ndtri, itp_step, narrowed, square
from fastcmp.kernels.status import DEGENERATE, INVALID, OK, TWO_SIDED, Interval, Outcome
from fastcmp.kernels.typing import FloatArray, IntArray

# Tango's score of a difference of two paired proportions, and its interval.
#
# Only model a is right on ``only_a`` of n samples, only model b on ``only_b``.

_MAX_STEPS = 120
_NEWTON = 8  # steps, of which three or four are usual


@helper
def _tango_variance(only_a: float, only_b: float, n: float, delta: float) -> float:
    """Variance of the score under H0: difference = delta (Tango 1998, eq. 6)."""
    if delta < 0.0:
        # The mirror image; for delta >= 0 nothing below cancels.
        only_a, only_b, delta = only_b, only_a, -delta
    b = -only_a - only_b + (2.0 * n - only_a + only_b) * delta
    c = -only_b * delta * (1.0 - delta)
    root = math.sqrt(max(b * b - 8.0 * n * c, 0.0))
    # The same root of the quadratic, in the form that does not cancel.
    q = (root - b) / (4.0 * n) if b <= 0.0 else -2.0 * c / (root + b)
    return max(n * (2.0 * q + delta * (1.0 - delta)), 0.0)


@helper
def _tango_score(only_a: float, only_b: float, n: float, delta: float) -> float:
    """Size of the score statistic for H0: difference = delta."""
    variance = _tango_variance(only_a, only_b, n, delta)
    return abs(only_a - only_b - n * delta) / math.sqrt(variance)


@helper
def _tango_slope(only_a: float, only_b: float, n: float, delta: float) -> tuple[float, float]:
    """Size of the score statistic, and its derivative in delta."""
    sign = 1.0
    if delta < 0.0:
        only_a, only_b, delta, sign = only_b, only_a, -delta, -1.0
    rise = 2.0 * n - only_a + only_b
    b = -only_a - only_b + rise * delta
    c = -only_b * delta * (1.0 - delta)
    root = math.sqrt(max(b * b - 8.0 * n * c, 0.0))
    q = (root - b) / (4.0 * n) if b <= 0.0 else -2.0 * c / (root + b)
    variance = n * (2.0 * q + delta * (1.0 - delta))
    # The quadratic, differentiated: root q' + q b' + c' = 0.
    change = 1.0 - 2.0 * delta
    moves = n * (2.0 * (only_b * change - rise * q) / root + change)
    distance = only_a - only_b - n * delta
    part = 1.0 / math.sqrt(variance)
    size = abs(distance) * part
    slope = -math.copysign(n, distance) * part - 0.5 * size * moves * part * part
    return size, sign * slope


@helper
def _tango(only_a: float, only_b: float, n: float, z: float) -> Interval:
    d = (only_a - only_b) / n
    low = -1.0
    high = 1.0
    # Wald's limits with so many samples more that without any they are right.
    more = 0.5 * z * z
    m = n + 2.0 * more
    p_a, p_b = (only_a + more) / m, (only_b + more) / m
    spread = z * math.sqrt((p_a + p_b - (p_a - p_b) * (p_a - p_b)) / m)
    for side in (-1.0, 1.0):
        if d * side >= 1.0:
            continue
        # In t = side * delta the excess z - |score| falls through 0 once, past d.
        near, f_near = side * d, z
        far, f_far = 1.0, -math.inf
        t, end = side * (p_a - p_b) + spread, math.nan
        for _ in range(_NEWTON):
            if not near < t < far:
                break
            size, slope = _tango_slope(only_a, only_b, n, side * t)
            f = z - size
            if f > 0.0:
                near, f_near = t, f
            else:
                far, f_far = t, f
            step = f / (side * slope)
            t += step
            # Twice as many digits with each step: these are all there are.
            if abs(step) <= 1e-8 * min(t - side * d, 1.0 - t):
                end = t
                break
        if math.isnan(end):
            for i in range(_MAX_STEPS):
                t = itp_step(near, f_near, far, f_far, i)
                f = z - _tango_score(only_a, only_b, n, side * t)
                near, f_near, far, f_far = narrowed(near, f_near, far, f_far, t, f)
                if far - near <= 4e-16 * max(abs(near), 1.0 / n):
                    break
            end = 0.5 * (near + far)
        if side < 0.0:
            low = -end
        else:
            high = end
    return Interval(low, high)


#: Codes of the intervals for a difference, for `difference_interval_many`.
WALD: Final = 0
NEWCOMBE: Final = 1
TANGO: Final = 2
BONETT_PRICE: Final = 3


@helper
def _normal_quantile(confidence_level: float) -> float:
    if not 0.0 < confidence_level < 1.0:
        return math.nan
    return -_ndtri(0.5 * (1.0 - confidence_level), 0)


@helper
def _impossible(
    both_right: float, only_a: float, only_b: float, both_wrong: float, z: float
) -> bool:
    """Whether the counts or the level admit no interval."""
    if both_right < 0.0 or only_a < 0.0 or only_b < 0.0 or both_wrong < 0.0:
        return True
    return both_right + only_a + only_b + both_wrong <= 0.0 or math.isnan(z)


@helper
def _wilson(successes: float, n: float, z: float) -> Interval:
    p = successes / n
    centre = p + z * z / (2.0 * n)
    spread = z * math.sqrt(p * (1.0 - p) / n + z * z / (4.0 * n * n))
    scale = 1.0 + z * z / n
    low = (centre - spread) / scale
    if successes == 0.0 or low < 0.0:  # `max` takes 40 ms to compile
        low = 0.0
    high = min((centre + spread) / scale, 1.0) if successes < n else 1.0
    return Interval(low, high)


@kernel
def wilson_interval(successes: int, n: int, confidence_level: float) -> Interval:
    """Wilson's score interval for a proportion, such as an accuracy.

    Parameters
    ----------
    successes, n : int
        Correctly classified samples, and all samples.
    confidence_level : float
        In (0, 1).

    Returns
    -------
    Interval
        ``low`` and ``high``; NaN for impossible counts or levels.

    References
    ----------
    .. [1] E. B. Wilson, "Probable inference, the law of succession, and statistical
       inference", JASA 22 (1927) 209-212.

    Examples
    --------
    >>> from fastcmp.kernels import wilson_interval
    >>> low, high = wilson_interval(90, 100, 0.95)
    >>> round(low, 4), round(high, 4)
    (0.8256, 0.9448)
    """
    z = _normal_quantile(confidence_level)
    right, size = float(successes), float(n)
    if _impossible(size - right, right, 0.0, 0.0, z):
        return Interval(math.nan, math.nan)
    return _wilson(right, size, z)


@kernel
def wilson_interval_many(
    successes: IntArray, n: int, confidence_level: float, out: FloatArray
) -> None:
    """Write `wilson_interval` of some proportions of n samples, (M, 2)."""
    for i in range(successes.size):
        out[i, 0], out[i, 1] = wilson_interval(successes[i], n, confidence_level)


@helper
def _wald(only_a: float, only_b: float, n: float, z: float) -> Interval:
    d = (only_a - only_b) / n
    spread = z * math.sqrt((only_a + only_b) / n - d * d) / math.sqrt(n)
    return Interval(max(d - spread, -1.0), min(d + spread, 1.0))


@helper
def _interval(
    both_right: float, only_a: float, only_b: float, both_wrong: float, method: int, z: float
) -> Interval:
    n = both_right + only_a + only_b + both_wrong
    if _impossible(both_right, only_a, only_b, both_wrong, z):
        return Interval(math.nan, math.nan)
    if method == NEWCOMBE:
        return _newcombe(both_right, only_a, only_b, both_wrong, z)
    if method == TANGO:
        return _tango(only_a, only_b, n, z)
    if method == BONETT_PRICE:
        return _wald(only_a + 1.0, only_b + 1.0, n + 2.0, z)
    return _wald(only_a, only_b, n, z)


@kernel
def wald_interval(only_a: int, only_b: int, n: int, confidence_level: float) -> Interval:
    """Wald's interval for the difference of two paired proportions.

    Too narrow for small samples, and of width 0 without discordant samples.

    Parameters
    ----------
    only_a, only_b : int
        Samples that only model a, and only model b, classified correctly.
    n : int
        All samples.
    confidence_level : float
        In (0, 1).

    Returns
    -------
    Interval
        ``low`` and ``high``, clipped to [-1, 1].

    Examples
    --------
    >>> from fastcmp.kernels import wald_interval
    >>> low, high = wald_interval(5, 5, 23, 0.95)
    >>> round(low, 6), round(high, 6)
    (-0.269476, 0.269476)
    """
    z, n_same = _normal_quantile(confidence_level), float(n) - only_a - only_b
    return _interval(n_same, float(only_a), float(only_b), 0.0, WALD, z)


@kernel
def bonett_price_interval(only_a: int, only_b: int, n: int, confidence_level: float) -> Interval:
    """Bonett and Price's interval: Wald's with one sample more in each discordant cell.

    Parameters
    ----------
    only_a, only_b : int
        Samples that only model a, and only model b, classified correctly.
    n : int
        All samples.
    confidence_level : float
        In (0, 1).

    Returns
    -------
    Interval
        ``low`` and ``high``, clipped to [-1, 1].

    References
    ----------
    .. [1] D. G. Bonett, R. M. Price, "Adjusted Wald confidence interval for a
       difference of binomial proportions based on paired data", J. Educational and
       Behavioral Statistics 37 (2012) 479-488.

    Examples
    --------
    >>> from fastcmp.kernels import bonett_price_interval
    >>> low, high = bonett_price_interval(11, 1, 10_000, 0.95)
    >>> round(low, 9), round(high, 9)
    (0.000266857, 0.001732743)
    """
    z, n_same = _normal_quantile(confidence_level), float(n) - only_a - only_b
    return _interval(n_same, float(only_a), float(only_b), 0.0, BONETT_PRICE, z)


@helper
def _wilson_distances(successes: float, n: float, z: float) -> tuple[float, float]:
    """Distances of Wilson's ends from the proportion, without cancellation."""
    variance = successes / n * ((n - successes) / n) / n
    spread = z * math.sqrt(variance + z * z / (4.0 * n * n))
    tilt = z * z * (successes - 0.5 * n) / (n * n)
    # The product of the two is z**2 variance / (1 + z**2 / n).
    larger = spread + abs(tilt)
    far, near = larger / (1.0 + z * z / n), z * z * variance / larger
    return (far, near) if tilt > 0.0 else (near, far)


@helper
def _uncorrelated(both_right: float, only_a: float, only_b: float, both_wrong: float) -> float:
    """1 - phi, with Newcombe's continuity correction of phi; no cancellation near 0."""
    a, b, c, d = both_right, only_a, only_b, both_wrong
    n = a + b + c + d
    margins = (a + b) * (a + c) * (c + d) * (b + d)
    association = a * d - b * c
    if margins == 0.0 or 0.0 < association <= 0.5 * n:
        return 1.0
    root = math.sqrt(margins)
    if association <= 0.0:
        return 1.0 - association / root
    # margins - (association - n / 2)**2, as a sum of positive terms.
    first, second = a * c + b * d, a * b + c * d
    rest = (a * d + b * c) * (first + second) + first * second + 4.0 * (a * b) * (c * d)
    rest += n * (association - 0.25 * n)
    return rest / (root * (root + (association - 0.5 * n)))


@helper
def _newcombe(
    both_right: float, only_a: float, only_b: float, both_wrong: float, z: float
) -> Interval:
    n = both_right + only_a + only_b + both_wrong
    d = (only_a - only_b) / n
    below_a, above_a = _wilson_distances(both_right + only_a, n, z)
    below_b, above_b = _wilson_distances(both_right + only_b, n, z)
    twice = 2.0 * _uncorrelated(both_right, only_a, only_b, both_wrong)
    down = square(below_a - above_b) + twice * below_a * above_b
    up = square(below_b - above_a) + twice * below_b * above_a
    return Interval(d - math.sqrt(down), d + math.sqrt(up))


@kernel
def newcombe_interval(
    both_right: int, only_a: int, only_b: int, both_wrong: int, confidence_level: float
) -> Interval:
    """Newcombe's square-and-add score interval with continuity-corrected phi.

    Parameters
    ----------
    both_right, only_a, only_b, both_wrong : int
        The four cells of the table.
    confidence_level : float
        In (0, 1).

    Returns
    -------
    Interval
        ``low`` and ``high``.

    References
    ----------
    .. [1] R. G. Newcombe, "Improved confidence intervals for the difference between
       binomial proportions based on paired data", Statistics in Medicine 17 (1998)
       2635-2650, method 10.

    Examples
    --------
    >>> from fastcmp.kernels import newcombe_interval
    >>> low, high = newcombe_interval(1, 1, 7, 12, 0.90)
    >>> round(low, 6), round(high, 6)
    (-0.474798, -0.06887)
    """
    z, right, wrong = _normal_quantile(confidence_level), float(both_right), float(both_wrong)
    return _interval(right, float(only_a), float(only_b), wrong, NEWCOMBE, z)


@kernel
def tango_interval(only_a: int, only_b: int, n: int, confidence_level: float) -> Interval:
    """Tango's score interval for the difference of two paired proportions.

    The set of differences that a score test does not reject; it agrees with McNemar's
    asymptotic test about 0.

    Parameters
    ----------
    only_a, only_b : int
        Samples that only model a, and only model b, classified correctly.
    n : int
        All samples.
    confidence_level : float
        In (0, 1).

    Returns
    -------
    Interval
        ``low`` and ``high``.

    References
    ----------
    .. [1] T. Tango, "Equivalence test and confidence interval for the difference in
       proportions for the paired-sample design", Statistics in Medicine 17 (1998)
       891-908.

    Examples
    --------
    >>> from fastcmp.kernels import tango_interval
    >>> low, high = tango_interval(0, 1, 44, 0.90)
    >>> round(low, 6), round(high, 6)
    (-0.095662, 0.036517)
    """
    z, n_same = _normal_quantile(confidence_level), float(n) - only_a - only_b
    return _interval(n_same, float(only_a), float(only_b), 0.0, TANGO, z)


@kernel
def difference_interval_many(
    both_right: IntArray,
    only_a: IntArray,
    only_b: IntArray,
    both_wrong: IntArray,
    method: int,
    confidence_level: float,
    low: FloatArray,
    high: FloatArray,
) -> None:
    """Write intervals of many differences, (P,), by ``NEWCOMBE`` or another code."""
    z = _normal_quantile(confidence_level)
    if method in (WALD, BONETT_PRICE):  # a loop of its own is twice as fast
        more = 1.0 if method == BONETT_PRICE else 0.0
        for i in range(only_a.size):
            right, a = float(both_right[i]), float(only_a[i])
            b, wrong = float(only_b[i]), float(both_wrong[i])
            ends = Interval(math.nan, math.nan)
            if not _impossible(right, a, b, wrong, z):
                n = right + a + b + wrong + 2.0 * more
                ends = _wald(a + more, b + more, n, z)
            low[i], high[i] = ends
        return
    for i in range(only_a.size):
        right, a = float(both_right[i]), float(only_a[i])
        b, wrong = float(only_b[i]), float(both_wrong[i])
        low[i], high[i] = _interval(right, a, b, wrong, method, z)


# Tango's score test of a difference of two paired proportions that is not 0.
#
# Only model a is right on ``only_a`` of n samples, only model b on ``only_b``. The
# difference is (only_a - only_b) / n, the accuracy of a minus that of b.

_ROOT_HALF = math.sqrt(0.5)


@helper
def _upper_tail(z: float) -> float:
    return 0.5 * math.erfc(_ROOT_HALF * z)


@helper
def _tango_z(only_a: float, only_b: float, n: float, difference: float) -> float:
    """Score with its sign; infinite without variance, 0 where nothing differs."""
    distance = only_a - only_b - n * difference
    if distance == 0.0:
        return 0.0
    return distance / math.sqrt(_tango_variance(only_a, only_b, n, difference))


@kernel
def tango_test(
    only_a: int, only_b: int, n: int, difference: float, alternative: int = 0
) -> Outcome:
    """Tango's score test of a difference of two paired proportions.

    H0 says that the accuracy of a minus that of b is `difference`. At -margin the
    alternative ``GREATER`` is non-inferiority of a, at +margin superiority by more than
    the margin. The same statistic is known as Nam's. At 0 it is McNemar's asymptotic
    test.

    Parameters
    ----------
    only_a, only_b : int
        Samples that only model a, and only model b, classified correctly.
    n : int
        All samples.
    difference : float
        Under H0, in (-1, 1).
    alternative : int, optional
        ``TWO_SIDED`` (0), ``GREATER`` (1) or ``LESS`` (-1).

    Returns
    -------
    Outcome
        ``statistic``, a standard normal score above 0 where a does better than H0 says,
        ``pvalue`` and ``status``; DEGENERATE where both counts and the difference are
        0, INVALID and NaN for impossible counts.

    References
    ----------
    .. [1] T. Tango, "Equivalence test and confidence interval for the difference in
       proportions for the paired-sample design", Statistics in Medicine 17 (1998)
       891-908.
    .. [2] J.-M. Nam, "Establishing equivalence of two treatments and sample size
       requirements in matched-pairs design", Biometrics 53 (1997) 1422-1430.

    Examples
    --------
    >>> from fastcmp.kernels import GREATER, tango_test
    >>> found = tango_test(0, 1, 44, -0.05, GREATER)
    >>> round(found.statistic, 6), round(found.pvalue, 6)
    (0.830057, 0.203253)
    """
    concordant = n - only_a - only_b
    if _impossible(concordant, only_a, only_b, 0, 0.0) or not abs(difference) < 1.0:
        return Outcome(math.nan, math.nan, INVALID)
    z = _tango_z(float(only_a), float(only_b), float(n), difference)
    status = OK
    if difference == 0.0 and only_a + only_b == 0:
        status = DEGENERATE
    if alternative == TWO_SIDED:
        return Outcome(z, 2.0 * _upper_tail(abs(z)), status)
    return Outcome(z, _upper_tail(z if alternative > 0 else -z), status)


@kernel
def tango_margin_many(
    only_a: IntArray,
    only_b: IntArray,
    n: IntArray,
    margin: FloatArray,
    alpha: float,
    found: FloatArray,
) -> None:
    """Write Tango's tests of many tables against their margins, and intervals.

    Rows of `found`, (10, P): the scores at -margin and margin; p-values of the difference
    being above -margin, below margin, above margin; both ends of the intervals at levels
    1 - alpha and 1 - 2 alpha; the variance at -margin.
    """
    z_outer = _normal_quantile(1.0 - alpha)
    z_inner = _normal_quantile(1.0 - 2.0 * alpha)
    for i in range(only_a.size):
        a, b, m, shift = float(only_a[i]), float(only_b[i]), float(n[i]), margin[i]
        if _impossible(m - a - b, a, b, 0.0, z_inner) or not 0.0 < shift < 1.0:
            found[:, i] = math.nan
            continue
        lower = _tango_z(a, b, m, -shift)
        upper = _tango_z(a, b, m, shift)
        found[0, i] = lower
        found[1, i] = upper
        found[2, i] = _upper_tail(lower)
        found[3, i] = _upper_tail(-upper)
        found[4, i] = _upper_tail(upper)
        found[5, i], found[6, i] = _tango(a, b, m, z_outer)
        found[7, i], found[8, i] = _tango(a, b, m, z_inner)
        found[9, i] = _tango_variance(a, b, m, -shift)
