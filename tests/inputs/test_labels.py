"""Equal labels get equal codes, whatever they come from."""

from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from strategies import any_labels

from fastcmp.inputs.labels import code_type, encode


def encoded(y_true, *preds, **options):
    """Encode any labels, and one model too: twice, and once in the answer."""
    n_models = len(preds)
    with any_labels():
        labels = encode(y_true, list(preds if n_models > 1 else preds * 2), **options)
    return replace(labels, preds=labels.preds[:n_models], names=labels.names[:n_models])


def assert_equal_where_labels_are(labels, y_true, *preds):
    """Hold all pairs of codes, of all columns, against Python's equality."""
    everything = [label for column in (y_true, *preds) for label in column]
    codes = np.concatenate([labels.y_true, *labels.preds]).tolist()
    assert len(codes) == len(everything)
    assert max(codes) < labels.n_codes
    first = {}  # equal labels have one entry: Python's own rule
    expected = [first.setdefault(label, len(first)) for label in everything]
    place = {}
    assert [place.setdefault(code, len(place)) for code in codes] == expected


NUMBERS = [
    *[0, 1, 2, -1, 127, -128, 255, 256, 65536, 10**9],
    *[False, True, 0.0, -0.0, 1.0, 2.5, -1.0, 0.1, float("inf"), 1e300],
    *[2**53, 2**53 + 1, float(2**53), 2**62, 2**63 - 1, -(2**63)],
    *[2**63, 2**63 + 1, float(2**63), 2**64 - 1, 10**30, 1e30],
]


def columns_of(label, max_size=30):
    """Draw true labels and those of two models."""
    return st.integers(2, max_size).flatmap(
        lambda n: st.tuples(*[st.lists(label, min_size=n, max_size=n)] * 3)
    )


@given(columns_of(st.sampled_from(NUMBERS) | st.integers() | st.floats(-3, 3)))
@example(([2**63, -1, 2**63 + 1], [2**63, -1, 2**63], [0, 1, 2]))
@example(([2**63, 2**63 + 1], [2**63, 2**63], [2**63, 2**64 - 1]))
@example(([0, 2**53 + 1], [0.5, 2**53], [True, 2.0**53]))
def test_numbers_of_every_kind(columns):
    assert_equal_where_labels_are(encoded(*columns), *columns)


@given(columns_of(st.sampled_from([0, 1, True, False, 7, -3])), st.data())
def test_small_integers_in_mixed_arrays(columns, data):
    kinds = st.sampled_from(["i1", "i4", "i8", "f4", "f8", "O", ">i2"])
    arrays = [np.array(column, data.draw(kinds)) for column in columns]
    assert_equal_where_labels_are(encoded(*arrays), *columns)


TEXT = st.text(alphabet="ab\0 é\n", max_size=3)


@given(columns_of(TEXT))
@example((["a", "a\0"], ["a", "a"], ["a\0", "a"]))
def test_strings(columns):
    assert_equal_where_labels_are(encoded(*columns), *columns)
    objects = [np.array(column, dtype=object) for column in columns]
    assert_equal_where_labels_are(encoded(*objects), *columns)
    frames = [pd.Series(columns[0]), pl.Series(columns[1]), pa.array(columns[2])]
    assert_equal_where_labels_are(encoded(*frames), *columns)


@given(columns_of(st.binary(max_size=2)))
@example(([b"a", b"a\0"], [b"a", b"a"], [b"a\0", b"a"]))
def test_bytes(columns):
    assert_equal_where_labels_are(encoded(*columns), *columns)


INTEGER_TYPES = ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "?"]


