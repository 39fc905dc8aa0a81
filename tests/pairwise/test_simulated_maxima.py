"""Quantiles and tails of maxima: against mvtnorm, exact distributions, brute force."""

from __future__ import annotations

import numpy as np
import pytest
from libraries import stats
from reference_cases import expected, parametrize

from fastcmp.core.threads import ThreadPool
from fastcmp.pairwise.simulated_maxima import (
    Maxima,
    order_statistics,
    read_draws,
)


def weights_of(covariance):
    own = np.diagonal(covariance)
    variance = own[:, None] + own - 2.0 * covariance
    np.fill_diagonal(variance, np.inf)
    return 1.0 / np.sqrt(variance)


@parametrize("simultaneous_pairs_gaussian")
def test_two_sided_maxima_of_all_pairs(case):
    covariance = np.array(case["input"]["covariance"])
    statistic = np.array(case["expected"]["statistic"])
    with ThreadPool(1) as pool:
        maxima = Maxima.of(covariance, 50_000, 1, pool)
        found = maxima.largest(weights_of(covariance))
        critical = maxima.quantiles(found, 0.95)[0]
        tails = maxima.tails(found[0], statistic)
    assert critical == expected(case, "critical_95")
    assert tails.tolist() == expected(case, "pvalue_adjusted")


@pytest.mark.parametrize("n_draws", [2000, 50_000])
def test_two_models_have_a_normal_difference(n_draws):
    with ThreadPool(1) as pool:
        maxima = Maxima.of(np.array([[2.0, 0.3], [0.3, 1.0]]), n_draws, 5, pool)
        found = maxima.largest(weights_of(np.array([[2.0, 0.3], [0.3, 1.0]])))
        critical = maxima.quantiles(found, 0.95)[0]
        tails = maxima.tails(found[0], np.array([-1.0, 1.0, 6.0]))
    assert critical == pytest.approx(stats.norm.ppf(0.975), rel=1e-5)
    wanted = [1.0, *2.0 * stats.norm.sf([1.0, 6.0])]
    np.testing.assert_allclose(tails, wanted, rtol=1e-4)


@pytest.mark.parametrize("n_models", [2, 40])
def test_one_pair_is_t(n_models):
    covariance, weights = np.eye(n_models), np.zeros((n_models, n_models))
    weights[0, 1] = weights[1, 0] = np.sqrt(0.5)
    with ThreadPool(1) as pool:
        maxima = Maxima.of(covariance, 20_000, 5, pool, df=6.0)
        found = maxima.largest(weights)
        critical = maxima.quantiles(found, 0.95)[0]
        tails = maxima.tails(found[0], np.array([1.0, 3.0]))
    near = 1e-5 if n_models == 2 else 0.03
    assert critical == pytest.approx(stats.t.ppf(0.975, 6), rel=near)
    assert tails == pytest.approx(2 * stats.t.sf([1.0, 3.0], 6), rel=4 * near)


def test_many_models_by_order_statistics():
    covariance = np.eye(40)
    weights = np.triu(np.ones((40, 40)), 1) + np.tril(np.ones((40, 40)), -1)
    with ThreadPool(1) as pool:
        maxima = Maxima.of(covariance, 700, 3, pool)
        found = maxima.largest(weights)
        rows = maxima.largest(weights[[4, 9]], np.array([4, 9]), apart=True)
        some = maxima.largest(weights, only=np.array([5, 600]))
        critical = maxima.quantiles(found, 0.9)
        tail = maxima.tails(found[0], critical)
    values = maxima.draws.values
    assert not maxima.smooth
    assert found[0] == pytest.approx(np.ptp(values, axis=0))
    assert rows == pytest.approx(values[[4, 9]] - values.min(axis=0))
    assert some[0] == pytest.approx(found[0, [5, 600]])
    assert np.count_nonzero(found[0] > critical) == 700 - np.ceil(0.9 * 701)
    assert tail == pytest.approx((2 + 700 - np.ceil(0.9 * 701)) / 701)


def test_threads_and_common_parts_change_nothing():
    root = np.random.default_rng(1).normal(size=(50, 60))
    covariance = root @ root.T
    weights = weights_of(covariance)
    found = []
    for workers, added in ((1, 0.0), (3, 0.0), (1, 100.0)):
        with ThreadPool(workers) as pool:
            maxima = Maxima.of(covariance + added, 2000, 1, pool)
            found.append(maxima.quantiles(maxima.largest(weights), 0.95)[0])
    assert found[0] == found[1]
    assert found[0] == pytest.approx(found[2], rel=1e-3)


def test_numbers_of_draws():
    assert read_draws(None, 5, 0.95) == 8_000
    assert read_draws(None, 40, 0.95) == 50_000
    assert read_draws(None, 10_000, 0.95) == 1000
    assert read_draws(None, 10_000, 0.999) == 50_000
    assert read_draws(20, 3, 0.95) == 20
    with pytest.raises(ValueError, match="n_resamples must be at least 20"):
        read_draws(19, 3, 0.95)
    assert order_statistics(np.arange(19.0)[None], 0.95) == [18.0]
    assert order_statistics(np.arange(39.0)[None], 0.95) == [37.0]
