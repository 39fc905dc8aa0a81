"""Counts as users hand them in: confusion matrices, and counts of two models."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp.core.checks import as_counts, check_classes, check_total

if TYPE_CHECKING:
    from collections.abc import Sequence


#: A confusion matrix is then 0.5 GB, and a metric takes some of that size.
MOST_CLASSES = 8192


def check_classes_fit(k: int) -> None:
    """Refuse so many classes that they are hardly classes."""
    if k > MOST_CLASSES:
        raise ValueError(
            f"y_true and predictions hold {k} different labels, and metrics take at "
            f"most {MOST_CLASSES} classes: are these labels?"
        )


def read_square(raw: Any, name: str, n_axes: int) -> Any:
    """Read counts of K classes, with leading axes; refuse other shapes."""
    counts = as_counts(raw, name)
    shape = counts.shape[-n_axes:]
    if counts.ndim < n_axes or len(set(shape)) != 1 or 0 in shape:
        wanted = ", ".join(["K"] * n_axes)
        raise ValueError(f"{name} must have shape ({wanted}), got {counts.shape}")
    if n_axes == 2 and counts.ndim > 2:
        raise ValueError(f"{name} must be one matrix, got shape {counts.shape}")
    check_total(counts, name, n_axes)
    if not counts.size or not (counts.sum(axis=tuple(range(-n_axes, 0))) > 0).all():
        raise ValueError(f"{name} must hold samples, got none")
    return counts


def read_classes(classes: Sequence[Any] | None, k: int) -> tuple[Any, ...]:
    """Read the labels of K classes."""
    if classes is None:
        return tuple(range(k))
    check_classes(classes)
    named = tuple(np.asarray(classes, dtype=object).tolist())
    if len(named) != k or len(set(named)) != k:
        raise ValueError(f"classes must name {k} different classes, got {classes!r}")
    return named
