"""Hommel's adjustment of sorted p-values, in O(m log m)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fastcmp._jit import kernel

if TYPE_CHECKING:
    from fastcmp.kernels.typing import FloatArray


@kernel
def hommel_sorted(pvalues: FloatArray) -> FloatArray:
    """Hommel's adjusted p-values.

    With s_j the Simes p-value of the j largest p-values and t_j the largest s_l with
    l > j, the adjusted p is the smallest over j of max(j * p, t_j). The s_j are slopes
    of tangents to the lower convex hull of the sorted p-values.

    Parameters
    ----------
    pvalues : ndarray of float64, shape (m,)
        Sorted ascending, without NaN.

    Returns
    -------
    ndarray of float64, shape (m,)
        Adjusted, in the same order.

    References
    ----------
    .. [1] G. Hommel, "A stagewise rejective multiple test procedure based on a modified
       Bonferroni test", Biometrika 75 (1988) 383-386.
    .. [2] R. J. Meijer, T. J. P. Krebs, J. J. Goeman, "Hommel's procedure in linear
       time", Biometrical Journal 61 (2019) 73-82.

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.kernels import hommel_sorted
    >>> hommel_sorted(np.array([0.01, 0.02, 0.03, 0.9])).round(6).tolist()
    [0.04, 0.045, 0.06, 0.9]
    """
    m = pvalues.size
    ceiling = np.zeros(m + 1)  # first s_j, then t_j
    hull = np.empty(m, np.int64)  # vertices from right to left
    size = 0
    for j in range(1, m + 1):
        new = m - j
        while size >= 2:
            near, far = hull[size - 1], hull[size - 2]
            rise = (pvalues[near] - pvalues[new]) * (far - new)
            if rise < (pvalues[far] - pvalues[new]) * (near - new):
                break
            size -= 1
        hull[size] = new
        size += 1
        # The slope from (new - 1, 0) falls, then rises, along the hull.
        low, high = 0, size - 1
        while low < high:
            middle = (low + high) // 2
            left, right = hull[middle + 1], hull[middle]
            if pvalues[right] * (left - new + 1) <= pvalues[left] * (right - new + 1):
                high = middle
            else:
                low = middle + 1
        touch = hull[low]
        ceiling[j] = j * pvalues[touch] / (touch - new + 1)
    running = 0.0
    for j in range(m, -1, -1):
        simes = ceiling[j]
        ceiling[j] = running
        running = max(running, simes)
    adjusted = np.empty(m)
    j = m
    for i in range(m):
        while j > 0 and (j - 1) * pvalues[i] >= ceiling[j - 1]:
            j -= 1
        best = j * pvalues[i]
        if j > 0:
            best = min(best, ceiling[j - 1])
        adjusted[i] = min(max(best, pvalues[i]), 1.0)
    return adjusted
