"""Tests on fold differences: each formula beside its definition, and its laws."""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from libraries import stats
from reference_cases import expected, parametrize

from fastcmp import kernels
from fastcmp.kernels.fold_tests import correlated_posterior, paired_gains

SIDES = (kernels.TWO_SIDED, kernels.GREATER, kernels.LESS)
# Hundredths and thousandths, as scores differ: many ties, and zeros of both signs.
score_gaps = st.integers(-200, 200).map(lambda k: k / 1000)


def blocks(*shape):
    return hnp.arrays(float, shape, elements=score_gaps)


# The definitions, written out.


def pvalue(statistic, distribution, side):
    if side == kernels.TWO_SIDED:
        return 2 * distribution.sf(abs(statistic))
    return distribution.sf(side * statistic)


def divided(numerator, error, distribution, side):
    statistic = numerator / error
    return statistic, pvalue(statistic, distribution, side), numerator, error


def corrected(x, correction, df, side):
    error = math.sqrt(correction * np.var(x, ddof=1))
    return divided(np.mean(x), error, stats.t(df), side)


def within_cuts(x):
    """Add up the variances of Dietterich's five cuts."""
    return sum((p - (p + q) / 2) ** 2 + (q - (p + q) / 2) ** 2 for p, q in x)


def f_ratio(x, df1):
    ratio = sum(p * p + q * q for p, q in x) / (2 * within_cuts(x))
    return ratio, stats.f(df1, 5).sf(ratio), np.mean(x), math.nan


def conservative(x, halves, side):
    gaps = [np.mean(first) - np.mean(second) for first, second in halves]
    error = math.sqrt(sum(gap**2 for gap in gaps) / (2 * len(gaps)))
    return divided(np.mean(x), error, stats.norm, side)


def bayle_in(x, folds, side):
    parts = [x[folds == k] for k in range(folds.max() + 1)]
    variance = np.mean([np.var(part, ddof=1) for part in parts])
    return divided(np.mean(x), math.sqrt(variance / x.size), stats.norm, side)


def bayle_out(x, side):
    return divided(np.mean(x), math.sqrt(np.var(x) / x.size), stats.norm, side)


#: By kernel: shape of the data, arguments that follow, and the definition.
T_TESTS = {
    "resampled_t": ((7,), (), lambda x, s: corrected(x, 1 / 7, 6, s)),
    "kfold_t": ((7,), (), lambda x, s: corrected(x, 1 / 7, 6, s)),
    "nadeau_bengio_t": ((15,), (270, 30), lambda x, s: corrected(x, 1 / 15 + 1 / 9, 14, s)),
    "bouckaert_frank_t": ((3, 5), (0.25,), lambda x, s: corrected(x, 1 / 15 + 1 / 4, 14, s)),
    "bouckaert_t": ((10, 10), (), lambda x, s: corrected(x, 1 / 11, 10, s)),
    "blocked_t": (
        (3, 2),
        (1.2, 4.5),
        lambda x, s: divided(x.mean(), 1.2 * x.std(), stats.t(4.5), s),
    ),
    "dietterich_t": (
        (5, 2),
        (),
        lambda x, s: divided(x[0, 0], math.sqrt(within_cuts(x) / 5), stats.t(5), s),
    ),
    "yildiz_t": (
        (5, 2),
        (),
        lambda x, s: divided(x.mean(), math.sqrt(within_cuts(x) / 5 / 10), stats.t(5), s),
    ),
}
F_TESTS = {"alpaydin_f": 10, "calibrated_f": 7}

every_t = pytest.mark.parametrize("name", T_TESTS)


def call(name, x, side=kernels.TWO_SIDED):
    return getattr(kernels, name)(x, *T_TESTS[name][1], side)


def has_spread(x, name):
    """Tell whether the oracle, which knows no tolerance, divides by more than noise."""
    paired = name in {"dietterich_t", "yildiz_t", *F_TESTS}
    about = x.mean(axis=-1, keepdims=True) if paired else x.mean()
    return np.abs(x - about).max() > 1e-6


def assert_close(outcome, wanted):
    assert outcome.status == kernels.OK
    # A mean near 0 cancels, and takes the statistic with it.
    np.testing.assert_allclose(outcome[:4], wanted, rtol=1e-9, atol=1e-13)


def draw_block(data, name):
    x = data.draw(blocks(*T_TESTS[name][0]))
    assume(has_spread(x, name))
    return x


@every_t
@given(st.data())
def test_t_equals_its_definition(name, data):
    x = draw_block(data, name)
    for side in SIDES:
        assert_close(call(name, x, side), T_TESTS[name][2](x, side))


@given(blocks(5, 2))
def test_f_equals_its_definition(x):
    assume(has_spread(x, "alpaydin_f"))
    assert_close(kernels.alpaydin_f(x), f_ratio(x, 10))
    assert_close(kernels.calibrated_f(x), f_ratio(x, 7))


