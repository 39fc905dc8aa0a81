"""Margin tests of two accuracies on different samples, from their counts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp.core.records import ConfidenceInterval
from fastcmp.paired.margin_statistics import Estimated, Tails, make_tests, samples_needed
from fastcmp.paired.unpaired_tests import UnpairedOptions, evaluate_counts, interval_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fastcmp.paired.margin_result import MarginTests
    from fastcmp.paired.margin_statistics import MarginOptions


def unpaired_margins(
    counts: tuple[Any, ...],
    options: MarginOptions,
    *,
    exact: bool,
    pvalue: Any,
    alternative: str,
    measure: str = "accuracy",
) -> MarginTests:
    """Test counts, right and all of a, then of b, against checked margins.

    By Miettinen and Nurminen's score test, or by Chan's exact test, which orders tables
    by that score. `pvalue` is that of the test of equality, with its alternative, from
    which better and worse follow; for None they follow from the interval.
    """
    arrays = np.broadcast_arrays(*counts, options.margin)
    cells, margin = np.array(arrays[:4]), np.array(arrays[4], np.float64)
    method = "barnard" if exact else "miettinen-nurminen"

    beyond = (-margin, "less") if options.lower_is_better else (margin, "greater")
    lower, upper, more = (
        evaluate_counts(cells, shift, UnpairedOptions(method, side, "ordering"))
        for shift, side in ((-margin, "greater"), (margin, "less"), beyond)
    )
    tails = Tails(*(lower.statistic, upper.statistic, lower.pvalue, upper.pvalue), more.pvalue)
    inverted = "exact" if exact else method
    intervals = (
        ConfidenceInterval(*interval_of(cells, inverted, 1.0 - options.alpha)),
        ConfidenceInterval(*interval_of(cells, inverted, 1.0 - 2.0 * options.alpha)),
    )
    difference = cells[0] / cells[1] - cells[2] / cells[3]
    if pvalue is None:
        apart = (intervals[0].low > 0.0) | (intervals[0].high < 0.0)
        pvalue, alternative = np.where(apart, 0.0, 1.0), "two-sided"
    of = Estimated(
        difference,
        None,
        n_samples=cells[1] + cells[3],
        pvalue=pvalue,
        alternative=alternative,
        measure=measure,
    )
    gain = options.gain(difference)
    towards = np.where(options.lower_is_better, np.negative(upper.statistic), lower.statistic)
    spreads = _spreads(cells, gain + margin, towards)
    needed = samples_needed(gain, margin, spreads, options)
    return make_tests(
        *(of, options, tails, intervals, needed), method="exact" if exact else "miettinen-nurminen"
    )


def _spreads(cells: NDArray[np.int64], reach: Any, z: Any) -> tuple[Any, Any, Any]:
    """Scale standard errors to one sample: equal models, at -margin, as observed."""
    a, n_a, b, n_b = cells
    n = n_a + n_b
    pooled, rate_a, rate_b = (a + b) / n, a / n_a, b / n_b
    equal = pooled * (1.0 - pooled) * (1.0 / n_a + 1.0 / n_b)
    observed = np.sqrt(rate_a * (1.0 - rate_a) / n_a + rate_b * (1.0 - rate_b) / n_b)
    with np.errstate(divide="ignore", invalid="ignore"):
        at_margin = np.where(np.equal(z, 0.0), observed, np.divide(reach, z))
    root = np.sqrt(n)
    return np.sqrt(equal) * root, at_margin * root, observed * root
