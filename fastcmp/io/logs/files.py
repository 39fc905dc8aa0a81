"""Files below what a user named: found, refused, or left aside and named."""

from __future__ import annotations

import io
import json
import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from fastcmp.core.checks import check_size
from fastcmp.core.errors import BadTypeError, BadValueError
from fastcmp.inputs.model_names import has_names, named_columns

_HEAD = 1 << 16  # bytes that are looked at
#: How compressed files begin, and what pyarrow calls them.
_PACKED = {b"\x1f\x8b": "gzip", b"BZh": "bz2", b"\x28\xb5\x2f\xfd": "zstd"}


@contextmanager
def opened(path: Path) -> Iterator[BinaryIO]:
    """Open a file, unpacked where it is compressed; one that is cut off is refused."""
    with path.open("rb") as plain:
        start = plain.read(4)
        plain.seek(0)
        codec = next((name for magic, name in _PACKED.items() if start.startswith(magic)), None)
        if codec is None:
            yield plain
            return
    import pyarrow as pa

    try:
        with pa.CompressedInputStream(str(path), codec) as stream:
            yield io.BufferedReader(stream, _HEAD)
    except (pa.ArrowException, OSError) as error:
        raise ValueError(f"{path}: cut off or damaged ({error}); copy or fetch it again") from error


@dataclass(frozen=True)
class LogFile:
    """A file below the folder that a user named, or a frame in its place."""

    path: Path
    #: The folder that was named, or that of the file that was.
    root: Path
    #: Whether the user named the file itself, not a folder above it.
    is_named: bool = False
    #: Columns of a frame; None of a file.
    frame: dict[str, Any] | None = field(default=None, compare=False)

    @cached_property
    def head(self) -> bytes:
        """The first 64 kB, unpacked; none of a frame, and of what cannot be unpacked."""
        if self.frame is None:
            with suppress(ValueError), opened(self.path) as file:
                return file.read(_HEAD)
        return b""

    @property
    def is_whole(self) -> bool:
        """Whether the head is the whole file."""
        return len(self.head) < _HEAD

    @cached_property
    def size(self) -> int:
        """Bytes of the file; none of a frame, which is in memory."""
        return 0 if self.frame is not None else self.path.stat().st_size

    @cached_property
    def first(self) -> Any:
        """The first line as JSON, where it is a whole JSON value; else None."""
        line = self.head.lstrip(b"\xef\xbb\xbf \t\r\n").partition(b"\n")[0]
        try:
            return json.loads(line)
        except (ValueError, RecursionError):
            return None

    @cached_property
    def keys(self) -> frozenset[str]:
        """Keys of the JSON object that the file begins with, as far as they are seen.

        Of the object that is the file, or of its first line; of an array, those of its
        first entry.
        """
        from fastcmp.io.logs.heads import first_keys

        return first_keys(self.head)

    @cached_property
    def table_head(self) -> tuple[tuple[str, ...], dict[str, Any]]:
        """Columns of a table, as its beginning names them, and the first row of a text.

        Of CSV, TSV, JSON lines, Parquet, Arrow, and JSON arrays of objects; none of
        other files.
        """
        from fastcmp.io.logs.heads import table_head

        return table_head(self) if self.frame is None else (tuple(self.frame), {})

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns of a table; none where it is no table."""
        return self.table_head[0]


_POINTER = b"version https://git-lfs"
#: Files of data; pointers with other extensions (pictures) concern nobody.
_DATA = frozenset(
    (
        *(".json", ".jsonl", ".ndjson", ".eval", ".csv", ".tsv", ".txt", ".arff"),
        *(".parquet", ".arrow", ".feather", ".zip", ".gz", ".bz2", ".xz", ".zst", ""),
    )
)


class Ignored(NamedTuple):
    """A file that is not read, and why."""

    path: str
    why: str


class Found(NamedTuple):
    """Files below what a user named."""

    files: tuple[LogFile, ...]
    ignored: tuple[Ignored, ...]
    #: Git LFS pointers, in the place of files.
    pointers: tuple[Path, ...]


def find_files(path: object) -> Found:
    """List the files of a path, or of several, in order; none is listed twice."""
    files: dict[Path, LogFile] = {}
    ignored: list[Ignored] = []
    pointers: list[Path] = []
    if frames := _frames(path):
        return Found(frames, (), ())
    for root in _roots(path):
        is_named = not root.is_dir()
        if is_named and not root.is_file():
            what = "is a pipe or a device: write what it gives to a file first"
            if root.is_symlink() and not root.exists():
                what = "is a link to nothing: name a file or a folder of logs"
            raise BadValueError(f"`path`: {root} {what}")
        for file_path, why in [(root, "")] if is_named else _below(root):
            if why:
                ignored.append(Ignored(str(file_path), why))
                continue
            file = LogFile(file_path, root.parent if is_named else root, is_named=is_named)
            is_small = file.size < 1024 and file.path.suffix.lower() in _DATA
            if is_small and file.head.startswith(_POINTER):
                pointers.append(file_path)
            elif is_named or file_path.resolve() not in files:
                files[file_path.resolve()] = file
    return Found(tuple(files.values()), tuple(ignored), tuple(pointers))


def _frames(path: object) -> tuple[LogFile, ...]:
    """A frame in the place of a file, or several by the names of their models."""
    frames = path if isinstance(path, Mapping) else {"frame": path}
    if not frames or not all(
        has_names(raw) and not isinstance(raw, Mapping) for raw in frames.values()
    ):
        return ()
    return tuple(
        LogFile(Path(str(name)), Path(), is_named=True, frame=dict(named_columns(frame, "path")))
        for name, frame in frames.items()
    )


def _roots(path: object) -> list[Path]:
    """Read a path, or several."""
    if isinstance(path, (str, os.PathLike)):
        path = [path]
    if isinstance(path, Iterator):  # it could be gone through once only
        raise BadTypeError("`path` must be a file, a folder, or a list of them", repr(path))
    if isinstance(path, (bytes, dict)) or not isinstance(path, Iterable):
        raise BadTypeError("`path` must be a file, a folder, or several", repr(path))
    roots = []
    for entry in path:
        if not isinstance(entry, (str, os.PathLike)) or not str(entry):
            raise BadTypeError("`path` must be a file, a folder, or several", repr(entry))
        root = Path(entry)
        if not os.path.lexists(root):
            raise FileNotFoundError(f"path: there is no {root}: name a file or a folder of logs")
        roots.append(root)
    check_size(len(roots), "path", "file or folder", 1, "name")
    return roots


def _below(folder: Path) -> Iterator[tuple[Path, str]]:
    """Walk a folder in order; links are not followed."""
    inside = folder.resolve()
    with os.scandir(folder) as directory:
        entries = sorted(directory, key=lambda entry: entry.name)
    for entry in entries:
        path = Path(entry.path)
        if entry.name.startswith("."):
            yield path, "its name begins with a dot"
        elif entry.is_symlink():
            yield path, _why_no_link(path, inside)
        elif entry.is_dir(follow_symlinks=False):
            yield from _below(path)
        elif not stat.S_ISREG(entry.stat(follow_symlinks=False).st_mode):
            yield path, "a device, pipe or socket"
        else:
            yield path, ""


def _why_no_link(path: Path, folder: Path) -> str:
    """Why a link is not followed."""
    try:
        target = path.resolve(strict=True)
    except (OSError, RuntimeError):
        return "a link to nothing"
    if target.is_relative_to(folder):
        return "a link to what is in the same folder"
    return "a link that leads out of its folder: name its target to read it"
