"""The nearest neighbour as a classifier, with weights that make it better or worse.

A squared distance is the sum over predictors, in their order, of weight times squared
difference. Records at the same computed distance rank as they stand in the data.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastcmp._jit import kernel
from fastcmp.core.checks import as_numbers

from .sources import scikit_learn

if TYPE_CHECKING:
    from fastcmp.kernels.typing import FloatArray

Codes = NDArray[np.int16]
Neighbours = NDArray[np.int32]
Floats = NDArray[np.float64]

# Points whose distances stay in the first-level cache, and fill its vectors.
_BLOCK = 512


@kernel
def _add_predictor(column: FloatArray, x: float, weight: float, out: FloatArray) -> None:
    # The loop over points is the inner one: it becomes vector code.
    for i in range(out.size):
        difference = column[i] - x
        out[i] += weight * (difference * difference)


@kernel
def _keep_nearer(
    column: FloatArray,
    x: float,
    weight: float,
    others: FloatArray,
    code: float,
    least: FloatArray,
    label: FloatArray,
) -> None:
    # The last predictor is added on the way. Labels are floats: as wide as distances,
    # they share the vector comparison (0.7 ns a point with whole numbers, 0.3 so).
    for i in range(others.size):
        difference = column[i] - x
        distance = others[i] + weight * (difference * difference)
        nearest = least[i]
        label[i] = code if distance < nearest else label[i]
        least[i] = min(distance, nearest)


@kernel
def nearest_labels(
    columns: FloatArray, train: FloatArray, labels: Codes, weights: FloatArray, out: Codes
) -> None:
    """Give each point, columns (p, n), the label of its nearest training record.

    O(m n p), about half a nanosecond for each predictor of a pair.
    """
    last = weights.size - 1
    # Slices of one array would no longer count as contiguous.
    all_sums, all_least, all_label = (np.empty(_BLOCK), np.empty(_BLOCK), np.empty(_BLOCK))
    for start in range(0, out.size, _BLOCK):
        stop = min(start + _BLOCK, out.size)
        sums, least = all_sums[: stop - start], all_least[: stop - start]
        label = all_label[: stop - start]
        least[:] = np.inf
        label[:] = labels[0]
        for j in range(train.shape[0]):
            sums[:] = 0.0
            for k in range(last):
                _add_predictor(columns[k, start:stop], train[j, k], weights[k], sums)
            column, code = columns[last, start:stop], float(labels[j])
            _keep_nearer(column, train[j, last], weights[last], sums, code, least, label)
        for i in range(start, stop):
            out[i] = int(label[i - start])


@kernel
def nearest_first(columns: FloatArray, weights: FloatArray, out: Neighbours) -> None:
    """List the k nearest other records of each record, the nearest one first: (n, k).

    O(n^2 p), and almost no sorting: few records are nearer than k seen before.
    """
    n, k = out.shape
    distance = np.empty(n)
    kept = np.empty(k)
    for i in range(n):
        distance[:] = 0.0
        for p in range(weights.size):
            _add_predictor(columns[p], columns[p, i], weights[p], distance)
        kept[:] = np.inf
        out[i] = -1
        for j in range(n):
            if j == i or not distance[j] < kept[k - 1]:
                continue
            place = k - 1
            while place > 0 and distance[j] < kept[place - 1]:
                kept[place] = kept[place - 1]
                out[i, place] = out[i, place - 1]
                place -= 1
            kept[place] = distance[j]
            out[i, place] = j


@kernel
def _nearest_that_trains(columns: FloatArray, weights: FloatArray, i: int, folds: Codes) -> int:
    least, nearest = np.inf, -1
    for j in range(folds.size):
        if folds[j] == folds[i] or folds[j] == -2:
            continue
        distance = 0.0
        for k in range(weights.size):
            difference = columns[k, j] - columns[k, i]
            distance += weights[k] * (difference * difference)
        if distance < least:
            least, nearest = distance, j
    return nearest


@kernel
def predict_nearest(
    columns: FloatArray,
    weights: FloatArray,
    neighbours: Neighbours,
    labels: Codes,
    folds: Codes,
    out: Codes,
) -> None:
    """Predict each tested record by the nearest one that trains; -1 without one.

    With half of the records in training, the second nearest is reached on average.
    """
    n_repetitions, n = folds.shape
    for r in range(n_repetitions):
        row = folds[r]
        for i in range(n):
            out[r, i] = -1
            if row[i] < 0:
                continue
            nearest = -1
            for j in neighbours[i]:
                if j >= 0 and row[j] != row[i] and row[j] != -2:
                    nearest = j
                    break
            if nearest < 0:
                nearest = _nearest_that_trains(columns, weights, i, row)
            if nearest >= 0:
                out[r, i] = labels[nearest]


_KEPT = 16  # with half of the records in training, one in 65,536 looks further
# Predictors of the letters by the power of upsilon: 1, 0 and -1 (counted from 1).
_GROUPS = ((1, 3, 9, 16), (2, 4, 6, 7, 8, 10, 12, 14, 15), (5, 11, 13))


class NearestNeighbour:
    """The first nearest neighbour under a weighted distance, for scikit-learn.

    A squared distance is the sum over predictors of weight times squared difference. Of
    equally near training records the first one counts.

    Parameters
    ----------
    weights : array-like of shape (p,), optional
        Not negative; 1 for each predictor by default.

    Examples
    --------
    >>> from benchmarks.studies.neighbour import NearestNeighbour
    >>> model = NearestNeighbour([1, 0]).fit([[0, 5], [9, 1]], [3, 4])
    >>> model.predict([[1, 1]]).tolist()
    [3]
    """

    _estimator_type = "classifier"

    def __init__(self, weights: ArrayLike | None = None) -> None:
        self.weights = weights  # as it came: scikit-learn's clone compares it

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.weights!r})"

    def __sklearn_tags__(self) -> Any:
        tags = scikit_learn("utils")
        return tags.Tags(
            estimator_type="classifier",
            target_tags=tags.TargetTags(required=True),
            classifier_tags=tags.ClassifierTags(),
        )

    def get_params(self, deep: bool = True) -> dict[str, Any]:  # noqa: ARG002  # scikit-learn's
        """Return the parameters.

        Parameters
        ----------
        deep : bool
            Has no effect.

        Returns
        -------
        dict
            The weights by their name.
        """
        return {"weights": self.weights}

    def set_params(self, **params: Any) -> NearestNeighbour:
        """Change parameters.

        Parameters
        ----------
        **params : Any
            Only ``weights``.

        Returns
        -------
        NearestNeighbour
            The same object.

        Raises
        ------
        ValueError
            If another parameter is named.
        """
        for name, value in params.items():
            if name != "weights":
                raise ValueError(f"{type(self).__name__} has only weights, got {name!r}")
            self.weights = value
        return self

    def fit(self, X: ArrayLike, y: ArrayLike) -> NearestNeighbour:
        """Keep the training records.

        Parameters
        ----------
        X : array-like, shape (n, p)
            Predictors, finite.
        y : array-like, shape (n,)
            Classes.

        Returns
        -------
        NearestNeighbour
            The same object.

        Raises
        ------
        ValueError
            If shapes do not fit, or a number is not finite.
        TypeError
            If predictors are no numbers.
        """
        self._train = as_records(X)
        self._weights = self.weights_of(self._train.shape[1])
        self.classes_, codes = np.unique(np.asarray(y), return_inverse=True)
        if codes.shape != self._train.shape[:1] or not codes.size:
            message = f"y must have a class for each of {len(self._train)} records (at "
            message += f"least 1), got shape {codes.shape}"
            raise ValueError(message)
        self._codes = codes.astype(np.int16)
        return self

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Predict classes.

        Parameters
        ----------
        X : array-like, shape (n, p)
            Predictors, finite.

        Returns
        -------
        ndarray, shape (n,)
            The class of the nearest training record.

        Raises
        ------
        ValueError
            If it was not fitted, a number is not finite or p differs.
        """
        if not hasattr(self, "_train"):
            raise ValueError("NearestNeighbour must be fitted before it predicts")
        records = as_records(X)
        if records.shape[1] != self._weights.size:
            message = f"X must have {self._weights.size} predictors, got "
            message += f"{records.shape[1]}"
            raise ValueError(message)
        out = np.empty(len(records), np.int16)
        columns = np.ascontiguousarray(records.T)
        nearest_labels(columns, self._train, self._codes, self._weights, out)
        return np.asarray(self.classes_[out])

    def weights_of(self, n_predictors: int) -> Floats:
        """Check the weights against data."""
        if self.weights is None:
            return np.ones(n_predictors)
        weights = as_numbers(self.weights, "weights").astype(np.float64)
        if weights.shape != (n_predictors,):
            raise ValueError(f"weights must have shape ({n_predictors},), got {weights.shape}")
        if not (np.isfinite(weights) & (weights >= 0)).all():
            raise ValueError(f"weights must be finite and not negative, got {weights}")
        return weights


