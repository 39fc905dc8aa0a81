"""McNemar's tests on the tables of folds, and the counting of those tables."""

from __future__ import annotations

import math
from fractions import Fraction

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from reference_cases import expected, parametrize
from scipy import stats
from statsmodels.stats.contingency_tables import mcnemar as of_statsmodels
from statsmodels.stats.proportion import proportions_ztest
from strategies import alternatives

from fastcmp.kernels import (
    DEGENERATE,
    GREATER,
    INVALID,
    LESS,
    OK,
    TWO_SIDED,
    bcv_factor,
    bcv_mcnemar,
    count_folds,
    naive_mcnemar,
    proportion_z,
)
from fastcmp.kernels.fold_tables import (
    bcv_mcnemar_many,
    naive_mcnemar_many,
    proportion_z_many,
)

TAILS = {TWO_SIDED: "two-sided", GREATER: "larger", LESS: "smaller"}


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
    if alternative == TWO_SIDED:
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
        return 0.0, 1.0, DEGENERATE
    root = math.copysign(math.sqrt(statistic), only_a - only_b)
    return statistic, one_sided(root, alternative), OK


# Two-fold cross-validations.


@given(fold_arrays(), correlations(), alternatives)
def test_bcv_equals_the_effective_table_in_fractions(halves, rho, alternative):
    tables = np.concatenate([halves, halves[::-1] // 2])
    factor = bcv_factor(len(tables) // 2, *rho)
    means = tables.mean(axis=0)
    found = bcv_mcnemar(means[0, 1], means[1, 0], factor, alternative)
    statistic, pvalue, status = bcv(tables, *rho, alternative)
    assert found.statistic == pytest.approx(statistic, rel=1e-9, abs=1e-18)
    assert found.pvalue == pytest.approx(pvalue, rel=1e-7)
    assert found.status == status


def test_bcv_equals_a_peer_on_whole_effective_counts():
    # t = 1: with full correlation many tables are worth a single one.
    assert bcv_factor(5, 1.0, 1.0) == 1.0
    peer = of_statsmodels([[40, 25], [15, 9]], exact=False, correction=True)
    found = bcv_mcnemar(25.0, 15.0, 1.0)
    assert found.statistic == pytest.approx(peer.statistic, rel=1e-14)
    assert found.pvalue == pytest.approx(peer.pvalue, rel=1e-12)


def as_table(cells):
    """Turn the paper's n00, n01, n10, n11 (0: wrong) into ours."""
    n00, n01, n10, n11 = cells
    return [[n11, n10], [n01, n00]]


@parametrize("bcv_mcnemar")
def test_bcv_against_references(case):
    tables = np.array(
        [as_table(fold) for replicate in case["input"]["tables"] for fold in replicate]
    )
    factor = bcv_factor(len(tables) // 2, **case["options"])
    means = np.empty((1, 2, 2))
    results, status = np.empty((1, 2)), np.empty(1, np.uint8)
    bcv_mcnemar_many(tables[np.newaxis], factor, TWO_SIDED, means, results, status)
    assert results[0, 0] == expected(case, "statistic")
    assert results[0, 1] == expected(case, "pvalue")
    assert status[0] == (DEGENERATE if case["id"].endswith("zero") else OK)
    if "t" in case["expected"]:
        assert factor == expected(case, "t")
    if "mean_n01" in case["expected"]:
        assert means[0, 1, 0] == expected(case, "mean_n01")
        assert means[0, 0, 1] == expected(case, "mean_n10")
    found = bcv_mcnemar(means[0, 0, 1], means[0, 1, 0], factor)
    assert (found.statistic, found.pvalue) == tuple(results[0])


def test_the_factors_of_the_paper():
    assert bcv_factor(5, 0.5, 0.5) == pytest.approx(20 / 11)
    assert bcv_factor(3, 0.5, 0.5) == pytest.approx(12 / 7)
    assert bcv_factor(5, 0.0, 0.5) == 2.0  # Lemma 3
    assert bcv_factor(5, 0.0, 0.0) == 10.0
    assert bcv_factor(1, 0.5, 0.3) == pytest.approx(4 / 3)


def covariance(m, rho1, rho2):
    group = np.repeat(np.arange(m), 2)
    same = np.equal.outer(group, group)
    matrix = np.where(same, rho1, rho2)
    np.fill_diagonal(matrix, 1.0)
    return matrix


@pytest.mark.parametrize("m", [2, 3, 5, 50])
@pytest.mark.parametrize("rho1", [-1.1, -1.0, -0.99, -0.4, 0.0, 0.3, 1.0, 1.01])
def test_the_bounds_are_those_of_a_covariance(m, rho1):
    for rho2 in (-0.3, 0.0, 0.1, (1 + rho1) / 2, (1 + rho1) / 2 + 0.01, 1.0):
        matrix = covariance(m, rho1, rho2)
        mean_variance = matrix.mean()
        possible = np.linalg.eigvalsh(matrix).min() > -1e-9 and mean_variance > 1e-9
        factor = bcv_factor(m, rho1, rho2)
        if rho2 < 0:  # possible for few cuts; the paper and we ask for >= 0
            assert math.isnan(factor)
        elif possible:
            assert factor == pytest.approx(1 / mean_variance)
        else:
            assert math.isnan(factor)


@pytest.mark.parametrize("rho", [(math.nan, 0.5), (0.5, math.nan), (math.inf, 0.5)])
def test_correlations_that_are_no_numbers(rho):
    assert math.isnan(bcv_factor(5, *rho))
    assert math.isnan(bcv_factor(0, 0.5, 0.5))


@given(st.integers(0, 500), st.integers(0, 500), st.sampled_from([0.7, 20 / 11, 3.0, 10.0]))
def test_exchanging_the_models_exchanges_the_alternatives(a, b, factor):
    a, b = a / 10, b / 10
    two = bcv_mcnemar(a, b, factor)
    assert two == bcv_mcnemar(b, a, factor)
    greater, less = (bcv_mcnemar(a, b, factor, side) for side in (GREATER, LESS))
    assert greater == bcv_mcnemar(b, a, factor, LESS)
    if a + b == 0:
        assert two == greater == less == (0.0, 1.0, DEGENERATE)
        return
    assert greater.pvalue + less.pvalue == pytest.approx(1.0)
    smaller = min(greater.pvalue, less.pvalue)
    assert two.pvalue == pytest.approx(2 * smaller, rel=1e-12)
    if a != b:
        assert (smaller == greater.pvalue) == (a > b) or two.statistic == 0


@given(st.integers(0, 500), st.integers(0, 500), st.floats(0.5, 20.0))
def test_only_the_effective_counts_matter(a, b, factor):
    scaled = bcv_mcnemar(a / factor, b / factor, factor)
    plain = bcv_mcnemar(float(a), float(b), 1.0)
    assert scaled.statistic == pytest.approx(plain.statistic, rel=1e-9, abs=1e-12)
    assert scaled.pvalue == pytest.approx(plain.pvalue, rel=1e-7)


def test_the_statistic_never_grows_as_the_difference_shrinks():
    # As printed in the paper it does, below 11/20.
    found = [bcv_mcnemar(0.5 + d, 0.5 - d, 20 / 11).statistic for d in (0.3, 0.2, 0.0)]
    assert found == sorted(found, reverse=True)
    assert found[-1] == 0.0
    assert bcv_mcnemar(0.5, 0.5, 20 / 11).pvalue == 1.0


def test_strictness_falls_with_the_correlations():
    factors = [bcv_factor(5, 0.5, rho2) for rho2 in (0.0, 0.25, 0.5, 0.75)]
    found = [bcv_mcnemar(12.0, 7.0, factor).pvalue for factor in factors]
    assert found == sorted(found)
    assert found[0] < found[-1]


@pytest.mark.parametrize("factor", [0.0, -1.0, math.nan, math.inf])
def test_factors_without_a_meaning(factor):
    assert bcv_mcnemar(3.0, 4.0, factor).status == INVALID


def test_counts_up_to_the_largest():
    found = bcv_mcnemar(2.0**53, 0.0, 20 / 11)
    assert found.statistic == pytest.approx(2.0**53 * 20 / 11)
    assert found.pvalue == 0.0


# K folds.


@given(fold_arrays())
def test_naive_equals_the_sum_in_fractions(tables):
    found = naive_mcnemar(tables)
    terms = [corrected(Fraction(int(t[0, 1])), Fraction(int(t[1, 0]))) for t in tables]
    statistic = float(sum(terms))
    assert found.statistic == pytest.approx(statistic, rel=1e-12)
    assert found.df == len(tables)
    assert found.pvalue == pytest.approx(stats.chi2.sf(statistic, len(tables)))
    apart = tables[:, 0, 1].sum() + tables[:, 1, 0].sum()
    assert found.status == (OK if apart else DEGENERATE)
    if not apart:
        assert (found.statistic, found.pvalue) == (0.0, 1.0)


@given(fold_arrays(min_folds=2), st.data())
def test_naive_knows_no_order_of_folds_or_models(tables, data):
    order = data.draw(st.permutations(range(len(tables))))
    found = naive_mcnemar(tables)
    for same in (tables[np.array(order)], tables.transpose(0, 2, 1).copy()):
        other = naive_mcnemar(same)
        assert other.statistic == pytest.approx(found.statistic, rel=1e-12)
        assert other[2:] == found[2:]


@parametrize("kcv_naive_mcnemar")
def test_naive_against_references(case):
    tables = np.array([as_table(fold) for fold in case["input"]["tables"]])
    found = naive_mcnemar(tables)
    assert found.statistic == expected(case, "statistic")
    assert found.pvalue == expected(case, "pvalue")
    assert found.df == case["expected"]["df"]
    for table, term in zip(tables, case["expected"]["per_fold"], strict=True):
        assert naive_mcnemar(table[np.newaxis]).statistic == pytest.approx(term)


# Two proportions.


@given(st.integers(1, 10**6), st.data(), alternatives)
def test_proportions_equal_statsmodels(n, data, alternative):
    a, b = (data.draw(st.integers(0, n)) for _ in "ab")
    found = proportion_z(a, b, n, alternative)
    if a + b in (0, 2 * n):
        assert found == (0.0, 1.0, 0.0, 0.0, DEGENERATE)
        return
    # Ours is of the accuracies.
    z, pvalue = proportions_ztest([n - a, n - b], [n, n], alternative=TAILS[alternative])
    assert found.statistic == pytest.approx(z, rel=1e-9)
    assert found.pvalue == pytest.approx(pvalue, rel=1e-7, abs=1e-300)
    assert found.estimate == pytest.approx((b - a) / n)
    assert found.statistic * found.standard_error == pytest.approx(found.estimate)
    assert found.status == OK


@parametrize("proportion_difference_z")
def test_proportions_against_references(case):
    given = case["input"]
    found = proportion_z(given["errors_A"], given["errors_B"], given["n"])
    assert -found.statistic == expected(case, "statistic")
    assert found.pvalue == expected(case, "pvalue")


def test_the_exchange_of_two_proportions():
    one, other = proportion_z(24, 58, 175, GREATER), proportion_z(58, 24, 175, LESS)
    assert (one.statistic, one.estimate) == (-other.statistic, -other.estimate)
    assert one.pvalue == other.pvalue < 1e-5
    assert proportion_z(24, 58, 175, LESS).pvalue > 1 - 1e-5


def test_proportions_of_many_samples():
    n = 2**53
    assert proportion_z(n // 2, n // 2, n).pvalue == 1.0
    found = proportion_z(0, n, n)
    assert found.statistic == pytest.approx(math.sqrt(2 * n))
    assert proportion_z(n, n, n).status == DEGENERATE


# Many at once.


def test_many_pairs_are_tested_one_by_one():
    rng = np.random.default_rng(1)
    tables = rng.poisson(3.0, (40, 6, 2, 2)) * rng.integers(0, 2, (40, 1, 1, 1))
    tables[3, 2, 0, 1] = -500
    for alternative in TAILS:
        means, results = np.empty((40, 2, 2)), np.empty((40, 2))
        status = np.empty(40, np.uint8)
        factor = bcv_factor(3, 0.5, 0.5)
        bcv_mcnemar_many(tables, factor, alternative, means, results, status)
        np.testing.assert_allclose(means, tables.mean(axis=1), rtol=1e-15)
        for i, mean in enumerate(means):
            one = bcv_mcnemar(mean[0, 1], mean[1, 0], factor, alternative)
            np.testing.assert_equal((*results[i], status[i]), one)
    assert set(status.tolist()) == {OK, DEGENERATE, INVALID}
    naive_mcnemar_many(tables, results, status)
    for i, folds in enumerate(tables):
        one = naive_mcnemar(folds)
        np.testing.assert_equal((*results[i], status[i]), (*one[:2], one.status))
    errors = np.stack([tables[:, :, 1].sum((1, 2)), tables[:, :, :, 1].sum((1, 2))])
    errors = np.stack([*errors, np.maximum(tables.sum((1, 2, 3)), 1)])
    results = np.empty((40, 4))
    for alternative in TAILS:
        proportion_z_many(errors, alternative, results, status)
        for i, arguments in enumerate(errors.T):
            one = proportion_z(*arguments, alternative)
            np.testing.assert_equal((*results[i], status[i]), one)


# Counting.


def count(folds, wrong_a, wrong_b, n_folds):
    out = np.zeros((folds.shape[0], n_folds, 2, 2), np.int64)
    count_folds(folds, wrong_a, wrong_b, out)
    return out


def brute_force(folds, wrong_a, wrong_b, n_folds):
    out = np.zeros((len(folds), n_folds, 2, 2), np.int64)
    for r, row in enumerate(folds):
        for k, a, b in zip(row, wrong_a[r], wrong_b[r], strict=True):
            if 0 <= k < n_folds:
                out[r, k, int(a), int(b)] += 1
    return out


@given(
    st.integers(1, 4),
    st.integers(0, 150),
    st.integers(0, 30),
    st.integers(0, 2**32 - 1),
)
def test_counting_equals_brute_force(n_repeats, n, n_folds, seed):
    rng = np.random.default_rng(seed)
    shape = (n_repeats, n)
    folds = rng.integers(-2, n_folds + 2, shape).astype(np.int16)
    a, b = (rng.random((2, *shape)) < 0.3).view(np.uint8)
    found = count(folds, a, b, n_folds)
    np.testing.assert_array_equal(found, brute_force(folds, a, b, n_folds))


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
def test_counting_adds_and_repetitions_are_apart(n_folds):
    rng = np.random.default_rng(n_folds)
    folds = rng.integers(-1, n_folds, (3, 170)).astype(np.int16)
    a, b = (rng.random((2, 3, 170)) < 0.4).view(np.uint8)
    once = count(folds, a, b, n_folds)
    out = once.copy()
    count_folds(folds, a, b, out)
    np.testing.assert_array_equal(out, 2 * once)
    for r in range(3):
        alone = count(folds[r : r + 1], a[r : r + 1], b[r : r + 1], n_folds)
        np.testing.assert_array_equal(alone[0], once[r])
    swapped = count(folds, b, a, n_folds)
    np.testing.assert_array_equal(swapped, once.transpose(0, 1, 3, 2))
    order = rng.permutation(170)
    shuffled = count(folds[:, order], a[:, order], b[:, order], n_folds)
    np.testing.assert_array_equal(shuffled, once)


@pytest.mark.parametrize("n_folds", [2, 5, 60])
def test_losses_that_do_not_depend_on_the_split_may_be_broadcast(n_folds):
    rng = np.random.default_rng(n_folds)
    folds = rng.integers(-1, n_folds, (4, 250)).astype(np.int16)
    a, b = (rng.random((2, 250)) < 0.4).view(np.uint8)
    repeated = [np.broadcast_to(x, folds.shape) for x in (a, b)]
    copied = [x.copy() for x in repeated]
    found, wanted = count(folds, *repeated, n_folds), count(folds, *copied, n_folds)
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("n_folds", [2, 5, 60])
def test_any_number_but_zero_is_wrong(n_folds):
    rng = np.random.default_rng(n_folds)
    folds = rng.integers(0, n_folds, (1, 250)).astype(np.int16)
    a, b = rng.integers(0, 2, (2, 1, 250)).astype(np.uint8)
    wanted = count(folds, a, b, n_folds)
    np.testing.assert_array_equal(count(folds, a * 255, b * 2, n_folds), wanted)
    both = a.astype(bool), b.astype(bool)
    np.testing.assert_array_equal(count(folds, *both, n_folds), wanted)


@numba.njit
def simulate(folds, wrong_a, wrong_b, factor):
    """Go from losses to a p-value in compiled code, as a simulation does."""
    n_repeats = folds.shape[0]
    tables = np.zeros((n_repeats, 2, 2, 2), np.int64)
    count_folds(folds, wrong_a, wrong_b, tables)
    only_a = only_b = 0
    for r in range(n_repeats):
        for k in range(2):
            only_a += tables[r, k, 0, 1]
            only_b += tables[r, k, 1, 0]
    n = 2.0 * n_repeats
    return bcv_mcnemar(only_a / n, only_b / n, factor)


def test_from_losses_to_a_pvalue_in_compiled_code():
    rng = np.random.default_rng(2)
    folds = (np.argsort(rng.random((5, 300))) % 2).astype(np.int16)
    a, b = (rng.random((2, 5, 300)) < [[[0.1]], [[0.2]]]).view(np.uint8)
    factor = bcv_factor(5, 0.5, 0.5)
    found = simulate(folds, a, b, factor)
    tables = brute_force(folds, a, b, 2).reshape(10, 2, 2)
    statistic, pvalue, _ = bcv(tables, 0.5, 0.5, TWO_SIDED)
    assert found.statistic == pytest.approx(statistic)
    assert found.pvalue == pytest.approx(pvalue)
    assert found.pvalue < 0.01
