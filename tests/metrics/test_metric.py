"""Metrics of one model: values, standard errors and intervals."""

import math

import numpy as np
import pytest
from cases import thinned
from libraries import optimize, special, stats
from reference_cases import parametrize

import fastcmp
from fastcmp import make_metric, metric
from fastcmp.stream import ConfusionCounts

Y = np.array([0, 0, 0, 0, 1, 1, 1, 2, 2, 2, 2, 2])
P = np.array([0, 0, 1, 0, 1, 1, 0, 2, 2, 1, 2, 0])
CONFUSION = np.array([[56, 5, 10], [8, 37, 7], [7, 6, 14]])


def close(found, wanted, case):
    tolerance = case["tolerance"]
    rtol, atol = tolerance["rtol"], tolerance["atol"]
    assert found == pytest.approx(float(wanted), rel=rtol, abs=atol, nan_ok=True)


# Reference.


@parametrize("f1_interval")
def test_f1_intervals(case):
    expected, level = case["expected"], case["options"]["confidence"]
    for name in {"f1", "jaccard"} & set(expected):
        found = metric(table=case["input"]["confusion"], metric=name, confidence_level=level)
        prefix = "" if name == "f1" else "jaccard_"
        assert found.method == "wilson"
        close(found.value, expected[name], case)
        close(found.interval.low, expected[f"{prefix}lower"], case)
        close(found.interval.high, expected[f"{prefix}upper"], case)


@parametrize("balanced_accuracy_interval")
def test_balanced_accuracy_intervals(case):
    expected = case["expected"]
    if "confusion" in case["input"]:
        table = case["input"]["confusion"]
        found = metric(table=table, metric="balanced_accuracy", method="mover")
        close(found.value, expected["value"], case)
    else:
        counts = np.zeros([case["input"]["K"]] * 3, int)
        for *cell, n in case["input"]["cells"]:
            counts[tuple(cell)] = n
        found = fastcmp.compare_metric(counts=counts, metric="balanced_accuracy", method="mover")
        close(found.difference, expected["difference"], case)
        assert found.interval_method == "newcombe"
    close(found.interval.low, expected["lower"], case)
    close(found.interval.high, expected["upper"], case)


@parametrize("metric_log_interval")
def test_log_intervals(case):
    table, expected = case["input"]["confusion"], case["expected"]
    for name in ("lr_plus", "lr_minus", "dor"):
        found = metric(table=table, metric=name)
        close(found.value, expected[name], case)
        close(found.interval.low, expected[f"{name}_lower"], case)
        close(found.interval.high, expected[f"{name}_upper"], case)


# Oracle.


def samples_of(table):
    cells = np.argwhere(table)
    return np.repeat(cells, table[tuple(cells.T)], axis=0).T


@pytest.mark.parametrize(
    "name", ["f1_macro", "mcc", "kappa", "jaccard_weighted", "f1_of_means", "scott_pi"]
)
def test_jackknife_leaves_out_samples_one_by_one(name):
    y_true, pred = samples_of(CONFUSION)
    without = [
        metric(np.delete(y_true, i), np.delete(pred, i), metric=name).value
        for i in range(y_true.size)
    ]
    n = y_true.size
    error = math.sqrt((n - 1) * np.var(without))
    found = metric(y_true, pred, metric=name, method="jackknife", scale="identity")
    assert found.standard_error == pytest.approx(error, rel=1e-9)
    half = stats.norm.ppf(0.975) * error
    assert found.interval == pytest.approx((found.value - half, found.value + half), rel=1e-9)


@pytest.mark.parametrize(
    ("name", "method"),
    [
        ("f1_macro", "combined, logit"),
        ("mcc", "combined, atanh"),
        ("kappa", "combined, atanh"),
        ("kappa_quadratic", "jackknife, atanh"),  # samples in far corners weigh too much
        ("balanced_accuracy", "score"),
        ("accuracy", "wilson"),
    ],
)
def test_the_default_holds_the_jackknifes_interval(name, method):
    found = metric(table=CONFUSION, metric=name)
    assert found.method == method
    if method != "score":
        alone = metric(table=CONFUSION, metric=name, method="jackknife")
        assert found.interval.low <= alone.interval.low + 0.003
        assert found.interval.high >= alone.interval.high - 0.003
        assert np.diff(found.interval) < 1.1 * np.diff(alone.interval)


def test_accuracy_has_wilsons_interval():
    found = metric(Y, P)
    wanted = stats.binomtest(8, 12).proportion_ci(method="wilson")
    assert found.value == pytest.approx(8 / 12)
    assert found.interval == pytest.approx((wanted.low, wanted.high), rel=1e-12)


