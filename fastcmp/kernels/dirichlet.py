"""Gamma and Dirichlet distributions: random numbers, and which component is largest.

Gamma numbers divided by their sum are a Dirichlet vector. What is asked of the vectors
here (which of two or three components is largest, which model has the smallest weighted
rank) does not depend on the sum, so nothing is divided.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any, Final

import numpy as np

from fastcmp._jit import helper, kernel, wide_vectors
from fastcmp.kernels.rng import _word
from fastcmp.kernels.special import _gammaln, betainc, gammainc, ndtri
from fastcmp.kernels.typing import FloatArray

# 52 bits and a half: neither 0 nor 1 can be drawn.
_12 = np.uint64(12)
_SCALE = 2.0**-52
_MANTISSA: Final = (1 << 52) - 1
_ONE: Final = 1023 << 52
_SQRT2: Final = math.sqrt(2.0)
_LN2: Final = math.log(2.0)

_STEP: Final = 0.4  # of the sum, in standard deviations of the narrowest density
_WIDEST: Final = 0.25  # step: the error is exp(-pi**2 / step)
_NOTHING: Final = 44.0  # logarithm of the largest term over one that is left out
_TINY: Final = 1e-290
_LOWEST: Final = -690.0  # logarithm of an argument that is a normal number
_HALVINGS: Final = 30
_GOLDEN: Final = (math.sqrt(5.0) - 1.0) / 2.0


def _exponentials_by_numpy(seed: int, replicate: int, start: int, out: FloatArray) -> None:
    """As `random_exponentials`."""
    n, size = out.shape
    replicates: Any = replicate + np.arange(size)
    draws: Any = start + np.arange(n)[:, None]
    words = _word(seed, replicates, draws)
    bits = (((words >> _12).astype(np.float64) + 0.5) * _SCALE).view(np.int64)
    part = ((bits & _MANTISSA) | _ONE).view(np.float64)
    out[:] = -(_LN2 * ((bits >> 52) - 1023).astype(np.float64) + _log_of_part(part))


@partial(kernel, by_numpy=_exponentials_by_numpy)
def random_exponentials(seed: int, replicate: int, start: int, out: FloatArray) -> None:
    """Draw standard exponential numbers, one column a replicate.

    Divided by the sum of their column they are uniform on the simplex: the weights of
    the Bayesian bootstrap.

    Parameters
    ----------
    seed, replicate, start : int
        Number i of column r is a function of (seed, replicate + r, start + i) only; not
        negative.
    out : ndarray of float64, shape (n, R)
        Receives the numbers.

    Notes
    -----
    Minus the logarithm of uniform numbers of 52 bits, several at once.

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.kernels import random_exponentials
    >>> out = np.empty((3, 1))
    >>> random_exponentials(1, 0, 0, out)
    >>> out[:, 0].round(3).tolist()
    [0.999, 0.058, 3.095]
    """
    wide_vectors()
    exponent = np.empty(out.shape[1])
    part = np.empty(out.shape[1])
    bits = part.view(np.int64)
    for i in range(out.shape[0]):
        for r in range(out.shape[1]):
            word = _word(seed, replicate + r, start + i)
            part[r] = (float(word >> _12) + 0.5) * _SCALE
        for r in range(out.shape[1]):
            own = bits[r]
            exponent[r] = float((own >> 52) - 1023)
            bits[r] = (own & _MANTISSA) | _ONE
        for r in range(out.shape[1]):
            out[i, r] = -(_LN2 * exponent[r] + _log_of_part(part[r]))


@helper
def _log_of_part(x: float) -> float:
    """Compute the logarithm of a number from 1 to 2, by 2 artanh((x - 1) / (x + 1))."""
    large = (x > _SQRT2) * 1.0
    x *= 1.0 - 0.5 * large
    s = (x - 1.0) / (x + 1.0)
    r = s * s
    total = 1.0 / 21.0
    total = total * r + 1.0 / 19.0
    total = total * r + 1.0 / 17.0
    total = total * r + 1.0 / 15.0
    total = total * r + 1.0 / 13.0
    total = total * r + 1.0 / 11.0
    total = total * r + 1.0 / 9.0
    total = total * r + 1.0 / 7.0
    total = total * r + 1.0 / 5.0
    total = total * r + 1.0 / 3.0
    return large * _LN2 + 2.0 * s * (1.0 + r * total)


@kernel
def random_gamma(shape: float, seed: int, replicate: int, start: int) -> float:
    """Draw a number from a gamma distribution of scale 1.

    Parameters
    ----------
    shape : float
        Shape of the distribution, not negative; 0 gives 0.
    seed, replicate, start : int
        The number is a function of these; some 3 words are used from `start` on.

    Returns
    -------
    float
        The number; NaN for a negative shape.

    References
    ----------
    .. [1] G. Marsaglia, W. W. Tsang, "A simple method for generating gamma variables",
       ACM Transactions on Mathematical Software 26 (2000) 363-372.

    Examples
    --------
    >>> from fastcmp.kernels import random_gamma
    >>> [round(random_gamma(0.5, 1, i, 0), 4) for i in range(3)]
    [0.0567, 0.0034, 0.0758]
    """
    if not shape > 0.0:
        return 0.0 if shape == 0.0 else math.nan
    if shape == 0.5:  # half of a squared normal number
        z = ndtri(_uniform(seed, replicate, start))
        return 0.5 * z * z
    power = 1.0
    draw = start
    if shape < 1.0:
        power = _uniform(seed, replicate, draw) ** (1.0 / shape)
        shape += 1.0
        draw += 1
    d = shape - 1.0 / 3.0
    c = 1.0 / math.sqrt(9.0 * d)
    while True:
        x = ndtri(_uniform(seed, replicate, draw))
        u = _uniform(seed, replicate, draw + 1)
        draw += 2
        v = (1.0 + c * x) * (1.0 + c * x) * (1.0 + c * x)
        if v > 0.0 and math.log(u) < 0.5 * x * x + d * (1.0 - v + math.log(v)):
            return d * v * power


@helper
def _uniform(seed: int, replicate: int, draw: int) -> float:
    word = _word(seed, replicate, draw)
    return (float(word >> _12) + 0.5) * _SCALE


@kernel
def dirichlet_largest(alpha: float, beta: float, gamma: float) -> float:
    """Compute the probability that the first of three Dirichlet components is largest.

    Parameters
    ----------
    alpha, beta, gamma : float
        Parameters, not negative; a component with parameter 0 is 0.

    Returns
    -------
    float
        The probability, also where it is tiny; NaN for negative parameters, or where
        all are 0.

    Notes
    -----
    The integral of the gamma density of `alpha` times the gamma distribution functions
    of the others, over the logarithm of its argument: an integrand that is log-concave
    and analytic, for which equal steps converge exponentially. Its largest value is
    between log(alpha) and log(alpha + beta + gamma).

    Examples
    --------
    >>> from fastcmp.kernels import dirichlet_largest
    >>> round(dirichlet_largest(13.0, 5.0, 3.0), 6)
    0.972526
    """
    total = alpha + beta + gamma
    if not (alpha >= 0.0 and beta >= 0.0 and gamma >= 0.0 and total > 0.0):
        return math.nan
    if not total < math.inf:
        return math.nan
    if alpha == 0.0:
        return 0.0
    if beta == 0.0 or gamma == 0.0:
        return 1.0 if beta == gamma else betainc(beta + gamma, alpha, 0.5)
    constant = _gammaln(alpha, 0)
    low, high = math.log(alpha), math.log(total)
    for _ in range(_HALVINGS):  # golden sections: the top need not be exact
        width = _GOLDEN * (high - low)
        left, right = high - width, low + width
        if _log_term(left, alpha, beta, gamma) < _log_term(right, alpha, beta, gamma):
            low = left
        else:
            high = right
    middle = 0.5 * (low + high)
    top = _log_term(middle, alpha, beta, gamma)
    step = min(_WIDEST, _STEP / math.sqrt(max(alpha, beta, gamma)))
    found = 1.0
    for side in (-1.0, 1.0):
        k = 1.0
        while True:
            own = _log_term(middle + side * k * step, alpha, beta, gamma) - top
            if not own > -_NOTHING:
                break
            found += math.exp(own)
            k += 1.0
    return step * found * math.exp(top - constant)


@kernel
def _log_term(t: float, alpha: float, beta: float, gamma: float) -> float:
    """Compute the logarithm of the integrand at exp(t), times Gamma(alpha)."""
    own = alpha * t - math.exp(t)
    return own + _log_gammainc(t, beta) + _log_gammainc(t, gamma)


@kernel
def _log_gammainc(t: float, shape: float) -> float:
    """Compute the logarithm of the distribution function at exp(t), also far down."""
    x = math.exp(t)
    if t > _LOWEST:
        p = gammainc(shape, x)
        if p > _TINY or not x < shape:
            return math.log(p)
    total = term = 1.0
    k = shape
    while term > 1e-17 * total:
        k += 1.0
        term *= x / k
        total += term
    return shape * t - x - _gammaln(shape + 1.0, 0) + math.log(total)
