"""Numbers in [0, 1] dealt into buckets of neighbours, each small enough to sort fast.

The bits of a double that is not negative are in the order of the doubles: its exponent
and the first six bits of its mantissa are its cell.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from fastcmp._jit import inlined, kernel

if TYPE_CHECKING:
    from fastcmp.kernels.typing import FloatArray, IntArray, OrderArray, WordArray

#: Cells of the numbers from 0 to 1.
BUCKET_CELLS: Final = (1023 << 6) + 2

_NONE, _ONE = np.uint64(0), np.uint64(1)
_SHIFT = np.uint64(47)  # one for the sign, which goes, and 46 for the mantissa


@inlined
def _cell(bits: np.uint64) -> np.int64:
    # Zero has a cell of its own: p-values are 0 by the million, and need no sorting.
    twice = bits << _ONE
    return np.int64(twice != _NONE) + np.int64(twice >> _SHIFT)


@kernel
def count_cells(bits: WordArray, counts: IntArray) -> None:
    """Add to the counts of numbers by cell.

    Parameters
    ----------
    bits : ndarray of uint64, shape (n,)
        Doubles in [0, 1], seen as whole numbers.
    counts : ndarray of int64, shape (BUCKET_CELLS,)
        Added to.

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.kernels import BUCKET_CELLS, count_cells
    >>> counts = np.zeros(BUCKET_CELLS, np.int64)
    >>> count_cells(np.array([0.0, 1.0, 1.0]).view(np.uint64), counts)
    >>> counts[0], counts[-1]
    (np.int64(1), np.int64(2))
    """
    for i in range(bits.size):
        counts[_cell(bits[i])] += 1


@kernel
def fill_buckets(
    bits: WordArray,
    first: int,
    bucket: IntArray,
    place: IntArray,
    values: WordArray,
    order: OrderArray,
) -> None:
    """Put numbers but zeros, and where they come from, into their buckets.

    Parameters
    ----------
    bits : ndarray of uint64, shape (n,)
        Doubles in [0, 1], seen as whole numbers.
    first : int
        Position of the first of them.
    bucket : ndarray of int64, shape (BUCKET_CELLS,)
        The bucket of each cell.
    place : ndarray of int64, shape (B,)
        Where the next number of each bucket goes; moved on.
    values : ndarray of uint64, shape (m,)
        Receives the numbers.
    order : ndarray of int32 or int64, shape (m,)
        Receives their positions.

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.kernels import BUCKET_CELLS, fill_buckets
    >>> bucket = np.zeros(BUCKET_CELLS, np.int64)
    >>> bucket[-1] = 1
    >>> values, order = np.zeros(3, np.uint64), np.zeros(3, np.int32)
    >>> bits = np.array([1.0, 0.5, 0.25]).view(np.uint64)
    >>> fill_buckets(bits, 0, bucket, np.array([0, 2]), values, order)
    >>> values.view(np.float64).tolist(), order.tolist()
    ([0.5, 0.25, 1.0], [1, 2, 0])
    """
    for i in range(bits.size):
        cell = _cell(bits[i])
        if cell == 0:
            continue
        b = bucket[cell]
        to = place[b]
        place[b] = to + 1
        values[to] = bits[i]
        order[to] = first + i


@kernel
def put_back(values: FloatArray, order: OrderArray, out: FloatArray) -> None:
    """Write each number to the position that it comes from.

    Parameters
    ----------
    values : ndarray of float64, shape (n,)
        Numbers.
    order : ndarray of int32 or int64, shape (n,)
        Their positions.
    out : ndarray of float64, shape (m,)
        ``out[order[i]]`` becomes ``values[i]``.

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.kernels import put_back
    >>> out = np.zeros(2)
    >>> put_back(np.array([0.5, 0.25]), np.array([1, 0]), out)
    >>> out.tolist()
    [0.25, 0.5]
    """
    for i in range(values.size):
        out[order[i]] = values[i]
