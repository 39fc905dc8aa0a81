"""Long tables, a row for each value: joined by item, never by position."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastcmp.core.checks import check_size
from fastcmp.core.errors import BadTypeError, BadValueError
from fastcmp.core.records import Record
from fastcmp.core.threads import check_memory
from fastcmp.core.typing import Floats, ModelsLike
from fastcmp.inputs.columns import count_rows, read_column, read_values
from fastcmp.inputs.model_names import check_distinct_names, check_indexes, has_names, named_columns
from fastcmp.inputs.values import ItemTable

Codes = NDArray[np.int64]

_SHOWN = 3  # examples in a message


@dataclass(frozen=True, slots=True)
class _Labels:
    """A column of labels as codes, in the order in which they are first seen."""

    name: str
    codes: Codes
    labels: tuple[Any, ...]

    def label_at(self, row: int) -> str:
        """The label of a row, as text."""
        return repr(self.labels[self.codes[row]])


def from_long(
    frame: ModelsLike | Record,
    *,
    item: str = "item",
    model: str = "model",
    value: str = "value",
    repeat: str | None = None,
    group: str | None = None,
    stratum: str | None = None,
    weight: str | None = None,
) -> ItemTable:
    """Read a long table: a row for each item, model and perhaps repeat.

    Rows come in any order; values of different models are joined by item. Items and
    models stay in the order in which they are first seen.

    Parameters
    ----------
    frame : pandas.DataFrame, polars.DataFrame, pyarrow.Table or mapping
        Columns of equal length, by name.
    item, model, value : str
        Columns with the item, with the model, and with the model's value for the item:
        numbers or booleans (1 for True). Without `repeat` a missing value (None, NaN,
        null) is as good as a missing row.
    repeat : str, optional
        Column that numbers or names the answers of a model to an item. Their number
        may differ; but a row with a missing value is a missing answer, which
        comparisons refuse unless they are told what to make of it (`missing=`).
    group, stratum, weight : str, optional
        Columns with the cluster, with the stratum (task, subset) and with the weight of
        the item, the same in all of its rows.

    Returns
    -------
    ItemTable
        Values of shape (M, n), with ``repeat`` (M, n, R), NaN where there is none; its
        ``missing`` says which models lack which items.

    Raises
    ------
    TypeError
        If values are not numbers, or ``frame`` has no named columns.
    ValueError
        If a column is not there; an item, model, repeat, group or stratum is missing;
        there are two values for one (item, model), or for one (item, model, repeat); a
        value or weight is infinite; the rows of an item disagree about its group,
        stratum or weight.

    Notes
    -----
    O(N) for N rows without ``repeat``, O(N log N) with it.

    Examples
    --------
    >>> from fastcmp import from_long
    >>> table = from_long(
    ...     {
    ...         "item": ["q1", "q1", "q2", "q2", "q3"],
    ...         "model": ["large", "small", "small", "large", "large"],
    ...         "value": [1.0, 0.5, 0.0, 1.0, 0.25],
    ...     }
    ... )
    >>> table.values.tolist()
    [[1.0, 1.0, 0.25], [0.5, 0.0, nan]]
    >>> table.missing[0].examples
    ('q3',)
    """
    options = {"item": item, "model": model, "value": value, "repeat": repeat}
    options |= {"group": group, "stratum": stratum, "weight": weight}
    if hasattr(frame, "collect") or not has_names(frame):
        raise BadTypeError(
            "`frame` must be a pandas, polars or pyarrow frame in memory, or a mapping name -> "
            "column",
            type(frame).__name__,
        )
    by_name = dict(named_columns(frame, "frame"))
    columns = {}
    for key, name in options.items():
        if name is None and key not in ("item", "model", "value"):
            continue
        if not isinstance(name, str) or name not in by_name:
            listed = ", ".join(repr(column) for column in islice(by_name, 20))
            raise BadValueError(f"`{key}={name!r}` is no column of frame, which has {listed}")
        columns[key] = by_name[name]
    check_indexes([(str(options[key]), raw) for key, raw in columns.items()])
    lengths = {str(options[k]): count_rows(x, f"column {options[k]!r}") for k, x in columns.items()}
    if len(set(lengths.values())) > 1:
        raise BadValueError("`columns` of frame must be of equal length", lengths)
    items = _read_labels(columns["item"], item)
    models = _read_labels(columns["model"], model)
    check_size(items.codes.size, "frame", "row", 1)
    names = tuple(str(label) for label in models.labels)
    check_distinct_names(list(names), f"column {model!r}")
    check_memory(
        24.0 * len(names) * len(items.labels),
        None,
        f"a table of {len(names)} models and {len(items.labels)} items",
        f"read fewer models at a time (models are in column {model!r}, items in column {item!r})",
    )
    values = _read_finite(columns["value"], value, (items, models))
    n_answers = None
    if repeat is None:
        table = _scatter(items, models, values)
    else:
        repeats = _read_labels(columns["repeat"], repeat)
        table, n_answers = _scatter_repeats(items, models, repeats, values)
    return ItemTable(
        names=names,
        items=as_label_array(items.labels),
        values=table,
        n_answers=n_answers,
        groups=_labels_of_items(columns.get("group"), group, items),
        strata=_labels_of_items(columns.get("stratum"), stratum, items),
        weights=_weights_of_items(columns.get("weight"), weight, items),
    )


# Columns.


def _read_labels(raw: object, name: str) -> _Labels:
    """Read a column without missing entries."""
    column = read_column(raw, f"column {name!r}")
    column.refuse_missing("{name} is missing in {n} of {size} rows, the first of them {rows}")
    column.kind()  # labels of different types are refused
    column = column.factorized()
    codes = column.positions().astype(np.int64, copy=False)
    first = np.full(len(column.distinct), codes.size)
    first[codes[::-1]] = np.arange(codes.size)[::-1]  # of equal ones the last is kept
    order = np.argsort(first)
    order = order[: np.count_nonzero(first < codes.size)]  # categories without a row
    rank = np.empty(first.size, np.int64)
    rank[order] = np.arange(order.size)
    return _Labels(name, rank[codes], tuple(column.distinct[i] for i in order))


def _read_finite(raw: object, name: str, cells: tuple[_Labels, ...]) -> Floats:
    """Read numbers, NaN where one is missing."""
    values = read_values(raw, f"column {name!r}")
    infinite = np.flatnonzero(np.isinf(values))
    if infinite.size:
        raise BadValueError(
            f"column {name!r} must be finite",
            f"{infinite.size} infinite values, the first for {_cell_examples(cells, infinite)}",
            argument="frame",
        )
    return values


def _cell_examples(cells: tuple[_Labels, ...], rows: Codes) -> str:
    """Text of the item, model and perhaps repeat of the first three of some rows."""
    return "; ".join(
        "(" + ", ".join(labels.label_at(row) for labels in cells) + ")"
        for row in rows[:_SHOWN].tolist()
    )


# Tables.


def _scatter(items: _Labels, models: _Labels, values: Floats) -> Floats:
    """One value an item and model in its place, shape (M, n)."""
    n = len(items.labels)
    cell = models.codes * n + items.codes
    n_rows = np.bincount(cell, minlength=len(models.labels) * n)
    if n_rows.max() > 1:
        _refuse_twice((items, models), cell, n_rows)
    table = np.full(n_rows.size, np.nan)
    table[cell] = values
    return table.reshape(-1, n)


def _refuse_twice(cells: tuple[_Labels, ...], cell: Codes, n_rows: Codes) -> None:
    """Name the first cells that have two values."""
    rows = np.flatnonzero(n_rows[cell] > 1)
    _, first = np.unique(cell[rows], return_index=True)
    kind = ", ".join(labels.name for labels in cells)
    hint = "" if len(cells) > 2 else "; pass `repeat=` where items were answered again"
    what = f"({kind}) has" if first.size == 1 else f"({kind}) have"
    raise BadValueError(
        f"`frame`: {first.size:,} {what} several rows, the first "
        f"{_cell_examples(cells, rows[np.sort(first)])}",
        remedy=hint,
    )


def _scatter_repeats(
    items: _Labels, models: _Labels, repeats: _Labels, values: Floats
) -> tuple[Floats, Codes]:
    """The answers to an item side by side, shape (M, n, R), and their numbers."""
    n, n_labels = len(items.labels), len(repeats.labels)
    cell = models.codes * n + items.codes
    key = cell * n_labels + repeats.codes
    order = np.argsort(key, kind="stable")
    twice = key[order[1:]] == key[order[:-1]]
    if twice.any():
        _, place, n_rows = np.unique(key, return_inverse=True, return_counts=True)
        _refuse_twice((items, models, repeats), place, n_rows)
    n_answers = np.bincount(cell[order], minlength=len(models.labels) * n)
    table = np.full((n_answers.size, int(n_answers.max())), np.nan)
    # Rows are sorted as the table is laid out, the answers of a cell first.
    table[np.arange(table.shape[1]) < n_answers[:, None]] = values[order]
    return table.reshape(-1, n, table.shape[1]), n_answers.reshape(-1, n)


# What is known of items.


def _labels_of_items(raw: object, name: str | None, items: _Labels) -> NDArray[Any] | None:
    """Read a label an item that all its rows agree about."""
    if name is None:
        return None
    column = _read_labels(raw, name)
    codes = _agreed(column.codes, name, items, column.labels)
    labels: NDArray[Any] = as_label_array(column.labels)[codes]
    return labels


def _weights_of_items(raw: object, name: str | None, items: _Labels) -> Floats | None:
    """Read a weight an item that all its rows agree about."""
    if name is None:
        return None
    weights = _read_finite(raw, name, (items,))
    missing = np.flatnonzero(np.isnan(weights))
    if missing.size:
        raise BadValueError(
            f"column {name!r} is missing in {missing.size} of {weights.size} rows, the "
            f"first of them for {_cell_examples((items,), missing)}",
            argument="frame",
        )
    return _agreed(weights, name, items)


def _agreed(
    entries: NDArray[Any], name: str, items: _Labels, labels: tuple[Any, ...] = ()
) -> NDArray[Any]:
    """The one entry of each item."""
    agreed = np.empty(len(items.labels), entries.dtype)
    agreed[items.codes] = entries
    rows = np.flatnonzero(agreed[items.codes] != entries)
    if rows.size:
        _, first = np.unique(items.codes[rows], return_index=True)

        def text_of(entry: Any) -> str:
            return repr(labels[entry]) if labels else f"{entry:g}"

        examples = "; ".join(
            f"{items.label_at(row)} has {text_of(entries[row])} and "
            f"{text_of(agreed[items.codes[row]])}"
            for row in rows[np.sort(first)[:_SHOWN]]
        )
        raise BadValueError(
            f"column {name!r} must be the same in all rows of an item, and differs for "
            f"{first.size} of {len(items.labels)} items: {examples}",
            argument="frame",
        )
    return agreed


def as_label_array(labels: tuple[Any, ...]) -> NDArray[Any]:
    """An array of labels: of integers, or of objects."""
    array = np.empty(len(labels), dtype=object)
    array[:] = labels
    if all(type(label) is int for label in labels):
        try:
            return array.astype(np.int64)
        except OverflowError:
            pass
    return array
