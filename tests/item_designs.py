"""Designs of items, and means of differences worked out with matrices, pair by pair."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from hypothesis import strategies as st
from libraries import stats

#: What a variance or a residual below this proportion of the values is: rounding.
ROUNDING = 1e-11


class Found(NamedTuple):
    """The difference of two means by its definition."""

    difference: float
    variance: float
    df: float

    def pvalue(self, side=0):
        """Test by t, or by z where the degrees of freedom are infinite."""
        if self.variance == 0:
            return 1.0 if self.difference == 0 else float(side * self.difference < 0)
        t = self.difference / self.variance**0.5
        if side:
            return float(stats.t.sf(side * t, self.df))
        return float(2 * stats.t.sf(abs(t), self.df))

    def ends(self, level=0.95):
        """The two-sided interval."""
        spread = stats.t.isf((1 - level) / 2, self.df) * self.variance**0.5
        return self.difference - spread, self.difference + spread


def one_stratum(d, weights, codes, variance, df):
    """Mean, variance and degrees of freedom, clusters by matrices of n x n."""
    total, n = weights.sum(), d.size
    if n > 1000:  # items alone
        return Found(float(d.mean()), float(d.var(ddof=1) / n), n - 1.0)
    residual = np.eye(n) - np.outer(np.ones(n), weights / total)
    rows = []
    for g in np.unique(codes):
        own = np.where(codes == g, weights, 0.0)
        row, square = own @ residual, float(own @ own)
        factor = {
            "cr0": 1.0,
            "cr1": np.unique(codes).size / (np.unique(codes).size - 1.0),
            "cr2": square / float(row @ row) if square else 1.0,
            "cr3": (1 - own.sum() / total) ** -2.0,
        }[variance]
        rows.append(factor**0.5 * row / total)
    rows = np.array(rows)
    found = rows @ d
    found[np.abs(found) <= ROUNDING * np.abs(d).max(initial=0.0)] = 0.0
    omega = rows @ rows.T
    degrees = np.trace(omega) ** 2 / np.sum(omega**2)
    if df == "clusters":
        degrees = len(rows) - 1.0
    return Found(float(weights @ d / total), float(found @ found), float(degrees))


def naive(a, b, design, variance="cr2", df="satterthwaite"):
    """Compare two models that have a value for each item."""
    d = np.asarray(a, float) - np.asarray(b, float)
    n = d.size
    weights = np.ones(n) if design.weights is None else design.weights
    codes = np.arange(n) if design.groups is None else design.groups
    strata = np.zeros(n, int) if design.strata is None else design.strata
    labels = np.unique(strata)
    sizes = np.array([weights[strata == h].sum() for h in labels])
    share = sizes / sizes.sum()
    if isinstance(design.stratum_weights, dict):
        share = np.array([design.stratum_weights[h] for h in labels], float)
        share /= share.sum()
    elif design.stratum_weights == "equal":
        share = np.full(labels.size, 1 / labels.size)
    if design.crossed:
        found = across(d, weights, codes, strata, dict(zip(labels, share, strict=True)))
        return found._replace(df=np.inf) if df == "normal" else found
    parts = [
        one_stratum(*(x[strata == h] for x in (d, weights, codes)), variance, df) for h in labels
    ]
    difference = float(share @ [x.difference for x in parts])
    own = share**2 * [x.variance for x in parts]
    total, degrees = float(own.sum()), np.array([x.df for x in parts])
    if df == "normal":
        return Found(difference, total, np.inf)
    if df == "clusters" or total == 0:
        return Found(difference, total, float(degrees.sum()))
    return Found(difference, total, total**2 / float(np.sum(own**2 / degrees)))


def across(d, weights, codes, strata, share):
    """Clusters that lie across strata: linearized residuals, added up by cluster."""
    residual, difference = np.zeros(d.size), 0.0
    for h, weight in share.items():
        own = strata == h
        mean = np.average(d[own], weights=weights[own])
        difference += weight * mean
        residual[own] = weight * weights[own] * (d[own] - mean) / weights[own].sum()
    sums = np.bincount(codes, residual)
    sums[np.abs(sums) <= ROUNDING * np.abs(d).max()] = 0.0
    n = np.unique(codes).size
    variance = n / (n - 1) * float(sums @ sums)
    return Found(float(difference), variance, n - 1.0)


class Design(NamedTuple):
    """What is known of items beside their values."""

    groups: object = None
    strata: object = None
    stratum_weights: object = "items"
    weights: object = None
    crossed: bool = False

    @property
    def options(self):
        """Arguments of the functions that compare means."""
        found = {"groups": self.groups, "strata": self.strata, "weights": self.weights}
        if self.strata is not None:
            found["stratum_weights"] = self.stratum_weights
        return found

    def on(self, items):
        """The same of some of the items."""
        pick = [None if x is None else x[items] for x in (self.groups, self.strata)]
        weights = None if self.weights is None else self.weights[items]
        return self._replace(groups=pick[0], strata=pick[1], weights=weights)


KINDS = ("graded", "normal", "0/1", "far away", "alike")


def draw_values(kind, m, n, rng):
    """Values of M models."""
    if kind == "0/1":
        return (rng.random((m, n)) < 0.6).astype(float)
    if kind == "graded":
        return rng.integers(0, 5, (m, n)) / 4
    hard = rng.normal(size=n)
    noise = 1e-3 if kind == "alike" else 1.0
    values = hard + noise * rng.normal(size=(m, n))
    return values + 1e6 if kind == "far away" else values


@st.composite
def designs(draw, crossed=True):
    """Draw values of models, of shape (M, n), and how their items belong together."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    clustered, stratified, weighted = (draw(st.booleans()) for _ in range(3))
    n_strata = draw(st.integers(2, 3)) if stratified else 1
    # Two units at least in each stratum.
    units = np.sort(np.repeat(np.arange(n_strata), 2 + rng.integers(0, 4, n_strata)))
    sizes = rng.integers(1, 5, units.size) if clustered else np.ones(units.size, int)
    codes = np.repeat(np.arange(units.size), sizes)
    strata = units[codes]
    order = rng.permutation(codes.size)
    if crossed and clustered and stratified and draw(st.booleans()):
        sizes = np.maximum(sizes, 2)
        codes = np.repeat(np.arange(units.size), sizes)
        order = rng.permutation(codes.size)
        strata = np.resize(np.arange(n_strata), codes.size)
    rule = draw(st.sampled_from(["items", "equal", "given"]))
    if rule == "given":
        rule = {h: 1.0 + h for h in range(n_strata)}
    spread = [np.unique(strata[codes == g]).size for g in np.unique(codes)]
    design = Design(
        codes if clustered else None,
        strata if stratified else None,
        rule,
        rng.uniform(0.2, 3.0, codes.size) if weighted else None,
        clustered and stratified and max(spread) > 1,
    ).on(order)
    kind = draw(st.sampled_from(KINDS))
    return draw_values(kind, draw(st.integers(2, 5)), codes.size, rng), design
