"""The bootstrap of metrics of one or two models, on the cells of their counts.

A draw is a row of counts of the cells. Draws are made and evaluated in blocks whose
memory is bounded, with the same blocks for any number of threads.

Samples, or whole clusters of them, are drawn with replacement: of all, or within the
true classes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from fastcmp.core.checks import ALTERNATIVES, as_level, keep_side
from fastcmp.core.errors import BadValueError
from fastcmp.core.threads import ThreadPool, check_draws, parts
from fastcmp.core.typing import Floats, Ints
from fastcmp.kernels import bootstrap_intervals as kinds
from fastcmp.kernels.count_draws import draw_cells
from fastcmp.kernels.item_bootstrap import cluster_cells, cluster_squares, draw_units
from fastcmp.kernels.special import ndtri
from fastcmp.kernels.status import DEGENERATE, OK, UNDEFINED
from fastcmp.metrics.cells import Cells, Drawn
from fastcmp.metrics.estimators import Estimator

#: Writes the draws of a slice; returns `times` and `weights` of `Drawn`.
Fill = Callable[[slice, Floats], tuple[Floats | None, Floats | None]]

_DRAWS_BLOCK = 1 << 20  # bytes of draws and tables of a block: they stay in the cache
_ROWS = 8192  # draws of a block at most
_TASKS = 64  # into which the draws are cut
_NOTHING = 1e-24  # of the scale of squares: then they are 0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Logarithm(Estimator):
    """The logarithm of a metric; NaN where that is not positive."""

    base: Estimator

    def values(self, tables: Floats) -> Floats:
        """Logarithms of the metric of many matrices."""
        return _log(self.base.values(tables))

    def influences(self, tables: Floats) -> Floats:
        """How each cell moves the logarithm."""
        with np.errstate(invalid="ignore", divide="ignore"):
            values = self.base.values(tables)[:, np.newaxis, np.newaxis]
            return np.asarray(self.base.influences(tables) / values)

    def leave_one_out(self, tables: Floats) -> Floats:
        """The logarithm without one sample of each cell."""
        return _log(self.base.leave_one_out(tables))


def _log(values: Floats) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.log(np.where(values > 0.0, values, np.nan))


def log_of(estimator: Estimator) -> Estimator:
    """The logarithm of a metric: its difference of two models is that of their ratio."""
    name, title, entry = estimator.name, estimator.title, estimator.entry
    return Logarithm(
        name=name, title=title, n_classes=estimator.n_classes, entry=entry, base=estimator
    )


def measure(estimator: Estimator, tables: Floats) -> Floats:
    """Values of tables (R, M, K, K): of one model, or of a minus b, (R,)."""
    shape = tables.shape
    values = estimator.values(tables.reshape(-1, *shape[2:])).reshape(shape[:2])
    with np.errstate(invalid="ignore"):
        return values[:, 0] - values[:, 1] if shape[1] > 1 else values[:, 0]


def influences_of(estimator: Estimator, tables: Floats, cells: Cells) -> Floats:
    """The influence of a sample of each cell on `measure`, (R, S)."""
    psi = estimator.influences(tables.reshape(-1, *tables.shape[2:]))
    return cells.pick(psi.reshape(tables.shape))


@np.errstate(invalid="ignore", over="ignore")  # where a value is infinite
def errors_of_draws(
    estimator: Estimator,
    cells: Cells,
    drawn: Drawn,
    *,
    strata: Ints | None = None,
    partner: Ints | None = None,
) -> Floats:
    """Standard errors of `measure` by the delta method in each draw, (R,).

    With `strata` within these, with clusters by their sums.
    """
    draws, shape = drawn.draws, drawn.tables.shape
    flat = drawn.tables.reshape(-1, *shape[2:])
    psi = estimator.influences(flat).reshape(shape)
    u = cells.pick(psi)
    # Squares are nothing but rounding if they are small against those of the influences
    # and of the values of both models, of logarithms 1.
    is_log = isinstance(estimator, Logarithm)
    values = np.ones(len(flat)) if is_log else estimator.values(flat)
    t, *predicted = cells.codes.T
    scale = (values**2).reshape(shape[:2]).sum(axis=1, keepdims=True)
    for m, codes in enumerate(predicted):
        scale = scale + psi[:, m, t, codes] ** 2
    if drawn.times is not None:
        clusters = cells.clusters
        assert clusters is not None
        squares = np.empty(len(draws))
        partner = np.arange(len(cells.codes)) if partner is None else partner
        cluster_squares(*clusters, partner, drawn.times, u, squares)
        squares *= clusters.n / max(clusters.n - 1.0, 1.0)
    else:
        if strata is not None:  # about the mean within each
            starts = np.flatnonzero(np.diff(strata, prepend=strata[:1] - 1))
            sizes = np.diff(np.append(starts, strata.size))
            n = np.add.reduceat(draws, starts, axis=1)
            mean = np.add.reduceat(draws * u, starts, axis=1) / np.maximum(n, 1.0)
            u = u - np.repeat(mean, sizes, axis=1)
        squares = np.asarray((draws * u * u).sum(axis=1))
    squares[squares <= _NOTHING * (draws * scale).sum(axis=1)] = 0.0
    return np.asarray(np.sqrt(squares) / draws.sum(axis=1))


def evaluate_draws(
    cells: Cells,
    n: int,
    fill: Fill,
    take: Callable[[slice, Drawn], None],
    pool: ThreadPool | None = None,
) -> None:
    """Make `n` draws by `fill` and evaluate them by `take`, in blocks.

    These do not depend on the number of threads.
    """
    k, m, s = cells.n_classes, cells.n_models, len(cells.codes)
    size = min(_ROWS, max(1, _DRAWS_BLOCK // (8 * (s + m * k * k))))
    blocks = -(-n // size)

    def work(task: slice) -> None:
        rows = min(size, task.stop - task.start)
        counts, tables = np.empty((rows, s)), np.empty((rows, m, k, k))
        for start in range(task.start, task.stop, size):
            part = slice(start, min(start + size, task.stop))
            filled = slice(0, part.stop - part.start)
            times, weights = fill(part, counts[filled])
            cells.tables(counts[filled], tables[filled])
            take(part, Drawn(counts[filled], tables[filled], times, weights))

    tasks = parts(n, size * -(-blocks // _TASKS))
    (pool or ThreadPool(1)).run(work, tasks, steps=0)


# The acceleration of BCa intervals: the metric without one sample, or one cluster.


_NO_INFLUENCE = 1e-14


def acceleration(
    estimator: Estimator, cells: Cells, strata: Ints | None = None, pool: ThreadPool | None = None
) -> float:
    """The acceleration of BCa, by leaving out samples, or clusters, one at a time.

    What is undefined without a sample is left out. With `strata`, of cells, samples are
    left out within them.
    """
    clusters = cells.clusters
    if clusters is None:
        values = estimator.leave_one_out(cells.as_drawn().tables[0])
        without = np.asarray(cells.pick(values[np.newaxis])[0])
        weights = cells.counts.astype(np.float64)
    else:
        without, weights, strata = np.empty(clusters.n), np.ones(clusters.n), None
        places = np.arange(len(cells.codes))

        def fill(part: slice, draws: Floats) -> tuple[None, None]:
            left_out = np.zeros((len(draws), clusters.n))
            left_out[np.arange(len(draws)), np.arange(part.start, part.stop)] = 1.0
            cluster_cells(*clusters, places, left_out, draws)
            np.subtract(cells.counts, draws, out=draws)
            return None, None

        def take(part: slice, drawn: Drawn) -> None:
            without[part] = measure(estimator, drawn.tables)

        evaluate_draws(cells, clusters.n, fill, take, pool)
    is_defined = np.isfinite(without)
    without, weights = without[is_defined], weights[is_defined]
    strata = np.zeros(is_defined.size, np.int64) if strata is None else strata
    squares = cubes = 0.0
    for stratum in np.unique(strata[is_defined]):
        inside = strata[is_defined] == stratum
        n, values = weights[inside].sum(), without[inside]
        u = (n - 1.0) / n * ((weights[inside] @ values) / n - values)
        squares += weights[inside] @ u**2
        cubes += weights[inside] @ u**3
    size = np.max(np.abs(without), initial=0.0)
    if not squares > (_NO_INFLUENCE * size) ** 2 * weights.sum():
        return 0.0
    return float(cubes / (6.0 * squares**1.5))


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


class Resampled(NamedTuple):
    """A metric of one model, or of a minus b, with the interval of a bootstrap."""

    #: In the data.
    estimate: float
    low: float = math.nan
    high: float = math.nan
    standard_error: float = math.nan
    #: That the estimate is 0, by inverting the interval.
    pvalue: float = math.nan
    #: A `fastcmp.kernels.Status`.
    status: int = UNDEFINED
    #: Draws in which the metric is undefined: they are left out.
    n_undefined: int = 0


def bootstrap_intervals(
    estimators: Sequence[Estimator],
    cells: Cells,
    *,
    interval: str = "percentile",
    confidence_level: float = 0.95,
    alternative: str = "two-sided",
    within_classes: bool = False,
    n_resamples: int = 9999,
    seed: int = 0,
    pool: ThreadPool | None = None,
) -> list[Resampled]:
    """Intervals of several metrics on the same draws: of one model values, of two differences.

    Draw i is a function of (seed, i). With `within_classes` the number of samples of each
    true class stays as it is.
    """
    clusters, kind = cells.clusters, INTERVALS[interval]
    strata = np.ascontiguousarray(cells.codes[:, 0]) if within_classes else None
    if within_classes and clusters is not None:
        raise BadValueError(
            "clusters are drawn as a whole, not within the true classes", argument="within_classes"
        )
    studentized = kind == kinds.STUDENTIZED
    check_draws(n_resamples, len(estimators) * (2 if studentized else 1))
    values = np.empty((len(estimators), n_resamples))
    errors = np.empty_like(values) if studentized else None
    places = np.arange(len(cells.codes))
    within = np.zeros(places.size, np.int64) if strata is None else strata

    def fill(part: slice, draws: Floats) -> tuple[Floats | None, None]:
        if clusters is None:
            draw_cells(cells.counts, within, seed, part.start, draws)
            return None, None
        times = np.empty((len(draws), clusters.n))
        draw_units(np.zeros(clusters.n, np.int64), seed, part.start, times)
        cluster_cells(*clusters, places, times, draws)
        return times, None

    def take(part: slice, drawn: Drawn) -> None:
        for e, estimator in enumerate(estimators):
            values[e, part] = measure(estimator, drawn.tables)
            if errors is not None:
                errors[e, part] = errors_of_draws(estimator, cells, drawn, strata=strata)

    evaluate_draws(cells, n_resamples, fill, take, pool)
    options = kind, ALTERNATIVES[alternative], as_level(confidence_level, alternative)
    data, outcomes = cells.as_drawn(), []
    for e, estimator in enumerate(estimators):
        estimate, scale = float(measure(estimator, data.tables)[0]), 0.0
        is_defined = np.isfinite(values[e])
        kept = rows = values[e, is_defined]
        if kind == kinds.BCA:
            scale = acceleration(estimator, cells, strata, pool)
        elif errors is not None:
            scale = float(errors_of_draws(estimator, cells, data, strata=strata)[0])
            draw_errors = errors[e, is_defined]
            with np.errstate(divide="ignore", invalid="ignore"):
                rows = ((kept - estimate) / draw_errors)[draw_errors > 0.0]
        slack = _EQUAL * np.max(np.abs(kept), initial=abs(estimate))
        table = np.array([[estimate, scale, slack, rows.size]])
        answer, status = np.full((1, 3), np.nan), np.full(1, UNDEFINED, np.uint8)
        if np.isfinite(estimate) and not np.isnan(scale):
            kinds.bootstrap_rows(np.sort(rows)[np.newaxis], table, options, answer, status)
        pvalue, low, high = answer[0].tolist()
        outcomes.append(
            Resampled(
                estimate,
                *keep_side((low, high), alternative, (-np.inf, np.inf)),
                standard_error=float(kept.std(ddof=1)) if kept.size > 1 else np.nan,
                pvalue=pvalue,
                status=int(status[0]),
                n_undefined=is_defined.size - kept.size,
            )
        )
    return outcomes


def undefined_cautions(resampled: Resampled, n_resamples: int) -> tuple[str, ...]:
    """The caution that a metric is undefined in many draws."""
    if resampled.n_undefined <= MANY_UNDEFINED * n_resamples:
        return ()
    return (
        f"The metric is undefined in {resampled.n_undefined} of {n_resamples} bootstrap samples, "
        "which are left out: the interval may be too short.",
    )


# Efron's ABC interval: what BCa tends to, without drawing anything.


_STEP = 1e-4  # of the weight of a cell, by which it is changed
_NO_CURVATURE = 1e-12
_ROOT = math.sqrt(2.0)
#: Steps of the search for the interval with an end at 0, in normal quantiles.
_STRIDE, _FARTHEST, _HALVINGS = 0.25, 37.0, 40
_ABC_BLOCK = 1 << 22  # bytes of tables that are evaluated together


def abc_interval(
    estimator: Estimator,
    cells: Cells,
    *,
    confidence_level: float = 0.95,
    alternative: str = "two-sided",
) -> Resampled:
    """The nonparametric ABC interval (DiCiccio and Efron 1992, section 4).

    Derivatives are those of the influence values, so that they keep their digits with
    many samples. Takes 2 S + 5 evaluations of S cells.
    """
    level = as_level(confidence_level, alternative)
    counts = cells.counts.astype(np.float64)
    n = counts.sum()

    def value(weights: Floats) -> float:
        return float(measure(estimator, cells.tables(weights[np.newaxis]))[0])

    def influences(weights: Floats) -> Floats:
        return influences_of(estimator, cells.tables(weights), cells)

    estimate, psi = value(counts), influences(counts[np.newaxis])[0]
    error = math.sqrt(counts @ psi**2) / float(n)
    if not math.isfinite(estimate) or not math.isfinite(error):
        return Resampled(estimate)
    if error <= _NO_CURVATURE * np.max(np.abs(psi), initial=abs(estimate)):
        return Resampled(estimate, estimate, estimate, 0.0, status=DEGENERATE)
    a = (counts @ psi**3) / (6.0 * (n * error) ** 3)
    direction = psi / (n * error)  # by which the weight of a sample is changed
    # Differentiated twice along it: cells change in that proportion.
    step = _STEP / np.max(np.abs(direction))
    up, down = influences(cells.counts * (1.0 + step * np.stack([direction, -direction])))
    bend = float((cells.counts * direction) @ (up - down) / (2.0 * step * n)) / (2.0 * error)
    bias = _second_derivatives(influences, cells) @ counts / (2.0 * n * n)
    # That is a - (bias / error - bend) to first order.
    z0 = ndtri(0.5 * math.erfc(-a / _ROOT) * math.erfc((bias / error - bend) / _ROOT))

    def end(z: float) -> float:
        shift = (z0 + z) / (1.0 - a * (z0 + z)) ** 2
        return value(counts * (1.0 + shift * direction))

    ends = [end(ndtri(0.5 * (1.0 - level))), end(ndtri(0.5 * (1.0 + level)))]
    low, high = keep_side(ends, alternative, (-np.inf, np.inf))
    if math.isnan(low) or math.isnan(high):  # weights below 0, of which the measure has no value
        low = high = math.nan
    pvalue = math.nan
    if cells.n_models == 2:
        tail = 0.5 * math.erfc(-_quantile_at_zero(end, estimate) / _ROOT)
        tails = {"two-sided": 2.0 * min(tail, 1.0 - tail), "greater": tail, "less": 1.0 - tail}
        pvalue = tails[alternative]
    return Resampled(estimate, low, high, error, pvalue, OK)


def _quantile_at_zero(end: Callable[[float], float], estimate: float) -> float:
    """The normal quantile of the interval whose end is 0."""
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


def _second_derivatives(influences: Callable[[Floats], Floats], cells: Cells) -> Floats:
    """Second derivatives towards a sample of each cell, (S,).

    At the proportions (1 - e) p + e d the first derivative towards d is its influence
    there, divided by 1 - e.
    """
    counts = cells.counts.astype(np.float64)
    n, k = counts.sum(), cells.n_classes
    derivatives = np.empty(counts.size)
    size = max(1, _ABC_BLOCK // (16 * (counts.size + 2 * cells.n_models * k * k)))
    for part in parts(counts.size, size):
        rows = np.arange(part.stop - part.start)
        change = _STEP * counts[part] / n
        slopes = []
        for e in (change, -change):
            weights = np.tile(counts, (rows.size, 1))
            weights[rows, rows + part.start] += n * e / (1.0 - e)
            slopes.append(influences(weights)[rows, rows + part.start] / (1.0 - e))
        derivatives[part] = (slopes[0] - slopes[1]) / (2.0 * change)
    return derivatives
