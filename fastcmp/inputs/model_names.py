"""What several models say of the same samples: named columns of any library."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from numbers import Integral
from typing import Any

import numpy as np

from fastcmp.core.checks import check_size
from fastcmp.core.errors import BadTypeError, BadValueError
from fastcmp.core.render import visible
from fastcmp.core.typing import Ints


def has_names(raw: object) -> bool:
    """Whether data are a mapping or a frame, whose columns have names, not an array."""
    if isinstance(raw, (dict, Mapping)) or _is_foreign(raw):
        return True
    return hasattr(raw, "columns") or hasattr(raw, "column_names")


def _is_foreign(raw: object) -> bool:
    """Whether it exports Arrow's stream, and is of no library that is read as it is."""
    libraries = ("pandas", "polars", "pyarrow", "fastcmp")
    return (
        hasattr(raw, "__arrow_c_stream__") and type(raw).__module__.split(".")[0] not in libraries
    )


def known_frame(raw: object) -> Any:
    """A frame as it is, or what pyarrow makes of a foreign one."""
    if not _is_foreign(raw):
        return raw
    from pyarrow import table

    return table(raw)


def named_columns(raw: Any, argument: str) -> list[tuple[str, Any]]:
    """List the columns of several models with their names.

    Rows of an array are named "model_0", "model_1", ...
    """
    if isinstance(raw, (dict, Mapping)):
        named = list(zip(map(str, raw), raw.values(), strict=True))
    else:
        raw = known_frame(raw)
        library = type(raw).__module__.partition(".")[0]
        if library == "pandas" and raw.ndim == 2:
            named = [(str(c), raw.iloc[:, i]) for i, c in enumerate(raw.columns)]
        elif library == "polars" and hasattr(raw, "get_columns"):
            named = [(column.name, column) for column in raw.get_columns()]
        elif library == "pyarrow" and hasattr(raw, "column_names"):
            named = list(zip(raw.column_names, raw.columns, strict=True))
        else:
            named = [(f"model_{i}", row) for i, row in enumerate(_rows(raw, argument))]
    if len(dict(named)) < len(named):
        check_distinct_names([name for name, _ in named], argument)
    return named


def ordered_columns(
    raw: object, names: tuple[str, ...] | None, argument: str, subset: tuple[str, ...] | None = None
) -> dict[str, Any]:
    """Columns of a block in the order of the models, `subset` or all `names`.

    Columns with names come in any order, rows in that of the models.
    """
    named = named_columns(raw, argument)
    check_size(len(named), argument, "model", 1)
    if names is not None and not has_names(raw) and len(named) == len(names):
        named = [(name, row) for name, (_, row) in zip(names, named, strict=True)]
    columns = dict(named)
    order = subset or names
    if order is None or tuple(columns) == order:
        return columns
    absent = [name for name in order if name not in columns]
    if absent or (subset is None and len(columns) > len(order)):
        others = sorted(set(columns) - set(order))
        raise BadValueError(
            f"`{argument}` must hold the {len(order)} models that are counted; absent are "
            f"{absent[:3]}, others are {others[:3]}"
        )
    return {name: columns[name] for name in order}


def with_names(raw: object, names: object, argument: str) -> Any:
    """Models with the names that the user chose; None leaves them as they are."""
    if names is None:
        return raw
    columns = [column for _, column in named_columns(raw, argument)]
    return dict(zip(read_names(names, len(columns), of=f" of {argument}"), columns, strict=True))


def read_names(
    names: object, n_models: int, in_data: Sequence[str] | None = None, *, of: str = ""
) -> tuple[str, ...]:
    """Names of the models: those that the user chose, or that data have, or numbered."""
    if names is None:
        return tuple(f"model_{i}" for i in range(n_models)) if in_data is None else tuple(in_data)
    if isinstance(names, str) or not isinstance(names, Iterable):
        raise BadTypeError("`names` must be a sequence of names of models", repr(names))
    listed = [str(name) for name in names]
    if len(listed) != n_models:
        raise BadValueError(
            f"`names` must name each of the {n_models} models{of}", f"{len(listed)} names"
        )
    check_distinct_names(listed, "names")
    return tuple(listed)


