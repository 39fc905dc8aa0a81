"""How a metric changes with each cell of the confusion matrix.

The influence of a cell is the derivative of the metric by the proportion of its
samples. Metrics do not change where all counts are multiplied by one number, so the
influences of all samples add up to 0, and their mean square over n is the variance of
the metric.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from fastcmp._jit import helper, kernel, sum_of, wide_vectors
from fastcmp.kernels.intervals import _wilson
from fastcmp.kernels.metric_rates import PRECISION, RECALL, Slopes, class_slopes
from fastcmp.kernels.metrics import (
    ACCURACY,
    COST,
    GEOMETRIC,
    KAPPA,
    MCC,
    MICRO,
    OF_MEANS,
    ONE_CLASS,
    WEIGHTED,
    MetricSpec,
    Sums,
    confusion_sums,
    disagreement_of,
    known_rate,
    part_of,
    penalty_by_chance,
    value_of,
)
from fastcmp.kernels.special import square
from fastcmp.kernels.typing import CodeArray, FloatArray, IntArray


class Terms(NamedTuple):
    """The influence of cell (t, y): d[t] if t = y, plus r[t] + c[y] + by * penalty."""

    d: FloatArray
    r: FloatArray
    c: FloatArray


@helper
def _shift(x: FloatArray, change: float) -> None:
    """Do ``x += change``, which takes 2 s to compile as an expression of arrays."""
    for k in range(x.size):
        x[k] += change


@kernel
def _add(terms: Terms, k: int, slopes: Slopes, factor: float) -> None:
    """Add the slopes of a rate of class k."""
    terms.d[k] += factor * slopes.d
    terms.r[k] += factor * slopes.r
    terms.c[k] += factor * slopes.c
    if slopes.n != 0.0:
        _shift(terms.r, factor * slopes.n)


@kernel
def _add_class(  # a class, and what its rate counts
    terms: Terms, rate: int, k: int, sums: Sums, beta: float, factor: float
) -> None:
    """Add the influences of a rate of class k."""
    slopes = class_slopes(rate, sums.d[k], sums.r[k], sums.c[k], sums.n, beta)
    _add(terms, k, slopes, factor * sums.n)


@kernel
def _micro_terms(spec: MetricSpec, listed: CodeArray, sums: Sums, terms: Terms) -> None:
    """Find the influences of a rate of sums over classes."""
    weight = d = r = c = 0.0
    for k in range(sums.r.size):
        part = part_of(spec, listed[k], sums.d[k], sums.r[k], sums.c[k], sums.n)
        weight, d = weight + part.weight, d + part.first
        r, c = r + part.second, c + part.third
    slopes = class_slopes(spec.metric, d, r, c, weight * sums.n, spec.beta)
    for k in range(sums.r.size):
        if part_of(spec, listed[k], 0.0, sums.r[k], sums.c[k], sums.n).weight > 0.0:
            terms.d[k] = sums.n * slopes.d
            terms.r[k] = sums.n * slopes.r
            terms.c[k] = sums.n * slopes.c
    _shift(terms.r, sums.n * weight * slopes.n)


@kernel
def _of_means_terms(spec: MetricSpec, listed: CodeArray, sums: Sums, terms: Terms) -> None:
    """Find the influences of F of the means of precision and recall."""
    n_p = n_r = precision = recall = 0.0
    for k in range(sums.r.size):
        part = part_of(spec, listed[k], sums.d[k], sums.r[k], sums.c[k], sums.n)
        n_p, precision = n_p + part.weight, precision + part.first
        n_r, recall = n_r + part.second, recall + part.third
    if n_p == 0.0 or n_r == 0.0 or precision + recall == 0.0:
        return
    precision, recall, weight = precision / n_p, recall / n_r, square(spec.beta)
    below = square(weight * precision + recall)
    by_p = (1.0 + weight) * square(recall) / below / n_p
    by_r = (1.0 + weight) * weight * square(precision) / below / n_r
    for k in range(sums.r.size):
        part = part_of(spec, listed[k], sums.d[k], sums.r[k], sums.c[k], sums.n)
        if part.weight > 0.0:
            _add_class(terms, PRECISION, k, sums, spec.beta, by_p)
        if part.second > 0.0:
            _add_class(terms, RECALL, k, sums, spec.beta, by_r)


@kernel
def _average_terms(
    spec: MetricSpec, listed: CodeArray, sums: Sums, terms: Terms, value: float
) -> None:
    """Find the influences of a mean of rates."""
    total = 0.0
    for k in range(sums.r.size):
        part = part_of(spec, listed[k], sums.d[k], sums.r[k], sums.c[k], sums.n)
        total += part.weight
    if total == 0.0 or (spec.average == GEOMETRIC and value == 0.0):
        return
    for k in range(sums.r.size):
        d, r, c = sums.d[k], sums.r[k], sums.c[k]
        part = part_of(spec, listed[k], d, r, c, sums.n)
        if part.weight == 0.0:
            continue
        factor = part.weight / total
        if spec.average == GEOMETRIC:
            factor *= value / known_rate(spec.metric, d, r, c, sums.n, spec)
        _add_class(terms, spec.metric, k, sums, spec.beta, factor)
        if spec.average == WEIGHTED:
            own = known_rate(spec.metric, d, r, c, sums.n, spec)
            terms.r[k] += sums.n * (own - value) / total


@kernel
def _agreement_terms(spec: MetricSpec, sums: Sums, terms: Terms, value: float) -> None:
    """Find the influences of accuracy, MCC, kappa and Scott's pi."""
    n = sums.n
    right = sum_of(sums.d) / n
    if spec.metric == ACCURACY:
        _shift(terms.d, 1.0)
        _shift(terms.r, -right)
        return
    differ = disagreement_of(sums)
    if spec.metric == MCC:
        root = math.sqrt(differ.of_truth * differ.of_calls)
        if not root > 0.0:
            return
        above = differ.fewer
        for k in range(sums.r.size):
            r, c = sums.r[k] / n, sums.c[k] / n
            own = (1.0 - r) / differ.of_truth + 1.0 / differ.of_calls
            terms.d[k] = 1.0 / root
            terms.r[k] = (right - c - above * own) / root
            terms.c[k] = (above * c / differ.of_calls - r) / root
        return
    if spec.metric == KAPPA:
        for k in range(sums.r.size):
            r, c = sums.r[k] / n, sums.c[k] / n
            terms.d[k] = 1.0 / differ.by_chance
            terms.r[k] = (right - c - value * (2.0 - c)) / differ.by_chance
            terms.c[k] = (value - 1.0) * r / differ.by_chance
        return
    rest = 0.25 * (differ.of_truth + 2.0 * differ.by_chance + differ.of_calls)
    for k in range(sums.r.size):
        middle = 0.5 * (sums.r[k] + sums.c[k]) / n
        terms.d[k] = 1.0 / rest
        terms.r[k] = ((value - 1.0) * (middle - 2.0 * (1.0 - rest)) - right) / rest
        terms.c[k] = (value - 1.0) * middle / rest


