"""Normal approximations of the power of McNemar's test: closed forms, of arrays.

Connor (1987), Miettinen (1968, second order) and Lachenbruch (1992). `gain` is the
difference p10 - p01 in the direction that is tested, `pd` p10 + p01.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp.planning.design import Design, Solver, refuse

if TYPE_CHECKING:
    from fastcmp.planning.family import Floats

METHODS = ("connor", "miettinen", "lachenbruch")


def normal_quantiles(level: Any, power: Any) -> tuple[Any, Any]:
    """Give the upper quantile of the test and that of the power."""
    from scipy.special import ndtri

    return -ndtri(level), ndtri(power)


def _spread(gain: Floats, pd: Floats, method: str) -> Floats:
    """Give the standard deviation under the alternative, which stands beside z."""
    square = {
        "connor": pd - gain**2,
        "miettinen": (pd**2 - gain**2 * (3 + pd) / 4) / np.where(pd > 0, pd, 1),
        "lachenbruch": pd,
    }[method]
    return np.asarray(np.sqrt(np.maximum(square, 0.0)))


def _tail(n: Floats, gain: Floats, pd: Floats, z: Any, method: str) -> Floats:
    """Power in the direction of `gain`."""
    from scipy.special import ndtr

    with np.errstate(divide="ignore", invalid="ignore"):
        score = (np.sqrt(n) * gain - z * np.sqrt(pd)) / _spread(gain, pd, method)
    return np.asarray(ndtr(np.nan_to_num(score, nan=0.0)))


def _powers(design: Design, p10: Floats, p01: Floats, n: Floats) -> Floats:
    refuse(design, "a normal approximation", "conditional", "so_far")
    question, gap, pd = design.question, p10 - p01, p10 + p01
    z, _ = normal_quantiles(question.level, 0.5)
    gain = design.gain(gap)
    power = _tail(n, gain, pd, z, question.method)
    if design.tails == "both":
        power = power + _tail(n, -gain, pd, z, question.method)
    if design.tails is None:
        # Without a difference there is no right direction: both sides count.
        power = np.where(gap == 0, question.alpha, power)
    return np.asarray(np.where(pd > 0, power, 0.0))


def _sizes(design: Design, p10: Floats, p01: Floats, power: Floats) -> Floats:
    _refuse_both(design)
    z, z_power = normal_quantiles(design.question.level, power)
    gain, pd = design.gain(p10 - p01), p10 + p01
    root = z * np.sqrt(pd) + z_power * _spread(gain, pd, design.question.method)
    with np.errstate(divide="ignore", invalid="ignore"):
        n = (np.maximum(root, 0.0) / gain) ** 2
    return np.asarray(np.where(gain > 0, n, np.inf))


def _differences(design: Design, pd: Floats, n: Floats, power: Floats) -> Floats:
    """Solve the power's equation, which is quadratic in the gain."""
    _refuse_both(design)
    z, z_power = normal_quantiles(design.question.level, power)
    level = z * pd
    with np.errstate(invalid="ignore", divide="ignore"):
        if design.question.method == "lachenbruch":
            gain = (z + z_power) * np.sqrt(pd / n)
        elif design.question.method == "connor":
            root = np.sqrt(n + z_power**2 - z**2)
            gain = np.sqrt(pd) * (z * np.sqrt(n) + z_power * root) / (n + z_power**2)
        else:
            slope, bend = np.sqrt(n * pd), (3 + pd) / 4
            root = np.sqrt((slope * pd) ** 2 - bend * level**2 + bend * (z_power * pd) ** 2)
            gain = (slope * level + z_power * root) / (slope**2 + bend * z_power**2)
        return np.asarray(design.sign * np.where((gain <= pd) & (gain > 0), gain, np.nan))


def _refuse_both(design: Design) -> None:
    refuse(design, "a normal approximation", "conditional")
    if design.tails == "both":
        message = (
            "tails='both' has no closed form to solve: choose a method by enumeration, "
            "or tails='right-direction'"
        )
        raise ValueError(message)


SOLVER = Solver(_powers, _sizes, _differences, closed=True)
