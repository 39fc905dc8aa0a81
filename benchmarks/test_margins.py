"""Tests of two accuracies against a margin, beside a loop of SciPy's brentq."""

import math
from statistics import NormalDist

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import multinomial

from fastcmp import kernels, margin_tests
from fastcmp.kernels.intervals import tango_margin_many

MARGIN = 0.02
NORMAL = NormalDist()


@pytest.fixture(scope="module")
def tables(size, rng):
    n = rng.integers(500, 5000, size(1_000_000, 2_000))
    only_a, only_b, _ = rng.multinomial(n, [0.06, 0.05, 0.89]).T
    return np.ascontiguousarray(only_a), np.ascontiguousarray(only_b), n


def score(only_a, only_b, n, delta):
    """Tango's score, as the paper has it."""
    b = -only_a - only_b + (2 * n - only_a + only_b) * delta
    c = -only_b * delta * (1 - delta)
    q = (math.sqrt(b * b - 8 * n * c) - b) / (4 * n)
    return (only_a - only_b - n * delta) / math.sqrt(n * (2 * q + delta * (1 - delta)))


def one_test(only_a, only_b, n):
    """Find three p-values and two intervals of one table."""
    lower, upper = (score(only_a, only_b, n, side * MARGIN) for side in (-1, 1))
    pvalues = 1 - NORMAL.cdf(lower), NORMAL.cdf(upper), 1 - NORMAL.cdf(upper)
    d, ends = (only_a - only_b) / n, []
    for z in (1.959963984540054, 1.6448536269514722):
        for sign in (1, -1):
            excess = lambda x, s=sign, z=z: score(only_a, only_b, n, x) - s * z  # noqa: E731
            ends.append(brentq(excess, *((-0.99, d) if sign > 0 else (d, 0.99))))
    return pvalues, ends


@pytest.mark.benchmark(group="1,000,000 Tango tests with two intervals")
class TestScore:
    def test_kernel(self, benchmark, tables):
        benchmark.extra_info["target_note"] = "100 x a loop of brentq"
        margin, found = np.full(tables[0].size, MARGIN), np.empty((10, tables[0].size))
        tango_margin_many(*(x[:9] for x in tables), margin[:9], 0.05, found)
        benchmark(tango_margin_many, *tables, margin, 0.05, found)
        for i in range(20):
            pvalues, ends = one_test(*(int(x[i]) for x in tables))
            assert np.allclose(found[2:5, i], pvalues, rtol=1e-6, atol=1e-12)
            assert np.allclose(found[5:9, i], ends, atol=1e-9)

    def test_with_decisions(self, benchmark, tables):
        only_a, only_b, n = tables
        counts = {"only_a": only_a, "only_b": only_b, "both_wrong": 0}
        counts["both_right"] = n - only_a - only_b
        tests = benchmark(margin_tests, **counts, margin=MARGIN)
        assert set(tests.decision) > {"better", "equivalent", "cannot tell"}

    def test_brentq_of_2000(self, benchmark, tables):
        benchmark.extra_info["times"] = 500
        rows = list(zip(*(x[:2000].tolist() for x in tables), strict=True))
        loop = lambda: [one_test(*row) for row in rows]  # noqa: E731
        assert len(benchmark.pedantic(loop, rounds=1)) == len(rows)


def enumerated(only_a, only_b, n, difference):
    """Maximise over a grid the probability of all tables as extreme, in NumPy."""
    x, y = np.divmod(np.arange((n + 1) ** 2), n + 1)
    x, y = x[x + y <= n], y[x + y <= n]
    b = -x - y + (2 * n - x + y) * difference
    c = -y * difference * (1 - difference)
    q = (np.sqrt(np.maximum(b * b - 8 * n * c, 0)) - b) / (4 * n)
    variance = n * (2 * q + difference * (1 - difference))
    with np.errstate(divide="ignore", invalid="ignore"):
        z = (x - y - n * difference) / np.sqrt(np.maximum(variance, 0))
    extreme = np.nan_to_num(z) >= score(only_a, only_b, n, difference) - 1e-9
    cells = np.stack([x, y, n - x - y], axis=1)[extreme]
    grid = np.linspace(max(0, -difference), (1 - difference) / 2, 1000)
    p = np.clip(np.stack([grid + difference, grid, 1 - 2 * grid - difference], 1), 0, 1)
    return max(multinomial.pmf(cells, n, each / each.sum()).sum() for each in p)


@pytest.mark.benchmark(group="one exact unconditional test, 100 samples")
class TestExact:
    def test_ours(self, benchmark):
        found = benchmark(kernels.tango_exact, 12, 9, 100, -0.1)
        assert found.pvalue == pytest.approx(enumerated(12, 9, 100, -0.1), rel=1e-4)

    def test_numpy(self, benchmark):
        benchmark.pedantic(enumerated, (12, 9, 100, -0.1), rounds=1)


@pytest.mark.benchmark(group="one exact unconditional test, 10,000 samples")
def test_exact_of_10_000(benchmark, size):
    n = size(10_000, 1000)
    found = benchmark(kernels.tango_exact, 6 * n // 100, 5 * n // 100, n, -0.01)
    assert 0 < found.pvalue < 0.05
