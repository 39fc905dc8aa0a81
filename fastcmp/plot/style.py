"""Common parts of all pictures: colours, axes, names, sizes of type."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np

from fastcmp.core.errors import BadTypeError
from fastcmp.core.render import visible
from fastcmp.inputs.binary_labels import as_doubles
from fastcmp.pictures import Curves

Axes: TypeAlias = Any

#: Okabe and Ito's colours, without yellow, which is hard to see on paper.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
GREY = "#767676"
PALE = "#e4e4e4"
LEGEND = {"fontsize": 8, "title_fontsize": 8}
LINES = 26  # of a legend beside the axes
_WIDE = 300.0  # points that two columns of a legend need
_LONG = 40  # characters of a name that are drawn
DOTTED = (0, (1, 2))
_DASHES = ("-", "--", "-.", ":", (0, (7, 1, 1, 1, 1, 1)))
_MARKERS = "os^DvP<X>pd"


def check_drawn(record: object, kind: type, demand: str, argument: str = "result") -> None:
    """Refuse what is no record of the kind that a function draws."""
    if not isinstance(record, kind):
        raise BadTypeError(demand, type(record).__name__, argument=argument)


def prepare_axes(ax: Axes | None, size: tuple[float, float]) -> Axes:
    """Check the axes to draw on, or make a figure of `size` inches."""
    try:
        from matplotlib import pyplot as plt
        from matplotlib.axes import Axes as KnownAxes
    except ImportError:
        raise ImportError("drawing needs matplotlib: pip install 'fastcmp[plot]'") from None
    if ax is None:
        return plt.subplots(figsize=size, layout="constrained")[1]
    if not isinstance(ax, KnownAxes):
        raise BadTypeError("`ax` must be matplotlib Axes", type(ax).__name__)
    return ax


def as_text(name: str) -> str:
    r"""Write a model's name on one line, not too long, and as no formula.

    >>> as_text("a$b$")
    'a\\$b\\$'
    """
    line = visible(name)
    if len(line) > _LONG:
        line = f"{line[: _LONG - 14]}...{line[-11:]}"
    # Matplotlib leaves what begins with an underscore out of a legend.
    return (" " if line.startswith("_") else "") + line.replace("$", r"\$")


def fitting_size(ax: Axes, rows: float, largest: float = 10.0) -> float:
    """Choose a size of type, in points, with which rows of text do not overlap."""
    height = 72.0 * ax.get_position().height * ax.figure.get_figheight()
    return float(np.clip(0.75 * height / rows, 3.0, largest))


def curve_style(model: int, n_models: int) -> dict[str, Any]:
    """Choose a colour, dashes and markers of a curve: options of ``Axes.plot``.

    The numbers of colours, dashes and markers have no common divisor: no two of 385
    curves look the same.
    """
    style: dict[str, Any] = {
        "color": COLOURS[model % len(COLOURS)],
        "linestyle": _DASHES[model % len(_DASHES)],
        "linewidth": 1.6,
    }
    if n_models > 1:
        offset = 0.15 * (model + 1) / (n_models + 1)
        style |= {
            "marker": _MARKERS[model % len(_MARKERS)],
            "markersize": 4.5,
            "markevery": (offset, 0.15),
        }
    return style


def draw_curves(picture: Curves, ax: Axes, written: Callable[[str], str] = as_text) -> list[Any]:
    """Draw curves with what is beside them; give what a legend names, as `written`."""
    handles: list[Any] = []
    last: list[Any] = []
    if picture.straight is not None:
        ax.plot(*np.transpose(picture.straight), color=GREY, linewidth=0.9, linestyle=DOTTED)
    for at, text, kind in picture.rules:
        style: dict[str, Any] = {"color": GREY, "linewidth": 0.9, "linestyle": DOTTED}
        if kind == "decided":
            style = {"color": COLOURS[1], "linewidth": 1.4, "linestyle": "--"}
        line = ax.axhline(at, label=text, **style)
        if text:
            (handles if kind == "decided" else last).append(line)
    n_models, m, colour = sum(not line.kind for line in picture.lines), 0, ""
    for line in picture.lines:
        label = written(line.name)
        if line.kind == "lead":
            ax.plot(line.x, line.y, color=GREY, linewidth=0.8, linestyle=":")
            continue
        if line.kind == "mean":
            style = {"color": colour, "linewidth": 1.0, "linestyle": "--"}
        elif line.kind == "other":
            style = {"color": GREY, "linewidth": 1.2, "linestyle": "--"}
        elif line.kind == "point":
            style = {"color": COLOURS[2], "marker": "D", "markersize": 9, "linestyle": ""}
        else:
            style = curve_style(m, n_models) | {"drawstyle": line.joined}
            m, colour = m + 1, style["color"]
        if line.error is not None:
            style = {k: x for k, x in style.items() if k != "markevery"} | {"marker": "."}
            bars = ax.errorbar(line.x, line.y, yerr=line.error, capsize=2, label=label, **style)
            handles.append(bars)
        else:
            handles += ax.plot(line.x, line.y, label=label, **style)
        if line.band is not None:
            ax.fill_between(line.x, *line.band, color=style["color"], alpha=0.16, linewidth=0)
        if line.points:
            x, y, _ = zip(*line.points, strict=True)
            dots: dict[str, Any] = {"color": style["color"], "markersize": 4}
            if picture.has_rings:
                dots |= {"markersize": 8, "markerfacecolor": "white", "markeredgewidth": 1.8}
                dots |= {"zorder": 3}
            ax.plot(x, y, "o", **dots)
    for axis, name in ((picture.x, "x"), (picture.y, "y")):
        if axis.is_log:
            ax.set(**{f"{name}scale": "log"})
        if axis.low is not None and axis.high is not None:
            space = 0.01 * (axis.high - axis.low) if picture.is_square else 0.0
            ends = axis.low - space, axis.high + space
            ax.set(**{f"{name}lim": ends[::-1] if axis.is_reversed else ends})
    ax.set(xlabel=picture.x.title, ylabel=picture.y.title)
    if picture.is_square:
        ax.set_aspect("equal")
    return handles + last


def in_doubles(scores: object) -> Any:
    """Round scores with more digits to float64, in which cutoffs are given."""
    if isinstance(scores, Mapping):
        return {name: in_doubles(column) for name, column in scores.items()}
    return as_doubles(scores) if isinstance(scores, np.ndarray) else scores


def place_legend(ax: Axes, handles: list[Any], title: str | None, *, inside: bool) -> None:
    """Put the legend into the lower right corner, or right of the axes."""
    options: dict[str, Any] = LEGEND | {"handlelength": 3.2}
    if inside:
        ax.legend(handles=handles, title=title, loc="lower right", **options)
    else:
        where = {"loc": "upper left", "bbox_to_anchor": (1.01, 1.0)}
        options["ncols"] = -(-len(handles) // LINES)
        ax.legend(handles=handles, title=title, borderaxespad=0, frameon=False, **where, **options)


def place_legend_over(ax: Axes, handles: list[Any]) -> None:
    """Put the legend over the open axes, where nothing is drawn."""
    ax.spines[["top", "right"]].set_visible(False)
    where = {"loc": "lower left", "bbox_to_anchor": (0.0, 1.0), "ncols": 3}
    ax.legend(handles=handles, frameon=False, **where, **LEGEND)


def place_legend_above(ax: Axes, handles: list[Any]) -> None:
    """Put the legend inside the axes, above curves that end at 1."""
    width, height = 72.0 * ax.get_position().size * ax.figure.get_size_inches()
    columns = 2 if width > _WIDE else 1
    space = 8.0 + 13.0 * -(-len(handles) // columns)
    top = 1.04 * (1.0 + space / max(0.8 * height - space, space))
    ax.set(ylim=(-0.02, top), yticks=np.linspace(0, 1, 6))
    options: dict[str, Any] = LEGEND | {"handlelength": 3.2}
    ax.legend(handles=handles, loc="upper center", ncols=columns, frameon=False, **options)
