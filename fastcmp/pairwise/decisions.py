"""Many models compared in pairs: which differ, which are best, and which tie."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from string import ascii_lowercase
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastcmp.core.errors import BadValueError
from fastcmp.core.records import Record, keep_intervals, less_is_better
from fastcmp.core.sections import Section
from fastcmp.core.sentences import answer, named
from fastcmp.core.threads import check_memory, parts
from fastcmp.core.typing import Flags, Floats, Ints, Pairs
from fastcmp.paired.margin_result import EQUIVALENT, MarginTests
from fastcmp.pairwise.adjust import FAMILYWISE
from fastcmp.pairwise.leaderboard import Leaderboard, format_score, style_of
from fastcmp.pairwise.margins import mirrored_decisions
from fastcmp.pairwise.slices_result import SlicesResult

#: What a test decides about the model of a row and that of a column: significantly
#: better, significantly worse, not significantly different, significantly different
#: with equal scores, or not tested.
BETTER, WORSE, TIED, EVEN, UNTESTED = 1, -1, 0, 2, 3

_SQUARE = 512  # models of a side: two squares stay in a second-level cache


def decisions_of(n_models: int, pairs: Pairs, significant: Flags, gain: Floats) -> NDArray[np.int8]:
    """Decisions about P pairs as a matrix of M models.

    `gain` is by how much the first of a pair is better, negative where it is worse.

    >>> pairs, significant = np.array([[0, 1]]), np.array([True])
    >>> decisions_of(2, pairs, significant, np.array([0.25])).tolist()
    [[3, 1], [-1, 3]]
    """
    decisions = np.full((n_models, n_models), UNTESTED, np.int8)
    outcomes = _decide(significant, gain)
    i, j = pairs.T
    decisions[i, j] = outcomes
    decisions[j, i] = _mirrored(outcomes)
    return decisions


def decisions_of_all(significant: Flags, score: Floats) -> NDArray[np.int8]:
    """Decisions about all pairs, row by row and without a list of them.

    Pairs are in the order of ``np.triu_indices(M, 1)``; a higher score is better.
    """
    n_models, start = score.size, 0
    decisions = np.empty((n_models, n_models), np.int8)
    models = np.arange(n_models)
    for rows in parts(n_models, _SQUARE):
        is_pair = models[rows, None] < models
        is_significant = np.zeros_like(is_pair)
        end = start + int(np.count_nonzero(is_pair))
        is_significant[is_pair] = significant[start:end]
        decisions[rows] = _decide(is_significant, score[rows, None] - score)
        start = end
    # The other half in squares: a column at a time would jump from row to row.
    for rows in parts(n_models, _SQUARE):
        for columns in parts(rows.stop, _SQUARE):
            tile = columns.start, columns.stop, rows.start, rows.stop
            write_tile(decisions, decisions[columns, rows], tile)
    np.fill_diagonal(decisions, UNTESTED)
    return decisions


def write_tile(
    decisions: NDArray[np.int8], of_tile: NDArray[np.int8], tile: tuple[int, int, int, int]
) -> None:
    """Write decisions about pairs i < j of a tile, and what they are from the other side."""
    i0, i1, j0, j1 = tile
    seen = _mirrored(of_tile).T
    if i0 == j0:
        of_tile = np.where(np.tri(len(of_tile), dtype=bool, k=-1), seen, of_tile)
    else:
        decisions[j0:j1, i0:i1] = seen
    decisions[i0:i1, j0:j1] = of_tile


def _decide(significant: Flags, gain: Floats) -> NDArray[np.int8]:
    winner = np.where(gain > 0, np.int8(BETTER), np.int8(EVEN))
    winner[gain < 0] = WORSE
    return np.where(significant, winner, np.int8(TIED))


def _mirrored(decisions: NDArray[np.int8]) -> NDArray[np.int8]:
    """Decisions as seen from the other model of each pair."""
    return np.where(decisions == EVEN, decisions, -decisions)


def rank_intervals(decisions: NDArray[np.int8]) -> Ints:
    """Bounds of the rank of each model: 1 + those significantly better, M - those worse.

    If the probability of any false decision is at most alpha, all true ranks lie in
    their intervals with probability at least 1 - alpha. A pair that was not tested
    leaves the intervals of its models wider.

    >>> pairs = np.array([[0, 1], [0, 2], [1, 2]])
    >>> significant, gain = np.array([False, True, True]), np.array([0.1, 0.2, 0.1])
    >>> rank_intervals(decisions_of(3, pairs, significant, gain)).tolist()
    [[1, 2], [1, 2], [3, 3]]
    """
    wins, losses = (count_by_row(decisions, level) for level in (BETTER, WORSE))
    return np.stack([1 + losses, len(decisions) - wins], axis=1)


def count_by_row(decisions: NDArray[np.int8], level: int) -> Ints:
    """Number of decisions of each model that are of a kind, shape (M,); in little memory."""
    counts = (np.count_nonzero(row == level) for row in decisions)
    return np.fromiter(counts, np.int64, len(decisions))


# Groups of ties: models of which no pair is significantly different.


_MAX_GROUPS = 1000
_MAX_WORK = 2_000_000  # comparisons of neighbourhoods: about a second
_WIDE = 2000  # models whose neighbourhoods take twice as long to compare


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class TieGroups(Record):
    """Sets of models of which no pair is significantly different, best first."""

    #: All models, in the order of the input.
    names: tuple[str, ...]
    #: Indices of models, each group in the order of the ranking.
    groups: tuple[tuple[int, ...], ...]
    #: Whether these are all the maximal sets; if not, they are the runs of neighbours
    #: in the ranking, because the maximal sets are too many to list.
    complete: bool

    @property
    def named(self) -> tuple[tuple[str, ...], ...]:
        """The groups, by the names of their models."""
        return tuple(tuple(self.names[i] for i in group) for group in self.groups)

    @property
    def letters(self) -> tuple[str, ...]:
        """The letters of each model: models with a common one are in a common group.

        Empty strings where there are more than 26 groups.
        """
        marks = [""] * len(self.names)
        if len(self.groups) <= len(ascii_lowercase):
            for letter, group in zip(ascii_lowercase, self.groups, strict=False):
                for model in group:
                    marks[model] += letter
        return tuple(marks)

    def columns(self) -> dict[str, Any]:
        """The groups as columns.

        Returns
        -------
        dict of str to sequence
            A row for each model of each group: the number of the group, from 1, and
            the model.
        """
        rows = [(k, name) for k, group in enumerate(self.named, 1) for name in group]
        return {"group": [k for k, _ in rows], "model": [name for _, name in rows]}

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            A line for each group.
        """
        lines = [f"{k}: {', '.join(group)}" for k, group in enumerate(self.named, 1)]
        few = "There are too many groups to list all: these are runs of the ranking."
        return [
            Section(
                title=answer("Groups of models of which no pair is significantly different"),
                text=tuple(lines),
                notes=() if self.complete else (few,),
            )
        ]


