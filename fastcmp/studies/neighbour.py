"""The nearest neighbour as a classifier, with weights that make it better or worse."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp.core.checks import as_numbers
from fastcmp.studies.extras import scikit_learn
from fastcmp.studies.nearest import nearest_first, nearest_labels, predict_nearest

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]
    Codes = NDArray[np.int16]

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
    >>> from fastcmp.studies.neighbour import NearestNeighbour
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

    def get_params(self, deep: bool = True) -> dict[str, Any]:  # noqa: ARG002, FBT001, FBT002  # scikit-learn's
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

    def fit(self, X: ArrayLike, y: ArrayLike) -> NearestNeighbour:  # noqa: N803
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

    def predict(self, X: ArrayLike) -> NDArray[Any]:  # noqa: N803
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
    >>> from fastcmp.studies.neighbour import NearestMean
    >>> NearestMean().fit([[0], [4], [3]], [0, 0, 1]).predict([[2], [2.6]]).tolist()
    [0, 1]
    """

    def fit(self, X: ArrayLike, y: ArrayLike) -> NearestMean:  # noqa: N803
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


def predict_folds_nearest(
    algorithm: NearestNeighbour,
    X: Floats,  # noqa: N803
    y: Codes,
    folds: Codes,
) -> Codes:
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
    """Give the weights of equation (18), which distort the distance on EXP6.

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
    >>> from fastcmp.studies.neighbour import exp6_weights
    >>> exp6_weights(0.5).tolist()
    [0.5, 2.0]
    """
    _check_positive(omega, "omega")
    return np.array([omega, 1 / omega])


def letter_weights(upsilon: float) -> Floats:
    """Give the weights of equation (19), which distort the distance on the letters.

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
    >>> from fastcmp.studies.neighbour import letter_weights
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
