"""DeLong's covariance and what is asked of it, against definitions and references."""

from itertools import combinations
from math import isnan, nan, sqrt

import naive
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from libraries import mpmath, stats
from reference_cases import expected, parametrize
from strategies import levels

from fastcmp import adjust, auc, delong, delong_unpaired, hanley_mcneil
from fastcmp.kernels import DEGENERATE, OK

SMALL = [0, 0, 0, 1, 1, 1]
A, B = [1, 2, 3, 2, 4, 5], [3, 1, 2, 2, 3, 4]
ALTERNATIVES = ("two-sided", "greater", "less")


@st.composite
def problems(draw, largest=24, most_models=4, least_models=1):
    """Draw labels with two of each class at least, and models with ties or without."""
    n = draw(st.integers(4, largest))
    m = draw(st.integers(least_models, most_models))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    y_true = rng.integers(0, 2, n)
    y_true[rng.permutation(n)[:4]] = 0, 0, 1, 1
    scores = rng.normal(size=(m, n)) + draw(st.sampled_from([0.0, 1.0, 5.0])) * y_true
    return y_true, scores.round(draw(st.sampled_from([0, 1, 12])))


def random_problem(n=300, m=6, seed=0, digits=12):
    rng = np.random.default_rng(seed)
    y_true = rng.integers(0, 2, n)
    shift = np.linspace(0.2, 1.4, m)[:, None]
    common = rng.normal(size=n)
    return y_true, (rng.normal(size=(m, n)) + common + shift * y_true).round(digits)


def as_floats(fractions):
    return np.array(fractions, float)


# Against references.


def read_case(case):
    return delong(case["input"]["y"], case["input"]["scores"], positive=1)


@parametrize("auc_delong_covariance")
def test_reference_covariance(case):
    result = read_case(case)
    np.testing.assert_allclose(
        result.covariance, case["expected"]["covariance"], rtol=1e-9, atol=1e-15
    )
    assert result.auc.tolist() == expected(case, "auc")
    low, high = result.confidence_interval()
    np.testing.assert_allclose(np.column_stack([low, high]), case["expected"]["ci95"], rtol=1e-9)


@parametrize("auc_delong_test")
def test_reference_tests(case):
    result = read_case(case)
    first, second = case["input"]["pair"]
    test = result.compare(first, second)
    assert test.difference == expected(case, "difference")
    assert test.standard_error == expected(case, "se")
    assert test.statistic == expected(case, "statistic")
    assert test.pvalue == expected(case, "pvalue")
    assert test.status == OK
    assert list(test.confidence_interval()) == expected(case, "ci95")
    greater = result.compare(first, second, alternative="greater")
    assert greater.pvalue == expected(case, "pvalue_greater")
    less = result.compare(first, second, alternative="less")
    assert less.pvalue == pytest.approx(1 - greater.pvalue, rel=1e-9)


@parametrize("auc_delong_contrast")
def test_reference_contrasts(case):
    result = read_case(case)
    m = result.auc.size
    rows = np.column_stack([np.ones(m - 1), -np.eye(m - 1)])
    test = result.contrast(rows)
    assert test.pvalue == expected(case, "pvalue")
    assert case["expected"]["df"] == m - 1
    if m == 2:
        assert test.statistic**2 == expected(case, "statistic")
        assert (test.distribution, test.df) == ("normal", None)
        return
    assert test.statistic == expected(case, "statistic")
    assert (test.distribution, test.df) == ("chi2", m - 1)


@parametrize("auc_hanley_mcneil_se")
def test_reference_standard_errors(case):
    data = case["input"]
    found = hanley_mcneil(data["auc"], data["n_pos"], data["n_neg"])
    assert found == expected(case, "se")


# Against the definition.


