"""The largest of many statistics that are drawn together: step-down max-T."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from fastcmp._jit import kernel, look_at_clock, wide_vectors
from fastcmp.kernels.special import _chdtrc, _fdtrc, chdtrc, fdtrc, itp_step, narrowed
from fastcmp.kernels.status import GREATER, LESS
from fastcmp.kernels.typing import FloatArray, IntArray, OrderArray

_MAX_STEPS = 100


@kernel
def step_down(
    draws: FloatArray,
    pairs: OrderArray,
    inverse: FloatArray,
    least: FloatArray,
    alternative: int,
    counts: IntArray,
    largest: FloatArray,
) -> None:
    """Count the draws in which some pair, from the first on, is as extreme as each.

    Parameters
    ----------
    draws : ndarray of float64, shape (M, B)
        A number for each model in each draw.
    pairs : ndarray of int32, shape (P, 2)
        Models of each pair, from the least extreme pair to the most extreme one.
    inverse : ndarray of float64, shape (P,)
        What makes differences of draws the statistic of a pair: 1 over a standard
        error, 0 for a pair that never differs.
    least : ndarray of float64, shape (P,)
        What a statistic must reach to be as extreme as the observed one of each pair,
        ascending: the observed one less what rounding may take away.
    alternative : int
        ``TWO_SIDED``, where absolute values are compared, ``GREATER`` or ``LESS``.
    counts : ndarray of int64, shape (P,)
        To entry p is added in how many draws a statistic of the pairs 0, ..., p reaches
        ``least[p]``.
    largest : ndarray of float64, shape (B,)
        Receives the largest statistic of each draw; two-sided the largest absolute one.

    Notes
    -----
    O(P B). With counts c of B random draws the adjusted p-values are (1 + c) / (1 + B),
    made monotone: none is below one of a more extreme pair.

    References
    ----------
    .. [1] P. H. Westfall, S. S. Young, Resampling-Based Multiple Testing (1993),
       algorithm 4.1.

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.kernels import TWO_SIDED, step_down
    >>> draws = np.array([[1.0, -2.0, 0.0], [0.0, 1.0, 1.0], [1.0, 0.0, 0.0]])
    >>> pairs = np.array([[0, 2], [0, 1]], np.int32)
    >>> counts, largest = np.zeros(2, np.int64), np.empty(3)
    >>> observed = np.array([0.0, 2.0])
    >>> step_down(draws, pairs, np.ones(2), observed, TWO_SIDED, counts, largest)
    >>> counts.tolist(), largest.tolist()
    ([3, 1], [1.0, 3.0, 1.0])
    """
    sided = alternative in (GREATER, LESS)
    largest[:] = -np.inf if sided else 0.0
    for p in range(pairs.shape[0]):
        i, j = pairs[p, 0], pairs[p, 1]
        scale = -inverse[p] if alternative == LESS else inverse[p]
        counts[p] += _raise(draws[i], draws[j], scale, least[p], largest, sided)


def _raise_by_numpy(
    a: FloatArray, b: FloatArray, scale: float, least: float, largest: FloatArray, sided: bool
) -> int:
    """As `_raise`."""
    value = (a - b) * scale
    value = value if sided else np.abs(value)
    np.copyto(largest, value, where=value > largest)
    return int(np.count_nonzero(largest >= least))


@partial(kernel, by_numpy=_raise_by_numpy)
def _raise(
    a: FloatArray, b: FloatArray, scale: float, least: float, largest: FloatArray, sided: bool
) -> int:
    wide_vectors()
    n = 0
    for r in range(largest.size):
        value = (a[r] - b[r]) * scale
        value = value if sided else abs(value)
        # `max` checks for NaN, and is not vectorised.
        value = value if value > largest[r] else largest[r]
        largest[r] = value
        n += value >= least
    return n


def _tail_by_numpy(
    x: float, largest: FloatArray, radii: FloatArray, rank: float, df: float
) -> float:
    """As `radial_tail`."""
    look_at_clock(largest.size)
    slopes = np.where(radii > 0.0, largest / radii, 0.0)
    crossed = slopes > 0.0 if x > 0.0 else ~(slopes >= 0.0)
    squares: Any = (x / slopes[crossed]) * (x / slopes[crossed])
    beyond = _chdtrc(rank, squares, 0) if df == np.inf else _fdtrc(rank, df, squares / rank, 0)
    parts = np.full(largest.size, 0.0 if x > 0.0 else 1.0)
    parts[crossed] = beyond if x > 0.0 else 1.0 - beyond
    return float(np.add.accumulate(parts)[-1] / largest.size)


@partial(kernel, by_numpy=_tail_by_numpy)
def radial_tail(x: float, largest: FloatArray, radii: FloatArray, rank: float, df: float) -> float:
    """Probability that the largest of normal or t statistics reaches a number.

    Parameters
    ----------
    x : float
        The number.
    largest : ndarray of float64, shape (B,)
        Largest statistic of each draw, a linear function of `rank` independent standard
        normal numbers.
    radii : ndarray of float64, shape (B,)
        Length of the vector of these.
    rank, df : float
        Degrees of freedom: of the radius, and of t; infinite for normal statistics.

    Returns
    -------
    float
        The average over the directions that were drawn; the radius is integrated.

    Notes
    -----
    Where the rank is low this varies far less than the proportion of draws beyond: of a
    tail of 0.05 the standard error of that is 0.22 over the root of B, and here, for
    the pairs of five models, 0.026.

    References
    ----------
    .. [1] I. Deak, "Three digit accurate multiple normal probabilities", Numerische
       Mathematik 35 (1980) 369-380.

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.kernels import radial_tail
    >>> largest, radii = np.array([1.0, -1.0]), np.array([1.0, 1.0])
    >>> round(radial_tail(1.6448536, largest, radii, 1.0, np.inf), 6)
    0.05
    """
    total = 0.0
    for r in range(largest.size):
        # At the radius x / slope the statistic is x; beyond it grows, or falls.
        slope = largest[r] / radii[r] if radii[r] > 0.0 else 0.0
        if x > 0.0:
            total += _beyond(x / slope, rank, df) if slope > 0.0 else 0.0
        else:
            total += 1.0 if slope >= 0.0 else 1.0 - _beyond(x / slope, rank, df)
    return total / largest.size


@kernel
def _beyond(radius: float, rank: float, df: float) -> float:
    """Probability of a radius as large."""
    if df == np.inf:
        return chdtrc(rank, radius * radius)
    return fdtrc(rank, df, radius * radius / rank)


@kernel
def radial_quantile(
    largest: FloatArray, radii: FloatArray, rank: float, df: float, tail: float
) -> float:
    """Find the number that the largest statistic reaches with a given probability.

    Parameters
    ----------
    largest, radii : ndarray of float64, shape (B,)
        As `radial_tail` has them.
    rank, df : float
        As `radial_tail` has them.
    tail : float
        The probability, in (0, 1/2].

    Returns
    -------
    float
        The number, to 12 digits; 0 where no statistic varies.

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.kernels import radial_quantile
    >>> largest, radii = np.array([1.0, -1.0]), np.array([1.0, 1.0])
    >>> round(radial_quantile(largest, radii, 1.0, np.inf, 0.05), 6)
    1.644854
    """
    low, high = 0.0, 1.0
    f_low = radial_tail(low, largest, radii, rank, df) - tail
    f_high = radial_tail(high, largest, radii, rank, df) - tail
    while f_high > 0.0:
        low, f_low, high = high, f_high, 2.0 * high
        f_high = radial_tail(high, largest, radii, rank, df) - tail
    if f_low <= 0.0 or not largest.max() > 0.0:
        return 0.0
    for i in range(_MAX_STEPS):
        if high - low <= 1e-12 * high:
            break
        guess = itp_step(low, f_low, high, f_high, i)
        found = radial_tail(guess, largest, radii, rank, df) - tail
        low, f_low, high, f_high = narrowed(low, f_low, high, f_high, guess, found)
    return 0.5 * (low + high)


@kernel
def step_down_tails(
    draws: FloatArray,
    radii: FloatArray,
    pairs: OrderArray,
    inverse: FloatArray,
    statistic: FloatArray,
    how: tuple[float, float, int],
    tails: FloatArray,
) -> None:
    """Work out p-values of step-down max-T of normal or t statistics.

    Parameters
    ----------
    draws : ndarray of float64, shape (M, B)
        A number for each model in each draw.
    radii : ndarray of float64, shape (B,)
        As `radial_tail` has them.
    pairs : ndarray of int32, shape (P, 2)
        Models of each pair, from the least extreme pair to the most extreme one.
    inverse : ndarray of float64, shape (P,)
        What makes differences of draws the statistic of a pair.
    statistic : ndarray of float64, shape (P,)
        The observed ones, ascending; two-sided their absolute values.
    how : tuple
        ``(rank, df, alternative)``: the degrees of freedom as in `radial_tail`, and the
        side as in `step_down`.
    tails : ndarray of float64, shape (P,)
        Receives for each pair the probability that a statistic of the pairs 0, ..., p
        reaches ``statistic[p]``.

    Notes
    -----
    O(P B) tails of the chi-square or F distribution.

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.kernels import TWO_SIDED, step_down_tails
    >>> draws, radii = np.array([[1.0, -1.0], [0.0, 0.0]]), np.ones(2)
    >>> tails, pairs = np.empty(1), np.array([[0, 1]], np.int32)
    >>> how = (1.0, np.inf, TWO_SIDED)
    >>> step_down_tails(draws, radii, pairs, np.ones(1), np.array([1.96]), how, tails)
    >>> tails.round(4).tolist()
    [0.05]
    """
    rank, df, alternative = how
    sided = alternative in (GREATER, LESS)
    largest = np.full(radii.size, -np.inf if sided else 0.0)
    for p in range(pairs.shape[0]):
        i, j = pairs[p, 0], pairs[p, 1]
        scale = -inverse[p] if alternative == LESS else inverse[p]
        _raise(draws[i], draws[j], scale, 0.0, largest, sided)
        tails[p] = radial_tail(statistic[p], largest, radii, rank, df)


_TILE = 32  # models, of which some hundred draws stay in a first-level cache


def _maxima_by_numpy(
    draws: FloatArray, weights: FloatArray, rows: IntArray, targets: IntArray, out: FloatArray
) -> None:
    """As `difference_maxima`."""
    fours = draws.shape[0] // 4 * 4
    models = np.arange(draws.shape[0])
    models[:fours] ^= 3  # of four equal differences the last is taken: zeros have signs
    for r in range(rows.size):
        counts = weights[r] != 0.0
        counts[:fours] = np.repeat(counts[:fours].reshape(-1, 4).any(axis=1), 4)
        for j in models[counts[models]]:
            difference = (draws[rows[r]] - draws[j]) * weights[r, j]
            np.copyto(out[targets[r]], difference, where=difference > out[targets[r]])


@partial(kernel, by_numpy=_maxima_by_numpy)
def difference_maxima(
    draws: FloatArray, weights: FloatArray, rows: IntArray, targets: IntArray, out: FloatArray
) -> None:
    """Raise entries to the largest weighted differences from other models.

    Parameters
    ----------
    draws : ndarray of float64 or float32, shape (M, B)
        Of M models; a column a draw. Some hundred columns stay in a cache.
    weights : ndarray of the same type, shape (R, M)
        What the difference of model ``rows[r]`` minus model j is multiplied by: one
        over its standard error, or 0 where the pair does not count.
    rows : ndarray of int64, shape (R,)
        Models whose differences are looked at.
    targets : ndarray of int64, shape (R,)
        Row of `out` that each raises.
    out : ndarray of the same type, shape (T, B)
        ``out[targets[r]]`` becomes the maximum of itself and of
        ``(draws[rows[r]] - draws[j]) * weights[r, j]`` over all j.

    Notes
    -----
    O(R M B). Raised entries are 0 at least where a weight of 0 stands among others.

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.kernels import difference_maxima
    >>> draws = np.array([[0.0, 1.0], [1.0, 1.0], [3.0, 0.5]])
    >>> rows, out = np.arange(3), np.zeros((3, 2))
    >>> difference_maxima(draws, np.ones((3, 3)), rows, rows, out)
    >>> out.tolist()
    [[0.0, 0.5], [1.0, 0.5], [3.0, 0.0]]
    """
    n_models = draws.shape[0]
    for first in range(0, n_models, _TILE):
        last = min(first + _TILE, n_models)
        _raise_by_tile(draws, weights, (rows, targets), (first, last), out)


@kernel
def _raise_by_tile(
    draws: FloatArray,
    weights: FloatArray,
    which: tuple[IntArray, IntArray],
    tile: tuple[int, int],
    out: FloatArray,
) -> None:
    """Raise maxima by the differences from some models, four at a time."""
    wide_vectors()
    rows, targets = which
    first, last = tile
    fours = first + (last - first) // 4 * 4
    for r in range(rows.size):
        i, t = rows[r], targets[r]
        for j in range(first, fours, 4):
            w0, w1 = weights[r, j], weights[r, j + 1]
            w2, w3 = weights[r, j + 2], weights[r, j + 3]
            if w0 != 0.0 or w1 != 0.0 or w2 != 0.0 or w3 != 0.0:
                for b in range(draws.shape[1]):
                    x = draws[i, b]
                    d0, d1 = (x - draws[j, b]) * w0, (x - draws[j + 1, b]) * w1
                    d2, d3 = (x - draws[j + 2, b]) * w2, (x - draws[j + 3, b]) * w3
                    d0 = max(d1, d0)
                    d2 = max(d3, d2)
                    d0 = max(d2, d0)
                    out[t, b] = max(out[t, b], d0)
        for j in range(fours, last):
            w0 = weights[r, j]
            if w0 != 0.0:
                for b in range(draws.shape[1]):
                    d0 = (draws[i, b] - draws[j, b]) * w0
                    out[t, b] = max(out[t, b], d0)
