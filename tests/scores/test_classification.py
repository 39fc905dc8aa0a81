"""One classifier at one cutoff, and two compared by sensitivity and the like."""

import copy
import json
import operator
import pickle
from dataclasses import FrozenInstanceError
from decimal import Decimal
from fractions import Fraction
from math import exp, inf, isnan, log, sqrt

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference_cases import expected, parametrize
from scipy import stats
from sklearn import metrics
from statsmodels.stats.contingency_tables import Table2x2
from strategies import levels

from fastcmp import load_digits_scores, optimal_cutpoint
from fastcmp.core.render import to_csv
from fastcmp.scores.classification import classification_table, classification_table_from_counts
from fastcmp.scores.paired_measures import compare_sensitivity_specificity

ICU = {"tp": 13, "fp": 2, "fn": 27, "tn": 158}
SHARES = ("accuracy", "sensitivity", "specificity", "ppv", "npv")
RATIOS = ("likelihood_ratio_positive", "likelihood_ratio_negative", "diagnostic_odds_ratio")
MEASURES = (*SHARES, "balanced_accuracy", "f1", "mcc", "youden", *RATIOS)
SMALL = st.integers(0, 40)
TABLES = st.fixed_dictionaries(dict.fromkeys(("tp", "fp", "fn", "tn"), SMALL))


def cells(table):
    return table.tp, table.fp, table.fn, table.tn


def labels_of(tp, fp, fn, tn):
    y_true = np.repeat([1, 0, 1, 0], [tp, fp, fn, tn])
    called = np.repeat([1, 1, 0, 0], [tp, fp, fn, tn])
    return y_true, called


def same(x, y):
    return (isnan(x) and isnan(y)) or x == pytest.approx(y, rel=1e-12, abs=1e-15)


# Measures.


@parametrize("classification_measures")
def test_measures_against_references(case):
    n = case["input"]
    counts = {"tp": n["n11"], "fp": n["n01_pred1_obs0"]}
    counts |= {"fn": n["n10_pred0_obs1"], "tn": n["n00"]}
    table = classification_table_from_counts(**counts)
    for name in case["expected"]:
        assert getattr(table, name) == expected(case, name)
    share = table.n_positives / table.n_samples
    at = classification_table_from_counts(**counts, prevalence=share)
    assert at.ppv == expected(case, "ppv")
    assert at.npv == expected(case, "npv")


def naive_measures(tp, fp, fn, tn):
    def ratio(a, b):
        return float("nan") if b == 0 else float(Fraction(a) / Fraction(b))

    se, sp = ratio(tp, tp + fn), ratio(tn, tn + fp)
    margins = (tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)
    plus = ratio(tp * (tn + fp), fp * (tp + fn))
    minus = ratio(fn * (tn + fp), tn * (tp + fn))
    if fp == 0 and tp and tn:
        plus = inf
    if tn == 0 and fn and fp:
        minus = inf
    odds = ratio(tp * tn, fp * fn)
    if fp * fn == 0 and tp * tn:
        odds = inf
    return {
        "diagnostic_odds_ratio": odds,
        "accuracy": ratio(tp + tn, tp + fp + fn + tn),
        "sensitivity": se,
        "specificity": sp,
        "ppv": ratio(tp, tp + fp),
        "npv": ratio(tn, tn + fn),
        "balanced_accuracy": (se + sp) / 2,
        "f1": ratio(2 * tp, 2 * tp + fp + fn),
        "mcc": (tp * tn - fp * fn) / sqrt(margins) if margins else float("nan"),
        "youden": se + sp - 1,
        "likelihood_ratio_positive": plus,
        "likelihood_ratio_negative": minus,
    }


@given(TABLES)
def test_measures_against_their_definitions(counts):
    table = classification_table_from_counts(**counts)
    for name, value in naive_measures(**counts).items():
        assert same(getattr(table, name), value), name
    if not sum(counts.values()):
        return
    assert table.table.tolist() == [[counts["tn"], counts["fp"]], [counts["fn"], counts["tp"]]]
    y_true, called = labels_of(**counts)
    from_labels = classification_table(y_true, called)
    assert cells(from_labels) == cells(table)
    confusion = metrics.confusion_matrix(y_true, called, labels=[0, 1])
    assert np.array_equal(table.table, confusion)


