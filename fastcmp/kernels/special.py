"""Special functions in nopython mode: SciPy's, and one that it does not have."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from fastcmp._jit import helper, kernel, scipy_special
from fastcmp.kernels.status import TWO_SIDED

_ndtri = scipy_special("ndtri", 1)
_ndtr = scipy_special("ndtr", 1)
# Not `math.lgamma`: Python and numba each have their own.
_gammaln = scipy_special("gammaln", 1)
# exp(x**2) erfc(x), which does not underflow.
_erfcx = scipy_special("erfcx", 1)
_chdtrc = scipy_special("chdtrc", 2)
_fdtrc = scipy_special("fdtrc", 3)
_betainc = scipy_special("betainc", 3)
_betaincinv = scipy_special("betaincinv", 3)
# 1 - betainc(a, b, x), for which x may be near 0 where it is near 1.
_betaincc = scipy_special("betaincc", 3)
_gammainc = scipy_special("gammainc", 2)
_stdtr = scipy_special("stdtr", 2)
_stdtrit = scipy_special("stdtrit", 2)


@helper
def square(x: float) -> float:
    """`x * x`: as `x**2`, Python calls libm, and machine code multiplies."""
    return x * x


@kernel
def ndtri(p: float) -> float:
    """Quantile of the standard normal distribution.

    Parameters
    ----------
    p : float
        A probability.

    Returns
    -------
    float
        The x for which P(Z <= x) = p, as `scipy.special.ndtri`.

    Examples
    --------
    >>> from fastcmp.kernels import ndtri
    >>> round(ndtri(0.975), 4)
    1.96
    """
    return _ndtri(p, 0)


@kernel
def chdtrc(df: float, x: float) -> float:
    """Upper tail of the chi-square distribution.

    Parameters
    ----------
    df : float
        Degrees of freedom.
    x : float
        The statistic.

    Returns
    -------
    float
        P(X >= x), as `scipy.special.chdtrc`.

    Examples
    --------
    >>> from fastcmp.kernels import chdtrc
    >>> round(chdtrc(2.0, 7.529411764705882), 6)
    0.023174
    """
    return _chdtrc(df, x, 0)


@helper
def _chi_square_tail(df: float, x: float) -> float:
    """As `chdtrc`; with one degree of freedom the same bits as McNemar's test."""
    return math.erfc(math.sqrt(0.5 * x)) if df == 1.0 else chdtrc(df, x)


@kernel
def fdtrc(df1: float, df2: float, x: float) -> float:
    """Upper tail of the F distribution.

    Parameters
    ----------
    df1, df2 : float
        Degrees of freedom of the numerator and of the denominator.
    x : float
        The statistic.

    Returns
    -------
    float
        P(F >= x), as `scipy.special.fdtrc`.

    Examples
    --------
    >>> from fastcmp.kernels import fdtrc
    >>> round(fdtrc(2.0, 10.0, 4.1028), 4)
    0.05
    """
    return _fdtrc(df1, df2, x, 0)


@kernel
def betainc(a: float, b: float, x: float) -> float:
    """Regularised incomplete beta function.

    Parameters
    ----------
    a, b : float
        Positive parameters.
    x : float
        Upper limit of the integral, in [0, 1].

    Returns
    -------
    float
        As `scipy.special.betainc`.

    Examples
    --------
    >>> from fastcmp.kernels import betainc
    >>> round(betainc(2.0, 2.0, 0.5), 12)
    0.5
    """
    return _betainc(a, b, x, 0)


@kernel
def betaincinv(a: float, b: float, y: float) -> float:
    """Inverse of the regularised incomplete beta function in its limit.

    Parameters
    ----------
    a, b : float
        Positive parameters.
    y : float
        The value to reach, in [0, 1].

    Returns
    -------
    float
        The x for which ``betainc(a, b, x) == y``, as `scipy.special.betaincinv`.

    Examples
    --------
    >>> from fastcmp.kernels import betaincinv
    >>> round(betaincinv(2.0, 2.0, 0.5), 12)
    0.5
    """
    return _betaincinv(a, b, y, 0)


@kernel
def gammainc(a: float, x: float) -> float:
    """Regularized lower incomplete gamma function.

    Parameters
    ----------
    a : float
        Shape, positive.
    x : float
        Argument, not negative.

    Returns
    -------
    float
        P(X <= x) of a gamma distribution of scale 1, as `scipy.special.gammainc`.

    Examples
    --------
    >>> from fastcmp.kernels import gammainc
    >>> round(gammainc(2.0, 1.0), 4)
    0.2642
    """
    return _gammainc(a, x, 0)


