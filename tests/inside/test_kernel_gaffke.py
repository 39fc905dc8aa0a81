"""Gaffke's bound: against the binomial, and against exponential weights."""

import math

import numpy as np
import pytest
from both_tiers import both_tiers  # noqa: F401
from libraries import special, stats

from fastcmp.kernels.bounded_means import bounded_limit, bounded_score


@pytest.mark.parametrize(("n", "failed"), [(5, 0), (5, 2), (20, 0), (20, 7), (100, 1), (1000, 30)])
@pytest.mark.parametrize("margin", [0.02, 0.1, 0.3, 0.5])
def test_units_that_fail_or_not(n, failed, margin):
    units = np.array([0.0, -1.0]), np.ones(2), np.array([n - failed, failed], float)
    wanted = stats.beta.sf(margin, failed + 1, n - failed)  # Clopper and Pearson
    found = special.ndtr(bounded_score(*units, -margin))
    assert found == pytest.approx(wanted, rel=0.06, abs=1e-12)
    assert found >= wanted or wanted > 0.5
    limit = bounded_limit(*units, 0.05)
    assert special.ndtr(bounded_score(*units, limit)) == pytest.approx(0.05, rel=1e-6)


def test_units_of_any_weight():
    rng = np.random.default_rng(1)
    weight = rng.integers(1, 30, 12).astype(float)
    gain = np.round(weight * rng.uniform(-0.5, 0.3, 12))
    drawn = rng.exponential(size=(400_000, 13))
    sums = drawn @ np.append(gain + 0.2 * weight, -0.8 * weight.max())
    found = special.ndtr(bounded_score(gain, weight, np.ones(12), -0.2))
    assert found == pytest.approx((sums <= 0).mean(), rel=0.03)
    twice = np.tile(gain, 2), np.tile(weight, 2), np.repeat([1.0, 0.0], 12)
    assert bounded_score(*twice, -0.2) == pytest.approx(
        bounded_score(gain, weight, np.ones(12), -0.2)
    )


def test_ends():
    units = np.ones(1), np.ones(1), np.array([4.0])
    assert bounded_score(*units, 1.0) == math.inf
    assert bounded_score(*units, -1.0) == -math.inf
    assert bounded_limit(-units[0], *units[1:], 0.05) == -1.0
