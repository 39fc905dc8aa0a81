"""Algorithms on folds, nearest neighbours by trying all, and true error rates."""

import pickle
import warnings
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from libraries import sklearn
from studies import algorithms
from studies.algorithms import predict_folds, true_error
from studies.populations import Bundled, Exp6, Simple


def squared_distances(points, train, weights):
    """Sums in the order of the predictors, so that they are the same to the bit."""
    total = np.zeros((len(points), len(train)))
    for k, weight in enumerate(weights):
        difference = points[:, k, None] - train[:, k]
        total += weight * (difference * difference)
    return total


@st.composite
def data_sets(draw):
    """Few values, so that many distances are equal."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n, p = draw(st.integers(2, 40)), draw(st.integers(1, 4))
    X = rng.integers(0, draw(st.integers(1, 9)), (n, p)) / 10
    y = rng.integers(0, 5, n).astype(np.int16)
    weights = rng.choice([0.0, 0.5, 1.0, 3.7], p)
    return rng, X, y, weights


class Slow(algorithms.NearestNeighbour):
    """The same, but of a class of its own: it takes the general path."""


# The nearest neighbour.


def test_against_scikit_learn():
    X, y = Bundled("wine").sample(1, 0)
    model = algorithms.NearestNeighbour().fit(X, y)
    points, _ = Bundled("wine").evaluation()
    peer = sklearn.neighbors.KNeighborsClassifier(1, algorithm="brute").fit(X, y)
    np.testing.assert_array_equal(model.predict(points), peer.predict(points))


def test_neighbour_is_an_estimator():
    weights = np.array([1.0, 2.0])
    model = sklearn.base.clone(algorithms.NearestNeighbour(weights))
    np.testing.assert_array_equal(model.get_params()["weights"], weights)
    assert sklearn.base.is_classifier(model)
    assert model.set_params(weights=None) is model
    assert repr(model) == "NearestNeighbour(None)"
    X, y = Bundled("iris").sample(1, 0)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    predicted = sklearn.model_selection.cross_val_predict(model, X, names, cv=3)
    assert (predicted == names).mean() > 0.9
    fitted = pickle.loads(pickle.dumps(model.fit(X, names)))
    assert fitted.classes_.tolist() == ["setosa", "versicolor", "virginica"]
    assert fitted.predict(X).tolist() == names.tolist()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda m: m.set_params(k=3), "has only weights, got 'k'"),
        (lambda m: m.predict([[1.0]]), "must be fitted"),
        (lambda m: m.fit([1.0], [0]), r"X must have shape \(n, p\), got \(1,\)"),
        (lambda m: m.fit([[1.0]], [0, 1]), "a class for each of 1 records"),
        (lambda m: m.set_params(weights=[1]).fit([[1, 2]], [0]), r"shape \(2,\), got \(1,\)"),
        (lambda m: m.set_params(weights=[-1]).fit([[1]], [0]), "not negative, got"),
    ],
)
def test_neighbour_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call(algorithms.NearestNeighbour())


def test_exp6_weights():
    np.testing.assert_allclose(algorithms.exp6_weights(0.25), [0.25, 4])
    for bad in (0, -1, np.inf, np.nan):
        with pytest.raises(ValueError, match="omega must be above 0"):
            algorithms.exp6_weights(bad)


def test_letter_weights():
    first = {1, 3, 9, 16}
    third = {5, 11, 13}
    expected = [4 if k in first else 1 / 4 if k in third else 1 for k in range(1, 17)]
    np.testing.assert_allclose(algorithms.letter_weights(4.0), expected)
    with pytest.raises(ValueError, match="upsilon must be above 0"):
        algorithms.letter_weights(0.0)


# The other algorithms.


@pytest.mark.parametrize("name", ["digits", "breast-cancer", "wine"])
def test_mean_against_scikit_learn(name):
    population = Bundled(name)
    X, y = population.sample(1, 0)
    points, _ = population.evaluation()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        peer = sklearn.neighbors.NearestCentroid().fit(X, y).predict(points)
    ours = algorithms.NearestMean().fit(X, y).predict(points)
    # Its distances are computed by another formula: near ties may differ.
    assert (ours != peer).mean() < 0.002


def test_triangular_by_hand():
    weights = algorithms.triangular(np.array([[1.0, 2, 3, 4, 4, 5], [0, 0, 0, 0, 0, 0]]))
    np.testing.assert_allclose(weights[0], [0.8, 0.6, 0.4, 0.2, 0.2, 0.0])
    # Six copies of one record: five equal votes.
    np.testing.assert_allclose(weights[1], [1 - 1e-6] * 5 + [0])
    np.testing.assert_allclose(algorithms.triangular(np.full((1, 6), 2.0))[0, :5], 1e-6)


def test_knn_by_hand():
    X, y = Bundled("wine").sample(3, 0)
    points = Bundled("wine").evaluation()[0][:60]
    deviation, mean = X.std(axis=0), X.mean(axis=0)
    distance = np.sqrt(
        squared_distances((points - mean) / deviation, (X - mean) / deviation, [1] * 13)
    )
    expected = []
    for row in distance:
        order = np.argsort(row, kind="stable")[:6]
        votes = np.zeros(3)
        share = np.clip(row[order[:5]] / max(row[order[5]], 1e-6), 1e-6, 1 - 1e-6)
        np.add.at(votes, y[order[:5]], 1 - share)
        expected.append(votes.argmax())
    np.testing.assert_array_equal(algorithms.make("knn").fit(X, y).predict(points), expected)


def test_logistic_has_no_penalty():
    X, y = Simple(0.6).sample(1, 0)
    pipeline = algorithms.make("logistic").fit(X, y)
    scaler, model = pipeline[0], pipeline[-1]
    # Newton's steps for the maximum likelihood.
    design = np.column_stack([np.ones(len(y)), X])
    beta = np.zeros(2)
    for _ in range(30):
        p = 1 / (1 + np.exp(-design @ beta))
        beta += np.linalg.solve((design.T * (p * (1 - p))) @ design, design.T @ (y - p))
    slope = model.coef_[0, 0] / scaler.scale_[0]
    intercept = model.intercept_[0] - slope * scaler.mean_[0]
    np.testing.assert_allclose([intercept, slope], beta, atol=2e-3)


@pytest.mark.parametrize("name", algorithms.ALGORITHMS)
def test_algorithms_neither_warn_nor_vary(name):
    populations = [Exp6(), Simple(), Bundled("breast-cancer"), Bundled("iris")]
    if name != "logistic":
        populations.append(Bundled("digits"))
    for population in populations:
        X, y = replace(population, n=min(population.n, 120)).sample(5, 1)
        folds = np.array([np.arange(len(y)) % 2, np.arange(len(y)) % 3])
        first = predict_folds(algorithms.make(name), X, y, folds)
        assert first.min() >= 0
        np.testing.assert_array_equal(first, predict_folds(algorithms.make(name), X, y, folds))
        error = (first != y).mean()
        chance = 1 - np.bincount(y).max() / y.size
        assert error < chance + 0.12
        if name != "majority" and population.name in {"iris", "exp6", "digits"}:
            assert error < chance - 0.1


# Folds.


@given(data_sets())
def test_fast_path_equals_the_general_one(data):
    rng, X, y, weights = data
    folds = rng.integers(-2, 4, (5, len(X)))
    folds[:, 0] = -1
    fast = predict_folds(algorithms.NearestNeighbour(weights), X, y, folds)
    np.testing.assert_array_equal(fast, predict_folds(Slow(weights), X, y, folds))


def test_folds_by_hand():
    X, y = Bundled("wine").sample(1, 0)
    folds = np.random.default_rng(2).integers(-2, 3, (2, len(y)))
    out = predict_folds(algorithms.make("tree"), X, y, folds)
    assert out.dtype == np.int16
    for row, predicted in zip(folds, out, strict=True):
        assert (predicted[row < 0] == -1).all()
        for fold in range(3):
            train = (row != fold) & (row != -2)
            model = sklearn.tree.DecisionTreeClassifier(
                criterion="entropy", min_samples_leaf=2, random_state=0
            )
            expected = model.fit(X[train], y[train]).predict(X[row == fold])
            np.testing.assert_array_equal(predicted[row == fold], expected)


def test_one_class_is_predicted():
    X, y = np.arange(6.0)[:, None], np.array([3, 3, 3, 1, 1, 1])
    folds = [[0, 0, 0, 1, 1, 1], [0, -1, -1, -2, 0, 0]]
    for algorithm in [
        sklearn.linear_model.LogisticRegression(),
        *map(algorithms.make, algorithms.ALGORITHMS),
        algorithms.NearestNeighbour(),
    ]:
        assert predict_folds(algorithm, X, y, folds).tolist() == [
            [1, 1, 1, 3, 3, 3],
            [3, -1, -1, -1, 3, 3],
        ]


@pytest.mark.parametrize(
    ("X", "y", "folds", "error", "message"),
    [
        ([[0], [1]], [0, 1, 2], [[0, 1]], ValueError, r"y must have shape \(2,\)"),
        ([[0], [1]], [0, 1], [0, 1], ValueError, r"shape \(R, 2\), got \(2,\)"),
        ([[0], [1]], [0, 1], [[0, -3]], ValueError, "folds must lie in"),
        ([[0], [1]], [0, 1], [[-1, 0], [3, 3]], ValueError, "only fold 3 in .* 1"),
        ([[0], [1]], [0, 1], [[3, -2]], ValueError, "leave records to train on"),
    ],
)
@pytest.mark.parametrize("algorithm", [algorithms.NearestNeighbour(), Slow()])
def test_folds_bad_input(algorithm, X, y, folds, error, message):
    with pytest.raises(error, match=message):
        predict_folds(algorithm, X, y, folds)


# True errors.


def test_true_error_by_hand():
    population = replace(Bundled("iris"), n=30)
    points, truth = population.evaluation()
    for algorithm in (algorithms.make("tree"), algorithms.NearestNeighbour([1, 0.5, 2, 0])):
        errors = []
        for replicate in range(4):
            model = sklearn.base.clone(algorithm).fit(*population.sample(9, replicate))
            errors.append((model.predict(points) != truth).mean())
        found = true_error(algorithm, population, rng=9, n_sets=4)
        assert found.error == pytest.approx(np.mean(errors), abs=1e-14)
        deviation = np.std(errors, ddof=1)
        assert found.standard_error == pytest.approx(deviation / 2, abs=1e-14)


def test_fast_true_error_equals_the_general_one():
    n_sets, population = 5, Exp6()
    p = population.evaluation()[0].shape[1]
    fast, slow = (
        true_error(kind(np.arange(1, p + 1)), population, rng=1, n_sets=n_sets)
        for kind in (algorithms.NearestNeighbour, Slow)
    )
    assert fast == slow


def test_true_errors_of_the_simple_population():
    # At delta 0 everything errs on half; Bayes' rule bounds it from below.
    assert true_error(algorithms.make("majority"), Simple(0.3), rng=1, n_sets=3) == (0.5, 0.0, 1)
    at_0 = true_error(algorithms.make("logistic"), Simple(0.0), rng=1, n_sets=3)
    assert at_0.error == pytest.approx(0.5, abs=1e-5)
    at_1 = true_error(algorithms.make("logistic"), Simple(1.0), rng=1, n_sets=10)
    best = Simple(1.0).threshold_error(0.5)
    assert best - 1e-5 < at_1.error < best + 0.003


@pytest.mark.full
def test_true_errors_as_printed():
    # Record: 12.27 % for C4.5, 8.21 % for the neighbour at omega = 1, and equal at
    # omega = 0.29. That is what training sets of 150 give, the half of 300.
    n_sets = 200
    half = Exp6(150)
    tree = true_error(algorithms.make("tree"), half, rng=1, n_sets=n_sets)
    equal, best = (
        true_error(
            algorithms.NearestNeighbour(algorithms.exp6_weights(w)), half, rng=1, n_sets=n_sets
        )
        for w in (0.29, 1.0)
    )
    assert abs(tree.error - 0.1227) < 0.004
    assert abs(best.error - 0.0821) < 0.004
    assert abs(equal.error - tree.error) < 0.005
    whole = true_error(algorithms.make("tree"), Exp6(300), rng=1, n_sets=n_sets)
    assert whole.error < 0.095