@kernel
def _penalty_terms(
    spec: MetricSpec, penalty: FloatArray, sums: Sums, terms: Terms, value: float
) -> float:
    """Find the influences of a cost or weighted kappa; give the factor of penalties."""
    mean = sums.penalty / sums.n
    if spec.metric == COST:
        _shift(terms.r, -mean)
        return 1.0
    expected = penalty_by_chance(penalty, sums)
    for t in range(penalty.shape[0]):
        for y in range(penalty.shape[0]):
            effect = (1.0 - value) * penalty[t, y] / expected / sums.n
            terms.r[t] += effect * sums.c[y]
            terms.c[y] += effect * sums.r[t]
    _shift(terms.r, -mean / expected)
    return -1.0 / expected


@kernel
def influence_terms(
    spec: MetricSpec, listed: CodeArray, penalty: FloatArray, sums: Sums, terms: Terms
) -> tuple[float, float]:
    """Write the terms of a metric's influences.

    The value of the metric, and the factor of the penalties.
    """
    for k in range(terms.d.size):
        terms.d[k] = terms.r[k] = terms.c[k] = 0.0
    value = value_of(spec, listed, penalty, sums)
    if math.isnan(value):
        return value, 0.0
    if spec.metric < ACCURACY:
        if spec.average == ONE_CLASS:
            _add_class(terms, spec.metric, spec.label, sums, spec.beta, 1.0)
        elif spec.average == MICRO:
            _micro_terms(spec, listed, sums, terms)
        elif spec.average == OF_MEANS:
            _of_means_terms(spec, listed, sums, terms)
        else:
            _average_terms(spec, listed, sums, terms, value)
        return value, 0.0
    if spec.metric == COST or (spec.metric == KAPPA and penalty.size > 0):
        return value, _penalty_terms(spec, penalty, sums, terms, value)
    _agreement_terms(spec, sums, terms, value)
    return value, 0.0


