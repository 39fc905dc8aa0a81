"""Metrics of a confusion matrix: averages of rates of classes, MCC, kappa and costs.

Every metric here depends on a few sums of the matrix: its diagonal, its margins, and
for weighted kappa and costs one sum of penalties.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any, Final, NamedTuple

import numpy as np

from fastcmp._jit import helper, kernel, sum_of
from fastcmp.kernels.metric_rates import (
    F_BETA,
    FOWLKES_MALLOWS,
    JACCARD,
    NPV,
    ODDS_RATIO,
    PRECISION,
    RECALL,
    SPECIFICITY,
    _parts,
    class_rate,
)
from fastcmp.kernels.typing import CodeArray, FloatArray

# Metrics of the whole matrix; lower codes are rates of a class.
ACCURACY: Final = 20
MCC: Final = 21
KAPPA: Final = 22
SCOTT_PI: Final = 23
COST: Final = 24

# How rates of classes become one number.
ONE_CLASS: Final = 0
MACRO: Final = 1
WEIGHTED: Final = 2
MICRO: Final = 3
GEOMETRIC: Final = 4
OF_MEANS: Final = 5

# Which classes an average is over.
UNION: Final = 0
TRUTH: Final = 1
LISTED: Final = 2


class MetricSpec(NamedTuple):
    """Which metric of a confusion matrix."""

    #: A rate of classes such as ``F_BETA``, or ``ACCURACY``, ``MCC``, ``KAPPA``,
    #: ``SCOTT_PI`` or ``COST``.
    metric: int
    #: ``ONE_CLASS``, ``MACRO``, ``WEIGHTED`` (by true class), ``MICRO``, ``GEOMETRIC``
    #: (the geometric mean), or ``OF_MEANS`` (F of the means of precision and recall).
    average: int = ONE_CLASS
    #: The class of ``ONE_CLASS``.
    label: int = 1
    #: What recall counts beside precision in ``F_BETA``.
    beta: float = 1.0
    #: The value of a rate without samples, such as precision where nothing is
    #: predicted; NaN leaves it out of averages.
    zero_division: float = 0.0
    #: Averages are over classes that occur in truth or predictions (``UNION``), in the
    #: truth (``TRUTH``), or those that are listed (``LISTED``).
    labels: int = UNION


class Sums(NamedTuple):
    """What a metric needs of a confusion matrix."""

    d: FloatArray
    r: FloatArray
    c: FloatArray
    n: float
    #: Sum of the penalties of all samples.
    penalty: float


class Part(NamedTuple):
    """What a class adds to an average: four numbers, which depend on the average."""

    weight: float
    first: float
    second: float
    third: float


@kernel
def confusion_sums(
    table: FloatArray, penalty: FloatArray, d: FloatArray, r: FloatArray, c: FloatArray
) -> Sums:
    """Add up a confusion matrix, into d, r and c; n is NaN if a cell is negative."""
    total, weighted, k = 0.0, 0.0, table.shape[0]
    c[:] = 0.0
    for t in range(k):
        row = 0.0
        for y in range(k):
            row += table[t, y]
            c[y] += table[t, y]
            if table[t, y] < 0.0:
                total = math.nan
        r[t], d[t] = row, table[t, t]
        total += row
    if penalty.shape == table.shape:
        for t in range(k):
            for y in range(k):
                weighted += penalty[t, y] * table[t, y]
    return Sums(d, r, c, total, weighted)


@helper
def _is_counted(rule: int, listed: int, r: float, c: float) -> bool:
    """Tell whether an average is over this class."""
    if listed == 0:
        return False
    return rule == LISTED or r > 0.0 or (rule == UNION and c > 0.0)


@kernel
def known_rate(  # the rate, its four sums and what it is without samples
    rate: int, d: float, r: float, c: float, n: float, spec: MetricSpec
) -> float:
    """Compute a rate of a class; without samples it is what the metric says."""
    value = class_rate(rate, d, r, c, n, spec.beta)
    if math.isnan(value) and rate <= FOWLKES_MALLOWS:
        return spec.zero_division
    return value


@kernel
def part_of(spec: MetricSpec, listed: int, d: float, r: float, c: float, n: float) -> Part:
    """Compute what a class adds to an average."""
    if not _is_counted(spec.labels, listed, r, c):
        return Part(0.0, 0.0, 0.0, 0.0)
    if spec.average == MICRO:
        return Part(1.0, d, r, c)
    if spec.average == OF_MEANS:
        precision = known_rate(PRECISION, d, r, c, n, spec)
        recall = known_rate(RECALL, d, r, c, n, spec)
        if math.isnan(precision):
            return Part(0.0, 0.0, 1.0, recall)
        if math.isnan(recall):
            return Part(1.0, precision, 0.0, 0.0)
        return Part(1.0, precision, 1.0, recall)
    value = known_rate(spec.metric, d, r, c, n, spec)
    if math.isnan(value):
        undefined = 1.0 if spec.metric > FOWLKES_MALLOWS else 0.0
        return Part(0.0, 0.0, undefined, 0.0)
    if spec.average == WEIGHTED:
        return Part(r, r * value, 0.0, 1.0)
    if spec.average == GEOMETRIC:
        if value > 0.0:
            return Part(1.0, math.log(value), 0.0, 0.0)
        return Part(1.0, 0.0, 0.0, 1.0)
    return Part(1.0, value, 0.0, 0.0)


@kernel
def average_of(spec: MetricSpec, total: Part, n: float) -> float:
    """Average the parts of all classes, added up."""
    if spec.average == MICRO:
        # Negatives and samples are counted once for each class.
        return known_rate(
            spec.metric, total.first, total.second, total.third, n * total.weight, spec
        )
    if spec.average == OF_MEANS:
        if total.weight == 0.0 or total.second == 0.0:
            return spec.zero_division
        precision, recall = total.first / total.weight, total.third / total.second
        square = spec.beta * spec.beta
        if precision == 0.0 and recall == 0.0:
            return 0.0
        return (1.0 + square) * precision * recall / (square * precision + recall)
    if total.second > 0.0:
        return math.nan
    if total.weight == 0.0:
        if total.third > 0.0 and spec.metric not in (SPECIFICITY, NPV):
            return 0.0  # classes that are predicted and never true
        return spec.zero_division if spec.metric <= FOWLKES_MALLOWS else math.nan
    if spec.average == GEOMETRIC:
        return 0.0 if total.third > 0.0 else math.exp(total.first / total.weight)
    return total.first / total.weight


@kernel
def rate_average(spec: MetricSpec, listed: CodeArray, sums: Sums) -> float:
    """Average a rate over classes."""
    if spec.average == ONE_CLASS:
        k = spec.label
        return known_rate(spec.metric, sums.d[k], sums.r[k], sums.c[k], sums.n, spec)
    weight = first = second = third = 0.0
    for k in range(sums.r.size):
        part = part_of(spec, listed[k], sums.d[k], sums.r[k], sums.c[k], sums.n)
        weight += part.weight
        first += part.first
        second += part.second
        third += part.third
    return average_of(spec, Part(weight, first, second, third), sums.n)


class Disagreement(NamedTuple):
    """Proportions of samples on which truth and predictions differ."""

    #: As they are.
    wrong: float
    #: If predictions had nothing to do with the truth.
    by_chance: float
    #: Between two draws of the truth, and two of the predictions.
    of_truth: float
    of_calls: float
    #: By chance less as they are.
    fewer: float


@kernel
def disagreement_of(sums: Sums) -> Disagreement:
    """Compute proportions of differences, as sums in which nothing cancels."""
    wrong = by_chance = of_truth = of_calls = fewer = 0.0
    for k in range(sums.r.shape[0]):
        r, c = sums.r[k] / sums.n, sums.c[k] / sums.n
        missed, false = sums.r[k] - sums.d[k], sums.c[k] - sums.d[k]
        rest = sums.n - sums.r[k] - false
        # Of classes without samples elsewhere both products are small.
        fewer += sums.d[k] / sums.n * rest - missed / sums.n * false
        wrong += sums.r[k] - sums.d[k]
        by_chance += r * (sums.n - sums.c[k])
        of_truth += r * (sums.n - sums.r[k])
        of_calls += c * (sums.n - sums.c[k])
    n = sums.n
    return Disagreement(wrong / n, by_chance / n, of_truth / n, of_calls / n, fewer / n)


@kernel
def agreement_of(metric: int, differ: Disagreement) -> float:
    """Compute MCC, kappa or Scott's pi."""
    if metric == MCC:
        spread = differ.of_truth * differ.of_calls
        if not spread > 0.0:
            return 0.0
        return differ.fewer / math.sqrt(spread)
    chance = differ.by_chance
    if metric == SCOTT_PI:
        chance = 0.25 * (differ.of_truth + 2.0 * chance + differ.of_calls)
    return 1.0 - differ.wrong / chance if chance > 0.0 else math.nan