@given(TABLES)
def test_swapping_the_classes_swaps_the_measures(counts):
    one = classification_table_from_counts(**counts)
    opposite = {"tp": "tn", "fp": "fn", "fn": "fp", "tn": "tp"}
    swapped = {name: counts[other] for name, other in opposite.items()}
    other = classification_table_from_counts(**swapped)
    assert same(one.sensitivity, other.specificity)
    assert same(one.ppv, other.npv)
    assert same(one.mcc, other.mcc)
    if sum(counts.values()):
        y_true, called = labels_of(**counts)
        flipped = classification_table(y_true, called, positive=0)
        assert cells(flipped) == cells(other)


def test_huge_counts_stay_exact():
    table = classification_table_from_counts(tp=2**51, fp=2**51, fn=2**51, tn=2**51)
    assert table.mcc == 0.0
    assert table.accuracy == 0.5


@given(TABLES, st.floats(0.001, 0.999))
def test_predictive_values_by_bayes_rule(counts, p):
    table = classification_table_from_counts(**counts, prevalence=p)
    se, sp = table.sensitivity, table.specificity
    if isnan(se) or isnan(sp):
        assert isnan(table.ppv)
        assert isnan(table.npv)
        return
    for value, right, wrong in (
        (table.ppv, p * se, (1 - p) * (1 - sp)),
        (table.npv, (1 - p) * sp, p * (1 - se)),
    ):
        if right + wrong < 1e-12:
            assert isnan(value)
        else:
            assert value == pytest.approx(right / (right + wrong), abs=1e-12)


# Intervals.


@given(TABLES, levels)
def test_intervals_of_shares_against_scipy(counts, level):
    table = classification_table_from_counts(**counts)
    tp, fp, fn, tn = cells(table)
    parts = [(tp + tn, sum(counts.values())), (tp, tp + fn), (tn, tn + fp)]
    parts += [(tp, tp + fp), (tn, tn + fn)]
    for name, (x, n) in zip(SHARES, parts, strict=True):
        for method, scipys in (("wilson", "wilson"), ("clopper-pearson", "exact")):
            found = table.confidence_interval(name, confidence_level=level, method=method)
            if n == 0:
                assert isnan(found.low)
                assert isnan(found.high)
                continue
            oracle = stats.binomtest(x, n).proportion_ci(level, scipys)
            assert tuple(found) == pytest.approx(tuple(oracle), abs=1e-9)


@given(TABLES, levels, st.floats(0.01, 0.99))
def test_intervals_of_ratios_on_the_log_scale(counts, level, p):
    table = classification_table_from_counts(**counts, confidence_level=level, prevalence=p)
    tp, fp, fn, tn = cells(table)
    for name, value, x1, x0 in ((RATIOS[0], "ppv", tp, fp), (RATIOS[1], "npv", fn, tn)):
        low, high = table.confidence_interval(name)
        bayes = table.confidence_interval(value)
        if not (tp + fn and tn + fp):
            assert isnan(low)
            assert isnan(bayes.low)
            continue
        if not (x1 and x0):
            assert (low, high) == (0, inf)
            assert tuple(bayes) == (0, 1)
            continue
        center = log(x1 / (tp + fn) / (x0 / (tn + fp)))
        spread = sqrt(1 / x1 - 1 / (tp + fn) + 1 / x0 - 1 / (tn + fp))
        z = stats.norm.isf((1 - level) / 2)
        assert log(low) == pytest.approx(center - z * spread, abs=1e-9)
        assert log(high) == pytest.approx(center + z * spread, abs=1e-9)
        odds = [p / (1 - p) * exp(center + k * z * spread) for k in (-1, 1)]
        risks = [o / (1 + o) for o in odds]
        if value == "npv":
            risks = [1 - risk for risk in risks[::-1]]
        assert tuple(bayes) == pytest.approx(tuple(risks), abs=1e-9)


