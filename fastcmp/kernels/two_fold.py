"""Tests of replicated two-fold cross-validation, from the differences of all folds."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, NamedTuple

from fastcmp._jit import kernel
from fastcmp.kernels.fold_t_tests import (
    _ROUNDING,
    FoldOutcome,
    _exponent,
    _invalid,
    _snedecor,
    _store,
    _student,
    _without_spread,
    fold_t,
)
from fastcmp.kernels.status import INVALID, OK, UNDEFINED

if TYPE_CHECKING:
    from fastcmp.kernels.typing import FloatArray, StatusArray

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
    differences: FloatArray,
    method: int,
    alternative: int,
    out: FloatArray,
    status: StatusArray,
) -> None:
    """Run one of the 5 x 2 tests on many sets of differences.

    Parameters
    ----------
    differences : ndarray of float64, shape (N, 5, 2)
        Differences, one 5 x 2 block a test.
    method : int
        ``DIETTERICH_T``, ``YILDIZ_T``, ``ALPAYDIN_F`` or ``CALIBRATED_F``.
    alternative : int
        ``TWO_SIDED``, ``GREATER`` or ``LESS``; the F tests do not look at it.
    out : ndarray of float64, shape (4, N)
        Receives statistics, p-values, estimates and standard errors.
    status : ndarray of uint8, shape (N,)
        Receives a `Status` for each.

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.kernels import YILDIZ_T, two_fold_many
    >>> x = np.array([[[4, 1], [2, 3], [0, 2], [3, 3], [1, 2]]]) / 100
    >>> out, status = np.empty((4, 1)), np.empty(1, np.uint8)
    >>> two_fold_many(x, YILDIZ_T, 0, out, status)
    >>> out[0].round(4).tolist()
    [5.4222]
    """
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
    squares = m * (1.0 - rho1) ** 2 + (m - 1.0) * between**2
    if not (shared > 0.0 and own > 0.0 and squares > 0.0):
        return BlockedConstants(math.nan, math.nan, UNDEFINED)
    df = (2.0 * m * (1.0 - rho2) - between) ** 2 / squares
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
