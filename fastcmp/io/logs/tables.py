"""A table as it is in a file, and the parts that its rows make up."""

from __future__ import annotations

import io
import json
from dataclasses import dataclass, field, replace
from typing import IO, TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from fastcmp.core.memory import in_words
from fastcmp.io.formats import COMPRESSED, kind_of, reading
from fastcmp.io.kinds import family
from fastcmp.io.logs.json_values import parse
from fastcmp.io.logs.part import STATUS, LogPart
from fastcmp.io.logs.table_heads import is_json_array
from fastcmp.io.logs.table_values import Labels, as_labels, as_numbers
from fastcmp.io.sources import Source

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from fastcmp.io.logs.file import LogFile

_AT_ONCE = 1 << 22  # bytes that are unpacked
_UNSCORED = STATUS.index("unscored")


class LogTable:
    """Some columns of a table."""

    def __init__(
        self,
        file: LogFile,
        names: Sequence[str],
        *,
        values: Sequence[str] = (),
        limit: int,
    ) -> None:
        self.path = file.path
        check_size(file, limit)
        wanted = list(dict.fromkeys([*names, *values]))
        if is_json_array(file.head):
            self.columns = _of_records(_entries(file.path), wanted)
        elif kind_of(file.path) == "JSON lines":
            self.columns = _of_records(json_lines(file.path), wanted)
        else:
            self.columns = _of_source(file.path, wanted, values)
        self.n_rows = len(next(iter(self.columns.values())))
        if not self.n_rows:
            raise ValueError(f"{self.path} holds no rows")

    def labels(self, name: str, *, complete: bool = False) -> Labels:
        """Give a column as texts."""
        found = as_labels(self.columns[name])
        if complete:
            found.check_complete(self.path, name)
        return found

    def values(self, name: str) -> NDArray[np.float64]:
        """Give a column as numbers, NaN where there is none."""
        return as_numbers(self.columns[name], self.path, name)


def check_size(file: LogFile, limit: int) -> None:
    """Refuse a file that is larger than what may be held."""
    size = file.size
    codec = COMPRESSED.get(file.path.suffix.lower())
    if codec is not None and size <= limit:
        kind = kind_of(file.path) or "text"
        with reading(file.path, kind), pa.CompressedInputStream(str(file.path), codec) as stream:
            size = 0
            while size <= limit and (n := len(stream.read_buffer(_AT_ONCE))):
                size += n
    elif kind_of(file.path) == "Parquet":
        from pyarrow import parquet

        known = parquet.read_metadata(file.path)
        groups = map(known.row_group, range(known.num_row_groups))
        size = max(size, sum(group.total_byte_size for group in groups))
        size = max(size, 8 * known.num_rows)
    if size > limit:
        raise ValueError(
            f"{file.path} holds {in_words(size)} or more, and {in_words(limit)} may be "
            "read at once (memory_limit)"
        )


# Columns.


def _of_source(path: Path, names: Sequence[str], values: Sequence[str]) -> dict[str, Any]:
    """Read columns of CSV, TSV, Parquet or Arrow; those of text as they are written."""
    try:
        return _read(path, names, values)
    except ValueError:
        if not values:
            raise
    return _read(path, names, ())


def _read(path: Path, names: Sequence[str], values: Sequence[str]) -> dict[str, Any]:
    source = Source(path, labels=set(names) - set(values))
    for name in names:
        is_number = name in values and family(source.types.get(name, pa.null())) == "number"
        source.read_as(name, pa.float64() if is_number else pa.string())
    source.expect(None, named=True)
    table = source.table(list(names))
    return {name: table.column(name) for name in names}


def _of_records(records: Iterator[dict[str, Any]], names: Sequence[str]) -> dict[str, Any]:
    columns: dict[str, list[Any]] = {name: [] for name in names}
    for record in records:
        for name, column in columns.items():
            column.append(record.get(name))
    return columns


def json_lines(path: Path) -> Iterator[dict[str, Any]]:
    """Read JSON lines, each an object; say where one is not."""
    with _opened(path) as file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            try:
                record = json.loads(line.removeprefix(b"\xef\xbb\xbf"))
            except UnicodeDecodeError:
                raise ValueError(f"{path} is not UTF-8 text (line {number})") from None
            except (ValueError, RecursionError) as error:
                message = f"{path}: line {number} is no JSON, it may be cut off: "
                raise ValueError(message + str(error)) from None
            yield _object(record, path, f"line {number}")


