"""Bootstrap intervals and permutation tests of AUCs."""

from itertools import product

import numpy as np
import pytest
import reference_cases

from fastcmp import auc, auc_bootstrap, auc_permutation_test, delong


def simulate(n=200, seed=0, gain=(1.0, 0.6)):
    rng = np.random.default_rng(seed)
    y_true = (np.arange(n) % 3 == 0).astype(int)
    common = rng.normal(size=n)
    scores = [common + rng.normal(size=n) + g * y_true for g in gain]
    return y_true, np.array(scores)


# The bootstrap.


@reference_cases.parametrize("auc_bootstrap")
def test_the_ideal_bootstrap(case):
    positives, negatives = case["input"]["pos"], case["input"]["neg"]
    y_true = [1] * len(positives) + [0] * len(negatives)
    draws = 100_000
    result = auc_bootstrap(y_true, positives + negatives, n_resamples=draws, rng=3)
    found, wanted = result.replicates[:, 0], case["expected"]
    error = np.sqrt(wanted["variance"] / draws)
    assert abs(found.mean() - wanted["mean"]) < 4 * error
    assert found.var() == pytest.approx(wanted["variance"], rel=0.03)
    for at, share in zip(wanted["cdf_at"], wanted["cdf"], strict=True):
        spread = np.sqrt(share * (1 - share) / draws)
        assert abs((found <= at + 1e-9).mean() - share) < 4 * spread


@pytest.mark.parametrize("workers", [2, 4, 7])
def test_the_same_for_any_number_of_workers(workers):
    y_true, scores = simulate(90)
    alone = auc_bootstrap(y_true, scores, n_resamples=500, rng=2, workers=1)
    many = auc_bootstrap(y_true, scores, n_resamples=500, rng=2, workers=workers)
    assert many == alone
    options = {"n_resamples": 500, "rng": 2}
    test = auc_permutation_test(y_true, *scores, **options, workers=1)
    assert auc_permutation_test(y_true, *scores, **options, workers=workers) == test


# The permutation test.


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_all_exchanges_of_a_small_sample(alternative):
    y_true = np.array([0, 0, 0, 0, 1, 1, 1])
    a, b = np.array([1, 2, 3, 5, 4, 6, 7.0]), np.array([3, 1, 6, 2, 2, 5, 4.0])
    ranks = [(x[:, None] > x).sum(1) + 0.5 * ((x[:, None] == x).sum(1) + 1) for x in (a, b)]
    null = []
    for swap in product([False, True], repeat=7):
        first, second = np.where(swap, ranks[1], ranks[0]), np.where(swap, *ranks)
        null.append(auc(y_true, first) - auc(y_true, second))
    null = np.array(null)
    observed = auc(y_true, a) - auc(y_true, b)
    extreme = {
        "two-sided": np.abs(null) >= abs(observed) - 1e-9,
        "greater": null >= observed - 1e-9,
        "less": null <= observed + 1e-9,
    }[alternative].mean()
    test = auc_permutation_test(y_true, a, b, n_resamples=40_000, alternative=alternative, rng=8)
    assert test.statistic == pytest.approx(observed)
    assert test.pvalue == pytest.approx(extreme, abs=0.012)


def test_models_exchanged():
    y_true, (a, b) = simulate(80)
    one = auc_permutation_test(y_true, a, b, n_resamples=300, rng=1)
    other = auc_permutation_test(y_true, b, a, n_resamples=300, rng=1)
    assert other.statistic == -one.statistic
    assert other.pvalue == one.pvalue


# Input and output.


def test_what_is_printed():
    y_true, scores = simulate(60)
    boot = auc_bootstrap(y_true, {"x": scores[0], "y": scores[0]}, n_resamples=99, rng=1)
    assert "99 stratified resamples of 20 positives and 40 negatives" in str(boot)
    assert (boot.compare().names, boot.compare().pvalue) == (("x", "y"), 1.0)
    test = auc_permutation_test(y_true, scores[0], scores[0], n_resamples=99, rng=1)
    assert "99 exchanges" in str(test)
    assert test.pvalue == 1.0


# Comparing models of a bootstrap.


def test_margins_of_the_bootstrap():
    rng = np.random.default_rng(2)
    y_true = np.arange(400) % 2
    common = rng.normal(size=400) + 1.5 * y_true
    scores = {"a": common + rng.normal(size=400) / 3, "b": common}
    boot = auc_bootstrap(y_true, scores, n_resamples=2000, rng=1)
    exact = delong(y_true, scores)
    for alternative in ("greater", "less"):
        options = {"alternative": alternative, "margin": 0.03}
        one, other = (boot.compare("a", "b", **options), exact.compare("a", "b", **options))
        assert one.pvalue == pytest.approx(other.pvalue, abs=0.02)
        assert (one.margin, one.distribution, one.df) == (0.03, "t", 199)
    both = boot.compare(0, 1, margin=0.03)
    assert both.pvalue == boot.compare(0, 1).pvalue
    one_sided = boot.compare(0, 1, margin=0.03, alternative="greater")
    assert both.margins.noninferiority_pvalue == pytest.approx(one_sided.pvalue)
