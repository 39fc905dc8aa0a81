"""Labels of classes as JSON and back, of the same type and value.

JSON itself knows strings, numbers and booleans. Others become a mapping with one
key that says their type.
"""

from __future__ import annotations

import datetime as dt
import re
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

_PLAIN = (str, int, float, bool, type(None))
_KINDS = "biufMm"  # NumPy's scalars whose bytes say all
_SCALAR = re.compile(rf"[<>|][{_KINDS}][0-9]{{1,2}}(\[[0-9]{{0,9}}[a-zA-Z]{{1,2}}\])?")


def to_json(value: Any) -> Any:
    """Turn settings into what JSON can hold.

    Parameters
    ----------
    value : object
        A label, or lists, tuples and mappings of them.

    Returns
    -------
    object
        Mappings, lists, strings, numbers, booleans and None.

    Raises
    ------
    TypeError
        If a label is of another type.
    """
    if isinstance(value, dict):
        return {str(key): to_json(part) for key, part in value.items()}
    if isinstance(value, list):
        return [to_json(part) for part in value]
    if type(value) in _PLAIN:
        return value
    kind = type(value)
    if isinstance(value, np.generic) and value.dtype.kind in _KINDS:
        kind = np.generic
    for mark, (marked, write, _) in _MARKS.items():
        if kind is marked:
            return {mark: write(value)}
    message = (
        f"classes of type {type(value).__name__} are not saved to a file ({value!r}): "
        "use strings, numbers, booleans, bytes or dates, or pickle it"
    )
    raise TypeError(message)


def from_json(value: Any) -> Any:
    """Undo `to_json`.

    Parameters
    ----------
    value : object
        What JSON held.

    Returns
    -------
    object
        The settings.
    """
    if isinstance(value, list):
        return [from_json(part) for part in value]
    if not isinstance(value, dict):
        return value
    if len(value) == 1:
        ((mark, held),) = value.items()
        if mark in _MARKS:
            return _MARKS[mark][2](held)
    return {key: from_json(part) for key, part in value.items()}


def _tuple(held: list[Any]) -> tuple[Any, ...]:
    if not isinstance(held, list):
        message = f"a tuple must be held by a list, got {type(held).__name__}"
        raise TypeError(message)
    return tuple(map(from_json, held))


def _bits(scalar: np.generic) -> list[str]:
    return [scalar.dtype.str, scalar.tobytes().hex()]


def _scalar(held: list[str]) -> Any:
    kind, data = held
    if not _SCALAR.fullmatch(kind):
        message = f"{kind!r} is no type of a label"
        raise ValueError(message)
    (scalar,) = np.frombuffer(bytes.fromhex(data), np.dtype(kind))
    return scalar


#: What marks a type: the type, and the ways to write and to read it.
_MARKS: dict[str, tuple[Any, Callable[[Any], Any], Callable[[Any], Any]]] = {
    "$tuple": (tuple, lambda t: to_json(list(t)), _tuple),
    "$bytes": (bytes, bytes.hex, bytes.fromhex),
    "$datetime": (dt.datetime, dt.datetime.isoformat, dt.datetime.fromisoformat),
    "$date": (dt.date, dt.date.isoformat, dt.date.fromisoformat),
    "$numpy": (np.generic, _bits, _scalar),
    # Their bytes, and what `str` makes of them, lose a zero at the end.
    "$numpy.str": (np.str_, "".join, lambda held: np.str_("".join(held))),
    "$numpy.bytes": (np.bytes_, bytes.hex, lambda held: np.bytes_(bytes.fromhex(held))),
}
