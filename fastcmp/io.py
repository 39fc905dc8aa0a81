"""Prediction files: CSV, TSV, JSON lines, Parquet and Arrow, read by pyarrow.

A file holds one row a sample and one column a model. Several files are joined by the
sample's id, never by the order of their rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

try:
    import pyarrow as pa
    import pyarrow.compute as pc
except ImportError:
    _message = "reading prediction files needs pyarrow: pip install 'fastcmp[cli]'"
    raise ImportError(_message) from None

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TypeAlias

    Table: TypeAlias = Any

_TARGET = "y_true"
_ID = "id"
_MISSING = ("", "NA", "N/A", "NaN", "nan", "NULL", "null")
_MAGIC = {b"PAR1": "Parquet", b"ARROW1": "Arrow"}
_NAMED = 5  # ids that an error message lists


@dataclass(frozen=True, slots=True, kw_only=True)
class Predictions:
    """True labels and the labels that each model predicted."""

    y_true: Any
    preds: dict[str, Any]


def _read_csv(path: Path, delimiter: str = ",") -> Table:
    from pyarrow import csv

    return csv.read_csv(
        path,
        parse_options=csv.ParseOptions(delimiter=delimiter),
        convert_options=csv.ConvertOptions(
            null_values=_MISSING,
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
        ),
    )


def _read_tsv(path: Path) -> Table:
    return _read_csv(path, "\t")


def _read_json_lines(path: Path) -> Table:
    from pyarrow import json

    return json.read_json(path)


def _read_parquet(path: Path) -> Table:
    from pyarrow import parquet

    return parquet.read_table(path)


def _read_arrow(path: Path) -> Table:
    with pa.memory_map(str(path)) as source:
        return pa.ipc.open_file(source).read_all()


_READERS: dict[str, tuple[str, Callable[[Path], Table]]] = {
    ".csv": ("CSV", _read_csv),
    ".tsv": ("TSV", _read_tsv),
    ".jsonl": ("JSON lines", _read_json_lines),
    ".ndjson": ("JSON lines", _read_json_lines),
    ".parquet": ("Parquet", _read_parquet),
    ".pq": ("Parquet", _read_parquet),
    ".arrow": ("Arrow", _read_arrow),
    ".feather": ("Arrow", _read_arrow),
}
_COMPRESSED = (".gz", ".bz2", ".zst")


def read_table(path: str | Path) -> Table:
    """Read one prediction file, its format told by its extension.

    Parameters
    ----------
    path : str or Path
        A ``.csv``, ``.tsv``, ``.jsonl``, ``.ndjson``, ``.parquet``, ``.pq``, ``.arrow``
        or ``.feather`` file; text may be compressed (``.csv.gz``).

    Returns
    -------
    pyarrow.Table
        At least one row, columns of distinct names.

    Raises
    ------
    ValueError
        If it is empty, truncated, not UTF-8, not what its extension says, or if two
        columns have one name.
    OSError
        If it cannot be opened.
    """
    path = Path(path)
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] in _COMPRESSED:
        suffixes.pop()
    suffix = suffixes[-1] if suffixes else ""
    if suffix not in _READERS:
        known = ", ".join(_READERS)
        message = f"{path}: the extension must be one of {known}, got {suffix!r}"
        raise ValueError(message)
    kind, reader = _READERS[suffix]
    _check_beginning(path, kind)
    try:
        table = reader(path)
        names = table.column_names  # decoded here, from whatever bytes they are
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        reason = str(error).splitlines()[0]
        message = f"{path} cannot be read as {kind}, it may be cut off: {reason}"
        raise ValueError(message) from None
    _check_table(table, names, path, is_text=kind in ("CSV", "TSV"))
    return table


def _check_beginning(path: Path, kind: str) -> None:
    with path.open("rb") as file:
        start = file.read(6)
    if not start:
        message = f"{path} is empty"
        raise ValueError(message)
    for magic, name in _MAGIC.items():
        if start.startswith(magic) and name != kind:
            message = f"{path} is a {name} file, but its extension says {kind}"
            raise ValueError(message)


def _check_table(table: Table, names: list[str], path: Path, *, is_text: bool) -> None:
    if repeated := sorted({name for name in names if names.count(name) > 1}):
        message = f"{path} has more than one column named {', '.join(repeated)}"
        raise ValueError(message)
    if table.num_rows == 0:
        message = f"{path} holds no rows"
        raise ValueError(message)
    for name, column in zip(names, table.columns, strict=True):
        # pyarrow reads text that is not UTF-8 as bytes.
        if is_text and pa.types.is_binary(column.type):
            message = f"{path} is not UTF-8 text (column {name!r})"
            raise ValueError(message)


def read_predictions(
    paths: Sequence[str | Path],
    *,
    target: str | None = None,
    models: Sequence[str] | None = None,
    id_column: str | None = None,
) -> Predictions:
    """Read true and predicted labels from one or several files.

    Parameters
    ----------
    paths : sequence of str or Path
        Files with one row a sample.
    target : str, optional
        Column of the true labels; ``y_true`` by default. Where several files have it,
        they must agree.
    models : sequence of str, optional
        Columns to compare; all others by default.
    id_column : str, optional
        Column of the samples' ids, by which several files are joined; ``id`` by
        default, where there is one.

    Returns
    -------
    Predictions
        True labels, and a column a model.

    Raises
    ------
    ValueError
        If a column is missing or given twice, ids are missing or repeated, files do not
        hold the same samples, or their true labels differ.
    """
    tables = [read_table(path) for path in paths]
    if id_column is None and all(_ID in table.column_names for table in tables):
        id_column = _ID
    if len(paths) > 1 and id_column is None:
        message = "several files are joined by sample ids: name their column (--id)"
        raise ValueError(message)
    if id_column is not None:
        tables = _align(tables, [str(path) for path in paths], id_column)
    target = _TARGET if target is None else target
    columns: dict[str, Any] = {}
    sources: dict[str, str] = {}
    for table, path in zip(tables, map(str, paths), strict=True):
        for name, column in zip(table.column_names, table.columns, strict=True):
            if name == id_column:
                continue
            if name in columns and name != target:
                message = f"model {name!r} is both in {sources[name]} and in {path}"
                raise ValueError(message)
            if name in columns and not _same(columns[name], column):
                message = f"{target!r} differs between {sources[name]} and {path}"
                raise ValueError(message)
            columns[name], sources[name] = column, path
    where = ", ".join(map(str, paths))
    if target not in columns:
        raise ValueError(_no_column(target, columns, where, "--target"))
    y_true = columns.pop(target)
    for name in models or ():
        if name not in columns:
            raise ValueError(_no_column(name, columns, where, "--models"))
    chosen = columns if models is None else {name: columns[name] for name in models}
    return Predictions(y_true=y_true, preds=chosen)


def _no_column(name: str, columns: dict[str, Any], where: str, option: str) -> str:
    known = ", ".join(columns) or "none"
    return f"{where} has no column {name!r} ({option}); there are: {known}"


def _same(first: Any, second: Any) -> bool:
    return bool(first.combine_chunks().equals(second.combine_chunks()))


def _align(tables: list[Table], paths: list[str], id_column: str) -> list[Table]:
    """Bring the rows of all tables into the order of the first one's ids."""
    ids = [
        _checked_ids(table, path, id_column)
        for table, path in zip(tables, paths, strict=True)
    ]
    aligned = [tables[0]]
    for table, path, own in zip(tables[1:], paths[1:], ids[1:], strict=True):
        if own.type != ids[0].type:
            message = (
                f"ids differ in type: {id_column!r} is {ids[0].type} in {paths[0]} and "
                f"{own.type} in {path}"
            )
            raise ValueError(message)
        _refuse_unknown(ids[0], own, id_column, (paths[0], path))
        _refuse_unknown(own, ids[0], id_column, (path, paths[0]))
        aligned.append(table.take(pc.index_in(ids[0], value_set=own)))
    return aligned


