"""The value of a metric of one model, its standard error and an interval.

An interval is symmetric on the scale on which the metric is nearest to normal; where a
metric is a proportion, or a mean of proportions, Wilson's limits are used.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fastcmp import kernels
from fastcmp.kernels.cluster_means import t_quantile
from fastcmp.metrics.cells import cells_of_table
from fastcmp.metrics.proportions import (
    are_independent,
    mover_limits,
    proportions_of,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fastcmp.metrics.cells import Cells
    from fastcmp.metrics.estimators import Estimator
    from fastcmp.metrics.proportions import Proportions

    Floats = NDArray[np.float64]

#: How intervals of one model are made, besides by resampling.
METHODS = ("wilson", "mover", "jackknife", "delta")
SCALES = ("identity", "logit", "atanh", "log")


class Estimate(NamedTuple):
    """A metric of one model."""

    value: float
    standard_error: float = math.nan
    low: float = math.nan
    high: float = math.nan
    #: Such as "wilson", "mover", "jackknife, logit".
    method: str = ""
    status: int = int(kernels.UNDEFINED)


def estimate_table(
    estimator: Estimator,
    table: Floats,
    confidence_level: float,
    method: str | None = None,
) -> Estimate:
    """Estimate a metric from a confusion matrix of counted samples."""
    return estimate(estimator, cells_of_table(table), confidence_level, method)


def estimate(  # the metric, the samples, and how they make an interval
    estimator: Estimator,
    cells: Cells,
    level: float,
    method: str | None = None,
    scale: str | None = None,
    *,
    within_classes: bool = False,
) -> Estimate:
    """Estimate a metric of one model, with an interval by `method` on `scale`.

    By default Wilson's interval for a proportion, MOVER for a mean of proportions of
    different samples, else that of the jackknife on the metric's own scale.
    """
    table = cells.table()
    value = estimator.value(table)
    if math.isnan(value):
        return Estimate(value)
    counted = cells.clusters is None and cells.squares is None
    plain = method is None and scale is None and not within_classes
    of = None
    if counted and (method in ("wilson", "mover") or plain):
        of = proportions_of(estimator, table)
    chosen = _method_of(estimator, of) if plain else method
    how = chosen or ("delta" if estimator.scale == "log" else "jackknife")
    by = "delta" if how == "delta" or not counted else "jackknife"
    u = cells.pick(contributions(estimator, table, by)[np.newaxis, np.newaxis])[0]
    error = standard_error(cells, u, by, within_classes=within_classes)
    if plain and chosen is None and value in estimator.limits and of is not None:
        chosen = "mover"  # no scale has the ends of the range
    if chosen in ("wilson", "mover"):
        return _of_proportions(value, error, of, level, chosen)
    if scale is None:
        keeps = how == "jackknife" or estimator.scale == "log"
        scale = estimator.scale if keeps else "identity"
    low, high = limits_on(scale, value, error, t_quantile(degrees_of(cells), level))
    shown = by if scale == "identity" else f"{by}, {scale}"
    status = kernels.UNDEFINED if math.isnan(low) else kernels.OK
    return Estimate(value, error, low, high, shown, int(status))


def _of_proportions(
    value: float, error: float, of: Proportions | None, level: float, method: str
) -> Estimate:
    """Make Wilson's interval, or MOVER's of several; none where it is not defined."""
    if of is None or (method == "wilson" and of.trials.size != 1):
        return Estimate(value, error, method=method)
    low, high = mover_limits(of, level)
    return Estimate(value, error, low, high, method, int(kernels.OK))


def _method_of(estimator: Estimator, of: Proportions | None) -> str | None:
    """Choose Wilson's interval or MOVER where a metric is made of proportions."""
    if of is None or not are_independent(estimator, of):
        return None
    plain = of.trials.size == 1 and of.constant == 0.0 and of.weights[0] == 1.0
    return "wilson" if plain else "mover"


def degrees_of(cells: Cells) -> float:
    """Give the degrees of freedom of t: infinite without clusters."""
    return math.inf if cells.clusters is None else float(max(cells.clusters.n - 1, 1))


def contributions(estimator: Estimator, table: Floats, how: str) -> Floats:
    """Compute what a sample of each cell contributes, (K, K), of mean 0.

    By the delta method the influences, by the jackknife pseudo-values less their mean.
    """
    if how == "delta":
        return estimator.influence(table)
    found: Floats = jackknife_influences(estimator, table[np.newaxis])[0]
    return found


def jackknife_influences(estimator: Estimator, tables: Floats, weight: float = 1.0) -> Floats:
    """Compute how each cell moves a metric, from the metric without a sample of it.

    ``(n - 1) (mean - without)``, (b, K, K): the sum of squares over samples, divided by
    n (n - 1), is the jackknife variance. NaN in cells without which the metric is not
    defined. `weight` is what a sample counts; cells that weigh less are 0.
    """
    # The metric does not change where all counts are divided by one number.
    scaled = tables / weight
    cells = scaled >= 1.0
    left = np.stack([estimator.leave_one_out(table) for table in scaled])
    left[~cells] = 0.0
    samples = np.where(cells, scaled, 0.0)
    with np.errstate(invalid="ignore"):  # a stratum without any of the samples
        middle = (samples * left).sum(axis=(1, 2)) / samples.sum(axis=(1, 2))
    rest = scaled.sum(axis=(1, 2)) - 1.0
    apart = middle[:, np.newaxis, np.newaxis] - left
    return np.where(cells, rest[:, np.newaxis, np.newaxis] * apart, 0.0)


def standard_error(cells: Cells, u: Floats, how: str, *, within_classes: bool = False) -> float:
    """Turn what a sample of each cell contributes into a standard error."""
    if not np.isfinite(u).all():
        return math.nan
    square = cells.mean_square(u, within_classes=within_classes)
    if how == "jackknife" and cells.n > 1:
        square *= cells.n / (cells.n - 1.0)
    return math.sqrt(square)


def limits_on(scale: str, value: float, error: float, times: float) -> tuple[float, float]:
    """Give limits that are symmetric on a scale; NaN where it has no such value."""
    half = times * error
    if scale == "identity":
        return value - half, value + half
    with np.errstate(all="ignore"):
        if scale == "log":
            if not value > 0.0:
                return math.nan, math.nan
            ratio = half / value
            return value * math.exp(-ratio), value * math.exp(min(ratio, 700.0))
        if scale == "logit":
            if not 0.0 < value < 1.0:
                return math.nan, math.nan
            step = half / (value * (1.0 - value))
            return _moved_logit(value, -step), _moved_logit(value, step)
        if not -1.0 < value < 1.0:
            return math.nan, math.nan
        step, middle = half / (1.0 - value * value), math.atanh(value)
        return math.tanh(middle - step), math.tanh(middle + step)


def _moved_logit(value: float, step: float) -> float:
    """Move a proportion on the logit scale."""
    odds = value / (1.0 - value)
    if step > 0.0:
        return 1.0 / (1.0 + math.exp(-min(step, 700.0)) / odds)
    moved = odds * math.exp(max(step, -700.0))
    return moved / (1.0 + moved)
