"""Student's t tests on the differences of folds.

All is computed in units of a power of two near the largest difference: squares of
scores of any size neither under- nor overflow, and the scaling loses no digit.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, NamedTuple

from fastcmp._jit import helper, inlined, kernel
from fastcmp.kernels.special import snedecor_tail, square, student_tails
from fastcmp.kernels.status import DEGENERATE, INVALID, OK, TWO_SIDED, UNDEFINED

if TYPE_CHECKING:
    from fastcmp.kernels.typing import FloatArray, StatusArray

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


class _Moments(NamedTuple):
    """Of differences divided by 2**exponent."""

    exponent: int
    mean: float
    squares: float  # of deviations from the mean
    farthest: float  # deviation
    rounding: float  # the largest deviation that counts as no spread


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
def _without_spread(numerator: float, exponent: int) -> FoldOutcome:
    estimate = math.ldexp(numerator, exponent)
    if numerator == 0.0:
        return FoldOutcome(0.0, 1.0, estimate, 0.0, DEGENERATE)
    return FoldOutcome(math.nan, math.nan, estimate, 0.0, UNDEFINED)


@kernel
def _student(
    numerator: float, error: float, exponent: int, df: float, alternative: int
) -> FoldOutcome:
    """Divide an estimate by its standard error, both in units of 2**exponent."""
    t = numerator / error
    return FoldOutcome(
        t,
        _tail(t, df, alternative),
        math.ldexp(numerator, exponent),
        math.ldexp(error, exponent),
        OK,
    )


@kernel
def _snedecor(ratio: float, df1: float, df2: float, estimate: float) -> FoldOutcome:
    return FoldOutcome(ratio, snedecor_tail(df1, df2, ratio), estimate, math.nan, OK)


@kernel
def _moments(differences: FloatArray) -> _Moments:
    largest = 0.0
    for x in differences:
        largest = max(largest, abs(x))
    if largest == math.inf:
        return _Moments(0, math.nan, math.nan, math.nan, math.nan)
    exponent = _exponent(largest)
    unit = math.ldexp(1.0, -exponent)
    total = 0.0
    for x in differences:
        total += x * unit
    mean = total / differences.size
    squares, farthest = 0.0, 0.0
    for x in differences:
        deviation = x * unit - mean
        squares += deviation * deviation
        farthest = max(farthest, abs(deviation))
    return _Moments(exponent, mean, squares, farthest, _ROUNDING * largest * unit)


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
    found = _moments(differences)
    if math.isnan(found.squares):
        return _invalid()
    if found.farthest <= found.rounding:
        return _without_spread(found.mean, found.exponent)
    error = math.sqrt(factor * found.squares)
    return _student(found.mean, error, found.exponent, df, alternative)


@inlined
def _store(outcome: FoldOutcome, i: int, out: FloatArray, status: StatusArray) -> None:
    out[0, i] = outcome.statistic
    out[1, i] = outcome.pvalue
    out[2, i] = outcome.estimate
    out[3, i] = outcome.standard_error
    status[i] = outcome.status


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
        _store(fold_t(differences[i], factor, df, alternative), i, out, status)


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


class _Pairs(NamedTuple):
    """Of differences divided by 2**exponent."""

    exponent: int
    first: float
    mean: float
    squares: float  # of the differences
    within: float  # squared deviations from the mean of each pair
    spread: bool
    rounding: float


class BlockedConstants(NamedTuple):
    """Constant and degrees of freedom of the m x 2 test."""

    constant: float
    df: float
    status: int


@kernel
def _pairs(differences: FloatArray) -> _Pairs:
    largest = 0.0
    for i in range(5):
        for j in range(2):
            largest = max(largest, abs(differences[i, j]))
    if largest == math.inf:
        return _Pairs(0, math.nan, math.nan, math.nan, math.nan, False, math.nan)
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
    rounding = _ROUNDING * largest * unit
    first = differences[0, 0] * unit
    mean = total / 10.0
    return _Pairs(exponent, first, mean, squares, within, farthest > rounding, rounding)


@kernel
def _five_by_two_t(differences: FloatArray, combined: bool, alternative: int) -> FoldOutcome:
    if differences.shape[0] != 5 or differences.shape[1] != 2:
        return _invalid()
    pairs = _pairs(differences)
    if math.isnan(pairs.squares):
        return _invalid()
    numerator = pairs.mean if combined else pairs.first
    if not pairs.spread:
        if abs(numerator) <= pairs.rounding:
            numerator = 0.0
        return _without_spread(numerator, pairs.exponent)
    error = math.sqrt(pairs.within / (50.0 if combined else 5.0))
    return _student(numerator, error, pairs.exponent, 5.0, alternative)


@kernel
def _five_by_two_f(differences: FloatArray, df1: float) -> FoldOutcome:
    if differences.shape[0] != 5 or differences.shape[1] != 2:
        return _invalid()
    pairs = _pairs(differences)
    if math.isnan(pairs.squares):
        return _invalid()
    if not pairs.spread:
        limit = _without_spread(pairs.squares, 0)
        statistic, pvalue, _, _, status = limit
        estimate = math.ldexp(pairs.mean, pairs.exponent)
        return FoldOutcome(statistic, pvalue, estimate, math.nan, status)
    ratio = pairs.squares / (2.0 * pairs.within)
    return _snedecor(ratio, df1, 5.0, math.ldexp(pairs.mean, pairs.exponent))


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
    return _five_by_two_t(differences, False, alternative)


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
    return _five_by_two_t(differences, True, alternative)


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
    return _five_by_two_f(differences, 10.0)


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
    return _five_by_two_f(differences, 7.0)


@kernel
def two_fold_many(
    differences: FloatArray, method: int, alternative: int, out: FloatArray, status: StatusArray
) -> None:
    """Write a 5 x 2 test, by ``DIETTERICH_T`` or another code, of (P, 5, 2), as `fold_t_many`."""
    for i in range(differences.shape[0]):
        if method == DIETTERICH_T:
            outcome = dietterich_t(differences[i], alternative)
        elif method == YILDIZ_T:
            outcome = yildiz_t(differences[i], alternative)
        elif method == ALPAYDIN_F:
            outcome = alpaydin_f(differences[i])
        else:
            outcome = calibrated_f(differences[i])
        _store(outcome, i, out, status)


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
