"""Charts as inline SVG: intervals, curves, bars of parts, and maps of numbers.

Places are percentages, so that a chart fills whatever width there is while its text
keeps its size; only curves are drawn in units of their own, and stretched. Colours are
variables of the page's style sheet.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from fastcmp.core.sections import Section
from fastcmp.report.blocks import Block
from fastcmp.report.scales import Scale, around, linear, logarithmic, percent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

_UNITS = 1000  # of the width and height of what is stretched
#: Styles of curves, see charts.css.
N_STYLES = 8
_SHADES = 10
#: Cells beyond which a map is no picture any more.
MOST_CELLS = 20_000


@dataclass(frozen=True, kw_only=True)
class Chart(Block):
    """A picture with a sentence that says what it shows."""

    styles: ClassVar[tuple[str, ...]] = ("charts.css",)
    says: str = ""
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class Guide:
    """A line across a chart, such as that of no difference."""

    place: str
    text: str = ""
    kind: str = "zero"


@dataclass(frozen=True, kw_only=True)
class Row:
    """An estimate with its interval, and what is written beside it."""

    label: str
    value: float
    low: float = math.nan
    high: float = math.nan
    text: str = ""
    #: Further cells.
    cells: tuple[str, ...] = ()
    #: Points beside the estimate, such as one a fold.
    points: tuple[float, ...] = ()
    #: Colour: "", "good", "bad", "a" or "b".
    kind: str = ""


@dataclass(frozen=True, kw_only=True)
class PlacedRow:
    """A row whose numbers are places."""

    row: Row
    value: str | None
    low: str | None
    high: str | None
    #: Whether the interval goes beyond the axis.
    opens_low: bool
    opens_high: bool
    points: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Intervals(Chart):
    """A table of estimates, each drawn with its interval on one axis."""

    template: ClassVar[str] = "intervals.html.j2"
    rows: tuple[PlacedRow, ...]
    axis: Scale
    guides: tuple[Guide, ...] = ()
    #: Headings: of the labels, of the written estimates, and of further cells.
    heads: tuple[str, ...] = ("", "")

    @property
    def is_number(self) -> tuple[bool, ...]:
        """Tell of the estimates and of each further column whether it holds numbers."""
        cells = Section(rows=tuple(each.row.cells for each in self.rows))
        return (True, *map(cells.is_numeric, range(len(self.heads) - 2)))


def intervals(
    rows: Sequence[Row],
    *,
    title: str,
    axis: str,
    heads: tuple[str, ...],
    marks: Sequence[tuple[float, str]] = (),
    kind: str = "linear",
    **words: str,
) -> Intervals:
    """Draw rows on one axis, and lines at `marks`, the first of which is at H0.

    The axis is "linear", "log" or of "ranks", which are whole numbers.
    """
    ends = [x for row in rows for x in (row.value, row.low, row.high, *row.points)]
    ends += [x for x, _ in marks]
    if kind == "log":
        known = [x for x in ends if 0.0 < x < math.inf]
        scale = logarithmic(min(known) / 1.2, max(known) * 1.2, title=axis)
    else:
        least = 1.0 if kind == "ranks" else 0.0
        scale = linear(*around(ends), title=axis, n=4, least=least)
    guides = tuple(
        Guide(place=scale.place(x), text=text, kind="margin" if i else "zero")
        for i, (x, text) in enumerate(marks)
    )
    return Intervals(
        title=title,
        rows=tuple(_placed(row, scale) for row in rows),
        axis=scale,
        guides=guides,
        heads=heads,
        **words,
    )


def _placed(row: Row, scale: Scale) -> PlacedRow:
    def place(x: float) -> str | None:
        return None if math.isnan(x) else scale.place(x)

    return PlacedRow(
        row=row,
        value=place(row.value) if math.isfinite(row.value) else None,
        low=place(row.low),
        high=place(row.high),
        opens_low=row.low < scale.low,
        opens_high=row.high > scale.high,
        points=tuple(scale.place(x) for x in row.points if math.isfinite(x)),
    )


@dataclass(frozen=True, kw_only=True)
class Curve:
    """A line through points, perhaps with a band, ready to be drawn."""

    name: str
    points: str
    style: int
    band: str = ""
    dots: tuple[tuple[str, str, str], ...] = ()


@dataclass(frozen=True, kw_only=True)
class Curves(Chart):
    """Curves over two axes."""

    template: ClassVar[str] = "curves.html.j2"
    x: Scale
    y: Scale
    curves: tuple[Curve, ...]
    across: tuple[Guide, ...] = ()
    upright: tuple[Guide, ...] = ()
    #: Ends of a straight line for comparison, in the units of curves.
    diagonal: str = ""
    is_square: bool = False


def curve(
    name: str,
    x: ArrayLike,
    y: ArrayLike,
    scales: tuple[Scale, Scale],
    *,
    style: int = 0,
    band: tuple[ArrayLike, ArrayLike] | None = None,
    dots: Sequence[tuple[float, float, str]] = (),
) -> Curve:
    """Place a curve, without the points between which nothing can be seen."""
    across, up = scales
    around_it = ""
    if band is not None:
        low, high = band
        forth, back = _points(x, high, scales), _points(x, low, scales)
        around_it = _joined(np.concatenate([forth, back[::-1]]))
    return Curve(
        name=name,
        points=_joined(_points(x, y, scales)),
        style=style % N_STYLES,
        band=around_it,
        dots=tuple((across.place(a), up.place(b), text) for a, b, text in dots),
    )


def straight(scales: tuple[Scale, Scale], *ends: tuple[float, float]) -> str:
    """Place a straight line."""
    x, y = np.transpose(ends)
    return _joined(_points(x, y, scales))


def _points(x: Any, y: Any, scales: tuple[Scale, Scale]) -> Any:
    """Give the corners of a curve in whole units, shape (k, 2)."""
    across, up = scales
    x, y = np.broadcast_arrays(np.asarray(x, np.float64), np.asarray(y, np.float64))
    known = ~(np.isnan(x) | np.isnan(y))
    places = np.stack([across.part(x[known]), up.part(y[known])], axis=1)
    units = np.round(_UNITS * places).astype(np.int64)
    if len(units) < 3:
        return units
    moved = np.ones(len(units), dtype=bool)
    moved[1:] = (np.diff(units, axis=0) != 0).any(axis=1)
    units = units[moved]
    if len(units) < 3:
        return units
    steps = np.diff(units, axis=0)
    turns = steps[1:, 0] * steps[:-1, 1] != steps[1:, 1] * steps[:-1, 0]
    return units[np.concatenate([[True], turns, [True]])]


def _joined(units: Any) -> str:
    return " ".join(f"{x},{y}" for x, y in units.tolist())


@dataclass(frozen=True, kw_only=True)
class Parts:
    """A bar of parts: where each begins, how wide it is, and its number."""

    label: str
    places: tuple[tuple[str, str], ...]
    texts: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Bars(Chart):
    """A table of bars, each of which consists of the same parts."""

    template: ClassVar[str] = "bars.html.j2"
    heads: tuple[str, ...]
    #: Colour of each part: "a", "b", "both", "none".
    kinds: tuple[str, ...]
    bars: tuple[Parts, ...]


def bars(
    rows: Sequence[tuple[str, Sequence[float], Sequence[str]]],
    *,
    title: str,
    heads: tuple[str, ...],
    kinds: tuple[str, ...],
    **words: str,
) -> Bars:
    """Draw rows of amounts as parts of a whole, with their texts."""
    found = []
    for label, amounts, texts in rows:
        parts = np.asarray(amounts, np.float64)
        parts = parts / (parts.sum() or 1.0)
        begins = np.cumsum(parts) - parts
        places = tuple(
            (percent(begin), percent(part))
            for begin, part in zip(begins.tolist(), parts.tolist(), strict=True)
        )
        found.append(Parts(label=label, places=places, texts=tuple(texts)))
    return Bars(title=title, heads=heads, kinds=kinds, bars=tuple(found), **words)


@dataclass(frozen=True, kw_only=True)
class Cell:
    """A number on a map; no shade where there is none."""

    text: str
    shade: int | None
    is_best: bool = False
    value: str = ""


@dataclass(frozen=True, kw_only=True)
class Map(Chart):
    """A table of numbers, the darker the better."""

    template: ClassVar[str] = "map.html.j2"
    corner: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Cell, ...]], ...]


def shaded(
    values: ArrayLike,
    shades: ArrayLike,
    *,
    rows: Sequence[str],
    columns: Sequence[str],
    form: str = ".3f",
    best: ArrayLike | None = None,
    **words: str,
) -> Map:
    """Draw a table of numbers with shades in [0, 1]; NaN has none."""
    numbers, dark = np.asarray(values, np.float64), np.asarray(shades, np.float64)
    marked = np.zeros(numbers.shape, bool) if best is None else np.asarray(best)
    whole = np.round(_SHADES * np.nan_to_num(dark)).astype(int)

    def cell(i: int, j: int) -> Cell:
        x = float(numbers[i, j])
        if math.isnan(x):
            return Cell(text="", shade=None)
        text = format(x, form)
        return Cell(text=text, shade=int(whole[i, j]), is_best=bool(marked[i, j]),
                    value=f"{x:.9g}")  # fmt: skip

    found = tuple(
        (name, tuple(cell(i, j) for j in range(len(columns)))) for i, name in enumerate(rows)
    )
    return Map(rows=found, columns=tuple(columns), **{"corner": "", **words})
