"""Sign-flip tests of paired differences: is their distribution symmetric about zero?"""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from fastcmp._jit import kernel, sum_of, wide_vectors
from fastcmp.kernels.paired import mcnemar_exact
from fastcmp.kernels.rng import _word
from fastcmp.kernels.status import DEGENERATE, GREATER, INVALID, LESS, OK, Outcome
from fastcmp.kernels.typing import FloatArray, IntArray, WordArray

#: Differences other than 0 that `sign_flip_floats` takes at most.
SIGN_FLIP_MAX_FLOATS: Final = 40
#: Largest sum of absolute differences that `sign_flip_whole` takes.
SIGN_FLIP_MAX_SUM: Final = 2**28

_LEAST = 1e-300  # less is slow to compute with, and adds nothing


@kernel
def sign_flip_whole(differences: IntArray, alternative: int) -> Outcome:
    """Exact sign-flip test of whole numbers, however many there are.

    Parameters
    ----------
    differences : ndarray of int64, shape (G,)
        Value of a minus that of b, of each item or summed over each cluster.
    alternative : int
        ``TWO_SIDED``, ``GREATER`` (those of a are larger) or ``LESS``.

    Returns
    -------
    Outcome
        The sum T of the differences, and the probability that with random signs it is
        as extreme: two-sided, ``|T*| >= |T|``. 0, 1 and ``DEGENERATE`` if all are 0;
        NaN and ``INVALID`` if the sum of their absolute values, divided by their
        greatest common divisor, exceeds ``SIGN_FLIP_MAX_SUM``.

    Notes
    -----
    The distribution of T* is built up a difference at a time: ``O(G sum |D|)``. If all
    are of the same size, as with right or wrong, it is binomial, and this is the exact
    McNemar test: O(G).

    References
    ----------
    .. [1] M. Pagano, D. Tritchler, "On obtaining permutation distributions in
       polynomial time", JASA 78 (1983) 435-440.

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.kernels import TWO_SIDED, sign_flip_whole
    >>> sign_flip_whole(np.array([3, 1, 2, -1, 4]), TWO_SIDED).pvalue
    0.1875
    """
    total, sizes = _sizes(differences)
    if sizes.size == 0:
        return Outcome(0.0, 1.0, DEGENERATE)
    divisor = _common_divisor(sizes)
    if sizes[0] == sizes[-1]:
        excess = total // divisor
        only_a = (sizes.size + excess) // 2
        found = mcnemar_exact(only_a, sizes.size - only_a, alternative)
        return Outcome(float(total), found.pvalue, OK)
    if sum_of(sizes) // divisor > SIGN_FLIP_MAX_SUM:
        return Outcome(math.nan, math.nan, INVALID)
    towards = abs(total)
    if alternative == GREATER:
        towards = total
    elif alternative == LESS:
        towards = -total
    tail = _whole_tail(sizes // divisor, towards // divisor)
    if alternative not in (GREATER, LESS):
        tail = min(1.0, 2.0 * tail) if total != 0 else 1.0
    return Outcome(float(total), tail, OK)


@kernel
def _sizes(differences: IntArray) -> tuple[int, IntArray]:
    """Sum the differences, and sort the absolute values of those other than 0."""
    total = 0
    n = 0
    sizes = np.empty(differences.size, np.int64)
    for g in range(differences.size):
        d = int(differences[g])
        total += d
        if d != 0:
            sizes[n] = abs(d)
            n += 1
    return total, np.sort(sizes[:n])


@kernel
def _common_divisor(sizes: IntArray) -> int:
    divisor = 0
    for k in range(sizes.size):
        left = sizes[k]
        while left != 0:
            divisor, left = left, divisor % left
        if divisor == 1:
            break
    return divisor


@kernel
def _whole_tail(sizes: IntArray, at_least: int) -> float:
    """Probability that the sizes, ascending, with random signs sum to so much."""
    widest = sizes[-1]
    all_of_them = sum_of(sizes)
    # Of the subsets that get a plus; a margin of zeros is read in front.
    now = np.zeros(widest + all_of_them + 1)
    after = np.zeros(widest + all_of_them + 1)
    now[widest] = 1.0
    end = widest + 1
    for k in range(sizes.size):
        size = sizes[k]
        end += size
        for x in range(widest, end):
            chance = 0.5 * (now[x] + now[x - size])
            after[x] = chance if chance > _LEAST else 0.0
        now, after = after, now
    first = widest + (all_of_them + at_least) // 2
    tail = 0.0
    for x in range(end - 1, first - 1, -1):
        tail += now[x]
    return min(tail, 1.0)


@kernel
def sign_flip_floats(differences: FloatArray, alternative: int) -> Outcome:
    """Exact sign-flip test of up to 40 differences, whatever their values.

    Parameters
    ----------
    differences : ndarray of float64, shape (G,)
        Value of a minus that of b, of each item or summed over each cluster.
    alternative : int
        ``TWO_SIDED``, ``GREATER`` (those of a are larger) or ``LESS``.

    Returns
    -------
    Outcome
        As of `sign_flip_whole`; sums that differ from T by less than 1e-12 of it, and
        what rounding may add, are as extreme. NaN and ``INVALID`` if more than
        ``SIGN_FLIP_MAX_FLOATS`` differ from 0, or one is not finite.

    Notes
    -----
    The sums of each half, sorted, meet in the middle: O(2**(G/2)).

    References
    ----------
    .. [1] E. Horowitz, S. Sahni, "Computing partitions with applications to the
       knapsack problem", Journal of the ACM 21 (1974) 277-292.

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.kernels import TWO_SIDED, sign_flip_floats
    >>> sign_flip_floats(np.array([0.3, 0.1, 0.25, -0.1, 0.4]), TWO_SIDED).pvalue
    0.1875
    """
    total = float(sum_of(differences))
    n = 0
    for g in range(differences.size):
        n += differences[g] != 0.0
    if n == 0:
        return Outcome(0.0, 1.0, DEGENERATE)
    if n > SIGN_FLIP_MAX_FLOATS or not math.isfinite(total):
        return Outcome(math.nan, math.nan, INVALID)
    sizes = np.empty(n)
    n = 0
    for g in range(differences.size):
        if differences[g] != 0.0:
            sizes[n] = abs(differences[g])
            n += 1
    if alternative == GREATER:
        tail = _float_tail(sizes, total)
    elif alternative == LESS:
        tail = _float_tail(sizes, -total)
    elif abs(total) <= _slack(total, sum_of(sizes)):
        tail = 1.0
    else:
        tail = min(1.0, 2.0 * _float_tail(sizes, abs(total)))
    return Outcome(total, tail, OK)


@kernel
def _slack(total: float, size: float) -> float:
    """By how much a sum may be less than another that it equals but for rounding."""
    return 1e-12 * abs(total) + 1e-15 * size


@kernel
def _float_tail(sizes: FloatArray, total: float) -> float:
    """Probability that the sizes with random signs sum to so much."""
    one, two = _sorted_sums(sizes[::2]), _sorted_sums(sizes[1::2])
    wanted = total - _slack(total, sum_of(sizes))
    count = 0
    j = two.size
    for i in range(one.size):
        while j > 0 and one[i] + two[j - 1] >= wanted:
            j -= 1
        count += two.size - j
    return count / (float(one.size) * two.size)


@kernel
def _sorted_sums(sizes: FloatArray) -> FloatArray:
    """Sort the sums with all signs, by merging those of half as many."""
    sums = np.zeros(1)
    for k in range(sizes.size):
        size = sizes[k]
        n = sums.size
        merged = np.empty(2 * n)
        i = j = 0
        for at in range(2 * n):
            if j == n or (i < n and sums[i] - size <= sums[j] + size):
                merged[at] = sums[i] - size
                i += 1
            else:
                merged[at] = sums[j] + size
                j += 1
        sums = merged
    return sums


@kernel
def _count_extreme(sums: FloatArray, total: float, slack: float, alternative: int) -> int:
    """Count the sums that are as extreme as the observed one."""
    count = 0
    if alternative == GREATER:
        for r in range(sums.size):
            count += sums[r] >= total - slack
    elif alternative == LESS:
        for r in range(sums.size):
            count += sums[r] <= total + slack
    else:
        for r in range(sums.size):
            count += abs(sums[r]) >= abs(total) - slack
    return count


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
