"""Tango's score test at any difference, and the exact unconditional test."""

from __future__ import annotations

import math

import mpmath
import naive
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import optimize, stats
from scipy.special import gammaln, xlogy
from strategies import count_pairs

from fastcmp.kernels import (
    DEGENERATE,
    GREATER,
    INVALID,
    LESS,
    OK,
    TWO_SIDED,
    mcnemar_asymptotic,
    tango_exact,
    tango_interval,
    tango_test,
)
from fastcmp.kernels.intervals import tango_margin_many
from fastcmp.kernels.margins_exact import tango_exact_margins

differences = st.floats(-0.99, 0.99).filter(lambda d: abs(d) > 1e-6)
NEAR = {"rel": 1e-9, "abs": 1e-12}


@st.composite
def tables(draw, largest=12):
    n = draw(st.integers(1, largest))
    only_a = draw(st.integers(0, n))
    return only_a, draw(st.integers(0, n - only_a)), n


def exact(only_a, only_b, n, difference, cells=400):
    """Enumerate all tables, and look at many values of the unknown probability."""
    x, y = np.divmod(np.arange((n + 1) ** 2), n + 1)
    x, y = x[x + y <= n], y[x + y <= n]
    observed = tango_test(only_a, only_b, n, difference).statistic
    scores = np.array([
        tango_test(i, j, n, difference).statistic
        for i, j in zip(x.tolist(), y.tolist(), strict=True)
    ])  # fmt: skip
    extreme = scores >= observed - 1e-9
    x, y, rest = x[extreme], y[extreme], n - x[extreme] - y[extreme]

    ways = gammaln(n + 1) - gammaln([x + 1, y + 1, rest + 1]).sum(axis=0)

    def probability(q):
        p = np.clip([q + difference, q, 1 - 2 * q - difference], 0, 1)
        logs = xlogy(x, p[0]) + xlogy(y, p[1]) + xlogy(rest, p[2])
        return np.exp(ways + logs).sum()

    low, high = max(0.0, -difference), (1 - difference) / 2
    grid = np.linspace(low, high, cells + 1)
    found = [probability(q) for q in grid]
    k = int(np.argmax(found))
    ends = grid[max(k - 1, 0)], grid[min(k + 1, cells)]
    top = optimize.minimize_scalar(
        lambda q: -probability(q),
        bounds=ends,
        method="bounded",
        options={"xatol": 1e-9},
    )
    return max(*found, -top.fun)


# Oracle: the score.


@given(count_pairs(), st.integers(0, 10**12), differences)
def test_score_to_50_digits(counts, rest, difference):
    only_a, only_b = counts
    n = only_a + only_b + rest
    assume(n > 0)
    found = tango_test(only_a, only_b, n, difference, GREATER)
    wanted = naive.tango_score(only_a, only_b, n, difference)
    # The difference of n d and a whole number is as good as float64 lets it be.
    lost = (
        4e-16
        * n
        * abs(difference)
        * abs(wanted / (only_a - only_b - n * mpmath.mpf(difference) or 1))
    )
    assert abs(found.statistic - wanted) <= 1e-11 * abs(wanted) + lost + 1e-12
    if abs(wanted) < 30:
        tail = mpmath.erfc(found.statistic / mpmath.sqrt(2)) / 2
        assert found.pvalue == pytest.approx(float(tail), rel=1e-12)


@given(tables(60), differences)
def test_score_by_maximum_likelihood(table, difference):
    only_a, only_b, n = table
    rest = n - only_a - only_b
    low, high = max(0.0, -difference), (1 - difference) / 2
    step = 1e-13 * (high - low)

    def slope(q):
        return only_a / (q + difference) + only_b / q - 2 * rest / (1 - 2 * q - difference)

    ends = low + step, high - step
    if slope(ends[0]) <= 0:
        q = low
    elif slope(ends[1]) >= 0:
        q = high
    else:
        q = optimize.brentq(slope, *ends, xtol=1e-16, rtol=1e-15)
    variance = n * (2 * q + difference - difference**2)
    assume(variance > 1e-4)
    wanted = (only_a - only_b - n * difference) / math.sqrt(variance)
    found = tango_test(only_a, only_b, n, difference)
    assert found.statistic == pytest.approx(wanted, rel=1e-6, abs=1e-6)


