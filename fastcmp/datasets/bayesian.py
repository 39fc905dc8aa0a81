"""Bayesian tests of two models over tasks: sign test, signed ranks, and correlated t."""

from __future__ import annotations

from numbers import Real
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fastcmp.core.checks import as_counts, as_proportion, as_resamples, as_seed, as_whole, choose
from fastcmp.core.numbers import scale_exponent, times
from fastcmp.core.threads import ThreadPool, check_workers, parts
from fastcmp.datasets.bayes_result import BayesComparison
from fastcmp.datasets.reading import read_score_pair
from fastcmp.inputs.model_names import read_pair_names
from fastcmp.kernels.dirichlet import dirichlet_largest
from fastcmp.kernels.signed_ranks import pairs_above, signed_rank_draws
from fastcmp.kernels.special import betainc, stdtr

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

PLACES = ("rope", "a", "b")
BOUNDARIES = ("half", "rope")
#: Width of the rope on each side for scores from 0 to 1.
ROPE = 0.01


def read_rope(rope: Any, *scores: NDArray[np.float64]) -> float:
    """Check the rope, or give that of scores from 0 to 1."""
    if rope is not None:
        return not_negative(rope, "rope")
    ends = min(float(x.min()) for x in scores), max(float(x.max()) for x in scores)
    if ends[0] < 0.0 or ends[1] > 1.0:
        raise ValueError(
            "rope must be given where scores are not between 0 and 1, got scores from "
            f"{ends[0]:g} to {ends[1]:g}: differences up to rope mean nothing in "
            "practice; rope=0 for none"
        )
    return ROPE


def not_negative(value: Any, name: str) -> float:
    """Check a finite number that is not negative."""
    number = finite(value, name)
    if number < 0.0:
        raise ValueError(f"{name} must not be negative, got {value}")
    return number


