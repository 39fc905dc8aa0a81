"""Which pairs of models to compare, in blocks, and who judges them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from numbers import Integral
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

Tile = tuple[int, int, int, int]


class PairColumns(NamedTuple):
    """What is found of P pairs of models; each array has the shape (P,)."""

    #: Samples on which the first, or the second, did better.
    only_a: NDArray[np.int64]
    only_b: NDArray[np.int64]
    #: Score of the first minus that of the second, and the interval for it.
    difference: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    statistic: NDArray[np.float64]
    pvalue: NDArray[np.float64]


@dataclass(frozen=True)
class Block:
    """Pairs that are judged together: all pairs of a tile of models, or chosen ones."""

    #: Their places among all pairs that are compared, shape (p,).
    where: slice | NDArray[np.int64]
    #: The pairs, shape (p, 2), where they were chosen.
    chosen: NDArray[np.int32] | None = None
    #: ``(i0, i1, j0, j1)`` where they are all i < j with i0 <= i < i1 and j0 <= j < j1,
    #: row by row.
    tile: Tile | None = None

    @classmethod
    def of_tile(cls, tile: Tile, n_models: int) -> Block:
        """Find the places of the pairs of a tile.

        Parameters
        ----------
        tile : tuple of four ints
            ``(i0, i1, j0, j1)``.
        n_models : int
            How many models (M) there are in all.

        Returns
        -------
        Block
            Places are those of ``np.triu_indices(M, 1)``.
        """
        i0, i1, j0, j1 = tile
        i, j = np.arange(i0, i1)[:, None], np.arange(j0, j1)
        return cls(above(_place(i, j, n_models), tile), tile=tile)

    @property
    def pairs(self) -> NDArray[np.int32]:
        """The models of each pair, shape (p, 2)."""
        if self.chosen is not None:
            return self.chosen
        # Kept without functools.cached_property: up to Python 3.11 all blocks would
        # share its lock, for which threads wait, and a forked process for ever.
        kept = self.__dict__
        if "_pairs" not in kept:
            kept["_pairs"] = self._pairs_of_tile()
        return kept["_pairs"]  # type: ignore[no-any-return]

    def _pairs_of_tile(self) -> NDArray[np.int32]:
        assert self.tile is not None
        i0, i1, j0, j1 = self.tile
        i, j = np.meshgrid(
            np.arange(i0, i1, dtype=np.int32),
            np.arange(j0, j1, dtype=np.int32),
            indexing="ij",
        )
        return np.stack([above(i, self.tile), above(j, self.tile)], axis=1)


def block_of(
    task: Tile | slice, n_models: int, chosen: NDArray[np.int32] | None
) -> Block:
    """Make the block of a task: a tile of models, or a part of the pairs.

    Parameters
    ----------
    task : tuple of four ints or slice
        A tile, or which pairs.
    n_models : int
        How many models (M).
    chosen : ndarray of int32, shape (P, 2), or None
        The pairs; None for all.

    Returns
    -------
    Block
        Its pairs.
    """
    if isinstance(task, tuple):
        return Block.of_tile(task, n_models)
    if chosen is not None:
        return Block(task, chosen[task])
    return Block(task, pairs_at(np.arange(task.start, task.stop), n_models))


def count_pairs(task: Tile | slice) -> int:
    """Count the pairs of a task.

    Parameters
    ----------
    task : tuple of four ints or slice
        A tile of models, or a part of the pairs.

    Returns
    -------
    int
        How many.
    """
    if isinstance(task, slice):
        return int(task.stop - task.start)
    i0, i1, j0, j1 = task
    height = i1 - i0
    return height * (j1 - j0) if j0 >= i1 else height * (height - 1) // 2


def above(matrix: NDArray[Any], tile: Tile) -> NDArray[Any]:
    """Read what a matrix of a tile's models holds of its pairs.

    Parameters
    ----------
    matrix : ndarray, shape (i1 - i0, j1 - j0)
        An entry for each two models.
    tile : tuple of four ints
        ``(i0, i1, j0, j1)``.

    Returns
    -------
    ndarray, shape (p,)
        Those of i < j, row by row.
    """
    i0, i1, j0, j1 = tile
    if j0 >= i1:
        return matrix.reshape(-1)
    return np.asarray(matrix[np.arange(i0, i1)[:, None] < np.arange(j0, j1)])


class Judge(Protocol):
    """Tests pairs of models by one test; called from several threads at once."""

    #: Models of a side of the tiles that it takes, a multiple of `TILE_ROWS`.
    side: int
    n_samples: int
    #: Rightly classified samples of each model, shape (M,).
    correct: NDArray[np.int64]
    #: What the models are ranked by, shape (M,). The `difference` of a pair is that of
    #: its scores.
    score: NDArray[np.float64]

    @property
    def score_interval(self) -> NDArray[np.float64]:
        """Interval for each score by itself, shape (M, 2)."""

    def pvalues(self, block: Block) -> NDArray[np.float64]:
        """Test the pairs of a block, and nothing more.

        Parameters
        ----------
        block : Block
            Pairs of models.

        Returns
        -------
        ndarray of float64, shape (p,)
            P-values.
        """

    def outcomes(self, block: Block) -> PairColumns:
        """Find out all about the pairs of a block.

        Parameters
        ----------
        block : Block
            Pairs of models.

        Returns
        -------
        PairColumns
            What a record tells of them.
        """


def all_pairs(n_models: int) -> NDArray[np.int32]:
    """List all pairs i < j.

    Parameters
    ----------
    n_models : int
        How many models (M).

    Returns
    -------
    ndarray of int32, shape (P, 2)
        In the order of ``np.triu_indices(M, 1)``.
    """
    pairs = np.empty((n_models * (n_models - 1) // 2, 2), np.int32)
    start = 0
    for i in range(n_models - 1):
        end = start + n_models - 1 - i
        pairs[start:end, 0] = i
        pairs[start:end, 1] = np.arange(i + 1, n_models)
        start = end
    return pairs


def _place(i: Any, j: Any, n_models: int) -> Any:
    return i * n_models - i * (i + 1) // 2 - i - 1 + j


def places_of(pairs: NDArray[Any], n_models: int) -> NDArray[np.int64]:
    """Find the places of some pairs among all.

    Parameters
    ----------
    pairs : ndarray of int, shape (p, 2)
        The models i < j of each.
    n_models : int
        How many models (M).

    Returns
    -------
    ndarray of int64, shape (p,)
        Positions among ``np.triu_indices(M, 1)``.
    """
    i, j = pairs.astype(np.int64).T
    return np.asarray(_place(i, j, n_models))


def pairs_at(places: NDArray[np.int64], n_models: int) -> NDArray[np.int32]:
    """Find the pairs at some places of all pairs.

    Parameters
    ----------
    places : ndarray of int64, shape (p,)
        Positions among ``np.triu_indices(M, 1)``.
    n_models : int
        How many models (M).

    Returns
    -------
    ndarray of int32, shape (p, 2)
        The models of each.
    """
    i = np.arange(n_models, dtype=np.int64)
    starts = i * n_models - i * (i + 1) // 2
    first = np.searchsorted(starts, places, side="right") - 1
    pairs = np.empty((places.size, 2), np.int32)
    pairs[:, 0] = first
    pairs[:, 1] = places - starts[first] + first + 1
    return pairs


def tiles_of(n_models: int, side: int) -> list[Tile]:
    """Cut all pairs into squares of models.

    Parameters
    ----------
    n_models, side : int
        How many models there are, and a tile's side has at most.

    Returns
    -------
    list of tuple
        ``(i0, i1, j0, j1)`` of each, row by row.
    """
    starts = range(0, n_models, side)
    return [
        (i, min(i + side, n_models), j, min(j + side, n_models))
        for i in starts
        for j in starts
        if j >= i
    ]


def choose_pairs(
    names: tuple[str, ...],
    pairs: Sequence[tuple[int | str, int | str]] | None,
    control: int | str | None,
) -> NDArray[np.int32] | None:
    """Read which pairs the user wants.

    Parameters
    ----------
    names : tuple of str
        Names of the models.
    pairs : sequence of pairs or None
        Models by name or index.
    control : int, str or None
        One model, to be compared with all others.

    Returns
    -------
    ndarray of int32, shape (P, 2), or None
        Indices; None for all pairs.

    Raises
    ------
    ValueError
        If a model is unknown, a pair is of one model or repeated, or both are given.
    TypeError
        If `pairs` is no sequence.
    """
    if pairs is not None and control is not None:
        message = "pairs and control exclude each other: pass one of them"
        raise ValueError(message)
    if control is not None:
        first = model_index(control, names, "control")
        others = [i for i in range(len(names)) if i != first]
        return np.array([(first, i) for i in others], np.int32)
    if pairs is None:
        return None
    if not isinstance(pairs, Iterable):
        message = f"pairs must be a sequence of pairs of models, got {pairs!r}"
        raise TypeError(message)
    known = {name: i for i, name in enumerate(names)}
    chosen = [_pair_indices(pair, known) for pair in pairs]
    if not chosen:
        message = "pairs must name at least one pair, got none"
        raise ValueError(message)
    seen: set[frozenset[int]] = set()
    for pair in map(frozenset, chosen):
        if pair in seen:
            one, two = (names[model] for model in sorted(pair))
            message = f"pairs must differ, got {one!r} and {two!r} twice"
            raise ValueError(message)
        seen.add(pair)
    return np.array(chosen, np.int32)


def _pair_indices(pair: Any, known: dict[str, int]) -> tuple[int, int]:
    if isinstance(pair, str) or np.size(pair) != 2:
        message = f"pairs must be pairs of models, got {pair!r}"
        raise ValueError(message)
    i, j = (_index(model, known, "pairs") for model in pair)
    if i == j:
        message = f"pairs must be of two models, got {list(known)[i]!r} with itself"
        raise ValueError(message)
    return i, j


def model_index(model: int | str, names: Sequence[str], argument: str) -> int:
    """Find a model by its name or its place.

    Parameters
    ----------
    model : int or str
        Which.
    names : sequence of str
        All models.
    argument : str
        What to call it in an error.

    Returns
    -------
    int
        Its place.

    Raises
    ------
    ValueError
        If there is none.
    """
    return _index(model, {name: i for i, name in enumerate(names)}, argument)


def _index(model: int | str, known: dict[str, int], argument: str) -> int:
    if isinstance(model, Integral) and not isinstance(model, bool):
        named = known.get(str(model))
        found = int(model) if 0 <= model < len(known) else named
        if named not in (None, found):
            message = (
                f"{argument} {model} is the name of one model and the place of "
                f"another: pass {str(model)!r} for the name"
            )
            raise ValueError(message)
    else:
        found = known.get(model) if isinstance(model, str) else None
    if found is None:
        message = f"{argument} names no model {model!r}; there are {list(known)[:10]}"
        raise ValueError(message)
    return found
