"""Binomial draws, and counts of cells that are drawn, exchanged or enumerated."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from libraries import stats

from fastcmp.kernels import cell_tables, draw_cells, random_binomial, swap_cells

N_DRAWS = 20_000
ONE_STRATUM = np.zeros(9, np.int64)


def binomials(n, p, seed=1, size=N_DRAWS):
    return np.array([random_binomial(seed, 0, draw, n, p) for draw in range(size)])


def assert_distributed(found, wanted):
    """Test counts against expected ones, rare values together."""
    rare = wanted < 5
    assert np.all(found[wanted == 0] == 0)
    if rare.any():
        found = np.append(found[~rare], found[rare].sum())
        wanted = np.append(wanted[~rare], wanted[rare].sum())
    kept = wanted > 0
    squares = (found - wanted)[kept] ** 2 / wanted[kept]
    assert stats.chi2(squares.size - 1).sf(squares.sum()) > 1e-3


#: Coins, inversion and rejection, each with both of its ends.
BINOMIALS = [
    *[(1, 0.5), (7, 0.5), (64, 0.5), (200, 0.5), (256, 0.5), (257, 0.5)],
    *[(20, 0.1), (1, 0.3), (1000, 0.003), (13, 0.75), (99, 0.1), (10**9, 3e-9)],
    *[(100, 0.1), (25, 0.4), (21, 0.49), (100, 0.9), (1000, 0.3), (10**6, 0.999)],
    *[(10**6, 0.5), (10**12, 0.37), (10**15, 1e-13)],
]


@pytest.mark.parametrize(("n", "p"), BINOMIALS)
def test_binomial_draws_have_the_distribution(n, p):
    draws = binomials(n, p)
    law = stats.binom(n, p)
    ends = np.unique(law.ppf(np.concatenate([[0.001], np.arange(0.02, 1, 0.02)])))
    ends = ends[ends < n]
    wanted = np.diff(np.concatenate([[0], law.cdf(ends), [1]])) * draws.size
    edges = np.concatenate([[-1], ends, [n]]) + 0.5
    found = np.histogram(draws, edges)[0]
    assert found.sum() == draws.size
    assert_distributed(found, wanted)


@pytest.mark.parametrize(("n", "p"), [(2**53, 0.5), (2**53, 0.2), (2**52 + 1, 1e-3)])
def test_moments_of_the_largest_binomials(n, p):
    draws = binomials(n, p)
    z = (draws - n * p) / math.sqrt(n * p * (1 - p))
    assert abs(z.mean()) < 4 / math.sqrt(z.size)
    assert z.var() == pytest.approx(1, abs=4 * math.sqrt(2 / z.size))
    assert abs(stats.skew(z)) < 4 * math.sqrt(6 / z.size)
    assert np.all(draws % 1 == 0)


def test_certain_and_impossible_binomials():
    assert random_binomial(1, 2, 3, 0, 0.4) == 0
    assert random_binomial(1, 2, 3, 2**53, 0.0) == 0
    assert random_binomial(1, 2, 3, 2**53, 1.0) == 2**53
    for n, p in ((-1, 0.5), (2**53 + 2, 0.5), (5, -0.1), (5, 1.1), (5, math.nan)):
        assert random_binomial(1, 2, 3, n, p) == -1


# Multinomial draws.

COUNTS = np.array([500, 0, 300, 120, 40, 30, 7, 2, 1])


def test_draws_of_few_samples_have_their_probabilities():
    counts = np.array([2, 1, 2])
    out = np.empty((N_DRAWS, 3))
    draw_cells(counts, ONE_STRATUM[:3], 3, 0, out)
    rows = [x for x in itertools.product(range(6), repeat=3) if sum(x) == 5]
    wanted = stats.multinomial(5, counts / 5).pmf(rows) * N_DRAWS
    found = np.array([np.all(out == row, axis=1).sum() for row in rows])
    assert_distributed(found, wanted)


def test_draws_within_strata_keep_their_sizes():
    strata = np.array([0, 0, 0, 1, 1, 1, 4, 4, 5])
    out = np.empty((300, strata.size))
    draw_cells(COUNTS, strata, 5, 0, out)
    for stratum in np.unique(strata):
        own = strata == stratum
        np.testing.assert_array_equal(out[:, own].sum(axis=1), COUNTS[own].sum())
    assert np.ptp(out[:, 0]) > 0


def test_draws_are_functions_of_seed_and_number():
    partner = np.array([0, 2, 1, 4, 3, 5, 6, 8, 7])
    for draw in (
        lambda first, out: draw_cells(COUNTS, ONE_STRATUM, 8, first, out),
        lambda first, out: swap_cells(COUNTS, partner, 8, first, out),
    ):
        out, later = np.empty((6, 9)), np.empty((2, 9))
        draw(3, out)
        draw(7, later)
        np.testing.assert_array_equal(out[4:], later)


# Exchanges.


def test_exchanges_keep_pairs_and_concordant_cells():
    partner = np.array([0, 2, 1, 5, 4, 3, 6, 8, 7])
    out = np.empty((N_DRAWS, 9))
    swap_cells(COUNTS, partner, 1, 0, out)
    both = (COUNTS + COUNTS[partner]).astype(float)
    np.testing.assert_array_equal(out + out[:, partner], np.tile(both, (N_DRAWS, 1)) * 1.0)
    same = partner == np.arange(9)
    np.testing.assert_array_equal(out[0, same], COUNTS[same])
    for s in (1, 3, 7):
        values = np.arange(both[s] + 1)
        wanted = stats.binom(both[s], 0.5).pmf(values) * N_DRAWS
        found = np.array([(out[:, s] == x).sum() for x in values])
        assert_distributed(found, wanted)
    assert abs(np.corrcoef(out[:, 1], out[:, 3])[0, 1]) < 4 / math.sqrt(N_DRAWS)


# Tables and clusters.

cells = st.lists(st.tuples(*[st.integers(0, 2)] * 3, st.integers(0, 9)), min_size=1, max_size=12)


@given(cells)
def test_tables_add_up_cells(rows):
    rows = np.array(rows)
    draws = np.stack([rows[:, 3], rows[:, 3] * 0.5])
    out = np.empty((2, 2, 3, 3))
    cell_tables(rows[:, :3].copy(), draws, out)
    wanted = np.zeros((2, 2, 3, 3))
    for r in range(2):
        for (t, a, b, _), count in zip(rows, draws[r], strict=True):
            wanted[r, 0, t, a] += count
            wanted[r, 1, t, b] += count
    np.testing.assert_array_equal(out, wanted)
    one = np.empty((2, 1, 3, 3))
    cell_tables(rows[:, :2].copy(), draws, one)
    np.testing.assert_array_equal(one[:, 0], wanted[:, 0])
