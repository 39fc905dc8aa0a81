"""The tests that count who is right on the folds, and their records."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from libraries import stats
from reference_cases import expected, parametrize

from fastcmp import bcv_mcnemar, fold_test
from fastcmp.kernels import DEGENERATE, OK
from fastcmp.records import BCVMcNemarResult, FoldTestResult

ALTERNATIVES = ("two-sided", "greater", "less")


def as_tables(cells):
    """Turn the paper's n00, n01, n10, n11 (0: wrong) into ours."""
    return np.array(cells)[..., [3, 2, 1, 0]].reshape(*np.shape(cells)[:-1], 2, 2)


def random_tables(*shape, m=5, n=120, seed=0):
    """Draw the tables of a that is right on 80 % and b that is right on 70 %."""
    rng = np.random.default_rng(seed)
    shares = [0.6, 0.2, 0.1, 0.1]
    return rng.multinomial(n, shares, (*shape, m, 2)).reshape(*shape, m, 2, 2, 2)


def naive_mcnemar(tables):
    return fold_test(tables, "naive-mcnemar")


def proportion_z(errors_a, errors_b, n, **options):
    """Test by a table with these errors: as many on the same samples as can be."""
    errors_a, errors_b, n = np.broadcast_arrays(errors_a, errors_b, n)
    both = np.minimum(errors_a, errors_b)
    cells = n - errors_a - errors_b + both, errors_b - both, errors_a - both, both
    table = np.stack(cells, axis=-1).reshape(*n.shape, 2, 2)
    return fold_test(table, "proportion-z", **options)


# Two-fold cross-validations.


@parametrize("bcv_mcnemar")
def test_bcv_against_references(case):
    result = bcv_mcnemar(as_tables(case["input"]["tables"]), **case["options"])
    assert isinstance(result, BCVMcNemarResult)
    assert result.statistic == expected(case, "statistic")
    assert result.pvalue == expected(case, "pvalue")
    assert result.n_replicates == len(case["input"]["tables"])
    assert (result.rho1, result.rho2) == tuple(case["options"].values())
    if "t" in case["expected"]:
        assert result.effective_factor == expected(case, "t")
    effective = result.effective_factor * result.mean_table
    np.testing.assert_allclose(result.effective_table, effective)
    if "mean_n01" in case["expected"]:
        assert result.mean_table[1, 0] == expected(case, "mean_n01")
        assert result.mean_table[0, 1] == expected(case, "mean_n10")


def test_bcv_of_many_pairs_is_that_of_each():
    many = random_tables(3, 4, m=3)
    many[1, 2] = [[7, 0], [0, 1]]
    result = bcv_mcnemar(many, alternative="greater")
    low, high = result.confidence_interval(0.9)
    names = ("accuracy_a", "accuracy_b", "difference", "disagreement", "n_effective", "better")
    names += ("error_where_one_right", "error_where_b_right", "error_where_b_wrong")
    names += ("statistic", "pvalue", "status", "mean_table", "effective_table")
    for i in np.ndindex(3, 4):
        one = bcv_mcnemar(many[i], alternative="greater")
        for name in names:
            found = getattr(result, name)[i]
            np.testing.assert_array_equal(found, getattr(one, name), err_msg=name)
        assert (low[i], high[i]) == one.confidence_interval(0.9)
        for which in ("e", "r", "qa", "qb"):
            found, wanted = result.posterior(which), one.posterior(which)
            assert found.alpha[i] == wanted.alpha
            np.testing.assert_array_equal(found.mode[i], wanted.mode)
            ends = found.interval()
            assert (ends.low[i], ends.high[i]) == wanted.interval()
    assert result.status.tolist()[1][2] == DEGENERATE
    assert str(result).splitlines()[1] == "12 tests, shape (3, 4)"


def test_estimates_from_all_samples():
    result = bcv_mcnemar(random_tables())
    total = random_tables().sum((0, 1))
    n = total.sum()
    assert result.accuracy_a == pytest.approx(total[0].sum() / n)
    assert result.accuracy_b == pytest.approx(total[:, 0].sum() / n)
    assert result.difference == pytest.approx(result.accuracy_a - result.accuracy_b)
    n00, n01, n10, n11 = total[1, 1], total[1, 0], total[0, 1], total[0, 0]
    assert result.disagreement == pytest.approx((n01 + n10) / n)
    assert result.error_where_one_right == pytest.approx(n01 / (n01 + n10))
    assert result.error_where_b_right == pytest.approx(n01 / (n01 + n11))
    assert result.error_where_b_wrong == pytest.approx(n00 / (n10 + n00))
    uneven = random_tables().copy()
    uneven[:, 0, 0, 0] += 1
    assert bcv_mcnemar(uneven).n_effective == pytest.approx(20 / 11 * 120.5)


# What follows from the effective table.


def test_posteriors_of_lemma_2():
    result = bcv_mcnemar(random_tables(), rho1=0, rho2=0.5)
    (n11, n10), (n01, n00) = 2 * random_tables().mean((0, 1))
    wanted = {"e": (n01 + n10, n00 + n11), "r": (n01, n10), "qa": (n01, n11), "qb": (n00, n10)}
    for which, (alpha, beta) in wanted.items():
        for prior in (1, 0.5, 3.0):
            posterior = result.posterior(which, prior)
            assert posterior == pytest.approx((alpha + prior, beta + prior))
            peer = stats.beta(*posterior)
            assert posterior.mean == pytest.approx(peer.mean())
            for level in (0.5, 0.95, 0.999):
                assert posterior.interval(level) == pytest.approx(peer.interval(level))