def _opened(path: Path) -> IO[bytes]:
    codec = COMPRESSED.get(path.suffix.lower())
    if codec is None:
        return path.open("rb")
    with reading(path, "text"), pa.CompressedInputStream(str(path), codec) as stream:
        return io.BytesIO(stream.read())


def _entries(path: Path) -> Iterator[dict[str, Any]]:
    for number, record in enumerate(read_json(path)):
        yield _object(record, path, f"entry {number}")


def _object(record: Any, path: Path, where: str) -> dict[str, Any]:
    if not isinstance(record, dict):
        raise ValueError(f"{path}: {where} must be a JSON object, got {str(record)[:60]!r}")  # noqa: TRY004  # of data, not of an argument
    return record


def read_json(path: Path) -> Any:
    """Read a JSON file as a whole."""
    return parse(path.read_bytes(), str(path))


# Parts.


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """Rows of a table, each a value of a model for an item, shape (n,) each."""

    model: Labels
    item: Labels
    values: NDArray[np.float64]
    metric: Labels
    task: Labels | None = None
    subset: Labels | None = None
    repeats: NDArray[np.int32] | None = None
    status: NDArray[np.uint8] | None = None
    reasons: dict[int, str] = field(default_factory=dict)
    attempts: NDArray[np.int32] | None = None
    clusters: Labels | None = None
    item_hash: NDArray[np.uint64] | None = None
    prompt_hash: NDArray[np.uint64] | None = None


def parts_of(rows: Rows, template: LogPart) -> list[LogPart]:
    """Cut rows into parts, one for each model, task, subset and metric."""
    columns = [rows.model, rows.task, rows.subset, rows.metric]
    known = [column for column in columns if column is not None]
    key = np.zeros(rows.values.size, np.int64)
    for column in known:
        _, codes = np.unique(column.codes, return_inverse=True)
        key = key * (codes.max() + 1) + codes
        key = np.unique(key, return_inverse=True)[1]
    order = np.argsort(key, kind="stable")
    groups = np.split(order, np.flatnonzero(np.diff(key[order])) + 1)
    groups.sort(key=lambda group: int(group[0]))
    return [_part(rows, group, template) for group in groups]


def _part(rows: Rows, group: NDArray[np.int64], template: LogPart) -> LogPart:
    def first(column: Labels | None) -> str:
        return "" if column is None else column.at(group[:1])[0]

    def cut(column: NDArray[Any] | None) -> Any:
        return None if column is None else column[group]

    values = rows.values[group]
    status = cut(rows.status)
    if status is None:
        status = np.where(np.isnan(values), _UNSCORED, 0).astype(np.uint8)
    reasons = {}
    if rows.reasons:
        found = ((i, rows.reasons.get(row)) for i, row in enumerate(group.tolist()))
        reasons = {i: why for i, why in found if why}
    part = replace(
        template,
        model=first(rows.model),
        task=first(rows.task) or template.task,
        subset=first(rows.subset),
        metric=first(rows.metric),
        items=rows.item.at(group),
        values=values,
        repeats=cut(rows.repeats),
        status=status if status.any() else None,
        reasons=reasons,
        attempts=cut(rows.attempts),
        clusters=None if rows.clusters is None else rows.clusters.at(group),
        item_hash=cut(rows.item_hash),
        prompt_hash=cut(rows.prompt_hash),
    )
    check_once(part, rows.item.codes[group])
    return part


def check_once(part: LogPart, codes: NDArray[np.int64] | None = None) -> None:
    """Refuse an item that a model has twice."""
    if codes is None:
        codes = as_labels(list(part.items)).codes
    key = codes.astype(np.int64)
    if part.repeats is not None:
        low = part.repeats.min(initial=0)
        key = key * (int(part.repeats.max(initial=0)) - low + 1) + part.repeats - low
    order = np.argsort(key, kind="stable")
    twice = np.sort(order[1:][key[order[1:]] == key[order[:-1]]])
    if twice.size:
        row = twice[0]
        repeat = "" if part.repeats is None else f", repeat {part.repeats[row]}"
        where = f" in task {part.task}" if part.task else ""
        raise ValueError(
            f"{part.source}: {part.model} has item {part.items[row]}{repeat} "
            f"twice{where} ({twice.size} rows are such): keep one; of a long table, "
            "the column in which they differ may be a task, subset, metric or repeat"
        )


def template(source: Path, **others: Any) -> LogPart:
    """Make an empty part with what all parts of a file have in common."""
    empty: dict[str, Any] = {"model": "", "task": "", "metric": "", "items": ()}
    return LogPart(**empty | {"values": np.empty(0), "source": source} | others)
