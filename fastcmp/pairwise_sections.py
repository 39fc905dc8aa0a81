"""How a comparison of many models is told."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fastcmp.differences import METHOD_NAMES as COST_METHODS
from fastcmp.ranking import BEATS, TIED, letters
from fastcmp.report import Section, format_interval, outside_sentences
from fastcmp.results import METHOD_NAMES, dropped_sentences

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fastcmp.pairwise import PairwiseResult

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
        The question, the leaderboard, who beats whom, and the rule.
    """
    if not each_pair:
        each_pair = f"{_TESTS[result.test]} ({_METHODS[result.method]})"
    explanations = _explanations(
        result, each_pair, intervals or _INTERVALS[result.measure]
    )
    return [
        _summary(result),
        _leaderboard_section(result),
        _decisions(result),
        Section(title="How to read this", text=explanations),
    ]


def _summary(result: PairwiseResult) -> Section:
    best = result.best
    lead = f"Best: {best[0]}."
    if len(best) == 2:
        lead = f"Best: {best[0]}, not told apart from {best[1]}."
    elif len(best) > 2:
        others = _listed(best[1:])
        lead = f"Best: {best[0]}, not told apart from {len(best) - 1}: {others}."
    text = (
        f"{len(result.names)} models on {result.n_samples} samples, "
        f"{result.n_pairs} pairs, {result.n_told_apart} told apart.",
        lead,
        *_kept(result),
        *dropped_sentences(result.n_missing, result.n_excluded),
        *outside_sentences(result.n_outside, result.names, result.n_samples),
    )
    return Section(title="Which model is better?", text=text)


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
    groups = result.groups.groups
    marks = letters(groups, len(result.names))
    shown = min(len(result.names), _SHOWN)
    level = f"{100 * (1 - result.alpha):g} %"
    rows = tuple(
        (
            str(board.rank[i]),
            board.names[i],
            _score(board.score[i], result.measure),
            _interval(board.interval[i], result.measure),
            _span(*board.rank_interval[i]),
            marks[board.models[i]],
        )
        for i in range(shown)
    )
    notes = []
    if shown < len(result.names):
        notes.append(f"... and {len(result.names) - shown} more models.")
    if not any(marks):
        notes.append(f"{len(groups)} groups of ties: see tie_groups.")
    columns = ("rank", "model", result.measure, level, "ranks", "ties")
    return Section(title="Leaderboard", columns=columns, rows=rows, notes=tuple(notes))


def _decisions(result: PairwiseResult) -> Section:
    order = result.leaderboard.models
    rows = []
    for i in order[:_SHOWN]:
        verdicts = result.verdicts[i, order]
        beaten, tied = order[verdicts == BEATS], order[verdicts == TIED]
        rows.append(
            (
                result.names[i],
                _listed([result.names[j] for j in beaten]),
                _listed([result.names[j] for j in tied]),
            )
        )
    return Section(
        title="Who beats whom",
        columns=("model", "beats", "not told apart from"),
        rows=tuple(rows),
    )


def _explanations(
    result: PairwiseResult, each_pair: str, intervals: str
) -> tuple[str, ...]:
    ties = "Models share a letter of ties where no pair among them is told apart."
    if not result.tie_groups_complete:
        ties = (
            "All groups of ties are too many to list: the letters mark runs of the "
            "ranking without a decided pair, so some ties share no letter."
        )
    level = f"{100 * (1 - result.alpha):g} %"
    return (
        f"Told apart at {result.alpha:g}: {result.rule}.",
        f"Each pair: {each_pair}; "
        f"p-values adjusted for {result.n_pairs} pairs ({result.adjust}).",
        f"{ties} Ranks are those that the decisions leave open.",
        f"{level} intervals of {result.measure} are for each model alone "
        f"({intervals}); overlap of two says nothing about their "
        "pair.",
    )


def _score(value: float, measure: str) -> str:
    if measure == "accuracy":
        return f"{100 * value:.2f} %"
    return f"{value:.4g}" if measure == "cost" else f"{value:.4f}"


def _interval(ends: NDArray[np.float64], measure: str) -> str:
    if np.isnan(ends).any():
        return "-"
    if measure == "accuracy":
        return format_interval(*(100 * ends), digits=2)
    return format_interval(*ends, digits=4)


def _span(low: int, high: int) -> str:
    return str(low) if low == high else f"{low}-{high}"


def _listed(names: list[str] | tuple[str, ...]) -> str:
    if len(names) <= 8:
        return ", ".join(names)
    return f"{', '.join(names[:6])} and {len(names) - 6} more"
