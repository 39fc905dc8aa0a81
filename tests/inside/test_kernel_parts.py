"""Kernels that the engines call, which no user sees: bounds, and the same bits in both tiers."""

import itertools
import math

import numpy as np
import pytest
from both_tiers import both_tiers  # noqa: F401
from cases import case
from hypothesis import given, settings
from hypothesis import strategies as st
from libraries import mpmath
from naive import far_half_binomial
from strategies import clustered, right_matrices

from fastcmp import kernels
from fastcmp.kernels import bits, evalues
from fastcmp.kernels.binomial import _expansion
from fastcmp.kernels.bounded_means import lower_mean_limit
from fastcmp.kernels.count_draws import add_tails, half_chances
from fastcmp.kernels.item_bootstrap import cluster_cells, total_draws
from fastcmp.kernels.item_bootstrap import cluster_squares as squares_of_clusters
from fastcmp.kernels.margins_exact import tango_exact_margins
from fastcmp.kernels.rng import _word
from fastcmp.kernels.signed_ranks import pairs_above, signed_rank_draws
from fastcmp.kernels.task_ranks import count_ranks
from fastcmp.kernels.unpaired_exact import _reaches

# Bits of models that are right, and tiles of pairs.


def random_right(n_models, n, seed=0):
    return np.random.default_rng(seed).integers(0, 2, (n_models, n), np.uint8)


def packed(right):
    """Pack a 0/1 matrix with NumPy, in the layout of allocate_words."""
    words = bits.allocate_words(*right.shape)
    packed_bytes = np.packbits(right, axis=1, bitorder="little")
    words.view(np.uint8)[: right.shape[0], : packed_bytes.shape[1]] = packed_bytes
    return words


def test_allocated_rows_are_zero_padded_and_aligned():
    for n_models, n in itertools.product((0, 1, 3, 4, 5, 13), (0, 1, 511, 512, 513, 10_000)):
        words = bits.allocate_words(n_models, n)
        rows, columns = words.shape
        with case(n_models, n):
            assert rows % bits.TILE_ROWS == columns % bits.LINE_WORDS == 0
            assert n_models <= rows < n_models + bits.TILE_ROWS
            assert n <= 64 * columns < n + 64 * bits.LINE_WORDS
            assert words.flags.c_contiguous
            assert not words.size or words.ctypes.data % (8 * bits.LINE_WORDS) == 0
            assert not words.any()


@given(right_matrices())
def test_common_bits_add_up(right):
    n_models = right.shape[0]
    joint = np.ones((n_models, n_models), np.int64)
    bits.common_tile(packed(right), (0, n_models, 0, n_models), joint)
    wide = right.astype(np.int64)
    expected = np.triu(wide @ wide.T) + 1
    np.testing.assert_array_equal(joint, expected)


def test_chosen_pairs_equal_brute_force():
    right = random_right(7, 333)
    pairs = np.array([[0, 1], [6, 2], [3, 3], [1, 0]])
    only_a, only_b = np.empty((2, len(pairs)), np.int64)
    sums = right.sum(axis=1, dtype=np.int64)
    bits.discordant_pairs(packed(right), sums, pairs, only_a, only_b)
    is_right = right.astype(bool)
    for p, (i, j) in enumerate(pairs):
        assert only_a[p] == (is_right[i] & ~is_right[j]).sum()
        assert only_b[p] == (is_right[j] & ~is_right[i]).sum()


def test_common_bits_of_two_arrays():
    words = np.empty((3, 9), np.uint64)
    kernels.random_signs(5, 0, 0, words)
    rows, others = bits.allocate_words(5, 192), bits.allocate_words(4, 192)
    rows[:5, :3], others[:4, :3] = words.T[:5], words.T[5:]
    counts = np.empty((len(rows), len(others)), np.int64)
    bits.cross_counts(rows, others, counts)
    common = np.bitwise_count(rows[:, np.newaxis] & others).sum(axis=2)
    np.testing.assert_array_equal(counts, common)


@given(clustered())
def test_bits_by_cluster(drawn):
    (y_true, a, b), groups = drawn
    words = bits.allocate_words(2, groups.size)
    ends = np.cumsum(np.bincount(groups))
    right = np.empty((2, ends.size))
    for row, pred, out in zip(words, (a, b), right, strict=False):
        kernels.pack_equal(y_true, pred, row)
        kernels.cluster_bits(row, ends, out)
    for pred, out in zip((a, b), right, strict=True):
        wanted = np.bincount(groups[pred == y_true], minlength=ends.size)
        assert out.tolist() == wanted.tolist()
    found = np.empty((2, 1))
    bits.cluster_squares(words, ends, right, np.array([[0, 1]]), found)
    cells = np.zeros((4, ends.size), np.int64)
    kernels.count_clusters(y_true, a, b, groups, cells)
    sizes = cells.sum(axis=0)
    assert found[0, 0] == pytest.approx((cells**2 / sizes).sum(), rel=1e-13)
    assert found[1, 0] == ((cells[1] + cells[2]) ** 2).sum()


