"""Bit slices of predicted classes, and the tables of pairs made of them."""

from __future__ import annotations

import naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastcmp.kernels import count_labels
from fastcmp.kernels.bits import LINE_WORDS, TILE_ROWS, allocate_words
from fastcmp.kernels.slices import (
    count_slices,
    gather_codes,
    order_by_class,
    pack_slices,
    slice_tile,
)

DTYPES = [np.uint8, np.uint16, np.int32, np.int64]
SEGMENT = 64 * LINE_WORDS


def drawn(n_models, n, k, seed=0):
    """Draw true codes and models that are right three times in four."""
    rng = np.random.default_rng(seed)
    y_true = rng.integers(0, k, n).astype(np.uint8)
    other = rng.integers(0, k, (n_models, n))
    preds = np.where(rng.random((n_models, n)) < 0.75, y_true, other)
    return y_true, preds.astype(np.uint8)


class Packed:
    """Slices of some models, sorted by true class."""

    def __init__(self, y_true, preds, k, n_truths):
        self.sizes = np.bincount(y_true, minlength=n_truths)
        lines = -(-self.sizes // SEGMENT) * LINE_WORDS
        self.segments = np.concatenate([[0], np.cumsum(lines)])
        n_places = 64 * self.segments[-1]
        order = np.full(n_places, y_true.size)
        order_by_class(y_true, 64 * self.segments[:-1], order)
        n_models, rows = len(preds), k - 1
        self.words = allocate_words(n_models * rows + TILE_ROWS, n_places)
        self.margins = np.zeros((n_models, n_truths, k), np.int64)
        for m, pred in enumerate(preds):
            codes = np.empty(n_places, np.uint8)
            gather_codes(np.append(pred, np.uint8(k - 1)), order, codes)
            own = self.words[m * rows : (m + 1) * rows]
            pack_slices(codes, (0, 8), own)
            count_slices(own, self.segments, self.sizes, self.margins[m])

    def count(self, tile, pairs):
        _, n_truths, k = self.margins.shape
        counts = np.full((len(pairs), n_truths, k, k), -7)
        pairs = np.array(pairs, np.int64).reshape(-1, 2)
        slice_tile(self.words, self.segments, self.margins, tile, pairs, counts)
        return counts


def brute_force(y_true, preds, k, pairs):
    """Count sample by sample, by another kernel that has its own tests."""
    counts = np.zeros((len(pairs), k, k, k), np.int64)
    for table, (i, j) in zip(counts, pairs, strict=True):
        count_labels(y_true, preds[i], preds[j], table)
    return counts


# Order.


@pytest.mark.parametrize("dtype", DTYPES)
def test_samples_are_sorted_by_class_and_stay_in_order(dtype):
    y_true = np.random.default_rng(1).integers(0, 4, 300).astype(dtype)
    places = np.concatenate([[0], np.cumsum(np.bincount(y_true, minlength=4))])
    order, ends = np.empty(300, np.int32), places[:-1].copy()
    order_by_class(y_true, ends, order)
    np.testing.assert_array_equal(order, np.argsort(y_true, kind="stable"))
    np.testing.assert_array_equal(ends, places[1:])


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_gathered_codes_equal_numpy(dtype):
    rng = np.random.default_rng(2)
    codes, order = rng.integers(0, 256, 90, np.uint8), rng.integers(0, 90, 333)
    out = np.empty(333, np.uint8)
    gather_codes(codes, order.astype(dtype), out)
    np.testing.assert_array_equal(out, codes[order])


# Packing.


@pytest.mark.parametrize("n", [0, 1, 63, 64, 65, 512, 32_768, 32_769, 40_000])
@pytest.mark.parametrize(("k", "field"), [(2, (0, 1)), (3, (4, 2)), (7, (0, 8))])
def test_slices_equal_numpy(n, k, field):
    shift, n_bits = field
    rng = np.random.default_rng(n)
    codes = rng.integers(0, k, n).astype(np.uint8)
    above = shift + n_bits
    others = rng.integers(0, 256, n) & ~((1 << above) - (1 << shift))
    shared = (codes << shift | others).astype(np.uint8)
    words = np.full((k - 1, -(-n // 64) + 2), 77, np.uint64)
    pack_slices(shared, field, words)
    for c, row in enumerate(words):
        bits = np.unpackbits(row[:-2].view(np.uint8), bitorder="little")
        np.testing.assert_array_equal(bits[:n], codes == c)
        assert not bits[n:].any()
        assert row[-2:].tolist() == [77, 77]  # what lies beyond is left alone


def test_all_256_classes_of_a_byte_are_told_apart():
    codes = np.random.default_rng(3).permutation(256).astype(np.uint8)
    words = np.zeros((255, 4), np.uint64)
    pack_slices(codes, (0, 8), words)
    bits = np.unpackbits(words.view(np.uint8), axis=1, bitorder="little")
    np.testing.assert_array_equal(bits, codes == np.arange(255)[:, None])


def test_margins_equal_the_confusion_matrix_and_add_up():
    y_true, preds = drawn(1, 700, 4)
    packed = Packed(y_true, preds, 4, 4)
    confusion = naive.agreement_table(y_true, preds[0], 4)
    np.testing.assert_array_equal(packed.margins[0], confusion)
    count_slices(packed.words[:3], packed.segments, packed.sizes, packed.margins[0])
    np.testing.assert_array_equal(packed.margins[0], 2 * np.array(confusion))


# Tables.


@given(st.data())
def test_one_tile_equals_counting_sample_by_sample(data):
    k = data.draw(st.integers(2, 6))
    n_models = data.draw(st.integers(2, 6))
    n = data.draw(st.sampled_from([0, 1, 2, 63, 64, 65, 200, 600]))
    y_true, preds = drawn(n_models, n, k, data.draw(st.integers(0, 99)))
    if data.draw(st.booleans()):
        y_true[:] = data.draw(st.integers(0, k - 1))  # all other classes are empty
    if data.draw(st.booleans()):
        y_true.sort()
    pairs = [(i, j) for i in range(n_models) for j in range(i + 1, n_models)]
    found = Packed(y_true, preds, k, k).count((0, n_models, 0, n_models), pairs)
    np.testing.assert_array_equal(found, brute_force(y_true, preds, k, pairs))


@pytest.mark.parametrize("k", [2, 3, 5, 10])
@pytest.mark.parametrize(
    ("tile", "pairs"),
    [
        ((3, 4, 1, 2), [(3, 1)]),
        ((0, 3, 3, 7), [(2, 6), (0, 3), (2, 3)]),
        ((5, 7, 0, 4), [(6, 0), (5, 3)]),
        ((6, 7, 6, 7), []),
    ],
)
def test_any_tile_and_any_pairs_in_it(k, tile, pairs):
    y_true, preds = drawn(7, 3000, k)
    found = Packed(y_true, preds, k, k).count(tile, pairs)
    np.testing.assert_array_equal(found, brute_force(y_true, preds, k, pairs))


def test_without_true_classes():
    _, preds = drawn(3, 777, 4)
    packed = Packed(np.zeros(777, np.uint8), preds, 4, 1)
    found = packed.count((0, 3, 0, 3), [(0, 2), (1, 2)])
    for table, (i, j) in zip(found, [(0, 2), (1, 2)], strict=True):
        np.testing.assert_array_equal(table[0], naive.agreement_table(preds[i], preds[j], 4))


def test_segments_of_several_panels():
    # One panel is 2048 words, 131072 samples.
    y_true, preds = drawn(2, 300_001, 2)
    y_true[:] = y_true > 1
    found = Packed(y_true, preds, 2, 2).count((0, 2, 0, 2), [(0, 1)])
    np.testing.assert_array_equal(found, brute_force(y_true, preds, 2, [(0, 1)]))


def test_as_many_classes_as_a_byte_holds():
    rng = np.random.default_rng(5)
    k = 256
    y_true, a, b = rng.integers(0, k, (3, 900)).astype(np.uint8)
    found = Packed(y_true, [a, b], k, k).count((0, 2, 0, 2), [(0, 1)])
    np.testing.assert_array_equal(found, brute_force(y_true, [a, b], k, [(0, 1)]))


def test_corner_of_a_class_that_nobody_predicts():
    y_true = np.array([2, 2, 1, 0], np.uint8)
    a, b = np.array([[0, 1, 1, 0], [1, 1, 0, 0]], np.uint8)
    table = Packed(y_true, [a, b], 3, 3).count((0, 2, 0, 2), [(0, 1)])[0]
    assert table[2].tolist() == [[0, 1, 0], [0, 1, 0], [0, 0, 0]]
    assert table.sum() == 4
