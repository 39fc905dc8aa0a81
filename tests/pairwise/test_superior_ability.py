"""The test of superior ability: arch's numbers, brute force, laws."""

import numpy as np
import pytest
from estimate_cases import estimates, losses_of
from hypothesis import given, settings
from hypothesis import strategies as st
from libraries import stats
from reference_cases import expected, parametrize

from fastcmp import Estimates, superior_ability

CENTRES = ("lower", "consistent", "upper")


@pytest.mark.parametrize("studentized", [False, True])
@parametrize("superior_predictive_ability")
def test_as_arch(case, studentized):
    """Of arch's own definition, which does not studentize; here both come near."""
    losses = losses_of(case)
    options = {"control": case["input"]["benchmark"], "alpha": case["options"]["stepm_size"]}
    options |= {"studentized": studentized, "resampling": "bootstrap", "n_resamples": 4000}
    found = superior_ability(losses.T, lower_is_better=True, rng=1, **options)
    for name in CENTRES:
        assert getattr(found, f"pvalue_{name}") == expected(case, f"pvalue_{name}")
    assert list(found.superior) == case["expected"]["stepm_superior"]


def naive_test(losses, indices, control, alpha, *, studentized, recentring):
    """Follow Hansen (2005); StepM by critical values, as Romano and Wolf do."""
    gain = losses[:, [control]] - np.delete(losses, control, axis=1)
    n, mean = len(gain), gain.mean(axis=0)
    drawn = np.array([gain[rows].mean(axis=0) - mean for rows in indices])
    error = np.sqrt((drawn**2).mean(axis=0))
    unit = error if studentized else np.ones_like(error)
    near = mean >= -error * np.sqrt(2 * np.log(np.log(n)))
    centres = {"lower": np.maximum(mean, 0), "consistent": np.where(near, mean, 0), "upper": mean}
    statistic = mean / unit
    pvalues = []
    for centre in centres.values():
        maxima = ((drawn + mean - centre) / unit).max(axis=1)
        pvalues.append(np.mean(maxima > statistic.max() + 1e-12))
    simulated = (drawn + mean - centres[recentring]) / unit
    left, superior = list(range(len(mean))), []
    while left:
        maxima = simulated[:, left].max(axis=1)
        new = [j for j in left if np.mean(maxima > statistic[j] + 1e-12) <= alpha]
        superior += new
        left = [j for j in left if j not in new]
        if not new:
            break
    return pvalues, sorted(superior)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 1000), st.integers(2, 6), st.booleans(), st.sampled_from(CENTRES))
def test_bootstrap_as_brute_force(seed, m, studentized, recentring):
    rng = np.random.default_rng(seed)
    losses = rng.normal(size=(20, m)) + 0.5 * rng.normal(size=m)
    indices, control = rng.integers(0, 20, (60, 20)), seed % m
    options = {"studentized": studentized, "recentring": recentring}
    given = {"control": control, "bootstrap_indices": indices, "alpha": 0.2}
    found = superior_ability(losses.T, lower_is_better=True, **given, **options)
    pvalues, superior = naive_test(losses, indices, control, 0.2, **options)
    assert [getattr(found, f"pvalue_{k}") for k in CENTRES] == pytest.approx(pvalues)
    assert found.pvalue == pvalues[CENTRES.index(recentring)]
    others = np.delete(np.arange(m), control)
    names = [f"model_{others[j]}" for j in superior]
    assert sorted(found.superior) == names


@pytest.mark.parametrize("studentized", [False, True])
def test_two_models_are_a_one_sided_test(studentized):
    found = superior_ability(
        Estimates([0.8, 0.9], [0.001, 0.002], n_items=100),
        control=0,
        studentized=studentized,
        rng=1,
    )
    assert found.difference == pytest.approx([0.1])
    assert found.standard_error == pytest.approx([np.sqrt(0.003)])
    wanted = stats.norm.sf(0.1 / np.sqrt(0.003))
    assert found.pvalue_upper == pytest.approx(wanted, abs=0.01)
    assert found.pvalue_adjusted == pytest.approx([found.pvalue])


@settings(max_examples=10, deadline=None)
@given(estimates(), st.sampled_from(CENTRES))
def test_laws(case, recentring):
    estimate, covariance = case
    m = len(estimate)
    options = {"control": 0, "recentring": recentring, "rng": 2, "n_resamples": 999}
    found = superior_ability(Estimates(estimate, covariance, n_items=200), **options)
    other = superior_ability(
        Estimates(3.0 - 2.0 * estimate, 4.0 * covariance, lower_is_better=True, n_items=200),
        **options,
    )
    assert other.pvalue_adjusted == pytest.approx(found.pvalue_adjusted, abs=0.08)
    assert other.statistic == pytest.approx(found.statistic)
    assert found.pvalue_lower <= found.pvalue_consistent <= found.pvalue_upper
    assert found.pvalue_adjusted.min() == pytest.approx(found.pvalue)
    order = np.argsort(-found.statistic)
    assert (np.diff(found.pvalue_adjusted[order]) >= 0).all()
    assert len(found.names) == m - 1
    assert found.n_models == m


def test_sure_differences():
    found = superior_ability(
        Estimates([0.5, 0.4, 0.6, 0.5], np.full((4, 4), 1e-4), n_items=50), control=0, rng=1
    )
    assert found.superior == ("model_2",)
    assert found.statistic.tolist() == [-np.inf, np.inf, 0.0]
    assert "better than model_0: model_2" in str(found)


@pytest.mark.full
@pytest.mark.parametrize("recentring", CENTRES[1:])
def test_size(recentring):
    rng = np.random.default_rng(4)
    shift = np.array([0.0, 0.0, 0.0, -0.3, -0.5])
    false = 0
    for seed in range(1000):
        values = rng.normal(size=(5, 200)) + shift[:, None]
        found = superior_ability(
            values, control=0, recentring=recentring, n_resamples=500, rng=seed
        )
        false += bool(found.superior)
    assert false / 1000 < 0.05 + 3 * np.sqrt(0.05 * 0.95 / 1000)
