"""Shuffled orders, and patterns dealt along them."""

from itertools import permutations

import naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from libraries import stats

from fastcmp.kernels import deal, shuffle, shuffle_within


def by_hand(seed, replicate, ends, n):
    """Fisher and Yates in each stretch; position i takes one half of word i // 2."""
    drawn = [naive.splitmix(seed, replicate, k) for k in range(n // 2 + 1)]
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
