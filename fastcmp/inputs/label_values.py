"""Single labels: which can be compared, which are equal, and what order they have."""

from __future__ import annotations

from itertools import pairwise
from numbers import Number
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

_BOOLEANS = (bool, np.bool_)
INTEGRAL_LIMIT = 2.0**53

#: Before NumPy 2.2 equal dates of different units have different hashes.
_HASHED_BY_UNIT = hash(np.datetime64(1, "D")) != hash(np.datetime64(24, "h"))


def kind_of(label: object) -> str:
    """Name the kind of a label, such as "number"; only labels of a kind compare."""
    if isinstance(label, str):
        return "str"
    if isinstance(label, bytes):
        return "bytes"
    if isinstance(label, (Number, np.bool_)):
        return "number"
    return type(label).__name__


def is_missing(label: Any) -> bool:
    """Tell whether a label is None, NaN, NaT or NA."""
    if label is None:
        return True
    unequal = label != label  # noqa: PLR0124  # NaN and NaT differ from themselves
    if isinstance(unequal, (bool, np.bool_)):
        return bool(unequal)
    return type(label).__name__ == "NAType"  # pandas.NA answers every question with NA


def plain_number(x: Any) -> Any:
    """Give the Python number that equals a number of NumPy; other labels stay.

    Whole floats that are exact in 53 bits become int, and so do whole long doubles,
    whose hash is not that of the int that they equal. Long doubles that equal no int
    and no float stay.
    """
    if isinstance(x, np.longdouble):
        if np.isfinite(x) and x == np.trunc(x):
            return int(x)
        with np.errstate(over="ignore"):
            return float(x) if x == np.float64(x) else x
    if isinstance(x, np.number) and not isinstance(x, np.timedelta64):
        x = x.item()
    whole = isinstance(x, float) and abs(x) < INTEGRAL_LIMIT and x == int(x)
    return int(x) if whole else x


def hashable(labels: Iterable[Any]) -> tuple[Any, ...]:
    """Give equal labels equal hashes: dates and times of NumPy one unit, if need be."""
    if _HASHED_BY_UNIT:
        return tuple(map(_in_nanoseconds, labels))
    return tuple(labels)


def _in_nanoseconds(x: Any) -> Any:
    """Give a date or time its unit in nanoseconds, where that is exact."""
    if not isinstance(x, (np.datetime64, np.timedelta64)):
        return x
    unit = np.dtype(f"{x.dtype.kind}8[ns]")
    if not np.can_cast(x.dtype, unit, "same_kind"):  # years and months of no fixed length
        return x
    fine = x.astype(unit)
    return fine if fine.astype(x.dtype) == x and fine == x else x


def distinct(labels: Iterable[Any]) -> list[Any]:
    """Keep one of equal labels, in the order in which they came.

    Of equal ones of different types, such as True and 1, the number is kept, and of
    numbers the plainest type.
    """
    kept: dict[Any, Any] = {}
    for label in labels:
        kept[label] = max(kept.get(label, label), label, key=_rank)
    return list(kept.values())


def _rank(label: Any) -> int:
    kinds: tuple[Any, ...] = (_BOOLEANS, int, float)
    return next((i for i, k in enumerate(kinds) if isinstance(label, k)), len(kinds))


def ascending(labels: Iterable[Any]) -> tuple[Any, ...]:
    """Sort different labels of one kind.

    Labels without an order, such as members of an Enum, are sorted by what `repr`
    writes.
    """
    given = list(labels)
    try:
        found = sorted(given)
        if all(one < two for one, two in pairwise(found)):
            return tuple(found)
    except TypeError:
        pass
    return tuple(sorted(given, key=repr))
