"""Fitting models on shared splits: each once, with honest errors, whatever the data."""

import builtins
from functools import cache

import numpy as np
import pytest

from fastcmp import compare_cv, compare_cv_all, designs


@cache
def data():
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=60)
    return rng.normal(size=(60, 3)) + y[:, None], y


def kit():
    """The classifiers; importing scikit-learn takes a second."""
    import cv_models

    return cv_models


def two_by_two():
    return designs.two_fold(2, blocked=True, rng=5)


@pytest.fixture
def watched():
    kit().DONE.clear()
    return kit().Watched("a"), kit().Watched("b")


def count_fits(watched, **options):
    done = kit().DONE
    done.clear()
    result = compare_cv(*watched, *data(), rng=1, **options)
    assert len(done["a"]) == len(done["b"])
    assert [rows for rows, _ in done["a"]] == [rows for rows, _ in done["b"]]
    return len(done["a"]), result


def states():
    return [state for _, state in kit().DONE["a"]]


# One fit a model and split.


@pytest.mark.parametrize(
    ("tests", "n_splits"),
    [
        (["bcv-mcnemar", "calibrated-f", "bcv-mcnemar"], 10),
        (["dietterich-t", "yildiz-t", "alpaydin-f"], 10),
        (["dietterich-t", "bcv-mcnemar"], 20),
        (["holdout-mcnemar", "proportion-z"], 1),
        (["holdout-mcnemar", "resampled-t"], 15),
        (["kfold-t", "bouckaert-t", "naive-mcnemar", "bouckaert-frank-t"], 100),
        (["nadeau-bengio-t", "conservative-z"], 15 * 21),
        (["blocked-t"], 6),
    ],
)
def test_one_fit_for_each_model_and_split(watched, tests, n_splits):
    fits, result = count_fits(watched, test=tests)
    assert fits == n_splits
    assert list(result.tests) == list(dict.fromkeys(tests))


def test_splits_are_shared_as_they_are(watched):
    ten, other = (designs.kfold(10, rng=seed) for seed in (1, 2))
    again = designs.repeated_kfold(3, 10, rng=1)
    fits, result = count_fits(watched, test="kfold-t", design=[ten, again, other, ten])
    assert fits == 30 + 10
    assert [run.design for run in result.runs.runs] == [ten, again, other, ten]
    first, second, _, fourth = (run.predictions for run in result.runs.runs)
    assert (first[:, 0] == second[:, 0]).all()
    assert (first == fourth).all()
    assert not (result.runs.runs[0].folds == result.runs.runs[2].folds).all()


def test_repetitions_are_never_merged(watched):
    # With as many folds as samples all repetitions have the same splits.
    X, y = data()
    design = designs.repeated_kfold(2, 12, rng=1)
    compare_cv(*watched, X[:12], y[:12], test="bouckaert-frank-t", design=design)
    assert len(set(states())) == len(states()) == 24


def test_another_test_costs_no_fit(watched):
    _, result = count_fits(watched, test=["bouckaert-t", "dietterich-t"])
    kit().DONE.clear()
    for name in ("bouckaert-frank-t", "yildiz-t", "alpaydin-f", "bouckaert-t"):
        record = result.test(name)
        assert not kit().DONE
        assert record == compare_cv(*watched, *data(), rng=1, test=name).tests[name]
        kit().DONE.clear()
    with pytest.raises(ValueError, match=r"'kfold-t' needs .*name it in test=\["):
        result.test("kfold-t")
    with pytest.raises(ValueError, match=r"fitted were 10 x 10-fold .*, 5 x 2-fold"):
        result.test("bcv-mcnemar")
    assert not kit().DONE


def test_only_training_samples_are_seen(watched):
    X, _ = data()
    count_fits(watched, test="bcv-mcnemar", design=two_by_two())
    expect = [X[train, 0].tobytes() for train, _ in two_by_two().split(X)]
    assert [rows for rows, _ in kit().DONE["a"]] == expect


