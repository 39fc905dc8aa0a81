"""Counts by true and predicted classes, against a dictionary of Python's own."""

import copy
import datetime as dt
import json
import pickle
import tracemalloc
from collections import Counter
from dataclasses import FrozenInstanceError
from itertools import permutations
from operator import ne

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive import small_if_interpreted
from reference_cases import cases
from sklearn.metrics import confusion_matrix
from strategies import any_labels

from fastcmp import LabelTable, count_labels, from_dict
from fastcmp.counts import label_counts, label_table
from fastcmp.inputs import label_order

FORMS = pytest.mark.parametrize("form", ["dense", "sparse"])


@pytest.fixture
def form_of(monkeypatch):
    """Make all counts of one form, few as the classes may be."""

    def choose(form):
        if form == "sparse":
            monkeypatch.setattr(label_counts, "_DENSE_CLASSES", 0)

    return choose


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
EXTREMES = [-(2**63), 0, 2**63 - 1]
LABELS = {
    "codes": [0, 1, 2],
    "from 1": [1, 2, 3],
    "negative": [-5, -2, 7],
    "gaps": [1000, 1003, 1009],
    "far apart": [-(2**40), 3, 2**60],
    "extremes": EXTREMES,
    "beyond int64": [2**63, 2**64 - 1, 10**30],
    "strings": ["cat", "dog", "éel"],
    "bytes": [b"a", b"a\0", b"b"],
    "fractions": [-0.5, 0.25, 1.5],
    "whole and not": [-1, 0.25, 3],
    "dates": [dt.date(2024, 1, d) for d in (1, 5, 9)],
    "times": [np.datetime64(d, "s") for d in (10, 11, 99)],
}


@FORMS
@pytest.mark.parametrize("names", LABELS.values(), ids=LABELS)
@pytest.mark.parametrize("flip", [False, True])
def test_every_type_of_labels(form, form_of, names, flip):
    form_of(form)
    codes = [[2 - i if flip else i for i in column] for column in SMALL]
    columns = [[names[i] for i in column] for column in codes]
    counts = count_labels(*columns)
    assert (counts.cells is None) is (form == "dense")
    assert_counts(counts, *columns)
    assert (counts.n_missing, counts.n_excluded) == (0, 0)


@FORMS
@pytest.mark.parametrize("kind", ["i1", "u1", "i2", "u2", "i4", "i8", "u8", "f4", ">i4"])
@pytest.mark.parametrize("first", [0, 1, 100, -100])
def test_arrays_of_every_type(form, form_of, kind, first):
    form_of(form)
    if first < 0 and kind.startswith("u"):
        first = 250
    arrays = [np.add(column, first).astype(kind) for column in SMALL]
    counts = count_labels(*arrays)
    assert_counts(counts, *[array.tolist() for array in arrays])
    assert all(type(label) is int for label in counts.classes)


def test_bytes_up_to_255():
    columns = np.array([[0, 255, 7], [255, 255, 7], [0, 0, 255]], np.uint8)
    assert_counts(count_labels(*columns), *columns.tolist())
    every = np.arange(256, dtype=np.uint8)
    counts = count_labels(every, every[::-1], every)
    assert counts.cells is not None
    assert_counts(counts, every.tolist(), every[::-1].tolist(), every.tolist())


@FORMS
@pytest.mark.parametrize("box", [list, np.array, pd.Series, pl.Series, pa.array])
def test_bools(form, form_of, box):
    form_of(form)
    columns = [[True, False, True], [True, True, False], [False, False, True]]
    assert_counts(count_labels(*map(box, columns)), *columns)


def test_a_class_that_only_one_column_has():
    for columns in permutations([[0, 0, 0], [0, 0, 0], [0, 7, 0]]):
        assert_counts(count_labels(*columns), *columns)
    assert_counts(count_labels([3, 3], [3, 3], [3, 3]), [3, 3], [3, 3], [3, 3])


