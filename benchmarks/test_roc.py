"""AUC, DeLong's covariance and threshold sweeps, beside sorts and other libraries."""

import numpy as np
import pytest
from sklearn import metrics

import fastcmp


@pytest.fixture(
    scope="module",
    params=[
        "10^6 float64",
        "10^6 float32",
        "10^6 float64 of 80 values",
        "10^6 float32 of 80 values",
        "10^7 float64",
        "10^7 float32",
    ],
)
def scores(request, size, rng):
    kind = request.param
    n = size(10 ** int(kind[3]), 5_000)
    y_true = rng.random(n) < 0.4
    score = (rng.normal(size=n) + y_true).astype(kind[5:12])
    if "values" in kind:
        score = np.round(score, 1)
    return kind, y_true, score


@pytest.mark.benchmark(min_rounds=5)
class TestAUC:
    def test_ours(self, benchmark, scores):
        kind, y_true, score = scores
        benchmark.group = f"AUC of {kind} scores"
        benchmark.extra_info["target_note"] = "0.62 x np.sort, 15 x scikit-learn"
        area = benchmark(fastcmp.auc, y_true, score)
        assert area == pytest.approx(metrics.roc_auc_score(y_true, score))

    def test_numpy_sort_of_the_scores(self, benchmark, scores):
        kind, _, score = scores
        benchmark.group = f"AUC of {kind} scores"
        assert benchmark(np.sort, score).size == score.size

    def test_scikit_learn(self, benchmark, scores):
        kind, y_true, score = scores
        benchmark.group = f"AUC of {kind} scores"
        assert benchmark(metrics.roc_auc_score, y_true, score) > 0.5


@pytest.fixture(scope="module")
def models(size, rng):
    n_models, n = size((200, 100_000), (5, 2_000))
    y_true = rng.random(n) < 0.3
    return y_true, rng.normal(size=(n_models, n)) + y_true


@pytest.mark.benchmark(group="AUC of 200 models, n = 10^5, two threads")
class TestManyAUC:
    def test_ours(self, benchmark, models):
        benchmark.extra_info["target"] = 1.8
        areas = benchmark(fastcmp.auc, *models, workers=2)
        assert areas.shape == (len(models[1]),)

    def test_one_thread(self, benchmark, models):
        areas = benchmark(fastcmp.auc, *models, workers=1)
        assert areas.shape == (len(models[1]),)


@pytest.mark.benchmark(group="DeLong's covariance of 50 models, n = 10^5")
class TestDelong:
    def test_ours(self, benchmark, models):
        benchmark.extra_info["target"] = 1
        result = benchmark(fastcmp.delong, models[0], models[1][:50])
        assert result.covariance.shape == (result.auc.size, result.auc.size)

    def test_numpy_argsorts_and_one_product(self, benchmark, models):
        rows = models[1][:50]
        benchmark(lambda: ([np.argsort(row) for row in rows], rows @ rows.T))


@pytest.mark.benchmark(group="ROC curve, n = 10^6")
class TestSweep:
    def test_ours(self, benchmark, size, rng):
        n = size(1_000_000, 5_000)
        y_true = rng.random(n) < 0.4
        score = rng.normal(size=n) + y_true
        benchmark.extra_info["target"] = 5
        curve = benchmark(fastcmp.roc_curve, y_true, score)
        assert curve.tpr[-1] == 1

    def test_scikit_learn(self, benchmark, size, rng):
        n = size(1_000_000, 5_000)
        y_true = rng.random(n) < 0.4
        score = rng.normal(size=n) + y_true
        benchmark(metrics.roc_curve, y_true, score, drop_intermediate=False)


@pytest.fixture(scope="module")
def pair(size, rng):
    n = size(10_000, 500)
    y_true = rng.random(n) < 0.4
    return y_true, rng.normal(size=(2, n)) + y_true


@pytest.mark.benchmark(group="bootstrap of two AUCs, 2,000 draws, n = 10^4")
class TestBootstrap:
    def test_ours(self, benchmark, pair):
        benchmark.extra_info["target"] = 50
        result = benchmark(fastcmp.auc_bootstrap, *pair, n_resamples=2000, rng=1)
        error = fastcmp.delong(*pair).standard_error
        np.testing.assert_allclose(result.standard_error, error, rtol=0.15)

    def test_scikit_learn_sorting_each_draw(self, benchmark, pair):
        y_true, scores = pair
        groups = np.flatnonzero(y_true), np.flatnonzero(~y_true)
        rng = np.random.default_rng(1)

        def draw():
            chosen = np.concatenate([rng.choice(g, g.size) for g in groups])
            return [metrics.roc_auc_score(y_true[chosen], s[chosen]) for s in scores]

        benchmark.extra_info["times"] = 2000
        assert min(benchmark(draw)) > 0.5
