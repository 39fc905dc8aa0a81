"""McNemar's conditional tests, from the two discordant counts.

Only model a is correct on ``only_a`` samples, only model b on ``only_b``. Under the
null hypothesis a discordant sample is either with probability one half.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from fastcmp._jit import inlined, kernel
from fastcmp.kernels.binomial import binomial_half
from fastcmp.kernels.status import DEGENERATE, INVALID, OK, TWO_SIDED, Outcome

if TYPE_CHECKING:
    from fastcmp.kernels.typing import FloatArray, IntArray, StatusArray

#: Codes of the variants, for `mcnemar_many`.
MIDP: Final = 0
EXACT: Final = 1
ASYMPTOTIC: Final = 2
CORRECTED: Final = 3


@inlined
def _favourable(only_a: float, only_b: float, alternative: int) -> float:
    """Count whose lower tail is the p-value."""
    if alternative == TWO_SIDED:
        return float(min(only_a, only_b))
    return float(only_b) if alternative > 0 else float(only_a)


@inlined
def _chi_square(only_a: float, only_b: float, correction: float) -> float:
    distance = max(abs(float(only_a) - float(only_b)) - correction, 0.0)
    return distance * distance / (float(only_a) + float(only_b))


@inlined
def _normal_tail(only_a: float, only_b: float, chi2: float, alternative: int) -> float:
    if alternative == TWO_SIDED:
        return math.erfc(math.sqrt(0.5 * chi2))
    towards = (float(only_a) - float(only_b)) * alternative
    return 0.5 * math.erfc(math.copysign(math.sqrt(0.5 * chi2), towards))


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
    if only_a < 0 or only_b < 0:
        return Outcome(math.nan, math.nan, INVALID)
    if only_a + only_b == 0:
        return Outcome(0.0, 1.0, DEGENERATE)
    chi2 = _chi_square(only_a, only_b, 0.0)
    return Outcome(chi2, _normal_tail(only_a, only_b, chi2, alternative), OK)


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
    if only_a < 0 or only_b < 0:
        return Outcome(math.nan, math.nan, INVALID)
    if only_a + only_b == 0:
        return Outcome(0.0, 1.0, DEGENERATE)
    chi2 = _chi_square(only_a, only_b, 1.0)
    return Outcome(chi2, _normal_tail(only_a, only_b, chi2, alternative), OK)


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
    if only_a < 0 or only_b < 0:
        return Outcome(math.nan, math.nan, INVALID)
    total = float(only_a) + float(only_b)
    if total == 0.0:
        return Outcome(0.0, 1.0, DEGENERATE)
    tail = binomial_half(_favourable(only_a, only_b, alternative), total)
    pvalue = tail.mid + 0.5 * tail.pmf
    if alternative == TWO_SIDED:
        pvalue *= 2.0
    return Outcome(_chi_square(only_a, only_b, 0.0), min(pvalue, 1.0), OK)


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
    if only_a < 0 or only_b < 0:
        return Outcome(math.nan, math.nan, INVALID)
    total = float(only_a) + float(only_b)
    if total == 0.0:
        return Outcome(0.0, 1.0, DEGENERATE)
    pvalue = binomial_half(_favourable(only_a, only_b, alternative), total).mid
    if alternative == TWO_SIDED:
        pvalue *= 2.0
    return Outcome(_chi_square(only_a, only_b, 0.0), min(pvalue, 1.0), OK)


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
    """Test many pairs of counts and write into the three output arrays."""
    for i in range(only_a.size):
        if method == MIDP:
            outcome = mcnemar_midp(only_a[i], only_b[i], alternative)
        elif method == EXACT:
            outcome = mcnemar_exact(only_a[i], only_b[i], alternative)
        elif method == ASYMPTOTIC:
            outcome = mcnemar_asymptotic(only_a[i], only_b[i], alternative)
        else:
            outcome = mcnemar_corrected(only_a[i], only_b[i], alternative)
        statistic[i] = outcome.statistic
        pvalue[i] = outcome.pvalue
        status[i] = outcome.status
