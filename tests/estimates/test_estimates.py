"""Estimates of any measure, compared by the functions that compare means."""

from types import SimpleNamespace

import numpy as np
import pytest
from libraries import stats
from numpy.testing import assert_allclose, assert_array_equal

from fastcmp import Estimates, compare_means, mean_difference, simultaneous_pairs

NAMES = ("a", "b", "c")


@pytest.fixture
def values():
    return np.random.default_rng(3).normal([[0.0], [0.3], [0.9]], 1.0, (3, 40))


def influences_of(values):
    return values - values.mean(axis=1, keepdims=True)


@pytest.mark.parametrize("groups", [None, np.repeat(np.arange(10), 4)])
def test_influences_of_means_give_what_the_values_give(values, groups):
    estimates = Estimates(
        values.mean(axis=1), influences=influences_of(values), groups=groups, names=NAMES
    )
    clusters = {} if groups is None else {"groups": groups, "variance": "cr1", "df": "clusters"}
    options = {"margin": 0.5, "simultaneous": True, "rng": 1}
    own = compare_means(estimates, **options)
    plain = compare_means(dict(zip(NAMES, values, strict=True)), **clusters, **options)
    for field in ("difference", "pvalue", "interval", "score", "score_interval", "statistic"):
        assert_allclose(getattr(own, field), getattr(plain, field), rtol=1e-9, err_msg=field)
    assert own.df == plain.df
    assert own.n_clusters == plain.n_clusters
    assert_array_equal(own.decisions, plain.decisions)
    assert_array_equal(own.margins.decision, plain.margins.decision)


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_two_estimates_give_what_two_models_give(values, alternative):
    options = {"alternative": alternative, "margin": 0.3}
    two = values[:2]
    own = mean_difference(Estimates(two.mean(axis=1), influences=influences_of(two)), **options)
    plain = mean_difference(*two, **options)
    for field in ("pvalue", "standard_error", "standard_error_b", "df", "correlation", "interval"):
        assert_allclose(getattr(own, field), getattr(plain, field), rtol=1e-12, err_msg=field)
    assert_allclose(own.margins.pvalue_lower, plain.margins.pvalue_lower, rtol=1e-12)


def test_each_pair_may_have_degrees_of_freedom_of_its_own():
    df = np.array([[9.0, 8.0, 7.0], [8.0, 6.0, 5.0], [7.0, 5.0, 4.0]])
    estimates = Estimates([3.0, 2.0, 1.0], [0.01, 0.02, 0.1], df=df)
    result = compare_means(estimates)
    t = result.difference / np.sqrt([0.03, 0.11, 0.12])
    assert_allclose(result.pvalue, 2 * stats.t.sf(abs(t), [8, 7, 5]), rtol=1e-10)
    half = stats.t.ppf(0.975, [9, 6, 4]) * np.sqrt([0.01, 0.02, 0.1])
    assert_allclose(result.score_interval[:, 1], np.array([3, 2, 1]) + half, rtol=1e-10)
    # Where all are tested together, the least: no p-value is too small.
    assert simultaneous_pairs(estimates, rng=1).df == 4.0
    two = Estimates([3.0, 2.0], [0.01, 0.02], df=df[:2, :2])
    assert mean_difference(two).df == 8.0


def test_losses_limits_and_names_of_measures():
    estimates = Estimates(
        [0.3, 0.01], [0.04, 0.0001], lower_is_better=True, measure="WER", limits=(0, 1)
    )
    result = compare_means(estimates)
    assert result.best[0] == "model_1"
    assert result.score_interval.min() == 0.0
    assert "WER" in str(result)
    assert "on 0" not in str(result)
    pair = mean_difference(estimates)
    assert pair.better == "b"
    assert "lower WER" in str(mean_difference(Estimates([1.0, 2.0], [1, 1], measure="WER")))


def test_a_record_with_estimates_is_estimates(values):
    made = compare_means(values)
    assert not hasattr(made, "estimates")  # such a field is what other functions look at
    with pytest.raises((TypeError, ValueError)):
        compare_means(SimpleNamespace(estimates=Estimates([1.0, 2.0], [1.0, 1.0])))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"df": [[1.0, 2.0], [3.0, 1.0]]}, "symmetric"),
        ({"df": [[1.0, -2.0], [-2.0, 1.0]]}, "positive"),
        ({"df": [1.0, 2.0]}, "shape"),
        ({"limits": (0.0, 0.5)}, "limits"),
        ({"measure": 3}, "measure"),
    ],
)
def test_wrong_options_of_estimates_are_refused(options, message):
    with pytest.raises((TypeError, ValueError), match=message):
        Estimates([1.0, 0.2], [1.0, 1.0], **options)


@pytest.mark.parametrize(
    "options",
    [
        {"groups": [1, 2]},
        {"lower_is_better": True},
        {"method": "permutation"},
        {"missing": "common"},
        {"variance": "cr1"},
        {"names": ["a", "b"]},
    ],
)
def test_options_of_values_are_refused_beside_estimates(options):
    with pytest.raises((TypeError, ValueError), match="values"):
        compare_means(Estimates([1.0, 0.2], [1.0, 1.0]), **options)


def test_mean_difference_takes_estimates_of_two():
    with pytest.raises(ValueError, match="compare_means"):
        mean_difference(Estimates([1.0, 2.0, 3.0], [1.0, 1.0, 1.0]))
    with pytest.raises(TypeError, match="values_b"):
        mean_difference([1.0, 2.0])
    with pytest.raises(TypeError, match="values_b"):
        mean_difference(Estimates([1.0, 2.0], [1.0, 1.0]), [1.0, 2.0])
