"""How differences of a metric vary: variances of pairs, by the cheapest exact way.

Bit slices count the cells of all pairs where classes are few, one matrix product has
the variances of many pairs, and some pairs are compared sample by sample.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fastcmp.core.threads import no_step
from fastcmp.counts.influence_grams import influence_gram
from fastcmp.counts.pair_tables import PairTables, slices_pay, slices_time
from fastcmp.kernels.metric_slopes import compare_cells, compare_influences
from fastcmp.pairwise.row_distances import RowDistances

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from fastcmp.core.threads import ThreadPool
    from fastcmp.counts.pairs import Block
    from fastcmp.pairwise.metric_models import MetricModels
    from fastcmp.pairwise.metric_samples import MetricSamples

    Floats = NDArray[np.float64]
    Flags = NDArray[np.bool_]

# Nanoseconds on one core: to look up an influence, to compare one sample of a pair, to
# multiply two of single and of double precision, and to compare a cell.
_LOOK_UP, _COMPARE, _CELL = 0.7, 1.5, 1.5
_MULTIPLY = {np.float32: 0.02, np.float64: 0.04}
_LARGE = 1 << 33  # products of influences beyond which single precision is used
#: Variances, of the two models' own, below which a product has lost too many digits.
_LOST = {np.float32: 1e-3, np.float64: 1e-6}
#: Models of a side of a tile, at most; a multiple of TILE_ROWS.
SIDE = 128
_FEW_PAIRS = 4  # chosen pairs per model up to which no product of all is worth it
_NOTHING = 1e-14  # of a standard error: less is rounding


class Spread(NamedTuple):
    """How to find the variances of the differences of pairs."""

    #: Variances, and which pairs predict the same for all samples, (p,).
    of: Callable[[Block], tuple[Floats, Flags]]
    #: Models of a side of a tile, at most.
    side: int = SIDE


class PairSums(NamedTuple):
    """How to add up influences over the samples of pairs, all with one table a pair."""

    #: From a block to what takes some of its pairs and their tables, (p, R, K'), and
    #: gives what `compare_cells` gives, (p, 3).
    of: Callable[[Block], Callable[[slice, Floats], Floats]]
    side: int = SIDE


def spread_of(
    samples: MetricSamples,
    models: MetricModels,
    chosen: NDArray[np.int32] | None,
    pool: ThreadPool,
    *,
    exact: bool = False,
) -> Spread:
    """Choose how to find the variances, and do what is done for all pairs at once.

    With `exact` always in double precision.
    """
    m = samples.n_models
    n_pairs = m * (m - 1) // 2 if chosen is None else len(chosen)
    many = chosen is None or n_pairs > _FEW_PAIRS * m
    if models.rows is not None:
        return _by_rows(samples, models.rows, all_pairs=many)
    assert models.lookups is not None
    lookups = np.where(np.isnan(models.lookups), 0.0, models.lookups)
    single = m * m * samples.n_samples > _LARGE and not exact
    dtype: Any = np.float32 if single else np.float64
    times = _times(samples, n_pairs, dtype)
    if not many:
        del times["product"]
    best = min(times, key=lambda how: times[how])
    if best == "cells":
        return _by_cells(samples, lookups, n_pairs, pool)
    if best == "samples":
        return _by_samples(samples, lookups)
    gram = influence_gram(samples.rows, samples.preds, lookups, dtype, pool)
    return _by_product(samples, lookups, gram, _LOST[dtype])


def _times(samples: MetricSamples, n_pairs: int, dtype: Any) -> dict[str, float]:
    """Estimate nanoseconds of each way, on one core."""
    m, n, k = samples.n_models, samples.n_samples, samples.n_codes
    times = {
        "samples": n_pairs * n * _COMPARE,
        "product": m * n * _LOOK_UP + m * m * n * _MULTIPLY[dtype],
    }
    if samples.weights.size == 1 and slices_pay(m, n_pairs, n, k, k):
        times["cells"] = slices_time(m, n_pairs, n, k, k) + n_pairs * k**3 * _CELL
    return times


def _by_cells(samples: MetricSamples, lookups: Floats, n_pairs: int, pool: ThreadPool) -> Spread:
    """Count the cells of each pair."""
    tables = count_tables(samples, n_pairs, pool)
    assert tables is not None
    return spread_of_cells(lookups, tables.count, tables.side)


def count_tables(samples: MetricSamples, n_pairs: int, pool: ThreadPool) -> PairTables | None:
    """Make ready to count the cells of pairs; None where bit slices do not pay."""
    m, n, k = samples.n_models, samples.n_samples, samples.n_codes
    if not slices_pay(m, n_pairs, n, k, k):
        return None
    tables = PairTables(samples.preds, k, n_pairs, y_true=samples.rows)
    pool.run(tables.pack, tables.packing, steps=no_step)
    return tables


def spread_of_cells(lookups: Floats, count: Callable[[Block], Any], side: int) -> Spread:
    """Find variances from the cells of pairs, ``[p, t, a, b]``."""

    def spread(block: Block) -> tuple[Floats, Flags]:
        i, j = block.pairs.T
        found = np.empty((i.size, 3))
        compare_cells(count(block), lookups[i], lookups[j], found)
        return found[:, 2].copy(), found[:, 0] == 0

    return Spread(spread, side)


def sums_of_cells(count: Callable[[Block], Any], side: int) -> PairSums:
    """Add up over the cells of pairs, ``[p, t, a, b]``."""

    def of(block: Block) -> Callable[[slice, Floats], Floats]:
        tensors = count(block)

        def add(span: slice, psi: Floats) -> Floats:
            found = np.empty((len(psi), 3))
            compare_cells(tensors[span], psi, psi, found)
            return found

        return add

    return PairSums(of, side)


def sums_of(samples: MetricSamples, n_pairs: int, pool: ThreadPool) -> PairSums:
    """Add up over the cells of pairs where bit slices pay, else over samples."""
    tables = count_tables(samples, n_pairs, pool)
    if tables is not None:
        return sums_of_cells(tables.count, tables.side)

    def of(block: Block) -> Callable[[slice, Floats], Floats]:
        def add(span: slice, psi: Floats) -> Floats:
            pairs = block.pairs[span].tolist()
            found = [
                compare_influences(samples.rows, samples.preds[i], samples.preds[j], own, own)
                for (i, j), own in zip(pairs, psi, strict=True)
            ]
            return np.array(found, np.float64).reshape(-1, 3)

        return add

    return PairSums(of)


def _by_samples(samples: MetricSamples, lookups: Floats) -> Spread:
    """Compare pairs sample by sample."""

    def spread(block: Block) -> tuple[Floats, Flags]:
        found = [_compared(samples, lookups, *pair) for pair in block.pairs.tolist()]
        differ, _, squares = np.array(found).reshape(-1, 3).T
        return squares.copy(), differ == 0

    return Spread(spread)


def _compared(samples: MetricSamples, lookups: Floats, i: int, j: int) -> tuple[int, float, float]:
    a, b = samples.preds[i], samples.preds[j]
    return compare_influences(samples.rows, a, b, lookups[i], lookups[j])


def _by_product(samples: MetricSamples, lookups: Floats, gram: Floats, lost: float) -> Spread:
    """Take variances from the lower half of a product; what cancels, by sample."""
    own = np.diagonal(gram).copy()

    def spread(block: Block) -> tuple[Floats, Flags]:
        i, j = block.pairs.T
        both = own[i] + own[j]
        variance = both - 2.0 * gram[np.maximum(i, j), np.minimum(i, j)]
        same = np.zeros(i.size, np.bool_)
        for p in np.flatnonzero(variance <= lost * both):
            found = _compared(samples, lookups, int(i[p]), int(j[p]))
            same[p], variance[p] = found[0] == 0, found[2]
        return variance, same

    return Spread(spread)


def _by_rows(samples: MetricSamples, rows: Floats, *, all_pairs: bool) -> Spread:
    """Take variances as squared distances of rows, of clusters or of samples."""
    noise = _NOTHING**2 * float((rows**2).sum(axis=1).max())
    distances = RowDistances(rows, noise, all_pairs=all_pairs)

    def spread(block: Block) -> tuple[Floats, Flags]:
        variance = distances(block.pairs)
        same = variance == 0.0
        for p in np.flatnonzero(same):
            a, b = (samples.preds[model] for model in block.pairs[p])
            same[p] = np.array_equal(a, b)
        return variance, same

    return Spread(spread)
