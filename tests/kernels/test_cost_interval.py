"""Intervals for the difference of two expected costs."""

import math

import naive
import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from libraries import stats
from strategies import levels

from fastcmp.kernels import cost_profile_interval, cost_wald_interval


@st.composite
def samples(draw, top=10**9):
    """Draw differences, their counts, the number of samples and the largest cost."""
    value = st.integers(-9, 9) | st.sampled_from([-1, 1, 0]) | st.floats(-9.0, 9.0)
    count = st.integers(0, 20) | st.integers(0, top) | st.just(0)
    size = draw(st.integers(1, 6))
    values = draw(st.lists(value, min_size=size, max_size=size))
    values = np.array([d if abs(d) > 1e-6 else 0.0 for d in values], float)
    weights = np.array(draw(st.lists(count, min_size=size, max_size=size)), float)
    more = draw(st.just(0) | st.integers(0, 50) | st.integers(0, top))
    n = float(weights.sum() + more)
    observed = float(np.abs(values).max())
    largest = observed * draw(st.sampled_from([1.0, 1.0, 1.5, 100.0]))
    assume(n > 0.0 and largest > 0.0)
    return values, weights, n, largest


def squared_quantile(level):
    # By the tail, which has the digits that a level near 1 lacks.
    return stats.norm.ppf(0.5 * (1.0 - level)) ** 2


def mean_of(values, weights, n):
    return math.fsum(values * weights) / n


def assert_ends_reach_the_quantile(drawn, interval, level, rel=1e-11):
    """Each end's statistic is the quantile, as far as 53 bits can tell the end."""
    values, weights, n, largest = drawn
    square = squared_quantile(level)
    mean = mean_of(values, weights, n)
    assert -largest <= interval.low <= interval.high <= largest
    for end, side in zip(interval, (-1, 1), strict=True):
        if abs(end) == largest:
            # Only where all samples lie there, or the last digits do not suffice.
            inside = end * (1.0 - 1e-14)
            if side * (inside - mean) > 0.0:
                statistic, _, _ = naive.cost_profile(values, weights, n, largest, inside)
                assert statistic <= square * (1.0 + 1e-9)
            continue
        assert side * (end - mean) > 0.0
        statistic, slope, _ = naive.cost_profile(values, weights, n, largest, end)
        spacing = 8.0 * max(abs(end), abs(mean), abs(end - mean)) * 2.0**-52
        slack = float(2.0 * abs(slope) * n * spacing)
        assert float(statistic) == pytest.approx(square, rel=rel, abs=slack)


# Oracle.


def sample(values, counts, n, largest):
    return np.array(values, float), np.array(counts, float), n, largest


# Where rounding of the mean is much of how far the ends are from it.
CANCEL = [5.37395227090866, 9.0, -4.0, 4.0], [407587, 367367083, 895361163, 120358460]
APART = [1.0, 1.0198971490721256, -1.0], [44049911, 64917, 38483770]
NEARLY_ALL = [-3.499950404832748], [987654321]


@given(samples(), levels)
@example(sample(*CANCEL, 1383494304.0, 9.0), 0.01)
@example(sample(*APART, 99069690.0, 10.5), 0.05050226048373969)
@example(sample(*NEARLY_ALL, 987654322.0, 3.499950404832748), 0.01)
def test_profile_ends_reach_the_quantile(drawn, level):
    assert_ends_reach_the_quantile(drawn, cost_profile_interval(*drawn, level), level)


HARD = [
    ([1.0, -1.0], [1, 0], 1e9, 1.0),  # one event among many
    ([1.0, -1.0], [1, 1], 1e9, 1.0),
    ([1.0, -1.0], [1e9, 1], 1e9 + 1, 1.0),
    ([1.0, -1.0], [10, 2], 50.0, 5.0),
    ([1.0, -1.0], [10, 2], 50.0, 1e6),  # the bound lies far away
    ([1e6, 1.0, -1.0], [1, 500, 480], 2000.0, 1e6),
    ([1e6, -1e6, 1.0], [1, 1, 700], 1e6, 1e6),
    ([1e6, 1e-3, -1e-3], [1, 1000, 10], 1e6, 1e6),
    *(([3.0], [n], n, 3.0) for n in (1.0, 7.0, 50.0, 1e9)),
    *(([3.0, 1.0], [0, 0], n, 3.0) for n in (1.0, 5.0, 50.0, 1e9)),
    ([3.0], [7], 7.0, 3.0000001),
    ([2.0], [7], 7.0, 3.0),
    ([-2.0, 2.0], [0, 1], 1.0, 2.0),
]


@pytest.mark.parametrize("sample", HARD)
@pytest.mark.parametrize("level", [0.01, 0.5, 0.95, 0.999999, 1.0 - 1e-12])
def test_profile_of_hard_samples(sample, level):
    for side in (1.0, -1.0):
        values = side * np.array(sample[0])
        drawn = (values, np.array(sample[1], float), *sample[2:])
        interval = cost_profile_interval(*drawn, level)
        assert_ends_reach_the_quantile(drawn, interval, level, rel=1e-10)


@given(samples(), levels)
def test_wald_equals_the_definition(drawn, level):
    values, weights, n, largest = drawn
    found = cost_wald_interval(values, weights, n, largest, level)
    low, high = naive.cost_wald(values, weights, n, level)
    wanted = (max(low, -largest), min(high, largest))
    # A spread is a square root: half the digits where it vanishes.
    assert found == pytest.approx(wanted, rel=1e-9, abs=1e-8 * largest)


# Laws.


# Edges.


def test_wald_is_clipped():
    values, weights = np.array([2.0, -2.0]), np.array([2.0, 1.0])
    assert cost_wald_interval(values, weights, 3.0, 2.0, 0.999) == (-2.0, 2.0)
    assert cost_wald_interval(values, weights, 3.0, 2.5, 0.999) == (-2.5, 2.5)
