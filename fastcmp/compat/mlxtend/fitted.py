"""Tests of two estimators, fitted again and again on parts of the data."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fastcmp.compat.mlxtend.estimators import scikit_learn, score_difference, scorer_of
from fastcmp.core.checks import as_whole
from fastcmp.crossval.fold_tests import fold_test
from fastcmp.crossval.runs import take_rows

_STATES = 32767  # mlxtend draws the states of its splits below it


def paired_ttest_5x2cv(
    estimator1: Any,
    estimator2: Any,
    X: Any,  # noqa: N803  # scikit-learn's name
    y: ArrayLike,
    scoring: Any = None,
    random_seed: int | None = None,
) -> tuple[float, float]:
    """Dietterich's 5 x 2 cross-validated t test, like `mlxtend.evaluate`.

    Parameters
    ----------
    estimator1, estimator2 : object
        Classifiers or regressors of scikit-learn, or objects with the same methods.
        Clones are fitted.
    X : array, sparse matrix, list or frame, n rows
        Predictors.
    y : array-like, shape (n,)
        Targets.
    scoring : str or callable, optional
        Scorer of scikit-learn, or a function of estimator, X and y. By default
        accuracy for classifiers and R squared for regressors, by `estimator1`.
    random_seed : int, optional
        Seed of the five splits.

    Returns
    -------
    t : float
        The statistic: score of the first estimator minus that of the second.
    pvalue : float
        Two-sided, of Student's t with 5 degrees of freedom.

    Raises
    ------
    ValueError
        If lengths differ, `scoring` is unknown, or a score is not finite.
    TypeError
        If `scoring` is neither a name nor a function.
    ImportError
        If scikit-learn is not installed.

    See Also
    --------
    fastcmp.fold_test : The test on your own differences; one-sided, with interval.
    fastcmp.compare_cv : Better tests of two classifiers, one fit for each split.

    Notes
    -----
    For the same seed the splits are mlxtend's, and so are t and p, up to rounding.
    Where all differences are 0, mlxtend returns NaN; here (0, 1). A fresh clone is
    fitted each time. mlxtend fits the estimators that it is given, so one with
    ``warm_start=True`` has seen the samples that it is scored on. With a generator as
    `random_state` each clone begins in the same state, and scores differ from
    mlxtend's.

    References
    ----------
    .. [1] T. G. Dietterich, "Approximate statistical tests for comparing supervised
       classification learning algorithms", Neural Computation 10 (1998) 1895-1923.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from fastcmp.compat.mlxtend import paired_ttest_5x2cv
    >>> models = LogisticRegression(max_iter=500), DecisionTreeClassifier(max_depth=1)
    >>> t, p = paired_ttest_5x2cv(*models, *load_iris(return_X_y=True), random_seed=1)
    >>> p < 0.01
    True
    """
    splits = _halves(X, y, random_seed)
    return _test("dietterich-t", (estimator1, estimator2), scoring, splits, (5, 2))


def combined_ftest_5x2cv(
    estimator1: Any,
    estimator2: Any,
    X: Any,  # noqa: N803
    y: ArrayLike,
    scoring: Any = None,
    random_seed: int | None = None,
) -> tuple[float, float]:
    """Alpaydin's combined 5 x 2 cross-validated F test, like `mlxtend.evaluate`.

    Parameters
    ----------
    estimator1, estimator2 : object
        As in `paired_ttest_5x2cv`.
    X : array, sparse matrix, list or frame, n rows
        Predictors.
    y : array-like, shape (n,)
        Targets.
    scoring : str or callable, optional
        As in `paired_ttest_5x2cv`.
    random_seed : int, optional
        Seed of the five splits.

    Returns
    -------
    f : float
        The statistic.
    pvalue : float
        Upper tail of F with 10 and 5 degrees of freedom.

    Raises
    ------
    ValueError
        If lengths differ, `scoring` is unknown, or a score is not finite.
    TypeError
        If `scoring` is neither a name nor a function.
    ImportError
        If scikit-learn is not installed.

    See Also
    --------
    fastcmp.fold_test : The test on your own differences.
    fastcmp.compare_cv : Better tests of two classifiers, one fit for each split.

    Notes
    -----
    The same splits and numbers as mlxtend for the same seed, but (0, 1) where all
    differences are 0: there mlxtend raises ZeroDivisionError, or returns NaN. Clones
    are fitted, as in `paired_ttest_5x2cv`.

    References
    ----------
    .. [1] E. Alpaydin, "Combined 5 x 2 cv F test for comparing supervised
       classification learning algorithms", Neural Computation 11 (1999) 1885-1892.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from fastcmp.compat.mlxtend import combined_ftest_5x2cv
    >>> models = LogisticRegression(max_iter=500), DecisionTreeClassifier(max_depth=1)
    >>> f, p = combined_ftest_5x2cv(*models, *load_iris(return_X_y=True), random_seed=1)
    >>> p < 0.01
    True
    """
    splits = _halves(X, y, random_seed)
    return _test("alpaydin-f", (estimator1, estimator2), scoring, splits, (5, 2))


def paired_ttest_kfold_cv(
    estimator1: Any,
    estimator2: Any,
    X: Any,  # noqa: N803
    y: ArrayLike,
    cv: int = 10,
    scoring: Any = None,
    shuffle: bool = False,  # noqa: FBT001, FBT002
    random_seed: int | None = None,
) -> tuple[float, float]:
    """K-fold cross-validated paired t test, like `mlxtend.evaluate`.

    Parameters
    ----------
    estimator1, estimator2 : object
        As in `paired_ttest_5x2cv`.
    X : array, sparse matrix, list or frame, n rows
        Predictors.
    y : array-like, shape (n,)
        Targets.
    cv : int
        Number of folds, at least 2.
    scoring : str or callable, optional
        As in `paired_ttest_5x2cv`.
    shuffle : bool
        Draw the folds at random. By default they are consecutive samples, which is
        wrong for data sorted by class.
    random_seed : int, optional
        Seed of the folds where `shuffle` is true.

    Returns
    -------
    t : float
        The statistic: score of the first estimator minus that of the second.
    pvalue : float
        Two-sided, of Student's t with ``cv - 1`` degrees of freedom.

    Raises
    ------
    ValueError
        If lengths differ, there are fewer samples than folds, `scoring` is unknown, or
        a score is not finite.
    TypeError
        If `cv` is no whole number, or `scoring` neither a name nor a function.
    ImportError
        If scikit-learn is not installed.

    See Also
    --------
    fastcmp.fold_test : The test on your own differences; one-sided, with interval;
        "bouckaert-frank-t" corrects the variance.

    Notes
    -----
    The same splits and numbers as mlxtend for the same seed, but (0, 1) where all
    differences are 0. The test rejects too often: training sets overlap, so the folds
    are correlated, and it treats them as independent. Frames are accepted too, for
    which mlxtend raises KeyError. Clones are fitted, as in `paired_ttest_5x2cv`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from fastcmp.compat.mlxtend import paired_ttest_kfold_cv
    >>> models = LogisticRegression(max_iter=500), DecisionTreeClassifier(max_depth=1)
    >>> data = load_iris(return_X_y=True)
    >>> t, p = paired_ttest_kfold_cv(*models, *data, shuffle=True, random_seed=1)
    >>> p < 0.01
    True
    """
    cv = as_whole(cv, "cv", 2)
    selection = scikit_learn("model_selection")
    seed = random_seed if shuffle else None
    folds = selection.KFold(n_splits=cv, shuffle=bool(shuffle), random_state=seed)
    labels = y if hasattr(y, "iloc") else np.asarray(y)
    splits = (
        tuple((take_rows(X, rows), take_rows(labels, rows)) for rows in sets)
        for sets in folds.split(X, labels)
    )
    return _test("kfold-t", (estimator1, estimator2), scoring, splits, (cv,))


def paired_ttest_resampled(
    estimator1: Any,
    estimator2: Any,
    X: Any,  # noqa: N803
    y: ArrayLike,
    num_rounds: int = 30,
    test_size: float = 0.3,
    scoring: Any = None,
    random_seed: int | None = None,
) -> tuple[float, float]:
    """Resampled paired t test, like `mlxtend.evaluate`.

    Parameters
    ----------
    estimator1, estimator2 : object
        As in `paired_ttest_5x2cv`.
    X : array, sparse matrix, list or frame, n rows
        Predictors.
    y : array-like, shape (n,)
        Targets.
    num_rounds : int
        Number of random splits, at least 2.
    test_size : float or int
        Proportion of the samples, or number of samples, to test on.
    scoring : str or callable, optional
        As in `paired_ttest_5x2cv`.
    random_seed : int, optional
        Seed of the splits.

    Returns
    -------
    t : float
        The statistic: score of the first estimator minus that of the second.
    pvalue : float
        Two-sided, of Student's t with ``num_rounds - 1`` degrees of freedom.

    Raises
    ------
    ValueError
        If lengths differ, `test_size` leaves nothing to train or to test on,
        `scoring` is unknown, or a score is not finite.
    TypeError
        If `num_rounds` is no whole number, `test_size` no number, or `scoring` neither
        a name nor a function.
    ImportError
        If scikit-learn is not installed.

    See Also
    --------
    fastcmp.fold_test : The test on your own differences; one-sided, with interval;
        "nadeau-bengio-t" corrects the variance.

    Notes
    -----
    The same splits and numbers as mlxtend for the same seed, but (0, 1) where all
    differences are 0. Clones are fitted, as in `paired_ttest_5x2cv`.

    Do not trust a small p-value of this test. The splits share most of their samples,
    but their differences are treated as independent. With more rounds the estimated
    variance of the mean falls to 0 while the error of the mean stays, so any two models
    become significantly different. "nadeau-bengio-t" of `fastcmp.fold_test` adds
    ``test_size / (1 - test_size)`` to ``1 / num_rounds``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from fastcmp.compat.mlxtend import paired_ttest_resampled
    >>> models = LogisticRegression(max_iter=500), DecisionTreeClassifier(max_depth=1)
    >>> data = load_iris(return_X_y=True)
    >>> t, p = paired_ttest_resampled(*models, *data, num_rounds=5, random_seed=1)
    >>> p < 0.01
    True
    """
    num_rounds = as_whole(num_rounds, "num_rounds", 2)
    if isinstance(test_size, bool) or not isinstance(test_size, Integral | Real):
        raise TypeError(f"test_size must be a proportion or a number of samples, got {test_size!r}")
    splits = _random_splits(X, y, num_rounds, test_size, random_seed)
    return _test("resampled-t", (estimator1, estimator2), scoring, splits, (num_rounds,))


def _random_splits(
    X: Any,  # noqa: N803
    y: ArrayLike,
    n: int,
    test_size: float,
    seed: int | None,
) -> Iterator[tuple[Any, ...]]:
    """Split as mlxtend does: the generator of the seed draws a state for each split."""
    split = scikit_learn("model_selection").train_test_split
    states = np.random.RandomState(seed)  # as mlxtend
    for _ in range(n):
        state = states.randint(0, _STATES)
        X1, X2, y1, y2 = split(  # noqa: N806
            X, y, test_size=test_size, random_state=state
        )
        yield (X1, y1), (X2, y2)


def _halves(
    X: Any,  # noqa: N803
    y: ArrayLike,
    seed: int | None,
) -> Iterator[tuple[Any, ...]]:
    """Five random halvings, each half tested on once."""
    for first, second in _random_splits(X, y, 5, 0.5, seed):
        yield first, second
        yield second, first


def _test(
    method: str,
    estimators: tuple[Any, Any],
    scoring: Any,
    splits: Iterable[tuple[Any, ...]],
    shape: tuple[int, ...],
) -> tuple[float, float]:
    """Fit and score both estimators on pairs of training and test set, and test by folds."""
    scorer = scorer_of(estimators[0], scoring)
    differences = [score_difference(estimators, scorer, train, test) for train, test in splits]
    result = fold_test(np.reshape(differences, shape), method)
    return float(result.statistic), float(result.pvalue)
