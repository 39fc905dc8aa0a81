"""From values to the moments that t tests need: one matrix product for all pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fastcmp.core.threads import no_step, parts
from fastcmp.counts.pair_moments import PairMoments
from fastcmp.counts.unit_sums import UnitSums
from fastcmp.counts.value_grams import Gram, item_grams, pilot_of
from fastcmp.kernels.cluster_means import add_cluster_sums, residual_squares
from fastcmp.kernels.item_values import add_products, difference_moments

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from fastcmp.core.threads import ThreadPool
    from fastcmp.counts.item_units import Stratum, UnitPlan
    from fastcmp.inputs.values import Values

    Floats = NDArray[np.float64]

#: Values from which on they are multiplied as they are, without a copy.
_LARGE = 1 << 22
#: Products that are kept of several strata at once: 0.5 GB.
_PRODUCTS = 1 << 26
#: A variance below this proportion of the squares that it is a difference of has lost
#: too many digits.
LOST = 1e-6
_NONE = np.empty(0)


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
    squares = np.zeros((m, m) if plan.needs_variances else (0, 0))
    if plan.across is not None:
        covariance, scale, relative, mean, variance = _gram_across(values, plan, pool)
    for stratum, gram in _grams(values, plan, pool) if plan.across is None else ():
        own, weight = stratum.scale**2, stratum.scale * stratum.sizes.sum()
        add_products(gram.products, own, stratum.df, covariance, squares)
        scale += own * gram.scale
        relative += weight * gram.relative
        mean += weight * gram.mean
        variance += own * gram.variance
    df: Any = plan.shared_degrees
    covariance = _mirrored(covariance)
    if plan.needs_variances:
        df = plan.degrees(_variances(covariance), _mirrored(squares))
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


def _mirrored(lower: Floats) -> Floats:
    """Fill a symmetric matrix from its lower half."""
    return np.asarray(np.tril(lower) + np.tril(lower, -1).T)


def _variances(products: Floats) -> Floats:
    """Give the variance of each pair's difference."""
    own = np.diagonal(products)
    return np.maximum(own[:, None] + own - 2.0 * products, 0.0)


def _grams(values: Values, plan: UnitPlan, pool: ThreadPool) -> Iterator[tuple[Stratum, Gram]]:
    """Multiply the residuals of each stratum."""
    strata = plan.strata
    if strata[0].units is not None:
        sums = _all_sums(values, plan, pool)
        raw = _all_sums(values, plan, pool, raw=True)
        for stratum, where in zip(strata, plan.places, strict=True):
            yield stratum, _gram_of_sums(sums[:, where], raw[:, where], stratum)
        return
    if plan.plain and (gram := _gram_as_it_is(values, strata[0], pool)) is not None:
        yield strata[0], gram
        return
    size = max(1, _PRODUCTS // len(values.names) ** 2)
    for part in parts(len(strata), size):
        yield from zip(strata[part], item_grams(values, strata[part], pool), strict=True)


def _gram_of_sums(sums: Floats, raw: Floats, stratum: Stratum) -> Gram:
    residuals = _residuals(sums, stratum) * np.sqrt(stratum.factors)
    scale = np.einsum("ij,ij,j->i", sums, sums, stratum.factors)
    relative = sums.sum(axis=1) / stratum.sizes.sum()
    own = [
        residual_squares(np.ascontiguousarray(row), stratum.sizes, stratum.factors) for row in raw
    ]
    mean, variance = np.array(own).T
    return Gram(residuals @ residuals.T, scale, relative, mean, variance)


def _gram_as_it_is(values: Values, stratum: Stratum, pool: ThreadPool) -> Gram | None:
    """Multiply the values themselves, and subtract what the means add.

    None where there are few of them, or digits would be lost in many pairs. In blocks,
    so that an array and single columns give the same bits.
    """
    m, n, factor = len(values.columns), values.n_items, float(stratum.factors[0])
    if n * m < _LARGE or any(column.dtype != np.float64 for column in values.columns):
        return None
    products, mean = np.zeros((m, m)), np.empty(m)

    def average(some: slice) -> None:
        for i in range(some.start, some.stop):
            mean[i] = values.columns[i].sum() / n

    pool.run(average, parts(m, -(-m // (4 * pool.threads))), steps=no_step)
    for part in parts(n, max(1024, 8 * _LARGE // m)):
        if values.matrix is None:
            block = np.stack([column[part] for column in values.columns])
        else:
            block = values.matrix[:, part]
        products += block @ block.T
    scale = factor * np.diagonal(products)
    products -= n * np.outer(mean, mean)
    products *= factor
    variance = np.maximum(np.diagonal(products), 0.0)
    lost = _variances(products) < LOST * (scale[:, None] + scale)
    if np.count_nonzero(lost) >= 4 * len(lost):
        return None
    return Gram(products, scale, mean, mean, variance)


def _all_sums(values: Values, plan: UnitPlan, pool: ThreadPool, *, raw: bool = False) -> Floats:
    """Add up the values of all units, stratum by stratum, shape (M, G).

    Without what the models have in common, unless `raw`.
    """
    m, codes = len(values.names), plan.codes
    pilot = _NONE if raw else pilot_of(values, slice(None))
    weights = _NONE if plan.weights is None else plan.weights
    sums = np.zeros((m, plan.places[-1].stop))

    def add(some: slice) -> None:
        for i in range(some.start, some.stop):
            add_cluster_sums(values.columns[i], pilot, weights, codes, sums[i])

    pool.run(add, parts(m, -(-m // (4 * pool.threads))), steps=no_step)
    return sums


def _residuals(sums: Floats, stratum: Stratum) -> Floats:
    mean = sums.sum(axis=1, keepdims=True) / stratum.sizes.sum()
    return np.asarray(sums - mean * stratum.sizes)


def _gram_across(values: Values, plan: UnitPlan, pool: ThreadPool) -> Gram:
    """Add the residuals of each cluster over the strata that it lies in."""
    assert plan.across is not None
    m = len(values.names)
    means, residuals = np.zeros((2, m)), np.zeros((2, m, plan.n_units))
    for raw in (False, True):  # without and with what models have in common
        sums = _all_sums(values, plan, pool, raw=raw)
        for stratum, where in zip(plan.strata, plan.places, strict=True):
            own = sums[:, where]
            # A cluster is once in a stratum.
            at = plan.across[where]
            residuals[int(raw)][:, at] += stratum.scale * _residuals(own, stratum)
            means[int(raw)] += stratum.scale * own.sum(axis=1)
    scales = np.concatenate([np.full(x.sizes.size, x.scale) for x in plan.strata])
    factor = plan.n_units / (plan.n_units - 1.0)
    scale = factor * ((sums * scales) ** 2).sum(axis=1)
    products = factor * residuals[0] @ residuals[0].T
    variance = factor * (residuals[1] ** 2).sum(axis=1)
    return Gram(products, scale, means[0], means[1], variance)


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
    sizes = [stratum.sizes for stratum in plan.strata]
    return UnitSums(
        sums=_all_sums(values, plan, pool, raw=True),
        sizes=np.concatenate(sizes),
        strata=np.repeat(np.arange(len(sizes)), [x.size for x in sizes]),
        weights=np.array([s.scale * s.sizes.sum() for s in plan.strata]),
        rounding=2.0**-23 if any(c.dtype == np.float32 for c in values.columns) else 2.0**-52,
    )
