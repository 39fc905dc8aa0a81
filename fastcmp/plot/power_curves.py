"""Pictures of plans: power over the number of samples."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from contextlib import suppress
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fastcmp import planning
from fastcmp.planning.plan_result import Plan, format_percent
from fastcmp.plot.style import GREY, as_text, curve_style, place_legend, prepare_axes

if TYPE_CHECKING:
    from typing import TypeAlias

    from numpy.typing import NDArray

    Axes: TypeAlias = Any

_MOST = 20  # curves that can be distinguished
_INSIDE = 6  # curves whose legend stands inside the axes
_NAMED = 2  # marks that stand in the legend
_GUIDED = 6  # marks with lines to the axes
_TITLE = 40  # letters of a line of the legend's title
_POINTS = 101  # of a curve
_FEW = 21  # of what is averaged over draws
_SIMULATED = np.array([0.25, 0.4, 0.6, 0.8, 1.0, 1.25, 1.6, 2.0])
_WIDE = 30.0  # ratio of numbers beyond which their axis is logarithmic
_BEFORE = 6.0  # ratio of the lowest number to the first of a logarithmic axis
_NO_N = 1000.0  # samples to draw to where no number is enough


class _Line(NamedTuple):
    """One curve: a plan with numbers in place of arrays."""

    plan: Plan
    #: What differs from the plan's other curves, by name.
    varying: dict[str, Any]
    inputs: dict[str, Any]
    alpha: float
    margin: float | None
    #: Samples and power of what was planned.
    marks: list[tuple[float, float]]

    @property
    def simulated(self) -> bool:
        """Whether powers are simulated."""
        return self.plan.power_standard_error is not None

    def at(self, n: Any) -> Plan:
        """Give the power of so many samples."""
        return planning.power(n=n, **self._options())

    def _options(self) -> dict[str, Any]:
        plan = self.plan
        options = {"test": plan.test, "method": plan.method, "margin": self.margin}
        options |= {"hypothesis": plan.hypothesis, "alternative": plan.alternative}
        return options | {"alpha": self.alpha} | self.inputs

    @property
    def fewest(self) -> float:
        """Samples that all tests can be made with."""
        ratio = self.inputs.get("ratio", 1.0)
        return float(2.0 * self.inputs.get("cluster_size", 1.0) / min(ratio, 1.0))

    def ends(self) -> tuple[float, float]:
        """Give the numbers of samples between which there is something to see."""
        numbers = [n for n, _ in self.marks if np.isfinite(n)]
        if self.simulated or "so_far" in self.inputs:
            numbers = numbers or [_NO_N]
            return min(numbers) / 4, 2 * max(numbers)
        without = {k: x for k, x in self._options().items() if k != "pilot"}
        if "pilot" in self.inputs:
            only_a, only_b, n = self.inputs["pilot"]
            without |= {"p10": only_a / n, "p01": only_b / n}
        for power in (0.5, 0.99):
            with suppress(ValueError):  # a power that is less than alpha
                numbers.append(planning.sample_size(power=power, **without).n)
        numbers = [n for n in numbers if np.isfinite(n)] or [_NO_N]
        return min(numbers), max(numbers)


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
    lines = [(name, line) for name, plan in plans for line in _lines(plan)]
    if not lines:
        message = "result must have a difference that is found, to draw its power"
        raise ValueError(message)
    if len(lines) > _MOST:
        message = f"power_curve draws at most {_MOST} curves, got {len(lines)}"
        raise ValueError(message)
    ax = prepare_axes(ax, (6.4, 4.4))
    ends = np.array([line.ends() for _, line in lines])
    low, high = ends[:, 0].min(), ends[:, 1].max()
    logarithmic = bool(high > _WIDE * low)
    labels = _labels(lines)
    guided = sum(len(line.marks) for _, line in lines) <= _GUIDED
    handles = []
    for i, (_, line) in enumerate(lines):
        style = curve_style(i, len(lines)) | {"label": labels[i]}
        numbers = _numbers(line, low, high, logarithmic=logarithmic)
        handles += _draw(ax, line, numbers, style)
        _mark(ax, line, style["color"], guided=guided)
    ax.set(xscale="log" if logarithmic else "linear", ylim=(0.0, 1.04))
    ax.set(xlim=(low / _BEFORE if logarithmic else 0.0, high * 1.04), ylabel="Power")
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
            message = f"power_curve draws a Plan, or several by name, got {plan!r:.60}"
            raise TypeError(message)
    units = dict.fromkeys(plan.unit for _, plan in plans)
    if len(units) > 1:
        message = f"plans must count the same in one picture, got {', '.join(units)}"
        raise ValueError(message)
    return [(str(name), plan) for name, plan in plans]


def _lines(plan: Plan) -> list[_Line]:
    """Split a plan into curves; those without a difference have none."""
    shape = np.shape(plan.power)
    given = dict(plan.inputs)
    if plan.solved_for == "difference" and plan.test != "auc":
        given["difference"] = plan.difference
    lines: dict[Any, _Line] = {}
    for index in np.ndindex(shape):

        def one(value: Any, index: tuple[int, ...] = index) -> Any:
            return _one(value, shape, index)

        if np.isnan(one(plan.difference)):
            continue
        # What belongs to the models of a leaderboard is no array of plans.
        board = plan.test == "leaderboard"
        inputs = {name: x if board else one(x) for name, x in given.items()}
        alpha, margin = one(plan.alpha), one(plan.margin)
        varying = {"difference": round(one(plan.difference), 12)}
        if {"p10", "p01"} <= set(inputs):
            varying["discordant"] = round(inputs["p10"] + inputs["p01"], 12)
        varying |= {"margin": margin, "alpha": alpha}
        varying |= {name: x for name, x in inputs.items() if given[name] is not x}
        line = _Line(plan, varying, inputs, alpha, margin, [])
        mark = one(plan.n), one(plan.power)
        lines.setdefault(tuple(varying.items()), line).marks.append(mark)
    return list(lines.values())


def _one(value: Any, shape: tuple[int, ...], index: tuple[int, ...]) -> Any:
    """Give the number of one plan."""
    if isinstance(value, tuple):
        return tuple(_one(each, shape, index) for each in value)
    if isinstance(value, np.ndarray) and value.dtype.kind in "fiub":
        return np.broadcast_to(value, shape)[index].item()
    return value


def _labels(lines: list[tuple[str, _Line]]) -> list[str]:
    """Name each curve by what differs, and by what was planned if that is one."""
    labels = []
    for name, line in lines:
        among = [other.varying for _, other in lines if other.plan is line.plan]
        shown = _differing(among)
        words = [f"{key} {line.varying[key]:.4g}" for key in shown]
        text = ", ".join(filter(None, [as_text(name), *words]))
        marks = [(n, power) for n, power in line.marks if np.isfinite(n)]
        if 0 < len(marks) <= _NAMED:
            numbers = ", ".join(f"n = {n:,.0f} ({format_percent(x)})" for n, x in marks)
            text += f"{': ' if text else ''}{numbers}"
        labels.append(text or "power")
    return labels


def _differing(among: list[dict[str, Any]]) -> list[str]:
    """Choose as few names as possible by which curves differ."""
    names = [
        name
        for name, value in among[0].items()
        if isinstance(value, (int, float)) and len({each[name] for each in among}) > 1
    ]
    for count in range(len(names)):
        for some in combinations(names, count):
            if len({tuple(each[name] for name in some) for each in among}) == len(
                among
            ):
                return list(some)
    return names


def _numbers(
    line: _Line, low: float, high: float, *, logarithmic: bool
) -> NDArray[np.float64]:
    """Choose the numbers of samples to draw, in whole numbers."""
    marks = [n for n, _ in line.marks if np.isfinite(n)]
    if line.simulated:
        chosen = np.outer(marks or [_NO_N], _SIMULATED)
        if len(marks) > 1:
            chosen = np.append(marks, np.geomspace(low, high, len(_SIMULATED)))
    else:
        count = _POINTS if line.plan.assurance is None else _FEW
        space = np.geomspace if logarithmic else np.linspace
        chosen = np.append(
            marks, space(low / _BEFORE if logarithmic else line.fewest, high, count)
        )
    whole = np.unique(np.round(chosen))
    return np.asarray(whole[whole >= line.fewest])


def _draw(ax: Axes, line: _Line, numbers: Any, style: dict[str, Any]) -> list[Any]:
    """Draw a curve, and what is uncertain about it."""
    if line.simulated:
        x, y, error = _simulated(line, numbers)
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


def _simulated(line: _Line, numbers: Any) -> tuple[Any, Any, Any]:
    """Simulate some powers; numbers that do not suit the test's design are left out."""
    found = []
    for n in numbers:
        with suppress(ValueError):
            plan = line.at([n])  # an array: without what is said of one plan
            found.append((n, plan.power[0], plan.power_standard_error[0]))
    x, y, error = np.array(found).T
    return x, y, error


def _mark(ax: Axes, line: _Line, colour: str, *, guided: bool) -> None:
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
