"""What pairwise decisions say about a ranking: rank intervals and groups of ties."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fastcmp.core.threads import parts

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: What is known of two models: see `verdicts_of`.
TIED, BEATS, LOSES, EVEN, UNTESTED = 0, 1, -1, 2, 3
#: Adjustments that bound the probability of even one false decision. Only after these
#: do intervals of ranks hold.
FAMILYWISE = ("bonferroni", "sidak", "holm", "holm-sidak", "hochberg", "hommel")

_SQUARE = 512  # models of a side: two squares stay in a second-level cache
_MAX_GROUPS = 1000
_MAX_WORK = 2_000_000  # comparisons of neighbourhoods: about a second


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Leaderboard:
    """Models from best to worst; all arrays in that order."""

    names: tuple[str, ...]
    #: Position of each model in the input, shape (M,).
    models: NDArray[np.int64]
    #: 1 + the number of better models, shape (M,).
    rank: NDArray[np.int64]
    #: What the models are ranked by: "accuracy", or "cost" where less is better.
    measure: str
    score: NDArray[np.float64]
    #: Interval for each score by itself, shape (M, 2).
    interval: NDArray[np.float64]
    #: Ranks that the decisions leave open, shape (M, 2). None where the adjustment does
    #: not bound the probability of a false decision ("bh", "by", "none").
    rank_interval: NDArray[np.int64] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TieGroups:
    """Sets of models of which no pair is significantly different, best first."""

    #: Indices of models, each group in the order of the ranking.
    groups: tuple[tuple[int, ...], ...]
    #: Whether these are all the maximal sets; if not, they are the runs of neighbours
    #: in the ranking, because the maximal sets are too many to list.
    complete: bool


def verdicts_of(
    n_models: int,
    pairs: NDArray[np.int32],
    told: NDArray[np.bool_],
    gain: NDArray[np.float64],
) -> NDArray[np.int8]:
    """Lay out who beats whom as a matrix of models.

    Parameters
    ----------
    n_models : int
        How many models (M).
    pairs : ndarray of int32, shape (P, 2)
        The pairs that were tested.
    told : ndarray of bool, shape (P,)
        Which of them are told apart.
    gain : ndarray of float64, shape (P,)
        By how much the first of a pair is better; negative where it is worse.

    Returns
    -------
    ndarray of int8, shape (M, M)
        `BEATS` where the model of the row beats that of the column, `LOSES`, `TIED`,
        `EVEN` where two are told apart and neither is better, or `UNTESTED`.

    Examples
    --------
    >>> import numpy as np
    >>> pairs, told = np.array([[0, 1]]), np.array([True])
    >>> verdicts_of(2, pairs, told, np.array([0.25])).tolist()
    [[3, 1], [-1, 3]]
    """
    verdicts = np.full((n_models, n_models), UNTESTED, np.int8)
    found = _verdicts(told, gain)
    i, j = pairs.T
    verdicts[i, j] = found
    verdicts[j, i] = _seen_from_the_other(found)
    return verdicts


def verdicts_of_all(
    told: NDArray[np.bool_], score: NDArray[np.float64]
) -> NDArray[np.int8]:
    """Lay out who beats whom where all pairs were tested.

    Parameters
    ----------
    told : ndarray of bool, shape (M * (M - 1) / 2,)
        Which pairs are told apart, in the order of ``np.triu_indices(M, 1)``.
    score : ndarray of float64, shape (M,)
        More is better.

    Returns
    -------
    ndarray of int8, shape (M, M)
        As from `verdicts_of`, row by row and without a list of the pairs.
    """
    n_models = score.size
    verdicts = np.empty((n_models, n_models), np.int8)
    start = 0
    for i in range(n_models):
        end = start + n_models - 1 - i
        verdicts[i, i + 1 :] = _verdicts(told[start:end], score[i] - score[i + 1 :])
        start = end
    # The other half in squares: a column at a time would jump from row to row.
    for rows in parts(n_models, _SQUARE):
        for columns in parts(rows.stop, _SQUARE):
            seen = _seen_from_the_other(verdicts[columns, rows]).T
            if rows == columns:
                np.copyto(verdicts[rows, rows], seen, where=_below(seen.shape[0]))
            else:
                verdicts[rows, columns] = seen
    np.fill_diagonal(verdicts, UNTESTED)
    return verdicts


def _below(n: int) -> NDArray[np.bool_]:
    return np.tri(n, n, -1, dtype=bool)


def _verdicts(told: NDArray[np.bool_], gain: NDArray[np.float64]) -> NDArray[np.int8]:
    winner = np.where(gain > 0, np.int8(BEATS), np.int8(EVEN))
    winner[gain < 0] = LOSES
    return np.where(told, winner, np.int8(TIED))


def _seen_from_the_other(verdicts: NDArray[np.int8]) -> NDArray[np.int8]:
    return np.where(verdicts == EVEN, verdicts, -verdicts)


def rank_intervals(verdicts: NDArray[np.int8]) -> NDArray[np.int64]:
    """Bound the rank of each model, given who significantly beats whom.

    If the probability of any false decision is at most alpha, all true ranks lie in
    their intervals with probability at least 1 - alpha. A pair that was not tested
    decides nothing, and so leaves the intervals of its models wider.

    Parameters
    ----------
    verdicts : ndarray of int8, shape (M, M)
        As from `verdicts_of`.

    Returns
    -------
    ndarray of int64, shape (M, 2)
        1 + the number of models that beat it, and M - the number that it beats.

    Examples
    --------
    >>> import numpy as np
    >>> pairs = np.array([[0, 1], [0, 2], [1, 2]])
    >>> told, gain = np.array([False, True, True]), np.array([0.1, 0.2, 0.1])
    >>> rank_intervals(verdicts_of(3, pairs, told, gain)).tolist()
    [[1, 2], [1, 2], [3, 3]]
    """
    wins = np.count_nonzero(verdicts == BEATS, axis=1)
    losses = np.count_nonzero(verdicts == LOSES, axis=1)
    return np.stack([1 + losses, len(verdicts) - wins], axis=1)


def tie_groups(order: NDArray[np.int64], tied: NDArray[np.bool_]) -> TieGroups:
    """All maximal sets of models in which every pair is tied.

    Ties are not transitive, so a model may be in several sets: they are the maximal
    cliques of the graph of ties. Where these are too many, the maximal runs of
    neighbours in the ranking without a decided pair are given instead: each still is a
    set of ties, but not every tie is inside one.

    Parameters
    ----------
    order : ndarray of int, shape (M,)
        Models from best to worst.
    tied : ndarray of bool, shape (M, M)
        Symmetric; which pairs were tested and not told apart.

    Returns
    -------
    TieGroups
        The sets, ordered by their best model.

    References
    ----------
    .. [1] C. Bron, J. Kerbosch, "Finding all cliques of an undirected graph", CACM 16
       (1973) 575-577.
    .. [2] H.-P. Piepho, "An algorithm for a letter-based representation of all-pairwise
       comparisons", J. Computational and Graphical Statistics 13 (2004) 456-466.

    Examples
    --------
    >>> import numpy as np
    >>> tied = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]], bool)
    >>> tie_groups(np.arange(3), tied).groups
    ((0, 1), (1, 2))
    """
    ranked = tied[np.ix_(order, order)]
    ends = _run_ends(ranked)
    groups = _runs(ends)
    # Where the runs hold every tie, they are the cliques.
    inside = int((ends - np.arange(1, ends.size + 1)).sum())
    complete = 2 * inside == int(np.count_nonzero(ranked))
    if not complete:
        cliques = _maximal_cliques(_bit_rows(ranked))
        complete = cliques is not None
        groups = groups if cliques is None else cliques
    models = order.tolist()
    named = tuple(tuple(models[i] for i in group) for group in sorted(groups))
    return TieGroups(groups=named, complete=complete)


def _bit_rows(tied: NDArray[np.bool_]) -> list[int]:
    """Each model's ties as one integer, bit j for model j."""
    packed = np.packbits(tied, axis=1, bitorder="little")
    return [int.from_bytes(row.tobytes(), "little") for row in packed]


