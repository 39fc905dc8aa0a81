"""The Hodges-Lehmann estimate: order statistics of averages of two, none listed."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import numpy as np

from fastcmp._jit import kernel
from fastcmp.kernels.special import ndtri

if TYPE_CHECKING:
    from fastcmp.kernels.typing import FloatArray

_EXACT_QUANTILE: Final = 300  # differences; above, the expansion is as good
_FEW: Final = 8  # Walsh averages that are walked through one by one


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
        The least q with P(W <= q) >= `probability`, as R's ``qsignrank``; above 300
        differences by an expansion with the fourth cumulant.

    Examples
    --------
    >>> from fastcmp.kernels import signed_rank_quantile
    >>> signed_rank_quantile(0.025, 12)
    14
    """
    if n > _EXACT_QUANTILE:
        x = float(n)
        sigma = math.sqrt(x * (x + 1.0) * (2.0 * x + 1.0) / 24.0)
        fourth = x * (x + 1.0) * (2.0 * x + 1.0) * (3.0 * x * x + 3.0 * x - 1.0) / 30.0
        excess = -0.125 * fourth / sigma**4
        z = ndtri(probability)
        z += (z * z * z - 3.0 * z) * excess / 24.0
        return max(0, math.ceil(0.25 * x * (x + 1.0) + z * sigma - 0.5))
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
def walsh_average(ascending: FloatArray, k: int) -> float:
    """Select an average of two of n numbers, or of one with itself.

    Parameters
    ----------
    ascending : ndarray of float64, shape (n,)
        The numbers, sorted.
    k : int
        Which one: 1 for the smallest, n (n + 1) / 2 for the largest.

    Returns
    -------
    float
        The k-th smallest of (x_i + x_j) / 2 with i <= j; exact, by bisection and
        counting in O(n log n). NaN if there is no such one.

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.kernels import walsh_average
    >>> [walsh_average(np.array([1.0, 2.0, 6.0]), k) for k in range(1, 7)]
    [1.0, 1.5, 2.0, 3.5, 4.0, 6.0]
    """
    n = ascending.size
    if n == 0 or k < 1 or k > n * (n + 1) // 2:
        return math.nan
    low, high = 2.0 * ascending[0], 2.0 * ascending[n - 1]
    below, upto = _count_walsh(ascending, low), n * (n + 1) // 2
    if below >= k:
        return 0.5 * low
    # Always below = count(low) < k <= count(high) = upto.
    while upto - below > _FEW:
        middle = low + 0.5 * (high - low)
        if not low < middle < high:
            break
        count = _count_walsh(ascending, middle)
        if count >= k:
            high, upto = middle, count
        else:
            low, below = middle, count
    while below < k:
        low = _next_walsh(ascending, low)
        below = _count_walsh(ascending, low)
    return 0.5 * low


@kernel
def _count_walsh(ascending: FloatArray, x: float) -> int:
    """Count pairs i <= j with a sum of at most x."""
    count, j = 0, ascending.size - 1
    for i in range(ascending.size):
        while j >= i and ascending[i] + ascending[j] > x:
            j -= 1
        if j < i:
            break
        count += j - i + 1
    return count


@kernel
def _next_walsh(ascending: FloatArray, x: float) -> float:
    """Find the smallest sum above x."""
    n = ascending.size
    least, j = math.inf, n
    for i in range(n):
        while j > i and ascending[i] + ascending[j - 1] > x:
            j -= 1
        if max(i, j) < n:
            least = min(least, ascending[i] + ascending[max(i, j)])
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
    (1.5, -0.25, 3.5)
    """
    n = ascending.size
    if n == 0 or not 0.0 < confidence_level < 1.0:
        return math.nan, math.nan, math.nan
    both = n * (n + 1) // 2
    q = max(1, signed_rank_quantile(0.5 - 0.5 * confidence_level, n))
    middle = walsh_average(ascending, (both + 1) // 2)
    if both % 2 == 0:
        upper = 2.0 * middle
        if _count_walsh(ascending, upper) < both // 2 + 1:
            upper = _next_walsh(ascending, upper)
        middle = 0.5 * (middle + 0.5 * upper)
    low, high = walsh_average(ascending, q), walsh_average(ascending, both + 1 - q)
    return middle, low, high
