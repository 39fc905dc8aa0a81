"""E-values: options, adjustment for the number of tests, and a boundary of sums."""

from __future__ import annotations

import math
from collections.abc import Iterable
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastcmp import kernels
from fastcmp.core.checks import ALTERNATIVES, as_finite, as_numbers, as_proportion, choose
from fastcmp.core.records import unwrap
from fastcmp.kernels.bounded_means import N_SCALES

Floats = NDArray[np.float64]


def read_prior(prior: Any, size: int = 2) -> tuple[float, ...]:
    """Check the parameters of a Beta or a Dirichlet prior."""
    wanted = f"prior must be {size} numbers above 0"
    if isinstance(prior, (str, bytes)) or not isinstance(prior, Iterable):
        raise TypeError(f"{wanted}, got {prior!r}")
    found = tuple(as_finite(x, "prior") for x in prior)
    if len(found) != size or min(found) <= 0.0:
        raise ValueError(f"{wanted}, got {prior!r}")
    return found


def read_bounds(bounds: Any) -> tuple[float, float]:
    """Check the smallest and the largest possible value."""
    if isinstance(bounds, (str, bytes)) or not isinstance(bounds, Iterable):
        raise TypeError(f"bounds must be two numbers, got {bounds!r}")
    ends = tuple(as_finite(x, "bounds") for x in bounds)
    if len(ends) != 2 or not ends[0] < ends[1]:
        raise ValueError(f"bounds must be two numbers, the lower one first, got {bounds!r}")
    return ends[0], ends[1]


def read_mean(mean0: Any, bounds: tuple[float, float]) -> float:
    """Check the mean of the null hypothesis."""
    mean = as_finite(mean0, "mean0")
    if not bounds[0] <= mean <= bounds[1]:
        raise ValueError(f"mean0 must lie within bounds, {bounds}, got {mean0}")
    return mean


def read_bets(bets: Any, mean: float, bounds: tuple[float, float], alternative: str) -> Floats:
    """Check bets, or make those of all scales for the sides of a test."""
    if bets is None:
        half = 0.5 * (bounds[1] - bounds[0])
        centre = 0.5 * (bounds[0] + bounds[1])
        scales = 2.0 ** (-0.5 * np.arange(N_SCALES)) / (half + abs(mean - centre))
        sides = {"greater": [scales], "less": [-scales]}
        return np.concatenate(sides.get(alternative, [scales, -scales]))
    try:
        found = np.array(bets, np.float64)
    except (TypeError, ValueError):
        raise TypeError(f"bets must be numbers, got {bets!r}") from None
    if found.ndim != 1 or not found.size:
        raise ValueError(f"bets must be a sequence of numbers, got shape {found.shape}")
    # At either bound the wealth must not become negative, but for rounding.
    least = [np.min(1.0 + found * (end - mean)) for end in bounds]
    if not min(least) >= -1e-12:
        raise ValueError(
            "bets must keep 1 + bet * (value - mean0) at 0 or above for all values "
            f"within bounds, {bounds}; got one for which it is {min(least):.3g}"
        )
    if alternative != "two-sided":
        sign = 1.0 if alternative == "greater" else -1.0
        if np.any(sign * found < 0.0):
            raise ValueError(
                f"bets must not be {'negative' if sign > 0 else 'positive'} for "
                f"alternative={alternative!r}"
            )
    return found


#: The adjustments, and the error rate that decisions at `alpha` keep.
PROMISES = {
    "e-holm": ("the probability of even one false decision, at any look, is at most {alpha:.3g}"),
    "e-bh": (
        "the expected proportion of false decisions, at the look at which one stops, "
        "is at most {alpha:.3g}"
    ),
}
METHODS = tuple(PROMISES)


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
    method = choose(method, "method", METHODS)
    given = as_numbers(evalues, "evalues").astype(np.float64)
    flat = given.ravel()
    if np.any(flat < 0.0):
        raise ValueError(f"evalues must be 0 or above, got {flat[flat < 0.0][0]:g}")
    known = ~np.isnan(flat)
    adjusted = np.full(flat.size, np.nan)
    adjusted[known] = adjust_known(flat[known], method)
    return adjusted.reshape(given.shape)[()]


def adjust_known(evalues: Floats, method: str) -> Floats:
    """Adjust checked e-values without NaN, shape (m,)."""
    order = np.argsort(evalues)
    ascending = evalues[order]
    if method == "e-holm":
        found = kernels.e_holm_sorted(ascending)
    else:
        m = ascending.size
        with np.errstate(over="ignore"):
            found = ascending * np.arange(m, 0, -1) / max(m, 1)
        np.maximum.accumulate(found, out=found)
    adjusted = np.empty_like(found)
    adjusted[order] = found
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
            raise ValueError(f"alpha must be below 0.5 for one side, got {alpha}")
    if isinstance(optimal_variance, bool) or not isinstance(optimal_variance, Real):
        raise TypeError(f"optimal_variance must be a number, got {optimal_variance!r}")
    if not 0.0 < optimal_variance < math.inf:
        raise ValueError(f"optimal_variance must be above 0, got {optimal_variance}")
    v = as_numbers(variances, "variances").astype(np.float64)
    if v.size and not (v.min() >= 0.0 and v.max() < math.inf):
        raise ValueError(f"variances must be finite and 0 or above, got {v.min()} to {v.max()}")
    price = -2.0 * math.log(level)
    rho = float(optimal_variance) / (price + math.log1p(price))
    options = rho, float(alpha), ALTERNATIVES[alternative]
    found = [kernels.normal_mixture_boundary(x, *options) for x in v.ravel()]
    return unwrap(np.array(found, np.float64), v.shape)
