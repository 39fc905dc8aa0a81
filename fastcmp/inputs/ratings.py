"""What several raters say of the same items: labels as codes in the order of labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastcmp.core.checks import as_numbers, check_size
from fastcmp.core.errors import BadTypeError, BadValueError
from fastcmp.core.render import visible
from fastcmp.core.typing import Flags, Ints, Label
from fastcmp.inputs.binary_labels import split_classes
from fastcmp.inputs.columns import Column, ascending, check_kinds, read_column
from fastcmp.inputs.model_names import check_indexes, has_names, named_columns
from fastcmp.inputs.scores import class_columns, known_classes, refuse_unknown

_MOST_LABELS = 4096  # as tests of symmetry take: a table of 130 MB


@dataclass(frozen=True, slots=True, kw_only=True)
class Ratings:
    """Codes of M raters' labels, shape (M, n), and the label of each code."""

    codes: Ints
    labels: tuple[Any, ...]
    #: Items that were left out, because some rater gave a label that was not chosen.
    n_excluded: int


def read_ratings(raters: Sequence[tuple[str, Any]], labels: Sequence[Any] | None) -> Ratings:
    """Read named columns; `labels` chooses labels and their order."""
    columns = [read_column(raw, name) for name, raw in raters]
    first = columns[0]
    for column in columns[1:]:
        if len(column) != len(first):
            raise BadValueError(
                f"`{column.name}` has {len(column)} labels, {first.name} has {len(first)}"
            )
    check_size(len(first), f"{first.name}", "label", 1)
    for column in columns:
        column.refuse_missing(
            "`{name}` has no label at row {row} ({n} missing in all): leave out items that "
            "not all raters rated"
        )
    check_indexes(list(raters))
    columns = [column.trimmed() for column in columns]
    check_kinds(columns)
    if labels is None:
        distinct = ascending(dict.fromkeys(x for column in columns for x in column.distinct))
    else:
        order = read_label_order(labels)
        check_kinds([columns[0], order])
        distinct = order.distinct
    if len(distinct) > _MOST_LABELS:
        raise BadValueError(
            f"`{first.name}` and the others hold {len(distinct)} different labels, and at most "
            f"{_MOST_LABELS} are counted: if these are scores, cut them first; or choose with "
            "`labels=`"
        )
    codes = np.stack([column.places(distinct) for column in columns])
    inside = (codes >= 0).all(axis=0)
    n_excluded = int(inside.size - np.count_nonzero(inside))
    if n_excluded == inside.size:
        raise BadValueError(
            f"`labels` hold none that {first.name} and the others gave to the same item: "
            f"{first.name} holds {first.examples()}"
        )
    codes = codes[:, inside] if n_excluded else codes
    return Ratings(codes=codes, labels=distinct, n_excluded=n_excluded)


def read_label_order(labels: object) -> Column:
    """Different labels in an order: the distinct ones of a column."""
    if isinstance(labels, (str, bytes)) or not hasattr(labels, "__iter__"):
        raise BadTypeError("`labels` must be a sequence of labels", repr(labels))
    column = read_column(list(labels), "labels")
    column.kind()
    if column.missing() is not None:
        raise BadValueError("`labels` must not hold a missing one")
    column = column.factorized()
    listed = tuple(column.distinct[code] for code in column.positions().tolist())
    if len(set(listed)) < len(listed):
        raise BadValueError("`labels` must differ", list(listed)[:10])
    if len(listed) < 2:
        raise BadValueError("`labels` must hold at least 2 labels", list(listed))
    return Column(name="labels", codes=np.arange(len(listed)), distinct=listed)


# Probabilities that models gave to classes of the same items, read and checked.


@dataclass(frozen=True, slots=True, kw_only=True)
class Probabilities:
    """Probabilities of models: of the positive class, or of each of K classes."""

    #: One array a model, float32 or float64, shape (n,) or (n, K).
    tables: tuple[NDArray[Any], ...]
    names: tuple[str, ...]
    #: True where the user gave one model without a name.
    single: bool
    #: Whether the losses are asked for by name.
    named: bool


