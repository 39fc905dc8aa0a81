"""Unfitted classifiers compared by cross-validation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp import kernels
from fastcmp.core.checks import as_seed, as_share
from fastcmp.core.options import ALTERNATIVES, choose
from fastcmp.counts.pairs import all_pairs, choose_pairs
from fastcmp.crossval.comparison_result import (
    CVComparison,
    CVPairwiseResult,
    difference_interval,
    evaluate_pair,
)
from fastcmp.crossval.designs import Design
from fastcmp.crossval.fits import fit_models
from fastcmp.crossval.registry import CVTest, find_test
from fastcmp.crossval.t_tests import nadeau_bengio_t
from fastcmp.inputs.model_names import read_pair_names
from fastcmp.pairwise.adjust import OF_PAIRS, promise
from fastcmp.pairwise.adjust import adjust as adjust_pvalues
from fastcmp.pairwise.logical_adjust import check_all_pairs

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import ArrayLike, NDArray

    from fastcmp.core.progress import Progress
    from fastcmp.crossval.runs import CVRuns, DesignRun

_NAMES = ("a", "b")


def compare_cv(  # noqa: PLR0913  # options, all by keyword
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
    tests = _read_tests(test)
    alternative = choose(alternative, "alternative", ALTERNATIVES)
    named = list(zip(read_pair_names(names), (model_a, model_b), strict=True))
    seed = as_seed(rng)
    runs = fit_models(
        named,
        X,
        y,
        _choose_designs(tests, design, scoring, alternative, stratify, seed),
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


def compare_cv_all(  # noqa: PLR0913  # options, all by keyword
    models: Mapping[str, Any] | Sequence[Any],
    X: Any,  # noqa: N803  # scikit-learn's name
    y: ArrayLike,
    *,
    test: str = "bcv-mcnemar",
    design: Design | None = None,
    scoring: Any = None,
    adjust: str = "holm",
    alpha: float = 0.05,
    pairs: Sequence[tuple[int | str, int | str]] | None = None,
    control: int | str | None = None,
    stratify: bool = False,
    groups: ArrayLike | None = None,
    rng: Any = None,
    workers: int | None = None,
    progress: bool | Progress | None = None,
) -> CVPairwiseResult:
    """Compare many classifiers by cross-validation, all pairs at once.

    Parameters
    ----------
    models : mapping or sequence
        Classifiers by name, or a list of them, which are named "model_0", ...
    X : array, sparse matrix, list or frame, n rows
        Predictors.
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
        As in `compare_cv`.
    rng : int or numpy.random.Generator, optional
        As in `compare_cv`.
    workers : int, optional
        As in `compare_cv`.
    progress : bool or callable, optional
        As in `compare_cv`.

    Returns
    -------
    CVPairwiseResult
        Differences, p-values, decisions, leaderboard and groups of ties, as from
        `compare_all`, with all predictions. The intervals of the scores are those of
        the corrected resampled t, for a single split Wilson's; they are NaN where the
        scores of a model do not vary. Intervals of differences are NaN for tests that
        have none for the mean: F tests, the naive McNemar's and Dietterich's.

    Raises
    ------
    ValueError
        If there are fewer than two models, or as in `compare_cv`.
    TypeError
        If a model is not a classifier.
    RuntimeError
        If a model fails; the message names the model, the repetition and the fold.
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
    """
    if not isinstance(test, str):
        message = f"test must be the name of one test, got {test!r}"
        raise TypeError(message)
    (chosen,) = _read_tests(test)
    adjust = choose(adjust, "adjust", OF_PAIRS)
    alpha = as_share(alpha, "alpha")
    named = _read_models(models)
    names = tuple(name for name, _ in named)
    which = choose_pairs(names, pairs, control)
    check_all_pairs(adjust, len(names), chosen=which is not None)
    which = all_pairs(len(names)) if which is None else which
    seed = as_seed(rng)
    runs = fit_models(
        named,
        X,
        y,
        _choose_designs([chosen], design, scoring, "two-sided", stratify, seed),
        groups=groups,
        scoring=scoring,
        seed=seed,
        workers=workers,
        progress=progress,
    )
    run = runs.find(chosen)
    record = chosen.run(runs.outcomes(run, which))
    means = runs.means(run)
    return CVPairwiseResult(
        statistic=record.statistic,
        pvalue=record.pvalue,
        pvalue_adjusted=adjust_pvalues(record.pvalue, method=adjust),
        pairs=which,
        difference=means[which[:, 0]] - means[which[:, 1]],
        interval=difference_interval(record, 1 - alpha),
        names=names,
        score=means,
        score_interval=_score_intervals(runs, run, 1 - alpha),
        measure=runs.measure,
        n_samples=runs.y.size,
        test=chosen.name,
        method=str(run.design),
        adjust=adjust,
        alpha=alpha,
        rule=promise(adjust, alpha),
        df=getattr(record, "df", None),
        distribution=record.distribution,
        control=None if control is None else names[which[0, 0]],
        runs=runs,
    )


def _read_tests(test: str | Sequence[str]) -> list[CVTest]:
    if not isinstance(test, (str, Sequence)):
        message = f"test must be the name of a test or a list of names, got {test!r}"
        raise TypeError(message)
    names = [test] if isinstance(test, str) else list(test)
    if not names:
        message = "test must name at least one test, got none"
        raise ValueError(message)
    found = [find_test(name) for name in names]
    return list({each.name: each for each in found}.values())


def _read_models(models: Any) -> list[tuple[str, Any]]:
    if hasattr(models, "items"):
        named = [(str(name), model) for name, model in models.items()]
    elif isinstance(models, (list, tuple)):
        named = [(f"model_{i}", model) for i, model in enumerate(models)]
    else:
        message = f"models must be a mapping or a list of classifiers, got {models!r}"
        raise TypeError(message)
    if len(named) < 2:
        message = f"models must hold at least 2 classifiers, got {len(named)}"
        raise ValueError(message)
    if len(dict(named)) < len(named):
        message = f"models must have different names, got {[name for name, _ in named]}"
        raise ValueError(message)
    return named


def _choose_designs(
    tests: list[CVTest],
    design: Design | Sequence[Design] | None,
    scoring: Any,
    alternative: str,
    stratify: bool,  # noqa: FBT001  # handed on
    seed: int,
) -> list[Design]:
    """One design for each test, those that are equal once."""
    for test in tests:
        test.check_options(alternative, counted=scoring in (None, "accuracy"))
    if design is None:
        made = [test.design(stratify=stratify, rng=seed) for test in tests]
        return list(dict.fromkeys(made))
    given: list[Any] = list(design) if isinstance(design, (tuple, list)) else [design]
    for each in given or [design]:
        if not isinstance(each, Design):
            message = f"design must be made by fastcmp.designs, got {each!r}"
            raise TypeError(message)
    if stratify:
        message = "stratify is for the default designs: pass it to that of design="
        raise ValueError(message)
    for test in tests:
        if not any(map(test.accepts, given)):
            test.check_design(given[0])
    return given


def _score_intervals(runs: CVRuns, run: DesignRun, level: float) -> NDArray[np.float64]:
    whole = runs.scores(run)[:, : run.design.n_repeats]  # not those within halves
    flat = whole.reshape(len(whole), -1)
    if flat.shape[1] == 1 and runs.measure != "accuracy":
        return np.full((len(flat), 2), np.nan)
    if flat.shape[1] == 1:  # one split: its samples are independent
        right = [round(x * run.n_test) for x in flat[:, 0]]
        return np.array([kernels.wilson_interval(k, run.n_test, level) for k in right])
    record = nadeau_bengio_t(flat, n_train=run.n_train, n_test=run.n_test)
    ends = np.stack(record.confidence_interval(level), axis=-1)
    ends[record.status != kernels.OK] = np.nan
    return np.clip(ends, 0.0, 1.0) if runs.measure == "accuracy" else ends
