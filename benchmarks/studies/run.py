"""The four studies, from options to a record; an interrupted one is continued."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import combinations
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np

from fastcmp.core.checks import as_seed, as_whole, choose
from fastcmp.core.threads import Progress, check_workers, reporting

from . import algorithms, populations
from .contests import CONTESTS, find_contest, find_null, measure_errors
from .correlation_study import CorrelationStudy, correlations, disagreements
from .epsilon_folds import epsilon_pvalues
from .error_study import ErrorStudy
from .power_study import PowerStudy
from .problems import SEEDS, problem_pvalues
from .rivals import RIVALS
from .store import Store, run_replicates
from .type_one_errors import TypeOneErrors

#: Data sets of Table V.
DATASETS = ("epsilon", *CONTESTS)
_EPSILON_N, _EPSILON = 300, 0.1
_FEW, _MANY = 4, 500  # data sets that are run, and saved, together
#: What a row of p-values holds, for the file of partial results.
_TESTS = [[rival.test, rival.design, rival.first] for rival in RIVALS]
#: Data sets of the correlations: those at hand without a download.
_AT_HAND = ("exp6", "simple", "digits", "breast-cancer", "wine", "iris")
_ALGORITHMS = ("majority", "mean", "logistic", "svm", "tree", "knn")


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Options of all studies."""

    dataset: str = "epsilon"
    replications: int = 1000
    #: A seed below 2**30, or a `numpy.random.Generator` or None to draw one from;
    #: afterwards the seed.
    rng: Any = 1
    workers: int | None = None
    #: Where letter or MNIST are.
    path: Path | None = None
    #: Where partial results are kept; None for nowhere.
    folder: Path | None = None
    #: Values of the parameter, for errors and power.
    steps: int = 11
    #: Training sets behind each true error rate.
    n_sets: int = 300
    progress: bool | Progress | None = None

    def __post_init__(self) -> None:
        # Checked here, and not after minutes of work.
        dataset = choose(self.dataset, "dataset", DATASETS)
        object.__setattr__(self, "dataset", dataset)
        as_whole(self.replications, "replications", 1)
        seed = as_seed(self.rng)
        if isinstance(self.rng, Integral) and seed >= SEEDS:
            raise ValueError(f"rng must be below {SEEDS}, got {self.rng}")
        object.__setattr__(self, "rng", seed % SEEDS)
        check_workers(self.workers)
        as_whole(self.steps, "steps", 2)
        as_whole(self.n_sets, "n_sets", 2)

    @property
    def seed(self) -> int:
        """The seed of all random numbers."""
        return int(self.rng)

    def run(self, name: str, work: Any, width: int, **settings: Any) -> Any:
        """Run replicates with these options.

        Parameters
        ----------
        name : str
            Of the file of partial results.
        work : callable
            As for `run_replicates`.
        width : int
            Numbers in a row.
        **settings : object
            What the rows depend on, beside the seed.

        Returns
        -------
        ndarray of float64, shape (replications, width)
            The rows.
        """
        store = None
        if self.folder is not None:
            store = Store(
                path=self.folder / f"{name}.rows",
                settings={"study": name, "seed": self.seed, **settings},
            )
        in_kernels = name == "table5-epsilon"
        return run_replicates(
            work,
            self.replications,
            width,
            part=_MANY if in_kernels else _FEW,
            store=store,
            workers=self.workers,
            threads=in_kernels,
            progress=self.progress,
        )


