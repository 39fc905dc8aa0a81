"""Bayesian tests over tasks and the bootstrap of tasks, beside baycomp's way and NumPy.

The loop is that of baycomp 1.0.3: all pairs of tasks for each draw.
"""

import numpy as np
import pytest
from scipy import stats

from fastcmp import datasets

ROPE = 0.01


@pytest.fixture(scope="module")
def pair(size, rng):
    """Scores of two models on many tasks."""
    a = rng.uniform(0.2, 0.8, size(100, 30))
    return a, a + rng.normal(0.004, 0.03, a.size)


def as_baycomp(a, b, n_draws, seed):
    """`SignedRankTest.sample` of baycomp 1.0.3, with a rope."""
    z = np.append(0.0, b - a)
    sums = z[:, None] + z
    above = (sums > 2 * ROPE) + 0.5 * (sums == 2 * ROPE)
    below = (-sums > 2 * ROPE) + 0.5 * (-sums == 2 * ROPE)
    weights = np.ones(z.size)
    weights[0] = 0.5
    drawn = np.zeros((n_draws, 3))
    state = np.random.RandomState(seed)
    for i, w in enumerate(state.dirichlet(weights, n_draws)):
        products = np.outer(w, w)
        drawn[i, 0] = np.sum(products * below)
        drawn[i, 2] = np.sum(products * above)
    drawn[:, 1] = 1.0 - drawn[:, 0] - drawn[:, 2]
    return np.bincount(np.argmax(drawn, axis=1), minlength=3) / n_draws


@pytest.fixture
def n_draws(size):
    return size(50_000, 5_000)


@pytest.mark.benchmark(group="Bayesian signed-rank test: 100 tasks, 50,000 draws")
class TestSignedRank:
    def test_ours(self, benchmark, pair, n_draws):
        options = {"rope": ROPE, "rng": 1, "n_resamples": n_draws}
        found = benchmark(datasets.bayes_signed_rank, *pair, **options)
        benchmark.extra_info["target"] = 50
        assert found.p_a + found.p_rope + found.p_b == pytest.approx(1.0)

    def test_baycomp(self, benchmark, pair, n_draws):
        p_a, p_rope, p_b = benchmark.pedantic(as_baycomp, (*pair, n_draws, 1), rounds=1)
        found = datasets.bayes_signed_rank(*pair, rope=ROPE, rng=1)
        known = [found.p_a, found.p_rope, found.p_b]
        assert known == pytest.approx([p_a, p_rope, p_b], abs=0.03)


@pytest.fixture(scope="module")
def table(size, rng):
    """Scores of many models on many tasks, most models alike."""
    n_models, n_tasks = size((100, 1_000), (12, 60))
    return rng.normal(0.7, 0.1, n_tasks) + rng.normal(0, 0.05, (n_models, n_tasks))


def loop(scores, n_draws, seed):
    """Draw tasks, average ranks, and rank the averages, draw by draw."""
    rng = np.random.default_rng(seed)
    m, d = scores.shape
    ranks = stats.rankdata(-scores, axis=0)
    counts = np.zeros((m, m))
    for _ in range(n_draws):
        means = ranks[:, rng.integers(0, d, d)].mean(axis=1)
        counts[np.arange(m), stats.rankdata(means, "min").astype(int) - 1] += 1
    return counts / n_draws


@pytest.mark.benchmark(group="bootstrap of tasks: ranks of 100 models on 1,000 tasks, 10,000 draws")
class TestBootstrap:
    def test_ours(self, benchmark, table, size):
        n = size(10_000, 1_000)
        found = benchmark(datasets.task_bootstrap, table, rng=1, n_resamples=n)
        benchmark.extra_info["target_note"] = "at most 5 s"
        assert found.best_probability.sum() == pytest.approx(1.0)

    def test_loop(self, benchmark, table, size):
        n = size(10_000, 1_000)
        wanted = benchmark.pedantic(loop, (table, n, 1), rounds=1)
        found = datasets.task_bootstrap(table, rng=1, n_resamples=n)
        places = np.arange(1, len(table) + 1)
        difference = found.rank_distribution @ places - wanted @ places
        assert np.abs(difference).max() < 0.05 * len(table)
