"""Losses of two imaginary algorithms, drawn directly: the epsilon data."""

from __future__ import annotations

from fastcmp._jit import kernel
from fastcmp.kernels.rng import random_below
from fastcmp.kernels.status import INVALID, OK
from fastcmp.kernels.typing import CodeArray

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
