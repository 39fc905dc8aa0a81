"""Tables counted from codes; every function adds to `out`."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from fastcmp._jit import inlined, kernel, wide_vectors
from fastcmp.kernels.typing import CodeArray, IntArray, WordArray

_COUNTED = 1 << 15  # samples whose number fits in 16 bits
_PART = 1 << 13  # samples that NumPy looks at together, which takes some copies
_INDEXED = 1024  # samples whose cells are computed before they are counted
_SMALL = 1 << 16  # cells whose number fits in 16 bits
_FLUSH = 1 << 30  # samples after which 32-bit counters are emptied

_LOW = np.uint64(0xFFFF)
_1, _2, _3 = np.uint64(16), np.uint64(32), np.uint64(48)
_ONE = np.uint32(1)
_ZERO = np.uint16(0)


@inlined
def _scatter(words: WordArray, n_words: int, counters: Any) -> None:
    """Count cells of 16 bits, four to a word, in four rows of counters.

    Neighbouring samples often fall on the same cell, and an increment must wait for
    the one before it on that cell: four rows make four of them independent. Measured
    at 27 to 27,000 cells: 0.45 to 0.6 ns a sample, 0.9 with one row.
    """
    first, second, third, fourth = counters[0], counters[1], counters[2], counters[3]
    for i in range(n_words):
        word = words[i]
        first[word & _LOW] += _ONE
        second[(word >> _1) & _LOW] += _ONE
        third[(word >> _2) & _LOW] += _ONE
        fourth[word >> _3] += _ONE


@inlined
def _empty(counters: Any, total: IntArray) -> None:
    for j in range(total.size):
        for row in range(4):
            total[j] += np.int64(counters[row, j])
            counters[row, j] = 0


def _paired_by_numpy(y_true: Any, pred_a: Any, pred_b: Any, out: Any) -> None:
    for start in range(0, y_true.size, _PART):  # a part at a time: no copies of the labels
        true = y_true[start : start + _PART]
        is_a = true == pred_a[start : start + _PART]
        is_b = true == pred_b[start : start + _PART]
        n_a, n_b, n_both = map(np.count_nonzero, (is_a, is_b, is_a & is_b))
        out += np.array([[n_both, n_a - n_both], [n_b - n_both, true.size - n_a - n_b + n_both]])


@partial(kernel, by_numpy=_paired_by_numpy)
def count_paired(y_true: CodeArray, pred_a: CodeArray, pred_b: CodeArray, out: IntArray) -> None:
    """Add to the table of two models: rows are a correct or wrong, columns b.

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
    right_a = right_b = both = np.int64(0)
    for start in range(0, y_true.size, _COUNTED):  # in 16 bits: a vector holds many samples
        end = min(y_true.size, start + _COUNTED)
        true, a, b = y_true[start:end], pred_a[start:end], pred_b[start:end]
        n_a = n_b = n_both = _ZERO
        for i in range(end - start):
            is_a, is_b = np.uint16(true[i] == a[i]), np.uint16(true[i] == b[i])
            n_a = np.uint16(n_a + is_a)
            n_b = np.uint16(n_b + is_b)
            n_both = np.uint16(n_both + np.uint16(is_a & is_b))
        right_a += np.int64(n_a)
        right_b += np.int64(n_b)
        both += np.int64(n_both)
    out[0, 0] += both
    out[0, 1] += right_a - both
    out[1, 0] += right_b - both
    out[1, 1] += y_true.size - right_a - right_b + both


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
    wide_vectors()
    n = pred_a.size
    n_classes = out.shape[1]
    if out.size > min(_SMALL, n):
        for i in range(n):
            out[pred_a[i], pred_b[i]] += 1
        return
    total = np.zeros(out.size, np.int64)
    counters = np.zeros((4, out.size), np.uint32)
    cells = np.empty(_INDEXED, np.uint16)
    k = np.uint16(n_classes)
    for start in range(0, n, _INDEXED):
        size = min(_INDEXED, n - start)
        a, b = pred_a[start : start + size], pred_b[start : start + size]
        for i in range(size):
            cells[i] = np.uint16(np.uint16(a[i]) * k) + np.uint16(b[i])
        _scatter(cells.view(np.uint64), size // 4, counters)
        for i in range(size - size % 4, size):
            counters[0, cells[i]] += _ONE
        if (start + _INDEXED) % _FLUSH == 0:
            _empty(counters, total)
    _empty(counters, total)
    for i in range(out.shape[0]):
        for j in range(n_classes):
            out[i, j] += total[i * n_classes + j]


@inlined
def _largest(codes: CodeArray) -> int:
    largest = codes[0]
    for code in codes:
        largest = max(largest, code)
    return int(largest)


@kernel
def count_labels(y_true: CodeArray, pred_a: CodeArray, pred_b: CodeArray, out: IntArray) -> int:
    """Add to the K x K x K counts of true and predicted classes.

    Parameters
    ----------
    y_true, pred_a, pred_b : ndarray of uint8, uint16, int32 or int64, shape (n,)
        True and predicted codes, not negative.
    out : ndarray of int64, shape (K, K, K)
        ``out[t, a, b]`` counts the samples of class t for which a predicted a and b
        predicted b.

    Returns
    -------
    int
        The first sample with a code that is not below K, at which counting stopped; n
        if there is none.

    Notes
    -----
    One pass. The cells of 1,024 samples are computed first, which vectorizes, and then
    counted.

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.kernels import count_labels
    >>> counts = np.zeros((2, 2, 2), np.int64)
    >>> y_true, a = np.array([0, 1, 1]), np.array([0, 1, 0])
    >>> count_labels(y_true, a, np.array([0, 0, 0]), counts)
    3
    >>> counts[1].tolist()
    [[1, 0], [1, 0]]
    """
    wide_vectors()
    n = y_true.size
    n_classes = out.shape[1]
    if out.size > min(_SMALL, n):
        for i in range(n):
            if max(int(y_true[i]), int(pred_a[i]), int(pred_b[i])) >= n_classes:
                return i
            out[y_true[i], pred_a[i], pred_b[i]] += 1
        return n
    total = np.zeros(out.size, np.int64)
    counters = np.zeros((4, out.size), np.uint32)
    cells = np.empty(_INDEXED, np.uint16)
    k = np.uint16(n_classes)
    for start in range(0, n, _INDEXED):
        size = min(_INDEXED, n - start)
        t = y_true[start : start + size]
        a, b = pred_a[start : start + size], pred_b[start : start + size]
        if max(_largest(t), _largest(a), _largest(b)) >= n_classes:
            for i in range(size):
                if max(int(t[i]), int(a[i]), int(b[i])) >= n_classes:
                    return start + i
        for i in range(size):
            row = np.uint16(np.uint16(t[i]) * k) + np.uint16(a[i])
            cells[i] = np.uint16(np.uint16(row) * k) + np.uint16(b[i])
        _scatter(cells.view(np.uint64), size // 4, counters)
        for i in range(size - size % 4, size):
            counters[0, cells[i]] += _ONE
        if (start + _INDEXED) % _FLUSH == 0:
            _empty(counters, total)
    _empty(counters, total)
    for i in range(n_classes):
        for j in range(n_classes):
            for m in range(n_classes):
                out[i, j, m] += total[(i * n_classes + j) * n_classes + m]
    return n
