"""One score for each model and task, from whatever library it comes, checked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp.core.checks import as_flag
from fastcmp.core.escaping import visible
from fastcmp.core.protocols import ScoreTable, are_task_scores
from fastcmp.inputs.model_names import (
    check_indexes,
    has_names,
    named_columns,
    with_names,
)
from fastcmp.inputs.values import as_values, refuse_ids
from fastcmp.kernels.item_values import LARGEST

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

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
