"""A saved state comes back to the bit, and nothing else is taken for one."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from fastcmp.core.saved_states import FileKind, read_state, write_state

ANY = FileKind(None, "a state", "write another")
ARRAYS = st.dictionaries(
    st.text(max_size=5),
    npst.arrays(
        npst.boolean_dtypes() | npst.integer_dtypes() | npst.floating_dtypes(),
        npst.array_shapes(min_dims=0, min_side=0, max_side=4),
    ),
    max_size=3,
)


@given(settings=st.dictionaries(st.text(), st.floats() | st.binary()), arrays=ARRAYS)
def test_states_come_back(tmp_path_factory, settings, arrays):
    path = tmp_path_factory.mktemp("states") / "x"
    turned = {name: array.T for name, array in arrays.items()}
    for own in (arrays, turned):
        write_state(path, "Thing", settings, own)
        name, found, read = read_state(path, ANY)
        assert name == "Thing"
        assert repr(found) == repr(settings)
        assert read.keys() == own.keys()
        for key, array in own.items():
            assert read[key].flags.writeable
            assert read[key].dtype == array.dtype.newbyteorder("<")
            assert read[key].shape == array.shape
            np.testing.assert_array_equal(read[key], array)


def test_the_kind_is_part_of_the_checksum(tmp_path):
    path = tmp_path / "x"
    write_state(path, "Thing", {}, {})
    path.write_bytes(path.read_bytes().replace(b"Thing", b"Other"))
    with pytest.raises(ValueError, match=r"x is damaged: .*; write another$"):
        read_state(path, ANY)


def test_another_kind_is_named(tmp_path):
    path = tmp_path / "x"
    write_state(path, "Thing", {}, {})
    wanted = r"x holds Thing, not a note; tear it up$"
    with pytest.raises(ValueError, match=wanted):
        read_state(path, FileKind("Note", "a note", "tear it up"))


@pytest.mark.parametrize("dtype", [object, "U3", "M8[s]", "c16", "i4,i4"])
def test_arrays_of_other_types_are_not_saved(tmp_path, dtype):
    with pytest.raises(TypeError, match=r"^totals is an array of type .* not saved$"):
        write_state(tmp_path / "x", "Thing", {}, {"totals": np.zeros(1, dtype)})
    with pytest.raises(TypeError, match="are not saved"):
        write_state(tmp_path / "x", "Thing", {"x": object()}, {})
    assert list(tmp_path.iterdir()) == []


def test_a_file_of_the_kind_is_small_and_readable(tmp_path):
    path = tmp_path / "x"
    write_state(path, "Thing", {"names": ("a",)}, {"totals": np.arange(3)})
    _, line, rest = path.read_bytes().split(b"\n", 2)
    assert json.loads(line) == {
        "settings": {"names": {"$tuple": ["a"]}},
        "arrays": [["totals", "<i8", [3]]],
    }
    assert rest == np.arange(3).tobytes()
