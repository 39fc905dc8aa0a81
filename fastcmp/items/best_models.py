"""Which models may be the best, by their values on the same items."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from fastcmp.core.checks import as_resamples, as_seed, choose
from fastcmp.core.errors import BadValueError
from fastcmp.core.threads import ThreadPool, check_draws, check_workers, parts
from fastcmp.core.typing import ColumnLike, Floats, Seed
from fastcmp.counts.value_sums import PairMoments, pair_moments, unit_sums
from fastcmp.items.cautions import FEW_UNITS
from fastcmp.items.mean_data import MeanData, MeanOptions, pack_right, read_data
from fastcmp.kernels.bits import cross_counts
from fastcmp.kernels.item_bootstrap import count_units, draw_units
from fastcmp.pairwise.best_set import (
    BestSet,
    ModelConfidenceSet,
    make_best_set,
    make_confidence_set,
)
from fastcmp.pairwise.model_estimates import Estimates, ValuesLike, estimates_of, make_estimates
from fastcmp.pairwise.rank_sets import RankSets, make_rank_sets
from fastcmp.pairwise.superior_ability import SuperiorAbility, make_superior_ability
from fastcmp.pairwise.winner import WinnerEstimate, make_winner_estimate

_DRAWS = 512  # that are multiplied together
_COUNTED = 64  # models that one task counts; a multiple of four


def read_means(
    values: object, groups: object, missing: str, names: object, pool: ThreadPool, *, lower: bool
) -> tuple[Estimates, MeanData | None]:
    """Means of values and their covariance, and what was read; or the user's estimates, None."""
    if (estimates := estimates_of(values)) is not None:
        unused = {"groups": groups is None, "missing": missing == "raise", "names": names is None}
        for name, default in (unused | {"lower_is_better": not lower}).items():
            if not default:
                raise BadValueError(f"`{name}=` is about values: leave it to Estimates(...)")
        return estimates, None
    if isinstance(values, (list, tuple, np.ndarray)) and np.shape(values[:1]) == (1,):
        raise BadValueError(
            "`values` must be of shape (M, n), one row a model",
            "one number for each model",
            ": pass Estimates(values, covariance)",
        )
    missing = choose(missing, "missing", ("raise", "common", "wrong"))
    options = MeanOptions(missing=missing, lower_is_better=lower)
    data = read_data(values, options, names=names, groups=groups)
    n, n_dropped, clusters = data.plan.n_units, data.values.n_dropped, data.groups.clusters
    if data.values.binary and data.plan.plain:
        moments = _counted_moments(data, pool)
    else:
        moments = pair_moments(data.values, data.plan, pool)
    relative = moments.mean if moments.relative is None else moments.relative
    cautions = []
    if n < FEW_UNITS:
        units = "items" if clusters is None else "clusters"
        cautions.append(
            f"With {n} {units} what is promised holds roughly only: means are taken as normal."
        )
    if n_dropped:
        cautions.append(f"{n_dropped} items that some model lacks were dropped.")
    elif n_missing := sum(data.values.n_missing):
        cautions.append(f"{n_missing} values are missing, and count as 0.")
    estimates = make_estimates(
        names=data.values.names,
        values=moments.mean,
        merit=-relative if options.lower_is_better else relative,
        covariance=moments.covariance,
        variance=moments.variance,
        df=float(np.min(moments.df)),
        lower_is_better=options.lower_is_better,
        n_items=moments.n_items,
        n_clusters=None if clusters is None else moments.n_units,
        cautions=tuple(cautions),
        exponent=data.values.exponent,
    )
    return estimates, data


def _counted_moments(data: MeanData, pool: ThreadPool) -> PairMoments:
    """Count items that each two models have right: values are 0 or 1."""
    bits, plan, n = pack_right(data.values, pool), data.plan, data.values.n_items
    m, words = len(data.values.names), bits.words
    joint = np.empty((len(words), len(words)), np.int64)

    def count(rows: slice) -> None:
        cross_counts(words[rows], words, joint[rows])

    pool.run(count, parts(len(words), _COUNTED), steps=0, here=words.size < 1 << 12)
    # Whole numbers up to the last step: n is below 2**31.
    joint = n * joint[:m, :m] - np.outer(bits.correct, bits.correct)
    scale = float(plan.strata[0].factors[0]) / float(n) ** 3
    covariance = np.asarray(joint * scale, np.float64)
    variance = np.diagonal(covariance).copy()
    return PairMoments(
        n_items=n,
        n_units=n,
        mean=bits.correct / n,
        variance=variance,
        covariance=covariance,
        df=plan.shared_degrees,
        largest=plan.largest,
        scale=variance,
    )


