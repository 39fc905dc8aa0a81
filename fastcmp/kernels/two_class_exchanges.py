"""The exact permutation test of a metric of two classes, in any number of samples.

Of the samples of each class with different predictions a binomial number is a's. The
metrics of the registry rise, or fall, with that number, so for each number in one class
those of the other class that are extreme begin at a place that bisection finds.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fastcmp._jit import kernel
from fastcmp.kernels.binomial import binomial_half
from fastcmp.kernels.metrics import MetricSpec, confusion_sums, value_of

if TYPE_CHECKING:
    from fastcmp.kernels.typing import CodeArray, FloatArray

_CUT = 9.0  # standard deviations; less than 3e-19 lies beyond, and counts as extreme
_ALL = 400.0  # samples of which all numbers are looked at


class _Exchanged(NamedTuple):
    """Two models whose predictions are exchanged, and the metric."""

    #: Samples by true and predicted class for which both predict the same.
    same: FloatArray
    #: Samples of either class for which they do not.
    n_0: float
    n_1: float
    spec: MetricSpec
    listed: CodeArray
    penalty: FloatArray
    table: FloatArray
    vectors: FloatArray


@kernel
def _value(of: _Exchanged, x_0: float, x_1: float) -> float:
    """Compute the metric where x of the others in either class are called 1."""
    of.table[0, 0] = of.same[0, 0] + of.n_0 - x_0
    of.table[0, 1] = of.same[0, 1] + x_0
    of.table[1, 0] = of.same[1, 0] + of.n_1 - x_1
    of.table[1, 1] = of.same[1, 1] + x_1
    d, r, c = of.vectors[0], of.vectors[1], of.vectors[2]
    sums = confusion_sums(of.table, of.penalty, d, r, c)
    return value_of(of.spec, of.listed, of.penalty, sums)


@kernel
def _difference(of: _Exchanged, x_0: float, x_1: float) -> float:
    """Subtract the metrics where a calls x of either class 1, and b the others."""
    return _value(of, x_0, x_1) - _value(of, of.n_0 - x_0, of.n_1 - x_1)


@kernel
def _first(of: _Exchanged, x_0: float, limit: float, turned: int, guess: float) -> float:
    """Find the least number of class 1 whose difference reaches a limit.

    The search begins near `guess`, which the row before has found.
    """
    low, high, step = -1.0, of.n_1 + 1.0, 1.0
    place = min(max(guess, 0.0), of.n_1)
    while high - low > 1.0:
        value = _difference(of, x_0, of.n_1 - place if turned else place)
        if math.isnan(value):
            return math.nan
        if value >= limit:
            high = place
        else:
            low = place
        place = float(math.floor(0.5 * (low + high)))
        if high - low > 4.0 * step:  # not yet between two near ones
            near = high - step if value >= limit else low + step
            place, step = min(max(near, 0.0), of.n_1), 4.0 * step
    return high


@kernel
def _falls(of: _Exchanged) -> int:
    """Tell whether the difference falls with the samples of class 1 that a calls 1."""
    for x_0 in (0.0, float(math.floor(0.5 * of.n_0)), of.n_0):
        if _difference(of, x_0, of.n_1) < _difference(of, x_0, 0.0):
            return 1
    return 0


@kernel
def _upper_tail(k: float, n: float) -> float:
    """Compute P(X >= k) of Bin(n, 1/2)."""
    if k > n:
        return 0.0
    if k <= 0.0 or n == 0.0:
        return 1.0
    tail = binomial_half(n - k, n)
    return min(1.0, tail.mid + 0.5 * tail.pmf)


@kernel
def two_class_exchange_pvalue(
    counts: FloatArray,
    spec: MetricSpec,
    listed: CodeArray,
    penalty: FloatArray,
    alternative: int = 0,
    tolerance: float = 1e-9,
) -> float:
    """Compute the exact p-value of exchanging the predictions of two models.

    Parameters
    ----------
    counts : ndarray of float64, shape (2, 2, 2)
        Samples by true class, class predicted by a, and class predicted by b.
    spec : MetricSpec
        Which metric: one that rises, or falls, with the samples of a class
        that are predicted rightly.
    listed : ndarray of uint8, shape (K,)
        As in `metric_value`.
    penalty : ndarray of float64, shape (K, K) or (0, 0)
        As in `metric_value`.
    alternative : int, optional
        0 for two-sided, 1 where a has the larger metric, -1 the smaller one.
    tolerance : float, optional
        Differences this near to the observed one, or nearer by its size, equal it.

    Returns
    -------
    float
        NaN where the metric is not defined for some exchange.

    Notes
    -----
    O(sqrt(n) log n).

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.kernels import F_BETA, MetricSpec, two_class_exchange_pvalue
    >>> counts = np.array([[[4.0, 1.0], [3.0, 1.0]], [[1.0, 1.0], [2.0, 1.0]]])
    >>> listed, penalty = np.ones(2, np.uint8), np.empty((0, 0))
    >>> two_class_exchange_pvalue(counts, MetricSpec(F_BETA), listed, penalty)
    0.953125
    """
    same = np.empty((2, 2))
    for t in range(2):
        same[t, 0], same[t, 1] = counts[t, 0, 0], counts[t, 1, 1]
    n_0 = counts[0, 0, 1] + counts[0, 1, 0]
    n_1 = counts[1, 0, 1] + counts[1, 1, 0]
    of = _Exchanged(same, n_0, n_1, spec, listed, penalty, np.empty((2, 2)), np.empty((3, 2)))
    observed = _difference(of, counts[0, 1, 0], counts[1, 1, 0])
    slack = tolerance * max(1.0, abs(observed))
    limit = abs(observed) - slack
    if alternative != 0:
        limit = alternative * observed - slack
    if math.isnan(limit):
        return math.nan
    if alternative == 0 and limit <= 0.0:
        return 1.0
    least = 0.0
    if n_0 > _ALL:
        least = max(0.0, float(math.floor(0.5 * n_0 - 0.5 * _CUT * math.sqrt(n_0))))
    beyond = 2.0 * _upper_tail(n_0 - least + 1.0, n_0) if least > 0.0 else 0.0
    times = 2.0 if alternative == 0 else 1.0  # exchanging all turns the sign
    turned, total, x_0, first = _falls(of), beyond, least, float(math.floor(0.5 * n_1))
    while x_0 <= n_0 - least:
        weight = binomial_half(x_0, n_0).pmf if n_0 > 0.0 else 1.0
        first = _first(of, x_0, limit, turned, first)
        if math.isnan(first):
            return math.nan
        total += times * weight * _upper_tail(first, n_1)
        x_0 += 1.0
    return min(1.0, total)
