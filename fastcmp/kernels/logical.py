"""Adjustments that know which hypotheses about pairs can be true together.

If models a and b are equal, and b and c, then so are a and c: the true hypotheses are
the pairs within the blocks of a partition of the models.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fastcmp._jit import kernel

if TYPE_CHECKING:
    from fastcmp.kernels.typing import FloatArray, IntArray


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
