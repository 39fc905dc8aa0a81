"""The algorithms that are compared: made by name, trained on folds, their true errors.

Names stand for scikit-learn's nearest relatives of what the paper ran in R and Weka:

=========== ========================================================================
"majority"  the most frequent class
"mean"      the class with the nearest mean
"logistic"  logistic regression without penalty, on standardised predictors
"svm"       linear support vectors, C = 1, on predictors scaled to [0, 1] (SMO)
"tree"      unpruned, by entropy, at least 2 records a leaf (J48 -U; its gain *ratio*
            is not offered)
"knn"       5 neighbours with triangular weights, on standardised predictors (kknn)
=========== ========================================================================

RIPPER is left out: scikit-learn has no rule learner. Any other estimator of
scikit-learn's kind can be passed instead of these.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastcmp.core.checks import as_numbers, as_seed, as_whole, choose
from fastcmp.core.threads import Progress, reporting

from .neighbour import (
    NearestMean,
    NearestNeighbour,
    as_records,
    exp6_weights,
    letter_weights,
    nearest_labels,
    predict_folds_nearest,
)
from .sources import Population, one_thread, scikit_learn

Floats = NDArray[np.float64]
Codes = NDArray[np.int16]

__all__ = [
    "ALGORITHMS",
    "NearestMean",
    "NearestNeighbour",
    "TrueError",
    "exp6_weights",
    "letter_weights",
    "make",
    "predict_folds",
    "triangular",
    "true_error",
]

_LARGEST_CODE = 2**15 - 1


class TrueError(NamedTuple):
    """A mean error rate over training sets, its standard error, and their seed."""

    error: float
    standard_error: float
    seed: int


def triangular(distances: Floats) -> Floats:
    """Weigh neighbours by their distance, relative to that of the last one.

    Parameters
    ----------
    distances : ndarray of float64, shape (n, k + 1)
        Ascending. The last neighbour sets the scale, and has no vote.

    Returns
    -------
    ndarray of float64, shape (n, k + 1)
        1 - ratio, kept within [1e-6, 1 - 1e-6] as kknn does; 0 for the last.

    Examples
    --------
    >>> import numpy as np
    >>> from benchmarks.studies.algorithms import triangular
    >>> triangular(np.array([[1.0, 3.0, 4.0]])).tolist()
    [[0.75, 0.25, 0.0]]
    """
    ratio = distances / np.maximum(distances[:, -1:], 1e-6)
    weights = 1 - np.clip(ratio, 1e-6, 1 - 1e-6)
    weights[:, -1] = 0.0
    return np.asarray(weights)


def _majority() -> Any:
    return scikit_learn("dummy").DummyClassifier(strategy="most_frequent")


def _mean() -> Any:
    return NearestMean()


def _logistic() -> Any:
    regression = scikit_learn("linear_model").LogisticRegression
    scaler = scikit_learn("preprocessing").StandardScaler()
    # An infinite C is no penalty. On separable data the slopes grow until the gradient
    # falls below the tolerance.
    model = regression(C=np.inf, max_iter=10_000)
    return scikit_learn("pipeline").make_pipeline(scaler, model)


def _svm() -> Any:
    scaler = scikit_learn("preprocessing").MinMaxScaler()
    model = scikit_learn("svm").SVC(kernel="linear", C=1.0)
    return scikit_learn("pipeline").make_pipeline(scaler, model)


def _tree() -> Any:
    return scikit_learn("tree").DecisionTreeClassifier(
        criterion="entropy", min_samples_leaf=2, random_state=0
    )


def _knn() -> Any:
    scaler = scikit_learn("preprocessing").StandardScaler()
    # The sixth neighbour sets the scale for the other five.
    neighbours = scikit_learn("neighbors").KNeighborsClassifier
    model = neighbours(n_neighbors=6, weights=triangular)
    return scikit_learn("pipeline").make_pipeline(scaler, model)


_MAKERS: dict[str, Callable[[], Any]] = {
    "majority": _majority,
    "mean": _mean,
    "logistic": _logistic,
    "svm": _svm,
    "tree": _tree,
    "knn": _knn,
}
#: What `make` knows.
ALGORITHMS = tuple(_MAKERS)


def make(name: str) -> Any:
    """Make an algorithm by its name.

    Parameters
    ----------
    name : str
        One of ``ALGORITHMS``.

    Returns
    -------
    estimator
        Of scikit-learn, not fitted; it gives the same predictions every time.

    Raises
    ------
    ValueError
        If the name is unknown.
    ImportError
        If scikit-learn is not installed.

    Examples
    --------
    >>> from benchmarks.studies.algorithms import make
    >>> make("tree").fit([[0], [1], [2], [3]], [0, 0, 1, 1]).predict([[5]]).tolist()
    [1]
    """
    return _MAKERS[choose(name, "name", ALGORITHMS)]()


def predict_folds(algorithm: Any, X: ArrayLike, y: ArrayLike, folds: ArrayLike) -> Codes:
    """Predict each tested record by what was trained on the other folds.

    Parameters
    ----------
    algorithm : estimator
        Of scikit-learn's kind; copied for each training set.
    X : array-like, shape (n, p)
        Predictors.
    y : array-like, shape (n,)
        Classes, numbers from 0 to 32,767.
    folds : array-like of int, shape (R, n)
        The fold in which a record is tested in each repetition; -1: it always trains,
        -2: it is left out.

    Returns
    -------
    ndarray of int16, shape (R, n)
        Predictions; -1 where a record is not tested.

    Raises
    ------
    ValueError
        If shapes do not fit, a number has no meaning, or a fold has nothing to train
        on.
    TypeError
        If something else than numbers came.

    Notes
    -----
    Where all training records are of one class, that class is predicted without the
    algorithm, as many refuse such data. For a `NearestNeighbour` nothing is trained:
    the nearest records are found once for all repetitions.

    Examples
    --------
    >>> from benchmarks.studies.algorithms import NearestNeighbour, predict_folds
    >>> X, y, folds = [[0], [1], [3], [2]], [5, 6, 7, 8], [[0, 0, 1, 1]]
    >>> predict_folds(NearestNeighbour(), X, y, folds).tolist()
    [[8, 8, 6, 6]]
    """
    records = as_records(X)
    codes = _as_int16(y, "y", 0)
    if codes.shape != records.shape[:1]:
        raise ValueError(f"y must have shape ({len(records)},), got {codes.shape}")
    parts = _as_int16(folds, "folds", -2)
    if parts.ndim != 2 or parts.shape[1] != codes.size:
        raise ValueError(f"folds must have shape (R, {codes.size}), got {parts.shape}")
    _check_training(parts)
    if type(algorithm) is NearestNeighbour:
        return predict_folds_nearest(algorithm, records, codes, parts)
    with one_thread():
        return _predict_one_by_one(algorithm, records, codes, parts)


def _predict_one_by_one(algorithm: Any, records: Floats, codes: Codes, folds: Codes) -> Codes:
    out = np.full(folds.shape, -1, np.int16)
    for row, predicted in zip(folds, out, strict=True):
        for fold in np.unique(row[row >= 0]):
            test = row == fold
            train = ~test & (row != -2)
            predicted[test] = _trained(algorithm, records[train], codes[train], records[test])
    return out


def _trained(algorithm: Any, records: Floats, codes: Codes, points: Floats) -> NDArray[Any]:
    """Predictions of a fresh copy."""
    if (codes == codes[0]).all():
        return np.full(len(points), codes[0])
    copy = scikit_learn("base").clone(algorithm)
    return np.asarray(copy.fit(records, codes).predict(points))


def _as_int16(raw: ArrayLike, name: str, least: int) -> Codes:
    array = as_numbers(raw, name, "whole numbers")
    if array.dtype.kind == "f":
        raise TypeError(f"{name} must be whole numbers, got {array.dtype} values")
    if array.size and not least <= array.min() <= array.max() <= _LARGEST_CODE:
        raise ValueError(
            f"{name} must lie in [{least}, {_LARGEST_CODE}], got {array.min()} to {array.max()}"
        )
    return np.ascontiguousarray(array, np.int16)


def _check_training(folds: Codes) -> None:
    """Refuse a repetition whose records are all of one fold."""
    if not folds.size:
        return
    highest = folds.max(axis=1)
    lowest = np.where(folds == -2, _LARGEST_CODE, folds).min(axis=1)
    alone = (lowest == highest) & (highest >= 0)
    if alone.any():
        row = int(np.argmax(alone))
        message = f"folds must leave records to train on, got only fold {highest[row]} "
        message += f"in repetition {row}"
        raise ValueError(message)


def true_error(
    algorithm: Any,
    population: Population,
    *,
    rng: Any = None,
    n_sets: int = 1000,
    progress: bool | Progress | None = None,
) -> TrueError:
    """Estimate the error rate of an algorithm over training sets of a population.

    Parameters
    ----------
    algorithm : estimator
        Of scikit-learn's kind; copied for each training set.
    population : Population
        Where training sets of its size n, and the evaluation set, come from.
    rng : int or numpy.random.Generator, optional
        Source of the training sets; equal seeds give equal sets to all algorithms.
    n_sets : int
        How many training sets, at least 2.
    progress : bool or callable, optional
        True draws a bar; a function is called with the sets done and all sets.

    Returns
    -------
    TrueError
        Mean error on the evaluation set, its standard error over training sets, and
        the seed that repeats it.

    Raises
    ------
    ValueError
        If `rng` or `n_sets` is out of range.
    TypeError
        If one is of another type.

    Notes
    -----
    A training set of one class predicts it, as in `predict_folds`.

    Examples
    --------
    >>> from benchmarks.studies.algorithms import make, true_error
    >>> from benchmarks.studies.populations import Simple
    >>> true_error(make("majority"), Simple(), rng=1, n_sets=2).error
    0.5
    """
    seed = as_seed(rng)
    n_sets = as_whole(n_sets, "n_sets", 2)
    predict, truth = _evaluator(algorithm, population)
    errors = np.empty(n_sets)
    nearest = type(algorithm) is NearestNeighbour  # works without scikit-learn
    alone = nullcontext() if nearest else one_thread()
    with alone, reporting(progress, "true error") as report:
        for replicate in range(n_sets):
            records, codes = population.sample(seed, replicate)
            errors[replicate] = np.count_nonzero(predict(records, codes) != truth)
            report(replicate + 1, n_sets)
    errors /= truth.size
    standard_error = float(errors.std(ddof=1) / np.sqrt(n_sets))
    return TrueError(float(errors.mean()), standard_error, seed)


def _evaluator(
    algorithm: Any, population: Population
) -> tuple[Callable[[Floats, Codes], NDArray[Any]], Codes]:
    """Turn a training set into predictions on the evaluation set, read once."""
    points, truth = population.evaluation()
    if type(algorithm) is not NearestNeighbour:
        return lambda x, y: _trained(algorithm, x, y, points), truth
    columns = np.ascontiguousarray(points.T)
    weights = algorithm.weights_of(points.shape[1])
    out = np.empty(truth.size, np.int16)

    def predict(records: Floats, codes: Codes) -> Codes:
        nearest_labels(columns, records, codes, weights, out)
        return out

    return predict, truth
