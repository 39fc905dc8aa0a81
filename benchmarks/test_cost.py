"""Tri-label counts beside np.bincount; cost-sensitive tests beside SciPy's solvers."""

import numpy as np
import pytest
from scipy import optimize

import fastcmp
from fastcmp import kernels


def predictions(rng, n, k, dtype=np.uint8):
    """True labels and two models that are each right on 80 % of the samples."""
    y_true = rng.integers(0, k, n).astype(dtype)
    wrong = [rng.random(n, dtype=np.float32) < 0.2 for _ in "ab"]
    other = rng.integers(0, k, n).astype(dtype)
    return y_true, *(np.where(w, other, y_true).astype(dtype) for w in wrong)


@pytest.fixture(scope="module", params=[2, 3, 10, 30])
def labels(request, size, rng):
    k = request.param
    columns = predictions(rng, size(10_000_000, 10_000), k)
    t, a, b = (column.astype(np.int64) for column in columns)
    return k, columns, (t * k + a) * k + b


@pytest.mark.benchmark(min_rounds=3)
class TestCounts:
    def test_ours(self, benchmark, labels):
        k, columns, cells = labels
        benchmark.group = f"tri-label counts of 10^7 uint8, K = {k}, one core"
        benchmark.extra_info["target"] = 5 if k == 30 else 8
        benchmark.extra_info["samples"] = columns[0].size

        def count():
            counts = np.zeros((k, k, k), np.int64)
            kernels.count_labels(*columns, counts)
            return counts

        counts = benchmark(count)
        np.testing.assert_array_equal(counts.ravel(), np.bincount(cells, minlength=k**3))

    def test_numpy_ravel_and_bincount(self, benchmark, labels):
        k, (y_true, a, b), _ = labels
        benchmark.group = f"tri-label counts of 10^7 uint8, K = {k}, one core"

        def count():
            cells = (y_true.astype(np.int64) * k + a) * k + b
            return np.bincount(cells, minlength=k**3)

        assert benchmark(count).sum() == y_true.size

    def test_numpy_bincount_alone(self, benchmark, labels):
        k, columns, cells = labels
        benchmark.group = f"tri-label counts of 10^7 uint8, K = {k}, one core"
        counts = benchmark(np.bincount, cells, minlength=k**3)
        assert counts.sum() == columns[0].size


@pytest.fixture(scope="module")
def ten_classes(size, rng):
    return predictions(rng, size(10_000_000, 10_000), 10)


@pytest.mark.benchmark(group="tri-label counts of 10^7 uint8, K = 10, whole call")
class TestThreads:
    def test_two_threads(self, benchmark, ten_classes):
        benchmark.extra_info["target"] = 1.8
        counts = benchmark(fastcmp.count_labels, *ten_classes, workers=2)
        assert counts.n_samples == ten_classes[0].size

    def test_one_thread(self, benchmark, ten_classes):
        counts = benchmark(fastcmp.count_labels, *ten_classes, workers=1)
        assert counts.n_samples == ten_classes[0].size


COST = np.array([[0.0, 1.0, 2.0], [1.0, 0.0, 3.0], [4.0, 2.0, 0.0]])
DIFFERENCES = (COST[:, :, None] - COST[:, None, :]).ravel()


@pytest.fixture(scope="module")
def tables(size, rng):
    right = np.einsum("ta,tb->tab", *(np.eye(3) + 0.1 for _ in "ab")) / 3
    shares = (right / right.sum()).ravel()
    n = size(100_000, 1_000)
    return rng.multinomial(300, shares, n).reshape(n, 3, 3, 3)


