"""E-values of all pairs of models after a block, from tables of log-gamma by count.

With G(k) = log Gamma(k + s) and T(m) = log Gamma(m + 2 s) - m log 2 + log B(s, s) a
pair's log E is G(b) + G(c) - T(b + c): three look-ups, where the formula of `evalues`
takes a hundred nanoseconds. The tables hold whole multiples of 2**-40, which add up
without rounding, and modulo 2**64: a sum is right where log E itself is below 2**23.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import numpy as np

from fastcmp._jit import kernel
from fastcmp.kernels.evalues import _log_beta, mcnemar_log_evalue
from fastcmp.kernels.special import _gammaln

if TYPE_CHECKING:
    from fastcmp.kernels.typing import FloatArray, IntArray

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
    found, largest = out
    n_models = len(joint)
    first, last = rows
    k = first * n_models - first * (first + 1) // 2
    for i in range(first, last):
        mine = right[i]
        if wins.size:
            for j in range(i + 1, n_models):
                both = joint[i, j]
                b, c = np.uint64(mine - both), np.uint64(right[j] - both)
                found[k + j - i - 1] = (wins[b] + wins[c] - totals[b + c]) * _UNIT
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
