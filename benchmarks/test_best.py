"""Sets of ranks and of the best, beside loops in NumPy and honestboard."""

import numpy as np
import pytest
from scipy import optimize, stats

import fastcmp

DRAWS = 1000


EXACT = 12_000  # draws that are counted, for a level as exact as ours are


@pytest.fixture(scope="module")
def thirty(size, rng):
    """Which items each of 30 models got right."""
    n = size(1_000, 200)
    return (rng.random((30, n)) < rng.uniform(0.5, 0.8, 30)[:, None]).astype(np.uint8)


@pytest.fixture(scope="module")
def right(size, rng):
    """Which items each of many models of different ability got right."""
    n_models, n = size((500, 1_000), (20, 200))
    ability = rng.uniform(0.5, 0.8, n_models)
    return (rng.random((n_models, n)) < ability[:, None]).astype(np.uint8)


def spread(values):
    """Give means, their covariance, and standard errors of all differences."""
    n = values.shape[1]
    covariance = np.cov(values) / n
    own = np.diagonal(covariance)
    errors = np.sqrt(own[:, None] + own - 2.0 * covariance)
    np.fill_diagonal(errors, np.inf)
    return values.mean(axis=1), covariance, errors


def loop_ranks(values, rng, n_draws=DRAWS):
    """As csranks does: all ordered differences of each draw, step by step."""
    mean, covariance, errors = spread(values)
    left = np.isfinite(errors)
    shown = np.zeros_like(left)
    while True:
        draws = rng.multivariate_normal(mean * 0, covariance, n_draws, method="eigh")
        largest = [(np.subtract.outer(z, z)[left] / errors[left]).max() for z in draws]
        critical = np.quantile(largest, 0.95)
        new = left & ((mean[:, None] - mean) / errors > critical)
        shown |= new
        left &= ~new
        if not new.any():
            return 1 + shown.sum(axis=0), len(mean) - shown.sum(axis=1)


def loop_best(values, rng, n_draws=DRAWS):
    """Resample items; the largest difference of each model, draw by draw."""
    mean, _, errors = spread(values)
    n = values.shape[1]
    largest = np.empty((n_draws, len(mean)))
    for row in largest:
        z = values[:, rng.integers(0, n, n)].mean(axis=1) - mean
        row[:] = (np.subtract.outer(z, z) / errors).max(axis=1)
    critical = np.quantile(largest, 0.95, axis=0)
    errors[np.isinf(errors)] = 0.0
    return (mean[:, None] - mean + critical[:, None] * errors >= 0).all(axis=1)


@pytest.mark.benchmark(group="simultaneous sets of ranks: 500 models x 1,000 items")
class TestRanks:
    def test_ours(self, benchmark, right):
        sets = benchmark(fastcmp.rank_sets, right, n_resamples=DRAWS, rng=1)
        benchmark.extra_info["target_note"] = "at least 200 x"
        assert (sets.lower <= sets.rank).all()
        assert (sets.rank <= sets.upper).all()

    def test_loop(self, benchmark, right, rng):
        lower, upper = benchmark.pedantic(loop_ranks, (right, rng), rounds=1)
        sets = fastcmp.rank_sets(right, n_resamples=DRAWS, rng=1)
        assert np.abs(lower - sets.lower).mean() < 0.05 * len(right)
        assert np.abs(upper - sets.upper).mean() < 0.05 * len(right)


@pytest.mark.benchmark(group="comparison with the best: 500 models x 1,000 items")
class TestBest:
    def test_ours(self, benchmark, right):
        found = benchmark(fastcmp.best_set, right, n_resamples=DRAWS, rng=1)
        benchmark.extra_info["target_note"] = "at least 200 x"
        assert found.may_be_best[right.mean(axis=1).argmax()]

    def test_loop(self, benchmark, right, rng):
        best = benchmark.pedantic(loop_best, (right, rng), rounds=1)
        found = fastcmp.best_set(right, n_resamples=DRAWS, rng=1)
        assert np.count_nonzero(best != found.may_be_best) <= 0.05 * len(right)

    def test_honestboard(self, benchmark, right):
        core = pytest.importorskip("honestboard.core")
        board = core.Board([f"model_{i}" for i in range(len(right))], right)
        options = {"B": DRAWS}
        kept = benchmark.pedantic(board.confidence_set_best, kwargs=options, rounds=1)["members"]
        # Its critical value is the largest of all models': the set is larger.
        found = fastcmp.best_set(right, n_resamples=DRAWS, rng=1)
        assert len(set(found.best) - set(kept)) <= 2


def draws_of_winner(values, rng):
    """Andrews, Kitagawa and McCloskey's hybrid interval by SciPy, for estimates that are normal."""
    mean, covariance, _ = spread(values)
    k, sd = mean.argmax(), np.sqrt(np.diagonal(covariance))
    draws = rng.multivariate_normal(mean * 0, covariance, EXACT, method="eigh")
    critical = np.quantile(np.abs(draws / sd).max(axis=1), 0.995)
    slope = covariance[k] / covariance[k, k]
    with np.errstate(divide="ignore", invalid="ignore"):
        ends = mean[k] - (mean[k] - mean) / (1.0 - slope)
    low = np.delete(ends, k)[np.delete(slope, k) < 1.0].max()

    def beyond(centre, p):
        cut = max(low, centre - critical * sd[k])
        stop = centre + critical * sd[k]
        a, x, b = (stats.norm.sf((end - centre) / sd[k]) for end in (cut, mean[k], stop))
        return (x - b) / (a - b) - p

    reach = critical * sd[k]
    half = 0.5 * 0.045 / 0.995
    return [
        optimize.brentq(beyond, mean[k] - reach, mean[k] + 0.999 * reach, args=(p,))
        for p in (half, 0.5, 1.0 - half)
    ]


@pytest.mark.benchmark(group="simultaneous sets of ranks: 30 models x 1,000 items")
class TestRanksOfThirty:
    def test_ours(self, benchmark, thirty):
        benchmark(fastcmp.rank_sets, thirty, rng=1)

    def test_loop(self, benchmark, thirty, rng):
        lower, upper = benchmark.pedantic(loop_ranks, (thirty, rng, EXACT), rounds=1)
        sets = fastcmp.rank_sets(thirty, rng=1)
        assert np.abs(lower - sets.lower).mean() < 1.0
        assert np.abs(upper - sets.upper).mean() < 1.0


@pytest.mark.benchmark(group="comparison with the best: 30 models x 1,000 items")
class TestBestOfThirty:
    def test_ours(self, benchmark, thirty):
        benchmark(fastcmp.best_set, thirty, rng=1)

    def test_loop(self, benchmark, thirty, rng):
        best = benchmark.pedantic(loop_best, (thirty, rng, EXACT), rounds=1)
        assert np.count_nonzero(best != fastcmp.best_set(thirty, rng=1).may_be_best) <= 2


@pytest.mark.benchmark(group="estimate of the winner: 30 models x 1,000 items")
class TestWinnerOfThirty:
    def test_ours(self, benchmark, thirty):
        benchmark(fastcmp.winner_estimate, thirty, rng=1)

    def test_scipy(self, benchmark, thirty, rng):
        low, median, high = benchmark(draws_of_winner, thirty, rng)
        # Of 0 and 1 ours has the standard errors of the proportions that are tested.
        normal = fastcmp.Estimates(*spread(thirty)[:2])
        found = fastcmp.winner_estimate(normal, rng=1)
        ends = (found.interval.low, found.median, found.interval.high)
        assert (low, median, high) == pytest.approx(ends, abs=1e-3)
