"""E-values of McNemar's test, and of a proportion: valid at every look.

Model a alone is right on b = only_a samples, model b alone on c = only_b, m = b + c of
both. With a Beta(s, t) prior on a's proportion of these the e-value of "one half" is
the Bayes factor E = 2**m B(b + s, c + t) / B(s, t), a martingale under the null
hypothesis: P(E >= 1 / alpha at any look) <= alpha (Ville 1939). All are logarithms: E
leaves the range of floats at some thousand samples. None of the terms below cancel, so
counts may be as large as floats count.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any, Final

import numpy as np

from fastcmp._jit import kernel
from fastcmp.kernels.binomial import _FAR_U, _SMALL_N, _expansion, _stirling_error
from fastcmp.kernels.special import _erfcx, _gammaln, itp_step, log1pmx, narrowed, vector_log
from fastcmp.kernels.status import TWO_SIDED, Interval
from fastcmp.kernels.typing import FloatArray, IntArray

_HALF_LOG_2PI = 0.9189385332046727
_LOG_2 = 0.6931471805599453
_MAX_STEPS = 120


@kernel
def _log_gamma_excess(n: float, a: float) -> float:
    """Log of Gamma(n + a), less n log(n) - n; of the order of log(n)."""
    if n == 0.0:
        return _gammaln(a, 0)
    x = n + a
    excess = n * math.log1p(a / n) - a + (a - 0.5) * math.log(x)
    return excess + _HALF_LOG_2PI + _stirling_error(x)


@kernel
def _log_beta(x: float, y: float) -> float:
    """Log of B(x, y), without a difference of large numbers."""
    total = x + y
    log_x, log_y = -math.log1p(y / x), -math.log1p(x / y)
    smooth = (x - 0.5) * log_x + (y - 0.5) * log_y - 0.5 * math.log(total)
    errors = _stirling_error(x) + _stirling_error(y) - _stirling_error(total)
    return smooth + _HALF_LOG_2PI + errors


@kernel
def _half_divergence(b: float, c: float) -> float:
    """Log of the likelihood at b / (b + c) over that at one half."""
    m = b + c
    u = abs(b - c) / m
    if u <= 0.5:
        return m * (u * math.atanh(u) + 0.5 * math.log1p(-u * u))
    few, many = min(b, c), max(b, c)
    if few == 0.0:
        return m * _LOG_2
    return many * math.log(2.0 * many / m) + few * math.log(2.0 * few / m)


@kernel
def _log_mixture(b: float, c: float, s: float, t: float) -> float:
    """Log of 2**m B(b + s, c + t)."""
    if b + c == 0.0:
        return _log_beta(s, t)
    loss = _log_gamma_excess(b, s) + _log_gamma_excess(c, t)
    return _half_divergence(b, c) + (loss - _log_gamma_excess(b + c, s + t))


@kernel
def _log_tail(big: float, small: float) -> float:
    """Log of 2**(big + small - 1) times the integral of B(big, small) up to one half.

    It is R / small with R = I(1/2; big, small) / P(X = small) and X ~ Bin(n, 1/2), n =
    big + small - 1: `binomial_half` for real numbers, without the part that underflows.
    """
    n = big + small - 1.0
    if n < _SMALL_N or n - 2.0 * small > _FAR_U * n:
        total, term, i = 0.0, 1.0, 0.0
        while term > 1e-17 * total:
            total += term
            term *= (big + small + i) / (2.0 * (big + 1.0 + i))
            i += 1.0
        return math.log(0.5 * total / big)
    u = (n - 2.0 * small) / n
    deviance = n * (u * math.atanh(u) + 0.5 * math.log1p(-u * u))
    scale = math.sqrt(n / (2.0 * math.pi * small * (n - small))) * math.exp(
        _stirling_error(n) - _stirling_error(small) - _stirling_error(n - small)
    )
    root = math.copysign(math.sqrt(max(deviance, 0.0)), u)
    ratio = 0.5 * _erfcx(root, 0) / scale + u * _expansion(u * u, 1.0 / n) - 0.5
    return math.log(ratio / small)


@kernel
def _log_half_mixture(b: float, c: float, s: float, t: float) -> float:
    """As `_log_mixture`, of the half of the prior above one half."""
    above, below = b + s, c + t
    shift = (1.0 - s - t) * _LOG_2
    if below >= above:
        return shift + _log_tail(below, above)
    whole = _log_mixture(b, c, s, t)
    return whole + math.log1p(-math.exp(shift + _log_tail(above, below) - whole))


@kernel
def mcnemar_log_evalue(
    only_a: float, only_b: float, prior_a: float = 0.5, prior_b: float = 0.5, alternative: int = 0
) -> float:
    """Logarithm of the e-value of McNemar's test.

    Parameters
    ----------
    only_a, only_b : float
        Samples that only model a, and only model b, classified correctly, so far.
    prior_a, prior_b : float, optional
        The Beta prior of the proportion that a alone gets right: above 0.
    alternative : int, optional
        ``TWO_SIDED`` (0), ``GREATER`` (1, a is better) or ``LESS`` (-1). A one-sided
        e-value has the prior cut off at one half.

    Returns
    -------
    float
        log(E); 0 without discordant samples, NaN for negative counts or priors.

    References
    ----------
    .. [1] J. Ville, "Etude critique de la notion de collectif" (1939).
    .. [2] M. Lindon, A. Malek, "Anytime-valid inference for multinomial count data",
       NeurIPS 35 (2022).

    Examples
    --------
    >>> from math import exp
    >>> from fastcmp.kernels import mcnemar_log_evalue
    >>> round(exp(mcnemar_log_evalue(10, 2)), 10)
    4.1005859375
    """
    b, c, s, t = float(only_a), float(only_b), float(prior_a), float(prior_b)
    if not (min(b, c) >= 0.0 and min(s, t) > 0.0 and max(s, t) < math.inf):
        return math.nan
    if b + c == 0.0:
        return 0.0
    if alternative == TWO_SIDED:
        return _log_mixture(b, c, s, t) - _log_beta(s, t)
    if alternative < 0:
        b, c, s, t = c, b, t, s
    return _log_half_mixture(b, c, s, t) - _log_half_mixture(0.0, 0.0, s, t)


@kernel
def mcnemar_log_evalue_many(
    only_a: IntArray,
    only_b: IntArray,
    prior: tuple[float, float],
    alternative: int,
    out: FloatArray,
) -> None:
    """Write `mcnemar_log_evalue` of many pairs, (P,), with one prior."""
    for i in range(only_a.size):
        out[i] = mcnemar_log_evalue(only_a[i], only_b[i], prior[0], prior[1], alternative)


@kernel
def _lower_limit(b: float, c: float, reach: float) -> float:
    """Find the smaller proportion at which the log-likelihood has fallen by `reach`."""
    m = b + c
    if b == 0.0:
        return 0.0
    if c == 0.0:
        return math.exp(-reach / b)
    top, rest = b / m, c / m
    near, f_near = top, reach
    far, f_far = 0.0, -math.inf
    for i in range(_MAX_STEPS):
        at = itp_step(near, f_near, far, f_far, i)
        change = (at - top) / top
        own = log1pmx(change) if change > -0.5 else math.log(at / top) - change
        fall = -b * own - c * log1pmx((top - at) / rest)
        near, f_near, far, f_far = narrowed(near, f_near, far, f_far, at, reach - fall)
        if near - far <= 4e-16 * near:
            break
    return 0.5 * (near + far)


@kernel
def anytime_proportion_interval(
    successes: float, failures: float, prior_a: float, prior_b: float, confidence_level: float
) -> Interval:
    """Confidence interval for a proportion that is valid at every look.

    Parameters
    ----------
    successes, failures : float
        Samples so far: right and wrong ones for an accuracy; for the proportion of
        discordant samples that a alone gets right, those of a and those of b.
    prior_a, prior_b : float
        The Beta prior of the proportion: above 0.
    confidence_level : float
        In (0, 1).

    Returns
    -------
    Interval
        ``low`` and ``high``: the proportions whose e-value is below 1 / (1 -
        confidence_level); NaN for impossible counts, priors or levels.

    References
    ----------
    .. [1] H. Robbins, "Statistical methods related to the law of the iterated
       logarithm", Annals of Mathematical Statistics 41 (1970) 1397-1409.

    Examples
    --------
    >>> from fastcmp.kernels import anytime_proportion_interval
    >>> low, high = anytime_proportion_interval(10, 2, 0.5, 0.5, 0.95)
    >>> round(low, 6), round(high, 6)
    (0.413297, 0.992659)
    """
    b, c, s, t = float(successes), float(failures), float(prior_a), float(prior_b)
    possible = min(b, c) >= 0.0 and min(s, t) > 0.0 and max(s, t) < math.inf
    if not (possible and 0.0 < confidence_level < 1.0):
        return Interval(math.nan, math.nan)
    if b + c == 0.0:
        return Interval(0.0, 1.0)
    # The mixture's likelihood lies below the greatest one by this much.
    loss = _log_gamma_excess(b + c, s + t) - _log_gamma_excess(b, s)
    reach = loss - _log_gamma_excess(c, t) + _log_beta(s, t)
    reach -= math.log1p(-confidence_level)
    return Interval(_lower_limit(b, c, reach), 1.0 - _lower_limit(c, b, reach))


# E-values of all pairs of models after a block, from tables of log-gamma by count.
#
# With G(k) = log Gamma(k + s) and T(m) = log Gamma(m + 2 s) - m log 2 + log B(s, s) a
# pair's log E is G(b) + G(c) - T(b + c): three look-ups, where the formula of `evalues`
# takes a hundred nanoseconds. The tables hold whole multiples of 2**-40, which add up
# without rounding, and modulo 2**64: a sum is right where log E itself is below 2**23.

_UNITS: Final = 2.0**40
_UNIT: Final = 2.0**-40
#: Below it exp(log E) adds nothing to a sum of numbers of size 1.
_NOTHING: Final = -40.0


@kernel
def extend_tables(prior: float, n_known: int, tables: IntArray, rests: FloatArray) -> None:
    """Write the entries from `n_known` on of G and of T, shape (2, n).

    `rests` is what rounding has left of the last entry of each.
    """
    for k in range(n_known, tables.shape[1]):
        for which in range(2):
            if k == 0:
                before = np.int64(0)
                more = _gammaln(prior * (1.0 + which), 0)
                more += _log_beta(prior, prior) if which else 0.0
            else:
                before = tables[which, k - 1]
                at = k - 1.0 + prior * (1.0 + which)
                more = math.log(0.5 * at if which else at)
            rests[which] += more
            whole = math.floor(rests[which] * _UNITS)
            rests[which] -= whole * _UNIT
            tables[which, k] = before + whole


@kernel
def pair_log_evalues(
    joint: IntArray,
    right: IntArray,
    rows: tuple[int, int],
    known: tuple[float, IntArray],
    before: FloatArray,
    out: tuple[FloatArray, FloatArray],
) -> None:
    """Write log E of the pairs i < j of some rows, and the largest so far.

    `joint` counts samples that both models got right; only what is above the diagonal
    is read. `right` counts those of each. `known` is the prior and both tables; without
    entries the formula is used.
    """
    prior, tables = known
    wins, totals = tables[0], tables[1]
    n_models = len(joint)
    start = rows[0] * n_models - rows[0] * (rows[0] + 1) // 2
    for i in range(rows[0], rows[1]):
        mine, row, others = right[i], joint[i, i + 1 :], right[i + 1 :]
        end = start + row.size
        found, largest, largest_before = out[0][start:end], out[1][start:end], before[start:end]
        start = end
        if wins.size:
            for j in range(row.size):
                b, c = np.uint64(mine - row[j]), np.uint64(others[j] - row[j])
                found[j] = (wins[b] + wins[c] - totals[b + c]) * _UNIT
        else:
            for j in range(row.size):
                b, c = mine - row[j], others[j] - row[j]
                found[j] = mcnemar_log_evalue(b, c, prior, prior, 0)
        for j in range(row.size):
            largest[j] = max(largest_before[j], found[j])


@kernel
def missing_evidence(log_evalues: FloatArray, threshold: float) -> float:
    """Sum up by how much the e-values below a threshold lie below it."""
    log_threshold = math.log(threshold)
    total = 0.0
    for i in range(log_evalues.size):
        if log_evalues[i] < log_threshold:
            total += threshold
            if log_evalues[i] > _NOTHING:
                total -= math.exp(log_evalues[i])
    return total


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
    # y**2 / 2 + log(Phi(y)) rises and is convex, and log(Phi(y)) is above -log(2) for y > 0: from
    # there each of Newton's steps falls short.
    y = math.sqrt(2.0 * (aim + math.log(2.0)))
    for _ in range(_MAX_STEPS):
        below = 0.5 * math.erfc(-y * _ROOT_HALF)
        slope = y + math.exp(-0.5 * y * y - _HALF_LOG_2PI) / below
        step = (0.5 * y * y + math.log(below) - aim) / slope
        y -= step
        if step <= 4e-16 * y:
            break
    return y * math.sqrt(whole)


def _boundaries_by_numpy(variances: Any, rho: float, price: float, out: Any) -> bool:
    ratio = variances / rho
    grown = 1.0 + ratio
    lost = np.where(grown < 2.0, ratio - (grown - 1.0), 0.0)
    growth = np.where(grown < math.inf, vector_log(grown), grown) + lost + price
    np.sqrt(growth * (variances + rho), out=out)
    return bool(((variances >= 0.0) & (variances < math.inf)).all())


@partial(kernel, by_numpy=_boundaries_by_numpy)
def normal_mixture_boundaries(
    variances: FloatArray, rho: float, price: float, out: FloatArray
) -> bool:
    """Write two-sided boundaries of some variances, (n,); False where one is no variance.

    The price is -2 log(alpha).
    """
    n_wrong = 0
    for i in range(variances.size):
        v = variances[i]
        n_wrong += not 0.0 <= v < math.inf
        ratio = v / rho
        grown = 1.0 + ratio
        lost = ratio - (grown - 1.0) if grown < 2.0 else 0.0  # in rounding, as log1p knows it
        growth = (vector_log(grown) if grown < math.inf else grown) + lost + price
        out[i] = math.sqrt(growth * (v + rho))
    return n_wrong == 0
