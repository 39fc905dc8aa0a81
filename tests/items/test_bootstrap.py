"""The bootstrap of differences of means: of one pair, and of all pairs."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from fastcmp.core.threads import ThreadPool
from fastcmp.counts.unit_sums import UnitSums
from fastcmp.items import bootstrap
from fastcmp.items.bootstrap import INTERVALS, bootstrap_difference, bootstrap_tests
from fastcmp.kernels import (
    DEGENERATE,
    OK,
    basic_interval,
    bca_interval,
    bootstrap_pvalue,
    draw_units,
    jackknife_acceleration,
    percentile_interval,
    resampled_mean,
    studentized_interval,
)
from fastcmp.pairwise.engine import Options, run_tests
from fastcmp.pairwise.pair_tests import PairTests

every_interval = pytest.mark.parametrize("interval", INTERVALS)


def items(values):
    values = np.asarray(values, float)
    n = values.shape[1]
    return UnitSums(values, np.ones(n), np.zeros(n, np.int64), np.ones(1))


def some_units(kind, m=2):
    """Units of one kind: items, clusters, and strata of both."""
    rng = np.random.default_rng(7)
    n = 24
    sizes = np.ones(n)
    strata, weights = np.zeros(n, np.int64), np.ones(1)
    if "clusters" in kind:
        sizes = rng.integers(1, 6, n).astype(float)
    if "strata" in kind:
        strata, weights = np.repeat([0, 1, 2], [9, 8, 7]), np.array([0.5, 0.3, 0.2])
    sums = rng.exponential(size=(m, n)) * sizes
    return UnitSums(sums, sizes, strata, weights)


KINDS = ["items", "clusters", "strata", "strata of clusters"]


def slowly(units, interval, level, n, seed, alternative=0):
    """The bootstrap of the first less the second, draw by draw."""
    d, *where = units.sums[0] - units.sums[1], *units[1:]
    counts = np.empty((n, d.size))
    draw_units(units.strata, seed, 0, counts)
    means, errors = np.array([resampled_mean(d, *where, row) for row in counts]).T
    mean, error = resampled_mean(d, *where, np.ones(d.size))
    ascending, scale = np.sort(means), 0.0
    if interval == "percentile":
        ends = percentile_interval(ascending, level)
    elif interval == "basic":
        ends = basic_interval(ascending, mean, level)
    elif interval == "bca":
        scale = jackknife_acceleration(d, *where)
        ends = bca_interval(ascending, mean, scale, level)[:2]
    else:
        ascending, scale = np.sort((means - mean) / errors), error
        ends = studentized_interval(ascending, mean, error, level)
    kind = INTERVALS[interval]
    pvalue = bootstrap_pvalue(ascending, mean, kind, scale, 0.0, alternative)
    return (pvalue, *ends, means.std(ddof=1))


@every_interval
@pytest.mark.parametrize("kind", KINDS)
def test_draw_by_draw(kind, interval):
    units = some_units(kind)
    found = bootstrap_difference(units, interval=interval, n_resamples=299, seed=5)
    wanted = slowly(units, interval, 0.95, 299, 5)
    assert found[:4] == pytest.approx(wanted, rel=1e-11)
    assert (found.n_used, found.status) == (299, OK)


@every_interval
@pytest.mark.parametrize("alternative", ["greater", "less"])
def test_one_side(interval, alternative):
    units = some_units("items")
    options = {"interval": interval, "n_resamples": 199, "seed": 5}
    found = bootstrap_difference(units, alternative=alternative, **options)
    code = {"greater": 1, "less": -1}[alternative]
    wanted = slowly(units, interval, 0.9, 199, 5, code)
    assert found.pvalue == pytest.approx(wanted[0], rel=1e-12)
    if alternative == "greater":
        assert (found.low, found.high) == (pytest.approx(wanted[1]), np.inf)
    else:
        assert (found.low, found.high) == (-np.inf, pytest.approx(wanted[2]))


@every_interval
def test_exchanging_the_models(interval):
    units = some_units("strata of clusters")
    back = units._replace(sums=units.sums[::-1].copy())
    options = {"interval": interval, "n_resamples": 199, "seed": 3}
    one, two = (bootstrap_difference(each, **options) for each in (units, back))
    assert (one.low, one.high) == pytest.approx((-two.high, -two.low))
    assert one.pvalue == pytest.approx(two.pvalue)


@given(st.lists(st.integers(-2, 2), min_size=4, max_size=12), st.integers(0, 99))
def test_whole_numbers_are_compared_exactly(d, seed):
    # Of tenths, as of whole numbers: draws that are 0 are 0, whatever the rounding.
    d = np.array(d, float)
    other = np.random.default_rng(seed).integers(0, 9, d.size)
    whole = items(np.stack([other + d, other]))
    tenths = items(np.stack([(other + d) / 10, other / 10]))
    for interval in INTERVALS:
        options = {"interval": interval, "n_resamples": 99, "seed": seed}
        one = bootstrap_difference(whole, **options)
        two = bootstrap_difference(tenths, **options)
        assert one.pvalue == pytest.approx(two.pvalue, nan_ok=True, rel=1e-9)
        assert one.n_used == two.n_used
        assert one.low == pytest.approx(10 * two.low, nan_ok=True, abs=1e-9)


@every_interval
@pytest.mark.parametrize("by", [0.0, 0.1])
def test_all_draws_equal(interval, by):
    x = np.random.default_rng(1).random(20).round(1)
    found = bootstrap_difference(items([x + by, x]), interval=interval, n_resamples=99, seed=1)
    assert found.status == DEGENERATE
    assert found.high == found.low == pytest.approx(by)
    assert found.pvalue == pytest.approx(0.02 if by else 1.0)


def test_draws_without_spread_are_dropped():
    values = np.zeros((2, 6))
    values[0, 0] = 1.0
    found = bootstrap_difference(items(values), n_resamples=999, seed=1)
    counts = np.empty((999, 6))
    draw_units(np.zeros(6, np.int64), 1, 0, counts)
    wanted = np.sum((counts[:, 0] > 0) & (counts[:, 0] < 6))
    assert found.n_used == wanted < 999
    assert found.status == OK


def test_large_numbers_in_common_cancel():
    units = some_units("items")
    far = units._replace(sums=units.sums + 2.0**30)
    options = {"interval": "percentile", "n_resamples": 199, "seed": 3}
    one, two = (bootstrap_difference(each, **options) for each in (units, far))
    assert two[:4] == pytest.approx(one[:4], rel=1e-5)


# All pairs.


def run_all(units, workers=1, chosen=None, **options):
    m = len(units.sums)
    base = PairTests(
        n_samples=units.sizes.size,
        correct=None,
        score=np.array([resampled_mean(x, *units[1:], np.ones(x.size))[0] for x in units.sums]),
        score_interval=np.zeros((m, 2)),
        distribution="t",
        df=1,
        side=64,
        pvalues=None,
        columns=None,
    )
    kept = Options(test="x", method="", adjust="holm", alpha=0.05, keep="all", memory_limit=None)
    names = tuple(map(str, range(m)))
    with ThreadPool(workers) as pool:
        tests = bootstrap_tests(units, base, seed=2, pool=pool, **options)
        return tests, run_tests(tests, chosen, names, kept, pool)


@every_interval
@pytest.mark.parametrize("kind", ["items", "strata of clusters"])
def test_all_pairs_are_those_of_two(kind, interval, monkeypatch):
    monkeypatch.setattr(bootstrap, "_ROWS", 4)
    monkeypatch.setattr(bootstrap, "_BLOCK", 24 * 50)
    units = some_units(kind, m=5)
    options = {"interval": interval, "n_resamples": 199}
    tests, kept = run_all(units, level=0.9, **options)
    assert tests.distribution == "bootstrap"
    for p, pair in enumerate(kept.pairs):
        two = units._replace(sums=units.sums[pair])
        one = bootstrap_difference(two, confidence_level=0.9, seed=2, **options)
        found = [kept.columns.pvalue[p], kept.columns.low[p], kept.columns.high[p]]
        assert found == pytest.approx([one.pvalue, one.low, one.high], rel=1e-10)
        if interval != "studentized":
            wanted = kept.columns.difference[p] / one.standard_error
            assert kept.columns.statistic[p] == pytest.approx(wanted)


@every_interval
@pytest.mark.parametrize("kept_counts", [0, 1 << 25])
def test_all_pairs_on_any_number_of_threads(interval, kept_counts, monkeypatch):
    monkeypatch.setattr(bootstrap, "_BLOCK", 24 * 50)
    monkeypatch.setattr(bootstrap, "_COUNTS", kept_counts)
    units = some_units("clusters", m=9)
    one = run_all(units, interval=interval, n_resamples=199)[1]
    for workers in (4, 7):
        many = run_all(units, workers, interval=interval, n_resamples=199)[1]
        np.testing.assert_equal(many.columns, one.columns)


def test_percentile_interval_as_scipy():
    d = np.random.default_rng(3).exponential(size=40)
    units = items([d, np.zeros(40)])
    for interval in ("percentile", "basic", "bca"):
        found = bootstrap_difference(units, interval=interval, seed=1)
        wanted = stats.bootstrap((d,), np.mean, method=interval, rng=1)
        near = pytest.approx(tuple(wanted.confidence_interval), abs=0.02)
        assert (found.low, found.high) == near
        assert found.standard_error == pytest.approx(wanted.standard_error, rel=0.03)
