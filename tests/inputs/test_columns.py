"""One column of labels: every type that is read, what is missing, what is refused."""

import datetime as dt
import sys
from decimal import Decimal
from enum import Enum, IntEnum

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from fastcmp.inputs.columns import read_column
from fastcmp.inputs.labels import encode

SIZES = [40, 20_500]  # sorted or looked up one by one, and hashed by pyarrow


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


class Digit(IntEnum):
    ONE = 1
    TWO = 2


def draw(pool, n, seed=0):
    """Draw labels of a pool as Python objects, each at least once."""
    places = np.random.default_rng(seed).integers(len(pool), size=n)
    places[: len(pool)] = range(len(pool))
    return [pool[i] for i in places]


def objects(labels):
    array = np.empty(len(labels), dtype=object)
    array[:] = labels
    return array


def masked(labels, dtype):
    fill = next(label for label in labels if label is not None)
    data = np.array([fill if x is None else x for x in labels], dtype)
    return np.ma.array(data, mask=[x is None for x in labels])


def labels_of(column):
    """Read a column back: its labels, None where missing."""
    if column.integers is not None:
        assert column.codes is None
        return column.integers.tolist()
    return [column.distinct[i] if i >= 0 else None for i in column.codes.tolist()]


def numpy_of(dtype):
    return lambda labels: np.array(labels, dtype)


def pandas_of(dtype):
    return lambda labels: pd.Series(labels, dtype=dtype)


def polars_of(dtype):
    return lambda labels: pl.Series(labels, dtype=dtype)


def arrow_of(dtype=None):
    return lambda labels: pa.array(labels, type=dtype)


def chunked(labels):
    middle = len(labels) // 3
    return pa.chunked_array([labels[:middle], [], labels[middle:]], pa.array(labels).type)


def arrow_dictionary(labels):
    return pa.array(labels).dictionary_encode()


def chunked_dictionary(labels):
    # The dictionaries of the chunks differ in order.
    middle = len(labels) // 3
    parts = [labels[:middle], labels[middle:][::-1]]
    kind = pa.array(labels).type
    return pa.chunked_array([pa.array(p, kind).dictionary_encode() for p in parts])


def chunked_dictionary_order(labels):
    middle = len(labels) // 3
    return labels[:middle] + labels[middle:][::-1]


def categories(labels):
    # By their codes, because pandas 2 reads text up to "\0".
    known = list(dict.fromkeys(label for label in labels if label is not None))
    codes = [-1 if label is None else known.index(label) for label in labels]
    return pd.Categorical.from_codes(codes, pd.Index(known, dtype=object))


STRINGS = ["b", "a", "", "ab", "é", "日本", "a b", "a\0b"]
INTEGERS = [7, -3, 0, 120, 1]
NATURALS = [7, 0, 250, 1]
FRACTIONS = [0.5, -1.25, 3.0, 1e300, float("inf")]
BYTES = [b"b", b"a", b"\xff", b"a\x00b"]

