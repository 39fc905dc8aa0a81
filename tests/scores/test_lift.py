"""Lift tables, gain curves and the Kolmogorov-Smirnov distance."""

import math
from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from libraries import stats
from reference_cases import expected, parametrize

from fastcmp import gain_curve, ks_statistic, lift_table
from fastcmp.kernels import wilson_interval

WORKSHEET = (12, 10, 2, 2, 1, 4, 3, 2, 1, 3)  # deaths in tenths of 200 patients


def worksheet(events=WORKSHEET, size=20):
    """Make cases of which each group in turn has so many events, shuffled."""
    y = np.concatenate([np.arange(size) < count for count in events]).astype(int)
    score = np.linspace(1, 0, y.size)
    order = np.random.default_rng(0).permutation(y.size)
    return y[order], score[order]


@st.composite
def scored(draw, max_samples=60, levels=8):
    """Draw labels of both classes, scores with ties, and a number of groups."""
    n = draw(st.integers(2, max_samples))
    y = draw(st.lists(st.integers(0, 1), min_size=n, max_size=n))
    place = draw(st.integers(0, n - 1))
    y[place], y[place - 1] = 0, 1
    score = draw(st.lists(st.integers(-levels, levels), min_size=n, max_size=n))
    return np.array(y), np.array(score) / 4, draw(st.integers(1, n))


# What the counts are.


def of_case(case):
    if "y" in case["input"]:
        return case["input"]["y"], case["input"]["score"]
    return worksheet(case["input"]["events_per_decile"], case["input"]["n_per_decile"])


@parametrize("lift_table")
def test_tables_against_references(case):
    later = case["options"].get("ties") == "whole tie block goes to the later group"
    ties = "worse" if later else "better"
    table = lift_table(*of_case(case), groups=case["options"]["groups"], ties=ties)
    found = {
        "n": table.by_group.cases,
        "events": table.by_group.events,
        "captured": table.by_group.captured,
        "captured_cum": table.cumulative.captured,
        "response_rate": table.by_group.response_rate,
        "response_rate_cum": table.cumulative.response_rate,
        "lift": table.by_group.lift,
        "lift_cum": table.cumulative.lift,
    }
    for name in case["expected"]:
        assert found[name].tolist() == expected(case, name), name


def naive_groups(y, score, groups, ties):
    """Return cases and events of the groups that hold cases, by definition."""
    n, distinct = len(y), sorted(set(score), reverse=True)
    cases, events = [0] * (groups + 1), [0] * (groups + 1)
    for label, own in zip(y, score, strict=True):
        above = sum(other > own for other in score)
        rank = above + 1 if ties == "better" else above + list(score).count(own)
        group = math.ceil(Fraction(rank * groups, n))
        if len(distinct) <= groups:
            group = distinct.index(own) + 1
        cases[group] += 1
        events[group] += int(label)
    filled = [g for g in range(groups + 1) if cases[g]]
    return filled, [cases[g] for g in filled], [events[g] for g in filled]


@given(scored(), st.sampled_from(["better", "worse"]))
def test_equal_scores_that_stay_together(drawn, ties):
    y, score, groups = drawn
    table = lift_table(y, score, groups=groups, ties=ties)
    found = table.group, table.by_group.cases, table.by_group.events
    wanted = naive_groups(y, score, groups, ties)
    assert tuple(x.tolist() for x in found) == wanted
    assert found[2].dtype == np.int64


def in_this_order(y, score, groups):
    """Return events by group, equal scores in the order given."""
    n, events = len(y), [0] * groups
    for i, sample in enumerate(sorted(range(n), key=lambda j: -score[j])):
        events[math.ceil(Fraction((i + 1) * groups, n)) - 1] += int(y[sample])
    return events


@given(scored())
def test_equal_scores_in_order_of_appearance(drawn):
    y, score, groups = drawn
    table = lift_table(y, score, groups=groups, ties="first")
    assert table.by_group.events.tolist() == in_this_order(y, score, groups)


