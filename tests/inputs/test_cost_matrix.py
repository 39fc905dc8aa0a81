"""What each mistake costs: every way to say it, and every refusal."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from libraries import pa, pd, pl

from fastcmp import cost_test
from fastcmp.records import LabelTable

PLAIN = [[0, 1, 2], [3, 0, 4], [5, 6, 0]]
NAMES = ("a", "b", "c")
NESTED = {"a": {"b": 1, "c": 2}, "b": {"a": 3, "c": 4}, "c": {"a": 5, "b": 6}}
COLUMNS = {"a": [0, 3, 5], "b": [1, 0, 6], "c": [2, 4, 0]}
WITH_TRUTH = {"truth": ["a", "b", "c"], **COLUMNS}
SWAPPED = {"truth": ["c", "a", "b"], **{p: [x[2], *x[:2]] for p, x in COLUMNS.items()}}


def assert_reads(cost, values, classes):
    """What each mistake costs, and whether labels of the data are its classes."""
    k = len(classes)
    for t, p in np.ndindex(k, k):
        counts = np.zeros((k, k, k), int)
        counts[t, p, t] = 1
        table = LabelTable(counts=counts, classes=tuple(classes))
        assert table.losses(cost) == (values[t][p], 0)
    truth, a = map(list, zip(*product(classes, repeat=2), strict=True))
    result = cost_test(truth, a, [*truth[:-1], classes[0]], cost)
    assert result.loss_a == pytest.approx(np.mean(values), rel=1e-12)
    assert result.loss_b == pytest.approx(values[-1][0] / k**2, rel=1e-12)


WITHOUT_NAMES = {
    "lists": lambda: PLAIN,
    "tuples": lambda: tuple(map(tuple, PLAIN)),
    "rows": lambda: [np.array(row) for row in PLAIN],
    **{kind: lambda kind=kind: np.array(PLAIN, kind) for kind in ("i8", "u1", "f4", ">i4")},
    "F": lambda: np.array(PLAIN, float, order="F"),
    "strided": lambda: np.repeat(PLAIN, 2, axis=1)[:, ::2],
}


@pytest.mark.parametrize("name", WITHOUT_NAMES)
def test_without_names(name):
    assert_reads(WITHOUT_NAMES[name](), PLAIN, (0, 1, 2))
    assert_reads(WITHOUT_NAMES[name](), PLAIN, (3, 7, 9))


NAMED = {
    "nested": lambda: NESTED,
    "with diagonal": lambda: {t: {t: 0, **row} for t, row in NESTED.items()},
    "turned": lambda: {t: dict(reversed(row.items())) for t, row in NESTED.items()},
    "rows": lambda: dict(zip(NAMES, PLAIN, strict=True)),
    "arrays": lambda: dict(zip(NAMES, np.array(PLAIN), strict=True)),
    "mixed": lambda: {"a": PLAIN[0], "b": NESTED["b"], "c": tuple(PLAIN[2])},
    "pandas": lambda: pd.DataFrame(COLUMNS, index=list(NAMES)),
    "pandas rows": lambda: pd.DataFrame(COLUMNS, index=list(NAMES)).loc[["c", "a", "b"]],
    "pandas columns": lambda: pd.DataFrame(COLUMNS, index=list(NAMES))[["b", "c", "a"]],
    **{
        kind: lambda kind=kind: pd.DataFrame(COLUMNS, index=list(NAMES)).astype(kind)
        for kind in ("Int64", "Float64", "int64[pyarrow]")
    },
    "polars": lambda: pl.DataFrame(COLUMNS),
    "polars truth": lambda: pl.DataFrame(WITH_TRUTH),
    "polars swapped": lambda: pl.DataFrame(SWAPPED),
    "arrow": lambda: pa.table(COLUMNS),
    "arrow truth": lambda: pa.table(WITH_TRUTH),
    "arrow swapped": lambda: pa.table(SWAPPED),
    "batch": lambda: pa.record_batch(WITH_TRUTH),
}


@pytest.mark.parametrize("name", NAMED)
def test_named(name):
    cost = NAMED[name]()
    assert_reads(cost, PLAIN, NAMES)
    assert_reads(cost, [[0, 6, 5], [4, 0, 3], [2, 1, 0]], "cba")
    # Classes select among the names.
    counts = np.zeros((2, 2, 2), int)
    counts[1, 0, 1] = 1
    assert LabelTable(counts=counts, classes=("c", "a")).losses(cost) == (2, 0)


@pytest.mark.parametrize("library", ["polars", "pyarrow"])
def test_column_names_that_are_numbers_or_bools(library):
    frame = {"polars": pl.DataFrame, "pyarrow": pa.table}[library]
    values = [[0, 1], [5, 0]]
    assert_reads(frame({"1": [0, 5], "-2": [1, 0]}), values, (1, -2))
    assert_reads(frame({"truth": [-2, 1], "1": [5, 0], "-2": [0, 1]}), values, (1, -2))
    assert_reads(frame({"truth": ["-2", "1"], "1": [5, 0], "-2": [0, 1]}), values, ("1", "-2"))
    assert_reads(frame({"1": [0, 5], "x": [1, 0]}), values, ("1", "x"))
    for names in (("true", "false"), ("True", "False")):
        columns = dict(zip(names, [[5, 0], [0, 1]], strict=True))
        assert_reads(frame({"truth": [False, True], **columns}), values, (True, False))


@given(st.permutations(NAMES), st.permutations(NAMES))
def test_the_order_of_names_is_that_of_values(rows, columns):
    frame = pd.DataFrame(COLUMNS, index=list(NAMES)).loc[rows, columns]
    assert_reads(frame, [[NESTED[t].get(p, 0) for p in rows] for t in rows], rows)


def test_zeros_beside_the_diagonal_are_fine():
    assert_reads([[0, 0], [1, 0]], [[0, 0], [1, 0]], (0, 1))
    assert_reads({"a": {"b": 0}, "b": {"a": 1}}, [[0, 0], [1, 0]], ("a", "b"))


SQUARE = "cost must be a square matrix, got shape "
TEXT = "cost must be a square matrix of numbers, got "
CELL = "cost must hold numbers, got "
SHAPE = "cost must have as many columns as rows, or one more with the true classes, got "
RAGGED = TEXT + "lists of different lengths$"
Y = ["a", "b", "a", "b"]


AXES = "cost must name the same classes in the index and in the columns, got "
#: What is wrong, by the beginning of what is said.
BAD = {
    SQUARE + r"\(2, 3\)$": [[[0, 1, 2], [3, 0, 4]], {"a": [0, 1, 2], "b": [1, 0, 2]}],
    SQUARE + r"\(2,\)$": [[0, 1], lambda: pd.Series([0, 1])],
    SQUARE + r"\(2, 2, 2\)$": [np.ones((2, 2, 2))],
    SQUARE: [3, [], [[]], {}, lambda: pd.DataFrame([])],
    SHAPE + "0 rows and 0 columns$": [lambda: pl.DataFrame([])],
    RAGGED: [[[0, 1], [5]], {"a": [0, 1], "b": [5]}],
    CELL + r"'0' at \[0, 0\]$": [[["0", "1"], ["5", "0"]]],
    CELL + r"False at \[0, 0\]$": [[[False, True], [True, False]]],
    CELL + r"None at \[1, 0\]$": [lambda: pl.DataFrame({"a": [0, None], "b": [1, 0]})],
    CELL + r"'x' at \[0, 0\]$": [lambda: pl.DataFrame({"a": ["x", "y"], "b": ["z", "t"]})],
    TEXT + "<U4 values$": ["cost"],
    r"cost must be finite, got nan at \[1": [[[0, 1], [np.nan, 0]]],
    "cost must be finite, got -inf at ": [[[0, -np.inf], [1, 0]]],
    r"cost must not be negative, got -2 at \[1, 0\]$": [[[0, 1], [-2, 0]]],
    r"cost must not be negative, got -0\.5 at \['a', 'b'\]$": [{"a": {"b": -0.5}, "b": {"a": 1}}],
    r"cost must be 0 where the prediction is right, got 4 at \[1, 1\]$": [[[0, 1], [5, 4]]],
    "cost must have at least one positive entry": [[[0]], np.zeros((3, 3))],
    r"cost\['c'\] lacks the cost of predicting 'b'$": [NESTED | {"c": {"a": 5}}],
    "cost has no row for class 'z', which it can": [{"a": {"b": 1, "z": 1}, "b": {"a": 3}}],
    AXES + r"\['a', 'b'\] and \['a', 'c'\]$": [
        lambda: pd.DataFrame([[0, 1], [5, 0]], index=["a", "b"], columns=["a", "c"])
    ],
    AXES + r"\[0, 1\] and \['a', 'b'\]$": [
        lambda: pd.DataFrame([[0, 1], [5, 0]], columns=["a", "b"])
    ],
    AXES: [
        lambda: pd.DataFrame([[0, 1], [5, 0], [1, 1]], list("abc"), list("ab")),
        lambda: pd.DataFrame([[0, 1], [0, 1]], index=["a", "a"], columns=["a", "b"]),
    ],
    AXES.replace("index", "first column") + r"\['a', 'z'\] and \['a', 'b'\]$": [
        lambda: pl.DataFrame({"truth": ["a", "z"], "a": [0, 5], "b": [1, 0]})
    ],
    AXES.replace("index", "first column"): [
        lambda: pa.table({"truth": [None, "b"], "a": [0, 5], "b": [1, 0]})
    ],
}


@pytest.mark.parametrize("wanted", BAD)
def test_bad_costs(wanted):
    for cost in BAD[wanted]:
        with pytest.raises((ValueError, TypeError), match=f"^{wanted}"):
            cost_test(Y, Y, Y, cost() if callable(cost) else cost)


@pytest.mark.parametrize("library", ["pandas", "pyarrow"])
def test_a_name_twice(library):
    values, names = [[0, 0, 1], [0, 0, 9], [1, 1, 0]], ["a", "a", "b"]
    cost = pd.DataFrame(values, index=names, columns=names)
    if library == "pyarrow":
        cost = pa.table([names, *np.transpose(values)], names=["truth", *names])
    with pytest.raises(ValueError, match=r"^cost must .*'a'"):
        cost_test(Y, Y, Y, cost)


def test_classes_that_do_not_fit():
    for cost, classes, wanted in (
        (PLAIN, ["a", "b"], "cost is 3 x 3, but classes names 2 classes$"),
        (PLAIN, list("abcd"), "cost is 3 x 3, but classes names 4 classes$"),
        (NESTED, ["a", "z"], r"cost names no class 'z'; it has \['a', 'b', 'c'\]$"),
        (NESTED, [0, 1], "cost names no class 0; it has "),
        # What is selected must be a cost matrix too.
        (
            {"a": {"b": 0, "c": 1}, "b": {"a": 0, "c": 1}, "c": {"a": 1, "b": 1}},
            ["a", "b"],
            "cost must have at least one positive ",
        ),
    ):
        with pytest.raises(ValueError, match=f"^{wanted}"):
            cost_test(Y, Y, Y, cost, classes=classes)
