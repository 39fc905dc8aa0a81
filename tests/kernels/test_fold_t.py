"""Tests on fold differences: each formula beside its definition, and its laws."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from reference_cases import expected, parametrize
from scipy import stats

from fastcmp import kernels
from fastcmp.kernels import (
    DEGENERATE,
    GREATER,
    INVALID,
    LESS,
    OK,
    TWO_SIDED,
    UNDEFINED,
    FoldOutcome,
)
from fastcmp.kernels.fold_t_tests import (
    ALPAYDIN_F,
    CALIBRATED_F,
    DIETTERICH_T,
    YILDIZ_T,
    fold_t_many,
    two_fold_many,
)
from fastcmp.kernels.fold_z import bayle_z_many, conservative_z_many

SIDES = (TWO_SIDED, GREATER, LESS)
# Hundredths and thousandths, as scores differ: many ties, and zeros of both signs.
score_gaps = st.integers(-200, 200).map(lambda k: k / 1000)


def blocks(*shape):
    return hnp.arrays(float, shape, elements=score_gaps)


# The definitions, written out.


def pvalue(statistic, distribution, side):
    if side == TWO_SIDED:
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
    "nadeau_bengio_t": (
        (15,),
        (270, 30),
        lambda x, s: corrected(x, 1 / 15 + 1 / 9, 14, s),
    ),
    "bouckaert_frank_t": (
        (3, 5),
        (0.25,),
        lambda x, s: corrected(x, 1 / 15 + 1 / 4, 14, s),
    ),
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
#: Which do not look at the order of the differences.
SYMMETRIC = ("resampled_t", "nadeau_bengio_t", "bouckaert_frank_t", "blocked_t")

every_t = pytest.mark.parametrize("name", T_TESTS)


def call(name, x, side=TWO_SIDED):
    return getattr(kernels, name)(x, *T_TESTS[name][1], side)


def has_spread(x, name):
    """Tell whether the oracle, which knows no tolerance, divides by more than noise."""
    paired = name in {"dietterich_t", "yildiz_t", *F_TESTS}
    about = x.mean(axis=-1, keepdims=True) if paired else x.mean()
    return np.abs(x - about).max() > 1e-6


def assert_close(outcome, wanted):
    assert outcome.status == OK
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


@given(blocks(9))
def test_kfold_equals_scipy(x):
    assume(has_spread(x, ""))
    for side, name in zip(SIDES, ("two-sided", "greater", "less"), strict=True):
        wanted = stats.ttest_1samp(x, 0, alternative=name)
        found = kernels.kfold_t(x, side)
        assert found.statistic == pytest.approx(wanted.statistic, rel=1e-9, abs=1e-13)
        assert found.pvalue == pytest.approx(wanted.pvalue, rel=1e-9)


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


@given(blocks(4, 5))
def test_variance_within_equal_folds_is_a_difference_of_squares(x):
    assume(np.ptp(x, axis=1).max() > 1e-6)
    n, k = x.size, len(x)
    squares = (x**2).mean() - (x.mean(axis=1) ** 2).mean()
    error = math.sqrt(n / (n - k) * squares / n)
    found = kernels.bayle_z_in(x.ravel(), np.repeat(np.arange(k), n // k), k)
    assert found.standard_error == pytest.approx(error, rel=1e-9)


# The constants of the m x 2 test.


@parametrize("cv_mx2_bcv_t_constants")
def test_constants_against_references(case):
    given_ = case["input"]
    found = kernels.blocked_constants(given_["m"], float(given_["rho1"]), float(given_["rho2"]))
    assert found.constant == expected(case, "C_m")
    assert found.df == expected(case, "f_m")
    assert found.status == OK


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
    assert found.status == UNDEFINED
    assert math.isnan(found.constant)
    assert math.isnan(found.df)


# Laws.


@every_t
@given(st.data())
def test_swapping_the_models_turns_the_sign(name, data):
    x = draw_block(data, name)
    for side in SIDES:
        one, other = call(name, x, side), call(name, -x, -side)
        assert (one.statistic, one.pvalue) == (-other.statistic, other.pvalue)
        assert (one.estimate, one.standard_error) == (
            -other.estimate,
            other.standard_error,
        )


@every_t
@given(st.data())
def test_the_two_sides_make_one(name, data):
    x = draw_block(data, name)
    two, greater, less = (call(name, x, side).pvalue for side in SIDES)
    assert greater + less == pytest.approx(1, rel=1e-12)
    assert two == pytest.approx(2 * min(greater, less), rel=1e-12)


@pytest.mark.parametrize("name", [*T_TESTS, *F_TESTS])
@given(st.data(), st.integers(-990, 990))
def test_powers_of_two_cancel_exactly(name, data, exponent):
    shape = T_TESTS[name][0] if name in T_TESTS else (5, 2)
    x = data.draw(blocks(*shape))
    kernel, rest = getattr(kernels, name), T_TESTS.get(name, (0, ()))[1]
    one, other = kernel(x, *rest), kernel(np.ldexp(x, exponent), *rest)
    np.testing.assert_array_equal([*one[:2], one.status], [*other[:2], other.status])
    assert other.estimate == math.ldexp(one.estimate, exponent)


@pytest.mark.parametrize("size", [5e-324, 1e-310, 1e-200, 1e200, 1.7e308])
def test_scores_of_any_size(size):
    x = np.array([1.0, -0.5, 1.0, 0.0, 0.5, 1.0, 1.0, -1.0, 0.0, 0.0]) * size
    cuts = x.reshape(5, 2)
    halves = np.tile(x, (3, 2, 1))
    halves[:, 1, 0] = 0.0
    for outcome in (
        kernels.kfold_t(x),
        kernels.yildiz_t(cuts),
        kernels.alpaydin_f(cuts),
        kernels.conservative_z(x, halves),
        kernels.bayle_z_in(x, np.arange(10) // 5, 2),
    ):
        assert outcome.status == OK
        assert 0 < outcome.pvalue < 1
        assert math.isfinite(outcome.statistic)


@pytest.mark.parametrize("name", SYMMETRIC)
@given(st.data(), st.randoms(use_true_random=False))
def test_the_order_of_the_folds_does_not_count(name, data, random):
    x = draw_block(data, name)
    flat = list(x.ravel())
    random.shuffle(flat)
    other = call(name, np.reshape(flat, x.shape))
    assert_close(other, call(name, x)[:4])


@given(
    blocks(5, 2),
    st.permutations(range(5)),
    st.lists(st.booleans(), min_size=5, max_size=5),
)
def test_5x2_tests_do_not_see_the_order_of_cuts_and_halves(x, order, turned):
    assume(has_spread(x, "yildiz_t"))
    other = np.array([x[i][:: -1 if t else 1] for i, t in zip(order, turned, strict=True)])
    for kernel in (kernels.yildiz_t, kernels.alpaydin_f, kernels.calibrated_f):
        assert_close(kernel(other), kernel(x)[:4])


def test_dietterich_begins_with_the_first_difference():
    x = np.array([[4, 1], [2, 3], [0, 2], [3, 3], [1, 2]]) / 100
    assert kernels.dietterich_t(x).estimate == 0.04
    assert kernels.dietterich_t(x[:, ::-1].copy()).estimate == 0.01
    assert kernels.dietterich_t(x[::-1].copy()).estimate == 0.01


@given(blocks(15))
def test_relations_between_the_tests(x):
    assume(has_spread(x, ""))
    plain = kernels.resampled_t(x)
    enlarged = kernels.nadeau_bengio_t(x, 9.0, 1.0)
    assert abs(enlarged.statistic) <= abs(plain.statistic)
    assert kernels.bouckaert_frank_t(x.reshape(3, 5), 1 / 9) == enlarged
    cuts = x[:10].reshape(5, 2)
    if has_spread(cuts, "yildiz_t"):
        f, t = kernels.alpaydin_f(cuts), kernels.yildiz_t(cuts)
        # The sum of squares is that of the mean and of the deviations from it.
        rest = ((cuts - cuts.mean()) ** 2).sum() / (2 * within_cuts(cuts))
        assert f.statistic == pytest.approx(rest + t.statistic**2 / 10, rel=1e-9)
        assert kernels.calibrated_f(cuts).statistic == f.statistic


# Without spread.

NO_SPREAD = {
    "resampled_t": np.ones(7),
    "kfold_t": np.ones(7),
    "nadeau_bengio_t": np.ones(7),
    "bouckaert_frank_t": np.ones((3, 5)),
    "bouckaert_t": np.ones((10, 10)),
    "blocked_t": np.ones((3, 2)),
    "dietterich_t": np.ones((5, 2)),
    "yildiz_t": np.ones((5, 2)),
}


@every_t
@pytest.mark.parametrize("side", SIDES)
def test_equal_differences(name, side):
    ones = NO_SPREAD[name]
    assert call(name, 0 * ones, side) == FoldOutcome(0.0, 1.0, 0.0, 0.0, DEGENERATE)
    up, down = call(name, 0.1 * ones, side), call(name, -0.1 * ones, side)
    assert np.isnan([*up[:2], *down[:2]]).all()
    assert up.status == down.status == UNDEFINED
    assert up.estimate == pytest.approx(0.1, rel=1e-15)
    assert up.standard_error == 0


@every_t
def test_rounding_of_scores_is_no_spread(name):
    shape = NO_SPREAD[name].shape
    worse = np.linspace(0.1, 0.7, np.prod(shape)).reshape(shape)
    x = (worse + 0.1) - worse
    assert np.ptp(x) > 0
    assert call(name, x).status == UNDEFINED


def test_spread_within_the_cuts_alone_counts_for_5x2():
    x = np.repeat([[1.0], [2.0], [-1.0], [0.0], [-2.0]], 2, axis=1)
    assert kernels.dietterich_t(x).status == UNDEFINED
    assert kernels.yildiz_t(x) == FoldOutcome(0.0, 1.0, 0.0, 0.0, DEGENERATE)
    assert np.isnan(kernels.alpaydin_f(x)[:2]).all()
    assert kernels.alpaydin_f(x).status == UNDEFINED
    turned = kernels.dietterich_t(x[::-1].copy() * [[1], [1], [1], [1], [0]])
    assert turned.status == UNDEFINED
    x[0] = 0
    assert kernels.dietterich_t(x)[:2] == (0, 1)
    assert kernels.dietterich_t(x).status == DEGENERATE


def test_f_of_zeros():
    outcome = kernels.calibrated_f(np.zeros((5, 2)))
    assert outcome[:3] == (0, 1, 0)
    assert math.isnan(outcome.standard_error)
    assert outcome.status == DEGENERATE


def test_z_without_spread():
    equal = np.full((3, 2, 4), 0.1)
    none = (math.nan, math.nan)
    for x, wanted, status in ((0.0, (0, 1), DEGENERATE), (0.2, none, UNDEFINED)):
        outcome = kernels.conservative_z(np.full(4, -x), equal)
        np.testing.assert_array_equal(outcome[:2], wanted)
        assert outcome.status == status
        flat = kernels.bayle_z_in(np.full(6, x), np.arange(6) // 2, 3)
        np.testing.assert_array_equal(flat[:2], wanted)
        assert flat.status == kernels.bayle_z_out(np.full(6, x)).status == status
    # Folds that differ, each without spread: nothing within them to divide by.
    folds = np.arange(6) // 2
    assert kernels.bayle_z_in(folds * 0.1, folds, 3).status == UNDEFINED
    assert kernels.bayle_z_in((folds - 1) * 0.1, folds, 3)[:2] == (0, 1)


def test_far_tails_keep_their_digits():
    x = np.array([1.0, 1.0, 1.0, 1.0 + 1e-9])
    found = kernels.kfold_t(x)
    assert found.statistic > 1e9
    wanted = 2 * stats.t(3).sf(found.statistic)
    assert 0 < found.pvalue == pytest.approx(wanted, rel=1e-9)
    z = kernels.fold_t(np.array([1.0, 1.5]), 0.015, math.inf)
    assert 0 < z.pvalue == pytest.approx(2 * stats.norm.sf(z.statistic), rel=1e-9)


def test_one_nan_or_infinity_anywhere_is_invalid():
    x = np.random.default_rng(1).normal(size=10)
    halves = np.random.default_rng(2).normal(size=(3, 2, 4))
    folds = np.arange(10) // 5
    for i, bad in ((i, bad) for i in range(10) for bad in (math.nan, math.inf)):
        spoilt = x.copy()
        spoilt[i] = -bad
        cuts = spoilt.reshape(5, 2)
        outcomes = [
            kernels.kfold_t(spoilt),
            kernels.dietterich_t(cuts),
            kernels.yildiz_t(cuts),
            kernels.alpaydin_f(cuts),
            kernels.bayle_z_out(spoilt),
            kernels.bayle_z_in(spoilt, folds, 2),
            kernels.conservative_z(spoilt, halves),
        ]
        spoilt_half = halves.copy()
        spoilt_half.flat[i] = bad
        outcomes.append(kernels.conservative_z(x, spoilt_half))
        for outcome in outcomes:
            assert outcome.status == INVALID
            assert all(map(math.isnan, outcome[:4]))


# Many at once.


def collect(fill, n):
    out, status = np.empty((4, n)), np.empty(n, np.uint8)
    fill(out, status)
    return [FoldOutcome(*out[:, i], status[i]) for i in range(n)]


def assert_same(found, wanted):
    np.testing.assert_array_equal(np.array(found), np.array(wanted))


@pytest.fixture(scope="module")
def rows():
    n = 500
    rows = np.random.default_rng(3).normal(0.01, 0.03, (n, 10)).round(2)
    rows[1], rows[2], rows[3, 4] = 0.0, 0.1, math.nan
    return rows


@pytest.mark.parametrize("side", SIDES)
def test_many_equal_one_at_a_time(rows, side):
    n, cuts, folds = len(rows), rows.reshape(-1, 5, 2), np.arange(10) % 3
    halves = np.random.default_rng(4).normal(0, 0.1, (n, 2, 2, 10))
    two_fold = {
        DIETTERICH_T: lambda x: kernels.dietterich_t(x, side),
        YILDIZ_T: lambda x: kernels.yildiz_t(x, side),
        ALPAYDIN_F: kernels.alpaydin_f,
        CALIBRATED_F: kernels.calibrated_f,
    }
    for code, kernel in two_fold.items():
        many = partial(two_fold_many, cuts, code, side)
        found = collect(many, n)
        assert_same(found, [kernel(x) for x in cuts])
    found = collect(partial(fold_t_many, rows, 1 / 90, 9.0, side), n)
    assert_same(found, [kernels.kfold_t(x, side) for x in rows])
    found = collect(partial(conservative_z_many, rows, halves, side), n)
    pairs = zip(rows, halves, strict=True)
    assert_same(found, [kernels.conservative_z(x, h, side) for x, h in pairs])
    found = collect(partial(bayle_z_many, rows, folds, 0, side), n)
    assert_same(found, [kernels.bayle_z_out(x, side) for x in rows])
    found = collect(partial(bayle_z_many, rows, folds, 3, side), n)
    assert_same(found, [kernels.bayle_z_in(x, folds, 3, side) for x in rows])
