"""Metrics of counts of one model, two, and all pairs, beside scikit-learn."""

import numpy as np
import pytest
from sklearn.metrics import f1_score

import fastcmp
from fastcmp import kernels
from fastcmp.stream import ConfusionCounts


def labels(rng, k, n, n_models):
    """Draw true labels, and those of models that are right on 7 of 10 samples."""
    y_true = rng.integers(0, k, n).astype(np.uint8 if k < 256 else np.int32)
    preds = np.empty((n_models, n), y_true.dtype)
    for pred in preds:
        noise = rng.integers(0, k, n).astype(y_true.dtype)
        pred[:] = np.where(rng.random(n) < 0.7, y_true, noise)
    return y_true, preds


@pytest.fixture(scope="module")
def ten(size, rng):
    return labels(rng, 10, size(1_000_000, 20_000), 1)


@pytest.mark.benchmark(group="macro F1 with its interval, 10 classes, 1,000,000 samples")
class TestOneModel:
    def test_ours(self, benchmark, ten):
        y_true, (pred,) = ten
        result = benchmark(fastcmp.metric, y_true, pred, metric="f1_macro")
        benchmark.extra_info["target_note"] = "0.83 x counting, 20 x scikit-learn"
        assert np.isclose(result.value, f1_score(y_true, pred, average="macro"))

    def test_counting_alone(self, benchmark, ten):
        y_true, (pred,) = ten

        def count():
            table = np.zeros((10, 10), np.int64)
            kernels.count_agreement(y_true, pred, table)
            return table

        assert benchmark(count).sum() == y_true.size

    def test_counts_of_a_stream(self, benchmark, ten):
        y_true, preds = ten
        counts = benchmark(lambda: ConfusionCounts().update(y_true, preds))
        assert counts.n_samples == y_true.size

    def test_f1_score(self, benchmark, ten):
        y_true, (pred,) = ten
        assert benchmark(f1_score, y_true, pred, average="macro") > 0.5


@pytest.fixture(scope="module")
def two(size, rng):
    y_true, preds = labels(rng, 2, size(1_000_000, 20_000), 2)
    return y_true, *preds, fastcmp.count_labels(y_true, *preds)


DRAWS = 10_000


def resampled(y_true, a, b, rows):
    """Compare two models on chosen samples, as one draw of a bootstrap does."""
    return f1_score(y_true[rows], a[rows]) - f1_score(y_true[rows], b[rows])


def exchanged(y_true, a, b, turned):
    """Compare two models after an exchange of some predictions."""
    first, second = np.where(turned, b, a), np.where(turned, a, b)
    return f1_score(y_true, first) - f1_score(y_true, second)


@pytest.mark.benchmark(group="two models' F1, n = 1,000,000, bootstrap, 10,000 draws")
class TestBootstrap:
    def test_ours_from_counts(self, benchmark, two):
        options = {"metric": "f1", "method": "bootstrap", "n_resamples": DRAWS}
        result = benchmark(fastcmp.compare_metric, counts=two[-1], **options, rng=1)
        benchmark.extra_info["target_note"] = "at most 50 ms; 10,000 x"
        near = fastcmp.compare_metric(counts=two[-1], metric="f1", method="delta")
        assert np.isclose(result.standard_error, near.standard_error, rtol=0.05)

    def test_scikit_learn_on_samples(self, benchmark, two):
        *data, _ = two
        rows = np.random.default_rng(1).integers(0, data[0].size, data[0].size)
        benchmark.extra_info["times"] = DRAWS
        benchmark.pedantic(resampled, (*data, rows), rounds=3)


@pytest.mark.benchmark(group="two models' F1, n = 1,000,000, 10,000 random exchanges")
class TestPermutation:
    def test_ours_from_counts(self, benchmark, two):
        options = {"metric": "f1", "method": "permutation", "n_resamples": DRAWS}
        result = benchmark(fastcmp.compare_metric, counts=two[-1], **options, rng=1)
        benchmark.extra_info["target_note"] = "at most 50 ms; 10,000 x"
        exact = fastcmp.compare_metric(counts=two[-1], metric="f1")
        assert np.isclose(result.pvalue, exact.pvalue, atol=0.03)

    def test_scikit_learn_on_samples(self, benchmark, two):
        *data, _ = two
        turned = np.random.default_rng(1).random(data[0].size) < 0.5
        benchmark.extra_info["times"] = DRAWS
        benchmark.pedantic(exchanged, (*data, turned), rounds=3)


@pytest.mark.benchmark(group="two models' F1, n = 1,000,000, exact permutation test")
class TestExact:
    def test_ours(self, benchmark, two):
        y_true, a, b, table = two
        result = benchmark(fastcmp.compare_metric, y_true, a, b, metric="f1")
        assert result.method == "exact"
        z = fastcmp.compare_metric(counts=table, metric="f1", method="pooled")
        assert np.isclose(result.pvalue, z.pvalue, atol=0.01)

    def test_f1_score_of_both(self, benchmark, two):
        y_true, a, b, _ = two
        benchmark(lambda: f1_score(y_true, a) - f1_score(y_true, b))


@pytest.fixture(scope="module")
def many(size, rng):
    n_models, n = size((1_000, 100_000), (12, 5_000))
    return labels(rng, 10, n, n_models)


@pytest.mark.benchmark(group="all pairs of macro F1, 1,000 models x 100,000 samples, 10 classes")
class TestAllPairs:
    def test_ours(self, benchmark, many):
        y_true, preds = many
        result = benchmark(fastcmp.compare_all, y_true, preds, metric="f1_macro")
        benchmark.extra_info["target_note"] = "at least 0.67 x"
        alone = fastcmp.compare_metric(y_true, *preds[:2], metric="f1_macro", method="jackknife")
        assert np.isclose(result.pvalue[0], alone.pvalue, rtol=1e-4)

    def test_one_product(self, benchmark, many):
        values = many[1].astype(np.float32)
        benchmark(lambda: values @ values.T)


@pytest.fixture(scope="module")
def thousand(size, rng):
    return labels(rng, 1_000, size(1_000_000, 20_000), 2)


@pytest.mark.benchmark(group="two models' macro F1, 1,000 classes, 1,000,000 samples")
class TestManyClasses:
    def test_ours(self, benchmark, thousand):
        y_true, (a, b) = thousand
        result = benchmark(fastcmp.compare_metric, y_true, a, b, metric="f1_macro")
        benchmark.extra_info["target_note"] = "at most 1 s"
        assert np.isclose(result.value_a, f1_score(y_true, a, average="macro"))

    def test_f1_score_of_both(self, benchmark, thousand):
        y_true, preds = thousand
        benchmark.pedantic(
            lambda: [f1_score(y_true, pred, average="macro") for pred in preds], rounds=2
        )