class NearestMean(NearestNeighbour):
    """The class whose mean is nearest: the nearest neighbour among the means.

    Scikit-learn's own warns of predictors that are constant within a class.

    Examples
    --------
    >>> from benchmarks.studies.neighbour import NearestMean
    >>> NearestMean().fit([[0], [4], [3]], [0, 0, 1]).predict([[2], [2.6]]).tolist()
    [0, 1]
    """

    def fit(self, X: ArrayLike, y: ArrayLike) -> NearestMean:
        """Keep the mean of each class.

        Parameters
        ----------
        X : array-like, shape (n, p)
            Predictors, finite.
        y : array-like, shape (n,)
            Classes.

        Returns
        -------
        NearestMean
            The same object.

        Raises
        ------
        ValueError
            If shapes do not fit, or a number is not finite.
        TypeError
            If predictors are no numbers.
        """
        super().fit(X, y)
        counts = np.bincount(self._codes)
        sums = [np.bincount(self._codes, column) for column in self._train.T]
        self._train = np.ascontiguousarray((np.array(sums) / counts).T)
        self._codes = np.arange(counts.size, dtype=np.int16)
        return self


def predict_folds_nearest(algorithm: NearestNeighbour, X: Floats, y: Codes, folds: Codes) -> Codes:
    """Predict by nearest neighbours in all repetitions at once, as `predict_folds`."""
    n, n_predictors = X.shape
    weights = algorithm.weights_of(n_predictors)
    columns = np.ascontiguousarray(X.T)
    neighbours = np.empty((n, min(_KEPT, n - 1)), np.int32)
    out = np.empty(folds.shape, np.int16)
    nearest_first(columns, weights, neighbours)
    predict_nearest(columns, weights, neighbours, y, folds, out)
    return out


