"""Two models compared by sensitivity, specificity, predictive values and ratios."""

from math import exp, inf, isnan, log, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from libraries import stats
from reference_cases import expected, parametrize

import fastcmp
from fastcmp import compare_sensitivity_specificity, count_labels, screen_positive_ratio, stream
from fastcmp.kernels import DEGENERATE, OK, UNDEFINED


def from_counts(counts, **options):
    return compare_sensitivity_specificity(counts=counts, **options)


SMALL = st.integers(0, 40)
FOUR = st.tuples(SMALL, SMALL, SMALL, SMALL)


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


@given(FOUR, FOUR)
def test_score_tests_against_their_definitions(of_positives, of_negatives):
    if not (sum(of_positives) and sum(of_negatives)):
        return
    y, a, b = labels_from_cells(of_positives, of_negatives)
    result = compare_sensitivity_specificity(y, a, b)
    for name, outcome, call_a, call_b in (("ppv", y, a, b), ("npv", 1 - y, 1 - a, 1 - b)):
        plain, weighted = (getattr(result, f"{name}_{w}") for w in ("score", "weighted"))
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


def test_bad_pairs():
    for pred, message in (
        ([0.2, 0.7], r"pred_b .* cut them first"),
        ([0, None], "pred_b has no prediction at row 1"),
    ):
        with pytest.raises(ValueError, match=f"^{message}"):
            compare_sensitivity_specificity([0, 1], [0, 1], pred)
    with pytest.raises(ValueError, match=r"^pred_a must hold labels .* got 3 "):
        compare_sensitivity_specificity([1, 2], [1, 3], [1, 2])
    with pytest.raises(ValueError, match=r"^name the positive cla"):
        compare_sensitivity_specificity(["a", "b"], ["a", "b"], ["a", "b"])


def test_printing_the_comparison():
    y, a, b = labels_from_cells([319, 78, 22, 32], [31, 53, 22, 155])
    text = " ".join(str(compare_sensitivity_specificity(y, a, b)).split())
    for row in (
        "451 positives (1), 261 negatives (0); p-values are not adjusted",
        "sensitivity McNemar 0.8803 0.7561 +0.1242 [+0.0820, +0.1666] 1.0e-08",
        "ppv weighted 0.8254 0.8655 -0.0401 0.019",
        "together: chi-square = 44.17 with 2 d.o.f., p = 2.6e-10.",
        "ppv 0.8254 0.8655 0.9536 [0.9171, 0.9916] 0.017",
    ):
        assert row in text
    options = {"prevalence": 0.01, "alternative": "less", "interval": "tango"}
    text = " ".join(str(compare_sensitivity_specificity(y, a, b, **options)).split())
    for words in ("ppv and npv are for a prevalence of 0.01.", "one-sided 95% CI", "Tango."):
        assert words in text


# Ratios.

MEASURES = {
    "recall": "sensitivity",
    "fpr": "false_positive_rate",
    "lr_plus": "likelihood_ratio_positive",
    "lr_minus": "likelihood_ratio_negative",
}
COUNTS = [[[155, 22], [53, 31]], [[32, 22], [78, 319]]]


def tensor(cells):
    counts = np.zeros((2, 2, 2), int)
    for t, a, b, n in cells:
        counts[t, a, b] = n
    return counts


@parametrize("paired_ratio")
def test_ratios_against_references(case):
    options, data = case["options"], case["input"]
    level, measure = options["confidence"], options["measure"]
    if "cells" in data:
        given_ = {"positive": options["positive"], "confidence_level": level}
        found = from_counts(tensor(data["cells"]), **given_).ratio(MEASURES.get(measure, measure))
    else:
        found = screen_positive_ratio(**data, measure=measure, confidence_level=level)
    for name, key in (("ratio", "ratio"), ("standard_error", "se_log"), ("pvalue", "pvalue")):
        assert getattr(found, name) == expected(case, key)
    assert found.statistic == expected(case, "statistic")
    assert tuple(found.interval) == (expected(case, "lower"), expected(case, "upper"))
    assert found.status == OK


