"""From labels to adjusted decisions for all pairs, beside mlxtend pair by pair."""

import numpy as np
import pytest

import fastcmp


@pytest.mark.benchmark(group="all pairs end to end, uint8 labels to adjusted mid-p")
class TestEndToEnd:
    def test_ours(self, benchmark, many):
        result = benchmark(fastcmp.compare_all, *many)
        benchmark.extra_info["target"] = 500
        y_true, preds = many
        last = fastcmp.mcnemar(y_true, preds[-2], preds[-1])
        assert result.pvalue[-1] == last.pvalue

    def test_mlxtend(self, benchmark, many):
        from mlxtend.evaluate import mcnemar, mcnemar_table

        y_true, preds = many

        def one_pair():
            return mcnemar(mcnemar_table(y_true, preds[0], preds[1]), corrected=False)

        chi2, _ = benchmark(one_pair)
        benchmark.extra_info["times"] = len(preds) * (len(preds) - 1) / 2
        ours = fastcmp.mcnemar(y_true, preds[0], preds[1])
        assert np.isclose(ours.zscore**2, chi2)
