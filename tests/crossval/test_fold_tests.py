"""`fold_test` as users call it: references, records, and refusals."""

from __future__ import annotations

import math
import re
from pathlib import Path

import numpy as np
import pytest
from libraries import stats
from reference_cases import cases, expected, parametrize

from fastcmp import fold_test
from fastcmp.kernels import DEGENERATE, OK

SIZES = {"n_train": 90, "n_test": 10}

#: By method: shape of the data of one test, and the options it needs.
TESTS = {
    "resampled-t": ((15,), {}),
    "kfold-t": ((10,), {}),
    "nadeau-bengio-t": ((15,), SIZES),
    "bouckaert-frank-t": ((3, 5), {}),
    "bouckaert-t": ((10, 10), {}),
    "dietterich-t": ((5, 2), {}),
    "yildiz-t": ((5, 2), {}),
    "blocked-t": ((3, 2), {}),
    "alpaydin-f": ((5, 2), {}),
    "calibrated-f": ((5, 2), {}),
}
every_test = pytest.mark.parametrize("name", TESTS)
FOLDS = [0, 1, 2, 3] * 5


def call(name, x, **options):
    return fold_test(x, name, **(TESTS[name][1] | options))


def bayle_z(x, folds, **options):
    return fold_test(x, "bayle-z", folds=folds, **options)


def conservative_z(x, halves, **options):
    return fold_test(x, "conservative-z", half_differences=halves, **options)


def rng():
    return np.random.default_rng(20261121)


def example(name, *leading):
    return rng().normal(0.01, 0.03, (*leading, *TESTS[name][0]))


# Values that other programs give.


def scores(case):
    return np.subtract(case["input"]["score_A"], case["input"]["score_B"])


def check(case, result):
    assert result.statistic == expected(case, "statistic")
    assert result.pvalue == expected(case, "pvalue")
    wanted = case["expected"]
    if "df" in wanted:
        assert result.df == wanted["df"]
    if "df1" in wanted:
        assert result.df == (wanted["df1"], wanted["df2"])
    none = case["kind"] == "convention"
    assert result.status == (DEGENERATE if none else OK)


CASES = {
    "cv_resampled_t": "resampled-t",
    "cv_kfold_t": "kfold-t",
    "cv_corrected_resampled_t": "nadeau-bengio-t",
    "cv_rxk_corrected_t": "bouckaert-frank-t",
    "cv_10x10_t_calibrated": "bouckaert-t",
    "cv_5x2_t_dietterich": "dietterich-t",
    "cv_5x2_t_combined": "yildiz-t",
    "cv_5x2_f_alpaydin": "alpaydin-f",
    "cv_5x2_bcv_f_calibrated": "calibrated-f",
    "cv_3x2_blocked_t": "blocked-t",
}


@pytest.mark.parametrize("kind", CASES)
def test_against_references(kind):
    for case in cases(kind):
        name, options = CASES[kind], {}
        if name == "nadeau-bengio-t":
            options = {size: case["options"][size] for size in SIZES}
            if case["options"].get("alternative", "unequal") != "unequal":
                assert case["options"]["alternative"] == "mean(score_A-score_B)>0"
                options["alternative"] = "greater"
        if name == "bouckaert-frank-t":
            ratio = case["options"]["n_test_over_n_train"]
            check(case, fold_test(scores(case), "bouckaert-frank-t", n_train=1, n_test=ratio))
        check(case, fold_test(scores(case), name, **options))


@parametrize("cv_conservative_z")
def test_conservative_z_against_references(case):
    x, halves = case["input"]["mu_j"], case["input"]["half_splits"]
    result = conservative_z(x, halves)
    check(case, result)
    assert result.estimate == expected(case, "estimate")
    assert result.standard_error == expected(case, "se")


