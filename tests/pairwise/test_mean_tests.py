"""T tests of pairs by moments and by bits, and what is reported of each."""

import numpy as np
import pytest
from libraries import stats

from fastcmp.counts.correct_bits import RightBits
from fastcmp.counts.pair_moments import PairMoments
from fastcmp.counts.pairs import Block
from fastcmp.counts.value_sums import MeanEstimate
from fastcmp.kernels import count_bits, pack_equal
from fastcmp.kernels.bits import allocate_words
from fastcmp.paired.bounded_margins import BoundedUnits
from fastcmp.pairwise.mean_tests import bit_tests, mean_intervals, moment_tests

N = 60
VALUES = np.random.default_rng(2).normal(size=(4, N))


def moments(values=VALUES, **changes):
    found = {
        "n_items": N,
        "n_units": N,
        "mean": values.mean(axis=1),
        "variance": values.var(axis=1, ddof=1) / N,
        "covariance": np.cov(values) / N,
        "df": N - 1.0,
        "largest": 1 / N,
        "scale": (values**2).sum(axis=1) / N**2,
    }
    return PairMoments(**found | changes)


def block(*pairs):
    pairs = np.array(pairs, np.int32)
    return Block(slice(0, len(pairs)), pairs)


ALL = block((0, 1), (2, 0), (1, 3))


def test_like_scipy():
    tests = moment_tests(moments(), 0.9)
    columns = tests.columns(ALL)
    for p, (i, j) in enumerate(ALL.pairs):
        wanted = stats.ttest_rel(VALUES[i], VALUES[j])
        assert columns.statistic[p] == pytest.approx(wanted.statistic)
        assert columns.pvalue[p] == pytest.approx(wanted.pvalue)
        ends = wanted.confidence_interval(0.9)
        assert [columns.low[p], columns.high[p]] == pytest.approx(list(ends))
    np.testing.assert_array_equal(tests.pvalues(ALL), columns.pvalue)
    for i, x in enumerate(VALUES):
        ends = stats.ttest_1samp(x, 0).confidence_interval(0.9)
        assert tests.score_interval[i] == pytest.approx(list(ends))
    errors = tests.details(ALL.pairs, columns)["standard_error"]
    assert errors == pytest.approx(columns.difference / columns.statistic)
    assert (tests.distribution, tests.df) == ("t", N - 1)


def test_pairs_with_degrees_of_their_own():
    df = np.arange(16.0).reshape(4, 4) + 3
    df = df + df.T
    tests = moment_tests(moments(df=df), 0.95)
    columns = tests.columns(ALL)
    i, j = ALL.pairs.T
    wanted = 2 * stats.t.sf(np.abs(columns.statistic), df[i, j])
    assert columns.pvalue == pytest.approx(wanted)
    assert tests.df is None
    assert tests.details(ALL.pairs, columns)["df"].tolist() == df[i, j].tolist()
    # A mean alone has the least that its pairs have.
    spread = stats.t.isf(0.025, 11) * VALUES[0].std(ddof=1) / N**0.5
    assert np.ptp(tests.score_interval[0]) == pytest.approx(2 * spread)


def test_normal_distribution():
    tests = moment_tests(moments(df=np.inf), 0.95)
    columns = tests.columns(ALL)
    assert columns.pvalue == pytest.approx(2 * stats.norm.sf(np.abs(columns.statistic)))
    assert (tests.distribution, tests.df) == ("normal", None)


def test_values_are_looked_at_where_digits_are_lost():
    asked = []

    def direct(i, j):
        asked.append((i, j))
        return MeanEstimate(0.25, 0.01, 7.0)

    far = moments(scale=np.full(4, 1e9))
    columns = moment_tests(far, 0.95, direct=direct).columns(ALL)
    assert asked == [(0, 1), (2, 0), (1, 3)]
    assert columns.difference.tolist() == [0.25] * 3
    assert columns.statistic == pytest.approx([2.5] * 3)
    asked.clear()
    moment_tests(moments(), 0.95, direct=direct).columns(ALL)
    assert not asked
    # Without values at hand what is left by rounding is no variance.
    twins = moments(scale=np.full(4, 1e15))
    found = moment_tests(twins, 0.95).columns(ALL)
    assert np.isnan(found.statistic).all()


def test_limits():
    # Wilson's for the number of items with this variance; without any, for all units.
    rate, variance = np.array([0.0, 0.9, 0.9, 1.0]), np.array([0.0, 0.009, 0.0, 0.0])
    ends = mean_intervals(rate, variance, np.inf, 0.95, (40, 12.0))
    for own, p, n in zip(ends, rate, (12, 10, 40, 12), strict=True):
        wanted = stats.binomtest(round(p * n), n).proportion_ci(method="wilson")
        assert own == pytest.approx(list(wanted))


def test_bits_like_moments():
    right = (VALUES > 0).astype(np.uint8)
    right[3] = right[1]
    words = allocate_words(4, N)
    for row, own in zip(words, right, strict=True):
        pack_equal(np.ones(N, np.uint8), own, row)
    bits = RightBits(words, np.array([count_bits(row) for row in words]))
    tests = bit_tests(bits, N, 0.95, N - 1.0, N / (N - 1.0))

    def bounded(block):
        i, j = block.pairs.T
        return BoundedUnits(right[i] * 1.0 - right[j], np.ones(N))

    other = moment_tests(moments(right.astype(float)), 0.95, bounded=bounded)
    own, wanted = tests.columns(ALL), other.columns(ALL)
    for name in ("difference", "low", "high", "statistic", "pvalue"):
        assert getattr(own, name)[:2] == pytest.approx(getattr(wanted, name)[:2])
    assert (own.pvalue[2], own.statistic[2]) == (1, 0)
    assert tests.score_interval == pytest.approx(other.score_interval)
    more = tests.details(ALL.pairs, own)
    assert more["standard_error"][2] == 0
    only = (right[0] > right[1]).sum(), (right[0] < right[1]).sum()
    assert (more["only_a"][0], more["only_b"][0]) == only
