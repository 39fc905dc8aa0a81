"""A monotone map from scores to at most 2**16 bins, fine where the scores are."""

from __future__ import annotations

from functools import cache
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastcmp.core.checks import as_numbers
from fastcmp.core.options import choose
from fastcmp.inputs.scores import as_scores
from fastcmp.kernels.score_bins import BinTables, find_score_bins
from fastcmp.stream.score_edges import MOST_EDGES, as_words, choose_edges, make_tables

Floats = NDArray[np.float64]

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
            raise ValueError(f"edges must be at most {MOST_EDGES} numbers, got shape {array.shape}")
        if np.isnan(array).any() or not np.all(array[1:] > array[:-1]):
            raise ValueError("edges must ascend, and hold no NaN")
        grid = choose(grid, "grid", (*_WIDE, *_NARROW))
        if grid in _NARROW and not np.array_equal(array, _values_of(grid)[1:]):
            raise ValueError(f"edges of {grid} scores must be all values of that type: use fit")
        array.flags.writeable = False
        self.edges = array
        self.grid = grid
        with np.errstate(over="ignore"):
            rounded = array.astype(self.dtype)
        if not np.array_equal(array, rounded):
            raise ValueError(f"edges must be {grid} values")
        self._tables: Any = None

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
        column, kind = read_score_column(scores, "scores")
        if not column.size:
            raise ValueError("scores must hold at least one score to choose bins, got none")
        if np.isnan(column).any():
            raise ValueError(f"scores has NaN for sample {np.flatnonzero(np.isnan(column))[0]}")
        return cls._for_type(column, kind)

    @classmethod
    def _for_type(cls, column: NDArray[Any], kind: np.dtype[Any]) -> Self:
        """Choose bins for scores of a type, that of the input; NaN are left out."""
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
    def exact(self) -> NDArray[np.bool_]:
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

    def bins(self, scores: ArrayLike) -> NDArray[np.int64]:
        """Find the bins of scores.

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
        column = self._convert(*read_score_column(scores, "scores"), "scores")
        return self._bins_of(column)

    def _bins_of(self, column: NDArray[Any]) -> NDArray[np.int64]:
        """Find the bins of scores that have the type of the map."""
        bins = np.empty(column.size, np.int64)
        at = find_score_bins(as_words(column), self._lookup(), bins)
        if at < column.size:
            raise ValueError(f"scores has NaN for sample {at}")
        return bins

    def _convert(self, column: NDArray[Any], kind: np.dtype[Any], name: str) -> NDArray[Any]:
        """Bring scores of a type to that of the map, which must hold them."""
        if not holds(kind, self.grid):
            raise ValueError(
                f"{name} must be {self.grid} scores, those of the map, "
                f"got {kind}: convert them, or start with the wider type"
            )
        return column.astype(self.dtype, copy=False)

    def _lookup(self) -> BinTables:
        """Give the tables in which kernels look up bins."""
        if self._tables is None:
            edges = self.edges.astype(self.dtype)
            if self.grid not in _WIDE:
                edges = _evenly(edges)
            self._tables = make_tables(edges)
        return self._tables  # type: ignore[no-any-return]

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


def read_score_column(raw: Any, name: str) -> tuple[NDArray[Any], np.dtype[Any]]:
    """Read the scores of a model as float32 or float64, and the type they came in."""
    array = raw if np.ma.is_masked(raw) else np.asarray(raw)
    column, distinct = as_scores(array, name)
    if distinct is not None:
        raise ValueError(
            f"{name} must be numbers that a float64 holds, got {array.dtype} with more "
            "digits: convert them"
        )
    if array.dtype.itemsize > 2:
        return column, column.dtype
    narrow = np.dtype(np.uint8) if array.dtype.kind == "b" else array.dtype
    narrow = narrow.newbyteorder("=")
    return column, narrow if narrow.name in _NARROW else column.dtype


@cache
def _values_of(grid: str) -> NDArray[np.float64]:
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
    """Say whether a type, given by name, holds all values of another."""
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