def test_intervals_that_an_r_package_prints():
    # Record in the README of DTComPair (R), for test y1 of its data set Paired1.
    table = classification_table_from_counts(
        tp=397, fp=84, fn=54, tn=177, interval="clopper-pearson"
    )
    printed = {
        "sensitivity": (0.8466745, 0.9087592),
        "specificity": (0.6177792, 0.7344406),
        "ppv": (0.7884240, 0.8582440),
        "npv": (0.7062587, 0.8192389),
        "likelihood_ratio_positive": (2.2860079, 3.2724472),
        "likelihood_ratio_negative": (0.1356142, 0.2298601),
    }
    for name, ends in printed.items():
        assert tuple(table.confidence_interval(name)) == pytest.approx(ends, abs=6e-8)
    wilson = table.confidence_interval("sensitivity", method="wilson")
    assert tuple(wilson) == pytest.approx((0.8470, 0.9071), abs=6e-5)


@pytest.mark.parametrize("x", [1, 999, 1000, 1001])
def test_an_exact_interval_of_a_rare_class(x):
    # So rare that counts are Poisson; the inverse beta function has a gap at 1000.
    n = 10**9
    table = classification_table_from_counts(tp=x, fp=n // 2, fn=n - x, tn=n // 2)
    found = table.confidence_interval("sensitivity", method="clopper-pearson")
    poisson = stats.gamma.ppf(0.025, x) / n, stats.gamma.isf(0.025, x + 1) / n
    assert tuple(found) == pytest.approx(poisson, rel=1e-6)


# Reading scores and labels.


@given(
    st.lists(
        st.tuples(st.booleans(), st.floats(-3, 3) | st.sampled_from([-1, 0, 0.5, 1])),
        min_size=1,
        max_size=30,
    ),
    st.floats(-3, 3) | st.sampled_from([0.25, 0.0, 1.0, -inf, inf]),
    st.sampled_from([">", ">=", "<", "<="]),
)
def test_cutting_scores_one_by_one(samples, cutoff, rule):
    y_true, score = zip(*samples, strict=True)
    compare = {">": operator.gt, ">=": operator.ge, "<": operator.lt, "<=": operator.le}[rule]
    called = [compare(s, cutoff) for s in score]
    table = classification_table(y_true, scores=score, cutoff=cutoff, rule=rule)
    pairs = list(zip(y_true, called, strict=True))
    wanted = [pairs.count(p) for p in [(1, 1), (0, 1), (1, 0), (0, 0)]]
    assert list(cells(table)) == wanted
    assert (table.cutoff, table.rule) == (cutoff, rule)


@pytest.mark.parametrize("kind", [int, bool, float, np.int8, np.float32])
@pytest.mark.parametrize("rule", [">", ">="])
def test_columns_of_0_and_1_are_labels_and_need_not_be(kind, rule):
    y_true = [0, 1, 1, 0, 1]
    called = np.array([0, 1, 0, 1, 1], kind)
    table = classification_table(y_true, called, rule=rule)
    assert table.cutoff is None
    assert cells(table) == (2, 1, 1, 1)
    if kind is not bool:
        cut = classification_table(y_true, called, rule=rule, cutoff=0.25)
        assert cut.cutoff == 0.25
        assert cells(cut) == cells(table)


def test_a_given_cutoff_makes_numbers_scores():
    y_true = [1, 2, 2, 1]
    called = [1, 2, 1, 2]
    assert cells(classification_table(y_true, called)) == (1, 1, 1, 1)
    assert cells(classification_table(y_true, called, cutoff=1.5)) == (1, 1, 1, 1)
    assert cells(classification_table(y_true, called, cutoff=2)) == (1, 1, 1, 1)
    passed = classification_table(y_true, called, cutoff=2, rule=">")
    assert cells(passed) == (0, 0, 2, 2)


@pytest.mark.parametrize(
    "make",
    [list, np.array, pd.Series, pl.Series, pa.array, pd.Categorical, tuple],
    ids=lambda make: f"{make.__module__}.{make.__name__}",
)
def test_strings_of_any_library(make):
    y_true = ["ill", "well", "ill", "well"]
    called = make(["ill", "ill", "well", "well"])
    table = classification_table(make(y_true), called, positive="ill")
    assert cells(table) == (1, 1, 1, 1)
    assert table.labels == ("ill", "well")


@pytest.mark.parametrize(
    "make",
    [
        list,
        pd.Series,
        pl.Series,
        pa.array,
        lambda x: pd.array(x, dtype="Float64"),
        lambda x: np.array(x, np.longdouble),
        lambda x: np.array(x, object),
        lambda x: [Decimal(v) for v in x],
        lambda x: np.ma.array(x, mask=[0, 0, 0, 0]),
    ],
)
def test_scores_of_any_library(make):
    table = classification_table([0, 1, 1, 0], make([0.25, 0.75, 0.375, 0.5]))
    assert cells(table) == (1, 1, 1, 1)
    assert table.cutoff == 0.5


def test_a_score_that_equals_the_cutoff_is_positive():
    table = classification_table([0, 1, 1], [0.5, 0.5, 0.25])
    assert (cells(table), table.rule) == ((1, 1, 1, 0), ">=")
    assert "where the score is >= 0.5" in str(table)


@pytest.mark.parametrize("criterion", ["youden", "accuracy", "closest-topleft"])
def test_a_cutoff_gives_the_table_with_which_it_was_found(criterion):
    is_eight, scores = load_digits_scores()
    for column in scores.values():
        found = optimal_cutpoint(is_eight, column, criterion=criterion)
        for cutoff, wanted in zip(found.cutoffs, found.tables, strict=True):
            table = classification_table(is_eight, scores=column, cutoff=cutoff)
            assert cells(table) == cells(wanted)
            assert table.rule == found.rule == ">="


def test_the_example_of_three_neighbours():
    is_eight, scores = load_digits_scores()
    cutoff = optimal_cutpoint(is_eight, scores["knn_3"]).cutoff
    table = classification_table(is_eight, scores["knn_3"], cutoff=cutoff)
    assert table.table.tolist() == [[802, 10], [2, 85]]


@pytest.mark.parametrize(
    "make", [list, np.array, pd.Series, lambda x: np.array(x, float), lambda x: [*x]]
)
def test_a_stray_third_label_is_refused(make):
    y_true, called = [1, 2, 1, 2, 1], [1, 2, 1, 2, 3]
    with pytest.raises(ValueError, match=r"score_or_label .*\[2, 1\].* 3 .*scores"):
        classification_table(y_true, make(called))
    asked = classification_table(y_true, scores=make(called), cutoff=2)
    assert cells(asked) == (2, 1, 0, 2)
    assert asked.cutoff == 2


def test_whole_numbers_are_scores_where_that_is_asked_for():
    y_true = [0, 1, 1]
    with pytest.raises(ValueError, match="must hold labels of y_true"):
        classification_table(y_true, [3, 7, 2])
    assert cells(classification_table(y_true, scores=[3, 7, 2])) == (2, 1, 0, 0)
    assert cells(classification_table(y_true, [3, 7, 2], cutoff=3)) == (1, 1, 1, 0)
    assert cells(classification_table(y_true, [-3.0, 7.0, 2.0])) == (2, 0, 0, 1)
    words = classification_table(["a", "b"], [0.2, 0.7], positive="b")
    assert cells(words) == (1, 0, 0, 1)
    with pytest.raises(TypeError, match="number labels and y_true str labels"):
        classification_table(["a", "b"], [2, 7], positive="b")


def test_scores_or_labels_but_not_both():
    with pytest.raises(TypeError, match="one of score_or_label and scores=, got neit"):
        classification_table([0, 1])
    with pytest.raises(TypeError, match="one of score_or_label and scores=, got both"):
        classification_table([0, 1], [0, 1], scores=[0, 1])
    with pytest.raises(TypeError, match="scores must be numbers"):
        classification_table([0, 1], scores=["a", "b"])
    with pytest.raises(ValueError, match="masked"):
        classification_table([0, 1], scores=np.ma.array([0, 1], mask=[0, 1]))


def test_data_by_keyword():
    table = classification_table(y_true=[0, 1], score_or_label=[0.25, 0.75])
    assert cells(table) == (1, 0, 0, 1)
    both = compare_sensitivity_specificity(y_true=[0, 1, 1], pred_a=[0, 1, 1], pred_b=[0, 1, 0])
    assert both == compare_sensitivity_specificity([0, 1, 1], [0, 1, 1], [0, 1, 0])


@given(TABLES, st.integers(0, 99))
def test_weights_add_up(counts, seed):
    y_true, called = labels_of(**counts)
    if not y_true.size:
        return
    rng = np.random.default_rng(seed)
    times = rng.integers(1, 4, y_true.size)
    one = classification_table(y_true, called, sample_weight=times)
    other = classification_table(np.repeat(y_true, times), np.repeat(called, times))
    assert cells(one) == cells(other)
    weights = rng.random(y_true.size) + 0.1
    table = classification_table(y_true, called, sample_weight=weights)
    peer = metrics.confusion_matrix(y_true, called, labels=[0, 1], sample_weight=weights)
    assert table.table.tolist() == pytest.approx(peer)
    scores = called - 0.25 * rng.random(y_true.size)
    cut = classification_table(y_true, scores, sample_weight=weights)
    assert cells(cut) == cells(table)
    for name in SHARES:
        assert isnan(table.confidence_interval(name).low)
    assert "sums of weights, for which there are no intervals" in str(table)
    assert table.to_dict()["weighted"] is True


def test_weights_of_dropped_samples_are_dropped():
    for called in ([1, 0, 0], [0.9, 0.2, 0.3], ["a", "b", "b"]):
        y_true = ["a", None, "b"] if isinstance(called[0], str) else [1, None, 0]
        positive = "a" if isinstance(called[0], str) else 1
        table = classification_table(y_true, called, positive=positive, sample_weight=[2, 5, 3])
        assert cells(table) == (2, 0, 0, 3)
        assert table.n_missing == 1
    with pytest.raises(ValueError, match="sample_weight must be finite and >= 0"):
        classification_table([0, 1], [0, 1], sample_weight=[1, -1])


def test_integer_scores_that_no_double_holds():
    score = np.array([2**62, 2**63 - 1, 3, -5])
    table = classification_table([1, 1, 0, 0], score, cutoff=100)
    assert cells(table) == (2, 0, 0, 2)


def test_single_precision_next_to_the_cutoff():
    score = np.array([0.1, 0.1], np.float32)  # a little more than 0.1
    assert cells(classification_table([0, 1], score, cutoff=0.1)) == (1, 1, 0, 0)


def test_missing_true_labels_are_dropped():
    y_true = [1, None, 0, 1]
    for called in ([1, 0, 0, 0], [0.9, 0.1, 0.2, 0.3], [True, None, False, False]):
        table = classification_table(y_true, called)
        assert cells(table) == (1, 0, 1, 1)
        assert table.n_missing == 1
    assert "1 samples without a true label were dropped." in str(table)


def test_one_class_only():
    table = classification_table([1, 1, 1], [0, 1, 1])
    assert cells(table) == (2, 0, 1, 0)
    assert isnan(table.specificity)
    assert isnan(table.likelihood_ratio_positive)
    assert isnan(table.mcc)
    assert cells(classification_table([0, 0], [0, 0])) == (0, 0, 0, 2)
    assert cells(classification_table([0, 0], [False, True])) == (0, 1, 0, 1)
    assert cells(classification_table([0, 0], [0, 1])) == (0, 1, 0, 1)
    assert cells(classification_table([0, 0], [0, 1], positive=0)) == (1, 0, 1, 0)
    assert cells(classification_table([1, 1], [0, 1], positive=0)) == (0, 1, 0, 1)
    assert cells(classification_table([-1], [1], positive=-1)) == (0, 0, 1, 0)
    assert cells(classification_table([1], [-1], positive=-1)) == (0, 1, 0, 0)
    assert cells(classification_table([0, 0], [0.2, 0.7])) == (0, 1, 0, 1)
    words = classification_table(["a", "a"], ["a", "b"], positive="a")
    assert cells(words) == (1, 0, 1, 0)
    words = classification_table(["a", "a"], ["a", "b"], positive="b")
    assert cells(words) == (0, 1, 0, 1)


def test_cutoffs_beyond_all_scores():
    y_true, score = [0, 1], [0.2, 0.7]
    for cutoff in (0.75, 5, inf):
        assert cells(classification_table(y_true, score, cutoff=cutoff))[:2] == (0, 0)
    for cutoff in (0.1, -5, -inf):
        assert cells(classification_table(y_true, score, cutoff=cutoff))[:2] == (1, 1)


@pytest.mark.parametrize(
    ("arguments", "options", "error", "message"),
    [
        (([0, 1], [0.1, 0.2]), {"cutoff": float("nan")}, ValueError, "cutoff must be a n"),
        (([0, 1], [0.1, 0.2]), {"cutoff": "0.5"}, TypeError, "cutoff must be a number, "),
        (([0, 1], [0.1, 0.2]), {"cutoff": None}, TypeError, "cutoff must be a number, "),
        (([0, 1], [0.1, 0.2]), {"cutoff": [1, 2]}, TypeError, "cutoff must be a number"),
        (([0, 1], [0.1, 0.2]), {"rule": "!="}, ValueError, r"rule must be one of \('>"),
        (([0, 1], [0.1, 0.2]), {"prevalence": 0}, ValueError, "prevalence must lie in"),
        (([0, 1], [0.1, 0.2]), {"interval": "wald"}, ValueError, "interval must be on"),
        (([0, 1], [0.1, 0.2]), {"confidence_level": 1}, ValueError, "confidence_level"),
        (([0, 1], [0.1, float("nan")]), {}, ValueError, "scores has NaN for sample 1"),
        (([0, 1], [0.1]), {}, ValueError, "scores has 1 scores, y_true has 2 labels"),
        (([0, 1], [[0.1, 0.2]]), {}, ValueError, "score must be one-dimensional"),
        (([0, 1, 2], [1, 0, 1]), {}, ValueError, "y_true must hold two classes, got 3"),
        (([], []), {}, ValueError, "y_true must hold at least one sample, got none"),
        (([0, 1], ["a", "b"]), {}, TypeError, "score_or_label holds str labels and y_t"),
        (
            (["a", "b"], ["a", "b"]),
            {},
            ValueError,
            r"name the positive class of the labels \['a', 'b'\]: pass positive=",
        ),
        (
            (["a", "b"], ["a", "c"]),
            {"positive": "a"},
            ValueError,
            r"score_or_label must hold labels of y_true, \['a', 'b'\], got 'c' \(1 ",
        ),
        (
            (["a", "b"], ["a", None]),
            {"positive": "a"},
            ValueError,
            r"score_or_label has no prediction at row 1 \(1 missing in all\)",
        ),
        (
            (["a", "b"], ["a"]),
            {"positive": "a"},
            ValueError,
            "score_or_label has 1 labels, y_true has 2",
        ),
        (
            ([1, 2], [True, True]),
            {},
            ValueError,
            r"score_or_label holds booleans and y_true the labels \[2, 1\]: convert",
        ),
        (([0, 1], [1, None]), {}, ValueError, "score_or_label has no prediction at ro"),
        (([0, 1], [1, "a"]), {}, TypeError, "score_or_label (mixes|holds)"),
        (([0, 1], [[1], [1, 2]]), {}, (TypeError, ValueError), "score_or_label "),
    ],
)
def test_bad_input(arguments, options, error, message):
    with pytest.raises(error, match=f"^{message}"):
        classification_table(*arguments, **options)


def test_the_row_of_a_missing_prediction_counts_dropped_samples():
    with pytest.raises(ValueError, match="no prediction at row 2"):
        classification_table([None, "a", "b"], ["a", "a", None], positive="a")


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"tp": -1}, ValueError, "tp must not be negative, got -1"),
        ({"fp": 0.5}, ValueError, "fp must be whole numbers, got 0.5"),
        ({"fn": [1, 2]}, TypeError, r"fn must be one number, got shape \(2,\)"),
        ({"tn": "3"}, TypeError, "tn must be whole numbers, got"),
        ({"tn": 2**53}, ValueError, r"tp \+ fp \+ fn \+ tn must be at most 2\*\*53"),
        ({"interval": "bayes"}, ValueError, "interval must be one of"),
    ],
)
def test_bad_counts(change, error, message):
    with pytest.raises(error, match=f"^{message}"):
        classification_table_from_counts(**ICU | change)


