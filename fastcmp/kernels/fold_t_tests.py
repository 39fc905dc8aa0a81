"""Student's t tests on the differences of folds.

All is computed in units of a power of two near the largest difference: squares of
scores of any size neither under- nor overflow, and the scaling loses no digit.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, NamedTuple

from fastcmp._jit import helper, inlined, kernel
from fastcmp.kernels.status import DEGENERATE, INVALID, OK, TWO_SIDED, UNDEFINED
from fastcmp.kernels.tails import snedecor_tail, student_tails

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
    """Run `fold_t` on each row.

    Parameters
    ----------
    differences : ndarray of float64, shape (N, J)
        Fold differences, one row a test.
    factor, df : float
        As in `fold_t`.
    alternative : int
        ``TWO_SIDED``, ``GREATER`` or ``LESS``.
    out : ndarray of float64, shape (4, N)
        Receives statistics, p-values, estimates and standard errors.
    status : ndarray of uint8, shape (N,)
        Receives a `Status` for each.

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.kernels import fold_t_many
    >>> rows = np.array([[0.02, 0.01, 0.03, 0.02], [0.0, 0.0, 0.0, 0.0]])
    >>> out, status = np.empty((4, 2)), np.empty(2, np.uint8)
    >>> fold_t_many(rows, 1 / 12, 3.0, 0, out, status)
    >>> out[1].round(4).tolist(), status.tolist()
    ([0.0163, 1.0], [0, 1])
    """
    for i in range(differences.shape[0]):
        _store(fold_t(differences[i], factor, df, alternative), i, out, status)