@given(st.integers(1, 40), st.integers(0, 2**32))
def test_squared_distances(n, seed):
    rows = np.random.default_rng(seed).normal(size=(3, n))
    found = np.empty(2)
    bits.squared_distances(rows, np.array([[0, 2], [1, 1]]), found)
    assert found[0] == pytest.approx(((rows[0] - rows[2]) ** 2).sum(), rel=1e-13)
    assert found[1] == 0


# Draws, exact margins, e-values.


def test_chances_of_halves():
    out = np.empty(5)
    half_chances(1000, 498, out)
    wanted = [kernels.binomial_half(498.0 + i, 1000.0).pmf for i in range(5)]
    np.testing.assert_array_equal(out, wanted)


def test_tails_hold_negatives_and_nan():
    statistics = np.array([0.5, -0.2, np.nan, 0.2 - 1e-12, 0.0])
    weights = np.array([0.1, 0.05, 0.15, 0.15, 0.05])
    out = np.zeros(4)
    add_tails(statistics, weights, 0.2, 1e-9, out)
    # Above are one sign of 0.5, -0.2 and 0.2, and both of NaN; below all but -0.5's.
    assert out == pytest.approx([0.9, 0.6, 0.9, 1.0])


def test_clusters_are_drawn_and_exchanged_as_a_whole():
    starts, index = np.array([0, 2, 3, 5]), np.array([0, 1, 2, 1, 3])
    counts, partner = np.array([4, 2, 5, 1, 3]), np.array([0, 2, 1, 3])
    times = np.array([[1.0, 1, 1], [2, 0, 1], [-1, -1, 1]])
    out = np.empty((3, 4))
    cluster_cells(starts, index, counts, partner, times, out)
    wanted = [[4, 3, 5, 3], [8, 5, 0, 3], [4, 6, 2, 3]]
    np.testing.assert_array_equal(out, wanted)
    values = np.array([[1.0, 10, 100, 1000]] * 3)
    squares = np.empty(3)
    squares_of_clusters(starts, index, counts, partner, times, values, squares)
    own = np.array([24.0, 500, 3010])
    wanted = [own @ own, 2 * 24.0**2 + 3010.0**2, 204.0**2 + 50.0**2 + 3010.0**2]
    assert squares == pytest.approx(wanted)


def test_totals_do_not_depend_on_their_neighbours():
    rng = np.random.default_rng(6)
    for n_units in (1, 3, 4, 9, 50):
        counts = rng.poisson(0.7, (5, n_units)).astype(float)
        columns = rng.normal(size=(n_units, 20))
        totals = np.empty((5, 20))
        total_draws(counts, columns, totals)
        np.testing.assert_allclose(totals, counts @ columns, atol=1e-13)
        some = np.empty((5, 3))
        total_draws(counts, np.ascontiguousarray(columns[:, 13:16]), some)
        np.testing.assert_array_equal(some, totals[:, 13:16])


