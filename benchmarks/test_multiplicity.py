"""Adjustment of half a million p-values, beside statsmodels."""

import numpy as np
import pytest
from statsmodels.stats.multitest import multipletests

from fastcmp import adjust


@pytest.fixture(scope="module")
def pvalues(size, rng):
    return rng.random(size(499_500, 1_000)) ** 3


@pytest.mark.benchmark(group="Holm on 499,500 p-values")
class TestHolm:
    def test_ours(self, benchmark, pvalues):
        adjusted = benchmark(adjust, pvalues, method="holm")
        benchmark.extra_info["target"] = 1
        expected = multipletests(pvalues, method="holm")[1]
        np.testing.assert_allclose(adjusted, expected, rtol=1e-12)

    def test_statsmodels(self, benchmark, pvalues):
        assert benchmark(multipletests, pvalues, method="holm")[1].max() <= 1


@pytest.mark.benchmark(group="Hommel on 20,000 p-values")
class TestHommel:
    def test_ours(self, benchmark, pvalues, size):
        some = pvalues[: size(20_000, 200)]
        adjusted = benchmark(adjust, some, method="hommel")
        few = some[:200]
        expected = multipletests(few, method="hommel")[1]
        np.testing.assert_allclose(adjust(few, method="hommel"), expected, rtol=1e-12)
        assert (adjusted >= some).all()

    def test_statsmodels_on_2_000_only(self, benchmark, pvalues, size):
        some = pvalues[: size(2_000, 200)]
        assert benchmark(multipletests, some, method="hommel")[1].max() <= 1
