"""The two labels of a stream of scores, which are found block by block."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastcmp.inputs.binary_labels import positive_label
from fastcmp.inputs.columns import Column
from fastcmp.inputs.label_values import ascending, distinct, kind_of

_HEAD = 1 << 12  # labels among which both classes are found as a rule
#: Up to so many labels all are looked at.
FEW = 1 << 14


def split_labels(
    truth: Column, *, at_all: bool = False
) -> tuple[tuple[Any, ...], NDArray[Any], NDArray[Any]]:
    """Find the labels of a block, ascending; of a long one by its first samples.

    Gives also what kernels compare (uint8 or int64, shape (n,)), and the two numbers
    that stand for the labels, or twice the only one. With `at_all`, all labels are
    looked at, and a third one is an error.
    """
    values = truth.integers
    if values is None:
        truth.kind()  # refuses labels of several
        used, codes = np.unique(truth.positions(), return_inverse=True)
        found = [truth.distinct[code] for code in used]
        two = join_labels((), found)
        pair = np.arange(2, dtype=np.uint8) if len(two) == 2 else np.zeros(2, np.uint8)
        flags = codes.astype(np.uint8)
        return two, flags if list(two) == found else 1 - flags, pair
    plain = values.view(np.uint8) if values.dtype == np.bool_ else values
    direct = plain.dtype in (np.uint8, np.int64) and plain.dtype.isnative
    some = plain if at_all or not direct or plain.size <= FEW else plain[:_HEAD]
    low, high = some.min(), some.max()
    if low == high and some is not plain:
        return split_labels(truth, at_all=True)
    if some is plain and low != high:
        n = np.count_nonzero(plain == low) + np.count_nonzero(plain == high)
        if n != plain.size:
            join_labels((), np.unique(plain).tolist())
    found = [low.item(), high.item()][: 1 + int(low != high)]
    if values.dtype == np.bool_:
        found = list(map(bool, found))
    if direct:
        return tuple(found), np.ascontiguousarray(plain), np.array([low, high])
    pair = np.array([int(low == high), 1], np.uint8)
    return tuple(found), (plain == high).view(np.uint8), pair


def flags_of(truth: Column, label: Any) -> NDArray[np.bool_]:
    """Mark the samples of a block that have a label, one of the two."""
    if not len(truth):
        return np.zeros(0, np.bool_)
    found, labels, pair = split_labels(truth, at_all=True)
    if label not in found:
        return np.zeros(labels.size, np.bool_)
    return np.asarray(labels == pair[found.index(label)])


def join_labels(mine: Iterable[Any], theirs: Iterable[Any]) -> tuple[Any, ...]:
    """Put the labels of two parts of a stream together: two at most, ascending."""
    labels = distinct([*mine, *theirs])
    if len(labels) > 2:
        positive_label(labels, None)
    kinds = list(map(kind_of, labels))
    if len(set(kinds)) > 1:
        raise TypeError(f"y_true mixes {kinds[0]} and {kinds[1]} labels, which cannot be compared")
    return ascending(labels)
