"""Exact unconditional tests of accuracies on different samples."""

from __future__ import annotations

import math
from fractions import Fraction
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize, stats
from strategies import alternatives

from fastcmp.kernels import (
    GREATER,
    LESS,
    TWO_SIDED,
    barnard_exact,
    boschloo_exact,
    miettinen_nurminen,
    miettinen_nurminen_interval,
    score_exact,
    score_exact_interval,
)
from fastcmp.kernels.unpaired_exact import _reaches

METHODS = ("boschloo", "pooled", "unpooled")


@st.composite
def tables(draw, largest=9):
    n_a = draw(st.integers(1, largest))
    n_b = draw(st.one_of(st.just(n_a), st.integers(1, largest)))
    return draw(st.integers(0, n_a)), n_a, draw(st.integers(0, n_b)), n_b


def run(method, counts, side):
    if method == "boschloo":
        return boschloo_exact(*counts, side)
    return barnard_exact(*counts, side, method == "pooled")


# Oracle: all tables in rational numbers, and a fine grid of probabilities.


def fisher(n_a, n_b, two_sided):
    """Give Fisher's p-value of each table."""
    found = {}
    for k in range(n_a + n_b + 1):
        ways = {x: comb(n_a, x) * comb(n_b, k - x) for x in range(max(0, k - n_b), min(n_a, k) + 1)}
        for x, own in ways.items():
            extreme = [w for i, w in ways.items() if (w <= own if two_sided else i >= x)]
            found[x, k - x] = Fraction(sum(extreme), comb(n_a + n_b, k))
    return found


def signed_square(x, n_a, y, n_b, pooled):
    """Square z, and give it the sign of the difference."""
    p, q, mean = Fraction(x, n_a), Fraction(y, n_b), Fraction(x + y, n_a + n_b)
    variance = p * (1 - p) / n_a + q * (1 - q) / n_b
    if pooled:
        variance = mean * (1 - mean) * (Fraction(1, n_a) + Fraction(1, n_b))
    if p == q:
        return Fraction(0)
    return (p - q) * abs(p - q) / variance if variance else math.copysign(math.inf, p - q)


def extreme_tables(method, counts, side):
    """List the tables that are at least as extreme."""
    x, n_a, y, n_b = counts
    if side == LESS:
        turned = extreme_tables(method, (y, n_b, x, n_a), GREATER)
        return [(j, i) for i, j in turned]
    if method == "boschloo":
        order = fisher(n_a, n_b, side == TWO_SIDED)
        return [table for table, p in order.items() if p <= order[x, y]]
    grid = [(i, j) for i in range(n_a + 1) for j in range(n_b + 1)]
    order = {t: signed_square(t[0], n_a, t[1], n_b, method == "pooled") for t in grid}
    if side == TWO_SIDED:
        order = {table: abs(z) for table, z in order.items()}
    return [table for table, z in order.items() if z >= order[x, y]]


def largest(region, n_a, n_b):
    """Find the largest probability of some tables over [0, 1]."""
    n, k = n_a + n_b, np.arange(n_a + n_b + 1)
    ways = np.zeros(n + 1)
    for i, j in region:
        ways[i + j] += comb(n_a, i) * comb(n_b, j)

    def probability(pi):
        return (ways * pi**k * (1 - pi) ** (n - k)).sum(axis=-1)

    grid = np.linspace(0, 1, 401)
    values = probability(grid[:, None])
    best = values.max()
    is_top = (values >= np.roll(values, 1)) & (values >= np.roll(values, -1))
    for top in np.flatnonzero(is_top & (values > 0.9 * best)):
        near = grid[max(top - 1, 0)], grid[min(top + 1, 400)]
        found = optimize.minimize_scalar(
            lambda pi: -probability(pi), bounds=near, options={"xatol": 1e-13}
        )
        best = max(best, -found.fun)
    return min(best, 1.0)


@pytest.mark.parametrize("method", METHODS)
@given(counts=tables(), side=alternatives)
def test_equals_the_enumeration(method, counts, side):
    region = extreme_tables(method, counts, side)
    wanted = largest(region, counts[1], counts[3])
    found = run(method, counts, side)
    assert found.pvalue == pytest.approx(wanted, rel=1e-9)
    assert found.status == 0


@pytest.mark.parametrize("counts", [(1, 26, 25, 26), (0, 24, 24, 24), (1, 27, 25, 26)])
@pytest.mark.parametrize("side", [GREATER, LESS, TWO_SIDED])
def test_fishers_pvalues_close_to_1_are_told_from_1(counts, side):
    wanted = largest(extreme_tables("boschloo", counts, side), counts[1], counts[3])
    assert boschloo_exact(*counts, side).pvalue == pytest.approx(wanted, rel=1e-12)


