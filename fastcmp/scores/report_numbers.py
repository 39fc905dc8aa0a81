"""All numbers of a classification report, of all models: estimates and differences."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fastcmp.metrics.cautions import conventions, differing_labels, few_samples
from fastcmp.scores.report_averages import average_tests, average_values
from fastcmp.scores.report_classes import (
    Tests,
    Values,
    accuracy_of_two,
    class_pairs,
    class_tables,
    class_tests,
    class_values,
    of_two_classes,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fastcmp.core.threads import ThreadPool
    from fastcmp.metrics.cells import Cells
    from fastcmp.metrics.estimators import Estimator, KernelEstimator
    from fastcmp.scores.report_counts import ReportCounts
    from fastcmp.scores.report_rows import Plan

    Floats = NDArray[np.float64]

_MOST_CAUTIONS = 6  # about values of 0/0


class Numbers(NamedTuple):
    """All numbers, shape (M, E) each; of tests NaN for the control."""

    value: Floats
    low: Floats
    high: Floats
    pvalue: Floats
    exact: NDArray[np.bool_]


class Bound(NamedTuple):
    """The metrics of a plan, bound to classes."""

    plan: Plan
    columns: list[KernelEstimator]
    averages: list[Estimator]
    overall: list[Estimator]


def bind_plan(plan: Plan) -> Bound:
    """Bind all metrics."""
    return Bound(
        plan,
        [of_two_classes(metric) for metric in plan.columns],
        [number.metric.bind(plan.classes)[0] for number in plan.averages],
        [number.metric.bind(plan.order)[0] for number in plan.overall],
    )


def measure_all(bound: Bound, counts: ReportCounts, level: float, pool: ThreadPool) -> Numbers:
    """Estimate all numbers, and test them against the control."""
    plan = bound.plan
    first, ordered = counts.arranged(plan.classes), counts.arranged(plan.order)
    models = range(len(counts.names))
    values = dict(
        pool.answers(lambda i: _values(bound, first.cells[i], ordered.cells[i], level), models)
    )
    made = [np.stack(parts) for parts in zip(*(values[i] for i in models), strict=True)]
    pvalue, exact = np.full(made[0].shape, np.nan), np.zeros(made[0].shape, bool)
    if counts.control is not None:
        others = [i for i in models if i != counts.control]
        for i, found in pool.answers(
            lambda i: _tests(bound, first.pairs[i], ordered.pairs[i]), others
        ):
            pvalue[i], exact[i] = found
    value, low, high = made
    return Numbers(value, low, high, pvalue, exact)


def _values(bound: Bound, cells: Cells, ordered: Cells, level: float) -> Values:
    """Estimate all numbers of one model."""
    tables = class_tables(cells, bound.plan.shown)
    rates = [class_values(each, tables[:-1], level) for each in bound.columns]
    parts = [Values(*(np.stack(x, axis=1).ravel() for x in zip(*rates, strict=True)))]
    if bound.plan.whole:
        parts.append(class_values(accuracy_of_two(), tables[-1:], level))
    parts.append(average_values(bound.averages, cells, level))
    parts.append(average_values(bound.overall, ordered, level))
    return Values(*map(np.concatenate, zip(*parts, strict=True)))


def _tests(bound: Bound, pair: Cells | None, ordered: Cells | None) -> Tests:
    """Test all numbers of one model against the control."""
    assert pair is not None and ordered is not None  # noqa: PT018
    _, a, b = pair.codes.T
    if np.array_equal(a, b):
        n = sum(1 for _ in bound.plan.numbers())
        return Tests(np.ones(n), np.ones(n, bool))
    tables = class_pairs(pair, bound.plan.shown)
    parts = [class_tests(bound.columns, tables[:-1])]
    if bound.plan.whole:
        parts.append(class_tests([accuracy_of_two()], tables[-1:]))
    parts.append(average_tests(bound.averages, pair))
    parts.append(average_tests(bound.overall, ordered))
    flat = [[x.ravel() for x in part] for part in parts]
    return Tests(*map(np.concatenate, zip(*flat, strict=True)))


def report_cautions(bound: Bound, counts: ReportCounts) -> tuple[str, ...]:
    """Say what to beware of: 0/0, few samples, averages over different classes."""
    plan, names = bound.plan, counts.names
    arranged = counts.arranged(plan.classes)
    macro = [
        estimator
        for estimator, number in zip(bound.averages, plan.averages, strict=True)
        if number.row.startswith("macro")
    ]
    first = arranged.cells[0].table()
    undefined: list[str] = []
    differing: list[str] = []
    for name, cells in zip(names, arranged.cells, strict=True):
        table = cells.table()
        for estimator in macro:
            undefined += conventions(estimator, [table], [name], plan.classes)
            pair = names[0], name
            differing += differing_labels(estimator, [first, table], pair, plan.classes)
    more = len(undefined) - _MOST_CAUTIONS
    if more > 0:
        undefined[_MOST_CAUTIONS:] = [f"There are {more} more rates of this kind."]
    return (*few_samples(first, plan.classes), *undefined, *differing[:1])
