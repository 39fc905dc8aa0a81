"""Bayesian tests of two models: peers, integrals, brute force and laws."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference_cases import expected, parametrize

from fastcmp import datasets

A = [0.91, 0.88, 0.73, 0.95, 0.81, 0.86, 0.79, 0.92]
B = [0.87, 0.85, 0.74, 0.91, 0.79, 0.80, 0.75, 0.92]
PROBABILITIES = ("p_a", "p_rope", "p_b")


def probabilities(found):
    return [getattr(found, name) for name in PROBABILITIES]


def scores_of(case):
    a, b = case["input"]["scores"]
    return a, b, {"lower_is_better": not case["input"]["higher_is_better"]}


@parametrize("bayes_correlated_t")
def test_correlated_t(case):
    a, b = case["input"]["scores_a"], case["input"]["scores_b"]
    found = datasets.bayes_correlated_t(a, b, **case["options"])
    for name in case["expected"]:
        assert getattr(found, name) == expected(case, name)
    options = dict(case["options"])
    assert options.pop("rho") == datasets.bayes_correlated_t(a, b, **options).rho


@parametrize("bayes_sign")
def test_sign(case):
    a, b, options = scores_of(case)
    found = datasets.bayes_sign(a, b, **case["options"], **options)
    assert list(found.counts) == case["expected"]["counts_a_rope_b"]
    assert found.alpha.tolist() == case["expected"]["alpha"]
    assert found.posterior_mean == expected(case, "mean")
    for name in (*PROBABILITIES, "p_a_above_b"):
        assert getattr(found, name) == expected(case, name)
    options = {**case["options"], "names": found.names}
    counted = datasets.bayes_sign(counts=found.counts, **options)
    assert probabilities(counted) == probabilities(found)


@parametrize("bayes_signed_rank")
def test_signed_rank(case):
    a, b, options = scores_of(case)
    found = datasets.bayes_signed_rank(a, b, **case["options"], **options, rng=1)
    assert found.posterior_mean == expected(case, "posterior_mean")
    for name in PROBABILITIES:
        assert getattr(found, name) == pytest.approx(
            case["expected"][name], abs=case["tolerance"]["pvalue_atol"]
        )


def draws_by_matrices(a, b, rope, boundary, n=4000):
    """Draw as baycomp does: all pairs of tasks for each draw."""
    z = np.append(np.rint(100 * (np.array(a) - b)), 0.0)
    sums = z[:, None] + z
    edge = np.rint(200 * rope)
    half = 0.5 if boundary == "half" else 0.0
    above = (sums > edge) + half * (sums == edge)
    below = (sums < -edge) + half * (sums == -edge)
    alpha = np.append(np.ones(len(a)), 0.5)
    w = np.random.default_rng(5).dirichlet(alpha, n)
    parts = [np.einsum("ri,ij,rj->r", w, x, w) for x in (above, below)]
    parts.insert(1, 1 - parts[0] - parts[1])
    return np.array(parts), above, below, alpha


@pytest.mark.parametrize("boundary", ["half", "rope"])
@pytest.mark.parametrize("rope", [0, 0.01, 0.04])
def test_draws_are_those_of_all_pairs_of_tasks(rope, boundary):
    rng = np.random.default_rng(3)
    a = rng.integers(70, 90, 12) / 100
    b = np.clip(a + rng.integers(-8, 7, 12) / 100, 0, 1)
    drawn, above, below, alpha = draws_by_matrices(a, b, rope, boundary)
    found = datasets.bayes_signed_rank(a, b, rope=rope, boundary=boundary, rng=1)
    chance = np.bincount(drawn.argmax(axis=0), minlength=3) / drawn.shape[1]
    assert probabilities(found) == pytest.approx(chance, abs=0.035)
    moments = np.outer(alpha, alpha) + np.diag(alpha)
    moments /= alpha.sum() * (alpha.sum() + 1)
    means = [(moments * above).sum(), (moments * below).sum()]
    assert found.posterior_mean[[0, 2]] == pytest.approx(means, abs=1e-14)
    assert found.p_a_above_b == pytest.approx(np.mean(drawn[0] > drawn[2]), abs=0.035)


COUNTS = st.integers(0, 60)


@settings(deadline=None, max_examples=25)
@given(COUNTS, COUNTS, st.integers(1, 60), st.sampled_from(["a", "rope", "b"]))
def test_probabilities_of_the_sign_test_add_up(n_a, n_rope, n_b, place):
    options = {"prior_strength": 0.7, "prior_place": place}
    found = datasets.bayes_sign(counts=(n_a, n_rope, n_b), **options)
    assert sum(probabilities(found)) == pytest.approx(1, abs=1e-12)
    swapped = {"a": "b", "b": "a"}.get(place, place)
    options |= {"prior_place": swapped}
    other = datasets.bayes_sign(counts=(n_b, n_rope, n_a), **options)
    assert probabilities(other)[::-1] == pytest.approx(probabilities(found), rel=1e-9)
    assert other.p_a_above_b == pytest.approx(1 - found.p_a_above_b, abs=1e-12)


def test_the_sign_test_without_draws():
    from scipy import integrate, stats

    found = datasets.bayes_sign(counts=(1, 3, 30))
    alpha = found.alpha

    def density(x):
        others = stats.gamma.cdf(x, alpha[1]) * stats.gamma.cdf(x, alpha[2])
        return stats.gamma.pdf(x, alpha[0]) * others

    wanted = integrate.quad(density, 0, 80, points=[20, 30], epsabs=0, limit=200)[0]
    assert found.p_a == pytest.approx(wanted, rel=1e-8)
    assert found.p_a < 1e-7


def test_components_without_weight():
    found = datasets.bayes_sign(counts=(3, 0, 1), prior_strength=0)
    assert found.p_rope == 0
    assert found.p_a == pytest.approx(found.p_a_above_b)
    only = datasets.bayes_sign(counts=(0, 5, 0))
    assert probabilities(only) == [0, 1, 0]
    assert only.p_a_above_b == 0.5
    assert only.decision == "rope"
    assert datasets.bayes_sign(counts=(5, 0, 0), prior_place="a").decision == "a"


@pytest.mark.parametrize(
    "test", [datasets.bayes_sign, datasets.bayes_signed_rank, datasets.bayes_correlated_t]
)
def test_swapped_models_and_losses(test):
    options = {"rng": 1, "z0": 0.02} if test is datasets.bayes_signed_rank else {}
    found = test(A, B, **options)
    losses = test([-x for x in A], [-x for x in B], rope=0.01, lower_is_better=True, **options)
    assert probabilities(losses) == probabilities(found)
    assert losses.difference == -found.difference
    assert found.better == losses.better == "a"
    other = test(B, A, **options | ({"z0": -0.02} if options else {}))
    assert probabilities(other)[::-1] == pytest.approx(probabilities(found), rel=1e-9)
    assert other.p_a_above_b == pytest.approx(1 - found.p_a_above_b, abs=1e-12)


def test_equal_models():
    for rope, wanted in ((0, [0.5, 0, 0.5]), (0.01, [0, 1, 0])):
        found = datasets.bayes_signed_rank(A, A, rope=rope, rng=1)
        assert probabilities(found) == wanted
        assert found.posterior_mean == pytest.approx(wanted)
        assert probabilities(datasets.bayes_correlated_t(A, A, rope=rope)) == wanted
    assert probabilities(datasets.bayes_signed_rank(A, A, rope=0, boundary="rope")) == [0, 1, 0]
    assert probabilities(datasets.bayes_sign(A, A, rope=0)) == [0, 1, 0]


def test_decimals_at_the_rope_are_within_it():
    a, b = [0.62, 0.3, 0.7, 0.9], [0.64, 0.29, 0.69, 0.91]
    assert datasets.bayes_sign(a, b, rope=0.02).counts == (0, 4, 0)
    assert datasets.bayes_sign(a, b, rope=0.01).counts == (0, 3, 1)
    same = [0.9, 0.8, 0.7, 0.6], [0.8, 0.7, 0.6, 0.5]
    found = datasets.bayes_correlated_t(*same, rope=0.1)
    assert (found.scale, probabilities(found)) == (0, [0, 1, 0])
    assert datasets.bayes_correlated_t(*same, rope=0.09).decision == "a"


def test_repetitions_as_rows():
    a, b = np.random.default_rng(4).random((2, 3, 5))
    flat = datasets.bayes_correlated_t(a.ravel(), b.ravel(), runs=3)
    assert datasets.bayes_correlated_t(a, b) == flat
    assert flat.rho == pytest.approx(0.2)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: datasets.bayes_sign(counts=(0, 0, 0)), "one task at least"),
        (lambda: datasets.bayes_sign([1.0], [2.0]), "two at least, got 1"),
        (lambda: datasets.bayes_sign([80, 90.0], [70.0, 60]), "rope must be given"),
        (lambda: datasets.bayes_sign([A, A], [B, B]), "folds and repetitions of a task"),
        (lambda: datasets.bayes_correlated_t(A, B, runs=8), "two folds at least"),
        (lambda: datasets.bayes_correlated_t(A, B, rho=1), r"rho must lie in \[0, 1\)"),
        (lambda: datasets.bayes_correlated_t([A], [B], runs=2), "number of rows"),
    ],
)
def test_refusals(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_several_numbers_of_tasks_are_refused():
    with pytest.raises(TypeError, match="n_a must be one number"):
        datasets.bayes_sign(counts=([1, 2], 0, 0))


def some_scores():
    return np.random.default_rng(5).integers(50, 70, (4, 12)) / 100


OPTIONS = {"rope": 0.02, "prior_strength": 0.7}
NAMES = ("p_a", "p_rope", "p_b", "p_a_above_b", "posterior_mean", "counts")


@pytest.mark.parametrize("scale", [1, np.pi / 4])
@pytest.mark.parametrize("method", ["sign", "signed-rank"])
def test_each_pair_is_as_alone(method, scale):
    scores, own = some_scores() * scale, dict(OPTIONS)
    more = {"n_resamples": 999, "rng": 3}
    test = datasets.bayes_sign if method == "sign" else datasets.bayes_signed_rank
    if method == "sign":
        own["prior_place"] = "a"
    else:
        own |= {"z0": -0.01, "boundary": "rope"}
    found = datasets.bayes_datasets(scores, method=method, **own, **more)
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
    if method == "sign" and scale == 1:
        losses = datasets.bayes_datasets(
            -scores, method=method, lower_is_better=True, **own, **more
        )
        assert np.array_equal(losses.p_a, found.p_a)


def test_the_best_by_random_weights():
    rng = np.random.default_rng(1)
    weights = rng.dirichlet(np.ones(12), 40_000)
    means = weights @ some_scores().T
    wanted = np.bincount(means.argmax(axis=1), minlength=4) / 40_000
    found = datasets.bayes_datasets(some_scores(), rank_by="mean score", method="sign", rng=1)
    assert found.best_probability == pytest.approx(wanted, abs=0.012)
    ranks = datasets.bayes_datasets(some_scores(), method="sign", rng=1).best_probability
    near = datasets.task_bootstrap(some_scores(), rng=1).best_probability
    assert ranks == pytest.approx(near, abs=0.06)