def test_clusters_by_their_sums():
    groups = np.array([0, 0, 1, 1, 2, 2, 2, 3, 3, 4, 4, 4])
    found = metric(Y, P, metric="f1_macro", groups=groups, scale="identity")
    (estimator,) = make_metric("f1_macro").bind((0, 1, 2))
    table = np.zeros((3, 3))
    np.add.at(table, (Y, P), 1)
    psi = estimator.influence(table)[Y, P]
    sums = np.bincount(groups, psi)
    error = math.sqrt(5 / 4 * (sums @ sums)) / 12
    assert found.standard_error == pytest.approx(error, rel=1e-12)
    half = stats.t(4).ppf(0.975) * error
    assert found.interval.high - found.value == pytest.approx(half, rel=1e-9)
    assert found.n_clusters == 5


def test_weights_of_whole_numbers_repeat_samples():
    weights = np.array([1, 2, 3] * 4)
    found = metric(Y, P, metric="kappa", sample_weight=weights)
    wanted = metric(np.repeat(Y, weights), np.repeat(P, weights), metric="kappa")
    assert found.value == pytest.approx(wanted.value, rel=1e-12)
    # Three copies of a sample say no more than one: their variance counts w**2.
    assert found.standard_error > wanted.standard_error


@pytest.mark.parametrize("power", [-300, -200, 200, 300])
def test_weights_of_any_size(power):
    weights = np.array([1.0, 2, 3] * 4)
    wanted = metric(Y, P, metric="f1_macro", sample_weight=weights)
    found = metric(Y, P, metric="f1_macro", sample_weight=weights * 10.0**power)
    assert found.value == pytest.approx(wanted.value, rel=1e-12)
    assert found.interval == pytest.approx(wanted.interval, rel=1e-9)


# Laws.


def test_several_metrics_are_those_alone():
    names = ["accuracy", "f1_macro", "mcc", lambda c: c[0, 0] / c.sum()]
    found = metric(Y, P, metric=names)
    for i, name in enumerate(names):
        alone = metric(Y, P, metric=name)
        assert found.value[i] == alone.value
        assert found.interval.low[i] == alone.interval.low
    each = metric(Y, P, metric="f1", average=None)
    assert each.metric.tolist() == ["f1[0]", "f1[1]", "f1[2]"]
    assert each.value.mean() == pytest.approx(metric(Y, P, metric="f1_macro").value)


# Edge cases.


def test_perfect_models():
    for name in ("f1", "f1_macro", "precision_weighted", "balanced_accuracy", "mcc"):
        found = metric(table=[[40, 0], [0, 6]], metric=name)
        assert found.value == found.interval.high == 1.0
        assert 0.5 < found.interval.low < 1.0


@pytest.mark.parametrize("method", [None, "jackknife", "delta", "abc", "bootstrap"])
@pytest.mark.parametrize("name", ["mcc", "kappa", "kappa_linear"])
def test_a_metric_without_variance_has_no_interval(name, method):
    found = metric([0] * 6 + [1] * 4, [0] * 10, metric=name, method=method)
    assert found.value == found.standard_error == 0.0
    assert math.isnan(found.interval.low)
    assert math.isnan(found.interval.high)
    assert found.status == fastcmp.kernels.DEGENERATE
    assert "no variance was observed" in str(found).replace("\n", " ")
    assert any("0/0, taken as 0" in x for x in found.cautions) == (name == "mcc")


@pytest.mark.parametrize("name", ["f1", "jaccard", "recall", "precision", "accuracy"])
def test_clopper_pearson_is_that_of_a_binomial(name):
    table = np.array([[40, 2], [3, 9]])
    found = metric(table=table, metric=name, method="clopper-pearson")
    trials = {"f1": 14, "jaccard": 14, "recall": 12, "precision": 11, "accuracy": 54}[name]
    wanted = stats.binomtest(49 if name == "accuracy" else 9, trials).proportion_ci(method="exact")
    ends = np.array([wanted.low, wanted.high])
    ends = 2 * ends / (1 + ends) if name == "f1" else ends
    assert found.interval == pytest.approx(tuple(ends), rel=1e-12)


@pytest.mark.parametrize(
    "right", [(50, 12, 3), (20, 12, 5), (7, 0, 2), (0, 0, 3), (55, 20, 5)], ids=str
)
def test_score_limits_are_those_of_the_likeliest_recalls(right):
    sizes = np.array([55, 20, 5])
    table = np.diag(right)
    for i in range(3):
        table[i, (i + 1) % 3] = sizes[i] - right[i]
    found = metric(table=table, metric="balanced_accuracy")
    assert found.method == "score"
    rates = np.array(right) / sizes

    def likeliest(mean):
        def loss(recalls):
            x = np.array(right)
            return -(special.xlogy(x, recalls) + special.xlogy(sizes - x, 1 - recalls)).sum()

        start = np.full(3, mean)
        bounds = [(1e-9, 1 - 1e-9)] * 3
        limit = {"type": "eq", "fun": lambda recalls: recalls.mean() - mean}
        options = {"ftol": 1e-14, "maxiter": 500}
        return optimize.minimize(
            loss, start, bounds=bounds, constraints=limit, method="SLSQP", options=options
        ).x

    for end in found.interval:
        if 0.0 < end < 1.0 and abs(end - rates.mean()) > 1e-9:
            p = likeliest(end)
            z = (rates.mean() - end) / np.sqrt((p * (1 - p) / sizes).sum() / 9)
            assert abs(z) == pytest.approx(1.96, abs=2e-3)


