"""Pictures of ranks: the critical difference diagram, and ranks in the bootstrap of tasks."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from fastcmp import pictures
from fastcmp.datasets.task_draws import TaskBootstrap
from fastcmp.pairwise.result import PairwiseResult
from fastcmp.plot.maps import draw_cells
from fastcmp.plot.pairwise import checked, longest
from fastcmp.plot.style import COLOURS, GREY, as_text, check_drawn, fitting_size, prepare_axes

Axes: TypeAlias = Any


def critical_difference(result: PairwiseResult, *, ax: Axes | None = None) -> Axes:
    """Draw models on the line of their scores or mean ranks, ties joined by bars.

    The best are on the right. Each bar is a set of models of which no two are
    significantly different; its members have a dot on it. A model that a bar passes
    without a dot is not in that set. Pairs that were not tested are never joined, and
    the label of the axis counts them. Of models on many data sets the line is that of
    mean ranks; where the test knows one critical difference, as Nemenyi's does, a bar
    of its length is drawn as well.

    Parameters
    ----------
    result : PairwiseResult
        From `compare_all`, `compare_datasets`, or ``delong(...).pairwise()``.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default on a new figure. Names stand left and right of it.

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

    References
    ----------
    .. [1] J. Demsar, "Statistical comparisons of classifiers over multiple data sets",
       J. Machine Learning Research 7 (2006) 1-30; the form of the picture. What is
       joined here comes from the decisions on all pairs.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from fastcmp import compare_all, load_digits, plot
    >>> ax = plot.critical_difference(compare_all(*load_digits()))
    >>> ax.get_xlabel()
    'Accuracy (%); bars join models not significantly different at 0.05'
    >>> plt.close(ax.figure)
    """
    result = checked(result, "critical_difference")
    picture = pictures.ranking(result)
    low, high = picture.low, picture.high
    above = 1.0 if picture.critical is not None else 0.0
    top = above + 0.5 * (picture.n_levels + 1)
    rows, names = top + picture.n_rows, [as_text(name) for name in picture.names]
    ax = prepare_axes(ax, (5.0 + 0.16 * longest(names), 1.0 + 0.22 * rows))
    ax.set(xlim=(low, high), ylim=(rows, 0.0))
    size = fitting_size(ax, rows, 9.0)
    beside: dict[str, Any] = {"transform": ax.get_yaxis_transform(), "va": "center"}
    for model, x, value, side, row in picture.places:
        is_left, y = side == "left", top + row + 0.5
        ax.plot([x, x, low if is_left else high], [0.0, y, y], color=GREY, linewidth=0.9)
        ax.text(
            -0.01 if is_left else 1.01,
            y,
            f"{names[model]}  {value}" if is_left else f"{value}  {names[model]}",
            ha="right" if is_left else "left",
            fontsize=size,
            **beside,
        )
    space = 0.0085 * (high - low)
    for _, tied, level in picture.ties:
        y = above + 0.5 * (level + 1)
        ax.plot(
            (tied[0] - space, tied[-1] + space), (y, y), color=COLOURS[0], linewidth=3.5, zorder=3
        )
        dots = {"color": COLOURS[0], "markerfacecolor": "white", "markersize": 5}
        ax.plot(tied, np.full(tied.size, y), "o", zorder=4, **dots)
    if picture.critical is not None:
        style = {"color": "black", "linewidth": 1.2, "marker": "|", "markersize": 8}
        ax.plot((high - picture.critical, high), (0.7, 0.7), **style)
        ax.text(1.01, 0.7, f"CD = {picture.critical:.3g}", ha="left", size=8, **beside)
    ax.set_yticks([])
    ax.spines[["left", "right", "bottom"]].set_visible(False)
    ax.xaxis.tick_top()
    ax.xaxis.set_label_position("top")
    if picture.sign < 0:
        ax.xaxis.set_major_formatter(lambda x, _: f"{abs(x):g}")
    meaning = f"bars join models not significantly different at {picture.alpha:g}"
    if picture.n_untested:
        meaning += f"\n{picture.n_untested} pairs were not tested: no bar joins these"
    between = "\n" if picture.sign < 0 else "; "
    ax.set_xlabel(picture.label + between + meaning)
    return ax


# The picture of ranks in the bootstrap of tasks.


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
    check_drawn(
        result,
        TaskBootstrap,
        "rank_distribution draws a TaskBootstrap, from datasets.task_bootstrap",
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
