"""The record of models compared on the folds of several data sets."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp.core.plain import readable
from fastcmp.core.protocols import ScoreTable
from fastcmp.core.records import Record
from fastcmp.core.render import plain_columns
from fastcmp.core.sections import Section

if TYPE_CHECKING:
    from numpy.typing import NDArray

_SHOWN = 20  # data sets


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class CVDatasetsResult(Record):
    """Models compared on the folds of each of several data sets, and over data sets.

    Folds of a data set belong together, and are never taken for data sets: over data
    sets each model has one score for each, the mean over its folds.
    """

    #: The comparison on each data set, by name: `CVPairwiseResult` or `FoldComparison`.
    results: dict[str, Any]
    #: Where the seeds of all data sets come from; None where nothing was fitted.
    seed: int | None = None

    @property
    def _first(self) -> Any:
        return next(iter(self.results.values()))

    @property
    def names(self) -> tuple[str, ...]:
        """The models, M of them."""
        return tuple(self._first.names)

    @property
    def tasks(self) -> tuple[str, ...]:
        """The data sets, D of them."""
        return tuple(self.results)

    @property
    def measure(self) -> str:
        """What the models are scored by."""
        return str(self._first.measure)

    @property
    def scores(self) -> NDArray[np.float64]:
        """Mean score over the folds, shape (M, D)."""
        return np.stack([result.score for result in self.results.values()], axis=1)

    def task_scores(self) -> ScoreTable:
        """Give one score for each model and data set, as `compare_datasets` takes them.

        Returns
        -------
        ScoreTable
            The means over folds.
        """
        lower = bool(self._first.less_is_better)
        return ScoreTable(self.names, self.tasks, self.scores, lower)

    def fold_table(
        self,
    ) -> tuple[NDArray[np.float64], tuple[str, ...], tuple[str, ...], NDArray[np.float64]]:
        """Give the scores in all folds, as `fastcmp.datasets.task_table` takes them.

        Returns
        -------
        tuple of ndarray, names, tasks, ndarray
            Scores, shape (M, D, R, K); the models; the data sets; and samples tested
            over samples trained on in a split of each data set, shape (D,).

        Raises
        ------
        ValueError
            If data sets have different numbers of folds.
        """
        parts = [result.fold_scores for result in self.results.values()]
        if len({part.shape for part in parts}) > 1:
            shapes = {name: part.shape[1:] for name, part in zip(self.results, parts, strict=True)}
            raise ValueError(f"data sets have different repetitions and folds: {shapes}")
        ratios = [result.test_train_ratio for result in self.results.values()]
        return np.stack(parts, axis=1), self.names, self.tasks, np.array(ratios)

    def task_table(self, **options: Any) -> Any:
        """Mark models against a baseline on each data set, as WEKA does.

        Parameters
        ----------
        **options
            Those of `fastcmp.datasets.task_table`.

        Returns
        -------
        fastcmp.datasets.TaskTable
            The marked table.
        """
        lower = {"lower_is_better": bool(self._first.less_is_better)}
        made = import_module("fastcmp.datasets").task_table
        return made(self, **(lower | options))

    def over_datasets(self, **options: Any) -> Any:
        """Compare the models over data sets, by one score for each.

        Parameters
        ----------
        **options
            Those of `fastcmp.compare_datasets`; by default Wilcoxon's signed-rank test
            of each pair, adjusted by Holm's method.

        Returns
        -------
        fastcmp.datasets.DatasetsResult
            Decisions about all pairs over data sets.
        """
        return import_module("fastcmp").compare_datasets(self, **options)

    def columns(self) -> dict[str, Any]:
        """Give the scores as columns, a row for each data set and model.

        Returns
        -------
        dict of str to sequence
            Data set, model, rank, score with its interval, and how many models it is
            significantly better and worse than.
        """
        table: dict[str, list[Any]] = {}
        for name, result in self.results.items():
            board = result.leaderboard
            decisions = result.decisions[board.models]
            part = {
                "data_set": [name] * len(board.names),
                "model": list(board.names),
                "rank": board.rank.tolist(),
                self.measure: board.score.tolist(),
                "low": board.interval[:, 0].tolist(),
                "high": board.interval[:, 1].tolist(),
                "better_than": np.count_nonzero(decisions == 1, axis=1).tolist(),
                "worse_than": np.count_nonzero(decisions == -1, axis=1).tolist(),
            }
            for key, values in part.items():
                table.setdefault(key, []).extend(values)
        return table

    def _entries(self) -> dict[str, Any]:
        return {
            "names": list(self.names),
            "tasks": list(self.tasks),
            "measure": self.measure,
            "scores": readable(self.scores),
            "seed": self.seed,
            "data_sets": plain_columns(self.columns()),
        }

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            Data set by data set, and for two data sets or more over all of them.
        """
        own = self._by_data_set()
        if len(self.results) < 2:
            return [own]
        over = self.over_datasets().sections()
        return [own, Section(title="Over data sets", text=(_ONE_SCORE,)), *over]

    def _by_data_set(self) -> Section:
        rows = tuple(
            (
                name,
                str(result.n_samples),
                result.leaderboard.names[0],
                f"{result.leaderboard.score[0]:.4g}",
                str(len(result.best) - 1),
                f"{result.n_significant} of {result.n_pairs}",
            )
            for name, result in list(self.results.items())[:_SHOWN]
        )
        first = self._first
        how = f"{first.test} on {first.method}"
        if first.test == "folds":
            how = "corrected resampled t tests of saved scores"
        more = len(self.results) - _SHOWN
        seed = () if self.seed is None else (f"Seed {self.seed}.",)
        return Section(
            title="Models on each data set",
            text=(
                f"{len(self.names)} models on {len(self.results)} data sets, scored by "
                f"{self.measure}: {how}.",
                *seed,
            ),
            columns=("data set", "n", "best", self.measure, "ties", "pairs differ"),
            rows=rows,
            notes=(
                *((f"... and {more} more data sets.",) if more > 0 else ()),
                "ties: models that are not significantly different from the best; "
                f"pairs differ at {first.alpha:g} after adjustment ({first.adjust}) "
                "within a data set, not over data sets.",
            ),
        )


_ONE_SCORE = (
    "Each model has one score for each data set, the mean over its folds: folds are no data sets."
)
