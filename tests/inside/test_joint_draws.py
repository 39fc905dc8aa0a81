"""Draws of many correlated statistics: their law, that each is its own, and their maxima."""

import numpy as np
import pytest
from libraries import stats

import fastcmp
from fastcmp import Estimates, simultaneous_pairs
from fastcmp.core.checks import Draws
from fastcmp.core.threads import ThreadPool
from fastcmp.kernels import random_normals
from fastcmp.kernels.rng import _word, lattice_normals
from fastcmp.pairwise import max_t
from fastcmp.pairwise.joint_draws import normal_joint


@pytest.fixture
def covariance():
    """Of rank 4: six models, of which one has no variance and one is very precise."""
    factors = np.random.default_rng(1).normal(size=(6, 4))
    factors *= np.array([1.0, 1e-9, 5.0, 1.0, 2.0, 0.0])[:, None]
    return factors @ factors.T


def test_numbers_are_normal():
    out = np.empty((20, 500))
    random_normals(3, 7, 11, out)
    assert stats.kstest(out.ravel(), "norm").pvalue > 0.01
    parts = np.empty((1, 20))
    random_normals(3, 9, 31, parts)
    assert (parts[0] == out[2, 20:40]).all()
    words = [int(_word(3, 7, 11 + i)) for i in range(500)]
    uniform = [((word >> 12) + 0.5) * 2.0**-52 for word in words]
    np.testing.assert_allclose(out[0], stats.norm.ppf(uniform), rtol=1e-13)


def test_root_of_a_singular_covariance(covariance):
    root = max_t.covariance_root(covariance)
    assert root.shape == (6, 4)
    scale = np.sqrt(np.diagonal(covariance))
    size = np.maximum(np.outer(scale, scale), 1e-300)
    assert np.abs((root @ root.T - covariance) / size).max() < 1e-12
    assert (root[5] == 0).all()


def test_covariance_of_draws(covariance):
    draws = max_t.gaussian_draws(covariance, 20_000, 5)
    scale = np.where(np.diagonal(covariance) > 0, np.sqrt(np.diagonal(covariance)), 1)
    found = np.cov(draws / scale[:, None])
    assert np.abs(found - covariance / np.outer(scale, scale)).max() < 0.04
    first, second = max_t.gaussian_draws(np.ones((2, 2)), 100, 5)
    assert (first == second).all()


@pytest.mark.parametrize("n", [3, 5000])
def test_a_draw_is_a_function_of_the_seed_and_its_number(n):
    rows = np.random.default_rng(2).normal(size=(4, n))
    many = max_t.normal_products(rows, 700, 5, None)
    assert (max_t.normal_products(rows, 530, 5, None) == many[:, :530]).all()
    assert (max_t.normal_products(rows, 700, 5, None, first=512) == many[:, 512:]).all()
    assert not np.isclose(max_t.normal_products(rows, 1, 6, None), many[:, :1]).any()
    with ThreadPool(3) as pool:
        assert (max_t.normal_products(rows, 700, 5, pool) == many).all()
    numbers = np.empty((3, n))
    random_normals(5, 0, 0, numbers)
    np.testing.assert_allclose(many[:, :3], rows @ numbers.T, atol=1e-10)


def test_a_lattice_is_even_and_the_same_from_any_point():
    steps, shifts = np.sqrt([2.0, 3.0, 5.0]), np.array([0.0, 0.3, 0.9])
    points, later = np.empty((3, 2000)), np.empty((3, 900))
    lattice_normals(steps, shifts, 0, points)
    lattice_normals(steps, shifts, 1100, later)
    assert (later == points[:, 1100:]).all()
    places = (steps[:, np.newaxis] * np.arange(1, 2001) + shifts[:, np.newaxis]) % 1.0
    np.testing.assert_allclose(points, stats.norm.ppf(np.abs(2 * places - 1)), atol=1e-9)
    assert np.abs(points.mean(axis=1)).max() < 0.005


def test_draws_follow_from_the_precision_that_is_wanted():
    level, weights = 0.95, np.where(np.eye(20, dtype=bool), 0.0, np.sqrt(0.5))
    rows = np.arange(1)
    with ThreadPool(1) as pool:
        exact = max_t.Maxima.of(np.eye(20), 100_000, 99, pool)
        maxima = exact.largest(weights[rows], rows)[0]
        levels, numbers = [], []
        for seed in range(30):
            draws = max_t.Maxima.of(np.eye(20), max_t.read_draws(None, 20, level), seed, pool)
            lacking = True
            while lacking:
                found = draws.largest(weights[rows], rows)
                critical = draws.quantiles(found, level)
                lacking = draws.draw_more()
            levels.append(exact.tails(maxima, critical)[0])
            numbers.append(draws.n_draws)
    assert np.sqrt(np.mean((np.array(levels) - 0.05) ** 2)) < 0.0025  # 0.002 is promised
    assert 512 <= min(numbers) <= max(numbers) < 11_875


