"""The columns of a table, told from its beginning."""

from __future__ import annotations

import csv
import io
import json
from typing import TYPE_CHECKING

import pyarrow as pa

from fastcmp.io.formats import COMPRESSED, DELIMITERS, as_utf8, beginning, csv_kind, kind_of

if TYPE_CHECKING:
    from fastcmp.io.logs.file import LogFile

_BOM = b"\xef\xbb\xbf"


def column_names(file: LogFile) -> tuple[str, ...]:
    """List the columns of a table; none where a file is no table."""
    if is_json_array(file.head):
        return tuple(sorted(file.keys))
    kind = kind_of(file.path)
    if kind is None:
        return ()
    try:
        return _names(file, kind)
    except (pa.ArrowException, OSError, ValueError, csv.Error):
        return ()


def is_json_array(head: bytes) -> bool:
    """Tell whether a file begins as a JSON array does."""
    return head.removeprefix(_BOM).lstrip()[:1] == b"["


def _names(file: LogFile, kind: str) -> tuple[str, ...]:
    if kind in ("Parquet", "Arrow"):
        return schema_names(file, kind)
    if kind in DELIMITERS:
        text = as_utf8(unpacked(file)).decode("utf-8", "replace")
        kind = csv_kind(unpacked(file)) if kind == "CSV" else kind
        rows = csv.reader(io.StringIO(text.lstrip()), delimiter=DELIMITERS[kind])
        return tuple(next(rows, ()))
    first = file.first
    if file.path.suffix.lower() in COMPRESSED:
        first = json.loads(unpacked(file).lstrip().partition(b"\n")[0])
    return tuple(first) if isinstance(first, dict) else ()


def schema_names(file: LogFile, kind: str) -> tuple[str, ...]:
    """Columns of a Parquet or Arrow file, by its schema."""
    if kind == "Parquet":
        from pyarrow import parquet

        return tuple(parquet.read_schema(file.path).names)
    with pa.memory_map(str(file.path)) as source:
        return tuple(pa.ipc.open_file(source).schema.names)


def unpacked(file: LogFile) -> bytes:
    """Give the first 64 kB of a text, which may be compressed."""
    is_packed = file.path.suffix.lower() in COMPRESSED
    return beginning(file.path) if is_packed else file.head
