"""Two models on one held-out set: from labels, from fitted models, and what is said."""

import copy
import json
import pickle
from dataclasses import FrozenInstanceError, replace
from math import isnan

import naive
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import MultinomialNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from strategies import codes, tables

from fastcmp import HoldoutResult, compare_holdout, compare_labels, cost_test, load_digits, mcnemar

METHODS = ("midp", "exact", "asymptotic", "corrected", "unconditional")
ALTERNATIVES = ("two-sided", "greater", "less")
COST_TESTS = ("likelihood", "chi-square")
COST = [[0, 1], [5, 0]]
COST_3 = [[0, 1, 2], [3, 0, 4], [5, 6, 0]]
COUNTS = [[[77, 12], [9, 24]], [[8, 11], [5, 69]]]


def labels_of(table):
    """Make labels of two classes from both_right, only_a, only_b, both_wrong."""
    right_a = np.repeat([True, True, False, False], table)
    right_b = np.repeat([True, False, True, False], table)
    y_true = np.arange(right_a.size) % 2
    return (y_true, np.where(right_a, y_true, 1 - y_true), np.where(right_b, y_true, 1 - y_true))


def labels_of_counts(counts):
    """Make labels from counts[t][a][b]."""
    counts = np.array(counts)
    return np.repeat(np.indices(counts.shape).reshape(3, -1), counts.ravel(), axis=1)


Y, A, B = labels_of((60, 15, 5, 20))
YC, AC, BC = labels_of_counts(COUNTS)
# a is wrong where b is right, and never the other way: no equal costs on these alone.
ONE_SIDED = labels_of((60, 0, 9, 3))


# The same as the tests themselves.


@given(
    codes(n_classes=3).filter(lambda x: x.shape[1] > 1),
    st.sampled_from(METHODS[:4]),
    st.sampled_from(ALTERNATIVES),
    st.sampled_from([0.01, 0.05, 0.3]),
)
def test_error_rates_against_mcnemar(drawn, method, alternative, alpha):
    options = {"alternative": alternative}
    result = compare_labels(*drawn, method=method, alpha=alpha, **options)
    single = mcnemar(*drawn, method=method, **options)
    assert result.comparison == single
    assert result.pvalue == single.pvalue
    assert result.statistic == single.statistic
    assert result.status == single.status
    assert result.reject is bool(single.pvalue <= alpha)
    y_true, a, b = drawn
    assert (result.loss_a, result.loss_b) == ((y_true != a).mean(), (y_true != b).mean())
    assert result.difference == single.difference
    assert result.difference == pytest.approx(result.loss_b - result.loss_a, abs=1e-15)
    assert (result.measure, result.better) == ("accuracy", single.better)
    assert result.interval == single.confidence_interval(1 - alpha, "newcombe")
    assert (result.method, result.alternative, result.alpha) == (method, alternative, alpha)


@given(tables(60), st.sampled_from([0.01, 0.05, 0.3]))
def test_the_interval_of_accuracies_is_newcombes(table, alpha):
    if sum(table) < 2:
        return
    result = compare_labels(*labels_of(table), alpha=alpha)
    expect = naive.newcombe(*table, 1 - alpha)
    assert tuple(result.interval) == pytest.approx(expect, abs=1e-8)
    assert result.interval.low <= result.difference <= result.interval.high
    only_a, only_b = table[1:3]
    assert naive.sign(result.difference) == naive.sign(only_a - only_b)


def test_unconditional_against_mcnemar():
    for alternative in ALTERNATIVES:
        options = {"alternative": alternative}
        result = compare_labels(Y, A, B, method="unconditional", **options)
        expect = mcnemar(Y, A, B, method="unconditional", **options)
        assert result.pvalue == expect.pvalue


def test_the_default_is_mid_p():
    assert compare_labels(Y, A, B) == compare_labels(Y, A, B, method="midp")
    assert compare_labels(Y, A, B).method == "midp"


@given(
    codes(n_classes=3).filter(lambda x: x.shape[1] > 1),
    st.sampled_from(COST_TESTS),
    st.sampled_from([0.01, 0.05, 0.3]),
)
def test_costs_against_cost_test(drawn, method, alpha):
    options = {"classes": [0, 1, 2]}
    result = compare_labels(*drawn, method=method, cost=COST_3, alpha=alpha, **options)
    single = cost_test(*drawn, COST_3, method=method, **options)
    assert result.comparison == single
    assert (result.pvalue, result.statistic) == (single.pvalue, single.statistic)
    assert result.status == single.status
    assert result.reject is bool(single.pvalue <= alpha)
    y_true, a, b = drawn
    costs = np.array(COST_3)
    losses = costs[y_true, a].mean(), costs[y_true, b].mean()
    assert (result.loss_a, result.loss_b) == pytest.approx(losses, abs=1e-14)
    assert result.difference == pytest.approx(losses[0] - losses[1], abs=1e-14)
    assert result.interval == single.confidence_interval(1 - alpha, "profile")
    low, high = result.interval
    assert low - 1e-9 <= result.difference <= high + 1e-9
    assert (result.method, result.alternative) == (method, "two-sided")
    assert (result.measure, result.better) == ("cost", single.better)


def test_equality_is_rejected_at_the_pvalue_itself():
    for options in ({}, {"cost": COST}):
        pvalue = compare_labels(Y, A, B, **options).pvalue
        assert compare_labels(Y, A, B, alpha=pvalue, **options).reject
        below = float(np.nextafter(pvalue, 0))
        assert not compare_labels(Y, A, B, alpha=below, **options).reject


@pytest.mark.parametrize("options", [{}, {"cost": COST}, {"method": "exact"}], ids=str)
def test_swapping_the_models_mirrors_the_answer(options):
    ab, ba = compare_labels(Y, A, B, **options), compare_labels(Y, B, A, **options)
    assert (ab.pvalue, ab.statistic) == pytest.approx((ba.pvalue, ba.statistic))
    assert (ab.loss_a, ab.loss_b) == (ba.loss_b, ba.loss_a)
    assert ab.difference == -ba.difference
    low, high = ba.interval
    assert tuple(ab.interval) == pytest.approx((-high, -low), abs=1e-9)


def test_greater_is_a_better():
    better = {"greater": True, "less": False}
    for alternative, wanted in better.items():
        result = compare_labels(Y, A, B, alternative=alternative)
        assert result.loss_a < result.loss_b
        assert result.reject is wanted
        assert compare_labels(Y, B, A, alternative=alternative).reject is not wanted


