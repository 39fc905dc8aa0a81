"""Time to import, to a first answer, and to compile, each in fresh processes."""

import os
import subprocess
import sys

import pytest

FIRST = (
    "import numpy as np, fastcmp; y = np.arange(1000) % 3; "
    "assert fastcmp.mcnemar(y, y, y[::-1].copy()).pvalue < 1"
)


def start(program, cache):
    command = [sys.executable, "-c", program]
    environment = os.environ | {"NUMBA_CACHE_DIR": str(cache)}
    return subprocess.run(command, check=True, env=environment).returncode


@pytest.mark.benchmark(group="import")
class TestImport:
    def test_ours(self, benchmark, tmp_path):
        code = benchmark(start, "import numpy, fastcmp", tmp_path)
        benchmark.extra_info["target_note"] = "at most 0.1 s more than numpy"
        assert code == 0

    def test_numpy(self, benchmark, tmp_path):
        assert benchmark(start, "import numpy", tmp_path) == 0


@pytest.mark.benchmark(group="first answer of a process, kernels cached")
def test_first_answer(benchmark, tmp_path):
    start(FIRST, tmp_path)
    assert benchmark(start, FIRST, tmp_path) == 0
    benchmark.extra_info["target_note"] = "at most 0.7 s"


@pytest.mark.benchmark(group="first answer of a process, kernels compiled")
def test_cold_compile(benchmark, tmp_path_factory):
    def fresh():
        return (FIRST, tmp_path_factory.mktemp("cache")), {}

    assert benchmark.pedantic(start, setup=fresh, rounds=3) == 0
    benchmark.extra_info["target_note"] = "at most 5 s"
