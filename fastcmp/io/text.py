"""CSV, TSV and JSON lines, read in blocks of lines.

A column of CSV has no type: its labels are texts, and what they mean shows in them
(`text_types`). That of JSON has one, which may widen while it is read.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pyarrow import csv, json

from fastcmp.core.typing import Flags, Ints
from fastcmp.io.formats import (
    COMPRESSED,
    DELIMITERS,
    beginning,
    check_names,
    family,
    file_kind,
    is_utf16,
    reading,
)
from fastcmp.io.mapped import Block, Place
from fastcmp.io.text_types import NUMBER, TEXTS, has_codes, in_numbers

_LONGEST = 64_000_000  # bytes of a row
_DEEPEST = 100  # brackets within brackets in a row of JSON
_LINE_FEED, _RETURN, _QUOTE = b'\n\r"'
_BOM = b"\xef\xbb\xbf"
_STRING = re.compile(rb'"(?:[^"\\]++|\\.)*+"?')


class Lines:
    """Rows of a file, perhaps compressed."""

    def __init__(self, path: Path, kind: str, size: int, start: int = 0) -> None:
        self._path, self._kind = path, kind
        self._at_once = size
        #: Where the rows begin and end in the uncompressed file.
        self.start = self.end = start
        self._size = path.stat().st_size
        self._done = 0

    def fraction(self) -> float:
        """Proportion of the file that is read."""
        return self._done / self._size

    def __iter__(self) -> Iterator[bytes]:
        """Read the rows."""
        with reading(self._path, self._kind), pa.OSFile(str(self._path)) as raw:
            codec = COMPRESSED.get(self._path.suffix.lower())
            stream = raw if codec is None else pa.CompressedInputStream(raw, codec)
            if self._kind in DELIMITERS and is_utf16(beginning(self._path)):
                stream, codec = pa.transcoding_input_stream(stream, "utf-16", "utf-8"), "utf-16"
            self._skip(stream, codec)
            ends = RowEnds(self._kind)
            held: list[bytes] = []
            while True:
                # Where `read` fails, pyarrow loses the memory it has taken for it.
                piece = stream.read_buffer(self._at_once).to_pybytes()
                self._done = raw.tell()
                end = ends.last(piece)
                if not piece:
                    if ends.inside:  # all the rest of the file would be one cell
                        raise ValueError(
                            f"{self._path} cannot be read as {self._kind}, it may be cut off: a "
                            f"quote in or after the row that begins at byte {self.end} is not "
                            "closed"
                        )
                    held, data = [], b"".join(held)
                elif end:
                    data = b"".join([*held, memoryview(piece)[:end]])
                    held = [piece[end:]]
                else:
                    held.append(piece)
                    data = b""
                if sum(map(len, held)) > _LONGEST:
                    quote = "; is a quote left open?" if self._kind in DELIMITERS else ""
                    raise ValueError(
                        f"{self._path}: the row that begins at byte {self.end} is longer than "
                        f"{_LONGEST // 1_000_000} MB, the longest that is read{quote}"
                    )
                self.start, self.end = self.end, self.end + len(data)
                if data:
                    self._check_depth(data)
                    yield data
                if not piece:
                    return

    def _skip(self, stream: pa.NativeFile, codec: str | None) -> None:
        """Go to the first row, which begins after a line break."""
        left, last = self.start, b"\n"
        if codec is None and left:
            stream.seek(left - 1)
            left = 1
        while left and last:
            last = stream.read_buffer(min(left, self._at_once)).to_pybytes()
            left -= len(last)
        if left or last[-1:] not in (b"\n", b"\r"):
            raise ValueError(f"{self._path}: no row begins at byte {self.start} to go on from")

    def _check_depth(self, data: bytes) -> None:
        """Refuse what would overflow the stack of pyarrow's parser."""
        if self._kind in DELIMITERS:
            return
        codes = np.frombuffer(data, np.uint8)
        opening = np.flatnonzero((codes | 0x20) == ord("{"))  # or "["
        if opening.size <= _DEEPEST:
            return
        breaks = np.flatnonzero(codes == _LINE_FEED)
        rows = np.searchsorted(breaks, opening)
        limits = np.concatenate([[0], breaks, [len(data)]])
        for row in np.unique(rows[_DEEPEST:][rows[_DEEPEST:] == rows[:-_DEEPEST]]):
            line = _STRING.sub(b"", data[limits[row] : limits[row + 1]])
            brackets = np.frombuffer(line, np.uint8) | 0x20
            steps = (brackets == ord("{")).astype(np.int64) - (brackets == ord("}"))
            if np.cumsum(steps).max(initial=0) > _DEEPEST:
                raise ValueError(
                    f"{self._path}: a row after byte {self.start} holds brackets "
                    f"within brackets, more than {_DEEPEST} deep"
                )