# By hand: what MATLAB's page prints.


def test_one_sided_by_hand():
    # 24 + 1 wrong and 58 wrong of 175: 23 both wrong, 35 only a right, 1 only b.
    labels = labels_of((116, 35, 1, 23))
    asymptotic = compare_labels(*labels, method="asymptotic", alternative="greater")
    assert f"{asymptotic.loss_a:.5f} {asymptotic.loss_b:.5f}" == "0.13714 0.33143"
    assert f"{asymptotic.pvalue:.4e}" == "7.2801e-09"
    assert asymptotic.reject
    midp = compare_labels(*labels, method="midp", alternative="greater")
    assert f"{midp.pvalue:.4e}" == "2.7649e-10"
    other = compare_labels(*labels, method="midp", alternative="less")
    assert other.pvalue > 0.999
    assert not other.reject


def test_two_sided_by_hand():
    result = compare_labels(*labels_of((154, 5, 6, 10)))
    assert (result.loss_a, result.loss_b) == (16 / 175, 15 / 175)
    assert f"{result.pvalue:.4f}" == "0.7744"
    assert not result.reject


def test_costs_by_hand():
    result = compare_labels(YC, AC, BC, cost=COST)
    assert result.better == "b"
    assert (result.loss_a, result.loss_b) == (128 / 215, 101 / 215)
    assert result.statistic == pytest.approx(1.7812020621835263, rel=1e-12)
    assert result.pvalue == pytest.approx(0.18200, abs=5e-6)
    assert not result.reject
    assert result.difference == pytest.approx(27 / 215)
    assert result.n_samples == 215


def test_losses_by_hand():
    y_true, a, b = [0, 0, 1, 1, 1], [0, 1, 1, 1, 0], [1, 1, 1, 0, 0]
    result = compare_labels(y_true, a, b)
    assert (result.loss_a, result.loss_b) == (2 / 5, 4 / 5)
    assert result.difference == pytest.approx(2 / 5)
    costly = compare_labels(y_true, a, b, cost=COST)
    assert (costly.loss_a, costly.loss_b) == (6 / 5, 12 / 5)
    assert costly.difference == pytest.approx(-6 / 5)
    assert result.better == costly.better == "a"


# Costs, classes, missing labels.


@pytest.mark.parametrize("method", METHODS)
def test_methods_fit_the_question(method):
    with pytest.raises(ValueError, match=rf"chi-square'\) with cost=, got '{method}'$"):
        compare_labels(YC, AC, BC, cost=COST, method=method)


@pytest.mark.parametrize("method", COST_TESTS)
def test_methods_of_costs_need_costs(method):
    with pytest.raises(ValueError, match=rf"al'\) without cost=, got '{method}'$"):
        compare_labels(YC, AC, BC, method=method)


@pytest.mark.parametrize(
    ("spelled", "method"), [("mid-p", "midp"), ("MIDP", "midp"), ("Exact", "exact")]
)
def test_words_of_other_programs(spelled, method):
    result = compare_labels(Y, A, B, method=spelled, alternative="Unequal")
    assert result == compare_labels(Y, A, B, method=method)
    assert (result.method, result.alternative) == (method, "two-sided")
    for cost_method in ("chisquare", "Chi-Square"):
        costly = compare_labels(Y, A, B, cost=COST, method=cost_method)
        assert costly.method == "chi-square"


@pytest.mark.parametrize("alternative", ["greater", "less"])
def test_costs_permit_only_two_sides(alternative):
    wanted = rf"^cost permits only alternative='two-sided', got '{alternative}'$"
    with pytest.raises(ValueError, match=wanted):
        compare_labels(YC, AC, BC, cost=COST, alternative=alternative)


NAMES = np.array(["ill", "well"])


@pytest.mark.parametrize(
    ("cost", "classes"),
    [
        ({"ill": {"well": 1}, "well": {"ill": 5}}, None),
        ({"well": {"ill": 5}, "ill": {"well": 1}}, None),
        ({"well": {"ill": 5}, "ill": {"well": 1}}, ["ill", "well"]),
        (pd.DataFrame(COST, index=NAMES, columns=NAMES), None),
        (pl.DataFrame({"truth": NAMES, "ill": [0, 5], "well": [1, 0]}), None),
        (pa.table({"truth": NAMES, "ill": [0, 5], "well": [1, 0]}), None),
        (COST, None),
        (COST, ["ill", "well"]),
        ([[0, 5], [1, 0]], ["well", "ill"]),
        (np.array([[0, 5], [1, 0]]), np.array(["well", "ill"])),
    ],
    ids=lambda x: type(x).__name__,
)
@pytest.mark.parametrize("method", COST_TESTS)
def test_costs_of_named_classes(cost, classes, method):
    options = {"method": method}
    expect = compare_labels(YC, AC, BC, cost=COST, **options)
    result = compare_labels(
        *(NAMES[x] for x in (YC, AC, BC)), cost=cost, classes=classes, **options
    )
    for name in ("pvalue", "statistic", "loss_a", "loss_b", "difference"):
        assert getattr(result, name) == pytest.approx(getattr(expect, name), rel=1e-12)


def test_classes_select():
    rng = np.random.default_rng(0)
    y_true, a = rng.integers(3, size=(2, 300))
    b = np.where(rng.random(300) < 0.5, y_true, a)
    kept = y_true != 1
    result = compare_labels(y_true, a, b, classes=[2, 0])
    expect = compare_labels(y_true[kept], a[kept], b[kept])
    assert result.n_excluded == int((~kept).sum())
    assert result.n_samples == int(kept.sum())
    assert result.pvalue == expect.pvalue
    assert (result.loss_a, result.loss_b) == (expect.loss_a, expect.loss_b)
    text = f"{result.n_excluded} samples of other classes were dropped."
    assert text in str(result)


def test_classes_select_with_costs():
    named = {t: dict(enumerate(row)) for t, row in enumerate(COST_3)}
    y_true = np.array([0, 0, 0, 2, 2, 2, 2, 1, 1])
    a = np.array([0, 2, 0, 2, 0, 2, 0, 1, 0])
    b = np.array([2, 2, 0, 2, 2, 0, 2, 1, 1])
    result = compare_labels(y_true, a, b, classes=[2, 0], cost=named)
    assert (result.n_samples, result.n_excluded) == (7, 2)
    assert (result.loss_a, result.loss_b) == pytest.approx((12 / 7, 9 / 7))
    with pytest.raises(ValueError, match=r"^pred_a predicts 1, which is not among the"):
        compare_labels(y_true, np.where(a == 2, 1, a), b, classes=[2, 0], cost=named)


