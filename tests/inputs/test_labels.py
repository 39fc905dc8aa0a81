"""Equal labels are equal, whatever they come from: samples and models that count."""

from functools import partial
from itertools import product

import numpy as np
import pytest
from cases import refuses
from hypothesis import example, given
from hypothesis import strategies as st
from libraries import pa, pd, pl

from fastcmp import compare_all, correct_values, mcnemar


def assert_equal_where_labels_are(columns, *makes):
    """Hold each pair of three columns against Python's equality.

    All columns hold the same labels, so that none of them is foreign to the truth.
    """
    x, y, z = columns
    rows = [x + y + z, y + z + x, z + x + y]
    read = [make(row) for make, row in zip(makes or (list,) * 3, rows, strict=True)]
    right = correct_values(read[0], read[1:])
    expected = [[a == b for a, b in zip(rows[0], row, strict=True)] for row in rows[1:]]
    assert right.tolist() == np.array(expected, float).tolist()


NUMBERS = [
    *[0, 1, 2, -1, 127, -128, 255, 256, 65536, 10**9],
    *[False, True, 0.0, -0.0, 1.0, 2.5, -1.0, 0.1, float("inf"), 1e300],
    *[2**53, 2**53 + 1, float(2**53), 2**62, 2**63 - 1, -(2**63)],
    *[2**63, 2**63 + 1, float(2**63), 2**64 - 1, 10**30, 1e30],
]


def columns_of(label, max_size=30):
    """Draw the labels of three columns."""
    return st.integers(2, max_size).flatmap(
        lambda n: st.tuples(*[st.lists(label, min_size=n, max_size=n)] * 3)
    )


@given(columns_of(st.sampled_from(NUMBERS) | st.integers() | st.floats(-3, 3)))
@example(([2**63, -1, 2**63 + 1], [2**63, -1, 2**63], [0, 1, 2]))
@example(([2**63, 2**63 + 1], [2**63, 2**63], [2**63, 2**64 - 1]))
@example(([0, 2**53 + 1], [0.5, 2**53], [True, 2.0**53]))
def test_numbers_of_every_kind(columns):
    assert_equal_where_labels_are(columns)


@given(columns_of(st.sampled_from([0, 1, True, False, 7, -3])), st.data())
def test_small_integers_in_mixed_arrays(columns, data):
    kinds = st.sampled_from(["i1", "i4", "i8", "f4", "f8", "O", ">i2"])
    makes = [partial(np.array, dtype=data.draw(kinds)) for _ in range(3)]
    assert_equal_where_labels_are(columns, *makes)


@given(columns_of(st.text(alphabet="ab\0 é\n", max_size=3)))
@example((["a", "a\0"], ["a", "a"], ["a\0", "a"]))
def test_strings(columns):
    assert_equal_where_labels_are(columns)
    assert_equal_where_labels_are(columns, *[lambda x: np.array(x, dtype=object)] * 3)
    assert_equal_where_labels_are(columns, pd.Series, pl.Series, pa.array)


INTEGER_TYPES = ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "?"]


@pytest.mark.parametrize("spread", [3, 300, 10**5, 10**18, 2**64])
@pytest.mark.parametrize("near", ["low", "zero", "high"])
def test_integers_of_every_two_types(near, spread):
    rng = np.random.default_rng(spread % 2**32)
    for i, kinds in enumerate(product(INTEGER_TYPES, repeat=2)):
        n = 20_500 if i % 10 == 1 else 50
        infos = [np.iinfo("u1" if kind == "?" else kind) for kind in kinds]
        low = max(0 if kind == "?" else int(x.min) for kind, x in zip(kinds, infos, strict=True))
        high = min(1 if kind == "?" else int(x.max) for kind, x in zip(kinds, infos, strict=True))
        start = {"low": low, "zero": max(low, 0), "high": max(low, high - spread + 1)}[near]
        end = min(high, start + spread - 1)
        dtype = "u8" if end > 2**63 - 1 else "i8"
        pool = rng.integers(start, end, size=min(spread, 500), endpoint=True, dtype=dtype)
        x, y = rng.choice(pool, (2, n))
        x[:2] = y[1::-1]
        right = correct_values(x.astype(kinds[0]), [y.astype(kinds[1]), x.astype(kinds[1])])
        np.testing.assert_array_equal(right, [x == y, [1] * n])