def _maximal_cliques(neighbours: list[int]) -> list[tuple[int, ...]] | None:
    """Bron and Kerbosch's search with pivots; None beyond the limits."""
    found: list[tuple[int, ...]] = []
    everyone = (1 << len(neighbours)) - 1
    stack: list[tuple[tuple[int, ...], int, int]] = [((), everyone, 0)]
    work = 0
    width = 1 + len(neighbours) // 2000  # a comparison of long rows takes longer
    while stack:
        clique, candidates, excluded = stack.pop()
        work += 1 + width * (candidates | excluded).bit_count()
        if not candidates and not excluded:
            found.append(tuple(sorted(clique)))
        if work > _MAX_WORK or len(found) > _MAX_GROUPS:
            return None
        if not candidates:
            continue
        pivot = max(
            _members(candidates | excluded),
            key=lambda v: (candidates & neighbours[v]).bit_count(),
        )
        for v in _members(candidates & ~neighbours[pivot]):
            near = neighbours[v]
            stack.append(((*clique, v), candidates & near, excluded & near))
            candidates &= ~(1 << v)
            excluded |= 1 << v
    return found


def _members(bits: int) -> list[int]:
    members = []
    while bits:
        low = bits & -bits
        members.append(low.bit_length() - 1)
        bits ^= low
    return members


def _run_ends(tied: NDArray[np.bool_]) -> NDArray[np.int64]:
    """For each model, the end of the longest run of ties that starts with it."""
    n = tied.shape[0]
    decided = np.triu(~tied, 1)
    first = np.where(decided.any(axis=1), decided.argmax(axis=1), n)
    return np.minimum.accumulate(first[::-1])[::-1]


def _runs(ends: NDArray[np.int64]) -> list[tuple[int, ...]]:
    """Maximal runs of neighbours in which all pairs are tied."""
    starts = np.flatnonzero(np.diff(ends, prepend=0) > 0).tolist()
    return [tuple(range(i, int(ends[i]))) for i in starts]


def letters(groups: tuple[tuple[int, ...], ...], n_models: int) -> list[str]:
    """Compact letter display: models that share a letter cannot be told apart.

    Parameters
    ----------
    groups : tuple of tuples of int
        Sets of ties.
    n_models : int
        How many models.

    Returns
    -------
    list of str
        The letters of each model; empty strings where there are more than 26 groups.

    Examples
    --------
    >>> letters(((0, 1), (1, 2)), 3)
    ['a', 'ab', 'b']
    """
    marks = [""] * n_models
    if len(groups) <= 26:
        for letter, group in zip("abcdefghijklmnopqrstuvwxyz", groups, strict=False):
            for model in group:
                marks[model] += letter
    return marks
