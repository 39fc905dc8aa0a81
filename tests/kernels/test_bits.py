"""Packing, counting bits, and the tiles of pairs."""

import numpy as np
import pytest
from hypothesis import given
from strategies import codes, right_matrices

from fastcmp.kernels import count_bits, count_common_bits, pack_equal, row_square_sum

DTYPES = [np.uint8, np.uint16, np.int32, np.int64]
LENGTHS = [0, 1, 7, 63, 64, 65, 127, 128, 129, 511, 512, 513, 1000]


def packed(right):
    """Pack a 0/1 matrix with NumPy."""
    words = np.zeros((right.shape[0], max(-(-right.shape[1] // 64), 1)), np.uint64)
    packed_bytes = np.packbits(right, axis=1, bitorder="little")
    words.view(np.uint8)[:, : packed_bytes.shape[1]] = packed_bytes
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
    words = np.zeros((2, y_true.size // 64 + 1), np.uint64)
    pack_equal(y_true, pred_a, words[0])
    pack_equal(y_true, pred_b, words[1])
    right_a, right_b = pred_a == y_true, pred_b == y_true
    assert count_bits(words[0]) == right_a.sum()
    assert count_bits(words[1]) == right_b.sum()
    assert count_common_bits(words[0], words[1]) == (right_a & right_b).sum()


# The sum for Cochran's Q.


@given(right_matrices(20))
def test_row_square_sum_equals_numpy(right):
    expected = (right.sum(axis=0, dtype=np.int64) ** 2).sum()
    assert row_square_sum(packed(right)) == expected


def test_row_square_sum_over_blocks():
    # A block is 64 words; as many as 256 models may be right.
    ones = [np.ones((m, 70), np.uint8) for m in (1, 2, 3, 4, 7, 8, 15, 16, 17, 255, 256)]
    for right in [*ones, *(random_right(5, 64 * 64 + i) for i in (-1, 0, 1, 2 * 64 * 64 + 5))]:
        expected = (right.sum(axis=0, dtype=np.int64) ** 2).sum()
        assert row_square_sum(packed(right)) == expected, right.shape
