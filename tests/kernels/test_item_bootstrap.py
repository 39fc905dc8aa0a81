"""Draws of units, means on them, and intervals from sorted draws."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from libraries import stats
from reference_cases import expected, parametrize

from fastcmp import kernels


def drawn(sums, sizes, rows):
    """Means and their standard errors on given draws, and the data's."""
    counts = np.empty((len(rows), sums.size))
    kernels.count_units(np.asarray(rows, np.int64), counts)
    where = sizes, np.zeros(sums.size, np.int64), np.ones(1)
    found = [kernels.resampled_mean(sums, *where, row) for row in counts]
    own = kernels.resampled_mean(sums, *where, np.ones(sums.size))
    return *np.array(found).T, *own, kernels.jackknife_acceleration(sums, *where)


@parametrize("bootstrap_interval")
def test_reference(case):
    given = case["input"]
    sums = np.array(given.get("differences", given.get("cluster_sums")), float)
    sizes = np.array(given.get("cluster_sizes", np.ones(sums.size)), float)
    rows = given["resamples"]
    if rows == "all":
        rows = list(itertools.product(range(sums.size), repeat=sums.size))
    means, errors, mean, error, acceleration = drawn(sums, sizes, rows)
    level, ascending = case["options"]["confidence"], np.sort(means)
    low, high, z0 = kernels.bca_interval(ascending, mean, acceleration, level, 1e-12)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.sort(((means - mean) / errors)[errors > 1e-12])
    found = {
        "difference": mean,
        "percentile": kernels.percentile_interval(ascending, level),
        "basic": kernels.basic_interval(ascending, mean, level),
        "bca": (low, high),
        "z0": z0,
        "acceleration": acceleration,
        "studentized": kernels.studentized_interval(t, mean, error, level),
    }
    for name in case["expected"]:
        assert found[name] == expected(case, name), name


def test_draws_are_a_function_of_seed_and_number():
    strata = np.array([0, 0, 0, 1, 1])
    counts = np.empty((4, 5))
    kernels.draw_units(strata, 7, 3, counts)
    for r, row in enumerate(counts):
        wanted = np.zeros(5)
        for draw in range(5):
            start, n = (0, 3) if draw < 3 else (3, 2)
            wanted[start + kernels.random_below(7, 3 + r, draw, n)] += 1
        np.testing.assert_array_equal(row, wanted)
    later = np.empty((2, 5))
    kernels.draw_units(strata, 7, 5, later)
    np.testing.assert_array_equal(later, counts[2:])


units = st.lists(
    st.tuples(st.integers(-9, 9), st.integers(1, 4), st.integers(0, 3)), min_size=2, max_size=8
)


@given(units, units)
def test_means_and_errors_by_hand(one, two):
    sums, sizes, counts = np.array(one + two, float).T
    strata = np.repeat([0, 1], [len(one), len(two)])
    weights = np.array([0.3, 0.7])
    mean, error = kernels.resampled_mean(sums, sizes, strata, weights, counts)
    wanted = variance = 0.0
    for h in (0, 1):
        c, n, s = (x[strata == h] for x in (counts, sizes, sums))
        with np.errstate(invalid="ignore", divide="ignore"):
            own = (c * s).sum() / (c * n).sum()
            squares = (c * (s - n * own) ** 2).sum() / (c * n).sum() ** 2
        wanted += weights[h] * own
        variance += weights[h] ** 2 * c.size / (c.size - 1) * squares
    assert mean == pytest.approx(wanted, nan_ok=True, abs=1e-12)
    assert error == pytest.approx(variance**0.5, nan_ok=True, abs=1e-12)


@given(st.lists(st.floats(-100, 100), min_size=1, max_size=30), st.floats(0, 1))
def test_quantiles_as_numpy(x, p):
    x = np.sort(x)
    wanted = np.quantile(x, p)
    assert kernels.quantile_sorted(x, p) == pytest.approx(wanted, rel=1e-12, abs=1e-12)


