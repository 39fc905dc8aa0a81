"""Two models compared by metrics of their counts."""

import math
from itertools import product

import numpy as np
import pytest
from cases import case as named
from cases import thinned
from hypothesis import given
from hypothesis import strategies as st
from libraries import stats
from reference_cases import cases, parametrize

import fastcmp
from fastcmp import compare_metric, kernels, make_metric, margin_tests, mcnemar, metric
from fastcmp.stream import LabelCounts

PVALUES = {"two-sided": "pvalue", "greater": "pvalue_greater", "less": "pvalue_less"}
COUNTS = ("n_configurations", "n_discordant")


def tensor_of(case):
    counts = np.zeros([case["input"]["K"]] * 3, int)
    for *cell, n in case["input"]["cells"]:
        counts[tuple(cell)] = n
    return counts


def agree(case, found):
    """Compare what is expected with a record."""
    expected, near = case["expected"], case["tolerance"]
    errors = (getattr(found, f"standard_error{x}") for x in ("", "_a", "_b"))
    names = dict(zip(("se", "se_a", "se_b"), errors, strict=True))
    names["covariance"] = 0.5 * (names["se_a"] ** 2 + names["se_b"] ** 2 - names["se"] ** 2)
    names |= {"lower": found.interval.low, "upper": found.interval.high}
    names[PVALUES[found.alternative]] = found.pvalue
    for name in ("difference", "value_a", "value_b", "statistic", *COUNTS):
        names[name] = getattr(found, name)
    compared = set(names) & set(expected)
    for name in compared:
        atol = near["pvalue_atol" if "pvalue" in name else "atol"]
        wanted = pytest.approx(float(expected[name]), rel=near["rtol"], abs=atol, nan_ok=True)
        assert names[name] == wanted, name
    assert compared


def compare_case(case, **options):
    """Compare the models of a case, for each alternative it knows."""
    counts, given_options = tensor_of(case), case["options"]
    for alternative, name in PVALUES.items():
        if alternative != "two-sided" and name not in case["expected"]:
            continue
        found = compare_metric(
            counts=counts,
            metric=given_options["metric"],
            positive=given_options.get("positive") if len(counts) == 2 else None,
            zero_division=given_options.get("zero_division", 0),
            alternative=alternative,
            **options,
        )
        if alternative == "two-sided":
            agree(case, found)
        else:
            assert found.pvalue == pytest.approx(case["expected"][name], rel=1e-9)


# Reference.


@pytest.mark.parametrize("method", ["delta", "jackknife", "permutation", "pooled"])
def test_against_references(method):
    for case in cases(f"metric_difference_{method}"):
        options = {"method": "exact" if method == "permutation" else method}
        if method == "delta":
            options["within_classes"] = case["options"].get("design") == "class totals fixed"
        elif method == "permutation":
            options["studentized"] = "studentized" in case["options"]
        with named(case["id"]):
            compare_case(case, **options)


@parametrize("metric_difference_edge")
def test_edges(case):
    counts, options = tensor_of(case), case["options"]
    expected = dict(case["expected"])
    given_options = {"metric": options["metric"], "positive": options["positive"]}
    if len(counts) > 2:
        given_options["positive"] = None
    found = compare_metric(counts=counts, **given_options)
    if "permutation_pvalue" in expected:
        assert found.pvalue == expected.pop("permutation_pvalue")
        expected.pop("pvalue", None)
    agree({**case, "expected": expected}, found)
    if "status" in expected:
        assert kernels.Status(found.status).name.lower() == expected["status"]
    if "value_b_truth_labels" in expected:
        other = compare_metric(counts=counts, **given_options, labels="truth")
        assert other.value_b == pytest.approx(expected["value_b_truth_labels"])
        assert any("labels='truth'" in caution for caution in found.cautions)
        assert not any("labels='truth'" in caution for caution in other.cautions)


@parametrize("metric_difference_cluster")
def test_clusters(case):
    rows = np.array([row[:4] for row in case["input"]["cluster_cells"] for _ in range(row[4])])
    groups, y_true, a, b = rows.T
    weights = case["options"]["weights"]
    chosen = make_metric(case["options"]["metric"], weights=weights)
    found = compare_metric(y_true, a, b, metric=chosen, groups=groups, df="normal")
    agree(case, found)
    assert found.n_clusters == case["expected"]["n_clusters"]
    as_t = compare_metric(y_true, a, b, metric=chosen, groups=groups)
    wanted = 2 * stats.t(found.n_clusters - 1).sf(abs(found.statistic))
    assert as_t.pvalue == pytest.approx(wanted, rel=1e-9)
    assert (as_t.distribution, as_t.df) == ("t", found.n_clusters - 1)


