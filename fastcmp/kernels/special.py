"""Special functions in nopython mode: SciPy's, and one that it does not have."""

from __future__ import annotations

import math

from fastcmp._jit import helper, kernel, scipy_special

_ndtri = scipy_special("ndtri", 1)
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
    tail = 1.0 / 15.0
    for k in (13.0, 11.0, 9.0, 7.0, 5.0, 3.0):
        tail = tail * q + 1.0 / k
    return 2.0 * q * (tail * r - 1.0 / (1.0 - r))
