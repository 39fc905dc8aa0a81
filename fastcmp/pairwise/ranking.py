"""Decisions about pairs as a matrix of models, and the ranks that they allow."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fastcmp.core.threads import parts

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: What a test decides about the model of a row and that of a column: significantly
#: better, significantly worse, not significantly different, significantly different
#: with equal scores, or not tested.
BETTER, WORSE, TIED, EVEN, UNTESTED = 1, -1, 0, 2, 3

_SQUARE = 512  # models of a side: two squares stay in a second-level cache


def decisions_of(
    n_models: int,
    pairs: NDArray[np.int32],
    significant: NDArray[np.bool_],
    gain: NDArray[np.float64],
) -> NDArray[np.int8]:
    """Write decisions about P pairs as a matrix of M models.

    `gain` is by how much the first of a pair is better, negative where it is worse.

    >>> pairs, significant = np.array([[0, 1]]), np.array([True])
    >>> decisions_of(2, pairs, significant, np.array([0.25])).tolist()
    [[3, 1], [-1, 3]]
    """
    decisions = np.full((n_models, n_models), UNTESTED, np.int8)
    found = _decide(significant, gain)
    i, j = pairs.T
    decisions[i, j] = found
    decisions[j, i] = _mirrored(found)
    return decisions


def decisions_of_all(
    significant: NDArray[np.bool_], score: NDArray[np.float64]
) -> NDArray[np.int8]:
    """Do the same for all pairs, row by row and without a list of them.

    Pairs are in the order of ``np.triu_indices(M, 1)``; a higher score is better.
    """
    n_models = score.size
    decisions = np.empty((n_models, n_models), np.int8)
    start = 0
    for i in range(n_models):
        end = start + n_models - 1 - i
        gain = score[i] - score[i + 1 :]
        decisions[i, i + 1 :] = _decide(significant[start:end], gain)
        start = end
    # The other half in squares: a column at a time would jump from row to row.
    for rows in parts(n_models, _SQUARE):
        for columns in parts(rows.stop, _SQUARE):
            seen = _mirrored(decisions[columns, rows]).T
            if rows == columns:
                below = np.tri(len(seen), dtype=bool, k=-1)
                np.copyto(decisions[rows, rows], seen, where=below)
            else:
                decisions[rows, columns] = seen
    np.fill_diagonal(decisions, UNTESTED)
    return decisions


def _decide(significant: NDArray[np.bool_], gain: NDArray[np.float64]) -> NDArray[np.int8]:
    winner = np.where(gain > 0, np.int8(BETTER), np.int8(EVEN))
    winner[gain < 0] = WORSE
    return np.where(significant, winner, np.int8(TIED))


def _mirrored(decisions: NDArray[np.int8]) -> NDArray[np.int8]:
    """Look at decisions from the other model of each pair."""
    return np.where(decisions == EVEN, decisions, -decisions)


def rank_intervals(decisions: NDArray[np.int8]) -> NDArray[np.int64]:
    """Bound the rank of each model: 1 + those significantly better, M - those worse.

    If the probability of any false decision is at most alpha, all true ranks lie in
    their intervals with probability at least 1 - alpha. A pair that was not tested
    leaves the intervals of its models wider.

    >>> pairs = np.array([[0, 1], [0, 2], [1, 2]])
    >>> significant, gain = np.array([False, True, True]), np.array([0.1, 0.2, 0.1])
    >>> rank_intervals(decisions_of(3, pairs, significant, gain)).tolist()
    [[1, 2], [1, 2], [3, 3]]
    """
    wins = np.count_nonzero(decisions == BETTER, axis=1)
    losses = np.count_nonzero(decisions == WORSE, axis=1)
    return np.stack([1 + losses, len(decisions) - wins], axis=1)