@pytest.mark.parametrize("n", [50, 20_500])
@pytest.mark.parametrize("spread", [3, 300, 10**5, 10**18, 2**64])
@pytest.mark.parametrize("near", ["low", "zero", "high"])
def test_integers_of_every_type(near, spread, n):
    rng = np.random.default_rng(spread % 2**32 + n)
    arrays = []
    for kind in INTEGER_TYPES:
        info = np.iinfo("u1" if kind == "?" else kind)
        low, high = (0, 1) if kind == "?" else (int(info.min), int(info.max))
        start = {"low": low, "zero": 0, "high": max(low, high - spread + 1)}[near]
        end = min(high, start + spread - 1)
        pool = rng.integers(start, end, size=min(spread, 500), endpoint=True, dtype=info.dtype)
        arrays.append(rng.choice(pool, n).astype(kind))
    labels = encoded(*arrays)
    assert_equal_where_labels_are(labels, *[array.tolist() for array in arrays])
    for kind, array in zip(INTEGER_TYPES, arrays, strict=True):
        assert_equal_where_labels_are(encoded(array, array), array, array), kind


WAYS = {
    "number": [
        [1, 0, 1, 1],
        [1.0, 0.0, 1.0, 1.0],
        [True, False, True, True],
        [1, False, 1.0, True],
        np.array([1, 0, 1, 1], "u1"),
        np.array([True, False, True, True]),
        np.array([1, 0, 1, 1], "f4"),
        np.array([1, False, 1.0, np.True_], object),
        np.ma.array([1, 0, 1, 1]),
        pd.Series([1, 0, 1, 1], dtype="Int8"),
        pd.Series([1, 0, 1, 1], dtype="category"),
        pd.Series([True, False, True, True], dtype="boolean"),
        pd.Series([1.0, 0.0, 1.0, 1.0], dtype="Float32"),
        pl.Series([1, 0, 1, 1], dtype=pl.UInt8),
        pl.Series([True, False, True, True]),
        pa.array([1, 0, 1, 1]).dictionary_encode(),
        pa.array([True, False, True, True]),
        pa.chunked_array([[1.0, 0.0], [1.0, 1.0]]),
    ],
    "str": [
        ["b", "a", "b", "b"],
        ("b", "a", "b", "b"),
        np.array(["b", "a", "b", "b"]),
        np.array(["b", "a", "b", "b"], "T"),
        np.array(["b", "a", "b", "b"], object),
        pd.Series(["b", "a", "b", "b"]),
        pd.Series(["b", "a", "b", "b"], dtype="category"),
        pd.Categorical(["b", "a", "b", "b"]),
        pl.Series(["b", "a", "b", "b"]),
        pl.Series(["b", "a", "b", "b"], dtype=pl.Categorical),
        pl.Series(["b", "a", "b", "b"], dtype=pl.Enum(["a", "b"])),
        pl.Series(["b", "a", "b", "b"], dtype=pl.Object),
        pa.array(["b", "a", "b", "b"]),
        pa.chunked_array([["b"], ["a", "b", "b"]]).dictionary_encode(),
    ],
}


@pytest.mark.parametrize("family", WAYS)
def test_the_same_labels_in_any_two_ways(family):
    failed = []
    for y_true, pred in product(WAYS[family], repeat=2):
        try:
            labels = encoded(y_true, pred, pred)
            codes = labels.y_true.tolist()
            same = codes[0] == codes[2] == codes[3] != codes[1]
            same &= all(p.tolist() == codes for p in labels.preds)
        except Exception as error:  # noqa: BLE001  # all pairs are reported together
            same = repr(error)
        if same is not True:
            failed.append((type(y_true), type(pred), getattr(pred, "dtype", ""), same))
    assert failed == []


@pytest.mark.parametrize(
    ("fine", "coarse"),
    [
        (np.array(["2024-01-01", "2024-01-02"], "M8[ns]"), "M8[D]"),
        (np.array([86400, 2 * 86400], "m8[s]"), "m8[D]"),
    ],
)
def test_dates_of_different_units(fine, coarse):
    labels = encoded(fine, fine.astype(coarse), list(fine.astype(coarse)))
    assert [codes.tolist() for codes in labels.preds] == [[0, 1], [0, 1]]
    assert labels.y_true.tolist() == [0, 1]
    chosen = encoded(fine, fine, fine, classes=list(fine.astype(coarse)))
    assert chosen.preds[0].tolist() == [0, 1]


