"""Estimators of scikit-learn, fitted again and again: two compared, one scored by the bootstrap."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastcmp.compat.mlxtend.labels import shared_codes
from fastcmp.compat.mlxtend.samples import resamples
from fastcmp.core.checks import as_whole, check_size, choose
from fastcmp.core.errors import BadTypeError, BadValueError
from fastcmp.core.typing import ColumnLike, Floats
from fastcmp.crossval.fold_tests import fold_test
from fastcmp.crossval.runs import take_rows
from fastcmp.inputs.columns import count_rows

_SCORINGS = {"classifier": "accuracy", "regressor": "r2"}


def scikit_learn(module: str) -> Any:
    """Import a module of scikit-learn, such as "base"."""
    try:
        return import_module(f"sklearn.{module}")
    except ImportError:
        raise ImportError(
            "this function needs scikit-learn, which is not installed: pip install 'fastcmp[cv]'"
        ) from None


def kind_of(estimator: Any) -> str | None:
    """The kind, "classifier" or "regressor"; None where the estimator does not say."""
    base = scikit_learn("base")
    try:
        # Release 1.7 warns where others raise.
        _ = estimator.__sklearn_tags__
        if base.is_classifier(estimator):
            return "classifier"
        if base.is_regressor(estimator):
            return "regressor"
    except AttributeError:  # no estimator of scikit-learn
        pass
    return getattr(estimator, "_estimator_type", None)


def scorer_of(estimator: Any, scoring: str | Callable[..., float] | None) -> Callable[..., Any]:
    """The function of a fitted estimator, X and y that scores it.

    The kind of the estimator chooses the default.
    """
    if callable(scoring):
        return scoring
    if scoring is None:
        scoring = _SCORINGS.get(kind_of(estimator) or "")
        if scoring is None:
            raise BadValueError(
                "`scoring` must be given for an estimator that is neither a classifier nor a "
                f"regressor of scikit-learn, such as {estimator!r}"
            )
    if not isinstance(scoring, str):
        raise BadTypeError(
            "`scoring` must be the name of a scorer of scikit-learn, a function of estimator, "
            "X and y, or None",
            repr(scoring),
        )
    return scikit_learn("metrics").get_scorer(scoring)  # type: ignore[no-any-return]


# Tests of two estimators, fitted on parts of the data.


_STATES = 32767  # mlxtend draws the states of its splits below it


def paired_ttest_5x2cv(
    estimator1: Any,
    estimator2: Any,
    X: Any,
    y: ColumnLike,
    scoring: str | Callable[..., float] | None = None,
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
    X: Any,
    y: ColumnLike,
    scoring: str | Callable[..., float] | None = None,
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
    X: Any,
    y: ColumnLike,
    cv: int = 10,
    scoring: str | Callable[..., float] | None = None,
    shuffle: bool = False,
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
    X: Any,
    y: ColumnLike,
    num_rounds: int = 30,
    test_size: float = 0.3,
    scoring: str | Callable[..., float] | None = None,
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
        raise BadTypeError(
            "`test_size` must be a proportion or a number of samples", repr(test_size)
        )
    splits = _random_splits(X, y, num_rounds, test_size, random_seed)
    return _test("resampled-t", (estimator1, estimator2), scoring, splits, (num_rounds,))


def _random_splits(
    X: Any, y: ColumnLike, n: int, test_size: float, seed: int | None
) -> Iterator[tuple[Any, ...]]:
    """Split as mlxtend does: the generator of the seed draws a state for each split."""
    split = scikit_learn("model_selection").train_test_split
    states = np.random.RandomState(seed)  # as mlxtend
    for _ in range(n):
        state = states.randint(0, _STATES)
        X1, X2, y1, y2 = split(X, y, test_size=test_size, random_state=state)
        yield (X1, y1), (X2, y2)


def _halves(X: Any, y: ColumnLike, seed: int | None) -> Iterator[tuple[Any, ...]]:
    """Five random halvings, each half tested on once."""
    for first, second in _random_splits(X, y, 5, 0.5, seed):
        yield first, second
        yield second, first


def _test(
    method: str,
    estimators: tuple[Any, Any],
    scoring: str | Callable[..., float] | None,
    splits: Iterable[tuple[Any, ...]],
    shape: tuple[int, ...],
) -> tuple[float, float]:
    """Fit and score both estimators on pairs of training and test set, and test by folds."""
    scorer, clone = scorer_of(estimators[0], scoring), scikit_learn("base").clone
    differences = []
    for train, test in splits:
        scores = []
        for name, estimator in zip(("estimator1", "estimator2"), estimators, strict=True):
            model = clone(estimator, safe=False)
            model.fit(*train)
            scores.append(float(scorer(model, *test)))
            if not np.isfinite(scores[-1]):
                raise BadValueError("`scores` must be finite numbers", f"{scores[-1]} for {name}")
        differences.append(scores[0] - scores[1])
    result = fold_test(np.reshape(differences, shape), method)
    return float(result.statistic), float(result.pvalue)


# Bootstrap estimates of an estimator's score, and of its bias and variance.


_RULES = (".632", ".632+", "oob")


def bootstrap_point632_score(
    estimator: Any,
    X: Any,
    y: ColumnLike,
    n_splits: int = 200,
    method: str = ".632",
    scoring_func: Callable[..., float] | None = None,
    predict_proba: bool = False,
    random_seed: int | None = None,
    clone_estimator: bool = True,
    **fit_params: Any,
) -> Floats:
    """Efron's .632 and .632+ bootstrap of a score, like `mlxtend.evaluate`.

    Parameters
    ----------
    estimator : object
        Classifier or regressor of scikit-learn, or an object with the same methods.
    X : array, sparse matrix, list or frame, n rows
        Predictors.
    y : array-like, shape (n,)
        Targets.
    n_splits : int
        Number of resamples, at least 1.
    method : {".632", ".632+", "oob"}
        ".632" is 0.632 times the score on samples left out of a resample plus 0.368
        times the apparent score. ".632+" has weights that depend on overfitting. "oob"
        is the score on samples left out.
    scoring_func : callable, optional
        Of true and predicted labels; by default accuracy for classifiers and mean
        squared error for regressors.
    predict_proba : bool
        Give `scoring_func` probabilities, those of the second class where there are
        two.
    random_seed : int, optional
        Seed of the resamples.
    clone_estimator : bool
        False fits `estimator` itself.
    **fit_params : Any
        For ``fit``. Those with one entry per sample are resampled with X and y.

    Returns
    -------
    ndarray of float64, shape (n_splits,)
        Their mean is the estimate. Their standard deviation is not its standard error.

    Raises
    ------
    ValueError
        If lengths differ, an option is unknown, a resample leaves out no sample, or
        `scoring_func` is needed.
    TypeError
        If `n_splits` is no whole number.
    ImportError
        If scikit-learn is not installed.

    See Also
    --------
    fastcmp.compare_cv : Whether one of two classifiers learns better.

    Notes
    -----
    "oob" is as in mlxtend 0.25 for the same seed. The two others differ.

    - The apparent score is that of an estimator trained on all samples and scored on
      the same ones [1]_, [2]_. mlxtend scores each resample's estimator on all samples,
      of which it has not seen 36.8%. For a nearest neighbour, whose apparent error is
      0, it gives 0.767 times the error on samples left out, instead of 0.632 times.
    - The overfitting rate R of ".632+" is that of the mean over all resamples, limited
      to [0, 1]. mlxtend uses R of each resample without limits: its weights may be
      negative, infinite or NaN.
    - With ``predict_proba=True`` and "oob" mlxtend raises UnboundLocalError for two
      classes, and the no-information score of ".632+" is that of labels, not of
      probabilities.
    - mlxtend passes ``sample_weight`` to each resample in the order of the data, so
      weights are applied to other samples.

    n_splits + 1 fits. Except for the default scores, the no-information score needs the
    n**2 pairs of a target and a prediction.

    References
    ----------
    .. [1] B. Efron, "Estimating the error rate of a prediction rule: improvement on
       cross-validation", Journal of the American Statistical Association 78 (1983)
       316-331.
    .. [2] B. Efron, R. Tibshirani, "Improvements on cross-validation: the .632+
       bootstrap method", Journal of the American Statistical Association 92 (1997)
       548-560, equations (24) to (32).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from fastcmp.compat.mlxtend import bootstrap_point632_score
    >>> data = load_iris(return_X_y=True)
    >>> scores = bootstrap_point632_score(KNeighborsClassifier(1), *data, random_seed=1)
    >>> scores.shape, round(float(scores.mean()), 3)
    ((200,), 0.974)
    """
    n_splits = as_whole(n_splits, "n_splits", 1)
    method = choose(method, "method", _RULES)
    score = scoring_func or _default_score(estimator, predict_proba=predict_proba)
    labels = y if hasattr(y, "iloc") else np.asarray(y)
    n = _check_rows(X, labels)
    everything = np.arange(n)

    def predict(train: NDArray[np.intp], test: NDArray[np.intp]) -> NDArray[Any]:
        model = _fit(estimator, X, labels, train, fit_params, clone=clone_estimator)
        predict = model.predict_proba if predict_proba else model.predict
        predicted = np.asarray(predict(take_rows(X, test)))
        if predicted.ndim == 2 and predicted.shape[1] == 2 and predict_proba:
            return predicted[:, 1]
        return predicted

    true = np.asarray(labels)
    scores = np.empty(n_splits)
    for i, train in enumerate(resamples(n, n_splits, random_seed)):
        out = np.setdiff1d(everything, train)
        if not out.size:
            raise BadValueError("`X` must be large enough to leave samples out", f"{n} rows")
        scores[i] = score(true[out], predict(train, out))
    if method == "oob":
        return scores
    predicted = predict(everything, everything)
    apparent = float(score(true, predicted))
    corrected = 0.368 * apparent + 0.632 * scores
    if method == ".632":
        return np.asarray(corrected)
    is_default = scoring_func is None
    chance = _no_information(true, predicted, score, decomposes=is_default)
    return np.asarray(corrected + _overfitting(apparent, scores.mean(), chance))


def _overfitting(apparent: float, left_out: float, chance: float) -> float:
    """What .632+ adds to .632 (Efron and Tibshirani's equation 32).

    Linear in all scores, so the same for errors, accuracies and losses.
    """
    gap = chance - apparent
    rate = min(max((left_out - apparent) / gap, 0.0), 1.0) if gap else 0.0
    return rate * gap * 0.368 * 0.632 * rate / (1 - 0.368 * rate)


def _no_information(
    true: NDArray[Any], predicted: NDArray[Any], score: Callable[..., float], *, decomposes: bool
) -> float:
    """Score every prediction against every target."""
    n = len(true)
    if decomposes:  # a mean over pairs is a mean over distinct predictions
        distinct, counts = np.unique(predicted, return_counts=True)
        scores = [score(true, np.full(n, value)) for value in distinct]
        return float(np.dot(counts, scores) / n)
    return float(score(np.repeat(true, n), np.concatenate([predicted] * n)))


def _default_score(estimator: Any, *, predict_proba: bool) -> Callable[..., float]:
    kind = kind_of(estimator)
    if predict_proba or kind not in {"classifier", "regressor"}:
        raise BadValueError(
            "`scoring_func` must be given where probabilities are predicted, and for an "
            "estimator that is neither a classifier nor a regressor of scikit-learn"
        )
    if kind == "classifier":
        return lambda true, predicted: float(np.mean(true == predicted))
    return lambda true, predicted: float(np.mean((true - predicted) ** 2))


def bias_variance_decomp(
    estimator: Any,
    X_train: Any,
    y_train: ArrayLike,
    X_test: Any,
    y_test: ArrayLike,
    loss: str = "0-1_loss",
    num_rounds: int = 200,
    random_seed: int | None = None,
    **fit_params: Any,
) -> tuple[float, float, float]:
    """Decompose a loss into bias and variance, like `mlxtend.evaluate`.

    Parameters
    ----------
    estimator : object
        Has ``fit`` and ``predict`` as in scikit-learn. Clones are fitted.
    X_train : array, sparse matrix, list or frame, n rows
        Predictors to draw resamples from.
    y_train : array-like, shape (n,)
        Their targets.
    X_test : array, sparse matrix, list or frame, m rows
        Predictors to test on.
    y_test : array-like, shape (m,)
        Their targets.
    loss : {"0-1_loss", "mse"}
        Of classes, or of numbers.
    num_rounds : int
        Number of resamples, at least 1.
    random_seed : int, optional
        Seed of the resamples.
    **fit_params : Any
        For ``fit``. Those with one entry per sample are resampled with the data.

    Returns
    -------
    avg_expected_loss : float
        Mean loss over resamples and test samples.
    avg_bias : float
        Loss of the main prediction: the most frequent class (the lowest of several), or
        the mean. For "mse" it is the squared bias.
    avg_var : float
        Mean loss of predictions where the main prediction is the truth.

    Raises
    ------
    ValueError
        If lengths differ, `loss` is unknown, or a label is missing.
    TypeError
        If `num_rounds` is no whole number, or labels can never be equal.
    ImportError
        If scikit-learn is not installed.

    See Also
    --------
    fastcmp.compare_cv : Whether one of two classifiers learns better.

    Notes
    -----
    The resamples are mlxtend's for the same seed, and so are the numbers, except where
    classes are not whole numbers >= 0: mlxtend 0.25 truncates 0.5 to 0, which makes
    every prediction of such a class wrong, and raises ValueError for -1 and for text.
    It passes ``sample_weight`` to each resample in the order of the data, so weights
    are applied to other samples. Networks of Keras are copied, not reset.

    For "mse" the loss is bias plus variance. For "0-1_loss" it is not, because variance
    helps where the main prediction is wrong.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from fastcmp.compat.mlxtend import bias_variance_decomp
    >>> X, y = load_iris(return_X_y=True)
    >>> tree = DecisionTreeClassifier(random_state=1)
    >>> loss, bias, variance = bias_variance_decomp(
    ...     tree, X[::2], y[::2], X[1::2], y[1::2], num_rounds=50, random_seed=1
    ... )
    >>> loss < 0.1, variance < 0.1
    (True, True)
    """
    loss = choose(loss, "loss", ("0-1_loss", "mse"))
    num_rounds = as_whole(num_rounds, "num_rounds", 1)
    labels = y_train if hasattr(y_train, "iloc") else np.asarray(y_train)
    n, n_test = _check_rows(X_train, labels), _check_rows(X_test, y_test, "X_test")
    predicted = []
    for train in resamples(n, num_rounds, random_seed):
        model = _fit(estimator, X_train, labels, train, fit_params, clone=True)
        predicted.append(np.asarray(model.predict(X_test)).reshape(n_test))
    if loss == "mse":
        numbers = np.asarray(predicted, np.float64)
        targets = np.asarray(y_test, np.float64)
        main = numbers.mean(axis=0)
        losses = (numbers - targets) ** 2, (main - targets) ** 2, (numbers - main) ** 2
    else:
        (codes, right), classes = shared_codes(
            {"predictions": np.concatenate(predicted), "y_test": y_test}
        )
        table = codes.reshape(num_rounds, n_test)
        votes = [(table == k).sum(axis=0) for k in range(len(classes))]
        main = np.argmax(votes, axis=0)
        losses = table != right, main != right, table != main
    expected, bias, variance = (float(np.mean(loss_of_samples)) for loss_of_samples in losses)
    return expected, bias, variance


def _check_rows(X: Any, y: Any, name: str = "X") -> int:
    n = count_rows(X, name)
    if n != count_rows(y, "y"):
        raise BadValueError(f"`{name}` has {n} rows, its targets are {count_rows(y, 'y')}")
    check_size(n, name, "row", 1)
    return n


def _fit(  # one fit and all it needs
    estimator: Any, X: Any, y: Any, rows: NDArray[np.intp], params: dict[str, Any], *, clone: bool
) -> Any:
    """Fit on some rows, and select these rows of parameters with an entry per row."""
    model = scikit_learn("base").clone(estimator, safe=False) if clone else estimator
    n = count_rows(X, "X")
    fit_params = {
        name: take_rows(value, rows)
        if hasattr(value, "__len__") and not isinstance(value, (str, dict)) and len(value) == n
        else value
        for name, value in params.items()
    }
    model.fit(take_rows(X, rows), take_rows(y, rows), **fit_params)
    return model
