"""Intervals of ranks of models that were compared in pairs, by all correlations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp.pairwise.model_estimates import Estimates
from fastcmp.pairwise.rank_search import RankOptions, find_ranks
from fastcmp.pairwise.simulated_maxima import read_draws
from fastcmp.pairwise.simultaneous import covariance_of, variances_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fastcmp.core.threads import ThreadPool
    from fastcmp.pairwise.engine import Options
    from fastcmp.pairwise.pair_tests import PairTests

#: Where intervals of ranks come from: the adjusted decisions about pairs, or sets of
#: ranks that hold for all models at once, or for each alone.
RANK_INTERVALS = ("decisions", "simultaneous", "marginal")


def rank_fields(tests: PairTests, options: Options, pool: ThreadPool) -> dict[str, Any]:
    """Give what a record says of ranks; nothing where they follow from decisions."""
    if options.rank_intervals == "decisions":
        return {}
    return {
        "rank_method": options.rank_intervals,
        "rank_bounds": _bounds(tests, options, pool),
    }


def _bounds(tests: PairTests, options: Options, pool: ThreadPool) -> NDArray[np.int64]:
    """Find the least and the greatest rank of each model, shape (M, 2)."""
    method = options.rank_intervals
    if tests.spread is None:
        raise ValueError(
            f"rank_intervals={method!r} needs standard errors of all pairs on the same "
            "samples, which this method has not: use rank_intervals='decisions'"
        )
    m, level = tests.score.size, 1.0 - options.alpha
    variance, df = variances_of(tests.spread, m, tests.side, pool)
    known, covariance = covariance_of(variance)
    score = tests.score if tests.ranking is None else tests.ranking
    bounds = np.tile(np.array([1, m], np.int64), (m, 1))
    if known.size < 2:
        return bounds
    estimates = Estimates(
        names=tuple(map(str, known)),
        value=tests.score[known],
        merit=options.gain * score[known],
        covariance=covariance,
        variance=np.diagonal(covariance).copy(),
        df=df,
    )
    how = RankOptions(
        side="two-sided",
        simultaneous=method == "simultaneous",
        step_down=True,
        level=level,
        n_draws=read_draws(None, known.size, level),
        seed=options.rank_seed,
    )
    found = find_ranks(estimates, np.arange(known.size), how, pool)
    # A model without a standard error may be better or worse than all others.
    bounds[known, 0] = found.lower
    bounds[known, 1] = found.upper + m - known.size
    return bounds
