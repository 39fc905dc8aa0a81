"""The winner's estimate: other programs' numbers, mpmath, laws, coverage."""

import numpy as np
import pytest
from estimate_cases import estimates, random_estimates
from hypothesis import given, settings
from hypothesis import strategies as st
from libraries import stats
from reference_cases import expected, parametrize

from fastcmp import Estimates, winner_estimate


@parametrize("winner_estimate")
def test_as_others(case):
    options, wanted = case["options"], case["expected"]
    given = {x: options.get(x) for x in ("beta", "projection_critical")}
    given |= {"method": options["method"].split()[0], "confidence_level": options["confidence"]}
    estimates = Estimates(case["input"]["estimate"], case["input"]["covariance"])
    found = winner_estimate(estimates, **given)
    assert found.index == wanted["winner"]
    name = "median" if "median" in wanted else "median_unbiased"
    assert found.median == expected(case, name)
    assert found.interval.low == expected(case, "lower")
    assert found.interval.high == expected(case, "upper")
    if "truncation" in wanted:
        ends = [float(end) for end in wanted["truncation"]]
        assert list(found.truncation) == pytest.approx(ends, rel=1e-7)


def test_simulated_critical_value():
    """Of five independent estimates it is known."""
    draws = {"n_resamples": 8000, "rng": 1}
    found = winner_estimate(Estimates([0.0, 1.0, 2.0, 3.0, 4.0], [1.0] * 5), **draws)
    exact = stats.norm.isf(0.5 * (1 - 0.995**0.2))
    assert found.projection_critical == pytest.approx(exact, rel=2e-3)
    assert found.beta == pytest.approx(0.005)
    alone = winner_estimate(Estimates([0.0, 1.0], [1.0, 1.0]), method="projection", **draws)
    half = stats.norm.isf(0.5 * (1 - 0.95**0.5))
    assert alone.interval == pytest.approx((1 - half, 1 + half), rel=1e-3)
    assert np.isnan(alone.median)


@pytest.mark.parametrize("gap", [1e-3, 0.1, 1.0])
def test_close_races(gap):
    """Far out the excess over the runner-up is exponential: p-quantiles of its truncation."""
    for level in (0.5, 0.95):
        found = winner_estimate(
            Estimates([gap, 0.0], [1.0, 0.0]), method="conditional", confidence_level=level, rng=1
        )
        for mean, p in zip(found.interval, (0.5 + level / 2, 0.5 - level / 2), strict=True):
            # P(X > gap | X > 0) of a normal X with this mean.
            tail = np.exp(stats.norm.logsf(gap - mean) - stats.norm.logsf(-mean))
            assert tail == pytest.approx(1 - p, rel=1e-6)


@settings(max_examples=15, deadline=None)
@given(estimates(), st.sampled_from(["conditional", "hybrid"]))
def test_laws(case, method):
    estimate, covariance = case
    options = {"method": method, "projection_critical": 3.0, "rng": 1}
    found = winner_estimate(Estimates(estimate, covariance), **options)
    other = winner_estimate(
        Estimates(3.0 - 2.0 * estimate, 4.0 * covariance, lower_is_better=True), **options
    )
    assert other.winner == found.winner
    near = {"rel": 1e-6, "abs": 1e-6}
    assert other.median == pytest.approx(3.0 - 2.0 * found.median, **near)
    ends = [3.0 - 2.0 * end for end in reversed(found.interval)]
    assert list(other.interval) == pytest.approx(ends, **near)
    assert found.interval.low <= found.median <= found.interval.high
    order = np.arange(len(estimate))[::-1]
    turned = winner_estimate(
        Estimates(estimate[order], covariance[np.ix_(order, order)]), **options
    )
    assert turned.median == pytest.approx(found.median, **near)


def test_a_clear_winner_is_not_corrected():
    found = winner_estimate(Estimates([0.9, 0.1], [1e-4, 1e-4]), method="conditional")
    assert found.median == pytest.approx(0.9, rel=1e-12)
    assert found.interval == pytest.approx(found.naive_interval, rel=1e-12)


def test_ties_have_the_simultaneous_interval():
    for method in ("conditional", "hybrid"):
        found = winner_estimate(Estimates([0.5, 0.5, 0.4], [1e-4] * 3), method=method, rng=1)
        assert found.method == "projection"
        assert "tie for first place" in found.cautions[0]
        assert np.isnan(found.median)
        half = 0.01 * stats.norm.isf(0.5 * (1 - 0.95 ** (1 / 3)))
        assert found.interval == pytest.approx((0.5 - half, 0.5 + half), rel=1e-3)
    # A copy of the winner is no rival.
    same = np.array([[1e-4, 1e-4, 0], [1e-4, 1e-4, 0], [0, 0, 1e-4]])
    alike = winner_estimate(Estimates([0.5, 0.5, 0.4], same), rng=1)
    assert alike.method == "hybrid"


def test_an_estimate_that_does_not_vary():
    found = winner_estimate(Estimates([0.5, 0.4], [0.0, 1e-4]), rng=1)
    assert found.interval == (0.5, 0.5)
    assert "does not vary" in found.cautions[0]


@pytest.mark.full
@pytest.mark.parametrize("method", ["conditional", "hybrid", "projection"])
def test_coverage_and_median(method):
    rng = np.random.default_rng(5)
    truth = np.array([0.1, 0.1, 0.0, 0.05])
    _, covariance = random_estimates(4, 8)
    root = np.linalg.cholesky(covariance)
    inside, above = [], []
    for seed in range(2000):
        found = winner_estimate(
            Estimates(truth + root @ rng.normal(size=4), covariance),
            method=method,
            projection_critical=None if method == "projection" else 3.1,
            n_resamples=500,
            rng=seed,
        )
        low, high = found.interval
        inside.append(low <= truth[found.index] <= high)
        above.append(found.median > truth[found.index])
    assert np.mean(inside) > 0.95 - 3 * np.sqrt(0.05 * 0.95 / 2000)
    if method == "conditional":
        assert np.mean(above) == pytest.approx(0.5, abs=0.035)
        assert np.mean(inside) == pytest.approx(0.95, abs=0.015)
