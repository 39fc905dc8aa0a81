"""Contents of records that choose among many models: sets, ranks, winners."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from fastcmp.core.sections import format_pvalue, interval_name
from fastcmp.report.blocks import Block
from fastcmp.report.charts import Row, intervals
from fastcmp.report.scores import MOST_ROWS
from fastcmp.report.two_models import row_of, with_said

_NULL = (0.0, "H0: no difference")


def best_set(record: Any) -> list[Block]:
    """Draw the lead of each model over the best of the others."""
    rows = []
    for m in _order(record):
        low, high = float(record.lower[m]), float(record.upper[m])
        may = bool(record.may_be_best[m])
        cells = (f"{record.estimate[m]:.4g}", "yes" if may else "no")
        rows.append(
            Row(label=record.names[m], value=math.nan, low=low, high=high,
                text=f"[{low:+.4g}, {high:+.4g}]", cells=cells,
                kind="good" if may else "bad")
        )  # fmt: skip
    level = interval_name(record.confidence_level)
    heads = ("model", f"lead, {level}", "estimate", "may be best")
    marks = [(0.0, "equal")]
    return _drawn(record, rows, "Lead over the best other model", heads, marks=marks,
                  without="Comparison with the best")  # fmt: skip


def rank_sets(record: Any) -> list[Block]:
    """Draw the ranks that each model may have."""
    order = np.argsort(record.rank, kind="stable").tolist()
    rows = [
        _ranks(record.names[m], int(record.rank[m]), int(record.lower[m]),
               int(record.upper[m]), cells=(f"{record.estimate[m]:.4g}",))
        for m in order
    ]  # fmt: skip
    heads = ("model", f"rank, {100 * record.confidence_level:.9g}% set", "estimate")
    return _drawn(record, rows, "Ranks", heads, axis="Rank, 1 for the best",
                  kind="ranks", without="Sets of ranks")  # fmt: skip


def _ranks(name: str, rank: int, low: int, high: int, cells: tuple[str, ...]) -> Row:
    return Row(label=name, value=rank, low=low, high=high,
               text=f"{rank} [{low}, {high}]", cells=cells)  # fmt: skip


def drawn_ranks(record: Any) -> list[Block]:
    """Draw how far ranks go when tasks are drawn again."""
    order = np.argsort(record.rank, kind="stable").tolist()
    rows = [
        _ranks(
            record.names[m],
            int(record.rank[m]),
            int(record.rank_interval[m, 0]),
            int(record.rank_interval[m, 1]),
            cells=(f"{record.mean_rank[m]:.4g}", f"{record.best_probability[m]:.3f}"),
        )
        for m in order
    ]
    level = f"{100 * record.confidence_level:.9g}% of draws"
    heads = ("model", f"rank, {level}", "mean rank", "P(best)")
    return _drawn(record, rows, "Ranks", heads, axis="Rank, 1 for the best",
                  kind="ranks")  # fmt: skip


def confidence_set(record: Any) -> list[Block]:
    """Draw the estimates, and which of them are in the set."""
    rows = []
    for m in _order(record):
        p = float(record.pvalue[m])
        inside = p > record.alpha
        rows.append(_point(record.names[m], float(record.estimate[m]),
                           (format_pvalue(p), "yes" if inside else "no"),
                           kind="good" if inside else "bad"))  # fmt: skip
    heads = ("model", "estimate", "p", "in the set")
    return _drawn(record, rows, "Estimates", heads, without="Model confidence set")


def winner(record: Any) -> list[Block]:
    """Draw the estimate of the winner, as observed and corrected."""
    level = interval_name(record.confidence_level)
    rows = [
        Row(label=label, value=value, low=low, high=high,
            text=f"{value:.4g} [{low:.4g}, {high:.4g}]")
        for label, value, (low, high) in (
            ("as observed", record.estimate, record.naive_interval),
            ("corrected", record.median, record.interval),
        )
    ]  # fmt: skip
    heads = ("", f"estimate, {level}")
    return _drawn(record, rows, f"The mean of {record.winner}", heads, axis="Estimate")


def superior_ability(record: Any) -> list[Block]:
    """Draw differences from the control."""
    order = np.argsort(-record.difference, kind="stable").tolist()
    rows = [
        _point(record.names[m], float(record.difference[m]),
               (f"{record.standard_error[m]:.4g}", f"{record.estimate[m]:.4g}",
                format_pvalue(float(record.pvalue_adjusted[m]))),
               kind="good" if record.names[m] in record.superior else "")
        for m in order
    ]  # fmt: skip
    heads = ("model", "difference", "standard error", "estimate", "adjusted p")
    return _drawn(record, rows, f"Difference from {record.control}", heads,
                  axis=f"Model minus {record.control}", marks=[_NULL],
                  without=f"Against {record.control}")  # fmt: skip


def simultaneous(record: Any) -> list[Block]:
    """Draw differences of pairs, with intervals that hold together."""
    order = np.argsort(record.pvalue_adjusted, kind="stable")[:MOST_ROWS].tolist()
    rows = []
    for p in order:
        i, j = record.pairs[p].tolist()
        label = f"{record.names[i]} - {record.names[j]}"
        low, high = record.interval[p].tolist()
        cells = tuple(format_pvalue(float(x[p])) for x in
                      (record.pvalue, record.pvalue_adjusted))  # fmt: skip
        rows.append(row_of(label, "", float(record.difference[p]), low, high,
                           cells=cells))  # fmt: skip
    level = interval_name(record.confidence_level, record.alternative)
    heads = ("pair", f"difference, simultaneous {level}", "p", "adjusted p")
    return _drawn(record, rows, "Differences", heads, marks=[_NULL], without="")


def comparisons(record: Any) -> list[Block]:
    """Draw differences that were tested together."""
    order = np.argsort(record.pvalue_adjusted, kind="stable")[:MOST_ROWS].tolist()
    rows = [
        _point(str(record.names[p]), float(record.difference[p]),
               (f"{record.statistic[p]:+.4g}", format_pvalue(float(record.pvalue[p])),
                format_pvalue(float(record.pvalue_adjusted[p]))))
        for p in order
    ]  # fmt: skip
    heads = ("comparison", "difference", "t", "p", "adjusted p")
    return _drawn(record, rows, "Differences", heads, marks=[_NULL], without="")


def margin_tests(record: Any) -> list[Block]:
    """Draw the difference against its margin."""
    if np.ndim(record.difference):
        return with_said(record)
    margin = float(record.margin)
    low, high = record.inner_interval
    level = interval_name(1 - 2 * record.alpha)
    marks = [_NULL, (-margin, f"margin {record.amount}"), (margin, "")]
    measure = record.measure if record.measure != "difference" else ""
    row = row_of("a minus b", measure, float(record.difference), low, high)
    scale = row.value / record.difference if record.difference else 1.0
    marks = [(scale * x, text) for x, text in marks]
    heads = ("models", f"difference, {level}")
    return _drawn(record, [row], "The difference", heads, axis="a minus b", marks=marks)


def mean_ranks(record: Any) -> list[Block]:
    """Draw the mean ranks of models."""
    if record.mean_rank is None:
        return with_said(record)
    order = np.argsort(record.mean_rank, kind="stable").tolist()
    rows = [_point(record.names[m], float(record.mean_rank[m])) for m in order]
    heads = ("model", "mean rank")
    marks = [((len(rows) + 1) / 2, "all models alike")]
    return _drawn(record, rows, "Mean ranks", heads, axis="Mean rank, 1 for the best",
                  marks=marks, without="Mean ranks, 1 for the best")  # fmt: skip


def _point(name: str, value: float, cells: tuple[str, ...] = (), kind: str = "") -> Row:
    return Row(label=name, value=value, text=f"{value:.4g}", cells=cells, kind=kind)


def _order(record: Any) -> list[int]:
    """List models, the best first."""
    sign = 1 if record.lower_is_better else -1
    order: list[int] = np.argsort(sign * record.estimate, kind="stable").tolist()
    return order


def _drawn(
    record: Any,
    rows: list[Row],
    title: str,
    heads: tuple[str, ...],
    *,
    axis: str = "",
    without: str | None = None,
    **options: Any,
) -> list[Block]:
    """Draw rows, the first ones of many, in the place of a table if these are all."""
    if not rows:
        return with_said(record)
    if len(rows) > MOST_ROWS:
        options["says"] = f"The first {MOST_ROWS} of {len(rows)}."
        without = None
    picture = intervals(rows[:MOST_ROWS], title=title, axis=axis or title, heads=heads, **options)
    return with_said(record, picture, without=without)
