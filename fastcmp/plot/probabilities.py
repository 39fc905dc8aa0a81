"""Pictures of probabilities: decision curves, reliability diagrams, and what scores consist of."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from fastcmp.core.checks import as_flag
from fastcmp.estimates.calibration import Calibration
from fastcmp.estimates.decision_curves import DecisionCurve
from fastcmp.estimates.reliability import ReliabilityDiagram
from fastcmp.plot.style import COLOURS, GREY, as_text, curve_style, place_legend, prepare_axes

Axes: TypeAlias = Any

_DOTTED = (0, (1, 2))


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
    if not isinstance(result, DecisionCurve):
        raise TypeError(f"decision_curve draws a DecisionCurve, got {type(result).__name__}")
    differences = as_flag(differences, "differences")
    ax = prepare_axes(ax, (6.2, 4.2))
    x, handles, what = result.thresholds, [], "net benefit"
    if result.standardised:
        what = "standardised net benefit"
    if differences:
        for p, (a, b) in enumerate(result.pairs.tolist()):
            style = curve_style(p, len(result.pairs))
            band = {"color": style["color"], "alpha": 0.18, "linewidth": 0}
            ax.fill_between(x, *np.moveaxis(np.asarray(result.band)[p], 1, 0), **band)
            label = f"{as_text(result.names[a])} - {as_text(result.names[b])}"
            handles += ax.plot(x, result.difference[p], label=label, **style)
        what = f"difference of {what}"
    else:
        count = len(result.names) - 2
        for m, name in enumerate(result.names[:count]):
            style = curve_style(m, count)
            handles += ax.plot(x, result.net_benefit[m], label=as_text(name), **style)
        every = {"color": GREY, "linewidth": 1.2, "linestyle": "--", "label": "treat all"}
        handles += ax.plot(x, result.net_benefit[count], **every)
        # Treating all soon costs more than any model gains: the picture ends a little below 0.
        largest = float(np.nanmax(result.net_benefit[:, :], initial=0.0))
        if largest > 0.0:
            ax.set_ylim(-0.15 * largest, 1.05 * largest)
    nobody = {"color": GREY, "linewidth": 0.9, "linestyle": _DOTTED}
    line = ax.axhline(0.0, label="treat none", **nobody)
    ax.set(xlabel="Threshold probability", ylabel=what[0].upper() + what[1:])
    ax.spines[["top", "right"]].set_visible(False)
    place_legend(ax, handles if differences else [*handles, line], None, inside=False)
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
    if not isinstance(result, ReliabilityDiagram):
        raise TypeError(f"reliability draws a ReliabilityDiagram, got {type(result).__name__}")
    ax = prepare_axes(ax, (5.2, 5.2))
    model, handles = np.array(result.model, object), []
    ax.plot([0, 1], [0, 1], color=GREY, linewidth=0.9, linestyle=_DOTTED)
    for m, name in enumerate(result.names):
        rows, style = model == name, curve_style(m, len(result.names))
        x = result.probability[rows]
        band = {"color": style["color"], "alpha": 0.15, "linewidth": 0}
        ax.fill_between(x, result.band_low[rows], result.band_high[rows], **band)
        handles += ax.plot(x, result.recalibrated[rows], label=as_text(name), **style)
        if result.methods[m] == "binomial":
            dots = {"color": style["color"], "marker": "o", "markersize": 4, "linestyle": ""}
            ax.plot(x, result.observed[rows], **dots)
    ax.set(xlim=(-0.01, 1.01), ylim=(-0.01, 1.01), xlabel="Probability", ylabel="Frequency")
    ax.set_aspect("equal")
    title = f"{100 * result.confidence_level:g}% {result.band} bands"
    place_legend(ax, handles, title, inside=True)
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
    if not isinstance(result, Calibration):
        raise TypeError(f"calibration draws a Calibration, got {type(result).__name__}")
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
        ax.axline((0.0, level), slope=1.0, color=GREY, linewidth=0.6, linestyle=_DOTTED)
    ax.set(xlabel="Miscalibration", ylabel="Discrimination")
    ax.spines[["top", "right"]].set_visible(False)
    place_legend(ax, handles, "dotted: equal scores", inside=False)
    return ax
