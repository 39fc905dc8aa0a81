"""Estimators fitted as mlxtend fits them: the same numbers where it is right."""

from __future__ import annotations

import builtins
import sys
import warnings

import numpy as np
import pytest
from cases import refuses

from fastcmp.compat import mlxtend as ours


@pytest.fixture(autouse=True, scope="module")
def peers():
    """Import peers where the first test runs, not where tests are collected."""
    global theirs, metrics, clone, load_iris, make_classification  # noqa: PLW0603
    global make_regression, LinearRegression, GaussianNB, KNeighborsClassifier  # noqa: PLW0603
    global KNeighborsRegressor, DecisionTreeClassifier  # noqa: PLW0603
    from mlxtend import evaluate as theirs
    from sklearn import metrics
    from sklearn.base import clone
    from sklearn.datasets import load_iris, make_classification, make_regression
    from sklearn.linear_model import LinearRegression
    from sklearn.naive_bayes import GaussianNB
    from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
    from sklearn.tree import DecisionTreeClassifier


PAIRED = [
    ("paired_ttest_5x2cv", {}),
    ("combined_ftest_5x2cv", {}),
    ("paired_ttest_kfold_cv", {"cv": 7, "shuffle": True}),
    ("paired_ttest_kfold_cv", {}),
    ("paired_ttest_resampled", {"num_rounds": 6, "test_size": 0.4}),
    ("paired_ttest_resampled", {"num_rounds": 5, "test_size": 31}),
]


def classes(seed=0, n=120):
    return make_classification(n_samples=n, n_features=6, flip_y=0.2, random_state=seed)


