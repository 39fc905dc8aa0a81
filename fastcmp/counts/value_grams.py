"""Products of the values of all models, stratum by stratum, in blocks of items.

What models have in common on an item is subtracted first: it is in no difference, and
products would lose digits to it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fastcmp.core.threads import no_step, parts
from fastcmp.kernels.item_values import _centre_products, copy_values

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from fastcmp.core.threads import ThreadPool
    from fastcmp.counts.item_units import Stratum
    from fastcmp.inputs.values import Values

    Floats = NDArray[np.float64]

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
    where: NDArray[np.int64]
    #: Where the items of each stratum begin, and the last ones end, shape (H + 1,).
    ends: NDArray[np.int64]
    #: What to subtract from each, shape (b,).
    pilot: Floats
    #: Weights, and what a squared residual counts, shape (b,); or (H,), where all items
    #: of a stratum have the same.
    sizes: Floats
    counts: Floats


def item_grams(values: Values, strata: Sequence[Stratum], pool: ThreadPool) -> list[Gram]:
    """Multiply the residuals of items that are units alone, for each stratum."""
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

        def copy(some: slice, block: _Block = block, out: Floats = out) -> None:
            for i in range(some.start, some.stop):
                row = (i, m, weighted)
                copy_values(values.columns[i], block, middle[i], row, out, sums[i])

        pool.run(copy, rows, steps=no_step, here=out.size < _SMALL)
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
    """Cut the items into blocks, and sort each by stratum."""
    n, weighted = values.n_items, strata[0].weights is not None
    starts = np.append(np.arange(0, n, width), n)
    alone = strata[0].items is None
    cuts = [starts if alone else np.searchsorted(one.items, starts) for one in strata]  # type: ignore[arg-type]
    same = np.array([(one.sizes[0], one.factors[0]) for one in strata])
    for k in range(starts.size - 1):
        pieces = [slice(cut[k], cut[k + 1]) for cut in cuts]
        own = list(zip(strata, pieces, strict=True))
        ends = np.cumsum([0, *(piece.stop - piece.start for piece in pieces)])
        items: Any = pieces[0]
        where = starts[k : k + 1].copy()
        if not alone:
            items = where = np.concatenate([one.items[piece] for one, piece in own])  # type: ignore[index]
        sizes, factors = same.T
        if weighted:
            sizes = np.concatenate([one.sizes[piece] for one, piece in own])
            factors = np.concatenate([one.factors[piece] for one, piece in own])
        counts = factors * sizes**2
        yield _Block(where, ends, pilot_of(values, items), np.ascontiguousarray(sizes), counts)


def _first_means(values: Values, strata: Sequence[Stratum]) -> Floats:
    """Average a few values of each model and stratum, shape (M, H, 2).

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
    """Average a few models: what most have in common on some items."""
    columns = values.columns
    some = columns[:: -(-len(columns) // _PILOTS)]
    total = np.zeros_like(some[0][where], np.float64)
    for column in some:
        total += column[where]
    return np.asarray(total / len(some))


def _about_means(upper: Floats, stratum: Stratum, sums: Floats, middle: Floats) -> Gram:
    """Turn moments about the first means into moments about the means."""
    weight = stratum.sizes.sum()
    count = float((stratum.factors * stratum.sizes**2).sum())
    scale = np.diagonal(upper).copy()
    shift, crossed = sums[:, 0] / weight, sums[:, 1]
    products = upper.T  # in the usual order, and its lower half
    _centre_products(products, shift, crossed, count)
    own = sums[:, 2] / weight
    variance = sums[:, 4] - 2.0 * own * sums[:, 3] + own * own * count
    relative, mean = middle[:, 0] + shift, middle[:, 1] + own
    return Gram(products, scale, relative, mean, np.maximum(variance, 0.0))
