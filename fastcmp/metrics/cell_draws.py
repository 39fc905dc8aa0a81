"""Cells of counts, what resampling makes of them, and a metric of many such draws.

A draw is a row of counts of the cells. Draws are made and evaluated in blocks whose
memory is bounded, with the same blocks for any number of threads.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fastcmp.core.threads import ThreadPool, no_step, parts
from fastcmp.kernels.item_bootstrap import cluster_squares
from fastcmp.metrics.cells import Drawn

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from fastcmp.metrics.cells import Cells
    from fastcmp.metrics.estimators import Estimator

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

_BLOCK = 1 << 20  # bytes of draws and tables of a block: they stay in the cache
_ROWS = 8192  # draws of a block at most
_TASKS = 64  # into which the draws are cut
_NOTHING = 1e-24  # of the scale of squares: then they are 0


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
