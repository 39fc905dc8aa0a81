"""Prediction files as a stream of blocks, several files joined by sorted ids.

Where the ids of all files ascend and all files hold the same samples, row i of one file
is row i of every other. So files are joined side by side, and what does not fit is told
at the first row where it shows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.compute as pc

from fastcmp.core.errors import BadValueError
from fastcmp.core.threads import in_words
from fastcmp.io.chosen import Plan, check_models, other_truth, plan_columns, repeats
from fastcmp.io.formats import NoRowsError, check_ids, decoded
from fastcmp.io.label_check import LabelCheck
from fastcmp.io.predictions import check_distinct, check_one_type, columns_of, settle_types
from fastcmp.io.sources import Cursor, Source


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """Some samples: what is true, and what the models say."""

    y_true: Any
    #: Arrow arrays by the names of models.
    preds: dict[str, Any]
    #: Number of the first sample.
    first: int
    n_rows: int
    #: Whether a column of a text file has labels that are no numbers: then all are texts.
    as_text: bool
    #: From where to go on after them, for `PredictionStream.rows`.
    position: list[list[Any]]
    #: Proportion of the files that is read with them.
    fraction: float


class PredictionStream:
    """Predictions of several models, read block by block."""

    def __init__(
        self,
        paths: Sequence[str | Path],
        *,
        target: str | None = None,
        models: Sequence[str] | None = None,
        id_column: str | None = None,
        drop: Sequence[str] = (),
        least: int = 2,
        names: Sequence[str | None] = (),
    ) -> None:
        self.sources = [Source(Path(path)) for path in paths]
        self._paths = [str(path) for path in paths]
        types = [source.types for source in self.sources]
        self.plan: Plan = plan_columns(
            types, self._paths, target, models, id_column, drop=drop, names=names
        )
        check_models(self.plan.models, least, ", ".join(self._paths))
        if self.plan.id_column is not None:
            for source, path in zip(self.sources, self._paths, strict=True):
                check_ids(path, self.plan.id_column, source.types[self.plan.id_column])
        for source in self.sources:
            source.expect(self.plan.id_column, named=models is not None)
        #: What is known of the labels in what was read and counted.
        self.labels = LabelCheck(self.names, self.plan.target)

    @property
    def names(self) -> tuple[str, ...]:
        """The models, in order."""
        return tuple(self.plan.models)

    @property
    def n_rows(self) -> int | None:
        """Number of samples; None where it is not known before reading."""
        return self.sources[0].n_rows

    def size_in_memory(self) -> int:
        """Estimate what it would take to read and join the files as a whole."""
        return 2 * sum(source.size_in_memory() for source in self.sources)

    def inputs(self) -> dict[str, Any]:
        """What a checkpoint of this stream depends on."""
        return {
            "files": [source.inputs() for source in self.sources],
            "target": self.plan.target,
            "id": self.plan.id_column,
            "models": [
                [name, str(self.sources[i].types[self.plan.columns[name]])]
                for name, i in self.plan.models.items()
            ],
        }

    def rows(self, memory_limit: int, position: list[Any] | None = None) -> Iterator[Rows]:
        """Read blocks of samples."""
        plan, ids = self.plan, None
        if plan.id_column is not None:
            ids = SortedIds(plan.id_column, self.sources, memory_limit)
        (done, meanings), *places = position or [[0, []], *([] for _ in self.sources)]
        for source, file_meanings in zip(self.sources, meanings, strict=False):
            source.meanings = dict(file_meanings)
        cursors = [
            Cursor(source, columns_of(plan, i), places[i]) for i, source in enumerate(self.sources)
        ]
        first, settled, as_text = plan.targets[0], None, False
        while n := self._in_step(cursors, ids):
            meanings = [dict(source.meanings) for source in self.sources]
            if meanings != settled:
                as_text, settled = settle_types(self.sources, plan), meanings
            blocks = [
                source.settled(cursor.take(n), done)
                for source, cursor in zip(self.sources, cursors, strict=True)
            ]
            if ids is not None:
                with repeats(plan):
                    ids.check([columns.pop(ids.name) for columns in blocks], cursors, done)
            y_true = blocks[first][plan.target]
            for i in plan.targets[1:]:
                if not decoded(y_true).equals(decoded(blocks[i][plan.target])):
                    raise ValueError(other_truth(plan.target, self._paths[first], self._paths[i]))
            done += n
            yield Rows(
                y_true=y_true,
                preds={name: blocks[i][plan.columns[name]] for name, i in plan.models.items()},
                first=done - n,
                n_rows=n,
                as_text=as_text,
                position=[[done, settled], *(cursor.position() for cursor in cursors)],
                fraction=min(cursor.fraction for cursor in cursors),
            )
        if not done:
            raise NoRowsError(self.sources[0].path)

    def _in_step(self, cursors: list[Cursor], ids: SortedIds | None) -> int:
        """Choose how many rows to take of each source; 0 where all have ended."""
        left = [cursor.left() for cursor in cursors]
        if min(left) == 0 < max(left):
            longer, shorter = left.index(max(left)), left.index(0)
            assert ids is not None  # several files have them
            raise ids.absent(cursors[longer].take(1)[ids.name][0], shorter, longer)
        return min(left)


# Ids that ascend, checked block by block in fixed memory.


_BYTES = 100  # of memory that it takes to check an id among all others


class SortedIds:
    """Checks of the ids of one file, or of several that are joined."""

    def __init__(self, name: str, sources: Sequence[Source], memory_limit: int) -> None:
        #: The column of ids.
        self.name = name
        self._sources = sources
        self._paths = [str(source.path) for source in sources]
        self._limit = memory_limit
        self._proven = False  # in memory: all ids differ, in whatever order

    def check(self, columns: list[Any], cursors: Sequence[Cursor], done: int) -> None:
        """Check the ids of a block."""
        ids = [decoded(column) for column in columns]
        for file_ids, cursor in zip(ids, cursors, strict=True):
            if not self._proven:
                self._check_order(file_ids, cursor, done)
        check_one_type(ids, self._paths, self.name)
        for i, file_ids in enumerate(ids):
            if not file_ids.equals(ids[0]):
                at = pc.index(pc.equal(file_ids, ids[0]), value=False).as_py()
                mine, theirs = file_ids[at], ids[0][at]
                if mine.as_py() < theirs.as_py():
                    raise self.absent(mine, 0, i)
                raise self.absent(theirs, i, 0)

    def absent(self, sample: object, within: int, source: int) -> ValueError:
        """The error that a file lacks a sample."""
        lacking, having = self._paths[within], self._paths[source]
        return ValueError(f"{lacking} lacks samples of {having}: {self.name} {sample}")

    def _check_order(self, ids: Any, cursor: Cursor, done: int) -> None:
        if ids.null_count:
            row = done + pc.index(pc.is_null(ids), value=True).as_py()
            raise ValueError(f"{cursor.where()}: row {row} has no id")
        bad = _first_fall(ids, cursor.last)
        if bad is not None:
            before = cursor.last if bad == 0 else ids[bad - 1].as_py()
            self._refuse_or_prove(cursor, done + bad, before, ids[bad].as_py())
        cursor.last = ids[-1].as_py()

    def _refuse_or_prove(self, cursor: Cursor, row: int, one: object, two: object) -> None:
        if one == two:
            raise ValueError(f"{cursor.where()}: ids must differ, more than one row has {two}")
        fall = f"row {row} has {two} after {one}"
        what = f"{cursor.where()}: ids do not ascend ({fall}), and"
        advice = f"sort by {self.name}, or pass a larger --memory-limit"
        if len(self._paths) > 1:
            raise BadValueError(f"{what} the files are too large to join in memory: {advice}")
        (source,) = self._sources
        n_rows = source.n_rows
        if n_rows is None:
            n_rows = source.size_in_memory() // (8 * len(source.types))
        needed = n_rows * _BYTES
        if needed > self._limit:
            raise BadValueError(
                f"{what} to find repeated ones would take {in_words(needed)} of memory "
                f"(--memory-limit is {in_words(self._limit)}): {advice}"
            )
        ids = source.table([self.name]).column(0).combine_chunks()
        check_distinct(decoded(ids), self._paths[0])
        self._proven = True


def _first_fall(ids: Any, last: object) -> int | None:
    """Place of the first id that is not above the one before; None where all rise."""
    first = ids[0].as_py()
    if last is not None and (isinstance(last, str) != isinstance(first, str) or not last < first):
        return 0
    rises = pc.less(ids.slice(0, len(ids) - 1), ids.slice(1))
    if pc.min(rises).as_py() is not False:
        return None
    # Asked for only now: to look for a value makes pyarrow load pandas.
    at: int = pc.index(rises, value=False).as_py()
    return at + 1