def test_bad_questions_to_the_record():
    table = classification_table_from_counts(**ICU)
    with pytest.raises(ValueError, match=r"^measure must be one of .*, got 'mcc'"):
        table.confidence_interval("mcc")
    with pytest.raises(ValueError, match=r"^method must be one of .*, got 'wald'"):
        table.confidence_interval("ppv", method="wald")
    with pytest.raises(ValueError, match=r"^confidence_level must lie in"):
        table.confidence_interval("ppv", confidence_level=1.5)


def test_printing_the_table():
    table = classification_table_from_counts(**ICU)
    assert str(table).splitlines() == [
        "Classification table",
        "Positive is 1.",
        "                      predicted negative  predicted positive",
        "  truth negative (0)                 158                   2",
        "  truth positive (1)                  27                  13",
        "",
        "Measures of 200 samples",
        "                               value              95% CI",
        *str(table).splitlines()[8:],
    ]
    rows = [" ".join(line.split()) for line in str(table).splitlines()]
    assert "sensitivity 0.3250 [0.2008, 0.4798]" in rows
    assert "hold for the proportion of positives in these samples" in str(table)
    cut = classification_table([0, 1], [0.2, 0.9], cutoff=0.75, prevalence=0.25)
    assert "Positive is 1, called so where the score is >= 0.75." in str(cut)
    assert "ppv and npv are for a prevalence of 0.25." in str(cut)
    empty = classification_table_from_counts(tp=0, fp=0, fn=0, tn=0)
    assert "accuracy - [-, -]" in " ".join(str(empty).split())
    assert "<h4>Classification table</h4>" in empty._repr_html_()


