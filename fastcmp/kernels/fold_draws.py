"""Right and wrong predictions of two models on the folds of a design, drawn.

The model: a sample is right for a alone, for both, for none or for b alone. In each
repetition it has, with the probability `stability`, the outcome that it has in all of
them, and else one drawn anew. A training set shifts the probabilities of a and of b
alone against each other, by the mean of contributions of its samples, so that training
sets that overlap have similar shifts.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from fastcmp._jit import helper, inlined, kernel
from fastcmp.kernels.rng import _word

if TYPE_CHECKING:
    from fastcmp.kernels.typing import FloatArray, IntArray, PatternArray

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
    folds: PatternArray,
    training_sd: float,
    seed: int,
    replicate: int,
    shifts: FloatArray,
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
