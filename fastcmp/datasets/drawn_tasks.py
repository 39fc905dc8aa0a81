"""The bootstrap of tasks: how far ranks depend on the choice of data sets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fastcmp.core.checks import as_flag, as_proportion, as_resamples, as_seed, as_whole
from fastcmp.core.options import choose
from fastcmp.core.threads import ThreadPool, check_workers
from fastcmp.datasets.reading import read_complete
from fastcmp.datasets.task_bootstrap_result import TaskBootstrap
from fastcmp.datasets.task_draws import (
    Draw,
    RankCounts,
    Work,
    all_draws,
    count,
    drawn_tasks,
    listed_tasks,
    n_compositions,
    tolerance_of,
)
from fastcmp.datasets.task_items import TaskItems, drawn_items, read_items
from fastcmp.datasets.task_ranks import rank_tasks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from fastcmp.core.protocols import ScoreTable
    from fastcmp.datasets.task_ranks import Gains

    Floats = NDArray[np.float64]

RANK_BY = ("mean rank", "mean score")
METHODS = ("auto", "exact", "draws")
_LISTED = 100_000  # draws that are enumerated: all of up to 10 tasks


class Costs(NamedTuple):
    """What models are ranked by in each task; less is better."""

    #: Twice the rank, or minus the score in units of its last decimal, shape (M, D).
    values: Floats
    #: What they were times.
    scale: float
    #: Sums over the tasks that differ by no more are equal.
    tolerance: float

    @classmethod
    def of(cls, gains: Gains, rank_by: str) -> Costs:
        """Rank within tasks, or take the scores."""
        values, scale = -gains.gains, gains.scale
        if rank_by == "mean rank":
            with ThreadPool(1) as pool:
                values, scale = 2.0 * rank_tasks(gains, pool), 2.0
        return cls(values, scale, tolerance_of(values, values.shape[1]))

    def variance(self) -> Floats:
        """Give the variance of the mean when tasks are drawn again, shape (M,)."""
        n_tasks = self.values.shape[1]
        return np.asarray(self.values.var(axis=1) / (n_tasks * self.scale**2))

    def ranks(self) -> NDArray[np.int64]:
        """Rank the models on all tasks: 1 + those that are strictly better, (M,)."""
        return places(self.values.sum(axis=1)[np.newaxis], self.tolerance).ravel()


def places(estimates: Floats, tolerance: float) -> NDArray[np.int64]:
    """Give 1 + how many models are strictly better, less being better: (R, M)."""
    order = np.argsort(estimates, axis=1)
    ordered = np.take_along_axis(estimates, order, axis=1)
    new = np.ones(ordered.shape, bool)
    new[:, 1:] = np.diff(ordered, axis=1) > tolerance
    start = np.where(new, np.arange(ordered.shape[1]), 0)
    ranks = np.empty(order.shape, np.int64)
    np.put_along_axis(ranks, order, np.maximum.accumulate(start, axis=1) + 1, axis=1)
    return ranks


def task_bootstrap(
    scores: Any,
    *,
    rank_by: str = "mean rank",
    top_k: int = 1,
    method: str = "auto",
    items: Sequence[Any] | None = None,
    nested: bool = False,
    confidence_level: float = 0.95,
    n_resamples: int = 10_000,
    rng: Any = None,
    lower_is_better: bool = False,
    missing: str = "raise",
    names: Sequence[str] | None = None,
    tasks: Sequence[str] | None = None,
    workers: int | None = None,
) -> TaskBootstrap:
    """Draw tasks with replacement, and rank the models each time.

    It describes how far a leaderboard depends on which tasks it has. A rank interval is
    no test: for pairs of models use `compare_datasets`.

    Parameters
    ----------
    scores : array-like of shape (M, D), mapping, frame or results
        One score for each model and task; not of folds, which are not tasks.
    rank_by : {"mean rank", "mean score"}
        What models are ranked by; mean scores need tasks on one scale.
    top_k : int
        How many places are the top.
    method : {"auto", "exact", "draws"}
        All D**D draws (up to 10 tasks), or random ones; "auto" is exact where it can.
    items : sequence of array-like, shape (M, n_t), optional
        For ``nested=True``: values of the models on the items, or folds, of each task,
        whose means are the scores.
    nested : bool
        Whether items are drawn again within each task drawn. The scores hold the noise
        of the items already, and drawing tasks includes it; drawing items counts it a
        second time, and so overstates the variance (see `task_noise`).
    confidence_level : float
        Of the rank intervals.
    n_resamples : int
        Random draws.
    rng : int, numpy.random.Generator or None
        Where the draws come from.
    lower_is_better : bool
        Whether scores are losses.
    missing : {"raise", "tasks"}
        Refuse missing scores, or leave out the tasks that a model has none on.
    names, tasks : sequence of str, optional
        Names of the models and tasks, in the place of those that `scores` has.
    workers : int, optional
        Threads; by default as many as there are processors.

    Returns
    -------
    TaskBootstrap
        Probabilities of ranks, of the top and of the first place, and intervals.

    Raises
    ------
    ValueError
        If scores are missing or infinite, there are fewer than two models or tasks,
        there are too many tasks for "exact", or items are not those of the scores.
    TypeError
        If scores are not numbers.

    Notes
    -----
    Ranks within a task are midranks, 1 for the best, of the decimals written. A rank is
    1 + the number of models strictly better; a place that m models share counts 1/m for
    each of them in the top and as the best. One matrix product: O(M D B) for B draws.
    The bootstrap of ranks is not consistent where models are tied.

    Examples
    --------
    >>> from fastcmp.datasets import task_bootstrap
    >>> scores = {
    ...     "a": [0.76, 0.504, 0.712, 0.792, 0.576],
    ...     "b": [0.894, 0.777, 0.558, 0.771, 0.779],
    ...     "c": [0.625, 0.923, 0.903, 0.852, 0.744],
    ... }
    >>> found = task_bootstrap(scores)
    >>> found.best_probability.round(3).tolist(), found.rank_interval.tolist()
    ([0.0, 0.295, 0.705], [[2, 3], [1, 3], [1, 3]])
    """
    by = choose(rank_by, "rank_by", RANK_BY)
    way = choose(method, "method", METHODS)
    data = read_complete(
        scores,
        names=names,
        tasks=tasks,
        lower_is_better=lower_is_better,
        missing=missing,
    )
    table = data.table
    m, d = table.scores.shape
    top = as_whole(top_k, "top_k", 1)
    if top > m:
        raise ValueError(f"top_k must be at most the number of models, {m}, got {top_k}")
    level = as_proportion(confidence_level, "confidence_level")
    n_draws, seed = as_resamples(n_resamples), as_seed(rng)
    within = read_items(items, table, nested=as_flag(nested, "nested"))
    exact = _is_exact(way, d, within)
    costs = Costs.of(data.gains, by)
    draw, weights, scale = _draws(costs, within, by, seed, exact=exact)
    work = Work(n_draws if weights is None else weights.size, m, d, top, costs.tolerance)
    with ThreadPool(check_workers(workers)) as pool:
        found = count(draw, work, pool, weights)
    means = costs.values.mean(axis=1) / costs.scale
    variance = costs.variance()
    if within is not None:
        variance = found.variance / (d * scale) ** 2
    by_rank = by == "mean rank"
    ranks = costs if by_rank else Costs.of(data.gains, "mean rank")
    return TaskBootstrap(
        names=table.names,
        tasks=table.tasks,
        n_dropped=data.n_dropped,
        rank=costs.ranks(),
        estimate=means if by_rank else _signed(-means, table),
        variance=variance,
        mean_rank=ranks.values.mean(axis=1) / ranks.scale,
        variance_of_mean_rank=variance if by_rank else ranks.variance(),
        rank_distribution=found.ranks,
        rank_interval=rank_intervals(found, level),
        k=top,
        top_k=found.top,
        best_probability=found.best,
        rank_by=by,
        method="exact" if exact else "draws",
        nested=within is not None,
        confidence_level=level,
        n_resamples=None if exact else n_draws,
        seed=None if exact else seed,
        lower_is_better=table.lower_is_better,
    )


def rank_intervals(found: RankCounts, level: float) -> NDArray[np.int64]:
    """Give the order statistics of the ranks at both ends, shape (M, 2)."""
    reached = np.cumsum(found.ranks, axis=1)
    tail = 0.5 * (1.0 - level)
    ends = [(reached >= part - 1e-12).argmax(axis=1) for part in (tail, 1.0 - tail)]
    return np.stack(ends, axis=1).astype(np.int64) + 1


def _is_exact(way: str, n_tasks: int, within: TaskItems | None) -> bool:
    """Choose whether all draws are listed."""
    can = within is None and n_compositions(n_tasks) <= _LISTED
    if way == "exact" and not can:
        why = "items are drawn too" if within is not None else f"got {n_tasks} tasks"
        raise ValueError(f"method='exact' lists all draws of up to 10 tasks, {why}: use 'draws'")
    return can and way != "draws"


def _draws(
    costs: Costs, within: TaskItems | None, by: str, seed: int, *, exact: bool
) -> tuple[Draw, Floats | None, float]:
    """Choose how tasks are drawn; the weights of draws, and what costs are times."""
    if within is not None:
        draw = drawn_items(within, by == "mean rank", seed)
        return draw, None, 2.0 if by == "mean rank" else 1.0
    if exact:
        counts, weights = all_draws(costs.values.shape[1])
        return listed_tasks(counts, costs.values), weights, costs.scale
    return drawn_tasks(costs.values, seed), None, costs.scale


def _signed(means: Floats, table: ScoreTable) -> Floats:
    """Give means the sign of the scores that came."""
    return -means if table.lower_is_better else means
