"""What the beginnings of files show: columns, keys, damage, and how large they are."""

from __future__ import annotations

import codecs
import csv
import io
import json
import re
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyarrow as pa

from fastcmp.core.errors import BadValueError
from fastcmp.io.formats import COMPRESSED, DELIMITERS, as_utf8, csv_kind, kind_of
from fastcmp.io.logs.files import LogFile, opened

_BOM = b"\xef\xbb\xbf"


def table_head(file: LogFile) -> tuple[tuple[str, ...], dict[str, Any]]:
    """Columns of a table, and the first row of a text; none where a file is no table."""
    kind = kind_of(file.path)
    try:
        if is_json_array(file.head):
            return tuple(sorted(file.keys)), {}
        if kind in ("Parquet", "Arrow"):
            return schema_names(file, kind), {}
        if kind in DELIMITERS:
            text = as_utf8(file.head).decode("utf-8", "replace").lstrip()
            kind = csv_kind(file.head) if kind == "CSV" else kind
            rows = csv.reader(io.StringIO(text), delimiter=DELIMITERS[kind])
            names = tuple(next(rows, ()))
            with suppress(csv.Error):
                return names, dict(zip(names, next(rows, ()), strict=False))
            return names, {}
        first = file.first if kind is not None and isinstance(file.first, dict) else {}
        return tuple(first), first
    except (pa.ArrowException, OSError, ValueError, csv.Error):
        return (), {}


def is_json_array(head: bytes) -> bool:
    """Whether a file begins as a JSON array does."""
    return head.removeprefix(_BOM).lstrip()[:1] == b"["


def schema_names(file: LogFile, kind: str) -> tuple[str, ...]:
    """Columns of a Parquet or Arrow file, by its schema."""
    if kind == "Parquet":
        from pyarrow import parquet

        return tuple(parquet.read_schema(file.path).names)
    with pa.memory_map(str(file.path)) as source:
        return tuple(pa.ipc.open_file(source).schema.names)


_PARSED = 1 << 26  # bytes of a JSON file that is parsed to see whether it is whole
_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|[][{}:,]|[^][{}:,"\s]+')


def first_keys(head: bytes) -> frozenset[str]:
    """List the keys of the first JSON object, as far as it is seen.

    Of an array, those of its first entry, if it is an object.
    """
    tokens = _TOKEN.finditer(head.removeprefix(b"\xef\xbb\xbf"))
    open_brackets = ""
    keys: set[str] = set()
    last = b""
    for i, match in enumerate(tokens):
        token = match[0]
        if token == b":" and open_brackets in ("{", "[{"):
            keys.add(last[1:-1].decode("utf-8", "replace"))
        elif token in (b"{", b"["):
            open_brackets += token.decode()
        elif token in (b"}", b"]"):
            open_brackets = open_brackets[:-1]
            if open_brackets in ("", "["):
                break
        elif i == 0:
            break  # no object
        last = token
    return frozenset(keys)


def data_kind(path: Path) -> str | None:
    """Kind of data that the name of a file promises; None where it promises none."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] in COMPRESSED:
        suffixes.pop()
    return suffixes[-1] if suffixes[-1:] in ([".json"], [".eval"], [".arff"]) else kind_of(path)


def damage(file: LogFile) -> str:
    """Why a file cannot be what its name promises; "" where it may be."""
    if not file.size:
        return "is empty"
    kind = data_kind(file.path)
    try:
        if kind in ("Parquet", "Arrow"):
            begins = file.head.startswith(b"PAR1" if kind == "Parquet" else b"ARROW1")
            return "" if begins and schema_names(file, kind) else f"is no {kind} file"
        head = file.head
        if not head:
            return "cannot be unpacked: it is cut off or damaged"
        if kind == ".eval":
            return "is no zip archive of Inspect"
        if kind in DELIMITERS:
            head = as_utf8(head)
        codecs.getincrementaldecoder("utf-8")().decode(head)
        if b"\0" in head:
            return "holds bytes that are no text"
        if kind == ".arff" and b"@relation" not in head.lower():
            return "has no @RELATION"
        text = head.removeprefix(codecs.BOM_UTF8).lstrip()
        line, end, _ = text.partition(b"\n")
        if kind == "JSON lines" and (end or file.is_whole):
            json.loads(line)
        elif kind == ".json" == file.path.suffix.lower() and file.size <= _PARSED:
            json.loads(file.path.read_bytes())
        elif kind in ("JSON lines", ".json") and text[:1] not in b"{[":
            return "does not begin as JSON does"
    except (pa.ArrowException, OSError, ValueError, RecursionError) as error:
        return f"cannot be read ({(str(error).splitlines() or [type(error).__name__])[0]})"
    return ""


_AT_ONCE = 1 << 22  # bytes that are unpacked
_ROW = 8  # bytes that a row of a column takes at the least


def check_size(file: LogFile, limit: int, columns: Sequence[str] = ()) -> None:
    """Refuse a file, or some columns of Parquet, larger than what may be held, unpacked."""
    size = file.size
    if file.path.suffix.lower() in COMPRESSED and size <= limit:
        with opened(file.path) as stream:
            size = 0
            while size <= limit and (n := len(stream.read(_AT_ONCE))):
                size += n
    elif kind_of(file.path) == "Parquet":
        from pyarrow import parquet

        metadata = parquet.read_metadata(file.path)
        size = _ROW * metadata.num_rows * len(columns) + sum(
            column.total_uncompressed_size
            for group in map(metadata.row_group, range(metadata.num_row_groups))
            for column in map(group.column, range(group.num_columns))
            if any(f"{column.path_in_schema}.".startswith(f"{name}.") for name in columns)
        )
    if size > limit:
        raise BadValueError(
            f"{file.path}: its columns take {size:,} bytes, more than `memory_limit=` allows, "
            f"{limit:,}; raise `memory_limit=` if you trust the file"
        )