@pytest.mark.parametrize("options", [{}, {"cost": {"x": {"y": 1}, "y": {"x": 5}}}])
@pytest.mark.parametrize(
    "container",
    [list, pd.Series, pl.Series, pa.array, lambda x: np.array(x, object), pd.Categorical],
    ids=["list", "pandas", "polars", "pyarrow", "objects", "categorical"],
)
def test_missing_true_labels_are_dropped_and_counted(container, options):
    y_true = ["x", None, "y", "y", "x", None, "x"]
    a, b = ["x", "x", "y", "y", "y", "y", "x"], ["x", "y", "x", "y", "y", "y", "y"]
    kept = [i for i, label in enumerate(y_true) if label is not None]
    expect = compare_labels(*([x[i] for i in kept] for x in (y_true, a, b)), **options)
    result = compare_labels(*map(container, (y_true, a, b)), **options)
    assert (result.n_missing, result.n_samples) == (2, 5)
    assert expect.n_missing == 0
    assert result.pvalue == expect.pvalue
    assert (result.loss_a, result.loss_b) == (expect.loss_a, expect.loss_b)
    assert "2 samples without a true label were dropped." in str(result)
    assert result.to_dict()["n_missing"] == 2


@pytest.mark.parametrize("options", [{}, {"cost": COST}], ids=["errors", "costs"])
def test_missing_predictions_are_refused(options):
    wanted = r"^pred_b has no prediction at row 2 \(1 missing in all\)"
    columns = [None, 1, 0, 1], [0, 1, 0, 1], [None, 1, None, 1]
    with pytest.raises(ValueError, match=wanted) as caught:
        compare_labels(*columns, **options)
    # What a message recommends must be possible.
    if "missing='wrong'" in str(caught.value):
        assert compare_labels(*columns, missing="wrong", **options).loss_b == 1 / 3
    else:
        with pytest.raises(ValueError, match="cost permits only missing='raise'"):
            compare_labels(*columns, missing="wrong", **options)


def test_one_class_only():
    zeros = np.zeros(8, int)
    result = compare_labels(zeros, zeros, zeros)
    assert (result.pvalue, result.loss_a, result.loss_b) == (1.0, 0.0, 0.0)
    assert not result.reject
    costly = compare_labels(zeros, zeros, zeros, cost=COST, classes=[0, 1])
    assert (costly.pvalue, costly.loss_a, costly.loss_b) == (1.0, 0.0, 0.0)
    with pytest.raises(ValueError, match=r"^cost is 2 x 2, but the labels are of 1 cl"):
        compare_labels(zeros, zeros, zeros, cost=COST)
    other = np.array([0, 1] * 4)
    assert compare_labels(zeros, zeros, other, cost=COST).loss_b == 0.5


# Bad input.

BAD = [
    ({"method": "mid"}, ValueError, r"method must be one of .*'midp'.*, got 'mid'"),
    ({"method": 3}, ValueError, "method must be one of .*, got 3"),
    ({"method": "lr"}, ValueError, "method must be one of .*, got 'likelihood'"),
    ({"alternative": "more"}, ValueError, "alternative must be one of .*'more'"),
    ({"alternative": None}, ValueError, "alternative must be one of .*, got None"),
    ({"alpha": 0}, ValueError, r"alpha must lie in \(0, 1\), got 0"),
    ({"alpha": 1}, ValueError, r"alpha must lie in \(0, 1\), got 1"),
    ({"alpha": -0.1}, ValueError, r"alpha must lie in \(0, 1\), got -0.1"),
    ({"alpha": 5}, ValueError, r"alpha must lie in \(0, 1\), got 5"),
    ({"alpha": float("nan")}, ValueError, r"alpha must lie in \(0, 1\), got nan"),
    ({"alpha": "0.05"}, TypeError, r"alpha must be a number in \(0, 1\), got '0.05'"),
    ({"alpha": None}, TypeError, r"alpha must be a number in \(0, 1\), got None"),
    ({"alpha": True}, TypeError, r"alpha must be a number in \(0, 1\), got True"),
    ({"classes": [0]}, ValueError, "classes must name at least 2 classes"),
    ({"classes": [0, 1, 0]}, ValueError, "classes must differ, got 0 twice"),
    ({"classes": ["a", "b"]}, TypeError, "classes holds str labels and y_true number"),
    ({"cost": [[0, 1]]}, ValueError, r"cost must be a square matrix, got shape \(1, 2"),
    ({"cost": [[0, 1], [2]]}, TypeError, "cost must be a square matrix of numbers"),
    ({"cost": [["0", "1"], ["2", "0"]]}, TypeError, "cost must hold numbers"),
    ({"cost": "5"}, TypeError, "cost must be a square matrix of numbers"),
    ({"cost": 5}, ValueError, r"cost must be a square matrix, got shape \(\)"),
    ({"cost": [[0, 1], [-2, 0]]}, ValueError, r"cost must not be negative, got -2"),
    ({"cost": [[0, 1], [np.nan, 0]]}, ValueError, "cost must be finite, got nan"),
    ({"cost": [[1, 1], [5, 0]]}, ValueError, "cost must be 0 where the prediction is"),
    ({"cost": [[0, 0], [0, 0]]}, ValueError, "cost must have at least one positive"),
    ({"cost": COST_3}, ValueError, "cost is 3 x 3, but the labels are of 2 classes"),
    ({"cost": {0: {1: 1}}}, ValueError, "cost has no row for class 1"),
    ({"cost": {0: {2: 1}, 2: {0: 1}}}, ValueError, r"pred_. predicts 1|cost names the"),
    ({"cost": COST, "classes": [0, 1, 2]}, ValueError, "cost is 2 x 2, but classes na"),
]


@pytest.mark.parametrize(("options", "error", "wanted"), BAD, ids=lambda x: str(x)[:40])
def test_bad_options(options, error, wanted):
    with pytest.raises(error, match=f"^({wanted})"):
        compare_labels(YC, AC, BC, **options)
    with pytest.raises(error, match=f"^({wanted})"):
        compare_holdout(lambda _: AC, lambda _: BC, YC, YC, YC, **options)