BOXES = {
    "pandas": pd.Series,
    "pandas strings": lambda x: pd.Series(x, dtype="string"),
    "pandas category": lambda x: pd.Series(x, dtype="category"),
    "more categories": lambda x: pd.Categorical(x, categories=list("zecdba")),
    "polars": pl.Series,
    "polars category": lambda x: pl.Series(x, dtype=pl.Categorical),
    "polars enum": lambda x: pl.Series(x, dtype=pl.Enum(list("zecdba"))),
    "arrow": pa.array,
    "arrow chunks": lambda x: pa.chunked_array([x[:2], x[2:]]),
    "arrow dictionary": lambda x: pa.array(x).dictionary_encode(),
    "objects": lambda x: np.array(x, object),
    "fixed width": np.array,
    "list": list,
}


@FORMS
@pytest.mark.parametrize("box", BOXES.values(), ids=BOXES)
def test_columns_of_every_library(form, form_of, box):
    form_of(form)
    columns = [["bad"[i] for i in column] for column in SMALL]
    assert_counts(count_labels(*map(box, columns)), *columns)
    mixed = count_labels(columns[0], box(columns[1]), columns[2])
    assert_counts(mixed, *columns)


def test_columns_of_a_frame():
    frame = pd.DataFrame(np.transpose(SMALL), columns=["y", "a", "b"], index=range(9, 3, -1))
    counts = count_labels(frame["y"], frame["a"], frame["b"][::-1][::-1])
    assert_counts(counts, *SMALL)


@FORMS
def test_labels_without_an_order_keep_that_of_their_appearance(form, form_of):
    form_of(form)
    columns = [[2j, 1, 2j, 3], [1, 1, 3, 3], [2j, 2j, 1, 5]]
    counts = count_labels(*columns)
    assert_counts(counts, *columns, classes=[2j, 1, 3, 5])


def test_numbers_in_mixed_boxes():
    counts = count_labels([1, 0, True], [1.0, 0.0, False], np.array([1, 0, 1], "u1"))
    assert_counts(counts, [1, 0, 1], [1, 0, 0], [1, 0, 1])


def some_labels(max_size=40):
    label = st.one_of(st.integers(-3, 3), st.integers(-(2**63), 2**63 - 1), st.integers(90, 200))
    return st.integers(2, max_size).flatmap(
        lambda n: st.tuples(*[st.lists(label, min_size=n, max_size=n)] * 3)
    )


@given(some_labels(), st.sampled_from([0, 3, 128]), st.sampled_from([1, 5, 10**6]))
def test_integers_against_a_dictionary(columns, dense_classes, chunk):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(label_counts, "_DENSE_CLASSES", dense_classes)
        patch.setattr(label_counts, "_CHUNK", chunk)
        with any_labels():
            assert_counts(count_labels(*columns), *columns)


def test_against_references():
    for case in cases("tri_label_counts"):
        counts = count_labels(*(case["input"][x] for x in ("y", "model1", "model2")))
        # There the true class comes last.
        expect = np.transpose(case["expected"]["counts_ijk"], (2, 0, 1))
        np.testing.assert_array_equal(counts.to_dense(), expect)


# Chosen classes.


@FORMS
@pytest.mark.parametrize("box", [list, np.array, pd.Series, pl.Series])
def test_classes_set_the_order_and_select(form, form_of, box):
    form_of(form)
    y_true = ["a", "b", "z", "c", "b", "z"]
    a = ["c", "b", "z", "c", "a", "q"]
    b = ["a", "b", "a", "a", "c", "z"]
    chosen = ["c", "x", "a", "b"]
    counts = count_labels(*map(box, (y_true, a, b)), classes=chosen)
    inside = [i for i, label in enumerate(y_true) if label != "z"]
    kept = [[column[i] for i in inside] for column in (y_true, a, b)]
    assert_counts(counts, *kept, classes=chosen)
    assert (counts.n_excluded, counts.n_missing) == (2, 0)


@pytest.mark.parametrize("kind", ["u1", "i8", "f8", "?"])
def test_classes_of_numbers(kind):
    columns = np.array([[1, 0, 1], [1, 1, 0], [0, 0, 1]], kind)
    counts = count_labels(*columns, classes=[1, 0])
    assert_counts(counts, *columns.tolist(), classes=[1, 0])