@given(scored(6, 2))
def test_expected_events_are_the_mean_over_all_orders(drawn):
    y, score, groups = drawn
    orders = [list(order) for order in permutations(range(y.size))]
    counts = [in_this_order(y[order], score[order], groups) for order in orders]
    mean = [float(Fraction(sum(c), len(orders))) for c in zip(*counts, strict=True)]
    table = lift_table(y, score, groups=groups)
    assert table.by_group.events.tolist() == pytest.approx(mean, rel=1e-12, abs=1e-14)
    assert table.by_group.events.dtype == np.float64


def test_lowest_scores_of_groups_with_ties():
    y, score = [1, 0, 1, 0, 0, 1], [3, 2, 2, 2, 1, 1]
    for ties, groups, lowest in (("expected", 3, [2, 2, 1]), ("better", 2, [2, 1])):
        found = lift_table(y, score, groups=groups, ties=ties)
        assert found.lowest_score.tolist() == lowest


# Laws.


@given(scored(), st.sampled_from(["expected", "better", "worse", "first"]))
def test_laws(drawn, ties):
    y, score, groups = drawn
    table = lift_table(y, score, groups=groups, ties=ties)
    each, added = table.by_group, table.cumulative
    assert each.cases.sum() == y.size
    assert each.events.sum() == pytest.approx(y.sum(), rel=1e-12)
    assert (each.events >= 0).all()
    assert (each.events <= each.cases + 1e-12).all()
    assert (added.captured[-1], added.lift[-1]) == (1, 1)
    for rates in (each, added):
        np.testing.assert_allclose(rates.lift, rates.response_rate / (y.sum() / y.size))
        np.testing.assert_allclose(rates.captured, rates.lift * (rates.cases / y.size))
        for name in ("response_rate", "captured", "lift"):
            low, high = getattr(rates, f"{name}_interval")
            value = getattr(rates, name)
            assert (low >= 0).all()
            assert (low <= value + 1e-12).all()
            assert (value <= high + 1e-12).all()
            assert name == "lift" or (high <= 1).all()


# Intervals.


@pytest.mark.parametrize("level", [0.8, 0.999])
def test_response_rates_have_wilson_intervals(level):
    table = lift_table(*worksheet(), confidence_level=level)
    for rates in (table.by_group, table.cumulative):
        pairs = zip(rates.events, rates.cases, strict=True)
        wanted = [wilson_interval(int(e), int(n), level) for e, n in pairs]
        np.testing.assert_allclose(np.transpose(rates.response_rate_interval), wanted)


@pytest.mark.parametrize("level", [0.8, 0.999])
def test_captured_shares_have_the_intervals_of_a_ratio_by_the_score_test(level):
    from statsmodels.stats.proportion import confint_proportions_2indep

    table = lift_table(*worksheet(), confidence_level=level)
    for rates in (table.by_group, table.cumulative):
        low, high = rates.captured_interval
        np.testing.assert_allclose(rates.lift_interval.low, low / rates.cases * 200)
        np.testing.assert_allclose(rates.lift_interval.high, high / rates.cases * 200)
        for i, (events, n) in enumerate(zip(rates.events, rates.cases, strict=True)):
            if n == 200:
                continue
            counts = events, n, 40 - events, 200 - n
            options = {"compare": "ratio", "method": "score", "correction": False}
            ends = confint_proportions_2indep(*counts, alpha=1 - level, **options)
            odds = np.array(ends) * n / (200 - n)
            ours = np.array([low[i], high[i]])
            np.testing.assert_allclose(ours / (1 - ours), odds, rtol=1e-6)


