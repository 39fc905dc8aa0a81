"""Scores of negatives and positives: concordant pairs and thresholds.

All start from scores split by class and sorted. Ties are equal scores; infinities are
scores like any other; NaN must not occur.
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple

import numpy as np

from fastcmp._jit import helper, inlined, kernel
from fastcmp.kernels.rng import random_below
from fastcmp.kernels.typing import CodeArray, FloatArray, IntArray, ScoreArray

#: Counts of pairs are high * PAIR_BASE + low: n0 n1 may exceed 2**63.
PAIR_BASE: Final = 1 << 31

_LOW = PAIR_BASE - 1
_CHUNK = 1 << 20  # steps whose counts are added up before they are split in two words


class ClassCounts(NamedTuple):
    """How many scores belong to each class."""

    negatives: int
    positives: int
    #: The first sample whose score is NaN; -1 if there is none.
    first_nan: int


class Concordance(NamedTuple):
    """Pairs of a positive and a negative; a count is high * 2**31 + low."""

    concordant_high: int
    concordant_low: int
    tied_high: int
    tied_low: int


@kernel
def split_scores(scores: ScoreArray, positive: CodeArray, out: ScoreArray) -> ClassCounts:
    """Copy positives to the front and negatives, reversed, to the back.

    `out`, shape (n + 2,), has +inf behind either class. Without branches: 0.6 ns a
    sample, where a boolean mask takes 9.
    """
    n = scores.size
    p = 0
    has_nan = False
    for i in range(n):
        x = scores[i]
        out[p] = x
        out[n - (i - p)] = x
        p += int(positive[i])
        has_nan |= x != x
    out[p] = math.inf
    out[n + 1] = math.inf
    first_nan = -1
    if has_nan:
        for i in range(n):
            if math.isnan(scores[i]):
                first_nan = i
                break
    return ClassCounts(n - p, p, first_nan)


@helper
def _product(a: int, b: int) -> tuple[int, int]:
    """Multiply two counts below 2**44, in two words."""
    a_high, a_low = a >> 31, a & _LOW
    b_high, b_low = b >> 31, b & _LOW
    last = a_low * b_low
    middle = a_high * b_low + a_low * b_high
    return a_high * b_high * PAIR_BASE + middle + (last >> 31), last & _LOW


@helper
def _path(low: ScoreArray, n_low: int, high: ScoreArray, n_high: int, d: int) -> int:
    """Count how many of the first d of both are from `low`; in ties `high` is first."""
    first, last = max(0, d - n_high), min(d, n_low)
    while first < last:
        middle = (first + last) // 2
        if low[middle] < high[d - 1 - middle]:
            first = middle + 1
        else:
            last = middle
    return first


@helper
def _run_end(scores: ScoreArray, n: int, start: int) -> int:
    """Find the end of a run of equal scores, by doubling steps and bisection."""
    x, step, end = scores[start], 1, start
    while end + step < n and scores[end + step] == x:
        end += step
        step *= 2
    while step > 0:
        if end + step < n and scores[end + step] == x:
            end += step
        step //= 2
    return end + 1


@inlined
def _merge_one(
    low: ScoreArray, n_low: int, high: ScoreArray, i: int, j: int
) -> tuple[int, int, int, int]:
    """Merge one score: new positions, pairs that it closes, and tied pairs."""
    a, b = low[i], high[j]
    less = int(a < b)
    tied = _run_end(low, n_low, i) - i if a == b else 0
    return i + less, j + 1 - less, (1 - less) * (i + less), tied


@inlined
def _count_below(low: ScoreArray, n_low: int, high: ScoreArray, n_high: int) -> Concordance:
    """Count for each of `high` those of `low` below it, and those equal to it.

    A merge without branches waits for its own loads. Four merges, of quarters of the
    merged sequence, wait at the same time: 1.5 ns a sample instead of 3.7.
    """
    quarter = (n_low + n_high) // 4
    i0, j0 = 0, 0
    i1 = _path(low, n_low, high, n_high, quarter)
    i2 = _path(low, n_low, high, n_high, 2 * quarter)
    i3 = _path(low, n_low, high, n_high, 3 * quarter)
    j1, j2, j3 = quarter - i1, 2 * quarter - i2, 3 * quarter - i3
    below = lower_below = ties = lower_ties = 0
    for start in range(0, quarter, _CHUNK):
        pairs = tied = 0
        for _ in range(min(_CHUNK, quarter - start)):
            i0, j0, s0, t0 = _merge_one(low, n_low, high, i0, j0)
            i1, j1, s1, t1 = _merge_one(low, n_low, high, i1, j1)
            i2, j2, s2, t2 = _merge_one(low, n_low, high, i2, j2)
            i3, j3, s3, t3 = _merge_one(low, n_low, high, i3, j3)
            pairs += s0 + s1 + s2 + s3
            tied += t0 + t1 + t2 + t3
        below += pairs >> 31
        lower_below += pairs & _LOW
        ties += tied >> 31
        lower_ties += tied & _LOW
    for _ in range(n_low + n_high - 4 * quarter):
        i3, j3, pairs, tied = _merge_one(low, n_low, high, i3, j3)
        lower_below += pairs
        lower_ties += tied
    return Concordance(below, lower_below, ties, lower_ties)


@helper
def _has_runs(scores: ScoreArray, n: int) -> bool:
    """Whether most of 64 places in sorted scores are followed by 8 equal ones."""
    if n < 1024:
        return False
    equal = 0
    for k in range(64):
        i = k * ((n - 8) // 64)
        equal += int(scores[i] == scores[i + 8])
    return equal > 48


@inlined
def _count_by_runs(low: ScoreArray, n_low: int, high: ScoreArray, n_high: int) -> Concordance:
    """Count by runs of equal scores: heavily tied scores have few."""
    i = j = 0
    above = tied = lower_above = lower_tied = 0
    while j < n_high:
        x = high[j]
        while i < n_low and low[i] < x:
            i = _run_end(low, n_low, i)
        end = _run_end(high, n_high, j)
        upper, lower = _product(end - j, i)
        above += upper
        lower_above += lower
        if i < n_low and low[i] == x:
            upper, lower = _product(end - j, _run_end(low, n_low, i) - i)
            tied += upper
            lower_tied += lower
        j = end
    return Concordance(above, lower_above, tied, lower_tied)


@inlined
def _finite(sorted_scores: ScoreArray) -> int:
    """Count the scores below +inf, without the last entry."""
    n = sorted_scores.size - 1
    while n > 0 and sorted_scores[n - 1] == math.inf:
        n -= 1
    return n


@kernel
def concordance_sorted(negatives: ScoreArray, positives: ScoreArray) -> Concordance:
    """Count the pairs in which a positive scores higher than a negative, and the ties.

    Parameters
    ----------
    negatives : ndarray of float32 or float64, shape (n0 + 1,)
        Scores of the negatives, ascending, and +inf in one more place at the end.
    positives : ndarray like `negatives`, shape (n1 + 1,)
        The same for the positives.

    Returns
    -------
    Concordance
        Exact counts of concordant and of tied pairs.

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.kernels import concordance_sorted
    >>> negatives = np.array([0.1, 0.4, 0.4, np.inf])
    >>> concordance_sorted(negatives, np.array([0.4, 0.9, np.inf]))[1::2]
    (4, 2)
    """
    n0, n1 = _finite(negatives), _finite(positives)
    infinite_0 = negatives.size - 1 - n0
    infinite_1 = positives.size - 1 - n1
    if _has_runs(negatives, n0) and _has_runs(positives, n1):
        found = _count_by_runs(negatives, n0, positives, n1)
    else:
        found = _count_below(negatives, n0, positives, n1)
    more_high, more_low = _product(infinite_1, n0)
    both_high, both_low = _product(infinite_0, infinite_1)
    low = found.concordant_low + more_low
    tied_low = found.tied_low + both_low
    return Concordance(
        found.concordant_high + more_high + (low >> 31),
        low & _LOW,
        found.tied_high + both_high + (tied_low >> 31),
        tied_low & _LOW,
    )


@kernel
def sweep_sorted(
    negatives: ScoreArray, positives: ScoreArray, thresholds: ScoreArray, fp: IntArray, tp: IntArray
) -> int:
    """Count, for each distinct score, the samples of each class that reach it.

    Parameters
    ----------
    negatives, positives : ndarray of float32 or float64, shape (n0,) and (n1,)
        Scores of either class, ascending.
    thresholds : ndarray like `negatives`, shape (n0 + n1,)
        Receives the distinct scores, descending.
    fp, tp : ndarray of int64, shape (n0 + n1,)
        Receive the numbers of negatives and of positives that score as high or higher.

    Returns
    -------
    int
        Number of entries written.

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.kernels import sweep_sorted
    >>> negatives, positives = np.array([0.1, 0.4]), np.array([0.4, 0.9])
    >>> at, fp, tp = np.empty(4), np.empty(4, np.int64), np.empty(4, np.int64)
    >>> n = sweep_sorted(negatives, positives, at, fp, tp)
    >>> at[:n].tolist(), fp[:n].tolist(), tp[:n].tolist()
    ([0.9, 0.4, 0.1], [0, 1, 2], [1, 2, 2])
    """
    n0, n1 = negatives.size, positives.size
    i, j, n = n0 - 1, n1 - 1, 0
    while i >= 0 and j >= 0:
        a, b = negatives[i], positives[j]
        x = max(a, b)
        # Each step counts one sample; a new score begins a new entry.
        if n == 0 or thresholds[n - 1] != x:
            n += 1
        thresholds[n - 1] = x
        take = int(a == x)
        i -= take
        j -= 1 - take
        fp[n - 1] = n0 - 1 - i
        tp[n - 1] = n1 - 1 - j
    while i >= 0:
        if n == 0 or thresholds[n - 1] != negatives[i]:
            n += 1
        thresholds[n - 1] = negatives[i]
        i -= 1
        fp[n - 1] = n0 - 1 - i
        tp[n - 1] = n1 - 1 - j
    while j >= 0:
        if n == 0 or thresholds[n - 1] != positives[j]:
            n += 1
        thresholds[n - 1] = positives[j]
        j -= 1
        fp[n - 1] = n0 - 1 - i
        tp[n - 1] = n1 - 1 - j
    return n


@kernel
def placements(order: IntArray, scores: ScoreArray, positive: CodeArray, out: FloatArray) -> None:
    """Write for each sample the proportion of the other class that it ranks right with.

    For a positive that is the proportion of negatives that score lower, for a negative
    that of positives that score higher; ties count half. The mean over either class
    is the AUC.

    Parameters
    ----------
    order : ndarray of int64, shape (n,)
        Samples in ascending order of their scores.
    scores : ndarray of float32 or float64, shape (n,)
        Scores of a model.
    positive : ndarray of uint8, shape (n,)
        1 for positives, 0 for negatives.
    out : ndarray of float64, shape (n,)
        Receives the placements.

    References
    ----------
    .. [1] E. R. DeLong, D. M. DeLong, D. L. Clarke-Pearson, "Comparing the areas under
       two or more correlated receiver operating characteristic curves", Biometrics 44
       (1988) 837-845.
    .. [2] X. Sun, W. Xu, "Fast implementation of DeLong's algorithm", IEEE Signal
       Processing Letters 21 (2014) 1389-1393.

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.kernels import placements
    >>> scores, positive = np.array([0.1, 0.4, 0.4]), np.array([0, 1, 0], np.uint8)
    >>> out = np.empty(3)
    >>> placements(np.argsort(scores), scores, positive, out)
    >>> out.tolist()
    [1.0, 0.75, 0.5]
    """
    n = order.size
    n1 = 0
    for i in range(n):
        n1 += int(positive[i])
    n0 = n - n1
    # Division, not multiplication by the inverse: n of n must be exactly 1.
    all_0 = float(n0) if n0 > 0 else math.nan
    all_1 = float(n1) if n1 > 0 else math.nan
    # Gathered first: loads that wait for memory then wait together.
    ascending, flags = np.empty(n, scores.dtype), np.empty(n, np.int64)
    for k in range(n):
        ascending[k] = scores[order[k]]
        flags[k] = int(positive[order[k]])
    below_0 = below_1 = 0
    start = 0
    while start < n:
        end = start + 1
        while end < n and ascending[end] == ascending[start]:
            end += 1
        if end == start + 1:
            # No tie, and no branch on the class, which would be mispredicted.
            flag = flags[start]
            of_positive = below_0 / all_0
            of_negative = (n1 - below_1) / all_1
            out[order[start]] = flag * of_positive + (1 - flag) * of_negative
            below_0 += 1 - flag
            below_1 += flag
        else:
            ties_1 = 0
            for k in range(start, end):
                ties_1 += flags[k]
            ties_0 = end - start - ties_1
            of_positive = (below_0 + 0.5 * ties_0) / all_0
            of_negative = (n1 - below_1 - 0.5 * ties_1) / all_1
            for k in range(start, end):
                out[order[k]] = flags[k] * of_positive + (1 - flags[k]) * of_negative
            below_0 += ties_0
            below_1 += ties_1
        start = end


@kernel
def venkatraman_statistic(first: CodeArray, second: CodeArray) -> int:
    """Sum the differences between the errors of two models over all cutoffs of ranks.

    Parameters
    ----------
    first, second : ndarray of uint8, shape (n,)
        Classes of the samples in the order of each model's ranks: 1 for positives.

    Returns
    -------
    int
        Venkatraman and Begg's E: the absolute difference of the numbers of
        misclassified samples, summed over the cutoffs.

    References
    ----------
    .. [1] E. S. Venkatraman, C. B. Begg, "A distribution-free procedure for comparing
       receiver operating characteristic curves from a paired experiment", Biometrika
       83 (1996) 835-848.

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.kernels import venkatraman_statistic
    >>> a, b = np.array([0, 0, 1], np.uint8), np.array([0, 1, 0], np.uint8)
    >>> venkatraman_statistic(a, b)
    2
    """
    total = apart = 0
    for k in range(first.size):
        apart += int(first[k]) - int(second[k])
        total += abs(apart)
    return 2 * total


@kernel
def venkatraman_exchanges(
    by_rank: IntArray, positive: CodeArray, seed: int, first: int, out: IntArray
) -> None:
    """Exchange the two ranks of random samples, rank again, and compute E each time.

    Parameters
    ----------
    by_rank : ndarray of int64, shape (2, n)
        Samples in the order of each model's ranks, ties broken.
    positive : ndarray of uint8, shape (n,)
        1 for positives, 0 for negatives.
    seed, first : int
        Replicate i is a function of (seed, first + i).
    out : ndarray of int64, shape (B,)
        Receives the statistics.

    Notes
    -----
    O(n) for each exchange. If two samples get the same rank of a model, the first is
    drawn at random, as Venkatraman and Begg propose.

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.kernels import venkatraman_exchanges
    >>> by_rank, out = np.array([[0, 1, 2], [0, 2, 1]]), np.empty(5, np.int64)
    >>> venkatraman_exchanges(by_rank, np.array([0, 0, 1], np.uint8), 1, 0, out)
    >>> sorted(set(out.tolist()))
    [0, 2]
    """
    n = positive.size
    ordered = np.empty((2, n), np.uint8)
    swapped, at = np.empty(n, np.int64), np.empty(2, np.int64)
    for b in range(out.size):
        for i in range(n):
            swapped[i] = random_below(seed, first + b, i, 2)
        at[:] = 0
        for k in range(n):
            one, two = by_rank[0, k], by_rank[1, k]
            to_one, to_two = swapped[one], 1 - swapped[two]
            if random_below(seed, first + b, n + k, 2):
                one, two = two, one
                to_one, to_two = to_two, to_one
            for sample, model in ((one, to_one), (two, to_two)):
                ordered[model, at[model]] = positive[sample]
                at[model] += 1
        out[b] = venkatraman_statistic(ordered[0], ordered[1])
