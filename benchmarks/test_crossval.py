"""A million tests on fold differences, beside NumPy on all rows and on one by one."""

import numpy as np
import pytest
from scipy import special, stats

import fastcmp


@pytest.fixture(scope="module")
def differences(size, rng):
    return rng.normal(0.01, 0.03, (size(1_000_000, 1_000), 10))


def numpy_t(x):
    """Nadeau and Bengio's test of ten splits, 90 % trained on."""
    variance = x.var(axis=-1, ddof=1)
    statistic = x.mean(axis=-1) / np.sqrt((1 / 10 + 1 / 9) * variance)
    return statistic, 2 * special.stdtr(9, -np.abs(statistic))


def numpy_f(x):
    within = ((x - x.mean(axis=-1, keepdims=True)) ** 2).sum(axis=(-2, -1))
    statistic = (x**2).sum(axis=(-2, -1)) / (2 * within)
    return statistic, special.fdtrc(10, 5, statistic)


@pytest.mark.benchmark(group="10^6 corrected resampled t tests of 10 splits")
class TestCorrected:
    def test_ours(self, benchmark, differences):
        sizes = {"n_train": 90, "n_test": 10}
        result = benchmark(fastcmp.fold_test, differences, "nadeau-bengio-t", **sizes)
        benchmark.extra_info["target"] = 1
        statistic, pvalue = numpy_t(differences[:1000])
        np.testing.assert_allclose(result.statistic[:1000], statistic, rtol=1e-9)
        np.testing.assert_allclose(result.pvalue[:1000], pvalue, rtol=1e-9)

    def test_numpy_on_all_rows(self, benchmark, differences):
        assert benchmark(numpy_t, differences)[1].max() <= 1


@pytest.mark.benchmark(group="10^6 combined 5 x 2 F tests")
class TestCombined:
    def test_ours(self, benchmark, differences):
        cuts = differences.reshape(-1, 5, 2)
        result = benchmark(fastcmp.fold_test, cuts, "alpaydin-f")
        benchmark.extra_info["target"] = 1
        statistic, pvalue = numpy_f(cuts[:1000])
        np.testing.assert_allclose(result.statistic[:1000], statistic, rtol=1e-9)
        np.testing.assert_allclose(result.pvalue[:1000], pvalue, rtol=1e-9)

    def test_numpy_on_all_rows(self, benchmark, differences):
        cuts = differences.reshape(-1, 5, 2)
        assert benchmark(numpy_f, cuts)[1].max() <= 1


@pytest.mark.benchmark(group="10^6 K-fold t tests, beside a loop over the rows")
class TestLoop:
    def test_ours(self, benchmark, differences):
        result = benchmark(fastcmp.fold_test, differences, "kfold-t")
        benchmark.extra_info["target"] = 100
        wanted = stats.ttest_1samp(differences[:100], 0, axis=-1).pvalue
        np.testing.assert_allclose(result.pvalue[:100], wanted, rtol=1e-9)

    def test_scipy_one_row_at_a_time(self, benchmark, differences):
        some = differences[:300]
        found = benchmark(lambda: [stats.ttest_1samp(x, 0).pvalue for x in some])
        benchmark.extra_info["times"] = len(differences) / len(some)
        assert max(found) <= 1

    def test_numpy_one_row_at_a_time(self, benchmark, differences):
        some = differences[:300]
        found = benchmark(lambda: [numpy_t(x)[1] for x in some])
        benchmark.extra_info["times"] = len(differences) / len(some)
        assert max(found) <= 1


@pytest.mark.benchmark(group="10^4 z tests over the folds of 1,000 samples")
class TestSamples:
    def test_ours(self, benchmark, size, rng):
        x = rng.integers(-1, 2, (size(10_000, 20), 1_000)).astype(float)
        result = benchmark(fastcmp.fold_test, x, "bayle-z", folds=np.arange(1_000) % 10)
        benchmark.extra_info["target"] = 1
        z = x.mean(axis=1) / x.std(axis=1) * np.sqrt(1_000)
        np.testing.assert_allclose(result.pvalue, 2 * special.ndtr(-np.abs(z)))

    def test_numpy_on_all_rows(self, benchmark, size, rng):
        x = rng.integers(-1, 2, (size(10_000, 20), 1_000)).astype(float)

        def on_all_rows():
            z = x.mean(axis=1) / x.std(axis=1) * np.sqrt(1_000)
            return 2 * special.ndtr(-np.abs(z))

        assert benchmark(on_all_rows).max() <= 1
