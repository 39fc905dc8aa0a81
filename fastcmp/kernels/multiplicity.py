"""Hommel's adjustment of sorted p-values, in O(m log m)."""

from __future__ import annotations

import numpy as np

from fastcmp._jit import kernel
from fastcmp.kernels.typing import FloatArray, IntArray


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


# Adjustments that know which hypotheses about pairs can be true together.
#
# If models a and b are equal, and b and c, then so are a and c: the true hypotheses are
# the pairs within the blocks of a partition of the models.


@kernel
def fewest_models(n_pairs: int) -> IntArray:
    """How many models it takes at least that so many pairs, and no more, are equal.

    Parameters
    ----------
    n_pairs : int
        P, not negative.

    Returns
    -------
    ndarray of int64, shape (P + 1,)
        For s = 0, ..., P the least sum of sizes g of blocks whose pairs, C(g, 2) each,
        add up to s. Of M models exactly s pairs can be equal if that is at most M.

    Notes
    -----
    The largest block is looked for from above: if it has g models, all blocks together
    have at least 2 s / (g - 1), so that few sizes are tried.

    References
    ----------
    .. [1] J. P. Shaffer, "Modified sequentially rejective multiple test procedures",
       JASA 81 (1986) 826-831.

    Examples
    --------
    >>> from fastcmp.kernels import fewest_models
    >>> fewest_models(6).tolist()
    [0, 2, 4, 3, 5, 7, 4]
    """
    fewest = np.zeros(n_pairs + 1, np.int64)
    largest = 2
    for s in range(1, n_pairs + 1):
        while (largest + 1) * largest // 2 <= s:
            largest += 1
        best = 2 * s
        g = largest
        while g >= 2 and 2 * s < best * (g - 1):
            best = min(best, g + fewest[s - g * (g - 1) // 2])
            g -= 1
        fewest[s] = best
    return fewest


@kernel
def bergmann_hommel(pvalues: FloatArray, n_models: int) -> FloatArray:
    """Bergmann and Hommel's adjusted p-values of all pairs of models.

    Parameters
    ----------
    pvalues : ndarray of float64, shape (M (M - 1) / 2,)
        Of all pairs i < j, in the order of ``np.triu_indices(M, 1)``, without NaN.
    n_models : int
        M, at least 1. All partitions are looked at, 115,975 for 10 models.

    Returns
    -------
    ndarray of float64, shape (M (M - 1) / 2,)
        For each pair the largest, over the partitions with both models in one block, of
        the number of pairs within blocks times the least p-value of these; at most 1.
        They may not be in the order of the p-values.

    References
    ----------
    .. [1] G. Bergmann, G. Hommel, "Improvements of general multiple test procedures for
       redundant systems of hypotheses", in Multiple Hypotheses Testing (1988) 100-115.

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.kernels import bergmann_hommel
    >>> bergmann_hommel(np.array([0.01, 0.03, 0.2]), 3).round(6).tolist()
    [0.03, 0.03, 0.2]
    """
    adjusted = np.zeros(pvalues.size)
    block = np.zeros(n_models, np.int64)  # of each model
    used = np.zeros(n_models, np.int64)  # the largest block of the models up to each
    while True:
        _raise_to(adjusted, pvalues, block)
        # The next partition: the last model that can go to a later block does.
        last = n_models - 1
        while last > 0 and block[last] > used[last - 1]:
            last -= 1
        if last == 0:
            return np.minimum(adjusted, 1.0)
        block[last] += 1
        used[last] = max(used[last - 1], block[last])
        for i in range(last + 1, n_models):
            block[i] = 0
            used[i] = used[last]


@kernel
def _raise_to(adjusted: FloatArray, pvalues: FloatArray, block: IntArray) -> None:
    """Raise the adjusted p-values of pairs within blocks to what these demand."""
    n, least, p = 0, np.inf, 0
    for i in range(block.size):
        for j in range(i + 1, block.size):
            if block[i] == block[j]:
                n += 1
                least = min(least, pvalues[p])
            p += 1
    p = 0
    for i in range(block.size):
        for j in range(i + 1, block.size):
            if block[i] == block[j]:
                adjusted[p] = max(adjusted[p], n * least)
            p += 1
