"""McNemar's closed variants."""

from __future__ import annotations

import math
from itertools import pairwise

import mpmath
import naive
import numpy as np
import pytest
from hypothesis import assume, given
from reference_cases import ALTERNATIVES, cells, expected, parametrize
from strategies import alternatives, count_pairs

from fastcmp.kernels import (
    DEGENERATE,
    GREATER,
    INVALID,
    LESS,
    OK,
    TWO_SIDED,
    mcnemar_asymptotic,
    mcnemar_corrected,
    mcnemar_exact,
    mcnemar_midp,
)
from fastcmp.kernels.paired import ASYMPTOTIC, CORRECTED, EXACT, MIDP, mcnemar_many

VARIANTS = {
    MIDP: mcnemar_midp,
    EXACT: mcnemar_exact,
    ASYMPTOTIC: mcnemar_asymptotic,
    CORRECTED: mcnemar_corrected,
}
every_variant = pytest.mark.parametrize("test", VARIANTS.values(), ids=VARIANTS)


# Oracle.


@given(count_pairs(150), alternatives)
def test_exact_and_midp_equal_exact_integers(pair, alternative):
    exact, mid = mcnemar_exact(*pair, alternative), mcnemar_midp(*pair, alternative)
    oracle = naive.mcnemar_exact(*pair, alternative)
    assert exact.pvalue == pytest.approx(float(oracle), rel=1e-12)
    oracle = naive.mcnemar_midp(*pair, alternative)
    assert mid.pvalue == pytest.approx(float(oracle), rel=1e-12)
    statistic = float(naive.mcnemar_statistic(*pair))
    assert exact.statistic == mid.statistic == pytest.approx(statistic, rel=1e-15)


@given(count_pairs(), alternatives)
def test_asymptotic_and_corrected_equal_the_definition(pair, alternative):
    for test, correction in ((mcnemar_asymptotic, 0), (mcnemar_corrected, 1)):
        found = test(*pair, alternative)
        statistic = float(naive.mcnemar_statistic(*pair, correction))
        assert found.statistic == pytest.approx(statistic, rel=1e-14)
        pvalue = naive.mcnemar_asymptotic(*pair, alternative, correction)
        if pvalue > 1e-250:
            assert found.pvalue == pytest.approx(pvalue, rel=1e-11)
        else:
            assert found.pvalue < 1e-249


@given(count_pairs(), alternatives)
def test_many_equals_one_by_one(pair, alternative):
    only_a, only_b = np.array([pair, pair[::-1], (0, 0), (-1, 3)]).T
    statistic, pvalue = np.empty(4), np.empty(4)
    status = np.empty(4, np.uint8)
    for method, test in VARIANTS.items():
        mcnemar_many(only_a, only_b, method, alternative, statistic, pvalue, status)
        single = [test(a, b, alternative) for a, b in zip(only_a, only_b, strict=True)]
        np.testing.assert_array_equal(statistic, [one.statistic for one in single])
        np.testing.assert_array_equal(pvalue, [one.pvalue for one in single])
        assert status.tolist() == [one.status for one in single]


# Reference.


@parametrize(
    "mcnemar_asymptotic",
    not_offered={"yates_half": "Yates' correction by one half is not offered"},
)
def test_reference_asymptotic(case):
    _, only_a, only_b, _ = cells(case)
    test = mcnemar_corrected if case["options"]["correction"] else mcnemar_asymptotic
    alternative = ALTERNATIVES[case["options"]["alternative"]]
    found = test(only_a, only_b, alternative)
    assert found.pvalue == expected(case, "pvalue")
    if "statistic" in case["expected"]:
        # One-sided cases print the signed z.
        z = math.copysign(math.sqrt(found.statistic), only_a - only_b)
        statistic = z if alternative else found.statistic
        assert statistic == expected(case, "statistic")


@parametrize("mcnemar_exact")
def test_reference_exact(case):
    _, only_a, only_b, _ = cells(case)
    alternative = ALTERNATIVES[case["options"]["alternative"]]
    assert mcnemar_exact(only_a, only_b, alternative).pvalue == expected(case, "pvalue")


@parametrize(
    "mcnemar_midp",
    not_offered={"fagerland: 1-0.5*f(n12)": "equal counts give 1, as MATLAB and exact2x2 do"},
)
def test_reference_midp(case):
    _, only_a, only_b, _ = cells(case)
    alternative = ALTERNATIVES[case["options"]["alternative"]]
    assert mcnemar_midp(only_a, only_b, alternative).pvalue == expected(case, "pvalue")


# Laws.


@every_variant
@given(pair=count_pairs())
def test_swapping_models_swaps_alternatives(test, pair):
    a, b = pair
    assert test(a, b, GREATER) == test(b, a, LESS)
    assert test(a, b, TWO_SIDED) == test(b, a, TWO_SIDED)


