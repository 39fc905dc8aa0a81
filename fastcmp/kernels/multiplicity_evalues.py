"""Adjustment of e-values for the number of tests, by closed testing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fastcmp._jit import kernel

if TYPE_CHECKING:
    from fastcmp.kernels.typing import FloatArray


@kernel
def e_holm_sorted(evalues: FloatArray) -> FloatArray:
    """Adjust e-values by closed testing with the arithmetic mean.

    That of a hypothesis is the smallest mean of any set of e-values with its own. It
    holds under any dependence.

    Parameters
    ----------
    evalues : ndarray of float64, shape (m,)
        Sorted ascending, without NaN.

    Returns
    -------
    ndarray of float64, shape (m,)
        Adjusted e-values, in the same order.

    Notes
    -----
    O(m): the set of a larger e-value has as many small ones or more.

    References
    ----------
    .. [1] V. Vovk, R. Wang, "E-values: calibration, combination and applications",
       Annals of Statistics 49 (2021) 1736-1754, algorithm 1.

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.kernels import e_holm_sorted
    >>> e_holm_sorted(np.array([1.0, 1.0, 21.0, 25.0])).round(6).tolist()
    [1.0, 1.0, 7.666667, 9.0]
    """
    adjusted = np.empty(evalues.size)
    total, size = 0.0, 0  # of the smallest ones
    for k in range(evalues.size):
        mean = (evalues[k] + total) / (size + 1.0)
        while size < k and evalues[size] < mean:
            total += evalues[size]
            size += 1
            mean = (evalues[k] + total) / (size + 1.0)
        adjusted[k] = mean
    return adjusted
