"""Bowker's and Stuart and Maxwell's tests of a square table."""

from __future__ import annotations

import math

import naive
import numpy as np
import pytest
from hypothesis import assume, given
from libraries import statsmodels
from strategies import count_pairs, square_tables

from fastcmp.kernels import (
    DEGENERATE,
    OK,
    UNDEFINED,
    bhapkar,
    bowker,
    mcnemar_asymptotic,
    stuart_maxwell,
)

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
def test_equals_statsmodels(test):
    table = np.array([[20, 10, 5, 1], [3, 30, 15, 2], [9, 5, 40, 7], [4, 4, 1, 50]])
    square = statsmodels.stats.contingency_tables.SquareTable(table, shift_zeros=False)
    peer = square.symmetry() if test is bowker else square.homogeneity()
    found = test(table)
    assert found.statistic == pytest.approx(peer.statistic, rel=1e-10)
    assert found.pvalue == pytest.approx(peer.pvalue, rel=1e-10)
    assert found.df == peer.df


@both_tests
@given(pair=count_pairs())
def test_two_classes_are_mcnemars_test(test, pair):
    assume(sum(pair) > 0)
    found = test(np.array([[7, pair[0]], [pair[1], 5]]))
    mcnemar = mcnemar_asymptotic(*pair)
    assert found.statistic == pytest.approx(mcnemar.statistic, rel=1e-14)
    assert found.pvalue == pytest.approx(mcnemar.pvalue, rel=1e-9, abs=1e-300)
    assert found.df == 1


@both_tests
@given(table=square_tables())
def test_symmetric_tables_give_zero(test, table):
    found = test(table + table.T)
    assert found.statistic == 0.0
    assert found.pvalue == 1.0


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


def test_three_classes_in_closed_form():
    # Fleiss and Everitt's formula for three classes.
    table = np.array([[35, 5, 0], [15, 20, 5], [10, 5, 5]])
    d = table.sum(axis=1) - table.sum(axis=0)
    n12, n13, n23 = ((table + table.T) / 2)[[0, 0, 1], [1, 2, 2]]
    top = n23 * d[0] ** 2 + n13 * d[1] ** 2 + n12 * d[2] ** 2
    statistic = top / (2 * (n12 * n13 + n12 * n23 + n13 * n23))
    assert stuart_maxwell(table).statistic == pytest.approx(statistic, rel=1e-13)


@both_tests
@pytest.mark.parametrize("k", [0, 1, 2, 5])
def test_no_disagreement_is_degenerate(test, k):
    table = np.diag(np.arange(k) * 3)
    assert test(table) == (0.0, 1.0, 0, DEGENERATE)


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


@given(table=square_tables())
def test_bhapkar_follows_from_stuart_and_maxwell(table):
    n = int(table.sum())
    found, theirs = bhapkar(table), stuart_maxwell(table)
    if theirs.statistic < 0.99 * n:
        expect = theirs.statistic / (1 - theirs.statistic / n)
        assert found.statistic == pytest.approx(expect, rel=1e-11, abs=1e-12)
    assert found.df == theirs.df
    turned = bhapkar(np.ascontiguousarray(table.T))
    assert turned.statistic == pytest.approx(found.statistic, rel=1e-9, nan_ok=True)


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
