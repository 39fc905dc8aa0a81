"""Correct or not, packed 64 samples to a word, and counts of these bits.

A row of words is one model; bit j of word w is sample 64 w + j, and is set if the
prediction is correct. Bits beyond the last sample are 0. Counts are popcounts, and the
table of two models needs one AND.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from fastcmp._jit import helper, inlined, kernel, popcount, wide_vectors
from fastcmp.kernels.typing import CodeArray, FloatArray, IntArray, WordArray

#: Rows of words are padded to a multiple of this many words (one cache line): loads of
#: 512 bits that straddle two lines cost a quarter of the Gram kernel's speed.
LINE_WORDS: Final = 8
#: Rows are allocated in multiples of this many models, the height of a register tile.
TILE_ROWS: Final = 4

# Words of one panel: 128 rows of it stay in a second-level cache of 2 MB.
_PANEL = 2048

_ZERO, _WORD = np.uint64(0), np.uint64(64)
_1, _2, _3 = np.uintp(1), np.uintp(2), np.uintp(3)


def allocate_words(n_models: int, n_samples: int) -> WordArray:
    """Allocate packed rows, zeroed and aligned to cache lines.

    Rows are rounded up to `TILE_ROWS` and words of 64 samples to `LINE_WORDS`.
    """
    rows = -(-n_models // TILE_ROWS) * TILE_ROWS
    words = -(-n_samples // (64 * LINE_WORDS)) * LINE_WORDS
    raw = np.zeros(rows * words + LINE_WORDS, np.uint64)
    start = (-raw.ctypes.data % (8 * LINE_WORDS)) // 8
    return raw[start : start + rows * words].reshape(rows, words)


@kernel
def pack_equal(y_true: CodeArray, pred: CodeArray, out: WordArray) -> int:
    """Set bit j of `out` where ``pred[j] == y_true[j]``, and count these samples.

    Parameters
    ----------
    y_true, pred : ndarray of uint8, uint16, int32 or int64, shape (n,)
        True and predicted codes.
    out : ndarray of uint64, shape (words,)
        At least n / 64 words, rounded up; further words stay as they are.

    Returns
    -------
    int
        How many bits were set.

    Notes
    -----
    One pass; about 14 G samples/s a core for uint8 with AVX-512.

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.kernels import pack_equal
    >>> words = np.zeros(1, np.uint64)
    >>> y_true = np.array([0, 1, 2, 1], np.uint8)
    >>> pack_equal(y_true, np.array([0, 1, 0, 1], np.uint8), words)
    3
    >>> bin(int(words[0]))
    '0b1011'
    """
    wide_vectors()
    n = np.uint64(y_true.size)
    whole = n - n % _WORD
    total = np.int64(0)
    # Slices would double the time of compilation; unsigned indices are never negative.
    for start in range(_ZERO, whole, _WORD):
        word = _ZERO
        for j in range(_WORD):
            word |= np.uint64(y_true[start + j] == pred[start + j]) << j
        out[start // _WORD] = word
        total += popcount(word)
    if whole < n:
        word = _ZERO
        for j in range(n - whole):
            word |= np.uint64(y_true[whole + j] == pred[whole + j]) << j
        out[whole // _WORD] = word
        total += popcount(word)
    return total  # type: ignore[return-value]  # int64 is an int in nopython


@kernel
def count_bits(words: WordArray) -> int:
    """Count the set bits of a row: how many samples that model got right.

    Parameters
    ----------
    words : ndarray of uint64, shape (words,)
        A packed row.

    Returns
    -------
    int
        Number of set bits.

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.kernels import count_bits
    >>> count_bits(np.array([0b1011, 1], np.uint64))
    4
    """
    wide_vectors()
    total = np.int64(0)
    for w in range(words.size):
        total += popcount(words[w])
    return total  # type: ignore[return-value]  # int64 is an int in nopython


@kernel
def count_common_bits(a: WordArray, b: WordArray) -> int:
    """Count the samples that both models classified correctly.

    Parameters
    ----------
    a, b : ndarray of uint64, shape (words,)
        Two packed rows.

    Returns
    -------
    int
        Number of positions at which both are set.

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.kernels import count_common_bits
    >>> count_common_bits(np.array([0b1011], np.uint64), np.array([0b110], np.uint64))
    1
    """
    wide_vectors()
    total = np.int64(0)
    for w in range(a.size):
        total += popcount(a[w] & b[w])
    return total  # type: ignore[return-value]  # int64 is an int in nopython


@helper
def _register_tile(
    words: WordArray,
    others: WordArray,
    corner: tuple[int, int],
    panel: tuple[int, int],
    counts: IntArray,
    place: tuple[int, int],
) -> None:
    """Add the common bits of 4 x 2 rows over one panel: eight counts for six loads.

    Unsigned indices need no test for negative ones, and a row that is not sliced off
    needs no reference count, which two threads would fight for.
    """
    wide_vectors()
    i, j = np.uintp(corner[0]), np.uintp(corner[1])
    start = np.uintp(panel[0])
    i1, i2, i3, j1 = i + _1, i + _2, i + _3, j + _1
    n00 = n01 = n10 = n11 = n20 = n21 = n30 = n31 = np.int64(0)
    for k in range(panel[1] - panel[0]):
        w = start + np.uintp(k)
        x, y = others[j, w], others[j1, w]
        row = words[i, w]
        n00 += popcount(row & x)
        n01 += popcount(row & y)
        row = words[i1, w]
        n10 += popcount(row & x)
        n11 += popcount(row & y)
        row = words[i2, w]
        n20 += popcount(row & x)
        n21 += popcount(row & y)
        row = words[i3, w]
        n30 += popcount(row & x)
        n31 += popcount(row & y)
    r, c = place
    sums = n00, n01, n10, n11, n20, n21, n30, n31
    for k in range(8):
        counts[r + k // 2, c + k % 2] += sums[k]


@kernel
def add_tile(words: WordArray, tile: tuple[int, int, int, int], counts: Any) -> None:
    """Add the common bits of a tile's pairs; counts reach `TILE_ROWS` beyond it."""
    wide_vectors()
    i0, i1, j0, j1 = tile
    n_words = words.shape[1]
    for start in range(0, n_words, _PANEL):
        end = start + _PANEL
        if end > n_words:  # `min` takes 30 ms to compile
            end = n_words
        for i in range(i0, i1, 4):
            for j in range(j0, j1, 2):
                if j >= i:
                    place = (i - i0, j - j0)
                    _register_tile(words, words, (i, j), (start, end), counts, place)


