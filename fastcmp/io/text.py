"""CSV, TSV and JSON lines, read in blocks of lines.

Types of columns are inferred from the first block. A later value that does not fit
them is an error: read as a whole, the file might have had another type.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Self

import pyarrow as pa

from fastcmp.io.formats import DELIMITERS, check_names, check_text, reading
from fastcmp.io.inferred_types import InferredTypes
from fastcmp.io.lines import Lines, RowEnds
from fastcmp.io.mapped import Block, Place
from fastcmp.io.parsing import parse_rows
from fastcmp.io.text_types import converted

if TYPE_CHECKING:
    from collections.abc import Container, Iterator
    from pathlib import Path

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
        self,
        path: Path,
        kind: str,
        first: Self | None = None,
        labels: Container[str] | None = None,
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
        self,
        data: bytes,
        asked: dict[str, Any],
        names: list[str] | None,
        *,
        threads: bool = True,
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
