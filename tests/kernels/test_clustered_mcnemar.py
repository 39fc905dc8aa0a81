"""Counts by cluster against loops over samples."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from fastcmp.kernels import count_clusters


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