@given(
    *[st.integers(0, 6 * 10**14) for _ in range(2)],
    *[st.integers(1, 15 * 10**17) for _ in range(2)],
    st.booleans(),
)
def test_products_of_more_than_64_bits(gap, least, scale, its_scale, is_close):
    gap, least = math.isqrt(gap), math.isqrt(least)
    if is_close and least:  # the same ratio, up to rounding to a whole number
        scale = min(gap * gap * its_scale // (least * least), 15 * 10**17)
    wanted = gap * gap * its_scale >= least * least * scale
    assert _reaches(gap, scale, least, its_scale) == wanted


@given(st.lists(st.floats(-1, 1) | st.sampled_from([-1.0, 0.0, 1.0]), min_size=1, max_size=60))
def test_values_and_their_counts_have_the_same_limit(x):
    x = np.array(x)
    different, counts = np.unique(x, return_counts=True)
    once = lower_mean_limit(x, np.empty(0, np.int64), 0.95)
    assert lower_mean_limit(different, counts, 0.95) == pytest.approx(once, abs=1e-9)


@st.composite
def tables(draw):
    n = draw(st.integers(1, 12))
    only_a = draw(st.integers(0, n))
    return only_a, draw(st.integers(0, n - only_a)), n


@settings(max_examples=6)
@given(tables(), st.sampled_from([0.03, 0.1, 0.4]), st.sampled_from([0.0, 0.001]))
def test_exact_intervals_invert_the_tests(table, margin, gamma):
    only_a, only_b, n = table
    found = np.empty(9)
    tango_exact_margins(*table, margin, 0.05, gamma, found)
    low, high, inner_low, inner_high = found[5:]
    assert low <= inner_low <= (only_a - only_b) / n <= inner_high <= high
    for end, level in ((low, 0.025), (inner_low, 0.05)):
        assert (found[2] <= level) == (end > -margin)
    for end, level in ((high, 0.025), (inner_high, 0.05)):
        assert (found[3] <= level) == (end < margin)
    if inner_low > -1:
        below = kernels.tango_exact(*table, max(inner_low - 2e-8, -0.9999999), gamma)
        above = kernels.tango_exact(*table, inner_low + 2e-8, gamma)
        assert below.pvalue <= 0.05 + 1e-6
        assert above.pvalue >= 0.05 - 1e-6
    turned = np.empty(9)
    tango_exact_margins(only_b, only_a, n, margin, 0.05, gamma, turned)
    assert turned[5:] == pytest.approx([-high, -low, -inner_high, -inner_low])
    assert turned[2:4].tolist() == found[3:1:-1].tolist()


def test_evidence_that_is_missing():
    logs = np.array([-800.0, -41.0, -1.0, 0.0, 2.9, 3.1, 900.0])
    wanted = sum(20 - math.exp(x) for x in logs[:5])
    assert evalues.missing_evidence(logs, 20.0) == pytest.approx(wanted, rel=1e-13)
    assert evalues.missing_evidence(logs[-1:], 20.0) == 0.0


def exponentials(replicate, start, shape):
    out = np.empty(shape)
    kernels.random_exponentials(3, replicate, start, out)
    return out


def test_exponentials_are_logarithms_of_words():
    found = exponentials(7, 11, (6, 40))
    for i in range(6):
        for r in range(40):
            uniform = ((int(_word(3, 7 + r, 11 + i)) >> 12) + 0.5) * 2.0**-52
            assert found[i, r] == pytest.approx(-np.log(uniform), rel=4e-15)
    assert np.array_equal(exponentials(9, 12, (5, 30)), found[1:, 2:32])


def expansion(v, r):
    import numba

    @numba.njit
    def user(v, r):
        return _expansion(v, r)

    return user(v, r)


def test_leading_coefficients_are_those_of_theory():
    # `edgeworth` less the normal tail at sqrt(2 D) leaves (1/4 + 1/3) / 2.
    assert expansion(0.0, 0.0) == pytest.approx(7 / 24, rel=1e-14)


@pytest.mark.parametrize("u", [0.02, 0.1, 0.25, 0.4, 0.5])
@pytest.mark.parametrize("n", [200, 400, 10_000])
def test_expansion_equals_its_definition(u, n):
    with mpmath.workdps(40):
        m = mpmath.mpf(round(n * (1 - u) / 2))
        u = 1 - 2 * m / n
        mid, point = far_half_binomial(int(m), n)
        deviance = n * (u * mpmath.atanh(u) + mpmath.log1p(-u * u) / 2)
        exact = (mid - mpmath.erfc(mpmath.sqrt(deviance)) / 2) / (point * u)
    # The term is at most some 10 percent of the tail, at n = 200.
    assert expansion(float(u * u), 1.0 / n) == pytest.approx(float(exact), rel=5e-12)


@pytest.mark.parametrize("seed", range(8))
def test_ranks_and_draws_have_the_same_bits_in_both_tiers(seed):
    rng = np.random.default_rng(seed)
    n = rng.integers(1, 40)
    ordered = np.sort(rng.integers(-3, 4, n + 1)) * 0.5
    above, below = np.empty((2, 1, 2, n + 1), np.int64)
    pairs_above(ordered, (0.5, 0.0), above[0])
    pairs_above(ordered, (-1.0, -0.5), below[0])
    prior, order = float(rng.choice([0.0, 0.5, 1.5])), rng.permutation(n + 1)[None]
    signed_rank_draws(order, above, below, prior, (seed, 3, 70), np.empty((1, 4)))
    m = int(rng.integers(1, 12))
    estimates = rng.integers(6, size=(30, m)) + rng.choice([0.0, 1e-9], (30, m))
    order, weights = np.argsort(estimates, axis=1), rng.random(30)
    options = float(rng.choice([0.0, 1e-6, 1.0])), int(rng.integers(m + 1))
    count_ranks(estimates, order, weights, options, np.zeros((m, m)), np.zeros((2, m)))
