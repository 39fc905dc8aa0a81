"""McNemar's conditional tests, from the two discordant counts.

Only model a is correct on ``only_a`` samples, only model b on ``only_b``. Under the
null hypothesis a discordant sample is either with probability one half.
"""

from __future__ import annotations

import math
from typing import Final

from fastcmp._jit import helper, kernel
from fastcmp.kernels.binomial import half_tail
from fastcmp.kernels.special import _betaincc, betainc, itp_step, narrowed, ndtri, square
from fastcmp.kernels.status import DEGENERATE, INVALID, OK, TWO_SIDED, Interval, Outcome
from fastcmp.kernels.typing import FloatArray, IntArray, StatusArray

#: Codes of the variants, for `mcnemar_many`.
MIDP: Final = 0
EXACT: Final = 1
ASYMPTOTIC: Final = 2
CORRECTED: Final = 3


# Helpers take floats, so that each is compiled for one type; `max` is another function
# to compile, and so there is only `min`.


@helper
def _chi_square(only_a: float, only_b: float, correction: float) -> float:
    distance = abs(only_a - only_b)
    distance -= min(distance, correction)
    return distance * distance / (only_a + only_b)


@helper
def _normal(only_a: float, only_b: float, correction: float, alternative: int) -> Outcome:
    if only_a < 0.0 or only_b < 0.0:
        return Outcome(math.nan, math.nan, INVALID)
    if only_a + only_b == 0.0:
        return Outcome(0.0, 1.0, DEGENERATE)
    chi2 = _chi_square(only_a, only_b, correction)
    z = math.sqrt(0.5 * chi2)
    if alternative == TWO_SIDED:
        return Outcome(chi2, math.erfc(z), OK)
    towards = (only_a - only_b) * alternative
    return Outcome(chi2, 0.5 * math.erfc(math.copysign(z, towards)), OK)


@helper
def _binomial(only_a: float, only_b: float, point: float, alternative: int) -> Outcome:
    """Test by P(X < m) and P(X = m), of which `point` counts besides one half."""
    if only_a < 0.0 or only_b < 0.0:
        return Outcome(math.nan, math.nan, INVALID)
    if only_a + only_b == 0.0:
        return Outcome(0.0, 1.0, DEGENERATE)
    m = only_b if alternative > 0 else only_a
    if alternative == TWO_SIDED:
        m = min(only_a, only_b)
    tail = half_tail(m, only_a + only_b)
    pvalue = tail.mid + point * tail.pmf
    if alternative == TWO_SIDED:
        pvalue *= 2.0
    return Outcome(_chi_square(only_a, only_b, 0.0), min(pvalue, 1.0), OK)


@kernel
def mcnemar_asymptotic(only_a: int, only_b: int, alternative: int = 0) -> Outcome:
    """McNemar's test with the normal approximation.

    Parameters
    ----------
    only_a, only_b : int
        Samples that only model a, and only model b, classified correctly.
    alternative : int, optional
        ``TWO_SIDED`` (0), ``GREATER`` (1, a is better) or ``LESS`` (-1).

    Returns
    -------
    Outcome
        ``statistic`` = (only_a - only_b)**2 / (only_a + only_b), ``pvalue`` and
        ``status``. Without discordant samples: 0, 1 and ``DEGENERATE``. NaN and
        ``INVALID`` for negative counts.

    References
    ----------
    .. [1] Q. McNemar, "Note on the sampling error of the difference between correlated
       proportions or percentages", Psychometrika 12 (1947) 153-157.

    Examples
    --------
    >>> from fastcmp.kernels import mcnemar_asymptotic
    >>> mcnemar_asymptotic(25, 15).statistic
    2.5
    """
    return _normal(float(only_a), float(only_b), 0.0, alternative)


@kernel
def mcnemar_corrected(only_a: int, only_b: int, alternative: int = 0) -> Outcome:
    """McNemar's test with Edwards' continuity correction.

    The correction never exceeds the difference: with equal counts the statistic is 0,
    and the two-sided p-value 1.

    Parameters
    ----------
    only_a, only_b : int
        Samples that only model a, and only model b, classified correctly.
    alternative : int, optional
        ``TWO_SIDED`` (0), ``GREATER`` (1, a is better) or ``LESS`` (-1).

    Returns
    -------
    Outcome
        ``statistic`` = max(abs(only_a - only_b) - 1, 0)**2 / (only_a + only_b),
        ``pvalue`` and ``status``; edge cases as in `mcnemar_asymptotic`.

    References
    ----------
    .. [1] A. L. Edwards, "Note on the correction for continuity in testing the
       significance of the difference between correlated proportions", Psychometrika
       13 (1948) 185-187.

    Examples
    --------
    >>> from fastcmp.kernels import mcnemar_corrected
    >>> mcnemar_corrected(25, 15).statistic
    2.025
    """
    return _normal(float(only_a), float(only_b), 1.0, alternative)


