"""McNemar's tests on the tables of the folds of a cross-validation.

Every table is ``table[a is wrong, b is wrong]``: [0, 1] counts the samples of a fold
that only model a got right, [1, 0] those that only model b got right.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fastcmp._jit import kernel
from fastcmp.kernels.paired import mcnemar_corrected
from fastcmp.kernels.special import chdtrc
from fastcmp.kernels.status import DEGENERATE, INVALID, OK, TWO_SIDED, Outcome
from fastcmp.kernels.symmetry import ChiSquareOutcome

if TYPE_CHECKING:
    from fastcmp.kernels.typing import FloatArray, IntArray, StatusArray


class ProportionOutcome(NamedTuple):
    """A test of two accuracies as if they were measured on different samples."""

    statistic: float
    pvalue: float
    #: Accuracy of a minus that of b.
    estimate: float
    standard_error: float
    status: int


@kernel
def bcv_factor(n_replicates: int, rho1: float, rho2: float) -> float:
    """Effective number of tables among the 2 m of m two-fold cross-validations.

    Parameters
    ----------
    n_replicates : int
        Number of two-fold cross-validations, m.
    rho1 : float
        Correlation of the disagreements of the two folds of one replication, in
        (-1, 1].
    rho2 : float
        Correlation of those of folds of different replications, in [0, (1 + rho1) / 2].

    Returns
    -------
    float
        The factor t = 2 m / (1 + rho1 + 2 (m - 1) rho2): the mean table times t is the
        effective table. NaN for correlations outside, or m < 1.

    Notes
    -----
    Within these bounds the correlations are possible for any m, and the mean of the
    disagreements has a variance above 0. O(1).

    References
    ----------
    .. [1] J. Yang, R. Wang, Y. Song, J. Li, "Block-regularized 5x2 cross-validated
       McNemar's test for comparing two classification algorithms", equations (8) and
       (11), there for m = 5.

    Examples
    --------
    >>> from fastcmp.kernels import bcv_factor
    >>> round(bcv_factor(5, 0.5, 0.5), 4)  # 20 / 11
    1.8182
    """
    possible = -1.0 < rho1 <= 1.0 and 0.0 <= rho2 <= 0.5 * (1.0 + rho1)
    if n_replicates < 1 or not possible:
        return math.nan
    return 2.0 * n_replicates / (1.0 + rho1 + 2.0 * (n_replicates - 1) * rho2)


@kernel
def bcv_mcnemar(
    mean_only_a: float, mean_only_b: float, factor: float, alternative: int = 0
) -> Outcome:
    """McNemar's test of m two-fold cross-validations.

    Parameters
    ----------
    mean_only_a, mean_only_b : float
        Samples of a fold that only model a, and only model b, classified correctly:
        means over the 2 m folds.
    factor : float
        From `bcv_factor`.
    alternative : int, optional
        ``TWO_SIDED`` (0), ``GREATER`` (1, a is better) or ``LESS`` (-1).

    Returns
    -------
    Outcome
        `mcnemar_corrected` of `factor` times the means: ``statistic`` = t max(abs(
        mean_only_a - mean_only_b) - 1/t, 0)**2 / (mean_only_a + mean_only_b),
        ``pvalue`` and ``status``. Without discordant samples: 0, 1 and ``DEGENERATE``.
        NaN and ``INVALID`` for negative means, or a factor that is not positive and
        finite.

    References
    ----------
    .. [1] J. Yang, R. Wang, Y. Song, J. Li, "Block-regularized 5x2 cross-validated
       McNemar's test for comparing two classification algorithms", equation (14),
       with a correction that never exceeds the difference.

    Examples
    --------
    >>> from fastcmp.kernels import bcv_factor, bcv_mcnemar
    >>> outcome = bcv_mcnemar(6.9, 12.7, bcv_factor(5, 0.5, 0.5))
    >>> round(outcome.statistic, 6), round(outcome.pvalue, 6)
    (2.556818, 0.109819)
    """
    only_a, only_b = factor * mean_only_a, factor * mean_only_b
    # Written so that NaN fails as well.
    if not (0.0 < factor < math.inf and 0.0 <= only_a + only_b < math.inf):
        return Outcome(math.nan, math.nan, INVALID)
    # That test does not need whole numbers: one path to the p-value.
    return mcnemar_corrected(only_a, only_b, alternative)  # type: ignore[arg-type]


@kernel
def bcv_mcnemar_many(
    tables: IntArray,
    factor: float,
    alternative: int,
    means: FloatArray,
    results: FloatArray,
    status: StatusArray,
) -> None:
    """Write `bcv_mcnemar` of many pairs' tables, (P, 2 m, 2, 2), and their means, (P, 2, 2)."""
    n_folds = tables.shape[1]
    for i in range(tables.shape[0]):
        for x in range(2):
            for y in range(2):
                total = np.int64(0)
                for j in range(n_folds):
                    total += tables[i, j, x, y]
                means[i, x, y] = total / n_folds
        outcome = bcv_mcnemar(means[i, 0, 1], means[i, 1, 0], factor, alternative)
        results[i, 0] = outcome.statistic
        results[i, 1] = outcome.pvalue
        status[i] = outcome.status


