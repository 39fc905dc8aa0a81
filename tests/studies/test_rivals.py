"""The tests of Table V on the designs of the paper, on drawn losses and on records."""

from itertools import pairwise

import numpy as np
import pytest
from naive import small_if_interpreted
from scipy.stats import binom

import fastcmp
from fastcmp import designs, kernels
from fastcmp.designs import kfold, two_fold
from fastcmp.studies import algorithms, populations
from fastcmp.studies.algorithms import NearestNeighbour, predict_folds
from fastcmp.studies.epsilon import epsilon_losses
from fastcmp.studies.epsilon_folds import epsilon_pvalues, epsilon_tables
from fastcmp.studies.paper import REPLICATIONS, TABLE_V
from fastcmp.studies.problems import SEEDS, Problem, data_seed
from fastcmp.studies.problems import problem_pvalues as run_problems
from fastcmp.studies.rivals import DESIGNS, RIVALS, all_pvalues

N = 300
#: Repetitions and folds of each design, and records of a fold, in the paper.
SHAPES = {
    "two thirds": (15, 1, 100),
    "nine tenths": (15, 1, 30),
    "10x10": (10, 10, 30),
    "5x2": (5, 2, 150),
    "blocked 5x2": (5, 2, 150),
    "blocked 3x2": (3, 2, 150),
}
#: As the paper's Table V lists them, with their designs.
EXPECTED = [
    ("resampled-t", "two thirds", False),
    ("kfold-t", "10x10", True),
    ("dietterich-t", "5x2", False),
    ("nadeau-bengio-t", "nine tenths", False),
    ("bouckaert-frank-t", "10x10", False),
    ("yildiz-t", "5x2", False),
    ("blocked-t", "blocked 3x2", False),
    ("alpaydin-f", "5x2", False),
    ("calibrated-f", "blocked 5x2", False),
    ("proportion-z", "two thirds", True),
    ("bayle-z", "10x10", True),
    ("holdout-mcnemar", "two thirds", True),
    ("naive-mcnemar", "10x10", True),
    ("bcv-mcnemar", "blocked 5x2", False),
]


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
        fastcmp.resampled_t(x["two thirds"][:, 0]),
        fastcmp.kfold_t(x["10x10"][0]),
        fastcmp.dietterich_t(x["5x2"]),
        fastcmp.nadeau_bengio_t(x["nine tenths"][:, 0], n_train=270, n_test=30),
        fastcmp.bouckaert_frank_t(x["10x10"]),
        fastcmp.yildiz_t(x["5x2"]),
        fastcmp.blocked_t(x["blocked 3x2"]),
        fastcmp.alpaydin_f(x["5x2"]),
        fastcmp.calibrated_f(x["blocked 5x2"]),
        fastcmp.proportion_z(holdout[1].sum(), holdout[:, 1].sum(), 100),
        fastcmp.bayle_z(wide, np.repeat(np.arange(10), 30)),
        fastcmp.mcnemar_from_counts(holdout[0, 1], holdout[1, 0], method="corrected"),
        fastcmp.naive_mcnemar(folds),
        fastcmp.bcv_mcnemar(tables["blocked 5x2"]),
    ]
    return [float(result.pvalue) for result in results]


def test_the_tests_and_their_designs():
    assert [(r.test, r.design, r.first) for r in RIVALS] == EXPECTED
    assert len({rival.title for rival in RIVALS}) == 14


def test_the_paper_has_a_figure_for_each_test():
    assert set(TABLE_V) == set(REPLICATIONS)
    for column in TABLE_V.values():
        assert list(column) == [rival.test for rival in RIVALS]
        assert all(0 <= rate < 0.5 for rate in column.values())


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


def test_shared_designs_begin_alike():
    np.testing.assert_array_equal(
        DESIGNS["two thirds"](5).folds(N)[:1],
        designs.repeated_holdout(1, test_size=1 / 3, rng=5).folds(N),
    )
    np.testing.assert_array_equal(
        DESIGNS["10x10"](5).folds(N)[:1], designs.kfold(10, rng=5).folds(N)
    )


@pytest.mark.parametrize("seed", range(3))
def test_pvalues_equal_the_doors(seed):
    tables = random_tables(np.random.default_rng(seed))
    found = all_pvalues(tables, N)
    for b, row in enumerate(found):
        expected = by_hand({name: table[b] for name, table in tables.items()})
        np.testing.assert_allclose(row, expected, rtol=1e-12)


def test_pvalues_of_a_data_set_do_not_depend_on_others():
    tables = random_tables(np.random.default_rng(4))
    found = all_pvalues(tables, N)
    one = all_pvalues({name: table[3:4] for name, table in tables.items()}, N)
    np.testing.assert_array_equal(one[0], found[3])
    swapped = {name: table.swapaxes(-1, -2) for name, table in tables.items()}
    np.testing.assert_allclose(all_pvalues(swapped, N), found, rtol=1e-9)


def test_algorithms_that_never_differ_are_never_told_apart():
    tables = {
        name: np.tile([[size - 2, 0], [0, 2]], (2, n_repeats, n_folds, 1, 1))
        for name, (n_repeats, n_folds, size) in SHAPES.items()
    }
    found = all_pvalues(tables, N)
    assert (found > 0.9).all()


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


