"""Blocks of a page about two models, folds, a gate or a plan."""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp import pictures
from fastcmp.core.records import Record, less_is_better
from fastcmp.core.sections import Section, format_pvalue, interval_name
from fastcmp.core.sentences import names_of
from fastcmp.crossval.comparison_result import difference_interval
from fastcmp.paired.margin_result import WORSE
from fastcmp.pictures import Row
from fastcmp.planning.power_points import power_lines
from fastcmp.report.blocks import Block, Text, said
from fastcmp.report.charts import N_STYLES, bars, drawn, intervals

if TYPE_CHECKING:
    from fastcmp.crossval.comparison_result import CVComparison
    from fastcmp.pairwise.gate import GateResult
    from fastcmp.planning.plan import Plan

#: Title of what explains a comparison: it comes last.
HOW = "How to read this"
#: Measures whose differences are written in percentage points.
_IN_POINTS = ("accuracy", "error", "error rate")
_PARTS = ("both right", "only {a} right", "only {b} right", "both wrong")
_KINDS = ("both", "a", "b", "none")
_MOST_STRATA = 60


def with_said(record: Record, *blocks: Block | None, without: str | None = None) -> list[Block]:
    """Put pictures behind the first of what a record says in words and tables.

    `without` is the title of a table that a picture holds; that of the first section
    is "".
    """
    pictures = [block for block in blocks if block is not None]
    texts = said(record)
    if pictures and without is not None:
        texts = [_words(text) if text.title == without else text for text in texts]
        texts = [text for text in texts if text.section.text or text.section.columns
                 or text.section.notes]  # fmt: skip
    is_short = bool(texts) and not (texts[0].title or texts[0].section.columns)
    begins = 1 if is_short else 0
    return [*texts[:begins], *pictures, *texts[begins:]]


def _words(block: Text) -> Text:
    """Leave the table out."""
    return replace(block, section=replace(block.section, columns=(), rows=()))


def two_models(record: Any) -> list[Block]:
    """Draw the difference with its interval, and the counts where they are known.

    Of samples in strata what the models got right in each stratum.
    """
    if getattr(record, "design", "") != "strata":
        return with_said(record, difference(record), *right_and_wrong(record))
    cells = zip(record.both_right, record.only_a, record.only_b, record.both_wrong,
                strict=True)  # fmt: skip
    rows = [(f"{name}", counts, [f"{x:,}" for x in counts])
            for name, counts in zip(record.strata, cells, strict=True)]  # fmt: skip
    few = len(rows) <= _MOST_STRATA
    picture = _four_parts(rows, ("a", "b"), "Strata", "stratum") if few else None
    return with_said(record, difference(record), picture, without="Strata" if few else None)


def difference(record: Any, names: tuple[str, str] | None = None) -> Block | None:
    """Draw the difference, against that of H0 and the margins."""
    with suppress(ValueError):  # counts that are not known
        gain, (low, high) = record.difference, interval_of(record)
        several = np.ndim(gain) == 1
        if np.ndim(gain) > 1 or (np.ndim(gain) == 0 and math.isnan(gain)):
            return None
        a, b = names or names_of(record)
        rows = _rows(record, f"{a} minus {b}", gain, low, high)
        measure = record.measure if isinstance(record.measure, str) else "measures"
        unit = " (percentage points)" if _in_points(record.measure) else ""
        side = getattr(record, "alternative", "two-sided")
        level = interval_name(level_of(record), side)
        null = getattr(record, "null_difference", 0.0) or 0.0
        scale = 100.0 if _in_points(record.measure) else 1.0
        marks = [(scale * null, "H0: no difference" if null == 0 else "H0")]
        marks += [(scale * x, text) for x, text in _margins(record)]
        return intervals(
            rows,
            title="The differences" if several else "The difference",
            axis=f"{measure}, {a} minus {b}{unit}",
            heads=("measure" if several else "models", f"difference, {level}"),
            marks=marks,
            says=_reading(record, (a, b)),
        )
    return None


