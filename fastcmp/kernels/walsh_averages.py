"""The Hodges-Lehmann estimate: order statistics of averages of two, none listed."""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from fastcmp._jit import kernel
from fastcmp.kernels.special import ndtri, square
from fastcmp.kernels.typing import FloatArray, IntArray

_EXACT_QUANTILE: Final = 120  # differences; above, the expansion is as good
_FEW: Final = 8  # sums that are listed
_MANY: Final = 8000  # numbers; of more, some are looked at first


@kernel
def signed_rank_quantile(probability: float, n: int) -> int:
    """Quantile of Wilcoxon's sum of the ranks of positive differences, without ties.

    Parameters
    ----------
    probability : float
        In (0, 0.5].
    n : int
        Differences, 1 or more.

    Returns
    -------
    int
        The least q with P(W <= q) >= `probability`, as R's ``qsignrank``; above 120
        differences by an expansion, which was the same wherever it was compared.

    Examples
    --------
    >>> from fastcmp.kernels import signed_rank_quantile
    >>> signed_rank_quantile(0.025, 12)
    14
    """
    if n > _EXACT_QUANTILE:
        return _expanded_quantile(probability, float(n))
    limit = n * (n + 1) // 4
    chance = np.zeros(limit + 1)
    chance[0] = 1.0
    for rank in range(1, n + 1):
        for s in range(limit, rank - 1, -1):
            chance[s] = 0.5 * (chance[s] + chance[s - rank])
        for s in range(min(rank, limit + 1)):
            chance[s] *= 0.5
    below = 0.0
    for q in range(limit + 1):
        below += chance[q]
        if below >= probability - 1e-14:
            return q
    return limit


@kernel
def _expanded_quantile(probability: float, n: float) -> int:
    """Expand about the normal quantile, after Cornish and Fisher.

    With the cumulants of the sum and a uniform number in (-1/2, 1/2), whose
    distribution function at q + 1/2 is that of the sum at q.
    """
    squares = n * (n + 1.0) * (2.0 * n + 1.0) / 6.0
    fourth = squares * (3.0 * n * n + 3.0 * n - 1.0) / 5.0
    sixth = squares * (3.0 * square(square(n)) + 6.0 * (n * square(n)) - 3.0 * n + 1.0) / 7.0
    variance = 0.25 * squares + 1.0 / 12.0
    k4 = -0.125 * fourth / square(variance)
    k6 = 0.25 * sixth / (variance * square(variance))
    z = ndtri(probability)
    w = z * z
    bend = k4 / 24.0 * (w - 3.0) + k6 / 720.0 * (w * w - 10.0 * w + 15.0)
    bend -= k4 * k4 / 384.0 * (3.0 * w * w - 24.0 * w + 29.0)
    x = 0.25 * n * (n + 1.0) + z * (1.0 + bend) * math.sqrt(variance)
    return max(0, math.ceil(x - 0.5))


@kernel
def _distinct(ascending: FloatArray) -> tuple[FloatArray, IntArray]:
    """List distinct values, and how many numbers are at most as large as each."""
    n, m = ascending.size, 0
    values, upto = np.empty(n), np.empty(n, np.int64)
    for i in range(n):
        if i + 1 == n or ascending[i + 1] != ascending[i]:
            values[m], upto[m] = ascending[i], i + 1
            m += 1
    return values[:m], upto[:m]


@kernel
def _select(values: FloatArray, upto: IntArray, k: int) -> float:
    """Select the k-th smallest sum of two."""
    n, m = upto[-1], values.size
    low, high = 2.0 * float(values[0]), 2.0 * float(values[m - 1])
    below, above = upto[0] * (upto[0] + 1) // 2, n * (n + 1) // 2
    if below >= k:
        return low
    if m > _MANY:
        low, high, below, above = _bracket(values, upto, k, (low, high, below, above))
    return _narrowed(values, upto, k, (low, high, below, above))


