"""Pictures of probabilities: decision curves, reliability diagrams, and what scores consist of."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from fastcmp import pictures
from fastcmp.core.checks import as_flag
from fastcmp.estimates.calibration import Calibration
from fastcmp.estimates.decision_curves import DecisionCurve
from fastcmp.estimates.reliability import ReliabilityDiagram
from fastcmp.plot.style import (
    COLOURS,
    DOTTED,
    GREY,
    as_text,
    check_drawn,
    draw_curves,
    place_legend,
    prepare_axes,
)

Axes: TypeAlias = Any


def decision_curve(
    result: DecisionCurve, *, differences: bool = False, ax: Axes | None = None
) -> Axes:
    """Draw net benefits over thresholds, or their differences with the band.

    Parameters
    ----------
    result : DecisionCurve
        From `fastcmp.decision_curve`.
    differences : bool
        Whether to draw the differences of its pairs, each with the band that holds for all
        pairs and thresholds at once.
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
    >>> from fastcmp import decision_curve, plot
    >>> ax = plot.decision_curve(decision_curve([0, 0, 1, 1], [0.1, 0.4, 0.4, 0.9], rng=1))
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('Threshold probability', 'Net benefit')
    >>> plt.close(ax.figure)
    """
    check_drawn(result, DecisionCurve, "decision_curve draws a DecisionCurve")
    differences = as_flag(differences, "differences")
    ax = prepare_axes(ax, (6.2, 4.2))
    handles = draw_curves(pictures.net_benefit(result, differences=differences), ax)
    ax.spines[["top", "right"]].set_visible(False)
    place_legend(ax, handles, None, inside=False)
    return ax


def reliability(result: ReliabilityDiagram, *, ax: Axes | None = None) -> Axes:
    """Draw isotonic frequencies over probabilities, with their band.

    Parameters
    ----------
    result : ReliabilityDiagram
        From `fastcmp.reliability_diagram`.
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
    >>> from fastcmp import plot, reliability_diagram
    >>> ax = plot.reliability(reliability_diagram([0, 0, 1, 1], [0.1, 0.4, 0.4, 0.9], rng=1))
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('Probability', 'Frequency')
    >>> plt.close(ax.figure)
    """
    check_drawn(result, ReliabilityDiagram, "reliability draws a ReliabilityDiagram")
    ax = prepare_axes(ax, (5.2, 5.2))
    picture = pictures.reliability(result)
    place_legend(ax, draw_curves(picture, ax), picture.legend, inside=True)
    return ax


def calibration(result: Calibration, *, ax: Axes | None = None) -> Axes:
    """Draw discrimination over miscalibration, with intervals, and lines of equal score.

    Parameters
    ----------
    result : Calibration
        From `fastcmp.calibration`.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default on a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        What was drawn on. Better models are further up and to the left.

    Raises
    ------
    TypeError
        If `result` or `ax` is something else.
    ImportError
        If matplotlib is not installed.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from fastcmp import calibration, plot
    >>> ax = plot.calibration(calibration([0, 0, 1, 1], [0.1, 0.4, 0.4, 0.9]))
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('Miscalibration', 'Discrimination')
    >>> plt.close(ax.figure)
    """
    check_drawn(result, Calibration, "calibration draws a Calibration")
    ax = prepare_axes(ax, (5.6, 4.6))
    balanced = result.method == "balanced"
    x, y = (result.mcb_balanced, result.dsc_balanced) if balanced else (result.mcb, result.dsc)
    (across, up), handles = (result.interval_of(name) for name in ("mcb", "dsc")), []
    for m, name in enumerate(result.names):
        colour = COLOURS[m % len(COLOURS)]
        ends = [[[v[m] - e[m, 0]], [e[m, 1] - v[m]]] for v, e in ((x, across), (y, up))]
        bars = {"color": colour, "marker": "o", "markersize": 5, "elinewidth": 1, "linestyle": ""}
        ends = [np.nan_to_num(end) for end in ends]
        handles.append(ax.errorbar(x[m], y[m], *reversed(ends), label=as_text(name), **bars))
    ax.margins(0.1)
    for level in np.unique(y - x)[np.isfinite(np.unique(y - x))]:
        ax.axline((0.0, level), slope=1.0, color=GREY, linewidth=0.6, linestyle=DOTTED)
    ax.set(xlabel="Miscalibration", ylabel="Discrimination")
    ax.spines[["top", "right"]].set_visible(False)
    place_legend(ax, handles, "dotted: equal scores", inside=False)
    return ax
