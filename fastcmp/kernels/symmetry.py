"""Do two models predict the same classes? Tests on their K x K table."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fastcmp._jit import kernel
from fastcmp.kernels.special import _chi_square_tail
from fastcmp.kernels.status import DEGENERATE, INVALID, OK

if TYPE_CHECKING:
    from fastcmp.kernels.typing import FloatArray, IntArray, StatusArray


class ChiSquareOutcome(NamedTuple):
    """A chi-square statistic with its degrees of freedom."""

    statistic: float
    pvalue: float
    df: int
    status: int


@kernel
def bowker(table: IntArray) -> ChiSquareOutcome:
    """Bowker's test of symmetry.

    Parameters
    ----------
    table : ndarray of int64, shape (K, K)
        ``table[i, j]`` samples for which a predicted i and b predicted j.

    Returns
    -------
    ChiSquareOutcome
        ``statistic`` = sum over i < j of (t_ij - t_ji)**2 / (t_ij + t_ji), referred to
        chi-square with as many degrees of freedom as there are pairs of classes with
        any sample. Without any: 0, 1, 0 and ``DEGENERATE``.

    References
    ----------
    .. [1] A. H. Bowker, "A test for symmetry in contingency tables", JASA 43 (1948)
       572-574.

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.kernels import bowker
    >>> outcome = bowker(np.array([[20, 10, 5], [3, 30, 15], [0, 5, 40]]))
    >>> round(outcome.statistic, 4), outcome.df
    (13.7692, 3)
    """
    statistic = 0.0
    df = 0
    for i in range(table.shape[0]):
        for j in range(i):
            if table[i, j] < 0 or table[j, i] < 0:
                return ChiSquareOutcome(math.nan, math.nan, 0, INVALID)
            weight = float(table[i, j]) + float(table[j, i])
            if weight > 0.0:
                distance = float(table[i, j]) - float(table[j, i])
                statistic += distance * distance / weight
                df += 1
    if df == 0:
        return ChiSquareOutcome(0.0, 1.0, 0, DEGENERATE)
    pvalue = _chi_square_tail(float(df), statistic)
    return ChiSquareOutcome(statistic, pvalue, df, OK)


@kernel
def stuart_maxwell(table: IntArray) -> ChiSquareOutcome:
    """Stuart and Maxwell's test of marginal homogeneity.

    The covariance matrix of the differences of the margins is the Laplacian of the
    graph with weights t_ij + t_ji. Its classes are eliminated one by one, with sums of
    positive terms only, so that nothing cancels and the matrix may be singular.

    Parameters
    ----------
    table : ndarray of int64, shape (K, K)
        ``table[i, j]`` samples for which a predicted i and b predicted j.

    Returns
    -------
    ChiSquareOutcome
        ``statistic`` = d' S+ d with d the differences of the margins, referred to
        chi-square with rank(S) degrees of freedom: K - 1 if the classes that the models
        confuse are connected. Without a disagreement: 0, 1, 0 and ``DEGENERATE``.

    References
    ----------
    .. [1] A. Stuart, "A test for homogeneity of the marginal distributions in a two-way
       classification", Biometrika 42 (1955) 412-416.
    .. [2] A. E. Maxwell, "Comparing the classification of subjects by two independent
       judges", British J. Psychiatry 116 (1970) 651-655.

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.kernels import stuart_maxwell
    >>> outcome = stuart_maxwell(np.array([[20, 10, 5], [3, 30, 15], [0, 5, 40]]))
    >>> round(outcome.statistic, 4), outcome.df
    (13.7647, 2)
    """
    k = table.shape[0]
    weight = np.zeros((k, k))
    margin = np.zeros(k)
    for i in range(k):
        for j in range(k):
            if table[i, j] < 0:
                return ChiSquareOutcome(math.nan, math.nan, 0, INVALID)
            if i != j:
                weight[i, j] = float(table[i, j]) + float(table[j, i])
                margin[i] += float(table[i, j]) - float(table[j, i])
    statistic = 0.0
    df = 0
    for i in range(k):
        degree = 0.0
        for j in range(i + 1, k):
            degree += weight[i, j]
        if degree == 0.0:
            continue
        df += 1
        statistic += margin[i] * margin[i] / degree
        for j in range(i + 1, k):
            fraction = weight[i, j] / degree
            if fraction > 0.0:
                margin[j] += margin[i] * fraction
                for other in range(i + 1, k):
                    if other != j:
                        weight[j, other] += fraction * weight[i, other]
    if df == 0:
        return ChiSquareOutcome(0.0, 1.0, 0, DEGENERATE)
    pvalue = _chi_square_tail(float(df), statistic)
    return ChiSquareOutcome(statistic, pvalue, df, OK)


@kernel
def bowker_many(
    tables: IntArray, results: FloatArray, df: IntArray, status: StatusArray
) -> None:
    """Run `bowker` on many tables, shape (P, K, K)."""
    for p in range(tables.shape[0]):
        outcome = bowker(tables[p])
        results[p, 0], results[p, 1] = outcome.statistic, outcome.pvalue
        df[p], status[p] = outcome.df, outcome.status


@kernel
def stuart_maxwell_many(
    tables: IntArray, results: FloatArray, df: IntArray, status: StatusArray
) -> None:
    """Run `stuart_maxwell` on many tables, shape (P, K, K)."""
    for p in range(tables.shape[0]):
        outcome = stuart_maxwell(tables[p])
        results[p, 0], results[p, 1] = outcome.statistic, outcome.pvalue
        df[p], status[p] = outcome.df, outcome.status
