"""Edges of bins, and the tables in which kernels look up the bin of a score."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastcmp.kernels.score_bins import BinTables

#: Edges of a map, at most: then there are 2**16 bins.
MOST_EDGES = (1 << 16) - 1

_MOST_VALUES = (1 << 15) - 2  # with two edges each, beside two at the infinities
_SAMPLE = 1 << 20  # scores by which edges are chosen
_HEAVY = 14  # a value of more than 2**-14 of the scores has a bin of its own
_COARSE = 4  # keys with this many bits less than a cell's: 8 float32 bins an octave
_CELLS = 1 << 16
_MOST_SLOTS = 1 << 18
_FEW_STEPS = 2  # of bisection, for up to 3 edges in a slot


def choose_edges(column: NDArray[Any]) -> NDArray[Any]:
    """Choose ascending edges for scores; NaN among them are left out."""
    step = max(1, -(-column.size // _SAMPLE))
    sample = _numbers_of(column[::step])
    sample.sort()
    atoms = _atoms(sample, column)
    rest = sample[~np.isin(sample, atoms)] if atoms.size else sample
    ends = np.array([-np.inf, np.inf], column.dtype)
    with np.errstate(over="ignore"):  # beyond the largest number comes inf
        following = np.nextafter(np.append(atoms, ends[:1]), ends[1:])
    pieces = [atoms, following, ends[1:]]
    n_free = MOST_EDGES - sum(piece.size for piece in pieces)
    coarse = _coarse_edges(column.dtype)
    if coarse.size <= n_free:
        pieces.append(coarse)
        n_free -= coarse.size
    pieces.append(_mass_edges(rest, n_free))
    edges = np.unique(np.concatenate(pieces))
    found: NDArray[Any] = edges[edges > ends[0]]
    return found


def as_words(column: NDArray[Any]) -> NDArray[Any]:
    """View the bits of scores as whole numbers."""
    kind = np.uint32 if column.dtype == np.float32 else np.uint64
    return np.ascontiguousarray(column).view(kind)


def _keys(scores: NDArray[Any]) -> NDArray[Any]:
    """Make whole numbers that order as the scores do."""
    words = as_words(scores + scores.dtype.type(0))
    sign = words.dtype.type(1 << (8 * words.itemsize - 1))
    keys: NDArray[Any] = np.where(words & sign, ~words, words | sign)
    return keys


def _numbers(keys: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Undo `_keys`, and leave out the keys of NaN."""
    sign = keys.dtype.type(1 << (8 * keys.itemsize - 1))
    scores: NDArray[Any] = np.where(keys & sign, keys ^ sign, ~keys).view(dtype)
    numbers: NDArray[Any] = scores[~np.isnan(scores)]
    return numbers


def _numbers_of(column: NDArray[Any]) -> NDArray[Any]:
    """Copy scores without NaN, -0.0 as 0.0."""
    numbers: NDArray[Any] = column[~np.isnan(column)] + column.dtype.type(0)
    return numbers


def _atoms(sample: NDArray[Any], column: NDArray[Any]) -> NDArray[Any]:
    """Choose the values that have a bin of their own."""
    values, counts = np.unique(sample, return_counts=True)
    if values.size <= min(sample.size // 2, _MOST_VALUES):
        if sample.size == column.size:
            return values
        everything = _few_values(column)
        if everything is not None:
            return everything
    return values[counts > max(1, sample.size >> _HEAVY)]


def _few_values(column: NDArray[Any]) -> NDArray[Any] | None:
    """List the values of a long column; None if there are too many."""
    values = column[:0]
    for start in range(0, column.size, _SAMPLE):
        values = np.union1d(values, _numbers_of(column[start : start + _SAMPLE]))
        if values.size > _MOST_VALUES:
            return None
    return values


def _coarse_edges(dtype: np.dtype[Any]) -> NDArray[Any]:
    """Edges at the first mantissa bits, over all numbers."""
    kind = np.uint32 if dtype == np.float32 else np.uint64
    shift = 8 * dtype.itemsize - 16 + _COARSE
    keys: NDArray[Any] = np.arange(1 << (16 - _COARSE), dtype=kind)
    return _numbers(keys << keys.dtype.type(shift), dtype)


def _mass_edges(sample: NDArray[Any], n_free: int) -> NDArray[Any]:
    """Cut each cell into parts, in proportion to the scores in it.

    The parts of a cell are of one width, for which the kernels need no bisection. Half
    of the edges go by the scores in a cell, half by those in 16 cells, since of a small
    sample none may have fallen where later ones do.
    """
    keys = _keys(sample)
    shift = keys.dtype.type(8 * keys.itemsize - 16)
    counts = np.bincount((keys >> shift).astype(np.int64), minlength=_CELLS)
    around = np.repeat(counts.reshape(-1, 1 << _COARSE).sum(axis=1), 1 << _COARSE)
    weight = (counts << _COARSE) + around
    width = weight * n_free // max(1, int(weight.sum()))
    cells = np.flatnonzero(width)
    width = width[cells]
    start, _ = _slot_starts(cells, width, int(shift))
    return _numbers(start.astype(keys.dtype), sample.dtype)


def _slot_starts(
    cells: NDArray[Any], width: NDArray[np.int64], shift: int
) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Give the first key of each slot; the first slot of each cell."""
    first = np.cumsum(width) - width
    slot = np.arange(int(width.sum())) - np.repeat(first, width)
    wide = np.repeat(width, width).astype(np.uint64)
    # Slot k begins where (rest * width) >> shift becomes k.
    rest = ((slot.astype(np.uint64) << np.uint64(shift)) + wide - np.uint64(1)) // wide
    start = np.repeat(cells.astype(np.uint64) << np.uint64(shift), width) + rest
    return start, first


def make_tables(edges: NDArray[Any]) -> BinTables:
    """Cut cells into slots until few edges lie within one."""
    keys = _keys(edges)
    shift = 8 * keys.itemsize - 16
    wide = keys.astype(np.uint64)
    cells = np.arange(_CELLS)
    starts = cells.astype(np.uint64) << np.uint64(shift)
    below = np.searchsorted(wide, starts, side="right")
    inside = np.append(np.searchsorted(wide, starts[1:]), wide.size) - below
    width = np.minimum(inside + 1, _CELLS - 1)
    while True:
        start, first = _slot_starts(cells, width, shift)
        lowest = np.searchsorted(wide, start, side="right")
        within = np.append(np.searchsorted(wide, start[1:]), wide.size) - lowest
        most = np.maximum.reduceat(within, first)
        crowded = (most >= 1 << _FEW_STEPS) & (width < _CELLS - 1)
        wider = np.where(crowded, np.minimum(2 * width, _CELLS - 1), width)
        if not most.any() or not crowded.any() or wider.sum() > _MOST_SLOTS:
            break
        width = wider
    steps = int(most.max()).bit_length()
    pad = np.full(1 << steps, np.iinfo(keys.dtype).max, keys.dtype)
    return BinTables(
        first=(first if steps else below).astype(np.uint32),
        width=width.astype(np.uint32),
        lowest=(lowest if steps else lowest[:1]).astype(np.uint32),
        edges=np.concatenate([keys, pad]),
        steps=steps,
    )
