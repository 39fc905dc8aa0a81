"""Two variants of tests on the K folds, which explain figures of the paper.

    python -m benchmarks.studies.variants

The K-fold CV-CI Z test one-sided, and the naive McNemar's test without the continuity
correction that equation (5) has: their type I errors on EXP6 and on the simple data are
those that Table V prints, where the tests as defined give others.
"""

from __future__ import annotations

import numpy as np
from scipy.special import chdtrc

from fastcmp import designs, fold_test, kernels

from .algorithms import predict_folds
from .contests import find_contest
from .problems import data_seed
from .rivals import TABLE_V

SEED, ALPHA, K = 1, 0.05, 10
SETTINGS = (("exp6", 0.2928, 1000), ("simple", 0.0, 1000))


def losses_on_folds(name, parameter, replications):
    """Yield the errors of both algorithms, and the folds, of each data set."""
    problem = find_contest(name).problem(parameter)
    for replicate in range(replications):
        X, y = problem.population.sample(SEED, replicate)
        folds = designs.kfold(K, rng=data_seed(SEED, replicate)).folds(len(y))
        wrong = [
            predict_folds(algorithm, X, y, folds) != y
            for algorithm in (problem.algorithm_a, problem.algorithm_b)
        ]
        yield folds, *(each.astype(np.uint8) for each in wrong)


def rates(name, parameter, replications):
    """Proportion of data sets that each variant rejects."""
    tables = np.zeros((replications, 1, K, 2, 2), np.int64)
    gains, folds = [], []
    for row, (fold, a, b) in zip(
        tables, losses_on_folds(name, parameter, replications), strict=True
    ):
        kernels.count_folds(fold, a, b, row)
        gains.append(b[0].astype(float) - a[0])
        folds.append(fold[0])
    only_a, only_b = tables[:, 0, :, 0, 1], tables[:, 0, :, 1, 0]
    terms = (only_a - only_b) ** 2 / np.maximum(only_a + only_b, 1)
    found = {
        f"bayle-z, {side}": [
            fold_test(gain, "bayle-z", folds=fold, alternative=side).pvalue
            for gain, fold in zip(gains, folds, strict=True)
        ]
        for side in ("two-sided", "greater", "less")
    }
    found["naive-mcnemar"] = fold_test(tables[:, 0], "naive-mcnemar").pvalue
    found["naive-mcnemar, uncorrected"] = chdtrc(K, terms.sum(axis=1))
    return {test: np.mean(np.asarray(p) < ALPHA) for test, p in found.items()}


if __name__ == "__main__":
    for name, parameter, replications in SETTINGS:
        for test, rate in rates(name, parameter, replications).items():
            printed = TABLE_V[name][test.partition(",")[0]]
            print(f"{name:7} {test:27} {rate:.3f}  paper {printed:.3f}")
