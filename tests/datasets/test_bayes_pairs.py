"""Bayesian tests of all pairs are those of two models, on the same draws."""

import numpy as np
import pytest

from fastcmp.datasets import bayes_datasets, bayes_sign, bayes_signed_rank, task_bootstrap


def some_scores():
    return np.random.default_rng(5).integers(50, 70, (4, 12)) / 100


OPTIONS = {"rope": 0.02, "prior_strength": 0.7}
NAMES = ("p_a", "p_rope", "p_b", "p_a_above_b", "posterior_mean", "counts")


@pytest.mark.parametrize("scale", [1, np.pi / 4])
@pytest.mark.parametrize("method", ["sign", "signed-rank"])
def test_each_pair_is_as_alone(method, scale):
    scores, own = some_scores() * scale, dict(OPTIONS)
    more = {"n_resamples": 999, "rng": 3}
    test = bayes_sign if method == "sign" else bayes_signed_rank
    if method == "sign":
        own["prior_place"] = "a"
    else:
        own |= {"z0": -0.01, "boundary": "rope"}
    found = bayes_datasets(scores, method=method, **own, **more)
    for p, (i, j) in enumerate(found.pairs):
        options = own if method == "sign" else own | more
        alone = test(scores[i], scores[j], **options)
        for name in NAMES:
            assert np.array_equal(getattr(found, name)[p], getattr(alone, name))
        assert found.decision[p] == alone.decision
        assert found.better[i, j] == alone.p_a
        assert found.better[j, i] == alone.p_b
        assert found.equal[i, j] == found.equal[j, i] == alone.p_rope
    assert found.best_probability.sum() == pytest.approx(1)


def test_losses_and_workers():
    found = bayes_datasets(some_scores(), rng=1, n_resamples=2000, workers=1)
    losses = bayes_datasets(
        -some_scores(), rope=0.01, lower_is_better=True, rng=1, n_resamples=2000, workers=3
    )
    assert np.array_equal(losses.p_a, found.p_a)
    assert np.array_equal(losses.best_probability, found.best_probability)
    seen = []
    bayes_datasets(some_scores(), rng=1, n_resamples=99, progress=lambda *x: seen.append(x))
    assert seen == [(6, 6)]


def test_the_best_by_random_weights():
    rng = np.random.default_rng(1)
    weights = rng.dirichlet(np.ones(12), 40_000)
    means = weights @ some_scores().T
    wanted = np.bincount(means.argmax(axis=1), minlength=4) / 40_000
    found = bayes_datasets(some_scores(), rank_by="mean score", method="sign", rng=1)
    assert found.best_probability == pytest.approx(wanted, abs=0.012)
    ranks = bayes_datasets(some_scores(), method="sign", rng=1).best_probability
    near = task_bootstrap(some_scores(), rng=1).best_probability
    assert ranks == pytest.approx(near, abs=0.06)
