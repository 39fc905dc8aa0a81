"""Isotonic means and discordant decisions, against the definitions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from fastcmp.kernels.decisions import discordant_sums
from fastcmp.kernels.isotonic import isotonic_fits


def minimax(sums, sizes):
    """Isotonic means: the largest over beginnings of the least mean over ends."""
    n = sums.size
    return np.array(
        [
            max(
                min(sums[a : b + 1].sum() / sizes[a : b + 1].sum() for b in range(k, n))
                for a in range(k + 1)
            )
            for k in range(n)
        ]
    )


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=12))
def test_isotonic_means(groups):
    sizes = np.array([a + b for a, b in groups], float)
    sums, at = np.array([a for a, _ in groups], float), np.arange(len(groups)) ** 1.5
    fitted = np.empty((2, sizes.size))
    isotonic_fits(np.stack([sums, sums]), np.stack([sizes, sizes]), at, fitted)
    kept = sizes > 0
    if not kept.any():
        assert np.isnan(fitted).all()
        return
    means = minimax(sums[kept], sizes[kept])
    # Groups without values are on the line between their neighbours.
    assert_allclose(fitted[1], np.interp(at, at[kept], means), atol=1e-12)
    assert np.array_equal(fitted[0], fitted[1])


@pytest.mark.parametrize("seed", range(3))
def test_items_on_which_decisions_differ(seed):
    rng = np.random.default_rng(seed)
    passed = rng.integers(0, 6, (3, 40)).astype(np.int16)
    positive, weights = rng.integers(0, 2, 40).astype(np.int16), rng.integers(1, 4, 40) * 1.0
    pairs = np.array([[0, 1], [2, 0], [1, 1]], np.int32)
    sums = np.zeros((2, 3, 5))
    discordant_sums(passed, positive, weights, pairs, sums)
    for y in range(2):
        for p, (a, b) in enumerate(pairs):
            for k in range(5):
                differ = ((passed[a] > k) != (passed[b] > k)) & (positive == y)
                assert sums[y, p, k] == weights[differ].sum()
