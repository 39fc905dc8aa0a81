"""The study of docs/studies/decisions.md: its numbers, its page and its data."""

import importlib
import itertools
import math
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def study():
    """The study, which imports its page from the folder of the project."""
    return importlib.import_module("studies.decisions")


@pytest.fixture
def page(study):
    return study.decision_page


def test_the_page_is_made_of_the_data(page):
    assert (page.FOLDER / "decisions.md").read_text() == page.page(page.read())


@pytest.mark.parametrize(
    ("margin", "sizes"), [(0.05, (0.060, 0.052, 0.055, 0.052)), (0.1, (0.071, 0.053, 0.058, 0.057))]
)
def test_sizes_of_the_score_test_of_another_program(page, margin, sizes):
    found = page.read()
    for n, size in zip((30, 50, 100, 200), sizes, strict=True):
        rate, runs = found["margins", f"margin {margin}", str(n), "score: not worse"]
        assert (rate, runs) == (pytest.approx(size, abs=5.1e-4), 0)


def test_exact_tests_keep_the_level(page):
    exact = {
        key: rate
        for key, (rate, runs) in page.read().items()
        if not runs and key[3].startswith(("exact", "barnard", "boschloo", "Chan"))
    }
    assert len(exact) == 12 + 4 + 2
    assert 0.03 < min(exact.values()) <= max(exact.values()) <= 0.05


def test_margins_of_metrics_keep_the_level(study, page):
    """With 500 data sets 5% has a standard error of 1."""
    rates = [rate for key, (rate, _) in page.read().items() if key[0] == "metrics"]
    assert len(rates) == 2 * len(study.METRICS) * 5 * 5
    assert max(rates) <= 0.06
    chances = study.population("precision", 0.1)
    tables = chances.sum(axis=2), chances.sum(axis=1)
    a, b = (table[1, 1] / table[:, 1].sum() for table in tables)
    assert a - b == pytest.approx(-study.METRIC_MARGIN, abs=1e-9)


def test_chances_of_tables(study):
    """By the formulas: one table of three samples, one of two and one."""
    found = study.paired_size(3, 0.1, [(1, 0)])
    q = np.linspace(0.0, 0.45, study.GRID)
    assert found == pytest.approx((3 * (q + 0.1) * (0.9 - 2 * q) ** 2).max(), rel=1e-12)
    rejected = np.zeros((3, 2), bool)
    rejected[1, 1] = True
    p = np.linspace(0.1, 1.0, study.GRID)
    wanted = (2 * (p - 0.1) * (1.1 - p) * p).max()
    found = study.unpaired_size(2, 1, -0.1, rejected)
    assert found == pytest.approx(wanted, rel=1e-12)


@pytest.mark.full
def test_the_maker_in_few_runs(study, page, tmp_path, monkeypatch):
    monkeypatch.setattr(study, "SIZES", (30,))
    monkeypatch.setattr(study, "UNPAIRED", ((20, 30),))
    study.main(runs=3, folder=tmp_path)
    found, published = page.read(tmp_path / "decisions.csv"), page.read()
    rest = {key[2] for key in published.keys() - found.keys()}
    assert rest == {"50", "100", "200", "50 + 50"}
    for key, (rate, runs) in found.items():
        if not runs:
            assert published[key] == (pytest.approx(rate, rel=1e-4), 0)
    assert {runs for _, runs in found.values()} == {0, 1, 3, 15, 30}
    assert (tmp_path / "decisions.md").read_text() == page.page(found)


@pytest.mark.full
def test_parts_of_the_data(study, page):
    found = page.read()
    looks = study.simulated(study.looks, study.RUNS)
    first = itertools.islice(looks, 4)  # those of equal models
    rows = [("looks", *row) for row in first]
    rows += [("planned", *row) for row in study.planned(10 * study.RUNS)]
    for *key, rate in rows:
        assert math.isclose(found[tuple(map(str, key))][0], rate, rel_tol=1e-5)
