"""Exact unconditional tests of a difference of two accuracies that is not 0.

On the same samples these are trinomial: only a right (p10), only b right (p01), or
concordant, and p10 - p01 = D under H0. On different samples model b is right with q and
model a with q + D. One probability is unknown. Tables are ordered by Tango's score, or
Miettinen and Nurminen's; the p-value is the largest probability, over the unknown one, of
a score at least as large as the observed one. With x samples that a has right (alone, of
the same samples), those are the tables with at most y*(x) that b has, and y* never falls:
given x, y is binomial, so that

    P = sum over x of Bin(x; n_a, p) F(y*(x); m(x), r),

with m(x) = n_b, or n - x of the same samples. F follows from x to x + 1 by additions of
point probabilities, and nothing cancels. Below `n_b` is 0 where samples are the same.
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple

import numpy as np

from fastcmp._jit import helper, kernel, turns_ahead
from fastcmp.kernels.intervals import _impossible, _tango_z
from fastcmp.kernels.special import _gammaln, betainc, betaincinv, square
from fastcmp.kernels.status import INVALID, OK, TWO_SIDED, Interval, Outcome
from fastcmp.kernels.typing import FloatArray, IntArray
from fastcmp.kernels.unpaired import _score
from fastcmp.kernels.unpaired_exact import _possible, barnard_exact

#: Largest sample of the exact tests against a margin.
MARGIN_EXACT_MAX_N: Final = 10_000

_TIE = 1e-9  # scores that differ less are equal but for rounding
_TINY = -690.0  # logarithm of what still is a float64 with all its digits
_NEGLIGIBLE = 1e-18
_GOLDEN = 0.5 * (math.sqrt(5.0) - 1.0)
_NARROWINGS = 30
_HALVINGS = 27  # to 1e-8
_LIMIT = 1e-10  # of limits of different samples


@kernel
def _score_of(x: int, n_a: int, y: int, n_b: int, difference: float) -> float:
    """The score that orders tables."""
    if n_b == 0:
        return _tango_z(float(x), float(y), float(n_a), difference)
    return _score(float(x), float(n_a), float(y), float(n_b), difference)


@kernel
def _region(cut: float, n_a: int, n_b: int, difference: float) -> IntArray:
    """y*(x) for x = 0..n_a: the most samples of b with a score of at least `cut`, or -1."""
    most = np.empty(n_a + 1, np.int64)
    y = -1
    for x in range(n_a + 1):
        room = n_a - x if n_b == 0 else n_b
        while y < room and _score_of(x, n_a, y + 1, n_b, difference) >= cut:
            y += 1
        most[x] = min(y, room)
    return most


@helper
def _log_binomial(x: float, n: float, log_p: float, log_q: float) -> float:
    if x == 0.0:
        return n * log_q
    choices = _gammaln(n + 1.0, 0) - _gammaln(x + 1.0, 0) - _gammaln(n - x + 1.0, 0)
    return choices + x * log_p + (n - x) * log_q


@helper
def _upper_binomial(least: int, n: int, p: float) -> float:
    """P(X >= least) of Bin(n, p)."""
    if least <= 0:
        return 1.0
    return 0.0 if least > n else betainc(float(least), n - least + 1.0, p)


class _Nuisance(NamedTuple):
    """Probabilities under H0: of x, p and its rest; given x, of y, r and its rest."""

    p: float
    rest: float
    r: float
    s: float


@kernel
def _probability(most: IntArray, n_b: int, under: _Nuisance) -> float:
    """Sum the probabilities of the tables of a region."""
    n = most.size - 1
    first = 0  # the first x with a table in the region
    while first <= n and most[first] < 0:
        first += 1
    if first > n:
        return 0.0
    p, rest, r, s = under
    if r <= 0.0:
        return _upper_binomial(first, n, p)
    if p <= 0.0:
        room = n if n_b == 0 else n_b
        return 1.0 - _upper_binomial(most[0] + 1, room, r) if first == 0 else 0.0
    whole = first  # the first x with all its tables in the region
    while whole <= n and most[whole] < (n - whole if n_b == 0 else n_b):
        whole += 1
    if s <= 0.0:
        return _upper_binomial(whole, n, p)
    if rest <= 0.0:
        return 1.0 - _upper_binomial(most[n] + 1, n_b, r)
    log_p, log_rest = math.log(p), math.log(rest)
    log_r, log_s = math.log(r), math.log(s)
    # Weights of x rise up to the mode, and so do both factors up to the mean of y.
    low, high, middle = first, n, first
    while low < high:
        m, y = n - middle if n_b == 0 else n_b, most[middle]
        lost = _log_binomial(float(middle), float(n), log_p, log_rest) < _TINY
        lost = lost and middle < n * p
        if not lost and middle < whole and y < m * r:
            lost = _log_binomial(float(y), float(m), log_r, log_s) < _TINY
        if lost:
            low = middle + 1
        else:
            high = middle
        middle = (low + high) // 2
    x, y = low, int(most[low])  # Python's numbers are faster than NumPy's
    weight = math.exp(_log_binomial(float(x), float(n), log_p, log_rest))
    below, point = 1.0, 0.0
    if x < whole:
        m = n - x if n_b == 0 else n_b
        point = math.exp(_log_binomial(float(y), float(m), log_r, log_s))
        below = point if y == 0 else betainc(float(m - y), y + 1.0, s)
    total, odds, odds_y = 0.0, p / rest, r / s
    while True:
        total += weight * below
        if x == n or (x > n * p and weight < _NEGLIGIBLE * total / n):
            return min(total, 1.0)
        weight *= odds * (n - x) / (x + 1.0)
        x += 1
        if x >= whole:
            below = 1.0
            continue
        m = n_b
        if n_b == 0:
            m = n - x
            point *= (m + 1.0 - y) / ((m + 1.0) * s)
            below += r * point
        while y < most[x]:
            point *= odds_y * (m - y) / (y + 1.0)
            y += 1
            below += point


@helper
def _nuisance(angle: float, difference: float, n_b: int) -> _Nuisance:
    """Probabilities at an angle from 0 to pi / 2, such that both ends are dense."""
    left = 1.0 - abs(difference)
    up, down = left * square(math.sin(angle)), left * square(math.cos(angle))
    if angle >= 0.5 * math.pi:
        down = 0.0
    if n_b > 0:  # q is up, and where the difference is below 0 it begins at its size
        more, less = max(difference, 0.0), max(-difference, 0.0)
        return _Nuisance(up + more, down + less, up + less, down + more)
    smaller = 0.5 * up
    only_a, only_b = smaller + max(difference, 0.0), smaller - min(difference, 0.0)
    rest = only_b + down
    return _Nuisance(only_a, rest, only_b / rest, down / rest)


@helper
def _angle(discordant: float, difference: float) -> float:
    """Find the angle at which so many samples are discordant."""
    left = 1.0 - abs(difference)
    part = (discordant - abs(difference)) / left
    return math.asin(math.sqrt(min(max(part, 0.0), 1.0)))


@kernel
def _at(angle: float, upper: IntArray, lower: IntArray, n_b: int, difference: float) -> float:
    """Probability of y <= upper[x], or of the mirror image y' <= lower[x'], if there is one."""
    under = _nuisance(angle, difference, n_b)
    total = _probability(upper, n_b, under)
    if lower.size > 0:
        turned = _Nuisance(under.rest, under.p, under.s, under.r)
        total += _probability(lower, n_b, turned)
    return total


@kernel
def _climb(
    low: float, high: float, upper: IntArray, lower: IntArray, n_b: int, difference: float
) -> float:
    """Find a maximum between two angles by golden section."""
    left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
    f_left = _at(left, upper, lower, n_b, difference)
    f_right = _at(right, upper, lower, n_b, difference)
    best = max(f_left, f_right)
    for _ in range(_NARROWINGS):
        if f_left >= f_right:
            high, right, f_right = right, left, f_left
            left = high - _GOLDEN * (high - low)
            f_left = _at(left, upper, lower, n_b, difference)
            best = max(best, f_left)
        else:
            low, left, f_left = left, right, f_right
            right = low + _GOLDEN * (high - low)
            f_right = _at(right, upper, lower, n_b, difference)
            best = max(best, f_right)
    return best


@kernel
def _largest(
    upper: IntArray,
    lower: IntArray,
    n_b: int,
    difference: float,
    low: float,
    high: float,
    enough: float,
) -> float:
    """Maximise the probability of a region over angles, both ends included.

    Or the first probability found above `enough`.
    """
    # A probability cannot bend on a scale of angles below 1 / (2 sqrt(n)).
    cells = 8 * math.ceil(0.5 * math.pi * math.sqrt(upper.size - 1 + n_b)) + 64
    step = (high - low) / cells
    grid: FloatArray = np.empty(cells + 1)
    for k in range(cells + 1):
        angle = high if k == cells else low + k * step
        grid[k] = _at(angle, upper, lower, n_b, difference)
        if grid[k] > enough:
            return min(float(grid[k]), 1.0)
    best = float(grid.max())
    near = 0.9 * best  # a maximum between two points of the grid is hardly higher
    for k in range(cells + 1):
        before, after = max(k - 1, 0), min(k + 1, cells)
        top = grid[k]
        if top >= 1.0 or top == 0.0 or step == 0.0:
            continue
        first = k == 0 or top > grid[before]  # of several that are equal
        if top >= near and first and top >= grid[after]:
            ends = (low + before * step, min(low + after * step, high))
            best = max(best, _climb(*ends, upper, lower, n_b, difference))
    return min(best, 1.0)


@kernel
def _upper_pvalue(
    x: int, n_a: int, y: int, n_b: int, difference: float, gamma: float, enough: float
) -> float:
    """P-value of H0: the difference is `difference` or less; or one above `enough`."""
    low, high = 0.0, 0.5 * math.pi
    if gamma > 0.0:
        # Clopper and Pearson's interval for the probability of a discordant sample.
        k = x + y
        least = betaincinv(float(k), n_a - k + 1.0, 0.5 * gamma) if k > 0 else 0.0
        most = betaincinv(k + 1.0, float(n_a - k), 1.0 - 0.5 * gamma) if k < n_a else 1.0
        low, high = _angle(least, difference), _angle(most, difference)
    z = _score_of(x, n_a, y, n_b, difference)
    cut = z - _TIE * (1.0 if n_b == 0 else max(abs(z), 1.0))
    upper = _region(cut, n_a, n_b, difference)
    none = np.empty(0, np.int64)
    return min(_largest(upper, none, n_b, difference, low, high, enough) + gamma, 1.0)


@kernel
def tango_exact(only_a: int, only_b: int, n: int, difference: float, gamma: float = 0.0) -> Outcome:
    """Exact unconditional test that a difference is larger than a given one.

    H0 says that the accuracy of a minus that of b is `difference` or less; at -margin
    its rejection is non-inferiority of a. Tables are ordered by Tango's score, and the
    p-value is maximised over the unknown probability of a discordant sample, both ends
    of its range included.

    Parameters
    ----------
    only_a, only_b : int
        Samples that only model a, and only model b, classified correctly.
    n : int
        All samples, at most ``MARGIN_EXACT_MAX_N``.
    difference : float
        Under H0, in (-1, 1).
    gamma : float, optional
        Above 0, Berger and Boos' way: maximise over the interval of the level 1 - gamma
        for the probability of a discordant sample, and add gamma to the p-value.

    Returns
    -------
    Outcome
        ``statistic``, Tango's score, ``pvalue`` and ``status``; NaN and INVALID for
        impossible counts or options.

    Notes
    -----
    O(n) for one value of the unknown probability, and about 13 sqrt(n) of them.

    References
    ----------
    .. [1] H.-M. Hsueh, J.-P. Liu, J. J. Chen, "Unconditional exact tests for
       equivalence or noninferiority for paired binary endpoints", Biometrics 57 (2001)
       478-483.
    .. [2] R. L. Berger, D. D. Boos, "P values maximized over a confidence set for the
       nuisance parameter", JASA 89 (1994) 1012-1016.

    Examples
    --------
    >>> from fastcmp.kernels import tango_exact
    >>> found = tango_exact(3, 0, 30, -0.1)
    >>> round(found.statistic, 6), round(found.pvalue, 9)
    (2.581989, 0.005790066)
    """
    impossible = _impossible(n - only_a - only_b, only_a, only_b, 0, 0.0)
    impossible = impossible or n > MARGIN_EXACT_MAX_N or not 0.0 <= gamma < 1.0
    if impossible or not abs(difference) < 1.0:
        return Outcome(math.nan, math.nan, INVALID)
    z = _tango_z(float(only_a), float(only_b), float(n), difference)
    return Outcome(z, _upper_pvalue(only_a, n, only_b, 0, difference, gamma, math.inf), OK)


@helper
def _turns_of_limit(n: int) -> float:
    """How long `_lower_limit` takes as Python: sums of x near the mode, over the angles."""
    root = math.sqrt(abs(n))
    return _HALVINGS * 120.0 * min(root, 12.0) * root * (root + 10.0)


@kernel
def _lower_limit(
    x: int, n_a: int, y: int, n_b: int, alpha: float, options: tuple[float, float, float]
) -> float:
    """Find the lower limit: the differences below it are rejected at alpha.

    `options` are gamma, a difference that was tested, and its p-value: whether the
    limit lies above that difference follows from the p-value, and cannot contradict it.
    """
    turns_ahead(_turns_of_limit(n_a + n_b))
    gamma, tested, pvalue = options
    low, high = -1.0, (x - y) / n_a if n_b == 0 else x / n_a - y / n_b
    if high <= -1.0:
        return -1.0
    if tested < high:
        if pvalue <= alpha:
            low = tested
        else:
            high = tested
    halvings = 0
    while halvings < _HALVINGS if n_b == 0 else high - low > _LIMIT:
        halvings += 1
        middle = 0.5 * (low + high)
        if _upper_pvalue(x, n_a, y, n_b, middle, gamma, alpha - gamma) <= alpha:
            low = middle
        else:
            high = middle
    return 0.5 * (low + high) if n_b == 0 else low


@kernel
def tango_exact_margins(
    only_a: int, only_b: int, n: int, margin: float, alpha: float, gamma: float, found: FloatArray
) -> None:
    """Write the exact tests against a margin, and intervals: rows 0 to 8 of `tango_margin_many`.

    `gamma` is the part of alpha that an interval of the nuisance parameter takes.
    """
    turns_ahead(4.0 * _turns_of_limit(n))
    upper = tango_exact(only_a, only_b, n, margin, gamma)
    lower = tango_exact(only_a, only_b, n, -margin, gamma)
    turned = tango_exact(only_b, only_a, n, -margin, gamma)
    if lower.status == INVALID or not (margin > 0.0 and 0.0 < alpha < 0.5):
        found[:] = math.nan
        return
    found[0] = lower.statistic
    found[1] = upper.statistic
    found[2] = lower.pvalue
    found[3] = turned.pvalue
    found[4] = upper.pvalue
    for k in range(2):
        level = 0.5 * alpha if k == 0 else alpha
        options = (gamma, -margin, lower.pvalue)
        mirror = (gamma, -margin, turned.pvalue)
        found[5 + 2 * k] = _lower_limit(only_a, n, only_b, 0, level, options)
        found[6 + 2 * k] = -_lower_limit(only_b, n, only_a, 0, level, mirror)


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
    O(n_a + n_b) for one value of q, and about 13 sqrt(n_a + n_b) of them. For H0 of equality
    tables are ordered as by `barnard_exact`, which is called.

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
    z = _score_of(correct_a, n_a, correct_b, n_b, null_difference)
    if null_difference == 0.0:
        found = barnard_exact(correct_a, n_a, correct_b, n_b, alternative, True)
        return Outcome(z, found.pvalue, found.status)
    size = abs(z) if alternative == TWO_SIDED else alternative * z
    size -= _TIE * max(abs(z), 1.0)
    if alternative == TWO_SIDED and size <= 0.0:
        return Outcome(z, 1.0, OK)
    upper, lower = np.full(n_a + 1, -1), np.empty(0, np.int64)
    if alternative >= 0:
        upper = _region(size, n_a, n_b, null_difference)
    if alternative <= 0:
        # With what is wrong in place of what is right, at most so many of b have such a score.
        lower = n_b - 1 - _region(-size, n_a, n_b, null_difference)[::-1].copy()
    end = 0.5 * math.pi
    return Outcome(z, _largest(upper, lower, n_b, null_difference, 0.0, end, math.inf), OK)


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
    level, options = 0.5 * (1.0 - confidence_level), (0.0, math.inf, math.nan)
    low = _lower_limit(correct_a, n_a, correct_b, n_b, level, options)
    high = -_lower_limit(correct_b, n_b, correct_a, n_a, level, options)
    return Interval(low, high)
