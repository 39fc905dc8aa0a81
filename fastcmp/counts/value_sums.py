"""From values to the moments that t tests need: one matrix product for all pairs.

What models have in common on an item is subtracted first: it is in no difference, and
products would lose digits to it.

Influences are looked up as they are multiplied: no row of all samples is written. What
a few models have in common on a sample is subtracted first: it is in no difference, and
products would lose digits to it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastcmp.core.threads import BlasThreads, ThreadPool, blas_for, parts
from fastcmp.core.typing import Floats, Ints
from fastcmp.counts.units import Stratum, UnitPlan, UnitSums
from fastcmp.inputs.values import Values
from fastcmp.kernels.cluster_means import add_cluster_sums, residual_squares
from fastcmp.kernels.item_values import (
    _centre_products,
    add_products,
    copy_values,
    difference_moments,
)
from fastcmp.kernels.metric_slopes import gather_influences, table_starts

_BLOCK = 1 << 22  # values of a block that is copied: 32 MB
_SPREAD = 4  # such blocks that are copied at once where there are strata
_SMALL = 1 << 18  # values, below which one thread copies
_FIRST = 256  # items of which the first means are taken
_PILOTS = 8  # models whose average is taken from the values of an item


class Gram(NamedTuple):
    """Products of the residuals of the units of one stratum."""

    #: Lower half; the rest may be 0.
    products: Floats
    #: Sum of squares of each model before its mean was subtracted.
    scale: Floats
    #: Mean of each model, less what is common to all.
    relative: Floats
    mean: Floats
    #: Sum of squares of the residuals of each model alone.
    variance: Floats


class _Block(NamedTuple):
    """Items that are copied together, stratum by stratum."""

    #: Their positions, shape (b,); or of the first alone, where they follow it.
    where: Ints
    #: Where the items of each stratum begin, and the last ones end, shape (H + 1,).
    ends: Ints
    #: What to subtract from each, shape (b,).
    pilot: Floats
    #: Weights, and what a squared residual counts, shape (b,); or (H,), where all items
    #: of a stratum have the same.
    sizes: Floats
    counts: Floats


def item_grams(values: Values, strata: Sequence[Stratum], pool: ThreadPool) -> list[Gram]:
    """Products of the residuals of items that are units alone, for each stratum."""
    from scipy.linalg.blas import dsyrk

    m, n_strata = len(values.names), len(strata)
    width = max(1024, _BLOCK // m) * min(n_strata, _SPREAD)
    buffer = np.empty(m * min(width, values.n_items))
    products = [np.zeros((m, m), order="F") for _ in strata]
    sums = np.zeros((m, n_strata, 5))
    middle = _first_means(values, strata)
    weighted = strata[0].weights is not None
    rows = parts(m, -(-m // (4 * pool.threads)))
    for block in _blocks(values, strata, width):
        out = buffer[: m * block.pilot.size]

        def copy(models: slice, block: _Block = block, out: Floats = out) -> None:
            for i in range(models.start, models.stop):
                row = (i, m, weighted)
                copy_values(values.columns[i], block, middle[i], row, out, sums[i])

        pool.run(copy, rows, steps=0, here=out.size < _SMALL)
        for h in range(n_strata):
            start, end = (m * int(block.ends[k]) for k in (h, h + 1))
            if end > start:
                part = out[start:end].reshape(m, -1).T
                products[h] = dsyrk(1.0, part, beta=1.0, c=products[h], trans=1, overwrite_c=1)
    return [
        _about_means(one, stratum, sums[:, h], middle[:, h])
        for h, (one, stratum) in enumerate(zip(products, strata, strict=True))
    ]


def _blocks(values: Values, strata: Sequence[Stratum], width: int) -> Iterator[_Block]:
    """Blocks of items, each sorted by stratum."""
    n, weighted = values.n_items, strata[0].weights is not None
    starts = np.append(np.arange(0, n, width), n)
    alone = strata[0].items is None
    cuts = [starts if x.items is None else np.searchsorted(x.items, starts) for x in strata]
    same = np.array([(one.sizes[0], one.factors[0]) for one in strata])
    for k in range(starts.size - 1):
        pieces = [slice(cut[k], cut[k + 1]) for cut in cuts]
        stratum_pieces = list(zip(strata, pieces, strict=True))
        ends = np.cumsum([0, *(piece.stop - piece.start for piece in pieces)])
        items: Any = pieces[0]
        where = starts[k : k + 1].copy()
        if not alone:
            listed = [x.items[piece] for x, piece in stratum_pieces if x.items is not None]
            items = where = np.concatenate(listed)
        sizes, factors = same.T
        if weighted:
            sizes = np.concatenate([one.sizes[piece] for one, piece in stratum_pieces])
            factors = np.concatenate([one.factors[piece] for one, piece in stratum_pieces])
        counts = factors * sizes**2
        yield _Block(where, ends, pilot_of(values, items), np.ascontiguousarray(sizes), counts)


def _first_means(values: Values, strata: Sequence[Stratum]) -> Floats:
    """Means of a few values of each model and stratum, shape (M, H, 2).

    Less the pilot, and as they are: numbers near the means, of which little is left to
    subtract later.
    """
    firsts = [np.arange(min(_FIRST, values.n_items))]
    if strata[0].items is not None:
        firsts = [one.items[:_FIRST] for one in strata if one.items is not None]
    where, sizes = np.concatenate(firsts), np.array([x.size for x in firsts])
    starts = np.cumsum(sizes) - sizes

    def average(column: NDArray[Any]) -> Floats:
        return np.asarray(np.add.reduceat(column.astype(np.float64), starts) / sizes)

    raw = np.stack([average(column[where]) for column in values.columns])
    return np.stack([raw - average(pilot_of(values, where)), raw], axis=2)


def pilot_of(values: Values, where: Any) -> Floats:
    """Mean of a few models: what most have in common on some items."""
    columns = values.columns
    spaced = columns[:: -(-len(columns) // _PILOTS)]
    total = np.zeros_like(spaced[0][where], np.float64)
    for column in spaced:
        total += column[where]
    return np.asarray(total / len(spaced))


def _about_means(upper: Floats, stratum: Stratum, sums: Floats, middle: Floats) -> Gram:
    """Moments about the means from moments about the first means."""
    weight = stratum.sizes.sum()
    count = float((stratum.factors * stratum.sizes**2).sum())
    scale = np.diagonal(upper).copy()
    shift, crossed = sums[:, 0] / weight, sums[:, 1]
    products = upper.T  # in the usual order, and its lower half
    _centre_products(products, shift, crossed, count)
    mean_shift = sums[:, 2] / weight
    variance = sums[:, 4] - 2.0 * mean_shift * sums[:, 3] + mean_shift * mean_shift * count
    relative, mean = middle[:, 0] + shift, middle[:, 1] + mean_shift
    return Gram(products, scale, relative, mean, np.maximum(variance, 0.0))


# What the t tests of all pairs of means need, whoever gathered it.


@dataclass(frozen=True, slots=True, kw_only=True)
class PairMoments:
    """What the t tests of all pairs of means need."""

    n_items: int
    #: Number of clusters, or of items where there are none.
    n_units: int
    #: Mean of each model, shape (M,).
    mean: Floats
    #: Variance of each mean alone, shape (M,).
    variance: Floats
    #: Shape (M, M): the variance of the difference of means a and b is
    #: ``[a, a] + [b, b] - 2 [a, b]``. What is common to all models may be left out.
    covariance: Floats
    #: Degrees of freedom, one number for all pairs or an array of shape (M, M).
    df: Any
    #: Largest proportion of the items, by weight, in one cluster.
    largest: float
    #: Sum of squares of each model before its mean was removed, in the units of the
    #: variance, shape (M,): what rounding errors are measured by.
    scale: Floats
    #: The means less what all models have in common, of which differences lose no
    #: digits, shape (M,); None where they are `mean`.
    relative: Floats | None = None


#: Values from which on they are multiplied as they are, without a copy, so many at once.
_LARGE = 1 << 18
_AT_ONCE = 1 << 25
#: Models of a tile that one thread multiplies; pieces of the items where one tile has all models.
_TILE, _PIECES = 1024, 4
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
    """The moments of all pairs of models."""
    m = len(values.names)
    relative, mean, variance, scale = np.zeros((4, m))
    covariance = np.zeros((m, m))
    squares = np.zeros((m, m) if plan.needs_variances else (0, 0))
    with blas_for(float(m) * m * values.n_items):
        if plan.across is not None:
            covariance, scale, relative, mean, variance = _gram_across(values, plan, pool)
        for stratum, gram in _grams(values, plan, pool) if plan.across is None else ():
            square, weight = stratum.scale**2, stratum.scale * stratum.sizes.sum()
            add_products(gram.products, square, stratum.df, covariance, squares)
            scale += square * gram.scale
            relative += weight * gram.relative
            mean += weight * gram.mean
            variance += square * gram.variance
    df: Any = plan.shared_degrees
    covariance = mirrored(covariance)
    if plan.needs_variances:
        df = plan.degrees(_variances(covariance), mirrored(squares))
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


def mirrored(lower: Floats) -> Floats:
    """Fill a symmetric matrix from its lower half."""
    return np.asarray(np.tril(lower) + np.tril(lower, -1).T)


def _variances(products: Floats) -> Floats:
    """The variance of each pair's difference."""
    variance = np.diagonal(products)
    return np.maximum(variance[:, None] + variance - 2.0 * products, 0.0)


