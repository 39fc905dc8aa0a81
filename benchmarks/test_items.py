"""Values per item: means of two models and of all pairs, beside NumPy and SciPy."""

import subprocess
import sys

import numpy as np
import pytest
from scipy import stats

import fastcmp


@pytest.fixture(scope="module")
def table(size, rng):
    """Losses of many models on items that are hard for all."""
    n_models, n = size((1_000, 100_000), (12, 5_000))
    values = rng.normal(size=n) + rng.normal(0.2, 1.0, (n_models, n))
    return values + np.linspace(0, 0.2, n_models)[:, None]


def first_pair(values, **options):
    return fastcmp.mean_difference(values[0], values[1], rng=1, **options)


ALL = "all pairs of means, t, Holm, intervals"


@pytest.mark.benchmark(group=f"{ALL}: 1,000 models x 100,000 items")
class TestAllPairs:
    def test_ours(self, benchmark, table):
        result = benchmark(fastcmp.compare_means, table)
        benchmark.extra_info["target_note"] = "at least 0.77 x"
        alone = first_pair(table)
        assert np.isclose(result.pvalue[0], alone.pvalue, rtol=1e-8)

    def test_one_product(self, benchmark, table):
        gram = benchmark(lambda: table @ table.T)
        d = table[0] - table[1]
        squares = gram[0, 0] + gram[1, 1] - 2 * gram[0, 1]
        assert np.isclose(squares, d @ d)


@pytest.mark.benchmark(group=f"{ALL}: 1,000 models x 100,000 items, 0/1 values")
class TestZeroOne:
    def test_ours(self, benchmark, table):
        right = table < 0.5
        result = benchmark(fastcmp.compare_means, right)
        benchmark.extra_info["target_note"] = "at least 0.33 x"
        assert np.isclose(result.pvalue[0], first_pair(right).pvalue)

    def test_compare_all(self, benchmark, table):
        right = table < 0.5
        truth = np.ones(right.shape[1], bool)
        result = benchmark(fastcmp.compare_all, truth, right)
        assert np.isclose(result.score[0], right[0].mean())


@pytest.fixture(scope="module")
def layout(size, table):
    """Options for clusters, and for strata."""
    n, (clusters, strata) = table.shape[1], size((10_000, 20), (500, 4))
    rng = np.random.default_rng(1)
    return {
        "groups": {"groups": rng.integers(0, clusters, n)},
        "strata": {"strata": rng.integers(0, strata, n), "stratum_weights": "equal"},
    }


@pytest.mark.benchmark(group=f"{ALL}: the same, 10,000 clusters")
class TestClusters:
    def test_ours(self, benchmark, table, layout):
        result = benchmark(fastcmp.compare_means, table, **layout["groups"])
        benchmark.extra_info["target_note"] = "at least 0.83 x"
        alone = first_pair(table, **layout["groups"])
        assert np.isclose(result.pvalue[0], alone.pvalue, rtol=1e-8)

    def test_without(self, benchmark, table):
        assert benchmark(fastcmp.compare_means, table).n_clusters is None


@pytest.mark.benchmark(group=f"{ALL}: the same, 20 strata")
class TestStrata:
    def test_ours(self, benchmark, table, layout):
        result = benchmark(fastcmp.compare_means, table, **layout["strata"])
        benchmark.extra_info["target_note"] = "at least 0.83 x"
        alone = first_pair(table, **layout["strata"])
        assert np.isclose(result.pvalue[0], alone.pvalue, rtol=1e-8)

    def test_without(self, benchmark, table):
        assert benchmark(fastcmp.compare_means, table).n_strata is None


@pytest.fixture(scope="module")
def pair(size, rng):
    return rng.normal(size=(2, size(1_000_000, 10_000)))


@pytest.mark.benchmark(group="two means, t, 1,000,000 items")
class TestOnePair:
    def test_ours(self, benchmark, pair):
        result = benchmark(fastcmp.mean_difference, *pair)
        benchmark.extra_info["target_note"] = "at least 0.5 x"
        assert np.isclose(result.pvalue, stats.ttest_rel(*pair).pvalue)

    def test_mean_and_variance_by_numpy(self, benchmark, pair):
        a, b = pair

        def moments():
            d = a - b
            return d.mean(), d.var(ddof=1)

        mean, _ = benchmark(moments)
        assert np.isclose(mean, fastcmp.mean_difference(a, b).difference)

    def test_ttest_rel(self, benchmark, pair):
        assert benchmark(stats.ttest_rel, *pair).pvalue <= 1


