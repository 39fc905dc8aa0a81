"""What each mistake costs: every way to say it, and every refusal."""

from dataclasses import FrozenInstanceError

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastcmp.inputs.cost_matrix import read_cost

PLAIN = [[0, 1, 2], [3, 0, 4], [5, 6, 0]]
NAMES = ("a", "b", "c")
NESTED = {
    "a": {"b": 1, "c": 2},
    "b": {"a": 3, "c": 4},
    "c": {"a": 5, "b": 6},
}
COLUMNS = {"a": [0, 3, 5], "b": [1, 0, 6], "c": [2, 4, 0]}
WITH_TRUTH = {"truth": ["a", "b", "c"], **COLUMNS}
SWAPPED = {"truth": ["c", "a", "b"], **{p: [x[2], *x[:2]] for p, x in COLUMNS.items()}}


def assert_reads(cost, values, names, **options):
    read = read_cost(cost, **options)
    assert read.values.tolist() == np.asarray(values, float).tolist()
    assert read.values.dtype == np.float64
    assert read.values.flags.c_contiguous
    assert read.classes == names


@pytest.mark.parametrize(
    "cost",
    [
        PLAIN,
        tuple(map(tuple, PLAIN)),
        [np.array(row) for row in PLAIN],
        np.array(PLAIN),
        np.array(PLAIN, np.uint8),
        np.array(PLAIN, np.float32),
        np.array(PLAIN, ">i4"),
        np.array(PLAIN, float, order="F"),
        np.repeat(PLAIN, 2, axis=1)[:, ::2],
    ],
    ids=["lists", "tuples", "rows", "int", "uint8", "float32", ">i4", "F", "strided"],
)
def test_without_names(cost):
    assert_reads(cost, PLAIN, None)


@pytest.mark.parametrize(
    "cost",
    [
        NESTED,
        {t: {t: 0, **row} for t, row in NESTED.items()},
        {t: dict(reversed(row.items())) for t, row in NESTED.items()},
        dict(zip(NAMES, PLAIN, strict=True)),
        dict(zip(NAMES, np.array(PLAIN), strict=True)),
        {"a": PLAIN[0], "b": NESTED["b"], "c": tuple(PLAIN[2])},
        pd.DataFrame(COLUMNS, index=list(NAMES)),
        pd.DataFrame(COLUMNS, index=list(NAMES)).loc[["c", "a", "b"]],
        pl.DataFrame(COLUMNS),
        pl.DataFrame(WITH_TRUTH),
        pl.DataFrame(SWAPPED),
        pa.table(COLUMNS),
        pa.table(WITH_TRUTH),
        pa.table(SWAPPED),
        pa.record_batch(WITH_TRUTH),
    ],
    ids=lambda cost: f"{type(cost).__module__}.{type(cost).__name__}",
)
def test_named(cost):
    assert_reads(cost, PLAIN, NAMES)


@pytest.mark.parametrize("kind", ["Int64", "Float64", "int64[pyarrow]"])
def test_pandas_numbers_that_may_be_missing(kind):
    frame = pd.DataFrame(COLUMNS, index=list(NAMES)).astype(kind)
    assert_reads(frame, PLAIN, NAMES)


def test_columns_set_the_order_of_a_frame():
    frame = pd.DataFrame(COLUMNS, index=list(NAMES))[["b", "c", "a"]]
    assert_reads(frame, [[0, 4, 3], [6, 0, 5], [1, 2, 0]], ("b", "c", "a"))


@pytest.mark.parametrize(
    "names", [(3, 7), (-1, 1), ("x", "y"), (False, True), (0.5, 1.5), (("a", 1), 2)]
)
def test_pandas_names_of_any_type(names):
    frame = pd.DataFrame([[0, 1], [5, 0]], columns=pd.Index(names, tupleize_cols=False))
    frame.index = frame.columns
    assert_reads(frame, [[0, 1], [5, 0]], names)
    assert_reads(frame.iloc[::-1], [[0, 1], [5, 0]], names)
    assert_reads(frame.iloc[:, ::-1], [[0, 5], [1, 0]], names[::-1])


