"""`max_t`: several comparisons on the same items, adjusted by sign flips."""

import numpy as np
import pytest
from reference_cases import expected, parametrize

from fastcmp import compare_means, max_t, mean_difference


@parametrize("max_t_sign_flip")
def test_references_agree(case):
    options = case["options"]
    table = np.transpose(case["input"]["d"])
    found = max_t(table, alternative=options["side"], step=options["step"])
    assert found.exact
    for name in ("statistic", "pvalue", "pvalue_adjusted"):
        assert getattr(found, name).tolist() == expected(case, name), name


def test_one_comparison_is_that_of_two_models():
    rng = np.random.default_rng(8)
    for n in (9, 40):
        a, b = rng.integers(0, 3, (2, n)).astype(float)
        groups = np.arange(n) // 3
        for known in ({}, {"groups": groups}):
            found = max_t(a - b, n_resamples=999, rng=2, **known)
            wanted = mean_difference(a, b, method="permutation", n_resamples=999, rng=2, **known)
            near = 1e-12 if found.exact else 0.02
            assert found.pvalue[0] == pytest.approx(wanted.pvalue, abs=near)
            assert found.pvalue_adjusted[0] == found.pvalue[0]
            assert found.difference[0] == pytest.approx(wanted.difference)


def test_all_pairs_are_those_of_compare_means():
    rng = np.random.default_rng(6)
    values = rng.normal(size=(4, 30))
    i, j = np.triu_indices(4, 1)
    found = max_t(values[i] - values[j], n_resamples=299, rng=5)
    pairs = compare_means(values, method="permutation", adjust="maxt", n_resamples=299, rng=5)
    np.testing.assert_allclose(found.pvalue_adjusted, pairs.pvalue_adjusted)


def test_clusters_are_flipped_as_a_whole():
    rng = np.random.default_rng(3)
    table, groups = rng.normal(size=(3, 24)), np.repeat(np.arange(8), 3)
    sums = table.reshape(3, 8, 3).sum(axis=2)
    found, wanted = max_t(table, groups=groups), max_t(sums)
    np.testing.assert_allclose(found.pvalue_adjusted, wanted.pvalue_adjusted)
    assert (found.n_clusters, found.n_items, found.n_resamples) == (8, 24, 256)
    assert "24 items in 8 clusters" in str(found)
    assert "all 256 sign flips of clusters" in str(found)


def test_without_any_difference():
    found = max_t({"a": [0, 0, 0], "b": [1, 1, 1]})
    assert found.statistic.tolist() == [0.0, np.inf]
    assert found.pvalue_adjusted.tolist() == [1.0, 0.25]
