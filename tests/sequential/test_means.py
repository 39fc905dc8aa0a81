"""Means of bounded values by betting."""

import math

import numpy as np
import pytest
import reference_cases
from hypothesis import given
from hypothesis import strategies as st
from reference_cases import expected

from fastcmp.sequential import MeanLooks, e_adjust, mean_test, normal_mixture_boundary


def some_grades():
    return np.clip(np.random.default_rng(4).normal(0.1, 0.4, 200), -1, 1)


@reference_cases.parametrize("paired_mean_confidence_sequence")
def test_empirical_bernstein(case):
    options = case["options"]
    known = {name: options[name] for name in ("truncation", "running_intersection")}
    known |= {"bounds": case["input"]["bounds"], "confidence_level": 1 - options["alpha"]}
    result = mean_test(case["input"]["d"], method="empirical-bernstein", **known)
    assert result.low == expected(case, "lower")
    assert result.high == expected(case, "upper")
    assert result.order_dependent


@reference_cases.parametrize("paired_mean_evalue")
def test_bets(case):
    options = {name: case["options"][name] for name in ("mean0", "bets")}
    options["bounds"] = case["input"]["bounds"]
    result = mean_test(case["input"]["d"], **options)
    assert result.evalue == expected(case, "evalue")
    state = MeanLooks(**options)
    for part in np.array_split(case["input"]["d"], 3):
        looks = state.update(part).look()
    assert looks.evalue[-1] == expected(case, "evalue")


@reference_cases.parametrize("e_adjust")
def test_adjusted_evalues(case):
    evalues, alpha = case["input"]["evalues"], case["input"]["alpha"]
    for method, key in (("e-bh", "e_bh"), ("e-holm", "e_holm")):
        adjusted = e_adjust(evalues, method=method)
        assert adjusted.tolist() == expected(case, f"{key}_adjusted")
        rejected = np.flatnonzero(adjusted >= 1 / alpha).tolist()
        assert rejected == case["expected"][f"{key}_rejected"]


@reference_cases.parametrize("normal_mixture_boundary")
def test_boundaries(case):
    given_case = case["input"]
    found = normal_mixture_boundary(
        given_case["v"], optimal_variance=given_case["v_opt"], alpha=given_case["alpha"]
    )
    assert found == expected(case, "bound")


# Means.


@pytest.mark.parametrize("method", ["bets", "empirical-bernstein"])
def test_scaled_and_mirrored_values(method):
    grades = some_grades()
    for alternative, other in (
        ("two-sided", "two-sided"),
        ("greater", "less"),
        ("less", "greater"),
    ):
        options = {"method": method, "alternative": alternative}
        one = mean_test(grades, mean0=0.05, **options)
        two = mean_test(3 + 2 * grades, mean0=3.1, bounds=(1, 5), **options)
        assert two.evalue == pytest.approx(one.evalue, rel=1e-9)
        ends = 3 + 2 * one.low, 3 + 2 * one.high
        assert (two.low, two.high) == pytest.approx(ends, abs=1e-9)
        three = mean_test(-grades, mean0=-0.05, method=method, alternative=other)
        assert three.evalue == pytest.approx(one.evalue, rel=1e-9)
        assert (three.low, three.high) == pytest.approx((-one.high, -one.low), abs=1e-9)


def test_one_sided_intervals_are_those_of_both_sides_at_another_level():
    grades = some_grades()
    both = mean_test(grades, confidence_level=0.9)
    up = mean_test(grades, alternative="greater", confidence_level=0.95)
    down = mean_test(grades, alternative="less", confidence_level=0.95)
    assert (up.low, up.high) == pytest.approx((both.low, 1.0), abs=1e-12)
    assert (down.low, down.high) == pytest.approx((-1.0, both.high), abs=1e-12)
    assert "one-sided 95% CI" in str(up)


def test_running_intersections_are_no_wider():
    grades = some_grades()[:80]
    options = {"method": "empirical-bernstein", "confidence_level": 0.8}
    last = mean_test(grades, **options)
    best = mean_test(grades, running_intersection=True, **options)
    assert last.low <= best.low <= best.high <= last.high
    looks = [mean_test(grades[: i + 1], **options) for i in range(grades.size)]
    assert best.low == max(look.low for look in looks)
    assert best.high == min(look.high for look in looks)


def test_an_interval_and_the_evalue_agree():
    grades = some_grades()
    result = mean_test(grades)
    for mean in np.linspace(-0.2, 0.4, 31):
        at = mean_test(grades, mean0=mean)
        inside = result.low < mean < result.high
        assert inside or at.evalue >= 20 - 1e-6
        assert not inside or at.evalue <= 20.5


