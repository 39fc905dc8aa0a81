"""Pictures of plans: power over the number of samples."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp.planning.plan_result import Plan
from fastcmp.planning.power_points import (
    BEFORE,
    WIDE,
    PowerLine,
    line_labels,
    numbers_to_draw,
    power_lines,
    simulated_powers,
)
from fastcmp.plot.style import GREY, as_text, curve_style, place_legend, prepare_axes

if TYPE_CHECKING:
    from typing import TypeAlias

    Axes: TypeAlias = Any

_MOST = 20  # curves that can be distinguished
_INSIDE = 6  # curves whose legend stands inside the axes
_GUIDED = 6  # marks with lines to the axes
_TITLE = 40  # letters of a line of the legend's title


def power_curve(result: Plan | Mapping[str, Plan], *, ax: Axes | None = None) -> Axes:
    """Draw the power of plans over the number of samples.

    Parameters
    ----------
    result : Plan or mapping of str to Plan
        From `fastcmp.planning`; of an array of plans a curve for each, but one for all
        that differ only in the number of samples or in the power wanted. Names stand in
        the legend.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default on a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        What was drawn on.

    Raises
    ------
    ValueError
        If there are more than 20 curves, or none, or plans count different things.
    TypeError
        If `result` or `ax` is something else.
    ImportError
        If matplotlib is not installed.

    Notes
    -----
    A dot is what was planned. Of a plan from a pilot the band holds the middle 95% of
    the power over what the pilot leaves open, and the dashed line is its mean. Powers
    that are simulated have bars of 1.96 standard errors.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from fastcmp import planning, plot
    >>> plan = planning.sample_size(p10=0.15, p01=0.05, power=[0.8, 0.9])
    >>> ax = plot.power_curve(plan)
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('Samples', 'Power')
    >>> plt.close(ax.figure)
    """
    plans = _named(result)
    lines = [(as_text(name), line) for name, plan in plans for line in power_lines(plan)]
    if not lines:
        raise ValueError("result must have a difference that is found, to draw its power")
    if len(lines) > _MOST:
        raise ValueError(f"power_curve draws at most {_MOST} curves, got {len(lines)}")
    ax = prepare_axes(ax, (6.4, 4.4))
    ends = np.array([line.ends() for _, line in lines])
    low, high = ends[:, 0].min(), ends[:, 1].max()
    logarithmic = bool(high > WIDE * low)
    labels = line_labels(lines)
    guided = sum(len(line.marks) for _, line in lines) <= _GUIDED
    handles = []
    for i, (_, line) in enumerate(lines):
        style = curve_style(i, len(lines)) | {"label": labels[i]}
        numbers = numbers_to_draw(line, low, high, logarithmic=logarithmic)
        handles += _draw(ax, line, numbers, style)
        _mark(ax, line, style["color"], guided=guided)
    ax.set(xscale="log" if logarithmic else "linear", ylim=(0.0, 1.04))
    ax.set(xlim=(low / BEFORE if logarithmic else 0.0, high * 1.04), ylabel="Power")
    (unit,) = {plan.unit for _, plan in plans}
    ax.set_xlabel(unit.capitalize())
    titles = {plan.test_name for _, plan in plans}
    title = textwrap.fill(titles.pop(), _TITLE) if len(titles) == 1 else None
    place_legend(ax, handles, title, inside=len(handles) <= _INSIDE)
    return ax


def _named(result: Any) -> list[tuple[str, Plan]]:
    """Check the plans, and name them."""
    plans = list(result.items()) if isinstance(result, Mapping) else [("", result)]
    for _, plan in plans:
        if not isinstance(plan, Plan):
            raise TypeError(f"power_curve draws a Plan, or several by name, got {plan!r:.60}")
    units = dict.fromkeys(plan.unit for _, plan in plans)
    if len(units) > 1:
        raise ValueError(f"plans must count the same in one picture, got {', '.join(units)}")
    return [(str(name), plan) for name, plan in plans]


def _draw(ax: Axes, line: PowerLine, numbers: Any, style: dict[str, Any]) -> list[Any]:
    """Draw a curve, and what is uncertain about it."""
    if line.simulated:
        x, y, error = simulated_powers(line, numbers)
        style = {k: x for k, x in style.items() if k != "markevery"} | {"marker": "."}
        return [ax.errorbar(x, y, yerr=1.96 * error, capsize=2, **style)]
    found = line.at(numbers)
    handles = ax.plot(numbers, found.power, **style)
    if found.assurance is not None and found.interval is not None:
        shade = {"color": style["color"], "alpha": 0.15, "linewidth": 0}
        ax.fill_between(numbers, *found.interval, **shade)
        label = "mean over what the pilot leaves open"
        mean = {"color": style["color"], "linestyle": "--", "linewidth": 1.0}
        handles += ax.plot(numbers, found.assurance, label=label, **mean)
    return list(handles)


def _mark(ax: Axes, line: PowerLine, colour: str, *, guided: bool) -> None:
    """Mark what was planned."""
    for n, power in line.marks:
        if not np.isfinite(n):
            continue
        if guided:
            way = {"color": GREY, "linewidth": 0.8, "linestyle": ":"}
            ax.plot([n, n], [0.0, power], **way)
            ax.hlines(power, 0.0, n, **way)
        ring = {"markerfacecolor": "white", "markeredgecolor": colour, "zorder": 3}
        ax.plot([n], [power], "o", markersize=8, markeredgewidth=1.8, **ring)
