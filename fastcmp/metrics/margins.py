"""Margin tests of two models by metrics of their counts."""

from __future__ import annotations

import math
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import ndtri

from fastcmp.core.records import ConfidenceInterval
from fastcmp.metrics.bounded_draws import NO_VALUE
from fastcmp.metrics.paired_recalls import paired_counts
from fastcmp.paired.accuracy_margins import accuracy_margins
from fastcmp.paired.margin_result import MarginTests
from fastcmp.paired.margin_statistics import (
    Estimated,
    MarginOptions,
    Tails,
    make_tests,
    samples_needed,
)
from fastcmp.paired.margins import as_margin, as_margin_alpha, as_margins

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fastcmp.metrics.bounded_draws import Bounds
    from fastcmp.metrics.compared import Compared, CompareOptions
    from fastcmp.metrics.pair_estimates import Pair

#: Fields that are no array where they are the same for all.
_OFTEN_SAME = ("method", "measure", "alpha", "strict", "margin", "lower_is_better")


def read_margins(margin: Any, alpha: Any) -> MarginOptions | None:
    """Check a margin, or one for each metric; None for none."""
    level = as_margin_alpha(alpha)
    if margin is None:
        return None
    margins = as_margins(margin)
    if margins.ndim > 1:
        raise ValueError(
            f"margin must be a number, or one for each metric, got the shape {margins.shape}"
        )
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
        raise ValueError(
            f"margin must have one entry for each of {n_metrics} metrics, got {margins.size}"
        )
    each = np.broadcast_to(margins, n_metrics).tolist()
    tests = [
        _test(one, options, against._replace(margin=margin))
        for row in found
        for one, margin in zip(row, each, strict=True)
    ]
    return tests[0] if not shape and len(tests) == 1 else stacked_margins(tests, shape)


def _test(one: Compared, options: CompareOptions, against: MarginOptions) -> MarginTests:
    """Test one metric against its margin."""
    return margin_test(
        one.pair,
        one.bounds,
        against,
        standard_error=one.errors.difference,
        pvalue=one.test.pvalue,
        alternative=options.alternative,
    )


def margin_test(
    pair: Pair,
    bounds: Bounds | None,
    against: MarginOptions,
    *,
    standard_error: float,
    pvalue: float,
    alternative: str = "two-sided",
) -> MarginTests:
    """Test a difference against a margin: of proportions as accuracies, else by `bounds`."""
    estimator, cells = pair.estimator, pair.cells
    least, most = estimator.limits
    margin = as_margin(against.margin, most - least)
    against = against._replace(lower_is_better=estimator.lower_is_better)
    counts = paired_counts(estimator, cells)
    if counts is not None:
        made = accuracy_margins(
            counts, against, pvalue=pvalue, alternative=alternative, measure=estimator.title
        )
        more = made.n_more  # of the samples that count
        return made if not more else replace(made, n_more=math.ceil(more * cells.n / counts[2]))
    of = Estimated(
        pair.difference,
        standard_error,
        n_samples=cells.n,
        pvalue=pvalue,
        alternative=alternative,
        measure=estimator.title,
    )
    lower = upper = better = math.nan
    ends = [(math.nan, math.nan)] * 2
    if bounds is not None and not math.isnan(pair.difference):
        lower, upper = bounds.pvalue_lower(-margin), bounds.pvalue_upper(margin)
        better = bounds.pvalue_lower(margin)
        if estimator.lower_is_better:
            better = bounds.pvalue_upper(-margin)
        ends = [bounds.interval(1 - against.alpha), bounds.interval(1 - 2 * against.alpha)]
    spread = standard_error * math.sqrt(cells.n)
    needed = samples_needed(against.gain(pair.difference), margin, (spread,) * 3, against)
    return make_tests(
        of,
        against,
        # As normal scores, so that they can be compared with those of other measures.
        Tails(-ndtri(lower), ndtri(upper), lower, upper, better),
        (ConfidenceInterval(*ends[0]), ConfidenceInterval(*ends[1])),
        # A decision that the variance promises and is not there needs some more.
        np.where((needed > cells.n) & ~np.isnan(lower), needed, np.nan),
        method="dirichlet",
        reason=NO_VALUE if math.isnan(lower) else "",
    )


def stacked_margins(tests: list[MarginTests], shape: tuple[int, ...]) -> MarginTests:
    """Make one record of arrays of many of numbers."""
    first = tests[0]
    columns: dict[str, Any] = {}
    for field in fields(MarginTests):
        values = [getattr(each, field.name) for each in tests]
        if field.name == "reason":
            columns[field.name] = max(values, key=len)
        elif field.name in ("interval", "inner_interval"):
            both = np.array(values, np.float64).reshape(*shape, 2)
            columns[field.name] = ConfidenceInterval(both[..., 0], both[..., 1])
        elif field.name in _OFTEN_SAME:
            same = values.count(values[0]) == len(tests)
            columns[field.name] = values[0] if same else np.reshape(values, shape)
        elif all(value is None for value in values):
            columns[field.name] = None
        else:
            known = [np.nan if x is None else x for x in values]
            columns[field.name] = np.array(known).reshape(shape)
    return type(first)(**columns)
