"""Many models on a page: leaderboard, differences, ranks on a line, groups of ties."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from fastcmp.core.sections import Section
from fastcmp.datasets.datasets_result import DatasetsResult
from fastcmp.datasets.datasets_summary import beside_ranks
from fastcmp.pairwise.leaderboard import style_of
from fastcmp.pairwise.ranking import UNTESTED
from fastcmp.pairwise.summary import control_table, leaderboard_table
from fastcmp.report.blocks import Block, Text, said
from fastcmp.report.headline import headline
from fastcmp.report.matrix import matrix_of
from fastcmp.report.rank_diagram import diagram_of
from fastcmp.report.scales import Scale, around, linear, percent
from fastcmp.report.subsets import subsets_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fastcmp.pairwise.cochran import CochranResult
    from fastcmp.pairwise.result import PairwiseResult

#: Models whose rows are drawn; of more the others are found by a search.
MOST_ROWS = 1000
_LETTERS = 22  # of all ticks of a picture, and spaces between them
#: What points beside a control mean.
_BESIDE_CONTROL = (
    ("best", "significantly better"),
    ("worse", "significantly worse"),
    ("other", "not significantly different"),
)


@dataclass(frozen=True, kw_only=True)
class Bar:
    """An interval and a point, as places on an axis; None where there is none."""

    low: str | None
    high: str | None
    point: str | None
    #: "best", "other", or "untested".
    kind: str


@dataclass(frozen=True, kw_only=True)
class Picture:
    """A column of bars on one axis."""

    title: str
    axis: Scale
    bars: tuple[Bar, ...]
    #: Place of a line through all rows, such as that of no difference.
    lines: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, kw_only=True)
class Board(Block):
    """A table of models, with pictures behind some of its columns."""

    template: ClassVar[str] = "board.html.j2"
    styles: ClassVar[tuple[str, ...]] = ("boards.css",)
    scripts: ClassVar[tuple[str, ...]] = ("pair_map.js", "boards.js")
    section: Section
    #: The column of the models' names.
    name: int
    #: What rows are sorted by, where that is not what is written, by the column.
    values: dict[int, tuple[float | None, ...]]
    #: By the column that they stand behind.
    pictures: dict[int, Picture]
    #: What the points mean: kind and words.
    meanings: tuple[tuple[str, str], ...] = ()
    #: Rows without pictures, to be searched.
    more: tuple[tuple[str, ...], ...] = ()


def blocks_of_pairs(result: PairwiseResult) -> list[Block]:
    """Give the blocks of a comparison in pairs."""
    found: list[Block] = []
    for block in said(result, headline(result)):
        if block.title == f"Against {result.control}":
            found += [_against(result, str(result.control)), *_pictures(result)]
        elif block.title == "Leaderboard":
            found += [_leaderboard(result), *_pictures(result)]
        elif block.title != "Decisions":  # the matrix has them
            found.append(block)
    return found


def all_and_pairs(record: CochranResult) -> list[Block]:
    """Give the blocks of a test of all models, and of the pairs behind it."""
    texts = said(record, headline(record))
    if record.post_hoc is None:
        return [*texts]
    told = {section.title for section in record.post_hoc.sections()}
    own = [block for block in texts if block.title not in told]
    answer = Section(title="", text=(headline(record.post_hoc),))
    lead, *others = blocks_of_pairs(record.post_hoc)
    return [*own, Text(title="All pairs", section=answer), lead, *others]


def _pictures(result: PairwiseResult) -> list[Block]:
    """Give the other pictures; with a control no two others were compared."""
    if result.control is not None:
        return [matrix_of(result)]
    blocks = (matrix_of(result), diagram_of(result), subsets_of(result))
    return [block for block in blocks if block is not None]


def _leaderboard(result: PairwiseResult) -> Board:
    """Draw scores and ranks of all models, or the best of very many."""
    board = result.leaderboard
    n = len(board.names)
    section = _beside(result, leaderboard_table(result, n))
    kinds = _kinds(result)
    values: dict[int, Any] = {0: board.rank, 2: board.score}
    percent = style_of(board.measure, any_size=result.any_size) == "percent"
    scale = 100.0 if percent else 1.0  # as the column is written
    low, high = scale * board.interval.T
    scores = (low, scale * board.score, high)
    drawn = 3 if len(section.columns) > 3 and "CI" in section.columns[3] else 2
    pictures = {drawn: _picture(f"{board.measure}, drawn", scores, kinds)}
    if drawn == 3:
        values[3] = board.interval[:, 0]
    if board.rank_interval is not None:
        column = section.columns.index("ranks")
        first, last = board.rank_interval.T
        values[column] = first
        ranks = (first, board.rank, last)
        pictures[column] = _picture("ranks, drawn", ranks, kinds, n_ranks=n)
    return _cut(
        Board(
            title="Leaderboard",
            section=section,
            name=1,
            values={column: _sortable(x) for column, x in values.items()},
            pictures=pictures,
            meanings=_meanings(result, kinds),
        )
    )


def _beside(result: PairwiseResult, section: Section) -> Section:
    """Add the columns that a comparison over data sets has."""
    return beside_ranks(result, section) if isinstance(result, DatasetsResult) else section


def _against(result: PairwiseResult, control: str) -> Board:
    """Draw the differences of all others from the control."""
    found = result.against_control()
    section = _beside(result, control_table(result, control, len(result.names)))
    shape = section.columns
    column = shape.index("difference")
    low, middle, high = (np.append(np.nan, found[x]) for x in ("low", "difference", "high"))
    wins = {"better": "best", "worse": "worse", "no result": "untested"}
    kinds = ["", *(wins.get(x, "other") for x in found["result"])]
    drawn = column + ("CI" in shape[column + 1])
    marks: list[tuple[float, str]] = [(0.0, "zero")]
    if result.margins is not None:
        margin = float(result.margins.margin)
        marks += [(-margin, "margin"), (margin, "margin")]
    scale = 100.0 if result.measure == "accuracy" else 1.0
    ends = (scale * low, scale * middle, scale * high)
    title = f"difference from {control}, drawn"
    picture = _picture(title, ends, kinds, marks=[(scale * x, kind) for x, kind in marks])
    places = {"difference": middle, "p": found["pvalue"], "adjusted p": found["pvalue_adjusted"]}
    values = {
        shape.index(name): x if x.size == len(kinds) else np.append(np.nan, x)
        for name, x in places.items()
    }
    own = result.score[result.names.index(control)]
    values[1] = np.append(own, found[result.measure])
    return _cut(
        Board(
            title=section.title,
            section=section,
            name=0,
            values={column: _sortable(x) for column, x in values.items()},
            pictures={drawn: picture},
            meanings=tuple((kind, text) for kind, text in _BESIDE_CONTROL if kind in kinds),
        )
    )


def _cut(board: Board) -> Board:
    """Leave the rows of very many models to a search."""
    rows = board.section.rows
    if len(rows) <= MOST_ROWS:
        return board
    note = (
        f"The {MOST_ROWS} best of {len(rows)} models stand in this table; the search "
        "above it finds the others."
    )
    section = replace(board.section, rows=rows[:MOST_ROWS], notes=(note, *board.section.notes))
    return replace(board, section=section, more=rows[MOST_ROWS:])


def _sortable(values: Any) -> tuple[float | None, ...]:
    column = np.asarray(values)
    known = np.isfinite(column).tolist()
    return tuple(x if ok else None for x, ok in zip(column.tolist(), known, strict=True))


def _kinds(result: PairwiseResult) -> list[str]:
    """Sort the models of the leaderboard by what the tests say of them."""
    best = set(result.best)
    tested = (result.decisions != UNTESTED).any(axis=1)[result.leaderboard.models]
    return [
        "best" if name in best else "other" if known else "untested"
        for name, known in zip(result.leaderboard.names, tested, strict=True)
    ]


def _meanings(result: PairwiseResult, kinds: list[str]) -> tuple[tuple[str, str], ...]:
    """Say what the points mean, of the kinds that there are."""
    words = {
        "best": "significantly worse in no tested pair",
        "other": "significantly worse in a tested pair",
        "untested": "not tested",
    }
    if result.all_pairs_tested:
        words["best"] = "the best, and models not significantly different from it"
        words["other"] = "significantly worse than the best"
    return tuple((kind, text) for kind, text in words.items() if kind in kinds)


def _picture(
    title: str,
    numbers: tuple[Any, Any, Any],
    kinds: list[str],
    *,
    marks: Iterable[tuple[float, str]] = (),
    n_ranks: int = 0,
) -> Picture:
    """Place low ends, points and high ends of rows on one axis, or that of ranks."""
    marks = list(marks)
    columns = [np.asarray(column, np.float64) for column in numbers]
    ends = (1.0, float(n_ranks))
    if not n_ranks:
        ends = around(np.concatenate(columns), *(x for x, _ in marks), pad=0.03)
    scale = _scale(ends, whole=n_ranks > 0)
    places = [_places(scale, column) for column in columns]
    rows = zip(*places, kinds, strict=False)
    return Picture(
        title=title,
        axis=scale,
        bars=tuple(Bar(low=a, point=b, high=c, kind=kind) for a, b, c, kind in rows),
        lines=tuple((scale.place(x), kind) for x, kind in marks),
    )


def _scale(ends: tuple[float, float], *, whole: bool) -> Scale:
    """Make an axis with as many ticks as can be read."""
    for n in (4, 2, 1):
        scale = linear(*ends, n=n)
        if whole:
            ends_of_text = [tick.text.partition(".") for tick in scale.ticks]
            ticks = tuple(
                tick._replace(text=text)
                for tick, (text, _, part) in zip(scale.ticks, ends_of_text, strict=True)
                if not part.strip("0")
            )
            scale = scale._replace(ticks=ticks)
        if sum(len(tick.text) + 1 for tick in scale.ticks) <= _LETTERS:
            break
    return scale


def _places(scale: Scale, column: Any) -> list[str | None]:
    known = np.isfinite(column)
    parts = scale.part(np.where(known, column, scale.low)).tolist()
    return [percent(x) if ok else None for x, ok in zip(parts, known, strict=True)]
