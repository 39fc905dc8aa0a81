"""From values to the moments that t tests need: one matrix product for all pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fastcmp.core.threads import no_step, parts
from fastcmp.counts.pair_moments import PairMoments
from fastcmp.counts.unit_sums import UnitSums
from fastcmp.kernels.cluster_means import add_cluster_sums, residual_squares
from fastcmp.kernels.item_values import copy_values, difference_moments

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fastcmp.core.threads import ThreadPool
    from fastcmp.counts.item_units import Stratum, UnitPlan
    from fastcmp.inputs.values import Values

    Floats = NDArray[np.float64]

#: Values of a block that is copied: 32 MB.
_BLOCK = 1 << 22
#: Values from which on they are multiplied as they are, without a copy.
_LARGE = 1 << 22
#: Items of which the first means are taken.
_FEW = 256
#: Models whose average is taken from the values of an item.
_PILOTS = 8
#: A variance below this proportion of the squares that it is a difference of has lost
#: too many digits.
LOST = 1e-6
_NONE = np.empty(0)


class Gram(NamedTuple):
    """Products of the residuals of the units of one stratum."""

    products: Floats
    #: Sum of squares of each model before its mean was subtracted.
    scale: Floats
    #: Mean of each model, less what is common to all.
    relative: Floats
    mean: Floats
    #: Sum of squares of the residuals of each model alone.
    variance: Floats


class MeanEstimate(NamedTuple):
    """The difference of two means, and how sure it is."""

    difference: float
    variance: float
    df: float


def pair_moments(values: Values, plan: UnitPlan, pool: ThreadPool) -> PairMoments:
    """Work out the moments of all pairs of models."""
    m = len(values.names)
    relative, mean, variance, scale = np.zeros((4, m))
    covariance = np.zeros((m, m))
    total, squares = np.zeros((2, m, m) if plan.needs_variances else (2, 0, 0))
    if plan.across is not None:
        covariance, scale, relative, mean, variance = _gram_across(values, plan, pool)
    for stratum in plan.strata if plan.across is None else ():
        own, weight = stratum.scale**2, stratum.scale * stratum.sizes.sum()
        gram = _gram(values, stratum, pool)
        covariance += own * gram.products
        scale += own * gram.scale
        relative += weight * gram.relative
        mean += weight * gram.mean
        variance += own * gram.variance
        if plan.needs_variances:
            of_pairs = own * _variances(gram.products)
            total += of_pairs
            of_pairs *= of_pairs
            squares += of_pairs / stratum.df
    df: Any = plan.shared_degrees
    if plan.needs_variances:
        df = plan.degrees(total, squares)
    return PairMoments(
        n_items=values.n_items,
        n_units=plan.n_units,
        mean=mean,
        relative=relative,
        variance=variance,
        covariance=covariance,
        df=df,
        largest=plan.largest,
        scale=scale,
    )


def _variances(products: Floats) -> Floats:
    """Give the variance of each pair's difference."""
    own = np.diagonal(products)
    return np.maximum(own[:, None] + own - 2.0 * products, 0.0)


def _gram(values: Values, stratum: Stratum, pool: ThreadPool) -> Gram:
    if stratum.units is not None:
        return _gram_of_clusters(values, stratum, pool)
    if (
        values.n_items * len(values.columns) >= _LARGE
        and all(column.dtype == np.float64 for column in values.columns)
        and stratum.items is None
        and stratum.weights is None
    ):
        gram = _gram_as_it_is(values, float(stratum.factors[0]))
        lost = _variances(gram.products) < LOST * (gram.scale[:, None] + gram.scale)
        if np.count_nonzero(lost) < 4 * len(lost):
            return gram
    return _gram_in_blocks(values, stratum, pool)


def _gram_of_clusters(values: Values, stratum: Stratum, pool: ThreadPool) -> Gram:
    sums = _cluster_sums(values, stratum, pool)
    residuals = _residuals(sums, stratum) * np.sqrt(stratum.factors)
    scale = np.einsum("ij,ij,j->i", sums, sums, stratum.factors)
    relative = sums.sum(axis=1) / stratum.sizes.sum()
    mean, variance = _own_moments(values, stratum, pool)
    return Gram(residuals @ residuals.T, scale, relative, mean, variance)


