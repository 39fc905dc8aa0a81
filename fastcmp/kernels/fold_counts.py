"""The tables of folds, counted from the errors of both models."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp._jit import helper, inlined, kernel, wide_vectors
from fastcmp.kernels.rng import _word

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fastcmp.kernels.typing import FloatArray, IntArray, PatternArray

_FEW = 4  # folds up to which comparing with each of them beats a histogram
_LONGEST = 1 << 15  # samples whose number fits in a 16-bit counter
_INDEXED = 1024  # samples whose cells are computed before they are counted
_CELLS = (1 << 16) - 1  # cells whose number fits in 16 bits, beside that of no cell

_ONE, _TWO = np.uint16(1), np.uint16(2)
_LOW = np.uint64(0xFFFF)
_SHIFT_1, _SHIFT_2, _SHIFT_3 = np.uint64(16), np.uint64(32), np.uint64(48)
_STEP = np.uint32(1)


@kernel
def count_folds(
    folds: NDArray[np.int16], wrong_a: NDArray[np.uint8], wrong_b: NDArray[np.uint8], out: IntArray
) -> None:
    """Add to the table of two models on each fold of each repetition.

    Parameters
    ----------
    folds : ndarray of int16, shape (R, n)
        The fold in which each sample is tested in each of R repetitions. A sample
        whose fold is negative, or not below K, is not counted.
    wrong_a, wrong_b : ndarray of uint8, shape (R, n)
        1 if model a, or model b, misclassifies the sample. One row for all repetitions
        may be broadcast.
    out : ndarray of int64, shape (R, K, 2, 2)
        ``out[r, k]`` is ``table[a is wrong, b is wrong]`` of fold k: [0, 1] counts the
        samples that only a got right, [1, 0] those that only b got right.

    Notes
    -----
    O(R n). Measured on one core: 0.2 ns a sample and repetition for 2 folds, 0.35 for
    4, 0.4 to 0.6 for 5 to 100, where a plain loop takes 1.3 to 4.

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.kernels import count_folds
    >>> folds = np.array([[0, 0, 0, 1, 1, -1]], np.int16)
    >>> wrong_a = np.array([[0, 1, 0, 0, 0, 1]], np.uint8)
    >>> wrong_b = np.array([[0, 0, 0, 1, 1, 1]], np.uint8)
    >>> tables = np.zeros((1, 2, 2, 2), np.int64)
    >>> count_folds(folds, wrong_a, wrong_b, tables)
    >>> tables.tolist()
    [[[[2, 0], [1, 0]], [[0, 2], [0, 0]]]]
    """
    n_folds = out.shape[1]
    if n_folds <= _FEW:
        _count_by_comparing(folds, wrong_a, wrong_b, out)
    elif 4 * n_folds <= min(_CELLS, folds.shape[1]):
        _count_by_cell(folds, wrong_a, wrong_b, out)
    else:
        _count_one_by_one(folds, wrong_a, wrong_b, out)


@kernel
def _count_by_comparing(folds: Any, wrong_a: Any, wrong_b: Any, out: Any) -> None:
    """Add up flags, two folds at a time.

    All is done in 16 bits, so that a vector holds as many samples as possible.
    """
    wide_vectors()
    n_folds = out.shape[1]
    for r in range(folds.shape[0]):
        for start in range(0, folds.shape[1], _LONGEST):
            end = min(folds.shape[1], start + _LONGEST)
            fold = folds[r, start:end]
            a, b = wrong_a[r, start:end], wrong_b[r, start:end]
            for k in range(0, n_folds, 2):
                low, high = np.int16(k), np.int16(k + 1)
                n0 = a0 = b0 = both0 = np.uint16(0)
                n1 = a1 = b1 = both1 = np.uint16(0)
                for i in range(end - start):
                    in0, in1 = np.uint16(fold[i] == low), np.uint16(fold[i] == high)
                    x, y = np.uint16(a[i] != 0), np.uint16(b[i] != 0)
                    xy = np.uint16(x & y)
                    n0 = np.uint16(n0 + in0)
                    a0 = np.uint16(a0 + np.uint16(in0 & x))
                    b0 = np.uint16(b0 + np.uint16(in0 & y))
                    both0 = np.uint16(both0 + np.uint16(in0 & xy))
                    n1 = np.uint16(n1 + in1)
                    a1 = np.uint16(a1 + np.uint16(in1 & x))
                    b1 = np.uint16(b1 + np.uint16(in1 & y))
                    both1 = np.uint16(both1 + np.uint16(in1 & xy))
                _add(out[r, k], n0, a0, b0, both0)
                if k + 1 < n_folds:
                    _add(out[r, k + 1], n1, a1, b1, both1)


@kernel
def _add(table: Any, n: Any, a: Any, b: Any, both: Any) -> None:
    """Add to a table, given its sum, the errors of a, of b, and of both."""
    table[0, 0] += np.int64(n) - np.int64(a) - np.int64(b) + np.int64(both)
    table[0, 1] += np.int64(b) - np.int64(both)
    table[1, 0] += np.int64(a) - np.int64(both)
    table[1, 1] += np.int64(both)


@kernel
def _count_by_cell(folds: Any, wrong_a: Any, wrong_b: Any, out: Any) -> None:
    """Compute the cells of some samples, which vectorizes, and count these.

    Four rows of counters, as in `count_labels`.
    """
    wide_vectors()
    n = folds.shape[1]
    n_folds = out.shape[1]
    nowhere = np.uint16(4 * n_folds)
    limit = np.uint16(n_folds)
    counters = np.zeros((4, 4 * n_folds + 1), np.uint32)
    first, second, third, fourth = counters[0], counters[1], counters[2], counters[3]
    cells = np.empty(_INDEXED, np.uint16)
    words = cells.view(np.uint64)
    for r in range(folds.shape[0]):
        for start in range(0, n, _INDEXED):
            size = min(_INDEXED, n - start)
            fold = folds[r, start : start + size]
            a, b = wrong_a[r, start : start + size], wrong_b[r, start : start + size]
            for i in range(size):
                where = np.uint16(fold[i])  # a negative one becomes too large
                x = np.uint16(np.uint16(a[i] != 0) << _ONE)
                cell = np.uint16(np.uint16(where << _TWO) | x) | np.uint16(b[i] != 0)
                cells[i] = cell if where < limit else nowhere
            for j in range(size // 4):
                word = words[j]
                first[word & _LOW] += _STEP
                second[(word >> _SHIFT_1) & _LOW] += _STEP
                third[(word >> _SHIFT_2) & _LOW] += _STEP
                fourth[word >> _SHIFT_3] += _STEP
            for i in range(size - size % 4, size):
                first[cells[i]] += _STEP
        for k in range(n_folds):
            for i in range(2):
                for j in range(2):
                    for row in range(4):
                        out[r, k, i, j] += np.int64(counters[row, 4 * k + 2 * i + j])
        counters[:] = 0


@kernel
def _count_one_by_one(folds: Any, wrong_a: Any, wrong_b: Any, out: Any) -> None:
    """Count many folds of a few samples, down to one each."""
    n_folds = out.shape[1]
    for r in range(folds.shape[0]):
        for i in range(folds.shape[1]):
            k = np.int64(folds[r, i])
            if 0 <= k < n_folds:
                x, y = np.int64(wrong_a[r, i] != 0), np.int64(wrong_b[r, i] != 0)
                out[r, k, x, y] += 1


# Right and wrong predictions of two models on the folds of a design, drawn.
#
# The model: a sample is right for a alone, for both, for none or for b alone. In each
# repetition it has, with the probability `stability`, the outcome that it has in all of
# them, and else one drawn anew. A training set shifts the probabilities of a and of b
# alone against each other, by the mean of contributions of its samples, so that training
# sets that overlap have similar shifts.

# 52 bits and a half: neither 0 nor 1 can be drawn.
_12 = np.uint64(12)
_SCALE = 2.0**-52
_UNIT = math.sqrt(12.0)  # of a uniform number, for a variance of 1
# Draws of each kind, so that a sample keeps its own where there are more of them.
_MOST = 1 << 26
_UNUSED = -2  # in folds: neither tested nor trained on


@helper
def _uniform(seed: int, replicate: int, draw: int) -> float:
    return (float(_word(seed, replicate, draw) >> _12) + 0.5) * _SCALE


@kernel
def simulate_folds(
    folds: PatternArray,
    probabilities: FloatArray,
    stability: float,
    training_sd: float,
    seed: int,
    first: int,
    tables: IntArray,
) -> None:
    """Draw the fold tables of two models.

    Parameters
    ----------
    folds : ndarray of int16, shape (R, n)
        The fold in which each sample is tested, -1 for none, -2 where it is not used;
        n is below 2**26.
    probabilities : ndarray of float64, shape (3,)
        That a alone is right, that both are, that b alone is.
    stability : float
        Probability that a sample has the outcome that is common to all repetitions.
    training_sd : float
        Standard deviation, over training sets, of the difference of both accuracies.
    seed, first : int
        Replicate i is a function of the seed and ``first + i``.
    tables : ndarray of int64, shape (B, R, K, 2, 2)
        Receives ``table[a is wrong, b is wrong]`` of each fold of B replicates.

    Notes
    -----
    O(B R n). The shift of a training set is the sum of uniform contributions of mean 0
    and variance 1 of its samples, over the root of their number and times
    ``training_sd / 2``; it is limited to what leaves both probabilities at least 0.

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.kernels import simulate_folds
    >>> folds = np.array([[0, 1, 0, 1, 0, 1]], np.int16)
    >>> tables = np.empty((1, 1, 2, 2, 2), np.int64)
    >>> simulate_folds(folds, np.array([0.2, 0.6, 0.1]), 0.3, 0.02, 1, 0, tables)
    >>> tables.sum(axis=(-2, -1)).tolist()
    [[[3, 3]]]
    """
    n_rows, n = folds.shape
    n_folds = tables.shape[2]
    shifts = np.empty(n_folds)
    tables[:] = 0
    for i in range(tables.shape[0]):
        for r in range(n_rows):
            _shifts(folds[r], training_sd, seed, first + i, shifts)
            start = _MOST * (2 + 2 * r)
            for j in range(n):
                fold = folds[r, j]
                if fold < 0:
                    continue
                u = _uniform(seed, first + i, j)
                if _uniform(seed, first + i, start + 2 * j) >= stability:
                    u = _uniform(seed, first + i, start + 2 * j + 1)
                a, b = _outcome(u, probabilities, shifts[fold])
                tables[i, r, fold, a, b] += 1


@inlined
def _outcome(u: float, probabilities: FloatArray, shift: float) -> tuple[int, int]:
    """Tell whether a is wrong, and whether b is."""
    only_a, both, only_b = probabilities
    least = min(only_a, only_b)
    moved = min(max(shift, -least), least)
    if u < only_a + moved:
        return 0, 1
    if u < only_a + moved + both:
        return 0, 0
    return (1, 0) if u >= 1.0 - (only_b - moved) else (1, 1)


@kernel
def _shifts(
    folds: PatternArray, training_sd: float, seed: int, replicate: int, shifts: FloatArray
) -> None:
    """Work out by how much each fold's training set shifts the probabilities."""
    shifts[:] = 0.0
    if training_sd == 0.0:
        return
    n, n_folds = folds.size, shifts.size
    total, used = 0.0, 0
    sizes = np.zeros(n_folds, np.int64)
    for j in range(n):
        if folds[j] == _UNUSED:
            continue
        gain = _UNIT * (_uniform(seed, replicate, _MOST + j) - 0.5)
        total += gain
        used += 1
        if folds[j] >= 0:
            shifts[folds[j]] += gain
            sizes[folds[j]] += 1
    for k in range(n_folds):
        size = used - sizes[k]
        shifts[k] = 0.5 * training_sd * (total - shifts[k]) / math.sqrt(max(size, 1))
