"""Saved states: settings and arrays of numbers in one file, complete or refused.

JSON itself knows strings, booleans, finite numbers, lists and mappings with names.
Any other value becomes a mapping with one key, which begins with "$" and says its type.
Reading makes values of these types only, and records of fastcmp: no code is run.

The first line holds the kind of state, the version of the format and a checksum of all
the rest. The second is JSON: the settings, and the name, type and shape of each array.
The bytes of the arrays follow. Nothing is ever unpickled.
"""

from __future__ import annotations

import base64
import datetime as dt
import errno
import hashlib
import inspect
import json
import math
import os
import re
import secrets
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from decimal import Decimal
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastcmp._lazy import public_class
from fastcmp.core.errors import BadValueError, Spelled

Arrays = dict[str, NDArray[Any]]


@contextmanager
def replacing(path: Path) -> Iterator[IO[bytes]]:
    """Open a file that takes its place when all of it is written.

    Of a link, what it leads to is replaced. Permissions stay as they are; those of a
    new file follow the process's umask. After an error nothing is left.
    """
    check_place(path)
    target = Path(os.path.realpath(path))
    # An unused name: two writers do not collide, and no file of the user is lost.
    part = target.with_name(f".fastcmp-{secrets.token_hex(8)}.part")
    mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else None

    def private_first(name: str, flags: int) -> int:
        return os.open(name, flags, 0o666 if mode is None else 0o600)

    try:
        with naming(path, part):
            with open(part, "xb+", opener=private_first) as file:
                yield file
            if mode is not None:
                with suppress(OSError):  # some file systems have no modes
                    part.chmod(mode)
            part.replace(target)
    finally:
        with suppress(OSError):  # it was moved to its place, or never made
            part.unlink()


@contextmanager
def naming(path: Path, part: Path | None = None) -> Iterator[None]:
    """Name in errors of the system the file that was to be written or read.

    `part` is what is written instead, for a time.
    """
    try:
        yield
    except OSError as error:
        names = (None, os.fspath(path), None if part is None else os.fspath(part))
        if error.errno is None or error.filename not in names:
            raise
        raise OSError(error.errno, error.strerror, os.fspath(path)) from None


def check_place(path: Path) -> None:
    """Refuse a place where there can be no file, before long work."""
    folder = Path(os.path.realpath(path)).parent
    if path.is_dir():
        number = errno.EISDIR
    elif path.exists() and not path.is_file():
        raise OSError(errno.EINVAL, "Not a regular file", os.fspath(path))
    elif folder.is_dir():
        return
    else:
        number = errno.ENOTDIR if folder.exists() else errno.ENOENT
    raise OSError(number, os.strerror(number), os.fspath(path))


# Values as JSON and back, of the same type and to the bit.


_PLAIN = (str, int, bool, type(None))
_KINDS = "biufMm"  # NumPy's scalars whose bytes say all
_DTYPE = re.compile(r"[<>|]([biufMm][0-9]{1,2}(\[[0-9]{0,9}[a-zA-Z]{1,2}\])?|[US][0-9]{1,9})")


def to_plain(value: Any) -> Any:
    """Turn a value into what JSON can hold, exactly, or raise a TypeError."""
    kind = type(value)
    if kind in _PLAIN or (kind is float and math.isfinite(value)):
        return value
    if kind is Spelled:
        return str(value)
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


def from_plain(value: object) -> Any:
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


def make_record(name: object, plain: dict[str, Any]) -> Any:
    """Make a record, or a named tuple, from the name of its class and its fields."""
    kind = _record_class(name)
    if kind is None:
        raise BadValueError(
            "record must be a class of results of fastcmp", repr(name), argument="plain"
        )
    values = {key: from_plain(value) for key, value in plain.items()}
    parameters = inspect.signature(kind).parameters
    needed = {key for key, x in parameters.items() if x.default is x.empty}
    if not needed <= set(values) <= set(parameters):
        raise BadValueError(
            f"fields of a {name} must be {sorted(parameters)}",
            f"{sorted(values)}: pass what to_dict() gave",
            argument="plain",
        )
    return kind(**values)


def _record_class(name: Any) -> type[Any] | None:
    """The public class of a record, or named tuple, by its name."""
    record_type = public_class(name) if isinstance(name, str) else None
    is_record = isinstance(record_type, type) and hasattr(record_type, "_fields")
    return record_type if is_record else None


