"""Shaffer's and Bergmann and Hommel's adjustments, held against all partitions."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference_cases import expected, parametrize
from strategies import pvalues

from fastcmp import adjust, cochrans_q, compare_all, load_digits
from fastcmp.kernels import bergmann_hommel, fewest_models

LOGICAL = ("shaffer", "bergmann-hommel")


def partitions(models):
    """List all partitions of some models into blocks."""
    if not models:
        yield []
        return
    first, *rest = models
    for blocks in partitions(rest):
        yield [[first], *blocks]
        for k, block in enumerate(blocks):
            yield [*blocks[:k], [first, *block], *blocks[k + 1 :]]


def true_together(n_models):
    """List the sets of pairs that can be true and all others false."""
    places = {pair: p for p, pair in enumerate(combinations(range(n_models), 2))}
    for blocks in partitions(list(range(n_models))):
        yield [places[i, j] for block in blocks for i in block for j in block if i < j]


def monotone(bounds, values):
    """Let no adjusted p-value be below that of a smaller p-value."""
    known = list(zip(values, bounds, strict=True))
    return [min(1.0, max(bound for q, bound in known if q <= p)) for p in values]


def shaffer(values, n_models):
    sizes = {len(pairs) for pairs in true_together(n_models)}
    ranks = np.empty(len(values), int)
    ranks[np.argsort(values, kind="stable")] = np.arange(len(values))
    most = [max(s for s in sizes if s <= len(values) - rank) for rank in ranks]
    return monotone([p * t for p, t in zip(values, most, strict=True)], values)


def bergmann(values, n_models):
    bounds = [0.0] * len(values)
    for pairs in true_together(n_models):
        for p in pairs:
            bound = len(pairs) * min(values[q] for q in pairs)
            bounds[p] = max(bounds[p], bound)
    return monotone(bounds, values)


@st.composite
def of_all_pairs(draw):
    """P-values of all pairs of 2 to 5 models."""
    n_models = draw(st.integers(2, 5))
    n_pairs = n_models * (n_models - 1) // 2
    some = draw(pvalues())
    scale = [0.9 ** (p // len(some)) for p in range(n_pairs)]
    return n_models, [some[p % len(some)] * x for p, x in enumerate(scale)]


@parametrize("p_adjust_logical")
def test_references_agree(case):
    values = case["input"]["pvalues"]
    for name in ("shaffer_static", "bergmann_hommel", "holm"):
        method = name.replace("_static", "")
        assert adjust(values, method=method).tolist() == expected(case, name), name


@given(of_all_pairs())
def test_all_partitions_agree(drawn):
    n_models, values = drawn
    for method, oracle in (("shaffer", shaffer), ("bergmann-hommel", bergmann)):
        found = adjust(values, method=method)
        wanted = oracle(values, n_models)
        np.testing.assert_allclose(found, wanted, rtol=1e-12, err_msg=method)


def test_possible_numbers_of_true_hypotheses():
    for n_models in range(2, 8):
        sizes = {len(pairs) for pairs in true_together(n_models)}
        fewest = fewest_models(n_models * (n_models - 1) // 2)
        assert set(np.flatnonzero(fewest <= n_models).tolist()) == sizes
    # Each by the numbers below: of all blocks, not only of the largest.
    fewest = fewest_models(3000)
    pairs = np.arange(3, 78) * np.arange(2, 77) // 2
    assert fewest[pairs].tolist() == list(range(3, 78))
    for s in range(2, 3001):
        g = np.arange(2, 79)
        left = s - g * (g - 1) // 2
        assert fewest[s] == (g + fewest[left])[left >= 0].min()


def test_a_thousand_models():
    values = np.full(499_500, 0.5)
    values[:2] = 1e-9, 2e-9
    adjusted = adjust(values, method="shaffer")
    # If one pair differs, one model leaves all others at the least.
    assert adjusted[:2].tolist() == pytest.approx([499_500e-9, 2 * 498_501e-9])
    assert adjusted[2] == 1.0


@pytest.mark.parametrize("method", LOGICAL)
def test_a_pair_without_a_test_counts_as_one_with_p_of_one(method):
    values = np.array([0.01, np.nan, 0.004, 0.2, np.nan, 0.03])
    adjusted = adjust(values, method=method)
    known = ~np.isnan(values)
    wanted = adjust(np.where(known, values, 1.0), method=method)
    np.testing.assert_array_equal(adjusted[known], wanted[known])
    assert np.isnan(adjusted[~known]).all()
    assert adjust(np.reshape(values, (2, 3)), method=method).shape == (2, 3)


def test_refusals():
    for method in LOGICAL:
        with pytest.raises(ValueError, match=r"M \(M - 1\) / 2 of them, got 4"):
            adjust([0.1] * 4, method=method)
        for options in ({"control": 0}, {"pairs": [(0, 1)]}):
            with pytest.raises(ValueError, match=f"adjust='{method}' is for all pairs"):
                compare_all(*load_digits(), adjust=method, **options)
    with pytest.raises(ValueError, match="at most 12 models, got 13: use 'shaffer'"):
        adjust([0.1] * 78, method="bergmann-hommel")


@pytest.mark.parametrize("method", LOGICAL)
def test_in_comparisons(method):
    y_true, preds = load_digits()
    result = compare_all(y_true, preds, adjust=method)
    wanted = adjust(result.pvalue, method=method)
    np.testing.assert_array_equal(result.pvalue_adjusted, wanted)
    assert result.rule == compare_all(y_true, preds).rule
    assert result.leaderboard.rank_interval is not None
    kept = compare_all(y_true, preds, adjust=method, keep="significant")
    assert kept.pvalue_adjusted.tolist() == wanted[wanted <= 0.05].tolist()
    pairs = cochrans_q(y_true, preds, post_hoc="midp", adjust=method).post_hoc
    np.testing.assert_array_equal(pairs.pvalue_adjusted, wanted)


def test_kernel_without_pairs():
    assert bergmann_hommel(np.array([0.25]), 2).tolist() == [0.25]
    assert fewest_models(0).tolist() == [0]