@pytest.mark.parametrize(
    ("arguments", "error", "wanted"),
    [
        (([], [], []), ValueError, "y_true must hold at least 2 samples, got 0"),
        (([1], [1], [1]), ValueError, "y_true must hold at least 2 samples, got 1"),
        (([1, 0], [1], [1, 0]), ValueError, "pred_a has 1 labels, y_true has 2"),
        (([1, 0], [1, 0], [1]), ValueError, "pred_b has 1 labels, y_true has 2"),
        (([1, 0], [[1, 0]], [1, 0]), ValueError, "pred_a must be one-dimensional"),
        (([1, 0], [1, 0], ["a", "b"]), TypeError, "pred_b holds str labels and y_true"),
        (([None, None, 1], [1, 1, 1], [1, 1, 1]), ValueError, "y_true .* 2 were dropp"),
    ],
)
@pytest.mark.parametrize("options", [{}, {"cost": COST}], ids=["errors", "costs"])
def test_bad_labels(arguments, error, wanted, options):
    with pytest.raises(error, match=f"^{wanted}"):
        compare_labels(*arguments, **options)


def test_options_are_keywords():
    with pytest.raises(TypeError):
        compare_labels(Y, A, B, "midp")
    assert compare_labels(y_true=Y, pred_a=A, pred_b=B) == compare_labels(Y, A, B)


@pytest.mark.parametrize("alpha", [1e-10, 2e-16])
@pytest.mark.parametrize("options", [{}, {"cost": COST}], ids=["errors", "costs"])
def test_levels_of_any_size_can_be_printed(alpha, options):
    result = compare_labels(YC, AC, BC, alpha=alpha, **options)
    assert not result.reject
    assert "not significant" in result.decision
    low, high = result.interval
    assert low < result.difference < high
    assert isinstance(result.to_dict(), dict)


def test_levels_within_rounding_of_an_end():
    with pytest.raises(ValueError, match=r"^alpha must be so large that 1 - alpha is"):
        compare_labels(YC, AC, BC, alpha=1e-17)


def test_alpha_of_any_float_type():
    expect = compare_labels(Y, A, B, alpha=0.25)
    for alpha in (np.float64(0.25), np.float32(0.25)):
        assert compare_labels(Y, A, B, alpha=alpha) == expect


# The record.


@pytest.mark.parametrize(
    ("alternative", "labels", "said"),
    [
        ("two-sided", (60, 15, 5, 20), "; the difference is significant ("),
        ("two-sided", (60, 7, 5, 20), "; the difference is not significant ("),
        ("greater", (60, 15, 5, 20), "; a is significantly better than b ("),
        ("greater", (60, 5, 15, 20), "; a is not significantly better than b ("),
        ("less", (60, 5, 15, 20), "; b is significantly better than a ("),
        ("less", (60, 15, 5, 20), "; b is not significantly better than a ("),
    ],
)
def test_decisions(alternative, labels, said):
    result = compare_labels(*labels_of(labels), alternative=alternative)
    assert said in result.decision
    assert result.decision.startswith(
        f"a is right on {100 * (1 - result.loss_a):.2f}% of the samples, b on "
        f"{100 * (1 - result.loss_b):.2f}%; "
    )
    assert result.decision.endswith(f"p = {result.pvalue:.3f}).")
    assert f"(mid-p McNemar's test, p = {result.pvalue:.3f})." in result.decision
    assert " ".join(str(result).split("\n\n")[0].split()[4:]) == result.decision


@pytest.mark.parametrize("method", METHODS)
def test_decisions_name_the_test(method):
    named = {"midp": "mid-p", "exact": "exact conditional"}
    named["corrected"] = "continuity-corrected"
    named["unconditional"] = "exact unconditional"
    result = compare_labels(Y, A, B, method=method)
    assert f"({named.get(method, method)} McNemar's test, " in result.decision


def test_decisions_of_costs():
    result = compare_labels(YC, AC, BC, cost=COST)
    assert result.decision == (
        "a costs 0.5953, b 0.4698 per sample; the difference is not significant "
        "(likelihood ratio test, chi-square = 1.781, p = 0.182)."
    )
    chi = compare_labels(YC, AC, BC, cost=COST, method="chi-square")
    assert "not significant (chi-square test, " in chi.decision
    clear = compare_labels(*labels_of((60, 30, 3, 7)), cost=COST)
    assert "; the difference is significant (likelihood ratio test, " in clear.decision


def test_names_of_the_models():
    result = replace(compare_labels(Y, A, B, alternative="less"), names=("svm", "tree"))
    assert "svm is right on 75.00% of the samples, tree on 65.00%" in result.decision
    assert "tree is not significantly better than svm" in result.decision
    text = str(result)
    assert "accuracy of svm" in text
    assert "svm minus tree" in text
    assert "Only svm is right on 15 samples, only tree on 5." in text
    assert result.columns()["model_b"] == ["tree"]
    costly = replace(compare_labels(Y, A, B, cost=COST), names=("svm", "tree"))
    assert costly.decision.startswith("svm costs ")
    assert "cost of tree" in str(costly)


def no_answer():
    """A record without a p-value: `compare_labels` never asks for such a test."""
    comparison = cost_test(*ONE_SIDED, COST, support="observed")
    return HoldoutResult(comparison=comparison, alpha=0.05)


def test_without_an_answer():
    result = no_answer()
    assert isnan(result.pvalue)
    assert result.reject is False
    assert "; the test has no answer here (likelihood ratio test, " in result.decision
    assert "All observed differences have one sign" in str(result)
    said = result.to_dict()
    assert said["pvalue"] is None
    assert said["statistic"] is None
    json.dumps(said, allow_nan=False)
    assert result == no_answer()


@pytest.mark.parametrize("method", COST_TESTS)
def test_differences_of_one_sign_have_an_answer(method):
    result = compare_labels(*ONE_SIDED, cost=COST, method=method)
    assert 0 < result.pvalue < 1
    assert result.loss_a > result.loss_b
    assert "the difference is " in result.decision


EVERY = [
    {},
    *({"method": test, "alternative": "greater"} for test in METHODS[:4]),
    {"alternative": "less", "alpha": 0.001},
    *({"cost": COST, "method": test} for test in COST_TESTS),
]


