"""Names for what a user passes, and for the arrays that functions hand on."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]
Flags: TypeAlias = NDArray[np.bool_]
#: Indices i < j of the models of each pair, shape (P, 2).
Pairs: TypeAlias = NDArray[np.int32]
#: One number, or an array of them.
Numbers: TypeAlias = float | Floats


class ArrowStream(Protocol):
    """A column or a frame of pandas, polars, pyarrow, DuckDB, or what else speaks Arrow."""

    def __arrow_c_stream__(self, requested_schema: Any = None, /) -> object:
        """The data as a capsule, which pyarrow reads."""


#: One entry an item: an array, a list that may hold None, a series of any library.
ColumnLike: TypeAlias = ArrayLike | Sequence[object] | ArrowStream
#: One column a model: rows of an array, columns of a frame, or a mapping name -> column.
ModelsLike: TypeAlias = ColumnLike | Mapping[Any, ColumnLike]
#: Labels of classes, in order.
Classes: TypeAlias = Sequence[Any] | NDArray[Any]
#: A label: text, a number, a boolean, a date, a member of an Enum.
Label: TypeAlias = Hashable
#: A whole number repeats the draws, a generator is advanced, None draws anew.
Seed: TypeAlias = int | np.integer[Any] | np.random.Generator | None