@pytest.mark.parametrize("frame", [pl.DataFrame, pa.table])
def test_column_names_that_are_numbers(frame):
    columns = {"1": [0, 5], "-2": [1, 0]}
    assert_reads(frame(columns), [[0, 1], [5, 0]], (1, -2))
    with_numbers = frame({"truth": [-2, 1], "1": [5, 0], "-2": [0, 1]})
    assert_reads(with_numbers, [[0, 1], [5, 0]], (1, -2))
    assert all(type(label) is int for label in read_cost(with_numbers).classes)
    with_text = frame({"truth": ["-2", "1"], "1": [5, 0], "-2": [0, 1]})
    assert_reads(with_text, [[0, 1], [5, 0]], ("1", "-2"))
    assert_reads(frame({"1": [0, 5], "x": [1, 0]}), [[0, 1], [5, 0]], ("1", "x"))


@pytest.mark.parametrize("frame", [pl.DataFrame, pa.table])
@pytest.mark.parametrize("names", [("true", "false"), ("True", "False")])
def test_column_names_that_are_bools(frame, names):
    columns = dict(zip(names, [[5, 0], [0, 1]], strict=True))
    read = read_cost(frame({"truth": [False, True], **columns}))
    assert read.values.tolist() == [[0, 1], [5, 0]]
    assert all(x is y for x, y in zip(read.classes, (True, False), strict=True))


@pytest.mark.parametrize("classes", [("c", "a"), ["c", "a"], np.array(["c", "a"])])
@pytest.mark.parametrize(
    "cost",
    [NESTED, pd.DataFrame(COLUMNS, index=list(NAMES)), pl.DataFrame(WITH_TRUTH)],
    ids=["mapping", "pandas", "polars"],
)
def test_classes_order_and_select_named_costs(cost, classes):
    assert_reads(cost, [[0, 5], [2, 0]], ("c", "a"), classes=classes)


def test_classes_name_plain_costs():
    assert_reads(PLAIN, PLAIN, (7, 8, 9), classes=[7, 8, 9])
    assert_reads(np.array(PLAIN), PLAIN, ("x", "y", "z"), classes=iter("xyz"))


@given(st.permutations(NAMES), st.permutations(NAMES))
def test_the_order_of_names_is_that_of_values(rows, columns):
    frame = pd.DataFrame(COLUMNS, index=list(NAMES)).loc[rows, columns]
    read = read_cost(frame)
    assert read.classes == tuple(columns)
    for i, t in enumerate(columns):
        for j, p in enumerate(columns):
            assert read.values[i, j] == NESTED[t].get(p, 0)
    again = read_cost(frame, rows)
    assert again.classes == tuple(rows)
    assert_reads(NESTED, again.values, tuple(rows), classes=rows)


def test_zeros_beside_the_diagonal_are_fine():
    assert_reads([[0, 0], [1, 0]], [[0, 0], [1, 0]], None)
    assert_reads({"a": {"b": 0}, "b": {"a": 1}}, [[0, 0], [1, 0]], ("a", "b"))


def test_the_input_is_left_alone_and_copied():
    source = np.array(PLAIN, float)
    source.flags.writeable = False
    read = read_cost(source)
    assert not np.shares_memory(read.values, source)
    assert source.tolist() == PLAIN
    with pytest.raises(FrozenInstanceError):
        read.classes = ("x",)