_EVERY = {"list": list, "tuple": tuple, "object": objects}
_ARROW = {
    "arrow": arrow_of(),
    "arrow chunked": chunked,
    "arrow dictionary": arrow_dictionary,
}
BUILDERS = [
    *[(INTEGERS, name, make) for name, make in (_EVERY | _ARROW).items()],
    *[(INTEGERS, t, numpy_of(t)) for t in ("i1", "i2", "i4", "i8", ">i2", ">i8")],
    *[(INTEGERS, f"pandas {t}", pandas_of(t)) for t in ("int64", "Int64", "object")],
    *[(INTEGERS, f"pandas {t}", pandas_of(t)) for t in ("category", "int64[pyarrow]")],
    *[(INTEGERS, f"polars {t}", polars_of(t)) for t in (pl.Int8, pl.Int64, pl.Int128)],
    *[(NATURALS, t, numpy_of(t)) for t in ("u1", "u2", "u4", "u8", ">u4")],
    *[(NATURALS, f"polars {t}", polars_of(t)) for t in (pl.UInt8, pl.UInt64)],
    (NATURALS, "pandas UInt8", pandas_of("UInt8")),
    *[([True, False], name, make) for name, make in (_EVERY | _ARROW).items()],
    ([True, False], "numpy bool", numpy_of(bool)),
    ([True, False], "bool scalars", lambda x: list(map(np.bool_, x))),
    *[([True, False], f"pandas {t}", pandas_of(t)) for t in ("bool", "boolean")],
    *[([True, False], f"pandas {t}", pandas_of(t)) for t in ("category", "object")],
    ([True, False], "polars bool", polars_of(pl.Boolean)),
    *[(STRINGS, name, make) for name, make in (_EVERY | _ARROW).items()],
    *[(STRINGS, t, numpy_of(t)) for t in ("U", ">U4", "T")],
    *[(STRINGS, f"pandas {t}", pandas_of(t)) for t in ("str", "string", "object")],
    (STRINGS, "pandas category", lambda labels: pd.Series(categories(labels))),
    (STRINGS, "pandas string[pyarrow]", pandas_of("string[pyarrow]")),
    (STRINGS, "pandas index", pd.Index),
    (STRINGS, "pandas array", pd.array),
    (STRINGS, "categorical", categories),
    *[(STRINGS, f"polars {t}", polars_of(t)) for t in (pl.String, pl.Categorical)],
    (STRINGS, "polars enum", polars_of(pl.Enum(STRINGS))),
    (STRINGS, "polars objects", polars_of(pl.Object)),
    (STRINGS, "large", arrow_of(pa.large_string())),
    (STRINGS, "view", arrow_of(pa.string_view())),
    *[(BYTES, name, make) for name, make in (_EVERY | _ARROW).items()],
    (BYTES, "S", numpy_of("S")),
    (BYTES, "polars bytes", polars_of(pl.Binary)),
    *[(FRACTIONS, name, make) for name, make in (_EVERY | _ARROW).items()],
    (FRACTIONS, "f8", numpy_of("f8")),
    (FRACTIONS, "longdouble", numpy_of("g")),
    *[(FRACTIONS, f"pandas {t}", pandas_of(t)) for t in ("float64", "Float64")],
    (FRACTIONS, "polars floats", polars_of(pl.Float64)),
    *[([0.5, 2.0, -1.0], t, numpy_of(t)) for t in ("f2", "f4")],
    ([0.5, 2.0, -1.0], "half", lambda x: pa.array(np.array(x, "f2"))),
    *[([Decimal("1.5"), Decimal(2)], name, _EVERY[name]) for name in _EVERY],
    *[([Colour.RED, Colour.BLUE], name, _EVERY[name]) for name in _EVERY],
    *[([Digit.ONE, Digit.TWO], name, _EVERY[name]) for name in _EVERY],
    *[([2**70, -(2**70), 3], name, _EVERY[name]) for name in _EVERY],
    *[([2**63 + 1, 2**63, 2**64 - 1], name, _EVERY[name]) for name in _EVERY],
    ([2**63 + 1, 2**63, 2**64 - 1], "u8", numpy_of("u8")),
    *[([-1, 2**63, 2**63 + 1], name, _EVERY[name]) for name in _EVERY],
    ([-(2**63), 2**63 - 1, 0], "i8", numpy_of("i8")),
    *[([2**53, 2**53 + 1, 0.5], name, _EVERY[name]) for name in _EVERY],
    *[(["a", "a\0", "\0"], name, _EVERY[name]) for name in _EVERY],
    *[([b"a", b"a\0", b"\0"], name, _EVERY[name]) for name in _EVERY],
    *[(["\ud800", "\ud801", "a"], name, _EVERY[name]) for name in _EVERY],
    *[([pd.Timestamp(1), pd.Timestamp(2)], name, _EVERY[name]) for name in _EVERY],
]


def named(builders):
    return [pytest.param(*b, id=f"{type(b[0][0]).__name__}-{b[1]}") for b in builders]


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize(("pool", "name", "make"), named(BUILDERS))
def test_labels_are_read_as_they_are(pool, name, make, n):
    labels = draw(pool, n)
    column = read_column(make(labels), "pred_a")
    assert labels_of(column) == labels
    assert len(column) == n
    assert column.missing() is None
    assert labels_of(column.factorized()) == labels


