"""Multiple comparison with the best: mvtnorm's numbers, brute force, laws."""

import numpy as np
import pytest
from estimate_cases import estimates, random_estimates, spread
from hypothesis import given, settings
from libraries import stats
from reference_cases import expected, parametrize

from fastcmp import Estimates, best_set


@parametrize("best_set_mcb")
def test_as_mvtnorm(case):
    found = best_set(
        Estimates(case["input"]["estimate"], case["input"]["covariance"]),
        confidence_level=1 - case["options"]["alpha"],
        n_resamples=8000,
        rng=1,
    )
    assert found.critical_value.tolist() == expected(case, "critical")
    assert found.lower.tolist() == expected(case, "lower")
    assert found.upper.tolist() == expected(case, "upper")
    best = [f"model_{i}" for i in case["expected"]["best_set"]]
    assert sorted(found.best) == best


def naive_best(estimate, covariance, critical):
    """Follow Hsu's definition model by model, with known critical values."""
    m, errors = len(estimate), spread(covariance)
    upper = np.array(
        [
            min(estimate[i] - estimate[j] + critical[i] * errors[i, j] for j in range(m) if j != i)
            for i in range(m)
        ]
    )
    best = {i for i in range(m) if upper[i] > 0}
    lower = [
        min([0.0] + [estimate[i] - estimate[j] - critical[j] * errors[i, j] for j in best - {i}])
        for i in range(m)
    ]
    return np.array(lower), np.maximum(upper, 0.0), best


def naive_critical(covariance, level):
    """The quantile of each model's largest lead, by draws of its own."""
    m, errors = len(covariance), spread(covariance)
    rng = np.random.default_rng(9)
    values = rng.multivariate_normal(np.zeros(m), covariance, 20_000, check_valid="ignore").T
    leads = [
        np.max([(values[i] - values[j]) / errors[i, j] for j in range(m) if j != i], axis=0)
        for i in range(m)
    ]
    return np.quantile(np.maximum(leads, 0.0), level, axis=1)


@settings(max_examples=15, deadline=None)
@given(estimates())
def test_as_brute_force(case):
    found = best_set(Estimates(*case), confidence_level=0.9, n_resamples=20_000, rng=1)
    critical = found.critical_value
    np.testing.assert_allclose(critical, naive_critical(case[1], 0.9), rtol=0.04, atol=0.02)
    lower, upper, best = naive_best(*case, critical)
    np.testing.assert_allclose(found.lower, lower, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(found.upper, upper, rtol=1e-9, atol=1e-12)
    assert set(np.flatnonzero(found.may_be_best)) == best


def test_many_models_are_screened():
    estimate, covariance = random_estimates(70, 3, closeness=3.0)
    found = best_set(Estimates(estimate, covariance), n_resamples=5000, rng=1)
    wanted = naive_critical(covariance, 0.95)
    known = ~np.isnan(found.critical_value)
    np.testing.assert_allclose(found.critical_value[known], wanted[known], rtol=0.04)
    _, upper, best = naive_best(estimate, covariance, np.where(known, found.critical_value, 9.0))
    assert set(np.flatnonzero(found.may_be_best)) <= best
    assert len(found.best) <= np.count_nonzero(known) < 70
    np.testing.assert_allclose(found.upper[known], upper[known], atol=1e-4)
    assert (found.upper[~known] == 0).all()


def test_two_models_are_a_one_sided_test():
    found = best_set(Estimates([0.9, 0.8], [0.001, 0.002]), rng=1)
    reach = stats.norm.ppf(0.95) * np.sqrt(0.003)
    assert found.upper == pytest.approx([0.1 + reach, max(0.0, reach - 0.1)], rel=1e-4)
    assert found.lower[1] == pytest.approx(-0.1 - reach, rel=1e-4)


def test_numbers_of_draws():
    for n_models, level, least, most in (
        *((5, 0.95, 512, 2000), (34, 0.95, 1000, 6000), (34, 0.999, 50_000, 700_000)),
        (700, 0.95, 1000, 1000),
    ):
        options = {"confidence_level": level, "rng": 1}
        found = best_set(Estimates(np.arange(n_models) * 0.1, np.ones(n_models)), **options)
        assert least <= found.n_resamples <= most
        given = best_set(
            *(Estimates(np.arange(n_models) * 0.1, np.ones(n_models)),),
            **options,
            n_resamples=found.n_resamples,
        )
        np.testing.assert_allclose(found.upper, given.upper, atol=0.1)
    with pytest.raises(ValueError, match="n_resamples must be at least 20"):
        best_set(Estimates([1.0, 2.0], [1.0, 1.0]), n_resamples=19)


def test_models_that_are_the_same():
    same = np.array([[1e-4, 1e-4, 0.0], [1e-4, 1e-4, 0.0], [0.0, 0.0, 1e-4]])
    found = best_set(Estimates([0.5, 0.5, 0.4], same), rng=1)
    assert found.best == ("model_0", "model_1")
    assert found.lower[:2].tolist() == found.upper[:2].tolist() == [0.0, 0.0]
    alike = best_set(Estimates([0.5, 0.5], np.full((2, 2), 1e-4)), rng=1)
    assert alike.may_be_best.all()
    shifted = best_set(Estimates([0.5, 0.4], np.full((2, 2), 1e-4)), rng=1)
    assert shifted.best == ("model_0",)
    assert shifted.lower.tolist() == pytest.approx([0.0, -0.1])
    assert shifted.upper.tolist() == pytest.approx([0.1, 0.0])


@pytest.mark.full
@pytest.mark.parametrize("gap", [0.0, 0.3])
def test_coverage(gap):
    rng = np.random.default_rng(5)
    truth = np.array([gap, 0.0, 0.0, -0.2, -1.0])
    _, covariance = random_estimates(5, 8)
    root = np.linalg.cholesky(covariance)
    others = [np.delete(truth, i).max() for i in range(5)]
    lead, inside, holds = truth - others, 0, 0
    for seed in range(1000):
        found = best_set(
            Estimates(truth + root @ rng.normal(size=5), covariance), n_resamples=1000, rng=seed
        )
        inside += bool(((found.lower <= lead) & (lead <= found.upper)).all())
        holds += bool(found.may_be_best[0])
    assert inside / 1000 > 0.95 - 3 * np.sqrt(0.05 * 0.95 / 1000)
    assert holds >= inside - 60
    assert holds / 1000 > 0.93
