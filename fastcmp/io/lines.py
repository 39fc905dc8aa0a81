"""Whole rows of a text file, some MB at a time, in linear time."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from fastcmp.io.formats import COMPRESSED, DELIMITERS, beginning, is_utf16, reading

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from numpy.typing import NDArray

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
