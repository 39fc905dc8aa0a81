"""Normal draws with a covariance: their law, and that each is its own."""

from __future__ import annotations

import numpy as np
import pytest
from libraries import stats

from fastcmp.core.threads import ThreadPool
from fastcmp.kernels import random_normals
from fastcmp.kernels.rng import _word
from fastcmp.pairwise.gaussian_draws import (
    covariance_root,
    gaussian_draws,
    multiplier_draws,
)

#: Of rank 4: six models, of which one has no variance and one is very precise.
FACTORS = np.random.default_rng(1).normal(size=(6, 4))
FACTORS *= np.array([1.0, 1e-9, 5.0, 1.0, 2.0, 0.0])[:, None]
COVARIANCE = FACTORS @ FACTORS.T


def test_numbers_are_normal():
    out = np.empty((20, 500))
    random_normals(3, 7, 11, out)
    assert stats.kstest(out.ravel(), "norm").pvalue > 0.01
    parts = np.empty((1, 20))
    random_normals(3, 9, 31, parts)
    assert (parts[0] == out[2, 20:40]).all()


def test_numbers_are_quantiles_of_uniform_numbers():
    out = np.empty((1, 2000))
    random_normals(3, 7, 11, out)
    words = [int(_word(3, 7, 11 + i)) for i in range(2000)]
    uniform = [((word >> 12) + 0.5) * 2.0**-52 for word in words]
    np.testing.assert_allclose(out[0], stats.norm.ppf(uniform), rtol=1e-13)


def test_root_of_a_singular_covariance():
    root = covariance_root(COVARIANCE)
    assert root.shape == (6, 4)
    scale = np.sqrt(np.diagonal(COVARIANCE))
    size = np.maximum(np.outer(scale, scale), 1e-300)
    assert np.abs((root @ root.T - COVARIANCE) / size).max() < 1e-12
    assert (root[5] == 0).all()


def test_covariance_of_draws():
    draws = gaussian_draws(COVARIANCE, 20_000, 5)
    scale = np.where(np.diagonal(COVARIANCE) > 0, np.sqrt(np.diagonal(COVARIANCE)), 1)
    found = np.cov(draws / scale[:, None])
    wanted = COVARIANCE / np.outer(scale, scale)
    assert np.abs(found - wanted).max() < 0.04
    same = np.ones((2, 2))
    first, second = gaussian_draws(same, 100, 5)
    assert (first == second).all()


@pytest.mark.parametrize("n", [3, 5000])
def test_a_draw_is_a_function_of_the_seed_and_its_number(n):
    rows = np.random.default_rng(2).normal(size=(4, n))
    many = multiplier_draws(rows, 700, 5)
    assert (multiplier_draws(rows, 530, 5) == many[:, :530]).all()
    assert not np.isclose(multiplier_draws(rows, 1, 6), many[:, :1]).any()
    with ThreadPool(3) as pool:
        assert (multiplier_draws(rows, 700, 5, pool) == many).all()


def test_draws_are_products_with_the_numbers():
    rows = np.random.default_rng(2).normal(size=(4, 5000))
    numbers = np.empty((3, 5000))
    random_normals(5, 0, 0, numbers)
    np.testing.assert_allclose(multiplier_draws(rows, 3, 5), rows @ numbers.T, atol=1e-10)
