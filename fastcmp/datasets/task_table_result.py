"""The record of models compared task by task."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fastcmp.core.plain import readable
from fastcmp.core.protocols import ScoreTable
from fastcmp.core.records import Record
from fastcmp.core.sections import Section
from fastcmp.inputs.model_names import position_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

_SHOWN = 20  # tasks, and models
#: Marks in the order in which a footer counts them.
MARKS = ("v", "", "*")


class Standing(NamedTuple):
    """A model in the ranking by wins minus losses."""

    model: str
    #: Wins minus losses.
    net: int
    #: Tasks and models that this model is significantly better, or worse, than.
    wins: int
    losses: int


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class TaskTable(Record):
    """Models compared in pairs on each task, by the folds of its cross-validation."""

    #: Models, M of them, and tasks, D.
    names: tuple[str, ...]
    tasks: tuple[str, ...]
    #: Mean over all folds, shape (M, D).
    scores: NDArray[np.float64]
    #: Indices of the two models of each pair, shape (P, 2).
    pairs: NDArray[np.int32]
    #: By how much the first of a pair is better on average, shape (P, D); NaN where a
    #: model lacks a score.
    difference: NDArray[np.float64]
    #: Student's t, positive where the first is better, and its p-value, shape (P, D).
    statistic: NDArray[np.float64]
    pvalue: NDArray[np.float64]
    df: int
    #: The model that the others are marked against.
    baseline: str
    alpha: float
    lower_is_better: bool
    #: Of each task, shape (D,).
    test_train_ratio: NDArray[np.float64]
    #: Folds of all repetitions.
    n_splits: int

    @property
    def distribution(self) -> str:
        """The reference distribution of the statistics, Student's t."""
        return "t"

    @property
    def others(self) -> tuple[str, ...]:
        """The models that are marked, in the order of the marks."""
        return tuple(name for name in self.names if name != self.baseline)

    @property
    def marks(self) -> NDArray[np.str_]:
        """Marks of the other models, shape (D, M - 1).

        "v" where a model is significantly better than the baseline, "*" where it is
        significantly worse, else "".
        """
        return self._marks_against(self.names.index(self.baseline))

    def marks_against(self, baseline: int | str) -> NDArray[np.str_]:
        """Mark the other models against another baseline.

        Parameters
        ----------
        baseline : int or str
            A model.

        Returns
        -------
        ndarray of str, shape (D, M - 1)
            As `marks`.

        Raises
        ------
        ValueError
            If there is no such model.
        """
        return self._marks_against(position_of(baseline, self.names))

    def _marks_against(self, first: int) -> NDArray[np.str_]:
        i, j = self.pairs.T
        chosen = np.flatnonzero((i == first) | (j == first))
        sign = np.where(i[chosen] == first, -1, 1)
        better = sign[:, None] * self._decided()[chosen]
        return np.array(["*", "", "v"])[better + 1].T

    def _decided(self) -> NDArray[np.int64]:
        """Say who is significantly better: 1 the first, -1 the second, shape (P, D)."""
        with np.errstate(invalid="ignore"):
            found = np.where(self.pvalue <= self.alpha, np.sign(self.difference), 0)
        return found.astype(np.int64)

    @property
    def mark_counts(self) -> NDArray[np.int64]:
        """Tasks with "v", no mark and "*" of each other model, shape (M - 1, 3).

        A task on which the pair was not tested is not counted.
        """
        marks, first = self.marks, self.names.index(self.baseline)
        tested = ~np.isnan(self.pvalue[(self.pairs == first).any(axis=1)]).T
        return np.stack([((marks == m) & tested).sum(axis=0) for m in MARKS], axis=1)

    @property
    def wins(self) -> NDArray[np.int64]:
        """Tasks on which the model of the row is significantly better, shape (M, M)."""
        return self._table(self._decided())

    @property
    def better(self) -> NDArray[np.int64]:
        """Tasks on which the model of the row has the better mean, shape (M, M)."""
        return self._table(np.sign(np.nan_to_num(self.difference)))

    def _table(self, sign: NDArray[Any]) -> NDArray[np.int64]:
        n_models = len(self.names)
        found = np.zeros((n_models, n_models), np.int64)
        i, j = self.pairs.T
        found[i, j] = (sign > 0).sum(axis=1)
        found[j, i] = (sign < 0).sum(axis=1)
        return found

    @property
    def ranking(self) -> tuple[Standing, ...]:
        """Models by significant wins minus losses over all tasks and models."""
        wins = self.wins
        won, lost = wins.sum(axis=1), wins.sum(axis=0)
        order = np.argsort(lost - won, kind="stable")
        return tuple(
            Standing(self.names[i], int(won[i] - lost[i]), int(won[i]), int(lost[i])) for i in order
        )

    def task_scores(self) -> ScoreTable:
        """Give one score for each model and task, as `compare_datasets` takes them.

        Returns
        -------
        ScoreTable
            The means over folds: folds are no tasks.
        """
        return ScoreTable(self.names, self.tasks, self.scores, self.lower_is_better)

    def columns(self) -> dict[str, Any]:
        """Give the tests as columns, a row for each pair and task.

        Returns
        -------
        dict of str to sequence
            Names, means, the difference, the statistic and the p-value.
        """
        names = np.array(self.names, dtype=object)
        n_tasks = len(self.tasks)
        i, j = np.repeat(self.pairs, n_tasks, axis=0).T
        task = np.tile(np.arange(n_tasks), len(self.pairs))
        return {
            "task": [self.tasks[t] for t in task],
            "model_a": names[i].tolist(),
            "model_b": names[j].tolist(),
            "score_a": self.scores[i, task],
            "score_b": self.scores[j, task],
            "difference": self.difference.ravel(),
            "statistic": self.statistic.ravel(),
            "pvalue": self.pvalue.ravel(),
        }

    def _entries(self) -> dict[str, Any]:
        return {
            "names": list(self.names),
            "tasks": list(self.tasks),
            "scores": readable(self.scores),
            "df": self.df,
            "baseline": self.baseline,
            "alpha": self.alpha,
            "lower_is_better": self.lower_is_better,
            "test_train_ratio": readable(self.test_train_ratio),
            "marks": self.marks.tolist(),
            "mark_counts": readable(self.mark_counts),
            "wins": readable(self.wins),
            "better": readable(self.better),
            "ranking": [standing._asdict() for standing in self.ranking],
        }

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            The marked table, and the ranking by wins minus losses.
        """
        return [self._marked(), self._standings()]

    def _marked(self) -> Section:
        others, marks = self.others[: _SHOWN - 1], self.marks
        places = [self.names.index(name) for name in others]
        first = self.names.index(self.baseline)
        rows = [
            (
                task,
                f"{self.scores[first, t]:.4g}",
                *(
                    f"{self.scores[i, t]:.4g} {mark}".strip()
                    for i, mark in zip(places, marks[t], strict=False)
                ),
            )
            for t, task in enumerate(self.tasks[:_SHOWN])
        ]
        counts = self.mark_counts[: len(others)].tolist()
        rows.append(("(v/ /*)", "", *("/".join(map(str, c)) for c in counts)))
        notes: tuple[str, ...] = (
            f"v: significantly better than {self.baseline} at {self.alpha:g}, *: "
            f"significantly worse{'; lower is better' * self.lower_is_better}. Each "
            "mark is a test of its own: marks are not adjusted for their number.",
            f"Corrected resampled t test with {self.df} degrees of freedom on "
            f"{self.n_splits} folds of each task; the last line counts tasks.",
        )
        if left := len(self.tasks) - _SHOWN:
            notes = (f"... and {left} more tasks.", *notes) if left > 0 else notes
        if left := len(self.names) - 1 - len(others):
            notes = (f"... and {left} more models.", *notes)
        return Section(
            title=f"Models against {self.baseline}, task by task",
            columns=("task", self.baseline, *others),
            rows=tuple(rows),
            notes=notes,
        )

    def _standings(self) -> Section:
        rows = tuple(
            (place.model, f"{place.net:+d}", str(place.wins), str(place.losses))
            for place in self.ranking[:_SHOWN]
        )
        return Section(
            title="Significant wins minus losses, over all tasks and models",
            columns=("model", "net", "wins", "losses"),
            rows=rows,
        )
