"""Parquet and Arrow files, read in blocks of rows from a map of the file.

Pages of a mapped file count as memory while they are touched, so they are given back
block by block. In memory are only the pages that pyarrow is decoding, one a column.
"""

from __future__ import annotations

import mmap
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from fastcmp.io.formats import check_names, plain_array, plain_type, reading

_CELLS = 1_000_000  # of a block, as rows of a file with one column
_ROWS = (1 << 10, 1 << 19)  # of a block, at least and at most
_BEFORE_STREAM = 8  # bytes of an Arrow file
_GIVEN_BACK = 16_000_000  # bytes of a file, after which its pages are given back


class Place(NamedTuple):
    """Where a block begins in its file."""

    rows: int = 0
    #: Of text, uncompressed; 0 in other formats.
    n_bytes: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """Some rows of a file."""

    #: Arrow arrays by the names of their columns.
    columns: dict[str, Any]
    n_rows: int
    start: Place
    #: Where the next block begins.
    end: Place
    #: Proportion of the file that is read with this block.
    fraction: float

    def cut(self, start: int, stop: int) -> dict[str, Any]:
        """Take some of the rows."""
        if start == 0 and stop == self.n_rows:
            return self.columns
        return {name: column.slice(start, stop - start) for name, column in self.columns.items()}


