"""The exact unconditional test of Suissa and Shuster for paired binary data.

The samples are multinomial: only a right, only b right, or concordant. Under the null
both discordant probabilities are pi/2, and pi is unknown. The p-value is the largest
probability, over pi, of a statistic at least as extreme as the observed one:

    p = sup over pi of  sum over k of  a_k * C(n, k) * pi**k * (1 - pi)**(n - k),

with a_k = P(statistic at least as extreme | k discordant samples): a polynomial in
Bernstein form with coefficients in [0, 1].
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple

import numpy as np

from fastcmp._jit import kernel
from fastcmp.kernels.binomial import binomial_half
from fastcmp.kernels.special import _gammaln, itp_step, narrowed, square
from fastcmp.kernels.status import DEGENERATE, INVALID, NOT_CONVERGED, OK, TWO_SIDED, Outcome
from fastcmp.kernels.typing import FloatArray

# The largest value of a polynomial in Bernstein form.
#
# An exact unconditional p-value is the largest probability of a result at least as
# extreme, over a probability pi that is not known:
#
#     sup over pi of  sum over k of  a_k * C(n, k) * pi**k * (1 - pi)**(n - k),
#
# with a_k = P(at least as extreme | k), in [0, 1]. In phi = arcsin(sqrt(pi)) it cannot
# bend on a scale below 1/(2 sqrt(n)), so that a grid of 1/(8 sqrt(n)) finds every
# maximum.

_TOLERANCE = 1e-12
_NEGLIGIBLE = 1e-306  # as a_k <= 1, a smaller weight changes no p-value above it


class _Point(NamedTuple):
    value: float
    slope: float


@kernel
def _bernstein(a: FloatArray, pi: float) -> _Point:
    """Value and slope in pi of sum a_k Bin(k; n, pi), summed outward from the mode."""
    n = a.size - 1
    mode = min(n, int((n + 1) * pi))
    log_pmf = (
        _gammaln(n + 1.0, 0)
        - _gammaln(mode + 1.0, 0)
        - _gammaln(n - mode + 1.0, 0)
        + mode * math.log(pi)
        + (n - mode) * math.log1p(-pi)
    )
    peak = math.exp(log_pmf)
    odds = pi / (1.0 - pi)
    value = peak * a[mode]
    slope = value * (mode - n * pi)
    mass = peak
    weight = peak
    for k in range(mode + 1, n + 1):
        weight *= odds * (n - k + 1) / k
        mass += weight
        value += weight * a[k]
        slope += weight * a[k] * (k - n * pi)
        if weight < max(1e-19 * value / n, _NEGLIGIBLE):
            break
    weight = peak
    for k in range(mode - 1, -1, -1):
        weight *= (k + 1) / (odds * (n - k))
        mass += weight
        value += weight * a[k]
        slope += weight * a[k] * (k - n * pi)
        if weight < max(1e-19 * value / n, _NEGLIGIBLE):
            break
    # Dividing by the mass removes the rounding of log_pmf, which grows with n.
    return _Point(value / mass, slope / mass / (pi * (1.0 - pi)))


@kernel
def _climb(a: FloatArray, low: float, high: float) -> _Point:
    """Find the one maximum between two angles with slopes of opposite signs."""
    f_low = _bernstein(a, square(math.sin(low))).slope
    f_high = _bernstein(a, square(math.sin(high))).slope
    best = _bernstein(a, square(math.sin(low)))
    for i in range(100):
        angle = itp_step(low, f_low, high, f_high, i)
        point = _bernstein(a, square(math.sin(angle)))
        if point.value > best.value:
            best = point
        low, f_low, high, f_high = narrowed(low, f_low, high, f_high, angle, point.slope)
        # How much higher the concave top can be, under its two tangents.
        hidden = (high - low) * max(f_low, 0.0) * math.sin(2.0 * angle)
        if hidden <= _TOLERANCE * best.value or high - low < 1e-16:
            return _Point(best.value, 0.0)
    return _Point(best.value, math.nan)


@kernel
def _largest_probability(a: FloatArray) -> tuple[float, int]:
    """Find the largest value over pi in [0, 1], to 1e-10, and a status."""
    n = a.size - 1
    best = max(a[0], a[n])  # the limits at 0 and 1
    if best >= 1.0 or a.max() == 0.0:
        return best, OK
    cells = 8 * math.ceil(0.5 * math.pi * math.sqrt(n)) + 64
    step = 0.5 * math.pi / cells
    status = OK
    left = _Point(0.0, math.inf)
    angle = 0.0
    for i in range(1, cells + 1):
        before = angle
        angle = min(i * step, 0.5 * math.pi - 1e-6)
        right = _bernstein(a, square(math.sin(angle)))
        best = max(best, right.value)
        if left.slope > 0.0 and right.slope <= 0.0 and i > 1:
            # How much higher the top may be: by a tangent, or, where the curve turns
            # within the cell, by a thousandth.
            up, down = left.slope * math.sin(2.0 * before), right.slope
            rise = step * max(up, -down * math.sin(2.0 * angle))
            if max(left.value, right.value) + rise > 0.999 * best:
                top = _climb(a, before, angle)
                best = max(best, top.value)
                if math.isnan(top.slope):
                    status = NOT_CONVERGED
        left = right
    return min(best, 1.0), status


#: Largest sample for which the integer comparison of statistics stays exact in int64.
UNCONDITIONAL_MAX_N: Final = 2_000_000


@kernel
def _extreme_given_discordant(distance: int, discordant: int, n: int, tails: float) -> FloatArray:
    """a_k for k = 0..n: the conditional probability of a statistic as extreme."""
    a = np.zeros(n + 1)
    s = 0
    for k in range(1, n + 1):
        # Smallest s with s**2 / k >= distance**2 / discordant, compared in integers,
        # and of k's parity, since s = abs(2x - k).
        while s * s * discordant < distance * distance * k:
            s += 1
        reach = s + ((k - s) & 1)
        if reach > k:
            continue
        tail = binomial_half(float((k - reach) // 2), float(k))
        a[k] = min(1.0, tails * (tail.mid + 0.5 * tail.pmf))
    return a


@kernel
def mcnemar_unconditional(only_a: int, only_b: int, n: int, alternative: int = 0) -> Outcome:
    """Exact unconditional test of paired proportions (Suissa and Shuster).

    Ordered by McNemar's statistic and maximised over the probability of a discordant
    sample, to 1e-10. The statistic of a table without discordant samples is 0.

    Parameters
    ----------
    only_a, only_b : int
        Samples that only model a, and only model b, classified correctly.
    n : int
        All samples, at most ``UNCONDITIONAL_MAX_N``.
    alternative : int, optional
        ``TWO_SIDED`` (0), ``GREATER`` (1, a is better) or ``LESS`` (-1).

    Returns
    -------
    Outcome
        ``statistic`` as in `mcnemar_asymptotic`, ``pvalue`` and ``status``. NaN and
        ``INVALID`` if the counts are negative or n is too small or too large.

    Notes
    -----
    O(n) tail probabilities, then about 12 sqrt(n) sums of O(sqrt(n)) terms.

    References
    ----------
    .. [1] S. Suissa, J. J. Shuster, "The 2 x 2 matched-pairs trial: exact unconditional
       design and analysis", Biometrics 47 (1991) 361-372.

    Examples
    --------
    >>> from fastcmp.kernels import mcnemar_unconditional
    >>> round(mcnemar_unconditional(1, 7, 21).pvalue, 9)
    0.035316027
    """
    discordant = only_a + only_b
    if only_a < 0 or only_b < 0 or discordant > n or n > UNCONDITIONAL_MAX_N:
        return Outcome(math.nan, math.nan, INVALID)
    if discordant == 0:
        return Outcome(0.0, 1.0, DEGENERATE)
    distance = only_a - only_b
    chi2 = float(distance) * float(distance) / float(discordant)
    tails = 1.0
    if alternative == TWO_SIDED:
        distance = abs(distance)
        tails = 2.0
    else:
        distance *= alternative
    if distance <= 0:
        return Outcome(chi2, 1.0, OK)
    a = _extreme_given_discordant(distance, discordant, n, tails)
    pvalue, status = _largest_probability(a)
    return Outcome(chi2, pvalue, status)
