"""Means of clustered values: robust variances, their degrees of freedom, and t tests.

A unit is a cluster of items, or an item alone. All that is needed of it is the sum of
its weighted differences, the sum of its weights, and that of their squares.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from fastcmp._jit import kernel, sum_of
from fastcmp.kernels.special import (
    ndtri,
    normal_pvalue,
    square,
    stdtr,
    stdtrit,
    student_tails,
    t_below,
)
from fastcmp.kernels.status import DEGENERATE, INVALID, OK, TWO_SIDED, UNDEFINED
from fastcmp.kernels.typing import CodeArray, FloatArray

#: How residuals are scaled up for having been fitted.
CR0: Final = 0
CR1: Final = 1
CR2: Final = 2
CR3: Final = 3

#: With which so many samples tell.
POWER: Final = 0.8
_LARGE: Final = 1e300  # degrees of freedom of the normal distribution


@kernel
def cluster_factors(
    sizes: FloatArray, squares: FloatArray, variance: int, out: FloatArray
) -> float:
    """Work out how much each cluster's squared residual counts, and the d.o.f.

    Parameters
    ----------
    sizes : ndarray of float64, shape (G,)
        Sum of the weights of the items of each cluster; their number without weights.
    squares : ndarray of float64, shape (G,)
        Sum of the squares of these weights; `sizes` again without weights.
    variance : int
        `CR0`, `CR1`, `CR2` or `CR3`.
    out : ndarray of float64, shape (G,)
        Receives the factors f, so that the variance of the mean is the sum of
        ``f * E**2`` divided by the square of the sum of sizes, where E is the sum of
        weighted residuals of a cluster.

    Returns
    -------
    float
        Degrees of freedom by Bell and McCaffrey's Satterthwaite approximation under
        independence; NaN for fewer than two clusters. They depend on sizes only.

    Notes
    -----
    O(G). For an intercept the matrix roots of CR2 are numbers: without weights
    f = 1 / (1 - n_g / n), and with clusters of equal size CR2 is CR1 with G - 1 degrees
    of freedom; with clusters of one it is the paired t test.

    References
    ----------
    .. [1] R. M. Bell, D. F. McCaffrey, "Bias reduction in standard errors for linear
       regression with multi-stage samples", Survey Methodology 28 (2002) 169-181.
    .. [2] J. E. Pustejovsky, E. Tipton, "Small-sample methods for cluster-robust
       variance estimation and hypothesis testing in fixed effects models", J. Business
       & Economic Statistics 36 (2018) 672-683.

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.kernels import CR2, cluster_factors
    >>> sizes, factors = np.array([2.0, 2.0, 4.0]), np.empty(3)
    >>> round(cluster_factors(sizes, sizes, CR2, factors), 4)
    1.8
    >>> factors.round(4).tolist()
    [1.3333, 1.3333, 2.0]
    """
    n_units = sizes.size
    if n_units < 2:
        out[:] = math.nan
        return math.nan
    total, square = 0.0, 0.0
    for g in range(n_units):
        total += sizes[g]
        square += squares[g]
    # Sums over clusters of products of u = a Q_g and w = a W_g / W, where a**2 = f; the
    # entries of the quadratic form are a a' (Q_g [g = h] - u w' - u' w + Q w w').
    uu = uw = ww = 0.0
    trace = diagonal = own = 0.0
    for g in range(n_units):
        part = sizes[g] / total
        if variance == CR1:
            factor = n_units / (n_units - 1.0)
        elif variance == CR2:
            spread = 0.0
            if squares[g] > 0.0:
                spread = part * part * square / squares[g]
            factor = 1.0 / (1.0 - 2.0 * part + spread)
        elif variance == CR3:
            factor = 1.0 / ((1.0 - part) * (1.0 - part))
        else:
            factor = 1.0
        out[g] = factor
        a = math.sqrt(factor)
        u, w = a * squares[g], a * part
        uu += u * u
        uw += u * w
        ww += w * w
        mixed = square * w * w - 2.0 * u * w
        entry = factor * squares[g] + mixed
        trace += entry
        diagonal += entry * entry
        own += mixed * mixed
    across = 2.0 * uu * ww + 2.0 * uw * uw
    across += square * ww * (square * ww - 4.0 * uw)
    return trace * trace / (diagonal + max(across - own, 0.0))


@kernel
def clustered_mean(
    sums: FloatArray, sizes: FloatArray, squares: FloatArray, variance: int
) -> tuple[float, float, float]:
    """Estimate a mean of clustered values, its variance, and the degrees of freedom.

    Parameters
    ----------
    sums : ndarray of float64, shape (G,)
        Sum of the weighted values of each cluster, such as differences of two models.
    sizes, squares : ndarray of float64, shape (G,)
        As in `cluster_factors`.
    variance : int
        `CR0`, `CR1`, `CR2` or `CR3`.

    Returns
    -------
    mean, variance, df : float
        NaN for fewer than two clusters.

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.kernels import CR2, clustered_mean
    >>> sizes = np.array([2.0, 2.0, 4.0])
    >>> found = clustered_mean(np.array([1.0, 0.0, 1.0]), sizes, sizes, CR2)
    >>> [round(x, 4) for x in found]
    [0.25, 0.0104, 1.8]
    """
    factors = np.empty(sizes.size)
    df = cluster_factors(sizes, squares, variance, factors)
    mean, found = residual_squares(sums, sizes, factors)
    weight = sum_of(sizes)
    return mean, found / (weight * weight), df


@kernel
def residual_squares(
    sums: FloatArray, sizes: FloatArray, factors: FloatArray
) -> tuple[float, float]:
    """Add up the squares of clusters' residuals from their mean.

    Parameters
    ----------
    sums, sizes, factors : ndarray of float64, shape (G,)
        Sums of values, sums of weights, and what each square counts.

    Returns
    -------
    mean, squares : float
        The weighted mean, and the sum of ``factors * (sums - sizes * mean)**2``.

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.kernels import residual_squares
    >>> residual_squares(np.array([1.0, 3.0]), np.ones(2), np.ones(2))
    (2.0, 2.0)
    """
    total, weight = 0.0, 0.0
    for g in range(sums.size):
        total += sums[g]
        weight += sizes[g]
    mean = total / weight
    rest = 0.0  # what rounding left of the mean
    for g in range(sums.size):
        rest += sums[g] - sizes[g] * mean
    mean += rest / weight
    squares = 0.0
    for g in range(sums.size):
        residual = sums[g] - sizes[g] * mean
        squares += factors[g] * residual * residual
    return mean, squares


@kernel
def mean_t(
    difference: float, variance: float, df: float, alternative: int
) -> tuple[float, float, int]:
    """Test by Student's t that a mean is 0, given its estimate and variance.

    Parameters
    ----------
    difference, variance : float
        The estimate, and the square of its standard error.
    df : float
        Degrees of freedom; infinity for the normal distribution.
    alternative : int
        `TWO_SIDED`, `GREATER` or `LESS`.

    Returns
    -------
    statistic, pvalue, status : float, float, int
        Without variance: 0, 1 and `DEGENERATE` where there is no difference, else NaN
        and `UNDEFINED`, for nothing measures the difference.

    Examples
    --------
    >>> from fastcmp.kernels import TWO_SIDED, mean_t
    >>> t, pvalue, status = mean_t(0.25, 0.01, 10.0, TWO_SIDED)
    >>> t, round(pvalue, 4), status
    (2.5, 0.0314, 0)
    """
    if not (variance >= 0.0 and df > 0.0 and math.isfinite(difference)):
        return math.nan, math.nan, INVALID
    if variance == 0.0:
        if difference == 0.0:
            return 0.0, 1.0, DEGENERATE
        return math.nan, math.nan, UNDEFINED
    t = difference / math.sqrt(variance)
    if df > _LARGE:
        return t, normal_pvalue(t, alternative), OK
    if alternative == TWO_SIDED:
        return t, student_tails(df, t), OK
    return t, stdtr(df, -t * alternative), OK


@kernel
def t_quantile(df: float, confidence_level: float) -> float:
    """The t or normal quantile of a two-sided interval.

    Parameters
    ----------
    df : float
        Degrees of freedom; infinity for the normal distribution.
    confidence_level : float
        In (0, 1).

    Returns
    -------
    float
        How many standard errors the interval reaches to each side.

    Examples
    --------
    >>> from fastcmp.kernels import t_quantile
    >>> round(t_quantile(10.0, 0.95), 4)
    2.2281
    """
    tail = 0.5 * (1.0 - confidence_level)
    return -ndtri(tail) if df > _LARGE else -stdtrit(df, tail)


@kernel
def margin_t(
    difference: float,
    error: float,
    margin: float,
    df: float,
    n: float,
    alpha: tuple[float, float],
    less: bool,
) -> tuple[float, float, float, float, float, float, float, float, float, float]:
    """Test a difference against a margin, by t or for infinite `df` by z; no error is NaN.

    The statistics of both margins; p-values of the difference being above -margin, below margin,
    and better by the margin; both ends of the intervals at levels 1 - alpha and 1 - 2 alpha; how
    many samples instead of `n` give the nearest decision a power of 80%. The second `alpha` is
    that of one-sided claims.
    """
    error = error if error > 0.0 else math.nan
    lower, upper = (difference + margin) / error + 0.0, (difference - margin) / error + 0.0
    beyond = lower if less else -upper
    outer = error * (ndtri(0.5 * alpha[0]) if df == math.inf else stdtrit(df, 0.5 * alpha[0]))
    inner = error * (ndtri(alpha[0]) if df == math.inf else stdtrit(df, alpha[0]))
    tails = t_below(df, -lower), t_below(df, upper), t_below(df, beyond)
    ends = difference + outer, difference - outer, difference + inner, difference - inner
    spread, gain = error * math.sqrt(n), -difference if less else difference
    powerful, needed = -ndtri(1.0 - POWER) * spread, math.nan
    if gain != 0.0:
        needed = square((-ndtri(0.5 * alpha[0]) * spread + powerful) / gain)
    if gain + margin > 0.0:
        met = square((-ndtri(alpha[1]) * spread + powerful) / (gain + margin))
        needed = min(met, needed)
    return lower, upper, tails[0], tails[1], tails[2], ends[0], ends[1], ends[2], ends[3], needed


@kernel
def margin_t_many(
    numbers: FloatArray, alpha: tuple[float, float], less: CodeArray, out: FloatArray
) -> None:
    """Write `margin_t` of many differences, columns of `numbers`, (5, P), into `out`, (10, P)."""
    for p in range(less.size):
        d, error, margin, df = numbers[0, p], numbers[1, p], numbers[2, p], numbers[3, p]
        tests = margin_t(d, error, margin, df, numbers[4, p], alpha, less[p])
        for k in range(10):
            out[k, p] = tests[k]


@kernel
def mean_t_many(
    difference: FloatArray,
    variance: FloatArray,
    df: FloatArray,
    options: tuple[int, float],
    out: FloatArray,
) -> None:
    """Write tests of many differences, and their intervals, from their variances.

    `df` has one number for all or one a difference, `options` are the alternative and the
    confidence level, 0 for no intervals. Rows of `out`, (P, 5): statistic, p-value, both
    ends, status.
    """
    alternative, level = options
    shared = df.size == 1
    quantile = t_quantile(df[0], level) if shared and level > 0.0 else math.nan
    for p in range(difference.size):
        own = df[0] if shared else df[p]
        t, pvalue, status = mean_t(difference[p], variance[p], own, alternative)
        out[p, 0], out[p, 1], out[p, 4] = t, pvalue, status
        if level > 0.0:
            q = quantile if shared else t_quantile(own, level)
            spread = q * math.sqrt(variance[p])
            out[p, 2] = difference[p] - spread
            out[p, 3] = difference[p] + spread


@kernel
def add_cluster_sums(
    values: FloatArray, pilot: FloatArray, weights: FloatArray, groups: CodeArray, out: FloatArray
) -> None:
    """Add the values of the items of each cluster, less a number for each item.

    Parameters
    ----------
    values : ndarray of float64, float32 or uint8, shape (n,)
        Of one model.
    pilot : ndarray of float64, shape (n,) or (0,)
        What to subtract, which is the same for all models.
    weights : ndarray of float64, shape (n,) or (0,)
        Of the items; 1 where there are none.
    groups : ndarray of int64, shape (n,)
        The cluster of each item, from 0.
    out : ndarray of float64, shape (G,)
        Sums, which grow.

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.kernels import add_cluster_sums
    >>> out, none = np.zeros(2), np.empty(0)
    >>> add_cluster_sums(np.ones(3), none, none, np.array([0, 1, 1]), out)
    >>> out.tolist()
    [1.0, 2.0]
    """
    plain = pilot.size == 0
    weighted = weights.size > 0
    for i in range(values.size):
        x = np.float64(values[i])
        if not plain:
            x -= pilot[i]
        if weighted:
            x *= weights[i]
        out[groups[i]] += x
