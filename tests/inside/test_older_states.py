"""States that versions before have saved are read."""

import pytest

from fastcmp import stream
from fastcmp.core.saved_states import write_state
from fastcmp.stream import ValueMoments


@pytest.mark.parametrize("kind", [None, "whole", "ids"])
def test_files_of_moments_without_models_have_no_arrays(kind, tmp_path):
    settings = {"names": None, "groups": kind, "ids": ()}
    write_state(tmp_path / "file", "ValueMoments", settings, {})
    assert stream.load(tmp_path / "file") == ValueMoments(groups=kind)
