"""Venkatraman and Begg's test of two ROC curves on the same samples."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fastcmp._jit import kernel
from fastcmp.kernels.rng import random_below

if TYPE_CHECKING:
    from fastcmp.kernels.typing import CodeArray, IntArray


@kernel
def venkatraman_statistic(first: CodeArray, second: CodeArray) -> int:
    """Sum the differences between the errors of two models over all cutoffs of ranks.

    Parameters
    ----------
    first, second : ndarray of uint8, shape (n,)
        Classes of the samples in the order of each model's ranks: 1 for positives.

    Returns
    -------
    int
        Venkatraman and Begg's E: the absolute difference of the numbers of
        misclassified samples, summed over the cutoffs.

    References
    ----------
    .. [1] E. S. Venkatraman, C. B. Begg, "A distribution-free procedure for comparing
       receiver operating characteristic curves from a paired experiment", Biometrika
       83 (1996) 835-848.

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.kernels import venkatraman_statistic
    >>> a, b = np.array([0, 0, 1], np.uint8), np.array([0, 1, 0], np.uint8)
    >>> venkatraman_statistic(a, b)
    2
    """
    total = apart = 0
    for k in range(first.size):
        apart += int(first[k]) - int(second[k])
        total += abs(apart)
    return 2 * total


@kernel
def venkatraman_exchanges(
    by_rank: IntArray, positive: CodeArray, seed: int, first: int, out: IntArray
) -> None:
    """Exchange the two ranks of random samples, rank again, and compute E each time.

    Parameters
    ----------
    by_rank : ndarray of int64, shape (2, n)
        Samples in the order of each model's ranks, ties broken.
    positive : ndarray of uint8, shape (n,)
        1 for positives, 0 for negatives.
    seed, first : int
        Replicate i is a function of (seed, first + i).
    out : ndarray of int64, shape (B,)
        Receives the statistics.

    Notes
    -----
    O(n) for each exchange. If two samples get the same rank of a model, the first is
    drawn at random, as Venkatraman and Begg propose.

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.kernels import venkatraman_exchanges
    >>> by_rank, out = np.array([[0, 1, 2], [0, 2, 1]]), np.empty(5, np.int64)
    >>> venkatraman_exchanges(by_rank, np.array([0, 0, 1], np.uint8), 1, 0, out)
    >>> sorted(set(out.tolist()))
    [0, 2]
    """
    n = positive.size
    ordered = np.empty((2, n), np.uint8)
    swapped, at = np.empty(n, np.int64), np.empty(2, np.int64)
    for b in range(out.size):
        for i in range(n):
            swapped[i] = random_below(seed, first + b, i, 2)
        at[:] = 0
        for k in range(n):
            one, two = by_rank[0, k], by_rank[1, k]
            to_one, to_two = swapped[one], 1 - swapped[two]
            if random_below(seed, first + b, n + k, 2):
                one, two = two, one
                to_one, to_two = to_two, to_one
            for sample, model in ((one, to_one), (two, to_two)):
                ordered[model, at[model]] = positive[sample]
                at[model] += 1
        out[b] = venkatraman_statistic(ordered[0], ordered[1])
