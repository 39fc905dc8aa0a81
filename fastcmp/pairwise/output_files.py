"""Pairs written to a file as they are tested, for answers larger than memory."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from fastcmp.core.atomic_files import replacing
from fastcmp.counts.pairs import PairColumns

if TYPE_CHECKING:
    from pathlib import Path
    from types import TracebackType

    from numpy.typing import NDArray

    Kept = tuple[NDArray[np.int32], PairColumns, NDArray[np.float64]]

#: One row of a ``.npy`` file.
_ROW = np.dtype(
    [
        ("models", np.int32, 2),
        ("only_a", np.int64),
        ("only_b", np.int64),
        ("difference", np.float64),
        ("low", np.float64),
        ("high", np.float64),
        ("statistic", np.float64),
        ("pvalue", np.float64),
        ("pvalue_adjusted", np.float64),
        ("significant", np.bool_),
    ]
)
#: The columns that a file has; those that only some tests give it has not.
_COLUMNS = [name for name in PairColumns._fields if name in (_ROW.names or ())]


class PairTable(Protocol):
    """A file of pairs that is being written."""

    def __enter__(self) -> PairTable:
        """Open the file."""

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close it; after an error nothing of it is left."""

    def write(
        self,
        pairs: NDArray[np.int32],
        columns: PairColumns,
        adjusted: NDArray[np.float64],
        significant: NDArray[np.bool_],
    ) -> None:
        """Add the next pairs."""

    def read_back(self) -> Kept:
        """Give the pairs as a record holds them."""


def open_table(path: Path, names: tuple[str, ...], n_pairs: int) -> PairTable:
    """Open a file for pairs, by its extension; it appears when all is written.

    A ``.npy`` file has one row a pair, and can be mapped into memory; ``.parquet``
    needs pyarrow, or there is an ImportError.
    """
    if path.suffix == ".npy":
        return _Npy(path, n_pairs)
    return _Parquet(path, names)


def _written(columns: PairColumns) -> dict[str, Any]:
    return {name: getattr(columns, name) for name in _COLUMNS}


class _Npy:
    """Rows of one type behind NumPy's header.

    Written, not mapped: a mapped file on a full disk would end the process.
    """

    def __init__(self, path: Path, n_pairs: int) -> None:
        self._path, self._n_pairs = path, n_pairs
        self._stack = ExitStack()

    def __enter__(self) -> _Npy:
        self._file = self._stack.enter_context(replacing(self._path))
        header = {
            "descr": np.lib.format.dtype_to_descr(_ROW),
            "fortran_order": False,
            "shape": (self._n_pairs,),
        }
        np.lib.format.write_array_header_2_0(self._file, header)
        return self

    def write(
        self,
        pairs: NDArray[np.int32],
        columns: PairColumns,
        adjusted: NDArray[np.float64],
        significant: NDArray[np.bool_],
    ) -> None:
        """Add pairs."""
        rows = np.empty(len(pairs), _ROW)
        rows["models"], rows["pvalue_adjusted"] = pairs, adjusted
        rows["significant"] = significant
        for name, column in _written(columns).items():
            rows[name] = column
        self._file.write(rows.data)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stack.__exit__(kind, error, trace)

    def read_back(self) -> Kept:
        """Map the file into memory."""
        rows = np.load(self._path, mmap_mode="r")
        mapped = {name: np.asarray(rows[name]) for name in _ROW.names or ()}
        columns = PairColumns(*(mapped[name] for name in _COLUMNS))
        return mapped["models"], columns, mapped["pvalue_adjusted"]


class _Parquet:
    """A table as `PairwiseResult.to_frame` gives it; nothing of it stays in memory."""

    def __init__(self, path: Path, names: tuple[str, ...]) -> None:
        try:
            import pyarrow as pa
            import pyarrow.parquet as pq
        except ImportError:
            raise ImportError(f"writing {path} needs pyarrow: pip install 'fastcmp[cli]'") from None
        self._arrow, self._parquet, self._path = pa, pq, path
        self._names = pa.array(names)
        self._stack = ExitStack()
        self._writer: Any = None

    def __enter__(self) -> _Parquet:
        self._file = self._stack.enter_context(replacing(self._path))
        self._stack.push(self._end)  # before the file is closed
        return self

    def write(
        self,
        pairs: NDArray[np.int32],
        columns: PairColumns,
        adjusted: NDArray[np.float64],
        significant: NDArray[np.bool_],
    ) -> None:
        """Add pairs."""
        coded = self._arrow.DictionaryArray.from_arrays
        a, b = (coded(np.ascontiguousarray(i), self._names) for i in pairs.T)
        table = self._arrow.table(
            {
                "model_a": a,
                "model_b": b,
                **_written(columns),
                "pvalue_adjusted": adjusted,
                "significant": significant,
            }
        )
        if self._writer is None:
            self._writer = self._parquet.ParquetWriter(self._file, table.schema)
        self._writer.write_table(table)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stack.__exit__(kind, error, trace)

    def _end(self, kind: type[BaseException] | None, *_: object) -> None:
        """Write the end of the table, unless something went wrong."""
        if self._writer is not None and kind is None:
            self._writer.close()

    def read_back(self) -> Kept:
        """Keep none: they are in the file."""
        none = np.empty(0)
        counts = np.empty(0, np.int64)
        columns = PairColumns(counts, counts, *[none] * 5)
        return np.empty((0, 2), np.int32), columns, none
