"""DeLong's covariance and what is asked of it, against definitions and references."""

from itertools import combinations, permutations
from math import isnan, nan, sqrt

import naive
import numpy as np
import pytest
from cases import thinned
from hypothesis import assume, given
from hypothesis import strategies as st
from libraries import stats
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
    pair = case["input"]["pair"]
    test = result.compare(*pair)
    for name, key in (("standard_error", "se"), *((x, x) for x in ("statistic", "pvalue"))):
        assert getattr(test, name) == expected(case, key)
    assert test.difference == expected(case, "difference")
    assert test.status == OK
    assert list(test.confidence_interval()) == expected(case, "ci95")
    greater, less = (result.compare(*pair, alternative=x).pvalue for x in ("greater", "less"))
    assert greater == expected(case, "pvalue_greater")
    assert less == pytest.approx(1 - greater, rel=1e-9)


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
    np.testing.assert_allclose(result.auc, np.array(area, float), rtol=1e-13)
    wanted = np.array(covariance, float)
    np.testing.assert_allclose(result.covariance, wanted, rtol=1e-10, atol=1e-16)
    errors = np.sqrt(np.diag(wanted))
    np.testing.assert_allclose(result.standard_error, errors, rtol=1e-9, atol=1e-15)
    np.testing.assert_allclose(result.auc, auc(*drawn), rtol=1e-13)


def assert_is_a_z_test(test, difference, variance):
    assert test.difference == pytest.approx(float(difference), abs=1e-15)
    if variance == 0:
        assert test.status == DEGENERATE
        assert naive.sign(test.statistic) == naive.sign(difference)
        assert test.pvalue > 0
        return
    assert test.status == OK
    z = float(difference) / sqrt(variance)
    assert test.statistic == pytest.approx(z, rel=1e-8, abs=1e-12)
    tails = {"two-sided": 2 * stats.norm.sf(abs(z)), "greater": stats.norm.sf(z)}
    assert test.pvalue == pytest.approx(tails.get(test.alternative, stats.norm.cdf(z)), rel=1e-7)


@given(problems(least_models=2), st.sampled_from(ALTERNATIVES))
def test_comparisons_equal_their_definition(drawn, alternative):
    area, v = naive.delong_covariance(*drawn)
    result = delong(*drawn)
    for i, j in permutations(range(len(area)), 2):
        test = result.compare(i, j, alternative=alternative)
        assert_is_a_z_test(test, area[i] - area[j], v[i, i] + v[j, j] - 2 * v[i, j])


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
    assert result.covariance.shape == (1, 1)
    assert result.names == ("scores",)
    assert (result.n_positives, result.n_negatives, result.n_clusters) == (3, 3, None)
    with pytest.raises(ValueError, match=r"no model 1; there are \['scores'\]"):
        result.compare()
    with pytest.raises(ValueError, match="at least 2 models, got 1"):
        result.pairwise()
    test = result.contrast([1])
    assert test.statistic == pytest.approx(result.auc[0] / sqrt(result.covariance[0, 0]))
    assert "DeLong's test" not in str(result)


@pytest.mark.parametrize(("n1", "n0"), [(2, 2), (49, 3), (7, 161)])
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
    wanted = named.compare()
    for i, j in (("a", "b"), (0, "b"), (-2, -1), (np.int64(0), np.uint8(1))):
        test = named.compare(i, j)
        assert (test.pvalue, test.names) == (wanted.pvalue, ("a", "b"))
    assert (wanted.auc_a, wanted.auc_b) == tuple(named.auc)
    itself = named.compare("a", "a")
    assert (itself.pvalue, itself.status) == (1, DEGENERATE)
    for model in ("c", 2, -3, "0", 0.5, None):
        with pytest.raises((TypeError, ValueError), match="model"):
            named.compare("a", model)


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


@pytest.mark.parametrize("drawn", thinned([(20, 20, 0.94), (3, 50, 0.9), (200, 10, 0.9)], 3))
def test_a_margin_keeps_its_level_where_failures_are_rare(drawn):
    n_pos, n_neg, area = drawn
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
        tests = delong(SMALL, scores).compare(margin=0.1).margins
        assert tests.decision == "cannot tell"
        assert tests.noninferiority_pvalue > 0.2
        assert tests.inner_interval.low < -0.1
    y = np.repeat([0, 1], 300)
    tests = delong(y, [y, y]).compare(margin=0.05).margins
    assert tests.decision == "equivalent"
    assert 0 < tests.equivalence_pvalue < 0.05


def test_what_methods_refuse():
    result = delong(SMALL, [A, B])
    for method, given_, message in (
        (result.compare, {"alternative": "better"}, "alternative must be one of"),
        (result.compare, {"margin": 1}, "margin must be below 1, the largest possible difference"),
        (result.compare, {"margin": nan, "alternative": "greater"}, "finite and >= 0, got nan"),
        (result.confidence_interval, {"confidence_level": 1.5}, "confidence_level"),
        (result.compare().confidence_interval, {"confidence_level": 1.5}, "confidence_level"),
        (result.confidence_interval, {"method": "exact"}, "method must be one of"),
        (result.pairwise, {"adjust": "fisher"}, "adjust must be one of"),
        (result.contrast, {"matrix": [1, -1, 0]}, r"2 columns, one for each model, got shape \(3,"),
        (result.contrast, {"matrix": [[[0, 0]]]}, r"got shape \(1, 1, 2\)"),
        (result.contrast, {"matrix": [nan, 1]}, "matrix"),
        (result.contrast, {"matrix": [[1, 2], [3]]}, "matrix must be numbers"),
    ):
        with pytest.raises((ValueError, TypeError), match=message):
            method(**given_)


