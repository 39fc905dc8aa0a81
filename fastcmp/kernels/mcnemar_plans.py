"""Samples that McNemar's test needs, and differences that it finds, by enumeration."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from fastcmp._jit import helper, kernel
from fastcmp.kernels.planned_mcnemar import (
    _counted,
    _no_plan,
    _planned,
    _side,
    mcnemar_conditional_power,
)
from fastcmp.kernels.special import ndtri, square
from fastcmp.kernels.status import TWO_SIDED

if TYPE_CHECKING:
    pass

#: Beyond it the normal approximation is right to fewer samples than matter.
_MOST: Final = 2.0**34
#: Conditional power is searched one by one from this part of the approximation.
_PART: Final = 0.8
_FEW: Final = 20_000.0


@helper
def _normal_n(p10: float, p01: float, level: float, power: float) -> float:
    """Miettinen's number of samples (1968, second order)."""
    pd, gap = p10 + p01, p10 - p01
    z = -ndtri(level)
    spread = math.sqrt(max(pd * pd - 0.25 * gap * gap * (3.0 + pd), 0.0))
    root = max(z * pd + ndtri(power) * spread, 0.0)
    return max(math.ceil(root * root / (pd * gap * gap)), 1.0)


@helper
def _hopeless(p10: float, p01: float, alternative: int) -> bool:
    """Whether no number of samples is enough: H0, or its wrong side."""
    gap = p10 - p01
    if alternative == TWO_SIDED:
        return gap == 0.0
    return gap * alternative <= 0.0


@kernel
def mcnemar_sample_size(
    power: float,
    p10: float,
    p01: float,
    alpha: float,
    method: int,
    alternative: int = 0,
    both_tails: bool = True,
) -> float:
    """Smallest number of samples with which McNemar's test has the power wanted.

    Parameters
    ----------
    power : float
        Probability of a rejection, in (alpha, 1).
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
        A whole number; infinity where no number is enough, NaN for impossible input.

    Notes
    -----
    Enumerated about ten times near Miettinen's approximation; above 2**34 it is that
    approximation.

    References
    ----------
    .. [1] O. S. Miettinen, "The matched pairs design in the case of all-or-none
       responses", Biometrics 24 (1968) 339-352.

    Examples
    --------
    >>> from fastcmp.kernels import MIDP, mcnemar_sample_size
    >>> mcnemar_sample_size(0.8, 0.15, 0.05, 0.05, MIDP)
    152.0
    """
    if _no_plan(p10, p01, alpha) or not alpha < power < 1.0:
        return math.nan
    if _hopeless(p10, p01, alternative):
        return math.inf
    level = _side(alpha, alternative)
    p, sides = (p10, p01), _counted(p10, p01, alternative, both_tails)
    near = _normal_n(p10, p01, level, power)
    if near > _MOST:
        return float(near)
    step = max(math.floor(near / 50.0), 1.0)
    low = high = near  # low has too little power, high enough
    if _planned(near, (0.0, 0.0), p, level, method, sides) >= power:
        while True:
            low = max(low - step, 0.0)
            if low == 0.0 or (_planned(low, (0.0, 0.0), p, level, method, sides) < power):
                break
            high = low
            step *= 2.0
    else:
        while True:
            high += step
            if _planned(high, (0.0, 0.0), p, level, method, sides) >= power:
                break
            low = high
            step *= 2.0
    while high - low > 1.0:
        middle = math.floor(0.5 * (low + high))
        if _planned(middle, (0.0, 0.0), p, level, method, sides) >= power:
            high = middle
        else:
            low = middle
    # Power rises with n but for rounding of the critical counts.
    for back in (3.0, 2.0, 1.0):
        n = high - back
        if n > 0.0 and _planned(n, (0.0, 0.0), p, level, method, sides) >= power:
            return float(n)
    return float(high)


@kernel
def mcnemar_discordant_size(
    power: float,
    p10: float,
    p01: float,
    alpha: float,
    method: int,
    alternative: int = 0,
    both_tails: bool = True,
) -> float:
    """Smallest number of discordant samples with the power wanted.

    Parameters
    ----------
    power : float
        Probability of a rejection, in (alpha, 1).
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
        A whole number; infinity where no number is enough, NaN for impossible input.
        A few larger numbers may have less power: it rises like a saw.

    Examples
    --------
    >>> from fastcmp.kernels import EXACT, mcnemar_discordant_size
    >>> mcnemar_discordant_size(0.8, 0.15, 0.05, 0.05, EXACT)
    30.0
    """
    if _no_plan(p10, p01, alpha) or not alpha < power < 1.0:
        return math.nan
    if _hopeless(p10, p01, alternative):
        return math.inf
    win = max(p10, p01) / (p10 + p01)
    spread = math.sqrt(max(win * (1.0 - win), 0.0))
    z = -ndtri(_side(alpha, alternative))
    near = square((0.5 * z + ndtri(power) * spread) / (win - 0.5))
    if near > _MOST:
        return float(math.ceil(near))
    m = 1.0 if near < _FEW else float(math.floor(_PART * near))
    while mcnemar_conditional_power(m, p10, p01, alpha, method, alternative, both_tails) < power:
        m += 1.0
    return m


@kernel
def mcnemar_detectable_difference(
    n: float,
    discordant: float,
    power: float,
    alpha: float,
    method: int,
    alternative: int = 0,
    both_tails: bool = True,
) -> float:
    """Smallest difference that McNemar's test finds with the power wanted.

    Parameters
    ----------
    n : int
        Samples.
    discordant : float
        Probability that just one model is right.
    power : float
        Probability of a rejection, in (alpha, 1).
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
        The accuracy of a minus that of b, negative for ``LESS``; NaN where even the
        largest possible difference, `discordant`, has less power, and for impossible
        input.

    Examples
    --------
    >>> from fastcmp.kernels import MIDP, mcnemar_detectable_difference
    >>> round(mcnemar_detectable_difference(200, 0.2, 0.8, 0.05, MIDP), 10)
    0.0870092673
    """
    bad = not (0.0 < discordant <= 1.0 and alpha < power < 1.0)
    if bad or n < 1 or not 0.0 < alpha < 1.0:
        return math.nan
    level = _side(alpha, alternative)
    sides = (True, alternative == TWO_SIDED and both_tails)
    low, high = 0.0, discordant
    if _planned(float(n), (0.0, 0.0), (high, 0.0), level, method, sides) < power:
        return math.nan
    while high - low > 2e-16 * high:
        gap = 0.5 * (low + high)
        if gap in (low, high):
            break
        p = (0.5 * (discordant + gap), 0.5 * (discordant - gap))
        if _planned(float(n), (0.0, 0.0), p, level, method, sides) >= power:
            high = gap
        else:
            low = gap
    return -high if alternative < 0 else high
