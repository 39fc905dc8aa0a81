"""Cluster-robust variances and degrees of freedom against matrices written out."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from libraries import stats

from fastcmp import kernels
from fastcmp.kernels.cluster_means import margin_t, margin_t_many

KINDS = {"cr0": kernels.CR0, "cr1": kernels.CR1, "cr2": kernels.CR2, "cr3": kernels.CR3}

units = st.lists(st.tuples(st.integers(1, 6), st.floats(-3, 3)), min_size=2, max_size=7)


def by_matrices(sums, codes, kind):
    """Work out variance and d.o.f. with n x n matrices, as textbooks write them."""
    n, G = codes.size, codes.max() + 1
    hat = np.full((n, n), 1 / n)
    residual = np.eye(n) - hat
    own = []
    for g in range(G):
        at = codes == g
        block = residual[np.ix_(at, at)]
        if kind in ("cr2", "cr3"):
            values, vectors = np.linalg.eigh(block)
            power = -0.5 if kind == "cr2" else -1.0
            keep = values > 1e-10
            root = (vectors[:, keep] * values[keep] ** power) @ vectors[:, keep].T
        else:
            root = np.eye(at.sum())
        own.append((at, root))
    scale = G / (G - 1) if kind == "cr1" else 1.0
    d = sums
    e = residual @ d
    variance = scale * sum((np.ones(at.sum()) @ r @ e[at]) ** 2 for at, r in own) / n**2
    p = np.stack([residual[:, at] @ r @ np.ones(at.sum()) / n for at, r in own])
    omega = p @ p.T
    return d.mean(), variance, np.trace(omega) ** 2 / np.sum(omega**2)


@given(units, st.sampled_from(sorted(KINDS)), st.integers(0, 2**20))
def test_like_matrices(found, kind, seed):
    sizes = np.array([n for n, _ in found])
    codes = np.repeat(np.arange(sizes.size), sizes)
    d = np.random.default_rng(seed).normal(size=codes.size)
    sums = np.bincount(codes, d)
    n_g = sizes.astype(float)
    got = kernels.clustered_mean(sums, n_g, n_g, KINDS[kind])
    assert got == pytest.approx(by_matrices(d, codes, kind), rel=1e-9, abs=1e-12)


@given(st.floats(0.1, 10))
def test_weights_of_one_size_change_nothing(weight):
    sizes = np.array([2.0, 3.0, 7.0])
    plain, scaled = np.empty(3), np.empty(3)
    one = kernels.cluster_factors(sizes, sizes, kernels.CR2, plain)
    two = kernels.cluster_factors(weight * sizes, weight**2 * sizes, kernels.CR2, scaled)
    assert two == pytest.approx(one)
    assert scaled == pytest.approx(plain)


def test_one_cluster_has_no_variance():
    one = np.ones(1)
    assert math.isnan(kernels.clustered_mean(one, one, one, kernels.CR2)[2])


@given(st.floats(-5, 5), st.floats(1e-3, 9), st.sampled_from([1.5, 4.0, 200.0, np.inf]))
def test_t_like_scipy(difference, variance, df):
    law = stats.norm() if df == np.inf else stats.t(df)
    t = difference / math.sqrt(variance)
    expected = {
        kernels.TWO_SIDED: 2 * law.sf(abs(t)),
        kernels.GREATER: law.sf(t),
        kernels.LESS: law.cdf(t),
    }
    for alternative, pvalue in expected.items():
        found = kernels.mean_t(difference, variance, df, alternative)
        assert found[:2] == pytest.approx((t, pvalue), rel=1e-9)
    assert kernels.t_quantile(df, 0.9) == pytest.approx(law.ppf(0.95))


@given(st.floats(-5, 5), st.floats(0.1, 3), st.sampled_from([4.0, 200.0, np.inf]), st.booleans())
def test_margins_like_scipy(difference, error, df, less):
    law = stats.norm() if df == np.inf else stats.t(df)
    lower, upper = (difference + 0.5) / error, (difference - 0.5) / error
    expected = [
        lower,
        upper,
        law.sf(lower),
        law.cdf(upper),
        law.cdf(lower) if less else law.sf(upper),
    ]
    for level in (0.95, 0.9):
        expected += [difference + error * end for end in law.interval(level)]
    gain, (power, *levels) = -difference if less else difference, stats.norm.ppf([0.8, 0.975, 0.95])
    reach = (gain, gain + 0.5 if gain > -0.5 else 0.0)
    both = zip(levels, reach, strict=True)
    with np.errstate(over="ignore"):
        needed = [((level + power) * error * 10.0 / x) ** 2 for level, x in both if x]
    alpha = (0.05, 0.05)
    *found, n = margin_t(difference, error, 0.5, df, 100.0, alpha, less)
    assert found == pytest.approx(expected, rel=1e-9)
    assert n == pytest.approx(min(needed), rel=1e-9)
    out = np.empty((10, 1))
    numbers = np.array([[difference], [error], [0.5], [df], [100.0]])
    margin_t_many(numbers, alpha, np.array([less]), out)
    assert out[:, 0].tolist() == [*found, n]
    assert np.isnan(margin_t(difference, 0.0, 0.5, df, 100.0, alpha, less)).all()


def test_without_variance():
    none = (math.nan, math.nan, kernels.UNDEFINED)
    for side in (kernels.TWO_SIDED, kernels.GREATER, kernels.LESS):
        same = kernels.mean_t(0.0, 0.0, 5.0, side)
        assert same == (0.0, 1.0, kernels.DEGENERATE)
        for difference in (0.5, -0.5):
            np.testing.assert_array_equal(kernels.mean_t(difference, 0.0, 5.0, side), none)


@given(st.lists(st.tuples(st.floats(-9, 9), st.floats(-9, 9)), min_size=1, max_size=60))
def test_moments_of_two_rows(pairs):
    a, b = np.array(pairs).T.copy()
    out = np.empty(10)
    kernels.difference_moments(a, b, out)
    d = a - b
    x, y, r = (v - v.mean() for v in (a, b, d))
    expected = [d.mean(), r @ r, np.sum(r**3), np.abs(r).max()]
    expected += [max(np.abs(a).max(), np.abs(b).max()), a.mean(), b.mean()]
    expected += [x @ x, y @ y, x @ y]
    assert out == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_a_large_offset_loses_no_digits():
    rng = np.random.default_rng(4)
    a, b = rng.integers(0, 8, (2, 1000)) / 8
    one, two = np.empty(10), np.empty(10)
    kernels.difference_moments(a, b, one)
    kernels.difference_moments(a + 2**40, b + 2**40, two)
    assert two[:4] == pytest.approx(one[:4], rel=1e-13)