def rank_sets(
    values: ValuesLike,
    *,
    groups: ColumnLike | None = None,
    lower_is_better: bool = False,
    missing: str = "raise",
    side: str = "two-sided",
    simultaneous: bool = True,
    step_down: bool = True,
    models: Sequence[int | str] | None = None,
    confidence_level: float = 0.95,
    n_resamples: int | None = None,
    rng: Seed = None,
    names: Sequence[str] | None = None,
    workers: int | None = None,
) -> RankSets:
    """The ranks that models may have, by their values on the same items.

    Parameters
    ----------
    values : array-like of shape (M, n), mapping, frame, ItemTable or Estimates
        One number for each model and item, as in `compare_means`; `correct_values`
        makes them of labels. Or what the models achieved by another measure.
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
        Draws that critical values come from; by default as many as give the
        level a standard error of 4 % of the rest (0.002 for 0.95); fewer for many models.
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
    Each difference of two models is tested by its own standard error, into which clusters
    enter as in `compare_means`, against a critical value of the largest of all that are
    asked for under their joint normal distribution [1]_. A model's least rank is 1 + the
    number of models shown to be better, its greatest M less those shown to be worse.
    Models whose difference does not vary at all are ordered by it, without a test.
    O(M**2 (n + B)) for B draws.

    References
    ----------
    .. [1] M. Mogstad, J. P. Romano, A. M. Shaikh, D. Wilhelm, "Inference for ranks with
       applications to mobility across neighbourhoods and academic achievement across
       countries", Review of Economic Studies 91 (2024) 476-518.

    Examples
    --------
    >>> from fastcmp import correct_values, load_digits, rank_sets
    >>> sets = rank_sets(correct_values(*load_digits()), rng=1)
    >>> sets.tau_best(1)
    ('svm_rbf', 'knn_3', 'extra_trees', 'random_forest', 'mlp')
    """
    with ThreadPool(check_workers(workers)) as pool:
        estimates, _ = read_means(values, groups, missing, names, pool, lower=lower_is_better)
        return make_rank_sets(
            *(estimates, models, pool),
            side=side,
            simultaneous=simultaneous,
            step_down=step_down,
            confidence_level=confidence_level,
            n_resamples=n_resamples,
            rng=rng,
        )


def best_set(
    values: ValuesLike,
    *,
    groups: ColumnLike | None = None,
    lower_is_better: bool = False,
    missing: str = "raise",
    confidence_level: float = 0.95,
    n_resamples: int | None = None,
    rng: Seed = None,
    names: Sequence[str] | None = None,
    workers: int | None = None,
) -> BestSet:
    """The models that may be the best, by their values on the same items.

    Hsu's multiple comparison with the best.

    Parameters
    ----------
    values : array-like of shape (M, n), mapping, frame, ItemTable or Estimates
        One number for each model and item, as in `compare_means`; `correct_values`
        makes them of labels. Or what the models achieved by another measure.
    groups : array-like, shape (n,), optional
        The cluster of each item, such as its document or patient.
    lower_is_better : bool
        Whether values are losses.
    missing : {"raise", "common", "wrong"}
        What to make of missing values, as in `compare_means`.
    confidence_level : float
        Probability that all intervals hold, and the best model is in the set.
    n_resamples : int, optional
        Draws that critical values come from; by default as many as give the
        level a standard error of 4 % of the rest (0.002 for 0.95); fewer for many models.
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
    Each model in turn is the control of a one-sided comparison with all others, with
    Dunnett's critical value for the correlations at hand [1]_; it may be the best
    unless another is better by more than that. No adjustment for the number of controls
    is needed: only the truly best one counts. Clusters enter as in `compare_means`.
    O(M**2 (n + B)) for B draws at most.

    References
    ----------
    .. [1] J. C. Hsu, "Multiple comparisons: theory and methods", Chapman & Hall (1996),
       chapter 4.

    Examples
    --------
    >>> from fastcmp import best_set, correct_values, load_digits
    >>> best_set(correct_values(*load_digits()), rng=1).best
    ('svm_rbf', 'knn_3', 'extra_trees')
    """
    with ThreadPool(check_workers(workers)) as pool:
        estimates, _ = read_means(values, groups, missing, names, pool, lower=lower_is_better)
        return make_best_set(
            *(estimates, pool), confidence_level=confidence_level, n_resamples=n_resamples, rng=rng
        )


