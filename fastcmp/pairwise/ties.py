"""Groups of ties: models of which no pair is significantly different."""

from __future__ import annotations

from dataclasses import dataclass
from string import ascii_lowercase
from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp.core.records import Record
from fastcmp.core.sections import Section

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MAX_GROUPS = 1000
_MAX_WORK = 2_000_000  # comparisons of neighbourhoods: about a second


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class TieGroups(Record):
    """Sets of models of which no pair is significantly different, best first."""

    #: All models, in the order of the input.
    names: tuple[str, ...]
    #: Indices of models, each group in the order of the ranking.
    groups: tuple[tuple[int, ...], ...]
    #: Whether these are all the maximal sets; if not, they are the runs of neighbours
    #: in the ranking, because the maximal sets are too many to list.
    complete: bool

    @property
    def named(self) -> tuple[tuple[str, ...], ...]:
        """The groups, by the names of their models."""
        return tuple(tuple(self.names[i] for i in group) for group in self.groups)

    @property
    def letters(self) -> tuple[str, ...]:
        """The letters of each model: models with a common one are in a common group.

        Empty strings where there are more than 26 groups.
        """
        marks = [""] * len(self.names)
        if len(self.groups) <= len(ascii_lowercase):
            for letter, group in zip(ascii_lowercase, self.groups, strict=False):
                for model in group:
                    marks[model] += letter
        return tuple(marks)

    def columns(self) -> dict[str, Any]:
        """Give the groups as columns.

        Returns
        -------
        dict of str to sequence
            A row for each model of each group: the number of the group, from 1, and
            the model.
        """
        rows = [(k, name) for k, group in enumerate(self.named, 1) for name in group]
        return {"group": [k for k, _ in rows], "model": [name for _, name in rows]}

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            A line for each group.
        """
        lines = [f"{k}: {', '.join(group)}" for k, group in enumerate(self.named, 1)]
        few = "There are too many groups to list all: these are runs of the ranking."
        return [
            Section(
                title="Groups of models of which no pair is significantly different",
                text=tuple(lines),
                notes=() if self.complete else (few,),
            )
        ]


def find_ties(
    order: NDArray[np.int64], tied: NDArray[np.bool_]
) -> tuple[tuple[tuple[int, ...], ...], bool]:
    """Find all maximal sets of models in which every pair is tied, best first.

    Ties are not transitive, so a model may be in several sets: they are the maximal
    cliques of the graph of ties [1]_, as for a compact letter display [2]_. Where these
    are too many, the answer is the maximal runs of neighbours in the ranking without a
    significant difference, and False: not every tie is inside one.

    .. [1] C. Bron, J. Kerbosch, "Finding all cliques of an undirected graph", CACM 16
       (1973) 575-577.
    .. [2] H.-P. Piepho, "An algorithm for a letter-based representation of all-pairwise
       comparisons", J. Computational and Graphical Statistics 13 (2004) 456-466.

    >>> tied = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]], bool)
    >>> find_ties(np.arange(3), tied)
    (((0, 1), (1, 2)), True)
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
    return tuple(tuple(models[i] for i in group) for group in sorted(groups)), complete


def _bit_rows(tied: NDArray[np.bool_]) -> list[int]:
    """Write each model's ties as one integer, bit j for model j."""
    packed = np.packbits(tied, axis=1, bitorder="little")
    return [int.from_bytes(row.tobytes(), "little") for row in packed]


def _maximal_cliques(neighbours: list[int]) -> list[tuple[int, ...]] | None:
    """Find them by Bron and Kerbosch's search with pivots; None beyond the limits."""
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
            _members(candidates | excluded), key=lambda v: (candidates & neighbours[v]).bit_count()
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
    """Find the end of the longest run of ties that starts with each model."""
    n = tied.shape[0]
    decided = np.triu(~tied, 1)
    first = np.where(decided.any(axis=1), decided.argmax(axis=1), n)
    return np.minimum.accumulate(first[::-1])[::-1]


def _runs(ends: NDArray[np.int64]) -> list[tuple[int, ...]]:
    """List the maximal runs of neighbours in which all pairs are tied."""
    starts = np.flatnonzero(np.diff(ends, prepend=0) > 0).tolist()
    return [tuple(range(i, int(ends[i]))) for i in starts]
