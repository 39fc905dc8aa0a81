"""The record of many models compared in pairs, as matrices, tables and pictures."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from fastcmp.core.checks import choose
from fastcmp.core.records import Drawn, Pilot
from fastcmp.core.sections import (
    PAIR,
    Column,
    Section,
    beware,
    format_pvalue,
    interval_name,
    main_table,
)
from fastcmp.core.sentences import Sentence, dropped_sentences, how, outside_sentences
from fastcmp.core.typing import Ints
from fastcmp.paired.cost_test import METHOD_NAMES as COST_METHODS
from fastcmp.paired.mcnemar_counts import METHOD_NAMES
from fastcmp.paired.units import CLUSTERED_NAMES
from fastcmp.pairwise.adjust import adjusted_by
from fastcmp.pairwise.decisions import BETTER, RESULTS, TIED, UNTESTED, WORSE, PairDecisions
from fastcmp.pairwise.leaderboard import (
    format_difference,
    format_ends,
    format_score,
    style_of,
    table_of,
)
from fastcmp.pairwise.margins import decision_matrix, margin_sentences_of
from fastcmp.pairwise.model_estimates import listed

_LETTERED = 20_000  # models of which groups of ties are looked for, to print a table
_NAMED = 12  # models whose decisions are printed
_TESTS = {"mcnemar": "McNemar's test", "cost": "cost-sensitive test", "delong": "DeLong's test"}
_METHODS = {
    **METHOD_NAMES,
    **CLUSTERED_NAMES,
    **COST_METHODS,
    "delong": "normal approximation",
    "e-value": "e-value, at any look",
}
#: What models are compared on, by the test.
_NOUNS = {
    "means": "items",
    "sums": "items",
    "tasks": "data sets",
    "bradley-terry": "battles",
    "folds": "folds",
}
_INTERVALS = {"accuracy": "Wilson", "cost": "profile likelihood", "AUC": "DeLong, logit"}


def describe(result: PairwiseResult, more: str = "") -> list[Section]:
    """Describe a comparison of pairs; `more` follows the test of a pair."""
    done = adjusted_by(result.adjust, f"for {_pairs(result.n_pairs)}", result._drawn)
    rule: tuple[str, ...] = (
        f"Significantly different at {result.alpha:g}: {result.rule}.",
        f"Each pair: {result._each_pair}{more}; p-values {done}.",
    )
    if result.critical_value is not None:
        rule += (
            how(
                f"Each {_ci_of_pairs(result)} is a difference +- "
                f"{result.critical_value:.2f} standard errors: all contain the true "
                f"differences with a probability of about {100 * (1 - result.alpha):g}%."
            ),
        )
    if result.control is not None:
        return _against_control(result, result.control, rule)
    explanations = _explanations(result, rule)
    return [
        _summary(result),
        *beware(result),
        leaderboard_table(result),
        *([pairs_table(result)] if len(result.names) == 2 and len(result.pairs) else []),
        *_decisions(result),
        *_slices(result),
        Section(title="How to read this", text=explanations),
    ]


def _slices(result: PairDecisions) -> list[Section]:
    """What differs in slices; ``slices`` says more."""
    sections = [] if result.slices is None else result.slices.sections()
    return [x for x in sections if x.title not in ("Means", "Worst slices")]


def _pairs(n: int) -> str:
    return "1 pair" if n == 1 else f"{n} pairs"


def noun_of(result: PairDecisions) -> str:
    """Name what models are compared on."""
    return _NOUNS.get(result.test, "samples")


def _on(result: PairDecisions) -> str:
    """What models are compared on, as text; estimates may come from anywhere."""
    return f" on {result.n_samples} {noun_of(result)}" if result.n_samples else ""


def _against_control(result: PairDecisions, control: str, rule: tuple[str, ...]) -> list[Section]:
    decisions = result.decisions[:, result.names.index(control)]
    better, worse, level = (np.count_nonzero(decisions == x) for x in (BETTER, WORSE, TIED))
    n_others = len(result.names) - 1
    n_other = n_others - better - worse - level
    others = f", {n_other} otherwise (see the table)" if n_other else ""
    text = (
        f"{n_others} model{'s' * (n_others > 1)} against {control}{_on(result)}: "
        f"{better} significantly better, {worse} significantly worse, {level} not "
        f"significantly different{others}.",
        *margin_sentences_of(result),
        *_left_out(result),
    )
    unit = " in percentage points" if result.measure == "accuracy" else ""
    less = "; lower is better" if result.less_is_better else ""
    alone = f"; each {_ci(result)} is for that difference alone"
    if result.critical_value is not None or np.isnan(result.interval).all():
        alone = ""
    explanations = (
        *rule,
        how(
            f"Difference: {result.measure} of the model minus that of {control}{unit}{less}{alone}."
        ),
    )
    if not result.all_pairs_tested:
        explanations += (
            f"Only pairs with {control} were tested: the other models were not "
            "compared with each other.",
        )
    return [
        Section(title=f"Which model is better than {control}?", text=text),
        *beware(result),
        control_table(result, control),
        *_slices(result),
        Section(title="How to read this", text=explanations),
    ]


def control_table(result: PairDecisions, control: str) -> Section:
    """The table of the control, and of the others against it."""
    measure, columns = result.measure, result.against_control()
    decisions = columns.pop("decision", None)
    own_column: tuple[str, ...] = ()
    table = columns.values()
    style = style_of(measure, any_size=result.any_size)
    control_score = format_score(result.score[result.names.index(control)], style)
    rows: list[tuple[str, ...]] = [(control, control_score, "", "", "", "", "control")]
    for model, score, difference, low, high, *pvalues, outcome in zip(*table, strict=True):
        rows.append(
            (
                model,
                format_score(score, style),
                format_difference(difference, style),
                format_ends([low, high], style, sign="+"),
                *map(format_pvalue, pvalues),
                outcome,
            )
        )
    if decisions is not None:
        words = ["", *decisions]
        rows = [(*row, word) for row, word in zip(rows, words, strict=True)]
        own_column = ("decision",)
    return Section(
        title=f"Against {control}",
        columns=(
            *("model", measure, "difference", _ci_of_pairs(result)),
            *("p", "adjusted p", "result", *own_column),
        ),
        rows=tuple(rows),
        most=21,
    )


def pairs_table(result: PairDecisions, indices: Ints | None = None) -> Section:
    """The table of pairs, the higher-ranked model first; by default of all kept ones."""
    place = np.argsort(result.leaderboard.models)
    rows = np.arange(len(result.pairs)) if indices is None else indices
    turned = np.diff(place[result.pairs[rows]])[:, 0] < 0
    sign = np.where(turned, -1.0, 1.0)
    pairs = np.where(turned[:, None], result.pairs[rows][:, ::-1], result.pairs[rows])
    # 0 - x has no negative zero.
    difference = np.where(turned, 0.0 - result.difference[rows], result.difference[rows])
    ends = np.sort(sign[:, None] * result.interval[rows] + 0.0)
    adjusted = (result.pvalue_adjusted[rows],) if result.n_pairs > 1 else ()
    style = style_of(result.measure, any_size=result.any_size)
    cells = tuple(
        (
            *(result.names[i] for i in pairs[k]),
            format_difference(difference[k], style),
            format_ends(ends[k], style, sign="+"),
            *(format_pvalue(p[k]) for p in (result.pvalue[rows], *adjusted)),
            RESULTS[int(result.decisions[tuple(pairs[k])])],
        )
        for k in np.lexsort(place[pairs].T[::-1])
    )
    unit = " in percentage points" if result.measure == "accuracy" else ""
    less = "; lower is better" if result.less_is_better else ""
    alone = "" if result.n_pairs == 1 else f"; each {_ci(result)} is for that pair alone"
    if result.critical_value is not None or np.isnan(result.interval).all():
        alone = ""
    columns = ("model", "against", "difference", _ci_of_pairs(result), "p")
    return Section(
        title="Pairs" if result.n_pairs > 1 else "Difference",
        columns=(*columns, *["adjusted p"][: len(adjusted)], "result"),
        rows=cells,
        notes=(
            f"Difference: {result.measure} of the first minus that of the second{unit}{less}"
            f"{alone}.",
        ),
    )


def _summary(result: PairDecisions) -> Section:
    best = result.best
    n_pairs = _pairs(result.n_pairs)
    # A headline names the first of them, and a leaderboard marks all.
    lead: tuple[str, ...] = tuple(Sentence(f"Best: {name}.", says="") for name in best[:1])
    if not result.n_pairs:
        n_pairs = f"none of {_pairs(_n_all(result))} tested"
        lead = ("No test has an answer: which model is better is not known.",)
    elif not result.all_pairs_tested:
        n_pairs = f"{result.n_pairs} of {_n_all(result)} pairs tested"
        lead = _as_far_as_tested(result)
    elif len(best) > 1:
        others = listed(best[1:])
        sentence = f"Best: {best[0]}. Not significantly different from it: {others}."
        lead = (Sentence(sentence, says=""),)
    text = (
        f"{len(result.names)} models{_on(result)}, {n_pairs}, "
        f"{result.n_significant} significantly different.",
        *lead,
        *margin_sentences_of(result),
        *_left_out(result),
    )
    return Section(title="Which model is better?", text=text)


def _n_all(result: PairDecisions) -> int:
    return len(result.names) * (len(result.names) - 1) // 2


def _as_far_as_tested(result: PairDecisions) -> tuple[str, ...]:
    """Sentences about models that may be best, and about those of which nothing is known."""
    tested = (result.decisions != UNTESTED).any(axis=1)
    unknown = [result.names[i] for i in result.leaderboard.models if not tested[i]]
    may_be = f"Significantly worse in no tested pair: {listed(result.best)}."
    return (may_be, f"Not tested at all: {listed(unknown)}.") if unknown else (may_be,)


def _left_out(result: PairDecisions) -> tuple[str, ...]:
    """Sentences about pairs that were not kept, and samples that were dropped."""
    kept: tuple[str, ...] = ()
    n = len(result.pairs)
    if result.kept == "significant":
        kept = (f"Kept: the {n} pairs that are significantly different.",)
    elif isinstance(result.kept, int):
        kept = (f"Kept: the {n} pairs of the {result.kept} best models.",)
    elif result.kept != "all":
        kept = (f"All pairs are in {result.kept}.",)
    clusters: tuple[str, ...] = ()
    if result.n_clusters is not None:
        clusters = (f"The {noun_of(result)} are in {result.n_clusters} clusters.",)
    return (
        *kept,
        *clusters,
        *dropped_sentences(result.n_missing, result.n_excluded),
        *outside_sentences(result.n_outside, result.names, result.n_samples),
    )


def leaderboard_table(result: PairDecisions) -> Section:
    """The table of the models, with letters of ties."""
    board = result.leaderboard
    table = table_of(board)
    notes = list(table.notes)
    if len(board.names) > _LETTERED:
        notes.append("Too many models for letters of ties.")
    elif not result.all_pairs_tested:
        left = _n_all(result) - result.n_pairs
        notes.append(f"No letters of ties: {left} pairs were not tested.")
    elif any(marks := result.groups.letters):
        rows = zip(table.rows, board.models, strict=True)
        table = replace(
            table,
            columns=(*table.columns, "ties"),
            rows=tuple((*row, marks[model]) for row, model in rows),
        )
    else:
        notes.append(f"{len(result.groups.groups)} tie groups: too many for letters.")
    if result.measure == "AUC" and np.mean(result.score_interval[:, 1] < 0.5) >= 0.9:
        notes.append("Nearly all areas are below one half: is positive= right?")
    return replace(table, notes=tuple(notes))


def _decisions(result: PairDecisions) -> list[Section]:
    """The decisions about each of a few models, where letters do not say them."""
    order = result.leaderboard.models
    if len(order) > _NAMED:
        return []
    groups = result.groups
    if result.all_pairs_tested and groups.complete and any(groups.letters):
        return []
    names: tuple[str, ...] = ("model", "significantly better than")
    names += ("not significantly different from",)
    if not result.all_pairs_tested:
        names += ("not tested against",)
    decisions = result.decisions
    untested = np.count_nonzero(decisions == UNTESTED, axis=1) - 1
    rows: list[tuple[str, ...]] = []
    for i in order[untested[order] < len(order) - 1]:
        others = order[order != i]
        by_outcome = [others[decisions[i, others] == x] for x in (BETTER, TIED)]
        cells = [listed([result.names[j] for j in models]) for models in by_outcome]
        rows.append((result.names[i], *cells, str(untested[i]))[: len(names)])
    return [Section(title="Decisions", columns=names, rows=tuple(rows))]


def _explanations(result: PairwiseResult, rule: tuple[str, ...]) -> tuple[str, ...]:
    better = "model that the test favours" if result.test == "tasks" else "higher-ranked model"
    ties = (
        "Models with a common letter of ties are not significantly different; otherwise "
        f"the {better} is significantly better."
    )
    if result.groups.complete and not any(result.groups.letters):
        ties = (
            "Two models without a tie group in common are significantly different: the "
            f"{better} is better."
        )
    if not result.all_pairs_tested:
        ties = "A pair that was not tested is neither a tie nor a win."
    elif not result.tie_groups_complete:
        ties = (
            "There are too many tie groups to list all: the letters mark runs of "
            "the ranking without a significant difference, so some ties have no "
            "common letter."
        )
    ranks = result.leaderboard.rank_promise
    if result.leaderboard.rank_interval is None:
        ranks = (
            "Intervals of ranks are not shown: they need an adjustment that bounds "
            f"the probability of even one false decision, which {result.adjust!r} "
            "does not, or simultaneous ones (rank_intervals='simultaneous')."
        )
    intervals = result._score_intervals
    if not intervals:
        return (*rule, f"{ties} {ranks}")
    return (
        *rule,
        f"{ties} {ranks}",
        f"Each {_ci(result)} of {result.measure} is for that model alone ({intervals})"
        "; do not compare models by overlap of these intervals.",
    )


def _ci(result: PairDecisions) -> str:
    return interval_name(1 - result.alpha)


def _ci_of_pairs(result: PairDecisions) -> str:
    """Name the intervals of differences."""
    kind = "" if result.critical_value is None else "simultaneous "
    return kind + _ci(result)


_MATRIX_FIELDS = (
    "only_a",
    "only_b",
    "difference",
    "statistic",
    "pvalue",
    "pvalue_adjusted",
    "significant",
    "decision",
)
#: Distributions of statistics that have the sign of the difference.
_SIGNED = ("normal", "t", "studentized-range")


#: Degrees of freedom of each pair, where these differ.
DF_OF_PAIRS = Column("df", lambda self: self.df if np.ndim(self.df) else None)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class PairwiseResult(Pilot, Drawn, PairDecisions):
    """Many models on the same samples, compared in pairs.

    Arrays of length P have one entry for each pair (a, b) that was kept; those of
    length M one for each model. The rankings follow from all pairs that were tested,
    kept or not; they are worked out when they are first asked for. A pair that was not
    tested, because of `control` or chosen pairs, or whose test has no answer (its
    p-value is NaN), is neither a tie nor a win.
    """

    _pilot = "leaderboard"
    _picture: ClassVar[dict[str, str]] = {
        "leaderboard": "leaderboard",
        "pvalues": "pvalue_map",
        "critical-difference": "critical_difference",
    }

    _cites: ClassVar[tuple[Any, ...]] = (
        ("test", {"mcnemar": "mcnemar", "delong": "delong sun", "cost": ""}),
        (
            "method",
            {
                "midp": "fagerland",
                "corrected": "edwards",
                "unconditional": "suissa",
                "cr2": "bell pustejovsky",
                "likelihood": "owen",
                "jackknife": "miller",
                "bootstrap": "efron",
                "permutation": "chung",
                "exact": "",
            },
        ),
    )

    _columns = (
        *PAIR,
        *Column.each("only_a only_b difference"),
        Column("low high", "interval"),
        *Column.each("statistic pvalue pvalue_adjusted significant"),
        Column("noninferiority_pvalue_adjusted", "margins.noninferiority_pvalue_adjusted"),
        Column("equivalence_pvalue_adjusted", "margins.equivalence_pvalue_adjusted"),
        Column("decision", "margins.decision"),
    )
    _read: ClassVar[tuple[str | Column, ...]] = (
        *("test", "measure", "method", "distribution", "df", "adjust", "alpha", "rule"),
        *("adjust_draws", "adjust_resamples", "adjust_seed", "critical_value"),
        *("n_samples", "n_missing", "n_excluded", "n_outside", "n_pairs", "n_significant"),
        *("all_pairs_tested", "control", "n_clusters", "n_strata", "cautions"),
        Column("margins", "margins.sentence"),
        Column("slices", lambda self: None if self.slices is None else self.slices._entries()),
        Column("kept", lambda self: x if isinstance(x := self.kept, (int, str)) else str(x)),
        Column("leaderboard", lambda self: self.leaderboard.columns()),
        *("tie_groups", "tie_groups_complete", "best"),
        Column("against_control", lambda self: self.control and self.against_control()),
        main_table("pairs"),
    )

    def matrix(self, field: str) -> NDArray[Any]:
        """One field of the pairs as a matrix of models.

        Parameters
        ----------
        field : str
            "difference", "pvalue", "pvalue_adjusted", "significant", "statistic",
            "only_a" or "only_b"; with a margin also "decision", in words.

        Returns
        -------
        ndarray, shape (M, M)
            Entry [i, j] compares model i as the first with model j. Pairs that were
            not tested or not kept are NaN (-1 for counts, False for `significant`; see
            `decisions`); the diagonal is 0, of p-values 1.

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
        if field == "decision":
            return decision_matrix(self)
        values = getattr(self, field)
        if values is None:
            raise ValueError(
                f"field {field!r} is not known: models were compared by "
                f"{self.measure}, without counting"
            )
        mirrored = values
        signed = field == "statistic" and self.distribution in _SIGNED
        if field == "difference" or signed:
            mirrored = -values
        elif field in ("only_a", "only_b"):
            mirrored = self.only_b if field == "only_a" else self.only_a
        empty = {"f": np.nan, "i": -1, "b": False}[values.dtype.kind]
        matrix = np.full((len(self.names), len(self.names)), empty, values.dtype)
        i, j = self.pairs.T
        matrix[i, j], matrix[j, i] = values, mirrored
        np.fill_diagonal(matrix, 1 if field.startswith("pvalue") else 0)
        return matrix

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            The question, the leaderboard, the decisions, and how to read them; with a
            control a table of the others against it.
        """
        return describe(self)

    @property
    def _each_pair(self) -> str:
        """The test of a pair, in words."""
        strata = "" if self.n_strata is None else f", {self.n_strata} strata"
        return f"{_TESTS[self.test]} ({_METHODS[self.method]}{strata})"

    @property
    def _score_intervals(self) -> str:
        """How the intervals of scores are made, in words; empty where there are none."""
        independent = (self.n_clusters, self.n_strata) == (None, None)
        return _INTERVALS[self.measure] if independent else "Student's t"

    @property
    def _drawn(self) -> str:
        """What was drawn for the adjustment, in words."""
        if self.adjust_draws is None:
            return ""
        seed = "" if self.adjust_seed is None else f", seed {self.adjust_seed}"
        every = "all " * self.adjust_draws.startswith("all ")
        return f"{every}{self.adjust_resamples} {self.adjust_draws.removeprefix('all ')}{seed}"