_READABLE = {str, int, bool, type(None)}  # types that JSON holds as they are


def readable(value: Any) -> Any:
    """Turn a value into what JSON can hold, for reading: what is not finite is None."""
    if isinstance(value, (np.ndarray, np.generic)):
        kind, n_axes, value = value.dtype.kind, value.ndim, value.tolist()
        if kind in "biuU":
            return value
        if kind == "f" and n_axes == 1:
            return [x if math.isfinite(x) else None for x in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, _PLAIN):
        return value
    if hasattr(value, "_fields"):
        return {name: readable(x) for name, x in _fields_of(value).items()}
    if isinstance(value, dict):
        return {str(key): readable(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        if {*map(type, value)} <= _READABLE:
            return list(value)
        return [readable(part) for part in value]
    return str(value)


def _fields_of(value: Any) -> dict[str, Any]:
    """The fields of a record or of a named tuple, by name."""
    fields = value._fields
    return fields() if callable(fields) else {name: getattr(value, name) for name in fields}


def _tuple(entries: list[Any]) -> tuple[Any, ...]:
    if not isinstance(entries, list):
        raise TypeError(f"a tuple must be held by a list, got {type(entries).__name__}")
    return tuple(map(from_plain, entries))


def _bits(scalar: np.generic) -> list[str]:
    return [scalar.dtype.str, scalar.tobytes().hex()]


def _scalar(kind_and_bits: list[str]) -> Any:
    kind, data = kind_and_bits
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


def _array(kind_shape_data: list[Any]) -> np.ndarray[Any, Any]:
    kind, shape, data = kind_shape_data
    if kind == "O":
        entries = map(from_plain, data)
        return np.fromiter(entries, object, len(data)).reshape(shape)
    raw = bytearray(base64.b64decode(data, validate=True))
    return np.frombuffer(raw, _dtype(kind)).reshape(shape)


def _dtype(kind: str) -> np.dtype[Any]:
    if not _DTYPE.fullmatch(kind):
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


def write_state(path: str | os.PathLike[str], name: str, settings: object, arrays: Arrays) -> None:
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


def read_state(path: str | os.PathLike[str], expected: FileKind) -> tuple[str, Any, Arrays]:
    """Read the name, the settings and the arrays of a state.

    Raises ValueError for a file that is foreign, damaged, of another version or of
    another kind; it names the file and says what to do.
    """
    with Path(path).open("rb") as file:
        first_line = _FIRST_LINE.fullmatch(file.readline(_LONGEST_LINE))
        problem, cause = _problem(file, first_line, expected), None
        if first_line is not None and not problem:
            try:
                return first_line[1].decode(), *_read(file)
            except (*_FORMS, ValueError) as error:
                problem, cause = (f"has the right checksum, but not its form: {error}", error)
    raise ValueError(f"{path} {problem}; {expected.advice}") from cause


def _problem(file: IO[bytes], first_line: re.Match[bytes] | None, expected: FileKind) -> str | None:
    """What is wrong with a file by its first line and its checksum; None if nothing is."""
    if first_line is None:
        return f"is not {expected.words} that fastcmp saved"
    name, version = first_line[1].decode("ascii", "replace"), int(first_line[2])
    if version != VERSION:
        age = "a newer" if version > VERSION else "an older"
        return (
            f"has version {version} of the format, and this fastcmp reads version "
            f"{VERSION}: it was saved by {age} one"
        )
    start = file.tell()
    if _checksum(name, iter(lambda: file.read(1 << 20), b"")) != first_line[3].decode():
        return "is damaged: it was cut off or changed after it was saved (its checksum differs)"
    file.seek(start)
    if expected.name not in (None, name):
        return f"holds {name}, not {expected.words}"
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


def _is_size(size: object) -> bool:
    return type(size) is int and size >= 0


def _bytes_of(array: NDArray[Any]) -> NDArray[np.uint8]:
    """Look at an array whose numbers lie side by side as bytes."""
    return array.reshape(-1).view(np.uint8)


def _checksum(name: str, pieces: Iterable[Any]) -> str:
    """Sum up the kind, the version, and what follows the first line."""
    digest = hashlib.sha256(f"{name} {VERSION}\n".encode("ascii", "replace"))
    for piece in pieces:
        digest.update(piece)
    return digest.hexdigest()
