"""Exact unconditional tests that two accuracies on different samples are equal.

Model a is right on x of n_a samples and model b on y of n_b others, both with the
probability pi under H0, which is not known. The p-value is the largest probability,
over pi in [0, 1], of a table at least as extreme as the observed one. With k = x + y
and n = n_a + n_b it is a polynomial in Bernstein form, as in `kernels.unconditional`:

    sup over pi of  sum over k of  a_k * C(n, k) * pi**k * (1 - pi)**(n - k),

with a_k the hypergeometric probability of an extreme table given k. Which tables are
extreme is decided in whole numbers for both z statistics, so that tables that are
mirror images tie. For Fisher's p-values a relative difference of 1e-10 counts as none.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from fastcmp._jit import kernel
from fastcmp.kernels.special import square
from fastcmp.kernels.status import INVALID, OK, TWO_SIDED, Outcome
from fastcmp.kernels.typing import FloatArray
from fastcmp.kernels.unconditional import _largest_probability

#: Most samples of either model, for which whole numbers stay exact in int64.
UNPAIRED_EXACT_MAX_N: Final = 5000

_TIE = 1.0 + 1e-10  # of Fisher's p-values, which are sums of floats
_SAFE = 1e18  # what a difference of products may be in int64


@kernel
def _fill_row(k: int, n_a: int, n_b: int, pmf: FloatArray) -> tuple[int, int]:
    """Write P(x | x + y = k), x from the first to the second number returned."""
    low, high = max(0, k - n_b), min(n_a, k)
    mode = ((n_a + 1) * (k + 1)) // (n_a + n_b + 2)
    mode = min(max(mode, low), high)
    pmf[mode] = 1.0
    total = 1.0
    for x in range(mode, high):
        pmf[x + 1] = pmf[x] * (float(n_a - x) * (k - x))
        pmf[x + 1] /= float(x + 1) * (n_b - k + x + 1)
        total += pmf[x + 1]
    for x in range(mode, low, -1):
        pmf[x - 1] = pmf[x] * (float(x) * (n_b - k + x))
        pmf[x - 1] /= float(n_a - x + 1) * (k - x + 1)
        total += pmf[x - 1]
    for x in range(low, high + 1):
        pmf[x] /= total
    return low, high


@kernel
def _reaches(gap: int, scale: int, least: int, its_scale: int) -> bool:
    """Whether gap / sqrt(scale) >= least / sqrt(its_scale), of numbers not negative."""
    first, second = int(gap) * int(gap), int(least) * int(least)
    # Products are of up to 110 bits: floats tell which is larger by far, and close by,
    # where what overflowed is the same on both sides, the difference is exact.
    far = float(first) * float(its_scale) - float(second) * float(scale)
    if abs(far) > _SAFE:
        return far > 0.0
    return first * its_scale - second * scale >= 0


@kernel
def _pooled_scale(x: int, n_a: int, y: int, n_b: int) -> int:
    """Variance of the difference if both accuracies are one, in whole units."""
    return (x + y) * (n_a + n_b - x - y)


@kernel
def _unpooled_scale(x: int, n_a: int, y: int, n_b: int) -> int:
    """Variance of the difference from both accuracies, in whole units."""
    common = math.gcd(n_a, n_b)
    a, b = n_a // common, n_b // common
    return x * (n_a - x) * b * b * b + y * (n_b - y) * a * a * a


@kernel
def _extreme_by_z(x: int, n_a: int, y: int, n_b: int, two_sided: bool, pooled: bool) -> FloatArray:
    """a_k of the tables with a z at least as large, or as far from 0."""
    n = n_a + n_b
    a = np.zeros(n + 1)
    pmf = np.zeros(n_a + 1)
    least = abs(x * n_b - y * n_a)
    its_scale = _pooled_scale(x, n_a, y, n_b) if pooled else _unpooled_scale(x, n_a, y, n_b)
    for k in range(1, n):
        low, high = _fill_row(k, n_a, n_b, pmf)
        for i in range(low, high + 1):
            gap = i * n - k * n_a
            if gap <= 0 and not (two_sided and gap < 0):
                continue
            scale = k * (n - k) if pooled else _unpooled_scale(i, n_a, k - i, n_b)
            if _reaches(abs(gap), scale, least, its_scale):
                a[k] += pmf[i]
    return a


@kernel
def barnard_exact(
    correct_a: int, n_a: int, correct_b: int, n_b: int, alternative: int = 0, pooled: bool = True
) -> Outcome:
    """Barnard's exact test of two accuracies on different samples.

    Parameters
    ----------
    correct_a, n_a : int
        Samples that model a classified correctly, and all that it was tested on, at
        most ``UNPAIRED_EXACT_MAX_N``.
    correct_b, n_b : int
        The same of model b.
    alternative : int, optional
        ``TWO_SIDED`` (0; tables are ordered by the size of z), ``GREATER`` (1, a is
        better) or ``LESS`` (-1).
    pooled : bool, optional
        Whether the z that orders tables has the variance of one accuracy for both.

    Returns
    -------
    Outcome
        ``statistic`` z, ``pvalue`` and ``status``; z is 0 where nothing varies and
        nothing differs. NaN and ``INVALID`` for impossible counts, or too many samples.

    Notes
    -----
    O(n_a n_b), then about 12 sqrt(n) sums of O(sqrt(n)) terms.

    References
    ----------
    .. [1] G. A. Barnard, "Significance tests for 2 x 2 tables", Biometrika 34 (1947)
       123-138.
    .. [2] S. Suissa, J. J. Shuster, "Exact unconditional sample sizes for the 2 x 2
       binomial trial", J. Royal Statistical Society A 148 (1985) 317-327.

    Examples
    --------
    >>> from fastcmp.kernels import barnard_exact
    >>> round(barnard_exact(9, 10, 3, 10).pvalue, 9)
    0.007955551
    """
    if not _possible(correct_a, n_a, correct_b, n_b):
        return Outcome(math.nan, math.nan, INVALID)
    gap = correct_a * n_b - correct_b * n_a
    if gap == 0:
        return Outcome(0.0, 1.0, OK)
    if pooled:
        scale = float(_pooled_scale(correct_a, n_a, correct_b, n_b))
        scale *= float(n_a) * n_b / (n_a + n_b)
    else:
        common = math.gcd(n_a, n_b)
        scale = float(_unpooled_scale(correct_a, n_a, correct_b, n_b))
        scale *= float(common) * square(float(common)) / (float(n_a) * n_b)
    z = gap / math.sqrt(scale) if scale > 0.0 else math.copysign(math.inf, gap)
    if alternative * gap < 0:  # then the tables with a difference of 0 are extreme
        return Outcome(z, 1.0, OK)
    if gap > 0:
        a = _extreme_by_z(correct_a, n_a, correct_b, n_b, alternative == TWO_SIDED, pooled)
    else:
        a = _extreme_by_z(correct_b, n_b, correct_a, n_a, alternative == TWO_SIDED, pooled)
    pvalue, status = _largest_probability(a)
    return Outcome(z, pvalue, status)


@kernel
def _possible(correct_a: int, n_a: int, correct_b: int, n_b: int) -> bool:
    """Whether counts are possible, and few enough for exact tests."""
    few = min(n_a, n_b) >= 1 and max(n_a, n_b) <= UNPAIRED_EXACT_MAX_N
    return few and 0 <= correct_a <= n_a and 0 <= correct_b <= n_b


@kernel
def _fisher_upper(pmf: FloatArray, low: int, high: int, most: float, least: float) -> float:
    """Largest upper tail of a row that is at most `most`; `least` is 1 - `most`."""
    total = 0.0
    if most > 0.5:  # by the other tail, so that what is close to 1 is told from it
        for x in range(low, high + 1):
            if total * _TIE >= least:
                return 1.0 - total
            total += pmf[x]
        return 0.0
    for x in range(high, low - 1, -1):
        if total + pmf[x] > most * _TIE:
            return total
        total += pmf[x]
    return total


@kernel
def _fisher_both(pmf: FloatArray, low: int, high: int, most: float, least: float) -> float:
    """Largest two-sided p-value of a row, as `_fisher_upper`."""
    total = 0.0
    if most > 0.5:
        # From the most probable outward: what is not yet part of the p-value.
        left = low
        for x in range(low + 1, high + 1):
            left = x if pmf[x] > pmf[left] else left
        right = left + 1
        while total * _TIE < least and (left >= low or right <= high):
            edge = max(pmf[left] if left >= low else 0.0, pmf[right] if right <= high else 0.0)
            while left >= low and pmf[left] * _TIE >= edge:
                total += pmf[left]
                left -= 1
            while right <= high and pmf[right] * _TIE >= edge:
                total += pmf[right]
                right += 1
        return max(1.0 - total, 0.0)
    left, right = low, high
    while left <= right:
        # The next to add are all that are as probable as the less probable end.
        edge = min(pmf[left], pmf[right]) * _TIE
        more = 0.0
        while left <= right and pmf[left] <= edge:
            more += pmf[left]
            left += 1
        while left <= right and pmf[right] <= edge:
            more += pmf[right]
            right -= 1
        if total + more > most * _TIE:
            break
        total += more
    return total


@kernel
def _boschloo(x: int, n_a: int, y: int, n_b: int, two_sided: bool) -> Outcome:
    """Order tables by Fisher's p-value that a is better, or differs from b."""
    n = n_a + n_b
    pmf = np.zeros(n_a + 1)
    low, high = _fill_row(x + y, n_a, n_b, pmf)
    extreme = rest = 0.0
    for i in range(low, high + 1):
        if pmf[i] <= pmf[x] * _TIE if two_sided else i >= x:
            extreme += pmf[i]
        else:
            rest += pmf[i]
    a = np.zeros(n + 1)
    for k in range(n + 1):
        low, high = _fill_row(k, n_a, n_b, pmf)
        if two_sided:
            a[k] = _fisher_both(pmf, low, high, extreme, rest)
        else:
            a[k] = _fisher_upper(pmf, low, high, extreme, rest)
    pvalue, status = _largest_probability(a)
    return Outcome(min(extreme, 1.0), pvalue, status)


