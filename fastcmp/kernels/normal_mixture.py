"""Robbins' normal mixture: a boundary that a martingale rarely ever crosses."""

from __future__ import annotations

import math

from fastcmp._jit import kernel
from fastcmp.kernels.roots import itp_step
from fastcmp.kernels.status import TWO_SIDED

_MAX_STEPS = 120
_ROOT_HALF = 0.7071067811865476


@kernel
def normal_mixture_boundary(
    variance: float, rho: float, alpha: float, alternative: int = 0
) -> float:
    """Boundary that a sum crosses at any time with probability alpha at most.

    Parameters
    ----------
    variance : float
        Variance of the sum so far.
    rho : float
        Inverse variance of the mixture: above 0.
    alpha : float
        In (0, 1).
    alternative : int, optional
        ``TWO_SIDED`` (0) for the absolute value of the sum, else for one side.

    Returns
    -------
    float
        The boundary; NaN where there is none.

    Notes
    -----
    With V = variance + rho, two-sided: sqrt(V log(V / (rho alpha**2))). One-sided: s
    with s**2 / (2 V) + log(Phi(s / sqrt(V))) = log(sqrt(V / (4 rho)) / alpha).

    References
    ----------
    .. [1] S. R. Howard, A. Ramdas, J. McAuliffe, J. Sekhon, "Time-uniform,
       nonparametric, nonasymptotic confidence sequences", Annals of Statistics 49
       (2021) 1055-1080, eqs. 14 and 15.

    Examples
    --------
    >>> from fastcmp.kernels import normal_mixture_boundary
    >>> round(normal_mixture_boundary(50.0, 6.3, 0.05), 4)
    21.4622
    """
    v, r = float(variance), float(rho)
    if not (0.0 <= v < math.inf and 0.0 < r < math.inf and 0.0 < alpha < 1.0):
        return math.nan
    whole = v + r
    if alternative == TWO_SIDED:
        return math.sqrt(whole * (math.log1p(v / r) - 2.0 * math.log(alpha)))
    aim = 0.5 * math.log1p(v / r) - math.log(2.0 * alpha)
    # y**2 / 2 + log(Phi(y)) rises, and log(Phi(y)) is above -log(2) for y > 0.
    low, high = 0.0, math.sqrt(2.0 * (aim + math.log(2.0)))
    f_low, f_high = -math.log(2.0) - aim, math.inf
    for i in range(_MAX_STEPS):
        reach = 0.5 * (high - low) if i < 60 else 0.0
        y = itp_step(low, f_low, high, f_high, reach)
        f = 0.5 * y * y + math.log(0.5 * math.erfc(-y * _ROOT_HALF)) - aim
        if f < 0.0:
            low, f_low = y, f
        else:
            high, f_high = y, f
        if high - low <= 4e-16 * high:
            break
    return 0.5 * (low + high) * math.sqrt(whole)
