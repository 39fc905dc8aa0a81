"""Models on the line of their scores or mean ranks as SVG, ties joined by bars."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from fastcmp.core.escaping import visible
from fastcmp.datasets.datasets_result import DatasetsResult
from fastcmp.datasets.rank_line import rank_line, stacked
from fastcmp.report.blocks import Block
from fastcmp.report.scales import linear

if TYPE_CHECKING:
    from fastcmp.datasets.rank_line import RankLine
    from fastcmp.pairwise.result import PairwiseResult

#: Models of a diagram that can be read.
MOST_MODELS = 40
_MOST_BARS = 30
#: In units of the picture: width, where the axis begins and ends, and heights.
_WIDTH, _LEFT, _RIGHT = 860, 240, 620
_AXIS, _BAR, _ROW = 46, 13, 22
_LETTERS = 22  # of a name


@dataclass(frozen=True, kw_only=True)
class Name:
    """A name at the end of a line that comes down from the axis."""

    path: str
    x: int
    y: float
    side: str
    text: str
    whole: str


@dataclass(frozen=True, kw_only=True)
class TieBar:
    """A bar that joins models, and the points on it."""

    low: str
    high: str
    y: float
    points: tuple[str, ...]
    names: str


@dataclass(frozen=True, kw_only=True)
class RankDiagram(Block):
    """Models on the line of their scores or mean ranks."""

    template: ClassVar[str] = "rank_diagram.html.j2"
    styles: ClassVar[tuple[str, ...]] = ("boards.css",)
    says: str
    describes: str
    label: str
    height: int
    ticks: tuple[tuple[str, str], ...]
    names: tuple[Name, ...]
    bars: tuple[TieBar, ...]
    #: Ends of the critical difference and its size; None where there is none.
    critical: tuple[str, str, str] | None = None
    width: ClassVar[int] = _WIDTH
    left: ClassVar[int] = _LEFT
    right: ClassVar[int] = _RIGHT
    axis: ClassVar[int] = _AXIS


def diagram_of(result: PairwiseResult) -> RankDiagram | None:
    """Draw few models whose scores are all known; None for others."""
    line = rank_line(result)
    n = len(result.names)
    groups = [group for group in result.groups.groups if len(group) > 1]
    if not 2 < n <= MOST_MODELS or not np.isfinite(line.place).all():
        return None
    if len(groups) > _MOST_BARS:
        return None
    place = _to_units(line)
    levels = stacked([place[list(group)] for group in groups], 10.0)
    bars = tuple(
        _bar(result, place, group, _AXIS + _BAR * (level + 1))
        for group, level in zip(groups, levels, strict=True)
    )
    top = _AXIS + _BAR * (max(levels, default=-1) + 2)
    ends = _ends(line)
    scale = linear(*ends, n=5)
    critical = None
    if line.critical is not None:
        length = line.critical * (_RIGHT - _LEFT) / (ends[1] - ends[0])
        critical = (f"{_RIGHT - length:.1f}", f"{_RIGHT}", f"CD = {line.critical:.3g}")
    return RankDiagram(
        title="Critical difference diagram"
        if isinstance(result, DatasetsResult)
        else f"{result.measure[:1].upper()}{result.measure[1:]} and ties",
        says=_says(result),
        describes=_describes(result, groups),
        label=line.label,
        height=top + _ROW * ((n + 1) // 2) + 4,
        ticks=tuple(
            (
                f"{_LEFT + float(tick.place[:-1]) / 100 * (_RIGHT - _LEFT):.1f}",
                tick.text if line.sign > 0 else tick.text.lstrip("-"),
            )
            for tick in scale.ticks
        ),
        names=_names(result, line, place, top),
        bars=bars,
        critical=critical,
    )


def _ends(line: RankLine) -> tuple[float, float]:
    """Give the ends of the axis, wide enough for the critical difference."""
    low, high = float(line.place.min()), float(line.place.max())
    pad = 0.04 * (high - low) or 0.5
    low, high = low - pad, high + pad
    return min(low, high - 1.05 * (line.critical or 0.0)), high


def _to_units(line: RankLine) -> np.ndarray:
    low, high = _ends(line)
    units: np.ndarray = _LEFT + (line.place - low) / (high - low) * (_RIGHT - _LEFT)
    return units


def _bar(result: PairwiseResult, place: np.ndarray, group: tuple[int, ...], y: float) -> TieBar:
    x = np.sort(place[list(group)])
    return TieBar(
        low=f"{x[0] - 5:.1f}",
        high=f"{x[-1] + 5:.1f}",
        y=y,
        points=tuple(f"{each:.1f}" for each in x),
        names=", ".join(result.names[i] for i in group),
    )


def _names(
    result: PairwiseResult, line: RankLine, place: np.ndarray, top: float
) -> tuple[Name, ...]:
    """Lead a line from each model down and out to its name, without crossings."""
    order = np.argsort(line.place, kind="stable")
    half = order.size // 2
    shown = short_names([visible(name) for name in result.names], _LETTERS)
    names = []
    for side, models in (("left", order[:half]), ("right", order[: half - 1 : -1])):
        outer = _LEFT - 14 if side == "left" else _RIGHT + 14
        for row, model in enumerate(models.tolist()):
            y = top + _ROW * (row + 0.5)
            value = line.sign * line.place[model]
            names.append(
                Name(
                    path=f"M{place[model]:.1f} {_AXIS}V{y}H{outer}",
                    x=outer + (-5 if side == "left" else 5),
                    y=y,
                    side=side,
                    text=f"{shown[model]} {value:.{line.digits}f}",
                    whole=visible(result.names[model]),
                )
            )
    return tuple(names)


def short_names(names: list[str], letters: int) -> list[str]:
    """Leave the middle of long names out; first what all begin with, where that tells none apart.

    >>> short_names(["a-long-name-of-a-model-1", "short"], 12)
    ['a-long…odel-1', 'short']
    >>> short_names(["org/model-7b-instruct-v1", "org/model-8b-instruct-v1"], 12)
    ['…7b-in…uct-v1', '…8b-in…uct-v1']
    """
    half = letters // 2
    short = [x if len(x) <= letters else f"{x[:half]}\u2026{x[-half:]}" for x in names]
    begin = next((i for i, x in enumerate(zip(*names, strict=False)) if len({*x}) > 1), 0)
    if begin < 2 or len({*short}) == len({*names}):
        return short
    return short_names([f"\u2026{x[begin:]}" for x in names], letters)


def _says(result: PairwiseResult) -> str:
    """Say what the line and the bars are."""
    says = (
        "The best models are on the right. Each bar joins models of which no two are "
        f"significantly different at {result.alpha:g}; only models dotted on the bar belong to it."
    )
    n = len(result.names)
    left = n * (n - 1) // 2 - result.n_pairs
    return f"{says} {left} pairs were not tested: no bar joins these." if left else says


def _describes(result: PairwiseResult, groups: list[tuple[int, ...]]) -> str:
    """Say in words what the picture shows, for screen readers."""
    ranking = ", ".join(result.leaderboard.names)
    bars = "; ".join(", ".join(result.names[i] for i in group) for group in groups)
    return f"From best to worst: {ranking}. Bars: {bars or 'none'}."
