"""Tests of a square table, and Cochran's Q with Looney's F."""

import math

import naive
import numpy as np
import pytest
from hypothesis import assume, given
from strategies import right_matrices, square_tables

from fastcmp.kernels import DEGENERATE, OK, UNDEFINED, bhapkar, bowker, cochrans_q, stuart_maxwell

ORACLES = {bowker: naive.bowker, stuart_maxwell: naive.stuart_maxwell}
both_tests = pytest.mark.parametrize("test", ORACLES, ids=["bowker", "stuart_maxwell"])


@both_tests
@given(table=square_tables())
def test_equals_the_definition(test, table):
    found = test(table)
    assert 0 <= found.pvalue <= 1
    statistic, df, pvalue = ORACLES[test](table)
    assert found.statistic == pytest.approx(float(statistic), rel=1e-9, abs=1e-9)
    assert found.df == df
    assert found.pvalue == pytest.approx(pvalue, rel=1e-7)
    assert found.status == (OK if df else DEGENERATE)


@both_tests
def test_huge_and_tiny_counts_together(test):
    # Confusions of 10**12 and of single samples, in two separate groups of classes.
    table = np.zeros((4, 4), np.int64)
    table[0, 1], table[1, 0] = 10**12 + 10**6, 10**12
    table[2, 3], table[3, 2] = 3, 1
    found = test(table)
    statistic = 10**12 / (2 * 10**12 + 10**6) + 4 / 4
    assert found.statistic == pytest.approx(statistic, rel=1e-12)
    assert found.df == 2


# Bhapkar's test.


@given(table=square_tables())
def test_bhapkar_equals_the_definition(table):
    found = bhapkar(table)
    statistic, df, pvalue = naive.bhapkar(table)
    # The oracle inverts a matrix in which up to six digits cancel.
    close = pytest.approx(float(statistic), rel=1e-6, abs=1e-9, nan_ok=True)
    assert found.statistic == close
    assert found.df == df
    assert found.pvalue == pytest.approx(pvalue, rel=1e-5, abs=1e-12, nan_ok=True)
    wanted = UNDEFINED if math.isnan(statistic) else OK
    assert found.status == (wanted if df else DEGENERATE)


@pytest.mark.parametrize(
    "table",
    [
        [[0, 5], [0, 0]],
        [[0, 5, 0], [0, 0, 5], [0, 0, 0]],
        [[0, 3, 0], [0, 0, 7], [0, 0, 0]],
        [[0, 10**15], [0, 0]],
        [[0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [0, 0, 0, 0]],
    ],
)
def test_bhapkar_without_an_observed_variance_is_undefined(table):
    table = np.array(table)
    found = bhapkar(table)
    assert math.isnan(found.statistic)
    assert math.isnan(found.pvalue)
    assert found.status == UNDEFINED
    assert found.df == stuart_maxwell(table).df
    assert stuart_maxwell(table).statistic == pytest.approx(table.sum())


def test_bhapkar_where_nearly_all_samples_are_exchanged_one_way():
    # 1 - Q / n cancels to 1 of 16 digits; two classes have a closed form.
    found = bhapkar(np.array([[0, 10**15], [1, 0]]))
    b, c = 10**15, 1
    expect = (b - c) ** 2 * (b + c) / (4 * b * c)
    assert found.statistic == pytest.approx(expect, rel=1e-13)


def q_of(right):
    """Run the kernel on the sums of a 0/1 matrix, models first."""
    right = np.asarray(right, np.int64)
    squares = int((right.sum(axis=0) ** 2).sum())
    return cochrans_q(right.sum(axis=1), squares, right.shape[1])


# Oracle.


@given(right_matrices())
def test_q_equals_the_definition(right):
    found = q_of(right)
    q, pvalue = naive.cochrans_q(right)
    assert found.statistic == pytest.approx(float(q), rel=1e-12)
    assert found.pvalue == pytest.approx(pvalue, rel=1e-9, abs=1e-300)


@given(right_matrices())
def test_f_equals_the_sums_of_squares(right):
    assume(right.shape[1] > 1)
    found = q_of(right)
    f, pvalue = naive.looneys_f(right)
    assert found.f_statistic == pytest.approx(f, rel=1e-9)
    assert found.f_pvalue == pytest.approx(pvalue, rel=1e-7, abs=1e-300)


# Reference.


# Laws.


@pytest.mark.parametrize("proportion", [0, 1])
def test_models_that_never_differ_are_degenerate(proportion):
    found = q_of(np.full((4, 10), proportion))
    assert found == (0.0, 1.0, 0.0, 1.0, DEGENERATE)


def test_samples_that_all_differ_alike_have_infinite_f():
    found = q_of(np.repeat([[1], [0], [0]], 12, axis=1))
    assert found.statistic == pytest.approx(24.0)
    assert (found.f_statistic, found.f_pvalue, found.status) == (math.inf, 0.0, OK)


def test_one_sample_has_no_f():
    found = q_of([[1], [0], [0]])
    assert found.statistic == pytest.approx(2.0)
    assert math.isnan(found.f_statistic)
    assert math.isnan(found.f_pvalue)
    assert found.status == OK


@pytest.mark.parametrize("n", [10**9, 10**12])
def test_sums_of_squares_beyond_int64(n):
    # sum(G**2) would be 10**24; only the differences between models matter.
    right = np.array([n // 2 + 10**4, n // 2, n // 2 - 10**4])
    within = n // 10  # samples on which exactly one model is right, beside all or none
    squares = int(right.sum() - within) * 3 + within
    found = cochrans_q(right, squares, n)
    assert found.statistic == pytest.approx(3 * 2 * 2 * 10**8 / (2 * within), rel=1e-12)
