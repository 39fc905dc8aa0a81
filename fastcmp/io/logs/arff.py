"""ARFF, as OpenML and its clients write predictions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

import pyarrow as pa
from pyarrow import csv

#: A cell in quotes, or up to the next comma.
_CELL = re.compile(
    r"""\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|([^,]*?))\s*(?:,|$)""", re.DOTALL
)
_NAME = re.compile(r"""\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|(\S+))\s*(.*)""", re.DOTALL)
_PLAIN = frozenset(" \t'\"{%")
_NUMERIC = ("numeric", "real", "integer")
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_CONTROL = {"n": "\n", "t": "\t", "r": "\r"}


@dataclass(frozen=True, slots=True)
class Arff:
    """The head of a file, and some of its columns."""

    relation: str
    #: Names of the attributes, and the values of those that are nominal; () for text,
    #: None for numbers.
    attributes: dict[str, tuple[str, ...] | None]
    #: Cells of the columns, None for `?`.
    columns: dict[str, list[str | None]]


def read_arff(path: Path) -> Arff:
    """Read a file as a whole; sparse data are refused."""
    try:
        with path.open(encoding="utf-8-sig", newline=None) as file:
            relation, attributes = _head(file, path)
            text = file.read()
    except UnicodeDecodeError:
        raise ValueError(f"{path} is not UTF-8 text") from None
    columns = _plain_columns(text, list(attributes))
    if columns is None:
        rows = list(_rows(text, path, len(attributes)))
        if not rows:
            raise ValueError(f"{path} holds no rows")
        columns = list(map(list, zip(*rows, strict=True)))
    return Arff(relation, attributes, dict(zip(attributes, columns, strict=True)))


def _plain_columns(text: str, names: list[str]) -> list[list[str | None]] | None:
    """Read rows without quotes, comments and blanks by pyarrow; None where it fails."""
    if not _PLAIN.isdisjoint(text):
        return None
    types = dict.fromkeys(names, pa.string())
    try:
        table = csv.read_csv(
            pa.BufferReader(text.encode()),
            read_options=csv.ReadOptions(column_names=names),
            parse_options=csv.ParseOptions(quote_char=False),
            convert_options=csv.ConvertOptions(
                column_types=types, null_values=["?"], strings_can_be_null=True
            ),
        )
    except pa.ArrowInvalid:
        return None
    return [column.to_pylist() for column in table.columns]


def _head(file: TextIO, path: Path) -> tuple[str, dict[str, tuple[str, ...] | None]]:
    relation = ""
    attributes: dict[str, tuple[str, ...] | None] = {}
    for line in file:
        text = line.strip()
        word, _, rest = text.partition(" ") if " " in text else text.partition("\t")
        match word.lower():
            case "@relation":
                relation = _name(rest)[0]
            case "@attribute":
                name, kind = _name(rest)
                if name in attributes:
                    raise ValueError(f"{path} has two attributes named {name!r}")
                attributes[name] = _nominal(kind)
            case "@data":
                return relation, attributes
    raise ValueError(f"{path} has no line @DATA: it is no ARFF, or cut off")


def _name(text: str) -> tuple[str, str]:
    found = _NAME.fullmatch(text)
    if found is None:
        return "", ""
    single, double, plain, rest = found.groups()
    quoted = single if single is not None else double
    return (plain if quoted is None else _unescaped(quoted)), rest.strip()


def _nominal(kind: str) -> tuple[str, ...] | None:
    if not kind.startswith("{"):
        return None if kind.lower() in _NUMERIC else ()
    cells = _cells(kind[1:].rpartition("}")[0])
    return tuple(cell for cell in cells if cell is not None)


def _rows(text: str, path: Path, n: int) -> Iterator[Sequence[str | None]]:
    for number, line in enumerate(text.split("\n"), 1):
        row = line.strip()
        if not row or row[0] == "%":
            continue
        if row[0] == "{":
            raise ValueError(f"{path} holds sparse data ({row[:20]!r}), which are not read")
        cells = _cells(row)
        if len(cells) != n:
            raise ValueError(
                f"{path}: row {number} of the data has {len(cells)} cells, and there "
                f"are {n} attributes: the file may be cut off"
            )
        yield cells


def _cells(text: str) -> list[str | None]:
    """Cut a row at its commas, but for those in quotes."""
    if "'" not in text and '"' not in text:
        plain = [cell.strip() for cell in text.split(",")]
        return [None if cell == "?" else cell for cell in plain]
    cells: list[str | None] = []
    place = 0
    while place <= len(text):
        found = _CELL.match(text, place)
        if found is None:
            return []  # a quote is left open
        single, double, bare = found.groups()
        quoted = single if single is not None else double
        if quoted is not None:
            cells.append(_unescaped(quoted))
        elif bare[:1] in ("'", '"'):
            return []
        else:
            cells.append(None if bare == "?" else bare)
        place = found.end()
        if not found[0].endswith(","):
            break
    return cells


def _unescaped(text: str) -> str:
    return _ESCAPED.sub(lambda found: _CONTROL.get(found[1], found[1]), text)