def winner_estimate(
    values: ValuesLike,
    *,
    groups: ColumnLike | None = None,
    lower_is_better: bool = False,
    missing: str = "raise",
    method: str = "hybrid",
    confidence_level: float = 0.95,
    beta: float | None = None,
    projection_critical: float | None = None,
    n_resamples: int | None = None,
    rng: Seed = None,
    names: Sequence[str] | None = None,
    workers: int | None = None,
) -> WinnerEstimate:
    """Correct the mean of the best model for its having been picked.

    Parameters
    ----------
    values : array-like of shape (M, n), mapping, frame, ItemTable or Estimates
        One number for each model and item, as in `compare_means`; `correct_values`
        makes them of labels. Or what the models achieved by another measure.
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
        Draws that it comes from; by default as many as give its level a standard error of
        0.002 at 0.95, and of half that by "hybrid"; fewer for many models.
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
    Given the other estimates, as far as they do not vary with it, the winner's is a
    normal number between two ends; the corrected estimate is the mean under which what
    was seen is the median [1]_. Where two models tie for first place the estimate is an
    end itself and says nothing: the answer is the simultaneous interval, and a caution.

    Clusters enter as in `compare_means`. Of values 0 and 1 each mean p that the interval may hold
    is tested with its own standard error, sqrt(p (1 - p) / n), as in Wilson's interval
    (of clusters or weights n is the number of items that are worth as much): the winner's
    observed standard error is too small just where its proportion is too high.

    References
    ----------
    .. [1] I. Andrews, T. Kitagawa, A. McCloskey, "Inference on winners", Quarterly J.
       Economics 139 (2024) 305-358.

    Examples
    --------
    >>> from fastcmp import correct_values, load_digits, winner_estimate
    >>> found = winner_estimate(correct_values(*load_digits()), rng=1)
    >>> found.winner, round(found.estimate, 4), round(found.median, 4)
    ('svm_rbf', 0.9889, 0.9831)
    """
    with ThreadPool(check_workers(workers)) as pool:
        estimates, data = read_means(values, groups, missing, names, pool, lower=lower_is_better)
        n_effective = None
        if data is not None and data.values.binary:
            # Clusters and weights enter by the variance of all models together.
            rates, variance = estimates.values, estimates.variance.sum()
            n = float(data.values.n_items)
            sizes = float((rates * (1.0 - rates)).sum()) * n / (n - 1.0)
            n_effective = sizes / variance if variance > 0.0 else float(data.plan.n_units)
        return make_winner_estimate(
            *(estimates, pool, n_effective),
            method=method,
            confidence_level=confidence_level,
            beta=beta,
            projection_critical=projection_critical,
            n_resamples=n_resamples,
            rng=rng,
        )


# Models left out one by one, and models against a control, by values per item.


_RESAMPLINGS = ("normal", "bootstrap")