SQUARE = "cost must be a square matrix, got shape "
TEXT = "cost must be a square matrix of numbers, got "
CELL = "cost must hold numbers, got "
SHAPE = "cost must have as many columns as rows, or one more with the true classes, got "
RAGGED = TEXT + "lists of different lengths$"
BAD = {
    "not square": ([[0, 1, 2], [3, 0, 4]], ValueError, SQUARE + r"\(2, 3\)$"),
    "1-d": ([0, 1], ValueError, SQUARE + r"\(2,\)$"),
    "3-d": (np.ones((2, 2, 2)), ValueError, SQUARE + r"\(2, 2, 2\)$"),
    "a number": (3, ValueError, SQUARE + r"\(\)$"),
    "empty": ([], ValueError, SQUARE + r"\(0,\)$"),
    "empty row": ([[]], ValueError, SQUARE + r"\(1, 0\)$"),
    "0 x 0": (np.zeros((0, 0)), ValueError, SQUARE + r"\(0, 0\)$"),
    "empty mapping": ({}, ValueError, SQUARE + r"\(0,\)$"),
    "empty pandas": (pd.DataFrame(), ValueError, SQUARE),
    "empty polars": (pl.DataFrame(), ValueError, SHAPE + "0 rows and 0 columns$"),
    "series": (pd.Series([0, 1]), ValueError, SQUARE + r"\(2,\)$"),
    "wide rows": ({"a": [0, 1, 2], "b": [1, 0, 2]}, ValueError, SQUARE + r"\(2, 3\)$"),
    "ragged": ([[0, 1], [5]], TypeError, RAGGED),
    "ragged rows": ({"a": [0, 1], "b": [5]}, TypeError, RAGGED),
    "strings": ([["0", "1"], ["5", "0"]], TypeError, CELL + r"'0' at \[0, 0\]$"),
    "words": ("cost", TypeError, TEXT + "<U4 values$"),
    "bools": ([[False, True], [True, False]], TypeError, CELL + r"False at \[0, 0\]$"),
    "complex": ([[0, 1j], [1, 0]], TypeError, CELL + r"1j at \[0, 1\]$"),
    "None": (None, TypeError, TEXT + "object values$"),
    "a None": ([[0, None], [1, 0]], TypeError, CELL + r"None at \[0, 1\]$"),
    "null": (
        pl.DataFrame({"a": [0, None], "b": [1, 0]}),
        TypeError,
        CELL + r"None at \[1, 0\]$",
    ),
    "text frame": (
        pl.DataFrame({"a": ["x", "y"], "b": ["z", "t"]}),
        TypeError,
        CELL + r"'x' at \[0, 0\]$",
    ),
    "NaN": ([[0, 1], [np.nan, 0]], ValueError, r"cost must be finite, got nan at \[1"),
    "inf": ([[0, np.inf], [1, 0]], ValueError, r"cost must be finite, .* at \[0, 1\]$"),
    "-inf": ([[0, -np.inf], [1, 0]], ValueError, "cost must be finite, got -inf at "),
    "negative": (
        [[0, 1], [-2, 0]],
        ValueError,
        r"cost must not be negative, got -2 at \[1, 0\]$",
    ),
    "named negative": (
        {"ill": {"well": -0.5}, "well": {"ill": 1}},
        ValueError,
        r"cost must not be negative, got -0\.5 at \['ill', 'well'\]$",
    ),
    "diagonal": (
        [[0, 1], [5, 4]],
        ValueError,
        r"cost must be 0 where the prediction is right, got 4 at \[1, 1\]$",
    ),
    "named diagonal": (
        {"a": {"a": 4, "b": 1}, "b": {"a": 1}},
        ValueError,
        r"cost must be 0 where the prediction is right, got 4 at \['a', 'a'\]$",
    ),
    "zeros": (np.zeros((3, 3)), ValueError, "cost must have at least one positive .*z"),
    "one class": ([[0]], ValueError, "cost must have at least one positive entry, "),
    "no entry": (
        {"a": {"b": 1, "c": 2}, "b": {"a": 3, "c": 4}, "c": {"a": 5}},
        ValueError,
        r"cost\['c'\] lacks the cost of predicting 'b'$",
    ),
    "no row": (
        {"a": {"b": 1, "z": 1}, "b": {"a": 3}},
        ValueError,
        "cost has no row for class 'z', which it can predict$",
    ),
    "other index": (
        pd.DataFrame([[0, 1], [5, 0]], index=["a", "b"], columns=["a", "c"]),
        ValueError,
        r"cost must name the same classes in the index and in the columns, got "
        r"\['a', 'b'\] and \['a', 'c'\]$",
    ),
    "no index": (
        pd.DataFrame([[0, 1], [5, 0]], columns=["a", "b"]),
        ValueError,
        r"cost must name the same classes in the index .* \[0, 1\] and \['a', 'b'\]$",
    ),
    "tall pandas": (
        pd.DataFrame([[0, 1], [5, 0], [1, 1]], list("abc"), list("ab")),
        ValueError,
        "cost must name the same classes in the index and in the columns, got ",
    ),
    "index twice": (
        pd.DataFrame([[0, 1], [0, 1]], index=["a", "a"], columns=["a", "b"]),
        ValueError,
        "cost must name the same classes in the index and in the columns, got ",
    ),
    "other truth": (
        pl.DataFrame({"truth": ["a", "z"], "a": [0, 5], "b": [1, 0]}),
        ValueError,
        r"cost must name the same classes in the first column and in the columns, got "
        r"\['a', 'z'\] and \['a', 'b'\]$",
    ),
    "other Arrow truth": (
        pa.table({"truth": [None, "b"], "a": [0, 5], "b": [1, 0]}),
        ValueError,
        "cost must name the same classes in the first column and in the columns, got ",
    ),
}


