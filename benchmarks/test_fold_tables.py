"""Tables of folds, counted and tested, as simulations need them by the million."""

import numpy as np
import pytest
from scipy import special

import fastcmp
from fastcmp import kernels


@pytest.fixture(scope="module", params=[2, 10])
def losses(request, size, rng):
    """Folds of ten repetitions, and who is wrong on which sample."""
    shape = (10, size(100_000, 1_000))
    folds = rng.integers(0, request.param, shape).astype(np.int16)
    wrong = (rng.random((2, *shape)) < 0.15).view(np.uint8)
    return request.param, folds, *wrong


def count(n_folds, folds, wrong_a, wrong_b):
    tables = np.zeros((len(folds), n_folds, 2, 2), np.int64)
    kernels.count_folds(folds, wrong_a, wrong_b, tables)
    return tables


def bincount(n_folds, folds, wrong_a, wrong_b):
    """Number the cells of all repetitions, and count them in one call."""
    cells = 4 * n_folds * np.arange(len(folds))[:, np.newaxis] + 4 * folds
    cells = cells + 2 * wrong_a + wrong_b
    found = np.bincount(cells.ravel(), minlength=4 * n_folds * len(folds))
    return found.reshape(-1, n_folds, 2, 2)


def name_group(benchmark, losses):
    benchmark.group = f"tables of {losses[0]} folds, 10 x 10^5 samples, one core"


class TestCounting:
    def test_ours(self, benchmark, losses):
        name_group(benchmark, losses)
        benchmark.extra_info["target"] = 5
        found = benchmark(count, *losses)
        np.testing.assert_array_equal(found, bincount(*losses))

    def test_numpy_bincount(self, benchmark, losses):
        name_group(benchmark, losses)
        assert benchmark(bincount, *losses).sum() == losses[1].size


@pytest.fixture(scope="module")
def tables(size, rng):
    n = size(100_000, 100)
    return rng.multinomial(150, [0.8, 0.1, 0.07, 0.03], (n, 5, 2)).reshape(n, 5, 2, 2, 2)


def by_hand(tables):
    """The p-values in as few NumPy and SciPy passes as we know."""
    effective = 20 / 11 * tables.mean(axis=(1, 2))
    a, b = effective[:, 0, 1], effective[:, 1, 0]
    chi2 = np.maximum(np.abs(a - b) - 1, 0) ** 2 / (a + b)
    return special.chdtrc(1, chi2)


@pytest.mark.benchmark(group="10^5 5x2 BCV McNemar p-values, whole call")
class TestManyPairs:
    def test_ours(self, benchmark, tables):
        found = benchmark(fastcmp.bcv_mcnemar, tables)
        benchmark.extra_info["target"] = 2
        np.testing.assert_allclose(found.pvalue, by_hand(tables), rtol=1e-9)

    def test_numpy_and_scipy(self, benchmark, tables):
        assert benchmark(by_hand, tables).max() <= 1

    def test_statsmodels_loop(self, benchmark, tables):
        from statsmodels.stats.contingency_tables import mcnemar

        some = tables[:300]

        def loop():
            means = 20 / 11 * some.mean(axis=(1, 2))
            return [mcnemar(mean, exact=False).pvalue for mean in means]

        found = benchmark(loop)
        benchmark.extra_info["times"] = len(tables) / len(some)
        ours = fastcmp.bcv_mcnemar(some)
        clear = ours.statistic > 0  # where they are equal, statsmodels overcorrects
        np.testing.assert_allclose(ours.pvalue[clear], np.array(found)[clear])
