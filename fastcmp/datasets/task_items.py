"""Values of models on the items, or folds, of each task, and draws of both."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fastcmp.core.checks import as_numbers
from fastcmp.core.escaping import visible
from fastcmp.kernels.item_values import LARGEST
from fastcmp.kernels.task_ranks import nested_draws

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fastcmp.core.protocols import ScoreTable
    from fastcmp.datasets.task_draws import Draw

    Floats = NDArray[np.float64]

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
