"""Pictures of probabilities in a report: decision curves and reliability diagrams."""

from __future__ import annotations

from typing import Any

import numpy as np

from fastcmp.report.blocks import Block
from fastcmp.report.charts import Curves, curve, linear, straight, upright
from fastcmp.report.two_models import with_said

_MOST = 8  # curves that can be distinguished


def decision_curve(record: Any) -> list[Block]:
    """Draw net benefits over thresholds."""
    x, models = record.thresholds, [*range(min(len(record.names) - 2, _MOST))]
    top = float(np.nanmax(record.net_benefit, initial=0.0))
    if x.size < 2 or top <= 0.0:
        return with_said(record)
    low = -0.15 * top
    scales = (linear(x[0], x[-1], title="Threshold probability"),
              upright(low, 1.05 * top, title="Net benefit"))  # fmt: skip
    rows = [*models, len(record.names) - 2]
    heights = np.where(record.net_benefit < low, np.nan, record.net_benefit)
    picture = Curves(
        title="Net benefit over thresholds",
        x=scales[0],
        y=scales[1],
        curves=tuple(curve(record.names[m], x, heights[m], scales, style=m) for m in rows),
        diagonal=straight(scales, (x[0], 0.0), (x[-1], 0.0)),
        says="The straight line is treating nobody.",
    )
    return with_said(record, picture)


def reliability(record: Any) -> list[Block]:
    """Draw isotonic frequencies over probabilities, with their bands."""
    scales = (linear(0.0, 1.0, title="Probability"), upright(0.0, 1.0, title="Frequency"))
    found, model = [], np.array(record.model, object)
    for m, name in enumerate(record.names[:_MOST]):
        rows = model == name
        band = record.band_low[rows], record.band_high[rows]
        xy = record.probability[rows], record.recalibrated[rows]
        found.append(curve(name, *xy, scales, style=m, band=band))
    picture = Curves(
        title="Frequencies by probability",
        x=scales[0],
        y=scales[1],
        curves=tuple(found),
        diagonal=straight(scales, (0.0, 0.0), (1.0, 1.0)),
        is_square=True,
    )
    return with_said(record, picture)
