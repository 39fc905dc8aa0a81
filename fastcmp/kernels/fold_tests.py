"""Tests on the differences of folds: Student's t, F and the normal z.

All is computed in units of a power of two near the largest difference: squares of
scores of any size neither under- nor overflow, and the scaling loses no digit.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from fastcmp._jit import helper, kernel, sum_of
from fastcmp.kernels.item_values import LARGEST
from fastcmp.kernels.signed_ranks import decimal_scale
from fastcmp.kernels.special import snedecor_tail, square, stdtr, student_tails
from fastcmp.kernels.status import DEGENERATE, INVALID, OK, TWO_SIDED, UNDEFINED

if TYPE_CHECKING:
    from fastcmp.kernels.typing import FloatArray, IntArray, StatusArray

#: Deviations up to this fraction of the largest difference are rounding errors.
_ROUNDING: Final = 1e-12


class FoldOutcome(NamedTuple):
    """The answer of a test on fold differences.

    ``statistic`` is `estimate` / `standard_error`, which is NaN for an F. Differences
    without spread, within 1e-12 of the largest, give 0, p = 1 and ``DEGENERATE`` if the
    numerator is 0 too, else NaN and ``UNDEFINED``, for nothing measures the estimate.
    Numbers that are not finite give NaN and ``INVALID``.
    """

    statistic: float
    pvalue: float
    estimate: float
    standard_error: float
    status: int


@helper
def _exponent(largest: float) -> int:
    # 2**1000 brings even the smallest number to a size whose square is representable.
    # `largest` may be NaN.
    return max(math.frexp(largest)[1], -1000) if largest > 0.0 else 0


@helper
def _tail(t: float, df: float, alternative: int) -> float:
    """P-value of Student's t, or of a normal z for df = inf."""
    both = math.erfc(abs(t) * math.sqrt(0.5)) if df == math.inf else student_tails(df, t)
    if alternative == TWO_SIDED:
        return both
    return 0.5 * both if alternative * t >= 0.0 else 1.0 - 0.5 * both


@kernel
def _invalid() -> FoldOutcome:
    return FoldOutcome(math.nan, math.nan, math.nan, math.nan, INVALID)


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
def _quotient(  # all but `largest` in units of 2**exponent
    estimate: float,
    variance: float,
    farthest: float,
    largest: float,
    exponent: int,
    df: float,
    alternative: int,
) -> FoldOutcome:
    """Divide an estimate by the root of its variance, unless no deviation is farther than rounding.

    `largest` is the largest difference: deviations to 1e-12 of it are rounding errors.
    """
    if largest == math.inf or math.isnan(estimate + variance):
        return _invalid()
    rounding = _ROUNDING * largest * math.ldexp(1.0, -exponent)
    if farthest > rounding:
        error = math.sqrt(variance)
        t = estimate / error
        pvalue = _tail(t, df, alternative)
        scaled = math.ldexp(estimate, exponent), math.ldexp(error, exponent)
        return FoldOutcome(t, pvalue, scaled[0], scaled[1], OK)
    if abs(estimate) <= rounding:
        return FoldOutcome(0.0, 1.0, 0.0, 0.0, DEGENERATE)
    return FoldOutcome(math.nan, math.nan, math.ldexp(estimate, exponent), 0.0, UNDEFINED)


@kernel
def fold_t(differences: FloatArray, factor: float, df: float, alternative: int = 0) -> FoldOutcome:
    """Student's t of a mean, with any multiple of the sum of squares as its variance.

    Most t tests over folds are this one with another factor and degrees of freedom.

    Parameters
    ----------
    differences : ndarray of float64, shape (J,)
        Score of a minus that of b in each fold, two or more.
    factor : float
        The squared standard error divided by the sum of squared deviations; for the
        plain paired t test 1 / (J (J - 1)).
    df : float
        Degrees of freedom; infinity for the normal distribution.
    alternative : int, optional
        ``TWO_SIDED`` (0), ``GREATER`` (1, a is better) or ``LESS`` (-1).

    Returns
    -------
    FoldOutcome
        The mean is the estimate. ``INVALID`` also for a factor or degrees of freedom
        that are not positive.

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.kernels import fold_t
    >>> outcome = fold_t(np.array([0.02, 0.01, 0.03, 0.02]), 1 / 12, 3.0)
    >>> round(outcome.statistic, 4), round(outcome.pvalue, 4)
    (4.899, 0.0163)
    """
    if differences.size < 2 or not 0.0 < factor < math.inf or not df > 0.0:
        return _invalid()
    largest = _largest(differences)
    exponent = _exponent(largest)
    unit = math.ldexp(1.0, -exponent)
    mean = _scaled_mean(differences, unit)
    squares, farthest = 0.0, 0.0
    for x in differences:
        deviation = x * unit - mean
        squares += deviation * deviation
        farthest = max(farthest, abs(deviation))
    return _quotient(mean, factor * squares, farthest, largest, exponent, df, alternative)


