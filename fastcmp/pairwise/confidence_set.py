"""The model confidence set of Hansen, Lunde and Nason."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fastcmp.core.checks import as_proportion, as_resamples, as_seed
from fastcmp.core.options import choose
from fastcmp.core.threads import ThreadPool, check_workers
from fastcmp.pairwise.confidence_set_result import ModelConfidenceSet
from fastcmp.pairwise.elimination import by_maximum, by_range
from fastcmp.pairwise.model_estimates import Estimates, distribution_of, read_estimates
from fastcmp.pairwise.simulated_maxima import Maxima

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

METHODS = {"r": by_range, "max": by_maximum}
_TIE = 1e-9


class SetOptions(NamedTuple):
    """How models are left out; checked."""

    method: str
    alpha: float
    n_draws: int
    seed: int | None
    resampling: str = "normal"


def model_confidence_set_from_moments(
    estimate: ArrayLike,
    covariance: ArrayLike,
    *,
    lower_is_better: bool = False,
    method: str = "R",
    alpha: float = 0.05,
    n_resamples: int = 9999,
    rng: Any = None,
    names: Sequence[str] | None = None,
    workers: int | None = None,
) -> ModelConfidenceSet:
    """Leave out worse models one by one, by estimates and their covariance.

    `model_confidence_set` does the same by values per item.

    Parameters
    ----------
    estimate : array-like, shape (M,)
        What the models achieved: accuracies, means, losses, ...
    covariance : array-like, shape (M, M) or (M,)
        Covariance of the estimates (not of single items); of independent estimates the
        variances alone.
    lower_is_better : bool
        Whether the estimates are losses.
    method : {"R", "max"}
        What is tested, and which model is left out: the largest difference of two
        models and the worse of them, or the largest distance of a model from the mean
        of all.
    alpha : float
        Error rate of the set, in (0, 1).
    n_resamples : int
        Draws from the normal distribution.
    rng : int, numpy.random.Generator or None
        Where the draws come from.
    names : sequence of str, optional
        Names of the models.
    workers : int, optional
        Threads; by default as many as there are processors.

    Returns
    -------
    ModelConfidenceSet
        The set, and a p-value for each model.

    Raises
    ------
    ValueError
        If the covariance is not positive semidefinite, or an option is unknown.
    TypeError
        If the estimates are no numbers.

    Notes
    -----
    Differences are divided by their standard errors. Models that are the same, item by
    item, count as one and have one p-value. O(M**2 B) for B draws.

    References
    ----------
    .. [1] P. R. Hansen, A. Lunde, J. M. Nason, "The model confidence set", Econometrica
       79 (2011) 453-497.

    Examples
    --------
    >>> from fastcmp import model_confidence_set_from_moments
    >>> found = model_confidence_set_from_moments([0.9, 0.88, 0.8], [0.0004, 0.0004, 0.0004], rng=1)
    >>> found.included
    ('model_0', 'model_1')
    """
    estimates = read_estimates(estimate, covariance, names, lower_is_better=lower_is_better)
    options = read_set_options(method, alpha, n_resamples, rng)
    with ThreadPool(check_workers(workers)) as pool:
        return make_confidence_set(estimates, None, options, pool)


def read_set_options(method: str, alpha: float, n_resamples: int, rng: Any) -> SetOptions:
    """Check options."""
    return SetOptions(
        choose(method, "method", METHODS),
        as_proportion(alpha, "alpha"),
        as_resamples(n_resamples),
        as_seed(rng),
    )


def make_confidence_set(
    estimates: Estimates, resampled: Floats | None, options: SetOptions, pool: ThreadPool
) -> ModelConfidenceSet:
    """Leave models out, and make the record.

    Bootstrap draws of the estimates about themselves, `resampled` of shape (M, B), take
    the place of normal draws; standard errors are then theirs.
    """
    first = _first_of_same(estimates)
    distinct = np.unique(first)
    some = estimates.part(distinct)
    if resampled is None:
        known = (options.n_draws, options.seed or 0)
        draws = Maxima.of(some.covariance, *known, pool, some.df)
    else:
        own = np.ascontiguousarray(resampled[distinct])
        some = replace(some, covariance=own @ own.T / own.shape[1])
        draws = Maxima.of_values(own, pool)
    pvalue, statistic, step = np.ones(some.merit.size), *np.zeros((2, some.merit.size))
    reached = 0.0
    for k, test in enumerate(METHODS[options.method](some, draws), 1):
        if resampled is None:
            found = draws.tails(test.maxima, np.array([test.statistic]))[0]
        else:
            found = np.mean(test.maxima > test.statistic + _TIE)
        reached = max(reached, float(found))
        pvalue[test.model], statistic[test.model] = reached, test.statistic
        step[test.model] = k
    step[step == 0] = some.merit.size
    place = np.searchsorted(distinct, first)
    return ModelConfidenceSet(
        **estimates.of_record,
        pvalue=pvalue[place],
        statistic=statistic[place],
        step=step[place].astype(np.int64),
        method=options.method,
        alpha=options.alpha,
        **distribution_of(estimates, options.resampling),
        n_resamples=options.n_draws,
        seed=options.seed,
    )


def _first_of_same(estimates: Estimates) -> Ints:
    """Find for each model the first that is the same, item by item."""
    errors = estimates.errors()
    same = (errors == 0.0) & (estimates.merit[:, None] == estimates.merit)
    return np.asarray(np.argmax(same, axis=1))