@kernel
def mcnemar_exact(only_a: int, only_b: int, alternative: int = 0) -> Outcome:
    """McNemar's exact conditional test (the sign test on discordant samples).

    Parameters
    ----------
    only_a, only_b : int
        Samples that only model a, and only model b, classified correctly.
    alternative : int, optional
        ``TWO_SIDED`` (0), ``GREATER`` (1, a is better) or ``LESS`` (-1).

    Returns
    -------
    Outcome
        ``statistic`` as in `mcnemar_asymptotic`; ``pvalue`` = P(X <= only_b) for
        greater, P(X <= only_a) for less, with X ~ Bin(only_a + only_b, 1/2), and twice
        the smaller one, at most 1, for two-sided; ``status``.

    Examples
    --------
    >>> from fastcmp.kernels import mcnemar_exact
    >>> round(mcnemar_exact(11, 1).pvalue, 14)
    0.00634765625
    """
    return _binomial(float(only_a), float(only_b), 0.5, alternative)


@kernel
def mcnemar_midp(only_a: int, only_b: int, alternative: int = 0) -> Outcome:
    """McNemar's mid-p test.

    The point probability of what was observed counts half. Equal counts give exactly 1
    (two-sided).

    Parameters
    ----------
    only_a, only_b : int
        Samples that only model a, and only model b, classified correctly.
    alternative : int, optional
        ``TWO_SIDED`` (0), ``GREATER`` (1, a is better) or ``LESS`` (-1).

    Returns
    -------
    Outcome
        ``statistic`` as in `mcnemar_asymptotic`; ``pvalue`` = P(X < m) + P(X = m)/2
        with X ~ Bin(only_a + only_b, 1/2) and m as in `mcnemar_exact`, doubled for
        two-sided; ``status``.

    References
    ----------
    .. [1] M. W. Fagerland, S. Lydersen, P. Laake, "The McNemar test for binary
       matched-pairs data: mid-p and asymptotic are better than exact conditional",
       BMC Medical Research Methodology 13 (2013) 91.

    Examples
    --------
    >>> from fastcmp.kernels import mcnemar_midp
    >>> round(mcnemar_midp(11, 1).pvalue, 14)
    0.00341796875
    """
    return _binomial(float(only_a), float(only_b), 0.0, alternative)


@kernel
def mcnemar_many(
    only_a: IntArray,
    only_b: IntArray,
    method: int,
    alternative: int,
    statistic: FloatArray,
    pvalue: FloatArray,
    status: StatusArray,
) -> None:
    """Write McNemar's test of many pairs, (P,), by ``MIDP``, ``EXACT`` or another code."""
    for i in range(only_a.size):
        a, b = float(only_a[i]), float(only_b[i])
        if method in (ASYMPTOTIC, CORRECTED):
            correction = 1.0 if method == CORRECTED else 0.0
            outcome = _normal(a, b, correction, alternative)
        else:
            outcome = _binomial(a, b, 0.5 if method == EXACT else 0.0, alternative)
        statistic[i], pvalue[i], status[i] = outcome


# Confidence intervals for the conditional odds ratio of two models.
#
# Given that only one of them is correct, the odds that it is a: only_a / only_b.

_MAX_STEPS = 120
#: Where both counts are as large, the expansion has all digits of the odds; incomplete
#: beta functions and their inverses lose theirs as counts grow, and some are NaN.
_LARGE = 4e6


