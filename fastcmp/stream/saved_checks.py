"""What a state that was read from a file must be like, before anything is made of it.

A file may have a right checksum and have been written by something else. Names, labels
and counts are checked one by one, and arrays are never made larger than the file.
"""

from __future__ import annotations

import reprlib
from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp.core.checks import LARGEST_COUNT
from fastcmp.stream.blocks import check_names

if TYPE_CHECKING:
    from numpy.typing import DTypeLike, NDArray


def require(condition: object, message: str) -> None:
    """Refuse a state with a ValueError where a condition does not hold."""
    if not condition:
        raise ValueError(message)


def stored(
    arrays: dict[str, NDArray[Any]],
    name: str,
    shape: tuple[int, ...],
    dtype: DTypeLike = np.int64,
) -> NDArray[Any]:
    """Take one array of a saved state, of the shape and type that it must have."""
    wanted = np.dtype(dtype)
    array = arrays.get(name)
    if array is None:
        message = f"{name} is missing"
        raise ValueError(message)
    if array.shape != shape or array.dtype.newbyteorder("=") != wanted:
        message = (
            f"{name} must be {wanted} of shape {shape}, got {array.dtype} of shape {array.shape}"
        )
        raise ValueError(message)
    return np.asarray(array, wanted)


def saved_names(settings: dict[str, Any], key: str = "names") -> tuple[str, ...] | None:
    """Read the names of models: different ones, or None."""
    names = settings[key]
    wrong = f"{key} must be different names or None, got {reprlib.repr(names)}"
    require(names is None or isinstance(names, tuple), wrong)
    return check_names(names)


def saved_labels(settings: dict[str, Any], key: str) -> tuple[Any, ...] | None:
    """Read labels of classes: different ones, or None."""
    labels: tuple[Any, ...] | None = settings[key]
    wrong = f"{key} must be different labels or None, got {reprlib.repr(labels)}"
    require(labels is None or isinstance(labels, tuple), wrong)
    if labels is not None:
        require(len(set(labels)) == len(labels), wrong)
        require(all(label == label for label in labels), wrong)  # noqa: PLR0124  # NaN
    return labels


def check_totals(totals: NDArray[np.int64], *, begun: bool) -> None:
    """Refuse impossible numbers of samples; before the first block there are none."""
    sizes = totals.tolist()
    possible = min(sizes) >= 0 and sum(sizes) <= (LARGEST_COUNT if begun else 0)
    require(possible, f"totals must be numbers of samples, got {sizes}")


def check_within(counts: NDArray[np.int64], low: Any, high: Any, name: str = "counts") -> None:
    """Refuse counts outside of their bounds."""
    possible = np.all((counts >= low) & (counts <= high))
    require(possible, f"{name} must be numbers of samples that fit the others")
