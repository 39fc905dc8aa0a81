"""Confidence sequences for the difference of two accuracies on the same samples.

All intervals are the sets {delta : E(delta) < 1 / alpha}; log E is convex in delta.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from fastcmp._jit import kernel
from fastcmp.kernels.difference_evalues import (
    BETS,
    DIRICHLET,
    _log_evalue,
    _possible,
)
from fastcmp.kernels.roots import itp_step
from fastcmp.kernels.status import Interval

if TYPE_CHECKING:
    from fastcmp.kernels.typing import FloatArray, IntArray

_MAX_STEPS = 120
_NOISE = 2e-14  # of log E: rounding


@kernel
def _limit(
    b: float,
    c: float,
    n: float,
    reach: float,
    method: int,
    prior: tuple[float, float, float],
) -> float:
    """Upper end of {delta : log E(delta) < reach}, where log E rises past (b - c)/n."""
    if b == n:
        return 1.0
    near = (b - c) / n
    bottom = _log_evalue(b, c, n, near, method, prior)
    # log E is nearly quadratic, and its root nearly linear, which the search likes.
    f_near = aim = math.sqrt(reach - bottom)
    stride = math.sqrt((b + c + 1.0) * 2.0) * aim / n
    far, f_far = min(near + stride, 1.0), -math.inf
    while far < 1.0:
        rise = _log_evalue(b, c, n, far, method, prior) - bottom
        f_far = aim - math.sqrt(max(rise, 0.0))
        if f_far < 0.0:
            break
        near, f_near = far, f_far
        far, f_far = min(far + 0.5 * stride, 1.0), -math.inf
    for i in range(_MAX_STEPS):
        slack = 0.5 * (far - near) if i < 60 else 0.0
        at = itp_step(near, f_near, far, f_far, slack)
        rise = _log_evalue(b, c, n, at, method, prior) - bottom
        f = aim - math.sqrt(max(rise, 0.0))
        if f > 0.0:
            near, f_near = at, f
        else:
            far, f_far = at, f
        if abs(f) <= _NOISE * aim:
            return at
        if far - near <= 4e-16 * max(abs(near), 1.0 / n):
            break
    return 0.5 * (near + far)


@kernel
def _interval(
    b: float,
    c: float,
    n: float,
    confidence_level: float,
    method: int,
    prior: tuple[float, float, float],
) -> Interval:
    if not (_possible(b, c, n, prior) and 0.0 < confidence_level < 1.0):
        return Interval(math.nan, math.nan)
    if n == 0.0:
        return Interval(-1.0, 1.0)
    reach = -math.log1p(-confidence_level)
    turned = (prior[1], prior[0], prior[2])
    low = -_limit(c, b, n, reach, method, turned)
    return Interval(low, _limit(b, c, n, reach, method, prior))


@kernel
def anytime_difference_interval(
    only_a: float, only_b: float, n: float, confidence_level: float
) -> Interval:
    """Confidence interval for a difference of two accuracies, valid at every look.

    The differences that `difference_log_evalue` does not reject. It holds 0 where
    McNemar's e-value, with a Beta(1/2, 1/2) prior, is below 1 / (1 - confidence_level).

    Parameters
    ----------
    only_a, only_b : float
        Samples that only model a, and only model b, classified correctly, so far.
    n : float
        All samples so far.
    confidence_level : float
        In (0, 1).

    Returns
    -------
    Interval
        ``low`` and ``high``; NaN for impossible counts or levels.

    References
    ----------
    .. [1] F. Orabona, K.-S. Jun, "Tight concentrations and confidence sequences from
       the regret of universal portfolio", IEEE Trans. Information Theory 70 (2024)
       436-455.

    Examples
    --------
    >>> from fastcmp.kernels import anytime_difference_interval
    >>> low, high = anytime_difference_interval(10, 2, 30, 0.95)
    >>> round(low, 6), round(high, 6)
    (-0.075141, 0.58033)
    """
    b, c, total = float(only_a), float(only_b), float(n)
    return _interval(b, c, total, confidence_level, BETS, (0.5, 0.5, 0.5))


@kernel
def dirichlet_difference_interval(
    only_a: float,
    only_b: float,
    n: float,
    confidence_level: float,
    prior: tuple[float, float, float],
) -> Interval:
    """Confidence interval for a difference, valid at every look, by Dirichlet mixture.

    The differences that `dirichlet_log_evalue` does not reject. It is wider than
    `anytime_difference_interval`, and may hold 0 where McNemar's e-value rejects it.

    Parameters
    ----------
    only_a, only_b : float
        Samples that only model a, and only model b, classified correctly, so far.
    n : float
        All samples so far.
    confidence_level : float
        In (0, 1).
    prior : tuple of three floats
        The Dirichlet prior of the three cells: only a right, only b right, all others.

    Returns
    -------
    Interval
        ``low`` and ``high``; NaN for impossible counts, priors or levels.

    References
    ----------
    .. [1] M. Lindon, A. Malek, "Anytime-valid inference for multinomial count data",
       NeurIPS 35 (2022).

    Examples
    --------
    >>> from fastcmp.kernels import dirichlet_difference_interval
    >>> low, high = dirichlet_difference_interval(60, 40, 2000, 0.95, (1.0, 1.0, 1.0))
    >>> round(low, 6), round(high, 6)
    (-0.014852, 0.035967)
    """
    b, c, total = float(only_a), float(only_b), float(n)
    return _interval(b, c, total, confidence_level, DIRICHLET, prior)


@kernel
def anytime_difference_interval_many(
    only_a: IntArray,
    only_b: IntArray,
    n: IntArray,
    options: tuple[int, float, tuple[float, float, float]],
    low: FloatArray,
    high: FloatArray,
) -> None:
    """Write the confidence intervals of many differences.

    Parameters
    ----------
    only_a, only_b, n : ndarray of int64, shape (P,)
        Discordant counts, and all samples.
    options : tuple of int, float and three floats
        ``BETS`` or ``DIRICHLET``, the confidence level, and the Dirichlet prior.
    low, high : ndarray of float64, shape (P,)
        Receive the ends.

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.kernels import BETS, anytime_difference_interval_many
    >>> counts = np.array([8]), np.array([0]), np.array([40])
    >>> low, high = np.empty(1), np.empty(1)
    >>> options = BETS, 0.95, (0.5, 0.5, 0.5)
    >>> anytime_difference_interval_many(*counts, options, low, high)
    >>> low.round(6).tolist(), high.round(6).tolist()
    ([0.025938], [0.42987])
    """
    method, confidence_level, prior = options
    for i in range(only_a.size):
        b, c, total = float(only_a[i]), float(only_b[i]), float(n[i])
        ends = _interval(b, c, total, confidence_level, method, prior)
        low[i] = ends.low
        high[i] = ends.high
