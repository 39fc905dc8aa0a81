"""Models on the line of their scores or mean ranks, and where bars of ties lie."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from fastcmp.datasets.datasets_result import DatasetsResult

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

#: What each measure is called on an axis, and what it is multiplied by there.
MEASURES = {
    "accuracy": ("Accuracy (%)", 100.0),
    "cost": ("Cost per sample (lower is better)", 1.0),
    "AUC": ("AUC", 1.0),
    "mean": ("Mean value", 1.0),
    "mean loss": ("Mean loss (lower is better)", 1.0),
    "mean rank": ("Mean rank (1 is best)", 1.0),
}


class RankLine(NamedTuple):
    """What the models are placed by."""

    #: Where each model stands, the best at the right.
    place: Floats
    label: str
    #: What is written is this times the place.
    sign: int
    #: Decimals that are written.
    digits: int
    #: Critical difference, of mean ranks; None where there is none.
    critical: float | None = None


def rank_line(result: Any) -> RankLine:
    """Place models by their mean ranks where they have such, else by their scores."""
    if isinstance(result, DatasetsResult):
        label = f"Mean rank on {result.n_tasks} data sets (1 is best)"
        return RankLine(-result.mean_rank, label, -1, 2, result.critical_difference)
    label, scale = MEASURES.get(result.measure, (result.measure, 1.0))
    digits = 2 if result.measure == "accuracy" else 4
    return RankLine(scale * result.score, label, 1, digits)


def stacked(members: Sequence[Floats], gap: float) -> list[int]:
    """Give each bar the first level on which it meets no other bar."""
    levels = [0] * len(members)
    ends_of_levels: list[float] = []  # where the last bar of each level ends
    for k in sorted(range(len(members)), key=lambda k: float(members[k].min())):
        low, high = float(members[k].min()), float(members[k].max())
        free = (level for level, end in enumerate(ends_of_levels) if end + gap < low)
        levels[k] = next(free, len(ends_of_levels))
        ends_of_levels[levels[k] : levels[k] + 1] = [high]
    return levels