class RowEnds:
    """Where rows end in a text that comes in pieces; a line break may be quoted.

    As pyarrow reads CSV, a quote opens only at the beginning of a cell, and two quotes
    within a quoted cell are part of it.
    """

    def __init__(self, kind: str) -> None:
        self._delimiter = ord(DELIMITERS.get(kind, "\n"))
        self._is_quoted = kind in DELIMITERS
        self._marks = (b"\n", b"\r") if self._is_quoted else (b"\n",)
        #: Whether the text so far ends within a quoted cell.
        self.inside = False
        # The byte before the piece; a quote only where it has closed a cell.
        self._before: int | None = None

    def last(self, piece: bytes) -> int:
        """End of the last row."""
        end = max(piece.rfind(mark) for mark in self._marks) + 1
        if not self._is_quoted or not piece:
            return end
        inside, turns = self.inside, self._turns(piece)
        if end == 0 or (inside + np.searchsorted(turns, end)) % 2 == 0:
            return end
        ends = _outside(piece, turns, inside=inside)
        return int(ends[-1]) + 1 if ends.size else 0

    def first(self, piece: bytes) -> int:
        """End of the first row that is not blank."""
        ends = _outside(piece, self._turns(piece), inside=False)
        ends = ends[ends >= len(piece) - len(piece.lstrip())]
        return int(ends[0]) + 1 if ends.size else len(piece)

    def _turns(self, piece: bytes) -> Ints:
        """List the quotes with which quoted cells begin and end."""
        if b'"' not in piece:
            self._before = piece[-1]
            return np.array([], np.int64)
        turns = np.flatnonzero(np.frombuffer(piece, np.uint8) == _QUOTE)
        # Where quotes are in pairs, every second one opens a cell, or is the second of
        # two within it.
        before = self._before_quotes(piece, turns[int(self.inside) :: 2])
        if not (self._opens(before) | (before == _QUOTE)).all():
            opens = self._opens(self._before_quotes(piece, turns))
            turns = self._walk(turns, opens)
        self.inside = bool((self.inside + turns.size) % 2)
        self._before = piece[-1]
        if self._before == _QUOTE and not (turns.size and turns[-1] == len(piece) - 1):
            self._before = 0
        return turns

    def _opens(self, before: NDArray[np.uint8]) -> Flags:
        """Whether quotes open cells, by what stands before them."""
        opens: Flags = before == self._delimiter
        opens |= (before == _LINE_FEED) | (before == _RETURN)
        return opens

    def _before_quotes(self, piece: bytes, quotes: Ints) -> NDArray[np.uint8]:
        """List what stands before quotes; a line break where nothing does."""
        before: NDArray[np.uint8] = np.frombuffer(piece, np.uint8)[quotes - 1]
        if quotes.size and quotes[0] == 0:
            before[0] = _LINE_FEED if self._before is None else self._before
        if self._before is None and piece.startswith(_BOM):
            before[quotes == len(_BOM)] = _LINE_FEED
        return before

    def _walk(self, quotes: Ints, opens: Flags) -> Ints:
        """Leave out quotes that are part of the text, one by one."""
        inside, turns = self.inside, []
        closed = -1 if self._before == _QUOTE else -2
        for place, fits in zip(quotes.tolist(), opens.tolist(), strict=True):
            if inside or fits or place == closed + 1:
                inside = not inside
                turns.append(place)
                closed = closed if inside else place
        return np.array(turns, np.int64)


