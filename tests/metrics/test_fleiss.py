"""Fleiss' kappa: values, standard errors, intervals and tests."""

from math import inf, isnan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from libraries import pd, stats
from reference_cases import agree, parametrize

from fastcmp import fleiss_kappa
from fastcmp.kernels import UNDEFINED

COUNTS = [[3, 0, 0], [2, 1, 0], [0, 3, 0], [0, 1, 2], [1, 1, 1], [0, 0, 3], [3, 0, 0]]


@parametrize("fleiss_kappa")
def test_against_references(case):
    data = case["input"]
    found = fleiss_kappa(rating_counts=data["rating_counts"], multiplicity=data["row_multiplicity"])
    agree(case, found, "value", "statistic", standard_error="se", standard_error_null="se_null")


def ratings(most_raters=5, most_items=12, n_labels=3):
    sizes = st.tuples(st.integers(2, most_raters), st.integers(1, most_items))
    return sizes.flatmap(
        lambda size: hnp.arrays(np.int64, size, elements=st.integers(0, n_labels - 1))
    )


def counts_of(codes, k):
    return np.array([[np.sum(column == j) for j in range(k)] for column in codes.T])


def naive(weights, counts):
    """Kappa from the proportion of agreeing pairs of raters, items weighted."""
    m = counts[0].sum()
    agreed = [sum(c * (c - 1) for c in row.tolist()) / (m * (m - 1)) for row in counts]
    p = weights @ counts / (m * weights.sum())
    by_chance = float(np.sum(p**2))
    agreed = float(np.dot(weights, agreed)) / weights.sum()
    return (agreed - by_chance) / (1 - by_chance)


@pytest.mark.filterwarnings("ignore:ratings holds")
@given(ratings())
def test_against_statsmodels_and_definitions(codes):
    from statsmodels.stats.inter_rater import fleiss_kappa as peer

    m, n = codes.shape
    found = fleiss_kappa(codes)
    counts = counts_of(codes, 3)
    if len(np.unique(codes)) == 1:
        assert found.status == UNDEFINED
        return
    assert found.value == pytest.approx(peer(counts), abs=1e-12)
    p = counts.sum(axis=0) / counts.sum()
    assert found.label_shares == pytest.approx(p[np.unique(codes)])
    # Derivatives by the weights of the items; divisor n (n - 1).
    if n == 1:
        assert isnan(found.standard_error)
        return
    slopes = []
    for i in range(n):
        up, down = np.ones(n), np.ones(n)
        up[i], down[i] = 1 + 1e-5, 1 - 1e-5
        slopes.append((naive(up, counts) - naive(down, counts)) / 2e-5)
    error = np.sqrt(np.sum(np.square(slopes)) * n / (n - 1))
    assert found.standard_error == pytest.approx(error, rel=1e-5, abs=1e-9)
    q = 1 - p
    s = p @ q
    null = np.sqrt(2 * (s**2 - np.sum(p * q * (q - p))) / (n * m * (m - 1))) / s
    assert found.standard_error_null == pytest.approx(null, rel=1e-6)
    assert found.pvalue == pytest.approx(2 * stats.norm.sf(abs(found.value / null)))


def test_kappas_of_labels():
    found = fleiss_kappa(rating_counts=COUNTS)
    for j in range(3):
        alone = np.column_stack([np.array(COUNTS)[:, j], 3 - np.array(COUNTS)[:, j]])
        single = fleiss_kappa(rating_counts=alone)
        assert found.label_kappas[j] == pytest.approx(single.value)
        assert found.label_pvalues[j] == pytest.approx(single.pvalue)
    weights = found.label_shares * (1 - found.label_shares)
    mean = np.sum(weights * found.label_kappas) / weights.sum()
    assert mean == pytest.approx(found.value)


def test_intervals():
    more = fleiss_kappa(rating_counts=COUNTS, alternative="greater", interval="wald")
    low = more.value - stats.norm.isf(0.05) * more.standard_error
    assert tuple(more.interval) == pytest.approx((low, 1))


# Edges.


def test_one_label_only_is_undefined():
    found = fleiss_kappa([[1, 1, 1], [1, 1, 1]])
    assert found.status == UNDEFINED
    numbers = (found.value, found.standard_error, found.standard_error_null)
    assert np.isnan([*numbers, found.statistic, found.pvalue, *found.interval]).all()
    assert np.isnan(found.label_kappas).all()
    assert "undefined" in str(found)
    assert fleiss_kappa(rating_counts=[[0, 4], [0, 4]]).status == UNDEFINED


@pytest.mark.parametrize(
    ("counts", "said"),
    [
        ([[3, 0], [0, 3], [3, 0], [0, 3]], "gives no interval"),  # all raters agree
        ([[2, 1], [2, 1], [2, 1]], "gives no interval"),  # all items are alike
        ([[2, 1]], "standard error -"),
    ],
)
def test_no_interval(counts, said):
    found = fleiss_kappa(rating_counts=counts)
    assert found.standard_error == 0 or isnan(found.standard_error)
    assert found.value == 1 or found.value < 0
    assert np.isnan(found.interval).all()
    assert said in str(found)


def test_labels_choose_items():
    a, b, c = [0, 1, 2, 0, 1, 1], [0, 1, 1, 1, 1, 0], [0, 1, 1, 1, 1, 1]
    found = fleiss_kappa([a, b, c], labels=[0, 1])
    assert found.n_excluded == 1
    rest = fleiss_kappa(np.array([a, b, c])[:, [0, 1, 3, 4, 5]])
    assert found.value == rest.value
    assert "1 items with other labels were left out." in str(found)
    never = fleiss_kappa(rating_counts=[[3, 0, 0], [1, 2, 0], [0, 3, 0]], labels=list("xyz"))
    assert np.isnan(never.label_kappas).tolist() == [False, False, True]
    assert isnan(never.label_pvalues[2])
    assert "nan" not in str(never)


def test_raters_of_any_form():
    codes = np.random.default_rng(2).integers(3, size=(3, 30))
    codes[1] = np.where(np.arange(30) % 3, codes[0], codes[1])
    names = np.array(["x", "y", "z"])[codes]
    expect = fleiss_kappa(codes)
    by_name = dict(zip("abc", names, strict=True))
    for given_ in (names, by_name, pd.DataFrame(by_name), codes.astype(float).tolist()):
        found = fleiss_kappa(given_)
        assert (found.value, found.pvalue) == (expect.value, expect.pvalue)
    with pytest.warns(UserWarning, match=r"^ratings holds 30 raters of 3 items"):
        fleiss_kappa(codes.T)
    fleiss_kappa(pd.DataFrame(codes))


# Wrong input.


@pytest.mark.parametrize(
    ("counts", "options", "message"),
    [
        ([[1, 0], [0, 1]], {}, "rating_counts must hold at least 2 raters"),
        ([3, 0], {}, r"rating_counts must be of shape \(n, K\)"),
        (COUNTS, {"multiplicity": [inf] * 7}, "multiplicity must be at mos"),
        (COUNTS, {"labels": ["x", "y"]}, "labels must name the 3 columns"),
    ],
)
def test_bad_counts(counts, options, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        fleiss_kappa(rating_counts=counts, **options)
