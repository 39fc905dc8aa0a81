"""Contents of records that choose among many models: sets, ranks, winners."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp.core.sections import format_pvalue, interval_name
from fastcmp.report.charts import Row, intervals
from fastcmp.report.scores import MOST_ROWS
from fastcmp.report.two_models import row_of, with_said

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fastcmp.report.blocks import Block

_NULL = (0.0, "H0: no difference")


def best_set(record: Any) -> list[Block]:
    """Draw the lead of each model over the best of the others."""
    rows = []
    for m in _order(record):
        low, high = float(record.lower[m]), float(record.upper[m])
        may = bool(record.may_be_best[m])
        rows.append(
            Row(label=record.names[m], value=math.nan, low=low, high=high,
                text=f"[{low:+.4g}, {high:+.4g}]", cells=("yes" if may else "no",),
                kind="good" if may else "bad")
        )  # fmt: skip
    level = interval_name(record.confidence_level)
    picture = _drawn(
        rows, "Lead over the best other model", "Lead over the best other",
        ("model", f"lead, {level}", "may be best"), [(0.0, "equal")],
    )  # fmt: skip
    return with_said(record, picture)


def rank_sets(record: Any) -> list[Block]:
    """Draw the ranks that each model may have."""
    order = np.argsort(record.rank, kind="stable").tolist()
    rows = [
        _ranks(record.names[m], *(int(x[m]) for x in (record.rank, record.lower,
                                                      record.upper)))
        for m in order
    ]  # fmt: skip
    level = f"{100 * record.confidence_level:.9g}%"
    heads = ("model", f"rank, {level} set")
    return with_said(record, _drawn(rows, "Ranks", "Rank, 1 for the best", heads))


def _ranks(name: str, rank: int, low: int, high: int) -> Row:
    return Row(label=name, value=rank, low=low, high=high,
               text=f"{rank} [{low}, {high}]")  # fmt: skip


def drawn_ranks(record: Any) -> list[Block]:
    """Draw how far ranks go when tasks are drawn again."""
    order = np.argsort(record.rank, kind="stable").tolist()
    rows = [
        _ranks(record.names[m], int(record.rank[m]), *record.rank_interval[m].tolist())
        for m in order
    ]
    level = f"{100 * record.confidence_level:.9g}% of draws"
    heads = ("model", f"rank, {level}")
    return with_said(record, _drawn(rows, "Ranks", "Rank, 1 for the best", heads))


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
    return with_said(record, _drawn(rows, "Estimates", "Estimate", heads))


def winner(record: Any) -> list[Block]:
    """Draw the estimate of the winner, as observed and corrected."""
    level = interval_name(record.confidence_level)
    rows = [
        row_of("as observed", "", record.estimate, *record.naive_interval),
        row_of("corrected", "", record.median, *record.interval, kind="good"),
    ]
    picture = _drawn(
        rows, f"The mean of {record.winner}", "Estimate", ("", f"estimate, {level}")
    )
    return with_said(record, picture)


def superior_ability(record: Any) -> list[Block]:
    """Draw differences from the control."""
    order = np.argsort(-record.difference, kind="stable").tolist()
    rows = [
        _point(record.names[m], float(record.difference[m]),
               (format_pvalue(float(record.pvalue_adjusted[m])),),
               kind="good" if record.names[m] in record.superior else "")
        for m in order
    ]  # fmt: skip
    picture = _drawn(
        rows, f"Difference from {record.control}", f"Model minus {record.control}",
        ("model", "difference", "adjusted p"), [_NULL],
    )  # fmt: skip
    return with_said(record, picture)


def simultaneous(record: Any) -> list[Block]:
    """Draw differences of pairs, with intervals that hold together."""
    order = np.argsort(record.pvalue_adjusted, kind="stable")[:MOST_ROWS].tolist()
    rows = []
    for p in order:
        i, j = record.pairs[p].tolist()
        label = f"{record.names[i]} - {record.names[j]}"
        low, high = record.interval[p].tolist()
        cells = (format_pvalue(float(record.pvalue_adjusted[p])),)
        rows.append(row_of(label, "", float(record.difference[p]), low, high,
                           cells=cells))  # fmt: skip
    level = interval_name(record.confidence_level, record.alternative)
    heads = ("pair", f"difference, simultaneous {level}", "adjusted p")
    return with_said(record, _drawn(rows, "Differences", "Difference", heads, [_NULL]))


def comparisons(record: Any) -> list[Block]:
    """Draw differences that were tested together."""
    order = np.argsort(record.pvalue_adjusted, kind="stable")[:MOST_ROWS].tolist()
    rows = [
        _point(str(record.names[p]), float(record.difference[p]),
               (format_pvalue(float(record.pvalue_adjusted[p])),))
        for p in order
    ]  # fmt: skip
    heads = ("comparison", "difference", "adjusted p")
    return with_said(record, _drawn(rows, "Differences", "Difference", heads, [_NULL]))


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
    return with_said(record, _drawn([row], "The difference", "a minus b", heads, marks))


def mean_ranks(record: Any) -> list[Block]:
    """Draw the mean ranks of models."""
    if record.mean_rank is None:
        return with_said(record)
    order = np.argsort(record.mean_rank, kind="stable").tolist()
    rows = [_point(record.names[m], float(record.mean_rank[m])) for m in order]
    heads = ("model", "mean rank")
    middle = [((len(rows) + 1) / 2, "all models alike")]
    return with_said(
        record, _drawn(rows, "Mean ranks", "Mean rank, 1 for the best", heads, middle)
    )


def _point(name: str, value: float, cells: tuple[str, ...] = (), kind: str = "") -> Row:
    return Row(label=name, value=value, text=f"{value:.4g}", cells=cells, kind=kind)


def _order(record: Any) -> list[int]:
    """List models, the best first."""
    sign = 1 if record.lower_is_better else -1
    order: list[int] = np.argsort(sign * record.estimate, kind="stable").tolist()
    return order


def _drawn(
    rows: list[Row],
    title: str,
    axis: str,
    heads: tuple[str, ...],
    marks: Iterable[tuple[float, str]] = (),
) -> Block | None:
    """Draw rows, the first ones of many."""
    if not rows:
        return None
    says = f"The first {MOST_ROWS} of {len(rows)}." if len(rows) > MOST_ROWS else ""
    return intervals(rows[:MOST_ROWS], title=title, axis=axis, heads=heads,
                     marks=tuple(marks), says=says)  # fmt: skip
