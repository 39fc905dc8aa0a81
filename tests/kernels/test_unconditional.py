"""The exact unconditional test of Suissa and Shuster."""

import naive
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import alternatives

from fastcmp import kernels


@st.composite
def small_tables(draw, largest=24):
    n = draw(st.integers(1, largest))
    only_a = draw(st.integers(0, n))
    return only_a, draw(st.integers(0, n - only_a)), n


# Oracle.


@given(small_tables(), alternatives)
def test_equals_enumeration_of_all_tables(table, alternative):
    found = kernels.mcnemar_unconditional(*table, alternative)
    oracle = naive.mcnemar_unconditional(*table, alternative, cells=300)
    assert found.pvalue == pytest.approx(oracle, rel=1e-10)


def test_pvalue_near_1e250():
    found = kernels.mcnemar_unconditional(0, 900, 1000)
    oracle = naive.mcnemar_unconditional(0, 900, 1000)
    assert 1e-280 < oracle < 1e-230
    assert found.pvalue == pytest.approx(oracle, rel=1e-10)
    assert found.status == kernels.OK


# Reference.


def test_maximum_at_the_boundary():
    # Tango's table VII: the p-value is P(as extreme | all samples discordant).
    conditional = naive.extreme_given_discordant(9, 3, 32)[-1]
    found = kernels.mcnemar_unconditional(9, 3, 32)
    assert found.pvalue == pytest.approx(float(conditional), rel=1e-12)


# Laws.


@pytest.mark.parametrize("pair", [(2, 9), (0, 1), (30, 31), (5, 5)])
def test_one_sided_against_the_difference_is_one(pair):
    # Tables without discordant samples are then at least as extreme, and pi may be 0.
    found = kernels.mcnemar_unconditional(*pair, 100, kernels.GREATER)
    assert (found.pvalue, found.status) == (1.0, kernels.OK)


@pytest.mark.parametrize("alternative", [kernels.TWO_SIDED, kernels.GREATER, kernels.LESS])
@pytest.mark.parametrize("n", [0, 1, 50])
def test_no_discordant_sample_is_degenerate(n, alternative):
    assert kernels.mcnemar_unconditional(0, 0, n, alternative) == (0.0, 1.0, kernels.DEGENERATE)


def test_underflow_is_zero():
    assert kernels.mcnemar_unconditional(0, 3000, 3000).pvalue == 0.0


def test_a_hundred_thousand_samples():
    pair = (4000, 4250)
    found = kernels.mcnemar_unconditional(*pair, 10**5)
    asymptotic = kernels.mcnemar_asymptotic(*pair).pvalue
    assert found.status == kernels.OK
    # The asymptotic test is nearly right here, and the supremum is above it.
    assert asymptotic < found.pvalue < 1.05 * asymptotic