NUMBER, WORD = [1, 0, 1, 1], ["b", "a", "b", "b"]
FLAG = [True, False, True, True]
WAYS = {
    "number": lambda: [
        *[NUMBER, [1.0, 0.0, 1.0, 1.0], FLAG, [1, False, 1.0, True]],
        *[np.array(NUMBER, "u1"), np.array(FLAG), np.array(NUMBER, "f4")],
        *[np.array([1, False, 1.0, np.True_], object), np.ma.array(NUMBER)],
        *[pd.Series(NUMBER, dtype=dtype) for dtype in ("Int8", "category", "Float32")],
        pd.Series(FLAG, dtype="boolean"),
        *[pl.Series(NUMBER, dtype=pl.UInt8), pl.Series(FLAG)],
        *[pa.array(NUMBER).dictionary_encode(), pa.array(FLAG)],
        pa.chunked_array([[1.0, 0.0], [1.0, 1.0]]),
    ],
    "str": lambda: [
        *[WORD, tuple(WORD), np.array(WORD), np.array(WORD, "T"), np.array(WORD, object)],
        *[pd.Series(WORD), pd.Series(WORD, dtype="category"), pd.Categorical(WORD)],
        *[pl.Series(WORD, dtype=x) for x in (None, pl.Categorical, pl.Object)],
        pl.Series(WORD, dtype=pl.Enum(["a", "b"])),
        *[pa.array(WORD), pa.chunked_array([["b"], ["a", "b", "b"]]).dictionary_encode()],
    ],
}


@pytest.mark.parametrize("family", WAYS)
def test_the_same_labels_in_any_two_ways(family):
    other = [0, 0, 1, 0] if family == "number" else ["a", "a", "b", "a"]
    ways = WAYS[family]()
    for y_true, pred in product(ways, repeat=2):
        right = correct_values(y_true, [pred, other])
        assert right.tolist() == [[1, 1, 1, 1], [0, 1, 1, 0]], (type(y_true), type(pred))


@pytest.mark.parametrize(
    ("fine", "coarse"),
    [(["2024-01-01", "2024-01-02"], ("M8[ns]", "M8[D]")), ([86400, 172800], ("m8[s]", "m8[D]"))],
)
def test_dates_of_different_units(fine, coarse):
    fine = np.array(fine, coarse[0])
    coarse = fine.astype(coarse[1])
    for classes in (None, list(coarse)):
        right = correct_values(fine, [list(coarse), coarse[::-1]], classes=classes)
        assert right.tolist() == [[1, 1], [0, 0]]


def test_many_distinct_strings():
    names = [f"class {i}" for i in range(70_000)]
    turned = [*names[:9], *names[:8:-1]]
    right = correct_values(names, [turned, names])
    assert right.sum(axis=1).tolist() == [10, 70_000]  # the middle stays


# Missing labels.

NO_TRUTH = {
    "list": lambda: ["a", None, "b", "a", float("nan")],
    "object": lambda: np.array(["a", None, "b", "a", np.nan], object),
    "pandas": lambda: pd.Series(["a", None, "b", "a", np.nan]),
    "polars": lambda: pl.Series(["a", None, "b", "a", None], dtype=pl.Categorical),
    "arrow": lambda: pa.array(["a", None, "b", "a", None]),
    "masked": lambda: np.ma.array(list("azbaz"), mask=[0, 1, 0, 0, 1]),
}


