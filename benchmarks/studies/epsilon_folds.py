"""The epsilon data, losses of two imaginary algorithms: drawn, split and counted on folds."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fastcmp._jit import kernel
from fastcmp.kernels.rng import random_below, shuffle
from fastcmp.kernels.status import INVALID, OK
from fastcmp.kernels.typing import CodeArray, IntArray, PatternArray

from .rivals import DESIGNS, all_pvalues

#: Repetitions of all designs of a data set together, at most.
_MOST_REPETITIONS = 64
# Probabilities are multiples of 2**-30, so that comparing whole numbers decides.
_GRAIN = 2**30
# Far from the draws that shuffle a partition under the same seed and replicate.
_FIRST_DRAW = 2**40


@kernel
def epsilon_losses(
    seed: int, replicate: int, epsilon: float, wrong_a: CodeArray, wrong_b: CodeArray
) -> int:
    """Draw which records two equally good algorithms get wrong (Dietterich 1998).

    Both have the error rate epsilon, in [0, 2/3]: on the first n // 2 records a has
    epsilon / 2 and b has 3 epsilon / 2, on the others it is the reverse.
    """
    n = wrong_a.size
    # Written such that NaN is refused.
    if not (epsilon >= 0.0 and 1.5 * epsilon <= 1.0) or wrong_b.size != n:
        return INVALID
    seldom = int(epsilon * 0.5 * _GRAIN + 0.5)
    often = min(3 * seldom, _GRAIN)
    for i in range(n):
        first = i < n // 2
        draw = _FIRST_DRAW + 2 * i
        a = random_below(seed, replicate, draw, _GRAIN)
        b = random_below(seed, replicate, draw + 1, _GRAIN)
        wrong_a[i] = a < (seldom if first else often)
        wrong_b[i] = b < (often if first else seldom)
    return OK


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
