"""Metrics that are proportions of counted samples, or means of such proportions."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import ndtri

from fastcmp import kernels
from fastcmp.core.tails import wilson_interval
from fastcmp.metrics.derived import AdjustedForChance
from fastcmp.metrics.estimators import KernelEstimator

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fastcmp.metrics.estimators import Estimator

    Floats = NDArray[np.float64]


class Proportions(NamedTuple):
    """A metric as sum of weights times proportions, plus a constant."""

    successes: Floats
    trials: Floats
    weights: Floats = np.ones(1)
    constant: float = 0.0
    #: Whether F1 is meant where the proportions are Jaccard's.
    as_f1: bool = False


def proportions_of(estimator: Estimator, table: Floats) -> Proportions | None:
    """Write a metric as proportions of independent samples, if it is of that form."""
    if isinstance(estimator, KernelEstimator):
        return _of_rates(estimator, table)
    if not isinstance(estimator, AdjustedForChance):
        return None
    base = proportions_of(estimator.base, table)
    k = np.count_nonzero(table.any(axis=1))
    if base is None or k < 2:
        return None
    rest = 1.0 - 1.0 / k
    shift = (base.constant - 1.0 / k) / rest
    return base._replace(weights=base.weights / rest, constant=shift)


def _of_rates(estimator: KernelEstimator, table: Floats) -> Proportions | None:
    """Write a rate, or a mean of rates, as proportions."""
    spec, d = estimator.spec, np.diagonal(table)
    if spec.metric == kernels.ACCURACY:
        return Proportions(d.sum(keepdims=True), table.sum(keepdims=True)[0])
    trials = None
    if spec.average <= kernels.WEIGHTED:
        r, c = table.sum(axis=1), table.sum(axis=0)
        trials = class_trials(spec, d, r, c, table.sum())
    if trials is None:
        return None
    as_f1, k = spec.metric == kernels.F_BETA, spec.label
    if spec.metric == kernels.INFORMEDNESS:
        if spec.average != kernels.ONE_CLASS:
            return None
        r, c, n = table[k].sum(), table[:, k].sum(), table.sum()
        if not 0 < r < n:
            return None
        both = np.array([d[k], n - r - c + d[k]]), np.array([r, n - r])
        return Proportions(*both, weights=np.ones(2), constant=-1.0)
    if spec.average == kernels.ONE_CLASS:
        if not trials[1][k] > 0:
            return None
        at = slice(k, k + 1)
        return Proportions(trials[0][at], trials[1][at], as_f1=as_f1)
    return _averaged(estimator, table, *trials, as_f1=as_f1)


def class_trials(
    spec: kernels.MetricSpec, d: Floats, r: Floats, c: Floats, n: Floats | float
) -> tuple[Floats, Floats] | None:
    """Give successes and trials of classes, from the sums of their tables."""
    rest = n - r - c + d
    if spec.metric == kernels.F_BETA and spec.beta != 1.0:
        return None
    known = {
        kernels.RECALL: (d, r),
        kernels.PRECISION: (d, c),
        kernels.SPECIFICITY: (rest, n - r),
        kernels.NPV: (rest, n - c),
        kernels.F_BETA: (d, r + c - d),
        kernels.JACCARD: (d, r + c - d),
        kernels.INFORMEDNESS: (d, r),
    }
    return known.get(spec.metric)


def _averaged(
    estimator: KernelEstimator,
    table: Floats,
    successes: Floats,
    trials: Floats,
    *,
    as_f1: bool,
) -> Proportions | None:
    """Write an average over classes; those without samples add a constant."""
    counted = estimator.averaged(table)
    assert counted is not None
    zero = estimator.spec.zero_division
    known = counted & (trials > 0)
    if np.isnan(zero):
        counted = known
    weights = counted.astype(np.float64)
    if estimator.spec.average == kernels.WEIGHTED:
        weights *= table.sum(axis=1)
    if not weights.sum() > 0:
        return None
    weights /= weights.sum()
    constant = float(weights[~known].sum() * (0.0 if np.isnan(zero) else zero))
    return Proportions(successes[known], trials[known], weights[known], constant, as_f1)


def wilson_limits(of: Proportions, level: float) -> tuple[Floats, Floats, Floats]:
    """Give each proportion with Wilson's limits; as F1 where that is meant."""
    z = float(-ndtri(0.5 * (1.0 - level)))
    rate = of.successes / of.trials
    low, high = wilson_interval(rate, of.trials, z)
    if of.as_f1:
        rate, low, high = (2.0 * x / (1.0 + x) for x in (rate, low, high))
    return rate, np.asarray(low), np.asarray(high)


def mover_limits(of: Proportions, level: float) -> tuple[float, float]:
    """Combine the limits of all proportions: Zou and Donner's MOVER.

    Distances from the estimate add up as variances do.
    """
    rate, low, high = wilson_limits(of, level)
    middle = float(of.weights @ rate) + of.constant
    down = float(np.sqrt(((of.weights * (rate - low)) ** 2).sum()))
    up = float(np.sqrt(((of.weights * (high - rate)) ** 2).sum()))
    return middle - down, middle + up


def are_independent(estimator: Estimator, of: Proportions) -> bool:
    """Tell whether the proportions are of different samples: recalls of classes.

    Not where they are weighted by class, as these weights are estimates too.
    """
    if isinstance(estimator, AdjustedForChance):
        estimator = estimator.base
    recalls = (kernels.RECALL, kernels.INFORMEDNESS)
    return of.trials.size == 1 or (
        isinstance(estimator, KernelEstimator)
        and estimator.spec.metric in recalls
        and estimator.spec.average != kernels.WEIGHTED
    )
