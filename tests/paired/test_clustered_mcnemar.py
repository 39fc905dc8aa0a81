"""McNemar's test for clusters: references, matrices of the regression, and laws."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from libraries import linalg, stats
from reference_cases import expected, parametrize
from strategies import any_labels

from fastcmp import (
    mcnemar,
    mcnemar_clustered_from_counts,
    mcnemar_from_counts,
    mcnemar_stratified_from_counts,
    records,
)
from fastcmp.kernels import DEGENERATE

SANDWICH = ("cr2", "cr3", "cr1", "cr0")
NAMED = ("obuchowski", "durkalski", "yang", "eliasziw", "cluster-weighted", "mcnemar")
CELLS = ("both_right", "only_a", "only_b", "both_wrong")
SWAPPED = {"greater": "less", "less": "greater", "two-sided": "two-sided"}


def of_clusters(cells, **options):
    """Test counts by cluster in the order of a table."""
    right, only_a, only_b, wrong = cells
    both = {"both_right": right, "both_wrong": wrong}
    return mcnemar_clustered_from_counts(only_a, only_b, **both, **options)


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


def oracle(cells, method):
    """Bell and McCaffrey with all matrices written out: estimate, variance, d.o.f."""
    a, b, groups = samples_of(cells)
    d, n, g = (a - b).astype(float), a.size, cells.shape[1]
    rest, hat = np.eye(n) - 1 / n, np.full((n, n), 1 / n)
    variance, vectors = 0.0, []
    for own in range(g):
        members = np.flatnonzero(groups == own)
        block = np.eye(members.size) - hat[np.ix_(members, members)]
        weight = {
            "cr0": np.eye(members.size),
            "cr1": np.eye(members.size) * np.sqrt(g / (g - 1)),
            "cr2": linalg.inv(linalg.sqrtm(block).real),
            "cr3": linalg.inv(block),
        }[method]
        vector = (np.ones(members.size) / n) @ weight @ rest[members]
        variance += (vector @ d) ** 2
        vectors.append(vector)
    products = np.array(vectors) @ np.array(vectors).T
    df = np.trace(products) ** 2 / (products**2).sum()
    return d.mean(), variance, df


@pytest.mark.parametrize("method", SANDWICH)
@given(cells=clusters(5))
def test_sandwich_is_that_of_the_regression(method, cells):
    found = of_clusters(cells, method=method)
    mean, variance, df = oracle(cells, method)
    assert found.difference == pytest.approx(mean, abs=1e-12)
    assert found.df == pytest.approx(df, rel=1e-6)
    assert found.standard_error**2 == pytest.approx(variance, rel=1e-7, abs=1e-20)
    if found.standard_error > 0:
        t = found.difference / found.standard_error
        assert found.pvalue == pytest.approx(2 * stats.t.sf(abs(t), found.df), rel=1e-9)


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


@pytest.mark.parametrize("alternative", SWAPPED)
@pytest.mark.parametrize("method", SANDWICH + NAMED)
@given(cells=clusters())
def test_swapped_models_and_clusters_in_another_order(method, alternative, cells):
    options = {"method": method, "alternative": alternative}
    found = of_clusters(cells, **options)
    shuffled = of_clusters(cells[:, ::-1], **options)
    swapped = of_clusters(cells[[0, 2, 1, 3]], method=method, alternative=SWAPPED[alternative])
    for other, sign in ((shuffled, 1), (swapped, -1)):
        assert other.pvalue == pytest.approx(found.pvalue, rel=1e-9, abs=1e-300)
        assert other.difference == pytest.approx(sign * found.difference, abs=1e-12)
        low, high = other.confidence_interval()
        ends = (low, high) if sign > 0 else (-high, -low)
        assert ends == pytest.approx(found.confidence_interval(), abs=1e-9)


@pytest.mark.parametrize("method", NAMED)
@given(counts=st.tuples(*[st.integers(0, 9)] * 4))
def test_clusters_of_one_are_no_clusters(method, counts):
    cells = np.repeat(np.eye(4, dtype=int), counts, axis=1)
    g = cells.shape[1]
    if g < 2:
        return
    found = of_clusters(cells, method=method)
    plain = mcnemar_from_counts(counts[1], counts[2], method="asymptotic")
    # Small-sample factors, and t in place of the null variance.
    mean = (counts[1] - counts[2]) / g
    spread = (counts[1] + counts[2]) / g - mean**2
    factor = {
        "obuchowski": (g - 1) / g,
        "yang": (g - 1) / g * (spread + mean**2) / (spread + mean**2 / 2)
        if spread + mean**2
        else 1,
        "cluster-weighted": (spread + mean**2) * (g - 1) / (g * spread) if spread else np.nan,
    }.get(method, 1.0)
    if not np.isnan(factor):
        assert found.statistic == pytest.approx(plain.statistic * factor, rel=1e-9)


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


@given(cells=clusters(6), alternative=st.sampled_from(list(SWAPPED)))
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
        ({"only_a": [1, 2, 3]}, "one entry a cluster"),
        ({"only_a": 3}, "one entry a cluster"),
        ({"both_right": [0, 1], "both_wrong": [0, 1]}, "a sample in each cluster"),
        ({name: [1] for name in CELLS}, "2 clus"),
    ],
)
def test_counts_without_meaning(change, wanted):
    with pytest.raises(ValueError, match=wanted):
        mcnemar_clustered_from_counts(**({name: [0, 1] for name in CELLS} | change))
    with pytest.raises(ValueError, match="at least 2 clusters, got 1"):
        mcnemar(Y, A, B, groups=[0] * 20)


def test_methods_of_clusters_need_clusters():
    with pytest.raises(ValueError, match="method must be one of"):
        mcnemar(Y, A, B, method="cr2")
    with pytest.raises(ValueError, match="method must be one of"):
        mcnemar(Y, A, B, method="midp", groups=G)
    with pytest.raises(ValueError, match=r"stratum_weights=.* is for strata: pass strata="):
        mcnemar(Y, A, B, groups=G, stratum_weights="equal")


# Strata.


def by_strata(d, groups, strata, weights, method):
    """The weighted mean, and the variances of its strata, one by one."""
    mean = variance = lost = 0.0
    for h, weight in enumerate(weights):
        own = d[strata == h]
        places = np.unique(groups[strata == h], return_inverse=True)[1]
        sizes, sums = np.bincount(places), np.bincount(places, own)
        cells = np.zeros((4, len(sizes)), int)
        cells[1], cells[2] = np.maximum(sums, 0), np.maximum(-sums, 0)
        cells[3] = sizes - cells[1] - cells[2]
        one = of_clusters(cells.astype(int), method=method)
        part = weight**2 * one.standard_error**2
        mean, variance = mean + weight * one.difference, variance + part
        lost += part**2 / one.df
    return mean, variance, variance**2 / lost


@pytest.mark.parametrize("method", SANDWICH)
def test_clusters_within_strata(method):
    rng = np.random.default_rng(11)
    groups = rng.integers(0, 12, 200)
    strata, y = groups % 3, np.ones(200, int)
    a, b = rng.integers(0, 2, (2, 200))
    weights = {0: 1, 1: 2, 2: 5}
    with any_labels():
        found = mcnemar(
            *(y, a, b), method=method, groups=groups, strata=strata, stratum_weights=weights
        )
    mean, variance, df = by_strata(a - b, groups, strata, np.array([1, 2, 5]) / 8, method)
    assert found.difference == pytest.approx(mean)
    assert found.accuracy_a - found.accuracy_b == pytest.approx(mean)
    assert found.standard_error**2 == pytest.approx(variance)
    assert found.df == pytest.approx(df)
    assert (found.weighting, found.strata) == ("strata", ("0", "1", "2"))


def test_clusters_across_strata():
    rng = np.random.default_rng(12)
    groups, strata = rng.integers(0, 9, 150), rng.integers(0, 2, 150)
    y, a, b = rng.integers(0, 2, (3, 150))
    given = {"groups": groups, "strata": strata, "stratum_weights": "equal"}
    found = mcnemar(y, a, b, **given)
    d, psi = (a == y) * 1.0 - (b == y), np.zeros(9)
    for h in (0, 1):
        own = strata == h
        np.add.at(psi, groups[own], 0.5 * (d[own] - d[own].mean()) / own.sum())
    assert (found.method, found.df) == ("cr1", 8)
    assert found.standard_error**2 == pytest.approx(9 / 8 * (psi**2).sum())
    for method in ("cr2", "cr3"):
        with pytest.raises(ValueError, match="clusters that lie within strata"):
            mcnemar(y, a, b, method=method, **given)
    with pytest.raises(ValueError, match="not defined for clusters in strata"):
        mcnemar(y, a, b, method="obuchowski", **given)
    with pytest.raises(ValueError, match="not defined for clusters in strata"):
        found.confidence_interval(method="score")


def test_one_record_of_samples_clusters_and_strata():
    both = {"both_right": [3, 2, 1, 4], "both_wrong": [0, 0, 2, 1]}
    of_samples = mcnemar_from_counts([0, 1, 0, 0], [1, 2, 1, 0], **both)
    clustered = of_clusters([both["both_right"], [0, 1, 0, 0], [1, 2, 1, 0], both["both_wrong"]])
    stratified = mcnemar_stratified_from_counts([0, 1, 0, 0], [1, 2, 1, 0], **both)
    designs = [x.design for x in (of_samples, clustered, stratified)]
    assert designs == ["samples", "clusters", "strata"]
    assert clustered.n_samples == stratified.n_samples == of_samples.n_samples.sum()
    assert clustered.table.tolist() == stratified.table.tolist() == [[10, 1], [4, 3]]
    assert of_samples.n_clusters is stratified.n_clusters is None
    assert of_samples.total_pvalue is clustered.total_pvalue is None
    with pytest.raises(ValueError, match="of samples in strata: pass strata="):
        clustered.heterogeneity_exact()
    with pytest.raises(ValueError, match="leave out groups="):
        clustered.odds_ratio_interval()
    with pytest.raises(TypeError, match="nothing is planned from McNemar's test of clusters"):
        clustered.power(n=100)
    with pytest.raises(AttributeError, match="ClusteredMcNemarResult is now McNemarResult"):
        _ = records.ClusteredMcNemarResult
