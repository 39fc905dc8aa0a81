"""McNemar's test of many pairs of counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fastcmp import kernels
from fastcmp.core.options import ALTERNATIVES
from fastcmp.kernels.paired import mcnemar_many

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]
    Floats = NDArray[np.float64]
    Statuses = NDArray[np.uint8]

#: Codes of the methods for `mcnemar_many`.
CODES = {
    "midp": kernels.MIDP,
    "exact": kernels.EXACT,
    "asymptotic": kernels.ASYMPTOTIC,
    "corrected": kernels.CORRECTED,
}
METHODS = (*CODES, "unconditional")
_UNCONDITIONAL_WORK = 400_000_000  # samples of all tables: one or two minutes


def evaluate_counts(
    only_a: Ints, only_b: Ints, n: Ints | np.int64 | None, method: str, alternative: str
) -> tuple[Floats, Floats, Statuses]:
    """Results of McNemar's tests of many pairs of checked counts.

    All arrays have the shape (P,); only the unconditional test needs `n`, all samples.
    """
    tail = ALTERNATIVES[alternative]
    if method == "unconditional":
        chi_square, pvalue, status = _unconditional(only_a, only_b, n, tail)
    else:
        chi_square, pvalue = np.empty(only_a.size), np.empty(only_a.size)
        status = np.empty(only_a.size, np.uint8)
        mcnemar_many(only_a, only_b, CODES[method], tail, chi_square, pvalue, status)
    statistic = reference_statistic(only_a, only_b, chi_square, method, alternative)
    return statistic, pvalue, status


def reference_statistic(
    only_a: Ints,
    only_b: Ints,
    chi_square: Floats,
    method: str,
    alternative: str = "two-sided",
) -> Floats:
    """Give what `reference_distribution` is the distribution of, for each pair.

    Binomial tests: a count. The others: the chi-square, or z where they are one-sided.
    """
    if method in ("exact", "midp"):
        count = {"greater": only_b, "less": only_a}.get(alternative)
        smaller = np.minimum(only_a, only_b) if count is None else count
        return smaller.astype(np.float64)
    if alternative == "two-sided":
        return chi_square
    signed: Floats = np.sign(only_a - only_b) * np.sqrt(chi_square)
    return signed + 0.0  # no -0


def _unconditional(
    only_a: Ints, only_b: Ints, n: Ints | np.int64 | None, tail: int
) -> tuple[Floats, Floats, Statuses]:
    if n is None:
        raise ValueError("method='unconditional' needs both_right and both_wrong")
    if n.size and n.max() > kernels.UNCONDITIONAL_MAX_N:
        raise ValueError(
            f"method='unconditional' takes at most {kernels.UNCONDITIONAL_MAX_N} "
            f"samples, got {n.max()}: use method='midp', which is close at that size"
        )
    # A table takes up to a second: each different one is tested once.
    tables = np.stack(np.broadcast_arrays(only_a, only_b, n), axis=1)
    distinct, where = np.unique(tables, axis=0, return_inverse=True)
    if distinct[:, 2].sum() > _UNCONDITIONAL_WORK:
        raise ValueError(
            f"method='unconditional' takes too long for {len(distinct)} different "
            f"tables of {distinct[:, 2].max()} samples: use method='midp', which is "
            "close at that size"
        )
    outcomes = [kernels.mcnemar_unconditional(a, b, m, tail) for a, b, m in distinct]
    statistic, pvalue, status = np.array(outcomes).reshape(-1, 3)[where.ravel()].T
    return statistic.copy(), pvalue.copy(), status.astype(np.uint8)