# Oracle and laws.


@st.composite
def labels(draw, k=3):
    n = draw(st.integers(4, 40))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    y_true = rng.integers(0, k, n)
    noisy = [np.where(rng.random(n) < 0.6, y_true, rng.integers(0, k, n)) for _ in "ab"]
    return y_true, *noisy


@given(labels(2))
def test_accuracy_is_mcnemars(drawn):
    for method, variant in (("exact", "exact"), ("pooled", "asymptotic")):
        found = compare_metric(*drawn, method=method)
        wanted = mcnemar(*drawn, method=variant)
        assert found.pvalue == pytest.approx(wanted.pvalue, rel=1e-9)
        assert found.difference == pytest.approx(wanted.difference, abs=1e-15)


def test_all_sources_of_counts_agree():
    rng = np.random.default_rng(4)
    y_true, a, b = rng.integers(0, 3, (3, 200))
    a = np.where(rng.random(200) < 0.5, y_true, a)
    options = {"metric": ["f1_macro", "mcc"]}
    want = compare_metric(y_true, a, b, **options)
    table, stream = fastcmp.count_labels(y_true, a, b), LabelCounts()
    for part in np.array_split(np.arange(200), 3):
        stream.update(y_true[part], {"a": a[part], "b": b[part]})
    for counts in (table, stream):
        assert compare_metric(counts=counts, **options) == want
    other = LabelCounts(["old", "new"]).update([0, 1, 1], [[0, 1, 0], [0, 1, 1]])
    assert compare_metric(counts=other).names == ("old", "new")
    both = np.stack([table.counts, table.counts.transpose(0, 2, 1)])
    found = compare_metric(counts=both, **options)
    assert found.pvalue.shape == (2, 2)
    assert found.pvalue[0] == pytest.approx(want.pvalue, rel=1e-12)
    assert found.difference[1] == pytest.approx(-want.difference, rel=1e-12)


def test_ratios_are_on_the_log_scale():
    counts = np.array([[[148, 9], [14, 7]], [[3, 5], [4, 10]]])
    found = compare_metric(counts=counts, metric="recall")
    # Both fail on 3 of 22 positives; only a succeeds on 4, only b on 5.
    a, b = 14, 15
    half = stats.norm.ppf(0.975) * math.sqrt((4 + 5) / (a * b))
    ends = math.log(a / b) - half, math.log(a / b) + half
    assert found.ratio == pytest.approx(a / b)
    assert np.log(found.ratio_interval) == pytest.approx(ends, rel=1e-9)
    shown = str(compare_metric(counts=counts, metric="f1", names=("old", "new")))
    assert "old has a lower F1 than new: 0.4912 and 0.5660 on 200 samples" in shown
    assert "Test: permutation test, all exchanges of predictions." in shown
    many = np.array([[[4000, 500], [420, 700]], [[300, 510], [400, 1000]]])
    own = compare_metric(counts=many, metric=lambda c: c[1, 1] / c.sum())
    assert own.method == "pooled"  # all exchanges would take forever


def test_interval_and_test_may_disagree():
    # Models that cannot be exchanged: a has more false alarms, and finds the one positive.
    counts = np.array([[[177, 3], [12, 1]], [[1, 0], [0, 0]]])
    found = compare_metric(counts=counts, metric="balanced_accuracy")
    assert found.pvalue < 0.05
    assert found.interval.low < 0.0 < found.interval.high
    assert any("disagree" in caution for caution in found.cautions)


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        ({"studentized": True, "method": "pooled"}, "studentized=True is for"),
        ({"sample_weight": [1.0] * 6, "method": "exact"}, "method is 'delta'"),
        ({"groups": [0, 0, 1, 1, 2, 2], "method": "pooled"}, "groups method is"),
    ],
    ids=str,
)
def test_what_does_not_fit(options, wanted):
    with pytest.raises(ValueError, match=wanted):
        compare_metric([0, 0, 1, 1, 1, 0], [0, 0, 1, 1, 0, 1], [0, 1] * 3, **options)