@pytest.mark.parametrize("n", SIZES)
def test_chunks_with_different_dictionaries(n):
    labels = draw(STRINGS, n)
    column = read_column(chunked_dictionary(labels), "y_true")
    assert labels_of(column) == chunked_dictionary_order(labels)


DATES = {
    "M8[D]": numpy_of("M8[D]"),
    "M8[ns]": numpy_of("M8[ns]"),
    "m8[s]": numpy_of("m8[s]"),
    "list of M8": lambda x: list(np.array(x, "M8[D]")),
    "list of dates": lambda x: [dt.date(2024, 1, i + 1) for i in x],
    "list of times": lambda x: [dt.datetime(2024, 1, 1, 0, 0, 0, i) for i in x],
    "list of durations": lambda x: [dt.timedelta(i) for i in x],
    "pandas": lambda x: pd.to_datetime(pd.Series(x)),
    "pandas zone": lambda x: pd.to_datetime(pd.Series(x)).dt.tz_localize("UTC"),
    "pandas durations": lambda x: pd.to_timedelta(pd.Series(x)),
    "polars": lambda x: pl.Series(x, dtype=pl.Int32).cast(pl.Date),
    "polars durations": lambda x: pl.Series(x, dtype=pl.Int64).cast(pl.Duration),
    "arrow": lambda x: pa.array(x, pa.int32()).cast(pa.date32()),
    "arrow ns": lambda x: pa.array(x, pa.int64()).cast(pa.timestamp("ns")),
}


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("make", DATES.values(), ids=DATES)
def test_dates_are_equal_where_their_numbers_are(make, n):
    numbers = draw([3, 0, 20], n)
    read = labels_of(read_column(make(numbers), "y_true"))
    assert len(set(zip(numbers, read, strict=True))) == len(set(read)) == 3


WITH_MISSING = [
    *[(STRINGS, name, _EVERY[name]) for name in _EVERY],
    (STRINGS, "masked", lambda x: masked(x, "U4")),
    *[(STRINGS, f"pandas {t}", pandas_of(t)) for t in ("str", "string", "object")],
    (STRINGS, "pandas category", lambda labels: pd.Series(categories(labels))),
    (STRINGS, "pandas string[pyarrow]", pandas_of("string[pyarrow]")),
    *[(STRINGS, f"polars {t}", polars_of(t)) for t in (pl.String, pl.Categorical)],
    (STRINGS, "polars enum", polars_of(pl.Enum(STRINGS))),
    *[(STRINGS, name, make) for name, make in _ARROW.items()],
    (INTEGERS, "list", list),
    (INTEGERS, "masked", lambda x: masked(x, "i8")),
    (INTEGERS, "pandas Int64", pandas_of("Int64")),
    (INTEGERS, "pandas category", pandas_of("category")),
    (INTEGERS, "polars ints", polars_of(pl.Int64)),
    *[(INTEGERS, name, make) for name, make in _ARROW.items()],
    ([True, False], "list", list),
    ([True, False], "masked", lambda x: masked(x, "?")),
    ([True, False], "pandas boolean", pandas_of("boolean")),
    ([True, False], "polars bool", polars_of(pl.Boolean)),
    *[([True, False], name, make) for name, make in _ARROW.items()],
    (FRACTIONS, "list", list),
    (FRACTIONS, "f8", numpy_of("f8")),
    ([0.5, 2.0], "f4", numpy_of("f4")),
    ([3.0, 2.0], "f2", numpy_of("f2")),
    (FRACTIONS, "masked", lambda x: masked(x, "f8")),
    *[(FRACTIONS, f"pandas {t}", pandas_of(t)) for t in ("float64", "Float64")],
    (FRACTIONS, "polars floats", polars_of(pl.Float64)),
    *[(FRACTIONS, name, make) for name, make in _ARROW.items()],
    (BYTES, "list", list),
    (BYTES, "polars bytes", polars_of(pl.Binary)),
]


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize(("pool", "name", "make"), named(WITH_MISSING))
def test_missing_labels_are_marked(pool, name, make, n):
    labels = draw([*pool, None], n)
    column = read_column(make(labels), "y_true")
    assert labels_of(column) == labels
    assert column.missing().tolist() == [label is None for label in labels]


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize(
    "hole",
    [None, float("nan"), np.float32("nan"), np.datetime64("NaT", "s"), pd.NaT, pd.NA],
)
def test_every_kind_of_nothing_is_missing(hole, n):
    labels = draw(["a", "b", hole], n)
    holes = [label is hole for label in labels]
    assert read_column(objects(labels), "y_true").missing().tolist() == holes
    assert read_column(labels, "y_true").missing().tolist() == holes
    assert read_column(pd.Series(labels, dtype=object), "").missing().tolist() == holes


