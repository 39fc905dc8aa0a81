"""Samples in cells: by true class and what one model, or two, predicted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fastcmp.kernels.count_draws import cell_tables

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]


class ClusterCells(NamedTuple):
    """Cells by cluster: those of cluster c are from starts[c] to starts[c + 1]."""

    starts: Ints
    #: Place of the cell, and samples of the cluster in it.
    places: Ints
    samples: Ints

    @property
    def n(self) -> int:
        """Number of clusters."""
        return int(self.starts.size) - 1


class Drawn(NamedTuple):
    """Draws of a block."""

    #: Counts of the cells, shape (R, S), and their tables, (R, M, K, K).
    draws: Floats
    tables: Floats
    #: How often each cluster occurs, negative if exchanged; None without clusters.
    times: Floats | None = None
    #: Probability of each draw; None where all have the same.
    weights: Floats | None = None


class Cells(NamedTuple):
    """Samples of one or two models by true class and predictions."""

    #: Shape (S, 1 + M), in ascending order.
    codes: Ints
    #: Samples of each cell, or their weights.
    counts: NDArray[Any]
    n_classes: int
    clusters: ClusterCells | None = None
    #: Sums of squared weights of each cell; None where samples are counted.
    squares: Floats | None = None

    @property
    def n_models(self) -> int:
        """1 or 2."""
        return int(self.codes.shape[1]) - 1

    @property
    def n(self) -> float:
        """Number of samples, or their weight."""
        return float(self.counts.sum())

    def table(self, model: int = 0) -> Floats:
        """Make the confusion matrix of a model, (K, K)."""
        k = self.n_classes
        flat = self.codes[:, 0] * k + self.codes[:, 1 + model]
        weights = self.counts.astype(np.float64)
        return np.asarray(np.bincount(flat, weights, k * k).reshape(k, k))

    def tables(self, draws: Floats, out: Floats | None = None) -> Floats:
        """Make the confusion matrices of draws (R, S): (R, M, K, K)."""
        if out is None:
            shape = len(draws), self.n_models, self.n_classes, self.n_classes
            out = np.empty(shape)
        cell_tables(self.codes, draws, out)
        return out

    def as_drawn(self) -> Drawn:
        """Give the data as one draw."""
        draws = self.counts[np.newaxis].astype(np.float64)
        times = None if self.clusters is None else np.ones((1, self.clusters.n))
        return Drawn(draws, self.tables(draws), times)

    def pick(self, values: Floats) -> Floats:
        """Take from (R, M, K, K) what belongs to each cell, of a minus b: (R, S)."""
        t, *predicted = self.codes.T
        picked = values[:, 0, t, predicted[0]]
        if not predicted[1:]:
            return picked
        with np.errstate(invalid="ignore"):  # both may be infinite
            return picked - values[:, 1, t, predicted[1]]

    def reordered(self, place: Sequence[int], n_classes: int) -> Cells:
        """Renumber the classes: class i becomes ``place[i]``."""
        codes = np.asarray(place, np.int64)[self.codes]
        order = np.lexsort(codes.T[::-1])
        squares = None if self.squares is None else self.squares[order]
        clusters = self.clusters
        if clusters is not None:
            at = np.empty_like(order)
            at[order] = np.arange(order.size)
            clusters = clusters._replace(places=at[clusters.places])
        return Cells(codes[order], self.counts[order], n_classes, clusters, squares)

    def alone(self, model: int) -> Cells:
        """Take one model of two by itself."""
        table = self.table(model).astype(self.counts.dtype)
        return cells_of_table(table)

    def exchanged(self) -> Cells:
        """Call the second model the first."""
        codes = self.codes[:, [0, 2, 1]]
        order = np.lexsort(codes.T[::-1])
        return self._replace(codes=codes[order], counts=self.counts[order])

    def mean_square(self, u: Floats, *, within_classes: bool = False) -> float:
        """Sum the squares of what samples, or clusters, contribute, over n**2.

        `u` is what a sample of each cell contributes, of mean 0; within classes their
        means are taken off.
        """
        if self.clusters is not None:
            starts, places, samples = self.clusters
            sums = np.add.reduceat(samples * u[places], starts[:-1])
            c = self.clusters.n
            return float(sums @ sums) / self.n**2 * c / max(c - 1, 1)
        if within_classes:
            t, k = self.codes[:, 0], self.n_classes
            sizes = np.bincount(t, self.counts, k)
            sums = np.bincount(t, self.counts * u, k)
            u = u - np.divide(sums, sizes, out=np.zeros(k), where=sizes > 0)[t]
        weights = self.counts if self.squares is None else self.squares
        return float(weights @ (u * u)) / self.n**2


def cells_of_table(table: NDArray[Any]) -> Cells:
    """List the cells of a confusion matrix, or of counts [true, a, b]."""
    places = np.nonzero(table)
    return Cells(np.stack(places, axis=1), table[places], len(table))


def gather_cells(
    codes: ArrayLike, counts: ArrayLike, n_classes: int, clusters: ArrayLike | None = None
) -> Cells:
    """Add up equal cells and sort them.

    `codes`, (L, 2) or (L, 3), hold true class and predictions; `clusters`, (L,), the
    number of the cluster of each row, where there are clusters.
    """
    rows, samples = np.asarray(codes, np.int64), np.asarray(counts, np.int64)
    kept = samples > 0
    rows, samples = rows[kept], samples[kept]
    base = n_classes ** np.arange(rows.shape[1] - 1, -1, -1, dtype=np.int64)
    keys, places, total = _add_up(rows @ base, samples)
    cells = Cells(keys[:, np.newaxis] // base % n_classes, total, n_classes)
    if clusters is None:
        return cells
    numbers = np.unique(np.asarray(clusters)[kept], return_inverse=True)[1]
    keys, _, total = _add_up(numbers * len(cells.codes) + places, samples)
    first = np.flatnonzero(np.diff(keys // len(cells.codes), prepend=-1))
    starts = np.append(first, keys.size).astype(np.int64)
    own = ClusterCells(starts, keys % len(cells.codes), total)
    return cells._replace(clusters=own)


def _add_up(keys: Ints, samples: Ints) -> tuple[Ints, Ints, Ints]:
    """Give the different keys, where each stands, and their samples."""
    found, places = np.unique(keys, return_inverse=True)
    total = np.zeros(found.size, np.int64)
    np.add.at(total, places, samples)
    return found, places, total
