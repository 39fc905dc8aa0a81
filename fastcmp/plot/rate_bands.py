"""Pictures of rates with their bootstrap intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp.plot.style import GREY, as_text, curve_style, place_legend, prepare_axes
from fastcmp.scores.roc_bands import RocBand

if TYPE_CHECKING:
    from typing import TypeAlias

    Axes: TypeAlias = Any


def roc_band(result: RocBand, *, confidence_level: float = 0.95, ax: Axes | None = None) -> Axes:
    """Draw the rates of models over the given rates, each with its pointwise band.

    Parameters
    ----------
    result : RocBand
        From `fastcmp.roc_band`.
    confidence_level : float
        Of the intervals, in (0, 1).
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default on a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        What was drawn on.

    Raises
    ------
    ValueError
        If the level lies outside (0, 1).
    TypeError
        If `result` or `ax` is something else.
    ImportError
        If matplotlib is not installed.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from fastcmp import plot, roc_band
    >>> y_true, score = [0, 0, 1, 0, 1, 1], [0.1, 0.3, 0.4, 0.6, 0.7, 0.9]
    >>> ax = plot.roc_band(roc_band(y_true, score, n_resamples=100, rng=1))
    >>> ax.get_xlabel()
    'Specificity'
    >>> plt.close(ax.figure)
    """
    if not isinstance(result, RocBand):
        raise TypeError(f"roc_band draws a RocBand, got {type(result).__name__}")
    low, high = result.confidence_interval(confidence_level)
    ax = prepare_axes(ax, (5.2, 5.2))
    order = np.argsort(result.at, kind="stable")
    x, n_models, handles = result.at[order], len(result.names), []
    for m, name in enumerate(result.names):
        style = curve_style(m, n_models)
        band = {"color": style["color"], "alpha": 0.18, "linewidth": 0}
        ax.fill_between(x, low[m, order], high[m, order], **band)
        handles += ax.plot(x, result.estimate[m, order], label=as_text(name), **style)
    ax.plot([0, 1], [1, 0], color=GREY, linewidth=0.9, linestyle=(0, (1, 2)))
    ax.set(xlim=(1.01, -0.01), ylim=(-0.01, 1.01))
    ax.set(xlabel=result.given.capitalize(), ylabel=result.measure.capitalize())
    place_legend(ax, handles, f"{100 * confidence_level:g}% bands", inside=True)
    return ax
