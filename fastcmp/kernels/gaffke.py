"""Gaffke's bound for means of values between -1 and 1, by units that have weights."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from fastcmp._jit import kernel
from fastcmp.kernels.special import ndtri

if TYPE_CHECKING:
    from fastcmp.kernels.typing import FloatArray

_STEPS: Final = 60  # of a search that halves its range in the worst case
_NEAR: Final = 1e-4  # of a normal score, where a quotient becomes its limit


@kernel
def bounded_score(gain: FloatArray, weight: FloatArray, count: FloatArray, at: float) -> float:
    """Compute the normal score of the p-value of H0: the mean is `at` or less.

    Parameters
    ----------
    gain, weight, count : ndarray of float64, shape (J,)
        Of each kind of units the sum of its weighted values, between -weight and weight,
        the sum of its weights, and how many there are.
    at : float
        In [-1, 1].

    Returns
    -------
    float
        z, where the p-value is the lower tail of z; infinite where it is 0 or 1.

    Notes
    -----
    Units get independent exponential weights E, and one more unit joins them that is as
    heavy as the heaviest and has the value -1. The p-value is the probability that the
    weighted mean is `at` or less, P(sum a E <= 0) with a = gain - at * weight. For units
    of one weight that are 0 or -1 it is Clopper and Pearson's. By Lugannani and Rice's
    saddle point in Barndorff-Nielsen's form, up to 3% above the exact value. O(J).

    References
    ----------
    .. [1] N. Gaffke, "Three test statistics for a nonparametric one-sided hypothesis on
       the mean of a nonnegative variable", Mathematical Methods of Statistics 14 (2005)
       451-467.

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.kernels.gaffke import bounded_score
    >>> units = np.array([0.0]), np.array([1.0]), np.array([36.0])
    >>> round(bounded_score(*units, -0.08), 3)  # 36 units, of which none fails
    -1.64
    """
    heaviest = 0.0
    for j in range(weight.size):
        if count[j] > 0.0:
            heaviest = max(heaviest, weight[j])
    last = -(1.0 + at) * heaviest
    largest, least = max(last, 0.0), min(last, 0.0)
    for j in range(weight.size):
        if count[j] > 0.0:
            a = gain[j] - at * weight[j]
            largest, least = max(largest, a), min(least, a)
    if largest <= 1e-12 * max(largest, -least):
        return math.inf
    if least >= -1e-12 * largest:
        return -math.inf
    # The root of the slope of the cumulant generating function -sum log(1 - a t).
    low, high, t = 1.0 / least, 1.0 / largest, 0.0
    slope = curve = 0.0
    for _ in range(_STEPS):
        q = last / (1.0 - last * t)
        slope, curve = q, q * q
        for j in range(weight.size):
            if count[j] > 0.0:
                a = gain[j] - at * weight[j]
                q = a / (1.0 - a * t)
                slope += count[j] * q
                curve += count[j] * q * q
        if abs(slope) <= 1e-9 * math.sqrt(curve):
            break
        if slope < 0.0:
            low = t
        else:
            high = t
        t -= slope / curve
        if not low < t < high:
            t = 0.5 * (low + high)
    q = last / (1.0 - last * t)
    cumulant, cubes = -math.log1p(-last * t), q * q * q
    for j in range(weight.size):
        if count[j] > 0.0:
            a = gain[j] - at * weight[j]
            cumulant -= count[j] * math.log1p(-a * t)
            q = a / (1.0 - a * t)
            cubes += count[j] * q * q * q
    w = math.copysign(math.sqrt(max(-2.0 * cumulant, 0.0)), t)
    if abs(w) < _NEAR:
        return -cubes / (3.0 * curve * math.sqrt(curve))
    return w + math.log(t * math.sqrt(curve) / w) / w


@kernel
def bounded_limit(gain: FloatArray, weight: FloatArray, count: FloatArray, alpha: float) -> float:
    """Compute the lower limit of a mean that holds with the probability 1 - alpha.

    Parameters
    ----------
    gain, weight, count : ndarray of float64, shape (J,)
        As in `bounded_score`.
    alpha : float
        In (0, 0.5).

    Returns
    -------
    float
        The mean whose p-value is alpha, or -1.

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.kernels.gaffke import bounded_limit
    >>> units = np.array([0.0]), np.array([1.0]), np.array([36.0])
    >>> round(bounded_limit(*units, 0.05), 3)
    -0.08
    """
    wanted = ndtri(alpha)
    low, high, at, before, off_before = -1.0, 1.0, 0.0, math.nan, math.nan
    for _ in range(_STEPS):
        off = bounded_score(gain, weight, count, at) - wanted
        if off < 0.0:
            low = at
        else:
            high = at
        step = at - off * (at - before) / (off - off_before)
        before, off_before = at, off
        at = step if low < step < high else 0.5 * (low + high)
        if abs(at - before) <= 1e-10:
            break
    return at if at > -1.0 + 1e-8 else -1.0