# Resampling.


@pytest.fixture(scope="module")
def few(size, rng):
    """Grades of twenty models on 500 items, and how often these are drawn."""
    n_models, n, draws = size((20, 500, 10_000), (4, 60, 99))
    return rng.normal(size=n) + rng.normal(size=(n_models, n)), draws


@pytest.mark.benchmark(group="all pairs, bootstrap: 20 models x 500 items, 10,000 draws")
class TestBootstrap:
    def test_ours(self, benchmark, few):
        values, draws = few
        result = benchmark(
            fastcmp.compare_means,
            values,
            method="bootstrap",
            interval="percentile",
            n_resamples=draws,
            rng=1,
        )
        benchmark.extra_info["target"] = 200
        d = values[0] - values[1]
        assert result.interval[0][0] < d.mean() < result.interval[0][1]
        spread = d.std() / d.size**0.5
        assert np.isclose(np.ptp(result.interval[0]) / 3.92 / spread, 1, atol=0.15)

    def test_numpy_loop_over_draws(self, benchmark, few):
        """Draw by draw, as it is usually written; one of the pairs."""
        values, draws = few
        d, rng = values[0] - values[1], np.random.default_rng(1)

        def loop():
            means = [rng.choice(d, d.size).mean() for _ in range(draws)]
            return np.percentile(means, [2.5, 97.5])

        low, high = benchmark(loop)
        benchmark.extra_info["times"] = len(values) * (len(values) - 1) / 2
        assert low < d.mean() < high


@pytest.fixture(scope="module")
def values(size, rng):
    n_models, n = size((100, 10_000), (5, 200))
    return rng.normal(size=(n_models, n))


@pytest.mark.benchmark(group="all pairs, sign flips: 100 models x 10,000 items, 10,000")
class TestFlips:
    def test_ours(self, benchmark, values, size):
        flips = size(9_999, 99)
        given = {"method": "permutation", "n_resamples": flips, "rng": 1}
        result = benchmark(fastcmp.compare_means, values, **given)
        benchmark.extra_info["target_note"] = "at least 0.5 x"
        t = fastcmp.compare_means(values)
        assert np.abs(result.pvalue - t.pvalue).max() < 5 / flips**0.5

    def test_product_with_signs(self, benchmark, values, size):
        signs = np.where(
            np.random.default_rng(1).random((values.shape[1], size(9_999, 99))) < 0.5, -1.0, 1.0
        )
        sums = benchmark(lambda: values @ signs)
        assert sums.shape == (len(values), signs.shape[1])


# SciPy on the same work.


@pytest.fixture(scope="module")
def hundred(size, rng):
    n_models, n = size((100, 1_000), (4, 50))
    return rng.normal(size=n) + rng.normal(size=(n_models, n))


def all_of(values, test):
    """P-values of all pairs, one after the other."""
    i, j = np.triu_indices(len(values), 1)
    return np.array([test(values[a], values[b]) for a, b in zip(i, j, strict=True)])


@pytest.mark.benchmark(group="all pairs, t: 100 models x 1,000 items")
class TestAllPairsByT:
    def test_ours(self, benchmark, hundred):
        result = benchmark(fastcmp.compare_means, hundred)
        benchmark.extra_info["target"] = 20
        alone = stats.ttest_rel(hundred[0], hundred[1])
        assert np.isclose(result.pvalue[0], alone.pvalue)

    def test_ttest_rel(self, benchmark, hundred):
        pvalues = benchmark.pedantic(
            all_of, (hundred, lambda a, b: stats.ttest_rel(a, b).pvalue), rounds=3
        )
        assert pvalues.size == len(hundred) * (len(hundred) - 1) / 2


@pytest.mark.benchmark(group="all pairs, Wilcoxon: 100 models x 1,000 items")
class TestAllPairsByWilcoxon:
    def test_ours(self, benchmark, hundred):
        result = benchmark(fastcmp.compare_means, hundred, method="wilcoxon")
        benchmark.extra_info["target"] = 20
        alone = stats.wilcoxon(hundred[0], hundred[1], method="auto")
        assert np.isclose(result.pvalue[0], alone.pvalue)

    def test_wilcoxon(self, benchmark, hundred):
        pvalues = benchmark.pedantic(
            all_of, (hundred, lambda a, b: stats.wilcoxon(a, b).pvalue), rounds=3
        )
        assert pvalues.max() <= 1


