"""Predictions that cannot be labels of the truth: refused, or warned of."""

import json
from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest
from cases import refuses
from libraries import pd, pl

import fastcmp
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
    "mcnemar": fastcmp.mcnemar,
    "mcnemar_table": fastcmp.mcnemar_table,
    "compare_labels": fastcmp.compare_labels,
    "compare_labels, cost": lambda y, a, b: fastcmp.compare_labels(y, a, b, cost=COST),
    "compare_all": lambda y, a, b: fastcmp.compare_all(y, {"a": a, "b": b}),
    "compare_all, cost": lambda y, a, b: fastcmp.compare_all(
        y, {"a": a, "b": b}, test="cost", cost=COST
    ),
    "cochrans_q": lambda y, a, b: fastcmp.cochrans_q(y, {"a": a, "b": b}),
    "compare_predictions": lambda y, a, b: fastcmp.compare_predictions(y, {"a": a, "b": b}),
    "cost_test": lambda y, a, b: fastcmp.cost_test(y, a, b, COST),
    "count_labels": fastcmp.count_labels,
}
EVERY = pytest.mark.parametrize("test", TESTS.values(), ids=TESTS)


@EVERY
def test_scores_are_no_labels(test):
    for scores in (
        *(PROBA, list(PROBA), PROBA.astype("f4"), pd.Series(PROBA)),
        np.where(A, 1, 0.5),
    ):
        with pytest.raises(ValueError, match=r"b holds 0\.\d+, .*\(0, 1\)") as caught:
            test(Y, A, scores)
        for way_out in ("fastcmp.auc", "fastcmp.delong", "cutoff (scores >= 0.5)", "grades"):
            assert way_out in str(caught.value)


@EVERY
def test_another_spelling(test):
    for respell, said in (
        (str.upper, "upper and lower case"),
        (lambda word: f" {word}", "spaces around them"),
        (lambda word: f"{word.title()} ", "case and spaces"),
    ):
        spelled = np.array([respell(word) for word in WORDS])[B]
        wanted = rf"b predicts none of .*'cat', 'dog', which differ in {said}"
        refuses(ValueError, wanted, test, WORDS[Y], WORDS[A], spelled)


def test_labels_of_another_type_or_spelling_and_fractions():
    refuses(
        TypeError, r"pred_b holds str .* \('0', '1' .* 0, 1\)", fastcmp.mcnemar, Y, A, B.astype(str)
    )
    with pytest.raises(ValueError, match=r"pred_b holds 0\.\d+, which is no label"):
        fastcmp.mcnemar(WORDS[Y], WORDS[A], PROBA)
    with pytest.raises(ValueError, match="differ in upper and lower case"):
        fastcmp.mcnemar(["cat", "cat"], ["cat", "cat"], ["CAT", "CAT"])
    y_true = np.array([0, 0.5, 1, 0.5] * 5)
    assert fastcmp.mcnemar(y_true, np.array([0, 0.5, 1, 1] * 5), y_true).only_b == 5


@EVERY
def test_labels_that_count_from_another_number(test):
    costs = [TESTS[x] for x in ("cost_test", "compare_all, cost", "compare_labels, cost")]
    for k in (2,) if test in costs else (2, 10):
        y_true = np.arange(200) % k
        pred = np.where(np.arange(200) % 7, y_true, (y_true + 1) % k)
        for step in (1, -1):
            with pytest.raises(ValueError, match="b counts its labels from another number"):
                test(y_true, pred, pred + step)


@EVERY
def test_no_label_in_common(test):
    with pytest.raises(ValueError, match=r"b predicts .*holds 7, 9, and y_true 0, 1"):
        test(Y, A, np.array([7, 9])[B])


