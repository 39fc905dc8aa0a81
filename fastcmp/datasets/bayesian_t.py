"""The Bayesian t test for scores of cross-validation, whose folds are correlated."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp.core.checks import as_proportion, as_whole
from fastcmp.core.scaling import scale_exponent, times
from fastcmp.datasets.bayes_options import finite, read_rope
from fastcmp.datasets.bayes_result import BayesComparison
from fastcmp.datasets.score_pairs import read_score_pair
from fastcmp.kernels.special import stdtr

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike


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
        scores_a,
        scores_b,
        lower_is_better=lower_is_better,
        names=names,
        shape=("(n,)", "(R, K)"),
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
    return (
        stdtr(df, (mean - rope) / scale),
        within,
        stdtr(df, (-rope - mean) / scale),
    )
