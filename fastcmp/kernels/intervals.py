"""Confidence intervals for one accuracy, and for the difference of two.

All take counts: `both_right`, `only_a`, `only_b` and `both_wrong` of n samples.
The difference is (only_a - only_b) / n, the accuracy of a minus that of b.
"""

from __future__ import annotations

import math
from typing import Final

from fastcmp._jit import helper, kernel
from fastcmp.kernels.special import _ndtri, square
from fastcmp.kernels.status import Interval
from fastcmp.kernels.tango_score import _tango

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


@helper
def _wald(only_a: float, only_b: float, n: float, z: float) -> Interval:
    d = (only_a - only_b) / n
    spread = z * math.sqrt((only_a + only_b) / n - d * d) / math.sqrt(n)
    return Interval(max(d - spread, -1.0), min(d + spread, 1.0))


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
    z = _normal_quantile(confidence_level)
    a, b, size = float(only_a), float(only_b), float(n)
    if _impossible(size - a - b, a, b, 0.0, z):
        return Interval(math.nan, math.nan)
    return _wald(a, b, size, z)


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
    z = _normal_quantile(confidence_level)
    a, b, size = float(only_a), float(only_b), float(n)
    if _impossible(size - a - b, a, b, 0.0, z):
        return Interval(math.nan, math.nan)
    return _wald(a + 1.0, b + 1.0, size + 2.0, z)


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
    z = _normal_quantile(confidence_level)
    right, wrong = float(both_right), float(both_wrong)
    a, b = float(only_a), float(only_b)
    if _impossible(right, a, b, wrong, z):
        return Interval(math.nan, math.nan)
    return _newcombe(right, a, b, wrong, z)


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
    z = _normal_quantile(confidence_level)
    a, b, size = float(only_a), float(only_b), float(n)
    if _impossible(size - a - b, a, b, 0.0, z):
        return Interval(math.nan, math.nan)
    return _tango(a, b, size, z)
