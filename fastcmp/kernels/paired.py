"""McNemar's conditional tests, from the two discordant counts.

Only model a is correct on ``only_a`` samples, only model b on ``only_b``. Under the
null hypothesis a discordant sample is either with probability one half.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from fastcmp._jit import helper, kernel
from fastcmp.kernels.binomial import half_tail
from fastcmp.kernels.status import DEGENERATE, INVALID, OK, TWO_SIDED, Outcome

if TYPE_CHECKING:
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
    """Test many pairs of counts and write into the three output arrays.

    Parameters
    ----------
    only_a, only_b : ndarray of int64, shape (P,)
        Discordant counts.
    method : int
        ``MIDP``, ``EXACT``, ``ASYMPTOTIC`` or ``CORRECTED``.
    alternative : int
        ``TWO_SIDED``, ``GREATER`` or ``LESS``.
    statistic, pvalue : ndarray of float64, shape (P,)
        Receive the answers.
    status : ndarray of uint8, shape (P,)
        Receives a `Status` for each.

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.kernels import EXACT, TWO_SIDED, mcnemar_many
    >>> only_a, only_b = np.array([11, 0]), np.array([1, 0])
    >>> chi2, p, status = np.empty(2), np.empty(2), np.empty(2, np.uint8)
    >>> mcnemar_many(only_a, only_b, EXACT, TWO_SIDED, chi2, p, status)
    >>> p.round(8).tolist(), status.tolist()
    ([0.00634766, 1.0], [0, 1])
    """
    if method in (MIDP, EXACT):
        point = 0.5 if method == EXACT else 0.0
        binomial_many(only_a, only_b, point, alternative, statistic, pvalue, status)
    else:
        correction = 1.0 if method == CORRECTED else 0.0
        normal_many(only_a, only_b, correction, alternative, statistic, pvalue, status)


@kernel
def binomial_many(
    only_a: IntArray,
    only_b: IntArray,
    point: float,
    alternative: int,
    statistic: FloatArray,
    pvalue: FloatArray,
    status: StatusArray,
) -> None:
    """`mcnemar_many` by the mid-p (`point` = 0) or the exact test (0.5)."""
    for i in range(only_a.size):
        outcome = _binomial(float(only_a[i]), float(only_b[i]), point, alternative)
        statistic[i] = outcome.statistic
        pvalue[i] = outcome.pvalue
        status[i] = outcome.status


@kernel
def normal_many(
    only_a: IntArray,
    only_b: IntArray,
    correction: float,
    alternative: int,
    statistic: FloatArray,
    pvalue: FloatArray,
    status: StatusArray,
) -> None:
    """`mcnemar_many` by the asymptotic or, `correction` = 1, the corrected test."""
    for i in range(only_a.size):
        outcome = _normal(float(only_a[i]), float(only_b[i]), correction, alternative)
        statistic[i] = outcome.statistic
        pvalue[i] = outcome.pvalue
        status[i] = outcome.status
