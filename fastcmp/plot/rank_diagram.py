"""The critical difference diagram: models on a line, ties joined by bars."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp.plot.style import COLOURS, GREY, as_text, fitting_size, prepare_axes

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TypeAlias

    from numpy.typing import NDArray

    from fastcmp.pairwise.result import PairwiseResult

    Axes: TypeAlias = Any
    Floats = NDArray[np.float64]


from fastcmp.plot.pairwise import MEASURES, checked, longest


def critical_difference(result: PairwiseResult, *, ax: Axes | None = None) -> Axes:
    """Draw models on the line of their scores, ties joined by bars.

    Each bar is a set of models of which no two are significantly different; its members
    have a dot on it. A model that a bar passes without a dot is not in that set. Pairs
    that were not tested are never joined, and the label of the axis counts them.

    Parameters
    ----------
    result : PairwiseResult
        From `compare_all`, or ``delong(...).pairwise()``.
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
       joined here comes from tests of all pairs, not from one critical difference.

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
    label, scale = MEASURES.get(result.measure, (result.measure, 1.0))
    score = scale * result.score
    groups = [group for group in result.groups.groups if len(group) > 1]
    margin = 0.03 * (np.ptp(score) or 1.0)
    levels = _stack([score[list(group)] for group in groups], margin)
    top = 0.5 * (max(levels, default=-1) + 2)
    rows = top + (score.size + 1) // 2
    width = 5.0 + 0.16 * longest([as_text(name) for name in result.names])
    ax = prepare_axes(ax, (width, 1.0 + 0.22 * rows))
    ends = score.min() - margin, score.max() + margin
    ax.set(xlim=ends, ylim=(rows, 0.0))
    _hang_names(ax, result, score, top)
    for group, level in zip(groups, levels, strict=True):
        x, y = np.sort(score[list(group)]), 0.5 * (level + 1)
        reach = x[0] - 0.3 * margin, x[-1] + 0.3 * margin
        ax.plot(reach, (y, y), color=COLOURS[0], linewidth=3.5, zorder=3)
        dots = {"color": COLOURS[0], "markerfacecolor": "white", "markersize": 5}
        ax.plot(x, np.full(x.size, y), "o", zorder=4, **dots)
    ax.set_yticks([])
    ax.spines[["left", "right", "bottom"]].set_visible(False)
    ax.xaxis.tick_top()
    ax.xaxis.set_label_position("top")
    meaning = f"{label}; bars join models not significantly different at "
    meaning += f"{result.alpha:g}"
    left = score.size * (score.size - 1) // 2 - result.n_pairs
    if left:
        meaning += f"\n{left} pairs were not tested: no bar joins these"
    ax.set_xlabel(meaning)
    return ax


def _stack(members: Sequence[Floats], gap: float) -> list[int]:
    """Give each bar the first level on which it meets no other bar."""
    levels = [0] * len(members)
    ends_of_levels: list[float] = []  # where the last bar of each level ends
    for k in sorted(range(len(members)), key=lambda k: float(members[k].min())):
        low, high = float(members[k].min()), float(members[k].max())
        free = (level for level, end in enumerate(ends_of_levels) if end + gap < low)
        levels[k] = next(free, len(ends_of_levels))
        ends_of_levels[levels[k] : levels[k] + 1] = [high]
    return levels


def _hang_names(ax: Axes, result: PairwiseResult, score: Floats, top: float) -> None:
    """Lead a line from each score down, and then out to the name.

    The outermost models have the highest rows, so that no two lines cross.
    """
    ends, order = ax.get_xlim(), np.argsort(score, kind="stable")
    half = score.size // 2
    size = fitting_size(ax, ax.get_ylim()[0], 9.0)
    digits = 2 if result.measure == "accuracy" else 4
    for side, models in enumerate((order[:half], order[: half - 1 : -1])):
        for row, model in enumerate(models):
            x, y = score[model], top + row + 0.5
            ax.plot([x, x, ends[side]], [0.0, y, y], color=GREY, linewidth=0.9)
            name, value = as_text(result.names[model]), f"{x:.{digits}f}"
            ax.text(
                (-0.01, 1.01)[side],
                y,
                (f"{name}  {value}", f"{value}  {name}")[side],
                transform=ax.get_yaxis_transform(),
                ha=("right", "left")[side],
                va="center",
                fontsize=size,
            )
