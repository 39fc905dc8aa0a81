"""Right answers of two models, or of many, counted by cluster of samples."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fastcmp._jit import inlined, kernel, popcount, wide_vectors

if TYPE_CHECKING:
    from fastcmp.kernels.typing import CodeArray, FloatArray, IntArray, WordArray

_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)


@kernel
def count_clusters(
    y_true: CodeArray,
    pred_a: CodeArray,
    pred_b: CodeArray,
    groups: IntArray,
    out: IntArray,
) -> None:
    """Count by cluster on which samples two models are right.

    Parameters
    ----------
    y_true, pred_a, pred_b : ndarray of uint8, uint16, int32 or int64, shape (n,)
        True and predicted codes.
    groups : ndarray of int64, shape (n,)
        Cluster of each sample, in ``range(G)``; not checked.
    out : ndarray of int64, shape (4, G)
        Counts are added: both right, only a, only b, both wrong.

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.kernels import count_clusters
    >>> y_true, pred_a, pred_b = np.array([[0, 1, 1], [0, 1, 1], [0, 0, 1]], np.uint8)
    >>> counts = np.zeros((4, 2), np.int64)
    >>> count_clusters(y_true, pred_a, pred_b, np.array([0, 0, 1]), counts)
    >>> counts.tolist()
    [[1, 1], [1, 0], [0, 0], [0, 0]]
    """
    for i in range(y_true.size):
        wrong_a = np.int64(pred_a[i] != y_true[i])
        wrong_b = np.int64(pred_b[i] != y_true[i])
        out[2 * wrong_a + wrong_b, groups[i]] += 1


@inlined
def _common_between(a: WordArray, b: WordArray, start: np.int64, end: np.int64) -> int:
    """Count common bits from `start` to before `end`, which is above it."""
    first, last = start >> 6, (end - 1) >> 6
    low = _ALL << np.uint64(start & 63)
    high = _ALL >> np.uint64(63 - ((end - 1) & 63))
    if first == last:
        return popcount(a[first] & b[first] & low & high)
    total = popcount(a[first] & b[first] & low)
    for w in range(first + 1, last):
        total += popcount(a[w] & b[w])
    return total + popcount(a[last] & b[last] & high)


@kernel
def cluster_bits(words: WordArray, ends: IntArray, out: FloatArray) -> None:
    """Count the set bits of a row by cluster: the right answers of one model.

    Parameters
    ----------
    words : ndarray of uint64, shape (words,)
        A packed row, as from `pack_equal`, of samples in the order of their clusters.
    ends : ndarray of int64, shape (G,)
        One more than the last sample of each cluster; ascending, none equal, not
        checked.
    out : ndarray of float64, shape (G,)
        Receives the counts; floats, for the matrix product that follows.

    Notes
    -----
    One or two popcounts a cluster of up to 64 samples.

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.kernels import cluster_bits
    >>> right = np.empty(2)
    >>> cluster_bits(np.array([0b0110], np.uint64), np.array([2, 4]), right)
    >>> right.tolist()
    [1.0, 1.0]
    """
    start = np.int64(0)
    for g in range(ends.size):
        out[g] = float(_common_between(words, words, start, ends[g]))
        start = ends[g]


@kernel
def cluster_squares(
    words: WordArray,
    ends: IntArray,
    right: FloatArray,
    pairs: IntArray,
    out: FloatArray,
) -> None:
    """Add up squared counts of clusters for pairs of models.

    Rows of `words` are in the order of clusters, which end at `ends`; `right` has the
    right answers of each model by cluster, shape (M, G). ``out[:, p]`` receives for a
    pair the sum over clusters of the squares of all four cells over its size, and that
    of the squared numbers of discordant samples.
    """
    wide_vectors()
    for p in range(pairs.shape[0]):
        i, j = pairs[p, 0], pairs[p, 1]
        start = np.int64(0)
        squares, discordant = 0.0, 0.0
        for g in range(ends.size):
            both = float(_common_between(words[i], words[j], start, ends[g]))
            size = float(ends[g] - start)
            only_a, only_b = right[i, g] - both, right[j, g] - both
            wrong = size - both - only_a - only_b
            cells = both * both + only_a * only_a + only_b * only_b + wrong * wrong
            squares += cells / size
            discordant += (only_a + only_b) * (only_a + only_b)
            start = ends[g]
        out[0, p], out[1, p] = squares, discordant


@kernel
def squared_distances(rows: FloatArray, pairs: IntArray, out: FloatArray) -> None:
    """Write the squared distance of the two rows of each pair."""
    wide_vectors()
    n = rows.shape[1]
    for p in range(pairs.shape[0]):
        a, b = rows[pairs[p, 0]], rows[pairs[p, 1]]
        # Four sums, which the compiler does not make of one by itself.
        s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
        for k in range(n // 4):
            d0, d1 = a[4 * k] - b[4 * k], a[4 * k + 1] - b[4 * k + 1]
            d2, d3 = a[4 * k + 2] - b[4 * k + 2], a[4 * k + 3] - b[4 * k + 3]
            s0 += d0 * d0
            s1 += d1 * d1
            s2 += d2 * d2
            s3 += d3 * d3
        for k in range(4 * (n // 4), n):
            d0 = a[k] - b[k]
            s0 += d0 * d0
        out[p] = (s0 + s1) + (s2 + s3)
