"""Margin tests of two models by metrics of their counts."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp.core.records import ConfidenceInterval
from fastcmp.paired.accuracy_margins import accuracy_margins
from fastcmp.paired.margin_result import MarginTests
from fastcmp.paired.margin_statistics import Estimated, MarginOptions, margins_of
from fastcmp.paired.margins import as_margin, as_margin_alpha, as_margins

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fastcmp.metrics.compared import Compared, CompareOptions

_ALIKE = 1e-12


def read_margins(margin: Any, alpha: Any) -> MarginOptions | None:
    """Check a margin, or one for each metric; None for none."""
    level = as_margin_alpha(alpha)
    if margin is None:
        return None
    margins = as_margins(margin)
    if margins.ndim > 1:
        message = f"margin must be a number, or one for each metric, got the shape {margins.shape}"
        raise ValueError(message)
    return MarginOptions(margins, level)


def metric_margins(
    found: Sequence[Sequence[Compared]],
    shape: tuple[int, ...],
    options: CompareOptions,
    against: MarginOptions | None,
) -> MarginTests | None:
    """Test the metrics of each table against their margins."""
    if against is None:
        return None
    margins, n_metrics = against.margin, len(found[0])
    if margins.ndim and margins.size != n_metrics:
        message = f"margin must have one entry for each of {n_metrics} metrics, got {margins.size}"
        raise ValueError(message)
    each = np.broadcast_to(margins, n_metrics).tolist()
    tests = [
        _test(one, options, against._replace(margin=margin))
        for row in found
        for one, margin in zip(row, each, strict=True)
    ]
    return tests[0] if not shape and len(tests) == 1 else _stacked(tests, shape)


def _test(one: Compared, options: CompareOptions, against: MarginOptions) -> MarginTests:
    """Test one metric; accuracies of counted samples as McNemar's test does."""
    estimator, cells = one.pair.estimator, one.pair.cells
    as_margin(against.margin, estimator.limits[1] - estimator.limits[0])
    against = against._replace(lower_is_better=estimator.lower_is_better)
    shared: dict[str, Any] = {
        "pvalue": one.test.pvalue,
        "alternative": options.alternative,
        "measure": estimator.title,
    }
    t, a, b = cells.codes.T
    counted = cells.clusters is None and cells.squares is None
    if estimator.name == "accuracy" and counted and not options.within_classes:
        right = (t == a) & (t != b), (t == b) & (t != a)
        only_a, only_b = (int(cells.counts[each].sum()) for each in right)
        n = int(cells.n)
        if abs((only_a - only_b) / n - one.pair.difference) <= _ALIKE:
            return accuracy_margins((only_a, only_b, n), against, **shared)
    of = Estimated(
        one.pair.difference,
        one.errors.difference,
        df=options.degrees(cells),
        n_samples=cells.n,
        **shared,
    )
    return margins_of(of, against)


def _stacked(tests: list[MarginTests], shape: tuple[int, ...]) -> MarginTests:
    """Make one record of arrays of many of numbers."""
    first = tests[0]
    columns: dict[str, Any] = {}
    for field in fields(MarginTests):
        values = [getattr(each, field.name) for each in tests]
        if field.name in ("interval", "inner_interval"):
            both = np.array(values, np.float64).reshape(*shape, 2)
            columns[field.name] = ConfidenceInterval(both[..., 0], both[..., 1])
        elif field.name in ("method", "measure", "alpha", "strict", "margin"):
            same = values.count(values[0]) == len(tests)
            columns[field.name] = values[0] if same else np.reshape(values, shape)
        elif all(value is None for value in values):
            columns[field.name] = None
        else:
            known = [np.nan if x is None else x for x in values]
            columns[field.name] = np.array(known).reshape(shape)
    return type(first)(**columns)
