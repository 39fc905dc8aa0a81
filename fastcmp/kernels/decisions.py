"""Decisions of models at many thresholds: items on which two of them decide unlike."""

from __future__ import annotations

from fastcmp._jit import kernel
from fastcmp.kernels.typing import FloatArray, OrderArray


@kernel
def discordant_sums(
    passed: OrderArray,
    positive: OrderArray,
    weights: FloatArray,
    pairs: OrderArray,
    sums: FloatArray,
) -> None:
    """Sums of weights of the items that only one of two models calls, at each threshold.

    Parameters
    ----------
    passed : ndarray of int16, shape (M, n)
        How many of T ascending thresholds each probability reaches.
    positive : ndarray of int16, shape (n,)
        1 for the items of the positive class, else 0.
    weights : ndarray of float64, shape (n,)
        What an item counts.
    pairs : ndarray of int32, shape (P, 2)
        Models of each pair.
    sums : ndarray of float64, shape (2, P, T)
        Zeros; receives the sums, of negatives and of positives.

    Notes
    -----
    O(P (n + T)).
    """
    n, last = passed.shape[1], sums.shape[2]
    for p in range(pairs.shape[0]):
        a, b = passed[pairs[p, 0]], passed[pairs[p, 1]]
        for i in range(n):
            if a[i] != b[i]:
                low, high = min(a[i], b[i]), max(a[i], b[i])
                sums[positive[i], p, low] += weights[i]
                if high < last:
                    sums[positive[i], p, high] -= weights[i]
        for y in range(2):
            running = 0.0
            for k in range(last):
                running += sums[y, p, k]
                sums[y, p, k] = running
