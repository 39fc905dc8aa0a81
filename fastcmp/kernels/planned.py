"""Power of McNemar's test: planned, given the samples so far, or given a pilot; and of Tango's."""

from __future__ import annotations

import math
from typing import Final

from fastcmp._jit import helper, inlined, kernel, turns_ahead
from fastcmp.kernels.binomial import _stirling_error, binomial_half
from fastcmp.kernels.intervals import _tango_variance, _tango_z
from fastcmp.kernels.paired import ASYMPTOTIC, CORRECTED, EXACT, MIDP
from fastcmp.kernels.special import betainc, log1pmx, ndtri
from fastcmp.kernels.status import TWO_SIDED
from fastcmp.kernels.typing import FloatArray

# Power of McNemar's test by enumeration: exactly what the test will do.
#
# Of n samples, m are discordant; of these a is right on x. The test rejects for a where
# x >= k(m), the critical count. The power is a sum over m of P(m) P(x >= k(m)). From m to
# m + 1 the critical count grows by 0 or 1, so that the three tails of interest (of the
# null hypothesis, of a and of b) follow from those before by a few products. With a
# probability that is known the tails are binomial; with one that a pilot leaves open they
# are beta-binomial, those of an urn that gets one more ball of each colour drawn.

#: P-values that equal alpha but for rounding reject.
_TIES: Final = 1.0 + 1e-12
#: -log of half the mass outside the enumerated window, 1e-13.
_WINDOW: Final = 30.7
#: After so many steps the tails are worked out anew.
_ANEW: Final = 64
#: Weights above it are scaled down.
_LARGE: Final = 1e250


@helper
def _null_pvalue(k: float, m: float, method: int) -> float:
    """One-sided p-value of k successes of m, of the binomial tests."""
    if k > m:
        return 0.0
    if k <= 0.0 and method == EXACT:
        return 1.0
    tail = binomial_half(m - k, m)
    return tail.mid + 0.5 * tail.pmf if method == EXACT else tail.mid


@helper
def _normal_count(m: float, z: float, method: int) -> float:
    """Critical count of the normal tests, without bounds."""
    shift = 0.0
    if method == CORRECTED:
        shift = 1.0 if z > 0.0 else -1.0
    return math.ceil(0.5 * (m + shift + z * math.sqrt(m)))


@kernel
def critical_count(m: float, level: float, method: int) -> float:
    """Smallest count whose one-sided p-value is at most `level`; m + 1 if none is."""
    if m <= 0.0:
        return 1.0
    z = -ndtri(min(level * _TIES, 1.0))
    k = min(max(_normal_count(m, z, method), 0.0), m + 1.0)
    if method in (ASYMPTOTIC, CORRECTED):
        return k
    while _null_pvalue(k, m, method) > level * _TIES:
        k += 1.0
    while k > 0.0 and _null_pvalue(k - 1.0, m, method) <= level * _TIES:
        k -= 1.0
    return k


@kernel
def _point(k: float, n: float, p: float, q: float) -> float:
    """P(X = k), X ~ Bin(n, p), q = 1 - p (Loader 2000)."""
    if k < 0.0 or k > n:
        return 0.0
    if k in (0.0, n):
        return math.pow(q if k == 0.0 else p, n)
    if p <= 0.0 or q <= 0.0:
        return 0.0
    rest = n - k
    deviance = k * log1pmx((n * p - k) / k) + rest * log1pmx((n * q - rest) / rest)
    error = _stirling_error(n) - _stirling_error(k) - _stirling_error(rest)
    scale = math.sqrt(n / (2.0 * math.pi * k * rest))
    return scale * math.exp(error + deviance)


@helper
def binomial_tail(k: float, m: float, p: float, q: float) -> tuple[float, float, float]:
    """P(X >= k), P(X = k) and P(X = k - 1), X ~ Bin(m, p)."""
    if k <= 0.0:
        upper = 1.0
    elif k > m:
        upper = 0.0
    else:
        upper = betainc(k, m - k + 1.0, p)
    return upper, _point(k, m, p, q), _point(k - 1.0, m, p, q)


