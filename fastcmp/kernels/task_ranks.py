"""Ranks of models within tasks, and who wins how often."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp._jit import kernel
from fastcmp.kernels.rng import random_below

if TYPE_CHECKING:
    from fastcmp.kernels.typing import FloatArray, IntArray


@kernel
def midranks_sorted(
    ordered: FloatArray, order: IntArray, gaps: FloatArray, out: FloatArray
) -> float:
    """Write the midranks of one row of numbers that were sorted.

    Parameters
    ----------
    ordered : ndarray of float64, shape (n,)
        Ascending; NaN, which has no rank, at the end.
    order : ndarray of int64, shape (n,)
        Where each stood before.
    gaps : ndarray of float64, shape (n,)
        Neighbours i - 1 and i are tied where they are equal, or differ by at most
        ``gaps[i]``; the first entry is not read.
    out : ndarray of float64, shape (n,)
        Receives the ranks from 1 on, NaN for NaN, at the places of `order`.

    Returns
    -------
    float
        Sum of t**3 - t over groups of t ties.

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.kernels import midranks_sorted
    >>> ordered, order = np.array([0.1, 0.3, 0.3, np.nan]), np.array([2, 0, 3, 1])
    >>> out = np.empty(4)
    >>> midranks_sorted(ordered, order, np.zeros(4), out), out.tolist()
    (6.0, [2.5, nan, 1.0, 2.5])
    """
    n = ordered.size
    ties = 0.0
    start = 0
    while start < n and not np.isnan(ordered[start]):
        end = start + 1
        # Infinite ones are equal, and their difference is NaN.
        while end < n and (
            ordered[end] == ordered[end - 1] or ordered[end] - ordered[end - 1] <= gaps[end]
        ):
            end += 1
        rank = 0.5 * (start + end + 1)
        for i in range(start, end):
            out[order[i]] = rank
        t = float(end - start)
        ties += t * t * t - t
        start = end
    for i in range(start, n):
        out[order[i]] = np.nan
    return ties


@kernel
def rank_rows(ordered: FloatArray, order: IntArray, gaps: FloatArray, out: FloatArray) -> None:
    """Write the midranks of many rows, shape (D, M), each with one gap for ties."""
    row_gaps = np.empty(ordered.shape[1])
    for t in range(ordered.shape[0]):
        row_gaps[:] = gaps[t]
        midranks_sorted(ordered[t], order[t], row_gaps, out[t])


@kernel
def count_wins(ranks: Any, first: int, last: int, wins: IntArray) -> None:
    """Count on how many tasks models first, ..., last - 1 rank before each other one.

    Parameters
    ----------
    ranks : ndarray of float32, shape (M, D)
        1 for the best; NaN where a model has none, so that nobody wins.
    first, last : int
        Which rows of `wins` to write.
    wins : ndarray of int64, shape (M, M)
        Receives in [i, j] the tasks on which i is better than j.

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.kernels import count_wins
    >>> wins = np.zeros((2, 2), np.int64)
    >>> count_wins(np.array([[1, 1, 1.5], [2, 2, 1.5]], np.float32), 0, 2, wins)
    >>> wins.tolist()
    [[0, 2], [0, 0]]
    """
    n = ranks.shape[1]
    for i in range(first, last):
        a = ranks[i]
        for j in range(ranks.shape[0]):
            b = ranks[j]
            count = 0
            for t in range(n):
                count += 1 if a[t] < b[t] else 0
            wins[i, j] = count


@kernel
def rank_sum_draws(doubled: IntArray, seed: int, first: int, out: IntArray) -> None:
    """Write sums of squared rank sums after random orders of the models in each task.

    Parameters
    ----------
    doubled : ndarray of int64, shape (D, M)
        Twice the midranks of each task.
    seed, first : int
        Replicate i is a function of (seed, first + i).
    out : ndarray of int64, shape (R,)
        Receives the sum over models of the squared sum of doubled ranks.

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.kernels.task_ranks import rank_sum_draws
    >>> out = np.empty(4, np.int64)
    >>> rank_sum_draws(np.array([[2, 4], [2, 4]]), 1, 0, out)
    >>> out.tolist()
    [72, 80, 72, 72]
    """
    n_tasks, m = doubled.shape
    sums = np.empty(m, np.int64)
    row = np.empty(m, np.int64)
    for i in range(out.size):
        sums[:] = 0
        draw = 0
        for t in range(n_tasks):
            row[:] = doubled[t]
            for k in range(m - 1, 0, -1):
                j = random_below(seed, first + i, draw, k + 1)
                draw += 1
                row[k], row[j] = row[j], row[k]
            sums += row
        total = 0
        for j in range(m):
            total += sums[j] * sums[j]
        out[i] = total
