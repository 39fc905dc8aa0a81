"""Equal expected costs: likelihood ratio and chi-square."""

from __future__ import annotations

import math

import mpmath
import naive
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from reference_cases import parametrize
from scipy import stats

from fastcmp.kernels import (
    DEGENERATE,
    INVALID,
    OK,
    UNDEFINED,
    cost_chi_square,
    cost_likelihood,
    mcnemar_asymptotic,
)
from fastcmp.kernels.cost import CHI_SQUARE, LIKELIHOOD, cost_test_many

EPS = 2.0**-52


def arrays(pairs):
    """Separate pairs of difference and weight."""
    values, weights = zip(*pairs, strict=True)
    return np.array(values, float), np.array(weights, float)


def likelihood(pairs, largest):
    return cost_likelihood(*arrays(pairs), largest)


def chi_square(pairs, nonnegative):
    return cost_chi_square(*arrays(pairs), nonnegative)


def differences(cost):
    """Return cost[t, a] - cost[t, b] of every cell."""
    return (cost[:, :, np.newaxis] - cost[:, np.newaxis, :]).ravel()


def fold(values, weights):
    """Merge equal differences."""
    distinct, where = np.unique(values, return_inverse=True)
    return distinct, np.bincount(where, weights)


def possible(values, weights, largest):
    """Return the smallest and the largest value that a distribution may have."""
    if largest > 0.0:
        return -largest, largest
    seen = values[weights > 0]
    return float(seen.min()), float(seen.max())


COSTS = {
    "unit": lambda _, k: np.ones((k, k)),
    "small": lambda rng, k: rng.integers(0, 6, (k, k)).astype(float),
    "squared": lambda _, k: np.subtract.outer(np.arange(k), np.arange(k)) ** 2.0,
    "lognormal": lambda rng, k: rng.lognormal(0.0, 3.0, (k, k)),
    "ratio 1e6": lambda rng, k: 10.0 ** rng.uniform(-3.0, 3.0, (k, k)),
}
WHOLE = ["unit", "small", "squared"]  # whose sums have no rounding errors


def tensor(seed, kind, k, top=0, one_sign=False):
    """Return the differences, the counts (to `top`, or few) and the largest cost."""
    rng = np.random.default_rng(seed)
    cost = COSTS[kind](rng, k)
    np.fill_diagonal(cost, 0.0)
    values = differences(cost)
    if top:
        counts = rng.integers(0, top, values.size) * (rng.random(values.size) < 0.6)
    else:
        counts = rng.poisson(rng.gamma(0.3, 10.0, values.size))
    if one_sign:
        counts[values < 0.0] = 0
    return values, counts.astype(float), cost.max()


tensors = st.builds(
    tensor,
    st.integers(0, 2**32 - 1),
    st.sampled_from(list(COSTS)),
    st.integers(2, 6),
    st.sampled_from([0, 10**9]),
    st.booleans(),
)
whole_tensors = st.builds(
    tensor,
    st.integers(0, 2**32 - 1),
    st.sampled_from(WHOLE),
    st.integers(2, 6),
    st.sampled_from([0, 10**9]),
)
short_lists = st.lists(
    st.tuples(
        st.integers(-9, 9) | st.sampled_from([-1, 1]),
        st.integers(0, 20) | st.integers(0, 10**9) | st.just(0),
    ),
    min_size=1,
    max_size=6,
)
supports = pytest.mark.parametrize("support", ["all", "observed"])
signs = pytest.mark.parametrize("nonnegative", [False, True])


def error_of_rounding(values, weights, multiplier):
    """Bound what one rounding of each difference does to the likelihood ratio."""
    parts = (
        w * abs(multiplier * d) / (1 + multiplier * d)
        for d, w in naive.observed(values, weights)
        if multiplier * d > 0.0
    )
    return 8.0 * EPS * float(sum(map(float, parts)))


def assert_solves(found, values, weights, largest, rel=1e-12):
    """Compare with the root of the dual problem in many digits."""
    low, high = possible(values, weights, largest)
    statistic, multiplier, at_bound = naive.cost_likelihood(values, weights, low, high)
    slack = error_of_rounding(values, weights, float(multiplier))
    assert found.status == OK
    assert found.statistic == pytest.approx(float(statistic), rel=rel, abs=slack)
    assert found.at_bound == at_bound
    return statistic, multiplier


