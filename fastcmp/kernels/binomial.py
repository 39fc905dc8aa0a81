"""The binomial distribution at one half, to full precision in constant time.

McNemar's exact and mid-p tests are tails of Bin(n, 1/2). SciPy's incomplete beta takes
120-290 ns for one; here it is 80-130 ns, for n from 1 to 10**15.

Write u = (n - 2k)/n and D = n * (u * atanh(u) + log1p(-u**2)/2), the deviance. Then

    P(X < k) + P(X = k)/2 = erfc(sqrt(D))/2 + P(X = k) * u * S(u**2, 1/n),

where S is smooth: a saddle-point expansion in which the half weight of the boundary
removes the lattice terms. Its coefficients are made by
``benchmarks/make_binomial_coefficients.py``. If n is small or the tail is far, the
tail is summed term by term: the terms then fall at least threefold a step, or are few.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from fastcmp._jit import helper, kernel
from fastcmp.kernels.special import _gammaln

_SMALL_N = 200  # below it the sum is as fast, and the expansion loses digits
_FAR_U = 0.5  # beyond it the terms of the sum fall threefold a step
# (n - 2k)**2 / (2n) bounds the deviance from below, and exp(-746) is 0: two models of
# different skill need no logarithm.
_ZERO = 1492.0
_HALF_LOG_2PI = 0.9189385332046727

# Coefficients of S in powers of v, one tuple for each power of r; highest power first.
_S0 = (
    0.01249825239147172,
    -0.004697333867042726,
    0.007186612831371954,
    0.003607680299244963,
    0.005505296097645422,
    0.006577662604827831,
    0.008386750244033863,
    0.011181514267026064,
    0.016004792820102084,
    0.02579778437411323,
    0.05312500000009173,
    0.2916666666666666,
)
_S1 = (
    -0.10941382561566255,
    0.03584368229377126,
    -0.052345704826634164,
    -0.02540180473706148,
    -0.03386071202608488,
    -0.03616318052594187,
    -0.040344053915389325,
    -0.04611271685401575,
    -0.05496884484138808,
    -0.07082506612603684,
    -0.11770833333334525,
)
_S2 = (
    -0.3010271867534111,
    0.09498195376826277,
    -0.10843497388373152,
    -0.04009699429307095,
    -0.04391263026005702,
    -0.034488644108029515,
    -0.024984299893282304,
    -0.013406633623317286,
    0.0010553587452317762,
    0.01856398809581939,
)
_S3 = (
    7.386844019454211,
    -1.8938687616465002,
    2.16618644196931,
    0.8310650114662572,
    0.7747132593747987,
    0.5569470987616895,
    0.37176536201708554,
    0.20667743439604566,
    0.07106352330991515,
)
_S4 = (
    0.5681567227455226,
    -0.2844877184849827,
    -0.11679166975248488,
    -0.15109454891070623,
    -0.10947590511025647,
    -0.044911180482417906,
)
_S5 = (
    -109.33388633191596,
    12.579834657814693,
    -12.26657403655819,
    -3.2260939750042628,
    -1.088565254662613,
    -0.1659779348496715,
)
_S6 = (
    6.916417045603256,
    0.6767108247635152,
    0.19939048852120556,
)
_S7 = (
    195.14177643915482,
    -7.896922229193531,
    1.042492580031125,
)


class HalfBinomial(NamedTuple):
    """The lower tail of Bin(n, 1/2) at k."""

    #: P(X < k) + P(X = k) / 2
    mid: float
    #: P(X = k)
    pmf: float


@helper
def _stirling_error(k: float) -> float:
    """Log k! minus Stirling's formula for it (Loader 2000), k >= 1."""
    if k < 16.0:
        return _gammaln(k + 1.0, 0) - ((k + 0.5) * math.log(k) - k + _HALF_LOG_2PI)
    r = 1.0 / k
    q = r * r
    return r * (1 / 12 - q * (1 / 360 - q * (1 / 1260 - q * (1 / 1680 - q * (1 / 1188)))))


#: All of them in the order in which they are used, and where each tuple ends. Loops
#: over an array compile in a third of the time of loops over tuples.
_POWERS = (_S7, _S6, _S5, _S4, _S3, _S2, _S1, _S0)
_COEFFICIENTS = np.concatenate(_POWERS)
_ENDS = np.cumsum([len(power) for power in _POWERS])


@helper
def _expansion(v: float, r: float) -> float:
    """S(v, r) of the module's formula, for v <= 1/4 and r <= 1/200."""
    total = 0.0
    i = 0
    for j in range(_ENDS.size):
        power = 0.0
        while i < _ENDS[j]:
            power = power * v + _COEFFICIENTS[i]
            i += 1
        total = total * r + power
    return total


@helper
def half_tail(k: float, n: float) -> HalfBinomial:
    """Answer of `binomial_half`, whose frame for Python is half its compilation."""
    m = min(k, n - k)
    if (n - 2.0 * m) * (n - 2.0 * m) > _ZERO * n:
        mid = pmf = 0.0
    elif m == 0.0:
        pmf = 0.5**n
        mid = 0.5 * pmf
    else:
        u = (n - 2.0 * m) / n
        if u <= _FAR_U:
            deviance = n * (u * math.atanh(u) + 0.5 * math.log1p(-u * u))
        else:
            deviance = m * math.log(2.0 * m / n) + (n - m) * math.log(2.0 * (n - m) / n)
        scale = math.sqrt(n / (2.0 * math.pi * m * (n - m))) * math.exp(
            _stirling_error(n) - _stirling_error(m) - _stirling_error(n - m)
        )
        weight = math.exp(-deviance)
        pmf = weight * scale
        if u == 0.0:
            mid = 0.5  # exactly, so that ties have p = 1
        elif n >= _SMALL_N and u <= _FAR_U:
            mid = 0.5 * math.erfc(math.sqrt(deviance))
            mid += pmf * u * _expansion(u * u, 1.0 / n)
        else:
            total = 0.5
            term = 1.0
            i = m
            while i > 0.0 and term > 1e-17 * total:
                term *= i / (n - i + 1.0)
                total += term
                i -= 1.0
            mid = pmf * total
    if k > n - k:
        mid = 1.0 - mid
    return HalfBinomial(mid, pmf)


@kernel
def binomial_half(k: float, n: float) -> HalfBinomial:
    """Lower mid-tail and point probability of Bin(n, 1/2).

    P(X <= k) is ``mid + pmf / 2`` and P(X < k) is ``mid - pmf / 2``; for a lower tail
    (k <= n/2) the relative error of the first is about 1e-13, down to 1e-300.

    Parameters
    ----------
    k : float
        Number of successes, a whole number in [0, n].
    n : float
        Number of trials, a whole number from 1 to 2**53.

    Returns
    -------
    HalfBinomial
        ``mid`` = P(X < k) + P(X = k)/2 and ``pmf`` = P(X = k).

    Notes
    -----
    Constant time for n > 200 in the body of the distribution, and at most about sixty
    terms elsewhere.

    Examples
    --------
    >>> from fastcmp.kernels import binomial_half
    >>> tail = binomial_half(1, 12)
    >>> round((tail.mid + tail.pmf / 2) * 4096, 9)
    13.0
    """
    return half_tail(k, n)
