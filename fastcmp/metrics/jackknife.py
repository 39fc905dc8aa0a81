"""The acceleration of BCa intervals: the metric without one sample, or one cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fastcmp.kernels.item_bootstrap import cluster_cells
from fastcmp.metrics.cell_draws import evaluate_draws, measure

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fastcmp.core.threads import ThreadPool
    from fastcmp.metrics.cells import Cells, Drawn
    from fastcmp.metrics.estimators import Estimator

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

_NOTHING = 1e-14


def acceleration(
    estimator: Estimator,
    cells: Cells,
    strata: Ints | None = None,
    *,
    log: bool = False,
    pool: ThreadPool | None = None,
) -> float:
    """Work out the acceleration, leaving out samples, or clusters, one at a time.

    What is undefined without a sample is left out. With `strata`, of cells, samples are
    left out within them.
    """
    if cells.clusters is None:
        without = _without_samples(estimator, cells, log=log)
        weights = cells.counts.astype(np.float64)
    else:
        without = _without_clusters(estimator, cells, log=log, pool=pool)
        weights, strata = np.ones(without.size), None
    known = np.isfinite(without)
    without, weights = without[known], weights[known]
    strata = np.zeros(known.size, np.int64) if strata is None else strata
    squares = cubes = 0.0
    for stratum in np.unique(strata[known]):
        own = strata[known] == stratum
        n, values = weights[own].sum(), without[own]
        u = (n - 1.0) / n * ((weights[own] @ values) / n - values)
        squares += weights[own] @ u**2
        cubes += weights[own] @ u**3
    size = np.max(np.abs(without), initial=0.0)
    if not squares > (_NOTHING * size) ** 2 * weights.sum():
        return 0.0
    return float(cubes / (6.0 * squares**1.5))


def _without_samples(estimator: Estimator, cells: Cells, *, log: bool) -> Floats:
    """Evaluate without a sample of each cell, (S,)."""
    tables = cells.as_drawn().tables[0]
    values = np.stack([estimator.leave_one_out(table) for table in tables])
    if log:
        with np.errstate(invalid="ignore", divide="ignore"):
            values = np.log(np.where(values > 0.0, values, np.nan))
    return np.asarray(cells.pick(values[np.newaxis])[0])


def _without_clusters(
    estimator: Estimator, cells: Cells, *, log: bool, pool: ThreadPool | None
) -> Floats:
    """Evaluate without each cluster, (C,)."""
    clusters = cells.clusters
    assert clusters is not None
    places = np.arange(len(cells.codes))
    values = np.empty(clusters.n)

    def fill(part: slice, draws: Floats) -> tuple[None, None]:
        own = np.zeros((len(draws), clusters.n))
        own[np.arange(len(draws)), np.arange(part.start, part.stop)] = 1.0
        cluster_cells(*clusters, places, own, draws)
        np.subtract(cells.counts, draws, out=draws)
        return None, None

    def take(part: slice, drawn: Drawn) -> None:
        values[part] = measure(estimator, drawn.tables, log=log)

    evaluate_draws(cells, clusters.n, fill, take, pool)
    return values
