"""Concordant pairs, thresholds and placements, against loops over all pairs."""

from itertools import product
from math import inf, nan

import naive
import numpy as np
import pytest
from cases import case
from hypothesis import given
from hypothesis import strategies as st

from fastcmp.kernels import concordance_sorted, placements, sweep_sorted

PAIR_BASE = 1 << 31
SPECIAL = (-inf, -1.5, -0.0, 0.0, 1e-40, 0.25, 1.0, inf)


@st.composite
def two_classes(draw, largest=60):
    """Draw sorted scores of negatives and of positives, tied, special or neither."""
    dtype = draw(st.sampled_from([np.float32, np.float64]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    kind = draw(st.sampled_from(["special", "levels", "any", "one"]))
    found = []
    for _ in range(2):
        n = draw(st.integers(0, largest))
        if kind == "special":
            scores = rng.choice(SPECIAL, n)
        elif kind == "levels":
            scores = rng.integers(-3, 4, n) / 2
        elif kind == "one":
            scores = np.full(n, draw(st.sampled_from(SPECIAL)))
        else:
            scores = rng.normal(size=n)
        found.append(np.sort(scores.astype(dtype)))
    return found


def with_end(scores):
    return np.append(scores, scores.dtype.type(inf))


def counted(negatives, positives):
    """Return concordant and tied pairs as Python integers; the low words are low."""
    found = concordance_sorted(with_end(negatives), with_end(positives))
    assert 0 <= found.concordant_low < PAIR_BASE
    assert 0 <= found.tied_low < PAIR_BASE
    return [
        int(high) * PAIR_BASE + int(low)
        for high, low in (
            (found.concordant_high, found.concordant_low),
            (found.tied_high, found.tied_low),
        )
    ]


def by_search(negatives, positives):
    """Count the same with two bisections a positive."""
    below = np.searchsorted(negatives, positives, side="left")
    up_to = np.searchsorted(negatives, positives, side="right")
    return [int(below.sum()), int((up_to - below).sum())]


# Concordant pairs.


@given(two_classes())
def test_concordance_equals_brute_force(drawn):
    assert counted(*drawn) == naive.pair_table(*drawn)[:2]


KINDS = {
    "continuous": lambda rng, n: rng.normal(size=n),
    "two levels": lambda rng, n: rng.integers(0, 2, n),
    "ten levels": lambda rng, n: rng.integers(0, 10, n),
    "hundred levels": lambda rng, n: rng.normal(size=n).round(1),
    "one level": lambda _, n: np.full(n, 3.0),
    # Runs of 3, which count as none, and runs of 16, which are about the limit.
    "short runs": lambda _, n: np.arange(n) // 3,
    "runs of 16": lambda _, n: np.arange(n) // 16,
    "mostly -inf": lambda rng, n: np.where(rng.random(n) < 0.9, -inf, rng.random(n)),
    "mostly inf": lambda rng, n: np.where(rng.random(n) < 0.9, inf, rng.random(n)),
    "all inf": lambda _, n: np.full(n, inf),
    "all -inf": lambda _, n: np.full(n, -inf),
    "both infinities": lambda rng, n: rng.choice([-inf, -inf, 0.5, inf], n),
    "half tied": lambda rng, n: np.maximum(rng.normal(size=n), 0),
    "zeros of either sign": lambda rng, n: rng.choice([-0.0, 0.0, 1.0], n),
}


@pytest.mark.parametrize("of_negatives", KINDS)
def test_concordance_of_many_scores(of_negatives):
    # Runs are looked for from 1,024 scores a class on.
    for of_positives, (n0, n1), dtype in product(
        KINDS, [(1024, 1500), (1023, 2000), (6000, 1031), (2048, 5999)], [np.float32, np.float64]
    ):
        rng = np.random.default_rng(n0)
        negatives = np.sort(KINDS[of_negatives](rng, n0).astype(dtype))
        positives = np.sort(KINDS[of_positives](rng, n1).astype(dtype))
        with case(of_positives, n0, n1, dtype):
            assert counted(negatives, positives) == by_search(negatives, positives)


def test_counts_and_ties_pass_32_bits():
    n, m = 200_000, 123_457
    assert counted(np.zeros(n), np.zeros(m)) == [0, n * m]
    assert counted(np.full(n, inf), np.full(m, inf)) == [0, n * m]
    assert counted(np.full(n, -inf), np.full(m, inf)) == [n * m, 0]
    low, high = np.arange(float(n)), np.arange(float(n)) + n
    assert counted(low, high) == [n * n, 0]
    assert counted(high, low) == [0, 0]
    # One class is a single run, the other has none: by merging.
    scores = np.arange(float(m))
    assert counted(np.full(n, 7.0), scores) == [n * (m - 8), n]
    assert counted(scores, np.full(n, 7.0)) == [7 * n, n]


# Thresholds.


def swept(negatives, positives):
    n = negatives.size + positives.size
    at, counts = np.empty(n, negatives.dtype), np.empty((2, n), np.int64)
    used = sweep_sorted(negatives, positives, at, *counts)
    return at[:used], counts[:, :used]


@given(two_classes())
def test_sweep_equals_brute_force(drawn):
    at, counts = swept(*drawn)
    found = dict(zip(at.tolist(), map(tuple, counts.T.tolist()), strict=True))
    assert found == naive.sweep_table(*drawn)
    assert all(np.diff(at) < 0)


# Placements.


def placed(scores, positive):
    out = np.full(scores.size, nan)
    placements(np.argsort(scores), scores, positive, out)
    return out


@st.composite
def samples(draw, largest=40):
    negatives, positives = draw(two_classes(largest))
    scores = np.append(negatives, positives)
    flags = np.repeat(np.array([0, 1], np.uint8), [negatives.size, positives.size])
    order = np.random.default_rng(scores.size).permutation(scores.size)
    return scores[order], flags[order]


@given(samples())
def test_placements_equal_brute_force(drawn):
    scores, positive = drawn
    found = placed(scores, positive)
    if positive.all() or not positive.any():
        assert np.isnan(found).all()
        return
    v10, v01 = naive.structural_components(positive, scores)
    np.testing.assert_allclose(found[positive == 1], np.array(v10, float), rtol=1e-15)
    np.testing.assert_allclose(found[positive == 0], np.array(v01, float), rtol=1e-15)
    assert 0 <= found.min() <= found.max() <= 1


@pytest.mark.parametrize("n", [3, 6, 49, 98, 103, 107, 161])
def test_placements_of_perfect_and_of_tied_scores_are_exact(n):
    # 49 * (1 / 49) is less than 1.
    positive = np.repeat(np.array([0, 1], np.uint8), n)
    assert set(placed(np.arange(2.0 * n), positive).tolist()) == {1.0}
    assert set(placed(-np.arange(2.0 * n), positive).tolist()) == {0.0}
    assert set(placed(np.zeros(2 * n), positive).tolist()) == {0.5}
