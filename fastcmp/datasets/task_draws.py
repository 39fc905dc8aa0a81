"""Ranks of models when tasks are drawn again, or weighted at random."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from math import comb, factorial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fastcmp.core.threads import no_step, parts
from fastcmp.kernels.dirichlet import random_exponentials
from fastcmp.kernels.item_bootstrap import draw_units
from fastcmp.kernels.task_ranks import count_ranks

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fastcmp.core.threads import ThreadPool

    Floats = NDArray[np.float64]

_BLOCK = 1 << 22  # numbers that a thread draws at once
_SLACK = 4.0 * float(np.finfo(np.float64).eps)  # of a sum, for each of its terms

#: Gives what models are ranked by in some draws, less is better, shape (R, M).
Draw = Callable[[slice], "Floats"]


class RankCounts(NamedTuple):
    """How often models had which rank, as proportions of the draws."""

    #: [j, k]: k models were better than j, shape (M, M).
    ranks: Floats
    #: Among the top, and the best, shape (2, M); a shared place is divided.
    top: Floats
    best: Floats
    #: Variance over the draws of what models are ranked by, shape (M,).
    variance: Floats


class Work(NamedTuple):
    """How many draws, of how many models and tasks, and what counts as the top."""

    n_draws: int
    n_models: int
    n_tasks: int
    top: int
    #: Estimates that differ by no more are equal.
    tolerance: float


def count(draw: Draw, work: Work, pool: ThreadPool, weights: Floats | None = None) -> RankCounts:
    """Rank the models in each draw; `weights` say how often each draw counts."""
    m = work.n_models
    size = max(16, _BLOCK // (work.n_tasks + 2 * m) // 16 * 16)
    blocks = parts(work.n_draws, size)
    each = np.ones(work.n_draws) if weights is None else weights
    n_threads = max(1, min(pool.threads, len(blocks)))
    proportions = np.zeros((len(blocks), 2, m))
    sums = np.zeros((len(blocks), 2, m))
    options = work.tolerance, work.top
    #: A table a thread: counts are whole numbers, exact in any order.
    tables = [np.zeros((m, m)) for _ in range(n_threads)]
    free = list(range(n_threads))

    def rank(block: int) -> None:
        part = blocks[block]
        estimates = np.ascontiguousarray(draw(part))
        own = each[part]
        order = np.argsort(estimates, axis=1)
        table = free.pop()
        count_ranks(estimates, order, own, options, tables[table], proportions[block])
        free.append(table)
        sums[block] = own @ estimates, own @ estimates**2

    pool.run(rank, range(len(blocks)), steps=no_step, here=len(blocks) == 1)
    total = float(each.sum())
    mean, square = sums.sum(axis=0) / total
    top, best = proportions.sum(axis=0) / total
    variance = np.maximum(square - mean * mean, 0.0)
    return RankCounts(np.sum(tables, axis=0) / total, top, best, variance)


def drawn_tasks(costs: Floats, seed: int) -> Draw:
    """Draw as many tasks as there are, with replacement: sums of costs (M, D)."""
    strata = np.zeros(costs.shape[1], np.int64)
    by_task = np.ascontiguousarray(costs.T)

    def draw(part: slice) -> Floats:
        counts = np.empty((part.stop - part.start, strata.size))
        draw_units(strata, seed, part.start, counts)
        return np.asarray(counts @ by_task)

    return draw


def weighted_tasks(costs: Floats, seed: int) -> Draw:
    """Weight the tasks by numbers that are uniform on the simplex: sums of costs."""
    by_task = np.ascontiguousarray(costs.T)

    def draw(part: slice) -> Floats:
        weights = np.empty((costs.shape[1], part.stop - part.start))
        random_exponentials(seed, part.start, 0, weights)
        return np.asarray((weights / weights.sum(axis=0)).T @ by_task)

    return draw


def listed_tasks(counts: Floats, costs: Floats) -> Draw:
    """Take draws that are listed, how often each task occurs: shape (R, D)."""
    by_task = np.ascontiguousarray(costs.T)
    return lambda part: np.asarray(counts[part] @ by_task)


def n_compositions(n_tasks: int) -> int:
    """Count the ways in which D draws with replacement can fall on D tasks."""
    return comb(2 * n_tasks - 1, n_tasks)


def all_draws(n_tasks: int) -> tuple[Floats, Floats]:
    """List how often each task can occur, (R, D), and of D**D draws how many each."""
    bars = np.array(list(combinations(range(2 * n_tasks - 1), n_tasks - 1)), np.int64).reshape(
        -1, n_tasks - 1
    )
    ends = np.full((len(bars), 1), 2 * n_tasks - 1)
    walls = np.concatenate([np.full((len(bars), 1), -1), bars, ends], axis=1)
    counts = np.diff(walls, axis=1) - 1
    orders = np.array([factorial(k) for k in range(n_tasks + 1)], np.float64)
    ways = orders[-1] / orders[counts].prod(axis=1)
    return counts.astype(np.float64), np.rint(ways)


def tolerance_of(costs: Floats, n_tasks: int) -> float:
    """Give how much sums of equal numbers may differ."""
    return _SLACK * n_tasks * float(np.abs(costs).max(initial=0.0))