def mean_of(d, axis):
    return d.mean(axis=axis)


def flipped(a, b, draws):
    return stats.permutation_test(
        (a - b,),
        mean_of,
        permutation_type="samples",
        n_resamples=draws,
        vectorized=True,
        rng=np.random.default_rng(1),
    ).pvalue


@pytest.mark.benchmark(group="all pairs, sign flips: 100 models x 1,000 items, 999")
class TestAllPairsByFlips:
    def test_ours(self, benchmark, hundred, size):
        given = {"method": "permutation", "n_resamples": size(999, 99), "rng": 1}
        result = benchmark(fastcmp.compare_means, hundred, **given)
        benchmark.extra_info["target"] = 20
        assert abs(result.pvalue[0] - flipped(*hundred[:2], 999)) < 0.15

    def test_permutation_test(self, benchmark, hundred, size):
        """One of the pairs."""
        draws = size(999, 99)
        pvalue = benchmark(flipped, hundred[0], hundred[1], draws)
        benchmark.extra_info["times"] = len(hundred) * (len(hundred) - 1) / 2
        assert 0 < pvalue <= 1


@pytest.mark.benchmark(group="two models, t, 1,000 items")
class TestPairByT:
    def test_ours(self, benchmark, hundred):
        result = benchmark(fastcmp.mean_difference, hundred[0], hundred[1])
        benchmark.extra_info["target"] = 1
        assert result.pvalue <= 1

    def test_ttest_rel(self, benchmark, hundred):
        found = benchmark(stats.ttest_rel, hundred[0], hundred[1])
        assert np.isclose(found.pvalue, first_pair(hundred).pvalue)


@pytest.mark.benchmark(group="two models, Wilcoxon, 1,000 items")
class TestPairByWilcoxon:
    def test_ours(self, benchmark, hundred):
        result = benchmark(fastcmp.signed_rank, hundred[0], hundred[1])
        benchmark.extra_info["target"] = 1
        assert np.isclose(result.pvalue, stats.wilcoxon(*hundred[:2]).pvalue)

    def test_wilcoxon(self, benchmark, hundred):
        assert benchmark(stats.wilcoxon, hundred[0], hundred[1]).pvalue <= 1


@pytest.mark.benchmark(group="two models, 9,999 sign flips, 1,000 items")
class TestPairByFlips:
    def test_ours(self, benchmark, hundred, size):
        given = {"method": "permutation", "n_resamples": size(9_999, 99), "rng": 1}
        result = benchmark(fastcmp.mean_difference, hundred[0], hundred[1], **given)
        benchmark.extra_info["target"] = 1
        assert result.n_resamples in (0, given["n_resamples"])

    def test_permutation_test(self, benchmark, hundred, size):
        pvalue = benchmark(flipped, hundred[0], hundred[1], size(9_999, 99))
        ours = first_pair(hundred, method="permutation").pvalue
        assert abs(pvalue - ours) < 0.15


# Memory.

PEAK = """
import resource, sys
import numpy as np, fastcmp

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

m, n = int(sys.argv[1]), int(sys.argv[2])
rng = np.random.default_rng(1)
small = rng.random((3, 2_000), np.float32)
fastcmp.compare_means(small)  # compiled, and what is imported late
values = np.empty((m, n), np.float32)
for row in values:
    rng.random(out=row, dtype=np.float32)
before = peak()
result = fastcmp.compare_means(values)
d = values[0].astype(float) - values[1]
assert np.isclose(result.standard_error[0], d.std(ddof=1) / n**0.5)
print(values.nbytes / 2**20, before, peak())
"""


@pytest.mark.full
def test_memory_of_a_large_table(size):
    """The input and a fifth of it, for 1,000 models on 1,000,000 items."""
    m, n = size((1_000, 1_000_000), (40, 100_000))
    command = [sys.executable, "-c", PEAK, str(m), str(n)]
    found = subprocess.run(command, check=True, capture_output=True, text=True)
    input_size, before, after = map(float, found.stdout.split())
    print(f"input {input_size:.0f} MB, before {before:.0f}, peak {after:.0f} MB")
    fixed = size(0, 100)  # blocks and tables of pairs, whatever the input
    assert after - before <= 0.2 * input_size + fixed
