"""McNemar's closed variants."""

import naive
import pytest
from hypothesis import given
from strategies import alternatives, count_pairs

from fastcmp import kernels

VARIANTS = {
    kernels.MIDP: kernels.mcnemar_midp,
    kernels.EXACT: kernels.mcnemar_exact,
    kernels.ASYMPTOTIC: kernels.mcnemar_asymptotic,
    kernels.CORRECTED: kernels.mcnemar_corrected,
}
every_variant = pytest.mark.parametrize("test", VARIANTS.values(), ids=VARIANTS)


# Oracle.


@given(count_pairs(150), alternatives)
def test_exact_and_midp_equal_exact_integers(pair, alternative):
    exact, mid = kernels.mcnemar_exact(*pair, alternative), kernels.mcnemar_midp(*pair, alternative)
    oracle = naive.mcnemar_exact(*pair, alternative)
    assert exact.pvalue == pytest.approx(float(oracle), rel=1e-12)
    oracle = naive.mcnemar_midp(*pair, alternative)
    assert mid.pvalue == pytest.approx(float(oracle), rel=1e-12)
    statistic = float(naive.mcnemar_statistic(*pair))
    assert exact.statistic == mid.statistic == pytest.approx(statistic, rel=1e-15)


@given(count_pairs(), alternatives)
def test_asymptotic_and_corrected_equal_the_definition(pair, alternative):
    for test, correction in ((kernels.mcnemar_asymptotic, 0), (kernels.mcnemar_corrected, 1)):
        found = test(*pair, alternative)
        statistic = float(naive.mcnemar_statistic(*pair, correction))
        assert found.statistic == pytest.approx(statistic, rel=1e-14)
        pvalue = naive.mcnemar_asymptotic(*pair, alternative, correction)
        if pvalue > 1e-250:
            assert found.pvalue == pytest.approx(pvalue, rel=1e-11)
        else:
            assert found.pvalue < 1e-249


# Reference.


# Laws.


@pytest.mark.parametrize("count", [1, 2, 5, 8, 9, 10, 50, 99, 100, 101, 10**6, 10**12])
@every_variant
def test_equal_counts_give_exactly_one(test, count):
    assert test(count, count) == (0.0, 1.0, kernels.OK)


@every_variant
@pytest.mark.parametrize("alternative", [kernels.TWO_SIDED, kernels.GREATER, kernels.LESS])
def test_no_discordant_sample_is_degenerate(test, alternative):
    assert test(0, 0, alternative) == (0.0, 1.0, kernels.DEGENERATE)
