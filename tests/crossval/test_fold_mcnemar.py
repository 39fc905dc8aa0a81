"""The tests that count who is right on the folds, and their records."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from libraries import stats
from reference_cases import expected, parametrize

from fastcmp import bcv_mcnemar, fold_test, mcnemar_from_counts
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


EMPTY = [[[[9, 0], [0, 3]]] * 2] * 5


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
    if "mean_n01" in case["expected"]:
        assert result.mean_table[1, 0] == expected(case, "mean_n01")
        assert result.mean_table[0, 1] == expected(case, "mean_n10")


def test_bcv_equals_statsmodels_on_the_effective_table():
    from statsmodels.stats.contingency_tables import mcnemar as of_statsmodels

    tables = random_tables()
    for rho in ((0.5, 0.5), (0.0, 0.5), (0.2, 0.1)):
        result = bcv_mcnemar(tables, rho1=rho[0], rho2=rho[1])
        factor = 10 / (1 + rho[0] + 8 * rho[1])
        mean = sum(tables.reshape(10, 2, 2)) / 10
        np.testing.assert_allclose(result.mean_table, mean)
        np.testing.assert_allclose(result.effective_table, factor * mean)
        assert result.n_effective == pytest.approx(factor * 120)
        peer = of_statsmodels(result.effective_table, exact=False, correction=True)
        assert result.statistic == pytest.approx(peer.statistic, rel=1e-9)
        assert result.pvalue == pytest.approx(peer.pvalue, rel=1e-7)


def test_one_sided_bcv_tests():
    two, greater, less = (
        bcv_mcnemar(random_tables(), alternative=alternative) for alternative in ALTERNATIVES
    )
    assert two.difference > 0  # a is better, so
    assert greater.pvalue == pytest.approx(two.pvalue / 2)
    assert less.pvalue == pytest.approx(1 - two.pvalue / 2)
    root = math.sqrt(two.statistic)
    assert greater.pvalue == pytest.approx(stats.norm.sf(root))


@given(st.integers(0, 10**6), st.integers(2, 7))
def test_laws_of_bcv(seed, m):
    rng = np.random.default_rng(seed)
    tables = rng.poisson(rng.uniform(0, 4, (2, 2)), (m, 2, 2, 2))
    tables[..., 0, 0] += 1
    result = bcv_mcnemar(tables, alternative="greater")
    swapped = bcv_mcnemar(tables.swapaxes(-1, -2), alternative="less")
    assert result.pvalue == swapped.pvalue
    assert result.statistic == swapped.statistic
    assert result.difference == -swapped.difference
    assert result.accuracy_a == swapped.accuracy_b
    low, high = result.confidence_interval()
    other = swapped.confidence_interval()
    assert (low, high) == pytest.approx((-other.high, -other.low))
    assert -1 <= low <= result.difference <= high <= 1
    assert result == bcv_mcnemar(rng.permutation(tables), alternative="greater")
    assert result == bcv_mcnemar(tables[:, ::-1], alternative="greater")


def test_bcv_of_many_pairs_is_that_of_each():
    many = random_tables(3, 4, m=3)
    many[1, 2] = [[7, 0], [0, 1]]
    result = bcv_mcnemar(many, alternative="greater")
    assert result.pvalue.shape == result.status.shape == (3, 4)
    assert result.mean_table.shape == result.effective_table.shape == (3, 4, 2, 2)
    low, high = result.confidence_interval(0.9)
    names = ("accuracy_a", "accuracy_b", "difference", "disagreement", "n_effective", "better")
    names += ("error_where_one_right", "error_where_b_right", "error_where_b_wrong")
    for i in np.ndindex(3, 4):
        one = bcv_mcnemar(many[i], alternative="greater")
        for name in ("statistic", "pvalue", "status", *names):
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
    assert str(result).splitlines() == [
        "3x2 BCV McNemar's test (greater)",
        "12 tests, shape (3, 4)",
    ]


def test_estimates_from_all_samples():
    result = bcv_mcnemar(random_tables())
    total = random_tables().sum((0, 1))
    n = total.sum()
    assert result.accuracy_a == pytest.approx(total[0].sum() / n)
    assert result.accuracy_b == pytest.approx(total[:, 0].sum() / n)
    assert result.difference == pytest.approx(result.accuracy_a - result.accuracy_b)
    assert result.difference > 0
    n00, n01, n10, n11 = total[1, 1], total[1, 0], total[0, 1], total[0, 0]
    assert result.disagreement == pytest.approx((n01 + n10) / n)
    assert result.error_where_one_right == pytest.approx(n01 / (n01 + n10))
    assert result.error_where_b_right == pytest.approx(n01 / (n01 + n11))
    assert result.error_where_b_wrong == pytest.approx(n00 / (n10 + n00))


def test_folds_of_unequal_size():
    tables = random_tables().copy()
    tables[:, 0, 0, 0] += 1
    assert bcv_mcnemar(tables).n_effective == pytest.approx(20 / 11 * 120.5)


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
        result = bcv_mcnemar(EMPTY, alternative=alternative)
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
    # On whole counts it is the other record's.
    tables = np.broadcast_to([[40, 25], [11, 9]], (5, 2, 2, 2))
    found = bcv_mcnemar(tables, rho1=1, rho2=1).confidence_interval()
    whole = mcnemar_from_counts(25, 11, both_right=40, both_wrong=9)
    assert found == pytest.approx(whole.confidence_interval(method="wald"))


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


def test_naive_of_many_pairs_is_that_of_each():
    many = random_tables(3, 2).reshape(3, 2, 10, 2, 2)
    many[2, 1] = [[7, 0], [0, 1]]
    result = naive_mcnemar(many)
    for i in np.ndindex(3, 2):
        one = naive_mcnemar(many[i])
        for name in ("statistic", "pvalue", "status", "estimate"):
            np.testing.assert_equal(getattr(result, name)[i], getattr(one, name))
    assert result.status[2, 1] == DEGENERATE
    assert (result.statistic[2, 1], result.pvalue[2, 1]) == (0.0, 1.0)


# Two proportions.


@parametrize("proportion_difference_z")
def test_proportions_against_references(case):
    counts = case["input"]["errors_A"], case["input"]["errors_B"], case["input"]["n"]
    result = proportion_z(*counts)
    assert -result.statistic == expected(case, "statistic")
    assert result.pvalue == expected(case, "pvalue")
    assert (result.test, result.df, result.n_folds) == ("proportion-z", None, 1)
    assert result.status == (DEGENERATE if counts[:2] == (0, 0) else OK)


def test_proportions_broadcast():
    errors = np.array([24, 0, 30])
    result = proportion_z(errors, [[58], [0]], 175, alternative="greater")
    assert result.pvalue.shape == result.standard_error.shape == (2, 3)
    for i, j in np.ndindex(2, 3):
        one = proportion_z(errors[j], (58, 0)[i], 175, alternative="greater")
        for name in ("statistic", "pvalue", "status", "estimate", "standard_error"):
            assert getattr(result, name)[i, j] == getattr(one, name)
    assert result.estimate[0, 0] == pytest.approx((58 - 24) / 175)


def test_proportions_by_hand():
    two, greater, less = (
        proportion_z(24, 58, 175, alternative=alternative) for alternative in ALTERNATIVES
    )
    p = (24 + 58) / 350
    error = math.sqrt(2 * p * (1 - p) / 175)
    assert two.standard_error == pytest.approx(error)
    assert two.statistic == pytest.approx(34 / 175 / error)
    assert greater.pvalue == pytest.approx(two.pvalue / 2)
    assert less.pvalue == pytest.approx(1 - two.pvalue / 2)
    spread = stats.norm.isf(0.025) * error
    wanted = (34 / 175 - spread, 34 / 175 + spread)
    assert two.confidence_interval() == pytest.approx(wanted)
    assert "z = 4.291, p = 1.8e-05" in str(two)
    swapped = proportion_z(58, 24, 175, alternative="less")
    assert (swapped.statistic, swapped.pvalue) == (-two.statistic, greater.pvalue)


@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize("errors", [0, 40])
def test_proportions_without_variance(errors, alternative):
    result = proportion_z(errors, errors, 40, alternative=alternative)
    assert (result.statistic, result.pvalue, result.estimate) == (0.0, 1.0, 0.0)
    assert result.status == DEGENERATE


# Input without a meaning.


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rho1": -1}, r"rho1 must lie in \(-1, 1\], got -1"),
        ({"rho2": -0.1}, r"rho2 must lie in \[0, .*0\.75\], got -0\.1"),
        ({"rho2": 0.76}, r"rho2 must lie in .*, got 0\.76"),
        ({"rho1": 0.0, "rho2": 0.51}, r"= \[0, 0\.5\], got 0\.51"),
        ({"rho2": math.nan}, "rho2 must lie in"),
    ],
)
def test_bcv_options_out_of_bounds(options, message):
    with pytest.raises(ValueError, match=message):
        bcv_mcnemar(random_tables(), **options)


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


def test_bounds_of_the_correlations_are_included():
    tables = random_tables()
    # Lemma 3 attains the bound that the paper prints as strict.
    assert bcv_mcnemar(tables, rho1=0, rho2=0.5).effective_factor == 2.0
    assert bcv_mcnemar(tables, rho1=1, rho2=1).effective_factor == 1.0
    assert bcv_mcnemar(tables, rho1=0, rho2=0).effective_factor == 10.0
    assert bcv_mcnemar(random_tables(), rho1=np.float32(0.5)).rho1 == 0.5
