"""McNemar's tests on the tables of folds, and the counting of those tables."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from libraries import stats, statsmodels
from strategies import alternatives

from fastcmp import kernels

TAILS = {kernels.TWO_SIDED: "two-sided", kernels.GREATER: "larger", kernels.LESS: "smaller"}


def fold_arrays(largest=40, min_folds=1):
    """Draw the tables of some folds, with many empty cells."""
    cell = st.one_of(st.just(0), st.integers(0, largest))
    folds = st.integers(min_folds, 8)
    return folds.flatmap(lambda k: hnp.arrays(np.int64, (k, 2, 2), elements=cell))


@st.composite
def correlations(draw):
    """Draw rho1 and rho2 within their bounds, and on them."""
    rho1 = draw(st.sampled_from([-0.9, -0.5, 0.0, 0.25, 0.5, 1.0]))
    return rho1, draw(st.sampled_from([0.0, 0.5, 1.0])) * (1 + rho1) / 2


def corrected(only_a, only_b):
    """Edwards' statistic of two counts that need not be whole, exactly."""
    if only_a + only_b == 0:
        return Fraction(0)
    distance = max(abs(only_a - only_b) - 1, Fraction(0))
    return distance**2 / (only_a + only_b)


def one_sided(root, alternative):
    if alternative == kernels.TWO_SIDED:
        return 2 * stats.norm.sf(abs(root))
    return stats.norm.sf(root * alternative)


def bcv(tables, rho1, rho2, alternative):
    """Make the effective table with fractions, and test it."""
    m = len(tables) // 2
    t = Fraction(2 * m) / (1 + Fraction(rho1) + 2 * (m - 1) * Fraction(rho2))
    cells = [Fraction(int(tables[:, i, j].sum()), 2 * m) for i, j in ((0, 1), (1, 0))]
    only_a, only_b = (t * x for x in cells)
    statistic = float(corrected(only_a, only_b))
    if only_a + only_b == 0:
        return 0.0, 1.0, kernels.DEGENERATE
    root = math.copysign(math.sqrt(statistic), only_a - only_b)
    return statistic, one_sided(root, alternative), kernels.OK


# Two-fold cross-validations.


