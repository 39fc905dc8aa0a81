"""Two accuracies on different samples: the score test of any difference, intervals.

Model a is right on `correct_a` of `n_a` samples, model b on `correct_b` of `n_b` other
ones; the difference is the accuracy of a minus that of b.
"""

from __future__ import annotations

import math
from typing import Final

from fastcmp._jit import helper, kernel
from fastcmp.kernels.intervals import _normal_quantile, _wilson_distances
from fastcmp.kernels.special import itp_step, narrowed, normal_pvalue
from fastcmp.kernels.status import DEGENERATE, INVALID, OK, Interval, Outcome
from fastcmp.kernels.typing import FloatArray, IntArray, StatusArray

#: Codes of the intervals, for `unpaired_interval_many`.
UNPAIRED_NEWCOMBE: Final = 0
MIETTINEN_NURMINEN: Final = 1

_MAX_STEPS = 120


@helper
def _impossible_pair(right_a: float, n_a: float, right_b: float, n_b: float) -> bool:
    return not (0.0 <= right_a <= n_a and 0.0 <= right_b <= n_b and min(n_a, n_b) > 0.0)


@helper
def _slope(right_a: float, n_a: float, right_b: float, n_b: float, p: float, delta: float) -> float:
    """Slope of the likelihood where b is right with p and a with p + delta, scaled.

    By the product of the four probabilities, which is positive inside.
    """
    a = p + delta
    return (right_a - n_a * a) * p * (1.0 - p) + (right_b - n_b * p) * a * (1.0 - a)


@kernel
def _likeliest(right_a: float, n_a: float, right_b: float, n_b: float, delta: float) -> float:
    """Accuracy of b that makes the data likeliest if a is better by delta > 0."""
    low, high = 0.0, 1.0 - delta
    # Without b right, or a wrong, the likelihood may fall, or rise, to the very end.
    if right_b == 0.0 and right_a / delta - (n_a - right_a) / high <= n_b:
        return low
    if right_a == n_a and (n_b - right_b) / delta - right_b / high <= n_a:
        return high
    f_low, f_high = math.inf, -math.inf
    for i in range(_MAX_STEPS):
        p = itp_step(low, f_low, high, f_high, i)
        f = _slope(right_a, n_a, right_b, n_b, p, delta)
        low, f_low, high, f_high = narrowed(low, f_low, high, f_high, p, f)
        if f == 0.0 or high - low <= 4e-16 * high:
            break
    return 0.5 * (low + high) if f != 0.0 else p


@kernel
def _score(right_a: float, n_a: float, right_b: float, n_b: float, delta: float) -> float:
    """Miettinen and Nurminen's z; 0 where nothing varies and nothing differs."""
    n = n_a + n_b
    gap = (right_a * n_b - right_b * n_a) / (n_a * n_b) - delta
    if delta == 0.0:
        p = (right_a + right_b) / n
        variance = p * ((n - right_a - right_b) / n) * n / (n_a * n_b)
        return gap / math.sqrt(variance * n / (n - 1.0)) if gap != 0.0 else 0.0
    sign = 1.0
    if delta < 0.0:
        # The mirror image, so that p + delta does not cancel.
        right_a, n_a, right_b, n_b = right_b, n_b, right_a, n_a
        sign, delta = -1.0, -delta
    if (right_a + right_b) > 0.5 * n:
        # What is wrong in place of what is right: 1 - p does not cancel either.
        right_a, n_a, right_b, n_b = n_b - right_b, n_b, n_a - right_a, n_a
    p = _likeliest(right_a, n_a, right_b, n_b, delta)
    a = p + delta
    variance = a * max(1.0 - a, 0.0) / n_a + p * (1.0 - p) / n_b
    gap = (right_a * n_b - right_b * n_a) / (n_a * n_b) - delta
    return sign * gap / math.sqrt(variance * n / (n - 1.0))


