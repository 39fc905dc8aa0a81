"""Do two models predict the same classes? Tests on their K x K table."""

from __future__ import annotations

import math
from typing import Final, NamedTuple

import numpy as np

from fastcmp._jit import inlined, kernel, sum_of
from fastcmp.kernels.special import _chi_square_tail, fdtrc
from fastcmp.kernels.status import DEGENERATE, INVALID, OK, UNDEFINED
from fastcmp.kernels.typing import FloatArray, IntArray, StatusArray

#: Of n: a sum of squares below it is rounding.
_ROUNDING: Final = 1e-26


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
    margin = np.empty(k)
    statistic, df = _eliminate(table, np.empty((k, k)), margin)
    if df < 0:
        return ChiSquareOutcome(math.nan, math.nan, 0, INVALID)
    if df == 0:
        return ChiSquareOutcome(0.0, 1.0, 0, DEGENERATE)
    pvalue = _chi_square_tail(float(df), statistic)
    return ChiSquareOutcome(statistic, pvalue, df, OK)


@kernel
def bhapkar(table: IntArray) -> ChiSquareOutcome:
    """Bhapkar's test of marginal homogeneity.

    The statistic is Stuart and Maxwell's with the covariance matrix that is observed,
    S - d d' / n, in place of S, which holds under the hypothesis: W = Q / (1 - Q / n)
    for Q of theirs. Here n - Q is a sum of squares, so that nothing cancels where Q is
    nearly n.

    Parameters
    ----------
    table : ndarray of int64, shape (K, K)
        ``table[i, j]`` samples for which a predicted i and b predicted j.

    Returns
    -------
    ChiSquareOutcome
        ``statistic`` = d' (S - d d' / n)+ d with d the differences of the margins,
        referred to chi-square with rank(S) degrees of freedom. Without a disagreement:
        0, 1, 0 and ``DEGENERATE``. Where the observed variance of a difference is 0 and
        the difference is not (Q = n, as where all samples are in one cell off the
        diagonal): NaN and ``UNDEFINED``.

    References
    ----------
    .. [1] V. P. Bhapkar, "A note on the equivalence of two test criteria for hypotheses
       in categorical data", JASA 61 (1966) 228-235.

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.kernels import bhapkar
    >>> outcome = bhapkar(np.array([[20, 10, 5], [3, 30, 15], [0, 5, 40]]))
    >>> round(outcome.statistic, 4), outcome.df
    (15.4233, 2)
    """
    k = table.shape[0]
    weight, solution = np.empty((k, k)), np.empty(k)
    statistic, df = _eliminate(table, weight, solution)
    if df < 0:
        return ChiSquareOutcome(math.nan, math.nan, 0, INVALID)
    if df == 0:
        return ChiSquareOutcome(0.0, 1.0, 0, DEGENERATE)
    # Backwards: x with S x = d. Row i of the weights is that of its elimination.
    for i in range(k - 1, -1, -1):
        degree, total = 0.0, solution[i]
        for j in range(i + 1, k):
            degree += weight[i, j]
            total += weight[i, j] * solution[j]
        solution[i] = total / degree if degree > 0.0 else 0.0
    n = rest = 0.0
    for i in range(k):
        for j in range(k):
            distance = 1.0 - solution[i] + solution[j]
            n += float(table[i, j])
            rest += float(table[i, j]) * distance * distance
    if rest <= _ROUNDING * n:
        return ChiSquareOutcome(math.nan, math.nan, df, UNDEFINED)
    statistic *= n / rest
    return ChiSquareOutcome(statistic, _chi_square_tail(float(df), statistic), df, OK)


@inlined
def _eliminate(table: IntArray, weight: FloatArray, margin: FloatArray) -> tuple[float, int]:
    """Give Stuart and Maxwell's statistic and its d.o.f., -1 for a negative count.

    Leaves the rows of the eliminated matrix in `weight`, right of the diagonal, and the
    right side of the equations in `margin`.
    """
    k = table.shape[0]
    for i in range(k):
        margin[i] = 0.0
        for j in range(k):
            weight[i, j] = 0.0
            if table[i, j] < 0:
                return math.nan, -1
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
    return statistic, df


@kernel
def symmetry_many(
    tables: IntArray, marginal: bool, results: FloatArray, df: IntArray, status: StatusArray
) -> None:
    """Write `bowker`, or `stuart_maxwell`, of tables (P, K, K): statistic and p-value, (P, 2)."""
    for p in range(tables.shape[0]):
        outcome = stuart_maxwell(tables[p]) if marginal else bowker(tables[p])
        results[p, 0], results[p, 1] = outcome.statistic, outcome.pvalue
        df[p], status[p] = outcome.df, outcome.status


class CochranOutcome(NamedTuple):
    """Cochran's Q with its chi-square p-value, and Looney's F with its own."""

    statistic: float
    pvalue: float
    f_statistic: float
    f_pvalue: float
    status: int


@kernel
def cochrans_q(right: IntArray, row_squares: int, n: int) -> CochranOutcome:
    """Cochran's Q and Looney's F from sums over the matrix of correct predictions.

    Parameters
    ----------
    right : ndarray of int64, shape (M,)
        Correctly classified samples of each model (G).
    row_squares : int
        Sum over samples of the squared number of correct models (sum of L**2),
        as `row_square_sum` counts it.
    n : int
        Samples.

    Returns
    -------
    CochranOutcome
        ``statistic`` = (M-1) * sum((M*G - T)**2) / (M * (M*T - sum L**2)), T = sum G,
        referred to chi-square with M-1 degrees of freedom; ``f_statistic`` =
        (n-1) Q / (n (M-1) - Q), referred to F with M-1 and (M-1)(n-1). If on every
        sample all models are correct or none is: 0, 1, 0, 1 and ``DEGENERATE``.

    References
    ----------
    .. [1] W. G. Cochran, "The comparison of percentages in matched samples",
       Biometrika 37 (1950) 256-266.
    .. [2] S. W. Looney, "A statistical technique for comparing the accuracies of
       several classifiers", Pattern Recognition Letters 8 (1988) 5-9.

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.kernels import cochrans_q
    >>> round(cochrans_q(np.array([84, 92, 92]), 770, 100).statistic, 6)
    7.529412
    """
    m = right.size
    if m < 2 or n < 1:
        return CochranOutcome(math.nan, math.nan, math.nan, math.nan, INVALID)
    total = sum_of(right)
    within = m * total - row_squares
    if within == 0:
        return CochranOutcome(0.0, 1.0, 0.0, 1.0, DEGENERATE)
    between = 0.0
    for j in range(m):
        excess = float(m * right[j] - total)
        between += excess * excess
    df = m - 1.0
    q = df * between / (m * float(within))
    left = n * df - q
    # If all samples disagree in the same way the ratio is infinite, but rounding may
    # leave a trace of either sign; a single sample has no ratio.
    f = math.inf if left <= 1e-12 * q else (n - 1.0) * q / left
    f_pvalue = math.nan
    if n == 1:
        f = math.nan
    elif math.isinf(f):
        f_pvalue = 0.0
    else:
        f_pvalue = fdtrc(df, df * (n - 1.0), f)
    return CochranOutcome(q, _chi_square_tail(df, q), f, f_pvalue, OK)
