"""Two models compared by sensitivity, specificity, predictive values and ratios."""

import json
from math import isnan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from fastcmp import (
    compare_sensitivity_specificity,
)
from fastcmp.core.render import to_csv
from fastcmp.kernels import DEGENERATE, OK, UNDEFINED
from fastcmp.scores.predictive_values import predictive_value_test

SMALL = st.integers(0, 40)


def same(x, y):
    return (isnan(x) and isnan(y)) or x == pytest.approx(y, rel=1e-12, abs=1e-15)


# Two models.


def labels_from_cells(of_positives, of_negatives):
    """Make labels from counts called by both, a only, b only and neither."""
    y_true = np.repeat([1, 0], [sum(of_positives), sum(of_negatives)])
    a = np.repeat([1, 1, 0, 0] * 2, [*of_positives, *of_negatives])
    b = np.repeat([1, 0, 1, 0] * 2, [*of_positives, *of_negatives])
    return y_true, a, b


def generalised_score(y, z, subject):
    """Boos' score test of the slope in a logistic model, by matrices.

    Independence within subjects is the working assumption; each subject gives one
    term of the empirical covariance.
    """
    x = np.column_stack([np.ones(len(z)), z]).astype(float)
    fitted = np.full(len(y), np.mean(y))
    scores = x * (y - fitted)[:, None]
    information = x.T @ (x * (fitted * (1 - fitted))[:, None])
    by_subject = np.array([scores[subject == s].sum(axis=0) for s in set(subject)])
    meat = by_subject.T @ by_subject
    contrast = np.array([-information[1, 0] / information[0, 0], 1.0])
    return (contrast @ scores.sum(axis=0)) ** 2 / (contrast @ meat @ contrast)


def kosinski(right, wrong):
    """Kosinski's statistic as its formula is printed."""
    n_a, n_b = (right[0] + right[k] + wrong[0] + wrong[k] for k in (1, 2))
    v_a, v_b = (right[0] + right[1]) / n_a, (right[0] + right[2]) / n_b
    v = (2 * right[0] + right[1] + right[2]) / (n_a + n_b)
    c = (right[0] * (1 - v) ** 2 + wrong[0] * v**2) / (n_a + n_b)
    return (v_a - v_b) ** 2 / ((v * (1 - v) - 2 * c) * (1 / n_a + 1 / n_b))


FOUR = st.tuples(SMALL, SMALL, SMALL, SMALL)


@given(FOUR, FOUR)
def test_score_tests_against_their_definitions(of_positives, of_negatives):
    if not (sum(of_positives) and sum(of_negatives)):
        return
    y, a, b = labels_from_cells(of_positives, of_negatives)
    result = compare_sensitivity_specificity(y, a, b)
    for name, outcome, call_a, call_b in (
        ("ppv", y, a, b),
        ("npv", 1 - y, 1 - a, 1 - b),
    ):
        plain, weighted = (
            getattr(result, f"{name}_{w}") for w in ("score", "weighted")
        )
        own_a, own_b = np.flatnonzero(call_a), np.flatnonzero(call_b)
        if not (own_a.size and own_b.size):
            for test in (plain, weighted):
                assert test.status == UNDEFINED
                assert isnan(test.pvalue)
            continue
        assert plain.value_a == outcome[own_a].mean()
        assert plain.value_b == outcome[own_b].mean()
        where = np.concatenate([own_a, own_b])
        z = np.repeat([1, 0], [own_a.size, own_b.size])
        values = outcome[where]
        if len(set(values)) == 1 or np.array_equal(own_a, own_b):
            for test in (plain, weighted):
                assert (test.statistic, test.pvalue) == (0, 1)
                assert test.status == DEGENERATE
            continue
        oracle = generalised_score(values, z, where)
        assert plain.statistic**2 == pytest.approx(oracle, rel=1e-9, abs=1e-12)
        calls = (call_a & call_b, call_a > call_b, call_a < call_b)
        right = [int(np.sum(called & (outcome == 1))) for called in calls]
        wrong = [int(np.sum(called & (outcome == 0))) for called in calls]
        oracle = kosinski(right, wrong)
        assert weighted.statistic**2 == pytest.approx(oracle, rel=1e-7, abs=1e-12)
        for test in (plain, weighted):
            assert test.status == OK
            assert test.pvalue == pytest.approx(stats.chi2.sf(test.statistic**2, 1))
            assert np.sign(test.statistic) in (0, np.sign(test.difference))