@kernel
def fold_t_many(  # one row of data, one column of answers
    differences: FloatArray,
    factor: float,
    df: float,
    alternative: int,
    out: FloatArray,
    status: StatusArray,
) -> None:
    """Write `fold_t` of each row of (P, J): four rows of `out`, (4, P), and the status."""
    for i in range(differences.shape[0]):
        outcome = fold_t(differences[i], factor, df, alternative)
        out[0, i], out[1, i], out[2, i], out[3, i], status[i] = outcome


# t tests of J differences whose training sets overlap, most with a larger variance.
#
# They differ only in the factor of the variance and in the degrees of freedom.


@kernel
def corrected_factor(n: int, ratio: float) -> float:
    """Factor from a sum of squares to the variance of a mean of dependent differences.

    Parameters
    ----------
    n : int
        Number of differences, two or more.
    ratio : float
        Samples tested on divided by samples trained on; 0 for independent differences.

    Returns
    -------
    float
        (1 / n + ratio) / (n - 1).

    References
    ----------
    .. [1] C. Nadeau, Y. Bengio, "Inference for the generalization error", Machine
       Learning 52 (2003) 239-281.

    Examples
    --------
    >>> from fastcmp.kernels import corrected_factor
    >>> corrected_factor(5, 0.8)
    0.25
    """
    return (1.0 / n + ratio) / (n - 1)


@kernel
def resampled_t(differences: FloatArray, alternative: int = 0) -> FoldOutcome:
    """Test random splits as if their differences were independent.

    Parameters
    ----------
    differences : ndarray of float64, shape (J,)
        Score of a minus that of b in each split.
    alternative : int, optional
        ``TWO_SIDED`` (0), ``GREATER`` (1, a is better) or ``LESS`` (-1).

    Returns
    -------
    FoldOutcome
        Student's t with J - 1 degrees of freedom.

    References
    ----------
    .. [1] T. G. Dietterich, "Approximate statistical tests for comparing supervised
       classification learning algorithms", Neural Computation 10 (1998) 1895-1923.

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.kernels import resampled_t
    >>> round(resampled_t(np.array([0.02, 0.01, 0.03, 0.02])).statistic, 4)
    4.899
    """
    n = differences.size
    if n < 2:
        return _invalid()
    return fold_t(differences, corrected_factor(n, 0.0), n - 1.0, alternative)


@kernel
def kfold_t(differences: FloatArray, alternative: int = 0) -> FoldOutcome:
    """Test the folds of one cross-validation as if they were independent.

    Parameters
    ----------
    differences : ndarray of float64, shape (K,)
        Score of a minus that of b in each fold.
    alternative : int, optional
        ``TWO_SIDED`` (0), ``GREATER`` (1, a is better) or ``LESS`` (-1).

    Returns
    -------
    FoldOutcome
        Student's t with K - 1 degrees of freedom, as `resampled_t`.

    References
    ----------
    .. [1] T. G. Dietterich, "Approximate statistical tests for comparing supervised
       classification learning algorithms", Neural Computation 10 (1998) 1895-1923.

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.kernels import kfold_t
    >>> round(kfold_t(np.array([0.02, 0.01, 0.03, 0.02])).pvalue, 4)
    0.0163
    """
    return resampled_t(differences, alternative)


