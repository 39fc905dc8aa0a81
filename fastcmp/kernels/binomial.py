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
from typing import Any, Final, NamedTuple

import numpy as np

from fastcmp._jit import helper, inlined, kernel, popcount
from fastcmp.kernels.rng import _next, _word
from fastcmp.kernels.special import _gammaln, log1pmx

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
_S6 = (6.916417045603256, 0.6767108247635152, 0.19939048852120556)
_S7 = (195.14177643915482, -7.896922229193531, 1.042492580031125)


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


# Binomial random numbers, each a pure function of (seed, replicate, draw).
#
# Each has words of its own: the word of (seed, replicate, draw) is the key of as many
# further words as the method needs. Coins are counted for p = 1/2 and few trials, the
# distribution function is inverted where n p < 10, and else Hoermann's transformed
# rejection is used, whose time does not grow with n.

_11 = np.uint64(11)
_LARGEST: Final = 2.0**53
_COINS: Final = 256.0  # up to here counting bits is faster than rejection
_FEW: Final = 10.0  # successes, below which the distribution function is inverted
_STEPS: Final = 15.0  # from the mode, within which probabilities are multiplied
_MOST: Final = 110.0  # successes with a chance below 1e-70 where 10 are expected


@kernel
def random_binomial(seed: int, replicate: int, draw: int, n: int, p: float) -> int:
    """Draw a binomial random number.

    Parameters
    ----------
    seed, replicate, draw : int
        The number is a function of these; not negative.
    n : int
        Trials, from 0 to 2**53.
    p : float
        Probability of success, in [0, 1].

    Returns
    -------
    int
        Successes; -1 where `n` or `p` is out of range. Probabilities are those of the
        distribution to the rounding of float64.

    Notes
    -----
    Its time is bounded, whatever n: 5 to 60 ns.

    References
    ----------
    .. [1] W. Hoermann, "The generation of binomial random variates", Journal of
       Statistical Computation and Simulation 46 (1993) 101-110: algorithm BTRS.

    Examples
    --------
    >>> from fastcmp.kernels import random_binomial
    >>> [random_binomial(1, 0, draw, 1000, 0.3) for draw in range(5)]
    [297, 305, 306, 297, 299]
    """
    if not (0 <= n <= _LARGEST and 0.0 <= p <= 1.0):
        return -1
    return int(_binomial(_word(seed, replicate, draw), float(n), float(p)))


@kernel
def _binomial(key: Any, n: float, p: float) -> float:
    """Draw from Bin(n, p) with the words of a key."""
    if p == 0.5 and n <= _COINS:
        return _count_coins(key, int(n))
    rare = min(p, 1.0 - p)
    x = _inverted(key, n, rare) if n * rare < _FEW else _rejected(key, n, rare)
    return n - x if p > 0.5 else x


@inlined
def _uniform(key: Any, draw: int) -> float:
    """Draw a number in [0, 1), a multiple of 2**-53."""
    return int(_next(key, draw) >> _11) * 2.0**-53


@inlined
def _count_coins(key: Any, n: int) -> float:
    """Count the bits of n fair coins."""
    heads, word = 0, 0
    while n >= 64:
        heads += int(popcount(_next(key, word)))
        word += 1
        n -= 64
    if n > 0:
        heads += int(popcount(_leading(_next(key, word), n)))
    return float(heads)


@inlined
def _leading(word: Any, n: int) -> Any:
    """Keep n of 64 bits."""
    return word >> np.uint64(64 - n)


@kernel
def _inverted(key: Any, n: float, p: float) -> float:
    """Add probabilities from 0 on until they exceed a uniform number."""
    odds = p / (1.0 - p)
    none = math.exp(n * math.log1p(-p))
    draw = 0
    while True:
        left, term, x = _uniform(key, draw), none, 0.0
        while left >= term and x < _MOST:
            left -= term
            term *= odds * (n - x) / (x + 1.0)
            x += 1.0
        if x <= n and x < _MOST:  # else rounding has left something of the number
            return x
        draw += 1


@kernel
def _rejected(key: Any, n: float, p: float) -> float:
    """Draw by transformed rejection with squeeze (BTRS), n p >= 10 and p <= 1/2."""
    deviation = math.sqrt(n * p * (1.0 - p))
    b = 1.15 + 2.53 * deviation
    a = -0.0873 + 0.0248 * b + 0.01 * p
    c = n * p + 0.5
    inner = 0.92 - 4.2 / b
    scale = (2.83 + 5.1 / b) * deviation
    mode = math.floor((n + 1.0) * p)
    draw = 0
    while True:
        u, v = _uniform(key, draw) - 0.5, _uniform(key, draw + 1)
        draw += 2
        edge = 0.5 - abs(u)
        k = math.floor((2.0 * a / edge + b) * u + c) if edge > 0.0 else -1.0
        if edge >= 0.07 and v <= inner:
            return k
        if 0.0 <= k <= n:
            v *= scale / (a / (edge * edge) + b)
            if v <= _relative_pmf(k, mode, n, p):
                return k


@kernel
def _relative_pmf(k: float, mode: float, n: float, p: float) -> float:
    """Divide P(X = k) by P(X = mode)."""
    if abs(k - mode) > _STEPS:
        return math.exp(_log_pmf(k, n, p) - _log_pmf(mode, n, p))
    odds = p / (1.0 - p)
    up = down = 1.0
    i = min(k, mode)
    while i < max(k, mode):
        up *= odds * (n - i)
        down *= i + 1.0
        i += 1.0
    return up / down if k > mode else down / up


@kernel
def _log_pmf(k: float, n: float, p: float) -> float:
    """Logarithm of P(X = k), by deviances (Loader 2000), which do not cancel."""
    if k == 0.0:
        return n * math.log1p(-p)
    if k == n:
        return n * math.log(p)
    q = 1.0 - p
    deviance = _deviance((k - n * p) / (n * p), n * p)
    deviance += _deviance((n * p - k) / (n * q), n * q)
    error = _stirling_error(n) - _stirling_error(k) - _stirling_error(n - k)
    return error - deviance - 0.5 * math.log(k / n * (n - k)) - _HALF_LOG_2PI


@helper
def _deviance(change: float, mean: float) -> float:
    """Return x log(x / mean) + mean - x for x = mean (1 + change)."""
    return mean * ((1.0 + change) * log1pmx(change) + change * change)
