"""All pairs of models by a metric of counts, against sums over samples and cells."""

import numpy as np
import pytest
from reference_cases import parametrize

from fastcmp import compare_all, compare_metric, make_metric
from fastcmp.pairwise import metric_spread

RNG = np.random.default_rng(5)
N, K = 150, 3
Y = RNG.choice(K, N, p=[0.5, 0.3, 0.2])
PREDS = {
    name: np.where(RNG.random(N) < right, Y, RNG.integers(0, K, N))
    for name, right in zip("abcde", (0.9, 0.7, 0.8, 0.5, 0.75), strict=True)
}
GROUPS = RNG.integers(0, 25, N)
STRATA = GROUPS % 4
PAIRS = [(i, j) for i in range(5) for j in range(i + 1, 5)]
METRICS = ("f1_macro", "mcc", "balanced_accuracy", "kappa_quadratic", "accuracy")

#: What to change so that variances are found in one way.
WAYS = {
    "cells": ("_CELL", -1e9),
    "samples": ("_COMPARE", -1e9),
    "product": ("_LOOK_UP", -1e9),
}


def table_of(y, pred, weights=None):
    """Count a confusion matrix."""
    table = np.zeros((K, K))
    np.add.at(table, (y, pred), 1.0 if weights is None else weights)
    return table


def influences(estimator, y, pred, method, weights=None):
    """What each sample contributes, one by one."""
    weights = np.ones(y.size) if weights is None else weights
    table = table_of(y, pred, weights)
    if method == "delta":
        return estimator.influence(table)[y, pred]
    without = []
    for t, p, w in zip(y, pred, weights, strict=True):
        less = table.copy()
        less[t, p] -= w
        without.append(estimator.value(less))
    without = np.array(without)
    # (n - 1) (mean - without), in units of the sample's weight.
    return (table.sum() / weights - 1.0) * (
        (weights @ without) / weights.sum() - without
    )


def of_metric(metric):
    return make_metric(metric).bind(range(K))[0]


def brute_force(metric, method, i, j, groups=None, strata=None, weights=None):
    """The difference of two models and its variance, sample by sample."""
    estimator, names = of_metric(metric), list(PREDS)
    weights = np.ones(N) if weights is None else weights
    u = np.zeros(N)
    values = []
    for sign, name in ((1, names[i]), (-1, names[j])):
        values.append(estimator.value(table_of(Y, PREDS[name], weights)))
        u += sign * influences(estimator, Y, PREDS[name], method, weights)
    u *= weights / weights.sum()
    if groups is None:
        units, of_unit = u, np.zeros(N, int) if strata is None else strata
    else:
        kinds = np.unique(groups)
        units = np.array([u[groups == g].sum() for g in kinds])
        of_unit = np.zeros(kinds.size, int)
        if strata is not None:
            of_unit = np.array([strata[groups == g][0] for g in kinds])
    variance = 0.0
    for h in np.unique(of_unit):
        own = units[of_unit == h]
        centre = own.mean() if strata is not None else 0.0
        corrected = method == "jackknife" or groups is not None
        factor = own.size / (own.size - 1) if corrected else 1.0
        variance += factor * ((own - centre) ** 2).sum()
    return values[0] - values[1], variance


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("method", ["jackknife", "delta"])
@pytest.mark.parametrize("way", WAYS)
def test_standard_errors_are_sums_over_samples(metric, method, way, monkeypatch):
    monkeypatch.setattr(metric_spread, *WAYS[way])
    result = compare_all(Y, PREDS, metric=metric, method=method)
    for pair, (i, j) in enumerate(PAIRS):
        difference, variance = brute_force(metric, method, i, j)
        assert result.difference[pair] == pytest.approx(difference, abs=1e-14)
        assert result.standard_error[pair] == pytest.approx(variance**0.5, rel=1e-9)
        assert result.statistic[pair] == pytest.approx(
            difference / variance**0.5, rel=1e-8
        )


