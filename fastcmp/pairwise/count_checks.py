"""Counts that a stream has gathered: of the right kind, and enough of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp.core.checks import warn
from fastcmp.core.protocols import are_labelled, are_paired

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_COUNTS: dict[str, Callable[[Any], bool]] = {
    "PairCounts": are_paired,
    "LabelCounts": are_labelled,
}
_NEVER_RIGHT = 100  # samples of which each model should get one right


def check_counts(
    counts: Any,
    kinds: Mapping[str, Callable[[Any], bool]] = _COUNTS,
) -> tuple[str, ...]:
    """Names of the models; refuses what does not hold counts, or too few."""
    if not any(are_such(counts) for are_such in kinds.values()):
        wanted = " or ".join(f"fastcmp.stream.{name}" for name in kinds)
        kind = f"{type(counts).__module__}.{type(counts).__name__}"
        raise TypeError(f"counts must be a {wanted}, got {kind}")
    names = counts.names or ()
    if len(names) < 2 or counts.n_samples < 2:
        raise ValueError(
            "counts must hold at least 2 models and 2 samples, got "
            f"{len(names)} and {counts.n_samples}"
        )
    if are_paired(counts) and counts.n_samples >= _NEVER_RIGHT:
        never = [names[i] for i in np.flatnonzero(counts.correct == 0)]
        if never:
            warn(
                f"{', '.join(never[:3])} ({len(never)} of {len(names)} models) got "
                f"none of {counts.n_samples} samples right: are the labels spelled as "
                "those of y_true (case, spaces, type)?"
            )
    return names
