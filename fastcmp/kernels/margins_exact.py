"""Exact unconditional tests of a difference of two paired proportions that is not 0.

Samples are trinomial: only a right (p10), only b right (p01), or concordant. Under H0
p10 - p01 = D, and one probability is unknown. Tables are ordered by Tango's score; the
p-value is the largest probability, over the unknown one, of a score at least as large
as the observed one. With x samples that only a has right, those are the tables with at
most y*(x) that only b has right, and y* never falls: given x, y is binomial, so

    P = sum over x of Bin(x; n, p10) F(y*(x); n - x, p01 / (1 - p10)).

F follows from x to x + 1 by additions of point probabilities, and nothing cancels.
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple

import numpy as np

from fastcmp._jit import helper, kernel, turns_ahead
from fastcmp.kernels.intervals import _impossible, _tango_z
from fastcmp.kernels.special import _gammaln, betainc, betaincinv, square
from fastcmp.kernels.status import INVALID, OK, Outcome
from fastcmp.kernels.typing import FloatArray, IntArray

#: Largest sample of the exact tests against a margin.
MARGIN_EXACT_MAX_N: Final = 10_000

_TIE = 1e-9  # scores that differ less are equal but for rounding
_TINY = -690.0  # logarithm of what still is a float64 with all its digits
_NEGLIGIBLE = 1e-18
_GOLDEN = 0.5 * (math.sqrt(5.0) - 1.0)
_NARROWINGS = 30
_HALVINGS = 27  # to 1e-8


class _Nuisance(NamedTuple):
    """Probabilities of a sample under H0."""

    only_a: float
    only_b: float
    concordant: float


@kernel
def _region(only_a: int, only_b: int, n: int, difference: float) -> IntArray:
    """y*(x) for x = 0..n: the most samples of b alone with a score as large, or -1."""
    cut = _tango_z(float(only_a), float(only_b), float(n), difference) - _TIE
    most = np.empty(n + 1, np.int64)
    y = -1
    for x in range(n + 1):
        while y < n - x and _tango_z(float(x), y + 1.0, float(n), difference) >= cut:
            y += 1
        most[x] = min(y, n - x)
    return most


@helper
def _log_binomial(x: float, n: float, log_p: float, log_q: float) -> float:
    choices = _gammaln(n + 1.0, 0) - _gammaln(x + 1.0, 0) - _gammaln(n - x + 1.0, 0)
    return choices + x * log_p + (n - x) * log_q


@helper
def _upper_binomial(least: int, n: int, p: float) -> float:
    """P(X >= least) of Bin(n, p)."""
    if least <= 0:
        return 1.0
    return 0.0 if least > n else betainc(float(least), n - least + 1.0, p)


@kernel
def _probability(most: IntArray, p: _Nuisance) -> float:
    """Sum the probabilities of the tables of a region."""
    n = most.size - 1
    first = 0  # the first x with a table in the region
    while first <= n and most[first] < 0:
        first += 1
    if first > n:
        return 0.0
    if p.only_b == 0.0:
        return _upper_binomial(first, n, p.only_a)
    if p.only_a == 0.0:
        return 1.0 - _upper_binomial(most[0] + 1, n, p.only_b) if first == 0 else 0.0
    whole = first  # the first x with all its tables in the region
    while most[whole] < n - whole:
        whole += 1
    if p.concordant <= 0.0:
        return _upper_binomial(whole, n, p.only_a)
    rest = p.only_b + p.concordant  # 1 - p.only_a
    r, s = p.only_b / rest, p.concordant / rest
    log_a, log_rest = math.log(p.only_a), math.log(rest)
    log_r, log_s = math.log(r), math.log(s)
    # Weights of x rise up to the mode, and so do both factors up to the mean of y.
    low, high = first, n
    while low < high:
        x = (low + high) // 2
        m, y = n - x, most[x]
        lost = _log_binomial(float(x), float(n), log_a, log_rest) < _TINY
        lost = lost and x < n * p.only_a
        if not lost and x < whole and y < m * r:
            lost = _log_binomial(float(y), float(m), log_r, log_s) < _TINY
        if lost:
            low = x + 1
        else:
            high = x
    x, y = low, int(most[low])  # Python's numbers are faster than NumPy's
    weight = math.exp(_log_binomial(float(x), float(n), log_a, log_rest))
    below, point = 1.0, 0.0
    if x < whole:
        below = betainc(float(n - x - y), y + 1.0, s)
        point = math.exp(_log_binomial(float(y), float(n - x), log_r, log_s))
    total, odds, odds_y = 0.0, p.only_a / rest, r / s
    while True:
        total += weight * below
        if x == n or (x > n * p.only_a and weight < _NEGLIGIBLE * total / n):
            return min(total, 1.0)
        weight *= odds * (n - x) / (x + 1.0)
        x += 1
        if x >= whole:
            below = 1.0
            continue
        m = n - x
        point *= (m + 1.0 - y) / ((m + 1.0) * s)
        below += r * point
        while y < most[x]:
            point *= odds_y * (m - y) / (y + 1.0)
            y += 1
            below += point


@helper
def _nuisance(angle: float, difference: float) -> _Nuisance:
    """Cut what is left of 1 so that both ends are dense."""
    left = 1.0 - abs(difference)
    smaller = 0.5 * left * square(math.sin(angle))
    concordant = left * square(math.cos(angle))
    if angle >= 0.5 * math.pi:
        concordant = 0.0
    if difference < 0.0:
        return _Nuisance(smaller, smaller - difference, concordant)
    return _Nuisance(smaller + difference, smaller, concordant)


@helper
def _angle(discordant: float, difference: float) -> float:
    """Find the angle at which so many samples are discordant."""
    left = 1.0 - abs(difference)
    part = (discordant - abs(difference)) / left
    return math.asin(math.sqrt(min(max(part, 0.0), 1.0)))


@kernel
def _climb(most: IntArray, difference: float, low: float, high: float) -> float:
    """Find a maximum between two angles by golden section."""
    left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
    f_left = _probability(most, _nuisance(left, difference))
    f_right = _probability(most, _nuisance(right, difference))
    best = max(f_left, f_right)
    for _ in range(_NARROWINGS):
        if f_left >= f_right:
            high, right, f_right = right, left, f_left
            left = high - _GOLDEN * (high - low)
            f_left = _probability(most, _nuisance(left, difference))
            best = max(best, f_left)
        else:
            low, left, f_left = left, right, f_right
            right = low + _GOLDEN * (high - low)
            f_right = _probability(most, _nuisance(right, difference))
            best = max(best, f_right)
    return best


@kernel
def _largest(most: IntArray, difference: float, low: float, high: float) -> float:
    """Maximise the probability of a region over angles, both ends included."""
    n = most.size - 1
    # A probability cannot bend on a scale of angles below 1 / (2 sqrt(n)).
    cells = 8 * math.ceil(0.5 * math.pi * math.sqrt(n)) + 64
    step = (high - low) / cells
    grid: FloatArray = np.empty(cells + 1)
    for k in range(cells + 1):
        angle = high if k == cells else low + k * step
        grid[k] = _probability(most, _nuisance(angle, difference))
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
            best = max(best, _climb(most, difference, *ends))
    return best


@kernel
def _exact_pvalue(only_a: int, only_b: int, n: int, difference: float, gamma: float) -> float:
    """P-value of H0: the accuracy of a minus that of b is `difference` or less."""
    low, high = 0.0, 0.5 * math.pi
    if gamma > 0.0:
        # Clopper and Pearson's interval for the probability of a discordant sample.
        k = only_a + only_b
        least = betaincinv(float(k), n - k + 1.0, 0.5 * gamma) if k > 0 else 0.0
        most = betaincinv(k + 1.0, float(n - k), 1.0 - 0.5 * gamma) if k < n else 1.0
        low, high = _angle(least, difference), _angle(most, difference)
    largest = _largest(_region(only_a, only_b, n, difference), difference, low, high)
    return min(largest + gamma, 1.0)


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
    return Outcome(z, _exact_pvalue(only_a, only_b, n, difference, gamma), OK)


@helper
def _turns_of_limit(n: int) -> float:
    """How long `_exact_limit` takes as Python: sums of x near the mode, over the angles."""
    root = math.sqrt(abs(n))
    return _HALVINGS * 120.0 * min(root, 12.0) * root * (root + 10.0)


@kernel
def _exact_limit(
    only_a: int, only_b: int, n: int, alpha: float, options: tuple[float, float, float]
) -> float:
    """Find the lower limit: the differences below it are rejected at alpha.

    `options` are gamma, a difference that was tested, and its p-value: whether the
    limit lies above that difference follows from the p-value, and cannot contradict it.
    """
    turns_ahead(_turns_of_limit(n))
    gamma, tested, pvalue = options
    low, high = -1.0, (only_a - only_b) / n
    if high <= -1.0:
        return -1.0
    if tested < high:
        if pvalue <= alpha:
            low = tested
        else:
            high = tested
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        if _exact_pvalue(only_a, only_b, n, middle, gamma) <= alpha:
            low = middle
        else:
            high = middle
    return 0.5 * (low + high)


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
        found[5 + 2 * k] = _exact_limit(only_a, only_b, n, level, options)
        found[6 + 2 * k] = -_exact_limit(only_b, only_a, n, level, mirror)
