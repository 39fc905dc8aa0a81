"""Each cross-validated test against its formula on models that were fitted by hand."""

import inspect
import math
import re
from functools import cache

import numpy as np
import pytest
from libraries import stats

from fastcmp import compare_cv, compare_cv_all, designs

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


def discordant(fold):
    a, b, _ = fold
    return (a & ~b).sum(), (b & ~a).sum()


def student(estimate, variance, df):
    t = estimate / math.sqrt(variance)
    return t, 2 * stats.t.sf(abs(t), df)


def normal(estimate, variance):
    z = estimate / math.sqrt(variance)
    return z, 2 * stats.norm.sf(abs(z))


def paired_t(x, correction, df=None):
    x = np.ravel(x)
    variance = (1 / x.size + correction) * x.var(ddof=1)
    return student(x.mean(), variance, x.size - 1 if df is None else df)


def spread_of_pairs(x):
    return ((x - x.mean(axis=1, keepdims=True)) ** 2).sum()


def nadeau_bengio(folds):
    a, _, n_train = folds[0][0]
    return paired_t(differences(folds), a.size / n_train)


def bouckaert(folds):
    x = differences(folds).ravel()
    return student(x.mean(), x.var(ddof=1) / 11, 10)


def dietterich(folds):
    x = differences(folds)
    return student(x[0, 0], spread_of_pairs(x) / 5, 5)


def yildiz(folds):
    x = differences(folds)
    return student(x.mean(), spread_of_pairs(x) / 50, 5)


def blocked(folds):
    x = differences(folds)
    return student(x.mean(), x.var(), 2 * len(x) - 1)


def combined_f(df):
    def by_hand(folds):
        x = differences(folds)
        f = (x**2).sum() / (2 * spread_of_pairs(x))
        return f, stats.f.sf(f, *df)

    return by_hand


def proportions(folds):
    a, b, _ = folds[0][0]
    errors = 1 - (a.mean() + b.mean()) / 2
    return normal(a.mean() - b.mean(), 2 * errors * (1 - errors) / a.size)


def conservative(folds):
    x = differences(folds)[:, 0]
    whole, halves = x[:15], x[15:].reshape(10, 2, 15).mean(axis=2)
    variance = sum((first - second) ** 2 for first, second in halves) / 20
    return normal(whole.mean(), variance)


def bayle(folds):
    each = np.concatenate([a.astype(float) - b for a, b, _ in folds[0]])
    assert each.size == 83
    return normal(each.mean(), each.var() / each.size)


def corrected(only_a, only_b):
    total = only_a + only_b
    return max(abs(only_a - only_b) - 1, 0) ** 2 / total if total else 0.0


def holdout_mcnemar(folds):
    chi_square = corrected(*discordant(folds[0][0]))
    return chi_square, stats.chi2.sf(chi_square, 1)


def naive_mcnemar(folds):
    chi_square = sum(corrected(*discordant(fold)) for fold in folds[0])
    return chi_square, stats.chi2.sf(chi_square, len(folds[0]))


def bcv_mcnemar(folds):
    m = len(folds)
    tables = [discordant(fold) for row in folds for fold in row]
    only_a, only_b = np.mean(tables, axis=0)
    t = 2 * m / (1 + 0.5 + 2 * (m - 1) * 0.5)
    gap = max(abs(only_a - only_b) - 1 / t, 0)
    chi_square = t * gap**2 / (only_a + only_b)
    return chi_square, stats.chi2.sf(chi_square, 1)


#: The design that each test is published with, and its formula.
BY_HAND = {
    "resampled-t": (
        lambda: designs.repeated_holdout(15, test_size=1 / 3, rng=3),
        lambda folds: paired_t(differences(folds), 0),
    ),
    "kfold-t": (lambda: designs.kfold(10, rng=3), lambda f: paired_t(differences(f), 0)),
    "dietterich-t": (lambda: designs.two_fold(5, rng=3), dietterich),
    "nadeau-bengio-t": (lambda: designs.repeated_holdout(15, test_size=0.1, rng=3), nadeau_bengio),
    "bouckaert-frank-t": (
        lambda: designs.repeated_kfold(10, 10, rng=3),
        lambda folds: paired_t(differences(folds), 1 / 9),
    ),
    "bouckaert-t": (lambda: designs.repeated_kfold(10, 10, rng=3), bouckaert),
    "yildiz-t": (lambda: designs.two_fold(5, rng=3), yildiz),
    "blocked-t": (lambda: designs.two_fold(3, blocked=True, rng=3), blocked),
    "alpaydin-f": (lambda: designs.two_fold(5, rng=3), combined_f((10, 5))),
    "calibrated-f": (lambda: designs.two_fold(5, blocked=True, rng=3), combined_f((7, 5))),
    "proportion-z": (lambda: designs.repeated_holdout(1, rng=3), proportions),
    "conservative-z": (lambda: designs.paired_halves(10, 15, rng=3), conservative),
    "bayle-z": (lambda: designs.kfold(10, rng=3), bayle),
    "holdout-mcnemar": (lambda: designs.repeated_holdout(1, rng=0), holdout_mcnemar),
    "naive-mcnemar": (lambda: designs.kfold(10, rng=3), naive_mcnemar),
    "bcv-mcnemar": (lambda: designs.two_fold(5, blocked=True, rng=3), bcv_mcnemar),
}


TESTS = tuple(BY_HAND)


