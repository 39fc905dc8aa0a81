"""Predicted classes as bit slices, and tables of all pairs of models from them.

Models with K classes have K - 1 rows of words each: bit j of the row of a class is set
where the model predicts that class for sample j. The last class is what the margins
leave. Samples may be sorted by true class, each class from a new cache line on: the
segments. A table of two models is then a product of their rows, popcounts for sums, and
`segments`, shape (T + 1,), says at which word each true class begins.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fastcmp._jit import inlined, kernel, wide_vectors
from fastcmp.kernels.bits import TILE_ROWS, _popcount

if TYPE_CHECKING:
    from fastcmp.kernels.typing import CodeArray, IntArray, WordArray

# Words of one panel, as of the tiles of models that are right or wrong.
_PANEL = 2048
_CHUNK = 512  # words that are packed at a time; they stay in the first-level cache

_ALL = np.uint64(2**64 - 1)
_1, _2, _3 = np.uintp(1), np.uintp(2), np.uintp(3)


@kernel
def order_by_class(y_true: CodeArray, places: IntArray, order: CodeArray) -> None:
    """Write the samples in the order of their true class.

    Parameters
    ----------
    y_true : ndarray of uint8, uint16, int32 or int64, shape (n,)
        True codes, below K.
    places : ndarray of int64, shape (K,)
        Where in `order` each class begins; moved on to where it ends.
    order : ndarray of int32 or int64, shape (N,)
        Receives the samples of each class, ascending; what is between is left alone.

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.kernels import order_by_class
    >>> order = np.full(6, -1)
    >>> order_by_class(np.array([1, 0, 1, 0, 0]), np.array([0, 4]), order)
    >>> order.tolist()
    [1, 3, 4, -1, 0, 2]
    """
    for i in range(y_true.size):
        code = y_true[i]
        order[places[code]] = i
        places[code] += 1


@kernel
def gather_codes(codes: CodeArray, order: CodeArray, out: CodeArray) -> None:
    """Bring codes into another order.

    Parameters
    ----------
    codes : ndarray of uint8, shape (n,)
        Codes of samples.
    order : ndarray of int32 or int64, shape (N,)
        Which of them to write.
    out : ndarray of uint8, shape (N,)
        Receives them.

    Notes
    -----
    As ``np.take``, in less than half the time: some 3 G samples/s a core.

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.kernels import gather_codes
    >>> out = np.empty(3, np.uint8)
    >>> gather_codes(np.array([7, 8, 9], np.uint8), np.array([2, 0, 0]), out)
    >>> out.tolist()
    [9, 7, 7]
    """
    for i in range(order.size):
        out[i] = codes[np.uintp(order[i])]


@kernel
def pack_slices(codes: CodeArray, field: tuple[int, int], out: WordArray) -> None:
    """Set bit j of row c of `out` where the code of sample j is c.

    Parameters
    ----------
    codes : ndarray of uint8, shape (N,)
        Predicted codes; several models may share a byte.
    field : tuple of two ints
        Shift of the model's codes in each byte, and how many bits they have.
    out : ndarray of uint64, shape (K - 1, words)
        A row a class but the last; at least N / 64 words, rounded up; words beyond are
        left alone. K is at most 2 to the number of bits.

    Notes
    -----
    One pass for each bit of a code, at some 14 G samples/s a core with AVX-512, and a
    pass over the words of these bits for each class.

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.kernels import pack_slices
    >>> words = np.zeros((2, 1), np.uint64)
    >>> pack_slices(np.array([0, 1, 2, 1], np.uint8), (0, 8), words)
    >>> [bin(int(row[0])) for row in words]
    ['0b1', '0b1010']
    """
    n_rows, n_words = out.shape[0], (codes.size + 63) // 64
    planes = np.empty((field[1], _CHUNK), np.uint64)
    for start in range(0, n_words, _CHUNK):
        size = min(_CHUNK, n_words - start)
        some = codes[64 * start : 64 * (start + size)]
        for bit in range(field[1]):
            _pack_bit(some, np.uint8(1 << (field[0] + bit)), planes[bit])
        if some.size % 64 != 0:
            beyond = _ALL << np.uint64(some.size % 64)
            for bit in range(field[1]):
                planes[bit, size - 1] |= beyond
        for c in range(n_rows):
            _match_planes(planes, c, out[c, start : start + size])


@kernel
def _pack_bit(codes: CodeArray, mask: np.uint8, out: WordArray) -> None:
    """Set bit j of `out` where that of `mask` is set in the code of sample j."""
    wide_vectors()
    n = codes.size
    for w in range(n // 64):
        some = codes[64 * w : 64 * w + 64]
        word = np.uint64(0)
        for j in range(64):
            word |= np.uint64(np.uint8(some[j] & mask) != 0) << np.uint64(j)
        out[w] = word
    if n % 64 != 0:
        word = np.uint64(0)
        for j in range(64 * (n // 64), n):
            is_set = np.uint8(codes[j] & mask) != 0
            word |= np.uint64(is_set) << np.uint64(j % 64)
        out[n // 64] = word


@kernel
def _match_planes(planes: WordArray, code: int, out: WordArray) -> None:
    """Set the bits at which the planes spell a code."""
    wide_vectors()
    for w in range(out.size):
        out[w] = _ALL
    for bit in range(planes.shape[0]):
        plane = planes[bit]
        flip = np.uint64(0) if code >> bit & 1 else _ALL
        for w in range(out.size):
            out[w] &= plane[w] ^ flip


@kernel
def count_slices(
    words: WordArray, segments: IntArray, sizes: IntArray, out: IntArray
) -> None:
    """Add the samples of each true class for which a model predicts each class.

    Parameters
    ----------
    words : ndarray of uint64, shape (K - 1, words)
        The rows of one model.
    segments : ndarray of int64, shape (T + 1,)
        At which word each true class begins, and where the last one ends.
    sizes : ndarray of int64, shape (T,)
        Samples of each true class.
    out : ndarray of int64, shape (T, K)
        Is added to: the margins that `slice_tile` asks for.

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.kernels import count_slices
    >>> margins = np.zeros((1, 2), np.int64)
    >>> rows = np.array([[0b1011]], np.uint64)
    >>> count_slices(rows, np.array([0, 1]), np.array([5]), margins)
    >>> margins.tolist()
    [[3, 2]]
    """
    wide_vectors()
    n_rows = words.shape[0]
    for t in range(sizes.size):
        left = sizes[t]
        for c in range(n_rows):
            total = np.int64(0)
            for w in range(segments[t], segments[t + 1]):
                total += _popcount(words[c, w])
            out[t, c] += total
            left -= total
        out[t, n_rows] += left


@kernel
def _register_tile(
    words: WordArray,
    corner: tuple[int, int],
    panel: tuple[int, int],
    common: IntArray,
    place: tuple[int, int],
) -> None:
    """Add the common bits of 4 x 4 rows over one panel: sixteen counts for eight loads.

    True classes make short panels, on which this is up to a fifth faster than the
    4 x 2 rows of `bits`, whose sums must be taken together twice as often.
    """
    wide_vectors()
    i, j = np.uintp(corner[0]), np.uintp(corner[1])
    start = np.uintp(panel[0])
    i1, i2, i3, j1, j2, j3 = i + _1, i + _2, i + _3, j + _1, j + _2, j + _3
    n00 = n01 = n02 = n03 = n10 = n11 = n12 = n13 = np.int64(0)
    n20 = n21 = n22 = n23 = n30 = n31 = n32 = n33 = np.int64(0)
    for k in range(panel[1] - panel[0]):
        w = start + np.uintp(k)
        x0, x1, x2, x3 = words[j, w], words[j1, w], words[j2, w], words[j3, w]
        y = words[i, w]
        n00 += _popcount(y & x0)
        n01 += _popcount(y & x1)
        n02 += _popcount(y & x2)
        n03 += _popcount(y & x3)
        y = words[i1, w]
        n10 += _popcount(y & x0)
        n11 += _popcount(y & x1)
        n12 += _popcount(y & x2)
        n13 += _popcount(y & x3)
        y = words[i2, w]
        n20 += _popcount(y & x0)
        n21 += _popcount(y & x1)
        n22 += _popcount(y & x2)
        n23 += _popcount(y & x3)
        y = words[i3, w]
        n30 += _popcount(y & x0)
        n31 += _popcount(y & x1)
        n32 += _popcount(y & x2)
        n33 += _popcount(y & x3)
    r, c = place
    _add_four(common, r, c, (n00, n01, n02, n03))
    _add_four(common, r + 1, c, (n10, n11, n12, n13))
    _add_four(common, r + 2, c, (n20, n21, n22, n23))
    _add_four(common, r + 3, c, (n30, n31, n32, n33))


@inlined
def _add_four(common: IntArray, r: int, c: int, sums: tuple[np.int64, ...]) -> None:
    common[r, c] += sums[0]
    common[r, c + 1] += sums[1]
    common[r, c + 2] += sums[2]
    common[r, c + 3] += sums[3]


@kernel
def _add_rows(
    words: WordArray,
    rows: tuple[int, int, int, int],
    panel: tuple[int, int],
    common: IntArray,
) -> None:
    """Add the common bits of two blocks of rows; of one block, those above."""
    r0, r1, c0, c1 = rows
    for i in range(r0, r1, 4):
        for j in range(i if c0 == r0 else c0, c1, 4):
            _register_tile(words, (i, j), panel, common, (i - r0, j - c0))


@inlined
def _write_table(
    common: IntArray,
    corner: tuple[int, int],
    margin_a: IntArray,
    margin_b: IntArray,
    table: IntArray,
) -> None:
    """Write a table of common bits, with the last class from the margins."""
    last = table.shape[0] - 1
    r, c = np.uintp(corner[0]), np.uintp(corner[1])
    for b in range(last + 1):
        table[last, b] = margin_b[b]
    for a in range(last):
        left = margin_a[a]
        for b in range(last):
            both = common[r + np.uintp(a), c + np.uintp(b)]
            table[a, b] = both
            table[last, b] -= both
            left -= both
        table[a, last] = left
        table[last, last] -= left


@kernel
def slice_tile(
    words: WordArray,
    segments: IntArray,
    margins: IntArray,
    tile: tuple[int, int, int, int],
    pairs: IntArray,
    counts: IntArray,
) -> None:
    """Write the tables of pairs of models, all of one tile.

    Parameters
    ----------
    words : ndarray of uint64, shape (rows, words)
        K - 1 rows a model, from `pack_slices`, laid out as `allocate_words` does, and
        ``TILE_ROWS`` rows more.
    segments : ndarray of int64, shape (T + 1,)
        At which word each true class begins, and where the last one ends.
    margins : ndarray of int64, shape (M, T, K)
        From `count_slices`.
    tile : tuple of four ints
        ``(i0, i1, j0, j1)``: models from i0 to before i1 as the first of a pair, from
        j0 to before j1 as the second.
    pairs : ndarray of int64, shape (P, 2)
        Pairs of the tile; in a tile with i0 = j0, the first is below the second.
    counts : ndarray of int64, shape (P, T, K, K)
        Receives ``counts[p, t, a, b]``: the samples of true class t for which the first
        model predicts a and the second b.

    Notes
    -----
    (K - 1)**2 popcounts a word for each pair of models of the tile, wanted or not.

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.kernels import allocate_words, slice_tile
    >>> words = allocate_words(2 + 4, 4)
    >>> words[0, 0], words[1, 0] = 0b0111, 0b1101
    >>> margins = np.array([[[3, 1]], [[3, 1]]])
    >>> counts = np.zeros((1, 1, 2, 2), np.int64)
    >>> pairs = np.array([[0, 1]])
    >>> slice_tile(words, np.array([0, 8]), margins, (0, 2, 0, 2), pairs, counts)
    >>> counts[0, 0].tolist()
    [[2, 1], [1, 0]]
    """
    i0, i1, j0, j1 = tile
    n_rows = counts.shape[3] - 1
    rows = (i0 * n_rows, i1 * n_rows, j0 * n_rows, j1 * n_rows)
    height, width = (i1 - i0) * n_rows + TILE_ROWS, (j1 - j0) * n_rows + TILE_ROWS
    common = np.empty((height, width), np.int64)
    for t in range(segments.size - 1):
        common[:] = 0
        for start in range(segments[t], segments[t + 1], _PANEL):
            end = min(segments[t + 1], start + _PANEL)
            _add_rows(words, rows, (start, end), common)
        for p in range(pairs.shape[0]):
            i, j = pairs[p, 0], pairs[p, 1]
            corner = ((i - i0) * n_rows, (j - j0) * n_rows)
            _write_table(common, corner, margins[i, t], margins[j, t], counts[p, t])
