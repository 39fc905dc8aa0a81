"""A text file that another program is writing: its rows so far."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from fastcmp.io.formats import COMPRESSED, DELIMITERS, file_kind
from fastcmp.io.lines import RowEnds

if TYPE_CHECKING:
    from collections.abc import Iterator

_BLOCK = 4_000_000  # bytes


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
