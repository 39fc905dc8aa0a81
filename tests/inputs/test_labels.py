"""Equal labels are equal, whatever they come from: samples and models that count."""

from functools import partial
from itertools import product

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from libraries import pa, pd, pl

from fastcmp import compare_all, correct_values, count_labels, mcnemar, symmetry


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


@given(columns_of(st.binary(max_size=2)))
@example(([b"a", b"a\0"], [b"a", b"a"], [b"a\0", b"a"]))
def test_bytes(columns):
    assert_equal_where_labels_are(columns)


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


@pytest.mark.parametrize(
    ("hole", "others"),
    [
        ("None", ["a", "b"]),
        ("nan", [1.5, 2.5]),
        ("NaT", [np.datetime64(1, "s"), np.datetime64(2, "s")]),
        ("NA", [1, 2]),
        ("masked", [1, 2]),
    ],
)
def test_a_missing_prediction_is_refused_with_row_and_model(hole, others):
    hole = {"None": None, "nan": float("nan"), "NaT": np.datetime64("NaT", "s"), "NA": pd.NA}.get(
        hole, np.ma.masked
    )
    y_true = [None, *others, *others]
    bad = [others[0], others[1], others[0], hole, hole]
    if hole is np.ma.masked:
        bad = np.ma.array([*bad[:3], 1, 1], mask=[0, 0, 0, 1, 1])
    preds = {"knn": y_true[1:2] * 5, "svm": bad}
    wanted = r"^svm has no prediction at row 3 \(2 missing in all\); pass missing='wrong'"
    with pytest.raises(ValueError, match=wanted):
        correct_values(y_true, preds)
    right = correct_values(y_true, preds, missing="wrong")
    assert right["svm"][1:].tolist() == [0, 0, 0, 0]
    assert right["knn"][1:].tolist() == [1, 0, 1, 0]
    assert all(np.isnan(x[0]) for x in right.values())


@pytest.mark.parametrize("name", ["list", "arrow", "polars"])
def test_a_model_may_have_no_prediction_at_all(name):
    nothing = {"list": list, "arrow": lambda x: pa.nulls(len(x)), "polars": pl.Series}[name]
    preds = [nothing([None] * 3), ["a", "a", "a"]]
    assert not correct_values(["a", "b", "a"], preds, missing="wrong")[0].any()
    with pytest.raises(ValueError, match=r"^model_0 has no prediction at row 0"):
        correct_values(["a", "b", "a"], preds)


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


@pytest.mark.parametrize("kind", ["u1", "i8", "f8", "?"])
def test_classes_of_numbers(kind):
    y_true = np.array([1, 0, 1, 0], kind)
    right = correct_values(y_true, [y_true[::-1], y_true], classes=[1, 0, 9])
    assert right.tolist() == [[0] * 4, [1] * 4]


@pytest.mark.parametrize(
    ("classes", "error", "wanted"),
    [
        ([1, 0, True], ValueError, r"^classes must differ, got True twice$"),
        (["a", "b"], TypeError, "^classes holds str labels and y_true number labels$"),
        ([0, "b"], TypeError, "^classes mixes int and str labels"),
        ([[0, 1], [1, 2]], ValueError, r"^classes must be one-dimensional, got shape"),
        ([5, 6], ValueError, "^y_true must hold at least 2 samples, got 0 samples after 3"),
    ],
)
def test_bad_classes(classes, error, wanted):
    with pytest.raises(error, match=wanted):
        correct_values([0, 1, 0], [[0, 1, 1]] * 2, classes=classes)


# What is counted needs a class.


def labels_of(table):
    """All samples of a table: their true label and what both models predicted."""
    t, a, b, counts = table.nonzero()
    columns = [[table.classes[i] for i in np.repeat(x, counts)] for x in (t, a, b)]
    return sorted(zip(*columns, strict=True), key=repr)


@pytest.mark.parametrize("classes", [False, True])
@pytest.mark.parametrize(
    "columns",
    [
        ([0, 1, 2], [2, 1, 0], [1, 1, 1]),
        ([-7, 300, 2], [2, -7, 2], [300, 2, 2]),
        ([2**60, 0, 2**60], [0, 0, 2**60], [2**60, 0, 0]),
        ([-(2**63), 2**63 - 1], [2**63 - 1] * 2, [-(2**63)] * 2),
        (["b", "a", "c"], ["a", "a", "b"], ["c", "c", "b"]),
        ([0.5, 1, 0.5], [1, 1, 0.5], [0.5, 0.5, 1]),
        ([True, False, True], [True, True, True], [False, False, True]),
    ],
    ids=lambda columns: str(columns[0]),
)
def test_each_code_has_a_label(columns, classes):
    chosen = sorted({label for column in columns for label in column}, reverse=True)
    table = count_labels(*columns, **({"classes": chosen} if classes else {}))
    assert labels_of(table) == sorted(zip(*columns, strict=True), key=repr)
    if classes:
        assert list(table.classes) == chosen


