"""Cochran's Q and Looney's F."""

from __future__ import annotations

import math
from itertools import combinations

import naive
import numpy as np
import pytest
from hypothesis import assume, given
from reference_cases import expected, parametrize
from strategies import count_pairs, right_matrices

from fastcmp.kernels import DEGENERATE, OK, cochrans_q, mcnemar_asymptotic, mcnemar_exact


def q_of(right):
    """Run the kernel on the sums of a 0/1 matrix, models first."""
    right = np.asarray(right, np.int64)
    squares = int((right.sum(axis=0) ** 2).sum())
    return cochrans_q(right.sum(axis=1), squares, right.shape[1])


def matrix(case):
    """Expand the patterns of a reference case."""
    patterns = case["input"]["patterns"]
    rows = [p["pattern"] for p in patterns]
    return np.repeat(rows, [p["count"] for p in patterns], axis=0).T


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


@parametrize("cochran_q")
def test_reference_q(case):
    data = case["input"]
    right = np.array(data["column_correct"])
    found = cochrans_q(right, data["row_sum_of_squares"], data["n"])
    assert found.statistic == expected(case, "statistic")
    assert found.pvalue == expected(case, "pvalue")
    effect = found.statistic / (data["n"] * (data["k"] - 1))
    assert effect == expected(case, "eta2_Q")
    assert right.size - 1 == case["expected"]["df"]


@parametrize("cochran_q_exact")
def test_reference_exact_q_has_the_same_statistic(case):
    # The permutation p-value is not offered; the Q that it orders by is ours.
    assert q_of(matrix(case)).statistic == expected(case, "statistic")


@parametrize(
    "cochran_q_posthoc",
    not_offered={
        "permutation-variance z (Sheskin / Marascuilo-McSweeney / NCSS ch. 521)": (
            "pairs are compared with McNemar's tests only"
        )
    },
)
def test_reference_post_hoc(case):
    right = matrix(case)
    pvalues = []
    for a, b in combinations(right, 2):
        only_a, only_b = int((a > b).sum()), int((b > a).sum())
        pvalues.append(mcnemar_exact(only_a, only_b).pvalue)
    assert pvalues == expected(case, "pvalue")
    adjusted = naive.adjust(pvalues, case["options"]["adjust"])
    assert adjusted == expected(case, "pvalue_adjusted")


# Laws.


@given(count_pairs())
def test_two_models_are_mcnemars_test(pair):
    a, b = pair
    assume(a + b > 0)
    n = a + b + 17
    # Five samples are right for both.
    found = cochrans_q(np.array([a + 5, b + 5]), a + b + 4 * 5, n)
    mcnemar = mcnemar_asymptotic(a, b)
    assert found.statistic == pytest.approx(mcnemar.statistic, rel=1e-13)
    assert found.pvalue == pytest.approx(mcnemar.pvalue, rel=1e-9, abs=1e-300)


@given(right_matrices())
def test_order_of_models_and_right_or_wrong_do_not_matter(right):
    found = q_of(right)
    for same in (right[::-1], 1 - right, right[:, ::-1]):
        other = q_of(same)
        assert other.statistic == pytest.approx(found.statistic, rel=1e-13)
        assert other.status == found.status


@given(right_matrices())
def test_samples_on_which_all_agree_do_not_matter_to_q(right):
    more = np.column_stack([right, np.ones((right.shape[0], 7), np.uint8)])
    assert q_of(more).statistic == pytest.approx(q_of(right).statistic, rel=1e-12)


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