def test_more_classes_than_dense_counts_take():
    classes = [f"c{i}" for i in range(500)]
    y_true, a, b = (["c1", "c499", "c7"], ["c1", "c0", "c7"], ["c7", "c499", "c1"])
    counts = count_labels(y_true, a, b, classes=classes)
    assert counts.cells is not None
    assert_counts(counts, y_true, a, b, classes=classes)


@pytest.mark.parametrize("model", ["pred_a", "pred_b"])
@pytest.mark.parametrize(
    ("good", "bad", "shown"), [("a", "z", "'z'"), (1, 9, "9"), (b"a", b"z", "b'z'")]
)
def test_a_prediction_of_another_class_is_refused(model, good, bad, shown):
    other = {"a": "b", 1: 2, b"a": b"b"}[good]
    columns = {"pred_a": [good, good, other, good], "pred_b": [good, other, good, good]}
    columns[model][1] = columns[model][3] = bad
    wanted = rf"^{model} predicts {shown}, which is not among the classes \(2 such "
    with pytest.raises(ValueError, match=wanted):
        count_labels([good, good, other, other], *columns.values(), classes=[good, other])


@pytest.mark.parametrize(
    ("classes", "error", "wanted"),
    [
        (["a", "b", "a"], ValueError, "classes must differ, got 'a' twice"),
        (["a"], ValueError, "classes must name at least 2 classes"),
        ([0, 1], TypeError, "classes holds number labels and y_true str labels"),
        (
            ["x", "y"],
            ValueError,
            "y_true must hold at least 2 samples, got 0 samples a",
        ),
    ],
)
def test_bad_classes(classes, error, wanted):
    with pytest.raises(error, match=f"^{wanted}"):
        count_labels(["a", "b"], ["a", "b"], ["b", "a"], classes=classes)


# Missing labels.


@FORMS
@pytest.mark.parametrize("hole", [None, np.nan, pd.NA])
def test_samples_without_a_true_label_are_dropped(form, form_of, hole):
    form_of(form)
    counts = count_labels(["a", hole, "b", hole], ["a", "z", "a", None], ["b", "a", "b", "a"])
    assert_counts(counts, ["a", "b"], ["a", "a"], ["b", "b"])
    assert (counts.n_missing, counts.n_excluded) == (2, 0)
    assert "2 samples without a true label were dropped." in str(counts)


def test_numbers_without_a_true_label():
    y_true = pd.Series([3, None, 1, 3], dtype="Int8")
    counts = count_labels(y_true, np.array([3, 9, 3, 1], "u1"), [1, 1, 3, 3])
    assert_counts(counts, [3, 1, 3], [3, 3, 1], [1, 3, 3])
    assert counts.n_missing == 1
    masked = np.ma.array([3, 2, 1, 3], mask=[0, 1, 0, 0])
    assert count_labels(masked, [3, 9, 3, 1], [1, 1, 3, 3]) == counts


@pytest.mark.parametrize("model", ["pred_a", "pred_b"])
@pytest.mark.parametrize("classes", [None, ["a", "b"]])
def test_missing_predictions_are_refused_without_a_way_out(model, classes):
    columns = {"pred_a": ["a", "a", "b", "b"], "pred_b": ["a", "b", "b", "a"]}
    columns[model][2] = None
    wanted = rf"^{model} has no prediction at row 2 \(1 missing in all\)$"
    with pytest.raises(ValueError, match=wanted):
        count_labels([None, "a", "b", "a"], *columns.values(), classes=classes)


