"""Two classes, of which one is positive: true labels, and labels predicted for them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastcmp.core.checks import check_size
from fastcmp.core.errors import BadTypeError, BadValueError
from fastcmp.core.typing import ColumnLike, Flags, Label
from fastcmp.inputs.columns import (
    Column,
    ascending,
    check_kinds,
    distinct,
    kind_of,
    read_column,
    read_known,
)
from fastcmp.inputs.model_names import check_indexes

_USUAL = ([0, 1], [-1, 1])  # labels of two classes
_HEAD = 1 << 12  # labels among which both classes are found as a rule
#: Up to this number of labels, all are read.
FEW = 1 << 14


@dataclass(frozen=True, slots=True, kw_only=True)
class Truth:
    """Which samples are positive, and what predictions are compared with."""

    positive: Flags
    labels: tuple[Any, Any]
    #: Which of all samples have a true label.
    kept: Flags
    #: The labels that were kept.
    column: Column
    #: The true labels as they came; predictions must have their pandas index.
    y_true: ColumnLike | None = None

    @property
    def n_missing(self) -> int:
        """Number of samples without a true label."""
        return int(np.count_nonzero(~self.kept))


def read_truth(y_true: Any, positive: Label = None) -> Truth:
    """Read true labels of two classes; samples with a missing one are dropped."""
    column, kept = read_known(y_true, "y_true")
    flags, labels = split_classes(column, positive)
    if kept is None:
        kept = np.ones(len(column), np.bool_)
    return Truth(positive=flags, labels=labels, kept=kept, column=column, y_true=y_true)


def split_classes(truth: Column, positive: Label) -> tuple[Flags, tuple[Any, Any]]:
    """Which samples are positive; and both labels, None for an unknown one."""
    check_size(len(truth), f"{truth.name}", "sample", 1)
    labels, codes, pair = split_labels(truth, at_all=True)
    label, other = positive_label(list(labels), positive, truth.name)
    if label not in labels:
        return np.zeros(codes.size, np.bool_), (label, other)
    return np.asarray(codes == pair[labels.index(label)]), (label, other)


def split_labels(
    truth: Column, *, at_all: bool = False
) -> tuple[tuple[Any, ...], NDArray[Any], NDArray[Any]]:
    """Labels of a block, ascending; of a long one by its first samples.

    Gives also what kernels compare (uint8 or int64, shape (n,)), and the two numbers
    that stand for the labels, or twice the only one. With `at_all`, all labels are
    looked at, and a third one is an error.
    """
    values = truth.integers
    if values is None:
        truth.kind()  # refuses labels of several
        truth = truth.trimmed()
        two = join_labels((), truth.distinct, truth.name)
        pair = np.arange(2, dtype=np.uint8) if len(two) == 2 else np.zeros(2, np.uint8)
        flags = truth.positions().astype(np.uint8)
        return two, flags if two == truth.distinct else 1 - flags, pair
    plain = values.view(np.uint8) if values.dtype == np.bool_ else values
    direct = plain.dtype in (np.uint8, np.int64) and plain.dtype.isnative
    head = plain if at_all or not direct or plain.size <= FEW else plain[:_HEAD]
    low, high = head.min(), head.max()
    if low == high and head is not plain:
        return split_labels(truth, at_all=True)
    if head is plain and int(high) - int(low) > 1:  # no whole number lies between two
        n = np.count_nonzero(plain == low) + np.count_nonzero(plain == high)
        if n != plain.size:
            join_labels((), np.unique(plain).tolist(), truth.name)
    labels = [low.item(), high.item()][: 1 + int(low != high)]
    if values.dtype == np.bool_:
        labels = list(map(bool, labels))
    if direct:
        return tuple(labels), np.ascontiguousarray(plain), np.array([low, high])
    pair = np.array([int(low == high), 1], np.uint8)
    return tuple(labels), (plain == high).view(np.uint8), pair


def flags_of(truth: Column, label: object) -> Flags:
    """Which samples of a block have a label, one of the two."""
    if not len(truth):
        return np.zeros(0, np.bool_)
    distinct_labels, labels, pair = split_labels(truth, at_all=True)
    if label not in distinct_labels:
        return np.zeros(labels.size, np.bool_)
    return np.asarray(labels == pair[distinct_labels.index(label)])


def join_labels(
    labels_before: Iterable[Any], others: Iterable[Any], truth: str = "y_true"
) -> tuple[Any, ...]:
    """Labels of two parts of the samples together: two at most, ascending."""
    labels = distinct([*labels_before, *others])
    if len(labels) > 2:
        positive_label(labels, None, truth)
    kinds = list(map(kind_of, labels))
    if len(set(kinds)) > 1:
        raise BadTypeError(
            f"`{truth}` mixes {kinds[0]} and {kinds[1]} labels, which cannot be compared"
        )
    return ascending(labels)


def positive_label(
    labels: list[Any], positive: Label, truth: str = "y_true", how: str = "`positive=`"
) -> tuple[Any, Any]:
    """The positive label of one or two, and the other; None if unknown."""
    if len(labels) > 2:
        raise BadValueError(
            f"`{truth}` must hold two classes",
            f"{len(labels)}: {list(ascending(labels)[:10])}",
            f"``; one class against the others is {truth} == that class``",
        )
    if positive is not None:
        if positive not in labels and len(labels) == 2:
            raise BadValueError(f"`positive` must be among the labels {labels}", repr(positive))
        others = [label for label in labels if label != positive]
        return positive, others[0] if others else None
    if not all(isinstance(label, (Real, np.bool_)) for label in labels):
        raise BadValueError(
            f"name the positive class of the labels {labels}: pass {how}", argument="positive"
        )
    if len(labels) == 1:
        # One class only: 1 is the positive one, 0 and -1 the negative one.
        label = labels[0]
        if label in (1, True):
            return label, None
        return (None, label) if label in (0, -1) else (label, None)
    return max(labels), min(labels)


def holds_booleans(raw: object, column: Column) -> bool:
    """Whether any label is a boolean."""
    if isinstance(raw, (list, tuple)):  # read as integers
        return not {bool, np.bool_}.isdisjoint(map(type, raw))
    if column.integers is not None:
        return column.integers.dtype == np.bool_
    return any(isinstance(label, (bool, np.bool_)) for label in column.distinct)


def read_labels(raw: object, name: str, truth: Truth) -> Flags:
    """Which predictions of the kept samples are the positive label."""
    column = read_column(raw, name)
    if len(column) != truth.kept.size:
        raise BadValueError(f"`{name}` has {len(column)} labels, y_true has {truth.kept.size}")
    check_indexes([("y_true", truth.y_true), (name, raw)])
    column = column.take(truth.kept)
    column.refuse_missing(
        "`{name}` has no prediction at row {row} ({n} missing in all)", truth.kept
    )
    check_kinds([truth.column, column])
    true_labels = [label for label in truth.labels if label is not None]
    if holds_booleans(raw, column) and not {0, 1}.issuperset(true_labels):
        raise BadValueError(
            f"`{name}` holds booleans and `y_true` the labels {true_labels}: convert one"
        )
    column = column.trimmed()
    predicted = column.distinct
    strangers = [label for label in predicted if label not in true_labels]
    # Where y_true holds one class only, a prediction may be the first of the other.
    if len(true_labels) + len(strangers) > 2:
        remedy = ""
        if isinstance(strangers[0], Real):
            remedy = (
                "; if these are scores, pass them as `scores=` to classification_table, "
                "or cut them first (score >= cutoff)"
            )
        raise BadValueError(
            f"`{name}` must hold labels of `y_true`, {true_labels}",
            f"{strangers[0]!r} ({len(strangers)} other labels in all)",
            remedy,
        )
    yes = truth.labels[0]
    if yes is None:
        yes = strangers[0] if strangers else None
    code = predicted.index(yes) if yes in predicted else -1
    return np.asarray(column.positions() == code)


def as_doubles(array: NDArray[Any]) -> NDArray[Any]:
    """Round scores that do not fit to float64, in which cutoffs are given."""
    wide = array.dtype.kind in "iuf" and array.dtype.itemsize >= 8
    return array.astype(np.float64, copy=False) if wide else array


def find_numbers(raw: object, name: str) -> tuple[NDArray[Any] | None, bool]:
    """Read a column of numbers, or None for labels, and whether its type is integer."""
    if np.ma.is_masked(raw):
        return None, False
    try:
        array = np.asarray(raw)
    except ValueError:  # ragged
        return None, False
    if array.dtype.kind in "iufV":
        return array, array.dtype.kind in "iu"
    if array.dtype.kind == "O" and array.ndim == 1:
        column = read_column(raw, name)
        if column.missing() is None and not holds_booleans(raw, column):
            column = column.factorized()
            if column.kind() == "number":
                numbers = np.array(column.distinct, np.float64)
                whole = all(isinstance(label, Integral) for label in column.distinct)
                return numbers[column.positions()], whole
    return None, False


def are_labels(column: NDArray[Any], labels: tuple[Any, Any]) -> bool:
    """Whether all numbers of a column are labels.

    A ValueError says so if all are whole, and only some of them labels.
    """
    classes = [label for label in labels if label is not None]
    if not all(isinstance(label, (int, float, np.number)) for label in classes):
        return False
    # Where one class is unknown, it follows for 0 or -1 and 1.
    pairs = [pair for pair in _USUAL if None in labels and classes[0] in pair]
    if any(np.isin(column, pair).all() for pair in (classes, *pairs)):
        return True
    is_label = np.isin(column, classes)
    if is_label.any() and np.array_equal(column, np.trunc(column)):
        stray = column[~is_label]
        raise BadValueError(
            f"`score_or_label` holds labels of y_true, {classes}, and {stray[0]:g} "
            f"({stray.size} other numbers in all)",
            remedy=": pass `scores=` if these are scores",
        )
    return False
