"""Pairs of models on the items that both have a value for."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp.core.threads import no_step, parts
from fastcmp.counts.item_units import item_factor, plan_units
from fastcmp.counts.value_sums import MeanEstimate, difference_of
from fastcmp.inputs.item_groups import read_item_groups
from fastcmp.items.mean_data import bounded_units, exact_units
from fastcmp.paired.bounded_margins import BoundedUnits
from fastcmp.pairwise.mean_tests import ModelMeans, PairMeans, assemble_tests, mean_intervals

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fastcmp.core.threads import ThreadPool
    from fastcmp.counts.item_units import UnitPlan
    from fastcmp.counts.pairs import Block, PairColumns
    from fastcmp.items.mean_data import MeanData, MeanOptions
    from fastcmp.pairwise.pair_tests import PairTests

    Floats = NDArray[np.float64]

_LOST = 1e-6  # of the squares: what a small difference of them is not worth


def pairwise_tests(
    data: MeanData, options: MeanOptions, level: float, pool: ThreadPool
) -> PairTests:
    """Test each pair on its own items; all pairs are worked out at once."""
    values = data.values
    present, m = values.present, len(values.names)
    assert present is not None
    _check_strata(data)
    found = np.full((4, m, m), np.nan)  # difference, variance, d.o.f., items
    if data.groups.plain:
        _by_products(data, options, found)
        again = np.argwhere(np.isnan(found[1]) & np.tri(m, k=-1, dtype=bool).T)
    else:
        again = np.stack(np.triu_indices(m, 1), axis=1)

    def look(part: slice) -> None:
        for i, j in again[part].tolist():
            both = present[i] & present[j]
            one = _on_items(data, options, both, values.columns[i], values.columns[j])
            found[:, i, j] = *one, np.count_nonzero(both)
            found[:, j, i] = found[:, i, j]
            found[0, j, i] = -one.difference

    pool.run(look, parts(len(again), 64), steps=no_step)
    if options.df == "normal":
        found[2] = np.inf
    return _tests(data, options, found, level)


def _check_strata(data: MeanData) -> None:
    """Refuse a model without a value in some stratum."""
    strata, values = data.groups.strata, data.values
    if strata is None or values.present is None:
        return
    for name, own in zip(values.names, values.present, strict=True):
        n_items = np.bincount(strata.codes[own], minlength=len(strata.labels))
        if not n_items.all():
            label = strata.labels[int(np.argmin(n_items))]
            raise ValueError(
                f"values must have some of each model in each stratum, and {name} has "
                f"none in stratum {label!r}: leave out the model, or the stratum"
            )


def _by_products(data: MeanData, options: MeanOptions, found: Floats) -> None:
    """Work out all pairs by four matrix products; NaN where digits are lost."""
    values = data.values
    assert values.present is not None
    mask = values.present.astype(np.float64)
    table = np.stack([column.astype(np.float64) for column in values.columns])
    table[~values.present] = 0.0
    # What the models that are there have in common is taken from each item.
    table -= table.sum(axis=0) / np.maximum(mask.sum(axis=0), 1.0)
    table *= mask
    n = mask @ mask.T
    sums = table @ mask.T
    sums -= sums.T
    squares = (table**2) @ mask.T
    squares += squares.T
    with np.errstate(divide="ignore", invalid="ignore"):
        spread = squares - 2.0 * table @ table.T - sums**2 / n
        variance = spread * item_factor(options.variance, n) / n**2
        found[0] = sums / n
        found[1] = np.where((n > 1) & (spread > _LOST * squares), variance, np.nan)
    found[2], found[3] = n - 1.0, n


def _on_items(
    data: MeanData, options: MeanOptions, items: NDArray[np.bool_], a: Any, b: Any
) -> MeanEstimate:
    """Estimate a difference on some items; NaN where they are too few."""
    plan = _plan_on(data, options, items)
    if plan is None:
        return MeanEstimate(np.nan, np.nan, np.nan)
    return difference_of(a[items], b[items], plan)


def _plan_on(data: MeanData, options: MeanOptions, items: NDArray[np.bool_]) -> UnitPlan | None:
    """Sort some items into units; None where they are too few."""
    groups = data.groups
    strata, clusters = groups.strata, groups.clusters
    weights: Any = "items"
    if strata is not None:
        weights = dict(enumerate(groups.stratum_weights))
    try:
        if np.count_nonzero(items) < 2:
            return None
        own = read_item_groups(
            groups.n_items,
            groups=None if clusters is None else clusters.codes,
            strata=None if strata is None else strata.codes,
            stratum_weights=weights,
            weights=groups.weights,
            keep=items,
        )
    except ValueError:  # one cluster, or a stratum without items of both
        return None
    # Clusters that lie across strata may lie within them on these items.
    variance = options.variance if data.plan.across is None else "cr1"
    return plan_units(own, variance, options.df)


def _tests(data: MeanData, options: MeanOptions, found: Floats, level: float) -> PairTests:
    values, present = data.values, data.values.present
    assert present is not None
    m = len(values.names)
    alone, ends = np.empty(m), np.empty((m, 2))
    for i, column in enumerate(values.columns):
        own = _on_items(data, options, present[i], column, np.zeros_like(column))
        alone[i] = own.difference
        n = int(np.count_nonzero(present[i]))
        sizes = (n, min(n, data.plan.n_units)) if values.bounded else None
        mean, variance = np.array([own.difference]), np.array([own.variance])
        ends[i] = mean_intervals(mean, variance, own.df, level, sizes)[0]
    models = ModelMeans(values.n_items, alone, ends, alone)

    def bounded(block: Block) -> BoundedUnits:
        rows = np.zeros((2, len(block.pairs), values.n_items))
        for k, (i, j) in enumerate(block.pairs.tolist()):
            both = present[i] & present[j]
            if (plan := _plan_on(data, options, both)) is not None:
                difference = values.columns[i][both] - values.columns[j][both]
                gain, weight, _ = bounded_units(difference.astype(np.float64), plan)
                rows[:, k, : gain.size] = gain, weight
        return BoundedUnits(*rows)

    def means(block: Block) -> PairMeans:
        i, j = block.pairs.T
        return PairMeans(*(np.ascontiguousarray(x[i, j]) for x in found[:3]))

    def exact(i: int, j: int) -> float:
        both = present[i] & present[j]
        plan = _plan_on(data, options, both)
        assert plan is not None
        difference = values.columns[i][both].astype(np.float64) - values.columns[j][both]
        return exact_units(difference, plan)

    df = np.inf if options.df == "normal" else None
    tests = assemble_tests(models, means, level, df, exact, bounded if values.bounded else None)
    details = tests.details
    assert details is not None

    def more(pairs: NDArray[np.int32], columns: PairColumns) -> dict[str, Any]:
        i, j = pairs.T
        n_items = np.nan_to_num(found[3, i, j]).astype(np.int64)
        return {**details(pairs, columns), "n_items_of_pairs": n_items}

    return replace(
        tests,
        difference=lambda pairs: found[0][tuple(pairs.T)],
        details=more,
        exponent=values.exponent,
        spread=None,  # of each pair on samples of its own
    )
