"""McNemar's test in strata: references, enumeration, and laws."""

from itertools import product
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference_cases import expected, parametrize

from fastcmp import mcnemar, mean_difference
from fastcmp.kernels import DEGENERATE

small = st.integers(0, 5)
strata = st.lists(st.tuples(small, small), min_size=1, max_size=4)


def of_counts(only_a, only_b, weights=None, **options):
    """McNemar's test of strata, by what one sample of each counts."""
    counts = {"only_a": only_a, "only_b": only_b}
    if weights is not None:
        sizes = np.add(only_a, only_b) + 1
        counts |= {"both_right": np.ones(sizes.size, int), "both_wrong": 0 * sizes}
        options["stratum_weights"] = dict(enumerate(weights * sizes))
    return mcnemar(**counts, strata=range(len(only_a)), **options)


@parametrize("stratified_mcnemar")
def test_against_references(case):
    given = case["input"]
    counts, weights = (given["b"], given["c"]), given.get("weights")
    options = {"weights": weights, "alternative": case["options"]["alternative"]}
    found = of_counts(*counts, method="asymptotic", **options)
    exact = of_counts(*counts, method="exact", **options)
    assert found.zscore == expected(case, "z")
    assert found.statistic == expected(case, "statistic")
    assert found.pvalue == expected(case, "pvalue")
    assert exact.pvalue == expected(case, "exact_pvalue")
    if "odds_ratio" in case["expected"]:
        assert found.odds_ratio == expected(case, "odds_ratio")


@parametrize("mcnemar_heterogeneity")
def test_heterogeneity_against_references(case):
    found = mcnemar(
        only_a=case["input"]["b"], only_b=case["input"]["c"], strata=range(len(case["input"]["b"]))
    )
    assert found.heterogeneity_statistic == expected(case, "statistic")
    assert found.heterogeneity_df == case["expected"]["df"]
    assert found.heterogeneity_pvalue == expected(case, "pvalue")
    assert found.heterogeneity_exact() == expected(case, "pvalue_exact")
    assert found.total_statistic == expected(case, "total_statistic")
    assert found.total_pvalue == expected(case, "total_pvalue")


def signs(b, c, w):
    """All values of the weighted sum, and how often each occurs."""
    n = np.add(b, c)
    for ks in product(*[range(m + 1) for m in n]):
        ways = np.prod([comb(m, k) for m, k in zip(n.tolist(), ks, strict=True)])
        yield sum(x * (2 * k - m) for x, k, m in zip(w, ks, n, strict=True)), ways


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
@given(counts=strata, seed=st.integers(0, 2**32))
def test_exact_against_enumeration(alternative, counts, seed):
    b, c = np.array(counts).T
    w = np.random.default_rng(seed).choice([0.5, 1.0, 0.3, 2.0], b.size) + 0.1
    w[0] += 3.0  # so that not all are equal
    if b.size == 1:
        return
    observed = float(w @ (b - c))
    sums, ways = np.array([*signs(b, c, w)]).T
    beyond = {
        "two-sided": np.abs(sums) >= abs(observed) - 1e-9,
        "greater": sums >= observed - 1e-9,
        "less": sums <= observed + 1e-9,
    }[alternative]
    options = {"weights": w, "alternative": alternative}
    found = of_counts(b, c, method="exact", **options)
    assert found.pvalue == pytest.approx(ways[beyond].sum() / ways.sum(), rel=1e-12)
    if not (b + c).sum():
        return
    same = np.isclose(
        np.abs(sums) if alternative == "two-sided" else sums,
        abs(observed) if alternative == "two-sided" else observed,
    )
    midp = of_counts(b, c, method="midp", **options).pvalue
    half = 0.5 * ways[same].sum() / ways.sum()
    if alternative == "two-sided" and abs(observed) < 1e-9:
        half = 0.0  # twice one half, as without weights
    assert midp == pytest.approx(found.pvalue - half, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("power", [-300, 200])
def test_weights_of_any_size(power):
    weights = np.array([1.0, 3.0])
    for method in ("asymptotic", "exact", "midp"):
        wanted = of_counts([8, 1], [3, 4], weights=weights, method=method)
        scaled = weights * 10.0**power
        found = of_counts([8, 1], [3, 4], weights=scaled, method=method)
        assert found.pvalue == pytest.approx(wanted.pvalue, rel=1e-9)
        assert found.zscore == pytest.approx(wanted.zscore, rel=1e-9)


@pytest.mark.parametrize("method", ["midp", "exact", "asymptotic", "corrected"])
@given(counts=strata)
def test_strata_that_count_alike_drop_out(method, counts):
    b, c = np.array(counts).T
    found = mcnemar(only_a=b, only_b=c, method=method, strata=range(len(b)))
    pooled = mcnemar(only_a=b.sum(), only_b=c.sum(), method=method)
    assert (found.statistic, found.pvalue) == (pooled.statistic, pooled.pvalue)
    assert (found.distribution, found.df) == (pooled.distribution, pooled.df)


def test_weights_of_strata_of_labels():
    rng = np.random.default_rng(3)
    y, a, b = rng.integers(0, 2, (3, 90))
    h = np.repeat(["x", "y", "z"], [20, 30, 40])
    found = mcnemar(y, a, b, strata=h, stratum_weights="equal")
    means = mean_difference(a == y, b == y, strata=h, stratum_weights="equal")
    assert found.difference == pytest.approx(means.difference)
    assert found.confidence_interval() == pytest.approx(tuple(means.interval))
    assert found.distribution == "chi2"
    assert mcnemar(y, a, b, strata=h, stratum_weights={"x": 2, "y": 2, "z": 2}) == found
    items = mcnemar(y, a, b, strata=h)
    assert items.weights is None
    assert items.pvalue == mcnemar(y, a, b).pvalue
    assert items.confidence_interval() == mcnemar(y, a, b).confidence_interval()


def test_no_discordant_sample():
    for method in ("asymptotic", "exact", "midp"):
        found = of_counts([0, 0], [0, 0], weights=[1, 2], method=method)
        assert (found.pvalue, found.statistic, found.status) == (1, 0, DEGENERATE)
    assert found.heterogeneity_pvalue == found.total_pvalue == 1


@pytest.mark.parametrize(
    ("change", "wanted"),
    [
        ({"only_a": [1, 2, 3]}, "must broadcast to one shape"),
        ({"weights": [1.0]}, "must give a weight to each stratum"),
        ({"weights": [-1, 2]}, "must be finite, >= 0"),
        ({"method": "corrected", "weights": [1, 2]}, "method must be one of"),
        ({"only_a": [5000] * 2, "weights": [0.1, 0.7123], "method": "exact"}, "too long"),
    ],
)
def test_counts_without_meaning(change, wanted):
    given_ = {"only_a": [1, 2], "only_b": [5000, 3000], "strata": [0, 1]} | change
    if "weights" in given_:
        given_ |= {"both_right": 0, "both_wrong": 0}
        given_["stratum_weights"] = dict(enumerate(given_.pop("weights")))
    with pytest.raises(ValueError, match=wanted):
        mcnemar(**given_)
    with pytest.raises(ValueError, match="too long"):
        of_counts([5000] * 3, [4000, 3000, 2000]).heterogeneity_exact()
