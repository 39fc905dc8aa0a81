"""Reports: scikit-learn's numbers, the intervals and tests of single metrics, laws."""

import math
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastcmp
from fastcmp import classification_report, compare_metric, make_metric, metric
from fastcmp.stream import ConfusionCounts, LabelCounts

NAMES = {"precision": "precision", "recall": "recall", "f1": "f1-score"}


def draw(rng, n, k, m):
    y_true = rng.integers(0, k, n)
    kept = rng.random((m, n)) < rng.uniform(0.3, 0.95, (m, 1))
    return y_true, np.where(kept, y_true, rng.integers(0, k, (m, n)))


def numbers(report, model=None):
    """Map row and metric to the row of `columns`."""
    columns = report.columns()
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    chosen = report.names[0] if model is None else model
    return {(x["class"], x["metric"]): x for x in rows if x["model"] == chosen}


def nested(report, model=None):
    """Arrange values as scikit-learn does."""
    found = {}
    for (row, name), entry in numbers(report, model).items():
        if row == "accuracy":
            found[row] = entry["value"]
        else:
            own = found.setdefault(row, {"support": entry["support"]})
            own[NAMES[name]] = entry["value"]
    return found


def assert_equal_to_sklearn(report, model, y_true, pred, **options):
    from sklearn.metrics import classification_report as sklearn_report

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wanted = sklearn_report(y_true, pred, output_dict=True, **options)
    found = nested(report, model)
    assert found.keys() == wanted.keys()
    for row, entries in wanted.items():
        if row == "accuracy":
            assert found[row] == pytest.approx(entries)
            continue
        if row == "weighted avg" and (zero := options.get("zero_division", 0.0)):
            # Where all weights are 0 scikit-learn takes a plain mean, and we 0/0.
            undefined = [k for k, x in found[row].items() if x == zero or math.isnan(x)]
            wanted[row] |= dict.fromkeys(undefined, zero)
        assert found[row] == pytest.approx(wanted[row], nan_ok=True), row


@given(
    st.integers(0, 2**32 - 1),
    st.integers(2, 5),
    st.integers(2, 40),
    st.sampled_from([0.0, 1.0, math.nan]),
    st.data(),
)
def test_the_numbers_are_those_of_scikit_learn(seed, k, n, zero_division, data):
    y_true, (pred,) = draw(np.random.default_rng(seed), n, k, 1)
    options = {"zero_division": zero_division}
    if data.draw(st.booleans()):
        every = st.permutations(range(k + 1))
        labels = data.draw(every)[: data.draw(st.integers(1, k + 1))]
        if not set(labels) & {*y_true.tolist(), *pred.tolist()}:
            labels.append(int(y_true[0]))
        options["labels"] = labels
        if data.draw(st.booleans()):
            options["target_names"] = [f"class {label}" for label in labels]
    report = classification_report(y_true, pred, **options)
    assert_equal_to_sklearn(report, None, y_true, pred, **options)
    table = np.zeros((k, k), np.int64)
    np.add.at(table, (y_true, pred), 1)
    again = classification_report(counts=table, **options)
    assert again == report


def test_labels_of_the_truth_leave_out_strangers():
    y_true, pred = [0, 0, 1, 1, 1, 0], [0, 0, 1, 1, 2, 0]
    report = classification_report(y_true, pred, labels="truth")
    assert_equal_to_sklearn(report, None, y_true, pred, labels=[0, 1])
    assert ("micro avg", "f1") in numbers(report)


@pytest.mark.parametrize("k", [2, 4])
@pytest.mark.parametrize("zero_division", [0.0, 1.0])
def test_intervals_are_those_of_single_metrics(k, zero_division):
    y_true, (pred,) = draw(np.random.default_rng(k), 60, k, 1)
    columns = ["precision", "recall", "f1", "specificity", "npv", "jaccard", "f2"]
    columns += ["fowlkes_mallows", "informedness", "markedness"]
    options = {"zero_division": zero_division}
    report = classification_report(
        *(y_true, pred), metrics=columns, overall=["mcc", "kappa"], **options
    )
    found = numbers(report)
    for name in columns:
        wanted = metric(y_true, pred, metric=name, average=None, **options)
        for i, label in enumerate(wanted.classes):
            entry = found[str(label), name]
            got = [entry[key] for key in ("value", "low", "high")]
            ends = wanted.interval.low[i], wanted.interval.high[i]
            assert got == pytest.approx([wanted.value[i], *ends], nan_ok=True)
    wide = [("macro avg", x, f"{x}_macro") for x in columns]
    wide += [("weighted avg", "f1", "f1_weighted"), ("accuracy",) + ("accuracy",) * 2]
    wide += [("MCC", "mcc", "mcc"), ("Cohen's kappa", "kappa", "kappa")]
    for row, name, full in wide:
        entry = found[row, name]
        wanted = metric(y_true, pred, metric=full, **options)
        got = [entry[key] for key in ("value", "low", "high")]
        assert got == pytest.approx([wanted.value, *wanted.interval], nan_ok=True)


