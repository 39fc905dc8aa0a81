"""Values of metrics, against scikit-learn's and values that other programs computed."""

from __future__ import annotations

import math
import re
import warnings

import numpy as np
import pytest
import reference_cases
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from strategies import square_tables

from fastcmp import make_metric, metric

#: Names of metrics, and those of scikit-learn.
RATES = {
    "precision": "precision_score",
    "recall": "recall_score",
    "f1": "f1_score",
    "jaccard": "jaccard_score",
}
WHOLE = {
    "accuracy": "accuracy_score",
    "balanced_accuracy": "balanced_accuracy_score",
    "mcc": "matthews_corrcoef",
    "kappa": "cohen_kappa_score",
}
zero_divisions = st.sampled_from([0.0, 1.0, math.nan])


def bound(name, classes, **options):
    """Bind a metric to the classes of some data."""
    made = make_metric(name, **options)
    return made.bind(made.classes_of(classes))


def value(name, table, classes=None, **options):
    """Compute a metric of a confusion matrix of some classes."""
    classes = tuple(range(len(table)) if classes is None else classes)
    made = make_metric(name, **options)
    ordered = made.classes_of(classes)
    moved = np.zeros((len(ordered), len(ordered)))
    at = [ordered.index(label) for label in classes]
    moved[np.ix_(at, at)] = table
    found = [each.value(moved) for each in made.bind(ordered)]
    return found if options.get("average", "") is None else found[0]


def samples(table, classes=None):
    """Turn cells into labels and weights, one sample a cell."""
    t, y = np.nonzero(table)
    classes = np.arange(len(table)) if classes is None else np.asarray(classes)
    return classes[t], classes[y], np.asarray(table, float)[t, y]


def peer(function, table, *, classes=None, **options):
    """Call a function of scikit-learn with one sample a cell, weighted."""
    from sklearn import metrics

    y_true, y_pred, weights = samples(table, classes)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return getattr(metrics, function)(y_true, y_pred, sample_weight=weights, **options)


def same(found, expected):
    assert found == pytest.approx(expected, rel=1e-12, abs=1e-13, nan_ok=True)


def tables_of(k):
    """Weights of K classes, many of them without samples."""
    elements = st.one_of(st.just(0.0), st.floats(0.01, 9.0), st.integers(1, 50).map(float))
    return hnp.arrays(np.float64, (k, k), elements=elements).filter(np.any)


#: Counts, or weights, of two to six classes.
tables = st.one_of(
    square_tables().filter(lambda table: len(table) > 1 and table.any()),
    st.integers(2, 6).flatmap(tables_of),
)


@st.composite
def label_choices(draw, table):
    """Draw labels=, and what scikit-learn takes for it."""
    kind = draw(st.sampled_from(["union", "truth", "list"]))
    if kind == "union":
        return kind, None
    rows = np.flatnonzero(table.sum(axis=1)).tolist()
    if kind == "truth":
        return kind, rows
    others = draw(st.sets(st.integers(0, len(table) + 1), max_size=4))
    listed = draw(st.permutations([*dict.fromkeys([rows[0], *sorted(others)])]))
    return list(listed), list(listed)


@given(
    table=tables,
    name=st.sampled_from([*RATES, "fbeta"]),
    average=st.sampled_from(["micro", "macro", "weighted"]),
    zero=zero_divisions,
    data=st.data(),
)
def test_averages_of_rates(table, name, average, zero, data):
    ours, theirs = data.draw(label_choices(table))
    options, beta = {"zero_division": zero, "average": average}, {}
    if name == "fbeta":
        beta = {"beta": data.draw(st.sampled_from([0.5, 2.0]))}
    assume(name != "jaccard" or not math.isnan(zero))  # it refuses NaN
    function = "fbeta_score" if name == "fbeta" else RATES[name]
    expected = peer(function, table, labels=theirs, **options, **beta)
    if average == "weighted" and math.isnan(zero):
        # No weight is left: 0/0, of which they take a plain mean.
        alone = {**options, **beta, "average": None}
        each = peer(function, table, labels=theirs, **alone)
        used = np.flatnonzero(table.sum(axis=0) + table.sum(axis=1)).tolist()
        sizes = np.append(table.sum(axis=1), [0, 0])  # of unseen classes
        rows = sizes[used if theirs is None else theirs]
        if not rows[~np.isnan(each)].any():
            expected = math.nan
    same(value(name, table, labels=ours, **options, **beta), expected)