@pytest.mark.parametrize(("cost", "error", "wanted"), BAD.values(), ids=BAD)
def test_bad_costs(cost, error, wanted):
    with pytest.raises(error, match=f"^{wanted}"):
        read_cost(cost)


@pytest.mark.parametrize("frame", [pl.DataFrame, pa.table])
@pytest.mark.parametrize(
    ("columns", "got"),
    [
        ({"a": [0, 5, 9], "b": [1, 0, 9]}, "3 rows and 2 columns"),
        ({"t": [0, 5], "a": [0, 5], "b": [1, 0], "c": [1, 1]}, "2 rows and 4 columns"),
        ({"a": [], "b": []}, "0 rows and 2 columns"),
        ({"a": []}, "0 rows and 1 columns"),
    ],
    ids=["tall", "wide", "no rows", "one column"],
)
def test_frames_that_are_not_square(frame, columns, got):
    with pytest.raises(ValueError, match=f"^{SHAPE}{got}$"):
        read_cost(frame(columns))


@pytest.mark.parametrize("frame", [pl.DataFrame, pa.table])
def test_a_true_class_twice(frame):
    columns = {"truth": ["a", "b", "b"], "a": [0, 5, 5], "b": [1, 0, 0], "c": [1, 1, 0]}
    with pytest.raises(ValueError, match=r"^cost must name the same classes in the fi"):
        read_cost(frame(columns))


@pytest.mark.parametrize("frame", ["pandas", "pyarrow"])
def test_a_name_twice(frame):
    values, names = [[0, 0, 1], [0, 0, 9], [1, 1, 0]], ["a", "a", "b"]
    cost = pd.DataFrame(values, index=names, columns=names)
    if frame == "pyarrow":
        cost = pa.table([names, *np.transpose(values)], names=["truth", *names])
    with pytest.raises(ValueError, match=r"^cost must .*'a'"):
        read_cost(cost)


@pytest.mark.parametrize(
    ("cost", "classes", "wanted"),
    [
        (PLAIN, ["a", "b"], "cost is 3 x 3, but classes names 2 classes$"),
        (PLAIN, list("abcd"), "cost is 3 x 3, but classes names 4 classes$"),
        (PLAIN, [], "cost is 3 x 3, but classes names 0 classes$"),
        (NESTED, ["a", "z"], r"cost names no class 'z'; it has \['a', 'b', 'c'\]$"),
        (NESTED, [0, 1], "cost names no class 0; it has "),
    ],
)
def test_classes_that_do_not_fit(cost, classes, wanted):
    with pytest.raises(ValueError, match=f"^{wanted}"):
        read_cost(cost, classes)


def test_what_is_selected_must_be_a_cost_matrix_too():
    cost = {"a": {"b": 0, "c": 1}, "b": {"a": 0, "c": 1}, "c": {"a": 1, "b": 1}}
    assert_reads(cost, [[0, 1], [1, 0]], ("a", "c"), classes=["a", "c"])
    with pytest.raises(ValueError, match=r"^cost must have at least one positive "):
        read_cost(cost, ["a", "b"])
