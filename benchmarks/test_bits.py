"""Tables of all pairs from packed bits, beside a float32 matrix product."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from fastcmp import kernels
from fastcmp.kernels.bits import allocate_words, common_tile

TILE = 128


@pytest.fixture(scope="module")
def packed(many):
    y_true, preds = many
    words = allocate_words(len(preds), y_true.size)
    for row, codes in zip(words, preds, strict=False):
        kernels.pack_equal(y_true, codes, row)
    right = np.array([kernels.count_bits(row) for row in words[: len(preds)]])
    return words, right


def count(words, right, threads):
    m = right.size
    joint = np.zeros((m, m), np.int64)
    starts = range(0, m, TILE)
    tiles = [(i, min(i + TILE, m), j, min(j + TILE, m)) for i in starts for j in starts if j >= i]

    def add(tile):
        i0, i1, j0, j1 = tile
        common_tile(words, tile, joint[i0:i1, j0:j1])

    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(add, tiles))
    return joint


@pytest.mark.benchmark(group="all pairs from packed bits, two threads")
class TestAllPairs:
    def test_ours(self, benchmark, packed, many):
        words, right = packed
        joint = benchmark(count, words, right, 2)
        benchmark.extra_info["target"] = 20
        n_pairs = right.size * (right.size - 1) // 2
        benchmark.extra_info["words"] = n_pairs * words.shape[1]
        y_true, preds = many
        a, b = preds[0] == y_true, preds[1] == y_true
        assert joint[0, 1] == np.count_nonzero(a & b)

    def test_float32_product(self, benchmark, packed, many):
        y_true, preds = many
        correct = (preds == y_true).astype(np.float32)
        both = benchmark(lambda: correct @ correct.T)
        assert np.array_equal(np.triu(count(*packed, 2)), np.triu(both))


@pytest.mark.benchmark(group="all pairs from packed bits, one thread")
class TestAllPairsOneThread:
    def test_ours(self, benchmark, packed):
        words, right = packed
        joint = benchmark(count, words, right, 1)
        n_pairs = right.size * (right.size - 1) // 2
        benchmark.extra_info["words"] = n_pairs * words.shape[1]
        assert np.array_equal(np.diagonal(joint), right)


@pytest.mark.benchmark(group="packing right or wrong, one model")
class TestPacking:
    def test_ours(self, benchmark, many):
        y_true, preds = many
        words = allocate_words(1, y_true.size)[0]
        benchmark(kernels.pack_equal, y_true, preds[0], words)
        expected = np.packbits(preds[0] == y_true, bitorder="little")
        assert np.array_equal(words.view(np.uint8)[: expected.size], expected)

    def test_numpy(self, benchmark, many):
        y_true, preds = many
        packed = benchmark(lambda: np.packbits(np.equal(preds[0], y_true), bitorder="little"))
        assert packed.size == -(-y_true.size // 8)