def test_the_table_as_a_dictionary():
    table = classification_table_from_counts(tp=0, fp=0, fn=3, tn=1)
    found = json.loads(json.dumps(table.to_dict(), allow_nan=False))
    assert found["ppv"] is None
    assert found["sensitivity"] == 0.0
    assert found["labels"] == [1, 0]
    assert found["intervals"]["ppv"] == [None, None]
    columns = table.columns()
    assert columns["measure"] == list(MEASURES)
    assert len({len(column) for column in columns.values()}) == 1
    lines = to_csv(columns).splitlines()
    low, high = table.confidence_interval("sensitivity")
    assert lines[2] == f"sensitivity,0.0,{low},{high}"
    dated = classification_table(
        np.array(["2020-01-01", "2021-01-01"], "M8[D]"),
        np.array(["2020-01-01", "2021-01-01"], "M8[D]"),
        positive=np.datetime64("2021-01-01"),
    )
    json.dumps(dated.to_dict())


@parametrize("metric_log_interval")
def test_intervals_of_ratios_against_references(case):
    (tn, fp), (fn, tp) = case["input"]["confusion"]
    level = case["options"]["confidence"]
    counts = {"tp": tp, "fp": fp, "fn": fn, "tn": tn}
    table = classification_table_from_counts(**counts, confidence_level=level)
    for short, name in zip(("lr_plus", "lr_minus", "dor"), RATIOS, strict=True):
        low, high = table.confidence_interval(name)
        assert getattr(table, name) == expected(case, short)
        assert low == expected(case, f"{short}_lower")
        assert high == expected(case, f"{short}_upper")


