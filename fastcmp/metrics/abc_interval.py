"""Efron's ABC interval: what BCa tends to, without drawing anything."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fastcmp.core.checks import as_level, keep_side
from fastcmp.core.threads import parts
from fastcmp.kernels.special import ndtri
from fastcmp.kernels.status import DEGENERATE, OK, UNDEFINED
from fastcmp.metrics.cell_draws import influences_of, measure

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from fastcmp.metrics.cells import Cells
    from fastcmp.metrics.estimators import Estimator

    Floats = NDArray[np.float64]

_STEP = 1e-4  # of the weight of a cell, by which it is changed
_NOTHING = 1e-12
_ROOT = math.sqrt(2.0)
#: Steps of the search for the interval with an end at 0, in normal quantiles.
_STRIDE, _FARTHEST, _HALVINGS = 0.25, 37.0, 40
_BLOCK = 1 << 22  # bytes of tables that are evaluated together


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
    if error <= _NOTHING * np.max(np.abs(psi), initial=abs(estimate)):
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
    size = max(1, _BLOCK // (16 * (counts.size + 2 * cells.n_models * k * k)))
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