def model_confidence_set(
    values: ValuesLike,
    *,
    groups: ColumnLike | None = None,
    lower_is_better: bool = False,
    missing: str = "raise",
    method: str = "R",
    alpha: float = 0.05,
    resampling: str = "normal",
    bootstrap_indices: ArrayLike | None = None,
    n_resamples: int = 9999,
    rng: Seed = None,
    names: Sequence[str] | None = None,
    workers: int | None = None,
) -> ModelConfidenceSet:
    """Leave out worse models one by one, by their values on the same items.

    The model confidence set of Hansen, Lunde and Nason.

    Parameters
    ----------
    values : array-like of shape (M, n), mapping, frame, ItemTable or Estimates
        One number for each model and item, as in `compare_means`; `correct_values`
        makes them of labels. Or what the models achieved by another measure.
    groups : array-like, shape (n,), optional
        The cluster of each item, such as its document or patient.
    lower_is_better : bool
        Whether values are losses.
    missing : {"raise", "common", "wrong"}
        What to make of missing values, as in `compare_means`.
    method : {"R", "max"}
        What is tested, and which model is left out: the largest difference of two
        models and the worse of them, or the largest distance of a model from the mean
        of all.
    alpha : float
        Error rate of the set, in (0, 1).
    resampling : {"normal", "bootstrap"}
        What statistics are compared with: draws from the normal distribution, with the
        standard errors of `compare_means`; or a bootstrap of items or clusters, with
        standard errors and p-values as published and as in `arch`: the proportion of
        draws above the statistic.
    bootstrap_indices : array-like of int, shape (B, n), optional
        The items of each bootstrap draw, in the place of random ones.
    n_resamples : int
        Draws.
    rng : int, numpy.random.Generator or None
        Where the draws come from.
    names : sequence of str, optional
        Names of the models, in the place of those that `values` has.
    workers : int, optional
        Threads; by default as many as there are processors.

    Returns
    -------
    ModelConfidenceSet
        The set, and a p-value for each model.

    Raises
    ------
    ValueError
        If values are missing without a policy, infinite, or of different lengths, there
        are fewer than two models, items or clusters, or an option is unknown.
    TypeError
        If values are no numbers.

    Notes
    -----
    Models that are the same, item by item, count as one and have one p-value [1]_. On
    values that are 0 or 1 a bootstrap has ties, and its p-values change with the draws
    more than their number explains; normal draws have none. O(M**2 B) for B draws.

    References
    ----------
    .. [1] P. R. Hansen, A. Lunde, J. M. Nason, "The model confidence set", Econometrica
       79 (2011) 453-497.

    Examples
    --------
    >>> from fastcmp import correct_values, load_digits, model_confidence_set
    >>> found = model_confidence_set(correct_values(*load_digits()), rng=1)
    >>> found.included
    ('svm_rbf', 'knn_3', 'extra_trees')
    """
    resampling = choose(resampling, "resampling", _RESAMPLINGS)
    n_draws, seed = as_resamples(n_resamples), as_seed(rng)
    with ThreadPool(check_workers(workers)) as pool:
        estimates, data = read_means(values, groups, missing, names, pool, lower=lower_is_better)
        how = bootstrap_indices, n_draws, seed, pool
        drawn = _resampled(estimates, data, resampling, *how)
        return make_confidence_set(
            *(estimates, drawn, pool),
            method=method,
            alpha=alpha,
            n_resamples=n_draws if drawn is None else drawn.shape[1],
            seed=seed if bootstrap_indices is None else None,
        )


def superior_ability(
    values: ValuesLike,
    *,
    control: int | str,
    groups: ColumnLike | None = None,
    lower_is_better: bool = False,
    missing: str = "raise",
    recentring: str = "consistent",
    studentized: bool = True,
    alpha: float = 0.05,
    resampling: str = "normal",
    bootstrap_indices: ArrayLike | None = None,
    n_resamples: int = 9999,
    rng: Seed = None,
    names: Sequence[str] | None = None,
    workers: int | None = None,
) -> SuperiorAbility:
    """Test whether any model is better than a control, and which are.

    Hansen's test of superior predictive ability (SPA), and StepM.

    Parameters
    ----------
    values : array-like of shape (M, n), mapping, frame, ItemTable or Estimates
        One number for each model and item, as in `compare_means`; `correct_values`
        makes them of labels. Or what the models achieved by another measure.
    control : int or str
        The model that the others are tested against, the benchmark.
    groups : array-like, shape (n,), optional
        The cluster of each item, such as its document or patient.
    lower_is_better : bool
        Whether values are losses.
    missing : {"raise", "common", "wrong"}
        What to make of missing values, as in `compare_means`.
    recentring : {"consistent", "lower", "upper"}
        Which models count under the null hypothesis: all that are not clearly worse
        than the control, also those as they seem, or all as equal to it.
    studentized : bool
        Whether differences are divided by their standard errors. In `arch` (8.0.0) they
        are not, whatever its option of this name.
    alpha : float
        Error rate of the models shown to be better, in (0, 1).
    resampling : {"normal", "bootstrap"}
        What statistics are compared with: draws from the normal distribution, with the
        standard errors of `compare_means`; or a bootstrap of items or clusters, with
        its own standard errors and, as published and in `arch`, the proportion of draws
        above the statistic.
    bootstrap_indices : array-like of int, shape (B, n), optional
        The items of each bootstrap draw, in the place of random ones.
    n_resamples : int
        Draws.
    rng : int, numpy.random.Generator or None
        Where the draws come from.
    names : sequence of str, optional
        Names of the models, in the place of those that `values` has.
    workers : int, optional
        Threads; by default as many as there are processors.

    Returns
    -------
    SuperiorAbility
        P-values of the three recentrings, and the models shown to be better.

    Raises
    ------
    ValueError
        If values are missing without a policy, infinite, or of different lengths, there
        are fewer than two models, items or clusters, no such control, or an option is
        unknown.
    TypeError
        If values are no numbers.

    Notes
    -----
    The p-value is the probability of a largest difference as large as that found
    [1]_. A model is clearly worse where it is behind by more than sqrt(2 log log n)
    standard errors, of n items or clusters. Models are shown to be better step by step
    [2]_. "upper" is the reality check where not `studentized`. O(M B) for B draws.

    References
    ----------
    .. [1] P. R. Hansen, "A test for superior predictive ability", J. Business &
       Economic Statistics 23 (2005) 365-380.
    .. [2] J. P. Romano, M. Wolf, "Stepwise multiple testing as formalized data
       snooping", Econometrica 73 (2005) 1237-1282.

    Examples
    --------
    >>> from fastcmp import correct_values, load_digits, superior_ability
    >>> values = correct_values(*load_digits())
    >>> superior_ability(values, control="mlp", rng=1).superior
    ('svm_rbf', 'knn_3')
    """
    resampling = choose(resampling, "resampling", _RESAMPLINGS)
    n_draws, seed = as_resamples(n_resamples), as_seed(rng)
    with ThreadPool(check_workers(workers)) as pool:
        estimates, data = read_means(values, groups, missing, names, pool, lower=lower_is_better)
        how = bootstrap_indices, n_draws, seed, pool
        drawn = _resampled(estimates, data, resampling, *how)
        return make_superior_ability(
            *(estimates, control, drawn, pool),
            recentring=recentring,
            studentized=studentized,
            alpha=alpha,
            n_resamples=n_draws if drawn is None else drawn.shape[1],
            seed=seed if bootstrap_indices is None else None,
        )


