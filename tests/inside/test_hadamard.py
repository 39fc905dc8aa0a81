"""Balanced orthogonal columns, and any number of samples dealt along them."""

import numpy as np
import pytest
from cases import thinned

from fastcmp.crossval.fold_units import blocked_pattern, halves, rounds, smallest_order

#: Neither one more than a prime nor twice such an order.
MISSING = {28, 36, 52, 56, 76, 92, 100, 112, 116, 124, 148, 156, 172, 184, 188, 196}
ORDERS = [4, *(k for k in range(8, 200, 4) if k not in MISSING)]
TABLE_III = [{1, 2, 3, 4}, {1, 3, 5, 7}, {1, 2, 5, 6}, {1, 4, 5, 8}, {1, 3, 6, 8}]


def sizes(n):
    """Numbers of samples to cut in halves: many, and awkward ones."""
    awkward = [211, 251, 255, 256, 257, 300, 301, 302, 303, 997, 1000, 1023, 10_007]
    return [*range(n, n + 180), *(k for k in awkward if k >= n)]


def overlaps(pattern):
    """How many samples the halves 0 hold, and those of each two cuts share.

    The shared ones in four rows: of halves 0 and 0, 0 and 1, 1 and 0, 1 and 1.
    """
    second = pattern.astype(float)
    halves_of = 1 - second, second
    pairs = np.triu_indices(len(pattern), 1)
    shared = [(one @ two.T)[pairs] for one in halves_of for two in halves_of]
    return halves_of[0].sum(axis=1), np.array(shared)


@pytest.mark.parametrize("spread", [False, True])
@pytest.mark.parametrize("order", thinned(ORDERS, 5))
def test_columns_are_balanced_and_orthogonal(order, spread):
    columns = halves(order, order - 1, spread=spread)
    assert columns.shape == (order, order - 1)
    assert columns.dtype == np.int16
    assert not columns.flags.writeable
    signs = np.column_stack([np.ones(order), 1.0 - 2 * columns])
    np.testing.assert_array_equal(signs.T @ signs, order * np.eye(order))


def test_spreading_has_a_limit():
    np.testing.assert_array_equal(halves(512, 5, spread=True), halves(512, 5))


def test_smallest_orders():
    wanted = {2: 4, 3: 4, 4: 8, 7: 8, 8: 12, 12: 16, 48: 60, 51: 60, 88: 96}
    assert {m: smallest_order(m) for m in wanted} == wanted
    for m in range(2, 199):
        order = smallest_order(m)
        assert order == min(k for k in [*ORDERS, 200] if k > m)


def test_table_iii():
    columns = halves(8, 5)
    for j, wanted in enumerate(TABLE_III):
        assert {d + 1 for d in range(8) if columns[d, j] == 0} == wanted


@pytest.mark.parametrize("spread", [False, True])
@pytest.mark.parametrize("m", thinned(range(2, 44), 8))
def test_halves_and_quarters_are_exact(m, spread):
    for n in sizes(smallest_order(m) if m <= 11 else 3 * m):
        pattern = blocked_pattern(n, m, spread=spread)
        assert pattern.shape == (m, n)
        assert set(np.unique(pattern)) == {0, 1}
        half, quarter = overlaps(pattern)
        # One number for all cuts; n/4, or one of its neighbours, for all pairs.
        assert set(half) == {n // 2}
        assert set(quarter.ravel()) <= {n // 4, -(-n // 4)}


@pytest.mark.parametrize("m", [12, 20, 32, 44, 51, 60])
def test_where_an_order_is_missing(m):
    least = smallest_order(m)
    inexact = []
    for n in range(least, 5 * m):
        left = rounds(n + (n % 4 == 3), m)[1]
        assert left <= 3 or n < 3 * m
        if left <= 3 and n % 13:
            continue  # some of those are looked at
        half, quarter = overlaps(blocked_pattern(n, m))
        assert set(half) == {n // 2}
        if left > 3:
            inexact.append(n)
            # Each row that is left, with its opposite, is off by half a sample at
            # most, and a single sample by three quarters.
            assert np.abs(quarter - n / 4).max() <= left // 4 + 0.75
        else:
            assert set(quarter.ravel()) <= {n // 4, -(-n // 4)}
    assert inexact


def test_stretches_are_about_halved():
    # A class is a stretch of what is dealt.
    for m in (2, 3, 5, 8, 11, 12, 20, 23, 40):
        worst = 0
        for n in [*range(smallest_order(m), 130), 300, 303, 1001]:
            signs = 1 - 2 * blocked_pattern(n, m, spread=True).astype(int)
            ahead = np.pad(signs.cumsum(axis=1), ((0, 0), (1, 0)))
            worst = max(worst, np.ptp(ahead, axis=1).max() / 2)
        assert worst <= (1.5 if m == 5 else max(2, np.sqrt(m))), m