@kernel
def nadeau_bengio_t(
    differences: FloatArray, n_train: float, n_test: float, alternative: int = 0
) -> FoldOutcome:
    """Nadeau and Bengio's corrected resampled t test.

    Parameters
    ----------
    differences : ndarray of float64, shape (J,)
        Score of a minus that of b in each random split.
    n_train, n_test : float
        Samples trained and tested on in each split.
    alternative : int, optional
        ``TWO_SIDED`` (0), ``GREATER`` (1, a is better) or ``LESS`` (-1).

    Returns
    -------
    FoldOutcome
        Student's t with J - 1 degrees of freedom. ``INVALID`` also for sizes that are
        not positive.

    References
    ----------
    .. [1] C. Nadeau, Y. Bengio, "Inference for the generalization error", Machine
       Learning 52 (2003) 239-281.

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.kernels import nadeau_bengio_t
    >>> outcome = nadeau_bengio_t(np.array([0.02, 0.01, 0.03, 0.02]), 90, 30)
    >>> round(outcome.statistic, 4)
    3.2071
    """
    n = differences.size
    if n < 2 or not 0.0 < n_train < math.inf or not 0.0 < n_test < math.inf:
        return _invalid()
    factor = corrected_factor(n, n_test / n_train)
    return fold_t(differences, factor, n - 1.0, alternative)


@kernel
def bouckaert_frank_t(
    differences: FloatArray, test_ratio: float, alternative: int = 0
) -> FoldOutcome:
    """Bouckaert and Frank's corrected t test of r repetitions of k folds.

    Parameters
    ----------
    differences : ndarray of float64, shape (r, k)
        Score of a minus that of b in each repetition and fold.
    test_ratio : float
        Samples tested on divided by samples trained on: 1 / (k - 1) for k folds.
    alternative : int, optional
        ``TWO_SIDED`` (0), ``GREATER`` (1, a is better) or ``LESS`` (-1).

    Returns
    -------
    FoldOutcome
        Student's t with r k - 1 degrees of freedom. ``INVALID`` also for a ratio that
        is not positive.

    References
    ----------
    .. [1] R. R. Bouckaert, E. Frank, "Evaluating the replicability of significance
       tests for comparing learning algorithms", PAKDD (2004) 3-12.

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.kernels import bouckaert_frank_t
    >>> differences = np.array([[0.02, 0.01], [0.03, 0.02]])
    >>> round(bouckaert_frank_t(differences, 1.0).statistic, 4)
    2.1909
    """
    n = differences.size
    if n < 2 or not 0.0 < test_ratio < math.inf:
        return _invalid()
    factor = corrected_factor(n, test_ratio)
    return fold_t(differences.ravel(), factor, n - 1.0, alternative)


@kernel
def bouckaert_t(differences: FloatArray, alternative: int = 0) -> FoldOutcome:
    """Bouckaert's t test of 10 x 10-fold cross-validation with 10 degrees of freedom.

    Parameters
    ----------
    differences : ndarray of float64, shape (10, 10)
        Score of a minus that of b in each repetition and fold.
    alternative : int, optional
        ``TWO_SIDED`` (0), ``GREATER`` (1, a is better) or ``LESS`` (-1).

    Returns
    -------
    FoldOutcome
        The mean of all 100 divided by the root of their variance over 11, compared
        with t with 10 degrees of freedom. ``INVALID`` also for any other shape.

    References
    ----------
    .. [1] R. R. Bouckaert, "Choosing between two learning algorithms based on
       calibrated tests", ICML (2003) 51-58.

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.kernels import bouckaert_t
    >>> differences = 0.02 + np.sin(np.arange(100)).reshape(10, 10) / 20
    >>> round(bouckaert_t(differences).pvalue, 4)
    0.0889
    """
    if differences.shape[0] != 10 or differences.shape[1] != 10:
        return _invalid()
    return fold_t(differences.ravel(), 1.0 / (11.0 * 99.0), 10.0, alternative)


#: Codes of the 5 x 2 tests, for `two_fold_many`.
DIETTERICH_T: Final = 0
YILDIZ_T: Final = 1
ALPAYDIN_F: Final = 2
CALIBRATED_F: Final = 3


class BlockedConstants(NamedTuple):
    """Constant and degrees of freedom of the m x 2 test."""

    constant: float
    df: float
    status: int


