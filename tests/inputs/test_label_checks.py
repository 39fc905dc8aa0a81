"""Predictions that cannot be labels of the truth: refused, or warned of."""

import json
from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest
from libraries import pd, pl

from fastcmp import (
    auc,
    average_precision,
    cochrans_q,
    compare_all,
    compare_all_from_counts,
    compare_cv,
    compare_holdout,
    compare_labels,
    compare_predictions,
    cost_test,
    count_labels,
    delong,
    mcnemar,
    mcnemar_from_counts,
    mcnemar_table,
    optimal_cutpoint,
    symmetry,
)
from fastcmp.stream import LabelCounts, PairCounts

#: Labels of 60 samples, and what two models predicted.
Y = np.tile([0, 1, 1, 0, 0, 1], 10)
A = np.where(np.arange(60) % 11 == 3, 1 - Y, Y)
B = np.where(np.arange(60) % 7 < 2, 1 - Y, Y)
PROBA = 0.6 * Y + np.arange(60) % 13 / 33
COST = [[0, 1], [5, 0]]
WORDS = np.array(["dog", "cat"])

# What reads labels of a truth and two models, by its arguments (truth, a, b).
TESTS = {
    "mcnemar": mcnemar,
    "mcnemar_table": mcnemar_table,
    "compare_labels": compare_labels,
    "compare_labels, cost": lambda y, a, b: compare_labels(y, a, b, cost=COST),
    "compare_all": lambda y, a, b: compare_all(y, {"a": a, "b": b}),
    "compare_all, cost": lambda y, a, b: compare_all(y, {"a": a, "b": b}, test="cost", cost=COST),
    "cochrans_q": lambda y, a, b: cochrans_q(y, {"a": a, "b": b}),
    "compare_predictions": lambda y, a, b: compare_predictions(y, {"a": a, "b": b}),
    "cost_test": lambda y, a, b: cost_test(y, a, b, COST),
    "count_labels": count_labels,
}
EVERY = pytest.mark.parametrize("test", TESTS.values(), ids=TESTS)


@EVERY
@pytest.mark.parametrize("kind", ["doubles", "list", "singles", "series", "grades"])
def test_scores_are_no_labels(test, kind):
    scores = {
        "doubles": PROBA,
        "list": list(PROBA),
        "singles": PROBA.astype("f4"),
        "series": pd.Series(PROBA),
        "grades": np.where(A, 1, 0.5),
    }[kind]
    with pytest.raises(ValueError, match=r"b holds 0\.\d+, .*\(0, 1\)") as caught:
        test(Y, A, scores)
    for way_out in ("fastcmp.auc", "fastcmp.delong", "cutoff (scores >= 0.5)", "grades"):
        assert way_out in str(caught.value)


def test_scores_are_no_labels_of_a_truth_of_text_either():
    with pytest.raises(ValueError, match=r"pred_b holds 0\.\d+, which is no label"):
        mcnemar(WORDS[Y], WORDS[A], PROBA)


def test_fractions_may_be_labels_of_a_truth_of_fractions():
    y_true = np.array([0, 0.5, 1, 0.5] * 5)
    pred = np.array([0, 0.5, 1, 1] * 5)
    assert mcnemar(y_true, pred, y_true).only_b == 5


def test_whole_floats_are_labels():
    assert mcnemar(Y, A.astype(float), B.astype(float)) == mcnemar(Y, A, B)


@EVERY
@pytest.mark.parametrize(
    ("respell", "said"),
    [
        (str.upper, "upper and lower case"),
        (lambda word: f" {word}", "spaces around them"),
        (lambda word: f"{word.title()} ", "case and spaces"),
    ],
)
def test_another_spelling(test, respell, said):
    spelled = np.array([respell(word) for word in WORDS])[B]
    wanted = rf"b predicts none of .*'cat', 'dog', which differ in {said}"
    with pytest.raises(ValueError, match=wanted):
        test(WORDS[Y], WORDS[A], spelled)


def test_another_spelling_of_few_samples_and_of_one_class():
    with pytest.raises(ValueError, match="differ in upper and lower case"):
        mcnemar(["cat", "cat"], ["cat", "cat"], ["CAT", "CAT"])


def test_another_type():
    with pytest.raises(TypeError, match=r"pred_b holds str .* \('0', '1' .* 0, 1\)"):
        mcnemar(Y, A, B.astype(str))


