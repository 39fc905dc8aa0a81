"""Samples, proportions and scores of labels: as mlxtend has them where it is right."""

from __future__ import annotations

import itertools
import warnings
from fractions import Fraction
from math import nan

import numpy as np
import pytest
from cases import refuses

from fastcmp.compat import mlxtend as ours
from fastcmp.kernels import proportion_z

ALTERNATIVES = {
    "x_mean != y_mean": "two-sided",
    "x_mean > y_mean": "greater",
    "x_mean < y_mean": "less",
}


@pytest.fixture(autouse=True, scope="module")
def peer():
    """Import peers where the first test runs, not where tests are collected."""
    global theirs, metrics  # noqa: PLW0603
    from mlxtend import evaluate as theirs
    from sklearn import metrics


# -------------------------------------------------------------------- two proportions


@pytest.mark.parametrize(
    ("first", "n_1", "second", "n_2"),
    [(84, 100, 92, 100), (92, 100, 84, 100), (3, 40, 30, 75), (0, 9, 2, 8)],
)
def test_proportion_difference(first, n_1, second, n_2):
    from statsmodels.stats.proportion import proportions_ztest

    got = ours.proportion_difference(first / n_1, second / n_2, n_1, n_2)
    z, p = proportions_ztest([first, second], [n_1, n_2])
    assert got == pytest.approx((z, p), rel=1e-12)
    if n_1 == n_2:
        result = proportion_z(n_1 - first, n_2 - second, n_1)
        assert got == pytest.approx((result.statistic, result.pvalue), rel=1e-12)
        assert got == ours.proportion_difference(first / n_1, second / n_2, n_1)


def test_proportion_difference_is_two_sided_where_mlxtend_is_not():
    worse = ours.proportion_difference(0.84, 0.92, 100)
    better = ours.proportion_difference(0.92, 0.84, 100)
    assert worse[0] == -better[0]
    assert worse[1] == better[1]
    assert theirs.proportion_difference(0.92, 0.84, 100)[1] > 0.95
    assert ours.proportion_difference(1.0, 1.0, 5) == (0.0, 1.0)
    assert ours.proportion_difference(0.3, 0.3, 5, 9) == (0.0, 1.0)


# ------------------------------------------------------------------------ permutations


@pytest.mark.parametrize("func", ALTERNATIVES)
@pytest.mark.parametrize("sizes", [(4, 5), (5, 3), (1, 6), (6, 1), (5, 5)])
def test_exact_means(func, sizes):
    rng = np.random.default_rng(sum(sizes))
    m, n = sizes
    for pooled in (rng.integers(0, 4, m + n), rng.normal(size=m + n)):
        got = ours.permutation_test(pooled[:m], pooled[m:], func)
        expected = theirs.permutation_test(pooled[:m], pooled[m:], func)
        assert got == pytest.approx(expected, rel=1e-12)
        # An oracle in exact numbers, also where there are ties.
        parts = [Fraction(v) for v in pooled.tolist()]

        def statistic(chosen, parts=parts):
            total = sum(parts[i] for i in chosen)
            d = total / m - (sum(parts) - total) / n
            return {"two-sided": abs(d), "greater": d, "less": -d}[ALTERNATIVES[func]]

        values = [statistic(c) for c in itertools.combinations(range(m + n), m)]
        assert got == pytest.approx(np.mean([v >= values[0] for v in values]))


@pytest.mark.parametrize("method", ["exact", "approximate"])
@pytest.mark.parametrize("paired", [False, True])
@pytest.mark.parametrize("func", [*ALTERNATIVES, "medians"])
def test_functions_and_random_exchanges(method, paired, func):
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=6), rng.normal(0.7, size=6)
    if func == "medians":

        def func(x, y):
            return abs(np.median(x) - np.median(y))

    options = {"method": method, "num_rounds": 150, "seed": 9, "paired": paired}
    got = ours.permutation_test(x, y, func, **options)
    assert got == pytest.approx(theirs.permutation_test(x, y, func, **options))
    assert type(got) is float


