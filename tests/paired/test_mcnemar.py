"""McNemar's test from labels and from counts, and all that its record says."""

from dataclasses import replace
from math import inf

import naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from libraries import stats
from reference_cases import ALTERNATIVES, cases, cells, expected, parametrize
from strategies import codes, count_pairs, tables

from fastcmp import mcnemar, mcnemar_table
from fastcmp.kernels import UNCONDITIONAL_MAX_N

METHODS = ("midp", "exact", "asymptotic", "corrected", "unconditional")
NAMES = {0: "two-sided", 1: "greater", -1: "less"}
INTERVALS = ("wald", "newcombe", "tango", "bonett-price", "agresti-min")


def from_table(table, **options):
    both_right, only_a, only_b, both_wrong = table
    return mcnemar(
        only_a=only_a, only_b=only_b, both_right=both_right, both_wrong=both_wrong, **options
    )


def labels_of(table):
    """Make labels whose table it is, of three classes in some order."""
    right_a = np.repeat([True, True, False, False], table)
    right_b = np.repeat([True, False, True, False], table)
    order = np.random.default_rng(0).permutation(right_a.size)
    y_true = np.arange(right_a.size) % 3
    a, b = (np.where(right, y_true, (y_true + 1) % 3) for right in (right_a, right_b))
    return y_true[order], a[order], b[order]


# What the p-values are.


#: What the cases call them; other rules for ties and corrections are not offered.
REFERENCES = {
    "mcnemar_exact": ("exact", None),
    "mcnemar_midp": ("midp", "fagerland: 1-0.5*f(n12)"),
    "mcnemar_asymptotic": ("asymptotic", "yates_half"),
    "mcnemar_unconditional": ("unconditional", None),
}


@pytest.mark.parametrize("test", REFERENCES)
def test_against_references(test):
    method, not_offered = REFERENCES[test]
    for case in cases(test):
        if not_offered in case["options"].values():
            continue
        alternative = NAMES[ALTERNATIVES[case["options"]["alternative"]]]
        corrected = case["options"].get("correction") == "edwards"
        options = {"method": "corrected" if corrected else method, "alternative": alternative}
        result = from_table(cells(case), **options)
        assert result.pvalue == expected(case, "pvalue")
        if "statistic" in case["expected"]:
            assert result.statistic == expected(case, "statistic")
        if sum(cells(case)) < 10**6:
            assert mcnemar(*labels_of(cells(case)), **options) == result


@pytest.mark.parametrize("sign", [0, 1, -1])
@pytest.mark.parametrize("method", METHODS[:4])
@pytest.mark.parametrize(("a", "b"), [(11, 1), (7, 7), (0, 4)])
def test_the_statistic_and_its_distribution_give_the_pvalue(a, b, method, sign):
    alternative = NAMES[sign]
    result = from_table((30, a, b, 9), method=method, alternative=alternative)
    statistic = result.statistic
    binomial = stats.binom(a + b, 0.5)
    if result.distribution == "binomial":
        pvalue = binomial.cdf(statistic)
        pvalue -= 0.5 * binomial.pmf(statistic) if method == "midp" else 0.0
        pvalue = min(1.0, 2 * pvalue) if alternative == "two-sided" else pvalue
    elif result.distribution == "chi2":
        pvalue = stats.chi2.sf(statistic, result.df)
    else:
        assert result.distribution == "normal"
        pvalue = stats.norm.sf(sign * statistic)
    assert result.df == (1 if result.distribution == "chi2" else None)
    assert result.pvalue == pytest.approx(pvalue, rel=1e-9)


@parametrize("contingency_from_labels")
def test_table_against_references(case):
    labels = (case["input"][name] for name in ("y", "model1", "model2"))
    table = mcnemar_table(*labels).ravel().tolist()
    assert table == np.ravel(case["expected"]["table"]).tolist()


@given(codes())
def test_labels_are_counted(drawn):
    if drawn.shape[1] < 2:
        with pytest.raises(ValueError, match=r"^y_true must hold at least 2 samples"):
            mcnemar(*drawn)
        return
    table = naive.paired_table(*drawn.tolist())
    assert mcnemar_table(*drawn).tolist() == table
    result = mcnemar(*drawn)
    assert result.table.tolist() == table
    counted = from_table([*table[0], *table[1]])
    assert replace(result, n_outside=()) == counted
    assert mcnemar_table(*drawn).dtype == np.int64


# From counts: shapes and types.


