"""The bootstrap of tasks, tasks left out, and noise within tasks."""

from itertools import product

import numpy as np
import pytest
from libraries import stats
from reference_cases import expected, parametrize

from fastcmp.datasets import leave_one_task_out, task_bootstrap, task_noise


def some_scores():
    return np.random.default_rng(5).integers(50, 70, (4, 5)) / 100


def options_of(case):
    return {
        "names": case["input"]["models"],
        "lower_is_better": not case["input"]["higher_is_better"],
        "rank_by": case["options"]["rank_by"],
    }


@parametrize("task_bootstrap")
def test_all_draws(case):
    scores = case["input"]["scores"]
    found = task_bootstrap(scores, top_k=case["options"]["k"], **options_of(case))
    assert found.method == "exact"
    wanted = {
        "top_k_inclusion": found.top_k,
        "best_probability": found.best_probability,
        "variance_of_mean_rank": found.variance_of_mean_rank,
    }
    for name, value in wanted.items():
        assert value == expected(case, name)
    assert found.rank_distribution == pytest.approx(
        np.array(case["expected"]["rank_distribution"]), abs=1e-12
    )
    drawn = task_bootstrap(scores, method="draws", rng=1, **options_of(case))
    assert np.abs(drawn.rank_distribution - found.rank_distribution).max() < 0.02


@parametrize("leave_one_task_out")
def test_tasks_left_out(case):
    found = leave_one_task_out(case["input"]["scores"], **options_of(case))
    for name in case["expected"]:
        assert np.array_equal(getattr(found, name), case["expected"][name])
    assert len(found.changed) == found.n_changed


@parametrize("nested_bootstrap")
def test_nested(case):
    found = task_noise(case["input"]["item_differences"])
    for name in case["expected"]:
        assert getattr(found, name) == expected(case, name)


@parametrize("variance_components")
def test_components(case):
    found = task_noise(np.array(case["input"]["differences"]))
    for name in case["expected"]:
        assert getattr(found, name) == expected(case, name)


def brute_force(scores, k, by_rank):
    """Rank all D**D draws one by one."""
    m, d = scores.shape
    values = stats.rankdata(-scores, axis=0) if by_rank else np.rint(-100 * scores)
    table, top, best = np.zeros((m, m)), np.zeros(m), np.zeros(m)
    for chosen in product(range(d), repeat=d):
        total = np.rint(2 * values[:, chosen].sum(axis=1))
        for j in range(m):
            better, same = np.sum(total < total[j]), np.sum(total == total[j])
            table[j, better] += 1
            top[j] += min(max(k - better, 0), same) / same
            best[j] += (better == 0) / same
    return table / d**d, top / d**d, best / d**d


@pytest.mark.parametrize("rank_by", ["mean rank", "mean score"])
@pytest.mark.parametrize("k", [1, 2, 4])
def test_draws_one_by_one(rank_by, k):
    scores = np.random.default_rng(k).integers(50, 56, (4, 4)) / 100  # with ties
    found = task_bootstrap(scores, top_k=k, rank_by=rank_by)
    table, top, best = brute_force(scores, k, rank_by == "mean rank")
    assert found.rank_distribution == pytest.approx(table, abs=1e-14)
    assert found.top_k == pytest.approx(top, abs=1e-14)
    assert found.best_probability == pytest.approx(best, abs=1e-14)
    assert found.top_k.sum() == pytest.approx(k)
    reached = np.cumsum(table, axis=1)
    for j, (low, high) in enumerate(found.rank_interval):
        assert reached[j, low - 1] >= 0.025 > reached[j, low - 1] - table[j, low - 1]
        assert reached[j, high - 1] >= 0.975 - 1e-12


def test_ranks_are_midranks_of_decimals():
    scores = np.random.default_rng(1).integers(0, 9, (7, 300)) / 10
    ranks = stats.rankdata(-np.rint(10 * scores), axis=0)
    for some in (scores, scores * np.pi):
        found = task_bootstrap(some, n_resamples=10, rng=1)
        assert found.estimate == pytest.approx(ranks.mean(axis=1), rel=1e-12)


def nested_moments(items):
    """Enumerate tasks and then items, and give the variance of the mean."""
    d = len(items)
    means = [[np.mean(x) for x in product(own, repeat=len(own))] for own in items]
    values = []
    for chosen in product(range(d), repeat=d):
        parts = [means[t] for t in chosen]
        weight = np.prod([len(p) for p in parts])
        totals = [np.mean(x) for x in product(*parts)]
        values.append((np.mean(totals), np.mean(np.square(totals)), weight))
    mean, square = np.mean([v[:2] for v in values], axis=0)
    return mean, square - mean**2


@pytest.mark.parametrize("items", [([1, 0, 4], [2, 5]), ([1, 3], [0, 7])])
def test_the_nested_bootstrap_adds_the_noise_of_items_again(items):
    found = task_noise(items)
    mean, variance = nested_moments(items)
    assert found.mean == pytest.approx(mean)
    assert found.variance_nested == pytest.approx(variance)
    assert found.variance_tasks_only < variance


def test_nested_draws_have_that_variance():
    rng = np.random.default_rng(8)
    items = [rng.normal(size=(2, n)).round(3) for n in (3, 5, 4, 6)]
    scores = np.stack([x.mean(axis=1) for x in items], axis=1)
    options = {"items": items, "nested": True, "rank_by": "mean score", "rng": 1}
    found = task_bootstrap(scores, n_resamples=20_000, **options)
    for model in range(2):
        noise = task_noise([x[model] for x in items])
        assert found.variance[model] == pytest.approx(noise.variance_nested, rel=0.05)
    ranked = task_bootstrap(scores, items=items, nested=True, rng=1, workers=2)
    assert ranked == task_bootstrap(scores, items=items, nested=True, rng=1, workers=1)
    assert ranked.best_probability.sum() == pytest.approx(1)
    assert "counted twice" in str(ranked)


def test_noise_without_spread():
    found = task_noise({"x": [1, 1], "y": [1, 1, 1]})
    assert found.between_task_variance == found.variance_nested == 0
    assert np.isnan(found.noise_proportion)
    assert found.ms_between is None
    noisy = task_noise([[1, -1, 2, -2], [2, -2, 1.5, -1]])
    assert noisy.between < 0 == noisy.between_task_variance
    assert noisy.noise_proportion == 1


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda _: task_bootstrap(np.ones((2, 11)), method="exact"), "up to 10 tasks"),
        (lambda x: task_bootstrap(x, items=[x] * 5), "belong together"),
        (lambda x: task_bootstrap(x, items=[x] * 5, nested=True), "have the scores as their"),
        (lambda x: task_bootstrap(x, items=[x] * 4, nested=True), "one array a task"),
        (lambda _: task_noise([[1, 2]]), "at least two tasks"),
        (lambda _: task_noise([[1, 2], [1]]), "differences of task_1 must be of shape"),
    ],
)
def test_refusals(call, message):
    with pytest.raises(ValueError, match=message):
        call(some_scores())
