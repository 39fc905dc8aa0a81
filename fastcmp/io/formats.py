"""Formats of prediction files: CSV, TSV, JSON lines, Parquet and Arrow, by pyarrow.

A file holds one row a sample and one column a model; a folder holds such files, which
are parts of one table.

Arrow knows text with short places, with long ones and as views. Polars and pandas write
the latter two, for which many functions of pyarrow have no kernel.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from fastcmp.core.render import visible

try:
    import pyarrow as pa
except ImportError:
    raise ImportError(
        "reading prediction files needs pyarrow: pip install 'fastcmp[cli]'"
    ) from None


#: What stands between two cells.
DELIMITERS = {"CSV": ",", "TSV": "\t", "CSV with semicolons": ";"}
_HEAD = 1 << 16  # bytes that are looked at
_MAGIC = {b"PAR1": "Parquet", b"ARROW1": "Arrow"}


_KINDS = {
    ".csv": "CSV",
    ".tsv": "TSV",
    ".jsonl": "JSON lines",
    ".ndjson": "JSON lines",
    ".parquet": "Parquet",
    ".pq": "Parquet",
    ".arrow": "Arrow",
    ".feather": "Arrow",
}
#: Extensions of compressed text, and what pyarrow calls them.
COMPRESSED = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd"}


def file_kind(path: Path) -> str:
    """The format of a file by its extension; content of another format is refused."""
    suffix = _suffix(path)
    if suffix not in _KINDS:
        extensions = ", ".join(_KINDS)
        raise ValueError(f"{path}: the extension must be one of {extensions}, got {suffix!r}")
    kind = _KINDS[suffix]
    _check_beginning(path, kind)
    if kind == "CSV":
        with reading(path, kind):
            return csv_kind(beginning(path))
    return kind


def beginning(path: Path) -> bytes:
    """First 64 kB of a file, unpacked."""
    codec = COMPRESSED.get(path.suffix.lower())
    with (
        pa.OSFile(str(path))
        if codec is None
        else pa.CompressedInputStream(str(path), codec) as stream
    ):
        # Where `read` fails, pyarrow loses the memory it has taken for it.
        return bytes(stream.read_buffer(_HEAD))


def is_utf16(head: bytes) -> bool:
    """Whether text begins with the mark of UTF-16, as spreadsheets write it."""
    return head[:2] in (b"\xff\xfe", b"\xfe\xff")


def as_utf8(head: bytes) -> bytes:
    """Beginning of a text as UTF-8, without a mark."""
    if is_utf16(head):
        return head[: len(head) // 2 * 2].decode("utf-16", "replace").encode()
    return head.removeprefix(b"\xef\xbb\xbf")


def csv_kind(head: bytes) -> str:
    """The kind of CSV, by what separates the cells of the first line."""
    first = as_utf8(head).lstrip().partition(b"\n")[0]
    if b"\t" in first and b"," not in first and b";" not in first:
        return "TSV"
    return "CSV with semicolons" if b";" in first and b"," not in first else "CSV"


def _suffix(path: Path) -> str:
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] in COMPRESSED:
        suffixes.pop()
    return suffixes[-1] if suffixes else ""


def is_part(file: Path) -> bool:
    """Whether a file would be read as part of its folder."""
    return file.name[0] not in "._" and kind_of(file) is not None


def kind_of(file: Path) -> str | None:
    """The format that the extension of a file names; None for another file."""
    return _KINDS.get(_suffix(file))


def model_name(path: Path) -> str:
    """Name of the model of a file: that of the file, without the extensions of its format."""
    name = path
    while name.suffix.lower() in _KINDS.keys() | COMPRESSED.keys():
        name = name.with_suffix("")
    return name.name


def parts_of(path: Path) -> list[Path]:
    """List the files that make up one table."""
    if not path.is_dir():
        return [path]
    files = sorted(file for file in path.iterdir() if file.is_file() and is_part(file))
    if not files:
        extensions = ", ".join(_KINDS)
        raise ValueError(f"{path} is a folder without prediction files ({extensions})")
    return files


@contextmanager
def reading(path: Path, kind: str) -> Iterator[None]:
    """Add to errors of reading which file could not be read."""
    try:
        yield
    except pa.ArrowCancelled:
        raise
    except (pa.ArrowException, OSError, UnicodeDecodeError, EOFError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise ValueError(f"{path} cannot be read as {kind}, it may be cut off: {reason}") from None


def _check_beginning(path: Path, kind: str) -> None:
    if path.exists() and not path.is_file():
        raise ValueError(f"{path} is a pipe or a device: write what it gives to a file first")
    with path.open("rb") as file:
        start = file.read(6)
    if not start:
        raise ValueError(f"{path} is empty")
    for magic, name in _MAGIC.items():
        if start.startswith(magic) and name != kind:
            raise ValueError(f"{path} is a {name} file, but its extension says {kind}")


def check_names(path: Path, names: list[str]) -> None:
    """Refuse two columns of one name."""
    if repeated := sorted(name for name, times in Counter(names).items() if times > 1):
        raise ValueError(f"{path} has more than one column named {visible(', '.join(repeated))}")


class NoRowsError(ValueError):
    """A file that holds no rows."""

    def __init__(self, path: Path | str) -> None:
        super().__init__(f"{path} holds no rows")


# Types of columns: text of one type, whoever wrote it; which values can be equal.


_PLAIN = {
    "large_string": pa.string(),
    "string_view": pa.string(),
    "large_binary": pa.binary(),
    "binary_view": pa.binary(),
}


def plain_type(kind: pa.DataType) -> pa.DataType:
    """The type that a column has here."""
    if pa.types.is_dictionary(kind):
        values = plain_type(kind.value_type)
        if values == kind.value_type:
            return kind
        return pa.dictionary(kind.index_type, values, kind.ordered)
    return _PLAIN.get(str(kind), kind)


def plain_array(column: pa.Array) -> Any:
    """Convert a column to the type that it has here."""
    kind = plain_type(column.type)
    if kind == column.type:
        return column
    try:
        return column.cast(kind)
    except pa.ArrowInvalid:  # it is behind 2 GB of other text; a copy is not
        return pa.concat_arrays([column]).cast(kind)


def value_type(kind: pa.DataType) -> pa.DataType:
    """The type of the values of a column."""
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def decoded(column: pa.Array) -> Any:
    """Write a dictionary out, so that columns compare by their values."""
    if pa.types.is_dictionary(column.type):
        return column.dictionary_decode()
    return column


def family(kind: object) -> str:
    """Name the types whose values can be equal."""
    types = pa.types
    kind = value_type(kind)
    if types.is_null(kind):
        return ""
    if types.is_boolean(kind) or types.is_integer(kind) or types.is_floating(kind):
        return "number"
    return str(kind)


def check_ids(path: str | Path, id_column: str, kind: object) -> None:
    """Refuse ids that cannot be compared or put in order."""
    import pyarrow.compute as pc

    id_type = value_type(kind)
    if pa.types.is_null(id_type):
        return
    try:
        none = pa.nulls(0, id_type)  # pa.array would import pandas
        pc.less(none, none)
        pc.value_counts(none)
    except pa.ArrowNotImplementedError:
        raise ValueError(
            f"{path}: ids must be numbers or text, {id_column!r} is of type {id_type}"
        ) from None