def _gram_as_it_is(values: Values, factor: float) -> Gram:
    """Multiply the values themselves, and subtract what the means add.

    In blocks, so that an array and single columns give the same bits.
    """
    m, n = len(values.columns), values.n_items
    products, sums = np.zeros((m, m)), np.zeros(m)
    for part in parts(n, max(1024, _BLOCK // m)):
        block = (
            np.stack([column[part] for column in values.columns])
            if values.matrix is None
            else values.matrix[:, part]
        )
        products += block @ block.T
        sums += block.sum(axis=1)  # by rows, so that equal rows have equal means
    mean = sums / n
    scale = factor * np.diagonal(products)
    products -= n * np.outer(mean, mean)
    products *= factor
    variance = np.maximum(np.diagonal(products), 0.0)
    return Gram(products, scale, mean, mean, variance)


def _gram_in_blocks(values: Values, stratum: Stratum, pool: ThreadPool) -> Gram:
    """Subtract from each item what the models have in common, and multiply blocks."""
    m, n = len(values.names), stratum.sizes.size
    width = max(1, min(n, max(1024, _BLOCK // m)))
    buffer = np.empty((m, width))
    products, sums = np.zeros((m, m)), np.zeros((m, 5))
    middle = _first_means(values, stratum)
    rows = parts(m, -(-m // (4 * pool.threads)))
    for part in parts(n, width):
        block = buffer[:, : part.stop - part.start]
        where: Any = part if stratum.items is None else stratum.items[part]
        beside = _beside(values, stratum, part, where)

        def copy(some: slice, block: Any = block, beside: Any = beside) -> None:
            gathered, start, pilot, sizes, counts = beside
            for i in range(some.start, some.stop):
                column = values.columns[i]
                rest = (pilot, sizes, counts, middle[i])
                copy_values(column, gathered, start, rest, block[i], sums[i])

        pool.run(copy, rows, steps=no_step, here=block.size < _LARGE // 16)
        products += block @ block.T
    counts = stratum.factors * stratum.sizes**2
    return _about_means(products, sums, middle, stratum.sizes.sum(), counts.sum())


def _first_means(values: Values, stratum: Stratum) -> Floats:
    """Average a few values of each model, shape (M, 2): all, less the pilot and as is.

    Numbers near the means, of which little is left to subtract later.
    """
    where = slice(_FEW) if stratum.items is None else stratum.items[:_FEW]
    pilot = _pilot(values, where)
    means = [column[where].mean(dtype=np.float64) for column in values.columns]
    raw = np.array(means)
    return np.stack([raw - pilot.mean(), raw], axis=1)


def _beside(
    values: Values, stratum: Stratum, part: slice, where: Any
) -> tuple[Any, ...]:
    """Give what `copy_values` needs of some items, beside the values."""
    sizes, factors = stratum.sizes[part], stratum.factors[part]
    if stratum.weights is None:  # all the same
        sizes, factors = sizes[:1].copy(), factors[:1].copy()
    none = np.empty(0, np.int64)
    gathered = none if stratum.items is None else np.ascontiguousarray(where)
    return gathered, part.start, _pilot(values, where), sizes, factors * sizes**2


def _about_means(
    products: Floats, sums: Floats, middle: Floats, weight: float, count: float
) -> Gram:
    """Turn moments about the first means into moments about the means."""
    scale = np.diagonal(products).copy()
    shift, crossed = sums[:, 0] / weight, sums[:, 1]
    products += count * np.outer(shift, shift)
    products -= np.outer(shift, crossed) + np.outer(crossed, shift)
    own = sums[:, 2] / weight
    variance = sums[:, 4] - 2.0 * own * sums[:, 3] + own * own * count
    relative, mean = middle[:, 0] + shift, middle[:, 1] + own
    return Gram(products, scale, relative, mean, np.maximum(variance, 0.0))


def _pilot(values: Values, where: Any) -> Floats:
    """Average a few models: what most have in common on some items."""
    columns = values.columns
    some = columns[:: -(-len(columns) // _PILOTS)]
    total = np.zeros_like(some[0][where], np.float64)
    for column in some:
        total += column[where]
    return np.asarray(total / len(some))


def _cluster_sums(
    values: Values, stratum: Stratum, pool: ThreadPool, *, raw: bool = False
) -> Floats:
    """Add up the values of each unit, shape (M, G), without the pilot unless `raw`."""
    m, where = len(values.names), stratum.items
    pilot = _NONE if raw else _pilot(values, slice(None) if where is None else where)
    sums = np.zeros((m, stratum.sizes.size))
    weights = _NONE if stratum.weights is None else stratum.weights

    def add(some: slice) -> None:
        for i in range(some.start, some.stop):
            column = values.columns[i] if where is None else values.columns[i][where]
            if stratum.units is None:
                sums[i] = column if stratum.weights is None else column * weights
            else:
                add_cluster_sums(column, pilot, weights, stratum.units, sums[i])

    pool.run(add, parts(m, -(-m // (4 * pool.threads))), steps=no_step)
    return sums


def _residuals(sums: Floats, stratum: Stratum) -> Floats:
    mean = sums.sum(axis=1, keepdims=True) / stratum.sizes.sum()
    return np.asarray(sums - mean * stratum.sizes)


def _own_moments(
    values: Values, stratum: Stratum, pool: ThreadPool
) -> tuple[Floats, Floats]:
    """Give the mean of each model, and the sum of squares of its residuals."""
    sums = _cluster_sums(values, stratum, pool, raw=True)
    rows = [residual_squares(row, stratum.sizes, stratum.factors) for row in sums]
    mean, squares = np.array(rows).T
    return mean, squares


def _gram_across(values: Values, plan: UnitPlan, pool: ThreadPool) -> Gram:
    """Add the residuals of each cluster over the strata that it lies in."""
    assert plan.across is not None
    m, start = len(values.names), 0
    relative, mean, scale = np.zeros((3, m))
    both = np.zeros((2, m, plan.n_units))  # without and with what models have in common
    for stratum in plan.strata:
        where = plan.across[start : start + stratum.sizes.size]
        start += stratum.sizes.size
        for raw, out in enumerate(both):
            sums = _cluster_sums(values, stratum, pool, raw=bool(raw))
            # A cluster is once in a stratum.
            out[:, where] += stratum.scale * _residuals(sums, stratum)
            total = stratum.scale * sums.sum(axis=1)
            if raw:
                mean += total
            else:
                relative += total
        scale += stratum.scale**2 * (sums**2).sum(axis=1)
    factor = plan.n_units / (plan.n_units - 1.0)
    products = factor * both[0] @ both[0].T
    variance = factor * (both[1] ** 2).sum(axis=1)
    return Gram(products, factor * scale, relative, mean, variance)


class PlainEstimates(NamedTuple):
    """Two models on items that are units alone."""

    difference: MeanEstimate
    a: MeanEstimate
    b: MeanEstimate
    #: As `kernels.difference_moments` has them.
    moments: Floats


def plain_estimates(a: NDArray[Any], b: NDArray[Any], plan: UnitPlan) -> PlainEstimates:
    """Estimate both means and their difference in two passes."""
    found = np.empty(10)
    difference_moments(a, b, found)
    lost = found[3] <= 8 * np.finfo(np.float64).eps * found[4]
    factor = 1.0 / (a.size - 1.0) / a.size
    if plan.plain:
        factor = float(plan.strata[0].factors[0]) / a.size**2
    df = plan.shared_degrees
    mean, mean_a, mean_b = (float(found[i]) for i in (0, 5, 6))
    variance, of_a, of_b = (factor * float(found[i]) for i in (1, 7, 8))
    return PlainEstimates(
        MeanEstimate(mean, 0.0 if lost else variance, df),
        MeanEstimate(mean_a, of_a, df),
        MeanEstimate(mean_b, of_b, df),
        found,
    )


def difference_of(a: NDArray[Any], b: NDArray[Any], plan: UnitPlan) -> MeanEstimate:
    """Estimate the difference of two models directly from their values."""
    if plan.plain:
        return plain_estimates(a, b, plan).difference
    d = a.astype(np.float64) - b
    tiny = 8 * np.finfo(np.float64).eps * max(float(np.abs(x).max()) for x in (a, b))
    difference, variances, start = 0.0, [], 0
    residuals = np.zeros(plan.n_units)
    for stratum in plan.strata:
        own = d if stratum.items is None else d[stratum.items]
        own = own if stratum.weights is None else own * stratum.weights
        if stratum.units is not None:
            own = np.bincount(stratum.units, own, stratum.sizes.size)
        difference += stratum.scale * float(own.sum())
        left = own - stratum.sizes * (own.sum() / stratum.sizes.sum())
        if np.abs(left).max() <= tiny * stratum.sizes.max():
            left = np.zeros_like(left)
        if plan.across is not None:
            where = plan.across[start : start + left.size]
            residuals[where] += stratum.scale * left
            start += left.size
        variances.append(stratum.scale**2 * float(stratum.factors @ left**2))
    if plan.across is not None:
        factor = plan.n_units / (plan.n_units - 1.0)
        variances = [factor * float(residuals @ residuals)]
    total, df = np.sum(variances), plan.shared_degrees
    if plan.needs_variances:
        own_df = np.array([stratum.df for stratum in plan.strata])
        df = float(plan.degrees(total, np.sum(np.square(variances) / own_df)))
    return MeanEstimate(difference, float(total), df)


def unit_sums(values: Values, plan: UnitPlan, pool: ThreadPool) -> UnitSums:
    """Gather what is resampled: the sums of each unit, stratum by stratum."""
    sums = [_cluster_sums(values, stratum, pool, raw=True) for stratum in plan.strata]
    sizes = [stratum.sizes for stratum in plan.strata]
    return UnitSums(
        sums=sums[0] if len(sums) == 1 else np.concatenate(sums, axis=1),
        sizes=np.concatenate(sizes),
        strata=np.repeat(np.arange(len(sizes)), [x.size for x in sizes]),
        weights=np.array([s.scale * s.sizes.sum() for s in plan.strata]),
    )
