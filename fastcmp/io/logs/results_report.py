"""What `Results` say of themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp.core.escaping import visible
from fastcmp.core.sections import Section
from fastcmp.io.logs.part import STATUS
from fastcmp.io.logs.words import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from fastcmp.io.logs.results import Results

_POLICIES = {"wrong": "counted as 0", "drop": "their items left out for all models"}


def sections_of(results: Results) -> list[Section]:
    """Describe results: a row a model, and a row a task where there are several."""
    means = results._item_means()
    rows = tuple(
        (visible(name), f"{mean:.4f}", str(n_errors), str(n_unscored))
        for name, mean, n_errors, n_unscored in zip(
            results.names,
            means.mean(axis=1).tolist(),
            results.n_errors.tolist(),
            results.n_unscored.tolist(),
            strict=True,
        )
    )
    n_tasks, n_items = len(results.tasks), len(results.items)
    title = ", ".join(
        (counted(len(results.names), "model"), counted(n_tasks, "task"), counted(n_items, "item"))
    )
    sections = [
        Section(
            title=title,
            text=_sentences(results),
            columns=("model", "mean", "errors", "unscored"),
            rows=rows,
            notes=results.remarks,
        )
    ]
    if n_tasks > 1:
        sections.append(_tasks(results, means))
    return sections


def _sentences(results: Results) -> tuple[str, ...]:
    """Say what the values are, and what was made of missing ones."""
    kind = "right or wrong" if results.is_right_or_wrong else "graded"
    said = [f"Metric: {visible(results.metric)}, {kind}. Format: {results.format}."]
    if not results.is_answered_once:
        n = np.bincount(results.columns_items)
        least, most = int(n.min()), int(n.max())
        number = f"{most}" if least == most else f"{least} to {most}"
        said.append(f"Answers to an item by a model: {number}.")
    if results.clusters is not None:
        n_clusters = len(set(results.clusters.tolist()))
        said.append(f"The items are in {counted(n_clusters, 'cluster')}.")
    n_lacking = int(results.n_errors.sum() + results.n_unscored.sum())
    if n_lacking:
        made = _POLICIES[results.errors]
        said.append(f"{counted(n_lacking, 'answer')} without a value: {made}.")
    return tuple(said)


def _tasks(results: Results, means: NDArray[np.float64]) -> Section:
    """Give a row a task."""
    n = np.bincount(results.item_tasks, minlength=len(results.tasks))
    sums = [np.bincount(results.item_tasks, row, len(results.tasks)) for row in means]
    by_task = (np.array(sums) / n).T
    rows = []
    for name, metric, size, scores in zip(
        results.task_names, results.metrics, n.tolist(), by_task, strict=True
    ):
        best = int(np.argmax(scores))
        rows.append(
            (
                visible(name),
                visible(metric),
                str(size),
                f"{scores.min():.4f}",
                f"{scores.max():.4f}",
                visible(results.names[best]),
            )
        )
    return Section(
        title="Tasks",
        columns=("task", "metric", "items", "least mean", "largest mean", "of"),
        rows=tuple(rows),
    )


def columns_of(results: Results) -> dict[str, list[Any]]:
    """Give a row a value: models after each other."""
    m, k = results.answers.shape
    of = results.item_tasks[results.columns_items]

    def by_column(entries: Sequence[Any]) -> Any:
        return np.array(entries, dtype=object)[of].tolist() * m

    status = np.zeros((m, k), np.uint8) if results.status is None else results.status
    clusters: list[Any] = [None] * k
    if results.clusters is not None:
        clusters = results.clusters[results.columns_items].tolist()
    attempts = [1] * (m * k)
    if results.attempts is not None:
        attempts = results.attempts.ravel().tolist()
    items = list(map(str, results.items[results.columns_items].tolist()))
    found = np.array(results.sources, dtype=object).reshape(m, -1)
    return {
        "model": np.repeat(np.array(results.names, dtype=object), k).tolist(),
        "task": by_column([task for task, _ in results.tasks]),
        "subset": by_column([subset for _, subset in results.tasks]),
        "metric": by_column(results.metrics),
        "item": items * m,
        "repeat": results.repeats.tolist() * m,
        "value": results.answers.ravel().tolist(),
        "cluster": clusters * m,
        "status": np.array(STATUS, dtype=object)[status].ravel().tolist(),
        "attempts": attempts,
        "source": found[:, of].ravel().tolist(),
    }
