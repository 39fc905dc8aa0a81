"""Values that are written as JSON come back, of the same type and to the bit."""

import datetime as dt
import json
import math
from collections import namedtuple
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from fastcmp import McNemarResult, mcnemar_from_counts
from fastcmp.core.plain import from_plain, to_plain
from fastcmp.core.records import ConfidenceInterval

PLAIN = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.binary(max_size=9)
    | st.dates()
    | st.datetimes()
    | npst.from_dtype(np.dtype("f4"))
    | npst.from_dtype(np.dtype("M8[ns]"))
)
NESTED = st.recursive(
    PLAIN,
    lambda part: (
        st.lists(part, max_size=3)
        | st.lists(part, max_size=3).map(tuple)
        | st.dictionaries(st.text(max_size=3) | st.just("$tuple"), part, max_size=3)
        | st.dictionaries(st.integers(), part, max_size=3)
    ),
)


def back(value):
    return from_plain(json.loads(json.dumps(to_plain(value))))


def same(one, two):
    """Compare with types, bits and the signs of zero."""
    if type(one) is not type(two):
        return False
    if isinstance(one, (list, tuple)):
        return len(one) == len(two) and all(map(same, one, two))
    if isinstance(one, dict):
        return same(list(one.items()), list(two.items()))
    if isinstance(one, np.ndarray):
        if one.dtype == object:
            return one.shape == two.shape and same(one.tolist(), two.tolist())
        return (one.dtype, one.shape) == (two.dtype, two.shape) and (one.tobytes() == two.tobytes())
    if isinstance(one, np.generic):
        return one.dtype == two.dtype and one.tobytes() == two.tobytes()
    if isinstance(one, float):
        both_nan = math.isnan(one) and math.isnan(two)
        return both_nan or (one, math.copysign(1, one)) == (two, math.copysign(1, two))
    return one == two


@given(NESTED)
def test_nested_values_come_back(value):
    assert same(back(value), value)


@given(
    npst.arrays(
        npst.boolean_dtypes()
        | npst.integer_dtypes(endianness="<")
        | npst.floating_dtypes(endianness="<")
        | npst.datetime64_dtypes(endianness="<")
        | npst.unicode_string_dtypes(endianness="<", max_len=5)
        | npst.byte_string_dtypes(max_len=5),
        npst.array_shapes(min_dims=0, min_side=0),
    )
)
def test_arrays_come_back(array):
    assert same(back(array), array)
    assert back(array).flags.writeable
    assert same(back(array.T), np.ascontiguousarray(array.T).reshape(array.T.shape))


def objects(*parts):
    array = np.empty(len(parts), object)
    for i, part in enumerate(parts):
        array[i] = part
    return array


@pytest.mark.parametrize(
    "value",
    [
        -0.0,
        [-math.inf, math.nan],
        objects([1, 2], [3, 4]),  # not an array of two axes
        objects(np.array([1.5]), np.array([2.5]), None),
        objects("a", (1, "b"), {2: b"c"}).reshape(1, 3),
        objects(),
        np.array(-0.0),
        np.zeros((0, 3)),
        np.array([np.nan, -0.0, np.inf]),
        np.float64("nan"),
        Decimal("1.10"),
        Path("a/b"),
        dt.datetime(2024, 1, 1, tzinfo=dt.UTC),
        {"$tuple": 1},
        {"$x": 1, "y": 2},
        {(1, 2): [3], None: {}},
        ConfidenceInterval(0.1, np.array([0.2])),
    ],
    ids=repr,
)
def test_some_values_come_back(value):
    assert same(back(value), value)


def test_records_come_back_within_other_values():
    result = mcnemar_from_counts(11, 1)
    (found,) = back([result])
    assert isinstance(found, McNemarResult)
    assert found == result


def test_a_map_of_a_file_is_saved_as_an_array(tmp_path):
    np.save(tmp_path / "x.npy", np.arange(6).reshape(2, 3))
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    assert same(back(mapped), np.arange(6).reshape(2, 3))


Own = namedtuple("Own", "x")
McNemar = type("McNemarResult", (Own,), {})


@pytest.mark.parametrize(
    "value",
    [
        Fraction(1, 2),
        dt.time(1),
        {1, 2},
        1j,
        np.array([1j]),
        object(),
        print,
        int,
        McNemarResult,
        Own(1),
        McNemar(1),  # another class of that name
        np.ma.masked_array([1, 2], [True, False]),
        np.zeros(1, "i4,i4"),
        [objects(Own(1))],
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_has_no_form_is_refused_when_it_is_written(value):
    with pytest.raises(TypeError, match="not saved"):
        to_plain(value)


@pytest.mark.parametrize(
    "plain",
    [
        {"$set": [1]},
        {"$tuple": [1], "x": 2},
        {"$record": ["Popen", {"args": "true"}]},
        {"$record": ["mcnemar", {}]},
        {"$record": ["Record", {}]},
        {"$record": ["McNemarResult", {"x": 1}]},
        {"$record": "McNemarResult"},
        {"$record": [["McNemarResult"], {}]},
        {"$numpy": ["|O", "00" * 8]},
        {"$numpy": ["<V8", "00" * 8]},
        {"$numpy": ["<i8,<i8", "00" * 16]},
        {"$array": ["|O", [1], "AAAAAAAAAAA="]},
        {"$array": ["<i8", [2], "AAAAAAAAAAA="]},
        {"$array": ["<U999999999", [1], "AAAA"]},
        {"$array": ["O", [2], [1]]},
        {"$dict": [[[], 1]]},
        {"$bytes": 5},
        {"$date": "tomorrow"},
    ],
    ids=repr,
)
def test_what_was_not_written_so_is_refused_when_it_is_read(plain):
    with pytest.raises((ValueError, TypeError)):
        from_plain(plain)
