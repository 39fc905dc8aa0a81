"""Counts by classes that may still grow in number: dense for few, sparse for many."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from fastcmp.counts.label_table import add_cells
from fastcmp.stream.accumulator import stored
from fastcmp.stream.saved_checks import check_within, require

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from fastcmp.stream.accumulator import Arrays

_DENSE_TABLE = 1 << 21  # entries of one table: 128 classes cubed, 16 MB
_DENSE_ALL = 1 << 28  # entries of all tables: 2 GB


def is_dense(shape: tuple[int, ...]) -> bool:
    """Choose the form of counts, by their shape alone: blocks may come in any order.

    Parameters
    ----------
    shape : tuple of int
        Number of tables, and classes along each axis of a table.

    Returns
    -------
    bool
        Whether all entries are held.
    """
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
        """Make tables without samples.

        Parameters
        ----------
        shape : tuple of int
            Number of tables, and of classes along each axis.

        Returns
        -------
        Tally
            In the form of its shape.
        """
        if is_dense(shape):
            return cls(shape, np.zeros(shape, np.int64))
        none = np.zeros((0, len(shape)), np.int64)
        return cls(shape, none[:, 0], none)

    @classmethod
    def of_cells(
        cls, shape: tuple[int, ...], cells: NDArray[np.int64], counts: NDArray[np.int64]
    ) -> Self:
        """Make tables of cells, each of which occurs once.

        Parameters
        ----------
        shape : tuple of int
            Number of tables, and of classes along each axis.
        cells : ndarray of int64, shape (C, 1 + axes)
            Table and classes of each.
        counts : ndarray of int64, shape (C,)
            Their samples.

        Returns
        -------
        Tally
            In the form of its shape.
        """
        if is_dense(shape):
            dense = np.zeros(shape, np.int64)
            dense[tuple(cells.T)] = counts
            return cls(shape, dense)
        return cls(shape, *add_cells([cells], [counts])[::-1])

    @classmethod
    def of_tables(
        cls,
        shape: tuple[int, ...],
        tables: list[tuple[NDArray[np.int64], NDArray[np.int64]]],
    ) -> Self:
        """Make sparse tables of the cells of each.

        Parameters
        ----------
        shape : tuple of int
            Number of tables, and of classes along each axis: too many to be dense.
        tables : list of tuple of ndarray, shapes (C, axes) and (C,)
            Cells of a table, ascending, and their samples.

        Returns
        -------
        Tally
            Sparse.
        """
        cells = [np.insert(own, 0, i, axis=1) for i, (own, _) in enumerate(tables)]
        counts = [samples for _, samples in tables]
        return cls(shape, np.concatenate(counts), np.concatenate(cells))

    @property
    def n_bytes(self) -> int:
        """Memory that it takes."""
        return self.counts.nbytes + (0 if self.cells is None else self.cells.nbytes)

    def nonzero(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """List the cells that hold samples.

        Returns
        -------
        tuple of two ndarray, shapes (C, 1 + axes) and (C,)
            Cells, ascending, and their samples.
        """
        if self.cells is not None:
            return self.cells, self.counts
        cells = np.argwhere(self.counts)
        return cells, self.counts[tuple(cells.T)]

    def seen(self) -> NDArray[np.int64]:
        """List the classes that occur on any axis.

        Returns
        -------
        ndarray of int64
            Ascending.
        """
        if self.cells is not None:
            return np.unique(self.cells[:, 1:])
        axes = range(1, len(self.shape))
        found = np.zeros(self.shape[1], bool)
        for axis in axes:
            others = tuple(i for i in range(len(self.shape)) if i != axis)
            found |= self.counts.any(axis=others)
        return np.flatnonzero(found)

    def placed(self, old: Sequence[int], new: Sequence[int], k: int) -> Tally:
        """Give some classes other places, and leave out the others, which are empty.

        Parameters
        ----------
        old, new : sequence of int
            Class ``old[i]`` becomes class ``new[i]``.
        k : int
            How many classes there will be.

        Returns
        -------
        Tally
            Of `k` classes.
        """
        same = list(range(k))
        if self.shape[1] == k and list(old) == same and list(new) == same:
            return self
        shape = (self.shape[0], *[k] * (len(self.shape) - 1))
        if self.cells is None and is_dense(shape):
            dense = np.zeros(shape, np.int64)
            tables = np.arange(shape[0])
            axes = len(shape) - 1
            there = np.ix_(tables, *[np.asarray(new, np.intp)] * axes)
            here = np.ix_(tables, *[np.asarray(old, np.intp)] * axes)
            dense[there] = self.counts[here]
            return Tally(shape, dense)
        place = np.zeros(self.shape[1], np.int64)
        place[list(old)] = new
        cells, counts = self.nonzero()
        cells = np.column_stack([cells[:, 0], place[cells[:, 1:]]])
        return Tally.of_cells(shape, cells, counts)

    def plus(self, other: Tally) -> Tally:
        """Add counts of the same shape.

        Parameters
        ----------
        other : Tally
            The counts.

        Returns
        -------
        Tally
            A new one.
        """
        if self.cells is None or other.cells is None:
            return Tally(self.shape, self.counts + other.counts)
        cells, counts = add_cells(
            [self.cells, other.cells], [self.counts, other.counts]
        )
        return Tally(self.shape, counts, cells)

    def check(self, n: int) -> None:
        """Refuse tables that are not of so many samples each.

        Parameters
        ----------
        n : int
            Number of samples.

        Raises
        ------
        ValueError
            If a count is impossible, or a cell is none, or out of order.
        """
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

    def arrays(self) -> Arrays:
        """Give its arrays by name, to be saved.

        Returns
        -------
        dict
            "counts", and "cells" where sparse.
        """
        cells = {} if self.cells is None else {"cells": self.cells}
        return {"counts": self.counts, **cells}

    @classmethod
    def restore(cls, shape: tuple[int, ...], arrays: Arrays) -> Self:
        """Make tables of saved arrays.

        Parameters
        ----------
        shape : tuple of int
            Number of tables, and of classes along each axis.
        arrays : dict
            What `arrays` gave.

        Returns
        -------
        Tally
            The same.

        Raises
        ------
        ValueError
            If an array is missing, or not of the form that it must have.
        """
        if is_dense(shape):
            return cls(shape, stored(arrays, "counts", shape))
        cells: Any = arrays.get("cells", np.zeros(0))
        size = len(cells) if cells.ndim else 0
        return cls(
            shape,
            stored(arrays, "counts", (size,)),
            stored(arrays, "cells", (size, len(shape))),
        )