@kernel
def _five_by_two(differences: FloatArray, method: int, alternative: int) -> FoldOutcome:
    if differences.shape[0] != 5 or differences.shape[1] != 2:
        return _invalid()
    largest = 0.0
    for i in range(5):
        for j in range(2):
            largest = max(largest, abs(differences[i, j]))
    exponent = _exponent(largest)
    unit = math.ldexp(1.0, -exponent)
    total, squares, within, farthest = 0.0, 0.0, 0.0, 0.0
    for i in range(5):
        x, y = differences[i, 0] * unit, differences[i, 1] * unit
        total += x + y
        squares += x * x + y * y
        deviation = 0.5 * (x - y)
        within += 2.0 * deviation * deviation
        farthest = max(farthest, abs(deviation))
    mean = total / 10.0
    if method == DIETTERICH_T:
        first = differences[0, 0] * unit
        return _quotient(first, within / 5.0, farthest, largest, exponent, 5.0, alternative)
    if method == YILDIZ_T:
        return _quotient(mean, within / 50.0, farthest, largest, exponent, 5.0, alternative)
    if largest == math.inf or math.isnan(squares):
        return _invalid()
    estimate = math.ldexp(mean, exponent)
    if farthest > _ROUNDING * largest * unit:
        ratio = squares / (2.0 * within)
        pvalue = snedecor_tail(10.0 if method == ALPAYDIN_F else 7.0, 5.0, ratio)
        return FoldOutcome(ratio, pvalue, estimate, math.nan, OK)
    if squares == 0.0:
        return FoldOutcome(0.0, 1.0, estimate, math.nan, DEGENERATE)
    return FoldOutcome(math.nan, math.nan, estimate, math.nan, UNDEFINED)


@kernel
def dietterich_t(differences: FloatArray, alternative: int = 0) -> FoldOutcome:
    """Dietterich's 5 x 2 cross-validated t test.

    Parameters
    ----------
    differences : ndarray of float64, shape (5, 2)
        Score of a minus that of b in each replication and fold.
    alternative : int, optional
        ``TWO_SIDED`` (0), ``GREATER`` (1, a is better) or ``LESS`` (-1).

    Returns
    -------
    FoldOutcome
        The first difference, which is the estimate, over the root of the mean variance
        within the replications: t with 5 degrees of freedom. ``INVALID`` also for any
        other shape.

    References
    ----------
    .. [1] T. G. Dietterich, "Approximate statistical tests for comparing supervised
       classification learning algorithms", Neural Computation 10 (1998) 1895-1923.

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.kernels import dietterich_t
    >>> x = np.array([[4, 1], [2, 3], [0, 2], [3, 3], [1, 2]]) / 100
    >>> round(dietterich_t(x).statistic, 4)
    3.266
    """
    return _five_by_two(differences, DIETTERICH_T, alternative)


@kernel
def yildiz_t(differences: FloatArray, alternative: int = 0) -> FoldOutcome:
    """Yildiz's combined 5 x 2 cross-validated t test.

    Parameters
    ----------
    differences : ndarray of float64, shape (5, 2)
        Score of a minus that of b in each replication and fold.
    alternative : int, optional
        ``TWO_SIDED`` (0), ``GREATER`` (1, a is better) or ``LESS`` (-1).

    Returns
    -------
    FoldOutcome
        The mean of all ten, as if they were independent, over the spread within the
        replications: t with 5 degrees of freedom. ``INVALID`` also for any other shape.

    References
    ----------
    .. [1] O. T. Yildiz, "Omnivariate rule induction using a novel pairwise statistical
       test", IEEE Transactions on Knowledge and Data Engineering 25 (2013) 2105-2118.

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.kernels import yildiz_t
    >>> x = np.array([[4, 1], [2, 3], [0, 2], [3, 3], [1, 2]]) / 100
    >>> round(yildiz_t(x).statistic, 4)
    5.4222
    """
    return _five_by_two(differences, YILDIZ_T, alternative)


@kernel
def alpaydin_f(differences: FloatArray) -> FoldOutcome:
    """Alpaydin's combined 5 x 2 cross-validated F test.

    Parameters
    ----------
    differences : ndarray of float64, shape (5, 2)
        Score of a minus that of b in each replication and fold.

    Returns
    -------
    FoldOutcome
        F with 10 and 5 degrees of freedom, upper tail; the estimate is the mean
        difference. ``INVALID`` also for any other shape.

    References
    ----------
    .. [1] E. Alpaydin, "Combined 5 x 2 cv F test for comparing supervised
       classification learning algorithms", Neural Computation 11 (1999) 1885-1892.

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.kernels import alpaydin_f
    >>> x = np.array([[4, 1], [2, 3], [0, 2], [3, 3], [1, 2]]) / 100
    >>> round(alpaydin_f(x).statistic, 4)
    3.8
    """
    return _five_by_two(differences, ALPAYDIN_F, TWO_SIDED)


