"""Sign-flip tests of paired differences: is their distribution symmetric about zero?"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from fastcmp._jit import kernel, sum_of
from fastcmp.kernels.flip_words import flip_sums, random_signs
from fastcmp.kernels.paired import mcnemar_exact
from fastcmp.kernels.status import DEGENERATE, GREATER, INVALID, LESS, OK, Outcome

if TYPE_CHECKING:
    from fastcmp.kernels.typing import FloatArray, IntArray

#: Differences other than 0 that `sign_flip_floats` takes at most.
SIGN_FLIP_MAX_FLOATS: Final = 40
#: Largest sum of absolute differences that `sign_flip_whole` takes.
SIGN_FLIP_MAX_SUM: Final = 2**28

_LEAST = 1e-300  # less is slow to compute with, and adds nothing
_BLOCK = 1024  # draws


class GivenFlips(NamedTuple):
    """A sign-flip test by given signs, and how many of them are as extreme."""

    statistic: float
    pvalue: float
    n_extreme: int
    status: int


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
def sign_flip_given(differences: FloatArray, signs: IntArray, alternative: int) -> GivenFlips:
    """Sign-flip test by given signs.

    Parameters
    ----------
    differences : ndarray of float64, shape (G,)
        Value of a minus that of b, of each item or summed over each cluster.
    signs : ndarray of int64, shape (R, G)
        1 or -1 for each, a row a draw.
    alternative : int
        ``TWO_SIDED``, ``GREATER`` (those of a are larger) or ``LESS``.

    Returns
    -------
    GivenFlips
        The sum T of the differences, p = (count + 1) / (R + 1), the count of draws that
        are as extreme, and the status: ``DEGENERATE`` if all differences are 0, with p
        = 1; ``INVALID`` with NaN if one is not finite.

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.kernels import TWO_SIDED, sign_flip_given
    >>> signs = np.array([[1, 1, -1], [-1, 1, 1], [-1, -1, -1]])
    >>> sign_flip_given(np.array([3.0, 1.0, 2.0]), signs, TWO_SIDED).pvalue
    0.5
    """
    n = signs.shape[0]
    size = float(sum_of(np.abs(differences)))
    if not math.isfinite(size):
        return GivenFlips(math.nan, math.nan, 0, INVALID)
    total = float(sum_of(differences))
    out = np.zeros(n)
    for r in range(n):
        for g in range(differences.size):
            out[r] += signs[r, g] * differences[g]
    count = _count_extreme(out, total, _slack(total, size), alternative)
    status = OK if size > 0 else DEGENERATE
    return GivenFlips(total, (count + 1) / (n + 1.0), count, status)


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


@kernel
def sign_flip_random(
    differences: FloatArray, n_resamples: int, seed: int, alternative: int
) -> Outcome:
    """Sign-flip test by random signs.

    Parameters
    ----------
    differences : ndarray of float64, shape (G,)
        Value of a minus that of b, of each item or summed over each cluster.
    n_resamples, seed : int
        Draw r of R is a function of (seed, r).
    alternative : int
        ``TWO_SIDED``, ``GREATER`` (those of a are larger) or ``LESS``.

    Returns
    -------
    Outcome
        As of `sign_flip_given`.

    References
    ----------
    .. [1] B. Phipson, G. K. Smyth, "Permutation p-values should never be zero",
       Statistical Applications in Genetics and Molecular Biology 9 (2010) 39.

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.kernels import TWO_SIDED, sign_flip_random
    >>> differences = np.array([3.0, 1.0, 2.0, -1.0, 4.0])
    >>> sign_flip_random(differences, 9999, 1, TWO_SIDED).pvalue
    0.1916
    """
    total = float(sum_of(differences))
    size = float(sum_of(np.abs(differences)))
    slack = _slack(total, size)
    if not math.isfinite(total) or n_resamples < 1:
        return Outcome(math.nan, math.nan, INVALID)
    values = np.empty((differences.size, 1))
    values[:, 0] = differences
    count = 0
    for first in range(0, n_resamples, _BLOCK):
        n = min(_BLOCK, n_resamples - first)
        words = np.empty(((differences.size + 63) // 64, n), np.uint64)
        random_signs(seed, first, 0, words)
        out = np.empty((1, n))
        flip_sums(values, words, out)
        count += _count_extreme(out[0], total, slack, alternative)
    status = OK if size > 0 else DEGENERATE
    return Outcome(total, (count + 1) / (n_resamples + 1.0), status)
