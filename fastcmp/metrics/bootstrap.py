"""The bootstrap of metrics of one or two models, on the cells of their counts.

Samples, or whole clusters of them, are drawn with replacement: of all, or within the
true classes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fastcmp.core.checks import as_level, keep_side
from fastcmp.core.memory import check_draws
from fastcmp.core.options import ALTERNATIVES, choose
from fastcmp.kernels import bootstrap_intervals as kinds
from fastcmp.kernels.count_draws import draw_cells
from fastcmp.kernels.item_bootstrap import cluster_cells, draw_units
from fastcmp.kernels.status import UNDEFINED
from fastcmp.metrics.cell_draws import evaluate_draws, measure, standard_errors
from fastcmp.metrics.jackknife import acceleration

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from fastcmp.core.threads import ThreadPool
    from fastcmp.metrics.cells import Cells, Drawn
    from fastcmp.metrics.estimators import Estimator

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]
    Fill = Callable[[slice, Floats], tuple[Floats | None, Floats | None]]

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
            (values, errors),
            (estimate, scale),
            (kind, ALTERNATIVES[alternative], level),
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