def test_classes_say_what_labels_are():
    every = [0, 1, 7, 9]
    result = fastcmp.mcnemar(Y, A, np.array([7, 9])[B], classes=every)
    assert (result.accuracy_b, result.n_outside) == (0, ())
    with pytest.raises(ValueError, match="pred_b predicts none of the labels"):
        fastcmp.mcnemar(Y, A, np.array([7, 9])[B], classes=[0, 1])
    with pytest.raises(ValueError, match=r"pred_b holds 0\.\d+, which is no label"):
        fastcmp.mcnemar(Y, A, PROBA, classes=[0, 1])


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
    "mcnemar": fastcmp.mcnemar,
    "compare_labels": fastcmp.compare_labels,
    "compare_all": lambda y, a, b: fastcmp.compare_all(y, {"a": a, "b": b}),
    "cochrans_q": lambda y, a, b: fastcmp.cochrans_q(y, {"a": a, "b": b}, post_hoc="midp"),
    "compare_predictions": lambda y, a, b: fastcmp.compare_predictions(y, {"a": a, "b": b}),
    "cost_test": lambda y, a, b: fastcmp.cost_test(y, a, b, np.ones((3, 3)) - np.eye(3)),
    "compare_labels, cost": lambda y, a, b: fastcmp.compare_labels(
        y, a, b, cost=np.ones((3, 3)) - np.eye(3)
    ),
}


@pytest.mark.parametrize("test", RECORDS.values(), ids=RECORDS)
def test_more_than_a_tenth_is_warned_of_and_told(test, recwarn):
    result = test(Y, A, TEN_PERCENT)
    assert getattr(result, "comparison", result).n_outside == (0, 6)
    assert not recwarn
    assert "truth does not hold" not in str(result)
    message, result = warned(test, Y, A, OUTSIDE)
    assert "b (20.0%: 4)" in message
    assert "0, 1" in message
    assert "20.0% of the predictions of b are labels" in str(result).replace("\n", " ")
    assert getattr(result, "comparison", result).n_outside == (0, 12)
    if hasattr(result, "to_dict"):
        said = json.loads(json.dumps(result.to_dict()))
        assert said.get("n_outside", [said.get("n_outside_a"), 12]) == [0, 12]


def test_many_models_are_warned_of_at_once():
    message, result = warned(fastcmp.compare_all, Y, [OUTSIDE] * 9 + [A])
    assert message.count("20.0%") == 3
    assert "6 more models" in message
    assert result.n_outside == (*[12] * 9, 0)


def test_the_share_is_that_of_the_predictions_that_there_are(recwarn):
    pred = [None] * 50 + [0] * 8 + [3] * 2
    message, result = warned(fastcmp.mcnemar, [0, 1] * 30, A, pred, missing="wrong")
    assert "pred_b (20.0%: 3)" in message
    assert result.n_outside == (0, 2)
    assert not fastcmp.mcnemar([0, 1] * 30, A, [None] * 60, missing="wrong").n_outside
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
    found = fastcmp.compare_all(y_true, list(preds)).n_outside
    assert found == (expected if any(expected) else ())


# The truth among the models, or not in its place.


@cache
def frame():
    return pd.DataFrame({"y_true": Y, "svm": A, "knn": B})


def truth_among_models():
    f, rows = pd.DataFrame({"y_true": Y, "svm": A, "knn": B}), np.stack([Y, A, B])
    numbered = f.T.reset_index(drop=True).T  # once: pandas 2 copies
    locked = rows[0].view()
    locked.flags.writeable = False  # as what pandas 3 gives of a series
    polars, truth = pl.from_pandas(f), f.y_true
    return [
        *((f.y_true, f), (f.y_true.to_numpy(), f), (polars["y_true"], polars)),
        (f.y_true.rename("gold"), f.rename(columns={"y_true": "gold"})),
        (truth, {"m": f.svm, "n": truth}),
        *((numbered[0], numbered), (rows[0], rows), (locked, rows)),
    ]


@pytest.mark.parametrize(
    "test", [fastcmp.compare_all, fastcmp.cochrans_q, fastcmp.compare_predictions]
)
def test_the_truth_among_the_models(test):
    wanted = "as the truth is: true labels come first|is y_true itself: leave it out"
    for given in truth_among_models():
        refuses(ValueError, wanted, test, *given)


def test_a_perfect_model_is_a_model():
    for perfect in (Y, Y.copy(), list(Y)):
        assert fastcmp.compare_all(Y, {"perfect": perfect, "b": B}).accuracy[0] == 1
    labels = Y.tolist()
    assert fastcmp.mcnemar(labels, labels, B.tolist()).accuracy_a == 1
    assert fastcmp.compare_all(frame().y_true, frame()[["svm"]].assign(oracle=Y)).accuracy[1] == 1


