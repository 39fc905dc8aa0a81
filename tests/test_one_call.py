"""`fastcmp.compare`: what it takes data for, and that the call it names gives the same."""

import json

import numpy as np
import pytest
from libraries import pa, pd, pl, sklearn

import fastcmp
from fastcmp.data import example_path, logs_path
from fastcmp.stream import PairCounts, ValueMoments

RNG = np.random.default_rng(4)
N = 60
Y = RNG.integers(0, 3, N)
PREDS = {name: np.where(RNG.random(N) < 0.7, Y, (Y + 1) % 3) for name in "abc"}
TWO = {name: PREDS[name] for name in "ab"}
BINARY = RNG.integers(0, 2, N)
SCORES = {name: 0.3 * BINARY + 0.7 * RNG.random(N) for name in "abc"}
VALUES = {name: RNG.random(N) for name in "abc"}
GROUPS = np.arange(N) // 3
LONG = {
    "model": np.repeat(list("ab"), 20),
    "item": np.tile(np.arange(20), 2),
    "score": RNG.random(40),
}
TASKS = [f"task {i}" for i in range(12)]
TABLE = {"dataset": TASKS, **{name: RNG.random(12) for name in "abc"}}
FOLDS = {x: {"test_score": RNG.random(10), "fit_time": np.ones(10)} for x in "ab"}
COST = 1.0 - np.eye(3)

#: What is passed, the function that is chosen, and what the data are taken for.
CASES = {
    "labels": ({"data": PREDS, "y_true": Y}, "compare_all", "labels that 3"),
    "truth first": ({"data": Y, "preds": PREDS}, "compare_all", "labels that 3"),
    "an array": ({"data": np.array(list(PREDS.values())), "y_true": Y}, "compare_all", "labels"),
    "two models": ({"data": TWO, "y_true": Y, "margin": 0.1}, "compare_labels", "labels that 2"),
    "two, clusters": ({"data": TWO, "y_true": Y, "groups": GROUPS}, "compare_all", "labels"),
    "a metric": ({"data": PREDS, "y_true": Y, "measure": "MCC"}, "compare_all", "labels"),
    "a metric of two": ({"data": TWO, "y_true": Y, "measure": "mcc"}, "compare_metric", "labels"),
    "costs": ({"data": PREDS, "y_true": Y, "measure": "cost", "cost": COST}, "compare_all", ""),
    "a control": ({"data": PREDS, "y_true": Y, "control": "b"}, "compare_all", "labels"),
    "areas": ({"data": SCORES, "y_true": BINARY}, "delong", "scores of 3"),
    "clustered areas": ({"data": SCORES, "y_true": BINARY, "groups": GROUPS}, "delong", "scores"),
    "two areas": (
        {"data": {x: SCORES[x] for x in "ab"}, "y_true": BINARY, "alternative": "greater"},
        "delong",
        "scores of 2",
    ),
    "Brier": (
        {"data": SCORES, "y_true": BINARY, "measure": "Brier"},
        "compare_means(fastcmp.brier_values",
        "scores",
    ),
    "values": ({"data": VALUES, "groups": GROUPS}, "compare_means", "values of the same items"),
    "right or wrong": ({"data": [BINARY, 1 - BINARY, BINARY]}, "compare_means", "right and wrong"),
    "two of values": (
        {"data": {x: VALUES[x] for x in "ab"}, "lower_is_better": True},
        "mean_difference",
        "values",
    ),
    "grades": ({"data": [Y, Y[::-1], Y + 1], "measure": "mean"}, "compare_means", "values"),
    "answers": (
        {"data": RNG.random((2, 20, 3)), "measure": "mean"},
        "compare_means",
        "several answers",
    ),
    "folds": ({"data": RNG.random((2, 5, 3)), "measure": "folds"}, "compare_folds", "folds"),
    "scikit-learn": ({"data": FOLDS, "test_train_ratio": 1 / 9}, "compare_folds", "folds"),
    "a frame": (
        {"data": lambda: pd.DataFrame({**PREDS, "y_true": Y, "id": range(N)})},
        "compare_all",
        "labels that 3",
    ),
    "columns of a frame": (
        {"data": lambda: pl.DataFrame({**VALUES, "page": GROUPS}), "groups": "page"},
        "compare_means",
        "values",
    ),
    "a long table": (
        {"data": lambda: pa.table(LONG)},
        "compare_means(fastcmp.from_long",
        "a long table",
    ),
    "tasks": ({"data": lambda: pd.DataFrame(TABLE)}, "compare_datasets", "scores on data sets"),
    "counts": ({"data": lambda: PairCounts().update(Y, PREDS)}, "compare_all", "counts of 60"),
    "moments": ({"data": lambda: ValueMoments().update(VALUES)}, "compare_means", "values"),
    "estimates": (
        {"data": lambda: fastcmp.Estimates([1.0, 2.0, 3.0], [0.1, 0.1, 0.2])},
        "compare_means",
        "estimates of 3",
    ),
    "results": ({"data": lambda: fastcmp.read_results(logs_path())}, "", "logs of 4 models"),
    "logs": ({"data": logs_path()}, "read_results", "logs of 4 models"),
    "a file": ({"data": str(example_path("digits"))}, "compare_all", "labels that 10"),
}