@given(fold_arrays(), correlations(), alternatives)
def test_bcv_equals_the_effective_table_in_fractions(halves, rho, alternative):
    tables = np.concatenate([halves, halves[::-1] // 2])
    factor = kernels.bcv_factor(len(tables) // 2, *rho)
    means = tables.mean(axis=0)
    found = kernels.bcv_mcnemar(means[0, 1], means[1, 0], factor, alternative)
    statistic, pvalue, status = bcv(tables, *rho, alternative)
    assert found.statistic == pytest.approx(statistic, rel=1e-9, abs=1e-18)
    assert found.pvalue == pytest.approx(pvalue, rel=1e-7)
    assert found.status == status


def test_the_factors_of_the_paper():
    assert kernels.bcv_factor(5, 0.5, 0.5) == pytest.approx(20 / 11)
    assert kernels.bcv_factor(3, 0.5, 0.5) == pytest.approx(12 / 7)
    assert kernels.bcv_factor(5, 0.0, 0.5) == 2.0  # Lemma 3
    assert kernels.bcv_factor(5, 0.0, 0.0) == 10.0
    assert kernels.bcv_factor(1, 0.5, 0.3) == pytest.approx(4 / 3)


@pytest.mark.parametrize("m", [2, 3, 5, 50])
@pytest.mark.parametrize("rho1", [-1.1, -1.0, -0.99, -0.4, 0.0, 0.3, 1.0, 1.01])
def test_the_bounds_are_those_of_a_covariance(m, rho1):
    group = np.repeat(np.arange(m), 2)
    for rho2 in (-0.3, 0.0, 0.1, (1 + rho1) / 2, (1 + rho1) / 2 + 0.01, 1.0):
        matrix = np.where(np.equal.outer(group, group), rho1, rho2)
        np.fill_diagonal(matrix, 1.0)
        mean_variance = matrix.mean()
        possible = np.linalg.eigvalsh(matrix).min() > -1e-9 and mean_variance > 1e-9
        factor = kernels.bcv_factor(m, rho1, rho2)
        if rho2 < 0:  # possible for few cuts; the paper and we ask for >= 0
            assert math.isnan(factor)
        elif possible:
            assert factor == pytest.approx(1 / mean_variance)
        else:
            assert math.isnan(factor)


@pytest.mark.parametrize("rho", [(math.nan, 0.5), (0.5, math.nan), (math.inf, 0.5)])
def test_correlations_that_are_no_numbers(rho):
    assert math.isnan(kernels.bcv_factor(5, *rho))
    assert math.isnan(kernels.bcv_factor(0, 0.5, 0.5))


def test_the_statistic_never_grows_as_the_difference_shrinks():
    # As printed in the paper it does, below 11/20.
    found = [kernels.bcv_mcnemar(0.5 + d, 0.5 - d, 20 / 11).statistic for d in (0.3, 0.2, 0.0)]
    assert found == sorted(found, reverse=True)
    assert found[-1] == 0.0
    assert kernels.bcv_mcnemar(0.5, 0.5, 20 / 11).pvalue == 1.0


def test_counts_up_to_the_largest():
    found = kernels.bcv_mcnemar(2.0**53, 0.0, 20 / 11)
    assert found.statistic == pytest.approx(2.0**53 * 20 / 11)
    assert found.pvalue == 0.0


# K folds.


@given(fold_arrays())
def test_naive_equals_the_sum_in_fractions(tables):
    found = kernels.naive_mcnemar(tables)
    terms = [corrected(Fraction(int(t[0, 1])), Fraction(int(t[1, 0]))) for t in tables]
    statistic = float(sum(terms))
    assert found.statistic == pytest.approx(statistic, rel=1e-12)
    assert found.df == len(tables)
    assert found.pvalue == pytest.approx(stats.chi2.sf(statistic, len(tables)))
    apart = tables[:, 0, 1].sum() + tables[:, 1, 0].sum()
    assert found.status == (kernels.OK if apart else kernels.DEGENERATE)
    if not apart:
        assert (found.statistic, found.pvalue) == (0.0, 1.0)


# Two proportions.


@given(st.integers(1, 10**6), st.data(), alternatives)
def test_proportions_equal_statsmodels(n, data, alternative):
    a, b = (data.draw(st.integers(0, n)) for _ in "ab")
    found = kernels.proportion_z(a, b, n, alternative)
    if a + b in (0, 2 * n):
        assert found == (0.0, 1.0, 0.0, 0.0, kernels.DEGENERATE)
        return
    # Ours is of the accuracies.
    z, pvalue = statsmodels.stats.proportion.proportions_ztest(
        [n - a, n - b], [n, n], alternative=TAILS[alternative]
    )
    assert found.statistic == pytest.approx(z, rel=1e-9)
    assert found.pvalue == pytest.approx(pvalue, rel=1e-7, abs=1e-300)
    assert found.estimate == pytest.approx((b - a) / n)
    assert found.statistic * found.standard_error == pytest.approx(found.estimate)
    assert found.status == kernels.OK


def test_proportions_of_many_samples():
    n = 2**53
    assert kernels.proportion_z(n // 2, n // 2, n).pvalue == 1.0
    found = kernels.proportion_z(0, n, n)
    assert found.statistic == pytest.approx(math.sqrt(2 * n))
    assert kernels.proportion_z(n, n, n).status == kernels.DEGENERATE


# Counting.


def count(folds, wrong_a, wrong_b, n_folds):
    out = np.zeros((folds.shape[0], n_folds, 2, 2), np.int64)
    kernels.count_folds(folds, wrong_a, wrong_b, out)
    return out


#: Folds and samples on either side of where the way of counting changes, and beyond
#: the blocks of each of them.
SIZES = [
    *[(k, n) for k in (1, 2, 3, 4, 5, 6) for n in (19, 20, 1023, 1024, 1025, 2051)],
    (2, 2 * (1 << 15) + 7),
    (10, 100_003 + 41),
    (25, 99),
    (25, 100),
    (25, 101),
    (300, 300),
    (16_383, 66_000),
    (16_384, 66_000),
    (32_767, 200_000),
]


@pytest.mark.parametrize(("n_folds", "n"), SIZES)
def test_counting_equals_bincount(n_folds, n):
    rng = np.random.default_rng(n)
    folds = rng.integers(0, n_folds, (2, n)).astype(np.int16)
    folds[:, ::7] = -1
    folds[:, 3::11] = -2
    a, b = (rng.random((2, 2, n)) < 0.2).view(np.uint8)
    found = count(folds, a, b, n_folds)
    for r in range(2):
        tested = folds[r] >= 0
        cells = (4 * folds[r].astype(np.int64) + 2 * a[r] + b[r])[tested]
        wanted = np.bincount(cells, minlength=4 * n_folds)
        np.testing.assert_array_equal(found[r].ravel(), wanted)


@pytest.mark.parametrize("n_folds", [2, 5, 60])
def test_counting_adds_and_takes_any_number_but_zero_for_wrong(n_folds):
    rng = np.random.default_rng(n_folds)
    folds = rng.integers(-1, n_folds, (3, 170)).astype(np.int16)
    a, b = (rng.random((2, 3, 170)) < 0.4).view(np.uint8)
    once = count(folds, a, b, n_folds)
    out = once.copy()
    kernels.count_folds(folds, a * 255, b * 2, out)
    np.testing.assert_array_equal(out, 2 * once)
