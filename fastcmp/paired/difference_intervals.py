"""Intervals for many differences of two accuracies, by the kernel of one method."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import ndtri

from fastcmp.kernels.many_intervals import (
    bonett_price_many,
    newcombe_many,
    tango_many,
    wald_many,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


def _agresti_min(
    right: Any, only_a: Any, only_b: Any, wrong: Any, level: float, low: Floats, high: Floats
) -> None:
    """Wald's interval with half a sample more in each cell."""
    n = right + only_a + only_b + wrong + 2.0
    difference, discordant = (only_a - only_b) / n, (only_a + only_b + 1.0) / n
    half = -ndtri(0.5 * (1.0 - level)) * np.sqrt((discordant - difference**2) / n)
    possible = (n > 2.0) & (np.minimum(np.minimum(right, wrong), np.minimum(only_a, only_b)) >= 0)
    low[:] = np.where(possible, np.maximum(difference - half, -1.0), np.nan)
    high[:] = np.where(possible, np.minimum(difference + half, 1.0), np.nan)


_KERNELS = {
    "wald": wald_many,
    "newcombe": newcombe_many,
    "tango": tango_many,
    "bonett-price": bonett_price_many,
    "agresti-min": _agresti_min,
}
DIFFERENCE_INTERVALS = tuple(_KERNELS)


def difference_intervals(
    cells: Iterable[NDArray[Any]], method: str, confidence_level: float
) -> tuple[Floats, Floats]:
    """Compute both ends from counts: both right, only a, only b, both wrong."""
    right, only_a, only_b, wrong = cells
    low, high = np.empty((2, only_a.size))
    _KERNELS[method](right, only_a, only_b, wrong, confidence_level, low, high)
    return low, high