def has_answer(values, weights, largest):
    seen = values[weights > 0]
    both = seen.size and seen.min() < 0.0 < seen.max()
    return both or (largest > 0.0 and np.any(seen))


# Oracle.


@supports
@given(drawn=tensors)
def test_likelihood_equals_the_dual_root(support, drawn):
    values, weights, largest = drawn
    largest = largest if support == "all" else 0.0
    assume(has_answer(values, weights, largest))
    found = cost_likelihood(values, weights, largest)
    assert_solves(found, *fold(values, weights), largest)


@supports
@given(drawn=whole_tensors)
def test_whole_costs_keep_all_digits(support, drawn):
    values, weights, largest = drawn
    largest = largest if support == "all" else 0.0
    assume(has_answer(values, weights, largest))
    found = cost_likelihood(values, weights, largest)
    low, high = possible(values, weights, largest)
    oracle = naive.cost_likelihood(*fold(values, weights), low, high)
    assert found.statistic == pytest.approx(float(oracle[0]), rel=1e-13)
    assert found.multiplier == pytest.approx(float(oracle[1]), rel=1e-12)
    assert found.at_bound == oracle[2]


PROBLEMS = [
    ("unit", 2, False),
    ("unit", 3, True),
    ("small", 2, True),
    ("small", 3, False),
    ("small", 6, False),
    ("squared", 4, True),
    ("squared", 5, False),
    ("lognormal", 2, False),
    ("lognormal", 3, True),
    ("ratio 1e6", 2, False),
    ("ratio 1e6", 3, False),
]


@pytest.mark.parametrize("method", ["SLSQP", "trust-constr"])
@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.filterwarnings("ignore:delta_grad == 0.0:UserWarning")
def test_likelihood_equals_an_optimiser_on_the_simplex(method, problem, seed):
    kind, k, one_sign = problem
    values, weights, largest = tensor(seed, kind, k, one_sign=one_sign)
    values, weights = fold(values, weights)
    found = cost_likelihood(values, weights, largest)
    per_sample, converged = naive.cost_likelihood_primal(values, weights, -largest, largest, method)
    assert converged
    statistic = found.statistic / weights.sum()
    assert statistic == pytest.approx(per_sample, rel=1e-8, abs=1e-8)


@given(
    st.lists(
        st.tuples(
            st.integers(-9, 9) | st.floats(-100.0, 100.0),
            st.integers(1, 30) | st.integers(1, 10**9),
        ),
        min_size=1,
        max_size=6,
    )
)
def test_chi_square_equals_every_choice_of_empty_cells(pairs):
    values, weights = arrays([(d if abs(d) > 1e-6 else 0.0, w) for d, w in pairs])
    assume(values.any())
    found = cost_chi_square(values, weights, True)
    oracle = naive.cost_chi_square(values, weights)
    slack = 8.0 * EPS * abs(found.multiplier) * float(np.abs(values) @ weights)
    assert found.statistic == pytest.approx(float(oracle), rel=1e-12, abs=slack)
    fitted = weights * np.maximum(0.0, 1.0 - found.multiplier * values)
    assert abs(fitted @ values) <= 1e-12 * (np.abs(values) @ weights)


@given(tensors)
def test_chi_square_closed_form(drawn):
    values, weights, _ = drawn
    assume((values * weights).any())
    found = cost_chi_square(values, weights, False)
    first = math.fsum(values * weights)
    second = math.fsum(values * values * weights)
    slack = 1e-13 * (np.abs(values) @ weights)
    assert found.multiplier == pytest.approx(first / second, abs=slack / second)
    wanted = first * first / second
    assert found.statistic == pytest.approx(
        wanted, rel=1e-12, abs=2.0 * abs(first) * slack / second
    )