@pytest.mark.parametrize("metric", METRICS)
def test_a_pair_is_that_of_two_models(metric):
    names = list(PREDS)
    for method in ("jackknife", "delta"):
        result = compare_all(Y, PREDS, metric=metric, method=method)
        for pair, (i, j) in enumerate(PAIRS[:4]):
            two = compare_metric(
                Y, PREDS[names[i]], PREDS[names[j]], metric=metric, method=method
            )
            assert result.pvalue[pair] == pytest.approx(two.pvalue, rel=1e-9)
            assert result.statistic[pair] == pytest.approx(two.statistic, rel=1e-9)
    groups = compare_all(Y, PREDS, metric=metric, groups=GROUPS)
    two = compare_metric(Y, PREDS["a"], PREDS["b"], metric=metric, groups=GROUPS)
    assert groups.pvalue[0] == pytest.approx(two.pvalue, rel=1e-9)
    assert (groups.method, groups.df, groups.n_clusters) == ("delta", 24, 25)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("method", ["jackknife", "delta"])
def test_strata(metric, method):
    result = compare_all(Y, PREDS, metric=metric, method=method, strata=STRATA)
    assert result.n_strata == 4
    for pair, (i, j) in enumerate(PAIRS):
        found = brute_force(metric, method, i, j, strata=STRATA)
        assert result.difference[pair] == pytest.approx(found[0], abs=1e-14)
        assert result.standard_error[pair] ** 2 == pytest.approx(found[1], rel=1e-9)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("method", ["jackknife", "delta"])
@pytest.mark.parametrize("given", ["equal", {0: 1, 1: 2, 2: 0.5, 3: 3}])
def test_weighted_strata(metric, method, given):
    result = compare_all(
        Y, PREDS, metric=metric, method=method, strata=STRATA, stratum_weights=given
    )
    each = np.array([given[h] if isinstance(given, dict) else 1.0 for h in range(4)])
    weights = (each / each.sum() * N / np.bincount(STRATA))[STRATA]
    for pair, (i, j) in enumerate(PAIRS):
        found = brute_force(metric, method, i, j, strata=STRATA, weights=weights)
        assert result.difference[pair] == pytest.approx(found[0], abs=1e-13)
        assert result.standard_error[pair] ** 2 == pytest.approx(found[1], rel=1e-8)


@pytest.mark.parametrize("metric", METRICS)
def test_clusters_in_strata(metric):
    result = compare_all(Y, PREDS, metric=metric, strata=STRATA, groups=GROUPS)
    assert (result.df, result.n_strata, result.n_clusters) == (21, 4, 25)
    for pair, (i, j) in enumerate(PAIRS):
        found = brute_force(metric, "delta", i, j, GROUPS, STRATA)
        assert result.standard_error[pair] ** 2 == pytest.approx(found[1], rel=1e-9)


def test_clusters_across_strata():
    strata = np.arange(N) % 3
    result = compare_all(Y, PREDS, metric="f1_macro", strata=strata, groups=GROUPS)
    estimator = of_metric("f1_macro")
    u = influences(estimator, Y, PREDS["a"], "delta")
    u = (u - influences(estimator, Y, PREDS["b"], "delta")) / N
    u -= (np.bincount(strata, u) / np.bincount(strata))[strata]
    sums = np.bincount(GROUPS, u)
    assert result.standard_error[0] ** 2 == pytest.approx(25 / 24 * sums @ sums)


@parametrize("metric_covariance")
def test_covariances_of_reference(case):
    samples = np.repeat(*_cells(case))
    y, *preds = samples.T
    result = compare_all(y, preds, metric=case["options"]["metric"], method="delta")
    wanted = np.array(case["expected"]["covariance"])
    i, j = result.pairs.T
    variance = wanted[i, i] + wanted[j, j] - 2 * wanted[i, j]
    rtol = case["tolerance"]["rtol"]
    assert result.standard_error**2 == pytest.approx(variance, rel=rtol)
    assert result.score == pytest.approx(case["expected"]["values"], rel=rtol)


def _cells(case):
    cells = np.array(case["input"]["cells"])
    return cells[:, :-1], cells[:, -1], 0


@parametrize("metric_difference_cluster")
def test_clusters_of_reference(case):
    rows = np.array(case["input"]["cluster_cells"])
    cluster, y, a, b = np.repeat(rows[:, :4], rows[:, 4], axis=0).T
    metric = make_metric("kappa", weights=case["options"]["weights"])
    result = compare_all(y, [a, b], metric=metric, groups=cluster)
    wanted, rtol = case["expected"], case["tolerance"]["rtol"]
    assert result.difference[0] == pytest.approx(wanted["difference"], rel=rtol)
    assert result.standard_error[0] == pytest.approx(wanted["se"], rel=rtol)
    assert result.statistic[0] == pytest.approx(wanted["statistic"], rel=rtol)
    assert result.n_clusters == wanted["n_clusters"]