@given(problems())
def test_covariance_equals_its_definition(drawn):
    result = delong(*drawn)
    area, covariance = naive.delong_covariance(*drawn)
    np.testing.assert_allclose(result.auc, as_floats(area), rtol=1e-13)
    wanted = as_floats(covariance)
    np.testing.assert_allclose(result.covariance, wanted, rtol=1e-10, atol=1e-16)
    np.testing.assert_allclose(
        result.standard_error, np.sqrt(np.diag(wanted)), rtol=1e-9, atol=1e-15
    )
    np.testing.assert_allclose(result.auc, auc(*drawn), rtol=1e-13)


@given(problems(least_models=2), st.sampled_from(ALTERNATIVES))
def test_comparisons_equal_their_definition(drawn, alternative):
    area, v = naive.delong_covariance(*drawn)
    result = delong(*drawn)
    for i, j in combinations(range(len(area)), 2):
        test = result.compare(i, j, alternative=alternative)
        variance = v[i, i] + v[j, j] - 2 * v[i, j]
        difference = area[i] - area[j]
        assert test.difference == pytest.approx(float(difference), abs=1e-15)
        if variance == 0:
            assert test.status == DEGENERATE
            assert test.standard_error == 0
            assert naive.sign(test.statistic) == naive.sign(difference)
            assert test.pvalue > 0
            continue
        assert test.status == OK
        z = float(difference) / sqrt(variance)
        assert test.statistic == pytest.approx(z, rel=1e-8, abs=1e-12)
        tails = {
            "two-sided": 2 * stats.norm.sf(abs(z)),
            "greater": stats.norm.sf(z),
            "less": stats.norm.cdf(z),
        }
        assert test.pvalue == pytest.approx(tails[alternative], rel=1e-7)


@given(problems(largest=40, most_models=5), st.integers(0, 2**32 - 1))
def test_contrasts_equal_the_quadratic_form(drawn, seed):
    rows = np.random.default_rng(seed).integers(-2, 3, (3, len(drawn[1])))
    result = delong(*drawn)
    test = result.contrast(rows)
    v = rows @ result.covariance @ rows.T
    values = np.linalg.eigvalsh(v)
    scale = max(values[-1], 1e-12)
    assume(np.all((values > 1e-8 * scale) | (abs(values) < 1e-14 * scale)))
    estimate = rows @ result.auc
    np.testing.assert_allclose(test.estimate, estimate, atol=1e-15)
    if isnan(test.statistic):
        return
    assert test.df == (values > 1e-8 * scale).sum()
    wanted = estimate @ np.linalg.pinv(v, rcond=1e-9, hermitian=True) @ estimate
    assert test.statistic == pytest.approx(wanted, rel=1e-6, abs=1e-10)
    if test.df:
        sf = stats.chi2.sf(test.statistic, test.df)
        assert test.pvalue == pytest.approx(sf, rel=1e-9)


# What is said of one AUC.


@given(problems(), levels)
def test_intervals_equal_their_formulas(drawn, level):
    result = delong(*drawn)
    z = stats.norm.ppf((1 + level) / 2)
    error = result.standard_error
    low, high = result.confidence_interval(level)
    np.testing.assert_allclose(low, np.maximum(result.auc - z * error, 0), atol=1e-12)
    np.testing.assert_allclose(high, np.minimum(result.auc + z * error, 1), atol=1e-12)
    low, high = result.confidence_interval(level, method="logit")
    for k, area in enumerate(result.auc):
        if 1e-9 < area < 1 - 1e-9:
            spread = z * error[k] / (area * (1 - area))
            ends = stats.logistic.cdf(stats.logistic.ppf(area) + spread * np.array([-1, 1]))
            assert [low[k], high[k]] == pytest.approx(list(ends), rel=1e-9)
            assert 0 <= low[k] <= area <= high[k] <= 1


