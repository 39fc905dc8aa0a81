"""The bootstrap of means: units are drawn within strata, and counted.

A draw is how often each unit occurs, so that the means of all models on all draws are
one matrix product. What is estimated is the sum over strata h of weight W_h times the
sum of the values of the units drawn there, divided by the sum of their sizes.
"""

from __future__ import annotations

import math

import numpy as np

from fastcmp._jit import kernel, wide_vectors
from fastcmp.kernels.rng import random_below
from fastcmp.kernels.special import square
from fastcmp.kernels.typing import FloatArray, IntArray


@kernel
def draw_units(strata: IntArray, seed: int, first: int, counts: FloatArray) -> None:
    """Draw units with replacement within strata, and count them.

    Parameters
    ----------
    strata : ndarray of int64, shape (G,)
        Stratum of each unit, ascending.
    seed, first : int
        Draw i is a function of (seed, first + i).
    counts : ndarray of float64, shape (R, G)
        Receives how often each unit was drawn; in each stratum as many as it has.

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.kernels import draw_units
    >>> counts = np.empty((2, 5))
    >>> draw_units(np.array([0, 0, 0, 1, 1]), 1, 0, counts)
    >>> counts.tolist()
    [[1.0, 1.0, 1.0, 1.0, 1.0], [2.0, 1.0, 0.0, 1.0, 1.0]]
    """
    n_units = strata.size
    for r in range(counts.shape[0]):
        row = counts[r]
        row[:] = 0.0
        start = 0
        while start < n_units:
            end = start + 1
            while end < n_units and strata[end] == strata[start]:
                end += 1
            for draw in range(start, end):
                unit = start + random_below(seed, first + r, draw, end - start)
                row[unit] += 1.0
            start = end


@kernel
def count_units(rows: IntArray, counts: FloatArray) -> None:
    """Count the units of draws that are given as lists.

    Parameters
    ----------
    rows : ndarray of int64, shape (R, k)
        Units of each draw.
    counts : ndarray of float64, shape (R, G)
        Receives how often each unit occurs.

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.kernels import count_units
    >>> counts = np.empty((2, 3))
    >>> count_units(np.array([[0, 2, 2], [1, 0, 1]]), counts)
    >>> counts.tolist()
    [[1.0, 0.0, 2.0], [1.0, 2.0, 0.0]]
    """
    counts[:] = 0.0
    for r in range(rows.shape[0]):
        for k in range(rows.shape[1]):
            counts[r, rows[r, k]] += 1.0


@kernel
def total_draws(counts: FloatArray, columns: FloatArray, totals: FloatArray) -> None:
    """Multiply counts, (R, G), with columns, (G, P), some 30 of them: totals (R, P).

    Each total is summed in the order of the units, so that its rounding does not depend
    on which columns it stands among, as it does in BLAS.
    """
    wide_vectors()
    n_units = counts.shape[1]
    drawn = np.empty(n_units + 3, np.int64)
    times = np.empty(n_units + 3)
    width = columns.shape[1]
    row = np.empty(width)
    for r in range(counts.shape[0]):
        n = 0
        for g in range(n_units):
            drawn[n], times[n] = g, counts[r, g]
            n += int(counts[r, g] != 0.0)
        drawn[n : n + 3] = 0
        times[n : n + 3] = 0.0
        row[:] = 0.0
        for k in range(0, n, 4):  # four at once: as many fewer loads and stores
            t0, t1, t2, t3 = times[k], times[k + 1], times[k + 2], times[k + 3]
            g0, g1, g2, g3 = drawn[k], drawn[k + 1], drawn[k + 2], drawn[k + 3]
            for p in range(width):
                total = row[p] + t0 * columns[g0, p]
                total += t1 * columns[g1, p]
                total += t2 * columns[g2, p]
                row[p] = total + t3 * columns[g3, p]
        totals[r] = row


@kernel
def resampled_mean(
    sums: FloatArray, sizes: FloatArray, strata: IntArray, weights: FloatArray, counts: FloatArray
) -> tuple[float, float]:
    """Compute a mean of units that occur several times, or not at all.

    Parameters
    ----------
    sums, sizes : ndarray of float64, shape (G,)
        Sum of the values of each unit, and its size.
    strata : ndarray of int64, shape (G,)
        Stratum of each unit, ascending from 0.
    weights : ndarray of float64, shape (H,)
        Of the strata.
    counts : ndarray of float64, shape (G,)
        How often each unit occurs; all 1 for the data themselves.

    Returns
    -------
    tuple of float
        The mean, and its standard error: the root of CR1, G_h / (G_h - 1) times the
        sum of the squared residuals of the units divided by the squared size, and over
        strata the sum times the squared weights. NaN with a stratum of one unit.

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.kernels import resampled_mean
    >>> sums, one, none = np.array([1.0, 2.0, 6.0]), np.ones(3), np.zeros(3, np.int64)
    >>> mean, error = resampled_mean(sums, one, none, np.ones(1), one)
    >>> mean, round(error, 4)
    (3.0, 1.5275)
    """
    mean = variance = 0.0
    start = 0
    while start < sums.size:
        end, n, total = start, 0.0, 0.0
        while end < sums.size and strata[end] == strata[start]:
            n += counts[end] * sizes[end]
            total += counts[end] * sums[end]
            end += 1
        if n == 0.0:
            return math.nan, math.nan
        own = total / n
        squares = 0.0
        for g in range(start, end):
            residual = sums[g] - sizes[g] * own
            squares += counts[g] * residual * residual
        units = float(end - start)
        scale = weights[strata[start]]
        mean += scale * own
        variance += scale * scale * units / (units - 1.0) * squares / (n * n)
        start = end
    return mean, math.sqrt(variance)


