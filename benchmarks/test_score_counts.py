"""AUC in constant memory, beside sorting all scores."""

import numpy as np
import pytest

import fastcmp
from fastcmp.stream import ScoreCounts, ScoreMap


def gaussian(n, rng, dtype):
    y_true = rng.integers(0, 2, n, np.uint8)
    scores = np.empty(n, dtype)
    for start in range(0, n, 1 << 22):  # in parts: all at once would take 8 bytes each
        part = slice(start, start + (1 << 22))
        scores[part] = rng.standard_normal(y_true[part].size, np.float32) + y_true[part]
    return y_true, scores


@pytest.fixture(scope="module", params=["float32", "float64"])
def blocks(request, size, rng):
    """Draw 10^8 float32 scores, or a tenth of them in float64."""
    n = size(10**8 if request.param == "float32" else 10**7, 60_000)
    y_true, scores = gaussian(n, rng, request.param)
    return request.param, y_true, scores


@pytest.mark.benchmark(min_rounds=5)
class TestScoreCounts:
    def test_ours(self, benchmark, blocks):
        kind, y_true, scores = blocks
        benchmark.group = f"AUC of {kind} scores in constant memory, two threads"
        benchmark.extra_info["target_note"] = "0.7 G float32 scores a second"
        begin = ScoreCounts(ScoreMap.fit(scores))
        counts = benchmark(lambda: begin.like().update(y_true, scores, workers=2))
        assert counts.n_bytes < 4e6
        assert counts.auc.width < 1e-4

    def test_ours_with_the_map_to_lay(self, benchmark, blocks):
        kind, y_true, scores = blocks
        benchmark.group = f"AUC of {kind} scores in constant memory, two threads"
        area = benchmark(lambda: ScoreCounts().update(y_true, scores, workers=2).auc)
        assert area.width < 1e-4

    def test_one_thread(self, benchmark, blocks):
        kind, y_true, scores = blocks
        benchmark.group = f"AUC of {kind} scores in constant memory, two threads"
        begin = ScoreCounts(ScoreMap.fit(scores))
        counts = benchmark(lambda: begin.like().update(y_true, scores, workers=1))
        assert counts.auc.width < 1e-4

    def test_numpy_bisection_and_bincount_of_a_tenth(self, benchmark, blocks):
        kind, y_true, scores = blocks
        benchmark.group = f"AUC of {kind} scores in constant memory, two threads"
        y_true, scores = (array[: array.size // 10] for array in (y_true, scores))
        edges = ScoreMap.fit(scores).edges.astype(scores.dtype)
        benchmark.extra_info["times"] = 10

        def count():
            cells = 2 * np.searchsorted(edges, scores, side="right") + y_true
            return np.bincount(cells, minlength=2 * edges.size + 2)

        assert benchmark(count).sum() == y_true.size

    def test_sorting_all_of_a_tenth(self, benchmark, blocks):
        kind, y_true, scores = blocks
        benchmark.group = f"AUC of {kind} scores in constant memory, two threads"
        tenth = slice(0, y_true.size // 10)
        benchmark.extra_info["times"] = 10
        area = benchmark(fastcmp.auc, y_true[tenth], scores[tenth])
        assert area == pytest.approx(0.7602, abs=0.03)


@pytest.mark.benchmark(group="ScoreCounts.update, blocks of 1,000 samples")
class TestSmallBlocks:
    def test_ours(self, benchmark, rng):
        y_true, scores = gaussian(1000, rng, np.float32)
        counts = ScoreCounts().update(y_true, scores)
        benchmark(counts.update, y_true, scores)
        assert counts.n_samples % 1000 == 0

    def test_numpy_bisection_and_bincount(self, benchmark, rng):
        y_true, scores = gaussian(1000, rng, np.float32)
        edges = ScoreMap.fit(scores).edges.astype(np.float32)
        counts = np.zeros(2 * edges.size + 2, np.int64)

        def update():
            cells = 2 * np.searchsorted(edges, scores, side="right") + y_true
            return np.add(counts, np.bincount(cells, minlength=counts.size), counts)

        assert benchmark(update).sum() % 1000 == 0