@pytest.mark.parametrize("method", METHODS)
def test_arrays_are_answered_one_by_one(method):
    only_a = np.array([[3, 0, 7], [2, 2, 30]])
    only_b = np.array([1, 0, 9])
    result = from_table((20, only_a, only_b, np.array([[4], [5]])), method=method)
    assert result.pvalue.shape == result.statistic.shape == result.status.shape == (2, 3)
    assert result.table.shape == (2, 3, 2, 2)
    low, high = result.confidence_interval(0.9)
    odds_low, odds_high = result.odds_ratio_interval(0.9)
    for i, j in np.ndindex(2, 3):
        table = (20, int(only_a[i, j]), int(only_b[j]), 4 + i)
        one = from_table(table, method=method)
        assert one.pvalue == result.pvalue[i, j]
        assert one.statistic == result.statistic[i, j]
        assert one.accuracy_a == result.accuracy_a[i, j]
        assert one.difference == result.difference[i, j]
        assert one.table.tolist() == result.table[i, j].tolist()
        assert one.confidence_interval(0.9) == (low[i, j], high[i, j])
        assert one.odds_ratio_interval(0.9) == (odds_low[i, j], odds_high[i, j])
        assert repr(float(one.odds_ratio)) == repr(float(result.odds_ratio[i, j]))


def test_who_did_better_in_arrays():
    pairs = mcnemar(only_a=[3, 1, 2], only_b=[1, 3, 2])
    assert pairs.better.tolist() == ["a", "b", None]
    with pytest.raises(ValueError, match=r"^counts must broadcast to one shape, got only_a \(2,"):
        mcnemar(only_a=[1, 2], only_b=[1, 2, 3])
    with pytest.raises(ValueError, match=r"^only_a \+ only_b \+ both_right must be at most"):
        mcnemar(only_a=2**52, only_b=[1, 2**52], both_right=2**52)


def test_numbers_in_numbers_out():
    for only_a in (3, 3.0, np.int8(3), np.array(3)):
        result = from_table((10, only_a, 1, 2))
        intervals = *result.confidence_interval(), *result.odds_ratio_interval()
        numbers = result.statistic, result.pvalue, result.difference, result.odds_ratio, *intervals
        assert {type(x) for x in numbers} == {float}
        assert {type(x) for x in (result.only_a, result.n_samples, result.status)} == {int}
    for method in METHODS:
        result = from_table((np.zeros((2, 0), int), np.zeros((2, 0), int), 1, 1), method=method)
        assert result.pvalue.shape == result.confidence_interval().low.shape == (2, 0)


def test_bad_counts():
    for bad, said in (
        ([3, -7], "must not be negative, got -7"),
        ([1.0, 2.25], "must be whole numbers, got 2.25"),
        (float("inf"), r"must be at most 2\*\*53, got inf"),
        (2**70, r"must be at most 2\*\*53, got 1180591620717411303424"),
        ([[1, 2], [3]], "must be "),
    ):
        with pytest.raises((TypeError, ValueError), match=f"^only_b {said}"):
            mcnemar(only_a=1, only_b=bad)


def test_unknown_options_list_the_known_ones():
    result = from_table((40, 11, 1, 8))
    for call, name, known in (
        (lambda x: mcnemar([0, 1], [0, 1], [1, 1], method=x), "method", METHODS),
        (lambda x: result.confidence_interval(method=x), "method", INTERVALS),
        (lambda x: result.odds_ratio_interval(method=x), "method", ("exact", "midp")),
    ):
        with pytest.raises(ValueError, match=rf"^{name} must be one of .*, got 'mid'") as e:
            call("mid")
        assert all(repr(word) in str(e.value) for word in known)
    for spelled, method in (("mid-p", "midp"), ("Edwards", "corrected")):
        result = mcnemar(only_a=1, only_b=2, method=spelled, alternative="larger")
        assert result == mcnemar(only_a=1, only_b=2, method=method, alternative="greater")


def test_missing_and_excluded_samples():
    y_true = ["a", "b", None, "c", "a", "b"]
    a = ["a", "b", "a", "c", "b", None]
    b = ["b", "b", "a", "c", "b", "b"]
    options = {"classes": ["a", "b"], "missing": "wrong"}
    result = mcnemar(y_true, a, b, **options)
    assert (result.n_missing, result.n_excluded, result.n_samples) == (1, 1, 4)
    assert result.table.tolist() == mcnemar_table(y_true, a, b, **options).tolist()
    assert result.table.tolist() == [[1, 1], [1, 1]]
    assert "1 samples without a true label were dropped." in str(result)
    assert "1 samples of other classes were dropped." in str(result)