@pytest.mark.parametrize(
    "raw",
    [
        np.array(["2024-01-01", "NaT", "2024-01-02"], "M8[D]"),
        pd.to_datetime(pd.Series(["2024-01-01", None, "2024-01-02"])),
        pl.Series([dt.date(2024, 1, 1), None, dt.date(2024, 1, 2)]),
        pa.array([dt.date(2024, 1, 1), None, dt.date(2024, 1, 2)]),
        pa.array([0.5, float("nan"), 2.5]),
        pl.Series([0.5, float("nan"), 2.5]),
        pa.DictionaryArray.from_arrays(pa.array([0, 1, 2]), pa.array(["a", None, "b"])),
        pa.DictionaryArray.from_arrays(pa.array([0, None, 1]), pa.array(["a", "b"])),
    ],
    ids=lambda raw: (
        f"{type(raw).__module__.partition('.')[0]} {raw.dtype}"
        if hasattr(raw, "dtype")
        else str(raw.type)[:20]
    ),
)
def test_one_of_three_is_missing(raw):
    column = read_column(raw, "y_true")
    assert column.missing().tolist() == [False, True, False]
    assert column.kind() in {"str", "number", "date", "datetime64"}


@pytest.mark.parametrize(
    "raw",
    [
        [None, None],
        [float("nan")] * 2,
        pa.nulls(2),
        pl.Series([None, None]),
        pd.Series([None, None], dtype="category"),
        np.ma.array([1, 2], mask=True),
    ],
)
def test_all_may_be_missing(raw):
    assert read_column(raw, "y_true").missing().tolist() == [True, True]


def test_missing_and_not_a_number_in_one_arrow_array():
    labels = [2.5, float("nan"), None, 0.5, 2.5]
    read = labels_of(read_column(pa.array(labels), "y_true"))
    assert read == [2.5, None, None, 0.5, 2.5]


def test_a_dictionary_may_repeat_a_label():
    raw = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2]), pa.array(["a", "a", "b"]))
    assert labels_of(read_column(raw, "y_true")) == ["a", "a", "b"]


@pytest.mark.parametrize(
    "raw",
    [
        pa.chunked_array([], pa.string()),
        pa.chunked_array([], pa.dictionary(pa.int8(), pa.string())),
        pa.array([], pa.string()),
        pl.Series([], dtype=pl.String),
        pd.Series([], dtype=str),
        np.array([], "U1"),
        [],
    ],
)
def test_nothing_at_all_is_an_empty_column(raw):
    column = read_column(raw, "y_true")
    assert len(column) == 0
    assert column.kind() in {"", "number"}


@pytest.mark.parametrize("kind", ["u1", "i1", "i8", "?", "u8"])
def test_integers_and_bools_are_not_copied(kind):
    array = np.array([1, 0, 1], kind)
    for raw in (array, pd.Series(array, copy=False), array[::2]):
        assert np.shares_memory(read_column(raw, "y_true").integers, array)
    assert np.shares_memory(read_column(pl.Series(array), "").integers, array) or (
        kind == "?"  # packed to bits by polars
    )


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "g"])
def test_floats_that_are_whole_are_integers(dtype):
    column = read_column(np.array([0.0, -2.0, 5.0, -0.0], dtype), "y_true")
    assert column.integers.tolist() == [0, -2, 5, 0]


