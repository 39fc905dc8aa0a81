"""E-values: adjustment for the number of tests, a boundary, and what their logarithms say."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fastcmp import kernels
from fastcmp.core.checks import ALTERNATIVES, as_finite, as_numbers, as_proportion, choose
from fastcmp.core.errors import BadTypeError, BadValueError
from fastcmp.core.records import unwrap
from fastcmp.core.typing import Floats, Numbers
from fastcmp.kernels.evalues import normal_mixture_boundaries

_MOST_STEPS = 8
_NEAR = 1e-8  # a step of this relative size leaves an error of its square


def read_prior(prior: object, size: int = 2) -> tuple[float, ...]:
    """The parameters of a Beta or a Dirichlet prior, checked."""
    needed = f"`prior` must be {size} numbers above 0"
    if isinstance(prior, (str, bytes)) or not isinstance(prior, Iterable):
        raise BadTypeError(needed, repr(prior))
    parameters = tuple(as_finite(x, "prior") for x in prior)
    if len(parameters) != size or min(parameters) <= 0.0:
        raise BadValueError(needed, repr(prior))
    return parameters


#: The adjustments, and the error rate that decisions at `alpha` keep.
PROMISES = {
    "e-holm": ("the probability of even one false decision, at any look, is at most {alpha:.3g}"),
    "e-bh": (
        "the expected proportion of false decisions, at the look at which one stops, "
        "is at most {alpha:.3g}"
    ),
}


def e_adjust(evalues: ArrayLike, *, method: str = "e-holm") -> Any:
    """Adjust e-values for the number of tests.

    A hypothesis is rejected where its adjusted e-value is at least 1 / alpha.

    Parameters
    ----------
    evalues : array-like of float
        E-values, 0 or above, of any shape: one family of tests. NaN stays NaN and is
        not counted.
    method : {"e-holm", "e-bh"}
        Family-wise error by closed testing with arithmetic means [1]_; or false
        discovery rate [2]_. Both hold however the tests depend on each other.

    Returns
    -------
    ndarray of float64 or float
        Adjusted e-values in the shape of the input.

    Raises
    ------
    ValueError
        If the method is unknown or an e-value is negative.
    TypeError
        If the e-values are not numbers.

    Notes
    -----
    O(m log m). With "e-holm" it is the smallest mean of any set of e-values with that
    one; with "e-bh" the largest k E / m over all k for which E, the k-th largest
    e-value, is not larger than that one.

    References
    ----------
    .. [1] V. Vovk, R. Wang, "E-values: calibration, combination and applications",
       Annals of Statistics 49 (2021) 1736-1754.
    .. [2] R. Wang, A. Ramdas, "False discovery rate control with e-values", J. Royal
       Statistical Society B 84 (2022) 822-852.

    Examples
    --------
    >>> from fastcmp.sequential import e_adjust
    >>> e_adjust([100, 60, 45, 3, 1, 0.5]).tolist()
    [26.125, 16.125, 12.375, 1.5, 0.75, 0.5]
    >>> e_adjust([100, 60, 45, 3, 1, 0.5], method="e-bh").round(4).tolist()
    [22.5, 22.5, 22.5, 2.0, 0.8333, 0.5]
    """
    method = choose(method, "method", PROMISES)
    values = as_numbers(evalues, "evalues").astype(np.float64)
    flat = values.ravel()
    if np.any(flat < 0.0):
        raise BadValueError("`evalues` must be 0 or above", f"{flat[flat < 0.0][0]:g}")
    is_known = ~np.isnan(flat)
    adjusted = np.full(flat.size, np.nan)
    adjusted[is_known] = adjust_known(flat[is_known], method)
    return adjusted.reshape(values.shape)[()]


def adjust_known(evalues: Floats, method: str) -> Floats:
    """Adjust checked e-values without NaN, shape (m,)."""
    order = np.argsort(evalues)
    ascending = evalues[order]
    if method == "e-holm":
        in_order = kernels.e_holm_sorted(ascending)
    else:
        m = ascending.size
        with np.errstate(over="ignore"):
            in_order = ascending * np.arange(m, 0, -1) / max(m, 1)
        np.maximum.accumulate(in_order, out=in_order)
    adjusted = np.empty_like(in_order)
    adjusted[order] = in_order
    return adjusted


def normal_mixture_boundary(
    variances: ArrayLike,
    *,
    optimal_variance: float,
    alpha: float = 0.05,
    alternative: str = "two-sided",
) -> Any:
    """Boundary that a sum of mean 0 crosses at any time with probability alpha at most.

    Divided by n it is half the width of an asymptotic confidence sequence for a mean.
    It holds for sums of large samples only: `mean_test` needs bounds instead.

    Parameters
    ----------
    variances : array-like of float
        Variance of the sum so far, such as n times the sample variance.
    optimal_variance : float
        The variance at which the boundary shall be narrowest, relative to its size.
    alpha : float
        Probability of crossing, in (0, 1).
    alternative : {"two-sided", "greater", "less"}
        The boundary of the absolute value of the sum, or of the sum on one side, for
        which alpha must be below one half. "less" is the mirror image: the boundary is
        positive there too.

    Returns
    -------
    float or ndarray
        The boundary in the shape of `variances`.

    Raises
    ------
    ValueError
        If variances are negative or not finite, or an option is out of range.
    TypeError
        If something is not a number.

    Notes
    -----
    With two sides sqrt((v + r) log((v + r) / (r alpha**2))), where r is the optimal
    variance over 2 log(1 / a) + log(1 + 2 log(1 / a)), a = alpha; with one side a = 2
    alpha, and the boundary is a root.

    References
    ----------
    .. [1] S. R. Howard, A. Ramdas, J. McAuliffe, J. Sekhon, "Time-uniform,
       nonparametric, nonasymptotic confidence sequences", Annals of Statistics 49
       (2021) 1055-1080.

    Examples
    --------
    >>> from fastcmp.sequential import normal_mixture_boundary
    >>> round(normal_mixture_boundary(50, optimal_variance=50), 6)
    21.462169
    """
    alternative = choose(alternative, "alternative", ALTERNATIVES)
    level = as_proportion(alpha, "alpha")
    if alternative != "two-sided":
        level *= 2.0
        if level >= 1.0:
            raise BadValueError("`alpha` must be below 0.5 for one side", alpha)
    optimal_variance = as_finite(optimal_variance, "optimal_variance", above=0.0)
    v = as_numbers(variances, "variances").astype(np.float64, copy=False)
    price = -2.0 * math.log(level)
    rho = optimal_variance / (price + math.log1p(price))
    boundary = np.empty(v.size)
    if not normal_mixture_boundaries(v.ravel(), rho, price, boundary):
        raise BadValueError("`variances` must be finite and 0 or above", f"{v.min()} to {v.max()}")
    if alternative == "two-sided":
        return unwrap(boundary, v.shape)
    from scipy.special import erfc

    # The root of y**2 / 2 + log(Phi(y)) = aim, a function that rises and is convex, by Newton's
    # steps: each after the first is a step down, and the last one is below rounding.
    aim = 0.5 * np.log1p(v / rho) - math.log(level)
    y = np.sqrt(2.0 * aim)
    for _ in range(_MOST_STEPS):
        half, above = 0.5 * y * y, 0.5 * erfc(y * math.sqrt(0.5))
        slope = y + np.exp(-half) / math.sqrt(2.0 * math.pi) / (1.0 - above)
        step = (half + np.log1p(-above) - aim) / slope
        y -= step
        if not (np.abs(step) > _NEAR * y).any():
            break
    return unwrap(y * np.sqrt(v + rho), v.shape)


# E-values and their logarithms.


def pvalue_of(log_evalue: Numbers) -> Any:
    """P-values of e-values, valid at every look."""
    pvalue = np.exp(-np.maximum(log_evalue, 0.0))
    return pvalue if np.ndim(pvalue) else float(pvalue)


def evalue_of(log_evalue: Numbers) -> Any:
    """E-values of logarithms; those beyond floats are infinite."""
    with np.errstate(over="ignore"):
        evalue = np.exp(log_evalue)
    return evalue if np.ndim(evalue) else float(evalue)


def format_evalue(log_evalue: float) -> str:
    """An e-value as text, of which only the size matters."""
    if not -20.0 < log_evalue < 600.0:
        return f"10^{log_evalue / np.log(10.0):.0f}"
    return f"{np.exp(log_evalue):.3g}"
