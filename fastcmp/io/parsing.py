"""Rows of text as tables of pyarrow, of types that are known or as they seem to be."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from fastcmp.io.formats import DELIMITERS, csv_options

if TYPE_CHECKING:
    from collections.abc import Sequence

_AT_ONCE = 1 << 20  # bytes that a thread parses, unless rows are longer
_TOO_LONG = re.compile("straddling|Empty CSV file or block")


def parse_rows(
    data: bytes,
    kind: str,
    types: dict[str, Any] | None = None,
    *,
    names: Sequence[str] | None = None,
    others: str = "error",
    threads: bool = True,
) -> Any:
    """Parse whole rows of text."""
    if threads:
        try:
            return _parse(data, kind, types, names, others, _AT_ONCE)
        except pa.ArrowInvalid as error:
            if not _TOO_LONG.search(str(error)):
                raise
    return _parse(data, kind, types, names, others, None)


def _parse(
    data: bytes,
    kind: str,
    types: dict[str, Any] | None,
    names: Sequence[str] | None,
    others: str,
    size: int | None,
) -> Any:
    """Parse some bytes at once, or all by one thread."""
    # Arrow's threads may free their piece of the text after the answer is there. Memory of
    # Python they could only free with Python's lock, which ends the process at shutdown.
    own = pa.BufferOutputStream()
    own.write(data)
    source = pa.BufferReader(own.getvalue())
    read = {"use_threads": size is not None, "block_size": size or len(data) + 1}
    if kind not in DELIMITERS:
        from pyarrow import json

        parse = json.ParseOptions()
        if types is not None:
            schema = pa.schema(types.items())
            parse = json.ParseOptions(schema, unexpected_field_behavior=others)
        return json.read_json(source, read_options=json.ReadOptions(**read), parse_options=parse)
    from pyarrow import csv

    options = csv_options(DELIMITERS[kind], types)
    options["parse_options"].newlines_in_values = b'"' in data
    named = csv.ReadOptions(**read, column_names=names)
    return csv.read_csv(source, read_options=named, **options)