@pytest.mark.parametrize(("kind", "view"), [("u1", "u1"), ("?", "u1"), (">u1", "u1")], ids=str)
def test_single_bytes_are_not_copied(kind, view):
    y_true, pred = np.array([0, 1, 1], kind), np.array([1, 1, 0], kind)
    labels = encoded(y_true, pred)
    assert np.shares_memory(labels.y_true, y_true)
    assert np.shares_memory(labels.preds[0], pred)
    assert labels.y_true.dtype == np.dtype(view)
    assert labels.n_codes == 256


@pytest.mark.parametrize(
    ("labels", "dtype"),
    [
        ([0, 255], np.uint8),
        ([-1, 254], np.uint8),
        ([0, 256], np.uint16),
        ([-1, 255], np.uint16),
        ([0, 65535], np.uint16),
        ([0, 65536], np.int32),
        ([-(2**30), 2**30 - 2], np.int32),
        ([0, 2**31], np.uint8),
        ([-(2**63), 2**63 - 1], np.uint8),
    ],
)
def test_codes_are_of_the_smallest_type(labels, dtype):
    both = encoded(np.array(labels), np.array(labels[::-1]))
    assert {codes.dtype for codes in (both.y_true, *both.preds)} == {np.dtype(dtype)}
    assert both.y_true.tolist() == both.preds[0].tolist()[::-1]
    assert both.y_true[0] != both.y_true[1]


@pytest.mark.parametrize(
    ("n_codes", "dtype"),
    [(2, "u1"), (256, "u1"), (257, "u2"), (65536, "u2"), (65537, "i4")],
)
def test_code_type(n_codes, dtype):
    assert np.dtype(code_type(n_codes)) == dtype


def test_many_distinct_strings():
    names = [f"class {i}" for i in range(70_000)]
    labels = encoded(names, names[::-1])
    assert labels.y_true.dtype == np.int32
    assert_equal_where_labels_are(labels, names, names[::-1])


@pytest.mark.parametrize("kind", ["u1", "i8", "f8", "U", "O"])
def test_strided_and_read_only_input(kind):
    source = np.arange(12).astype(kind)
    source.flags.writeable = False
    labels = encode(source[::2], source.reshape(2, 6)[:, ::-1])
    expected = source[::2].tolist(), source.reshape(2, 6)[:, ::-1].tolist()
    assert_equal_where_labels_are(labels, expected[0], *expected[1])
    assert all(codes.flags.c_contiguous for codes in (labels.y_true, *labels.preds))


# Missing labels.


@pytest.mark.parametrize(
    "y_true",
    [
        ["a", None, "b", "a", float("nan")],
        np.array(["a", None, "b", "a", np.nan], object),
        pd.Series(["a", None, "b", "a", np.nan]),
        pl.Series(["a", None, "b", "a", None], dtype=pl.Categorical),
        pa.array(["a", None, "b", "a", None]),
    ],
    ids=lambda raw: type(raw).__module__,
)
def test_samples_without_a_true_label_are_dropped(y_true):
    labels = encoded(y_true, ["a", "a", "a", "b", None])
    assert labels.n_missing == 2
    assert labels.n_samples == 3
    assert (labels.y_true == labels.preds[0]).tolist() == [True, False, False]


def test_masked_true_labels_are_dropped_next_to_plain_integers():
    y_true = np.ma.array([3, 1, 2], mask=[False, True, False])
    labels = encoded(y_true, np.array([3, 1, 1], np.uint8), np.array([[3, 0, 2]])[0])
    assert labels.n_missing == 1
    right = [(labels.y_true == codes).tolist() for codes in labels.preds]
    assert right == [[True, False], [True, True]]


