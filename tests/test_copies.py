"""Files mapped into memory are read where they are: a call takes less than a copy."""

import tracemalloc

import numpy as np
import pytest

from fastcmp import auc, cochrans_q, compare_all, count_labels, fold_test, mcnemar, stream

N, M = 100_000, 8


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Map true labels, predictions, scores and folds from files."""
    rng = np.random.default_rng(3)
    y_true = rng.integers(0, 2, N, dtype=np.uint8)
    arrays = {
        "y_true": y_true,
        "preds": np.where(rng.random((M, N)) < 0.8, y_true, 1 - y_true),
        "scores": (rng.normal(size=(M, N)) + y_true).astype(np.float32),
        "differences": rng.integers(-1, 2, (M, N)).astype(np.float64),
        "folds": np.arange(N) % 5,
    }
    folder = tmp_path_factory.mktemp("mapped")
    for name, array in arrays.items():
        np.save(folder / name, array)
    return {name: np.load(folder / f"{name}.npy", mmap_mode="r") for name in arrays}


def peak_of(function, *arrays):
    """The memory that a call takes beside what it was given, the least of a few: one compiles."""
    function(*arrays)
    peaks = []
    for _ in range(5):
        tracemalloc.start()
        try:
            function(*arrays)
            peaks.append(tracemalloc.get_traced_memory()[1])
        finally:
            tracemalloc.stop()
    return min(peaks)


# Bytes a sample for eight models, of which the predictions alone take 8.
LABELS = {
    "compare_all": (lambda y, preds: compare_all(y, preds, workers=1), 2),
    "cochrans_q": (cochrans_q, 2),
    "mcnemar": (lambda y, preds: mcnemar(y, *preds[:2]), 0.5),
    "count_labels": (lambda y, preds: count_labels(y, *preds[:2]), 0.5),
    "PairCounts": (lambda y, preds: stream.PairCounts().update(y, preds), 2),
}


@pytest.mark.parametrize("name", LABELS)
def test_single_bytes_are_not_copied(files, name):
    function, most = LABELS[name]
    assert peak_of(function, files["y_true"], files["preds"]) < most * N


def test_scores_are_sorted_one_model_at_a_time(files):
    def areas(y_true, scores):
        return auc(y_true, scores, workers=1)

    taken = peak_of(areas, files["y_true"], files["scores"])
    assert taken < 8 * N < files["scores"].nbytes / 3


def test_doubles_are_not_copied(files):
    def bayle_z(differences, folds):
        return fold_test(differences, "bayle-z", folds=folds)

    taken = peak_of(bayle_z, files["differences"], files["folds"])
    assert taken < files["differences"].nbytes / 5  # the folds may be copied


def test_wider_labels_become_codes_of_single_bytes(files):
    wide = np.asarray(files["preds"], np.int64)
    taken = peak_of(LABELS["compare_all"][0], files["y_true"], wide)
    assert taken < (M + 4) * N < wide.nbytes / 5


def test_another_order_costs_one_copy(files):
    turned = np.asfortranarray(files["scores"])
    taken = peak_of(lambda y, x: auc(y, x, workers=1), files["y_true"], turned)
    assert files["scores"].nbytes < taken < files["scores"].nbytes + 8 * N