@pytest.mark.parametrize("n", [4, 5, 9, 13, 20, 30])
def test_two_classes_are_compared_as_by_compare_metric(n):
    y_true, preds = draw(np.random.default_rng(n), n, 2, 3)
    y_true[:2] = 0, 1
    columns = ["precision", "f1", "specificity", "jaccard", "informedness", "lr_plus"]
    report = classification_report(*(y_true, preds), control=1, metrics=columns, overall="mcc")
    for name, pred in (("model_0", preds[0]), ("model_2", preds[2])):
        if np.array_equal(pred, preds[1]):
            continue
        found = numbers(report, name)
        for column in columns:
            made = [make_metric(column, positive=label) for label in (0, 1)]
            wanted = compare_metric(y_true, pred, preds[1], metric=made)
            entries = [found[str(label), column] for label in (0, 1)]
            for key in ("difference", "pvalue"):
                got = [entry[key] for entry in entries]
                assert got == pytest.approx(getattr(wanted, key), nan_ok=True)
        for row, column, full in (
            ("macro avg", "f1", "f1_macro"),
            ("accuracy", "accuracy", "accuracy"),
            ("MCC", "mcc", "mcc"),
        ):
            wanted = compare_metric(y_true, pred, preds[1], metric=full)
            entry = found[row, column]
            assert entry["pvalue"] == pytest.approx(wanted.pvalue, nan_ok=True)
            assert entry["test"] == ("" if math.isnan(wanted.pvalue) else "exact")


def test_many_samples_of_averages_are_compared_by_the_pooled_test():
    y_true, preds = draw(np.random.default_rng(1), 5000, 3, 2)
    report = classification_report(y_true, preds, control=0, overall="mcc")
    found = numbers(report, "model_1")
    for row, column, full in (("macro avg", "f1", "f1_macro"), ("MCC", "mcc", "mcc")):
        wanted = compare_metric(y_true, preds[1], preds[0], metric=full, method="pooled")
        assert found[row, column]["pvalue"] == pytest.approx(wanted.pvalue)
        assert found[row, column]["test"] == "pooled"
    exact = fastcmp.mcnemar(y_true, preds[1], preds[0], method="exact")
    assert found["accuracy", "accuracy"]["pvalue"] == pytest.approx(exact.pvalue)


RATES = ("recall", "precision", "specificity", "npv", "f2", "jaccard", "fowlkes_mallows")


RATES += ("informedness", "markedness", "lr_plus", "lr_minus")


@given(
    st.lists(st.integers(0, 9), min_size=8, max_size=8),
    st.sampled_from(RATES),
    st.sampled_from([0.0, 1.0, math.nan]),
)
def test_exchanges_of_a_class_are_all_looked_at(counts, name, zero_division):
    table = np.add(counts, [1, 0, 0, 0, 0, 0, 0, 1])
    y_true, a, b = np.repeat(np.indices((2, 2, 2)).reshape(3, -1), table, axis=1)
    options = {"metrics": [name], "zero_division": zero_division, "control": "b"}
    report = classification_report(y_true, {"a": a, "b": b}, **options)
    asked = make_metric(name, positive=1, zero_division=zero_division)
    wanted = compare_metric(y_true, a, b, metric=asked, method="exact").pvalue
    found = numbers(report, "a")["1", name]["pvalue"]
    assert found == pytest.approx(wanted, rel=1e-9, nan_ok=True)


def test_exchanges_of_many_samples_are_exact_far_out():
    counts = [9000, 300, 500, 80, 100, 2400, 3100, 7000]
    y_true, a, b = np.repeat(np.indices((2, 2, 2)).reshape(3, -1), counts, axis=1)
    report = classification_report(y_true, {"a": a, "b": b}, control="b", metrics=["recall"])
    found = numbers(report, "a")
    for label, only_a, only_b in (("1", 3100, 2400), ("0", 300, 500)):
        wanted = fastcmp.mcnemar(only_a=only_a, only_b=only_b, method="exact").pvalue
        assert wanted < 1e-11
        assert found[label, "recall"]["pvalue"] == pytest.approx(wanted, rel=1e-8)


