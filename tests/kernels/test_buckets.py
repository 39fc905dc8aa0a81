"""Buckets of neighbours: nothing is lost, and their order is that of the numbers."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from fastcmp.kernels import BUCKET_CELLS, count_cells, fill_buckets, put_back

numbers = st.one_of(
    st.floats(0.0, 1.0),
    st.sampled_from([0.0, 5e-324, 2.0**-1022, 1e-300, 0.5, 1.0, np.nextafter(1.0, 0)]),
)


def cell_of(number):
    counts = np.zeros(BUCKET_CELLS, np.int64)
    count_cells(np.array([number]).view(np.uint64), counts)
    return int(counts.argmax())


@given(numbers, numbers)
def test_cells_are_in_the_order_of_the_numbers(x, y):
    low, high = sorted([x, y])
    assert 0 <= cell_of(low) <= cell_of(high) < BUCKET_CELLS


def test_only_zero_is_in_the_first_cell():
    assert cell_of(0.0) == cell_of(-0.0) == 0
    assert cell_of(5e-324) == 1
    assert cell_of(1.0) == BUCKET_CELLS - 1


@given(
    st.lists(numbers, max_size=60), st.integers(1, BUCKET_CELLS - 1), st.integers(0, 99)
)
def test_numbers_are_dealt_with_their_positions(values, border, first):
    values = np.array(values, float)
    counts = np.zeros(BUCKET_CELLS, np.int64)
    count_cells(values.view(np.uint64), counts)
    assert counts.sum() == values.size
    bucket = (np.arange(BUCKET_CELLS) >= border).astype(np.int64)
    place = np.array([0, counts[1:border].sum()])
    some = values[values != 0]
    dealt, order = np.zeros(some.size, np.uint64), np.zeros(some.size, np.int32)
    fill_buckets(values.view(np.uint64), first, bucket, place, dealt, order)
    dealt = dealt.view(float)
    assert values[order - first].tolist() == dealt.tolist()
    assert sorted(order - first) == np.flatnonzero(values).tolist()
    cut = counts[1:border].sum()
    assert place.tolist() == [cut, some.size]
    if 0 < cut < some.size:
        assert dealt[:cut].max() < dealt[cut:].min()


def test_back_to_where_they_came_from():
    out = np.zeros(4)
    put_back(np.array([0.1, 0.2, 0.3]), np.array([3, 0, 1]), out)
    assert out.tolist() == [0.2, 0.3, 0.0, 0.1]
