"""Maps of cells with a shade and perhaps a text each: rows are models, best first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp.plot.style import GREY, PALE, as_text, fitting_size, prepare_axes

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TypeAlias

    from numpy.typing import NDArray

    Axes: TypeAlias = Any
    Floats = NDArray[np.float64]

_CELL = (0.42, 0.28)  # inches of a cell that holds a text, and of one that need not
_LARGEST = 9.0  # inches of the map in either direction
_LABELLED = 120  # rows or columns that have a label each
_READABLE = 4.5  # points
_DARK = 0.55  # shades beyond this have a white text


def draw_cells(
    shade: Floats,
    names: Sequence[str],
    columns: Sequence[str],
    texts: NDArray[Any] | None = None,
    *,
    ax: Axes | None = None,
) -> Axes:
    """Draw a map of shades from 0 to 1; NaN is a pale cell."""
    n_rows, n_columns = shade.shape
    labels = [as_text(name) for name in names]
    cells = _CELL[0 if texts is not None else 1], _CELL[1]
    width, height = (
        float(np.clip(n * cell, 1.2, _LARGEST))
        for n, cell in zip((n_columns, n_rows), cells, strict=True)
    )
    space = 0.085 * max(map(len, labels))
    below = 0.055 * max(map(len, columns))
    ax = prepare_axes(ax, (width + space + 1.6, height + below + 1.0))
    ax.imshow(np.ma.masked_invalid(shade), cmap=_shades(), vmin=0, vmax=1, aspect="auto")
    ax.set_xlim(-0.5, n_columns - 0.5)
    ax.set_ylim(n_rows - 0.5, -0.5)
    size = fitting_size(ax, n_rows, 9.0)
    _label(ax.yaxis, ax.set_yticks, labels, fontsize=size)
    slanted = {"rotation": 45, "ha": "right", "rotation_mode": "anchor"}
    wide = min(size_of_columns(ax, n_columns), 9.0)
    titles = [as_text(column) for column in columns]
    _label(ax.xaxis, ax.set_xticks, titles, fontsize=max(wide, 3.0), **slanted)
    ax.spines[:].set_visible(False)
    if texts is not None:
        _write(ax, shade, texts, min(size, wide))
    return ax


def size_of_columns(ax: Axes, n_columns: int) -> float:
    """Choose a size of type, in points, for columns beside each other."""
    width = 72.0 * ax.get_position().width * ax.figure.get_figwidth()
    return float(0.75 * width / n_columns)


def _shades() -> Any:
    from matplotlib import colormaps
    from matplotlib.colors import ListedColormap

    colours = colormaps["Blues"](np.linspace(0.0, 0.9, 256))
    return ListedColormap(colours, "shades").with_extremes(bad=PALE)


def _label(axis: Any, put: Any, labels: list[str], **style: Any) -> None:
    """Write a label for each row or column, where there are not too many."""
    if len(labels) <= _LABELLED:
        put(range(len(labels)), labels, **style)
        axis.set_tick_params(length=0)
        return
    axis.set_major_formatter(lambda x, _: f"{x + 1:g}")
    axis.get_major_locator().set_params(integer=True)
    axis.set_tick_params(labelsize=8, color=GREY)


def _write(ax: Axes, shade: Floats, texts: NDArray[Any], size: float) -> None:
    """Write into each cell, if the longest text fits."""
    longest = max(len(text) for text in texts.flat)
    size = min(size, 2.1 * size_of_columns(ax, shade.shape[1]) / max(longest, 1))
    if size < _READABLE:
        return
    for (i, j), text in np.ndenumerate(texts):
        if text:
            colour = "white" if shade[i, j] > _DARK else "black"
            style = {"ha": "center", "va": "center", "fontsize": size}
            ax.text(j, i, text, color=colour, **style)