@kernel
def naive_mcnemar(tables: IntArray) -> ChiSquareOutcome:
    """Sum of McNemar's corrected chi-squares of K folds, as if they were independent.

    Parameters
    ----------
    tables : ndarray of int64, shape (K, 2, 2)
        The table of each fold.

    Returns
    -------
    ChiSquareOutcome
        The sum, referred to chi-square with ``df`` = K degrees of freedom. A fold
        without discordant samples adds 0 and keeps its degree of freedom. If no fold
        has any: 0, 1 and ``DEGENERATE``. NaN and ``INVALID`` for negative counts, or no
        fold.

    References
    ----------
    .. [1] J. Yang, R. Wang, Y. Song, J. Li, "Block-regularized 5x2 cross-validated
       McNemar's test for comparing two classification algorithms", equation (5), with
       a correction that never exceeds the difference. Its authors do not recommend it.

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.kernels import naive_mcnemar
    >>> tables = np.array([[[19, 8], [1, 2]], [[24, 0], [0, 6]], [[22, 5], [1, 2]]])
    >>> outcome = naive_mcnemar(tables)
    >>> round(outcome.statistic, 4), outcome.df, round(outcome.pvalue, 4)
    (5.5, 3, 0.1386)
    """
    n_folds = tables.shape[0]
    if n_folds == 0:
        return ChiSquareOutcome(math.nan, math.nan, 0, INVALID)
    statistic, status = 0.0, DEGENERATE
    for k in range(n_folds):
        only_a, only_b = tables[k, 0, 1], tables[k, 1, 0]
        if only_a < 0 or only_b < 0:
            return ChiSquareOutcome(math.nan, math.nan, n_folds, INVALID)
        if only_a + only_b > 0:
            # As `mcnemar_corrected`, without its p-value.
            distance = max(abs(float(only_a) - float(only_b)) - 1.0, 0.0)
            statistic += distance * distance / (float(only_a) + float(only_b))
            status = OK
    return ChiSquareOutcome(statistic, chdtrc(float(n_folds), statistic), n_folds, status)


@kernel
def naive_mcnemar_many(tables: IntArray, out: FloatArray, status: StatusArray) -> None:
    """Write `naive_mcnemar` of many pairs' tables, (P, K, 2, 2), as `fold_t_many`."""
    for i in range(tables.shape[0]):
        out[0, i], out[1, i], _, status[i] = naive_mcnemar(tables[i])
        out[2, i] = out[3, i] = math.nan


@kernel
def proportion_z(errors_a: int, errors_b: int, n: int, alternative: int = 0) -> ProportionOutcome:
    """Test the difference of two accuracies, ignoring the pairing.

    Parameters
    ----------
    errors_a, errors_b : int
        Samples that model a, and that model b, misclassified.
    n : int
        All samples.
    alternative : int, optional
        ``TWO_SIDED`` (0), ``GREATER`` (1, a is better) or ``LESS`` (-1).

    Returns
    -------
    ProportionOutcome
        ``estimate`` = (errors_b - errors_a) / n, ``standard_error`` = sqrt(2 p (1 - p)
        / n) with p the mean of the two error rates, ``statistic`` their quotient,
        referred to the normal distribution. If both models are always correct, or
        always wrong: 0, p-value 1 and ``DEGENERATE``. NaN and ``INVALID`` for errors
        outside 0 to n, or n < 1.

    References
    ----------
    .. [1] T. G. Dietterich, "Approximate statistical tests for comparing supervised
       classification learning algorithms", Neural Computation 10 (1998) 1895-1923.

    Examples
    --------
    >>> from fastcmp.kernels import proportion_z
    >>> round(proportion_z(24, 58, 175).statistic, 6)
    4.290803
    """
    impossible = n < 1 or min(errors_a, errors_b) < 0 or max(errors_a, errors_b) > n
    if impossible:
        return ProportionOutcome(math.nan, math.nan, math.nan, math.nan, INVALID)
    size = float(n)
    wrong = float(errors_a) + float(errors_b)
    right = 2.0 * size - wrong
    if wrong == 0.0 or right == 0.0:
        return ProportionOutcome(0.0, 1.0, 0.0, 0.0, DEGENERATE)
    difference = float(errors_b) - float(errors_a)
    root = math.sqrt(0.5 * wrong * (right / size))
    z = difference / root
    if alternative == TWO_SIDED:
        pvalue = math.erfc(abs(z) * math.sqrt(0.5))
    else:
        pvalue = 0.5 * math.erfc(z * alternative * math.sqrt(0.5))
    return ProportionOutcome(z, pvalue, difference / size, root / size, OK)


@kernel
def proportion_z_many(
    tables: IntArray, alternative: int, out: FloatArray, status: StatusArray
) -> None:
    """Write `proportion_z` of many pairs' tables, (P, 2, 2), as `fold_t_many`."""
    for i in range(tables.shape[0]):
        only_a, only_b, both_wrong = tables[i, 0, 1], tables[i, 1, 0], tables[i, 1, 1]
        n = tables[i, 0, 0] + only_a + only_b + both_wrong
        outcome = proportion_z(only_b + both_wrong, only_a + both_wrong, n, alternative)
        out[0, i], out[1, i], out[2, i], out[3, i], status[i] = outcome
