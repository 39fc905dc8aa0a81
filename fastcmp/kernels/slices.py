"""Predicted classes as bit slices, and tables of all pairs of models from them.

A model has K - 1 rows of words for K classes: bit j of the row of a class is set if the
model predicts that class for sample j. The last class follows from the margins. Samples
may be sorted by true class, each class from a new cache line on; `segments`, shape
(T + 1,), are the words at which they begin. The table of two models is then a product
of their rows, with popcounts in place of sums.
"""

from __future__ import annotations

import numpy as np

from fastcmp._jit import inlined, kernel, popcount, wide_vectors
from fastcmp.kernels.bits import TILE_ROWS
from fastcmp.kernels.typing import CodeArray, IntArray, WordArray

# Words of one panel, as of the tiles of models that are right or wrong.
_PANEL = 2048
_CHUNK = 512  # words that are packed at a time; they stay in the first-level cache

_ALL = np.uint64(2**64 - 1)
_1, _2, _3 = np.uintp(1), np.uintp(2), np.uintp(3)


@kernel
def order_by_class(y_true: CodeArray, places: IntArray, order: CodeArray) -> None:
    """Write the samples by true class, each class from its place on."""
    for i in range(y_true.size):
        code = y_true[i]
        order[places[code]] = i
        places[code] += 1


@kernel
def gather_codes(codes: CodeArray, order: CodeArray, out: CodeArray) -> None:
    """Write ``codes[order]``: as ``np.take``, in less than half the time."""
    for i in range(order.size):
        out[i] = codes[np.uintp(order[i])]


@kernel
def pack_slices(codes: CodeArray, field: tuple[int, int], out: WordArray) -> None:
    """Set bit j of row c of `out` (K - 1, words) where the code of sample j is c.

    `field` is the shift of the model's codes in each byte, and how many bits they have:
    several models may share a byte. One pass for each bit of a code, at about 14 G
    samples/s a core with AVX-512, and a pass over the words of these bits for each
    class.
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
    """Set the bits at which the planes have a code."""
    wide_vectors()
    for w in range(out.size):
        out[w] = _ALL
    for bit in range(planes.shape[0]):
        plane = planes[bit]
        flip = np.uint64(0) if code >> bit & 1 else _ALL
        for w in range(out.size):
            out[w] &= plane[w] ^ flip


@kernel
def count_slices(words: WordArray, segments: IntArray, sizes: IntArray, out: IntArray) -> None:
    """Add the samples of each true class for which a model predicts each class.

    `sizes` (T,) are the samples of each true class; `out` (T, K) are the margins that
    `slice_tile` needs.
    """
    wide_vectors()
    n_rows = words.shape[0]
    for t in range(sizes.size):
        left = sizes[t]
        for c in range(n_rows):
            total = np.int64(0)
            for w in range(segments[t], segments[t + 1]):
                total += popcount(words[c, w])
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
        n00 += popcount(y & x0)
        n01 += popcount(y & x1)
        n02 += popcount(y & x2)
        n03 += popcount(y & x3)
        y = words[i1, w]
        n10 += popcount(y & x0)
        n11 += popcount(y & x1)
        n12 += popcount(y & x2)
        n13 += popcount(y & x3)
        y = words[i2, w]
        n20 += popcount(y & x0)
        n21 += popcount(y & x1)
        n22 += popcount(y & x2)
        n23 += popcount(y & x3)
        y = words[i3, w]
        n30 += popcount(y & x0)
        n31 += popcount(y & x1)
        n32 += popcount(y & x2)
        n33 += popcount(y & x3)
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
    words: WordArray, rows: tuple[int, int, int, int], panel: tuple[int, int], common: IntArray
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
    """Write the tables ``counts[p, t, a, b]`` of pairs of models, all of one tile.

    `words` has K - 1 rows a model, aligned as by `allocate_words`, and `TILE_ROWS` rows
    more; `tile` is ``(i0, i1, j0, j1)``. (K - 1)**2 popcounts a word for each pair of
    models of the tile, requested or not.
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