def table5(options: Options) -> TypeOneErrors:
    """Measure the type I errors of all tests on one data set.

    Parameters
    ----------
    options : Options
        Data set, replications and seed among them.

    Returns
    -------
    TypeOneErrors
        Rates with intervals, beside those of the paper.

    Raises
    ------
    ValueError
        If an option has no meaning, or partial results are of another study.
    ImportError
        If scikit-learn is missing where models are fitted.

    Examples
    --------
    >>> from benchmarks.studies.run import Options, table5
    >>> study = table5(Options(replications=200, workers=1))
    >>> study.rate[-1] < 0.1
    np.True_
    """
    seed = options.seed
    if options.dataset == "epsilon":
        work = partial(epsilon_pvalues, _EPSILON_N, _EPSILON, seed)
        setting = (
            f"Epsilon data: n = {_EPSILON_N}, both algorithms err on {_EPSILON:g} of "
            "the records, whatever they are trained on."
        )
        pvalues = options.run(
            "table5-epsilon", work, len(RIVALS), tests=_TESTS, n=_EPSILON_N, epsilon=_EPSILON
        )
    else:
        contest = find_contest(options.dataset, options.path)
        with reporting(options.progress, "error rates") as report:
            null = find_null(contest, seed=seed, n_sets=options.n_sets, progress=report)
        problems = [contest.problem(null)]
        pvalues = options.run(
            f"table5-{options.dataset}",
            partial(problem_pvalues, problems, seed),
            len(RIVALS) * len(problems),
            tests=_TESTS,
            **{contest.parameter: null},
        )
        where = f"{contest.parameter} = {null:.4g}"
        setting = f"{contest.setting} Both error rates are equal at {where}."
    return TypeOneErrors(dataset=options.dataset, setting=setting, pvalues=pvalues, seed=seed)


def power(options: Options) -> PowerStudy:
    """Measure the power of all tests along the parameter of a contest.

    Parameters
    ----------
    options : Options
        Data set, replications, seed and steps among them.

    Returns
    -------
    PowerStudy
        The curves.

    Raises
    ------
    ValueError
        If an option has no meaning, or partial results are of another study.
    ImportError
        If scikit-learn is missing.
    """
    rates = errors(options)
    contest = find_contest(options.dataset, options.path)
    problems = [contest.problem(float(value)) for value in rates.values]
    pvalues = options.run(
        f"power-{options.dataset}",
        partial(problem_pvalues, problems, options.seed),
        len(RIVALS) * len(problems),
        tests=_TESTS,
        **{contest.parameter: rates.values.tolist()},
    )
    return PowerStudy(
        dataset=options.dataset,
        setting=contest.setting,
        parameter=contest.parameter,
        values=rates.values,
        errors=rates.errors,
        pvalues=pvalues.reshape(len(pvalues), len(problems), len(RIVALS)),
        seed=options.seed,
    )


def errors(options: Options) -> ErrorStudy:
    """Measure true error rates, and find where those of two algorithms are equal.

    Parameters
    ----------
    options : Options
        Data set, seed, steps and n_sets among them.

    Returns
    -------
    ErrorStudy
        Both curves and the null hypothesis.

    Raises
    ------
    ValueError
        If an option has no meaning, or the curves cross nowhere.
    ImportError
        If scikit-learn is missing.
    """
    if options.dataset == "epsilon":
        raise ValueError(
            f"dataset epsilon has fixed error rates, without a parameter: use one of {CONTESTS}"
        )
    contest = find_contest(options.dataset, options.path)
    with reporting(options.progress, "error rates") as report:
        return measure_errors(
            contest, seed=options.seed, n_sets=options.n_sets, steps=options.steps, progress=report
        )


def correlation(options: Options) -> CorrelationStudy:
    """Measure the correlations of disagreements on all data at hand.

    Parameters
    ----------
    options : Options
        Replications and seed among them; all data sets are used.

    Returns
    -------
    CorrelationStudy
        Two correlations for each data set and pair of algorithms.

    Raises
    ------
    ValueError
        If an option has no meaning, or partial results are of another study.
    ImportError
        If scikit-learn is missing.
    """
    if options.replications < 2:
        raise ValueError(f"replications must be at least 2, got {options.replications}")
    chosen = {name: algorithms.make(name) for name in _ALGORITHMS}
    pairs = list(combinations(_ALGORITHMS, 2))
    experiments, found = [], []
    names = _AT_HAND if options.path is None else (*_AT_HAND, "letter")
    sources = {name: populations.load(name, options.path) for name in names}
    for name, population in sources.items():
        estimates = options.run(
            f"correlations-{name}",
            partial(disagreements, population, chosen, options.seed),
            10 * len(pairs),
            algorithms=_ALGORITHMS,
        ).reshape(-1, len(pairs), 5, 2)
        experiments += [(name, *pair) for pair in pairs]
        found += [correlations(estimates[:, k]) for k in range(len(pairs))]
    rho1, rho2 = np.array(found).T
    return CorrelationStudy(
        experiments=tuple(experiments),
        rho1=rho1,
        rho2=rho2,
        replications=options.replications,
        seed=options.seed,
    )
