"""Sets of ranks: csranks' numbers, brute force over the draws, and laws."""

from __future__ import annotations

from itertools import chain

import numpy as np
import pytest
from estimate_cases import estimates, random_estimates, spread
from hypothesis import given, settings
from hypothesis import strategies as st
from reference_cases import parametrize

from fastcmp import rank_sets_from_moments
from fastcmp.core.threads import ThreadPool
from fastcmp.pairwise.simulated_maxima import Maxima

SIDES = ["two-sided", "lower", "upper"]


@parametrize("rank_confidence_set")
def test_as_csranks(case):
    data, options, wanted = case["input"], case["options"], case["expected"]
    found = rank_sets_from_moments(
        data["estimate"],
        data["covariance"],
        side=options.get("type", "two-sided"),
        simultaneous=options.get("simultaneous", True),
        step_down=options.get("step_down", True),
        confidence_level=options["coverage"],
        rng=1,
    )
    if "tau" in options:
        names = [f"model_{i}" for i in wanted["included"]]
        assert sorted(found.tau_best(options["tau"])) == names
        return
    assert found.lower.tolist() == wanted["lower"]
    assert found.upper.tolist() == wanted["upper"]


def naive_sets(estimate, covariance, n_draws, *, models, side, level, step_down):
    """Test ordered pairs one by one, with the draws that the package makes."""
    m = len(estimate)
    errors = spread(covariance)
    with ThreadPool(1) as pool:
        draws = Maxima.of(covariance, n_draws, 1, pool)
    values = draws.draws.values
    if draws.smooth:
        values = np.concatenate([values, -values], axis=1)
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
        critical = draws.quantiles(np.maximum(largest, 0)[None], level)[0]
        new = {(i, j) for i, j in left if (estimate[i] - estimate[j]) / errors[i, j] > critical}
        shown |= new
        left -= new
        if not new or not step_down:
            break
    lower = [1 + sum(j == i for _, j in shown) for i in models]
    upper = [m - sum(j == i for j, _ in shown) for i in models]
    return lower, upper


@settings(max_examples=25, deadline=None)
@given(
    estimates(),
    st.sampled_from(SIDES),
    st.booleans(),
    st.booleans(),
    st.sampled_from([0.7, 0.95]),
    st.integers(0, 5),
)
def test_as_brute_force(case, side, simultaneous, step_down, level, n_left_out):
    estimate, covariance = case
    models = list(range(max(1, len(estimate) - n_left_out)))[::-1]
    found = rank_sets_from_moments(
        estimate,
        covariance,
        side=side,
        simultaneous=simultaneous,
        step_down=step_down,
        models=models,
        confidence_level=level,
        n_resamples=400,
        rng=1,
    )
    together = [models] if simultaneous else [[i] for i in models]
    options = {"side": side, "level": level, "step_down": step_down}
    parts = [naive_sets(estimate, covariance, 400, models=some, **options) for some in together]
    lower, upper = (list(chain.from_iterable(part[k] for part in parts)) for k in (0, 1))
    m = len(estimate)
    assert found.lower.tolist() == (lower if side != "upper" else [1] * len(models))
    assert found.upper.tolist() == (upper if side != "lower" else [m] * len(models))


@pytest.mark.parametrize("simultaneous", [True, False])
def test_many_models_as_brute_force(simultaneous):
    """Plain quantiles, and draws that are not looked at again."""
    estimate, covariance = random_estimates(34, 3)
    found = rank_sets_from_moments(
        estimate, covariance, n_resamples=60, rng=1, simultaneous=simultaneous
    )
    together = [range(34)] if simultaneous else [[i] for i in range(34)]
    parts = [
        naive_sets(
            estimate,
            covariance,
            60,
            models=some,
            side="two-sided",
            level=0.95,
            step_down=True,
        )
        for some in together
    ]
    assert found.lower.tolist() == list(chain.from_iterable(part[0] for part in parts))
    assert found.upper.tolist() == list(chain.from_iterable(part[1] for part in parts))