def _rows(record: Any, label: str, gain: Any, low: Any, high: Any) -> list[Row]:
    """A row, or one for each measure."""
    if not np.ndim(gain):
        kind = _kind(record, float(low), float(high))
        return [row_of(label, record.measure, float(gain), float(low), float(high),
                       kind=kind)]  # fmt: skip
    measures = np.broadcast_to(np.array(record.measure, object), np.shape(gain))
    return [
        row_of(str(name), "", *map(float, numbers))
        for name, *numbers in zip(measures, gain, low, high, strict=True)
    ]


def row_of(
    label: str,
    measure: object,
    gain: float,
    low: float,
    high: float,
    *,
    cells: tuple[str, ...] = (),
    kind: str = "",
) -> Row:
    """Write a difference and its interval, in percentage points where that is usual."""
    scale, form = (100.0, "+.2f") if _in_points(measure) else (1.0, "+.4g")
    gain, low, high = scale * gain, scale * low, scale * high
    ends = "" if math.isnan(low) else f" [{low:{form}}, {high:{form}}]"
    return Row(label=label, value=gain, low=low, high=high,
               text=f"{gain:{form}}{ends}", cells=cells, kind=kind)  # fmt: skip


def interval_of(record: Any) -> tuple[Any, Any]:
    """The interval that a record prints, NaN where it has none."""
    interval = getattr(record, "interval", None)
    if interval is None and hasattr(record, "confidence_interval"):
        interval = record.confidence_interval()
    if interval is None:
        nothing = np.full(np.shape(record.difference), math.nan)
        return nothing[()], nothing[()]
    low, high = interval
    return low, high


def level_of(record: Any) -> float:
    """The level of the interval that a record prints."""
    if hasattr(record, "confidence_level"):
        return float(record.confidence_level)
    decides = hasattr(record, "comparison")  # at a level of its own
    return 1.0 - float(record.alpha) if decides else 0.95


def _in_points(measure: object) -> bool:
    return isinstance(measure, str) and measure in _IN_POINTS


def _kind(record: object, low: float, high: float) -> str:
    """Colour by the better model, where the interval excludes 0."""
    if not (low > 0 or high < 0):
        return ""
    return "a" if (low > 0) != less_is_better(record) else "b"


def _margins(record: object) -> list[tuple[float, str]]:
    """The margins on both sides of 0, if it is one margin."""
    tests = getattr(record, "margins", None)
    if tests is None or np.ndim(tests.margin):
        return []
    margin = float(tests.margin)
    return [(-margin, f"margin {tests.amount}"), (margin, "")]


def _reading(record: Any, names: tuple[str, str]) -> str:
    """How to read the picture, in a sentence."""
    a, b = names
    if not isinstance(record.measure, str):
        return ""
    better, other = (b, a) if less_is_better(record) else (a, b)
    return f"Right of 0 {better} is better, left of it {other}."


def right_and_wrong(record: object) -> list[Block]:
    """Show what both, one or no model got right, as a bar and a table."""
    counts = _counts(getattr(record, "comparison", record))  # of a decision, its test
    if counts is None:
        return []
    a, b = names_of(record)
    right, only_a, only_b, wrong = counts
    texts = [_count(x) for x in counts]
    bar = _four_parts([("samples", counts, texts)], (a, b), "Right and wrong", "")
    table = Section(
        columns=("", f"{b} right", f"{b} wrong", "all"),
        rows=tuple(
            (label, _count(x), _count(y), _count(x + y))
            for label, x, y in (
                (f"{a} right", right, only_a),
                (f"{a} wrong", only_b, wrong),
                ("all", right + only_b, only_a + wrong),
            )
        ),
    )
    return [bar, Text(title="", section=table)]


