"""How a comparison of many models is told."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp.core.report import (
    Section,
    format_interval,
    format_pvalue,
)
from fastcmp.core.sentences import dropped_sentences, outside_sentences
from fastcmp.paired.cost_differences import METHOD_NAMES as COST_METHODS
from fastcmp.paired.mcnemar_result import METHOD_NAMES
from fastcmp.pairwise.ranking import BEATS, EVEN, LOSES, TIED, UNTESTED, letters

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fastcmp.pairwise.result import PairwiseResult

_SHOWN = 20  # models of a leaderboard that are printed
_TESTS = {
    "mcnemar": "McNemar's test",
    "cost": "cost-sensitive test",
    "delong": "DeLong's test",
}
_METHODS = {**METHOD_NAMES, **COST_METHODS, "delong": "normal approximation"}
_INTERVALS = {
    "accuracy": "Wilson",
    "cost": "profile likelihood",
    "AUC": "DeLong, logit",
}
#: What is said of a model against the control.
_RESULTS = {
    BEATS: "better",
    LOSES: "worse",
    TIED: "no significant difference",
    EVEN: "different, but equal on average",
    UNTESTED: "no result",
}


def describe(
    result: PairwiseResult, each_pair: str = "", intervals: str = ""
) -> list[Section]:
    """Tell what a comparison found.

    Parameters
    ----------
    result : PairwiseResult
        The record.
    each_pair, intervals : str, optional
        How a pair is tested, and how the intervals of the scores are made; for tests
        on one set of samples these follow from the record.

    Returns
    -------
    list of Section
        The question, the leaderboard, who beats whom, and the rule; with a control the
        table against it instead of the two.
    """
    if not each_pair:
        each_pair = f"{_TESTS[result.test]} ({_METHODS[result.method]})"
    rule = (
        f"{result.rule}.",
        f"Each pair: {each_pair}; "
        f"p-values adjusted for {result.n_pairs} pairs ({result.adjust}).",
    )
    if result.control is not None:
        return _against_control(result, result.control, rule)
    explanations = _explanations(result, rule, intervals or _INTERVALS[result.measure])
    return [
        _summary(result),
        _leaderboard_section(result),
        _decisions(result),
        Section(title="How to read this", text=explanations),
    ]


def control_columns(result: PairwiseResult, control: str) -> dict[str, Any]:
    """Lay out all other models against the control, best first.

    Parameters
    ----------
    result : PairwiseResult
        The record; the control is the first of each pair.
    control : str
        Its name.

    Returns
    -------
    dict of str to sequence
        As from `PairwiseResult.against_control`.
    """
    first = result.names.index(control)
    others = result.leaderboard.models[result.leaderboard.models != first]
    place = np.full(len(result.names), -1)
    place[result.pairs[:, 1]] = np.arange(len(result.pairs))
    kept = place[others] >= 0

    def of_others(values: NDArray[np.float64]) -> NDArray[np.float64]:
        column = np.full(others.size, np.nan)
        column[kept] = values[place[others[kept]]]
        return column

    return {
        "model": [result.names[i] for i in others],
        result.measure: result.score[others],
        # Of the pair (control, model) turned round; 0 - x has no negative zero.
        "difference": 0.0 - of_others(result.difference),
        "low": 0.0 - of_others(result.interval[:, 1]),
        "high": 0.0 - of_others(result.interval[:, 0]),
        "pvalue": of_others(result.pvalue),
        "pvalue_adjusted": of_others(result.pvalue_adjusted),
        "result": [_RESULTS[int(result.verdicts[i, first])] for i in others],
    }


def _against_control(
    result: PairwiseResult, control: str, rule: tuple[str, ...]
) -> list[Section]:
    verdicts = result.verdicts[:, result.names.index(control)]
    better, worse, level = (
        np.count_nonzero(verdicts == x) for x in (BEATS, LOSES, TIED)
    )
    n_others = len(result.names) - 1
    rest = n_others - better - worse - level
    others = f", {rest} otherwise (see the table)" if rest else ""
    text = (
        f"{n_others} model{'s' * (n_others > 1)} against {control} on "
        f"{result.n_samples} samples: {better} significantly better, {worse} "
        f"significantly worse, {level} not significantly different{others}.",
        *_kept(result),
        *dropped_sentences(result.n_missing, result.n_excluded),
        *outside_sentences(result.n_outside, result.names, result.n_samples),
    )
    unit = " in percentage points" if result.measure == "accuracy" else ""
    less = "; lower is better" if result.measure == "cost" else ""
    explanations = (
        f"Significantly different at {result.alpha:g}: {rule[0]}",
        *rule[1:],
        f"Difference: {result.measure} of the model minus that of {control}{unit}{less}"
        f"; each {_percent(result)} CI is for that difference alone.",
    )
    if not result.all_pairs_tested:
        explanations += (
            f"Only pairs with {control} were tested: the other models were not "
            "compared with each other.",
        )
    return [
        Section(title=f"Which model is better than {control}?", text=text),
        _control_table(result, control),
        Section(title="How to read this", text=explanations),
    ]


def _control_table(result: PairwiseResult, control: str) -> Section:
    columns = control_columns(result, control)
    own = _score(result.score[result.names.index(control)], result.measure)
    rows = [(control, own, "", "", "", "", "control")]
    for model, score, difference, low, high, *pvalues, found in list(
        zip(*columns.values(), strict=True)
    )[:_SHOWN]:
        rows.append(
            (
                model,
                _score(score, result.measure),
                _difference(difference, result.measure),
                _interval(np.array([low, high]), result.measure, sign="+"),
                *map(format_pvalue, pvalues),
                found,
            )
        )
    left = len(result.names) - len(rows)
    return Section(
        title=f"Against {control}",
        columns=(
            *("model", result.measure, "difference", f"{_percent(result)} CI"),
            *("p", "adjusted p", "result"),
        ),
        rows=tuple(rows),
        notes=(f"... and {left} more models.",) if left else (),
    )


def _summary(result: PairwiseResult) -> Section:
    best = result.best
    counted = f"{result.n_pairs} pairs, {result.n_told_apart} told apart."
    lead: tuple[str, ...] = (f"Best: {best[0]}.",)
    if not result.all_pairs_tested:
        counted = (
            f"{result.n_pairs} of {_n_all(result)} pairs tested, "
            f"{result.n_told_apart} significantly different."
        )
        lead = _as_far_as_tested(result)
    elif len(best) == 2:
        lead = (f"Best: {best[0]}, not told apart from {best[1]}.",)
    elif len(best) > 2:
        others = _listed(best[1:])
        lead = (f"Best: {best[0]}, not told apart from {len(best) - 1}: {others}.",)
    text = (
        f"{len(result.names)} models on {result.n_samples} samples, {counted}",
        *lead,
        *_kept(result),
        *dropped_sentences(result.n_missing, result.n_excluded),
        *outside_sentences(result.n_outside, result.names, result.n_samples),
    )
    return Section(title="Which model is better?", text=text)


def _n_all(result: PairwiseResult) -> int:
    return len(result.names) * (len(result.names) - 1) // 2


def _as_far_as_tested(result: PairwiseResult) -> tuple[str, ...]:
    """Say which models may be best, and of which nothing is known."""
    tested = (result.verdicts != UNTESTED).any(axis=1)
    unknown = [result.names[i] for i in result.leaderboard.models if not tested[i]]
    may_be = f"Significantly worse in no tested pair: {_listed(result.best)}."
    return (may_be, f"Not tested at all: {_listed(unknown)}.") if unknown else (may_be,)


def _kept(result: PairwiseResult) -> tuple[str, ...]:
    n = len(result.pairs)
    if result.kept == "all":
        return ()
    if result.kept == "significant":
        return (f"Kept are the {n} pairs that are told apart.",)
    if isinstance(result.kept, int):
        return (f"Kept are the {n} pairs of the {result.kept} best models.",)
    return (f"All pairs are in {result.kept}.",)


def _leaderboard_section(result: PairwiseResult) -> Section:
    board = result.leaderboard
    shown = min(len(result.names), _SHOWN)
    columns = {
        "rank": [str(rank) for rank in board.rank[:shown]],
        "model": list(board.names[:shown]),
        result.measure: [_score(x, result.measure) for x in board.score[:shown]],
        _percent(result, " "): [
            _interval(ends, result.measure) for ends in board.interval[:shown]
        ],
    }
    if board.rank_interval is not None:
        columns["ranks"] = [_span(*ends) for ends in board.rank_interval[:shown]]
    notes = []
    if shown < len(result.names):
        notes.append(f"... and {len(result.names) - shown} more models.")
    if not result.all_pairs_tested:
        left = _n_all(result) - result.n_pairs
        notes.append(f"No letters of ties: {left} pairs were not tested.")
    else:
        groups = result.groups.groups
        marks = letters(groups, len(result.names))
        columns["ties"] = [marks[model] for model in board.models[:shown]]
        if not any(marks):
            notes.append(f"{len(groups)} groups of ties: see tie_groups.")
    if result.measure == "AUC" and np.mean(result.score_interval[:, 1] < 0.5) >= 0.9:
        notes.append("Nearly all areas are below one half: is positive= right?")
    return Section(
        title="Leaderboard",
        columns=tuple(columns),
        rows=tuple(zip(*columns.values(), strict=True)),
        notes=tuple(notes),
    )


def _decisions(result: PairwiseResult) -> Section:
    order = result.leaderboard.models
    wanted = {"beats": BEATS, "not told apart from": TIED}
    if not result.all_pairs_tested:
        wanted["not tested against"] = UNTESTED
    rows = []
    for i in order[:_SHOWN]:
        others = order[order != i]
        verdicts = result.verdicts[i, others]
        cells = (others[verdicts == x] for x in wanted.values())
        rows.append(
            (
                result.names[i],
                *(_listed([result.names[j] for j in cell]) for cell in cells),
            )
        )
    return Section(title="Who beats whom", columns=("model", *wanted), rows=tuple(rows))


def _explanations(
    result: PairwiseResult, rule: tuple[str, ...], intervals: str
) -> tuple[str, ...]:
    ties = "Models share a letter of ties where no pair among them is told apart."
    if not result.all_pairs_tested:
        ties = "What was not tested is neither a tie nor a win."
    elif not result.tie_groups_complete:
        ties = (
            "All groups of ties are too many to list: the letters mark runs of the "
            "ranking without a decided pair, so some ties share no letter."
        )
    ranks = "Ranks are those that the decisions leave open."
    if result.leaderboard.rank_interval is None:
        ranks = (
            "Intervals of ranks are not shown: they need an adjustment that bounds "
            f"the probability of even one false decision, which {result.adjust!r} "
            "does not."
        )
    return (
        f"Told apart at {result.alpha:g}: {rule[0]}",
        *rule[1:],
        f"{ties} {ranks}",
        f"{_percent(result, ' ')} intervals of {result.measure} are for each model "
        f"alone ({intervals}); overlap of two says nothing about their pair.",
    )


def _percent(result: PairwiseResult, space: str = "") -> str:
    return f"{100 * (1 - result.alpha):g}{space}%"


def _score(value: float, measure: str) -> str:
    if measure == "accuracy":
        return f"{100 * value:.2f} %"
    return f"{value:.4g}" if measure == "cost" else f"{value:.4f}"


def _difference(value: float, measure: str) -> str:
    if np.isnan(value):
        return "-"
    if measure == "accuracy":
        return f"{100 * value:+.2f}"
    return f"{value:+.4g}" if measure == "cost" else f"{value:+.4f}"


def _interval(ends: NDArray[np.float64], measure: str, sign: str = "") -> str:
    if np.isnan(ends).any():
        return "-"
    if measure == "accuracy":
        return format_interval(*(100 * ends), digits=2, sign=sign)
    return format_interval(*ends, digits=4, sign=sign)


def _span(low: int, high: int) -> str:
    return str(low) if low == high else f"{low}-{high}"


def _listed(names: list[str] | tuple[str, ...]) -> str:
    if len(names) <= 8:
        return ", ".join(names)
    return f"{', '.join(names[:6])} and {len(names) - 6} more"