def likelihood_by_brentq(table):
    """The same statistic by SciPy's root finder on the folded list."""
    weights = table.ravel().astype(float)
    used = (weights > 0) & (DIFFERENCES != 0)
    d, w = DIFFERENCES[used], weights[used]

    def slope(m):
        return (w * d / (1 + m * d)).sum()

    end = 1 / COST.max()
    low, high = -end * (1 - 1e-12), end * (1 - 1e-12)
    if slope(low) <= 0 or slope(high) >= 0:
        m = -end if slope(low) <= 0 else end
    else:
        m = optimize.brentq(slope, low, high, xtol=1e-15, rtol=1e-14)
    return 2 * (w * np.log1p(m * d)).sum()


@pytest.mark.benchmark(group="10^5 likelihood ratio tests of K = 3 tables, one thread")
class TestLikelihood:
    def test_ours(self, benchmark, tables):
        benchmark.extra_info["target"] = 200
        result = benchmark(fastcmp.cost_test, counts=tables, cost=COST)
        expected = [likelihood_by_brentq(table) for table in tables[:50]]
        np.testing.assert_allclose(result.statistic[:50], expected, rtol=1e-8)

    def test_scipy_brentq(self, benchmark, tables):
        n = min(300, len(tables))
        found = benchmark(lambda: [likelihood_by_brentq(t) for t in tables[:n]])
        benchmark.extra_info["times"] = len(tables) / n
        assert min(found) > -1e-9


def chi_square_by_qp(table):
    """The same statistic as a quadratic programme in the fitted counts."""
    counts = table.ravel() + 1.0
    unequal = DIFFERENCES != 0
    d, m = DIFFERENCES[unequal], counts[unequal]
    fit = optimize.minimize(
        lambda x: ((m - x) ** 2 / m).sum(),
        m,
        jac=lambda x: 2 * (x - m) / m,
        method="SLSQP",
        constraints={"type": "eq", "fun": lambda x: x @ d, "jac": lambda _: d},
        options={"ftol": 1e-13},
    )
    return fit.fun


@pytest.mark.benchmark(group="10^5 chi-square tests of K = 3 tables, one thread")
class TestChiSquare:
    def test_ours(self, benchmark, tables):
        benchmark.extra_info["target"] = 500
        result = benchmark(fastcmp.cost_test, counts=tables, cost=COST, method="chi-square")
        expected = [chi_square_by_qp(table) for table in tables[:20]]
        np.testing.assert_allclose(result.statistic[:20], expected, atol=1e-8)

    def test_scipy_slsqp(self, benchmark, tables):
        n = min(100, len(tables))
        found = benchmark(lambda: [chi_square_by_qp(table) for table in tables[:n]])
        benchmark.extra_info["times"] = len(tables) / n
        assert min(found) >= 0


@pytest.mark.benchmark(group="one cost-sensitive test, n = 10^6, K = 10, from labels")
class TestOneTest:
    def test_ours(self, benchmark, size, ten_classes):
        columns = [x[: size(1_000_000, 10_000)] for x in ten_classes]
        cost = np.random.default_rng(1).random((10, 10))
        np.fill_diagonal(cost, 0)
        benchmark.extra_info["target_note"] = "0.67 x"
        result = benchmark(fastcmp.cost_test, *columns, cost)
        assert 0 <= result.pvalue <= 1

    def test_the_counting_alone(self, benchmark, size, ten_classes):
        columns = [x[: size(1_000_000, 10_000)] for x in ten_classes]
        counts = np.zeros((10, 10, 10), np.int64)
        benchmark(kernels.count_labels, *columns, counts)
        assert counts.sum() % columns[0].size == 0


@pytest.mark.benchmark(group="one cost-sensitive test, n = 10^6, K = 1,000, from int64 labels")
class TestManyClasses:
    def test_ours(self, benchmark, size, rng):
        n, k = size((1_000_000, 1000), (20_000, 200))
        columns = predictions(rng, n, k, np.int64)
        cost = rng.random((k, k))
        np.fill_diagonal(cost, 0)
        benchmark.extra_info["target_note"] = "1 s"
        result = benchmark(fastcmp.cost_test, *columns, cost)
        assert 0 <= result.pvalue <= 1
