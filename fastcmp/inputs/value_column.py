"""One column of values, from whatever library it comes."""

from __future__ import annotations

import sys
from decimal import Decimal
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp.inputs.label_values import is_missing

if TYPE_CHECKING:
    from numpy.typing import NDArray


def read_values(raw: Any, name: str) -> NDArray[np.float64]:
    """Convert numbers or booleans to float64, NaN where one is missing."""
    if isinstance(raw, np.ma.MaskedArray):
        values = read_values(np.asarray(raw.data), name)
        return np.where(np.ma.getmaskarray(raw), np.nan, values)
    try:
        array = np.asarray(_of_library(raw))
    except ValueError:
        raise ValueError(
            f"{name} must be one-dimensional, got lists of different lengths"
        ) from None
    if array.ndim != 1:
        raise ValueError(f"{name} must be one-dimensional, got shape {array.shape}")
    if array.dtype.kind == "O":
        array = _of_objects(array, name)
    if array.dtype.kind not in "biuf":
        _refuse(name, f"{array.dtype} values such as {array[:1].tolist()}")
    return np.ascontiguousarray(array, np.float64)


def _of_library(raw: Any) -> Any:
    """Take numbers out of a column of pandas, polars or pyarrow, null as NaN."""
    library = type(raw).__module__.partition(".")[0]
    if library == "pandas" and not isinstance(raw.dtype, np.dtype):
        types = sys.modules["pandas"].api.types
        if types.is_numeric_dtype(raw.dtype) and not isinstance(raw, types.CategoricalDtype):
            return raw.to_numpy(dtype=np.float64, na_value=np.nan)
        return raw.to_numpy(dtype=object)
    if library == "polars":
        if raw.dtype.is_numeric() or str(raw.dtype) in ("Boolean", "Null"):
            return raw.cast(sys.modules["polars"].Float64).to_numpy()
        return raw.to_list()
    if library == "pyarrow":
        types = sys.modules["pyarrow"].types
        asked = (
            *(types.is_integer, types.is_floating, types.is_boolean),
            *(types.is_decimal, types.is_null),
        )
        if any(is_kind(raw.type) for is_kind in asked):
            return raw.cast("float64").to_numpy(zero_copy_only=False)
        return raw.to_pylist()
    return raw


def _of_objects(array: NDArray[Any], name: str) -> NDArray[np.float64]:
    """Convert Python's numbers, None and NaN."""
    values = np.full(array.size, np.nan)
    for i, entry in enumerate(array.tolist()):
        if isinstance(entry, (Real, np.bool_, Decimal)):
            values[i] = entry
        elif not is_missing(entry):
            _refuse(name, f"{type(entry).__name__} {str(entry)[:40]!r}")
    return values


def _refuse(name: str, found: str) -> None:
    raise TypeError(
        f"{name} must hold numbers or booleans, one value an item, got {found}: labels "
        "belong to compare_all, a long table (a row a value) to from_long, and ids are "
        "left out"
    )
