"""Power of McNemar's test: planned, given the samples so far, or given a pilot."""

from __future__ import annotations

import math

from fastcmp._jit import helper, kernel
from fastcmp.kernels.mcnemar_enumeration import (
    TIES,
    binomial_tail,
    critical_count,
    enumerated,
)
from fastcmp.kernels.status import TWO_SIDED


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
    return not (p10 >= 0.0 and p01 >= 0.0 and p10 + p01 <= TIES and 0.0 < alpha < 1.0)


@kernel
def mcnemar_critical_count(
    discordant: float, alpha: float, method: int, alternative: int = 0
) -> int:
    """Smallest count of one model with which McNemar's test rejects.

    Parameters
    ----------
    discordant : int
        Discordant samples.
    alpha : float
        Error rate in (0, 1); a p-value that equals it rejects.
    method : int
        ``MIDP``, ``EXACT``, ``ASYMPTOTIC`` or ``CORRECTED``.
    alternative : int, optional
        ``TWO_SIDED`` (0), or one-sided (1, -1).

    Returns
    -------
    int
        Of the discordant samples, how many the better model must have alone right;
        ``discordant + 1`` if even all of them do not reject; -1 for impossible input.

    Examples
    --------
    >>> from fastcmp.kernels import EXACT, mcnemar_critical_count
    >>> mcnemar_critical_count(20, 0.05, EXACT)
    15
    """
    if discordant < 0 or not 0.0 < alpha < 1.0:
        return -1
    return int(critical_count(float(discordant), _side(alpha, alternative), method))


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