@given(table=tables, name=st.sampled_from([*WHOLE]))
def test_metrics_of_all_classes(table, name):
    expected = peer(WHOLE[name], table)
    if name == "mcc":  # theirs cancels, and is cut off near 0
        np.testing.assert_allclose(value(name, table), expected, atol=1e-7)
        return
    same(value(name, table), expected)


@given(
    table=tables,
    weights=st.sampled_from(["linear", "quadratic"]),
    listed=st.booleans(),
    data=st.data(),
)
def test_weighted_kappa(table, weights, listed, data):
    k = len(table)
    labels = None
    if listed:  # an order of one's own, with a class that never occurs
        labels = data.draw(st.permutations(range(k + 1)))
    else:  # the order closes where a class does not occur
        used = np.flatnonzero(table.sum(axis=0) + table.sum(axis=1))
        table = table[np.ix_(used, used)]
    expected = peer("cohen_kappa_score", table, weights=weights, labels=labels)
    found = value("kappa", table, weights=weights, labels=labels)
    same(found, expected)
    same(value(f"kappa_{weights}", table, labels=labels), expected)
    size = len(table) if labels is None else k + 1
    apart = abs(np.subtract.outer(np.arange(size), np.arange(size)))
    matrix = apart ** (1 if weights == "linear" else 2)
    if size > 1:
        same(value("kappa", table, weights=matrix, labels=labels), expected)


@given(table=tables)
def test_means_of_rates_by_their_definitions(table):
    """G-mean as imbalanced-learn has it: over the classes that occur, 0 without truth."""
    used = np.flatnonzero(table.sum(axis=0) + table.sum(axis=1)).tolist()
    recalls = peer("recall_score", table, labels=used, average=None)
    same(value("gmean", table), math.exp(np.log(recalls).mean()) if np.all(recalls) else 0.0)
    p, r = value("precision_macro", table), value("recall_macro", table)
    same(value("f1_of_means", table), 2 * p * r / (p + r) if p + r else 0.0)
    same(value("f2_of_means", table), 5 * p * r / (4 * p + r) if p + r else 0.0)
    if np.count_nonzero(table.sum(axis=1)) > 1:
        expected = peer("balanced_accuracy_score", table, adjusted=True)
        same(value("adjusted_balanced_accuracy", table), expected)


def options_of(case):
    options = {"zero_division": float(case["options"].get("zero_division", 0))}
    for name in ("prevalence", "positive"):
        if case["options"].get(name) is not None:
            options[name] = case["options"][name]
    if isinstance(case["options"].get("labels"), list):
        options["labels"] = case["options"]["labels"]
    return options


def named(name):
    """Translate the name of a reference: "fbeta_macro_beta0.5" has a beta."""
    matched = re.fullmatch(r"fbeta_(\w+)_beta([\d.]+)", name)
    return f"f{matched[2]}_{matched[1]}" if matched else name


def check(case, name, found):
    expected, near = np.array(case["expected"][name], float), case["tolerance"]
    near = {"rtol": near["rtol"], "atol": near["atol"]}
    np.testing.assert_allclose(found, expected, **near, err_msg=name)


KINDS = {"metric_value": {}, "metric_value_binary": {}, "metric_value_per_class": {"average": None}}


@pytest.mark.parametrize("kind", KINDS)
def test_reference_values(kind):
    for case in reference_cases.cases(kind):
        table = np.array(case["input"]["confusion"], float)
        for name in case["expected"]:
            check(case, name, value(named(name), table, **KINDS[kind], **options_of(case)))
        if kind == "metric_value_binary":
            same(value("youden", table) * value("markedness", table), value("mcc", table) ** 2)


@reference_cases.parametrize("metric_se")
def test_reference_standard_errors(case):
    table, options = np.array(case["input"]["confusion"], float), case["options"]
    (estimator,) = bound(named(options["metric"]), range(len(table)), positive=options["positive"])
    check(case, "value", estimator.value(table))
    check(case, "se", estimator.standard_errors(table[np.newaxis], "delta")[0][0])
    found = metric(
        table=table,
        metric=named(options["metric"]),
        positive=options["positive"],
        method="delta",
        confidence_level=options["confidence"],
    )
    check(case, "se", found.standard_error)
    check(case, "lower", found.interval.low)
    check(case, "upper", found.interval.high)


def test_weighted_recall_has_the_interval_of_accuracy():
    """The same number: not as if the proportions of the classes were known."""
    table = [[50, 0], [50, 0]]
    found = metric(table=table, metric="recall_weighted")
    known = metric(table=table, metric="accuracy")
    assert found.value == known.value == 0.5
    assert list(found.interval) == pytest.approx(list(known.interval), abs=0.01)
