"""What each mistake costs: a matrix, mapping or frame, checked and put in order."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from fastcmp.core.checks import as_numbers, check_classes
from fastcmp.core.errors import ArgumentError, BadTypeError, BadValueError
from fastcmp.core.typing import Classes, Floats
from fastcmp.inputs.model_names import known_frame


@dataclass(frozen=True, slots=True, kw_only=True)
class CostMatrix:
    """Costs of predicting one class for another."""

    #: ``values[t, p]`` is the cost of predicting class p when the truth is t, (K, K).
    values: Floats
    #: The labels of the classes in that order; None where they were not named.
    classes: tuple[Any, ...] | None


def read_cost(cost: object, classes: Classes | None = None) -> CostMatrix:
    """A cost matrix: ``cost[t][p]`` is the cost of predicting p for a true t.

    A mapping has a mapping or a row for each true class. A pandas frame is indexed by
    the true class; a polars or pyarrow frame has a column for each predicted class, and
    perhaps a first one with the true classes.
    """
    raw, names = _named(cost)
    values = as_numbers(_plain(raw), "cost", "a square matrix of numbers")
    values = values.astype(np.float64)
    if values.ndim != 2 or values.shape[0] != values.shape[1] or values.size == 0:
        raise BadValueError("`cost` must be a square matrix", f"shape {values.shape}")
    if classes is not None:
        check_classes(classes)
        classes = tuple(classes)
        if names is None and len(classes) != len(values):
            raise BadValueError(
                f"`cost` is {len(values)} x {len(values)}, but classes names {len(classes)} classes"
            )
        if names is not None:
            if unknown := [label for label in classes if label not in names]:
                raise BadValueError(
                    f"`cost` names no class {unknown[0]!r}; it has {list(names)[:10]}"
                )
            order = [names.index(label) for label in classes]
            values = values[np.ix_(order, order)]
        names = classes
    for wrong, condition in (
        (~np.isfinite(values), "be finite"),
        (values < 0, "not be negative"),
        (np.diag(np.diag(values) != 0), "be 0 where the prediction is right"),
    ):
        if wrong.any():
            t, p = np.argwhere(wrong)[0]
            place = f"[{t}, {p}]" if names is None else f"[{names[t]!r}, {names[p]!r}]"
            raise BadValueError(f"`cost` must {condition}", f"{values[t, p]:g} at {place}")
    if not values.any():
        raise BadValueError("`cost` must have at least one positive entry", "zeros only")
    return CostMatrix(values=np.ascontiguousarray(values), classes=names)


def required_cost(cost: object, classes: Classes | None, missing: str) -> CostMatrix:
    """Read the cost matrix that ``test="cost"`` needs."""
    if cost is None:
        raise BadValueError("`test='cost'` needs `cost=`, the matrix of costs")
    if missing != "raise":
        raise BadValueError("`test='cost'` permits only `missing='raise'`", repr(missing))
    return read_cost(cost, classes)


def refuse_cost(cost: object) -> None:
    """Refuse a cost matrix where accuracies are compared."""
    if cost is not None:
        raise BadValueError("`cost` is for `test='cost'`")


@contextmanager
def naming_cost(matrix: CostMatrix, classes: Classes | None) -> Generator[None, None, None]:
    """Say in an error about classes that they are those of the cost matrix."""
    try:
        yield
    except ArgumentError as error:
        if classes is not None or matrix.classes is None:
            raise
        note = f" (cost names the classes {list(matrix.classes[:10])})"
        raise error.but(remedy=error.args[2] + note) from None


def in_units(values: Floats) -> tuple[Floats, int]:
    """Costs divided by a power of two, so that sums neither over- nor underflow.

    The largest is then in [1/2, 1); the power comes with them.
    """
    exponent = int(np.frexp(values.max())[1])
    return np.ldexp(values, -exponent), exponent


def _plain(raw: object) -> Any:
    """Array of a square of Python numbers; an error names a cell that is not a number."""
    if isinstance(raw, np.ndarray) and raw.dtype != object:
        return raw
    try:
        cells = np.array(raw, dtype=object)
    except ValueError:
        return raw  # lists of different lengths
    if cells.ndim != 2:
        return raw
    for (t, p), cell in np.ndenumerate(cells):
        if isinstance(cell, (bool, np.bool_)) or not isinstance(cell, Real):
            raise BadTypeError("`cost` must hold numbers", f"{cell!r} at [{t}, {p}]")
    return cells.astype(np.float64)


def check_fit(
    matrix: CostMatrix, labels: Sequence[Any], n_excluded: int, classes: Classes | None
) -> None:
    """Refuse labels that a cost matrix does not cover.

    `n_excluded` samples have a true label that is not among its classes.
    """
    k = len(matrix.values)
    if classes is None and n_excluded:
        raise BadValueError(
            f"`cost` names the classes {list(matrix.classes or ())[:10]}, but {n_excluded}"
            "{among} have another true label",
            remedy=" (pass `classes=` to leave them out)",
            among=" samples",
        )
    if len(labels) != k:
        raise BadValueError(
            f"`cost` is {k} x {k}, but the labels are of {len(labels)} classes, "
            f"{list(labels[:10])}",
            remedy=" (pass `classes=` to name them in its order)",
        )


def _named(cost: Any) -> tuple[Any, tuple[Any, ...] | None]:
    cost = known_frame(cost)
    library = type(cost).__module__.partition(".")[0]
    if isinstance(cost, Mapping):
        return _from_mapping(cost)
    if library == "pandas" and hasattr(cost, "columns"):
        true, predicted = list(cost.index), list(cost.columns)
        if all(isinstance(name, str) for name in predicted):
            predicted = as_labels(predicted, true)
        return _from_columns(true, predicted, cost.to_numpy().tolist(), "the index")
    if library == "polars" and hasattr(cost, "get_columns"):
        return _from_frame(cost.columns, [x.to_list() for x in cost.get_columns()])
    if library == "pyarrow" and hasattr(cost, "column_names"):
        return _from_frame(cost.column_names, [x.to_pylist() for x in cost.columns])
    return cost, None


def _from_mapping(cost: Mapping[Any, Any]) -> tuple[Any, tuple[Any, ...]]:
    names = tuple(cost)
    rows = []
    for true, row in cost.items():
        if not isinstance(row, Mapping):
            rows.append(row)
            continue
        if unknown := [p for p in row if p not in cost]:
            raise BadValueError(f"`cost` has no row for class {unknown[0]!r}, which it can predict")
        absent = [p for p in names if p not in row and p != true]
        if absent:
            raise BadValueError(f"`cost`[{true!r}] lacks the cost of predicting {absent[0]!r}")
        rows.append([row.get(p, 0) for p in names])
    return rows, names


def _from_frame(
    columns: Sequence[str], content: Sequence[list[Any]]
) -> tuple[Any, tuple[Any, ...]]:
    """Read columns of predicted classes, and true ones where there is one more."""
    n_rows = len(content[0]) if content else 0
    if n_rows == 0 or len(columns) not in (n_rows, n_rows + 1):
        raise BadValueError(
            "`cost` must have as many columns as rows, or one more with the true classes",
            f"{n_rows} rows and {len(columns)} columns",
        )
    predicted = list(columns)
    true: list[Any] | None = None
    if len(columns) == n_rows + 1:
        true, predicted, content = content[0], predicted[1:], content[1:]
    labels = as_labels(predicted, true)
    rows = np.array(content, dtype=object).T.tolist()
    return _from_columns(labels if true is None else true, labels, rows, "the first column")


def as_labels(names: list[str], true: list[Any] | None) -> list[Any]:
    """Names, which are text, as numbers or booleans where the classes are such."""
    if true is not None and all(isinstance(x, bool) for x in true):
        return [{"true": True, "false": False}.get(x.lower(), x) for x in names]
    numbers = true is None or all(isinstance(x, Real) for x in true)
    for convert in (int, float) if numbers else ():
        try:
            return [convert(name) for name in names]
        except ValueError:
            continue
    return names


def _from_columns(
    true: list[Any], predicted: list[Any], rows: Any, where: str
) -> tuple[Any, tuple[Any, ...]]:
    if repeated := [name for name in predicted if predicted.count(name) > 1]:
        raise BadValueError("`cost` must name each class once", f"{repeated[0]!r} twice")
    if len(true) != len(predicted) or set(true) != set(predicted):
        raise BadValueError(
            f"`cost` must name the same classes in {where} and in the columns",
            f"{true[:5]} and {predicted[:5]}",
        )
    order = [true.index(label) for label in predicted]
    return [rows[i] for i in order], tuple(predicted)