@given(blocks(4), blocks(3, 2, 4))
def test_conservative_equals_its_definition(x, halves):
    assume(np.abs(halves.mean(axis=-1) @ [1, -1]).max() > 1e-6)
    for side in SIDES:
        outcome = kernels.conservative_z(x, halves, side)
        assert_close(outcome, conservative(x, halves, side))


@given(st.permutations([0] * 2 + [1] * 3 + [2] * 6), blocks(11))
def test_bayle_equals_its_definition(folds, x):
    folds = np.array(folds)
    assume(max(np.ptp(x[folds == k]) for k in range(3)) > 1e-6)
    for side in SIDES:
        assert_close(kernels.bayle_z_out(x, side), bayle_out(x, side))
        assert_close(kernels.bayle_z_in(x, folds, 3, side), bayle_in(x, folds, side))


# The constants of the m x 2 test.


@parametrize("cv_mx2_bcv_t_constants")
def test_constants_against_references(case):
    given_ = case["input"]
    found = kernels.blocked_constants(given_["m"], float(given_["rho1"]), float(given_["rho2"]))
    assert found.constant == expected(case, "C_m")
    assert found.df == expected(case, "f_m")
    assert found.status == kernels.OK


@pytest.mark.parametrize("m", [2, 3, 5, 12])
@pytest.mark.parametrize("rho1", [-0.7, 0.0, 0.3, 0.5, 0.9])
@pytest.mark.parametrize("proportion", [0.0, 0.4, 0.9])
def test_constants_match_two_moments(m, rho1, proportion):
    """V is a quadratic form: traces give its mean and variance."""
    rho2 = proportion * (1 + rho1) / 2
    covariance = np.full((2 * m, 2 * m), rho2)
    for i in range(m):
        covariance[2 * i : 2 * i + 2, 2 * i : 2 * i + 2] = rho1
    np.fill_diagonal(covariance, 1.0)
    product = (np.eye(2 * m) - 1 / (2 * m)) @ covariance
    mean_v = np.trace(product) / (2 * m)
    found = kernels.blocked_constants(m, rho1, rho2)
    assert found.constant**2 == pytest.approx(covariance.mean() / mean_v, rel=1e-9)
    df = np.trace(product) ** 2 / np.trace(product @ product)
    assert found.df == pytest.approx(df, rel=1e-9)


@pytest.mark.parametrize("rhos", [(1.0, 1.0), (-1.0, 0.0)])
def test_constants_that_do_not_exist(rhos):
    found = kernels.blocked_constants(3, *rhos)
    assert found.status == kernels.UNDEFINED
    assert math.isnan(found.constant)
    assert math.isnan(found.df)


# Laws.


