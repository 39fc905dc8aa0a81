"""Each cross-validated test against its formula on models that were fitted by hand."""

import inspect
import re
from functools import cache

import numpy as np
import pytest

from fastcmp import bcv_mcnemar, compare_cv, compare_cv_all, designs, fold_test, mcnemar

TWO_SIDED_ONLY = {"alpaydin-f", "calibrated-f", "naive-mcnemar"}
COUNTING = {"proportion-z", "bayle-z", "holdout-mcnemar", "naive-mcnemar", "bcv-mcnemar"}


@cache
def data():
    """Samples of overlapping classes; their number is divisible by none of folds."""
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=83)
    return rng.normal(size=(83, 3)) + 1.2 * y[:, None] * [1, 0.5, 0], y


def models():
    from cv_models import NB, STUMP

    return NB, STUMP


def cv(**options):
    return compare_cv(*models(), *data(), **options)


@cache
def fit_by_hand(design):
    """Return, for each repetition and fold, who is right, and the training size."""
    from sklearn.base import clone

    (X, y), found = data(), []
    for train, test in design.split(X, y):
        right = [
            clone(model).fit(X[train], y[train]).predict(X[test]) == y[test] for model in models()
        ]
        found.append((*right, train.size))
    return [found[i : i + design.n_folds] for i in range(0, len(found), design.n_folds)]


def differences(folds):
    return np.array([[a.mean() - b.mean() for a, b, _ in row] for row in folds])


def table_of(fold):
    """Both right, only a, only b, both wrong."""
    a, b, _ = fold
    return [[(a & b).sum(), (a & ~b).sum()], [(b & ~a).sum(), (~a & ~b).sum()]]


def by_hand(name, folds):
    """The test of what was fitted by hand."""
    x, (a, _, n_train) = differences(folds), folds[0][0]
    tables = np.array([[table_of(fold) for fold in row] for row in folds])
    if name == "bcv-mcnemar":
        return bcv_mcnemar(tables)
    if name == "holdout-mcnemar":
        return mcnemar(table=tables[0, 0], method="corrected")
    if name in ("naive-mcnemar", "proportion-z"):
        return fold_test(tables[0] if name[0] == "n" else tables[0, 0], name)
    if name == "bayle-z":
        each = np.concatenate([a.astype(float) - b for a, b, _ in folds[0]])
        numbers = np.repeat(np.arange(len(folds[0])), [a.size for a, *_ in folds[0]])
        return fold_test(each, name, folds=numbers)
    if name == "conservative-z":  # as many repetitions of the whole as of each half
        n = 15 if len(x) > 300 else 4
        return fold_test(x[:n, 0], name, half_differences=x[n:, 0].reshape(-1, 2, n))
    if name == "nadeau-bengio-t":
        return fold_test(x.ravel(), name, n_train=n_train, n_test=a.size)
    return fold_test(x.ravel() if name in ("resampled-t", "kfold-t") else x, name)


#: The design that each test is published with.
PUBLISHED = {
    "resampled-t": lambda: designs.repeated_holdout(15, test_size=1 / 3),
    "kfold-t": lambda: designs.kfold(10),
    "dietterich-t": lambda: designs.two_fold(5),
    "nadeau-bengio-t": lambda: designs.repeated_holdout(15, test_size=0.1),
    "bouckaert-frank-t": lambda: designs.repeated_kfold(10, 10),
    "bouckaert-t": lambda: designs.repeated_kfold(10, 10),
    "yildiz-t": lambda: designs.two_fold(5),
    "blocked-t": lambda: designs.two_fold(3, blocked=True),
    "alpaydin-f": lambda: designs.two_fold(5),
    "calibrated-f": lambda: designs.two_fold(5, blocked=True),
    "proportion-z": lambda: designs.repeated_holdout(1),
    "conservative-z": lambda: designs.paired_halves(10, 15),
    "bayle-z": lambda: designs.kfold(10),
    "holdout-mcnemar": lambda: designs.repeated_holdout(1),
    "naive-mcnemar": lambda: designs.kfold(10),
    "bcv-mcnemar": lambda: designs.two_fold(5, blocked=True),
}


TESTS = tuple(PUBLISHED)


#: Those of more than a hundred fits stand in the second tier.
QUICK = [x for x in TESTS if x not in ("bouckaert-frank-t", "bouckaert-t", "conservative-z")]


every_test = pytest.mark.parametrize(
    "name", [pytest.param(x, marks=[] if x in QUICK else pytest.mark.full) for x in TESTS]
)


@pytest.fixture(scope="module")
def everything():
    """Run all quick tests at once, each on the design that its authors describe."""
    return cv(test=QUICK, rng=5)


def test_all_are_here():
    with pytest.raises(ValueError, match="test must be one of") as caught:
        cv(test="nope")
    known = re.findall(r"'([a-z-]+)'", str(caught.value).partition("(")[2].partition(")")[0])
    assert sorted(known) == sorted(TESTS)
    for function in (compare_cv, compare_cv_all):
        assert inspect.signature(function).parameters["test"].default in TESTS
    assert all(f'"{name}"' in (compare_cv.__doc__ or "") for name in TESTS)
    for name in ("BCV-McNemar", "bcv_mcnemar", "BCV McNemar"):
        assert list(cv(test=name, rng=1).tests) == ["bcv-mcnemar"]


