"""Some models, tasks and subsets of `Results`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp.core.escaping import visible
from fastcmp.io.logs.words import listed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fastcmp.io.logs.results import Results


def selected(results: Results, task: Any, subset: Any, models: Any) -> Results:
    """Keep what is named; of what is None, all."""
    tasks = [t for t, _ in results.tasks]
    subsets = [s for _, s in results.tasks]
    wanted = (
        _known(task, "task", tasks),
        _known(subset, "subset", subsets),
    )
    kept = [
        i
        for i, pair in enumerate(results.tasks)
        if all(w is None or x in w for x, w in zip(pair, wanted, strict=True))
    ]
    if not kept:
        raise ValueError(f"task={task!r} and subset={subset!r} are nowhere together")
    chosen = _known(models, "models", results.names)
    rows = [results.names.index(name) for name in chosen or results.names]
    return _part(results, rows, kept)


def _part(results: Results, rows: Sequence[int], tasks: Sequence[int]) -> Results:
    """Keep some models and tasks, by their numbers."""
    new = np.full(len(results.tasks), -1)
    new[tasks] = np.arange(len(tasks))
    has = new[results.item_tasks] >= 0
    places = np.cumsum(has) - 1
    columns = np.flatnonzero(has[results.columns_items])
    cut, of = (
        np.ix_(np.array(rows), columns),
        np.ix_(np.array(rows), np.array(tasks)),
    )
    status = None if results.status is None else results.status[cut]
    return replace(
        results,
        names=tuple(results.names[i] for i in rows),
        tasks=tuple(results.tasks[i] for i in tasks),
        metrics=tuple(results.metrics[i] for i in tasks),
        items=results.items[has],
        item_tasks=new[results.item_tasks[has]],
        columns_items=places[results.columns_items[columns]],
        repeats=results.repeats[columns],
        answers=results.answers[cut],
        status=status,
        attempts=None if results.attempts is None else results.attempts[cut],
        clusters=None if results.clusters is None else results.clusters[has],
        sources=tuple(tuple(results.sources[i][j] for j in tasks) for i in rows),
        negated=tuple(results.negated[i] for i in tasks),
        task_errors=results.task_errors[of],
        task_unscored=results.task_unscored[of],
    )


def _known(wanted: Any, name: str, known: Sequence[str]) -> list[str] | None:
    """Check what is to be kept."""
    if wanted is None:
        return None
    names = [wanted] if isinstance(wanted, str) else list(wanted)
    for each in names:
        if each not in known:
            raise ValueError(
                f"{name}: there is no {visible(str(each))}, but {listed(dict.fromkeys(known), 20)}"
            )
    if not names:
        raise ValueError(f"{name} must name at least one, got none")
    return list(dict.fromkeys(names))