@kernel
def metric_influence(
    table: FloatArray, spec: MetricSpec, listed: CodeArray, penalty: FloatArray, out: FloatArray
) -> float:
    """Compute a metric, and the influence of each cell of the confusion matrix.

    Parameters
    ----------
    table : ndarray of float64, shape (K, K)
        Samples, or their weights, by true and predicted class.
    spec : MetricSpec
        Which metric.
    listed : ndarray of uint8, shape (K,)
        As in `metric_value`.
    penalty : ndarray of float64, shape (K, K) or (0, 0)
        As in `metric_value`.
    out : ndarray of float64, shape (K, K)
        Receives the influences psi: ``(table * psi**2).sum() / table.sum()**2`` is the
        variance of the metric. NaN where it is not defined.

    Returns
    -------
    float
        The metric.

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.kernels import ACCURACY, MetricSpec, metric_influence
    >>> table, psi = np.array([[4.0, 1.0], [2.0, 3.0]]), np.empty((2, 2))
    >>> listed, penalty = np.ones(2, np.uint8), np.empty((0, 0))
    >>> metric_influence(table, MetricSpec(ACCURACY), listed, penalty, psi)
    0.7
    >>> psi.round(12).tolist()
    [[0.3, -0.7], [-0.7, 0.3]]
    """
    k = table.shape[0]
    terms = Terms(np.empty(k), np.empty(k), np.empty(k))
    sums = confusion_sums(table, penalty, np.empty(k), np.empty(k), np.empty(k))
    value, by = influence_terms(spec, listed, penalty, sums, terms)
    if math.isnan(value):
        out[:] = math.nan
        return value
    for t in range(k):
        for y in range(k):
            out[t, y] = terms.r[t] + terms.c[y]
            if by != 0.0:
                out[t, y] += by * penalty[t, y]
        out[t, t] += terms.d[t]
    return value


@kernel
def metric_influences(
    tables: FloatArray, spec: MetricSpec, listed: CodeArray, penalty: FloatArray, out: FloatArray
) -> None:
    """Compute the influences of the cells of many confusion matrices.

    Parameters
    ----------
    tables : ndarray of float64, shape (B, K, K)
        Samples, or their weights, by true and predicted class.
    spec : MetricSpec
        Which metric.
    listed : ndarray of uint8, shape (K,)
        As in `metric_value`.
    penalty : ndarray of float64, shape (K, K) or (0, 0)
        As in `metric_value`.
    out : ndarray of float64, shape (B, K, K)
        Receives the influences, as in `metric_influence`.

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.kernels import ACCURACY, MetricSpec, metric_influences
    >>> tables, out = np.ones((3, 2, 2)), np.empty((3, 2, 2))
    >>> listed, penalty = np.ones(2, np.uint8), np.empty((0, 0))
    >>> metric_influences(tables, MetricSpec(ACCURACY), listed, penalty, out)
    >>> out[2].tolist()
    [[0.5, -0.5], [-0.5, 0.5]]
    """
    for b in range(tables.shape[0]):
        metric_influence(tables[b], spec, listed, penalty, out[b])


@kernel
def mean_rate_limits(
    table: FloatArray,
    spec: MetricSpec,
    classes: IntArray,
    successes: FloatArray,
    trials: FloatArray,
    weights: FloatArray,
    z: float,
    as_f1: bool,
) -> tuple[float, float]:
    """Limits of a weighted sum of rates of classes, by MOVER from Wilson's limits of each.

    F1 is 2 x / (1 + x) of a rate. Rates are correlated as at the counts with two more samples,
    spread evenly over all cells: NaN if one is constant there.
    """
    k = table.shape[0]
    smooth = np.empty((k, k))
    for t in range(k):
        for y in range(k):
            smooth[t, y] = table[t, y] + 2.0 / (k * k)
    sums = confusion_sums(smooth, np.empty((0, 0)), np.empty(k), np.empty(k), np.empty(k))
    # How each cell moves the sum, with the rates in units of their distances from the limits.
    below = Terms(np.zeros(k), np.zeros(k), np.zeros(k))
    above = Terms(np.zeros(k), np.zeros(k), np.zeros(k))
    middle = down = up = 0.0
    for i in range(classes.size):
        c, n = classes[i], sums.n
        hits, missed, false = sums.d[c], sums.r[c] - sums.d[c], sums.c[c] - sums.d[c]
        slopes = class_slopes(spec.metric, hits, sums.r[c], sums.c[c], n, spec.beta)
        by_miss, by_false, others = slopes.r + slopes.n, slopes.c + slopes.n, square(slopes.n)
        error = hits * square(slopes.d + slopes.r + by_false) + missed * square(by_miss)
        error += false * square(by_false) + (n - sums.r[c] - false) * others
        if not error > 0.0:
            return math.nan, math.nan
        error = math.sqrt(error)
        rate = successes[i] / trials[i]
        low, high = _wilson(successes[i], trials[i], z)
        if as_f1:
            rate, low = 2.0 * rate / (1.0 + rate), 2.0 * low / (1.0 + low)
            high = 2.0 * high / (1.0 + high)
        middle += weights[i] * rate
        _add(below, c, slopes, weights[i] * (rate - low) / error)
        _add(above, c, slopes, weights[i] * (high - rate) / error)
    for t in range(k):
        for y in range(k):
            lower, upper = below.r[t] + below.c[y], above.r[t] + above.c[y]
            if t == y:
                lower += below.d[t]
                upper += above.d[t]
            down += smooth[t, y] * square(lower)
            up += smooth[t, y] * square(upper)
    return middle - math.sqrt(down), middle + math.sqrt(up)