def refuse_truth(y_true: object, preds: object, named: list[tuple[str, Any]], truth: str) -> None:
    """Refuse the true labels among the models.

    That is a model with the name of the truth, or its very column of a frame or row of
    an array. A perfect model of another name is a model.
    """
    true_name = getattr(y_true, "name", None)
    if not (isinstance(true_name, str) and true_name):
        true_name = None
    apart = isinstance(preds, (Mapping, list, tuple)) or (
        isinstance(preds, np.ndarray)
        and not (isinstance(y_true, np.ndarray) and np.may_share_memory(preds, y_true))
    )
    memory = None if apart else _memory_of(y_true)
    for name, raw in named:
        same = raw is y_true and true_name is not None
        if same or (memory is not None and memory == _memory_of(raw)):
            raise BadValueError(
                f"model {name!r} is `{truth}` itself: leave it out (to compare with a "
                "perfect model, pass a copy)"
            )
        # A mapping may have such a model: of a file whose truth is called otherwise.
        called = name == truth and (raw is y_true or not isinstance(preds, Mapping))
        own_name = getattr(raw, "name", None)
        if true_name != truth and isinstance(own_name, str):
            called = called or own_name == truth
        if called or name == true_name:
            raise BadValueError(
                f"model {name!r} is called {true_name if name == true_name else truth!r}, as "
                f"the truth is: true labels come first, as `{truth}`, and not among the models",
                remedy="; leave this column out, or rename it if it is a model",
            )


def _memory_of(raw: Any) -> tuple[Any, ...] | None:
    """Where the samples of an array or series of NumPy's types lie."""
    if hasattr(raw, "iloc") and isinstance(raw.dtype, np.dtype):
        raw = raw.to_numpy()
    if type(raw) is not np.ndarray or raw.size < 2:
        return None
    address, _ = raw.__array_interface__["data"]
    return address, raw.strides, raw.shape, raw.dtype


def check_indexes(columns: list[tuple[str, Any]]) -> None:
    """Refuse pandas objects whose indexes differ: rows are not matched in silence."""
    indexed = [(visible(name), raw.index) for name, raw in columns if hasattr(raw, "iloc")]
    if not indexed:
        return
    first, index = indexed[0]
    for name, other in indexed[1:]:
        if other is index or other.equals(index):
            continue
        if len(other) == len(index) and index.difference(other).empty:
            message = (
                f"{name} has the index of {first} in another order: pass "
                f"{name}.loc[{first}.index], where {name} is a pandas object, or "
                "to_numpy() of both where rows belong together as they are"
            )
        else:
            message = (
                f"{name} and {first} have different indexes (pandas), from "
                f"{_ends(other)} and from {_ends(index)}: rows are never matched by "
                "position in silence; select the same rows of both, or pass "
                "to_numpy() of both where rows belong together as they are"
            )
        raise BadValueError(message)


def with_index(values: object, name: str = "values") -> tuple[str, Any] | None:
    """What has the index of pandas: a frame, or the first of several columns."""
    if hasattr(values, "iloc"):
        return name, values
    columns = values.items() if isinstance(values, (dict, Mapping)) else ()
    return next(((str(k), x) for k, x in columns if hasattr(x, "iloc")), None)


def _ends(index: Any) -> str:
    return f"{index[0]!r} to {index[-1]!r}" if len(index) else "nothing"


def check_distinct_names(names: list[str], argument: str) -> None:
    """Refuse two models of one name."""
    if len(set(names)) < len(names):
        duplicates = sorted(name for name, n in Counter(names).items() if n > 1)
        raise BadValueError(
            f"`{argument}` must have one name a model", f"{duplicates} more than once"
        )


def read_pair_names(names: object) -> tuple[str, str]:
    """The names of two models, checked."""
    listed = [str(name) for name in names] if isinstance(names, (tuple, list)) else []
    if len(listed) != 2 or listed[0] == listed[1]:
        raise BadValueError("`names` must be two different names", repr(names))
    return listed[0], listed[1]


def position_of(model: Any, names: tuple[str, ...]) -> int:
    """Index of a model by name or position; a negative position counts from the end."""
    if isinstance(model, str) and model in names:
        return names.index(model)
    whole = isinstance(model, Integral) and not isinstance(model, bool)
    if whole and -len(names) <= int(model) < len(names):
        return int(model) % len(names)
    raise BadValueError(
        f"there is no model {model!r}; there are {list(names)[:10]}", argument="model"
    )


def choose_models(models: object, names: tuple[str, ...]) -> Ints:
    """Indices of some models by names or positions; all for None."""
    if models is None:
        return np.arange(len(names))
    if isinstance(models, str) or not isinstance(models, Iterable):
        raise BadTypeError("`models` must be a sequence of names or indices", repr(models))
    try:
        indices = [position_of(model, names) for model in models]
    except ValueError as error:
        raise BadValueError(f"`models` must be among those that are compared: {error}") from None
    if not indices or len(set(indices)) < len(indices):
        raise BadValueError("`models` must be different, and at least one", repr(models))
    return np.array(indices, np.int64)


def _rows(raw: object, argument: str) -> list[Any]:
    if isinstance(raw, (list, tuple)) and not all(map(np.isscalar, raw)):
        return list(raw)
    array = np.asanyarray(raw)  # a masked array keeps its mask
    if array.ndim != 2:
        hint = ": true labels come before the models" if array.ndim == 1 else ""
        raise BadValueError(
            f"`{argument}` must be of shape (M, n), one row a model", f"{array.shape}{hint}"
        )
    return list(array)