def test_the_expectation_is_at_most_one():
    """Over all sequences of three values of each of two distributions."""
    points = np.array([-1.0, -0.2, 0.5, 1.0])
    for chances in ((0.2, 0.3, 0.4, 0.1), (0.05, 0.75, 0.0, 0.2)):
        mean = float(points @ chances)
        for alternative in ("two-sided", "greater", "less"):
            total = 0.0
            for which in np.ndindex(4, 4, 4):
                if chance := math.prod(chances[i] for i in which):
                    state = MeanLooks(mean0=mean, alternative=alternative)
                    looks = state.update(points[list(which)]).look()
                    total += chance * looks.evalue[0]
            assert total == pytest.approx(1.0, rel=1e-12)


def test_a_mean_at_a_bound_and_a_bet_that_loses_all():
    result = mean_test([1.0, 1.0, 0.5], mean0=1.0, alternative="less")
    assert result.evalue >= 1.0
    assert result.high == 1.0
    lost = mean_test([-1.0, 1.0], bets=[1.0])
    assert (lost.evalue, lost.pvalue) == (0.0, 1.0)
    one_sided = mean_test([0.5], bets=[0.5], alternative="greater")
    assert one_sided.evalue == 1.25
    for bet, side, sign in ((-0.5, "greater", "negative"), (0.5, "less", "positive")):
        with pytest.raises(ValueError, match=f"bets must not be {sign}"):
            mean_test([0.5], bets=[bet], alternative=side)


# While values come in.


def test_a_state_adds_up():
    grades = some_grades()
    parts = np.array_split(grades, 4)
    states = [MeanLooks(mean0=0.02).update(part) for part in parts]
    whole = MeanLooks(mean0=0.02).update(grades).look()
    for some in (states, states[::-1]):
        merged = sum(some).look()
        assert merged.log_evalue[0] == pytest.approx(whole.log_evalue[0], rel=1e-12)
        assert merged.low[0] == whole.low[0]
        assert merged.estimate[0] == pytest.approx(grades.mean(), rel=1e-12)
    assert whole.evalue[0] == pytest.approx(mean_test(grades, mean0=0.02).evalue)
    with pytest.raises(ValueError, match="merge where bounds agrees"):
        states[0].merge(MeanLooks(mean0=0.02, bounds=(-1, 2)))
    states[1].look()
    with pytest.raises(ValueError, match="before the other one has looked"):
        states[0].merge(states[1])


@pytest.mark.parametrize("bounds", [(-1, 1), (0, 1), (-3, 5)])
@given(st.lists(st.floats(0, 1), min_size=1, max_size=80))
def test_intervals_of_bins_hold_those_of_values(bounds, parts):
    low, high = bounds
    x = low + (high - low) * np.array(parts)
    found = MeanLooks(bounds=bounds, mean0=low).update(x).look()
    exact = mean_test(x, bounds=bounds, mean0=low)
    width = (high - low) / 4096
    assert exact.low - 10 * width <= found.low[0] <= exact.low + 1e-9
    assert exact.high - 1e-9 <= found.high[0] <= exact.high + 10 * width
    on_edges = low + (high - low) * np.round(np.array(parts) * 64) / 64
    found = MeanLooks(bounds=bounds, mean0=low).update(on_edges).look()
    exact = mean_test(on_edges, bounds=bounds, mean0=low)
    assert found.low[0] == pytest.approx(exact.low, abs=1e-9)
    assert found.high[0] == pytest.approx(exact.high, abs=1e-9)


def test_looks_at_a_mean():
    grades = some_grades()
    state = MeanLooks(alternative="greater", alpha=0.1)
    assert state.look().n_samples.tolist() == [0]
    for part in np.array_split(grades, 5):
        result = state.update(part).look()
    assert state.look() == result
    assert state.n_looks == 6
    assert result.decision.startswith("Decided at ")
    assert "the mean is above 0" in result.decision
    assert str(state).endswith("Values in [-1, 1].")
    below = MeanLooks().update(-np.ones(50)).look()
    assert "the mean is below 0" in below.decision
    with pytest.raises(ValueError, match="differences must lie within bounds"):
        state.update([0.5, 1.5])
    assert state.n_samples == 200


# Adjustment, and the boundary.


def test_boundaries_of_one_and_two_sides():
    v = np.array([0.0, 10.0, 50.0, 1e4])
    two = normal_mixture_boundary(v, optimal_variance=50, alpha=0.05)
    one = normal_mixture_boundary(v, optimal_variance=50, alpha=0.025, alternative="less")
    assert two.shape == (4,)
    # Half of the error on one side: nearly the same, never below.
    assert (one >= two).all()
    np.testing.assert_allclose(one, two, rtol=2e-3)
    narrow = normal_mixture_boundary(50, optimal_variance=50)
    for other in (20, 200):
        assert normal_mixture_boundary(50, optimal_variance=other) > narrow
    with pytest.raises(ValueError, match=r"alpha must be below 0\.5 for one side"):
        normal_mixture_boundary(1, optimal_variance=1, alpha=0.5, alternative="greater")
