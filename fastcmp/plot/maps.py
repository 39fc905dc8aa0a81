"""Maps of cells with a shade: models by tasks, scores and ranks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fastcmp.core.checks import choose
from fastcmp.core.records import ScoreTable
from fastcmp.core.typing import Floats, ModelsLike
from fastcmp.datasets.comparison import DatasetsResult
from fastcmp.datasets.reading import read_scores
from fastcmp.pictures import ranks_within, shades_of
from fastcmp.plot.style import GREY, PALE, as_text, fitting_size, prepare_axes

Axes: TypeAlias = Any

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


# The map of models by tasks: scores, and ranks within each task.


_WRITTEN = 2000  # cells that have a text each
_KINDS = {
    "rank": "dark: best of the task, light: worst",
    "score": "dark: best score of all, light: worst",
}


def task_scores(
    scores: ModelsLike,
    *,
    kind: str = "rank",
    names: Sequence[str] | None = None,
    tasks: Sequence[str] | None = None,
    lower_is_better: bool = False,
    ax: Axes | None = None,
) -> Axes:
    """Draw scores of models on tasks as a map, the best mean rank first.

    Each cell has its score written in it, where there is space; one without a score is
    grey.

    Parameters
    ----------
    scores : results, mapping, frame or array_like, shape (M, D)
        What `compare_datasets` takes, or returns: one score for each model and task.
        NaN: the model has none.
    kind : {"rank", "score"}
        What the shade means: the rank within the task, which compares scores of one
        task alone; or the score itself, if scores of all tasks are on one scale.
    names, tasks : sequence of str, optional
        Names of models and tasks, where `scores` has none.
    lower_is_better : bool
        Whether scores are errors or losses.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default on a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        What the map was drawn on.

    Raises
    ------
    TypeError
        If `ax` is no axes, or scores are no numbers.
    ValueError
        For an unknown `kind`, fewer than two models or tasks, or infinite scores.
    ImportError
        If matplotlib is not installed.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from fastcmp import load_demsar, plot
    >>> tasks, areas = load_demsar()
    >>> ax = plot.task_scores(areas, tasks=tasks)
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['C4.5+m+cf', 'C4.5+m', 'C4.5+cf', 'C4.5']
    >>> plt.close(ax.figure)
    """
    kind = choose(kind, "kind", _KINDS)
    table = _read(scores, names, tasks, lower_is_better=lower_is_better)
    ranks = ranks_within(table.scores if table.lower_is_better else -table.scores)
    n_tasks = np.count_nonzero(~np.isnan(ranks), axis=1)
    mean = np.nansum(ranks, axis=1) / np.where(n_tasks > 0, n_tasks, np.nan)
    order = np.argsort(mean, kind="stable")
    ranks, sorted_scores = ranks[order], table.scores[order]
    shade = shades_of(ranks) if kind == "rank" else _by_score(sorted_scores, table)
    texts = None
    if sorted_scores.size <= _WRITTEN:
        texts = _written(sorted_scores)
    rows = [table.names[i] for i in order]
    ax = draw_cells(shade, rows, table.tasks, texts, ax=ax)
    meaning = _KINDS[kind]
    if np.isnan(sorted_scores).any():
        meaning += "; grey: no score"
    ax.set_xlabel(f"{meaning}\nmodels by their mean rank", fontsize=8)
    return ax


def _read(scores: Any, names: Any, tasks: Any, *, lower_is_better: bool) -> ScoreTable:
    """Read scores, or take them from a comparison of them."""
    if isinstance(scores, ScoreTable):
        return scores
    if isinstance(scores, DatasetsResult):
        lower = scores.lower_is_better
        return ScoreTable(scores.names, scores.tasks, scores.scores, lower)
    return read_scores(scores, names, tasks, lower_is_better=lower_is_better)


def _by_score(scores: Floats, table: ScoreTable) -> Floats:
    low, high = np.nanmin(scores), np.nanmax(scores)
    shade = (scores - low) / (high - low) if high > low else scores * 0 + 0.5
    return 1 - shade if table.lower_is_better else shade


def _written(scores: Floats) -> NDArray[Any]:
    """Write scores with three digits, nothing where there is none."""
    largest = np.nanmax(np.abs(scores), initial=0.0)
    form = ".3f" if largest < 10 else ".3g"
    texts = [["" if np.isnan(x) else f"{x:{form}}" for x in row] for row in scores]
    return np.array(texts, dtype=object)