# All pairs.


@pytest.mark.parametrize(("method", "control"), [("holm", None), ("bh", "w"), ("none", 2)])
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
    ends = np.column_stack(result.confidence_interval(0.99, "logit"))
    np.testing.assert_array_equal(board.interval, ends[order])
    assert (found.alpha, found.test, found.n_samples) == (0.01, "delong", 300)
    better, worse = found.decided
    assert np.all(result.auc[better] > result.auc[worse])
    assert found.significant.any()


def test_outputs_without_counts():
    y_true, scores = random_problem(m=3)
    y_true = [None, *y_true.tolist()]
    scores = np.column_stack([np.zeros(3), scores])
    found = delong(y_true, dict(zip("xyz", scores, strict=True))).pairwise()
    assert not {"only_a", "only_b"} & set(found.columns())
    assert "CI of AUC is for that model alone (DeLong, logit)" in found.summary()
    assert "1 samples without a true label" in str(found)
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
    assert found.tie_groups == (("a", "b"), ("c", "d"))
    unpaired = delong_unpaired(y_true, perfect, y_true[40:60], np.arange(20))
    assert (unpaired.statistic, unpaired.pvalue, unpaired.status) == (0, 1, DEGENERATE)
    apart = delong_unpaired(y_true, perfect, y_true, flat)
    assert apart.status == DEGENERATE
    assert 0 < apart.pvalue < 1


# Laws.


def test_workers_agree():
    y_true, scores = random_problem(40_000, 8)
    for groups in (None, np.arange(40_000) // 3):
        wanted = delong(y_true, scores, groups=groups, workers=1)
        for workers in (2, 7, None):
            found = delong(y_true, scores, groups=groups, workers=workers)
            np.testing.assert_array_equal(found.auc, wanted.auc)
            np.testing.assert_array_equal(found.covariance, wanted.covariance)


def test_missing_labels_are_dropped():
    y_true, scores = random_problem(50, 2)
    holes = [None if i % 5 == 0 else int(y) for i, y in enumerate(y_true)]
    kept = np.arange(50) % 5 > 0
    for groups, of_kept in ((None, None), (np.arange(50) // 3, (np.arange(50) // 3)[kept])):
        found = delong(holes, scores, groups=groups)
        wanted = delong(y_true[kept], scores[:, kept], groups=of_kept)
        np.testing.assert_array_equal(found.covariance, wanted.covariance)
        assert found.n_missing == 10


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
    np.testing.assert_allclose(result.auc, np.array(area, float), rtol=1e-13)
    wanted = np.array(covariance, float)
    np.testing.assert_allclose(result.covariance, wanted, rtol=1e-9, atol=1e-15)
    np.testing.assert_allclose(result.standard_error, np.sqrt(np.diag(wanted)), atol=1e-8)
    assert result.n_clusters == np.unique(groups).size
    assert result.confidence_interval(method="logit").low.min() >= 0


def test_clusters_whose_sums_cancel():
    # In each cluster the positive gains what the negative loses.
    rng = np.random.default_rng(0)
    for n in range(2, 30):
        for order in (np.arange(2 * n), rng.permutation(2 * n)):
            numbers = np.resize(np.arange(n), 2 * n)[order]
            result = delong(np.repeat([0, 1], n)[order], numbers + 0.0, groups=numbers)
            assert result.covariance[0, 0] == pytest.approx(0, abs=1e-15)
            assert result.standard_error[0] == pytest.approx(0, abs=1e-7)
            assert not isnan(result.confidence_interval().low[0])


@pytest.mark.parametrize(
    ("y_true", "groups", "message"),
    [
        (SMALL, [1, 1, 1, 2, 3, 4], "2 clusters of each class, got 3 with positives and 1"),
        (SMALL, [1, 2, 3, 4, 4, 4], "2 clusters of each class, got 1 with positives and 3"),
        ([1] * 6, None, r"needs at least 2 .* of each class, got"),
        ([0, 0, 0, 0, 0, 1], None, r"needs at least 2 .* of each class, got"),
        ([1, 1, 1, 1, 0, 1], [*range(6)], r"needs at least 2 .* of each class, got"),
    ],
)
def test_two_of_each_class_are_needed(y_true, groups, message):
    with pytest.raises(ValueError, match=message):
        delong(y_true, A, groups=groups)


# Different samples.


@given(problems(most_models=1), problems(most_models=1), st.sampled_from(ALTERNATIVES))
def test_unpaired_equals_its_formula(one, other, alternative):
    test = delong_unpaired(one[0], one[1][0], other[0], other[1][0], alternative=alternative)
    (area_a,), v_a = naive.delong_covariance(*one)
    (area_b,), v_b = naive.delong_covariance(*other)
    assert (test.auc_a, test.auc_b) == pytest.approx((float(area_a), float(area_b)))
    assert test.alternative == alternative
    assert_is_a_z_test(test, area_a - area_b, v_a[0, 0] + v_b[0, 0])
