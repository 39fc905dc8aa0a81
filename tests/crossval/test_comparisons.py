"""Each cross-validated test against its formula on models that were fitted by hand."""

import inspect
import math
from functools import cache

import numpy as np
import pytest
from scipy import stats
from sklearn.base import clone
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from fastcmp import compare_cv, compare_cv_all, designs
from fastcmp.crossval.registry import TESTS, find_test

TWO_SIDED_ONLY = {"alpaydin-f", "calibrated-f", "naive-mcnemar"}
COUNTING = {"proportion-z", "bayle-z", "holdout-mcnemar", "naive-mcnemar", "bcv-mcnemar"}
MODELS = {"a": GaussianNB(), "b": DecisionTreeClassifier(max_depth=1, random_state=0)}


def simulate(n=83, n_classes=3, seed=0):
    """Make samples of overlapping classes; n is divisible by no number of folds."""
    rng = np.random.default_rng(seed)
    y = rng.integers(n_classes, size=n)
    return rng.normal(size=(n, 3)) + 1.2 * y[:, None] * [1, 0.5, 0], y


X, Y = simulate()


@cache
def fit_by_hand(design):
    """Return, for each repetition and fold, who is right, and the training size."""
    found = []
    for train, test in design.split(X, Y):
        right = [
            clone(model).fit(X[train], Y[train]).predict(X[test]) == Y[test]
            for model in MODELS.values()
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
    assert each.size == Y.size
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
        designs.repeated_holdout(15, test_size=1 / 3, rng=3),
        lambda folds: paired_t(differences(folds), 0),
    ),
    "kfold-t": (designs.kfold(10, rng=3), lambda f: paired_t(differences(f), 0)),
    "dietterich-t": (designs.two_fold(5, rng=3), dietterich),
    "nadeau-bengio-t": (designs.repeated_holdout(15, test_size=0.1, rng=3), nadeau_bengio),
    "bouckaert-frank-t": (
        designs.repeated_kfold(10, 10, rng=3),
        lambda folds: paired_t(differences(folds), 1 / 9),
    ),
    "bouckaert-t": (designs.repeated_kfold(10, 10, rng=3), bouckaert),
    "yildiz-t": (designs.two_fold(5, rng=3), yildiz),
    "blocked-t": (designs.two_fold(3, blocked=True, rng=3), blocked),
    "alpaydin-f": (designs.two_fold(5, rng=3), combined_f((10, 5))),
    "calibrated-f": (designs.two_fold(5, blocked=True, rng=3), combined_f((7, 5))),
    "proportion-z": (designs.repeated_holdout(1, rng=3), proportions),
    "conservative-z": (designs.paired_halves(10, 15, rng=3), conservative),
    "bayle-z": (designs.kfold(10, rng=3), bayle),
    "holdout-mcnemar": (designs.repeated_holdout(1, rng=0), holdout_mcnemar),
    "naive-mcnemar": (designs.kfold(10, rng=3), naive_mcnemar),
    "bcv-mcnemar": (designs.two_fold(5, blocked=True, rng=3), bcv_mcnemar),
}


@pytest.fixture(scope="module")
def everything():
    """Run all tests at once, each on the design that its authors describe."""
    return compare_cv(*MODELS.values(), X, Y, test=list(TESTS), rng=3)


def test_all_are_here():
    assert set(BY_HAND) == set(TESTS)
    assert all(test.name == name for name, test in TESTS.items())
    assert len({test.title for test in TESTS.values()}) == len(TESTS) == 16
    for function in (compare_cv, compare_cv_all):
        assert inspect.signature(function).parameters["test"].default in TESTS
    assert all(f'"{name}"' in (compare_cv.__doc__ or "") for name in TESTS)


@pytest.mark.parametrize("name", TESTS)
def test_equals_its_formula(name):
    design, formula = BY_HAND[name]
    record = compare_cv(*MODELS.values(), X, Y, test=name, design=design).tests[name]
    statistic, pvalue = formula(fit_by_hand(design))
    assert 0 < pvalue < 1  # the data put the formula to the test
    assert record.statistic == pytest.approx(statistic, rel=1e-9)
    assert record.pvalue == pytest.approx(pvalue, rel=1e-9)
    assert isinstance(record.statistic, float)
    assert isinstance(record.pvalue, float)


@pytest.mark.parametrize("name", TESTS)
def test_default_designs_are_the_published_ones(name, everything):
    run = everything.runs.find(find_test(name))
    made, _ = BY_HAND[name]
    for field in ("family", "n_repeats", "n_folds", "test_size", "n_halves"):
        assert getattr(run.design, field) == getattr(made, field), field
    statistic, pvalue = BY_HAND[name][1](fit_by_hand(run.design))
    assert everything.tests[name].statistic == pytest.approx(statistic, rel=1e-9)
    assert everything.tests[name].pvalue == pytest.approx(pvalue, rel=1e-9)
    assert TESTS[name].accepts(run.design)


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
    found = compare_cv(*MODELS.values(), X, Y, test=name, design=design)
    statistic, pvalue = formula(fit_by_hand(design))
    assert found.statistic == pytest.approx(statistic, rel=1e-9)
    assert found.pvalue == pytest.approx(pvalue, rel=1e-9)


