"""Random gamma numbers, and the largest of three Dirichlet components."""

import numpy as np
import pytest
from libraries import mpmath, stats

from fastcmp.kernels import dirichlet_largest, random_exponentials, random_gamma


def exponentials(replicate, start, shape):
    out = np.empty(shape)
    random_exponentials(3, replicate, start, out)
    return out


def test_exponentials_are_exponential_and_each_its_own():
    found = exponentials(0, 0, (10, 4000))
    assert stats.kstest(found.ravel(), "expon").pvalue > 0.001
    assert np.array_equal(exponentials(2, 1, (5, 30)), found[1:6, 2:32])


@pytest.mark.parametrize("shape", [0.2, 0.5, 1.0, 2.5, 60.0])
def test_gamma(shape):
    found = [random_gamma(shape, 5, i, 9) for i in range(20_000)]
    assert stats.kstest(found, stats.gamma(shape).cdf).pvalue > 0.001


def test_gamma_at_its_edges():
    assert random_gamma(0.0, 1, 2, 3) == 0
    assert np.isnan(random_gamma(-1.0, 1, 2, 3))


@pytest.mark.parametrize("alpha", [(1, 1, 1), (0.5, 2, 3), (3, 20, 7), (60, 2, 55), (2, 90, 1)])
def test_the_largest_component(alpha):
    a, b, c = map(mpmath.mpf, alpha)

    def density(x):
        others = mpmath.gammainc(b, 0, x, regularized=True)
        others *= mpmath.gammainc(c, 0, x, regularized=True)
        return mpmath.exp((a - 1) * mpmath.log(x) - x) / mpmath.gamma(a) * others

    points = [mpmath.mpf(0), 1, *range(5, 150, 12), 400]
    with mpmath.workdps(25):
        wanted = mpmath.quad(density, points)
    found = dirichlet_largest(*map(float, alpha))
    assert found == pytest.approx(float(wanted), rel=1e-11)


@pytest.mark.parametrize(
    "alpha", [(0.001, 0.002, 0.003), (4000, 4100, 1), (1e5, 1e5, 1e5), (1, 1e4, 3)]
)
def test_the_three_add_up(alpha):
    turns = [np.roll(alpha, -k) for k in range(3)]
    parts = [dirichlet_largest(*map(float, x)) for x in turns]
    assert sum(parts) == pytest.approx(1, abs=1e-9)
    assert min(parts) >= 0


def test_components_that_are_zero():
    assert dirichlet_largest(0.0, 1.0, 2.0) == 0
    assert dirichlet_largest(2.0, 0.0, 0.0) == 1
    wanted = stats.beta(3, 2).sf(0.5)
    assert dirichlet_largest(3.0, 0.0, 2.0) == pytest.approx(wanted)
    assert dirichlet_largest(3.0, 2.0, 0.0) == pytest.approx(wanted)
    for wrong in ((0.0, 0.0, 0.0), (-1.0, 1.0, 1.0), (1.0, np.nan, 1.0)):
        assert np.isnan(dirichlet_largest(*wrong))
    assert np.isnan(dirichlet_largest(np.inf, 1.0, 1.0))
