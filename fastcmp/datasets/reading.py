"""Scores of models on tasks, checked, and what is made of missing ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp.core.escaping import visible
from fastcmp.core.options import choose
from fastcmp.datasets.score_input import higher_is_better, read_scores
from fastcmp.datasets.task_ranks import gains_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from fastcmp.core.protocols import ScoreTable
    from fastcmp.datasets.task_ranks import Gains

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
    table: ScoreTable,
    gaps: NDArray[np.bool_],
    missing: str,
    policies: tuple[str, ...],
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