def _outside(piece: bytes, turns: Ints, *, inside: bool) -> Ints:
    """List the line breaks outside of quoted cells."""
    codes = np.frombuffer(piece, np.uint8)
    breaks = np.flatnonzero((codes == _LINE_FEED) | (codes == _RETURN))
    ends: Ints = breaks[(inside + np.searchsorted(turns, breaks)) % 2 == 0]
    return ends


_AT_ONCE = 1 << 20  # bytes that a thread parses, unless rows are longer
_TRUE, _FALSE = ("true", "True", "TRUE"), ("false", "False", "FALSE")
_MISSING = ("", "NA", "N/A", "NaN", "nan", "NULL", "null")
_TOO_LONG = re.compile("straddling|Empty CSV file or block")


def parse_rows(
    data: bytes,
    kind: str,
    types: dict[str, Any] | None = None,
    *,
    names: list[str] | None = None,
    others: str = "error",
    threads: bool = True,
) -> Any:
    """Parse whole rows of text as tables of pyarrow, of types that are known or that it finds."""
    # Arrow's threads may free their piece of the text after the answer is there. Memory of
    # Python they could only free with Python's lock, which ends the process at shutdown.
    buffer = pa.BufferOutputStream()
    buffer.write(data)
    text = buffer.getvalue()
    for size in (_AT_ONCE, None) if threads else (None,):
        read = {"use_threads": size is not None, "block_size": size or len(data) + 1}
        try:
            if kind in DELIMITERS:
                column_types = types and {x: kind for x, kind in types.items() if kind is not None}
                return csv.read_csv(
                    pa.BufferReader(text),
                    csv.ReadOptions(**read, column_names=names),
                    csv.ParseOptions(delimiter=DELIMITERS[kind], newlines_in_values=b'"' in data),
                    csv.ConvertOptions(
                        null_values=_MISSING,
                        true_values=_TRUE,
                        false_values=_FALSE,
                        strings_can_be_null=True,
                        quoted_strings_can_be_null=False,
                        column_types=column_types,
                        include_columns=None if types is None else list(types),
                    ),
                )
            parse = json.ParseOptions()
            if types is not None:
                parse = json.ParseOptions(
                    pa.schema(types.items()), unexpected_field_behavior=others
                )
            blocks = json.ReadOptions(**read)
            return json.read_json(pa.BufferReader(text), read_options=blocks, parse_options=parse)
        except pa.ArrowInvalid as error:
            if size is None or not _TOO_LONG.search(str(error)):
                raise
    raise AssertionError


# A file of text: its columns, and blocks of its rows.


_BLOCK = 4_000_000  # bytes
_WHOLE = 4  # blocks that are parsed at once where a file is read as a whole
_EXACT = 2**53  # below it all whole numbers are floats
_NOT_UTF8 = re.compile(r"In CSV column #(\d+): (?:Row #(\d+): )?.*invalid UTF8 data")
_IN_JSON = re.compile(r"Column\(/(.*)\) changed from (\w+) to (\w+) in row (\d+)")


