"""Values of items: what is read, and what is refused with which words."""

import numpy as np
import pytest

from fastcmp.inputs.values import read_values

TABLE = np.random.default_rng(1).normal(size=(3, 8))


def refused(values, *words, kind=ValueError, **options):
    with pytest.raises(kind) as caught:
        read_values(values, **options)
    for word in words:
        assert word in str(caught.value), str(caught.value)


def holes(*places):
    table = TABLE.copy()
    for place in places:
        table[place] = np.nan
    return table


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_arrays_are_not_copied(dtype):
    table = TABLE.astype(dtype)
    read = read_values(table)
    assert read.matrix is table
    assert all(np.may_share_memory(column, table) for column in read.columns)
    assert (read.n_items, read.n_dropped, read.n_missing) == (8, 0, ())
    assert not read.binary


@pytest.mark.parametrize("dtype", [bool, np.uint8, np.int8, np.int64, ">i4"])
def test_flags_take_a_byte(dtype):
    flags = (TABLE > 0).astype(dtype)
    read = read_values(flags)
    assert read.binary
    assert {column.dtype for column in read.columns} == {np.dtype(np.uint8)}
    np.testing.assert_array_equal(np.stack(read.columns), flags)
    whole = read_values(
        np.arange(24)[::-1].reshape(3, 8).astype(dtype) if dtype is not bool else flags
    )
    assert whole.binary == (dtype is bool)


def test_floats_may_be_flags():
    assert read_values((TABLE > 0).astype(float)).binary
    assert not read_values(np.where(TABLE > 0, 0.5, 0.0)).binary
    assert not read_values([[0.0, 1.0, -0.0], [1.0, 1.0, -1.0]]).binary


@pytest.mark.parametrize(
    "values",
    [
        {"a": [None, 1, 2.5], "b": [1, 2, 3]},
        {"a": [float("nan"), 1, 2.5], "b": [1, 2, 3]},
        np.ma.masked_array([[0, 1, 2.5], [1, 2, 3]], [[1, 0, 0], [0, 0, 0]]),
    ],
)
def test_what_is_missing(values):
    refused(values, "values: 1 missing", "lacks 1 (first: item 0)")
    read = read_values(values, "common")
    assert (read.n_items, read.n_dropped, read.n_missing) == (2, 1, (1, 0))
    assert [column.tolist() for column in read.columns] == [[1, 2.5], [2, 3]]
    wrong = read_values(values, "wrong")
    assert (wrong.columns[0].tolist(), wrong.n_dropped) == ([0, 1, 2.5], 0)
    own = read_values(values, "pairwise")
    assert own.present.tolist() == [[False, True, True], [True] * 3]


def test_missing_values_are_counted_with_examples():
    table = holes((0, slice(2, 5)), (2, 7))
    words = ("4 missing", "model_0 lacks 3 (first: item 2)", "model_2 lacks 1")
    refused(table, *words, "missing='common'", "'pairwise'", "'wrong'")
    many = np.full((9, 9), np.nan)
    refused(many, "81 missing", "and 6 more models")


def test_flags_with_holes_stay_flags():
    flags = (TABLE > 0).astype(float)
    flags[0, 0] = np.nan
    assert read_values(flags, "common").binary
    assert read_values(flags, "wrong").binary
    assert not read_values(flags, "pairwise").binary


def test_policies_that_leave_too_little():
    rows = holes((0, slice(0, 4)), (1, slice(4, 8)))
    refused(
        rows,
        "at least two items that all 3 models have",
        "'pairwise'",
        missing="common",
    )
    refused(holes((1, slice(0, 8))), "model_1 has no value at all", missing="pairwise")


@pytest.mark.parametrize("bad", [np.inf, -np.inf])
def test_infinite_values(bad):
    table = TABLE.copy()
    table[1, [3, 6]] = bad
    for policy in ("raise", "common", "pairwise", "wrong"):
        refused(table, "model_1", f"{bad}", "item 3 (2 in all)", "finite", missing=policy)


def test_labels_are_not_values():
    words = ("labels belong to compare_all",)
    refused([list("abc"), list("abd")], *words, kind=TypeError)
    refused({"m": ["yes", "no"], "o": ["no", "no"]}, "m must", *words, kind=TypeError)
    refused({"m": [1, "2"], "o": [0, 1]}, "m must", *words, kind=TypeError)
    refused(TABLE.astype(complex), "complex", *words, kind=TypeError)
    refused(TABLE.astype("M8[s]"), *words, kind=TypeError)


def test_shapes():
    refused({"a": [1.0, 2.0, 3.0], "b": [1.0, 2.0]}, "b has 2 values, a has 3", "from_long")
    refused(TABLE[:1], "at least 2 models, got 1")
    refused(TABLE[:, :1], "at least two items, got 1")
    refused(TABLE[0], "(M, n)")
    refused({}, "at least 2 models, got 0")
    refused({"a": TABLE, "b": TABLE}, "one-dimensional")
    refused(TABLE, "missing must be one of", missing="drop")


def test_names():
    pd = pytest.importorskip("pandas")
    read = read_values(pd.DataFrame(TABLE.T, columns=["x", 2, "z"]))
    assert read.names == ("x", "2", "z")
    assert read_values(TABLE).names == ("model_0", "model_1", "model_2")
    twice = pd.DataFrame(TABLE.T, columns=["x", "x", "z"])
    refused(twice, "more than once")
    one, two = pd.Series([1.0, 2.0]), pd.Series([1.0, 2.0], index=[1, 0])
    refused({"a": one, "b": two}, "b has the index of a in another order")


@pytest.mark.parametrize(
    ("values", "word"),
    [
        ({"id": range(7), "a": TABLE[0, :7], "b": TABLE[1, :7]}, "counts from 0 to 6"),
        ({"a": TABLE[0], "item": np.arange(8.0) + 1}, "counts from 1 to 8"),
        ({"y_true": TABLE[0], "a": TABLE[1]}, "is what true labels are called"),
    ],
)
def test_ids_and_true_labels_are_no_models(values, word):
    refused(values, word, "leave this column out")
