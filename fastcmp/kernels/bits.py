"""Correct or not, packed 64 samples to a word, and counts of these bits.

A row of words is one model; bit j of word w is sample 64 w + j, and is set if the
prediction is correct. Bits beyond the last sample are 0. Counts are popcounts, and the
table of two models needs one AND.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from fastcmp._jit import helper, kernel, popcount, wide_vectors

if TYPE_CHECKING:
    from fastcmp.kernels.typing import CodeArray, IntArray, WordArray

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
        if end > n_words:  # noqa: PLR1730  # `min` takes 30 ms to compile
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
    words: WordArray,
    right: IntArray,
    pairs: IntArray,
    only_a: IntArray,
    only_b: IntArray,
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