@pytest.mark.parametrize(
    ("hole", "others"),
    [
        (None, ["a", "b"]),
        (float("nan"), [1.5, 2.5]),
        (np.datetime64("NaT", "s"), [np.datetime64(1, "s"), np.datetime64(2, "s")]),
        (pd.NA, [1, 2]),
    ],
)
def test_a_missing_prediction_is_refused_with_row_and_model(hole, others):
    y_true = [None, *others, *others]
    bad = [others[0], others[1], others[0], hole, hole]
    wanted = r"^svm has no prediction at row 3 \(2 missing in all\); pass missing='wrong'"
    with pytest.raises(ValueError, match=wanted):
        encode(y_true, {"knn": y_true[1:2] * 5, "svm": bad})
    labels = encode(y_true, {"knn": y_true[1:2] * 5, "svm": bad}, missing="wrong")
    assert labels.n_samples == 4
    right = (labels.y_true == labels.preds[1]).tolist()
    assert right == [False, False, False, False]
    assert (labels.y_true == labels.preds[0]).tolist() == [True, False, True, False]


def test_missing_predictions_never_equal_anything():
    labels = encoded(["a", "b", "a"], ["a", None, None], missing="wrong")
    assert not set(labels.preds[0][1:].tolist()) & set(labels.y_true.tolist())


@pytest.mark.parametrize("nothing", [[None] * 3, pa.nulls(3), pl.Series([None] * 3)])
def test_a_model_may_have_no_prediction_at_all(nothing):
    labels = encoded(["a", "b", "a"], nothing, ["a", "a", "a"], missing="wrong")
    assert not (labels.y_true == labels.preds[0]).any()
    with pytest.raises(ValueError, match=r"^model_0 has no prediction at row 0"):
        encoded(["a", "b", "a"], nothing)


def test_masked_predictions_are_missing():
    preds = np.ma.array([[0, 1, 1], [0, 1, 0]], mask=[[0, 0, 0], [0, 0, 1]])
    with pytest.raises(ValueError, match=r"^model_1 has no prediction at row 2 "):
        encode([0, 1, 0], preds)
    labels = encode([0, 1, 0], preds, missing="wrong")
    assert (labels.y_true == labels.preds[1]).tolist() == [True, True, False]


def test_all_true_labels_missing():
    wanted = "^y_true must hold at least 2 samples, got 0 samples after 3 were dropped$"
    with pytest.raises(ValueError, match=wanted):
        encoded([None, None, None], ["a", "b", "a"])


# Chosen classes.


def test_classes_set_the_codes_and_their_order():
    labels = encoded(["a", "b", "c", "b"], ["c", "b", "a", "a"], classes=["c", "a", "b"])
    assert labels.y_true.tolist() == [1, 2, 0, 2]
    assert labels.preds[0].tolist() == [0, 2, 1, 1]
    assert labels.n_excluded == 0


@pytest.mark.parametrize("classes", [["a", "b"], ("b", "a"), np.array(["a", "b"])])
def test_other_classes_are_dropped_and_predictions_of_them_are_wrong(classes):
    y_true = ["a", "b", "z", "b", None, "a"]
    labels = encoded(y_true, ["a", "z", "z", "b", "a", "y"], classes=classes)
    assert (labels.n_missing, labels.n_excluded, labels.n_samples) == (1, 1, 4)
    assert (labels.y_true == labels.preds[0]).tolist() == [True, False, True, False]


@pytest.mark.parametrize("kind", ["u1", "i8", "f8", "?"])
def test_classes_of_numbers(kind):
    y_true = np.array([1, 0, 1, 0], kind)
    labels = encoded(y_true, y_true[::-1], classes=[1, 0, 9])
    assert labels.y_true.tolist() == [0, 1, 0, 1]
    assert labels.preds[0].tolist() == [1, 0, 1, 0]


def test_a_class_that_nobody_has_is_allowed():
    labels = encoded([1, 2, 1], [1, 1, 9], classes=[1, 2, 3])
    assert (labels.y_true == labels.preds[0]).tolist() == [True, False, False]


