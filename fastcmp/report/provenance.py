"""What a page was made from: versions of programs, and fingerprints of numbers."""

from __future__ import annotations

import hashlib
import json
import platform
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp import __version__
from fastcmp.core.plain import to_plain
from fastcmp.core.records import Record

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_PART = 1 << 22  # bytes of an array that are hashed at once


def versions() -> dict[str, str]:
    """Give the versions of what the numbers depend on, by name."""
    others = {name: version(name.lower()) for name in ("NumPy", "SciPy", "Numba")}
    return {"fastcmp": __version__, "Python": platform.python_version(), **others}


def fingerprint(records: Iterable[Record]) -> str:
    """Give the SHA-256 of all fields of records, the same on any machine."""
    digest = hashlib.sha256()
    for record in records:
        for part in _bytes_of(record):
            digest.update(part)
    return digest.hexdigest()


def _bytes_of(value: Any) -> Iterator[bytes]:
    """Write a value with its type and its length, so that no two look the same."""
    if isinstance(value, np.ndarray) and value.dtype.kind in "biufMm":
        little = value.astype(value.dtype.newbyteorder("<"), order="C", copy=False)
        yield f"{little.dtype.str}{little.shape}".encode()
        flat = little.reshape(-1)
        step = max(1, _PART // max(1, little.itemsize))
        for start in range(0, flat.size, step):
            yield flat[start : start + step].tobytes()
    elif isinstance(value, Record):
        yield type(value).__name__.encode()
        yield from _bytes_of(value._fields())  # noqa: SLF001
    elif isinstance(value, dict):
        yield f"dict{len(value)}".encode()
        for key, part in value.items():
            yield from _bytes_of(key)
            yield from _bytes_of(part)
    elif isinstance(value, (list, tuple)):
        yield f"{type(value).__name__}{len(value)}".encode()
        for part in value:
            yield from _bytes_of(part)
    else:
        yield _plain(value)


def _plain(value: Any) -> bytes:
    try:
        return json.dumps(to_plain(value)).encode()
    except TypeError:  # a label of a type that is not saved either
        return type(value).__name__.encode()
