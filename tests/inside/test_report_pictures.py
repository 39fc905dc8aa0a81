"""What records show: pictures of their own numbers, names as text, the same bytes."""

import math

import numpy as np
import pytest
from examples import RECORDS, example

import fastcmp
from fastcmp import planning, sequential
from fastcmp.pictures import stacked
from fastcmp.report.blocks import Text, blocks_of
from fastcmp.report.boards import RankDiagram
from fastcmp.report.charts import Bars, Curves, Intervals, Map

HOSTILE = '<script>alert("1")</script>'
RNG = np.random.default_rng(3)
Y = RNG.integers(0, 2, 80)
A = np.where(RNG.random(80) < 0.9, Y, 1 - Y)
B = np.where(RNG.random(80) < 0.8, Y, 1 - Y)
S, T = Y + RNG.normal(size=80), Y + RNG.normal(size=80)


def of_kind(record, kind):
    return [block for block in blocks_of(record) if isinstance(block, kind)]


def row_numbers(picture, i=0):
    """Read an interval off a picture: low, value, high."""
    row, axis = picture.rows[i], picture.axis
    parts = [float(x.removesuffix("%")) / 100 for x in (row.low, row.value, row.high)]
    return [axis.low + part * (axis.high - axis.low) for part in parts]


TWO = {
    "accuracies": (lambda: fastcmp.mcnemar(Y, A, B), 100.0),
    "with a margin": (lambda: fastcmp.mcnemar(Y, A, B, margin=0.5), 100.0),
    "costs": (lambda: fastcmp.cost_test(Y, A, B, [[0, 1], [5, 0]]), 1.0),
    "means": (lambda: fastcmp.mean_difference(S, T, margin=0.3), 1.0),
    "a metric": (lambda: fastcmp.compare_metric(Y, A, B, metric="mcc"), 1.0),
    "areas": (lambda: fastcmp.delong(Y, {"a": S, "b": T}).compare("a", "b"), 1.0),
    "a decision": (lambda: fastcmp.compare_labels(Y, A, B, alpha=0.1), 100.0),
}


@pytest.mark.parametrize("name", TWO)
def test_the_difference_is_drawn_where_it_is(name):
    make, scale = TWO[name]
    record = make()
    (picture,) = of_kind(record, Intervals)
    ends = getattr(record, "interval", None)
    low, high = record.confidence_interval() if ends is None else ends
    expect = scale * np.array([low, record.difference, high])
    width = picture.axis.high - picture.axis.low
    np.testing.assert_allclose(row_numbers(picture), expect, atol=1e-4 * width)
    zero = picture.axis.place(0.0)
    assert picture.guides[0].place == zero
    if getattr(record, "margins", None) is not None:
        margin = scale * record.margins.margin
        places = {guide.place for guide in picture.guides if guide.kind == "margin"}
        assert places == {picture.axis.place(margin), picture.axis.place(-margin)}


def test_rates_at_given_rates_lie_as_in_a_roc_curve():
    """The given specificity falls from left to right."""
    (picture,) = of_kind(fastcmp.roc_band(Y, S, specificity=[0.2, 0.9], n_resamples=20), Curves)
    assert picture.x.part([0.2, 0.9]).tolist() == pytest.approx([0.8, 0.1])
    assert picture.y.part([0.2, 0.9]).tolist() == pytest.approx([0.8, 0.1])


def test_names_stand_below_the_bars_of_ties():
    board = fastcmp.compare_all(*fastcmp.load_digits())
    (picture,) = [x for x in blocks_of(board) if isinstance(x, RankDiagram)]
    ties, places = picture.picture.ties, picture.picture.places
    lowest = max(picture.tie(tie.level) for tie in ties)
    assert len(ties) > 2
    assert all(lowest < picture.y(place.row) < picture.height for place in places)


def test_the_four_counts():
    record = fastcmp.mcnemar(only_a=11, only_b=1, both_right=80, both_wrong=8)
    (picture,) = of_kind(record, Bars)
    assert picture.bars[0].texts == ("80", "11", "1", "8")
    assert picture.bars[0].places[1] == ("80%", "11%")


def test_a_power_curve_goes_through_what_was_planned():
    plan = planning.sample_size(p10=0.15, p01=0.05, power=[0.8, 0.9])
    (picture,) = of_kind(plan, Curves)
    found, *leads = picture.curves
    (x, y, text), _ = found.dots
    assert [lead.kind for lead in leads] == ["lead", "lead"]
    assert "power 80" in text
    assert x == picture.x.place(plan.n[0])
    assert y == picture.y.place(plan.power[0])


def test_evidence_and_intervals_by_look():
    looks = sequential.mcnemar_looks([3, 9, 30], [1, 2, 8], n_samples=[40, 90, 300])
    estimates, evidence = of_kind(looks, Curves)
    assert estimates.curves[0].band
    assert len(evidence.curves[0].dots) == 3
    limit = np.log10(1 / looks.alpha)
    assert evidence.across[0].place == evidence.y.place(limit)


def test_the_map_of_data_sets_marks_the_best():
    tasks, scores = fastcmp.load_demsar()
    (picture,) = of_kind(fastcmp.compare_datasets(scores, tasks=tasks), Map)
    names = list(picture.columns)
    assert len(picture.rows) == len(tasks)
    for task, (title, cells) in zip(tasks, picture.rows, strict=True):
        assert title == task
        values = [scores[name][tasks.index(task)] for name in names]
        best = {i for i, value in enumerate(values) if value == max(values)}
        assert {i for i, cell in enumerate(cells) if cell.is_best} == best


def test_a_gate_beside_its_margin():
    tests = {"all": fastcmp.mcnemar(Y, A, B, margin=0.1)}
    gate = fastcmp.gate(tests, names=("new", "old"))
    (picture,) = of_kind(gate, Intervals)
    low, value, high = row_numbers(picture)
    width = picture.axis.high - picture.axis.low
    expect = np.array([gate.interval[0, 0], gate.difference[0], gate.interval[0, 1]])
    np.testing.assert_allclose([low, value, high], expect / 0.1, atol=1e-4 * width)
    assert picture.rows[0].row.kind == ("good" if gate.margin_met[0] else "")


def test_a_report_of_many_models_draws_averages():
    models = {f"m{i}": A if i % 2 else B for i in range(21)}
    report = fastcmp.classification_report(Y, models)
    rows = {each.title: len(each.rows) for each in of_kind(report, Intervals)}
    averages = dict.fromkeys(("precision", "recall", "F1"), 42)
    assert rows == {**averages, "accuracy": 21}


def test_bars_have_levels_of_their_own():
    bars = [np.array(x, float) for x in ([5, 8], [0, 3], [2, 6], [4, 4.5])]
    levels = stacked(bars, 0.1)
    for i, a in enumerate(bars):
        for j, b in enumerate(bars[:i]):
            if levels[i] == levels[j]:
                assert a[0] > b[-1] + 0.1 or b[0] > a[-1] + 0.1
    assert stacked([], 0.1) == []


@pytest.mark.parametrize("name", RECORDS)
def test_each_block_of_a_report_says_what_it_shows(name):
    for block in blocks_of(example(name)):
        if isinstance(block, Text):
            section = block.section
            assert section.text or section.rows or section.notes, block.title
        if isinstance(block, Intervals):
            assert block.axis.title
            for row in block.rows:
                ends = [x for x in (row.row.low, row.row.value, row.row.high) if not math.isnan(x)]
                assert ends == sorted(ends), row
        if isinstance(block, Curves):
            assert block.x.title, block.title
            assert block.y.title, block.title