def test_no_discordant_sample():
    for alternative in ALTERNATIVES:
        result = bcv_mcnemar([[[[9, 0], [0, 3]]] * 2] * 5, alternative=alternative)
        assert (result.statistic, result.pvalue) == (0.0, 1.0)
        assert result.status == DEGENERATE
        low, high = result.confidence_interval()
        assert low == (-1.0 if alternative == "less" else 0.0)
        assert high == (1.0 if alternative == "greater" else 0.0)
    assert (result.difference, result.disagreement) == (0.0, 0.0)
    assert math.isnan(result.error_where_one_right)
    assert math.isnan(result.posterior("r").mode)
    assert result.posterior("r").mean == 0.5
    assert result.error_where_b_right == 0.0
    assert result.error_where_b_wrong == 1.0


def test_the_interval_is_walds_on_the_effective_table():
    result = bcv_mcnemar(random_tables(), rho1=0.3, rho2=0.2)
    table = result.effective_table
    n, a, b = table.sum(), table[0, 1], table[1, 0]
    for level in (0.8, 0.95):
        variance = (a + b - (a - b) ** 2 / n) / n**2
        spread = stats.norm.isf((1 - level) / 2) * math.sqrt(variance)
        wanted = ((a - b) / n - spread, (a - b) / n + spread)
        assert result.confidence_interval(level) == pytest.approx(wanted)


# K folds.


@parametrize("kcv_naive_mcnemar")
def test_naive_against_references(case):
    result = naive_mcnemar(as_tables(case["input"]["tables"]))
    assert isinstance(result, FoldTestResult)
    assert result.statistic == expected(case, "statistic")
    assert result.pvalue == expected(case, "pvalue")
    assert result.df == result.n_folds == case["expected"]["df"]
    assert math.isnan(result.estimate)
    assert math.isnan(result.standard_error)
    assert (result.test, result.status) == ("naive-mcnemar", OK)
    said = "chi-square = 12.8 with 10 degrees of freedom, p = 0.235"
    assert said in result.summary()
    with pytest.raises(ValueError, match="no interval"):
        result.confidence_interval()


# Two proportions.


@parametrize("proportion_difference_z")
def test_proportions_against_references(case):
    counts = case["input"]["errors_A"], case["input"]["errors_B"], case["input"]["n"]
    result = proportion_z(*counts)
    assert -result.statistic == expected(case, "statistic")
    assert result.pvalue == expected(case, "pvalue")
    assert (result.test, result.df, result.n_folds) == ("proportion-z", None, 1)
    assert result.status == (DEGENERATE if counts[:2] == (0, 0) else OK)


def test_proportions_by_hand():
    two = proportion_z(24, 58, 175)
    p = (24 + 58) / 350
    error = math.sqrt(2 * p * (1 - p) / 175)
    assert two.standard_error == pytest.approx(error)
    spread = stats.norm.isf(0.025) * error
    assert two.confidence_interval() == pytest.approx((34 / 175 - spread, 34 / 175 + spread))
    for errors, alternative in product((0, 40), ALTERNATIVES):
        result = proportion_z(errors, errors, 40, alternative=alternative)
        assert (result.statistic, result.pvalue, result.estimate) == (0.0, 1.0, 0.0)
        assert result.status == DEGENERATE


# Input without a meaning.


def test_tables_that_are_refused():
    tables = random_tables()
    for function, wrong, message in (
        (bcv_mcnemar, np.ones((5, 3, 2, 2), int), r"\(\.\.\., m, 2, 2, 2\).*got shape"),
        (naive_mcnemar, np.ones((5, 3, 2), int), r"\(\.\.\., K, 2, 2\).*got shape"),
        (bcv_mcnemar, tables[:1], "m >= 2 two-fold cross-validations, got 1"),
        (naive_mcnemar, tables[0, :1], "at least 2 folds, got 1"),
        (bcv_mcnemar, tables * (np.arange(5) < 4)[:, None, None, None], r"an empty tables\[4, 0\]"),
        (bcv_mcnemar, tables + 2**48, r"add up to at most 2\*\*53"),
    ):
        with pytest.raises(ValueError, match=message):
            function(wrong)


def test_what_the_record_and_proportions_refuse():
    result = bcv_mcnemar(random_tables())
    with pytest.raises(ValueError, match="level must lie in"):
        result.posterior("e").interval(95)
    with pytest.raises(ValueError, match="which must be one of"):
        result.posterior("q")
    with pytest.raises(ValueError, match="prior must be positive and finite, got 0"):
        result.posterior("e", 0)
    for table, place in (
        ([[0, 0], [0, 0]], "x$"),
        ([[[1, 0], [0, 0]], [[0, 0], [0, 0]]], r"x\[1\]$"),
    ):
        with pytest.raises(ValueError, match=f"a sample in each table, got an empty {place}"):
            fold_test(table, "proportion-z")


def test_many_tests_are_those_of_each():
    many = random_tables(3, 2).reshape(3, 2, 10, 2, 2)
    many[2, 1] = [[7, 0], [0, 1]]
    for method, tables in (("naive-mcnemar", many), ("proportion-z", many[:, :, 0])):
        result = fold_test(tables, method)
        for i in np.ndindex(3, 2):
            one = fold_test(tables[i], method)
            for name in ("statistic", "pvalue", "status", "estimate", "standard_error"):
                np.testing.assert_equal(getattr(result, name)[i], getattr(one, name))
    assert naive_mcnemar(many).status[2, 1] == DEGENERATE
