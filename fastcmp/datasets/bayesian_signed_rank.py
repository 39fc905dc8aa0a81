"""The Bayesian signed-rank test: draws of the weights of tasks, and their means."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fastcmp.core.checks import as_proportion, as_resamples, as_seed
from fastcmp.core.options import choose
from fastcmp.core.threads import ThreadPool, check_workers, parts
from fastcmp.datasets.bayes_options import BOUNDARIES, finite, not_negative, read_rope
from fastcmp.datasets.bayes_result import BayesComparison
from fastcmp.datasets.bayesian_sign import count_differences
from fastcmp.datasets.score_pairs import read_score_pair
from fastcmp.kernels.signed_ranks import pairs_above, signed_rank_draws

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

_BLOCK = 1 << 21  # weights that a thread draws at once


class RankPrior(NamedTuple):
    """The task of the prior, and what becomes of sums at the rope; checked."""

    strength: float
    z0: float
    boundary: str

    @classmethod
    def read(cls, strength: Any, z0: Any, boundary: Any) -> RankPrior:
        """Check what a user chose."""
        return cls(
            not_negative(strength, "prior_strength"),
            finite(z0, "z0"),
            choose(boundary, "boundary", BOUNDARIES),
        )


class Sorted(NamedTuple):
    """Differences in ascending order, with whom each has a large sum."""

    #: Shape (D + 1,); D is the task of the prior.
    order: Ints
    #: Shape (2, D + 1), as `signed_rank_draws` takes them.
    above: Ints
    below: Ints


def sort_differences(d: Floats, prior: tuple[float, str], rope: float, tolerance: float) -> Sorted:
    """Sort differences and that of the prior; all in the same units."""
    z0, boundary = prior
    z = np.append(d, z0)
    order = np.argsort(z, kind="stable")
    ordered = z[order]
    n = z.size
    above, mirrored = np.empty((2, n), np.int64), np.empty((2, n), np.int64)
    ends = 2.0 * rope + tolerance, 2.0 * rope - tolerance
    pairs_above(ordered, ends, above)
    pairs_above(np.ascontiguousarray(-ordered[::-1]), ends, mirrored)
    below = np.ascontiguousarray(n - mirrored[:, ::-1])
    if boundary == "rope":
        above[1], below[1] = above[0], below[0]
    return Sorted(order, above, below)


def posterior_mean(ready: Sorted, strength: float) -> Floats:
    """Give the means of the parts of a, the rope and b: moments of a Dirichlet."""
    n = ready.order.size
    alpha = np.ones(n)
    alpha[ready.order == n - 1] = strength
    sums = np.append(0.0, np.cumsum(alpha))
    place = np.arange(n)
    total = sums[-1] * (sums[-1] + 1.0)
    means = []
    for starts, is_above in ((ready.above, True), (ready.below, False)):
        part = 0.0
        for first in starts:
            reach = sums[-1] - sums[first] if is_above else sums[first]
            itself = place >= first if is_above else place < first
            part += 0.5 * float(np.sum(alpha * (reach + itself)))
        means.append(part / total)
    a, b = means
    return np.array([a, max(0.0, 1.0 - a - b), b])


def count_draws(
    ready: Sequence[Sorted], strength: float, draws: tuple[int, int], pool: ThreadPool
) -> Floats:
    """Count for each pair the draws in which a, rope and b are largest, and a above b.

    `draws` are the seed and the number of draws; all pairs have the same weights.
    """
    seed, n_draws = draws
    order, above, below = (
        np.stack([getattr(own, name) for own in ready]).astype(np.int64) for name in Sorted._fields
    )
    blocks = parts(n_draws, max(64, _BLOCK // order.shape[1]) // 64 * 64)
    if len(blocks) < pool.threads:
        blocks = parts(n_draws, max(64, -(-n_draws // pool.threads // 64) * 64))
    found = np.empty((len(blocks), len(ready), 4))

    def draw(block: int) -> None:
        part = blocks[block]
        where = seed, part.start, part.stop - part.start
        signed_rank_draws(order, above, below, strength, where, found[block])

    pool.run(draw, range(len(blocks)), here=len(blocks) == 1)
    return np.asarray(found.sum(axis=0))  # of halves: exact in any order


def bayes_signed_rank(
    scores_a: ArrayLike,
    scores_b: ArrayLike,
    *,
    rope: float | None = None,
    prior_strength: float = 0.5,
    z0: float = 0.0,
    boundary: str = "half",
    threshold: float = 0.95,
    n_resamples: int = 50_000,
    rng: Any = None,
    lower_is_better: bool = False,
    names: Sequence[str] = ("a", "b"),
    workers: int | None = None,
) -> BayesComparison:
    """Bayesian signed-rank test of two models over tasks.

    As the sign test, but large differences count for more: asked is whether the mean
    difference of two tasks drawn at random is above the rope, within it or below.

    Parameters
    ----------
    scores_a, scores_b : array-like, shape (D,)
        One score for each task, in the same order; not of folds, which are not tasks.
    rope : float, optional
        Differences up to here mean nothing in practice; 0.01 where all scores are
        between 0 and 1, else it must be given.
    prior_strength : float
        Weight of the task of the prior, where a real task has 1.
    z0 : float
        Difference on the task of the prior, above 0 where a is better.
    boundary : {"half", "rope"}
        Where the mean of two differences is just the rope: half of the weight belongs
        to the rope, or all of it.
    threshold : float
        Probability from which on there is a decision.
    n_resamples : int
        Draws of the weights.
    rng : int, numpy.random.Generator or None
        Where the draws come from.
    lower_is_better : bool
        Whether scores are losses.
    names : sequence of two str
        Names of the models.
    workers : int, optional
        Threads; by default as many as there are processors.

    Returns
    -------
    BayesComparison
        Probabilities that the proportion of a, of the rope, or of b is the largest,
        with a standard error of at most 0.5 / sqrt(n_resamples); `posterior_mean` is
        exact.

    Raises
    ------
    ValueError
        If lengths differ, scores are missing or infinite, there are fewer than two
        tasks, or no rope is given for scores that are not between 0 and 1.
    TypeError
        If scores are not numbers.

    Notes
    -----
    Weights w of the tasks come from a Dirichlet distribution with parameters 1, and
    `prior_strength` for the task of the prior. The proportion of a is the sum of
    w_i w_j over pairs of tasks with d_i + d_j > 2 rope. One sort, then O(D) a draw.

    References
    ----------
    .. [1] A. Benavoli, F. Mangili, G. Corani, M. Zaffalon, F. Ruggeri, "A Bayesian
       Wilcoxon signed-rank test based on the Dirichlet process", ICML (2014).

    Examples
    --------
    >>> from fastcmp.datasets import bayes_signed_rank
    >>> a = [0.91, 0.88, 0.73, 0.95, 0.81, 0.86, 0.79, 0.92]
    >>> b = [0.87, 0.85, 0.74, 0.91, 0.79, 0.80, 0.75, 0.92]
    >>> found = bayes_signed_rank(a, b, rng=1)
    >>> found.decision, found.posterior_mean.round(3).tolist()
    ('a', [0.836, 0.152, 0.012])
    """
    pair = read_score_pair(scores_a, scores_b, lower_is_better=lower_is_better, names=names)
    width = read_rope(rope, pair.a, pair.b)
    prior = RankPrior.read(prior_strength, z0, boundary)
    seed, n_draws = as_seed(rng), as_resamples(n_resamples)
    probability = as_proportion(threshold, "threshold")
    d, tolerance = pair.units
    ready = sort_differences(
        d, (pair.in_units(prior.z0), prior.boundary), pair.in_units(width), 2.0 * tolerance
    )
    with ThreadPool(check_workers(workers)) as pool:
        counts = count_draws([ready], prior.strength, (seed, n_draws), pool)[0]
    p_a, p_rope, p_b, above = (counts / n_draws).tolist()
    return BayesComparison(
        names=pair.names,
        method="signed-rank",
        p_a=p_a,
        p_rope=p_rope,
        p_b=p_b,
        p_a_above_b=above,
        rope=width,
        n=d.size,
        measure=pair.measure,
        difference=pair.difference,
        threshold=probability,
        counts=count_differences(pair.units, pair.in_units(width)),
        posterior_mean=posterior_mean(ready, prior.strength),
        prior_strength=prior.strength,
        z0=prior.z0,
        boundary=prior.boundary,
        n_resamples=n_draws,
        seed=seed,
    )
