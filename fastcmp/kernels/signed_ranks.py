"""Wilcoxon's signed ranks: their sums, exact and normal tails.

Ranks are doubled, so that midranks are whole numbers. Differences are sorted once, with
their signs in the last bit of their sizes; callers from Python sort with NumPy, which
is faster than what is compiled here.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any, Final

import numpy as np

from fastcmp._jit import kernel, look_at_clock, sum_of, wide_vectors
from fastcmp.kernels.dirichlet import _SCALE, _12, random_exponentials, random_gamma
from fastcmp.kernels.rng import _word
from fastcmp.kernels.sign_flips import _common_divisor
from fastcmp.kernels.special import _ndtri, normal_pvalue
from fastcmp.kernels.status import GREATER, LESS
from fastcmp.kernels.typing import CodeArray, FloatArray, IntArray

#: What is done with differences of 0: dropped; ranked and then dropped; halved.
WILCOX: Final = 0
PRATT: Final = 1
ZSPLIT: Final = 2
_TABLED: Final = 64  # ranks, up to which distributions of their sum are kept
_EPSILON: Final = 2.0**-52
_MOST_DECIMALS: Final = 12


@kernel
def decimal_scale(values: FloatArray) -> float:
    """The least power of ten that makes values, (n,), whole numbers below 1e12; 0 for none.

    Whole up to the rounding of one product.
    """
    scale = 1.0
    for _ in range(_MOST_DECIMALS + 1):
        whole = True
        for i in range(values.size):
            scaled = values[i] * scale
            if not abs(scaled) < 1e12:
                return 0.0
            nearest = float(math.floor(scaled + 0.5))
            if not abs(scaled - nearest) <= 2.0 * _EPSILON * abs(nearest):
                whole = False
                break
        if whole:
            return scale
        scale *= 10.0
    return 0.0


@kernel
def pack_signs(differences: FloatArray, packed: FloatArray) -> None:
    """Write sizes whose last bit is the sign, to be sorted."""
    bits = np.abs(differences).view(np.int64)
    out = packed.view(np.int64)
    for i in range(bits.size):
        out[i] = (bits[i] & -2) | (1 if differences[i] > 0.0 else 0)


@kernel
def pack_pairs(values: FloatArray, pairs: CodeArray, packed: FloatArray) -> None:
    """Write what `pack_signs` does, of the differences of pairs of rows, shape (P, n)."""
    out = packed.view(np.int64)
    for p in range(pairs.shape[0]):
        a, b = values[pairs[p, 0]], values[pairs[p, 1]]
        row = packed[p]
        for i in range(a.size):
            row[i] = a[i] - b[i]
        bits = out[p]
        for i in range(a.size):
            # Above 0: neither the bit of the sign nor all bits are 0.
            positive = 1 if bits[i] > 0 else 0
            bits[i] = (bits[i] & 0x7FFFFFFFFFFFFFFE) | positive


@kernel
def sums_of_sorted(
    ordered: FloatArray, tolerance: float, zero_method: int
) -> tuple[int, int, float]:
    """Sum the ranks of what `pack_signs` made, ascending.

    Gives the number of zeros, twice the sum of the ranks of what is positive, and the
    sum of t**3 - t over ties of t.
    """
    signs = ordered.view(np.int64)
    n = ordered.size
    start = 0
    while start < n and ordered[start] <= tolerance:
        start += 1
    zeros = start
    shift = 1 if zero_method != WILCOX else 1 - 2 * zeros
    twice = 0
    ties = 0.0
    tied = 0
    for i in range(start + 1, n):
        tied += 1 if ordered[i] - ordered[i - 1] <= tolerance else 0
    if tied == 0:  # four times as fast
        for i in range(start, n):
            twice += (signs[i] & 1) * (2 * i + 1 + shift)
        return zeros, twice, ties
    while start < n:
        end, positive = start + 1, signs[start] & 1
        while end < n and ordered[end] - ordered[end - 1] <= tolerance:
            positive += signs[end] & 1
            end += 1
        twice += positive * (start + end + shift)
        t = float(end - start)
        ties += t * t * t - t
        start = end
    return zeros, twice, ties


@kernel
def ranks_of_sorted(
    ordered: FloatArray, tolerance: float, zero_method: int, ranks: IntArray
) -> int:
    """Write twice the rank of each difference, ascending by size, and 0 for zeros.

    Gives the number of zeros.
    """
    n = ordered.size
    start = 0
    while start < n and ordered[start] <= tolerance:
        ranks[start] = 0
        start += 1
    zeros = start
    shift = 1 if zero_method != WILCOX else 1 - 2 * zeros
    while start < n:
        end = start + 1
        while end < n and ordered[end] - ordered[end - 1] <= tolerance:
            end += 1
        ranks[start:end] = start + end + shift
        start = end
    return zeros


@kernel
def sums_of_counts(counts: IntArray, zero_method: int) -> tuple[int, int, float]:
    """Sum ranks as `sums_of_sorted` does, from counts of the differences -K, ..., K."""
    reach = counts.size // 2
    zeros = counts[reach]
    start = zeros
    shift = 1 if zero_method != WILCOX else 1 - 2 * zeros
    twice = 0
    ties = 0.0
    for k in range(1, reach + 1):
        positive = counts[reach + k]
        both = positive + counts[reach - k]
        twice += positive * (2 * start + both + shift)
        t = float(both)
        ties += t * t * t - t
        start += both
    return zeros, twice, ties


@kernel
def signed_rank_z(
    zeros: int,
    twice_plus: int,
    ties: float,
    n: int,
    zero_method: int,
    continuity: bool,
    alternative: int = 0,
) -> tuple[float, float, float]:
    """Compare Wilcoxon's sum of ranks with the normal distribution.

    Parameters
    ----------
    zeros : int
        Differences of 0.
    twice_plus : int
        Twice the sum of the ranks of those above 0.
    ties : float
        Sum of t**3 - t over groups of t tied sizes that are not 0.
    n : int
        All differences.
    zero_method : int
        ``WILCOX`` (0): zeros are dropped. ``PRATT`` (1): they are ranked, and then
        dropped. ``ZSPLIT`` (2): they are ranked, and half of them count as positive.
    continuity : bool
        Whether to correct by one half of a rank.
    alternative : int, optional
        ``TWO_SIDED`` (0), ``GREATER`` (1) or ``LESS`` (-1): where the correction goes.

    Returns
    -------
    tuple of float
        The sums of the positive and of the negative ranks, and z; 0 where nothing but
        zeros is left.

    Notes
    -----
    As SciPy's: with ``ZSPLIT`` the variance contains what the zeros would add to it.

    References
    ----------
    .. [1] E. E. Cureton, "The normal approximation to the signed-rank sampling
       distribution when zero differences are present", Journal of the American
       Statistical Association 62 (1967) 1068-1069.

    Examples
    --------
    >>> from fastcmp.kernels import WILCOX, signed_rank_z
    >>> w_plus, w_minus, z = signed_rank_z(0, 86, 0.0, 12, WILCOX, False)
    >>> w_plus, w_minus, round(z, 4)
    (43.0, 35.0, 0.3138)
    """
    z0 = float(zeros)
    m = float(n) - z0 if zero_method == WILCOX else float(n)
    w_plus = 0.5 * twice_plus
    total = 0.5 * m * (m + 1.0)
    variance = m * (m + 1.0) * (2.0 * m + 1.0) / 24.0
    if zero_method == PRATT:
        total -= 0.5 * z0 * (z0 + 1.0)
        variance -= z0 * (z0 + 1.0) * (2.0 * z0 + 1.0) / 24.0
    elif zero_method == ZSPLIT:
        w_plus += 0.25 * z0 * (z0 + 1.0)
        ties += z0 * z0 * z0 - z0
    variance -= ties / 48.0
    above = w_plus - 0.5 * total
    if zeros == n or not variance > 0.0:
        return w_plus, total - w_plus, 0.0
    if continuity:
        if alternative == GREATER or (alternative != LESS and above > 0.0):
            above -= 0.5
        elif alternative == LESS or above < 0.0:
            above += 0.5
    return w_plus, total - w_plus, above / math.sqrt(variance)


@kernel
def signed_sum_pvalue(sums: IntArray, alternative: int = 0) -> float:
    """Test exactly whether signed whole numbers are as often above 0 as below.

    Parameters
    ----------
    sums : ndarray of int64, shape (G,)
        Doubled signed ranks, or their sums by clusters; zeros do not matter.
    alternative : int, optional
        ``TWO_SIDED`` (0), ``GREATER`` (1) or ``LESS`` (-1).

    Returns
    -------
    float
        The proportion of all 2**G choices of signs with a sum as extreme.

    Notes
    -----
    By dynamic programming over the values of the sum, in O(G S) steps and O(S) memory
    for sizes that add up to S after a common divisor is taken out; where that is more,
    by all signs in turn.

    References
    ----------
    .. [1] B. Streitberg, J. Roehmel, "Exact distributions for permutation and rank
       tests", Statistical Software Newsletter 12 (1986) 10-17.

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.kernels import signed_sum_pvalue
    >>> signed_sum_pvalue(np.array([8, 42, -2, -4, 16, 20]))
    0.125
    """
    sizes = np.abs(sums[sums != 0])
    total = sum_of(sizes)
    positive = 0
    for value in sums:
        if value > 0:
            positive += value
    negative = total - positive
    # The distribution is symmetric: P(K >= k) = P(K <= total - k).
    if alternative == GREATER:
        return _kept_at_most(sizes, negative)
    if alternative == LESS:
        return _kept_at_most(sizes, positive)
    return min(1.0, 2.0 * _kept_at_most(sizes, min(positive, negative)))


@kernel
def signed_sum_steps(sums: IntArray) -> float:
    """Bound the steps that `signed_sum_pvalue` takes."""
    sizes = np.abs(sums[sums != 0])
    if sizes.size == 0:
        return 1.0
    by_sums = sum_of(sizes) / max(_common_divisor(sizes), 1) * sizes.size
    return min(float(by_sums), math.pow(2.0, min(sizes.size, 1000)))


@kernel
def _kept_at_most(sizes: IntArray, limit: int) -> float:
    """P(the sum of sizes, each kept with probability 1/2, is at most limit)."""
    divisor = max(_common_divisor(sizes), 1)
    limit //= divisor
    if limit * float(sizes.size) > math.pow(2.0, min(sizes.size, 1000)):
        return _enumerated(sizes, limit * divisor)
    chance = np.zeros(limit + 1)
    chance[0] = 1.0
    reached = 0
    for size in sizes:
        step = size // divisor
        reached = min(reached + step, limit)
        for s in range(reached, step - 1, -1):
            chance[s] = 0.5 * (chance[s] + chance[s - step])
        for s in range(min(step, reached + 1)):
            chance[s] *= 0.5
    return min(1.0, float(sum_of(chance)))


@kernel
def _enumerated(sizes: IntArray, limit: int) -> float:
    """Compute `_kept_at_most` by enumerating all subsets, in the order of Gray's code."""
    kept = np.zeros(sizes.size, np.uint8)
    total = 0
    count = 1 if limit >= 0 else 0
    n = 1 << sizes.size
    for i in range(1, n):
        k = 0
        while not (i >> k) & 1:
            k += 1
        total += -sizes[k] if kept[k] else sizes[k]
        kept[k] = 1 - kept[k]
        if total <= limit:
            count += 1
    return count / n


