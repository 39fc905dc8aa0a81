"""Products of the influences of samples on all models, in blocks of samples.

Influences are looked up as they are multiplied: no row of all samples is written. What
a few models have in common on a sample is subtracted first: it is in no difference, and
products would lose digits to it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp.core.threads import no_step, parts
from fastcmp.kernels.metric_slopes import gather_influences, table_starts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from fastcmp.core.threads import ThreadPool

    Floats = NDArray[np.float64]

_BLOCK = 1 << 24  # influences of a block: 64 MB in single precision
_JOINED = 2  # blocks that are added up in their own precision
_LEAST = 1024  # samples of a block
_PILOTS = 8  # models whose average is subtracted


def influence_gram(
    rows: NDArray[Any], preds: Sequence[NDArray[Any]], lookups: Floats, dtype: Any, pool: ThreadPool
) -> Floats:
    """Multiply the influences of M models on n samples, less their pilot.

    Of the matrix, (M, M), the lower half; the rest is 0.

    `lookups`, (M, R, K), have the influences by the row of a sample and the prediction.
    Blocks are multiplied in `dtype`; several are added up in double precision.
    """
    from scipy.linalg.blas import dsyrk, ssyrk

    multiply = ssyrk if dtype == np.float32 else dsyrk
    n_models, n = len(preds), rows.size
    width = min(n, max(_LEAST, _BLOCK // n_models))
    buffer = np.empty(n_models * width, dtype)
    total = np.zeros((n_models, n_models))
    sums = np.zeros_like(total, dtype, order="F")
    tables = lookups.reshape(n_models, -1).astype(dtype)
    starts = table_starts(rows, lookups.shape[2])
    chosen = range(0, n_models, -(-n_models // _PILOTS))
    some = parts(n_models, max(1, -(-n_models // (4 * pool.threads))))
    blocks = parts(n, width)
    for number, part in enumerate(blocks, 1):
        own = starts[part]
        out = buffer[: n_models * own.size].reshape(n_models, own.size)
        pilot = _average(own, [preds[i][part] for i in chosen], tables[chosen])

        def gather(
            models: slice,
            part: slice = part,
            own: NDArray[Any] = own,
            out: NDArray[Any] = out,
            pilot: NDArray[Any] = pilot,
        ) -> None:
            for i in range(models.start, models.stop):
                gather_influences(own, preds[i][part], tables[i], pilot, out[i])

        pool.run(gather, some, steps=no_step)
        sums = multiply(1.0, out.T, beta=1.0, c=sums, trans=1, overwrite_c=1)
        if number % _JOINED == 0 or number == len(blocks):
            total += sums.T
            sums[...] = 0.0
    return total


def _average(
    starts: NDArray[Any], preds: Sequence[NDArray[Any]], tables: NDArray[Any]
) -> NDArray[Any]:
    """Average the influences of a few models on some samples."""
    total, none = np.zeros((2, starts.size), tables.dtype)
    one = np.empty_like(total)
    for pred, table in zip(preds, tables, strict=True):
        gather_influences(starts, pred, table, none, one)
        total += one
    return np.asarray(total / tables.dtype.type(len(preds)))