@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from(list(COSTS)),
    st.sampled_from([(LIKELIHOOD, True), (LIKELIHOOD, False), (CHI_SQUARE, True)]),
    st.sampled_from([0.0, 1.0, 0.25]),
)
def test_many_equals_one_by_one(seed, kind, options, smoothing):
    values, _, largest = tensor(seed, kind, 3)
    distinct, group = np.unique(values, return_inverse=True)
    cells = smoothing * np.bincount(group).astype(float)
    rng = np.random.default_rng(seed)
    counts = rng.poisson(2.0, (4, values.size))
    counts[1] = 0
    counts[2, values < 0.0] = 0
    method, flag = options
    options = (method, largest if flag else 0.0, flag)
    results, status = np.empty((4, 4)), np.empty(4, np.uint8)
    cost_test_many(counts, group, distinct, cells, options, results, status)
    for p in range(4):
        weights = cells + np.bincount(group, counts[p])
        if not (counts[p] * values).any():
            # Smoothing alone is no evidence.
            assert (*results[p], status[p]) == (0.0, 1.0, 0.0, 0.0, DEGENERATE)
            continue
        if method == LIKELIHOOD:
            one = cost_likelihood(distinct, weights, options[1])
        else:
            one = cost_chi_square(distinct, weights, flag)
        wanted = [one.statistic, one.pvalue, one.multiplier, float(one.at_bound)]
        np.testing.assert_array_equal(results[p], wanted)
        assert status[p] == one.status


# Reference.


def close(case, name):
    return pytest.approx(case["expected"][name], rel=1e-10, abs=1e-12)


def of_case(case):
    cost = np.array(case["input"]["cost"])
    counts = np.array(case["input"]["counts_ijk"]).transpose(2, 0, 1)
    return differences(cost), counts.ravel() + case["options"]["smoothing"], cost.max()


@parametrize("cost_likelihood_ratio")
def test_reference_likelihood(case):
    values, weights, largest = of_case(case)
    if case["options"]["support"].startswith("observed"):
        largest = 0.0
    found = cost_likelihood(values, weights, largest)
    assert found.statistic == close(case, "statistic")
    assert found.pvalue == close(case, "pvalue")
    assert found.pvalue == pytest.approx(case["expected"]["pvalue"], rel=1e-9)


@parametrize("cost_chi_square")
def test_reference_chi_square(case):
    values, weights, _ = of_case(case)
    constraint = case["options"]["nonneg"]
    for nonnegative in [False, True] if constraint == "either" else [constraint]:
        found = cost_chi_square(values, weights, nonnegative)
        assert found.statistic == close(case, "statistic")
        assert found.pvalue == close(case, "pvalue")
        assert found.pvalue == pytest.approx(case["expected"]["pvalue"], rel=1e-9)


@pytest.mark.parametrize(
    ("pairs", "largest", "statistic"),
    [
        ([(1, 10), (-1, 2)], 0.0, 5.822),
        ([(1, 10), (-1, 2)], 5.0, 2.754),
        ([(1, 11), (-1, 3), (5, 1), (-5, 1)], 5.0, 0.889),
        ([(1, 10)], 5.0, 20.0 * math.log(1.2)),
    ],
)
def test_a_worked_example(pairs, largest, statistic):
    # Two classes; one mistake costs 1, the other 5.
    assert likelihood(pairs, largest).statistic == pytest.approx(statistic, abs=5e-4)
    if len(pairs) == 1:
        found = likelihood(pairs, largest).statistic
        assert found == pytest.approx(statistic, rel=1e-15)


# Laws.


@supports
@given(drawn=tensors)
def test_swapping_models_flips_the_multiplier_of_the_likelihood(support, drawn):
    values, weights, largest = drawn
    largest = largest if support == "all" else 0.0
    found = cost_likelihood(values, weights, largest)
    other = cost_likelihood(-values, weights, largest)
    flipped = other._replace(multiplier=-other.multiplier)
    np.testing.assert_array_equal(flipped, found)


@signs
@given(drawn=tensors)
def test_swapping_models_flips_the_multiplier_of_chi_square(nonnegative, drawn):
    values, weights, _ = drawn
    found = cost_chi_square(values, weights, nonnegative)
    other = cost_chi_square(-values, weights, nonnegative)
    assert other._replace(multiplier=-other.multiplier) == found


def all_tests(values, weights, largest):
    """Return the four outcomes, those without an answer left out."""
    found = [
        cost_likelihood(values, weights, largest),
        cost_likelihood(values, weights, 0.0),
        cost_chi_square(values, weights, False),
        cost_chi_square(values, weights, True),
    ]
    return [outcome for outcome in found if outcome.status != UNDEFINED]


