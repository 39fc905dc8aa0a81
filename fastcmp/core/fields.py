"""The fields of records: compared, written in brief, and as columns of a table."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def same(first: Any, second: Any) -> bool:
    """Tell whether two fields are equal, where NaN equals NaN."""
    if isinstance(first, np.ndarray) or isinstance(second, np.ndarray):
        return (
            isinstance(first, np.ndarray)
            and isinstance(second, np.ndarray)
            and first.shape == second.shape
            and _same_entries(first, second)
        )
    if isinstance(first, dict) and isinstance(second, dict):
        return first.keys() == second.keys() and all(
            same(value, second[key]) for key, value in first.items()
        )
    if isinstance(first, (tuple, list)) and type(first) is type(second):
        return len(first) == len(second) and all(map(same, first, second))
    return bool(first == second) or (is_nan(first) and is_nan(second))


def _same_entries(first: NDArray[Any], second: NDArray[Any]) -> bool:
    if first.dtype.kind == "O":
        return all(map(same, first.ravel().tolist(), second.ravel().tolist()))
    return np.array_equal(first, second, equal_nan=first.dtype.kind in "fmM")


def is_nan(value: Any) -> bool:
    """Tell a number or a time that does not equal itself."""
    scalar = isinstance(value, (float, np.generic, Decimal))
    return scalar and bool(value != value)  # noqa: PLR0124


def column(value: Any, shape: tuple[int, ...]) -> list[Any] | None:
    """Give a field as a column of the main table, or None where it is none."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, (str, int, float)):
        return [value] * math.prod(shape)
    if isinstance(value, np.ndarray) and value.shape == shape:
        return value.ravel().tolist()
    return list(value) if type(value) is tuple and shape == (len(value),) else None


def brief(value: Any) -> str:
    """Write a field in a few letters."""
    if isinstance(value, np.ndarray):
        return f"<{value.dtype} {value.shape}>"
    if isinstance(value, (float, np.floating)):
        return f"{value:.6g}"
    if isinstance(value, tuple) and len(value) > 4 and type(value) is tuple:
        return f"<{len(value)} entries>"
    if isinstance(value, tuple) and type(value) is tuple:
        inner = ", ".join(map(brief, value))
        return f"({inner},)" if len(value) == 1 else f"({inner})"
    if hasattr(value, "sections"):  # a record
        return f"<{type(value).__name__}>"
    text = repr(value).replace("\n", " ")
    return text if len(text) <= 60 else f"<{type(value).__name__}>"
