"""The epsilon data on the folds of a design: drawn, split and counted in one kernel."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fastcmp._jit import kernel
from fastcmp.kernels.shuffling import shuffle
from fastcmp.studies.epsilon import epsilon_losses
from fastcmp.studies.rivals import DESIGNS, all_pvalues

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fastcmp.kernels.typing import IntArray, PatternArray

#: Repetitions of all designs of a data set together, at most.
_MOST_REPETITIONS = 64


@kernel
def epsilon_tables(
    seed: int,
    first: int,
    offset: int,
    epsilon: float,
    pattern: PatternArray,
    out: IntArray,
) -> None:
    """Count the epsilon losses of data sets on the folds of a design.

    Parameters
    ----------
    seed, first : int
        What the data are a function of: data set b has number ``first + b``.
    offset : int
        First of the 64 shuffles of a data set that this design uses, so that designs
        differ.
    epsilon : float
        Error rate of both algorithms.
    pattern : ndarray of int16, shape (m, n)
        The fold of each dealt record, negative where it is not tested; m repetitions
        share a shuffle.
    out : ndarray of int64, shape (B, R, K, 2, 2)
        Has ``table[a is wrong, b is wrong]`` of each fold added.

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.crossval.designs import kfold
    >>> from fastcmp.studies.epsilon_folds import epsilon_tables
    >>> out = np.zeros((2, 1, 10, 2, 2), np.int64)
    >>> epsilon_tables(1, 0, 0, 0.1, kfold(10).pattern(300), out)
    >>> out.sum((1, 2, 3, 4)).tolist()
    [300, 300]
    """
    n_rows, n = pattern.shape
    wrong_a, wrong_b = np.empty(n, np.uint8), np.empty(n, np.uint8)
    order = np.empty(n, np.int32)
    for b in range(out.shape[0]):
        epsilon_losses(seed, first + b, epsilon, wrong_a, wrong_b)
        for r in range(out.shape[1]):
            row = r % n_rows
            if row == 0:
                for i in range(n):
                    order[i] = i
                shuffle(seed, (first + b) * _MOST_REPETITIONS + offset + r, order)
            for i in range(n):
                fold = pattern[row, i]
                if fold >= 0:
                    at = order[i]
                    out[b, r, fold, wrong_a[at], wrong_b[at]] += 1


def epsilon_pvalues(
    n: int, epsilon: float, seed: int, first: int, last: int
) -> NDArray[np.float64]:
    """Run all tests of Table V on epsilon data.

    Parameters
    ----------
    n : int
        Records of a data set.
    epsilon : float
        Error rate of both algorithms.
    seed : int
        Of the study.
    first, last : int
        Data sets first, ..., last - 1.

    Returns
    -------
    ndarray of float64, shape (last - first, 14)
        P-values, in the order of `RIVALS`.
    """
    tables, offset = {}, 0
    for name, make in DESIGNS.items():
        design = make(0)
        pattern = design.pattern(n)
        n_folds = int(pattern.max()) + 1
        shape = (last - first, design.n_repeats, n_folds, 2, 2)
        tables[name] = np.zeros(shape, np.int64)
        epsilon_tables(seed, first, offset, epsilon, pattern, tables[name])
        offset += design.n_repeats
    return all_pvalues(tables, n)
