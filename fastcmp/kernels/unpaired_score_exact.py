"""The exact unconditional test that two accuracies differ by a given amount (Chan).

Tables are ordered by Miettinen and Nurminen's statistic. Under H0 model b is right with
an unknown probability q and model a with q + D, and the p-value is the largest one over
q. The statistic rises with the samples that a is right on and falls with those that b
is right on, so that a table is extreme up to a number of samples of b that does not
fall with those of a: one q costs O(n_a + n_b).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from fastcmp._jit import kernel
from fastcmp.kernels.special import square
from fastcmp.kernels.status import INVALID, OK, TWO_SIDED, Interval, Outcome
from fastcmp.kernels.unpaired import _score
from fastcmp.kernels.unpaired_exact import _possible, barnard_exact

if TYPE_CHECKING:
    from fastcmp.kernels.typing import FloatArray, IntArray

_TIE = 1e-9  # of statistics
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
    right_a, all_a, right_b, all_b = (
        float(correct_a),
        float(n_a),
        float(correct_b),
        float(n_b),
    )
    z = _score(right_a, all_a, right_b, all_b, null_difference)
    if null_difference == 0.0:
        found = barnard_exact(correct_a, n_a, correct_b, n_b, alternative, True)
        return Outcome(z, found.pvalue, found.status)
    size = abs(z) if alternative == TWO_SIDED else alternative * z
    size -= _TIE * max(abs(z), 1.0)
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
        upper = _frontier(n_a, n_b, delta, z - _TIE * max(abs(z), 1.0))
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
