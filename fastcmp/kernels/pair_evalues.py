"""E-values of all pairs of models after a block, from tables of log-gamma by count.

With G(k) = log Gamma(k + s) and T(m) = log Gamma(m + 2 s) - m log 2 + log B(s, s) a
pair's log E is G(b) + G(c) - T(b + c): three look-ups, where the formula of `evalues`
takes a hundred nanoseconds. Each entry is a whole multiple of 2**-12, so that
the large parts add up exactly, and a small rest.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import numpy as np

from fastcmp._jit import kernel
from fastcmp.kernels.evalues import _log_beta, mcnemar_log_evalue

if TYPE_CHECKING:
    from fastcmp.kernels.typing import FloatArray, IntArray

_UNIT: Final = 4096.0
#: Below it exp(log E) adds nothing to a sum of e-values and ones.
_NOTHING: Final = -40.0


@kernel
def extend_tables(
    prior: float, n_known: int, wins: FloatArray, totals: FloatArray
) -> None:
    """Write the entries from `n_known` on of G and of T, shape (n, 2): both parts."""
    for k in range(n_known, len(wins)):
        if k == 0:
            g, t = math.lgamma(prior), math.lgamma(2.0 * prior)
            t += _log_beta(prior, prior)
            g_rest, t_rest = 0.0, 0.0
        else:
            g, g_rest = wins[k - 1]
            t, t_rest = totals[k - 1]
            g_rest += math.log(k - 1.0 + prior)
            t_rest += math.log(0.5 * (k - 1.0 + 2.0 * prior))
        # What is a multiple of the unit moves to the large part, exactly.
        g_whole = math.floor((g + g_rest) * _UNIT) / _UNIT
        t_whole = math.floor((t + t_rest) * _UNIT) / _UNIT
        wins[k, 0], wins[k, 1] = g_whole, (g - g_whole) + g_rest
        totals[k, 0], totals[k, 1] = t_whole, (t - t_whole) + t_rest


@kernel
def pair_log_evalues(
    joint: IntArray,
    right: IntArray,
    rows: tuple[int, int],
    known: tuple[float, FloatArray, FloatArray],
    before: FloatArray,
    out: tuple[FloatArray, FloatArray],
) -> None:
    """Write log E of the pairs i < j of some rows, and the largest so far.

    `joint` counts samples that both models got right; only what is above the diagonal
    is read. `right` counts those of each. `known` is the prior and both tables; without
    entries the formula is used.
    """
    prior, wins, totals = known
    found, largest = out
    n_models = len(joint)
    first, last = rows
    k = first * n_models - first * (first + 1) // 2
    for i in range(first, last):
        mine = right[i]
        if len(wins):
            for j in range(i + 1, n_models):
                both = joint[i, j]
                b, c = np.uint64(mine - both), np.uint64(right[j] - both)
                whole = wins[b, 0] + wins[c, 0] - totals[b + c, 0]
                rest = wins[b, 1] + wins[c, 1] - totals[b + c, 1]
                found[k + j - i - 1] = whole + rest
        else:
            for j in range(i + 1, n_models):
                both = joint[i, j]
                found[k + j - i - 1] = mcnemar_log_evalue(
                    mine - both, right[j] - both, prior, prior, 0
                )
        end = k + n_models - i - 1
        while k < end:
            largest[k] = max(before[k], found[k])
            k += 1


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