def test_p_values_are_adjusted_over_the_whole_table():
    y_true, preds = draw(np.random.default_rng(5), 300, 3, 4)
    report = classification_report(y_true, preds, control="model_1", adjust="bh")
    assert np.isnan(report.pvalue[1]).all()
    assert report.n_tests == 3 * (3 * 3 + 1 + 2 * 3)
    wanted = fastcmp.adjust(report.pvalue, method="bh")
    np.testing.assert_array_equal(report.pvalue_adjusted, wanted)
    turned = classification_report(y_true, preds, control="model_0")
    np.testing.assert_allclose(report.difference[0], -turned.difference[1])
    np.testing.assert_allclose(report.pvalue[0], turned.pvalue[1])


def test_counts_of_streams_give_the_same_report():
    y_true, preds = draw(np.random.default_rng(6), 400, 3, 3)
    named = dict(zip("abc", preds, strict=True))
    alone, pairs = ConfusionCounts(), LabelCounts()
    for i in range(0, 400, 100):
        for counts in (alone, pairs):
            counts.update(y_true[i : i + 100], {m: p[i : i + 100] for m, p in named.items()})
    plain = classification_report(y_true, named)
    for counts in (alone, pairs, np.stack([alone.matrix(i) for i in range(3)])):
        assert classification_report(counts=counts, names=list(named)) == plain
    wanted = classification_report(y_true, named, control="b")
    assert classification_report(counts=pairs, control="b") == wanted
    table = fastcmp.count_labels(y_true, preds[0], preds[1])
    assert classification_report(counts=table, control="b") == classification_report(
        y_true, {m: named[m] for m in "ab"}, control="b"
    )


@pytest.mark.parametrize("k", [3, 60])
def test_many_classes_and_any_number_of_threads(k):
    y_true, preds = draw(np.random.default_rng(k), 3000, k, 3)
    one = classification_report(y_true, preds, control=0, workers=1)
    assert classification_report(y_true, preds, control=0, workers=4) == one
    assert_equal_to_sklearn(one, "model_2", y_true, preds[2])


# What is printed.


def test_three_models_print_marks_and_say_what_they_mean():
    y_true, preds = fastcmp.load_digits()
    some = {name: preds[name] for name in ("svm_rbf", "knn_3", "naive_bayes")}
    report = classification_report(y_true, some, control="svm_rbf")
    text = str(report)
    assert "+ significantly better than svm_rbf, - significantly worse" in text
    assert "over all 74" in " ".join(text.split())
    assert "svm_rbf (control)" in text
    assert text.count("- [") == (report.marks == "-").sum() > 0


# What is refused.


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"preds": [0.1] * 8}, "auc|scores"),
        ({"control": 0}, "control= needs at least 2 models"),
        ({"labels": ["x", "y"]}, "labels must be classes of the data"),
        ({"positive": 7}, "positive must be one of 0, 1, 2"),
        ({"metrics": ["mcc"]}, "overall="),
        ({"metrics": ["f1_macro"]}, "averages stand below"),
        ({"metrics": ["f1", "dice"]}, "different metrics"),
        ({"overall": ["f1"]}, "overall must be of all 3 classes"),
    ],
)
def test_wrong_input_is_refused(options, message):
    given_ = {"y_true": [0, 1, 0, 1, 2, 2, 0, 1], "preds": [0, 1, 0, 1, 2, 1, 0, 0]} | options
    with pytest.raises((ValueError, TypeError), match=message):
        classification_report(**given_)


@pytest.mark.parametrize(
    ("counts", "options", "message"),
    [
        ([[1.0] * 3] * 2, {}, "shape"),
        ([[0, 0], [0, 0]], {}, "must hold samples"),
        (ConfusionCounts(), {}, "must hold samples"),
        (LabelCounts(), {}, "must hold samples"),
        ([[[1, 1], [1, 1]], [[2, 2], [2, 2]]], {}, "same samples"),
        ([[1, 1], [1, 1]], {"classes": ["x"]}, "classes must name 2"),
        ([[[1, 1], [1, 1]]] * 2, {"control": 0}, "control= needs counts of pairs"),
    ],
)
def test_wrong_counts_are_refused(counts, options, message):
    with pytest.raises((ValueError, TypeError), match=message):
        classification_report(counts=counts, **options)


def test_many_samples_of_a_class_are_compared_by_the_pooled_test():
    rng = np.random.default_rng(1)
    y_true = rng.integers(0, 2, 20_000)
    preds = [np.where(rng.random(y_true.size) < 0.6, y_true, 1 - y_true) for _ in range(2)]
    found = classification_report(y_true, preds, control=0, metrics=["markedness"]).columns()
    rows = zip(*(found[x] for x in ("model", "class", "test", "pvalue")), strict=True)
    pooled = {label: p for model, label, test, p in rows if model == "model_1" and test == "pooled"}
    for label in (0, 1):
        metric = make_metric("markedness", positive=label)
        wanted = compare_metric(y_true, preds[1], preds[0], metric=metric, method="pooled")
        assert pooled[str(label)] == pytest.approx(wanted.pvalue)
