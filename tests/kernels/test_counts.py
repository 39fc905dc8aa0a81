"""Tables counted from codes."""

from __future__ import annotations

import naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference_cases import parametrize
from strategies import codes

from fastcmp.kernels import count_agreement, count_labels, count_paired

BLOCK = 1 << 15
DTYPES = [np.uint8, np.uint16, np.int32, np.int64]
# About multiples of 4, of 1,024 and of both.
SIZES = [
    0,
    1,
    3,
    4,
    5,
    27,
    28,
    343,
    344,
    1023,
    1024,
    1025,
    1027,
    2048,
    2050,
    4099,
    5000,
]


def paired(y_true, pred_a, pred_b):
    out = np.zeros((2, 2), np.int64)
    count_paired(y_true, pred_a, pred_b, out)
    return out.tolist()


@given(codes())
def test_paired_equals_brute_force(drawn):
    assert paired(*drawn) == naive.paired_table(*drawn)


@given(codes())
def test_agreement_equals_brute_force(drawn):
    _, pred_a, pred_b = drawn
    out = np.zeros((4, 4), np.int64)
    count_agreement(pred_a, pred_b, out)
    assert out.tolist() == naive.agreement_table(pred_a, pred_b, 4)


@pytest.mark.parametrize("n", [BLOCK - 1, BLOCK, BLOCK + 1, BLOCK + 64, 2 * BLOCK + 99])
def test_paired_over_blocks(n):
    y_true, pred_a, pred_b = np.random.default_rng(n).integers(0, 3, (3, n), np.uint8)
    right_a, right_b = pred_a == y_true, pred_b == y_true
    both = int((right_a & right_b).sum())
    only_a, only_b = int(right_a.sum()) - both, int(right_b.sum()) - both
    assert paired(y_true, pred_a, pred_b) == [
        [both, only_a],
        [only_b, n - both - only_a - only_b],
    ]


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.int32, np.int64])
def test_tables_add_to_what_is_there(dtype):
    y_true = np.array([0, 1, 2, 2, 1], dtype)
    pred_a = np.array([0, 1, 0, 2, 0], dtype)
    pred_b = np.array([0, 0, 2, 1, 2], dtype)
    table = np.array([[10, 20], [30, 40]])
    count_paired(y_true, pred_a, pred_b, table)
    assert table.tolist() == [[11, 22], [31, 41]]
    agreement = np.full((3, 3), 7)
    count_agreement(pred_a, pred_b, agreement)
    assert agreement.tolist() == [[8, 7, 9], [8, 7, 7], [7, 8, 7]]


@given(codes())
def test_parts_add_up(drawn):
    out = np.zeros((2, 2), np.int64)
    cut = drawn.shape[1] // 3
    count_paired(*drawn[:, :cut], out)
    count_paired(*drawn[:, cut:], out)
    assert out.tolist() == paired(*drawn)


@given(codes())
def test_swapping_models_transposes(drawn):
    y_true, pred_a, pred_b = drawn
    swapped = np.array(paired(y_true, pred_b, pred_a))
    assert swapped.T.tolist() == paired(y_true, pred_a, pred_b)


@parametrize("contingency_from_labels")
def test_reference(case):
    data = case["input"]
    labels = [np.array(data[name]) for name in ("y", "model1", "model2")]
    assert paired(*labels) == case["expected"]["table"]


# Counts by classes.


def random_codes(n, n_classes, dtypes, seed=0):
    """Draw three columns; the largest code is among them if there is a sample."""
    labels = np.random.default_rng(seed + n).integers(0, n_classes, (3, n))
    labels[:, -1:] = n_classes - 1
    return [column.astype(dtype) for column, dtype in zip(labels, dtypes, strict=True)]


def labels_table(columns, n_classes, start=0):
    out = np.full((n_classes, n_classes, n_classes), start, np.int64)
    count_labels(*columns, out)
    return out


def agreement_table(columns, n_classes, start=0):
    out = np.full((n_classes, n_classes), start, np.int64)
    count_agreement(*columns, out)
    return out


@pytest.mark.parametrize("n_classes", range(1, 8))
@pytest.mark.parametrize("n", SIZES)
def test_labels_equal_brute_force(n, n_classes):
    columns = random_codes(n, n_classes, [np.uint8] * 3)
    oracle = naive.label_table(*columns, n_classes)
    np.testing.assert_array_equal(labels_table(columns, n_classes), oracle)
    # The same columns again, into what is there.
    np.testing.assert_array_equal(labels_table(columns, n_classes, 7), oracle + 7)


@given(codes(2000, 5), st.integers(5, 7))
def test_drawn_labels_equal_brute_force(drawn, n_classes):
    found = labels_table(drawn, n_classes)
    np.testing.assert_array_equal(found, naive.label_table(*drawn, n_classes))


