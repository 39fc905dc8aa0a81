"""The score test and the intervals of accuracies on different samples."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from libraries import mpmath, stats
from strategies import alternatives

from fastcmp.kernels import (
    GREATER,
    LESS,
    TWO_SIDED,
    miettinen_nurminen,
    miettinen_nurminen_interval,
    newcombe_unpaired_interval,
    wilson_interval,
)


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
    found = miettinen_nurminen(*counts, delta).statistic
    assert found == pytest.approx(slowly(*counts, delta), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize(
    "counts", [(3, 10**6, 5, 2 * 10**6), (10**6 - 3, 10**6, 10**9 - 40, 10**9)]
)
@pytest.mark.parametrize("delta", [-1e-6, 1e-6, 1e-3, -0.7])
def test_rare_errors_of_many_samples(counts, delta):
    found = miettinen_nurminen(*counts, delta).statistic
    assert found == pytest.approx(slowly(*counts, delta), rel=1e-8)


@given(two_accuracies())
def test_equality_is_the_pooled_score_test(counts):
    a, n_a, b, n_b = counts
    n, p = n_a + n_b, (a + b) / (n_a + n_b)
    found = miettinen_nurminen(*counts)
    if a + b in (0, n):
        assert tuple(found) == (0.0, 1.0, 1)
        return
    z = (a / n_a - b / n_b) / math.sqrt(p * (1 - p) * (1 / n_a + 1 / n_b))
    assert found.statistic == pytest.approx(z * math.sqrt(1 - 1 / n), rel=1e-12)
    close = miettinen_nurminen(*counts, 1e-13).statistic
    assert found.statistic == pytest.approx(close, abs=1e-9)


@given(two_accuracies(), differences)
def test_pvalues_are_normal_tails(counts, delta):
    two, more, less = (
        miettinen_nurminen(*counts, delta, side) for side in (TWO_SIDED, GREATER, LESS)
    )
    z = two.statistic
    assert more.pvalue == pytest.approx(stats.norm.sf(z), rel=1e-12, abs=1e-300)
    assert less.pvalue == pytest.approx(stats.norm.cdf(z), rel=1e-12, abs=1e-300)
    assert two.pvalue == pytest.approx(2 * stats.norm.sf(abs(z)), rel=1e-12, abs=1e-300)


# Laws.


@given(two_accuracies(), differences, alternatives)
def test_exchanging_the_models_and_right_with_wrong(counts, delta, side):
    a, n_a, b, n_b = counts
    found = miettinen_nurminen(*counts, delta, side)
    for other in (
        miettinen_nurminen(b, n_b, a, n_a, -delta, -side),
        miettinen_nurminen(n_a - a, n_a, n_b - b, n_b, -delta, -side),
    ):
        assert other.statistic == pytest.approx(-found.statistic, rel=1e-9, abs=1e-12)
        assert other.pvalue == pytest.approx(found.pvalue, rel=1e-8, abs=1e-300)


@given(two_accuracies(), st.floats(0.5, 0.999))
def test_the_interval_inverts_the_test(counts, level):
    a, n_a, b, n_b = counts
    low, high = miettinen_nurminen_interval(*counts, level)
    z = stats.norm.isf((1 - level) / 2)
    for end, sign in ((low, 1), (high, -1)):
        if abs(end) < 1:
            found = miettinen_nurminen(*counts, end).statistic
            assert found == pytest.approx(sign * z, rel=1e-6)
        else:
            assert end == a / n_a - b / n_b == -sign
    assert -1 <= low <= a / n_a - b / n_b <= high <= 1


@given(two_accuracies(), st.floats(0.5, 0.999))
def test_newcombe_adds_the_squares_of_wilsons_distances(counts, level):
    a, n_a, b, n_b = counts
    low, high = newcombe_unpaired_interval(*counts, level)
    one, two = wilson_interval(a, n_a, level), wilson_interval(b, n_b, level)
    p, q = a / n_a, b / n_b
    assert low == pytest.approx(p - q - math.hypot(p - one.low, two.high - q))
    assert high == pytest.approx(p - q + math.hypot(one.high - p, q - two.low))
