"""E-values of the difference of two accuracies on the same samples.

Each sample has d = 1 if only model a is right, -1 if only b is, else 0. E(delta) bets
against "the mean of d is delta" before each sample. It follows from the counts alone.

Mixture of constant bets: with x = (1 + d) / 2, mu = (1 + delta) / 2, the wealth of the
bet u is the product of x u / mu + (1 - x) (1 - u) / (1 - mu), and E its mean over the
arcsine distribution of u (Orabona and Jun 2024): K Chebyshev nodes, exact for K > n/2.
At delta = 0 it is the e-value of McNemar's test with a Beta(1/2, 1/2) prior.

Dirichlet mixture: the multinomial e-value of the three cells, smallest over all
probabilities with the difference delta; wider.
"""

from __future__ import annotations

import math
from typing import Final

from fastcmp._jit import helper, inlined, kernel
from fastcmp.kernels.evalues import _log_gamma_excess
from fastcmp.kernels.special import _gammaln, itp_step, log1pmx, narrowed
from fastcmp.kernels.status import Interval
from fastcmp.kernels.typing import FloatArray, IntArray

#: Codes of the two mixtures, for `anytime_difference_interval_many`.
BETS: Final = 0
DIRICHLET: Final = 1

_NEGLIGIBLE = 38.0  # exp(-38) is a tenth of a unit in the last place
_LEAST_NODES = 64
# Nodes for sqrt(n): for a bell of width 1 / sqrt(n) the sum errs by exp(-2 * 36).
_DENSITY = 6.0


@helper
def _log_wealth(angle: float, mu: float, b: float, c: float, ties: float, slope: float) -> float:
    """Log of the wealth of the bet u = (1 + cos(angle)) / 2."""
    gain = 0.5 * (1.0 + math.cos(angle)) - mu
    wealth = 0.0
    if b > 0.0:
        wealth += b * math.log1p(gain / mu)
    if c > 0.0:
        wealth += c * math.log1p(-gain / (1.0 - mu))
    if ties > 0.0:
        wealth += ties * math.log1p(gain * slope)
    return wealth


@kernel
def _log_mean_wealth(b: float, c: float, ties: float, delta: float) -> float:
    """Log of the mean wealth over the nodes; `delta` lies within (-1, 1)."""
    mu = 0.5 * (1.0 + delta)
    slope = 0.5 * (1.0 / mu - 1.0 / (1.0 - mu))
    # A tie multiplies by (1 - delta cos(angle)) / (1 - delta**2), which is nearly flat.
    weight = abs(delta) / (1.0 - abs(delta))
    curved = b + c + ties * min(1.0, weight)
    n_nodes = max(_LEAST_NODES, math.ceil(_DENSITY * math.sqrt(curved)))
    step = math.pi / n_nodes
    # The wealth is log-concave in u, and its derivative needs no logarithm.
    low, high = 0, n_nodes - 1
    while low < high:
        middle = (low + high + 1) // 2
        gain = 0.5 * (1.0 + math.cos((middle - 0.5) * step)) - mu
        rise = b / (mu + gain) - c / (1.0 - mu - gain)
        if rise + ties * slope / (1.0 + gain * slope) < 0.0:
            low = middle
        else:
            high = middle - 1
    peak = low
    top = _log_wealth((peak + 0.5) * step, mu, b, c, ties, slope)
    total = 1.0
    for side in (-1, 1):
        i = peak + side
        while 0 <= i < n_nodes:
            fall = _log_wealth((i + 0.5) * step, mu, b, c, ties, slope) - top
            if fall < -_NEGLIGIBLE:
                break
            total += math.exp(fall)
            i += side
    return top + math.log(total / n_nodes)


@helper
def _fall(count: float, proportion: float, n: float) -> float:
    """One cell's part of the log-likelihood ratio of its proportion to `proportion`."""
    if count == 0.0:
        return n * proportion
    if proportion == 0.0:
        return math.inf
    return -count * log1pmx((n * proportion - count) / count)


@kernel
def _log_dirichlet(
    b: float, c: float, ties: float, delta: float, prior: tuple[float, float, float]
) -> float:
    """Log of the smallest e-value of all probabilities with the difference delta."""
    s, t, r = prior
    if delta < 0.0:
        # The mirror image; for delta >= 0 nothing below cancels.
        b, c, s, t, delta = c, b, t, s, -delta
    n = b + c + ties
    # The smaller probability by constrained maximum likelihood (Tango 1998, eq. 6).
    linear = -b - c + (2.0 * n - b + c) * delta
    constant = -c * delta * (1.0 - delta)
    root = math.sqrt(max(linear * linear - 8.0 * n * constant, 0.0))
    q = (root - linear) / (4.0 * n) if linear <= 0.0 else -2.0 * constant / (root + linear)
    fall = _fall(b, q + delta, n) + _fall(c, q, n)
    fall += _fall(ties, max(1.0 - 2.0 * q - delta, 0.0), n)
    gain = _log_gamma_excess(b, s) + _log_gamma_excess(c, t)
    gain += _log_gamma_excess(ties, r) - _log_gamma_excess(n, s + t + r)
    return fall + gain - _log_dirichlet_constant(s, t, r)