@kernel
def miettinen_nurminen(
    correct_a: int,
    n_a: int,
    correct_b: int,
    n_b: int,
    null_difference: float = 0.0,
    alternative: int = 0,
) -> Outcome:
    """Miettinen and Nurminen's score test of two accuracies on different samples.

    Parameters
    ----------
    correct_a, n_a : int
        Samples that model a classified correctly, and all that it was tested on.
    correct_b, n_b : int
        The same of model b.
    null_difference : float, optional
        The accuracy of a minus that of b under H0, in (-1, 1).
    alternative : int, optional
        ``TWO_SIDED`` (0), ``GREATER`` (1, the difference is greater) or ``LESS`` (-1).

    Returns
    -------
    Outcome
        ``statistic`` z, the difference less that of H0 in standard errors at the most
        likely accuracies under H0. Where both models are right on all samples, or both
        on none, and H0 is equality: 0, 1 and ``DEGENERATE``. NaN and ``INVALID`` for
        impossible counts or differences.

    Notes
    -----
    For H0 of equality it is the pooled score test times sqrt((N - 1) / N), N the
    samples of both.

    References
    ----------
    .. [1] O. Miettinen, M. Nurminen, "Comparative analysis of two rates", Statistics in
       Medicine 4 (1985) 213-226.

    Examples
    --------
    >>> from fastcmp.kernels import GREATER, miettinen_nurminen
    >>> outcome = miettinen_nurminen(56, 70, 48, 80, -0.1, GREATER)
    >>> round(outcome.statistic, 6), round(outcome.pvalue, 8)
    (3.92107, 4.408e-05)
    """
    right_a, all_a, right_b, all_b = float(correct_a), float(n_a), float(correct_b), float(n_b)
    if _impossible_pair(right_a, all_a, right_b, all_b) or not (-1.0 < null_difference < 1.0):
        return Outcome(math.nan, math.nan, INVALID)
    right = right_a + right_b
    if null_difference == 0.0 and (right == 0.0 or right == all_a + all_b):
        return Outcome(0.0, 1.0, DEGENERATE)
    z = _score(right_a, all_a, right_b, all_b, null_difference)
    return Outcome(z, normal_pvalue(z, alternative), OK)


@helper
def _miettinen_nurminen(
    right_a: float, n_a: float, right_b: float, n_b: float, z: float
) -> Interval:
    d = (right_a * n_b - right_b * n_a) / (n_a * n_b)
    low = -1.0
    high = 1.0
    for side in (-1.0, 1.0):
        if d * side >= 1.0:
            continue
        # In t = side * delta the excess z - |score| falls through 0 once, past d.
        near, f_near = side * d, z
        far, f_far = 1.0, -math.inf
        for i in range(_MAX_STEPS):
            t = itp_step(near, f_near, far, f_far, i)
            f = z - abs(_score(right_a, n_a, right_b, n_b, side * t))
            near, f_near, far, f_far = narrowed(near, f_near, far, f_far, t, f)
            if far - near <= 4e-16 * max(abs(near), 1.0 / (n_a + n_b)):
                break
        end = side * 0.5 * (near + far)
        if side < 0.0:
            low = end
        else:
            high = end
    return Interval(low, high)


@kernel
def miettinen_nurminen_interval(
    correct_a: int, n_a: int, correct_b: int, n_b: int, confidence_level: float
) -> Interval:
    """Miettinen and Nurminen's interval for the difference of two accuracies.

    The differences that `miettinen_nurminen` does not reject.

    Parameters
    ----------
    correct_a, n_a : int
        Samples that model a classified correctly, and all that it was tested on.
    correct_b, n_b : int
        The same of model b.
    confidence_level : float
        In (0, 1).

    Returns
    -------
    Interval
        ``low`` and ``high``; NaN for impossible counts or levels. A difference of 1 or
        -1 is an end itself.

    References
    ----------
    .. [1] O. Miettinen, M. Nurminen, "Comparative analysis of two rates", Statistics in
       Medicine 4 (1985) 213-226.

    Examples
    --------
    >>> from fastcmp.kernels import miettinen_nurminen_interval
    >>> low, high = miettinen_nurminen_interval(56, 70, 48, 80, 0.95)
    >>> round(low, 5), round(high, 5)
    (0.05283, 0.33817)
    """
    z = _normal_quantile(confidence_level)
    right_a, all_a, right_b, all_b = float(correct_a), float(n_a), float(correct_b), float(n_b)
    if _impossible_pair(right_a, all_a, right_b, all_b) or math.isnan(z):
        return Interval(math.nan, math.nan)
    return _miettinen_nurminen(right_a, all_a, right_b, all_b, z)


