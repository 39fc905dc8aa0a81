"""A file, or a folder of files, as one table that is read block by block."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fastcmp.io.formats import COMPRESSED, check_columns, file_kind, parts_of
from fastcmp.io.kinds import family
from fastcmp.io.mapped import ArrowPart, Block, ParquetPart, Place
from fastcmp.io.text import TextPart

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    Part = ParquetPart | ArrowPart | TextPart

_TEXT = 24  # bytes of a word, with its place
_GROWTH = (8, 40)  # bytes in memory for one of a file; of one that is compressed


class Source:
    """A file, or a folder of files that are parts of one table.

    Parameters
    ----------
    path : Path
        Which.

    Raises
    ------
    ValueError
        If a file cannot be read, or a part has other columns than the first.
    OSError
        If a file cannot be opened.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.parts: list[Part] = []
        told: dict[str, Any] | None = None  # by the first file of text
        for file in parts_of(path):
            kind = file_kind(file)
            part: Part
            if kind == "Parquet":
                part = ParquetPart(file)
            elif kind == "Arrow":
                part = ArrowPart(file)
            else:
                part = TextPart(file, kind, told)
                told = part.types if told is None else told
            self.parts.append(part)
            first = self.parts[0]
            check_columns(first.path, list(first.types), file, list(part.types))
            _check_kinds(first, part)
        #: Columns, and types in the first part.
        self.types = self.parts[0].types
        self._sizes = [part.path.stat().st_size for part in self.parts]

    @property
    def n_rows(self) -> int | None:
        """Number of rows; None where only reading would tell."""
        known = [part.n_rows for part in self.parts if part.n_rows is not None]
        return sum(known) if len(known) == len(self.parts) else None

    def expect(self, id_column: str | None, *, named: bool) -> None:
        """Say what is known of the columns that will be read.

        Parameters
        ----------
        id_column : str or None
            The one that holds ids, which are all different.
        named : bool
            Whether the models are chosen by name, so that others do not matter.
        """
        for part in self.parts:
            if isinstance(part, ParquetPart):
                part.many = id_column
            if isinstance(part, TextPart):
                part.named = named

    def inputs(self) -> list[list[Any]]:
        """Tell what a checkpoint of this source depends on.

        Returns
        -------
        list
            Path, size and time of the last change of each file.
        """
        found = []
        for part in self.parts:
            stat = part.path.stat()
            found.append([str(part.path.resolve()), stat.st_size, stat.st_mtime_ns])
        return found

    def size_in_memory(self) -> int:
        """Estimate what the source would take if it were read as a whole.

        Returns
        -------
        int
            Bytes; a guess from the size of the files where they do not tell.
        """
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
        """Read blocks of rows.

        Parameters
        ----------
        columns : list of str
            Which columns.
        start : sequence of int
            Number of the part, and rows and bytes before the block within it.

        Yields
        ------
        tuple of int, Block and float
            Number of the part, the block, and the share of the source that is read.
        """
        before, all_bytes = sum(self._sizes[: start[0]]), sum(self._sizes)
        place = Place(*start[1:])
        for i in range(start[0], len(self.parts)):
            for block in self.parts[i].blocks(columns, place):
                share = (before + block.share * self._sizes[i]) / all_bytes
                yield i, block, share
            before += self._sizes[i]
            place = Place()


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
            message = (
                f"{part.path}: column {name!r} is of type {own}, unlike {first.path} "
                f"({kind}): the files of a folder must have the same columns"
            )
            raise ValueError(message)


class Cursor:
    """A source that is read row by row, in step with others.

    Parameters
    ----------
    source : Source
        What to read.
    columns : list of str
        Which columns.
    position : list
        Where to begin, as `position` told it; empty for the first row.
    """

    def __init__(self, source: Source, columns: list[str], position: list[Any]) -> None:
        self._used: int
        *start, self._used, last = position or [0, 0, 0, 0, None]
        self._blocks = source.blocks(columns, start)
        self._source = source
        self._block: Block | None = None
        self._part = 0
        self._start = start
        self.share = 0.0
        self.last = last

    def left(self) -> int:
        """Tell how many rows can be taken, reading on where there are none.

        Returns
        -------
        int
            Rows left in the block; 0 at the end.
        """
        while self._block is None or self._used >= self._block.n_rows:
            skip = 0 if self._block is None else self._block.n_rows
            self._used -= skip
            found = next(self._blocks, None)
            if found is None:
                self._block = None
                return 0
            self._part, self._block, self.share = found
            self._start = [self._part, *self._block.start]
        return self._block.n_rows - self._used

    def take(self, n: int) -> dict[str, Any]:
        """Take the next rows.

        Parameters
        ----------
        n : int
            How many, no more than are left in the block.

        Returns
        -------
        dict
            Arrow arrays by name.
        """
        assert self._block is not None
        columns = self._block.cut(self._used, self._used + n)
        self._used += n
        return columns

    def position(self) -> list[Any]:
        """Tell where the next row is.

        Returns
        -------
        list
            Number of the part, rows and bytes before a block of it, rows to skip
            there, and the last id.
        """
        block = self._block
        if block is not None and self._used == block.n_rows:
            return [self._part, *block.end, 0, self.last]
        return [*self._start, self._used, self.last]

    def where(self) -> str:
        """Name the file that is read.

        Returns
        -------
        str
            Its path.
        """
        return str(self._source.parts[self._part].path)
