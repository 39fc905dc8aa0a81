"""The record of many models compared in pairs: decisions, ranking and ties."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fastcmp.core.options import choose
from fastcmp.core.records import Record
from fastcmp.core.render import plain_columns
from fastcmp.pairwise.ranking import (
    FAMILYWISE,
    LOSES,
    TIED,
    UNTESTED,
    Leaderboard,
    TieGroups,
    rank_intervals,
    tie_groups,
    verdicts_of,
)
from fastcmp.pairwise.summary import control_columns, describe

if TYPE_CHECKING:
    from fastcmp.core.report import Section

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


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class PairwiseResult(Record):
    """Many models on the same samples, compared in pairs.

    Arrays of length P hold one entry a pair (a, b) that was kept; those of length M one
    a model. The rankings come from all pairs that were tested, kept or not; they are
    worked out when they are first asked for. A pair that was not tested, because of
    `control` or chosen pairs, or whose test has no answer (its p-value is NaN), is
    neither a tie nor a win.
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
    #: Who beats whom, shape (M, M), as from `fastcmp.pairwise.ranking.verdicts_of`;
    #: worked out from the pairs if not given.
    all_verdicts: NDArray[np.int8] | None = None
    #: The model with which all others were compared, and nothing else; the first of
    #: each pair. None where other pairs were tested.
    control: str | None = None

    @cached_property
    def verdicts(self) -> NDArray[np.int8]:
        """Who beats whom, shape (M, M).

        1 where the model of the row beats that of the column, -1 where it loses, 0
        where they are not told apart, 2 where they are and neither is better, 3 where
        they were not tested, or the test has no answer.
        """
        if self.all_verdicts is not None:
            return self.all_verdicts
        known = ~np.isnan(self.pvalue_adjusted)
        gain = self._gain * self.difference[known]
        pairs, told = self.pairs[known], self.significant[known]
        return verdicts_of(len(self.names), pairs, told, gain)

    @cached_property
    def n_pairs(self) -> int:
        """Number of pairs that were tested, kept or not."""
        return int(np.count_nonzero(self.verdicts != UNTESTED)) // 2

    @property
    def all_pairs_tested(self) -> bool:
        """Whether each two models were tested, kept or not; else no letters of ties."""
        n_models = len(self.names)
        return self.n_pairs == n_models * (n_models - 1) // 2

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
        """The ranking by score, with intervals for score and rank.

        Intervals of ranks are None where `adjust` does not bound the probability of a
        false decision.
        """
        badness = -self._gain * self.score
        order = np.argsort(badness, kind="stable")
        holds = self.adjust in FAMILYWISE
        return Leaderboard(
            names=tuple(self.names[i] for i in order),
            models=order,
            rank=1 + np.searchsorted(badness[order], badness[order]),
            measure=self.measure,
            score=self.score[order],
            interval=self.score_interval[order],
            rank_interval=rank_intervals(self.verdicts)[order] if holds else None,
        )

    @property
    def tied(self) -> NDArray[np.bool_]:
        """Which pairs were tested and not told apart, shape (M, M)."""
        return np.asarray(self.verdicts == TIED)

    @cached_property
    def groups(self) -> TieGroups:
        """The groups of ties as indices of models, and whether these are all."""
        found = tie_groups(self.leaderboard.models, self.tied)
        if self.all_pairs_tested:
            return found
        # A model alone would pass for different from all others.
        several = tuple(group for group in found.groups if len(group) > 1)
        return TieGroups(groups=several, complete=found.complete)

    @property
    def tie_groups(self) -> tuple[tuple[str, ...], ...]:
        """Maximal sets of models in which no pair is told apart, best first.

        All pairs in a set were tested. Where not all pairs of models were, a model
        that ties with none is in no set; else it is one alone. Where there are too
        many sets to list, the maximal runs of neighbours in the ranking;
        `tie_groups_complete` tells.
        """
        groups = self.groups.groups
        return tuple(tuple(self.names[i] for i in group) for group in groups)

    @property
    def tie_groups_complete(self) -> bool:
        """Whether `tie_groups` lists all maximal sets."""
        return self.groups.complete

    @property
    def best(self) -> tuple[str, ...]:
        """The models that may be best, as far as the tested pairs say, best first.

        Where all pairs were tested: the first of the ranking, and all that are not
        significantly different from it. Else all that were tested and are
        significantly worse in no tested pair; a model in no tested pair is not among
        them, and not shown to be worse.
        """
        order = self.leaderboard.models
        if self.all_pairs_tested:
            may_be = self.verdicts[order[0]] == TIED
            may_be[order[0]] = True
        else:
            may_be = (self.verdicts != UNTESTED).any(axis=1)
            may_be &= ~(self.verdicts == LOSES).any(axis=1)
        return tuple(self.names[i] for i in order if may_be[i])

    def against_control(self) -> dict[str, Any]:
        """Lay out the other models against the control, a row a model, best first.

        Returns
        -------
        dict of str to sequence
            Names, scores, differences (the model's score minus the control's) with
            intervals, p-values and the result: "better", "worse" or "no significant
            difference". Numbers of pairs that were not kept are NaN.

        Raises
        ------
        ValueError
            If the models were not compared with a control.

        Examples
        --------
        >>> from fastcmp import compare_all, load_digits
        >>> result = compare_all(*load_digits(), control="mlp")
        >>> table = result.against_control()
        >>> list(zip(table["model"], table["result"]))[1:3]
        [('knn_3', 'better'), ('extra_trees', 'no significant difference')]
        """
        if self.control is None:
            message = "against_control needs a comparison that was made with control="
            raise ValueError(message)
        return control_columns(self, self.control)

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
            not tested or not kept are NaN (-1 for counts, False for decisions; see
            `verdicts`); the diagonal is 0, of p-values 1.

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
        field = choose(field, "field", _MATRIX_FIELDS)
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

    def _entries(self) -> dict[str, Any]:
        """Give the entries of `to_dict` that are for reading."""
        board = self.leaderboard
        ranks = board.rank_interval
        low, high = [[None] * len(self.names)] * 2 if ranks is None else ranks.T
        control = None if self.control is None else self.against_control()
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
            "all_pairs_tested": self.all_pairs_tested,
            "control": self.control,
            "kept": self.kept if isinstance(self.kept, (int, str)) else str(self.kept),
            "leaderboard": plain_columns(
                {
                    "model": board.names,
                    "rank": board.rank,
                    self.measure: board.score,
                    "low": board.interval[:, 0],
                    "high": board.interval[:, 1],
                    "rank_low": low,
                    "rank_high": high,
                }
            ),
            "tie_groups": [list(group) for group in self.tie_groups],
            "tie_groups_complete": self.tie_groups_complete,
            "best": list(self.best),
            "against_control": None if control is None else plain_columns(control),
            "pairs": plain_columns(self.columns()),
        }

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            The question, the leaderboard, who beats whom, and the rule; with a control
            the table against it instead of the two.
        """
        return describe(self)