@pytest.mark.parametrize("kind", range(6))
def test_the_same_splits_give_the_same_answer(kind):
    def own(estimator, X, y):
        return metrics.balanced_accuracy_score(y, estimator.predict(X))

    name, options = PAIRED[kind]
    for scoring, seed in [
        ((None, "f1", "neg_log_loss", own)[kind % 4], 17 * (kind // 3)),
        (own, 0),
    ]:
        X, y = classes(seed)
        models = GaussianNB(), DecisionTreeClassifier(max_depth=3, random_state=seed)
        given = {**options, "scoring": scoring, "random_seed": seed}
        got = getattr(ours, name)(*models, X, y, **given)
        expected = getattr(theirs, name)(*map(clone, models), X, y, **given)
        assert type(got) is type(expected) is tuple
        assert list(map(type, got)) == [float, float] == list(map(type, expected))
        assert got == pytest.approx(expected, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize(("name", "options"), PAIRED, ids=str)
def test_equal_models_are_not_different(name, options):
    given = (GaussianNB(), GaussianNB(), *classes())
    options = {**options, "random_seed": 1}
    assert getattr(ours, name)(*given, **options) == (0.0, 1.0)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            assert np.isnan(getattr(theirs, name)(*given, **options)).all()
        except ZeroDivisionError:
            assert name == "combined_ftest_5x2cv"


@pytest.mark.parametrize(("name", "options"), PAIRED, ids=str)
def test_frames_and_text_are_taken_and_models_left_alone(name, options):
    import pandas as pd

    X, y = classes()
    frame = pd.DataFrame(X, index=np.arange(len(X))[::-1])
    words = pd.Series(np.array(["no", "yes"])[y], index=frame.index)
    models = GaussianNB(), KNeighborsClassifier(3)
    got = getattr(ours, name)(*models, frame, words, random_seed=1, **options)
    expected = getattr(ours, name)(*models, X, y, random_seed=1, **options)
    assert got == expected
    assert not any(hasattr(model, "classes_") for model in models)


def test_no_fit_sees_what_it_is_scored_on():
    from sklearn.base import BaseEstimator, ClassifierMixin

    class Remembering(ClassifierMixin, BaseEstimator):
        """Knows every sample that it ever saw, as a warm start may."""

        def fit(self, X, y):
            self.classes_ = np.unique(y)
            known = getattr(self, "known_", {})
            self.known_ = {**known, **dict(zip(map(bytes, X), y, strict=True))}
            return self

        def predict(self, X):
            return np.array([self.known_.get(bytes(row), 0) for row in X])

    X, y = classes(n=200)
    t, p = ours.paired_ttest_kfold_cv(Remembering(), GaussianNB(), X, y, cv=5)
    assert p < 0.05
    leaked, _ = theirs.paired_ttest_kfold_cv(Remembering(), GaussianNB(), X, y, cv=5)
    assert t < 0 < leaked  # guesses on new samples; mlxtend's knows them from before


class Plain:
    """Says nothing of itself in scikit-learn's way."""

    def fit(self, X, y):
        assert len(X) == len(y)
        self.label = y[0]
        return self

    def predict(self, X):
        return np.full(len(X), self.label)


@pytest.mark.parametrize("name", ["paired_ttest_5x2cv", "bootstrap_point632_score"])
def test_without_scikit_learn(monkeypatch, name):
    real = builtins.__import__

    def refuse(module, *args, **options):
        if module.partition(".")[0] == "sklearn":
            raise ImportError(module)
        return real(module, *args, **options)

    monkeypatch.setattr(builtins, "__import__", refuse)
    for module in [m for m in sys.modules if m.partition(".")[0] == "sklearn"]:
        monkeypatch.setitem(sys.modules, module, None)
    models = [Plain(), Plain()] if name.startswith("paired") else [Plain()]
    with pytest.raises(ImportError, match=r"fastcmp\[cv\]"):
        getattr(ours, name)(*models, np.zeros((9, 1)), np.zeros(9))


# ---------------------------------------------------------------------- .632 and .632+


@pytest.mark.parametrize("seed", [0, 4])
def test_oob_is_mlxtends(seed):
    X, y = classes(seed)
    options = {"n_splits": 12, "method": "oob", "random_seed": seed}
    got = ours.bootstrap_point632_score(GaussianNB(), X, y, **options)
    expected = theirs.bootstrap_point632_score(GaussianNB(), X, y, **options)
    np.testing.assert_allclose(got, expected, rtol=1e-12)
    assert got.dtype == expected.dtype
    assert got.shape == expected.shape == (12,)


def by_definition(model, X, y, n_splits, seed, score, *, plus):
    """Efron and Tibshirani's (24) and (29)-(32), written out for errors."""
    n = len(y)
    states = np.random.RandomState(seed)
    left_out = []
    for _ in range(n_splits):
        rows = states.choice(np.arange(n), size=n, replace=True)
        out = np.array([i for i in range(n) if i not in set(rows)])
        fitted = clone(model).fit(X[rows], y[rows])
        left_out.append(1 - score(y[out], fitted.predict(X[out])))
    predicted = clone(model).fit(X, y).predict(X)
    apparent, error = 1 - score(y, predicted), np.mean(left_out)
    err632 = 0.368 * apparent + 0.632 * error
    if not plus:
        return 1 - err632
    gamma = np.mean([[1 - score([t], [p]) for t in y] for p in predicted])
    bounded = min(error, gamma)
    overfit = bounded > apparent and gamma > apparent
    rate = (bounded - apparent) / (gamma - apparent) if overfit else 0.0
    extra = (bounded - apparent) * 0.368 * 0.632 * rate / (1 - 0.368 * rate)
    return 1 - (err632 + extra)


@pytest.mark.parametrize("plus", [False, True])
@pytest.mark.parametrize("kind", ["bayes", "neighbour", "noise"])
def test_mean_is_efron_and_tibshiranis_estimate(kind, plus):
    X, y = classes(3, 60)
    model = GaussianNB() if kind == "bayes" else KNeighborsClassifier(1)
    if kind == "noise":  # no better than chance: R at its bound
        y = np.random.default_rng(8).integers(0, 2, 60)
    options = {"n_splits": 15, "method": ".632+" if plus else ".632", "random_seed": 2}
    got = ours.bootstrap_point632_score(model, X, y, **options)
    expected = by_definition(model, X, y, 15, 2, lambda t, p: np.mean(np.equal(t, p)), plus=plus)
    assert got.mean() == pytest.approx(expected, rel=1e-12)


def test_regression_and_probabilities():
    X, y = make_regression(n_samples=50, n_features=3, noise=20, random_state=1)
    model, options = KNeighborsRegressor(1), {"n_splits": 9, "random_seed": 2}
    got = ours.bootstrap_point632_score(model, X, y, method=".632+", **options)

    def score(t, p):  # its loss as an error: 1 - (1 - loss)
        return 1 - np.mean(np.subtract(t, p) ** 2)

    expected = by_definition(model, X, y, 9, 2, score, plus=True)
    assert got.mean() == pytest.approx(1 - expected, rel=1e-9)
    X, y = classes()
    options = {"n_splits": 5, "scoring_func": metrics.roc_auc_score, "predict_proba": True}
    for method in ("oob", ".632", ".632+"):
        options |= {"method": method, "random_seed": 2}
        scores = ours.bootstrap_point632_score(GaussianNB(), X, y, **options)
        assert ((scores > 0.5) & (scores <= 1)).all()
    with pytest.raises(UnboundLocalError):
        theirs.bootstrap_point632_score(GaussianNB(), X, y, **options | {"method": "oob"})


def test_weights_go_with_their_samples():
    X, y = classes()
    flipped = np.concatenate([y, 1 - y])
    doubled = np.concatenate([X, X])
    weight = np.repeat([1.0, 0.0], len(y))
    options = {"n_splits": 5, "method": "oob", "random_seed": 1}
    tree = DecisionTreeClassifier(random_state=0)

    def right(true, predicted):
        return np.mean(true == predicted)

    options |= {"scoring_func": right, "sample_weight": weight}
    seen = [x.bootstrap_point632_score(tree, doubled, flipped, **options) for x in (ours, theirs)]
    assert not np.allclose(*seen)
    states = np.random.RandomState(1)
    rows = states.choice(np.arange(len(flipped)), size=len(flipped))
    out = np.setdiff1d(np.arange(len(flipped)), rows)
    fitted = tree.fit(doubled[rows], flipped[rows], sample_weight=weight[rows])
    assert seen[0][0] == right(flipped[out], fitted.predict(doubled[out]))


# ------------------------------------------------------------------ bias and variance


@pytest.mark.parametrize("loss", ["0-1_loss", "mse"])
def test_decomposition_is_mlxtends(loss):
    from sklearn.model_selection import train_test_split

    X, y = load_iris(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.4, random_state=3)
    tree = DecisionTreeClassifier(random_state=1, max_features=1)
    options = {"loss": loss, "num_rounds": 40, "random_seed": 7}
    arguments = (X_train, y_train, X_test, y_test)
    got = ours.bias_variance_decomp(tree, *arguments, **options)
    expected = theirs.bias_variance_decomp(clone(tree), *arguments, **options)
    assert got == pytest.approx(expected, rel=1e-12, abs=1e-15)
    assert [type(x) for x in got] == [float] * 3
    if loss == "mse":
        assert got[0] == pytest.approx(got[1] + got[2], rel=1e-12)


def test_classes_of_any_kind_are_decomposed():
    X, y = load_iris(return_X_y=True)
    tree = DecisionTreeClassifier(random_state=1)
    options = {"num_rounds": 20, "random_seed": 7}

    def run(library, labels):
        labels = np.array(labels)[y]
        return library.bias_variance_decomp(
            tree, X[::2], labels[::2], X[1::2], labels[1::2], **options
        )

    expected = run(ours, [0, 1, 2])
    assert run(ours, ["a", "b", "c"]) == expected
    assert run(ours, [-1, 0, 1]) == expected
    # mlxtend cuts the halves off: no prediction of these is ever right.
    labels = np.array([0.5, 1.5])[np.where(y == 2, 1, y)]
    data = X[::2], labels[::2], X[1::2], labels[1::2]
    # scikit-learn's trees take none of them
    refuses(ValueError, "Unknown label type", run, theirs, [0.5, 1.5, 2.5])
    half = Nearest()
    assert ours.bias_variance_decomp(half, *data, **options)[0] < 0.2
    assert theirs.bias_variance_decomp(half, *data, **options)[0] == 1.0
    refuses(ValueError, "negative", run, theirs, [-1, 0, 1])


class Nearest:
    """The nearest neighbour's label, of any type."""

    def fit(self, X, y):
        self.X, self.y = X, y
        return self

    def predict(self, X):
        return self.y[((X[:, None] - self.X) ** 2).sum(axis=2).argmin(axis=1)]


def test_refusals():
    X, y = classes()
    paired, resampled, bootstrap = (
        getattr(ours, x)
        for x in ("paired_ttest_5x2cv", "paired_ttest_resampled", "bootstrap_point632_score")
    )
    two, one, decompose = (Plain(), Plain(), X, y), (GaussianNB(), X, y), ours.bias_variance_decomp
    for says, function, data, options in (
        ("scoring must be given", paired, two, {}),
        ("test_size", resampled, two, {"test_size": "half"}),
        ("num_rounds", resampled, two, {"num_rounds": 1}),
        ("n_splits", bootstrap, one, {"n_splits": 0}),
        ("method", bootstrap, one, {"method": "0.5"}),
        ("scoring_func", bootstrap, one, {"predict_proba": True}),
        ("X has 120 rows", bootstrap, (GaussianNB(), X, y[:-1]), {}),
        ("leave samples out", bootstrap, (Plain(), X[:1], y[:1]), {"scoring_func": np.equal}),
        ("loss", decompose, (*one, X, y), {"loss": "0-1"}),
        ("never be equal", decompose, (*one, X, y.astype(str)), {"num_rounds": 2}),
    ):
        refuses((ValueError, TypeError), says, function, *data, **options)
    alike = paired(*two, scoring=lambda model, X, _: model.predict(X)[0])
    assert alike == (0.0, 1.0)
    bootstrap(one[0], X, y, n_splits=2, clone_estimator=False)
    assert hasattr(one[0], "classes_")