@pytest.mark.parametrize("options", EVERY, ids=str)
def test_printing(options):
    result = compare_labels(Y, A, B, **options)
    text, page = str(result), result._repr_html_()
    costs = "cost" in options
    measure = "cost" if costs else "accuracy"
    first, second = result.loss_a, result.loss_b
    if not costs:
        first, second = 1 - first, 1 - second
    assert text.startswith("Which model is better?\n")
    alternative = options.get("alternative", "two-sided")
    title = f"Numbers ({alternative}, alpha = {options.get('alpha', 0.05):g})"
    assert title in text
    low, high = result.interval
    rows = {
        f"{measure} of a": f"{first:.4f}",
        f"{measure} of b": f"{second:.4f}",
        "a minus b": f"{result.difference:+.4f}",
        "samples": "100",
    }
    side = "" if alternative == "two-sided" else "one-sided "
    rows[f"{side}{100 * (1 - result.alpha):g}% CI"] = f"[{low:+.4f}, {high:+.4f}]"
    if result.distribution != "binomial":
        name = "chi-square" if alternative == "two-sided" else "z"
        rows[name] = f"{result.statistic:.4f}"
    for name, value in rows.items():
        line = next(x for x in text.splitlines() if x.strip().startswith(name + " "))
        assert line.endswith(f" {value}"), name
    assert ("Lower is better." in text) == costs
    assert max(map(len, text.splitlines())) <= 80
    assert page.startswith("<div>")
    assert page.endswith("</div>")
    assert "Which model is better?" in page
    assert "nan" not in text


FIELDS = [
    *("model_a", "model_b", "measure", "loss_a", "loss_b", "difference", "better"),
    *("low", "high", "statistic", "distribution", "df", "pvalue", "reject", "method"),
    *("alternative", "alpha", "n_samples"),
    *("n_outside_a", "n_outside_b"),
]


@pytest.mark.parametrize("options", EVERY, ids=str)
def test_columns_and_dictionaries(options):
    result = compare_labels(Y, A, B, **options)
    columns = result.columns()
    counts = () if "cost" in options else ("only_a", "only_b")
    known = [name for name in FIELDS if name != "df" or result.df is not None]
    assert list(columns) == [*known, *counts]
    assert result.to_frame().shape == (1, len(columns))
    for name in counts:
        assert columns[name] == [getattr(result.comparison, name)]
    row = {name: column[0] for name, column in columns.items()}
    assert (row["model_a"], row["model_b"]) == ("a", "b")
    for name in (*FIELDS[2:7], *known[9:]):
        assert row[name] == getattr(result, name), name
    assert (row["low"], row["high"]) == result.interval
    plain = {str: "method", float: "pvalue", bool: "reject", int: "n_samples"}
    for kind, name in plain.items():
        assert type(row[name]) is kind
    said = result.to_dict()
    assert said.items() >= {**row, "decision": result.decision}.items()
    assert json.loads(json.dumps(said, allow_nan=False)) == said


def test_numbers_are_plain():
    for options in ({}, {"cost": COST}):
        result = compare_labels(Y, A, B, **options)
        for name in ("pvalue", "statistic", "loss_a", "loss_b", "difference"):
            assert type(getattr(result, name)) is float, name
        assert [type(end) for end in result.interval] == [float, float]
        for name in ("n_samples", "n_missing", "n_excluded", "status"):
            assert type(getattr(result, name)) is int, name
        assert type(result.reject) is bool


def test_records_are_frozen():
    result = compare_labels(Y, A, B)
    with pytest.raises(FrozenInstanceError):
        result.alpha = 0.5
    with pytest.raises((AttributeError, TypeError)):
        result.unknown = 1


@pytest.mark.parametrize("options", [{}, {"cost": COST}], ids=["errors", "costs"])
def test_records_compare_copy_and_pickle(options):
    result = compare_labels(Y, A, B, **options)
    assert result == compare_labels(Y, A, B, **options)
    assert result != compare_labels(Y, A, B, alpha=0.1, **options)
    assert result != compare_labels(Y, B, A, **options)
    assert result != "a"
    assert copy.deepcopy(result) == result
    assert pickle.loads(pickle.dumps(result)) == result


def test_records_of_error_rates_can_be_hashed():
    assert hash(compare_labels(Y, A, B)) == hash(compare_labels(Y, A, B))
    with pytest.raises(TypeError, match="unhashable"):
        hash(compare_labels(Y, A, B, cost=COST))  # holds arrays


def test_errors_and_costs_are_different_records():
    assert compare_labels(Y, A, B) != compare_labels(Y, A, B, cost=COST)


# From fitted models.


def features(n=240, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4)) + 3
    y = (X[:, 0] + 0.5 * rng.normal(size=n) > 3).astype(int)
    return X, y + (X[:, 1] > 3.8)


X_ALL, Y_ALL = features()
X_TRAIN, Y_TRAIN = X_ALL[:120], Y_ALL[:120]
X, Y_TEST = X_ALL[120:], Y_ALL[120:]
TREE = DecisionTreeClassifier(max_depth=1, random_state=0).fit(X_TRAIN, Y_TRAIN)
KNN = KNeighborsClassifier(5).fit(X_TRAIN, Y_TRAIN)
EXPECT = compare_labels(Y_TEST, KNN.predict(X), TREE.predict(X))


def test_the_models_differ():
    assert EXPECT.loss_a != EXPECT.loss_b


@pytest.mark.parametrize(
    "options",
    [
        *EVERY[:6],
        *({"cost": COST_3, "method": test} for test in COST_TESTS),
        {"classes": [2, 0], "alpha": 0.2},
    ],
    ids=str,
)
def test_models_against_their_labels(options):
    result = compare_holdout(KNN, TREE, X, X, Y_TEST, **options)
    expect = compare_labels(Y_TEST, KNN.predict(X), TREE.predict(X), **options)
    assert result == expect


@pytest.mark.parametrize(
    "model",
    [
        make_pipeline(StandardScaler(), LogisticRegression()),
        RandomForestClassifier(5, random_state=0),
        GridSearchCV(DecisionTreeClassifier(random_state=0), {"max_depth": [1, 3]}),
        make_pipeline(KNeighborsClassifier(3)),
    ],
    ids=["pipeline", "forest", "search", "short pipeline"],
)
def test_estimators_of_all_kinds(model):
    model.fit(X_TRAIN, Y_TRAIN)
    expect = compare_labels(Y_TEST, model.predict(X), TREE.predict(X))
    assert compare_holdout(model, TREE, X, X, Y_TEST) == expect
    assert compare_holdout(model.predict, TREE.predict, X, X, Y_TEST) == expect


def test_two_feature_sets_of_one_model():
    small = KNeighborsClassifier(5).fit(X_TRAIN[:, :2], Y_TRAIN)
    result = compare_holdout(small, KNN, X[:, :2], X, Y_TEST)
    expect = compare_labels(Y_TEST, small.predict(X[:, :2]), KNN.predict(X))
    assert result == expect


