"""Cost-sensitive tests from labels and from counts, and all that their record says."""

from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from libraries import stats
from reference_cases import expected, parametrize

from fastcmp import cost_test, count_labels, mcnemar
from fastcmp.kernels import DEGENERATE, OK, UNDEFINED

SEED = [[[77, 12], [9, 24]], [[8, 11], [5, 69]]]
COST = [[0, 1], [5, 0]]
VARIANTS = [
    {"method": "likelihood"},
    {"method": "likelihood", "smoothing": 0.5},
    {"method": "likelihood", "support": "observed"},
    {"method": "likelihood", "support": "observed", "smoothing": 2},
    {"method": "chi-square", "smoothing": 0},
    {"method": "chi-square", "nonnegative": True, "smoothing": 3},
]
ALL_VARIANTS = pytest.mark.parametrize(
    "options", VARIANTS, ids=lambda x: " ".join(map(str, x.values()))
)
FIELDS = ("statistic", "pvalue", "multiplier", "loss_a", "loss_b", "difference")


def cost_matrices(k):
    """Draw costs with ties, zeros, fractions and one that outweighs the others."""
    entry = st.one_of(
        st.integers(0, 3), st.sampled_from([0.1, 0.7, 5.0, 30.0]), st.floats(0.01, 9.0)
    )
    rows = st.lists(entry, min_size=k * k, max_size=k * k)
    matrices = rows.map(lambda x: np.reshape(x, (k, k)) * (1 - np.eye(k)))
    return matrices.filter(np.any)


@st.composite
def problems(draw, max_classes=4, largest=12):
    """Draw counts, sparse ones too, with their costs."""
    k = draw(st.integers(2, max_classes))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    share = draw(st.sampled_from([0.1, 0.3, 1.0]))
    counts = rng.integers(largest, size=(k, k, k)) * (rng.random((k, k, k)) < share)
    return counts, draw(cost_matrices(k))


def labels_of(counts):
    """Make labels whose counts they are, in some order."""
    columns = np.repeat(np.indices(np.shape(counts)).reshape(3, -1), np.ravel(counts), axis=1)
    return columns[:, np.random.default_rng(0).permutation(columns.shape[1])]


def assert_same(one, other, rel=1e-8, abs=1e-10):
    """Hold everything that two tests say against each other."""
    for name in FIELDS:
        ours, theirs = (getattr(result, name) for result in (one, other))
        assert ours == pytest.approx(theirs, rel=rel, abs=abs, nan_ok=True), name
    assert (one.status, one.at_bound) == (other.status, other.at_bound)


# What the statistics are: dense oracles over all K**3 cells.


def all_differences(cost):
    k = len(cost)
    d = [cost[t][a] - cost[t][b] for t, a, b in product(range(k), repeat=3)]
    return np.array(d, float)


def check_reference(case, **options):
    # There the true class comes last.
    counts = np.transpose(case["input"]["counts_ijk"], (2, 0, 1))
    cost = case["input"]["cost"]
    options["smoothing"] = case["options"]["smoothing"]
    result = cost_test(counts=counts, cost=cost, **options)
    assert result.statistic == expected(case, "statistic")
    assert result.pvalue == expected(case, "pvalue")
    assert result.loss_a == expected(case, "e1")
    assert result.loss_b == expected(case, "e2")
    batch = cost_test(counts=counts[np.newaxis], cost=cost, **options)
    assert batch.statistic[0] == expected(case, "statistic")
    if counts.sum() < 10**6:
        columns, classes = labels_of(counts), list(range(len(cost)))
        counted = count_labels(*columns, classes=classes)
        assert cost_test(counts=counted, cost=cost, **options) == result


@parametrize("cost_likelihood_ratio")
def test_likelihood_against_references(case):
    observed = case["options"]["support"].startswith("observed")
    check_reference(case, support="observed" if observed else "all")


@parametrize("cost_chi_square")
def test_chi_square_against_references(case):
    condition = case["options"]["nonneg"]
    for nonnegative in (True, False) if condition == "either" else (condition,):
        check_reference(case, method="chi-square", nonnegative=nonnegative)


