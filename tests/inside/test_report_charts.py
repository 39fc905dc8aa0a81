"""Charts: what is drawn where; and the words and works of a report's sentences."""

import math
import re
from pathlib import Path

import numpy as np
import pytest
from examples import examples

import fastcmp
from fastcmp.pictures import Row
from fastcmp.report import references
from fastcmp.report.charts import curve, intervals, linear, logarithmic
from fastcmp.report.methods import paragraphs_of

PACKAGE = Path(fastcmp.__file__).parent


def number(place):
    return float(place.removesuffix("%"))


@pytest.mark.parametrize(
    ("low", "high"), [(0, 1), (-3.2, 17), (1e-7, 3e-7), (0, 123_456), (-0.02, 0.031)]
)
def test_ticks_stand_at_their_numbers(low, high):
    scale = linear(low, high)
    assert 3 <= len(scale.ticks) <= 9
    for tick in scale.ticks:
        value = float(tick.text.replace(",", ""))
        expect = 100 * (value - low) / (high - low)
        assert number(tick.place) == pytest.approx(expect, abs=0.3)
    values = [float(tick.text.replace(",", "")) for tick in scale.ticks]
    assert len(set(values)) == len(values)
    np.testing.assert_allclose(np.diff(values, 2), 0, atol=1e-9 * (high - low))


@pytest.mark.parametrize(("low", "high"), [(1, 50), (0.04, 20), (3, 4e6)])
def test_logarithmic_ticks(low, high):
    scale = logarithmic(low, high)
    assert len(scale.ticks) >= 2
    for tick in scale.ticks:
        value = float(tick.text.replace(",", ""))
        expect = 100 * math.log(value / low) / math.log(high / low)
        assert number(tick.place) == pytest.approx(expect, abs=0.01)


def test_intervals_are_drawn_where_they_are():
    rows = [
        Row(label="a", value=1.0, low=-1.0, high=3.0),
        Row(label="open", value=0.0, low=-math.inf, high=2.0),
        Row(label="none", value=math.nan),
    ]
    marks = [(0.0, "H0"), (-2.0, "margin")]
    picture = intervals(rows, title="", axis="x", heads=("", "x"), marks=marks)
    axis = picture.axis
    first, second, third = picture.rows
    assert (first.low, first.value, first.high) == tuple(map(axis.place, (-1, 1, 3)))
    assert (first.opens_low, first.opens_high) == (False, False)
    assert second.opens_low
    assert not second.opens_high
    assert second.low == "0%"
    assert (third.low, third.value, third.high) == (None, None, None)
    assert [guide.place for guide in picture.guides] == [axis.place(0), axis.place(-2)]
    assert [guide.kind for guide in picture.guides] == ["zero", "margin"]


def test_curves_lose_only_what_cannot_be_seen():
    scales = linear(0, 1), linear(0, 1, is_reversed=True)
    rng = np.random.default_rng(1)
    x = np.sort(rng.random(200_000))
    y = x**2
    found = curve("", x, y, scales).points
    assert len(found) < 15_000
    points = np.array([pair.split(",") for pair in found.split()], float) / 1000
    np.testing.assert_allclose(1 - points[:, 1], points[:, 0] ** 2, atol=0.002)
    assert points[0, 0] < 0.002
    assert points[-1, 0] > 0.998
    # A staircase keeps its corners, a line only its ends.
    steps = curve("", [0, 0, 0.5, 0.5, 1], [0, 0.5, 0.5, 1, 1], scales).points
    assert steps == "0,1000 0,500 500,500 500,0 1000,0"
    line = np.linspace(0, 1, 101)
    assert curve("", line, line, scales).points == "0,1000 1000,0"


def test_curves_leave_gaps_out():
    scales = linear(0, 1), linear(0, 1, is_reversed=True)
    found = curve("", [0, 0.5, 1], [math.nan, 0.5, 1], scales).points
    assert found == "500,500 1000,0"


def test_each_work_is_cited_by_a_record_and_each_citation_known():
    made = [part for record in examples().values() for part in paragraphs_of(record)]
    assert {key for _, keys in made for key in keys} <= set(references.REFERENCES)
    files = {*PACKAGE.rglob("*.py")} - {PACKAGE / "report" / "references.py"}
    source = "".join(path.read_text(encoding="utf-8") for path in files)
    declared = {key for words in re.findall(r'"([a-z0-9 -]+)"', source) for key in words.split()}
    assert set(references.REFERENCES) <= declared
    for work in references.REFERENCES.values():
        assert re.search(r"\b(18|19|20)\d\d\b|algorithms\"\.$", work)
        assert work.endswith(".")
