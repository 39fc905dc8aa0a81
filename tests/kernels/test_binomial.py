"""binomial_half against mpmath and exact integers."""

import math

import numpy as np
import pytest
from cases import thinned
from hypothesis import given
from hypothesis import strategies as st
from libraries import mpmath
from naive import far_half_binomial, half_binomial

from fastcmp.kernels import binomial_half

RELATIVE = 1e-12
SIZES = [1, 2, 3, 5, 10, 15, 16, 17, 30, 60, 150, 198, 199, 200, 201, 202, 230, 300]
LARGE = [500, 1000, 5000, 20_000, 100_000, 1_000_000]


def some_counts(n):
    """Counts up to n/2: the middle, the switch at u = 1/2, and tails to 1e-300."""
    steps = 40
    spread = {n // 2 - int(z * math.sqrt(n) / 2) for z in np.linspace(0, 37, steps)}
    switch = {n // 4 + i for i in (-2, -1, 0, 1, 2)}
    return sorted(k for k in spread | switch | {0, 1, 2} if 0 <= k <= n // 2)


def assert_close(actual, expected, *where):
    error = float(abs(mpmath.mpf(actual) / expected - 1))
    assert error < RELATIVE, (*where, actual, error)


@pytest.mark.parametrize("n", [*SIZES, *thinned(LARGE, 2)])
def test_lower_tail_to_1e300_and_its_mirror(n):
    checked = 0
    for k in some_counts(n):
        low, high = (binomial_half(float(x), float(n)) for x in (k, n - k))
        assert high.pmf == low.pmf
        assert high.mid + low.mid == pytest.approx(1.0, rel=0, abs=3e-16)
        mid, point = far_half_binomial(k, n)
        if point < 1e-300:
            continue
        found = binomial_half(float(k), float(n))
        assert_close(found.mid, mid, n, k, "mid")
        assert_close(found.pmf, point, n, k, "pmf")
        checked += 1
    assert checked > 0


@given(st.integers(1, 400).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_equals_exact_integers(k_and_n):
    k, n = k_and_n
    at_most, point = half_binomial(k, n)
    found = binomial_half(float(k), float(n))
    assert found.pmf == pytest.approx(float(point), rel=RELATIVE)
    assert found.mid == pytest.approx(float(at_most - point / 2), rel=RELATIVE)


@pytest.mark.parametrize("n", [2, 10, 16, 18, 100, 198, 200, 202, 1000, 10**15])
def test_middle_is_exactly_one_half(n):
    assert binomial_half(n / 2.0, float(n)).mid == 0.5


def edgeworth(k, n):
    """Mid-tail for n so large that terms of order n**-2 are below rounding.

    Edgeworth's expansion with the kurtosis -2/n, and the Euler-Maclaurin term of a sum
    whose last summand counts half: step**2 / 12 = 1 / (3 n) times the slope.
    """
    with mpmath.workdps(40):
        x = (2 * mpmath.mpf(k) - n) / mpmath.sqrt(n)
        density = mpmath.npdf(x)
        cubic = (x**3 - 3 * x) / (12 * mpmath.mpf(n))
        return mpmath.ncdf(x) + density * (cubic - x / (3 * mpmath.mpf(n)))


@pytest.mark.parametrize("n", [10**11, 10**12 + 1, 2 * 10**12, 10**15, 2**53])
@pytest.mark.parametrize("deviations", [0.001, 0.1, 1.0, 3.0, 6.0, 9.0])
def test_body_of_huge_distributions(n, deviations):
    k = n // 2 - int(deviations * math.sqrt(n) / 2)
    found = binomial_half(float(k), float(n))
    assert_close(found.mid, edgeworth(k, n), n, k)


@pytest.mark.parametrize("deviations", [15.0, 25.0, 36.0])
def test_far_tail_of_a_huge_distribution(deviations):
    n = 10**9
    k = n // 2 - int(deviations * math.sqrt(n) / 2)
    mid, point = far_half_binomial(k, n)
    found = binomial_half(float(k), float(n))
    assert_close(found.mid, mid, k)
    assert_close(found.pmf, point, k)


@pytest.mark.parametrize(("k", "n"), [(0, 5000), (10, 10_000), (10**3, 10**12)])
def test_beyond_the_smallest_double_is_zero(k, n):
    assert binomial_half(float(k), float(n)) == (0.0, 0.0)
    assert binomial_half(float(n - k), float(n)) == (1.0, 0.0)
