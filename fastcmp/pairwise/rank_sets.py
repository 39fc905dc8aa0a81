"""Simultaneous and marginal confidence sets for the ranks of models."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp.core.checks import as_flag, as_proportion, as_seed
from fastcmp.core.options import choose
from fastcmp.core.threads import ThreadPool, check_workers
from fastcmp.inputs.model_names import choose_models
from fastcmp.pairwise.model_estimates import read_estimates
from fastcmp.pairwise.rank_search import SIDES, RankOptions, find_ranks
from fastcmp.pairwise.rank_sets_result import RankSets
from fastcmp.pairwise.simulated_maxima import read_draws

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from fastcmp.pairwise.model_estimates import Estimates


def rank_sets_from_moments(
    estimate: ArrayLike,
    covariance: ArrayLike,
    *,
    lower_is_better: bool = False,
    side: str = "two-sided",
    simultaneous: bool = True,
    step_down: bool = True,
    models: Sequence[int | str] | None = None,
    confidence_level: float = 0.95,
    n_resamples: int | None = None,
    rng: Any = None,
    names: Sequence[str] | None = None,
    workers: int | None = None,
) -> RankSets:
    """Find the ranks that models may have, by estimates and their covariance.

    `rank_sets` does the same by values per item.

    Parameters
    ----------
    estimate : array-like, shape (M,)
        What the models achieved: accuracies, means, areas, ...
    covariance : array-like, shape (M, M) or (M,)
        Covariance of the estimates (not of single items); of independent estimates the
        variances alone.
    lower_is_better : bool
        Whether the estimates are losses.
    side : {"two-sided", "lower", "upper"}
        Which ends of the sets are bounded: both, only the least rank, or only the
        greatest.
    simultaneous : bool
        Whether all sets hold at once, or each for its model alone.
    step_down : bool
        Whether pairs that are shown to differ leave the test of the others: sets are
        never larger for it.
    models : sequence, optional
        Whose ranks are asked for, by name or index; by default all.
    confidence_level : float
        Probability that the sets hold the true ranks.
    n_resamples : int, optional
        Draws that critical values come from; by default 1,000 to 50,000, fewer for many
        models.
    rng : int, numpy.random.Generator or None
        Where the draws come from.
    names : sequence of str, optional
        Names of the models.
    workers : int, optional
        Threads; by default as many as there are processors.

    Returns
    -------
    RankSets
        The least and the greatest rank of each model.

    Raises
    ------
    ValueError
        If the covariance is not positive semidefinite, there is no such model, or an
        option is unknown.
    TypeError
        If the estimates are no numbers.

    Notes
    -----
    Each difference of two models is tested by its own standard error, against a
    critical value of the largest of all that are asked for under their joint normal
    distribution [1]_. A model's least rank is 1 + the number of models shown to be
    better, its greatest M less those shown to be worse. O(M**2 B) for B draws. Models
    whose difference does not vary at all are ordered by it, without a test.

    References
    ----------
    .. [1] M. Mogstad, J. P. Romano, A. M. Shaikh, D. Wilhelm, "Inference for ranks with
       applications to mobility across neighbourhoods and academic achievement across
       countries", Review of Economic Studies 91 (2024) 476-518.

    Examples
    --------
    >>> from fastcmp import rank_sets_from_moments
    >>> sets = rank_sets_from_moments([0.9, 0.88, 0.8], [0.0004, 0.0004, 0.0004])
    >>> sets.lower.tolist(), sets.upper.tolist()
    ([1, 1, 3], [2, 2, 3])
    """
    estimates = read_estimates(estimate, covariance, names, lower_is_better=lower_is_better)
    options = read_rank_options(
        side=side,
        simultaneous=simultaneous,
        step_down=step_down,
        confidence_level=confidence_level,
        draws=(n_resamples, len(estimates.names)),
        rng=rng,
    )
    with ThreadPool(check_workers(workers)) as pool:
        return make_rank_sets(estimates, models, options, pool)


def read_rank_options(
    *,
    side: str,
    simultaneous: bool,
    step_down: bool,
    confidence_level: float,
    draws: tuple[int | None, int],
    rng: Any,
) -> RankOptions:
    """Check options; `draws` has how many are asked for, and how many models are."""
    level = as_proportion(confidence_level, "confidence_level")
    return RankOptions(
        side=choose(side, "side", SIDES),
        simultaneous=as_flag(simultaneous, "simultaneous"),
        step_down=as_flag(step_down, "step_down"),
        level=level,
        n_draws=read_draws(*draws, level),
        seed=as_seed(rng),
    )


def make_rank_sets(
    estimates: Estimates, models: Sequence[int | str] | None, options: RankOptions, pool: ThreadPool
) -> RankSets:
    """Find the sets of the chosen models, and make their record."""
    chosen = choose_models(models, estimates.names)
    found = find_ranks(estimates, chosen, options, pool)
    order = np.sort(-estimates.merit)
    rank = 1 + np.searchsorted(order, -estimates.merit)
    own = estimates.of_record
    return RankSets(
        **own
        | {"names": tuple(estimates.names[i] for i in chosen), "estimate": own["estimate"][chosen]},
        rank=rank[chosen].astype(np.int64),
        lower=found.lower,
        upper=found.upper,
        side=options.side,
        simultaneous=options.simultaneous,
        step_down=options.step_down,
        confidence_level=options.level,
        critical_value=found.critical,
        n_models=len(estimates.names),
        n_resamples=options.n_draws,
        seed=options.seed,
    )
