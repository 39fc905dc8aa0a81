"""What tests of `read_results` share."""

import pytest
import toy_logs

import fastcmp


@pytest.fixture
def read(tmp_path):
    """Read parts, a file each, by `read_results`."""
    return lambda *files, **options: fastcmp.read_results(
        toy_logs.write(tmp_path, *files), **options
    )


@pytest.fixture
def inspect(tmp_path):
    """Look at parts, a file each, by `inspect_results`."""
    return lambda *files: fastcmp.inspect_results(toy_logs.write(tmp_path, *files))
