"""Scores of models on tasks, checked, and what is made of missing ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp.core.checks import as_flag, as_numbers, choose
from fastcmp.core.records import ScoreTable, are_task_scores
from fastcmp.core.render import visible
from fastcmp.datasets.task_ranks import Decimals, gains_of
from fastcmp.inputs.model_names import (
    check_indexes,
    has_names,
    named_columns,
    read_pair_names,
    with_names,
)
from fastcmp.inputs.values import as_values, refuse_ids
from fastcmp.kernels.item_values import LARGEST

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from fastcmp.datasets.task_ranks import Gains

    Floats = NDArray[np.float64]

_ARGUMENT = "scores"


def read_scores(
    scores: Any,
    names: Sequence[str] | None = None,
    tasks: Sequence[str] | None = None,
    *,
    lower_is_better: bool = False,
) -> ScoreTable:
    """Read scores of M models on D tasks: an array (M, D), a mapping, a frame, results.

    Raises ValueError for fewer than two models or tasks, names that are not distinct,
    unequal lengths and infinite scores (missing ones are NaN);
    TypeError for what are no numbers.
    """
    lower = as_flag(lower_is_better, "lower_is_better")
    if are_task_scores(scores):
        table = scores.task_scores()
        if lower and not table.lower_is_better:
            raise ValueError(
                "lower_is_better must be False where scores know themselves that more "
                "is better: errors and losses were given another sign"
            )
        lower, tasks = table.lower_is_better, tasks or table.tasks
        scores = dict(zip(table.names, table.scores, strict=True))
    _refuse_folds(scores, [scores])
    if tasks is None and has_names(scores):
        every = named_columns(scores, _ARGUMENT)
        labels_of = [(name, column) for name, column in every if _holds_names(column)]
        if len(labels_of) == 1 and len(every) > 1:  # such as "dataset"
            tasks = [str(entry) for entry in labels_of[0][1]]
            scores = {name: column for name, column in every if name != labels_of[0][0]}
    named = named_columns(with_names(scores, names, _ARGUMENT), _ARGUMENT)
    _refuse_folds(scores, [column for _, column in named])
    if len(named) < 2:
        raise ValueError(f"{_ARGUMENT} must hold at least 2 models, got {len(named)}")
    check_indexes(named)
    titles = [visible(name) for name, _ in named]
    columns = [_column(x, name) for (_, x), name in zip(named, titles, strict=True)]
    _check_lengths(columns, titles)
    if isinstance(scores, Mapping) or hasattr(scores, "columns"):
        refuse_ids(titles, columns, _ARGUMENT)
    matrix = np.stack(columns)
    labels = _task_names(tasks, named[0][1], scores, matrix.shape[1])
    _refuse_infinite(matrix, titles, labels)
    return ScoreTable(tuple(name for name, _ in named), labels, matrix, lower)


def higher_is_better(table: ScoreTable) -> Floats:
    """Give the scores with such signs that more is better, shape (M, D)."""
    return -table.scores if table.lower_is_better else table.scores


def _refuse_folds(scores: Any, parts: list[Any]) -> None:
    """Refuse scores of folds or repetitions: they are no tasks."""
    most = 2 if parts[0] is scores else 1
    for part in parts:
        shape: tuple[Any, ...] = getattr(part, "shape", ())
        listed = most == 1 and isinstance(part, (list, tuple)) and len(part) > 0
        if len(shape) > most or (listed and np.ndim(part[0]) > 0):
            got = getattr(scores, "shape", "several for each task")
            raise ValueError(
                f"{_ARGUMENT} must be of shape (M, D), one score for each model and "
                f"task, got {got}: average over folds and repetitions first (they are "
                "not tasks); task_table tests within each task, compare_folds on one"
            )


def _holds_names(raw: Any) -> bool:
    """Whether a column holds text that is no numbers."""
    if not np.iterable(raw):
        return False
    entries = [getattr(entry, "as_py", lambda own=entry: own)() for entry in raw]
    if not entries or not all(isinstance(entry, str) for entry in entries):
        return False
    try:
        float(entries[0])
    except ValueError:
        return True
    return False


def _column(raw: Any, title: str) -> Floats:
    """Read the scores of one model."""
    try:
        column = as_values(raw, title)
    except TypeError as error:
        raise TypeError(
            f"{_ARGUMENT} must hold one column of numbers a model: {error}. Names of "
            "tasks are the index of a frame, its only column of text, or tasks=; a table "
            "with a row a score is for read_results"
        ) from error
    if column.dtype == np.float32:
        # The decimals that were written, not their nearest binary numbers.
        column = column.astype(str)
    return column.astype(np.float64)


def _check_lengths(columns: list[NDArray[Any]], titles: list[str]) -> None:
    n_tasks = columns[0].size
    for title, column in zip(titles, columns, strict=True):
        if column.size != n_tasks:
            raise ValueError(
                f"{_ARGUMENT} must have a score of each model for the same tasks: "
                f"{title} has {column.size}, {titles[0]} has {n_tasks}"
            )
    if n_tasks < 2:
        raise ValueError(
            f"{_ARGUMENT} must be on at least two tasks, got {n_tasks}: models on the "
            "items of one task are compared by compare_all and compare_means"
        )


def _task_names(tasks: Any, column: Any, scores: Any, n_tasks: int) -> tuple[str, ...]:
    """Name the tasks as the user does, or as the index of a pandas object does."""
    if tasks is None:
        index = getattr(scores, "index", getattr(column, "index", None))
        labelled = hasattr(column, "iloc") and type(index).__name__ != "RangeIndex"
        chosen = [str(i) for i in index] if labelled else []  # type: ignore[union-attr]
        # An index that repeats itself says of which kind tasks are, not which they are.
        if len(set(chosen)) == n_tasks:
            return tuple(chosen)
        return tuple(f"task_{i}" for i in range(n_tasks))
    if isinstance(tasks, (str, bytes)) or not isinstance(tasks, Iterable):
        raise TypeError(f"tasks must be a sequence of names of tasks, got {tasks!r}")
    chosen = [str(task) for task in tasks]
    if len(chosen) != n_tasks:
        raise ValueError(
            f"tasks must name each of the {n_tasks} tasks of {_ARGUMENT}, got {len(chosen)} names"
        )
    if len(set(chosen)) < n_tasks:
        twice = sorted(name for name, n in Counter(chosen).items() if n > 1)
        raise ValueError(f"tasks must have one name a task, got {twice} more than once")
    return tuple(chosen)


def _refuse_infinite(matrix: Floats, titles: list[str], tasks: tuple[str, ...]) -> None:
    bad = np.argwhere(np.abs(matrix) >= LARGEST)
    if bad.size:
        model, task = bad[0]
        raise ValueError(
            f"{_ARGUMENT} must be finite, and below {LARGEST:g} in size, got "
            f"{matrix[model, task]} of {titles[model]} on {visible(tasks[task])} "
            f"({len(bad)} in all)"
        )


# Scores of models on tasks, checked, and what is made of missing ones.


#: What to make of a model without a score on some tasks.
POLICIES = ("raise", "tasks", "pairs", "worst")
_OFFERS = {
    "tasks": "'tasks' for the tasks that all models have",
    "pairs": "'pairs' for those that both models of a pair have",
    "worst": "'worst' to rank such a model last",
}
_SHOWN = 3


@dataclass(frozen=True)
class TaskData:
    """Scores that are compared, after the policy for missing ones."""

    table: ScoreTable
    gains: Gains
    missing: str
    #: Missing scores of each model before that, shape (M,), and tasks dropped for them.
    n_missing: NDArray[np.int64]
    n_dropped: int


def read_data(
    scores: Any,
    *,
    lower_is_better: bool,
    missing: str = "raise",
    names: Sequence[str] | None = None,
    tasks: Sequence[str] | None = None,
    policies: tuple[str, ...] = ("raise",),
) -> TaskData:
    """Read scores; ValueError for missing ones without one of the policies offered."""
    missing = choose(missing, "missing", policies)
    table = read_scores(scores, names, tasks, lower_is_better=lower_is_better)
    gaps = np.isnan(table.scores)
    n_dropped = 0
    if gaps.any():
        _refuse(table, gaps, missing, policies)
        if missing == "tasks":
            kept = ~gaps.any(axis=0)
            n_dropped = int(np.count_nonzero(~kept))
            labels = tuple(np.array(table.tasks, object)[kept])
            table = table._replace(tasks=labels, scores=table.scores[:, kept])
    gains = higher_is_better(table)
    if missing == "worst":
        gains = np.where(np.isnan(gains), -np.inf, gains)
    made = gains_of(table.names, table.tasks, gains)
    return TaskData(table, made, missing, np.count_nonzero(gaps, axis=1), n_dropped)


def read_complete(
    scores: Any, *, names: Any, tasks: Any, lower_is_better: Any, missing: Any
) -> TaskData:
    """Read scores, perhaps without the tasks that a model lacks."""
    return read_data(
        scores,
        lower_is_better=lower_is_better,
        missing=missing,
        names=names,
        tasks=tasks,
        policies=POLICIES[:2],
    )


def dropped_sentence(n_dropped: int) -> tuple[str, ...]:
    """Say how many tasks were left out."""
    if not n_dropped:
        return ()
    return (f"{n_dropped} tasks that a model has no score on were left out.",)


def _refuse(
    table: ScoreTable, gaps: NDArray[np.bool_], missing: str, policies: tuple[str, ...]
) -> None:
    """Refuse missing scores without a policy, or with too few left."""
    n_complete = int(np.count_nonzero(~gaps.any(axis=0)))
    if missing == "raise":
        where = np.argwhere(gaps)
        shown = ", ".join(
            f"{visible(table.names[i])} on {visible(table.tasks[t])}" for i, t in where[:_SHOWN]
        )
        more = f" and {len(where) - _SHOWN} more" * (len(where) > _SHOWN)
        offers = [_OFFERS[policy] for policy in policies if policy != "raise"]
        cure = f"pass missing={', '.join(offers)}, or " if offers else ""
        raise ValueError(
            f"scores must have one for each model and task, {len(where)} missing: "
            f"{shown}{more}; {cure}leave models or tasks out ({n_complete} of "
            f"{len(table.tasks)} tasks have all models)"
        )
    if missing == "tasks" and n_complete < 2:
        raise ValueError(
            f"scores must have at least two tasks that all {len(table.names)} models "
            f"have, got {n_complete}: leave models out"
        )
    if gaps.all(axis=1).any():
        model = table.names[int(np.argmax(gaps.all(axis=1)))]
        raise ValueError(f"{visible(model)} has no score on any task: leave this model out")


# Scores of two models, checked, and their differences.


@dataclass(frozen=True)
class ScorePair:
    """Scores of a and b, as they came."""

    a: Floats
    b: Floats
    names: tuple[str, str]
    lower_is_better: bool
    decimals: Decimals

    @property
    def units(self) -> tuple[Floats, float]:
        """Differences in units of the last decimal, a better above 0; a tolerance."""
        a, b = self.decimals.values
        return (b - a if self.lower_is_better else a - b), 2 * self.decimals.tolerance

    def in_units(self, value: float) -> float:
        """Write a difference in these units."""
        return value * self.decimals.scale

    @property
    def differences(self) -> Floats:
        """Differences, above 0 where a is better; equal decimals are equal."""
        return np.asarray(self.units[0] / self.decimals.scale)

    @property
    def measure(self) -> str:
        """What the scores are."""
        return "loss" if self.lower_is_better else "score"

    @property
    def difference(self) -> float:
        """Mean of a minus mean of b."""
        mean = float(np.mean(self.differences))
        return -mean if self.lower_is_better else mean


def read_score_pair(
    scores_a: Any,
    scores_b: Any,
    *,
    lower_is_better: Any,
    names: Any,
    shape: tuple[str, ...] = ("(D,)",),
) -> ScorePair:
    """Check scores of two models; ValueError or TypeError for what they cannot be."""
    given = [("scores_a", scores_a), ("scores_b", scores_b)]
    check_indexes(given)
    columns = [_read(raw, name, shape) for name, raw in given]
    a, b = columns
    if a.shape != b.shape:
        raise ValueError(
            f"scores_b must be as many as scores_a, in the same order: {a.shape}, got {b.shape}"
        )
    if a.size < 2:
        raise ValueError(f"scores_a must be two at least, got {a.size}")
    pair = read_pair_names(names)
    lower = as_flag(lower_is_better, "lower_is_better")
    return ScorePair(a, b, pair, lower, Decimals.of(np.stack([a.ravel(), b.ravel()])))


def _read(raw: Any, name: str, shape: tuple[str, ...]) -> Floats:
    """Check one column."""
    column = np.asarray(as_numbers(raw, name).astype(np.float64))
    if not 1 <= column.ndim <= len(shape):
        raise ValueError(
            f"{name} must be of shape {' or '.join(shape)}, got {column.shape}: folds "
            "and repetitions of a task are no tasks"
        )
    bad = np.argwhere(~(np.abs(column) < LARGEST))
    if bad.size:
        where = int(bad[0, 0]) if column.ndim == 1 else tuple(bad[0].tolist())
        raise ValueError(
            f"{name} must be finite, and below {LARGEST:g} in size, got "
            f"{column[tuple(bad[0])]} at {where}"
        )
    return column