def test_one_model():
    result = delong(SMALL, A)
    assert result.auc.shape == (1,)
    assert result.covariance.shape == (1, 1)
    assert result.names == ("scores",)
    assert (result.n_positives, result.n_negatives) == (3, 3)
    assert result.n_clusters is None
    with pytest.raises(ValueError, match=r"no model 1; there are \['scores'\]"):
        result.compare()
    with pytest.raises(ValueError, match="at least 2 models, got 1"):
        result.pairwise()
    test = result.contrast([1])
    z = result.auc[0] / sqrt(result.covariance[0, 0])
    assert test.statistic == pytest.approx(z)
    text = str(result)
    assert "3 positives (1), 3 negatives (0)" in text
    assert "DeLong's test" not in text


@pytest.mark.parametrize(("n1", "n0"), [(2, 2), (3, 49), (49, 3), (49, 98), (7, 161)])
def test_perfect_separation(n1, n0):
    y_true = np.repeat([0, 1], [n0, n1])
    scores = np.arange(n0 + n1)
    result = delong(y_true, [scores, -scores, np.zeros(n0 + n1), scores**2])
    assert result.auc.tolist() == [1, 0, 0.5, 1]
    assert not result.covariance.any()
    low, high = result.confidence_interval(method="wald")
    assert low.tolist() == high.tolist() == [1, 0, 0.5, 1]
    low, high = result.confidence_interval(method="logit")
    rarer = stats.binomtest(min(n0, n1), min(n0, n1)).proportion_ci(method="wilson")
    np.testing.assert_allclose(low, [rarer.low, 0, 0.5, rarer.low], atol=1e-12)
    np.testing.assert_allclose(high, [1, 1 - rarer.low, 0.5, 1], atol=1e-12)
    test = result.compare(0, 1)
    assert test.status == DEGENERATE
    assert 0 < test.pvalue < 1
    assert test.distribution == "t"
    assert test.df == min(n0, n1) - 1
    low, high = test.confidence_interval()
    assert -1 < low < 1 == high
    assert (low > 0) == (test.pvalue < 0.05)
    assert result.compare(1, 0).statistic == -test.statistic
    greater = result.compare(0, 2, alternative="greater").pvalue
    assert 2 * greater == pytest.approx(result.compare(0, 2).pvalue)
    assert result.compare(0, 2, alternative="less").pvalue == pytest.approx(1 - greater)
    same = result.compare(0, 3)
    assert (same.statistic, same.pvalue, same.status) == (0, 1, DEGENERATE)
    assert isnan(result.contrast([1, -1, 0, 0]).pvalue)
    assert isnan(result.contrast([1, -1, 0, 0]).statistic)
    assert isnan(result.contrast([[1, -1, 0, 0], [0, 0, 0, 0]]).pvalue)
    assert result.contrast([1, 0, 0, -1]).pvalue == 1
    assert result.contrast([1, 1, -2, 0]).pvalue == 1


@given(problems(), st.sampled_from(ALTERNATIVES))
def test_identical_curves(drawn, alternative):
    y_true, scores = drawn
    ranks = np.unique(scores[0], return_inverse=True)[1]
    result = delong(y_true, [*scores, scores[0], np.exp2(ranks)])
    for copy in (-1, -2):
        test = result.compare(0, copy, alternative=alternative)
        assert (test.statistic, test.pvalue, test.status) == (0, 1, DEGENERATE)
        assert (test.difference, test.standard_error) == (0, 0)
        low, high = test.confidence_interval()
        assert -1 <= low < 0 < high <= 1
        assert (low == -1) >= (alternative == "less")
        assert (high == 1) >= (alternative == "greater")
        rows = np.zeros(len(scores) + 2)
        rows[[0, copy]] = 1, -1
        contrast = result.contrast(rows)
        assert (contrast.statistic, contrast.pvalue, contrast.df) == (0, 1, None)


def test_identical_curves_of_many_samples():
    y_true, scores = random_problem(20_001, 3)
    result = delong(y_true, [*scores, 3 * scores[1] + 1])
    test = result.compare(1, 3)
    assert (test.statistic, test.pvalue, test.status) == (0, 1, DEGENERATE)
    pairs = result.pairwise()
    found = dict(zip(map(tuple, pairs.pairs.tolist()), pairs.pvalue, strict=True))
    assert found[1, 3] == 1
    assert result.contrast([[0, 1, 0, -1], [1, 0, 0, -1], [1, -1, 0, 0]]).df == 1


