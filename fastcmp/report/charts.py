"""Charts as inline SVG: intervals, curves, bars of parts, and maps of numbers.

Places are percentages, so that a chart fills whatever width there is while its text
keeps its size; only curves are drawn in units of their own, and stretched. Colours are
variables of the page's style sheet.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from fastcmp import pictures
from fastcmp.core.sections import Section
from fastcmp.core.typing import Floats
from fastcmp.pairwise.slices_result import SlicesResult
from fastcmp.report.blocks import Block

_STEPS = (1.0, 2.0, 5.0, 10.0)
_DECADE = (1.0, 2.0, 5.0)
_FEW_DECADES = 2.0  # below which 2 and 5 of each decade are ticks, too
_WIDE = 1e5  # from where ticks are written in powers of ten


class Tick(NamedTuple):
    """A tick: its place in percent of the axis, and its number."""

    place: str
    text: str


class Scale(NamedTuple):
    """An axis from `low` to `high`."""

    low: float
    high: float
    ticks: tuple[Tick, ...] = ()
    title: str = ""
    is_log: bool = False
    #: Whether the greatest number is on the left, or above: as all upright axes.
    is_reversed: bool = False

    def part(self, values: object) -> Floats:
        """Places as parts of the axis, in [0, 1]: beyond it, at its end."""
        x = np.asarray(values, np.float64)
        low, high = self.low, self.high
        if self.is_log:
            x, low, high = np.log(np.maximum(x, low)), math.log(low), math.log(high)
        part = np.clip((x - low) / (high - low), 0.0, 1.0)
        return 1.0 - part if self.is_reversed else part

    def place(self, value: float) -> str:
        """A place in percent, to a hundredth."""
        return percent(float(self.part(value)))


def percent(part: float) -> str:
    """Write a part as percent for an attribute, such as "12.5%".

    >>> percent(0.125), percent(1.0)
    ('12.5%', '100%')
    """
    return f"{100 * part:.2f}".rstrip("0").rstrip(".") + "%"


def linear(low: float, high: float, *, title: str = "", n: int = 5, least: float = 0.0,
           is_reversed: bool = False) -> Scale:  # fmt: skip
    """Make an axis with about `n` ticks at round numbers.

    >>> [tick.text for tick in linear(0, 1).ticks]
    ['0.0', '0.2', '0.4', '0.6', '0.8', '1.0']
    """
    if not high > low:
        pad = abs(low) * 0.1 or 1.0
        low, high = low - pad, high + pad
    step = max(_step((high - low) / n), least)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    digits = max(0, -math.floor(math.log10(step) + 1e-9))
    bare = Scale(low, high, is_reversed=is_reversed)
    ticks = tuple(
        Tick(bare.place(i * step), _written(i * step, digits)) for i in range(first, last + 1)
    )
    return bare._replace(ticks=ticks, title=title)


def logarithmic(low: float, high: float, *, title: str = "") -> Scale:
    """Make a logarithmic axis with ticks at 1, 2, 5, 10, ... or at powers of ten."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    few = math.log10(high / low) <= _FEW_DECADES
    numbers = [m * 10.0**k for k in range(first, last + 1)
               for m in (_DECADE if few else _DECADE[:1])]  # fmt: skip
    bare = Scale(low, high, is_log=True)
    ticks = tuple(
        Tick(bare.place(x), _written(x, max(0, -math.floor(math.log10(x)))))
        for x in numbers
        if low <= x <= high
    )
    return bare._replace(ticks=ticks, title=title)


def around(values: Iterable[float], *also: float, pad: float = 0.06) -> tuple[float, float]:
    """Ends of an axis that shows all finite values, with some space."""
    finite = np.array([x for x in (*values, *also) if math.isfinite(x)])
    if not finite.size:
        return 0.0, 1.0
    low, high = float(finite.min()), float(finite.max())
    space = pad * (high - low)
    return low - space, high + space


def _step(about: float) -> float:
    """The round step that is next to a number."""
    power = float(10.0 ** math.floor(math.log10(about)))
    return power * min(_STEPS, key=lambda step: abs(math.log(step * power / about)))


def _written(value: float, digits: int) -> str:
    if abs(value) >= _WIDE or digits > 5:
        return f"{value:.3g}"
    text = f"{value:,.{digits}f}"
    return text.lstrip("-") if float(text.replace(",", "")) == 0 else text


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