@parametrize("joint_sensitivity_specificity")
def test_joint_tests_against_references(case):
    counts = tensor(case["input"]["cells"])
    for method in ("asymptotic", "midp"):
        found = from_counts(counts, method=method).joint
        for name in ("statistic", "df", "pvalue"):
            assert getattr(found, name) == expected(case, name)


def shares(weights, prevalence):
    """All measures of a and of b, from weights of the cells [t, a, b]."""
    found = []
    for axis in (2, 1):
        (tn, fp), (fn, tp) = weights.sum(axis=axis)
        p, n = tp + fn, tn + fp
        q = p / (p + n) if prevalence is None else prevalence
        se, sp = tp / p, tn / n
        found.append(
            {
                "sensitivity": se,
                "specificity": sp,
                "false_positive_rate": 1 - sp,
                "ppv": q * se / (q * se + (1 - q) * (1 - sp)),
                "npv": (1 - q) * sp / ((1 - q) * sp + q * (1 - se)),
                "likelihood_ratio_positive": se / (1 - sp),
                "likelihood_ratio_negative": (1 - se) / sp,
            }
        )
    return found


def by_differences(counts, measure, prevalence):
    """The delta method with numerical derivatives of the logarithm by each cell."""

    def log_ratio(weights):
        a, b = shares(weights, prevalence)
        return log(a[measure] / b[measure])

    counts = counts.astype(float)
    variance = 0.0
    for cell in np.ndindex(2, 2, 2):
        up, down = counts.copy(), counts.copy()
        up[cell] *= 1 + 1e-5
        down[cell] *= 1 - 1e-5
        step = 2e-5 * counts[cell]
        if step:
            slope = (log_ratio(up) - log_ratio(down)) / step
            variance += counts[cell] * slope**2
    return log_ratio(counts), sqrt(variance)


CELLS = st.lists(st.integers(1, 60), min_size=8, max_size=8)


@given(CELLS, st.none() | st.floats(0.01, 0.99), st.sampled_from([0.8, 0.95]))
def test_ratios_against_numerical_derivatives(cells, prevalence, level):
    counts = np.array(cells).reshape(2, 2, 2)
    result = from_counts(counts, prevalence=prevalence, confidence_level=level)
    values = shares(counts.astype(float), prevalence)
    z = stats.norm.isf((1 - level) / 2)
    for test in result.ratios:
        center, error = by_differences(counts, test.measure, prevalence)
        assert test.value_a == pytest.approx(values[0][test.measure])
        assert test.value_b == pytest.approx(values[1][test.measure])
        assert log(test.ratio) == pytest.approx(center, abs=1e-9)
        assert test.standard_error == pytest.approx(error, rel=1e-6, abs=1e-9)
        if test.standard_error < 1e-6:
            continue
        wanted = test.ratio * exp(-z * error), test.ratio * exp(z * error)
        assert tuple(test.interval) == pytest.approx(wanted, rel=1e-6)
        p = 2 * stats.norm.sf(abs(center / error))
        assert test.pvalue == pytest.approx(p, rel=1e-4, abs=1e-6)


@given(FOUR, FOUR)
def test_exchanging_the_classes_exchanges_the_measures(positives, negatives):
    counts = np.array([negatives[::-1], positives[::-1]]).reshape(2, 2, 2)
    one, other = from_counts(counts), from_counts(counts, positive=0)
    assert other.labels == (0, 1)
    assert other.sensitivity == one.specificity
    assert same(other.ppv_score.pvalue, one.npv_score.pvalue)
    for first, second in (("sensitivity", "specificity"), ("ppv", "npv")):
        a, b = one.ratio(first), other.ratio(second)
        assert same(a.ratio, b.ratio)
        assert same(a.pvalue, b.pvalue)
    assert one.joint == other.joint


def test_less_is_better_of_some_measures():
    result, two = from_counts(COUNTS, alternative="greater"), from_counts(COUNTS)
    lower = ("false_positive_rate", "likelihood_ratio_negative")
    for name in (*lower, "sensitivity", "ppv", "likelihood_ratio_positive"):
        test, below = result.ratio(name), name in lower
        assert test.lower_is_better == below
        assert (test.interval.low == 0, test.interval.high == inf) == (below, not below)
        tail = stats.norm.cdf if below else stats.norm.sf
        assert test.pvalue == pytest.approx(tail(test.statistic))
        assert two.ratio(name).better == ("a" if (test.ratio < 1) == below else "b")
    assert "Less is better." in str(two.ratio("fpr"))
    assert "H0: the ratio is at least 1" in str(result.ratio("fpr"))


