"""McNemar's test: one pair of a million samples, and a million pairs of counts."""

import warnings

import numpy as np
import pytest
from scipy import special

import fastcmp


@pytest.fixture(scope="module")
def pair(size, rng):
    n = size(1_000_000, 10_000)
    y_true = rng.integers(0, 10, n).astype(np.uint8)
    preds = [np.where(rng.random(n) < 0.2, 10, y_true).astype(np.uint8) for _ in "ab"]
    return y_true, *preds


def by_hand(y_true, pred_a, pred_b):
    """The two discordant counts in as few NumPy passes as we know."""
    a, b = pred_a == y_true, pred_b == y_true
    both = np.count_nonzero(a & b)
    return np.count_nonzero(a) - both, np.count_nonzero(b) - both


@pytest.mark.benchmark(group="one pair, n = 10^6 uint8, whole call")
class TestOnePair:
    def test_ours(self, benchmark, pair):
        result = benchmark(fastcmp.mcnemar, *pair)
        benchmark.extra_info["target"] = 1
        assert (result.only_a, result.only_b) == by_hand(*pair)

    def test_numpy_counts_only(self, benchmark, pair):
        only_a, only_b = benchmark(by_hand, *pair)
        assert only_a > 0 < only_b


@pytest.fixture(scope="module")
def counts(size, rng):
    n = size(1_000_000, 1_000)
    rate = np.exp(rng.uniform(np.log(5), np.log(5000), n))
    return rng.poisson(rate), rng.poisson(rate * rng.uniform(0.7, 1.0, n))


@pytest.mark.benchmark(group="10^6 mid-p values from counts, one thread")
class TestMidP:
    def test_ours(self, benchmark, counts):
        result = benchmark(fastcmp.mcnemar, only_a=counts[0], only_b=counts[1])
        benchmark.extra_info["target"] = 1
        low, total = np.minimum(*counts), np.add(*counts)
        both = total > 0
        low, total = low[both], total[both]
        cdf = special.bdtr(low, total, 0.5)
        below = np.where(low > 0, special.bdtr(np.maximum(low - 1, 0), total, 0.5), 0)
        expected = np.minimum(cdf + below, 1)
        np.testing.assert_allclose(result.pvalue[both], expected, rtol=1e-9)

    def test_scipy_bdtr_one_call(self, benchmark, counts):
        low, total = np.minimum(*counts), np.add(*counts)
        cdf = benchmark(special.bdtr, low, total, 0.5)
        assert cdf.max() <= 1


@pytest.mark.benchmark(group="10^6 exact p-values from counts, beside a loop")
class TestLoop:
    def test_ours(self, benchmark, counts):
        result = benchmark(fastcmp.mcnemar, only_a=counts[0], only_b=counts[1], method="exact")
        benchmark.extra_info["target"] = 200
        assert result.pvalue.max() == 1

    def test_statsmodels(self, benchmark, counts):
        from statsmodels.stats.contingency_tables import mcnemar

        n = min(300, counts[0].size)
        tables = [[[0, a], [b, 0]] for a, b in zip(*counts, strict=True)][:n]

        def loop():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return [mcnemar(table, exact=True).pvalue for table in tables]

        expected = benchmark(loop)
        benchmark.extra_info["times"] = counts[0].size / n
        ours = fastcmp.mcnemar(only_a=counts[0][:n], only_b=counts[1][:n], method="exact")
        some = np.add(*counts)[:n] > 0
        np.testing.assert_allclose(ours.pvalue[some], np.array(expected)[some], rtol=1e-9)