@kernel
def penalty_by_chance(penalty: FloatArray, sums: Sums) -> float:
    """Average the penalty if predictions had nothing to do with the truth."""
    chance = 0.0
    for t in range(penalty.shape[0]):
        row = 0.0
        for y in range(penalty.shape[0]):
            row += penalty[t, y] * (sums.c[y] / sums.n)
        chance += sums.r[t] / sums.n * row
    return chance


@kernel
def is_possible(spec: MetricSpec, listed: CodeArray, penalty: FloatArray, sums: Sums) -> bool:
    """Tell whether there is such a metric, and such a confusion matrix."""
    k = sums.r.size
    if not 0.0 < sums.n < math.inf or listed.size != k or not spec.beta >= 0.0:
        return False
    if spec.metric < ACCURACY:
        known = RECALL <= spec.metric <= ODDS_RATIO
        known = known and ONE_CLASS <= spec.average <= OF_MEANS
        return known and (spec.average != ONE_CLASS or 0 <= spec.label < k)
    if spec.metric == COST or (spec.metric == KAPPA and penalty.size > 0):
        return penalty.shape == (k, k)
    return spec.metric <= COST


@kernel
def value_of(spec: MetricSpec, listed: CodeArray, penalty: FloatArray, sums: Sums) -> float:
    """Compute a metric from the sums of a confusion matrix."""
    if not is_possible(spec, listed, penalty, sums):
        return math.nan
    if spec.metric < ACCURACY:
        return rate_average(spec, listed, sums)
    if spec.metric == COST:
        return sums.penalty / sums.n
    if spec.metric == ACCURACY:
        return sum_of(sums.d) / sums.n
    if spec.metric == KAPPA and penalty.shape[0] > 0:
        expected = penalty_by_chance(penalty, sums)
        if not expected > 0.0:
            return math.nan
        return 1.0 - sums.penalty / sums.n / expected
    return agreement_of(spec.metric, disagreement_of(sums))


