"""Unfitted classifiers compared by cross-validation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from hashlib import blake2b
from os import PathLike
from typing import Any

import numpy as np

from fastcmp import kernels
from fastcmp.core.checks import (
    ALTERNATIVES,
    LARGEST_SEED,
    as_proportion,
    as_seed,
    check_size,
    choose,
)
from fastcmp.core.errors import BadTypeError, BadValueError
from fastcmp.core.threads import Progress, reporting
from fastcmp.core.typing import ColumnLike, Floats, Seed
from fastcmp.counts.pairs import all_pairs, choose_pairs
from fastcmp.crossval.comparison_result import (
    CVComparison,
    CVDatasetsResult,
    CVPairwiseResult,
    difference_interval,
    evaluate_pair,
)
from fastcmp.crossval.designs import Design
from fastcmp.crossval.fold_tests import CVTest, find_test, fold_test
from fastcmp.crossval.runs import (
    CVRuns,
    DesignRun,
    fit_models,
    load_runs,
    open_folder,
    save_runs,
    settings_of,
)
from fastcmp.inputs.model_names import read_pair_names
from fastcmp.pairwise.adjust import OF_PAIRS, check_all_pairs, promise
from fastcmp.pairwise.adjust import adjust as adjust_pvalues


def read_pairs(
    names: tuple[str, ...], adjust: str, alpha: float, pairs: Any, control: Any
) -> dict[str, Any]:
    """Fields of a record of pairs: which pairs are decided about, and how."""
    adjust = choose(adjust, "adjust", OF_PAIRS)
    alpha = as_proportion(alpha, "alpha")
    indices = choose_pairs(names, pairs, control)
    check_all_pairs(adjust, len(names), some=indices is not None)
    indices = all_pairs(len(names)) if indices is None else indices
    return {
        "names": names,
        "adjust": adjust,
        "alpha": alpha,
        "rule": promise(adjust, alpha),
        "pairs": indices,
        "control": None if control is None else names[indices[0, 0]],
    }


def pair_fields(options: dict[str, Any], record: Any, means: Floats) -> dict[str, Any]:
    """Fields of a record of pairs: what was asked for, and a test of all pairs."""
    i, j = options["pairs"].T
    return options | {
        "statistic": record.statistic,
        "pvalue": record.pvalue,
        "pvalue_adjusted": adjust_pvalues(record.pvalue, method=options["adjust"]),
        "difference": means[i] - means[j],
        "interval": difference_interval(record, 1 - options["alpha"]),
        "score": means,
        "df": getattr(record, "df", None),
        "distribution": record.distribution,
    }


def read_tests(test: str | Sequence[str]) -> list[CVTest]:
    """Tests by their names, each once."""
    if not isinstance(test, (str, Sequence)):
        raise BadTypeError("`test` must be the name of a test or a list of names", repr(test))
    names = [test] if isinstance(test, str) else list(test)
    check_size(len(names), "test", "test", 1, "name")
    rows = [find_test(name) for name in names]
    return list({row.name: row for row in rows}.values())


def read_models(models: object) -> list[tuple[str, Any]]:
    """List models with their names."""
    if hasattr(models, "items"):
        named = [(str(name), model) for name, model in models.items()]
    elif isinstance(models, (list, tuple)):
        named = [(f"model_{i}", model) for i, model in enumerate(models)]
    else:
        raise BadTypeError("`models` must be a mapping or a list of classifiers", repr(models))
    check_size(len(named), "models", "classifiers")
    if len(dict(named)) < len(named):
        raise BadValueError("`models` must have different names", [name for name, _ in named])
    return named


def choose_designs(
    tests: list[CVTest],
    design: Design | Sequence[Design] | None,
    scoring: str | Callable[..., float] | None,
    alternative: str,
    seed: int,
    *,
    stratify: bool,
) -> list[Design]:
    """A design for each test, equal ones once."""
    for test in tests:
        test.check_options(alternative, counted=scoring in (None, "accuracy"))
    if design is None:
        defaults = [test.splits.design(stratify=stratify, rng=seed) for test in tests]
        return list(dict.fromkeys(defaults))
    designs: list[Any] = list(design) if isinstance(design, (tuple, list)) else [design]
    for entry in designs or [design]:
        if not isinstance(entry, Design):
            raise BadTypeError("`design` must be made by fastcmp.designs", repr(entry))
    if stratify:
        raise BadValueError(
            "`stratify` is for the default designs", remedy=": pass it to that of `design=`"
        )
    for test in tests:
        if not any(map(test.accepts, designs)):
            test.check_design(designs[0])
    return designs


def _score_intervals(runs: CVRuns, run: DesignRun, level: float) -> Floats:
    whole = runs.scores(run)[:, : run.design.n_repeats]  # not those within halves
    flat = whole.reshape(len(whole), -1)
    if flat.shape[1] == 1 and runs.measure != "accuracy":
        return np.full((len(flat), 2), np.nan)
    if flat.shape[1] == 1:  # one split: its samples are independent
        right = [round(x * run.n_test) for x in flat[:, 0]]
        return np.array([kernels.wilson_interval(k, run.n_test, level) for k in right])
    record = fold_test(flat, "nadeau-bengio-t", n_train=run.n_train, n_test=run.n_test)
    ends = np.stack(record.confidence_interval(level), axis=-1)
    ends[record.status != kernels.OK] = np.nan
    return np.clip(ends, 0.0, 1.0) if runs.measure == "accuracy" else ends


def _read_data(X: Any, groups: object) -> dict[str, tuple[Any, Any, Any]]:
    """X, y and groups of each data set."""
    if not isinstance(X, Mapping):
        raise BadTypeError(
            "`y` must be given with X; or X is a mapping {name: (X, y)} of several data sets",
            type(X).__name__,
        )
    check_size(len(X), "X", "data set", 1)
    if groups is not None and not isinstance(groups, Mapping):
        raise BadTypeError(
            "`groups` must be a mapping from data sets to their groups", type(groups).__name__
        )
    of_data = {} if groups is None else {str(key): g for key, g in groups.items()}
    data: dict[str, tuple[Any, Any, Any]] = {}
    for key, pair in X.items():
        name = str(key)
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            raise BadTypeError(
                "`X` must hold a pair (X, y) for each data set",
                f"{type(pair).__name__} for {name!r}",
            )
        if name in data:
            raise BadValueError("`X` must name data sets differently", f"{name!r} twice")
        data[name] = (pair[0], pair[1], of_data.pop(name, None))
    if of_data:
        raise BadValueError("`groups` must be of the data sets", f"{sorted(of_data)[:4]} as well")
    return data


_NAMES = ("a", "b")


def compare_cv(
    model_a: Any,
    model_b: Any,
    X: Any,
    y: ColumnLike,
    *,
    test: str | Sequence[str] = "bcv-mcnemar",
    design: Design | Sequence[Design] | None = None,
    scoring: str | Callable[..., float] | None = None,
    alternative: str = "two-sided",
    stratify: bool = False,
    groups: ColumnLike | None = None,
    rng: Seed = None,
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
        groups,
        choose_designs(tests, design, scoring, alternative, seed, stratify=stratify),
        scoring=scoring,
        seed=seed,
        workers=workers,
        progress=progress,
    )
    return CVComparison(
        tests={row.name: evaluate_pair(runs, row, alternative) for row in tests},
        runs=runs,
        alternative=alternative,
    )


def compare_cv_all(
    models: Mapping[str, Any] | Sequence[Any],
    X: Any,
    y: ColumnLike | None = None,
    *,
    test: str = "bcv-mcnemar",
    design: Design | None = None,
    scoring: str | Callable[..., float] | None = None,
    adjust: str = "holm",
    alpha: float = 0.05,
    pairs: Sequence[tuple[int | str, int | str]] | None = None,
    control: int | str | None = None,
    stratify: bool = False,
    groups: ColumnLike | None = None,
    rng: Seed = None,
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
    if not isinstance(test, str):
        raise BadTypeError("`test` must be the name of one test", repr(test))
    cv_test = find_test(test)
    named = read_models(models)
    options = read_pairs(tuple(name for name, _ in named), adjust, alpha, pairs, control)
    seed, several = as_seed(rng), y is None
    if several:
        data = _read_data(X, groups)
    elif isinstance(X, Mapping):
        raise BadTypeError(
            "`X` must be the predictors of one data set where y is given: for several data "
            "sets pass {name: (X, y)} alone"
        )
    elif checkpoint is not None:
        raise BadValueError("`checkpoint` is for several data sets: pass {name: (X, y)} as X")
    else:
        data = {"": (X, y, groups)}
    folder = None if checkpoint is None else open_folder(checkpoint)
    # The seed of a data set is a function of the seed of all and its name.
    digests = {name: blake2b(f"{seed}\0{name}".encode(), digest_size=8).digest() for name in data}
    seeds = {
        name: int.from_bytes(digest, "big") % LARGEST_SEED if several else seed
        for name, digest in digests.items()
    }
    splits = {
        name: choose_designs(
            [cv_test], design, scoring, "two-sided", seeds[name], stratify=stratify
        )
        for name in data
    }
    runs_of: dict[str, CVRuns] = {}
    settings: dict[str, Any] = {}
    with reporting(progress, "fitting") as report:
        if folder is not None:  # before any fit, so that no mismatch comes after hours
            for name, entry in data.items():
                settings[name] = settings_of(named, splits[name], scoring, name, entry, seeds[name])
                if (runs := load_runs(folder, name, settings[name])) is not None:
                    runs_of[name] = runs
        for name in [name for name in data if name not in runs_of]:

            def part(done: int, total: int, before: int = len(runs_of)) -> None:
                report(before * total + done, len(data) * total)

            try:
                runs_of[name] = fit_models(
                    named,
                    *data[name],
                    splits[name],
                    scoring=scoring,
                    seed=seeds[name],
                    workers=workers,
                    progress=part,
                )
            except (ValueError, TypeError, RuntimeError) as error:
                if not several:
                    raise
                kinds = (RuntimeError, TypeError, ValueError)
                kind = next(kind for kind in kinds if isinstance(error, kind))
                raise kind(f"data set {name!r}: {error}") from error
            if folder is not None:
                save_runs(folder, name, settings[name], runs_of[name])
    results: dict[str, Any] = {}
    for name in data:
        runs = runs_of[name]
        run = runs.find(cv_test)
        record = cv_test.run(runs.outcomes(run, options["pairs"]))
        results[name] = CVPairwiseResult(
            **pair_fields(options, record, runs.means(run)),
            score_interval=_score_intervals(runs, run, 1 - options["alpha"]),
            measure=runs.measure,
            n_samples=runs.y.size,
            test=cv_test.name,
            method=str(run.design),
            runs=runs,
        )
    return CVDatasetsResult(results=results, seed=seed) if several else results[""]