def test_small_differences_are_not_equal_ones():
    x, y = 1e-9 * np.arange(5), 1e-9 * np.arange(10, 15)
    for method in ("exact", "approximate"):
        options = {"method": method, "seed": 1}
        assert ours.permutation_test(x, y, **options) < 0.02
        assert theirs.permutation_test(x, y, **options) == 1.0
    # Within 1e-5 of the data's own difference, and larger: not as extreme.
    x, y = [1.0, 2.0], [3.0, 3.000001]
    assert ours.permutation_test(x, y) == pytest.approx(1 / 3)
    x, y = [0.0, 1.0, 1.000001], [2.0, 3.0, 1.000002]
    assert ours.permutation_test(x, y) < theirs.permutation_test(x, y)


# --------------------------------------------------------------------------- bootstrap


@pytest.mark.parametrize("seed", [0, 5])
def test_bootstrap_draws_as_mlxtend(seed):
    x = np.random.default_rng(1).normal(size=(40, 2))

    def correlation(rows):
        return np.corrcoef(rows.T)[0, 1]

    options = {"num_rounds": 300, "seed": seed, "ddof": 2}
    original, error, (low, high) = ours.bootstrap(x, correlation, **options)
    expected = theirs.bootstrap(x, correlation, **options)
    assert (original, error) == pytest.approx(expected[:2], rel=1e-12)
    assert (low, high) == pytest.approx(expected[2], abs=0.1)


def test_bootstrap_interval_turns_with_the_data():
    x = np.random.default_rng(1).normal(size=50)
    low, high = ours.bootstrap(x, np.mean, seed=3)[2]
    assert ours.bootstrap(-x, np.mean, seed=3)[2] == pytest.approx((-high, -low))
    low, high = theirs.bootstrap(x, np.mean, seed=3)[2]
    turned = theirs.bootstrap(-x, np.mean, seed=3)[2]
    assert turned != pytest.approx((-high, -low))


# ------------------------------------------------------------------------------ labels


def draw(kinds, n=200, seed=1, wrong=0.3):
    rng = np.random.default_rng(seed)
    true = rng.integers(0, len(kinds), n)
    pred = np.where(rng.random(n) < wrong, rng.integers(0, len(kinds), n), true)
    return np.array(kinds)[true], np.array(kinds)[pred]


METRICS = [
    *("accuracy", "error", "average per-class accuracy", "average per-class error"),
    *("balanced accuracy", "false_positive_rate", "true_positive_rate", "recall"),
    *("sensitivity", "true_negative_rate", "specificity", "precision", "f1"),
    "matthews_corr_coef",
]


@pytest.mark.parametrize("kinds", [[0, 1], [1, 5], ["no", "yes"], [False, True]])
def test_scoring_of_two_classes(kinds):
    true, pred = draw(kinds)
    positive = kinds[1]
    by_label = (metrics.precision_score, metrics.recall_score, metrics.f1_score)
    precision, recall, f1 = (score(true, pred, pos_label=positive) for score in by_label)
    others = {
        "accuracy": metrics.accuracy_score(true, pred),
        "balanced accuracy": metrics.balanced_accuracy_score(true, pred),
        "matthews_corr_coef": metrics.matthews_corrcoef(true, pred),
        "precision": precision,
        "recall": recall,
        "f1": f1,
    }
    for metric in METRICS:
        got = ours.scoring(true, pred, metric, positive)
        expected = theirs.scoring(true, pred, metric, positive)
        assert got == pytest.approx(expected, rel=1e-12)
        assert isinstance(got, float)
        assert got == pytest.approx(others.get(metric, got), rel=1e-12)


def test_refused_samples_bootstraps_and_proportions():
    test, bootstrap, difference = ours.permutation_test, ours.bootstrap, ours.proportion_difference
    for says, function, data, options in (
        ("same length", test, ([1, 2], [1, 2, 3]), {"paired": True}),
        ("x must be finite", test, ([1, nan], [1, 2]), {}),
        ("func", test, ([1], [2]), {"func": lambda *_: nan}),
        ("approximate", test, ([*range(60)], [*range(60)]), {}),
        ("approximate", test, ([*range(60)], [*range(60)]), {"paired": True}),
        ("approximate", test, ([*range(30)], [*range(30)]), {"func": lambda x, _: x[0]}),
        ("num_rounds", bootstrap, ([1.0, 2.0, 3.0], np.mean), {"num_rounds": 1}),
        ("func", bootstrap, ([1.0, 2.0, 3.0], lambda _: nan), {}),
        ("proportion_1", difference, (1.2, 0.5, 10), {}),
        ("n_1", difference, (0.2, 0.5, 0), {}),
    ):
        refuses(ValueError, says, function, *data, **options)


