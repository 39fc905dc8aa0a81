"""A function of sorted numbers, of tens of millions of them, by a thread pool.

NumPy would sort an index of all numbers, which jumps about in memory. Here they are
dealt into buckets that fit into the caches, and each bucket is sorted by itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastcmp import kernels
from fastcmp.core.threads import no_step, parts

if TYPE_CHECKING:
    from collections.abc import Callable

    from fastcmp.core.threads import ThreadPool

_PART = 1 << 20  # numbers that are dealt in one task
_BUCKETS = 1024

Floats = NDArray[np.float64]


def apply_sorted(
    values: Floats, function: Callable[[Floats], Floats], pool: ThreadPool
) -> None:
    """Replace numbers by a function of all of them, sorted.

    Parameters
    ----------
    values : ndarray of float64, shape (m,)
        Numbers in [0, 1]; each becomes its answer.
    function : callable
        From all numbers, ascending, to as many answers; 0 for a 0.
    pool : ThreadPool
        Who sorts.
    """
    found = _sort(values, pool)
    answers = function(np.concatenate([np.zeros(found.n_zeros), found.values]))

    def put_back(part: slice) -> None:
        answer = answers[found.n_zeros + part.start : found.n_zeros + part.stop]
        kernels.put_back(answer, found.order[part], values)

    pool.run(put_back, found.buckets, steps=no_step)


def apply_steps(
    values: Floats,
    step: Callable[[Floats, Floats], Floats],
    within: str,
    pool: ThreadPool,
) -> None:
    """Replace each number by a bound from its rank, made monotone.

    Parameters
    ----------
    values : ndarray of float64, shape (m,)
        Numbers in [0, 1]; each becomes what `monotone` gives of all bounds.
    step : callable
        From some numbers, ascending, and their ranks (1 for the smallest of all) to
        their bounds; 0 for a 0.
    within : {"below", "above"}
        As in `monotone`.
    pool : ThreadPool
        Who does the work.
    """
    found = _sort(values, pool)
    buckets = found.buckets

    def bounds(part: slice) -> Floats:
        rank = np.arange(part.start + 1.0, part.stop + 1.0) + found.n_zeros
        return monotone(step(found.values[part], rank), within)

    # The bound that a bucket hands on to all further ones.
    ends = np.empty(len(buckets))

    def end(i: int) -> None:
        ends[i] = bounds(buckets[i])[-1 if within == "below" else 0]

    def finish(i: int) -> None:
        answers = bounds(buckets[i])
        if within == "below" and i > 0:
            np.maximum(answers, ends[i - 1], out=answers)
        elif within == "above" and i + 1 < len(buckets):
            np.minimum(answers, ends[i + 1], out=answers)
        kernels.put_back(answers, found.order[buckets[i]], values)

    pool.run(end, range(len(buckets)), steps=no_step)
    monotone(ends, within)
    pool.run(finish, range(len(buckets)), steps=no_step)


def monotone(bounds: Floats, within: str) -> Floats:
    """Replace bounds of ascending numbers by monotone ones.

    Parameters
    ----------
    bounds : ndarray of float64, shape (m,)
        Changed in place.
    within : {"below", "above"}
        The largest bound of the numbers up to each, or the smallest from it on.

    Returns
    -------
    ndarray of float64, shape (m,)
        The same array.
    """
    if within == "below":
        return np.maximum.accumulate(bounds, out=bounds)
    np.minimum.accumulate(bounds[::-1], out=bounds[::-1])
    return bounds


class _Sorted(NamedTuple):
    """Numbers in order."""

    n_zeros: int
    #: All others, ascending, shape (m - n_zeros,), and where each comes from.
    values: Floats
    order: NDArray[Any]
    #: Parts of these that were sorted together.
    buckets: list[slice]


def _sort(values: Floats, pool: ThreadPool) -> _Sorted:
    bits = values.view(np.uint64)
    cuts = parts(values.size, _PART)
    counts = np.zeros((len(cuts), kernels.BUCKET_CELLS), np.int64)

    def count(i: int) -> None:
        kernels.count_cells(bits[cuts[i]], counts[i])

    pool.run(count, range(len(cuts)), steps=no_step)
    n_zeros = int(counts[:, 0].sum())
    counts[:, 0] = 0
    bucket, places, buckets = _plan(counts)
    dealt = np.empty(values.size - n_zeros, np.uint64)
    order = np.empty(dealt.size, np.int32 if values.size < 2**31 else np.int64)

    def deal(i: int) -> None:
        cut = cuts[i]
        kernels.fill_buckets(bits[cut], cut.start, bucket, places[i], dealt, order)

    ordered = dealt.view(np.float64)

    def sort(part: slice) -> None:
        inside = np.argsort(ordered[part])
        ordered[part] = np.take(ordered[part], inside)
        order[part] = np.take(order[part], inside)

    pool.run(deal, range(len(cuts)), steps=no_step)
    pool.run(sort, buckets, steps=no_step)
    return _Sorted(n_zeros, ordered, order, buckets)


def _plan(
    counts: NDArray[np.int64],
) -> tuple[NDArray[np.int64], NDArray[np.int64], list[slice]]:
    """Put neighbouring cells into buckets of about the same size.

    From the counts of each part of the numbers by cell to the bucket of each cell, the
    place of each part's first number of each bucket, and the buckets.
    """
    total = counts.sum(axis=0)
    size = max(1, -(-int(total.sum()) // _BUCKETS))
    share = np.maximum(np.cumsum(total) - 1, 0) // size
    new = np.diff(share, prepend=-1) != 0
    sizes = np.add.reduceat(counts, np.flatnonzero(new), axis=1)
    ends = np.cumsum(sizes.sum(axis=0))
    begins = ends - sizes.sum(axis=0)
    places = np.cumsum(sizes, axis=0) - sizes + begins
    buckets = [
        slice(begin, end)
        for begin, end in zip(begins.tolist(), ends.tolist(), strict=True)
        if end > begin
    ]
    return np.cumsum(new) - 1, places, buckets
