"""All pairs of models adjusted together, beside the same draws in a NumPy loop."""

import numpy as np
import pytest

import fastcmp
from fastcmp.core.threads import ThreadPool
from fastcmp.counts.pairs import RightBits
from fastcmp.inputs.labels import encode
from fastcmp.kernels.bits import allocate_words, cross_counts
from fastcmp.kernels.sign_flips import random_signs

FLIPS = 1000


@pytest.fixture(scope="module")
def flips(size):
    return size(FLIPS, 99)


@pytest.fixture(scope="module")
def adjusted(many, flips):
    return fastcmp.compare_all(*many, adjust="maxt", n_resamples=flips, rng=1)


def loop(right, n_flips):
    """Adjust by definition, draw by draw."""
    n_models, n = right.shape
    i, j = np.triu_indices(n_models, 1)
    total = right.sum(axis=1, dtype=np.float64)
    gram = right @ right.T
    discordant = total[i] + total[j] - 2.0 * gram[i, j]
    inverse = 1 / np.sqrt(np.maximum(discordant, 1.0))
    z = np.abs(total[i] - total[j]) * inverse
    order = np.argsort(z)
    i, j, inverse, z = i[order], j[order], inverse[order], z[order]
    counts = np.zeros(z.size)
    rng = np.random.default_rng(1)
    for _ in range(n_flips):
        signs = rng.integers(0, 2, n).astype(right.dtype) * 2 - 1
        drawn = (right @ signs).astype(np.float64)
        counts += np.maximum.accumulate(np.abs(drawn[i] - drawn[j]) * inverse) >= z
    found = np.empty(z.size)
    found[order] = np.maximum.accumulate(counts[::-1])[::-1]
    return (found + 1) / (n_flips + 1)


@pytest.mark.benchmark(group="max-T of all pairs of 1,000 models, 100,000 samples, 1,000 flips")
class TestMaxT:
    def test_ours(self, benchmark, many, flips, adjusted):
        options = {"adjust": "maxt", "n_resamples": flips, "rng": 1}
        result = benchmark(fastcmp.compare_all, *many, **options)
        benchmark.extra_info["target_note"] = "at most 30 s"
        assert result == adjusted

    def test_without_adjustment_by_draws(self, benchmark, many):
        assert benchmark(fastcmp.compare_all, *many).adjust == "holm"

    def test_product_of_bits_alone(self, benchmark, many, flips):
        y_true, preds = many
        with ThreadPool(1) as pool:
            bits = RightBits.pack(encode(y_true, preds), pool)
        words = bits.words.shape[1]
        signs, rows = (np.empty((words, flips), np.uint64), allocate_words(flips, 64 * words))
        random_signs(1, 0, 0, signs)
        rows[:flips] = signs.T
        counts = np.empty((len(bits.words), len(rows)), np.int64)
        benchmark(cross_counts, bits.words, rows, counts)
        assert counts[0, 0] == np.bitwise_count(bits.words[0] & rows[0]).sum()

    def test_numpy_loop(self, benchmark, many, flips, adjusted):
        y_true, preds = many
        right = (preds == y_true).astype(np.float32)
        found = benchmark.pedantic(loop, (right, flips), rounds=1)
        near = 0.15 if flips < FLIPS else 0.06
        wanted = adjusted.pvalue_adjusted
        assert np.mean(np.abs(found - wanted) <= near) > 0.99


@pytest.mark.benchmark(group="simultaneous intervals of all pairs of 1,000 models")
class TestIntervals:
    def test_ours(self, benchmark, many, flips):
        result = benchmark(fastcmp.compare_all, *many, simultaneous=True, n_resamples=flips, rng=1)
        assert 2 < result.critical_value < 6


@pytest.mark.benchmark(group="Shaffer's adjustment, pairs of 1,000 models")
class TestShaffer:
    def test_ours(self, benchmark, size, rng):
        m = size(1000, 50)
        pvalues = rng.random(m * (m - 1) // 2) ** 3
        shaffer = benchmark(fastcmp.adjust, pvalues, method="shaffer")
        assert (shaffer <= fastcmp.adjust(pvalues)).all()

    def test_holm(self, benchmark, size, rng):
        m = size(1000, 50)
        pvalues = rng.random(m * (m - 1) // 2) ** 3
        assert benchmark(fastcmp.adjust, pvalues).max() <= 1
