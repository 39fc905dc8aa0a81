"""Rows of lighteval's details: a document has one for each kind of metric."""

from __future__ import annotations

import ast
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from fastcmp.io.logs.fingerprints import fingerprint

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

_NEW = ("doc.id", "doc.query", "doc.choices", "doc.gold_index", "doc.task_name")
_OLD = ("full_prompt", "gold", "choices", "gold_index", "metrics")
_ROW = 64  # bytes that a row takes at the least


def is_new(names: Any) -> bool:
    """Tell whether columns are those since 0.11: doc, metric, model_response."""
    return {"doc", "metric", "model_response"} <= set(names)


def is_old(names: Any) -> bool:
    """Tell whether columns are those before 0.11."""
    return {"full_prompt", "metrics"} <= set(names)


@dataclass(slots=True)
class Documents:
    """Documents of one task, and their values by metric."""

    #: Rows by identity.
    rows: dict[str, int] = field(default_factory=dict)
    #: What each document says.
    texts: list[str] = field(default_factory=list)
    #: Of each metric the rows that have a value.
    metrics: dict[str, dict[int, float]] = field(default_factory=dict)
    #: Metrics whose values are not numbers.
    others: set[str] = field(default_factory=set)


def read_documents(path: Path, memory_limit: int) -> dict[str, Documents]:
    """Read the documents of a file, by task; the task is "" in the old layout."""
    table, new = _table(path, memory_limit)
    found: dict[str, Documents] = {}
    metrics = table["metric" if new else "metrics"]
    if new:
        doc = {name.partition(".")[2]: _inner(table, name) for name in _NEW}
        tasks, ids, prompts = doc["task_name"], doc["id"], doc["query"]
    else:
        doc = {name: _plain(table, name) for name in _OLD[:-1]}
        prompts = doc["full_prompt"]
        ids = [f"{number:016x}" for number in fingerprint(map(str, prompts)).tolist()]
        tasks = [""] * len(ids)
    golds = (doc.get("gold", ids), doc["choices"], doc["gold_index"])
    for row, values in enumerate(metrics.to_pylist()):
        item = ids[row]
        if item is None:
            raise ValueError(f"{path}: row {row + 1} has no doc.id")
        documents = found.setdefault(str(tasks[row] or ""), Documents())
        text = json.dumps([prompts[row], *(each[row] for each in golds)])
        _merge(documents, (str(item), text), _values(values, path), path)
    return found


def _table(path: Path, memory_limit: int) -> tuple[Any, bool]:
    """Read the columns that are needed, within the limit."""
    from pyarrow import ArrowException, parquet

    try:
        file = parquet.ParquetFile(path)
        new = is_new(file.schema_arrow.names)
        wanted = [*(_NEW if new else _OLD), "metric"]
        groups = [file.metadata.row_group(i) for i in range(file.num_row_groups)]
        size = file.metadata.num_rows * _ROW + sum(
            column.total_uncompressed_size
            for group in groups
            for column in map(group.column, range(group.num_columns))
            if any(f"{column.path_in_schema}.".startswith(f"{w}.") for w in wanted)
        )
        if size > memory_limit:
            raise ValueError(
                f"{path}: its columns take {size:,} bytes, more than memory_limit = "
                f"{memory_limit:,}; raise memory_limit if you trust the file"
            )
        return file.read(columns=wanted, use_threads=False), new
    except (ArrowException, OSError) as error:
        raise ValueError(f"{path}: no whole Parquet file ({error}); copy it again") from error


def _inner(table: Any, name: str) -> list[Any]:
    """Values of a field of a struct; None where it lacks."""
    outer, _, inner = name.partition(".")
    kind = table.schema.field(outer).type
    if kind.get_field_index(inner) < 0:
        return [None] * table.num_rows
    from pyarrow import compute

    found: list[Any] = compute.struct_field(table[outer], inner).to_pylist()
    return found


def _plain(table: Any, name: str) -> list[Any]:
    """Values of a column; None where it lacks."""
    if name not in table.column_names:
        return [None] * table.num_rows
    found: list[Any] = table[name].to_pylist()
    return found


def _values(given: Any, path: Path) -> Mapping[str, Any]:
    """Metrics of a row; in some old files they are written as text."""
    if given is None:
        return {}
    if isinstance(given, str):
        try:
            given = ast.literal_eval(given)
        except (ValueError, SyntaxError, RecursionError, MemoryError) as error:
            raise ValueError(f"{path}: metrics that cannot be read: {given[:80]!r}") from error
    if not isinstance(given, dict):
        raise ValueError(f"{path}: wanted metrics by name, got {str(given)[:80]}")  # noqa: TRY004
    return given


def _merge(
    documents: Documents,
    document: tuple[str, str],
    values: Mapping[str, Any],
    path: Path,
) -> None:
    """Add the values of a row to its document."""
    item, text = document
    row = documents.rows.setdefault(item, len(documents.texts))
    if row == len(documents.texts):
        documents.texts.append(text)
    twice = documents.texts[row] != text
    for metric, value in values.items():
        if value is None:
            continue
        if not isinstance(value, int | float):
            documents.others.add(metric)
            continue
        column = documents.metrics.setdefault(metric, {})
        twice |= row in column
        column[row] = float(value)
    if twice:
        raise ValueError(
            f"{path}: document {item!r} is there twice, so what is which cannot be "
            "said: splits of a task number their documents alike, and old files tell "
            "documents by their prompts alone; evaluate one split"
        )
