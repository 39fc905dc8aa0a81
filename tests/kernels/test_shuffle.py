"""Shuffled orders, and patterns dealt along them."""

from itertools import permutations

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from fastcmp.kernels import deal, shuffle, shuffle_within


def words(seed, replicate, n):
    """SplitMix64 in Python's integers."""

    def mix(x):
        x %= 2**64
        x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
        x = (x ^ (x >> 27)) * 0x94D049BB133111EB % 2**64
        return x ^ (x >> 31)

    step = 0x9E3779B97F4A7C15
    key = mix(seed + (replicate + 1) * step)
    return [mix(key + (k + 1) * step) for k in range(n)]


def by_hand(seed, replicate, ends, n):
    """Fisher and Yates in each stretch; position i takes one half of word i // 2."""
    drawn = words(seed, replicate, n // 2 + 1)
    order, start = list(range(n)), 0
    for end in ends:
        for i in range(start, end):
            bits = drawn[i // 2] % 2**32 if i % 2 else drawn[i // 2] >> 32
            j = start + (bits * (i - start + 1) >> 32)
            order[i], order[j] = order[j], order[i]
        start = end
    return order


def shuffled(n, seed, replicate, dtype=np.int64):
    order = np.arange(n, dtype=dtype)
    shuffle(seed, replicate, order)
    return order


# Orders.


@given(st.integers(0, 60), st.integers(0, 2**62), st.integers(0, 2**40))
def test_shuffle_is_fisher_and_yates(n, seed, replicate):
    wanted = by_hand(seed, replicate, [n], n)
    for dtype in (np.int32, np.int64):
        assert shuffled(n, seed, replicate, dtype).tolist() == wanted


@given(st.lists(st.integers(0, 12), max_size=6), st.integers(0, 2**62))
def test_stretches_are_shuffled_by_themselves(lengths, seed):
    ends = np.cumsum([0, *lengths])[1:].astype(np.int64)
    n = sum(lengths) + 3
    order = np.arange(n)
    shuffle_within(seed, 5, ends, order)
    assert order.tolist() == by_hand(seed, 5, ends.tolist(), n)
    for low, high in zip([0, *ends], [*ends, n], strict=True):
        assert sorted(order[low:high]) == list(range(low, high))
    assert order[-3:].tolist() == [n - 3, n - 2, n - 1]


def test_one_stretch_is_a_shuffle():
    order = np.arange(31)
    shuffle_within(4, 2, np.array([31]), order)
    np.testing.assert_array_equal(order, shuffled(31, 4, 2))


def test_anything_can_be_shuffled():
    letters = np.array([3.5, 1.0, 2.0, 9.0])
    there = letters[shuffled(4, 8, 1)]
    shuffle(8, 1, letters)
    np.testing.assert_array_equal(letters, there)


@pytest.mark.parametrize("along", ["replicate", "seed"])
def test_all_permutations_are_equally_likely(along):
    n = 120_000
    known = {p: k for k, p in enumerate(permutations(range(4)))}
    seen = []
    for k in range(n):
        seed, replicate = (11, k) if along == "replicate" else (k, 3)
        seen.append(known[tuple(shuffled(4, seed, replicate).tolist())])
    assert stats.chisquare(np.bincount(seen, minlength=24)).pvalue > 1e-4
    # Nor does one order say anything of the next one.
    pairs = np.bincount(24 * np.array(seen[:-1]) + seen[1:], minlength=576)
    assert stats.chisquare(pairs).pvalue > 1e-4


def test_each_sample_comes_to_each_position():
    n, n_draws = 25, 40_000
    counts = np.zeros((n, n))
    for r in range(n_draws):
        counts[shuffled(n, 7, r), np.arange(n)] += 1
    statistic = ((counts - n_draws / n) ** 2).sum() / (n_draws / n)
    # All rows and columns have the same sum.
    scaled = statistic * (n - 1) / n
    assert stats.chi2.sf(scaled, (n - 1) ** 2) > 1e-4
    assert stats.chi2.cdf(scaled, (n - 1) ** 2) > 1e-4


def test_replicates_do_not_resemble_one_another():
    n, n_draws = 200, 4_000
    orders = np.array([shuffled(n, 5, r) for r in range(n_draws)]) - (n - 1) / 2
    z = (orders[:-1] * orders[1:]).sum(axis=1) * 12 / (n * (n + 1) * np.sqrt(n - 1))
    assert abs(z.mean()) * np.sqrt(z.size) < 4
    assert z.std() == pytest.approx(1, abs=4 / np.sqrt(2 * z.size))


# Deals.


@given(st.integers(1, 40), st.integers(1, 34), st.integers(0, 2**32 - 1))
def test_deals(n, m, seed):
    rng = np.random.default_rng(seed)
    order = rng.permutation(n).astype(np.int32 if seed % 2 else np.int64)
    folds = rng.integers(-2, 300, (m, n)).astype(np.int16)
    wanted, out = np.empty_like(folds), np.zeros_like(folds)
    wanted[:, order] = folds
    deal(folds, order, out)
    np.testing.assert_array_equal(out, wanted)
    deal(folds[0], order, out[-1])
    np.testing.assert_array_equal(out[-1], wanted[0])


def test_a_design_in_compiled_code():
    @numba.njit
    def build(seed, pattern, n_designs):
        m, n = pattern.shape
        out = np.empty((n_designs, m, n), np.int16)
        order = np.empty(n, np.int32)
        for r in range(n_designs):
            for i in range(n):
                order[i] = i
            shuffle(seed, r, order)
            deal(pattern, order, out[r])
        return out

    pattern = np.array([[0, 0, 1, 1], [0, 1, 0, 1], [0, 1, 1, 0]], np.int16)
    designs = build(3, pattern, 50)
    for r in range(50):
        wanted = np.empty((3, 4), np.int16)
        wanted[:, shuffled(4, 3, r)] = pattern
        np.testing.assert_array_equal(designs[r], wanted)
    assert len({design.tobytes() for design in designs}) > 15
