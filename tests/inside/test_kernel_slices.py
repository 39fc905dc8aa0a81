"""Bit slices of predicted classes, and the tables of pairs made of them."""

import numpy as np
import pytest
from both_tiers import both_tiers  # noqa: F401
from hypothesis import given
from hypothesis import strategies as st

from fastcmp.kernels import count_labels, slices
from fastcmp.kernels.bits import LINE_WORDS, TILE_ROWS, allocate_words

DTYPES = [np.uint8, np.int64]
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
        slices.order_by_class(y_true, 64 * self.segments[:-1], order)
        n_models, rows = len(preds), k - 1
        self.words = allocate_words(n_models * rows + TILE_ROWS, n_places)
        self.margins = np.zeros((n_models, n_truths, k), np.int64)
        for m, pred in enumerate(preds):
            codes = np.empty(n_places, np.uint8)
            slices.gather_codes(np.append(pred, np.uint8(k - 1)), order, codes)
            own = self.words[m * rows : (m + 1) * rows]
            slices.pack_slices(codes, (0, 8), own)
            slices.count_slices(own, self.segments, self.sizes, self.margins[m])

    def count(self, tile, pairs):
        _, n_truths, k = self.margins.shape
        counts = np.full((len(pairs), n_truths, k, k), -7)
        pairs = np.array(pairs, np.int64).reshape(-1, 2)
        slices.slice_tile(self.words, self.segments, self.margins, tile, pairs, counts)
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
    slices.order_by_class(y_true, ends, order)
    np.testing.assert_array_equal(order, np.argsort(y_true, kind="stable"))
    np.testing.assert_array_equal(ends, places[1:])


# Packing.


@pytest.mark.parametrize(("k", "field"), [(2, (0, 1)), (3, (4, 2)), (7, (0, 8)), (256, (0, 8))])
def test_slices_equal_numpy(k, field):
    shift, n_bits = field
    for n in (0, 1, 63, 64, 65, 512, 32_768, 32_769, 40_000):
        rng = np.random.default_rng(n)
        codes = rng.integers(0, k, n).astype(np.uint8)
        above = shift + n_bits
        others = rng.integers(0, 256, n) & ~((1 << above) - (1 << shift))
        shared = (codes << shift | others).astype(np.uint8)
        words = np.full((k - 1, -(-n // 64) + 2), 77, np.uint64)
        slices.pack_slices(shared, field, words)
        bits = np.unpackbits(words[:, :-2].view(np.uint8), axis=1, bitorder="little")
        np.testing.assert_array_equal(bits[:, :n], codes == np.arange(k - 1)[:, None])
        assert not bits[:, n:].any()
        assert (words[:, -2:] == 77).all()  # what lies beyond is left alone


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


@pytest.mark.full
def test_segments_of_several_panels():
    # One panel is 2048 words, 131072 samples.
    y_true, preds = drawn(2, 300_001, 2)
    y_true[:] = y_true > 1
    found = Packed(y_true, preds, 2, 2).count((0, 2, 0, 2), [(0, 1)])
    np.testing.assert_array_equal(found, brute_force(y_true, preds, 2, [(0, 1)]))


@pytest.mark.full
def test_as_many_classes_as_a_byte_holds():
    rng = np.random.default_rng(5)
    k = 256
    y_true, a, b = rng.integers(0, k, (3, 900)).astype(np.uint8)
    found = Packed(y_true, [a, b], k, k).count((0, 2, 0, 2), [(0, 1)])
    np.testing.assert_array_equal(found, brute_force(y_true, [a, b], k, [(0, 1)]))
