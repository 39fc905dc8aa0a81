"""Prediction files as a stream of blocks, several files joined by sorted ids.

Where the ids of all files ascend and all files hold the same samples, row i of one file
is row i of every other. So files are joined side by side, and what does not fit is told
at the first row where it shows.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fastcmp.io.chosen import Plan, other_truth, plan_columns, repeats
from fastcmp.io.formats import no_rows
from fastcmp.io.kinds import check_ids, decoded, family, value_type
from fastcmp.io.label_check import LabelCheck
from fastcmp.io.predictions import columns_of, settle_types
from fastcmp.io.sorted_ids import SortedIds
from fastcmp.io.sources import Cursor, Source

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """Some samples: what is true, and what the models say."""

    y_true: Any
    #: Arrow arrays by the names of models.
    preds: dict[str, Any]
    #: Number of the first sample.
    first: int
    n_rows: int
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
        if (n := len(self.plan.models)) < least:
            named = f": {', '.join(self.plan.models)}" if n else ""
            wanted = "1 model" if least == 1 else f"{least} models"
            raise ValueError(
                f"there must be at least {wanted}, got {n}{named} (columns of "
                f"{', '.join(self._paths)})"
            )
        settle_types(self.sources, self.plan)
        if self.plan.id_column is not None:
            self._check_id_types(self.plan.id_column)
        for source in self.sources:
            source.expect(self.plan.id_column, named=models is not None)
        #: What is known of the labels in what was read and counted.
        self.labels = LabelCheck(self.names, self.plan.target, graded=self._has_fractions())

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

    def unlike(self) -> list[str]:
        """List models whose labels can never equal the true ones."""
        truth = family(self.sources[self.plan.targets[0]].types[self.plan.target])
        return [
            name
            for name, i in self.plan.models.items()
            if truth and family(self.sources[i].types[self.plan.columns[name]]) not in ("", truth)
        ]

    def _has_fractions(self) -> bool:
        """Tell whether a true label may be a number with a fraction."""
        import pyarrow as pa

        kind = self.sources[self.plan.targets[0]].types[self.plan.target]
        kind = value_type(kind)
        whole = pa.types.is_integer(kind) or pa.types.is_boolean(kind)
        return not whole and family(kind) in ("", "number")

    def inputs(self) -> dict[str, Any]:
        """Tell what a checkpoint of this stream depends on."""
        return {
            "files": [source.inputs() for source in self.sources],
            "target": self.plan.target,
            "id": self.plan.id_column,
            "models": [
                [name, str(self.sources[i].types[self.plan.columns[name]])]
                for name, i in self.plan.models.items()
            ],
        }

    def rows(self, memory_limit: int, position: list[list[Any]] | None = None) -> Iterator[Rows]:
        """Read blocks of samples."""
        plan, ids = self.plan, self._checks(memory_limit)
        first, (cursors, done) = plan.targets[0], self._cursors(position)
        while n := self._in_step(cursors, ids):
            taken = [cursor.take(n) for cursor in cursors]
            if plan.id_column is not None:
                assert ids is not None
                columns = [columns.pop(plan.id_column) for columns in taken]
                with repeats(plan):
                    ids.check(columns, cursors, done)
            y_true = taken[first][plan.target]
            for i in plan.targets[1:]:
                if not decoded(y_true).equals(decoded(taken[i][plan.target])):
                    raise ValueError(other_truth(plan.target, self._paths[first], self._paths[i]))
            done += n
            yield Rows(
                y_true=y_true,
                preds={name: taken[i][plan.columns[name]] for name, i in plan.models.items()},
                first=done - n,
                n_rows=n,
                position=[[done], *(cursor.position() for cursor in cursors)],
                fraction=min(cursor.fraction for cursor in cursors),
            )
        if not done:
            raise ValueError(no_rows(self.sources[0].path))

    def _cursors(self, position: list[list[Any]] | None) -> tuple[list[Cursor], int]:
        places = position or [[0], *([] for _ in self.sources)]
        cursors = [
            Cursor(source, columns_of(self.plan, i), places[i + 1])
            for i, source in enumerate(self.sources)
        ]
        return cursors, places[0][0]

    def _checks(self, memory_limit: int) -> SortedIds | None:
        id_column, source = self.plan.id_column, self.sources[0]
        if id_column is None:
            return None

        def read_all() -> Any:
            import pyarrow as pa

            blocks = source.blocks([id_column])
            ids = [decoded(block.columns[id_column]) for _, block, _ in blocks]
            return pa.concat_arrays(ids)

        n_rows = source.n_rows
        if n_rows is None:
            n_rows = source.size_in_memory() // (8 * len(source.types))
        return SortedIds(
            id_column,
            self._paths,
            n_rows=n_rows,
            read_all=read_all,
            memory_limit=memory_limit,
        )

    def _in_step(self, cursors: list[Cursor], ids: SortedIds | None) -> int:
        """Choose how many rows to take of each source; 0 where all have ended."""
        left = [cursor.left() for cursor in cursors]
        if min(left) == 0 < max(left):
            longer, shorter = left.index(max(left)), left.index(0)
            assert ids is not None
            assert self.plan.id_column is not None
            extra = cursors[longer].take(1)[self.plan.id_column]
            ids.refuse_absent(extra[0], shorter, longer)
        return min(left)

    def _check_id_types(self, id_column: str) -> None:
        kinds = [value_type(source.types[id_column]) for source in self.sources]
        for kind, path in zip(kinds, self._paths, strict=True):
            check_ids(path, id_column, kind)
        for kind, path in zip(kinds[1:], self._paths[1:], strict=True):
            if kind != kinds[0]:
                raise ValueError(
                    f"ids differ in type: {id_column!r} is {kinds[0]} in "
                    f"{self._paths[0]} and {kind} in {path}"
                )
