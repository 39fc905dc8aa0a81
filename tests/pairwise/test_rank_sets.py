"""Sets of ranks: csranks' numbers, brute force over the draws, and laws."""

import numpy as np
import pytest
from cases import thinned
from estimate_cases import estimates, random_estimates, spread
from hypothesis import given, settings
from hypothesis import strategies as st
from reference_cases import parametrize

from fastcmp import Estimates, rank_sets

SIDES = ["two-sided", "lower", "upper"]


@parametrize("rank_confidence_set")
def test_as_csranks(case):
    data, options, wanted = case["input"], case["options"], case["expected"]
    given = {x: options[x] for x in ("simultaneous", "step_down") if x in options}
    given |= {"side": options.get("type", "two-sided"), "confidence_level": options["coverage"]}
    found = rank_sets(Estimates(data["estimate"], data["covariance"]), rng=1, **given)
    if "tau" in options:
        names = [f"model_{i}" for i in wanted["included"]]
        assert sorted(found.tau_best(options["tau"])) == names
        return
    assert found.lower.tolist() == wanted["lower"]
    assert found.upper.tolist() == wanted["upper"]


def naive_sets(estimate, covariance, wider, *, models, side, level, step_down):
    """Test ordered pairs one by one, with draws of its own and a wider critical value."""
    m = len(estimate)
    errors = spread(covariance)
    rng = np.random.default_rng(9)
    values = rng.multivariate_normal(np.zeros(m), covariance, 8000, check_valid="ignore").T
    pairs = {
        (i, j)
        for i in range(m)
        for j in range(m)
        if i != j and ((side != "lower" and i in models) or (side != "upper" and j in models))
    }
    shown = {p for p in pairs if errors[p] == 0 and estimate[p[0]] > estimate[p[1]]}
    left = {p for p in pairs if errors[p] > 0}
    while left:
        largest = np.max([(values[i] - values[j]) / errors[i, j] for i, j in left], 0)
        critical = wider * np.quantile(np.maximum(largest, 0), level) + wider - 1
        new = {(i, j) for i, j in left if (estimate[i] - estimate[j]) / errors[i, j] > critical}
        shown |= new
        left -= new
        if not new or not step_down:
            break
    lower = [1 + sum(j == i for _, j in shown) for i in models]
    upper = [m - sum(j == i for j, _ in shown) for i in models]
    return np.array([lower, upper])


def between(found, estimate, covariance, simultaneous, models, **options):
    """Hold sets between those of critical values that are a little too low and too high."""
    together = [models] if simultaneous else [[i] for i in models]
    narrow, wide = (
        np.concatenate(
            [naive_sets(estimate, covariance, x, models=some, **options) for some in together], 1
        )
        for x in (0.95, 1.05)
    )
    m, side = len(estimate), options["side"]
    lower = (1, 1) if side == "upper" else (wide[0], narrow[0])
    upper = (m, m) if side == "lower" else (narrow[1], wide[1])
    assert ((lower[0] <= found.lower) & (found.lower <= lower[1])).all()
    assert ((upper[0] <= found.upper) & (found.upper <= upper[1])).all()


@settings(max_examples=25, deadline=None)
@given(
    *(estimates(), st.sampled_from(SIDES), st.booleans(), st.booleans()),
    *(st.sampled_from([0.7, 0.95]), st.integers(0, 5)),
)
def test_as_brute_force(case, side, simultaneous, step_down, level, n_left_out):
    estimate, covariance = case
    models = list(range(max(1, len(estimate) - n_left_out)))[::-1]
    options = {"side": side, "step_down": step_down}
    drawn = {"confidence_level": level, "n_resamples": 8000, "rng": 1, "models": models}
    found = rank_sets(
        Estimates(estimate, covariance), simultaneous=simultaneous, **options, **drawn
    )
    between(found, estimate, covariance, simultaneous, models, level=level, **options)


@pytest.mark.parametrize("simultaneous", thinned([True, False], 2))
def test_many_models_as_brute_force(simultaneous):
    """Plain quantiles, and draws that are not looked at again."""
    estimate, covariance = random_estimates(34, 3)
    options = {"side": "two-sided", "level": 0.95, "step_down": True}
    found = rank_sets(
        Estimates(estimate, covariance), n_resamples=3000, rng=1, simultaneous=simultaneous
    )
    between(found, estimate, covariance, simultaneous, list(range(34)), **options)


def test_models_that_are_the_same_and_sure_differences():
    same = np.full((3, 3), 1e-4)
    found = rank_sets(Estimates([0.5, 0.4, 0.4], same), rng=1)
    assert found.lower.tolist() == [1, 2, 2]
    assert found.upper.tolist() == [1, 3, 3]
    alone = rank_sets(Estimates([0.5, 0.4, 0.4], same), rng=1, simultaneous=False)
    assert alone.upper.tolist() == [1, 3, 3]


def test_the_best_and_the_worst():
    found = rank_sets(Estimates([3.0, 2.0, 1.0], [0.01, 0.01, 0.01], names=list("abc")), rng=1)
    assert found.tau_best(2) == ("a", "b")
    assert found.tau_worst(1) == ("c",)
    for options in ({"side": "upper"}, {"simultaneous": False}, {"models": [0, 1]}):
        sets = rank_sets(Estimates([3.0, 2.0, 1.0], [0.01] * 3), rng=1, **options)
        with pytest.raises(ValueError, match="tau needs simultaneous sets"):
            sets.tau_best(1)
    with pytest.raises(ValueError, match="tau must be at most 3"):
        found.tau_best(4)


def test_what_is_promised():
    text = str(rank_sets(Estimates([3.0, 2.0], [0.01, 0.01]), rng=1))
    assert "true ranks of all 2 models lie within the sets at once" in " ".join(text.split())
    alone = rank_sets(Estimates([3.0, 2.0], [0.01, 0.01]), simultaneous=False, side="lower", rng=1)
    assert "lower ends of the set with 95% confidence, of that model alone" in " ".join(
        str(alone).split()
    )


def test_covariance_with_a_negative_eigenvalue():
    covariance = [[1.0, 0.9, 0.0], [0.9, 1.0, 0.9], [0.0, 0.9, 1.0]]
    with pytest.raises(ValueError, match="negative eigenvalue"):
        rank_sets(Estimates([1.0, 2.0, 3.0], covariance))


@pytest.mark.full
@pytest.mark.parametrize("simultaneous", [True, False])
def test_coverage(simultaneous):
    """All true ranks lie in the sets at least as often as promised."""
    rng = np.random.default_rng(5)
    truth = np.array([0.0, 0.0, 0.1, 0.5, 0.5])
    _, covariance = random_estimates(5, 8)
    root = np.linalg.cholesky(covariance)
    # Of equal models the least and the greatest rank that ties allow.
    low = 1 + (truth[:, None] < truth).sum(axis=1)
    high = (truth[:, None] <= truth).sum(axis=1)
    inside = []
    for seed in range(1000):
        sets = rank_sets(
            Estimates(truth + root @ rng.normal(size=5), covariance),
            simultaneous=simultaneous,
            n_resamples=1000,
            rng=seed,
        )
        inside.append((sets.lower <= low) & (sets.upper >= high))
    each = np.array(inside)
    kept = each.all(axis=1).mean() if simultaneous else each.mean(axis=0).min()
    assert kept > 0.95 - 3 * np.sqrt(0.05 * 0.95 / 1000)
