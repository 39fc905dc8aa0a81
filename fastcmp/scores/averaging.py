"""Averages of measures over classes, labels or samples."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from fastcmp.inputs.class_scores import ClassScores

    Flags = NDArray[np.bool_]
    Floats = NDArray[np.float64]

AVERAGES = ("macro", "weighted", "micro", "samples", None)


def class_weights(read: ClassScores) -> Floats:
    """Add up the weights of the samples of each class."""
    ones = np.ones(len(read.positive)) if read.weights is None else read.weights
    sums = np.asarray(ones @ read.positive, np.float64)
    if not sums.all():
        empty = [label for label, n in zip(read.names, sums, strict=True) if not n]
        raise ValueError(f"y_true holds no sample of {empty[:10]}")
    return sums


def average_classes(
    read: ClassScores,
    measure: Callable[[Flags, NDArray[Any], Floats | None], float],
    average: str | None,
) -> float | Floats:
    """Average a measure of two classes over classes, labels or samples."""
    weights = read.weights
    if average == "micro":
        each = None if weights is None else np.repeat(weights, len(read.names))
        return measure(read.positive.ravel(), read.scores.ravel(), each)
    if average == "samples":
        rows = zip(read.positive, read.scores, strict=True)
        found = np.array([_of_sample(measure, i, *row) for i, row in enumerate(rows)])
        return float(np.average(found, weights=weights))
    sums = class_weights(read)
    columns = zip(read.positive.T, np.ascontiguousarray(read.scores.T), strict=True)
    found = np.array([measure(flags, column, weights) for flags, column in columns])
    if average is None:
        return found
    return float(np.average(found, weights=sums if average == "weighted" else None))


def _of_sample(
    measure: Callable[..., float], sample: int, flags: Flags, scores: NDArray[Any]
) -> float:
    try:
        return measure(flags, scores, None)
    except ValueError as error:
        message = f"average='samples' has nothing to measure for sample {sample}: "
        raise ValueError(message + str(error)) from None