def _resampled(
    estimates: Estimates,
    data: MeanData | None,
    resampling: str,
    indices: object,
    n_draws: int,
    seed: int,
    pool: ThreadPool,
) -> Floats | None:
    """Errors of the estimates in a bootstrap of items or clusters, (M, B).

    Turned so that more is better. `indices` are the items of each draw, (B, n), in the place
    of random ones. None where draws are normal.
    """
    if indices is None and resampling == "normal":
        return None
    if data is None:
        raise BadValueError("Estimates cannot be resampled", remedy=": use `resampling='normal'`")
    if data.plan.across is not None:
        raise BadValueError("`resampling='bootstrap'` needs groups that lie within strata")
    units = unit_sums(data.values, data.plan, pool)
    starts = np.searchsorted(units.strata, np.arange(units.weights.size))
    sizes = np.add.reduceat(units.sizes, starts)
    means = np.add.reduceat(units.sums, starts, axis=1) / sizes
    errors = units.sums - means[:, units.strata] * units.sizes
    errors = errors * (units.weights / sizes)[units.strata]
    if estimates.lower_is_better:
        errors = -errors
    n = data.values.n_items
    if indices is not None:
        if not data.plan.plain:
            raise BadValueError(
                "`bootstrap_indices` are items: they need no groups, strata or weights"
            )
        try:
            rows = np.asarray(indices)
        except ValueError:
            rows = np.empty(0)
        if rows.ndim != 2 or rows.shape[1] != n or rows.dtype.kind not in "iu":
            raise BadValueError(
                f"`bootstrap_indices` must be whole numbers of shape (B, {n}), the items of "
                "each draw",
                f"{rows.dtype} values of shape {rows.shape}",
            )
        if not rows.size or rows.min() < 0 or rows.max() >= n:
            raise BadValueError(
                f"`bootstrap_indices` must be positions of items, from 0 to {n - 1}"
            )
        counts = np.empty((len(rows), n))
        count_units(np.ascontiguousarray(rows, np.int64), counts)
        return np.asarray(errors @ counts.T)
    check_draws(n_draws, len(errors), of=f" of {len(errors)} models")
    resampled = np.empty((len(errors), n_draws))

    def draw(part: slice) -> None:
        counts = np.empty((part.stop - part.start, units.sizes.size))
        draw_units(units.strata, seed, part.start, counts)
        resampled[:, part] = errors @ counts.T

    pool.run(draw, parts(n_draws, _DRAWS), steps=0)
    return resampled