@pytest.mark.parametrize("name", TESTS)
def test_models_exchanged(name, everything):
    a, b = MODELS.values()
    swapped = compare_cv(b, a, X, Y, test=name, rng=3)
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
            compare_cv(*MODELS.values(), X, Y, test=name, alternative=alternative)
        with pytest.raises(ValueError, match=message):
            everything.test(name, alternative=alternative)


def test_which_have_sides_and_which_count():
    assert {name for name, test in TESTS.items() if not test.one_sided} == (TWO_SIDED_ONLY)
    assert {name for name, test in TESTS.items() if test.counts} == COUNTING


@pytest.mark.parametrize("name", TESTS)
def test_other_scores(name):
    if name in COUNTING:
        for compare in (
            lambda **k: compare_cv(*MODELS.values(), X, Y, **k),
            lambda **k: compare_cv_all(MODELS, X, Y, **k),
        ):
            with pytest.raises(ValueError, match=f"test '{name}' counts right and wr"):
                compare(test=name, scoring="balanced_accuracy")
    else:
        plain = compare_cv(*MODELS.values(), X, Y, test=name, rng=3)
        same = compare_cv(*MODELS.values(), X, Y, test=name, rng=3, scoring=accuracy_by_hand)
        assert same.statistic == pytest.approx(plain.statistic, rel=1e-9)
        assert same.pvalue == pytest.approx(plain.pvalue, rel=1e-9)
        assert same.measure == "accuracy_by_hand"


def accuracy_by_hand(model, X, y):
    return float((model.predict(X) == y).mean())


# The design has to be the right one.

MANY_DESIGNS = {
    "one split": designs.repeated_holdout(1, rng=0),
    "two splits": designs.repeated_holdout(2, rng=0),
    "15 splits": designs.repeated_holdout(15, rng=0),
    "2 folds": designs.kfold(2, rng=0),
    "10 folds": designs.kfold(10, rng=0),
    "2 x 10 folds": designs.repeated_kfold(2, 10, rng=0),
    "10 x 9 folds": designs.repeated_kfold(10, 9, rng=0),
    "10 x 10 folds": designs.repeated_kfold(10, 10, rng=0),
    "4 x 2": designs.two_fold(4, rng=0),
    "5 x 2": designs.two_fold(5, rng=0),
    "5 x 2 as repeated folds": designs.repeated_kfold(5, 2, rng=0),
    "blocked 2 x 2": designs.two_fold(2, blocked=True, rng=0),
    "blocked 3 x 2": designs.two_fold(3, blocked=True, rng=0),
    "blocked 5 x 2": designs.two_fold(5, blocked=True, rng=0),
    "halves": designs.paired_halves(2, 3, rng=0),
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
    unused = object()  # refused before any model is looked at
    for label, design in MANY_DESIGNS.items():
        assert TESTS[name].accepts(design) == (label in FITTING[name]), label
        if label in FITTING[name]:
            TESTS[name].check_design(design)
            continue
        with pytest.raises(ValueError, match=f"test '{name}' needs ") as error:
            compare_cv(unused, unused, X, Y, test=name, design=design)
        assert str(error.value).endswith(f"got {design}")
        assert TESTS[name].wanted in str(error.value)
        with pytest.raises(ValueError, match=f"test '{name}' needs "):
            compare_cv_all([unused, unused], X, Y, test=name, design=design)


@pytest.mark.parametrize("name", TESTS)
def test_outcomes_of_another_design(name, everything):
    pairs = np.array([[0, 1]], np.int32)
    for run in everything.runs.runs:
        outcomes = everything.runs.outcomes(run, pairs)
        if TESTS[name].accepts(run.design):
            record = TESTS[name].run(outcomes)
            assert record.pvalue.shape == (1,)
            assert TESTS[name].run(outcomes.pair(0)).pvalue == record.pvalue[0]
        else:
            with pytest.raises(ValueError, match=f"test '{name}' needs "):
                TESTS[name].run(outcomes)


def test_tests_are_spelled_freely():
    for name in ("bcv-mcnemar", "BCV-McNemar", "bcv_mcnemar", "BCV McNemar"):
        assert find_test(name).name == "bcv-mcnemar"


def test_unknown_tests():
    for name in ("mcnemar", "", "BCV McNemar t", None, ["bcv-mcnemar"]):
        with pytest.raises(ValueError, match=r"test must be one of .*bcv-mcnemar"):
            find_test(name)
