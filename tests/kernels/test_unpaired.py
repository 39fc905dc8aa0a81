"""Accuracies on different samples: the score test, intervals, and exact unconditional tests."""

import math
from fractions import Fraction
from math import comb

import numpy as np
import pytest
from cases import thinned
from hypothesis import given
from hypothesis import strategies as st
from libraries import mpmath, optimize, stats
from strategies import alternatives

from fastcmp import kernels


@st.composite
def two_accuracies(draw, largest=60):
    counts = []
    for _ in range(2):
        n = draw(st.integers(1, largest))
        counts += [draw(st.integers(0, n)), n]
    return tuple(counts)


differences = st.one_of(
    st.floats(-0.99, 0.99), st.sampled_from([-0.5, -0.1, 0.1, 0.05, 0.999, 1e-6])
).filter(lambda x: abs(x) > 1e-9)


# Oracle: the constrained maximum of the likelihood, by bisection to 40 digits.


def slowly(a, n_a, b, n_b, delta):
    with mpmath.workdps(40):
        delta = mpmath.mpf(delta)
        low, high = max(mpmath.mpf(0), -delta), min(mpmath.mpf(1), 1 - delta)
        for _ in range(130):
            p = (low + high) / 2
            slope = a and a / (p + delta)
            slope -= (n_a - a) and (n_a - a) / (1 - p - delta)
            slope += b and b / p
            slope -= (n_b - b) and (n_b - b) / (1 - p)
            low, high = (p, high) if slope > 0 else (low, p)
        q, n = p + delta, n_a + n_b
        variance = (q * (1 - q) / n_a + p * (1 - p) / n_b) * n / (n - mpmath.mpf(1))
        gap = mpmath.mpf(a) / n_a - mpmath.mpf(b) / n_b - delta
        return float(gap / mpmath.sqrt(variance))


