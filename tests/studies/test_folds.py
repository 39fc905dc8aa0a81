"""The tests of Table V on the designs of the paper, on drawn losses and on records."""

from itertools import pairwise

import numpy as np
import pytest
from studies import algorithms, populations
from studies.algorithms import NearestNeighbour, predict_folds
from studies.epsilon_folds import epsilon_losses, epsilon_pvalues, epsilon_tables
from studies.problems import Problem, data_seed
from studies.problems import problem_pvalues as run_problems
from studies.rivals import DESIGNS, all_pvalues

import fastcmp
from fastcmp import kernels

N = 300
#: Repetitions and folds of each design, and records of a fold, in the paper.
SHAPES = {"two thirds": (15, 1, 100), "nine tenths": (15, 1, 30), "10x10": (10, 10, 30)} | {
    "5x2": (5, 2, 150),
    "blocked 5x2": (5, 2, 150),
    "blocked 3x2": (3, 2, 150),
}


def random_tables(rng, n_sets=7):
    """Tables of folds of the sizes of the paper, some of them with few errors."""
    tables = {}
    for name, (n_repeats, n_folds, size) in SHAPES.items():
        shares = rng.dirichlet([6, 1, 1, 0.5], (n_sets, n_repeats, n_folds))
        counts = rng.multinomial(size, shares)
        tables[name] = counts.reshape(n_sets, n_repeats, n_folds, 2, 2)
    return tables


def by_hand(tables):
    """P-values of one data set, by the functions for arrays."""
    x = {
        name: (table[..., 0, 1] - table[..., 1, 0]) / table.sum((-2, -1))
        for name, table in tables.items()
    }
    holdout = tables["two thirds"][0, 0]
    folds = tables["10x10"][0]
    wide = np.concatenate(
        [np.repeat([1, -1, 0], [fold[0, 1], fold[1, 0], fold[0, 0] + fold[1, 1]]) for fold in folds]
    )
    results = [
        fastcmp.fold_test(x["two thirds"][:, 0], "resampled-t"),
        fastcmp.fold_test(x["10x10"][0], "kfold-t"),
        fastcmp.fold_test(x["5x2"], "dietterich-t"),
        fastcmp.fold_test(x["nine tenths"][:, 0], "nadeau-bengio-t", n_train=270, n_test=30),
        fastcmp.fold_test(x["10x10"], "bouckaert-frank-t"),
        fastcmp.fold_test(x["5x2"], "yildiz-t"),
        fastcmp.fold_test(x["blocked 3x2"], "blocked-t"),
        fastcmp.fold_test(x["5x2"], "alpaydin-f"),
        fastcmp.fold_test(x["blocked 5x2"], "calibrated-f"),
        fastcmp.fold_test(holdout, "proportion-z"),
        fastcmp.fold_test(wide, "bayle-z", folds=np.repeat(np.arange(10), 30)),
        fastcmp.mcnemar(only_a=holdout[0, 1], only_b=holdout[1, 0], method="corrected"),
        fastcmp.fold_test(folds, "naive-mcnemar"),
        fastcmp.bcv_mcnemar(tables["blocked 5x2"]),
    ]
    return [float(result.pvalue) for result in results]


@pytest.mark.parametrize("name", SHAPES)
def test_designs_have_the_settings_of_the_paper(name):
    n_repeats, n_folds, size = SHAPES[name]
    design = DESIGNS[name](3)
    folds = design.folds(N)
    assert set(DESIGNS) == set(SHAPES)
    assert (design.seed, folds.shape) == (3, (n_repeats, N))
    for k in range(n_folds):
        assert ((folds == k).sum(axis=1) == size).all()
    # Hold-outs train on all that they do not test.
    assert set(np.unique(folds)) <= {-1, *range(n_folds)}
    if name.startswith("blocked"):
        for one, other in pairwise(folds):
            assert ((one == 0) & (other == 0)).sum() == 75


