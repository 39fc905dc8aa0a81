"""Intervals for many differences of two accuracies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import ndtri

from fastcmp.kernels.intervals import difference_interval_many

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

#: In the order of the kernel's codes; the last is no kernel.
DIFFERENCE_INTERVALS = ("wald", "newcombe", "tango", "bonett-price", "agresti-min")


def difference_intervals(
    cells: Iterable[NDArray[Any]], method: str, confidence_level: float
) -> tuple[Floats, Floats]:
    """Compute both ends from counts: both right, only a, only b, both wrong."""
    right, only_a, only_b, wrong = cells
    if method == "agresti-min":  # Wald's interval with half a sample more in each cell
        n = right + only_a + only_b + wrong + 2.0
        difference, discordant = (only_a - only_b) / n, (only_a + only_b + 1.0) / n
        spread = np.sqrt((discordant - difference**2) / n)
        half = -ndtri(0.5 * (1.0 - confidence_level)) * spread
        least = np.minimum(np.minimum(right, wrong), np.minimum(only_a, only_b))
        half[(n <= 2.0) | (least < 0)] = np.nan
        return np.maximum(difference - half, -1.0), np.minimum(difference + half, 1.0)
    low, high = np.empty((2, only_a.size))
    code = DIFFERENCE_INTERVALS.index(method)
    difference_interval_many(right, only_a, only_b, wrong, code, confidence_level, low, high)
    return low, high
