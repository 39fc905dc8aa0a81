"""Two answers of any kind held against each other, bit for bit."""

from dataclasses import fields, is_dataclass

import numpy as np

from fastcmp import Estimates


def assert_same(ours, theirs, where="result"):
    """Hold two answers of any kind against each other, bit for bit."""
    assert type(ours) is type(theirs), where
    if isinstance(theirs, np.ndarray):
        assert (ours.dtype, ours.shape) == (theirs.dtype, theirs.shape), where
        if theirs.dtype.kind == "O":  # its bytes are addresses
            assert_same(ours.tolist(), theirs.tolist(), where)
            return
        assert ours.tobytes() == theirs.tobytes(), where
    elif is_dataclass(theirs):
        for field in fields(theirs):
            if field.name == "n_outside":  # blocks of a stream do not count it
                continue
            values = (getattr(answer, field.name) for answer in (ours, theirs))
            assert_same(*values, f"{where}.{field.name}")
    elif isinstance(theirs, dict):
        assert ours.keys() == theirs.keys(), where
        for key, value in theirs.items():
            assert_same(ours[key], value, f"{where}[{key!r}]")
    elif isinstance(theirs, (list, tuple)):
        assert len(ours) == len(theirs), where
        for i, value in enumerate(theirs):
            assert_same(ours[i], value, f"{where}[{i}]")
    elif isinstance(theirs, Estimates):
        assert_same(vars(ours), vars(theirs), where)
    elif isinstance(theirs, float):
        assert ours.hex() == theirs.hex(), where
    else:
        assert ours == theirs, where
