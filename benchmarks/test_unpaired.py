"""Accuracies on different samples: exact tests, and many score tests, beside SciPy."""

import math

import numpy as np
import pytest
from scipy import optimize, stats

from fastcmp import accuracy_unpaired


def counts_of(rng, n_tables, n):
    """Draw tables of two models that are right on 85% and 80%."""
    return rng.binomial(n, 0.85, n_tables), n, rng.binomial(n, 0.8, n_tables), n


@pytest.mark.benchmark(group="Boschloo's test of 20 tables of 100 and 100 samples")
class TestExact:
    def test_ours(self, benchmark, rng):
        counts = counts_of(rng, 20, 100)
        result = benchmark(accuracy_unpaired, counts=counts, method="boschloo")
        a, n, b, _ = counts
        theirs = stats.boschloo_exact([[a[0], b[0]], [n - a[0], n - b[0]]], "greater")
        one = {"method": "boschloo", "alternative": "greater"}
        ours = accuracy_unpaired(counts=(a[0], n, b[0], n), **one)
        assert ours.pvalue == pytest.approx(theirs.pvalue, rel=1e-6)
        assert result.pvalue.shape == (20,)

    def test_scipy(self, benchmark, rng, size):
        a, n, b, _ = counts_of(rng, size(20, 1), 100)

        def each():
            return [
                stats.boschloo_exact([[x, y], [n - x, n - y]]).pvalue
                for x, y in zip(a, b, strict=True)
            ]

        assert max(benchmark(each)) <= 1.0


def slow_score(a, n_a, b, n_b, delta):
    """Miettinen and Nurminen's statistic, by SciPy's root of the score."""

    def slope(p):
        q = p + delta
        return a / q - (n_a - a) / (1 - q) + b / p - (n_b - b) / (1 - p)

    low, high = max(0.0, -delta), min(1.0, 1.0 - delta)
    p = optimize.brentq(slope, low + 1e-9, high - 1e-9, xtol=1e-14)
    q, n = p + delta, n_a + n_b
    variance = (q * (1 - q) / n_a + p * (1 - p) / n_b) * n / (n - 1)
    return (a / n_a - b / n_b - delta) / math.sqrt(variance)


@pytest.mark.benchmark(group="non-inferiority of 10,000 pairs of accuracies")
class TestMany:
    def test_ours(self, benchmark, rng, size):
        counts = counts_of(rng, size(10_000, 500), 300)
        options = {"method": "miettinen-nurminen", "null_difference": -0.05}
        z = benchmark(accuracy_unpaired, counts=counts, **options).statistic
        a, n, b, _ = counts
        assert z[0] == pytest.approx(slow_score(a[0], n, b[0], n, -0.05), rel=1e-9)

    def test_brentq(self, benchmark, rng, size):
        a, n, b, _ = counts_of(rng, size(10_000, 20), 300)

        def each():
            return [slow_score(x, n, y, n, -0.05) for x, y in zip(a, b, strict=True)]

        assert np.isfinite(benchmark(each)).all()
