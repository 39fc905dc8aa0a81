"""Losses of two algorithms that never were: the epsilon data, drawn directly."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastcmp._jit import kernel
from fastcmp.kernels.rng import random_below
from fastcmp.kernels.status import INVALID, OK

if TYPE_CHECKING:
    from fastcmp.kernels.typing import CodeArray

# Probabilities are multiples of 2**-30, so that comparing whole numbers decides.
_GRAIN = 2**30
# Far from the draws that shuffle a partition under the same seed and replicate.
_FIRST_DRAW = 2**40


@kernel
def epsilon_losses(
    seed: int, replicate: int, epsilon: float, wrong_a: CodeArray, wrong_b: CodeArray
) -> int:
    """Draw which records two equally good algorithms get wrong.

    On the first n // 2 records A errs with probability epsilon / 2 and B with
    3 epsilon / 2; on the others it is the reverse. All draws are independent.

    Parameters
    ----------
    seed, replicate : int
        What the losses are a function of, not negative.
    epsilon : float
        Error rate of both, in [0, 2/3]; rounded such that its half is a multiple of
        2**-30.
    wrong_a, wrong_b : ndarray of uint8, shape (n,)
        Receive 1 where the algorithm errs, 0 elsewhere.

    Returns
    -------
    int
        `OK`, or `INVALID` where epsilon lies outside or the lengths differ; then
        nothing is written.

    References
    ----------
    .. [1] T. G. Dietterich, "Approximate statistical tests for comparing supervised
       classification learning algorithms", Neural Computation 10 (1998) 1895-1923.

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.studies.epsilon import epsilon_losses
    >>> a, b = np.empty((2, 300), np.uint8)
    >>> epsilon_losses(1, 0, 0.1, a, b)
    0
    >>> bool(a[:150].sum() < b[:150].sum())
    True
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
