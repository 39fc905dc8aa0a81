"""Scores that point the other way: areas clearly below one half are warned of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp.core.checks import warn

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fastcmp.inputs.scores import Scores

_CLEARLY = 3.5  # standard errors below one half
_NEARLY_ALL = 0.9  # of the models


def effective_sizes(read: Scores, weights: NDArray[np.float64]) -> tuple[float, float]:
    """Give Kish's effective number of positives and of negatives."""
    parts = [weights[read.positive == flag] for flag in (1, 0)]
    parts = [part / part.max() for part in parts]
    one, other = (float(part.sum() ** 2 / (part**2).sum()) for part in parts)
    return one, other


def warn_of_direction(
    areas: NDArray[np.float64], read: Scores, weights: NDArray[np.float64] | None = None
) -> None:
    """Warn the caller of a public function where the scores point the other way."""
    sizes: tuple[float, float] = (read.n_positives, read.n_negatives)
    if weights is not None:
        sizes = effective_sizes(read, weights)
    if sentence := _wrong_direction(areas, *sizes, read.labels):
        warn(sentence)


def direction_sentences(record: Any) -> tuple[str, ...]:
    """Say in a record that the scores point the other way."""
    sizes = record.n_positives, record.n_negatives
    found = _wrong_direction(np.atleast_1d(record.auc), *sizes, record.labels)
    return (found[0].upper() + found[1:] + ".",) if found else ()


def _wrong_direction(
    areas: NDArray[np.float64], n1: float, n0: float, labels: tuple[Any, Any]
) -> str:
    """Give a sentence where nearly all areas are clearly below one half, or none."""
    if not (n1 and n0):
        return ""
    # The standard error of the area where scores say nothing.
    error = np.sqrt((n1 + n0 + 1) / (12 * n1 * n0))
    below = areas < 0.5 - _CLEARLY * error
    if below.mean() < _NEARLY_ALL:
        return ""
    what = f"the area under the ROC curve is {areas[0]:.3g}, clearly below one half"
    if areas.size > 1:
        what = (
            f"the areas of {np.count_nonzero(below)} of {areas.size} models are "
            f"clearly below one half ({areas.min():.3g} to {areas[below].max():.3g})"
        )
    yes, no = labels
    return (
        f"{what}: higher scores must indicate the positive class, here {yes!r}; if lower "
        f"ones do, negate the scores; if higher ones indicate {no!r}, pass positive={no!r}"
    )
