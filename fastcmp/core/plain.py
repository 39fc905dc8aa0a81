"""Values as JSON and back, of the same type and to the bit.

JSON itself knows strings, booleans, finite numbers, lists and mappings with names.
Any other value becomes a mapping with one key, which begins with "$" and says its type.
Reading makes values of these types only, and records of fastcmp: no code is run.
"""

from __future__ import annotations

import base64
import datetime as dt
import inspect
import math
import re
from decimal import Decimal
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

_PLAIN = (str, int, bool, type(None))
#: Where the classes of records are public.
_HOMES = (
    *("fastcmp", "fastcmp.planning", "fastcmp.sequential"),
    *("fastcmp.datasets", "fastcmp.studies"),
)
_KINDS = "biufMm"  # NumPy's scalars whose bytes say all
_TYPE = re.compile(r"[<>|]([biufMm][0-9]{1,2}(\[[0-9]{0,9}[a-zA-Z]{1,2}\])?|[US][0-9]{1,9})")


def to_plain(value: Any) -> Any:
    """Turn a value into what JSON can hold, exactly, or raise a TypeError."""
    kind = type(value)
    if kind in _PLAIN or (kind is float and math.isfinite(value)):
        return value
    if kind is list:
        return [to_plain(part) for part in value]
    if kind is dict:
        if all(type(key) is str and not key.startswith("$") for key in value):
            return {key: to_plain(part) for key, part in value.items()}
        return {"$dict": [[to_plain(k), to_plain(x)] for k, x in value.items()]}
    if isinstance(value, Path):
        kind = Path
    elif isinstance(value, np.ndarray) and not isinstance(value, np.ma.MaskedArray):
        kind = np.ndarray
    if isinstance(value, np.generic) and value.dtype.kind in _KINDS:
        kind = np.generic
    for mark, (marked, write, _) in _MARKS.items():
        if kind is marked:
            return {mark: write(value)}
    if kind is _record_class(kind.__name__):
        named = {name: to_plain(x) for name, x in _fields_of(value).items()}
        return {"$record": [kind.__name__, named]}
    raise TypeError(
        f"values of type {kind.__name__} are not saved ({value!r}): use strings, "
        "numbers, booleans, bytes or dates for labels, or pickle it"
    )


def from_plain(value: Any) -> Any:
    """Undo `to_plain`, or raise a ValueError or TypeError."""
    if isinstance(value, list):
        return [from_plain(part) for part in value]
    if not isinstance(value, dict):
        return value
    marks = [key for key in value if key.startswith("$")]
    if not marks:
        return {key: from_plain(part) for key, part in value.items()}
    if len(value) > 1 or marks[0] not in _MARKS:
        raise ValueError(f"{marks[0]} is no type of a value that this fastcmp knows")
    return _MARKS[marks[0]][2](value[marks[0]])


def make_record(name: Any, plain: dict[str, Any]) -> Any:
    """Make a record, or a named tuple, from the name of its class and its fields."""
    kind = _record_class(name)
    if kind is None:
        raise ValueError(f"record must be a class of results of fastcmp, got {name!r}")
    values = {key: from_plain(value) for key, value in plain.items()}
    given = inspect.signature(kind).parameters
    needed = {key for key, x in given.items() if x.default is x.empty}
    if not needed <= set(values) <= set(given):
        raise ValueError(
            f"fields of a {name} must be {sorted(given)}, got {sorted(values)}: pass "
            "what to_dict() gave"
        )
    return kind(**values)


def _record_class(name: Any) -> type[Any] | None:
    """Find the public class of a record, or named tuple, by its name."""
    for home in map(import_module, _HOMES):
        known = isinstance(name, str) and name in getattr(home, "__all__", ())
        found = getattr(home, name) if known else None
        if isinstance(found, type) and hasattr(found, "_fields"):
            return found
    return None


def readable(value: Any) -> Any:
    """Turn a value into what JSON can hold, for reading: what is not finite is None."""
    if isinstance(value, (np.ndarray, np.generic)):
        value = value.tolist()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, _PLAIN):
        return value
    if hasattr(value, "_fields"):
        return {name: readable(x) for name, x in _fields_of(value).items()}
    if isinstance(value, dict):
        return {str(key): readable(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [readable(part) for part in value]
    return str(value)


def _fields_of(value: Any) -> dict[str, Any]:
    """Give the fields of a record or of a named tuple, by name."""
    held = value._fields
    return held() if callable(held) else {name: getattr(value, name) for name in held}


def _tuple(held: list[Any]) -> tuple[Any, ...]:
    if not isinstance(held, list):
        raise TypeError(f"a tuple must be held by a list, got {type(held).__name__}")
    return tuple(map(from_plain, held))


def _bits(scalar: np.generic) -> list[str]:
    return [scalar.dtype.str, scalar.tobytes().hex()]


def _scalar(held: list[str]) -> Any:
    kind, data = held
    (scalar,) = np.frombuffer(bytes.fromhex(data), _dtype(kind))
    return scalar


def _array_bits(array: np.ndarray[Any, Any]) -> list[Any]:
    if array.dtype.kind == "O":
        return ["O", list(array.shape), [to_plain(x) for x in array.ravel().tolist()]]
    if array.dtype.kind not in _KINDS + "US":
        raise TypeError(f"arrays of type {array.dtype} are not saved")
    little = array.astype(array.dtype.newbyteorder("<"))
    data = base64.b64encode(little.tobytes()).decode("ascii")
    return [little.dtype.str, list(array.shape), data]


def _array(held: list[Any]) -> np.ndarray[Any, Any]:
    kind, shape, data = held
    if kind == "O":
        entries = map(from_plain, data)
        return np.fromiter(entries, object, len(data)).reshape(shape)
    raw = bytearray(base64.b64decode(data, validate=True))
    return np.frombuffer(raw, _dtype(kind)).reshape(shape)


def _dtype(kind: str) -> np.dtype[Any]:
    if not _TYPE.fullmatch(kind):
        raise ValueError(f"{kind!r} is no type of a label or an array")
    return np.dtype(kind)


#: What marks a type: the type, and the ways to write and to read it.
_MARKS: dict[str, tuple[Any, Callable[[Any], Any], Callable[[Any], Any]]] = {
    "$float": (float, str, float),
    "$tuple": (tuple, lambda t: to_plain(list(t)), _tuple),
    "$dict": (None, str, lambda held: {from_plain(k): from_plain(x) for k, x in held}),
    "$bytes": (bytes, bytes.hex, bytes.fromhex),
    "$datetime": (dt.datetime, dt.datetime.isoformat, dt.datetime.fromisoformat),
    "$date": (dt.date, dt.date.isoformat, dt.date.fromisoformat),
    "$decimal": (Decimal, str, Decimal),
    "$path": (Path, str, Path),
    "$numpy": (np.generic, _bits, _scalar),
    # Their bytes, and what `str` makes of them, lose a zero at the end.
    "$numpy.str": (np.str_, "".join, lambda held: np.str_("".join(held))),
    "$numpy.bytes": (np.bytes_, bytes.hex, lambda held: np.bytes_(bytes.fromhex(held))),
    "$array": (np.ndarray, _array_bits, _array),
    "$record": (None, str, lambda held: make_record(*held)),
}
