"""Counts by true and predicted classes, against a dictionary of Python's own."""

import copy
import datetime as dt
import tracemalloc
from collections import Counter
from itertools import permutations
from operator import ne

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference_cases import cases

from fastcmp import count_labels
from fastcmp.records import LabelTable


def random_labels(n, k, seed=0, agreement=0.6):
    rng = np.random.default_rng(seed)
    y_true = rng.integers(k, size=n)
    preds = [np.where(rng.random(n) < agreement, y_true, rng.integers(k, size=n)) for _ in range(2)]
    return y_true, *preds


def cells_of(counts):
    """Return the cells by label."""
    names = counts.classes
    columns = [column.tolist() for column in counts.nonzero()]
    return {(names[t], names[a], names[b]): n for t, a, b, n in zip(*columns, strict=True)}


def assert_counts(counts, y_true, pred_a, pred_b, classes=None):
    """Hold everything that the record says against the labels in lists."""
    oracle = Counter(zip(y_true, pred_a, pred_b, strict=True))
    if classes is None:
        classes = sorted({*y_true, *pred_a, *pred_b})
    assert counts.classes == tuple(classes)
    assert isinstance(counts.classes, tuple)
    assert counts.n_classes == len(classes)
    assert counts.n_samples == len(y_true)
    assert type(counts.n_samples) is int
    assert cells_of(counts) == dict(oracle)
    assert all(column.size == len(oracle) for column in counts.nonzero())
    place = {label: i for i, label in enumerate(classes)}
    codes = [list(map(place.get, column)) for column in (y_true, pred_a, pred_b)]
    for table, pred in ((counts.confusion_a, codes[1]), (counts.confusion_b, codes[2])):
        expect = np.zeros((len(classes), len(classes)), int)
        np.add.at(expect, (codes[0], pred), 1)
        np.testing.assert_array_equal(table, expect)
        assert table.dtype == np.int64
    wrong = [sum(map(ne, codes[0], pred)) for pred in codes[1:]]
    assert counts.errors == tuple(n / len(y_true) for n in wrong)
    if len(classes) <= 40:
        dense = counts.to_dense()
        assert dense.dtype == np.int64
        assert dense.sum() == len(y_true)
        assert all(dense[tuple(map(place.get, key))] == n for key, n in oracle.items())


# Labels of every type.

SMALL = [[0, 1, 1, 2, 0, 2], [0, 1, 2, 2, 1, 2], [0, 0, 1, 2, 0, 1]]
LABELS = {
    "codes": [0, 1, 2],
    "from 1": [1, 2, 3],
    "negative": [-5, -2, 7],
    "gaps": [1000, 1003, 1009],
    "far apart": [-(2**40), 3, 2**60],
    "extremes": [-(2**63), 0, 2**63 - 1],
    "beyond int64": [2**63, 2**64 - 1, 10**30],
    "strings": ["cat", "dog", "éel"],
    "bytes": [b"a", b"a\0", b"b"],
    "fractions": [-0.5, 0.25, 1.5],
    "whole and not": [-1, 0.25, 3],
    "dates": [dt.date(2024, 1, d) for d in (1, 5, 9)],
    "times": [np.datetime64(d, "s") for d in (10, 11, 99)],
}


@pytest.mark.parametrize("kind", LABELS)
def test_every_type_of_labels(kind):
    for names in (LABELS[kind], LABELS[kind][::-1]):
        columns = [[names[i] for i in column] for column in SMALL]
        counts = count_labels(*columns)
        assert_counts(counts, *columns)
        assert (counts.n_missing, counts.n_excluded) == (0, 0)
    # Few classes far apart, and one that a column alone has.
    if all(isinstance(x, int) for x in names):
        assert counts.counts.shape == (3, 3, 3)
        one, other = [names[0]] * 3, [names[0], names[1], names[0]]
        for columns in permutations([one, one, other]):
            assert_counts(count_labels(*columns), *columns)


@pytest.mark.parametrize("kind", ["i1", "u1", "i2", "u2", "i4", "i8", "u8", "f4", ">i4"])
def test_arrays_of_every_type(kind):
    for first in (0, 1, 100, 250 if kind.startswith("u") else -100):
        arrays = [np.add(column, first).astype(kind) for column in SMALL]
        counts = count_labels(*arrays)
        assert_counts(counts, *[array.tolist() for array in arrays])
        assert all(type(label) is int for label in counts.classes)


