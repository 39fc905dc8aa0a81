"""Hommel's adjustment, and the oracles of the other adjustments."""

from __future__ import annotations

import naive
import numpy as np
import pytest
from hypothesis import given
from reference_cases import parametrize
from strategies import pvalues

from fastcmp.kernels import hommel_sorted


def hommel(values):
    return hommel_sorted(np.sort(np.array(values, np.float64)))


@given(pvalues())
def test_equals_closed_testing_by_sizes(values):
    oracle = sorted(naive.hommel(values))
    assert hommel(values) == pytest.approx(oracle, rel=1e-12, abs=0)


@given(pvalues(7))
def test_equals_closed_testing_of_every_set(values):
    oracle = sorted(naive.closed_simes(values))
    assert hommel(values) == pytest.approx(oracle, rel=1e-12, abs=0)


@pytest.mark.parametrize("shape", [0.2, 1.0, 3.0])
@pytest.mark.parametrize("m", [1, 2, 30, 120])
def test_many_pvalues(m, shape):
    values = np.random.default_rng(m).beta(shape, 1.0, m).tolist()
    assert hommel(values) == pytest.approx(sorted(naive.hommel(values)), rel=1e-12)


@parametrize("p_adjust")
def test_reference(case):
    tolerance = case["tolerance"]
    values = case["input"]["pvalues"]
    assert case["expected"].keys() >= {"hommel", "holm", "BH", "BY", "sidak"}
    for method, adjusted in case["expected"].items():
        close = pytest.approx(adjusted, rel=tolerance["rtol"], abs=tolerance["atol"])
        assert naive.adjust(values, method) == close, method
    in_order = np.argsort(values, kind="stable")
    adjusted = np.array(case["expected"]["hommel"])[in_order]
    close = pytest.approx(adjusted, rel=tolerance["rtol"], abs=tolerance["atol"])
    assert hommel(values) == close


@given(pvalues())
def test_never_below_the_pvalue_nor_above_hochberg(values):
    adjusted = hommel(values)
    assert (adjusted >= np.sort(values)).all()
    assert (adjusted <= 1.0).all()
    assert (np.diff(adjusted) >= 0.0).all()
    hochberg = np.sort(naive.adjust(values, "hochberg"))
    assert (adjusted <= hochberg * (1 + 1e-14)).all()


@pytest.mark.parametrize("value", [0.0, 1e-300, 0.03, 1.0])
@pytest.mark.parametrize("m", [1, 2, 50])
def test_equal_pvalues_are_not_adjusted(value, m):
    assert hommel([value] * m) == pytest.approx([value] * m, rel=1e-15, abs=0)


def test_no_pvalues():
    assert hommel([]).size == 0


def test_input_is_left_alone():
    values = np.array([0.01, 0.02, 0.03, 0.9])
    hommel_sorted(values)
    assert values.tolist() == [0.01, 0.02, 0.03, 0.9]