class PlacedRow(NamedTuple):
    """A row whose numbers are places."""

    row: pictures.Row
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
    #: Where what is shaded begins, how wide it is, and its name.
    band: tuple[str, str, str] | None = None

    @property
    def is_number(self) -> tuple[bool, ...]:
        """Whether the estimates, and each further column, are numbers."""
        cells = Section(rows=tuple(interval_row.row.cells for interval_row in self.rows))
        return (True, *map(cells.is_numeric, range(len(self.heads) - 2)))


def intervals(
    rows: Sequence[pictures.Row],
    *,
    title: str,
    axis: str,
    heads: tuple[str, ...],
    marks: Sequence[tuple[float, str] | pictures.Rule] = (),
    band: tuple[float, float, str] | None = None,
    kind: str = "linear",
    **words: str,
) -> Intervals:
    """Draw rows on one axis, and lines at `marks`, the first of which is at H0.

    The axis is "linear", "log" or of "ranks", which are whole numbers.
    """
    ends = [x for row in rows for x in (row.value, row.low, row.high, *row.points)]
    rules = [pictures.Rule(*mark) for mark in marks]
    ends += [rule.at for rule in rules] + [*(band or ())[:2]]
    if kind == "log":
        positive = [x for x in ends if 0.0 < x < math.inf]
        scale = logarithmic(min(positive) / 1.2, max(positive) * 1.2, title=axis)
    else:
        least = 1.0 if kind == "ranks" else 0.0
        scale = linear(*around(ends), title=axis, n=4, least=least)
    guides = tuple(
        Guide(place=scale.place(at), text=text, kind=kind if kind != "zero" or not i else "margin")
        for i, (at, text, kind) in enumerate(rules)
    )
    shaded_part = None
    if band is not None:
        low, high = scale.part(band[:2]).tolist()
        shaded_part = percent(low), percent(high - low), band[2]
    return Intervals(
        title=title,
        rows=placed(rows, scale),
        axis=scale,
        guides=guides,
        heads=heads,
        band=shaded_part,
        **words,
    )


def placed(rows: Sequence[pictures.Row], scale: Scale) -> tuple[PlacedRow, ...]:
    """Rows with their places on an axis."""
    numbers = np.array([(row.low, row.value, row.high) for row in rows], np.float64).reshape(-1, 3)
    parts = scale.part(np.where(np.isnan(numbers), scale.low, numbers)).tolist()
    return tuple(
        PlacedRow(
            row=row,
            value=percent(value) if math.isfinite(row.value) else None,
            low=None if math.isnan(row.low) else percent(low),
            high=None if math.isnan(row.high) else percent(high),
            opens_low=row.low < scale.low,
            opens_high=row.high > scale.high,
            points=tuple(scale.place(x) for x in row.points if math.isfinite(x)),
        )
        for row, (low, value, high) in zip(rows, parts, strict=True)
    )


@dataclass(frozen=True, kw_only=True)
class Curve:
    """A line through points, perhaps with a band, ready to be drawn."""

    name: str
    points: str
    style: int
    kind: str = ""
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
    kind: str = "",
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
        kind=kind,
        band=around_it,
        dots=tuple((across.place(a), up.place(b), text) for a, b, text in dots),
    )


def drawn(picture: pictures.Curves) -> Curves:
    """Draw curves of a page: the first ones of more than can be distinguished."""
    number, lines = -1, []
    for line in picture.lines:
        number += not line.kind
        if number < N_STYLES or line.kind == "other":
            lines.append((number, line))
    lines_drawn = [line for _, line in lines]
    x = _axis_of(picture.x, lines_drawn, picture.rules, 0)
    y = _axis_of(picture.y, lines_drawn, picture.rules, 1)
    scales = x, y
    diagonal = ""
    if picture.straight is not None:
        across, up = np.transpose(picture.straight)
        diagonal = _joined(_points(across, up, scales))
    curves = []
    for m, line in lines:
        height = np.where(np.asarray(line.y) < y.low, np.nan, line.y)  # such curves end at the axis
        dots = line.points
        if line.kind == "point":
            dots = ((float(line.x[0]), float(line.y[0]), line.name),)
        style = {"point": 2, "other": N_STYLES - 1}.get(line.kind, m)
        curves.append(
            curve(
                *(line.name, line.x, height, scales),
                style=style,
                kind=line.kind,
                band=line.band,
                dots=dots,
            )
        )
    n_models = picture.n_models or sum(not line.kind for line in picture.lines)
    n_drawn, says = sum(not line.kind for line in lines_drawn), picture.says
    if n_drawn < n_models:
        what = "models" if picture.n_models else "curves"
        says = f"{says} Of {n_models} {what} {n_drawn} are drawn."
    return Curves(
        title=picture.title,
        x=x,
        y=y,
        curves=tuple(curves),
        across=tuple(
            Guide(place=y.place(at), text=text, kind=kind) for at, text, kind in picture.rules
        ),
        diagonal=diagonal,
        is_square=picture.is_square,
        says=says.strip(),
    )


