"""Exact unconditional tests that two accuracies on different samples are equal.

Model a is right on x of n_a samples and model b on y of n_b others, both with the
probability pi under H0, which is not known. The p-value is the largest probability,
over pi in [0, 1], of a table at least as extreme as the observed one. With k = x + y
and n = n_a + n_b it is a polynomial in Bernstein form, as in `kernels.bernstein`:

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
from fastcmp.kernels.status import INVALID, OK, TWO_SIDED, Interval, Outcome
from fastcmp.kernels.typing import FloatArray, IntArray
from fastcmp.kernels.unconditional import _largest_probability
from fastcmp.kernels.unpaired import _score

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


# The exact unconditional test that two accuracies differ by a given amount (Chan).
#
# Tables are ordered by Miettinen and Nurminen's statistic. Under H0 model b is right with
# an unknown probability q and model a with q + D, and the p-value is the largest one over
# q. The statistic rises with the samples that a is right on and falls with those that b
# is right on, so that a table is extreme up to a number of samples of b that does not
# fall with those of a: one q costs O(n_a + n_b).

_TIE_Z = 1e-9  # of statistics
_CELLS = 1000
_TOPS = 5  # cells of the grid in which a maximum is looked for
_GOLDEN = 0.6180339887498949
_SECTIONS = 30


@kernel
def _fill_binomial(n: int, p: float, pmf: FloatArray) -> None:
    """Write the probabilities of 0..n, outward from the most probable."""
    pmf[:] = 0.0
    if p <= 0.0 or p >= 1.0:  # or beyond by rounding
        pmf[0 if p <= 0.0 else n] = 1.0
        return
    mode = min(n, int((n + 1) * p))
    odds = p / (1.0 - p)
    pmf[mode] = total = 1.0
    for k in range(mode + 1, n + 1):
        pmf[k] = pmf[k - 1] * (odds * (n - k + 1) / k)
        total += pmf[k]
    for k in range(mode - 1, -1, -1):
        pmf[k] = pmf[k + 1] * ((k + 1) / (odds * (n - k)))
        total += pmf[k]
    for k in range(n + 1):
        pmf[k] /= total


@kernel
def _frontier(n_a: int, n_b: int, delta: float, least: float) -> IntArray:
    """Most samples of b, or -1, with a statistic of at least `least`, for 0..n_a."""
    most = np.empty(n_a + 1, np.int64)
    y = -1
    for x in range(n_a + 1):
        while y < n_b and (_score(float(x), float(n_a), float(y + 1), float(n_b), delta) >= least):
            y += 1
        most[x] = y
    return most


@kernel
def _probability(
    angle: float, delta: float, upper: IntArray, lower: IntArray, pmf_b: FloatArray
) -> float:
    """Probability of y <= upper[x] or y > lower[x], at an angle from 0 to pi / 2.

    In it the probability cannot bend on a scale below 1 / sqrt(n).
    """
    n_a, n_b = upper.size - 1, pmf_b.size - 1
    least, most = max(0.0, -delta), min(1.0, 1.0 - delta)
    q = least + (most - least) * square(math.sin(angle))
    pmf_a = np.empty(n_a + 1)
    _fill_binomial(n_a, q + delta, pmf_a)
    _fill_binomial(n_b, q, pmf_b)
    total, tail, y = 0.0, 0.0, -1
    for x in range(n_a + 1):
        while y < upper[x]:
            y += 1
            tail += pmf_b[y]
        total += pmf_a[x] * tail
    tail, y = 0.0, n_b
    for x in range(n_a, -1, -1):
        while y > lower[x]:
            tail += pmf_b[y]
            y -= 1
        total += pmf_a[x] * tail
    return total


@kernel
def _largest_over_angles(
    delta: float, upper: IntArray, lower: IntArray, n_b: int, enough: float
) -> float:
    """Largest probability over all accuracies, or the first one above `enough`.

    By a grid, and then golden sections about its largest values.
    """
    cells = max(_CELLS, 16 * math.ceil(math.sqrt(upper.size + n_b)))
    step = 0.5 * math.pi / cells
    pmf = np.empty(n_b + 1)
    values = np.empty(cells + 1)
    for i in range(cells + 1):
        values[i] = _probability(i * step, delta, upper, lower, pmf)
        if values[i] > enough:
            return values[i]  # type: ignore[no-any-return]
    best = float(values.max())
    tops = values.copy()
    for i in range(cells + 1):
        if values[i] < max(values[max(i - 1, 0)], values[min(i + 1, cells)]):
            tops[i] = -1.0
    for _ in range(_TOPS):
        top = int(tops.argmax())
        if tops[top] < 0.5 * best:
            break
        tops[top] = -1.0
        low, high = max(top - 1, 0) * step, min(top + 1, cells) * step
        left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
        f_left = _probability(left, delta, upper, lower, pmf)
        f_right = _probability(right, delta, upper, lower, pmf)
        for _ in range(_SECTIONS):
            if f_left < f_right:
                low, left, f_left = left, right, f_right
                right = low + _GOLDEN * (high - low)
                f_right = _probability(right, delta, upper, lower, pmf)
            else:
                high, right, f_right = right, left, f_left
                left = high - _GOLDEN * (high - low)
                f_left = _probability(left, delta, upper, lower, pmf)
        best = max(best, f_left, f_right)
    return min(best, 1.0)


@kernel
def score_exact(
    correct_a: int,
    n_a: int,
    correct_b: int,
    n_b: int,
    null_difference: float = 0.0,
    alternative: int = 0,
) -> Outcome:
    """Chan's exact test that two accuracies on different samples differ by an amount.

    Parameters
    ----------
    correct_a, n_a : int
        Samples that model a classified correctly, and all that it was tested on, at
        most ``UNPAIRED_EXACT_MAX_N``.
    correct_b, n_b : int
        The same of model b.
    null_difference : float, optional
        The accuracy of a minus that of b under H0, in (-1, 1).
    alternative : int, optional
        ``TWO_SIDED`` (0; tables are ordered by the size of z), ``GREATER`` (1, the
        difference is greater) or ``LESS`` (-1).

    Returns
    -------
    Outcome
        ``statistic``, that of `miettinen_nurminen`, ``pvalue`` and ``status``. NaN and
        ``INVALID`` for impossible counts or differences, or too many samples.

    Notes
    -----
    O((n_a + n_b) m), with m = 1,000 values of q or more. For H0 of equality tables are
    ordered as by `barnard_exact`, which is called.

    References
    ----------
    .. [1] I. S. F. Chan, "Exact tests of equivalence and efficacy with a non-zero lower
       bound for comparative studies", Statistics in Medicine 17 (1998) 1403-1413.
    .. [2] J. Röhmel, U. Mansmann, "Unconditional non-asymptotic one-sided tests for
       independent binomial proportions when the interest lies in showing
       non-inferiority and/or superiority", Biometrical J. 41 (1999) 149-170.

    Examples
    --------
    >>> from fastcmp.kernels import GREATER, score_exact
    >>> round(score_exact(80, 100, 85, 100, -0.1, GREATER).pvalue, 6)
    0.208319
    """
    if not _possible(correct_a, n_a, correct_b, n_b) or not (-1.0 < null_difference < 1.0):
        return Outcome(math.nan, math.nan, INVALID)
    right_a, all_a, right_b, all_b = float(correct_a), float(n_a), float(correct_b), float(n_b)
    z = _score(right_a, all_a, right_b, all_b, null_difference)
    if null_difference == 0.0:
        found = barnard_exact(correct_a, n_a, correct_b, n_b, alternative, True)
        return Outcome(z, found.pvalue, found.status)
    size = abs(z) if alternative == TWO_SIDED else alternative * z
    size -= _TIE_Z * max(abs(z), 1.0)
    if alternative == TWO_SIDED and size <= 0.0:
        return Outcome(z, 1.0, OK)
    upper = np.full(n_a + 1, -1)
    lower = np.full(n_a + 1, n_b)
    if alternative >= 0:
        upper = _frontier(n_a, n_b, null_difference, size)
    if alternative <= 0:
        lower = _frontier(n_a, n_b, null_difference, -size)
    pvalue = _largest_over_angles(null_difference, upper, lower, n_b, math.inf)
    return Outcome(z, pvalue, OK)


@kernel
def _lowest(correct_a: int, n_a: int, correct_b: int, n_b: int, level: float) -> float:
    """Find the difference above which the data speak at a one-sided level, to 1e-10."""
    low, high = -1.0, correct_a / n_a - correct_b / n_b
    if high <= -1.0:
        return -1.0
    beyond = np.full(n_a + 1, n_b)
    while high - low > 1e-10:
        delta = 0.5 * (low + high)
        z = _score(float(correct_a), float(n_a), float(correct_b), float(n_b), delta)
        upper = _frontier(n_a, n_b, delta, z - _TIE_Z * max(abs(z), 1.0))
        if _largest_over_angles(delta, upper, beyond, n_b, level) > level:
            high = delta
        else:
            low = delta
    return low


@kernel
def score_exact_interval(
    correct_a: int, n_a: int, correct_b: int, n_b: int, confidence_level: float
) -> Interval:
    """Chan and Zhang's exact interval for the difference of two accuracies.

    Its ends are those of two one-sided tests `score_exact`, each at half the error.

    Parameters
    ----------
    correct_a, n_a : int
        Samples that model a classified correctly, and all that it was tested on, at
        most ``UNPAIRED_EXACT_MAX_N``.
    correct_b, n_b : int
        The same of model b.
    confidence_level : float
        In (0, 1).

    Returns
    -------
    Interval
        ``low`` and ``high``; NaN for impossible counts or levels, or too many samples.

    Notes
    -----
    Up to 70 times the work of `score_exact`.

    References
    ----------
    .. [1] I. S. F. Chan, Z. Zhang, "Test-based exact confidence intervals for the
       difference of two binomial proportions", Biometrics 55 (1999) 1202-1209.

    Examples
    --------
    >>> from fastcmp.kernels import score_exact_interval
    >>> low, high = score_exact_interval(7, 8, 3, 9, 0.95)
    >>> round(low, 4), round(high, 4)
    (0.0559, 0.8656)
    """
    possible = _possible(correct_a, n_a, correct_b, n_b)
    if not possible or not 0.0 < confidence_level < 1.0:
        return Interval(math.nan, math.nan)
    level = 0.5 * (1.0 - confidence_level)
    low = _lowest(correct_a, n_a, correct_b, n_b, level)
    high = -_lowest(correct_b, n_b, correct_a, n_a, level)
    return Interval(low, high)
