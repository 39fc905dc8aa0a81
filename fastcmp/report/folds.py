"""Contents of cross-validated comparisons: differences in folds, and their tests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fastcmp.core.sections import format_pvalue
from fastcmp.crossval.comparison_result import difference_interval
from fastcmp.report.charts import Row, intervals
from fastcmp.report.two_models import row_of, with_said

if TYPE_CHECKING:
    from fastcmp.report.blocks import Block

_MOST = 40  # repetitions that get a row each


def folds(record: Any) -> list[Block]:
    """Draw the difference in each fold, and the mean with the interval of each test."""
    a, b = record.names
    percent = record.measure == "accuracy"
    scale = 100.0 if percent else 1.0
    first, second = scale * record.scores()
    gains = first - second
    unit = " (percentage points)" if percent else ""
    axis = f"{record.measure}, {a} minus {b}{unit}"
    rows = [
        Row(label=f"repetition {r + 1}", value=row.mean(), points=tuple(row.tolist()),
            text=f"{row.mean():+.4g}")
        for r, row in enumerate(gains[:_MOST])
    ]  # fmt: skip
    of_folds = intervals(
        rows,
        title="The folds",
        axis=axis,
        heads=("", "mean"),
        marks=[(0.0, "H0: no difference")],
        says="A small dot is a fold. Folds share records: their scatter does not "
        "measure the uncertainty, the interval of a test does."
        + (f" The first {_MOST} of {len(gains)} repetitions are drawn."
           if len(gains) > _MOST else ""),
    )  # fmt: skip
    return with_said(record, _tests(record, axis), of_folds)


def _tests(record: Any, axis: str) -> Block:
    """Draw the interval of each test that was made."""
    rows = []
    for name, test in record.tests.items():
        low, high = difference_interval(test).tolist()
        p = (format_pvalue(float(test.pvalue)),)
        gain = float(test.difference)
        rows.append(row_of(name, record.measure, gain, low, high, cells=p))
    return intervals(
        rows,
        title="The difference",
        axis=axis,
        heads=("test", "difference, 95% CI", "p"),
        marks=[(0.0, "H0: no difference")],
    )
