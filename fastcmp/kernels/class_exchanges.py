"""The exact permutation test of a rate of one class, of two models, at any size.

Where the predictions of both models can be exchanged in each sample, a binomial number
of the samples of the class on which they differ goes to the first model, and one of the
other samples. The more of the first and the fewer of the others, the better it is: so
the extreme configurations lie on one side of a staircase, which is followed. For rates
of many classes this takes 1/20 of what `two_class_exchange_pvalue` does for each, which
knows other metrics and one-sided tests too.
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple

import numpy as np

from fastcmp._jit import kernel, sum_of
from fastcmp.kernels.binomial import binomial_half
from fastcmp.kernels.metric_rates import INFORMEDNESS
from fastcmp.kernels.metrics import ONE_CLASS, MetricSpec, confusion_sums, known_rate, value_of
from fastcmp.kernels.typing import CodeArray, FloatArray, IntArray

_EQUAL: Final = 1e-9  # differences that are closer, also for their size, are equal
_MOST: Final = 1_000_000  # configurations that are looked at one by one
_REACH: Final = 20.0  # roots of n; farther from the middle all probabilities are 0
_NOTHING: Final = 1e-17


class _Exchanged(NamedTuple):
    """Samples that both models predict as the class, and that only one does."""

    both_in: float
    only_in: float
    both_out: float
    only_out: float
    size: float
    n: float


@kernel
def _difference(spec: MetricSpec, of: _Exchanged, moved: float, false: float) -> float:
    """Compare the rates where `moved` and `false` of the samples go to the first."""
    d_a, d_b = of.both_in + moved, of.both_in + of.only_in - moved
    c_a, c_b = d_a + of.both_out + false, d_b + of.both_out + of.only_out - false
    rate = spec.metric
    first = known_rate(rate, d_a, of.size, c_a, of.n, spec)
    return first - known_rate(rate, d_b, of.size, c_b, of.n, spec)


@kernel
def _least(n: int) -> int:
    """The first number of Bin(n, 1/2) whose probability may be above 0."""
    return max(0, n // 2 - int(_REACH * math.sqrt(n)))


@kernel
def _chances(n: int) -> FloatArray:
    """Compute the probabilities of Bin(n, 1/2) from `_least` on, outwards."""
    least, middle = _least(n), n // 2
    out = np.zeros(n - 2 * least + 1)
    out[middle - least] = binomial_half(float(middle), float(n)).pmf if n > 0 else 1.0
    for k in range(middle, n - least):
        out[k + 1 - least] = out[k - least] * (n - k) / (k + 1.0)
    for k in range(least, middle):
        out[k - least] = out[n - k - least]
    return out


@kernel
def _staircase(
    spec: MetricSpec, of: _Exchanged, bound: float, rows: FloatArray, sums: FloatArray
) -> float:
    """Add up the configurations in which the first model is better by the bound.

    From the middle, what a row adds falls downwards, and upwards at last.
    """
    first, least = _least(int(of.only_in)), _least(int(of.only_out))
    middle, last = rows.size // 2, sums.size - 1
    low, high = 0, last
    while low < high:
        step = (low + high) // 2
        if _difference(spec, of, first + middle, least + step) >= bound:
            low = step + 1
        else:
            high = step
    total, step = 0.0, low
    for i in range(middle, rows.size):
        while step < last and _difference(spec, of, first + i, least + step) >= bound:
            step += 1
        total += rows[i] * sums[step]
        if rows[i] * (rows.size - i) <= _NOTHING * total:
            break
    step = low
    for i in range(middle - 1, -1, -1):
        while step > 0 and _difference(spec, of, first + i, least + step - 1) < bound:
            step -= 1
        added = rows[i] * sums[step]
        total += added
        if added * i <= _NOTHING * total:
            break
    return 2.0 * total  # exchanged, the other model is


@kernel
def _one_by_one(
    spec: MetricSpec, of: _Exchanged, bound: float, rows: FloatArray, sums: FloatArray
) -> float:
    """Add up all extreme configurations; where nothing is defined they are extreme."""
    total = 0.0
    for moved in range(rows.size):
        for false in range(sums.size - 1):
            if not abs(_difference(spec, of, moved, false)) < bound:
                total += rows[moved] * (sums[false + 1] - sums[false])
    return total


@kernel
def _exchanged(counts: IntArray) -> _Exchanged:
    """Add up the samples of one pair of models."""
    return _Exchanged(
        float(counts[1, 1, 1]),
        float(counts[1, 0, 1] + counts[1, 1, 0]),
        float(counts[0, 1, 1]),
        float(counts[0, 0, 1] + counts[0, 1, 0]),
        float(sum_of(counts[1])),
        float(sum_of(counts)),
    )


@kernel
def _pvalue(
    spec: MetricSpec, of: _Exchanged, observed: float, rows: FloatArray, sums: FloatArray
) -> float:
    """Compute the p-value of one metric of one pair of models."""
    if math.isnan(observed):
        return math.nan
    bound = observed - _EQUAL * max(1.0, observed)
    if not bound > 0.0:
        return 1.0
    # Another value of 0/0 is a jump, which no staircase knows.
    if spec.metric <= INFORMEDNESS and spec.zero_division == 0.0:
        return min(1.0, _staircase(spec, of, bound, rows, sums))
    if (of.only_in + 1.0) * (of.only_out + 1.0) > _MOST:
        return math.nan
    return min(1.0, _one_by_one(spec, of, bound, rows, sums))


@kernel
def exchange_classes(
    rates: IntArray, options: FloatArray, counts: IntArray, out: FloatArray
) -> None:
    """Test rates of one class of pairs of models by exchanging their predictions.

    `rates`, (Q,), are codes of rates, with beta and the value of 0/0 in `options`,
    (Q, 2). `counts`, (U, 2, 2, 2), are samples by whether they are of the class, and
    whether each model predicts it; `out`, (U, Q), gets two-sided p-values: NaN where a
    rate is not defined, or where it does not grow with right predictions and there are
    too many configurations.
    """
    for u in range(len(counts)):
        of = _exchanged(counts[u])
        rows = _chances(int(of.only_in))
        sums = np.zeros(2 + int(of.only_out) - 2 * _least(int(of.only_out)))
        sums[1:] = _chances(int(of.only_out))
        for i in range(1, sums.size):
            sums[i] += sums[i - 1]
        moved, false = float(counts[u, 1, 1, 0]), float(counts[u, 0, 1, 0])
        for q in range(rates.size):
            beta, zero = options[q]
            spec = MetricSpec(rates[q], ONE_CLASS, 1, beta, zero, 0)
            observed = abs(_difference(spec, of, moved, false))
            out[u, q] = _pvalue(spec, of, observed, rows, sums)


# The exact permutation test of a metric of two classes, in any number of samples.
#
# Of the samples of each class with different predictions a binomial number is a's. The
# metrics of the registry rise, or fall, with that number, so for each number in one class
# those of the other class that are extreme begin at a place that bisection finds.

_CUT = 9.0  # standard deviations; less than 3e-19 lies beyond, and counts as extreme
_ALL = 400.0  # samples of which all numbers are looked at


class _TwoClasses(NamedTuple):
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
def _value(of: _TwoClasses, x_0: float, x_1: float) -> float:
    """Compute the metric where x of the others in either class are called 1."""
    of.table[0, 0] = of.same[0, 0] + of.n_0 - x_0
    of.table[0, 1] = of.same[0, 1] + x_0
    of.table[1, 0] = of.same[1, 0] + of.n_1 - x_1
    of.table[1, 1] = of.same[1, 1] + x_1
    d, r, c = of.vectors[0], of.vectors[1], of.vectors[2]
    sums = confusion_sums(of.table, of.penalty, d, r, c)
    return value_of(of.spec, of.listed, of.penalty, sums)


@kernel
def _metric_difference(of: _TwoClasses, x_0: float, x_1: float) -> float:
    """Subtract the metrics where a calls x of either class 1, and b the others."""
    return _value(of, x_0, x_1) - _value(of, of.n_0 - x_0, of.n_1 - x_1)


@kernel
def _first(of: _TwoClasses, x_0: float, limit: float, turned: int, guess: float) -> float:
    """Find the least number of class 1 whose difference reaches a limit.

    The search begins near `guess`, which the row before has found.
    """
    low, high, step = -1.0, of.n_1 + 1.0, 1.0
    place = min(max(guess, 0.0), of.n_1)
    while high - low > 1.0:
        value = _metric_difference(of, x_0, of.n_1 - place if turned else place)
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
def _falls(of: _TwoClasses) -> int:
    """Tell whether the difference falls with the samples of class 1 that a calls 1."""
    for x_0 in (0.0, float(math.floor(0.5 * of.n_0)), of.n_0):
        if _metric_difference(of, x_0, of.n_1) < _metric_difference(of, x_0, 0.0):
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
    of = _TwoClasses(same, n_0, n_1, spec, listed, penalty, np.empty((2, 2)), np.empty((3, 2)))
    observed = _metric_difference(of, counts[0, 1, 0], counts[1, 1, 0])
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
