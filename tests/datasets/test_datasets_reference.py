"""Tests over data sets against values that other programs and enumerations gave."""

import math

import numpy as np
import pytest
from reference_cases import expected, parametrize

from fastcmp import adjust, datasets, mcnemar, signed_rank
from fastcmp.kernels import studentized_range_isf, studentized_range_sf


def given(case):
    """The scores of a case, and which way is better."""
    scores = [[np.nan if x is None else x for x in row] for row in case["input"]["scores"]]
    return scores, {"lower_is_better": not case["input"]["higher_is_better"]}


def check(case, found=(), *fields, **renamed):
    """Compare fields of a record, or numbers by name, with what the case expects."""
    if not isinstance(found, dict):
        renamed |= dict(zip(fields, fields, strict=True))
        values = {name: getattr(found, field) for name, field in renamed.items()}
        lists = {np.ndarray: np.ndarray.tolist, tuple: list}
        found = {name: lists.get(type(x), lambda x: x)(x) for name, x in values.items()}
    for name, value in found.items():
        if case["expected"][name] == "inf":
            assert math.isinf(value)
        else:
            assert value == expected(case, name), name


@parametrize("friedman")
def test_friedman(case):
    scores, direction = given(case)
    chi2 = datasets.friedman(scores, method="chi2", **direction)
    f = datasets.friedman(scores, method="iman-davenport", **direction)
    assert f.kendall_w == chi2.kendall_w
    check(case, chi2, "statistic", "df", "pvalue", mean_ranks="mean_rank")
    check(case, f, "kendall_w", f_statistic="statistic", f_df="df", f_pvalue="pvalue")
    assert (chi2.f_pvalue, f.chi2_pvalue) == (f.pvalue, chi2.pvalue)


@parametrize("friedman_uncorrected")
def test_friedman_without_tie_correction(case):
    scores, direction = given(case)
    test = datasets.friedman(scores, method="chi2", ties="uncorrected", **direction)
    check(case, test, "statistic", "pvalue", "f_statistic", "f_pvalue")


@parametrize("friedman_exact")
def test_friedman_by_all_orders(case):
    scores, direction = given(case)
    test = datasets.friedman(scores, method="exact", **direction)
    check(case, test, "statistic", "pvalue")
    assert datasets.friedman(scores, **direction).method == "exact"
    options = {"method": "monte-carlo", "n_resamples": 9999, "rng": 1, **direction}
    drawn = datasets.friedman(scores, **options).pvalue
    error = math.sqrt(test.pvalue * (1 - test.pvalue) / 9999)
    assert abs(drawn - test.pvalue) < 5 * error


@parametrize("quade")
def test_quade(case):
    scores, direction = given(case)
    check(case, datasets.quade(scores, **direction), "statistic", "pvalue", "df")


@parametrize("friedman_aligned")
def test_aligned_ranks(case):
    scores, direction = given(case)
    corrected = datasets.aligned_ranks(scores, **direction)
    published = datasets.aligned_ranks(scores, ties="uncorrected", **direction)
    check(case, published, "statistic", "pvalue", "df")
    known = {"statistic_tie_corrected": "statistic", "pvalue_tie_corrected": "pvalue"}
    check(case, corrected, mean_aligned_ranks="mean_rank", **known)


@parametrize("skillings_mack")
def test_skillings_mack(case):
    scores, direction = given(case)
    test = datasets.skillings_mack(scores, **direction)
    check(case, test, "statistic", "pvalue", "df", weighted_sums="weighted_sum")


@parametrize("studentized_range_inf")
def test_studentized_range(case):
    k = case["input"]["k"]
    if "alpha" in case["input"]:
        q = [studentized_range_isf(case["input"]["alpha"], n) for n in k]
        over_root = [x / math.sqrt(2) for x in q]
        check(case, {"q": q, "q_over_sqrt2": over_root})
        return
    found = [studentized_range_sf(float(q), k) for q in case["input"]["q"]]
    # At 20 both cases are off by 8e-10: for k = 2 the tail is erfc(10).
    assert found == pytest.approx(case["expected"]["sf"], rel=1e-9, abs=0)
    assert found[:-1] == pytest.approx(case["expected"]["sf"][:-1], rel=1e-10, abs=0)
    assert studentized_range_sf(20.0, 2) == pytest.approx(math.erfc(10), rel=1e-13)


@parametrize("nemenyi")
def test_nemenyi(case):
    scores, direction = given(case)
    result = datasets.compare_datasets(scores, method="nemenyi", **direction)
    check(case, result, "zscore", "pvalue", mean_ranks="mean_rank")
    assert (result.pvalue == result.pvalue_adjusted).all()
    for alpha, wanted in case["expected"]["critical_difference"].items():
        other = datasets.compare_datasets(scores, method="nemenyi", alpha=float(alpha), **direction)
        assert other.critical_difference == pytest.approx(wanted, rel=1e-9)


@parametrize("rank_pairs")
def test_pairs_by_mean_ranks(case):
    scores, direction = given(case)
    for method in case["options"]["adjust"]:
        result = datasets.compare_datasets(scores, method="normal", adjust=method, **direction)
        check(case, result, zscore="statistic")
        wanted = case["expected"]["pvalue"][method]
        assert result.pvalue_adjusted == pytest.approx(wanted, rel=1e-9, abs=1e-12)


