"""Tables of all pairs from packed bits, beside a float32 matrix product."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from fastcmp import kernels

TILE = 128


@pytest.fixture(scope="module")
def packed(many):
    y_true, preds = many
    words = kernels.allocate_words(len(preds), y_true.size)
    for row, codes in zip(words, preds, strict=False):
        kernels.pack_equal(y_true, codes, row)
    right = np.array([kernels.count_bits(row) for row in words[: len(preds)]])
    return words, right


def count(words, right, threads):
    m = right.size
    only_a, only_b = np.empty((2, m * (m - 1) // 2), np.int64)
    starts = range(0, m, TILE)
    tiles = [
        (i, min(i + TILE, m), j, min(j + TILE, m))
        for i in starts
        for j in starts
        if j >= i
    ]
    with ThreadPoolExecutor(threads) as pool:
        list(
            pool.map(
                lambda tile: kernels.discordant_tile(
                    words, right, tile, only_a, only_b
                ),
                tiles,
            )
        )
    return only_a, only_b


@pytest.mark.benchmark(group="all pairs from packed bits, two threads")
class TestAllPairs:
    def test_ours(self, benchmark, packed, many):
        words, right = packed
        only_a, only_b = benchmark(count, words, right, 2)
        benchmark.extra_info["target"] = 20
        benchmark.extra_info["words"] = only_a.size * words.shape[1]
        y_true, preds = many
        a, b = preds[0] == y_true, preds[1] == y_true
        assert only_a[0] == np.count_nonzero(a & ~b)
        assert only_b[0] == np.count_nonzero(b & ~a)

    def test_float32_product(self, benchmark, packed, many):
        y_true, preds = many
        correct = (preds == y_true).astype(np.float32)
        both = benchmark(lambda: correct @ correct.T)
        only_a, _ = count(*packed, 2)
        i, j = np.triu_indices(len(preds), 1)
        assert np.array_equal(only_a, packed[1][i] - both[i, j])


@pytest.mark.benchmark(group="all pairs from packed bits, one thread")
class TestAllPairsOneThread:
    def test_ours(self, benchmark, packed):
        words, right = packed
        only_a, _ = benchmark(count, words, right, 1)
        benchmark.extra_info["words"] = only_a.size * words.shape[1]
        assert only_a.max() <= right.max()


@pytest.mark.benchmark(group="packing right or wrong, one model")
class TestPacking:
    def test_ours(self, benchmark, many):
        y_true, preds = many
        words = kernels.allocate_words(1, y_true.size)[0]
        benchmark(kernels.pack_equal, y_true, preds[0], words)
        expected = np.packbits(preds[0] == y_true, bitorder="little")
        assert np.array_equal(words.view(np.uint8)[: expected.size], expected)

    def test_numpy(self, benchmark, many):
        y_true, preds = many
        packed = benchmark(
            lambda: np.packbits(np.equal(preds[0], y_true), bitorder="little")
        )
        assert packed.size == -(-y_true.size // 8)
