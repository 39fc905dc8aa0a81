"""The record of many models compared in pairs: decisions, ranking and ties."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fastcmp.checks import check_choice
from fastcmp.frames import Tabular
from fastcmp.pairwise_sections import describe
from fastcmp.ranking import (
    TIED,
    UNTESTED,
    Leaderboard,
    TieGroups,
    rank_intervals,
    tie_groups,
    verdicts_of,
)
from fastcmp.report import plain_columns
from fastcmp.results import Printed

if TYPE_CHECKING:
    from fastcmp.report import Section

_MATRIX_FIELDS = (
    "only_a",
    "only_b",
    "difference",
    "statistic",
    "pvalue",
    "pvalue_adjusted",
    "significant",
)

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, eq=False)
class PairwiseResult(Printed, Tabular):
    """Many models on the same samples, compared in pairs.

    Arrays of length P hold one entry a pair (a, b) that was kept; those of length M one
    a model. The rankings come from all pairs, kept or not; they are worked out when
    they are first asked for.
    """

    #: McNemar's or the cost-sensitive statistic of each pair, shape (P,).
    statistic: Floats
    pvalue: Floats
    #: P-values after `adjust`, to be held against `alpha`, shape (P,).
    pvalue_adjusted: Floats
    #: Indices of the two models of each pair, shape (P, 2).
    pairs: NDArray[np.int32]
    #: Samples on which the first, or the second, did better, shape (P,): only it is
    #: right, or its cost is lower. None where models are compared by AUC, or on folds.
    only_a: Any = None
    only_b: Any = None
    #: Score of the first minus that of the second, shape (P,).
    difference: Floats
    #: Interval for each difference by itself, shape (P, 2): Newcombe's for accuracies,
    #: of profile likelihood for costs.
    interval: Floats
    names: tuple[str, ...]
    #: Rightly classified samples of each model, shape (M,); None as for `only_a`.
    correct: Any = None
    #: What the models are ranked by, shape (M,): accuracy, or cost per sample.
    score: Floats
    #: Interval for each score by itself, shape (M, 2): Wilson's for accuracies, of
    #: profile likelihood for costs, on the logit scale for AUC.
    score_interval: Floats
    #: "accuracy" or "AUC", where more is better, or "cost", where less is.
    measure: str = "accuracy"
    n_samples: int
    test: str
    method: str
    adjust: str
    alpha: float
    #: What a decision at `alpha` promises, in words.
    rule: str
    n_missing: int = 0
    n_excluded: int = 0
    #: Predictions of each model that are labels, but not of the truth; empty where
    #: there are none, or they were not counted.
    n_outside: tuple[int, ...] = ()
    #: What was kept of the pairs: "all", "significant", those of so many of the best
    #: models, or the file that all were written to.
    kept: Any = "all"
    #: Whether `statistic` has the sign of the difference, as t and z have.
    signed: bool = False
    #: Who beats whom, shape (M, M), as from `fastcmp.ranking.verdicts_of`; worked out
    #: from the pairs if not given.
    all_verdicts: NDArray[np.int8] | None = None

    @cached_property
    def verdicts(self) -> NDArray[np.int8]:
        """Who beats whom, shape (M, M).

        1 where the model of the row beats that of the column, -1 where it loses, 0
        where they are not told apart, 2 where they are and neither is better, 3 where
        they were not compared.
        """
        if self.all_verdicts is not None:
            return self.all_verdicts
        gain = self._gain * self.difference
        return verdicts_of(len(self.names), self.pairs, self.significant, gain)

    @cached_property
    def n_pairs(self) -> int:
        """Number of pairs that were compared, kept or not."""
        return int(np.count_nonzero(self.verdicts != UNTESTED)) // 2

    @cached_property
    def n_told_apart(self) -> int:
        """Number of pairs that are told apart at `alpha`, kept or not."""
        return self.n_pairs - int(np.count_nonzero(self.verdicts == TIED)) // 2

    @property
    def accuracy(self) -> Floats:
        """Share of samples that each model classified rightly, shape (M,)."""
        if self.correct is not None:
            return np.asarray(self.correct / self.n_samples)
        if self.measure != "accuracy":
            message = f"these models were compared by {self.measure}, not by accuracy"
            raise ValueError(message)
        return self.score

    @property
    def _gain(self) -> int:
        """Sign of the scores such that more is better."""
        return -1 if self.measure == "cost" else 1

    @cached_property
    def significant(self) -> NDArray[np.bool_]:
        """Which of the kept pairs are told apart at `alpha`, shape (P,)."""
        return self.pvalue_adjusted <= self.alpha

    @cached_property
    def decided(self) -> tuple[Ints, Ints]:
        """The winner and the loser of each kept pair that is told apart.

        Some tests on folds tell models apart whose scores do not differ on average:
        nobody wins.
        """
        told = self.significant & (self.difference != 0)
        first = self._gain * self.difference[told] > 0
        pairs = self.pairs[told]
        better = np.where(first, pairs[:, 0], pairs[:, 1])
        return better, np.where(first, pairs[:, 1], pairs[:, 0])

    @cached_property
    def leaderboard(self) -> Leaderboard:
        """The ranking from best to worst, with intervals for score and rank."""
        badness = -self._gain * self.score
        order = np.argsort(badness, kind="stable")
        ranks = rank_intervals(self.verdicts)
        return Leaderboard(
            names=tuple(self.names[i] for i in order),
            models=order,
            rank=1 + np.searchsorted(badness[order], badness[order]),
            measure=self.measure,
            score=self.score[order],
            interval=self.score_interval[order],
            rank_interval=ranks[order],
        )

    @property
    def tied(self) -> NDArray[np.bool_]:
        """Which pairs were tested and not told apart, shape (M, M)."""
        return np.asarray(self.verdicts == TIED)

    @cached_property
    def groups(self) -> TieGroups:
        """The groups of ties as indices of models, and whether these are all."""
        return tie_groups(self.leaderboard.models, self.tied)

    @property
    def tie_groups(self) -> tuple[tuple[str, ...], ...]:
        """Maximal sets of models in which no pair is told apart, best first.

        Where there are too many to list, the maximal runs of neighbours in the
        ranking; `tie_groups_complete` tells.
        """
        groups = self.groups.groups
        return tuple(tuple(self.names[i] for i in group) for group in groups)

    @property
    def tie_groups_complete(self) -> bool:
        """Whether `tie_groups` lists all maximal sets."""
        return self.groups.complete

    @property
    def best(self) -> tuple[str, ...]:
        """The first of the ranking, and all that were tested and not told from it."""
        order = self.leaderboard.models
        top = order[0]
        level = self.verdicts[top] == TIED
        return tuple(self.names[i] for i in order if i == top or level[i])

    def matrix(self, field: str) -> NDArray[Any]:
        """Lay out one field of the pairs as a matrix of models.

        Parameters
        ----------
        field : str
            "difference", "pvalue", "pvalue_adjusted", "significant", "statistic",
            "only_a" or "only_b".

        Returns
        -------
        ndarray, shape (M, M)
            Entry [i, j] compares model i as the first with model j. Pairs that were
            not kept are NaN (-1 for counts, False for decisions); the diagonal is 0,
            of p-values 1.

        Raises
        ------
        ValueError
            If there is no such field.

        Examples
        --------
        >>> from fastcmp import compare_all
        >>> result = compare_all([0, 1, 1, 0], [[0, 1, 1, 1], [0, 0, 1, 1]])
        >>> result.matrix("difference").tolist()
        [[0.0, 0.25], [-0.25, 0.0]]
        """
        check_choice(field, "field", _MATRIX_FIELDS)
        values = getattr(self, field)
        if values is None:
            message = (
                f"field {field!r} is not known: models were compared by "
                f"{self.measure}, without counting"
            )
            raise ValueError(message)
        mirrored = values
        if field == "difference" or (field == "statistic" and self.signed):
            mirrored = -values
        elif field in ("only_a", "only_b"):
            mirrored = self.only_b if field == "only_a" else self.only_a
        empty = {"f": np.nan, "i": -1, "b": False}[values.dtype.kind]
        matrix = np.full((len(self.names), len(self.names)), empty, values.dtype)
        i, j = self.pairs.T
        matrix[i, j], matrix[j, i] = values, mirrored
        np.fill_diagonal(matrix, 1 if field.startswith("pvalue") else 0)
        return matrix

    def columns(self) -> dict[str, Any]:
        """Lay out the pairs as columns, a row a pair.

        Returns
        -------
        dict of str to sequence
            Names of both models and all fields.
        """
        names = np.array(self.names, dtype=object)
        counts = {"only_a": self.only_a, "only_b": self.only_b}
        return {
            "model_a": names[self.pairs[:, 0]].tolist(),
            "model_b": names[self.pairs[:, 1]].tolist(),
            **{name: x for name, x in counts.items() if x is not None},
            "difference": self.difference,
            "low": self.interval[:, 0],
            "high": self.interval[:, 1],
            "statistic": self.statistic,
            "pvalue": self.pvalue,
            "pvalue_adjusted": self.pvalue_adjusted,
            "significant": self.significant,
        }

    def to_dict(self) -> dict[str, Any]:
        """Give everything as plain Python objects, ready for JSON.

        Returns
        -------
        dict
            Options, leaderboard, tie groups and pairs; what is not finite is None.

        Examples
        --------
        >>> from fastcmp import compare_all
        >>> result = compare_all([0, 1, 1, 0], [[0, 1, 1, 1], [0, 0, 1, 1]])
        >>> result.to_dict()["pairs"]["pvalue"]
        [0.5]
        """
        board = self.leaderboard
        return {
            "test": self.test,
            "measure": self.measure,
            "method": self.method,
            "adjust": self.adjust,
            "alpha": self.alpha,
            "rule": self.rule,
            "n_samples": self.n_samples,
            "n_missing": self.n_missing,
            "n_excluded": self.n_excluded,
            "n_outside": list(self.n_outside),
            "n_pairs": self.n_pairs,
            "kept": self.kept if isinstance(self.kept, (int, str)) else str(self.kept),
            "leaderboard": plain_columns(
                {
                    "model": board.names,
                    "rank": board.rank,
                    self.measure: board.score,
                    "low": board.interval[:, 0],
                    "high": board.interval[:, 1],
                    "rank_low": board.rank_interval[:, 0],
                    "rank_high": board.rank_interval[:, 1],
                }
            ),
            "tie_groups": [list(group) for group in self.tie_groups],
            "tie_groups_complete": self.tie_groups_complete,
            "best": list(self.best),
            "pairs": plain_columns(self.columns()),
        }

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            The question, the leaderboard, who beats whom, and the rule.
        """
        return describe(self)
