"""From values to the moments that t tests need: one matrix product for all pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fastcmp.core.threads import no_step, parts
from fastcmp.counts.pair_moments import PairMoments
from fastcmp.counts.unit_sums import UnitSums
from fastcmp.kernels.cluster_means import add_cluster_sums, residual_squares
from fastcmp.kernels.item_values import difference_moments

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from fastcmp.core.threads import ThreadPool
    from fastcmp.counts.item_units import Stratum, UnitPlan
    from fastcmp.inputs.values import Values

    Floats = NDArray[np.float64]

#: Values of a block that is copied: 8 MB.
_BLOCK = 1 << 20
#: Values from which on they are multiplied as they are, without a copy.
_LARGE = 1 << 22
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
    of_pairs: list[Floats] | None = [] if _needs_strata(plan) else None
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
        if of_pairs is not None:
            of_pairs.append(own * _variances(gram.products))
    df: Any = float(plan.degrees(np.zeros(len(plan.strata))))
    if of_pairs is not None:
        df = plan.degrees(np.stack(of_pairs))
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


def _needs_strata(plan: UnitPlan) -> bool:
    """Tell whether each pair has degrees of freedom of its own."""
    return len(plan.strata) > 1 and plan.across is None and plan.df == "satterthwaite"


def _variances(products: Floats) -> Floats:
    """Give the variance of each pair's difference."""
    own = np.diagonal(products)
    return np.maximum(own[:, None] + own - 2.0 * products, 0.0)


def _gram(values: Values, stratum: Stratum, pool: ThreadPool) -> Gram:
    matrix = values.matrix
    if stratum.units is not None:
        sums = _cluster_sums(values, stratum, pool)
        residuals = _residuals(sums, stratum) * np.sqrt(stratum.factors)
        scale = np.einsum("ij,ij,j->i", sums, sums, stratum.factors)
        products = residuals @ residuals.T
        relative = sums.sum(axis=1) / stratum.sizes.sum()
    elif (
        matrix is not None
        and matrix.dtype == np.float64
        and matrix.size >= _LARGE
        and stratum.items is None
        and stratum.weights is None
    ):
        gram = _gram_as_it_is(matrix, float(stratum.factors[0]))
        lost = _variances(gram.products) < LOST * (gram.scale[:, None] + gram.scale)
        if np.count_nonzero(lost) < 4 * len(lost):
            return gram
        products, scale, relative = _gram_in_blocks(values, stratum, pool)
    else:
        products, scale, relative = _gram_in_blocks(values, stratum, pool)
    mean, variance = _own_moments(values, stratum, pool)
    return Gram(products, scale, relative, mean, variance)


def _gram_as_it_is(matrix: Floats, factor: float) -> Gram:
    """Multiply the values themselves, and subtract what the means add."""
    n = matrix.shape[1]
    products = matrix @ matrix.T
    mean = matrix @ np.full(n, 1.0 / n)
    scale = factor * np.diagonal(products)
    products -= n * np.outer(mean, mean)
    products *= factor
    variance = np.maximum(np.diagonal(products), 0.0)
    return Gram(products, scale, mean, mean, variance)


def _gram_in_blocks(
    values: Values, stratum: Stratum, pool: ThreadPool
) -> tuple[Floats, Floats, Floats]:
    """Subtract from each item what the models have in common, and multiply blocks."""
    m = len(values.names)
    products, sums = np.zeros((m, m)), np.zeros((m, 2))
    first: Any = None
    for part, block in _blocks(values, stratum, pool):
        sizes = stratum.sizes[part]
        if first is None:
            first = (block @ sizes / sizes.sum())[:, None]
        np.subtract(block, first, out=block)
        scaled = np.sqrt(stratum.factors[part]) * sizes
        sums += block @ np.stack([sizes, scaled * scaled], axis=1)
        np.multiply(block, scaled, out=block)
        products += block @ block.T
    scale = np.diagonal(products).copy()
    # About the means instead of those of the first block.
    shift, crossed = sums[:, 0] / stratum.sizes.sum(), sums[:, 1]
    square = float(stratum.factors @ stratum.sizes**2)
    products += square * np.outer(shift, shift)
    products -= np.outer(shift, crossed) + np.outer(crossed, shift)
    return products, scale, first[:, 0] + shift


def _blocks(
    values: Values, stratum: Stratum, pool: ThreadPool
) -> Iterator[tuple[slice, Floats]]:
    """Copy the values of some items of a stratum, without what is common to models."""
    m, n = len(values.names), stratum.sizes.size
    width = max(1, min(n, max(1024, _BLOCK // m)))
    buffer = np.empty((m, width))
    rows = parts(m, -(-m // (4 * pool.threads)))
    for part in parts(n, width):
        block = buffer[:, : part.stop - part.start]
        where: Any = part if stratum.items is None else stratum.items[part]
        pilot = _pilot(values, where)

        def copy(some: slice, block: Any = block, where: Any = where) -> None:
            for i in range(some.start, some.stop):
                np.subtract(values.columns[i][where], pilot, out=block[i])  # noqa: B023

        pool.run(copy, rows, steps=no_step, here=block.size < _LARGE // 16)
        yield part, block


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
    m, where = len(values.names), stratum.items
    found = np.empty((2, m))
    weights = _NONE if stratum.weights is None else stratum.weights

    def work_out(some: slice) -> None:
        for i in range(some.start, some.stop):
            column = values.columns[i] if where is None else values.columns[i][where]
            sums = column.astype(np.float64, copy=False)
            if stratum.units is not None:
                sums = np.zeros(stratum.sizes.size)
                add_cluster_sums(column, _NONE, weights, stratum.units, sums)
            elif stratum.weights is not None:
                sums = sums * weights
            found[:, i] = residual_squares(sums, stratum.sizes, stratum.factors)

    pool.run(work_out, parts(m, -(-m // (4 * pool.threads))), steps=no_step)
    return found[0], found[1]


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


def difference_of(a: NDArray[Any], b: NDArray[Any], plan: UnitPlan) -> MeanEstimate:
    """Estimate the difference of two models directly from their values."""
    if plan.plain:
        found = np.empty(5)
        difference_moments(a, b, found)
        n, (stratum,) = a.size, plan.strata
        lost = found[3] <= 8 * np.finfo(np.float64).eps * found[4]
        variance = 0.0 if lost else float(stratum.factors[0] * found[1] / n**2)
        return MeanEstimate(float(found[0]), variance, float(plan.degrees(np.zeros(1))))
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
    found_df = plan.degrees(np.array(variances))
    return MeanEstimate(difference, float(np.sum(variances)), float(found_df))


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
