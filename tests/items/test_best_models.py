"""Rank sets, the best, and models left out, by values: estimates and draws of them."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from libraries import stats

import fastcmp
from fastcmp import (
    Estimates,
    best_set,
    compare_means,
    correct_values,
    from_long,
    load_digits,
    load_digits_values,
    model_confidence_set,
    rank_sets,
    superior_ability,
    winner_estimate,
)


@cache
def table():
    rng = np.random.default_rng(3)
    values = rng.normal(size=(4, 400)) + rng.normal(size=400) + np.arange(4)[:, None] / 20
    values.flags.writeable = False
    return values


GROUPS = [i // 2 for i in range(400)]


def near(one, two, tolerance=0.02):
    """Compare but for draws, and t in place of the normal distribution."""
    np.testing.assert_allclose(one, two, rtol=tolerance, atol=1e-3)


def test_values_are_their_means_and_covariance():
    moments = table().mean(axis=1), np.cov(table()) / 400
    sets = rank_sets(table(), rng=1)
    other = rank_sets(Estimates(*moments), rng=1)
    assert (sets.lower == other.lower).all()
    assert (sets.upper == other.upper).all()
    near(sets.critical_value, other.critical_value)
    found, wanted = (best_set(x, rng=1) for x in (table(), Estimates(*moments)))
    near(found.lower, wanted.lower)
    near(found.upper, wanted.upper)
    winner = winner_estimate(table(), rng=1)
    other = winner_estimate(Estimates(*moments), rng=1)
    near(winner.median, other.median, 1e-4)
    near(winner.interval, other.interval, 1e-3)
    assert winner.n_items == sets.n_items == 400


def test_what_items_have_in_common_enters_the_winners_error_only():
    shifted = table() + 5.0 * np.random.default_rng(1).normal(size=400)
    assert (rank_sets(shifted, rng=1).lower == rank_sets(table(), rng=1).lower).all()
    near(best_set(shifted, rng=1).upper, best_set(table(), rng=1).upper, 1e-6)
    error = winner_estimate(shifted, rng=1).standard_error
    assert error == pytest.approx(np.std(shifted[3], ddof=1) / 20.0)


def test_clusters_widen_the_standard_errors():
    wide = superior_ability(np.repeat(table(), 3, axis=1), control=0, rng=1)
    groups = np.repeat(np.arange(400), 3)
    right = superior_ability(np.repeat(table(), 3, axis=1), control=0, groups=groups, rng=1)
    alone = superior_ability(table(), control=0, rng=1)
    near(right.standard_error, alone.standard_error, 1e-9)
    near(right.standard_error, np.sqrt(3.0) * wide.standard_error, 0.01)
    assert right.n_clusters == 400
    assert right.df == pytest.approx(399)
    errors = compare_means(table(), groups=GROUPS, control=0).standard_error
    own = superior_ability(table(), control=0, groups=GROUPS, rng=1).standard_error
    near(own, errors, 1e-9)


def blocks(values, **columns):
    """Values of models in rows as a long table, with columns of items."""
    m, n = values.shape
    long = {"item": np.tile(np.arange(n), m), "model": np.repeat(np.arange(m).astype(str), n)}
    long |= {"value": values.ravel()} | {k: np.tile(x, m) for k, x in columns.items()}
    return from_long(long, **{"group" if k == "block" else "stratum": k for k in columns})


def test_losses_and_few_items():
    found = best_set(table(), rng=1)
    turned = best_set(-table(), lower_is_better=True, rng=1)
    near(turned.upper, found.upper, 1e-9)
    assert turned.best == found.best
    assert "Lower values are better" in str(turned)
    winner = winner_estimate(-table(), lower_is_better=True, rng=1)
    assert winner.median == pytest.approx(-winner_estimate(table(), rng=1).median)
    few = best_set(table()[:, :20], rng=1)
    assert "With 20 items" in few.cautions[0]
    assert "Cautions" in str(few)
    assert found.cautions == ()


@pytest.mark.parametrize("groups", [None, GROUPS], ids=["items", "pairs"])
def test_bootstrap_draws_have_the_covariance(groups):
    options = {"control": 0, "groups": groups, "rng": 1}
    drawn = superior_ability(table(), resampling="bootstrap", n_resamples=4000, **options)
    usual = superior_ability(table(), **options)
    near(drawn.standard_error, usual.standard_error, 0.06)
    assert drawn.pvalue_upper == pytest.approx(usual.pvalue_upper, abs=0.02)
    assert drawn.distribution == "bootstrap"
    assert usual.distribution == "t"


def test_strata_are_drawn_within():
    digits = load_digits_values(measure="brier").values
    strata = blocks(digits, task=np.arange(digits.shape[1]) % 3)
    options = {"control": 0, "lower_is_better": True, "rng": 1}
    drawn = superior_ability(strata, resampling="bootstrap", n_resamples=2000, **options)
    near(drawn.standard_error, superior_ability(strata, **options).standard_error, 0.1)
    with pytest.raises(ValueError, match="need no groups, strata or weights"):
        superior_ability(strata, bootstrap_indices=[[0] * 899], **options)


def test_groups_across_strata_have_no_bootstrap():
    long = blocks(table(), block=np.arange(400) % 50, task=np.arange(400) // 200)
    assert best_set(long, rng=1).n_clusters == 50
    with pytest.raises(ValueError, match="groups that lie within strata"):
        model_confidence_set(long, resampling="bootstrap", rng=1)


def test_correct_values_are_accuracies():
    y_true, preds = load_digits()
    values = correct_values(y_true, preds)
    compared = fastcmp.compare_all(y_true, preds)
    assert [x.mean() for x in values.values()] == pytest.approx(compared.accuracy.tolist())
    array = correct_values(y_true, np.array(list(preds.values())))
    assert (array == np.array(list(values.values()))).all()
    chosen = correct_values(y_true, preds, classes=[0, 1, 2], names=list("abcdefghij"))
    assert (np.isnan(chosen["a"]) == ~np.isin(y_true, [0, 1, 2])).all()
    wanted = fastcmp.compare_all(y_true, preds, classes=[0, 1, 2])
    assert compare_means(chosen, missing="common").score == pytest.approx(wanted.score)


def test_correct_values_of_missing_labels():
    y_true = ["a", None, "b", "b"]
    preds = {"x": ["a", "a", None, "b"], "y": ["b", "a", "b", "b"]}
    values = correct_values(y_true, preds, missing="wrong")
    assert values["x"].tolist() == pytest.approx([1.0, np.nan, 0.0, 1.0], nan_ok=True)
    with pytest.raises(ValueError, match="missing"):
        correct_values(y_true, preds)


def unequal():
    values = np.random.default_rng(1).normal(size=(4, 60))
    return np.round(values + np.array([[0.0], [0.1], [0.4], [0.7]]), 2)


def numbers(record, unit=1.0):
    """The numbers that answer, and how near: of tests and ranks, and in the unit of values."""
    free = FREE | ({"lower", "upper"} if type(record).__name__ == "RankSets" else set())
    free -= set() if getattr(record, "studentized", True) else {"statistic"}
    for name in sorted(FREE | IN_UNIT | {"lower", "upper"}):
        if hasattr(record, name):
            value = np.ravel(getattr(record, name))
            yield name, value / (1.0 if name in free else unit), 1e-9 if name in free else 1e-6


FREE = {"may_be_best", "critical_value", "pvalue", "statistic", "pvalue_consistent", "index"}
FREE |= {"pvalue_lower", "pvalue_adjusted"}
IN_UNIT = {"estimate", "difference", "standard_error", "control_estimate", "median", "interval"}
IN_UNIT |= {"naive_interval"}
SCALED = [
    *((best_set, {}), (rank_sets, {}), (rank_sets, {"simultaneous": False})),
    *((model_confidence_set, x) for x in ({}, {"method": "max"}, {"resampling": "bootstrap"})),
    *(
        (superior_ability, {"control": 0} | options)
        for options in ({}, {"studentized": False}, {"resampling": "bootstrap"})
    ),
    *((winner_estimate, {}), (fastcmp.max_t, {})),
]


@pytest.mark.parametrize("unit", [1e-300, 1e60, 1e300])
@pytest.mark.parametrize(("function", "options"), SCALED)
def test_values_of_any_size(function, options, unit):
    record = function(unequal(), rng=1, **options)
    scaled = function(unequal() * unit, rng=1, **options)
    for (name, a, rtol), (_, b, _) in zip(numbers(record), numbers(scaled, unit), strict=True):
        np.testing.assert_allclose(b, a, rtol=rtol, atol=rtol / 1000, err_msg=name)


@pytest.mark.parametrize("unit", [1e-150, 1e-100, 1e140])
def test_moments_of_any_size(unit):
    mean, covariance = unequal().mean(axis=1), np.cov(unequal()) / 60
    moments = Estimates(mean * unit, covariance * unit * unit)
    for function, name in (
        (best_set, "upper"),
        (winner_estimate, "median"),
        (rank_sets, "estimate"),
    ):
        wanted = getattr(function(Estimates(mean, covariance), rng=1), name)
        found = getattr(function(moments, rng=1), name)
        np.testing.assert_allclose(np.divide(found, unit), wanted, rtol=1e-6)


# Proportions.


@pytest.mark.parametrize(
    ("n_models", "n", "accuracy", "most"),
    [(10, 100, 0.95, 0.05), (5, 20, 0.79, 0.05), (5, 50, 0.8, 0.06)],
)
def test_the_winners_proportion_is_in_its_interval(n_models, n, accuracy, most):
    """Equal models whose right answers have a latent correlation of .5."""
    runs, missed = 100, 0
    for run in range(runs):
        rng = np.random.default_rng(run)
        z = rng.normal(size=(n_models + 1, n))
        right = (z[0] + z[1:]) / 2**0.5 < stats.norm.ppf(accuracy)
        low, high = winner_estimate(right, n_resamples=999, rng=run, workers=1).interval
        assert 0.0 <= low <= high <= 1.0
        missed += not low <= accuracy <= high
    assert missed <= most * runs


def test_a_clear_winner_of_proportions_has_wilsons_interval():
    values = np.zeros((2, 50))
    values[0, :45], values[1, :10] = 1.0, 1.0
    found = winner_estimate(values, rng=1)
    wilson = stats.binomtest(45, 50).proportion_ci(method="wilson")
    assert found.naive_interval == pytest.approx((wilson.low, wilson.high))
    lost = winner_estimate(1.0 - values, lower_is_better=True, rng=1)
    assert lost.naive_interval == pytest.approx(
        (1.0 - found.naive_interval.high, 1.0 - found.naive_interval.low)
    )
    assert lost.interval == pytest.approx((1.0 - found.interval.high, 1.0 - found.interval.low))


def test_a_perfect_winner_may_be_worse_than_it_seems():
    values = np.ones((3, 20))
    values[1, :4], values[2, :7] = 0.0, 0.0
    found = winner_estimate(values, rng=1)
    assert found.estimate == 1.0
    assert found.interval.low < 0.85
    assert found.interval.high == 1.0
    assert "does not vary" not in str(found)


def test_more_models_than_items_are_asked_about():
    values, few = np.random.default_rng(1).normal(size=(50, 3)), {"n_resamples": 299}
    for function in (compare_means, best_set, rank_sets, model_confidence_set, winner_estimate):
        for form in (values, values.tolist()):
            with pytest.warns(UserWarning, match=r"50 models on 3 items: models .*values\.T"):
                function(form, **few)
        function(values.T, **few)
    best_set(values, names=[f"m{i}" for i in range(50)], **few)  # no warning: they are models