def test_score_tests_that_an_r_package_prints():
    # Record by pv.wgs in the README of DTComPair (R), for its data set Paired1.
    y, a, b = labels_from_cells([319, 78, 22, 32], [31, 53, 22, 155])
    result = compare_sensitivity_specificity(y, a, b)
    for name, values, statistic, pvalue in (
        ("ppv", (0.82536383, 0.86548223), 5.46588745, 0.01939120),
        ("npv", (0.7662338, 0.6540881), 16.53540, 4.775012e-05),
    ):
        test = getattr(result, f"{name}_weighted")
        assert (test.value_a, test.value_b) == pytest.approx(values, abs=6e-8)
        assert test.statistic**2 == pytest.approx(statistic, rel=3e-7)
        assert test.pvalue == pytest.approx(pvalue, rel=3e-7)


@given(st.tuples(SMALL, SMALL, SMALL, SMALL))
def test_without_common_calls_the_weighted_test_is_pearsons(cells):
    right_a, wrong_a, right_b, wrong_b = cells
    if 0 in (
        right_a + wrong_a,
        right_b + wrong_b,
        right_a + right_b,
        wrong_a + wrong_b,
    ):
        return
    test = predictive_value_test(
        "ppv",
        (0, right_a, right_b),
        (0, wrong_a, wrong_b),
        "two-sided",
        weighted=True,
    )
    table = [[right_a, wrong_a], [right_b, wrong_b]]
    oracle = stats.chi2_contingency(table, correction=False)
    assert test.statistic**2 == pytest.approx(oracle.statistic, abs=1e-9)


@given(FOUR, FOUR, st.sampled_from(["two-sided", "greater", "less"]))
def test_swapping_the_models_flips_the_sign(of_positives, of_negatives, alternative):
    if not sum(of_positives) + sum(of_negatives):
        return
    y, a, b = labels_from_cells(of_positives, of_negatives)
    opposite = {"two-sided": "two-sided", "greater": "less", "less": "greater"}
    one = compare_sensitivity_specificity(y, a, b, alternative=alternative)
    other = compare_sensitivity_specificity(y, b, a, alternative=opposite[alternative])
    for name in ("ppv_score", "ppv_weighted", "npv_score", "npv_weighted"):
        first, second = getattr(one, name), getattr(other, name)
        assert same(first.difference, -second.difference)
        assert same(first.pvalue, second.pvalue)
    for name in ("sensitivity", "specificity"):
        first, second = getattr(one, name), getattr(other, name)
        assert first.pvalue == second.pvalue
        assert (first.only_a, first.only_b) == (second.only_b, second.only_a)
    flipped = compare_sensitivity_specificity(
        y, a, b, positive=0, alternative=alternative
    )
    if len(set(y)) == 2:
        assert same(flipped.ppv_score.pvalue, one.npv_score.pvalue)
        assert flipped.sensitivity == one.specificity


def test_one_sided_score_tests_share_the_statistic():
    y, a, b = labels_from_cells([40, 9, 3, 8], [10, 2, 7, 60])
    found = {
        alternative: compare_sensitivity_specificity(y, a, b, alternative=alternative)
        for alternative in ("two-sided", "greater", "less")
    }
    for name in ("ppv_score", "npv_weighted"):
        two, more, less = (getattr(r, name) for r in found.values())
        assert two.statistic == more.statistic == less.statistic
        assert more.pvalue + less.pvalue == pytest.approx(1)
        assert more.pvalue == pytest.approx(two.pvalue / 2)
        assert two.statistic > 0
        assert more.pvalue == pytest.approx(stats.norm.sf(two.statistic))


@pytest.mark.parametrize("weighted", [False, True])
def test_size_of_the_score_tests_under_equality(weighted):
    rng = np.random.default_rng(20)
    # Given the truth, calls of both, a only, b only, neither; a and b exchangeable.
    share = 0.4 * np.array([0.6, 0.15, 0.15, 0.1])
    share = np.append(share, 0.6 * np.array([0.05, 0.1, 0.1, 0.75]))
    draws = rng.multinomial(400, share, size=8000)
    pvalues = [
        predictive_value_test(
            "ppv", tuple(row[:3]), tuple(row[4:7]), "two-sided", weighted=weighted
        ).pvalue
        for row in draws.tolist()
    ]
    assert np.mean(np.array(pvalues) <= 0.05) == pytest.approx(0.05, abs=0.0075)
    # Equal predictive values, unequal sensitivities: PPV = 0.6 for both models.
    share = [0.12, 0.18, 0.06, 0.14, 0.08, 0.12, 0.04, 0.26]
    draws = rng.multinomial(500, share, size=8000)
    pvalues = [
        predictive_value_test(
            "ppv", tuple(row[:3]), tuple(row[4:7]), "two-sided", weighted=weighted
        ).pvalue
        for row in draws.tolist()
    ]
    assert np.mean(np.array(pvalues) <= 0.05) == pytest.approx(0.05, abs=0.0075)


