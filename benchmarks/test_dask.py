"""Two worker processes beside one, on the same blocks."""

import os
import sys
from pathlib import Path

import numpy as np
import pytest

import fastcmp
from fastcmp.stream import PairCounts, gather

# Worker processes look where this one does.
sys.path.append(str(Path(__file__).parent))
from cluster_work import M, make_labels, make_scores

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")

ROWS = int(os.environ.get("FASTCMP_DASK_ROWS", "1000000"))  # of a block
BLOCKS = 16
TIMES = 4  # that labels are counted, as if there were more blocks than memory holds


def measure(benchmark, n_workers, n, work, make):
    """Time work on blocks that lie in the memory of some workers."""
    with (
        distributed.LocalCluster(
            n_workers=n_workers,
            threads_per_worker=1,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        blocks = client.compute([dask.delayed(make)(seed, n) for seed in range(BLOCKS)])
        distributed.wait(blocks)
        return benchmark.pedantic(work, (blocks,), rounds=5, warmup_rounds=1)


@pytest.mark.benchmark(group=f"compare_all of Dask's blocks, {M} models, 64 blocks")
class TestCompareAll:
    def measured(self, benchmark, size, n_workers):
        n = size(ROWS, 2000)

        def count(blocks):
            return fastcmp.compare_all(counts=gather(PairCounts(), list(blocks) * TIMES))

        result = measure(benchmark, n_workers, n, count, make_labels)
        counts = PairCounts()
        for seed in range(BLOCKS):
            counts.update(*make_labels(seed, n))
        expected = fastcmp.compare_all(counts=sum([counts] * TIMES))
        assert np.array_equal(result.pvalue_adjusted, expected.pvalue_adjusted)
        benchmark.extra_info["predictions"] = M * BLOCKS * TIMES * n

    def test_two_workers(self, benchmark, size):
        self.measured(benchmark, size, 2)
        benchmark.extra_info["target"] = 1.6

    def test_one_worker(self, benchmark, size):
        self.measured(benchmark, size, 1)


@pytest.mark.benchmark(group="auc of Dask's arrays, one model, 16 blocks of float32")
class TestAuc:
    def measured(self, benchmark, size, n_workers):
        n = size(ROWS, 2000)

        def work(blocks):
            from dask import array

            columns = [
                array.concatenate(
                    [array.from_delayed(dask.delayed(block)[i], (n,), dtype) for block in blocks]
                )
                for i, dtype in enumerate((np.uint8, np.float32))
            ]
            return fastcmp.auc(*columns)

        area = measure(benchmark, n_workers, n, work, make_scores)
        made = [make_scores(seed, n) for seed in range(BLOCKS)]
        truth = np.concatenate([block[0] for block in made])
        scores = np.concatenate([block[1] for block in made])
        assert area == fastcmp.auc(truth, scores)
        benchmark.extra_info["predictions"] = BLOCKS * n

    def test_two_workers(self, benchmark, size):
        self.measured(benchmark, size, 2)

    def test_one_worker(self, benchmark, size):
        self.measured(benchmark, size, 1)