@pytest.mark.parametrize("size", [5e-324, 1e-310, 1e-200, 1e200, 1.7e308])
def test_scores_of_any_size(size):
    x = np.array([1.0, -0.5, 1.0, 0.0, 0.5, 1.0, 1.0, -1.0, 0.0, 0.0]) * size
    cuts = x.reshape(5, 2)
    halves = np.tile(x, (3, 2, 1))
    halves[:, 1, 0] = 0.0
    for outcome in (
        *(kernels.kfold_t(x), kernels.yildiz_t(cuts), kernels.alpaydin_f(cuts)),
        *(kernels.conservative_z(x, halves), kernels.bayle_z_in(x, np.arange(10) // 5, 2)),
    ):
        assert outcome.status == kernels.OK
        assert 0 < outcome.pvalue < 1
        assert math.isfinite(outcome.statistic)


# Without spread.


@every_t
@pytest.mark.parametrize("side", SIDES)
def test_equal_differences(name, side):
    ones = np.ones(T_TESTS[name][0])
    assert call(name, 0 * ones, side) == kernels.FoldOutcome(0.0, 1.0, 0.0, 0.0, kernels.DEGENERATE)
    up, down = call(name, 0.1 * ones, side), call(name, -0.1 * ones, side)
    assert np.isnan([*up[:2], *down[:2]]).all()
    assert up.status == down.status == kernels.UNDEFINED
    assert up.estimate == pytest.approx(0.1, rel=1e-15)
    assert up.standard_error == 0


@every_t
def test_rounding_of_scores_is_no_spread(name):
    shape = T_TESTS[name][0]
    worse = np.linspace(0.1, 0.7, np.prod(shape)).reshape(shape)
    x = (worse + 0.1) - worse
    assert np.ptp(x) > 0
    assert call(name, x).status == kernels.UNDEFINED


def test_spread_within_the_cuts_alone_counts_for_5x2():
    x = np.repeat([[1.0], [2.0], [-1.0], [0.0], [-2.0]], 2, axis=1)
    assert kernels.dietterich_t(x).status == kernels.UNDEFINED
    assert kernels.yildiz_t(x) == kernels.FoldOutcome(0.0, 1.0, 0.0, 0.0, kernels.DEGENERATE)
    assert np.isnan(kernels.alpaydin_f(x)[:2]).all()
    assert kernels.alpaydin_f(x).status == kernels.UNDEFINED
    turned = kernels.dietterich_t(x[::-1].copy() * [[1], [1], [1], [1], [0]])
    assert turned.status == kernels.UNDEFINED
    x[0] = 0
    assert kernels.dietterich_t(x)[:2] == (0, 1)
    assert kernels.dietterich_t(x).status == kernels.DEGENERATE


def test_f_of_zeros():
    outcome = kernels.calibrated_f(np.zeros((5, 2)))
    assert outcome[:3] == (0, 1, 0)
    assert math.isnan(outcome.standard_error)
    assert outcome.status == kernels.DEGENERATE


def test_z_without_spread():
    equal = np.full((3, 2, 4), 0.1)
    none = (math.nan, math.nan)
    for x, wanted, status in ((0.0, (0, 1), kernels.DEGENERATE), (0.2, none, kernels.UNDEFINED)):
        outcome = kernels.conservative_z(np.full(4, -x), equal)
        np.testing.assert_array_equal(outcome[:2], wanted)
        assert outcome.status == status
        flat = kernels.bayle_z_in(np.full(6, x), np.arange(6) // 2, 3)
        np.testing.assert_array_equal(flat[:2], wanted)
        assert flat.status == kernels.bayle_z_out(np.full(6, x)).status == status
    # Folds that differ, each without spread: nothing within them to divide by.
    folds = np.arange(6) // 2
    assert kernels.bayle_z_in(folds * 0.1, folds, 3).status == kernels.UNDEFINED
    assert kernels.bayle_z_in((folds - 1) * 0.1, folds, 3)[:2] == (0, 1)


def test_far_tails_keep_their_digits():
    x = np.array([1.0, 1.0, 1.0, 1.0 + 1e-9])
    found = kernels.kfold_t(x)
    assert found.statistic > 1e9
    wanted = 2 * stats.t(3).sf(found.statistic)
    assert 0 < found.pvalue == pytest.approx(wanted, rel=1e-9)
    z = kernels.fold_t(np.array([1.0, 1.5]), 0.015, math.inf)
    assert 0 < z.pvalue == pytest.approx(2 * stats.norm.sf(z.statistic), rel=1e-9)


@given(blocks(2, 7), st.sampled_from([1.0, 1e-3, 1e-70, 1e60, math.pi]), st.booleans())
def test_gains_are_the_decimals_written(scores, unit, lower):
    scores *= unit
    gains, d = np.empty(14), np.empty(7)
    scale, largest, low, high, mean = paired_gains(*scores, lower, gains, d)
    assert (low, high) == (scores.min(), scores.max())
    assert largest == np.abs(gains).max()
    np.testing.assert_allclose(gains / scale, (1 - 2 * lower) * scores.ravel(), rtol=1e-15)
    if unit == 1.0:
        assert scale <= 1000.0
        np.testing.assert_array_equal(gains, np.round(gains))
    np.testing.assert_array_equal(d, (gains[:7] - gains[7:]) / scale)
    assert mean == pytest.approx(d.mean(), rel=1e-12, abs=1e-15 * largest / scale)
    for wrong in (math.nan, math.inf, -1e100):
        scores[1, 3] = wrong
        assert math.isnan(paired_gains(*scores, lower, gains, d)[0])


@given(blocks(9), st.sampled_from([0.0, 0.01, 0.3]), st.sampled_from([1.0, 1e-200, 1e90]))
def test_posterior_of_correlated_folds(d, rope, unit):
    above, within, below, positive, mean, scale = correlated_posterior(
        d * unit, 0.1, rope * unit, 1e-15 * unit
    )
    assert mean == pytest.approx(d.mean() * unit, rel=1e-12, abs=1e-16 * unit)
    if np.ptp(d) < 1e-12:
        assert scale == 0.0
        outcomes = (1, 0, 0), (0, 1, 0), (0, 0, 1), (0.5, 0, 0.5)
        assert (above, within, below) in outcomes
        return
    assert scale == pytest.approx(d.std(ddof=1) * math.sqrt(1 / 9 + 0.1 / 0.9) * unit)
    t = stats.t(8, d.mean(), scale / unit)
    wanted = t.sf(rope), t.cdf(rope) - t.cdf(-rope), t.cdf(-rope), t.sf(0)
    assert (above, within, below, positive) == pytest.approx(wanted, rel=1e-9, abs=1e-12)