def as_records(raw: ArrayLike) -> Floats:
    """Convert predictors."""
    array = as_numbers(raw, "X")
    if array.ndim != 2 or not array.shape[1]:
        raise ValueError(f"X must have shape (n, p), got {array.shape}")
    if not np.isfinite(array).all():
        raise ValueError("X must be finite, got NaN or infinity")
    return np.ascontiguousarray(array, np.float64)


def exp6_weights(omega: float) -> Floats:
    """The weights of equation (18), which distort the distance on EXP6.

    Parameters
    ----------
    omega : float
        Above 0; 1 is the Euclidean distance.

    Returns
    -------
    ndarray of float64, shape (2,)
        Omega and its inverse.

    Raises
    ------
    ValueError
        If it is not above 0.

    Examples
    --------
    >>> from benchmarks.studies.neighbour import exp6_weights
    >>> exp6_weights(0.5).tolist()
    [0.5, 2.0]
    """
    _check_positive(omega, "omega")
    return np.array([omega, 1 / omega])


def letter_weights(upsilon: float) -> Floats:
    """The weights of equation (19), which distort the distance on the letters.

    Parameters
    ----------
    upsilon : float
        Above 0; 1 is the Euclidean distance.

    Returns
    -------
    ndarray of float64, shape (16,)
        Upsilon, 1 or its inverse.

    Raises
    ------
    ValueError
        If it is not above 0.

    Examples
    --------
    >>> from benchmarks.studies.neighbour import letter_weights
    >>> letter_weights(2.0)[:5].tolist()
    [2.0, 1.0, 2.0, 1.0, 0.5]
    """
    _check_positive(upsilon, "upsilon")
    weights = np.empty(16)
    for group, weight in zip(_GROUPS, (upsilon, 1.0, 1 / upsilon), strict=True):
        weights[np.array(group) - 1] = weight
    return weights


def _check_positive(value: float, name: str) -> None:
    if not 0 < value < np.inf:
        raise ValueError(f"{name} must be above 0 and finite, got {value}")
