"""Wilcoxon's signed-rank test of two models, of clusters, and of all pairs."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from libraries import stats
from reference_cases import expected, parametrize

from fastcmp import compare_means, signed_rank
from fastcmp.kernels import DEGENERATE

alternatives = st.sampled_from(["two-sided", "greater", "less"])
zero_methods = st.sampled_from(["wilcox", "pratt", "zsplit"])
tenths = st.integers(0, 10).map(lambda x: x / 10)
pairs = st.lists(st.tuples(tenths, tenths), min_size=1, max_size=12)


def case_result(case, **more):
    options = dict(case["options"])
    options["continuity"] = options.pop("correction", False)
    given = case["input"]
    return signed_rank(given["a"], given["b"], **(options | more))


@parametrize("wilcoxon_signed_rank")
def test_reference(case):
    found = case_result(case)
    for name in case["expected"]:
        own = {"z": "zscore"}.get(name, name)
        assert getattr(found, own) == expected(case, name), name


@parametrize("wilcoxon_signed_rank_exact_ties")
def test_reference_with_ties(case):
    test_reference(case)


@parametrize("hodges_lehmann_paired")
def test_reference_of_the_centre(case):
    given, level = case["input"], case["options"]["confidence"]
    found = signed_rank(given["a"], given["b"], confidence_level=level)
    assert found.estimate == expected(case, "estimate")
    assert tuple(found.interval) == expected(case, "ci")


@parametrize("clustered_signed_rank")
def test_reference_of_clusters(case):
    found = case_result(
        case, groups=case["input"]["cluster"], method="asymptotic", continuity=False
    )
    assert found.statistic == expected(case, "statistic")
    assert found.pvalue == expected(case, "pvalue")


def test_small_clusters_that_clusrank_gets_wrong():
    # Rank sums 4, 21, -1, -2, 8 and 10: all 64 signs give 0.125.
    ranks = [4, 9, 12, -1, -2, 8, 10]
    groups = [0, 1, 1, 2, 3, 4, 5]
    found = signed_rank(ranks, [0] * 7, groups=groups)
    signed = np.bincount(groups, np.sign(ranks) * stats.rankdata(np.abs(ranks)))
    flips = np.array(list(itertools.product([-1, 1], repeat=6))) @ np.abs(signed)
    assert found.pvalue == np.mean(np.abs(flips) >= abs(signed.sum()))
    assert found.method == "exact"
    assert np.isnan(found.interval.low)


def exact(d, zero_method, alternative):
    """All signs of the midranks of whole numbers, zeros dropped or ranked."""
    among = d[d != 0] if zero_method == "wilcox" else d
    ranks = stats.rankdata(np.abs(among))[among != 0] if among.size else among
    signs = np.array(list(itertools.product([0, 1], repeat=ranks.size)))
    null, total = signs @ ranks, ranks.sum()
    seen = ranks[among[among != 0] > 0].sum()
    if alternative == "two-sided":
        return np.mean(abs(2 * null - total) >= abs(2 * seen - total))
    return np.mean(null >= seen if alternative == "greater" else null <= seen)


@given(pairs, zero_methods, alternatives)
def test_exact_by_all_signs_of_decimals(values, zero_method, alternative):
    a, b = np.array(values).T
    found = signed_rank(a, b, zero_method=zero_method, alternative=alternative)
    d = np.rint(10 * a) - np.rint(10 * b)
    assert found.pvalue == pytest.approx(exact(d, zero_method, alternative), rel=1e-12)
    assert found.n_zero == np.sum(d == 0)


@pytest.mark.parametrize("zero_method", ["wilcox", "pratt"])
def test_right_or_wrong_is_mcnemar(zero_method):
    a, b = np.random.default_rng(3).integers(0, 2, (2, 200))
    only_a, only_b = np.sum(a > b), np.sum(a < b)
    found = signed_rank(a, b, zero_method=zero_method)
    assert found.zscore**2 == pytest.approx((only_a - only_b) ** 2 / (only_a + only_b))


def test_clusters_of_one_are_items():
    a, b = np.random.default_rng(3).random((2, 15)).round(1)
    one = signed_rank(a, b, method="exact")
    two = signed_rank(a, b, groups=list("abcdefghijklmno"), method="exact")
    assert two.pvalue == one.pvalue
    assert two.n_groups == 15
    a, b = [True, True, False, True, True], [False, True, False, False, False]
    assert signed_rank(a, b).pvalue == signed_rank(np.array(a, float), np.array(b, float)).pvalue


def test_one_value_in_all_is_degenerate():
    found = signed_rank([0.3] * 5, [0.1 + 0.2] * 5)
    assert found.status == DEGENERATE
    assert (found.statistic, found.pvalue, found.n_zero) == (0.0, 1.0, 5)
    assert "5 of them equal" in str(found)
    assert found.better is None


def test_thirds_are_ties_too():
    # 2/3 - 1/3 is not 1 - 2/3 to the bit.
    a, b = np.array([2 / 3, 1.0, 1 / 3, 0.0]), np.array([1 / 3, 2 / 3, 2 / 3, 1 / 3])
    assert signed_rank(a, b).w_plus == 5.0


def test_no_test_of_means():
    # Mean 0, and significant: the record says so.
    d = np.repeat([-0.25, 1.0, 0.0], [80, 20, 100])
    found = signed_rank(d, np.zeros(200))
    assert found.mean_difference == 0.0
    assert found.pvalue < 0.01
    assert "no test of means" in str(found)
    a, b = [1.0, 2.0, 3.0, 4.0], [2.0, 4.0, 6.0, 8.0]
    found = signed_rank(a, b, lower_is_better=True, names=("old", "new"))
    assert found.better == "a"
    assert "old did better" in str(found)


def test_the_interval_inverts_the_test():
    a, b = np.random.default_rng(8).random((2, 25))
    low, high = signed_rank(a, b).interval
    for end, outward in ((low, -1), (high, 1)):
        step = outward * 1e-9
        assert signed_rank(a - end - step, b).pvalue < 0.05
        assert signed_rank(a - end + step, b).pvalue > 0.05
    assert signed_rank(a, b, alternative="greater").interval.high == np.inf


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"groups": [0] * 4}, "groups must hold at least 2 clusters"),
        ({"groups": [0, 1, None, 1]}, "groups has no label for item 2"),
        ({"groups": [0, 1, 1, 0], "continuity": True}, "continuity must be False"),
    ],
)
def test_refused(options, words):
    given = {"values_a": [1.0, 2, 3, 4], "values_b": [2.0, 2, 1, 1]} | options
    with pytest.raises(ValueError, match=words):
        signed_rank(**given)


def test_exact_of_very_many_is_refused():
    a, b = np.random.default_rng(1).random((2, 5000))
    with pytest.raises(ValueError, match="method='exact' takes too long"):
        signed_rank(a, b, method="exact")


# All pairs.


def all_values(kind, n):
    rng = np.random.default_rng(5)
    values = rng.random((5, n)) ** 2
    values[3] = values[2]
    if kind == "decimals":
        return values.round(1)
    return values * 1000 if kind == "large" else values


@pytest.mark.parametrize(
    ("kind", "n"), [("decimals", 30), ("any", 30), ("decimals", 80), ("large", 80)]
)
def test_all_pairs_are_those_of_two(kind, n):
    values = all_values(kind, n)
    options = {"method": "wilcoxon", "interval": "hodges-lehmann", "adjust": "none"}
    found = compare_means(values, **options)
    for p, (i, j) in enumerate(found.pairs):
        one = signed_rank(values[i], values[j])
        ends = [*found.interval[p], found.statistic[p], found.pvalue[p]]
        wanted = [*one.interval, one.statistic, one.pvalue]
        assert ends == pytest.approx(wanted, rel=1e-11, abs=1e-12)
    many = compare_means(values, **options, workers=4)
    np.testing.assert_equal(many.pvalue, found.pvalue)
    np.testing.assert_equal(many.interval, found.interval)
    some = compare_means(values, **options, pairs=[(4, 0), (1, 2)])
    np.testing.assert_equal(some.pvalue, found.pvalue[[3, 4]])
    if found.distribution == "normal":
        np.testing.assert_equal(some.statistic, [-1, 1] * found.statistic[[3, 4]])
