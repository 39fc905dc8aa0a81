"""Options of the Bayesian tests over tasks, checked."""

from __future__ import annotations

from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

PLACES = ("rope", "a", "b")
BOUNDARIES = ("half", "rope")
#: Width of the rope on each side for scores from 0 to 1.
ROPE = 0.01


def read_rope(rope: Any, *scores: NDArray[np.float64]) -> float:
    """Check the rope, or give that of scores from 0 to 1."""
    if rope is not None:
        return not_negative(rope, "rope")
    ends = min(float(x.min()) for x in scores), max(float(x.max()) for x in scores)
    if ends[0] < 0.0 or ends[1] > 1.0:
        raise ValueError(
            "rope must be given where scores are not between 0 and 1, got scores from "
            f"{ends[0]:g} to {ends[1]:g}: differences up to rope mean nothing in "
            "practice; rope=0 for none"
        )
    return ROPE


def not_negative(value: Any, name: str) -> float:
    """Check a finite number that is not negative."""
    number = finite(value, name)
    if number < 0.0:
        raise ValueError(f"{name} must not be negative, got {value}")
    return number


def finite(value: Any, name: str) -> float:
    """Check a finite number."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{name} must be a number, got {value!r}")
    if not np.isfinite(float(value)):
        raise ValueError(f"{name} must be finite, got {value}")
    return float(value)
