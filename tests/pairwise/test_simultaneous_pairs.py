"""Pairs of estimates with a known covariance, all at once."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from libraries import stats
from reference_cases import expected, parametrize

from fastcmp import Estimates, simultaneous_pairs


def estimates(n_models, seed):
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(n_models, n_models + 1))
    return rng.normal(size=n_models) * 2, root @ root.T / n_models


@parametrize("simultaneous_pairs_gaussian")
def test_references_agree(case):
    data, options = case["input"], case["options"]
    found = simultaneous_pairs(
        Estimates(data["estimate"], data["covariance"]),
        step=options["step"],
        alternative=options["side"],
        rng=1,
    )
    assert found.statistic.tolist() == pytest.approx(
        np.multiply(np.sign(found.statistic), case["expected"]["statistic"]).tolist(), rel=1e-9
    )
    assert found.critical_value == expected(case, "critical_95")
    assert found.pvalue_adjusted.tolist() == expected(case, "pvalue_adjusted")


def test_tukey_and_dunnett():
    """Independent estimates of equal variance: the studentized range, and t."""
    for m in (3, 6):
        for df in (6.0, np.inf):
            found = simultaneous_pairs(
                Estimates(np.arange(float(m)), np.eye(m), df=df), n_resamples=20_000, rng=1
            )
            law = stats.studentized_range(m, df)
            wanted = law.ppf(0.95) / np.sqrt(2)
            assert found.critical_value == pytest.approx(wanted, rel=3e-3)
            sizes = np.abs(found.statistic) * np.sqrt(2)
            np.testing.assert_allclose(found.pvalue_adjusted, law.sf(sizes), atol=2e-3)
    rng = np.random.default_rng(1)
    samples = [rng.normal(size=20) + k * 0.4 for k in (0, 0, 1, 2)]
    peer = stats.dunnett(*samples[1:], control=samples[0], rng=rng)
    spread = np.mean([x.var(ddof=1) for x in samples]) / 20
    found = simultaneous_pairs(
        Estimates([x.mean() for x in samples], spread * np.eye(4), df=76), control=0, rng=1
    )
    np.testing.assert_allclose(-found.statistic, peer.statistic)
    np.testing.assert_allclose(found.pvalue_adjusted, peer.pvalue, atol=2e-3)


@settings(max_examples=10)
@given(st.integers(3, 6), st.integers(0, 2**31))
def test_draws_that_are_counted_agree(n_models, seed):
    value, covariance = estimates(n_models, seed)
    for step in ("single", "down"):
        for side in ("two-sided", "greater", "less"):
            found = simultaneous_pairs(
                Estimates(value, covariance),
                step=step,
                alternative=side,
                n_resamples=4000,
                rng=seed,
            )
            drawn = np.random.default_rng(seed).multivariate_normal(
                np.zeros(n_models), covariance, 4000
            )
            i, j = np.triu_indices(n_models, 1)
            sign = {"two-sided": np.abs, "greater": np.positive, "less": np.negative}
            z = sign[side]((drawn[:, i] - drawn[:, j]) / found.standard_error)
            observed = sign[side](found.statistic)
            single = [np.mean(z.max(axis=1) >= one) for one in observed]
            down = [np.mean(z[:, observed <= one].max(axis=1) >= one) for one in observed]
            down = [max(np.array(down)[observed >= one]) for one in observed]
            np.testing.assert_allclose(
                found.pvalue_adjusted, single if step == "single" else down, atol=0.05
            )
            beyond = np.mean(z.max(axis=1) >= found.critical_value)
            assert beyond == pytest.approx(0.05, abs=0.02)


def test_laws():
    value, covariance = estimates(5, 3)
    found = simultaneous_pairs(Estimates(value, covariance), n_resamples=9999, rng=1)
    down = simultaneous_pairs(Estimates(value, covariance), step="down", n_resamples=9999, rng=1)
    assert (found.pvalue <= down.pvalue_adjusted).all()
    assert (down.pvalue_adjusted <= found.pvalue_adjusted + 1e-12).all()
    assert (found.pvalue_adjusted <= np.minimum(1, 10 * found.pvalue)).all()
    np.testing.assert_allclose(
        found.interval.T,
        found.difference + np.outer([-1, 1], found.standard_error) * found.critical_value,
    )
    # With what all have in common.
    again = simultaneous_pairs(Estimates(value, covariance + 7.0), n_resamples=9999, rng=1)
    np.testing.assert_allclose(again.pvalue_adjusted, found.pvalue_adjusted, atol=3e-3)
    # An interval without 0 where the adjusted p-value is below 0.05.
    apart = (found.interval[:, 0] > 0) | (found.interval[:, 1] < 0)
    np.testing.assert_array_equal(apart, found.pvalue_adjusted < 0.05)


def test_one_pair_needs_no_adjustment():
    values, covariance = [0.3, 0.1], [[0.02, 0.01], [0.01, 0.03]]
    found = simultaneous_pairs(Estimates(values, covariance), n_resamples=9999, rng=1)
    assert found.critical_value == pytest.approx(stats.norm.isf(0.025), rel=1e-9)
    assert found.pvalue_adjusted == pytest.approx(found.pvalue, rel=1e-9)
    options = {"alternative": "less", "n_resamples": 9999, "rng": 1}
    one = simultaneous_pairs(Estimates(values, covariance, df=8), **options)
    assert one.critical_value == pytest.approx(stats.t(8).isf(0.05), rel=1e-3)
    assert one.interval[0, 0] == -np.inf


def test_without_variance():
    covariance = np.diag([0.01, 0.0, 0.0])
    found = simultaneous_pairs(Estimates([0.5, 0.5, 0.5], covariance), n_resamples=9999, rng=1)
    assert found.pvalue_adjusted.tolist() == [1, 1, 1]
    assert np.diff(found.interval[2]) == 0
    found = simultaneous_pairs(Estimates([0.5, 0.5, 0.6], covariance), n_resamples=9999, rng=1)
    assert found.statistic.tolist() == pytest.approx([0, -1, -np.inf])
    assert found.pvalue_adjusted[2] == 0
    nothing = simultaneous_pairs(Estimates([0.5, 0.5], np.zeros((2, 2))), n_resamples=9999, rng=1)
    assert nothing.critical_value == 0
    assert nothing.pvalue_adjusted.tolist() == [1]
