"""The exact unconditional test of Suissa and Shuster."""

from __future__ import annotations

import math

import naive
import numpy as np
import pytest
from cases import thinned
from hypothesis import assume, given
from hypothesis import strategies as st
from reference_cases import ALTERNATIVES, cells, expected, parametrize
from scipy import stats
from strategies import alternatives

from fastcmp.kernels import (
    DEGENERATE,
    GREATER,
    INVALID,
    LESS,
    OK,
    TWO_SIDED,
    UNCONDITIONAL_MAX_N,
    mcnemar_asymptotic,
    mcnemar_unconditional,
)


@st.composite
def small_tables(draw, largest=24):
    n = draw(st.integers(1, largest))
    only_a = draw(st.integers(0, n))
    return only_a, draw(st.integers(0, n - only_a)), n


# Oracle.


@given(small_tables(), alternatives)
def test_equals_enumeration_of_all_tables(table, alternative):
    found = mcnemar_unconditional(*table, alternative)
    oracle = naive.mcnemar_unconditional(*table, alternative, cells=300)
    assert found.pvalue == pytest.approx(oracle, rel=1e-10)


@pytest.mark.parametrize("only_a", [0, 3, 9, 30])
@pytest.mark.parametrize("alternative", [TWO_SIDED, LESS])
def test_equals_enumeration_at_60_samples(only_a, alternative):
    found = mcnemar_unconditional(only_a, 30, 60, alternative)
    oracle = naive.mcnemar_unconditional(only_a, 30, 60, alternative)
    assert found.pvalue == pytest.approx(oracle, rel=1e-10)


def test_pvalue_near_1e250():
    found = mcnemar_unconditional(0, 900, 1000)
    oracle = naive.mcnemar_unconditional(0, 900, 1000)
    assert 1e-280 < oracle < 1e-230
    assert found.pvalue == pytest.approx(oracle, rel=1e-10)
    assert found.status == OK


def extreme_by_tail(only_a, only_b, n):
    """As naive.extreme_given_discordant, two-sided, by SciPy's tail of each k."""
    coefficients = np.zeros(n + 1)
    square, discordant = (only_a - only_b) ** 2, only_a + only_b
    for k in range(1, n + 1):
        # The smallest s with s**2 / k >= square / discordant, in integers.
        least = -(-square * k // discordant)
        s = math.isqrt(least)
        s += s * s < least
        x = (k - s) // 2
        if x >= 0:
            coefficients[k] = min(1.0, 2.0 * stats.binom.cdf(x, k, 0.5))
    return coefficients


def test_quick_oracle_equals_the_slow_one():
    slow = [float(a) for a in naive.extreme_given_discordant(3, 11, 40)]
    assert extreme_by_tail(3, 11, 40) == pytest.approx(slow, rel=1e-12, abs=1e-300)


@pytest.mark.full
@pytest.mark.parametrize("pair", thinned([(40, 70), (400, 480), (2300, 2450), (0, 12)], 4))
def test_5000_samples_dominate_a_fine_grid(pair):
    n = 5000
    coefficients = extreme_by_tail(*pair, n)
    found = mcnemar_unconditional(*pair, n)
    cells = 3000
    grid = np.sin(np.linspace(0.0, np.pi / 2, cells)) ** 2
    best = max(naive.mixture(coefficients, pi)[0] for pi in grid)
    assert found.status == OK
    assert found.pvalue >= best * (1.0 - 1e-11)
    assert found.pvalue <= coefficients.max()
    # The grid is fine enough to come near from below.
    assert found.pvalue <= best * 1.01


# Reference.


@parametrize("mcnemar_unconditional")
def test_reference(case):
    table = cells(case)
    alternative = ALTERNATIVES[case["options"]["alternative"]]
    found = mcnemar_unconditional(table[1], table[2], sum(table), alternative)
    assert found.statistic == expected(case, "statistic")
    assert found.pvalue == expected(case, "pvalue")


def test_maximum_at_the_boundary():
    # Tango's table VII: the p-value is P(as extreme | all samples discordant).
    conditional = naive.extreme_given_discordant(9, 3, 32)[-1]
    found = mcnemar_unconditional(9, 3, 32)
    assert found.pvalue == pytest.approx(float(conditional), rel=1e-12)


# Laws.


@given(small_tables(200))
def test_swapping_models_swaps_alternatives(table):
    a, b, n = table
    greater = mcnemar_unconditional(a, b, n, GREATER)
    assert greater == mcnemar_unconditional(b, a, n, LESS)
    assert mcnemar_unconditional(a, b, n) == mcnemar_unconditional(b, a, n)


@given(small_tables(200), alternatives)
def test_pvalue_is_a_probability(table, alternative):
    a, b, _ = table
    found = mcnemar_unconditional(*table, alternative)
    assert 0.0 <= found.pvalue <= 1.0
    assert found.status == (OK if a + b else DEGENERATE)
    assert found.statistic == mcnemar_asymptotic(a, b).statistic


@given(small_tables(200))
def test_never_below_the_probability_at_the_estimate(table):
    a, b, n = table
    assume(a + b > 0)
    (at_estimate,) = naive.mixture(extreme_by_tail(a, b, n), (a + b) / n)
    assert mcnemar_unconditional(a, b, n).pvalue >= at_estimate * (1 - 1e-12)


@pytest.mark.parametrize("n", [12, 40, 150])
@pytest.mark.parametrize("alternative", [TWO_SIDED, GREATER])
def test_more_wins_mean_a_smaller_pvalue(n, alternative):
    total = n // 2
    ahead = range((total + 1) // 2, total + 1)
    pvalues = [mcnemar_unconditional(a, total - a, n, alternative) for a in ahead]
    drops = np.diff([one.pvalue for one in pvalues])
    assert (drops < 0.0).all()


@pytest.mark.parametrize("pair", [(2, 9), (0, 1), (30, 31), (5, 5)])
def test_one_sided_against_the_difference_is_one(pair):
    # Tables without discordant samples are then at least as extreme, and pi may be 0.
    found = mcnemar_unconditional(*pair, 100, GREATER)
    assert (found.pvalue, found.status) == (1.0, OK)


@pytest.mark.parametrize("alternative", [TWO_SIDED, GREATER, LESS])
@pytest.mark.parametrize("n", [0, 1, 50])
def test_no_discordant_sample_is_degenerate(n, alternative):
    assert mcnemar_unconditional(0, 0, n, alternative) == (0.0, 1.0, DEGENERATE)


@pytest.mark.parametrize(
    "table",
    [
        (-1, 3, 10),
        (3, -1, 10),
        (-2, 2, 10),
        (6, 5, 10),
        (1, 2, 2),
        (0, 0, -1),
        (3, 5, UNCONDITIONAL_MAX_N + 1),
    ],
)
def test_impossible_or_too_large_is_invalid(table):
    found = mcnemar_unconditional(*table)
    assert math.isnan(found.statistic)
    assert math.isnan(found.pvalue)
    assert found.status == INVALID


def test_underflow_is_zero():
    assert mcnemar_unconditional(0, 3000, 3000).pvalue == 0.0


def test_a_hundred_thousand_samples():
    pair = (4000, 4250)
    found = mcnemar_unconditional(*pair, 10**5)
    asymptotic = mcnemar_asymptotic(*pair).pvalue
    assert found.status == OK
    # The asymptotic test is nearly right here, and the supremum is above it.
    assert asymptotic < found.pvalue < 1.05 * asymptotic
