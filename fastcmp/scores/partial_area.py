"""A part of the area under the ROC curve, between two rates."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp.scores.curves import roc_points

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fastcmp.scores.thresholds import ThresholdSweep


@dataclass(frozen=True, slots=True)
class Region:
    """A part of the ROC curve: between two false positive rates, or two true ones."""

    low: float
    high: float
    by_tpr: bool
    standardize: bool

    def area(self, sweep: ThresholdSweep) -> float:
        """Measure the area of one model."""
        curve = roc_points(sweep)
        x, y = curve.fpr, curve.tpr
        if self.by_tpr:
            x, y = curve.tpr, 1.0 - curve.fpr
        inside = (x > self.low) & (x < self.high)
        # At a vertical part the ends take the point that borders the region.
        ends = [_read_at(x, y, self.low, "right"), _read_at(x, y, self.high, "left")]
        xs = np.concatenate([[self.low], x[inside], [self.high]])
        ys = np.concatenate([ends[:1], y[inside], ends[1:]])
        return float(self.scaled(np.diff(xs) @ (ys[1:] + ys[:-1]) / 2))

    def scaled(self, area: Any) -> Any:
        """Standardize areas as McClish does, where that is wanted."""
        width = self.high - self.low
        if not self.standardize:
            return np.minimum(area, width)
        middle = (self.high**2 - self.low**2) / 2
        chance = width - middle if self.by_tpr else middle
        return np.minimum((1 + (area - chance) / (width - chance)) / 2, 1.0)

    @property
    def measure(self) -> str:
        """Name what is measured."""
        return "standardized partial AUC" if self.standardize else "partial AUC"

    def __str__(self) -> str:
        """Name the rates."""
        return f"{'TPR' if self.by_tpr else 'FPR'} {self.low:g} to {self.high:g}"


def _read_at(x: NDArray[np.float64], y: NDArray[np.float64], at: float, side: str) -> float:
    """Interpolate a curve with vertical parts, from the left or from the right."""
    if side == "right":
        right = int(np.searchsorted(x, at, side="right"))
        left = right - 1
    else:
        right = int(np.searchsorted(x, at, side="left"))
        left = max(right - 1, 0)
    right = min(right, x.size - 1)
    if x[right] == x[left]:
        return float(y[left] if side == "right" else y[right])
    part = (at - x[left]) / (x[right] - x[left])
    return float(y[left] + part * (y[right] - y[left]))


def check_region(fpr_range: Any, tpr_range: Any, ties: str, *, standardize: bool) -> Region | None:
    """Read which part of the curve is wanted."""
    if fpr_range is not None and tpr_range is not None:
        raise ValueError("fpr_range and tpr_range exclude each other: pass one of them")
    given = fpr_range if tpr_range is None else tpr_range
    if given is None:
        if standardize:
            raise ValueError("standardize=True is for a partial area: pass fpr_range=")
        return None
    name = "fpr_range" if tpr_range is None else "tpr_range"
    numbers = np.shape(given) == (2,) and all(isinstance(x, Real) for x in given)
    if not numbers or not 0 <= given[0] < given[1] <= 1:
        raise ValueError(f"{name} must be two rates with 0 <= low < high <= 1, got {given!r}")
    if ties != "half":
        raise ValueError(f"a partial area joins its points by lines: ties='half', got {ties!r}")
    low, high = map(float, given)
    return Region(low, high, tpr_range is not None, standardize)