def _grams(values: Values, plan: UnitPlan, pool: ThreadPool) -> Iterator[tuple[Stratum, Gram]]:
    """Products of the residuals of each stratum."""
    strata = plan.strata
    if strata[0].units is not None:
        sums = _all_sums(values, plan, pool)
        raw = _all_sums(values, plan, pool, raw=True)
        for stratum, where in zip(strata, plan.places, strict=True):
            part, factors = sums[:, where], stratum.factors
            residuals = _residuals(part, stratum) * np.sqrt(factors)
            scale = np.einsum("ij,ij,j->i", part, part, factors)
            relative = part.sum(axis=1) / stratum.sizes.sum()
            moments = [
                residual_squares(np.ascontiguousarray(row), stratum.sizes, factors)
                for row in raw[:, where]
            ]
            mean, variance = np.array(moments).T
            yield stratum, Gram(residuals @ residuals.T, scale, relative, mean, variance)
        return
    if plan.plain and (gram := _gram_as_it_is(values, strata[0], pool)) is not None:
        yield strata[0], gram
        return
    size = max(1, _PRODUCTS // len(values.names) ** 2)
    for block in parts(len(strata), size):
        yield from zip(strata[block], item_grams(values, strata[block], pool), strict=True)


def _gram_as_it_is(values: Values, stratum: Stratum, pool: ThreadPool) -> Gram | None:
    """Products of the values themselves, less what the means add.

    None where there are few of them, or digits would be lost in many pairs. In blocks,
    so that an array and single columns give the same bits.
    """
    m, n, factor = len(values.columns), values.n_items, float(stratum.factors[0])
    if n * m < _LARGE or any(column.dtype != np.float64 for column in values.columns):
        return None

    def read(models: slice, items: slice) -> Floats:
        if values.matrix is None:
            return np.stack([x[items] for x in values.columns[models]])
        return values.matrix[models, items]

    sums, products = row_products(read, m, n, pool)
    mean = sums / n
    scale = factor * np.diagonal(products)
    products -= n * np.outer(mean, mean)
    products *= factor
    variance = np.maximum(np.diagonal(products), 0.0)
    lost = _variances(products) < LOST * (scale[:, None] + scale)
    if np.count_nonzero(lost) >= 4 * len(lost):
        return None
    return Gram(products, scale, mean, mean, variance)


def row_products(
    read: Callable[[slice, slice], Floats], m: int, n: int, pool: ThreadPool
) -> tuple[Floats, Floats]:
    """Sums of m rows of n values, (M,), and the lower half of their products, (M, M).

    `read` gives some items of some rows. Tiles of rows, and of few rows pieces of items, are
    each multiplied by one thread.
    """
    rows, pieces = parts(m, _TILE), parts(n, -(-n // _PIECES) if m <= _TILE else n)
    sums, partial = np.zeros((len(pieces), m)), np.zeros((len(pieces), m, m))

    def multiply(task: tuple[int, slice, slice]) -> None:
        k, first, second = task
        start, end = pieces[k].start, pieces[k].stop
        for part in parts(end - start, max(1024, _AT_ONCE // m)):
            items = slice(start + part.start, start + part.stop)
            a = b = read(first, items)
            if first == second:
                sums[k, first] += a.sum(axis=1)
            else:
                b = read(second, items)
            partial[k, first, second] += a @ b.T

    tasks = [
        (k, a, b) for k in range(len(pieces)) for a in rows for b in rows if b.start <= a.start
    ]
    with BlasThreads(1):
        pool.run(multiply, tasks, steps=0, here=n * m < 2 * _LARGE)
    return sums.sum(axis=0), partial.sum(axis=0)


def _all_sums(values: Values, plan: UnitPlan, pool: ThreadPool, *, raw: bool = False) -> Floats:
    """Sums of the values of all units, stratum by stratum, shape (M, G).

    Without what the models have in common, unless `raw`.
    """
    m, codes = len(values.names), plan.codes
    pilot = _NONE if raw else pilot_of(values, slice(None))
    weights = _NONE if plan.weights is None else plan.weights
    sums = np.zeros((m, plan.places[-1].stop))

    def add(models: slice) -> None:
        for i in range(models.start, models.stop):
            add_cluster_sums(values.columns[i], pilot, weights, codes, sums[i])

    rows, few = parts(m, -(-m // (4 * pool.threads))), m * values.n_items < _SMALL
    pool.run(add, rows, steps=0, here=few)
    return sums


def _residuals(sums: Floats, stratum: Stratum) -> Floats:
    mean = sums.sum(axis=1, keepdims=True) / stratum.sizes.sum()
    return np.asarray(sums - mean * stratum.sizes)


def _gram_across(values: Values, plan: UnitPlan, pool: ThreadPool) -> Gram:
    """Products of the residuals of clusters, each added over the strata that it lies in."""
    assert plan.across is not None
    m = len(values.names)
    means, residuals = np.zeros((2, m)), np.zeros((2, m, plan.n_units))
    for raw in (False, True):  # without and with what models have in common
        sums = _all_sums(values, plan, pool, raw=raw)
        for stratum, where in zip(plan.strata, plan.places, strict=True):
            stratum_sums = sums[:, where]
            # A cluster is once in a stratum.
            at = plan.across[where]
            residuals[int(raw)][:, at] += stratum.scale * _residuals(stratum_sums, stratum)
            means[int(raw)] += stratum.scale * stratum_sums.sum(axis=1)
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
    moments: list[float]


def plain_estimates(a: NDArray[Any], b: NDArray[Any], plan: UnitPlan) -> PlainEstimates:
    """Both means and their difference, in two passes."""
    difference_moments(a, b, out := np.empty(10))
    moments = mean, squares, _, reach, largest, mean_a, mean_b, of_a, of_b, _ = out.tolist()
    lost = reach <= 8 * 2.0**-52 * largest
    factor = 1.0 / (a.size - 1.0) / a.size
    if plan.plain:
        factor = float(plan.strata[0].factors[0]) / a.size**2
    df = plan.shared_degrees
    return PlainEstimates(
        MeanEstimate(mean, 0.0 if lost else factor * squares, df),
        MeanEstimate(mean_a, factor * of_a, df),
        MeanEstimate(mean_b, factor * of_b, df),
        moments,
    )


def difference_of(a: NDArray[Any], b: NDArray[Any], plan: UnitPlan) -> MeanEstimate:
    """The difference of two models directly from their values."""
    if plan.plain:
        return plain_estimates(a, b, plan).difference
    d = a.astype(np.float64) - b
    tiny = 8 * np.finfo(np.float64).eps * max(float(np.abs(x).max()) for x in (a, b))
    difference, variances, start = 0.0, [], 0
    residuals = np.zeros(plan.n_units)
    for stratum in plan.strata:
        weighted = d if stratum.items is None else d[stratum.items]
        weighted = weighted if stratum.weights is None else weighted * stratum.weights
        if stratum.units is not None:
            weighted = np.bincount(stratum.units, weighted, stratum.sizes.size)
        difference += stratum.scale * float(weighted.sum())
        left = weighted - stratum.sizes * (weighted.sum() / stratum.sizes.sum())
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


# Products of the influences of samples on all models, in blocks of samples.


_INFLUENCE_BLOCK = 1 << 24  # influences of a block: 64 MB in single precision
_JOINED = 2  # blocks that are added up in their own precision
_LEAST = 1024  # samples of a block


def influence_gram(
    rows: NDArray[Any], preds: Sequence[NDArray[Any]], lookups: Floats, dtype: Any, pool: ThreadPool
) -> Floats:
    """Products of the influences of M models on n samples, less their pilot.

    Of the matrix, (M, M), the lower half; the rest is 0.

    `lookups`, (M, R, K), have the influences by the row of a sample and the prediction.
    Blocks are multiplied in `dtype`; several are added up in double precision.
    """
    from scipy.linalg.blas import dsyrk, ssyrk

    multiply = ssyrk if dtype == np.float32 else dsyrk
    n_models, n = len(preds), rows.size
    width = min(n, max(_LEAST, _INFLUENCE_BLOCK // n_models))
    buffer = np.empty(n_models * width, dtype)
    total = np.zeros((n_models, n_models))
    sums = np.zeros_like(total, dtype, order="F")
    tables = lookups.reshape(n_models, -1).astype(dtype)
    starts = table_starts(rows, lookups.shape[2])
    pilots = range(0, n_models, -(-n_models // _PILOTS))
    model_parts = parts(n_models, max(1, -(-n_models // (4 * pool.threads))))
    blocks = parts(n, width)
    for number, part in enumerate(blocks, 1):
        starts_of_part = starts[part]
        out = buffer[: n_models * starts_of_part.size].reshape(n_models, starts_of_part.size)
        # The average of a few models.
        pilot, none = np.zeros((2, starts_of_part.size), dtype)
        one = np.empty_like(pilot)
        for i in pilots:
            gather_influences(starts_of_part, preds[i][part], tables[i], none, one)
            pilot += one
        pilot = np.asarray(pilot / tables.dtype.type(len(pilots)))

        def gather(
            models: slice,
            part: slice = part,
            starts_of_part: NDArray[Any] = starts_of_part,
            out: NDArray[Any] = out,
            pilot: NDArray[Any] = pilot,
        ) -> None:
            for i in range(models.start, models.stop):
                gather_influences(starts_of_part, preds[i][part], tables[i], pilot, out[i])

        pool.run(gather, model_parts, steps=0)
        sums = multiply(1.0, out.T, beta=1.0, c=sums, trans=1, overwrite_c=1)
        if number % _JOINED == 0 or number == len(blocks):
            total += sums.T
            sums[...] = 0.0
    return total