# Models by name, signs and margins.


def test_models_by_name_and_position():
    named = delong(SMALL, {"a": A, "b": B})
    wanted = named.compare(0, 1)
    for i, j in (("a", "b"), (0, "b"), (-2, -1), (np.int64(0), np.uint8(1))):
        test = named.compare(i, j)
        assert (test.pvalue, test.names) == (wanted.pvalue, ("a", "b"))
    assert (wanted.auc_a, wanted.auc_b) == tuple(named.auc)
    assert named.compare().statistic == wanted.statistic
    itself = named.compare("a", "a")
    assert (itself.pvalue, itself.status) == (1, DEGENERATE)
    assert delong(SMALL, [A, B]).names == ("model_0", "model_1")


def test_unknown_models():
    result = delong(SMALL, {"a": A, "b": B})
    for model in ("c", 2, -3, "0", 0.5, None):
        with pytest.raises((TypeError, ValueError), match="model"):
            result.compare("a", model)


@given(problems(least_models=2))
def test_swapped_models_change_the_sign(drawn):
    result = delong(*drawn)
    one, other = result.compare(0, 1), result.compare(1, 0)
    assert one.statistic == -other.statistic
    assert one.difference == -other.difference
    assert one.pvalue == other.pvalue
    low, high = one.confidence_interval()
    assert other.confidence_interval() == (-high, -low)
    greater = result.compare(0, 1, alternative="greater")
    assert greater.pvalue == result.compare(1, 0, alternative="less").pvalue


@given(problems(least_models=2), st.floats(0, 0.5))
def test_margins_equal_their_formula(drawn, margin):
    result = delong(*drawn)
    plain = result.compare(0, 1)
    assume(plain.status == OK)
    above = result.compare(0, 1, alternative="greater", margin=margin)
    below = result.compare(0, 1, alternative="less", margin=margin)
    assert above.difference == below.difference == plain.difference
    assert above.margin == margin
    if not margin:
        assert above.pvalue == pytest.approx(stats.norm.sf(plain.statistic), rel=1e-9)
        return
    for test, at in ((above, -margin), (below, margin)):
        assert (test.distribution, test.df) == ("t", test.n_rarer[0] - 1)
        assert test.pvalue == pytest.approx(
            stats.t.sf(test.statistic, test.df)
            if test is above
            else stats.t.cdf(test.statistic, test.df)
        )
        if 1e-6 < test.pvalue < 0.49:  # the end of the interval is what is tested
            low, high = test.confidence_interval(1 - test.pvalue)
            assert (low if test is above else high) == pytest.approx(at, abs=1e-6)


@pytest.mark.parametrize(
    ("n_pos", "n_neg", "area"), [(3, 50, 0.9), (10, 200, 0.94), (200, 10, 0.9), (20, 20, 0.94)]
)
def test_a_margin_keeps_its_level_where_failures_are_rare(n_pos, n_neg, area):
    rng = np.random.default_rng(n_pos)
    y = np.repeat([1, 0], [n_pos, n_neg])
    rarer = np.flatnonzero(y == (n_pos <= n_neg))
    wrong = 0
    for _ in range(50):
        scores = np.where(y == 1, 9.0, rng.random(y.size)) * np.ones((2, 1))
        for model, missed in enumerate((1 - area, 0.95 - area)):
            failed = rarer[rng.random(rarer.size) < missed]
            scores[model, failed] = -1 if n_pos <= n_neg else 10
        test = delong(y, scores).compare(margin=0.05)
        wrong += test.margins.margin_met
    assert wrong / 50 < 0.1


