"""One classifier at one cutoff, and two compared by sensitivity and the like."""

import operator
from fractions import Fraction
from math import inf, isnan, nan, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from libraries import stats
from reference_cases import expected, parametrize
from strategies import levels

from fastcmp import classification_table

SHARES = ("accuracy", "sensitivity", "specificity", "ppv", "npv")
RATIOS = ("likelihood_ratio_positive", "likelihood_ratio_negative", "diagnostic_odds_ratio")
TABLES = st.fixed_dictionaries(dict.fromkeys(("tp", "fp", "fn", "tn"), st.integers(0, 40)))


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
    table = classification_table(**counts)
    for name in case["expected"]:
        assert getattr(table, name) == expected(case, name)
    share = table.n_positives / table.n_samples
    at = classification_table(**counts, prevalence=share)
    assert (at.ppv, at.npv) == (expected(case, "ppv"), expected(case, "npv"))


def naive_measures(tp, fp, fn, tn):
    def ratio(a, b, infinite=False):
        return inf if infinite else nan if b == 0 else float(Fraction(a) / Fraction(b))

    se, sp = ratio(tp, tp + fn), ratio(tn, tn + fp)
    margins = (tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)
    minus = ratio(fn * (tn + fp), tn * (tp + fn), tn == 0 and fn and fp)
    return {
        "diagnostic_odds_ratio": ratio(tp * tn, fp * fn, fp * fn == 0 and tp * tn),
        "accuracy": ratio(tp + tn, tp + fp + fn + tn),
        "sensitivity": se,
        "specificity": sp,
        "ppv": ratio(tp, tp + fp),
        "npv": ratio(tn, tn + fn),
        "balanced_accuracy": (se + sp) / 2,
        "f1": ratio(2 * tp, 2 * tp + fp + fn),
        "mcc": (tp * tn - fp * fn) / sqrt(margins) if margins else nan,
        "youden": se + sp - 1,
        "likelihood_ratio_positive": ratio(tp * (tn + fp), fp * (tp + fn), fp == 0 and tp and tn),
        "likelihood_ratio_negative": minus,
    }


@given(TABLES)
def test_measures_against_their_definitions(counts):
    from sklearn.metrics import confusion_matrix

    table = classification_table(**counts)
    for name, value in naive_measures(**counts).items():
        assert same(getattr(table, name), value), name
    if not sum(counts.values()):
        return
    assert table.table.tolist() == [[counts["tn"], counts["fp"]], [counts["fn"], counts["tp"]]]
    y_true, called = labels_of(**counts)
    from_labels = classification_table(y_true, called)
    assert cells(from_labels) == cells(table)
    confusion = confusion_matrix(y_true, called, labels=[0, 1])
    assert np.array_equal(table.table, confusion)


# Intervals.


@given(TABLES, levels)
def test_intervals_of_shares_against_scipy(counts, level):
    table = classification_table(**counts)
    tp, fp, fn, tn = cells(table)
    parts = [(tp + tn, sum(counts.values())), (tp, tp + fn), (tn, tn + fp)]
    parts += [(tp, tp + fp), (tn, tn + fn)]
    for name, (x, n) in zip(SHARES, parts, strict=True):
        for method, scipys in (("wilson", "wilson"), ("clopper-pearson", "exact")):
            found = table.confidence_interval(name, confidence_level=level, method=method)
            if n == 0:
                assert np.isnan(found).all()
                continue
            oracle = stats.binomtest(x, n).proportion_ci(level, scipys)
            assert tuple(found) == pytest.approx(tuple(oracle), abs=1e-9)