def test_maxima_of_many_models_by_order_statistics():
    weights = 1.0 - np.eye(40)
    with ThreadPool(1) as pool:
        maxima = max_t.Maxima.of(np.eye(40), 700, 3, pool)
        found = maxima.largest(weights)
        rows = maxima.largest(weights[[4, 9]], np.array([4, 9]), apart=True)
        some = maxima.largest(weights, only=np.array([5, 600]))
        critical = maxima.quantiles(found, 0.9)
        tail = maxima.tails(found[0], critical)
    values = maxima.draws.values
    assert found[0] == pytest.approx(np.ptp(values, axis=0))
    assert rows == pytest.approx(values[[4, 9]] - values.min(axis=0))
    assert some[0] == pytest.approx(found[0, [5, 600]])
    assert np.count_nonzero(found[0] > critical) == 700 - np.ceil(0.9 * 701)
    assert tail == pytest.approx((2 + 700 - np.ceil(0.9 * 701)) / 701)
    assert max_t.order_statistics(np.arange(19.0)[None], 0.95) == [18.0]
    assert max_t.order_statistics(np.arange(39.0)[None], 0.95) == [37.0]


@pytest.mark.parametrize("n_models", [2, 40])
def test_maximum_of_one_pair_is_t(n_models):
    weights = np.zeros((n_models, n_models))
    weights[0, 1] = weights[1, 0] = np.sqrt(0.5)
    with ThreadPool(1) as pool:
        maxima = max_t.Maxima.of(np.eye(n_models), 20_000, 5, pool, df=6.0)
        found = maxima.largest(weights)
        critical = maxima.quantiles(found, 0.95)[0]
        tails = maxima.tails(found[0], np.array([1.0, 3.0]))
    near = 1e-5 if n_models == 2 else 0.03
    assert critical == pytest.approx(stats.t.ppf(0.975, 6), rel=near)
    assert tails == pytest.approx(2 * stats.t.sf([1.0, 3.0], 6), rel=4 * near)


@pytest.mark.parametrize("n_models", [2, 5, 30])
@pytest.mark.parametrize("level", [0.3, 0.95, 0.995])
def test_levels_are_those_of_every_draw_by_itself(n_models, level):
    root = np.random.default_rng(n_models).normal(size=(n_models, 2 * n_models))
    squares = ((root[:, np.newaxis] - root) ** 2).sum(axis=2)
    weights = np.divide(1.0, np.sqrt(squares), out=np.zeros_like(squares), where=squares > 0.0)
    weights[0, 1:] *= 1e-3  # hardly ever the largest; of two models a half are 0
    with ThreadPool(1) as pool:
        maxima = max_t.Maxima.of(root @ root.T, 2000, 5, pool)
        found = maxima.largest(weights, np.arange(n_models), apart=True)
        critical = maxima.quantiles(found, level)
    df, lengths = maxima.draws.df, np.resize(maxima.draws.lengths, found.shape[1])
    for row, q in zip(found, critical, strict=True):
        below = np.ones(row.size)
        some = row > 0.0
        below[some] = stats.chi.cdf(q * lengths[some] / row[some], df)
        if q > 0.0:
            assert below.mean() == pytest.approx(level, abs=5e-6)
        else:
            assert np.count_nonzero(~some) >= level * row.size


def test_high_ranks_and_degrees_of_freedom():
    """More models than directions are spread evenly for; draws of t are counted."""
    rng = np.random.default_rng(2)
    root = rng.normal(size=(40, 39)) * 0.1
    i, j = np.triu_indices(40, 1)
    pairs = np.stack([i, j], axis=1).astype(np.int32)
    inverse = 1 / np.sqrt(((root[i] - root[j]) ** 2).sum(axis=1))
    statistic = rng.normal(size=i.size) * 2
    with ThreadPool(2) as pool:
        squares = ((root[:, np.newaxis] - root) ** 2).sum(axis=2)
        joint = normal_joint(squares, Draws(2000, 4), 9.0, pool)
        assert joint.rank == 39
        known = (joint, pairs, statistic, inverse, pool)
        counted = max_t.joint_pvalues(*known)
        integrated = max_t.joint_pvalues(*known, integrated=True)
    np.testing.assert_allclose(counted, integrated, atol=0.05)


def test_many_pairs_are_counted(monkeypatch):
    rng = np.random.default_rng(5)
    root = rng.normal(size=(5, 6))
    known = rng.normal(size=5) * 2, root @ root.T / 5
    options = {"n_resamples": 4000, "rng": 1}
    steps = ("single", "down")
    found = [
        simultaneous_pairs(Estimates(*known), step=x, **options).pvalue_adjusted for x in steps
    ]
    monkeypatch.setattr("fastcmp.pairwise.max_t._INTEGRATED", 1000)
    counted = [
        simultaneous_pairs(Estimates(*known), step=x, **options).pvalue_adjusted for x in steps
    ]
    np.testing.assert_allclose(counted, found, atol=0.02)
    assert (found[1] < found[0] - 0.02).any()


def test_steps_of_rank_sets_look_again_at_all_draws_that_matter(monkeypatch):
    from fastcmp.pairwise import rank_sets

    rng = np.random.default_rng(5)
    values = rng.normal(size=(60, 40)) + np.linspace(0, 3, 60)[:, np.newaxis]
    wanted = fastcmp.rank_sets(values, n_resamples=500, rng=1)
    monkeypatch.setattr(rank_sets, "_AGAIN", 0.0)
    again = fastcmp.rank_sets(values, n_resamples=500, rng=1)
    assert (again.lower == wanted.lower).all()
    assert (again.upper == wanted.upper).all()
    assert again.critical_value == wanted.critical_value
