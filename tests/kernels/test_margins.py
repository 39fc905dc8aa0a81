"""Tango's score test at any difference, and the exact unconditional test."""

import math

import naive
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from libraries import mpmath, optimize, special, stats
from strategies import count_pairs

from fastcmp import kernels

differences = st.floats(-0.99, 0.99).filter(lambda d: abs(d) > 1e-6)


@st.composite
def tables(draw, largest=12):
    n = draw(st.integers(1, largest))
    only_a = draw(st.integers(0, n))
    return only_a, draw(st.integers(0, n - only_a)), n


def exact(only_a, only_b, n, difference, cells=400):
    """Enumerate all tables, and look at many values of the unknown probability."""
    x, y = np.divmod(np.arange((n + 1) ** 2), n + 1)
    x, y = x[x + y <= n], y[x + y <= n]
    observed = kernels.tango_test(only_a, only_b, n, difference).statistic
    scores = np.array([
        kernels.tango_test(i, j, n, difference).statistic
        for i, j in zip(x.tolist(), y.tolist(), strict=True)
    ])  # fmt: skip
    extreme = scores >= observed - 1e-9
    x, y, rest = x[extreme], y[extreme], n - x[extreme] - y[extreme]

    ways = special.gammaln(n + 1) - special.gammaln([x + 1, y + 1, rest + 1]).sum(axis=0)

    def probability(q):
        p = np.clip([q + difference, q, 1 - 2 * q - difference], 0, 1)
        logs = special.xlogy(x, p[0]) + special.xlogy(y, p[1]) + special.xlogy(rest, p[2])
        return np.exp(ways + logs).sum()

    low, high = max(0.0, -difference), (1 - difference) / 2
    grid = np.linspace(low, high, cells + 1)
    found = [probability(q) for q in grid]
    k = int(np.argmax(found))
    ends = grid[max(k - 1, 0)], grid[min(k + 1, cells)]
    top = optimize.minimize_scalar(
        lambda q: -probability(q), bounds=ends, method="bounded", options={"xatol": 1e-9}
    )
    return max(*found, -top.fun)


# Oracle: the score.


@given(count_pairs(), st.integers(0, 10**12), differences)
def test_score_to_50_digits(counts, rest, difference):
    only_a, only_b = counts
    n = only_a + only_b + rest
    assume(n > 0)
    found = kernels.tango_test(only_a, only_b, n, difference, kernels.GREATER)
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


@given(count_pairs(10**6), st.integers(0, 10**6))
def test_at_no_difference_it_is_mcnemars(counts, rest):
    assume(sum(counts) + rest > 0)
    for alternative in (kernels.TWO_SIDED, kernels.GREATER, kernels.LESS):
        found = kernels.tango_test(*counts, sum(counts) + rest, 0.0, alternative)
        wanted = kernels.mcnemar_asymptotic(*counts, alternative)
        assert found.statistic**2 == pytest.approx(wanted.statistic)
        if sum(counts):
            assert found.pvalue == pytest.approx(wanted.pvalue, rel=1e-9)
        else:
            assert (found.statistic, found.status) == (0, kernels.DEGENERATE)


def test_nothing_discordant_and_no_variance():
    for n, margin in ((50, 0.1), (7, 0.5)):
        root = math.sqrt(n * margin / (1 - margin))
        assert kernels.tango_test(0, 0, n, -margin).statistic == pytest.approx(root, rel=1e-15)
        assert kernels.tango_test(0, 0, n, margin).statistic == pytest.approx(-root, rel=1e-15)
    assert kernels.tango_test(0, 9, 9, np.nextafter(1, 0)).statistic < -1e7
    assert kernels.tango_test(9, 0, 9, -np.nextafter(1, 0)).statistic > 1e7


# The exact test.


@given(tables(), differences)
def test_equals_enumeration_of_all_tables(table, difference):
    found = kernels.tango_exact(*table, difference)
    assert found.status == kernels.OK
    assert found.statistic == kernels.tango_test(*table, difference).statistic
    wanted = exact(*table, difference)
    assert found.pvalue >= wanted * (1 - 1e-8) - 1e-12
    assert found.pvalue == pytest.approx(wanted, rel=1e-6, abs=1e-9)


def test_the_ends_of_the_range_count():
    # The largest probability is at p10 = 0: a binomial sum.
    found = kernels.tango_exact(0, 1, 44, -0.1)
    assert found.pvalue == pytest.approx(0.9**44 + 44 * 0.1 * 0.9**43, rel=1e-12)


def test_tiny_pvalues_equal_enumeration():
    small = kernels.tango_exact(60, 0, 200, -0.05).pvalue
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
    pvalues = np.array([kernels.tango_exact(a, b, n, -margin, gamma).pvalue for a, b in pairs])
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
    whole = kernels.tango_exact(8, 2, 50, -0.1).pvalue
    part = kernels.tango_exact(8, 2, 50, -0.1, 1e-6).pvalue
    assert part <= whole + 1e-6
    assert kernels.tango_exact(8, 2, 50, -0.1, 0.01).pvalue >= 0.01
    assert kernels.tango_exact(10, 20, 50, -0.1, 0.999).pvalue == 1
