"""The two labels of a stream: found block by block, in an order of their own."""

from __future__ import annotations

from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp.two_classes import positive_label

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from fastcmp.columns import Column

_HEAD = 1 << 12  # labels that tell the two classes as a rule
_FEW = 1 << 14  # labels that are looked at one and all


def split_labels(
    truth: Column, *, at_all: bool = False
) -> tuple[tuple[Any, ...], NDArray[Any], NDArray[Any]]:
    """Tell the two labels of a block, of a long one by its first samples.

    Parameters
    ----------
    truth : Column
        True labels, none missing, at least one.
    at_all : bool
        Whether to look at all of a long column; other labels are an error then.

    Returns
    -------
    tuple of tuple, ndarray and ndarray
        The labels found, ascending; what kernels compare, uint8 or int64, shape (n,);
        and the two that stand for the labels, or twice the only one.

    Raises
    ------
    ValueError
        If there are more than two.
    TypeError
        If they are of different kinds.
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
    some = plain if at_all or not direct or plain.size <= _FEW else plain[:_HEAD]
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


def join_labels(mine: Iterable[Any], theirs: Iterable[Any]) -> tuple[Any, ...]:
    """Put the labels of two parts of a stream together.

    Parameters
    ----------
    mine, theirs : iterable
        Up to two labels each, or more than two to be refused.

    Returns
    -------
    tuple
        Up to two labels, ascending. Of equal ones of different types, such as True and
        1, the number is kept, whoever had it.

    Raises
    ------
    ValueError
        If there are more than two.
    TypeError
        If they are of different kinds.
    """
    joined: dict[Any, Any] = {}
    for label in [*mine, *theirs]:
        held = joined.get(label, label)
        joined[label] = max(held, label, key=_rank)
    labels = list(joined.values())
    if len(labels) > 2:
        positive_label(labels, None)
    if len(labels) == 2 and _kind(labels[0]) != _kind(labels[1]):
        message = (
            f"y_true mixes {_kind(labels[0])} and {_kind(labels[1])} labels, which "
            "cannot be compared"
        )
        raise TypeError(message)
    return tuple(sorted(labels))


def _rank(label: Any) -> int:
    kinds: tuple[Any, ...] = ((bool, np.bool_), int, float)
    return next((i for i, k in enumerate(kinds) if isinstance(label, k)), len(kinds))


def _kind(label: Any) -> str:
    number = isinstance(label, (Real, np.bool_))
    return "number" if number else type(label).__name__