def assert_alike(found, wanted, times=1.0, of_multiplier=1.0, rel=1e-12):
    assert len(found) == len(wanted)
    for one, other in zip(found, wanted, strict=True):
        assert one.status == other.status
        assert one.statistic == pytest.approx(times * other.statistic, rel=rel)
        multiplier = of_multiplier * other.multiplier
        assert one.multiplier == pytest.approx(multiplier, rel=rel)


@pytest.mark.parametrize("factor", [3.0, 0.1, 2.0**40, 1e-9])
@given(pairs=short_lists)
def test_scaling_costs_scales_the_multiplier(factor, pairs):
    values, weights = arrays(pairs)
    largest = float(np.abs(values).max())
    found = all_tests(factor * values, weights, factor * largest)
    wanted = all_tests(values, weights, largest)
    # The costs are rounded, which matters where they cancel.
    assume(factor in {3.0, 2.0**40} or abs(values @ weights) > 0.01 * weights.sum())
    for one, other in zip(found, wanted, strict=True):
        assert one.statistic == pytest.approx(other.statistic, rel=1e-12)
        multiplier = other.multiplier / factor
        assert one.multiplier == pytest.approx(multiplier, rel=1e-11)


@pytest.mark.parametrize("factor", [1e-300, 1e-200, 1e200, 1e300])
def test_the_unit_of_the_costs_does_not_matter(factor):
    values, weights = arrays([(1, 10), (-2, 2), (3, 1)])
    found = all_tests(factor * values, weights, factor * 3.0)
    wanted = all_tests(values, weights, 3.0)
    assert_alike(found, wanted, of_multiplier=1.0 / factor)


@pytest.mark.parametrize("times", [2, 10, 12345])
@given(pairs=short_lists)
def test_repeating_samples_multiplies_the_statistic(times, pairs):
    values, weights = arrays(pairs)
    largest = float(np.abs(values).max())
    found = all_tests(values, times * weights, largest)
    assert_alike(found, all_tests(values, weights, largest), times=times)


@given(short_lists, st.integers(0, 2**32 - 1))
def test_splitting_and_shuffling_changes_nothing(pairs, seed):
    values, weights = arrays(pairs)
    largest = float(np.abs(values).max())
    rng = np.random.default_rng(seed)
    part = np.floor(weights * rng.random(weights.size))
    order = rng.permutation(2 * weights.size)
    split = np.concatenate([values, values])[order]
    parts = np.concatenate([part, weights - part])[order]
    found = all_tests(split, parts, largest)
    assert_alike(found, all_tests(values, weights, largest), rel=1e-13)


@given(tensors)
def test_nothing_and_agreement_change_nothing(drawn):
    values, weights, largest = drawn
    more_values = np.concatenate([[0.0, -largest, largest], values, [0.0, 1e9]])
    more_weights = np.concatenate([[7.0, 0.0, 0.0], weights, [1e12, 0.0]])
    found = all_tests(more_values, more_weights, largest)
    wanted = all_tests(values, weights, largest)
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(one, other)


@signs
@given(only_a=st.integers(0, 10**9), only_b=st.integers(0, 10**9))
def test_unit_costs_give_mcnemar(nonnegative, only_a, only_b):
    found = chi_square([(1, only_b), (-1, only_a)], nonnegative)
    wanted = mcnemar_asymptotic(only_a, only_b)
    assert found.statistic == pytest.approx(wanted.statistic, rel=1e-14)
    assert found.pvalue == pytest.approx(wanted.pvalue, rel=1e-11, abs=1e-300)
    assert found.status == wanted.status


@given(st.integers(0, 10**9), st.integers(0, 10**9))
def test_unit_costs_give_the_likelihood_ratio_of_two_counts(b, c):
    assume(b + c > 0)
    with mpmath.workdps(40):
        exact = [k * mpmath.log(mpmath.mpf(2 * k) / (b + c)) for k in (b, c) if k]
        wanted = float(2 * sum(exact))
    found = likelihood([(1, b), (-1, c)], 1.0)
    assert found.statistic == pytest.approx(wanted, rel=1e-12)
    if b != c:
        assert found.multiplier == pytest.approx((b - c) / (b + c), rel=1e-14)


