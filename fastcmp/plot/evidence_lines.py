"""The picture of evidence over time: e-values at the looks of one comparison."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp.plot.style import COLOURS, GREY, LEGEND, prepare_axes
from fastcmp.sequential.looks_result import LooksResult

if TYPE_CHECKING:
    from typing import TypeAlias

    Axes: TypeAlias = Any


def evidence(result: LooksResult, *, ax: Axes | None = None) -> Axes:
    """Draw the e-value at each look, on a logarithmic scale.

    The dashed line is 1 / alpha: where the e-value first reaches it, the test is
    decided, and stays so. Below 1 the samples speak for the null hypothesis.

    Parameters
    ----------
    result : LooksResult
        From the `look` of a state of `fastcmp.sequential`, or `mcnemar_looks`.
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
    >>> from fastcmp import plot, sequential
    >>> looks = sequential.mcnemar_looks([3, 9, 30], [1, 2, 8], n_samples=[40, 90, 300])
    >>> ax = plot.evidence(looks)
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('Samples', 'Evidence (log10 of the e-value)')
    >>> plt.close(ax.figure)
    """
    if not isinstance(result, LooksResult):
        raise TypeError(f"evidence draws a LooksResult, got {type(result).__name__}")
    ax = prepare_axes(ax, (6.2, 3.8))
    # An e-value of 0 has no logarithm: it is drawn at the least of the others.
    heights = result.log_evalue / math.log(10.0)
    seen = heights[np.isfinite(heights)]
    least, most = (seen.min(), seen.max()) if seen.size else (0.0, 0.0)
    heights = np.clip(heights, least - 1.0, most + 1.0)
    limit = -math.log10(result.alpha)
    ax.axhline(0.0, color=GREY, linewidth=0.9, linestyle=(0, (1, 2)))
    handles = [
        ax.axhline(
            limit,
            color=COLOURS[1],
            linewidth=1.4,
            linestyle="--",
            label=f"1 / alpha = {1 / result.alpha:.4g}",
        )
    ]
    line = {"color": COLOURS[0], "linewidth": 1.8, "marker": "o", "markersize": 4}
    handles += ax.plot(result.n_samples, heights, label="a look", **line)
    first = result.first_rejection
    if first is not None:
        where = result.n_samples[first], heights[first]
        mark = {"color": COLOURS[2], "marker": "D", "markersize": 9, "linestyle": ""}
        handles += ax.plot(*where, label=f"decided at {where[0]}", **mark)
    unit = "Samples" if not np.isnan(result.low).any() else "Discordant samples"
    ax.set(xlabel=unit, ylabel="Evidence (log10 of the e-value)")
    ax.xaxis.get_major_locator().set_params(integer=True)
    ax.margins(y=0.1)
    ax.spines[["top", "right"]].set_visible(False)
    # Above the axes, where no look can be.
    ax.legend(
        handles=handles,
        loc="lower left",
        bbox_to_anchor=(0.0, 1.0),
        ncols=3,
        frameon=False,
        **LEGEND,
    )
    return ax
