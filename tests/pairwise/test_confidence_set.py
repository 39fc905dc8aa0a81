"""Model confidence sets: arch's numbers, brute force, laws."""

import numpy as np
import pytest
from estimate_cases import estimates, losses_of
from hypothesis import given, settings
from hypothesis import strategies as st
from libraries import stats
from reference_cases import expected, parametrize

from fastcmp import Estimates, model_confidence_set


@parametrize("model_confidence_set")
def test_as_arch(case):
    options = case["options"]
    indices = case["input"].get("bootstrap_indices")
    given = {"method": options["method"], "alpha": options["size"], "bootstrap_indices": indices}
    given |= {"n_resamples": options.get("draws", 1), "rng": 1, "lower_is_better": True}
    found = model_confidence_set(losses_of(case).T, **given)
    assert found.pvalue.tolist() == expected(case, "pvalue")
    included = sorted(f"model_{i}" for i in case["expected"]["included"])
    assert sorted(found.included) == included
    assert found.distribution == ("t" if indices is None else "bootstrap")


def naive_set(losses, indices, method):
    """Leave models out as Hansen, Lunde and Nason do; p-values in that order."""
    m = losses.shape[1]
    mean = losses.mean(axis=0)
    errors = np.array([losses[rows].mean(axis=0) - mean for rows in indices])
    left, order, pvalues = list(range(m)), [], []
    while len(left) > 1:
        if method == "max":
            drawn = errors[:, left] - errors[:, left].mean(axis=1, keepdims=True)
            deviation = np.sqrt((drawn**2).mean(axis=0))
            statistic = (mean[left] - mean[left].mean()) / deviation
            maxima = (drawn / deviation).max(axis=1)
            worst, largest = left[int(np.argmax(statistic))], statistic.max()
        else:
            pairs = [(i, j) for i in left for j in left if i != j]
            drawn = np.array([errors[:, i] - errors[:, j] for i, j in pairs])
            deviation = np.sqrt((drawn**2).mean(axis=1))
            found = np.array([mean[i] - mean[j] for i, j in pairs]) / deviation
            maxima = (drawn / deviation[:, None]).max(axis=0)
            worst, largest = pairs[int(np.argmax(found))][0], found.max()
        pvalues.append(np.mean(maxima > largest + 1e-9))
        order.append(worst)
        left.remove(worst)
    found = np.ones(m)
    found[order] = np.maximum.accumulate(pvalues)
    return found


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 1000), st.integers(2, 5), st.sampled_from(["R", "max"]))
def test_bootstrap_as_brute_force(seed, m, method):
    rng = np.random.default_rng(seed)
    losses = rng.normal(size=(15, m)).round(2) + 0.3 * np.arange(m)
    indices = rng.integers(0, 15, (40, 15))
    found = model_confidence_set(
        losses.T, lower_is_better=True, method=method, bootstrap_indices=indices
    )
    assert found.pvalue == pytest.approx(naive_set(losses, indices, method))
    assert found.seed is None
    assert found.n_resamples == 40


@pytest.mark.parametrize("method", ["R", "max"])
def test_two_models_are_a_z_test(method):
    found = model_confidence_set(Estimates([0.9, 0.8], [0.001, 0.002]), method=method, rng=1)
    z = 0.1 / np.sqrt(0.003)
    assert found.statistic[1] == pytest.approx(z)
    wanted = 2.0 * stats.norm.sf(z)
    assert found.pvalue.tolist() == pytest.approx([1.0, wanted], rel=1e-3)


@settings(max_examples=10, deadline=None)
@given(estimates(4), st.sampled_from(["R", "max"]))
def test_models_that_are_the_same_count_once(case, method):
    estimate, covariance = case
    twice = [0, *range(len(estimate)), 0]
    found = model_confidence_set(Estimates(estimate, covariance), method=method, rng=2)
    other = model_confidence_set(
        Estimates(estimate[twice], covariance[np.ix_(twice, twice)]), method=method, rng=2
    )
    np.testing.assert_allclose(other.pvalue, found.pvalue[twice], atol=1e-9)


@pytest.mark.parametrize("method", ["R", "max"])
def test_a_sure_difference(method):
    found = model_confidence_set(
        Estimates([0.5, 0.4, 0.5], np.full((3, 3), 1e-4)), method=method, rng=1
    )
    assert sorted(found.included) == ["model_0", "model_2"]
    assert found.statistic[1] == np.inf


@pytest.mark.full
@pytest.mark.parametrize("method", ["R", "max"])
def test_coverage(method):
    rng = np.random.default_rng(4)
    shift = np.array([0.0, 0.0, 0.0, -0.15, -0.5])
    kept = 0
    for seed in range(1000):
        values = rng.normal(size=(5, 200)) + shift[:, None] + rng.normal(size=200)
        found = model_confidence_set(values, method=method, n_resamples=500, rng=seed)
        kept += bool((found.pvalue[:3] > 0.05).all())
    assert kept / 1000 > 0.95 - 3 * np.sqrt(0.05 * 0.95 / 1000)