RARE = [
    ("f1_macro", (0.6, 0.25, 0.1, 0.05), (0.9, 0.8, 0.7, 0.6), 50),
    ("f1_macro", (0.7, 0.2, 0.08, 0.02), (0.9, 0.8, 0.7, 0.6), 200),
    ("balanced_accuracy", (0.6, 0.25, 0.1, 0.05), (0.98, 0.95, 0.92, 0.9), 100),
    ("precision_macro", (0.6, 0.25, 0.1, 0.05), (0.98, 0.95, 0.92, 0.9), 200),
    ("gmean", (0.9, 0.1), (0.9, 0.75), 50),
]


@pytest.mark.parametrize("drawn", thinned(RARE, 2), ids=str)
def test_intervals_contain_the_value_where_a_class_is_rare(drawn):
    name, shares, recalls, n = drawn
    k = len(shares)
    cells = np.tile(shares, (k, 1)) * (1 - np.eye(k))
    cells *= ((1 - np.array(recalls)) / cells.sum(axis=1))[:, None]
    cells = (cells + np.diag(recalls)) * np.array(shares)[:, None]
    value = metric(table=np.round(cells * 10**8).astype(int), metric=name).value
    tables = np.random.default_rng(4).multinomial(n, cells.ravel(), 400).reshape(-1, k, k)
    tables = tables[(tables.sum(axis=2) > 0).all(axis=1)]
    ends = [metric(table=t, metric=name, classes=range(k)).interval for t in tables]
    missed = np.mean([low > value or high < value for low, high in ends])
    assert missed < 0.05 + 2.6 * np.sqrt(0.05 * 0.95 / len(tables))


def test_what_is_undefined_is_said():
    found = metric([0, 0, 0, 1, 1], [0, 0, 0, 0, 0], metric="precision")
    assert found.value == 0.0
    assert math.isnan(found.interval.low)
    assert any("0/0 for class 1" in caution for caution in found.cautions)
    lr = metric([0, 0, 0, 1, 1], [0, 0, 0, 1, 0], metric="lr_plus")
    assert math.isnan(lr.value)
    assert lr.status == fastcmp.kernels.UNDEFINED
    kappa = metric([1, 1, 1], [1, 1, 1], metric="kappa")
    assert math.isnan(kappa.value)


def test_few_samples_are_said():
    (caution,) = metric(Y, P, metric="f1_macro").cautions
    assert caution.startswith("3 classes have fewer than 10 samples: 0 (4), 1 (3), 2")
    many = metric(table=CONFUSION, metric=["f1_macro", "mcc"])
    assert many.cautions == ()
    assert "150 samples of 3 classes." in str(many)
    assert "macro F1  0.6705  [0.58" in str(many)


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        ({"metric": "f1"}, "needs two classes, got 3"),
        ({"metric": "f1_macro", "method": "wilson", "scale": "log"}, "scale= is for"),
        ({"metric": "mcc", "method": "wilson"}, "method='wilson' is for single rates"),
        ({"metric": "f1_macro", "method": "clopper-pearson"}, "for single rates"),
        ({"metric": "f1_macro", "method": "score"}, "means of recalls or precisions"),
        ({"metric": "gmean", "method": "mover"}, "means of rates of classes"),
        ({"metric": "mcc", "method": "combined", "groups": [0, 1] * 6}, "independent samples"),
        ({"metric": "f1_macro", "groups": [0] * 12, "sample_weight": [1] * 12}, "one"),
    ],
    ids=str,
)
def test_what_does_not_fit(options, wanted):
    with pytest.raises(ValueError, match=wanted):
        metric(Y, P, **options)


def test_ids_are_no_classes():
    ids = np.arange(20_000)
    for call in (
        lambda: metric(ids, ids[::-1], metric="f1_macro"),
        lambda: fastcmp.compare_metric(ids, ids, ids[::-1], metric="f1_macro"),
        lambda: fastcmp.classification_report(ids, ids),
    ):
        with pytest.raises(ValueError, match="20000 different labels"):
            call()


def test_counts_of_a_stream():
    counts = ConfusionCounts()
    for part in np.array_split(np.arange(12), 3):
        counts.update(Y[part], {"a": P[part]})
    names = ["f1_macro", "mcc"]
    assert metric(table=counts, metric=names) == metric(Y, P, metric=names)
    two = ConfusionCounts().update(Y, {"a": P, "b": Y})
    with pytest.raises(ValueError, match=r"pass counts.matrix"):
        metric(table=two, metric="mcc")
    one = metric(table=two.matrix("a"), metric="mcc", classes=two.classes)
    assert one == metric(Y, P, metric="mcc")