@helper
def _null_tail(k: float, m: float) -> tuple[float, float, float]:
    """The same for p = 1/2, at the precision of McNemar's tests."""
    upper = at = below = 0.0
    if k <= m:
        point = binomial_half(m - k, m)
        upper, at = point.mid + 0.5 * point.pmf, point.pmf
    if 0.0 < k <= m + 1.0:
        below = binomial_half(k - 1.0, m).pmf
    return upper, at, below


@inlined
def _step(
    tail: tuple[float, float, float], k: float, m: float, up: bool, urn: tuple[float, float, float]
) -> tuple[float, float, float]:
    """From m to m + 1, at k or, where `up`, k + 1.

    The urn holds a balls for success and b for failure, and gets `grow` of the colour
    drawn: 0 for the binomial distribution, 1 for the beta-binomial.
    """
    upper, at, below = tail
    a, b, grow = urn
    scale = 1.0 / (a + b + m * grow)
    won = below * (a + (k - 1.0) * grow) * scale
    here = at * (b + (m - k) * grow) * scale + won
    if up:
        above = at * (a + k * grow) * scale * (m + 1.0) / (k + 1.0)
        return upper + won - here, above, here
    lost = below * (b + (m - k + 1.0) * grow) * scale * (m + 1.0) / (m + 2.0 - k)
    return upper + won, here, lost


@inlined
def _moved(
    tail: tuple[float, float, float],
    k: float,
    m: float,
    up: bool,
    urn: tuple[float, float, float],
    ends: tuple[float, float],
) -> tuple[float, float, float]:
    """As `_step`, for any k; `ends` are P(X = 0) and P(X = m + 1) after the step."""
    new = k + 1.0 if up else k
    if new <= 0.0:
        return 1.0, ends[0] if new == 0.0 else 0.0, 0.0
    if new >= m + 2.0:
        return 0.0, 0.0, ends[1] if new == m + 2.0 else 0.0
    return _step(tail, k, m, up, urn)


@kernel
def window(n: float, p: float, q: float) -> tuple[float, float]:
    """Bounds of a count of which Bin(n, p) has all but 1e-13 within (Bernstein)."""
    if p <= 0.0 or q <= 0.0:
        only = n if q <= 0.0 else 0.0
        return only, only
    wide = _WINDOW / 3.0
    wide += math.sqrt(wide * wide + 2.0 * _WINDOW * n * p * q)
    return max(math.floor(n * p - wide), 0.0), min(math.ceil(n * p + wide), n)


@kernel
def enumerated(
    n: float,
    seen: tuple[float, float],
    discordant: tuple[float, float, float],
    urn: tuple[float, float, float],
    level: float,
    method: int,
    sides: tuple[bool, bool],
) -> float:
    """Probability that the test rejects after n more samples.

    `seen` are the discordant counts so far; `discordant` and `urn` are urns as in
    `_step`, of discordant among all samples, and of a right among discordant ones;
    `sides` tells whether a rejection for a, and for b, counts.
    """
    a, b, grow = urn
    da, db, dgrow = discordant
    low, high = window(n, da, db) if dgrow == 0.0 else (0.0, n)
    z = -ndtri(min(level * _TIES, 1.0))
    binomial = method in (MIDP, EXACT)
    part = 0.5 if method == MIDP else 0.0
    m, total = low, seen[0] + seen[1] + low
    # Without a discordant sample nothing is rejected, but k(1) may be 0.
    k = (
        critical_count(total, level, method)
        if total
        else min(critical_count(1.0, level, method), 1.0)
    )
    back = (b, a, grow)
    null = _null_tail(k, max(total, 1.0))
    none_a, none_b = math.pow(b, m), math.pow(a, m)  # 1 at m = 0, as with an urn
    won = binomial_tail(k - seen[0], m, a, b)
    lost = binomial_tail(k - seen[1], m, b, a)
    weight, mass, power = 1.0, 0.0, 0.0
    steps = 0
    while True:
        mass += weight
        if sides[0] and total > 0.0:
            power += weight * won[0]
        if sides[1] and total > 0.0:
            power += weight * lost[0]
        if m >= high:
            break
        if weight > _LARGE:
            mass /= weight
            power /= weight
            weight = 1.0
        weight *= (n - m) / (m + 1.0) * (da + m * dgrow) / (db + (n - m - 1.0) * dgrow)
        steps += 1
        anew = steps % _ANEW == 0 or total < 2.0
        if not binomial:
            new = min(max(_normal_count(total + 1.0, z, method), 0.0), total + 2.0)
        elif anew:
            new = critical_count(total + 1.0, level, method)
            null = _null_tail(new, total + 1.0)
        else:
            here = _step(null, k, total, False, (0.5, 0.5, 0.0))
            up = here[0] - part * here[1] > level * _TIES
            if up:
                here = _step(null, k, total, True, (0.5, 0.5, 0.0))
            null = here
            new = k + 1.0 if up else k
        scale = 1.0 / (a + b + m * grow)
        none_a *= (b + m * grow) * scale
        none_b *= (a + m * grow) * scale
        jump = new < k or new > k + 1.0
        if grow == 0.0 and (anew or jump):
            won = binomial_tail(new - seen[0], m + 1.0, a, b)
            lost = binomial_tail(new - seen[1], m + 1.0, b, a)
        else:
            up = new > k
            if sides[0]:
                won = _moved(won, k - seen[0], m, up, urn, (none_a, none_b))
            if sides[1]:
                lost = _moved(lost, k - seen[1], m, up, back, (none_b, none_a))
        k = new
        m += 1.0
        total += 1.0
    return min(power / mass, 1.0)