@parametrize("cv_bayle_z")
def test_bayle_z_against_references(case):
    """The cases subtract losses, where lower is better: ours is the negative."""
    x = np.negative(case["input"]["loss_difference"])
    n_folds = case["input"]["n_folds"]
    folds = np.repeat(np.arange(n_folds), x.size // n_folds)
    result = bayle_z(x, folds, variance=case["options"]["variance"])
    assert -result.statistic == expected(case, "statistic")
    assert result.pvalue == expected(case, "pvalue")
    assert -result.estimate == expected(case, "estimate")
    assert result.standard_error == expected(case, "se")
    if "ci95" in case["expected"]:
        low, high = result.confidence_interval()
        assert [-high, -low] == expected(case, "ci95")


# Values that can be had in other ways.


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
@pytest.mark.parametrize("name", ["resampled-t", "kfold-t"])
def test_paired_t_is_scipys(name, alternative):
    x = example(name, 6)
    result = call(name, x, alternative=alternative)
    wanted = stats.ttest_1samp(x, 0, axis=-1, alternative=alternative)
    np.testing.assert_allclose(result.statistic, wanted.statistic, rtol=1e-10)
    np.testing.assert_allclose(result.pvalue, wanted.pvalue, rtol=1e-10)
    ends = wanted.confidence_interval(0.9)
    low, high = result.confidence_interval(0.9)
    np.testing.assert_allclose(low, ends.low, rtol=1e-9)
    np.testing.assert_allclose(high, ends.high, rtol=1e-9)
    assert result.df == wanted.df[0]


def test_bouckaert_frank_with_other_sizes():
    x = example("bouckaert-frank-t")
    result = fold_test(x, "bouckaert-frank-t", n_train=2, n_test=1)
    wanted = fold_test(x.ravel(), "nadeau-bengio-t", n_train=2, n_test=1)
    assert result.statistic == wanted.statistic
    assert fold_test(x[:, :1], "bouckaert-frank-t", n_train=2, n_test=1).df == 2


def test_blocked_t_with_correlations():
    x = rng().normal(size=(5, 2))
    plain, enlarged = fold_test(x, "blocked-t"), fold_test(x, "blocked-t", rho1=0.5, rho2=0.5)
    assert (plain.df, enlarged.df) == pytest.approx((9, 9), rel=1e-12)
    assert plain.statistic == pytest.approx(x.mean() / x.std(), rel=1e-12)
    assert enlarged.statistic == pytest.approx(plain.statistic / math.sqrt(11 / 9), rel=1e-12)
    result = fold_test(x, "blocked-t", rho1=0, rho2=0.25)
    assert result.df != int(result.df)
    reach = stats.t(result.df).ppf(0.9) * math.sqrt((1 + 8 / 4) / (9 - 8 / 4)) * x.std()
    ends = x.mean() - reach, x.mean() + reach
    assert tuple(result.confidence_interval(0.8)) == pytest.approx(ends)


# Shapes and types.


@every_test
def test_leading_axes(name):
    x = example(name, 2, 3)
    result = call(name, x)
    for field in ("statistic", "pvalue", "estimate", "standard_error", "status"):
        found = getattr(result, field)
        assert found.shape == (2, 3)
        wanted = [[getattr(call(name, part), field) for part in row] for row in x]
        np.testing.assert_array_equal(found, wanted)
    assert type(result.n_folds) is int
    assert result.df == call(name, x[0, 0]).df


def test_leading_axes_of_z():
    draws = rng()
    x, halves = draws.normal(size=(2, 3, 20)), draws.normal(size=(2, 3, 5, 2, 20))
    for test in (
        lambda *at: conservative_z(x[at], halves[at]),
        lambda *at: bayle_z(x[at], FOLDS),
        lambda *at: bayle_z(x[at], FOLDS, variance="in"),
    ):
        result, one = test(), test(1, 2)
        assert (result.pvalue[1, 2], result.pvalue.shape) == (one.pvalue, (2, 3))


# The record.


@pytest.mark.parametrize("name", ["alpaydin-f", "calibrated-f"])
def test_f_has_no_interval(name):
    result = call(name, example(name))
    assert math.isnan(result.standard_error)
    assert result.test == name
    with pytest.raises(ValueError, match=f"'{result.test}' gives no interval"):
        result.confidence_interval()


# What is refused.


@every_test
def test_differences_that_are_not_finite(name):
    x = example(name, 2, 3)
    x[1, 2].flat[-1] = -math.inf
    place = ", ".join(map(str, (1, 2, *(n - 1 for n in TESTS[name][0]))))
    message = re.escape(f"x must be finite, got -inf at [{place}]")
    with pytest.raises(ValueError, match=message):
        call(name, x)


@pytest.mark.parametrize(
    ("name", "shape", "message"),
    [
        ("kfold-t", (3, 0), "x must have shape (..., K), got shape (3, 0)"),
        ("bouckaert-frank-t", (10,), "x must have shape (..., r, k), got shape (10,)"),
        ("bouckaert-t", (10, 9), "x must have shape (..., 10, 10), got shape (10, 9)"),
        ("dietterich-t", (10,), "x must have shape (..., 5, 2), got shape (10,)"),
        ("blocked-t", (3, 3), "x must have shape (..., m, 2), got shape (3, 3)"),
        ("resampled-t", (1,), "at least 2 splits, got 1"),
        ("kfold-t", (5, 1), "at least 2 folds, got 1"),
        ("bouckaert-frank-t", (1, 1), "at least 2 folds, got 1"),
        ("bouckaert-frank-t", (9, 1), "at least 2 folds a repetition"),
        ("blocked-t", (1, 2), "at least 2 cuts in halves, got 1"),
    ],
)
def test_shapes_that_do_not_fit(name, shape, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        call(name, np.zeros(shape))


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("bouckaert-frank-t", {"n_train": 9}, "give both n_train and n_test, got"),
        ("bouckaert-frank-t", {"n_train": 1, "n_test": -0.1}, "n_test must be positive and finite"),
        ("nadeau-bengio-t", {"n_train": 1e-300, "n_test": 1e300}, "n_test / n_train must be posi"),
        ("blocked-t", {"rho1": 0.5}, "give both rho1 and rho2, or neither, got 0.5 and None"),
        ("blocked-t", {"rho1": 1.1, "rho2": 0.5}, "rho1 must lie in (-1, 1], got 1.1"),
        ("blocked-t", {"rho1": 0, "rho2": 0.51}, "rho2 must lie in [0, (1 + rho1) / 2] = [0, 0."),
        ("blocked-t", {"rho1": 1, "rho2": 1}, "leave no variance to divide by"),
    ],
)
def test_options_that_cannot_be(name, options, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        call(name, example(name), **options)


@pytest.mark.parametrize(
    ("x", "halves"),
    [((4,), (3, 2, 5)), ((4,), (2, 3, 2, 4)), ((2, 4), (3, 2, 4)), ((2, 4), (3, 3, 2, 4))],
)
def test_halves_that_do_not_fit(x, halves):
    message = "half_differences must have shape .* beside x of shape"
    with pytest.raises(ValueError, match=message):
        conservative_z(np.zeros(x), np.zeros(halves))
    halves = np.zeros((2, 3, 2, 4))
    halves[1, 0, 1, 3] = math.nan
    message = r"half_differences must be finite, got nan at \[1, 0, 1, 3\]"
    with pytest.raises(ValueError, match=message):
        conservative_z(np.zeros((2, 4)), halves)


@pytest.mark.parametrize(
    ("folds", "message"),
    [
        ([0, 1, 0], "folds must have shape (4,), one for each sample, got (3,)"),
        ([0, 1, 10**9, 1], "folds must be numbered from 0 and below 4, got 1000000000"),
        ([0, 0, 2, 2], "without gaps, got no sample in fold 1"),
        ([0, 0, 0, 0], "folds must hold at least 2 folds, got 1"),
        ([0, 0, 0, 1], "variance='in' needs 2 samples in each fold, got 1 in fold 1"),
    ],
)
def test_folds_that_cannot_be(folds, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        bayle_z([1, 0, 0, -1], folds, variance="in")


def test_methods_and_their_options():
    """Docstring and page list every method; an option of another one is not taken in silence."""
    x = example("dietterich-t")
    with pytest.raises(ValueError, match="method must be one of") as caught:
        fold_test(x, "bcv-mcnemar")
    known = re.findall(r"'([a-z-]+)'", str(caught.value).partition("(")[2].partition(")")[0])
    assert {*TESTS, "bayle-z", "conservative-z", "proportion-z", "naive-mcnemar"} == {*known}
    page = Path(__file__).parents[2] / "docs" / "howto" / "crossval.md"
    for listed in (fold_test.__doc__ or "", page.read_text(encoding="utf-8")):
        assert all(f'"{name}"' in listed for name in known)
    assert fold_test(x, "Dietterich T").pvalue == fold_test(x, "dietterich_t").pvalue
    for name, options, message in (
        ("alpaydin-f", {"alternative": "less"}, "is two-sided only, got alternative='less'"),
        ("calibrated-f", {"alternative": "less"}, "is two-sided only, got alternative='less'"),
        (
            "kfold-t",
            {"n_train": 9},
            "^n_train is an option of nadeau-bengio-t and bouckaert-frank-",
        ),
        ("bouckaert-frank-t", {"rho1": 0.5}, "^rho1 is an option of blocked-t, not of method 'b"),
        ("bayle-z", {}, "method 'bayle-z' needs folds="),
        ("nadeau-bengio-t", {"n_train": 9}, "method 'nadeau-bengio-t' needs n_test="),
    ):
        with pytest.raises(ValueError, match=message):
            fold_test(x, name, **options)
