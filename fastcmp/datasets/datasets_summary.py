"""Comparisons over data sets in words: the tests, the ranks, what is missing."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp.pairwise.leaderboard import format_score

if TYPE_CHECKING:
    from fastcmp.core.sections import Section
    from fastcmp.datasets.datasets_result import DatasetsResult

_TESTS = {
    "wilcoxon": "Wilcoxon's signed-rank test over the data sets",
    "sign": "sign test of the data sets that each won",
    "t": "paired t test over the data sets",
    "nemenyi": "Nemenyi's test of mean ranks",
    "normal": "normal test of mean ranks",
    "conover": "Conover's t test of rank sums",
    "quade": "Quade's t test of weighted rank sums",
    "aligned": "normal test of mean aligned ranks",
    "exact": "exact test of rank sums",
}
_COMMENSURABLE = ("quade", "aligned", "t")
_POOLED = ("nemenyi", "normal", "conover", "quade", "aligned", "exact")


def test_name(result: Any) -> str:
    """Name the test of a pair."""
    name = _TESTS[result.method]
    details = []
    if result.method == "wilcoxon":
        exact = result.distribution == "permutation"
        details.append("exact" if exact else "normal approximation")
        if result.zero_method != "wilcox":
            details.append(f"zeros: {result.zero_method}")
    if result.alternative != "two-sided":
        better = "better" if result.alternative == "greater" else "worse"
        details.append(f"one-sided: the first is {better}")
    return f"{name} ({', '.join(details)})" if details else name


def tasks_sentences(result: DatasetsResult) -> tuple[str, ...]:
    """Say what the test of all models found, and what was made of missing scores."""
    omnibus = result.omnibus
    found = [omnibus.sentence]
    if not omnibus.pvalue <= result.alpha:
        found.append(
            f"That test does not reject at {result.alpha:g} that all models do equally "
            "well. Decisions about pairs do not wait for it: their adjustment needs no "
            "test before it."
        )
    if result.critical_difference is not None:
        found.append(
            "Critical difference of two mean ranks at "
            f"{result.alpha:g}: {result.critical_difference:.4g}."
        )
    if result.method in _POOLED:
        found.append(
            "Ranks are among all models of this comparison: a decision about two may "
            "change with the others."
        )
    if result.method in _COMMENSURABLE:
        found.append("This test takes scores of different data sets as comparable.")
    n_missing = int(np.sum(result.n_missing_values))
    if n_missing:
        what = {
            "tasks": f"{result.n_dropped} data sets that some model lacks were dropped",
            "pairs": "each pair is compared on the data sets of both",
            "worst": "such a model ranks last",
        }[result.missing]
        found.append(f"{n_missing} scores are missing: {what}.")
    against = _against_ranks(result)
    if against:
        found.append(
            f"{against} significant pair{'s' * (against > 1)}: the test favours the "
            "model with the worse mean rank."
        )
    return tuple(found)


def _against_ranks(result: DatasetsResult) -> int:
    """Count decisions for the model whose mean rank is worse."""
    gap = result.mean_rank[:, None] - result.mean_rank
    return int(np.count_nonzero((result.decisions == 1) & (gap > 1e-12)))


def beside_ranks(result: DatasetsResult, section: Section) -> Section:
    """Put mean scores, and wins, ties and losses, beside the mean ranks."""
    if section.title.startswith("Against") and np.isnan(result.interval).all():
        left = tuple((*row[:3], *row[4:]) for row in section.rows)
        heads = (*section.columns[:3], *section.columns[4:])
        return replace(section, columns=heads, rows=left)
    if section.title != "Leaderboard":
        return section
    place = section.columns.index("mean rank") + 1
    models = result.leaderboard.models[: len(section.rows)].tolist()
    rows = []
    for row, model in zip(section.rows, models, strict=True):
        own = (
            format_score(result.mean_score[model], "digits"),
            "/".join(map(str, result.win_tie_loss[model].tolist())),
        )
        rows.append((*row[:place], *own, *row[place:]))
    title = "mean score" + (" (lower is better)" if result.lower_is_better else "")
    columns = (*section.columns[:place], title, "won/tied/lost")
    note = (
        "Mean scores are descriptive only: scores of different data sets may not be "
        "comparable. Won, tied and lost: data sets, against all others."
    )
    return replace(
        section,
        columns=(*columns, *section.columns[place:]),
        rows=tuple(rows),
        notes=(*section.notes, note),
    )
