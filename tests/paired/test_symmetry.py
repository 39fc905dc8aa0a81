"""Bowker's and Stuart and Maxwell's tests from labels and from tables."""

import tracemalloc

import naive
import numpy as np
import pytest
from hypothesis import given
from strategies import codes

from fastcmp import symmetry
from fastcmp.kernels import DEGENERATE, OK, UNDEFINED

TABLE = [[20, 10, 5], [3, 30, 15], [4, 5, 40]]
ORACLES = {"bowker": naive.bowker, "stuart-maxwell": naive.stuart_maxwell, "bhapkar": naive.bhapkar}
METHODS = pytest.mark.parametrize("method", ORACLES)


@METHODS
@given(codes(80, n_classes=3))
def test_labels_are_counted(method, drawn):
    a, b, _ = drawn
    if a.size < 2:
        with pytest.raises(ValueError, match=r"^pred_a must hold at least 2 samples"):
            symmetry(a, b, method=method)
        return
    result = symmetry(a, b, method=method)
    table = np.array(naive.agreement_table(a.tolist(), b.tolist(), 3))
    used = np.flatnonzero(table.any(axis=0) | table.any(axis=1))
    assert result.table.tolist() == table[np.ix_(used, used)].tolist()
    full = symmetry(table=table, method=method)
    assert result.statistic == pytest.approx(full.statistic, rel=1e-9, nan_ok=True)
    assert (result.df, result.test) == (full.df, full.test)


@METHODS
def test_many_classes(method):
    rng = np.random.default_rng(2)
    a, b = rng.integers(50, size=(2, 400)) * 100
    result = symmetry(a, b, method=method)
    assert len(result.table) == len(set(a) | set(b))
    statistic, df, pvalue = ORACLES[method](result.table.tolist())
    assert (result.df, result.status) == (df, OK)
    assert result.statistic == pytest.approx(float(statistic), rel=1e-7)
    assert result.pvalue == pytest.approx(pvalue, rel=1e-5)
    assert [type(x) for x in (result.statistic, result.pvalue, result.df)] == [float, float, int]


@METHODS
def test_identical_models(method):
    result = symmetry([0, 1, 2, 1], [0, 1, 2, 1], method=method)
    assert (result.statistic, result.pvalue, result.df) == (0.0, 1.0, 0)
    assert result.status == DEGENERATE
    assert "The models agree on 100.0% of 4 samples." in str(result)


@METHODS
def test_classes_choose_samples_and_order(method):
    a, b = np.repeat(np.indices((3, 3)).reshape(2, -1), np.ravel(TABLE), axis=1)
    result = symmetry(a, b, classes=[2, 0], method=method)
    assert result.table.tolist() == [[40, 4], [5, 20]]
    assert result.statistic == symmetry(table=[[40, 4], [5, 20]], method=method).statistic
    wide = symmetry(a, b, classes=[2, 9, 0], method=method).table
    assert wide.tolist() == [[40, 0, 4], [0, 0, 0], [5, 0, 20]]


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        ({"table": [[1, 2, 3], [4, 5, 6]]}, r"^table must be square, got shape \(2, 3\)"),
        ({"table": []}, r"^table must be square, got shape \(0,\)"),
        ({"table": [[1, float("nan")], [1, 3]]}, "^table must be whole numbers, got "),
        ({"table": [[2**53 + 1, 0], [0, 0]]}, r"^table must be at most 2\*\*53, got 9"),
        ({"table": [[True, False], [False, True]]}, "^table must be whole numbers, got b"),
        ({}, "pass pred_a, pred_b, or table="),
        ({"pred_a": [0, 1]}, "pass pred_a, pred_b, or table="),
        ({"table": TABLE, "classes": [0, 1]}, "and table= exclude each other"),
        ({"table": TABLE, "pred_a": [0, 1], "pred_b": [1, 0]}, "and table= exclude each other"),
    ],
)
def test_bad_tables(options, wanted):
    with pytest.raises((TypeError, ValueError), match=wanted):
        symmetry(**options)


@METHODS
def test_very_many_classes_are_refused_before_they_take_memory(method):
    pred_a = np.arange(20_000)
    tracemalloc.start()
    with pytest.raises(ValueError, match="at most 4096 classes, got 20000"):
        symmetry(pred_a, pred_a[::-1], method=method)
    with pytest.raises(ValueError, match="at most 4096 classes, got 20000"):
        symmetry(pred_a, pred_a[::-1], classes=range(20_000), method=method)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 100e6


def test_huge_counts_are_told_without_overflow():
    table = np.full((64, 64), 2**41)
    for method in ORACLES:
        result = symmetry(table=table, method=method)
        assert (result.statistic, result.pvalue) == (0, 1)
        assert f"agree on 1.6% of {2**53} samples" in str(result)
        with pytest.raises(ValueError, match="2\\*\\*53"):
            symmetry(table=2 * table, method=method)


def test_bhapkar_without_an_observed_variance_says_so():
    result = symmetry([0] * 9, [1] * 9, method="bhapkar")
    assert np.isnan(result.pvalue)
    assert result.status == UNDEFINED
    assert "do not vary in these samples" in " ".join(str(result).split())
    assert "p = -" in str(result)