def test_few_samples_show_no_equivalence():
    for scores in ([A, A], [SMALL, SMALL]):
        test = delong(SMALL, scores).compare(margin=0.1)
        assert test.margins.decision == "cannot tell"
        assert test.margins.noninferiority_pvalue > 0.2
        assert test.margins.inner_interval.low < -0.1
    y = np.repeat([0, 1], 300)
    test = delong(y, [y, y]).compare(margin=0.05)
    assert test.margins.decision == "equivalent"
    assert 0 < test.margins.equivalence_pvalue < 0.05


def test_bad_comparisons():
    result = delong(SMALL, [A, B])
    for options, message in (
        ({"alternative": "better"}, "alternative must be one of"),
        ({"margin": 1}, "margin must be below 1, the largest possible difference"),
        ({"margin": nan, "alternative": "greater"}, "finite and >= 0, got nan"),
    ):
        with pytest.raises(ValueError, match=message):
            result.compare(0, 1, **options)
        with pytest.raises(ValueError, match=message):
            delong_unpaired(SMALL, A, SMALL, B, **options)
    for ask in (result.confidence_interval, result.compare().confidence_interval):
        with pytest.raises(ValueError, match="confidence_level"):
            ask(1.5)
    with pytest.raises(ValueError, match="method must be one of"):
        result.confidence_interval(method="exact")
    with pytest.raises(ValueError, match="adjust must be one of"):
        result.pairwise(adjust="fisher")


# Contrasts.


def test_a_contrast_of_two_is_their_comparison():
    y_true, scores = random_problem()
    result = delong(y_true, scores)
    for i, j in combinations(range(6), 2):
        test = result.compare(i, j)
        row = np.eye(6)[i] - np.eye(6)[j]
        for rows, sign in ((row, 1), ([-row], -1), (3 * row, 1)):
            contrast = result.contrast(rows)
            assert (contrast.distribution, contrast.df) == ("normal", None)
            assert contrast.statistic == pytest.approx(sign * test.statistic, rel=1e-9)
            assert contrast.pvalue == pytest.approx(test.pvalue, rel=1e-9)
            assert np.sign(contrast.estimate[0]) == sign * np.sign(test.difference)


def test_no_contrast():
    test = delong(SMALL, [A, B]).contrast([0, 0])
    assert (test.statistic, test.pvalue, test.df) == (0, 1, None)
    test = delong(SMALL, [A, B]).contrast([[0, 0], [0, 0]])
    assert (test.statistic, test.pvalue, test.df) == (0, 1, 0)
    assert "df = 0, p = 1" in str(test)


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        ([1, -1, 0], r"2 columns, one for each model, got shape \(3,\)"),
        ([[[0, 0]]], r"got shape \(1, 1, 2\)"),
        (1.0, r"got shape \(\)"),
        ([nan, 1], "matrix"),
        (["a", "b"], "matrix must be numbers"),
        ([[1, 2], [3]], "matrix must be numbers"),
    ],
    ids=str,
)
def test_bad_contrasts(matrix, message):
    with pytest.raises((ValueError, TypeError), match=message):
        delong(SMALL, [A, B]).contrast(matrix)


# All pairs.


@pytest.mark.parametrize("control", [None, "w", 2])
@pytest.mark.parametrize("method", ["holm", "bh", "none"])
def test_pairwise_equals_comparisons(method, control):
    y_true, scores = random_problem(digits=1)
    result = delong(y_true, dict(zip("uvwxyz", scores, strict=True)))
    found = result.pairwise(adjust=method, control=control)
    pairs = sorted(map(tuple, found.pairs.tolist()))
    if control is None:
        assert pairs == list(combinations(range(6), 2))
    else:
        assert pairs == [(2, j) for j in (0, 1, 3, 4, 5)]
        assert (found.control, found.n_pairs) == ("w", 5)
    for k, (i, j) in enumerate(found.pairs):
        test = result.compare(i, j)
        assert (found.statistic[k], found.pvalue[k]) == (test.statistic, test.pvalue)
        assert found.difference[k] == test.difference
        assert tuple(found.interval[k]) == pytest.approx(test.confidence_interval())
    np.testing.assert_allclose(found.pvalue_adjusted, adjust(found.pvalue, method=method))
    assert (found.names, found.adjust) == (tuple("uvwxyz"), method)
    with pytest.raises(ValueError, match="control names no model"):
        result.pairwise(control="a")


