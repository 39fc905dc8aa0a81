"""Which pairs of models to compare, in blocks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastcmp import kernels
from fastcmp.core.checks import check_size
from fastcmp.core.errors import BadTypeError, BadValueError
from fastcmp.core.threads import ThreadPool, parts
from fastcmp.core.typing import Floats, Ints, Pairs
from fastcmp.inputs.labels import Labels
from fastcmp.kernels.bits import TILE_ROWS, add_tile, allocate_words, discordant_pairs

Tile = tuple[int, int, int, int]
Task = Tile | slice


class PairColumns(NamedTuple):
    """What is found of P pairs of models; each array has the shape (P,)."""

    #: Samples on which the first, or the second, did better.
    only_a: Ints
    only_b: Ints
    #: Score of the first minus that of the second, and the interval for it.
    difference: Floats
    low: Floats
    high: Floats
    statistic: Floats
    pvalue: Floats
    #: Of the difference; None where the test does not say it.
    standard_error: Floats | None = None


@dataclass(frozen=True)
class Block:
    """Pairs that are tested together: all pairs of a tile of models, or chosen ones."""

    #: Their places among all pairs that are compared, shape (p,).
    where: slice | Ints
    #: The pairs, shape (p, 2), where they were chosen.
    listed: NDArray[np.int32] | None = None
    #: ``(i0, i1, j0, j1)`` where they are all i < j with i0 <= i < i1 and j0 <= j < j1,
    #: row by row.
    tile: Tile | None = None

    @classmethod
    def of_tile(cls, tile: Tile, n_models: int) -> Block:
        """The pairs of a tile, and their positions among all of M models."""
        i0, i1, j0, j1 = tile
        i, j = np.arange(i0, i1)[:, None], np.arange(j0, j1)
        return cls(above(_place(i, j, n_models), tile), tile=tile)

    @property
    def pairs(self) -> NDArray[np.int32]:
        """The models of each pair, shape (p, 2)."""
        if self.listed is not None:
            return self.listed
        # Kept without functools.cached_property: up to Python 3.11 all blocks would
        # share its lock, for which threads wait, and a forked process for ever.
        kept: dict[str, Pairs] = self.__dict__
        if "_pairs" not in kept:
            assert self.tile is not None
            i0, i1, j0, j1 = self.tile
            first, second = np.arange(i0, i1, dtype=np.int32), np.arange(j0, j1, dtype=np.int32)
            i, j = np.meshgrid(first, second, indexing="ij")
            kept["_pairs"] = np.stack([above(i, self.tile), above(j, self.tile)], axis=1)
        return kept["_pairs"]


#: From a block to the differences of its pairs, their variances and d.o.f.
Spread = Callable[[Block], tuple[Floats, Floats, Any]]


def block_of(task: Task, n_models: int, pairs: Pairs | None) -> Block:
    """The block of a task: a tile of models, or a part of the pairs."""
    if isinstance(task, tuple):
        return Block.of_tile(task, n_models)
    if pairs is not None:
        return Block(task, pairs[task])
    return Block(task, pairs_at(np.arange(task.start, task.stop), n_models))


def count_pairs(task: Task) -> int:
    """Count the pairs of a task: a tile of models, or a part of the pairs."""
    if isinstance(task, slice):
        return int(task.stop - task.start)
    i0, i1, j0, j1 = task
    height = i1 - i0
    return height * (j1 - j0) if j0 >= i1 else height * (height - 1) // 2


def above(matrix: NDArray[Any], tile: Tile) -> NDArray[Any]:
    """The entries of pairs i < j, row by row, of a matrix of a tile."""
    i0, i1, j0, j1 = tile
    if j0 >= i1:
        return matrix.reshape(-1)
    return np.asarray(matrix[np.arange(i0, i1)[:, None] < np.arange(j0, j1)])


def all_pairs(n_models: int) -> NDArray[np.int32]:
    """List all pairs i < j, int32, in the order of ``np.triu_indices(M, 1)``."""
    pairs = np.empty((n_models * (n_models - 1) // 2, 2), np.int32)
    models, start = np.arange(n_models, dtype=np.int32), 0
    pairs[:, 0] = models.repeat(models[::-1])
    for i in range(0, n_models, _SIDE):
        first, others = models[i : i + _SIDE, None], models[i:]
        second = (0 * first + others)[first < others]
        pairs[start : start + second.size, 1] = second
        start += second.size
    return pairs


def _place(i: Any, j: Any, n_models: int) -> Any:
    return i * n_models - i * (i + 1) // 2 - i - 1 + j


def places_of(pairs: NDArray[Any], n_models: int) -> Ints:
    """Positions of some pairs i < j among ``np.triu_indices(M, 1)``."""
    i, j = pairs.astype(np.int64).T
    return np.asarray(_place(i, j, n_models))


def pairs_at(places: Ints, n_models: int) -> NDArray[np.int32]:
    """The pairs at some positions among ``np.triu_indices(M, 1)``."""
    i = np.arange(n_models, dtype=np.int64)
    starts = i * n_models - i * (i + 1) // 2
    first = np.searchsorted(starts, places, side="right") - 1
    pairs = np.empty((places.size, 2), np.int32)
    pairs[:, 0] = first
    pairs[:, 1] = places - starts[first] + first + 1
    return pairs


def tiles_of(n_models: int, side: int) -> list[Tile]:
    """All pairs in squares of models, ``(i0, i1, j0, j1)``, row by row."""
    starts = range(0, n_models, side)
    return [
        (i, min(i + side, n_models), j, min(j + side, n_models))
        for i in starts
        for j in starts
        if j >= i
    ]


_SIDE = 128  # models of a side of a tile, at most; a multiple of TILE_ROWS
_TILE_WORK = 1 << 29  # words that one tile reads at most: some 30 ms


def tile_side(n_samples: int) -> int:
    """How many models a side a tile has, so that none takes long."""
    models = int((_TILE_WORK / (1 + n_samples / 64)) ** 0.5)
    return min(_SIDE, max(TILE_ROWS, models // TILE_ROWS * TILE_ROWS))


def choose_pairs(
    names: tuple[str, ...],
    pairs: Sequence[tuple[int | str, int | str]] | None,
    control: int | str | None,
) -> NDArray[np.int32] | None:
    """The pairs that the user chooses, shape (P, 2); None for all."""
    if pairs is not None and control is not None:
        raise BadValueError("`pairs` and control exclude each other: pass one of them")
    if control is not None:
        first = model_index(control, names, "control")
        others = [i for i in range(len(names)) if i != first]
        return np.array([(first, i) for i in others], np.int32)
    if pairs is None:
        return None
    if not isinstance(pairs, Iterable):
        raise BadTypeError("`pairs` must be a sequence of pairs of models", repr(pairs))
    positions = {name: i for i, name in enumerate(names)}
    indices = [_pair_indices(pair, positions) for pair in pairs]
    check_size(len(indices), "pairs", "pair", 1, "name")
    seen: set[frozenset[int]] = set()
    for pair in map(frozenset, indices):
        if pair in seen:
            one, two = (names[model] for model in sorted(pair))
            raise BadValueError("`pairs` must differ", f"{one!r} and {two!r} twice")
        seen.add(pair)
    return np.array(indices, np.int32)


def _pair_indices(pair: Any, positions: dict[str, int]) -> tuple[int, int]:
    if isinstance(pair, str) or np.size(pair) != 2:
        raise BadValueError("`pairs` must be pairs of models", repr(pair))
    i, j = (model_index(model, positions, "pairs") for model in pair)
    if i == j:
        raise BadValueError("`pairs` must be of two models", f"{list(positions)[i]!r} with itself")
    return i, j


def model_index(model: int | str, names: Sequence[str] | dict[str, int], argument: str) -> int:
    """Index of a model by its name or index."""
    positions = names if isinstance(names, dict) else {name: i for i, name in enumerate(names)}
    if isinstance(model, Integral) and not isinstance(model, bool):
        named = positions.get(str(model))
        index = int(model) if 0 <= model < len(positions) else named
        if named not in (None, index):
            raise BadValueError(
                f"`{argument}` {model} is the name of one model and the place of another",
                remedy=f": pass {str(model)!r} for the name",
            )
    else:
        index = positions.get(model) if isinstance(model, str) else None
    if index is None:
        raise BadValueError(
            f"`{argument}` names no model {model!r}; there are {list(positions)[:10]}"
        )
    return index


# Which samples each of many models got right, packed 64 to a word.


_PACKED = 1 << 22  # samples whose packing is one task

Counts = NDArray[np.int64]


class RightBits(NamedTuple):
    """Packed rows, one a model, and what they add up to."""

    words: NDArray[np.uint64]
    #: Rightly classified samples of each model, shape (M,).
    correct: Counts

    @classmethod
    def pack(cls, labels: Labels, pool: ThreadPool) -> RightBits:
        """Compare predictions with the truth, a row of bits for each model."""
        n_models, n = len(labels.names), labels.y_true.size
        words = allocate_words(n_models, n)
        correct = np.empty(n_models, np.int64)

        def pack(part: slice) -> None:
            for i in range(part.start, part.stop):
                pred = labels.preds[i]
                correct[i] = kernels.pack_equal(labels.y_true, pred, words[i])

        pool.run(pack, parts(n_models, max(1, _PACKED // n)), steps=0)
        return cls(words, correct)

    def discordant(self, block: Block) -> tuple[Counts, Counts]:
        """Count the samples that only the first, and only the second, got right."""
        words, correct = self
        if block.tile is None:
            pairs = block.pairs.astype(np.int64)
            only_a, only_b = np.empty((2, len(pairs)), np.int64)
            discordant_pairs(words, correct, pairs, only_a, only_b)
            return only_a, only_b
        i0, i1, j0, j1 = block.tile
        # `common_tile` without the array that it allocates: twice as fast to compile.
        counts = np.zeros((i1 - i0 + TILE_ROWS, j1 - j0 + TILE_ROWS), np.int64)
        add_tile(words, block.tile, counts)
        joint = counts[: i1 - i0, : j1 - j0]
        only_a = correct[i0:i1, None] - joint
        only_b = correct[j0:j1] - joint
        return above(only_a, block.tile), above(only_b, block.tile)
