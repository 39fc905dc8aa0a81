"""Power of Tango's score tests against a margin, by enumeration.

Of n samples, y are right by b alone, and x of the other n - y by a alone. The score
rises with x and falls with y, so the test rejects where x >= low(y), and for
equivalence also x <= high(y); neither bound falls with y. Given y, x is binomial.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from fastcmp._jit import helper, kernel, turns_ahead
from fastcmp.kernels.intervals import _tango_variance, _tango_z
from fastcmp.kernels.planned_mcnemar import LARGE, TIES, binomial_tail, window
from fastcmp.kernels.special import ndtri, square

if TYPE_CHECKING:
    from fastcmp.kernels.typing import FloatArray

#: What is to be shown of a minus b, with a margin.
NONINFERIORITY: Final = 0
SUPERIORITY: Final = 1
EQUIVALENCE: Final = 2

#: Beyond it the normal approximation is right to fewer samples than matter.
_MOST: Final = 2.0**34


@kernel
def _first_above(y: float, n: float, shift: float, z: float) -> float:
    """Smallest x for which the score against `shift` is at least z, by bisection."""
    low, high = -1.0, n - y + 1.0
    while high - low > 1.0:
        x = math.floor(0.5 * (low + high))
        if _tango_z(x, y, n, shift) >= z:
            high = x
        else:
            low = x
    return high


@helper
def _climbed(x: float, y: float, n: float, shift: float, z: float) -> float:
    """Give the same from the bound of y - 1, which is not above it."""
    while x <= n - y and _tango_z(x, y, n, shift) < z:
        x += 1.0
    return x


@kernel
def margin_power(
    n: float, p10: float, p01: float, margin: float, alpha: float, claim: int
) -> float:
    """Power of Tango's score test against a margin on n samples.

    Parameters
    ----------
    n : int
        Samples, discordant or not.
    p10, p01 : float
        Probabilities that only a, and that only b, is right.
    margin : float
        In (0, 1): a difference of accuracies.
    alpha : float
        One-sided error rate in (0, 1).
    claim : int
        ``NONINFERIORITY``: a is not worse by the margin; ``SUPERIORITY``: a is better
        by more; ``EQUIVALENCE``: neither is better by the margin (two one-sided tests).

    Returns
    -------
    float
        Probability that the claim is shown; NaN for impossible input.

    Notes
    -----
    Time grows with the root of n.

    References
    ----------
    .. [1] J.-M. Nam, "Establishing equivalence of two treatments and sample size
       requirements in matched-pairs design", Biometrics 53 (1997) 1422-1430.

    Examples
    --------
    >>> from fastcmp.kernels import NONINFERIORITY, margin_power
    >>> round(margin_power(40, 0.05, 0.05, 0.1, 0.05, NONINFERIORITY), 10)
    0.5579791484
    """
    fits = p10 >= 0.0 and p01 >= 0.0 and p10 + p01 <= TIES and n >= 1
    if not (fits and 0.0 < margin < 1.0 and 0.0 < alpha < 1.0):
        return math.nan
    size = float(n)
    z = -ndtri(min(alpha * TIES, 1.0))
    shift = margin if claim == SUPERIORITY else -margin
    low, high = window(size, p01, max(1.0 - p01, 0.0))
    turns_ahead(20.0 * (high - low))
    rest = max(1.0 - p01, 0.0)
    win = min(p10 / rest, 1.0) if rest > 0.0 else 0.0
    y, weight, mass, power = low, 1.0, 0.0, 0.0
    x = _first_above(y, size, shift, z)
    # Equivalence: the last x for which the score against the margin is at most -z.
    above = _first_above(y, size, margin, math.nextafter(-z, math.inf))
    while True:
        upper = binomial_tail(x, size - y, win, 1.0 - win)[0]
        if claim == EQUIVALENCE:
            upper = max(upper - binomial_tail(max(above, x), size - y, win, 1.0 - win)[0], 0.0)
        mass += weight
        power += weight * upper
        if y >= high:
            break
        if weight > LARGE:
            mass, power, weight = mass / weight, power / weight, 1.0
        weight *= (size - y) / (y + 1.0) * p01 / rest
        y += 1.0
        x = _climbed(x, y, size, shift, z)
        if claim == EQUIVALENCE:
            above = _climbed(above, y, size, margin, math.nextafter(-z, math.inf))
    return min(power / mass, 1.0)


@helper
def _lead(p10: float, p01: float, margin: float, claim: int) -> float:
    """How far the difference is on the right side of the nearest margin."""
    gap = p10 - p01
    if claim == EQUIVALENCE:
        return margin - abs(gap)
    return gap - margin if claim == SUPERIORITY else gap + margin


@helper
def _normal_n(
    power: float, p10: float, p01: float, margin: float, alpha: float, claim: int
) -> float:
    """Give samples by the normal approximation; for equivalence an upper bound."""
    wanted = 0.5 * (1.0 + power) if claim == EQUIVALENCE else power
    null = _tango_variance(p10, p01, 1.0, margin if claim == SUPERIORITY else -margin)
    if claim == EQUIVALENCE:
        null = max(null, _tango_variance(p10, p01, 1.0, margin))
    gap = p10 - p01
    spread = math.sqrt(max(p10 + p01 - gap * gap, 0.0))
    root = max(-ndtri(alpha) * math.sqrt(null) + ndtri(wanted) * spread, 0.0)
    return max(math.ceil(square(root / _lead(p10, p01, margin, claim))), 1.0)


@kernel
def margin_sample_size(
    power: float, p10: float, p01: float, margin: float, alpha: float, claim: int
) -> float:
    """Smallest number of samples with which Tango's test has the power wanted.

    Parameters
    ----------
    power : float
        Probability that the claim is shown, in (0, 1).
    p10, p01 : float
        Probabilities that only a, and that only b, is right.
    margin : float
        In (0, 1): a difference of accuracies.
    alpha : float
        One-sided error rate in (0, 1).
    claim : int
        ``NONINFERIORITY``, ``SUPERIORITY`` or ``EQUIVALENCE``.

    Returns
    -------
    float
        A whole number; infinity where the claim is wrong, NaN for impossible input.

    Notes
    -----
    Power rises with n like a saw: up to a fifth of the samples below the crossing that
    bisection finds are searched one by one, and a few numbers above have less power.

    Examples
    --------
    >>> from fastcmp.kernels import NONINFERIORITY, margin_sample_size
    >>> margin_sample_size(0.8, 0.05, 0.05, 0.05, 0.025, NONINFERIORITY)
    339.0
    """
    if not 0.0 < power < 1.0 or math.isnan(margin_power(1, p10, p01, margin, alpha, claim)):
        return math.nan
    if _lead(p10, p01, margin, claim) <= 0.0:
        return math.inf
    high = _normal_n(power, p10, p01, margin, alpha, claim)
    if high > _MOST:
        return high
    low, step = 0.0, max(math.floor(high / 20.0), 1.0)
    while margin_power(high, p10, p01, margin, alpha, claim) < power:
        low = high
        high += step
        step *= 2.0
    while high - low > 1.0:
        middle = math.floor(0.5 * (low + high))
        if margin_power(middle, p10, p01, margin, alpha, claim) >= power:
            high = middle
        else:
            low = middle
    n = max(math.floor(high - min(20.0 + 0.2 * high, 400.0)), 1.0)
    while n < high and margin_power(n, p10, p01, margin, alpha, claim) < power:
        n += 1.0
    return n


@kernel
def margin_detectable_difference(
    n: float, discordant: float, power: float, margin: float, alpha: float, claim: int
) -> float:
    """Smallest difference with which a claim against a margin is shown.

    Parameters
    ----------
    n : int
        Samples.
    discordant : float
        Probability that just one model is right.
    power : float
        Probability that the claim is shown, in (0, 1).
    margin : float
        In (0, 1): a difference of accuracies.
    alpha : float
        One-sided error rate in (0, 1).
    claim : int
        ``NONINFERIORITY`` or ``SUPERIORITY``.

    Returns
    -------
    float
        The accuracy of a minus that of b, which for non-inferiority may be below 0;
        NaN where even the largest possible one has less power, for equivalence, and for
        impossible input.

    Examples
    --------
    >>> from fastcmp.kernels import SUPERIORITY, margin_detectable_difference
    >>> round(margin_detectable_difference(500, 0.2, 0.8, 0.01, 0.05, SUPERIORITY), 4)
    0.0591
    """
    if claim == EQUIVALENCE or not 0.0 < discordant <= 1.0 or not 0.0 < power < 1.0:
        return math.nan
    low, high = (max(margin if claim == SUPERIORITY else -margin, -discordant), discordant)
    # Also where the input is impossible.
    if not margin_power(n, high, 0.0, margin, alpha, claim) >= power:
        return math.nan
    for _ in range(80):
        gap = 0.5 * (low + high)
        if gap <= low or gap >= high:
            break
        p10, p01 = 0.5 * (discordant + gap), 0.5 * (discordant - gap)
        if margin_power(n, p10, p01, margin, alpha, claim) >= power:
            high = gap
        else:
            low = gap
    return high


@kernel
def margin_variances(plans: FloatArray, variance: FloatArray) -> None:
    """Work out variances of one sample under H0: rows p10, p01 and the difference."""
    for i in range(variance.size):
        variance[i] = _tango_variance(plans[0, i], plans[1, i], 1.0, plans[2, i])
