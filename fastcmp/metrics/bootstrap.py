"""The bootstrap of metrics of one or two models, on the cells of their counts.

A draw is a row of counts of the cells. Draws are made and evaluated in blocks whose
memory is bounded, with the same blocks for any number of threads.

Samples, or whole clusters of them, are drawn with replacement: of all, or within the
true classes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastcmp.core.checks import ALTERNATIVES, as_level, choose, keep_side
from fastcmp.core.threads import ThreadPool, check_draws, no_step, parts
from fastcmp.kernels import bootstrap_intervals as kinds
from fastcmp.kernels.count_draws import draw_cells
from fastcmp.kernels.item_bootstrap import cluster_cells, cluster_squares, draw_units
from fastcmp.kernels.special import ndtri
from fastcmp.kernels.status import DEGENERATE, OK, UNDEFINED
from fastcmp.metrics.cells import Cells, Drawn

if TYPE_CHECKING:
    from fastcmp.metrics.estimators import Estimator

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Fill = Callable[[slice, Floats], tuple[Floats | None, Floats | None]]

_DRAWS_BLOCK = 1 << 20  # bytes of draws and tables of a block: they stay in the cache
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
    """The influence of a sample of each cell on `measure`, (R, S), and a scale.

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
    size = min(_ROWS, max(1, _DRAWS_BLOCK // (8 * (s + m * k * k))))
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


# The acceleration of BCa intervals: the metric without one sample, or one cluster.


_NO_INFLUENCE = 1e-14


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
    if not squares > (_NO_INFLUENCE * size) ** 2 * weights.sum():
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


#: The intervals, with the code that kernels take.
INTERVALS = {
    "percentile": kinds.PERCENTILE,
    "basic": kinds.BASIC,
    "bca": kinds.BCA,
    "studentized": kinds.STUDENTIZED,
}
#: The part of undefined draws above which a caution is due.
MANY_UNDEFINED = 0.01
_EQUAL = 1e-12  # draws that differ by less, of their size, are equal


class BootstrapOutcome(NamedTuple):
    """The bootstrap of one metric: of one model, or of a minus b."""

    #: In the data; of logarithms where these are asked for, as all that follows.
    estimate: float
    low: float
    high: float
    #: That the estimate is 0: see `fastcmp.kernels.bootstrap_pvalue`.
    pvalue: float
    #: Mean and standard deviation of the draws.
    mean: float
    standard_error: float
    #: Of BCa intervals; else NaN.
    acceleration: float
    #: Draws in which the metric is undefined: they are left out.
    n_undefined: int
    #: Draws that make the interval: of studentized ones those with a standard error.
    n_used: int
    #: A `fastcmp.kernels.Status`.
    status: int


class Replicates(NamedTuple):
    """A metric on all draws."""

    #: Shape (E, R).
    values: Floats
    #: Delta standard errors, shape (E, R); None unless asked for.
    errors: Floats | None


def bootstrap_intervals(
    estimators: Sequence[Estimator],
    cells: Cells,
    *,
    interval: str = "percentile",
    confidence_level: float = 0.95,
    alternative: str = "two-sided",
    within_classes: bool = False,
    log: bool | Sequence[bool] = False,
    n_resamples: int = 9999,
    seed: int = 0,
    pool: ThreadPool | None = None,
) -> list[BootstrapOutcome]:
    """Bootstrap several metrics on the same draws.

    Of one model its value, of two the difference; with `log` of the logarithms, which
    may be said of each metric. With `within_classes` the number of samples of each true
    class stays as it is.
    """
    level = as_level(confidence_level, alternative)
    kind = INTERVALS[choose(interval, "interval", tuple(INTERVALS))]
    strata = _strata(cells, within_classes=within_classes)
    replicates = bootstrap_replicates(
        estimators,
        cells,
        within_classes=within_classes,
        log=log,
        errors=kind == kinds.STUDENTIZED,
        n_resamples=n_resamples,
        seed=seed,
        pool=pool,
    )
    found = []
    for e, (estimator, as_log) in enumerate(_with_logs(estimators, log=log)):
        values = replicates.values[e]
        data = cells.as_drawn()
        estimate = float(measure(estimator, data.tables, log=as_log)[0])
        scale = 0.0
        if kind == kinds.BCA:
            scale = acceleration(estimator, cells, strata, log=as_log, pool=pool)
        elif kind == kinds.STUDENTIZED:
            error = standard_errors(estimator, cells, data, log=as_log, strata=strata)
            scale = float(error[0])
        errors = None if replicates.errors is None else replicates.errors[e]
        outcome = _outcome(
            (values, errors), (estimate, scale), (kind, ALTERNATIVES[alternative], level)
        )
        low, high = keep_side((outcome.low, outcome.high), alternative, (-np.inf, np.inf))
        found.append(outcome._replace(low=low, high=high))
    return found


def bootstrap_replicates(
    estimators: Sequence[Estimator],
    cells: Cells,
    *,
    within_classes: bool = False,
    log: bool | Sequence[bool] = False,
    errors: bool = False,
    n_resamples: int = 9999,
    seed: int = 0,
    pool: ThreadPool | None = None,
) -> Replicates:
    """Draw samples, and evaluate several metrics on each draw.

    Draw i is a function of (seed, i); NaN where the metric is undefined or infinite.
    """
    strata = _strata(cells, within_classes=within_classes)
    check_draws(n_resamples, len(estimators) * (2 if errors else 1))
    values = np.empty((len(estimators), n_resamples))
    error = np.empty_like(values) if errors else None

    def take(part: slice, drawn: Drawn) -> None:
        for e, (estimator, as_log) in enumerate(_with_logs(estimators, log=log)):
            values[e, part] = measure(estimator, drawn.tables, log=as_log)
            if error is not None:
                error[e, part] = standard_errors(estimator, cells, drawn, log=as_log, strata=strata)

    evaluate_draws(cells, n_resamples, _random(cells, strata, seed), take, pool)
    values[~np.isfinite(values)] = np.nan
    return Replicates(values, error)


def _with_logs(
    estimators: Sequence[Estimator], *, log: bool | Sequence[bool]
) -> list[tuple[Estimator, bool]]:
    """Tell of each metric whether its logarithm is meant."""
    logs = [log] * len(estimators) if isinstance(log, bool) else log
    return list(zip(estimators, logs, strict=True))


def undefined_caution(n_undefined: int, n_resamples: int) -> str | None:
    """Say that a metric is undefined in many draws."""
    if n_undefined <= MANY_UNDEFINED * n_resamples:
        return None
    return (
        f"The metric is undefined in {n_undefined} of {n_resamples} bootstrap samples, "
        "which are left out: the interval may be too short."
    )


def _strata(cells: Cells, *, within_classes: bool) -> Ints | None:
    if within_classes and cells.clusters is not None:
        raise ValueError("clusters are drawn as a whole, not within the true classes")
    return np.ascontiguousarray(cells.codes[:, 0]) if within_classes else None


def _random(cells: Cells, strata: Ints | None, seed: int) -> Fill:
    """Draw samples or clusters."""
    clusters = cells.clusters
    if clusters is None:
        within = np.zeros(cells.counts.size, np.int64) if strata is None else strata

        def draw(part: slice, draws: Floats) -> tuple[None, None]:
            draw_cells(cells.counts, within, seed, part.start, draws)
            return None, None

        return draw
    one, places = np.zeros(clusters.n, np.int64), np.arange(len(cells.codes))

    def draw_clusters(part: slice, draws: Floats) -> tuple[Floats, None]:
        times = np.empty((len(draws), clusters.n))
        draw_units(one, seed, part.start, times)
        cluster_cells(*clusters, places, times, draws)
        return times, None

    return draw_clusters


def _outcome(
    drawn: tuple[Floats, Floats | None],
    scales: tuple[float, float],
    options: tuple[int, int, float],
) -> BootstrapOutcome:
    """Make the interval of one metric."""
    (values, errors), (estimate, scale) = drawn, scales
    kept = values[np.isfinite(values)]
    rows = kept
    if errors is not None:
        own = errors[np.isfinite(values)]
        with np.errstate(divide="ignore", invalid="ignore"):
            rows = ((kept - estimate) / own)[own > 0.0]
    slack = _EQUAL * np.max(np.abs(kept), initial=abs(estimate))
    table = np.array([[estimate, scale, slack, rows.size]])
    answer, status = np.full((1, 3), np.nan), np.full(1, UNDEFINED, np.uint8)
    if np.isfinite(estimate) and not np.isnan(scale):
        kinds.bootstrap_rows(np.sort(rows)[np.newaxis], table, options, answer, status)
    pvalue, low, high = answer[0]
    many = kept.size > 1
    return BootstrapOutcome(
        estimate=estimate,
        low=float(low),
        high=float(high),
        pvalue=float(pvalue),
        mean=float(kept.mean()) if kept.size else np.nan,
        standard_error=float(kept.std(ddof=1)) if many else np.nan,
        acceleration=scale if options[0] == kinds.BCA else np.nan,
        n_undefined=values.size - kept.size,
        n_used=rows.size,
        status=int(status[0]),
    )


# Efron's ABC interval: what BCa tends to, without drawing anything.


_STEP = 1e-4  # of the weight of a cell, by which it is changed
_NO_CURVATURE = 1e-12
_ROOT = math.sqrt(2.0)
#: Steps of the search for the interval with an end at 0, in normal quantiles.
_STRIDE, _FARTHEST, _HALVINGS = 0.25, 37.0, 40
_ABC_BLOCK = 1 << 22  # bytes of tables that are evaluated together


class AbcOutcome(NamedTuple):
    """The ABC interval of one metric: of one model, or of a minus b."""

    #: In the data; of logarithms where these are asked for, as all that follows.
    estimate: float
    low: float
    high: float
    #: Of the infinitesimal jackknife.
    standard_error: float
    acceleration: float
    #: Bias correction.
    z0: float
    #: A `fastcmp.kernels.Status`.
    status: int
    #: Of H0 that the estimate is 0, by inverting the interval.
    pvalue: float = math.nan


def abc_interval(
    estimator: Estimator,
    cells: Cells,
    *,
    confidence_level: float = 0.95,
    alternative: str = "two-sided",
    log: bool = False,
) -> AbcOutcome:
    """Compute the nonparametric ABC interval (DiCiccio and Efron 1992, section 4).

    Derivatives are those of the influence values, so that they keep their digits with
    many samples. Takes 2 S + 5 evaluations of S cells.
    """
    level = as_level(confidence_level, alternative)
    counts = cells.counts.astype(np.float64)
    n = counts.sum()
    estimate = float(_measure(estimator, cells, counts, log=log))
    psi = _influences(estimator, cells, counts[np.newaxis], log=log)[0]
    error = math.sqrt(counts @ psi**2) / float(n)
    if not math.isfinite(estimate) or not math.isfinite(error):
        nothing = math.nan, math.nan, math.nan, math.nan, math.nan
        return AbcOutcome(estimate, *nothing, UNDEFINED)
    if error <= _NO_CURVATURE * np.max(np.abs(psi), initial=abs(estimate)):
        return AbcOutcome(estimate, estimate, estimate, 0.0, 0.0, 0.0, DEGENERATE)
    a = (counts @ psi**3) / (6.0 * (n * error) ** 3)
    direction = psi / (n * error)  # by which the weight of a sample is changed
    bend = _curvature_along(estimator, cells, direction, log=log) / (2.0 * error)
    bias = _second_derivatives(estimator, cells, log=log) @ counts / (2.0 * n * n)
    # That is a - (bias / error - bend) to first order.
    z0 = ndtri(0.5 * math.erfc(-a / _ROOT) * math.erfc((bias / error - bend) / _ROOT))

    def end(z: float) -> float:
        shift = (z0 + z) / (1.0 - a * (z0 + z)) ** 2
        return _measure(estimator, cells, counts * (1.0 + shift * direction), log=log)

    ends = [end(ndtri(0.5 * (1.0 - level))), end(ndtri(0.5 * (1.0 + level)))]
    low, high = keep_side(ends, alternative, (-np.inf, np.inf))
    if math.isnan(low) or math.isnan(high):  # weights below 0, of which the measure has no value
        low = high = math.nan
    pvalue = math.nan
    if cells.n_models == 2:
        tail = 0.5 * math.erfc(-_quantile_at_zero(end, estimate) / _ROOT)
        tails = {"two-sided": 2.0 * min(tail, 1.0 - tail), "greater": tail, "less": 1.0 - tail}
        pvalue = tails[alternative]
    return AbcOutcome(estimate, low, high, error, float(a), float(z0), OK, pvalue)


def _quantile_at_zero(end: Callable[[float], float], estimate: float) -> float:
    """Find the normal quantile of the interval whose end is 0."""
    side = -1.0 if estimate > 0.0 else 1.0
    near, far = 0.0, side * _STRIDE
    while abs(far) < _FARTHEST and end(far) * side < 0.0:
        near, far = far, far + side * _STRIDE
    if math.isnan(end(far)):  # weights below 0
        return math.nan
    if not end(near) * side < 0.0:  # the estimate is corrected for bias beyond 0
        return near
    for _ in range(_HALVINGS):
        middle = 0.5 * (near + far)
        near, far = (middle, far) if end(middle) * side < 0.0 else (near, middle)
    return near


def _measure(estimator: Estimator, cells: Cells, weights: Floats, *, log: bool) -> float:
    return float(measure(estimator, cells.tables(weights[np.newaxis]), log=log)[0])


def _influences(estimator: Estimator, cells: Cells, weights: Floats, *, log: bool) -> Floats:
    return influences_of(estimator, cells.tables(weights), cells, log=log)[0]


def _curvature_along(estimator: Estimator, cells: Cells, direction: Floats, *, log: bool) -> float:
    """Differentiate twice along a direction: cells change in that proportion."""
    step = _STEP / np.max(np.abs(direction))
    weights = cells.counts * (1.0 + step * np.stack([direction, -direction]))
    up, down = _influences(estimator, cells, weights, log=log)
    n = cells.counts.sum()
    return float((cells.counts * direction) @ (up - down) / (2.0 * step * n))


def _second_derivatives(estimator: Estimator, cells: Cells, *, log: bool) -> Floats:
    """Differentiate twice towards a sample of each cell, (S,).

    At the proportions (1 - e) p + e d the first derivative towards d is its influence
    there, divided by 1 - e.
    """
    counts = cells.counts.astype(np.float64)
    n, k = counts.sum(), cells.n_classes
    found = np.empty(counts.size)
    size = max(1, _ABC_BLOCK // (16 * (counts.size + 2 * cells.n_models * k * k)))
    for part in parts(counts.size, size):
        rows = np.arange(part.stop - part.start)
        change = _STEP * counts[part] / n
        slopes = []
        for e in (change, -change):
            weights = np.tile(counts, (rows.size, 1))
            weights[rows, rows + part.start] += n * e / (1.0 - e)
            psi = _influences(estimator, cells, weights, log=log)
            slopes.append(psi[rows, rows + part.start] / (1.0 - e))
        found[part] = (slopes[0] - slopes[1]) / (2.0 * change)
    return found
