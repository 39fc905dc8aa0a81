"""Tables counted straight from codes; every function adds into `out`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fastcmp._jit import kernel, wide_vectors
from fastcmp.kernels.bits import count_bits, count_common_bits, pack_equal

if TYPE_CHECKING:
    from fastcmp.kernels.typing import CodeArray, IntArray

_BLOCK = 1 << 15  # samples packed at a time; the words stay in the first-level cache


@kernel
def count_paired(
    y_true: CodeArray, pred_a: CodeArray, pred_b: CodeArray, out: IntArray
) -> None:
    """Add to the table of two models: rows a right or wrong, columns b.

    Parameters
    ----------
    y_true, pred_a, pred_b : ndarray of uint8, uint16, int32 or int64, shape (n,)
        True and predicted codes.
    out : ndarray of int64, shape (2, 2)
        ``out[0, 1]`` counts the samples that only a got right, ``out[1, 0]`` those
        that only b got right.

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.kernels import count_paired
    >>> table = np.zeros((2, 2), np.int64)
    >>> y_true = np.array([0, 1, 1, 0])
    >>> count_paired(y_true, np.array([0, 1, 1, 1]), np.array([0, 0, 1, 1]), table)
    >>> table.tolist()
    [[2, 1], [0, 1]]
    """
    wide_vectors()
    n = y_true.size
    a = np.zeros(_BLOCK // 64, np.uint64)
    b = np.zeros(_BLOCK // 64, np.uint64)
    right_a = right_b = both = np.int64(0)
    for start in range(0, n, _BLOCK):
        end = min(n, start + _BLOCK)
        used = (end - start + 63) // 64
        pack_equal(y_true[start:end], pred_a[start:end], a)
        pack_equal(y_true[start:end], pred_b[start:end], b)
        right_a += count_bits(a[:used])
        right_b += count_bits(b[:used])
        both += count_common_bits(a[:used], b[:used])
    out[0, 0] += both
    out[0, 1] += right_a - both
    out[1, 0] += right_b - both
    out[1, 1] += n - right_a - right_b + both


@kernel
def count_agreement(pred_a: CodeArray, pred_b: CodeArray, out: IntArray) -> None:
    """Add to the K x K table of what two models predicted.

    Parameters
    ----------
    pred_a, pred_b : ndarray of uint8, uint16, int32 or int64, shape (n,)
        Codes below K.
    out : ndarray of int64, shape (K, K)
        ``out[i, j]`` counts the samples for which a predicted i and b predicted j.

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.kernels import count_agreement
    >>> table = np.zeros((2, 2), np.int64)
    >>> count_agreement(np.array([0, 1, 1]), np.array([0, 0, 1]), table)
    >>> table.tolist()
    [[1, 0], [1, 1]]
    """
    for i in range(pred_a.size):
        out[pred_a[i], pred_b[i]] += 1