BAD = {
    "empty": (([], [], []), ValueError, "y_true must hold at least 2 samples, got 0"),
    "one": (([1], [1], [1]), ValueError, "y_true must hold at least 2 samples, got 1"),
    "short a": (([1, 0], [1], [1, 0]), ValueError, "pred_a has 1 labels, y_true has 2"),
    "long b": (([1, 0], [1, 0], [1] * 3), ValueError, "pred_b has 3 labels, y_true "),
    "2-d": (([1, 0], [1, 0], [[1, 0]]), ValueError, "pred_b must be one-dimensional"),
    "types": (([1, 0], [1, 0], ["a", "b"]), TypeError, "pred_b holds str labels and "),
    "mixed": (([1, 0], [1, "a"], [1, 0]), TypeError, "pred_a mixes int and str labels"),
}


@pytest.mark.parametrize(("columns", "error", "wanted"), BAD.values(), ids=BAD)
def test_bad_labels(columns, error, wanted):
    with pytest.raises(error, match=f"^{wanted}"):
        count_labels(*columns)


@pytest.mark.parametrize(
    ("workers", "error"), [(0, ValueError), (-2, ValueError), (1.0, TypeError)]
)
def test_bad_workers(workers, error):
    with pytest.raises(error, match=r"^workers must be "):
        count_labels(*SMALL, workers=workers)


# The two forms.


@pytest.mark.parametrize("k", [2, 127, 128, 129, 200])
def test_both_sides_of_the_limit(k):
    columns = random_labels(3000, k, seed=k)
    columns[0][:k] = np.arange(k)
    counts = count_labels(*columns)
    assert (counts.cells is None) is (k <= 128)
    assert_counts(counts, *[column.tolist() for column in columns])


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
        np.testing.assert_array_equal(one.confusion_a, other.confusion_a)
        np.testing.assert_array_equal(one.confusion_b, other.confusion_b)
        assert one.errors == other.errors
        assert one.losses(cost) == pytest.approx(other.losses(cost), rel=1e-13)
        assert (one.n_samples, one.n_classes) == (other.n_samples, other.n_classes)
        assert (one.classes, str(one)) == (other.classes, str(other))
    np.testing.assert_array_equal(dense.to_dense(), dense.counts)


@pytest.mark.parametrize("keyed", [True, False])
@pytest.mark.parametrize("marks", [True, False])
@pytest.mark.parametrize("chunk", [7, 100, 10**6])
@pytest.mark.parametrize("spread", [1, 10**5, 2**55])
def test_every_way_to_count_many_classes(monkeypatch, keyed, marks, chunk, spread):
    monkeypatch.setattr(label_counts, "_KEYED_CLASSES", 10**9 if keyed else 0)
    monkeypatch.setattr(label_order, "_MARKS", 10**9 if marks else 0)
    monkeypatch.setattr(label_counts, "_CHUNK", chunk)
    columns = [column * spread - 3 * spread for column in random_labels(700, 160)]
    counts = count_labels(*columns)
    assert counts.cells is not None
    assert_counts(counts, *[column.tolist() for column in columns])
    cells = counts.cells.tolist()
    assert cells == sorted(cells)
    assert counts.cells.dtype == counts.counts.dtype == np.int64
    names = [f"class {label}" for label in columns[0].tolist()]
    strings = count_labels(names, names[::-1], names)
    assert_counts(strings, names, names[::-1], names)


def test_few_classes_far_apart_are_dense(monkeypatch):
    for marks in (1 << 24, 0):
        monkeypatch.setattr(label_order, "_MARKS", marks)
        for spread in (200, 10**6, 2**29, 2**40):
            columns = [[spread * i for i in column] for column in SMALL]
            counts = count_labels(*columns)
            assert counts.cells is None
            assert counts.counts.shape == (3, 3, 3)
            assert_counts(counts, *columns)


