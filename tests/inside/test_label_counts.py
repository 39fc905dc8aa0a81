"""Counts of labels: each way to count, and both forms, give the same."""

import numpy as np
import pytest

from fastcmp import count_labels
from fastcmp.counts import label_counts
from fastcmp.inputs import labels
from fastcmp.stream import ConfusionCounts, LabelCounts, class_counts


def random_labels(n, k, seed=0, n_models=2):
    rng = np.random.default_rng(seed)
    y_true = rng.integers(k, size=n)
    others = rng.integers(k, size=(n_models, n))
    return y_true, *np.where(rng.random((n_models, n)) < 0.6, y_true, others)


@pytest.mark.parametrize(
    ("keyed", "marks", "chunk", "spread"),
    [
        *((True, True, 7, 1), (True, False, 100, 10**5), (False, True, 10**6, 2**55)),
        *((False, False, 7, 10**5), (True, True, 10**6, 2**55), (False, True, 100, 1)),
    ],
)
def test_every_way_to_count_many_classes(monkeypatch, keyed, marks, chunk, spread):
    monkeypatch.setattr(label_counts, "_KEYED_CLASSES", 10**9 if keyed else 0)
    monkeypatch.setattr(labels, "_MARKS", 10**9 if marks else 0)
    monkeypatch.setattr(label_counts, "_CHUNK", chunk)
    codes = np.array(random_labels(700, 160))
    classes = np.unique(codes)
    expected, samples = np.unique(np.searchsorted(classes, codes), axis=1, return_counts=True)
    for values in ((classes - 3) * spread, [f"class {label:03}" for label in classes]):
        names = dict(zip(classes.tolist(), np.asarray(values).tolist(), strict=True))
        found = count_labels(*[[names[code] for code in column] for column in codes.tolist()])
        assert found.classes == tuple(names.values())
        np.testing.assert_array_equal(found.cells, expected.T)
        np.testing.assert_array_equal(found.counts, samples)
        assert found.cells.dtype == found.counts.dtype == np.int64


@pytest.mark.parametrize("k", [2, 3, 17])
def test_both_forms_say_the_same(monkeypatch, k):
    first, second = (random_labels(500, k, seed) for seed in (1, 2))
    options = {"classes": list(range(k))}
    dense, more = (count_labels(*x, **options) for x in (first, second))
    monkeypatch.setattr(label_counts, "_DENSE_CLASSES", 0)
    sparse, extra = (count_labels(*x, **options) for x in (first, second))
    cost = np.random.default_rng(k).random((k, k)) * (1 - np.eye(k))
    for one, other in ((dense, sparse), (dense + more, sparse + extra)):
        assert one.cells is None
        assert other.cells is not None
        for ours, theirs in zip(one.nonzero(), other.nonzero(), strict=True):
            np.testing.assert_array_equal(ours, theirs)
        np.testing.assert_array_equal(one.to_dense(), other.to_dense())
        np.testing.assert_array_equal(one.confusion_b, other.confusion_b)
        assert one.losses(cost) == pytest.approx(other.losses(cost), rel=1e-13)
        assert (one.errors, one.classes, str(one)) == (other.errors, other.classes, str(other))


@pytest.mark.parametrize(("n", "k"), [(2, 30), (3, 2), (10, 3), (1001, 2), (1001, 30)])
def test_any_number_of_workers_gives_the_same(monkeypatch, n, k):
    monkeypatch.setattr(label_counts, "_PART", 1)
    monkeypatch.setattr("fastcmp.stream.class_counts._THREADS_PAY", 0)
    columns = random_labels(n, k)
    one, *others = [count_labels(*columns, workers=w) for w in (1, 2, 4, 7)]
    assert all(other == one for other in others)
    for kind in (LabelCounts, ConfusionCounts):
        one, *others = [kind().update(columns[0], columns[1:], workers=w) for w in (1, 2, 7)]
        assert all(other == one for other in others)


def test_from_dense_to_sparse_as_classes_come(monkeypatch):
    monkeypatch.setattr(class_counts, "_DENSE_TABLE", 27)
    y_true, *preds = np.sort(random_labels(300, 9, n_models=3), axis=1)
    whole = LabelCounts().update(y_true, preds)
    grown = LabelCounts()
    for i in range(0, 300, 7):
        grown.update(y_true[i : i + 7], [pred[i : i + 7] for pred in preds])
    assert grown == whole
    assert grown.n_bytes == whole.n_bytes
    with pytest.raises(ValueError, match=r"^counts of 3 pairs and 9 classes are sparse"):
        whole.counts  # noqa: B018
    few = LabelCounts().update([0, 1, 2], [[0, 1, 2], [2, 1, 0]])
    assert few.counts.shape == (1, 3, 3, 3)
    assert few + LabelCounts(2) == few
    big = LabelCounts().update(y_true, preds[:2])
    assert few + big == big + few
    np.testing.assert_array_equal(big.record().to_dense(), count_labels(y_true, *preds[:2]).counts)
    for counts in (whole, few, big):
        assert counts.copy() == counts
