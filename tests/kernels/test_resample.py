"""Counter-based random numbers, and AUCs of resampled data."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from fastcmp.kernels import (
    bootstrap_aucs,
    permuted_differences,
    random_below,
    weighted_auc,
)


def area(scores, positive):
    """The AUC by pairs."""
    p, n = scores[positive == 1], scores[positive == 0]
    if not p.size or not n.size:
        return np.nan
    return ((p[:, None] > n) + 0.5 * (p[:, None] == n)).mean()


def ordered(scores):
    order = np.argsort(scores, kind="stable")
    tied = np.zeros(scores.size, np.uint8)
    tied[1:] = scores[order][1:] == scores[order][:-1]
    return order, tied


# Random numbers.


def test_known_values():
    # Of SplitMix64, worked out in Python's integers; the same without the compiler.
    assert [random_below(2**62 + 5, 7, k, 1000) for k in range(5)] == [
        by_hand(2**62 + 5, 7, k, 1000) for k in range(5)
    ]


def by_hand(seed, replicate, draw, n):
    def mix(x):
        x %= 2**64
        x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
        x = (x ^ (x >> 27)) * 0x94D049BB133111EB % 2**64
        return x ^ (x >> 31)

    step = 0x9E3779B97F4A7C15
    key = mix(seed + (replicate + 1) * step)
    return ((mix(key + (draw + 1) * step) >> 32) * n) >> 32


@given(
    st.integers(0, 2**62),
    st.integers(0, 2**40),
    st.integers(0, 2**40),
    st.integers(1, 2**31 - 1),
)
def test_a_pure_function_of_three_numbers(seed, replicate, draw, n):
    found = random_below(seed, replicate, draw, n)
    assert found == by_hand(seed, replicate, draw, n)
    assert 0 <= found < n


@pytest.mark.parametrize("axis", range(3))
def test_uniform_along_each_argument(axis):
    n = 60_000
    draws = np.empty(n, np.int64)
    for k in range(n):
        arguments = [3, 5, 7]
        arguments[axis] = k
        draws[k] = random_below(*arguments, 10)
    assert stats.chisquare(np.bincount(draws, minlength=10)).pvalue > 1e-4
    pairs = np.bincount(10 * draws[:-1] + draws[1:], minlength=100)
    assert stats.chisquare(pairs).pvalue > 1e-4


# AUCs with weights.


@given(st.integers(1, 25), st.integers(0, 2**32 - 1), st.booleans())
def test_weights_are_repetitions(n, seed, tied):
    rng = np.random.default_rng(seed)
    scores = rng.integers(0, 4, n).astype(float) if tied else rng.normal(size=n)
    positive = rng.integers(0, 2, n).astype(np.uint8)
    weights = rng.integers(0, 4, n)
    found = weighted_auc(*ordered(scores), positive, weights)
    wanted = area(np.repeat(scores, weights), np.repeat(positive, weights))
    np.testing.assert_allclose(found, wanted, atol=1e-14)


def test_bootstrap_draws_each_class_by_itself():
    rng = np.random.default_rng(5)
    n, n_draws = 40, 4_000
    positive = (np.arange(n) < 15).astype(np.uint8)
    scores = rng.normal(size=(2, n)) + positive
    orders, ties = (np.stack(x) for x in zip(*map(ordered, scores), strict=True))
    out = np.empty((n_draws, 2))
    bootstrap_aucs(orders, ties, positive, 9, 0, out)
    # Each replicate is what its own draws say.
    for b in (0, n_draws - 1):
        chosen = [random_below(9, b, k, 15) for k in range(15)]
        chosen += [15 + random_below(9, b, k, 25) for k in range(15, 40)]
        for m in range(2):
            assert out[b, m] == pytest.approx(area(scores[m][chosen], positive[chosen]))
    # A part of the replicates is the same part.
    some = np.empty((10, 2))
    bootstrap_aucs(orders, ties, positive, 9, 50, some)
    np.testing.assert_array_equal(some, out[50:60])


def test_exchanges_match_their_draws():
    rng = np.random.default_rng(6)
    n = 12
    positive = rng.integers(0, 2, n).astype(np.uint8)
    ranks = rng.integers(1, 9, (2, n)).astype(float)
    order, tied = ordered(ranks.ravel())
    out = np.empty(20)
    permuted_differences(order, tied, positive, 4, 3, out)
    for b in range(20):
        swap = np.array([random_below(4, 3 + b, i, 2) for i in range(n)])
        first = np.where(swap == 1, ranks[1], ranks[0])
        second = np.where(swap == 1, ranks[0], ranks[1])
        wanted = area(first, positive) - area(second, positive)
        assert out[b] == pytest.approx(wanted, abs=1e-14)