def test_epsilon_tables_of_a_data_set_depend_on_its_number_alone():
    pattern = two_fold(5, blocked=True).pattern(N)
    many, one = np.zeros((6, 5, 2, 2, 2), np.int64), np.zeros((1, 5, 2, 2, 2), np.int64)
    epsilon_tables(1, 10, 0, 0.1, pattern, many)
    epsilon_tables(1, 14, 0, 0.1, pattern, one)
    np.testing.assert_array_equal(many[4], one[0])
    assert not np.array_equal(many[3], one[0])


def test_shuffles_of_designs_and_data_sets_differ():
    """Which records are tested is read off data whose records all differ."""
    pattern = kfold(2).pattern(64)
    seen = set()
    for replicate in range(3):
        for offset in range(64):
            order = np.arange(64)
            kernels.shuffle(1, 64 * replicate + offset, order)
            seen.add(order.tobytes())
    assert len(seen) == 3 * 64
    assert sum(make(0).n_repeats for make in DESIGNS.values()) <= 64
    tables = [np.zeros((1, 1, 2, 2, 2), np.int64) for _ in range(20)]
    for offset, table in enumerate(tables):
        epsilon_tables(1, 0, offset, 0.3, pattern, table)
    assert len({table.tobytes() for table in tables}) > 5
    # Only the folds differ: the losses are the same.
    assert len({table.sum((0, 1, 2)).tobytes() for table in tables}) == 1


def test_epsilon_pvalues_of_parts():
    whole = epsilon_pvalues(N, 0.1, 3, 0, 6)
    parts = [epsilon_pvalues(N, 0.1, 3, first, first + 2) for first in (0, 2, 4)]
    np.testing.assert_array_equal(np.concatenate(parts), whole)
    assert whole.shape == (6, 14)
    assert not np.array_equal(epsilon_pvalues(N, 0.1, 4, 0, 6), whole)


def test_epsilon_pvalues_equal_tests_of_tables_by_hand():
    tables, offset = {}, 0
    for name, (n_repeats, n_folds, _) in SHAPES.items():
        pattern = DESIGNS[name](0).pattern(N)
        tables[name] = naive_tables(7, 2, offset, 0.1, pattern, n_repeats, n_folds)
        offset += n_repeats
    np.testing.assert_allclose(epsilon_pvalues(N, 0.1, 7, 2, 3)[0], by_hand(tables), rtol=1e-12)


@pytest.mark.skipif(small_if_interpreted(2000, 2) == 2, reason="too slow without JIT")
def test_type_one_errors_are_those_of_the_paper():
    """Each count lies where the paper's rate, itself a count of 1,000, can put it."""
    rejected = (epsilon_pvalues(N, 0.1, 2, 0, 2000) < 0.05).sum(axis=0)
    for rival, count in zip(RIVALS, rejected, strict=True):
        theirs = TABLE_V["epsilon"][rival.test]
        spread = 4.5 * np.sqrt(theirs * (1 - theirs) / 1000)
        low = binom.ppf(1e-4, 2000, max(theirs - spread, 0))
        high = binom.ppf(1 - 1e-4, 2000, theirs + spread + 0.002)
        assert low <= count <= high, rival.test
    rates = dict(zip([rival.test for rival in RIVALS], rejected / 2000, strict=True))
    assert rates["resampled-t"] > 0.4
    assert 0.22 < rates["yildiz-t"] < 0.34
    assert rates["naive-mcnemar"] < 0.005
    assert 0.01 < rates["bcv-mcnemar"] < 0.04


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


def test_problems_that_share_equal_problems_one_by_one(problems):
    found = run_problems(problems, 1, 0, 2)
    assert found.shape == (2, 42)
    alone = [run_problems([problem], 1, 0, 2) for problem in problems]
    np.testing.assert_array_equal(found, np.concatenate(alone, axis=1))


def test_problems_are_functions_of_the_replicate(problems):
    found = run_problems(problems[:1], 1, 0, 4)
    np.testing.assert_array_equal(run_problems(problems[:1], 1, 3, 4)[0], found[3])
    assert len(np.unique(found, axis=0)) > 1
    assert not np.array_equal(run_problems(problems[:1], 2, 0, 4), found)


def test_what_is_shared_is_done_once(problems, monkeypatch):
    samples, trained = [], []
    monkeypatch.setattr(
        "fastcmp.studies.problems.predict_folds",
        lambda algorithm, *data: trained.append(algorithm) or predict_folds(algorithm, *data),
    )
    for kind in (populations.Exp6, populations.Simple):
        draw = kind.sample
        monkeypatch.setattr(
            kind,
            "sample",
            lambda self, *numbers, draw=draw: samples.append(numbers) or draw(self, *numbers),
        )
    run_problems(problems, 1, 0, 2)
    assert len(samples) == 2 * 2
    assert len(trained) == 2 * 5  # the nearest neighbour of two problems once


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


def test_seeds_of_data_sets_are_all_different_and_small_enough():
    seeds = {data_seed(seed, r) for seed in (0, 1, 2) for r in (0, 1, 2**32 - 1)}
    assert len(seeds) == 9
    largest = data_seed(SEEDS - 1, 2**32 - 1)
    assert kfold(3, rng=largest).seed == largest
    with pytest.raises(ValueError, match=r"2\*\*62"):
        kfold(3, rng=data_seed(SEEDS, 0))
