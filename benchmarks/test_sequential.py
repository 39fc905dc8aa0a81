"""Looks at any time: all pairs beside their counting, e-values beside SciPy."""

import numpy as np
import pytest
from scipy.special import betaln

from fastcmp import kernels
from fastcmp.kernels.difference_evalues import BETS, DIRICHLET, anytime_difference_interval_many
from fastcmp.kernels.evalues import mcnemar_log_evalue_many
from fastcmp.sequential import PairLooks, mcnemar
from fastcmp.stream import PairCounts


@pytest.fixture(scope="module")
def blocks(many, size):
    """A hundred blocks of 1,000 models; the same ten over and over."""
    y_true, preds = many
    n = size(10_000, 500)
    cut = [slice(start, start + n) for start in range(0, y_true.size, n)]
    kept = [(y_true[rows], np.ascontiguousarray(preds[:, rows])) for rows in cut]
    return [kept[i % len(kept)] for i in range(size(100, 12))]


def count(blocks):
    counts = PairCounts()
    for block in blocks:
        counts.update(*block)
    return counts


@pytest.mark.benchmark(group="e-values of 1,000 models after each of 100 blocks")
class TestAllPairs:
    def test_ours(self, benchmark, blocks):
        def look():
            counts, state = PairCounts(), PairLooks()
            for block in blocks:
                result = state.look(counts.update(*block))
            return result

        result = benchmark.pedantic(look, rounds=3, warmup_rounds=1)
        benchmark.extra_info["target"] = 1.2
        benchmark.extra_info["target_note"] = "at most 1.2 x the counting alone"
        wanted = mcnemar(table=count(blocks)).log_evalue
        np.testing.assert_allclose(result.log_evalue, wanted, rtol=1e-9, atol=1e-9)

    def test_counting_alone(self, benchmark, blocks):
        counts = benchmark.pedantic(count, (blocks,), rounds=3, warmup_rounds=1)
        assert counts.n_samples == sum(len(block[0]) for block in blocks)


@pytest.fixture(scope="module")
def discordant(size, rng):
    n = size(1_000_000, 2000)
    return rng.binomial(20_000, 0.06, n), rng.binomial(20_000, 0.05, n)


@pytest.mark.benchmark(group="10^6 e-values of McNemar's test")
class TestEvalues:
    def test_ours(self, benchmark, discordant):
        out = np.empty(discordant[0].size)
        options = ((0.5, 0.5), kernels.TWO_SIDED, out)
        benchmark(mcnemar_log_evalue_many, *discordant, *options)
        np.testing.assert_allclose(out, by_scipy(*discordant), rtol=1e-8, atol=1e-8)

    def test_scipy(self, benchmark, discordant):
        benchmark(by_scipy, *discordant)


def by_scipy(b, c):
    return (b + c) * np.log(2) + betaln(b + 0.5, c + 0.5) - np.log(np.pi)


@pytest.mark.benchmark(group="10,000 confidence intervals valid at every look")
class TestIntervals:
    @pytest.mark.parametrize("method", ["bets", "dirichlet"])
    def test_ours(self, benchmark, discordant, method):
        b, c = (np.ascontiguousarray(x[:10_000]) for x in discordant)
        n, (low, high) = np.full(b.size, 20_000), np.empty((2, b.size))
        code = {"bets": BETS, "dirichlet": DIRICHLET}[method]
        options = (code, 0.95, (0.5, 0.5, 0.5))
        many = anytime_difference_interval_many
        benchmark(many, b, c, n, options, low, high)
        assert (low < (b - c) / n).all()
        assert (high > (b - c) / n).all()
