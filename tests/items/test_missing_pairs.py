"""Pairs on the items that both models have: edges, and what is said of them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastcmp import compare_means, mean_difference


def table():
    return np.random.default_rng(3).normal(size=(4, 30))


def holes(seed=1):
    values = table()
    values[np.random.default_rng(seed).random(values.shape) < 0.2] = np.nan
    return values


@given(
    st.integers(0, 2**20),
    st.sampled_from(["cr0", "cr1", "cr2", "cr3"]),
    st.sampled_from(["satterthwaite", "clusters", "normal"]),
    st.sampled_from([0.0, 1e8]),
    st.booleans(),
)
def test_each_pair_alone(seed, variance, df, offset, clustered):
    values = np.round(holes(seed)[:3] * 64) / 64 + offset
    groups = np.arange(30) // 3 if clustered else None
    given = {"variance": variance, "df": df}
    result = compare_means(values, missing="pairwise", groups=groups, **given)
    for p, (i, j) in enumerate(result.pairs):
        both = ~np.isnan(values[i] - values[j])
        own = None if groups is None else groups[both]
        alone = mean_difference(values[i, both], values[j, both], groups=own, **given)
        assert result.difference[p] == pytest.approx(alone.difference, rel=1e-12, abs=1e-15)
        assert result.standard_error[p] == pytest.approx(alone.standard_error, rel=1e-9)
        assert result.pvalue[p] == pytest.approx(alone.pvalue, rel=1e-8)
        assert list(result.interval[p]) == pytest.approx(list(alone.interval), rel=1e-8)
        assert result.n_items_of_pairs[p] == both.sum()


def test_a_pair_without_common_items_is_not_tested():
    values = table()
    values[0, :15] = values[1, 15:] = np.nan
    result = compare_means(values, missing="pairwise")
    alone = result.pairs.tolist().index([0, 1])
    assert np.isnan(result.pvalue[alone])
    assert result.n_items_of_pairs[alone] == 0
    assert not np.isnan(np.delete(result.pvalue, alone)).any()
    assert "5 of 6 pairs tested" in str(result)
    values[0, 14] = 1.0
    values[1, 14] = 0.5  # one item is not enough
    assert np.isnan(compare_means(values, missing="pairwise").pvalue[alone])
    # Nor is one cluster.
    values[0, 12:14] = 1.0
    clusters = np.arange(30) // 15
    assert np.isnan(compare_means(values, missing="pairwise", groups=clusters).pvalue[alone])


def test_a_stratum_without_values():
    values = table()
    values[1, :10] = np.nan
    strata = np.repeat(["x", "y", "z"], 10)
    for policy, words in (
        ("pairwise", "model_1 has none in stratum 'x'"),
        ("common", "none of stratum 'x' is left"),
    ):
        with pytest.raises(ValueError, match=words):
            compare_means(values, strata=strata, missing=policy)


def test_the_weights_of_strata_stay():
    values, strata = table(), np.repeat([0, 1], 15)
    values[0, :10] = np.nan
    result = compare_means(values, strata=strata, missing="pairwise")
    both = slice(10, None)
    wanted = mean_difference(*values[:2, both], strata=strata[both], stratum_weights={0: 1, 1: 1})
    assert result.difference[0] == pytest.approx(wanted.difference)
    assert result.pvalue[0] == pytest.approx(wanted.pvalue)


def test_other_methods_are_refused():
    for method in ("permutation", "bootstrap", "wilcoxon"):
        with pytest.raises(ValueError, match="missing='pairwise' needs method='t'"):
            compare_means(table(), missing="pairwise", method=method)
    with pytest.raises(ValueError, match="needs means on the same items, not missing='pairwise'"):
        compare_means(table(), missing="pairwise", adjust="maxt")