def finite(value: Any, name: str) -> float:
    """Check a finite number."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{name} must be a number, got {value!r}")
    if not np.isfinite(float(value)):
        raise ValueError(f"{name} must be finite, got {value}")
    return float(value)


# The Bayesian sign test: posterior probabilities without draws.


_ORDER = ("a", "rope", "b")


class SignPrior(NamedTuple):
    """How many tasks the prior is worth, and where it is."""

    strength: float
    place: str

    @classmethod
    def read(cls, strength: Any, place: Any) -> SignPrior:
        """Check what a user chose."""
        return cls(not_negative(strength, "prior_strength"), choose(place, "prior_place", PLACES))

    def add_to(self, counts: NDArray[np.int64]) -> Floats:
        """Add the prior to counts of a, rope and b, shape (..., 3)."""
        alpha = counts.astype(np.float64)
        alpha[..., _ORDER.index(self.place)] += self.strength
        return alpha


def bayes_sign(
    scores_a: ArrayLike,
    scores_b: ArrayLike,
    *,
    rope: float | None = None,
    prior_strength: float = 1.0,
    prior_place: str = "rope",
    threshold: float = 0.95,
    lower_is_better: bool = False,
    names: Sequence[str] = ("a", "b"),
) -> BayesComparison:
    """Bayesian sign test of two models over tasks.

    Each task counts for a, for b, or for neither where the scores differ by no more
    than the rope. The proportions of such tasks have a Dirichlet distribution.

    Parameters
    ----------
    scores_a, scores_b : array-like, shape (D,)
        One score for each task, in the same order; not of folds, which are not tasks.
    rope : float, optional
        Differences up to here mean nothing in practice; 0.01 where all scores are
        between 0 and 1, else it must be given.
    prior_strength : float
        How many tasks the prior is worth.
    prior_place : {"rope", "a", "b"}
        Where these tasks are.
    threshold : float
        Probability from which on there is a decision.
    lower_is_better : bool
        Whether scores are losses.
    names : sequence of two str
        Names of the models.

    Returns
    -------
    BayesComparison
        Probabilities that the proportion of a, of the rope, or of b is the largest.

    Raises
    ------
    ValueError
        If lengths differ, scores are missing or infinite, there are fewer than two
        tasks, or no rope is given for scores that are not between 0 and 1.
    TypeError
        If scores are not numbers.

    Notes
    -----
    Nothing is drawn: P(a is largest) is one integral over gamma densities, and
    P(a > b) is a beta distribution function. Differences are those of the decimals
    written, so that 0.62 - 0.64 is within a rope of 0.02.

    References
    ----------
    .. [1] A. Benavoli, G. Corani, J. Demsar, M. Zaffalon, "Time for a change: a
       tutorial for comparing multiple classifiers through Bayesian analysis", JMLR 18
       (2017) 1-36, section 4.2.

    Examples
    --------
    >>> from fastcmp.datasets import bayes_sign
    >>> a = [0.91, 0.88, 0.73, 0.95, 0.81, 0.86, 0.79, 0.92]
    >>> b = [0.87, 0.85, 0.74, 0.91, 0.79, 0.80, 0.75, 0.92]
    >>> found = bayes_sign(a, b)
    >>> found.counts, round(found.p_a, 4), found.decision
    ((6, 2, 0), 0.8555, None)
    """
    pair = read_score_pair(scores_a, scores_b, lower_is_better=lower_is_better, names=names)
    width = read_rope(rope, pair.a, pair.b)
    n_a, n_rope, n_b = count_differences(pair.units, pair.in_units(width))
    return _make(
        (n_a, n_rope, n_b),
        SignPrior.read(prior_strength, prior_place),
        rope=width,
        threshold=as_proportion(threshold, "threshold"),
        names=pair.names,
        measure=pair.measure,
        difference=pair.difference,
    )


def bayes_sign_from_counts(
    n_a: int,
    n_rope: int,
    n_b: int,
    *,
    rope: float = 0.0,
    prior_strength: float = 1.0,
    prior_place: str = "rope",
    threshold: float = 0.95,
    names: Sequence[str] = ("a", "b"),
) -> BayesComparison:
    """Bayesian sign test from the numbers of tasks.

    Parameters
    ----------
    n_a, n_rope, n_b : int
        Tasks on which a is better, neither, and b.
    rope : float
        What these were counted by, for the record.
    prior_strength : float
        How many tasks the prior is worth.
    prior_place : {"rope", "a", "b"}
        Where these tasks are.
    threshold : float
        Probability from which on there is a decision.
    names : sequence of two str
        Names of the models.

    Returns
    -------
    BayesComparison
        As of `bayes_sign`.

    Raises
    ------
    ValueError
        If a number is negative, or all are 0.
    TypeError
        If a number is not whole.

    Examples
    --------
    >>> from fastcmp.datasets import bayes_sign_from_counts
    >>> found = bayes_sign_from_counts(21, 4, 5)
    >>> round(found.p_a, 6), round(found.p_a_above_b, 6)
    (0.999098, 0.999545)
    """
    given = {"n_a": n_a, "n_rope": n_rope, "n_b": n_b}
    counts = []
    for name, raw in given.items():
        found = as_counts(raw, name)
        if found.ndim:
            raise ValueError(f"{name} must be one whole number, got shape {found.shape}")
        counts.append(int(found))
    if not sum(counts):
        raise ValueError("n_a, n_rope and n_b must hold one task at least, got none")
    return _make(
        (counts[0], counts[1], counts[2]),
        SignPrior.read(prior_strength, prior_place),
        rope=not_negative(rope, "rope"),
        threshold=as_proportion(threshold, "threshold"),
        names=read_pair_names(names),
        measure="score",
        difference=float("nan"),
    )


def count_differences(units: tuple[Floats, float], rope: float) -> tuple[int, int, int]:
    """Count what is above the rope, within it, and below it."""
    d, tolerance = units
    n_a = int(np.count_nonzero(d > rope + tolerance))
    n_b = int(np.count_nonzero(d < -rope - tolerance))
    return n_a, d.size - n_a - n_b, n_b


def sign_probabilities(alpha: Floats) -> tuple[float, float, float, float]:
    """Give P(a is largest), P(rope), P(b), and P(a > b), half where both are 0."""
    a, rope, b = (float(x) for x in alpha)
    above = betainc(b, a, 0.5) if a > 0 and b > 0 else 0.5 * (1 + (a > 0) - (b > 0))
    return (
        dirichlet_largest(a, rope, b),
        dirichlet_largest(rope, a, b),
        dirichlet_largest(b, a, rope),
        float(above),
    )


def _make(counts: tuple[int, int, int], prior: SignPrior, **known: Any) -> BayesComparison:
    """Work out the posterior."""
    alpha = prior.add_to(np.array(counts))
    p_a, p_rope, p_b, above = sign_probabilities(alpha)
    return BayesComparison(
        method="sign",
        p_a=p_a,
        p_rope=p_rope,
        p_b=p_b,
        p_a_above_b=above,
        n=sum(counts),
        counts=counts,
        posterior_mean=alpha / alpha.sum(),
        alpha=alpha,
        prior_strength=prior.strength,
        prior_place=prior.place,
        **known,
    )


# The Bayesian signed-rank test: draws of the weights of tasks, and their means.


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


# The Bayesian t test for scores of cross-validation, whose folds are correlated.


def bayes_correlated_t(
    scores_a: ArrayLike,
    scores_b: ArrayLike,
    *,
    rope: float | None = None,
    runs: int | None = None,
    rho: float | None = None,
    threshold: float = 0.95,
    lower_is_better: bool = False,
    names: Sequence[str] = ("a", "b"),
) -> BayesComparison:
    """Bayesian correlated t test of two models on one task, by its folds.

    The training sets of folds overlap, so their scores are correlated: with K folds two
    of them by about 1/K.

    Parameters
    ----------
    scores_a, scores_b : array-like, shape (n,) or (R, K)
        Scores of the same folds in the same order: all of them, or a row a repetition.
    rope : float, optional
        Differences up to here mean nothing in practice; 0.01 where all scores are
        between 0 and 1, else it must be given.
    runs : int, optional
        Repetitions of cross-validation; the rows of scores of shape (R, K), else 1.
    rho : float, optional
        Correlation of the scores of two folds, in [0, 1); by default ``runs / n``, one
        over the number of folds.
    threshold : float
        Probability from which on there is a decision.
    lower_is_better : bool
        Whether scores are losses.
    names : sequence of two str
        Names of the models.

    Returns
    -------
    BayesComparison
        Probabilities that a is better by more than the rope, that the mean difference
        is within it, and that b is better.

    Raises
    ------
    ValueError
        If lengths differ, scores are missing or infinite, ``runs`` does not divide
        their number, or no rope is given for scores that are not between 0 and 1.
    TypeError
        If scores are not numbers.

    Notes
    -----
    The mean difference has a Student distribution of n - 1 degrees of freedom about the
    mean of the differences, with squared scale s**2 (1/n + rho / (1 - rho)). Where all
    differences are equal it is that difference; one of 0 with a rope of 0 is half for
    each. This is one task: for several use `bayes_signed_rank` of their means.

    References
    ----------
    .. [1] G. Corani, A. Benavoli, "A Bayesian approach for comparing cross-validated
       algorithms on multiple data sets", Machine Learning 100 (2015) 285-304, eq. 8.

    Examples
    --------
    >>> from fastcmp.datasets import bayes_correlated_t
    >>> a = [0.91, 0.88, 0.90, 0.93, 0.89, 0.92, 0.90, 0.91, 0.94, 0.90]
    >>> b = [0.87, 0.85, 0.88, 0.88, 0.87, 0.86, 0.88, 0.87, 0.89, 0.84]
    >>> found = bayes_correlated_t(a, b)
    >>> round(found.p_a, 4), round(found.mean, 4), found.decision
    (0.9983, 0.039, 'a')
    """
    pair = read_score_pair(
        scores_a, scores_b, lower_is_better=lower_is_better, names=names, shape=("(n,)", "(R, K)")
    )
    width = read_rope(rope, pair.a, pair.b)
    n_runs, correlation = _read_design(pair.a.shape, runs, rho)
    exponent = scale_exponent(pair.differences)
    d = np.ldexp(pair.differences, -exponent)
    tolerance = float(np.ldexp(pair.units[1] / pair.decimals.scale, -exponent))
    limit = float(np.ldexp(width, -exponent))
    n, mean = d.size, float(d.mean())
    deviation = float(d.std(ddof=1))
    if np.ptp(d) <= tolerance:
        deviation = 0.0
    scale = deviation * float(np.sqrt(1.0 / n + correlation / (1.0 - correlation)))
    p_a, p_rope, p_b = _probabilities(mean, scale, n - 1, limit, tolerance)
    above = _probabilities(mean, scale, n - 1, 0.0, tolerance)[0]
    return BayesComparison(
        names=pair.names,
        method="correlated t",
        p_a=p_a,
        p_rope=p_rope,
        p_b=p_b,
        p_a_above_b=above,
        rope=width,
        n=n,
        measure=pair.measure,
        difference=pair.difference,
        threshold=as_proportion(threshold, "threshold"),
        mean=times(mean, exponent),
        scale=times(scale, exponent),
        df=n - 1,
        rho=correlation,
        runs=n_runs,
    )


def _read_design(shape: tuple[int, ...], runs: Any, rho: Any) -> tuple[int, float]:
    """Check repetitions and the correlation of two folds."""
    n = int(np.prod(shape))
    n_runs = as_whole(runs, "runs", 1) if runs is not None else 1
    if len(shape) == 2:
        if runs is not None and n_runs != shape[0]:
            raise ValueError(f"runs must be the number of rows of scores_a, {shape[0]}, got {runs}")
        n_runs = shape[0]
    if n % n_runs:
        raise ValueError(f"runs must divide the number of scores, {n}, got {runs}")
    if rho is None:
        if n == n_runs:
            raise ValueError(
                "runs must leave two folds at least to each repetition, got "
                f"{n_runs} for {n} scores: pass rho= for other designs"
            )
        return n_runs, n_runs / n
    correlation = finite(rho, "rho")
    if not 0.0 <= correlation < 1.0:
        raise ValueError(f"rho must lie in [0, 1), got {rho}")
    return n_runs, correlation


def _probabilities(
    mean: float, scale: float, df: int, rope: float, tolerance: float
) -> tuple[float, float, float]:
    """Give the probabilities above, within and below the rope."""
    if scale == 0.0:
        above, below = mean > rope + tolerance, mean < -rope - tolerance
        if above or below or rope > 0.0:
            return float(above), float(not (above or below)), float(below)
        return 0.5, 0.0, 0.5
    size = abs(mean)
    ends = (rope - size) / scale, (-rope - size) / scale
    # From the nearer tail, so that small probabilities are exact.
    within = stdtr(df, ends[0]) - stdtr(df, ends[1]) if rope > 0.0 else 0.0
    return (stdtr(df, (mean - rope) / scale), within, stdtr(df, (-rope - mean) / scale))
