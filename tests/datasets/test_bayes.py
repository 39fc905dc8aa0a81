"""Bayesian tests of two models: peers, integrals, brute force and laws."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference_cases import expected, parametrize

from fastcmp.datasets import (
    bayes_correlated_t,
    bayes_sign,
    bayes_sign_from_counts,
    bayes_signed_rank,
)

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
    found = bayes_correlated_t(a, b, **case["options"])
    for name in case["expected"]:
        assert getattr(found, name) == expected(case, name)
    options = dict(case["options"])
    assert options.pop("rho") == bayes_correlated_t(a, b, **options).rho


@parametrize("bayes_sign")
def test_sign(case):
    a, b, options = scores_of(case)
    found = bayes_sign(a, b, **case["options"], **options)
    assert list(found.counts) == case["expected"]["counts_a_rope_b"]
    assert found.alpha.tolist() == case["expected"]["alpha"]
    assert found.posterior_mean == expected(case, "mean")
    for name in (*PROBABILITIES, "p_a_above_b"):
        assert getattr(found, name) == expected(case, name)
    options = {**case["options"], "names": found.names}
    counted = bayes_sign_from_counts(*found.counts, **options)
    assert probabilities(counted) == probabilities(found)


@parametrize("bayes_signed_rank")
def test_signed_rank(case):
    a, b, options = scores_of(case)
    found = bayes_signed_rank(a, b, **case["options"], **options, rng=1)
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
    found = bayes_signed_rank(a, b, rope=rope, boundary=boundary, rng=1)
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
    found = bayes_sign_from_counts(n_a, n_rope, n_b, **options)
    assert sum(probabilities(found)) == pytest.approx(1, abs=1e-12)
    swapped = {"a": "b", "b": "a"}.get(place, place)
    options |= {"prior_place": swapped}
    other = bayes_sign_from_counts(n_b, n_rope, n_a, **options)
    assert probabilities(other)[::-1] == pytest.approx(probabilities(found), rel=1e-9)
    assert other.p_a_above_b == pytest.approx(1 - found.p_a_above_b, abs=1e-12)


def test_the_sign_test_without_draws():
    from scipy import integrate, stats

    found = bayes_sign_from_counts(1, 3, 30)
    alpha = found.alpha

    def density(x):
        others = stats.gamma.cdf(x, alpha[1]) * stats.gamma.cdf(x, alpha[2])
        return stats.gamma.pdf(x, alpha[0]) * others

    wanted = integrate.quad(density, 0, 80, points=[20, 30], epsabs=0, limit=200)[0]
    assert found.p_a == pytest.approx(wanted, rel=1e-8)
    assert found.p_a < 1e-7


def test_components_without_weight():
    found = bayes_sign_from_counts(3, 0, 1, prior_strength=0)
    assert found.p_rope == 0
    assert found.p_a == pytest.approx(found.p_a_above_b)
    only = bayes_sign_from_counts(0, 5, 0)
    assert probabilities(only) == [0, 1, 0]
    assert only.p_a_above_b == 0.5
    assert only.decision == "rope"
    assert bayes_sign_from_counts(5, 0, 0, prior_place="a").decision == "a"


@pytest.mark.parametrize("test", [bayes_sign, bayes_signed_rank, bayes_correlated_t])
def test_losses_are_scores_of_the_other_sign(test):
    options = {"rng": 1} if test is bayes_signed_rank else {}
    found = test(A, B, **options)
    losses = test([-x for x in A], [-x for x in B], rope=0.01, lower_is_better=True, **options)
    assert probabilities(losses) == probabilities(found)
    assert losses.difference == -found.difference
    assert found.better == losses.better == "a"
    order = np.random.default_rng(1).permutation(8)
    shuffled = test(np.array(A)[order], np.array(B)[order], **options)
    assert probabilities(shuffled) == pytest.approx(probabilities(found), abs=0.01)
    assert "better" in str(found)


@pytest.mark.parametrize("test", [bayes_sign, bayes_signed_rank, bayes_correlated_t])
def test_swapped_models(test):
    options = {"rng": 1, "z0": 0.02} if test is bayes_signed_rank else {}
    found = test(A, B, **options)
    if options:
        options["z0"] = -0.02
    other = test(B, A, **options)
    assert probabilities(other)[::-1] == pytest.approx(probabilities(found), rel=1e-9)
    assert other.p_a_above_b == pytest.approx(1 - found.p_a_above_b, abs=1e-12)
    assert other.better == "b"


def test_equal_models():
    for rope, wanted in ((0, [0.5, 0, 0.5]), (0.01, [0, 1, 0])):
        found = bayes_signed_rank(A, A, rope=rope, rng=1)
        assert probabilities(found) == wanted
        assert found.posterior_mean == pytest.approx(wanted)
        assert probabilities(bayes_correlated_t(A, A, rope=rope)) == wanted
    assert probabilities(bayes_signed_rank(A, A, rope=0, boundary="rope")) == [0, 1, 0]
    assert probabilities(bayes_sign(A, A, rope=0)) == [0, 1, 0]


def test_decimals_at_the_rope_are_within_it():
    a, b = [0.62, 0.3, 0.7, 0.9], [0.64, 0.29, 0.69, 0.91]
    assert bayes_sign(a, b, rope=0.02).counts == (0, 4, 0)
    assert bayes_sign(a, b, rope=0.01).counts == (0, 3, 1)
    same = [0.9, 0.8, 0.7, 0.6], [0.8, 0.7, 0.6, 0.5]
    found = bayes_correlated_t(*same, rope=0.1)
    assert (found.scale, probabilities(found)) == (0, [0, 1, 0])
    assert bayes_correlated_t(*same, rope=0.09).decision == "a"


def test_repetitions_as_rows():
    a, b = np.random.default_rng(4).random((2, 3, 5))
    flat = bayes_correlated_t(a.ravel(), b.ravel(), runs=3)
    assert bayes_correlated_t(a, b) == flat
    assert flat.rho == pytest.approx(0.2)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: bayes_sign([1.0], [2.0]), "two at least, got 1"),
        (lambda: bayes_sign([80, 90.0], [70.0, 60]), "rope must be given"),
        (lambda: bayes_sign([A, A], [B, B]), "folds and repetitions of a task"),
        (lambda: bayes_sign_from_counts(0, 0, 0), "one task at least"),
        (lambda: bayes_correlated_t(A, B, runs=3), "runs must divide"),
        (lambda: bayes_correlated_t(A, B, runs=8), "two folds at least"),
        (lambda: bayes_correlated_t(A, B, rho=1), r"rho must lie in \[0, 1\)"),
        (lambda: bayes_correlated_t([A], [B], runs=2), "number of rows"),
    ],
)
def test_refusals(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_several_numbers_of_tasks_are_refused():
    with pytest.raises(TypeError, match="n_a must be one number"):
        bayes_sign_from_counts([1, 2], 0, 0)
