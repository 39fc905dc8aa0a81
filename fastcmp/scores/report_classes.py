"""Rates of each class against all others, of all classes at once: values and tests.

A class against the others is a table of two classes. The accuracy is such a table too:
its class is "right", to which all samples belong.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fastcmp import kernels
from fastcmp.core.tails import normal_tail
from fastcmp.kernels.class_exchanges import exchange_classes
from fastcmp.metrics.estimators import KernelEstimator
from fastcmp.metrics.intervals import estimate_table
from fastcmp.metrics.make_metric import make_metric
from fastcmp.metrics.proportions import Proportions, class_trials, rate_limits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from fastcmp.metrics.cells import Cells
    from fastcmp.metrics.choice import Metric

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]


class Values(NamedTuple):
    """Values with intervals, (U,)."""

    value: Floats
    low: Floats
    high: Floats


class Tests(NamedTuple):
    """Two-sided p-values, and which of them are exact."""

    pvalue: Floats
    exact: NDArray[np.bool_]


def class_tables(cells: Cells, shown: Ints) -> Ints:
    """Make the tables of classes against all others, and that of the accuracy.

    (U, 2, 2), by whether samples are of the class, and are predicted as it.
    """
    t, a = cells.codes.T
    d, r, c = (_sums(x, cells, at) for x, at in ((t, t == a), (t, None), (a, None)))
    n = r.sum()
    tables = np.stack([n - r - c + d, c - d, r - d, d], axis=1)[shown]
    overall = [0, 0, n - d.sum(), d.sum()]
    return np.concatenate([tables, [overall]]).reshape(-1, 2, 2)


def class_pairs(cells: Cells, shown: Ints) -> Ints:
    """Make the same of two models, (U, 2, 2, 2)."""
    t, a, b = cells.codes.T
    right_a, right_b = t == a, t == b
    r = _sums(t, cells, None)
    both = _sums(t, cells, right_a & right_b)
    only_a = _sums(t, cells, right_a & ~right_b)
    only_b = _sums(t, cells, right_b & ~right_a)
    false = _sums(a, cells, (a == b) & ~right_a)
    false_a = _sums(a, cells, (a != b) & ~right_a)
    false_b = _sums(b, cells, (a != b) & ~right_b)
    n, of_class = r.sum(), (both, only_a, only_b)
    outside = n - r - false - false_a - false_b
    made = (outside, false_b, false_a, false, r - sum(of_class), only_b, only_a, both)
    right = [x.sum() for x in of_class]
    overall = [0, 0, 0, 0, n - sum(right), right[2], right[1], right[0]]
    tables = np.concatenate([np.stack(made, axis=1)[shown], [overall]])
    return np.ascontiguousarray(tables.reshape(-1, 2, 2, 2))


def _sums(codes: Ints, cells: Cells, where: NDArray[np.bool_] | None) -> Ints:
    """Count the samples of each code, exactly."""
    counts = cells.counts
    if where is not None:
        codes, counts = codes[where], counts[where]
    sums = np.bincount(codes, counts.astype(np.float64), cells.n_classes)
    return np.asarray(sums.astype(np.int64))


def of_two_classes(metric: Metric) -> KernelEstimator:
    """Bind a metric to the tables of one class against the others."""
    (made,) = replace(
        metric, average="binary", positive=True, labels="union", prevalence=None
    ).bind((False, True))
    assert isinstance(made, KernelEstimator)
    return made


def accuracy_of_two() -> KernelEstimator:
    """Give the accuracy as recall of the class "right"."""
    return of_two_classes(make_metric("recall"))


def class_values(estimator: KernelEstimator, tables: Ints, level: float) -> Values:
    """Estimate a rate from tables of classes, with the intervals of `metric`."""
    floats = tables.astype(np.float64)
    value, spec = estimator.values(floats), estimator.spec
    low, high = np.full((2, len(value)), np.nan)
    d, n = floats[:, 1, 1], floats.sum(axis=(1, 2))
    trials = class_trials(spec, d, floats[:, 1].sum(1), floats[:, :, 1].sum(1), n)
    if trials is None or spec.metric == kernels.INFORMEDNESS:
        for u, table in enumerate(floats):
            low[u], high[u] = estimate_table(estimator, table, level)[2:4]
        return Values(value, low, high)
    known = trials[1] > 0
    of = Proportions(trials[0][known], trials[1][known], as_f1=spec.metric == kernels.F_BETA)
    _, low[known], high[known] = rate_limits(of, level)
    return Values(value, low, high)


def class_tests(estimators: Sequence[KernelEstimator], pairs: Ints) -> Tests:
    """Compare two models by rates of classes, (U, Q): exact, or by the pooled z."""
    specs = [estimator.spec for estimator in estimators]
    rates = np.array([spec.metric for spec in specs], np.int64)
    options = np.array([(spec.beta, spec.zero_division) for spec in specs], np.float64)
    pvalue = np.empty((len(pairs), len(specs)))
    exchange_classes(rates, options, pairs, pvalue)
    exact = ~np.isnan(pvalue)
    for estimator, own, known in zip(estimators, pvalue.T, exact.T, strict=True):
        own[~known] = _pooled(estimator, pairs[~known].astype(np.float64))
    return Tests(pvalue, exact)


def _pooled(estimator: KernelEstimator, pairs: Floats) -> Floats:
    """Test by the influences at the counts of both models together."""
    a, b = pairs.sum(axis=3), pairs.sum(axis=2)
    psi = estimator.influences(a + b)
    u = psi[:, :, :, np.newaxis] - psi[:, :, np.newaxis]
    total, square = ((pairs * x).sum(axis=(1, 2, 3)) for x in (u, u * u))
    with np.errstate(invalid="ignore", divide="ignore"):
        z = total / np.sqrt(square)
    z[np.isnan(estimator.values(a) - estimator.values(b))] = np.nan
    return np.asarray(normal_tail(z, "two-sided"))
