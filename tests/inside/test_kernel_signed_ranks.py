"""Wilcoxon's signed ranks and Walsh averages, in nopython code."""

import itertools

import numpy as np
import pytest
from both_tiers import both_tiers  # noqa: F401
from hypothesis import given
from hypothesis import strategies as st
from libraries import stats

from fastcmp import kernels
from fastcmp.kernels import signed_ranks as ranks
from fastcmp.kernels import special, walsh_averages

grades = st.lists(st.integers(-6, 6), min_size=1, max_size=30)
ZERO_METHODS = ("wilcox", "pratt", "zsplit")


def sorted_pack(d):
    packed = np.empty(d.size)
    ranks.pack_signs(d, packed)
    return np.sort(packed)


def by_hand(d, zero_method):
    """Twice the midranks, zeros dropped or ranked, by counting."""
    size = np.abs(d)
    among = size[size > 0] if zero_method == "wilcox" else size
    twice = [2 * np.sum(among < x) + np.sum(among == x) + 1 for x in size]
    return np.where(d == 0, 0, np.sign(d) * twice).astype(int)


@given(grades, st.sampled_from(range(3)))
def test_ranks_and_their_sums(d, zero_method):
    d = np.array(d, float)
    wanted = by_hand(d, ZERO_METHODS[zero_method])
    order = sorted_pack(d)
    found = np.empty(d.size, np.int64)
    zeros = ranks.ranks_of_sorted(order, 1e-12, zero_method, found)
    np.testing.assert_array_equal(found, np.sort(np.abs(wanted)))
    times = np.unique(np.abs(d[d != 0]), return_counts=True)[1].astype(float)
    sums = (np.sum(d == 0), wanted[wanted > 0].sum(), np.sum(times**3 - times))
    assert zeros == sums[0]
    assert ranks.sums_of_sorted(order, 1e-12, zero_method) == sums
    counts = np.array([np.sum(d == k) for k in range(-6, 7)])
    assert ranks.sums_of_counts(counts, zero_method) == sums


@given(
    st.lists(st.integers(-20, 20), max_size=9),
    st.integers(1, 50),
    st.sampled_from([kernels.TWO_SIDED, kernels.GREATER, kernels.LESS]),
)
def test_all_signs_in_turn(sums, unit, alternative):
    sums = unit * np.array(sums, np.int64)
    signs = np.array(list(itertools.product([-1, 1], repeat=sums.size)), np.int64)
    null, seen = signs @ np.abs(sums), sums.sum()
    if alternative == kernels.TWO_SIDED:
        null, seen = np.abs(null), abs(seen)
    wanted = np.mean(null <= seen if alternative == kernels.LESS else null >= seen)
    assert kernels.signed_sum_pvalue(sums, alternative) == pytest.approx(wanted, rel=1e-13)


@given(grades, st.sampled_from(range(3)), st.booleans(), st.sampled_from([0, 1, -1]))
def test_as_scipy(d, zero_method, continuity, side):
    d = np.array(d, float)
    if not d.any():
        return
    sums = ranks.sums_of_sorted(sorted_pack(d), 1e-12, zero_method)
    z = kernels.signed_rank_z(*sums, d.size, zero_method, continuity, side)[2]
    options = {"alternative": ("two-sided", "greater", "less")[side], "method": "asymptotic"}
    options |= {"zero_method": ZERO_METHODS[zero_method], "correction": continuity}
    wanted = stats.wilcoxon(d, **options)
    sign = 1 if side else -np.sign(z)  # SciPy's is below 0
    assert sign * z == pytest.approx(wanted.zstatistic, rel=1e-12, abs=1e-12)
    assert special.normal_pvalue(z, side) == pytest.approx(wanted.pvalue, rel=1e-11)


def test_by_sums_and_by_signs_agree():
    # Sizes that are not far apart are enumerated where they are large.
    rng = np.random.default_rng(1)
    small = rng.integers(-30, 30, 16)
    apart = 10**6 * small + 1
    for alternative in (kernels.TWO_SIDED, kernels.GREATER, kernels.LESS):
        one = kernels.signed_sum_pvalue(small, alternative)
        # Ties of the small sums are broken by a unit, so only nearly the same.
        assert kernels.signed_sum_pvalue(apart, alternative) == pytest.approx(one, abs=0.05)
    limit = int(np.abs(apart).sum() // 3)
    sizes = np.abs(apart)
    subsets = np.array(list(itertools.product([0, 1], repeat=sizes.size)))
    wanted = np.mean(subsets @ sizes <= limit)
    assert ranks._enumerated(sizes, limit) == wanted


# Walsh averages.


def walsh_average(d, k):
    return 0.5 * walsh_averages._select(*walsh_averages._distinct(d), k)


def walsh(d):
    i, j = np.triu_indices(d.size)
    return np.sort((d[i] + d[j]) / 2)


@given(st.lists(st.floats(-100, 100), min_size=1, max_size=40), st.integers(0, 4), st.data())
def test_any_walsh_average(d, decimals, data):
    d = np.sort(np.round(d, decimals))
    averages = walsh(d)
    k = data.draw(st.integers(1, averages.size))
    assert walsh_average(d, k) == averages[k - 1]
    assert kernels.hodges_lehmann(d)[0] == pytest.approx(np.median(averages), abs=1e-13)


@pytest.mark.parametrize("shape", ["normal", "few values", "many ties", "heavy tails"])
def test_many_numbers_are_selected_exactly(shape):
    rng = np.random.default_rng(2)
    n = 20_000
    d = rng.standard_cauchy(n) if shape == "heavy tails" else rng.normal(size=n)
    unit = 2.0 ** -{"few values": 3, "many ties": 10}.get(shape, 20)
    d = np.sort(np.rint(d / unit)) * unit  # so that sums are not rounded
    every = n * (n + 1) // 2
    for share in (0.0, 0.001, 0.3, 0.5, 0.97, 1.0):
        k = 1 + int(share * (every - 1))
        x = 2 * walsh_average(d, k)
        below = (np.searchsorted(d, x - d).sum() + np.sum(2 * d < x)) // 2
        upto = (np.searchsorted(d, x - d, "right").sum() + np.sum(2 * d <= x)) // 2
        assert below < k <= upto


def test_no_such_average():
    d = np.arange(3.0)
    assert np.isnan(kernels.hodges_lehmann(d[:0])).all()
    assert np.isnan(kernels.hodges_lehmann(d, 1.0)).all()


def null_distribution(n):
    chance = np.ones(1)
    for rank in range(1, n + 1):
        both = np.zeros(chance.size + rank)
        both[: chance.size] += chance / 2
        both[rank:] += chance / 2
        chance = both
    return chance


@pytest.mark.parametrize("n", [1, 2, 5, 12, 40, 120, 121, 150, 220, 300])
def test_quantiles_of_the_sum(n):
    # From 121 on by an expansion.
    below = np.cumsum(null_distribution(n))
    for p in (0.0005, 0.005, 0.0125, 0.025, 0.05, 0.1, 0.25, 0.4):
        wanted = np.searchsorted(below, p - 1e-14)
        assert kernels.signed_rank_quantile(p, n) == wanted
