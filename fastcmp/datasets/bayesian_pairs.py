"""Bayesian tests of all pairs of models over tasks, and which model is the best."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fastcmp.core.checks import as_proportion, as_resamples, as_seed, choose
from fastcmp.core.threads import ThreadPool, check_workers, parts, reporting
from fastcmp.datasets.bayes_result import BayesPairs
from fastcmp.datasets.bayesian import (
    RankPrior,
    SignPrior,
    count_differences,
    count_draws,
    posterior_mean,
    read_rope,
    sign_probabilities,
    sort_differences,
)
from fastcmp.datasets.reading import higher_is_better, read_complete
from fastcmp.datasets.task_draws import RANK_BY, Costs, Work, count, weighted_tasks
from fastcmp.datasets.task_ranks import Decimals

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

METHODS = ("signed-rank", "sign")
_STRENGTH = {"signed-rank": 0.5, "sign": 1.0}
_PAIRS = 1 << 20  # places in the order of differences that are kept at once


class _Asked(NamedTuple):
    """What is asked of each pair; widths in units of the scores."""

    decimals: Decimals
    pairs: NDArray[np.int32]
    rope: float
    draws: tuple[int, int]


class _Found(NamedTuple):
    """What was found for P pairs."""

    #: P(a), P(rope), P(b) and P(a > b), shape (P, 4).
    probabilities: Floats
    #: Of a, rope and b, shape (P, 3).
    means: Floats
    counts: NDArray[np.int64]


def bayes_datasets(
    scores: Any,
    *,
    method: str = "signed-rank",
    rope: float | None = None,
    prior_strength: float | None = None,
    prior_place: str = "rope",
    z0: float = 0.0,
    boundary: str = "half",
    rank_by: str = "mean rank",
    threshold: float = 0.95,
    n_resamples: int = 50_000,
    rng: Any = None,
    lower_is_better: bool = False,
    missing: str = "raise",
    names: Sequence[str] | None = None,
    tasks: Sequence[str] | None = None,
    workers: int | None = None,
    progress: Any = None,
) -> BayesPairs:
    """Bayesian tests of all pairs of models over tasks, and which model is the best.

    Parameters
    ----------
    scores : array-like of shape (M, D), mapping, frame or results
        One score for each model and task; not of folds, which are not tasks.
    method : {"signed-rank", "sign"}
        As `bayes_signed_rank` or `bayes_sign`.
    rope : float, optional
        Differences up to here mean nothing in practice; 0.01 where all scores are
        between 0 and 1, else it must be given.
    prior_strength : float, optional
        How many tasks the prior is worth; 0.5 for "signed-rank", 1 for "sign".
    prior_place : {"rope", "a", "b"}
        For "sign": where these tasks are; a is the first model of a pair.
    z0 : float
        For "signed-rank": difference on the task of the prior.
    boundary : {"half", "rope"}
        For "signed-rank": where a mean of two differences that is just the rope
        belongs.
    rank_by : {"mean rank", "mean score"}
        By what the best model is chosen.
    threshold : float
        Probability from which on there is a decision.
    n_resamples : int
        Draws of the weights, the same for all pairs.
    rng : int, numpy.random.Generator or None
        Where the draws come from.
    lower_is_better : bool
        Whether scores are losses.
    missing : {"raise", "tasks"}
        Refuse missing scores, or leave out the tasks that a model has none on.
    names, tasks : sequence of str, optional
        Names of the models and tasks, in the place of those that `scores` has.
    workers : int, optional
        Threads; by default as many as there are processors.
    progress : bool or callable, optional
        True draws a bar; a function is called with the pairs done and all pairs.

    Returns
    -------
    BayesPairs
        Probabilities for each pair, and for each model that it is the best.

    Raises
    ------
    ValueError
        If scores are missing or infinite, there are fewer than two models or tasks, or
        no rope is given for scores that are not between 0 and 1.
    TypeError
        If scores are not numbers.

    Notes
    -----
    A pair has the same probabilities as alone with the same seed. For the best model
    all have one vector of weights, uniform on the simplex of tasks: the Bayesian
    bootstrap of the mean rank. Probabilities of several pairs are not adjusted: each is
    about its pair. "signed-rank" takes O(M**2 D B) for B draws: some 100 models are a
    minute for 1,000 tasks; "sign" draws only for the best model.

    References
    ----------
    .. [1] A. Benavoli, G. Corani, J. Demsar, M. Zaffalon, "Time for a change: a
       tutorial for comparing multiple classifiers through Bayesian analysis", JMLR 18
       (2017) 1-36.

    Examples
    --------
    >>> from fastcmp.datasets import bayes_datasets
    >>> scores = {
    ...     "a": [0.91, 0.88, 0.73, 0.95, 0.81, 0.86, 0.79, 0.92],
    ...     "b": [0.87, 0.85, 0.74, 0.91, 0.79, 0.80, 0.75, 0.92],
    ...     "c": [0.91, 0.88, 0.72, 0.95, 0.81, 0.85, 0.79, 0.93],
    ... }
    >>> found = bayes_datasets(scores, rng=1)
    >>> found.decision
    ('a', 'rope', 'b')
    >>> found.better.round(2).tolist()[0]
    [nan, 0.99, 0.0]
    """
    way = choose(method, "method", METHODS)
    by = choose(rank_by, "rank_by", RANK_BY)
    data = read_complete(
        scores, names=names, tasks=tasks, lower_is_better=lower_is_better, missing=missing
    )
    table = data.table
    width = read_rope(rope, table.scores)
    strength = _STRENGTH[way] if prior_strength is None else prior_strength
    sign, rank = (SignPrior.read(strength, prior_place), RankPrior.read(strength, z0, boundary))
    probability = as_proportion(threshold, "threshold")
    draws = as_seed(rng), as_resamples(n_resamples)
    m, d = table.scores.shape
    pairs = np.stack(np.triu_indices(m, 1), axis=1).astype(np.int32)
    decimals = Decimals.of(higher_is_better(table))
    asked = _Asked(decimals, pairs, width * decimals.scale, draws)
    costs = Costs.of(data.gains, by)
    with (
        reporting(progress, "pairs", unit="pairs") as report,
        ThreadPool(check_workers(workers)) as pool,
    ):
        work = Work(draws[1], m, d, 1, costs.tolerance)
        best = count(weighted_tasks(costs.values, draws[0]), work, pool).best
        if way == "sign":
            found = _sign(asked, sign)
            report(len(pairs), len(pairs))
        else:
            found = _signed_rank(asked, rank, pool, report)
    p_a, p_rope, p_b, above = found.probabilities.T
    is_sign = way == "sign"
    return BayesPairs(
        names=table.names,
        tasks=table.tasks,
        n_dropped=data.n_dropped,
        method=way,
        pairs=pairs,
        p_a=p_a,
        p_rope=p_rope,
        p_b=p_b,
        p_a_above_b=above,
        counts=found.counts,
        posterior_mean=found.means,
        best_probability=best,
        rank_by=by,
        rope=width,
        prior_strength=sign.strength,
        prior_place=sign.place if is_sign else None,
        z0=None if is_sign else rank.z0,
        boundary=None if is_sign else rank.boundary,
        threshold=probability,
        n_resamples=draws[1],
        seed=draws[0],
        lower_is_better=table.lower_is_better,
    )


def _differences(asked: _Asked, some: slice) -> Floats:
    """Subtract the scores of pairs, shape (p, D)."""
    first, second = asked.pairs[some].T
    return np.asarray(asked.decimals.values[first] - asked.decimals.values[second])


def _counts(asked: _Asked) -> NDArray[np.int64]:
    """Count the tasks of a, rope and b for each pair."""
    found = np.empty((len(asked.pairs), 3), np.int64)
    tolerance = 2.0 * asked.decimals.tolerance
    for p in range(len(found)):
        (d,) = _differences(asked, slice(p, p + 1))
        found[p] = count_differences((d, tolerance), asked.rope)
    return found


def _sign(asked: _Asked, prior: SignPrior) -> _Found:
    """Test all pairs by the numbers of tasks; equal numbers once."""
    counts = _counts(asked)
    alpha = prior.add_to(counts)
    distinct, which = np.unique(alpha, axis=0, return_inverse=True)
    known = np.array([sign_probabilities(own) for own in distinct])
    means = alpha / alpha.sum(axis=1, keepdims=True)
    return _Found(known[which.ravel()], means, counts)


def _signed_rank(asked: _Asked, prior: RankPrior, pool: ThreadPool, report: Any) -> _Found:
    """Test all pairs on the same draws."""
    n_pairs, d = len(asked.pairs), asked.decimals.values.shape[1]
    probabilities, means = np.empty((n_pairs, 4)), np.empty((n_pairs, 3))
    tolerance = 4.0 * asked.decimals.tolerance
    own = prior.z0 * asked.decimals.scale, prior.boundary
    for some in parts(n_pairs, max(1, _PAIRS // (d + 1))):
        ready = [
            sort_differences(row, own, asked.rope, tolerance) for row in _differences(asked, some)
        ]
        counts = count_draws(ready, prior.strength, asked.draws, pool)
        probabilities[some] = counts / asked.draws[1]
        means[some] = [posterior_mean(each, prior.strength) for each in ready]
        report(some.stop, n_pairs)
    return _Found(probabilities, means, _counts(asked))