def test_labels_without_an_order_keep_that_of_their_appearance():
    columns = [[2j, 1, 2j, 3], [1, 1, 3, 3], [2j, 2j, 1, 5]]
    counts = count_labels(*columns)
    assert_counts(counts, *columns, classes=[2j, 1, 3, 5])


@given(st.integers(2, 60), st.integers(0, 2**32 - 1), st.sampled_from([3, 200, 2**63]))
def test_integers_against_a_dictionary(n, seed, spread):
    rng = np.random.default_rng(seed)
    y_true = rng.integers(-spread, spread - 1, n)
    others = rng.choice(np.append(y_true, rng.integers(-spread, spread - 1, 3)), (2, n))
    columns = np.where(rng.random((2, n)) < 0.5, y_true, others)
    columns[:, 0] = y_true[0]
    assert_counts(count_labels(y_true, *columns), y_true.tolist(), *columns.tolist())


def test_against_references():
    for case in cases("tri_label_counts"):
        counts = count_labels(*(case["input"][x] for x in ("y", "model1", "model2")))
        # There the true class comes last.
        expect = np.transpose(case["expected"]["counts_ijk"], (2, 0, 1))
        np.testing.assert_array_equal(counts.to_dense(), expect)


# Chosen classes.


def test_classes_set_the_order_and_select():
    y_true = ["a", "b", "z", "c", "b", "z"]
    a = ["c", "b", "z", "c", "a", "q"]
    b = ["a", "b", "a", "a", "c", "z"]
    chosen = ["c", "x", "a", "b"]
    counts = count_labels(y_true, a, b, classes=chosen)
    inside = [i for i, label in enumerate(y_true) if label != "z"]
    kept = [[column[i] for i in inside] for column in (y_true, a, b)]
    assert_counts(counts, *kept, classes=chosen)
    assert (counts.n_excluded, counts.n_missing) == (2, 0)


# Missing labels.


@pytest.mark.parametrize("hole", [None, np.nan])
def test_samples_without_a_true_label_are_dropped(hole):
    counts = count_labels(["a", hole, "b", hole], ["a", "z", "a", None], ["b", "a", "b", "a"])
    assert_counts(counts, ["a", "b"], ["a", "a"], ["b", "b"])
    assert (counts.n_missing, counts.n_excluded) == (2, 0)
    assert "2 samples without a true label were dropped." in str(counts)
    y_true = np.ma.array([3, 2, 1, 3], mask=[0, 1, 0, 0])
    counts = count_labels(y_true, np.array([3, 9, 3, 1], "u1"), [1, 1, 3, 3])
    assert_counts(counts, [3, 1, 3], [3, 3, 1], [1, 3, 3])


# The two forms.


@pytest.mark.parametrize("k", [2, 127, 128, 129, 200])
def test_both_sides_of_the_limit(k):
    columns = random_labels(3000, k, seed=k)
    columns[0][:k] = np.arange(k)
    counts = count_labels(*columns)
    assert (counts.cells is None) is (k <= 128)
    assert_counts(counts, *[column.tolist() for column in columns])


@pytest.mark.parametrize("spread", [1, 2**40])
def test_hundreds_of_thousands_of_classes(spread):
    n = 100_000
    rng = np.random.default_rng(spread)
    y_true = rng.permutation(n) * spread
    a, b = np.where(rng.random(n) < 0.9, y_true, 0), np.roll(y_true, 1)
    counts = count_labels(y_true, a, b)
    assert (counts.n_classes, counts.n_samples) == (n, n)
    assert counts.errors == (np.mean(a != y_true), 1.0)
    assert list(counts.classes) == sorted(counts.classes)
    *cells, number = counts.nonzero()
    assert number.tolist() == [1] * n
    order = np.argsort(y_true)
    for places, column in zip(cells, (y_true, a, b), strict=True):
        np.testing.assert_array_equal(np.array(counts.classes)[places], column[order])
    wanted = rf"^a confusion matrix of {n} classes needs 80 GB: use nonzero\(\)$"
    for name in ("confusion_a", "confusion_b"):
        with pytest.raises(ValueError, match=wanted):
            getattr(counts, name)
    with pytest.raises(ValueError, match=rf"^to_dense needs .* GB for {n} classes: use nonzero"):
        counts.to_dense()


