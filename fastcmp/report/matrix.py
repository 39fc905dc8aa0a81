"""Who differs from whom: a table of few models, a map of many, each pair in full."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from fastcmp.core.sections import format_pvalue
from fastcmp.pairwise.leaderboard import format_difference, format_ends, style_of
from fastcmp.pairwise.ranking import BETTER, EVEN, TIED, UNTESTED, WORSE
from fastcmp.report.blocks import Block
from fastcmp.report.pair_data import interval_of, pair_data, rounding

if TYPE_CHECKING:
    from fastcmp.pairwise.result import PairwiseResult

#: Models of a table; a map of more is drawn by boards.js.
MOST_IN_TABLE = 20
_KINDS = {
    BETTER: ("better", "▲", "significantly better"),
    WORSE: ("worse", "▼", "significantly worse"),
    TIED: ("tied", "", "not significantly different"),
    EVEN: ("even", "◆", "different, but equal on average"),
    UNTESTED: ("untested", "\u2013", "not tested"),
}


@dataclass(frozen=True, kw_only=True)
class Cell:
    """A model of a row beside that of a column."""

    row: int
    column: int
    kind: str
    mark: str
    text: str
    #: All that is known, in a sentence without names.
    says: str


@dataclass(frozen=True, kw_only=True)
class Matrix(Block):
    """The decisions about all pairs, and what is known of each."""

    template: ClassVar[str] = "matrix.html.j2"
    styles: ClassVar[tuple[str, ...]] = ("boards.css",)
    scripts: ClassVar[tuple[str, ...]] = ("pair_map.js", "boards.js")
    says: tuple[str, ...]
    #: Of the table, in order of rank, and its cells, None on the diagonal; empty where
    #: a map is drawn.
    names: tuple[str, ...] = ()
    cells: tuple[tuple[Cell | None, ...], ...] = ()
    #: Kind, mark and meaning of the decisions that there are.
    legend: tuple[tuple[str, str, str], ...]
    #: For boards.js.
    data: dict[str, Any]
    #: What is rounded.
    note: str


def matrix_of(result: PairwiseResult) -> Matrix:
    """Show the decisions about all pairs."""
    n = len(result.names)
    small = n <= MOST_IN_TABLE
    data = pair_data(result)
    found = set(np.unique(result.decisions[~np.eye(n, dtype=bool)]).tolist())
    return Matrix(
        title="Who differs from whom",
        says=_says(result, small=small),
        names=result.leaderboard.names if small else (),
        cells=_cells(result) if small else (),
        legend=tuple(kind for code, kind in _KINDS.items() if code in found),
        data=data,
        note=rounding(result, data),
    )


def _says(result: PairwiseResult, *, small: bool) -> tuple[str, ...]:
    """Say what the table or the map shows."""
    unit = " in percentage points" if result.measure == "accuracy" else ""
    less = "; lower is better" if result.less_is_better else ""
    ranked = "The models are in the order of the leaderboard."
    read = f"Each row is compared with each column: {result.measure} of the row's model"
    if small:
        return (f"{read} minus that of the column's{unit}{less}. {ranked}",)
    return (f"Each point is a pair, a row's model beside a column's. {ranked}",)


def _cells(result: PairwiseResult) -> tuple[tuple[Cell | None, ...], ...]:
    """Write all pairs as cells, best models first."""
    order = result.leaderboard.models.tolist()
    numbers = _numbers(result)
    return tuple(
        tuple(
            None if i == j else _cell(result, (row, column), numbers.get((i, j)))
            for column, j in enumerate(order)
        )
        for row, i in enumerate(order)
    )


def _numbers(result: PairwiseResult) -> dict[tuple[int, int], Any]:
    """Give difference, interval and adjusted p-value of kept pairs, both ways round."""
    found: dict[tuple[int, int], Any] = {}
    columns = (result.difference, *result.interval.T, result.pvalue_adjusted)
    for (i, j), d, low, high, p in zip(
        result.pairs.tolist(), *(column.tolist() for column in columns), strict=True
    ):
        found[i, j] = d, (low, high), p
        found[j, i] = 0.0 - d, (0.0 - high, 0.0 - low), p
    return found


def _cell(result: PairwiseResult, place: tuple[int, int], known: Any) -> Cell:
    order = result.leaderboard.models
    i, j = order[list(place)]
    kind, mark, meaning = _KINDS[int(result.decisions[i, j])]
    text, says = "", meaning
    if known is not None and kind != "untested":
        style = style_of(result.measure, any_size=result.any_size)
        difference, ends, pvalue = known
        text = format_difference(difference, style)
        interval = (
            ""
            if np.isnan(ends).any()
            else (f", {interval_of(result)} {format_ends(ends, style, '+')}")
        )
        says = f"{text}{interval}, adjusted p {format_pvalue(pvalue)}: {meaning}"
    row, column = place
    return Cell(row=row, column=column, kind=kind, mark=mark, text=text, says=says)
