"""Moments of all pairs against those of each, whichever way they are gathered."""

import numpy as np
import pytest
from item_designs import Design

from fastcmp.core.threads import ThreadPool
from fastcmp.counts import value_sums
from fastcmp.counts.units import plan_units
from fastcmp.counts.value_sums import pair_moments
from fastcmp.inputs.item_groups import read_item_groups
from fastcmp.inputs.values import read_values


def gathered(values, design, variance=None, df="satterthwaite"):
    read = read_values(values)
    groups = read_item_groups(values.shape[1], **design.options)
    plan = plan_units(groups, variance, df)
    return read, plan


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
