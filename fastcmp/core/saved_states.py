"""Saved states: settings and arrays of numbers in one file, complete or refused.

The first line holds the kind of state, the version of the format and a checksum of all
the rest. The second is JSON: the settings, and the name, type and shape of each array.
The bytes of the arrays follow. Nothing is ever unpickled.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fastcmp.core.atomic_files import replacing
from fastcmp.core.plain import from_plain, to_plain

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    Arrays = dict[str, NDArray[Any]]

#: Version of the format; a reader refuses any other.
VERSION = 2

_FIRST_LINE = re.compile(rb"fastcmp (\w{1,40}) ([0-9]{1,9}) ([0-9a-f]{64})\n")
_LONGEST_LINE = 200
_TYPE = re.compile(r"[<|][biuf][0-9]{1,2}")
#: What reading settings and arrays of another form raises.
_FORMS = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError)


class FileKind(NamedTuple):
    """What a reader wants of a file, and what it says of another one."""

    #: Name of the state, as `write_state` was told; None for any.
    name: str | None
    #: What such a file is called, such as "a checkpoint".
    words: str
    #: What to do about a file that is refused.
    advice: str


def write_state(path: str | os.PathLike[str], name: str, settings: Any, arrays: Arrays) -> None:
    """Write a state, at once or not at all.

    Raises TypeError for a value or an array that is not saved, OSError for a file that
    cannot be written.
    """
    for key, array in arrays.items():
        if array.dtype.kind not in "biuf":
            raise TypeError(f"{key} is an array of type {array.dtype}, which is not saved")
    little = [
        np.ascontiguousarray(array, array.dtype.newbyteorder("<")) for array in arrays.values()
    ]
    described = [
        [key, one.dtype.str, list(arrays[key].shape)]
        for key, one in zip(arrays, little, strict=True)
    ]
    line = json.dumps({"settings": to_plain(settings), "arrays": described})
    pieces: list[Any] = [line.encode("ascii") + b"\n", *map(_bytes_of, little)]
    with replacing(Path(path)) as file:
        file.write(f"fastcmp {name} {VERSION} {_checksum(name, pieces)}\n".encode())
        for piece in pieces:
            file.write(piece)
        file.flush()
        os.fsync(file.fileno())


def read_state(path: str | os.PathLike[str], wanted: FileKind) -> tuple[str, Any, Arrays]:
    """Read the name, the settings and the arrays of a state.

    Raises ValueError for a file that is foreign, damaged, of another version or of
    another kind; it names the file and says what to do.
    """
    with Path(path).open("rb") as file:
        found = _FIRST_LINE.fullmatch(file.readline(_LONGEST_LINE))
        problem, cause = _problem(file, found, wanted), None
        if found is not None and not problem:
            try:
                return found[1].decode(), *_read(file)
            except (*_FORMS, ValueError) as error:
                problem, cause = (
                    f"has the right checksum, but not its form: {error}",
                    error,
                )
    raise ValueError(f"{path} {problem}; {wanted.advice}") from cause


def _problem(file: IO[bytes], found: re.Match[bytes] | None, wanted: FileKind) -> str | None:
    """Say what is wrong with a file by its first line and its checksum."""
    if found is None:
        return f"is not {wanted.words} that fastcmp saved"
    name, version = found[1].decode("ascii", "replace"), int(found[2])
    if version != VERSION:
        age = "a newer" if version > VERSION else "an older"
        return (
            f"has version {version} of the format, and this fastcmp reads version "
            f"{VERSION}: it was saved by {age} one"
        )
    start = file.tell()
    if _checksum(name, iter(lambda: file.read(1 << 20), b"")) != found[3].decode():
        return "is damaged: it was cut off or changed after it was saved (its checksum differs)"
    file.seek(start)
    if wanted.name not in (None, name):
        return f"holds {name}, not {wanted.words}"
    return None


def _read(file: IO[bytes]) -> tuple[Any, Arrays]:
    """Read all below the first line; no array is made larger than the file."""
    line = json.loads(file.readline())
    left = os.fstat(file.fileno()).st_size - file.tell()
    arrays = {}
    for name, kind, shape in line["arrays"]:
        if not _TYPE.fullmatch(kind) or not all(_is_size(size) for size in shape):
            raise ValueError(f"{name} is no array of numbers")
        dtype = np.dtype(kind)
        left -= math.prod(shape) * dtype.itemsize
        if left < 0:
            raise ValueError(f"{name} is larger than the file")
        arrays[name] = np.empty(shape, dtype)
        file.readinto(_bytes_of(arrays[name]))  # type: ignore[attr-defined]
        if dtype == np.bool_ and (_bytes_of(arrays[name]) > 1).any():
            raise ValueError(f"{name} holds bytes that are neither true nor false")
    if left:
        raise ValueError(f"there are {left} bytes more than the arrays take")
    return from_plain(line["settings"]), arrays


def _is_size(size: Any) -> bool:
    return type(size) is int and size >= 0


def _bytes_of(array: NDArray[Any]) -> NDArray[np.uint8]:
    """Look at an array whose numbers lie side by side as bytes."""
    return array.reshape(-1).view(np.uint8)


def _checksum(name: str, pieces: Iterable[Any]) -> str:
    """Sum up the kind, the version, and what follows the first line."""
    found = hashlib.sha256(f"{name} {VERSION}\n".encode("ascii", "replace"))
    for piece in pieces:
        found.update(piece)
    return found.hexdigest()