def test_no_quantile():
    assert np.isnan(kernels.quantile_sorted(np.empty(0), 0.5))
    assert np.isnan(kernels.quantile_sorted(np.ones(3), np.nan))
    assert np.isnan(kernels.quantile_sorted(np.ones(3), 1.5))


def test_accelerations_of_strata_as_scipy():
    # Of a weighted sum of means SciPy's BCa has the same one.
    rng = np.random.default_rng(4)
    a, b = rng.exponential(size=7), rng.exponential(size=5)
    sums, strata = np.append(a, b), np.repeat([0, 1], [7, 5])
    weights = np.array([0.25, 0.75])
    found = kernels.jackknife_acceleration(sums, np.ones(12), strata, weights)
    squares = cubes = 0.0
    for x, weight in ((a, 0.25), (b, 0.75)):
        without = np.array([np.delete(weight * x, i).mean() for i in range(x.size)])
        u = (x.size - 1) * (without.mean() - without)
        squares += (u**2).sum() / x.size**2
        cubes += (u**3).sum() / x.size**3
    assert found == pytest.approx(cubes / 6 / squares**1.5, rel=1e-12)


def test_accelerations_at_the_edges():
    none, one = np.zeros(3, np.int64), np.ones(3)
    same = np.full(3, 0.1)
    assert kernels.jackknife_acceleration(same, one, none, np.ones(1)) == 0.0
    alone = np.array([0, 0, 1])
    assert np.isnan(kernels.jackknife_acceleration(same, one, alone, np.full(2, 0.5)))


@given(
    st.lists(st.integers(-5, 12), min_size=3, max_size=40),
    st.sampled_from([kernels.PERCENTILE, kernels.BASIC]),
)
def test_pvalues_count_the_draws(draws, kind):
    ascending = np.sort(np.array(draws, float))
    limit = 0.0 if kind == kernels.PERCENTILE else 4.0
    low = (1 + np.sum(ascending <= limit)) / (1 + ascending.size)
    high = (1 + np.sum(ascending >= limit)) / (1 + ascending.size)
    if kind == kernels.BASIC:
        low, high = high, low
    for alternative, wanted in (
        (kernels.GREATER, low),
        (kernels.LESS, high),
        (0, min(1, 2 * min(low, high))),
    ):
        found = kernels.bootstrap_pvalue(ascending, 2.0, kind, 0.0, 0.0, alternative)
        assert found == pytest.approx(wanted, rel=1e-14)


@pytest.mark.parametrize(
    "kind", [kernels.PERCENTILE, kernels.BASIC, kernels.BCA, kernels.STUDENTIZED]
)
@pytest.mark.parametrize("middle", [0.9, 1.6, 2.2, -1.3])
def test_pvalues_invert_their_intervals(kind, middle):
    # The interval at level 1 - p ends at 0, up to the steps of many draws.
    n = 4001
    shape = stats.gamma(40).ppf((np.arange(n) + 0.5) / n)
    draws = (shape - shape.mean()) / shape.std() + middle
    scale = {kernels.BCA: 0.05, kernels.STUDENTIZED: 0.8}.get(kind, 0.0)
    if kind == kernels.STUDENTIZED:
        draws -= middle
    pvalue = kernels.bootstrap_pvalue(draws, middle, kind, scale)
    low, high = {
        kernels.PERCENTILE: lambda: kernels.percentile_interval(draws, 1 - pvalue),
        kernels.BASIC: lambda: kernels.basic_interval(draws, middle, 1 - pvalue),
        kernels.BCA: lambda: kernels.bca_interval(draws, middle, scale, 1 - pvalue)[:2],
        kernels.STUDENTIZED: lambda: kernels.studentized_interval(draws, middle, scale, 1 - pvalue),
    }[kind]()
    assert pytest.approx(low if middle > 0 else high, abs=0.03) == 0.0