@given(count_pairs(10**6), st.integers(0, 10**6))
def test_at_no_difference_it_is_mcnemars(counts, rest):
    assume(sum(counts) + rest > 0)
    for alternative in (TWO_SIDED, GREATER, LESS):
        found = tango_test(*counts, sum(counts) + rest, 0.0, alternative)
        wanted = mcnemar_asymptotic(*counts, alternative)
        assert found.statistic**2 == pytest.approx(wanted.statistic)
        if sum(counts):
            assert found.pvalue == pytest.approx(wanted.pvalue, rel=1e-9)
        else:
            assert (found.statistic, found.status) == (0, DEGENERATE)


@given(tables(1000), differences)
def test_swapped_models(table, difference):
    only_a, only_b, n = table
    one = tango_test(only_a, only_b, n, difference, GREATER)
    other = tango_test(only_b, only_a, n, -difference, LESS)
    assert one.statistic == -other.statistic
    assert one.pvalue == other.pvalue


def test_nothing_discordant_and_no_variance():
    for n, margin in ((50, 0.1), (7, 0.5)):
        root = math.sqrt(n * margin / (1 - margin))
        assert tango_test(0, 0, n, -margin).statistic == pytest.approx(root, rel=1e-15)
        assert tango_test(0, 0, n, margin).statistic == pytest.approx(-root, rel=1e-15)
    assert tango_test(0, 9, 9, np.nextafter(1, 0)).statistic < -1e7
    assert tango_test(9, 0, 9, -np.nextafter(1, 0)).statistic > 1e7


# Many at once, and intervals.


@given(st.lists(tables(300), min_size=1, max_size=5), st.floats(0.001, 0.99))
def test_many_are_each_alone(drawn, margin):
    only_a, only_b, n = np.array(drawn).T.copy()
    found = np.empty((10, n.size))
    tango_margin_many(only_a, only_b, n, np.full(n.size, margin), 0.05, found)
    for i, table in enumerate(drawn):
        lower = tango_test(*table, -margin, GREATER)
        upper = tango_test(*table, margin, LESS)
        above = tango_test(*table, margin, GREATER)
        assert found[:2, i].tolist() == [lower.statistic, upper.statistic]
        assert found[2:5, i].tolist() == [lower.pvalue, upper.pvalue, above.pvalue]
        assert tuple(found[5:7, i]) == tango_interval(*table, 0.95)
        assert found[7:9, i] == pytest.approx(tango_interval(*table, 0.9), rel=1e-12)
        distance = table[0] - table[1] + table[2] * margin
        if distance:
            assert found[9, i] == pytest.approx((distance / lower.statistic) ** 2)


# The exact test.