@pytest.mark.parametrize("x", [1, 999, 1000, 1001])
def test_an_exact_interval_of_a_rare_class(x):
    # So rare that counts are Poisson; the inverse beta function has a gap at 1000.
    n = 10**9
    table = classification_table(tp=x, fp=n // 2, fn=n - x, tn=n // 2)
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


@pytest.mark.parametrize("kind", [int, bool, np.float32])
def test_columns_of_0_and_1_are_labels_and_need_not_be(kind):
    y_true = [0, 1, 1, 0, 1]
    called = np.array([0, 1, 0, 1, 1], kind)
    for rule in (">", ">="):
        table = classification_table(y_true, called, rule=rule)
        assert table.cutoff is None
        assert cells(table) == (2, 1, 1, 1)
        if kind is not bool:
            cut = classification_table(y_true, called, rule=rule, cutoff=0.25)
            assert cut.cutoff == 0.25
            assert cells(cut) == cells(table)


def test_whole_numbers_are_scores_where_that_is_asked_for():
    y_true = [0, 1, 1]
    with pytest.raises(ValueError, match="must hold labels of y_true"):
        classification_table(y_true, [3, 7, 2])
    assert cells(classification_table(y_true, scores=[3, 7, 2])) == (2, 1, 0, 0)
    assert cells(classification_table(y_true, [3, 7, 2], cutoff=3)) == (1, 1, 1, 0)
    assert cells(classification_table(y_true, [-3.0, 7.0, 2.0])) == (2, 0, 0, 1)
    score = np.array([2**62, 2**63 - 1, 3, -5])  # no double holds them
    assert cells(classification_table([1, 1, 0, 0], score, cutoff=100)) == (2, 0, 0, 2)
    y_true, called = [1, 2, 1, 2, 1], [1, 2, 1, 2, 3]
    with pytest.raises(ValueError, match=r"score_or_label .*\[2, 1\].* 3 .*scores"):
        classification_table(y_true, called)
    asked = classification_table(y_true, scores=called, cutoff=2)
    assert (cells(asked), asked.cutoff) == ((2, 1, 0, 2), 2)


def test_scores_or_labels_but_not_both():
    for given_, message in (
        (([0, 1],), "one of score_or_label and scores=, got neit"),
        (([0, 1], [0, 1], [0, 1]), "one of score_or_label and scores=, got both"),
        (([0, 1], None, ["a", "b"]), "scores must be numbers"),
        (([0, 1], None, np.ma.array([0, 1], mask=[0, 1])), "masked"),
    ):
        names = ("y_true", "score_or_label", "scores")
        with pytest.raises((TypeError, ValueError), match=message):
            classification_table(**dict(zip(names, given_, strict=False)))
    for called, (no, yes) in ((["a", "b", "b"], "ba"), ([0.9, 0.2, 0.3], (0, 1))):
        weighted = {"positive": yes, "sample_weight": [2, 5, 3]}
        table = classification_table([yes, None, no], called, **weighted)
        assert (cells(table), table.n_missing) == ((2, 0, 0, 3), 1)


@given(TABLES, st.integers(0, 99))
def test_weights_add_up(counts, seed):
    from sklearn.metrics import confusion_matrix

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
    peer = confusion_matrix(y_true, called, labels=[0, 1], sample_weight=weights)
    assert table.table.tolist() == pytest.approx(peer)
    scores = called - 0.25 * rng.random(y_true.size)
    cut = classification_table(y_true, scores, sample_weight=weights)
    assert cells(cut) == cells(table)
    for name in SHARES:
        assert isnan(table.confidence_interval(name).low)
    assert "sums of weights, for which there are no intervals" in str(table)


def test_one_class_only():
    table = classification_table([1, 1, 1], [0, 1, 1])
    assert cells(table) == (2, 0, 1, 0)
    assert np.isnan([table.specificity, table.likelihood_ratio_positive, table.mcc]).all()
    for y, called, options, wanted in (
        ([0, 0], [False, True], {}, (0, 1, 0, 1)),
        ([1, 1], [0, 1], {"positive": 0}, (0, 1, 0, 1)),
        ([-1], [1], {"positive": -1}, (0, 0, 1, 0)),
        ([1], [-1], {"positive": -1}, (0, 1, 0, 0)),
        ([0, 0], [0.2, 0.7], {}, (0, 1, 0, 1)),
        (["a", "a"], ["a", "b"], {"positive": "a"}, (1, 0, 1, 0)),
        (["a", "a"], ["a", "b"], {"positive": "b"}, (0, 1, 0, 1)),
    ):
        assert cells(classification_table(y, called, **options)) == wanted


@pytest.mark.parametrize(
    ("y", "called", "options", "message"),
    [
        ([0, 1], [0.1, float("nan")], {}, "scores has NaN for sample 1"),
        ([0, 1, 2], [1, 0, 1], {}, "y_true must hold two classes, got 3"),
        (["a", "b"], ["a", "b"], {}, r"name the positive class of the labels \['a', 'b'\]: pass"),
        (["a", "b"], ["a", "c"], {"positive": "a"}, r"score_or_label must hold .*, got 'c' \(1 "),
        ([None, "a", "b"], ["a", "a", None], {"positive": "a"}, ".*has no prediction at row 2"),
        ([1, 2], [True, True], {}, r"score_or_label holds booleans and y_true the labels \[2, 1"),
    ],
)
def test_bad_input(y, called, options, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        classification_table(y, called, **options)


def test_printing_the_table():
    text = str(classification_table(tp=13, fp=2, fn=27, tn=158))
    rows = [" ".join(line.split()) for line in text.splitlines()]
    assert rows[3:5] == ["truth negative (0) 158 2", "truth positive (1) 27 13"]
    assert "sensitivity 0.3250 [0.2008, 0.4798]" in rows
    assert "hold for the proportion of positives in these samples" in text
    cut = classification_table([0, 1], [0.2, 0.9], cutoff=0.75, prevalence=0.25)
    assert "Positive is 1, called so where the score is >= 0.75." in str(cut)
    assert "ppv and npv are for a prevalence of 0.25." in str(cut)
    empty = classification_table(tp=0, fp=0, fn=0, tn=0)
    assert "accuracy - [-, -]" in " ".join(str(empty).split())


@parametrize("metric_log_interval")
def test_intervals_of_ratios_against_references(case):
    (tn, fp), (fn, tp) = case["input"]["confusion"]
    level = case["options"]["confidence"]
    counts = {"tp": tp, "fp": fp, "fn": fn, "tn": tn}
    table = classification_table(**counts, confidence_level=level)
    for short, name in zip(("lr_plus", "lr_minus", "dor"), RATIOS, strict=True):
        low, high = table.confidence_interval(name)
        assert getattr(table, name) == expected(case, short)
        assert low == expected(case, f"{short}_lower")
        assert high == expected(case, f"{short}_upper")


@parametrize("predictive_values_at_prevalence")
def test_predictive_values_at_a_prevalence_against_references(case):
    (tn, fp), (fn, tp) = case["input"]["confusion"]
    options = case["options"]
    counts = {"tp": tp, "fp": fp, "fn": fn, "tn": tn, "prevalence": options["prevalence"]}
    table = classification_table(**counts, confidence_level=options["confidence"])
    for name in ("ppv", "npv"):
        low, high = table.confidence_interval(name)
        assert getattr(table, name) == expected(case, name)
        assert low == expected(case, f"{name}_lower")
        assert high == expected(case, f"{name}_upper")


def test_intervals_of_ratios_with_an_empty_cell():
    for counts, ends in (((3, 0, 2, 5), (0, inf)), ((3, 2, 0, 5), (0, inf)), ((0, 2, 0, 5), nan)):
        names = dict(zip(("tp", "fp", "fn", "tn"), counts, strict=True))
        found = classification_table(**names).confidence_interval(RATIOS[2])
        assert tuple(found) == pytest.approx(np.broadcast_to(ends, 2), nan_ok=True)