@EVERY
@pytest.mark.parametrize("step", [1, -1])
@pytest.mark.parametrize("k", [2, 10])
def test_labels_that_count_from_another_number(test, step, k):
    y_true = np.arange(200) % k
    pred = np.where(np.arange(200) % 7, y_true, (y_true + 1) % k)
    cost_needs_two = k > 2 and test in (
        TESTS["cost_test"],
        TESTS["compare_all, cost"],
        TESTS["compare_labels, cost"],
    )
    if cost_needs_two:
        return
    with pytest.raises(ValueError, match="b counts its labels from another number"):
        test(y_true, pred, pred + step)


@EVERY
def test_no_label_in_common(test):
    with pytest.raises(ValueError, match=r"b predicts .*holds 7, 9, and y_true 0, 1"):
        test(Y, A, np.array([7, 9])[B])


def test_classes_say_what_labels_are():
    every = [0, 1, 7, 9]
    result = mcnemar(Y, A, np.array([7, 9])[B], classes=every)
    assert (result.accuracy_b, result.n_outside) == (0, ())
    with pytest.raises(ValueError, match="pred_b predicts none of the labels"):
        mcnemar(Y, A, np.array([7, 9])[B], classes=[0, 1])
    with pytest.raises(ValueError, match=r"pred_b holds 0\.\d+, which is no label"):
        mcnemar(Y, A, PROBA, classes=[0, 1])


def test_few_samples_and_one_class_are_warned_of_only():
    with pytest.warns(UserWarning, match=r"predicted by pred_b \(100\.0%: 1\)"):
        mcnemar([0] * 9, [0] * 9, [1] * 9)
    with pytest.warns(UserWarning, match=r"predicted by pred_b \(100\.0%: 2, 3\)"):
        mcnemar([0, 1, 1], [0, 1, 0], [2, 3, 2])


# Some labels outside the truth.

OUTSIDE = np.where(np.arange(60) % 5 == 0, 4, B)
TEN_PERCENT = np.where(np.arange(60) % 10 == 0, 4, B)


def warned(test, *arguments, **options):
    with pytest.warns(UserWarning, match="labels that y_true does not hold") as caught:
        result = test(*arguments, **options)
    (warning,) = caught
    assert warning.filename == __file__
    return str(warning.message), result


RECORDS = {
    "mcnemar": mcnemar,
    "compare_labels": compare_labels,
    "compare_all": lambda y, a, b: compare_all(y, {"a": a, "b": b}),
    "cochrans_q": lambda y, a, b: cochrans_q(y, {"a": a, "b": b}, post_hoc="midp"),
    "compare_predictions": lambda y, a, b: compare_predictions(y, {"a": a, "b": b}),
    "cost_test": lambda y, a, b: cost_test(y, a, b, np.ones((3, 3)) - np.eye(3)),
    "compare_labels, cost": lambda y, a, b: compare_labels(
        y, a, b, cost=np.ones((3, 3)) - np.eye(3)
    ),
}


@pytest.mark.parametrize("test", RECORDS.values(), ids=RECORDS)
def test_more_than_a_tenth_is_warned_of_and_told(test):
    message, result = warned(test, Y, A, OUTSIDE)
    assert "b (20.0%: 4)" in message
    assert "0, 1" in message
    assert "20.0% of the predictions of b are labels" in str(result).replace("\n", " ")
    counted = getattr(result, "comparison", result).n_outside
    assert counted == (0, 12)
    if hasattr(result, "to_dict"):
        said = json.loads(json.dumps(result.to_dict()))
        assert said.get("n_outside", [said.get("n_outside_a"), 12]) == [0, 12]


@pytest.mark.parametrize("test", RECORDS.values(), ids=RECORDS)
def test_a_tenth_is_not(test, recwarn):
    result = test(Y, A, TEN_PERCENT)
    assert getattr(result, "comparison", result).n_outside == (0, 6)
    assert not recwarn
    assert "truth does not hold" not in str(result)


def test_many_models_are_warned_of_at_once():
    message, result = warned(compare_all, Y, [OUTSIDE] * 9 + [A])
    assert message.count("20.0%") == 3
    assert "6 more models" in message
    assert result.n_outside == (*[12] * 9, 0)


def test_the_share_is_that_of_the_predictions_that_there_are(recwarn):
    pred = [None] * 50 + [0] * 8 + [3] * 2
    message, result = warned(mcnemar, [0, 1] * 30, A, pred, missing="wrong")
    assert "pred_b (20.0%: 3)" in message
    assert result.n_outside == (0, 2)
    assert not mcnemar([0, 1] * 30, A, [None] * 60, missing="wrong").n_outside
    assert not recwarn