def test_whole_floats_beyond_two_to_the_53_stay_apart_from_their_neighbours():
    column = read_column(np.array([2.0**53, 2.0**53 + 2, 1e300]), "y_true")
    assert labels_of(column) == [2**53, 2**53 + 2, 1e300]


def test_take_selects_samples():
    keep = np.array([True, False, True])
    for raw in (np.array([5, 6, 7]), ["x", "y", "z"]):
        column = read_column(raw, "y_true").take(keep)
        assert labels_of(column) == [raw[0], raw[2]]
        assert column.name == "y_true"


@pytest.mark.parametrize(
    ("raw", "kind"),
    [
        ([1, True, 2.5, Decimal(1), None], "number"),
        (np.array([1, 2]), "number"),
        (np.array([np.True_, 1, np.float32(0.5)], object), "number"),
        (["a", np.str_("b")], "str"),
        (np.array([b"a"]), "bytes"),
        ([Colour.RED], "Colour"),
    ],
)
def test_kind_names_the_family(raw, kind):
    assert read_column(raw, "y_true").kind() == kind


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize(
    ("pool", "types"),
    [
        (["a", 1], "int and str"),
        (["a", b"a"], "bytes and str"),
        ([0.5, "a", None], "float and str"),
    ],
)
@pytest.mark.parametrize(
    "make",
    [list, objects, pandas_of("object"), polars_of(pl.Object)],
    ids=["list", "object", "pandas", "polars"],
)
def test_mixed_families_are_refused(pool, types, make, n):
    message = f"^pred_a mixes {types} labels, which cannot be compared$"
    with pytest.raises(TypeError, match=message):
        read_column(make(draw(pool, n)), "pred_a").kind()


