"""Models within slices, and Pareto dominance, beside one comparison and loops over SciPy."""

import numpy as np
import pytest
from scipy import stats

import fastcmp


@pytest.fixture(scope="module")
def items(size, rng):
    """Which items 50 models got right, and 50 slices that overlap."""
    n_models, n_slices, n = size((50, 50, 100_000), (4, 3, 400))
    ability = rng.uniform(0.6, 0.8, (n_models, 1))
    right = (rng.random((n_models, n)) < ability).astype(np.uint8)
    return right, rng.random((n_slices, n)) < rng.uniform(0.05, 0.6, (n_slices, 1))


def loop(right, masks, n_pairs):
    """The paired t test of some pairs in each slice."""
    right = right.astype(float)
    pairs = np.argwhere(np.tri(len(right), k=-1, dtype=bool).T)[:n_pairs]
    return np.array(
        [
            [stats.ttest_rel(right[i, mask], right[j, mask]).pvalue for mask in masks]
            for i, j in pairs
        ]
    )


@pytest.mark.benchmark(group="50 slices of 50 models on 100,000 items")
class TestSlices:
    def test_ours(self, benchmark, items):
        result = benchmark(fastcmp.compare_slices, *items)
        benchmark.extra_info["target_note"] = "at most 50 comparisons without slices"
        wanted = loop(*items, 2)
        np.testing.assert_allclose(result.pvalue[:2], wanted, rtol=1e-7, atol=1e-300)

    def test_one_comparison_without_slices(self, benchmark, items):
        result = benchmark(fastcmp.compare_means, items[0])
        assert len(result.pvalue) == len(items[0]) * (len(items[0]) - 1) // 2

    def test_a_loop_over_scipy_for_one_pair(self, benchmark, items):
        assert benchmark(loop, *items, 1).shape == (1, len(items[1]))


@pytest.mark.benchmark(group="accuracy against known prices: 50 models on 100,000 items")
class TestPareto:
    def test_ours(self, benchmark, items):
        right = items[0]
        criteria = {"accuracy": right, "price": fastcmp.exact(np.arange(len(right)) + 1.0)}
        result = benchmark(fastcmp.pareto_set, criteria, lower_is_better=["price"])
        i, j = result.pairs[0]
        a, b = right[[i, j]].astype(float)
        wanted = stats.ttest_rel(a, b, alternative="greater").pvalue
        np.testing.assert_allclose(result.pvalue_better[0, 0], wanted, rtol=1e-7)

    def test_a_loop_over_scipy_for_one_model(self, benchmark, items):
        right = items[0].astype(float)

        def one():
            return [
                stats.ttest_rel(right[0], other, alternative="greater").pvalue
                for other in right[1:]
            ]

        assert len(benchmark(one)) == len(right) - 1
