"""Two tiers: `pytest` runs the first, `pytest -m full` the rest.

A test belongs to the first unless it is marked `full`. Tests that draw examples with
Hypothesis are in both: with few examples that are always the same ones, and with
many new ones. `--part 2/9` runs the second of nine parts of whatever was selected;
all parts together run each test once.
"""

import filecmp
import gc
import os
import sys
import tempfile
import zlib
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import is_hypothesis_test, settings

os.environ.setdefault("MPLBACKEND", "agg")
# Kernels are kept for all processes also where neither the checkout nor a home can be written.
if not any(os.access(x, os.W_OK) for x in (Path(__file__).parent, Path.home())):
    os.environ.setdefault("NUMBA_CACHE_DIR", tempfile.mkdtemp())

# Collecting makes a million objects that stay, and none to collect.
gc.disable()

# The first example compiles, which breaks any deadline.
settings.register_profile(
    "default", max_examples=25, deadline=None, derandomize=True, database=None
)
settings.register_profile("full", max_examples=150, deadline=None, derandomize=False)


@pytest.hookimpl(wrapper=True)
def pytest_collect_file():
    # No doctests of the tests, whose helpers import large libraries.
    files = yield
    return [file for file in files if type(file) is pytest.Module]


@pytest.fixture(autouse=True)
def figures_closed():
    """Pictures that a test has left open are no test's memory."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


def pytest_collection_finish():
    gc.freeze()
    gc.enable()


def pytest_addoption(parser):
    parser.addoption("--part", metavar="K/N", help="only the K-th of N parts of the tests")


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
    if not hasattr(config, "workerinput"):
        refuse_another_copy(Path(__file__).parents[1] / "fastcmp")


def refuse_another_copy(checkout):
    """Stop if what is imported is not what is edited."""
    imported = Path(find_spec("fastcmp").origin).parent
    if imported == checkout or not checkout.exists():
        return
    for path in checkout.rglob("*.py*"):
        copy = imported / path.relative_to(checkout)
        if path.suffix in (".py", ".pyi") and not (copy.exists() and filecmp.cmp(path, copy)):
            pytest.exit(
                f"the tests would run {copy}, which is not {path}: pip install -e '.[dev]'",
                returncode=4,
            )


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    for item in items:
        if is_full(config) and is_hypothesis_test(getattr(item, "obj", None)):
            item.add_marker("full")

    if part := config.getoption("part"):
        k, n = map(int, part.split("/"))
        kept = [item for item in items if zlib.crc32(item.nodeid.encode()) % n == k % n]
        dropped = [item for item in items if zlib.crc32(item.nodeid.encode()) % n != k % n]
        config.hook.pytest_deselected(items=dropped)
        items[:] = kept