@pytest.mark.parametrize("spread", [1, 10**4, 2**40])
def test_hundreds_of_thousands_of_classes(spread):
    n = 300_000
    rng = np.random.default_rng(spread)
    y_true = rng.permutation(n) * spread
    a, b = np.where(rng.random(n) < 0.9, y_true, 0), np.roll(y_true, 1)
    counts = count_labels(y_true, a, b)
    assert (counts.n_classes, counts.n_samples) == (n, n)
    assert counts.nonzero()[3].size == n
    assert counts.errors == (np.mean(a != y_true), 1.0)
    assert list(counts.classes) == sorted(counts.classes)
    t, p, q, _ = counts.nonzero()
    labels = np.array(counts.classes)
    order = np.argsort(y_true)
    np.testing.assert_array_equal(labels[t], y_true[order])
    np.testing.assert_array_equal(labels[p], a[order])
    np.testing.assert_array_equal(labels[q], b[order])
    wanted = rf"^a confusion matrix of {n} classes needs 720 GB: use nonzero\(\)$"
    with pytest.raises(ValueError, match=wanted):
        counts.confusion_a  # noqa: B018
    with pytest.raises(ValueError, match=wanted):
        counts.confusion_b  # noqa: B018
    wanted = rf"^to_dense needs .* GB for {n} classes: use nonzero\(\)$"
    with pytest.raises(ValueError, match=wanted):
        counts.to_dense()
    assert f"{n} samples of {n} classes" in str(counts)


@pytest.mark.full
def test_a_million_classes():
    n = 1_000_000
    y_true = np.arange(n) * 2**38
    counts = count_labels(y_true, y_true, y_true[::-1])
    assert (counts.n_classes, counts.n_samples) == (n, n)
    assert counts.errors == (0.0, 1.0)


def test_dense_arrays_end_at_2_gigabytes(monkeypatch):
    counts = count_labels(*SMALL)
    monkeypatch.setattr(label_table, "_LARGEST_ARRAY", 27)
    assert counts.to_dense().shape == (3, 3, 3)
    monkeypatch.setattr(label_table, "_LARGEST_ARRAY", 26)
    with pytest.raises(ValueError, match=r"^to_dense needs .* GB for 3 classes: use "):
        counts.to_dense()
    assert counts.confusion_a.shape == (3, 3)
    columns = random_labels(2000, 700)
    columns[0][:700] = np.arange(700)
    monkeypatch.undo()
    counts = count_labels(*columns)
    with pytest.raises(ValueError, match=r"^to_dense needs 2\.74 GB for 700 classes: "):
        counts.to_dense()
    assert counts.confusion_a.sum() == 2000


def test_memory_of_a_thousand_classes():
    columns = random_labels(10**6, 1000)
    count_labels(*[column[:1000] for column in columns])
    tracemalloc.start()
    counts = count_labels(*columns)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert counts.n_samples == 10**6
    assert peak < 200e6


# Parts of the data.


@FORMS
@pytest.mark.parametrize("k", [3, 140])
def test_counts_of_parts_add_up(form, form_of, k):
    form_of(form)
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


@pytest.mark.parametrize("other", [1, "x", None, np.zeros(3)])
def test_counts_add_to_counts_only(other):
    one = count_labels([0, 1], [0, 1], [1, 1])
    with pytest.raises(TypeError):
        one + other
    with pytest.raises(TypeError):
        other + one
    assert 0 + one == one


# Threads and memory layout.


@pytest.mark.parametrize("k", [2, 3, 30])
@pytest.mark.parametrize("n", [2, 3, 10, 1001])
def test_any_number_of_workers_gives_the_same(monkeypatch, n, k):
    monkeypatch.setattr(label_counts, "_PART", 1)
    columns = random_labels(n, k)
    counts = [count_labels(*columns, workers=w) for w in (None, 1, 2, 4, 7)]
    assert all(other == counts[0] for other in counts)
    assert_counts(counts[0], *[column.tolist() for column in columns])


def test_many_samples():
    n = small_if_interpreted(5_000_000, 50_000)
    columns = [c.astype(np.uint8) for c in random_labels(n, 3)]
    one, two = (count_labels(*columns, workers=w) for w in (1, 2))
    assert one == two
    flat = (columns[0] * np.uint8(3) + columns[1]) * np.uint8(3) + columns[2]
    assert one.counts.ravel().tolist() == np.bincount(flat, minlength=27).tolist()


