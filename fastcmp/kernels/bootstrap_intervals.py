"""Intervals and p-values from sorted draws of a bootstrap."""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from fastcmp._jit import kernel
from fastcmp.kernels.special import ndtri
from fastcmp.kernels.status import DEGENERATE, GREATER, LESS, OK, UNDEFINED
from fastcmp.kernels.typing import FloatArray, StatusArray

PERCENTILE: Final = 0
BASIC: Final = 1
BCA: Final = 2
STUDENTIZED: Final = 3


@kernel
def quantile_sorted(ascending: FloatArray, probability: float) -> float:
    """Read a quantile off sorted numbers, by linear interpolation.

    Parameters
    ----------
    ascending : ndarray of float64, shape (n,)
        The numbers, sorted.
    probability : float
        In [0, 1].

    Returns
    -------
    float
        As `numpy.quantile`, R's type 7; NaN where there is none.

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.kernels import quantile_sorted
    >>> quantile_sorted(np.array([1.0, 2.0, 4.0]), 0.75)
    3.0
    """
    if ascending.size == 0 or not 0.0 <= probability <= 1.0:
        return math.nan
    place = probability * (ascending.size - 1)
    k = min(int(place), ascending.size - 1)
    part = place - k
    if part == 0.0:
        return ascending[k]
    return ascending[k] + part * (ascending[k + 1] - ascending[k])


@kernel
def percentile_interval(
    ascending: FloatArray, confidence_level: float = 0.95
) -> tuple[float, float]:
    """Take quantiles of the draws as an interval.

    Parameters
    ----------
    ascending : ndarray of float64, shape (R,)
        The estimate on each draw, sorted.
    confidence_level : float, optional
        In (0, 1).

    Returns
    -------
    tuple of float
        Both ends.

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.kernels import percentile_interval
    >>> percentile_interval(np.arange(9.0), 0.5)
    (2.0, 6.0)
    """
    tail = 0.5 * (1.0 - confidence_level)
    low = quantile_sorted(ascending, tail)
    return low, quantile_sorted(ascending, 1.0 - tail)


@kernel
def basic_interval(
    ascending: FloatArray, estimate: float, confidence_level: float = 0.95
) -> tuple[float, float]:
    """Mirror the percentile interval at the estimate.

    Parameters
    ----------
    ascending : ndarray of float64, shape (R,)
        The estimate on each draw, sorted.
    estimate : float
        That of the data.
    confidence_level : float, optional
        In (0, 1).

    Returns
    -------
    tuple of float
        Both ends, 2 `estimate` minus those of `percentile_interval`.

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.kernels import basic_interval
    >>> basic_interval(np.arange(9.0), 5.0, 0.5)
    (4.0, 8.0)
    """
    low, high = percentile_interval(ascending, confidence_level)
    return 2.0 * estimate - high, 2.0 * estimate - low


@kernel
def bca_interval(
    ascending: FloatArray,
    estimate: float,
    acceleration: float,
    confidence_level: float = 0.95,
    tolerance: float = 0.0,
) -> tuple[float, float, float]:
    """Compute Efron's bias-corrected and accelerated interval.

    Parameters
    ----------
    ascending : ndarray of float64, shape (R,)
        The estimate on each draw, sorted.
    estimate : float
        That of the data.
    acceleration : float
        Such as `jackknife_acceleration`.
    confidence_level : float, optional
        In (0, 1).
    tolerance : float, optional
        Draws this near to the estimate equal it.

    Returns
    -------
    tuple of float
        Both ends and the bias correction z0, the normal quantile of the proportion of
        draws below the estimate, equal ones counted half. NaN where all draws lie on
        one side of the estimate.

    References
    ----------
    .. [1] B. Efron, "Better bootstrap confidence intervals", Journal of the American
       Statistical Association 82 (1987) 171-185.

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.kernels import bca_interval
    >>> low, high, z0 = bca_interval(np.arange(9.0), 4.0, 0.1, 0.5)
    >>> round(low, 4), round(high, 4), z0
    (2.1099, 6.122, 0.0)
    """
    below = int(np.searchsorted(ascending, estimate - tolerance))
    equal = int(np.searchsorted(ascending, estimate + tolerance, side="right")) - below
    low, high, z0 = bca_levels(below, equal, ascending.size, acceleration, confidence_level)
    low, high = quantile_sorted(ascending, low), quantile_sorted(ascending, high)
    return low, high, z0


