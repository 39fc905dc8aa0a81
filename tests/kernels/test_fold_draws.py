"""Fold tables that are drawn: what each sample, repetition and training set adds."""

import numpy as np
import pytest

from fastcmp import designs
from fastcmp.kernels import simulate_folds

CHANCES = np.array([0.2, 0.5, 0.1])


def drawn(design, n, *, chances=CHANCES, stability=0.5, sd=0.0, seed=1, first=0, b=400):
    """Draw the tables of a design's folds, shape (b, R, K, 2, 2)."""
    folds = design.folds(n)
    tables = np.empty((b, len(folds), design.n_folds, 2, 2), np.int64)
    simulate_folds(folds, chances, stability, sd, seed, first, tables)
    return tables


def differences(tables):
    """Accuracy of a minus that of b in each fold."""
    return (tables[..., 0, 1] - tables[..., 1, 0]) / tables.sum(axis=(-2, -1))


@pytest.mark.parametrize(
    "design",
    [
        designs.kfold(4, rng=1),
        designs.two_fold(3, blocked=True, rng=1),
        designs.repeated_holdout(3, test_size=0.2, rng=1),
        designs.paired_halves(2, 3, rng=1),
    ],
    ids=str,
)
def test_each_tested_sample_is_counted_once(design):
    tables, folds = drawn(design, 61, b=3), design.folds(61)
    sizes = [[np.sum(row == k) for k in range(design.n_folds)] for row in folds]
    assert (tables.sum(axis=(-2, -1)) == np.array(sizes)).all()


def test_a_replicate_is_a_function_of_its_number():
    design = designs.two_fold(2, rng=1)
    whole = drawn(design, 40, sd=0.05, b=9)
    assert (drawn(design, 40, sd=0.05, first=4, b=5) == whole[4:]).all()
    assert (drawn(design, 40, sd=0.05, seed=2, b=9) != whole).any()


def test_samples_have_the_probabilities():
    """Only a right, both, none, only b: within four standard errors."""
    tables = drawn(designs.kfold(5, rng=1), 200, b=500).sum(axis=(1, 2)) / 200
    mean = tables.mean(axis=0)
    wanted = np.array([[0.5, 0.2], [0.1, 0.2]])
    np.testing.assert_allclose(mean, wanted, atol=4 * 0.5 / (500 * 200) ** 0.5)


def test_stable_samples_do_the_same_in_each_repetition():
    totals = drawn(designs.repeated_kfold(3, 4, rng=1), 50, stability=1.0).sum(axis=2)
    assert (totals == totals[:, :1]).all()


@pytest.mark.parametrize("stability", [0.0, 0.5, 0.8])
def test_repetitions_have_the_square_as_correlation(stability):
    design = designs.repeated_kfold(2, 2, rng=1)
    b = 4000
    tables = drawn(design, 100, stability=stability, b=b)
    one, two = differences(tables.sum(axis=2)).T
    found = np.corrcoef(one, two)[0, 1]
    assert found == pytest.approx(stability**2, abs=4 / b**0.5)


def test_training_sets_shift_the_difference():
    """The shift has its standard deviation; disjoint training sets are independent."""
    design = designs.two_fold(2, rng=1)
    gaps = differences(drawn(design, 2000, stability=0.0, sd=0.06, b=4000))
    own = (0.3 - 0.1**2) / 1000
    assert gaps.mean() == pytest.approx(0.1, abs=0.003)
    assert gaps.var() == pytest.approx(own + 0.06**2, rel=0.06)
    assert np.corrcoef(gaps[:, 0, 0], gaps[:, 0, 1])[0, 1] == pytest.approx(0, abs=0.07)
    # Halves of different cuts share about half of their training sets.
    shared = np.corrcoef(gaps[:, 0, 0], gaps[:, 1, 0])[0, 1]
    overlap = np.mean((design.folds(2000)[0] != 0) & (design.folds(2000)[1] != 0)) * 2
    wanted = overlap * 0.06**2 / (own + 0.06**2)
    assert shared == pytest.approx(wanted, abs=0.07)


def test_a_shift_leaves_no_probability_below_0():
    chances = np.array([0.3, 0.6, 0.0])
    tables = drawn(designs.kfold(2, rng=1), 50, chances=chances, sd=0.9)
    assert (tables[..., 1, 0] == 0).all()
    same = drawn(designs.kfold(2, rng=1), 50, chances=chances, sd=0.0)
    assert (tables == same).all()
