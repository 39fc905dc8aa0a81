"""Resampling designs: what is tested where, and what is refused."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from libraries import stats

import fastcmp
from fastcmp.designs import (
    TRAIN,
    UNUSED,
    kfold,
    paired_halves,
    repeated_holdout,
    repeated_kfold,
    two_fold,
)
from fastcmp.kernels import deal, shuffle

EVERY = {
    "kfold": lambda **kw: kfold(4, **kw),
    "repeated_kfold": lambda **kw: repeated_kfold(3, 5, **kw),
    "repeated_holdout": lambda **kw: repeated_holdout(6, **kw),
    "two_fold": lambda **kw: two_fold(3, **kw),
    "blocked": lambda **kw: two_fold(5, blocked=True, **kw),
    "paired_halves": lambda **kw: paired_halves(2, 3, **kw),
}
every_design = pytest.mark.parametrize("make", EVERY.values(), ids=EVERY)


def labels(n, k=3, seed=0):
    return np.random.default_rng(seed).choice(k, n, p=np.arange(1, k + 1) * 2 / k / (k + 1))


# What all have in common.


@every_design
@pytest.mark.parametrize("n", [40, 57])
def test_splits_are_those_of_the_folds(make, n):
    design = make(rng=1)
    folds = design.folds(n)
    assert folds.dtype == np.int16
    assert folds.shape[1] == n
    assert design.get_n_splits() == len(folds) * design.n_folds
    wanted = [
        (np.flatnonzero((row != f) & (row != UNUSED)), np.flatnonzero(row == f))
        for row in folds
        for f in range(design.n_folds)
    ]
    found = list(design.split(np.zeros((n, 2))))
    assert len(found) == design.get_n_splits(1, 2, 3)
    for (train, test), (train_wanted, test_wanted) in zip(found, wanted, strict=True):
        assert train.dtype == test.dtype == np.int64
        np.testing.assert_array_equal(train, train_wanted)
        np.testing.assert_array_equal(test, test_wanted)
        assert train.size > 0 < test.size


@every_design
def test_asked_twice_it_answers_the_same(make):
    design, typed = make(rng=5), eval(repr(make(rng=5)), {"Design": fastcmp.designs.Design})
    assert design == make(rng=5) == typed != make(rng=6)
    assert hash(typed) == hash(design)
    np.testing.assert_array_equal(design.folds(50), design.folds(50))
    np.testing.assert_array_equal(design.folds(50), typed.folds(50))
    assert not np.array_equal(design.folds(50), make(rng=6).folds(50))
    assert make().seed != make().seed
    assert str(repeated_kfold(stratify=True)) == "10 x 10-fold cross-validation, stratified"


@every_design
def test_pattern_is_what_is_dealt(make):
    design, n = make(rng=9), 43
    pattern, folds = design.pattern(n), design.folds(n)
    assert pattern.dtype == np.int16
    for r in range(design.n_repeats):
        order, row = np.arange(n), np.empty(n, np.int16)
        blocked = len(pattern) > 1
        shuffle(design.seed, 0 if blocked else r, order)
        deal(pattern[r if blocked else 0], order, row)
        np.testing.assert_array_equal(row, folds[r])


@every_design
@pytest.mark.parametrize("grouped", [False, True])
def test_names_of_classes_and_groups_do_not_matter(make, grouped):
    design, n = make(stratify=True, rng=2), 90
    y, groups = labels(n), np.arange(n) // 2 if grouped else None
    folds = design.folds(n, y=y, groups=groups)
    renamed = None if groups is None else [f"g{(7 * g) % 45}" for g in groups]
    for other in (np.array(["zebra", "ape", "hen"])[y].tolist(), -y.astype(float)):
        np.testing.assert_array_equal(design.folds(n, y=other, groups=renamed), folds)


def test_a_repetition_depends_on_its_number_alone():
    pairs = [
        (kfold(10, rng=4), repeated_kfold(10, 10, rng=4)),
        (repeated_holdout(1, rng=4), repeated_holdout(15, rng=4)),
        (repeated_holdout(3, test_size=5, rng=4), repeated_holdout(9, test_size=5, rng=4)),
        (two_fold(2, rng=4), two_fold(5, rng=4)),
        (repeated_holdout(3, test_size=0.1, rng=4), paired_halves(2, 3, rng=4)),
    ]
    y = labels(61)
    for few, many in pairs:
        a, b = few.folds(61), many.folds(61)
        np.testing.assert_array_equal(a, b[: len(a)])
        assert not np.array_equal(b[0], b[1])
        groups = np.arange(61) // 3
        np.testing.assert_array_equal(
            few.folds(61, groups=groups), many.folds(61, groups=groups)[: len(a)]
        )
    few, many = (repeated_kfold(r, 5, stratify=True, rng=4) for r in (2, 4))
    np.testing.assert_array_equal(few.folds(61, y=y), many.folds(61, y=y)[:2])


# One by one.


@given(st.integers(2, 15), st.integers(15, 200), st.integers(0, 99))
def test_folds_are_of_equal_size(n_folds, n, seed):
    y = labels(n, 4, seed)
    for stratify in (False, True):
        folds = repeated_kfold(2, n_folds, stratify=stratify, rng=seed).folds(n, y=y)
        for row in folds:
            assert row.min() == 0
            assert np.ptp(np.bincount(row, minlength=n_folds)) <= 1
            if stratify:
                for label in range(4):
                    shares = np.bincount(row[y == label], minlength=n_folds)
                    assert np.ptp(shares) <= 1


@given(st.integers(2, 300), st.floats(0.01, 0.99), st.integers(0, 99))
def test_holdout_tests_its_share(n, share, seed):
    wanted = int(np.floor(share * n + 0.5))
    if not 0 < wanted < n:
        return
    y = labels(n, 3, seed)
    for size in (share, wanted):
        for stratify in (False, True):
            design = repeated_holdout(2, test_size=size, stratify=stratify, rng=seed)
            for row in design.folds(n, y=y):
                assert set(np.unique(row)) == {TRAIN, 0}
                assert np.count_nonzero(row == 0) == wanted
                if stratify:
                    for label in range(3):
                        tested = np.count_nonzero(row[y == label] == 0)
                        expected = np.count_nonzero(y == label) * wanted / n
                        assert abs(tested - expected) < 1


@pytest.mark.parametrize("n", [8, 9, 10, 11, 12, 20, 300, 301, 302, 303, 997])
def test_blocked_halves_share_a_quarter(n):
    folds = two_fold(5, blocked=True, rng=n).folds(n)
    for j in range(5):
        assert np.count_nonzero(folds[j] == 0) == n // 2
        for k in range(j):
            for one in range(2):
                for two in range(2):
                    shared = np.count_nonzero((folds[j] == one) & (folds[k] == two))
                    assert shared in {n // 4, -(-n // 4)}


@pytest.mark.parametrize("m", [2, 5, 9, 20])
def test_blocked_halves_of_classes(m):
    y = labels(250, 4)
    folds = two_fold(m, blocked=True, stratify=True, rng=3).folds(250, y=y)
    assert (np.count_nonzero(folds == 0, axis=1) == 125).all()
    for label in range(4):
        n_class = np.count_nonzero(y == label)
        first = np.count_nonzero(folds[:, y == label] == 0, axis=1)
        assert np.abs(first - n_class / 2).max() <= max(2, np.sqrt(m))
    plain = two_fold(m, blocked=True, rng=3).folds(250)
    spread = np.abs(np.count_nonzero(plain[:, y == 3] == 0, axis=1) - n_class / 2)
    assert spread.max() > max(2, np.sqrt(m))  # chance alone does worse


@pytest.mark.parametrize("n", [60, 61])
@pytest.mark.parametrize("stratify", [False, True])
def test_paired_halves(n, stratify):
    n_halves, n_repeats, tested = 3, 4, 6
    design = paired_halves(n_halves, n_repeats, stratify=stratify, rng=8)
    y = labels(n)
    folds = design.folds(n, y=y)
    assert folds.shape == (n_repeats * (1 + 2 * n_halves), n)
    assert (np.count_nonzero(folds == 0, axis=1) == tested).all()
    assert (folds[:n_repeats] != UNUSED).all()
    cuts = folds[n_repeats:].reshape(n_halves, 2, n_repeats, n)
    used = cuts != UNUSED
    assert (used == used[:, :, :1]).all()  # the splits of a half are of one half
    halves = used[:, :, 0]
    assert (halves.sum(axis=2) == n // 2).all()
    assert not (halves[:, 0] & halves[:, 1]).any()
    assert len({half.tobytes() for half in halves.reshape(-1, n)}) == 2 * n_halves
    assert len({row.tobytes() for row in folds}) == len(folds)
    if stratify:
        for label in range(3):
            members = halves[..., y == label].sum(axis=2)
            assert np.abs(members - np.count_nonzero(y == label) / 2).max() <= 1


def test_each_sample_is_tested_equally_often():
    n_repeats = 1000
    for design in (
        repeated_holdout(n_repeats, test_size=0.3, rng=1),
        repeated_kfold(n_repeats, 10, rng=1),
        two_fold(n_repeats, rng=1),
    ):
        counts = np.count_nonzero(design.folds(30) == 0, axis=0)
        p = counts.mean() / n_repeats
        # The sum is fixed, so that 29/30 of the variance is left.
        statistic = ((counts - counts.mean()) ** 2).sum() / (n_repeats * p * (1 - p))
        assert 1e-4 < stats.chi2.sf(statistic * 29 / 30, 29) < 1 - 1e-4


def test_blocks_are_random():
    seen = np.zeros((12, 8))
    weights = 2 ** np.arange(3)
    for seed in range(3000):
        folds = two_fold(3, blocked=True, rng=seed).folds(12)
        seen[np.arange(12), weights @ folds] += 1
    used = seen.sum(axis=0) > 0
    assert np.count_nonzero(used) == 4
    assert stats.chisquare(seen[:, used], axis=None, ddof=11).pvalue > 1e-4


# Groups.


def grouped(n_groups, seed):
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(n_groups), rng.integers(1, 9, n_groups))
    rng.shuffle(groups)
    return groups


@every_design
@pytest.mark.parametrize("stratify", [False, True])
def test_no_group_is_on_both_sides(make, stratify):
    groups = grouped(41, 2)
    n, y = groups.size, labels(groups.size)
    folds = make(stratify=stratify, rng=1).folds(n, y=y, groups=groups)
    first = np.array([np.flatnonzero(groups == g)[0] for g in groups])
    np.testing.assert_array_equal(folds, folds[:, first])
    for train, test in make(stratify=stratify, rng=1).split(groups, y, groups):
        assert not set(groups[train]) & set(groups[test])
        assert train.size > 0 < test.size


@pytest.mark.parametrize("seed", range(8))
def test_groups_fill_folds_about_equally(seed):
    groups = grouped(60, seed)
    largest = np.bincount(groups).max()
    for n_folds in (2, 3, 7):
        row = kfold(n_folds, rng=seed).folds(groups.size, groups=groups)[0]
        assert np.ptp(np.bincount(row)) <= largest
    tested = repeated_holdout(9, test_size=0.3, rng=seed).folds(groups.size, groups=groups)
    shares = np.count_nonzero(tested == 0, axis=1) / groups.size
    assert np.abs(shares - 0.3).max() < 0.06
    halves = two_fold(5, blocked=True, rng=seed).folds(groups.size, groups=groups)
    sizes = np.count_nonzero(halves == 0, axis=1)
    assert np.abs(sizes - groups.size / 2).max() <= 2 * largest


def test_groups_belong_to_their_most_frequent_class():
    # Six groups whose majority is class 1, six of class 0, three samples each.
    y = np.array([0, 1, 1] * 6 + [0, 0, 1] * 6)
    groups = np.arange(36) // 3
    for seed in range(10):
        row = kfold(2, stratify=True, rng=seed).folds(36, y=y, groups=groups)[0]
        assert np.count_nonzero(row[:18] == 0) == 9
        assert np.count_nonzero(row[18:] == 0) == 9


# What is refused.


@pytest.mark.parametrize(
    ("make", "n", "said"),
    [
        (lambda: kfold(10), 9, r"n must be at least 10 for 10-fold .*, got 9"),
        (lambda: two_fold(5, blocked=True), 7, r"at least 8 for blocked 5 x 2-fold .* got 7"),
        (lambda: two_fold(8, blocked=True), 11, r"at least 12 for blocked 8 x .* got 11"),
        (lambda: two_fold(10**7, blocked=True), 100, r"at least 100\d+ for blocked 100"),
        (lambda: repeated_holdout(test_size=9), 9, r"test_size must .* tests 9 of 9"),
        (lambda: repeated_holdout(test_size=0.1), 4, r"test_size must .* tests 0 of 4"),
        (lambda: paired_halves(test_size=5), 11, r"in a half of 5, got 5, which tests 5"),
        (kfold, 0, r"n must be a whole number >= 1, got 0"),
        (kfold, 2**31, r"fewer than 2\*\*31 samples, got 2147483648"),
    ],
)
def test_too_few_samples(make, n, said):
    for ask in (make().folds, make().pattern):
        with pytest.raises(ValueError, match=said):
            ask(n)


def test_too_few_groups():
    three = [0, 0, 0, 1, 1, 1, 2, 2, 2, 2]
    for design, groups, said in (
        (kfold(4), three, "groups must number at least 4 for 4-fold .*, got 3"),
        (two_fold(5, blocked=True), three, "groups must number at least 8 .*, got 3"),
        (repeated_holdout(), [0] * 10, "groups must number at least 2"),
        (paired_halves(), three, r"test_size must leave groups .* half of 1"),
    ):
        with pytest.raises(ValueError, match=said):
            design.folds(10, groups=groups)


@every_design
def test_bad_labels(make):
    missing = np.arange(40.0) % 3
    missing[[7, 9]] = np.nan
    said = "must have no missing labels, got 2, the first in row 7"
    for stratify, given_, message in (
        (True, {}, "y must be given"),
        (True, {"y": [0] * 39}, r"y must hold one label .* 40 .* got 39"),
        (False, {"y": [0] * 39}, r"y must hold one label .* 40 .* got 39"),
        (False, {"groups": range(41)}, r"groups must hold one .* 40 .* got 41"),
        (True, {"y": missing}, f"y {said}"),
        (False, {"groups": missing}, f"groups {said}"),
        (True, {"y": np.zeros((40, 2))}, "y must be one-dimensional"),
    ):
        with pytest.raises(ValueError, match=message):
            make(stratify=stratify, rng=1).folds(40, **given_)
    assert make(rng=1).folds(40, y=missing).shape[1] == 40  # not looked at
    with pytest.raises(ValueError, match="y must be given"):
        make(stratify=True).split(np.zeros(40))


# Seeds, words, size.


def test_seeds():
    assert kfold(rng=7).seed == 7  # a number is the seed itself
    generator = np.random.default_rng(7)
    first = kfold(rng=generator).seed
    assert first == kfold(rng=np.random.default_rng(7)).seed != kfold(rng=generator).seed
    assert 0 <= kfold().seed < 2**62


# scikit-learn.


@every_design
def test_a_splitter_of_scikit_learn(make):
    from sklearn.dummy import DummyClassifier
    from sklearn.model_selection import cross_validate

    design, y = make(stratify=True, rng=0), labels(60)
    X, groups = np.zeros((60, 2)), np.arange(60) // 2
    for known in (None, groups):
        options = {"cv": design, "groups": known, "return_indices": True}
        found = cross_validate(DummyClassifier(), X, y, **options)["indices"]
        for k, (train, test) in enumerate(design.split(X, y, known)):
            np.testing.assert_array_equal(found["train"][k], train)
            np.testing.assert_array_equal(found["test"][k], test)
        assert len(found["train"]) == design.get_n_splits()