@every_test
def test_default_designs_are_the_published_ones(name, everything):
    published = PUBLISHED[name]()
    fields = ("family", "n_repeats", "n_folds", "test_size", "n_halves")
    result = everything if name in QUICK else cv(test=name, rng=5)
    run = next(
        run
        for run in result.runs.runs
        if all(getattr(run.design, field) == getattr(published, field) for field in fields)
    )
    found, wanted = result.tests[name], by_hand(name, fit_by_hand(run.design))
    assert 0 < wanted.pvalue < 1  # the data put the test to the test
    assert found.statistic == pytest.approx(wanted.statistic, rel=1e-9)
    assert found.pvalue == pytest.approx(wanted.pvalue, rel=1e-9)


@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("resampled-t", lambda: designs.repeated_holdout(2, test_size=20, rng=4)),
        ("bouckaert-frank-t", lambda: designs.repeated_kfold(2, 4, rng=4)),
        ("blocked-t", lambda: designs.two_fold(4, blocked=True, rng=4)),
        ("conservative-z", lambda: designs.paired_halves(3, 4, rng=4)),
    ],
)
def test_other_sizes(name, make):
    found, wanted = cv(test=name, design=make()), by_hand(name, fit_by_hand(make()))
    assert found.statistic == pytest.approx(wanted.statistic, rel=1e-9)
    assert found.pvalue == pytest.approx(wanted.pvalue, rel=1e-9)


@pytest.mark.parametrize("name", sorted(TWO_SIDED_ONLY))
def test_two_sided_only(name, everything):
    message = f"test '{name}' is two-sided only, got alternative='less'"
    with pytest.raises(ValueError, match=message):
        cv(test=name, alternative="less")
    with pytest.raises(ValueError, match=message):
        everything.test(name, alternative="less")


@every_test
def test_other_scores(name):
    if name in COUNTING:
        for compare in (cv, lambda **k: compare_cv_all(models(), *data(), **k)):
            with pytest.raises(ValueError, match=f"test '{name}' counts right and wr"):
                compare(test=name, scoring="balanced_accuracy")
        return
    options = {"test": name, "rng": 3}
    plain, same = cv(**options), cv(scoring=accuracy_by_hand, **options)
    assert same.statistic == pytest.approx(plain.statistic, rel=1e-9)
    assert same.pvalue == pytest.approx(plain.pvalue, rel=1e-9)
    assert same.measure == "accuracy_by_hand"


def accuracy_by_hand(model, X, y):
    return float((model.predict(X) == y).mean())


# The design has to be the right one.

MANY_DESIGNS = {
    "one split": lambda: designs.repeated_holdout(1, rng=0),
    "two splits": lambda: designs.repeated_holdout(2, rng=0),
    "2 folds": lambda: designs.kfold(2, rng=0),
    "2 x 10 folds": lambda: designs.repeated_kfold(2, 10, rng=0),
    "10 x 9 folds": lambda: designs.repeated_kfold(10, 9, rng=0),
    "10 x 10 folds": lambda: designs.repeated_kfold(10, 10, rng=0),
    "4 x 2": lambda: designs.two_fold(4, rng=0),
    "5 x 2": lambda: designs.two_fold(5, rng=0),
    "5 x 2 as repeated folds": lambda: designs.repeated_kfold(5, 2, rng=0),
    "blocked 2 x 2": lambda: designs.two_fold(2, blocked=True, rng=0),
    "blocked 5 x 2": lambda: designs.two_fold(5, blocked=True, rng=0),
    "halves": lambda: designs.paired_halves(2, 3, rng=0),
}
SPLITS = {"two splits"}
ONE_CV = {"2 folds"}
CVS = {name for name in MANY_DESIGNS if name.endswith("folds")}
BLOCKED = {"blocked 2 x 2", "blocked 5 x 2"}
FITTING = {
    "resampled-t": SPLITS,
    "nadeau-bengio-t": SPLITS,
    "kfold-t": ONE_CV,
    "bayle-z": ONE_CV,
    "naive-mcnemar": ONE_CV,
    "bouckaert-frank-t": CVS,
    "bouckaert-t": {"10 x 10 folds"},
    "dietterich-t": {"5 x 2"},
    "yildiz-t": {"5 x 2"},
    "alpaydin-f": {"5 x 2"},
    "calibrated-f": {"blocked 5 x 2"},
    "blocked-t": BLOCKED,
    "bcv-mcnemar": BLOCKED,
    "proportion-z": {"one split"},
    "holdout-mcnemar": {"one split"},
    "conservative-z": {"halves"},
}


@pytest.mark.parametrize("name", TESTS)
def test_folds_of_another_design(name):
    X, y = data()
    unused = object()  # a design is looked at before any model
    for label, make in MANY_DESIGNS.items():
        if label in FITTING[name]:
            with pytest.raises(TypeError, match="model 'a' "):
                compare_cv(unused, unused, X, y, test=name, design=make())
            continue
        with pytest.raises(ValueError, match=f"test '{name}' needs ") as error:
            compare_cv(unused, unused, X, y, test=name, design=make())
        assert str(error.value).endswith(f"got {make()}")
        with pytest.raises(ValueError, match=f"test '{name}' needs "):
            compare_cv_all([unused, unused], X, y, test=name, design=make())
