"""Columns of tables as labels with codes, and as values."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from fastcmp.core.escaping import visible
from fastcmp.inputs.label_values import is_missing, plain_number
from fastcmp.io.logs import grades

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

_LARGEST = 1e300  # below it whole numbers of JSON are floats
_EMPTY = {"", "na", "n/a", "nan", "null"}


@dataclass(frozen=True, slots=True)
class Labels:
    """A column of labels, as text with codes; -1 where one is missing."""

    codes: NDArray[np.int64]
    texts: tuple[str, ...]

    def at(self, rows: NDArray[np.int64] | slice = slice(None)) -> list[str]:
        """List the texts of some rows, "" for missing ones."""
        known = np.empty(len(self.texts) + 1, object)
        known[:-1] = self.texts
        known[-1] = ""
        found: list[str] = known[self.codes[rows]].tolist()
        return found

    def check_complete(self, path: Path, name: str) -> None:
        """Refuse missing labels."""
        empty = np.flatnonzero(self.codes < 0)
        if empty.size:
            raise ValueError(
                f"{path}: column {name!r} is empty in {empty.size} of "
                f"{self.codes.size} rows, the first of them row {empty[0]}"
            )


def constant(text: str, n: int) -> Labels:
    """Give a column that is the same in all rows."""
    return Labels(np.zeros(n, np.int64), (text,))


def as_labels(raw: Any) -> Labels:
    """Read a column of pyarrow, or a list, as texts."""
    if isinstance(raw, list):
        try:
            raw = pa.array(raw, pa.string())
        except (pa.ArrowException, UnicodeError, TypeError):  # not all are text
            return _coded(raw)
    if isinstance(raw, pa.ChunkedArray):
        raw = raw.combine_chunks() if raw.num_chunks != 1 else raw.chunk(0)
    if not pa.types.is_dictionary(raw.type):
        try:
            raw = raw.dictionary_encode()
        except pa.ArrowNotImplementedError:  # lists and structs
            return _coded(raw.to_pylist())
    codes = raw.indices.cast(pa.int64()).fill_null(-1).to_numpy(zero_copy_only=False)
    return _merged(np.asarray(codes, np.int64), raw.dictionary.to_pylist())


def _coded(entries: Iterable[Any]) -> Labels:
    places: dict[str, int] = {}
    codes = [
        -1 if text is None else places.setdefault(text, len(places)) for text in map(_text, entries)
    ]
    return Labels(np.array(codes, np.int64), tuple(places))


def _merged(codes: NDArray[np.int64], entries: Sequence[Any]) -> Labels:
    """Give one code to entries of one text."""
    own = _coded(entries)
    places = np.append(own.codes, -1)
    return Labels(places[codes], own.texts)


def _text(entry: Any) -> str | None:
    """Write an id or a name; None where there is none."""
    if isinstance(entry, str):
        return entry or None
    if isinstance(entry, (list, dict)):
        import json

        return json.dumps(entry, sort_keys=True, default=str)
    return None if is_missing(entry) else str(plain_number(entry))


def as_numbers(raw: Any, path: Path, name: str) -> NDArray[np.float64]:
    """Read a column of values: numbers, booleans or grades; NaN where none is."""
    if isinstance(raw, list):
        values = np.array([grade(entry, path, name) for entry in raw], np.float64)
    elif _is_number(raw.type):
        values = np.asarray(
            raw.cast(pa.float64()).to_numpy(zero_copy_only=False), np.float64
        ).copy()
    else:
        texts = as_labels(raw)
        known = [grade(text, path, name) for text in texts.texts]
        values = np.append(known, np.nan)[texts.codes]
    infinite = np.flatnonzero(np.isinf(values))
    if infinite.size:
        raise ValueError(
            f"{path}: column {name!r} must be finite, got {infinite.size} infinite "
            f"values, the first in row {infinite[0]}"
        )
    return values


def _is_number(kind: Any) -> bool:
    types = pa.types
    return any(
        is_kind(kind)
        for is_kind in (
            *(types.is_integer, types.is_floating, types.is_boolean),
            *(types.is_decimal, types.is_null),
        )
    )


def grade(entry: Any, path: Path, name: str) -> float:
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
        value = grades.grade(text)
        if value is not None:
            return value
    what = "a list" if isinstance(entry, (list, dict)) else visible(repr(entry)[:60])
    raise ValueError(
        f"{path}: {name!r} must hold one value an item, numbers, true and false or the "
        f"grades C, P, I, N, yes, no, all finite, got {what}"
    )


def as_whole_numbers(labels: Labels, path: Path, name: str) -> NDArray[np.int32]:
    """Read a column of whole numbers, such as folds and repeats; 0 where none is."""
    known = np.zeros(len(labels.texts) + 1)
    for i, text in enumerate(labels.texts):
        try:
            known[i] = float(text)
        except ValueError:
            known[i] = np.nan
        if not (known[i].is_integer() and abs(known[i]) < 2**31):
            raise ValueError(f"{path}: column {name!r} must hold whole numbers, got {text[:60]!r}")
    numbers: NDArray[np.int32] = known.astype(np.int32)[labels.codes]
    return numbers
