"""What the records of cross-validation say: distributions, signs, seeds, tables."""

from functools import cache

import numpy as np
import pytest

import fastcmp


@cache
def data():
    rng = np.random.default_rng(4)
    y = rng.choice(["ja", "nein"], 60)
    return rng.normal(size=(60, 2)) + 1.5 * (y == "ja")[:, None], y


def models():
    from cv_models import NB, STUMP

    return NB, STUMP


@cache
def two():
    tests = ["kfold-t", "bcv-mcnemar", "alpaydin-f", "bayle-z"]
    return fastcmp.compare_cv(*models(), *data(), test=tests, rng=1)


@cache
def by_f1():
    X, y = data()
    return fastcmp.compare_cv(*models(), X, y == "ja", test="kfold-t", scoring="f1", rng=1)


def tables():
    return np.random.default_rng(5).integers(1, 30, (3, 5, 2, 2, 2))


def test_differences_have_one_sign():
    gap = two().difference
    assert gap == pytest.approx(np.subtract(*two().scores().mean(axis=(1, 2))))
    for name, record in two().tests.items():
        scores = two().scores(name)
        assert record.measure == "accuracy"
        assert record.difference == pytest.approx(np.subtract(*scores.mean((1, 2))))
        assert record.better == ("a" if record.difference > 0 else "b")
    assert by_f1().measure == by_f1().tests["kfold-t"].measure == "f1"
    x = np.random.default_rng(6).normal(size=(2, 3, 5, 2))
    record = fastcmp.fold_test(x, "dietterich-t")
    assert (record.estimate == x[..., 0, 0]).all()  # one difference of ten
    np.testing.assert_allclose(record.difference, x.mean(axis=(2, 3)))
    assert (record.better == np.where(record.difference > 0, "a", "b")).all()
    counts = tables()[:, 0]
    only_a, only_b = counts[..., 0, 1].sum(1), counts[..., 1, 0].sum(1)
    naive = fastcmp.fold_test(counts, "naive-mcnemar")
    np.testing.assert_allclose(naive.difference, (only_a - only_b) / counts.sum((1, 2, 3)))
    assert two().tests["bcv-mcnemar"].posterior("Q_a") == two().tests["bcv-mcnemar"].posterior("qa")


def test_tables_of_scores_and_predictions():
    frame = by_f1().runs.to_frame()
    assert frame.groupby("model").score.mean()["b"] == pytest.approx(by_f1().scores()[1].mean())
    frame = two().runs.runs[0].to_frame()
    truth = two().runs.y[frame["sample"]]
    right = (frame.prediction == truth).groupby([frame.model, frame.fold]).mean()
    np.testing.assert_allclose(right.to_numpy().reshape(2, 10), two().scores()[:, 0])
