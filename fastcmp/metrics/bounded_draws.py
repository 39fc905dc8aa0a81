"""Limits for differences of metrics that hold also where no variance was observed.

Samples get exponential weights, as in Rubin's Bayesian bootstrap, and one more sample, the
worst that there could have been, adds its influence with such a weight: Gaffke's bound,
which for one proportion is about Clopper and Pearson's.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fastcmp import kernels
from fastcmp.kernels.item_bootstrap import cluster_cells
from fastcmp.metrics.cell_draws import evaluate_draws, measure
from fastcmp.metrics.derived import AdjustedForChance, AtPrevalence, UserEstimator
from fastcmp.metrics.estimators import KernelEstimator

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from fastcmp.core.threads import ThreadPool
    from fastcmp.metrics.cells import Cells, Drawn
    from fastcmp.metrics.estimators import Estimator

    Floats = NDArray[np.float64]

#: Numbers of tables and draws beyond which fewer are drawn, and how few at least.
_WORK, _LEAST = 1 << 29, 499
_OF_USERS = 1_999  # draws where a user's function is evaluated
#: Why there may be no limits.
NO_VALUE = "the metric is 0/0 for one of the models, or says nothing without samples of a class"
_SMOOTH = 0.5  # samples that are right, and wrong, added to each class


class Bounds(NamedTuple):
    """What a difference may be: draws that err to the lower, and to the upper side."""

    #: Ascending, shape (R,).
    low: Floats
    high: Floats
    #: Of all differences that there may be.
    limits: tuple[float, float]

    def pvalue_lower(self, at: float) -> float:
        """P-value of H0: the difference is `at` or less."""
        return _tail(self.low, at)

    def pvalue_upper(self, at: float) -> float:
        """P-value of H0: the difference is `at` or more."""
        return _tail(-self.high[::-1], -at)

    def interval(self, level: float) -> tuple[float, float]:
        """Both ends of the interval, which inverts the tests."""
        alpha = 0.5 * (1.0 - level)
        low, high = _quantile(self.low, alpha), -_quantile(-self.high[::-1], alpha)
        least, most = self.limits
        return float(np.maximum(low, least)), float(np.minimum(high, most))


def _fitted(draws: Floats) -> tuple[int, float, float]:
    """Count the draws in the lower tail; find where it begins, and its mean excess.

    Beyond these draws the tail is taken for exponential, which is on the safe side.
    """
    k = min(max(10, draws.size // 100), draws.size)
    start = float(draws[k - 1])
    return k, start, float(np.mean(start - draws[:k])) if math.isfinite(start) else math.inf


def _tail(draws: Floats, at: float) -> float:
    if math.isnan(draws[0]):
        return math.nan
    below = int(np.searchsorted(draws, at, "right"))
    k, start, excess = _fitted(draws)
    if below >= k or not 0.0 < excess < math.inf:
        return (below + 1.0) / (draws.size + 1.0)
    return (k + 1.0) / (draws.size + 1.0) * math.exp(-(start - at) / excess)


def _quantile(draws: Floats, alpha: float) -> float:
    k, start, excess = _fitted(draws)
    place = alpha * (draws.size + 1.0) - 1.0
    if place >= k or not 0.0 < excess < math.inf:
        return float(draws[max(math.ceil(place) - 1, 0)])
    return start - excess * math.log((k + 1.0) / (draws.size + 1.0) / alpha)


def bounded_draws(
    estimators: Sequence[Estimator],
    cells: Cells,
    *,
    within_classes: bool = False,
    n_resamples: int = 9999,
    seed: int = 0,
    pool: ThreadPool | None = None,
) -> list[Bounds]:
    """Draw the differences of several metrics with the same weights.

    Fewer than `n_resamples` where classes are many, or a user's function is slow.
    """
    if not estimators:
        return []
    work = len(cells.codes) + cells.n_models * cells.n_classes**2
    n = min(n_resamples, max(_LEAST, _WORK // work))
    if any(isinstance(estimator, UserEstimator) for estimator in estimators):
        n = min(n, _OF_USERS)
    values, extra = np.empty((len(estimators), n)), np.empty(n)
    t, counts = cells.codes[:, 0], cells.counts.astype(np.float64)
    sizes, places = cells.table(0).sum(axis=1), np.arange(t.size)
    of_sample = np.ones(t.size) if cells.squares is None else cells.squares / counts
    # The same weights where the models are exchanged.
    turned = cells.codes[:, [0, 2, 1]]
    order = np.lexsort(turned.T[::-1])
    as_turned = np.column_stack([turned, counts])[order].tolist()
    as_given = np.column_stack([cells.codes, counts]).tolist()
    if as_given <= as_turned:
        order = places

    def fill(part: slice, draws: Floats) -> tuple[Floats | None, None]:
        bits = np.random.Philox(key=seed, counter=[0, 0, 0, part.start])
        random, times = np.random.Generator(bits), None
        extra[part] = random.standard_exponential(len(draws))
        if cells.clusters is not None:
            times = random.standard_exponential((len(draws), cells.clusters.n))
            cluster_cells(*cells.clusters, places, times, draws)
            draws *= of_sample
        else:  # also a sum of weighted exponential numbers is nearly gamma
            shape = (counts / of_sample)[order]
            draws[:, order] = of_sample[order] * random.standard_gamma(shape, draws.shape)
        if within_classes:
            of_class = np.eye(cells.n_classes)[t]
            draws *= (sizes / np.maximum(draws @ of_class, 1e-300))[:, t]
        return times, None

    def take(part: slice, drawn: Drawn) -> None:
        for e, estimator in enumerate(estimators):
            values[e, part] = measure(estimator, drawn.tables, log=False)

    evaluate_draws(cells, n, fill, take, pool)
    found = []
    for estimator, own in zip(estimators, values, strict=True):
        worst, best = _extremes(estimator, cells, sizes)
        least, most = estimator.limits
        with np.errstate(invalid="ignore"):
            low, high = own + worst * extra, own + best * extra
        low[np.isnan(low)], high[np.isnan(high)] = -np.inf, np.inf
        alone = np.count_nonzero(sizes) < 2 and _needs_two_classes(estimator)
        if alone or low.min() == low.max():  # no sample could change the metric
            low[:] = high[:] = np.nan
        low, high = np.sort(low), np.sort(high)
        if as_given == as_turned:
            low = 0.5 * (low - high[::-1])
            high = -low[::-1]
        found.append(Bounds(low, high, (least - most, most - least)))
    return found


def _needs_two_classes(estimator: Estimator) -> bool:
    """Whether a metric says nothing where the truth holds one class only."""
    if not isinstance(estimator, KernelEstimator):
        return isinstance(estimator, (AdjustedForChance, AtPrevalence))
    spec = estimator.spec
    averaged = spec.average not in (kernels.ONE_CLASS, kernels.MICRO)
    return averaged or kernels.ACCURACY < spec.metric < kernels.COST


def _extremes(estimator: Estimator, cells: Cells, sizes: Floats) -> tuple[float, float]:
    """Find what the worst and the best sample, or cluster, that there may be would add.

    By the influences at tables to each of whose classes half a sample that is predicted
    rightly is added, and half a wrong one: each possible prediction has one.
    """
    k = cells.n_classes
    tables = np.stack([cells.table(0), cells.table(1)])
    others = np.tile(sizes if np.count_nonzero(sizes) > 1 else tables.sum(axis=(0, 1)), (k, 1))
    np.fill_diagonal(others, 0.0)
    total = others.sum(axis=1, keepdims=True)
    added = np.divide(_SMOOTH * others, total, out=np.zeros((k, k)), where=total > 0.0)
    added[np.diag_indices(k)] = _SMOOTH
    added[sizes == 0.0] = 0.0
    smooth = tables + added
    possible = smooth > 0.0
    psi = estimator.influences(smooth) / smooth.sum(axis=(1, 2))[:, np.newaxis, np.newaxis]
    if np.isnan(psi[possible]).any():  # a user's function without a derivative here
        for m, i, j in np.argwhere(possible).tolist():
            more = smooth[m].copy()
            more[i, j] += 1.0
            psi[m, i, j] = estimator.value(more) - estimator.value(smooth[m])
    least = np.where(possible, psi, np.inf).min(axis=2)
    most = np.where(possible, psi, -np.inf).max(axis=2)
    known = sizes > 0.0
    worst, best = np.zeros(k), np.zeros(k)
    worst[known], best[known] = (least[0] - most[1])[known], (most[0] - least[1])[known]
    squares = cells.counts if cells.squares is None else cells.squares
    if cells.clusters is not None:
        starts, places, samples = cells.clusters
        samples = samples * (squares / cells.counts)[places]
        sums = [
            np.add.reduceat(samples * of_class[cells.codes[places, 0]], starts[:-1])
            for of_class in (worst, best)
        ]
        return float(sums[0].min()), float(sums[1].max())
    weight = np.zeros(k)
    np.maximum.at(weight, cells.codes[:, 0], squares / cells.counts)
    return float((weight * worst).min()), float((weight * best).max())
