"""Files of pairs: a ``.npy`` file that can be mapped into memory, or a ``.parquet`` table."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastcmp.core.saved_states import replacing
from fastcmp.counts.pairs import PairColumns

#: Adds the next pairs: their models, what was found, adjusted p-values, significance.
Write = Callable[[NDArray[np.int32], PairColumns, NDArray[np.float64], NDArray[np.bool_]], None]

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


@contextmanager
def open_table(path: Path, names: tuple[str, ...], n_pairs: int) -> Iterator[Write]:
    """A function that writes pairs to a file, which appears when all is written.

    A ``.npy`` file has one row a pair; a ``.parquet`` file is a table as
    `PairwiseResult.to_frame` gives it, and needs pyarrow, or there is an ImportError.
    """
    if path.suffix == ".npy":
        with replacing(path) as file:
            header = {
                "descr": np.lib.format.dtype_to_descr(_ROW),
                "fortran_order": False,
                "shape": (n_pairs,),
            }
            np.lib.format.write_array_header_2_0(file, header)

            def write_rows(pairs: Any, columns: Any, adjusted: Any, significant: Any) -> None:
                # Written, not mapped: a mapped file on a full disk would end the process.
                rows = np.empty(len(pairs), _ROW)
                rows["models"], rows["pvalue_adjusted"] = pairs, adjusted
                rows["significant"] = significant
                for name in _COLUMNS:
                    rows[name] = getattr(columns, name)
                file.write(rows.data)

            yield write_rows
        return
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise ImportError(f"writing {path} needs pyarrow: pip install 'fastcmp[cli]'") from None
    labels, writer = pa.array(names), None
    with replacing(path) as file:

        def write_table(pairs: Any, columns: Any, adjusted: Any, significant: Any) -> None:
            nonlocal writer
            coded = pa.DictionaryArray.from_arrays
            a, b = (coded(np.ascontiguousarray(i), labels) for i in pairs.T)
            numbers = {name: getattr(columns, name) for name in _COLUMNS}
            more = {"pvalue_adjusted": adjusted, "significant": significant}
            table = pa.table({"model_a": a, "model_b": b, **numbers, **more})
            if writer is None:
                writer = pq.ParquetWriter(file, table.schema)
            writer.write_table(table)

        yield write_table
        if writer is not None:  # after an error there is no file to end
            writer.close()


def read_table(path: Path) -> tuple[NDArray[np.int32], PairColumns, NDArray[np.float64]]:
    """Pairs, columns and adjusted p-values of a file, mapped; none of a ``.parquet`` file."""
    rows = np.load(path, mmap_mode="r") if path.suffix == ".npy" else np.empty(0, _ROW)
    columns = PairColumns(*(np.asarray(rows[name]) for name in _COLUMNS))
    return np.asarray(rows["models"]), columns, np.asarray(rows["pvalue_adjusted"])