@given(FOUR, FOUR)
def test_counts_that_are_0(positives, negatives):
    """Where a logarithm has no argument there is no number that looks like one."""
    positives = [x * (i != 1) for i, x in enumerate(positives)]
    counts = np.array([negatives[::-1], positives[::-1]]).reshape(2, 2, 2)
    for test in from_counts(counts).ratios:
        numbers = (test.standard_error, test.statistic, test.pvalue)
        if test.status == OK:
            assert np.isfinite([*numbers, *test.interval, test.ratio]).all()
            assert test.standard_error > 0
        elif test.status == DEGENERATE:
            assert numbers == (0, 0, 1)
            assert test.ratio == 1
            assert np.isnan(test.interval).all()
        else:
            assert test.status == UNDEFINED
            assert np.isnan(numbers).all()
            assert np.isnan(test.interval).all()


def test_ratios_without_a_logarithm():
    # a calls no positive; b calls no negative positive.
    none = from_counts([[[9, 0], [3, 0]], [[4, 5], [0, 0]]])
    assert none.ratio("sensitivity").ratio == 0
    assert none.ratio("sensitivity").status == UNDEFINED
    assert none.ratio("fpr").ratio == inf
    assert none.ratio("fpr").better == "b"
    assert isnan(none.ratio("fpr").pvalue)
    assert "nan" not in str(none)
    both = from_counts([[[9, 0], [0, 0]], [[4, 0], [0, 3]]])
    assert both.ratio("sensitivity").status == DEGENERATE
    assert isnan(both.ratio("fpr").ratio)
    assert both.ratio("fpr").better is None
    assert both.ratio("specificity").ratio == 1
    only = from_counts(np.zeros((2, 2, 2), int))
    assert all(test.status == UNDEFINED for test in only.ratios)


def test_the_joint_test_counts_classes_in_which_models_differ():
    one = from_counts([[[9, 0], [0, 2]], [[3, 7], [2, 8]]]).joint
    assert (one.df, one.statistic) == (1, 25 / 9)
    assert one.pvalue == pytest.approx(stats.chi2.sf(25 / 9, 1))
    same_calls = from_counts([[[9, 0], [0, 2]], [[3, 0], [0, 8]]]).joint
    assert (same_calls.statistic, same_calls.pvalue, same_calls.df) == (0, 1, 0)
    assert same_calls.status == DEGENERATE
    half = from_counts([[[0, 0], [0, 0]], [[3, 1], [2, 8]]]).joint
    assert half.status == UNDEFINED
    assert isnan(half.pvalue)
    # Small p-values are kept.
    joint = from_counts([[[900, 200], [20, 60]], [[50, 20], [200, 850]]]).joint
    x = 2 * 180**2 / 220
    assert joint.statistic == pytest.approx(x)
    assert joint.pvalue == pytest.approx(exp(-x / 2), rel=1e-12)


def test_huge_counts_lose_no_digits():
    n = 10**14
    counts = [[[n, 3], [5, n]], [[n, 7], [3, n]]]
    test = from_counts(counts).ratio("recall")
    assert test.statistic == pytest.approx(-4 / sqrt(10), rel=1e-12)
    ppv = from_counts(counts).ratio("ppv")
    # log ratio (3 - 7) / n - (8 - 10) / 2n, and (10 + 8) influences of 1 / 2n.
    assert ppv.statistic == pytest.approx(-6 / sqrt(18), rel=1e-9)


# From counts, and with intervals.


def test_labels_counts_and_streams_agree():
    y, a, b = labels_from_cells([31, 7, 2, 3], [3, 5, 2, 15])
    expect, counts = compare_sensitivity_specificity(y, a, b), count_labels(y, a, b)
    gathered = stream.LabelCounts().update(y, {"a": a, "b": b})
    for of in (counts, gathered, counts.to_dense().astype(float).tolist()):
        assert from_counts(of) == expect
    words = np.array(["well", "ill"])
    table = count_labels(words[y], words[a], words[b])
    named = from_counts(table, positive="ill")
    assert (named.labels, named.ratios) == (("ill", "well"), expect.ratios)
    with pytest.raises(ValueError, match="pass positive="):
        from_counts(table)
    with pytest.raises(ValueError, match=r"^counts must be of two classes, got 3: \[0"):
        from_counts(count_labels([0, 1, 2], [0, 1, 2], [0, 1, 1]))


