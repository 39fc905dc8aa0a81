"""Forms of kernels in whole arrays: random inputs with ties, zeros and empty rows.

The fixture of this folder runs each call as machine code too, and compares bits.
"""

import numpy as np
import pytest

from fastcmp import kernels
from fastcmp.kernels.evalues import normal_mixture_boundaries
from fastcmp.kernels.rng import lattice_normals
from fastcmp.kernels.score_bins import sort_words
from fastcmp.kernels.task_ranks import battle_slopes

seeds = pytest.mark.parametrize("seed", range(12))


@seeds
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_maxima(seed, dtype):
    rng = np.random.default_rng(seed)
    m, size = int(rng.integers(1, 70)), 20
    draws = rng.integers(-2, 3, (m, size)).astype(dtype)
    weights = (rng.random((m, m)) * (rng.random((m, m)) < 0.3)).astype(dtype)
    out = np.full((3, size), rng.choice([-np.inf, 0.0]), dtype)
    kernels.difference_maxima(draws, weights, np.arange(m), rng.integers(3, size=m), out)


@seeds
def test_lattice(seed):
    rng = np.random.default_rng(seed)
    shifts, out = rng.random(4), np.empty((4, 50))
    lattice_normals(np.sqrt([2.0, 3.0, 5.0, 7.0]), shifts, int(rng.integers(1000)), out)


@seeds
def test_rank_sum_differences(seed):
    rng = np.random.default_rng(seed)
    m = int(rng.integers(2, 9))
    chances = np.ones(1)
    for _ in range(5):
        even = rng.random() < 0.5
        ranks = np.arange(m) * rng.integers(1, 3) if even else np.sort(rng.integers(9, size=m))
        chances = kernels.add_difference(chances, ranks)
    assert chances.sum() == pytest.approx(1.0)


@seeds
def test_battle_slopes(seed):
    rng = np.random.default_rng(seed)
    m = int(rng.integers(1, 20))
    battles = np.triu(rng.integers(0, 4, (m, m)), 1) * 1.0
    odds, sums = np.exp(rng.normal(0, 3, m)), np.empty((2, m))
    battle_slopes(odds, battles + battles.T, sums, np.empty((m, m)))
    assert sums[0].sum() == pytest.approx(battles.sum())


@seeds
def test_sorted_words(seed):
    rng = np.random.default_rng(seed)
    bits, n = int(rng.integers(0, 12)), int(rng.integers(1, 3000))
    words = rng.integers(0, 1 << int(rng.integers(14, 63)), n).astype(np.uint64)
    words = (words >> np.uint64(bits)) << np.uint64(bits)
    words |= np.arange(n, dtype=np.uint64) * np.uint64(n <= 1 << bits)
    ascending = np.sort(words)
    sort_words(words, bits)
    np.testing.assert_array_equal(words, ascending)


@seeds
def test_boundaries(seed):
    rng = np.random.default_rng(seed)
    variances = np.append(0.0, 10.0 ** rng.uniform(-18, 18, 60))
    rho, price, out = 10.0 ** rng.uniform(-9, 9), 10.0 ** rng.uniform(-6, 2), np.empty(61)
    assert normal_mixture_boundaries(variances, rho, price, out)
    growth = np.log1p(variances / rho) + price
    np.testing.assert_allclose(out, np.sqrt(growth * (variances + rho)), rtol=1e-15)
    assert normal_mixture_boundaries(np.array([1e300]), 1e-10, price, out[:1])
    assert out[0] == np.inf
    for wrong in (-1e-300, np.nan, np.inf):
        variances[rng.integers(61)] = wrong
        assert not normal_mixture_boundaries(variances, rho, price, out)