@kernel
def boschloo_exact(
    correct_a: int, n_a: int, correct_b: int, n_b: int, alternative: int = 0
) -> Outcome:
    """Boschloo's exact test of two accuracies on different samples.

    Tables are ordered by the p-value of Fisher's exact test. It has more power than
    Fisher's, whose p-value is never below it.

    Parameters
    ----------
    correct_a, n_a : int
        Samples that model a classified correctly, and all that it was tested on, at
        most ``UNPAIRED_EXACT_MAX_N``.
    correct_b, n_b : int
        The same of model b.
    alternative : int, optional
        ``TWO_SIDED`` (0; tables are ordered by Fisher's two-sided p-value), ``GREATER``
        (1, a is better) or ``LESS`` (-1).

    Returns
    -------
    Outcome
        ``statistic``, Fisher's p-value, ``pvalue`` and ``status``. NaN and ``INVALID``
        for impossible counts, or too many samples.

    Notes
    -----
    O(n_a n_b), then about 12 sqrt(n) sums of O(sqrt(n)) terms. For a two-sided test
    SciPy doubles the smaller one-sided p-value.

    References
    ----------
    .. [1] R. D. Boschloo, "Raised conditional level of significance for the 2 x 2 table
       when testing the equality of two probabilities", Statistica Neerlandica 24 (1970)
       1-9.

    Examples
    --------
    >>> from fastcmp.kernels import GREATER, boschloo_exact
    >>> round(boschloo_exact(7, 8, 3, 9, GREATER).pvalue, 9)
    0.014361332
    """
    if not _possible(correct_a, n_a, correct_b, n_b):
        return Outcome(math.nan, math.nan, INVALID)
    if alternative < 0:
        return _boschloo(correct_b, n_b, correct_a, n_a, False)
    return _boschloo(correct_a, n_a, correct_b, n_b, alternative == TWO_SIDED)
