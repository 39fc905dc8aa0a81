"""E-values, bets and their intervals, against integrals and products with many digits."""

import math

import evalue_oracles as oracle
import numpy as np
import pytest
from cases import case, thinned
from hypothesis import given
from hypothesis import strategies as st
from libraries import special

from fastcmp import kernels
from fastcmp.kernels import GREATER, LESS, TWO_SIDED

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


def test_empirical_bernstein_limits_of_many_values():
    x, found = np.random.default_rng(3).random(600), np.empty(600)  # in parts of 256
    kernels.empirical_bernstein_limits(x, 0.025, 0.5, found)
    wanted = np.maximum(slow_bernstein(x, 0.025, 0.5), 0.0)
    np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-14)


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


SIDES = (TWO_SIDED, GREATER, LESS)
PRIORS = ((0.5, 0.5), (1.0, 1.0), (2.0, 5.0), (0.01, 3.0), (30.0, 0.2), (150.0, 160.0))
FAR = [
    *((0, 7), (7, 0), (10, 2), (2, 10), (1, 0), (100, 100), (67, 133), (133, 67)),
    *((0, 5000), (5000, 0), (3, 500), (10**6, 10**5)),
]
CLOSE = [(10**5, 10**5), (10**5, 101_000)]
counts = st.integers(0, 400)
priors = st.floats(0.05, 20.0)


def near(found, wanted, relative=1e-13, absolute=3e-12):
    """Compare logarithms, whose errors are relative errors of e-values."""
    assert abs(found - float(wanted)) <= relative * abs(float(wanted)) + absolute


@pytest.mark.parametrize("prior", thinned(PRIORS, 3))
def test_mcnemar_by_its_integral(prior):
    for b, c in [*FAR, *CLOSE] if prior == PRIORS[0] else FAR:
        for side in SIDES:
            with case(b, c, side):
                found = kernels.mcnemar_log_evalue(b, c, *prior, side)
                near(found, oracle.mcnemar_log_evalue(b, c, prior, side))


@given(counts, counts, priors, priors, st.sampled_from(SIDES))
def test_mcnemar_by_its_integral_anywhere(b, c, s, t, side):
    found = kernels.mcnemar_log_evalue(b, c, s, t, side)
    near(found, oracle.mcnemar_log_evalue(b, c, (s, t), side))


@pytest.mark.parametrize(("b", "c"), [(10**12, 10**12 + 3 * 10**6), (2**52, 2**52 - 1)])
def test_counts_as_large_as_floats_count(b, c):
    near(kernels.mcnemar_log_evalue(b, c), oracle.mcnemar_log_evalue(b, c))


def test_nothing_seen_and_one_win_are_no_evidence():
    assert kernels.mcnemar_log_evalue(0, 0) == 0.0
    assert kernels.mcnemar_log_evalue(0, 0, 2.0, 3.0, GREATER) == 0.0
    assert kernels.mcnemar_log_evalue(1, 0) == pytest.approx(0.0, abs=1e-14)
    wins = [kernels.mcnemar_log_evalue(b, 0) for b in range(8)]
    assert [x >= math.log(20) for x in wins] == [False] * 7 + [True]


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("prior", [(0.5, 0.5), (2.0, 5.0)])
def test_the_expectation_is_one_after_any_number_of_samples(prior, side):
    """Over all sequences: at one half, and for one side also beyond it at most 1."""
    for m in range(12):
        wins = range(m + 1)
        evalues = [math.exp(kernels.mcnemar_log_evalue(b, m - b, *prior, side)) for b in wins]
        for p in (0.5, 0.5 - 0.2 * side, 0.5 - 0.49 * side):
            chances = [math.comb(m, b) * p**b * (1 - p) ** (m - b) for b in wins]
            mean = math.fsum(map(math.prod, zip(chances, evalues, strict=True)))
            assert mean <= 1 + 1e-12
            if p == 0.5:
                assert mean == pytest.approx(1.0, rel=1e-12)


def test_proportions_that_are_not_rejected():
    for b, c in [*FAR, (2, 2)]:
        for s, t in PRIORS:
            low, high = kernels.anytime_proportion_interval(b, c, s, t, 0.9)
            top = b / (b + c)
            assert low <= top <= high
            for end, beyond in ((low, -1e-6), (high, 1e-6)):
                for shift in (beyond, -beyond):
                    at = end + shift * abs(end - top)
                    if not 0.0 < at < 1.0:
                        continue
                    log_e = b * math.log(0.5 / at) + c * math.log(0.5 / (1 - at))
                    log_e += kernels.mcnemar_log_evalue(b, c, s, t)
                    with case(b, c, s, t, at):
                        assert (log_e > math.log(10)) == (shift == beyond)
    assert kernels.anytime_proportion_interval(0, 0, 0.5, 0.5, 0.95) == (0.0, 1.0)
    assert kernels.anytime_proportion_interval(0, 9, 0.5, 0.5, 0.95).low == 0.0
    assert kernels.anytime_proportion_interval(9, 0, 0.5, 0.5, 0.95).high == 1.0


# All pairs by look-ups.


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


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("prior", [THIRDS, (1.0, 1.0, 1.0), (2.0, 0.3, 7.0)])
def test_dirichlet_by_search(table, prior):
    b, c, n = table
    for at in (0.0, 0.1, -0.37, 0.95):
        with case(*table, at):
            found = kernels.dirichlet_log_evalue(b, c, n, at, prior)
            wanted = float(oracle.dirichlet_log_evalue(b, c, n, at, prior))
            assert found == pytest.approx(wanted, rel=1e-11, abs=1e-11)


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