@pytest.mark.parametrize("seed", range(3))
def test_pvalues_equal_the_doors(seed):
    tables = random_tables(np.random.default_rng(seed))
    found = all_pvalues(tables, N)
    for b, row in enumerate(found):
        expected = by_hand({name: table[b] for name, table in tables.items()})
        np.testing.assert_allclose(row, expected, rtol=1e-12)


# The epsilon data.


def naive_tables(seed, replicate, offset, epsilon, pattern, n_repeats, n_folds):
    """The same tables, counted one record at a time."""
    n_rows, n = pattern.shape
    a, b = np.empty(n, np.uint8), np.empty(n, np.uint8)
    epsilon_losses(seed, replicate, epsilon, a, b)
    tables = np.zeros((n_repeats, n_folds, 2, 2), np.int64)
    for start in range(0, n_repeats, n_rows):
        order = np.arange(n)
        kernels.shuffle(seed, 64 * replicate + offset + start, order)
        folds = np.empty((n_rows, n), np.int16)
        kernels.deal(pattern, order, folds)
        for r in range(n_rows):
            for i in range(n):
                if folds[r, i] >= 0:
                    tables[start + r, folds[r, i], a[i], b[i]] += 1
    return tables


@pytest.mark.parametrize("name", SHAPES)
def test_epsilon_tables(name):
    n = 60
    design = DESIGNS[name](0)
    pattern = design.pattern(n)
    shape = (design.n_repeats, int(pattern.max()) + 1)
    out = np.zeros((3, *shape, 2, 2), np.int64)
    epsilon_tables(2, 5, 11, 0.2, pattern, out)
    for b in range(3):
        expected = naive_tables(2, 5 + b, 11, 0.2, pattern, *shape)
        np.testing.assert_array_equal(out[b], expected)
    epsilon_tables(2, 5, 11, 0.2, pattern, out)
    np.testing.assert_array_equal(out[0], 2 * naive_tables(2, 5, 11, 0.2, pattern, *shape))


def test_epsilon_pvalues_equal_tests_of_tables_by_hand():
    tables, offset = {}, 0
    for name, (n_repeats, n_folds, _) in SHAPES.items():
        pattern = DESIGNS[name](0).pattern(N)
        tables[name] = naive_tables(7, 2, offset, 0.1, pattern, n_repeats, n_folds)
        offset += n_repeats
    np.testing.assert_allclose(epsilon_pvalues(N, 0.1, 7, 2, 3)[0], by_hand(tables), rtol=1e-12)


# Problems: algorithms that learn.


@pytest.fixture(scope="module")
def problems():
    small, other = populations.Exp6(n=40), populations.Simple(1.0, n=48)
    one, two = NearestNeighbour([1.0, 1.0]), NearestNeighbour([0.05, 20.0])
    mean = algorithms.make("mean")
    return [
        Problem(population=small, algorithm_a=one, algorithm_b=two),
        Problem(population=small, algorithm_a=mean, algorithm_b=one),
        Problem(population=other, algorithm_a=mean, algorithm_b=NearestNeighbour([1.0])),
    ]


def test_problems_by_hand(problems):
    population = problems[1].population
    X, y = population.sample(3, 2)
    tables = {}
    for name in SHAPES:
        folds = DESIGNS[name](data_seed(3, 2)).folds(40)
        wrong = [
            predict_folds(algorithm, X, y, folds) != y
            for algorithm in (problems[1].algorithm_a, problems[1].algorithm_b)
        ]
        table = np.zeros((len(folds), int(folds.max()) + 1, 2, 2), np.int64)
        for r, row in enumerate(folds):
            for i, k in enumerate(row):
                if k >= 0:
                    table[r, k, int(wrong[0][r, i]), int(wrong[1][r, i])] += 1
        tables[name] = table[None]
    expected = all_pvalues(tables, 40)
    np.testing.assert_array_equal(run_problems([problems[1]], 3, 2, 3), expected)