@pytest.mark.parametrize(
    ("classes", "error", "wanted"),
    [
        ([0, 1, 0], ValueError, r"^classes must differ, got 0 twice$"),
        ([0, 1, 1], ValueError, r"^classes must differ, got 1 twice$"),
        ([0, 0, 1], ValueError, r"^classes must differ, got 0 twice$"),
        ([1, 0, True], ValueError, r"^classes must differ, got True twice$"),
        ([0], ValueError, r"^classes must name at least 2 classes, got \[0\]$"),
        ([], ValueError, r"^classes must name at least 2 classes, got \[\]$"),
        (["a", "b"], TypeError, "^classes holds str labels and y_true number labels$"),
        ([0, "b"], TypeError, "^classes mixes int and str labels"),
        ([[0, 1], [1, 2]], ValueError, r"^classes must be one-dimensional, got shape"),
        (
            [5, 6],
            ValueError,
            "^y_true must hold at least 2 samples, got 0 samples after 3",
        ),
    ],
)
def test_bad_classes(classes, error, wanted):
    with pytest.raises(error, match=wanted):
        encoded([0, 1, 0], [0, 1, 1], classes=classes)


# What is counted needs a class.


def labels_of(labels):
    """Turn codes back into labels."""
    columns = [labels.y_true, *labels.preds]
    return [[labels.classes[code] for code in column.tolist()] for column in columns]


@pytest.mark.parametrize("missing", ["raise", "wrong", None])
@pytest.mark.parametrize("classes", [False, True])
@pytest.mark.parametrize(
    "columns",
    [
        ([0, 1, 2], [2, 1, 0], [1, 1, 1]),
        ([-7, 300, 2], [2, -7, 2], [300, 2, 2]),
        ([2**60, 0, 2**60], [0, 0, -(2**60)], [2**60, 0, 0]),
        (["b", "a", "c"], ["a", "a", "b"], ["c", "c", "b"]),
        ([0.5, 1, 0.5], [1, 1, 0.5], [2.5, 2.5, 1]),
        ([True, False, True], [True, True, True], [False, False, True]),
    ],
    ids=lambda columns: str(columns[0]),
)
def test_each_code_has_a_label(columns, classes, missing):
    chosen = sorted({label for column in columns for label in column}, reverse=True)
    options = {"classes": chosen} if classes else {}
    labels = encode(columns[0], columns[1:], missing=missing, **options)
    assert labels_of(labels) == list(columns)
    assert len(labels.classes) in {labels.n_codes, labels.n_codes - 1}
    if classes:
        assert list(labels.classes) == chosen


@pytest.mark.parametrize("kind", ["u1", "?"])
def test_single_bytes_have_256_classes(kind):
    columns = np.array([[0, 1, 1], [1, 1, 0], [0, 0, 0]], kind)
    labels = encode(columns[0], columns[1:])
    assert list(labels.classes) == list(range(256))
    assert labels_of(labels) == columns.tolist()


def test_what_is_none_of_the_classes_has_no_label():
    labels = encode(
        ["a", "b", "z"],
        [["q", "b", "a"], ["a", None, "a"]],
        missing="wrong",
        classes=["b", "a"],
    )
    assert labels.classes == ("b", "a")
    assert labels.n_codes == 3
    assert [codes.tolist() for codes in labels.preds] == [[2, 0], [1, 2]]


@pytest.mark.parametrize("classes", [None, ["a", "b"]])
def test_without_a_rule_a_missing_prediction_is_refused_without_a_way_out(classes):
    wanted = r"^knn has no prediction at row 2 \(1 missing in all\)$"
    preds = {"svm": ["a", "b", "b"], "knn": ["a", "b", None]}
    with pytest.raises(ValueError, match=wanted):
        encode([None, "b", "a"], preds, missing=None, classes=classes)


@pytest.mark.parametrize(
    ("y_true", "bad", "wanted"),
    [
        (["a", "b", "a"], ["a", "z", "b"], "'z', which .* classes \\(1 such"),
        ([1, 2, 1], np.array([1, 9, 9], np.uint8), "9, which .* classes \\(2 such"),
        ([1, 2, 1], [1.0, 9.0, 2.0], "9, which is not among the classes"),
        (pd.Series(["a", "b", "a"]), pl.Series(["y", "z", "b"]), "'y', which "),
    ],
    ids=["str", "uint8", "float", "series"],
)
def test_without_a_rule_a_prediction_of_another_class_is_refused(y_true, bad, wanted):
    preds, classes = {"svm": y_true, "knn": bad}, list(y_true)[:2]
    with pytest.raises(ValueError, match=f"^knn predicts {wanted}"):
        encode(y_true, preds, missing=None, classes=classes)
    assert encode(y_true, preds, classes=classes).n_samples == 3


