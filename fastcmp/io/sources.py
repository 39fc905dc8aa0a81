"""A file, or a folder of files, as one table that is read block by block."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from fastcmp.io.formats import (
    COMPRESSED,
    NoRowsError,
    decoded,
    family,
    file_kind,
    parts_of,
    reading,
    value_type,
)
from fastcmp.io.mapped import ArrowPart, Block, ParquetPart, Place
from fastcmp.io.text import TextPart
from fastcmp.io.text_types import TEXTS, Seen, as_type, converted, found_in, id_types, label_type

Part = ParquetPart | ArrowPart | TextPart

_TEXT = 24  # bytes of a word, with its place
_GROWTH = (8, 40)  # bytes in memory for one of a file; of one that is compressed


class Source:
    """A file, or a folder of files that are parts of one table.

    Columns of labels in CSV are open: they are read as texts, and `settled` gives them
    the types that what was read until then has, or those that `read_as` names.
    """

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
            _check_part(self.parts[0], part)
        self._sizes = [part.path.stat().st_size for part in self.parts]
        self._open = all(isinstance(part, TextPart) and part.is_csv for part in self.parts)
        #: What was found in open columns.
        self.meanings: dict[str, int] = {}
        self._kinds: dict[str, tuple[Any, bool]] = {}

    @property
    def types(self) -> dict[str, Any]:
        """Columns, and types in the first part, or its first rows."""
        return self.parts[0].types

    def note(self, columns: Mapping[str, Any]) -> None:
        """Look at what open columns hold."""
        first = self.parts[0]
        for name, column in columns.items() if self._open else ():
            if column.type == TEXTS or (isinstance(first, TextPart) and first.is_label(name)):
                self.meanings[name] = self.meanings.get(name, 0) | found_in(column)

    def seen(self, name: str) -> Seen:
        """What is known of a column of labels."""
        if not self._open:
            return Seen(self.types[name], None)
        meanings = self.meanings.get(name, 0)
        return Seen(label_type(meanings), meanings)

    def read_as_ids(self, names: Iterable[str]) -> None:
        """Choose types of open columns in which no two ids merge."""
        for name in names:
            self.read_as(name, id_types([self.seen(name)])[0])

    def read_as(self, name: str, kind: object, *, truths: bool = True) -> None:
        """Choose the type of an open column; without `truths` true and True are two texts."""
        self._kinds[name] = kind, truths

    def settled(self, columns: object, row: int = 0) -> Any:
        """A table or block, its open columns converted to their types; `row` is the first."""
        if not self._open:
            return columns
        converted_columns = dict(columns) if isinstance(columns, dict) else columns_in(columns)
        for name, column in converted_columns.items():
            kind, truths = self._kinds.get(name, (None, True))
            if kind is None:
                kind = label_type(self.meanings[name]) if name in self.meanings else column.type
            try:
                converted_columns[name] = converted(column, kind, truths=truths)
            except LookupError as error:
                text, place = error.args
                raise ValueError(
                    f"{self.path}: column {name!r} holds {text!r} at row {row + place}, "
                    f"which is no {kind}"
                ) from None
        return converted_columns if isinstance(columns, dict) else pa.table(converted_columns)

    def table(self, columns: list[str] | None = None) -> Any:
        """Read the whole source; open columns as texts, see `settled`."""
        columns = list(self.types) if columns is None else columns
        chunks: dict[str, list[Any]] = {name: [] for name in columns}
        for _, block, _ in self.blocks(columns, whole=True):
            for name, pieces in chunks.items():
                column = block.columns[name]
                pieces.extend(column.chunks if isinstance(column, pa.ChunkedArray) else [column])
        whole_columns = {name: self._joined(name, pieces) for name, pieces in chunks.items()}
        if not len(whole_columns[columns[0]]):
            raise NoRowsError(self.path)
        self.note(whole_columns)
        with reading(self.path, "a table"):
            return pa.table(whole_columns).unify_dictionaries()

    def _joined(self, name: str, chunks: list[Any]) -> Any:
        """One column of chunks that may differ in type."""
        kinds = {chunk.type for chunk in chunks} - {pa.null()}
        if texts := kinds & {TEXTS, pa.string()} if self._open else None:
            kinds = texts  # of labels that were plain numbers at first
        if pa.uint64() in kinds and all(map(pa.types.is_integer, kinds)):
            kinds = {pa.uint64()}
        if len(kinds) > 1:
            chunks = [decoded(chunk) for chunk in chunks]
            fields = [pa.schema([(name, value_type(kind))]) for kind in kinds]
            try:
                kinds = {pa.unify_schemas(fields, promote_options="permissive").field(0).type}
            except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
                raise ValueError(f"the files of {self.path} do not go together: {error}") from None
        kind = kinds.pop() if kinds else pa.null()
        try:
            column = pa.chunked_array([as_type(chunk, kind) for chunk in chunks], kind)
        except pa.ArrowInvalid:  # whole numbers beyond int64 beside others
            kind = pa.float64()
            column = pa.chunked_array([chunk.cast(kind, safe=False) for chunk in chunks], kind)
        if isinstance(first := self.parts[0], TextPart):
            first.check_exact(name, column)
        return column

    @property
    def n_rows(self) -> int | None:
        """Number of rows; None where it is not known before reading."""
        part_rows = [part.n_rows for part in self.parts if part.n_rows is not None]
        return sum(part_rows) if len(part_rows) == len(self.parts) else None

    def expect(self, id_column: str | None, *, named: bool) -> None:
        """Note what is known of the columns that will be read."""
        for part in self.parts:
            if not isinstance(part, ArrowPart):
                part.many = id_column
            if isinstance(part, TextPart):
                part.named = named

    def inputs(self) -> list[list[Any]]:
        """Path, size and time of each part, on which a checkpoint depends."""
        stamps = []
        for part in self.parts:
            stat = part.path.stat()
            stamps.append([str(part.path.resolve()), stat.st_size, stat.st_mtime_ns])
        return stamps

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
        self, columns: list[str], start: Sequence[int] = (0, 0, 0), *, whole: bool = False
    ) -> Iterator[tuple[int, Block, float]]:
        """Read blocks of rows, larger ones where the `whole` source will be held."""
        before, all_bytes = sum(self._sizes[: start[0]]), sum(self._sizes)
        place = Place(*start[1:])
        for i in range(start[0], len(self.parts)):
            for block in self.parts[i].blocks(columns, place, whole=whole):
                if not self._open:  # among files with types, texts have that which they show
                    for name, column in block.columns.items():
                        if column.type == TEXTS and isinstance(self.parts[i], TextPart):
                            block.columns[name] = converted(column, label_type(found_in(column)))
                fraction = (before + block.fraction * self._sizes[i]) / all_bytes
                yield i, block, fraction
            before += self._sizes[i]
            place = Place()


def read_table(path: str | Path, *, labels: Container[str] | None = None) -> Any:
    """Read one file or a folder of them, formats known by extensions."""
    source = Source(Path(path), labels)
    return source.settled(source.table())


def columns_in(table: pa.Table | pa.RecordBatch) -> dict[str, Any]:
    """The columns of a table, or of a batch of rows, by name."""
    return dict(zip(table.schema.names, table.columns, strict=True))


def _width(kind: pa.DataType) -> int:
    """Bytes that a value takes; a guess for text."""
    try:
        return -(-int(kind.bit_width) // 8)
    except ValueError:  # text, and what else has no fixed width
        return _TEXT


def _check_part(first: Part, part: Part) -> None:
    """Refuse a part of a table with other columns than the first part, or of other types."""
    if odd := sorted(first.types.keys() ^ part.types.keys()):
        verb = "has a" if odd[0] in part.types else "lacks the"
        raise ValueError(
            f"{part.path} {verb} column {odd[0]!r}, unlike {first.path}: the files of a folder "
            "must have the same columns"
        )
    for name, kind in first.types.items():
        part_type = part.types[name]
        if "" not in (family(kind), family(part_type)) and family(kind) != family(part_type):
            raise ValueError(
                f"{part.path}: column {name!r} is of type {part_type}, unlike {first.path} "
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
        """Number of rows that can be taken, after reading on where there are none."""
        while self._block is None or self._used >= self._block.n_rows:
            skip = 0 if self._block is None else self._block.n_rows
            self._used -= skip
            step = next(self._blocks, None)
            if step is None:
                self._block = None
                return 0
            self._part, self._block, self.fraction = step
            self._source.note(self._block.columns)
            self._start = [self._part, *self._block.start]
        return self._block.n_rows - self._used

    def take(self, n: int) -> dict[str, Any]:
        """Take the next rows."""
        assert self._block is not None
        columns = self._block.cut(self._used, self._used + n)
        self._used += n
        return columns

    def position(self) -> list[Any]:
        """Where the next row is."""
        block = self._block
        if block is not None and self._used == block.n_rows:
            return [self._part, *block.end, 0, self.last]
        return [*self._start, self._used, self.last]

    def where(self) -> str:
        """Name the file that is read."""
        return str(self._source.parts[self._part].path)
