"""What the beginning of a file tells of it."""

from __future__ import annotations

import codecs
import json
import re
from typing import TYPE_CHECKING

import pyarrow as pa

from fastcmp.io.formats import COMPRESSED, DELIMITERS, as_utf8, kind_of
from fastcmp.io.logs.table_heads import schema_names, unpacked

if TYPE_CHECKING:
    from pathlib import Path

    from fastcmp.io.logs.file import LogFile

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
    for i, found in enumerate(tokens):
        token = found[0]
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
        head = unpacked(file)
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
        if kind == "JSON lines" and (end or file.size <= len(file.head)):
            json.loads(line)
        elif kind == ".json" == file.path.suffix.lower() and file.size <= _PARSED:
            json.loads(file.path.read_bytes())
        elif kind in ("JSON lines", ".json") and text[:1] not in b"{[":
            return "does not begin as JSON does"
    except (pa.ArrowException, OSError, ValueError, RecursionError) as error:
        return f"cannot be read ({(str(error).splitlines() or [type(error).__name__])[0]})"
    return ""