def test_texts():
    texts = ["good film", "bad film", "good", "bad bad", "good good", "bad thing"]
    labels = ["pos", "neg", "pos", "neg", "pos", "neg"]
    model = make_pipeline(CountVectorizer(), MultinomialNB()).fit(texts, labels)
    for X_text in (texts, np.array(texts), pd.Series(texts)):
        result = compare_holdout(model, lambda X: ["pos"] * len(X), X_text, X_text, labels)
        assert (result.loss_a, result.loss_b) == (0.0, 0.5)


class Wrapped:
    """Something that predicts, of no library."""

    def __init__(self, convert):
        self.convert = convert

    def predict(self, X):
        return self.convert(TREE.predict(np.asarray(X)))


@pytest.mark.parametrize(
    "convert",
    [
        lambda x: x,
        lambda x: x.tolist(),
        lambda x: tuple(x.tolist()),
        lambda x: x[:, None],
        lambda x: x.astype(float),
        lambda x: x.astype(object),
        lambda x: pd.Series(x, index=np.arange(x.size) + 7),
        lambda x: pd.Series(x).astype("Int64"),
        lambda x: pd.Series(x).astype("category"),
        lambda x: pd.DataFrame({"label": x}),
        pl.Series,
        pa.array,
        lambda x: pa.chunked_array([x[:9], x[9:]]),
    ],
    ids=[
        *("array", "list", "tuple", "(n, 1)", "float", "object", "series"),
        *("Int64", "category", "one column", "polars", "pyarrow", "chunked"),
    ],
)
def test_models_may_return_labels_in_any_container(convert):
    result = compare_holdout(KNN, Wrapped(convert), X, X, Y_TEST)
    assert result == EXPECT
    function = Wrapped(convert).predict
    assert compare_holdout(KNN, function, X, X, Y_TEST) == EXPECT


@pytest.mark.parametrize("which", ["a", "b"])
@pytest.mark.parametrize(
    ("returned", "shape"),
    [
        (np.zeros((120, 2)), r"\(120, 2\)"),
        (np.zeros((120, 3)).tolist(), r"\(120, 3\)"),
        (pd.DataFrame(np.zeros((120, 2))), r"\(120, 2\)"),
        (np.zeros(119, int), r"\(119,\)"),
        (np.zeros((1, 120), int), r"\(1, 120\)"),
        (np.zeros((119, 1), int), r"\(119,\)"),
        ([0] * 121, r"\(121,\)"),
        (pd.Series([0] * 5), r"\(5,\)"),
        ([], r"\(0,\)"),
        (np.zeros((120, 1, 1)), r"\(120, 1, 1\)"),
        (None, r"\(\)"),
        (1, r"\(\)"),
        ("spam", r"\(\)"),
    ],
    ids=lambda x: type(x).__name__ if not isinstance(x, str) else x,
)
def test_anything_but_one_label_a_row_is_refused(which, returned, shape):
    wanted = (
        rf"^model_{which} must predict one label a row, an array of shape \(120,\), "
        rf"got shape {shape}$"
    )
    models = {"a": KNN, "b": TREE, which: lambda _: returned}
    with pytest.raises(ValueError, match=wanted):
        compare_holdout(models["a"], models["b"], X, X, Y_TEST)


@pytest.mark.parametrize("which", ["a", "b"])
def test_ragged_labels_are_refused_by_name(which):
    models = {"a": KNN, "b": TREE, which: lambda _: [[0], [0, 1]] * 60}
    with pytest.raises((ValueError, TypeError), match=f"^model_{which} must predict"):
        compare_holdout(models["a"], models["b"], X, X, Y_TEST)


class NoModel:
    def __repr__(self):
        return "NoModel()"


@pytest.mark.parametrize("which", ["a", "b"])
@pytest.mark.parametrize(
    ("model", "got"),
    [
        (KNeighborsClassifier, "the class KNeighborsClassifier"),
        (NoModel, "the class NoModel"),
        (NoModel(), r"NoModel\(\)"),
        (None, "None"),
        ("svm", "'svm'"),
        (make_pipeline(StandardScaler()), r"Pipeline\("),
        (StandardScaler(), r"StandardScaler\("),
    ],
    ids=["estimator class", "class", "object", "None", "text", "pipeline", "scaler"],
)
def test_what_is_no_model(which, model, got):
    wanted = (
        rf"^model_{which} must be a fitted model with a method predict, or a function, "
        rf"got {got}"
    )
    models = {"a": KNN, "b": TREE, which: model}
    with pytest.raises(TypeError, match=wanted):
        compare_holdout(models["a"], models["b"], X, X, Y_TEST)


class Broken(RuntimeError):
    pass


@pytest.mark.parametrize("which", ["a", "b"])
def test_errors_of_a_model_are_its_own_and_say_whose(which):
    def fail(X):
        raise broken

    broken = Broken("no power")
    models = {"a": KNN, "b": TREE, which: fail}
    with pytest.raises(Broken) as caught:
        compare_holdout(models["a"], models["b"], X, X, Y_TEST)
    assert caught.value is broken
    assert str(broken) == "no power"
    (note,) = caught.value.__notes__
    assert f"model_{which}" in note


def test_models_that_were_never_fitted_say_so():
    with pytest.raises(NotFittedError) as caught:
        compare_holdout(TREE, KNeighborsClassifier(), X, X, Y_TEST)
    assert any("model_b" in note for note in caught.value.__notes__)


def test_interrupts_pass():
    def stop(X):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        compare_holdout(stop, TREE, X, X, Y_TEST)


# What they predict from.


class Seen(ClassifierMixin, BaseEstimator):
    """A model that remembers what it saw."""

    def __init__(self):
        self.seen = []

    def predict(self, X):
        self.seen.append(X)
        values = X.toarray() if sparse.issparse(X) else np.asarray(X)
        return TREE.predict(values)


NAMES_4 = ["c0", "c1", "c2", "c3"]
COLUMNS = dict(zip(NAMES_4, X.T.copy(), strict=True))
CONTAINERS = {
    "numpy": X,
    "list": X.tolist(),
    "csr": sparse.csr_matrix(X),
    "csr array": sparse.csr_array(X),
    "pandas": pd.DataFrame(COLUMNS),
    "polars": pl.DataFrame(COLUMNS),
    "pyarrow": pa.table(COLUMNS),
}