@settings(max_examples=10, deadline=None)
@given(estimates(), st.booleans(), st.randoms(use_true_random=False))
def test_order_shift_scale_and_sign_change_nothing(case, simultaneous, random):
    estimate, covariance = case
    order = list(range(len(estimate)))
    random.shuffle(order)
    options = {"simultaneous": simultaneous, "rng": 2, "n_resamples": 5000}
    found = rank_sets_from_moments(estimate, covariance, **options)
    other = rank_sets_from_moments(
        -7.0 * estimate[order] + 100.0,
        49.0 * covariance[np.ix_(order, order)] + 3.0,
        lower_is_better=True,
        **options,
    )
    # Of other draws: sets may differ where a statistic is near its critical value.
    assert np.abs(found.lower[order] - other.lower).max() <= 1
    assert np.abs(found.upper[order] - other.upper).max() <= 1
    assert (found.rank[order] == other.rank).all()


@settings(max_examples=10, deadline=None)
@given(estimates())
def test_steps_and_single_models_make_sets_no_larger(case):
    whole = rank_sets_from_moments(*case, step_down=False, rng=3, n_resamples=2000)
    steps = rank_sets_from_moments(*case, rng=3, n_resamples=2000)
    alone = rank_sets_from_moments(*case, simultaneous=False, rng=3, n_resamples=2000)
    assert (steps.lower >= whole.lower).all()
    assert (steps.upper <= whole.upper).all()
    assert (alone.lower >= steps.lower).all()
    assert (alone.upper <= steps.upper).all()
    assert (whole.lower <= whole.rank).all()
    assert (whole.rank <= whole.upper).all()


def test_models_that_are_the_same_and_sure_differences():
    same = np.full((3, 3), 1e-4)
    found = rank_sets_from_moments([0.5, 0.4, 0.4], same, rng=1)
    assert found.lower.tolist() == [1, 2, 2]
    assert found.upper.tolist() == [1, 3, 3]
    alone = rank_sets_from_moments([0.5, 0.4, 0.4], same, rng=1, simultaneous=False)
    assert alone.upper.tolist() == [1, 3, 3]


def test_the_best_and_the_worst():
    found = rank_sets_from_moments([3.0, 2.0, 1.0], [0.01, 0.01, 0.01], names=list("abc"), rng=1)
    assert found.tau_best(2) == ("a", "b")
    assert found.tau_worst(1) == ("c",)
    for options in ({"side": "upper"}, {"simultaneous": False}, {"models": [0, 1]}):
        sets = rank_sets_from_moments([3.0, 2.0, 1.0], [0.01] * 3, rng=1, **options)
        with pytest.raises(ValueError, match="tau needs simultaneous sets"):
            sets.tau_best(1)
    with pytest.raises(ValueError, match="tau must be at most 3"):
        found.tau_best(4)


def test_what_is_promised():
    text = str(rank_sets_from_moments([3.0, 2.0], [0.01, 0.01], rng=1))
    assert "true ranks of all 2 models lie within the sets at once" in " ".join(text.split())
    alone = rank_sets_from_moments(
        [3.0, 2.0], [0.01, 0.01], simultaneous=False, side="lower", rng=1
    )
    assert "lower ends of the set with 95% confidence, of that model alone" in " ".join(
        str(alone).split()
    )


@pytest.mark.parametrize(
    ("covariance", "message"),
    [
        ([[1.0, 2.0], [2.0, 1.0]], "positive semidefinite"),
        ([[1.0, 0.5], [0.2, 1.0]], "symmetric"),
        ([[-1.0, 0.0], [0.0, 1.0]], "positive semidefinite"),
        ([[np.nan, 0.0], [0.0, 1.0]], "finite"),
        ([1.0, 2.0, 3.0], r"shape \(2, 2\)"),
    ],
)
def test_bad_covariances(covariance, message):
    with pytest.raises(ValueError, match=message):
        rank_sets_from_moments([1.0, 2.0], covariance)


def test_covariance_with_a_negative_eigenvalue():
    covariance = [[1.0, 0.9, 0.0], [0.9, 1.0, 0.9], [0.0, 0.9, 1.0]]
    with pytest.raises(ValueError, match="negative eigenvalue"):
        rank_sets_from_moments([1.0, 2.0, 3.0], covariance)


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
        sets = rank_sets_from_moments(
            truth + root @ rng.normal(size=5),
            covariance,
            simultaneous=simultaneous,
            n_resamples=1000,
            rng=seed,
        )
        inside.append((sets.lower <= low) & (sets.upper >= high))
    each = np.array(inside)
    kept = each.all(axis=1).mean() if simultaneous else each.mean(axis=0).min()
    assert kept > 0.95 - 3 * np.sqrt(0.05 * 0.95 / 1000)