@kernel
def jackknife_acceleration(
    sums: FloatArray, sizes: FloatArray, strata: IntArray, weights: FloatArray
) -> float:
    """Compute the acceleration of a BCa interval for a mean, leaving out each unit.

    Parameters
    ----------
    sums, sizes : ndarray of float64, shape (G,)
        As in `resampled_mean`.
    strata : ndarray of int64, shape (G,)
        As in `resampled_mean`.
    weights : ndarray of float64, shape (H,)
        As in `resampled_mean`.

    Returns
    -------
    float
        Sum of u**3 / (6 (sum of u**2)**1.5), where u is the mean of all means without
        one unit minus that without this unit, times (G_h - 1) / G_h within strata;
        0 where all are equal, NaN with a stratum of one unit.

    References
    ----------
    .. [1] B. Efron, R. J. Tibshirani, "An introduction to the bootstrap", Chapman and
       Hall (1993), 14.3.

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.kernels import jackknife_acceleration
    >>> sums, none = np.array([1.0, 2.0, 6.0]), np.zeros(3, np.int64)
    >>> round(jackknife_acceleration(sums, np.ones(3), none, np.ones(1)), 4)
    0.0573
    """
    squares = cubes = largest = 0.0
    start = 0
    while start < sums.size:
        end, n, total = start, 0.0, 0.0
        while end < sums.size and strata[end] == strata[start]:
            n += sizes[end]
            total += sums[end]
            end += 1
        units = float(end - start)
        if units < 2.0:
            return math.nan
        own = total / n
        middle = 0.0  # of the changes of the mean that each unit makes
        for g in range(start, end):
            middle += (sums[g] - sizes[g] * own) / (n - sizes[g])
        middle /= units
        scale = weights[strata[start]] * (units - 1.0) / units
        for g in range(start, end):
            change = (sums[g] - sizes[g] * own) / (n - sizes[g])
            u = scale * (change - middle)
            squares += u * u
            cubes += u * u * u
            largest = max(largest, abs(own) * abs(scale) / (n - sizes[g]))
        start = end
    if not squares > square(1e-14 * largest):
        return 0.0 if squares == squares else math.nan
    return cubes / (6.0 * squares**1.5)


# Counts of cells where whole clusters are drawn, or their models exchanged.
#
# Entries of `index` and `counts` from ``starts[c]`` to ``starts[c + 1]`` are the cells of
# cluster c. `times`, (R, C), tells how often each cluster occurs in a draw; a negative
# number means with the two models exchanged, in the cells that `partner` tells.


@kernel
def cluster_cells(
    starts: IntArray,
    index: IntArray,
    counts: IntArray,
    partner: IntArray,
    times: FloatArray,
    out: FloatArray,
) -> None:
    """Write the counts of all cells, (R, S), in each draw of clusters."""
    for r in range(times.shape[0]):
        out[r] = 0.0
        for c in range(times.shape[1]):
            n = times[r, c]
            if n != 0.0:
                for i in range(starts[c], starts[c + 1]):
                    s = index[i] if n > 0.0 else partner[index[i]]
                    out[r, s] += abs(n) * counts[i]


@kernel
def cluster_squares(
    starts: IntArray,
    index: IntArray,
    counts: IntArray,
    partner: IntArray,
    times: FloatArray,
    values: FloatArray,
    out: FloatArray,
) -> None:
    """Write the sum over clusters of the squared sum of a cluster's values, (R,).

    `values`, (R, S), are those of a sample of each cell.
    """
    for r in range(times.shape[0]):
        total = 0.0
        for c in range(times.shape[1]):
            n = times[r, c]
            if n != 0.0:
                own = 0.0
                for i in range(starts[c], starts[c + 1]):
                    s = index[i] if n > 0.0 else partner[index[i]]
                    own += counts[i] * values[r, s]
                total += abs(n) * own * own
        out[r] = total
