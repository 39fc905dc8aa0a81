"""Tests of a mean over folds against the normal distribution."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from fastcmp._jit import kernel, sum_of
from fastcmp.kernels.fold_t_tests import (
    _ROUNDING,
    FoldOutcome,
    _exponent,
    _invalid,
    _store,
    _student,
    _without_spread,
    fold_t,
)

if TYPE_CHECKING:
    from fastcmp.kernels.typing import FloatArray, IntArray, StatusArray


@kernel
def _largest(differences: FloatArray) -> float:
    largest = 0.0
    for x in differences:
        largest = max(largest, abs(x))
    return largest


@kernel
def _scaled_mean(differences: FloatArray, unit: float) -> float:
    total = 0.0
    for x in differences:
        total += x * unit
    return total / differences.size


@kernel
def conservative_z(
    differences: FloatArray, half_differences: FloatArray, alternative: int = 0
) -> FoldOutcome:
    """Nadeau and Bengio's conservative z test.

    Parameters
    ----------
    differences : ndarray of float64, shape (J,)
        Score of a minus that of b in J random splits of all samples.
    half_differences : ndarray of float64, shape (M, 2, J)
        The same in J splits of each half of the samples, for M random halvings.
    alternative : int, optional
        ``TWO_SIDED`` (0), ``GREATER`` (1, a is better) or ``LESS`` (-1).

    Returns
    -------
    FoldOutcome
        The mean of `differences` over the root of V, half the mean squared difference
        of the means of two halves.

    References
    ----------
    .. [1] C. Nadeau, Y. Bengio, "Inference for the generalization error", Machine
       Learning 52 (2003) 239-281.

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.kernels import conservative_z
    >>> halves = np.array([[[0.02, 0.01], [0.03, 0.02]], [[0.0, 0.03], [0.01, 0.01]]])
    >>> round(conservative_z(np.array([0.01, 0.02]), halves).statistic, 4)
    2.6833
    """
    n_cuts = half_differences.shape[0]
    if differences.size == 0 or half_differences.size == 0:
        return _invalid()
    largest = _largest(differences)
    for m in range(n_cuts):
        for half in half_differences[m]:
            largest = max(largest, _largest(half))
    if largest == math.inf:
        return _invalid()
    exponent = _exponent(largest)
    unit = math.ldexp(1.0, -exponent)
    squares, farthest = 0.0, 0.0
    for m in range(n_cuts):
        first = _scaled_mean(half_differences[m, 0], unit)
        gap = first - _scaled_mean(half_differences[m, 1], unit)
        squares += gap * gap
        farthest = max(farthest, abs(gap))
    mean = _scaled_mean(differences, unit)
    if math.isnan(squares + mean):
        return _invalid()
    rounding = _ROUNDING * largest * unit
    if farthest <= rounding:
        if abs(mean) <= rounding:
            mean = 0.0
        return _without_spread(mean, exponent)
    error = math.sqrt(squares / (2.0 * n_cuts))
    return _student(mean, error, exponent, math.inf, alternative)


@kernel
def conservative_z_many(
    differences: FloatArray,
    half_differences: FloatArray,
    alternative: int,
    out: FloatArray,
    status: StatusArray,
) -> None:
    """Write `conservative_z` of many pairs, (P, J) and (P, M, 2, J), as `fold_t_many`."""
    for i in range(differences.shape[0]):
        outcome = conservative_z(differences[i], half_differences[i], alternative)
        _store(outcome, i, out, status)


@kernel
def bayle_z_out(differences: FloatArray, alternative: int = 0) -> FoldOutcome:
    """Test a cross-validated mean with the variance over all samples.

    Parameters
    ----------
    differences : ndarray of float64, shape (n,)
        Score of a minus that of b on each sample, each tested once.
    alternative : int, optional
        ``TWO_SIDED`` (0), ``GREATER`` (1, a is better) or ``LESS`` (-1).

    Returns
    -------
    FoldOutcome
        The mean over its standard error, referred to the normal distribution.

    References
    ----------
    .. [1] P. Bayle, A. Bayle, L. Janson, L. Mackey, "Cross-validation confidence
       intervals for test error", Advances in Neural Information Processing Systems 33
       (2020).

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.kernels import bayle_z_out
    >>> round(bayle_z_out(np.array([1.0, 0.0, 0.0, 1.0])).statistic, 4)
    2.0
    """
    n = float(differences.size)
    return fold_t(differences, 1.0 / (n * n), math.inf, alternative)


@kernel
def bayle_z_in(
    differences: FloatArray, folds: IntArray, n_folds: int, alternative: int = 0
) -> FoldOutcome:
    """Test a cross-validated mean with the mean variance within the folds.

    Parameters
    ----------
    differences : ndarray of float64, shape (n,)
        Score of a minus that of b on each sample, each tested once.
    folds : ndarray of int64, shape (n,)
        The fold of each sample, in [0, n_folds).
    n_folds : int
        Number of folds, each with two samples or more.
    alternative : int, optional
        ``TWO_SIDED`` (0), ``GREATER`` (1, a is better) or ``LESS`` (-1).

    Returns
    -------
    FoldOutcome
        The mean over its standard error, referred to the normal distribution. Folds of
        unequal size count alike in the variance. ``INVALID`` also for a smaller fold.

    References
    ----------
    .. [1] P. Bayle, A. Bayle, L. Janson, L. Mackey, "Cross-validation confidence
       intervals for test error", Advances in Neural Information Processing Systems 33
       (2020).

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.kernels import bayle_z_in
    >>> x, folds = np.array([1.0, 0.0, 0.0, 1.0]), np.array([0, 0, 1, 1])
    >>> round(bayle_z_in(x, folds, 2).statistic, 4)
    1.4142
    """
    n = differences.size
    if n_folds < 1 or n < 2 * n_folds or folds.size != n:
        return _invalid()
    largest = _largest(differences)
    if largest == math.inf:
        return _invalid()
    exponent = _exponent(largest)
    unit = math.ldexp(1.0, -exponent)
    means, sizes = np.zeros(n_folds), np.zeros(n_folds)
    for i in range(n):
        if not 0 <= folds[i] < n_folds:
            return _invalid()
        means[folds[i]] += differences[i] * unit
        sizes[folds[i]] += 1.0
    if sizes.min() < 2.0:
        return _invalid()
    mean = sum_of(means) / n
    means /= sizes
    squares, farthest = np.zeros(n_folds), 0.0
    for i in range(n):
        deviation = differences[i] * unit - means[folds[i]]
        squares[folds[i]] += deviation * deviation
        farthest = max(farthest, abs(deviation))
    if math.isnan(sum_of(squares)):
        return _invalid()
    rounding = _ROUNDING * largest * unit
    if farthest <= rounding:
        if abs(mean) <= rounding:
            mean = 0.0
        return _without_spread(mean, exponent)
    variance = (squares / (sizes - 1.0)).mean()
    return _student(mean, math.sqrt(variance / n), exponent, math.inf, alternative)


@kernel
def bayle_z_many(  # one row of data, one column of answers
    differences: FloatArray,
    folds: IntArray,
    n_folds: int,
    alternative: int,
    out: FloatArray,
    status: StatusArray,
) -> None:
    """Write Bayle's test of each row of (P, n), as `fold_t_many`; 0 folds: over all samples."""
    for i in range(differences.shape[0]):
        if n_folds:
            outcome = bayle_z_in(differences[i], folds, n_folds, alternative)
        else:
            outcome = bayle_z_out(differences[i], alternative)
        _store(outcome, i, out, status)