def test_without_a_rule_samples_of_other_classes_may_be_predicted_as_anything():
    labels = encode(
        ["a", "z", None, "b"],
        [["a", "q", "r", "a"], ["b", "z", None, "b"]],
        classes=["a", "b"],
        missing=None,
    )
    assert (labels.n_missing, labels.n_excluded, labels.n_samples) == (1, 1, 2)
    assert labels_of(labels) == [["a", "b"], ["a", "a"], ["b", "b"]]


# Many models.

COLUMNS = {"svm": [0, 1, 1], "knn": [1, 1, 1], "mlp": [0, 0, 1]}


@pytest.mark.parametrize(
    "preds",
    [
        COLUMNS,
        pd.DataFrame(COLUMNS),
        pd.DataFrame(COLUMNS, dtype="category"),
        pl.DataFrame(COLUMNS),
        pa.table(COLUMNS),
        pa.record_batch(COLUMNS),
        {name: pl.Series(column) for name, column in COLUMNS.items()},
    ],
    ids=lambda preds: f"{type(preds).__module__}.{type(preds).__name__}",
)
def test_named_models(preds):
    labels = encode([0, 1, 0], preds)
    assert labels.names == ("svm", "knn", "mlp")
    right = [(labels.y_true == codes).tolist() for codes in labels.preds]
    truth = [0, 1, 0]
    assert right == [
        [a == b for a, b in zip(truth, column, strict=True)] for column in COLUMNS.values()
    ]


@pytest.mark.parametrize(
    "preds",
    [
        np.array(list(COLUMNS.values())),
        np.array(list(COLUMNS.values()), np.uint8, order="F"),
        list(COLUMNS.values()),
        tuple(map(np.array, COLUMNS.values())),
        [pd.Series(COLUMNS["svm"]), COLUMNS["knn"], pa.array(COLUMNS["mlp"])],
    ],
)
def test_models_without_names_are_numbered(preds):
    labels = encode([0, 1, 0], preds)
    assert labels.names == ("model_0", "model_1", "model_2")
    assert [codes.tolist() for codes in labels.preds] == list(COLUMNS.values())


def test_names_are_strings():
    assert encode([0, 1], {1: [0, 1], ("a", 2): [1, 1]}).names == ("1", "('a', 2)")
    frame = pd.DataFrame([[0, 1], [1, 1]], columns=[10, 20])
    assert encode([0, 1], frame).names == ("10", "20")


def test_a_pandas_index_does_not_move_samples():
    y_true = pd.Series([0, 1, 1], index=[2, 1, 0])
    labels = encoded(y_true, np.array([0, 1, 0]))
    assert labels.preds[0].tolist() == [0, 1, 0]
    assert labels.y_true.tolist() == [0, 1, 1]