def test_the_likelihood_of_the_whole_simplex_is_not_that_of_the_observed():
    """Ten differences of 1 and two of -1, where -5 and 5 are possible."""
    counts = [[[50, 2], [10, 0]], [[0, 0], [0, 50]]]
    for options, statistic, at_bound in [
        ({}, 2.754, True),
        ({"support": "observed"}, 5.822, False),
        ({"smoothing": 1}, 0.889, False),
    ]:
        result = cost_test(counts=counts, cost=COST, **options)
        assert result.statistic == pytest.approx(statistic, abs=5e-4)
        assert result.at_bound is at_bound


@pytest.mark.parametrize(("a", "b"), [(35, 1), (1, 35), (12, 20), (4, 4)])
def test_two_classes_of_equal_cost_are_mcnemars(a, b):
    """`a` is the number of samples that only a is right on."""
    counts = [[[30, a - 1], [b, 3]], [[2, 0], [1, 40]]]
    for cost in (1, 3.5):
        matrix = [[0, cost], [cost, 0]]
        options = {"method": "chi-square", "smoothing": 0}
        result = cost_test(counts=counts, cost=matrix, **options)
        peer = mcnemar(only_a=a, only_b=b, method="asymptotic")
        assert result.statistic == pytest.approx(peer.statistic, rel=1e-12)
        assert result.pvalue == pytest.approx(peer.pvalue, rel=1e-9)


# Laws.


@ALL_VARIANTS
@given(st.data())
def test_many_tests_are_those_of_each(options, data):
    k = data.draw(st.integers(2, 4))
    cost = data.draw(cost_matrices(k))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    shape = data.draw(st.sampled_from([(1,), (5,), (2, 3), (1, 2, 2)]))
    counts = rng.integers(30, size=(*shape, k, k, k))
    counts *= rng.random(counts.shape) < data.draw(st.sampled_from([0.05, 0.2, 1.0]))
    many = cost_test(counts=counts, cost=cost, **options)
    intervals = [many.confidence_interval(0.9, x) for x in ("profile", "wald")]
    for place in np.ndindex(shape):
        one = cost_test(counts=counts[place], cost=cost, **options)
        for name in (*FIELDS, "status", "at_bound", "n_samples"):
            ours = getattr(many, name)[place]
            theirs = pytest.approx(getattr(one, name), rel=1e-9, abs=1e-9, nan_ok=True)
            assert ours == theirs, name
        for method, interval in zip(("profile", "wald"), intervals, strict=True):
            ends = [interval.low[place], interval.high[place]]
            single = list(one.confidence_interval(0.9, method))
            assert ends == pytest.approx(single, rel=1e-7, abs=1e-9, nan_ok=True)


@ALL_VARIANTS
def test_the_unit_of_costs_does_not_matter(options):
    result = cost_test(counts=SEED, cost=COST, **options)
    for unit in (1e-6, 0.3, 1e6):
        other = cost_test(counts=SEED, cost=np.multiply(COST, unit), **options)
        assert other.statistic == pytest.approx(result.statistic, rel=1e-10)
        assert other.multiplier * unit == pytest.approx(result.multiplier, rel=1e-10)
        assert other.loss_a == pytest.approx(result.loss_a * unit, rel=1e-12)
        ends = np.divide(other.confidence_interval(), unit)
        assert list(ends) == pytest.approx(list(result.confidence_interval()), rel=1e-8)


@ALL_VARIANTS
@given(problem=problems())
def test_labels_and_counts_give_the_same(options, problem):
    counts, cost = problem
    assume(counts.sum() >= 2)
    columns, k = labels_of(counts), len(cost)
    result = cost_test(counts=counts, cost=cost, **options)
    assert cost_test(*columns, cost, classes=list(range(k)), **options) == result
    if result.smoothing:
        return
    wide = np.zeros((150, 150))  # so many classes that only the cells with samples are kept
    wide[:k, :k] = cost
    sparse = cost_test(*columns, wide, classes=range(150), **options)
    assert_same(sparse, result, rel=1e-12, abs=1e-13)
    assert tuple(sparse.confidence_interval()) == pytest.approx(
        tuple(result.confidence_interval()), abs=1e-9, nan_ok=True
    )


