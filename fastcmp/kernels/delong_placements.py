"""DeLong's placements: how a sample ranks among those of the other class."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from fastcmp._jit import kernel

if TYPE_CHECKING:
    from fastcmp.kernels.typing import CodeArray, FloatArray, IntArray, ScoreArray


@kernel
def placements(order: IntArray, scores: ScoreArray, positive: CodeArray, out: FloatArray) -> None:
    """Write for each sample the proportion of the other class that it ranks right with.

    For a positive that is the proportion of negatives that score lower, for a negative
    that of positives that score higher; ties count half. The mean over either class
    is the AUC.

    Parameters
    ----------
    order : ndarray of int64, shape (n,)
        Samples in ascending order of their scores.
    scores : ndarray of float32 or float64, shape (n,)
        Scores of a model.
    positive : ndarray of uint8, shape (n,)
        1 for positives, 0 for negatives.
    out : ndarray of float64, shape (n,)
        Receives the placements.

    References
    ----------
    .. [1] E. R. DeLong, D. M. DeLong, D. L. Clarke-Pearson, "Comparing the areas under
       two or more correlated receiver operating characteristic curves", Biometrics 44
       (1988) 837-845.
    .. [2] X. Sun, W. Xu, "Fast implementation of DeLong's algorithm", IEEE Signal
       Processing Letters 21 (2014) 1389-1393.

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.kernels import placements
    >>> scores, positive = np.array([0.1, 0.4, 0.4]), np.array([0, 1, 0], np.uint8)
    >>> out = np.empty(3)
    >>> placements(np.argsort(scores), scores, positive, out)
    >>> out.tolist()
    [1.0, 0.75, 0.5]
    """
    n = order.size
    n1 = 0
    for i in range(n):
        n1 += int(positive[i])
    n0 = n - n1
    # Division, not multiplication by the inverse: n of n must be exactly 1.
    all_0 = float(n0) if n0 > 0 else math.nan
    all_1 = float(n1) if n1 > 0 else math.nan
    # Gathered first: loads that wait for memory then wait together.
    ascending, flags = np.empty(n, scores.dtype), np.empty(n, np.int64)
    for k in range(n):
        ascending[k] = scores[order[k]]
        flags[k] = int(positive[order[k]])
    below_0 = below_1 = 0
    start = 0
    while start < n:
        end = start + 1
        while end < n and ascending[end] == ascending[start]:
            end += 1
        if end == start + 1:
            # No tie, and no branch on the class, which would be mispredicted.
            flag = flags[start]
            of_positive = below_0 / all_0
            of_negative = (n1 - below_1) / all_1
            out[order[start]] = flag * of_positive + (1 - flag) * of_negative
            below_0 += 1 - flag
            below_1 += flag
        else:
            ties_1 = 0
            for k in range(start, end):
                ties_1 += flags[k]
            ties_0 = end - start - ties_1
            of_positive = (below_0 + 0.5 * ties_0) / all_0
            of_negative = (n1 - below_1 - 0.5 * ties_1) / all_1
            for k in range(start, end):
                out[order[k]] = flags[k] * of_positive + (1 - flags[k]) * of_negative
            below_0 += ties_0
            below_1 += ties_1
        start = end
