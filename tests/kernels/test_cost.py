"""Equal expected costs: likelihood ratio and chi-square."""

import math

import naive
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from libraries import stats

from fastcmp.kernels import DEGENERATE, OK, UNDEFINED, cost_chi_square, cost_likelihood

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
    *(tensor, st.integers(0, 2**32 - 1), st.sampled_from(list(COSTS)), st.integers(2, 6)),
    *(st.sampled_from([0, 10**9]), st.booleans()),
)
whole_tensors = st.builds(
    *(tensor, st.integers(0, 2**32 - 1), st.sampled_from(WHOLE), st.integers(2, 6)),
    st.sampled_from([0, 10**9]),
)
supports = pytest.mark.parametrize("support", ["all", "observed"])


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


@pytest.mark.parametrize("method", ["SLSQP", "trust-constr"])
@pytest.mark.parametrize("kind", COSTS)
@pytest.mark.parametrize(("seed", "k", "one_sign"), [(1, 2, False), (2, 3, True), (1, 3, False)])
@pytest.mark.filterwarnings("ignore:delta_grad == 0.0:UserWarning")
def test_likelihood_equals_an_optimiser_on_the_simplex(method, kind, seed, k, one_sign):
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


# Reference.


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


def all_tests(values, weights, largest):
    """Return the four outcomes, those without an answer left out."""
    found = [
        cost_likelihood(values, weights, largest),
        cost_likelihood(values, weights, 0.0),
        cost_chi_square(values, weights, False),
        cost_chi_square(values, weights, True),
    ]
    return [outcome for outcome in found if outcome.status != UNDEFINED]


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


@pytest.mark.parametrize("weight", [1e-6, 1e-3, 1.0, 1e6])
@pytest.mark.parametrize("value", [5.0, 3.0, 0.3, 1e-3])
def test_roots_beside_the_bound(value, weight):
    for side in (1, -1):
        pairs = [(side * value, 1e15), (-5.0 * side, weight)]
        found = likelihood(pairs, 5.0)
        _, multiplier = assert_solves(found, *arrays(pairs), 5.0, rel=1e-14)
        assert found.multiplier == pytest.approx(float(multiplier), rel=1e-15)


@pytest.mark.parametrize("largest", [0.0, 1e18])
@pytest.mark.parametrize(
    "pairs",
    [
        *([(ratio, 10), (-1, 3)] for ratio in (1e9, 1e15, 1e18)),
        [(1e15, 1), (-1, 200)],
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
