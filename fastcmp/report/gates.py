"""Contents of gates: each comparison beside its margin."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fastcmp.core.sections import format_pvalue
from fastcmp.paired.margin_result import WORSE
from fastcmp.report.charts import Row, intervals
from fastcmp.report.two_models import with_said

if TYPE_CHECKING:
    from fastcmp.report.blocks import Block


def gate(record: Any) -> list[Block]:
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
