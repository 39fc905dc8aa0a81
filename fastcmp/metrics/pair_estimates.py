"""The difference and the ratio of a metric of two models, and how they vary."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import stdtr

from fastcmp import kernels
from fastcmp.core.tails import normal_tail
from fastcmp.kernels.cluster_means import t_quantile
from fastcmp.metrics.intervals import contributions, standard_error

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fastcmp.metrics.cells import Cells
    from fastcmp.metrics.estimators import Estimator

    Floats = NDArray[np.float64]


class Pair(NamedTuple):
    """A metric of two models on the same samples."""

    estimator: Estimator
    cells: Cells
    #: Confusion matrices of a and b.
    tables: tuple[Floats, Floats]
    value_a: float
    value_b: float

    @property
    def difference(self) -> float:
        """The metric of a minus that of b; 0 where all predictions agree."""
        return 0.0 if self.same else self.value_a - self.value_b

    @property
    def same(self) -> bool:
        """Whether the two models predict the same for all samples."""
        _, a, b = self.cells.codes.T
        return bool((a == b).all())


class Tested(NamedTuple):
    """A statistic and its p-value."""

    statistic: float
    pvalue: float
    status: int


class Errors(NamedTuple):
    """Standard errors of a difference, and of the two values."""

    difference: float
    a: float
    b: float


def pair_of(estimator: Estimator, cells: Cells) -> Pair:
    """Evaluate a metric of two models."""
    tables = cells.table(0), cells.table(1)
    value_a, value_b = estimator.values(np.stack(tables)).tolist()
    return Pair(estimator, cells, tables, value_a, value_b)


def pair_errors(pair: Pair, how: str, *, within_classes: bool = False) -> Errors:
    """Find standard errors by the jackknife or delta method; NaN where undefined."""
    cells = pair.cells
    psi = np.stack([contributions(pair.estimator, x, how) for x in pair.tables])
    both = cells.pick(psi[np.newaxis])[0]
    own = [psi[m][cells.codes[:, 0], cells.codes[:, 1 + m]] for m in range(2)]

    errors = [standard_error(cells, u, how, within_classes=within_classes) for u in (both, *own)]
    least = least_error(cells.n)
    return Errors(*(0.0 if error <= least else error for error in errors))


def least_error(n: float) -> float:
    """Bound the standard errors of values of size 1 that are nothing but rounding."""
    return float((1e-13 + 4.0 * np.finfo(np.float64).eps * n) / math.sqrt(max(n, 1.0)))


def ratio_error(pair: Pair) -> float:
    """Find the standard error of the log ratio, by the delta method."""
    if not (pair.value_a > 0.0 and pair.value_b > 0.0):
        return math.nan
    psi = np.stack(
        [
            pair.estimator.influence(table) / value
            for table, value in zip(pair.tables, (pair.value_a, pair.value_b), strict=True)
        ]
    )
    return math.sqrt(pair.cells.mean_square(pair.cells.pick(psi[np.newaxis])[0]))


def z_test(pair: Pair, error: float, alternative: str, df: float) -> Tested:
    """Compare the difference with its standard error: z, or t."""
    if pair.same or (error == 0.0 and pair.difference == 0.0):
        return Tested(0.0, 1.0, int(kernels.DEGENERATE))
    if not error > 0.0 or math.isnan(pair.difference):
        return Tested(math.nan, math.nan, int(kernels.UNDEFINED))
    return _tested(pair.difference / error, alternative, df)


def pooled_test(pair: Pair, alternative: str) -> Tested:
    """Compare two models by the influences at the counts of both together.

    Only samples with different predictions count; of accuracies it is McNemar's test.
    """
    if pair.same:
        return Tested(0.0, 1.0, int(kernels.DEGENERATE))
    if math.isnan(pair.difference):
        return Tested(math.nan, math.nan, int(kernels.UNDEFINED))
    psi = pair.estimator.influence(pair.tables[0] + pair.tables[1])
    u = pair.cells.pick(np.stack([psi, psi])[np.newaxis])[0]
    square = pair.cells.mean_square(u)
    if square == 0.0 and pair.difference == 0.0:
        return Tested(0.0, 1.0, int(kernels.DEGENERATE))
    if not square > 0.0:
        return Tested(math.nan, math.nan, int(kernels.UNDEFINED))
    total = float(pair.cells.counts @ u) / pair.cells.n
    return _tested(total / math.sqrt(square), alternative, math.inf)


def _tested(statistic: float, alternative: str, df: float) -> Tested:
    if df == math.inf:
        pvalue = float(normal_tail(statistic, alternative))
        return Tested(statistic, pvalue, int(kernels.OK))
    side = {"two-sided": -abs(statistic), "greater": -statistic, "less": statistic}
    tail = float(stdtr(df, side[alternative]))
    pvalue = 2.0 * tail if alternative == "two-sided" else tail
    return Tested(statistic, pvalue, int(kernels.OK))


def difference_interval(pair: Pair, error: float, level: float, df: float) -> tuple[float, float]:
    """Give the interval that is symmetric about the difference.

    None where nothing tells how the difference varies: all of a right, of b wrong.
    """
    if error == 0.0 and not pair.same:
        return math.nan, math.nan
    half = t_quantile(df, level) * error
    return pair.difference - half, pair.difference + half


def ratio_interval(pair: Pair, error: float, level: float, df: float) -> tuple[float, float]:
    """Give the interval of the ratio, on the log scale."""
    if math.isnan(error):
        return math.nan, math.nan
    ratio = pair.value_a / pair.value_b
    factor = math.exp(min(t_quantile(df, level) * error, 700.0))
    return ratio / factor, ratio * factor
