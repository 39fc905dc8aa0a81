"""E-values adjusted for the number of tests, under any dependence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp import kernels
from fastcmp.core.checks import as_numbers
from fastcmp.core.options import choose

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]

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
        message = f"evalues must be 0 or above, got {flat[flat < 0.0][0]:g}"
        raise ValueError(message)
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
