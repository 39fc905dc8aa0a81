"""Ctrl-C, at any moment of any long call: KeyboardInterrupt, nothing else."""

import os
import subprocess
import sys

import pytest

pytestmark = [
    pytest.mark.full,
    pytest.mark.skipif(sys.platform == "win32", reason="has no setitimer"),
]

#: What a process of its own does before: arrays of labels, scores and counts, a loop
#: for functions that take no time, and a handler, whatever it was started with.
BEGIN = """
import random, signal, sys, threading, time
import numpy as np
import fastcmp
from fastcmp import kernels, stream
from fastcmp.core.threads import ThreadPool
signal.signal(signal.SIGALRM, signal.default_int_handler)
rng = np.random.default_rng(0)
n = 200_000
y = rng.integers(2, size=n, dtype=np.uint8)
labels = np.where(rng.random((4, n)) < 0.8, y, 1 - y).astype(np.uint8)
classes = rng.integers(4, size=(3, n), dtype=np.uint8)
scores = rng.normal(size=(3, n)) + y
outcomes = rng.normal(0.1, 0.1, (5, 2))
folds = rng.integers(5, 50, (5, 2, 2, 2))
table = rng.integers(1, 9, (4, 4))
right = np.ones(100_000, np.int64) * 9
"""

#: Then each call is interrupted again and again, at random moments.
LOOP = """
def ring(seconds):
    signal.setitimer(signal.ITIMER_REAL, seconds)

def times(n, call):
    for _ in range(n):
        call()

def interrupt(work, seconds):
    work()
    start = time.perf_counter()
    work()
    taken = min(time.perf_counter() - start, 0.5)
    until, caught = time.monotonic() + seconds, 0
    while time.monotonic() < until or caught < 3:
        try:
            ring(random.uniform(1e-5, max(taken, 1e-3)))
            while True:
                work()
        except KeyboardInterrupt:
            caught += 1
        finally:
            ring(0)
    limit = time.monotonic() + 5
    while threading.active_count() > 1:  # threads that just end, or are left behind
        assert time.monotonic() < limit, threading.enumerate()
        time.sleep(0.01)

seconds, seed, *calls = sys.argv[1:]
random.seed(int(seed))
for call in calls:
    print(call, flush=True)
    exec(f"def work():\\n    {call}")
    interrupt(work, float(seconds))
"""

CALLS = {
    "auc": "fastcmp.auc(y, scores[0])",
    "auc_bootstrap": "fastcmp.auc_bootstrap(y[:2000], scores[:, :2000], workers=2)",
    "auc_permutation_test": """fastcmp.auc_permutation_test(
        y[:2000], *scores[:2, :2000], n_resamples=999)""",
    "bcv_mcnemar": "times(99, lambda: fastcmp.bcv_mcnemar(folds))",
    "cochrans_q": "fastcmp.cochrans_q(y, labels)",
    "compare_all": "fastcmp.compare_all(y, labels, workers=2)",
    "compare_all cost": """fastcmp.compare_all(
        classes[0], classes[1:], test="cost", cost=1 - np.eye(4), workers=2)""",
    "cost_test": "fastcmp.cost_test(*classes, cost=1 - np.eye(4))",
    "ThreadPool": """with ThreadPool(2) as pool:
        pool.run(abs, range(1000))""",
    "delong": "fastcmp.delong(y, scores, workers=2)",
    "dietterich_t": "times(99, lambda: fastcmp.fold_test(outcomes, 'dietterich-t'))",
    "from counts": """
    times(99, lambda: fastcmp.symmetry(table=table, method='stuart-maxwell'))
    times(99, lambda: fastcmp.mcnemar(only_a=30, only_b=20))""",
    "kernels": """times(999, lambda: kernels.mcnemar_midp(11, 1, 0))
    times(999, lambda: kernels.stuart_maxwell(table))""",
    "odds_ratio_interval": """
    fastcmp.mcnemar(only_a=right, only_b=right[::-1]).odds_ratio_interval()""",
    "PairCounts": "stream.PairCounts().update(y, labels, workers=2)",
    "ScoreCounts": "stream.ScoreCounts().update(y, scores, workers=2)",
    "threshold_sweep": "fastcmp.threshold_sweep(y, scores[0])",
}


def interrupt(names, seconds, seed, tier="always"):
    """Interrupt calls in one tier; anything but KeyboardInterrupt ends the process."""
    calls = [CALLS[name] for name in names]
    done = subprocess.run(
        [sys.executable, "-c", BEGIN + LOOP, str(seconds), str(seed), *calls],
        env=os.environ | {"FASTCMP_COMPILE": tier},
        capture_output=True,
        text=True,
        check=False,
        timeout=120 + 10 * seconds,
    )
    assert done.returncode == 0, f"{done.stdout[-200:]}{done.stderr[-2000:]}"
    assert done.stdout == "".join(f"{call}\n" for call in calls)


def test_an_interrupt_of_python():
    interrupt(["bcv_mcnemar", "from counts", "kernels"], 2, 5, "never")


@pytest.mark.parametrize("first", range(0, len(CALLS), 9))
def test_an_interrupt_is_an_interrupt(first):
    interrupt(list(CALLS)[first : first + 9], 0.5, 1)


@pytest.mark.parametrize("name", CALLS)
def test_many_interrupts(name):
    interrupt([name], 2, 0)


def test_exact_margins_of_many_samples_answer_soon():
    """Parts of one table's test are interrupted, not only whole tables."""
    work = """fastcmp.margin_tests(
        only_a=300, only_b=280, both_right=2300, both_wrong=370, margin=0.05, method="exact")"""
    program = f"""
import signal, time
import fastcmp
signal.signal(signal.SIGALRM, signal.default_int_handler)
{work}
start = time.perf_counter()
{work}
taken = time.perf_counter() - start
signal.setitimer(signal.ITIMER_REAL, 0.2 * taken)
try:
    {work}
except KeyboardInterrupt:
    print((time.perf_counter() - start - 1.2 * taken) / taken)
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=120
    )
    assert float(done.stdout) < 0.5  # of the whole time; 0.8 where it ends before