@pytest.mark.parametrize("method", ["midp", "exact", "asymptotic", "unconditional"])
def test_mcnemar_within_the_classes(method):
    y, a, b = labels_from_cells([5, 7, 1, 2], [3, 6, 2, 9])
    result = compare_sensitivity_specificity(y, a, b, method=method)
    assert result.sensitivity.table.tolist() == [[5, 7], [1, 2]]
    assert result.specificity.table.tolist() == [[9, 2], [6, 3]]
    assert result.sensitivity.method == method
    assert result.sensitivity.accuracy_a == 12 / 15
    assert result.specificity.accuracy_a == 11 / 20
    if method == "exact":
        assert result.sensitivity.pvalue == pytest.approx(stats.binomtest(1, 8).pvalue)


@pytest.mark.parametrize(
    ("arguments", "options", "error", "message"),
    [
        (
            ([0, 1], [0, 1], [0, 0.5]),
            {},
            ValueError,
            r"pred_b must hold labels of y_tr",
        ),
        (([0, 1], [0, 1], [0]), {}, ValueError, "pred_b has 1 labels, y_true has 2"),
        (([0, 1], [0, None], [0, 1]), {}, ValueError, "pred_a has no prediction at ro"),
        (([0, 1], [0, 1], ["a", "b"]), {}, TypeError, "pred_b holds str labels and y_"),
        (([1, 2], [1, 3], [1, 2]), {}, ValueError, "pred_a must hold labels .* got 3 "),
        (([0, 1], [0, 1], [0.2, 0.7]), {}, ValueError, "pred_b .* cut them first"),
        (([0, 1], [0, 1], [0, 1]), {"method": "x"}, ValueError, "method must be one o"),
        (([0, 1], [0, 1], [0, 1]), {"alternative": "x"}, ValueError, "alternative mus"),
        ((["a", "b"], ["a", "b"], ["a", "b"]), {}, ValueError, "name the positive cla"),
    ],
)
def test_bad_pairs(arguments, options, error, message):
    with pytest.raises(error, match=f"^{message}"):
        compare_sensitivity_specificity(*arguments, **options)


def test_printing_the_comparison():
    y, a, b = labels_from_cells([319, 78, 22, 32], [31, 53, 22, 155])
    result = compare_sensitivity_specificity(y, a, b)
    lines = str(result).splitlines()
    assert lines[:2] == [
        "Two models compared (two-sided)",
        "451 positives (1), 261 negatives (0); p-values are not adjusted for their",
    ]
    assert max(map(len, lines)) <= 80
    rows = [" ".join(line.split()) for line in lines[4:]]
    assert rows == [
        "sensitivity McNemar, mid-p 0.8803 0.7561 +0.1242 1.0e-08",
        "specificity McNemar, mid-p 0.6782 0.7969 -0.1188 3.1e-04",
        "ppv generalised score 0.8254 0.8655 -0.0401 0.017",
        "ppv weighted generalised score 0.8254 0.8655 -0.0401 0.019",
        "npv generalised score 0.7662 0.6541 +0.1121 2.5e-05",
        "npv weighted generalised score 0.7662 0.6541 +0.1121 4.8e-05",
    ]
    assert "Weighted generalised score test (ppv, two-sided)" in str(
        result.ppv_weighted
    )
    found = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert found["npv_score"]["value_a"] == result.npv_score.value_a
    columns = result.columns()
    assert columns["measure"] == [
        "sensitivity",
        "specificity",
        "ppv",
        "ppv",
        "npv",
        "npv",
    ]
    assert columns["pvalue"][2] == result.ppv_score.pvalue
    names = "measure,test,value_a,value_b,difference,statistic,pvalue"
    assert to_csv(columns).startswith(f"{names}\n")
    alone = compare_sensitivity_specificity([1, 1, None], [1, 1, 0], [1, 1, 0])
    assert alone.n_missing == 1
    assert alone.to_dict()["npv_score"]["pvalue"] is None
    assert "1 samples without a true label were dropped." in str(alone)
    assert "-" in str(alone.npv_score)
