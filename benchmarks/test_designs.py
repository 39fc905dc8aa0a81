"""Resampling designs: ten thousand in a compiled loop, and one of a million samples."""

import numba
import numpy as np
import pytest
from sklearn.model_selection import RepeatedStratifiedKFold

from fastcmp.designs import repeated_kfold, two_fold
from fastcmp.kernels import deal, shuffle


@numba.njit
def in_compiled_code(seed, pattern, n_designs, out):
    """Build designs, and use each for as little as can be."""
    n = pattern.shape[1]
    order = np.empty(n, np.int32)
    used = 0
    for r in range(n_designs):
        for i in range(n):
            order[i] = i
        shuffle(seed, r, order)
        deal(pattern, order, out)
        used += out[-1, -1]
    return used


def with_numpy(seed, pattern, n_designs):
    rng = np.random.default_rng(seed)
    used = 0
    for _ in range(n_designs):
        out = pattern.take(rng.permutation(pattern.shape[1]), axis=1)
        used += int(out[-1, -1])
    return used


def with_numpy_blocks(seed, n, n_designs):
    """Follow the paper's Table III: eight blocks, joined in five ways."""
    sides = ([4, 5, 6, 7], [1, 3, 5, 7], [2, 3, 6, 7], [1, 2, 5, 6], [1, 3, 4, 6])
    rng = np.random.default_rng(seed)
    used = 0
    for _ in range(n_designs):
        blocks = np.array_split(rng.permutation(n), 8)
        out = np.zeros((5, n), np.int16)
        for row, side in zip(out, sides, strict=True):
            row[np.concatenate([blocks[k] for k in side])] = 1
        used += int(out[-1, -1])
    return used


@pytest.mark.benchmark(group="10,000 blocked 5x2 designs, n = 300, one thread")
class TestBlocked:
    def test_ours(self, benchmark, size):
        design, out = two_fold(5, blocked=True, rng=1), np.empty((5, 300), np.int16)
        pattern, n_designs = design.pattern(300), size(10_000, 100)
        in_compiled_code(design.seed, pattern, 1, out)
        np.testing.assert_array_equal(out, design.folds(300))
        used = benchmark(in_compiled_code, design.seed, pattern, n_designs, out)
        benchmark.extra_info["target"] = 20
        assert abs(used / n_designs - 0.5) < 0.25

    def test_numpy_permutation_and_take(self, benchmark, size):
        pattern, n_designs = two_fold(5, blocked=True).pattern(300), size(10_000, 100)
        used = benchmark(with_numpy, 1, pattern, n_designs)
        assert abs(used / n_designs - 0.5) < 0.25

    def test_numpy_blocks_of_the_paper(self, benchmark, size):
        n_designs = size(10_000, 100)
        used = benchmark(with_numpy_blocks, 1, 300, n_designs)
        assert abs(used / n_designs - 0.5) < 0.25


@pytest.fixture(scope="module")
def y(size, rng):
    return rng.integers(0, 10, size(1_000_000, 1_000)).astype(np.uint8)


@pytest.mark.benchmark(group="5 x 10 stratified folds of 10^6 samples, index sets")
class TestSplit:
    def test_ours(self, benchmark, y):
        design = repeated_kfold(5, 10, stratify=True, rng=1)
        sets = benchmark(lambda: list(design.split(y, y)))
        benchmark.extra_info["target"] = 1
        assert len(sets) == 50
        for train, test in sets[:10]:
            assert train.size + test.size == y.size
            shares = np.bincount(y[test], minlength=10) - np.bincount(y, minlength=10) / 10
            assert np.abs(shares).max() < 1

    def test_scikit_learn(self, benchmark, y):
        splitter = RepeatedStratifiedKFold(n_splits=10, n_repeats=5, random_state=1)
        assert len(benchmark(lambda: list(splitter.split(y, y)))) == 50
