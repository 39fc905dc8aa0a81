"""What several models say of the same samples: named columns of any library."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from numbers import Integral
from typing import Any

import numpy as np


def named_columns(raw: Any, argument: str) -> list[tuple[str, Any]]:
    """List the columns of several models with their names.

    Parameters
    ----------
    raw : array-like of shape (M, n), mapping or frame
        One row a model, or a mapping from names to columns, or a pandas, polars or
        pyarrow frame whose columns are models.
    argument : str
        What to call it in an error.

    Returns
    -------
    list of tuple of str and array-like
        Name and column of each model; rows are named "model_0", "model_1", ...

    Raises
    ------
    ValueError
        If an array is not of two dimensions, or names repeat.
    """
    library = type(raw).__module__.partition(".")[0]
    if isinstance(raw, Mapping):
        named = [(str(name), column) for name, column in raw.items()]
    elif library == "pandas" and raw.ndim == 2:
        named = [(str(c), raw.iloc[:, i]) for i, c in enumerate(raw.columns)]
    elif library == "polars" and hasattr(raw, "get_columns"):
        named = [(column.name, column) for column in raw.get_columns()]
    elif library == "pyarrow" and hasattr(raw, "column_names"):
        named = list(zip(raw.column_names, raw.columns, strict=True))
    else:
        named = [(f"model_{i}", row) for i, row in enumerate(_rows(raw, argument))]
    check_distinct_names([name for name, _ in named], argument)
    return named


def check_distinct_names(names: list[str], argument: str) -> None:
    """Refuse two models of one name.

    Parameters
    ----------
    names : list of str
        The models.
    argument : str
        What to call them in an error.

    Raises
    ------
    ValueError
        If names repeat.
    """
    if len(set(names)) < len(names):
        duplicates = sorted(name for name, n in Counter(names).items() if n > 1)
        message = (
            f"{argument} must have one name a model, got {duplicates} more than once"
        )
        raise ValueError(message)


def position_of(model: Any, names: tuple[str, ...]) -> int:
    """Find a model by name or position.

    Parameters
    ----------
    model : int or str
        What the user passed; a negative position counts from the end.
    names : tuple of str
        The models.

    Returns
    -------
    int
        In [0, M).

    Raises
    ------
    ValueError
        If there is no such model.
    """
    if isinstance(model, str) and model in names:
        return names.index(model)
    whole = isinstance(model, Integral) and not isinstance(model, bool)
    if whole and -len(names) <= int(model) < len(names):
        return int(model) % len(names)
    message = f"there is no model {model!r}; there are {list(names)[:10]}"
    raise ValueError(message)


def _rows(raw: Any, argument: str) -> list[Any]:
    if isinstance(raw, (list, tuple)) and not all(map(np.isscalar, raw)):
        return list(raw)
    array = np.asanyarray(raw)  # a masked array keeps its mask
    if array.ndim != 2:
        message = (
            f"{argument} must be of shape (M, n), one row a model, got {array.shape}"
        )
        raise ValueError(message)
    return list(array)