@pytest.fixture(scope="module")
def everything():
    """Run all tests at once, each on the design that its authors describe."""
    return cv(test=list(TESTS), rng=3)


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


@pytest.mark.parametrize("name", TESTS)
def test_equals_its_formula(name):
    make, formula = BY_HAND[name]
    record = cv(test=name, design=make()).tests[name]
    statistic, pvalue = formula(fit_by_hand(make()))
    assert 0 < pvalue < 1  # the data put the formula to the test
    assert record.statistic == pytest.approx(statistic, rel=1e-9)
    assert record.pvalue == pytest.approx(pvalue, rel=1e-9)


@pytest.mark.parametrize("name", TESTS)
def test_default_designs_are_the_published_ones(name, everything):
    make, formula = BY_HAND[name]
    fields = ("family", "n_repeats", "n_folds", "test_size", "n_halves")
    run = next(
        run
        for run in everything.runs.runs
        if all(getattr(run.design, field) == getattr(make(), field) for field in fields)
    )
    statistic, pvalue = formula(fit_by_hand(run.design))
    assert everything.tests[name].statistic == pytest.approx(statistic, rel=1e-9)
    assert everything.tests[name].pvalue == pytest.approx(pvalue, rel=1e-9)


@pytest.mark.parametrize("name", ["resampled-t", "bouckaert-frank-t", "blocked-t"])
def test_other_sizes(name):
    design = {
        "resampled-t": designs.repeated_holdout(2, test_size=20, rng=4),
        "bouckaert-frank-t": designs.repeated_kfold(2, 4, rng=4),
        "blocked-t": designs.two_fold(4, blocked=True, rng=4),
    }[name]
    formula = BY_HAND[name][1]
    if name == "bouckaert-frank-t":
        formula = lambda folds: paired_t(differences(folds), 1 / 3)  # noqa: E731
    found = cv(test=name, design=design)
    statistic, pvalue = formula(fit_by_hand(design))
    assert found.statistic == pytest.approx(statistic, rel=1e-9)
    assert found.pvalue == pytest.approx(pvalue, rel=1e-9)


@pytest.mark.parametrize("name", TESTS)
def test_models_exchanged(name, everything):
    swapped = compare_cv(*models()[::-1], *data(), test=name, rng=3)
    ours, theirs = everything.tests[name], swapped.tests[name]
    assert theirs.pvalue == pytest.approx(ours.pvalue, rel=1e-12)
    sign = -1 if name.endswith(("-t", "-z")) else 1
    assert theirs.statistic == pytest.approx(sign * ours.statistic, rel=1e-12)
    assert (swapped.scores() == everything.scores(name)[::-1]).all()
    if name not in TWO_SIDED_ONLY:
        for one, other in (("greater", "less"), ("less", "greater")):
            expect = swapped.test(name, alternative=other).pvalue
            found = everything.test(name, alternative=one).pvalue
            assert found == pytest.approx(expect, rel=1e-12)
        greater = everything.test(name, alternative="greater").pvalue
        less = everything.test(name, alternative="less").pvalue
        # Half of the two-sided p-value on the side that the data point to.
        assert 2 * min(greater, less) == pytest.approx(everything.tests[name].pvalue, rel=1e-9)


@pytest.mark.parametrize("name", sorted(TWO_SIDED_ONLY))
def test_two_sided_only(name, everything):
    for alternative in ("greater", "less"):
        message = f"test '{name}' is two-sided only, got alternative='{alternative}'"
        with pytest.raises(ValueError, match=message):
            cv(test=name, alternative=alternative)
        with pytest.raises(ValueError, match=message):
            everything.test(name, alternative=alternative)


@pytest.mark.parametrize("name", TESTS)
def test_other_scores(name):
    if name in COUNTING:
        for compare in (cv, lambda **k: compare_cv_all(models(), *data(), **k)):
            with pytest.raises(ValueError, match=f"test '{name}' counts right and wr"):
                compare(test=name, scoring="balanced_accuracy")
        return
    options = {"test": name, "rng": 3}
    if name == "conservative-z":
        options["design"] = designs.paired_halves(3, 4, rng=3)
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
    "15 splits": lambda: designs.repeated_holdout(15, rng=0),
    "2 folds": lambda: designs.kfold(2, rng=0),
    "10 folds": lambda: designs.kfold(10, rng=0),
    "2 x 10 folds": lambda: designs.repeated_kfold(2, 10, rng=0),
    "10 x 9 folds": lambda: designs.repeated_kfold(10, 9, rng=0),
    "10 x 10 folds": lambda: designs.repeated_kfold(10, 10, rng=0),
    "4 x 2": lambda: designs.two_fold(4, rng=0),
    "5 x 2": lambda: designs.two_fold(5, rng=0),
    "5 x 2 as repeated folds": lambda: designs.repeated_kfold(5, 2, rng=0),
    "blocked 2 x 2": lambda: designs.two_fold(2, blocked=True, rng=0),
    "blocked 3 x 2": lambda: designs.two_fold(3, blocked=True, rng=0),
    "blocked 5 x 2": lambda: designs.two_fold(5, blocked=True, rng=0),
    "halves": lambda: designs.paired_halves(2, 3, rng=0),
}
SPLITS = {"two splits", "15 splits"}
ONE_CV = {"2 folds", "10 folds"}
CVS = {name for name in MANY_DESIGNS if name.endswith("folds")}
BLOCKED = {"blocked 2 x 2", "blocked 3 x 2", "blocked 5 x 2"}
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
