"""Ranks of models within tasks, and who wins how often."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from fastcmp._jit import kernel
from fastcmp.kernels.rng import _word, random_below

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


def _slopes_by_numpy(
    odds: FloatArray, battles: FloatArray, sums: FloatArray, information: FloatArray
) -> None:
    """As `battle_slopes`."""
    sums[:] = 0.0
    for i in range(odds.size):
        won = odds / (odds[i] + odds)
        share = battles[i] * won
        weight = share * (1.0 - won)
        sums += share, weight
        information[i] = -weight


@partial(kernel, by_numpy=_slopes_by_numpy)
def battle_slopes(
    odds: FloatArray, battles: FloatArray, sums: FloatArray, information: FloatArray
) -> None:
    """Write what Newton's step for strengths of Bradley and Terry needs.

    Parameters
    ----------
    odds : ndarray of float64, shape (M,)
        Exponentials of the strengths.
    battles : ndarray of float64, shape (M, M)
        Of each two models, on both sides of the diagonal, which is 0.
    sums : ndarray of float64, shape (2, M)
        Receives the wins that are expected of each model, and their variances.
    information : ndarray of float64, shape (M, M)
        Receives minus the variances of the wins of each two models; 0 on the diagonal.
    """
    sums[:] = 0.0
    for i in range(odds.size):
        own = odds[i]
        for j in range(odds.size):
            won = odds[j] / (own + odds[j])
            share = battles[i, j] * won
            weight = share * (1.0 - won)
            sums[0, j] += share
            sums[1, j] += weight
            information[i, j] = -weight


# From this word on those of a draw are for the items of its tasks.
_ITEMS: Final = 1 << 40
_STREAMS: Final = (1 << 62) - 1


def _ranks_by_numpy(
    estimates: FloatArray,
    order: IntArray,
    weights: FloatArray,
    options: tuple[float, int],
    ranks: FloatArray,
    parts: FloatArray,
) -> None:
    """As `count_ranks`."""
    tolerance, top = options
    places = np.broadcast_to(np.arange(order.shape[1]), order.shape)
    gaps = np.diff(np.take_along_axis(estimates, order, axis=1), axis=1) > tolerance
    begins, ends = np.zeros_like(order), np.full_like(order, order.shape[1])
    begins[:, 1:] = np.maximum.accumulate(np.where(gaps, places[:, 1:], 0), axis=1)
    later = np.where(gaps, places[:, 1:], order.shape[1])[:, ::-1]
    ends[:, :-1] = np.minimum.accumulate(later, axis=1)[:, ::-1]
    shares = np.minimum(np.maximum(top - begins, 0), ends - begins) / (ends - begins)
    first = begins == 0
    np.add.at(ranks, (order, begins), weights[:, None])
    np.add.at(parts[0], order, weights[:, None] * shares)
    np.add.at(parts[1], order[first], (weights[:, None] / ends)[first])


@partial(kernel, by_numpy=_ranks_by_numpy)
def count_ranks(
    estimates: FloatArray,
    order: IntArray,
    weights: FloatArray,
    options: tuple[float, int],
    ranks: FloatArray,
    parts: FloatArray,
) -> None:
    """Add the ranks of M models in R draws to what was counted before.

    Parameters
    ----------
    estimates : ndarray of float64, shape (R, M)
        What models are ranked by, less is better.
    order : ndarray of int64, shape (R, M)
        Models of each draw by ascending estimate.
    weights : ndarray of float64, shape (R,)
        How often each draw counts.
    options : tuple of float and int
        Estimates that differ by no more are equal; and how many places are the top.
    ranks : ndarray of float64, shape (M, M)
        [j, k] receives how often k models are better than j.
    parts : ndarray of float64, shape (2, M)
        Receives how often each model is among the top, and the best; a place that m
        models have together counts 1/m for each.
    """
    tolerance, top = options
    n_models = order.shape[1]
    for r in range(order.shape[0]):
        start = 0
        while start < n_models:
            end = start + 1
            last = estimates[r, order[r, start]]
            while end < n_models:
                own = estimates[r, order[r, end]]
                if own - last > tolerance:
                    break
                last = own
                end += 1
            in_top = float(min(max(top - start, 0), end - start)) / float(end - start)
            for k in range(start, end):
                model = order[r, k]
                ranks[model, start] += weights[r]
                parts[0, model] += weights[r] * in_top
                if start == 0:
                    parts[1, model] += weights[r] / float(end)
            start = end


@kernel
def nested_draws(
    items: FloatArray,
    starts: IntArray,
    options: tuple[bool, float],
    draws: tuple[int, int],
    out: FloatArray,
) -> None:
    """Draw tasks, and items within each task drawn, and average over the tasks.

    Parameters
    ----------
    items : ndarray of float64, shape (N, M)
        Values of M models on the items of all tasks, less is better.
    starts : ndarray of int64, shape (D + 1,)
        First item of each task, and N.
    options : tuple of bool and float
        Whether models are ranked within each task drawn, twice their midranks; and by
        how much means of tied models differ.
    draws : tuple of int
        Seed and first draw; draw i is a function of (seed, i).
    out : ndarray of float64, shape (R, M)
        Receives the sum over the D tasks drawn.
    """
    by_rank, tolerance = options
    seed, first = draws
    n_tasks, n_models = starts.size - 1, items.shape[1]
    means, ranks = np.empty(n_models), np.empty(n_models)
    gaps = np.full(n_models, tolerance)
    for r in range(out.shape[0]):
        out[r] = 0.0
        for draw in range(n_tasks):
            task = random_below(seed, first + r, draw, n_tasks)
            start, size = starts[task], starts[task + 1] - starts[task]
            # A stream of its own for each task that is drawn.
            inner = int(_word(seed, first + r, _ITEMS + draw) & np.uint64(_STREAMS))
            means[:] = 0.0
            for i in range(size):
                item = start + random_below(seed, inner, i, size)
                for m in range(n_models):
                    means[m] += items[item, m]
            for m in range(n_models):
                means[m] /= float(size)
            if by_rank:
                order = np.argsort(means)
                midranks_sorted(means[order], order, gaps, ranks)
                out[r] += 2.0 * ranks
            else:
                out[r] += means


@kernel
def count_battles(codes: IntArray, weights: IntArray, wins: FloatArray, ties: FloatArray) -> None:
    """Count on how many tasks each model scores more than each other one.

    Parameters
    ----------
    codes : ndarray of int64, shape (M, D)
        Scores of M models on D tasks as whole numbers of one order within a task, the
        larger the better; a negative one where a model has none.
    weights : ndarray of int64, shape (D,)
        How often each task counts.
    wins : ndarray of float64, shape (M, M)
        Receives the weight of the tasks on which the model of the row scores more.
    ties : ndarray of float64, shape (M, M)
        Receives the weight of the tasks on which both score the same, on both sides of
        the diagonal, which is 0.

    Notes
    -----
    O(M**2 D).

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.kernels.task_ranks import count_battles
    >>> wins, ties = np.zeros((2, 2, 2))
    >>> codes = np.array([[3, 1, 2, 5], [1, 1, 4, -1]])
    >>> count_battles(codes, np.ones(4, np.int64), wins, ties)
    >>> wins.tolist(), ties.tolist()
    ([[0.0, 1.0], [1.0, 0.0]], [[0.0, 1.0], [1.0, 0.0]])
    """
    n_models, n_tasks = codes.shape
    for i in range(n_models):
        wins[i, i] = 0.0
        ties[i, i] = 0.0
        a = codes[i]
        for j in range(i + 1, n_models):
            b = codes[j]
            more, less, both = 0, 0, 0
            for t in range(n_tasks):
                # Whole numbers may be added in any order, so many at a time.
                weight = weights[t] * ((a[t] >= 0) & (b[t] >= 0))
                both += weight
                more += weight * (a[t] > b[t])
                less += weight * (a[t] < b[t])
            wins[i, j] = more
            wins[j, i] = less
            ties[i, j] = both - more - less
            ties[j, i] = both - more - less


@kernel
def without_ties(
    codes: IntArray, clusters: IntArray, expected: FloatArray, out: FloatArray
) -> None:
    """Add up, by cluster, how many more wins each model has than expected.

    Parameters
    ----------
    codes : ndarray of int64, shape (D, M)
        As of `count_battles`, a row a task. Battles that end in a tie are left out.
    clusters : ndarray of int64, shape (D,)
        Cluster of each task, from 0.
    expected : ndarray of float64, shape (M, M)
        Probability that the model of the row beats that of the column.
    out : ndarray of float64, shape (C, at least M)
        Wins of each model minus those expected are added to the first M columns.

    Notes
    -----
    O(M**2 D).

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.kernels.task_ranks import without_ties
    >>> half, out = np.full((2, 2), 0.5), np.zeros((2, 2))
    >>> codes = np.array([[3, 1], [1, 1], [2, 4]])
    >>> without_ties(codes, np.array([0, 0, 1]), half, out)
    >>> out.tolist()
    [[0.5, -0.5], [-0.5, 0.5]]
    """
    n_tasks, n_models = codes.shape
    for t in range(n_tasks):
        row, sums = codes[t], out[clusters[t]]
        for i in range(n_models):
            own = 0.0
            for j in range(i + 1, n_models):
                if row[i] < 0 or row[j] < 0 or row[i] == row[j]:
                    continue
                surprise = (1.0 if row[i] > row[j] else 0.0) - expected[i, j]
                own += surprise
                sums[j] -= surprise
            sums[i] += own
