"""Packing, counting bits, and the tiles of pairs."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from strategies import codes, right_matrices

from fastcmp.kernels import count_bits, count_common_bits, pack_equal, row_square_sum
from fastcmp.kernels.bits import (
    LINE_WORDS,
    TILE_ROWS,
    allocate_words,
    common_tile,
    discordant_pairs,
)

DTYPES = [np.uint8, np.uint16, np.int32, np.int64]
LENGTHS = [0, 1, 7, 63, 64, 65, 127, 128, 129, 511, 512, 513, 1000]


def packed(right):
    """Pack a 0/1 matrix with NumPy, in the layout of allocate_words."""
    words = allocate_words(*right.shape)
    packed_bytes = np.packbits(right, axis=1, bitorder="little")
    words.view(np.uint8)[: right.shape[0], : packed_bytes.shape[1]] = packed_bytes
    return words


def random_right(n_models, n, seed=0):
    return np.random.default_rng(seed).integers(0, 2, (n_models, n), np.uint8)


@pytest.fixture
def rng():
    return np.random.default_rng(20)


# Packing.


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", LENGTHS)
def test_pack_equals_numpy(n, dtype, rng):
    y_true, pred = rng.integers(0, 3, (2, n)).astype(dtype)
    words = np.zeros(-(-n // 64) + 2, np.uint64)
    words[-(-n // 64) :] = 77
    assert pack_equal(y_true, pred, words) == np.count_nonzero(y_true == pred)
    unpacked = np.unpackbits(words[:-2].view(np.uint8), bitorder="little")
    np.testing.assert_array_equal(unpacked[:n], y_true == pred)
    assert not unpacked[n:].any()
    assert words[-2:].tolist() == [77, 77]  # what lies beyond is left alone


def test_pack_replaces_what_was_there(rng):
    y_true = rng.integers(0, 2, 100).astype(np.uint8)
    words = np.full(2, 2**64 - 1, np.uint64)
    pack_equal(y_true, 1 - y_true, words)
    assert words.tolist() == [0, 0]


@pytest.mark.parametrize("dtype", DTYPES)
def test_pack_compares_the_whole_code(dtype):
    largest = np.iinfo(dtype).max
    y_true = np.array([0, largest, largest, largest - 1], dtype)
    pred = np.array([largest, largest, 0, largest], dtype)
    words = np.zeros(1, np.uint64)
    pack_equal(y_true, pred, words)
    assert words[0] == 0b0010


@given(codes())
def test_bits_count_samples(drawn):
    y_true, pred_a, pred_b = drawn
    words = allocate_words(2, y_true.size)
    pack_equal(y_true, pred_a, words[0])
    pack_equal(y_true, pred_b, words[1])
    right_a, right_b = pred_a == y_true, pred_b == y_true
    assert count_bits(words[0]) == right_a.sum()
    assert count_bits(words[1]) == right_b.sum()
    assert count_common_bits(words[0], words[1]) == (right_a & right_b).sum()


@pytest.mark.parametrize("value", [0, 1, 2**63, 2**64 - 1, 0x5555555555555555])
def test_every_bit_of_a_word_counts(value):
    assert count_bits(np.array([value], np.uint64)) == value.bit_count()
    assert count_bits(np.array([value] * 9, np.uint64)) == 9 * value.bit_count()


# Allocation.


@pytest.mark.parametrize("n_models", [0, 1, 3, 4, 5, 13])
@pytest.mark.parametrize("n", [0, 1, 511, 512, 513, 10_000])
def test_allocated_rows_are_zero_padded_and_aligned(n_models, n):
    words = allocate_words(n_models, n)
    rows, columns = words.shape
    assert rows % TILE_ROWS == 0
    assert n_models <= rows < n_models + TILE_ROWS
    assert columns % LINE_WORDS == 0
    assert n <= 64 * columns < n + 64 * LINE_WORDS
    assert words.dtype == np.uint64
    assert words.flags.c_contiguous
    assert words.flags.writeable
    if words.size > 0:
        assert words.ctypes.data % (8 * LINE_WORDS) == 0
    assert not words.any()


# Pairs.


def brute_force(right):
    pairs = list(combinations(right.astype(bool), 2))
    only_a = [int((a & ~b).sum()) for a, b in pairs]
    return only_a, [int((b & ~a).sum()) for a, b in pairs]


def by_tiles(right, height, width):
    """Count all pairs by tiles of height x width models."""
    n_models = right.shape[0]
    words, sums = packed(right), right.sum(axis=1, dtype=np.int64)
    joint = np.zeros((n_models, n_models), np.int64)
    for i in range(0, n_models, height):
        i_end = min(i + height, n_models)
        for j in range(0, n_models, width):
            j_end = min(j + width, n_models)
            if j_end > i:
                common_tile(words, (i, i_end, j, j_end), joint[i:i_end, j:j_end])
    i, j = np.triu_indices(n_models, 1)
    return (sums[i] - joint[i, j]).tolist(), (sums[j] - joint[i, j]).tolist()


@pytest.mark.parametrize("tiling", [(4, 4), (4, 8), (8, 4), (8, 8), (16, 16)])
@pytest.mark.parametrize("n_models", range(2, 14))
def test_any_tiling_equals_brute_force(n_models, tiling):
    right = random_right(n_models, 1000, seed=n_models)
    assert by_tiles(right, *tiling) == brute_force(right)


@given(right_matrices())
def test_one_tile_equals_brute_force(right):
    assert by_tiles(right, 16, 16) == brute_force(right)


@pytest.mark.parametrize("n", [131_072, 131_073, 270_000])
def test_panels_of_long_rows(n):
    # One panel is 2048 words, 131072 samples.
    right = random_right(6, n)
    assert by_tiles(right, 8, 8) == brute_force(right)


@given(right_matrices())
def test_common_bits_add_up(right):
    n_models = right.shape[0]
    joint = np.ones((n_models, n_models), np.int64)
    common_tile(packed(right), (0, n_models, 0, n_models), joint)
    wide = right.astype(np.int64)
    expected = np.triu(wide @ wide.T) + 1
    np.testing.assert_array_equal(joint, expected)


def test_common_bits_of_one_tile_in_a_larger_matrix():
    right = random_right(12, 100)
    joint = np.zeros((12, 12), np.int64)
    common_tile(packed(right), (4, 8, 8, 12), joint[4:8, 8:12])
    wide = right.astype(np.int64)
    expected = np.zeros_like(joint)
    expected[4:8, 8:12] = wide[4:8] @ wide[8:].T
    np.testing.assert_array_equal(joint, expected)


def test_chosen_pairs_equal_brute_force():
    right = random_right(7, 333)
    pairs = np.array([[0, 1], [6, 2], [3, 3], [1, 0]])
    only_a, only_b = np.empty((2, len(pairs)), np.int64)
    sums = right.sum(axis=1, dtype=np.int64)
    discordant_pairs(packed(right), sums, pairs, only_a, only_b)
    is_right = right.astype(bool)
    for p, (i, j) in enumerate(pairs):
        assert only_a[p] == (is_right[i] & ~is_right[j]).sum()
        assert only_b[p] == (is_right[j] & ~is_right[i]).sum()


# The sum for Cochran's Q.


@given(right_matrices(20))
def test_row_square_sum_equals_numpy(right):
    expected = (right.sum(axis=0, dtype=np.int64) ** 2).sum()
    assert row_square_sum(packed(right)) == expected


@pytest.mark.parametrize("n", [64 * 64 - 1, 64 * 64, 64 * 64 + 1, 3 * 64 * 64 + 5])
def test_row_square_sum_over_blocks(n):
    # A block is 64 words.
    right = random_right(5, n)
    expected = (right.sum(axis=0, dtype=np.int64) ** 2).sum()
    assert row_square_sum(packed(right)) == expected


@pytest.mark.parametrize("n_models", [1, 2, 3, 4, 7, 8, 15, 16, 17, 255, 256])
def test_row_square_sum_when_all_are_right(n_models):
    right = np.ones((n_models, 70), np.uint8)
    assert row_square_sum(packed(right)) == 70 * n_models**2