@kernel
def stdtr(df: float, t: float) -> float:
    """Lower tail of Student's t distribution.

    Parameters
    ----------
    df : float
        Degrees of freedom.
    t : float
        The statistic.

    Returns
    -------
    float
        P(T <= t), as `scipy.special.stdtr`.

    Examples
    --------
    >>> from fastcmp.kernels import stdtr
    >>> round(stdtr(5.0, -2.0150484), 6)
    0.05
    """
    return _stdtr(df, t, 0)


@kernel
def stdtrit(df: float, p: float) -> float:
    """Quantile of Student's t distribution.

    Parameters
    ----------
    df : float
        Degrees of freedom.
    p : float
        A probability.

    Returns
    -------
    float
        The x for which P(T <= x) = p, as `scipy.special.stdtrit`.

    Examples
    --------
    >>> from fastcmp.kernels import stdtrit
    >>> round(stdtrit(5.0, 0.95), 4)
    2.015
    """
    return _stdtrit(df, p, 0)


@helper
def _unit_of(size: float) -> float:
    """Choose a unit: 1, or a power of two if squares would over- or underflow."""
    if 1e-100 < size < 1e100 or not 0.0 < size < math.inf:
        return 1.0
    return math.ldexp(1.0, max(math.frexp(size)[1] - 1, -1000))


@kernel
def log1pmx(x: float) -> float:
    """Return log(1 + x) - x, without cancellation about 0.

    Parameters
    ----------
    x : float
        Above -1.

    Returns
    -------
    float
        A number <= 0, to a few ulp.

    Notes
    -----
    With r = x / (2 + x) it is 2 atanh(r) - 2 r / (1 - r), whose leading terms are
    subtracted exactly.

    Examples
    --------
    >>> from fastcmp.kernels import log1pmx
    >>> round(1e16 * log1pmx(1e-8), 6)
    -0.5
    """
    if abs(x) > 0.15:
        return math.log1p(x) - x
    r = x / (2.0 + x)
    q = r * r
    tail = ((1.0 / 15.0 * q + 1.0 / 13.0) * q + 1.0 / 11.0) * q + 1.0 / 9.0
    tail = ((tail * q + 1.0 / 7.0) * q + 1.0 / 5.0) * q + 1.0 / 3.0
    return 2.0 * q * (tail * r - 1.0 / (1.0 - r))


@kernel
def normal_pvalue(z: float, alternative: int) -> float:
    """P-value of a standard normal statistic, by the code of the alternative."""
    if alternative == TWO_SIDED:
        return math.erfc(abs(z) / math.sqrt(2.0))
    return 0.5 * math.erfc(alternative * z / math.sqrt(2.0))


@helper
def t_below(df: float, t: float) -> float:
    """Distribution function of Student's t; of the normal for infinite degrees of freedom."""
    return _ndtr(t, 0) if df == math.inf else _stdtr(df, t, 0)


# Tails of Student's t and Snedecor's F, in closed form if that is accurate.
#
# With few whole degrees of freedom both are short sums: ten times as fast as the
# incomplete beta function of SciPy, which is used otherwise. With many, t is nearly normal.

#: Up to here the sum costs less than SciPy's function.
_MOST: Final = 100.0
#: Below, a difference from 1 would lose digits.
_SMALL: Final = 0.01
#: From here on the normal distribution is near enough.
_MANY: Final = 300.0


