"""Cells of counts, what resampling makes of them, and a metric of many such draws.

A draw is a row of counts of the cells. Draws are made and evaluated in blocks whose
memory is bounded, with the same blocks for any number of threads.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from fastcmp.core.threads import ThreadPool, no_step, parts
from fastcmp.kernels.cluster_draws import cluster_squares
from fastcmp.kernels.count_draws import cell_tables

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

_BLOCK = 1 << 20  # bytes of draws and tables of a block: they stay in the cache
_ROWS = 8192  # draws of a block at most
_TASKS = 64  # into which the draws are cut
_NOTHING = 1e-24  # of the scale of squares: then they are 0


class Estimator(Protocol):
    """A metric bound to K classes."""

    def values(self, tables: Floats) -> Floats:
        """Evaluate tables (B, K, K): (B,), NaN where undefined."""

    def influences(self, tables: Floats) -> Floats:
        """Give the influence of a sample of each cell of tables, (B, K, K)."""

    def leave_one_out(self, table: Floats) -> Floats:
        """Give the value without a sample of each cell, (K, K); NaN in empty ones."""


class ClusterCells(NamedTuple):
    """Cells by cluster: those of cluster c are from starts[c] to starts[c + 1]."""

    starts: Ints
    #: Place of the cell, and samples of the cluster in it.
    places: Ints
    samples: Ints

    @property
    def n(self) -> int:
        """Number of clusters."""
        return self.starts.size - 1


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
    counts: Ints
    n_classes: int
    clusters: ClusterCells | None = None

    @property
    def n_models(self) -> int:
        """1 or 2."""
        return int(self.codes.shape[1]) - 1

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


def gather_cells(
    codes: ArrayLike,
    counts: ArrayLike,
    n_classes: int,
    clusters: ArrayLike | None = None,
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


def measure(estimator: Estimator, tables: Floats, *, log: bool) -> Floats:
    """Evaluate tables (R, M, K, K): of one model, or of a minus b, (R,).

    With `log` the logarithms of the values; NaN where a value is not positive.
    """
    shape = tables.shape
    values = estimator.values(tables.reshape(-1, *shape[2:])).reshape(shape[:2])
    with np.errstate(invalid="ignore", divide="ignore"):
        if log:
            values = np.log(np.where(values > 0.0, values, np.nan))
        return values[:, 0] - values[:, 1] if shape[1] > 1 else values[:, 0]


def influences_of(
    estimator: Estimator, tables: Floats, cells: Cells, *, log: bool
) -> tuple[Floats, Floats]:
    """Give the influence of a sample of each cell on `measure`, (R, S), and a scale.

    Squares are nothing but rounding if they are small against the scale, (R, S): those
    of the influences and of the values of both models.
    """
    flat = tables.reshape(-1, *tables.shape[2:])
    psi, values = estimator.influences(flat), estimator.values(flat)
    if log:
        with np.errstate(invalid="ignore", divide="ignore"):
            psi = psi / values[:, np.newaxis, np.newaxis]
        values = np.ones_like(values)
    psi = psi.reshape(tables.shape)
    t, *predicted = cells.codes.T
    scale = (values**2).reshape(len(tables), -1).sum(axis=1, keepdims=True)
    for m, own in enumerate(predicted):
        scale = scale + psi[:, m, t, own] ** 2
    return cells.pick(psi), scale


@np.errstate(invalid="ignore", over="ignore")  # where a value is infinite
def standard_errors(
    estimator: Estimator,
    cells: Cells,
    drawn: Drawn,
    *,
    log: bool,
    strata: Ints | None = None,
    partner: Ints | None = None,
) -> Floats:
    """Work out the delta standard error of `measure` in each draw, (R,).

    With `strata` within these, with clusters by their sums.
    """
    draws = drawn.draws
    u, scale = influences_of(estimator, drawn.tables, cells, log=log)
    if drawn.times is None:
        squares = _squares_within(u, draws, strata)
    else:
        clusters = cells.clusters
        assert clusters is not None
        squares = np.empty(len(draws))
        partner = np.arange(len(cells.codes)) if partner is None else partner
        cluster_squares(*clusters, partner, drawn.times, u, squares)
        squares *= clusters.n / max(clusters.n - 1.0, 1.0)
    squares[squares <= _NOTHING * (draws * scale).sum(axis=1)] = 0.0
    return np.asarray(np.sqrt(squares) / draws.sum(axis=1))


def _squares_within(u: Floats, draws: Floats, strata: Ints | None) -> Floats:
    """Add up the squares of u, less their mean within each stratum."""
    if strata is None:
        return np.asarray((draws * u * u).sum(axis=1))
    starts = np.flatnonzero(np.diff(strata, prepend=strata[:1] - 1))
    sizes = np.diff(np.append(starts, strata.size))
    n = np.add.reduceat(draws, starts, axis=1)
    mean = np.add.reduceat(draws * u, starts, axis=1) / np.maximum(n, 1.0)
    u = u - np.repeat(mean, sizes, axis=1)
    return np.asarray((draws * u * u).sum(axis=1))


def evaluate_draws(
    cells: Cells,
    n: int,
    fill: Callable[[slice, Floats], tuple[Floats | None, Floats | None]],
    take: Callable[[slice, Drawn], None],
    pool: ThreadPool | None = None,
) -> None:
    """Make `n` draws and evaluate them, in blocks.

    `fill` writes the draws of a slice and returns `times` and `weights`; `take`
    evaluates them. The slices do not depend on the number of threads.
    """
    k, m, s = cells.n_classes, cells.n_models, len(cells.codes)
    size = min(_ROWS, max(1, _BLOCK // (8 * (s + m * k * k))))
    blocks = -(-n // size)

    def work(task: slice) -> None:
        rows = min(size, task.stop - task.start)
        counts, tables = np.empty((rows, s)), np.empty((rows, m, k, k))
        for start in range(task.start, task.stop, size):
            part = slice(start, min(start + size, task.stop))
            own = slice(0, part.stop - part.start)
            times, weights = fill(part, counts[own])
            cells.tables(counts[own], tables[own])
            take(part, Drawn(counts[own], tables[own], times, weights))

    tasks = parts(n, size * -(-blocks // _TASKS))
    (pool or ThreadPool(1)).run(work, tasks, steps=no_step)
