"""Entries of JSON, which may be of any type: texts, numbers, grades, fingerprints."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
from msgspec import UNSET
from numpy.typing import NDArray

_LETTERS = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0}
_WORDS = {"yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}


def as_text(entry: object) -> str:
    """Write an entry of JSON as text that is equal for equal ones."""
    if isinstance(entry, str):
        return entry
    try:
        return json.dumps(entry, sort_keys=True, ensure_ascii=False)
    except RecursionError:
        raise ValueError("JSON that is nested too deep: is the file damaged?") from None


def at(record: object, *keys: str) -> Any:
    """The entry below some keys; None where there is none."""
    for key in keys:
        if not isinstance(record, dict):
            return None
        record = record.get(key)
    return record


def mapping(record: object, *keys: str) -> dict[str, Any]:
    """The object below some keys; an empty one where there is none."""
    value = at(record, *keys)
    return value if isinstance(value, dict) else {}


def objects(record: object, path: Path, what: str) -> list[dict[str, Any]]:
    """A list of objects, which must be one."""
    if not isinstance(record, list) or not all(isinstance(entry, dict) for entry in record):
        raise ValueError(
            f"{path}: {what} must be a list of objects, got {as_text(record)[:60]!r}: is the file "
            "damaged, or of another version?"
        )
    return record


def named(record: Any, path: Path, what: str) -> str:
    """An id or a name, which must be text or a number."""
    if isinstance(record, str) and record:
        return record
    value = number(record)
    if value is not None and not math.isnan(value):
        return str(int(record)) if value.is_integer() else str(record)
    raise ValueError(
        f"{path}: {what} must be text or a number, got {as_text(record)[:60]!r}: is the file "
        "damaged, or of another version?"
    )


def text(record: object) -> str:
    """A text; "" where there is none."""
    return record.strip() if isinstance(record, str) else ""


def whole(record: object) -> int | None:
    """A whole number; None where there is none."""
    return record if isinstance(record, int) and not isinstance(record, bool) else None


def number(record: Any) -> float | None:
    """A number that is no boolean; None where there is none."""
    is_number = isinstance(record, (int, float)) and not isinstance(record, bool)
    return float(record) if is_number and abs(record) < 1e300 else None


def ratio(total: object, n: object) -> float | None:
    """A mean from a sum and a count; None where there is none."""
    top, bottom = number(total), number(n)
    return top / bottom if top is not None and bottom else None


def written(entries: dict[str, Any]) -> dict[str, str]:
    """Settings as texts, without those that are not there."""
    return {name: as_text(value) for name, value in entries.items() if value is not None}


def seconds(start: object, end: object) -> float | None:
    """The time between two stamps; None where one is missing."""
    try:
        first, last = (datetime.fromisoformat(text(stamp)) for stamp in (start, end))
        return (last - first).total_seconds()
    except (ValueError, TypeError):
        return None


def grade(text: str) -> float | None:
    """Return the number that a grade means; None where it is unknown.

    Correct, incorrect, partial and no answer; yes and no; numbers.
    """
    value = _LETTERS.get(text, _WORDS.get(text.lower()))
    if value is None:
        try:
            value = float(text)
        except ValueError:
            return None
    return value if math.isfinite(value) else None


def prints(values: Sequence[Any]) -> NDArray[np.uint64]:
    """Fingerprints of values, 0 for null, absent and an empty list.

    Equal texts have equal ones however they are written, and so have equal lists. A
    list of one text is that text.
    """
    value_texts = texts(values)
    hashes = text_prints(value_texts)
    if value_texts is not values:
        hashes[[text is None for text in value_texts]] = 0
    return hashes


def text_prints(texts: Sequence[str | None]) -> NDArray[np.uint64]:
    """Fingerprints of texts, none of them 0."""
    hashes = np.fromiter(map(hash, texts), np.int64, len(texts)).view(np.uint64)
    hashes[hashes == 0] = 1
    return hashes


def texts(values: Sequence[Any]) -> Sequence[str | None]:
    """Texts; None for null, what is absent and an empty list.

    A list of one text is that text; what is no text is written as JSON.
    """
    if set(map(type, values)) == {str}:
        return values
    strings: list[str | None] = []
    for value in values:
        content = value[0] if isinstance(value, list) and len(value) == 1 else value
        if content is None or content is UNSET or content == []:
            strings.append(None)
        else:
            strings.append(content if isinstance(content, str) else as_text(value))
    return strings


def combine(*prints: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Make one fingerprint of several; 0 where all are."""
    mixed = prints[0].copy()
    for more_prints in prints[1:]:
        mixed = mixed * np.uint64(0x9E3779B97F4A7C15) ^ more_prints
    return mixed