@pytest.mark.parametrize("kind", CONTAINERS)
def test_predictors_in_any_container(kind):
    model, data = Seen(), CONTAINERS[kind]
    assert compare_holdout(KNN, model, X, data, Y_TEST) == EXPECT
    assert len(model.seen) == 1
    assert model.seen[0] is data


def test_sparse_predictors_of_scikit_learn():
    data = sparse.csr_matrix(X)
    model = DecisionTreeClassifier(max_depth=2, random_state=0)
    model.fit(sparse.csr_matrix(X_TRAIN), Y_TRAIN)
    expect = compare_labels(Y_TEST, model.predict(data), TREE.predict(data))
    assert compare_holdout(model, TREE, data, data, Y_TEST) == expect


@pytest.mark.parametrize(
    "convert",
    [
        list,
        lambda y: pd.Series(y, index=np.arange(y.size)[::-1]),
        lambda y: pd.Series(y).astype("category"),
        pl.Series,
        pa.array,
        lambda y: y.astype(float),
    ],
    ids=["list", "pandas", "category", "polars", "pyarrow", "float"],
)
def test_true_labels_in_any_container(convert):
    assert compare_holdout(KNN, TREE, X, X, convert(Y_TEST)) == EXPECT


FRAMES = {
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "pyarrow": pa.table,
    "batch": pa.record_batch,
}


def names_of(frame):
    names = getattr(frame, "column_names", None)
    return list(frame.columns) if names is None else list(names)


@pytest.mark.parametrize("place", [0, 2, 4])
@pytest.mark.parametrize("kind", FRAMES)
def test_a_named_column_is_hidden_from_the_models(kind, place):
    items = list(COLUMNS.items())
    items.insert(place, ("target", Y_TEST))
    frame, other = FRAMES[kind](dict(items)), FRAMES[kind](dict(items))
    seen_a, seen_b = Seen(), Seen()
    result = compare_holdout(seen_a, seen_b, frame, other, "target")
    assert result.comparison.only_a == result.comparison.only_b == 0
    assert result.loss_a == (TREE.predict(X) != Y_TEST).mean()
    for model in (seen_a, seen_b):
        (seen,) = model.seen
        assert type(seen) is type(frame)
        assert names_of(seen) == NAMES_4
    # The caller's frames are as they were.
    assert names_of(frame) == [name for name, _ in items]
    if kind == "pandas":
        pd.testing.assert_frame_equal(frame, pd.DataFrame(dict(items)))
    else:
        assert frame.equals(FRAMES[kind](dict(items)))


def test_writing_models_do_not_reach_the_callers_frame():
    frame = pd.DataFrame({**COLUMNS, "y": Y_TEST})
    before = frame.copy(deep=True)

    def careless(X):
        X["extra"] = 0
        return np.zeros(len(X), int)

    compare_holdout(careless, careless, frame, frame, "y")
    pd.testing.assert_frame_equal(frame, before)


@pytest.mark.parametrize("first", FRAMES)
@pytest.mark.parametrize("second", FRAMES)
def test_frames_of_two_libraries(first, second):
    columns = {"target": Y_TEST, **COLUMNS}
    frames = FRAMES[first](columns), FRAMES[second](columns)
    knn = Wrapped(lambda x: x)
    knn.predict = lambda X: KNN.predict(np.stack([np.asarray(X[n]) for n in NAMES_4], 1))
    tree = Wrapped(lambda x: x)
    tree.predict = lambda X: TREE.predict(np.stack([np.asarray(X[n]) for n in NAMES_4], 1))
    assert compare_holdout(knn, tree, *frames, "target") == EXPECT


def test_frames_with_other_columns():
    big = pd.DataFrame({**COLUMNS, "y": Y_TEST})
    small = big[["y", "c1", "c0"]]
    train = pd.DataFrame(X_TRAIN, columns=NAMES_4)
    model_a = KNeighborsClassifier(3).fit(train, Y_TRAIN)
    model_b = KNeighborsClassifier(3).fit(train[["c1", "c0"]], Y_TRAIN)
    result = compare_holdout(model_a, model_b, big, small, "y")
    expect = compare_labels(
        Y_TEST, model_a.predict(big[NAMES_4]), model_b.predict(small[["c1", "c0"]])
    )
    assert result == expect


@pytest.mark.parametrize("kind", FRAMES)
@pytest.mark.parametrize("which", ["X_a", "X_b"])
def test_a_column_that_is_missing(kind, which):
    full, bare = FRAMES[kind]({**COLUMNS, "y": Y_TEST}), FRAMES[kind](COLUMNS)
    frames = (bare, full) if which == "X_a" else (full, bare)
    wanted = rf"^{which} must have one column 'y' \(y\), got 0 among \['c0', 'c1', "
    with pytest.raises(ValueError, match=wanted):
        compare_holdout(KNN, TREE, *frames, "y")


@pytest.mark.parametrize("which", ["X_a", "X_b"])
def test_a_column_that_is_there_twice(which):
    full = pd.DataFrame({**COLUMNS, "y": Y_TEST})
    double = pd.concat([full, full[["y"]]], axis=1)
    frames = (double, full) if which == "X_a" else (full, double)
    wanted = rf"^{which} must have one column 'y' \(y\), got 2 among "
    with pytest.raises(ValueError, match=wanted):
        compare_holdout(KNN, TREE, *frames, "y")


@pytest.mark.parametrize("which", ["X_a", "X_b"])
@pytest.mark.parametrize(
    ("data", "got"),
    [
        (X, "ndarray"),
        (X.tolist(), "list"),
        (sparse.csr_matrix(X), "csr_matrix"),
        (COLUMNS, "dict"),
        (pd.Series(Y_TEST, name="y"), "Series"),
        (pl.Series("y", Y_TEST), "Series"),
        (None, "NoneType"),
    ],
    ids=lambda x: x if isinstance(x, str) else "",
)
def test_a_named_column_needs_frames(which, data, got):
    full = pd.DataFrame({**COLUMNS, "y": Y_TEST})
    frames = (data, full) if which == "X_a" else (full, data)
    wanted = (
        rf"^y='y' names a column, so {which} must be a pandas, polars or pyarrow "
        rf"frame, got {got}$"
    )
    with pytest.raises(TypeError, match=wanted):
        compare_holdout(KNN, TREE, *frames, "y")


