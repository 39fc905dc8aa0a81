"""Cochran's Q: do any of M models differ in accuracy on the same samples?"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from fastcmp._jit import kernel, sum_of
from fastcmp.kernels.special import _chi_square_tail, fdtrc
from fastcmp.kernels.status import DEGENERATE, INVALID, OK

if TYPE_CHECKING:
    from fastcmp.kernels.typing import IntArray


class CochranOutcome(NamedTuple):
    """Cochran's Q with its chi-square p-value, and Looney's F with its own."""

    statistic: float
    pvalue: float
    f_statistic: float
    f_pvalue: float
    status: int


@kernel
def cochrans_q(right: IntArray, row_squares: int, n: int) -> CochranOutcome:
    """Cochran's Q and Looney's F from sums over the matrix of correct predictions.

    Parameters
    ----------
    right : ndarray of int64, shape (M,)
        Correctly classified samples of each model (G).
    row_squares : int
        Sum over samples of the squared number of correct models (sum of L**2),
        as `row_square_sum` counts it.
    n : int
        Samples.

    Returns
    -------
    CochranOutcome
        ``statistic`` = (M-1) * sum((M*G - T)**2) / (M * (M*T - sum L**2)), T = sum G,
        referred to chi-square with M-1 degrees of freedom; ``f_statistic`` =
        (n-1) Q / (n (M-1) - Q), referred to F with M-1 and (M-1)(n-1). If on every
        sample all models are correct or none is: 0, 1, 0, 1 and ``DEGENERATE``.

    References
    ----------
    .. [1] W. G. Cochran, "The comparison of percentages in matched samples",
       Biometrika 37 (1950) 256-266.
    .. [2] S. W. Looney, "A statistical technique for comparing the accuracies of
       several classifiers", Pattern Recognition Letters 8 (1988) 5-9.

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.kernels import cochrans_q
    >>> round(cochrans_q(np.array([84, 92, 92]), 770, 100).statistic, 6)
    7.529412
    """
    m = right.size
    if m < 2 or n < 1:
        return CochranOutcome(math.nan, math.nan, math.nan, math.nan, INVALID)
    total = sum_of(right)
    within = m * total - row_squares
    if within == 0:
        return CochranOutcome(0.0, 1.0, 0.0, 1.0, DEGENERATE)
    between = 0.0
    for j in range(m):
        excess = float(m * right[j] - total)
        between += excess * excess
    df = m - 1.0
    q = df * between / (m * float(within))
    left = n * df - q
    # If all samples disagree in the same way the ratio is infinite, but rounding may
    # leave a trace of either sign; a single sample has no ratio.
    f = math.inf if left <= 1e-12 * q else (n - 1.0) * q / left
    f_pvalue = math.nan
    if n == 1:
        f = math.nan
    elif math.isinf(f):
        f_pvalue = 0.0
    else:
        f_pvalue = fdtrc(df, df * (n - 1.0), f)
    return CochranOutcome(q, _chi_square_tail(df, q), f, f_pvalue, OK)
