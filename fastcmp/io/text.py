"""CSV, TSV and JSON lines, read in blocks of lines.

Types of columns are inferred from the first block. A later value that does not fit
them is an error: read as a whole, the file might have had another type.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from fastcmp.io.formats import (
    COMPRESSED,
    DELIMITERS,
    beginning,
    check_names,
    check_text,
    csv_options,
    file_kind,
    is_utf16,
    reading,
)
from fastcmp.io.mapped import Block, Place
from fastcmp.io.text_types import (
    BEYOND,
    NUMBER,
    WHOLE,
    converted,
    has_codes,
    in_numbers,
    in_words,
    label_type,
    score_type,
)

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
        """Tell how much of the file is read."""
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
                    self._check_closed(ends)
                    held, data = [], b"".join(held)
                elif end:
                    data = b"".join([*held, memoryview(piece)[:end]])
                    held = [piece[end:]]
                else:
                    held.append(piece)
                    data = b""
                if sum(map(len, held)) > _LONGEST:
                    raise ValueError(self._too_long())
                self.start, self.end = self.end, self.end + len(data)
                if data:
                    self._check_depth(data)
                    yield data
                if not piece:
                    return

    def _skip(self, stream: Any, codec: str | None) -> None:
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

    def _too_long(self) -> str:
        quote = "; is a quote left open?" if self._kind in DELIMITERS else ""
        return (
            f"{self._path}: the row that begins at byte {self.end} is longer than "
            f"{_LONGEST // 1_000_000} MB, the longest that is read{quote}"
        )

    def _check_closed(self, ends: RowEnds) -> None:
        """Refuse a quote that would make one cell of all the rest of the file."""
        if ends.inside:
            raise ValueError(
                f"{self._path} cannot be read as {self._kind}, it may be cut off: a "
                f"quote in or after the row that begins at byte {self.end} is not "
                "closed"
            )

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
            if _depth(data[limits[row] : limits[row + 1]]) > _DEEPEST:
                raise ValueError(
                    f"{self._path}: a row after byte {self.start} holds brackets "
                    f"within brackets, more than {_DEEPEST} deep"
                )


def _depth(line: bytes) -> int:
    """Count how deep the brackets of a row of JSON are nested."""
    codes = np.frombuffer(_STRING.sub(b"", line), np.uint8) | 0x20
    steps = (codes == ord("{")).astype(np.int64) - (codes == ord("}"))
    return int(np.cumsum(steps).max(initial=0))


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
        """Find the end of the last row."""
        end = max(piece.rfind(mark) for mark in self._marks) + 1
        if not self._is_quoted or not piece:
            return end
        inside, turns = self.inside, self._turns(piece)
        if end == 0 or (inside + np.searchsorted(turns, end)) % 2 == 0:
            return end
        ends = _outside(piece, turns, inside=inside)
        return int(ends[-1]) + 1 if ends.size else 0

    def first(self, piece: bytes) -> int:
        """Find the end of the first row that is not blank."""
        ends = _outside(piece, self._turns(piece), inside=False)
        ends = ends[ends >= len(piece) - len(piece.lstrip())]
        return int(ends[0]) + 1 if ends.size else len(piece)

    def _turns(self, piece: bytes) -> NDArray[np.int64]:
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

    def _opens(self, before: NDArray[np.uint8]) -> NDArray[np.bool_]:
        """Tell whether quotes open cells, by what stands before them."""
        opens: NDArray[np.bool_] = before == self._delimiter
        opens |= (before == _LINE_FEED) | (before == _RETURN)
        return opens

    def _before_quotes(self, piece: bytes, quotes: NDArray[np.int64]) -> NDArray[np.uint8]:
        """List what stands before quotes; a line break where nothing does."""
        before: NDArray[np.uint8] = np.frombuffer(piece, np.uint8)[quotes - 1]
        if quotes.size and quotes[0] == 0:
            before[0] = _LINE_FEED if self._before is None else self._before
        if self._before is None and piece.startswith(_BOM):
            before[quotes == len(_BOM)] = _LINE_FEED
        return before

    def _walk(self, quotes: NDArray[np.int64], opens: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Leave out quotes that are part of the text, one by one."""
        inside, turns = self.inside, []
        closed = -1 if self._before == _QUOTE else -2
        for place, fits in zip(quotes.tolist(), opens.tolist(), strict=True):
            if inside or fits or place == closed + 1:
                inside = not inside
                turns.append(place)
                closed = closed if inside else place
        return np.array(turns, np.int64)


