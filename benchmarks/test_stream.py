"""Accumulators, beside counting the same samples in memory."""

import numpy as np
import pytest
from sklearn.metrics import confusion_matrix

from fastcmp import kernels, stream
from fastcmp.core.threads import ThreadPool, parts
from fastcmp.counts.pairs import tiles_of
from fastcmp.kernels.bits import allocate_words, common_tile


@pytest.fixture(scope="module")
def block(size, rng):
    """One block of 100 models in single bytes, 75 to 85 % right."""
    n = size(1_000_000, 5_000)
    y_true = rng.integers(0, 10, n).astype(np.uint8)
    preds = np.empty((100, n), np.uint8)
    for row in preds:
        wrong = rng.random(n, dtype=np.float32) < rng.uniform(0.15, 0.25)
        row[:] = np.where(wrong, (y_true + 1) % 10, y_true)
    return y_true, preds


def count_in_memory(y_true, preds, threads):
    """Pack all models and count all tiles, with nothing around it."""
    n_models, n = preds.shape
    words = allocate_words(n_models, n)
    joint = np.zeros((n_models, n_models), np.int64)

    def pack(models):
        for i in range(models.start, models.stop):
            kernels.pack_equal(y_true, preds[i], words[i])

    def count(tile):
        i0, i1, j0, j1 = tile
        common_tile(words, tile, joint[i0:i1, j0:j1])

    with ThreadPool(threads) as pool:
        pool.run(pack, parts(n_models, 4))
        pool.run(count, tiles_of(n_models, n_models if threads == 1 else 16))
    return joint


class Updates:
    threads = 1

    def test_ours(self, benchmark, block):
        counts = stream.PairCounts()
        before = counts.copy().update(*block)
        benchmark(counts.update, *block, workers=self.threads)
        benchmark.extra_info["target"] = 0.6
        n_blocks = counts.n_samples // len(block[0])
        assert (counts.joint == n_blocks * before.joint).all()

    def test_in_memory(self, benchmark, block):
        joint = benchmark(count_in_memory, *block, self.threads)
        counts = stream.PairCounts().update(*block)
        assert (joint == counts.joint_upper).all()


@pytest.mark.benchmark(group="PairCounts.update, 100 models, n = 10^6, one thread")
class TestPairCounts(Updates):
    pass


@pytest.mark.benchmark(group="PairCounts.update, 100 models, n = 10^6, two threads")
class TestPairCountsOnThreads(Updates):
    threads = 2


@pytest.mark.benchmark(group="PairCounts.update, 100 models, blocks of 1,000 samples")
class TestSmallBlocks:
    def test_ours(self, benchmark, block):
        y_true, preds = block[0][:1000], block[1][:, :1000]
        counts = stream.PairCounts()
        benchmark(counts.update, y_true, preds)
        assert counts.n_samples % 1000 == 0

    def test_float32_product(self, benchmark, block):
        y_true, preds = block[0][:1000], block[1][:, :1000]

        def product():
            right = (preds == y_true).astype(np.float32)
            return right @ right.T

        joint = benchmark(product)
        assert (joint == stream.PairCounts().update(y_true, preds).joint).all()


@pytest.mark.benchmark(group="ConfusionCounts.update, 100 models")
class TestConfusionCounts:
    def test_ours(self, benchmark, block):
        counts = stream.ConfusionCounts(classes=range(10))
        benchmark(counts.update, *block)
        assert counts.n_samples % len(block[0]) == 0

    def test_scikit_learn(self, benchmark, block):
        y_true, preds = block
        table = benchmark(confusion_matrix, y_true, preds[0])
        benchmark.extra_info["times"] = len(preds)
        counts = stream.ConfusionCounts().update(*block)
        assert (counts.matrix(0) == table).all()


@pytest.mark.benchmark(group="PairCounts.save, 1,000 models")
class TestSave:
    def test_ours(self, benchmark, tmp_path):
        counts = stream.PairCounts(1000)
        benchmark(counts.save, tmp_path / "counts")
        assert stream.load(tmp_path / "counts") == counts

    def test_numpy_savez(self, benchmark, tmp_path):
        joint = stream.PairCounts(1000).joint
        benchmark(np.savez, tmp_path / "counts.npz", joint=joint)