def test_memory_of_a_thousand_classes():
    columns = random_labels(10**6, 1000)
    count_labels(*[column[:1000] for column in columns])
    tracemalloc.start()
    counts = count_labels(*columns)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert counts.n_samples == 10**6
    assert peak < 200e6
    with pytest.raises(ValueError, match=r"^to_dense needs 8 GB for 1000 classes: "):
        counts.to_dense()
    assert counts.confusion_a.sum() == 10**6


# Parts of the data.


@pytest.mark.parametrize("k", [3, 140])
def test_counts_of_parts_add_up(k):
    columns = [column.astype(object) for column in random_labels(400, k, seed=5)]
    columns[0][::50] = None
    columns[0][1::40] = k + 1
    options = {"classes": list(range(k))}
    whole = count_labels(*columns, **options)
    parts = [
        count_labels(*[column[i:j] for column in columns], **options)
        for i, j in [(0, 20), (20, 150), (150, 395), (395, 400)]
    ]
    assert (whole.n_missing, whole.n_excluded) == (8, 10)
    before = [copy.deepcopy(part) for part in parts]
    for order in permutations(parts):
        assert sum(order) == whole
    assert parts[0] + (parts[1] + (parts[2] + parts[3])) == whole
    assert parts == before


def test_counts_of_other_classes_do_not_add_up():
    wanted = r"^counts can be added where their classes agree; pass the same classes= to"
    one = count_labels([0, 1], [0, 1], [1, 1])
    for labels in ([0, 2], [0, 0], [1, 2]):
        with pytest.raises(ValueError, match=wanted):
            one + count_labels(labels, labels, labels)
    with pytest.raises(ValueError, match=wanted):
        one + count_labels([0, 1], [0, 1], [1, 1], classes=[1, 0])


# Threads and memory layout.


def test_many_samples():
    n = 4_500_000  # more than one thread takes
    columns = [c.astype(np.uint8) for c in random_labels(n, 3)]
    one, two = (count_labels(*columns, workers=w) for w in (1, 2))
    assert one == two
    flat = (columns[0] * np.uint8(3) + columns[1]) * np.uint8(3) + columns[2]
    assert one.counts.ravel().tolist() == np.bincount(flat, minlength=27).tolist()


# Losses, and the record.


def test_losses_by_hand():
    counts = count_labels(["x", "y", "y", "y"], ["x", "x", "y", "y"], ["y"] * 4)
    named = {"y": {"x": 5}, "x": {"y": 1}}
    assert counts.losses([[0, 1], [5, 0]]) == (1.25, 0.25)
    assert counts.losses(named) == (1.25, 0.25)
    assert [type(loss) for loss in counts.losses(named)] == [float, float]
    assert [type(error) for error in counts.errors] == [float, float]
    assert counts.losses([[0, 1], [1, 0]]) == counts.errors


def test_the_record():
    counts = count_labels(["<a>", "b", "b", "z"], ["<a>"] * 4, ["b"] * 4, classes=["<a>", "b"])
    assert type(counts) is LabelTable
    assert str(counts).splitlines() == [
        "Counts by true and predicted classes",
        "3 samples of 2 classes, in 2 different cells",
        "a is wrong on 66.67%, b on 33.33%",
        "1 samples of other classes were dropped.",
    ]
    dense = counts.to_dense()
    dense[:] = 0
    assert counts.n_samples == 3


@pytest.mark.parametrize("late", [3, 100, 200])
def test_classes_that_first_occur_late(late):
    rng = np.random.default_rng(6)
    y, a, b = rng.integers(0, 2, (3, 9_000), np.uint8)
    a[-1] = late
    counts = count_labels(y, a, b)
    assert counts.classes == (0, 1, late)
    assert counts.to_dense().sum() == 9_000
    assert counts.to_dense()[y[-1], 2, b[-1]] == 1
