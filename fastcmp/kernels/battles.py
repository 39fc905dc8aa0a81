"""Battles of each pair of models on each task: who scores more, and how surely."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastcmp._jit import kernel

if TYPE_CHECKING:
    from fastcmp.kernels.typing import FloatArray, IntArray


@kernel
def count_battles(codes: IntArray, weights: IntArray, wins: FloatArray, ties: FloatArray) -> None:
    """Count on how many tasks each model scores more than each other one.

    Parameters
    ----------
    codes : ndarray of int64, shape (M, D)
        Scores of M models on D tasks as whole numbers of one order within a task, the
        larger the better; a negative one where a model has none.
    weights : ndarray of int64, shape (D,)
        How often each task counts.
    wins : ndarray of float64, shape (M, M)
        Receives the weight of the tasks on which the model of the row scores more.
    ties : ndarray of float64, shape (M, M)
        Receives the weight of the tasks on which both score the same, on both sides of
        the diagonal, which is 0.

    Notes
    -----
    O(M**2 D).

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.kernels.battles import count_battles
    >>> wins, ties = np.zeros((2, 2, 2))
    >>> codes = np.array([[3, 1, 2, 5], [1, 1, 4, -1]])
    >>> count_battles(codes, np.ones(4, np.int64), wins, ties)
    >>> wins.tolist(), ties.tolist()
    ([[0.0, 1.0], [1.0, 0.0]], [[0.0, 1.0], [1.0, 0.0]])
    """
    n_models, n_tasks = codes.shape
    for i in range(n_models):
        wins[i, i] = 0.0
        ties[i, i] = 0.0
        a = codes[i]
        for j in range(i + 1, n_models):
            b = codes[j]
            more, less, both = 0, 0, 0
            for t in range(n_tasks):
                # Whole numbers may be added in any order, so many at a time.
                weight = weights[t] * ((a[t] >= 0) & (b[t] >= 0))
                both += weight
                more += weight * (a[t] > b[t])
                less += weight * (a[t] < b[t])
            wins[i, j] = more
            wins[j, i] = less
            ties[i, j] = both - more - less
            ties[j, i] = both - more - less


@kernel
def without_ties(
    codes: IntArray, clusters: IntArray, expected: FloatArray, out: FloatArray
) -> None:
    """Add up, by cluster, how many more wins each model has than expected.

    Parameters
    ----------
    codes : ndarray of int64, shape (D, M)
        As of `count_battles`, a row a task. Battles that end in a tie are left out.
    clusters : ndarray of int64, shape (D,)
        Cluster of each task, from 0.
    expected : ndarray of float64, shape (M, M)
        Probability that the model of the row beats that of the column.
    out : ndarray of float64, shape (C, at least M)
        Wins of each model minus those expected are added to the first M columns.

    Notes
    -----
    O(M**2 D).

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.kernels.battles import without_ties
    >>> half, out = np.full((2, 2), 0.5), np.zeros((2, 2))
    >>> codes = np.array([[3, 1], [1, 1], [2, 4]])
    >>> without_ties(codes, np.array([0, 0, 1]), half, out)
    >>> out.tolist()
    [[0.5, -0.5], [-0.5, 0.5]]
    """
    n_tasks, n_models = codes.shape
    for t in range(n_tasks):
        row, sums = codes[t], out[clusters[t]]
        for i in range(n_models):
            own = 0.0
            for j in range(i + 1, n_models):
                if row[i] < 0 or row[j] < 0 or row[i] == row[j]:
                    continue
                surprise = (1.0 if row[i] > row[j] else 0.0) - expected[i, j]
                own += surprise
                sums[j] -= surprise
            sums[i] += own
