"""Counter-based random numbers; AUCs and ROC curves of resampled data."""

from itertools import product

import naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from libraries import sklearn, stats

from fastcmp import kernels
from fastcmp.kernels import bootstrap_aucs, permuted_differences, random_below, weighted_auc


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


@given(
    st.integers(0, 2**62), st.integers(0, 2**40), st.integers(0, 2**40), st.integers(1, 2**31 - 1)
)
def test_a_pure_function_of_three_numbers(seed, replicate, draw, n):
    found = random_below(seed, replicate, draw, n)
    assert found == (naive.splitmix(seed, replicate, draw) >> 32) * n >> 32
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


def draw_data(seed, n, tied=True):
    rng = np.random.default_rng(seed)
    positive = rng.integers(0, 2, n).astype(np.uint8)
    positive[:2] = 0, 1
    scores = rng.integers(0, 5, n).astype(float) if tied else rng.normal(size=n)
    return positive, scores


@given(st.integers(0, 2**32 - 1), st.integers(2, 25), st.booleans())
def test_points_are_those_of_repeated_samples(seed, n, tied):
    positive, scores = draw_data(seed, n, tied)
    weights = np.random.default_rng(seed).integers(0, 4, n)
    weights[:2] += 1
    points = np.empty((2, n + 1))
    k = kernels.weighted_roc(*ordered(scores), positive, weights, points)
    fpr, tpr, _ = sklearn.metrics.roc_curve(
        np.repeat(positive, weights), np.repeat(scores, weights), drop_intermediate=False
    )
    np.testing.assert_allclose(points[:, :k], [fpr, tpr], atol=1e-15)


def test_points_without_a_class_are_nan():
    points, one = np.empty((2, 3)), np.ones(2, np.uint8)
    n = kernels.weighted_roc(*ordered(np.array([1.0, 2.0])), one, np.ones(2, np.int64), points)
    assert np.isnan(points[0, 1:n]).all()
    assert points[1, n - 1] == 1


@given(st.integers(0, 2**32 - 1), st.integers(2, 25))
def test_areas_and_heights_of_joined_points(seed, n):
    rng = np.random.default_rng(seed)
    x = np.sort(np.append(rng.integers(0, 6, n) / 5, [0.0, 1.0]))
    y = np.sort(rng.random(n + 2))
    low, high = np.sort(rng.random(2))
    fine = np.unique(np.concatenate([np.linspace(low, high, 4001), x]))
    fine = fine[(fine >= low) & (fine <= high)]
    middles = (fine[1:] + fine[:-1]) / 2
    wanted = np.diff(fine) @ np.interp(middles, x, y)
    assert kernels.partial_area(x, y, low, high) == pytest.approx(wanted, abs=1e-12)
    assert kernels.highest_at(x, y, low) == pytest.approx(np.interp(low, x, y), abs=1e-12)
    knot = x[rng.integers(n + 2)]
    assert kernels.highest_at(x, y, knot) == y[x == knot].max()


@pytest.mark.parametrize("tied", [False, True])
def test_replicates_are_what_their_draws_say(tied):
    positive, scores = draw_data(5, 40, tied)
    members = np.concatenate([np.flatnonzero(positive), np.flatnonzero(positive == 0)])
    n1 = int(positive.sum())
    order, ties = (x[np.newaxis] for x in ordered(scores))
    n_draws, at = 30, np.array([0.1, 0.5])
    for by_tpr, area in product([False, True], repeat=2):
        out = np.empty((n_draws, 1, 1 if area else 2))
        kernels.bootstrap_rocs(order, ties, positive, by_tpr, at, area, 9, 3, out)
        for b in range(n_draws):
            chosen = [kernels.random_below(9, 3 + b, k, n1) for k in range(n1)]
            chosen += [n1 + kernels.random_below(9, 3 + b, k, 40 - n1) for k in range(n1, 40)]
            rows = members[chosen]
            fpr, tpr, _ = sklearn.metrics.roc_curve(
                positive[rows], scores[rows], drop_intermediate=False
            )
            x, y = (tpr, 1 - fpr) if by_tpr else (fpr, tpr)
            wanted = (
                [kernels.partial_area(x, y, *at)]
                if area
                else [kernels.highest_at(x, y, rate) for rate in at]
            )
            np.testing.assert_allclose(out[b, 0], wanted, atol=1e-14)


def errors(ranks, positive, cut):
    """Misclassified samples where those above the cut are called positive."""
    return int(((ranks > cut) != (positive == 1)).sum())


@given(st.integers(0, 2**32 - 1), st.integers(2, 20))
def test_the_statistic_sums_differences_of_errors(seed, n):
    rng = np.random.default_rng(seed)
    positive = rng.integers(0, 2, n).astype(np.uint8)
    ranks = np.stack([rng.permutation(n) + 1 for _ in range(2)])
    wanted = sum(
        abs(errors(ranks[0], positive, k) - errors(ranks[1], positive, k)) for k in range(1, n)
    )
    by_rank = np.argsort(ranks, axis=1)
    assert kernels.venkatraman_statistic(*positive[by_rank]) == wanted


def test_exchanges_have_the_distribution_of_all_exchanges():
    positive = np.array([0, 1, 0, 1, 1, 0], np.uint8)
    ranks = np.array([[1, 2, 3, 4, 5, 6], [2, 6, 1, 3, 5, 4]])
    found = np.empty(60_000, np.int64)
    kernels.venkatraman_exchanges(np.argsort(ranks, axis=1), positive, 2, 0, found)
    proportions = {}
    for swap in product([0, 1], repeat=6):
        first, second = np.where(swap, ranks[1], ranks[0]), np.where(swap, *ranks)
        # Ties in every order: those of equal rank come in pairs.
        for one, two in product(_all_orders(first), _all_orders(second)):
            e = kernels.venkatraman_statistic(positive[one[0]], positive[two[0]])
            proportions[e] = proportions.get(e, 0) + one[1] * two[1] / 64
    assert sum(proportions.values()) == pytest.approx(1)
    for e, proportion in proportions.items():
        spread = np.sqrt(proportion * (1 - proportion) / found.size)
        assert abs((found == e).mean() - proportion) < 5 * spread
    assert set(found.tolist()) <= set(proportions)


def _all_orders(ranks):
    """All orders of samples by rank, ties either way, and the proportion of each."""
    tied = [r for r in set(ranks.tolist()) if (ranks == r).sum() == 2]
    for flips in product([0, 1], repeat=len(tied)):
        keys = ranks.astype(float)
        for rank, flip in zip(tied, flips, strict=True):
            keys[np.flatnonzero(ranks == rank)[flip]] += 0.5
        yield np.argsort(keys), 0.5 ** len(tied)
