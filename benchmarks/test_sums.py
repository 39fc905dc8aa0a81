"""Metrics of sums over items, beside NumPy and sacrebleu."""

import numpy as np
import pytest

import fastcmp

DRAWS = 10_000


@pytest.fixture(scope="module")
def counts(size, rng):
    """True positives, false positives and misses of entities, by model and item."""
    n_models, n = size((100, 10_000), (5, 200))
    return rng.poisson(2.0, (n_models, n, 3)).astype(float)


@pytest.fixture(scope="module")
def bleu(size, rng):
    """Statistics of BLEU of segments by systems of different quality."""
    n_systems, n = size((10, 1_000), (3, 30))
    reference = rng.integers(8, 30, n)
    stats = []
    for k in range(n_systems):
        length = np.maximum(reference + rng.integers(-3, 4, n), 4)
        totals = length[:, None] - np.arange(4)
        matches = rng.binomial(totals, np.array([0.7, 0.5, 0.35, 0.25]) - 0.002 * k)
        stats.append(np.column_stack([length, reference, matches, totals]))
    return np.array(stats)


@pytest.mark.benchmark(group="entity F1, all pairs: 100 models x 10,000 items")
class TestRatios:
    def test_ours(self, benchmark, counts):
        found = benchmark(fastcmp.compare_sums, counts, metric="f1")
        benchmark.extra_info["target_note"] = "1.5 x one product, the record of 4,950 pairs aside"
        assert found.n_pairs == len(counts) * (len(counts) - 1) // 2

    def test_product(self, benchmark, counts):
        rows = np.ascontiguousarray(counts[:, :, 0])
        benchmark(lambda: (counts.sum(), rows @ rows.T))

    def test_jackknife_of_each_pair(self, benchmark, counts):
        def errors():
            totals = counts.sum(axis=1, keepdims=True) - counts
            left = 2 * totals[..., 0] / (2 * totals[..., 0] + totals[..., 1] + totals[..., 2])
            n = counts.shape[1]
            return [
                (n - 1) / n * ((d := a - b) - d.mean()) @ (d - d.mean())
                for i, a in enumerate(left)
                for b in left[i + 1 :]
            ]

        variances = benchmark.pedantic(errors, rounds=1)
        found = fastcmp.compare_sums(counts, metric="f1", method="jackknife")
        np.testing.assert_allclose(found.standard_error**2, variances, rtol=1e-8)


@pytest.mark.benchmark(group="swaps of BLEU, 10,000 draws, 45 pairs: 10 systems x 1,000 segments")
class TestSwaps:
    def test_ours(self, benchmark, bleu):
        options = {"metric": "bleu", "method": "permutation", "n_resamples": DRAWS, "rng": 1}
        found = benchmark(fastcmp.compare_sums, bleu, **options)
        benchmark.extra_info["target_note"] = "at least 50 x"
        assert (found.pvalue > 0).all()

    def test_sacrebleu(self, benchmark, bleu):
        """One pair, counted as all of them would be."""
        significance = pytest.importorskip("sacrebleu.significance")
        metrics = pytest.importorskip("sacrebleu.metrics")

        class Counted(metrics.BLEU):
            def _extract_corpus_statistics(self, hypotheses, _):
                return hypotheses.tolist()

        metric = Counted(references=[["a"] * len(bleu[0])])
        score = metric._aggregate_and_compute(bleu[0].tolist()).score
        base = {"BLEU": (bleu[0].astype("float32"), significance.Result(score))}
        test = significance._paired_ar_test
        arguments = (base, "b", bleu[1], None, {"BLEU": metric}, DRAWS, -1, 1)
        n_pairs = len(bleu) * (len(bleu) - 1) // 2

        def all_pairs():
            for _ in range(n_pairs):
                found = test(*arguments)
            return found

        theirs = benchmark.pedantic(all_pairs, rounds=1)[1]["BLEU"].p_value
        options = {"method": "permutation", "n_resamples": DRAWS, "rng": 1, "pairs": [(0, 1)]}
        ours = fastcmp.compare_sums(bleu, metric="bleu", **options).pvalue[0]
        assert abs(ours - theirs) < 0.03 + 0.5 * (len(bleu[0]) < 100)
