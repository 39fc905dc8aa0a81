"""Random counts: what resampling or exchanging samples does to the cells of a table.

A cell holds the samples with one true class and one prediction of each model. Drawing
samples with replacement draws the counts of the cells from a multinomial distribution,
and exchanging the predictions of two models moves samples between the cells (t, a, b)
and (t, b, a): the number of samples does not enter. A draw is a row of counts, in the
order of the cells; `cell_tables` makes confusion matrices of it.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from fastcmp._jit import kernel
from fastcmp.kernels.binomial import _binomial, binomial_half
from fastcmp.kernels.rng import _word
from fastcmp.kernels.typing import FloatArray, IntArray


@kernel
def draw_cells(counts: IntArray, strata: IntArray, seed: int, first: int, out: FloatArray) -> None:
    """Draw as many samples as there are, with replacement within strata.

    Parameters
    ----------
    counts : ndarray of int64, shape (S,)
        Samples of each cell; not negative, up to 2**53 together.
    strata : ndarray of int64, shape (S,)
        Stratum of each cell, ascending; all the same, or true classes.
    seed, first : int
        Draw i is a function of (seed, first + i).
    out : ndarray of float64, shape (R, S)
        Receives how many samples of each cell were drawn; in each stratum as many as it
        has.

    Notes
    -----
    A multinomial distribution, by conditional binomial ones: O(S) a draw.

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.kernels import draw_cells
    >>> out = np.empty((2, 3))
    >>> draw_cells(np.array([600, 300, 100]), np.zeros(3, np.int64), 1, 0, out)
    >>> out.tolist()
    [[603.0, 295.0, 102.0], [619.0, 289.0, 92.0]]
    """
    n_cells = counts.size
    for r in range(out.shape[0]):
        start = 0
        while start < n_cells:
            total, end = 0.0, start
            while end < n_cells and strata[end] == strata[start]:
                total += counts[end]
                end += 1
            left = total  # to draw; `total` are the samples of the cells to come
            for s in range(start, end):
                own = float(counts[s])
                x = left
                if own < total:
                    key = _word(seed, first + r, s)
                    x = _binomial(key, left, own / total) if left > 0.0 else 0.0
                out[r, s] = x
                left -= x
                total -= own
            start = end


@kernel
def swap_cells(counts: IntArray, partner: IntArray, seed: int, first: int, out: FloatArray) -> None:
    """Exchange the predictions of two models in each sample with probability 1/2.

    Parameters
    ----------
    counts : ndarray of int64, shape (S,)
        Samples of each cell; not negative, up to 2**53 together.
    partner : ndarray of int64, shape (S,)
        Where the cell with exchanged predictions stands; for a cell on which the models
        agree its own place.
    seed, first : int
        Draw i is a function of (seed, first + i).
    out : ndarray of float64, shape (R, S)
        Receives the counts after the exchanges.

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.kernels import swap_cells
    >>> out = np.empty((2, 3))
    >>> swap_cells(np.array([700, 60, 40]), np.array([0, 2, 1]), 1, 0, out)
    >>> out.tolist()
    [[700.0, 60.0, 40.0], [700.0, 50.0, 50.0]]
    """
    for r in range(out.shape[0]):
        for s in range(counts.size):
            other = partner[s]
            if other == s:
                out[r, s] = counts[s]
            elif other > s:
                both = float(counts[s] + counts[other])
                x = _binomial(_word(seed, first + r, s), both, 0.5)
                out[r, s], out[r, other] = x, both - x


def _tables_by_numpy(cells: IntArray, draws: FloatArray, out: FloatArray) -> None:
    """As `cell_tables`."""
    out[:] = 0.0
    for s, (t, *predicted) in enumerate(cells.tolist()):
        for m, label in enumerate(predicted):
            out[:, m, t, label] += draws[:, s]


@partial(kernel, by_numpy=_tables_by_numpy)
def cell_tables(cells: IntArray, draws: FloatArray, out: FloatArray) -> None:
    """Make the confusion matrices of each model of counts of cells.

    Parameters
    ----------
    cells : ndarray of int64, shape (S, 1 + M)
        True class and prediction of each model, of each cell.
    draws : ndarray of float64, shape (R, S)
        Counts, or weights, of the cells.
    out : ndarray of float64, shape (R, M, K, K)
        Receives ``out[r, m, true, predicted]``.

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.kernels import cell_tables
    >>> out = np.empty((1, 2, 2, 2))
    >>> cell_tables(np.array([[0, 0, 0], [1, 0, 1]]), np.array([[7.0, 3.0]]), out)
    >>> out[0].tolist()
    [[[7.0, 0.0], [3.0, 0.0]], [[7.0, 0.0], [0.0, 3.0]]]
    """
    for r in range(draws.shape[0]):
        out[r] = 0.0
        for s in range(draws.shape[1]):
            count = draws[r, s]
            if count != 0.0:
                for m in range(out.shape[1]):
                    out[r, m, cells[s, 0], cells[s, 1 + m]] += count


@kernel
def enumerate_swaps(
    counts: IntArray,
    partner: IntArray,
    least: IntArray,
    chances: FloatArray,
    first: int,
    out: FloatArray,
    weights: FloatArray,
) -> None:
    """Write configurations of exchanges, from number `first` on, and their chances.

    A configuration tells how many of the samples of each pair of cells lie in the first
    of the two: from `least`, (G,), to all minus `least`; the last pair changes fastest.
    `chances`, (G, W), are those of each pair from its least number on. Configuration c
    and the one with number (all - 1 - c) differ by an exchange of the models.
    """
    pairs = np.empty(least.size, np.int64)
    both = np.empty(least.size)
    digits = np.empty(least.size, np.int64)
    g = 0
    for s in range(counts.size):
        if partner[s] > s and counts[s] + counts[partner[s]] > 0:
            pairs[g], both[g] = s, float(counts[s] + counts[partner[s]])
            g += 1
    rest = first
    for g in range(least.size - 1, -1, -1):
        radix = int(both[g]) - 2 * least[g] + 1
        digits[g] = rest % radix
        rest //= radix
    row = counts.astype(np.float64)
    changed = 0  # the digits from here on have changed
    upto = np.ones(least.size + 1)  # products of chances
    for b in range(out.shape[0]):
        for g in range(changed, least.size):
            x = float(least[g] + digits[g])
            row[pairs[g]], row[partner[pairs[g]]] = x, both[g] - x
            upto[g + 1] = upto[g] * chances[g, digits[g]]
        for s in range(row.size):
            out[b, s] = row[s]
        weights[b] = upto[least.size]
        changed = least.size
        while changed > 0:
            changed -= 1
            digits[changed] += 1
            if digits[changed] <= int(both[changed]) - 2 * least[changed]:
                break
            digits[changed] = 0


@kernel
def add_tails(
    statistics: FloatArray, weights: FloatArray, observed: float, tolerance: float, out: FloatArray
) -> None:
    """Add the chances of statistics, and of their negatives, beyond the observed one.

    `out`, (4,): of both sides, from above, from below, and of all. NaN is beyond on all
    sides.
    """
    both = above = below = total = 0.0
    size = abs(observed) - tolerance
    for b in range(statistics.size):
        x, weight = statistics[b], weights[b]
        total += weight
        if not abs(x) < size:
            both += weight
        if not x < observed - tolerance:
            above += weight
        if not -x < observed - tolerance:
            above += weight
        if not x > observed + tolerance:
            below += weight
        if not -x > observed + tolerance:
            below += weight
    out[0] += 2.0 * both
    out[1] += above
    out[2] += below
    out[3] += 2.0 * total


@kernel
def half_chances(n: int, least: int, out: FloatArray) -> None:
    """Write the probabilities of Bin(n, 1/2) from `least` on."""
    for i in range(out.size):
        out[i] = binomial_half(float(least + i), float(n)).pmf if n > 0 else 1.0
