"""A user's own simulation, run in all the ways that its page shows."""

import re
import runpy
from pathlib import Path

import numpy as np
import pytest
from children import finished
from libraries import stats

from fastcmp.kernels import random_below

PAGE = Path(__file__).parents[2] / "docs" / "howto" / "simulations.md"
N = 3000


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """Save the page's program, as its reader would."""
    blocks = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    (text,) = [block for block in blocks if "__main__" in block]
    path = tmp_path_factory.mktemp("simulation") / "type_one.py"
    path.write_text(text)
    return path


@pytest.fixture(scope="module")
def study(program):
    return runpy.run_path(str(program), run_name="type_one")


def test_a_few_replicates_by_hand(study):
    rejected = []
    for n in study["SIZES"]:
        found = 0
        for replicate in range(40):
            draws = [random_below(study["SEED"], replicate, i, 20) for i in range(n)]
            a, b = sum(x < 3 for x in draws), sum(x >= 17 for x in draws)
            tail = stats.binom.cdf(min(a, b), a + b, 0.5)
            point = stats.binom.pmf(min(a, b), a + b, 0.5)
            found += a != b and 2 * tail - point <= 0.05
        rejected.append(found)
    assert sum(rejected) > 0
    assert study["count"](study["SEED"], 0, 40).tolist() == rejected


def test_parts_add_up(study):
    count, seed = study["count"], study["SEED"]
    whole = count(seed, 0, N)
    for cut in (0, 1, 997, N):
        assert np.array_equal(count(seed, 0, cut) + count(seed, cut, N), whole)
    assert not np.array_equal(count(seed + 1, 0, N), whole)


def test_the_table_of_the_page(study):
    (told,) = re.findall(r"^1 thread +\[(.*)\]$", PAGE.read_text(), re.MULTILINE)
    table = study["with_threads"](100_000, 2)
    assert table.tolist() == list(map(int, told.split()))


@pytest.mark.full
def test_six_ways_give_one_table(program, study):
    done = finished(program, N)
    assert done.returncode == 0, done.stderr
    lines = dict(re.findall(r"^(.*?) +\[(.*)\]$", done.stdout, re.MULTILINE))
    ways = ["1 thread", "2 threads", "prange, 1", "prange, 2", "processes", "Dask"]
    assert list(lines) == ways
    expected = study["count"](study["SEED"], 0, N).tolist()
    for table in lines.values():
        assert list(map(int, table.split())) == expected
