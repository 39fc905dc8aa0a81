"""Cochran's Q of 50 models, beside the two sums that its definition needs."""

import numpy as np
import pytest

from fastcmp import kernels


@pytest.mark.benchmark(group="Cochran's Q from labels, M = 50, n = 100,000")
class TestCochran:
    def test_ours(self, benchmark, many):
        import fastcmp

        y_true, preds = many[0], many[1][:50]
        result = benchmark(fastcmp.cochrans_q, y_true, preds)
        benchmark.extra_info["target"] = 1
        right = preds == y_true
        outcome = kernels.cochrans_q(right.sum(axis=1), (right.sum(axis=0) ** 2).sum(), y_true.size)
        assert result.statistic == outcome.statistic

    def test_numpy_two_sums_of_the_0_1_matrix(self, benchmark, many):
        right = (many[1][:50] == many[0]).astype(np.uint8)
        columns, rows = benchmark(lambda: (right.sum(axis=1), right.sum(axis=0)))
        assert columns.sum() == rows.sum()
