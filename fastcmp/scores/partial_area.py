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
    """A part of the ROC curve, between two rates on either axis.

    It may be of false positive rates, or of true positive ones, under specificity.
    """

    low: float
    high: float
    by_tpr: bool
    standardize: bool

    def area(self, sweep: ThresholdSweep) -> float:
        """Measure the area of one model.

        Parameters
        ----------
        sweep : ThresholdSweep
            The counts at all cutoffs.

        Returns
        -------
        float
            The area, standardized where that is wanted.
        """
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
        """Standardize areas where that is wanted.

        Parameters
        ----------
        area : float or ndarray
            Partial areas.

        Returns
        -------
        float or ndarray
            The same, or McClish's transform: 1/2 for chance, 1 for perfection.
        """
        width = self.high - self.low
        if not self.standardize:
            return np.minimum(area, width)
        middle = (self.high**2 - self.low**2) / 2
        chance = width - middle if self.by_tpr else middle
        return np.minimum((1 + (area - chance) / (width - chance)) / 2, 1.0)

    def __str__(self) -> str:
        """Name what is measured."""
        rates = "TPR" if self.by_tpr else "FPR"
        kind = "standardized partial AUC" if self.standardize else "partial AUC"
        return f"{kind} ({rates} {self.low:g} to {self.high:g})"


def _read_at(
    x: NDArray[np.float64], y: NDArray[np.float64], at: float, side: str
) -> float:
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
    share = (at - x[left]) / (x[right] - x[left])
    return float(y[left] + share * (y[right] - y[left]))


def check_region(
    fpr_range: Any, tpr_range: Any, ties: str, *, standardize: bool
) -> Region | None:
    """Read which part of the curve is wanted.

    Parameters
    ----------
    fpr_range, tpr_range : pair of float or None
        What the user passed.
    ties : str
        As what ties count; only "half" for a part.
    standardize : bool
        Whether to scale as McClish does.

    Returns
    -------
    Region or None
        None for the whole curve.

    Raises
    ------
    ValueError
        If a range is none, or options do not go together.
    """
    if fpr_range is not None and tpr_range is not None:
        message = "fpr_range and tpr_range exclude each other: pass one of them"
        raise ValueError(message)
    given = fpr_range if tpr_range is None else tpr_range
    if given is None:
        if standardize:
            message = "standardize=True is for a partial area: pass fpr_range="
            raise ValueError(message)
        return None
    name = "fpr_range" if tpr_range is None else "tpr_range"
    numbers = np.shape(given) == (2,) and all(isinstance(x, Real) for x in given)
    if not numbers or not 0 <= given[0] < given[1] <= 1:
        message = f"{name} must be two rates with 0 <= low < high <= 1, got {given!r}"
        raise ValueError(message)
    if ties != "half":
        message = f"a partial area joins its points by lines: ties='half', got {ties!r}"
        raise ValueError(message)
    low, high = map(float, given)
    return Region(low, high, tpr_range is not None, standardize)
