"""Which differences are shown, and the sets of ranks that follow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fastcmp.core.threads import parts
from fastcmp.pairwise.model_estimates import Estimates, weights_of
from fastcmp.pairwise.simulated_maxima import Maxima, order_statistics, upper_quantile

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fastcmp.core.threads import ThreadPool

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]
    Flags = NDArray[np.bool_]

SIDES = ("two-sided", "lower", "upper")
_ROWS = 512
_AGAIN = 4  # times alpha: the part of the draws that is looked at again first


class RankOptions(NamedTuple):
    """What sets of ranks promise, and how they are found; checked."""

    side: str
    simultaneous: bool
    step_down: bool
    level: float
    n_draws: int
    seed: int


class FoundRanks(NamedTuple):
    """The least and the greatest rank of some models."""

    lower: Ints
    upper: Ints
    #: The last critical value, of all or of each model.
    critical: Any


def find_ranks(
    estimates: Estimates, chosen: Ints, options: RankOptions, pool: ThreadPool
) -> FoundRanks:
    """Find the sets of ranks of the chosen models."""
    known, errors = (options.n_draws, options.seed), estimates.errors()
    draws = Maxima.of(estimates.covariance, *known, pool, estimates.df, errors)
    find = _find_together if options.simultaneous else _find_alone
    differences = _Differences.of(estimates.merit, errors)
    return find(differences, draws, chosen, options)


class _Differences(NamedTuple):
    merit: Floats
    #: One over the standard error of each difference, or 0.
    weights: Floats
    #: Differences that do not vary, and are not 0: shown without a test.
    sure: Flags

    @classmethod
    def of(cls, merit: Floats, errors: Floats) -> _Differences:
        sure = errors == 0.0
        sure &= merit[:, None] > merit
        return cls(merit, weights_of(errors), sure)


def _find_together(
    differences: _Differences, draws: Maxima, chosen: Ints, options: RankOptions
) -> FoundRanks:
    """Test all ordered pairs of the chosen models at once, step by step."""
    merit, weights, sure = differences
    kept = np.zeros(sure.shape, bool)
    if options.side != "lower":
        kept[chosen] = True
    if options.side != "upper":
        kept[:, chosen] = True
    weights[~kept] = 0.0
    shown = sure & kept
    if options.step_down:  # what Bonferroni shows, the first step shows too
        one = (1.0 - options.level) / max(int(np.count_nonzero(weights)), 2)
        bound = upper_quantile(one, draws.df)
        _show(merit, weights, bound, shown)
    critical, found = 0.0, None
    while True:
        found, critical = _next_critical(draws, weights, options.level, found)
        if not _show(merit, weights, critical, shown) or not options.step_down:
            break
    beats, beaten = shown.sum(axis=1)[chosen], shown.sum(axis=0)[chosen]
    return _ranks(beats, beaten, merit.size, options.side, critical)


def _ranks(beats: Ints, beaten: Ints, n_models: int, side: str, critical: Any) -> FoundRanks:
    """Turn how many models one is shown to beat, and to be beaten by, into ranks."""
    lower = 1 + beaten if side != "upper" else np.ones_like(beaten)
    upper = n_models - beats if side != "lower" else np.full_like(beats, n_models)
    return FoundRanks(lower, upper, critical)


def _show(merit: Floats, weights: Floats, critical: float, shown: Flags) -> int:
    """Mark differences above the critical value, and take them out of the test."""
    n_new = 0
    for rows in parts(merit.size, _ROWS):
        new = (merit[rows, None] - merit) * weights[rows] > critical
        shown[rows] |= new
        weights[rows][new] = 0.0
        n_new += int(np.count_nonzero(new))
    return n_new


def _next_critical(
    draws: Maxima, weights: Floats, level: float, before: Floats | None
) -> tuple[Floats, float]:
    """Find the maxima over the pairs that are left, and their quantile.

    Maxima only fall from step to step. Only draws that were large are looked at again,
    unless the quantile falls among the others.
    """
    if before is None or draws.smooth:
        found = draws.largest(weights)
        return found, float(draws.quantiles(found, level)[0])
    found = before.copy()
    large = np.sort(np.argsort(-before[0])[: int(_AGAIN * (1 - level) * before.size)])
    found[:, large] = draws.largest(weights, only=large)
    others = np.setdiff1d(np.arange(before.size), large)
    if others.size and order_statistics(found, level)[0] <= before[0, others].max():
        found[:, others] = draws.largest(weights, only=others)
    return found, float(draws.quantiles(found, level)[0])


def _find_alone(
    differences: _Differences, draws: Maxima, chosen: Ints, options: RankOptions
) -> FoundRanks:
    """Test each chosen model against the others, by a critical value of its own."""
    n_models = differences.merit.size
    found = [
        _find_some(differences, draws, chosen[some], options) for some in parts(chosen.size, _ROWS)
    ]
    beats, beaten, critical = (np.concatenate(part) for part in zip(*found, strict=True))
    return _ranks(beats, beaten, n_models, options.side, critical)


def _find_some(
    differences: _Differences, draws: Maxima, chosen: Ints, options: RankOptions
) -> tuple[Ints, Ints, Floats]:
    """Count whom each chosen model beats, and who beats it."""
    merit, weights, sure = differences
    shown = [sure[chosen], sure[:, chosen].T.copy()]
    ahead = merit[chosen, None] - merit
    gains = [ahead, -ahead]
    left = [weights[chosen], weights[chosen]]
    if options.side != "two-sided":
        left[0 if options.side == "lower" else 1][:] = 0.0
    critical, active = np.zeros(chosen.size), np.arange(chosen.size)
    while active.size:
        own = chosen[active]
        maxima = draws.largest(left[0][active], own, apart=True)
        others = draws.largest(left[1][active], own, apart=True, sign=-1.0)
        np.maximum(maxima, others, out=maxima)
        critical[active] = draws.quantiles(maxima, options.level)
        new = np.zeros(active.size, bool)
        for k in (0, 1):
            above = gains[k][active] * left[k][active] > critical[active, None]
            shown[k][active] |= above
            left[k][active] *= ~above
            new |= above.any(axis=1)
        active = active[new] if options.step_down else active[:0]
    beats, beaten = (each.sum(axis=1) for each in shown)
    return beats, beaten, critical
