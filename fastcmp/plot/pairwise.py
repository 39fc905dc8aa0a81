"""Pictures of many models compared in pairs: the leaderboard, the map of p-values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

from fastcmp import pictures
from fastcmp.core.errors import BadTypeError
from fastcmp.core.typing import Flags, Floats
from fastcmp.pairwise.decisions import TIED, UNTESTED
from fastcmp.pairwise.result import PairwiseResult, leaderboard_table
from fastcmp.plot.style import COLOURS, GREY, PALE, as_text, fitting_size, prepare_axes

Axes: TypeAlias = Any

_MARKED = 40  # models whose pairs get a mark each; beyond, one outline
_LETTERED = 14  # models whose p-values are written out, in points of at least
_READABLE = 4.5
#: Of models, by what the tests say of them.
_STYLES: dict[str, dict[str, Any]] = {
    "best": {"markerfacecolor": COLOURS[0]},
    "other": {},
    "untested": {"fmt": "s", "color": GREY},
}


def checked(result: object, what: str) -> PairwiseResult:
    """A comparison in pairs, or the one of a look; refuses what is none."""
    result = getattr(result, "compared", result)
    if isinstance(result, PairwiseResult):
        return result
    hint = "; pass its pairwise()" if hasattr(result, "pairwise") else ""
    kind = type(result).__name__
    raise BadTypeError(f"{what} draws a PairwiseResult", kind, hint, argument="result")


def longest(names: Sequence[str]) -> int:
    """Count the letters of the longest name."""
    return max(map(len, names))


def leaderboard(result: PairwiseResult, *, ax: Axes | None = None) -> Axes:
    r"""Draw models from best to worst with the intervals of their scores.

    Beside them stand the ranks that the decisions allow, if `adjust` supports
    them, and letters: models with a common one are not significantly different. Filled
    points are the best model and those that are not significantly different from it.
    Where not all pairs were tested there are no letters, but the result against a
    control; filled points are the models that are significantly worse in no tested
    pair, and squares are those in none.

    Parameters
    ----------
    result : PairwiseResult
        From `compare_all`, or ``delong(...).pairwise()``.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default on a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        What was drawn on.

    Raises
    ------
    TypeError
        If `result` or `ax` is something else.
    ImportError
        If matplotlib is not installed.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from fastcmp import compare_all, load_digits, plot
    >>> ax = plot.leaderboard(compare_all(*load_digits()))
    >>> ax.get_xlabel()
    'Accuracy (%)\n95% CI of each model alone'
    >>> plt.close(ax.figure)
    """
    result = checked(result, "leaderboard")
    picture = pictures.leaderboard(result, leaderboard_table(result))
    n, names = len(picture.rows), [as_text(row.label) for row in picture.rows]
    ax = prepare_axes(ax, (5.5 + 0.08 * longest(names), 1.8 + 0.27 * n))
    for kind, meaning in picture.meanings:
        rows = [i for i, row in enumerate(picture.rows) if row.kind == kind]
        numbers = np.array([picture.rows[i][1:4] for i in rows])
        score, low, high = numbers.T
        style = {"fmt": "o", "color": COLOURS[0], "markerfacecolor": "white", "capsize": 3}
        style |= _STYLES[kind]
        spread = np.maximum([score - low, high - score], 0.0)
        ax.errorbar(score, rows, xerr=spread, label=meaning, **style)
    size = fitting_size(ax, n + 3.0)
    ax.set_yticks(range(n), names, fontsize=size)
    ax.set_ylim(n + 1.6, -0.7)  # the legend stands below the last model
    ax.legend(loc="lower center", fontsize=min(size, 8.0), frameon=False)
    ax.grid(axis="x", color=PALE)
    ax.set_axisbelow(True)
    ax.set_xlabel(picture.axis.title)
    shift = 6.0  # of what stands right of the axes
    for k, head in enumerate(picture.heads):
        cells = [row.cells[k] for row in picture.rows]
        style = {"xycoords": ax.get_yaxis_transform(), "textcoords": "offset points"}
        style |= {"xytext": (shift, 0.0), "va": "center", "fontsize": size}
        ax.annotate(head, (1.0, -1.2), color=GREY, **style)
        for i, cell in enumerate(cells):
            ax.annotate(cell, (1.0, i), **style)
        shift += size * (1.0 + 0.6 * longest([head, *cells]))
    return ax


def pvalue_map(result: PairwiseResult, *, ax: Axes | None = None) -> Axes:
    """Draw the adjusted p-values of all pairs as a map, best models first.

    Pairs that are significantly different have a star; neighbours in the ranking that
    are not have a frame around their pairs. Hatched pairs were not tested; of grey ones
    the p-value was not kept.

    Parameters
    ----------
    result : PairwiseResult
        From `compare_all`, or ``delong(...).pairwise()``.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default on a new figure. The colour bar takes a part of it.

    Returns
    -------
    matplotlib.axes.Axes
        What the map was drawn on.

    Raises
    ------
    TypeError
        If `result` or `ax` is something else.
    ImportError
        If matplotlib is not installed.

    Notes
    -----
    Of up to 14 models the p-values are written out, if they fit. Of
    more than 40 the significant pairs have an outline, and no stars or frames.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from fastcmp import compare_all, load_digits, plot
    >>> ax = plot.pvalue_map(compare_all(*load_digits()))
    >>> [label.get_text() for label in ax.get_yticklabels()[:3]]
    ['svm_rbf', 'knn_3', 'extra_trees']
    >>> plt.close(ax.figure)
    """
    result = checked(result, "pvalue_map")
    board = result.leaderboard
    n = len(board.names)
    names = [as_text(name) for name in board.names]
    cell = float(np.clip(10.0 / n, 0.02, 0.5))  # inches
    side = max(n * cell, 2.0) + 0.07 * longest(names)
    is_new = ax is None
    ax = prepare_axes(ax, (side + 1.5, side + 0.4))
    if not is_new:
        cell = fitting_size(ax, n, 36.0) / 72.0
    order = np.ix_(board.models, board.models)
    values = result.matrix("pvalue_adjusted")[order]
    np.fill_diagonal(values, np.nan)
    decisions = result.decisions[order]
    untested = (decisions == UNTESTED) & ~np.eye(n, dtype=bool)
    significant = (decisions != UNTESTED) & (decisions != TIED)
    _draw_map(ax, values, result.alpha)
    size = float(np.clip(54.0 * cell, 2.0, 10.0))
    ax.set_yticks(range(n), names, fontsize=size)
    slanted = {"rotation": 45, "ha": "right", "rotation_mode": "anchor"}
    ax.set_xticks(range(n), names, fontsize=size, **slanted)
    _write_pvalues(ax, values, significant, 72.0 * cell)
    position = np.argsort(board.models)
    for group in result.groups.groups if n <= _MARKED else ():
        first, last = (int(position[group[end]]) for end in (0, -1))
        if last - first + 1 == len(group) > 1:
            _frame(ax, first, last)
    meaning = f"outline: significantly different at {result.alpha:g}"
    if n <= _MARKED:
        meaning = f"* significantly different at {result.alpha:g}; framed: neighbours"
        meaning += " that are not"
    if untested.any():
        _hatch(ax, untested)
        meaning += "\nhatched: not tested"
    if len(result.pairs) < result.n_pairs:
        meaning += "\ngrey: p-value not kept"
    ax.set_xlabel(meaning, fontsize=8)
    return ax


def _hatch(ax: Axes, cells: Flags) -> None:
    """Draw cells of a map white and hatched, neighbours in a row as one."""
    from matplotlib.collections import PolyCollection

    steps = np.diff(np.pad(cells, ((0, 0), (1, 1))).astype(np.int8), axis=1)
    rows, starts = np.nonzero(steps == 1)
    ends = np.nonzero(steps == -1)[1]
    x = np.stack([starts, ends, ends, starts], axis=1) - 0.5
    y = np.stack([rows, rows, rows + 1, rows + 1], axis=1) - 0.5
    style: Any = {"facecolor": "white", "edgecolor": GREY, "linewidth": 0}
    style["zorder"] = 0.5  # above the map, below frames
    boxes = PolyCollection(list(np.stack([x, y], axis=2)), hatch="////", **style)
    ax.add_collection(boxes, autolim=False)


def _draw_map(ax: Axes, values: Floats, alpha: float) -> None:
    from matplotlib import colormaps
    from matplotlib.colors import BoundaryNorm, ListedColormap

    edges = sorted({0.0, 0.001, 0.01, 0.05, 0.2, 1.0, alpha})
    # Light is a large p-value; the darkest still lets a white letter be read.
    shades = colormaps["Blues"](np.linspace(0.85, 0.05, len(edges) - 1))
    cmap = ListedColormap(shades, "p-values").with_extremes(bad=PALE)
    # A p-value on an edge belongs below it, as p <= alpha is significant.
    below = np.nextafter(values, 0.0)
    norm = BoundaryNorm(edges, cmap.N)
    image = ax.imshow(np.ma.masked_invalid(below), cmap=cmap, norm=norm)
    bar = ax.figure.colorbar(image, ax=ax, spacing="uniform", shrink=0.8)
    bar.set_ticks(edges, labels=[f"{edge:g}" for edge in edges])
    bar.set_label("adjusted p-value")


def _write_pvalues(ax: Axes, values: Floats, significant: Flags, cell: float) -> None:
    n = len(values)
    if n > _MARKED:
        if significant.any() and not significant.all():
            # Four points a cell, so that the outline follows the cells.
            fine = significant.repeat(4, axis=0).repeat(4, axis=1)
            x = (np.arange(4 * n) + 0.5) / 4 - 0.5
            ax.contour(x, x, fine, [0.5], colors=COLOURS[1], linestyles="dashed")
        return
    size = min(0.19 * cell, 7.0)
    lettered = n <= _LETTERED and size >= _READABLE
    size = size if lettered else min(0.6 * cell, 10.0)
    for (i, j), p in np.ndenumerate(values):
        star = "*" if significant[i, j] else ""
        text = star
        if lettered and not np.isnan(p):
            text = ("<.001" if p < 0.001 else f"{p:.3f}".replace("0.", ".", 1)) + star
        if text:
            style = {"ha": "center", "va": "center", "fontsize": size}
            style["color"] = "white" if p <= 0.01 else "black"
            style["weight"] = "bold" if significant[i, j] else "normal"
            ax.text(j, i, text, **style)


def _frame(ax: Axes, first: int, last: int) -> None:
    from matplotlib.patches import Rectangle

    corner, side = (first - 0.5, first - 0.5), last - first + 1
    style: dict[str, Any] = {"edgecolor": COLOURS[1], "linewidth": 1.8}
    style["clip_on"] = False
    ax.add_patch(Rectangle(corner, side, side, fill=False, **style))