def test_all_of_one_right_and_all_of_the_other_wrong():
    y_true = np.array([0, 1] * 10)
    found = compare_metric(y_true, y_true, 1 - y_true, metric="mcc", method="jackknife")
    assert found.difference == 2.0
    assert math.isnan(found.statistic)
    assert found.pvalue == pytest.approx(2 / 2**20, rel=1e-9)
    assert math.isnan(found.interval.low)
    assert "No variance" in found.cautions[0]
    exact = compare_metric(y_true, y_true, 1 - y_true, metric="accuracy")
    assert exact.pvalue == pytest.approx(2 / 2**20, rel=1e-9)
    assert exact.interval.low > 0.5


@pytest.mark.parametrize("method", [None, "jackknife", "delta", "pooled", "bootstrap"])
def test_identical_models_do_not_differ_whatever_the_metric(method):
    # Without false positives the likelihood ratio of both is undefined.
    y_true, pred = [0, 0, 1, 1, 1], [0, 0, 1, 1, 0]
    options = {"metric": "lr_plus", "method": method, "rng": 1, "n_resamples": 50}
    found = compare_metric(y_true, pred, pred, **options)
    assert math.isnan(found.value_a)
    assert (found.difference, found.statistic, found.pvalue) == (0.0, 0.0, 1.0)
    assert found.status == kernels.DEGENERATE
    assert any("predict the same" in caution for caution in found.cautions)


RARE = ("recall", "precision", "balanced_accuracy", "f1_macro", "mcc", "kappa", "informedness")


@pytest.mark.parametrize("name", RARE)
def test_no_variance_is_no_evidence(name):
    """Both are right on both positives: nothing says that they are equivalent."""
    y_true = np.array([1] * 2 + [0] * 48)
    found = compare_metric(y_true, y_true, y_true, metric=name, margin=0.05)
    tests = found.margins
    assert found.pvalue == 1.0
    assert tests.decision == "cannot tell"
    assert not tests.margin_met
    assert tests.noninferiority_pvalue > 0.05
    # The decision is that of the interval that is shown.
    assert tuple(found.interval) == pytest.approx(tuple(tests.interval), abs=1e-8)
    assert found.interval.low < -0.05


@pytest.mark.parametrize("method", [None, "jackknife", "delta", "abc", "bootstrap"])
def test_intervals_decide_about_margins(method):
    counts = np.array([[[150, 6], [5, 9]], [[1, 2], [3, 24]]])
    options = {"method": method, "n_resamples": 499, "rng": 1}
    for name, margin in product(RARE if method is None else RARE[1:5], (0.02, 0.1, 0.2, 0.3)):
        found = compare_metric(counts=counts, metric=name, margin=margin, **options)
        tests, (low, high) = found.margins, found.margins.inner_interval
        with named(name, margin):
            assert tests.margin_met == (low > -margin)
            assert tests.within_margin == (low > -margin and high < margin)
            assert tuple(found.interval) == pytest.approx(tuple(tests.interval), abs=1e-8)


def test_recalls_have_the_tests_of_accuracies():
    counts = np.array([[[150, 6], [5, 9]], [[1, 2], [3, 24]]])
    # table[a is wrong, b is wrong], of the positives and of the negatives
    for name, table in (("recall", [[24, 3], [2, 1]]), ("specificity", [[150, 6], [5, 9]])):
        found = compare_metric(counts=counts, metric=name, margin=0.1).margins
        wanted = margin_tests(table=table, margin=0.1)
        assert found.method == "exact"
        assert found.pvalue_lower == pytest.approx(wanted.pvalue_lower, rel=1e-12)
        assert tuple(found.inner_interval) == pytest.approx(tuple(wanted.inner_interval), rel=1e-12)


def test_draws_of_one_proportion_are_clopper_and_pearsons():
    """Micro F1 of two classes is the accuracy: of n samples that b alone has right, none."""
    counts = np.zeros((2, 2, 2), int)
    counts[0, 0, 0], counts[1, 1, 1] = 30, 20
    found = compare_metric(counts=counts, metric="f1_micro", margin=0.06, n_resamples=99_999)
    # With no error of 50 the upper limit is 1 - 0.05**(1 / 50).
    limit = 1 - 0.05 ** (1 / 50)
    assert tuple(found.margins.inner_interval) == pytest.approx((-limit, limit), rel=0.05)


@pytest.mark.parametrize("name", thinned(["mcc", "recall", "balanced_accuracy", "precision"], 4))
def test_false_decisions_are_rare(name):
    """3% positives, of which a finds 85% and b 95%; b is better in all metrics."""
    rng = np.random.default_rng(5)
    n, wrong, runs = 100, 0, 100
    for _ in range(runs):
        y_true = (rng.random(n) < 0.03).astype(int)
        a, b = (np.where(rng.random(n) < y_true * (1 - p), 0, y_true) for p in (0.85, 0.95))
        if y_true.any():
            found = compare_metric(y_true, a, b, metric=name, margin=0.05, n_resamples=499, rng=rng)
            wrong += found.margins.margin_met
    assert wrong <= 0.07 * runs