@kernel
def calibrated_f(differences: FloatArray) -> FoldOutcome:
    """Alpaydin's F for balanced designs, with 7 and 5 degrees of freedom.

    Parameters
    ----------
    differences : ndarray of float64, shape (5, 2)
        Score of a minus that of b in each replication and fold of a balanced design.

    Returns
    -------
    FoldOutcome
        As `alpaydin_f`, with another p-value.

    References
    ----------
    .. [1] Y. Wang, J. Li, Y. Li, "Choosing between two classification learning
       algorithms based on calibrated balanced 5 x 2 cross-validated F-test", Neural
       Processing Letters 46 (2017) 1-13.

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.kernels import calibrated_f
    >>> x = np.array([[4, 1], [2, 3], [0, 2], [3, 3], [1, 2]]) / 100
    >>> round(calibrated_f(x).pvalue, 4)
    0.0804
    """
    return _five_by_two(differences, CALIBRATED_F, TWO_SIDED)


@kernel
def two_fold_many(
    differences: FloatArray, method: int, alternative: int, out: FloatArray, status: StatusArray
) -> None:
    """Write a 5 x 2 test, by ``DIETTERICH_T`` or another code, of (P, 5, 2), as `fold_t_many`."""
    for i in range(differences.shape[0]):
        outcome = _five_by_two(differences[i], method, alternative)
        out[0, i], out[1, i], out[2, i], out[3, i], status[i] = outcome


@kernel
def blocked_constants(m: int, rho1: float, rho2: float) -> BlockedConstants:
    """Constant and degrees of freedom of the m x 2 test.

    Parameters
    ----------
    m : int
        Replications, two or more.
    rho1 : float
        Correlation of the two differences of one replication, in [-1, 1].
    rho2 : float
        Correlation of differences of two replications, in [0, (1 + rho1) / 2].

    Returns
    -------
    BlockedConstants
        NaN and ``INVALID`` outside these bounds, NaN and ``UNDEFINED`` if the mean or
        all deviations from it would be constant.

    Examples
    --------
    >>> from fastcmp.kernels import blocked_constants
    >>> blocked_constants(3, 0.0, 0.5)
    BlockedConstants(constant=1.0, df=3.0, status=0)
    """
    inside = -1.0 <= rho1 <= 1.0 and 0.0 <= rho2 <= 0.5 * (1.0 + rho1)
    if m < 2 or not inside:
        return BlockedConstants(math.nan, math.nan, INVALID)
    shared = 1.0 + rho1 + 2.0 * (m - 1.0) * rho2  # 2 m times the variance of the mean
    between = 1.0 + rho1 - 2.0 * rho2
    own = 2.0 * m - shared
    squares = m * square(1.0 - rho1) + (m - 1.0) * square(between)
    if not (shared > 0.0 and own > 0.0 and squares > 0.0):
        return BlockedConstants(math.nan, math.nan, UNDEFINED)
    df = square(2.0 * m * (1.0 - rho2) - between) / squares
    return BlockedConstants(math.sqrt(shared / own), df, OK)


@kernel
def blocked_t(
    differences: FloatArray, constant: float, df: float, alternative: int = 0
) -> FoldOutcome:
    """Student's t test of m balanced replications of two-fold cross-validation.

    Parameters
    ----------
    differences : ndarray of float64, shape (m, 2)
        Score of a minus that of b in each replication and fold.
    constant, df : float
        1 and 2 m - 1 for the blocked 3 x 2 test, or what `blocked_constants` gives.
    alternative : int, optional
        ``TWO_SIDED`` (0), ``GREATER`` (1, a is better) or ``LESS`` (-1).

    Returns
    -------
    FoldOutcome
        The mean over `constant` times the root of the mean squared deviation.

    References
    ----------
    .. [1] Y. Wang, R. Wang, H. Jia, J. Li, "Blocked 3 x 2 cross-validated t-test for
       comparing supervised classification learning algorithms", Neural Computation 26
       (2014) 208-235.

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.kernels import blocked_t
    >>> x = np.array([[4, 1], [2, 3], [0, 2]]) / 100
    >>> round(blocked_t(x, 1.0, 5.0).statistic, 4)
    1.5492
    """
    if not constant > 0.0:
        return _invalid()
    factor = constant * constant / differences.size
    return fold_t(differences.ravel(), factor, df, alternative)