def test_the_leaderboard_is_by_auc():
    y_true, scores = random_problem()
    result = delong(y_true, dict(zip("uvwxyz", scores, strict=True)))
    found = result.pairwise(alpha=0.01)
    board = found.leaderboard
    order = np.argsort(-result.auc)
    assert board.names == tuple("uvwxyz"[i] for i in order)
    assert board.measure == "AUC"
    assert board.score.tolist() == result.auc[order].tolist()
    assert board.rank.tolist() == [1, 2, 3, 4, 5, 6]
    low, high = result.confidence_interval(0.99, "logit")
    np.testing.assert_array_equal(board.interval, np.column_stack([low, high])[order])
    assert found.best[0] == board.names[0]
    assert (found.alpha, found.test, found.n_samples) == (0.01, "delong", 300)
    np.testing.assert_array_equal(found.significant, found.pvalue_adjusted <= found.alpha)
    better, worse = found.decided
    assert np.all(result.auc[better] > result.auc[worse])
    assert found.significant.any()
    width = found.interval[:, 1] - found.interval[:, 0]
    narrow = result.pairwise(alpha=0.05).interval
    assert np.all(width > narrow[:, 1] - narrow[:, 0])


def test_outputs_without_counts():
    y_true, scores = random_problem(m=3)
    y_true = [None, *y_true.tolist()]
    scores = np.column_stack([np.zeros(3), scores])
    found = delong(y_true, dict(zip("xyz", scores, strict=True))).pairwise()
    assert found.n_missing == 1
    assert not {"only_a", "only_b"} & set(found.columns())
    assert found.to_dict()["leaderboard"]["AUC"] == found.leaderboard.score.tolist()
    text = str(found)
    assert "DeLong's test (normal approximation)" in text
    assert "CI of AUC is for that model alone (DeLong, logit)" in found.summary()
    assert "1 samples without a true label" in text
    assert found.matrix("pvalue").shape == (3, 3)
    with pytest.raises(ValueError, match="compared by AUC"):
        found.matrix("only_a")
    with pytest.raises(ValueError, match="compared by AUC, not by accuracy"):
        _ = found.accuracy


def test_pairs_without_variance():
    y_true = np.repeat([0, 1], 49)
    perfect, flat = np.arange(98), np.zeros(98)
    result = delong(y_true, {"a": perfect, "b": perfect**2, "c": flat, "d": flat + 1})
    found = result.pairwise()
    matrix = found.matrix("pvalue")
    assert matrix[0, 1] == matrix[2, 3] == 1
    assert 0 < matrix[0, 2] == matrix[1, 3] < 1e-3
    assert np.isfinite(found.statistic).all()
    assert (found.interval[:, 0] < found.interval[:, 1]).all()
    assert found.best == ("a", "b")
    assert found.tie_groups == (("a", "b"), ("c", "d"))
    assert "significantly different" in str(found)


# Laws.


@given(problems(), st.integers(0, 99))
def test_order_of_samples_and_models(drawn, seed):
    y_true, scores = drawn
    rng = np.random.default_rng(seed)
    samples, models = rng.permutation(len(y_true)), rng.permutation(len(scores))
    result = delong(y_true, scores)
    other = delong(y_true[samples], scores[:, samples])
    np.testing.assert_allclose(other.auc, result.auc, rtol=1e-13)
    np.testing.assert_allclose(other.covariance, result.covariance, atol=1e-16)
    other = delong(y_true, scores[models])
    np.testing.assert_array_equal(other.auc, result.auc[models])
    wanted = result.covariance[np.ix_(models, models)]
    np.testing.assert_allclose(other.covariance, wanted, atol=1e-16)


