"""Forms of kernels in whole arrays: random inputs with ties, zeros and empty rows.

The fixture of this folder runs each call as machine code too, and compares bits.
"""

import numpy as np
import pytest

from fastcmp.kernels import metrics
from fastcmp.kernels.count_draws import cell_tables
from fastcmp.kernels.dirichlet import random_exponentials
from fastcmp.kernels.friedman_exact import add_difference
from fastcmp.kernels.max_t import difference_maxima, radial_quantile, radial_tail, step_down
from fastcmp.kernels.metric_rates import ODDS_RATIO
from fastcmp.kernels.signed_ranks import pairs_above, signed_rank_draws
from fastcmp.kernels.task_ranks import count_ranks

seeds = pytest.mark.parametrize("seed", range(12))


@pytest.mark.parametrize("metric", [*range(ODDS_RATIO + 1), *range(metrics.ACCURACY, metrics.COST)])
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
    random_exponentials(seed, int(rng.integers(1000)), int(rng.integers(9)), np.empty((n, size)))
    cells = rng.integers(3, size=(n, 3))
    cell_tables(cells, rng.poisson(2.0, (size, n)) * 1.0, np.empty((size, 2, 3, 3)))
    ordered = np.sort(rng.integers(-3, 4, n + 1)) * 0.5
    order = rng.permutation(n + 1)[None]
    above, below = np.empty((2, 1, 2, n + 1), np.int64)
    pairs_above(ordered, (0.5, 0.0), above[0])
    pairs_above(ordered, (-1.0, -0.5), below[0])
    prior = float(rng.choice([0.0, 0.5, 1.5]))
    signed_rank_draws(order, above, below, prior, (seed, 3, 70), np.empty((1, 4)))


@seeds
def test_ranks(seed):
    rng = np.random.default_rng(seed)
    m = int(rng.integers(1, 12))
    estimates = rng.integers(6, size=(30, m)) + rng.choice([0.0, 1e-9], (30, m))
    order, weights = np.argsort(estimates, axis=1), rng.random(30)
    options = float(rng.choice([0.0, 1e-6, 1.0])), int(rng.integers(m + 1))
    count_ranks(estimates, order, weights, options, np.zeros((m, m)), np.zeros((2, m)))


@seeds
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_maxima(seed, dtype):
    rng = np.random.default_rng(seed)
    m, size = int(rng.integers(1, 70)), 20
    draws = rng.integers(-2, 3, (m, size)).astype(dtype)
    weights = (rng.random((m, m)) * (rng.random((m, m)) < 0.3)).astype(dtype)
    out = np.full((3, size), rng.choice([-np.inf, 0.0]), dtype)
    difference_maxima(draws, weights, np.arange(m), rng.integers(3, size=m), out)


@seeds
def test_largest_statistics(seed):
    rng = np.random.default_rng(seed)
    draws = rng.integers(-3, 4, (5, 50)) * 0.5
    pairs = np.array(np.triu_indices(5, 1), np.int32).T.copy()
    inverse = rng.random(10) * (rng.random(10) < 0.8)
    counts, largest = np.zeros(10, np.int64), np.empty(50)
    step_down(draws, pairs, inverse, np.sort(rng.random(10)), seed % 3 - 1, counts, largest)
    radii, df = rng.random(50) + (seed % 2), float(rng.choice([5.0, np.inf]))
    radii[0] = 0.0
    for x in (-1.0, 0.0, 0.3, 4.0):
        radial_tail(x, largest, radii, 3.0, df)
    radial_quantile(np.abs(largest), radii, 3.0, df, 0.05)


@seeds
def test_rank_sum_differences(seed):
    rng = np.random.default_rng(seed)
    m = int(rng.integers(2, 9))
    chances = np.ones(1)
    for _ in range(5):
        even = rng.random() < 0.5
        ranks = np.arange(m) * rng.integers(1, 3) if even else np.sort(rng.integers(9, size=m))
        chances = add_difference(chances, ranks)
    assert chances.sum() == pytest.approx(1.0)