# Tests of a mean against the normal distribution.


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
    exponent = _exponent(largest)
    unit = math.ldexp(1.0, -exponent)
    squares, farthest = 0.0, 0.0
    for m in range(n_cuts):
        first = _scaled_mean(half_differences[m, 0], unit)
        gap = first - _scaled_mean(half_differences[m, 1], unit)
        squares += gap * gap
        farthest = max(farthest, abs(gap))
    mean = _scaled_mean(differences, unit)
    variance = squares / (2.0 * n_cuts)
    return _quotient(mean, variance, farthest, largest, exponent, math.inf, alternative)


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
        out[0, i], out[1, i], out[2, i], out[3, i], status[i] = outcome


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
    variance = (squares / (sizes - 1.0)).mean() / n
    return _quotient(mean, variance, farthest, largest, exponent, math.inf, alternative)


@kernel
def bayle_z_many(  # one row of data, one column of answers
    differences: FloatArray,
    folds: IntArray,
    n_folds: int,
    alternative: int,
    out: FloatArray,
    status: StatusArray,
) -> None:
    """Write `bayle_z_in` of each row of (P, n), as `fold_t_many`."""
    for i in range(differences.shape[0]):
        outcome = bayle_z_in(differences[i], folds, n_folds, alternative)
        out[0, i], out[1, i], out[2, i], out[3, i], status[i] = outcome


# The posterior of the mean difference of two models, whose folds are correlated.


@kernel
def paired_gains(
    scores_a: FloatArray,
    scores_b: FloatArray,
    lower_is_better: bool,
    gains: FloatArray,
    differences: FloatArray,
) -> tuple[float, float, float, float, float]:
    """Write the scores of two models such that more is better, (2 n,), and their differences.

    Gains are whole numbers where the scores have few decimals: times a scale. Returns that
    scale, the largest gain without its sign, the least and the largest score, and the mean
    difference; NaN where a score is not finite, or too large.
    """
    n = scores_a.size
    sign = -1.0 if lower_is_better else 1.0
    low, high = math.inf, -math.inf
    for i in range(n):
        a, b = scores_a[i], scores_b[i]
        if not (abs(a) < LARGEST and abs(b) < LARGEST):
            return math.nan, math.nan, math.nan, math.nan, math.nan
        low, high = min(low, a, b), max(high, a, b)
        gains[i], gains[n + i] = sign * a, sign * b
    scale = decimal_scale(gains)
    if scale > 0.0:
        for i in range(2 * n):
            gains[i] = float(math.floor(gains[i] * scale + 0.5))
    scale = scale if scale > 0.0 else 1.0
    largest, total = 0.0, 0.0
    for i in range(n):
        largest = max(largest, abs(gains[i]), abs(gains[n + i]))
        differences[i] = (gains[i] - gains[n + i]) / scale
        total += differences[i]
    return scale, largest, low, high, total / n


@kernel
def correlated_posterior(
    differences: FloatArray, correlation: float, rope: float, tolerance: float
) -> tuple[float, float, float, float, float, float]:
    """Posterior of the mean difference of folds with a correlation (Corani and Benavoli 2015).

    Probabilities above, within and below the rope, and above 0; the mean, and the scale of the
    Student distribution, which is 0 where no differences are farther apart than the tolerance.
    """
    n = differences.size
    exponent = _exponent(_largest(differences))
    unit = math.ldexp(1.0, -exponent)
    mean = _scaled_mean(differences, unit)
    squares, low, high = 0.0, math.inf, -math.inf
    for x in differences:
        low, high = min(low, x), max(high, x)
        squares += square(x * unit - mean)
    end, near = rope * unit, tolerance * unit
    if high - low <= tolerance:
        positive = 0.5 * (1.0 + (mean > near) - (mean < -near))
        mean_difference = math.ldexp(mean, exponent)
        if mean > end + near:
            return 1.0, 0.0, 0.0, positive, mean_difference, 0.0
        if mean < -end - near:
            return 0.0, 0.0, 1.0, positive, mean_difference, 0.0
        if rope > 0.0:
            return 0.0, 1.0, 0.0, positive, mean_difference, 0.0
        return 0.5, 0.0, 0.5, 0.5, mean_difference, 0.0
    scale = math.sqrt(squares / (n - 1)) * math.sqrt(1.0 / n + correlation / (1.0 - correlation))
    df, size = n - 1.0, abs(mean)
    within = 0.0
    if rope > 0.0:  # from the nearer tail, so that small probabilities are exact
        within = stdtr(df, (end - size) / scale) - stdtr(df, (-end - size) / scale)
    return (
        stdtr(df, (mean - end) / scale),
        within,
        stdtr(df, (-end - mean) / scale),
        stdtr(df, mean / scale),
        math.ldexp(mean, exponent),
        math.ldexp(scale, exponent),
    )
