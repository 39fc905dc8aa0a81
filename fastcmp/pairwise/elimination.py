"""Models left out one by one, the worst first, with the test that leaves each out."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fastcmp.pairwise.model_estimates import weights_of
from fastcmp.pairwise.simulated_maxima import SAME

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from fastcmp.pairwise.model_estimates import Estimates
    from fastcmp.pairwise.simulated_maxima import Maxima

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]


class Step(NamedTuple):
    """A test that all models that are left are equal."""

    #: The model that is left out next.
    model: int
    statistic: float
    #: The statistic of each draw.
    maxima: Floats


def by_range(estimates: Estimates, draws: Maxima) -> Iterator[Step]:
    """Test by the largest difference of two models; the worse one is left out."""
    errors = estimates.errors()
    order, statistic = _leave_out(_behind(estimates.merit, errors))
    place = np.argsort(order)
    # Each model with those that are left out later: maxima over the models that are
    # left add up from the end.
    weights = weights_of(errors)[order]
    weights *= place > np.arange(order.size)[:, None]
    found = draws.largest(weights, order, apart=True)
    np.maximum(found, draws.largest(weights, order, apart=True, sign=-1.0), out=found)
    found = np.maximum.accumulate(found[::-1])[::-1]
    for k in range(order.size - 1):
        yield Step(int(order[k]), float(statistic[k]), found[k])


def _behind(merit: Floats, errors: Floats) -> Floats:
    """Standardise by how much each model is behind each other, shape (M, M)."""
    behind = merit - merit[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        found = behind / errors
    found[behind == 0.0] = 0.0
    np.fill_diagonal(found, -np.inf)
    return found


def _leave_out(found: Floats) -> tuple[Ints, Floats]:
    """Leave out the model of the largest entry until one is left; spoils `found`."""
    n_models = len(found)
    order, statistic = np.empty(n_models, np.int64), np.zeros(n_models)
    largest, place = found.max(axis=1), found.argmax(axis=1)
    left = np.ones(n_models, bool)
    for k in range(n_models - 1):
        worst = int(np.argmax(np.where(left, largest, -np.inf)))
        order[k], statistic[k], left[worst] = worst, largest[worst], False
        found[:, worst] = -np.inf
        again = np.flatnonzero(left & (place == worst))
        largest[again], place[again] = found[again].max(axis=1), found[again].argmax(1)
    order[-1] = np.flatnonzero(left)[0]
    return order, statistic


def by_maximum(estimates: Estimates, draws: Maxima) -> Iterator[Step]:
    """Test by the largest distance below the mean of all; that model is left out."""
    merit, covariance = estimates.merit, estimates.covariance
    own, values = np.diagonal(covariance), draws.draws.values
    left = np.arange(merit.size)
    sums, totals = covariance.sum(axis=1), values.sum(axis=0)
    while left.size > 1:
        size = left.size
        common = sums[left].sum() / size**2
        variance = own[left] - 2.0 * sums[left] / size + common
        variance[variance <= SAME * (own[left] + common)] = 0.0
        behind = merit[left].mean() - merit[left]
        weights = weights_of(np.sqrt(variance))
        statistic = behind * weights
        sure = (variance == 0.0) & (behind > SAME * np.abs(merit[left]).max())
        statistic[sure] = np.inf
        worst = int(np.argmax(statistic))
        drawn = (totals / size - values[left]) * weights[:, None]
        maxima = drawn.max(axis=0)
        if draws.smooth:
            maxima = np.concatenate([maxima, -drawn.min(axis=0)])
        yield Step(int(left[worst]), float(statistic[worst]), maxima)
        sums -= covariance[:, left[worst]]
        totals = totals - values[left[worst]]
        left = np.delete(left, worst)