@pytest.mark.parametrize("classes", [None, ["a", "b"]])
def test_without_a_rule_a_missing_prediction_is_refused_without_a_way_out(classes):
    wanted = r"^pred_b has no prediction at row 2 \(1 missing in all\)$"
    with pytest.raises(ValueError, match=wanted):
        count_labels([None, "b", "a"], ["a", "b", "b"], ["a", "b", None], classes=classes)


@pytest.mark.parametrize(
    ("y_true", "make", "bad", "wanted"),
    [
        (["a", "b", "a"], list, ["a", "z", "b"], "'z', which .* classes \\(1 such"),
        ([1, 2, 1], lambda x: np.array(x, "u1"), [1, 9, 9], "9, which .* classes \\(2 such"),
        ([1, 2, 1], list, [1.0, 9.0, 2.0], "9, which is not among the classes"),
        (["a", "b", "a"], np.array, ["y", "z", "b"], "'y', which "),
    ],
    ids=["str", "uint8", "float", "array"],
)
def test_without_a_rule_a_prediction_of_another_class_is_refused(y_true, make, bad, wanted):
    with pytest.raises(ValueError, match=f"^pred_b predicts {wanted}"):
        count_labels(y_true, y_true, make(bad), classes=y_true[:2])
    assert mcnemar(y_true, y_true, make(bad), classes=y_true[:2]).n_samples == 3


def test_samples_of_other_classes_may_be_predicted_as_anything():
    table = count_labels(
        ["a", "z", None, "b"], ["a", "q", "r", "a"], ["b", "z", None, "b"], classes=["a", "b"]
    )
    assert (table.n_missing, table.n_excluded, table.n_samples) == (1, 1, 2)
    assert labels_of(table) == [("a", "a", "b"), ("b", "a", "b")]


# Many models.

COLUMNS = {"svm": [0, 1, 1], "knn": [1, 1, 1], "mlp": [0, 0, 1]}
MODELS = {
    "mapping": lambda: COLUMNS,
    "pandas": lambda: pd.DataFrame(COLUMNS),
    "categories": lambda: pd.DataFrame(COLUMNS, dtype="category"),
    "polars": lambda: pl.DataFrame(COLUMNS),
    "arrow": lambda: pa.table(COLUMNS),
    "batch": lambda: pa.record_batch(COLUMNS),
    "series": lambda: {name: pl.Series(column) for name, column in COLUMNS.items()},
    "rows": lambda: np.array(list(COLUMNS.values())),
    "lists": lambda: list(COLUMNS.values()),
    "arrays": lambda: tuple(map(np.array, COLUMNS.values())),
    "any": lambda: [pd.Series(COLUMNS["svm"]), COLUMNS["knn"], pa.array(COLUMNS["mlp"])],
}


@pytest.mark.parametrize("name", MODELS)
def test_models_of_any_library(name):
    result = compare_all([0, 1, 0], MODELS[name]())
    numbered = name in {"rows", "lists", "arrays", "any"}
    assert result.names == (("model_0", "model_1", "model_2") if numbered else tuple(COLUMNS))
    assert result.accuracy.tolist() == [2 / 3, 1 / 3, 1 / 3]
    assert compare_all([0, 1, 0], {1: [0, 1, 0], ("a", 2): [1, 1, 0]}).names == ("1", "('a', 2)")


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
    with pytest.raises(ValueError, match=f"^{wanted}"):
        compare_all(*arguments)


def test_one_series_and_columns_of_one_name():
    for series in (pd.Series(Y), pl.Series(Y)):
        with pytest.raises(ValueError, match=r"preds must be of shape .*got \(4,\)"):
            compare_all(Y, series)
    rows = [[0, 1, 2], [0, 1, 2]]
    for frame in (
        pd.DataFrame(rows, columns=["a", "b", "a"]),
        pa.table([[0, 1], [0, 1]], names=["a", "a"]),
    ):
        with pytest.raises(ValueError, match=r"must have one name a model, got \['a'\] more th"):
            compare_all([0, 1], frame)


@pytest.mark.parametrize(
    ("y_true", "pred", "wanted"),
    [
        (["a", "b"], [0, 1], "model_0 holds number .* y_true str "),
        ([b"a", b"b"], ["a", "b"], "model_0 holds str .*y_true bytes"),
        (np.array([1, 2], "M8[D]"), ["a", "b"], "model_0 holds str .* y_true datetime64 labels"),
        (["a", "b"], ["a", 1], "model_0 mixes int and str labels"),
        (["a", 1], ["a", "b"], "y_true mixes int and str labels"),
        ([{1}, {2}], [1, 2], "y_true holds a label of type set at row 0"),
    ],
)
def test_bad_types(y_true, pred, wanted):
    with pytest.raises(TypeError, match=f"^{wanted}"):
        correct_values(y_true, [pred, pred])


def test_the_first_has_its_own_name():
    with pytest.raises(ValueError, match=r"^pred_b has 4 labels, pred_a has 3$"):
        symmetry(Y[1:], Y)
