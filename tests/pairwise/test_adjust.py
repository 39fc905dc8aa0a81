"""Adjusted p-values, held against statsmodels, SciPy, R and the definitions."""

import warnings
from itertools import product

import naive
import numpy as np
import pytest
from hypothesis import given
from reference_cases import parametrize
from strategies import pvalues

from fastcmp import adjust

PEERS = (
    {"bonferroni": "bonferroni", "sidak": "sidak", "holm": "holm"}
    | {"holm-sidak": "holm-sidak", "hochberg": "simes-hochberg", "hommel": "hommel"}
    | {"bh": "fdr_bh", "by": "fdr_by"}
)
METHODS = [*PEERS, "none"]


def ordered_and_plain(m, seed):
    """Draw p-values with ties, among them 0 and 1."""
    rng = np.random.default_rng(seed)
    values = rng.beta(0.3, 1.5, size=m)
    values[rng.random(m) < 0.3] = rng.choice([0.0, 1.0, 0.01, 0.5])
    return np.where(rng.random(m) < 0.3, values.round(2), values)


@pytest.mark.parametrize("method", PEERS)
def test_statsmodels_agrees(method):
    from statsmodels.stats.multitest import multipletests

    for m, seed in product((1, 2, 3, 10, 101), (0, 1)):
        values = ordered_and_plain(m, seed)
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            peer = multipletests(values, method=PEERS[method])[1]
        np.testing.assert_allclose(adjust(values, method=method), peer, rtol=1e-9, atol=1e-14)


@parametrize("p_adjust")
def test_references_agree(case):
    for name, values in case["expected"].items():
        found = adjust(case["input"]["pvalues"], method=name.lower())
        np.testing.assert_allclose(found, values, rtol=1e-10, atol=0, err_msg=name)


@given(pvalues())
def test_definitions_agree(values):
    for method in (*PEERS, "finner", "li"):
        name = method.upper() if method in {"bh", "by"} else method
        oracle = naive.adjust(values, name)
        found = adjust(values, method=method)
        np.testing.assert_allclose(found, oracle, rtol=1e-9, atol=1e-307, err_msg=method)


def test_the_default_is_holm():
    values = [0.01, 0.02, 0.04]
    assert adjust(values).tolist() == adjust(values, method="holm").tolist()
    assert adjust(values).tolist() == pytest.approx([0.03, 0.04, 0.04])


@pytest.mark.parametrize("method", METHODS)
def test_nan_stays_and_shapes_are_kept(method):
    values = np.array([[0.01, np.nan, 0.03], [np.nan, 0.02, 0.5]])
    adjusted = adjust(values, method=method)
    assert np.isnan(adjusted).tolist() == np.isnan(values).tolist()
    known = values[~np.isnan(values)]
    np.testing.assert_array_equal(adjusted[~np.isnan(values)], adjust(known, method=method))
    values = np.random.default_rng(1).random((3, 4, 5))
    adjusted = adjust(values, method=method)
    np.testing.assert_array_equal(adjusted.ravel(), adjust(values.ravel(), method=method))
    np.testing.assert_array_equal(adjust(values.T, method=method), adjusted.T)
    assert adjust(np.zeros((2, 0)), method=method).shape == (2, 0)
    for number in (0.03, 0.0, 1.0, 1):
        adjusted = adjust(number, method=method)
        assert isinstance(adjusted, float)
        assert adjusted == pytest.approx(number)
    assert np.isnan(adjust(float("nan"), method=method))


@pytest.mark.parametrize("method", METHODS)
def test_extremes(method):
    assert adjust([0.0, 1.0, 0.0], method=method).tolist() == [0.0, 1.0, 0.0]
    tiny = adjust([1e-300, 1e-200], method=method)
    assert (tiny > 0).all()
    assert (tiny < 1e-199).all()


# Many p-values are sorted in another way.


def by_sorting(p, method):
    """Adjust an ascending column by the formulas of a step up or down."""
    m = p.size
    left, rank = m - np.arange(m), np.arange(1, m + 1)
    with np.errstate(divide="ignore"):
        sidak = -np.expm1(left * np.log1p(-p))
    if method in ("holm", "holm-sidak"):
        return np.minimum(np.maximum.accumulate(p * left if method == "holm" else sidak), 1)
    harmonic = (1 / rank).sum() if method == "by" else 1
    factor = left if method == "hochberg" else m / rank * harmonic
    return np.minimum.accumulate(np.minimum(p * factor, 1)[::-1])[::-1]


@pytest.mark.parametrize("method", ["holm", "holm-sidak", "hochberg", "bh", "by"])
def test_many(method):
    rng = np.random.default_rng(5)
    p = rng.random(300_000)
    p[:1_000] = 10.0 ** (-330 * p[:1_000])  # zeros and subnormals among them
    p.sort()
    order = rng.permutation(p.size)
    found = np.empty_like(p)
    found[order] = adjust(p[order], method=method)
    np.testing.assert_allclose(found, by_sorting(p, method), rtol=1e-10, atol=1e-307)
    holes = np.insert(p[order], 7, np.nan)
    np.testing.assert_array_equal(np.delete(adjust(holes, method=method), 7), found[order])


def test_li_beside_a_p_value_that_rounding_holds_below_1():
    # An exact test of 94 against 95 has a p-value of 1, computed as 1 - 1.1e-16.
    assert adjust([2.7e-20, 1.3e-8, 1 - 2**-53], method="li").tolist() == [1.0, 1.0, 1.0]


@pytest.mark.parametrize("method", [*METHODS, "finner", "li"])
@pytest.mark.parametrize("values", [[0.0, 0.0], [np.nan], [], [0.0, np.nan, -0.0]])
def test_nothing_to_sort(values, method):
    np.testing.assert_array_equal(adjust(values, method=method), np.array(values, float))
