"""Ranks of models when tasks are drawn again, or weighted at random."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations
from math import comb, factorial
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from fastcmp.core.checks import (
    as_flag,
    as_numbers,
    as_proportion,
    as_resamples,
    as_seed,
    as_whole,
    choose,
)
from fastcmp.core.records import Drawn, Record
from fastcmp.core.render import visible
from fastcmp.core.sections import Section
from fastcmp.core.threads import ThreadPool, check_workers, no_step, parts
from fastcmp.datasets.reading import dropped_sentence, read_complete
from fastcmp.datasets.task_ranks import rank_tasks
from fastcmp.kernels.dirichlet import random_exponentials
from fastcmp.kernels.item_bootstrap import draw_units
from fastcmp.kernels.item_values import LARGEST
from fastcmp.kernels.task_ranks import count_ranks, nested_draws

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from fastcmp.core.records import ScoreTable
    from fastcmp.datasets.task_ranks import Gains

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


# The record of the bootstrap of tasks.


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class TaskBootstrap(Drawn, Record):
    """Ranks of M models when D tasks are drawn again with replacement.

    Arrays are in the order of the input.
    """

    _picture: ClassVar[str] = "rank_distribution"

    names: tuple[str, ...]
    tasks: tuple[str, ...]
    #: Tasks left out because a model has no score there.
    n_dropped: int
    #: Rank on the tasks as they are: 1 + the number of models strictly better, (M,).
    rank: NDArray[np.int64]
    #: Mean rank or mean score on the tasks as they are, shape (M,).
    estimate: Floats
    #: Its variance over the draws, shape (M,); exact, except where items are drawn too.
    variance: Floats
    #: Mean rank on the tasks as they are, whatever models are ranked by, shape (M,).
    mean_rank: Floats
    #: Its variance over the draws of tasks, shape (M,); with items, where models are
    #: ranked by it.
    variance_of_mean_rank: Floats
    #: [j, k] is the probability that model j has rank k + 1, shape (M, M).
    rank_distribution: Floats
    #: Least and greatest rank within the confidence level, shape (M, 2).
    rank_interval: NDArray[np.int64]
    #: How many places are the top, and the probability to be among them, shape (M,).
    k: int
    top_k: Floats
    #: Probability to be the best; a place that m models share counts 1/m for each.
    best_probability: Floats
    #: "mean rank" or "mean score".
    rank_by: str
    #: "exact": all D**D draws; or "draws".
    method: str
    #: Whether items were drawn within the tasks, which counts their noise twice.
    nested: bool
    confidence_level: float
    #: Random draws, and the seed that repeats them; None for all draws.
    n_resamples: int | None
    seed: int | None
    lower_is_better: bool

    @property
    def standard_error(self) -> Floats:
        """Standard deviation of the mean rank or score over the draws, shape (M,)."""
        return np.asarray(np.sqrt(self.variance))

    def columns(self) -> dict[str, Any]:
        """Give the models as columns, a row a model.

        Returns
        -------
        dict of str to sequence
            Name, rank, interval of the rank, mean, its standard error, and the
            probabilities to be the best and among the top.
        """
        return {
            "model": list(self.names),
            "rank": self.rank,
            "rank_low": self.rank_interval[:, 0],
            "rank_high": self.rank_interval[:, 1],
            self.rank_by.replace(" ", "_"): self.estimate,
            "standard_error": self.standard_error,
            "best_probability": self.best_probability,
            "top_k": self.top_k,
        }

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            What was drawn, and a row a model.
        """
        made = f"all {len(self.tasks)}**{len(self.tasks)} draws"
        if self.seed is not None:
            made = f"{self.n_resamples} draws, seed {self.seed}"
        text = [
            f"{len(self.names)} models on {len(self.tasks)} tasks, ranked by "
            f"{self.rank_by} when tasks are drawn again: {made}.",
            "It describes how far ranks depend on the choice of tasks, and is no test of pairs.",
            *dropped_sentence(self.n_dropped),
        ]
        if self.rank_by == "mean score":
            text.append("Mean scores mean something only for tasks on one scale.")
        if self.nested:
            text.append(
                "Items were drawn within tasks: their noise is counted twice, and the "
                "variance is too large."
            )
        order = np.lexsort((self.estimate, self.rank))
        level = f"{100 * self.confidence_level:.9g}% of draws"
        shown = ["model", "rank", level, self.rank_by, "s.e.", "P(best)"]
        if self.k > 1:
            shown.append(f"P(top {self.k})")
        rows = []
        for j in order:
            low, high = self.rank_interval[j]
            row = [visible(self.names[j]), str(self.rank[j]), f"[{low}, {high}]"]
            row += [f"{self.estimate[j]:.4g}", f"{self.standard_error[j]:.3g}"]
            row += [f"{self.best_probability[j]:.3f}"]
            row += [f"{self.top_k[j]:.3f}"] * (self.k > 1)
            rows.append(tuple(row))
        title = "How far do ranks depend on the tasks?"
        return [Section(title=title, text=tuple(text), columns=tuple(shown), rows=tuple(rows))]