def test_names_that_tell_that_the_truth_is_not_first():
    with pytest.raises(ValueError, match="'pred_b' is called 'y_true', as the truth"):
        fastcmp.mcnemar(frame().svm, frame().knn, frame().y_true)
    mixed = frame().rename(columns={"svm": "pred_a", "knn": "pred_b"})
    with pytest.raises(ValueError, match="'pred_a' is called 'pred_a', as the truth"):
        fastcmp.mcnemar(mixed.pred_a, mixed.pred_b, mixed.y_true.rename("gold"))
    assert fastcmp.mcnemar(mixed.y_true, mixed.pred_a, mixed.pred_b).n_samples == 60


# Rows of pandas are not matched by position in silence.


def test_indexes_that_differ():
    """Of weights, clusters and features; those of labels and scores are a law of all functions."""
    truth, model = pd.Series(Y, index=np.arange(60) + 100), SimpleNamespace(fit=len, predict=len)
    for test in (
        lambda x: fastcmp.auc(truth, PROBA, sample_weight=x + 1),
        lambda x: fastcmp.delong(truth, {"a": A, "b": PROBA}, groups=x * 60 + 1),
        lambda x: fastcmp.compare_holdout(len, len, x.to_frame(), Y, truth),
        lambda x: fastcmp.compare_cv(model, model, x.to_frame("x"), truth),
    ):
        with pytest.raises(ValueError, match=r"have different indexes .*never matched"):
            test(pd.Series(A, index=np.arange(60)))
        with pytest.raises(ValueError, match=r"in another order: pass .*\.loc\[.*\.index\]"):
            test(pd.Series(A, index=truth.index[::-1]))


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
            fastcmp.compare_holdout(good, bad, X, X, Y)
    with pytest.raises(ValueError, match=r"pred_b holds .* which is no label of y_true"):
        fastcmp.compare_holdout(good, line.predict, X, X, Y)


# Tables.


def test_tables_of_counts():
    counted = fastcmp.mcnemar(only_a=16, only_b=3, both_right=873, both_wrong=7)
    table = [[873, 16], [3, 7]]
    for way in ({"table": np.array(table)}, {"table": table}):
        assert fastcmp.mcnemar(**way) == counted
    assert fastcmp.mcnemar(table=fastcmp.mcnemar_table(Y, A, B)) == fastcmp.mcnemar(Y, A, B)
    many = fastcmp.mcnemar(table=[[table, table[::-1]]] * 3)
    assert many.pvalue.shape == (3, 2)
    assert many.pvalue[2, 0] == counted.pvalue
    assert many.table[0, 1].tolist() == table[::-1]
    for options, wanted in (
        ({"only_a": [[1, 2, 3], [4, 5, 6]]}, "only_b must be .* or as table="),
        ({"table": [[1, 2, 3]]}, r"table must be .*2, 2\), got \(1, 3"),
        ({"only_a": 1, "only_b": 2, "table": table}, "a table holds all four"),
        ({"both_right": 1, "table": table}, "a table holds all four"),
        ({"table": [[1, -2], [3, 4]]}, "table must not be"),
        ({"both_right": 3}, "only_a must be whole numbers, got None"),
        ({}, "y_true and pred_a and pred_b must be given: .*, or table="),
    ):
        refuses((TypeError, ValueError), f"^{wanted}", fastcmp.mcnemar, **options)


# Blocks of a stream hold few labels: what is certain is refused.


@pytest.mark.parametrize("counts", [PairCounts, LabelCounts])
def test_blocks_of_a_stream(counts):
    with pytest.raises(ValueError, match=r"b holds 0.* which is no label of y_true"):
        counts().update(Y, {"a": A, "b": PROBA})
    few = counts().update(np.array([1, 1]), {"a": [1, 1], "b": [0, 2]})
    few.update(np.array([0.0, 0.5]), {"a": [0, 0.5], "b": [0, 0.25]})
    assert few.n_samples == 4
    refuses(ValueError, "true labels come first", counts().update, frame().y_true, frame())


def test_models_that_are_never_right_in_a_stream():
    counts = PairCounts()
    for part in np.split(np.arange(120), 4):
        truth = WORDS[part % 2]
        counts.update(truth, {"a": truth, "b": [word.upper() for word in truth]})
    with pytest.warns(UserWarning, match=r"^b \(1 of 2 models\) got none of 120 sam"):
        assert fastcmp.compare_all(counts=counts).best == ("a",)
    with pytest.warns(UserWarning, match="case, spaces, type"):
        fastcmp.cochrans_q(counts=counts)