@given(tables(), differences)
def test_equals_enumeration_of_all_tables(table, difference):
    found = tango_exact(*table, difference)
    assert found.status == OK
    assert found.statistic == tango_test(*table, difference).statistic
    wanted = exact(*table, difference)
    assert found.pvalue >= wanted * (1 - 1e-8) - 1e-12
    assert found.pvalue == pytest.approx(wanted, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("table", [(8, 2, 50), (0, 9, 50), (25, 25, 50), (1, 0, 45)])
@pytest.mark.parametrize("difference", [-0.3, -0.05, 0.1, 0.6])
def test_equals_enumeration_at_50_samples(table, difference):
    found = tango_exact(*table, difference).pvalue
    assert found == pytest.approx(exact(*table, difference, 2000), **NEAR)


@pytest.mark.parametrize(("n", "difference"), [(30, -0.1), (41, 0.2), (25, -0.6)])
def test_the_more_extreme_tables_are_below_a_staircase(n, difference):
    scores = np.full((n + 1, n + 1), np.nan)
    for x in range(n + 1):
        for y in range(n + 1 - x):
            scores[x, y] = tango_test(x, y, n, difference).statistic
    down, across = np.diff(scores, axis=1), np.diff(scores, axis=0)
    assert np.nanmax(down) <= 1e-9
    assert np.nanmin(across) >= -1e-9


def test_the_ends_of_the_range_count():
    # The largest probability is at p10 = 0: a binomial sum.
    found = tango_exact(0, 1, 44, -0.1)
    assert found.pvalue == pytest.approx(0.9**44 + 44 * 0.1 * 0.9**43, rel=1e-12)


@pytest.mark.parametrize("table", [(400, 0, 1000), (5000, 20, 10_000)])
def test_tiny_pvalues_do_not_vanish(table):
    found = tango_exact(*table, -0.1)
    assert found.pvalue == 0 or 0 < found.pvalue < 1e-60
    assert found.pvalue <= tango_exact(table[0] - 30, *table[1:], -0.1).pvalue


def test_tiny_pvalues_equal_enumeration():
    small = tango_exact(60, 0, 200, -0.05).pvalue
    assert 1e-60 < small < 1e-15
    wanted = exact(60, 0, 200, -0.05, 300)
    assert small == pytest.approx(wanted, rel=1e-6, abs=0)


@pytest.mark.parametrize("gamma", [0.0, 0.001])
@pytest.mark.parametrize(("n", "margin"), [(9, 0.2), (20, 0.1)])
def test_size_by_enumeration(n, margin, gamma):
    """At or beyond the margin no table is rejected too often."""
    alpha = 0.05
    x, y = np.divmod(np.arange((n + 1) ** 2), n + 1)
    x, y = x[x + y <= n], y[x + y <= n]
    pairs = zip(x.tolist(), y.tolist(), strict=True)
    pvalues = np.array([tango_exact(a, b, n, -margin, gamma).pvalue for a, b in pairs])
    rejected = pvalues <= alpha
    assert rejected.any()
    cell = np.stack([x, y, n - x - y], axis=1)[rejected]
    sizes = []
    for difference in (-margin, -margin - 0.05):
        for q in np.linspace(-difference, (1 - difference) / 2, 60):
            p = np.clip([q + difference, q, 1 - 2 * q - difference], 0, 1)
            sizes.append(stats.multinomial.pmf(cell, n, p / p.sum()).sum())
    assert 0.02 < max(sizes) <= alpha + 1e-12


def test_berger_and_boos():
    whole = tango_exact(8, 2, 50, -0.1).pvalue
    part = tango_exact(8, 2, 50, -0.1, 1e-6).pvalue
    assert part <= whole + 1e-6
    assert tango_exact(8, 2, 50, -0.1, 0.01).pvalue >= 0.01
    assert tango_exact(10, 20, 50, -0.1, 0.999).pvalue == 1


@given(tables(), st.sampled_from([0.03, 0.1, 0.4]), st.sampled_from([0.0, 0.001]))
def test_exact_intervals_invert_the_tests(table, margin, gamma):
    only_a, only_b, n = table
    found = np.empty(9)
    tango_exact_margins(*table, margin, 0.05, gamma, found)
    low, high, inner_low, inner_high = found[5:]
    assert low <= inner_low <= (only_a - only_b) / n <= inner_high <= high
    for end, level in ((low, 0.025), (inner_low, 0.05)):
        assert (found[2] <= level) == (end > -margin)
    for end, level in ((high, 0.025), (inner_high, 0.05)):
        assert (found[3] <= level) == (end < margin)
    if inner_low > -1:
        below = tango_exact(*table, max(inner_low - 2e-8, -0.9999999), gamma)
        above = tango_exact(*table, inner_low + 2e-8, gamma)
        assert below.pvalue <= 0.05 + 1e-6
        assert above.pvalue >= 0.05 - 1e-6
    turned = np.empty(9)
    tango_exact_margins(only_b, only_a, n, margin, 0.05, gamma, turned)
    assert turned[5:] == pytest.approx([-high, -low, -inner_high, -inner_low])
    assert turned[2:4].tolist() == found[3:1:-1].tolist()


def test_impossible_input():
    found = np.zeros(9)
    for margin, alpha in ((0.0, 0.05), (0.1, 0.5), (1.0, 0.05)):
        tango_exact_margins(3, 0, 30, margin, alpha, 0.0, found)
        assert np.isnan(found).all()
    many = np.zeros((10, 3))
    counts = np.array([[3, 3, -1], [0, 5, 0], [30, 7, 30]])
    tango_margin_many(*counts, np.array([1.0, 0.1, 0.1]), 0.05, many)
    assert np.isnan(many).all()
    assert tango_exact(3, 0, 30, -0.1, 1.0).status == INVALID
