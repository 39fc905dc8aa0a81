"""McNemar's test for clusters: references, matrices of the regression, and laws."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from libraries import stats
from reference_cases import expected, parametrize
from strategies import any_labels

import fastcmp
from fastcmp import mcnemar, mean_difference, records
from fastcmp.kernels import DEGENERATE

SANDWICH = ("cr2", "cr3", "cr1", "cr0")
NAMED = ("obuchowski", "durkalski", "yang", "eliasziw", "cluster-weighted", "mcnemar")
CELLS = ("both_right", "only_a", "only_b", "both_wrong")


def of_clusters(cells, **options):
    """Test counts by cluster in the order of a table."""
    right, only_a, only_b, wrong = cells
    both = {"both_right": right, "both_wrong": wrong}
    return mcnemar(only_a=only_a, only_b=only_b, **both, **options, groups=range(len(only_a)))


def cells_of(case):
    return [case["input"][name] for name in ("ak", "bk", "ck", "dk")]


@parametrize("clustered_mcnemar")
def test_against_references(case):
    found = of_clusters(cells_of(case), **case["options"])
    assert found.statistic == expected(case, "statistic")
    assert found.pvalue == expected(case, "pvalue")


@parametrize("clustered_paired_interval")
def test_intervals_against_references(case):
    found = of_clusters(cells_of(case))
    options = case["options"]
    ends = found.confidence_interval(options["confidence"], options["method"])
    assert found.difference == expected(case, "difference")
    assert list(ends) == expected(case, "ci")


@st.composite
def clusters(draw, max_clusters=9):
    """Draw counts of clusters, of which no one is empty."""
    k = draw(st.integers(2, max_clusters))
    cell = st.integers(0, 6)
    cells = [[draw(cell) for _ in range(4)] for _ in range(k)]
    return np.array([own if any(own) else [1, 0, 0, 0] for own in cells]).T


def samples_of(cells):
    """Write out what counts stand for: right answers of a and of b, and clusters."""
    kinds = np.array([[1, 1], [1, 0], [0, 1], [0, 0]])
    rows = [np.repeat(kinds, own, axis=0) for own in cells.T]
    groups = np.repeat(np.arange(cells.shape[1]), cells.sum(axis=0))
    return (*np.concatenate(rows).T, groups)


@pytest.mark.parametrize("method", SANDWICH)
@given(cells=clusters(5))
def test_sandwich_is_that_of_the_mean_difference(method, cells):
    found = of_clusters(cells, method=method)
    a, b, groups = samples_of(cells)
    wanted = mean_difference(a, b, groups=groups, variance=method)
    assert found.difference == pytest.approx(wanted.difference, abs=1e-12)
    assert found.df == pytest.approx(wanted.df, rel=1e-6)
    assert found.standard_error == pytest.approx(wanted.standard_error, rel=1e-7, abs=1e-12)
    if found.standard_error > 0:
        assert found.pvalue == pytest.approx(wanted.pvalue, rel=1e-6)


@given(cells=clusters())
def test_labels_and_counts_agree(cells):
    a, b, groups = samples_of(cells)
    order = np.random.default_rng(2).permutation(a.size)
    y, names = np.ones(a.size, int), np.array([f"g{x}" for x in groups])
    if a.size < 2:
        return
    with any_labels():
        found = mcnemar(y, a[order], b[order], groups=names[order])
    wanted = of_clusters(cells)
    assert found.pvalue == pytest.approx(wanted.pvalue, rel=1e-9)
    assert found.table.tolist() == wanted.table.tolist()


@pytest.mark.parametrize("method", SANDWICH + NAMED)
@given(cells=clusters())
def test_swapped_models(method, cells):
    for side, other in (("two-sided", "two-sided"), ("greater", "less"), ("less", "greater")):
        found = of_clusters(cells, method=method, alternative=side)
        swapped = of_clusters(cells[[0, 2, 1, 3]], method=method, alternative=other)
        assert swapped.pvalue == pytest.approx(found.pvalue, rel=1e-9, abs=1e-300)
        low, high = swapped.confidence_interval()
        assert (-high, -low) == pytest.approx(found.confidence_interval(), abs=1e-9)


@pytest.mark.parametrize("method", SANDWICH + NAMED)
def test_no_discordant_sample(method):
    found = of_clusters([[3, 1], [0, 0], [0, 0], [1, 2]], method=method)
    assert (found.statistic, found.pvalue) == (0, 1)
    assert found.status == DEGENERATE
    assert found.confidence_interval().low <= 0 <= found.confidence_interval().high


def test_the_same_difference_in_every_cluster():
    cells = [[2, 4, 6], [1, 2, 3], [0, 0, 0], [0, 0, 0]]
    found = of_clusters(cells)
    assert found.standard_error == 0
    assert np.isnan(found.statistic)
    assert (found.pvalue, found.status) == (2.0**-2, DEGENERATE)
    low, high = found.confidence_interval()
    assert low < found.difference < high
    assert "No variance was observed" in str(found)


@given(cells=clusters(6), alternative=st.sampled_from(["two-sided", "greater", "less"]))
def test_sign_flips_of_clusters(cells, alternative):
    found = of_clusters(cells, alternative=alternative)
    sums = cells[1] - cells[2]
    signs = np.array(list(product([1, -1], repeat=sums.size))) @ sums
    beyond = {
        "two-sided": np.abs(signs) >= abs(sums.sum()),
        "greater": signs >= sums.sum(),
        "less": signs <= sums.sum(),
    }[alternative]
    assert found.signflip_pvalue == pytest.approx(beyond.mean())
    assert "Sign flips of clusters" in str(found)


def test_cautions():
    cells = [[30, 1, 2], [4, 0, 1], [1, 1, 0], [9, 1, 0]]
    text = str(of_clusters(cells, method="obuchowski"))
    for part in ("degrees of freedom", "One cluster holds", "rarely rejects"):
        assert part in text.replace("\n", " ")
    even = np.ones((4, 40), int)
    assert of_clusters(even).cautions == ()
    assert "ignored" in str(of_clusters(even, method="mcnemar"))


def test_cluster_weighted_has_one_interval():
    cells = [[3, 2, 9], [1, 0, 4], [0, 1, 1], [2, 1, 0]]
    found = of_clusters(cells, method="cluster-weighted")
    each = (np.array(cells[1]) - cells[2]) / np.sum(cells, axis=0)
    wanted = stats.ttest_1samp(each, 0)
    assert found.difference == pytest.approx(each.mean())
    assert found.statistic == pytest.approx(wanted.statistic**2)
    low, high = wanted.confidence_interval(0.95)
    assert found.confidence_interval() == pytest.approx((max(low, -1), min(high, 1)))
    with pytest.raises(ValueError, match="method must be one of"):
        found.confidence_interval(method="cr2")


# Labels.

Y, A, B = [0, 1] * 10, [0, 1, 1, 1] * 5, [0, 1, 0, 0, 1] * 4
G = [i // 4 for i in range(20)]


def test_groups_are_dropped_with_their_samples():
    missing = [None, *Y[1:]]
    found = mcnemar(missing, A, B, groups=G)
    assert found.n_missing == 1
    assert found.pvalue == mcnemar(missing[1:], A[1:], B[1:], groups=G[1:]).pvalue
    y, a, b, g = np.array([Y, A, B, G])
    kept = g != 2
    chosen = mcnemar(np.where(kept, y, 7), a, b, classes=[0, 1], groups=g)
    assert (chosen.n_excluded, chosen.n_clusters) == (4, 4)
    assert chosen.pvalue == mcnemar(y[kept], a[kept], b[kept], groups=g[kept]).pvalue


@pytest.mark.parametrize(
    ("change", "wanted"),
    [
        ({"only_a": [1, 2, 3]}, "must broadcast to one shape"),
        ({"groups": [1, 2, 3]}, "one label for each of 2 items"),
        (
            {"both_right": [0, 1], "both_wrong": [0, 1]},
            "each of groups must hold a sample, 1 has none",
        ),
        ({"groups": [1, 1]}, "at least 2 clusters, got 1"),
    ],
)
def test_counts_without_meaning(change, wanted):
    with pytest.raises(ValueError, match=wanted):
        mcnemar(**({name: [0, 1] for name in CELLS} | {"groups": [1, 2]} | change))


def test_methods_of_clusters_need_clusters():
    for options, message in (
        ({"method": "cr2"}, "method must be one of"),
        ({"method": "midp", "groups": G}, "method must be one of"),
        ({"groups": G, "stratum_weights": "equal"}, "is for strata: pass strata="),
        ({"groups": [0] * 20}, "at least 2 clusters, got 1"),
    ):
        with pytest.raises(ValueError, match=message):
            mcnemar(Y, A, B, **options)


# Strata.


@pytest.mark.parametrize("method", SANDWICH)
def test_clusters_within_strata(method):
    rng = np.random.default_rng(11)
    groups, y = rng.integers(0, 12, 200), np.ones(200, int)
    a, b = rng.integers(0, 2, (2, 200))
    design = {"groups": groups, "strata": groups % 3, "stratum_weights": {0: 1, 1: 2, 2: 5}}
    with any_labels():
        found = mcnemar(y, a, b, method=method, **design)
    wanted = mean_difference(a, b, variance=method, **design)
    assert found.difference == pytest.approx(wanted.difference)
    assert found.accuracy_a - found.accuracy_b == pytest.approx(wanted.difference)
    assert found.standard_error == pytest.approx(wanted.standard_error)
    assert found.df == pytest.approx(wanted.df)
    assert (found.weighting, found.strata) == ("strata", ("0", "1", "2"))


def test_clusters_across_strata():
    rng = np.random.default_rng(12)
    groups, strata = rng.integers(0, 9, 150), rng.integers(0, 2, 150)
    y, a, b = rng.integers(0, 2, (3, 150))
    given = {"groups": groups, "strata": strata, "stratum_weights": "equal"}
    found = mcnemar(y, a, b, **given)
    wanted = mean_difference(a == y, b == y, variance="cr1", **given)
    assert (found.method, found.df) == ("cr1", 8)
    assert found.standard_error == pytest.approx(wanted.standard_error)
    for method, message in (
        ("cr2", "clusters that lie within strata"),
        ("cr3", "clusters that lie within strata"),
        ("obuchowski", "not defined for clusters in strata"),
    ):
        with pytest.raises(ValueError, match=message):
            mcnemar(y, a, b, method=method, **given)
    with pytest.raises(ValueError, match="not defined for clusters in strata"):
        found.confidence_interval(method="score")


def test_one_record_of_samples_clusters_and_strata():
    both = {"both_right": [3, 2, 1, 4], "both_wrong": [0, 0, 2, 1]}
    of_samples = fastcmp.mcnemar(only_a=[0, 1, 0, 0], only_b=[1, 2, 1, 0], **both)
    clustered = of_clusters([both["both_right"], [0, 1, 0, 0], [1, 2, 1, 0], both["both_wrong"]])
    stratified = fastcmp.mcnemar(
        only_a=[0, 1, 0, 0], only_b=[1, 2, 1, 0], **both, strata=range(len([0, 1, 0, 0]))
    )
    designs = [x.design for x in (of_samples, clustered, stratified)]
    assert designs == ["samples", "clusters", "strata"]
    assert clustered.n_samples == stratified.n_samples == of_samples.n_samples.sum()
    assert clustered.table.tolist() == stratified.table.tolist() == [[10, 1], [4, 3]]
    assert of_samples.n_clusters is stratified.n_clusters is None
    assert of_samples.total_pvalue is clustered.total_pvalue is None
    for call, message in (
        (clustered.heterogeneity_exact, "of samples in strata: pass strata="),
        (clustered.odds_ratio_interval, "leave out groups="),
        (lambda: clustered.power(n=100), "nothing is planned from McNemar's test of clusters"),
    ):
        with pytest.raises((TypeError, ValueError), match=message):
            call()
    with pytest.raises(AttributeError, match="ClusteredMcNemarResult is now McNemarResult"):
        _ = records.ClusteredMcNemarResult
