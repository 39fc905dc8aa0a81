"""Options of tests at any look: priors, bounds and bets, checked or refused by name."""

from __future__ import annotations

import math
from collections.abc import Iterable
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastcmp.kernels.bounded_means import N_SCALES

Floats = NDArray[np.float64]


def as_number(value: Any, name: str) -> float:
    """Check a finite number."""
    if isinstance(value, bool) or not isinstance(value, Real):
        message = f"{name} must be a number, got {value!r}"
        raise TypeError(message)
    if not math.isfinite(value):
        message = f"{name} must be finite, got {value}"
        raise ValueError(message)
    return float(value)


def read_prior(prior: Any, size: int = 2) -> tuple[float, ...]:
    """Check the parameters of a Beta or a Dirichlet prior."""
    wanted = f"prior must be {size} numbers above 0"
    if isinstance(prior, (str, bytes)) or not isinstance(prior, Iterable):
        message = f"{wanted}, got {prior!r}"
        raise TypeError(message)
    found = tuple(as_number(x, "prior") for x in prior)
    if len(found) != size or min(found) <= 0.0:
        message = f"{wanted}, got {prior!r}"
        raise ValueError(message)
    return found


def read_bounds(bounds: Any) -> tuple[float, float]:
    """Check the smallest and the largest possible value."""
    if isinstance(bounds, (str, bytes)) or not isinstance(bounds, Iterable):
        message = f"bounds must be two numbers, got {bounds!r}"
        raise TypeError(message)
    ends = tuple(as_number(x, "bounds") for x in bounds)
    if len(ends) != 2 or not ends[0] < ends[1]:
        message = f"bounds must be two numbers, the lower one first, got {bounds!r}"
        raise ValueError(message)
    return ends[0], ends[1]


def read_mean(mean0: Any, bounds: tuple[float, float]) -> float:
    """Check the mean of the null hypothesis."""
    mean = as_number(mean0, "mean0")
    if not bounds[0] <= mean <= bounds[1]:
        message = f"mean0 must lie within bounds, {bounds}, got {mean0}"
        raise ValueError(message)
    return mean


def read_bets(bets: Any, mean: float, bounds: tuple[float, float], alternative: str) -> Floats:
    """Check bets, or make those of all scales for the sides of a test."""
    if bets is None:
        half = 0.5 * (bounds[1] - bounds[0])
        centre = 0.5 * (bounds[0] + bounds[1])
        scales = 2.0 ** (-0.5 * np.arange(N_SCALES)) / (half + abs(mean - centre))
        sides = {"greater": [scales], "less": [-scales]}
        return np.concatenate(sides.get(alternative, [scales, -scales]))
    try:
        found = np.array(bets, np.float64)
    except (TypeError, ValueError):
        message = f"bets must be numbers, got {bets!r}"
        raise TypeError(message) from None
    if found.ndim != 1 or not found.size:
        message = f"bets must be a sequence of numbers, got shape {found.shape}"
        raise ValueError(message)
    # At either bound the wealth must not become negative, but for rounding.
    least = [np.min(1.0 + found * (end - mean)) for end in bounds]
    if not min(least) >= -1e-12:
        message = (
            "bets must keep 1 + bet * (value - mean0) at 0 or above for all values "
            f"within bounds, {bounds}; got one for which it is {min(least):.3g}"
        )
        raise ValueError(message)
    if alternative != "two-sided":
        sign = 1.0 if alternative == "greater" else -1.0
        if np.any(sign * found < 0.0):
            message = (
                f"bets must not be {'negative' if sign > 0 else 'positive'} for "
                f"alternative={alternative!r}"
            )
            raise ValueError(message)
    return found