@pytest.mark.parametrize(
    ("raw", "shape"),
    [
        (np.zeros((2, 3)), r"\(2, 3\)"),
        (np.zeros((2, 3, 4), np.uint8), r"\(2, 3, 4\)"),
        ([[1, 2], [3, 4]], r"\(2, 2\)"),
        ([("a", "b")], r"\(1, 2\)"),
        (np.ma.zeros((2, 2)), r"\(2, 2\)"),
        (pd.DataFrame({"a": [1, 2]}), r"\(2, 1\)"),
        (pl.DataFrame({"a": [1, 2]}), r"\(2, 1\)"),
        (pa.table({"a": [1, 2]}), r"\(2, 1\)"),
        (3, r"\(\)"),
        ("abc", r"\(\)"),
        (b"abc", r"\(\)"),
        (None, r"\(\)"),
        ({1, 2}, r"\(\)"),
        ((x for x in [1, 2]), r"\(\)"),
        (pa.scalar(3), r"\(\)"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_other_shapes_are_refused(raw, shape):
    message = rf"^pred_b must be one-dimensional, got shape {shape}$"
    with pytest.raises(ValueError, match=message):
        read_column(raw, "pred_b")


@pytest.mark.parametrize("dtype", ["complex128", "V4", "i4,i4"])
def test_types_without_equality_are_refused(dtype):
    wanted = r"^pred_b holds labels of type .+, which cannot be compared$"
    with pytest.raises(TypeError, match=wanted):
        read_column(np.zeros(3, dtype), "pred_b")


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize(
    "make",
    [
        objects,
        list,
        pd.Series,
        pl.Series,
        pa.array,
        lambda x: pl.Series(x, dtype=pl.Object),
    ],
    ids=["object", "list", "pandas", "polars", "arrow", "polars objects"],
)
@pytest.mark.parametrize("label", [{"a": 1}, [1]], ids=["dict", "ragged list"])
def test_labels_that_cannot_be_hashed_are_refused(make, label, n):
    raw = make([label, None, [1, 2] if isinstance(label, list) else None] + [label] * n)
    with pytest.raises(TypeError, match=r"^pred_b holds .*which cannot be compared$"):
        read_column(raw, "pred_b")


def test_the_row_of_a_label_that_cannot_be_hashed_is_named():
    wanted = "^y_true holds a label of type dict at row 2, which cannot be compared$"
    with pytest.raises(TypeError, match=wanted):
        read_column(["a", None, {}], "y_true")


@pytest.fixture(params=["pyarrow", "pyarrow and pandas"])
def without(request, monkeypatch):
    """Hide libraries that are optional."""
    for name in request.param.split(" and "):
        monkeypatch.setitem(sys.modules, name, None)


PLAIN = [b for b in BUILDERS if b[1] in {"list", "object", "U", "T", "S"}]


@pytest.mark.usefixtures("without")
@pytest.mark.parametrize(("pool", "name", "make"), named(PLAIN))
def test_without_libraries_labels_are_the_same(pool, name, make):
    labels = draw(pool, SIZES[1])
    column = read_column(make(labels), "pred_a")
    assert labels_of(column) == labels


@pytest.mark.usefixtures("without")
def test_without_libraries_the_missing_are_marked():
    labels = draw(["a", None, "b"], SIZES[1])
    column = read_column(objects(labels), "y_true")
    assert labels_of(column) == labels
    assert column.missing().tolist() == [label is None for label in labels]


@pytest.mark.parametrize("dtype", [pl.String, pl.Categorical, pl.Enum(["a", "b"])], ids=str)
def test_polars_without_pyarrow(monkeypatch, dtype):
    series = pl.Series(["a", None, "b"], dtype=dtype)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert labels_of(read_column(series, "y_true")) == ["a", None, "b"]


def test_pandas_without_pyarrow(monkeypatch):
    series = pd.Series(["a", None, "b"], dtype=object)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert labels_of(read_column(series, "y_true")) == ["a", None, "b"]


@pytest.mark.usefixtures("without")
def test_without_libraries_what_cannot_be_hashed_is_refused():
    wanted = "^y_true holds a label of type list at row 1, which cannot be compared$"
    with pytest.raises(TypeError, match=wanted):
        read_column(objects(["a", [1]] * SIZES[1]), "y_true")


def arrow_series(values, kind=None):
    return pd.Series(pd.arrays.ArrowExtensionArray(pa.array(values, kind)))


@pytest.mark.parametrize(
    "series",
    [
        arrow_series([1.0, float("nan"), 2.0, None]),
        arrow_series([1.0, float("nan"), 2.0, None], pa.float32()),
        arrow_series([1.0, float("nan"), 2.0, None]).astype("category"),
        arrow_series(pa.array([1.0, float("nan"), 2.0, None]).dictionary_encode()),
        pd.Series([1.0, np.nan, 2.0, None], dtype="Float64"),
        pd.Series([1.0, 0.0, 2.0, None], dtype="Float64")
        * pd.Series([1, np.inf, 1, 1], dtype="Float64"),
        pd.Series([1.0, np.nan, 2.0, None]),
        pl.Series([1.0, float("nan"), 2.0, None]),
        pa.array([1.0, float("nan"), 2.0, None]),
    ],
    ids=str,
)
def test_nan_is_missing_whatever_backend_holds_it(series):
    column = read_column(series, "y_true")
    assert labels_of(column) == [1.0, None, 2.0, None]
    assert column.missing().tolist() == [False, True, False, True]


LARGE = [2**53 + 1, 2**53, 2**63 + 1, 2**62 + 1, 2**62]


@pytest.mark.parametrize("large", LARGE)
@pytest.mark.parametrize("make", [list, lambda x: np.array(x, np.longdouble)])
def test_long_doubles_equal_the_whole_numbers_that_they_are(large, make):
    exact = np.longdouble(large // 2) * 2 + large % 2
    assert int(exact) == large
    labels = encode([large, 0], [make([exact, 0]), make([exact - 1, 0])])
    a, b = labels.preds
    assert (labels.y_true == a).all()
    assert (labels.y_true == b).tolist() == [False, True]


def test_scalars_of_numpy_are_the_numbers_that_they_are():
    mixed = [np.uint64(2**63 + 5), np.int64(-1), np.float32(0.5), np.longdouble(0.5)]
    column = read_column(mixed, "y_true")
    assert column.distinct == (2**63 + 5, -1, 0.5)
    assert {type(label) for label in column.distinct} == {int, float}
