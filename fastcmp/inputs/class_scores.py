"""Scores for each of several classes, or labels, of a sample: read and checked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp.core.checks import as_numbers, check_classes
from fastcmp.inputs.columns import read_column
from fastcmp.inputs.model_names import check_indexes
from fastcmp.inputs.scores import read_weights

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    Flags = NDArray[np.bool_]
    Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassScores:
    """Scores of samples for each of K classes, or of K labels."""

    #: Which classes, or labels, a sample has, shape (n, K).
    positive: Flags
    #: Shape (n, K), without NaN.
    scores: NDArray[Any]
    names: list[Any]
    #: Which of all samples have a true label.
    kept: Flags
    #: Shape (n,); None where samples have none.
    weights: Floats | None
    #: The true labels as they came; other columns must have their pandas index.
    y_true: Any = None


def has_columns(raw: Any) -> bool:
    """Tell whether there is a column for each of several classes."""
    try:
        return np.ndim(raw if hasattr(raw, "ndim") else np.asarray(raw)) == 2
    except ValueError:  # ragged
        return False


def read_class_scores(
    y_true: ArrayLike,
    scores: ArrayLike,
    classes: Sequence[Any] | None,
    sample_weight: ArrayLike | None,
) -> ClassScores:
    """Read labels of several classes, or an indicator matrix, and their scores."""
    table = as_numbers(scores, "scores")
    check_indexes([("y_true", y_true), ("scores", scores)])
    if has_columns(y_true):
        positive, names = _read_indicator(y_true, table, classes)
        kept = np.ones(len(table), np.bool_)
    else:
        positive, names, kept = _read_classes(y_true, table, classes)
        table = table[kept]
    if np.isnan(table).any():
        sample, column = np.argwhere(np.isnan(table))[0]
        row = np.flatnonzero(kept)[sample]
        raise ValueError(f"scores has NaN for sample {row}, column {column}")
    options: dict[str, Any] = {"positive": positive, "scores": table, "names": names}
    options["y_true"] = y_true
    read = ClassScores(kept=kept, weights=None, **options)
    weights = read_weights(sample_weight, read)
    return ClassScores(kept=kept, weights=weights, **options)


def _read_indicator(y_true: Any, table: NDArray[Any], classes: Any) -> tuple[Flags, list[Any]]:
    if classes is not None:
        raise ValueError("classes names labels of y_true of shape (n,): y_true is of (n, K)")
    array = np.asarray(y_true)
    if array.shape != table.shape or not array.size:
        raise ValueError(f"scores must be of the shape of y_true, {array.shape}, got {table.shape}")
    wrong = ~np.isin(array, [0, 1])
    if wrong.any():
        raise ValueError(
            "y_true of shape (n, K) must hold 0 and 1, whether a sample has each label,"
            f" got {array[wrong][0]}"
        )
    return array.astype(np.bool_), list(range(array.shape[1]))


def _read_classes(
    y_true: ArrayLike, table: NDArray[Any], classes: Sequence[Any] | None
) -> tuple[Flags, list[Any], Flags]:
    truth = read_column(y_true, "y_true")
    if table.ndim != 2 or len(table) != len(truth):
        raise ValueError(
            f"scores must be of shape (n, K) with n = {len(truth)} samples, as many as "
            f"y_true has labels, got {table.shape}"
        )
    absent = truth.missing()
    kept = np.ones(len(truth), np.bool_) if absent is None else ~absent
    truth = truth.take(kept).factorized()
    if not len(truth):
        raise ValueError("y_true must hold at least one sample, got none")
    truth.kind()
    found = [truth.distinct[code] for code in np.unique(truth.positions())]
    if classes is not None:
        check_classes(classes)
    names = sorted(found) if classes is None else list(classes)
    if len(set(names)) < len(names):
        raise ValueError(f"classes must differ, got {names[:10]}")
    if len(names) != table.shape[1] or len(names) < 2:
        raise ValueError(
            f"scores has {table.shape[1]} columns for {len(names)} classes "
            f"{names[:10]}: pass classes= with the labels of the columns"
        )
    if unknown := [label for label in found if label not in names]:
        raise ValueError(f"y_true holds {unknown[0]!r}, which is not among the classes")
    place = [names.index(x) if x in names else -1 for x in truth.distinct]
    codes = np.array(place)[truth.positions()]
    return codes[:, None] == np.arange(len(names)), names, kept