@pytest.mark.parametrize("kind", ["u1", "u2", "i4", "i8", "f8", "U"])
@pytest.mark.parametrize("name", ["0 1", "0 2", "-1 1", "many", "far"])
@pytest.mark.filterwarnings("ignore:More than a tenth|.*labels that y_true does not hold")
def test_counts_of_labels_outside_by_brute_force(kind, name):
    labels = {"0 1": [0, 1], "0 2": [0, 2], "-1 1": [-1, 1], "many": range(0, 60, 3)}
    labels = np.array(labels.get(name, [0, 200 if kind == "u1" else 70000]))
    labels = abs(labels) % 60000 if kind[0] == "u" else labels
    rng = np.random.default_rng(3)
    y_true = rng.choice(labels, 5000).astype(kind)
    others = np.append(labels, [labels.max() - 1, 5, 200])
    share = rng.random((4, 5000)) < [[0], [0.01], [0.09], [0.5]]
    preds = np.where(share, rng.choice(others, (4, 5000)), rng.choice(labels, 5000))
    preds = preds.astype(kind)
    expected = tuple((~np.isin(row, y_true)).sum().item() for row in preds)
    found = compare_all(y_true, list(preds)).n_outside
    assert found == (expected if any(expected) else ())


# The truth among the models, or not in its place.


@cache
def frame():
    return pd.DataFrame({"y_true": Y, "svm": A, "knn": B})


def truth_among_models(kind):
    f, rows = frame(), np.stack([Y, A, B])
    numbered = f.T.reset_index(drop=True).T  # once: pandas 2 copies
    locked = rows[0].view()
    locked.flags.writeable = False  # as what pandas 3 gives of a series
    truth = f.y_true
    return {
        "frame": lambda: (f.y_true, f),
        "array": lambda: (f.y_true.to_numpy(), f),
        "polars": lambda: (pl.from_pandas(f)["y_true"], pl.from_pandas(f)),
        "other name": lambda: (f.y_true.rename("gold"), f.rename(columns={"y_true": "gold"})),
        "mapping": lambda: (truth, {"m": f.svm, "n": truth}),
        "numbers": lambda: (numbered[0], numbered),
        "rows": lambda: (rows[0], rows),
        "read-only": lambda: (locked, rows),
    }[kind]()


@pytest.mark.parametrize("test", [compare_all, cochrans_q, compare_predictions])
@pytest.mark.parametrize(
    "kind", ["frame", "array", "polars", "other name", "mapping", "numbers", "rows", "read-only"]
)
def test_the_truth_among_the_models(test, kind):
    wanted = "as the truth is: true labels come first|is y_true itself: leave it out"
    with pytest.raises(ValueError, match=wanted):
        test(*truth_among_models(kind))


def test_a_perfect_model_is_a_model():
    for perfect in (Y, Y.copy(), list(Y)):
        assert compare_all(Y, {"perfect": perfect, "b": B}).accuracy[0] == 1
    labels = Y.tolist()
    assert mcnemar(labels, labels, B.tolist()).accuracy_a == 1
    assert compare_all(frame().y_true, frame()[["svm"]].assign(oracle=Y)).accuracy[1] == 1


def test_names_that_tell_that_the_truth_is_not_first():
    with pytest.raises(ValueError, match="'pred_b' is called 'y_true', as the truth"):
        mcnemar(frame().svm, frame().knn, frame().y_true)
    mixed = frame().rename(columns={"svm": "pred_a", "knn": "pred_b"})
    with pytest.raises(ValueError, match="'pred_a' is called 'pred_a', as the truth"):
        mcnemar(mixed.pred_a, mixed.pred_b, mixed.y_true.rename("gold"))
    assert mcnemar(mixed.y_true, mixed.pred_a, mixed.pred_b).n_samples == 60


# Rows of pandas are not matched by position in silence.

GROUPS = np.arange(60) // 2
MODEL = SimpleNamespace(fit=len, predict=len)
ROWS = {
    **{name: lambda y, a, t=test: t(y, a, B) for name, test in TESTS.items()},
    "second": lambda y, a: mcnemar(y, B, a),
    "rows": lambda y, a: compare_all(y, [a, B]),
    "frame": lambda y, a: compare_all(y, pd.DataFrame({"a": a, "b": a})),
    "two models": lambda y, a: compare_all(B, {"y": y, "a": a}),
    "symmetry": symmetry,
    "auc": auc,
    "auc, weights": lambda y, a: auc(y, PROBA, sample_weight=a + 1),
    "average_precision": average_precision,
    "delong": lambda y, a: delong(y, {"a": a, "b": PROBA}),
    "delong, groups": lambda y, a: delong(y, {"a": A, "b": PROBA}, groups=a * 60 + 1),
    "optimal_cutpoint": optimal_cutpoint,
    "PairCounts": lambda y, a: PairCounts().update(y, {"a": a, "b": B}),
    "LabelCounts": lambda y, a: LabelCounts().update(y, {"a": a, "b": B}),
    "compare_holdout": lambda y, a: compare_holdout(len, len, a.to_frame(), GROUPS, y),
    "compare_cv": lambda y, a: compare_cv(MODEL, MODEL, a.to_frame("x"), y),
}