@parametrize("predictive_values_at_prevalence")
def test_predictive_values_at_a_prevalence_against_references(case):
    (tn, fp), (fn, tp) = case["input"]["confusion"]
    options = case["options"]
    table = classification_table_from_counts(
        tp=tp,
        fp=fp,
        fn=fn,
        tn=tn,
        prevalence=options["prevalence"],
        confidence_level=options["confidence"],
    )
    for name in ("ppv", "npv"):
        low, high = table.confidence_interval(name)
        assert getattr(table, name) == expected(case, name)
        assert low == expected(case, f"{name}_lower")
        assert high == expected(case, f"{name}_upper")


@given(TABLES, levels)
def test_intervals_of_odds_ratios(counts, level):
    table = classification_table_from_counts(**counts, confidence_level=level)
    low, high = table.confidence_interval("diagnostic_odds_ratio")
    if not (table.n_positives and table.n_negatives):
        assert isnan(low)
        return
    if not all(counts.values()):
        assert (low, high) == (0, inf)
        return
    peer = Table2x2(table.table)
    ends = peer.oddsratio_confint(1 - level)
    assert table.diagnostic_odds_ratio == pytest.approx(peer.oddsratio)
    assert (low, high) == pytest.approx(ends, rel=1e-6)


def test_records_are_frozen_and_travel():
    table = classification_table_from_counts(**ICU)
    pairs = compare_sensitivity_specificity([0, 1, 1], [0, 1, 1], [1, 0, 1])
    for record in (table, pairs):
        assert pickle.loads(pickle.dumps(record)) == record
        assert copy.deepcopy(record) == record
        with pytest.raises(FrozenInstanceError):
            record.labels = (1, 0)
    assert table != classification_table_from_counts(**ICU | {"tp": 14})
