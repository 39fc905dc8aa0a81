"""Data that the benchmarks share, and sizes that shrink when only run as tests."""

from pathlib import Path

import numpy as np
import pytest

#: Scripts, which have no tests.
collect_ignore = [x.name for x in Path(__file__).parent.glob("*.py") if not x.match("test_*.py")]


@pytest.fixture(scope="session")
def size(request):
    """Choose between the size to measure and one to test with."""
    option = request.config.getoption
    testing = option("benchmark_disable") and not option("benchmark_enable")

    def choose(measured, tested):
        return tested if testing else measured

    return choose


@pytest.fixture(scope="session")
def rng():
    return np.random.default_rng(20261120)


@pytest.fixture(scope="session")
def many(size, rng):
    """True labels and the predictions of many models, accuracies from 75 to 85 %."""
    n_models, n = size((1000, 100_000), (30, 5_000))
    y_true = rng.integers(0, 10, n).astype(np.uint8)
    preds = np.empty((n_models, n), np.uint8)
    for row in preds:
        wrong = rng.random(n, dtype=np.float32) < rng.uniform(0.15, 0.25)
        row[:] = np.where(wrong, (y_true + 1) % 10, y_true)
    return y_true, preds
