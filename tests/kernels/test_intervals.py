"""Intervals for an accuracy, for a difference and for the odds."""

import math

import naive
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from strategies import count_pairs, levels, tables

from fastcmp import kernels
from fastcmp.kernels.intervals import wilson_interval_many

ODDS_RATIOS = {1.0: kernels.odds_ratio_exact_interval, 0.5: kernels.odds_ratio_midp_interval}


METHODS = {
    "wald": (kernels.wald_interval, naive.wald),
    "newcombe10": (kernels.newcombe_interval, naive.newcombe),
    "tango": (kernels.tango_interval, naive.tango),
    "bonett_price": (kernels.bonett_price_interval, naive.bonett_price),
}


def difference_interval(method, table, level, oracle=False):
    interval = METHODS[method][oracle]
    if method == "newcombe10":
        return interval(*table, level)
    return interval(table[1], table[2], sum(table), level)


def naive_interval(method, table, level):
    return difference_interval(method, table, level, oracle=True)


every_method = pytest.mark.parametrize("method", METHODS)
every_odds_ratio = pytest.mark.parametrize("weight", ODDS_RATIOS)


# Oracle.


@every_method
@given(table=tables(200), level=levels)
def test_difference_equals_the_definition(method, table, level):
    found = difference_interval(method, table, level)
    # A spread is a square root: half the digits where it vanishes.
    oracle = naive_interval(method, table, level)
    assert found == pytest.approx(oracle, rel=1e-9, abs=1e-9)


@given(st.integers(1, 10**5), st.floats(0.0, 1.0), levels)
def test_wilson_inverts_the_score_test(n, proportion, level):
    successes = round(proportion * n)
    found = kernels.wilson_interval(successes, n, level)
    assert found == pytest.approx(naive.wilson(successes, n, level), abs=1e-12)
    out = np.empty((1, 2))
    wilson_interval_many(np.array([successes]), n, level, out)
    assert tuple(out[0]) == found


@every_odds_ratio
@given(pair=count_pairs(60), level=levels)
def test_odds_ratio_inverts_binomial_sums(weight, pair, level):
    assume(sum(pair) > 0)
    found = ODDS_RATIOS[weight](*pair, level)
    assert found == pytest.approx(naive.odds_ratio(*pair, level, weight), rel=1e-9)


@every_odds_ratio
@pytest.mark.parametrize("level", [0.01, 0.05, 0.5, 0.999_999])
@pytest.mark.parametrize("pair", [(1, 4), (4, 1), (1, 50), (50, 1), (1, 1), (0, 3)])
def test_odds_ratio_at_extreme_levels(weight, pair, level):
    found = ODDS_RATIOS[weight](*pair, level)
    assert found == pytest.approx(naive.odds_ratio(*pair, level, weight), rel=1e-8)


@pytest.mark.parametrize("table", [(0, 0, 105, 0), (0, 900, 0, 1), (50, 0, 0, 4)])
@pytest.mark.parametrize("level", [0.25, 0.95, 0.9999])
def test_tango_at_the_ends_of_the_scale(table, level):
    found = difference_interval("tango", table, level)
    oracle = naive_interval("tango", table, level)
    assert found == pytest.approx(oracle, rel=1e-14, abs=1e-15)


# Reference.


# Laws.


@every_odds_ratio
def test_odds_of_nothing_are_anything(weight):
    assert ODDS_RATIOS[weight](0, 0, 0.95) == (0.0, math.inf)


@every_odds_ratio
def test_odds_of_wins_alone_at_a_level_next_to_nothing(weight):
    assert ODDS_RATIOS[weight](5, 0, 1e-17).low > 1.0