@helper
def _newcombe_unpaired(
    right_a: float, n_a: float, right_b: float, n_b: float, z: float
) -> Interval:
    d = right_a / n_a - right_b / n_b
    below_a, above_a = _wilson_distances(right_a, n_a, z)
    below_b, above_b = _wilson_distances(right_b, n_b, z)
    down = math.sqrt(below_a * below_a + above_b * above_b)
    up = math.sqrt(above_a * above_a + below_b * below_b)
    return Interval(d - down, d + up)


@kernel
def newcombe_unpaired_interval(
    correct_a: int, n_a: int, correct_b: int, n_b: int, confidence_level: float
) -> Interval:
    """Newcombe's hybrid of two Wilson intervals, for accuracies on different samples.

    Parameters
    ----------
    correct_a, n_a : int
        Samples that model a classified correctly, and all that it was tested on.
    correct_b, n_b : int
        The same of model b.
    confidence_level : float
        In (0, 1).

    Returns
    -------
    Interval
        ``low`` and ``high``; NaN for impossible counts or levels.

    References
    ----------
    .. [1] R. G. Newcombe, "Interval estimation for the difference between independent
       proportions: comparison of eleven methods", Statistics in Medicine 17 (1998)
       873-890, method 10.

    Examples
    --------
    >>> from fastcmp.kernels import newcombe_unpaired_interval
    >>> low, high = newcombe_unpaired_interval(56, 70, 48, 80, 0.95)
    >>> round(low, 4), round(high, 4)
    (0.0524, 0.3339)
    """
    z = _normal_quantile(confidence_level)
    right_a, all_a, right_b, all_b = float(correct_a), float(n_a), float(correct_b), float(n_b)
    if _impossible_pair(right_a, all_a, right_b, all_b) or math.isnan(z):
        return Interval(math.nan, math.nan)
    return _newcombe_unpaired(right_a, all_a, right_b, all_b, z)


@kernel
def miettinen_nurminen_many(
    counts: IntArray,
    null_difference: FloatArray,
    alternative: int,
    statistic: FloatArray,
    pvalue: FloatArray,
    status: StatusArray,
) -> None:
    """Write `miettinen_nurminen` of counts (4, P): correct_a, n_a, correct_b, n_b."""
    a, n_a, b, n_b = counts
    for i in range(statistic.size):
        outcome = miettinen_nurminen(a[i], n_a[i], b[i], n_b[i], null_difference[i], alternative)
        statistic[i], pvalue[i], status[i] = outcome


@kernel
def unpaired_interval_many(
    counts: IntArray, options: tuple[int, float], low: FloatArray, high: FloatArray
) -> None:
    """Write intervals of counts as `miettinen_nurminen_many`; `options` are the code and level."""
    method, confidence_level = options
    z = _normal_quantile(confidence_level)
    for i in range(low.size):
        right_a, n_a = float(counts[0, i]), float(counts[1, i])
        right_b, n_b = float(counts[2, i]), float(counts[3, i])
        if _impossible_pair(right_a, n_a, right_b, n_b) or math.isnan(z):
            ends = Interval(math.nan, math.nan)
        elif method == UNPAIRED_NEWCOMBE:
            ends = _newcombe_unpaired(right_a, n_a, right_b, n_b, z)
        else:
            ends = _miettinen_nurminen(right_a, n_a, right_b, n_b, z)
        low[i], high[i] = ends