@helper
def _large_odds(x: float, y: float, tail: float, midp: bool) -> float:
    """Odds of x successes to y failures, both large, by Cornish and Fisher's expansion.

    P(X >= x) is a beta variable's distribution function, whose log odds are the
    difference of two log gamma variables; the mid-p is that of a mixture of two. From
    their cumulants follow quantiles, to a term of order min(x, y)**-2 of their spread.
    """
    shift = 0.0 if midp else 0.5
    odds = (x - shift) / (y + shift)
    p, q = 1.0 / (x - shift), 1.0 / (y + shift)
    mixed = 0.25 * (p + q) if midp else 0.0
    sd = math.sqrt((p + q) * (1.0 + mixed))
    p, q = p / sd, q / sd
    skewness = (q - p) * (q + p) * (1.0 + 3.0 * mixed) / sd
    kurtosis = 2.0 * (p * p * p + q * q * q) / sd
    fifth = 6.0 * (q - p) * (q + p) * (p * p + q * q) / sd
    z = ndtri(tail)
    z2 = z * z
    first = skewness / 6.0 * (z2 - 1.0)
    second = kurtosis / 24.0 * (z2 - 3.0) - square(skewness) / 36.0 * (2.0 * z2 - 5.0)
    third = (
        fifth / 120.0 * ((z2 - 6.0) * z2 + 3.0)
        - skewness * kurtosis / 24.0 * ((z2 - 5.0) * z2 + 2.0)
        + skewness * square(skewness) / 324.0 * ((12.0 * z2 - 53.0) * z2 + 17.0)
    )
    return odds * math.exp(sd * (z + first + z * second + third))


@helper
def _excess(x: float, y: float, log_odds: float, tail: float, midp: bool) -> float:
    """Logarithm of `tail` less that of P(X >= x), or of the upper mid-p."""
    if log_odds <= 0.0:
        p = math.exp(log_odds) / (1.0 + math.exp(log_odds))
        upper = betainc(x, y + 1.0, p)
        if midp:
            upper = 0.5 * (upper + betainc(x + 1.0, y, p))
    else:
        q = math.exp(-log_odds) / (1.0 + math.exp(-log_odds))
        upper = _betaincc(y + 1.0, x, q, 0)
        if midp:
            upper = 0.5 * (upper + _betaincc(y, x + 1.0, q, 0))
    return math.log(tail) - math.log(upper) if upper > 0.0 else math.inf


@helper
def _odds(x: float, y: float, tail: float, midp: bool) -> float:
    """Odds of x > 0 successes to y failures with an upper tail, or mid-p, of `tail`.

    The inverse of the incomplete beta function has gaps, such as x = 1000, and so the
    function itself is searched, over the log odds, from the normal approximation.
    """
    if min(x, y) >= _LARGE:
        return _large_odds(x, y, tail, midp)
    if y == 0.0:
        other = math.expm1(-math.log(2.0 * tail if midp else tail) / x)
        return 1.0 / other if other > 0.0 else math.inf
    step = math.sqrt(1.0 / x + 1.0 / y)
    low = high = math.log(x / y) + ndtri(tail) * step
    f_low = f_high = _excess(x, y, low, tail, midp)
    while f_low < 0.0:
        high, f_high = low, f_low
        low -= step
        step *= 2.0
        f_low = _excess(x, y, low, tail, midp)
    while f_high > 0.0:
        low, f_low = high, f_high
        high += step
        step *= 2.0
        f_high = _excess(x, y, high, tail, midp)
    for i in range(_MAX_STEPS):
        if high - low <= 4e-16 * max(1.0, -low, high) or f_low <= 0.0 <= f_high:
            break
        middle = itp_step(low, f_low, high, f_high, i)
        f = _excess(x, y, middle, tail, midp)
        low, f_low, high, f_high = narrowed(low, f_low, high, f_high, middle, f)
        if f == 0.0:
            low = high
    return math.exp(0.5 * (low + high))


@helper
def _odds_interval(a: float, b: float, confidence_level: float, midp: bool) -> Interval:
    if a < 0.0 or b < 0.0 or not 0.0 < confidence_level < 1.0:
        return Interval(math.nan, math.nan)
    tail = 0.5 * (1.0 - confidence_level)
    low = _odds(a, b, tail, midp) if a > 0.0 else 0.0
    high = 1.0 / _odds(b, a, tail, midp) if b > 0.0 else math.inf
    return Interval(low, high)


@kernel
def odds_ratio_exact_interval(only_a: int, only_b: int, confidence_level: float) -> Interval:
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
    return _odds_interval(float(only_a), float(only_b), confidence_level, False)


@kernel
def odds_ratio_midp_interval(only_a: int, only_b: int, confidence_level: float) -> Interval:
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
    return _odds_interval(float(only_a), float(only_b), confidence_level, True)
