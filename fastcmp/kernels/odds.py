"""Confidence intervals for the conditional odds ratio of two models.

Given that only one of them is correct, the odds that it is a: only_a / only_b.
"""

from __future__ import annotations

import math

from fastcmp._jit import inlined, kernel
from fastcmp.kernels.roots import itp_step
from fastcmp.kernels.special import _betaincc, _betainccinv, betainc, betaincinv
from fastcmp.kernels.status import Interval

_MAX_STEPS = 120


@inlined
def _exact_odds(x: float, y: float, tail: float) -> float:
    """Odds of x > 0 successes to y failures for which P(X >= x) equals `tail`."""
    # Both p and 1 - p are quantiles: neither is a difference that loses digits near 0.
    return betaincinv(x, y + 1.0, tail) / _betainccinv(y + 1.0, x, tail, 0)  # type: ignore[no-any-return]


@kernel
def odds_ratio_exact_interval(
    only_a: int, only_b: int, confidence_level: float
) -> Interval:
    """Exact interval for the conditional odds ratio only_a : only_b.

    Clopper and Pearson's limits of the proportion of discordant samples that a gets
    right, as odds.

    Parameters
    ----------
    only_a, only_b : int
        Samples that only model a, and only model b, classified correctly.
    confidence_level : float
        In (0, 1).

    Returns
    -------
    Interval
        ``low`` is 0 if only_a is 0, and ``high`` infinite if only_b is 0.

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
    low = _exact_odds(a, b, tail) if only_a > 0 else 0.0
    high = 1.0 / _exact_odds(b, a, tail) if only_b > 0 else math.inf
    return Interval(low, high)


@inlined
def _midp_excess(x: float, y: float, log_odds: float, tail: float) -> float:
    """Logarithm of `tail` less that of the upper mid-p."""
    if log_odds <= 0.0:
        p = math.exp(log_odds) / (1.0 + math.exp(log_odds))
        upper = betainc(x, y + 1.0, p) + betainc(x + 1.0, y, p)
    else:
        q = math.exp(-log_odds) / (1.0 + math.exp(-log_odds))
        upper = _betaincc(y + 1.0, x, q, 0) + _betaincc(y, x + 1.0, q, 0)
    return math.log(tail) - math.log(0.5 * upper)


@inlined
def _midp_odds(x: float, y: float, tail: float) -> float:
    """Odds of x > 0 successes to y failures whose upper mid-p equals `tail`."""
    if y == 0.0:
        rate = math.log(2.0 * tail) / x
        return -math.exp(rate) / math.expm1(rate)
    # The tail with half the point probability lies between those with all and without.
    low = math.log(_exact_odds(x, y, tail))
    high = math.log(_exact_odds(x + 1.0, y - 1.0, tail))
    f_low = _midp_excess(x, y, low, tail)
    f_high = _midp_excess(x, y, high, tail)
    for i in range(_MAX_STEPS):
        if high - low <= 4e-16 * max(abs(low), abs(high)) or f_low <= 0.0 <= f_high:
            break
        reach = 0.5 * (high - low) if i < 60 else 0.0
        middle = itp_step(low, f_low, high, f_high, reach)
        f = _midp_excess(x, y, middle, tail)
        if f > 0.0:
            low, f_low = middle, f
        else:
            high, f_high = middle, f
        if f == 0.0:
            low = high
    return math.exp(0.5 * (low + high))


@kernel
def odds_ratio_midp_interval(
    only_a: int, only_b: int, confidence_level: float
) -> Interval:
    """Mid-p interval for the conditional odds ratio only_a : only_b.

    Parameters
    ----------
    only_a, only_b : int
        Samples that only model a, and only model b, classified correctly.
    confidence_level : float
        In (0, 1).

    Returns
    -------
    Interval
        ``low`` is 0 if only_a is 0, and ``high`` infinite if only_b is 0.

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
    a, b = float(only_a), float(only_b)
    low = _midp_odds(a, b, tail) if only_a > 0 else 0.0
    high = 1.0 / _midp_odds(b, a, tail) if only_b > 0 else math.inf
    return Interval(low, high)
