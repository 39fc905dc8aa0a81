"""Draws of all models for tests of pairs: adjusted p-values, simultaneous intervals."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp.core.memory import check_draws, check_memory
from fastcmp.core.threads import no_step
from fastcmp.counts.pairs import Block, count_pairs, tiles_of
from fastcmp.pairwise.gaussian_draws import directions, t_scales
from fastcmp.pairwise.joint_draws import Joint

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fastcmp.core.threads import ThreadPool
    from fastcmp.counts.pairs import PairColumns
    from fastcmp.pairwise.metric_options import Draws
    from fastcmp.pairwise.pair_tests import PairTests, Spread

    Floats = NDArray[np.float64]


class JointTests:
    """Draws of the models that some tests are of, made when they are first needed."""

    def __init__(self, tests: PairTests, draws: Draws, pool: ThreadPool) -> None:
        self._tests, self._draws, self._pool = tests, draws, pool

    @cached_property
    def normal(self) -> Joint:
        """Normal draws with the variances of the differences of all pairs."""
        tests = self._tests
        if tests.spread is None:
            raise ValueError(
                "simultaneous=True and adjust='maxt' need standard errors of all pairs "
                "on the same samples, which this method has not: use adjust='holm'"
            )
        m = tests.score.size
        return joint_of_spread(tests.spread, m, tests.side, self._draws, self._pool)

    @cached_property
    def null(self) -> Joint:
        """Draws as if all models were equal: sign flips where these are possible."""
        if self._tests.flips is None:
            return self.normal
        return self._tests.flips(self._draws, self._pool)


def joint_of_spread(
    spread: Spread, n_models: int, side: int, draws: Draws, pool: ThreadPool
) -> Joint:
    """Draw normal numbers whose differences have the variances of the pairs."""
    variance, df = variances_of(spread, n_models, side, pool)

    def standardized(block: Block) -> tuple[Floats, Floats]:
        return standardize(*spread(block)[:2])

    joint = normal_joint(variance, draws, df, pool)
    return joint._replace(standardized=standardized)


def variances_of(
    spread: Spread, n_models: int, side: int, pool: ThreadPool
) -> tuple[Floats, float]:
    """Give the variances of all differences, (M, M), and the least d.o.f."""
    check_memory(
        32.0 * n_models**2,
        None,
        f"the variances of all pairs of {n_models} models",
        "compare fewer models",
    )
    variance = np.zeros((n_models, n_models))
    degrees = [np.inf]

    def fill(tile: Any) -> None:
        block = Block.of_tile(tile, n_models)
        i, j = block.pairs.T
        _, own, df = spread(block)
        variance[i, j] = variance[j, i] = own
        degrees.append(float(np.min(df, initial=np.inf)))

    tiles = [tile for tile in tiles_of(n_models, side) if count_pairs(tile)]
    pool.run(fill, tiles, steps=no_step)
    return variance, min(degrees)


def standardize(difference: Floats, variance: Floats) -> tuple[Floats, Floats]:
    """Divide by standard errors; without variance a difference is infinite, or 0."""
    error, varies = np.sqrt(variance), variance > 0.0
    with np.errstate(divide="ignore", invalid="ignore"):
        statistic = difference / error
    statistic[(difference == 0.0) & (variance == 0.0)] = 0.0
    inverse = np.where(np.isnan(variance), np.nan, 0.0)
    inverse[varies] = 1.0 / error[varies]
    return statistic, inverse


def normal_joint(variance: Floats, draws: Draws, df: float, pool: ThreadPool) -> Joint:
    """Draw normal numbers whose differences have these variances, (M, M).

    With finite degrees of freedom those of each draw have a common scale, as the
    statistics of a multivariate t. Models without variances have zeros.
    """
    check_draws(draws.n, len(variance), of=f" of {len(variance)} models")
    known, covariance = covariance_of(variance)
    drawn, lengths, rank = np.zeros((len(variance), draws.n)), np.zeros(draws.n), 0
    if known.size:
        own, lengths, rank = directions(covariance, draws.n, draws.seed, pool)
        if math.isfinite(df):
            scales = t_scales(draws.n, draws.seed, rank, df)
            own, lengths = own * scales, lengths * scales
        drawn[known] = own
    return Joint(
        lambda some: drawn[:, some],
        *(draws.n, draws.seed, "normal draws"),
        radii=lengths,
        rank=rank,
        df=df,
    )


def covariance_of(variance: Floats) -> tuple[NDArray[np.int64], Floats]:
    """Find the models with variances of differences, and a covariance with these.

    That about the mean of all such models, by Gower's centring.
    """
    lacking = np.count_nonzero(np.isnan(variance), axis=0)
    known = np.flatnonzero(lacking < len(variance) - 1)
    if not known.size:
        return known, np.zeros((0, 0))
    own = variance[np.ix_(known, known)]
    of_model = own.mean(axis=0)
    centred = own - of_model - of_model[:, np.newaxis] + of_model.mean()
    return known, -0.5 * centred


def with_simultaneous(tests: PairTests, critical: float) -> PairTests:
    """Give differences the intervals that hold for all pairs at once."""
    spread, columns, (least, most) = tests.spread, tests.columns, tests.limits
    assert spread is not None

    def simultaneous(block: Block) -> PairColumns:
        found = columns(block)
        difference, variance, _ = spread(block)
        half = critical * np.sqrt(variance)
        return found._replace(
            low=np.clip(difference - half, least, most),
            high=np.clip(difference + half, least, most),
        )

    return replace(tests, columns=simultaneous)