def _outside(piece: bytes, turns: NDArray[np.int64], *, inside: bool) -> NDArray[np.int64]:
    """List the line breaks outside of quoted cells."""
    codes = np.frombuffer(piece, np.uint8)
    breaks = np.flatnonzero((codes == _LINE_FEED) | (codes == _RETURN))
    ends: NDArray[np.int64] = breaks[(inside + np.searchsorted(turns, breaks)) % 2 == 0]
    return ends


# Rows of text as tables of pyarrow, of types that are known or as they seem to be.


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


# Types of the columns of a text file, inferred from the rows read so far.


class InferredTypes:
    """What the columns of a text file hold, so far, and their types."""

    def __init__(self, kind: str, labels: Container[str] | None) -> None:
        self._kind = kind
        self._is_csv = kind in DELIMITERS
        self._labels = labels
        #: Types of the columns, in their order.
        self.types: dict[str, Any] = {}
        # None where JSON has a type that no labels have.
        self._found: dict[str, int | None] = {}
        # Whole numbers that are not written as pyarrow reads them, such as 1.0.
        self._by_text: set[str] = set()

    def is_label(self, name: str) -> bool:
        """Tell whether a column holds labels or ids."""
        return self._labels is None or name in self._labels

    def found_in(self, name: str) -> int | None:
        """Tell what a column holds, so far."""
        return self._found[name] if self._is_csv else None

    def look(self, data: bytes, table: Any, names: Sequence[str] | None) -> None:
        """Note what the columns of some rows hold, and choose types for it."""
        for name in table.column_names:  # in this order
            self.types.setdefault(name, pa.null())
        codes = self.may_merge(data)
        unsure = []
        for name, column in zip(table.column_names, table.columns, strict=True):
            found = in_numbers(column)
            may_merge = found == NUMBER
            if self._is_csv and self.is_label(name):
                is_code = codes and pa.types.is_integer(column.type)
                may_merge = is_code or bool(found and pa.types.is_floating(column.type))
            if may_merge:
                unsure.append(name)
            else:
                self._note(name, column.type, found)
        if unsure and self._is_csv:
            asked = dict.fromkeys(unsure, pa.string())
            texts = parse_rows(data, self._kind, asked, names=names)
        for name in unsure:
            if self._is_csv:
                words = texts.column(name).unique()
                self._note(name, table.column(name).type, in_words(words))
            else:
                self._note(name, pa.float64(), self._in_json(data, name))

    def _in_json(self, data: bytes, name: str) -> int:
        """Tell whether whole numbers that pyarrow reads as floats fit another type."""
        asked = {name: pa.uint64()}
        try:
            table = parse_rows(data, self._kind, asked, others="ignore")
        except pa.ArrowInvalid:
            return NUMBER
        return in_numbers(table.column(name))

    def _note(self, name: str, kind: Any, found: int | None) -> None:
        """Add to what was found in a column, and choose its type."""
        if not self._is_csv and pa.types.is_nested(kind):
            found = None
        before = self._found.get(name, 0)
        if found is None or before is None:
            self._found[name], self.types[name] = None, kind
            return
        choose = score_type
        if self._is_csv and self.is_label(name):
            choose = label_type
            if pa.types.is_floating(kind):
                self._by_text.add(name)
        elif pa.types.is_floating(kind) and found & ~(WHOLE | BEYOND):
            found = NUMBER  # however it is written
        self._found[name] = found | before
        self.types[name] = choose(found | before)

    def merge(self, other: Self) -> None:
        """Add what was found in another file."""
        for name, found in other._found.items():
            self._note(name, other.types[name], found)
        self._by_text |= other._by_text

    def adopt(self, first: Self, names: Sequence[str]) -> None:
        """Take over what was found in another file."""
        self.types = {name: first.types.get(name, pa.null()) for name in names}
        self._found = {name: first._found.get(name, 0) for name in names}
        self._by_text = set(first._by_text)

    def may_merge(self, data: bytes) -> bool:
        """Tell whether pyarrow may read different texts as one whole number."""
        return self._is_csv and (self._labels is not None or has_codes(data))

    def asked(self, wanted: dict[str, Any], *, careful: bool) -> dict[str, Any]:
        """Choose the types to ask pyarrow for: text where it might merge texts."""
        asked = {}
        for name, kind in wanted.items():
            is_text = pa.types.is_integer(kind) and (careful or name in self._by_text)
            if pa.types.is_floating(kind):
                is_text = not (self._found[name] or 0) & NUMBER
            is_text = is_text and self._is_csv and self.is_label(name)
            asked[name] = pa.string() if is_text else kind
        return asked

    def be_careful(self, names: Sequence[str]) -> None:
        """Ask for text wherever whole numbers are."""
        self._by_text.update(names)


