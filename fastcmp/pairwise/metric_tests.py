"""Tests of a metric of counts for many pairs of models."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp.core.threads import parts
from fastcmp.counts.pairs import Block, PairColumns
from fastcmp.kernels.cluster_means import mean_t_many
from fastcmp.kernels.status import TWO_SIDED
from fastcmp.metrics.pair_estimates import least_error
from fastcmp.pairwise.pair_tests import PairTests

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from fastcmp.metrics.estimators import Estimator
    from fastcmp.pairwise.metric_models import MetricModels
    from fastcmp.pairwise.metric_pair_tests import WithoutVariance
    from fastcmp.pairwise.metric_spread import Spread

    Floats = NDArray[np.float64]
    #: From a block of pairs and their differences to statistics and p-values.
    Test = Callable[[Block, Floats], tuple[Floats, Floats]]

_SPAN = 1 << 16
_EQUAL = 4 * np.finfo(np.float64).eps  # of two values: rounding


class Differences:
    """Differences of pairs, and how they vary."""

    def __init__(
        self,
        models: MetricModels,
        estimator: Estimator,
        spread: Spread,
        df: float,
        exact: WithoutVariance,
    ) -> None:
        self._models, self._spread, self.df, self.exact = models, spread, df, exact
        self._least = least_error(float(models.sizes.sum()))
        self.side = spread.side
        low, high = estimator.limits
        self.limits = low - high, high - low

    def of(self, block: Block) -> Floats:
        """Subtract values, shape (p,); what only rounding leaves is 0."""
        first, second = (self._models.value[model] for model in block.pairs.T)
        difference = first - second
        rounding = _EQUAL * (np.abs(first) + np.abs(second))
        difference[np.abs(difference) <= rounding] = 0.0
        return np.asarray(difference)

    def with_variance(self, block: Block) -> tuple[Floats, Floats]:
        """Give differences and variances; NaN where a model has no standard error.

        The variance is 0 where all predictions are the same, and only there.
        """
        difference = self.of(block)
        variance, same = self._spread.of(block)
        known = self._models.known[block.pairs].all(axis=1)
        variance = np.where(known & (variance > self._least**2), variance, np.nan)
        same &= np.isfinite(difference)
        difference[same] = variance[same] = 0.0
        return difference, variance

    def z(self, block: Block, level: float) -> tuple[Floats, Floats, Floats]:
        """Test by z, or t with clusters: differences, variances, and (p, 5) answers."""
        difference, variance = self.with_variance(block)
        out = np.empty((difference.size, 5))
        options = (TWO_SIDED, level)
        mean_t_many(difference, variance, np.array([self.df]), options, out)
        return difference, variance, out

    def without_variance(self, block: Block, answers: tuple[Floats, Floats]) -> None:
        """Write statistics and p-values of pairs that differ and show no variance."""
        statistic, pvalue = answers
        difference = self.of(block)
        known = self._models.known[block.pairs].all(axis=1)
        for p in np.flatnonzero(np.isnan(pvalue) & known):
            if difference[p] == 0.0:
                statistic[p], pvalue[p] = 0.0, 1.0
            else:
                pvalue[p] = self.exact.pvalue(*block.pairs[p].tolist())


def metric_tests(
    models: MetricModels,
    differences: Differences,
    n_samples: int,
    level: float,
    test: Test | None = None,
    distribution: str = "normal",
) -> PairTests:
    """Test pairs by their differences and standard errors, or by another `test`.

    The intervals are those of the standard errors in any case.
    """

    def columns(block: Block) -> PairColumns:
        difference, variance, out = differences.z(block, level)
        statistic, pvalue, low, high, _ = out.T
        if test is not None:
            statistic, pvalue = test(block, difference)
        differences.without_variance(block, (statistic, pvalue))
        none = np.full(pvalue.size, -1)
        low, high = (np.clip(end, *differences.limits) for end in (low, high))
        error = np.sqrt(variance)
        return PairColumns(none, none, difference, low, high, statistic, pvalue, error)

    def pvalues(block: Block) -> Floats:
        statistic, pvalue = differences.z(block, 0.0)[2][:, :2].T.copy()
        if test is not None:
            statistic, pvalue = test(block, differences.of(block))
        differences.without_variance(block, (statistic, pvalue))
        return np.asarray(pvalue)

    def details(pairs: NDArray[np.int32], columns: PairColumns) -> dict[str, Any]:
        if columns.standard_error is not None:
            return {"standard_error": columns.standard_error}
        spans = [Block(part, pairs[part]) for part in parts(len(pairs), _SPAN)]
        errors = [np.sqrt(differences.with_variance(span)[1]) for span in spans]
        return {"standard_error": np.concatenate([np.empty(0), *errors])}

    normal = test is None and differences.df == np.inf
    own = "normal" if normal else "t"
    return PairTests(
        n_samples=n_samples,
        correct=None,
        score=models.value,
        score_interval=models.interval,
        distribution=own if test is None else distribution,
        df=None if normal or test is not None else differences.df,
        side=differences.side,
        pvalues=pvalues,
        columns=columns,
        details=details,
        with_errors=True,
        spread=lambda block: (*differences.with_variance(block), differences.df),
        limits=differences.limits,
    )
