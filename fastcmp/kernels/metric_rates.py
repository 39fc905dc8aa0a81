"""Rates of one class, such as recall and F1, and their slopes.

A rate is a function of four sums: samples of the class that were predicted rightly (d),
samples of the class (r), predictions of it (c), and all samples (n). It does not change
where all four are multiplied by one number.
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple

from fastcmp._jit import kernel

RECALL: Final = 0
PRECISION: Final = 1
SPECIFICITY: Final = 2
NPV: Final = 3
F_BETA: Final = 4
JACCARD: Final = 5
FOWLKES_MALLOWS: Final = 6
INFORMEDNESS: Final = 7
MARKEDNESS: Final = 8
LR_PLUS: Final = 9
LR_MINUS: Final = 10
ODDS_RATIO: Final = 11

_ROUNDING: Final = 1e-13


class Slopes(NamedTuple):
    """Partial derivatives of a rate."""

    d: float
    r: float
    c: float
    n: float


@kernel
def _true_negatives(d: float, r: float, c: float, n: float) -> float:
    """Count samples neither of the class nor predicted as it."""
    rest = n - r - c + d
    whole = math.floor(d) == d and math.floor(r) == r and math.floor(c) == c
    if rest > _ROUNDING * n or (whole and math.floor(n) == n):
        return max(rest, 0.0)
    return 0.0  # of weights it is what rounding leaves


@kernel
def _parts(
    rate: int, d: float, r: float, c: float, n: float, beta: float
) -> tuple[float, float, Slopes, Slopes]:
    """Numerator and denominator of a rate, and the slopes of both."""
    if rate == RECALL:
        return d, r, Slopes(1.0, 0.0, 0.0, 0.0), Slopes(0.0, 1.0, 0.0, 0.0)
    if rate == PRECISION:
        return d, c, Slopes(1.0, 0.0, 0.0, 0.0), Slopes(0.0, 0.0, 1.0, 0.0)
    if rate == F_BETA:
        square = beta * beta
        top = Slopes(1.0 + square, 0.0, 0.0, 0.0)
        return (1.0 + square) * d, square * r + c, top, Slopes(0.0, square, 1.0, 0.0)
    if rate == JACCARD:
        return d, r + c - d, Slopes(1.0, 0.0, 0.0, 0.0), Slopes(-1.0, 1.0, 1.0, 0.0)
    rest = _true_negatives(d, r, c, n)
    if rate == SPECIFICITY:
        return rest, n - r, Slopes(1.0, -1.0, -1.0, 1.0), Slopes(0.0, -1.0, 0.0, 1.0)
    if rate == NPV:
        return rest, n - c, Slopes(1.0, -1.0, -1.0, 1.0), Slopes(0.0, 0.0, -1.0, 1.0)
    if rate == FOWLKES_MALLOWS:  # the square
        return d * d, r * c, Slopes(2.0 * d, 0.0, 0.0, 0.0), Slopes(0.0, c, r, 0.0)
    missed, false = r - d, c - d
    # As d * n - r * c, but neither product is much larger than what it is divided by.
    above = d * rest - missed * false
    if rate == INFORMEDNESS:
        top = Slopes(n, -c, -r, d)
        return above, r * (n - r), top, Slopes(0.0, n - 2.0 * r, 0.0, r)
    if rate == MARKEDNESS:
        top = Slopes(n, -c, -r, d)
        return above, c * (n - c), top, Slopes(0.0, 0.0, n - 2.0 * c, c)
    if rate == LR_PLUS:
        top = Slopes(n - r, -d, 0.0, d)
        return d * (n - r), r * false, top, Slopes(-r, false, r, 0.0)
    if rate == LR_MINUS:
        top = Slopes(r - n, n - r - missed, 0.0, missed)
        return missed * (n - r), r * rest, top, Slopes(r, rest - r, -r, r)
    top, below = (Slopes(rest + d, -d, -d, d), Slopes(-false - missed, false, missed, 0.0))
    return d * rest, missed * false, top, below


@kernel
def class_rate(rate: int, d: float, r: float, c: float, n: float, beta: float = 1.0) -> float:
    """Compute a rate of one class from four sums.

    Parameters
    ----------
    rate : int
        ``RECALL``, ``PRECISION``, ``SPECIFICITY``, ``NPV``, ``F_BETA``, ``JACCARD``,
        ``FOWLKES_MALLOWS``, ``INFORMEDNESS``, ``MARKEDNESS``, ``LR_PLUS``,
        ``LR_MINUS`` or ``ODDS_RATIO``.
    d, r, c, n : float
        Samples of the class that were predicted as it, samples of the class,
        predictions of it, and all samples; counts or weights.
    beta : float, optional
        What recall counts beside precision, for ``F_BETA``.

    Returns
    -------
    float
        NaN where it is not defined, such as the precision without predictions, and
        for sums that cannot be.

    Examples
    --------
    >>> from fastcmp.kernels import F_BETA, class_rate
    >>> class_rate(F_BETA, 3.0, 4.0, 5.0, 20.0)
    0.6666666666666666
    """
    known = RECALL <= rate <= ODDS_RATIO
    if not (known and 0.0 <= d <= min(r, c) and max(r, c) <= n):
        return math.nan
    top, below, _, _ = _parts(rate, d, r, c, n, beta)
    if not below > 0.0:
        return math.nan
    if rate == FOWLKES_MALLOWS:
        return d / math.sqrt(below)
    return top / below


@kernel
def class_slopes(  # the rate, its four sums and beta
    rate: int, d: float, r: float, c: float, n: float, beta: float
) -> Slopes:
    """Differentiate `class_rate` by its four sums; 0 where it is not defined."""
    top, below, of_top, of_below = _parts(rate, d, r, c, n, beta)
    if not below > 0.0 or (rate == FOWLKES_MALLOWS and top == 0.0):
        return Slopes(0.0, 0.0, 0.0, 0.0)
    value = top / below
    factor = 1.0 / below
    if rate == FOWLKES_MALLOWS:
        factor *= 0.5 / math.sqrt(value)
    return Slopes(
        factor * (of_top.d - value * of_below.d),
        factor * (of_top.r - value * of_below.r),
        factor * (of_top.c - value * of_below.c),
        factor * (of_top.n - value * of_below.n),
    )
