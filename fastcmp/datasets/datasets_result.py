"""The record of many models compared over many data sets."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp.core.plain import readable
from fastcmp.datasets.datasets_summary import beside_ranks, tasks_sentences, test_name
from fastcmp.datasets.signed_rank_sums import rank_sums
from fastcmp.pairwise.result import PairwiseResult
from fastcmp.pairwise.summary import describe

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fastcmp.core.sections import Section
    from fastcmp.datasets.omnibus_result import OmnibusTest

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

_SHOWN = (
    *("tasks", "lower_is_better", "critical_difference", "alternative"),
    *("zero_method", "variance", "missing", "n_missing_values", "n_dropped"),
)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class DatasetsResult(PairwiseResult):
    """Many models compared in pairs by one score on each of many data sets (tasks).

    A `PairwiseResult`: `score` holds the mean ranks, 1 for the best, and `difference`
    those of the first of a pair minus those of the second. `only_a` and `only_b` count
    the tasks that the first, and the second, won. Who is better in a pair the test
    itself decides, by the sign of its statistic, whatever the mean ranks.
    """

    #: Names of the tasks, D of them.
    tasks: tuple[str, ...]
    #: As they came, shape (M, D); NaN where there is none.
    scores: Floats
    #: Ranks within each task, shape (M, D), 1 for the best.
    ranks: Floats
    #: Mean over the tasks that have the model, shape (M,). Of different measures it has
    #: no meaning.
    mean_score: Floats
    #: The test that all models do equally well.
    omnibus: OmnibusTest
    #: On how many tasks the model of the row is better than that of the column, (M, M).
    wins: Ints
    lower_is_better: bool = False
    #: The least difference of mean ranks that is significant, of "nemenyi" and, with
    #: Bonferroni's adjustment, of "normal"; None for other tests.
    critical_difference: float | None = None
    alternative: str = "two-sided"
    #: Of Wilcoxon's test; None for others.
    zero_method: str | None = None
    #: Of tests by mean ranks: "published" or "permutation".
    variance: str | None = None
    #: What was made of missing scores, how many each model has, and how many tasks were
    #: dropped for them.
    missing: str = "raise"
    n_missing_values: tuple[int, ...] = ()
    n_dropped: int = 0
    #: Tasks of both models of each kept pair, shape (P,), where these differ.
    n_tasks_of_pairs: Any = None

    @property
    def mean_rank(self) -> Floats:
        """Mean rank of each model, shape (M,), 1 for the best."""
        return self.score

    @property
    def n_tasks(self) -> int:
        """Number of tasks, D."""
        return len(self.tasks)

    @cached_property
    def ties(self) -> Ints:
        """On how many tasks each two models tie, shape (M, M); 0 on the diagonal."""
        present = (~np.isnan(self.ranks)).astype(np.float64)
        both = np.rint(present @ present.T).astype(np.int64)
        ties = both - self.wins - self.wins.T
        np.fill_diagonal(ties, 0)
        return ties

    @cached_property
    def win_tie_loss(self) -> Ints:
        """Tasks that each model won, tied and lost against all others, shape (M, 3)."""
        wins, losses = self.wins.sum(axis=1), self.wins.sum(axis=0)
        return np.stack([wins, self.ties.sum(axis=1), losses], axis=1)

    @cached_property
    def _rank_sums(self) -> Floats:
        return rank_sums(self)

    @property
    def rank_sum_plus(self) -> Floats:
        """Wilcoxon's sum of the ranks of tasks that favour the first, shape (P,)."""
        return self._rank_sums[:, 0]

    @property
    def zscore(self) -> Floats:
        """Normal score of each pair, shape (P,): positive where the first is better.

        Of Wilcoxon's test, also where its p-value is exact, and of tests by mean ranks;
        the statistic of all others.
        """
        if self.method == "wilcoxon":
            return self._rank_sums[:, 2]
        return self.statistic

    def columns(self) -> dict[str, Any]:
        """Give the pairs as columns, a row a pair.

        Returns
        -------
        dict of str to sequence
            Names of both models and all fields; `wins` and `losses` are those of the
            first.
        """
        columns = super().columns()
        columns["wins"], columns["losses"] = (columns.pop("only_a"), columns.pop("only_b"))
        if np.ndim(self.df):
            columns["df"] = self.df
        if self.n_tasks_of_pairs is not None:
            columns["n_tasks"] = self.n_tasks_of_pairs
        return columns

    def _entries(self) -> dict[str, Any]:
        own = {name: readable(getattr(self, name)) for name in _SHOWN}
        own["omnibus"] = self.omnibus._entries()
        own["wins"] = self.wins.tolist()
        own["mean_score"] = readable(self.mean_score)
        return super()._entries() | own

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            The answer, the test of all models, the leaderboard by mean rank, the
            decisions, and how to read them.
        """
        sections = describe(self, test_name(self), "none")
        first = sections[0]
        text = (*first.text, *tasks_sentences(self))
        sections[0] = replace(first, text=text)
        return [beside_ranks(self, section) for section in sections]