def _counts(record: object) -> tuple[Any, ...] | None:
    """The four counts of one pair; None where some are not known."""
    names = ("both_right", "only_a", "only_b", "both_wrong")
    if hasattr(record, "mean_table"):
        (right, only_a), (only_b, wrong) = record.mean_table.tolist()
        return right, only_a, only_b, wrong
    cells: list[Any] = [getattr(record, name, None) for name in names]
    if any(x is None for x in cells) or any(np.ndim(x) > 1 for x in cells):
        return None
    if np.ndim(cells[0]) and getattr(record, "design", "samples") != "clusters":
        return None
    return tuple(np.sum(x).item() for x in cells)


def _four_parts(rows: Any, names: tuple[str, str], title: str, head: str) -> Block:
    a, b = names
    heads = tuple(part.format(a=a, b=b) for part in _PARTS)
    return bars(rows, title=title, heads=(head, *heads), kinds=_KINDS)


def _count(x: object) -> str:
    return f"{x:,}" if isinstance(x, int) else f"{x:,.4g}"


# Contents of gates: each comparison beside its margin.


def gate(record: GateResult) -> list[Block]:
    """Draw each difference in units of its margin, with its interval."""
    new, base = record.models
    rows = []
    for i, name in enumerate(record.names):
        margin, gain = float(record.margin[i]), float(record.difference[i])
        low, high = record.interval[i].tolist()
        decision = str(record.decision[i])
        kind = "good" if record.margin_met[i] else "bad" if decision == WORSE else ""
        rows.append(
            Row(
                label=f"{name}",
                value=gain / margin,
                low=low / margin,
                high=high / margin,
                text=f"{gain:+.4f} [{low:+.4f}, {high:+.4f}]",
                cells=(
                    *record.measured(i),
                    f"{margin:g}",
                    format_pvalue(float(record.pvalue[i])),
                    decision,
                ),
                kind=kind,
            )
        )
    level = f"{100 * (1 - 2 * record.alpha):.9g}% CI"
    picture = intervals(
        rows,
        title="Difference against the margin",
        axis=f"{new} minus {base}, in units of the margin",
        heads=("comparison", f"difference, {level}", "n", new, base, "margin", "p", "decision"),
        marks=[(0.0, "no difference"), (-1.0, "worse by the margin")],
        says=f"{new} is not worse where the interval lies right of the margin.",
    )
    return with_said(record, picture, without="")


# Contents of cross-validated comparisons: differences in folds, and their tests.


_MOST = 40  # repetitions that get a row each


def folds(record: CVComparison) -> list[Block]:
    """Draw the difference in each fold, and the mean with the interval of each test."""
    picture = pictures.folds(record)
    says, rows = picture.says, picture.rows
    if len(rows) > _MOST:
        says += f" The first {_MOST} of {len(rows)} repetitions are drawn."
    drawn_folds = intervals(
        rows[:_MOST],
        title=picture.title,
        axis=picture.axis.title,
        heads=picture.heads,
        marks=picture.rules,
        band=picture.band,
        says=says,
    )
    return with_said(record, _tests(record), drawn_folds)


def _tests(record: CVComparison) -> Block:
    """Draw the interval of each test that was made."""
    (a, b), unit = record.names, " (percentage points)" if record.measure == "accuracy" else ""
    rows = []
    for name, test in record.tests.items():
        low, high = difference_interval(test).tolist()
        p = (format_pvalue(float(test.pvalue)),)
        gain = float(test.difference)
        rows.append(row_of(name, record.measure, gain, low, high, cells=p))
    return intervals(
        rows,
        title="The difference",
        axis=f"{record.measure}, {a} minus {b}{unit}",
        heads=("test", "difference, 95% CI", "p"),
        marks=[(0.0, "H0: no difference")],
    )


# Contents of plans: power over the number of samples.


def plan(record: Plan) -> list[Block]:
    """Draw the power over the number of samples; what is simulated, as points."""
    lines = [("", line) for line in power_lines(record)]
    most_marks = max((len(line.marks) for _, line in lines), default=0)
    if not lines or (record.power_standard_error is not None and most_marks < 2):
        return with_said(record)
    return with_said(record, drawn(pictures.power(lines[:N_STYLES], len(lines))))
