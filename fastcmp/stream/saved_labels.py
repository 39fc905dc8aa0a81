"""Labels of classes as JSON and back, of the same type and value.

JSON itself knows strings, numbers and booleans. Other labels become a mapping with one
key that says their type.
"""

from __future__ import annotations

import datetime as dt
from typing import Any

import numpy as np

_PLAIN = (str, int, float, bool, type(None))
_KINDS = "biufUSMm"  # NumPy's scalars whose bytes say all


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
    if isinstance(value, (list, tuple)):
        return [to_json(part) for part in value]
    if isinstance(value, np.generic) and value.dtype.kind in _KINDS:
        return {"$numpy": [value.dtype.str, value.tobytes().hex()]}
    if type(value) in _PLAIN:
        return value
    if type(value) is bytes:
        return {"$bytes": value.hex()}
    if type(value) is dt.datetime:
        return {"$datetime": value.isoformat()}
    if type(value) is dt.date:
        return {"$date": value.isoformat()}
    message = (
        f"classes of type {type(value).__name__} are not saved to a file ({value!r}): "
        "use strings, numbers, booleans, bytes or dates, or pickle it"
    )
    raise TypeError(message)


def from_json(value: Any) -> Any:
    """Undo `to_json`, but for tuples, which come back as lists.

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
    match value:
        case {"$numpy": [kind, data]}:
            return np.frombuffer(bytes.fromhex(data), np.dtype(kind))[0]
        case {"$bytes": data}:
            return bytes.fromhex(data)
        case {"$datetime": text}:
            return dt.datetime.fromisoformat(text)
        case {"$date": text}:
            return dt.date.fromisoformat(text)
    return {key: from_json(part) for key, part in value.items()}
