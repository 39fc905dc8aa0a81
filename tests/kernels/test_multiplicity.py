"""Hommel's adjustment, and the oracles of the other adjustments."""

import naive
import numpy as np
import pytest
from hypothesis import given
from strategies import pvalues

from fastcmp.kernels import hommel_sorted


def hommel(values):
    return hommel_sorted(np.sort(np.array(values, np.float64)))


@given(pvalues(7))
def test_equals_closed_testing_of_every_set(values):
    oracle = sorted(naive.closed_simes(values))
    assert hommel(values) == pytest.approx(oracle, rel=1e-12, abs=0)


@pytest.mark.parametrize("shape", [0.2, 1.0, 3.0])
@pytest.mark.parametrize("m", [1, 2, 30, 120])
def test_many_pvalues(m, shape):
    values = np.random.default_rng(m).beta(shape, 1.0, m).tolist()
    assert hommel(values) == pytest.approx(sorted(naive.hommel(values)), rel=1e-12)


@pytest.mark.parametrize("value", [0.0, 1e-300, 0.03, 1.0])
@pytest.mark.parametrize("m", [1, 2, 50])
def test_equal_pvalues_are_not_adjusted(value, m):
    assert hommel([value] * m) == pytest.approx([value] * m, rel=1e-15, abs=0)


def test_no_pvalues():
    assert hommel([]).size == 0