# All alike, and each beside others; every combination is compiled anew.
@pytest.mark.parametrize("step", [0, 1])
@pytest.mark.parametrize("first", range(4))
def test_labels_of_any_dtype(first, step):
    dtypes = [DTYPES[(first + step * i) % 4] for i in range(3)]
    columns = random_codes(1030, 6, dtypes)
    oracle = naive.label_table(*columns, 6)
    np.testing.assert_array_equal(labels_table(columns, 6, 2), oracle + 2)
    found = agreement_table(columns[1:], 6, 2)
    np.testing.assert_array_equal(found, oracle.sum(axis=0) + 2)


# 40 classes have 64,000 cells, which 16 bits can number; 41 have not.
@pytest.mark.parametrize("n_classes", [16, 17, 40, 41])
@pytest.mark.parametrize("n", [0, 4913, 4914, 63_999, 64_000, 64_001, 68_921, 70_003])
def test_labels_of_many_classes(n, n_classes):
    columns = random_codes(n, n_classes, [np.uint8, np.uint16, np.int64])
    oracle = naive.label_table(*columns, n_classes)
    np.testing.assert_array_equal(labels_table(columns, n_classes), oracle)


# 256 classes have 65,536 pairs, the last number of 16 bits and one.
@pytest.mark.parametrize("n_classes", [1, 2, 3, 32, 33, 255, 256, 257, 300])
@pytest.mark.parametrize("n", [0, 5, 1024, 1027, 5000, 65_535, 65_536, 65_538])
def test_agreement_of_many_classes(n, n_classes):
    _, *columns = random_codes(n, n_classes, [np.uint8, np.uint16, np.int32])
    oracle = np.zeros((n_classes, n_classes), np.int64)
    np.add.at(oracle, tuple(columns), 1)
    np.testing.assert_array_equal(agreement_table(columns, n_classes), oracle)
    np.testing.assert_array_equal(agreement_table(columns, n_classes, 3), oracle + 3)


@given(codes(1500, 7))
def test_agreement_is_the_sum_over_true_classes(drawn):
    table = labels_table(drawn, 7)
    np.testing.assert_array_equal(table.sum(axis=0), agreement_table(drawn[1:], 7))
    y_true, pred_a, pred_b = drawn
    np.testing.assert_array_equal(table.sum(axis=2), agreement_table([y_true, pred_a], 7))
    np.testing.assert_array_equal(table.sum(axis=1), agreement_table([y_true, pred_b], 7))


@given(codes(1500))
def test_labels_hold_the_paired_table(drawn):
    table, k = labels_table(drawn, 4), range(4)
    both = sum(int(table[t, t, t]) for t in k)
    only_a = sum(int(table[t, t, :].sum()) for t in k) - both
    only_b = sum(int(table[t, :, t].sum()) for t in k) - both
    rest = int(table.sum()) - both - only_a - only_b
    assert paired(*drawn) == [[both, only_a], [only_b, rest]]


@pytest.mark.parametrize("n_classes", [3, 12])  # by cells, and one by one
def test_labels_of_frozen_and_strided_columns(n_classes):
    columns = random_codes(1200, n_classes, [np.int32] * 3)
    wanted = naive.label_table(*columns, n_classes)
    for column in columns:
        column.flags.writeable = False
    np.testing.assert_array_equal(labels_table(columns, n_classes), wanted)
    across = np.column_stack(columns)
    spaced = [across[:, 0], across[:, 1], across[:, 2]]
    np.testing.assert_array_equal(labels_table(spaced, n_classes), wanted)
    np.testing.assert_array_equal(agreement_table(spaced[1:], n_classes), wanted.sum(axis=0))
    backwards = [column[::-1] for column in columns]
    np.testing.assert_array_equal(labels_table(backwards, n_classes), wanted)


@parametrize("tri_label_counts")
def test_reference_labels(case):
    data = case["input"]
    columns = [np.array(data[name]) for name in ("y", "model1", "model2")]
    expected = np.array(case["expected"]["counts_ijk"]).transpose(2, 0, 1)
    np.testing.assert_array_equal(labels_table(columns, data["K"]), expected)


@pytest.mark.parametrize("dtype", [np.uint8, np.int32])
@pytest.mark.parametrize("place", [0, 5, 1023, 1024, 2999])
@pytest.mark.parametrize("column", range(3))
def test_codes_that_are_too_large_end_the_counting(dtype, place, column):
    columns = np.random.default_rng(2).integers(0, 3, (3, 3_000)).astype(dtype)
    assert count_labels(*columns, np.zeros((3, 3, 3), np.int64)) == 3_000
    columns[column, place] = 3
    assert count_labels(*columns, np.zeros((3, 3, 3), np.int64)) == place
    # Also where cells are counted one by one.
    few = columns[:, max(0, place - 10) : place + 10]
    found = count_labels(*few, np.zeros((3, 3, 3), np.int64))
    assert found == min(place, 10)
