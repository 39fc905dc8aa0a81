"""Tables counted from codes."""

from __future__ import annotations

import naive
import numpy as np
import pytest
from hypothesis import given
from reference_cases import parametrize
from strategies import codes, modest

from fastcmp.kernels import count_agreement, count_paired

BLOCK = 1 << 15


def paired(y_true, pred_a, pred_b):
    out = np.zeros((2, 2), np.int64)
    count_paired(y_true, pred_a, pred_b, out)
    return out.tolist()


@modest(100)
@given(codes())
def test_paired_equals_brute_force(drawn):
    assert paired(*drawn) == naive.paired_table(*drawn)


@modest(100)
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


@modest(50)
@given(codes())
def test_parts_add_up(drawn):
    out = np.zeros((2, 2), np.int64)
    cut = drawn.shape[1] // 3
    count_paired(*drawn[:, :cut], out)
    count_paired(*drawn[:, cut:], out)
    assert out.tolist() == paired(*drawn)


@modest(50)
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