@given(problems())
def test_turning_labels_or_scores(drawn):
    y_true, scores = drawn
    result = delong(y_true, scores)
    np.testing.assert_allclose(result.covariance, result.covariance.T, atol=1e-17)
    for other in (
        delong(y_true, -scores),
        delong(y_true, scores, positive=0),
        delong(1 - y_true, scores),
    ):
        np.testing.assert_allclose(other.auc, 1 - result.auc, atol=1e-14)
        np.testing.assert_allclose(other.covariance, result.covariance, atol=1e-16)
    both = delong(1 - y_true, -scores)
    np.testing.assert_allclose(both.auc, result.auc, rtol=1e-14)


def test_workers_agree():
    y_true, scores = random_problem(40_000, 8)
    wanted = delong(y_true, scores, workers=1)
    for workers in (2, 4, 7, None):
        found = delong(y_true, scores, workers=workers)
        np.testing.assert_array_equal(found.auc, wanted.auc)
        np.testing.assert_array_equal(found.covariance, wanted.covariance)
    groups = np.arange(40_000) // 3
    one = delong(y_true, scores, groups=groups, workers=1)
    other = delong(y_true, scores, groups=groups, workers=4)
    np.testing.assert_array_equal(one.covariance, other.covariance)
    assert one.n_clusters == 13_334
    with pytest.raises(ValueError, match="workers must be at least 1"):
        delong(y_true, scores, workers=0)


def test_missing_labels_are_dropped():
    y_true, scores = random_problem(50, 2)
    holes = [None if i % 5 == 0 else int(y) for i, y in enumerate(y_true)]
    kept = np.arange(50) % 5 > 0
    groups = np.arange(50) // 3
    found, wanted = delong(holes, scores), delong(y_true[kept], scores[:, kept])
    np.testing.assert_array_equal(found.covariance, wanted.covariance)
    assert found.n_missing == 10
    found = delong(holes, scores, groups=groups)
    wanted = delong(y_true[kept], scores[:, kept], groups=groups[kept])
    np.testing.assert_array_equal(found.covariance, wanted.covariance)


# Clusters.


@st.composite
def clustered(draw):
    y_true, scores = draw(problems(20, 3))
    largest = draw(st.integers(1, len(y_true)))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    groups = rng.integers(0, largest + 1, len(y_true))
    assume(len(set(groups[y_true == 1])) > 1 < len(set(groups[y_true == 0])))
    return y_true, scores, groups


@given(clustered())
def test_clusters_equal_their_definition(drawn):
    y_true, scores, groups = drawn
    result = delong(y_true, scores, groups=groups)
    area, covariance = naive.obuchowski_covariance(y_true, scores, groups.tolist())
    np.testing.assert_allclose(result.auc, as_floats(area), rtol=1e-13)
    wanted = as_floats(covariance)
    np.testing.assert_allclose(result.covariance, wanted, rtol=1e-9, atol=1e-15)
    np.testing.assert_allclose(result.standard_error, np.sqrt(np.diag(wanted)), atol=1e-8)
    assert result.n_clusters == np.unique(groups).size
    assert result.confidence_interval(method="logit").low.min() >= 0


def test_clusters_whose_sums_cancel():
    # In each cluster the positive gains what the negative loses.
    rng = np.random.default_rng(0)
    for n in range(2, 30):
        y_true = np.repeat([0, 1], n)
        scores = np.concatenate([np.arange(n), np.arange(n)]) + 0.0
        groups = np.concatenate([np.arange(n), np.arange(n)])
        for order in (np.arange(2 * n), rng.permutation(2 * n)):
            result = delong(y_true[order], scores[order], groups=groups[order])
            assert result.covariance[0, 0] == pytest.approx(0, abs=1e-15)
            assert result.standard_error[0] == pytest.approx(0, abs=1e-7)
            assert not isnan(result.confidence_interval().low[0])


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ([1, None, 2, 3, 4, 5], "groups has missing entries"),
        ([1, 1, 1, 2, 3, 4], "2 clusters of each class, got 3 with positives and 1"),
        ([1, 2, 3, 4, 4, 4], "2 clusters of each class, got 1 with positives and 3"),
    ],
    ids=str,
)
def test_bad_clusters(groups, message):
    with pytest.raises(ValueError, match=message):
        delong(SMALL, A, groups=groups)


