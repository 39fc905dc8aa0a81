"""E-values and confidence sequences for the mean of bounded values.

Values are scaled to [-1, 1], such as differences of two models' grades. A bet r against
the mean m multiplies the wealth by 1 + r (x - m) for each value x. Wealth that cannot
become negative is a martingale if m is the mean of each value given the past.

The bets by default are +-2**(-j/2) / (1 + abs(m)), j < 24: at each scale one. Those on
higher means have, as a function of m, a wealth that falls: its limit is a single root.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any, Final

import numpy as np

from fastcmp._jit import helper, kernel
from fastcmp.kernels.special import itp_step, narrowed, ndtri, vector_log
from fastcmp.kernels.status import Interval
from fastcmp.kernels.typing import FloatArray, IntArray

#: Scales of the bets by default: half as many for each side.
N_SCALES: Final = 24
_CHUNK: Final = 16
_MAX_STEPS: Final = 120
_NOISE: Final = 1e-13


@helper
def _log(x: float) -> float:
    """Logarithm, of 0 too."""
    return math.log(x) if x > 0.0 else -math.inf


@kernel
def _log_wealth(values: FloatArray, counts: IntArray, mean: float, bet: float) -> float:
    """Log-wealth of one bet on values, each as often as `counts`, or once without."""
    wealth, product = 0.0, 1.0
    for i in range(counts.size):
        wealth += counts[i] * _log(max(1.0 + bet * (values[i] - mean), 0.0))
    if counts.size:
        return wealth
    for i in range(values.size):
        # A logarithm for sixteen factors, of which none is above the range.
        product *= max(1.0 + bet * (values[i] - mean), 0.0)
        if i % _CHUNK == _CHUNK - 1:
            wealth += _log(product)
            product = 1.0
    return wealth + _log(product)


@kernel
def bet_on_values(values: FloatArray, mean: float, bets: FloatArray, out: FloatArray) -> None:
    """Add the log-wealth of constant bets against a mean.

    Parameters
    ----------
    values : ndarray of float64, shape (n,)
        The values, in any order.
    mean : float
        The mean of the null hypothesis.
    bets : ndarray of float64, shape (K,)
        Bets; 1 + bet * (x - mean) must not be negative for any possible value x.
    out : ndarray of float64, shape (K,)
        The sums of log(1 + bet * (x - mean)) are added to it. Sums of several blocks,
        or of several machines, add up.

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.kernels import bet_on_values, log_mean_exp
    >>> wealth = np.zeros(2)
    >>> bet_on_values(np.array([1.0, 1.0, 0.0]), 0.0, np.array([0.5, -0.5]), wealth)
    >>> np.exp(wealth).tolist(), round(log_mean_exp(wealth), 6)
    ([2.25, 0.25], 0.223144)
    """
    once = np.empty(0, np.int64)
    for k in range(bets.size):
        out[k] += _log_wealth(values, once, mean, bets[k])


@kernel
def log_mean_exp(logs: FloatArray) -> float:
    """Logarithm of the mean of numbers that are given by their logarithms.

    Parameters
    ----------
    logs : ndarray of float64, shape (K,)
        Log-wealths of bets.

    Returns
    -------
    float
        The log e-value of their equal mixture.

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.kernels import log_mean_exp
    >>> round(log_mean_exp(np.array([800.0, 800.0])), 6)
    800.0
    """
    top = -math.inf
    for value in logs:
        top = max(top, value)
    if not -math.inf < top < math.inf:
        return top
    total = 0.0
    for value in logs:
        total += math.exp(value - top)
    return top + math.log(total / logs.size)


@kernel
def _log_rising(values: FloatArray, counts: IntArray, mean: float) -> float:
    """Log of the mean wealth of all bets on a higher mean; it falls with `mean`."""
    wealth = np.empty(N_SCALES)
    for j in range(N_SCALES):
        bet = 2.0 ** (-0.5 * j) / (1.0 + abs(mean))
        wealth[j] = _log_wealth(values, counts, mean, bet)
    return log_mean_exp(wealth)


@kernel
def lower_mean_limit(values: FloatArray, counts: IntArray, confidence_level: float) -> float:
    """Find the mean at which bets on a higher one reach half of the error."""
    n, total = 0.0, 0.0
    for i in range(values.size):
        many = float(counts[i]) if counts.size else 1.0
        n += many
        total += many * values[i]
    if n == 0.0:
        return -1.0
    reach = math.log(2.0) - math.log1p(-confidence_level)
    high = max(min(total / n, 1.0), -1.0)
    low, f_low = -1.0, reach - _log_rising(values, counts, -1.0)
    f_high = reach
    if f_low >= 0.0:
        return low
    for i in range(_MAX_STEPS):
        at = itp_step(low, f_low, high, f_high, i)
        f = reach - _log_rising(values, counts, at)
        low, f_low, high, f_high = narrowed(low, f_low, high, f_high, at, f)
        if high - low <= 1e-15 or abs(f) <= _NOISE * reach:
            return at
    return 0.5 * (low + high)


@kernel
def anytime_mean_interval(values: FloatArray, confidence_level: float) -> Interval:
    """Confidence interval for the mean of values in [-1, 1], valid at every look.

    Parameters
    ----------
    values : ndarray of float64, shape (n,)
        The values so far, in any order.
    confidence_level : float
        In (0, 1).

    Returns
    -------
    Interval
        ``low`` and ``high``: each is left with half of the error by the 24 bets on
        its side. NaN for values out of range.

    Notes
    -----
    O(n) for each of some ten means that are tried, times 24 bets.

    References
    ----------
    .. [1] I. Waudby-Smith, A. Ramdas, "Estimating means of bounded random variables by
       betting", J. Royal Statistical Society B 86 (2024) 1-27.

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.kernels import anytime_mean_interval
    >>> values = np.resize([1.0, 0.0, 0.0, 0.5], 100)
    >>> low, high = anytime_mean_interval(values, 0.95)
    >>> round(low, 4), round(high, 4)
    (0.2347, 0.534)
    """
    possible = 0.0 < confidence_level < 1.0
    for x in values:
        possible = possible and -1.0 <= x <= 1.0
    if not possible:
        return Interval(math.nan, math.nan)
    once = np.empty(0, np.int64)
    low = lower_mean_limit(values, once, confidence_level)
    return Interval(low, -lower_mean_limit(-values, once, confidence_level))


@kernel
def empirical_bernstein_limits(
    values: FloatArray, alpha: float, truncation: float, out: FloatArray
) -> None:
    """Write lower limits of a mean after each value, valid at all times together.

    The predictable plug-in bound of Waudby-Smith and Ramdas: it depends on the order.

    Parameters
    ----------
    values : ndarray of float64, shape (n,)
        Values in [0, 1], in the order in which they came.
    alpha : float
        Probability that a limit is ever above the mean, in (0, 1).
    truncation : float
        Largest bet, in (0, 1).
    out : ndarray of float64, shape (n,)
        Receives the limits, 0 or above.

    References
    ----------
    .. [1] I. Waudby-Smith, A. Ramdas, "Estimating means of bounded random variables by
       betting", J. Royal Statistical Society B 86 (2024) 1-27, theorem 2.

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.kernels import empirical_bernstein_limits
    >>> limits = np.empty(100)
    >>> values = np.resize([1.0, 0.5, 0.5, 0.75], 100)
    >>> empirical_bernstein_limits(values, 0.025, 0.5, limits)
    >>> limits[[0, 9, 99]].round(4).tolist()
    [0.0, 0.0, 0.5921]
    """
    bernstein_limits(values, alpha, truncation, out, np.empty(0))


def _bets_by_numpy(
    first: float, price: float, truncation: float, deviations: Any, bets: Any, losses: Any
) -> None:
    t = first + np.arange(deviations.size)
    bets[:] = np.minimum(np.sqrt(2.0 * price / (vector_log(t + 1.0) * deviations)), truncation)
    rest = 1.0 - bets
    losses[:] = vector_log(rest) + (-bets - (rest - 1.0)) / rest + bets


@partial(kernel, by_numpy=_bets_by_numpy)
def _plug_in_bets(
    first: float,
    price: float,
    truncation: float,
    deviations: FloatArray,
    bets: FloatArray,
    losses: FloatArray,
) -> None:
    """Write the bets on some values from the `first` on, and log(1 - bet) + bet of each."""
    for k in range(deviations.size):
        t = first + k
        bet = min(math.sqrt(2.0 * price / (vector_log(t + 1.0) * deviations[k])), truncation)
        rest = 1.0 - bet
        bets[k] = bet
        losses[k] = vector_log(rest) + (-bet - (rest - 1.0)) / rest + bet


_AT_ONCE: Final = 256  # values: their bets stay in the cache


@kernel
def bernstein_limits(
    values: FloatArray, alpha: float, truncation: float, low: FloatArray, high: FloatArray
) -> None:
    """Write lower limits, and where `high` has places upper ones: both by the same bets."""
    price = -math.log(alpha)
    total = weighted = against = weights = paid = paid_above = 0.0
    deviations = 0.25  # one value of 1/2 with the variance 1/4 comes before all others
    work = np.empty((4, _AT_ONCE))
    before, part, bets, losses = work[0], work[1], work[2], work[3]
    for start in range(0, values.size, _AT_ONCE):
        n = min(_AT_ONCE, values.size - start)
        for k in range(n):
            x, i = values[start + k], start + k
            before[k], part[k] = total / i if i else 0.0, deviations
            total += x
            off = x - (0.5 + total) / (i + 2.0)
            deviations += off * off
        _plug_in_bets(start + 1.0, price, truncation, part[:n], bets[:n], losses[:n])
        for k in range(n):
            x, i = values[start + k], start + k
            off = x - before[k]
            paid -= off * off * losses[k]
            weighted += bets[k] * x
            weights += bets[k]
            low[i] = max((weighted - price - paid) / weights, 0.0)
            if high.size:
                # The lower limit of 1 - x, before which comes 0 too.
                off = off if i else 1.0 - x
                paid_above -= off * off * losses[k]
                against += bets[k] * (1.0 - x)
                high[i] = 1.0 - max((against - price - paid_above) / weights, 0.0)


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
    >>> from fastcmp.kernels.bounded_means import bounded_score
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
    >>> from fastcmp.kernels.bounded_means import bounded_limit
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
