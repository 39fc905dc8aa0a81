"""Ids of samples that ascend, checked block by block in fixed memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import pyarrow.compute as pc

from fastcmp.core.threads import in_words
from fastcmp.io.formats import decoded
from fastcmp.io.predictions import check_distinct

_BYTES = 100  # of memory that it takes to check an id among all others


class Cursor(Protocol):
    """What reads a file, and remembers its last id."""

    last: Any

    def where(self) -> str:
        """Name the file."""


class SortedIds:
    """Checks of the ids of one file, or of several that are joined."""

    def __init__(
        self,
        id_column: str,
        paths: Sequence[str],
        *,
        n_rows: int,
        read_all: Callable[[], Any],
        memory_limit: int,
    ) -> None:
        self._id_column = id_column
        self._paths = paths
        self._n_rows = n_rows
        self._read_all = read_all
        self._limit = memory_limit
        self._proven = False  # in memory: all ids differ, in whatever order

    def check(self, columns: list[Any], cursors: Sequence[Cursor], done: int) -> None:
        """Check the ids of a block."""
        ids = [decoded(column) for column in columns]
        for own, cursor in zip(ids, cursors, strict=True):
            if not self._proven:
                self._check_order(own, cursor, done)
        for i, own in enumerate(ids):
            if not own.equals(ids[0]):
                at = pc.index(pc.equal(own, ids[0]), value=False).as_py()
                mine, theirs = own[at], ids[0][at]
                if mine.as_py() < theirs.as_py():
                    self.refuse_absent(mine, 0, i)
                self.refuse_absent(theirs, i, 0)

    def refuse_absent(self, sample: Any, within: int, source: int) -> None:
        """Say that a file lacks a sample."""
        raise ValueError(
            f"{self._paths[within]} lacks samples of {self._paths[source]}: "
            f"{self._id_column} {sample}"
        )

    def _check_order(self, ids: Any, cursor: Cursor, done: int) -> None:
        if ids.null_count:
            row = done + pc.index(pc.is_null(ids), value=True).as_py()
            raise ValueError(f"{cursor.where()}: row {row} has no id")
        bad = _first_fall(ids, cursor.last)
        if bad is not None:
            before = cursor.last if bad == 0 else ids[bad - 1].as_py()
            self._refuse_or_prove(cursor, done + bad, before, ids[bad].as_py())
        cursor.last = ids[-1].as_py()

    def _refuse_or_prove(self, cursor: Cursor, row: int, one: Any, two: Any) -> None:
        if one == two:
            raise ValueError(f"{cursor.where()}: ids must differ, more than one row has {two}")
        fall = f"row {row} has {two} after {one}"
        what = f"{cursor.where()}: ids do not ascend ({fall}), and"
        advice = f"sort by {self._id_column}, or pass a larger --memory-limit"
        if len(self._paths) > 1:
            raise ValueError(f"{what} the files are too large to join in memory: {advice}")
        needed = self._n_rows * _BYTES
        if needed > self._limit:
            raise ValueError(
                f"{what} to find repeated ones would take {in_words(needed)} of memory "
                f"(--memory-limit is {in_words(self._limit)}): {advice}"
            )
        check_distinct(self._read_all(), self._paths[0])
        self._proven = True


def _first_fall(ids: Any, last: Any) -> int | None:
    """Find the first id that is not above the one before; None where there is none."""
    if last is not None and not last < ids[0].as_py():
        return 0
    rises = pc.less(ids.slice(0, len(ids) - 1), ids.slice(1))
    if pc.min(rises).as_py() is not False:
        return None
    # Asked for only now: to look for a value makes pyarrow load pandas.
    at: int = pc.index(rises, value=False).as_py()
    return at + 1
