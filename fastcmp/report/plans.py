"""Contents of plans: power over the number of samples."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp.planning.power_points import (
    BEFORE,
    WIDE,
    PowerLine,
    line_labels,
    numbers_to_draw,
    power_lines,
)
from fastcmp.report.charts import N_STYLES, Curve, Curves, Guide, curve
from fastcmp.report.scales import Scale, linear, logarithmic, upright
from fastcmp.report.two_models import with_said

if TYPE_CHECKING:
    from fastcmp.report.blocks import Block


def plan(record: Any) -> list[Block]:
    """Draw the power over the number of samples; what is simulated, as points."""
    lines = [("", line) for line in power_lines(record)][:N_STYLES]
    if not lines or (record.power_standard_error is not None and _marks(lines) < 2):
        return with_said(record)
    ends = np.array([line.ends() for _, line in lines])
    low, high = float(ends[:, 0].min()), float(ends[:, 1].max())
    is_log = high > WIDE * low
    unit = record.unit.capitalize()
    if is_log:
        across = logarithmic(low / BEFORE, 1.04 * high, title=unit)
    else:
        across = linear(0.0, 1.04 * high, title=unit)
    scales = (across, upright(0.0, 1.0, title="Power"))
    curves = [
        _curve(line, label, scales, style=i, ends=(low, high))
        for i, ((_, line), label) in enumerate(zip(lines, line_labels(lines), strict=True))
    ]
    wanted = {power for _, line in lines for _, power in line.marks}
    guides = [Guide(place=scales[1].place(wanted.pop()))] if len(wanted) == 1 else []
    n_all = len(power_lines(record))
    says = "A dot is what was planned."
    if record.assurance is not None:
        says += " The band holds the middle 95% of what the pilot leaves open."
    if n_all > len(lines):
        says += f" Of {n_all} curves {len(lines)} are drawn."
    picture = Curves(
        title="Power", x=across, y=scales[1], curves=tuple(curves), across=tuple(guides), says=says
    )
    return with_said(record, picture)


def _marks(lines: list[tuple[str, PowerLine]]) -> int:
    return max(len(line.marks) for _, line in lines)


def _curve(
    line: PowerLine,
    label: str,
    scales: tuple[Scale, Scale],
    *,
    style: int,
    ends: tuple[float, float],
) -> Curve:
    """Compute the powers of a curve."""
    dots = [
        (n, power, f"{n:,.0f} samples: power {100 * power:.1f}%")
        for n, power in line.marks
        if np.isfinite(n)
    ]
    if line.simulated:  # more of them would take as long as the plan
        n, powers, _ = zip(*sorted(dots), strict=True)
        return curve(label, n, powers, scales, style=style, dots=dots)
    numbers = numbers_to_draw(line, *ends, logarithmic=scales[0].is_log)
    found = line.at(numbers)
    band = found.interval if found.assurance is not None else None
    return curve(label, numbers, found.power, scales, style=style, dots=dots, band=band)
