"""Numbers and arrays of a plan: checked, or refused by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp.core.checks import LARGEST_COUNT, as_numbers, as_whole

if TYPE_CHECKING:
    from collections.abc import Collection

    from fastcmp.planning.family import Floats

_MOST_RESAMPLES = 1_000_000


def within(value: Any, name: str, low: float, high: float, *, closed: bool = False) -> Floats:
    """Check numbers in an open, or closed, interval; any shape."""
    numbers = as_numbers(value, name).astype(np.float64)
    inside = (numbers >= low) & (numbers <= high)
    if not closed:
        inside &= (numbers > low) & (numbers < high)
    if not np.all(inside):
        ends = f"[{low:g}, {high:g}]" if closed else f"({low:g}, {high:g})"
        bad = numbers[~inside].flat[0]
        message = f"{name} must lie in {ends}, got {bad:g}{_in_percent(bad, low, high)}"
        raise ValueError(message)
    return numbers


def _in_percent(value: float, low: float, high: float) -> str:
    """Say how to write what seems to be a percentage."""
    possible = abs(value) > 1 and high == 1 and low <= value / 100 <= high
    return f": write {value / 100:g} for {value:g}%" if possible else ""


def positive(value: Any, name: str) -> Floats:
    """Check finite numbers > 0; any shape."""
    numbers = as_numbers(value, name).astype(np.float64)
    right = (numbers > 0) & np.isfinite(numbers)
    if not np.all(right):
        message = f"{name} must be > 0 and finite, got {numbers[~right].flat[0]:g}"
        raise ValueError(message)
    return numbers


def whole(value: Any, name: str, least: int = 1) -> Floats:
    """Check whole numbers of at least `least`, also floats; any shape, as float64."""
    numbers = as_numbers(value, name, "whole numbers").astype(np.float64)
    right = (numbers >= least) & (numbers <= LARGEST_COUNT)
    right &= np.trunc(numbers) == numbers
    if not np.all(right):
        bad = numbers[~right].flat[0]
        message = f"{name} must be whole numbers from {least} to 2**53, got {bad:.17g}"
        raise ValueError(message)
    return numbers


def resamples(value: Any) -> int:
    """Check the number of simulated answers that a power is counted on."""
    n = as_whole(value, "n_resamples", 1)
    if n > _MOST_RESAMPLES:
        message = (
            f"n_resamples must be at most {_MOST_RESAMPLES:,}, with which a power is known to "
            f"0.1 percentage points, got {n:,}"
        )
        raise ValueError(message)
    return n


def check_reachable(power: Floats, alpha: Floats) -> None:
    """Refuse a power that a test of no difference has too."""
    if np.any(power <= alpha):
        message = (
            f"power must lie in (alpha, 1), got {np.min(power):g} with alpha={np.max(alpha):g}"
        )
        raise ValueError(message)


def names_of(given: Collection[str]) -> str:
    """List what was given, for a message."""
    return ", ".join(sorted(given)) or "none of them"


def rounded_up(real: Any) -> Floats:
    """Round up to whole numbers, at least 1; a rounding error is no sample."""
    return np.asarray(np.maximum(np.ceil(np.asarray(real) * (1.0 - 1e-12)), 1.0))
