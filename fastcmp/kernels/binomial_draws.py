"""Binomial random numbers, each a pure function of (seed, replicate, draw).

Each has words of its own: the word of (seed, replicate, draw) is the key of as many
further words as the method needs. Coins are counted for p = 1/2 and few trials, the
distribution function is inverted where n p < 10, and else Hoermann's transformed
rejection is used, whose time does not grow with n.
"""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from fastcmp._jit import helper, inlined, kernel, popcount
from fastcmp.kernels.binomial import _HALF_LOG_2PI, _stirling_error
from fastcmp.kernels.rng import _next, _word
from fastcmp.kernels.special import log1pmx

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
