"""Judged values with labels of some items, beside means of the table and loops in NumPy."""

import numpy as np
import pytest

import fastcmp


@pytest.fixture(scope="module")
def judged(size, rng):
    """What a judge says of many models, and labels of the first items."""
    n_models, n, n_labels = size((100, 100_000, 1_000), (8, 3_000, 100))
    judge = rng.random((n_models, n))
    human = np.full((n_models, n), np.nan)
    human[:, :n_labels] = judge[:, :n_labels] + rng.normal(size=(n_models, n_labels))
    return judge, human


def compare(judge, human):
    return fastcmp.compare_means(fastcmp.judged_values(judge, human))


def loop(judge, human):
    """Prediction-powered means of all pairs, one after the other, as published."""
    found = []
    known = ~np.isnan(human[0])
    n, m = known.sum(), (~known).sum()
    for i in range(len(judge)):
        for j in range(i + 1, len(judge)):
            f, y = judge[i] - judge[j], (human[i] - human[j])[known]
            lam = np.cov(y, f[known])[0, 1] / ((1 + n / m) * f.var(ddof=1))
            rest = y - lam * f[known]
            error = np.sqrt(rest.var() / n + lam**2 * f[~known].var() / m)
            found.append((lam * f[~known].mean() + rest.mean(), error))
    return np.array(found).T


@pytest.mark.benchmark(group="judged values, 100 models x 100,000 items, 1,000 labels: all pairs")
class TestJudged:
    def test_ours(self, benchmark, judged):
        result = benchmark(compare, *judged)
        benchmark.extra_info["target_note"] = "at most 2 x the time of compare_means"
        assert (result.standard_error > 0).all()

    def test_means_of_the_table(self, benchmark, judged):
        result = benchmark(fastcmp.compare_means, judged[0])
        assert result.score.shape == (len(judged[0]),)

    def test_loop(self, benchmark, judged):
        difference, error = benchmark.pedantic(loop, judged, rounds=1)
        result = compare(*judged)
        assert np.abs((difference - result.difference) / error).mean() < 0.5
        assert np.allclose(error, result.standard_error, rtol=0.2)