@helper
def _side(alpha: float, alternative: int) -> float:
    """Error rate of one side."""
    return 0.5 * alpha if alternative == TWO_SIDED else alpha


@helper
def _counted(p10: float, p01: float, alternative: int, both_tails: bool) -> tuple[bool, bool]:
    """Whether a rejection for a, and for b, counts."""
    if alternative != TWO_SIDED:
        return alternative > 0, alternative < 0
    return both_tails or p10 >= p01, both_tails or p10 < p01


@helper
def _no_plan(p10: float, p01: float, alpha: float) -> bool:
    return not (p10 >= 0.0 and p01 >= 0.0 and p10 + p01 <= _TIES and 0.0 < alpha < 1.0)


@kernel
def mcnemar_conditional_power(
    discordant: float,
    p10: float,
    p01: float,
    alpha: float,
    method: int,
    alternative: int = 0,
    both_tails: bool = True,
) -> float:
    """Power of McNemar's test on a known number of discordant samples.

    Parameters
    ----------
    discordant : int
        Discordant samples.
    p10, p01 : float
        Probabilities that only a, and that only b, is right; only their ratio counts.
    alpha : float
        Error rate in (0, 1).
    method : int
        ``MIDP``, ``EXACT``, ``ASYMPTOTIC`` or ``CORRECTED``.
    alternative : int, optional
        ``TWO_SIDED`` (0), ``GREATER`` (1, a is better) or ``LESS`` (-1).
    both_tails : bool, optional
        Whether a two-sided test that rejects for the worse model counts too.

    Returns
    -------
    float
        Probability that the test rejects; NaN for impossible input.

    Examples
    --------
    >>> from fastcmp.kernels import EXACT, mcnemar_conditional_power
    >>> round(mcnemar_conditional_power(20, 0.15, 0.05, 0.05, EXACT), 6)
    0.617176
    """
    if _no_plan(p10, p01, alpha) or discordant < 0 or p10 + p01 <= 0.0:
        return math.nan
    m = float(discordant)
    k = critical_count(m, _side(alpha, alternative), method)
    won, lost = p10 / (p10 + p01), p01 / (p10 + p01)
    sides = _counted(p10, p01, alternative, both_tails)
    power = 0.0
    if sides[0] and m > 0.0:
        power += binomial_tail(k, m, won, lost)[0]
    if sides[1] and m > 0.0:
        power += binomial_tail(k, m, lost, won)[0]
    return power