@given(tensors)
def test_likelihood_is_the_largest_over_all_multipliers(drawn):
    values, weights, largest = drawn
    assume(has_answer(values, weights, largest))
    found = cost_likelihood(values, weights, largest)
    proportions = np.concatenate([np.linspace(-0.999, 0.999, 41), [1e-3, -1e-3, 1e-6]])
    for proportion in proportions:
        dual = 2.0 * weights @ np.log1p(proportion * values / largest)
        assert dual <= found.statistic + 1e-13 * (np.abs(values) @ weights) / largest
    assert abs(found.multiplier) * largest <= 1.0 + 1e-15
    assert np.sign(found.multiplier) == np.sign(math.fsum(values * weights))


@given(tensors)
def test_restrictions_raise_the_statistic(drawn):
    values, weights, largest = drawn
    assume(has_answer(values, weights, 0.0))
    free = cost_chi_square(values, weights, False)
    bound = cost_chi_square(values, weights, True)
    assert free.statistic <= bound.statistic * (1.0 + 1e-14)
    everywhere = cost_likelihood(values, weights, largest)
    observed = cost_likelihood(values, weights, 0.0)
    slack = error_of_rounding(values, weights, observed.multiplier)
    assert everywhere.statistic <= observed.statistic * (1.0 + 1e-12) + slack


@given(tensors)
def test_pvalue_is_the_tail_of_chi_square(drawn):
    values, weights, largest = drawn
    for found in all_tests(values, weights, largest):
        tail = stats.chi2.sf(found.statistic, 1)
        assert found.pvalue == pytest.approx(tail, rel=1e-11, abs=1e-290)


# Edges.


@pytest.mark.parametrize("pairs", [[(0, 9)], [(3, 0), (-3, 0)], [(0, 5), (1, 0)]])
@pytest.mark.parametrize("largest", [0.0, 3.0])
def test_no_difference_is_degenerate(pairs, largest):
    nothing = (0.0, 1.0, DEGENERATE, 0.0, False)
    assert likelihood(pairs, largest) == nothing
    assert chi_square(pairs, False) == chi_square(pairs, True) == nothing


def test_no_entries_are_degenerate():
    empty = np.empty(0)
    assert cost_likelihood(empty, empty, 1.0) == (0.0, 1.0, DEGENERATE, 0.0, False)
    assert cost_chi_square(empty, empty, True) == (0.0, 1.0, DEGENERATE, 0.0, False)


@pytest.mark.parametrize("pairs", [[(1, 4), (-1, 4)], [(5, 2), (-1, 10), (0, 3)]])
def test_equal_costs_give_one(pairs):
    for found in all_tests(*arrays(pairs), 5.0):
        assert found == (0.0, 1.0, OK, 0.0, False)


@pytest.mark.parametrize("pairs", [[(1, 10)], [(-1, 10), (-3, 2)], [(2, 1), (-1, 0)]])
def test_one_sign_and_nowhere_to_go(pairs):
    found = likelihood(pairs, 0.0)
    assert found.status == UNDEFINED
    assert np.isnan([found.statistic, found.pvalue, found.multiplier]).all()
    assert not found.at_bound
    everywhere = likelihood(pairs, 3.0)
    values, weights = arrays(pairs)
    statistic = 2.0 * weights @ np.log1p(np.abs(values) / 3.0)
    assert everywhere.statistic == pytest.approx(statistic, rel=1e-14)
    assert everywhere.at_bound
    emptied = chi_square(pairs, True)
    assert emptied.statistic == pytest.approx(weights.sum(), rel=1e-14)


@pytest.mark.parametrize(
    ("pairs", "largest"),
    [
        ([(1, -1), (-1, 2)], 1.0),
        ([(1, math.nan), (-1, 2)], 1.0),
        ([(1, math.inf), (-1, 2)], 1.0),
        ([(math.nan, 1), (-1, 2)], 1.0),
        ([(math.inf, 1), (-1, 2)], 1.0),
        ([(-math.inf, 1), (-1, 2)], 0.0),
        ([(math.nan, 0), (-1, 2)], 1.0),
    ],
)
def test_impossible_entries_are_invalid(pairs, largest):
    outcomes = [likelihood(pairs, largest), likelihood(pairs, 0.0)]
    outcomes += [chi_square(pairs, False), chi_square(pairs, True)]
    for found in outcomes:
        assert found.status == INVALID
        assert np.isnan([found.statistic, found.pvalue, found.multiplier]).all()
        assert not found.at_bound


