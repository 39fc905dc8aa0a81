"""The bootstrap of differences of means: of one pair, and of all pairs."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastcmp import compare_means, kernels, mean_difference
from fastcmp.kernels import DEGENERATE, draw_units, resampled_mean

INTERVALS = {
    "percentile": kernels.PERCENTILE,
    "basic": kernels.BASIC,
    "bca": kernels.BCA,
    "studentized": kernels.STUDENTIZED,
}
every_interval = pytest.mark.parametrize("interval", INTERVALS)
DESIGNS = ("items", "clusters", "strata", "strata of clusters")


def bootstrap(values, **options):
    options = {"n_resamples": 199, "rng": 5} | options
    return mean_difference(*values, method="bootstrap", **options)


def some_values(kind, m=2):
    """Values of items of one kind, and how these belong together."""
    rng = np.random.default_rng(7)
    sizes = rng.integers(1, 6, 24) if "clusters" in kind else np.ones(24, int)
    options = {"groups": np.repeat(np.arange(24), sizes)} if "clusters" in kind else {}
    if "strata" in kind:
        options["strata"] = np.repeat(np.repeat([0, 1, 2], [9, 8, 7]), sizes)
        options["stratum_weights"] = {0: 0.5, 1: 0.3, 2: 0.2}
    return rng.exponential(size=(m, sizes.sum())), options


def slowly(values, options, interval, level, n, seed, alternative=0):
    """The bootstrap of the first less the second, draw by draw."""
    groups = options.get("groups", np.arange(values.shape[1]))
    strata = options.get("strata", np.zeros(groups.size, int))[np.unique(groups, True)[1]]
    weights = np.array(list(options.get("stratum_weights", {0: 1.0}).values()))
    d, sizes = np.bincount(groups, values[0] - values[1]), np.bincount(groups) * 1.0
    where = sizes, strata, weights
    counts = np.empty((n, d.size))
    draw_units(strata, seed, 0, counts)
    means, errors = np.array([resampled_mean(d, *where, row) for row in counts]).T
    mean, error = resampled_mean(d, *where, np.ones(d.size))
    ascending, scale = np.sort(means), 0.0
    if interval == "percentile":
        ends = kernels.percentile_interval(ascending, level)
    elif interval == "basic":
        ends = kernels.basic_interval(ascending, mean, level)
    elif interval == "bca":
        scale = kernels.jackknife_acceleration(d, *where)
        ends = kernels.bca_interval(ascending, mean, scale, level)[:2]
    else:
        ascending, scale = np.sort((means - mean) / errors), error
        ends = kernels.studentized_interval(ascending, mean, error, level)
    kind = INTERVALS[interval]
    pvalue = kernels.bootstrap_pvalue(ascending, mean, kind, scale, 0.0, alternative)
    return (pvalue, *ends, means.std(ddof=1))


@every_interval
@pytest.mark.parametrize("kind", DESIGNS)
def test_draw_by_draw(kind, interval):
    values, options = some_values(kind)
    found = bootstrap(values, interval=interval, n_resamples=299, **options)
    wanted = slowly(values, options, interval, 0.95, 299, found.seed)
    assert (found.pvalue, *found.interval, found.standard_error)[:3] == pytest.approx(
        wanted[:3], rel=1e-9
    )


@every_interval
def test_one_side(interval):
    values, options = some_values("items")
    for alternative, code in (("greater", 1), ("less", -1)):
        found = bootstrap(values, interval=interval, alternative=alternative)
        wanted = slowly(values, options, interval, 0.9, 199, found.seed, code)
        assert found.pvalue == pytest.approx(wanted[0], rel=1e-12)
        ends = (wanted[1], np.inf) if code > 0 else (-np.inf, wanted[2])
        assert tuple(found.interval) == pytest.approx(ends)


@given(st.lists(st.integers(-2, 2), min_size=4, max_size=12), st.integers(0, 99))
def test_whole_numbers_are_compared_exactly(d, seed):
    # Of tenths, as of whole numbers: draws that are 0 are 0, whatever the rounding.
    d = np.array(d, float)
    other = np.random.default_rng(seed).integers(2, 9, d.size)
    for interval in INTERVALS:
        options = {"interval": interval, "n_resamples": 99, "rng": seed}
        one = bootstrap((other + d, other), **options)
        two = bootstrap(((other + d) / 10, other / 10), **options)
        assert one.pvalue == pytest.approx(two.pvalue, nan_ok=True, rel=1e-9)
        assert one.interval.low == pytest.approx(10 * two.interval.low, nan_ok=True, abs=1e-9)


@every_interval
def test_all_draws_equal(interval):
    x = np.random.default_rng(1).random(20).round(1)
    for by in (0.0, 0.1):
        found = bootstrap((x + by, x), interval=interval)
        assert found.status == DEGENERATE
        assert found.pvalue < 0.02 if by else found.pvalue == 1.0
        assert by or found.interval == (0, 0)


@every_interval
@pytest.mark.parametrize("kind", DESIGNS)
def test_all_pairs_are_those_of_two(kind, interval):
    values, design = some_values(kind, m=5)
    options = {"interval": interval, "n_resamples": 199, "rng": 2, **design}
    found = compare_means(values, method="bootstrap", adjust="none", **options)
    assert found.distribution == "bootstrap"
    for p, pair in enumerate(found.pairs):
        one = bootstrap(values[pair], **options)
        ends = [found.pvalue[p], *found.interval[p]]
        assert ends == pytest.approx([one.pvalue, *one.interval], rel=1e-10)
    for workers in (4, 7):
        many = compare_means(values, method="bootstrap", adjust="none", **options, workers=workers)
        np.testing.assert_equal(many.pvalue, found.pvalue)
        np.testing.assert_equal(many.interval, found.interval)
