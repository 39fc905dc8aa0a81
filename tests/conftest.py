"""Two tiers: `pytest` runs the first, `pytest -m full` the rest.

A test belongs to the first unless it is marked `full`. Tests that draw examples with
Hypothesis are in both: with few examples that are always the same ones, and with
many new ones.
"""

import pytest
from hypothesis import is_hypothesis_test, settings
from naive import small_if_interpreted

# The first example compiles, which breaks any deadline.
settings.register_profile(
    "default",
    max_examples=small_if_interpreted(25, 10),
    deadline=None,
    derandomize=True,
    database=None,
)
settings.register_profile(
    "full", max_examples=small_if_interpreted(150, 25), deadline=None, derandomize=False
)


def is_full(config):
    return config.option.markexpr == "full"


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config):
    # The tests of a file share a process, so that two seldom compile the same kernel.
    # Not for `benchmarks`, which pytest-benchmark does not time where this is set.
    if getattr(config.option, "numprocesses", None) and config.option.dist == "no":
        config.option.dist = "loadfile"


def pytest_configure(config):
    settings.load_profile("full" if is_full(config) else "default")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    for item in items:
        if is_full(config) and is_hypothesis_test(getattr(item, "obj", None)):
            item.add_marker("full")