@given(problems(), st.sampled_from([0.01, 0.05, 0.2, 0.5]))
def test_the_profile_interval_agrees_with_the_likelihood(problem, alpha):
    counts, cost = problem
    result = cost_test(counts=counts, cost=cost)
    assume(result.n_samples > 0)
    assume(abs(result.pvalue - alpha) > 1e-6)
    low, high = result.confidence_interval(1 - alpha)
    assert (low <= 0 <= high) == (result.pvalue > alpha)
    largest = problem[1].max()
    for method, level in product(("profile", "wald"), (0.5, 0.95)):
        low, high = result.confidence_interval(level, method)
        assert -largest <= low <= result.difference + 1e-12
        assert result.difference - 1e-12 <= high <= largest


def test_the_wald_interval_by_hand():
    result = cost_test(counts=SEED, cost=COST)
    d = np.repeat(all_differences(COST), np.ravel(SEED))
    spread = stats.norm.ppf(0.95) * d.std() / d.size**0.5
    expect = d.mean() - spread, d.mean() + spread
    assert result.confidence_interval(0.9, "wald") == pytest.approx(expect)


# Smoothing.


def check_smoothing(counts, cost, smoothing, **options):
    result = cost_test(counts=counts, cost=cost, smoothing=smoothing, **options)
    added = cost_test(counts=counts + smoothing, cost=cost, smoothing=0, **options)
    for name in ("statistic", "pvalue", "multiplier"):
        expect = pytest.approx(getattr(added, name), rel=1e-7, abs=1e-9)
        assert getattr(result, name) == expect, name
    assert result.at_bound == added.at_bound
    unsmoothed = cost_test(counts=counts, cost=cost, smoothing=0)
    assert (result.loss_a, result.loss_b) == (unsmoothed.loss_a, unsmoothed.loss_b)
    assert result.confidence_interval() == unsmoothed.confidence_interval()
    assert result.counts == unsmoothed.counts


KINDS = pytest.mark.parametrize(
    "options",
    [
        {"method": "likelihood"},
        {"method": "likelihood", "support": "observed"},
        {"method": "chi-square"},
        {"method": "chi-square", "nonnegative": True},
    ],
    ids=lambda x: " ".join(map(str, x.values())),
)


@KINDS
@given(problem=problems(), smoothing=st.integers(1, 4))
def test_smoothing_adds_to_each_cell(options, problem, smoothing):
    assume(cost_test(counts=problem[0], cost=problem[1]).status == OK)
    check_smoothing(*problem, smoothing, **options)


@KINDS
def test_smoothing_of_thousands_of_different_costs(options):
    k, rng = 25, np.random.default_rng(1)
    counts = rng.integers(3, size=(k, k, k)) * (rng.random((k, k, k)) < 0.02)
    check_smoothing(counts, rng.random((k, k)) * (1 - np.eye(k)), 1, **options)


@pytest.mark.parametrize("smoothing", [0, 1])
def test_the_sign_condition(smoothing):
    """One difference of 30 beside many of 1: its fitted count would be negative."""
    cost = [[0, 1], [30, 0]]
    counts = np.zeros((2, 2, 2), int)
    counts[0, 0, 1], counts[0, 1, 0], counts[1, 0, 1] = 8, 400, 3
    options = {"method": "chi-square", "smoothing": smoothing}
    free = cost_test(counts=counts, cost=cost, **options)
    bound = cost_test(counts=counts, cost=cost, nonnegative=True, **options)
    assert (free.at_bound, bound.at_bound) == (False, True)
    assert bound.statistic > free.statistic
    assert abs(bound.multiplier) > abs(free.multiplier)
    even = cost_test(counts=SEED, cost=COST, nonnegative=True, **options)
    same = cost_test(counts=SEED, cost=COST, **options)
    assert (even.at_bound, even.statistic) == (False, same.statistic)


# Edge cases.


