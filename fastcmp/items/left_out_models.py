"""Models left out one by one, and models against a control, by values per item."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fastcmp.core.options import choose
from fastcmp.core.threads import ThreadPool, check_workers
from fastcmp.items.value_estimates import ReadItems, ValueEstimates, estimate_values
from fastcmp.pairwise.confidence_set import make_confidence_set, read_set_options
from fastcmp.pairwise.superior_ability import (
    find_control,
    make_superior_ability,
    read_ability_options,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from fastcmp.pairwise.confidence_set_result import ModelConfidenceSet
    from fastcmp.pairwise.superior_ability_result import SuperiorAbility

_RESAMPLINGS = ("normal", "bootstrap")


def model_confidence_set(
    values: Any,
    *,
    groups: ArrayLike | None = None,
    lower_is_better: bool = False,
    missing: str = "raise",
    method: str = "R",
    alpha: float = 0.05,
    resampling: str = "normal",
    bootstrap_indices: ArrayLike | None = None,
    n_resamples: int = 9999,
    rng: Any = None,
    names: Sequence[str] | None = None,
    workers: int | None = None,
) -> ModelConfidenceSet:
    """Leave out worse models one by one, by their values on the same items.

    The model confidence set of Hansen, Lunde and Nason.

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
    As `model_confidence_set_from_moments` by the means and their covariance. On values
    that are 0 or 1 a bootstrap has ties, and its p-values change with the draws more
    than their number explains; normal draws have none.

    Examples
    --------
    >>> from fastcmp import correct_values, load_digits, model_confidence_set
    >>> found = model_confidence_set(correct_values(*load_digits()), rng=1)
    >>> found.included
    ('svm_rbf', 'knn_3', 'extra_trees')
    """
    items = ReadItems(groups, missing, names, lower_is_better)
    options = read_set_options(method, alpha, n_resamples, rng)
    how = _read_resampling(resampling, bootstrap_indices, options)
    with ThreadPool(check_workers(workers)) as pool:
        read = estimate_values(values, items, pool)
        resampled = _resample(read, bootstrap_indices, how, pool)
        how = _given(how, bootstrap_indices, resampled)
        return make_confidence_set(read.estimates, resampled, how, pool)


def superior_ability(
    values: Any,
    *,
    control: int | str,
    groups: ArrayLike | None = None,
    lower_is_better: bool = False,
    missing: str = "raise",
    recentring: str = "consistent",
    studentized: bool = True,
    alpha: float = 0.05,
    resampling: str = "normal",
    bootstrap_indices: ArrayLike | None = None,
    n_resamples: int = 9999,
    rng: Any = None,
    names: Sequence[str] | None = None,
    workers: int | None = None,
) -> SuperiorAbility:
    """Test whether any model is better than a control, and which are.

    Hansen's test of superior predictive ability (SPA), and StepM.

    Parameters
    ----------
    values : array-like of shape (M, n), mapping, frame or ItemTable
        One number for each model and item, as in `compare_means`; `correct_values`
        makes them of labels.
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
    As `superior_ability_from_moments` by the means and their covariance.

    Examples
    --------
    >>> from fastcmp import correct_values, load_digits, superior_ability
    >>> values = correct_values(*load_digits())
    >>> superior_ability(values, control="mlp", rng=1).superior
    ('svm_rbf', 'knn_3')
    """
    items = ReadItems(groups, missing, names, lower_is_better)
    options = read_ability_options(recentring, studentized, alpha, n_resamples, rng)
    how = _read_resampling(resampling, bootstrap_indices, options)
    with ThreadPool(check_workers(workers)) as pool:
        read = estimate_values(values, items, pool)
        first = find_control(control, read.estimates.names)
        resampled = _resample(read, bootstrap_indices, how, pool)
        how = _given(how, bootstrap_indices, resampled)
        which = (first, read.n_units)
        return make_superior_ability(read.estimates, which, resampled, how, pool)


def _read_resampling(resampling: str, indices: Any, options: Any) -> Any:
    """Choose what statistics are compared with; given draws are a bootstrap."""
    chosen = choose(resampling, "resampling", _RESAMPLINGS)
    return options._replace(resampling=chosen if indices is None else "bootstrap")


def _resample(
    read: ValueEstimates, indices: Any, options: Any, pool: ThreadPool
) -> NDArray[np.float64] | None:
    if options.resampling == "normal":
        return None
    return read.resample(indices, options.n_draws, options.seed, pool)


def _given(options: Any, indices: Any, resampled: Any) -> Any:
    """Say how many draws the user gave."""
    if indices is None:
        return options
    return options._replace(n_draws=resampled.shape[1], seed=None)