def test_ends_of_intervals_without_and_with_all_events():
    table = lift_table([1, 1, 1, 0, 0, 0], [6, 5, 4, 3, 2, 1], groups=2)
    rates = table.by_group
    assert rates.captured_interval.low[1] == rates.response_rate_interval.low[1] == 0
    assert rates.captured_interval.high[0] == rates.response_rate_interval.high[0] == 1
    # Three of three against none of three: the score test's limit in closed form.
    z2 = stats.norm.ppf(0.975) ** 2
    assert 0 < rates.captured_interval.high[1] < 1
    assert rates.response_rate_interval.high[1] == pytest.approx(z2 / (3 + z2))
    np.testing.assert_allclose(rates.captured_interval.low[0], 1 - rates.captured_interval.high[1])


# What may be passed.


def test_missing_truth_and_bad_groups():
    y, score = worksheet()
    wanted = lift_table(y, score)
    missing = lift_table([None, *y.tolist(), None], [9.0, *score, -9.0])
    assert (missing.n_missing, missing.n_samples) == (2, 200)
    assert (missing.cumulative_events == wanted.cumulative_events).all()
    assert lift_table(y == 1, score, groups=np.int8(10)).groups == 10
    with pytest.raises(ValueError, match="from 1 to the number of samples, 2, got 10"):
        lift_table([0, 1], [1, 2], groups=10)


@pytest.mark.parametrize(
    ("function", "what"),
    [
        (lift_table, "lift"),
        (gain_curve, "a gain curve"),
        (ks_statistic, "the Kolmogorov-Smirnov distance"),
    ],
)
def test_one_class_only(function, what):
    for y, held in (([0, 0], "no events"), ([1, 1], "nothing but events")):
        with pytest.raises(ValueError, match=f"^{what} needs both classes: y_true holds {held}$"):
            function(y, [1, 2])
    with pytest.raises(ValueError, match="y_true must hold two classes, got 3"):
        function([0, 1, 2], [1, 2, 3])


# The record.


def test_printed():
    lines = lift_table(*worksheet()).summary().splitlines()
    assert lines[1:3] == [
        "40 of 200 cases are events (1): 20.00%.",
        "The 20 cases with the highest scores (10.0%) hold 30.0% of the events: "
        "lift 3.00, 95% CI [2.00, 4.04].",
    ]
    assert lines[-2].split()[2:5] == ["200", "40", "20.0"]
    assert lines[-1].startswith("Equal scores are in random order")


# The Kolmogorov-Smirnov distance.


@given(scored())
def test_distance_against_its_definition_and_scipy(drawn):
    y, score, _ = drawn
    result = ks_statistic(y, score)
    n1, n0 = int(y.sum()), int((1 - y).sum())
    distances = {
        cut: abs(
            Fraction(int((score[y == 1] >= cut).sum()), n1)
            - Fraction(int((score[y == 0] >= cut).sum()), n0)
        )
        for cut in np.unique(score)[::-1]
    }
    largest = max(distances.values())
    assert result.statistic == pytest.approx(float(largest), rel=1e-14)
    where = [cut for cut, distance in distances.items() if distance == largest]
    assert result.thresholds.tolist() == where
    if min(n0, n1) > 1:  # SciPy divides by 0 for fewer
        peer = stats.ks_2samp(score[y == 1], score[y == 0], method="asymp")
        assert result.statistic == pytest.approx(peer.statistic, rel=1e-12, abs=1e-15)
    root = math.sqrt(n0 * n1 / (n0 + n1))
    limit = stats.kstwobign.sf(root * result.statistic)
    assert result.pvalue == pytest.approx(limit, rel=1e-9)


@pytest.mark.parametrize(("n0", "n1"), [(10, 10), (20, 30), (40, 160), (37, 41)])
def test_small_pvalues_are_on_the_safe_side(n0, n1):
    rng = np.random.default_rng(1)
    for shift in (0.5, 1.0, 1.5):
        a, b = rng.normal(size=n0), rng.normal(shift, 1, size=n1)
        result = ks_statistic(np.repeat([0, 1], [n0, n1]), np.append(a, b))
        exact = stats.ks_2samp(a, b, method="exact").pvalue
        if exact < 0.1:
            assert result.pvalue >= exact * 0.995
        assert result.pvalue == pytest.approx(exact, abs=0.05)