def _checked_ids(table: Table, path: str, id_column: str) -> Any:
    if id_column not in table.column_names:
        columns = dict.fromkeys(table.column_names)
        raise ValueError(_no_column(id_column, columns, path, "--id"))
    ids = table.column(id_column).combine_chunks()
    if ids.null_count:
        row = pc.index(pc.is_null(ids), value=True).as_py()
        message = f"{path}: {ids.null_count} rows have no id, the first is row {row}"
        raise ValueError(message)
    counts = pc.value_counts(ids)
    repeated = counts.filter(pc.greater(counts.field("counts"), 1)).field("values")
    if len(repeated):
        message = f"{path}: ids must differ, more than one row has {_listed(repeated)}"
        raise ValueError(message)
    return ids


def _refuse_unknown(
    ids: Any, within: Any, id_column: str, paths: Sequence[str]
) -> None:
    absent = ids.filter(pc.invert(pc.is_in(ids, value_set=within)))
    if len(absent):
        message = (
            f"{paths[1]} lacks samples of {paths[0]}: {id_column} {_listed(absent)}"
        )
        raise ValueError(message)


def _listed(ids: Any) -> str:
    named = ", ".join(map(str, ids[:_NAMED].to_pylist()))
    return named if len(ids) <= _NAMED else f"{named} and {len(ids) - _NAMED} more"
