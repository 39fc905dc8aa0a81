"""Which pairs of models can be equal together, and which models tie with each other."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from fastcmp.core.checks import as_whole
from fastcmp.kernels.multiplicity import fewest_models
from fastcmp.pairwise.ties import find_ties

_MOST_MODELS = 2000


class ShafferCounts(NamedTuple):
    """How many pairs of M models can be equal together."""

    #: All numbers of pairs that can be equal at once, ascending.
    counts: tuple[int, ...]
    #: What Shaffer's adjustment multiplies the i-th smallest p-value with.
    steps: tuple[int, ...]
    #: Sets of pairs that can be equal while all others differ, not counting the empty
    #: one: those that Bergmann and Hommel's adjustment looks at.
    n_exhaustive_sets: int


def shaffer_counts(n_models: int) -> ShafferCounts:
    """Count the pairs of M models that can be equal together.

    Parameters
    ----------
    n_models : int
        M, at least 2 and at most 2,000.

    Returns
    -------
    ShafferCounts
        All such counts; the steps of Shaffer's static adjustment, t_i the largest count
        that is at most P - i + 1 of P pairs; and the number of exhaustive sets, one
        less than there are partitions of the models (Bell's number).

    Raises
    ------
    ValueError
        If there are fewer than 2 models, or too many.
    TypeError
        If the number is not whole.

    References
    ----------
    .. [1] J. P. Shaffer, "Modified sequentially rejective multiple test procedures",
       JASA 81 (1986) 826-831.

    Examples
    --------
    >>> from fastcmp.datasets import shaffer_counts
    >>> found = shaffer_counts(5)
    >>> found.counts, found.steps, found.n_exhaustive_sets
    ((0, 1, 2, 3, 4, 6, 10), (10, 6, 6, 6, 6, 4, 4, 3, 2, 1), 51)
    """
    m = as_whole(n_models, "n_models", 2)
    if m > _MOST_MODELS:
        raise ValueError(f"n_models must be at most {_MOST_MODELS}, got {m}")
    n_pairs = m * (m - 1) // 2
    counts = np.flatnonzero(fewest_models(n_pairs) <= m)
    wanted = n_pairs - np.arange(n_pairs)
    steps = counts[np.searchsorted(counts, wanted, side="right") - 1]
    return ShafferCounts(tuple(counts.tolist()), tuple(steps.tolist()), _bell(m) - 1)


def _bell(n: int) -> int:
    """Count the partitions of n things, by Peirce's triangle."""
    row = [1]
    for _ in range(n - 1):
        following = [row[-1]]
        for x in row:
            following.append(following[-1] + x)
        row = following
    return row[-1]


def maximal_cliques(n_models: int, not_different: Any) -> tuple[tuple[int, ...], ...]:
    """Find all maximal sets of models of which no two are significantly different.

    Parameters
    ----------
    n_models : int
        M, at least 1.
    not_different : sequence of pairs, or array-like of bool of shape (M, M)
        The pairs of models, by index, that are not significantly different.

    Returns
    -------
    tuple of tuple of int
        Sets in ascending order, each of models in ascending order; a model that is
        different from all others is a set of its own.

    Raises
    ------
    ValueError
        If a pair is not of two models, or there are more than 1,000 sets.
    TypeError
        If these are no pairs.

    Notes
    -----
    By Bron and Kerbosch's search with pivots. The groups of ties of a comparison,
    `PairwiseResult.tie_groups`, are found in the same way.

    References
    ----------
    .. [1] C. Bron, J. Kerbosch, "Finding all cliques of an undirected graph", CACM 16
       (1973) 575-577.

    Examples
    --------
    >>> from fastcmp.datasets import maximal_cliques
    >>> maximal_cliques(4, [(0, 1), (0, 2), (2, 3)])
    ((0, 1), (0, 2), (2, 3))
    """
    m = as_whole(n_models, "n_models", 1)
    tied = _as_graph(not_different, m)
    groups, complete = find_ties(np.arange(m), tied)
    if not complete:
        raise ValueError(
            "not_different must have at most 1,000 maximal cliques, and this graph "
            "has more: use fewer models"
        )
    return groups


def _as_graph(not_different: Any, m: int) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Read pairs, or a matrix of bools, as a symmetric matrix."""
    wanted = f"not_different must be pairs of indices below {m}, or bools ({m}, {m})"
    if isinstance(not_different, (str, bytes)) or not isinstance(not_different, Iterable):
        raise TypeError(f"{wanted}, got {not_different!r}")
    try:
        given = np.asarray(
            not_different
            if hasattr(not_different, "shape")
            else [tuple(pair) for pair in not_different]
        )
    except (TypeError, ValueError):
        raise TypeError(f"{wanted}, got something else") from None
    tied = np.zeros((m, m), bool)
    if given.dtype == np.bool_ and given.shape == (m, m):
        tied |= given | given.T
    elif given.size:
        if given.dtype.kind not in "iu" or given.ndim != 2 or given.shape[1] != 2:
            raise TypeError(f"{wanted}, got {given.dtype} of shape {given.shape}")
        i, j = given.T
        if given.min() < 0 or given.max() >= m or (i == j).any():
            raise ValueError(f"{wanted}, got {given.tolist()[:3]}")
        tied[i, j] = tied[j, i] = True
    np.fill_diagonal(tied, val=False)
    return tied