Y = [0, 1, 1, 0]
BAD = {
    "empty": (([], [[], []]), "y_true must hold at least 2 samples, got 0 samples"),
    "one sample": (([1], [[1], [1]]), "y_true must hold at least 2 samples, got 1"),
    "no model": ((Y, {}), "preds must hold at least 2 models, got 0"),
    "one model": ((Y, [Y]), "preds must hold at least 2 models, got 1"),
    "one named model": ((Y, {"svm": Y}), "preds must hold at least 2 models, got 1"),
    "shorter": ((Y, {"svm": Y, "knn": Y[1:]}), "knn has 3 labels, y_true has 4"),
    "longer": ((Y[1:], {"svm": Y[1:], "knn": Y}), "knn has 4 labels, y_true has 3"),
    "samples first": (
        (Y, np.zeros((4, 3), int)),
        "model_0 has 3 labels, y_true has 4; models come first: pass preds.T",
    ),
    "1-D": ((Y, np.array(Y)), r"preds must be of shape \(M, n\), .*got \(4,\)"),
    "1-D list": ((Y, Y), r"preds must be of shape \(M, n\), .*got \(4,\)"),
    "3-D": ((Y, np.zeros((2, 2, 4))), r"preds must be of shape .*got \(2, 2, 4\)"),
    "one series": ((Y, pd.Series(Y)), r"preds must be of shape .*got \(4,\)"),
    "polars series": ((Y, pl.Series(Y)), r"preds must be of shape .*got \(4,\)"),
    "None": ((Y, None), r"preds must be of shape .*got \(\)"),
    "2-D y_true": (([Y, Y], [Y, Y]), r"y_true must be one-dimensional, .*\(2, 4\)"),
    "2-D model": ((Y, {"a": Y, "b": [Y]}), r"b must be one-dimensional, .*\(1, 4\)"),
    "scalar y_true": ((1, [Y, Y]), r"y_true must be one-dimensional, got shape \(\)"),
    "word": (("abca", [Y, Y]), r"y_true must be one-dimensional, got shape \(\)"),
    "same names": ((Y, {1: Y, "1": Y}), r"preds .* got \['1'\] more than once"),
    "same columns": (
        ([0, 1], pd.DataFrame([[0, 1, 2], [0, 1, 2]], columns=["a", "b", "a"])),
        r"preds must have one name a model, got \['a'\] more than once",
    ),
    "same arrow columns": (
        (Y, pa.table([Y, Y], names=["a", "a"])),
        r"preds must have one name a model, got \['a'\] more than once",
    ),
    "NaN": ((Y, [Y, [0, 1, float("nan"), 0]]), "model_1 has no prediction at row 2 "),
    "None label": ((Y, [Y, [None, 1, 1, 0]]), "model_1 has no prediction at row 0 "),
}


@pytest.mark.parametrize(("arguments", "wanted"), BAD.values(), ids=BAD)
def test_bad_values(arguments, wanted):
    with pytest.raises(ValueError, match=f"^{wanted}"):
        encode(*arguments)


BAD_TYPES = {
    "str and int": ((["a", "b"], [[0, 1]]), "model_0 holds number .* y_true str "),
    "bytes and str": (([b"a", b"b"], [["a", "b"]]), "model_0 holds str .*y_true bytes"),
    "date and str": (
        (np.array([1, 2], "M8[D]"), [["a", "b"]]),
        "model_0 holds str labels and y_true datetime64 labels",
    ),
    "mixed model": ((["a", "b"], [["a", 1]]), "model_0 mixes int and str labels"),
    "mixed y_true": ((["a", 1], [["a", "b"]]), "y_true mixes int and str labels"),
    "set": (([{1}, {2}], [[1, 2]]), "y_true holds a label of type set at row 0"),
}


@pytest.mark.parametrize(("arguments", "wanted"), BAD_TYPES.values(), ids=BAD_TYPES)
def test_bad_types(arguments, wanted):
    with pytest.raises(TypeError, match=f"^{wanted}"):
        encoded(arguments[0], *arguments[1])


def test_complex_arrays_are_refused():
    with pytest.raises(TypeError, match=r"^y_true holds labels of type complex128"):
        encoded(np.array([1j, 2]), [1, 2])


def test_options():
    wanted = r"^missing must be one of \('raise', 'wrong'\), got 'drop'$"
    with pytest.raises(ValueError, match=wanted):
        encoded(Y, Y, missing="drop")


def test_the_truth_has_the_name_it_is_given():
    with pytest.raises(ValueError, match=r"^model_0 has 4 labels, pred_a has 3$"):
        encoded(Y[1:], Y, truth="pred_a")


def test_inputs_are_left_alone():
    y_true, pred = np.array([5, -3, 5]), np.array([1.5, np.nan, 5.0])
    before = y_true.copy(), pred.copy()
    encoded(y_true, pred, missing="wrong", classes=[5, -3])
    np.testing.assert_array_equal(y_true, before[0])
    np.testing.assert_array_equal(pred, before[1])