def test_scores_of_more_classes():
    for kinds in ([0, 1, 2], [3, -1, 7, 8], ["a", "bb", "c"]):
        true, pred = draw(kinds)
        alike = [("scoring", {"metric": metric}) for metric in METRICS[:5]]
        alike += [("accuracy_score", {"method": x}) for x in ("standard", "average", "balanced")]
        alike += [
            ("accuracy_score", {"method": "binary", "pos_label": label, "normalize": normalize})
            for label in kinds
            for normalize in (True, False)
        ]
        alike += [("confusion_matrix", {}), ("lift_score", {"positive_label": kinds[2]})]
        alike += [("confusion_matrix", {"binary": True, "positive_label": kinds[1]})]
        for name, options in alike:
            got, expected = (getattr(x, name)(true, pred, **options) for x in (ours, theirs))
            np.testing.assert_allclose(got, expected, rtol=1e-12)
        assert ours.accuracy_score(true, pred, normalize=False) == (true == pred).sum()
        assert type(ours.accuracy_score(true, pred)) is np.float64
        table = metrics.confusion_matrix(true, pred)
        np.testing.assert_array_equal(ours.confusion_matrix(true, pred), table)
        refuses(ValueError, "two classes", ours.scoring, true, pred, "f1", kinds[0])


def test_binary_lift():
    true, pred = draw([0, 1])
    for binary in (True, False):
        expected = theirs.lift_score(true, pred, binary)
        assert ours.lift_score(true, pred, binary) == pytest.approx(expected, rel=1e-12)
    refuses(ValueError, "0 and 1", ours.lift_score, [0, 1, -1], [0, 1, 1], binary=False)
    assert np.isnan(ours.lift_score([0, 0], [0, 0]))


def test_correlation_of_many_samples():
    cells = np.array([0, 1, 0, 1]), np.array([0, 1, 1, 0])
    true, pred = (np.repeat(c, [60_000, 50_000, 20_000, 10_000]) for c in cells)
    got = ours.scoring(true, pred, "matthews_corr_coef")
    assert got == pytest.approx(metrics.matthews_corrcoef(true, pred), rel=1e-12)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        printed = theirs.scoring(true, pred, "matthews_corr_coef")
    assert not abs(printed) <= 1


def test_averages_over_chosen_labels():
    true, pred = [0, 1, 2, 2], [0, 1, 1, 2]
    for metric in ("average per-class accuracy", "average per-class error"):
        got = ours.scoring(true, pred, metric, unique_labels=[0, 1])
        right = np.mean([1.0, 0.75])
        assert got == pytest.approx(right if metric.endswith("accuracy") else 1 - right)
    chosen = {"unique_labels": [0, 1], "metric": "average per-class accuracy"}
    assert theirs.scoring(np.array(true), np.array(pred), **chosen) > 0.8


def test_a_positive_label_of_another_kind_is_refused():
    true, pred = ["yes", "no", "no"], ["no", "no", "yes"]
    table = theirs.confusion_matrix(np.array(true), np.array(pred), binary=True)
    assert table[0, 0] == 3  # all are "right"
    calls = [
        lambda: ours.confusion_matrix(true, pred, binary=True),
        lambda: ours.lift_score(true, pred),
        lambda: ours.scoring(true, pred, "precision"),
        lambda: ours.confusion_matrix(["yes"], ["yes"], binary=True),
        lambda: ours.lift_score([0, 2], [0, 2]),
    ]
    for call in calls:
        refuses(ValueError, "positive_label", call)
    refuses(ValueError, "pos_label", ours.accuracy_score, true, pred, "binary")


@pytest.mark.parametrize("name", ["accuracy_score", "confusion_matrix", "lift_score", "scoring"])
def test_refused_labels(name):
    for true, pred, says in (
        ([0, 1], [0, 1, 1], "y_predicted has 3 labels"),
        ([], [], "y_target must hold"),
        ([0, 1], [0, None], "y_predicted has no label at row 1"),
        ([0, np.nan], [0, 1], "y_target has no label at row 1"),
        ([0, 1], ["0", "1"], "never be equal"),
        ([[0, 1]], [[0, 1]], "one-dimensional"),
    ):
        refuses((ValueError, TypeError), says, getattr(ours, name), true, pred)
