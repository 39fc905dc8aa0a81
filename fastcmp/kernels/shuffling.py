"""Random partitions: an order is shuffled, and a fixed pattern dealt along it.

A resampling design is a shuffle and a deal, so that simulations can build it in their
inner loop. An order depends only on its length, the seed and the replicate.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp._jit import inlined, kernel
from fastcmp.kernels.rng import _word

if TYPE_CHECKING:
    from fastcmp.kernels.typing import IntArray, OrderArray, PatternArray

_32 = np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)
#: Rows of two levels whose bits fit in an int16 that stays positive.
_ROWS = 15


@inlined
def _shuffle_part(seed: int, replicate: int, start: int, end: int, order: Any) -> None:
    """Fisher and Yates, upwards: the word of positions 2 k and 2 k + 1 is word k."""
    for k in range(start >> 1, (end + 1) >> 1):
        word = _word(seed, replicate, k)
        i = 2 * k
        if i >= start:
            j = start + ((int(word >> _32) * (i + 1 - start)) >> 32)
            held = order[i]
            order[i] = order[j]
            order[j] = held
        i += 1
        if i < end:
            j = start + ((int(word & _LOW) * (i + 1 - start)) >> 32)
            held = order[i]
            order[i] = order[j]
            order[j] = held


@kernel
def shuffle(seed: int, replicate: int, order: OrderArray) -> None:
    """Put an array in a random order.

    Parameters
    ----------
    seed, replicate : int
        The order is a function of these; not negative.
    order : ndarray, shape (n,)
        What to shuffle in place, such as the integers below n; n below 2**31.

    References
    ----------
    .. [1] R. Durstenfeld, "Algorithm 235: random permutation", Communications of the
       ACM 7 (1964) 420.

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.kernels import shuffle
    >>> order = np.arange(8)
    >>> shuffle(1, 0, order)
    >>> order.tolist()
    [4, 5, 2, 1, 7, 6, 0, 3]
    """
    _shuffle_part(seed, replicate, 0, order.size, order)


@kernel
def shuffle_within(seed: int, replicate: int, ends: IntArray, order: OrderArray) -> None:
    """Put each segment of an array in a random order of its own.

    Parameters
    ----------
    seed, replicate : int
        The order is a function of these; not negative.
    ends : ndarray of int, shape (S,)
        Where each segment ends and the next one begins, ascending, at most n. What
        follows the last end stays as it is.
    order : ndarray, shape (n,)
        What to shuffle in place.

    Notes
    -----
    With one segment it is `shuffle`.

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.kernels import shuffle_within
    >>> order = np.arange(8)
    >>> shuffle_within(1, 0, np.array([3, 8]), order)
    >>> order.tolist()
    [1, 0, 2, 5, 3, 7, 6, 4]
    """
    start = 0
    for k in range(ends.size):
        end = int(ends[k])
        _shuffle_part(seed, replicate, start, end, order)
        start = end


@kernel
def deal(pattern: PatternArray, order: OrderArray, out: PatternArray) -> None:
    """Give the i-th sample of an order the i-th entry of a pattern.

    Parameters
    ----------
    pattern : ndarray of int16, shape (n,) or (m, n)
        What to deal, such as the numbers of folds.
    order : ndarray of int, shape (n,)
        A permutation of the integers below n.
    out : ndarray of int16, of the shape of `pattern`
        Receives ``out[..., order[i]] = pattern[..., i]``.

    See Also
    --------
    deal_halves : Faster for several rows of two levels.

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.kernels import deal
    >>> pattern, out = np.array([0, 1, 2], np.int16), np.empty(3, np.int16)
    >>> deal(pattern, np.array([2, 0, 1]), out)
    >>> out.tolist()
    [1, 2, 0]
    """
    if pattern.ndim == 1:
        for i in range(order.size):
            out[order[i]] = pattern[i]
    else:
        for j in range(pattern.shape[0]):
            row, dealt = pattern[j], out[j]
            for i in range(order.size):
                dealt[order[i]] = row[i]


@kernel
def deal_halves(pattern: PatternArray, order: OrderArray, out: PatternArray) -> None:
    """Deal several rows of two levels at once.

    Parameters
    ----------
    pattern : ndarray of int16, shape (m, n)
        Zeros and ones.
    order : ndarray of int, shape (n,)
        A permutation of the integers below n.
    out : ndarray of int16, shape (m, n)
        Receives ``out[j, order[i]] = pattern[j, i]``.

    Notes
    -----
    Up to 15 rows are packed in one row of bits, which alone is scattered: packing and
    unpacking are done with vectors, a random store is not.

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.kernels import deal_halves
    >>> pattern = np.array([[0, 0, 1, 1], [0, 1, 0, 1]], np.int16)
    >>> out = np.empty((2, 4), np.int16)
    >>> deal_halves(pattern, np.array([2, 0, 3, 1]), out)
    >>> out.tolist()
    [[0, 1, 0, 1], [1, 1, 0, 0]]
    """
    n = order.size
    packed = np.empty(n, np.int16)
    dealt = np.empty(n, np.int16)
    for first in range(0, pattern.shape[0], _ROWS):
        last = min(first + _ROWS, pattern.shape[0])
        packed[:] = 0
        for j in range(first, last):
            row = pattern[j]
            for i in range(n):
                packed[i] = packed[i] + packed[i] + row[i]
        for i in range(n):
            dealt[order[i]] = packed[i]
        for j in range(last - 1, first - 1, -1):
            row = out[j]
            for i in range(n):
                row[i] = dealt[i] & 1
            for i in range(n):
                dealt[i] = dealt[i] >> 1
