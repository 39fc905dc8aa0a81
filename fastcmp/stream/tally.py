"""Counts by classes that may still grow in number: dense for few, sparse for many."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from fastcmp.counts.label_table import add_cells
from fastcmp.stream.saved_checks import check_within, require, stored

_DENSE_TABLE = 1 << 21  # entries of one table: 128 classes cubed, 16 MB
_DENSE_ALL = 1 << 28  # entries of all tables: 2 GB


def is_dense(shape: tuple[int, ...]) -> bool:
    """Choose the form of counts by their shape alone: blocks may come in any order."""
    return math.prod(shape[1:]) <= _DENSE_TABLE and math.prod(shape) <= _DENSE_ALL


@dataclass(frozen=True, slots=True)
class Tally:
    """Tables of counts of one shape."""

    #: Number of tables, then the number of classes for each axis of a table.
    shape: tuple[int, ...]
    #: Of that shape where dense; else of the cells that hold samples.
    counts: NDArray[np.int64]
    #: Table and classes of each cell, ascending, where sparse.
    cells: NDArray[np.int64] | None = None

    @classmethod
    def empty(cls, shape: tuple[int, ...]) -> Self:
        """Make tables without samples."""
        if is_dense(shape):
            return cls(shape, np.zeros(shape, np.int64))
        none = np.zeros((0, len(shape)), np.int64)
        return cls(shape, none[:, 0], none)

    @classmethod
    def of_cells(
        cls, shape: tuple[int, ...], cells: NDArray[np.int64], counts: NDArray[np.int64]
    ) -> Self:
        """Make tables of cells (table and classes), each of which occurs once."""
        if is_dense(shape):
            dense = np.zeros(shape, np.int64)
            dense[tuple(cells.T)] = counts
            return cls(shape, dense)
        return cls(shape, *add_cells([cells], [counts])[::-1])

    @classmethod
    def of_tables(
        cls, shape: tuple[int, ...], tables: list[tuple[NDArray[np.int64], NDArray[np.int64]]]
    ) -> Self:
        """Make sparse tables of the cells of each, which ascend."""
        cells = [np.insert(own, 0, i, axis=1) for i, (own, _) in enumerate(tables)]
        counts = [samples for _, samples in tables]
        return cls(shape, np.concatenate(counts), np.concatenate(cells))

    @property
    def n_bytes(self) -> int:
        """Memory that it takes."""
        return self.counts.nbytes + (0 if self.cells is None else self.cells.nbytes)

    def nonzero(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """List the cells that hold samples, ascending, and their samples."""
        if self.cells is not None:
            return self.cells, self.counts
        cells = np.argwhere(self.counts)
        return cells, self.counts[tuple(cells.T)]

    def seen(self) -> NDArray[np.int64]:
        """List the classes that occur on any axis, ascending."""
        if self.cells is not None:
            return np.unique(self.cells[:, 1:])
        found = np.zeros(self.shape[1], bool)
        for axis in range(1, len(self.shape)):
            others = tuple(i for i in range(len(self.shape)) if i != axis)
            found |= self.counts.any(axis=others)
        return np.flatnonzero(found)

    def placed(self, old: Sequence[int], new: Sequence[int], k: int) -> Tally:
        """Move class ``old[i]`` to place ``new[i]`` of k; the others are empty."""
        if self.shape[1] == k and list(old) == list(new) == list(range(k)):
            return self
        shape = (self.shape[0], *[k] * (len(self.shape) - 1))
        if self.cells is None and is_dense(shape):
            dense = np.zeros(shape, np.int64)
            tables, axes = np.arange(shape[0]), len(shape) - 1
            there, here = (np.ix_(tables, *[np.asarray(at, np.intp)] * axes) for at in (new, old))
            dense[there] = self.counts[here]
            return Tally(shape, dense)
        place = np.zeros(self.shape[1], np.int64)
        place[list(old)] = new
        cells, counts = self.nonzero()
        cells = np.column_stack([cells[:, 0], place[cells[:, 1:]]])
        return Tally.of_cells(shape, cells, counts)

    def plus(self, other: Tally) -> Tally:
        """Add counts of the same shape."""
        if self.cells is None or other.cells is None:
            return Tally(self.shape, self.counts + other.counts)
        cells, counts = add_cells([self.cells, other.cells], [self.counts, other.counts])
        return Tally(self.shape, counts, cells)

    def check(self, n: int) -> None:
        """Refuse tables that are not of n samples each."""
        check_within(self.counts, 0 if self.cells is None else 1, n)
        if not self.counts.size:
            require(n == 0 or not self.shape[0], f"no counts of the {n} samples")
            return
        if self.cells is None:
            axes = tuple(range(1, len(self.shape)))
            totals = self.counts.sum(axis=axes, dtype=np.float64)
            of_true = self.counts.sum(axis=axes[1:])
            require((of_true == of_true[0]).all(), "tables differ in true classes")
        else:
            check_within(self.cells, 0, np.array(self.shape) - 1, "cells")
            steps = np.diff(self.cells, axis=0)
            first = (steps != 0).argmax(axis=1)
            rises = steps[np.arange(len(steps)), first] > 0
            require(rises.all(), "cells must ascend")
            require(self.shape[0] <= len(self.cells), "a table has no cells")
            totals = np.bincount(self.cells[:, 0], self.counts, self.shape[0])
        require((totals == n).all(), f"a table is not of the {n} samples")

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Give its arrays by name: "counts", and "cells" where sparse."""
        cells = {} if self.cells is None else {"cells": self.cells}
        return {"counts": self.counts, **cells}

    @classmethod
    def restore(cls, shape: tuple[int, ...], arrays: dict[str, NDArray[Any]]) -> Self:
        """Make tables of saved arrays."""
        if is_dense(shape):
            return cls(shape, stored(arrays, "counts", shape))
        cells: Any = arrays.get("cells", np.zeros(0))
        size = len(cells) if cells.ndim else 0
        return cls(
            shape, stored(arrays, "counts", (size,)), stored(arrays, "cells", (size, len(shape)))
        )
