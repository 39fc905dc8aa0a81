"""The epsilon data on the folds of a design: drawn, split and counted in one kernel."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fastcmp._jit import kernel
from fastcmp.kernels.rng import shuffle
from fastcmp.kernels.typing import IntArray, PatternArray
from fastcmp.studies.epsilon import epsilon_losses
from fastcmp.studies.rivals import DESIGNS, all_pvalues

#: Repetitions of all designs of a data set together, at most.
_MOST_REPETITIONS = 64


@kernel
def epsilon_tables(
    seed: int, first: int, offset: int, epsilon: float, pattern: PatternArray, out: IntArray
) -> None:
    """Add to `out` (B, R, K, 2, 2) the epsilon losses on the folds of a design.

    Data set b has number first + b. Its 64 shuffles begin at `offset` for this design.
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
    """Run all tests of Table V on epsilon data."""
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