@kernel
def _bracket(
    values: FloatArray, upto: IntArray, k: int, known: tuple[float, float, int, int]
) -> tuple[float, float, int, int]:
    """Bracket the k-th sum by those of some of the numbers."""
    low, high, below, above = known
    step = max(16, values.size // _MANY)
    some = values[step // 2 :: step].copy()
    ranks = np.arange(1, some.size + 1)
    both = some.size * (some.size + 1) // 2
    place = int(k / above * both)
    for shift in (-1, 1):
        # The two distribution functions differ by about one number, or less.
        near = min(max(place + shift * some.size // 2, 1), both)
        x = 2.0 * some[0]
        if near > 1:
            x = _narrowed(some, ranks, near, (x, 2.0 * some[-1], 1, both))
        count = _count(values, upto, x)
        if count >= k and x < high:
            high, above = x, count
        elif count < k and x > low:
            low, below = x, count
    return low, high, below, above


@kernel
def _narrowed(
    values: FloatArray, upto: IntArray, k: int, known: tuple[float, float, int, int]
) -> float:
    """Select the k-th sum between two: by the Illinois method, and halving at times."""
    low, high, below, above = known
    # Always below = count(low) < k <= count(high) = above.
    left, right = below - k + 0.5, above - k + 0.5
    side = step = 0
    enough = max(_FEW, values.size // 16)
    while above - below > enough:
        step += 1
        # Where many sums are tied, halving alone takes long.
        enough = min(enough + enough // 4, 16 * values.size)
        part = left / (left - right) if step % 8 else 0.5
        middle = low + part * (high - low)
        if not low < middle < high:
            middle = low + 0.5 * (high - low)
            if not low < middle < high:
                return high
        count = _count(values, upto, middle)
        if count >= k:
            high, above, right = middle, count, count - k + 0.5
            left *= 0.5 if side > 0 else 1.0
            side = 1
        else:
            low, below, left = middle, count, count - k + 0.5
            right *= 0.5 if side < 0 else 1.0
            side = -1
    return _listed(values, upto, k - below, (low, high, above - below))


@kernel
def _listed(values: FloatArray, upto: IntArray, k: int, known: tuple[float, float, int]) -> float:
    """Select the k-th sum above one number and up to another, by listing them."""
    low, high, n_sums = known
    n_sums = min(n_sums, values.size * (values.size + 1) // 2)
    sums, times = np.empty(n_sums), np.empty(n_sums, np.int64)
    n, m = values.size, 0
    first = n
    for i in range(n):
        while first > i and values[i] + values[first - 1] > low:
            first -= 1
        j = max(i, first)
        while j < n and values[i] + values[j] <= high:
            sums[m] = values[i] + values[j]
            own = upto[i] - (upto[i - 1] if i else 0)
            other = upto[j] - (upto[j - 1] if j else 0)
            times[m] = own * other if i < j else own * (own + 1) // 2
            m += 1
            j += 1
    order = np.argsort(sums[:m])
    for each in order:
        k -= times[each]
        if k <= 0:
            return sums[each]
    return math.nan


@kernel
def _count(values: FloatArray, upto: IntArray, x: float) -> int:
    """Count sums of two numbers, or of one with itself, of at most x."""
    count, before, j = 0, 0, values.size - 1
    for i in range(values.size):
        while j >= i and values[i] + values[j] > x:
            j -= 1
        if j < i:
            break
        own = upto[i] - before
        count += own * (upto[j] - upto[i]) + own * (own + 1) // 2
        before = upto[i]
    return count


@kernel
def _next(values: FloatArray, x: float) -> float:
    """Find the smallest sum above x."""
    n = values.size
    least, j = math.inf, n
    for i in range(n):
        while j > i and values[i] + values[j - 1] > x:
            j -= 1
        if max(i, j) < n:
            least = min(least, values[i] + values[max(i, j)])
    return least


@kernel
def hodges_lehmann(
    ascending: FloatArray, confidence_level: float = 0.95
) -> tuple[float, float, float]:
    """Estimate the centre of symmetric differences by the median of Walsh averages.

    Parameters
    ----------
    ascending : ndarray of float64, shape (n,)
        The differences, sorted.
    confidence_level : float, optional
        Of the interval, in (0, 1).

    Returns
    -------
    tuple of float
        The estimate and both ends of the interval, order statistics of the Walsh
        averages: those from the q-th on and up to the q-th last, q the quantile of
        Wilcoxon's sum and at least 1. NaN without differences.

    References
    ----------
    .. [1] J. L. Hodges, E. L. Lehmann, "Estimates of location based on rank tests",
       Annals of Mathematical Statistics 34 (1963) 598-611.

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.kernels import hodges_lehmann
    >>> hodges_lehmann(np.array([-1.0, 0.5, 1.0, 2.0, 3.0, 4.0]), 0.9)
    (1.5, 0.0, 3.0)
    """
    n = ascending.size
    if n == 0 or not 0.0 < confidence_level < 1.0:
        return math.nan, math.nan, math.nan
    q = max(1, signed_rank_quantile(0.5 - 0.5 * confidence_level, n))
    return _centre_and_limits(ascending, q)


@kernel
def hodges_lehmann_rows(ascending: FloatArray, confidence_level: float, out: FloatArray) -> None:
    """Estimate by `hodges_lehmann` for each of P sorted rows; out has shape (P, 3)."""
    n = ascending.shape[1]
    q = max(1, signed_rank_quantile(0.5 - 0.5 * confidence_level, n))
    for p in range(ascending.shape[0]):
        out[p, 0], out[p, 1], out[p, 2] = _centre_and_limits(ascending[p], q)


@kernel
def _centre_and_limits(ascending: FloatArray, q: int) -> tuple[float, float, float]:
    n = ascending.size
    values, upto = _distinct(ascending)
    both = n * (n + 1) // 2
    middle = upper = _select(values, upto, (both + 1) // 2)
    if both % 2 == 0 and _count(values, upto, middle) < both // 2 + 1:
        upper = _next(values, middle)
    low, high = _select(values, upto, q), _select(values, upto, both + 1 - q)
    return 0.25 * (middle + upper), 0.5 * low, 0.5 * high