@kernel
def bca_levels(
    n_below: int,
    n_equal: int,
    n_resamples: int,
    acceleration: float,
    confidence_level: float = 0.95,
) -> tuple[float, float, float]:
    """Compute the levels at which a BCa interval reads quantiles of the draws.

    Parameters
    ----------
    n_below, n_equal : int
        Draws below the estimate, and equal to it.
    n_resamples : int
        All draws.
    acceleration : float
        Such as `jackknife_acceleration`.
    confidence_level : float, optional
        In (0, 1).

    Returns
    -------
    tuple of float
        Lower and upper level, and the bias correction z0; see `bca_interval`.

    Examples
    --------
    >>> from fastcmp.kernels import bca_levels
    >>> low, high, z0 = bca_levels(1150, 3, 1999, 0.00334, 0.95)
    >>> round(low, 4), round(high, 4), round(z0, 4)
    (0.0587, 0.9908, 0.1918)
    """
    z0 = ndtri((n_below + 0.5 * n_equal) / n_resamples)
    tail = ndtri(0.5 * (1.0 - confidence_level))
    return _shifted(tail, z0, acceleration), _shifted(-tail, z0, acceleration), z0


@kernel
def _shifted(z: float, z0: float, acceleration: float) -> float:
    """The probability whose quantile is the end of a BCa interval."""
    if not abs(z0) < math.inf:
        return math.nan
    z += z0
    return 0.5 * math.erfc(-(z0 + z / (1.0 - acceleration * z)) / math.sqrt(2.0))


@kernel
def studentized_interval(
    ascending: FloatArray, estimate: float, standard_error: float, confidence_level: float = 0.95
) -> tuple[float, float]:
    """Compute the bootstrap-t interval.

    Parameters
    ----------
    ascending : ndarray of float64, shape (R,)
        Of each draw its estimate minus that of the data, divided by the standard error
        in the draw; sorted.
    estimate, standard_error : float
        Of the data.
    confidence_level : float, optional
        In (0, 1).

    Returns
    -------
    tuple of float
        Both ends: the estimate minus quantiles of the draws times the standard error.

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.kernels import studentized_interval
    >>> studentized_interval(np.arange(-3.0, 6.0), 10.0, 2.0, 0.5)
    (4.0, 12.0)
    """
    low, high = percentile_interval(ascending, confidence_level)
    return estimate - high * standard_error, estimate - low * standard_error


