"""Margins: tests by standard errors and of accuracies, and the decision in words."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from libraries import stats
from reference_cases import cases, cells, expected, parametrize
from strategies import tables

import fastcmp
from fastcmp import compare_metric, margin_tests, mcnemar, mean_difference

BETTER, WORSE, EQUIVALENT, NOT_WORSE, CANNOT_TELL = (
    *("better", "worse", "equivalent", "not worse", "cannot tell"),
)
MIRRORED = {BETTER: WORSE, WORSE: BETTER, EQUIVALENT: EQUIVALENT}


@cache
def digits():
    """True labels, predictions of two models, and clusters of nine."""
    y, models = fastcmp.load_digits()
    return y, models["svm_rbf"], models["knn_3"], np.arange(len(y)) // 9


margins_ = st.floats(0.005, 0.6)
alphas = st.sampled_from([0.01, 0.05, 0.2])


def table_of(case):
    right, only_a, only_b, wrong = cells(case)
    return {"table": [[right, only_a], [only_b, wrong]]}


def by_counts(case, **options):
    margin = case["options"]["margin"]
    return margin_tests(**table_of(case), margin=margin, **options)


# Reference.


@pytest.mark.parametrize("kind", ["noninferiority", "superiority"])
def test_one_sided_references(kind):
    names = {"noninferiority": "noninferiority_paired", "superiority": "superiority_margin_paired"}
    for case in cases(names[kind]):
        for method in ("score", "Tango", "nam"):
            found = by_counts(case, method=method)
            assert getattr(found, f"{kind}_statistic") == expected(case, "statistic")
            assert getattr(found, f"{kind}_pvalue") == expected(case, "pvalue")


def check_equivalence(case, found):
    for name in ("statistic_lower", "statistic_upper", "pvalue_lower", "pvalue_upper"):
        assert getattr(found, name) == expected(case, name)
    assert found.equivalence_pvalue == expected(case, "pvalue")


@parametrize("equivalence_paired")
def test_equivalence(case):
    found = by_counts(case, method="score", alpha=case["options"]["alpha"])
    check_equivalence(case, found)
    assert (found.decision == EQUIVALENT) == case["expected"]["equivalent"]
    assert found.within_margin == case["expected"]["equivalent"]


@parametrize("noninferiority_paired_exact")
def test_exact(case):
    difference, gamma = (case["options"][name] for name in ("null_difference", "gamma"))
    found = margin_tests(**table_of(case), margin=abs(difference), method="exact", gamma=gamma)
    kind = "noninferiority" if difference < 0 else "superiority"
    assert getattr(found, f"{kind}_statistic") == expected(case, "statistic")
    assert getattr(found, f"{kind}_pvalue") == expected(case, "pvalue")


@parametrize("equivalence_mean")
def test_equivalence_of_means(case):
    values, margin = case["input"], case["options"]["margin"]
    check_equivalence(case, mean_difference(values["a"], values["b"], margin=margin).margins)


@parametrize("noninferiority_auc")
def test_noninferiority_of_areas(case):
    of, margin = case["input"], case["options"]["margin"]
    error = math.sqrt(of["var_a"] + of["var_b"] - 2 * of["cov"])
    found = margin_tests(of["auc_a"] - of["auc_b"], error, margin)
    if error == 0.0:  # the case says infinity, and p = 0: nothing measures the difference
        assert np.isnan(found.noninferiority_pvalue)
        assert found.decision == CANNOT_TELL
        return
    assert found.noninferiority_statistic == float(case["expected"]["statistic"])
    assert found.noninferiority_pvalue == expected(case, "pvalue")


@parametrize("verdict")
def test_decision(case):
    both = (case["input"][f"ci_two_sided_{level}"] for level in (95, 90))
    found = fastcmp.margin_decision(*both, case["options"]["margin"])
    wanted = case["expected"]
    assert found.decision == wanted["verdict"]
    assert found.within_margin == wanted["within_margin"]
    assert found.margin_met == wanted["margin_met"]


# The decision.


@pytest.mark.parametrize(
    ("interval", "inner", "options", "wanted"),
    [
        ((0.01, 0.3), (0.02, 0.2), {}, (BETTER, False, True)),
        ((0.001, 0.02), (0.002, 0.01), {}, (BETTER, True, True)),
        ((-0.04, -0.001), (-0.03, -0.002), {}, (WORSE, True, True)),
        ((-0.06, -0.001), (-0.04, -0.002), {"strict": True}, (WORSE, False, False)),
        ((-0.06, 0.04), (-0.04, 0.03), {}, (EQUIVALENT, True, True)),
        ((-0.06, 0.04), (-0.04, 0.03), {"strict": True}, (CANNOT_TELL, False, False)),
        ((-0.04, 0.2), (-0.03, 0.1), {"strict": True}, (NOT_WORSE, False, True)),
        ((-0.2, 0.04), (-0.1, 0.03), {"lower_is_better": True}, (NOT_WORSE, 0, 1)),
        ((0.01, 0.3), (0.02, 0.2), {"lower_is_better": True}, (WORSE, False, False)),
        ((0.0, 0.3), (0.0, 0.2), {}, (NOT_WORSE, False, True)),
        ((-0.05, 0.3), (-0.05, 0.2), {}, (CANNOT_TELL, False, False)),
    ],
)
def test_the_first_claim_that_holds(interval, inner, options, wanted):
    assert fastcmp.margin_decision(interval, inner, 0.05, **options) == wanted


# Tests by a difference and its standard error.


@given(
    st.floats(-1, 1),
    st.floats(0.001, 1),
    margins_,
    st.sampled_from([None, 3.0, 11.5, np.inf]),
    alphas,
)
def test_formula_and_intervals(difference, error, margin, df, alpha):
    found = margin_tests(difference, error, margin, df=df, alpha=alpha)
    of = stats.norm if df in (None, np.inf) else stats.t(df)
    lower, upper = (difference + margin) / error, (difference - margin) / error
    assert found.statistic_lower == pytest.approx(lower)
    assert found.statistic_upper == pytest.approx(upper)
    assert found.noninferiority_pvalue == pytest.approx(of.sf(lower), rel=1e-9)
    assert found.superiority_pvalue == pytest.approx(of.sf(upper), rel=1e-9)
    assert found.pvalue_upper == pytest.approx(of.cdf(upper), rel=1e-9)
    for level, interval in ((alpha / 2, found.interval), (alpha, found.inner_interval)):
        half = of.isf(level) * error
        assert interval == pytest.approx((difference - half, difference + half))
    assert found.method == ("t" if df in (3.0, 11.5) else "z")


def mirrors(one, other):
    """The tests of b beside a are those of a beside b, turned round."""
    assert other.statistic_lower == -one.statistic_upper
    assert other.pvalue_lower == one.pvalue_upper
    assert other.equivalence_pvalue == one.equivalence_pvalue
    assert other.interval == pytest.approx((-one.interval.high, -one.interval.low))
    inner = one.inner_interval
    assert other.inner_interval == pytest.approx((-inner.high, -inner.low))
    assert other.within_margin == one.within_margin
    if one.decision in MIRRORED:
        assert other.decision == MIRRORED[one.decision]
    else:
        assert other.decision in (NOT_WORSE, CANNOT_TELL)


@given(st.floats(-1, 1), st.floats(0.001, 1), margins_, st.booleans(), alphas)
def test_tests_and_intervals_agree(difference, error, margin, strict, alpha):
    found = margin_tests(difference, error, margin, strict=strict, alpha=alpha)
    ends = found.interval if strict else found.inner_interval
    near = min(abs(ends.low + margin), abs(ends.high - margin), *map(abs, found.interval))
    assume(near > 1e-9)
    assert fastcmp.margin_decision(found.interval, found.inner_interval, margin, strict=strict)[
        :
    ] == (found.decision, found.within_margin, found.margin_met)


@pytest.mark.parametrize("difference", [0.0, -0.05, -0.2, 0.1])
def test_without_variance(difference):
    found = margin_tests(difference, 0.0, 0.05, n_samples=100)
    assert np.isnan([found.noninferiority_pvalue, found.equivalence_pvalue, *found.interval]).all()
    assert (found.decision, found.n_more) == (CANNOT_TELL, None)
    assert "no variance was observed" in found.sentence


# How many more samples would probably decide.


@pytest.mark.parametrize(
    ("difference", "margin"), [(-0.01, 0.05), (0.0, 0.02), (-0.045, 0.05), (0.004, 0.03)]
)
def test_that_many_more_have_a_power_of_80_percent(difference, margin):
    spread, n, alpha = 0.4, 50, 0.05
    found = margin_tests(difference, spread / math.sqrt(n), margin, n_samples=n)
    assert found.decision == CANNOT_TELL
    error = spread / math.sqrt(n + found.n_more)
    z, two = stats.norm.isf(alpha), stats.norm.isf(alpha / 2)
    reach = max((difference + margin) / error - z, abs(difference) / error - two)
    assert stats.norm.cdf(reach) == pytest.approx(0.8, abs=2e-3)
    assert stats.norm.cdf(reach) >= 0.8 - 1e-12


def test_more_samples_of_accuracies():
    # Nothing is discordant: the score reaches z at n = z**2 (1 - margin) / margin.
    found = margin_tests(only_a=0, only_b=0, both_right=9, both_wrong=1, margin=0.05)
    needed = stats.norm.isf(0.05) ** 2 * 0.95 / 0.05
    assert (found.decision, found.n_more) == (CANNOT_TELL, math.ceil(needed) - 10)
    more = margin_tests(
        only_a=0, only_b=0, both_right=9 + found.n_more, both_wrong=1, margin=0.05, method="score"
    )
    assert (more.decision, more.n_more) == (EQUIVALENT, 0)


# Accuracies.


@given(tables(15), margins_, st.sampled_from(["score", "exact"]), st.booleans())
def test_laws_of_accuracies(cells, margin, method, strict):
    right, only_a, only_b, wrong = cells
    options = {"margin": margin, "method": method, "strict": strict}
    options |= {"both_right": right, "both_wrong": wrong}
    one = margin_tests(only_a=only_a, only_b=only_b, **options)
    mirrors(one, margin_tests(only_a=only_b, only_b=only_a, **options))
    level = 0.025 if strict else 0.05
    ends = one.interval if strict else one.inner_interval
    for pvalue, end in ((one.noninferiority_pvalue, ends.low), (one.pvalue_upper, -ends.high)):
        if abs(end + margin) > 1e-9:
            assert (pvalue <= level) == (end > -margin)
    if one.decision == BETTER:
        assert one.interval.low > 0
    # A larger margin only makes it easier.
    wider = options | {"margin": min(1.5 * margin, 0.95)}
    other = margin_tests(only_a=only_a, only_b=only_b, **wider)
    assert other.noninferiority_pvalue <= one.noninferiority_pvalue + 1e-9
    assert other.margin_met >= one.margin_met


def test_the_choice_of_the_test():
    shared = {"both_right": 100, "both_wrong": 20, "margin": 0.1}
    one = margin_tests(only_a=30, only_b=20, **shared)
    assert one.method == "exact"
    assert margin_tests(only_a=60, only_b=40, **shared).method == "score"
    many = margin_tests(only_a=np.arange(60)[:, None], only_b=np.arange(20), **shared)
    assert many.method == "score"  # for 1,200 tables the exact test takes long
    some = margin_tests(only_a=[30, 20, 30], only_b=20, **shared)
    assert some.method == "exact"
    assert some.noninferiority_pvalue.tolist()[::2] == [one.noninferiority_pvalue] * 2
    large = {"both_right": 10_000, "both_wrong": 100, "margin": 0.1, "method": "exact"}
    for options, message in (
        (large, r"at most 10000 samples, got 10\d03"),
        (shared | {"method": "score", "gamma": 0.001}, "gamma is for method='exact'"),
        ({"margin": 0.1}, "need all four counts"),
    ):
        with pytest.raises((TypeError, ValueError), match=message):
            margin_tests(only_a=1, only_b=2, **options)


# margin= of the tests of two models.


@given(tables(300), st.sampled_from(["two-sided", "greater", "less"]), margins_)
def test_pvalue_and_decision_never_contradict(cells, alternative, margin):
    right, only_a, only_b, wrong = cells
    options = {"both_right": right, "both_wrong": wrong, "alternative": alternative}
    result = fastcmp.mcnemar(only_a=only_a, only_b=only_b, margin=margin, **options)
    found, sure = result.margins, result.pvalue <= 0.05
    if alternative != "less":
        assert (found.decision == BETTER) == (sure and only_a > only_b)
    if alternative != "greater":
        assert (found.decision == WORSE) == (sure and only_a < only_b)
    assert found.margin_met == (found.noninferiority_pvalue <= 0.05)
    if found.decision not in (BETTER, WORSE):
        claims = found.within_margin, found.margin_met
        wanted = {(True, True): EQUIVALENT, (False, True): NOT_WORSE}
        assert found.decision == wanted.get(claims, CANNOT_TELL)


def test_mcnemar_has_what_its_counts_have():
    Y, A, B, _ = digits()
    result = mcnemar(Y, A, B, margin=0.02, alpha=0.1)
    alone = margin_tests(table=result.table, margin=0.02, alpha=0.1)
    assert result.margins.inner_interval == alone.inner_interval
    assert result.margins.noninferiority_pvalue == alone.noninferiority_pvalue
    assert "Decision with a margin of 2 percentage points: equivalent (" in str(result)
    assert mcnemar(Y, A, B).margins is None
    assert result.columns()["decision"] == ["equivalent"]
    strata = mcnemar(Y, A, B, strata=Y, margin=0.02)
    assert strata.margins == mcnemar(Y, A, B, margin=0.02).margins
    held_out = fastcmp.compare_labels(Y, A, B, margin=0.02, alpha=0.1)
    assert held_out.margins == result.margins
    assert held_out.columns()["margin_decision"] == [EQUIVALENT]
    with pytest.raises(ValueError, match="both_right="):
        fastcmp.mcnemar(only_a=3, only_b=9, margin=0.1)


# Clusters, strata and weights: Gaffke's bound, whatever the test of equality.


def gaffke(gain, weight, alpha, n_draws=60_000):
    """Lower limit of a weighted mean between -1 and 1, from exponential weights."""
    extra = weight.max()
    drawn = np.random.default_rng(3).exponential(size=(n_draws, weight.size + 1))
    sums, sizes = drawn @ np.append(gain, -extra), drawn @ np.append(weight, extra)
    return np.quantile(sums / sizes, alpha)


@pytest.mark.parametrize("method", ["cr2", "obuchowski", "durkalski", "yang", "eliasziw"])
def test_clusters_by_what_they_could_hold_at_worst(method):
    right = np.array([5, 8, 2, 9, 4, 7, 6, 3, 5, 10])
    a, b = np.array([1, 0, 2, 0, 0, 1, 0, 0, 3, 0]), np.array([0, 1, 0, 1, 2, 0, 0, 1, 0, 0])
    result = fastcmp.mcnemar(
        only_a=a,
        only_b=b,
        both_right=right,
        both_wrong=0 * a,
        method=method,
        margin=0.3,
        groups=range(len(a)),
    )
    found, sizes = result.margins, (right + a + b).astype(float)
    gain, weight = (a - b, sizes) if method != "durkalski" else ((a - b) / sizes, np.ones(10))
    for ends, alpha in ((found.interval, 0.025), (found.inner_interval, 0.05)):
        wanted = gaffke(gain, weight, alpha), -gaffke(-gain, weight, alpha)
        assert ends == pytest.approx(wanted, abs=0.008)
    assert found.method == "bounded"
    assert found.difference == pytest.approx(result.difference)


@pytest.mark.parametrize(("n", "failed"), [(5, 0), (20, 0), (20, 3), (50, 1)])
@pytest.mark.parametrize("size", [1, 7])
def test_clusters_that_fail_as_a_whole_are_a_binomial(n, failed, size):
    lost = size * (np.arange(n) < failed)
    found = fastcmp.mcnemar(
        only_a=0 * lost,
        only_b=lost,
        both_right=size - lost,
        both_wrong=0 * lost,
        margin=0.1,
        groups=range(len(0 * lost)),
    ).margins
    # Clopper and Pearson's, within 3%, and never below.
    wanted = stats.binom.cdf(failed, n, 0.1)
    assert wanted <= found.noninferiority_pvalue <= 1.03 * wanted
    limit = -stats.beta.isf(0.05, failed + 1, n - failed)
    assert found.inner_interval.low == pytest.approx(limit, rel=0.01)
    few = 0.9**n > 0.05
    assert bool(found.reason) == few
    assert found.decision == (CANNOT_TELL if found.noninferiority_pvalue > 0.05 else found.decision)


def perfect(n, **options):
    """Two perfect models of n right answers: no variance is observed."""
    return mean_difference(np.ones(n, int), np.ones(n, int), margin=0.05, **options)


FOURS = [i // 4 for i in range(80)]
WITHOUT_VARIANCE = {
    "mcnemar, clusters": lambda: mcnemar(
        *np.zeros((3, 180), int), groups=np.arange(180) // 9, margin=0.05
    ),
    "stratified counts": lambda: fastcmp.mcnemar(
        table=[[[9, 0], [0, 0]]] * 2, strata=[0, 1], stratum_weights={0: 1, 1: 3}, margin=0.05
    ),
    "mean, clusters": lambda: perfect(80, groups=FOURS),
    "mean, weights": lambda: perfect(30, weights=1.0 + np.arange(30) % 3),
    "mean, cluster means": lambda: perfect(80, groups=FOURS, average="clusters"),
    "mean, repeats": lambda: mean_difference(np.ones((20, 3)), np.ones((20, 3)), margin=0.05),
    "mean, losses": lambda: perfect(80, groups=FOURS, lower_is_better=True),
    "mean, graded, apart": lambda: mean_difference([1.5] * 4, [1.25] * 4, margin=0.5),
    "unpaired": lambda: fastcmp.means_unpaired([0.5] * 99, [0.5] * 99, margin=0.05),
}


@pytest.mark.parametrize("name", WITHOUT_VARIANCE)
def test_no_observed_variance_decides_nothing_in_few_units(name):
    result = WITHOUT_VARIANCE[name]()
    found = result.margins
    assert found.decision == CANNOT_TELL
    assert not found.margin_met
    assert not found.equivalence_pvalue <= 0.05
    assert found.reason in str(result).replace("\n", " ")
    assert len(found.reason) > 20 or found.method == "exact"


def test_weighted_strata_by_what_they_could_hold_at_worst():
    only_a, only_b, sizes, weights = [3, 0], [1, 2], np.array([40, 60]), np.array([2.0, 1.0])
    rest = sizes - np.add(only_a, only_b)
    result = fastcmp.mcnemar(
        only_a=only_a,
        only_b=only_b,
        both_right=rest,
        both_wrong=[0, 0],
        strata=[0, 1],
        stratum_weights=dict(enumerate(weights * sizes)),
        margin=0.1,
    )
    kinds = zip(only_a, only_b, rest, weights, strict=True)
    gain = [w * d for a, b, n, w in kinds for d in [1] * a + [-1] * b + [0] * n]
    weight = np.repeat(weights, sizes)
    found = result.margins
    wanted = gaffke(gain, weight, 0.05), -gaffke(-np.array(gain), weight, 0.05)
    assert found.inner_interval == pytest.approx(wanted, abs=0.002)
    assert (found.method, found.decision) == ("bounded", EQUIVALENT)


def test_costs():
    Y, A, B, _ = digits()
    cost = np.array([[0, 1.0], [4, 0]])
    y, a, b = ((x == 8).astype(int) for x in (Y, A, B))
    result = fastcmp.cost_test(y, a, b, cost, margin=0.02)
    found, error = result.margins, result.standard_error
    paid = cost[y, a] - cost[y, b]
    assert error == pytest.approx(paid.std() / math.sqrt(paid.size))
    assert found.lower_is_better
    weight = np.ones(paid.size)
    wanted = 4 * gaffke(paid / 4, weight, 0.05, 4000), -4 * gaffke(-paid / 4, weight, 0.05, 4000)
    assert found.inner_interval == pytest.approx(wanted, abs=0.005)
    assert (found.method, found.margin, found.difference) == ("bounded", 0.02, result.difference)
    turned = fastcmp.cost_test(y, b, a, cost, margin=0.02).margins
    assert turned.pvalue_upper == pytest.approx(found.pvalue_lower, rel=1e-9)
    counts = np.zeros((2, 2, 2, 2), np.int64)
    np.add.at(counts[0], (y, a, b), 1)
    np.add.at(counts[1], (y, b, a), 1)
    both = fastcmp.cost_test(counts=counts, cost=cost, margin=0.02)
    assert both.margins.decision.tolist() == [found.decision, turned.decision]
    assert both.standard_error == pytest.approx([error, error])
    with pytest.raises(ValueError, match="margin must be below 4"):
        fastcmp.cost_test(y, a, b, cost, margin=4)


@pytest.mark.parametrize(("n", "share"), [(50, 0.1), (200, 0.02)])
def test_a_margin_of_costs_keeps_its_level_where_failures_are_rare(n, share):
    a_misses, b_misses, price = 0.15, 0.05, 5.0
    both = a_misses * b_misses
    chances = np.array([[1 - a_misses - b_misses + both, b_misses - both], [a_misses - both, both]])
    drawn = np.random.default_rng(1).multinomial(
        n, [1 - share, *(share * chances).ravel()], size=300
    )
    counts = np.zeros((300, 2, 2, 2), np.int64)
    counts[:, 0, 0, 0] = drawn[:, 0]
    counts[:, 1, 1, 1], counts[:, 1, 1, 0] = drawn[:, 1], drawn[:, 2]
    counts[:, 1, 0, 1], counts[:, 1, 0, 0] = drawn[:, 3], drawn[:, 4]
    worse = price * share * (a_misses - b_misses)
    result = fastcmp.cost_test(counts=counts, cost=[[0, 1], [price, 0]], margin=worse)
    assert result.margins.margin_met.mean() < 0.06  # by z tests 0.40 and 0.48
    perfect = fastcmp.cost_test([0, 1] * 20, [0, 1] * 20, [0, 1] * 20, [[0, 1], [5, 0]], margin=0.1)
    assert perfect.margins.decision == CANNOT_TELL
    assert perfect.margins.noninferiority_pvalue > 0.1


def test_means():
    Y, A, B, _ = digits()
    rng = np.random.default_rng(5)
    a = rng.gamma(2, size=40)
    b = a + rng.normal(size=40) / 4
    result = mean_difference(a, b, margin=0.3, alpha=0.1)
    wanted = margin_tests(
        *(result.difference, result.standard_error, 0.3), df=39, alpha=0.1, n_samples=40
    )
    assert result.margins.noninferiority_pvalue == wanted.noninferiority_pvalue
    assert result.margins.interval == pytest.approx(wanted.interval)
    loss = mean_difference(b, a, margin=0.3, alpha=0.1, lower_is_better=True).margins
    assert loss.noninferiority_pvalue == pytest.approx(wanted.noninferiority_pvalue)
    assert loss.decision == wanted.decision
    for method in ("permutation", "bootstrap"):
        drawn = mean_difference(a, b, margin=0.3, method=method, rng=1)
        assert drawn.margins.pvalue_upper == result.margins.pvalue_upper
        assert f"standard error, not by {method}" in " ".join(str(drawn).split())
    wanted = mcnemar(Y, A, B, margin=0.02).margins
    right = mean_difference(Y == A, Y == B, margin=0.02).margins
    wrong = mean_difference(Y != A, Y != B, margin=0.02, lower_is_better=True).margins
    for name in ("noninferiority_pvalue", "superiority_pvalue", "decision"):
        assert getattr(right, name) == getattr(wrong, name) == getattr(wanted, name)


def test_metrics():
    Y, A, B, CLUSTERS = digits()
    names = ["accuracy", "f1_macro", "mcc"]
    result = compare_metric(Y, A, B, metric=names, margin=[0.02, 0.01, 0.004])
    found = result.margins
    assert found.method.tolist() == ["score", "dirichlet", "dirichlet"]
    for i, margin in enumerate((0.02, 0.01, 0.004)):
        alone = compare_metric(Y, A, B, metric=names[i], margin=margin)
        assert found.decision[i] == alone.margins.decision
        assert found.pvalue_lower[i] == alone.margins.pvalue_lower
        if i:  # with hundreds of samples near the interval by the standard error
            wanted = margin_tests(alone.difference, alone.standard_error, margin).interval
            assert tuple(alone.margins.interval) == pytest.approx(tuple(wanted), abs=0.003)
    assert compare_metric(Y, A, B, margin=0.02).margins.interval == (
        mcnemar(Y, A, B, margin=0.02).margins.interval
    )
    clusters = compare_metric(Y, A, B, metric="mcc", margin=0.02, groups=CLUSTERS)
    assert clusters.margins.method == "dirichlet"
    assert clusters.margins.interval == clusters.interval
    mixed = compare_metric(Y == 8, A == 8, B == 8, metric=["f1", "lr_minus"], margin=0.1).margins
    assert mixed.lower_is_better.tolist() == [False, True]
    worst = mixed.pvalue_lower[0], mixed.pvalue_upper[1]
    assert tuple(mixed.noninferiority_pvalue) == worst
    with pytest.raises(ValueError, match="margin must be below 2"):
        compare_metric(Y, A, B, metric="mcc", margin=2)
    with pytest.raises(ValueError, match="one entry for each of 2 metrics"):
        compare_metric(Y, A, B, metric=["mcc", "f1_macro"], margin=[0.1])


def test_areas():
    rng = np.random.default_rng(1)
    y = np.arange(300) % 2
    a = rng.normal(size=300) + y
    result = fastcmp.delong(y, {"a": a, "b": a + rng.normal(size=300) / 4})
    found = result.compare("a", "b", margin=0.05, alpha=0.1)
    side = result.compare("a", "b", margin=0.05, alternative="greater")
    assert found.pvalue == result.compare("a", "b").pvalue
    assert found.margins.noninferiority_pvalue == pytest.approx(side.pvalue, rel=1e-12)
    # Of the levels 1 - alpha and 1 - 2 alpha, as one-sided ones of the levels 0.95, 0.9.
    for level, ends in ((0.95, found.margins.interval), (0.9, found.margins.inner_interval)):
        assert ends.low == pytest.approx(side.confidence_interval(level).low)
    assert side.margins is None
    mirrors(found.margins, result.compare("b", "a", margin=0.05, alpha=0.1).margins)
    unpaired = fastcmp.delong_unpaired(y, a, y, a[::-1], margin=0.05, method="t")
    assert unpaired.margins.df == 149


# Print.


@pytest.mark.parametrize(
    ("difference", "error", "words"),
    [
        (0.1, 0.02, "better (by more than the margin: p = 0.006, 90% CI"),
        (0.03, 0.008, "better (by less than the margin, 90% CI [+0.01684, +0.04316])"),
        (-0.1, 0.02, "worse (90% CI [-0.1329, -0.0671])"),
        (0.0, 0.02, "equivalent (equivalence: p = 0.006, 90% CI"),
        (0.03, 0.02, "not worse (non-inferiority: p = 3.2e-05, 90% CI"),
        (-0.03, 0.02, "cannot tell (non-inferiority: p = 0.159, 90% CI"),
    ],
)
def test_sentences(difference, error, words):
    found = margin_tests(difference, error, 0.05)
    assert found.sentence.startswith(f"Decision with a margin of 0.05: {words}")
    assert found.sentence in found.summary()
