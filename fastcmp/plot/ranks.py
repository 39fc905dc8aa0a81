"""Pictures of ranks: the critical difference diagram, and ranks in the bootstrap of tasks."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from fastcmp.datasets.comparison import DatasetsResult, RankLine, rank_line, stacked
from fastcmp.datasets.task_draws import TaskBootstrap
from fastcmp.pairwise.result import PairwiseResult
from fastcmp.plot.maps import draw_cells
from fastcmp.plot.pairwise import checked, longest
from fastcmp.plot.style import COLOURS, GREY, as_text, fitting_size, prepare_axes

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
    line = rank_line(result)
    score = line.place
    groups = [group for group in result.groups.groups if len(group) > 1]
    margin = 0.03 * (np.ptp(score) or 1.0)
    levels = stacked([score[list(group)] for group in groups], margin)
    above = 1.0 if line.critical is not None else 0.0
    top = above + 0.5 * (max(levels, default=-1) + 2)
    rows = top + (score.size + 1) // 2
    width = 5.0 + 0.16 * longest([as_text(name) for name in result.names])
    ax = prepare_axes(ax, (width, 1.0 + 0.22 * rows))
    ends = score.min() - margin, score.max() + margin
    if line.critical is not None:
        ends = min(ends[0], ends[1] - line.critical - margin), ends[1]
    ax.set(xlim=ends, ylim=(rows, 0.0))
    _hang_names(ax, result, line, top)
    for group, level in zip(groups, levels, strict=True):
        x, y = np.sort(score[list(group)]), above + 0.5 * (level + 1)
        reach = x[0] - 0.3 * margin, x[-1] + 0.3 * margin
        ax.plot(reach, (y, y), color=COLOURS[0], linewidth=3.5, zorder=3)
        dots = {"color": COLOURS[0], "markerfacecolor": "white", "markersize": 5}
        ax.plot(x, np.full(x.size, y), "o", zorder=4, **dots)
    if line.critical is not None:
        _draw_critical(ax, line.critical)
    _turn(ax, line, _meaning(result, line.label))
    return ax


def _turn(ax: Axes, line: RankLine, meaning: str) -> None:
    """Put the axis on top, and write what it means."""
    ax.set_yticks([])
    ax.spines[["left", "right", "bottom"]].set_visible(False)
    ax.xaxis.tick_top()
    ax.xaxis.set_label_position("top")
    if line.sign < 0:
        ax.xaxis.set_major_formatter(lambda x, _: f"{abs(x):g}")
    ax.set_xlabel(meaning)


def _meaning(result: PairwiseResult, label: str) -> str:
    """What the line and the bars are, in words."""
    between = "\n" if isinstance(result, DatasetsResult) else "; "
    meaning = f"{label}{between}bars join models not significantly different at "
    meaning += f"{result.alpha:g}"
    n = len(result.names)
    left = n * (n - 1) // 2 - result.n_pairs
    if left:
        meaning += f"\n{left} pairs were not tested: no bar joins these"
    return meaning


def _draw_critical(ax: Axes, critical: float) -> None:
    """Draw a bar as long as the critical difference, its label right of the axis."""
    right = ax.get_xlim()[1]
    ends = right - critical, right
    style = {"color": "black", "linewidth": 1.2}
    ax.plot(ends, (0.7, 0.7), marker="|", markersize=8, **style)
    place = {"transform": ax.get_yaxis_transform(), "ha": "left", "va": "center", "size": 8}
    ax.text(1.01, 0.7, f"CD = {critical:.3g}", **place)


def _hang_names(ax: Axes, result: PairwiseResult, line: RankLine, top: float) -> None:
    """Lead a line from each score down, and then out to the name.

    The outermost models have the highest rows, so that no two lines cross.
    """
    ends, order = ax.get_xlim(), np.argsort(line.place, kind="stable")
    half = order.size // 2
    size = fitting_size(ax, ax.get_ylim()[0], 9.0)
    for side, models in enumerate((order[:half], order[: half - 1 : -1])):
        for row, model in enumerate(models):
            x, y = line.place[model], top + row + 0.5
            ax.plot([x, x, ends[side]], [0.0, y, y], color=GREY, linewidth=0.9)
            name = as_text(result.names[model])
            value = f"{line.sign * x:.{line.digits}f}"
            ax.text(
                (-0.01, 1.01)[side],
                y,
                (f"{name}  {value}", f"{value}  {name}")[side],
                transform=ax.get_yaxis_transform(),
                ha=("right", "left")[side],
                va="center",
                fontsize=size,
            )


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