@given(two_accuracies(), differences)
def test_statistic_at_the_constrained_maximum(counts, delta):
    found = kernels.miettinen_nurminen(*counts, delta).statistic
    assert found == pytest.approx(slowly(*counts, delta), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize(
    "counts", [(3, 10**6, 5, 2 * 10**6), (10**6 - 3, 10**6, 10**9 - 40, 10**9)]
)
@pytest.mark.parametrize("delta", [-1e-6, 1e-6, 1e-3, -0.7])
def test_rare_errors_of_many_samples(counts, delta):
    found = kernels.miettinen_nurminen(*counts, delta).statistic
    assert found == pytest.approx(slowly(*counts, delta), rel=1e-8)


@given(two_accuracies())
def test_equality_is_the_pooled_score_test(counts):
    a, n_a, b, n_b = counts
    n, p = n_a + n_b, (a + b) / (n_a + n_b)
    found = kernels.miettinen_nurminen(*counts)
    if a + b in (0, n):
        assert tuple(found) == (0.0, 1.0, 1)
        return
    z = (a / n_a - b / n_b) / math.sqrt(p * (1 - p) * (1 / n_a + 1 / n_b))
    assert found.statistic == pytest.approx(z * math.sqrt(1 - 1 / n), rel=1e-12)
    close = kernels.miettinen_nurminen(*counts, 1e-13).statistic
    assert found.statistic == pytest.approx(close, abs=1e-9)


@given(two_accuracies(), differences)
def test_pvalues_are_normal_tails(counts, delta):
    two, more, less = (
        kernels.miettinen_nurminen(*counts, delta, side)
        for side in (kernels.TWO_SIDED, kernels.GREATER, kernels.LESS)
    )
    z = two.statistic
    assert more.pvalue == pytest.approx(stats.norm.sf(z), rel=1e-12, abs=1e-300)
    assert less.pvalue == pytest.approx(stats.norm.cdf(z), rel=1e-12, abs=1e-300)
    assert two.pvalue == pytest.approx(2 * stats.norm.sf(abs(z)), rel=1e-12, abs=1e-300)


# Laws.


@given(two_accuracies(), st.floats(0.5, 0.999))
def test_the_interval_inverts_the_test(counts, level):
    a, n_a, b, n_b = counts
    low, high = kernels.miettinen_nurminen_interval(*counts, level)
    z = stats.norm.isf((1 - level) / 2)
    for end, sign in ((low, 1), (high, -1)):
        if abs(end) < 1:
            found = kernels.miettinen_nurminen(*counts, end).statistic
            assert found == pytest.approx(sign * z, rel=1e-6)
        else:
            assert end == a / n_a - b / n_b == -sign
    assert -1 <= low <= a / n_a - b / n_b <= high <= 1


@given(two_accuracies(), st.floats(0.5, 0.999))
def test_newcombe_adds_the_squares_of_wilsons_distances(counts, level):
    a, n_a, b, n_b = counts
    low, high = kernels.newcombe_unpaired_interval(*counts, level)
    one, two = kernels.wilson_interval(a, n_a, level), kernels.wilson_interval(b, n_b, level)
    p, q = a / n_a, b / n_b
    assert low == pytest.approx(p - q - math.hypot(p - one.low, two.high - q))
    assert high == pytest.approx(p - q + math.hypot(one.high - p, q - two.low))


METHODS = ("boschloo", "pooled", "unpooled")


@st.composite
def tables(draw, largest=9):
    n_a = draw(st.integers(1, largest))
    n_b = draw(st.one_of(st.just(n_a), st.integers(1, largest)))
    return draw(st.integers(0, n_a)), n_a, draw(st.integers(0, n_b)), n_b


def run(method, counts, side):
    if method == "boschloo":
        return kernels.boschloo_exact(*counts, side)
    return kernels.barnard_exact(*counts, side, method == "pooled")


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
    if side == kernels.LESS:
        turned = extreme_tables(method, (y, n_b, x, n_a), kernels.GREATER)
        return [(j, i) for i, j in turned]
    if method == "boschloo":
        order = fisher(n_a, n_b, side == kernels.TWO_SIDED)
        return [table for table, p in order.items() if p <= order[x, y]]
    grid = [(i, j) for i in range(n_a + 1) for j in range(n_b + 1)]
    order = {t: signed_square(t[0], n_a, t[1], n_b, method == "pooled") for t in grid}
    if side == kernels.TWO_SIDED:
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
@pytest.mark.parametrize("side", [kernels.GREATER, kernels.LESS, kernels.TWO_SIDED])
def test_fishers_pvalues_close_to_1_are_told_from_1(counts, side):
    wanted = largest(extreme_tables("boschloo", counts, side), counts[1], counts[3])
    assert kernels.boschloo_exact(*counts, side).pvalue == pytest.approx(wanted, rel=1e-12)


@given(counts=tables())
def test_statistics(counts):
    x, n_a, y, n_b = counts
    for pooled in (True, False):
        z = float(signed_square(*counts, pooled))
        root = math.copysign(math.sqrt(abs(z)), z)
        found = kernels.barnard_exact(*counts, kernels.TWO_SIDED, pooled).statistic
        assert found == pytest.approx(root, rel=1e-12, abs=1e-300)
    table = [[x, n_a - x], [y, n_b - y]]
    for side, word in (
        (kernels.GREATER, "greater"),
        (kernels.LESS, "less"),
        (kernels.TWO_SIDED, "two-sided"),
    ):
        p = stats.fisher_exact(table, word).pvalue
        assert kernels.boschloo_exact(*counts, side).statistic == pytest.approx(p, rel=1e-9)


# Laws.


# SciPy.


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
    assert kernels.barnard_exact(*counts).pvalue == pytest.approx(right, rel=1e-9)
    theirs = stats.barnard_exact([[x, y], [n_a - x, n_b - y]], pooled=True)
    assert theirs.pvalue <= right * (1 + 1e-9)


# A difference under H0.


def score_by_grid(counts, delta, side):
    """Enumerate all tables at 1,001 accuracies, without the order of tables."""
    x, n_a, y, n_b = counts
    z = np.array(
        [
            [kernels.miettinen_nurminen(i, n_a, j, n_b, delta).statistic for j in range(n_b + 1)]
            for i in range(n_a + 1)
        ]
    )
    own = z[x, y]
    extreme = {
        kernels.TWO_SIDED: abs(z) >= abs(own) - 1e-9,
        kernels.GREATER: z >= own - 1e-9,
        kernels.LESS: z <= own + 1e-9,
    }[side]
    q = np.linspace(max(0.0, -delta), min(1.0, 1.0 - delta), 1001)
    p = np.clip(q + delta, 0.0, 1.0)
    of_a = stats.binom.pmf(np.arange(n_a + 1)[:, None], n_a, p)
    of_b = stats.binom.pmf(np.arange(n_b + 1)[:, None], n_b, q)
    return np.einsum("iq,ij,jq->q", of_a, extreme.astype(float), of_b).max()


shifts = st.sampled_from([-0.6, -0.3, -0.1, -0.05, 0.02, 0.1, 0.25, 0.9])


@given(tables(), shifts, alternatives)
def test_a_difference_equals_the_enumeration(counts, delta, side):
    found = kernels.score_exact(*counts, delta, side)
    wanted = score_by_grid(counts, delta, side)
    assert wanted * (1 - 1e-9) <= found.pvalue <= min(wanted * 1.0005, 1.0) + 1e-12
    assert found.statistic == kernels.miettinen_nurminen(*counts, delta, side).statistic


def test_a_largest_probability_at_the_boundary():
    # Erratum H3: all of a wrong, all of b right, H0: a minus b is -0.9 or less.
    found = kernels.score_exact(1, 10, 10, 10, -0.9, kernels.GREATER)
    assert found.pvalue == pytest.approx(score_by_grid((1, 10, 10, 10), -0.9, kernels.GREATER))


@pytest.mark.parametrize("sizes", thinned([(8, 8), (6, 11)], 2))
@pytest.mark.parametrize("delta", [-0.2, -0.05, 0.1])
def test_size_with_a_difference_is_at_most_the_level(sizes, delta):
    n_a, n_b = sizes
    rejected = np.array(
        [
            [
                kernels.score_exact(x, n_a, y, n_b, delta, kernels.GREATER).pvalue
                for y in range(n_b + 1)
            ]
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


@given(tables(6), st.sampled_from([0.8, 0.95]))
def test_the_interval_inverts_the_exact_test(counts, level):
    a, n_a, b, n_b = counts
    low, high = kernels.score_exact_interval(*counts, level)
    half = (1 - level) / 2
    assert -1 <= low <= a / n_a - b / n_b <= high <= 1
    for end, side in ((low, kernels.GREATER), (high, kernels.LESS)):
        if abs(end) == 1:
            continue
        out, within = end - side * 1e-6, end + side * 1e-6
        if abs(out) < 1:
            assert kernels.score_exact(*counts, out, side).pvalue <= half
        if abs(within) < 1:
            assert kernels.score_exact(*counts, within, side).pvalue >= half - 1e-4