@pytest.mark.parametrize("flip", [False, True])
def test_differences_of_one_sign(flip):
    y_true, worse, better = [0] * 4 + [1] * 6, [1, 1, 0, 0] + [1] * 6, [0] * 4 + [1] * 6
    pair = (better, worse) if flip else (worse, better)
    result = cost_test(y_true, *pair, COST, support="observed")
    assert np.isnan([result.statistic, result.pvalue, result.multiplier]).all()
    assert result.status == UNDEFINED
    assert "support='all' has an answer." in result.summary()
    low, high = result.confidence_interval()
    assert low < result.difference < high
    answer = cost_test(y_true, *pair, COST)
    assert answer.statistic == pytest.approx(2 * 2 * np.log(1.2))
    assert (answer.status, answer.at_bound) == (OK, True)
    assert "mass on a difference that was not observed" in answer.summary()
    assert cost_test(y_true, *pair, COST, support="observed", smoothing=1).status == OK


# Costs and classes.

Y = ["ill", "ill", "ill", "well", "well", "well", "well", "well"]
A = ["ill", "ill", "ill", "ill", "ill", "well", "well", "well"]
B = ["well", "ill", "ill", "well", "well", "well", "well", "well"]
NAMED = {"well": {"ill": 1}, "ill": {"well": 5}}


@ALL_VARIANTS
def test_named_and_plain_costs_say_the_same(options):
    import pandas as pd
    import polars as pl

    plain = cost_test(Y, A, B, [[0, 5], [1, 0]], **options)
    assert (plain.loss_a, plain.loss_b) == (0.25, 0.625)
    frame = pd.DataFrame(NAMED).T.fillna(0)
    turned = cost_test(Y, A, B, [[0, 1], [5, 0]], classes=["well", "ill"], **options)
    for cost in (NAMED, frame, pl.from_pandas(frame.reset_index())):
        result = cost_test(Y, A, B, cost, **options)
        assert_same(result, plain, rel=1e-12, abs=0)
        assert set(result.counts.classes) == {"ill", "well"}
        ordered = cost_test(Y, A, B, cost, classes=["ill", "well"], **options)
        assert ordered == plain
        assert cost_test(Y, A, B, cost, classes=["well", "ill"], **options) == turned
    assert_same(turned, plain, rel=1e-12, abs=0)


def test_a_prediction_that_named_costs_lack():
    pred_a, pred_b = [*A[:4], "dead", *A[5:]], ["dead", *B[1:]]
    for model, columns in (("pred_a", (pred_a, B)), ("pred_b", (A, pred_b))):
        wanted = f"^{model} predicts 'dead', which is not among the classes"
        for cost, options in ((NAMED, {}), (COST, {"classes": ["well", "ill"]})):
            with pytest.raises(ValueError, match=wanted):
                cost_test(Y, *columns, cost, **options)


def test_a_true_label_that_named_costs_lack():
    y_true = ["dead", *Y[1:7], "dead"]
    wanted = (
        r"^cost names the classes \['well', 'ill'\], but 2 samples have another true "
        r"label \(pass classes= to leave them out\)$"
    )
    with pytest.raises(ValueError, match=wanted):
        cost_test(y_true, A, B, NAMED)
    result = cost_test(y_true, A, B, NAMED, classes=["well", "ill"])
    assert_same(result, cost_test(Y[1:7], A[1:7], B[1:7], NAMED))
    assert (result.n_samples, result.counts.n_excluded) == (6, 2)


def test_named_costs_may_be_selected():
    cost = {"a": {"b": 1, "c": 9}, "b": {"a": 2, "c": 9}, "c": {"a": 9, "b": 9}}
    y_true, a, b = map(np.array, (list("aabbcab"), list("abbacab"), list("bbbacbb")))
    result = cost_test(y_true, a, b, cost, classes=["b", "a"])
    assert (result.counts.classes, result.counts.n_excluded) == (("b", "a"), 1)
    assert result.cost.tolist() == [[0, 2], [1, 0]]
    kept = y_true != "c"
    assert_same(result, cost_test(y_true[kept], a[kept], b[kept], [[0, 1], [2, 0]]))


def test_missing_true_labels():
    result = cost_test([None, *Y], ["ill", *A], [None, *B], NAMED)
    assert_same(result, cost_test(Y, A, B, NAMED))
    assert result.counts.n_missing == 1


