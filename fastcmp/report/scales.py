"""Axes of charts: their ends, their ticks, and where a number lies."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

_STEPS = (1.0, 2.0, 5.0, 10.0)
_DECADE = (1.0, 2.0, 5.0)
_FEW_DECADES = 2.0  # below which 2 and 5 of each decade are ticks, too
_WIDE = 1e5  # from where ticks are written in powers of ten


class Tick(NamedTuple):
    """A tick: its place in percent of the axis, and its number."""

    place: str
    text: str


class Scale(NamedTuple):
    """An axis from `low` to `high`."""

    low: float
    high: float
    ticks: tuple[Tick, ...] = ()
    title: str = ""
    is_log: bool = False
    #: Whether the greatest number is on the left, or above: as all upright axes.
    is_reversed: bool = False

    def part(self, values: Any) -> NDArray[np.float64]:
        """Give places as parts of the axis, in [0, 1]: beyond it, at its end."""
        x = np.asarray(values, np.float64)
        low, high = self.low, self.high
        if self.is_log:
            x, low, high = np.log(np.maximum(x, low)), math.log(low), math.log(high)
        part = np.clip((x - low) / (high - low), 0.0, 1.0)
        return 1.0 - part if self.is_reversed else part

    def place(self, value: float) -> str:
        """Give a place in percent, to a hundredth."""
        return percent(float(self.part(value)))


def percent(part: float) -> str:
    """Write a part as percent for an attribute, such as "12.5%".

    >>> percent(0.125), percent(1.0)
    ('12.5%', '100%')
    """
    return f"{100 * part:.2f}".rstrip("0").rstrip(".") + "%"


def linear(low: float, high: float, *, title: str = "", n: int = 5, least: float = 0.0,
           is_reversed: bool = False) -> Scale:  # fmt: skip
    """Make an axis with about `n` ticks at round numbers.

    >>> [tick.text for tick in linear(0, 1).ticks]
    ['0.0', '0.2', '0.4', '0.6', '0.8', '1.0']
    """
    if not high > low:
        pad = abs(low) * 0.1 or 1.0
        low, high = low - pad, high + pad
    step = max(_step((high - low) / n), least)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    digits = max(0, -math.floor(math.log10(step) + 1e-9))
    bare = Scale(low, high, is_reversed=is_reversed)
    ticks = tuple(
        Tick(bare.place(i * step), _written(i * step, digits)) for i in range(first, last + 1)
    )
    return bare._replace(ticks=ticks, title=title)


def upright(low: float, high: float, *, title: str = "") -> Scale:
    """Make an upright axis, whose places count from above."""
    return linear(low, high, title=title, is_reversed=True)


def logarithmic(low: float, high: float, *, title: str = "") -> Scale:
    """Make a logarithmic axis with ticks at 1, 2, 5, 10, ... or at powers of ten."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    few = math.log10(high / low) <= _FEW_DECADES
    numbers = [m * 10.0**k for k in range(first, last + 1)
               for m in (_DECADE if few else _DECADE[:1])]  # fmt: skip
    bare = Scale(low, high, is_log=True)
    ticks = tuple(
        Tick(bare.place(x), _written(x, max(0, -math.floor(math.log10(x)))))
        for x in numbers
        if low <= x <= high
    )
    return bare._replace(ticks=ticks, title=title)


def around(values: Iterable[float], *also: float, pad: float = 0.06) -> tuple[float, float]:
    """Give ends of an axis that show all finite values, with some space."""
    finite = np.array([x for x in (*values, *also) if math.isfinite(x)])
    if not finite.size:
        return 0.0, 1.0
    low, high = float(finite.min()), float(finite.max())
    space = pad * (high - low)
    return low - space, high + space


def _step(about: float) -> float:
    """Find the round step that is next to a number."""
    power = float(10.0 ** math.floor(math.log10(about)))
    return power * min(_STEPS, key=lambda step: abs(math.log(step * power / about)))


def _written(value: float, digits: int) -> str:
    if abs(value) >= _WIDE or digits > 5:
        return f"{value:.3g}"
    text = f"{value:,.{digits}f}"
    return text.lstrip("-") if float(text.replace(",", "")) == 0 else text