@pytest.mark.parametrize("name", NO_TRUTH)
def test_samples_without_a_true_label_are_dropped(name):
    # There the prediction may be missing too.
    result = mcnemar(NO_TRUTH[name](), ["a", "a", "a", "b", None], ["a", "b", "b", "a", "b"])
    assert (result.n_missing, result.n_samples) == (2, 3)
    assert (result.accuracy_a, result.accuracy_b) == (1 / 3, 1)


# Chosen classes.


@pytest.mark.parametrize("classes", [["a", "b"], ("b", "a"), np.array(["a", "b"])])
def test_other_classes_are_dropped_and_predictions_of_them_are_wrong(classes):
    y_true = ["a", "b", "z", "b", None, "a"]
    preds = ["a", "z", "z", "b", "a", "y"], ["a", "b", "z", "b", None, "b"]
    result = mcnemar(y_true, *preds, classes=classes)
    assert (result.n_missing, result.n_excluded, result.n_samples) == (1, 1, 4)
    assert (result.accuracy_a, result.accuracy_b) == (0.5, 0.75)
    right = correct_values(y_true, preds, classes=classes)
    nan = np.nan
    np.testing.assert_array_equal(right, [[1, 0, nan, 1, nan, 0], [1, 1, nan, 1, nan, 0]])


def test_bad_classes():
    for classes, error, wanted in (
        ([1, 0, True], ValueError, r"^classes must differ, got True twice$"),
        (["a", "b"], TypeError, "^classes holds str labels and y_true number labels$"),
        ([0, "b"], TypeError, "^classes mixes int and str labels"),
        ([[0, 1], [1, 2]], ValueError, r"^classes must be one-dimensional, got shape"),
        ([5, 6], ValueError, "^y_true must hold at least 2 samples, got 0 samples after 3"),
    ):
        refuses(error, wanted, correct_values, [0, 1, 0], [[0, 1, 1]] * 2, classes=classes)


# What is counted needs a class.


# Many models.


Y = [0, 1, 1, 0]
BAD = {
    "empty": (([], [[], []]), "y_true must hold at least 2 samples, got 0 samples"),
    "one sample": (([1], [[1], [1]]), "y_true must hold at least 2 samples, got 1"),
    "one model": ((Y, {"svm": Y[:]}), "preds must hold at least 2 models, got 1"),
    "shorter": ((Y, {"svm": Y[:], "knn": Y[1:]}), "knn has 3 labels, y_true has 4"),
    "samples first": (
        (Y, np.zeros((4, 3), int)),
        "model_0 has 3 labels, y_true has 4; models come first: pass preds.T",
    ),
    "1-D": ((Y, np.array(Y)), r"preds must be of shape \(M, n\), .*got \(4,\)"),
    "3-D": ((Y, np.zeros((2, 2, 4))), r"preds must be of shape .*got \(2, 2, 4\)"),
    "2-D model": ((Y, {"a": Y[:], "b": [Y]}), r"b must be one-dimensional, .*\(1, 4\)"),
    "same names": ((Y, {1: Y[:], "1": Y[:]}), r"preds .* got \['1'\] more than once"),
    "NaN": ((Y, [Y[:], [0, 1, float("nan"), 0]]), "model_1 has no prediction at row 2 "),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_values(name):
    arguments, wanted = BAD[name]
    refuses(ValueError, f"^{wanted}", compare_all, *arguments)


def test_bad_types():
    for y_true, pred, wanted in (
        (["a", "b"], [0, 1], "model_0 holds number .* y_true str "),
        ([b"a", b"b"], ["a", "b"], "model_0 holds str .*y_true bytes"),
        (np.array([1, 2], "M8[D]"), ["a", "b"], "model_0 holds str .* y_true datetime64 labels"),
        (["a", "b"], ["a", 1], "model_0 mixes int and str labels"),
        (["a", 1], ["a", "b"], "y_true mixes int and str labels"),
        ([{1}, {2}], [1, 2], "y_true holds a label of type set at row 0"),
    ):
        refuses(TypeError, f"^{wanted}", correct_values, y_true, [pred, pred])