def block_rows(n_columns: int) -> int:
    """Choose how many rows to read at once."""
    return max(_ROWS[0], min(_ROWS[1], _CELLS // max(1, n_columns)))


class _Map:
    """A file in memory that is not kept there."""

    def __init__(self, path: Path) -> None:
        with path.open("rb") as file:
            self._map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        self._path = path
        self._size = len(self._map)
        self._given = 0.0
        self.buffer = pa.py_buffer(self._map)

    def give_back(self, fraction: float) -> None:
        """Forget the pages that were read, once in a while."""
        # A page beyond the end of a file that was cut would end the process.
        if self._map.size() < self._size:
            raise ValueError(f"{self._path} became shorter while it was read")
        read = fraction * self._size
        if read - self._given >= _GIVEN_BACK and hasattr(mmap, "MADV_DONTNEED"):
            self._map.madvise(mmap.MADV_DONTNEED)
            self._given = read


class ParquetPart:
    """A Parquet file."""

    def __init__(self, path: Path, kind: str = "Parquet") -> None:
        self.path, self.kind = path, kind
        self._map = _Map(path)
        with reading(path, kind):
            self._file = self._open()
            schema = self._file.schema_arrow
            metadata = self._file.metadata
            self.n_rows: int | None = metadata.num_rows
            groups = map(metadata.row_group, range(metadata.num_row_groups))
            n_found = sum(group.num_rows for group in groups)
            names = schema.names
        if n_found != self.n_rows:
            raise ValueError(
                f"{path} is damaged: it says that it holds {self.n_rows} rows, and "
                f"that its groups of rows hold {n_found}"
            )
        check_names(path, names)
        self.types = _types_in(schema)
        #: A column of words that are not few: the ids.
        self.many: str | None = None

    def blocks(self, columns: list[str], start: Place, *, whole: bool = False) -> Iterator[Block]:
        """Read blocks of rows; words that are few come as codes, in a quarter of the time."""
        texts = [name for name in columns if pa.types.is_string(self.types[name])]
        words = [name for name in texts if name != self.many]
        groups, skip = self._groups_from(start.rows)

        def batches() -> Iterator[Any]:
            if not groups:  # of none, old releases of Arrow ask for the last
                return
            n = _ROWS[1] if whole else block_rows(len(columns))
            file = self._open(words)
            for batch in file.iter_batches(n, row_groups=groups, columns=columns):
                batch.validate(full=True)  # offsets, codes and UTF-8
                yield batch

        yield from _cut(self, columns, batches, (start.rows - skip, skip), self._map)

    def _open(self, words: list[str] | None = None) -> Any:
        from pyarrow import parquet

        source = pa.BufferReader(self._map.buffer)
        return parquet.ParquetFile(source, read_dictionary=words, page_checksum_verification=True)

    def _groups_from(self, row: int) -> tuple[list[int], int]:
        """List the row groups from a row on, and how many rows to skip in them."""
        metadata = self._file.metadata
        before = 0
        for i in range(metadata.num_row_groups):
            n = metadata.row_group(i).num_rows
            if before + n > row:
                return list(range(i, metadata.num_row_groups)), row - before
            before += n
        return [], row - before


class ArrowPart:
    """An Arrow file (Feather, version 2)."""

    def __init__(self, path: Path, kind: str = "Arrow") -> None:
        self.path, self.kind = path, kind
        self._map = _Map(path)
        with reading(path, kind):
            schema = self._open(None).schema
            names = schema.names
        check_names(path, names)
        self._check_batches()
        self.n_rows: int | None = None  # each batch says its own, the file does not
        self.types = _types_in(schema)

    def _check_batches(self) -> None:
        """Refuse a list of batches at the end of the file that leaves some out."""
        listed = self._open(None).num_record_batches
        source = pa.BufferReader(self._map.buffer.slice(_BEFORE_STREAM))
        n_batches = 0
        with suppress(StopIteration, pa.ArrowException, OSError):
            messages = pa.ipc.MessageReader.open_stream(source)
            while True:
                n_batches += messages.read_next_message().type == "record batch"
        if n_batches > listed:
            raise ValueError(
                f"{self.path} is damaged: it holds {n_batches} record batches, of which "
                f"its end lists {listed}"
            )

    def _open(self, fields: list[int] | None) -> Any:
        options = pa.ipc.IpcReadOptions(included_fields=fields)
        return pa.ipc.open_file(pa.BufferReader(self._map.buffer), options=options)

    def blocks(self, columns: list[str], start: Place, *, whole: bool = False) -> Iterator[Block]:
        """Read blocks of rows."""
        n = _ROWS[1] if whole else block_rows(len(columns))

        def batches() -> Iterator[Any]:
            places = {name: i for i, name in enumerate(self.types)}
            file = self._open(sorted(places[name] for name in columns))
            for i in range(file.num_record_batches):
                batch = file.get_batch(i)
                batch.validate(full=True)  # offsets, codes and UTF-8
                for row in range(0, batch.num_rows, n):
                    done = min(1.0, (row + n) / batch.num_rows)
                    yield batch.slice(row, n), (i + done) / file.num_record_batches

        yield from _cut(self, columns, batches, (0, start.rows), self._map)


def _types_in(schema: pa.Schema) -> dict[str, Any]:
    """List columns with the types that they have here."""
    kinds = map(plain_type, schema.types)
    return dict(zip(schema.names, kinds, strict=True))


def _cut(
    part: ParquetPart | ArrowPart,
    columns: list[str],
    batches: Callable[[], Iterator[Any]],
    where: tuple[int, int],
    mapped: _Map,
) -> Iterator[Block]:
    """Make blocks of batches; `where` is their first row, and how many to skip."""
    row, skip = where
    with reading(part.path, part.kind):
        source = iter(batches())
    while True:
        with reading(part.path, part.kind):
            batch = next(source, None)
        if batch is None:
            if skip:
                raise ValueError(f"{part.path} has no row {where[0] + where[1]} to go on from")
            return
        fraction = 0.0
        if isinstance(batch, tuple):
            batch, fraction = batch
        row += batch.num_rows
        if skip >= batch.num_rows:
            skip -= batch.num_rows
            continue
        if skip:
            batch, skip = batch.slice(skip), 0
        fraction = row / part.n_rows if part.n_rows else fraction
        arrays = dict(zip(batch.schema.names, batch.columns, strict=True))
        with reading(part.path, part.kind):
            plain_columns = {name: plain_array(arrays[name]) for name in columns}
        yield Block(
            columns=plain_columns,
            n_rows=batch.num_rows,
            start=Place(row - batch.num_rows),
            end=Place(row),
            fraction=fraction,
        )
        mapped.give_back(fraction)
