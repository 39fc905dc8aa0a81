"""Two algorithms on data sets of one population: from data to counts of folds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastcmp import kernels

from .algorithms import predict_folds
from .rivals import DESIGNS, all_pvalues

#: Seeds of data sets lie this far apart, more than the replicates of any study.
_STRIDE = 2**32
#: Seeds of studies lie below: those of designs, made from them, below 2**62.
SEEDS = 2**30


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """Two algorithms that learn from data sets of a population."""

    population: Any
    algorithm_a: Any
    algorithm_b: Any


def data_seed(seed: int, replicate: int) -> int:
    """Give each data set of a study a seed of its own."""
    return seed * _STRIDE + replicate


def problem_pvalues(
    problems: Sequence[Problem], seed: int, first: int, last: int
) -> NDArray[np.float64]:
    """Run all tests of Table V on data sets first to last - 1 of several problems.

    A population or an algorithm that problems share is drawn or trained once.
    """
    columns = []
    counts = [_count(problems, seed, replicate) for replicate in range(first, last)]
    for at, problem in enumerate(problems):
        tables = {name: np.stack([count[at][name] for count in counts]) for name in DESIGNS}
        columns.append(all_pvalues(tables, problem.population.n))
    return np.concatenate(columns, axis=1)


def _count(
    problems: Sequence[Problem], seed: int, replicate: int
) -> list[dict[str, NDArray[np.int64]]]:
    """Tables of all folds of all designs on one data set of each problem."""
    data: dict[int, Any] = {}
    wrong: dict[tuple[int, int], NDArray[np.uint8]] = {}
    folds: dict[int, dict[str, NDArray[np.int16]]] = {}
    found = []
    for problem in problems:
        population = problem.population
        key = id(population)
        if key not in data:
            data[key] = population.sample(seed, replicate)
            folds[key] = _folds(population.n, data_seed(seed, replicate))
        both = []
        for algorithm in (problem.algorithm_a, problem.algorithm_b):
            if (key, id(algorithm)) not in wrong:
                X, y = data[key]
                every = np.concatenate(list(folds[key].values()))
                codes = predict_folds(algorithm, X, y, every)
                wrong[key, id(algorithm)] = (codes != y).astype(np.uint8)
            both.append(wrong[key, id(algorithm)])
        found.append(_tables(folds[key], *both))
    return found


def _folds(n: int, seed: int) -> dict[str, NDArray[np.int16]]:
    return {name: make(seed).folds(n) for name, make in DESIGNS.items()}


def _tables(
    folds: dict[str, NDArray[np.int16]], wrong_a: NDArray[np.uint8], wrong_b: NDArray[np.uint8]
) -> dict[str, NDArray[np.int64]]:
    tables, start = {}, 0
    for name, each in folds.items():
        rows = slice(start, start + len(each))
        start = rows.stop
        tables[name] = np.zeros((len(each), int(each.max()) + 1, 2, 2), np.int64)
        kernels.count_folds(each, wrong_a[rows], wrong_b[rows], tables[name])
    return tables
