"""Intervals of ranks of compared models: by decisions, at once, and for each alone."""

from functools import cache

import numpy as np
import pytest

import fastcmp

digits = cache(fastcmp.load_digits)


def ranks_of(result):
    """The intervals of ranks in the order of the input."""
    board = result.leaderboard
    return board.rank_interval[np.argsort(board.models)]


@pytest.mark.parametrize("method", ["simultaneous", "marginal"])
def test_means_have_the_sets_of_rank_sets(method):
    values = fastcmp.correct_values(*digits())
    sets = fastcmp.rank_sets(values, simultaneous=method == "simultaneous", rng=0)
    wanted = np.stack([sets.lower, sets.upper], axis=1)
    for found in (
        fastcmp.compare_means(values, rank_intervals=method),
        fastcmp.compare_means(values, rank_intervals=method, adjust="bh", control=0),
        fastcmp.compare_means(values, rank_intervals=method, pairs=[(0, 1)]),
        fastcmp.compare_means(fastcmp.stream.ValueMoments().update(values), rank_intervals=method),
    ):
        assert (ranks_of(found) == wanted).all()
        assert found.leaderboard.rank_method == method
    losses = {name: 1.0 - own for name, own in values.items()}
    turned = fastcmp.compare_means(losses, rank_intervals=method, lower_is_better=True)
    assert (ranks_of(turned) == wanted).all()


@pytest.mark.parametrize("method", ["simultaneous", "marginal"])
def test_accuracies_have_nearly_the_same(method):
    wanted = ranks_of(
        fastcmp.compare_means(fastcmp.correct_values(*digits()), rank_intervals=method)
    )
    counts = fastcmp.stream.PairCounts().update(*digits())
    for found in (
        fastcmp.compare_all(*digits(), rank_intervals=method),
        fastcmp.compare_all(*digits(), rank_intervals=method, adjust="none", pairs=[(1, 2)]),
        fastcmp.compare_all(counts=counts, rank_intervals=method),
        fastcmp.compare_all(*digits(), rank_intervals=method, metric="accuracy"),
        fastcmp.compare_all(*digits(), rank_intervals=method, test="cost", cost=1 - np.eye(10)),
    ):
        assert np.abs(ranks_of(found) - wanted).max() <= 1


OPTIONS = {
    "groups": lambda i: {"groups": i // 3},
    "strata": lambda i: {"strata": i % 4, "stratum_weights": "equal"},
    "cost": lambda _: {"test": "cost", "cost": 1.0 - np.eye(10) + 0.5 * np.tri(10, k=-1)},
    "metric": lambda _: {"metric": "f1_macro"},
    "permutation": lambda _: (
        {"metric": "mcc", "method": "permutation"} | {"n_resamples": 2, "rng": 1}
    ),
    "maxt": lambda _: {"adjust": "maxt", "rng": 1, "n_resamples": 99},
    "keep": lambda _: {"keep": "significant"},
}


@pytest.mark.parametrize("name", OPTIONS)
def test_all_comparisons_know_sets_of_ranks(name):
    options = OPTIONS[name](np.arange(899))
    found = fastcmp.compare_all(*digits(), rank_intervals="simultaneous", **options)
    bounds, rank = found.rank_bounds, found.leaderboard.rank
    rank = rank[np.argsort(found.leaderboard.models)]
    assert (bounds[:, 0] <= rank).all()
    assert (rank <= bounds[:, 1]).all()
    # The two worst models are far behind.
    assert bounds[:, 0].max() == 9
    assert bounds[:, 1].min() < 9


def test_a_constant_metric_says_nothing_of_ranks():
    y_true = np.array([0, 1] * 20)
    preds = {"a": y_true ^ (np.arange(40) < 9), "b": y_true, "c": 1 - y_true}
    found = fastcmp.compare_all(
        y_true, preds, metric="mcc", rank_intervals="simultaneous", adjust="none"
    )
    assert found.rank_bounds.min() >= 1
    assert found.rank_bounds.max() <= 3


def test_decisions_are_the_default_and_promise_nothing_without_adjustment():
    usual = fastcmp.compare_all(*digits())
    assert usual.rank_method == "decisions"
    assert usual.leaderboard.rank_method == "decisions"
    assert "all true ranks lie within these intervals at once" in " ".join(str(usual).split())
    for adjust in ("bh", "by", "none"):
        found = fastcmp.compare_all(*digits(), adjust=adjust)
        text = " ".join(str(found).split())
        assert found.leaderboard.rank_interval is None
        assert found.leaderboard.rank_method is None
        assert "Intervals of ranks are not shown" in text
        assert "rank_intervals='simultaneous'" in text
    marginal = fastcmp.compare_all(*digits(), adjust="bh", rank_intervals="marginal")
    assert "of that model alone" in " ".join(str(marginal).split())
    assert "of that model alone" in str(marginal.leaderboard.sections()[0].notes)


def test_what_has_no_common_samples():
    values = {name: own.copy() for name, own in fastcmp.correct_values(*digits()).items()}
    next(iter(values.values()))[3] = np.nan
    with pytest.raises(ValueError, match=r"rank_intervals.*same items"):
        fastcmp.compare_means(values, missing="pairwise", rank_intervals="simultaneous")