# Influences of samples on a metric: looked up, added up, and compared in pairs.
#
# The influence of a sample depends on its row (its true class, or stratum and class) and
# on what the model predicts: each model has one table of them.

_BITS = 64  # codes that a word has a bit for
_CHUNK = 4096  # samples whose squares are added up before they meet the total


@kernel
def mark_codes(codes: CodeArray, marks: CodeArray) -> None:
    """Write 1 to each entry of `marks` whose code occurs."""
    wide_vectors()
    for start in range(0, codes.size, _CHUNK):
        part = codes[start : start + _CHUNK]
        largest = part[0]
        for i in range(part.size):
            largest = max(largest, part[i])
        if largest >= _BITS:
            for i in range(part.size):
                marks[part[i]] = 1
            continue
        found = np.uint64(0)  # a bit a code: no entry waits for another
        for i in range(part.size):
            found |= np.uint64(1) << np.uint64(part[i])
        for code in range(largest + 1):
            if (found >> np.uint64(code)) & np.uint64(1):
                marks[code] = 1


@kernel
def gather_influences(starts: IntArray, pred: CodeArray, lookup: Any, pilot: Any, out: Any) -> None:
    """Look up the influence of each sample, less that of the pilot.

    `lookup` is a table written row by row, and `starts` where the row of each sample
    begins, from `table_starts`.
    """
    wide_vectors()
    for i in range(starts.size):
        out[i] = lookup[starts[i] + np.uint32(pred[i])] - pilot[i]


def table_starts(rows: CodeArray, n_codes: int) -> CodeArray:
    """The places where the rows of samples begin in a table of K' columns."""
    return rows.astype(np.uint32) * np.uint32(n_codes)


@kernel
def add_influences(
    rows: CodeArray, pred: CodeArray, lookup: FloatArray, units: IntArray, out: FloatArray
) -> None:
    """Add the influence of each sample to that of its unit."""
    for i in range(rows.size):
        out[units[i]] += lookup[rows[i], pred[i]]


@kernel
def compare_influences(
    rows: CodeArray,
    pred_a: CodeArray,
    pred_b: CodeArray,
    lookup_a: FloatArray,
    lookup_b: FloatArray,
) -> tuple[int, float, float]:
    """Compare the influences of two models, sample by sample.

    How many predictions differ, the sum of the differences, and that of their squares.
    """
    wide_vectors()
    flat_a, flat_b, k = lookup_a.ravel(), lookup_b.ravel(), np.uint32(lookup_a.shape[1])
    differ, total, squares = 0, 0.0, 0.0
    for start in range(0, rows.size, _CHUNK):
        part, part_squares = 0.0, 0.0
        for i in range(start, min(start + _CHUNK, rows.size)):
            row = np.uint32(rows[i]) * k
            a, b = np.uint32(pred_a[i]), np.uint32(pred_b[i])
            difference = flat_a[row + a] - flat_b[row + b]
            differ += a != b
            part += difference
            part_squares += difference * difference
        total += part
        squares += part_squares
    return differ, total, squares


@kernel
def compare_cells(tensors: IntArray, of_a: FloatArray, of_b: FloatArray, out: FloatArray) -> None:
    """Compare the influences of pairs of models, cell by cell.

    `tensors` are samples ``[p, t, a, b]``, `of_a` and `of_b` influences ``[p, t, a]``;
    `out`, shape (P, 3), receives what `compare_influences` gives.
    """
    k = tensors.shape[3]
    for p in range(tensors.shape[0]):
        differ, total, squares = 0, 0.0, 0.0
        for t in range(tensors.shape[1]):
            for a in range(tensors.shape[2]):
                own = of_a[p, t, a]
                for b in range(k):
                    n = tensors[p, t, a, b]
                    if n == 0:
                        continue
                    difference = own - of_b[p, t, b]
                    if a != b:
                        differ += n
                    total += n * difference
                    squares += n * (difference * difference)
        out[p, 0], out[p, 1], out[p, 2] = differ, total, squares