@parametrize("rank_control")
def test_against_a_control_by_mean_ranks(case):
    scores, direction = given(case)
    for method in case["options"]["adjust"]:
        options = {"alternative": case["options"]["alternative"], **direction}
        options["control"] = case["input"]["control"]
        result = datasets.compare_datasets(scores, method="normal", adjust=method, **options)
        check(case, result, zscore="statistic")
        wanted = case["expected"]["pvalue"][method]
        assert result.pvalue_adjusted == pytest.approx(wanted, rel=1e-9, abs=1e-12)


@parametrize("adjust_more")
def test_more_adjustments(case):
    for method in case["options"]["adjust"]:
        found = adjust(case["input"]["pvalues"], method=method)
        wanted = case["expected"]["adjusted"][method]
        assert found == pytest.approx(wanted, rel=1e-9, abs=1e-12)


@parametrize("shaffer_counts")
def test_counts_of_equal_pairs(case):
    found = datasets.shaffer_counts(case["input"]["n_models"])
    assert list(found.counts) == case["expected"]["counts"]
    assert list(found.steps) == case["expected"]["steps"]
    assert str(found.n_exhaustive_sets) == case["expected"]["n_exhaustive_sets"]


@parametrize("conover_pairs")
def test_conover(case):
    scores, direction = given(case)
    for method, wanted in case["expected"]["pvalue"].items():
        result = datasets.compare_datasets(scores, method="conover", adjust=method, **direction)
        check(case, result, "statistic", "df")
        assert result.pvalue_adjusted == pytest.approx(wanted, rel=1e-9, abs=1e-12)


@parametrize("quade_pairs")
def test_quade_pairs(case):
    scores, direction = given(case)
    result = datasets.compare_datasets(scores, method="quade", **direction)
    check(case, result, "statistic", "df", "pvalue")


@parametrize("friedman_pair_exact")
def test_exact_differences_of_rank_sums(case):
    if "scores" in case["input"]:
        scores, direction = given(case)
        check(case, datasets.compare_datasets(scores, method="exact", **direction), "pvalue")
        return
    found = datasets.friedman_pair_exact(**case["input"])
    check(case, {"pvalue": found.tolist()})


@parametrize("wilcoxon_of_tasks")
def test_wilcoxon_of_two_models(case):
    scores, direction = given(case)
    a, b = scores
    options = {"zero_method": case["options"]["zero_method"], **direction}
    z = signed_rank(a, b, method="asymptotic", **options)
    check(case, {"n": z.n_items - z.n_zero * (options["zero_method"] == "wilcox")})
    sums = {"rank_sum_plus": "w_plus", "rank_sum_minus": "w_minus"}
    check(case, z, "zscore", pvalue_normal="pvalue", **sums)
    exact = signed_rank(a, b, method="exact", **options)
    greater = signed_rank(a, b, method="exact", alternative="greater", **options)
    corrected = signed_rank(a, b, method="asymptotic", continuity=True, **options)
    others = {
        "zscore_no_tie_correction": z.zscore_uncorrected,
        "pvalue_exact": exact.pvalue,
        "pvalue_exact_greater": greater.pvalue,
        "pvalue_normal_cc": corrected.pvalue,
    }
    check(case, {name: x for name, x in others.items() if name in case["expected"]})
    pair = datasets.compare_datasets(scores, exact=False, **options)
    assert (pair.rank_sum_plus[0], pair.zscore[0]) == (z.w_plus, z.zscore)


@parametrize("wilcoxon_pairs")
def test_wilcoxon_of_all_pairs(case):
    scores, direction = given(case)
    zero_method = case["options"]["zero_method"]
    for exact, name in ((True, "pvalue_exact"), (False, "pvalue")):
        for method, wanted in case["expected"][name].items():
            result = datasets.compare_datasets(
                scores, zero_method=zero_method, exact=exact, adjust=method, **direction
            )
            check(case, result, "rank_sum_plus")
            assert result.pvalue_adjusted == pytest.approx(wanted, rel=1e-9, abs=1e-12)


@parametrize("sign_test")
def test_sign_test(case):
    wins, losses = case["input"]["wins"], case["input"]["losses"]
    alternative = case["options"]["alternative"]
    found = mcnemar(only_a=wins, only_b=losses, method="exact", alternative=alternative)
    check(case, {"pvalue": found.pvalue, "n": wins + losses})
    signs = [1.0] * wins + [-1.0] * losses + [0.0] * case["input"]["ties"]
    scores = [signs, [0.0] * len(signs)]
    result = datasets.compare_datasets(scores, method="sign", alternative=alternative)
    check(case, {"pvalue": result.pvalue[0]})


@parametrize("cliques")
def test_cliques(case):
    found = datasets.maximal_cliques(case["input"]["n_models"], case["input"]["not_different"])
    assert [list(clique) for clique in found] == case["expected"]["cliques"]


@parametrize("win_tie_loss")
def test_wins_ties_and_losses(case):
    scores, direction = given(case)
    result = datasets.compare_datasets(scores, **direction)
    assert result.wins.tolist() == case["expected"]["wins"]
    assert result.ties.tolist() == case["expected"]["ties"]
    check(case, result, "mean_score")


@parametrize("normalised_scores")
def test_normalised_scores(case):
    scores, direction = given(case)
    found = datasets.normalised_scores(scores, **direction)
    check(case, found, "mean_minmax", "mean_gap_to_best", "mean_standardised", "median_score")
    assert found.n_constant_tasks == case["expected"]["n_constant_tasks"]
