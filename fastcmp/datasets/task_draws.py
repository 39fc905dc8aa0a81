"""Tasks drawn again, weighted at random, or left out in turn: ranks; and noise within tasks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb, factorial
from typing import Any, ClassVar, NamedTuple

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
from fastcmp.core.errors import BadTypeError, BadValueError
from fastcmp.core.records import Drawn, Record, ScoreTable, TaskScores
from fastcmp.core.render import visible
from fastcmp.core.sections import Column, Section
from fastcmp.core.sentences import answer, how
from fastcmp.core.threads import ThreadPool, check_workers, parts
from fastcmp.core.typing import Flags, Floats, Ints, ModelsLike, Seed
from fastcmp.datasets.reading import Gains, dropped_sentence, name_tasks, rank_tasks, read_data
from fastcmp.kernels.dirichlet import random_exponentials
from fastcmp.kernels.item_bootstrap import draw_units
from fastcmp.kernels.item_values import LARGEST
from fastcmp.kernels.task_ranks import count_ranks, nested_draws

RANK_BY = ("mean rank", "mean score")
METHODS = ("auto", "exact", "draws")
_BLOCK = 1 << 22  # numbers that a thread draws at once
_SLACK = 4.0 * float(np.finfo(np.float64).eps)  # of a sum, for each of its terms
_LISTED = 100_000  # draws that are enumerated: all of up to 10 tasks

#: Gives what models are ranked by in some draws, less is better, shape (R, M).
Draw = Callable[[slice], "Floats"]


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
        values, scale = -gains.values, gains.scale
        if rank_by == "mean rank":
            with ThreadPool(1) as pool:
                values, scale = 2.0 * rank_tasks(gains, pool), 2.0
        largest = float(np.abs(values).max(initial=0.0))
        return cls(values, scale, _SLACK * values.shape[1] * largest)

    def variance(self) -> Floats:
        """Variance of the mean when tasks are drawn again, shape (M,)."""
        n_tasks = self.values.shape[1]
        return np.asarray(self.values.var(axis=1) / (n_tasks * self.scale**2))

    def places(self, sums: Floats) -> Ints:
        """1 + how many models are strictly better, less being better: (R, M)."""
        order = np.argsort(sums, axis=1)
        ordered = np.take_along_axis(sums, order, axis=1)
        new = np.ones(ordered.shape, bool)
        new[:, 1:] = np.diff(ordered, axis=1) > self.tolerance
        start = np.where(new, np.arange(ordered.shape[1]), 0)
        ranks = np.empty(order.shape, np.int64)
        np.put_along_axis(ranks, order, np.maximum.accumulate(start, axis=1) + 1, axis=1)
        return ranks

    def ranks(self) -> Ints:
        """Ranks on all tasks, shape (M,)."""
        return self.places(self.values.sum(axis=1)[np.newaxis]).ravel()


class RankCounts(NamedTuple):
    """How often models had which rank, as proportions of the draws."""

    #: [j, k]: k models were better than j, shape (M, M).
    ranks: Floats
    #: Among the top, and the best, shape (2, M); a shared place is divided.
    top: Floats
    best: Floats
    #: Variance over the draws of what models are ranked by, shape (M,).
    variance: Floats


def count(
    draw: Draw,
    costs: Costs,
    n_draws: int,
    pool: ThreadPool,
    *,
    top: int = 1,
    weights: Floats | None = None,
) -> RankCounts:
    """Rank the models in each draw; `weights` say how often each draw counts."""
    m, n_tasks = costs.values.shape
    size = max(16, _BLOCK // (n_tasks + 2 * m) // 16 * 16)
    blocks = parts(n_draws, size)
    often = np.ones(n_draws) if weights is None else weights
    proportions, sums = np.zeros((2, len(blocks), 2, m))
    #: A table a thread: counts are whole numbers, exact in any order.
    tables = [np.zeros((m, m)) for _ in range(max(1, min(pool.threads, len(blocks))))]
    free = list(range(len(tables)))

    def rank(block: int) -> None:
        part = blocks[block]
        estimates = np.ascontiguousarray(draw(part))
        order = np.argsort(estimates, axis=1)
        table = free.pop()
        options = costs.tolerance, top
        count_ranks(estimates, order, often[part], options, tables[table], proportions[block])
        free.append(table)
        sums[block] = often[part] @ estimates, often[part] @ estimates**2

    pool.run(rank, range(len(blocks)), steps=0, here=len(blocks) == 1)
    total = float(often.sum())
    mean, square = sums.sum(axis=0) / total
    in_top, best = proportions.sum(axis=0) / total
    variance = np.maximum(square - mean * mean, 0.0)
    return RankCounts(np.sum(tables, axis=0) / total, in_top, best, variance)


def drawn_tasks(costs: Floats, seed: int) -> Draw:
    """Draws of as many tasks as there are, with replacement: sums of costs (M, D)."""
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


# The record of the bootstrap of tasks.


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class TaskBootstrap(Drawn, Record):
    """Ranks of M models when D tasks are drawn again with replacement.

    Arrays are in the order of the input.
    """

    _picture: ClassVar[str] = "rank_distribution"
    _blocks = "selection:drawn_ranks"
    _opening = "Tasks were drawn again with replacement, and models ranked anew each time."
    _cites = ("efron",)

    names: tuple[str, ...]
    tasks: tuple[str, ...]
    #: Tasks left out because a model has no score there.
    n_dropped: int
    #: Rank on the tasks as they are: 1 + the number of models strictly better, (M,).
    rank: Ints
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
    rank_interval: Ints
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

    _columns = (
        Column("model", "names", visible),
        Column("rank"),
        Column("rank_low rank_high", "rank_interval", head="{self._level}"),
        Column("{self._name}", "estimate", ".4g", "{self.rank_by}"),
        Column("standard_error", form=".3g", head="s.e."),
        Column("best_probability", form=".3f", head="P(best)"),
        Column("top_k", form=".3f", head="P(top {self.k})"),
    )

    @property
    def _level(self) -> str:
        return f"{100 * self.confidence_level:.9g}% of draws"

    @property
    def _name(self) -> str:
        return self.rank_by.replace(" ", "_")

    @property
    def standard_error(self) -> Floats:
        """Standard deviation of the mean rank or score over the draws, shape (M,)."""
        return np.asarray(np.sqrt(self.variance))

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            What was drawn, and a row a model.
        """
        draws = f"all {len(self.tasks)}**{len(self.tasks)} draws"
        if self.seed is not None:
            draws = f"{self.n_resamples} draws, seed {self.seed}"
        text = [
            how(
                f"{len(self.names)} models on {len(self.tasks)} tasks, ranked by "
                f"{self.rank_by} when tasks are drawn again: {draws}."
            ),
            how(
                "It describes how far ranks depend on the choice of tasks, and is no test of pairs."
            ),
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
        columns = "model rank rank_low {self._name} standard_error best_probability"
        columns += " top_k" * (self.k > 1)
        title = "How far do ranks depend on the tasks?"
        return [self._printed(title, columns, text=text, order=order, most=None)]


# Values of models on the items, or folds, of each task, and draws of both.


_CLOSE = 1e-6  # of the largest value, that a score may differ from the mean of items
_EQUAL = 1e-13  # means that differ by less, of the largest value, are tied


def _listed(raw: object, argument: str) -> list[Any]:
    if isinstance(raw, (str, bytes)) or not isinstance(raw, Iterable):
        raise BadTypeError(f"`{argument}` must be a sequence of arrays, one a task", repr(raw))
    return list(raw)


def _read_each(
    arrays: list[Any], argument: str, tasks: Sequence[str], n_models: int | None
) -> list[Floats]:
    """Finite numbers of each task: a row a model, or for None two or more numbers."""
    columns = []
    for task, raw in zip(tasks, arrays, strict=True):
        name = f"{argument} of {visible(task)}"
        x = np.asarray(as_numbers(raw, name).astype(np.float64))
        if n_models is None and (x.ndim != 1 or x.size < 2):
            raise BadValueError(f"`{name}` must be of shape (n,), n >= 2 items or folds", x.shape)
        if n_models is not None and (x.ndim != 2 or len(x) != n_models or not x.shape[1]):
            shape = f"({n_models}, n), one row a model"
            raise BadValueError(f"`{name}` must be of shape {shape}", x.shape)
        if not (np.abs(x) < LARGEST).all():
            raise BadValueError(f"`{name}` must be finite, and below {LARGEST:g} in size")
        columns.append(x)
    return columns


def _drawn_items(items: object, table: ScoreTable, rank_by: str, seed: int) -> Draw:
    """Sums of ranks or means over drawn tasks, and items drawn within them, (R, M).

    Items are refused if their means are not the scores.
    """
    names, tasks = table.names, table.tasks
    if isinstance(items, Mapping):
        lacking = [task for task in tasks if task not in items]
        if lacking or len(items) != len(tasks):
            without = f", without {lacking[:3]}" if lacking else ""
            demand = f"`items` must have the {len(tasks)} tasks of scores"
            raise BadValueError(demand, f"{len(items)}{without}")
        items = [items[task] for task in tasks]
    items = _listed(items, "items")
    if len(items) != len(tasks):
        raise BadValueError(f"`items` must have one array a task, {len(tasks)}", len(items))
    columns = _read_each(items, "items", tasks, len(names))
    means = np.stack([x.mean(axis=1) for x in columns], axis=1)
    size = max(float(np.abs(x).max()) for x in columns)
    far = np.argwhere(np.abs(means - table.scores) > _CLOSE * max(size, 1e-300))
    if far.size:
        model, task = far[0]
        raise BadValueError(
            f"`items` must have the scores as their means: {visible(names[model])} has "
            f"{means[model, task]:.6g} on {visible(tasks[task])}, its score is "
            f"{table.scores[model, task]:.6g}"
        )
    values = np.ascontiguousarray(np.concatenate(columns, axis=1).T)
    values = values if table.lower_is_better else -values
    starts = np.cumsum([0, *(x.shape[1] for x in columns)]).astype(np.int64)
    options = (rank_by == "mean rank", _EQUAL * size)

    def draw(part: slice) -> Floats:
        out = np.empty((part.stop - part.start, len(names)))
        nested_draws(values, starts, options, (seed, part.start), out)
        return out

    return draw


# The bootstrap of tasks: how far ranks depend on the choice of data sets.


def task_bootstrap(
    scores: ModelsLike | TaskScores,
    *,
    rank_by: str = "mean rank",
    top_k: int = 1,
    method: str = "auto",
    items: Sequence[Any] | None = None,
    nested: bool = False,
    confidence_level: float = 0.95,
    n_resamples: int = 10_000,
    rng: Seed = None,
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
    data = read_data(
        scores, names=names, tasks=tasks, lower_is_better=lower_is_better, missing=missing
    )
    table = data.table
    m, d = table.scores.shape
    top = as_whole(top_k, "top_k", 1)
    if top > m:
        raise BadValueError(f"`top_k` must be at most the number of models, {m}", top_k)
    level = as_proportion(confidence_level, "confidence_level")
    n_draws, seed = as_resamples(n_resamples), as_seed(rng)
    nested = as_flag(nested, "nested")
    if nested != (items is not None):
        raise BadValueError(
            "`items` and `nested=True` belong together: items are drawn only where that is "
            "asked for, because it counts their noise twice"
        )
    listable = not nested and comb(2 * d - 1, d) <= _LISTED
    exact = listable and way != "draws"
    of_items = _drawn_items(items, table, by, seed) if nested else None
    if way == "exact" and not exact:
        why = "items are drawn too" if nested else f"got {d} tasks"
        raise BadValueError(
            f"`method='exact'` lists all draws of up to 10 tasks, {why}: use 'draws'"
        )
    costs = Costs.of(data.gains, by)
    draw = of_items or drawn_tasks(costs.values, seed)
    weights = None
    if exact:
        listed, weights = all_draws(d)
        n_draws, by_task = weights.size, np.ascontiguousarray(costs.values.T)

        def draw(part: slice) -> Floats:
            return listed[part] @ by_task

    with ThreadPool(check_workers(workers)) as pool:
        counts = count(draw, costs, n_draws, pool, top=top, weights=weights)
    means = costs.values.mean(axis=1) / costs.scale
    variance = costs.variance()
    if nested:
        variance = counts.variance / (d * (2.0 if by == "mean rank" else 1.0)) ** 2
    by_rank = by == "mean rank"
    if not by_rank and not table.lower_is_better:  # in the sign of the scores that came
        means = -means
    ranks = costs if by_rank else Costs.of(data.gains, "mean rank")
    reached = np.cumsum(counts.ranks, axis=1)
    tail = 0.5 * (1.0 - level)
    ends = [(reached >= part - 1e-12).argmax(axis=1) for part in (tail, 1.0 - tail)]
    return TaskBootstrap(
        names=table.names,
        tasks=table.tasks,
        n_dropped=data.n_dropped,
        rank=costs.ranks(),
        estimate=means,
        variance=variance,
        mean_rank=ranks.values.mean(axis=1) / ranks.scale,
        variance_of_mean_rank=variance if by_rank else ranks.variance(),
        rank_distribution=counts.ranks,
        rank_interval=np.stack(ends, axis=1).astype(np.int64) + 1,
        k=top,
        top_k=counts.top,
        best_probability=counts.best,
        rank_by=by,
        method="exact" if exact else "draws",
        nested=nested,
        confidence_level=level,
        n_resamples=None if exact else n_draws,
        seed=None if exact else seed,
        lower_is_better=table.lower_is_better,
    )


# Ranks without each task: does a leaderboard hang on one of them?


_TASKS_SHOWN = 8


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class LeftOutTasks(Record):
    """Ranks of M models without each of D tasks.

    A rank is 1 + the number of models strictly better.
    """

    _blocks = "datasets:left_out"
    _opening = "Each task was left out in turn, and models ranked anew."

    names: tuple[str, ...]
    tasks: tuple[str, ...]
    #: Tasks left out because a model has no score there.
    n_dropped: int
    #: Rank on all tasks, shape (M,).
    rank: Ints
    #: [t, j] is the rank of model j without task t, shape (D, M).
    ranks: Ints
    #: "mean rank" or "mean score".
    rank_by: str
    lower_is_better: bool

    _columns = (
        Column("model", "names", visible),
        Column("rank"),
        Column("rank_min", head="best"),
        Column("rank_max", head="worst"),
    )

    @property
    def rank_min(self) -> Ints:
        """Best rank that a model has without one task, shape (M,)."""
        return np.asarray(self.ranks.min(axis=0))

    @property
    def rank_max(self) -> Ints:
        """Worst rank that a model has without one task, shape (M,)."""
        return np.asarray(self.ranks.max(axis=0))

    @property
    def changes(self) -> Flags:
        """Whether ranks change without the task, shape (D,)."""
        return np.asarray((self.ranks != self.rank).any(axis=1))

    @property
    def changed(self) -> tuple[str, ...]:
        """Tasks without which ranks change."""
        return tuple(self.tasks[t] for t in np.flatnonzero(self.changes))

    @property
    def n_changed(self) -> int:
        """How many tasks change ranks when they are left out."""
        return len(self.changed)

    @property
    def best_changed(self) -> tuple[str, ...]:
        """Tasks without which other models are the best."""
        other = ((self.ranks == 1) != (self.rank == 1)).any(axis=1)
        return tuple(self.tasks[t] for t in np.flatnonzero(other))

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            Which tasks matter, and a row a model.
        """
        changed = [visible(task) for task in self.changed]
        more = f" and {len(changed) - _TASKS_SHOWN} more" if len(changed) > _TASKS_SHOWN else ""
        text = [
            f"{len(self.names)} models ranked by {self.rank_by} on {len(self.tasks)} "
            "tasks, each left out in turn.",
            answer(
                f"Ranks change without {len(changed)} of them"
                + (f": {', '.join(changed[:_TASKS_SHOWN])}{more}." if changed else ".")
            ),
            f"Another model is the best without {len(self.best_changed)}.",
            *dropped_sentence(self.n_dropped),
        ]
        order = np.argsort(self.rank, kind="stable")
        title = "Do ranks hang on one task?"
        return [self._printed(title, text=text, order=order, most=None)]


def leave_one_task_out(
    scores: ModelsLike | TaskScores,
    *,
    rank_by: str = "mean rank",
    lower_is_better: bool = False,
    missing: str = "raise",
    names: Sequence[str] | None = None,
    tasks: Sequence[str] | None = None,
) -> LeftOutTasks:
    """Rank the models without each task.

    Parameters
    ----------
    scores : array-like of shape (M, D), mapping, frame or results
        One score for each model and task; not of folds, which are not tasks.
    rank_by : {"mean rank", "mean score"}
        What models are ranked by; mean scores need tasks on one scale.
    lower_is_better : bool
        Whether scores are losses.
    missing : {"raise", "tasks"}
        Refuse missing scores, or leave out the tasks that a model has none on.
    names, tasks : sequence of str, optional
        Names of the models and tasks, in the place of those that `scores` has.

    Returns
    -------
    LeftOutTasks
        Ranks without each task, their range, and which tasks change them.

    Raises
    ------
    ValueError
        If scores are missing or infinite, or there are fewer than two models or tasks.
    TypeError
        If scores are not numbers.

    Notes
    -----
    From sums over the tasks, less that task: O(M D log M), of which the logarithm is
    for sorting.

    Examples
    --------
    >>> from fastcmp.datasets import leave_one_task_out
    >>> found = leave_one_task_out({"a": [0.9, 0.8, 0.4], "b": [0.8, 0.7, 0.9]})
    >>> found.rank.tolist(), found.ranks.tolist(), found.changed
    ([1, 2], [[1, 1], [1, 1], [1, 2]], ('task_0', 'task_1'))
    """
    by = choose(rank_by, "rank_by", RANK_BY)
    data = read_data(
        scores, names=names, tasks=tasks, lower_is_better=lower_is_better, missing=missing
    )
    table = data.table
    costs = Costs.of(data.gains, by)
    left = costs.values.sum(axis=1) - costs.values.T
    return LeftOutTasks(
        names=table.names,
        tasks=table.tasks,
        n_dropped=data.n_dropped,
        rank=costs.ranks(),
        ranks=costs.places(left),
        rank_by=by,
        lower_is_better=table.lower_is_better,
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class TaskNoise(Record):
    """The spread of differences over D tasks, between and within these.

    A task counts as one observation, the mean of its items.
    """

    tasks: tuple[str, ...]
    #: Items, folds or repetitions of each task, shape (D,).
    n_items: Ints
    #: Mean difference of each task, shape (D,), and variance of its items (divisor
    #: n - 1).
    task_means: Floats
    task_variances: Floats
    #: Mean of the task means.
    mean: float
    #: Variance of the mean when tasks alone are drawn again (divisor D), which holds
    #: the noise of the items already.
    variance_tasks_only: float
    #: What drawing items too adds: that noise a second time.
    within_term: float
    #: Variance of the mean of the differences over new tasks, without bias: that of
    #: the task means (divisor D - 1) over D.
    unbiased_variance_of_mean: float
    #: Variance of the true differences between tasks, 0 where the estimate is below 0.
    between_task_variance: float
    #: The same, without that limit.
    between: float
    #: Variance of the items within tasks: the mean over tasks.
    within: float
    #: Mean squares between and within tasks; None where tasks differ in their number of
    #: items.
    ms_between: float | None
    ms_within: float | None

    _columns = (
        *(Column("task", "tasks"), Column("n_items"), Column("mean", "task_means")),
        Column("variance", "task_variances"),
    )

    @property
    def variance_nested(self) -> float:
        """Variance of the mean when tasks and then items are drawn: too large."""
        return self.variance_tasks_only + self.within_term

    @property
    def se_of_mean(self) -> float:
        """Standard error of the mean over new tasks."""
        return float(np.sqrt(self.unbiased_variance_of_mean))

    @property
    def noise_proportion(self) -> float:
        """Part of the variance of the task means that is noise of their items; NaN without any."""
        spread = self.unbiased_variance_of_mean * len(self.tasks)
        return 1.0 - self.between_task_variance / spread if spread else float("nan")

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            The parts of the variance.
        """
        least, most = int(self.n_items.min()), int(self.n_items.max())
        number = f"{least}" if least == most else f"{least} to {most}"
        spread = self.unbiased_variance_of_mean * len(self.tasks)
        text = [
            f"{len(self.tasks)} tasks of {number} items or folds: mean difference "
            f"{self.mean:+.4g}, standard error over tasks {self.se_of_mean:.3g}.",
            answer(
                f"Variance of the task means {spread:.4g}, of which "
                f"{self.between_task_variance:.4g} is between tasks"
                + (
                    f" and {100 * self.noise_proportion:.3g}% noise of their items."
                    if spread
                    else "."
                )
            ),
        ]
        if self.between < 0.0:
            text.append("The items alone explain more than all the spread of tasks.")
        rows = (
            ("tasks drawn again", f"{self.variance_tasks_only:.4g}"),
            ("tasks, then items drawn again", f"{self.variance_nested:.4g}"),
            ("without bias", f"{self.unbiased_variance_of_mean:.4g}"),
        )
        return [
            Section(
                title="How much of the spread of tasks is noise?",
                text=tuple(text),
                columns=("variance of the mean", "value"),
                rows=rows,
                notes=(
                    "Drawing items within tasks counts their noise twice: the first "
                    "or the last is meant where tasks are a sample.",
                ),
            )
        ]


def task_noise(differences: ModelsLike, *, tasks: Sequence[str] | None = None) -> TaskNoise:
    """Split the spread of differences over tasks: between tasks, and within them.

    Parameters
    ----------
    differences : sequence or mapping of array-like, shape (n_t,), or array (D, n)
        Differences of two models on the items of each task, or on its folds or
        repetitions; two at least to each task.
    tasks : sequence of str, optional
        Names of the tasks.

    Returns
    -------
    TaskNoise
        Variances, and the proportion of noise.

    Raises
    ------
    ValueError
        If there are fewer than two tasks, or two items of a task, or differences are
        missing or infinite.
    TypeError
        If differences are not numbers.

    Notes
    -----
    With s2_t the variance of the n_t items of task t and s2 that of the task means, the
    variance between tasks is s2 - mean(s2_t / n_t). With equal n_t this is the analysis
    of variance, (MSB - MSW) / n, and where positive the estimate of REML. Drawing tasks
    and then items has the variance of drawing tasks plus mean((1 - 1/n_t) s2_t / n_t)
    / D. Folds of a task are dependent: their variance is no test within a task.

    Examples
    --------
    >>> from fastcmp.datasets import task_noise
    >>> found = task_noise([[1, 0, -1, 1], [2, 2, 1, 0], [0, -1, 0, 0]])
    >>> round(found.variance_tasks_only, 4), round(found.variance_nested, 4)
    (0.1296, 0.173)
    >>> round(found.between_task_variance, 4), round(found.noise_proportion, 4)
    (0.4097, 0.2976)
    """
    if isinstance(differences, Mapping):
        tasks = list(differences) if tasks is None else tasks
        differences = list(differences.values())
    differences = _listed(differences, "differences")
    if len(differences) < 2:
        raise BadValueError("`differences` must be of at least two tasks", len(differences))
    labels = name_tasks(tasks, len(differences))
    columns = _read_each(differences, "differences", labels, None)
    n_tasks = len(columns)
    sizes = np.array([x.size for x in columns], np.int64)
    means = np.array([x.mean() for x in columns])
    variances = np.array([x.var(ddof=1) if np.ptp(x) else 0.0 for x in columns])
    spread = float(means.var(ddof=1)) if np.ptp(means) else 0.0
    noise = variances / sizes
    between = spread - float(noise.mean())
    n = int(sizes[0]) if (sizes == sizes[0]).all() else None
    return TaskNoise(
        tasks=labels,
        n_items=sizes,
        task_means=means,
        task_variances=variances,
        mean=float(means.mean()),
        variance_tasks_only=spread * (n_tasks - 1) / n_tasks**2,
        within_term=float(np.mean(noise * (1.0 - 1.0 / sizes))) / n_tasks,
        unbiased_variance_of_mean=spread / n_tasks,
        between_task_variance=max(0.0, between),
        between=between,
        within=float(variances.mean()),
        ms_between=None if n is None else n * spread,
        ms_within=None if n is None else float(variances.mean()),
    )