def find_ties(order: Ints, decisions: NDArray[np.int8]) -> tuple[tuple[tuple[int, ...], ...], bool]:
    """All maximal sets of models in which every pair is tied, best first.

    Ties are not transitive, so a model may be in several sets: they are the maximal
    cliques of the graph of ties [1]_, as for a compact letter display [2]_. Where these
    are too many, the answer is the maximal runs of neighbours in the ranking without a
    significant difference, and False: not every tie is inside one.

    .. [1] C. Bron, J. Kerbosch, "Finding all cliques of an undirected graph", CACM 16
       (1973) 575-577.
    .. [2] H.-P. Piepho, "An algorithm for a letter-based representation of all-pairwise
       comparisons", J. Computational and Graphical Statistics 13 (2004) 456-466.

    >>> decisions = np.array([[3, 0, 1], [0, 3, 0], [-1, 0, 3]], np.int8)
    >>> find_ties(np.arange(3), decisions)
    (((0, 1), (1, 2)), True)
    """
    n, n_tied = order.size, 0
    ends = np.empty(n, np.int64)  # of the longest run of ties that starts with each model
    for place, model in enumerate(order.tolist()):
        tied = decisions[model] == TIED
        n_tied += int(np.count_nonzero(tied))
        ahead = np.append(tied[order[place + 1 :]], np.False_)
        ends[place] = place + 1 + int(ahead.argmin())
    ends = np.minimum.accumulate(ends[::-1])[::-1]
    starts = np.flatnonzero(np.diff(ends, prepend=0) > 0)
    # Where the runs hold every tie, they are the cliques.
    complete = 2 * int((ends - np.arange(1, n + 1)).sum()) == n_tied
    cliques = None
    if not complete and (1 + n // _WIDE) * n <= _MAX_WORK:
        ranked = (decisions == TIED)[np.ix_(order, order)]
        packed = np.packbits(ranked, axis=1, bitorder="little")
        cliques = _maximal_cliques([int.from_bytes(row.tobytes(), "little") for row in packed])
    if cliques is None:
        size = 40.0 * float((ends[starts] - starts).sum())
        check_memory(size, None, f"listing {starts.size} groups of ties", "read `decisions`")
        cliques = [tuple(range(i, j)) for i, j in zip(starts, ends[starts], strict=True)]
    else:
        complete = True
    groups, models = cliques, order.tolist()
    return tuple(tuple(models[i] for i in group) for group in sorted(groups)), complete


def _maximal_cliques(neighbours: list[int]) -> list[tuple[int, ...]] | None:
    """All maximal cliques, by Bron and Kerbosch's search with pivots; None beyond the limits."""
    cliques: list[tuple[int, ...]] = []
    everyone = (1 << len(neighbours)) - 1
    stack: list[tuple[tuple[int, ...], int, int]] = [((), everyone, 0)]
    work = 0
    width = 1 + len(neighbours) // _WIDE
    while stack:
        clique, candidates, excluded = stack.pop()
        work += 1 + width * (candidates | excluded).bit_count()
        if not candidates and not excluded:
            cliques.append(tuple(sorted(clique)))
        if work > _MAX_WORK or len(cliques) > _MAX_GROUPS:
            return None
        if not candidates:
            continue
        pivot = max(
            _members(candidates | excluded), key=lambda v: (candidates & neighbours[v]).bit_count()
        )
        for v in _members(candidates & ~neighbours[pivot]):
            near = neighbours[v]
            stack.append(((*clique, v), candidates & near, excluded & near))
            candidates &= ~(1 << v)
            excluded |= 1 << v
    return cliques


def _members(bits: int) -> list[int]:
    members = []
    while bits:
        low = bits & -bits
        members.append(low.bit_length() - 1)
        bits ^= low
    return members


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

    _blocks = "boards:blocks_of_pairs"

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
    pairs: Pairs
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
    #: The same models within slices of the samples; None where none were asked for.
    slices: SlicesResult | None = None

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
        is_tested = ~np.isnan(self.pvalue_adjusted)
        gain = self._gain * self.difference[is_tested]
        pairs, significant = self.pairs[is_tested], self.significant[is_tested]
        return decisions_of(len(self.names), pairs, significant, gain)

    @cached_property
    def n_pairs(self) -> int:
        """Number of pairs that were tested, kept or not."""
        n_models = len(self.names)
        untested = int(count_by_row(self.decisions, UNTESTED).sum())
        return (n_models * n_models - untested) // 2

    @property
    def all_pairs_tested(self) -> bool:
        """Whether each two models were tested, kept or not; else no letters of ties."""
        n_models = len(self.names)
        return self.n_pairs == n_models * (n_models - 1) // 2

    @cached_property
    def n_significant(self) -> int:
        """Number of pairs that are significantly different at `alpha`, kept or not."""
        return self.n_pairs - int(count_by_row(self.decisions, TIED).sum()) // 2

    @property
    def n_equivalent(self) -> int:
        """Number of pairs decided to be equivalent; needs a margin."""
        if self.margins is None:
            raise BadValueError("n_equivalent needs a comparison that was made with `margin=`")
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
        return less_is_better(self)

    @property
    def any_size(self) -> bool:
        """Whether scores may be of any size, not between -1 and 1."""
        return False

    @property
    def _gain(self) -> int:
        """Sign of the scores such that more is better."""
        return -1 if self.less_is_better else 1

    @cached_property
    def significant(self) -> Flags:
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
        is_decided = (decided == BETTER) | (decided == WORSE)
        first = decided[is_decided] == BETTER
        pairs = self.pairs[is_decided]
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
    def tied(self) -> Flags:
        """Which pairs were tested and do not differ significantly, shape (M, M)."""
        return np.asarray(self.decisions == TIED)

    @cached_property
    def groups(self) -> TieGroups:
        """The groups of ties as indices of models, and whether these are all."""
        groups, complete = find_ties(self.leaderboard.models, self.decisions)
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
            raise BadValueError("against_control needs a comparison that was made with `control=`")
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
        """Decisions about the models beside the control, where there is a margin."""
        if self.margins is None:
            return {}
        words = mirrored_decisions(self)
        return {"decision": [words[place[i]] for i in others]}

    def _headline(self) -> str:
        """The sentence about the best model, its score, and those that may be as good."""
        if self.control is not None:
            return self._against_control()
        best = self.best
        if not self.n_pairs:
            return "No test has an answer: which model is better is not known."
        if not best:
            return "Each model is significantly worse than another one: none is the best."
        if not self.all_pairs_tested:
            tested = f"As far as {self.n_pairs:,} tested pairs of models say"
            return f"{tested}, {named(best)} may be the best."
        board = self.leaderboard
        most = "lowest" if self.less_is_better else "highest"
        score = format_score(board.score[0], style_of(self.measure, any_size=self.any_size))
        first = f"{best[0]} has the {most} {self.measure}, {score}"
        if len(best) == 1:
            others = "the other" if len(self.names) == 2 else "all others"
            decided = self.decisions[board.models[0], board.models[1:]]
            how = "better than" if (decided == BETTER).all() else "different from"
            return f"{first}, and is significantly {how} {others}."
        if len(best) == len(self.names):
            other = "the other" if len(best) == 2 else "any other"
            return f"{first}, but is not significantly different from {other}."
        return f"{first}. Not significantly different from it: {named(best[1:])}."

    def _against_control(self) -> str:
        """The sentence about how many models are better or worse than the control."""
        control = str(self.control)
        decided = self.decisions[:, self.names.index(control)]
        better = [self.names[i] for i in self.leaderboard.models if decided[i] == BETTER]
        n_others, n_worse = len(self.names) - 1, np.count_nonzero(decided == WORSE)
        worse = f"{n_worse:,} of {n_others:,} significantly worse"
        if not better:
            return f"No model is significantly better than {control}; {worse}."
        verb = "is" if len(better) == 1 else "are"
        return f"{named(better)} {verb} significantly better than {control}; {worse}."