@pytest.mark.filterwarnings("ignore:Determining the column names of a LazyFrame")
def test_lazy_frames_are_refused():
    full = pl.DataFrame({**COLUMNS, "y": Y_TEST})
    wanted = r"^y='y' names a column, so X_b must be .*, got LazyFrame"
    with pytest.raises(TypeError, match=wanted):
        compare_holdout(KNN, TREE, full, full.lazy(), "y")


@pytest.mark.parametrize("kind", FRAMES)
def test_columns_that_differ(kind):
    labels = np.array(["n", "p"])[Y_TEST % 2]
    changed = labels.copy()
    changed[[17, 30]] = np.where(changed[[17, 30]] == "n", "p", "n")
    full = FRAMES[kind]({**COLUMNS, "y": labels})
    other = FRAMES[kind]({**COLUMNS, "y": changed})
    wanted = (
        r"^column 'y' \(y\) differs between X_a and X_b, first in row 17: both must "
        r"hold the same samples in the same order$"
    )
    with pytest.raises(ValueError, match=wanted):
        compare_holdout(KNN, TREE, full, other, "y")


def test_columns_that_differ_in_what_is_missing():
    labels = np.array([0.0, 1.0] * 60)
    holes = labels.copy()
    holes[5] = np.nan
    frames = [pd.DataFrame({**COLUMNS, "y": y}) for y in (labels, holes)]
    for order in (frames, frames[::-1]):
        with pytest.raises(ValueError, match=r"first in row 5: both must hold the"):
            compare_holdout(KNN, TREE, *order, "y")


def test_columns_of_other_types_agree():
    frames = [
        pd.DataFrame({**COLUMNS, "y": pd.Series(Y_TEST).astype(kind)})
        for kind in ("int8", "Int64", "float64", "category")
    ]
    model = Wrapped(lambda x: x)
    for frame in frames:
        result = compare_holdout(model, model, frames[0], frame, "y")
        assert result.loss_a == EXPECT.loss_b


def test_frames_of_different_length():
    full = pd.DataFrame({**COLUMNS, "y": Y_TEST})
    wanted = r"^X_a has 120 rows, X_b has 119$"
    with pytest.raises(ValueError, match=wanted):
        compare_holdout(KNN, TREE, full, full[:-1], "y")


@pytest.mark.parametrize("kind", CONTAINERS)
def test_other_numbers_of_rows(kind):
    data = CONTAINERS[kind]
    with pytest.raises(ValueError, match=r"^X_b has 120 rows, y has 119 labels$"):
        compare_holdout(KNN, TREE, X[:-1], data, Y_TEST[:-1])
    with pytest.raises(ValueError, match=r"^X_a has 120 rows, y has 121 labels$"):
        compare_holdout(KNN, TREE, data, X, [*Y_TEST, 0])


@pytest.mark.parametrize("bad", [None, 5])
def test_what_has_no_rows_is_refused_by_name(bad):
    for arguments, name in (
        ((X, X, bad), "y"),
        ((bad, X, Y_TEST), "X_a"),
        ((X, bad, Y_TEST), "X_b"),
    ):
        with pytest.raises((TypeError, ValueError), match=rf"\b{name}\b"):
            compare_holdout(KNN, TREE, *arguments)


def test_labels_of_one_column_that_are_not_flat():
    with pytest.raises(ValueError, match=r"^y(_true)? must be one-dimensional, got sh"):
        compare_holdout(KNN, TREE, X, X, Y_TEST[:, None])


@pytest.mark.parametrize("named", [True, False])
def test_missing_labels_of_a_holdout_set(named):
    y = np.where(np.arange(120) % 10 == 0, np.nan, Y_TEST)
    frame = pd.DataFrame({**COLUMNS, "y": y})
    model_a, model_b = Wrapped(lambda x: x), lambda X: np.zeros(len(X), int)
    arguments = (frame, frame, "y") if named else (X, X, y)
    result = compare_holdout(model_a, model_b, *arguments)
    assert (result.n_missing, result.n_samples) == (12, 108)
    kept = ~np.isnan(y)
    expect = compare_labels(Y_TEST[kept], TREE.predict(X)[kept], np.zeros(108, int))
    assert result.pvalue == expect.pvalue
    assert (result.loss_a, result.loss_b) == (expect.loss_a, expect.loss_b)


@pytest.mark.parametrize("kind", [str, object, "U9"])
def test_text_labels(kind):
    names = np.array(["red", "green", "blue"], dtype=kind)
    models = [
        model.__class__(**model.get_params()).fit(X_TRAIN, names[Y_TRAIN]) for model in (KNN, TREE)
    ]
    result = compare_holdout(*models, X, X, names[Y_TEST])
    assert result.pvalue == EXPECT.pvalue
    assert (result.loss_a, result.loss_b) == (EXPECT.loss_a, EXPECT.loss_b)
    frame = pd.DataFrame({**COLUMNS, "colour": names[Y_TEST]})
    flat = [lambda X, m=m: m.predict(X.to_numpy()) for m in models]
    assert compare_holdout(*flat, frame, frame, "colour") == result


def test_models_of_other_labels_are_refused():
    names = np.array(["red", "green", "blue"])
    with pytest.raises(TypeError, match=r"^pred_a holds number labels and y_true str"):
        compare_holdout(KNN, TREE, X, X, names[Y_TEST])


def test_a_holdout_set_of_one_class():
    rows = Y_TEST == 0
    result = compare_holdout(KNN, TREE, X[rows], X[rows], Y_TEST[rows])
    assert 0 <= result.pvalue <= 1
    wrong = (KNN.predict(X[rows]) != 0).mean()
    assert result.loss_a == wrong
    costly = compare_holdout(
        KNN, TREE, X[rows], X[rows], Y_TEST[rows], cost=COST_3, classes=[0, 1, 2]
    )
    assert 0 <= costly.pvalue <= 1


def test_each_model_is_asked_once():
    first, second = Seen(), Seen()
    other = X.copy()
    compare_holdout(first, second, X, other, Y_TEST)
    assert (len(first.seen), len(second.seen)) == (1, 1)
    assert first.seen[0] is X
    assert second.seen[0] is other


def test_real_predictions():
    y_true, models = load_digits()
    lookup = {name: (lambda X, p=p: np.asarray(p)[X]) for name, p in models.items()}
    rows = np.arange(len(y_true))
    result = compare_holdout(lookup["knn_3"], lookup["decision_tree"], rows, rows, y_true)
    assert result == compare_labels(y_true, models["knn_3"], models["decision_tree"])
    assert result.reject
    assert "the difference is significant" in result.decision
