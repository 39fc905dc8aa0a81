"""Values of items: what is read, and what is refused with which words."""

from functools import cache

import numpy as np
import pytest

from fastcmp import compare_means


@cache
def table():
    values = np.random.default_rng(1).normal(size=(3, 8))
    values.flags.writeable = False
    return values


def refused(values, *words, kind=ValueError, **options):
    with pytest.raises(kind) as caught:
        compare_means(values, **options)
    for word in words:
        assert word in str(caught.value), str(caught.value)


def holes(*places):
    made = table().copy()
    for place in places:
        made[place] = np.nan
    return made


@pytest.mark.parametrize("dtype", [bool, np.uint8, np.int8, np.int64, ">i4", "f4", "f8"])
def test_flags_of_any_type_are_the_same(dtype):
    flags = table() > 0
    assert compare_means(flags.astype(dtype)) == compare_means(flags.astype(float))


MISSING = {
    "None": lambda: {"a": [None, 1, 2.5, 0], "b": [1, 2, 3, 5]},
    "NaN": lambda: {"a": [float("nan"), 1, 2.5, 0], "b": [1, 2, 3, 5]},
    "masked": lambda: np.ma.masked_array([[0, 1, 2.5, 0], [1, 2, 3, 5]], [[1, 0, 0, 0], [0] * 4]),
}


@pytest.mark.parametrize("kind", MISSING)
def test_what_is_missing(kind):
    values = MISSING[kind]()
    refused(values, "values: 1 missing", "lacks 1 (first: item 0)")
    common = compare_means(values, missing="common")
    assert (common.n_samples, common.n_dropped, common.n_missing_values) == (3, 1, (1, 0))
    np.testing.assert_allclose(common.difference, (3.5 - 10) / 3)
    wrong = compare_means(values, missing="wrong")
    assert (wrong.n_samples, wrong.n_dropped) == (4, 0)
    np.testing.assert_allclose(wrong.difference, 0.875 - 2.75)
    own = compare_means(values, missing="pairwise")
    np.testing.assert_allclose(own.difference, common.difference)


def test_missing_values_are_counted_with_examples():
    values = holes((0, slice(2, 5)), (2, 7))
    words = ("4 missing", "model_0 lacks 3 (first: item 2)", "model_2 lacks 1")
    refused(values, *words, "missing='common'", "'pairwise'", "'wrong'")
    many = np.full((9, 9), np.nan)
    refused(many, "81 missing", "and 6 more models")


def test_policies_that_leave_too_little():
    rows = holes((0, slice(0, 4)), (1, slice(4, 8)))
    refused(rows, "at least two items that all 3 models have", "'pairwise'", missing="common")
    refused(holes((1, slice(0, 8))), "model_1 has no value at all", missing="pairwise")


@pytest.mark.parametrize("bad", [np.inf, -np.inf])
def test_infinite_values(bad):
    values = table().copy()
    values[1, [3, 6]] = bad
    for policy in ("raise", "common", "pairwise", "wrong"):
        refused(values, "model_1", f"{bad}", "item 3 (2 in all)", "finite", missing=policy)


def test_labels_are_not_values_and_one_item_is_too_few():
    refused({"a": [1.0, 2.0, 3.0], "b": [1.0, 2.0]}, "b has 2 values, a has 3", "from_long")
    refused(table()[:1], "at least 2 models, got 1")
    refused(table()[:, :1], "at least two items, got 1")
    words = ("labels belong to compare_all",)
    refused([list("abc"), list("abd")], *words, kind=TypeError)
    refused({"m": ["yes", "no"], "o": ["no", "no"]}, "m must", *words, kind=TypeError)
    refused({"m": [1, "2"], "o": [0, 1]}, "m must", *words, kind=TypeError)
    refused(table().astype(complex), "complex", *words, kind=TypeError)
    refused(table().astype("M8[s]"), *words, kind=TypeError)


def test_ids_and_true_labels_are_no_models():
    for name, column, word in (
        ("id", range(8), "counts from 0 to 7"),
        ("item", np.arange(8.0) + 1, "counts from 1 to 8"),
        ("y_true", [0, 1] * 4, "is what true labels are called"),
    ):
        refused({name: column, "a": table()[0], "b": table()[1]}, word, "leave this column out")
