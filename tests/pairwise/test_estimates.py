"""Estimates of any measure, by a covariance or by influence values."""

import numpy as np
import pytest

from fastcmp import (
    Estimates,
    best_set,
    compare_means,
    rank_sets,
    simultaneous_pairs,
    superior_ability,
)

VALUES = np.random.default_rng(3).normal([[0.0], [0.2], [0.5], [0.5]], 1.0, (4, 90))
GROUPS = np.repeat(np.arange(18), 5)


@pytest.mark.parametrize("groups", [None, GROUPS])
def test_influences_of_means_are_those_of_compare_means(groups):
    """The same standard errors of all differences: with clusters those of CR1."""
    mean = VALUES.mean(axis=1)
    estimates = Estimates(mean, influences=VALUES - 7.0, groups=groups)
    wanted = compare_means(VALUES, groups=groups, variance=None if groups is None else "cr1")
    i, j = wanted.pairs.T
    assert estimates.errors()[i, j] == pytest.approx(wanted.standard_error, rel=1e-12)
    assert estimates.df == (89 if groups is None else 17)
    assert estimates.n_units == (90 if groups is None else 18)
    assert str(18 if groups is not None else 90) in str(best_set(estimates, rng=1))


def test_a_covariance_is_that_of_influences():
    covariance = np.cov(VALUES) / 90
    by_moments = Estimates(VALUES.mean(axis=1), covariance, df=89, n_items=90)
    by_items = Estimates(VALUES.mean(axis=1), influences=VALUES)
    for function, options in ((rank_sets, {}), (superior_ability, {"control": 0})):
        one, two = (function(x, rng=1, **options) for x in (by_moments, by_items))
        assert one.estimate == pytest.approx(two.estimate)
        assert one.critical_value == pytest.approx(two.critical_value) if not options else True
        assert np.ravel(one.pvalue if options else one.lower) == pytest.approx(
            np.ravel(two.pvalue if options else two.lower), rel=1e-9
        )


@pytest.mark.parametrize("size", [1e-140, 1.0, 1e140])
def test_differences_have_the_units_of_the_values(size):
    value, variance = np.array([0.1, 0.4, 0.2]), np.array([0.02, 0.01, 0.03])
    found = simultaneous_pairs(Estimates(value * size, variance * size**2), rng=1)
    wanted = simultaneous_pairs(Estimates(value, variance), rng=1)
    assert found.pvalue == pytest.approx(wanted.pvalue, rel=1e-12)
    for name in ("estimate", "difference", "standard_error", "interval"):
        assert getattr(found, name) == pytest.approx(getattr(wanted, name) * size, rel=1e-12)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Estimates([1, 2], influences=[1.0, 2.0]), r"must have shape \(2, n\)"),
        (lambda: Estimates([1, 2], influences=[[1, np.nan], [1, 2]]), "must be finite"),
        (lambda: Estimates([1.0, 2.0]), "pass covariance= or influences=, one of them"),
        (lambda: Estimates([1, 2], [1, 2], groups=[1, 2]), "groups= are clusters of influences="),
        (lambda: Estimates([1, 2], influences=np.eye(2), n_items=3), "n_items is 3, but"),
        (lambda: best_set(Estimates([1, 2], [1, 2]), groups=[0, 1]), "groups= is about values"),
        (lambda: best_set(Estimates([1, 2], [1, 2]), lower_is_better=True), "lower_is_better= is"),
        (lambda: rank_sets(Estimates([1, 2], [1, 2]), names="ab"), "leave it to Estimates"),
        (lambda: best_set([0.9, 0.8]), r"pass Estimates\(values, covariance\)"),
        (lambda: superior_ability(Estimates([1, 2], [1, 2]), control=0), r"pass .*n_items="),
        (
            lambda: superior_ability(
                Estimates([1, 2], [1, 2], n_items=9), control=0, resampling="bootstrap"
            ),
            "use resampling='normal'",
        ),
    ],
)
def test_what_cannot_be_meant_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
