"""Many models compared in pairs: which differ, who is best, and who ties."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastcmp.core.record_parts import LESS_IS_BETTER
from fastcmp.core.records import Record, keep_intervals
from fastcmp.paired.margin_result import EQUIVALENT, MarginTests
from fastcmp.pairwise.adjust import FAMILYWISE
from fastcmp.pairwise.leaderboard import Leaderboard
from fastcmp.pairwise.margins import mirrored_decisions
from fastcmp.pairwise.ranking import (
    BETTER,
    EVEN,
    TIED,
    UNTESTED,
    WORSE,
    decisions_of,
    rank_intervals,
)
from fastcmp.pairwise.ties import TieGroups, find_ties

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

#: The decision about a model and the control, in words.
RESULTS = {
    BETTER: "better",
    WORSE: "worse",
    TIED: "no significant difference",
    EVEN: "different, but equal on average",
    UNTESTED: "no result",
}


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class PairDecisions(Record):
    """Tests of pairs of models, and what follows from their decisions."""

    #: What `distribution` is applied to, shape (P,): the statistic of each pair's test.
    statistic: Floats
    pvalue: Floats
    #: P-values after `adjust`, to be compared with `alpha`, shape (P,).
    pvalue_adjusted: Floats
    #: Degrees of freedom of `distribution`, of all pairs or of each; None without any.
    df: Any = None
    #: "binomial", "chi2", "normal", "t" or "F".
    distribution: str
    #: Indices of the two models of each pair, shape (P, 2).
    pairs: NDArray[np.int32]
    #: Samples on which the first, or the second, did better, shape (P,): only it is
    #: right, or its cost is lower. None where models are compared by AUC, or on folds.
    only_a: Any = None
    only_b: Any = None
    #: Score of the first minus that of the second, shape (P,).
    difference: Floats
    #: Interval for each difference at the level 1 - alpha, shape (P, 2): for each alone
    #: Newcombe's for accuracies, of profile likelihood for costs, Student's for means;
    #: for all at once where there is a `critical_value`.
    interval: Floats
    names: tuple[str, ...]
    #: Rightly classified samples of each model, shape (M,); None as for `only_a`.
    correct: Any = None
    #: What the models are ranked by, shape (M,): accuracy, cost per sample, or mean.
    score: Floats
    #: Interval for each score alone at the level 1 - alpha, shape (M, 2): Wilson's for
    #: accuracies and means of 0/1 values, with clusters, strata and weights by the number
    #: of independent samples that would have the same variance; of profile likelihood
    #: for costs, on the logit scale for AUC.
    score_interval: Floats
    #: "accuracy", "AUC" or "mean", where more is better, or "cost" or "mean loss",
    #: where less is.
    measure: str = "accuracy"
    n_samples: int
    test: str
    method: str
    adjust: str
    alpha: float
    #: What was drawn for `adjust` "maxt" and "single-step", such as "sign flips", "all
    #: sign flips" or "normal draws", how often, and the seed that repeats it; None for
    #: other adjustments.
    adjust_draws: str | None = None
    adjust_resamples: int | None = None
    adjust_seed: int | None = None
    #: Standard errors that a simultaneous interval reaches to either side; None where
    #: each interval is for its pair alone.
    critical_value: float | None = None
    #: Where intervals of ranks come from: "decisions", or sets of ranks that hold at
    #: once, "simultaneous", or each for its model alone, "marginal".
    rank_method: str = "decisions"
    #: Such sets, the least and the greatest rank of each model, (M, 2).
    rank_bounds: Any = None
    #: The error rate that decisions at `alpha` keep, in words.
    rule: str
    n_missing: int = 0
    n_excluded: int = 0
    #: Predictions of each model that are labels, but not of the truth; empty where
    #: there are none, or they were not counted.
    n_outside: tuple[int, ...] = ()
    #: Which pairs were kept: "all", "significant", those of so many of the best models,
    #: or the file that all were written to.
    kept: Any = "all"
    #: `decisions` of all pairs, where not all were kept.
    all_decisions: NDArray[np.int8] | None = None
    #: The model with which all others were compared, and nothing else; the first of
    #: each pair. None where other pairs were tested.
    control: str | None = None
    #: How many clusters, and weighted strata, the samples are in; None for none.
    n_clusters: int | None = None
    n_strata: int | None = None
    #: What makes the tests doubtful, in sentences.
    cautions: tuple[str, ...] = ()
    #: Tests of all pairs against a margin, and the decisions; None without a margin.
    margins: MarginTests | None = None

    def __post_init__(self) -> None:
        """Keep intervals from being unpacked by mistake."""
        keep_intervals(self, "interval", "score_interval")

    @cached_property
    def decisions(self) -> NDArray[np.int8]:
        """What was decided about each two models, shape (M, M).

        1 where the model of the row is significantly better than that of the column, -1
        where it is significantly worse, 0 where they are not significantly different, 2
        where they are and neither is better, 3 where they were not tested, or the test
        has no answer.
        """
        if self.all_decisions is not None:
            return self.all_decisions
        known = ~np.isnan(self.pvalue_adjusted)
        gain = self._gain * self.difference[known]
        pairs, significant = self.pairs[known], self.significant[known]
        return decisions_of(len(self.names), pairs, significant, gain)

    @cached_property
    def n_pairs(self) -> int:
        """Number of pairs that were tested, kept or not."""
        return int(np.count_nonzero(self.decisions != UNTESTED)) // 2

    @property
    def all_pairs_tested(self) -> bool:
        """Whether each two models were tested, kept or not; else no letters of ties."""
        n_models = len(self.names)
        return self.n_pairs == n_models * (n_models - 1) // 2

    @cached_property
    def n_significant(self) -> int:
        """Number of pairs that are significantly different at `alpha`, kept or not."""
        return self.n_pairs - int(np.count_nonzero(self.decisions == TIED)) // 2

    @property
    def n_equivalent(self) -> int:
        """Number of pairs decided to be equivalent; needs a margin."""
        if self.margins is None:
            raise ValueError("n_equivalent needs a comparison that was made with margin=")
        return int(np.count_nonzero(self.margins.decision == EQUIVALENT))

    @property
    def accuracy(self) -> Floats:
        """Proportion of samples that each model classified rightly, shape (M,)."""
        if self.correct is not None:
            return np.asarray(self.correct / self.n_samples)
        if self.measure != "accuracy":
            raise ValueError(f"these models were compared by {self.measure}, not by accuracy")
        return self.score

    @property
    def less_is_better(self) -> bool:
        """Whether the better model has the lower score."""
        return self.measure in LESS_IS_BETTER

    @property
    def any_size(self) -> bool:
        """Whether scores may be of any size, not between -1 and 1."""
        return False

    @property
    def _gain(self) -> int:
        """Sign of the scores such that more is better."""
        return -1 if self.less_is_better else 1

    @cached_property
    def significant(self) -> NDArray[np.bool_]:
        """Which of the kept pairs are significantly different at `alpha`."""
        return self.pvalue_adjusted <= self.alpha

    @cached_property
    def decided(self) -> tuple[Ints, Ints]:
        """The better and the worse model of each kept pair that differs significantly.

        Some tests on folds find significant differences of models whose scores are
        equal on average: these pairs are left out.
        """
        i, j = self.pairs.T
        decided = np.where(self.significant, self.decisions[i, j], UNTESTED)
        chosen = (decided == BETTER) | (decided == WORSE)
        first = decided[chosen] == BETTER
        pairs = self.pairs[chosen]
        better = np.where(first, pairs[:, 0], pairs[:, 1])
        return better, np.where(first, pairs[:, 1], pairs[:, 0])

    @cached_property
    def leaderboard(self) -> Leaderboard:
        """The ranking by score, with intervals for score and rank.

        Intervals of ranks are None where they come from the decisions, and `adjust`
        does not bound the probability of a false one.
        """
        badness = -self._gain * self.score
        order = np.argsort(badness, kind="stable")
        ranks = self.rank_bounds
        if ranks is None and self.adjust in FAMILYWISE:
            ranks = rank_intervals(self.decisions)
        return Leaderboard(
            names=tuple(self.names[i] for i in order),
            models=order,
            rank=1 + np.searchsorted(badness[order], badness[order]),
            measure=self.measure,
            score=self.score[order],
            interval=self.score_interval[order],
            confidence_level=1 - self.alpha,
            rank_interval=None if ranks is None else ranks[order],
            rank_method=None if ranks is None else self.rank_method,
            any_size=self.any_size,
        )

    @property
    def tied(self) -> NDArray[np.bool_]:
        """Which pairs were tested and do not differ significantly, shape (M, M)."""
        return np.asarray(self.decisions == TIED)

    @cached_property
    def groups(self) -> TieGroups:
        """The groups of ties as indices of models, and whether these are all."""
        groups, complete = find_ties(self.leaderboard.models, self.tied)
        if not self.all_pairs_tested:  # a model alone would pass for different from all
            groups = tuple(group for group in groups if len(group) > 1)
        return TieGroups(names=self.names, groups=groups, complete=complete)

    @property
    def tie_groups(self) -> tuple[tuple[str, ...], ...]:
        """Maximal sets of models in which no pair differs significantly, best first.

        All pairs in a set were tested. Where not all pairs of models were, a model
        that ties with none is in no set; else it is one alone. Where there are too
        many sets to list, the maximal runs of neighbours in the ranking;
        `tie_groups_complete` tells.
        """
        return self.groups.named

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
            may_be = self.decisions[order[0]] == TIED
            may_be[order[0]] = True
        else:
            may_be = (self.decisions != UNTESTED).any(axis=1)
            may_be &= ~(self.decisions == WORSE).any(axis=1)
        return tuple(self.names[i] for i in order if may_be[i])

    def against_control(self) -> dict[str, Any]:
        """Compare the other models with the control, a row a model, best first.

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
            raise ValueError("against_control needs a comparison that was made with control=")
        first = self.names.index(self.control)
        others = self.leaderboard.models[self.leaderboard.models != first]
        place = np.full(len(self.names), -1)
        place[self.pairs[:, 1]] = np.arange(len(self.pairs))
        kept = place[others] >= 0

        def of_others(values: Floats) -> Floats:
            column = np.full(others.size, np.nan)
            column[kept] = values[place[others[kept]]]
            return column

        return {
            "model": [self.names[i] for i in others],
            self.measure: self.score[others],
            # Of the pair (control, model) turned round; 0 - x has no negative zero.
            "difference": 0.0 - of_others(self.difference),
            "low": 0.0 - of_others(self.interval[:, 1]),
            "high": 0.0 - of_others(self.interval[:, 0]),
            "pvalue": of_others(self.pvalue),
            "pvalue_adjusted": of_others(self.pvalue_adjusted),
            **self._beside_control(others, place),
            "result": [RESULTS[int(self.decisions[i, first])] for i in others],
        }

    def _beside_control(self, others: Ints, place: Ints) -> dict[str, Any]:
        """Decide about the models beside the control, where there is a margin."""
        if self.margins is None:
            return {}
        words = mirrored_decisions(self)
        return {"decision": [words[place[i]] for i in others]}
