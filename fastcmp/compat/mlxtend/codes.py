"""Labels of several columns as codes that they share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastcmp.inputs.columns import Column, read_column
from fastcmp.inputs.labels import sorted_codes


def shared_codes(columns: Mapping[str, ArrayLike]) -> tuple[list[NDArray[np.intp]], list[Any]]:
    """Encode columns of any lengths: the codes of each, and the classes in order."""
    read = [read_column(raw, name).factorized() for name, raw in columns.items()]
    for column in read:
        _check_column(column, read[0])
    index: dict[Any, int] = {}
    coded = []
    for column in read:
        places = [index.setdefault(label, len(index)) for label in column.distinct]
        coded.append(np.array(places, np.intp)[column.positions()])
    labels = list(index)
    used = sorted_codes(labels, np.unique(np.concatenate(coded)))
    rank = np.zeros(len(labels), np.intp)
    rank[used] = np.arange(len(used))
    return [rank[codes] for codes in coded], [labels[code] for code in used]


def _check_column(column: Column, first: Column) -> None:
    if not len(column):
        raise ValueError(f"{column.name} must hold at least 1 label, got none")
    refuse_missing(column)
    if column.kind() != first.kind():
        raise TypeError(
            f"{column.name} holds {column.kind()} labels and {first.name} "
            f"{first.kind()} labels, which can never be equal: convert one of them"
        )


def refuse_missing(column: Column) -> None:
    """Refuse missing labels, which no option of mlxtend's treats."""
    missing = column.missing()
    if missing is not None:
        raise ValueError(
            f"{column.name} has no label at row {missing.argmax()} "
            f"({np.count_nonzero(missing)} missing in all): drop such samples first"
        ) from None