@kernel
def mcnemar_power(
    n: float,
    p10: float,
    p01: float,
    alpha: float,
    method: int,
    alternative: int = 0,
    both_tails: bool = True,
) -> float:
    """Power of McNemar's test on n samples, by enumeration.

    Parameters
    ----------
    n : int
        Samples, discordant or not.
    p10, p01 : float
        Probabilities that only a, and that only b, is right.
    alpha : float
        Error rate in (0, 1).
    method : int
        ``MIDP``, ``EXACT``, ``ASYMPTOTIC`` or ``CORRECTED``.
    alternative : int, optional
        ``TWO_SIDED`` (0), ``GREATER`` (1, a is better) or ``LESS`` (-1).
    both_tails : bool, optional
        Whether a two-sided test that rejects for the worse model counts too.

    Returns
    -------
    float
        Probability that the test rejects, to about 1e-12; NaN for impossible input.

    Notes
    -----
    Time grows with the root of n: about 4 microseconds for 1,000 samples.

    References
    ----------
    .. [1] S. W. Duffy, "Asymptotic and exact power for the McNemar test and its
       analogue with R controls per case", Biometrics 40 (1984) 1005-1015.

    Examples
    --------
    >>> from fastcmp.kernels import EXACT, mcnemar_power
    >>> round(mcnemar_power(60, 0.02, 0.12, 0.05, EXACT), 10)
    0.4254915908
    """
    if _no_plan(p10, p01, alpha) or n < 0:
        return math.nan
    return _planned(
        float(n),
        (0.0, 0.0),
        (p10, p01),
        _side(alpha, alternative),
        method,
        _counted(p10, p01, alternative, both_tails),
    )


@kernel
def _planned(
    n: float,
    seen: tuple[float, float],
    p: tuple[float, float],
    level: float,
    method: int,
    sides: tuple[bool, bool],
) -> float:
    """Enumerate at known probabilities."""
    total = p[0] + p[1]
    win, loss = (p[0] / total, p[1] / total) if total > 0.0 else (0.5, 0.5)
    discordant = (min(total, 1.0), max(1.0 - total, 0.0), 0.0)
    urn = (win, loss, 0.0)
    return enumerated(n, seen, discordant, urn, level, method, sides)


@kernel
def mcnemar_interim_power(
    only_a: float,
    only_b: float,
    n_more: float,
    p: tuple[float, float],
    alpha: float,
    method: int,
    alternative: int = 0,
) -> float:
    """Power of McNemar's test, given the samples so far.

    Parameters
    ----------
    only_a, only_b : int
        Samples so far that only model a, and only model b, classified correctly.
    n_more : int
        Samples still to come, discordant or not.
    p : tuple of float
        Assumed probabilities that only a, and that only b, is right.
    alpha : float
        Error rate in (0, 1) of the one test at the end.
    method : int
        ``MIDP``, ``EXACT``, ``ASYMPTOTIC`` or ``CORRECTED``.
    alternative : int, optional
        ``TWO_SIDED`` (0), ``GREATER`` (1, a is better) or ``LESS`` (-1).

    Returns
    -------
    float
        Probability that the test of all samples rejects; NaN for impossible input.

    Examples
    --------
    >>> from fastcmp.kernels import MIDP, mcnemar_interim_power
    >>> round(mcnemar_interim_power(12, 6, 100, (0.12, 0.06), 0.05, MIDP), 4)
    0.5173
    """
    if _no_plan(p[0], p[1], alpha) or min(only_a, only_b, n_more) < 0:
        return math.nan
    return _planned(
        float(n_more),
        (float(only_a), float(only_b)),
        (p[0], p[1]),
        _side(alpha, alternative),
        method,
        _counted(0.0, 0.0, alternative, True),
    )


@kernel
def mcnemar_assurance(
    n: float,
    only_a: float,
    only_b: float,
    n_pilot: float,
    alpha: float,
    method: int,
    alternative: int = 0,
) -> float:
    """Mean power of McNemar's test over what a pilot leaves open.

    Parameters
    ----------
    n : int
        New samples, on which alone the test is made.
    only_a, only_b : int
        Samples of the pilot that only model a, and only model b, classified correctly.
    n_pilot : int
        All samples of the pilot.
    alpha : float
        Error rate in (0, 1).
    method : int
        ``MIDP``, ``EXACT``, ``ASYMPTOTIC`` or ``CORRECTED``.
    alternative : int, optional
        ``TWO_SIDED`` (0), ``GREATER`` (1, a is better) or ``LESS`` (-1).

    Returns
    -------
    float
        Probability that the test rejects, where p10, p01 and the rest have a Dirichlet
        prior of (1/2, 1/2, 1/2); NaN for impossible input.

    Notes
    -----
    Time grows with n: about 40 microseconds for 1,000 samples.

    Examples
    --------
    >>> from fastcmp.kernels import GREATER, EXACT, mcnemar_assurance
    >>> round(mcnemar_assurance(400, 5, 2, 100, 0.05, EXACT, GREATER), 10)
    0.5721728653
    """
    return _believed(
        float(n),
        (float(only_a), float(only_b)),
        float(n_pilot),
        (0.0, 0.0),
        alpha,
        method,
        alternative,
    )


