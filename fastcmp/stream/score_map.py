"""A monotone map from scores to at most 2**16 bins, and counts of blocks of scores in them."""

from __future__ import annotations

from functools import cache
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastcmp.core.checks import as_numbers, check_size, choose
from fastcmp.core.errors import BadValueError
from fastcmp.core.typing import Flags, Floats, Ints
from fastcmp.inputs.scores import as_scores
from fastcmp.kernels.score_bins import BinTables, find_score_bins

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
    """Ascending edges for scores; NaN among them are left out."""
    step = max(1, -(-column.size // _SAMPLE))
    sample = _numbers_of(column[::step])
    sample.sort()
    # Values with a bin of their own: all, where they are few and repeat, or the frequent ones.
    starts = np.flatnonzero(np.append(True, sample[1:] != sample[:-1])[: sample.size])
    values, counts = sample[starts], np.diff(starts, append=sample.size)
    atoms = None
    if values.size <= min(sample.size // 2, _MOST_VALUES):
        atoms = values if sample.size == column.size else _few_values(column)
    if atoms is None:
        atoms = values[counts > max(1, sample.size >> _HEAVY)]
    others = sample[~np.isin(sample, atoms)] if atoms.size else sample
    ends = np.array([-np.inf, np.inf], column.dtype)
    with np.errstate(over="ignore"):  # beyond the largest number comes inf
        following = np.nextafter(np.append(atoms, ends[:1]), ends[1:])
    pieces = [atoms, following, ends[1:]]
    n_free = MOST_EDGES - sum(piece.size for piece in pieces)
    # Edges at the first mantissa bits, over all numbers.
    cells = np.arange(1 << (16 - _COARSE), dtype=as_words(sample).dtype)
    shift = 8 * column.dtype.itemsize - 16 + _COARSE
    coarse = _numbers(cells << cells.dtype.type(shift), column.dtype)
    if coarse.size <= n_free:
        pieces.append(coarse)
        n_free -= coarse.size
    pieces.append(_mass_edges(others, n_free))
    edges = np.unique(np.concatenate(pieces))
    return np.asarray(edges[edges > ends[0]])


def as_words(column: NDArray[Any]) -> NDArray[Any]:
    """View the bits of scores as whole numbers."""
    kind = np.uint32 if column.dtype == np.float32 else np.uint64
    return np.ascontiguousarray(column).view(kind)


def _keys(scores: NDArray[Any]) -> NDArray[Any]:
    """Whole numbers that order as the scores do."""
    words = as_words(scores + scores.dtype.type(0))
    sign = words.dtype.type(1 << (8 * words.itemsize - 1))
    return np.where(words & sign, ~words, words | sign)


def _numbers(keys: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Undo `_keys`, and leave out the keys of NaN."""
    sign = keys.dtype.type(1 << (8 * keys.itemsize - 1))
    scores: NDArray[Any] = np.where(keys & sign, keys ^ sign, ~keys).view(dtype)
    return np.asarray(scores[~np.isnan(scores)])


def _numbers_of(column: NDArray[Any]) -> NDArray[Any]:
    """Copy scores without NaN, -0.0 as 0.0."""
    return np.asarray(column[~np.isnan(column)] + column.dtype.type(0))


def _few_values(column: NDArray[Any]) -> NDArray[Any] | None:
    """List the values of a long column; None if there are too many."""
    values = column[:0]
    for start in range(0, column.size, _SAMPLE):
        values = np.union1d(values, _numbers_of(column[start : start + _SAMPLE]))
        if values.size > _MOST_VALUES:
            return None
    return values


def _mass_edges(sample: NDArray[Any], n_free: int) -> NDArray[Any]:
    """Edges that cut each cell into parts, in proportion to the scores in it.

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


def _slot_starts(cells: NDArray[Any], width: Ints, shift: int) -> tuple[NDArray[np.uint64], Ints]:
    """The first key of each slot; the first slot of each cell."""
    first = np.cumsum(width) - width
    slot = np.arange(int(width.sum())) - np.repeat(first, width)
    wide = np.repeat(width, width).astype(np.uint64)
    # Slot k begins where (low_bits * width) >> shift becomes k.
    low_bits = ((slot.astype(np.uint64) << np.uint64(shift)) + wide - np.uint64(1)) // wide
    start = np.repeat(cells.astype(np.uint64) << np.uint64(shift), width) + low_bits
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


# A monotone map from scores to at most 2**16 bins, fine where the scores are.


_WIDE: dict[str, np.dtype[Any]] = {"float32": np.dtype(np.float32), "float64": np.dtype(np.float64)}
#: Types of which every value has a bin.
_NARROW = ("bfloat16", "float16", "int8", "int16", "uint8", "uint16")


class ScoreMap:
    """Bins of scores: bin i holds those from edge i - 1 up to, but without, edge i.

    A map is ascending, so that scores in different bins are in the order of the bins.
    `ScoreCounts` and `RocSketch` count by it. `fit` chooses the edges from some scores;
    parts of the data that are to be merged must be counted with one map.

    Parameters
    ----------
    edges : array-like of float, shape (B - 1,)
        Different numbers, ascending; at most 2**16 - 1.
    grid : str
        The type that scores have: "float32", "float64", "float16", "bfloat16", "int8",
        "int16", "uint8" or "uint16". A bin that holds one value of this type is exact.

    Raises
    ------
    ValueError
        If edges do not ascend, are NaN, too many, or not values of the type; or the
        type has at most 16 bits, and they are not all its values.

    See Also
    --------
    ScoreCounts : Count scores by a map.

    Examples
    --------
    >>> from fastcmp.stream.score_map import ScoreMap
    >>> ScoreMap([0.0, 0.5]).bins([-1.0, 0.0, 0.3, 0.5]).tolist()
    [0, 1, 1, 2]
    """

    __slots__ = ("_tables", "edges", "grid")

    def __init__(self, edges: ArrayLike, *, grid: str = "float64") -> None:
        array = as_numbers(edges, "edges") + 0.0  # -0.0 is 0.0
        array = array.astype(np.float64)
        if array.ndim != 1 or array.size > MOST_EDGES:
            raise BadValueError(
                f"`edges` must be at most {MOST_EDGES} numbers", f"shape {array.shape}"
            )
        if np.isnan(array).any() or not np.all(array[1:] > array[:-1]):
            raise BadValueError("`edges` must ascend, and hold no NaN")
        grid = choose(grid, "grid", (*_WIDE, *_NARROW))
        if grid in _NARROW and not np.array_equal(array, _values_of(grid)[1:]):
            raise BadValueError(
                f"`edges` of {grid} scores must be all values of that type: use fit"
            )
        array.flags.writeable = False
        self.edges = array
        self.grid = grid
        with np.errstate(over="ignore"):
            rounded = array.astype(self.dtype)
        if not np.array_equal(array, rounded):
            raise BadValueError(f"`edges` must be {grid} values")
        self._tables: BinTables | None = None

    @classmethod
    def fit(cls, scores: ArrayLike) -> Self:
        """Choose bins that are narrow where there are many scores.

        Parameters
        ----------
        scores : array-like, shape (n,)
            Scores such as will be counted, and of the same type; of more than 2**20
            every k-th is looked at.

        Returns
        -------
        ScoreMap
            For a type of at most 16 bits, a bin for each of its values. For scores that
            repeat, twice on average, and have less than 2**15 - 1 different values, a
            bin for each of these. Otherwise bins of about as many scores each, and a
            bin of its own for a value of more than 2**-14 of the scores.

        Raises
        ------
        ValueError
            If there are no scores, or one is NaN.
        TypeError
            If they are not numbers.

        Notes
        -----
        Every eighth of an octave keeps a bin of its own (of float64, every octave), so
        that later scores have a place wherever they fall.

        Examples
        --------
        >>> from fastcmp.stream.score_map import ScoreMap
        >>> found = ScoreMap.fit([0.25, 0.25, 0.75, 0.75])
        >>> bins = found.bins([0.25, 0.5, 0.75])
        >>> found.exact[bins].tolist()
        [True, False, True]
        """
        column, kind, _ = as_scores(scores, "scores")
        check_size(column.size, "scores", "score to choose bins", 1)
        if np.isnan(column).any():
            raise BadValueError(
                f"`scores` has NaN for sample {np.flatnonzero(np.isnan(column))[0]}"
            )
        return cls._for_type(column, kind)

    @classmethod
    def _for_type(cls, column: NDArray[Any], kind: np.dtype[Any]) -> Self:
        """Bins for scores of a type, that of the input; NaN are left out."""
        if kind.name not in _WIDE:
            return cls(_values_of(kind.name)[1:], grid=kind.name)
        return cls(choose_edges(column), grid=kind.name)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type in which scores are compared: float32 or float64."""
        return _WIDE["float64" if self.grid == "float64" else "float32"]

    @property
    def n_bins(self) -> int:
        """Number of bins, B."""
        return int(self.edges.size) + 1

    @property
    def exact(self) -> Flags:
        """Whether a bin holds one value of the type at most, shape (B,)."""
        if self.grid not in _WIDE:
            return np.ones(self.n_bins, np.bool_)
        edges = self.edges.astype(self.dtype)
        low = np.concatenate([np.full(1, -np.inf, self.dtype), edges])
        with np.errstate(over="ignore"):  # beyond the largest number comes inf
            following = np.nextafter(low, self.dtype.type(np.inf))
        # The first bin begins with -inf, the last one ends with inf.
        single = following[:-1] >= edges
        return np.append(single, low[-1] == np.inf)

    @property
    def thresholds(self) -> Floats:
        """The smallest score of each bin, -inf for the first, shape (B,)."""
        return np.concatenate([[-np.inf], self.edges])

    def bins(self, scores: ArrayLike) -> Ints:
        """The bins of scores.

        Parameters
        ----------
        scores : array-like, shape (n,)
            Scores of the type of the map, or a narrower one.

        Returns
        -------
        ndarray of int64, shape (n,)
            From 0 to B - 1.

        Raises
        ------
        ValueError
            If one is NaN, or they are of a wider type.
        TypeError
            If they are not numbers.

        Examples
        --------
        >>> from fastcmp.stream.score_map import ScoreMap
        >>> ScoreMap([0.0]).bins([-1, 0, 1]).tolist()
        [0, 1, 1]
        """
        column = self._convert(*as_scores(scores, "scores")[:2], "scores")
        return self._bins_of(column)

    def _bins_of(self, column: NDArray[Any]) -> Ints:
        """The bins of scores that have the type of the map."""
        bins = np.empty(column.size, np.int64)
        at = find_score_bins(as_words(column), self._lookup(), bins)
        if at < column.size:
            raise BadValueError(f"`scores` has NaN for sample {at}")
        return bins

    def _convert(self, column: NDArray[Any], kind: np.dtype[Any], name: str) -> NDArray[Any]:
        """Scores in the type of the map, which must hold them."""
        if not holds(kind, self.grid):
            raise BadValueError(
                f"`{name}` must be {self.grid} scores, those of the map",
                kind,
                ": convert them, or start with the wider type",
            )
        return column.astype(self.dtype, copy=False)

    def _lookup(self) -> BinTables:
        """The tables in which kernels look up bins."""
        if self._tables is None:
            edges = self.edges.astype(self.dtype)
            if self.grid not in _WIDE:
                edges = _evenly(edges)
            self._tables = make_tables(edges)
        return self._tables

    def __eq__(self, other: object) -> bool:
        """Compare edges and grid."""
        if not isinstance(other, ScoreMap):
            return NotImplemented
        return self.grid == other.grid and np.array_equal(self.edges, other.edges)

    def __hash__(self) -> int:
        return hash((self.grid, self.edges.tobytes()))

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (self.edges, self.grid)

    def __repr__(self) -> str:
        return f"<ScoreMap: {self.n_bins} bins of {self.grid} scores>"


@cache
def _values_of(grid: str) -> Floats:
    """List all values of a narrow type, ascending."""
    if grid == "bfloat16":  # the upper half of a float32; NumPy does not know it
        values = (np.arange(1 << 16, dtype=np.uint32) << np.uint32(16)).view(np.float32)
    else:
        dtype = np.dtype(grid)
        words = np.arange(1 << (8 * dtype.itemsize))
        values = words.astype(f"u{dtype.itemsize}").view(dtype)
    with np.errstate(invalid="ignore"):  # signalling NaN are among them
        wide = values.astype(np.float64)
    return np.unique(wide[~np.isnan(wide)] + 0.0)


def _evenly(edges: NDArray[Any]) -> NDArray[Any]:
    """Move edges below zero down to where the value before ends.

    No value lies between. The edges of float16 and bfloat16 then cut each cell into
    parts of one width, below zero as above, for which kernels need no bisection.
    """
    lowest = np.array([-np.inf], edges.dtype) if edges[-1] == np.inf else edges[:1]
    ends = np.nextafter(np.append(lowest, edges[:-1]), edges.dtype.type(np.inf))
    if lowest[0] == edges[0]:  # what comes before it is not known
        ends[0] = edges[0]
    return np.where(edges <= 0, ends, edges)


def holds(kind: np.dtype[Any], into: str) -> bool:
    """Whether a type, given by name, holds all values of another."""
    if into in {kind.name, "float64"}:
        return True
    if into == "float32":
        return kind.name != "float64"
    try:
        return kind.name not in _WIDE and np.can_cast(kind, into)
    except TypeError:  # a type that NumPy does not know by name, such as bfloat16
        return False


def _rebuild(edges: Floats, grid: str) -> ScoreMap:
    return ScoreMap(edges, grid=grid)