@FORMS
@pytest.mark.parametrize("kind", ["u1", "i8", "f8", "U", "O"])
def test_read_only_and_strided_input(form, form_of, kind):
    form_of(form)
    source = np.array(SMALL).astype(kind).repeat(2, axis=1)
    source.flags.writeable = False
    expect = [column[::2][::-1].tolist() for column in source]
    before = source.copy()
    for columns in (source[:, ::-2], np.asfortranarray(source)[:, ::-2]):
        assert_counts(count_labels(*columns), *expect)
    np.testing.assert_array_equal(source, before)


# Losses, and the record.


@FORMS
def test_losses_by_hand(form, form_of):
    form_of(form)
    counts = count_labels(["x", "y", "y", "y"], ["x", "x", "y", "y"], ["y"] * 4)
    named = {"y": {"x": 5}, "x": {"y": 1}}
    assert counts.losses([[0, 1], [5, 0]]) == (1.25, 0.25)
    assert counts.losses(named) == (1.25, 0.25)
    assert counts.losses(pd.DataFrame(named).T.fillna(0)) == (1.25, 0.25)
    assert [type(loss) for loss in counts.losses(named)] == [float, float]
    assert [type(error) for error in counts.errors] == [float, float]
    assert counts.losses([[0, 1], [1, 0]]) == counts.errors
    with pytest.raises(ValueError, match=r"^cost is 3 x 3, but classes names 2 class"):
        counts.losses(np.ones((3, 3)) - np.eye(3))
    with pytest.raises(ValueError, match=r"^cost names no class 'x'; it has "):
        counts.losses({"y": {"z": 5}, "z": {"y": 1}})


@given(st.integers(2, 9), st.integers(0, 2**32 - 1))
def test_losses_follow_from_confusion_matrices(k, seed):
    columns = random_labels(50, k, seed)
    rng = np.random.default_rng(seed)
    cost = rng.integers(1, 9, size=(k, k)) * (1 - np.eye(k))
    counts = count_labels(*columns, classes=range(k))
    for loss, pred in zip(counts.losses(cost), columns[1:], strict=True):
        table = confusion_matrix(columns[0], pred, labels=range(k))
        assert loss == pytest.approx((table * cost).sum() / 50, rel=1e-12)
        ours = counts.confusion_a if pred is columns[1] else counts.confusion_b
        np.testing.assert_array_equal(ours, table)


@FORMS
def test_records_are_equal_where_all_is(form, form_of):
    form_of(form)
    counts = count_labels(*SMALL)
    assert counts == count_labels(*SMALL)
    assert counts == count_labels(*np.array(SMALL, float))
    assert counts != count_labels(*SMALL[::-1])
    assert counts != count_labels(*np.array(SMALL) + 1)
    assert counts != count_labels(*SMALL, classes=[2, 1, 0])
    assert counts != count_labels([None, *SMALL[0]], [0, *SMALL[1]], [0, *SMALL[2]])
    assert counts != 3
    for same in (copy.deepcopy(counts), pickle.loads(pickle.dumps(counts))):
        assert same == counts
    assert from_dict(json.loads(json.dumps(counts.to_dict()))) == counts


@FORMS
def test_the_record(form, form_of):
    form_of(form)
    counts = count_labels(["<a>", "b", "b", "z"], ["<a>"] * 4, ["b"] * 4, classes=["<a>", "b"])
    assert type(counts) is LabelTable
    assert str(counts).splitlines() == [
        "Counts by true and predicted classes",
        "3 samples of 2 classes, in 2 different cells",
        "a is wrong on 66.67%, b on 33.33%",
        "1 samples of other classes were dropped.",
    ]
    frame = counts.to_frame()
    assert list(frame) == ["true", "a", "b", "samples"]
    assert frame.values.tolist() == [["<a>", "<a>", "b", 1], ["b", "<a>", "b", 2]]
    page = counts._repr_html_()
    assert page.startswith("<div>")
    assert "<h4>Counts by true and predicted classes</h4>" in page
    with pytest.raises(FrozenInstanceError):
        counts.n_missing = 3
    with pytest.raises(TypeError):
        hash(counts)
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
