"""Many models on a page: leaderboard, differences, ranks on a line, groups of ties."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from string import ascii_lowercase
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from fastcmp.core.render import visible
from fastcmp.core.sections import Section
from fastcmp.datasets.comparison import DatasetsResult, RankLine, beside_ranks, rank_line, stacked
from fastcmp.pairwise.decisions import UNTESTED
from fastcmp.pairwise.leaderboard import style_of
from fastcmp.pairwise.result import PairwiseResult, control_table, leaderboard_table
from fastcmp.pairwise.slices_result import IN_SLICES
from fastcmp.report.blocks import MOST_ROWS, Block, Text, said
from fastcmp.report.charts import Scale, around, linear, percent, slice_map
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
class Name:
    """A name at the end of a line that comes down from the axis."""

    path: str
    x: int
    y: float
    side: str
    text: str
    whole: str


@dataclass(frozen=True, kw_only=True)
class TieBar:
    """A bar that joins models, and the points on it."""

    low: str
    high: str
    y: float
    points: tuple[str, ...]
    names: str


@dataclass(frozen=True, kw_only=True)
class RankDiagram(Block):
    """Models on the line of their scores or mean ranks."""

    template: ClassVar[str] = "rank_diagram.html.j2"
    styles: ClassVar[tuple[str, ...]] = ("boards.css",)
    says: str
    describes: str
    label: str
    height: int
    ticks: tuple[tuple[str, str], ...]
    names: tuple[Name, ...]
    bars: tuple[TieBar, ...]
    #: Ends of the critical difference and its size; None where there is none.
    critical: tuple[str, str, str] | None = None
    width: ClassVar[int] = _WIDTH
    left: ClassVar[int] = _LEFT
    right: ClassVar[int] = _RIGHT
    axis: ClassVar[int] = _AXIS


def diagram_of(result: PairwiseResult) -> RankDiagram | None:
    """Draw few models whose scores are all known; None for others."""
    line = rank_line(result)
    n = len(result.names)
    groups = [group for group in result.groups.groups if len(group) > 1]
    if not 2 < n <= MOST_MODELS or not np.isfinite(line.place).all():
        return None
    if len(groups) > _MOST_BARS:
        return None
    place = _to_units(line)
    levels = stacked([place[list(group)] for group in groups], 10.0)
    bars = tuple(
        _bar(result, place, group, _AXIS + _BAR * (level + 1))
        for group, level in zip(groups, levels, strict=True)
    )
    top = _AXIS + _BAR * (max(levels, default=-1) + 2)
    ends = _ends(line)
    scale = linear(*ends, n=5)
    critical = None
    if line.critical is not None:
        length = line.critical * (_RIGHT - _LEFT) / (ends[1] - ends[0])
        critical = (f"{_RIGHT - length:.1f}", f"{_RIGHT}", f"CD = {line.critical:.3g}")
    return RankDiagram(
        title="Critical difference diagram"
        if isinstance(result, DatasetsResult)
        else f"{result.measure[:1].upper()}{result.measure[1:]} and ties",
        says=_says(result),
        describes=_describes(result, groups),
        label=line.label,
        height=top + _ROW * ((n + 1) // 2) + 4,
        ticks=tuple(
            (
                f"{_LEFT + float(tick.place[:-1]) / 100 * (_RIGHT - _LEFT):.1f}",
                tick.text if line.sign > 0 else tick.text.lstrip("-"),
            )
            for tick in scale.ticks
        ),
        names=_names(result, line, place, top),
        bars=bars,
        critical=critical,
    )


def _ends(line: RankLine) -> tuple[float, float]:
    """The ends of the axis, wide enough for the critical difference."""
    low, high = float(line.place.min()), float(line.place.max())
    pad = 0.04 * (high - low) or 0.5
    low, high = low - pad, high + pad
    return min(low, high - 1.05 * (line.critical or 0.0)), high


def _to_units(line: RankLine) -> np.ndarray:
    low, high = _ends(line)
    units: np.ndarray = _LEFT + (line.place - low) / (high - low) * (_RIGHT - _LEFT)
    return units


def _bar(result: PairwiseResult, place: np.ndarray, group: tuple[int, ...], y: float) -> TieBar:
    x = np.sort(place[list(group)])
    return TieBar(
        low=f"{x[0] - 5:.1f}",
        high=f"{x[-1] + 5:.1f}",
        y=y,
        points=tuple(f"{x_of_model:.1f}" for x_of_model in x),
        names=", ".join(result.names[i] for i in group),
    )


def _names(
    result: PairwiseResult, line: RankLine, place: np.ndarray, top: float
) -> tuple[Name, ...]:
    """Lead a line from each model down and out to its name, without crossings."""
    order = np.argsort(line.place, kind="stable")
    half = order.size // 2
    texts = short_names([visible(name) for name in result.names], _LETTERS)
    names = []
    for side, models in (("left", order[:half]), ("right", order[: half - 1 : -1])):
        outer = _LEFT - 14 if side == "left" else _RIGHT + 14
        for row, model in enumerate(models.tolist()):
            y = top + _ROW * (row + 0.5)
            value = line.sign * line.place[model]
            names.append(
                Name(
                    path=f"M{place[model]:.1f} {_AXIS}V{y}H{outer}",
                    x=outer + (-5 if side == "left" else 5),
                    y=y,
                    side=side,
                    text=f"{texts[model]} {value:.{line.digits}f}",
                    whole=visible(result.names[model]),
                )
            )
    return tuple(names)


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


def _says(result: PairwiseResult) -> str:
    """What the line and the bars are, in sentences."""
    says = (
        "The best models are on the right. Each bar joins models of which no two are "
        f"significantly different at {result.alpha:g}; only models dotted on the bar belong to it."
    )
    n = len(result.names)
    left = n * (n - 1) // 2 - result.n_pairs
    return f"{says} {left} pairs were not tested: no bar joins these." if left else says


def _describes(result: PairwiseResult, groups: list[tuple[int, ...]]) -> str:
    """What the picture shows in words, for screen readers."""
    ranking = ", ".join(result.leaderboard.names)
    bars = "; ".join(", ".join(result.names[i] for i in group) for group in groups)
    return f"From best to worst: {ranking}. Bars: {bars or 'none'}."


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
    """The blocks of a comparison in pairs."""
    blocks: list[Block] = []
    for block in said(result):
        if block.title == f"Against {result.control}":
            blocks += [_against(result, str(result.control)), *_pictures(result)]
        elif block.title == "Leaderboard":
            blocks += [_leaderboard(result), *_pictures(result)]
        elif block.title != "Decisions":  # the matrix has them
            blocks.append(block)
        if block.title == IN_SLICES and (drawn := slice_map(result.slices)) is not None:
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
    n = len(board.names)
    section = _beside(result, leaderboard_table(result))
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
    comparison = result.against_control()
    section = _beside(result, control_table(result, control))
    shape = section.columns
    column = shape.index("difference")
    low, middle, high = (np.append(np.nan, comparison[x]) for x in ("low", "difference", "high"))
    wins = {"better": "best", "worse": "worse", "no result": "untested"}
    kinds = ["", *(wins.get(x, "other") for x in comparison["result"])]
    drawn = column + ("CI" in shape[column + 1])
    marks: list[tuple[float, str]] = [(0.0, "zero")]
    if result.margins is not None:
        margin = float(result.margins.margin)
        marks += [(-margin, "margin"), (margin, "margin")]
    scale = 100.0 if result.measure == "accuracy" else 1.0
    ends = (scale * low, scale * middle, scale * high)
    title = f"difference from {control}, drawn"
    picture = _picture(title, ends, kinds, marks=[(scale * x, kind) for x, kind in marks])
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


def _kinds(result: PairwiseResult) -> list[str]:
    """Sort the models of the leaderboard by what the tests say of them."""
    best = set(result.best)
    tested = (result.decisions != UNTESTED).any(axis=1)[result.leaderboard.models]
    return [
        "best" if name in best else "other" if is_tested else "untested"
        for name, is_tested in zip(result.leaderboard.names, tested, strict=True)
    ]


def _meanings(result: PairwiseResult, kinds: list[str]) -> tuple[tuple[str, str], ...]:
    """Kinds of points in the picture, with what they mean."""
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
    is_finite = np.isfinite(column)
    parts = scale.part(np.where(is_finite, column, scale.low)).tolist()
    return [percent(x) if ok else None for x, ok in zip(parts, is_finite, strict=True)]
