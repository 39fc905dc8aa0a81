"""Formats of prediction files: CSV, TSV, JSON lines, Parquet and Arrow, by pyarrow.

A file holds one row a sample and one column a model; a folder holds such files, which
are parts of one table.
"""

from __future__ import annotations

from collections import Counter
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

try:
    import pyarrow as pa
except ImportError:
    _message = "reading prediction files needs pyarrow: pip install 'fastcmp[cli]'"
    raise ImportError(_message) from None

from fastcmp.io.kinds import plain_table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import TypeAlias

    Table: TypeAlias = Any

_MISSING = ("", "NA", "N/A", "NaN", "nan", "NULL", "null")
_MAGIC = {b"PAR1": "Parquet", b"ARROW1": "Arrow"}


def csv_options(delimiter: str, types: dict[str, Any] | None = None) -> dict[str, Any]:
    """Say how text is split and converted.

    Parameters
    ----------
    delimiter : str
        What stands between two cells.
    types : dict, optional
        Types of the columns to read; by default all columns, of the types that they
        seem to be.

    Returns
    -------
    dict
        Options of ``pyarrow.csv.read_csv``.
    """
    from pyarrow import csv

    return {
        "parse_options": csv.ParseOptions(delimiter=delimiter),
        "convert_options": csv.ConvertOptions(
            null_values=_MISSING,
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
            column_types=types,
            include_columns=None if types is None else list(types),
        ),
    }


def _read_csv(path: Path, delimiter: str = ",") -> Table:
    from pyarrow import csv

    return csv.read_csv(path, **csv_options(delimiter))


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
#: Extensions of compressed text, and what pyarrow calls them.
COMPRESSED = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd"}


def file_kind(path: Path) -> str:
    """Tell the format of a file by its extension, and that it is no other.

    Parameters
    ----------
    path : Path
        A file.

    Returns
    -------
    str
        "CSV", "TSV", "JSON lines", "Parquet" or "Arrow".

    Raises
    ------
    ValueError
        If the extension is none of these, or the file is empty or of another format.
    OSError
        If it cannot be opened.
    """
    suffix = _suffix(path)
    if suffix not in _READERS:
        known = ", ".join(_READERS)
        message = f"{path}: the extension must be one of {known}, got {suffix!r}"
        raise ValueError(message)
    kind = _READERS[suffix][0]
    _check_beginning(path, kind)
    return kind


def _suffix(path: Path) -> str:
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] in COMPRESSED:
        suffixes.pop()
    return suffixes[-1] if suffixes else ""


def is_part(file: Path) -> bool:
    """Tell whether a file would be read with the folder in which it lies.

    Parameters
    ----------
    file : Path
        A file, or a place for one.

    Returns
    -------
    bool
        Whether its extension is one of ours, and it is not hidden.
    """
    return file.name[0] not in "._" and _suffix(file) in _READERS


def parts_of(path: Path) -> list[Path]:
    """List the files that make up one table.

    Parameters
    ----------
    path : Path
        A file, or a folder of files.

    Returns
    -------
    list of Path
        The file itself, or the folder's prediction files in the order of their names;
        hidden ones (``.`` or ``_`` in front) are left out.

    Raises
    ------
    ValueError
        If a folder holds none.
    """
    if not path.is_dir():
        return [path]
    found = sorted(file for file in path.iterdir() if file.is_file() and is_part(file))
    if not found:
        known = ", ".join(_READERS)
        message = f"{path} is a folder without prediction files ({known})"
        raise ValueError(message)
    return found


def read_table(path: str | Path) -> Table:
    """Read one prediction file or a folder of them, formats told by extensions.

    Parameters
    ----------
    path : str or Path
        A ``.csv``, ``.tsv``, ``.jsonl``, ``.ndjson``, ``.parquet``, ``.pq``, ``.arrow``
        or ``.feather`` file; text may be compressed (``.csv.gz``). The files of a
        folder are parts of one table.

    Returns
    -------
    pyarrow.Table
        At least one row, columns of distinct names.

    Raises
    ------
    ValueError
        If it is empty, truncated, not UTF-8, not what its extension says, if two
        columns have one name, or the files of a folder have other columns.
    OSError
        If it cannot be opened.
    """
    path = Path(path)
    parts = parts_of(path)
    table = _read_file(parts[0])
    for part in parts[1:]:
        more = _read_file(part)
        check_columns(parts[0], table.column_names, part, more.column_names)
        try:
            table = pa.concat_tables([table, more], promote_options="permissive")
        except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
            message = f"{part} does not go with {parts[0]}: {error}"
            raise ValueError(message) from None
    if table.num_rows == 0:
        raise ValueError(no_rows(path))
    return table


def _read_file(path: Path) -> Table:
    kind = file_kind(path)
    with reading(path, kind):
        table = plain_table(_READERS[_suffix(path)][1](path))
        names = table.column_names  # decoded here, from whatever bytes they are
    check_names(path, names)
    if kind in ("CSV", "TSV"):
        check_text(path, dict(zip(names, table.schema.types, strict=True)))
    return table


@contextmanager
def reading(path: Path, kind: str) -> Iterator[None]:
    """Say of a failure which file could not be read.

    Parameters
    ----------
    path : Path
        The file.
    kind : str
        What it should be.

    Yields
    ------
    None
        Nothing.

    Raises
    ------
    ValueError
        If what is inside cannot read the file.
    """
    try:
        yield
    except pa.ArrowCancelled:
        raise
    except (pa.ArrowException, OSError, UnicodeDecodeError, EOFError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        message = f"{path} cannot be read as {kind}, it may be cut off: {reason}"
        raise ValueError(message) from None


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


def check_names(path: Path, names: list[str]) -> None:
    """Refuse two columns of one name.

    Parameters
    ----------
    path : Path
        The file.
    names : list of str
        Its columns.

    Raises
    ------
    ValueError
        If names repeat.
    """
    if repeated := sorted(name for name, times in Counter(names).items() if times > 1):
        message = f"{path} has more than one column named {', '.join(repeated)}"
        raise ValueError(message)


def check_text(path: Path, types: dict[str, Any]) -> None:
    """Refuse text that is not UTF-8, which pyarrow reads as bytes.

    Parameters
    ----------
    path : Path
        The file.
    types : dict
        Types of its columns.

    Raises
    ------
    ValueError
        If a column is not UTF-8.
    """
    for name, kind in types.items():
        if pa.types.is_binary(kind):
            message = f"{path} is not UTF-8 text (column {name!r})"
            raise ValueError(message)


def check_columns(first: Path, names: list[str], part: Path, own: list[str]) -> None:
    """Refuse a part of a table with other columns than the first part.

    Parameters
    ----------
    first : Path
        The first file.
    names : list of str
        Its columns.
    part : Path
        Another file.
    own : list of str
        Its columns.

    Raises
    ------
    ValueError
        If they are not the same.
    """
    odd = sorted(set(names) ^ set(own))
    if odd:
        verb = "has a" if odd[0] in own else "lacks the"
        message = (
            f"{part} {verb} column {odd[0]!r}, unlike {first}: the files of a folder "
            "must have the same columns"
        )
        raise ValueError(message)


def no_rows(path: Path) -> str:
    """Say that there is nothing in a file.

    Parameters
    ----------
    path : Path
        The file or folder.

    Returns
    -------
    str
        The message.
    """
    return f"{path} holds no rows"
