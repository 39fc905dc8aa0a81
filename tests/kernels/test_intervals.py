"""Intervals for an accuracy, for a difference and for the odds."""

from __future__ import annotations

import math

import naive
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from libraries import stats
from reference_cases import cells, expected, parametrize
from strategies import count_pairs, levels, tables

from fastcmp.kernels import (
    bonett_price_interval,
    mcnemar_asymptotic,
    newcombe_interval,
    odds_ratio_exact_interval,
    odds_ratio_midp_interval,
    tango_interval,
    wald_interval,
    wilson_interval,
)

ODDS_RATIOS = {1.0: odds_ratio_exact_interval, 0.5: odds_ratio_midp_interval}


METHODS = {
    "wald": (wald_interval, naive.wald),
    "newcombe10": (newcombe_interval, naive.newcombe),
    "tango": (tango_interval, naive.tango),
    "bonett_price": (bonett_price_interval, naive.bonett_price),
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


@given(tables(10**6), levels)
def test_tango_keeps_its_digits(table, level):
    found = difference_interval("tango", table, level)
    oracle = naive_interval("tango", table, level)
    assert found == pytest.approx(oracle, rel=1e-9, abs=1e-13)


@given(st.integers(1, 10**5), st.floats(0.0, 1.0), levels)
def test_wilson_inverts_the_score_test(n, proportion, level):
    successes = round(proportion * n)
    found = wilson_interval(successes, n, level)
    assert found == pytest.approx(naive.wilson(successes, n, level), abs=1e-12)


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


@parametrize("paired_difference_ci", not_offered={"agresti_min": "no kernel: see test_mcnemar.py"})
def test_reference_difference(case):
    options = case["options"]
    low, high = difference_interval(options["method"], cells(case), options["confidence"])
    assert low == expected(case, "lower")
    assert high == expected(case, "upper")


@pytest.mark.parametrize(("a", "b"), [(11, 1), (1, 11), (5, 5), (3, 0), (900, 870)])
def test_exact_odds_ratio_equals_scipy(a, b):
    # Clopper and Pearson's limits of the proportion, as odds.
    proportion = stats.binomtest(a, a + b).proportion_ci(0.95, method="exact")
    odds = [p / (1.0 - p) if p < 1.0 else math.inf for p in proportion]
    assert odds_ratio_exact_interval(a, b, 0.95) == pytest.approx(odds, rel=1e-8)


# Laws.


@every_method
@given(table=tables(), level=levels)
def test_swapping_models_negates_the_interval(method, table, level):
    both_right, only_a, only_b, both_wrong = table
    swapped = (both_right, only_b, only_a, both_wrong)
    low, high = difference_interval(method, table, level)
    other_low, other_high = difference_interval(method, swapped, level)
    assert (-other_high, -other_low) == pytest.approx((low, high), rel=1e-13, abs=1e-15)


@every_method
@given(table=tables(), level=levels)
def test_difference_stays_within_bounds(method, table, level):
    low, high = difference_interval(method, table, level)
    assert -1.0 <= low <= high <= 1.0
    if method != "bonett_price":  # its centre is drawn towards 0
        difference = (table[1] - table[2]) / sum(table)
        assert low - 1e-15 <= difference <= high + 1e-15


@every_method
@given(table=tables(10**9))
def test_higher_level_is_wider(method, table):
    inner = difference_interval(method, table, 0.9)
    outer = difference_interval(method, table, 0.99)
    assert outer.low <= inner.low
    assert inner.high <= outer.high


@given(tables(), levels)
def test_tango_limits_solve_the_score_equation(table, level):
    _, only_a, only_b, _ = table
    n = sum(table)
    z = naive.quantile(level)
    low, high = tango_interval(only_a, only_b, n, level)
    for end, side in ((low, 1), (high, -1)):
        if abs(end) == 1.0:
            continue
        # The limit itself has 53 bits: the score moves by that much at least.
        step = 8.0 * np.spacing(max(abs(end), 1.0 / n))
        inside = naive.tango_score(only_a, only_b, n, end + side * step)
        outside = naive.tango_score(only_a, only_b, n, end - side * step)
        assert abs(inside) <= z * (1.0 + 1e-11)
        assert abs(outside) >= z * (1.0 - 1e-11)


@given(tables(10**6))
def test_tango_agrees_with_mcnemar_about_zero(table):
    _, only_a, only_b, _ = table
    pvalue = mcnemar_asymptotic(only_a, only_b).pvalue
    assume(abs(pvalue - 0.05) > 1e-9)
    low, high = tango_interval(only_a, only_b, sum(table), 0.95)
    assert (low <= 0.0 <= high) == (pvalue > 0.05)


@every_odds_ratio
@given(pair=count_pairs(10**9), level=levels)
def test_swapping_models_inverts_the_odds(weight, pair, level):
    interval = ODDS_RATIOS[weight]
    low, high = interval(*pair, level)
    other_low, other_high = interval(*pair[::-1], level)
    assert 0.0 <= low <= high
    assert (low == 0.0) == (pair[0] == 0)
    assert (high == math.inf) == (pair[1] == 0)
    if low > 0.0:
        assert other_high == pytest.approx(1.0 / low, rel=1e-12)
    if high < math.inf:
        assert other_low == pytest.approx(1.0 / high, rel=1e-12)


@given(count_pairs(10**9), levels)
def test_midp_odds_lie_within_the_exact_ones(pair, level):
    exact = odds_ratio_exact_interval(*pair, level)
    midp = odds_ratio_midp_interval(*pair, level)
    assert exact.low <= midp.low * (1.0 + 1e-9)
    assert midp.high <= exact.high * (1.0 + 1e-9)


@pytest.mark.parametrize("b", [1, 3, 100])
@pytest.mark.parametrize("a", [10**6, 10**9])
def test_large_odds_keep_their_digits(a, b):
    # With so many more wins the losses are Poisson: gamma quantiles, to order b / a.
    low, high = odds_ratio_exact_interval(a, b, 0.95)
    poisson = [a / stats.gamma.isf(0.025, b + 1), a / stats.gamma.ppf(0.025, b)]
    assert (low, high) == pytest.approx(poisson, rel=200 * (b + 10) / a + 1e-9)


@pytest.mark.parametrize("level", [0.0, 1.0, -0.5, 1.5, math.nan])
def test_a_level_outside_0_and_1_gives_nan(level):
    intervals = [difference_interval(m, (5, 4, 3, 2), level) for m in METHODS]
    intervals += [odds(4, 3, level) for odds in ODDS_RATIOS.values()]
    intervals.append(wilson_interval(5, 9, level))
    assert np.isnan(intervals).all()


@every_method
@pytest.mark.parametrize("table", [(0, 0, 0, 0), (-5, 0, 0, 0), (10, -3, 0, 3)])
def test_impossible_counts_give_nan(method, table):
    assert np.isnan(difference_interval(method, table, 0.95)).all()


@pytest.mark.parametrize("counts", [(0, 0), (3, -1), (-1, 5), (6, 5)])
def test_an_impossible_share_gives_nan(counts):
    assert np.isnan(wilson_interval(*counts, 0.95)).all()


@every_odds_ratio
def test_odds_of_nothing_are_anything(weight):
    assert ODDS_RATIOS[weight](0, 0, 0.95) == (0.0, math.inf)


@every_odds_ratio
def test_odds_of_wins_alone_at_a_level_next_to_nothing(weight):
    assert ODDS_RATIOS[weight](5, 0, 1e-17).low > 1.0


@every_odds_ratio
@pytest.mark.parametrize("pair", [(-1, 3), (3, -1)])
def test_negative_counts_have_no_odds(weight, pair):
    assert np.isnan(ODDS_RATIOS[weight](*pair, 0.95)).all()