_BLOCK = 4_000_000  # bytes
_WHOLE = 4  # blocks that are parsed at once where a file is read as a whole
_EXACT = 2**53  # below it all whole numbers are floats
_IN_CSV = re.compile(
    r"In CSV column #(\d+): (?:Row #(\d+): )?CSV conversion error to (.+?): "
    r"(invalid UTF8 data|invalid value '(.*)')",
    re.DOTALL,
)
_IN_JSON = re.compile(r"Column\(/(.*)\) changed from (\w+) to (\w+) in row (\d+)")
_JSON_VALUE = re.compile(r"Failed to convert JSON to (\S+), couldn't parse:(.*)")


class LateValueError(ValueError):
    """A value does not fit the types of the first block.

    Read as a whole, the file may have other types, and then be no error.
    """


class TextPart:
    """A file of lines, perhaps compressed."""

    def __init__(
        self, path: Path, kind: str, first: Self | None = None, labels: Container[str] | None = None
    ) -> None:
        self.path, self.kind = path, kind
        self.n_rows: int | None = None
        #: Whether the columns to read were named, so that others do not matter.
        self.named = False
        #: The column of ids, whose text is left as it is.
        self.many: str | None = None
        self._is_csv = kind in DELIMITERS
        #: What is known of the types of its columns.
        self.inferred = InferredTypes(kind, labels)
        with reading(path, kind):
            data, table = self._beginning(header_only=first is not None)
            names = table.column_names
            check_names(path, names)
            if first is None:
                kinds = dict(zip(names, table.schema.types, strict=True))
                check_text(path, kinds)
                self.inferred.look(data, table, None)
            else:
                self.inferred.adopt(first.inferred, names)
        self.n_first = table.num_rows

    @property
    def types(self) -> dict[str, Any]:
        """All columns, with their types."""
        return self.inferred.types

    def _beginning(self, *, header_only: bool) -> tuple[bytes, Any]:
        """Read the first block, or as much of the file as has a row."""
        first, table = b"", None
        for data in Lines(self.path, self.kind, _BLOCK):
            first += data
            if header_only and self._is_csv:
                first = first[: RowEnds(self.kind).first(first)]
            table = parse_rows(first, self.kind)
            if table.num_rows or header_only:
                break
        return first, parse_rows(b"", self.kind) if table is None else table

    def learn(self) -> None:
        """Read the whole file for the types of its columns."""
        lines = Lines(self.path, self.kind, _BLOCK)
        with reading(self.path, self.kind):
            for data in lines:
                names = self._names(lines)
                table = parse_rows(data, self.kind, names=names)
                kinds = dict(zip(table.column_names, table.schema.types, strict=True))
                check_text(self.path, kinds)
                self.inferred.look(data, table, names)

    def _names(self, lines: Lines) -> list[str] | None:
        """List the columns, unless the rows begin with their names."""
        return list(self.types) if self._is_csv and lines.start else None

    def blocks(
        self, columns: list[str], start: Place, at_once: int | None = None
    ) -> Iterator[Block]:
        """Read blocks of lines."""
        row = start.rows
        wanted = {name: self.types[name] for name in columns}
        lines = Lines(self.path, self.kind, at_once or _BLOCK, start.n_bytes)
        for data in lines:
            names = self._names(lines)
            try:
                own, n_rows = self._columns(data, wanted, row, names)
            except pa.ArrowCancelled:
                raise
            except (pa.ArrowException, UnicodeDecodeError) as error:
                raise self._explained(error, data, wanted, row, names) from None
            if n_rows:
                yield Block(
                    columns=own,
                    n_rows=n_rows,
                    start=Place(row, lines.start),
                    end=Place(row + n_rows, lines.end),
                    fraction=lines.fraction(),
                )
            row += n_rows

    def table(self, columns: list[str]) -> Any:
        """Read the whole file."""
        read = self.blocks(columns, Place(), at_once=_WHOLE * _BLOCK)
        blocks = [block.columns for block in read]
        if not blocks:
            none = {name: pa.array([], self.types[name]) for name in columns}
            return pa.table(none)
        return pa.table(
            {name: pa.chunked_array([own[name] for own in blocks]) for name in columns}
        ).unify_dictionaries()

    def _columns(
        self, data: bytes, wanted: dict[str, Any], row: int, names: list[str] | None
    ) -> tuple[dict[str, Any], int]:
        """Parse lines as the types that are wanted, merging no two texts."""
        asked = self.inferred.asked(wanted, careful=self.inferred.may_merge(data))
        try:
            table = self._parsed(data, asked, names)
        except pa.ArrowInvalid:
            careful = self.inferred.asked(wanted, careful=True)
            if careful == asked:
                raise
            asked, table = careful, self._parsed(data, careful, names)
            self.inferred.be_careful(list(wanted))
        table = table.combine_chunks()
        own = {name: _whole(table.column(name)) for name in wanted}
        for name, kind in wanted.items():
            if not self.inferred.is_label(name):
                continue
            if not self._is_csv:
                self._check_exact(name, own[name])
            elif asked[name] == pa.string() and (name != self.many or kind != asked[name]):
                column, bad = converted(own[name], kind)
                if bad is not None:
                    at, value = f"at row {row + bad}", own[name][bad].as_py()
                    raise LateValueError(self._unfit(name, value, at, kind))
                own[name] = column
        return own, table.num_rows

    def _parsed(
        self, data: bytes, asked: dict[str, Any], names: list[str] | None, *, threads: bool = True
    ) -> Any:
        others = "ignore" if self.named else "error"
        return parse_rows(data, self.kind, asked, names=names, others=others, threads=threads)

    def _check_exact(self, name: str, column: Any) -> None:
        """Refuse labels in JSON that are numbers, and too large to be exact."""
        import pyarrow.compute as pc

        if not pa.types.is_floating(column.type):
            return
        if (most := pc.max(pc.abs(column)).as_py()) is not None and most >= _EXACT:
            raise ValueError(
                f"{self.path}: column {name!r} holds numbers of 2^53 and more beside "
                f"others than whole ones from 0 to 2^64 (such as {most:g}), which "
                'are not exact: write labels and ids as text, in quotes (")'
            )

    def _explained(  # where it is, and what is known of it
        self,
        error: Exception,
        data: bytes,
        wanted: dict[str, Any],
        row: int,
        names: list[str] | None,
    ) -> ValueError:
        """Find the value that does not fit: with one thread pyarrow counts rows."""
        asked = self.inferred.asked(wanted, careful=True)
        try:
            self._parsed(data, asked, names, threads=False)
        except UnicodeDecodeError:
            return ValueError(f"{self.path} is not UTF-8 text (after row {row})")
        except pa.ArrowException as again:
            if found := _IN_CSV.search(str(again)):
                return self._misfit(found, row, has_header=self._is_csv and names is None)
            late = self._late_in_json(str(again), row)
            return late or ValueError(f"{self._cannot(again)} (after row {row})")
        return ValueError(self._cannot(error))

    @property
    def _advice(self) -> str:
        return (
            f"; types are those of the first {self.n_first} rows: convert the file to "
            "Parquet, where each column has one type"
        )

    def _misfit(self, found: re.Match[str], row: int, *, has_header: bool) -> ValueError:
        """Name the cell that pyarrow found in CSV."""
        place, line, kind, what, value = found.groups()
        name = list(self.types)[int(place)]
        at = f"after row {row}"
        if line is not None:
            at = f"at row {row + int(line) - 1 - has_header}"
        if what == "invalid UTF8 data":
            return ValueError(f"{self.path} is not UTF-8 text (column {name!r}, {at})")
        return LateValueError(self._unfit(name, value, at, kind))

    def _unfit(self, name: str, value: str, at: str, kind: Any) -> str:
        what = f"column {name!r} holds {value!r} {at}, which is no {kind}"
        return f"{self.path}: {what}{self._advice}"

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
        """Tell whether there may be more rows; refuse a file that was cut."""
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
