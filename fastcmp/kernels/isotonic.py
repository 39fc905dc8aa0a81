"""Isotonic regression: means that do not descend, by pooling adjacent violators."""

from __future__ import annotations

import numpy as np

from fastcmp._jit import kernel
from fastcmp.kernels.typing import FloatArray


@kernel
def isotonic_fits(sums: FloatArray, sizes: FloatArray, at: FloatArray, fitted: FloatArray) -> None:
    """Isotonic means of groups in ascending order, for several rows of the same groups.

    Parameters
    ----------
    sums, sizes : ndarray of float64, shape (R, K)
        Sum of the values of each group, and how many these are; a group of size 0 lies
        on the line between its neighbours, or has the value of the only one.
    at : ndarray of float64, shape (K,)
        Where the groups are, ascending.
    fitted : ndarray of float64, shape (R, K)
        Receives the means; NaN in a row without values.

    Notes
    -----
    O(R K). Two neighbours of equal means are one block.
    """
    n = at.size
    total, weight = np.empty(n), np.empty(n)
    first = np.empty(n + 1, np.int64)
    for r in range(sums.shape[0]):
        blocks = 0
        for k in range(n):
            if sizes[r, k] == 0.0:
                continue
            total[blocks], weight[blocks], first[blocks] = sums[r, k], sizes[r, k], k
            blocks += 1
            while (
                blocks > 1
                and total[blocks - 2] * weight[blocks - 1] >= total[blocks - 1] * weight[blocks - 2]
            ):
                blocks -= 1
                total[blocks - 1] += total[blocks]
                weight[blocks - 1] += weight[blocks]
        first[blocks] = n
        for b in range(blocks):
            for k in range(first[b], first[b + 1]):
                fitted[r, k] = total[b] / weight[b]
        # Groups without values.
        last = -1
        for k in range(n):
            if sizes[r, k] == 0.0:
                continue
            for gap in range(last + 1, k):
                if last < 0:
                    fitted[r, gap] = fitted[r, k]
                else:
                    part = (at[gap] - at[last]) / (at[k] - at[last])
                    fitted[r, gap] = fitted[r, last] + part * (fitted[r, k] - fitted[r, last])
            last = k
        for gap in range(last + 1, n):
            fitted[r, gap] = fitted[r, last] if last >= 0 else np.nan