@kernel
def metric_value(
    table: FloatArray, spec: MetricSpec, listed: CodeArray, penalty: FloatArray
) -> float:
    """Compute a metric of a confusion matrix.

    Parameters
    ----------
    table : ndarray of float64, shape (K, K)
        Samples, or their weights, by true and predicted class.
    spec : MetricSpec
        Which metric.
    listed : ndarray of uint8, shape (K,)
        0 for classes that no average is over; 1 for all where `spec` does not say
        ``LISTED``.
    penalty : ndarray of float64, shape (K, K) or (0, 0)
        For ``COST`` and weighted ``KAPPA``: what it costs to predict y where t is true.

    Returns
    -------
    float
        NaN where it is not defined, and for counts or codes that cannot be.

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.kernels import F_BETA, MACRO, MetricSpec, metric_value
    >>> table = np.array([[4.0, 1.0], [2.0, 3.0]])
    >>> spec = MetricSpec(F_BETA, MACRO)
    >>> round(metric_value(table, spec, np.ones(2, np.uint8), np.empty((0, 0))), 4)
    0.697
    """
    k = table.shape[0]
    sums = confusion_sums(table, penalty, np.empty(k), np.empty(k), np.empty(k))
    return value_of(spec, listed, penalty, sums)


def _values_by_numpy(
    tables: FloatArray, spec: MetricSpec, listed: CodeArray, penalty: FloatArray, out: FloatArray
) -> None:
    """As `metric_values`, for the metrics that are asked for most; sums in the same order."""
    plain = spec.metric in (RECALL, PRECISION, F_BETA, JACCARD)
    plain = plain and spec.average in (ONE_CLASS, MACRO, WEIGHTED)
    agreement = spec.metric in (MCC, SCOTT_PI) or (spec.metric == KAPPA and penalty.size == 0)
    if not (plain or agreement) or not spec.beta >= 0.0 or spec.label >= listed.size:
        for b in range(len(tables)):
            out[b] = metric_value(tables[b], spec, listed, penalty)
        return
    d: Any = np.diagonal(tables, axis1=1, axis2=2).T
    r: Any = np.add.accumulate(tables, axis=2)[:, :, -1].T
    c: Any = np.add.accumulate(tables, axis=1)[:, -1].T
    n: Any = np.where((tables < 0.0).any(axis=(1, 2)), math.nan, np.add.accumulate(r)[-1])
    if agreement:
        differ = disagreement_of(Sums(d, r, c, n, math.nan))
        values = [
            agreement_of(spec.metric, Disagreement(*row)) for row in np.transpose(differ).tolist()
        ]
    else:
        top, below, _, _ = _parts(spec.metric, d, r, c, n, spec.beta)
        known = (d <= np.minimum(r, c)) & (np.maximum(r, c) <= n) & (below > 0.0)
        rates = np.where(known, top / below, spec.zero_division)
        values = rates[spec.label].tolist()
        if spec.average != ONE_CLASS:
            counted = (r > 0.0) | ((spec.labels == UNION) & (c > 0.0)) | (spec.labels == LISTED)
            counted &= (listed != 0)[:, None] & ~np.isnan(rates)
            weights = np.where(counted, r if spec.average == WEIGHTED else 1.0, 0.0)
            parts = np.where(counted, weights * rates, 0.0)
            sums = np.add.accumulate([weights, parts, counted * 1.0], axis=1)[:, -1]
            third = sums[2] * (spec.average == WEIGHTED)
            rows = zip(*sums[:2].tolist(), third.tolist(), n.tolist(), strict=True)
            values = [average_of(spec, Part(w, x, 0.0, z), m) for w, x, z, m in rows]
    out[:] = np.where((n > 0.0) & (n < math.inf), values, math.nan)


@partial(kernel, by_numpy=_values_by_numpy)
def metric_values(
    tables: FloatArray, spec: MetricSpec, listed: CodeArray, penalty: FloatArray, out: FloatArray
) -> None:
    """Compute a metric of many confusion matrices.

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
    out : ndarray of float64, shape (B,)
        Receives the values.

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.kernels import ACCURACY, MetricSpec, metric_values
    >>> tables, out = np.ones((3, 2, 2)), np.empty(3)
    >>> listed, penalty = np.ones(2, np.uint8), np.empty((0, 0))
    >>> metric_values(tables, MetricSpec(ACCURACY), listed, penalty, out)
    >>> out.tolist()
    [0.5, 0.5, 0.5]
    """
    k = tables.shape[1]
    d, r, c = np.empty(k), np.empty(k), np.empty(k)
    for b in range(tables.shape[0]):
        sums = confusion_sums(tables[b], penalty, d, r, c)
        out[b] = value_of(spec, listed, penalty, sums)