# Values of models on the items, or folds, of each task, and draws of both.


_CLOSE = 1e-6  # of the largest value, that a score may differ from the mean of items
_EQUAL = 1e-13  # means that differ by less, of the largest value, are tied


class TaskItems(NamedTuple):
    """Values of M models on the items of all tasks; less is better."""

    #: Shape (N, M).
    values: Floats
    #: First item of each task, and N: shape (D + 1,).
    starts: NDArray[np.int64]


def read_items(items: Any, table: ScoreTable, *, nested: bool) -> TaskItems | None:
    """Check items, whose means must be the scores; None where they are not drawn."""
    if items is None and not nested:
        return None
    if items is None or not nested:
        raise ValueError(
            "items and nested=True belong together: items are drawn only where that is "
            "asked for, because it counts their noise twice"
        )
    columns = [
        _read_task(raw, table.tasks[t], len(table.names))
        for t, raw in enumerate(_in_order(items, table.tasks))
    ]
    means = np.stack([x.mean(axis=1) for x in columns], axis=1)
    size = max(float(np.abs(x).max()) for x in columns)
    far = np.argwhere(np.abs(means - table.scores) > _CLOSE * max(size, 1e-300))
    if far.size:
        model, task = far[0]
        raise ValueError(
            f"items must have the scores as their means: {visible(table.names[model])} "
            f"has {means[model, task]:.6g} on {visible(table.tasks[task])}, its score "
            f"is {table.scores[model, task]:.6g}"
        )
    values = np.ascontiguousarray(np.concatenate(columns, axis=1).T)
    starts = np.cumsum([0, *(x.shape[1] for x in columns)])
    return TaskItems(values if table.lower_is_better else -values, starts.astype(np.int64))


def _in_order(items: Any, tasks: tuple[str, ...]) -> list[Any]:
    """List the items of each task."""
    if isinstance(items, Mapping):
        lacking = [task for task in tasks if task not in items]
        if lacking or len(items) != len(tasks):
            raise ValueError(
                f"items must have the {len(tasks)} tasks of scores, got {len(items)}"
                + (f", without {lacking[:3]}" if lacking else "")
            )
        return [items[task] for task in tasks]
    if isinstance(items, (str, bytes)) or not isinstance(items, Iterable):
        raise TypeError(f"items must be a sequence of arrays, one a task, got {items!r}")
    found = list(items)
    if len(found) != len(tasks):
        raise ValueError(f"items must have one array a task, {len(tasks)}, got {len(found)}")
    return found


def _read_task(raw: Any, task: str, n_models: int) -> Floats:
    """Check the values on the items of one task."""
    name = f"items of {visible(task)}"
    values = np.asarray(as_numbers(raw, name).astype(np.float64))
    if values.ndim != 2 or len(values) != n_models or not values.shape[1]:
        raise ValueError(
            f"{name} must be of shape ({n_models}, n), one row a model, got {values.shape}"
        )
    if not (np.abs(values) < LARGEST).all():
        raise ValueError(f"{name} must be finite, and below {LARGEST:g} in size")
    return values


def drawn_items(items: TaskItems, by_rank: bool, seed: int) -> Draw:  # noqa: FBT001
    """Draw tasks, and items within them: sums of ranks or means over tasks, (R, M)."""
    tolerance = _EQUAL * float(np.abs(items.values).max(initial=0.0))

    def draw(part: slice) -> Floats:
        out = np.empty((part.stop - part.start, items.values.shape[1]))
        options, which = (by_rank, tolerance), (seed, part.start)
        nested_draws(items.values, items.starts, options, which, out)
        return out

    return draw


# The bootstrap of tasks: how far ranks depend on the choice of data sets.


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
        scores, names=names, tasks=tasks, lower_is_better=lower_is_better, missing=missing
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
