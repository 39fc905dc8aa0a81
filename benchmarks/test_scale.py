"""Ten thousand models, beside a float32 product that only counts."""

import numpy as np
import pytest

import fastcmp
from fastcmp import kernels
from fastcmp.core.threads import ThreadPool
from fastcmp.counts.pairs import RightBits
from fastcmp.inputs.labels import encode
from fastcmp.kernels.bits import allocate_words
from fastcmp.pairwise.accuracy_tests import accuracy_tests
from fastcmp.pairwise.engine import read_options, run_tests

_OPTIONS = read_options("mcnemar", "midp", keep=20)


@pytest.fixture(scope="module")
def leaderboard(size, rng):
    """Labels of models from 60 to 90 % right, which find the same samples hard."""
    n_models, n = size((10_000, 100_000), (80, 3_000))
    hard = rng.random(n, dtype=np.float32)
    skill = rng.uniform(0.6, 0.9, n_models)
    preds = np.empty((n_models, n), np.uint8)
    for row, share in zip(preds, skill, strict=True):
        row[:] = 0.5 * (hard + rng.random(n, dtype=np.float32)) > share
    return np.zeros(n, np.uint8), preds


@pytest.mark.benchmark(group="10,000 models, packed bits to adjusted mid-p, 20 kept")
class TestTenThousand:
    def test_ours(self, benchmark, leaderboard):
        y_true, preds = leaderboard
        labels = encode(y_true, preds)
        with ThreadPool(2) as pool:
            bits = RightBits.pack(labels, pool)
            tests = accuracy_tests(bits, labels.n_samples, "midp", 0.95)
            kept = benchmark(run_tests, tests, None, labels.names, _OPTIONS, pool)
        benchmark.extra_info["target"] = 8
        best = np.argsort(-tests.score, kind="stable")[:2]
        a, b = np.sort(best)
        alone = fastcmp.mcnemar(y_true, preds[a], preds[b])
        first = kept.pairs.tolist().index([a, b])
        assert kept.columns.pvalue[first] == alone.pvalue

    def test_float32_product(self, benchmark, leaderboard):
        y_true, preds = leaderboard
        part = preds[: len(preds) // 5]
        correct = (part == y_true).astype(np.float32)
        both = benchmark(lambda: correct @ correct.T)
        benchmark.extra_info["times"] = (len(preds) / len(part)) ** 2
        words = allocate_words(2, y_true.size)
        for row, codes in zip(words, part[:2], strict=False):
            kernels.pack_equal(y_true, codes, row)
        assert both[0, 1] == kernels.count_common_bits(words[0], words[1])


@pytest.mark.benchmark(group="10,000 models, labels to a record, 20 kept")
def test_labels_to_record(benchmark, leaderboard):
    result = benchmark(fastcmp.compare_all, *leaderboard, keep=20)
    assert result.n_significant > 0
