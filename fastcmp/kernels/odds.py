"""Confidence intervals for the conditional odds ratio of two models.

Given that only one of them is right, the odds that it is a: only_a / only_b.
"""

from __future__ import annotations

import math

from fastcmp._jit import inlined, kernel
from fastcmp.kernels.roots import itp_step
from fastcmp.kernels.special import betainc, betaincinv
from fastcmp.kernels.status import Interval

_MAX_STEPS = 120


@kernel
def odds_ratio_exact_interval(
    only_a: int, only_b: int, confidence_level: float
) -> Interval:
    """Exact interval for the conditional odds ratio only_a : only_b.

    Clopper and Pearson's limits of the share of discordant samples that a gets right,
    as odds.

    Parameters
    ----------
    only_a, only_b : int
        Samples that only model a, only model b, classified rightly.
    confidence_level : float
        In (0, 1).

    Returns
    -------
    Interval
        ``low`` is 0 where only_a is 0 and ``high`` infinite where only_b is 0.

    Examples
    --------
    >>> from fastcmp.kernels import odds_ratio_exact_interval
    >>> low, high = odds_ratio_exact_interval(11, 1, 0.95)
    >>> round(low, 3), round(high, 1)
    (1.599, 473.5)
    """
    if only_a < 0 or only_b < 0 or not 0.0 < confidence_level < 1.0:
        return Interval(math.nan, math.nan)
    tail = 0.5 * (1.0 - confidence_level)
    a, b = float(only_a), float(only_b)
    # Each limit from the smaller side, so that odds near 0 keep their digits.
    low = 0.0
    if only_a > 0:
        p = betaincinv(a, b + 1.0, tail)
        low = p / (1.0 - p)
    high = math.inf
    if only_b > 0:
        p = betaincinv(b, a + 1.0, tail)
        high = (1.0 - p) / p
    return Interval(low, high)


@inlined
def _midp_lower_share(x: float, y: float, tail: float) -> float:
    """Share p of x successes and y failures whose upper mid-p equals `tail`."""
    low, f_low = 0.0, tail
    high, f_high = 1.0, tail - 1.0
    if y == 0.0:
        return math.exp(math.log(2.0 * tail) / x)
    for i in range(_MAX_STEPS):
        reach = 0.5 * (high - low) if i < 60 else 0.0
        p = itp_step(low, f_low, high, f_high, reach)
        upper = 0.5 * (betainc(x, y + 1.0, p) + betainc(x + 1.0, y, p))
        f = tail - upper
        if f > 0.0:
            low, f_low = p, f
        else:
            high, f_high = p, f
        if high - low <= 4e-16 * high:
            break
    return 0.5 * (low + high)


@kernel
def odds_ratio_midp_interval(
    only_a: int, only_b: int, confidence_level: float
) -> Interval:
    """Mid-p interval for the conditional odds ratio only_a : only_b.

    Parameters
    ----------
    only_a, only_b : int
        Samples that only model a, only model b, classified rightly.
    confidence_level : float
        In (0, 1).

    Returns
    -------
    Interval
        ``low`` is 0 where only_a is 0 and ``high`` infinite where only_b is 0.

    Examples
    --------
    >>> from fastcmp.kernels import odds_ratio_midp_interval
    >>> low, high = odds_ratio_midp_interval(11, 1, 0.95)
    >>> round(low, 3), round(high, 1)
    (1.878, 238.9)
    """
    if only_a < 0 or only_b < 0 or not 0.0 < confidence_level < 1.0:
        return Interval(math.nan, math.nan)
    tail = 0.5 * (1.0 - confidence_level)
    low = 0.0
    if only_a > 0:
        p = _midp_lower_share(float(only_a), float(only_b), tail)
        low = p / (1.0 - p)
    high = math.inf
    if only_b > 0:
        p = _midp_lower_share(float(only_b), float(only_a), tail)
        high = (1.0 - p) / p
    return Interval(low, high)
