"""Bets on bounded values, and boundaries, against products with many digits."""

import math

import evalue_oracles as oracle
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from libraries import special

from fastcmp import kernels

values = st.lists(
    st.one_of(st.floats(-1, 1), st.sampled_from([-1.0, 0.0, 1.0])), min_size=1, max_size=60
).map(lambda x: np.array(x, float))
evalues = st.lists(st.floats(0, 1e4), min_size=1, max_size=9)


def scales(mean, sign=1.0):
    return sign * 2.0 ** (-0.5 * np.arange(24)) / (1.0 + abs(mean))


def log_wealth(x, mean, bets):
    out = np.zeros(bets.size)
    kernels.bet_on_values(x, mean, bets, out)
    return out


@given(values, st.floats(-0.99, 0.99))
def test_wealth_is_a_product(x, mean):
    bets = np.concatenate([scales(mean), scales(mean, -1.0)])
    found = kernels.log_mean_exp(log_wealth(x, mean, bets))
    wanted = float(oracle.bets_log_evalue(x, mean, bets))
    assert found == pytest.approx(wanted, rel=1e-12, abs=1e-12)


@given(values, values, st.floats(-0.9, 0.9))
def test_wealth_of_blocks_adds_up_in_any_order(x, y, mean):
    bets = scales(mean)
    parts = log_wealth(x, mean, bets)
    kernels.bet_on_values(y, mean, bets, parts)
    whole = log_wealth(np.concatenate([y, x])[::-1].copy(), mean, bets)
    np.testing.assert_allclose(whole, parts, rtol=1e-11, atol=1e-12)


def test_a_bet_that_loses_all():
    assert log_wealth(np.array([-1.0]), 0.0, np.array([1.0]))[0] == -math.inf
    assert kernels.log_mean_exp(np.array([-math.inf, 0.0])) == pytest.approx(math.log(0.5))
    assert kernels.log_mean_exp(np.array([-math.inf])) == -math.inf


@given(values, st.floats(0.5, 0.99))
def test_means_that_bets_do_not_reject(x, level):
    low, high = kernels.anytime_mean_interval(x, level)
    assert -1.0 <= low <= np.mean(x) + 1e-15
    assert np.mean(x) - 1e-15 <= high <= 1.0
    limit = math.log(2.0) - math.log1p(-level)
    for end, sign in ((low, 1.0), (high, -1.0)):
        wealth = kernels.log_mean_exp(log_wealth(x, end, scales(end, sign)))
        if abs(end) < 1.0:
            assert wealth == pytest.approx(limit, abs=1e-6)
        else:
            assert wealth <= limit + 1e-9


@given(values)
def test_the_wealth_of_one_side_falls_with_the_mean(x):
    """Therefore its limit is one root."""
    means = np.linspace(-1, 1, 41)
    logs = [kernels.log_mean_exp(log_wealth(x, m, scales(m))) for m in means]
    kept = np.isfinite(logs)
    assert (np.diff(np.array(logs)[kept]) <= 1e-9).all()


def test_no_values_and_values_out_of_range():
    assert kernels.anytime_mean_interval(np.empty(0), 0.95) == (-1.0, 1.0)
    for wrong in ([1.5], [np.nan], [-np.inf]):
        assert np.isnan(kernels.anytime_mean_interval(np.array(wrong), 0.95).low)


def slow_bernstein(x, alpha, truncation):
    """Waudby-Smith and Ramdas' limits in whole arrays, as they are written."""
    t = np.arange(1, x.size + 1)
    centre = (0.5 + np.cumsum(x)) / (t + 1)
    variance = (0.25 + np.cumsum((x - centre) ** 2)) / (t + 1)
    before = np.append(0.25, variance[:-1])
    bets = np.sqrt(2 * np.log(1 / alpha) / (t * np.log(1 + t) * before))
    bets = np.minimum(bets, truncation)
    mean = np.append(0.0, (np.cumsum(x) / t)[:-1])
    paid = np.cumsum((x - mean) ** 2 * (-np.log(1 - bets) - bets))
    return (np.cumsum(bets * x) + np.log(alpha) - paid) / np.cumsum(bets)


@given(values, st.floats(0.001, 0.5), st.floats(0.1, 0.9))
def test_empirical_bernstein_limits(x, alpha, truncation):
    x = np.abs(x)
    found = np.empty(x.size)
    kernels.empirical_bernstein_limits(x, alpha, truncation, found)
    wanted = np.maximum(slow_bernstein(x, alpha, truncation), 0.0)
    np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-12)


@given(evalues)
def test_closed_testing_by_all_subsets(given_evalues):
    ascending = np.sort(np.array(given_evalues))
    found = kernels.e_holm_sorted(ascending)
    np.testing.assert_allclose(found, oracle.closed_means(ascending), rtol=1e-12)


@pytest.mark.parametrize("side", [0, 1, -1])
def test_the_boundary_is_where_the_mixture_reaches_the_level(side):
    for v in (0.0, 0.3, 50.0, 1e6):
        for rho in (0.01, 6.3, 2e4):
            for alpha in (1e-8, 0.05, 0.6):
                s = kernels.normal_mixture_boundary(v, rho, alpha, side)
                whole = v + rho
                log_e = 0.5 * math.log(rho / whole) + s * s / (2 * whole)
                if side:
                    log_e += math.log(2) + special.log_ndtr(s / math.sqrt(whole))
                assert log_e == pytest.approx(-math.log(alpha), rel=1e-11)
                assert s > 0
