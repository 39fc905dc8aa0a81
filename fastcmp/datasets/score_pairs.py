"""Scores of two models, checked, and their differences."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp.core.checks import as_flag, as_numbers
from fastcmp.datasets.decimals import Decimals
from fastcmp.inputs.model_names import check_indexes, read_pair_names
from fastcmp.kernels.item_values import LARGEST

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


@dataclass(frozen=True)
class ScorePair:
    """Scores of a and b, as they came."""

    a: Floats
    b: Floats
    names: tuple[str, str]
    lower_is_better: bool
    decimals: Decimals

    @property
    def units(self) -> tuple[Floats, float]:
        """Differences in units of the last decimal, a better above 0; a tolerance."""
        a, b = self.decimals.values
        return (b - a if self.lower_is_better else a - b), 2 * self.decimals.tolerance

    def in_units(self, value: float) -> float:
        """Write a difference in these units."""
        return value * self.decimals.scale

    @property
    def differences(self) -> Floats:
        """Differences, above 0 where a is better; equal decimals are equal."""
        return np.asarray(self.units[0] / self.decimals.scale)

    @property
    def measure(self) -> str:
        """What the scores are."""
        return "loss" if self.lower_is_better else "score"

    @property
    def difference(self) -> float:
        """Mean of a minus mean of b."""
        mean = float(np.mean(self.differences))
        return -mean if self.lower_is_better else mean


def read_score_pair(
    scores_a: Any,
    scores_b: Any,
    *,
    lower_is_better: Any,
    names: Any,
    shape: tuple[str, ...] = ("(D,)",),
) -> ScorePair:
    """Check scores of two models; ValueError or TypeError for what they cannot be."""
    given = [("scores_a", scores_a), ("scores_b", scores_b)]
    check_indexes(given)
    columns = [_read(raw, name, shape) for name, raw in given]
    a, b = columns
    if a.shape != b.shape:
        raise ValueError(
            f"scores_b must be as many as scores_a, in the same order: {a.shape}, got {b.shape}"
        )
    if a.size < 2:
        raise ValueError(f"scores_a must be two at least, got {a.size}")
    pair = read_pair_names(names)
    lower = as_flag(lower_is_better, "lower_is_better")
    return ScorePair(a, b, pair, lower, Decimals.of(np.stack([a.ravel(), b.ravel()])))


def _read(raw: Any, name: str, shape: tuple[str, ...]) -> Floats:
    """Check one column."""
    column = np.asarray(as_numbers(raw, name).astype(np.float64))
    if not 1 <= column.ndim <= len(shape):
        raise ValueError(
            f"{name} must be of shape {' or '.join(shape)}, got {column.shape}: folds "
            "and repetitions of a task are no tasks"
        )
    bad = np.argwhere(~(np.abs(column) < LARGEST))
    if bad.size:
        where = int(bad[0, 0]) if column.ndim == 1 else tuple(bad[0].tolist())
        raise ValueError(
            f"{name} must be finite, and below {LARGEST:g} in size, got "
            f"{column[tuple(bad[0])]} at {where}"
        )
    return column
