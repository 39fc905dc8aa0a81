"""Columns of a table as they are in a file: texts, and numbers."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from msgspec import UNSET, UnsetType
from numpy.typing import NDArray

from fastcmp.core.render import visible
from fastcmp.core.typing import Floats, Ints
from fastcmp.inputs.columns import is_missing, plain_number
from fastcmp.io.formats import NoRowsError, kind_of
from fastcmp.io.logs import entries
from fastcmp.io.logs.files import LogFile
from fastcmp.io.logs.heads import check_size, is_json_array
from fastcmp.io.logs.json_lines import PLAIN_VALUES, Convert, Key, Plain, or_none, read_columns
from fastcmp.io.logs.words import listed
from fastcmp.io.sources import Source, columns_in

_LARGEST = 1e300  # below it whole numbers of JSON are floats
_EMPTY = {"", "na", "n/a", "nan", "null"}


@dataclass(frozen=True, slots=True)
class Labels:
    """A column of labels, as text with codes; -1 where one is missing."""

    codes: Ints
    texts: tuple[str, ...]

    def at(self, rows: Ints | slice = slice(None)) -> list[str]:
        """List the texts of some rows, "" for missing ones."""
        texts_and_missing = np.empty(len(self.texts) + 1, object)
        texts_and_missing[:-1] = self.texts
        texts_and_missing[-1] = ""
        row_texts: list[str] = texts_and_missing[self.codes[rows]].tolist()
        return row_texts

    def take(self, rows: Ints) -> Labels:
        """The labels of some rows."""
        return Labels(self.codes[rows], self.texts)

    def prints(self) -> NDArray[np.uint64]:
        """Fingerprints of the labels, 0 where one is missing, shape (n,)."""
        return np.append(entries.prints(self.texts), np.uint64(0))[self.codes]

    def check_complete(self, path: Path, name: str) -> None:
        """Refuse missing labels."""
        empty = np.flatnonzero(self.codes < 0)
        if empty.size:
            raise ValueError(
                f"{path}: column {name!r} is empty in {empty.size} of "
                f"{self.codes.size} rows, the first of them row {empty[0]}"
            )


def constant(text: str, n: int) -> Labels:
    """A column that is the same in all rows."""
    return Labels(np.zeros(n, np.int64), (text,))


class _Codes(dict[Any, int]):
    """Codes of the entries of a column, which may come in pieces, by their texts."""

    def __init__(self) -> None:
        #: The code of each text, in order.
        self.places: dict[str, int] = {}

    def __missing__(self, entry: str | int | UnsetType | None) -> int:
        text = "" if entry is None or entry is UNSET else str(entry)
        code = self[entry] = self.places.setdefault(text, len(self.places)) if text else -1
        return code

    def of(self, entries: Sequence[Any]) -> Ints:
        """The code of each entry, -1 where one is missing, shape (n,)."""
        # True, 1 and 1.0 are the same key, and no list is one.
        if set(map(type, entries)) <= {str, int, type(None), UnsetType}:
            return self.of_plain(entries)
        texts = map(_text, entries)
        return np.array([-1 if text is None else self[text] for text in texts], np.int64)

    def of_plain(self, entries: Sequence[str | int | None]) -> Ints:
        """The same of texts and whole numbers, each of which is written once."""
        return np.fromiter(map(self.__getitem__, entries), np.int64, len(entries))

    def labels(self, codes: Ints) -> Labels:
        """Labels of these codes."""
        return Labels(codes, tuple(self.places))


def as_labels(raw: Any) -> Labels:
    """Read a column of pyarrow, or a list, as texts."""
    if isinstance(raw, Labels):
        return raw
    if isinstance(raw, list):
        coder = _Codes()
        return coder.labels(coder.of(raw))
    if isinstance(raw, pa.ChunkedArray):
        raw = raw.combine_chunks() if raw.num_chunks != 1 else raw.chunk(0)
    if not pa.types.is_dictionary(raw.type):
        try:
            raw = raw.dictionary_encode()
        except pa.ArrowNotImplementedError:  # lists and structs
            return as_labels(raw.to_pylist())
    indices = raw.indices.cast(pa.int64()).fill_null(-1).to_numpy(zero_copy_only=False)
    codes: Ints = np.asarray(indices, np.int64)
    texts = raw.dictionary.to_pylist()
    if pa.types.is_string(raw.type.value_type) and "" not in texts:
        return Labels(codes, tuple(texts))
    merged = as_labels(texts)  # one code for entries of one text
    return Labels(np.append(merged.codes, -1)[codes], merged.texts)


def _text(entry: object) -> str | None:
    """Write an id or a name; None where there is none."""
    if isinstance(entry, str):
        return entry or None
    if isinstance(entry, (list, dict)):
        return json.dumps(entry, sort_keys=True, default=str)
    missing = entry is UNSET or is_missing(entry)
    return None if missing else str(plain_number(entry))


def as_numbers(raw: Any, path: Path, name: str) -> Floats:
    """Read a column of values: numbers, booleans or grades; NaN where none is."""
    if isinstance(raw, np.ndarray):
        values: Floats = raw
    elif isinstance(raw, list):
        try:
            is_plain = set(map(type, raw)) <= {int, float, bool}
            values = np.array(raw if is_plain else [grade(x, path, name) for x in raw], np.float64)
        except OverflowError:
            raise ValueError(f"{path}: {name!r} holds a number that is too large") from None
    elif _is_number(raw.type):
        values = np.asarray(
            raw.cast(pa.float64()).to_numpy(zero_copy_only=False), np.float64
        ).copy()
    else:
        texts = as_labels(raw)
        grades = [grade(text, path, name) for text in texts.texts]
        values = np.append(grades, np.nan)[texts.codes]
    infinite = np.flatnonzero(np.isinf(values))
    if infinite.size:
        raise ValueError(
            f"{path}: column {name!r} must be finite, got {infinite.size} infinite "
            f"values, the first in row {infinite[0]}"
        )
    return values


def _is_number(kind: object) -> bool:
    types = pa.types
    return any(
        is_kind(kind)
        for is_kind in (
            *(types.is_integer, types.is_floating, types.is_boolean),
            *(types.is_decimal, types.is_null),
        )
    )


def grade(entry: object, path: Path, name: str) -> float:
    """Read a value: a number, true or false, or a grade; NaN where there is none."""
    if entry is None:
        return math.nan
    if isinstance(entry, (bool, int, float)) and abs(entry) < _LARGEST:
        return float(entry)
    if isinstance(entry, float) and math.isnan(entry):
        return math.nan
    if isinstance(entry, str):
        text = entry.strip()
        if text.lower() in _EMPTY:
            return math.nan
        value = entries.grade(text)
        if value is not None:
            return value
    what = "a list" if isinstance(entry, (list, dict)) else visible(repr(entry)[:60])
    raise ValueError(
        f"{path}: {name!r} must hold one value an item, numbers, true and false or the "
        f"grades C, P, I, N, yes, no, all finite, got {what}"
    )


def as_whole_numbers(labels: Labels, path: Path, name: str) -> NDArray[np.int32]:
    """Read a column of whole numbers, such as folds and repeats; 0 where none is."""
    numbers_of_texts = np.zeros(len(labels.texts) + 1)
    for i, text in enumerate(labels.texts):
        try:
            numbers_of_texts[i] = float(text)
        except ValueError:
            numbers_of_texts[i] = np.nan
        if not (numbers_of_texts[i].is_integer() and abs(numbers_of_texts[i]) < 2**31):
            raise ValueError(f"{path}: column {name!r} must hold whole numbers, got {text[:60]!r}")
    numbers: NDArray[np.int32] = numbers_of_texts.astype(np.int32)[labels.codes]
    return numbers


def is_json_table(file: LogFile) -> bool:
    """Whether a table is JSON lines, or an array of objects."""
    return is_json_array(file.head) or kind_of(file.path) == "JSON lines"


class LogTable:
    """Some columns of a table."""

    def __init__(
        self, file: LogFile, names: Sequence[str], *, values: Sequence[str] = (), limit: int
    ) -> None:
        self.path = file.path
        names_read = list(dict.fromkeys([*names, *values]))
        check_size(file, limit, names_read)
        self.columns: dict[str, Any] = {}
        if file.frame is not None:
            for name in names_read:
                try:
                    self.columns[name] = pa.array(file.frame[name], from_pandas=True)
                except (pa.ArrowInvalid, pa.ArrowTypeError):  # of several types
                    self.columns[name] = list(file.frame[name])
        elif is_json_table(file):
            codes = {name: _Codes() for name in names if name not in values}
            convert: dict[Key, Convert] = dict.fromkeys(values, or_none)
            plain: dict[Key, Plain] = {x: PLAIN_VALUES for x in values if x not in names}
            for name, coder in codes.items():
                convert[name] = coder.of
                plain[name] = Plain(str | int | None, coder.of_plain, None)
            columns, _ = read_columns(file.path, convert, limit, plain)
            for name in names_read:
                column = columns[name]
                self.columns[name] = codes[name].labels(column) if name in codes else column
        else:
            self.columns = _of_source(file.path, names_read, values)
        first = next(iter(self.columns.values()))
        self.n_rows = len(first.codes if isinstance(first, Labels) else first)
        if not self.n_rows:
            raise NoRowsError(self.path)

    def labels(self, name: str, *, complete: bool = False) -> Labels:
        """A column as texts."""
        column_labels = as_labels(self.columns[name])
        if complete:
            column_labels.check_complete(self.path, name)
        return column_labels

    def values(self, name: str) -> Floats:
        """A column as numbers, NaN where there is none."""
        return as_numbers(self.columns[name], self.path, name)


def _of_source(path: Path, names: Sequence[str], values: Sequence[str]) -> dict[str, Any]:
    """Read columns of CSV, TSV, Parquet or Arrow; those of text as they are written."""
    source = Source(path, labels=set(names) - set(values))
    lacking = [name for name in names if name not in source.types]
    if lacking or not names:
        what = f"no column {', '.join(map(repr, lacking))}" if lacking else "none of its columns"
        raise ValueError(
            f"{path} is not of this format: it has {what}, but {listed(source.types, 10)}"
        )
    for name in set(names) - set(values):
        source.read_as(name, pa.string(), truths=False)
    source.expect(None, named=True)
    return columns_in(source.settled(source.table(list(names))))
