"""`max_t`: several comparisons on the same items, adjusted by sign flips."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference_cases import expected, parametrize

from fastcmp import compare_means, max_t, mean_difference

SIDES = {"two-sided": np.abs, "greater": np.positive, "less": np.negative}


def students(table):
    """Paired t of each row; 0 where all differences are 0."""
    n = table.shape[-1]
    mean, deviation = table.mean(axis=-1), table.std(axis=-1, ddof=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = mean / (deviation / np.sqrt(n))
    return np.where(np.abs(mean) < 1e-12, 0.0, t)


def by_definition(table, side, down):
    """Adjust with the t of every flip: by the largest of the less extreme ones."""
    observed = SIDES[side](students(table))
    flips = np.array(list(product([1, -1], repeat=table.shape[1])))
    drawn = SIDES[side](np.array([students(table * signs) for signs in flips]))
    raw, adjusted = [], []
    for one in observed:
        slack = 1e-7 * max(1.0, min(abs(one), 1e6))
        others = observed <= one + slack if down else np.full(observed.shape, True)
        adjusted.append(np.mean(drawn[:, others].max(axis=1) >= one - slack))
    for k, one in enumerate(observed):
        slack = 1e-7 * max(1.0, min(abs(one), 1e6))
        raw.append(np.mean(drawn[:, k] >= one - slack))
    if down:
        adjusted = [
            max(p for p, x in zip(adjusted, observed, strict=True) if x >= one - 1e-9)
            for one in observed
        ]
    return raw, adjusted


@parametrize("max_t_sign_flip")
def test_references_agree(case):
    options = case["options"]
    table = np.transpose(case["input"]["d"])
    found = max_t(table, alternative=options["side"], step=options["step"])
    assert found.exact
    for name in ("statistic", "pvalue", "pvalue_adjusted"):
        assert getattr(found, name).tolist() == expected(case, name), name


@given(
    st.integers(1, 4),
    st.integers(2, 7),
    st.sampled_from(list(SIDES)),
    st.booleans(),
    st.integers(0, 2**31),
)
def test_all_flips_agree_with_the_definition(n_comparisons, n, side, down, seed):
    rng = np.random.default_rng(seed)
    values = rng.integers(-1, 2, (n_comparisons, n)).astype(float)
    if seed % 2:
        values = rng.normal(size=values.shape) * 10.0 ** rng.integers(-3, 4)
    step = "down" if down else "single"
    found = max_t(values, alternative=side, step=step)
    raw, adjusted = by_definition(values, side, down)
    np.testing.assert_allclose(found.pvalue, raw, atol=1e-12)
    np.testing.assert_allclose(found.pvalue_adjusted, adjusted, atol=1e-12)
    assert found.exact
    np.testing.assert_allclose(found.statistic, students(values), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("step", ["down", "single"])
@pytest.mark.parametrize("side", SIDES)
def test_laws(step, side):
    rng = np.random.default_rng(4)
    table = rng.normal(size=(5, 60)) + 0.3 * rng.normal(size=60)
    options = {"alternative": side, "step": step, "n_resamples": 400, "rng": 1}
    found = max_t(table, **options)
    assert (found.pvalue_adjusted >= found.pvalue).all()
    assert not found.exact
    assert found.pvalue.min() >= 1 / 401
    order = rng.permutation(5)
    again = max_t(table[order], **options)
    np.testing.assert_array_equal(again.pvalue_adjusted, found.pvalue_adjusted[order])
    np.testing.assert_array_equal(max_t(table, **options, workers=4), found)
    opposite = {"two-sided": "two-sided", "greater": "less", "less": "greater"}[side]
    turned = max_t(-table, **options | {"alternative": opposite})
    np.testing.assert_array_equal(turned.pvalue_adjusted, found.pvalue_adjusted)
    # In another unit, and less extreme comparisons may be scaled one by one.
    scaled = max_t(table * np.array([[3.0], [1e-3], [1e6], [1.0], [0.7]]), **options)
    np.testing.assert_array_equal(scaled.pvalue_adjusted, found.pvalue_adjusted)
    one = max_t(table, **options | {"step": "single"})
    assert (one.pvalue_adjusted >= found.pvalue_adjusted).all()


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
