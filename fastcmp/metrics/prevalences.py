"""Proportions of classes that a user names."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp.core.checks import as_numbers, as_proportion
from fastcmp.inputs.binary_labels import positive_label

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

_ROUNDING = 1e-9


def check_prevalence(raw: Any) -> Any:
    """Check what can be checked before the classes are known."""
    if isinstance(raw, Real):
        return as_proportion(raw, "prevalence")
    if raw is not None and not isinstance(raw, Mapping):
        as_numbers(raw, "prevalence")
    return raw


def read_prevalences(raw: Any, classes: Sequence[Any], positive: Any = None) -> NDArray[np.float64]:
    """Read the proportion of each class; of two perhaps that of the positive one."""
    k = len(classes)
    if isinstance(raw, Real):
        proportion = as_proportion(raw, "prevalence")
        if k != 2:
            raise ValueError(f"prevalence must name {k} proportions, one a class, got {raw}")
        label, _ = positive_label(list(classes), positive)
        proportions = np.full(2, 1.0 - proportion)
        proportions[list(classes).index(label)] = proportion
        return proportions
    if isinstance(raw, Mapping):
        if unknown := [label for label in raw if label not in classes]:
            raise ValueError(f"prevalence names {unknown[:5]}, not among {list(classes)[:10]}")
        raw = [raw.get(label, 0.0) for label in classes]
    proportions = as_numbers(raw, "prevalence").astype(np.float64)
    if proportions.shape != (k,):
        raise ValueError(f"prevalence must have shape ({k},), got {proportions.shape}")
    if not (np.isfinite(proportions) & (proportions >= 0)).all() or not (
        abs(proportions.sum() - 1.0) <= _ROUNDING
    ):
        raise ValueError(f"prevalence must be proportions that add up to 1, got {raw!r}")
    return proportions
