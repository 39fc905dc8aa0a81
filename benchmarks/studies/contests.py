"""Which two algorithms are compared on which data, along which parameter.

The second algorithm, or the data, have a parameter. At one of its values both error
rates are equal, and the null hypothesis is true.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import count
from math import ceil, log, log2
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastcmp.core.checks import choose
from fastcmp.core.threads import Progress

from . import algorithms, populations
from .error_study import ErrorStudy
from .problems import Problem

#: Data on which two algorithms can be compared; "epsilon" needs none.
CONTESTS = ("exp6", "simple", "letter", "mnist", "digits", "breast-cancer", "wine", "iris")
_TOLERANCE = 0.002
_STEPS = 40  # halvings, at most
#: From the upsilon of small collections, at which the nearest neighbour beats the tree,
#: to one at which it does not.
_WIDE = (0.01, 1e12)


@dataclass(frozen=True, kw_only=True, eq=False)
class Contest:
    """Two algorithms, and a parameter that their error rates depend on."""

    name: str
    setting: str
    parameter: str
    #: From a value of the parameter to what is compared.
    problem: Callable[[float], Problem]
    #: Where both error rates are equal, if that is known; else where to search.
    null: float | None
    search: tuple[float, float]
    #: The value at which the error rates differ most.
    far: float

    def values(self, null: float, steps: int) -> NDArray[np.float64]:
        """Give values from the null hypothesis to the far end, evenly spaced.

        If all are above 0, they are so on the scale of logarithms.
        """
        if min(null, self.far) > 0:
            return np.geomspace(null, self.far, steps)
        return np.linspace(null, self.far, steps)


def find_contest(name: str, path: Path | None = None) -> Contest:
    """Find a contest by its name."""
    name = choose(name, "dataset", CONTESTS)
    if name == "simple":
        return _simple()
    population = populations.load(name, path)
    tree = algorithms.make("tree")
    weigh: Callable[[float], NDArray[np.float64]]
    if name == "exp6":
        weigh, parameter = algorithms.exp6_weights, "omega"
        search, far = (0.01, 1.0), 1.0
    elif name == "letter":
        weigh, parameter = algorithms.letter_weights, "upsilon"
        search, far = (1.0, 1000.0), 1.0
    else:
        weigh, parameter, search = _powers(population), "upsilon", _WIDE
        # Undistorted the neighbour errs least; on iris hardly less than the tree.
        far = 100.0 if name == "iris" else 1.0

    bundled = isinstance(population, populations.Bundled)
    scaled = ", on standardised predictors" if bundled else ""

    def problem(value: float) -> Problem:
        nearest = algorithms.NearestNeighbour(weigh(value))
        return Problem(population=population, algorithm_a=tree, algorithm_b=nearest)

    return Contest(
        name=name,
        setting=(
            f"{population.title}, n = {population.n}: tree (a) against nearest "
            f"neighbour (b), whose distance is weighted by {parameter}{scaled}."
        ),
        parameter=parameter,
        problem=problem,
        null=None,
        search=search,
        far=far,
    )


def _powers(population: Any) -> Callable[[float], NDArray[np.float64]]:
    """Weigh predictors by powers of upsilon, from 1/2 to -1/2.

    Predictors of bundled records have units, and are standardised first: otherwise
    the tree has the smaller error rate at any weights on half of them.
    """
    if isinstance(population, populations.Bundled):
        variances = population.evaluation()[0].var(axis=0)
        scale = 1 / np.where(variances > 0, variances, 1.0)
    else:
        scale = np.ones(population.sample(0, 0)[0].shape[1])
    powers = np.linspace(0.5, -0.5, scale.size)
    return lambda value: np.asarray(scale * value**powers)


def _simple() -> Contest:
    majority, logistic = algorithms.make("majority"), algorithms.make("logistic")

    def problem(delta: float) -> Problem:
        return Problem(
            population=populations.Simple(delta), algorithm_a=majority, algorithm_b=logistic
        )

    return Contest(
        name="simple",
        setting=(
            "Two normal classes whose means are delta apart, n = 1000: majority (a) "
            "against logistic regression (b)."
        ),
        parameter="delta",
        problem=problem,
        null=0.0,
        search=(0.0, 1.0),
        far=1.0,
    )


def _error(algorithm: Any, population: Any, seed: int, n_sets: int) -> tuple[float, float]:
    """Measure an error rate on training sets of half a data set, as two folds have.

    The paper's rates for EXP6 are of such training sets (docs/errata.md, C12).
    """
    half = replace(population, n=population.n // 2)
    found = algorithms.true_error(algorithm, half, rng=seed, n_sets=n_sets)
    return found.error, found.standard_error


def measure_errors(
    contest: Contest,
    *,
    seed: int,
    n_sets: int = 1000,
    steps: int = 11,
    progress: Progress | None = None,
) -> ErrorStudy:
    """Measure the true error rates along the parameter."""
    known: dict[tuple[int, int], tuple[float, float]] = {}

    def error(algorithm: Any, population: Any) -> tuple[float, float]:
        key = (id(algorithm), id(population))
        if key not in known:
            known[key] = _error(algorithm, population, seed, n_sets)
        return known[key]

    n_search = _n_search(contest)

    def tell(done: int, _: int) -> None:
        if progress is not None:
            progress(done, n_search + steps)

    null = find_null(contest, seed=seed, n_sets=n_sets, progress=tell)
    values = contest.values(null, steps)
    # All are kept: their identities tell which errors are known.
    problems = [contest.problem(float(value)) for value in values]
    rates = []
    for done, problem in enumerate(problems):
        rates.append(
            [
                error(problem.algorithm_a, problem.population),
                error(problem.algorithm_b, problem.population),
            ]
        )
        tell(n_search + done + 1, 0)
    found = np.array(rates)
    return ErrorStudy(
        dataset=contest.name,
        setting=contest.setting,
        parameter=contest.parameter,
        values=values,
        errors=found[:, :, 0],
        standard_errors=found[:, :, 1],
        null=null,
        null_error=float(found[0, 0, 0]),
        n_sets=n_sets,
        n_train=problems[0].population.n // 2,
        seed=seed,
    )


def _n_search(contest: Contest) -> int:
    """Count the error rates that `find_null` measures."""
    if contest.null is not None:
        return 0
    low, high = contest.search
    return 3 + ceil(log2(log(high / low) / _TOLERANCE))


def find_null(
    contest: Contest, *, seed: int, n_sets: int, progress: Progress | None = None
) -> float:
    """Find the value of the parameter at which both error rates are equal."""
    if contest.null is not None:
        return contest.null
    low, high = contest.search
    first = contest.problem(low)
    steps = count(1)

    def error(value: float) -> float:
        problem = contest.problem(value)
        return measure(problem.algorithm_b, problem.population)

    def measure(algorithm: Any, population: Any) -> float:
        rate, _ = _error(algorithm, population, seed, n_sets)
        if progress is not None:
            progress(next(steps), _n_search(contest))
        return rate

    target = measure(first.algorithm_a, first.population)
    return find_equal(error, target, low, high, _TOLERANCE)


def find_equal(
    error: Callable[[float], float], target: float, low: float, high: float, tolerance: float
) -> float:
    """Find where an error rate, measured on fixed data, reaches a target.

    By bisection on the scale of logarithms: the rate is a step function, on which
    faster methods gain nothing.
    """
    left, right = np.log([low, high])
    at_left, at_right = error(low) - target, error(high) - target
    if at_left * at_right > 0:
        raise ValueError(
            f"error rates cross nowhere between {low:g} and {high:g}: they differ by "
            f"{at_left:+.4f} and {at_right:+.4f} at the ends"
        )
    for _ in range(_STEPS):
        if right - left <= tolerance:
            break
        middle = 0.5 * (left + right)
        gap = error(float(np.exp(middle))) - target
        if gap * at_left > 0:
            left = middle
        else:
            right = middle
    return float(np.exp(0.5 * (left + right)))