@kernel
def bootstrap_pvalue(
    ascending: FloatArray,
    estimate: float,
    kind: int,
    scale: float,
    tolerance: float = 0.0,
    alternative: int = 0,
) -> float:
    """Test whether what was estimated is 0, by the draws of a bootstrap.

    Parameters
    ----------
    ascending : ndarray of float64, shape (R,)
        The estimate on each draw, sorted; for ``STUDENTIZED`` as in
        `studentized_interval`.
    estimate : float
        That of the data.
    kind : int
        ``PERCENTILE``, ``BASIC``, ``BCA`` or ``STUDENTIZED``: the interval to invert.
    scale : float
        For ``STUDENTIZED`` the standard error, for ``BCA`` the acceleration.
    tolerance : float, optional
        Draws this near to a limit count as beyond it.
    alternative : int, optional
        ``TWO_SIDED`` (0), ``GREATER`` (1) or ``LESS`` (-1).

    Returns
    -------
    float
        For ``GREATER`` the proportion (k + 1) / (R + 1), with k the draws at most 0, or
        at least 2 `estimate` for ``BASIC``, or at least `estimate` / standard error for
        ``STUDENTIZED``. For ``BCA`` that proportion b is turned into
        Phi(y / (1 + a y) - z0) with y = Phi^-1(b) - z0, the level at which the interval
        ends at 0, and at least 1 / (R + 1). Two-sided twice the smaller, at most 1.

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.kernels import PERCENTILE, bootstrap_pvalue
    >>> bootstrap_pvalue(np.arange(-1.0, 8.0), 3.0, PERCENTILE, 0.0)
    0.6
    """
    n = ascending.size
    limit = 0.0
    if kind == BASIC:
        limit = 2.0 * estimate
    elif kind == STUDENTIZED:
        limit, tolerance = estimate / scale, tolerance / scale
    low = (int(np.searchsorted(ascending, limit + tolerance, side="right")) + 1.0) / (n + 1.0)
    high = (n - int(np.searchsorted(ascending, limit - tolerance)) + 1.0) / (n + 1.0)
    if kind == BCA:
        below = int(np.searchsorted(ascending, estimate - tolerance))
        upto = int(np.searchsorted(ascending, estimate + tolerance, side="right"))
        z0 = ndtri(0.5 * (below + upto) / n)
        if not abs(z0) < math.inf:
            return math.nan
        low = max(_level_at(low, z0, scale), 1.0 / (n + 1.0))
        high = max(_level_at(high, -z0, -scale), 1.0 / (n + 1.0))
    elif kind != PERCENTILE:
        low, high = high, low
    if alternative == GREATER:
        return low
    if alternative == LESS:
        return high
    return min(1.0, 2.0 * min(low, high))


@kernel
def _level_at(proportion: float, z0: float, acceleration: float) -> float:
    """Find the one-sided level at which a lower BCa limit is this quantile."""
    if proportion >= 1.0:
        return 1.0
    y = ndtri(proportion) - z0
    if 1.0 + acceleration * y <= 0.0:  # beyond what any level reaches
        return 0.0 if y < 0.0 else 1.0
    return 0.5 * math.erfc(-(y / (1.0 + acceleration * y) - z0) / math.sqrt(2.0))


@kernel
def bootstrap_rows(
    ascending: FloatArray,
    scales: FloatArray,
    options: tuple[int, int, float],
    out: FloatArray,
    status: StatusArray,
) -> None:
    """Evaluate the sorted draws of many pairs.

    `scales`, shape (P, 4), holds the estimate; acceleration or standard error; the
    tolerance; and how many draws of the row are used. `options` are the kind of
    interval, the alternative and the two-sided level; `out`, shape (P, 3), receives the
    p-value and both ends.
    """
    kind, alternative, level = options
    for p in range(ascending.shape[0]):
        estimate, scale, tolerance, used = scales[p]
        row = ascending[p, : int(used)]
        if kind == STUDENTIZED and not scale > 0.0:  # then no draw differs
            least = (1.0 if alternative else 2.0) / (ascending.shape[1] + 1.0)
            away = abs(estimate) if alternative == 0 else alternative * estimate
            out[p, 0] = min(1.0, least) if away > tolerance else 1.0
            out[p, 1] = out[p, 2] = estimate
            status[p] = DEGENERATE
            continue
        if row.size == 0:
            out[p] = math.nan
            status[p] = UNDEFINED
            continue
        status[p] = OK
        if kind == STUDENTIZED:
            low, high = studentized_interval(row, estimate, scale, level)
        elif kind == BASIC:
            low, high = basic_interval(row, estimate, level)
        elif kind == BCA:
            low, high, _ = bca_interval(row, estimate, scale, level, tolerance)
        else:
            low, high = percentile_interval(row, level)
        pvalue = bootstrap_pvalue(row, estimate, kind, scale, tolerance, alternative)
        out[p, 0], out[p, 1], out[p, 2] = pvalue, low, high
        if low != low:  # all draws on one side
            out[p, 0], status[p] = math.nan, UNDEFINED
        if kind != STUDENTIZED and row[row.size - 1] - row[0] <= tolerance:
            out[p, 1] = out[p, 2] = estimate
            status[p] = DEGENERATE
