"""The bar: how much is done, and how fast."""

import io
import re

import pytest
import rich.console

from fastcmp.core import progress
from fastcmp.core.progress import reporting


@pytest.fixture
def screen(monkeypatch):
    """Give what would be drawn on a terminal."""
    drawn = io.StringIO()
    console = rich.console.Console(file=drawn, force_terminal=True, width=100)
    monkeypatch.setattr(rich.console, "Console", lambda **_: console)
    return drawn


def test_a_bar_tells_pairs_a_second(screen):
    with reporting(True, "comparing", unit="pairs") as report:
        for done in range(0, 5001, 1000):
            report(done, 5000)
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", screen.getvalue())
    assert "comparing" in plain
    assert "100%" in plain
    assert re.search(r"[0-9.]+ [kMG]? ?pairs/s", plain)


def test_a_bar_without_a_unit_tells_no_rate(screen):
    with reporting(True, "fitting") as report:
        report(1, 2)
        report(2, 2)
    assert "/s" not in screen.getvalue()


@pytest.mark.parametrize(
    ("number", "text"),
    [(0.5, "0.5"), (999, "999"), (1234, "1.23 k"), (2.5e6, "2.5 M"), (3e9, "3 G")],
)
def test_rates_are_short(number, text):
    assert progress._short(number) == text