@pytest.mark.parametrize("largest", [1.9999, -1.0, math.nan])
@pytest.mark.parametrize("pairs", [[(2, 1), (-1, 2)], [(1, 1), (-2, 2)]])
def test_differences_beyond_the_largest_are_invalid(pairs, largest):
    found = likelihood(pairs, largest)
    assert found.status == INVALID
    assert math.isnan(found.statistic)


def test_at_bound_tells_where_the_mass_went():
    assert likelihood([(1, 10), (-1, 2)], 5.0).at_bound
    assert likelihood([(1, 10), (-1, 2)], 5.0).multiplier == 0.2
    assert not likelihood([(1, 10), (-1, 2)], 1.0).at_bound
    assert not likelihood([(1, 10), (-1, 9)], 5.0).at_bound
    assert not likelihood([(1, 10), (-5, 1)], 5.0).at_bound
    assert not chi_square([(1, 10), (-1, 2)], True).at_bound
    assert not chi_square([(5, 100), (1, 500), (-1, 1)], False).at_bound
    assert chi_square([(5, 100), (1, 500), (-1, 1)], True).at_bound


@pytest.mark.parametrize("weight", [1e-6, 1e-3, 1.0, 1e6])
@pytest.mark.parametrize("value", [5.0, 3.0, 0.3, 1e-3])
def test_roots_beside_the_bound(value, weight):
    for side in (1, -1):
        pairs = [(side * value, 1e15), (-5.0 * side, weight)]
        found = likelihood(pairs, 5.0)
        _, multiplier = assert_solves(found, *arrays(pairs), 5.0, rel=1e-14)
        assert found.multiplier == pytest.approx(float(multiplier), rel=1e-15)


@pytest.mark.parametrize("largest", [0.0, 1e6])
@pytest.mark.parametrize(
    "pairs",
    [
        [(1e6, 3), (-1, 5)],
        [(1e6, 3), (1, 5), (-1, 4), (-1e-6, 1e9)],
        [(1e6, 1), (-1, 10**6)],
        [(1e6, 1), (-1, 10**6 + 1)],
        [(1e6, 1e9), (-1e6, 1), (1e-6, 1e9)],
        [(1e6, 7), (-1e3, 5), (1e-3, 1e9), (-1e-3, 1)],
    ],
)
def test_costs_of_very_different_size(pairs, largest):
    assert_solves(likelihood(pairs, largest), *arrays(pairs), largest)


@pytest.mark.parametrize("ratio", [1e9, 1e12, 1e15, 1e18])
def test_observed_differences_of_extremely_different_size(ratio):
    for pairs in [[(ratio, 10), (-1, 3)], [(ratio, 1), (-1, 200)]]:
        assert_solves(likelihood(pairs, 0.0), *arrays(pairs), 0.0)


@given(short_lists)
def test_counts_may_be_integers(pairs):
    values, weights = arrays(pairs)
    largest = float(np.abs(values).max())
    found = all_tests(values, weights.astype(np.int64), largest)
    wanted = all_tests(values, weights, largest)
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(one, other)
    found = cost_likelihood(values, weights, int(largest))
    np.testing.assert_array_equal(found, cost_likelihood(values, weights, largest))


def test_many_entries():
    rng = np.random.default_rng(8)
    n = 20_000
    values = rng.normal(0.02, 1.0, n)
    weights = rng.random(n)
    largest = float(np.abs(values).max())
    found = cost_likelihood(values, weights, largest)
    # The equation that defines the multiplier.
    left = weights * values / (1.0 + found.multiplier * values)
    assert abs(math.fsum(left)) <= 1e-11 * np.abs(left).sum()
    wanted = 2.0 * math.fsum(weights * np.log1p(found.multiplier * values))
    assert found.statistic == pytest.approx(wanted, rel=1e-9)