@kernel
def mcnemar_predictive_power(
    only_a: float,
    only_b: float,
    n_seen: float,
    n_more: float,
    alpha: float,
    method: int,
    alternative: int = 0,
) -> float:
    """Probability that McNemar's test rejects in the end, given the samples so far.

    Parameters
    ----------
    only_a, only_b : int
        Samples so far that only model a, and only model b, classified correctly.
    n_seen : int
        All samples so far.
    n_more : int
        Samples still to come.
    alpha : float
        Error rate in (0, 1) of the one test at the end.
    method : int
        ``MIDP``, ``EXACT``, ``ASYMPTOTIC`` or ``CORRECTED``.
    alternative : int, optional
        ``TWO_SIDED`` (0), ``GREATER`` (1, a is better) or ``LESS`` (-1).

    Returns
    -------
    float
        Probability that the test of all samples, those so far and those to come,
        rejects, where the probabilities are left open as in `mcnemar_assurance`; NaN
        for impossible input.

    Examples
    --------
    >>> from fastcmp.kernels import MIDP, mcnemar_predictive_power
    >>> round(mcnemar_predictive_power(12, 6, 100, 100, 0.05, MIDP), 4)
    0.5036
    """
    seen = (float(only_a), float(only_b))
    return _believed(float(n_more), seen, float(n_seen), seen, alpha, method, alternative)


@kernel
def _believed(
    n: float,
    pilot: tuple[float, float],
    n_pilot: float,
    seen: tuple[float, float],
    alpha: float,
    method: int,
    alternative: int,
) -> float:
    """Enumerate at probabilities that the pilot leaves open."""
    a, b = pilot
    if min(a, b) < 0.0 or a + b > n_pilot or n < 0.0 or not 0.0 < alpha < 1.0:
        return math.nan
    discordant = (a + b + 1.0, n_pilot - a - b + 0.5, 1.0)
    sides = _counted(0.0, 0.0, alternative, True)
    urn = (a + 0.5, b + 0.5, 1.0)
    return enumerated(n, seen, discordant, urn, _side(alpha, alternative), method, sides)


# Power of Tango's score tests against a margin, by enumeration.
#
# Of n samples, y are right by b alone, and x of the other n - y by a alone. The score
# rises with x and falls with y, so the test rejects where x >= low(y), and for
# equivalence also x <= high(y); neither bound falls with y. Given y, x is binomial.

#: What is to be shown of a minus b, with a margin.
NONINFERIORITY: Final = 0
SUPERIORITY: Final = 1
EQUIVALENCE: Final = 2


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
    """The same from the bound of y - 1, which is not above it."""
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
    fits = p10 >= 0.0 and p01 >= 0.0 and p10 + p01 <= _TIES and n >= 1
    if not (fits and 0.0 < margin < 1.0 and 0.0 < alpha < 1.0):
        return math.nan
    size = float(n)
    z = -ndtri(min(alpha * _TIES, 1.0))
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
        if weight > _LARGE:
            mass, power, weight = mass / weight, power / weight, 1.0
        weight *= (size - y) / (y + 1.0) * p01 / rest
        y += 1.0
        x = _climbed(x, y, size, shift, z)
        if claim == EQUIVALENCE:
            above = _climbed(above, y, size, margin, math.nextafter(-z, math.inf))
    return min(power / mass, 1.0)


@kernel
def margin_variances(plans: FloatArray, variance: FloatArray) -> None:
    """Work out variances of one sample under H0: rows p10, p01 and the difference."""
    for i in range(variance.size):
        variance[i] = _tango_variance(plans[0, i], plans[1, i], 1.0, plans[2, i])
