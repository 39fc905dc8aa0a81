"""Intervals for many differences of two accuracies, by the kernel of one method."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

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

_KERNELS = {
    "wald": wald_many,
    "newcombe": newcombe_many,
    "tango": tango_many,
    "bonett-price": bonett_price_many,
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