@pytest.mark.parametrize("name", CASES)
def test_the_call_that_is_named_gives_the_same(name):
    given, function, taken_for = CASES[name]
    given = {key: value() if callable(value) else value for key, value in given.items()}
    answer = fastcmp.compare(**given)
    assert function in answer.call
    assert taken_for in answer.taken_for
    data, y_true = given["data"], given.get("y_true")
    if "preds" in given:
        data, y_true = given["preds"], data
    known = {**given, "data": data, "y_true": y_true, "fastcmp": fastcmp, "tasks": TASKS}
    if name == "a file":
        y_true, data = fastcmp.load_digits()
    if name == "a frame":
        y_true, data = Y, PREDS
    if name == "columns of a frame":
        data, known["groups"] = VALUES, GROUPS
    if name == "tasks":
        data = {x: TABLE[x] for x in "abc"}
    rows = list(data.values()) if isinstance(data, dict) else data
    known |= {"y_true": y_true, "values": data, "scores": data, "preds": data, "results": data}
    if "_b" in answer.call:
        known |= {"pred_a": rows[0], "pred_b": rows[1], "values_a": rows[0], "values_b": rows[1]}
    # The call is for a reader to type; here it is evaluated.
    assert eval(answer.call, known) == answer.result
    assert answer.pvalue is answer.result.pvalue or np.isfinite(answer.pvalue)


def test_the_first_lines_say_what_was_done():
    text = str(fastcmp.compare(TWO, y_true=Y))
    head = " ".join(text.split("Which model", maxsplit=1)[0].split())
    assert "Taken for labels that 2 models predicted." in head
    assert "McNemar's test, as the models labelled the same samples." in head
    assert "fastcmp.compare_labels(y_true, pred_a, pred_b, names=('a', 'b'))" in head
    for word in ("p-value", "95% CI", "accuracy of a", "Only a is right on"):
        assert word in text


def test_a_record_of_a_record_can_be_kept(tmp_path):
    answer = fastcmp.compare(PREDS, y_true=Y)
    assert fastcmp.from_dict(json.loads(json.dumps(answer.to_dict()))) == answer
    answer.report(tmp_path / "page.html")
    assert "Taken for labels" in (tmp_path / "page.html").read_text()
    assert list(answer.to_frame().columns) == list(answer.result.to_frame().columns)


def test_fitted_estimators():
    x = np.stack([BINARY + RNG.normal(size=N), RNG.normal(size=N)], axis=1)
    models = [
        sklearn.naive_bayes.GaussianNB().fit(x, BINARY),
        sklearn.dummy.DummyClassifier().fit(x, BINARY),
    ]
    preds = {type(model).__name__: model.predict(x) for model in models}
    answer = fastcmp.compare(models, x, BINARY)
    assert answer.result == fastcmp.compare(preds, y_true=BINARY).result
    assert answer.call.startswith("fastcmp.compare_labels(y_true, pred_a, pred_b")
    scores = {type(model).__name__: model.predict_proba(x)[:, 1] for model in models}
    areas = fastcmp.compare(models, x, BINARY, measure="auc")
    assert areas.result == fastcmp.delong(BINARY, scores).compare()
    with pytest.raises(TypeError, match="pass X and y"):
        fastcmp.compare(models, x)
    with pytest.raises(TypeError, match="predicts numbers"):
        fastcmp.compare([sklearn.linear_model.LinearRegression().fit(x, BINARY)] * 2, x, BINARY)
    with pytest.raises(TypeError, match="pass y_true="):
        fastcmp.compare(PREDS, x, BINARY)


def test_saved_states_and_battles(tmp_path):
    state = tmp_path / "counts.state"
    PairCounts().update(Y, PREDS).save(state)
    assert fastcmp.compare(state).result == fastcmp.compare_all(Y, PREDS)
    path = tmp_path / "battles.csv"
    path.write_text("model_a,model_b,winner\na,b,model_a\nb,c,model_b\nc,a,tie\na,b,model_b\n")
    assert "battles" in fastcmp.compare(path).taken_for


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"data": {"a": Y, "b": Y[::-1]}}, ValueError, "grades .* or labels"),
        ({"data": RNG.random((2, 5, 3))}, ValueError, "measure='mean' or measure='folds'"),
        ({"data": {"a": ["x", "y"], "b": ["y", "y"]}}, ValueError, "pass y_true="),
        ({"data": VALUES, "y_true": RNG.normal(size=N)}, ValueError, "regression"),
        ({"data": VALUES, "measure": "mcc"}, ValueError, "measure must be one of"),
        ({"data": PREDS, "y_true": Y, "measure": "no such"}, ValueError, "no such"),
        ({"data": PREDS, "y_true": Y, "weights": GROUPS}, TypeError, "weights= does not go"),
        ({"data": PREDS, "y_true": Y, "preds": PREDS}, TypeError, "not both"),
        ({"data": "no/such/file"}, FileNotFoundError, "no/such/file"),
    ],
)
def test_what_could_be_two_things_is_refused(given, error, message):
    with pytest.raises(error, match=message):
        fastcmp.compare(**given)
