"""A metric of two models on the same samples: standard errors and tests of the difference."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastcmp import kernels
from fastcmp.core.numbers import normal_tail, t_tail
from fastcmp.kernels.cluster_means import t_quantile
from fastcmp.metrics.cells import Cells
from fastcmp.metrics.estimators import Estimator
from fastcmp.metrics.intervals import jackknife_influences
from fastcmp.metrics.permutation import is_exact, permutation_tests

Floats = NDArray[np.float64]


class Pair(NamedTuple):
    """A metric of two models on the same samples."""

    estimator: Estimator
    cells: Cells
    #: Confusion matrices of a and b, (2, K, K).
    tables: Floats
    value_a: float
    value_b: float
    #: Whether the two models predict the same for all samples.
    same: bool

    @property
    def difference(self) -> float:
        """The metric of a minus that of b; 0 where all predictions agree."""
        return 0.0 if self.same else self.value_a - self.value_b


class Tested(NamedTuple):
    """A statistic and its p-value."""

    statistic: float
    pvalue: float
    status: int


_DEGENERATE = Tested(0.0, 1.0, int(kernels.DEGENERATE))
_UNDEFINED = Tested(math.nan, math.nan, int(kernels.UNDEFINED))


def pair_of(estimator: Estimator, cells: Cells) -> Pair:
    """A metric of two models, evaluated."""
    tables = np.stack([cells.table(0), cells.table(1)])
    value_a, value_b = estimator.values(tables).tolist()
    return Pair(estimator, cells, tables, value_a, value_b, cells.same)


def standard_errors(
    pair: Pair, how: str, *, within_classes: bool = False
) -> tuple[float, float, float]:
    """Standard errors of the difference, and of both values; NaN where undefined.

    By the jackknife or the delta method.
    """
    cells = pair.cells
    if how == "delta":
        psi = pair.estimator.influences(pair.tables)
    else:
        psi = jackknife_influences(pair.estimator, pair.tables)
    both = cells.pick(psi[np.newaxis])[0]
    of_models = [psi[m][cells.codes[:, 0], cells.codes[:, 1 + m]] for m in range(2)]
    errors = [
        cells.standard_error(u, how, within_classes=within_classes) for u in (both, *of_models)
    ]
    least = least_error(cells.n)
    difference, a, b = [0.0 if error <= least else error for error in errors]
    return difference, a, b


def least_error(n: float) -> float:
    """A bound of the standard errors of values of size 1 that are nothing but rounding."""
    return float((1e-13 + 4.0 * np.finfo(np.float64).eps * n) / math.sqrt(max(n, 1.0)))


def z_test(pair: Pair, error: float, alternative: str, df: float) -> Tested:
    """The test of the difference by its standard error: z, or t."""
    if pair.same or (error == 0.0 and pair.difference == 0.0):
        return _DEGENERATE
    if not error > 0.0 or math.isnan(pair.difference):
        return _UNDEFINED
    statistic = pair.difference / error
    return Tested(statistic, float(t_tail(statistic, alternative, df)), int(kernels.OK))


def pooled_z(
    differ: Any, total: Any, squares: Any, difference: Any, alternative: str = "two-sided"
) -> tuple[Floats, Floats]:
    """Statistics and p-values by the influences at the counts of both models together.

    Of pairs: how many samples differ, sums of the differences of their influences, and of
    the squares of these. 0 where no sample differs, NaN where there is no variance.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        z = np.where(squares > 0.0, total / np.sqrt(squares), np.nan)
    z[np.isnan(difference)] = np.nan
    z[(differ == 0) & ~np.isnan(difference)] = 0.0
    return z, np.asarray(normal_tail(z, alternative))


def pooled_test(pair: Pair, alternative: str) -> Tested:
    """The test of two models by the influences at the counts of both together.

    Only samples with different predictions count; of accuracies it is McNemar's test.
    """
    if pair.same:
        return _DEGENERATE
    psi = pair.estimator.influence(pair.tables[0] + pair.tables[1])
    u, counts = pair.cells.pick(np.stack([psi, psi])[np.newaxis])[0], pair.cells.counts
    total, squares, difference = np.array([[counts @ u], [counts @ (u * u)], [pair.difference]])
    (z,), (pvalue,) = pooled_z(1.0, total, squares, difference, alternative)
    if math.isnan(z):
        return _DEGENERATE if pair.difference == 0.0 else _UNDEFINED
    return Tested(float(z), float(pvalue), int(kernels.OK))


def without_variance(pair: Pair, alternative: str, error: float = 0.0) -> tuple[Tested, str]:
    """The test of two models whose difference has no standard error, and a caution about it.

    Exact where all exchanges of predictions can be looked at.
    """
    lead = f"No variance of the difference in {pair.estimator.title} was observed"
    if error != 0.0:
        lead = f"The difference in {pair.estimator.title} has no standard error"
    if pair.cells.squares is None and is_exact([pair.estimator], pair.cells):
        (permuted,) = permutation_tests(
            [pair.estimator], pair.cells, alternative=alternative, exact=True
        )
        return (
            Tested(math.nan, permuted.pvalue, int(kernels.DEGENERATE)),
            f"{lead}: the p-value is that of the exact permutation test.",
        )
    return (
        _UNDEFINED,
        f"{lead}, and there are too many exchanges of predictions to look at all: there is "
        "no test. method='permutation' has one.",
    )


def difference_interval(pair: Pair, error: float, level: float, df: float) -> tuple[float, float]:
    """The interval that is symmetric about the difference.

    None where nothing tells how the difference varies: all of a right, of b wrong.
    """
    if error == 0.0 and not pair.same:
        return math.nan, math.nan
    half = t_quantile(df, level) * error
    return pair.difference - half, pair.difference + half


def ratio_interval(pair: Pair, level: float, df: float) -> tuple[float, tuple[float, float]]:
    """The ratio, and its interval by the delta method on the log scale.

    NaN where a value is not positive.
    """
    if not (pair.value_a > 0.0 and pair.value_b > 0.0):
        return math.nan, (math.nan, math.nan)
    ratio = pair.value_a / pair.value_b
    values = np.array([pair.value_a, pair.value_b])[:, np.newaxis, np.newaxis]
    psi = pair.estimator.influences(pair.tables) / values
    error = math.sqrt(pair.cells.mean_square(pair.cells.pick(psi[np.newaxis])[0]))
    if math.isnan(error) or (error == 0.0 and not pair.same):
        return ratio, (math.nan, math.nan)
    factor = math.exp(min(t_quantile(df, level) * error, 700.0))
    return ratio, (ratio / factor, ratio * factor)
