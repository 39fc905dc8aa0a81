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


COMPARE_ALL = (
    "import numpy as np, fastcmp; y = np.arange(1000) % 3; "
    "preds = [(np.arange(1000) // k) % 3 for k in range(2, 12)]; "
    "assert fastcmp.compare_all(y, preds).correct.size == 10"
)
# (program, seconds of processor time above `import numba` on a quiet machine)
COLD = {"mcnemar": (FIRST, 1.5), "compare_all": (COMPARE_ALL, 2.5)}
#: What `import numba` takes there; elsewhere both are longer.
IMPORT_NUMBA = 0.33


def processor_seconds(program, cache):
    """Measure user and system time of a process: other processes hardly change it."""
    before = os.times()
    start(program, cache)
    after = os.times()
    user = after.children_user - before.children_user
    return user + after.children_system - before.children_system


@pytest.mark.benchmark(group="first answer of a process, kernels compiled")
@pytest.mark.parametrize("name", COLD)
def test_cold_compile(benchmark, tmp_path_factory, name):
    program, target = COLD[name]

    def fresh():
        return (program, tmp_path_factory.mktemp("cache")), {}

    used = []

    def measured(program, cache):
        used.append(processor_seconds(program, cache))

    benchmark.pedantic(measured, setup=fresh, rounds=3)
    empty = tmp_path_factory.mktemp("cache")
    numba = min(processor_seconds("import numba", empty) for _ in range(3))
    ratio = (min(used) - numba) / numba
    benchmark.extra_info["target_note"] = (
        f"processor time above `import numba`: {ratio:.1f} times its own, at most "
        f"{target / IMPORT_NUMBA:.1f} ({target} s)"
    )
    assert ratio < 1.3 * target / IMPORT_NUMBA
