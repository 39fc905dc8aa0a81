"""Bootstrap intervals and permutation tests of AUCs."""

import numpy as np
import pytest
import reference_cases

from fastcmp import auc_bootstrap, auc_permutation_test, delong


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
    draws = 30_000
    result = auc_bootstrap(y_true, positives + negatives, n_resamples=draws, rng=3)
    found, wanted = result.replicates[:, 0], case["expected"]
    error = np.sqrt(wanted["variance"] / draws)
    assert abs(found.mean() - wanted["mean"]) < 4 * error
    assert found.var() == pytest.approx(wanted["variance"], rel=0.03)
    for at, share in zip(wanted["cdf_at"], wanted["cdf"], strict=True):
        spread = np.sqrt(share * (1 - share) / draws)
        assert abs((found <= at + 1e-9).mean() - share) < 4 * spread


def test_the_same_for_any_number_of_workers():
    y_true, scores = simulate(90)
    options = {"n_resamples": 500, "rng": 2}
    alone = auc_bootstrap(y_true, scores, **options, workers=1)
    test = auc_permutation_test(y_true, *scores, **options, workers=1)
    for workers in (2, 7):
        assert auc_bootstrap(y_true, scores, **options, workers=workers) == alone
        assert auc_permutation_test(y_true, *scores, **options, workers=workers) == test
    assert "500 stratified resamples of 30 positives and 60 negatives" in str(alone)
    same = auc_permutation_test(y_true, scores[0], scores[0], n_resamples=99, rng=1)
    assert same.pvalue == 1.0


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
