"""Saved states: a line that says what the file is, settings, and plain arrays.

The first line holds the kind of accumulator, the version of the format and a checksum
of all the rest; JSON with the settings fills the second, and an uncompressed npz the
remainder. Nothing is ever unpickled.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
import struct
import zipfile
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from fastcmp.core.atomic_files import replacing
from fastcmp.core.plain import from_plain, to_plain

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Version of the format; a reader refuses any other.
VERSION = 1

_FIRST_LINE = re.compile(rb"fastcmp (\w{1,40}) ([0-9]{1,9}) ([0-9a-f]{64})\n")
_LONGEST_LINE = 200
#: How NumPy begins an array: with the length of what follows, up to the numbers.
_MAGIC = b"\x93NUMPY\x01\x00"
_ARRAY = re.compile(
    re.escape(_MAGIC) + rb"(..)\{'descr': '([<>|][biuf][0-9]{1,2})', "
    rb"'fortran_order': (True|False), 'shape': \(([0-9, ]{0,99})\), \} *\n",
    re.DOTALL,
)
_HEADER = 1 << 10
#: What reading a file of another form raises.
_FORMS = (
    ValueError,
    TypeError,
    LookupError,
    EOFError,
    AttributeError,
    OverflowError,
    RecursionError,
    RuntimeError,
    OSError,
    struct.error,
    zipfile.BadZipFile,
)


def write_state(
    path: str | os.PathLike[str],
    kind: str,
    settings: dict[str, Any],
    arrays: dict[str, NDArray[Any]],
) -> None:
    """Write a state, at once or not at all.

    Parameters
    ----------
    path : str or path
        The file; what it held is replaced when all has been written.
    kind : str
        Name of the accumulator.
    settings : dict
        What is no array.
    arrays : dict
        Arrays by name.

    Raises
    ------
    TypeError
        If a label or an array is of a type that is not saved.
    OSError
        If it cannot be written.
    """
    for name, array in arrays.items():
        if array.dtype.hasobject:
            message = f"{name} holds objects, which are not saved"
            raise TypeError(message)
    line = json.dumps(to_plain(settings)).encode("ascii") + b"\n"
    with replacing(Path(path)) as file:
        file.write(_first_line(kind, "0" * 64))
        file.write(line)
        # A dict of arrays by name, of which none is called "file".
        np.savez(file, **arrays)  # type: ignore[arg-type]
        file.seek(0)
        file.readline(_LONGEST_LINE)
        checksum = _checksum(file, kind)
        file.seek(0)
        file.write(_first_line(kind, checksum))
        file.flush()
        os.fsync(file.fileno())


def read_state(
    path: str | os.PathLike[str],
) -> tuple[str, dict[str, Any], dict[str, NDArray[Any]]]:
    """Read a state, or say what is wrong with the file.

    Parameters
    ----------
    path : str or path
        The file.

    Returns
    -------
    tuple of str, dict and dict
        Kind of accumulator, settings, and arrays by name.

    Raises
    ------
    ValueError
        If it is of another make, of another version of the format, or damaged.
    OSError
        If it cannot be read.
    """
    with Path(path).open("rb") as file:
        found = _FIRST_LINE.fullmatch(file.readline(_LONGEST_LINE))
        if found is None:
            message = (
                f"{path} is not a file that an accumulator of fastcmp.stream saved"
            )
            raise ValueError(message)
        kind, version = found[1].decode("ascii", "replace"), int(found[2])
        if version != VERSION:
            message = (
                f"{path} has version {version} of the format, and this fastcmp reads "
                f"version {VERSION}"
            )
            if version > VERSION:
                message += ": it was saved by a newer one"
            raise ValueError(message)
        start = file.tell()
        if _checksum(file, kind) != found[3].decode():
            message = (
                f"{path} is damaged: it was cut off or changed after it was saved "
                "(its checksum differs)"
            )
            raise ValueError(message)
        file.seek(start)
        try:
            settings = from_plain(json.loads(file.readline()))
            arrays = _read_arrays(file)
        except _FORMS as error:
            message = (
                f"{path} has the checksum of a saved file, but not its form: {error}"
            )
            raise ValueError(message) from error
    return kind, settings, arrays


def _read_arrays(file: IO[bytes]) -> dict[str, NDArray[Any]]:
    """Read an uncompressed npz, of which no array is larger than the file."""
    left = os.fstat(file.fileno()).st_size
    arrays = {}
    with zipfile.ZipFile(file) as saved:
        for member in saved.infolist():
            name = member.filename.removesuffix(".npy")
            left -= member.file_size
            if member.compress_type != zipfile.ZIP_STORED or left < 0:
                message = f"{name} is compressed, or larger than the file"
                raise ValueError(message)
            with saved.open(member) as array:
                arrays[name] = _read_array(array, member.file_size, name)
    return arrays


def _read_array(file: IO[bytes], size: int, name: str) -> NDArray[Any]:
    """Read an array that NumPy saved: of numbers, and of as many as its shape says."""
    header = file.read(_HEADER)
    if found := _ARRAY.match(header):
        length = int.from_bytes(found[1], "little") + len(_MAGIC) + 2
        shape = tuple(map(int, found[4].replace(b",", b" ").split()))
        dtype = np.dtype(found[2].decode())
        if size == length + math.prod(shape) * dtype.itemsize:
            data = bytearray(header[length:] + file.read())
            order: Any = "F" if found[3] == b"True" else "C"
            return np.frombuffer(data, dtype).reshape(shape, order=order)
    message = f"{name} is no array of numbers"
    raise ValueError(message)


def _first_line(kind: str, checksum: str) -> bytes:
    return f"fastcmp {kind} {VERSION} {checksum}\n".encode("ascii")


def _checksum(file: IO[bytes], kind: str) -> str:
    """Sum up the kind, and the file from where it stands."""
    start = f"{kind} {VERSION}\n".encode("ascii", "replace")
    return hashlib.file_digest(file, lambda: hashlib.sha256(start)).hexdigest()  # type: ignore[arg-type]