# The unconditional test.


def test_what_the_unconditional_test_refuses():
    for extra in ({}, {"both_right": 3}, {"both_wrong": 3}):
        with pytest.raises(ValueError, match=r"^method='unconditional' needs both_right and both_"):
            mcnemar(only_a=3, only_b=1, method="unconditional", **extra)
    n = UNCONDITIONAL_MAX_N
    many = np.arange(1, 301)
    for counts, wanted in (
        ((n - 4, [4, 4], 1, 0), rf"takes at most {n} samples, got {n + 1}: use method='midp'"),
        ((2_000_000 - many, many, 0, 0), "too long for 300 different tables .*'midp'"),
    ):
        with pytest.raises(ValueError, match=wanted):
            from_table(counts, method="unconditional")


# The record.


@given(tables(10**9))
def test_what_follows_from_the_table(table):
    both_right, only_a, only_b, both_wrong = table
    n = sum(table)
    result = from_table(table)
    assert result.n_samples == n
    assert result.table.tolist() == [[both_right, only_a], [only_b, both_wrong]]
    assert result.accuracy_a == (both_right + only_a) / n
    assert result.accuracy_b == (both_right + only_b) / n
    assert result.difference == pytest.approx(result.accuracy_a - result.accuracy_b, abs=1e-15)
    assert result.statistic == min(only_a, only_b)
    chi_square = float(naive.mcnemar_statistic(only_a, only_b))
    assert result.zscore**2 == pytest.approx(chi_square)
    assert naive.sign(float(result.zscore)) == naive.sign(only_a - only_b)


def test_odds_ratio():
    for only_a, only_b, ratio in ((6, 3, 2.0), (0, 3, 0.0), (3, 0, inf), (0, 0, np.nan)):
        result = mcnemar(only_a=only_a, only_b=only_b)
        assert result.odds_ratio == pytest.approx(ratio, nan_ok=True)
        assert not result.odds_ratio_interval()[0] > ratio


@parametrize("paired_difference_ci")
def test_intervals_against_references(case):
    names = {"newcombe10": "newcombe", "bonett_price": "bonett-price", "agresti_min": "agresti-min"}
    method, level = case["options"]["method"], case["options"]["confidence"]
    low, high = from_table(cells(case)).confidence_interval(level, names.get(method, method))
    assert low == expected(case, "lower")
    assert high == expected(case, "upper")


@given(count_pairs(60), st.sampled_from([0.5, 0.9, 0.95, 0.99]))
def test_odds_ratio_intervals_against_their_definitions(pair, level):
    for method, weight in (("exact", 1), ("midp", 0.5)):
        interval = mcnemar(only_a=pair[0], only_b=pair[1]).odds_ratio_interval(level, method)
        if sum(pair):
            oracle = naive.odds_ratio(*pair, level, weight)
            assert tuple(interval) == pytest.approx(oracle, rel=1e-6)
        else:
            assert tuple(interval) == (0.0, inf)


@pytest.mark.parametrize("given", [{}, {"both_right": 5}, {"both_wrong": 5}])
def test_what_needs_all_counts_says_so(given):
    result = mcnemar(only_a=3, only_b=1, **given)
    for name in ("table", "n_samples", "accuracy_a", "accuracy_b", "difference", "effect"):
        with pytest.raises(ValueError, match=r"needs all four counts: pass both_right="):
            getattr(result, name)
    with pytest.raises(ValueError, match=r"needs all four counts"):
        result.confidence_interval()
    assert result.odds_ratio == 3
    assert (result.better, result.measure) == ("a", "accuracy")
    assert "Only a is right on 3 samples, only b on 1." in str(result)


def test_effect_says_which_model_is_better():
    for table, lead in (
        ((70, 15, 5, 10), "Model a is more accurate by 10.00 percentage points ("),
        ((70, 5, 15, 10), "Model b is more accurate by 10.00 percentage points ("),
        ((70, 5, 5, 20), "Both models are right equally often ("),
    ):
        result = from_table(table)
        low, high = result.confidence_interval()
        assert result.effect.startswith(lead)
        ends = f"95% CI [{100 * low:+.2f}, {100 * high:+.2f}]"
        assert result.effect.endswith(f"(a minus b, {ends}).")