def read_probabilities(y_true: object, probabilities: Any) -> Probabilities:
    """Probabilities of each model, and whether there is only one."""
    truth = read_column(y_true, "y_true")
    n, named = len(truth), has_names(probabilities)
    single = False
    if named:
        pairs = named_columns(probabilities, "probabilities")
        check_indexes([("y_true", y_true), *pairs])
        tables = [as_numbers(x, f"probabilities[{name!r}]", "probabilities") for name, x in pairs]
        names = [name for name, _ in pairs]
        labels = {str(label) for label in truth.factorized().distinct}
        if labels == set(names) and not isinstance(probabilities, Mapping):
            raise BadValueError(
                "`probabilities` has the classes as columns: columns of a frame are models",
                remedy="; pass to_numpy() for one model with a column a class",
            )
    else:
        check_indexes([("y_true", y_true), ("probabilities", probabilities)])
        whole = as_numbers(probabilities, "probabilities", "probabilities")
        single = whole.ndim == 1 or (whole.ndim == 2 and len(whole) == n)
        tables = [whole] if single else list(whole) if whole.ndim in (2, 3) else []
        names = ["probabilities"] if single else [f"model_{i}" for i in range(len(tables))]
    shapes = [table.shape for table in tables]
    if not tables or any(len(x) not in (1, 2) or x[0] != n for x in shapes):
        got = shapes[:3] if named or single else np.shape(probabilities)
        raise BadValueError(
            f"`probabilities` must be of shape (n,) or (n, K) with n = {n}, as many as "
            "`y_true` has labels, or (M, n) or (M, n, K) for M models",
            got,
        )
    floats = tuple(
        x.astype(np.float32 if x.dtype.newbyteorder("=") == np.float32 else np.float64)
        for x in tables
    )
    return Probabilities(tables=floats, names=tuple(names), single=single, named=named)


def read_true_labels(y_true: object) -> Column:
    """Read the true labels, of which none may be missing."""
    column = read_column(y_true, "y_true")
    check_size(len(column), "y_true", "label", 1)
    column.refuse_missing(
        "`{name}` is missing for {n} of {size} items, the first of them {rows}",
        remedy=": leave these items out",
    )
    column.kind()  # labels of different types are refused
    return column


def mark_positives(column: Column, positive: Label, classes: object) -> Flags:
    """Which items are of the positive class."""
    if classes is not None:
        labels = known_classes(column, classes)
        if len(labels) != 2:
            raise BadValueError(
                "`classes` must be two where probabilities are of the positive class", labels[:10]
            )
        refuse_unknown(column, labels)
        if positive is None:
            positive = labels[1]
        elif positive not in labels:
            raise BadValueError(f"`positive={positive!r}` is not among the classes {labels}")
    return split_classes(column, positive)[0]


def true_columns(
    column: Column, table: NDArray[Any], classes: object, positive: Label, name: str
) -> NDArray[Any]:
    """The column of each item's true label."""
    if positive is not None:
        raise BadValueError(
            "`positive` belongs to probabilities of shape (n,): with a column a class pass "
            "`classes=`",
            f"`positive={positive!r}`",
        )
    return column.places(class_columns(column, classes, table.shape[1], visible(name)))


def check_range(table: NDArray[Any], name: str) -> None:
    """Refuse probabilities that are missing or outside [0, 1]."""
    inside = (table >= 0) & (table <= 1)
    if not inside.all():
        item = np.argwhere(~inside)[0][0]
        worst = table[~inside][0]
        what = "is missing" if np.isnan(worst) else f"is {worst:g}"
        raise BadValueError(
            f"`probabilities` must lie in [0, 1]: one of {visible(name)} {what} for item "
            f"{item} ({np.count_nonzero(~inside)} such in all)"
        )


def check_sums(table: NDArray[Any], name: str) -> None:
    """Refuse probabilities that do not add up to 1, with scikit-learn's tolerance."""
    sums = table.sum(axis=1)
    off = np.abs(sums - 1) > np.sqrt(np.finfo(table.dtype).eps)
    if off.any():
        item = int(np.argmax(off))
        raise BadValueError(
            f"`probabilities` of an item must add up to 1: those of {visible(name)} for item "
            f"{item} add up to {sums[item]:.6g} (so for {np.count_nonzero(off)} items)"
        )
