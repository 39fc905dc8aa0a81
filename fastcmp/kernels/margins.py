"""Tango's score test of a difference of two paired proportions that is not 0.

Only model a is right on ``only_a`` of n samples, only model b on ``only_b``. The
difference is (only_a - only_b) / n, the accuracy of a minus that of b.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from fastcmp._jit import helper, kernel
from fastcmp.kernels.intervals import _impossible, _normal_quantile
from fastcmp.kernels.status import DEGENERATE, INVALID, OK, TWO_SIDED, Interval, Outcome
from fastcmp.kernels.tango_score import _tango, _tango_variance

if TYPE_CHECKING:
    from fastcmp.kernels.typing import FloatArray, IntArray

_ROOT_HALF = math.sqrt(0.5)


@helper
def _upper_tail(z: float) -> float:
    return 0.5 * math.erfc(_ROOT_HALF * z)


@helper
def _tango_z(only_a: float, only_b: float, n: float, difference: float) -> float:
    """Score with its sign; infinite without variance, 0 where nothing differs."""
    distance = only_a - only_b - n * difference
    if distance == 0.0:
        return 0.0
    return distance / math.sqrt(_tango_variance(only_a, only_b, n, difference))


@kernel
def tango_test(
    only_a: int, only_b: int, n: int, difference: float, alternative: int = 0
) -> Outcome:
    """Tango's score test of a difference of two paired proportions.

    H0 says that the accuracy of a minus that of b is `difference`. At -margin the
    alternative ``GREATER`` is non-inferiority of a, at +margin superiority by more than
    the margin. The same statistic is known as Nam's. At 0 it is McNemar's asymptotic
    test.

    Parameters
    ----------
    only_a, only_b : int
        Samples that only model a, and only model b, classified correctly.
    n : int
        All samples.
    difference : float
        Under H0, in (-1, 1).
    alternative : int, optional
        ``TWO_SIDED`` (0), ``GREATER`` (1) or ``LESS`` (-1).

    Returns
    -------
    Outcome
        ``statistic``, a standard normal score above 0 where a does better than H0 says,
        ``pvalue`` and ``status``; DEGENERATE where both counts and the difference are
        0, INVALID and NaN for impossible counts.

    References
    ----------
    .. [1] T. Tango, "Equivalence test and confidence interval for the difference in
       proportions for the paired-sample design", Statistics in Medicine 17 (1998)
       891-908.
    .. [2] J.-M. Nam, "Establishing equivalence of two treatments and sample size
       requirements in matched-pairs design", Biometrics 53 (1997) 1422-1430.

    Examples
    --------
    >>> from fastcmp.kernels import GREATER, tango_test
    >>> found = tango_test(0, 1, 44, -0.05, GREATER)
    >>> round(found.statistic, 6), round(found.pvalue, 6)
    (0.830057, 0.203253)
    """
    concordant = n - only_a - only_b
    if _impossible(concordant, only_a, only_b, 0, 0.0) or not abs(difference) < 1.0:
        return Outcome(math.nan, math.nan, INVALID)
    z = _tango_z(float(only_a), float(only_b), float(n), difference)
    status = OK
    if difference == 0.0 and only_a + only_b == 0:
        status = DEGENERATE
    if alternative == TWO_SIDED:
        return Outcome(z, 2.0 * _upper_tail(abs(z)), status)
    return Outcome(z, _upper_tail(z if alternative > 0 else -z), status)


@kernel
def tango_margin_many(
    only_a: IntArray,
    only_b: IntArray,
    n: IntArray,
    margin: FloatArray,
    alpha: float,
    found: FloatArray,
) -> None:
    """Test many differences against margins, and work out intervals.

    Parameters
    ----------
    only_a, only_b, n : ndarray of int64, shape (P,)
        Discordant counts, and all samples.
    margin : ndarray of float64, shape (P,)
        In (0, 1).
    alpha : float
        The intervals have the levels 1 - alpha and 1 - 2 alpha.
    found : ndarray of float64, shape (10, P)
        Receives the scores at -margin and at margin; the p-values of H0: the difference
        is -margin or less, of H0: it is margin or more, of H0: it is margin or less;
        both ends of either interval, the wider first; and the variance of n times the
        difference at the margin, for the first. NaN for impossible counts.

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.kernels import tango_margin_many
    >>> counts, found = np.array([[210], [190], [10_000]]), np.empty((10, 1))
    >>> tango_margin_many(*counts, np.array([0.02]), 0.05, found)
    >>> found[:2, 0].round(3).tolist(), found[5:7, 0].round(4).tolist()
    ([10.013, -8.311], [-0.0019, 0.0059])
    """
    z_outer = _normal_quantile(1.0 - alpha)
    z_inner = _normal_quantile(1.0 - 2.0 * alpha)
    for i in range(only_a.size):
        a, b, m, shift = float(only_a[i]), float(only_b[i]), float(n[i]), margin[i]
        if _impossible(m - a - b, a, b, 0.0, z_inner) or not 0.0 < shift < 1.0:
            found[:, i] = math.nan
            continue
        lower = _tango_z(a, b, m, -shift)
        upper = _tango_z(a, b, m, shift)
        found[0, i] = lower
        found[1, i] = upper
        found[2, i] = _upper_tail(lower)
        found[3, i] = _upper_tail(-upper)
        found[4, i] = _upper_tail(upper)
        outer: Interval = _tango(a, b, m, z_outer)
        inner: Interval = _tango(a, b, m, z_inner)
        found[5, i] = outer.low
        found[6, i] = outer.high
        found[7, i] = inner.low
        found[8, i] = inner.high
        found[9, i] = _tango_variance(a, b, m, -shift)
