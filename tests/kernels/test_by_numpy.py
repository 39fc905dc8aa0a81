"""Forms of kernels in whole arrays: random inputs with ties, zeros and empty rows.

The fixture of this folder runs each call as machine code too, and compares bits.
"""

import numpy as np
import pytest

from fastcmp import kernels
from fastcmp import kernels as metrics

seeds = pytest.mark.parametrize("seed", range(12))


@pytest.mark.parametrize(
    "metric", [*range(kernels.ODDS_RATIO + 1), *range(metrics.ACCURACY, metrics.COST)]
)
@pytest.mark.parametrize("average", range(metrics.ONE_CLASS, metrics.OF_MEANS + 1))
def test_metrics(metric, average):
    rng = np.random.default_rng(metric)
    for labels in (metrics.UNION, metrics.TRUTH, metrics.LISTED):
        tables = rng.poisson(rng.choice([0.3, 5.0], (40, 1, 1)), (40, 3, 3)) * 1.0
        tables[:5] *= rng.random((5, 3, 3))
        tables[5], tables[6, 0, 0], tables[7, 0, 0] = 0.0, -1.0, np.inf
        tables[8, :, 1] = tables[8, 1] = 0.0
        zero_division = float(rng.choice([0.0, 1.0, np.nan]))
        spec = metrics.MetricSpec(metric, average, 1, rng.random() + 0.5, zero_division, labels)
        listed = np.array([1, 1, labels != metrics.LISTED], np.uint8)
        metrics.metric_values(tables, spec, listed, np.empty((0, 0)), np.empty(40))


@seeds
def test_draws(seed):
    rng = np.random.default_rng(seed)
    n, size = rng.integers(1, 40, 2)
    kernels.random_exponentials(
        seed, int(rng.integers(1000)), int(rng.integers(9)), np.empty((n, size))
    )
    cells = rng.integers(3, size=(n, 3))
    kernels.cell_tables(cells, rng.poisson(2.0, (size, n)) * 1.0, np.empty((size, 2, 3, 3)))


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
def test_largest_statistics(seed):
    rng = np.random.default_rng(seed)
    draws = rng.integers(-3, 4, (5, 50)) * 0.5
    pairs = np.array(np.triu_indices(5, 1), np.int32).T.copy()
    inverse = rng.random(10) * (rng.random(10) < 0.8)
    counts, largest = np.zeros(10, np.int64), np.empty(50)
    kernels.step_down(draws, pairs, inverse, np.sort(rng.random(10)), seed % 3 - 1, counts, largest)
    radii, df = rng.random(50) + (seed % 2), float(rng.choice([5.0, np.inf]))
    radii[0] = 0.0
    for x in (-1.0, 0.0, 0.3, 4.0):
        kernels.radial_tail(x, largest, radii, 3.0, df)
    kernels.radial_quantile(np.abs(largest), radii, 3.0, df, 0.05)


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