def test_each_model_has_its_table():
    result = from_counts(COUNTS, prevalence=0.2, confidence_level=0.9)
    alone = fastcmp.classification_table(
        tp=397, fp=84, fn=54, tn=177, prevalence=0.2, confidence_level=0.9
    )
    assert result.table_a == alone
    assert (result.table_b.tp, result.table_b.fp) == (341, 53)
    assert result.ratio("ppv").value_a == pytest.approx(alone.ppv)
    # At the prevalence of the samples these are the plain predictive values.
    own, plain = from_counts(COUNTS, prevalence=451 / 712), from_counts(COUNTS)
    for name in ("ppv", "npv"):
        assert own.ratio(name).ratio == pytest.approx(plain.ratio(name).ratio)


def test_both_are_tested_against_a_margin():
    counts = np.array([[[900, 15], [25, 60]], [[50, 60], [40, 850]]])
    result = from_counts(counts, margin=(0.05, 0.03))
    cells = {"sensitivity": (0.05, [[850, 40], [60, 50]]), "specificity": (0.03, counts[0])}
    for name, (margin, table) in cells.items():
        tests = getattr(result, name).margins
        wanted = fastcmp.margin_tests(table=table, margin=margin, method="score")
        assert tests.noninferiority_pvalue == pytest.approx(wanted.noninferiority_pvalue, rel=1e-12)
        assert tests.measure == name
        assert f"the {name} of a is lower by {margin} or more" in str(result)
    both = [getattr(result, name).margins.noninferiority_pvalue for name in cells]
    assert result.noninferiority_pvalue == max(both)
    assert "Non-inferior in both: shown" in str(result)
    assert result.to_dict()["sensitivity"]["decision"] == result.sensitivity.margins.decision


def test_a_margin_without_samples_of_a_class_has_no_answer():
    counts = np.zeros((2, 2, 2), int)
    counts[0] = [[5, 1], [1, 3]]
    result = from_counts(counts, margin=0.3)
    assert isnan(result.noninferiority_pvalue)
    assert result.sensitivity.margins is None
    assert "a class has no samples" in str(result)
    assert isnan(from_counts(COUNTS).noninferiority_pvalue)


@pytest.mark.parametrize(
    ("counts", "options", "message"),
    [
        (COUNTS, {"margin": 1.5}, "margin must be below 1"),
        (COUNTS, {"margin": (0.1, 0.2, 0.3)}, "margin must be one number, or two"),
        (COUNTS, {"margin": 0.1, "alpha": 0.7}, r"alpha must be below 0\.5"),
        ([[1, 2], [3, 4]], {}, r"counts must be of shape \(2, 2, 2\)"),
        ([[[2**51] * 2] * 2] * 2, {}, r"counts must add up to at most"),
        (COUNTS, {"confidence_level": 0.5, "alternative": "less"}, "confidence_level must be ab"),
    ],
)
def test_bad_counts(counts, options, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        from_counts(counts, **options)


# Screen-positive designs.


@given(SMALL, SMALL, SMALL)
def test_ratios_do_not_need_those_that_neither_calls(both, a, b):
    screened = screen_positive_ratio(both, a, b)
    full = from_counts([[[1, 0], [0, 1]], [[17, b], [a, both]]]).ratio("sensitivity")
    assert same(screened.ratio, full.ratio)
    assert same(screened.pvalue, full.pvalue)
    assert same(screened.standard_error, full.standard_error)
    assert isnan(screened.value_a)
    wrong = screen_positive_ratio(both, a, b, measure="fpr", alternative="greater")
    right = screen_positive_ratio(both, a, b, alternative="less")
    assert same(wrong.pvalue, right.pvalue)
    assert str(wrong).startswith("Ratio of two models' false positive rate (greater)")
    if a != b:
        assert {wrong.better, right.better} == {"a", "b"}
