"""What plans of AUCs are made of: binormal areas, their slopes and variances."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from libraries import integrate, special, stats

import fastcmp
from fastcmp.planning import aucs


@given(area=st.floats(0.01, 0.99), positives=st.integers(1, 999), negatives=st.integers(1, 999))
def test_hanley_and_mcneil_as_the_public_function_has_it(area, positives, negatives):
    found = aucs.hanley_mcneil_variance(area, positives, negatives)
    wanted = fastcmp.hanley_mcneil(area, positives, negatives) ** 2
    assert found == pytest.approx(wanted, rel=1e-12)


LIMITS = (-3.0, -0.4, 0.0, -1e-200, 1e-200, 1.7)


@pytest.mark.parametrize("r", [-0.9, 0.0, 0.35, 0.95])
def test_two_normals_below_limits(r):
    root = (1 - r * r) ** 0.5
    for h, k in itertools.product(LIMITS, LIMITS):
        wanted, _ = integrate.quad(
            lambda x, k=k: np.exp(-x * x / 2) * special.ndtr((k - r * x) / root),
            *(-9, h),
            epsabs=1e-11,
        )
        wanted /= (2 * np.pi) ** 0.5
        assert aucs.both_below(h, k, r) == pytest.approx(wanted, abs=1e-9)


@pytest.mark.parametrize("rates", [(0.0, 1.0), (0.0, 0.2), (0.3, 0.5), (0.5, 1.0)])
@pytest.mark.parametrize(("a", "b"), [(1.2, 0.9), (-0.5, 2.0), (0.0, 1.0), (2.6, 1.0)])
def test_areas_are_integrals_and_their_slopes_derivatives(a, b, rates):
    def height(t):
        return stats.norm.cdf(a + b * stats.norm.ppf(t))

    area, _ = integrate.quad(height, *rates, epsabs=1e-12)
    assert aucs.Binormal(a, b, rates).area == pytest.approx(area, abs=1e-9)
    step = 1e-5
    by_a = aucs.Binormal(a + step, b, rates).area - aucs.Binormal(a - step, b, rates).area
    by_b = aucs.Binormal(a, b + step, rates).area - aucs.Binormal(a, b - step, rates).area
    slopes = aucs.Binormal(a, b, rates).slopes()
    np.testing.assert_allclose(slopes, [by_a / 2 / step, by_b / 2 / step], atol=1e-9)


def test_the_printed_variance_lacks_a_covariance():
    """The covariance of two equal curves with correlation 1 is their variance."""
    curve = aucs.Binormal(1.2, 0.9)
    whole = aucs.fitted_areas(curve, curve, 2.0, aucs.Correlations(1.0, 1.0))
    assert whole.variance_a == pytest.approx(whole.covariance, rel=1e-12)
    printed = aucs.fitted_areas(curve, curve, 2.0, aucs.Correlations(1.0, 1.0), printed=True)
    assert printed.variance_a > 1.3 * whole.variance_a
    assert printed.covariance == whole.covariance


def two_curves():
    return aucs.Binormal(1.2, 0.9), aucs.Binormal(0.9, 1.1)


def drawn_scores(rng, n_sets, n, ratio):
    """Draw scores of two models with binormal curves: of positives, of negatives."""
    found = []
    for size, r in zip((n, ratio * n), (0.5, 0.3), strict=True):
        first, second = rng.normal(size=(2, n_sets, size))
        found.append((first, r * first + (1 - r * r) ** 0.5 * second))
    return [(found[0][k] + a, found[1][k] * b) for k, (a, b, _) in enumerate(two_curves())]


def test_variances_are_those_of_drawn_scores():
    """Areas of fitted curves vary so over data sets; DeLong's covariance is so."""
    rng, n = np.random.default_rng(5), 50
    fitted = [
        stats.norm.cdf((x.mean(1) - y.mean(1)) / np.sqrt(x.var(1) + y.var(1)))
        for x, y in drawn_scores(rng, 2000, n, 2)
    ]
    found, wanted = (
        n * np.cov(*fitted),
        aucs.fitted_areas(*two_curves(), 2, aucs.Correlations(0.5, 0.3)),
    )
    np.testing.assert_allclose(np.diag(found), wanted[:2], rtol=0.1)
    assert found[0, 1] == pytest.approx(wanted.covariance, rel=0.12)
    truth = np.repeat([1, 0], [4000, 8000])
    scores = [np.concatenate([x[0], y[0]]) for x, y in drawn_scores(rng, 1, 4000, 2)]
    found = 4000 * fastcmp.delong(truth, scores).covariance
    wanted = aucs.empirical_areas(*two_curves(), 2, aucs.Correlations(0.5, 0.3))
    np.testing.assert_allclose(np.diag(found), wanted[:2], rtol=0.05)
    assert found[0, 1] == pytest.approx(wanted.covariance, rel=0.1)
