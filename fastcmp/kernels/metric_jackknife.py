"""A metric without one sample of each cell of the confusion matrix.

All samples of a cell are alike, so the jackknife has as many values as there are cells;
each takes a few operations, whatever the number of classes.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from fastcmp._jit import kernel, sum_of
from fastcmp.kernels.metric_slopes import metric_influence
from fastcmp.kernels.metrics import (
    ACCURACY,
    COST,
    KAPPA,
    ONE_CLASS,
    Disagreement,
    MetricSpec,
    Part,
    Sums,
    agreement_of,
    average_of,
    confusion_sums,
    disagreement_of,
    is_possible,
    known_rate,
    part_of,
)
from fastcmp.kernels.special import square
from fastcmp.kernels.typing import CodeArray, FloatArray

#: Where so little is left of a sum, it is added up anew.
_NEARLY_ALL = 1e-3


class _Chance(NamedTuple):
    """Averages of penalties over one margin, and over both, as counts."""

    by_class: FloatArray
    by_call: FloatArray
    both: float


@kernel
def _plus(a: Part, b: Part, sign: float) -> Part:
    """Add one part to another, or take it off."""
    return Part(
        a.weight + sign * b.weight,
        a.first + sign * b.first,
        a.second + sign * b.second,
        a.third + sign * b.third,
    )


@kernel
def _parts_without(spec: MetricSpec, listed: CodeArray, sums: Sums, parts: FloatArray) -> Part:
    """Compute the parts of all classes if there were one sample less, elsewhere."""
    total = Part(0.0, 0.0, 0.0, 0.0)
    for k in range(sums.r.size):
        part = part_of(spec, listed[k], sums.d[k], sums.r[k], sums.c[k], sums.n - 1.0)
        parts[k, 0], parts[k, 1] = part.weight, part.first
        parts[k, 2], parts[k, 3] = part.second, part.third
        total = _plus(total, part, 1.0)
    return total


@kernel
def _average_without(  # the metric, its sums and parts, and the cell
    spec: MetricSpec, listed: CodeArray, sums: Sums, parts: FloatArray, total: Part, t: int, y: int
) -> float:
    """Average a rate without a sample of cell (t, y)."""
    n, hit = sums.n - 1.0, 1.0 if t == y else 0.0
    left = _plus(total, Part(parts[t, 0], parts[t, 1], parts[t, 2], parts[t, 3]), -1.0)
    d, r, c = sums.d[t] - hit, sums.r[t] - 1.0, sums.c[t] - hit
    left = _plus(left, part_of(spec, listed[t], d, r, c, n), 1.0)
    if t != y:
        left = _plus(left, Part(parts[y, 0], parts[y, 1], parts[y, 2], parts[y, 3]), -1.0)
        own = part_of(spec, listed[y], sums.d[y], sums.r[y], sums.c[y] - 1.0, n)
        left = _plus(left, own, 1.0)
    return average_of(spec, left, n)


@kernel
def _rate_without(spec: MetricSpec, sums: Sums, t: int, y: int) -> float:
    """Compute a rate of one class without a sample of cell (t, y)."""
    k = spec.label
    of_class, called = 1.0 if t == k else 0.0, 1.0 if y == k else 0.0
    d, r, c = sums.d[k] - of_class * called, sums.r[k] - of_class, sums.c[k] - called
    return known_rate(spec.metric, d, r, c, sums.n - 1.0, spec)


@kernel
def _chance(penalty: FloatArray, sums: Sums) -> _Chance:
    """Average penalties over the margins."""
    k = penalty.shape[0]
    by_class, by_call, both = np.zeros(k), np.zeros(k), 0.0
    for t in range(k):
        for y in range(k):
            by_class[t] += penalty[t, y] * sums.c[y]
            by_call[y] += penalty[t, y] * sums.r[t]
        both += sums.r[t] * by_class[t]
    return _Chance(by_class, by_call, both)


@kernel
def metric_leave_one_out(
    table: FloatArray, spec: MetricSpec, listed: CodeArray, penalty: FloatArray, out: FloatArray
) -> None:
    """Compute a metric without one sample of each cell of the confusion matrix.

    Parameters
    ----------
    table : ndarray of float64, shape (K, K)
        Samples by true and predicted class.
    spec : MetricSpec
        Which metric.
    listed : ndarray of uint8, shape (K,)
        As in `metric_value`.
    penalty : ndarray of float64, shape (K, K) or (0, 0)
        As in `metric_value`.
    out : ndarray of float64, shape (K, K)
        Receives the values; NaN for cells without samples, and where the metric is not
        defined without the sample.

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.kernels import ACCURACY, MetricSpec, metric_leave_one_out
    >>> table, out = np.array([[3.0, 0.0], [1.0, 1.0]]), np.empty((2, 2))
    >>> listed, penalty = np.ones(2, np.uint8), np.empty((0, 0))
    >>> metric_leave_one_out(table, MetricSpec(ACCURACY), listed, penalty, out)
    >>> out.tolist()
    [[0.75, nan], [1.0, 0.75]]
    """
    k = table.shape[0]
    out[:] = math.nan
    sums = confusion_sums(table, penalty, np.empty(k), np.empty(k), np.empty(k))
    if not (sums.n > 1.0 and is_possible(spec, listed, penalty, sums)):
        return
    if spec.metric < ACCURACY:
        _rates_without(table, spec, listed, sums, out)
    elif spec.metric == COST or (spec.metric == KAPPA and penalty.size > 0):
        _penalties_without(table, spec, penalty, sums, out)
    else:
        _agreements_without(table, spec.metric, sums, out)


@kernel
def metric_errors(
    tables: FloatArray,
    spec: MetricSpec,
    listed: CodeArray,
    penalty: FloatArray,
    jackknife: bool,
    out: FloatArray,
) -> None:
    """Write standard errors of a metric of many confusion matrices into `out`, (B, 2).

    By the jackknife or the delta method, and beside each 1 if any sample moves the metric, else 0.
    """
    k = tables.shape[1]
    psi, left = np.empty((k, k)), np.empty((k, k))
    for b in range(tables.shape[0]):
        table, n, moves, samples, middle = tables[b], 0.0, 0.0, 0.0, 0.0
        metric_influence(table, spec, listed, penalty, psi)
        if jackknife:
            metric_leave_one_out(table, spec, listed, penalty, left)
        for t in range(k):
            for y in range(k):
                n += table[t, y]
                if table[t, y] > 0.0 and psi[t, y] != 0.0:
                    moves = 1.0
                if jackknife and table[t, y] >= 1.0:
                    samples += table[t, y]
                    middle += table[t, y] * left[t, y]
        squares, freedom = 0.0, n
        if jackknife:
            freedom = max(n - 1.0, 1.0)
            for t in range(k):
                for y in range(k):
                    known = table[t, y] >= 1.0
                    psi[t, y] = (n - 1.0) * (middle / samples - left[t, y]) if known else 0.0
        for t in range(k):
            for y in range(k):
                squares += table[t, y] * square(psi[t, y])
        out[b, 0], out[b, 1] = math.sqrt(squares / (n * freedom)), moves


@kernel
def _rates_without(
    table: FloatArray, spec: MetricSpec, listed: CodeArray, sums: Sums, out: FloatArray
) -> None:
    """Write rates, and averages of rates, without each sample."""
    k = table.shape[0]
    parts, total = np.empty((0, 0)), Part(0.0, 0.0, 0.0, 0.0)
    if spec.average != ONE_CLASS:
        parts = np.empty((k, 4))
        total = _parts_without(spec, listed, sums, parts)
    for t in range(k):
        for y in range(k):
            if table[t, y] < 1.0:
                continue
            if spec.average == ONE_CLASS:
                out[t, y] = _rate_without(spec, sums, t, y)
            else:
                out[t, y] = _average_without(spec, listed, sums, parts, total, t, y)


@kernel
def _penalties_without(
    table: FloatArray, spec: MetricSpec, penalty: FloatArray, sums: Sums, out: FloatArray
) -> None:
    """Write costs, or weighted kappas, without each sample."""
    n, chance = sums.n - 1.0, _chance(penalty, sums)
    for t in range(table.shape[0]):
        for y in range(table.shape[0]):
            if table[t, y] < 1.0:
                continue
            left = (sums.penalty - penalty[t, y]) / n
            if spec.metric == COST:
                out[t, y] = left
                continue
            by = chance.by_class[t] + chance.by_call[y] - penalty[t, y]
            both = chance.both - by
            if both < _NEARLY_ALL * chance.both:
                both = _chance_without(penalty, sums, t, y)
            if both > 0.0:
                out[t, y] = 1.0 - left / (both / (n * n))


@kernel
def _chance_without(penalty: FloatArray, sums: Sums, t: int, y: int) -> float:
    """Average penalties over both margins without a sample of cell (t, y)."""
    both = 0.0
    for i in range(penalty.shape[0]):
        row, of_class = 0.0, sums.r[i] - (1.0 if i == t else 0.0)
        for j in range(penalty.shape[0]):
            row += penalty[i, j] * (sums.c[j] - (1.0 if j == y else 0.0))
        both += of_class * row
    return both


@kernel
def _rest(whole: float, part: float) -> float:
    """Take the pairs with one sample off: what is left is 0, or above a fifth."""
    rest = whole - part
    return rest if rest > 0.1 * whole else 0.0


@kernel
def _agreements_without(table: FloatArray, metric: int, sums: Sums, out: FloatArray) -> None:
    """Write accuracy, MCC, kappa or Scott's pi without each sample."""
    n, size, whole = sums.n - 1.0, sums.n, disagreement_of(sums)
    right = sum_of(sums.d)
    chance, of_truth, of_calls = whole[1] * size, whole[2] * size, whole[3] * size
    fewer, scale = whole.fewer * size, size / n / n
    for t in range(table.shape[0]):
        for y in range(table.shape[0]):
            if table[t, y] < 1.0:
                continue
            hit = 1.0 if t == y else 0.0
            if metric == ACCURACY:
                out[t, y] = (right - hit) / n
                continue
            rest_t, rest_y = size - sums.c[t], size - sums.r[y]
            by_cell = right + hit * size - sums.c[t] - sums.r[y]
            differ = Disagreement(
                (size - right - 1.0 + hit) / n,
                _rest(chance, (rest_t + rest_y - 1.0 + hit) / size) * scale,
                _rest(of_truth, 2.0 * (size - sums.r[t]) / size) * scale,
                _rest(of_calls, 2.0 * (size - sums.c[y]) / size) * scale,
                (fewer - by_cell / size) * scale,
            )
            out[t, y] = agreement_of(metric, differ)
