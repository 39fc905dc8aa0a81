"""Pairs of models under sign flips: differences of the flipped sums of each model."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fastcmp._jit import kernel, wide_vectors
from fastcmp.kernels.paired import mcnemar_exact
from fastcmp.kernels.sign_flips import (
    SIGN_FLIP_MAX_FLOATS,
    _count_extreme,
    _slack,
    sign_flip_floats,
    sign_flip_whole,
)
from fastcmp.kernels.special import square
from fastcmp.kernels.status import GREATER, LESS

if TYPE_CHECKING:
    from fastcmp.kernels.typing import FloatArray, OrderArray


# Units after which it is asked whether a pair takes too many steps.
_PART = 1024


class Draws(NamedTuple):
    """Flipped sums, and how they are counted."""

    #: Sums of each model, and last of the sizes, with the signs of each draw, (M+1, R).
    sums: FloatArray
    #: 1 / (n - N*), 1 / (n + N*) of the flipped sizes N*, 0 where that is no number;
    #: and -inf for draws that are always as extreme, else 0; shape (3, R).
    inverses: FloatArray
    #: What is added to a count, and to R, for a p-value: 1, or 0 where the draws are
    #: all signs.
    added: int
    alternative: int
    #: An end of an interval is this one of the draws, ordered by where they begin to be
    #: as extreme, from 1; the end is infinite if there are none.
    rank: int


class Observed(NamedTuple):
    """Values of models in units, which are flipped."""

    #: Shape (M, G); whole numbers, or any.
    values: FloatArray
    #: Sums of the values of each model, and of their absolute values; shape (M,).
    totals: FloatArray
    sizes: FloatArray
    whole: bool


@kernel
def test_pairs(
    observed: Observed, draws: Draws, pairs: OrderArray, steps: int, out: FloatArray
) -> None:
    """Test pairs of models by their sums with random signs.

    `out` (P, 3) gets the sums of the differences, the p-values, and 1 where these are
    exact: that is tried where it takes no more than so many steps.
    """
    flipped = np.empty(draws.sums.shape[1])
    for p in range(pairs.shape[0]):
        a, b = pairs[p, 0], pairs[p, 1]
        total = observed.totals[a] - observed.totals[b]
        out[p, 0] = total
        out[p, 1] = _exact_pvalue(observed, a, b, steps, draws.alternative)
        out[p, 2] = 1.0
        if math.isnan(out[p, 1]):
            for r in range(flipped.size):
                flipped[r] = draws.sums[a, r] - draws.sums[b, r]
            slack = _slack(total, observed.sizes[a] + observed.sizes[b])
            if observed.whole:
                slack = 0.5
            count = _count_extreme(flipped, total, slack, draws.alternative)
            out[p, 1] = (count + draws.added) / float(flipped.size + draws.added)
            out[p, 2] = 1.0 - draws.added


@kernel
def _exact_pvalue(observed: Observed, a: int, b: int, steps: int, alternative: int) -> float:
    """P-value of all signs, or NaN where it would take too many steps."""
    wide_vectors()
    one, two = observed.values[a], observed.values[b]
    n = size = largest = 0
    for start in range(0, one.size, _PART):
        for g in range(start, min(start + _PART, one.size)):
            d = abs(one[g] - two[g])
            n += d != 0.0
            if observed.whole:
                size += int(d)
                largest = max(largest, int(d))
        if not observed.whole:
            if n > SIGN_FLIP_MAX_FLOATS or 4.0 * 2.0 ** (0.5 * n) > steps:
                return math.nan
        elif size != n * largest and 0.5 * float(size) * n > steps:
            return math.nan
    if not observed.whole:
        return sign_flip_floats(one - two, alternative).pvalue
    if n == 0 or size != n * largest:
        return sign_flip_whole((one - two).astype(np.int64), alternative).pvalue
    total = int(observed.totals[a] - observed.totals[b])
    only_a = (n + total // largest) // 2
    return mcnemar_exact(only_a, n - only_a, alternative).pvalue


@kernel
def pair_limits(
    draws: Draws, pairs: OrderArray, totals: FloatArray, size: float, out: FloatArray
) -> None:
    """Write the differences of means, (P, 2), between which pairs are not rejected.

    `totals` (P,) are the observed sums of differences, `size` is that of the sizes n.
    A draw is as extreme at a difference d of means if |T* - d N*| >= |T - d n|: between
    (T - T*) / (n - N*) and (T + T*) / (n + N*). So the ends are order statistics.
    """
    n = draws.sums.shape[1]
    lower, upper, kept = np.empty(n), np.empty(n), np.empty(n)
    sided = draws.alternative in (GREATER, LESS)
    distance = 0.0
    for p in range(pairs.shape[0]):
        one, two = draws.sums[pairs[p, 0]], draws.sums[pairs[p, 1]]
        middle = totals[p] / size
        out[p, 0], out[p, 1] = -math.inf, math.inf
        if sided:
            side = float(draws.alternative)
            _begin(one, two, totals[p], draws.inverses, side, lower)
            end = side * _smallest(lower, draws.rank, -math.inf, kept)
            out[p, 0 if draws.alternative == GREATER else 1] = end
            continue
        _begin_both(one, two, totals[p], draws.inverses, lower, upper)
        # Where the end of the last pair was, a little nearer to the middle.
        spread = _spread(one, two) / size
        near = 0.93 * distance * spread
        low = _smallest(lower, draws.rank, middle - near, kept)
        high = -_smallest(upper, draws.rank, -middle - near, kept)
        out[p, 0], out[p, 1] = low, high
        if spread > 0.0 and high - low < math.inf:
            distance = 0.5 * (high - low) / spread


@kernel
def _spread(one: FloatArray, two: FloatArray) -> float:
    """Estimate the root mean square of the flipped sums of differences."""
    n = min(one.size, 500)
    squares = 0.0
    for r in range(n):
        squares += square(one[r] - two[r])
    return math.sqrt(squares / n)


@kernel
def _begin(
    one: FloatArray,
    two: FloatArray,
    total: float,
    inverses: FloatArray,
    side: float,
    out: FloatArray,
) -> None:
    """Write where each draw begins to be as extreme, one-sided."""
    for r in range(out.size):
        begin = (total - (one[r] - two[r])) * inverses[0, r]
        out[r] = side * begin + inverses[2, r]


@kernel
def _begin_both(
    one: FloatArray,
    two: FloatArray,
    total: float,
    inverses: FloatArray,
    lower: FloatArray,
    upper: FloatArray,
) -> None:
    """Write where each draw begins to be as extreme, from below and from above."""
    wide_vectors()
    for r in range(lower.size):
        flipped = one[r] - two[r]
        first = (total - flipped) * inverses[0, r]
        second = (total + flipped) * inverses[1, r]
        # `min` and `max` look for NaN, and are no vectors.
        lower[r] = (first if first < second else second) + inverses[2, r]  # noqa: FURB136
        largest = second if first < second else first  # noqa: FURB136
        upper[r] = inverses[2, r] - largest


@kernel
def _smallest(values: FloatArray, rank: int, bound: float, kept: FloatArray) -> float:
    """Find the value of a rank from 1 on, which may be below the bound."""
    if rank < 1:
        return -math.inf
    if rank > values.size:
        return math.inf
    count = 0
    for r in range(values.size):
        kept[count] = values[r]
        count += values[r] <= bound
    if count >= rank:
        values = kept[:count]
    return float(np.partition(values, rank - 1)[rank - 1])