@pytest.mark.parametrize("name", ["balanced_accuracy", "mcc", "kappa", "f1_macro"])
def test_metrics_of_several_classes_need_several(name):
    counts = np.zeros((2, 2, 2), int)
    counts[0, 0, 0], counts[0, 1, 0], counts[0, 0, 1] = 45, 2, 3
    found = compare_metric(counts=counts, metric=name, margin=0.2)
    assert found.margins.decision == "cannot tell"
    assert found.margins.reason
    assert math.isnan(found.margins.noninferiority_pvalue)
    assert math.isnan(found.interval.low)
    assert any("No interval" in caution for caution in found.cautions)


def test_a_table_without_positives_does_not_stop_the_others():
    counts = np.zeros((2, 2, 2, 2), int)
    counts[0] = [[[15, 1], [2, 1]], [[1, 2], [3, 14]]]
    counts[1, 0, 0, 0] = 10
    found = compare_metric(counts=counts, metric="f1", margin=0.5)
    assert found.value_a.tolist() == [pytest.approx(2 * 17 / (20 + 20)), 0.0]
    assert found.margins.decision[1] == "cannot tell"


@pytest.mark.parametrize("average", ["macro", "weighted"])
@pytest.mark.parametrize("zero", [0.0, 1.0, np.nan])
def test_classes_without_weight_stay_in_averages(average, zero):
    from sklearn import metrics as sklearn

    y_true, a = np.array([0, 1, 1, 2, 2, 1, 1]), np.array([1, 3, 0, 1, 0, 1, 3])
    b, weights = np.array([0, 1, 1, 2, 2, 1, 3]), np.array([1.0, 0, 1, 1, 1, 0, 0])
    for name, score in (("precision", sklearn.precision_score), ("recall", sklearn.recall_score)):
        found = compare_metric(
            y_true, a, b, metric=name, average=average, zero_division=zero, sample_weight=weights
        )
        wanted = score(y_true, a, average=average, zero_division=zero, sample_weight=weights)
        assert found.value_a == pytest.approx(wanted, nan_ok=True)


def test_weighted_kappa_says_whose_distances_it_counts():
    y_true, a, b = [0, 3, 4], [3, 3, 4], [0, 3, 0]
    alone = metric(y_true, a, metric="kappa_linear").value
    assert compare_metric(y_true, a, b, metric="kappa_linear").value_a == alone
    with pytest.warns(UserWarning, match="does not hold"):
        other = compare_metric(y_true, a, [0, 3, 1], metric="kappa_linear")
    assert other.value_a == pytest.approx(0.4)
    assert any("distances" in caution for caution in other.cautions)
    listed = make_metric("kappa_linear", labels=[0, 1, 2, 3, 4])
    with pytest.warns(UserWarning, match="does not hold"):
        found = compare_metric(y_true, a, [0, 3, 1], metric=listed)
    assert found.value_a == pytest.approx(metric(y_true, a, metric=listed).value)
    assert not any("distances" in caution for caution in found.cautions)


def test_abc_interval_and_its_pvalue_agree():
    counts = np.array([[[148, 9], [24, 7]], [[3, 5], [4, 10]]])
    found = compare_metric(counts=counts, metric="f1", method="abc")
    low, high = found.interval
    assert (found.interval_method, found.distribution) == ("abc", "abc")
    at = compare_metric(counts=counts, metric="f1", method="abc", confidence_level=1 - found.pvalue)
    assert min(map(abs, at.interval)) == pytest.approx(0.0, abs=1e-9)
    near = compare_metric(
        counts=counts, metric="f1", method="bootstrap", interval="bca", n_resamples=20_000, rng=1
    )
    assert (low, high) == pytest.approx(near.interval, abs=0.01)
    turned = compare_metric(counts=counts.swapaxes(1, 2), metric="f1", method="abc")
    assert turned.pvalue == pytest.approx(found.pvalue, rel=0.01)  # z0 has no sign to turn
    with pytest.raises(ValueError, match="groups method is"):
        compare_metric([0, 1, 0], [0, 1, 1], [0, 0, 0], groups=[0, 1, 1], method="abc")
    with pytest.raises(ValueError, match="mean of recalls"):
        compare_metric(counts=counts, metric="mcc", method="mover")
