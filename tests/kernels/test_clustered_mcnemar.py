"""Counts by cluster against loops over samples."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastcmp.kernels import cluster_bits, count_clusters, pack_equal
from fastcmp.kernels.bits import allocate_words, cluster_squares, squared_distances


@st.composite
def clustered(draw, n_rows=3):
    sizes = draw(st.lists(st.integers(1, 150), min_size=1, max_size=8))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    groups = np.repeat(np.arange(len(sizes)), sizes)
    return rng.integers(0, 2, (n_rows, groups.size), np.uint8), groups


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


@given(clustered())
def test_bits_by_cluster(drawn):
    (y_true, a, b), groups = drawn
    words = allocate_words(2, groups.size)
    ends = np.cumsum(np.bincount(groups))
    right = np.empty((2, ends.size))
    for row, pred, out in zip(words, (a, b), right, strict=False):
        pack_equal(y_true, pred, row)
        cluster_bits(row, ends, out)
    for pred, out in zip((a, b), right, strict=True):
        wanted = np.bincount(groups[pred == y_true], minlength=ends.size)
        assert out.tolist() == wanted.tolist()
    found = np.empty((2, 1))
    cluster_squares(words, ends, right, np.array([[0, 1]]), found)
    cells = np.zeros((4, ends.size), np.int64)
    count_clusters(y_true, a, b, groups, cells)
    sizes = cells.sum(axis=0)
    assert found[0, 0] == pytest.approx((cells**2 / sizes).sum(), rel=1e-13)
    assert found[1, 0] == ((cells[1] + cells[2]) ** 2).sum()


@given(st.integers(1, 40), st.integers(0, 2**32))
def test_squared_distances(n, seed):
    rows = np.random.default_rng(seed).normal(size=(3, n))
    found = np.empty(2)
    squared_distances(rows, np.array([[0, 2], [1, 1]]), found)
    assert found[0] == pytest.approx(((rows[0] - rows[2]) ** 2).sum(), rel=1e-13)
    assert found[1] == 0
