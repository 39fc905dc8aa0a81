"""Fitting models on shared splits: each once, with honest errors, whatever the data."""

import builtins
import pickle
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.cluster import KMeans
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import IsolationForest
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier

from fastcmp import compare_cv, compare_cv_all, designs
from fastcmp.crossval.fits import fit_models

NB, KNN = GaussianNB(), KNeighborsClassifier(3)


def simulate(n=60, n_classes=2, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(n_classes, size=n)
    return rng.normal(size=(n, 3)) + y[:, None], y


X, Y = simulate()
TWO_BY_TWO = designs.two_fold(2, blocked=True, rng=5)

#: What models were asked to do, by the name they were given.
DONE: dict[str, list] = {}


class Watched(ClassifierMixin, BaseEstimator):
    """Predict the most frequent class, and keep a record of all calls."""

    def __init__(self, name="a", random_state=None):
        self.name = name
        self.random_state = random_state

    def fit(self, X, y):
        self.classes_, counts = np.unique(y, return_counts=True)
        self.constant_ = self.classes_[counts.argmax()]
        rows = np.asarray(X)[:, 0].tobytes()
        DONE.setdefault(self.name, []).append((rows, self.random_state))
        return self

    def predict(self, X):
        return np.full(X.shape[0], self.constant_)


@pytest.fixture
def watched():
    DONE.clear()
    return Watched("a"), Watched("b")


def count_fits(watched, **options):
    DONE.clear()
    result = compare_cv(*watched, X, Y, rng=1, **options)
    assert len(DONE["a"]) == len(DONE["b"])
    assert [rows for rows, _ in DONE["a"]] == [rows for rows, _ in DONE["b"]]
    return len(DONE["a"]), result


# One fit a model and split.


@pytest.mark.parametrize(
    ("tests", "n_splits"),
    [
        (["bcv-mcnemar"], 10),
        (["bcv-mcnemar", "bcv-mcnemar"], 10),
        (["bcv-mcnemar", "calibrated-f"], 10),
        (["dietterich-t", "yildiz-t", "alpaydin-f"], 10),
        (["dietterich-t", "bcv-mcnemar"], 20),
        (["holdout-mcnemar", "proportion-z"], 1),
        (["resampled-t", "holdout-mcnemar", "proportion-z"], 15),
        (["holdout-mcnemar", "resampled-t"], 15),
        (["resampled-t", "nadeau-bengio-t"], 30),
        (["kfold-t", "bayle-z", "naive-mcnemar"], 10),
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
    ten = designs.kfold(10, rng=1)
    again = designs.repeated_kfold(3, 10, rng=1)
    other = designs.kfold(10, rng=2)
    fits, result = count_fits(watched, test="kfold-t", design=[ten, again, other, ten])
    assert fits == 30 + 10
    assert [run.design for run in result.runs.runs] == [ten, again, other, ten]
    first, second, _, fourth = (run.predictions for run in result.runs.runs)
    assert (first[:, 0] == second[:, 0]).all()
    assert (first == fourth).all()
    assert not (result.runs.runs[0].folds == result.runs.runs[2].folds).all()


def test_repetitions_are_never_merged(watched):
    # With as many folds as samples all repetitions have the same splits.
    DONE.clear()
    design = designs.repeated_kfold(2, 12, rng=1)
    compare_cv(*watched, X[:12], Y[:12], test="bouckaert-frank-t", design=design)
    assert len(DONE["a"]) == 24
    states = [state for _, state in DONE["a"]]
    assert len(set(states)) == 24


def test_another_test_costs_no_fit(watched):
    _, result = count_fits(watched, test=["bouckaert-t", "dietterich-t"])
    DONE.clear()
    for name in ("bouckaert-frank-t", "yildiz-t", "alpaydin-f", "bouckaert-t"):
        record = result.test(name)
        assert not DONE
        alone = compare_cv(*watched, X, Y, rng=1, test=name)
        assert record == alone.tests[name]
        DONE.clear()
    with pytest.raises(ValueError, match=r"'kfold-t' needs .*name it in test=\["):
        result.test("kfold-t")
    with pytest.raises(ValueError, match=r"fitted were 10 x 10-fold .*, 5 x 2-fold"):
        result.test("bcv-mcnemar")
    assert not DONE


def test_only_training_samples_are_seen(watched):
    count_fits(watched, test="bcv-mcnemar", design=TWO_BY_TWO)
    expect = [X[train, 0].tobytes() for train, _ in TWO_BY_TWO.split(X)]
    assert [rows for rows, _ in DONE["a"]] == expect


# Models and their random states.


def test_models_are_not_changed():
    fitted = DecisionTreeClassifier().fit(X, Y)
    tree, before = fitted.tree_, fitted.get_params()
    fresh = make_pipeline(StandardScaler(), ExtraTreeClassifier())
    compare_cv(fitted, fresh, X, Y, rng=1)
    assert fitted.tree_ is tree
    assert fitted.get_params() == before
    assert fresh[-1].random_state is None
    assert not hasattr(fresh[-1], "tree_")
    assert not hasattr(fresh[0], "mean_")


def test_random_states_are_shared_and_differ_between_splits(watched):
    count_fits(watched, test="bcv-mcnemar")
    assert DONE["a"] == DONE["b"]
    states = [state for _, state in DONE["a"]]
    assert len(set(states)) == 10
    assert all(type(state) is int and 0 <= state < 2**31 for state in states)


def test_random_states_do_not_depend_on_other_tests(watched):
    count_fits(watched, test="kfold-t")
    alone = set(DONE["a"])
    count_fits(watched, test=["dietterich-t", "bouckaert-t"])
    assert alone < set(DONE["a"])


@pytest.mark.parametrize("others", [["resampled-t"], ["bouckaert-t", "dietterich-t"]])
def test_random_models_alone_and_in_company(others):
    pair = ExtraTreeClassifier(max_depth=2), ExtraTreeClassifier(max_features=1)
    alone = compare_cv(*pair, X, Y, rng=1, test="kfold-t")
    among = compare_cv(*pair, X, Y, rng=1, test=[*others, "kfold-t"])
    assert among.tests["kfold-t"] == alone.tests["kfold-t"]
    assert (among.scores("kfold-t") == alone.scores()).all()


def test_given_random_states_are_kept():
    models = Watched("a", random_state=7), Watched("b", random_state=None)
    DONE.clear()
    compare_cv(*models, X, Y, rng=1)
    assert {state for _, state in DONE["a"]} == {7}
    assert 7 not in {state for _, state in DONE["b"]}


def test_random_states_within_pipelines(watched):
    plain = compare_cv(*watched, X, Y, rng=1)
    states = [state for _, state in DONE["a"]]
    DONE.clear()
    pair = [make_pipeline(StandardScaler(), model) for model in watched]
    nested = compare_cv(*pair, X, Y, rng=1)
    assert [state for _, state in DONE["a"]] == states
    assert (nested.scores() == plain.scores()).all()


def test_identical_random_models_never_differ():
    twin = ExtraTreeClassifier()
    result = compare_cv(twin, clone(twin), X, Y, rng=1, test=["kfold-t", "resampled-t"])
    assert result.pvalue == 1
    assert (result.tests["resampled-t"].estimate, result.statistic) == (0, 0)


def test_results_come_from_rng():
    pair = ExtraTreeClassifier(), ExtraTreeClassifier(max_depth=1)
    first, second = (compare_cv(*pair, X, Y, rng=3) for _ in range(2))
    assert first == second
    assert first.seed == second.seed
    other = compare_cv(*pair, X, Y, rng=4)
    assert first != other
    generators = [np.random.default_rng(3) for _ in range(2)]
    once, again = (compare_cv(*pair, X, Y, rng=rng) for rng in generators)
    assert once == again
    assert compare_cv(*pair, X, Y, rng=generators[0]) != once
    anyhow = compare_cv(*pair, X, Y)
    assert anyhow.seed != compare_cv(*pair, X, Y).seed
    # What is printed is enough to do it again.
    for result in (first, once, anyhow):
        assert f"seed {result.seed}" in str(result)
        assert compare_cv(*pair, X, Y, rng=result.seed) == result


@pytest.mark.full
@pytest.mark.parametrize("workers", [2, -1])
def test_any_number_of_processes(workers):
    pair = ExtraTreeClassifier(), make_pipeline(StandardScaler(), KNN)
    options = {"test": ["bcv-mcnemar", "kfold-t"], "rng": 1}
    options["scoring"] = None
    alone = compare_cv(*pair, X, Y, **options)
    seen = []
    result = compare_cv(*pair, X, Y, workers=workers, progress=lambda *a: seen.append(a), **options)
    assert result == alone
    assert seen == [(i + 1, 40) for i in range(40)]


@pytest.mark.full
def test_processes_score_and_fail_alike():
    options = {"test": "kfold-t", "design": designs.kfold(3, rng=1), "workers": 2}
    options["rng"] = 1
    scored = compare_cv(NB, KNN, X, Y, scoring="f1", **options)
    expect = compare_cv(NB, KNN, X, Y, scoring="f1", **(options | {"workers": 1}))
    assert scored == compare_cv(NB, KNN, X, Y, scoring="f1", **options)
    assert (scored.scores() == expect.scores()).all()
    greedy = KNeighborsClassifier(1000)
    # Whichever process is first.
    failed = r"model 'b' failed in repetition 0, fold [012]"
    with pytest.raises(RuntimeError, match=failed):
        compare_cv(NB, greedy, X, Y, **options)


# Predictors and labels of all kinds.


def frame_of(X):
    index = np.random.default_rng(0).permutation(1000)[: len(X)]
    return pd.DataFrame(X, columns=["x", "y", "z"], index=index)


SPLITS = {"test": ["bcv-mcnemar", "bayle-z"], "rng": 6}
LETTERS = np.array(["no", "yes"])[Y]


@pytest.mark.parametrize(
    "data",
    [
        X.tolist(),
        tuple(X.tolist()),
        np.asfortranarray(X),
        X.astype(np.float32).astype(float) * 0 + X,
        frame_of(X),
        pl.DataFrame(X, schema=["x", "y", "z"]),
    ],
    ids=["list", "tuple", "fortran", "copy", "pandas", "polars"],
)
def test_predictors(data):
    assert compare_cv(NB, KNN, data, Y, **SPLITS) == compare_cv(NB, KNN, X, Y, **SPLITS)


@pytest.mark.parametrize(
    "convert", [sparse.csr_matrix, sparse.coo_matrix, sparse.csc_array, sparse.coo_array]
)
def test_sparse_predictors(convert):
    counts = np.abs(X * 3).astype(int)
    pair = MultinomialNB(), DecisionTreeClassifier(max_depth=2)
    expect = compare_cv(*pair, counts, Y, **SPLITS)
    assert compare_cv(*pair, convert(counts), Y, **SPLITS) == expect


def test_texts():
    words = np.array(["alpha", "beta", "gamma", "delta"])
    rng = np.random.default_rng(1)
    texts = [" ".join(rng.choice(words[k : k + 3], size=6)) for k in Y]
    pair = [make_pipeline(TfidfVectorizer(), m) for m in (MultinomialNB(), KNN)]
    results = [
        compare_cv(*pair, data, LETTERS, **SPLITS)
        for data in (texts, np.array(texts), pd.Series(texts, index=Y))
    ]
    assert results[0] == results[1] == results[2]
    by_hand = TfidfVectorizer().fit(texts)  # the same vocabulary in each fold
    assert len(by_hand.vocabulary_) == 4
    assert results[0].scores().mean() > 0.6


def odd_series(labels):
    return pd.Series(labels, index=np.arange(len(labels))[::-1] * 7)


@pytest.mark.parametrize(
    "labels",
    [
        Y.tolist(),
        Y.astype(bool),
        Y.astype(bool).tolist(),
        Y.astype(float),
        Y.astype(np.uint8),
        LETTERS,
        LETTERS.tolist(),
        LETTERS.astype(object),
        odd_series(Y),
        odd_series(LETTERS),
        odd_series(pd.Categorical(LETTERS, categories=["no", "maybe", "yes"])),
        pl.Series(LETTERS),
        pl.Series(Y),
    ],
    ids=lambda labels: f"{type(labels).__name__}-{getattr(labels, 'dtype', '')}",
)
def test_labels(labels):
    result = compare_cv(NB, KNN, X, labels, **SPLITS)
    expect = compare_cv(NB, KNN, X, Y, **SPLITS)
    assert result.tests == expect.tests
    assert (result.scores() == expect.scores()).all()
    assert len(result.runs.classes) == 2


def test_categories_that_do_not_occur():
    labels = pd.Categorical(["a"] * 60, categories=["a", "b"])
    with pytest.raises(ValueError, match=r"y must have at least 2 classes, got \['a'\]"):
        compare_cv(NB, KNN, X, labels)


def test_groups_stay_together(watched):
    groups = np.arange(60) // 4
    count_fits(watched, test="bcv-mcnemar", groups=groups)
    group_of = {X[i : i + 1, 0].tobytes(): groups[i] for i in range(60)}
    for rows, _ in DONE["a"]:
        seen = {group_of[rows[i : i + 8]] for i in range(0, len(rows), 8)}
        assert sum(np.isin(groups, list(seen))) * 8 == len(rows)
    result = compare_cv(*watched, X, Y, groups=odd_series(groups), rng=1)
    folds = result.runs.runs[0].folds
    for group in range(15):
        assert (folds[:, groups == group] == folds[:, groups == group][:, :1]).all()


def test_stratified_splits():
    rare = np.zeros(60, int)
    rare[:6] = 1
    with pytest.raises(ValueError, match=r"repetition 0, fold .* one class only, of 2"):
        compare_cv(NB, KNN, X[:16], rare[5:21], rng=0)
    result = compare_cv(NB, KNN, X, rare, stratify=True, rng=1)
    (run,) = result.runs.runs
    assert run.design.stratify
    in_first = (run.folds[:, :6] == 0).sum(axis=1)
    assert (np.abs(in_first - 3) <= 1.5).all()
    assert str(run.design).endswith("stratified")
    given = designs.two_fold(5, blocked=True, stratify=True, rng=1)
    assert compare_cv(NB, KNN, X, rare, design=given).runs.runs[0].design == given


# Predictions of all kinds.


class Says(ClassifierMixin, BaseEstimator):
    """Predict what a function makes of the true labels, which X holds."""

    def __init__(self, answer=None):
        self.answer = answer

    def fit(self, _, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return self.answer(X[:, 0].astype(int))


TRUTH = np.column_stack([Y, Y])


def scores_of(answer, labels=Y, **options):
    pair = Says(answer), DummyClassifier()
    return compare_cv(*pair, TRUTH, labels, design=TWO_BY_TWO, **options).scores()[0]


@pytest.mark.parametrize(
    "answer",
    [
        lambda y: y[:, None],
        lambda y: y.astype(float),
        lambda y: y.astype(bool),
        lambda y: y.tolist(),
        lambda y: pd.Series(y, index=y),
        lambda y: pd.DataFrame({"label": y}),
        pl.Series,
        lambda y: y.astype(object),
        lambda y: y.astype(np.float32)[:, None],
    ],
)
def test_predictions_are_compared_by_value(answer):
    assert (scores_of(answer) == 1).all()


def test_labels_that_are_no_class_are_wrong():
    halves = [train for train, _ in TWO_BY_TWO.split(TRUTH)]
    assert all(0 < Y[train].sum() < train.size for train in halves)
    missing = scores_of(lambda y: np.where(y == 1, 1.0, np.nan))
    unknown = scores_of(lambda y: np.where(y == 1, 1, 17))
    assert (missing == unknown).all()
    assert missing.mean() == pytest.approx(Y.mean(), abs=0.05)
    nothing = scores_of(lambda y: [None] * len(y))
    assert (nothing == 0).all()
    text = scores_of(lambda y: np.where(y == 1, "1", "?"), labels=Y.astype(str))
    assert (text == missing).all()


def test_classes_never_trained_on():
    labels = np.array(["0", "1", "rare"])[np.where(np.arange(60) == 7, 2, Y)]
    result = compare_cv(NB, KNN, X, labels, design=TWO_BY_TWO)
    (run,) = result.runs.runs
    assert result.runs.classes == ("0", "1", "rare")
    train = run.folds[:, 7]
    right = run.predictions[:, :, 7] == 2
    assert train.min() >= 0
    assert not right.any()


# What is refused.


def run(*args, **options):
    return compare_cv(*args, **({"design": TWO_BY_TWO, "rng": 1} | options))


class Fails(Says):
    """Fail in one fold: where sample 3 is, or is not, trained on."""

    def __init__(self, where="fit", error=ZeroDivisionError, answer=None):
        self.where = where
        self.error = error
        self.answer = answer

    def fit(self, X, y):
        self.fitted_ = X.shape[0]
        self._check("fit", X)
        return super().fit(X, y)

    def predict(self, X):
        self._check("predict", X)
        return X[:, 0].astype(int)

    def _check(self, where, X):
        if where == self.where and 3 in X[:, 2]:
            message = "no way"
            raise self.error(message)


NUMBERED = np.column_stack([Y, Y, np.arange(60)])


@pytest.mark.parametrize("where", ["fit", "predict"])
def test_failures_name_the_place(where):
    fold = int(TWO_BY_TWO.folds(60)[0, 3])
    fold = 1 - fold if where == "fit" else fold
    message = (
        f"model 'bad' failed in repetition 0, fold {fold} of blocked 2 x 2-fold "
        "cross-validation: ZeroDivisionError: no way"
    )
    with pytest.raises(RuntimeError, match=message) as caught:
        run(NB, Fails(where), NUMBERED, Y, names=("good", "bad"))
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    with pytest.raises(RuntimeError, match=message):
        compare_cv_all({"good": NB, "bad": Fails(where)}, NUMBERED, Y, design=TWO_BY_TWO)


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
def test_interrupts_pass_through(error):
    with pytest.raises(error):
        run(NB, Fails("fit", error), NUMBERED, Y)


def test_a_progress_function_may_stop_the_work(watched):
    def stop(done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(*watched, X, Y, progress=stop)
    assert len(DONE["a"]) == 1
    assert "b" not in DONE


@pytest.mark.parametrize("score", [np.nan, np.inf])
def test_scores_must_be_finite(score):
    def bad(model, X, y):
        return score if isinstance(model, KNeighborsClassifier) else 1.0

    with pytest.raises(ValueError, match=f"model 'b' scored {score} in repetition 0, f"):
        compare_cv(NB, KNN, X, Y, test="kfold-t", scoring=bad)


def test_scorers_that_fail():
    def bad(model, X, y):
        return "high"

    for scoring in (bad, lambda *_: {"a": 1.0}, lambda _: 1.0):
        with pytest.raises(RuntimeError, match="model 'a' failed in repetition 0, fold"):
            compare_cv(NB, KNN, X, Y, test="kfold-t", scoring=scoring)
    with pytest.raises(ValueError, match="no-such-score"):
        compare_cv(NB, KNN, X, Y, test="kfold-t", scoring="no-such-score")
    for scoring in (7, ["f1"], {"f1": "f1"}):
        with pytest.raises(TypeError, match="scoring must be the name of a scorer of"):
            compare_cv(NB, KNN, X, Y, test="kfold-t", scoring=scoring)


class NoPredict(BaseEstimator):
    def fit(self, *_):
        return self


class Duck:
    """No relative of scikit-learn's."""

    def fit(self, _, y):
        self.answer = np.bincount(y).argmax()

    def predict(self, X):
        return [self.answer] * len(X)


@pytest.mark.parametrize(
    ("model", "what"),
    [
        (GaussianNB, "must be a classifier, got the class GaussianNB"),
        (LinearRegression(), r"must be a classifier, got LinearRegression\(\)"),
        (KMeans(), "must be a classifier, got KMeans"),
        (IsolationForest(), "must be a classifier, got IsolationForest"),
        (make_pipeline(StandardScaler(), LinearRegression()), "must be a classifier, g"),
        (StandardScaler(), "with methods fit and predict, got .* without predict"),
        (NoPredict(), "without predict"),
        ("knn", "got 'knn' without fit and predict"),
        (None, "got None without fit and predict"),
    ],
)
def test_no_classifiers(model, what):
    with pytest.raises(TypeError, match=f"model 'b' {what}|model 'b' .*{what}"):
        compare_cv(NB, model, X, Y)
    with pytest.raises(TypeError, match="model 'model_1' "):
        compare_cv_all([NB, model], X, Y)


def test_classifiers_of_another_kind():
    duck = Duck()
    result = run(duck, DummyClassifier(), X, Y)
    assert (result.scores()[0] == result.scores()[1]).all()
    assert not hasattr(duck, "answer")


def test_predictions_that_are_no_labels():
    cases = [
        (lambda y: y + 0.25, TypeError, "none of its predictions in repetition 0, fol"),
        (lambda y: y.astype(str), TypeError, "is a class of y, such as '[01]'"),
        (lambda y: y[:-1], ValueError, "one label a row, got 29 for 30 rows in repet"),
        (lambda y: np.zeros((len(y), 2)), ValueError, r"predictions of model 'a' in r"),
        (lambda _: 1, ValueError, "must be one-dimensional"),
        (lambda _: None, ValueError, "must be one-dimensional"),
    ]
    for answer, error, message in cases:
        with pytest.raises(error, match=message):
            scores_of(answer)


def test_training_sets_of_one_class():
    labels = np.repeat([0, 1], [58, 2])
    design = designs.two_fold(2, blocked=True, rng=0)
    for seed in range(20):
        design = designs.two_fold(2, blocked=True, rng=seed)
        alone = design.folds(60)[:, 58] == design.folds(60)[:, 59]
        if alone.any():
            break
    repetition = int(alone.argmax())
    fold = int(design.folds(60)[repetition, 58])
    message = (
        f"the training set of repetition {repetition}, fold {fold} of blocked 2 x "
        "2-fold cross-validation has one class only, of 2"
    )
    DONE.clear()
    with pytest.raises(ValueError, match=message):
        compare_cv(Watched("a"), Watched("b"), X, labels, design=design)
    assert not DONE  # before anything is fitted


@pytest.mark.parametrize(
    ("labels", "error", "message"),
    [
        (np.where(Y == 0, np.nan, 1.0), ValueError, "a missing one in row"),
        ([None, *Y[1:].tolist()], ValueError, "a missing one in row 0"),
        (pd.Series(LETTERS).where(np.arange(60) != 5), ValueError, "one in row 5"),
        (np.zeros(60, int), ValueError, r"at least 2 classes, got \[0\]"),
        (["x"] * 60, ValueError, r"at least 2 classes, got \['x'\]"),
        ([], ValueError, r"y must have at least 2 classes, got \[\]"),
        ([1, "1"] * 30, TypeError, "y mixes int and str labels"),
        (np.zeros((60, 2)), ValueError, "y must be one-dimensional"),
        (Y[:59], ValueError, "X has 60 rows, y has 59 labels"),
    ],
)
def test_bad_labels(labels, error, message):
    with pytest.raises(error, match=message):
        compare_cv(NB, KNN, X, labels)


def test_bad_predictors():
    for data in (X[:50], X[:50].tolist(), sparse.coo_array(X[:50]), frame_of(X[:50])):
        with pytest.raises(ValueError, match="X has 50 rows, y has 60 labels"):
            compare_cv(NB, KNN, data, Y)
    for data in (None, 5, np.array(5)):
        with pytest.raises(TypeError, match="X must hold one row a sample"):
            compare_cv(NB, KNN, data, Y)


def test_too_few_samples():
    with pytest.raises(ValueError, match=r"n must be at least 8 for blocked 5 x 2.*got 6"):
        compare_cv(NB, KNN, X[:6], [0, 1] * 3)
    with pytest.raises(ValueError, match=r"n must be at least 10 for 10-fold .* got 8"):
        compare_cv(NB, KNN, X[:8], [0, 1] * 4, test="kfold-t")
    with pytest.raises(ValueError, match=r"groups must number at least 8 .* got 3"):
        compare_cv(NB, KNN, X, Y, groups=np.arange(60) % 3)
    with pytest.raises(ValueError, match="groups must hold one label for each of 60"):
        compare_cv(NB, KNN, X, Y, groups=np.arange(59))


# Progress, and life without the extras.


def test_progress_counts_to_the_last_fit():
    seen = []
    run(NB, KNN, X, Y, progress=lambda done, total: seen.append((done, total)))
    assert seen == [(i + 1, 8) for i in range(8)]
    with pytest.raises(TypeError, match="progress must be True, a function or None"):
        run(NB, KNN, X, Y, progress=3)


def test_progress_bar(capfd):
    silent = run(NB, KNN, X, Y, progress=False)
    assert run(NB, KNN, X, Y, progress=True) == silent
    assert capfd.readouterr().out == ""


@pytest.mark.parametrize("package", ["sklearn", "joblib"])
def test_without_scikit_learn(monkeypatch, package):
    real = builtins.__import__

    def refuse(name, *args, **options):
        if name.partition(".")[0] == package:
            raise ImportError(name)
        return real(name, *args, **options)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(ImportError, match=r"pip install 'fastcmp\[cv\]'"):
        compare_cv(NB, KNN, X, Y)
    with pytest.raises(ImportError, match=r"pip install 'fastcmp\[cv\]'"):
        compare_cv_all([NB, KNN], X, Y)


def test_extras_are_imported_late():
    import subprocess

    code = (
        "import sys, fastcmp\n"
        "from fastcmp import compare_cv, compare_cv_all, CVComparison\n"
        "print({'sklearn', 'joblib', 'pandas'} & set(sys.modules))\n"
    )
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout == "set()\n", done.stderr


# The record of all predictions.


def test_predictions_by_hand():
    design = designs.paired_halves(2, 2, test_size=7, rng=2)
    runs = fit_models([("nb", NB), ("knn", KNN)], X, LETTERS, [design], seed=9)
    (run,) = runs.runs
    assert runs.classes == ("no", "yes")
    assert run.folds.shape == (10, 60)
    assert run.predictions.shape == (2, 10, 60)
    assert run.scores is None
    for at, model in enumerate((NB, KNN)):
        for row, (train, test) in enumerate(design.split(X)):
            labels = clone(model).fit(X[train], LETTERS[train]).predict(X[test])
            expect = np.full(60, -1)
            expect[test] = labels == "yes"
            assert (run.predictions[at, row] == expect).all()
            share = (labels == LETTERS[test]).mean()
            assert runs.scores(run)[at, row, 0] == share
    first_train, first_test = next(iter(design.split(X)))
    assert (run.n_train, run.n_test) == (first_train.size, first_test.size)
    whole = runs.scores(run)[:, :2].mean(axis=(1, 2))
    np.testing.assert_allclose(runs.means(run), whole, rtol=1e-14)


def test_means_that_are_equal_stay_equal():
    # 0.1 + 0.2 is not 0.3, and models that are right as often must tie.
    n = 40
    labels = np.arange(n) % 2
    design = designs.kfold(4, rng=0)
    folds = design.folds(n)[0]
    wrong = np.zeros((2, n), int)
    wrong[0, np.flatnonzero(folds == 0)[:9]] = 1
    wrong[0, np.flatnonzero(folds == 1)[:8]] = 1
    wrong[0, np.flatnonzero(folds == 2)[:7]] = 1
    wrong[1, np.flatnonzero(folds == 1)[:10]] = 1
    wrong[1, np.flatnonzero(folds == 2)[:10]] = 1
    wrong[1, np.flatnonzero(folds == 3)[:4]] = 1
    data = np.column_stack([labels, labels ^ wrong[0], labels ^ wrong[1]])
    pair = [make_pipeline(Column(i), Says(lambda y: y)) for i in (1, 2)]
    result = compare_cv(*pair, data, labels, test="kfold-t", design=design)
    (run,) = result.runs.runs
    first, second = result.runs.means(run)
    assert first == second == 0.4
    assert "score the same on average" in str(result)
    several = compare_cv_all(pair, data, labels, test="kfold-t", design=design)
    assert several.leaderboard.rank.tolist() == [1, 1]


class Column(BaseEstimator):
    def __init__(self, which=0):
        self.which = which

    def fit(self, *_):
        self.fitted_ = True
        return self

    def transform(self, X):
        return X[:, [self.which]]


def test_records_print_compare_and_travel():
    result = run(NB, KNN, X, Y)
    (one,) = result.runs.runs
    assert str(one) == "blocked 2 x 2-fold cross-validation\n2 models on 4 splits of 60 samples"
    assert "2 models, 60 samples of 2 classes, scored by accuracy" in str(result.runs)
    assert pickle.loads(pickle.dumps(result)) == result
    assert result.runs == run(NB, KNN, X, Y).runs
    assert result.runs != run(KNN, NB, X, Y).runs
    assert result != result.runs