@every_variant
@given(pair=count_pairs(), alternative=alternatives)
def test_pvalue_is_a_probability(test, pair, alternative):
    found = test(*pair, alternative)
    assert 0.0 <= found.pvalue <= 1.0
    assert found.statistic >= 0.0
    assert found.status == (OK if sum(pair) else DEGENERATE)


@every_variant
@given(pair=count_pairs(10**6))
def test_two_sided_doubles_the_smaller_side(test, pair):
    one_sided = min(test(*pair, GREATER).pvalue, test(*pair, LESS).pvalue)
    two_sided = min(2.0 * one_sided, 1.0)
    if sum(pair) == 0:
        two_sided = 1.0
    assert test(*pair).pvalue == pytest.approx(two_sided, rel=1e-12)


@given(count_pairs(10**9))
def test_midp_sides_add_to_one_and_lie_below_exact(pair):
    assume(sum(pair) > 0)
    sides = [mcnemar_midp(*pair, side).pvalue for side in (GREATER, LESS)]
    assert sum(sides) == pytest.approx(1.0, abs=1e-15)
    assert mcnemar_midp(*pair).pvalue <= mcnemar_exact(*pair).pvalue


@pytest.mark.parametrize("count", [1, 2, 5, 8, 9, 10, 50, 99, 100, 101, 10**6, 10**12])
@every_variant
def test_equal_counts_give_exactly_one(test, count):
    assert test(count, count) == (0.0, 1.0, OK)


@pytest.mark.parametrize("total", [9, 10, 199, 200, 201, 1000])
@pytest.mark.parametrize("alternative", [GREATER, TWO_SIDED])
@every_variant
def test_more_wins_mean_a_smaller_pvalue(test, total, alternative):
    ahead = range((total + 1) // 2, total + 1)
    pvalues = [test(a, total - a, alternative).pvalue for a in ahead]
    assert all(later <= earlier for earlier, later in pairwise(pvalues))
    assert pvalues[-1] < pvalues[0]


def total_of_pvalue(exponent, proportion):
    """Number of samples that gives about p = 10**-exponent at a proportion of wins."""
    information = 0.5 * (2.0 * proportion - 1.0) ** 2
    return math.ceil(exponent * math.log(10.0) / information)


@pytest.mark.parametrize("exponent", [20, 100, 200, 290])
@pytest.mark.parametrize("proportion", [0.501, 0.55, 0.7])
def test_asymptotic_tail_down_to_1e300(exponent, proportion):
    n = total_of_pvalue(exponent, proportion)
    a = round(n * proportion)
    b = n - a
    with mpmath.workdps(40):
        pvalue = mpmath.erfc(abs(a - b) / mpmath.sqrt(2 * n))
        corrected = mpmath.erfc((abs(a - b) - 1) / mpmath.sqrt(2 * n))
    assert 1e-305 < pvalue < 1e-15
    assert mcnemar_asymptotic(a, b).pvalue == pytest.approx(float(pvalue), rel=1e-11)
    assert mcnemar_corrected(a, b).pvalue == pytest.approx(float(corrected), rel=1e-11)


@pytest.mark.parametrize("exponent", [20, 100, 200, 290])
@pytest.mark.parametrize("proportion", [0.55, 0.7, 0.9])
def test_exact_tail_down_to_1e300(exponent, proportion):
    n = total_of_pvalue(exponent, proportion)
    b = n - round(n * proportion)
    while (tail := naive.far_half_binomial(b, n))[0] < 1e-300:
        # Far out the binomial tail is lighter than the normal one.
        n = n * 9 // 10
        b = n - round(n * proportion)
    mid, point = tail
    assert mid < 1e-15
    exact = float(2 * mid + point)
    assert mcnemar_exact(n - b, b).pvalue == pytest.approx(exact, rel=1e-11)
    assert mcnemar_midp(n - b, b).pvalue == pytest.approx(float(2 * mid), rel=1e-11)


@every_variant
@pytest.mark.parametrize("alternative", [TWO_SIDED, GREATER, LESS])
def test_no_discordant_sample_is_degenerate(test, alternative):
    assert test(0, 0, alternative) == (0.0, 1.0, DEGENERATE)


@every_variant
@pytest.mark.parametrize("pair", [(-1, 5), (5, -1), (-1, 1), (-3, -3)])
def test_negative_counts_are_invalid(test, pair):
    found = test(*pair)
    assert math.isnan(found.statistic)
    assert math.isnan(found.pvalue)
    assert found.status == INVALID


def test_level_under_the_null():
    # The mid-p and exact tests by enumeration: the exact one may not exceed its level.
    n = 60
    weights = [math.comb(n, a) / 2**n for a in range(n + 1)]
    rejected = [mcnemar_exact(a, n - a).pvalue <= 0.05 for a in range(n + 1)]
    assert 0.01 < sum(w for w, r in zip(weights, rejected, strict=True) if r) <= 0.05