@kernel
def cross_counts(words: WordArray, others: WordArray, counts: IntArray) -> None:
    """Count the bits that each row has in common with each row of others.

    `counts` must have as many rows and columns as both have rows, of `allocate_words`.
    """
    wide_vectors()
    counts[:] = 0
    for start in range(0, words.shape[1], _PANEL):
        panel = (start, min(words.shape[1], start + _PANEL))
        for i in range(0, words.shape[0], 4):
            for j in range(0, others.shape[0], 2):
                _register_tile(words, others, (i, j), panel, counts, (i, j))


@kernel
def common_tile(words: WordArray, tile: tuple[int, int, int, int], joint: IntArray) -> None:
    """Add the samples that both models classified correctly, for one tile of models.

    `tile` is ``(i0, i1, j0, j1)``, i0 and j0 multiples of `TILE_ROWS`; pairs with i <=
    j are added to ``joint[i - i0, j - j0]``. No two tiles write to the same place.
    """
    i0, i1, j0, j1 = tile
    counts = np.zeros((i1 - i0 + TILE_ROWS, j1 - j0 + TILE_ROWS), np.int64)
    add_tile(words, tile, counts)
    for i in range(i0, i1):
        for j in range(max(j0, i), j1):
            joint[i - i0, j - j0] += counts[i - i0, j - j0]


@kernel
def discordant_pairs(
    words: WordArray, right: IntArray, pairs: IntArray, only_a: IntArray, only_b: IntArray
) -> None:
    """Write the discordant counts of chosen pairs of models, shape (P, 2)."""
    for p in range(pairs.shape[0]):
        i, j = pairs[p, 0], pairs[p, 1]
        both = count_common_bits(words[i], words[j])
        only_a[p] = right[i] - both
        only_b[p] = right[j] - both


@kernel
def row_square_sum(words: WordArray) -> int:
    """Sum over samples of the squared number of models that are correct on it.

    Each sample's number is counted in bit planes, 64 samples at a time.

    Parameters
    ----------
    words : ndarray of uint64, shape (M, words)
        Packed models.

    Returns
    -------
    int
        The sum that Cochran's Q needs.

    Notes
    -----
    O(M * words), about two operations a word.

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.kernels import row_square_sum
    >>> row_square_sum(np.array([[0b0111], [0b1101]], np.uint64))
    10
    """
    wide_vectors()
    block = 64
    planes = np.zeros((40, block), np.uint64)
    carry = np.zeros(block, np.uint64)
    total = np.int64(0)
    for start in range(0, words.shape[1], block):
        width = min(block, words.shape[1] - start)
        planes[:] = np.uint64(0)
        n_planes = 0
        for m in range(words.shape[0]):
            row = words[m, start : start + width]
            for w in range(width):
                carry[w] = row[w]
            p = 0
            pending = np.uint64(1)
            while pending != np.uint64(0):
                plane = planes[p]
                pending = np.uint64(0)
                for w in range(width):
                    overflow = plane[w] & carry[w]
                    plane[w] ^= carry[w]
                    carry[w] = overflow
                    pending |= overflow
                p += 1
            n_planes = max(n_planes, p)
        for p in range(n_planes):
            for q in range(n_planes):
                common = np.int64(0)
                for w in range(width):
                    common += popcount(planes[p, w] & planes[q, w])
                total += common << np.int64(p + q)
    return total  # type: ignore[return-value]  # int64 is an int in nopython


_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)


@kernel
def count_clusters(
    y_true: CodeArray, pred_a: CodeArray, pred_b: CodeArray, groups: IntArray, out: IntArray
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
    words: WordArray, ends: IntArray, right: FloatArray, pairs: IntArray, out: FloatArray
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