# Bad input.


@pytest.mark.parametrize("groups", [None, [1, 2, 3, 4]])
@pytest.mark.parametrize(
    "y_true", [[0, 0, 0, 0], [1, 1, 1, 1], [0, 0, 0, 1], [1, 1, 0, 1]], ids=str
)
def test_two_of_each_class_are_needed(y_true, groups):
    with pytest.raises(ValueError, match=r"needs at least 2 .* of each class, got"):
        delong(y_true, [1, 2, 3, 4], groups=groups)


def test_bad_scores():
    with pytest.raises(ValueError, match="model_1 has NaN for sample 2"):
        delong(SMALL, [A, [1, 2, nan, 1, 2, 3]])
    with pytest.raises(ValueError, match=r"pass scores\.T"):
        delong(SMALL, np.zeros((6, 2)))
    with pytest.raises(ValueError, match="two classes, got 3"):
        delong([0, 1, 2, 0, 1, 2], A)
    with pytest.raises(ValueError, match="pass positive="):
        delong(list("aaabbb"), A)
    assert delong(list("aaabbb"), A, positive="b").auc == delong(SMALL, A).auc


# Different samples.


@given(problems(most_models=1), problems(most_models=1), st.sampled_from(ALTERNATIVES))
def test_unpaired_equals_its_formula(one, other, alternative):
    test = delong_unpaired(one[0], one[1][0], other[0], other[1][0], alternative=alternative)
    (area_a,), v_a = naive.delong_covariance(*one)
    (area_b,), v_b = naive.delong_covariance(*other)
    assert (test.auc_a, test.auc_b) == pytest.approx((float(area_a), float(area_b)))
    variance = v_a[0, 0] + v_b[0, 0]
    if variance == 0:
        difference = naive.sign(area_a - area_b)
        assert test.status == DEGENERATE
        assert naive.sign(test.statistic) == difference
        assert test.pvalue > 0
        return
    z = float(area_a - area_b) / sqrt(variance)
    assert test.statistic == pytest.approx(z, rel=1e-9, abs=1e-12)
    tails = {
        "two-sided": 2 * stats.norm.sf(abs(z)),
        "greater": stats.norm.sf(z),
        "less": stats.norm.cdf(z),
    }
    assert test.pvalue == pytest.approx(tails[alternative], rel=1e-8)
    assert test.alternative == alternative


@pytest.mark.parametrize(("n_a", "n_b"), [(2, 3), (49, 50), (103, 98), (161, 7)])
def test_unpaired_perfect_models_do_not_differ(n_a, n_b):
    a, b = ((np.repeat([0, 1], n), np.arange(2 * n)) for n in (n_a, n_b))
    test = delong_unpaired(*a, *b)
    assert (test.statistic, test.pvalue, test.status) == (0, 1, DEGENERATE)
    flat = delong_unpaired(*a, b[0], np.zeros(2 * n_b))
    assert flat.status == DEGENERATE
    assert 0 < flat.pvalue < 1


# Hanley and McNeil.


@given(
    st.one_of(st.floats(1e-100, 1), st.floats(0, 1e-6).map(lambda x: 1 - x)),
    st.integers(1, 10**7),
    st.integers(1, 10**7),
)
def test_hanley_mcneil_equals_its_formula(area, m, n):
    with mpmath.workdps(60):
        a = mpmath.mpf(area)
        q1, q2 = a / (2 - a), 2 * a * a / (1 + a)
        variance = a * (1 - a) + (m - 1) * (q1 - a * a) + (n - 1) * (q2 - a * a)
        wanted = float(mpmath.sqrt(variance / (mpmath.mpf(m) * n)))
    assert hanley_mcneil(area, m, n) == pytest.approx(wanted, rel=1e-9, abs=1e-300)
