"""Unfitted classifiers compared by cross-validation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fastcmp.core.checks import as_seed
from fastcmp.core.options import ALTERNATIVES, choose
from fastcmp.crossval.comparison_result import CVComparison, evaluate_pair
from fastcmp.crossval.fits import fit_models
from fastcmp.crossval.plans import choose_designs, read_plan, read_tests
from fastcmp.crossval.several import compare_data_sets, refuse_several
from fastcmp.inputs.model_names import read_pair_names

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from os import PathLike

    from numpy.typing import ArrayLike

    from fastcmp.core.progress import Progress
    from fastcmp.crossval.comparison_result import CVPairwiseResult
    from fastcmp.crossval.designs import Design
    from fastcmp.crossval.several_result import CVDatasetsResult

_NAMES = ("a", "b")


def compare_cv(
    model_a: Any,
    model_b: Any,
    X: Any,  # noqa: N803  # scikit-learn's name
    y: ArrayLike,
    *,
    test: str | Sequence[str] = "bcv-mcnemar",
    design: Design | Sequence[Design] | None = None,
    scoring: Any = None,
    alternative: str = "two-sided",
    stratify: bool = False,
    groups: ArrayLike | None = None,
    rng: Any = None,
    workers: int | None = None,
    progress: bool | Progress | None = None,
    names: tuple[str, str] = _NAMES,
) -> CVComparison:
    """Compare two unfitted classifiers by cross-validation.

    Parameters
    ----------
    model_a, model_b : object
        Classifiers of scikit-learn's kind, with methods ``fit`` and ``predict``.
        Clones of them are fitted; they themselves are not changed.
    X : array, sparse matrix, list or frame, n rows
        Predictors.
    y : array-like, shape (n,)
        True labels.
    test : str or sequence of str
        One test or several, which share the fits of the splits that they have in
        common. Known are "bcv-mcnemar", "holdout-mcnemar", "naive-mcnemar",
        "resampled-t", "kfold-t", "dietterich-t", "nadeau-bengio-t",
        "bouckaert-frank-t", "bouckaert-t", "yildiz-t", "blocked-t", "alpaydin-f",
        "calibrated-f", "proportion-z", "conservative-z" and "bayle-z".
    design : Design or sequence of Design, optional
        Splits of `fastcmp.designs`; by default each test gets those that its authors
        describe.
    scoring : str or callable, optional
        As in `sklearn.model_selection.cross_validate`; accuracy by default. Tests that
        count right predictions take no other.
    alternative : {"two-sided", "greater", "less"}
        "greater": a is better.
    stratify : bool
        Whether each fold has the classes in the same proportions, in the default
        designs.
    groups : array-like, shape (n,), optional
        Samples of a group are never on both sides of a split.
    rng : int or numpy.random.Generator, optional
        Source of the splits, and of the random states of models that have none; both
        models get the same. `seed` of the result repeats it.
    workers : int, optional
        Processes that fit models; -1 for one a processor. By default as joblib is set,
        which is one if nothing else was said. The result is the same for any number.
    progress : bool or callable, optional
        True draws a bar; a function is called with the fits done and all fits.
    names : tuple of two str
        What to call the models.

    Returns
    -------
    CVComparison
        The record of each test, and all predictions: another test on the same design
        needs no fit.

    Raises
    ------
    ValueError
        If a test or an option is unknown, a test does not fit the design, lengths
        differ, labels are missing, or a training set has one class only.
    TypeError
        If a model is not a classifier.
    RuntimeError
        If a model fails; the message names the model, the repetition and the fold.
    ImportError
        If scikit-learn is not installed.

    See Also
    --------
    compare_cv_all : Many models in pairs.
    compare_holdout : Models that are fitted already.

    References
    ----------
    .. [1] T. G. Dietterich, "Approximate statistical tests for comparing supervised
       classification learning algorithms", Neural Computation 10 (1998) 1895-1923.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from fastcmp import compare_cv
    >>> X, y = load_iris(return_X_y=True)
    >>> stump = DecisionTreeClassifier(max_depth=1)
    >>> result = compare_cv(GaussianNB(), stump, X, y, rng=1)
    >>> result.pvalue < 0.001
    True
    >>> result.test("calibrated-f").pvalue < 0.05
    True
    """
    tests = read_tests(test)
    alternative = choose(alternative, "alternative", ALTERNATIVES)
    named = list(zip(read_pair_names(names), (model_a, model_b), strict=True))
    seed = as_seed(rng)
    runs = fit_models(
        named,
        X,
        y,
        choose_designs(tests, design, scoring, alternative, stratify, seed),
        groups=groups,
        scoring=scoring,
        seed=seed,
        workers=workers,
        progress=progress,
    )
    return CVComparison(
        tests={each.name: evaluate_pair(runs, each, alternative) for each in tests},
        runs=runs,
        alternative=alternative,
    )


def compare_cv_all(
    models: Mapping[str, Any] | Sequence[Any],
    X: Any,  # noqa: N803  # scikit-learn's name
    y: ArrayLike | None = None,
    *,
    test: str = "bcv-mcnemar",
    design: Design | None = None,
    scoring: Any = None,
    adjust: str = "holm",
    alpha: float = 0.05,
    pairs: Sequence[tuple[int | str, int | str]] | None = None,
    control: int | str | None = None,
    stratify: bool = False,
    groups: Any = None,
    rng: Any = None,
    workers: int | None = None,
    progress: bool | Progress | None = None,
    checkpoint: str | PathLike[str] | None = None,
) -> CVPairwiseResult | CVDatasetsResult:
    """Compare many classifiers by cross-validation, all pairs at once.

    On one data set, or on each of several and over all of them.

    Parameters
    ----------
    models : mapping or sequence
        Classifiers by name, or a list of them, which are named "model_0", ...
    X : array, sparse matrix, list or frame, n rows; or mapping
        Predictors. For several data sets a mapping name -> (X, y), without `y`.
    y : array-like, shape (n,)
        True labels.
    test : str
        As in `compare_cv`.
    design : Design, optional
        As in `compare_cv`.
    scoring : str or callable, optional
        As in `compare_cv`.
    adjust : str
        Adjustment for the number of pairs, as in `adjust`: "holm", "hommel", "bh", ...
    alpha : float
        Error rate of the decisions, in (0, 1); which one, depends on `adjust`.
    pairs : sequence of pairs, optional
        Compare only these, by name or index.
    control : int or str, optional
        Compare only this model with all others.
    stratify : bool
        As in `compare_cv`.
    groups : array-like, shape (n,), optional
        As in `compare_cv`; for several data sets a mapping name -> groups.
    rng : int or numpy.random.Generator, optional
        As in `compare_cv`. Splits and random states of one of several data sets are a
        function of the seed and its name, whatever the others are.
    workers : int, optional
        As in `compare_cv`.
    progress : bool or callable, optional
        As in `compare_cv`.
    checkpoint : str or path, optional
        Folder in which the predictions of each of several data sets are kept as soon as
        it is finished: the same call takes them from there after a stop.

    Returns
    -------
    CVPairwiseResult or CVDatasetsResult
        Differences, p-values, decisions, leaderboard and groups of ties, as from
        `compare_all`, with all predictions. The intervals of the scores are those of
        the corrected resampled t, for a single split Wilson's; they are NaN where the
        scores of a model do not vary. Intervals of differences are NaN for tests that
        have none for the mean: F tests, the naive McNemar's and Dietterich's. For
        several data sets a record of these, which compares the models over data sets.

    Raises
    ------
    ValueError
        If there are fewer than two models, or as in `compare_cv`; if a checkpoint is of
        other models, data or options.
    TypeError
        If a model is not a classifier.
    RuntimeError
        If a model fails; the message names the model, the repetition and the fold, and
        which of several data sets.
    ImportError
        If scikit-learn is not installed.

    See Also
    --------
    compare_all : Models on one set of samples.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.dummy import DummyClassifier
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from fastcmp import compare_cv_all
    >>> models = {
    ...     "bayes": GaussianNB(),
    ...     "knn": KNeighborsClassifier(),
    ...     "majority": DummyClassifier(),
    ... }
    >>> result = compare_cv_all(models, *load_iris(return_X_y=True), rng=1)
    >>> sorted(result.best)
    ['bayes', 'knn']

    Several data sets:

    >>> from sklearn.datasets import load_wine
    >>> data = {"iris": load_iris(return_X_y=True), "wine": load_wine(return_X_y=True)}
    >>> several = compare_cv_all(models, data, rng=1)
    >>> several.scores.round(2).tolist()
    [[0.94, 0.97], [0.95, 0.69], [0.28, 0.4]]
    """
    plan = read_plan(models, test, design, scoring, stratify, (adjust, alpha, pairs, control))
    if y is None:
        return compare_data_sets(
            plan,
            X,
            groups,
            seed=as_seed(rng),
            workers=workers,
            progress=progress,
            checkpoint=checkpoint,
        )
    refuse_several(X, checkpoint)
    fitting = {"groups": groups, "workers": workers, "progress": progress}
    return plan.compare(plan.fit(X, y, as_seed(rng), **fitting))
