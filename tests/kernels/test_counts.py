"""Tables counted from codes, of all samples and by cluster."""

import naive
import numpy as np
import pytest
from cases import case
from hypothesis import given
from strategies import clustered, codes

from fastcmp.kernels import count_agreement, count_clusters, count_labels, count_paired

BLOCK = 1 << 15
DTYPES = [np.uint8, np.uint16, np.int32, np.int64]
# About multiples of 4, of 1,024 and of both.
SIZES = [0, 1, 3, 4, 5, 27, 28, 343, 344, 1023, 1024, 1025, 1027, 2048, 2050, 4099, 5000]


def paired(y_true, pred_a, pred_b):
    out = np.zeros((2, 2), np.int64)
    count_paired(y_true, pred_a, pred_b, out)
    return out.tolist()


@given(codes(dtypes=[np.uint8]))
def test_paired_equals_brute_force(drawn):
    assert paired(*drawn) == naive.paired_table(*drawn)


@given(codes(dtypes=[np.int32]))
def test_agreement_equals_brute_force(drawn):
    _, pred_a, pred_b = drawn
    out = np.zeros((4, 4), np.int64)
    count_agreement(pred_a, pred_b, out)
    assert out.tolist() == naive.agreement_table(pred_a, pred_b, 4)


@pytest.mark.parametrize("n", [BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK + 99])
def test_paired_over_blocks(n):
    y_true, pred_a, pred_b = np.random.default_rng(n).integers(0, 3, (3, n), np.uint8)
    right_a, right_b = pred_a == y_true, pred_b == y_true
    both = int((right_a & right_b).sum())
    only_a, only_b = int(right_a.sum()) - both, int(right_b.sum()) - both
    assert paired(y_true, pred_a, pred_b) == [[both, only_a], [only_b, n - both - only_a - only_b]]


def test_tables_add_to_what_is_there():
    y_true = np.array([0, 1, 2, 2, 1], np.uint8)
    pred_a = np.array([0, 1, 0, 2, 0], np.uint8)
    pred_b = np.array([0, 0, 2, 1, 2], np.uint8)
    table = np.array([[10, 20], [30, 40]])
    count_paired(y_true, pred_a, pred_b, table)
    assert table.tolist() == [[11, 22], [31, 41]]
    agreement = np.full((3, 3), 7)
    count_agreement(pred_a, pred_b, agreement)
    assert agreement.tolist() == [[8, 7, 9], [8, 7, 7], [7, 8, 7]]


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
def test_labels_equal_brute_force(n_classes):
    for n in SIZES:
        columns = random_codes(n, n_classes, [np.uint8] * 3)
        oracle = naive.label_table(*columns, n_classes)
        with case(n):
            np.testing.assert_array_equal(labels_table(columns, n_classes), oracle)
            # The same columns again, into what is there.
            np.testing.assert_array_equal(labels_table(columns, n_classes, 7), oracle + 7)


# All alike, and each beside others; every combination is compiled anew.
@pytest.mark.parametrize(
    ("first", "step"),
    [(2, 1), *(pytest.param(i, s, marks=pytest.mark.full) for i in range(4) for s in (0, 1))],
)
def test_labels_of_any_dtype(first, step):
    dtypes = [DTYPES[(first + step * i) % 4] for i in range(3)]
    columns = random_codes(1030, 6, dtypes)
    oracle = naive.label_table(*columns, 6)
    np.testing.assert_array_equal(labels_table(columns, 6, 2), oracle + 2)
    found = agreement_table(columns[1:], 6, 2)
    np.testing.assert_array_equal(found, oracle.sum(axis=0) + 2)


# 40 classes have 64,000 cells, which 16 bits can number; 41 have not.
@pytest.mark.parametrize("n_classes", [16, 17, 40, 41])
def test_labels_of_many_classes(n_classes):
    for n in (0, 4913, 4914, 63_999, 64_000, 64_001, 68_921, 70_003):
        columns = random_codes(n, n_classes, [np.uint8] * 3)
        oracle = np.zeros((n_classes,) * 3, np.int64)
        np.add.at(oracle, tuple(columns), 1)
        with case(n):
            np.testing.assert_array_equal(labels_table(columns, n_classes), oracle)


# 256 classes have 65,536 pairs, the last number of 16 bits and one.
@pytest.mark.parametrize("n_classes", [1, 2, 3, 32, 33, 255, 256, 257, 300])
def test_agreement_of_many_classes(n_classes):
    for n in (0, 5, 1024, 1027, 5000, 65_535, 65_536, 65_538):
        _, *columns = random_codes(n, n_classes, [np.uint16] * 3)
        oracle = np.zeros((n_classes, n_classes), np.int64)
        np.add.at(oracle, tuple(columns), 1)
        with case(n):
            np.testing.assert_array_equal(agreement_table(columns, n_classes), oracle)
            np.testing.assert_array_equal(agreement_table(columns, n_classes, 3), oracle + 3)


@pytest.mark.parametrize("column", range(3))
def test_codes_that_are_too_large_end_the_counting(column):
    whole = np.random.default_rng(2).integers(0, 3, (3, 3_000)).astype(np.uint8)
    assert count_labels(*whole, np.zeros((3, 3, 3), np.int64)) == 3_000
    for place in (0, 5, 1023, 1024, 2999):
        columns = whole.copy()
        columns[column, place] = 3
        assert count_labels(*columns, np.zeros((3, 3, 3), np.int64)) == place
        # Also where cells are counted one by one.
        few = columns[:, max(0, place - 10) : place + 10]
        assert count_labels(*few, np.zeros((3, 3, 3), np.int64)) == min(place, 10)


@given(clustered())
def test_cells_by_cluster(drawn):
    (y_true, a, b), groups = drawn
    groups = np.random.default_rng(1).permutation(groups)
    found = np.zeros((4, groups.max() + 1), np.int64)
    count_clusters(y_true, a, b, groups, found)
    right_a, right_b = a == y_true, b == y_true
    cells = (right_a & right_b, right_a & ~right_b, ~right_a & right_b)
    for row, cell in zip(found, (*cells, ~(right_a | right_b)), strict=True):
        assert row.tolist() == np.bincount(groups[cell], minlength=row.size).tolist()
