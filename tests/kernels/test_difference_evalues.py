"""Confidence sequences for a difference of accuracies."""

import math

import evalue_oracles as oracle
import numpy as np
import pytest
from cases import case
from hypothesis import given
from hypothesis import strategies as st

from fastcmp import kernels

THIRDS = (0.5, 0.5, 0.5)
LEVEL = 0.95
TABLES = [
    *((0, 0, 1), (1, 0, 1), (0, 1, 2), (3, 0, 3), (10, 2, 30), (8, 0, 40), (0, 0, 50)),
    *((30, 0, 30), (7, 7, 14), (150, 90, 1000), (2, 60, 700)),
]


@st.composite
def tables(draw):
    b, c, ties = (draw(st.integers(0, 150)) for _ in range(3))
    return b, c, max(b + c + ties, 1)


@pytest.mark.parametrize("table", TABLES)
def test_bets_by_all_nodes(table):
    b, c, n = table
    for at in (0.0, 0.1, -0.37, 0.95, -0.999, (b - c) / n * 0.9999):
        with case(*table, at):
            found = kernels.difference_log_evalue(b, c, n, at)
            wanted = float(oracle.difference_log_evalue(b, c, n, at))
            assert found == pytest.approx(wanted, rel=1e-12, abs=1e-12)


@pytest.mark.full
def test_bets_on_many_samples_by_all_nodes():
    for b, c, n in ((600, 500, 5000), (40, 10, 6000), (0, 3, 4000), (2500, 2400, 5000)):
        for at in (0.0, 0.02, -0.5, 0.9):
            found = kernels.difference_log_evalue(b, c, n, at)
            wanted = float(oracle.difference_log_evalue(b, c, n, at))
            assert found == pytest.approx(wanted, rel=1e-12, abs=1e-11)


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("prior", [THIRDS, (1.0, 1.0, 1.0), (2.0, 0.3, 7.0)])
def test_dirichlet_by_search(table, prior):
    b, c, n = table
    for at in (0.0, 0.1, -0.37, 0.95):
        with case(*table, at):
            found = kernels.dirichlet_log_evalue(b, c, n, at, prior)
            wanted = float(oracle.dirichlet_log_evalue(b, c, n, at, prior))
            assert found == pytest.approx(wanted, rel=1e-11, abs=1e-11)


@given(tables())
def test_at_no_difference_it_is_mcnemars_evalue(table):
    b, c, n = table
    found = kernels.difference_log_evalue(b, c, n, 0.0)
    assert found == pytest.approx(kernels.mcnemar_log_evalue(b, c), rel=1e-11, abs=1e-11)


def test_at_no_difference_of_very_many_samples():
    b, c, n = 10**9, 10**9 + 10**5, 10**10
    found = kernels.difference_log_evalue(b, c, n, 0.0)
    assert found == pytest.approx(kernels.mcnemar_log_evalue(b, c), abs=1e-9)


def ends(method, table, level=LEVEL):
    if method == "bets":
        return kernels.anytime_difference_interval(*table, level)
    return kernels.dirichlet_difference_interval(*table, level, THIRDS)


def log_evalue(method, table, at):
    if method == "bets":
        return kernels.difference_log_evalue(*table, at)
    return kernels.dirichlet_log_evalue(*table, at, THIRDS)


@pytest.mark.parametrize("method", ["bets", "dirichlet"])
@given(table=tables(), level=st.floats(0.5, 0.999))
def test_intervals_hold_what_is_not_rejected(method, table, level):
    low, high = ends(method, table, level)
    b, c, n = table
    middle = (b - c) / n
    assert low <= middle <= high
    for end, side in ((low, -1.0), (high, 1.0)):
        if abs(end) == 1.0:
            continue
        assert log_evalue(method, table, end) == pytest.approx(-math.log1p(-level), abs=1e-9)
        shift = 1e-6 * abs(end - middle)
        outside = log_evalue(method, table, np.clip(end + side * shift, -1, 1))
        inside = log_evalue(method, table, end - side * shift)
        assert inside < -math.log1p(-level) < outside


@pytest.mark.parametrize("method", ["bets", "dirichlet"])
@given(table=tables())
def test_mirrored_models_have_mirrored_intervals(method, table):
    b, c, n = table
    low, high = ends(method, table)
    assert ends(method, (c, b, n)) == pytest.approx((-high, -low), abs=1e-13)


def test_ends_of_the_range():
    assert kernels.anytime_difference_interval(0, 0, 0, LEVEL) == (-1.0, 1.0)
    assert kernels.anytime_difference_interval(9, 0, 9, LEVEL).high == 1.0
    assert kernels.anytime_difference_interval(0, 9, 9, LEVEL).low == -1.0
    assert kernels.dirichlet_difference_interval(9, 0, 9, LEVEL, THIRDS).high == 1.0
    assert kernels.difference_log_evalue(8, 0, 9, 1.0) == math.inf
    assert kernels.dirichlet_log_evalue(0, 8, 9, -1.0, THIRDS) == math.inf
    all_won = kernels.difference_log_evalue(9, 0, 9, 1.0)  # the mean of u**9
    assert all_won == pytest.approx(math.log(math.comb(18, 9) / 4**9), rel=1e-13)
    assert kernels.difference_log_evalue(0, 0, 0, 0.3) == 0.0


def test_the_expectation_is_at_most_one():
    """Over all sequences of six samples, whatever the probabilities."""
    n, delta = 6, 0.2
    for p_b in (0.0, 0.1, 0.4):
        p = (p_b + delta, p_b, 1 - 2 * p_b - delta)
        for method in ("bets", "dirichlet"):
            mean = 0.0
            for b in range(n + 1):
                for c in range(n + 1 - b):
                    ways = math.comb(n, b) * math.comb(n - b, c)
                    chance = ways * p[0] ** b * p[1] ** c * p[2] ** (n - b - c)
                    mean += chance * math.exp(log_evalue(method, (b, c, n), delta))
            assert mean <= 1 + 1e-12
            if method == "bets":  # whatever the probabilities, if only the mean is right
                assert mean == pytest.approx(1.0, rel=1e-12)
