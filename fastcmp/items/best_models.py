"""Which models may be the best, by their values on the same items."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fastcmp.core.threads import ThreadPool, check_workers
from fastcmp.items.value_estimates import ReadItems, estimate_values
from fastcmp.pairwise.best_set import make_best_set, read_best_options
from fastcmp.pairwise.rank_sets import make_rank_sets, read_rank_options
from fastcmp.pairwise.winner import make_winner_estimate, read_winner_options

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from fastcmp.pairwise.best_set_result import BestSet
    from fastcmp.pairwise.rank_sets_result import RankSets
    from fastcmp.pairwise.winner_result import WinnerEstimate


def rank_sets(
    values: Any,
    *,
    groups: ArrayLike | None = None,
    lower_is_better: bool = False,
    missing: str = "raise",
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
    """Find the ranks that models may have, by their values on the same items.

    Parameters
    ----------
    values : array-like of shape (M, n), mapping, frame or ItemTable
        One number for each model and item, as in `compare_means`; `correct_values`
        makes them of labels.
    groups : array-like, shape (n,), optional
        The cluster of each item, such as its document or patient.
    lower_is_better : bool
        Whether values are losses.
    missing : {"raise", "common", "wrong"}
        What to make of missing values, as in `compare_means`.
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
        Names of the models, in the place of those that `values` has.
    workers : int, optional
        Threads; by default as many as there are processors.

    Returns
    -------
    RankSets
        The least and the greatest rank of each model.

    Raises
    ------
    ValueError
        If values are missing without a policy, infinite, or of different lengths, there
        are fewer than two models, items or clusters, or an option is unknown.
    TypeError
        If values are no numbers.

    Notes
    -----
    As `rank_sets_from_moments` by the means and their covariance, which clusters enter
    as in `compare_means`: O(M**2 (n + B)) for B draws.

    Examples
    --------
    >>> from fastcmp import correct_values, load_digits, rank_sets
    >>> sets = rank_sets(correct_values(*load_digits()), rng=1)
    >>> sets.tau_best(1)
    ('svm_rbf', 'knn_3', 'extra_trees', 'random_forest', 'mlp')
    """
    items = ReadItems(groups, missing, names, lower_is_better)
    with ThreadPool(check_workers(workers)) as pool:
        estimates = estimate_values(values, items, pool).estimates
        options = read_rank_options(
            side=side,
            simultaneous=simultaneous,
            step_down=step_down,
            confidence_level=confidence_level,
            draws=(n_resamples, len(estimates.names)),
            rng=rng,
        )
        return make_rank_sets(estimates, models, options, pool)


def best_set(
    values: Any,
    *,
    groups: ArrayLike | None = None,
    lower_is_better: bool = False,
    missing: str = "raise",
    confidence_level: float = 0.95,
    n_resamples: int | None = None,
    rng: Any = None,
    names: Sequence[str] | None = None,
    workers: int | None = None,
) -> BestSet:
    """Find which models may be the best, by their values on the same items.

    Hsu's multiple comparison with the best.

    Parameters
    ----------
    values : array-like of shape (M, n), mapping, frame or ItemTable
        One number for each model and item, as in `compare_means`; `correct_values`
        makes them of labels.
    groups : array-like, shape (n,), optional
        The cluster of each item, such as its document or patient.
    lower_is_better : bool
        Whether values are losses.
    missing : {"raise", "common", "wrong"}
        What to make of missing values, as in `compare_means`.
    confidence_level : float
        Probability that all intervals hold, and the best model is in the set.
    n_resamples : int, optional
        Draws that critical values come from; by default 1,000 to 50,000, fewer for many
        models.
    rng : int, numpy.random.Generator or None
        Where the draws come from.
    names : sequence of str, optional
        Names of the models, in the place of those that `values` has.
    workers : int, optional
        Threads; by default as many as there are processors.

    Returns
    -------
    BestSet
        Intervals of each model minus the best of the others, and the set.

    Raises
    ------
    ValueError
        If values are missing without a policy, infinite, or of different lengths, there
        are fewer than two models, items or clusters, or an option is unknown.
    TypeError
        If values are no numbers.

    Notes
    -----
    As `best_set_from_moments` by the means and their covariance, which clusters enter
    as in `compare_means`: O(M**2 (n + B)) for B draws at most.

    Examples
    --------
    >>> from fastcmp import best_set, correct_values, load_digits
    >>> best_set(correct_values(*load_digits()), rng=1).best
    ('svm_rbf', 'knn_3', 'extra_trees')
    """
    items = ReadItems(groups, missing, names, lower_is_better)
    with ThreadPool(check_workers(workers)) as pool:
        estimates = estimate_values(values, items, pool).estimates
        n_models = len(estimates.names)
        options = read_best_options(confidence_level, n_resamples, rng, n_models)
        return make_best_set(estimates, options, pool)


def winner_estimate(
    values: Any,
    *,
    groups: ArrayLike | None = None,
    lower_is_better: bool = False,
    missing: str = "raise",
    method: str = "hybrid",
    confidence_level: float = 0.95,
    beta: float | None = None,
    projection_critical: float | None = None,
    n_resamples: int | None = None,
    rng: Any = None,
    names: Sequence[str] | None = None,
    workers: int | None = None,
) -> WinnerEstimate:
    """Correct the mean of the best model for its having been picked.

    Parameters
    ----------
    values : array-like of shape (M, n), mapping, frame or ItemTable
        One number for each model and item, as in `compare_means`; `correct_values`
        makes them of labels.
    groups : array-like, shape (n,), optional
        The cluster of each item, such as its document or patient.
    lower_is_better : bool
        Whether values are losses.
    missing : {"raise", "common", "wrong"}
        What to make of missing values, as in `compare_means`.
    method : {"hybrid", "conditional", "projection"}
        Given that the model won, and within a simultaneous interval; given only that it
        won, whose interval is very long where the race was close; or the simultaneous
        interval alone, without an estimate.
    confidence_level : float
        Of the interval.
    beta : float, optional
        For "hybrid": the part of the error rate that goes to the simultaneous interval;
        a tenth of it where not given.
    projection_critical : float, optional
        Critical value of the simultaneous interval, in standard errors; simulated where
        not given.
    n_resamples : int, optional
        Draws that it comes from; by default 1,000 to 50,000, fewer for many models.
    rng : int, numpy.random.Generator or None
        Where the draws come from.
    names : sequence of str, optional
        Names of the models, in the place of those that `values` has.
    workers : int, optional
        Threads; by default as many as there are processors.

    Returns
    -------
    WinnerEstimate
        An estimate that is too high as often as too low, and an interval.

    Raises
    ------
    ValueError
        If values are missing without a policy, infinite, or of different lengths, there
        are fewer than two models, items or clusters, or an option is unknown.
    TypeError
        If values are no numbers.

    Notes
    -----
    As `winner_estimate_from_moments` by the means and their covariance, which clusters
    enter as in `compare_means`. Of values 0 and 1 each mean p that the interval may hold
    is tested with its own standard error, sqrt(p (1 - p) / n), as in Wilson's interval
    (of clusters or weights n is the number of items that are worth as much): the winner's
    observed standard error is too small just where its proportion is too high.

    Examples
    --------
    >>> from fastcmp import correct_values, load_digits, winner_estimate
    >>> found = winner_estimate(correct_values(*load_digits()), rng=1)
    >>> found.winner, round(found.estimate, 4), round(found.median, 4)
    ('svm_rbf', 0.9889, 0.9831)
    """
    items = ReadItems(groups, missing, names, lower_is_better)
    options = read_winner_options(
        method=method,
        confidence_level=confidence_level,
        beta=beta,
        projection_critical=projection_critical,
        n_resamples=n_resamples,
        rng=rng,
    )
    with ThreadPool(check_workers(workers)) as pool:
        read = estimate_values(values, items, pool)
        n_effective = None
        if read.data.values.binary:
            # Clusters and weights enter by the variance of all models together.
            rates, variance = read.estimates.value, read.estimates.variance.sum()
            n = float(read.data.values.n_items)
            sizes = float((rates * (1.0 - rates)).sum()) * n / (n - 1.0)
            n_effective = sizes / variance if variance > 0.0 else float(read.n_units)
        return make_winner_estimate(read.estimates, options, pool, n_effective)
