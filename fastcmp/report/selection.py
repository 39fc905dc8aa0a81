"""Contents of records that choose among many models: sets, ranks, winners."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp.core.sections import heading, interval_name, written
from fastcmp.pictures import Row
from fastcmp.report.blocks import Block
from fastcmp.report.charts import intervals
from fastcmp.report.scores import MOST_ROWS
from fastcmp.report.two_models import row_of, with_said

if TYPE_CHECKING:
    from fastcmp.core.records import Record
    from fastcmp.datasets.omnibus import OmnibusTest
    from fastcmp.datasets.task_draws import TaskBootstrap
    from fastcmp.items.max_t import MaxTResult
    from fastcmp.paired.margin_result import MarginTests
    from fastcmp.pairwise.best_set import BestSet, ModelConfidenceSet
    from fastcmp.pairwise.rank_sets import RankSets
    from fastcmp.pairwise.simultaneous_pairs import SimultaneousPairs
    from fastcmp.pairwise.superior_ability import SuperiorAbility
    from fastcmp.pairwise.winner import WinnerEstimate

_NULL = (0.0, "H0: no difference")
_LABELS = ("model", "model_a", "model_b", "comparison")  # columns of names


def best_set(record: BestSet) -> list[Block]:
    """Draw the lead of each model over the best of the others."""
    return _pictured(
        record,
        "Lead over the best other model",
        interval="low",
        cells="estimate may_be_best",
        order=_order(record),
        kinds=np.where(record.may_be_best, "good", "bad"),
        marks=[(0.0, "equal")],
        without="Comparison with the best",
    )


def rank_sets(record: RankSets) -> list[Block]:
    """Draw the ranks that each model may have."""
    head = f"rank, {100 * record.confidence_level:.9g}% set"
    return _ranks(record, "estimate", head=head, without="Sets of ranks")


def drawn_ranks(record: TaskBootstrap) -> list[Block]:
    """Draw how far ranks go when tasks are drawn again."""
    return _ranks(record, "{self._name} best_probability")


def _ranks(record: RankSets | TaskBootstrap, cells: str, **options: Any) -> list[Block]:
    options |= {"order": np.argsort(record.rank, kind="stable"), "kind": "ranks"}
    options |= {"axis": "Rank, 1 for the best", "interval": "rank_low", "value": "rank"}
    return _pictured(record, "Ranks", cells=cells, **options)


def confidence_set(record: ModelConfidenceSet) -> list[Block]:
    """Draw the estimates, and which of them are in the set."""
    return _pictured(
        record,
        "Estimates",
        value="estimate",
        cells="pvalue included",
        order=_order(record),
        kinds=np.where(record.pvalue > record.alpha, "good", "bad"),
        without="Model confidence set",
    )


def winner(record: WinnerEstimate) -> list[Block]:
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


def superior_ability(record: SuperiorAbility) -> list[Block]:
    """Draw differences from the control."""
    return _pictured(
        record,
        f"Difference from {record.control}",
        value="difference",
        cells="standard_error estimate pvalue_adjusted",
        order=np.argsort(-record.difference, kind="stable"),
        kinds=np.where(record.pvalue_adjusted <= record.alpha, "good", ""),
        axis=f"Model minus {record.control}",
        marks=[_NULL],
        without=f"Against {record.control}",
    )


def simultaneous(record: SimultaneousPairs) -> list[Block]:
    """Draw differences of pairs, with intervals that hold together."""
    return _differences(record, interval="low", cells="pvalue pvalue_adjusted")


def comparisons(record: MaxTResult) -> list[Block]:
    """Draw differences that were tested together."""
    return _differences(record, cells="statistic pvalue pvalue_adjusted")


def _differences(record: SimultaneousPairs | MaxTResult, **options: Any) -> list[Block]:
    options |= {"order": np.argsort(record.pvalue_adjusted, kind="stable"), "marks": [_NULL]}
    return _pictured(record, "Differences", value="difference", without="", **options)


def margin_tests(record: MarginTests) -> list[Block]:
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


def mean_ranks(record: OmnibusTest) -> list[Block]:
    """Draw the mean ranks of models."""
    if record.mean_rank is None:
        return with_said(record)
    return _pictured(
        record,
        "Mean ranks",
        value="mean_rank",
        order=np.argsort(record.mean_rank, kind="stable"),
        axis="Mean rank, 1 for the best",
        marks=[((len(record.names) + 1) / 2, "all models alike")],
        without="Mean ranks, 1 for the best",
    )


def _order(record: BestSet | ModelConfidenceSet) -> list[int]:
    """List models, the best first."""
    sign = 1 if record.lower_is_better else -1
    order: list[int] = np.argsort(sign * record.estimate, kind="stable").tolist()
    return order


def _pictured(
    record: Record,
    title: str,
    *,
    order: Any,
    value: str = "",
    interval: str = "",
    cells: str = "",
    kinds: Any = None,
    head: str = "",
    **options: Any,
) -> list[Block]:
    """Draw columns of the main table of a record, a row each, as the record writes them."""
    columns = {column.name.split()[0]: column for column in record._columns}
    label, *second = [column for column in record._columns if column.name in _LABELS]
    names = label.of(record)
    if second:
        names = [f"{a} - {b}" for a, b in zip(names, second[0].of(record), strict=True)]
    value_column, interval_column = columns.get(value), columns.get(interval)
    n = len(names)
    values = (
        np.full(n, math.nan)
        if value_column is None
        else np.asarray(value_column.of(record), np.float64)
    )
    low, high = (
        np.full((2, n), math.nan)
        if interval_column is None
        else np.asarray(interval_column.of(record)).T
    )
    texts = (
        [""] * n if value_column is None else written(value_column.of(record), value_column.form)
    )
    if interval_column is not None:
        form = "" if callable(interval_column.form) else interval_column.form
        pairs = zip(texts, written(interval_column.of(record), form), strict=True)
        texts = [f"{text} {both}".strip() for text, both in pairs]
    further = [columns[name] for name in cells.split()]
    written_cells = [written(column.of(record), column.form) for column in further]
    rows = [
        Row(
            *(names[m], float(values[m]), float(low[m]), float(high[m]), texts[m]),
            cells=tuple(column[m] for column in written_cells),
            kind="" if kinds is None else str(kinds[m]),
        )
        for m in np.asarray(order).tolist()
    ]
    first = ", ".join(
        heading(column, record) for column in (value_column, interval_column) if column is not None
    )
    kind = "pair" if second else heading(label, record)
    heads = (kind, head or first, *(heading(column, record) for column in further))
    return _drawn(record, rows, title, heads, **options)


def _drawn(
    record: Record,
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