def test_distance_printed():
    text = str(ks_statistic([0, 0, 0, 1, 1, 1, None], [1, 2, 4, 3, 5, 6, 7]))
    assert "D = 0.6667, p = 0.518 (H0: the scores of both classes have one" in text
    assert "reached by calling scores of at least 5, 3 positive" in text
    many = ks_statistic(np.arange(14) % 2, np.arange(14) // 2)
    assert "at least 6, 5, 4, 3, 2, ... positive" in str(many)


# Weights.


@given(scored(), st.integers(0, 99))
def test_weighted_groups_against_definitions(drawn, seed):
    y, score, groups = drawn
    weights = np.random.default_rng(seed).random(y.size) + 0.01
    table = lift_table(y, score, groups=groups, sample_weight=weights)
    total = weights.sum()
    np.testing.assert_allclose(table.by_group.cases, total / groups)
    for edge, events in zip(table.cumulative_cases, table.cumulative_events, strict=True):
        wanted, left = 0.0, edge
        for value in np.unique(score)[::-1]:  # the same part of all that tie
            block = weights[score == value].sum()
            part = min(left / block, 1.0)
            wanted += part * weights[(score == value) & (y == 1)].sum()
            left -= part * block
        assert events == pytest.approx(wanted, abs=1e-9)
    called, captured = gain_curve(y, score, sample_weight=weights)
    wanted = np.interp(table.cumulative_cases / total, called, captured)
    np.testing.assert_allclose(table.cumulative.captured, wanted, atol=1e-12)


def test_weighted_distances_against_definitions():
    rng = np.random.default_rng(3)
    for _ in range(30):
        y, score = np.arange(40) % 2, rng.normal(size=40).round(1)
        weights = rng.random(40)
        result = ks_statistic(y, score, sample_weight=weights)
        gaps = {
            at: abs(
                np.average(score[y == 1] >= at, weights=weights[y == 1])
                - np.average(score[y == 0] >= at, weights=weights[y == 0])
            )
            for at in np.unique(score)
        }
        assert result.statistic == pytest.approx(max(gaps.values()))
        assert gaps[result.thresholds[0]] == pytest.approx(result.statistic)
        same = ks_statistic(y, score, sample_weight=np.full(40, 0.3))
        assert same.pvalue == pytest.approx(ks_statistic(y, score).pvalue)
    assert (result.n_positives, result.n_negatives) == (20, 20)


@pytest.mark.full
def test_size_of_the_weighted_distance():
    rng = np.random.default_rng(11)
    y = np.arange(400) % 2
    weights = rng.exponential(size=400)  # an effective size of about one half
    pvalues = [
        ks_statistic(y, rng.normal(size=400), sample_weight=weights).pvalue for _ in range(1500)
    ]
    assert 0.025 < np.mean(np.less(pvalues, 0.05)) < 0.065


def test_what_weighted_tables_say():
    y, score = [1, 1, 0, 1, 0, 0], [6, 5, 4, 3, 2, 1]
    weights = [0.5, 1, 2, 1, 1, 0.5]
    table = lift_table(y, score, groups=3, sample_weight=weights)
    assert table.by_group.cases.tolist() == [2, 2, 2]
    assert table.by_group.events.tolist() == [1.5, 0.5, 0.5]
    assert np.isnan(table.by_group.lift_interval.low).all()
    assert "2.50 of 6 cases are events" in str(table)
    assert "nan" not in str(table)
    for ties in ("better", "worse", "first"):
        with pytest.raises(ValueError, match="sample_weight= goes with ties='expected'"):
            lift_table(y, score, groups=3, ties=ties, sample_weight=weights)
    for function in (gain_curve, ks_statistic):
        with pytest.raises(ValueError, match="needs both classes"):
            function([0, 1], [1, 2], sample_weight=[0, 1])
