"""SVG by hand: few elements, the same bytes each time, colours for light and dark."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from html import escape

STYLE = """
svg { --paper: #ffffff; --ink: #24292f; --muted: #59636e; --line: #c8ced6;
  --card: #eef1f5; --a: #1f65c4; --b: #b4510f; --good: #1f7a4d; --bad: #bb2f3b; }
@media (prefers-color-scheme: dark) {
  svg { --paper: #262c34; --ink: #e6e9ed; --muted: #a6b0bb; --line: #55606d;
    --card: #343c47; --a: #6ea8fe; --b: #f0a057; --good: #5cc793; --bad: #ff7b80; } }
text { font: 14px system-ui, "Segoe UI", Helvetica, Arial, sans-serif;
  fill: var(--ink); }
.muted { fill: var(--muted); } .small { font-size: 13px; }
.strong { font-weight: 600; }
.mono { font-family: ui-monospace, Consolas, "DejaVu Sans Mono", monospace; }
"""

MARGIN = 14


def number(value: float) -> str:
    """Write a coordinate: one decimal, and none that is 0."""
    return f"{value:.1f}".removesuffix(".0")


@dataclass
class Picture:
    """A picture with a title and a description for those who do not see it."""

    width: float
    height: float
    title: str
    description: str
    parts: list[str] = field(default_factory=list)

    def text(
        self,
        at: tuple[float, float],
        text: str,
        *,
        anchor: str = "start",
        kind: str = "",
        colour: str = "",
    ) -> None:
        """Write a line; `at` is where its baseline begins, ends or has its middle."""
        style = f' style="fill:var(--{colour})"' if colour else ""
        kind = f' class="{kind}"' if kind else ""
        self.parts.append(
            f'<text x="{number(at[0])}" y="{number(at[1])}" text-anchor="{anchor}"'
            f"{kind}{style}>{escape(text)}</text>"
        )

    def line(
        self, points: list[tuple[float, float]], colour: str, *, width: float = 1.0, dash: str = ""
    ) -> None:
        """Draw a line through points."""
        places = " ".join(f"{number(x)},{number(y)}" for x, y in points)
        dash = f' stroke-dasharray="{dash}"' if dash else ""
        self.parts.append(
            f'<polyline points="{places}" fill="none" stroke="var(--{colour})"'
            f' stroke-width="{number(width)}" stroke-linejoin="round"'
            f' stroke-linecap="round"{dash}/>'
        )

    def dot(self, at: tuple[float, float], colour: str, radius: float = 4.0) -> None:
        """Draw a filled circle."""
        self.parts.append(
            f'<circle cx="{number(at[0])}" cy="{number(at[1])}"'
            f' r="{number(radius)}" fill="var(--{colour})"/>'
        )

    def box(
        self,
        place: tuple[float, float, float, float],
        colour: str,
        *,
        opacity: float = 1.0,
        radius: float = 0.0,
        border: str = "none",
    ) -> None:
        """Draw a rectangle: left, top, width, height."""
        x, y, width, height = (number(each) for each in place)
        border = border if border == "none" else f"var(--{border})"
        self.parts.append(
            f'<rect x="{x}" y="{y}" width="{width}" height="{height}"'
            f' rx="{number(radius)}" fill="var(--{colour})" fill-opacity="{opacity:g}"'
            f' stroke="{border}"/>'
        )

    def to_svg(self) -> str:
        """Give the file."""
        # A ground of its own: readable on any page, whatever a theme puts below.
        width, height = self.width + 2 * MARGIN, self.height + 2 * MARGIN
        size = f'width="{number(width)}" height="{number(height)}"'
        corner = f'x="{-MARGIN}" y="{-MARGIN}"'
        return "\n".join(
            [
                f'<svg xmlns="http://www.w3.org/2000/svg" {size}'
                f' viewBox="{-MARGIN} {-MARGIN} {number(width)} {number(height)}"'
                ' role="img" aria-labelledby="t d">',
                f'<title id="t">{escape(self.title)}</title>',
                f'<desc id="d">{escape(self.description)}</desc>',
                f"<style>{STYLE}</style>",
                f'<rect {corner} {size} fill="var(--paper)"/>',
                *self.parts,
                "</svg>\n",
            ]
        )


@dataclass(frozen=True)
class Axes:
    """Where numbers lie in a picture: left, top, right, bottom, and what they span."""

    picture: Picture
    place: tuple[float, float, float, float]
    x: tuple[float, float]
    y: tuple[float, float]
    log: bool = False  # the axis of x

    def at(self, x: float, y: float) -> tuple[float, float]:
        """Give the place of a point."""
        left, top, right, bottom = self.place
        low, high = self.x
        if self.log:
            x, low, high = math.log(x), math.log(low), math.log(high)
        across = (x - low) / (high - low)
        up = (y - self.y[0]) / (self.y[1] - self.y[0])
        return left + across * (right - left), bottom - up * (bottom - top)

    def ticks(self, *, x: dict[float, str], y: dict[float, str]) -> None:
        """Draw lines across, and numbers at both axes."""
        left, _, right, bottom = self.place
        for value, label in y.items():
            _, height = self.at(self.x[0], value)
            self.picture.line([(left, height), (right, height)], "line")
            self.picture.text((left - 8, height + 5), label, anchor="end", kind="muted small")
        for value, label in x.items():
            across, _ = self.at(value, self.y[0])
            self.picture.text((across, bottom + 19), label, anchor="middle", kind="muted small")

    def names(self, *, x: str = "", y: str = "") -> None:
        """Write what the axes are: below, and above on the left."""
        left, top, right, bottom = self.place
        if x:
            self.picture.text(((left + right) / 2, bottom + 40), x, anchor="middle", kind="muted")
        if y:
            self.picture.text((left - 40, top - 14), y, kind="muted")

    def curve(self, points: list[tuple[float, float]], colour: str, *, dash: str = "") -> None:
        """Draw a curve of numbers."""
        self.picture.line([self.at(*each) for each in points], colour, width=2.5, dash=dash)
