"""A file, or a folder of files, as one table that is read block by block."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from fastcmp.io.formats import (
    COMPRESSED,
    check_columns,
    decoded,
    family,
    file_kind,
    no_rows,
    parts_of,
    value_type,
)
from fastcmp.io.mapped import ArrowPart, Block, ParquetPart, Place
from fastcmp.io.text import LateValueError, TextPart
from fastcmp.io.text_types import Seen

Part = ParquetPart | ArrowPart | TextPart

_TEXT = 24  # bytes of a word, with its place
_GROWTH = (8, 40)  # bytes in memory for one of a file; of one that is compressed


class Source:
    """A file, or a folder of files that are parts of one table."""

    def __init__(self, path: Path, labels: Container[str] | None = None) -> None:
        self.path = path
        self.parts: list[Part] = []
        first_text: TextPart | None = None  # its types are those of all files
        for file in parts_of(path):
            kind = file_kind(file)
            part: Part
            if kind == "Parquet":
                part = ParquetPart(file)
            elif kind == "Arrow":
                part = ArrowPart(file)
            else:
                part = TextPart(file, kind, first_text, labels)
                first_text = first_text or part
            self.parts.append(part)
            self._check_part(part)
        self._sizes = [part.path.stat().st_size for part in self.parts]

    @property
    def types(self) -> dict[str, Any]:
        """Columns, and types in the first part."""
        return self.parts[0].types

    def seen(self, name: str) -> Seen:
        """Tell what is known of a column of labels."""
        first = self.parts[0]
        found = first.inferred.found_in(name) if isinstance(first, TextPart) else None
        return Seen(first.types[name], found)

    def read_as(self, name: str, kind: Any) -> None:
        """Choose another type for a column of text files."""
        for part in self.parts:
            if isinstance(part, TextPart):
                part.types[name] = kind

    def learn(self) -> None:
        """Read all text files for the types of their columns."""
        texts = [part for part in self.parts if isinstance(part, TextPart)]
        for part in texts:
            part.learn()
            self._check_part(part)
        for part in texts[1:]:
            texts[0].inferred.merge(part.inferred)
        for part in texts[1:]:
            part.inferred.adopt(texts[0].inferred, list(part.types))

    def table(self, columns: list[str] | None = None) -> Any:
        """Read the whole source."""
        columns = list(self.types) if columns is None else columns
        tables = [part.table(columns) for part in self.parts]
        if any(table.schema != tables[0].schema for table in tables):
            tables = [_written_out(table) for table in tables]
        whole = tables[0]
        for part, more in zip(self.parts[1:], tables[1:], strict=True):
            try:
                whole = pa.concat_tables([whole, more], promote_options="permissive")
            except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
                first = self.parts[0].path
                raise ValueError(f"{part.path} does not go with {first}: {error}") from None
        if whole.num_rows == 0:
            raise ValueError(no_rows(self.path))
        return whole

    def _check_part(self, part: Part) -> None:
        first = self.parts[0]
        check_columns(first.path, list(first.types), part.path, list(part.types))
        _check_kinds(first, part)

    @property
    def n_rows(self) -> int | None:
        """Number of rows; None where it is not known before reading."""
        known = [part.n_rows for part in self.parts if part.n_rows is not None]
        return sum(known) if len(known) == len(self.parts) else None

    def expect(self, id_column: str | None, *, named: bool) -> None:
        """Say what is known of the columns that will be read."""
        for part in self.parts:
            if not isinstance(part, ArrowPart):
                part.many = id_column
            if isinstance(part, TextPart):
                part.named = named

    def inputs(self) -> list[list[Any]]:
        """Tell what a checkpoint of this source depends on."""
        found = []
        for part in self.parts:
            stat = part.path.stat()
            found.append([str(part.path.resolve()), stat.st_size, stat.st_mtime_ns])
        return found

    def size_in_memory(self) -> int:
        """Estimate what the source would take if it were read as a whole."""
        size = 0
        width = sum(map(_width, self.types.values()))
        for part, n_bytes in zip(self.parts, self._sizes, strict=True):
            if part.n_rows is not None:
                size += part.n_rows * width
            else:
                size += n_bytes * _GROWTH[part.path.suffix.lower() in COMPRESSED]
        return size

    def blocks(
        self, columns: list[str], start: Sequence[int] = (0, 0, 0)
    ) -> Iterator[tuple[int, Block, float]]:
        """Read blocks of rows."""
        before, all_bytes = sum(self._sizes[: start[0]]), sum(self._sizes)
        place = Place(*start[1:])
        for i in range(start[0], len(self.parts)):
            for block in self.parts[i].blocks(columns, place):
                fraction = (before + block.fraction * self._sizes[i]) / all_bytes
                yield i, block, fraction
            before += self._sizes[i]
            place = Place()


def read_table(path: str | Path, *, labels: Container[str] | None = None) -> Any:
    """Read one file or a folder of them, formats known by extensions."""
    source = Source(Path(path), labels)
    try:
        return source.table()
    except LateValueError:
        source.learn()
        return source.table()


def _written_out(table: Any) -> Any:
    """Write dictionaries out, so that types are the same."""
    columns = [
        pa.chunked_array([decoded(chunk) for chunk in column.chunks], value_type(kind))
        for column, kind in zip(table.columns, table.schema.types, strict=True)
    ]
    return pa.table(columns, names=table.column_names)


def _width(kind: Any) -> int:
    """Tell the bytes that a value takes, or guess them."""
    try:
        return -(-int(kind.bit_width) // 8)
    except ValueError:  # text, and what else has no fixed width
        return _TEXT


def _check_kinds(first: Part, part: Part) -> None:
    for name, kind in first.types.items():
        own = part.types[name]
        if "" not in (family(kind), family(own)) and family(kind) != family(own):
            raise ValueError(
                f"{part.path}: column {name!r} is of type {own}, unlike {first.path} "
                f"({kind}): the files of a folder must have the same columns"
            )


class Cursor:
    """A source that is read row by row, in step with others."""

    def __init__(self, source: Source, columns: list[str], position: list[Any]) -> None:
        self._used: int
        *start, self._used, last = position or [0, 0, 0, 0, None]
        self._blocks = source.blocks(columns, start)
        self._source = source
        self._block: Block | None = None
        self._part = 0
        self._start = start
        self.fraction = 0.0
        self.last = last

    def left(self) -> int:
        """Tell how many rows can be taken, reading on where there are none."""
        while self._block is None or self._used >= self._block.n_rows:
            skip = 0 if self._block is None else self._block.n_rows
            self._used -= skip
            found = next(self._blocks, None)
            if found is None:
                self._block = None
                return 0
            self._part, self._block, self.fraction = found
            self._start = [self._part, *self._block.start]
        return self._block.n_rows - self._used

    def take(self, n: int) -> dict[str, Any]:
        """Take the next rows."""
        assert self._block is not None
        columns = self._block.cut(self._used, self._used + n)
        self._used += n
        return columns

    def position(self) -> list[Any]:
        """Tell where the next row is."""
        block = self._block
        if block is not None and self._used == block.n_rows:
            return [self._part, *block.end, 0, self.last]
        return [*self._start, self._used, self.last]

    def where(self) -> str:
        """Name the file that is read."""
        return str(self._source.parts[self._part].path)
