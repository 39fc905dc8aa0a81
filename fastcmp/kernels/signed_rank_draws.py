"""Draws of the Bayesian signed-rank test, many at a time.

With weights w of the tasks, the part of a is the sum of w_i w_j over the pairs (i, j)
whose differences add up to more than twice the rope. In ascending order of the
differences these j are an end of the order for each i, so that one draw takes a sum
over i of w_i times a sum of the last weights: O(D).
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from fastcmp._jit import kernel, look_at_clock, wide_vectors
from fastcmp.kernels.dirichlet import _SCALE, _12, random_exponentials, random_gamma
from fastcmp.kernels.rng import _word
from fastcmp.kernels.special import _ndtri

if TYPE_CHECKING:
    from fastcmp.kernels.typing import FloatArray, IntArray

_LANES: Final = 32  # draws at once


@kernel
def pairs_above(ordered: FloatArray, sums: tuple[float, float], first: IntArray) -> None:
    """Find for each number the first of which the sum with it is large, in two ways.

    `ordered` ascends, shape (n,); `first`, shape (2, n), receives where the sum first
    exceeds `sums[0]`, and `sums[1]`, n for nowhere.
    """
    n = ordered.size
    for way in range(2):
        j = n
        for i in range(n):
            while j > 0 and ordered[i] + ordered[j - 1] > sums[way]:
                j -= 1
            first[way, i] = j


def _draws_by_numpy(
    order: IntArray,
    above: IntArray,
    below: IntArray,
    prior: float,
    draws: tuple[int, int, int],
    counts: FloatArray,
) -> None:
    """As `signed_rank_draws`."""
    seed, first, n_draws = draws
    n = order.shape[1]
    counts[:] = 0.0
    for start in range(0, n_draws, 4096):
        size = min(4096, n_draws - start)
        weights = np.empty((n, size))
        random_exponentials(seed, first + start, 0, weights[: n - 1])
        if prior == 0.5:  # as `random_gamma`
            replicates: Any = first + start + np.arange(size)
            words = _word(seed, replicates, n - 1)
            z: Any = _ndtri(((words >> _12).astype(np.float64) + 0.5) * _SCALE, 0)
            weights[n - 1] = 0.5 * z * z
        else:
            for r in range(size):
                weights[n - 1, r] = random_gamma(prior, seed, first + start + r, n - 1)
        for p in range(order.shape[0]):
            look_at_clock(n * size)
            own = weights[order[p]]
            sums = np.add.accumulate(np.vstack([np.zeros(size), own]))
            up = sums[n] - 0.5 * (sums[above[p, 0]] + sums[above[p, 1]])
            down = 0.5 * (sums[below[p, 0]] + sums[below[p, 1]])
            a = np.add.accumulate(own * up)[-1]
            b = np.add.accumulate(own * down)[-1]
            rope = sums[n] * sums[n] - a - b
            tied = ~((a > b) | (b > a))
            a_most, b_most = (a >= b) & (a > rope), (b > a) & (b > rope)
            half = 0.5 * np.count_nonzero(tied & a_most)
            counts[p, 0] += np.count_nonzero(a_most) - half
            counts[p, 1] += np.count_nonzero(~(a_most | b_most))
            counts[p, 2] += np.count_nonzero(b_most) + half
            counts[p, 3] += np.count_nonzero(a > b) + 0.5 * np.count_nonzero(tied)


@partial(kernel, by_numpy=_draws_by_numpy)
def signed_rank_draws(
    order: IntArray,
    above: IntArray,
    below: IntArray,
    prior: float,
    draws: tuple[int, int, int],
    counts: FloatArray,
) -> None:
    """Count the draws in which a, the rope or b is largest, for P pairs of models.

    Parameters
    ----------
    order : ndarray of int64, shape (P, D + 1)
        Tasks by ascending difference; D is the task of the prior.
    above : ndarray of int64, shape (P, 2, D + 1)
        For each of them from where on the sum of the two differences is above twice the
        rope, and at it or above: half of the weight between counts.
    below : ndarray of int64, shape (P, 2, D + 1)
        Up to where, exclusive, it is below minus twice the rope, and at it or below.
    prior : float
        Weight of the task of the prior; 0 for none.
    draws : tuple of int
        Seed, first draw, and how many. Draw i is a function of (seed, i).
    counts : ndarray of float64, shape (P, 4)
        Receives in how many draws a, the rope and b have the largest part, and a has
        more than b; half a draw where they have the same.
    """
    seed, first, n_draws = draws
    n = order.shape[1]
    lanes = _LANES
    weights = np.empty((n, lanes))
    sums = np.empty((n + 1, lanes))
    parts = np.empty((2, lanes))
    counts[:] = 0.0
    for start in range(0, n_draws, lanes):
        size = min(lanes, n_draws - start)
        random_exponentials(seed, first + start, 0, weights[: n - 1])
        for r in range(lanes):
            weights[n - 1, r] = random_gamma(prior, seed, first + start + r, n - 1)
        for p in range(order.shape[0]):
            _sum_parts(order[p], above[p], below[p], weights, sums, parts)
            for r in range(size):
                a, b, total = parts[0, r], parts[1, r], sums[n, r]
                _count(a, total * total - a - b, b, counts[p])


@kernel
def _sum_parts(
    order: IntArray,
    above: IntArray,
    below: IntArray,
    weights: FloatArray,
    sums: FloatArray,
    parts: FloatArray,
) -> None:
    """Compute twice-weighted parts of a and b, not divided by the squared total."""
    wide_vectors()
    n, lanes = order.size, _LANES
    for r in range(lanes):
        sums[0, r] = 0.0
        parts[0, r] = parts[1, r] = 0.0
    for i in range(n):
        task = order[i]
        for r in range(lanes):
            sums[i + 1, r] = sums[i, r] + weights[task, r]
    for i in range(n):
        task = order[i]
        high, reached = above[0, i], above[1, i]
        low, touched = below[0, i], below[1, i]
        if high == reached and low == touched:
            for r in range(lanes):
                own = weights[task, r]
                parts[0, r] += own * (sums[n, r] - sums[high, r])
                parts[1, r] += own * sums[low, r]
        else:
            for r in range(lanes):
                up = sums[n, r] - 0.5 * (sums[high, r] + sums[reached, r])
                down = 0.5 * (sums[low, r] + sums[touched, r])
                parts[0, r] += weights[task, r] * up
                parts[1, r] += weights[task, r] * down


@kernel
def _count(a: float, rope: float, b: float, counts: FloatArray) -> None:
    """Count one draw."""
    if a > b:
        counts[3] += 1.0
        counts[0 if a > rope else 1] += 1.0
    elif b > a:
        counts[2 if b > rope else 1] += 1.0
    else:
        counts[3] += 0.5
        if a > rope:
            counts[0] += 0.5
            counts[2] += 0.5
        else:
            counts[1] += 1.0
