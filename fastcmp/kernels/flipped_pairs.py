"""Pairs of models under sign flips: differences of the flipped sums of each model."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from fastcmp._jit import kernel, sum_of, wide_vectors
from fastcmp.kernels.paired import mcnemar_exact
from fastcmp.kernels.sign_flips import (
    SIGN_FLIP_MAX_FLOATS,
    _count_extreme,
    _slack,
    sign_flip_floats,
    sign_flip_whole,
)
from fastcmp.kernels.special import ndtri, square
from fastcmp.kernels.status import GREATER, LESS
from fastcmp.kernels.typing import CodeArray, FloatArray, IntArray, OrderArray, StatusArray

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
        lower[r] = (first if first < second else second) + inverses[2, r]
        largest = second if first < second else first
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


# Rounding, as a part of the sum of squared differences: of a variance that is 0, and of
# one that is a difference of sums.
_NOTHING = 1e-26
_ROUNDING = 1e-12
_LANES = 64  # sums that are taken at once


class Units(NamedTuple):
    """Values of models in units, which are flipped."""

    #: Shape (M, G), and sizes, shape (G,).
    values: FloatArray
    sizes: FloatArray
    #: Of the squared residual of each unit, in the variance; shape (G,).
    factors: FloatArray
    #: Where each stratum begins, and G; shape (H + 1,).
    starts: IntArray


class StudentDraws(NamedTuple):
    """Flipped sums, and how they are counted."""

    #: Sums of the values of each model, and last of the sizes, with the signs of each
    #: draw; and the same of the values times sizes times factors; (H, 2, M + 1, R).
    sums: FloatArray
    #: As of `flipped_pairs.Draws`.
    added: int
    alternative: int
    rank: int


class _Pair(NamedTuple):
    """Two models, and sums of their differences."""

    a: int
    b: int
    total: float
    #: Of the sizes n, and of absolute differences.
    size: float
    absolute: float
    #: Variance of the total.
    variance: float
    #: Sums of factors times squared differences, differences times sizes, and squared
    #: sizes.
    squares: float
    products: float
    size_squares: float


class _Workspace(NamedTuple):
    """Weights of strata, and arrays to work in for each draw."""

    weights: FloatArray
    totals: FloatArray
    squares: FloatArray
    inside: StatusArray
    flags: StatusArray
    active: IntArray


@kernel
def _measure_pair(units: Units, a: int, b: int) -> _Pair:
    one, two = units.values[a], units.values[b]
    total = size = absolute = variance = 0.0
    squares = products = size_squares = 0.0
    for h in range(units.starts.size - 1):
        start, end = units.starts[h], units.starts[h + 1]
        own = own_size = 0.0
        for g in range(start, end):
            own += one[g] - two[g]
            own_size += units.sizes[g]
        mean = own / own_size
        for g in range(start, end):
            d, n, factor = one[g] - two[g], units.sizes[g], units.factors[g]
            absolute += abs(d)
            residual = d - n * mean
            variance += factor * residual * residual
            squares += factor * d * d
            products += factor * d * n
            size_squares += factor * n * n
        total += own
        size += own_size
    if variance <= _NOTHING * squares:
        variance = 0.0
    if abs(total) <= _slack(0.0, absolute):
        total = 0.0
    return _Pair(a, b, total, size, absolute, variance, squares, products, size_squares)


@kernel
def _weigh_strata(units: Units) -> FloatArray:
    """Give 2 / n and sum of factors x squared sizes / n**2 of each stratum."""
    weights = np.zeros((units.starts.size - 1, 2))
    for h in range(weights.shape[0]):
        size = squares = 0.0
        for g in range(units.starts[h], units.starts[h + 1]):
            size += units.sizes[g]
            squares += units.factors[g] * square(units.sizes[g])
        weights[h, 0], weights[h, 1] = 2.0 / size, squares / (size * size)
    return weights


@kernel
def _make_workspace(units: Units, draws: StudentDraws) -> _Workspace:
    n = draws.sums.shape[3]
    inside, flags = np.empty(n, np.uint8), np.empty(n, np.uint8)
    work = np.empty(n), np.empty(n), inside, flags, np.empty(n, np.int64)
    return _Workspace(_weigh_strata(units), *work)


@kernel
def _is_extreme(total: float, square: float, pair: _Pair, shift: float, alternative: int) -> bool:
    """Compare a draw's t, of its total and variance, with the observed one.

    `shift` was subtracted from the difference of means.
    """
    seen, squares = _shift(pair, shift)
    rounding = _ROUNDING * squares
    if alternative == LESS:
        seen, total = -seen, -total
    if abs(seen) <= _slack(0.0, pair.absolute):
        one_sided = alternative in (GREATER, LESS)
        return not one_sided or total >= -_slack(0.0, pair.absolute)
    left, right = total * total * pair.variance, seen * seen
    if alternative in (GREATER, LESS):
        if seen < 0.0:
            return total >= 0.0 or left <= right * (square + rounding)
        if total <= 0.0:
            return False
    # 0 / 0 is 0.
    near = total * total >= 1e-18 * right
    return near and left >= right * (square - rounding)


@kernel
def student_test_pairs(
    units: Units, draws: StudentDraws, pairs: OrderArray, out: FloatArray
) -> None:
    """Test pairs of models by the t of their sums with random signs.

    `out` (P, 2) gets the observed t and the p-value.
    """
    work = _make_workspace(units, draws)
    n = draws.sums.shape[3]
    for p in range(pairs.shape[0]):
        pair = _measure_pair(units, pairs[p, 0], pairs[p, 1])
        count = _count_all(draws, pair, 0.0, work, work.flags)
        out[p, 0] = _ratio(pair.total, pair.variance)
        out[p, 1] = (count + draws.added) / float(n + draws.added)


@kernel
def balanced_statistics(
    values: FloatArray, factor: float, pairs: OrderArray, out: FloatArray
) -> None:
    """Write t of pairs of models, by values of units of one size, shape (M, G)."""
    wide_vectors()
    n = values.shape[1]
    sums = np.empty(_LANES)
    totals = np.empty(values.shape[0])
    for m in range(values.shape[0]):
        totals[m] = sum_of(values[m])
    for p in range(pairs.shape[0]):
        one, two = values[pairs[p, 0]], values[pairs[p, 1]]
        total = totals[pairs[p, 0]] - totals[pairs[p, 1]]
        mean = total / n
        sums[:] = 0.0
        for start in range(0, n - _LANES + 1, _LANES):
            for k in range(_LANES):
                residual = one[start + k] - two[start + k] - mean
                sums[k] += residual * residual
        for g in range(n // _LANES * _LANES, n):
            sums[0] += square(one[g] - two[g] - mean)
        squares = sum_of(sums)
        if squares <= _NOTHING * (squares + total * mean):
            squares = 0.0
        out[p] = _ratio(total, factor * squares)


@kernel
def _ratio(total: float, variance: float) -> float:
    if variance > 0.0:
        return total / math.sqrt(variance)
    return math.copysign(math.inf, total) if total != 0.0 else 0.0


@kernel
def student_pair_limits(
    units: Units, draws: StudentDraws, pairs: OrderArray, out: FloatArray
) -> None:
    """Write the differences of means, (P, 2), between which pairs are not rejected."""
    work = _make_workspace(units, draws)
    always = _count_unchanged(units, draws)
    for p in range(pairs.shape[0]):
        pair = _measure_pair(units, pairs[p, 0], pairs[p, 1])
        for k in range(2):
            side = 2.0 * k - 1.0
            out[p, k] = side * math.inf
            if draws.alternative * side <= 0.0 and always < draws.rank:
                out[p, k] = _limit(draws, pair, side, work)


@kernel
def _count_unchanged(units: Units, draws: StudentDraws) -> int:
    """Count the draws that are as extreme whatever is subtracted: all signs alike."""
    sums = draws.sums[:, 0, -1]
    size = sum_of(units.sizes)
    count = 0
    for r in range(sums.shape[1]):
        flipped = sum_of(sums[:, r])
        if draws.alternative not in (GREATER, LESS):
            flipped = abs(flipped)
        count += flipped >= size * (1.0 - 1e-12)
    return count


@kernel
def _count_all(
    draws: StudentDraws, pair: _Pair, shift: float, work: _Workspace, out: CodeArray
) -> int:
    """Mark and count the draws that are as extreme after a shift."""
    wide_vectors()
    totals, squares = work.totals, work.squares
    weights = work.weights
    a, b = pair.a, pair.b
    seen, all_squares = _shift(pair, shift)
    n, last = totals.size, draws.sums.shape[2] - 1
    for r in range(n):
        totals[r], squares[r] = 0.0, all_squares
    for h in range(weights.shape[0]):
        sums, products = draws.sums[h, 0], draws.sums[h, 1]
        for r in range(n):
            top = sums[a, r] - sums[b, r] - shift * sums[last, r]
            cross = products[a, r] - products[b, r] - shift * products[last, r]
            totals[r] += top
            squares[r] += top * (weights[h, 1] * top - weights[h, 0] * cross)
    count = 0
    sided = draws.alternative in (GREATER, LESS)
    if sided or abs(seen) <= _slack(0.0, pair.absolute):
        for r in range(n):
            out[r] = _is_extreme(totals[r], squares[r], pair, shift, draws.alternative)
            count += int(out[r])
        return count
    # As `_is_extreme`, without branches.
    rounding, right = _ROUNDING * all_squares, seen * seen
    for r in range(n):
        top = totals[r] * totals[r]
        near = top >= 1e-18 * right
        out[r] = near & (top * pair.variance >= right * (squares[r] - rounding))
        count += int(out[r])
    return count


@kernel
def _shift(pair: _Pair, shift: float) -> tuple[float, float]:
    """The total and the sum of squares after a shift of the means."""
    seen = pair.total - shift * pair.size
    change = shift * (shift * pair.size_squares - 2.0 * pair.products)
    return seen, pair.squares + change


@kernel
def _find_extreme(
    draws: StudentDraws,
    pair: _Pair,
    weights: FloatArray,
    shift: float,
    active: IntArray,
    out: CodeArray,
) -> int:
    """Mark and count those of some draws that are as extreme after a shift."""
    count = 0
    a, b = pair.a, pair.b
    sums, last = draws.sums, draws.sums.shape[2] - 1
    squares = _shift(pair, shift)[1]
    for k in range(active.size):
        r = active[k]
        total, square = 0.0, squares
        for h in range(weights.shape[0]):
            top = sums[h, 0, a, r] - sums[h, 0, b, r] - shift * sums[h, 0, last, r]
            cross = sums[h, 1, a, r] - sums[h, 1, b, r] - shift * sums[h, 1, last, r]
            total += top
            square += top * (weights[h, 1] * top - weights[h, 0] * cross)
        out[k] = _is_extreme(total, square, pair, shift, draws.alternative)
        count += out[k]
    return count


@kernel
def _first_reach(draws: StudentDraws) -> float:
    """The quantile of the normal distribution that belongs to the rank."""
    tail = max(draws.rank, 1) / (draws.sums.shape[3] + 2.0)
    sided = draws.alternative in (GREATER, LESS)
    return max(-ndtri(tail if sided else 0.5 * tail), 0.1)


@kernel
def _limit(draws: StudentDraws, pair: _Pair, side: float, work: _Workspace) -> float:
    """Bisect for the shift at which fewer draws than the rank are as extreme.

    Draws that are equally extreme at both ends of the bracket are not looked at again.
    """
    middle = pair.total / pair.size
    if pair.variance == 0.0:
        return middle
    inside, flags, active = work.inside, work.flags, work.active
    # What a normal distribution would give is where to begin.
    step = side * _first_reach(draws) * math.sqrt(pair.variance) / pair.size
    inner, outer = middle + 0.85 * step, middle + 1.2 * step
    if _count_all(draws, pair, inner, work, inside) < draws.rank:
        inner, outer = middle, inner
        _count_all(draws, pair, inner, work, inside)
    for _ in range(64):
        count = _count_all(draws, pair, outer, work, flags)
        if count < draws.rank:
            break
        inner, outer = outer, middle + 2.0 * (outer - middle)
        inside[:] = flags
    else:
        return side * math.inf
    # From here on `inside` and `flags` are of the active draws.
    base, n = _keep_crossing(active, inside, flags)
    for _ in range(100):
        shift = 0.5 * (inner + outer)
        if n == 0 or shift in (inner, outer):
            break
        some = active[:n]
        count = base + _find_extreme(draws, pair, work.weights, shift, some, flags)
        further = count >= draws.rank
        if further:
            inner = shift
        else:
            outer = shift
        kept = 0
        for k in range(n):
            # Those that differ at the new ends.
            if (flags[k] == inside[k]) == further:
                active[kept], inside[kept] = some[k], inside[k]
                kept += 1
            else:
                base += flags[k]
        n = kept
    return 0.5 * (inner + outer)


@kernel
def _keep_crossing(active: IntArray, inside: CodeArray, outside: CodeArray) -> tuple[int, int]:
    """Keep the draws that differ at both ends; count the others that are extreme."""
    base = n = 0
    for r in range(active.size):
        if inside[r] != outside[r]:
            active[n], inside[n] = r, inside[r]
            n += 1
        else:
            base += inside[r]
    return base, n
