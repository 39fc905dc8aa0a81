"""One classifier at one cutoff, and two compared by sensitivity and the like."""

import operator
from fractions import Fraction
from math import exp, inf, isnan, log, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from libraries import stats
from reference_cases import expected, parametrize
from strategies import levels

from fastcmp import (
    classification_table,
    classification_table_from_counts,
    load_digits_scores,
    optimal_cutpoint,
)

ICU = {"tp": 13, "fp": 2, "fn": 27, "tn": 158}
SHARES = ("accuracy", "sensitivity", "specificity", "ppv", "npv")
RATIOS = ("likelihood_ratio_positive", "likelihood_ratio_negative", "diagnostic_odds_ratio")
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
    from sklearn.metrics import confusion_matrix

    table = classification_table_from_counts(**counts)
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
    table = classification_table_from_counts(**counts)
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


@pytest.mark.parametrize("criterion", ["youden", "accuracy", "closest-topleft"])
def test_a_cutoff_gives_the_table_with_which_it_was_found(criterion):
    is_eight, scores = load_digits_scores()
    for column in scores.values():
        found = optimal_cutpoint(is_eight, column, criterion=criterion)
        for cutoff, wanted in zip(found.cutoffs, found.tables, strict=True):
            table = classification_table(is_eight, scores=column, cutoff=cutoff)
            assert cells(table) == cells(wanted)
            assert table.rule == found.rule == ">="


def test_a_stray_third_label_is_refused():
    y_true, called = [1, 2, 1, 2, 1], [1, 2, 1, 2, 3]
    with pytest.raises(ValueError, match=r"score_or_label .*\[2, 1\].* 3 .*scores"):
        classification_table(y_true, called)
    asked = classification_table(y_true, scores=called, cutoff=2)
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


def test_one_class_only():
    table = classification_table([1, 1, 1], [0, 1, 1])
    assert cells(table) == (2, 0, 1, 0)
    assert np.isnan([table.specificity, table.likelihood_ratio_positive, table.mcc]).all()
    for y, called, options, wanted in (
        ([0, 0], [0, 0], {}, (0, 0, 0, 2)),
        ([0, 0], [False, True], {}, (0, 1, 0, 1)),
        ([0, 0], [0, 1], {"positive": 0}, (1, 0, 1, 0)),
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
        (["a", "b"], ["a", None], {"positive": "a"}, r"score_or_label has no pred.* at row 1 \("),
        ([None, "a", "b"], ["a", "a", None], {"positive": "a"}, ".*has no prediction at row 2"),
        ([1, 2], [True, True], {}, r"score_or_label holds booleans and y_true the labels \[2, 1"),
    ],
)
def test_bad_input(y, called, options, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        classification_table(y, called, **options)


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
    counts = {"tp": tp, "fp": fp, "fn": fn, "tn": tn, "prevalence": options["prevalence"]}
    table = classification_table_from_counts(**counts, confidence_level=options["confidence"])
    for name in ("ppv", "npv"):
        low, high = table.confidence_interval(name)
        assert getattr(table, name) == expected(case, name)
        assert low == expected(case, f"{name}_lower")
        assert high == expected(case, f"{name}_upper")


@given(TABLES, levels)
def test_intervals_of_odds_ratios(counts, level):
    from statsmodels.stats.contingency_tables import Table2x2

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
