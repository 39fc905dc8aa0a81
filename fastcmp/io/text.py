"""CSV, TSV and JSON lines, read in blocks of lines.

The types of the columns are told from the first block. A later value that does not fit
them is an error: read as a whole, the file might have had another type.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from fastcmp.io.formats import (
    COMPRESSED,
    check_names,
    check_text,
    csv_options,
    reading,
)
from fastcmp.io.mapped import Block, Place

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_BLOCK = 4_000_000  # bytes
_LONGEST = 256_000_000  # bytes of a line
_DELIMITERS = {"CSV": ",", "TSV": "\t"}
_IN_CSV = re.compile(
    r"In CSV column #(\d+): (?:Row #(\d+): )?CSV conversion error to (.+?): "
    r"(invalid UTF8 data|invalid value '(.*)')",
    re.DOTALL,
)
_IN_JSON = re.compile(r"Column\(/(.*)\) changed from (\w+) to (\w+) in row (\d+)")
_JSON_VALUE = re.compile(r"Failed to convert JSON to (\S+), couldn't parse:(.*)")


class LateValueError(ValueError):
    """A value does not fit the types that the first block told.

    Read as a whole, the file may have other types, and then be no error.
    """


class TextPart:
    """A file of lines, perhaps compressed.

    Parameters
    ----------
    path : Path
        The file.
    kind : str
        "CSV", "TSV" or "JSON lines".
    types : dict, optional
        Types of the columns, where a file before told them.

    Raises
    ------
    ValueError
        If it cannot be read, or two columns have one name.
    """

    def __init__(
        self, path: Path, kind: str, types: dict[str, Any] | None = None
    ) -> None:
        self.path, self.kind = path, kind
        self.n_rows: int | None = None
        #: Whether the columns to read were named, so that others do not matter.
        self.named = False
        with reading(path, kind):
            table = self._beginning(header_only=types is not None)
            names = table.column_names
        check_names(path, names)
        found = dict(zip(names, table.schema.types, strict=True))
        if types is None:
            check_text(path, found)
        known = {} if types is None else types
        #: Names and types of all columns.
        self.types: dict[str, Any] = {
            name: known.get(name, kind) for name, kind in found.items()
        }
        self.n_first = table.num_rows

    def _beginning(self, *, header_only: bool) -> Any:
        """Read the first block, or as much of the file as has a row."""
        first, table = b"", None
        for data in _Lines(self.path, self.kind):
            first += data
            if header_only and self.kind in _DELIMITERS:
                first = _header(first)
            table = self._parse(first, None, has_header=True)
            if table.num_rows or header_only:
                break
        return self._parse(b"", None, has_header=True) if table is None else table

    def blocks(self, columns: list[str], start: Place) -> Iterator[Block]:
        """Read blocks of lines.

        Parameters
        ----------
        columns : list of str
            Which columns.
        start : Place
            The first line.

        Yields
        ------
        Block
            In order.

        Raises
        ------
        LateValueError
            If a value does not fit the types.
        ValueError
            If the file is damaged.
        """
        row = start.rows
        wanted = {name: self.types[name] for name in columns}
        lines = _Lines(self.path, self.kind, start.n_bytes)
        for data in lines:
            has_header = lines.start == 0 and self.kind in _DELIMITERS
            try:
                table = self._parse(data, wanted, has_header=has_header)
            except pa.ArrowCancelled:
                raise
            except (pa.ArrowException, UnicodeDecodeError) as error:
                raise self._explained(
                    error, data, wanted, row, has_header=has_header
                ) from None
            if table.num_rows:
                table = table.combine_chunks()
                yield Block(
                    columns={name: _whole(table.column(name)) for name in columns},
                    n_rows=table.num_rows,
                    start=Place(row, lines.start),
                    end=Place(row + table.num_rows, lines.end),
                    share=lines.share(),
                )
            row += table.num_rows

    def _parse(
        self,
        data: bytes,
        wanted: dict[str, Any] | None,
        *,
        has_header: bool,
        threads: bool = True,
    ) -> Any:
        """Parse lines, as types that are known or that they seem to be."""
        source = pa.BufferReader(data)
        size = 1 << 20 if threads else len(data) + 1
        if self.kind == "JSON lines":
            from pyarrow import json

            parse = json.ParseOptions()
            if wanted is not None:
                parse = json.ParseOptions(
                    explicit_schema=pa.schema(wanted.items()),
                    unexpected_field_behavior="ignore" if self.named else "error",
                )
            read = json.ReadOptions(use_threads=threads, block_size=size)
            return json.read_json(source, read_options=read, parse_options=parse)
        from pyarrow import csv

        options = csv_options(_DELIMITERS[self.kind], wanted)
        options["parse_options"].newlines_in_values = b'"' in data
        options["read_options"] = csv.ReadOptions(
            use_threads=threads,
            block_size=size,
            column_names=None if has_header else list(self.types),
        )
        return csv.read_csv(source, **options)

    def _explained(  # where it is, and what is known of it
        self,
        error: Exception,
        data: bytes,
        wanted: dict[str, Any],
        row: int,
        *,
        has_header: bool,
    ) -> ValueError:
        """Find the value that does not fit: with one thread pyarrow counts rows."""
        try:
            self._parse(data, wanted, has_header=has_header, threads=False)
        except UnicodeDecodeError:
            return ValueError(f"{self.path} is not UTF-8 text (after row {row})")
        except pa.ArrowException as again:
            if found := _IN_CSV.search(str(again)):
                return self._misfit(found, row, has_header=has_header)
            late = self._late_in_json(str(again), row)
            return late or ValueError(f"{self._cannot(again)} (after row {row})")
        return ValueError(self._cannot(error))

    @property
    def _advice(self) -> str:
        return (
            f"; types are told from the first {self.n_first} rows: convert the file to "
            "Parquet, where each column has one type"
        )

    def _misfit(
        self, found: re.Match[str], row: int, *, has_header: bool
    ) -> ValueError:
        """Name the cell that pyarrow found in CSV."""
        place, line, kind, what, value = found.groups()
        name = list(self.types)[int(place)]
        at = f"after row {row}"
        if line is not None:
            at = f"at row {row + int(line) - 1 - has_header}"
        if what == "invalid UTF8 data":
            return ValueError(f"{self.path} is not UTF-8 text (column {name!r}, {at})")
        what = f"column {name!r} holds {value!r} {at}, which is no {kind}"
        return LateValueError(f"{self.path}: {what}{self._advice}")

    def _late_in_json(self, text: str, row: int) -> ValueError | None:
        if found := _IN_JSON.search(text):
            name, old, new, line = found.groups()
            what = f"column {name!r} changes from {old} to {new} at row"
            message = f"{self.path}: {what} {row + int(line)}{self._advice}"
            # Numbers and words are no column, however the file is read.
            return (LateValueError if old == "null" else ValueError)(message)
        if found := _JSON_VALUE.search(text):
            what = f"a column of {found[1]} holds {found[2]!r} after row {row}"
            return LateValueError(f"{self.path}: {what}{self._advice}")
        if "unexpected field" in text:
            return LateValueError(
                f"{self.path}: after row {row} comes a field that the first "
                f"{self.n_first} rows lack; name the columns to compare (--models)"
            )
        return None

    def _cannot(self, error: Exception) -> str:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        return f"{self.path} cannot be read as {self.kind}, it may be cut off: {reason}"


def _whole(column: Any) -> Any:
    """Make one array of the chunks of a column."""
    if column.num_chunks == 1:
        return column.chunk(0)
    return pa.concat_arrays(column.chunks)


def _header(data: bytes) -> bytes:
    """Cut off all but the first line; a line break may be quoted."""
    end = 0
    while True:
        found = [at for mark in b"\n\r" if (at := data.find(mark, end)) >= 0]
        if not found:
            return data
        end = min(found) + 1
        if data.count(b'"', 0, end) % 2 == 0 and data[:end].strip():
            return data[:end]


class _Lines:
    """Whole lines of a file, some MB at a time."""

    def __init__(self, path: Path, kind: str, start: int = 0) -> None:
        self._path, self._kind = path, kind
        self._marks = (b"\n",) if kind == "JSON lines" else (b"\n", b"\r")
        #: Where the lines begin and end in the uncompressed file.
        self.start = self.end = start
        self._size = path.stat().st_size
        self._done = 0

    def share(self) -> float:
        """Tell how much of the file is read."""
        return self._done / self._size

    def __iter__(self) -> Iterator[bytes]:
        with reading(self._path, self._kind), pa.OSFile(str(self._path)) as raw:
            codec = COMPRESSED.get(self._path.suffix.lower())
            stream = raw if codec is None else pa.CompressedInputStream(raw, codec)
            self._skip(stream, codec)
            rest = b""
            while True:
                # Where `read` fails, pyarrow loses the memory it has taken for it.
                more = stream.read_buffer(_BLOCK)
                self._done = raw.tell()
                data = rest + more
                end = self._end_of_lines(data) if more.size else len(data)
                if len(data) - end > _LONGEST:
                    message = f"a line is longer than {_LONGEST} bytes"
                    raise pa.ArrowInvalid(message)
                rest = data[end:]
                self.start, self.end = self.end, self.end + end
                if end:
                    yield data[:end]
                if not more.size:
                    return

    def _skip(self, stream: Any, codec: str | None) -> None:
        if codec is None:
            stream.seek(self.start)
            return
        left = self.start
        while left:
            left -= stream.read_buffer(min(left, _BLOCK)).size or left

    def _end_of_lines(self, data: bytes) -> int:
        """Find the end of the last line; a line break may be quoted."""
        plain = end = max(data.rfind(mark) for mark in self._marks) + 1
        if self._kind == "JSON lines":
            return end
        odd = data.count(b'"', 0, end) % 2
        while end and odd:
            before = max(data.rfind(mark, 0, end - 1) for mark in self._marks) + 1
            odd ^= data.count(b'"', before, end) % 2
            end = before
        # Without such an end the quotes are not in pairs: they are part of the text.
        return end or plain
