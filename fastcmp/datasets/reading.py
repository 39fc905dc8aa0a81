"""Scores of models on tasks, checked, and what is made of missing ones; ranks within tasks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from fastcmp.core.checks import as_flag, check_size, choose
from fastcmp.core.errors import BadTypeError, BadValueError
from fastcmp.core.records import ScoreTable, TaskScores, are_task_scores
from fastcmp.core.render import visible
from fastcmp.core.threads import ThreadPool, parts
from fastcmp.core.typing import Floats, Ints, ModelsLike
from fastcmp.inputs.model_names import check_indexes, has_names, named_columns, with_names
from fastcmp.inputs.values import as_values, refuse_ids
from fastcmp.items.signed_rank import decimal_codes
from fastcmp.kernels.item_values import LARGEST
from fastcmp.kernels.task_ranks import rank_rows

_CELLS = 1 << 20  # scores that are sorted together
ULPS = 8 * float(np.finfo(np.float64).eps)  # values closer than this, of the largest, are tied
_SHOWN = 3  # missing scores that are listed


def read_scores(
    scores: ModelsLike | TaskScores,
    names: object = None,
    tasks: Sequence[str] | None = None,
    *,
    lower_is_better: bool = False,
) -> ScoreTable:
    """Read scores of M models on D tasks: an array (M, D), a mapping, a frame, results.

    Raises ValueError for fewer than two models or tasks, names that are not distinct,
    unequal lengths and infinite scores (missing ones are NaN);
    TypeError for entries that are not numbers.
    """
    lower = as_flag(lower_is_better, "lower_is_better")
    if are_task_scores(scores):
        table = scores.task_scores()
        if lower and not table.lower_is_better:
            raise BadValueError(
                "`lower_is_better` must be False where scores know themselves that more is "
                "better: errors and losses were given another sign"
            )
        lower, tasks = table.lower_is_better, tasks or table.tasks
        scores = dict(zip(table.names, table.scores, strict=True))
    _refuse_folds(scores, [scores])
    if tasks is None and has_names(scores):
        every = named_columns(scores, "scores")
        labels_of = [(name, column) for name, column in every if _holds_names(column)]
        if len(labels_of) == 1 and len(every) > 1:  # such as "dataset"
            tasks = [str(entry) for entry in labels_of[0][1]]
            scores = {name: column for name, column in every if name != labels_of[0][0]}
    named = named_columns(with_names(scores, names, "scores"), "scores")
    _refuse_folds(scores, [column for _, column in named])
    check_size(len(named), "scores", "models")
    check_indexes(named)
    titles = [visible(name) for name, _ in named]
    columns = [_column(x, name) for (_, x), name in zip(named, titles, strict=True)]
    n_tasks = columns[0].size
    for title, column in zip(titles, columns, strict=True):
        if column.size != n_tasks:
            raise BadValueError(
                f"`scores` must have a score of each model for the same tasks: {title} has "
                f"{column.size}, {titles[0]} has {n_tasks}"
            )
    if n_tasks < 2:
        raise BadValueError(
            "`scores` must be on at least two tasks",
            f"{n_tasks}: models on the items of one task are compared by compare_all and "
            "compare_means",
        )
    if isinstance(scores, Mapping) or hasattr(scores, "columns"):
        refuse_ids(titles, columns, "scores")
    if tasks is None:
        column = named[0][1]
        index = getattr(scores, "index", getattr(column, "index", ()))
        labelled = hasattr(column, "iloc") and type(index).__name__ != "RangeIndex"
        rows = [str(i) for i in index] if labelled else []
        # An index that repeats itself names the kind of tasks, not the tasks.
        tasks = rows if len(set(rows)) == n_tasks else None
    labels = name_tasks(tasks, n_tasks)
    matrix = np.array(columns)
    if (too_large := np.abs(matrix) >= LARGEST).any():
        bad = np.argwhere(too_large)
        model, task = bad[0]
        raise BadValueError(
            f"`scores` must be finite, and below {LARGEST:g} in size",
            f"{matrix[model, task]} of {titles[model]} on {visible(labels[task])} ({len(bad)} "
            "in all)",
        )
    return ScoreTable(tuple(name for name, _ in named), labels, matrix, lower)


def _refuse_folds(scores: ModelsLike | TaskScores, parts: list[Any]) -> None:
    """Refuse scores of folds or repetitions: they are no tasks."""
    most = 2 if parts[0] is scores else 1
    for part in parts:
        shape: tuple[Any, ...] = getattr(part, "shape", ())
        listed = most == 1 and isinstance(part, (list, tuple)) and len(part) > 0
        if len(shape) > most or (listed and np.ndim(part[0]) > 0):
            got = getattr(scores, "shape", "several for each task")
            raise BadValueError(
                "`scores` must be of shape (M, D), one score for each model and task",
                f"{got}: average over folds and repetitions first (they are not tasks); "
                "task_table tests within each task, compare_folds on one",
            )


def _holds_names(raw: object) -> bool:
    """Whether a column holds text other than numbers."""
    numeric = isinstance(raw, np.ndarray) and raw.dtype.kind in "biuf"
    if numeric or not np.iterable(raw):
        return False
    entries = (getattr(entry, "as_py", lambda text=entry: text)() for entry in raw)
    first = next(entries, None)
    if not isinstance(first, str) or not all(isinstance(entry, str) for entry in entries):
        return False
    try:
        float(first)
    except ValueError:
        return True
    return False


def _column(raw: object, title: str) -> Floats:
    """Read the scores of one model."""
    try:
        column = as_values(raw, title)
    except TypeError as error:
        raise BadTypeError(
            f"`scores` must hold one column of numbers a model: {error}. Names of tasks are "
            "the index of a frame, its only column of text, or `tasks=`; a table with a row a "
            "score is for read_results"
        ) from error
    if column.dtype == np.float32:
        # The decimals that were written, not their nearest binary numbers.
        column = column.astype(str)
    return column.astype(np.float64)


def name_tasks(tasks: object, n_tasks: int) -> tuple[str, ...]:
    """Names of the tasks, as the user gives them or numbered."""
    if tasks is None:
        return _numbered(n_tasks)
    if isinstance(tasks, (str, bytes)) or not isinstance(tasks, Iterable):
        raise BadTypeError("`tasks` must be a sequence of names of tasks", repr(tasks))
    names = [str(task) for task in tasks]
    if len(names) != n_tasks:
        raise BadValueError(f"`tasks` must name each of the {n_tasks} tasks", f"{len(names)} names")
    if len(set(names)) < n_tasks:
        twice = sorted(name for name, n in Counter(names).items() if n > 1)
        raise BadValueError("`tasks` must have one name a task", f"{twice} more than once")
    return tuple(names)


@lru_cache(maxsize=8)
def _numbered(n_tasks: int) -> tuple[str, ...]:
    return tuple(f"task_{t}" for t in range(n_tasks))


# Scores with such signs that more is better, after the policy for missing ones.


class Gains(NamedTuple):
    """Scores of M models on D tasks, with such signs that more is better."""

    names: tuple[str, ...]
    tasks: tuple[str, ...]
    #: Shape (M, D); whole numbers, the scores times a power of ten, where decimals were
    #: written; NaN where a score is missing; -inf where a model is then to be last.
    values: Floats
    #: What the scores were times.
    scale: float
    #: What is too small to be a difference, by task, shape (D,).
    tolerance: Floats

    @property
    def complete(self) -> bool:
        """Whether each model has a score on each task."""
        return not np.isnan(self.values).any()


def gains_of(table: ScoreTable, *, worst: bool = False) -> Gains:
    """Gains of scores: whole numbers where they have few decimals.

    A missing score is less than all others where it counts as the `worst`.
    """
    gains = -table.scores if table.lower_is_better else table.scores
    missing = np.isnan(gains)
    scaled = np.where(missing, 0.0, gains) if missing.any() else gains
    scaled, scale = decimal_codes(scaled) or (scaled, 1.0)
    tolerance = ULPS * np.maximum.reduce(np.abs(scaled))
    values = scaled if scaled is gains else np.where(missing, -np.inf if worst else np.nan, scaled)
    return Gains(table.names, table.tasks, values, scale, tolerance)


def rank_tasks(gains: Gains, pool: ThreadPool) -> Floats:
    """Rank the models within each task, 1 for the best: shape (M, D)."""
    m, n_tasks = gains.values.shape
    ranks = np.empty((n_tasks, m))

    def rank(part: slice) -> None:
        worse = -gains.values[:, part].T
        order = np.argsort(worse, axis=1)
        ordered = np.take_along_axis(worse, order, axis=1)
        rank_rows(ordered, order, gains.tolerance[part], ranks[part])

    tasks = parts(n_tasks, max(1, _CELLS // m))
    pool.run(rank, tasks, steps=0, here=m * n_tasks < _CELLS)
    return np.ascontiguousarray(ranks.T)


#: What to make of a model without a score on some tasks.
POLICIES = ("raise", "tasks", "pairs", "worst")
_OFFERS = {
    "tasks": "'tasks' for the tasks that all models have",
    "pairs": "'pairs' for those that both models of a pair have",
    "worst": "'worst' to rank such a model last",
}


class TaskData(NamedTuple):
    """Scores that are compared, after the policy for missing ones."""

    table: ScoreTable
    gains: Gains
    missing: str
    #: Missing scores of each model before that, shape (M,), and tasks dropped for them.
    n_missing: Ints
    n_dropped: int


def read_data(
    scores: ModelsLike | TaskScores,
    *,
    lower_is_better: Any,
    missing: str = "raise",
    names: object = None,
    tasks: Sequence[str] | None = None,
    policies: tuple[str, ...] = POLICIES[:2],
) -> TaskData:
    """Read scores; ValueError for missing ones without one of the policies offered."""
    missing = choose(missing, "missing", policies)
    table = read_scores(scores, names, tasks, lower_is_better=lower_is_better)
    gaps = np.isnan(table.scores)
    kept = ~gaps.any(axis=0)
    n_complete = int(np.count_nonzero(kept))
    if missing == "raise" and gaps.any():
        where = np.argwhere(gaps)
        examples = ", ".join(
            f"{visible(table.names[i])} on {visible(table.tasks[t])}" for i, t in where[:_SHOWN]
        )
        more = f" and {len(where) - _SHOWN} more" * (len(where) > _SHOWN)
        offers = [_OFFERS[policy] for policy in policies if policy != "raise"]
        cure = f"pass `missing={', '.join(offers)}, or ".replace("' ", "'` ", 1) if offers else ""
        raise BadValueError(
            f"`scores` must have one for each model and task, {len(where)} missing: "
            f"{examples}{more}; {cure}leave models or tasks out ({n_complete} of "
            f"{len(table.tasks)} tasks have all models)"
        )
    if missing == "tasks" and n_complete < 2:
        raise BadValueError(
            f"`scores` must have at least two tasks that all {len(table.names)} models have",
            n_complete,
            ": leave models out",
        )
    if gaps.all(axis=1).any():
        model = table.names[int(np.argmax(gaps.all(axis=1)))]
        raise BadValueError(
            f"{visible(model)} has no score on any task: leave this model out", argument="scores"
        )
    n_dropped = 0
    if missing == "tasks" and not kept.all():
        n_dropped = kept.size - n_complete
        labels = tuple(np.array(table.tasks, object)[kept])
        table = table._replace(tasks=labels, scores=table.scores[:, kept])
    gains = gains_of(table, worst=missing == "worst")
    return TaskData(table, gains, missing, np.count_nonzero(gaps, axis=1), n_dropped)


def dropped_sentence(n_dropped: int) -> tuple[str, ...]:
    """A sentence on how many tasks were left out."""
    if not n_dropped:
        return ()
    return (f"{n_dropped} tasks that a model has no score on were left out.",)