class TextPart:
    """A file of lines, perhaps compressed.

    Labels of CSV come as `TEXTS`, or as int64 where a block has no other text than plain
    whole numbers; ids as text or int64. JSON says the types of its columns.
    """

    def __init__(
        self, path: Path, kind: str, first: Self | None = None, labels: Container[str] | None = None
    ) -> None:
        self.path, self.kind = path, kind
        self.n_rows: int | None = None
        #: Whether the columns to read were named, so that others do not matter.
        self.named = False
        #: The column of ids.
        self.many: str | None = None
        self.is_csv = kind in DELIMITERS
        #: The columns of labels and ids; None for all.
        self.labels = labels
        #: All columns, with types that fit the rows read so far; text where they have none.
        self.types: dict[str, Any] = {}
        with reading(path, kind):
            data, table = self._beginning(header_only=first is not None)
            check_names(path, table.column_names)
            if first is None:
                for name, kind_read in zip(table.column_names, table.schema.types, strict=True):
                    if pa.types.is_binary(kind_read):  # as pyarrow reads what is not UTF-8
                        raise ValueError(f"{path} is not UTF-8 text (column {name!r})")
                self._learn(data, table, None)
            else:
                self.types = {x: first.types.get(x, pa.null()) for x in table.column_names}

    def is_label(self, name: str) -> bool:
        """Whether a column holds labels or ids."""
        return self.labels is None or name in self.labels or name == self.many

    def _beginning(self, *, header_only: bool) -> tuple[bytes, Any]:
        """Read the first rows, or as much of the file as has a row."""
        first, table = b"", None
        for data in Lines(self.path, self.kind, min(_BLOCK, _AT_ONCE)):
            first += data
            if header_only and self.is_csv:
                first = first[: RowEnds(self.kind).first(first)]
            table = parse_rows(first, self.kind)
            if table.num_rows or header_only:
                break
        return first, parse_rows(b"", self.kind) if table is None else table

    def _learn(
        self, data: bytes, table: pa.Table, row: int | None, names: list[str] | None = None
    ) -> None:
        """Widen the types by what pyarrow finds in some rows, after the first where `row` is."""
        for name, kind_read in zip(table.column_names, table.schema.types, strict=True):
            if row is not None and name not in self.types:
                if self.named:
                    continue
                raise ValueError(
                    f"{self.path}: after row {row} comes a field {name!r} that the first rows "
                    "lack; name the columns to compare (--models)"
                )
            kind, old = kind_read, self.types.get(name, pa.null())
            if pa.types.is_temporal(kind_read) or (self.is_csv and family(kind_read) != "number"):
                kind = pa.null() if pa.types.is_null(kind_read) else pa.string()
            elif in_numbers(table.column(name)) == NUMBER:
                with suppress(pa.ArrowInvalid):  # whole numbers that pyarrow reads as floats
                    types = {name: pa.uint64()}
                    parse_rows(data, self.kind, types, names=names, others="ignore")
                    kind = pa.uint64()
            if pa.types.is_null(kind) or kind == old:
                self.types.setdefault(name, kind)
            elif pa.types.is_null(old):
                self.types[name] = kind
            elif family(old) == family(kind) == "number" and pa.bool_() not in (old, kind):
                longer = (old, kind) == (pa.int64(), pa.uint64())
                self.types[name] = kind if longer else pa.float64()
            elif self.is_csv:
                self.types[name] = pa.string()
            else:
                raise ValueError(
                    f"{self.path}: column {name!r} changes from {old} to {kind} after row {row}"
                )

    def blocks(self, columns: list[str], start: Place, *, whole: bool = False) -> Iterator[Block]:
        """Read blocks of lines, larger ones where the `whole` file will be held."""
        row = start.rows
        size = _WHOLE * _BLOCK if whole else _BLOCK
        lines = Lines(self.path, self.kind, size, start.n_bytes)
        for data in lines:
            # Only the first rows begin with the names of the columns.
            names = list(self.types) if self.is_csv and lines.start else None
            try:
                table = self._parsed(data, columns, row, names)
            except pa.ArrowCancelled:
                raise
            except (pa.ArrowException, UnicodeDecodeError) as error:
                raise self._explained(error, data, columns, row, names) from None
            if n_rows := table.num_rows:
                block_columns = {name: table.column(name) for name in columns}
                if not whole:
                    block_columns = {
                        name: column.combine_chunks() for name, column in block_columns.items()
                    }
                for name, column in block_columns.items():
                    self.check_exact(name, column)
                yield Block(
                    columns=block_columns,
                    n_rows=n_rows,
                    start=Place(row, lines.start),
                    end=Place(row + n_rows, lines.end),
                    fraction=lines.fraction(),
                )
            row += n_rows

    def _parsed(self, data: bytes, columns: list[str], row: int, names: list[str] | None) -> Any:
        """Parse lines, with wider types where a value does not fit."""
        try:
            return self._parse(data, columns, names)
        except pa.ArrowInvalid:
            types = dict.fromkeys(columns) if self.is_csv else None
            self._learn(data, parse_rows(data, self.kind, types, names=names), row, names)
        return self._parse(data, columns, names)

    def _parse(
        self, data: bytes, columns: list[str], names: list[str] | None, *, threads: bool = True
    ) -> Any:
        """Parse lines as the types of the columns, merging no two texts."""
        types = self.types
        if self.is_csv or self.named:
            types = {name: self.types[name] for name in columns}
        if self.is_csv:
            labels = [x for x in columns if self.is_label(x)]
            texts = [x for x in columns if types[x] == pa.string()]
            texts += [x for x in labels if types[x] != pa.int64()]
            if not set(texts).issuperset(labels) and has_codes(data):
                texts = [*texts, *labels]
            types |= {x: pa.string() if x == self.many else TEXTS for x in texts}
        others = "ignore" if self.named else "error"
        return parse_rows(data, self.kind, types, names=names, others=others, threads=threads)

    def check_exact(self, name: str, column: pa.Array | pa.ChunkedArray) -> None:
        """Refuse labels in JSON that are numbers, and too large to be exact."""
        if self.is_csv or not self.is_label(name) or not pa.types.is_floating(column.type):
            return
        if in_numbers(column) == NUMBER:
            most = pc.max(pc.abs(column)).as_py()
            raise ValueError(
                f"{self.path}: column {name!r} holds numbers of 2^53 and more beside "
                f"others than whole ones from 0 to 2^64 (such as {most:g}), which "
                'are not exact: write labels and ids as text, in quotes (")'
            )

    def _explained(
        self, error: Exception, data: bytes, columns: list[str], row: int, names: list[str] | None
    ) -> ValueError:
        """The error with the row of the value that does not fit, as one thread counts rows."""
        try:
            self._parse(data, columns, names, threads=False)
        except (pa.ArrowException, UnicodeDecodeError) as again:
            error = again
        text = str(error)
        if isinstance(error, UnicodeDecodeError):
            return ValueError(f"{self.path} is not UTF-8 text (after row {row})")
        if match := _NOT_UTF8.search(text):
            name, line = list(self.types)[int(match[1])], match[2]
            at = f"after row {row}"
            if line is not None:  # the first line may be that of the names
                at = f"at row {row + int(line) - 1 - (names is None)}"
            return ValueError(f"{self.path} is not UTF-8 text (column {name!r}, {at})")
        if match := _IN_JSON.search(text):
            name, old, new, line = match.groups()
            what = f"column {name!r} changes from {old} to {new} at row {row + int(line)}"
            return ValueError(f"{self.path}: {what}")
        reason = (text.splitlines() or [type(error).__name__])[0]
        return ValueError(
            f"{self.path} cannot be read as {self.kind}, it may be cut off: {reason} "
            f"(after row {row})"
        )


