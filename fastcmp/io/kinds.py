"""Types of columns: text of one type, whoever wrote it; which values can be equal.

Arrow knows text with short places, with long ones and as views. Polars and pandas write
the latter two, for which many functions of pyarrow have no kernel.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa

if TYPE_CHECKING:
    from pathlib import Path

_PLAIN = {
    "large_string": pa.string(),
    "string_view": pa.string(),
    "large_binary": pa.binary(),
    "binary_view": pa.binary(),
}
_PIECE = 1 << 20  # rows of a column of a table that are converted at once


def plain_type(kind: Any) -> Any:
    """Give the type that a column has here."""
    if pa.types.is_dictionary(kind):
        values = plain_type(kind.value_type)
        if values == kind.value_type:
            return kind
        return pa.dictionary(kind.index_type, values, kind.ordered)
    return _PLAIN.get(str(kind), kind)


def plain_array(column: Any) -> Any:
    """Convert a column to the type that it has here."""
    kind = plain_type(column.type)
    if kind == column.type:
        return column
    try:
        return column.cast(kind)
    except pa.ArrowInvalid:  # it is behind 2 GB of other text; a copy is not
        return pa.concat_arrays([column]).cast(kind)


def plain_table(table: Any) -> Any:
    """Convert the columns of a table to the types that they have here."""
    for i, field in enumerate(table.schema):
        kind = plain_type(field.type)
        if kind != field.type:
            pieces = [
                plain_array(chunk.slice(row, _PIECE))
                for chunk in table.column(i).chunks
                for row in range(0, len(chunk), _PIECE)
            ]
            column = pa.chunked_array(pieces, kind)
            table = table.set_column(i, field.name, column)
    return table


def value_type(kind: Any) -> Any:
    """Give the type of the values of a column."""
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def decoded(column: Any) -> Any:
    """Write a dictionary out, so that columns compare by their values."""
    if pa.types.is_dictionary(column.type):
        return column.dictionary_decode()
    return column


def family(kind: Any) -> str:
    """Name the types whose values can be equal."""
    types = pa.types
    kind = value_type(kind)
    if types.is_null(kind):
        return ""
    if types.is_boolean(kind) or types.is_integer(kind) or types.is_floating(kind):
        return "number"
    return str(kind)


def check_ids(path: str | Path, id_column: str, kind: Any) -> None:
    """Refuse ids that cannot be compared or put in order."""
    import pyarrow.compute as pc

    own = value_type(kind)
    if pa.types.is_null(own):
        return
    try:
        none = pa.nulls(0, own)  # pa.array would import pandas
        pc.less(none, none)
        pc.value_counts(none)
    except pa.ArrowNotImplementedError:
        raise ValueError(
            f"{path}: ids must be numbers or text, {id_column!r} is of type {own}"
        ) from None