@pytest.mark.parametrize("test", ROWS.values(), ids=ROWS)
def test_indexes_that_differ(test):
    truth = pd.Series(Y, index=np.arange(60) + 100)
    with pytest.raises(ValueError, match=r"have different indexes .*never matched"):
        test(truth, pd.Series(A, index=np.arange(60)))
    with pytest.raises(ValueError, match=r"in another order: pass .*\.loc\[.*\.index\]"):
        test(truth, pd.Series(A, index=truth.index[::-1]))


@EVERY
def test_equal_indexes_and_plain_arrays(test):
    expected = str(test(Y, A, B))
    truth = pd.Series(Y, index=np.arange(60) + 100)
    assert str(test(truth, pd.Series(A, index=truth.index.tolist()), B)) == expected
    assert str(test(truth, A, pd.Series(B, truth.index))) == expected
    assert str(test(Y, pd.Series(A), B)) == expected
    assert str(test(truth, pl.Series(A), B)) == expected


def test_models_that_say_they_are_regressors():
    from sklearn.linear_model import LinearRegression, LogisticRegression
    from sklearn.pipeline import make_pipeline

    X = np.stack([A, B, PROBA], axis=1)
    good, line = LogisticRegression().fit(X, Y), LinearRegression().fit(X, Y)
    for bad in (line, make_pipeline(LinearRegression()).fit(X, Y)):
        with pytest.raises(TypeError, match="model_b must be a classifier, got "):
            compare_holdout(good, bad, X, X, Y)
    with pytest.raises(ValueError, match=r"pred_b holds .* which is no label of y_true"):
        compare_holdout(good, line.predict, X, X, Y)


# Tables.


def test_tables_of_counts():
    counted = mcnemar_from_counts(16, 3, both_right=873, both_wrong=7)
    table = [[873, 16], [3, 7]]
    assert mcnemar_from_counts(table) == counted
    assert mcnemar_from_counts(np.array(table)) == counted
    assert mcnemar_from_counts(table=table) == counted
    assert mcnemar_from_counts(mcnemar_table(Y, A, B)) == mcnemar(Y, A, B)
    many = mcnemar_from_counts(table=[[table, table[::-1]]] * 3)
    assert many.pvalue.shape == (3, 2)
    assert many.pvalue[2, 0] == counted.pvalue
    assert many.table[0, 1].tolist() == table[::-1]


@pytest.mark.parametrize(
    ("arguments", "options", "error", "wanted"),
    [
        (([[1, 2, 3], [4, 5, 6]],), {}, TypeError, "only_b must be .* or as table="),
        ((), {"table": [[1, 2, 3]]}, ValueError, r"table must be .*2, 2\), got \(1, 3"),
        ((1, 2), {"table": [[1, 2], [3, 4]]}, TypeError, "a table holds all four"),
        (([[1, 2], [3, 4]],), {"both_right": 1}, TypeError, "a table holds all four"),
        ((), {"table": [[1, -2], [3, 4]]}, ValueError, "table must not be"),
        ((), {}, TypeError, "only_a must be whole numbers, got None"),
    ],
)
def test_tables_that_are_none(arguments, options, error, wanted):
    with pytest.raises(error, match=f"^{wanted}"):
        mcnemar_from_counts(*arguments, **options)


# Blocks of a stream hold few labels: what is certain is refused.


@pytest.mark.parametrize("counts", [PairCounts, LabelCounts])
def test_blocks_of_a_stream(counts):
    with pytest.raises(ValueError, match=r"b holds 0.* which is no label of y_true"):
        counts().update(Y, {"a": A, "b": PROBA})
    few = counts().update(np.array([1, 1]), {"a": [1, 1], "b": [0, 2]})
    few.update(np.array([0.0, 0.5]), {"a": [0, 0.5], "b": [0, 0.25]})
    assert few.n_samples == 4
    with pytest.raises(ValueError, match="true labels come first"):
        counts().update(frame().y_true, frame())


def test_models_that_are_never_right_in_a_stream():
    counts = PairCounts()
    for part in np.split(np.arange(120), 4):
        truth = WORDS[part % 2]
        counts.update(truth, {"a": truth, "b": [word.upper() for word in truth]})
    with pytest.warns(UserWarning, match=r"^b \(1 of 2 models\) got none of 120 sam"):
        assert compare_all_from_counts(counts).best == ("a",)
    with pytest.warns(UserWarning, match="case, spaces, type"):
        cochrans_q(counts=counts)
