"""Moments of all pairs against those of each, whichever way they are gathered."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from item_designs import Design, designs, naive

from fastcmp.core.threads import ThreadPool
from fastcmp.counts import value_sums
from fastcmp.counts.units import plan_units
from fastcmp.counts.value_sums import difference_of, pair_moments, unit_sums
from fastcmp.inputs.item_groups import read_item_groups
from fastcmp.inputs.values import read_values


def gathered(values, design, variance=None, df="satterthwaite"):
    read = read_values(values)
    groups = read_item_groups(values.shape[1], **design.options)
    plan = plan_units(groups, variance, df)
    return read, plan


@given(designs(), st.sampled_from([1, 5]))
def test_moments_are_those_of_each_pair(drawn, threads):
    values, design = drawn
    read, plan = gathered(values, design)
    with ThreadPool(threads) as pool:
        found = pair_moments(read, plan, pool)
    variance = "cr1" if design.crossed else "cr2"
    assert (found.n_items, found.n_units) == (values.shape[1], plan.n_units)
    own = np.diagonal(found.covariance)
    for i, a in enumerate(values):
        alone = naive(a, np.zeros_like(a), design, variance)
        assert found.mean[i] == pytest.approx(alone.difference, rel=1e-12, abs=1e-15)
        near = {"rel": 1e-8, "abs": 1e-25 * np.abs(a).max() ** 2}
        assert found.variance[i] == pytest.approx(alone.variance, **near)
        for j in range(i):
            wanted = naive(a, values[j], design, variance)
            got = own[i] + own[j] - 2 * found.covariance[i, j]
            slack = 1e-13 * (found.scale[i] + found.scale[j])
            assert got == pytest.approx(wanted.variance, rel=1e-8, abs=slack)
            got = found.relative[i] - found.relative[j]
            assert got == pytest.approx(
                wanted.difference, rel=1e-8, abs=1e-14 * np.abs(values).max()
            )
            again = difference_of(read.columns[i], read.columns[j], plan)
            assert again.difference == pytest.approx(
                wanted.difference, rel=1e-9, abs=4e-16 * np.abs(values).max()
            )
            assert again.variance == pytest.approx(wanted.variance, rel=1e-9, abs=1e-25)
            assert again.df == pytest.approx(wanted.df, rel=1e-6)


@given(designs(crossed=False))
def test_sums_of_units_give_the_means(drawn):
    values, design = drawn
    read, plan = gathered(values, design)
    with ThreadPool(2) as pool:
        sums, sizes, strata, weights, _ = unit_sums(read, plan, pool)
    assert (np.diff(strata) >= 0).all()
    assert weights.sum() == pytest.approx(1)
    for row, x in zip(sums, values, strict=True):
        mean = sum(
            w * row[strata == h].sum() / sizes[strata == h].sum() for h, w in enumerate(weights)
        )
        wanted = naive(x, np.zeros_like(x), design).difference
        assert mean == pytest.approx(wanted, rel=1e-12, abs=1e-14)
    whole = read_values((values > values.mean()).astype(float))
    if design.weights is None:  # whole numbers stay whole numbers
        with ThreadPool(1) as pool:
            counted = unit_sums(whole, plan, pool).sums
        np.testing.assert_array_equal(counted, np.rint(counted))


def test_values_that_are_alike_are_not_multiplied_as_they_are(monkeypatch):
    """Where squares hide the differences they are gathered in blocks."""
    monkeypatch.setattr(value_sums, "_LARGE", 1)
    rng = np.random.default_rng(1)
    values = 1e5 + rng.normal(size=400) + 1e-3 * rng.normal(size=(12, 400))
    asked = []
    blocks = value_sums.item_grams
    monkeypatch.setattr(value_sums, "item_grams", lambda *x: asked.append(1) or blocks(*x))
    plain = read_values(values)
    plan = plan_units(read_item_groups(400))
    with ThreadPool(1) as pool:
        found = pair_moments(plain, plan, pool)
        assert asked
        asked.clear()
        pair_moments(read_values(values - values.mean(1, keepdims=True)), plan, pool)
    own = np.diagonal(found.covariance)
    got = own[0] + own[1] - 2 * found.covariance[0, 1]
    d = (values[0] - 1e5) - (values[1] - 1e5)
    assert got == pytest.approx(d.var(ddof=1) / 400, rel=1e-6)
    assert found.scale[0] < 1  # what is common is gone


def test_degrees_of_freedom_are_shared_where_they_can_be():
    values = np.random.default_rng(1).normal(size=(3, 30))
    groups, strata = np.arange(30) // 3, np.arange(30) // 15
    for design, df, shape in (
        (Design(), "satterthwaite", ()),
        (Design(groups), "satterthwaite", ()),
        (Design(groups, strata), "satterthwaite", (3, 3)),
        (Design(groups, strata), "clusters", ()),
        (Design(None, strata), "normal", ()),
        (Design(groups, np.arange(30) % 2, crossed=True), "satterthwaite", ()),
    ):
        read, plan = gathered(values, design, df=df)
        with ThreadPool(1) as pool:
            assert np.shape(pair_moments(read, plan, pool).df) == shape