# Models and their random states.


def test_a_progress_function_is_told_and_may_stop_the_work(watched, capfd):
    seen, options = [], {"design": two_by_two(), "rng": 1}
    pair = kit().NB, kit().KNN
    silent = compare_cv(*pair, *data(), progress=lambda *steps: seen.append(steps), **options)
    assert seen == [(i + 1, 8) for i in range(8)]
    assert compare_cv(*pair, *data(), progress=True, **options) == silent
    assert capfd.readouterr().out == ""

    def stop(done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        compare_cv(*watched, *data(), progress=stop)
    assert len(kit().DONE["a"]) == 1
    assert "b" not in kit().DONE


def test_models_are_not_changed():
    k = kit()
    fitted = k.ExtraTreeClassifier().fit(*data())
    tree, before = fitted.tree_, fitted.get_params()
    fresh = k.make_pipeline(k.StandardScaler(), k.ExtraTreeClassifier())
    compare_cv(fitted, fresh, *data(), rng=1, design=two_by_two())
    assert fitted.tree_ is tree
    assert fitted.get_params() == before
    assert fresh[-1].random_state is None
    assert not hasattr(fresh[-1], "tree_")


def test_random_states_are_shared_and_differ_between_splits(watched):
    plain = count_fits(watched, test="bcv-mcnemar")[1]
    assert kit().DONE["a"] == kit().DONE["b"]
    found = states()
    assert len(set(found)) == 10
    assert all(type(state) is int and 0 <= state < 2**31 for state in found)
    pair = [kit().make_pipeline(kit().StandardScaler(), model) for model in watched]
    _, nested = count_fits(pair, test="bcv-mcnemar")
    assert states() == found
    assert (nested.scores() == plain.scores()).all()


@pytest.mark.full
@pytest.mark.parametrize("workers", [2, -1])
def test_any_number_of_processes(workers):
    k, seen = kit(), []
    pair = k.ExtraTreeClassifier(), k.make_pipeline(k.StandardScaler(), k.KNN)
    options = {"test": ["bcv-mcnemar", "kfold-t"], "rng": 1, "scoring": None}
    alone = compare_cv(*pair, *data(), **options)
    options |= {"workers": workers, "progress": lambda *a: seen.append(a)}
    assert compare_cv(*pair, *data(), **options) == alone
    assert seen == [(i + 1, 40) for i in range(40)]


@pytest.mark.full
def test_processes_score_and_fail_alike():
    k = kit()
    options = {"test": "kfold-t", "design": designs.kfold(3, rng=1), "rng": 1}
    one = compare_cv(k.NB, k.KNN, *data(), scoring="f1", **options)
    assert compare_cv(k.NB, k.KNN, *data(), scoring="f1", workers=2, **options) == one
    greedy = type(k.KNN)(1000)
    # Whichever process is first.
    with pytest.raises(RuntimeError, match=r"model 'b' failed in repetition 0, fold [012]"):
        compare_cv(k.NB, greedy, *data(), workers=2, **options)


# Predictors and labels of all kinds.

SPLITS = {"test": ["bcv-mcnemar", "bayle-z"], "rng": 6}


def made(kind, x):
    """Predictors or labels as a library has them; rows of pandas in no order."""
    import pandas as pd
    import polars as pl
    from scipy import sparse

    index = np.random.default_rng(0).permutation(1000)[: len(x)]
    words = np.array(["no", "yes"])
    return {
        "list": x.tolist,
        "frame": lambda: pd.DataFrame(x, index=index),
        "polars": lambda: pl.DataFrame(x) if x.ndim > 1 else pl.Series(x),
        "csr": lambda: sparse.csr_matrix(x),
        "coo": lambda: sparse.coo_array(x),
        "bool": lambda: x.astype(bool),
        "objects": lambda: words[x].astype(object),
        "series": lambda: pd.Series(words[x], index=index),
        "categories": lambda: pd.Series(pd.Categorical(words[x], ["no", "maybe", "yes"])),
    }[kind]()


@pytest.mark.parametrize("kind", ["list", "frame", "polars", "csr", "coo"])
def test_predictors(kind):
    from sklearn.naive_bayes import MultinomialNB

    X, y = data()
    counts = np.abs(X * 3).astype(int)
    pair = MultinomialNB(), kit().STUMP
    expect = compare_cv(*pair, counts, y, **SPLITS)
    assert compare_cv(*pair, made(kind, counts), y, **SPLITS) == expect


@pytest.mark.parametrize("kind", ["list", "bool", "objects", "series", "categories", "polars"])
def test_labels(kind):
    X, y = data()
    result, expect = (compare_cv(kit().NB, kit().KNN, X, x, **SPLITS) for x in (made(kind, y), y))
    assert result.tests == expect.tests
    assert (result.scores() == expect.scores()).all()
    assert len(result.runs.classes) == 2


def test_groups_stay_together(watched):
    X, _ = data()
    groups = np.arange(60) // 4
    count_fits(watched, test="bcv-mcnemar", groups=groups)
    group_of = {X[i : i + 1, 0].tobytes(): groups[i] for i in range(60)}
    for rows, _ in kit().DONE["a"]:
        seen = {group_of[rows[i : i + 8]] for i in range(0, len(rows), 8)}
        assert sum(np.isin(groups, list(seen))) * 8 == len(rows)


def test_stratified_splits():
    X, rare = data()[0], np.array([1] * 6 + [0] * 54)
    with pytest.raises(ValueError, match=r"repetition 0, fold .* one class only, of 2"):
        compare_cv(kit().NB, kit().KNN, X[:16], rare[5:21], rng=0)
    (run,) = compare_cv(kit().NB, kit().KNN, X, rare, stratify=True, rng=1).runs.runs
    assert run.design.stratify
    in_first = (run.folds[:, :6] == 0).sum(axis=1)
    assert (np.abs(in_first - 3) <= 1.5).all()


# Predictions of all kinds.


def scores_of(answer, labels=None):
    y = data()[1]
    pair, truth = (kit().Says(answer), kit().DummyClassifier()), np.column_stack([y, y])
    labels = y if labels is None else labels
    return compare_cv(*pair, truth, labels, design=two_by_two()).scores()[0]


@pytest.mark.parametrize("kind", ["column", "list", "bool", "series", "polars"])
def test_predictions_are_compared_by_value(kind):
    import pandas as pd

    def answer(y):
        if kind == "column":
            return y.astype(np.float32)[:, None]
        return pd.Series(y, index=y) if kind == "series" else made(kind, y)

    assert (scores_of(answer) == 1).all()


def test_labels_that_are_no_class_are_wrong():
    y = data()[1]
    missing = scores_of(lambda y: np.where(y == 1, 1.0, np.nan))
    unknown = scores_of(lambda y: np.where(y == 1, 1, 17))
    assert (missing == unknown).all()
    assert missing.mean() == pytest.approx(y.mean(), abs=0.05)
    assert (scores_of(lambda y: [None] * len(y)) == 0).all()
    text = scores_of(lambda y: np.where(y == 1, "1", "?"), labels=y.astype(str))
    assert (text == missing).all()


def test_classes_never_trained_on():
    X, y = data()
    labels = np.array(["0", "1", "rare"])[np.where(np.arange(60) == 7, 2, y)]
    result = compare_cv(kit().NB, kit().KNN, X, labels, design=two_by_two())
    (run,) = result.runs.runs
    assert result.runs.classes == ("0", "1", "rare")
    assert run.folds[:, 7].min() >= 0
    assert not (run.predictions[:, :, 7] == 2).any()


# What is refused.


@pytest.mark.parametrize("where", ["fit", "predict"])
def test_failures_name_the_place(where):
    y = data()[1]
    numbered = np.column_stack([y, y, np.arange(60)])
    fold = int(two_by_two().folds(60)[0, 3])
    fold = 1 - fold if where == "fit" else fold
    message = (
        f"model 'bad' failed in repetition 0, fold {fold} of blocked 2 x 2-fold "
        "cross-validation: ZeroDivisionError: no way"
    )
    models = {"good": kit().NB, "bad": kit().Fails(where)}
    with pytest.raises(RuntimeError, match=message) as caught:
        compare_cv(*models.values(), numbered, y, names=("good", "bad"), design=two_by_two())
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    with pytest.raises(RuntimeError, match=message):
        compare_cv_all(models, numbered, y, design=two_by_two())
    for error in (KeyboardInterrupt, SystemExit):
        with pytest.raises(error):
            compare_cv(kit().NB, kit().Fails(where, error), numbered, y, design=two_by_two())


def test_scorers_that_fail():
    pair, options = (kit().NB, kit().KNN), {"test": "kfold-t"}

    def knn_has_none(model, *_):
        return np.nan if isinstance(model, type(kit().KNN)) else 1.0

    for scoring, error, message in (
        (knn_has_none, ValueError, "model 'b' scored nan in repetition 0, fold"),
        (lambda *_: "high", RuntimeError, "model 'a' failed in repetition 0, fold"),
        (lambda *_: {"a": 1.0}, RuntimeError, "model 'a' failed in repetition 0, fold"),
        (lambda _: 1.0, RuntimeError, "model 'a' failed in repetition 0, fold"),
        ("no-such-score", ValueError, "no-such-score"),
        (["f1"], TypeError, "scoring must be the name of a scorer of"),
    ):
        with pytest.raises(error, match=message):
            compare_cv(*pair, *data(), scoring=scoring, **options)


def test_no_classifiers():
    from sklearn.linear_model import LinearRegression

    k = kit()
    scaler = k.StandardScaler()
    for model, what in (
        (type(k.NB), "must be a classifier, got the class GaussianNB"),
        (LinearRegression(), r"must be a classifier, got LinearRegression\(\)"),
        (k.make_pipeline(scaler, LinearRegression()), "must be a classifier, g"),
        (scaler, ".*with methods fit and predict, got .* without predict"),
        ("knn", ".*got 'knn' without fit and predict"),
    ):
        with pytest.raises(TypeError, match=f"model 'b' {what}"):
            compare_cv(k.NB, model, *data())
        with pytest.raises(TypeError, match="model 'model_1' "):
            compare_cv_all([k.NB, model], *data())


def test_classifiers_of_another_kind():
    class Duck:
        """No relative of scikit-learn's."""

        def fit(self, _, y):
            self.answer = np.bincount(y).argmax()

        def predict(self, X):
            return [self.answer] * len(X)

    scores = compare_cv(Duck(), kit().DummyClassifier(), *data(), design=two_by_two()).scores()
    assert (scores[0] == scores[1]).all()


@pytest.mark.parametrize(
    ("answer", "error", "message"),
    [
        (lambda y: y + 0.25, TypeError, "none of its predictions in repetition 0, fol"),
        (lambda y: y.astype(str), TypeError, r"is a class of y, such as '[01]'"),
        (lambda y: y[:-1], ValueError, "one label a row, got 29 for 30 rows in repet"),
        (lambda y: np.zeros((len(y), 2)), ValueError, r"predictions of model 'a' in r"),
    ],
)
def test_predictions_that_are_no_labels(answer, error, message):
    with pytest.raises(error, match=message):
        scores_of(answer)


def test_training_sets_of_one_class(watched):
    labels = np.repeat([0, 1], [58, 2])
    for seed in range(20):
        design = designs.two_fold(2, blocked=True, rng=seed)
        folds = design.folds(60)
        alone = folds[:, 58] == folds[:, 59]
        if alone.any():
            break
    at = int(alone.argmax())
    message = f"training set of repetition {at}, fold {folds[at, 58]} of .* one class only, of 2"
    with pytest.raises(ValueError, match=message):
        compare_cv(*watched, data()[0], labels, design=design)
    assert not kit().DONE  # before anything is fitted


def test_bad_labels_and_predictors():
    X, y = data()
    for x, labels, message in (
        (X, np.where(y == 0, np.nan, 1.0), "a missing one in row"),
        (X, ["x"] * 60, r"at least 2 classes, got \['x'\]"),
        (X, y[:59], "X has 60 rows, y has 59 labels"),
        (made("list", X[:50]), y, "X has 50 rows, y has 60 labels"),
        (made("coo", X[:50]), y, "X has 50 rows, y has 60 labels"),
        (made("frame", X[:50]), y, "X has 50 rows, y has 60 labels"),
        (X[:6], [0, 1] * 3, r"n must be at least 8 for blocked 5 x 2.*got 6"),
        (5, y, "X must hold one row a sample"),
    ):
        with pytest.raises((TypeError, ValueError), match=message):
            compare_cv(kit().NB, kit().KNN, x, labels)
    with pytest.raises(ValueError, match=r"groups must number at least 8 .* got 3"):
        compare_cv(kit().NB, kit().KNN, X, y, groups=np.arange(60) % 3)


# Progress, and life without the extras.


@pytest.mark.parametrize("package", ["sklearn", "joblib"])
def test_without_scikit_learn(monkeypatch, package):
    pair, real = [kit().NB, kit().KNN], builtins.__import__

    def refuse(name, *args, **options):
        if name.partition(".")[0] == package:
            raise ImportError(name)
        return real(name, *args, **options)

    monkeypatch.setattr(builtins, "__import__", refuse)
    for call in (lambda: compare_cv(*pair, *data()), lambda: compare_cv_all(pair, *data())):
        with pytest.raises(ImportError, match=r"pip install 'fastcmp\[cv\]'"):
            call()


# The record of all predictions.


def test_predictions_by_hand():
    from sklearn.base import clone

    X, y = data()
    letters = np.array(["no", "yes"])[y]
    design = designs.paired_halves(2, 2, test_size=7, rng=2)
    models = kit().NB, kit().KNN
    runs = compare_cv(*models, X, letters, test="conservative-z", design=design, rng=9).runs
    (run,) = runs.runs
    assert runs.classes == ("no", "yes")
    assert run.folds.shape == (10, 60)
    assert run.predictions.shape == (2, 10, 60)
    for at, model in enumerate(models):
        for row, (train, test) in enumerate(design.split(X)):
            labels = clone(model).fit(X[train], letters[train]).predict(X[test])
            expect = np.full(60, -1)
            expect[test] = labels == "yes"
            assert (run.predictions[at, row] == expect).all()
            assert runs.scores(run)[at, row, 0] == (labels == letters[test]).mean()
    first_train, first_test = next(iter(design.split(X)))
    assert (run.n_train, run.n_test) == (first_train.size, first_test.size)
    whole = runs.scores(run)[:, :2].mean(axis=(1, 2))
    np.testing.assert_allclose(runs.means(run), whole, rtol=1e-14)


def test_means_that_are_equal_stay_equal():
    # 0.1 + 0.2 is not 0.3, and models that are right as often must tie.
    labels = np.arange(40) % 2
    design = designs.kfold(4, rng=0)
    columns = [labels]
    for wrong in ((9, 8, 7, 0), (0, 10, 10, 4)):
        flipped = labels.copy()
        for fold, times in enumerate(wrong):
            flipped[np.flatnonzero(design.folds(40)[0] == fold)[:times]] ^= 1
        columns.append(flipped)
    X = np.column_stack(columns)
    pair = [kit().Says(np.array, column) for column in (1, 2)]
    result = compare_cv(*pair, X, labels, test="kfold-t", design=design)
    assert result.runs.means(result.runs.runs[0]).tolist() == [0.4, 0.4]
    assert "score the same on average" in str(result)
    several = compare_cv_all(pair, X, labels, test="kfold-t", design=design)
    assert several.leaderboard.rank.tolist() == [1, 1]