# A text file that another program is writing: its rows so far.


class GrowingFile:
    """A file to which rows are added."""

    def __init__(self, path: Path) -> None:
        self.path, self.kind = path, file_kind(path)
        lines = self.kind in DELIMITERS or "JSON" in self.kind
        if not lines or path.suffix.lower() in COMPRESSED:
            raise ValueError(f"{path} is watched while it grows: it must be .csv, .tsv or .jsonl")
        #: Bytes of the rows that were taken.
        self.size = 0

    def grown(self) -> bool:
        """Whether there may be more rows; refuse a file that was cut."""
        size = self.path.stat().st_size
        if size < self.size:
            raise ValueError(
                f"{self.path} has become shorter, from {self.size} bytes to {size}: "
                "rows must only be added"
            )
        return size > self.size

    @contextmanager
    def rows(self) -> Iterator[Path]:
        """Copy all whole rows to a file that does not grow.

        The last row may be half written: it is left for later.
        """
        with TemporaryDirectory() as folder:
            copy = Path(folder) / self.path.name
            with self.path.open("rb") as source, copy.open("wb") as target:
                ends, whole, done = RowEnds(self.kind), 0, 0
                while piece := source.read(_BLOCK):
                    if end := ends.last(piece):
                        whole = done + end
                    done += len(piece)
                    target.write(piece)
                target.truncate(whole)
            self.size = whole
            yield copy