@kernel
def student_tails(df: float, t: float) -> float:
    """Both tails of Student's t distribution.

    Parameters
    ----------
    df : float
        Degrees of freedom.
    t : float
        The statistic.

    Returns
    -------
    float
        P(abs(T) >= abs(t)), twice ``stdtr(df, -abs(t))``; relative error 1e-13.

    Notes
    -----
    For whole `df` up to 100 it is 1 minus a sum of df / 2 terms if that is more than
    0.01. For `df` from 300 on and t**2 up to df / 12 and 400 it is that of the normal number that
    Hill's expansion gives.

    References
    ----------
    .. [1] M. Abramowitz, I. A. Stegun, "Handbook of mathematical functions", National
       Bureau of Standards (1964), 26.7.3 and 26.7.4.
    .. [2] G. W. Hill, "Student's t-distribution", Communications of the ACM 13 (1970) 617-619.

    Examples
    --------
    >>> from fastcmp.kernels import student_tails
    >>> round(student_tails(5.0, 2.0150484), 6)
    0.1
    """
    if 1.0 <= df <= _MOST and df == math.floor(df) and abs(t) < 1e8:
        x = abs(t) / math.sqrt(df)
        cosine2 = 1.0 / (1.0 + x * x)
        sine = x * math.sqrt(cosine2)
        odd = df % 2.0
        total, term = 0.0, 1.0
        for i in range(int(df) // 2):
            total += term
            term *= cosine2 * (2.0 * i + 1.0 + odd) / (2.0 * i + 2.0 + odd)
        inside = sine * total
        if odd:
            inside = 2.0 / math.pi * (math.atan(x) + inside * math.sqrt(cosine2))
        if inside < 1.0 - _SMALL:
            return 1.0 - inside
    elif _MANY <= df < math.inf and 12.0 * t * t <= min(df, 4800.0):
        a = df - 0.5
        y, b = a * math.log1p(t * t / df), 48.0 * a * a
        last = (((-0.4 * y - 3.3) * y - 24.0) * y - 85.5) / (0.8 * y * y + 100.0 + b)
        return math.erfc(((last + y + 3.0) / b + 1.0) * math.sqrt(0.5 * y))
    return 2.0 * stdtr(df, -abs(t))


@kernel
def snedecor_tail(df1: float, df2: float, ratio: float) -> float:
    """Upper tail of the F distribution.

    Parameters
    ----------
    df1, df2 : float
        Degrees of freedom of the numerator and of the denominator.
    ratio : float
        The statistic.

    Returns
    -------
    float
        P(F >= ratio) as `fdtrc`, with a relative error of 1e-13.

    Notes
    -----
    It is I_y(df2 / 2, df1 / 2) with y = df2 / (df2 + df1 ratio). For even `df1` up to
    100 a finite sum of positive terms; for two odd numbers the recurrences from
    I_y(1/2, 1/2) = 2 / pi asin(sqrt(y)) if the tail is more than 0.01.

    References
    ----------
    .. [1] M. Abramowitz, I. A. Stegun, "Handbook of mathematical functions", National
       Bureau of Standards (1964), 26.5.15, 26.5.16 and 26.6.4.

    Examples
    --------
    >>> from fastcmp.kernels import snedecor_tail
    >>> round(snedecor_tail(10.0, 5.0, 4.735063), 6)
    0.05
    """
    few = 1.0 <= df1 <= _MOST and 1.0 <= df2 <= _MOST and 0.0 <= ratio < 1e300
    if few and df1 == math.floor(df1) and df2 == math.floor(df2):
        scale = df2 + df1 * ratio
        y, z = df2 / scale, df1 * ratio / scale
        if df1 % 2.0 == 0.0:
            return _even_tail(0.5 * df2, int(df1) // 2, y, z)
        if df2 % 2.0 == 1.0:
            tail = _odd_tail(int(df2) // 2, int(df1) // 2, y, z)
            if tail > _SMALL:
                return tail
    return fdtrc(df1, df2, ratio)


@kernel
def _even_tail(a: float, b: int, y: float, z: float) -> float:
    """I_y(a, b) for a whole b; z is 1 - y."""
    total, term = 0.0, 1.0
    for i in range(b):
        total += term
        term *= z * (a + i) / (i + 1.0)
    return math.pow(y, a) * total


@kernel
def _odd_tail(a: int, b: int, y: float, z: float) -> float:
    """I_y(a + 1/2, b + 1/2); z is 1 - y."""
    # The arcsine of the root of y, with all digits at both ends.
    tail = 2.0 / math.pi * math.atan2(math.sqrt(y), math.sqrt(z))
    step = math.sqrt(y * z) / math.pi
    for i in range(a):
        tail -= step / (i + 0.5)
        step *= y * (i + 1.0) / (i + 0.5)
    for j in range(b):
        tail += step / (j + 0.5)
        step *= z * (a + j + 1.0) / (j + 0.5)
    return tail


@helper
def itp_step(low: float, f_low: float, high: float, f_high: float, i: int) -> float:
    """Propose the abscissa of step `i` by interpolation, truncation and projection.

    Superlinear on smooth functions (Oliveira and Takahashi 2020, ACM TOMS 47, 5); from step
    60 on it is bisection. The function values have opposite signs and may be infinite.
    """
    middle = 0.5 * (low + high)
    width = high - low
    reach = 0.5 * abs(width) if i < 60 else 0.0  # from the midpoint
    if not math.isfinite(f_high - f_low):
        return middle
    secant = (f_high * low - f_low * high) / (f_high - f_low)
    # At least one unit in the last place, or a proposal could fall on an end forever.
    scale = max(abs(low), abs(high))
    shift = max(0.2 * width * width / max(scale, width), 2.3e-16 * scale)
    gap = middle - secant
    guess = middle if shift > abs(gap) else secant + math.copysign(shift, gap)
    return guess if abs(guess - middle) <= reach else middle - math.copysign(reach, gap)


@helper
def narrowed(
    low: float, f_low: float, high: float, f_high: float, x: float, f: float
) -> tuple[float, float, float, float]:
    """The bracket of a root, low, f(low), high and f(high), after f(x)."""
    if (f > 0.0) == (f_low > 0.0):
        return x, f, high, f_high
    return low, f_low, x, f


_LOG_2 = math.log(2.0)
_ROOT_HALF_BITS: Final = int(np.float64(0.5**0.5).view(np.int64))


@helper
def vector_log(x: Any) -> Any:
    """Logarithm of normal numbers above 0, to 4e-16, in steps that LLVM has vectors for."""
    bits = np.float64(x).view(np.int64)
    exponent = (bits - _ROOT_HALF_BITS) >> 52
    part = np.int64(bits - (exponent << 52)).view(np.float64)  # from the root of 1/2 to that of 2
    s = (part - 1.0) / (part + 1.0)
    z = s * s
    w = z * z
    # 2 artanh(s) as a series: the first term that is left out is below 1e-17 of it.
    odd = 2 / 3 + w * (2 / 7 + w * (2 / 11 + w * (2 / 15 + w * (2 / 19))))
    even = 2 / 5 + w * (2 / 9 + w * (2 / 13 + w * (2 / 17 + w * (2 / 21))))
    return exponent * _LOG_2 + (2.0 * s + s * (z * odd + w * even))


# The mean of a truncated normal distribution, by a quantile that was observed.


_ROOT_HALF = math.sqrt(0.5)
_PRECISION = 1e-14  # of the ends of a bracket
_MOST_HALVINGS = 400
_NARROW = 1e-5


@helper
def _part_above(low: float, more: float) -> float:
    """P(X >= low + more) for a standard normal X, but for a factor that all of `low` have."""
    if math.isinf(more):
        return 0.0
    t = low + more
    return _erfcx(_ROOT_HALF * t, 0) * math.exp(-0.5 * more * (t + low))


@kernel
def truncated_survival(z: float, below: float, above: float) -> float:
    """P(X >= z) for a standard normal X that lies within [z - below, z + above].

    In a tail every term is divided by the density at the nearer end, so that digits are
    lost neither far out nor between near ends.
    """
    if below <= 0.0 or above <= 0.0:
        return 1.0 if below <= 0.0 else 0.0
    width = below + above
    if width * max(1.0, abs(z)) < _NARROW:  # where the density is a straight line
        return above * (1.0 - 0.5 * z * above) / (width * (1.0 - 0.5 * z * (above - below)))
    low, high = z - below, z + above
    mirrored = high < 0.0
    if mirrored:
        z, low, high, below, above = -z, -high, -low, above, below
    if low <= 0.0:
        beyond = _ndtr(-z, 0) - _ndtr(-high, 0) if z > 0.0 else _ndtr(high, 0) - _ndtr(z, 0)
        p = beyond / (_ndtr(high, 0) - _ndtr(low, 0))
    else:
        beyond = _part_above(low, width)
        p = (_part_above(low, below) - beyond) / (_part_above(low, 0.0) - beyond)
    return 1.0 - p if mirrored else p


@kernel
def truncated_mean(
    x: float,
    error: float,
    n: float,
    truncation: tuple[float, float],
    probability: float,
    ends: tuple[float, float],
    critical: float,
) -> float:
    """Mean, between two ends, at which x or more has a probability.

    x was seen only because it lies within `truncation`, and within `critical` standard
    errors of the mean. The standard error is `error`, or where n is not infinite that of a
    proportion of n: the mean without its sign.
    """
    a, at_a, b, at_b = ends[0], -probability, ends[1], 1.0 - probability
    for i in range(_MOST_HALVINGS):
        if b - a <= _PRECISION * max(abs(a), abs(b)):
            break
        mean = itp_step(a, at_a, b, at_b, i)
        sigma = error if n == math.inf else math.sqrt(abs(mean) * (1.0 - abs(mean)) / n)
        z = (x - mean) / sigma
        below, above = (x - truncation[0]) / sigma, (truncation[1] - x) / sigma
        at_mean = truncated_survival(z, min(below, z + critical), min(above, critical - z))
        a, at_a, b, at_b = narrowed(a, at_a, b, at_b, mean, at_mean - probability)
    # An end that never moved is the answer.
    return b if b == ends[1] else a if a == ends[0] else 0.5 * (a + b)


_STEP = 0.1  # of the trapezoidal rule: errors up to 1e-12 for k <= 10,000
_FEW = 30  # numbers, of which nodes twice as far apart give as many digits
_LEAST = 1e-17  # of the sum: terms that are smaller are left out
_ROOT_2 = math.sqrt(2.0)
_DENSITY_0 = 1.0 / math.sqrt(2.0 * math.pi)
_MOST_STEPS, _MOST_NODES = 200, 400


@kernel
def _lower(z: float) -> float:
    """The standard normal distribution function."""
    return 0.5 * math.erfc(-z / _ROOT_2)


@kernel
def studentized_range_sf(q: float, k: int) -> float:
    """Probability that the range of k standard normal numbers exceeds q.

    The studentized range with infinite degrees of freedom.

    Parameters
    ----------
    q : float
        At least 0.
    k : int
        How many numbers, from 2 on.

    Returns
    -------
    float
        ``k * integral of phi(z) (Phi(z)**(k-1) - (Phi(z) - Phi(z-q))**(k-1)) dz`` in a
        form whose integrand is positive, so that small tails keep all digits; NaN where
        q is negative or NaN, or k below 2.

    Notes
    -----
    By the trapezoidal rule, whose error falls exponentially: from q / 2 upwards and downwards
    as far as terms count, some 50 nodes.

    References
    ----------
    .. [1] J. W. Tukey, "The problem of multiple comparisons" (1953), in The collected
       works of John W. Tukey VIII (1994).

    Examples
    --------
    >>> from fastcmp.kernels import studentized_range_sf
    >>> round(studentized_range_sf(3.314493, 3), 6)
    0.05
    """
    if not q >= 0.0 or k < 2:
        return math.nan
    if q == 0.0:
        return 1.0
    if math.isinf(q):
        return 0.0
    total, step = 0.0, 2.0 * _STEP if k <= _FEW else _STEP
    for sign in (1, -1):
        for i in range(_MOST_NODES):
            z = 0.5 * q + (i * step if sign > 0 else -(i + 1) * step)
            below = _lower(z)
            if below == 0.0:
                break
            ratio = _lower(z - q) / below
            inside = -math.expm1((k - 1) * math.log1p(-ratio)) if ratio < 1.0 else 1.0
            term = math.exp((k - 1) * math.log(below) - 0.5 * z * z) * inside
            total += term
            if term <= _LEAST * total and total > 0.0:
                break
    return min(1.0, k * step * _DENSITY_0 * total)


@kernel
def studentized_range_isf(p: float, k: int) -> float:
    """Range of k standard normal numbers that is exceeded with probability p.

    Parameters
    ----------
    p : float
        In (0, 1).
    k : int
        How many numbers, from 2 on.

    Returns
    -------
    float
        The quantile; NaN where p or k has no meaning.

    Notes
    -----
    The logarithm of the tail is searched within a bracket.

    Examples
    --------
    >>> from fastcmp.kernels import studentized_range_isf
    >>> round(studentized_range_isf(0.05, 3), 6)
    3.314493
    """
    if not 0.0 < p < 1.0 or k < 2:
        return math.nan
    # By Bonferroni's bound, where that is one.
    low, f_low, high = 0.0, -math.log(p), -_ROOT_2 * ndtri(min(p / (k * (k - 1.0)), 0.4))
    f_high = math.log(studentized_range_sf(high, k) / p)
    while f_high > 0.0:
        low, f_low, high = high, f_high, 2.0 * high
        f_high = math.log(studentized_range_sf(high, k) / p)
    for i in range(_MOST_STEPS):
        q = itp_step(low, f_low, high, f_high, i)
        f = math.log(studentized_range_sf(q, k) / p)
        low, f_low, high, f_high = narrowed(low, f_low, high, f_high, q, f)
        if high - low <= 1e-15 * high or abs(f) <= 1e-15 * min(1.0, -math.log(p)):
            break
    return q