@given(counts=tables())
def test_statistics(counts):
    x, n_a, y, n_b = counts
    for pooled in (True, False):
        z = float(signed_square(*counts, pooled))
        root = math.copysign(math.sqrt(abs(z)), z)
        found = barnard_exact(*counts, TWO_SIDED, pooled).statistic
        assert found == pytest.approx(root, rel=1e-12, abs=1e-300)
    table = [[x, n_a - x], [y, n_b - y]]
    for side, word in ((GREATER, "greater"), (LESS, "less"), (TWO_SIDED, "two-sided")):
        p = stats.fisher_exact(table, word).pvalue
        assert boschloo_exact(*counts, side).statistic == pytest.approx(p, rel=1e-9)


@given(
    *[st.integers(0, 6 * 10**14) for _ in range(2)],
    *[st.integers(1, 15 * 10**17) for _ in range(2)],
    st.booleans(),
)
def test_products_of_more_than_64_bits(gap, least, scale, its_scale, is_close):
    gap, least = math.isqrt(gap), math.isqrt(least)
    if is_close and least:  # the same ratio, up to rounding to a whole number
        scale = min(gap * gap * its_scale // (least * least), 15 * 10**17)
    wanted = gap * gap * its_scale >= least * least * scale
    assert _reaches(gap, scale, least, its_scale) == wanted


# Laws.


@pytest.mark.parametrize("method", METHODS)
@given(counts=tables(), side=alternatives)
def test_exchanging_the_models_and_right_with_wrong(method, counts, side):
    a, n_a, b, n_b = counts
    pvalue = run(method, counts, side).pvalue
    for other in ((b, n_b, a, n_a), (n_a - a, n_a, n_b - b, n_b)):
        assert run(method, other, -side).pvalue == pytest.approx(pvalue, rel=1e-9)


@given(counts=tables())
def test_boschloos_pvalue_is_at_most_fishers(counts):
    for side in (GREATER, LESS, TWO_SIDED):
        found = boschloo_exact(*counts, side)
        assert found.pvalue <= found.statistic * (1 + 1e-9)


@pytest.mark.parametrize("sizes", [(7, 9), (10, 10), (4, 12)])
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("side", [GREATER, TWO_SIDED])
def test_size_is_at_most_the_level(sizes, method, side):
    n_a, n_b = sizes
    grid = [(x, y) for x in range(n_a + 1) for y in range(n_b + 1)]
    pvalues = {t: run(method, (t[0], n_a, t[1], n_b), side).pvalue for t in grid}
    for level in (0.01, 0.05, 0.1):
        rejected = [t for t in grid if pvalues[t] <= level]
        size = largest(rejected, n_a, n_b) if rejected else 0.0
        assert size <= level * (1 + 1e-9)


# SciPy.


@given(counts=tables(), side=st.sampled_from([(GREATER, "greater"), (LESS, "less")]))
def test_scipys_boschloo(counts, side):
    x, n_a, y, n_b = counts
    if x + y in (0, n_a + n_b):
        return  # NaN there
    code, word = side
    theirs = stats.boschloo_exact([[x, y], [n_a - x, n_b - y]], word)
    assert boschloo_exact(*counts, code).pvalue == pytest.approx(theirs.pvalue, rel=1e-6)


@pytest.mark.parametrize(
    ("counts", "right"),
    [
        ((7, 8, 3, 9), 0.025970458984375),
        ((9, 10, 3, 10), 0.007955551147460969),
        ((5, 56, 0, 29), 0.11674716869972535),
    ],
)
def test_scipys_barnard_loses_tables_that_tie(counts, right):
    # Erratum H1: z(7, 1) of two times ten differs from z(9, 3) by rounding.
    x, n_a, y, n_b = counts
    assert barnard_exact(*counts).pvalue == pytest.approx(right, rel=1e-9)
    theirs = stats.barnard_exact([[x, y], [n_a - x, n_b - y]], pooled=True)
    assert theirs.pvalue <= right * (1 + 1e-9)


# A difference under H0.


def score_by_grid(counts, delta, side):
    """Enumerate all tables at 1,001 accuracies, without the order of tables."""
    x, n_a, y, n_b = counts
    z = np.array(
        [
            [miettinen_nurminen(i, n_a, j, n_b, delta).statistic for j in range(n_b + 1)]
            for i in range(n_a + 1)
        ]
    )
    own = z[x, y]
    extreme = {
        TWO_SIDED: abs(z) >= abs(own) - 1e-9,
        GREATER: z >= own - 1e-9,
        LESS: z <= own + 1e-9,
    }[side]
    q = np.linspace(max(0.0, -delta), min(1.0, 1.0 - delta), 1001)
    p = np.clip(q + delta, 0.0, 1.0)
    of_a = stats.binom.pmf(np.arange(n_a + 1)[:, None], n_a, p)
    of_b = stats.binom.pmf(np.arange(n_b + 1)[:, None], n_b, q)
    return np.einsum("iq,ij,jq->q", of_a, extreme.astype(float), of_b).max()


shifts = st.sampled_from([-0.6, -0.3, -0.1, -0.05, 0.02, 0.1, 0.25, 0.9])


@given(tables(), shifts, alternatives)
def test_a_difference_equals_the_enumeration(counts, delta, side):
    found = score_exact(*counts, delta, side)
    wanted = score_by_grid(counts, delta, side)
    assert wanted * (1 - 1e-9) <= found.pvalue <= min(wanted * 1.0005, 1.0) + 1e-12
    assert found.statistic == miettinen_nurminen(*counts, delta, side).statistic


@given(tables(), alternatives)
def test_no_difference_is_barnards_test(counts, side):
    wanted = barnard_exact(*counts, side)
    assert score_exact(*counts, 0.0, side).pvalue == wanted.pvalue
    if side * wanted.statistic > 0 or (side == TWO_SIDED and wanted.statistic):
        near = score_exact(*counts, 1e-13, side).pvalue
        assert near == pytest.approx(wanted.pvalue, rel=1e-6)


@given(tables(), shifts, alternatives)
def test_a_difference_with_models_exchanged(counts, delta, side):
    a, n_a, b, n_b = counts
    pvalue = score_exact(*counts, delta, side).pvalue
    for other in ((b, n_b, a, n_a), (n_a - a, n_a, n_b - b, n_b)):
        turned = score_exact(*other, -delta, -side).pvalue
        assert turned == pytest.approx(pvalue, rel=1e-8)


def test_a_largest_probability_at_the_boundary():
    # Erratum H3: all of a wrong, all of b right, H0: a minus b is -0.9 or less.
    found = score_exact(1, 10, 10, 10, -0.9, GREATER)
    assert found.pvalue == pytest.approx(score_by_grid((1, 10, 10, 10), -0.9, GREATER))


@pytest.mark.parametrize("sizes", [(8, 8), (6, 11)])
@pytest.mark.parametrize("delta", [-0.2, -0.05, 0.1])
def test_size_with_a_difference_is_at_most_the_level(sizes, delta):
    n_a, n_b = sizes
    rejected = np.array(
        [
            [score_exact(x, n_a, y, n_b, delta, GREATER).pvalue for y in range(n_b + 1)]
            for x in range(n_a + 1)
        ]
    )
    for gap in (delta, delta - 0.05, delta - 0.3):  # all of H0, not its end alone
        q = np.linspace(max(0.0, -gap), min(1.0, 1.0 - gap), 201)
        of_a = stats.binom.pmf(np.arange(n_a + 1)[:, None], n_a, np.clip(q + gap, 0, 1))
        of_b = stats.binom.pmf(np.arange(n_b + 1)[:, None], n_b, q)
        for level in (0.05, 0.1):
            reached = (rejected <= level).astype(float)
            assert np.einsum("iq,ij,jq->q", of_a, reached, of_b).max() <= level + 1e-12


@given(tables(), st.sampled_from([0.8, 0.95]))
def test_the_interval_inverts_the_exact_test(counts, level):
    a, n_a, b, n_b = counts
    low, high = score_exact_interval(*counts, level)
    half = (1 - level) / 2
    assert -1 <= low <= a / n_a - b / n_b <= high <= 1
    for end, side in ((low, GREATER), (high, LESS)):
        if abs(end) == 1:
            continue
        out, within = end - side * 1e-6, end + side * 1e-6
        if abs(out) < 1:
            assert score_exact(*counts, out, side).pvalue <= half
        if abs(within) < 1:
            assert score_exact(*counts, within, side).pvalue >= half - 1e-4


@pytest.mark.full
def test_5000_samples_agree_with_the_score_test():
    n = 5000
    counts = (int(0.8 * n), n, int(0.78 * n), n - 1)
    wanted = miettinen_nurminen(*counts)
    for method in METHODS:
        found = run(method, counts, TWO_SIDED)
        assert found.status == 0
        assert found.pvalue == pytest.approx(wanted.pvalue, rel=0.15)
    low, high = score_exact_interval(*(x // 25 for x in counts), 0.95)
    wide = miettinen_nurminen_interval(*(x // 25 for x in counts), 0.95)
    assert (low, high) == pytest.approx(wide, abs=0.02)
