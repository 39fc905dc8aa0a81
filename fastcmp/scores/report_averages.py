"""Averages over classes, and metrics of all classes at once: values and tests."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from fastcmp.metrics.exchanges import Exchanges
from fastcmp.metrics.intervals import estimate
from fastcmp.metrics.pair_estimates import Pair, pooled_test
from fastcmp.metrics.permutation import permutation_tests
from fastcmp.scores.report_classes import Tests, Values

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fastcmp.metrics.cells import Cells
    from fastcmp.metrics.estimators import Estimator

#: Configurations up to which the permutation test is exact.
MOST_CONFIGURATIONS = 50_000
_MOST_CELLS = 2 * int(math.log2(MOST_CONFIGURATIONS))
_MOST_NUMBERS = 50_000_000  # in the tables of all configurations


def average_values(estimators: Sequence[Estimator], cells: Cells, level: float) -> Values:
    """Estimate metrics of one model, with the intervals of `metric`."""
    made, table = np.full((3, len(estimators)), math.nan), cells.table()
    for u, estimator in enumerate(estimators):
        estimator.check(table)
        found = estimate(estimator, cells, level)
        made[:, u] = found.value, found.low, found.high
    return Values(*made)


def average_tests(estimators: Sequence[Estimator], cells: Cells) -> Tests:
    """Compare two models: exact where this is quick, or by the pooled z test."""
    few = bool(estimators) and _is_quick(cells)
    if few:
        found = permutation_tests(estimators, cells, exact=True)
        pvalues = [outcome.pvalue for outcome in found]
    else:
        tables = cells.table(0), cells.table(1)
        both = np.stack(tables)
        pvalues = [
            pooled_test(
                Pair(estimator, cells, tables, *estimator.values(both).tolist()), "two-sided"
            ).pvalue
            for estimator in estimators
        ]
    return Tests(np.array(pvalues, np.float64), np.full(len(pvalues), few))


def _is_quick(cells: Cells) -> bool:
    """Tell whether all configurations can be looked at."""
    _, a, b = cells.codes.T
    if np.count_nonzero(a != b) > _MOST_CELLS:  # at least a factor of 2 for each two
        return False
    totals = Exchanges(cells).totals
    most = min(MOST_CONFIGURATIONS, _MOST_NUMBERS / cells.n_classes**2)
    return bool(np.log1p(totals).sum() <= math.log(max(most, 1.0)))
