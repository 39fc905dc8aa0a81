"""Classes in the order of their labels, without those that never occur."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp.inputs.labels import code_type

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from fastcmp.inputs.labels import Labels

_MARKS = 1 << 24  # codes up to which those in use are marked, not sorted


def sorted_codes(classes: Sequence[Any], codes: NDArray[np.int64]) -> list[int]:
    """Sort codes by their labels, where these have an order."""
    listed: list[int] = codes.tolist()
    try:
        return sorted(listed, key=classes.__getitem__)
    except TypeError:
        return listed


def in_order(labels: Labels) -> Labels:
    """Leave out classes that never occur, and sort the others."""
    columns = (labels.y_true, *labels.preds)
    names: Sequence[Any] = labels.classes
    if len(names) > _MARKS:
        seen, codes = np.unique(np.stack(columns), return_inverse=True)
        columns = tuple(codes.reshape(len(columns), -1))
        names = [names[code] for code in seen.tolist()]
    marks = np.zeros(len(names) + 1, bool)
    for column in columns:
        marks[column] = True
    used = sorted_codes(names, np.flatnonzero(marks))
    place = np.zeros(len(names) + 1, code_type(len(used)))
    place[used] = np.arange(len(used))
    y_true, *preds = (place[column] for column in columns)
    return replace(
        labels,
        y_true=y_true,
        preds=tuple(preds),
        n_codes=len(used),
        classes=[names[code] for code in used],
    )
