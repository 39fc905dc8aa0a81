"""Entries of JSON, which may be of any type, and names of models."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any


def as_text(entry: Any) -> str:
    """Write an entry of JSON as text that is equal for equal ones."""
    if isinstance(entry, str):
        return entry
    try:
        return json.dumps(entry, sort_keys=True, ensure_ascii=False)
    except RecursionError:
        raise ValueError("JSON that is nested too deep: is the file damaged?") from None


def at(record: Any, *keys: str) -> Any:
    """The entry below some keys; None where there is none."""
    for key in keys:
        if not isinstance(record, dict):
            return None
        record = record.get(key)
    return record


def objects(record: Any, path: Path, what: str) -> list[dict[str, Any]]:
    """A list of objects, which must be one."""
    if not isinstance(record, list) or not all(isinstance(each, dict) for each in record):
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


def text(record: Any) -> str:
    """A text; "" where there is none."""
    return record.strip() if isinstance(record, str) else ""


def whole(record: Any) -> int | None:
    """A whole number; None where there is none."""
    return record if isinstance(record, int) and not isinstance(record, bool) else None


def number(record: Any) -> float | None:
    """A number that is no boolean; None where there is none."""
    is_number = isinstance(record, (int, float)) and not isinstance(record, bool)
    return float(record) if is_number and abs(record) < 1e300 else None


def ratio(total: Any, n: Any) -> float | None:
    """A mean from a sum and a count; None where there is none."""
    top, bottom = number(total), number(n)
    return top / bottom if top is not None and bottom else None


def seconds(start: Any, end: Any) -> float | None:
    """The time between two stamps; None where one is missing."""
    from datetime import datetime

    try:
        first, last = (datetime.fromisoformat(text(each)) for each in (start, end))
        return (last - first).total_seconds()
    except (ValueError, TypeError):
        return None
