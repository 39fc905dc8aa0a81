"""Many models on a page: leaderboard, differences, ranks on a line, groups of ties."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from string import ascii_lowercase
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from fastcmp import pictures
from fastcmp.core.render import visible
from fastcmp.core.sections import Section
from fastcmp.datasets.comparison import DatasetsResult, beside_ranks
from fastcmp.pairwise.result import PairwiseResult, control_table, leaderboard_table
from fastcmp.pairwise.slices_result import IN_SLICES
from fastcmp.report.blocks import MOST_ROWS, Block, Text, said
from fastcmp.report.charts import Guide, Intervals, Scale, around, linear, placed, slice_map
from fastcmp.report.matrix import matrix_of

if TYPE_CHECKING:
    from fastcmp.pairwise.cochran import CochranResult

#: Names that are written of a group; groups without letters, and names of these.
_MOST_NAMES, _MOST_GROUPS, _FEW_NAMES = 40, 12, 4


def subsets_of(result: PairwiseResult) -> Text | None:
    """List the groups of ties, best first; None where there is none of two models."""
    ties = result.groups
    groups = ties.groups
    if all(len(group) < 2 for group in groups):
        return None
    lettered = any(ties.letters)
    most = _MOST_NAMES if lettered else _FEW_NAMES
    rows = tuple(
        (
            ascii_lowercase[k] if lettered else str(k + 1),
            str(len(group)),
            _listed([visible(result.names[i]) for i in group], most),
        )
        for k, group in enumerate(groups if lettered else groups[:_MOST_GROUPS])
    )
    notes: tuple[str, ...] = ()
    if len(groups) > len(rows):
        notes = (f"... and {len(groups) - len(rows)} more groups: in Python, result.tie_groups.",)
    text = "No two models of a group are significantly different"
    text += f" at {result.alpha:g}; a model may be in several groups."
    if not ties.complete:
        text += " There are too many groups to find all: these are runs of the ranking."
    return Text(
        title="Groups of models that are not significantly different",
        section=Section(
            title="Groups of models",
            text=(text,),
            columns=("letter" if lettered else "group", "models", "best first"),
            rows=rows,
            notes=notes,
        ),
    )


def _listed(names: list[str], most: int) -> str:
    if len(names) <= most:
        return ", ".join(names)
    return f"{', '.join(names[:most])} and {len(names) - most} more"


# Models on the line of their scores or mean ranks as SVG, ties joined by bars.


#: Models of a diagram that can be read.
MOST_MODELS = 40
_MOST_BARS = 30
#: In units of the picture: width, where the axis begins and ends, and heights.
_WIDTH, _LEFT, _RIGHT = 860, 240, 620
_AXIS, _BAR, _ROW = 46, 13, 22
_LETTERS = 22  # of a name


@dataclass(frozen=True, kw_only=True)
class RankDiagram(Block):
    """Models on the line of their scores or mean ranks."""

    template: ClassVar[str] = "rank_diagram.html.j2"
    styles: ClassVar[tuple[str, ...]] = ("boards.css",)
    width: ClassVar[int] = _WIDTH
    left: ClassVar[int] = _LEFT
    right: ClassVar[int] = _RIGHT
    axis: ClassVar[int] = _AXIS
    picture: pictures.Ranking
    says: str
    describes: str
    #: Names as they are written.
    names: tuple[str, ...]
    scale: Scale

    @property
    def top(self) -> int:
        """Where the names begin."""
        return self.tie(self.picture.n_levels)

    @property
    def height(self) -> int:
        """Of the picture."""
        return self.top + _ROW * self.picture.n_rows + 4

    def x(self, place: float) -> float:
        """Where a place on the axis is."""
        low, high = self.picture.low, self.picture.high
        return round(_LEFT + float((place - low) / (high - low)) * (_RIGHT - _LEFT), 1)

    def tie(self, level: int) -> int:
        """How high a bar lies."""
        return _AXIS + _BAR * (level + 1)

    def y(self, row: int) -> float:
        """How high a name stands."""
        return self.top + _ROW * (row + 0.5)


def diagram_of(result: PairwiseResult) -> RankDiagram | None:
    """Draw few models whose scores are all known; None for others."""
    if not 2 < len(result.names) <= MOST_MODELS or not np.isfinite(result.score).all():
        return None
    picture = pictures.ranking(result)
    if len(picture.ties) > _MOST_BARS:
        return None
    says = (
        "The best models are on the right. Each bar joins models of which no two are "
        f"significantly different at {picture.alpha:g}; only models dotted on the bar belong to it."
    )
    if picture.n_untested:
        says += f" {picture.n_untested} pairs were not tested: no bar joins these."
    ties = "; ".join(", ".join(picture.names[m] for m in tie.models) for tie in picture.ties)
    return RankDiagram(
        title=picture.title,
        picture=picture,
        says=says,
        describes=f"From best to worst: {', '.join(result.leaderboard.names)}. "
        f"Bars: {ties or 'none'}.",
        names=tuple(short_names([visible(name) for name in picture.names], _LETTERS)),
        scale=linear(picture.low, picture.high),
    )


def short_names(names: list[str], letters: int) -> list[str]:
    """Leave the middle of long names out; first what all begin with, where that tells none apart.

    >>> short_names(["a-long-name-of-a-model-1", "short"], 12)
    ['a-long…odel-1', 'short']
    >>> short_names(["org/model-7b-instruct-v1", "org/model-8b-instruct-v1"], 12)
    ['…7b-in…uct-v1', '…8b-in…uct-v1']
    """
    half = letters // 2
    short = [x if len(x) <= letters else f"{x[:half]}\u2026{x[-half:]}" for x in names]
    begin = next((i for i, x in enumerate(zip(*names, strict=False)) if len({*x}) > 1), 0)
    if begin < 2 or len({*short}) == len({*names}):
        return short
    return short_names([f"\u2026{x[begin:]}" for x in names], letters)


#: What points beside a control mean.
_BESIDE_CONTROL = (
    ("best", "significantly better"),
    ("worse", "significantly worse"),
    ("other", "not significantly different"),
)


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
    pictures: dict[int, Intervals]
    #: What the points mean: kind and words.
    meanings: tuple[tuple[str, str], ...] = ()
    #: Rows without pictures, to be searched.
    more: tuple[tuple[str, ...], ...] = ()


def blocks_of_pairs(result: PairwiseResult) -> list[Block]:
    """The blocks of a comparison in pairs."""
    blocks: list[Block] = []
    for block in said(result):
        if block.title == f"Against {result.control}":
            blocks += [_against(result, str(result.control)), *_pictures(result)]
        elif block.title == "Leaderboard":
            blocks += [_leaderboard(result), *_pictures(result)]
        elif block.title != "Decisions":  # the matrix has them
            blocks.append(block)
        if block.title != IN_SLICES or result.slices is None:
            continue
        if (drawn := slice_map(result.slices)) is not None:
            blocks.append(drawn)
    return blocks


def all_and_pairs(record: CochranResult) -> list[Block]:
    """The blocks of a test of all models, and of the pairs behind it."""
    texts = said(record)
    if record.post_hoc is None:
        return [*texts]
    titles = {section.title for section in record.post_hoc.sections()}
    own_blocks = [block for block in texts if block.title not in titles]
    answer = Section(title="", text=(record.post_hoc._reported._headline(),))
    lead, *others = blocks_of_pairs(record.post_hoc)
    return [*own_blocks, Text(title="All pairs", section=answer), lead, *others]


def _pictures(result: PairwiseResult) -> list[Block]:
    """The other pictures; with a control no two others were compared."""
    if result.control is not None:
        return [matrix_of(result)]
    blocks = (matrix_of(result), diagram_of(result), subsets_of(result))
    return [block for block in blocks if block is not None]


def _leaderboard(result: PairwiseResult) -> Board:
    """Draw scores and ranks of all models, or the best of very many."""
    board = result.leaderboard
    section = _beside(result, leaderboard_table(result))
    picture = pictures.leaderboard(result)
    values: dict[int, Any] = {0: board.rank, 2: board.score}
    drawn = 3 if len(section.columns) > 3 and "CI" in section.columns[3] else 2
    behind = {drawn: _behind(f"{board.measure}, drawn", picture.rows)}
    if drawn == 3:
        values[3] = board.interval[:, 0]
    if board.rank_interval is not None:
        column = section.columns.index("ranks")
        first, last = board.rank_interval.T
        values[column] = first
        rows = [
            row._replace(value=rank, low=low, high=high)
            for row, rank, low, high in zip(
                picture.rows, board.rank.tolist(), first.tolist(), last.tolist(), strict=True
            )
        ]
        behind[column] = _behind("ranks, drawn", rows, n_ranks=len(rows))
    return _cut(
        Board(
            title="Leaderboard",
            section=section,
            name=1,
            values={column: _sortable(x) for column, x in values.items()},
            pictures=behind,
            meanings=picture.meanings,
        )
    )


def _beside(result: PairwiseResult, section: Section) -> Section:
    """Add the columns that a comparison over data sets has."""
    return beside_ranks(result, section) if isinstance(result, DatasetsResult) else section


def _against(result: PairwiseResult, control: str) -> Board:
    """Draw the differences of all others from the control."""
    comparison = result.against_control()
    section = _beside(result, control_table(result, control))
    shape = section.columns
    column = shape.index("difference")
    low, middle, high = (np.append(np.nan, comparison[x]) for x in ("low", "difference", "high"))
    wins = {"better": "best", "worse": "worse", "no result": "untested"}
    kinds = ["", *(wins.get(x, "other") for x in comparison["result"])]
    drawn = column + ("CI" in shape[column + 1])
    scale = 100.0 if result.measure == "accuracy" else 1.0
    rules = [pictures.Rule(0.0)]
    if result.margins is not None:
        margin = scale * float(result.margins.margin)
        rules += [pictures.Rule(x, kind="margin") for x in (-margin, margin)]
    numbers = (scale * np.column_stack([middle, low, high])).tolist()
    rows = [
        pictures.Row("", *x)._replace(kind=kind) for x, kind in zip(numbers, kinds, strict=True)
    ]
    picture = _behind(f"difference from {control}, drawn", rows, rules)
    places = {
        "difference": middle,
        "p": comparison["pvalue"],
        "adjusted p": comparison["pvalue_adjusted"],
    }
    values = {
        shape.index(name): x if x.size == len(kinds) else np.append(np.nan, x)
        for name, x in places.items()
    }
    control_score = result.score[result.names.index(control)]
    values[1] = np.append(control_score, comparison[result.measure])
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


def _sortable(values: object) -> tuple[float | None, ...]:
    column = np.asarray(values)
    is_finite = np.isfinite(column).tolist()
    return tuple(x if ok else None for x, ok in zip(column.tolist(), is_finite, strict=True))


def _behind(
    title: str, rows: Sequence[pictures.Row], rules: Sequence[pictures.Rule] = (), n_ranks: int = 0
) -> Intervals:
    """Rows on one axis, or that of ranks, with as many ticks as can be read."""
    ends = (1.0, float(n_ranks))
    if not n_ranks:
        numbers = [x for row in rows for x in row[1:4]]
        ends = around(numbers, *(rule.at for rule in rules), pad=0.03)
    for n in (4, 2, 1):
        scale = linear(*ends, n=n)
        if n_ranks:
            texts = [tick.text.partition(".") for tick in scale.ticks]
            ticks = zip(scale.ticks, texts, strict=True)
            whole = tuple(
                x._replace(text=text) for x, (text, _, part) in ticks if not part.strip("0")
            )
            scale = scale._replace(ticks=whole)
        if sum(len(tick.text) + 1 for tick in scale.ticks) <= _LETTERS:
            break
    guides = tuple(Guide(place=scale.place(at), kind=kind) for at, _, kind in rules)
    return Intervals(title=title, rows=placed(rows, scale), axis=scale, guides=guides)
