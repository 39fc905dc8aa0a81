"""The picture of ranks in the bootstrap of tasks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp.datasets.task_bootstrap_result import TaskBootstrap
from fastcmp.plot.heat_map import draw_cells
from fastcmp.plot.style import COLOURS

if TYPE_CHECKING:
    from typing import TypeAlias

    Axes: TypeAlias = Any

_WRITTEN = 30  # models whose probabilities are written


def rank_distribution(result: TaskBootstrap, *, ax: Axes | None = None) -> Axes:
    """Draw how often each model has each rank when tasks are drawn again.

    Rows are models, the best mean rank of the draws first; columns are ranks. The
    darker a cell, the more probable the rank. The frame in each row is the interval of
    the rank.

    Parameters
    ----------
    result : TaskBootstrap
        From `fastcmp.datasets.task_bootstrap`.
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
    >>> from fastcmp import datasets, load_demsar, plot
    >>> tasks, areas = load_demsar()
    >>> ax = plot.rank_distribution(datasets.task_bootstrap(areas, rng=1))
    >>> [label.get_text() for label in ax.get_xticklabels()]
    ['1', '2', '3', '4']
    >>> plt.close(ax.figure)
    """
    if not isinstance(result, TaskBootstrap):
        raise TypeError(
            "rank_distribution draws a TaskBootstrap, from datasets.task_bootstrap, "
            f"got {type(result).__name__}"
        )
    chance = np.asarray(result.rank_distribution, dtype=np.float64)
    n = len(chance)
    order = np.argsort(chance @ np.arange(1, n + 1), kind="stable")
    chance, intervals = chance[order], np.asarray(result.rank_interval)[order]
    texts = None
    if n <= _WRITTEN:
        texts = np.array([[_written(p) for p in row] for row in chance], dtype=object)
    names = [result.names[i] for i in order]
    shade = chance / chance.max()
    ax = draw_cells(shade, names, [str(k) for k in range(1, n + 1)], texts, ax=ax)
    ax.tick_params(axis="x", rotation=0)
    for label in ax.get_xticklabels():
        label.set_horizontalalignment("center")
    for row, (low, high) in enumerate(intervals):
        _frame(ax, row, float(low), float(high))
    level = 100 * result.confidence_level
    meaning = f"Rank when tasks are drawn again\nframes: {level:.9g}% of the draws"
    ax.set_xlabel(meaning, fontsize=8)
    return ax


def _frame(ax: Axes, row: int, low: float, high: float) -> None:
    """Draw a frame around the cells of an interval of ranks."""
    from matplotlib.patches import Rectangle

    corner = low - 1.5, row - 0.45
    style: dict[str, Any] = {"edgecolor": COLOURS[1], "linewidth": 1.6}
    ax.add_patch(Rectangle(corner, high - low + 1, 0.9, fill=False, clip_on=False, **style))


def _written(chance: float) -> str:
    """Write a probability in percent, nothing for less than one half."""
    return "" if chance < 0.005 else f"{100 * chance:.0f}%"
