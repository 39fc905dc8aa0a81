"""Random signs, 64 to a word, and sums of many columns with them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fastcmp._jit import kernel, wide_vectors
from fastcmp.kernels.rng import _word

if TYPE_CHECKING:
    from fastcmp.kernels.typing import FloatArray, WordArray

# Columns of a tile: its tables, of 8 x 256 rows, stay in a second-level cache.
_TILE = 40
# So few columns are summed one by one.
_FEW = 4
_BYTE = np.uint64(255)
_S1, _S2, _S3, _S4, _S5, _S6, _S7 = [np.uint64(8 * j) for j in range(1, 8)]


@kernel
def random_signs(seed: int, first: int, start: int, out: WordArray) -> None:
    """Draw signs: bit j of word w is the sign of unit 64 w + j.

    Parameters
    ----------
    seed, first : int
        Draw r is a function of (seed, first + r); not negative.
    start : int
        Word that the first row receives.
    out : ndarray of uint64, shape (words, R)
        Receives the bits, a column a draw.

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.kernels import random_signs
    >>> words = np.empty((1, 2), np.uint64)
    >>> random_signs(1, 0, 0, words)
    >>> [bin(int(word) % 256) for word in words[0]]
    ['0b11110', '0b1101000']
    """
    for w in range(out.shape[0]):
        for r in range(out.shape[1]):
            out[w, r] = _word(seed, first + r, start + w)


@kernel
def flip_sums(values: FloatArray, words: WordArray, out: FloatArray) -> None:
    """Sum columns of values with signs.

    Parameters
    ----------
    values : ndarray of float64, shape (G, K)
        A row a unit.
    words : ndarray of uint64, shape (words, R)
        Bit j of row w: 1 where the values of unit 64 w + j are added, 0 where they are
        subtracted; at least G / 64 words, rounded up, of which others are not read.
    out : ndarray of float64, shape (K, R)
        Receives the sums.

    Notes
    -----
    The sums of each eight units with all their signs are written to a table, so that
    eight signs cost one addition: 2 x faster than the matrix product of the signs and
    the values on the same core. For a few hundred draws or less the tables cost more
    than they save.

    References
    ----------
    .. [1] V. L. Arlazarov, E. A. Dinic, M. A. Kronrod, I. A. Faradzev, "On economical
       construction of the transitive closure of a directed graph", Soviet Mathematics
       Doklady 11 (1970) 1209-1210.

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.kernels import flip_sums
    >>> out = np.empty((1, 2))
    >>> words = np.array([[0b01, 0b11]], np.uint64)
    >>> flip_sums(np.array([[3.0], [1.0]]), words, out)
    >>> out.tolist()
    [[2.0, 4.0]]
    """
    n_columns = values.shape[1]
    if n_columns <= _FEW:
        for k in range(n_columns):
            _flip_one(values[:, k], words, out[k])
        return
    for first in range(0, n_columns, _TILE):
        _flip_tile(values[:, first : first + _TILE], words, out[first : first + _TILE])


@kernel
def _flip_tile(values: FloatArray, words: WordArray, out: FloatArray) -> None:
    n, width = values.shape
    padded = (width + 7) // 8 * 8
    tables, rows = np.empty((8, 256, padded)), np.zeros((8, padded))
    sums = np.zeros((words.shape[1], padded))
    for w in range((n + 63) // 64):
        for j in range(8):
            for i in range(8):
                g = 64 * w + 8 * j + i
                for k in range(width):
                    rows[i, k] = values[g, k] if g < n else 0.0
            _fill(rows, tables[j])
        _add(words[w], tables, sums)
    for r in range(words.shape[1]):
        for k in range(width):
            out[k, r] = sums[r, k]


@kernel
def _flip_one(values: FloatArray, words: WordArray, out: FloatArray) -> None:
    """Sum one column, by tables that stay in a first-level cache."""
    table = np.empty((8, 256))
    out[:] = 0.0
    for w in range((values.size + 63) // 64):
        for j in range(8):
            start = 64 * w + 8 * j
            end = min(start + 8, values.size)
            table[j, 0] = 0.0
            for g in range(start, end):
                table[j, 0] -= values[g]
            size = 1
            for i in range(8):
                twice = 2.0 * values[start + i] if start + i < end else 0.0
                for b in range(size):
                    table[j, size + b] = table[j, b] + twice
                size *= 2
        _add_one(words[w], table, out)


@kernel
def _add_one(words: WordArray, table: FloatArray, sums: FloatArray) -> None:
    """Add the entries of eight tables of one column."""
    for r in range(words.size):
        word = words[r]
        sums[r] += (
            (table[0, np.uintp(word & _BYTE)] + table[1, np.uintp((word >> _S1) & _BYTE)])
            + (
                table[2, np.uintp((word >> _S2) & _BYTE)]
                + table[3, np.uintp((word >> _S3) & _BYTE)]
            )
        ) + (
            (table[4, np.uintp((word >> _S4) & _BYTE)] + table[5, np.uintp((word >> _S5) & _BYTE)])
            + (table[6, np.uintp((word >> _S6) & _BYTE)] + table[7, np.uintp(word >> _S7)])
        )


@kernel
def _fill(rows: FloatArray, table: FloatArray) -> None:
    """Write the sums of eight rows with all their signs."""
    wide_vectors()
    width = rows.shape[1]
    for k in range(width):
        table[0, k] = 0.0
        for i in range(8):
            table[0, k] -= rows[i, k]
    size = 1
    for i in range(8):
        for b in range(size):
            for k in range(width):
                table[size + b, k] = table[b, k] + 2.0 * rows[i, k]
        size *= 2


@kernel
def _add(words: WordArray, tables: FloatArray, sums: FloatArray) -> None:
    """Add the entries of eight tables that the bytes of each word tell."""
    wide_vectors()
    for r in range(words.size):
        word = words[r]
        b0, b1 = np.uintp(word & _BYTE), np.uintp((word >> _S1) & _BYTE)
        b2, b3 = np.uintp((word >> _S2) & _BYTE), np.uintp((word >> _S3) & _BYTE)
        b4, b5 = np.uintp((word >> _S4) & _BYTE), np.uintp((word >> _S5) & _BYTE)
        b6, b7 = np.uintp((word >> _S6) & _BYTE), np.uintp(word >> _S7)
        for k in range(tables.shape[2]):
            sums[r, k] += (
                (tables[0, b0, k] + tables[1, b1, k]) + (tables[2, b2, k] + tables[3, b3, k])
            ) + ((tables[4, b4, k] + tables[5, b5, k]) + (tables[6, b6, k] + tables[7, b7, k]))