@kernel
def _add_chances(m: int, out: FloatArray) -> None:
    """Write P(W <= w), w = 0, 1, ..., of the sum of the positive of m ranks without ties."""
    out[:] = 0.0
    out[0] = 1.0
    reached = 0
    for rank in range(1, m + 1):
        reached += rank
        for w in range(reached, rank - 1, -1):
            out[w] = 0.5 * (out[w] + out[w - rank])
        for w in range(rank):
            out[w] *= 0.5
    for w in range(1, reached + 1):
        out[w] += out[w - 1]


@kernel
def sorted_rows_tests(
    ordered: FloatArray,
    tolerances: FloatArray,
    options: tuple[int, bool, bool, int],
    out: FloatArray,
) -> None:
    """Test differences of many pairs, each row from `pack_signs` and sorted, NaN at its end.

    `options` are the method for zeros, whether to be exact, the correction, and the alternative.
    Rows of `out`, shape (P, 5): statistic, W+ or z, p-value, W+, W-, z; NaN without differences.
    """
    zero_method, exact, continuity, alternative = options
    ranks = np.empty(ordered.shape[1], np.int64)
    most = min(ordered.shape[1], _TABLED) if exact else 0
    chances = np.full((most + 1, most * (most + 1) // 2 + 1), math.nan)
    for p in range(ordered.shape[0]):
        row = ordered[p]
        n = row.size
        while n > 0 and math.isnan(row[n - 1]):
            n -= 1
        if n == 0:
            out[p] = math.nan
            continue
        row = row[:n]
        zeros, twice, ties = sums_of_sorted(row, tolerances[p], zero_method)
        w_plus, w_minus, z = signed_rank_z(
            zeros, twice, ties, n, zero_method, continuity, alternative
        )
        out[p, 0], out[p, 1] = z, 1.0 if zeros == n else normal_pvalue(z, alternative)
        out[p, 2], out[p, 3], out[p, 4] = w_plus, w_minus, z
        if not exact:
            continue
        out[p, 0], m = w_plus, n - zeros
        if ties == 0.0 and m <= most and (zeros == 0 or zero_method == WILCOX):
            if math.isnan(chances[m, 0]):
                _add_chances(m, chances[m])
            below = chances[m, int(w_minus)], chances[m, int(w_plus)]
            if alternative in (GREATER, LESS):
                out[p, 1] = below[0] if alternative == GREATER else below[1]
            else:
                out[p, 1] = min(1.0, 2.0 * min(below))
            continue
        ranks_of_sorted(row, tolerances[p], zero_method, ranks)
        signs = row.view(np.int64)
        for i in range(n):
            if not signs[i] & 1:
                ranks[i] = -ranks[i]
        out[p, 1] = signed_sum_pvalue(ranks[:n], alternative)


@kernel
def coded_pairs_tests(
    codes: CodeArray, pairs: CodeArray, reach: int, options: tuple[int, bool], out: FloatArray
) -> None:
    """Test pairs of models whose values are whole numbers, shape (M, n), by counting.

    `reach` is the largest difference; `options` are the method for zeros and the
    correction; `out`, shape (P, 2), receives z and the two-sided p-value.
    """
    zero_method, continuity = options
    n = codes.shape[1]
    counts = np.empty(2 * reach + 1, np.int64)
    for p in range(pairs.shape[0]):
        a, b = codes[pairs[p, 0]], codes[pairs[p, 1]]
        counts[:] = 0
        for i in range(n):
            counts[reach + int(a[i]) - int(b[i])] += 1
        zeros, twice, ties = sums_of_counts(counts, zero_method)
        z = signed_rank_z(zeros, twice, ties, n, zero_method, continuity)[2]
        out[p, 0], out[p, 1] = z, normal_pvalue(z, 0)


# Draws of the Bayesian signed-rank test, many at a time.
#
# With weights w of the tasks, the part of a is the sum of w_i w_j over the pairs (i, j)
# whose differences add up to more than twice the rope. In ascending order of the
# differences these j are an end of the order for each i, so that one draw takes a sum
# over i of w_i times a sum of the last weights: O(D).

_LANES: Final = 32  # draws at once


@kernel
def pairs_above(ordered: FloatArray, sums: tuple[float, float], first: IntArray) -> None:
    """Find for each number the first of which the sum with it is large, in two ways.

    `ordered` ascends, shape (n,); `first`, shape (2, n), receives where the sum first
    exceeds `sums[0]`, and `sums[1]`, n for nowhere.
    """
    n = ordered.size
    for way in range(2):
        j = n
        for i in range(n):
            while j > 0 and ordered[i] + ordered[j - 1] > sums[way]:
                j -= 1
            first[way, i] = j


def _draws_by_numpy(
    order: IntArray,
    above: IntArray,
    below: IntArray,
    prior: float,
    draws: tuple[int, int, int],
    counts: FloatArray,
) -> None:
    """As `signed_rank_draws`."""
    seed, first, n_draws = draws
    n = order.shape[1]
    counts[:] = 0.0
    for start in range(0, n_draws, 4096):
        size = min(4096, n_draws - start)
        weights = np.empty((n, size))
        random_exponentials(seed, first + start, 0, weights[: n - 1])
        if prior == 0.5:  # as `random_gamma`
            replicates: Any = first + start + np.arange(size)
            words = _word(seed, replicates, n - 1)
            z: Any = _ndtri(((words >> _12).astype(np.float64) + 0.5) * _SCALE, 0)
            weights[n - 1] = 0.5 * z * z
        else:
            for r in range(size):
                weights[n - 1, r] = random_gamma(prior, seed, first + start + r, n - 1)
        for p in range(order.shape[0]):
            look_at_clock(n * size)
            own = weights[order[p]]
            sums = np.add.accumulate(np.vstack([np.zeros(size), own]))
            up = sums[n] - 0.5 * (sums[above[p, 0]] + sums[above[p, 1]])
            down = 0.5 * (sums[below[p, 0]] + sums[below[p, 1]])
            a = np.add.accumulate(own * up)[-1]
            b = np.add.accumulate(own * down)[-1]
            rope = sums[n] * sums[n] - a - b
            tied = ~((a > b) | (b > a))
            a_most, b_most = (a >= b) & (a > rope), (b > a) & (b > rope)
            half = 0.5 * np.count_nonzero(tied & a_most)
            counts[p, 0] += np.count_nonzero(a_most) - half
            counts[p, 1] += np.count_nonzero(~(a_most | b_most))
            counts[p, 2] += np.count_nonzero(b_most) + half
            counts[p, 3] += np.count_nonzero(a > b) + 0.5 * np.count_nonzero(tied)


@partial(kernel, by_numpy=_draws_by_numpy)
def signed_rank_draws(
    order: IntArray,
    above: IntArray,
    below: IntArray,
    prior: float,
    draws: tuple[int, int, int],
    counts: FloatArray,
) -> None:
    """Count the draws in which a, the rope or b is largest, for P pairs of models.

    Parameters
    ----------
    order : ndarray of int64, shape (P, D + 1)
        Tasks by ascending difference; D is the task of the prior.
    above : ndarray of int64, shape (P, 2, D + 1)
        For each of them from where on the sum of the two differences is above twice the
        rope, and at it or above: half of the weight between counts.
    below : ndarray of int64, shape (P, 2, D + 1)
        Up to where, exclusive, it is below minus twice the rope, and at it or below.
    prior : float
        Weight of the task of the prior; 0 for none.
    draws : tuple of int
        Seed, first draw, and how many. Draw i is a function of (seed, i).
    counts : ndarray of float64, shape (P, 4)
        Receives in how many draws a, the rope and b have the largest part, and a has
        more than b; half a draw where they have the same.
    """
    seed, first, n_draws = draws
    n = order.shape[1]
    lanes = _LANES
    weights = np.empty((n, lanes))
    sums = np.empty((n + 1, lanes))
    parts = np.empty((2, lanes))
    counts[:] = 0.0
    for start in range(0, n_draws, lanes):
        size = min(lanes, n_draws - start)
        random_exponentials(seed, first + start, 0, weights[: n - 1])
        for r in range(lanes):
            weights[n - 1, r] = random_gamma(prior, seed, first + start + r, n - 1)
        for p in range(order.shape[0]):
            _sum_parts(order[p], above[p], below[p], weights, sums, parts)
            for r in range(size):
                a, b, total = parts[0, r], parts[1, r], sums[n, r]
                _count(a, total * total - a - b, b, counts[p])


@kernel
def _sum_parts(
    order: IntArray,
    above: IntArray,
    below: IntArray,
    weights: FloatArray,
    sums: FloatArray,
    parts: FloatArray,
) -> None:
    """Compute twice-weighted parts of a and b, not divided by the squared total."""
    wide_vectors()
    n, lanes = order.size, _LANES
    for r in range(lanes):
        sums[0, r] = 0.0
        parts[0, r] = parts[1, r] = 0.0
    for i in range(n):
        task = order[i]
        for r in range(lanes):
            sums[i + 1, r] = sums[i, r] + weights[task, r]
    for i in range(n):
        task = order[i]
        high, reached = above[0, i], above[1, i]
        low, touched = below[0, i], below[1, i]
        if high == reached and low == touched:
            for r in range(lanes):
                own = weights[task, r]
                parts[0, r] += own * (sums[n, r] - sums[high, r])
                parts[1, r] += own * sums[low, r]
        else:
            for r in range(lanes):
                up = sums[n, r] - 0.5 * (sums[high, r] + sums[reached, r])
                down = 0.5 * (sums[low, r] + sums[touched, r])
                parts[0, r] += weights[task, r] * up
                parts[1, r] += weights[task, r] * down


@kernel
def _count(a: float, rope: float, b: float, counts: FloatArray) -> None:
    """Count one draw."""
    if a > b:
        counts[3] += 1.0
        counts[0 if a > rope else 1] += 1.0
    elif b > a:
        counts[2 if b > rope else 1] += 1.0
    else:
        counts[3] += 0.5
        if a > rope:
            counts[0] += 0.5
            counts[2] += 0.5
        else:
            counts[1] += 1.0