@helper
def _log_dirichlet_constant(s: float, t: float, r: float) -> float:
    both = _gammaln(s, 0) + _gammaln(t, 0)
    return both + _gammaln(r, 0) - _gammaln(s + t + r, 0)


@kernel
def _log_evalue(
    b: float, c: float, n: float, delta: float, method: int, prior: tuple[float, float, float]
) -> float:
    """Log of E(delta) by either method, for counts that are possible."""
    ties = n - b - c
    if n == 0.0:
        return 0.0
    if abs(delta) == 1.0 and (b if delta > 0.0 else c) < n:
        return math.inf
    if method == DIRICHLET:
        return _log_dirichlet(b, c, ties, delta, prior)
    if abs(delta) == 1.0:  # the mean of u**n
        return -_log_central(n)
    return _log_mean_wealth(b, c, ties, delta)


@helper
def _log_central(n: float) -> float:
    """Log of 4**n / binomial(2n, n) = n! sqrt(pi) / Gamma(n + 1/2)."""
    return _log_gamma_excess(n, 1.0) - _log_gamma_excess(n, 0.5) + 0.5 * math.log(math.pi)


@inlined
def _possible(b: float, c: float, n: float, prior: tuple[float, float, float]) -> bool:
    return (
        min(b, c, n - b - c) >= 0.0
        and min(prior[0], prior[1], prior[2]) > 0.0
        and max(prior[0], prior[1], prior[2]) < math.inf
    )


@kernel
def difference_log_evalue(only_a: float, only_b: float, n: float, difference: float) -> float:
    """Logarithm of the e-value of a difference of two accuracies, by constant bets.

    Parameters
    ----------
    only_a, only_b : float
        Samples that only model a, and only model b, classified correctly, so far.
    n : float
        All samples so far.
    difference : float
        The accuracy of a minus that of b under the null hypothesis, in [-1, 1].

    Returns
    -------
    float
        log(E); for a difference of 0 that of `mcnemar_log_evalue`. NaN for impossible
        counts or differences.

    Notes
    -----
    Of 6 sqrt(n) bets, or 64, those about the best one are looked at; the relative error
    is that of rounding.

    References
    ----------
    .. [1] F. Orabona, K.-S. Jun, "Tight concentrations and confidence sequences from
       the regret of universal portfolio", IEEE Trans. Information Theory 70 (2024)
       436-455.

    Examples
    --------
    >>> from fastcmp.kernels import difference_log_evalue
    >>> round(difference_log_evalue(10, 2, 30, 0.1), 9)
    -0.209781698
    """
    b, c, total, delta = float(only_a), float(only_b), float(n), float(difference)
    prior = (0.5, 0.5, 0.5)
    if not (_possible(b, c, total, prior) and abs(delta) <= 1.0):
        return math.nan
    return _log_evalue(b, c, total, delta, BETS, prior)


@kernel
def dirichlet_log_evalue(
    only_a: float, only_b: float, n: float, difference: float, prior: tuple[float, float, float]
) -> float:
    """Logarithm of the e-value of a difference, by a Dirichlet mixture.

    Parameters
    ----------
    only_a, only_b : float
        Samples that only model a, and only model b, classified correctly, so far.
    n : float
        All samples so far.
    difference : float
        The accuracy of a minus that of b under the null hypothesis, in [-1, 1].
    prior : tuple of three floats
        The Dirichlet prior of the three cells: only a right, only b right, all others.

    Returns
    -------
    float
        log(E): the smallest over all probabilities with that difference; NaN for
        impossible counts, priors or differences.

    References
    ----------
    .. [1] M. Lindon, A. Malek, "Anytime-valid inference for multinomial count data",
       NeurIPS 35 (2022).

    Examples
    --------
    >>> from fastcmp.kernels import dirichlet_log_evalue
    >>> round(dirichlet_log_evalue(10, 2, 30, 0.0, (0.5, 0.5, 0.5)), 6)
    -0.532335
    """
    b, c, total, delta = float(only_a), float(only_b), float(n), float(difference)
    if not (_possible(b, c, total, prior) and abs(delta) <= 1.0):
        return math.nan
    return _log_evalue(b, c, total, delta, DIRICHLET, prior)


# Confidence sequences for the difference of two accuracies on the same samples.
#
# All intervals are the sets {delta : E(delta) < 1 / alpha}; log E is convex in delta.

_MAX_STEPS = 120
_NOISE = 2e-14  # of log E: rounding


@kernel
def _limit(
    b: float, c: float, n: float, reach: float, method: int, prior: tuple[float, float, float]
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
        at = itp_step(near, f_near, far, f_far, i)
        rise = _log_evalue(b, c, n, at, method, prior) - bottom
        f = aim - math.sqrt(max(rise, 0.0))
        near, f_near, far, f_far = narrowed(near, f_near, far, f_far, at, f)
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
    """Write both ends of many intervals, (P,), valid at every look.

    `options` are ``BETS`` or ``DIRICHLET``, the level, and the prior of the latter.
    """
    method, confidence_level, prior = options
    for i in range(only_a.size):
        b, c, total = float(only_a[i]), float(only_b[i]), float(n[i])
        low[i], high[i] = _interval(b, c, total, confidence_level, method, prior)
