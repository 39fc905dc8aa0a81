"""Ranks of models over draws of tasks: how often each model has each rank."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

import numpy as np

from fastcmp._jit import kernel
from fastcmp.kernels.rng import _word, random_below

if TYPE_CHECKING:
    from fastcmp.kernels.typing import FloatArray, IntArray

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
def double_midranks(values: FloatArray, tolerance: float, out: FloatArray) -> None:
    """Write twice the rank of each of M values, 1 for the least, ties sharing theirs.

    Values whose gap in ascending order is at most `tolerance` are tied.
    """
    order = np.argsort(values)
    start = 0
    while start < order.size:
        end = start + 1
        while end < order.size and values[order[end]] - values[order[end - 1]] <= tolerance:
            end += 1
        for k in range(start, end):
            out[order[k]] = float(start + end + 1)
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
    means, own = np.empty(n_models), np.empty(n_models)
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
                double_midranks(means, tolerance, own)
                out[r] += own
            else:
                out[r] += means
