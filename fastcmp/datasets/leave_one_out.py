"""Ranks without each task: does a leaderboard hang on one of them?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp.core.checks import choose
from fastcmp.core.records import Record
from fastcmp.core.render import visible
from fastcmp.core.sections import Section
from fastcmp.datasets.reading import dropped_sentence, read_complete
from fastcmp.datasets.task_draws import RANK_BY, Costs, places

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

_LISTED = 8


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class LeftOutTasks(Record):
    """Ranks of M models without each of D tasks.

    A rank is 1 + the number of models strictly better.
    """

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

    @property
    def rank_min(self) -> Ints:
        """Best rank that a model has without one task, shape (M,)."""
        return np.asarray(self.ranks.min(axis=0))

    @property
    def rank_max(self) -> Ints:
        """Worst rank that a model has without one task, shape (M,)."""
        return np.asarray(self.ranks.max(axis=0))

    @property
    def changes(self) -> NDArray[np.bool_]:
        """Whether ranks change without the task, shape (D,)."""
        return np.asarray((self.ranks != self.rank).any(axis=1))

    @property
    def changed(self) -> tuple[str, ...]:
        """Tasks without which ranks change."""
        return tuple(self.tasks[t] for t in np.flatnonzero(self.changes))

    @property
    def n_changed(self) -> int:
        """How many tasks change ranks when they are left out."""
        return int(np.count_nonzero(self.changes))

    @property
    def best_changed(self) -> tuple[str, ...]:
        """Tasks without which other models are the best."""
        other = ((self.ranks == 1) != (self.rank == 1)).any(axis=1)
        return tuple(self.tasks[t] for t in np.flatnonzero(other))

    def columns(self) -> dict[str, Any]:
        """Give the models as columns, a row a model.

        Returns
        -------
        dict of str to sequence
            Name, rank, and the best and worst rank without one task.
        """
        return {
            "model": list(self.names),
            "rank": self.rank,
            "rank_min": self.rank_min,
            "rank_max": self.rank_max,
        }

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            Which tasks matter, and a row a model.
        """
        changed = [visible(task) for task in self.changed]
        more = f" and {len(changed) - _LISTED} more" if len(changed) > _LISTED else ""
        text = [
            f"{len(self.names)} models ranked by {self.rank_by} on {len(self.tasks)} "
            "tasks, each left out in turn.",
            f"Ranks change without {len(changed)} of them"
            + (f": {', '.join(changed[:_LISTED])}{more}." if changed else "."),
            f"Another model is the best without {len(self.best_changed)}.",
            *dropped_sentence(self.n_dropped),
        ]
        order = np.argsort(self.rank, kind="stable")
        low, high = self.rank_min, self.rank_max
        return [
            Section(
                title="Do ranks hang on one task?",
                text=tuple(text),
                columns=("model", "rank", "best", "worst"),
                rows=tuple(
                    (visible(self.names[j]), str(self.rank[j]), str(low[j]), str(high[j]))
                    for j in order
                ),
            )
        ]


def leave_one_task_out(
    scores: Any,
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
    data = read_complete(
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
        ranks=places(left, costs.tolerance),
        rank_by=by,
        lower_is_better=table.lower_is_better,
    )
