"""Counts by true and predicted classes of all pairs, beside a kernel call a pair."""

import numpy as np
import pytest

from fastcmp import kernels
from fastcmp.core.threads import ThreadPool, parts
from fastcmp.counts.pair_tables import PairTables
from fastcmp.counts.pairs import all_pairs

TARGETS = {2: 50, 3: 30, 5: 12, 10: 4}


@pytest.fixture(scope="module", params=TARGETS)
def classified(request, size, rng):
    """True codes and models that are right on 80 % of the samples."""
    k = request.param
    n_models, n = size((100, 100_000), (6, 20_000))
    y_true = rng.integers(0, k, n).astype(np.uint8)
    other = rng.integers(0, k, (n_models, n)).astype(np.uint8)
    wrong = rng.random((n_models, n), dtype=np.float32) < 0.2
    return k, y_true, tuple(np.where(wrong, other, y_true))


def group(k, what, threads):
    words = "one thread" if threads == 1 else "two threads"
    return f"{what} of 4,950 pairs, n = 100,000, K = {k}, {words}"


def fold(y_true, preds, k, truth, threads):
    """Count all pairs by tiles, and keep the first and the last of each."""
    n_pairs = len(preds) * (len(preds) - 1) // 2
    tables = PairTables(preds, k, n_pairs, y_true=y_true if truth else None)
    seen = {}

    def keep(block, counts):
        for p in (0, -1) if len(counts) else ():
            seen[tuple(block.pairs[p].tolist())] = counts[p].copy()

    with ThreadPool(threads) as pool:
        tables.fold(None, pool, keep)
    return seen


def scatter(y_true, preds, k, truth, threads):
    """Count pair by pair, each into the same table of its thread's task."""
    pairs = all_pairs(len(preds)).tolist()

    def count(part):
        for i, j in pairs[part]:
            table = np.zeros((k, k, k) if truth else (k, k), np.int64)
            if truth:
                kernels.count_labels(y_true, preds[i], preds[j], table)
            else:
                kernels.count_agreement(preds[i], preds[j], table)

    with ThreadPool(threads) as pool:
        pool.run(count, parts(len(pairs), 50))


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.benchmark(min_rounds=5)
class TestTensors:
    def test_slices(self, benchmark, classified, threads):
        k, y_true, preds = classified
        benchmark.group = group(k, "tri-label counts", threads)
        benchmark.extra_info["target"] = TARGETS[k]
        seen = benchmark(fold, y_true, preds, k, truth=True, threads=threads)
        assert seen
        for (i, j), counts in seen.items():
            table = np.zeros((k, k, k), np.int64)
            kernels.count_labels(y_true, preds[i], preds[j], table)
            np.testing.assert_array_equal(counts, table)

    def test_one_call_a_pair(self, benchmark, classified, threads):
        k, y_true, preds = classified
        benchmark.group = group(k, "tri-label counts", threads)
        benchmark(scatter, y_true, preds, k, truth=True, threads=threads)


@pytest.mark.parametrize("threads", [2])
@pytest.mark.benchmark(min_rounds=5)
class TestAgreement:
    def test_slices(self, benchmark, classified, threads):
        k, y_true, preds = classified
        benchmark.group = group(k, "agreement tables", threads)
        seen = benchmark(fold, y_true, preds, k, truth=False, threads=threads)
        assert seen
        for (i, j), counts in seen.items():
            table = np.zeros((k, k), np.int64)
            kernels.count_agreement(preds[i], preds[j], table)
            np.testing.assert_array_equal(counts, table)

    def test_one_call_a_pair(self, benchmark, classified, threads):
        k, y_true, preds = classified
        benchmark.group = group(k, "agreement tables", threads)
        benchmark(scatter, y_true, preds, k, truth=False, threads=threads)
