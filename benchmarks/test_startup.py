"""Time to import, to a first answer, and to compile, each in fresh processes."""

import os
import subprocess
import sys

import pytest


def start(program, cache):
    command = [sys.executable, "-c", program]
    environment = os.environ | {"NUMBA_CACHE_DIR": str(cache), "FASTCMP_COMPILE": "auto"}
    return subprocess.run(command, check=True, env=environment).returncode


@pytest.mark.benchmark(group="import")
class TestImport:
    def test_ours(self, benchmark, tmp_path):
        code = benchmark(start, "import numpy, fastcmp", tmp_path)
        benchmark.extra_info["target_note"] = "at most 0.1 s more than numpy"
        assert code == 0

    def test_numpy(self, benchmark, tmp_path):
        assert benchmark(start, "import numpy", tmp_path) == 0


#: Processor seconds that first calls may take with an empty cache, above the imports.
FIRST = {
    "mcnemar": ("fastcmp.mcnemar(y, a, b)", 0.15),
    "mean_difference": ("fastcmp.mean_difference(*values[:2])", 0.15),
    "signed_rank": ("fastcmp.signed_rank(*values[:2])", 0.15),
    "cost_test": ("fastcmp.cost_test(y, a, b, np.ones((10, 10)) - np.eye(10))", 0.15),
    "compare_all": ("fastcmp.compare_all(y, preds)", 0.3),
    "compare_means": ("fastcmp.compare_means(values)", 0.3),
    "compare_metric": ("fastcmp.compare_metric(y, a, b, metric='f1_macro')", 0.3),
    "classification_report": ("fastcmp.classification_report(y, a)", 0.3),
    "sample_size": ("fastcmp.planning.sample_size(p10=0.15, p01=0.05, power=0.8)", 0.3),
    "compare_datasets": ("fastcmp.compare_datasets(fastcmp.load_demsar()[1])", 0.5),
}
PROGRAM = """import numpy as np, scipy.special, fastcmp
y, preds = fastcmp.load_digits()
a, b = preds["mlp"], preds["knn_3"]
values = np.random.default_rng(0).random((3, 50))
"""


def processor_seconds(program, cache):
    """User and system time of a process: other processes hardly change it."""
    before = os.times()
    start(program, cache)
    after = os.times()
    user = after.children_user - before.children_user
    return user + after.children_system - before.children_system


@pytest.mark.benchmark(group="first answer of a process with an empty cache")
@pytest.mark.parametrize("name", FIRST)
def test_first_answer(benchmark, tmp_path, name):
    call, target = FIRST[name]
    base = min(processor_seconds(PROGRAM, tmp_path) for _ in range(3))
    used = []
    benchmark.pedantic(lambda: used.append(processor_seconds(PROGRAM + call, tmp_path)), rounds=3)
    benchmark.extra_info["target_note"] = f"{min(used) - base:.2f} s, at most {target} s"
    assert list(tmp_path.rglob("*.nbi")) == []