# Options.


@ALL_VARIANTS
def test_no_samples_and_identical_models(options):
    result = cost_test(counts=np.zeros((2, 2, 2), int), cost=COST, **options)
    assert (result.statistic, result.pvalue, result.n_samples) == (0.0, 1.0, 0)
    assert result.status == DEGENERATE
    nothing = [result.loss_a, result.difference, *result.confidence_interval()]
    assert np.isnan([*nothing, *result.confidence_interval(method="wald")]).all()
    pred = [0, 1, 0, 1, 1]
    result = cost_test([0, 1, 1, 0, 1], pred, pred, COST, **options)
    assert (result.statistic, result.pvalue, result.status) == (0.0, 1.0, DEGENERATE)
    assert result.loss_a == result.loss_b == pytest.approx(1.2)
    low, high = result.confidence_interval()
    assert low < 0 < high


def test_a_margin_of_no_samples_cannot_be_tested():
    tests = cost_test(counts=np.zeros((2, 2, 2), int), cost=[[0, 1], [5, 0]], margin=0.1).margins
    assert (tests.decision, tests.pvalue_lower, tuple(tests.interval)) == (
        "cannot tell",
        1.0,
        (-5, 5),
    )


def test_options_that_do_not_go_together():
    for counts, options, wanted in (
        (SEED, {"nonnegative": True}, "nonnegative=True is for method='chi-square'"),
        (SEED, {"method": "chi-square", "support": "observed"}, "support='observed' is for method"),
        (np.ones((2, 2, 2, 1), int), {}, r"counts must be of shape \(\.\.\., 2, 2, 2\) for a 2 x "),
    ):
        with pytest.raises(ValueError, match=f"^{wanted}"):
            cost_test(counts=counts, cost=COST, **options)


def test_counts_and_costs_of_other_classes():
    counts = count_labels(Y, A, B)
    with pytest.raises(ValueError, match=r"^cost is 3 x 3, but classes names 2 classes"):
        cost_test(counts=counts, cost=np.ones((3, 3)) - np.eye(3))
    with pytest.raises(ValueError, match=r"^cost names no class 'well'; it has "):
        cost_test(counts=counts, cost={"ill": {"dead": 1}, "dead": {"ill": 1}})
    by_labels = cost_test(Y, A, B, NAMED, classes=["ill", "well"])
    assert cost_test(counts=counts, cost=NAMED) == by_labels
    for of in (SEED, [SEED]):
        with pytest.raises(ValueError, match=r"must be one of \('profile', 'wald'\), got 'tang"):
            cost_test(counts=of, cost=COST).confidence_interval(method="tango")
    text = str(cost_test(counts=SEED, cost=COST, method="chi-square"))
    assert "The test added 1 to each cell, 8 in all, to 215 samples." in text


# Many classes.


@pytest.mark.parametrize("kind", ["few levels", "all differ"])
@ALL_VARIANTS
def test_a_thousand_classes(options, kind):
    k, n = 1000, 200_000
    rng = np.random.default_rng(6)
    y_true = rng.integers(k, size=n)
    preds = [
        np.where(rng.random(n) < share, y_true, rng.integers(k, size=n)) for share in (0.8, 0.7)
    ]
    cost = rng.integers(1, 20, (k, k)) if kind == "few levels" else rng.random((k, k))
    cost = cost * (1 - np.eye(k))
    if kind == "all differ" and options.get("smoothing") and (options["method"] == "likelihood"):
        with pytest.raises(ValueError, match=r"^smoothing needs too much memory .*smoothing=0"):
            cost_test(y_true, *preds, cost, **options)
        return
    result = cost_test(y_true, *preds, cost, **options)
    for loss, pred in zip((result.loss_a, result.loss_b), preds, strict=True):
        assert loss == pytest.approx(cost[y_true, pred].mean(), rel=1e-9)
    d = cost[y_true, preds[0]] - cost[y_true, preds[1]]
    assert result.difference == pytest.approx(d.mean(), rel=1e-7)
    if not result.smoothing:
        assert result.pvalue < 1e-10
    low, high = result.confidence_interval()
    assert low < d.mean() < high < 0
