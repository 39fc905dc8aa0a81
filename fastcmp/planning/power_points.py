"""Points of power curves: which curves a plan has, and their powers by samples."""

from __future__ import annotations

from contextlib import suppress
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from fastcmp.core.typing import Floats
from fastcmp.planning.plan import Plan, format_percent, sample_size
from fastcmp.planning.plan import power as power_of

_NAMED = 2  # marks that stand in the legend
_POINTS = 101  # of a curve
_FEW = 21  # of what is averaged over draws
_SIMULATED = np.array([0.25, 0.4, 0.6, 0.8, 1.0, 1.25, 1.6, 2.0])
#: Ratio of numbers beyond which their axis is logarithmic.
WIDE = 30.0
#: Ratio of the lowest number to the first of a logarithmic axis.
BEFORE = 6.0
_NO_N = 1000.0  # samples to draw to where no number is enough


class PowerLine(NamedTuple):
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
        """The power of so many samples."""
        return power_of(n=n, **self._options())

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
        """The numbers of samples between which there is something to see."""
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
                numbers.append(sample_size(power=power, **without).n)
        numbers = [n for n in numbers if np.isfinite(n)] or [_NO_N]
        return min(numbers), max(numbers)


def power_lines(plan: Plan) -> list[PowerLine]:
    """The curves of a plan; plans without a difference have none."""
    shape = np.shape(plan.power)
    all_inputs = dict(plan.inputs)
    if plan.solved_for == "difference" and plan.test != "auc":
        all_inputs["difference"] = plan.difference
    lines: dict[Any, PowerLine] = {}
    for index in np.ndindex(shape):

        def one(value: object, index: tuple[int, ...] = index) -> Any:
            return _one(value, shape, index)

        if np.isnan(one(plan.difference)):
            continue
        # Inputs of the models of a leaderboard are not arrays of plans.
        board = plan.test == "leaderboard"
        inputs = {name: x if board else one(x) for name, x in all_inputs.items()}
        alpha, margin = one(plan.alpha), one(plan.margin)
        varying = {"difference": round(one(plan.difference), 12)}
        if {"p10", "p01"} <= set(inputs):
            varying["discordant"] = round(inputs["p10"] + inputs["p01"], 12)
        varying |= {"margin": margin, "alpha": alpha}
        varying |= {name: x for name, x in inputs.items() if all_inputs[name] is not x}
        line = PowerLine(plan, varying, inputs, alpha, margin, [])
        mark = one(plan.n), one(plan.power)
        lines.setdefault(tuple(varying.items()), line).marks.append(mark)
    return list(lines.values())


def _one(value: object, shape: tuple[int, ...], index: tuple[int, ...]) -> Any:
    """The number of one plan."""
    if isinstance(value, tuple):
        return tuple(_one(entry, shape, index) for entry in value)
    if isinstance(value, np.ndarray) and value.dtype.kind in "fiub":
        return np.broadcast_to(value, shape)[index].item()
    return value


def line_labels(lines: list[tuple[str, PowerLine]]) -> list[str]:
    """A label of each curve: what differs, and what was planned if that is one point."""
    labels = []
    for name, line in lines:
        among = [other.varying for _, other in lines if other.plan is line.plan]
        differing = _differing(among)
        words = [f"{key} {line.varying[key]:.4g}" for key in differing]
        text = ", ".join(filter(None, [name, *words]))
        marks = [(n, power) for n, power in line.marks if np.isfinite(n)]
        if 0 < len(marks) <= _NAMED:
            numbers = ", ".join(f"n = {n:,.0f} ({format_percent(x)})" for n, x in marks)
            text += f"{': ' if text else ''}{numbers}"
        labels.append(text or "power")
    return labels


def _differing(among: list[dict[str, Any]]) -> list[str]:
    """Names of inputs, as few as possible, by which the curves differ."""
    names = [
        name
        for name, value in among[0].items()
        if isinstance(value, (int, float)) and len({varying[name] for varying in among}) > 1
    ]
    for count in range(len(names)):
        for subset in combinations(names, count):
            if len({tuple(varying[name] for name in subset) for varying in among}) == len(among):
                return list(subset)
    return names


def numbers_to_draw(line: PowerLine, low: float, high: float, *, logarithmic: bool) -> Floats:
    """The numbers of samples to draw, in whole numbers."""
    marks = [n for n, _ in line.marks if np.isfinite(n)]
    if line.simulated:
        numbers = np.outer(marks or [_NO_N], _SIMULATED)
        if len(marks) > 1:
            numbers = np.append(marks, np.geomspace(low, high, len(_SIMULATED)))
    else:
        count = _POINTS if line.plan.assurance is None else _FEW
        space = np.geomspace if logarithmic else np.linspace
        numbers = np.append(marks, space(low / BEFORE if logarithmic else line.fewest, high, count))
    whole = np.unique(np.round(numbers))
    return np.asarray(whole[whole >= line.fewest])


def simulated_powers(line: PowerLine, numbers: Any) -> tuple[Any, Any, Any]:
    """Simulated powers; numbers that do not suit the test's design are left out."""
    points = []
    for n in numbers:
        with suppress(ValueError):
            plan = line.at([n])  # an array: without the sentences of a single plan
            points.append((n, plan.power[0], plan.power_standard_error[0]))
    x, y, error = np.array(points).T
    return x, y, error
