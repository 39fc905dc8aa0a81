"""What several raters say of the same items: labels as codes in the order of labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp.inputs.columns import Column, read_column
from fastcmp.inputs.label_checks import examples
from fastcmp.inputs.label_values import ascending
from fastcmp.inputs.model_names import check_indexes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

_MOST_LABELS = 4096  # as tests of symmetry take: a table of 130 MB


@dataclass(frozen=True, slots=True, kw_only=True)
class Ratings:
    """Codes of M raters' labels, shape (M, n), and the label of each code."""

    codes: NDArray[np.int64]
    labels: tuple[Any, ...]
    #: Items that were left out, because some rater gave a label that was not chosen.
    n_excluded: int


def read_ratings(raters: Sequence[tuple[str, Any]], labels: Sequence[Any] | None) -> Ratings:
    """Read named columns; `labels` chooses labels and their order."""
    columns = [read_column(raw, name) for name, raw in raters]
    _check_columns(columns)
    check_indexes(list(raters))
    columns = [column.factorized() for column in columns]
    kinds = {column.name: column.kind() for column in columns}
    chosen: tuple[Any, ...]
    if labels is None:
        chosen = ascending(dict.fromkeys(x for own in map(_used, columns) for x in own))
    else:
        kinds["labels"], chosen = read_label_order(labels)
    _check_kinds(kinds)
    if len(chosen) > _MOST_LABELS:
        raise ValueError(
            f"{columns[0].name} and the others hold {len(chosen)} different labels, "
            f"and at most {_MOST_LABELS} are counted: if these are scores, cut them "
            "first; or choose with labels="
        )
    place = {label: i for i, label in enumerate(chosen)}
    codes = np.stack(
        [
            np.array([place.get(x, -1) for x in column.distinct], np.int64)[column.positions()]
            for column in columns
        ]
    )
    inside = (codes >= 0).all(axis=0)
    n_excluded = int(inside.size - np.count_nonzero(inside))
    if n_excluded == inside.size:
        raise ValueError(
            f"labels hold none that {columns[0].name} and the others gave to the same "
            f"item: {columns[0].name} holds {examples(columns[0])}"
        )
    return Ratings(codes=codes[:, inside], labels=chosen, n_excluded=n_excluded)


def read_label_order(labels: Any) -> tuple[str, tuple[Any, ...]]:
    """Read different labels in an order; gives their kind too."""
    if isinstance(labels, (str, bytes)) or not hasattr(labels, "__iter__"):
        raise TypeError(f"labels must be a sequence of labels, got {labels!r}")
    column = read_column(list(labels), "labels")
    kind = column.kind()
    if column.missing() is not None:
        raise ValueError("labels must not hold a missing one")
    column = column.factorized()
    listed = tuple(column.distinct[code] for code in column.positions().tolist())
    if len(set(listed)) < len(listed):
        raise ValueError(f"labels must differ, got {list(listed)[:10]}")
    if len(listed) < 2:
        raise ValueError(f"labels must hold at least 2 labels, got {list(listed)}")
    return kind, listed


def _used(column: Column) -> list[Any]:
    """List the labels that occur; a category may not."""
    return [column.distinct[code] for code in np.unique(column.positions()).tolist()]


def _check_columns(columns: list[Column]) -> None:
    """Refuse columns of different lengths, none, and missing labels."""
    first = columns[0]
    for column in columns[1:]:
        if len(column) != len(first):
            raise ValueError(
                f"{column.name} has {len(column)} labels, {first.name} has {len(first)}"
            )
    if not len(first):
        raise ValueError(f"{first.name} must hold at least one label, got none")
    for column in columns:
        if (absent := column.missing()) is not None:
            raise ValueError(
                f"{column.name} has no label at row {int(np.flatnonzero(absent)[0])} "
                f"({np.count_nonzero(absent)} missing in all): leave out items that "
                "not all raters rated"
            )


def _check_kinds(kinds: dict[str, str]) -> None:
    """Refuse columns whose labels can never be equal."""
    (first, wanted), *others = kinds.items()
    for name, kind in others:
        if kind != wanted:
            raise TypeError(
                f"{name} holds {kind} labels and {first} {wanted} labels, which can "
                "never be equal: convert one of them"
            )