def _axis_of(
    axis: pictures.Axis, lines: Sequence[pictures.Line], rules: Sequence[pictures.Rule], k: int
) -> Scale:
    """The scale of an axis, around all that is drawn where its ends are open."""
    if axis.low is not None and axis.high is not None:
        ends = axis.low, axis.high
    else:
        parts = [part for line in lines for part in (line[1 + k], *(line.band or ()) * k)]
        also = [rule.at for rule in rules] * k
        ends = around(np.concatenate(parts).tolist(), *also, pad=0.06 * k)
    if axis.is_log:
        return logarithmic(*ends, title=axis.title)
    return linear(*ends, title=axis.title, is_reversed=axis.is_reversed or k == 1)


def _points(x: object, y: object, scales: tuple[Scale, Scale]) -> Any:
    """The corners of a curve in whole units, shape (k, 2)."""
    across, up = scales
    x, y = np.broadcast_arrays(np.asarray(x, np.float64), np.asarray(y, np.float64))
    is_known = ~(np.isnan(x) | np.isnan(y))
    places = np.stack([across.part(x[is_known]), up.part(y[is_known])], axis=1)
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
    parts_of_rows = []
    for label, amounts, texts in rows:
        parts = np.asarray(amounts, np.float64)
        parts = parts / (parts.sum() or 1.0)
        begins = np.cumsum(parts) - parts
        places = tuple(
            (percent(begin), percent(part))
            for begin, part in zip(begins.tolist(), parts.tolist(), strict=True)
        )
        parts_of_rows.append(Parts(label=label, places=places, texts=tuple(texts)))
    return Bars(title=title, heads=heads, kinds=kinds, bars=tuple(parts_of_rows), **words)


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


MOST_COLUMNS = 12  # models that stand beside each other


def shaded(
    values: ArrayLike,
    shades: ArrayLike,
    *,
    names: Sequence[str],
    tasks: Sequence[str],
    what: str = "data set",
    form: str = ".3f",
    best: ArrayLike | None = None,
    **words: str,
) -> Map | None:
    """Draw numbers of models and tasks, (M, D), with shades in [0, 1]; NaN has none.

    Few models are columns, many are rows; too many cells are no map.
    """
    numbers, dark = np.asarray(values, np.float64), np.asarray(shades, np.float64)
    if not 0 < numbers.size <= MOST_CELLS:
        return None
    marked = np.zeros(numbers.shape, bool) if best is None else np.asarray(best)
    levels = np.round(_SHADES * np.nan_to_num(dark)).astype(int)
    heads, columns, corner = names, tasks, "model"
    if len(names) <= MOST_COLUMNS:
        numbers, marked, levels = numbers.T, marked.T, levels.T
        heads, columns, corner = tasks, names, what
    cells = tuple(
        (
            head,
            tuple(
                Cell(text="", shade=None)
                if math.isnan(x)
                else Cell(text=f"{x:{form}}", shade=level, is_best=is_best, value=f"{x:.9g}")
                for x, level, is_best in zip(*row, strict=True)
            ),
        )
        for head, *row in zip(
            heads, numbers.tolist(), levels.tolist(), marked.tolist(), strict=True
        )
    )
    return Map(rows=cells, columns=tuple(columns), corner=corner, **words)


# Scores of models on data sets, or in slices, as a map.


def score_map(
    scores: Floats,
    ranks: Floats,
    *,
    names: Sequence[str],
    tasks: Sequence[str],
    title: str = "Scores",
    what: str = "data set",
) -> Map | None:
    """Draw scores, (M, D), shaded by the rank within the data set, or what else they are of."""
    with np.errstate(invalid="ignore"):
        best = ranks == np.nanmin(np.where(np.isnan(ranks), np.inf, ranks), axis=0, initial=np.inf)
    return shaded(
        scores,
        pictures.shades_of(ranks),
        names=names,
        tasks=tasks,
        what=what,
        form=".3f" if np.nanmax(np.abs(scores), initial=0.0) < 10 else ".4g",
        best=best,
        title=title,
        says=f"The darker, the better within the {what}; bold is the best of it.",
    )


def slice_map(record: SlicesResult) -> Map | None:
    """Draw the means of models in slices."""
    ranks = pictures.ranks_within(record.mean if record.lower_is_better else -record.mean)
    return score_map(
        record.mean, ranks, names=record.names, tasks=record.slices, title="Means", what="slice"
    )
